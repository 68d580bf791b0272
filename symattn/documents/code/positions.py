"""Sizes and positions in a program: n, j ≤ i, j − i + n − 1, spelled in a language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy

from symattn.documents.code.bracketed import Piece
from symattn.documents.code.by_position import (
    COLUMN,
    ROW,
    Condition,
    Counted,
    Powers,
    Seen,
    Sized,
    Table,
)
from symattn.documents.code.language import Language
from symattn.documents.code.trace import Program
from symattn.errors import CannotSpell
from symattn.nodes.spell import Speller
from symattn.notation.text import line

#: A condition on grids longer than this gets a line of its own.
_LONG = 40

_SIGNS = {"=": "==", "≤": "<="}


class Positions:
    """Spells what follows from sizes; `emit` writes a line that has to stand before.

    `free` makes a name that nothing has yet. `sizes` are the lines that read the sizes which are
    used from the shapes of the inputs.
    """

    def __init__(
        self,
        program: Program,
        language: Language,
        like: str,
        free: Callable[[str], str],
        emit: Callable[[str, str], None],
    ) -> None:
        self.program, self.language, self.like = program, language, like
        self._free, self._emit = free, emit
        self._names: dict[sympy.Symbol, str] = {}
        self._grids: dict[tuple[sympy.Symbol, str], str] = {}

    def size(self, value: Any) -> str:
        """A whole number, or what it follows from."""
        return self.expr(value.expr) if isinstance(value, Sized) else str(value)

    def shape(self, shape: tuple[int, ...]) -> str:
        """A shape as a list."""
        return f"[{', '.join(map(self.size, shape))}]"

    @staticmethod
    def told(shape: tuple[int, ...]) -> str:
        """A shape for readers: n × 2 d_k."""
        exprs = (n.expr if isinstance(n, Sized) else sympy.Integer(n) for n in shape)
        texts = (line(Speller().scalar(expr)) for expr in exprs)
        return " × ".join(f"({text})" if " + " in text or " − " in text else text for text in texts)

    def expr(self, expr: sympy.Expr, *, whole: bool = True) -> Piece:
        """An expression in sizes; one that is no `whole` number divides truly."""

        def inside(part: sympy.Expr) -> Piece:
            return self.expr(part, whole=whole)

        match expr:
            case sympy.Symbol():
                return Piece(self._name(expr))
            case sympy.Integer():
                return Piece(str(expr))
            case sympy.Pow(args=(base, exponent)) if exponent == sympy.Rational(1, 2):
                return Piece(self.language.root.format(inside(base)))
            case sympy.Pow(args=(base, exponent)) if exponent in (-1, sympy.Rational(-1, 2)):
                return Piece(f"1 / {inside(base**-exponent):a}")
            case sympy.Pow(args=(base, exponent)):
                power = "power" if base.is_Symbol else "power of more"
                code = self.language.operations[power]
                return Piece(code.format(inside(base), f"{float(exponent)!r}"))
            case sympy.Abs(args=(body,)):
                return Piece(self.language.operations["size of"].format(inside(body)))
            case sympy.Mod(args=(body, by)):
                return Piece(f"{inside(body):a} % {inside(by):a}")
            case sympy.Add():
                return self._sum(expr.as_ordered_terms(), inside)
            case sympy.Mul():
                over, under = expr.as_numer_denom()
                if under != 1:
                    quotient = self.language.half if whole else "{0:a} / {1:a}"
                    return Piece(quotient.format(inside(over), inside(under)))
                if expr.could_extract_minus_sign():
                    return Piece(f"-{inside(-expr):a}")
                factors = sorted(expr.args, key=self._place)
                return Piece(" * ".join(f"{inside(factor):a}" for factor in factors))
        raise CannotSpell(f"{expr} has no program here")

    def _sum(self, terms: list[sympy.Expr], inside: Callable[[sympy.Expr], Piece]) -> Piece:
        terms = sorted(terms, key=_lowers)
        out = str(inside(terms[0]))
        for term in terms[1:]:
            lowered = term.could_extract_minus_sign()
            out += f" - {inside(-term):t}" if lowered else f" + {inside(term)}"
        return Piece(out)

    def _name(self, symbol: sympy.Symbol) -> str:
        """The variable of a size."""
        if symbol not in self._names:
            self._names[symbol] = self._free(symbol.name)
        return self._names[symbol]

    def _place(self, part: sympy.Expr) -> tuple[bool, bool, int, str]:
        """Numbers first, then counts, then widths in the order in which people list them."""
        name, order = str(part), self.program.order
        place = order.index(name) if name in order else len(order)
        return not part.is_number, name.startswith("d_"), place, name

    def sizes(self) -> Iterator[tuple[str, str]]:
        """Name and code of each size that was used."""
        for symbol in sorted(self._names.keys() - {ROW, COLUMN}, key=self._place):
            yield self._names[symbol], self._read(symbol)

    def _read(self, symbol: sympy.Symbol) -> str:
        """A size read from a shape: alone if it can be, otherwise solved for."""
        places = [
            (line.name, axis, size.expr)
            for line in self.program.lines
            if line.operation == "input"
            for axis, size in enumerate(line.shape)
            if isinstance(size, Sized)
        ]
        places.sort(key=lambda place: place[2] != symbol)
        for letter, axis, expr in places:
            scale = expr.coeff(symbol)
            if not scale.is_Integer or (expr - scale * symbol).free_symbols:
                continue
            code = self.language.operations["size"].format(letter, axis, zeros="[0]" * axis)
            offset = expr - scale * symbol
            if offset:
                code = f"({code} - {offset})" if scale != 1 else f"{code} - {offset}"
            return code if scale == 1 else self.language.half.format(Piece(code), Piece(str(scale)))
        raise CannotSpell(f"{symbol} is not told by any input")

    def seen(self, made: Seen, shape: tuple[int, ...]) -> Piece:
        """A mask of 0 and −∞."""
        both, either = self.language.logic
        grids = self._begin(shape)
        compared = [self._chained(every) for every in made.any_of]
        joined = []
        for every in compared:
            single = len(every) == 1
            text = every[0] if single else both.join(map(self._inside, every))
            loose = len(compared) > 1 and (not single or grids)
            joined.append(f"({text})" if loose else text)
        told = {"rows": self.size(shape[0]), "columns": self.size(shape[1]), "like": self.like}
        rule = self._rule("seen", either.join(joined))
        code = self.language.operations["seen"].format(rule, **told)
        parts = {
            symbol
            for every in made.any_of
            for left, _, right in every
            for symbol in (left - right).free_symbols
        }
        if grids and not {ROW, COLUMN} <= parts:
            code = self.language.views["broadcast"].format(code, shape=self.shape(shape))
        return Piece(code)

    def _chained(self, every: tuple[Condition, ...]) -> list[str]:
        """Conditions as code; in plain Python a ≤ b ≤ c is one."""
        told: list[str] = []
        last = None
        for left, sign, right in every:
            text = self._compared(left, sign, right)
            if self.language.logic[0] == " and " and last == (left, sign):
                told[-1] += text.removeprefix(str(self.expr(left)))
            else:
                told.append(text)
            last = right, sign
        return told

    def _inside(self, condition: str) -> str:
        return f"({condition})" if self.language.grids else condition

    def _compared(self, left: sympy.Expr, sign: str, right: sympy.Expr) -> str:
        operator = self.language.same if sign == "=" else _SIGNS[sign]
        return f"{self.expr(left)} {operator} {self.expr(right)}"

    def table(self, made: Table) -> Piece:
        """Places by row and column."""
        shape = (made.rows, made.columns)
        self._begin(shape)
        terms = [(made.b, COLUMN), (made.a, ROW)]
        terms.sort(key=lambda term: -term[0])
        code = ""
        for factor, symbol in terms:
            if factor:
                code += f" - {self._name(symbol)}" if code else self._name(symbol)
        code = str(self._offset(Piece(code), made.c))
        if made.low is not None:
            clip = self.language.operations["clip"]
            code = clip.format(code, self.size(made.low), self.size(made.high))
        told = {"rows": self.size(shape[0]), "columns": self.size(shape[1])}
        matrix = self.language.operations["table"].format(self._rule("place", code), **told)
        if self.language.grids is not None:
            return Piece(matrix)
        name = self._free("places")
        self._emit(name, matrix)
        return Piece(name)

    def _rule(self, name: str, code: str) -> str:
        """An entry in terms of i and j, under a name where a language has functions for it."""
        template = self.language.operations.get("rule", "{0}" if len(code) > _LONG else "")
        if not template or (template == "{0}" and self.language.grids is None):
            return code
        name = self._free(name)
        self._emit(name, template.format(code))
        return name

    def _offset(self, code: Piece, offset: int) -> Piece:
        """The code plus a number."""
        expr = offset.expr if isinstance(offset, Sized) else sympy.Integer(offset)
        for term in sorted(expr.as_ordered_terms(), key=_lowers):
            if term.could_extract_minus_sign():
                code = Piece(f"{code} - {self.expr(-term):t}")
            elif term:
                code = Piece(f"{code} + {self.expr(term)}")
        return code

    def _begin(self, shape: tuple[int, ...]) -> bool:
        """The grids of a shape are what i and j stand for from now on."""
        grids = self.language.grids
        if grids is None:
            self._names |= {ROW: "i", COLUMN: "j"}
            return False
        for symbol, template, count in zip((ROW, COLUMN), grids, shape, strict=True):
            size = self.size(count)
            if (symbol, size) not in self._grids:
                name = self._grids[symbol, size] = self._free(symbol.name)
                self._emit(name, template.format(size, like=self.like))
            self._names[symbol] = self._grids[symbol, size]
        return True

    def counted(self, made: Counted, shape: tuple[int, ...]) -> Piece:
        """Consecutive whole numbers, in a row or a column."""
        start, stop = self.size(made.start), self.size(made.stop)
        name = "counted column" if len(shape) > 1 and shape[-1] == 1 else "counted"
        span = stop if start == "0" else f"{start}, {stop}"
        return Piece(self.language.operations[name].format(span, start, stop, like=self.like))

    def powers(self, made: Powers) -> Piece:
        """Falling or rising powers."""
        return Piece(
            self.language.operations["powers"].format(
                made.base,
                Piece(self.size(made.size)),
                made.step,
                "-" if made.falls else "",
                like=self.like,
            )
        )


def _lowers(term: sympy.Expr) -> bool:
    """Whether a term is taken off."""
    return bool(term.could_extract_minus_sign())
