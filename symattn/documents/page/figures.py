"""A matrix on the page: a table of cells that can be pointed at, with its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from symattn.documents.page.elements import Markup, el, formula
from symattn.documents.page.matrices import HeadView


def figure(
    matrix: HeadView, home: bool = False, labelled: tuple[bool, bool] = (True, True)
) -> Markup:
    """A matrix with its name; `home` is the step's own, not a copy as an operand.

    `labelled`: whether rows and columns have their names.
    """
    name = "" if home else matrix.whole.words
    kinds = {"home": home, "alone": matrix.item.is_number}
    opener = Markup()
    if home and matrix.is_cut:
        words = "Show all {} × {}".format(*matrix.shape)
        opener = el("button", words, class_="open")
    called = [" ", el("span", name, class_="name")] if name else []
    if axes := matrix.whole.axes:
        called += [
            " ",
            el(
                "span",
                ("{1} ↓ {0} →" if matrix.turned else "{} ↓ {} →").format(*axes),
                class_="axes",
            ),
        ]
    return el(
        "figure",
        el("figcaption", formula(matrix.symbol), *called),
        el("div", table(matrix, labelled), class_="scroll"),
        opener,
        class_=" ".join(kind for kind, holds in kinds.items() if holds) or None,
    )


def table(matrix: HeadView, labelled: tuple[bool, bool] = (True, True)) -> Markup:
    """The cells; see `figure`."""
    return _Table(matrix, labelled).drawn()


@dataclass(frozen=True)
class _Table:
    """The cells, of which the page's program makes a grid with one tab stop.

    Where some are left out, each row says its number and each cell its column, and both which they
    are of how many. `labelled`: whether rows and columns have their names.
    """

    matrix: HeadView
    labelled: tuple[bool, bool]

    @cached_property
    def names(self) -> list[Sequence[str]]:
        """The names of rows and of columns that stand there."""
        pairs = zip(self.matrix.labels, self.labelled, strict=True)
        return [each if kept else () for each, kept in pairs]

    def number(self, k: int | None) -> int | None:
        """The number of a row or a column, where that is not its place in the table."""
        return k if self.matrix.is_cut else None

    def place(self, k: int | None, before: Sequence[str]) -> int | None:
        """The place of a row or a column in the whole table, behind one with names."""
        return k + 1 + bool(before) if self.matrix.is_cut and k is not None else None

    def drawn(self) -> Markup:
        """The table."""
        matrix, (names, across), (height, width) = self.matrix, self.names, self.matrix.shape
        size = "one number" if matrix.item.is_number else f"{height} by {width}"
        turned = " transposed" if matrix.turned else ""
        return el(
            "table",
            *([self._heads()] if across else []),
            el("tbody", *map(self._row, matrix.indices[0])),
            aria_label=f"{matrix.item.name}{matrix.of_head}{turned}, {size}",
            aria_rowcount=height + bool(across) if matrix.is_cut else None,
            aria_colcount=width + bool(names) if matrix.is_cut else None,
            data_m=matrix.item.letter,
            data_h=matrix.head,
            data_turned=matrix.turned,
        )

    def _heads(self) -> Markup:
        """The names of the columns."""
        names, across = self.names
        corner = [el("td", class_="corner")] if names else []
        heads = [_named(j, across, "col", self.place(j, names)) for j in self.matrix.indices[1]]
        first = 1 if self.matrix.is_cut else None
        return el("thead", el("tr", *corner, *heads, aria_rowindex=first))

    def _row(self, i: int | None) -> Markup:
        names, across = self.names
        cells = [_named(i, names, "row", 1 if self.matrix.is_cut else None)] if names else []
        cells += [self._cell(i, j) for j in self.matrix.indices[1]]
        place, hidden = self.place(i, across), _true_where(i is None)
        return el("tr", *cells, data_r=self.number(i), aria_rowindex=place, aria_hidden=hidden)

    def _cell(self, i: int | None, j: int | None) -> Markup:
        if i is None or j is None:
            dots = "⋱" if i is None and j is None else "⋮" if i is None else "⋯"
            return el("td", dots, class_="gap", aria_hidden=_true_where(i is not None))
        return el(
            "td",
            self.matrix.text(i, j),
            class_=self.matrix.kinds(i, j),
            data_c=self.number(j),
            aria_colindex=self.place(j, self.names[0]),
        )


def _named(k: int | None, names: Sequence[str], scope: str, place: int | None) -> Markup:
    """The head of a row or column; dots for a gap."""
    if k is None:
        return el("th", "⋯" if scope == "col" else "⋮", aria_hidden="true")
    name = names[k]
    return el(
        "th",
        name,
        scope=scope,
        # a name with more letters may be cut where it stands; it then says itself when pointed at
        title=name if len(name) > 12 else None,
        aria_colindex=place,
    )


def _true_where(holds: bool) -> str | None:
    """The value of an attribute that is set where something holds, and left out elsewhere."""
    return "true" if holds else None
