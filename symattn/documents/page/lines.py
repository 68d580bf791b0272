"""Worked lines of many entries, packed: templates that they share, and the numbers of each."""

from __future__ import annotations

import re

from symattn.documents.page.elements import inside
from symattn.notation.tree import Tree

#: A number that an element holds.
_NUMBER = re.compile(r"(?<=<mn>)[0-9.]+(?=</mn>)")


class Lines:
    """Formulas as templates and numbers.

    ``templates[k]`` lists what stands before, between and after its numbers, each as a place in
    ``pieces``: templates differ in a sign, and have most of their pieces in common.
    """

    def __init__(self) -> None:
        self._pieces: dict[str, int] = {}
        self._templates: dict[tuple[int, ...], int] = {}

    @property
    def pieces(self) -> list[str]:
        return list(self._pieces)

    @property
    def templates(self) -> list[str]:
        return [" ".join(map(str, places)) for places in self._templates]

    def packed(self, tree: Tree) -> str:
        """A formula as the number of its template and what goes into the gaps, with blanks."""
        whole = inside(tree)
        known = self._pieces
        places = tuple(known.setdefault(gap, len(known)) for gap in _NUMBER.split(whole))
        which = self._templates.setdefault(places, len(self._templates))
        return " ".join((str(which), *_NUMBER.findall(whole)))
