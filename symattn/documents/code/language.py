"""`Language`: how a language spells a program, as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from symattn.documents.code.line_breaks import BLACK, Style


@dataclass(frozen=True)
class Language:
    """How a language spells a program: templates over `Piece`s, and what surrounds the lines.

    `operations` are those of `Tracing` and `views` those of `View`; ``{0}`` is the first operand.
    Of an index, `slices` are the ways to say all, a part and a stepped part of an axis, and `new`
    a new one; `ends` says whether a slice names its ends even where they are those of the axis.
    Of positions, `grids` are a column of row numbers and a row of column numbers; where there are
    none, the templates ``seen`` and ``table`` are given an entry in terms of i and j.
    """

    name: str
    operations: Mapping[str, str]
    views: Mapping[str, str]
    slices: tuple[str, str, str]
    ends: bool
    new: str
    grids: tuple[str, str] | None
    #: How conditions hold both, and either.
    logic: tuple[str, str]
    same: str
    half: str
    infinity: str
    root: str
    assignment: str
    comment: str
    header: str
    returned: str
    footer: str = ""
    #: What the header ends with, after its arguments; what stands between code and comment.
    opening: str = ":"
    gap: str = "  "
    #: Where lines break; a comment that does not fit beside its line stands above it.
    style: Style = BLACK
    #: How the lines of the description begin: the first, the others, and the one that ends it.
    docs: tuple[str, str, str] = ('    """', "    ", '    """')
    #: What a reader has to know of its matrices.
    note: str = ""
    #: Whether the description stands before the header.
    docs_first: bool = False
    unquoted: tuple[str, str] = ('"', "'")
    #: The imports that a file may use, by what they are called.
    imports: Mapping[str, str] = field(default_factory=dict)
    #: A table of places that entries are picked from.
    table: str = "{0}"
    #: Functions of its own that a program may call, by name; a file holds those that it calls.
    helpers: Mapping[str, str] = field(default_factory=dict)
    between: str = "\n\n"
    suffix: str = ".py"
    reserved: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)

    def needed(self, code: str) -> list[str]:
        """The helpers that the code calls, and those that they call, in their order."""
        wanted: set[str] = set()
        texts = [code]
        while texts:
            names = set(re.findall(r"\b\w+\b", texts.pop())) & set(self.helpers) - wanted
            texts += [self.helpers[name] for name in names]
            wanted |= names
        return [text for name, text in self.helpers.items() if name in wanted]
