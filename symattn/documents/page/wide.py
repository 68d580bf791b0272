"""Which steps have matrices that fit one line below their formulas, but not beside them."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.documents.page.matrices import HeadView

#: How many pixels of a window of 1440 are right of the formulas, and how many below them.
_BESIDE, _BELOW = 674, 1130

#: The pixels that a digit, a cell beside its digits, and a gap between matrices take: as usual, and
#: where they are set closer (`wide.css`).
_USUAL, _CLOSE = (9.4, 17.6, 22.0), (8.3, 7.0, 12.0)


def room_of(strips: Sequence[Sequence[HeadView]]) -> str:
    """The classes of strips of matrices: beside the formulas, or below where they do not fit there.

    In either place they are set closer where they fit only so; what fits nowhere stays beside.
    """

    def widest(digit: float, cell: float, between: float) -> float:
        widths = (sum(_width(one, digit, cell, between) for one in strip) for strip in strips)
        return max(widths, default=0)

    ways = [(room, sizes) for room in (_BESIDE, _BELOW) for sizes in (_USUAL, _CLOSE)]
    found = next(((room, sizes) for room, sizes in ways if widest(*sizes) <= room), ways[0])
    return " below" * (found[0] == _BELOW) + " close" * (found[1] == _CLOSE)


def _width(matrix: HeadView, digit: float, cell: float, between: float) -> float:
    """About how wide a matrix is, with the names of its rows and columns."""
    names, across = matrix.labels
    rows, columns = matrix.indices
    width = between + (max(map(len, names)) * digit + cell if names else 0)
    for j in columns:
        texts = [matrix.text(i, j) for i in rows if i is not None and j is not None]
        texts += [across[j]] if across and j is not None else []
        width += max(map(len, texts), default=1) * digit + cell
    return width
