"""Worked lines of many entries, packed: templates that they share, and the numbers of each."""

from __future__ import annotations

import re

from symattn.documents.page.elements import formula
from symattn.notation.tree import Tree

#: A number inside an element, or anywhere in the plain alternative, where no tag begins.
_NUMBER = re.compile(
    r"(?<=<mn>)[0-9.]+(?=</mn>)|(?<![\w.])[0-9]+(?:[.][0-9]+)?(?=[^<>]*\">)|"
    r"(?<=_)[0-9]+(?=[^<>]*\">)"
)


class Lines:
    """Formulas as templates and numbers: ``templates[k]`` has a gap for each of its numbers."""

    def __init__(self) -> None:
        self.templates: list[list[str]] = []
        self._known: dict[tuple[str, ...], int] = {}

    def packed(self, tree: Tree) -> str:
        """A formula as the number of its template and what goes into the gaps, with blanks."""
        whole = formula(tree, display=True)
        gaps = tuple(_NUMBER.split(whole))
        if gaps not in self._known:
            self._known[gaps] = len(self.templates)
            self.templates.append(list(gaps))
        return " ".join((str(self._known[gaps]), *_NUMBER.findall(whole)))
