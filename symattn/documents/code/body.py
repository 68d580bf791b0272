"""The names and the lines of a function as it is written."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from textwrap import wrap

import sympy

from symattn.arithmetic.recorded import Recorded, Value
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.language import Language
from symattn.documents.code.line_breaks import fitted
from symattn.documents.code.sizes import Sizes
from symattn.errors import CannotSpell
from symattn.notation.latex import escape_controls

#: Names that mislead where they stand alone.
_MISREAD = ("l", "o", "i", "j")


def unlike(base: str, taken: Container[str]) -> str:
    """The name; numbered if one like it is taken."""
    numbered = (f"{base}_{number}" for number in count(2))
    return next(name for name in chain([base], numbered) if name not in taken)


class Names:
    """What the values of a program are called; of two names that are alike one is numbered."""

    def __init__(self, language: Language) -> None:
        self._never = {*language.reserved, *language.helpers, *keyword.kwlist, *_MISREAD}
        self._taken = set(self._never)
        self.of: dict[Recorded, str] = {}

    def free(self, base: str) -> str:
        """The name, with an ending if there is one like it."""
        name = f"{base}_" if base in self._never else base
        name = name if name not in self._taken else unlike(base, self._taken)
        self._taken.add(name)
        return name

    def of_size(self, base: str) -> str:
        """The name of a size, which a matrix may have too: k."""
        return self.free(f"{base}_size" if base in self._taken else base)

    def of_grid(self, letter: str) -> str:
        """The letter i or j, which nothing else is called; numbered where sizes differ."""
        name = unlike(letter, self.of.values())
        self._taken.add(name)
        return name


class Body:
    """The statements of a function, each in its lines, and what they need before them."""

    def __init__(self, language: Language, sizes: Sizes, like: str) -> None:
        """`like` is a matrix of numbers, whose type and place the constants take."""
        self._language, self._sizes, self.like = language, sizes, like
        self.statements: list[list[str]] = []
        #: The loops that are written, from outside in: the token of each, and its statements.
        self._loops: list[tuple[sympy.Dummy, list[list[str]]]] = []
        #: A matrix that has the type of all numbers, if any yet.
        self.quotient = ""
        #: Which lines there are for types: of all numbers, and of what is made of positions.
        self.types: set[str] = set()

    def within(self, tokens: Collection[sympy.Dummy]) -> tuple[list[list[str]], str]:
        """The statements of the innermost loop over one of these tokens, and their indent."""
        indent, found = self._language.style.indent, (self.statements, 1)
        for depth, (token, statements) in enumerate(self._loops, 2):
            found = (statements, depth) if token in tokens else found
        return found[0], indent * found[1]

    @contextmanager
    def loop(self, token: sympy.Dummy) -> Iterator[list[list[str]]]:
        """The statements of a loop over a token, which are filled meanwhile."""
        self._loops.append((token, []))
        yield self._loops[-1][1]
        self._loops.pop()

    def tell(
        self,
        name: str,
        code: str,
        *notes: str,
        tokens: Collection[sympy.Dummy] = (),
        template: str = "",
        above: str = "",
    ) -> None:
        """A line of its own; beside it, if that fits, notes: a shape, and a remark.

        It stands in the loop over one of the `tokens`; `template` is that of what may change, and
        `above` is said in a line before it.
        """
        language, (statements, indent) = self._language, self.within(tokens)
        line = (template or language.assignment).format(name=name, code=code)
        lines = fitted(line, language.style, indent)
        if note := ", ".join(filter(None, notes)):
            comment = language.comment.format(note)
            if len(lines) == 1 and len(lines[0]) + 2 + len(comment) <= language.style.width:
                lines = [f"{lines[0]}{language.gap}{comment}"]
        statements += [*self.comment(above, indent), lines]

    def comment(self, reason: str, indent: str = "") -> list[list[str]]:
        """The first sentence of a reason, in one line or two."""
        sentence = escape_controls(" ".join(reason.split()).partition(". ")[0]).rstrip(".")
        style, comment = self._language.style, self._language.comment
        indent = indent or style.indent
        width = style.width - len(indent) - len(comment.format(""))
        lines = [f"{indent}{comment.format(line)}" for line in wrap(sentence, width)]
        return [lines] if 0 < len(lines) < 3 else []

    def filled(self, template: str, x: Recorded, *pieces: str, **more: str) -> Piece:
        """A template with the pieces of its operands, and what else it asks for."""
        if "{wide}" in template:
            self.types.update(("dtype", "wide"))
        own = "dtype" in self.types or not self.quotient
        if own and "{dtype}" in template:
            self.types.add("dtype")
        dtype = "dtype" if own else f"{self.quotient}.dtype"
        if "{shape}" in template:
            more["shape"] = self._sizes.shape(x.shape)
        axis = x.details[0] if x.details else ""
        more |= {"like": self.like, "dtype": dtype, "wide": "wide"}
        return Piece(template.format(*pieces, axis=axis, **more))

    def named(self, name: str, x: Recorded, pieces: Sequence[str], missing: str = "") -> Piece:
        """An operation or a function, by its name, of the pieces of its operands."""
        template = self._language.template(name, len(pieces))
        if template is None:
            raise CannotSpell(f"{name} has no program in {self._language.name}{missing}")
        return self.filled(template, x, *pieces)

    def called(
        self, x: Recorded, operands: Iterable[Value], spelled: Callable[[Recorded], Piece]
    ) -> Piece:
        """A call of a function by its name, of values and settings; what it lists is an array."""
        pieces = [
            spelled(one) if isinstance(one, Recorded) else self._sizes.setting(one)
            for one in operands
        ]
        call = self.named(x.details[0], x, pieces, ": write it among its helpers")
        table = self._language.operations["table"] if x.operation == "table" else ""
        return self.filled(table, x, call) if table else call
