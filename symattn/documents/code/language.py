"""`Language`: how a language spells a program, as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from symattn.documents.code.line_breaks import BLACK, Style


@dataclass(frozen=True)
class Language:
    """How a language spells a program: templates over `Piece`s, and what surrounds the lines.

    In `operations`, by the names of `symattn.arithmetic.recorded`, ``{0}`` is the first operand;
    what has no row is a call of the helper of its name. `{like}` is a matrix that was given,
    `{dtype}` the type of its numbers once divided, and `{wide}` one in which positions keep their
    digits, where whole numbers lead to none by themselves. `places` are the operations on the
    numbers i and j of a row and a column: on one entry where there are no `grids`, a column and a
    row of them.
    """

    name: str
    operations: Mapping[str, str]
    places: Mapping[str, str]
    grids: tuple[str, str] | None
    #: How true and false are written.
    truths: tuple[str, str]
    #: Whether there may be further axes, batches, ahead of those that a matrix has.
    batches: bool
    half: str
    infinity: str
    root: str
    dtype: str
    assignment: str
    comment: str
    header: str
    #: An array of one, two or three axes as an argument, and a number with a default.
    arguments: tuple[str, str, str, str]
    returned: str
    #: How a loop over tokens begins, from the first one on and from the last one back.
    loops: tuple[str, str]
    #: The states that it makes as one array, in its order and in the other.
    stacked: tuple[str, str]
    #: What stops a number of heads that the groups do not divide.
    refused: tuple[str, str]
    #: A key and its variable, and the two where they are called alike.
    pair: tuple[str, str]
    #: The names that code reads of those that it does not define.
    read: Callable[[str], set[str]]
    wide: str = ""
    #: A variable that may change, and its change; a list, and what is added to it.
    changing: str = "{name} = {code}"
    changed: str = "{name} = {code}"
    collected: str = "[{0}]"
    appended: str = "{0}.append({1})"
    footer: str = ""
    #: What the header ends with, after its arguments; what stands between code and comment.
    opening: str = ":"
    gap: str = "  "
    #: Where lines break; a comment that does not fit beside its line stands above it.
    style: Style = BLACK
    #: How the lines of the description begin: the first, the others, and the one that ends it.
    docs: tuple[str, str, str] = ('    """', "    ", '    """')
    #: The same of the file's own description, which ends on its last line.
    heading: tuple[str, str, str] = ('"""', "", '"""')
    #: What a reader has to know of its matrices.
    note: str = ""
    #: Whether the description stands before the header.
    docs_first: bool = False
    unquoted: tuple[str, str] = ('"', "'")
    #: The imports that a file may use, by what they are called.
    imports: Mapping[str, str] = field(default_factory=dict)
    #: Functions of its own that a program may call, by name; a file holds those that it calls.
    helpers: Mapping[str, str] = field(default_factory=dict)
    #: Those of them that a caller calls.
    offered: tuple[str, ...] = ()
    #: The names of helpers that differ from those of the operations and formulas.
    called: Mapping[str, str] = field(default_factory=dict)
    #: Whether a name of several words is written like rowSum.
    camel: bool = False
    between: str = "\n\n"
    suffix: str = ".py"
    reserved: tuple[str, ...] = ()

    def template(self, name: str, operands: int) -> str | None:
        """How an operation or a formula is spelled: by its row, or as a call of its helper."""
        if name in self.operations:
            return self.operations[name]
        helper = self.called.get(name, name)
        if self.camel:
            helper = re.sub("_(.)", lambda found: found[1].upper(), helper)
        places = ", ".join(f"{{{place}}}" for place in range(operands))
        return f"{helper}({places})" if helper in self.helpers else None

    def needed(self, code: str) -> list[str]:
        """The helpers that the code calls, and those that they call, in their order."""
        wanted: set[str] = set()
        texts = [code, *self.offered]
        while texts:
            names = self.read(texts.pop()) & set(self.helpers) - wanted
            texts += [self.helpers[name] for name in names]
            wanted |= names
        return [text for name, text in self.helpers.items() if name in wanted]
