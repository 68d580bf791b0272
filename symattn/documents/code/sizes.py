"""Sizes in a program: n, d_k // 2, h * d_v, read from the shapes of what is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import sympy

from symattn.arithmetic.arrays import nearest_float
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.language import Language
from symattn.documents.code.program import Program
from symattn.errors import CannotSpell
from symattn.nodes.spell import Speller
from symattn.notation.text import line

_HALF = sympy.Rational(1, 2)


class Sizes:
    """Spells expressions in sizes; `name` makes a name that nothing has yet."""

    def __init__(self, program: Program, language: Language, name: Callable[[str], str]) -> None:
        self.program, self.language, self._name = program, language, name
        self._names: dict[sympy.Symbol, str] = {}
        self._settings = {setting.symbol: name(setting.name) for setting in program.settings}

    def bind(self, token: sympy.Dummy, name: str) -> None:
        """What the token of a loop is called."""
        self._settings[token] = name

    @staticmethod
    def shown(shape: tuple[sympy.Expr, ...], *, batched: bool = False) -> str:
        """A shape for readers: (n, 2 * d_k); with ``...`` for the axes of a batch."""
        sizes = ", ".join(line(Speller().scalar(size)) for size in shape)
        sizes = re.sub(r"(?<=\w) (?=\w)", " * ", sizes).replace("/", " / ").replace("−", "-")
        if batched:
            return f"(..., {sizes})"
        return f"({sizes},)" if len(shape) == 1 else f"({sizes})"

    def shape(self, shape: tuple[sympy.Expr, ...]) -> str:
        """The sizes of a shape, with commas."""
        return ", ".join(map(self.whole, shape))

    def whole(self, expr: sympy.Expr) -> Piece:
        """A whole number."""
        return self._expr(sympy.sympify(expr, strict=True), whole=True)

    def added(self, code: Piece, expr: sympy.Expr) -> Piece:
        """Code plus a whole number, unless that is 0."""
        if expr == 0:
            return code
        return _sum(code, sorted(expr.as_ordered_terms(), key=_lowers), self.whole)

    def number(self, expr: sympy.Expr) -> Piece:
        """A number: a fraction or a root as it is written, any other its nearest float."""
        if expr in (sympy.oo, -sympy.oo):
            return Piece(("" if expr == sympy.oo else "-") + self.language.infinity)
        if not expr.free_symbols and not isinstance(expr, sympy.Integer):
            if isinstance(expr, sympy.Rational):
                short = _decimal(expr)
                exact = sympy.Rational(short) == expr
                return Piece(short if exact and len(short) < 9 else f"{expr.p} / {expr.q}")
            if not (isinstance(expr, sympy.Pow) and expr.args[1] == _HALF):
                return Piece(_decimal(expr))
        return self._expr(expr, whole=False)

    def setting(self, value: sympy.Expr | bool) -> Piece:
        """A number or a truth that a function is given."""
        return (
            Piece(self.language.truths[not value])
            if isinstance(value, bool)
            else self.number(value)
        )

    def nested(self, values: object) -> Piece:
        """Numbers in lists, as deep as they are."""
        if isinstance(values, tuple):
            return Piece(f"[{', '.join(map(self.nested, values))}]")
        return self.number(sympy.sympify(values, strict=True))

    def places(self, first: sympy.Expr, stop: sympy.Expr | None, step: int) -> str:
        """A slice as it stands in an index; to the end where nothing stops it."""
        begin = self.whole(first) if first != 0 or step > 1 else ""
        end = "" if stop is None else self.whole(stop)
        if " " in begin + end:  # then the colon stands apart, as Black has it
            begin, end = f"{begin} " if begin else "", f" {end}" if end else ""
        return f"{begin}:{end}" + (f":{step}" if step > 1 else "")

    def _expr(self, expr: sympy.Expr, *, whole: bool) -> Piece:
        def inside(part: sympy.Expr) -> Piece:
            return self._expr(part, whole=whole)

        quotient = self.language.half if whole else "{0:a} / {1:a}"
        match expr:
            case sympy.Symbol():
                return Piece(self._symbol(expr))
            case sympy.core.numbers.Pi():
                return Piece(_decimal(expr))
            case sympy.Integer():
                return Piece(str(expr))
            case sympy.floor(args=(body,)):
                return inside(body)
            case sympy.ceiling(args=(body,)):
                over, under = body.as_numer_denom()
                return Piece(quotient.format(inside(over + under - 1), inside(under)))
            case sympy.Pow(args=(base, exponent)) if exponent == _HALF:
                return Piece(self.language.root.format(inside(base)))
            case sympy.Pow(args=(base, exponent)) if exponent == -1:
                return Piece(quotient.format(Piece("1"), inside(base)))
            case sympy.Pow(args=(base, exponent)) if exponent == -_HALF:
                return Piece(f"1 / {inside(base**-exponent):a}")
            case sympy.Pow(args=(base, exponent)):
                operation = "power" if base.is_Symbol else "power of more"
                code = self.language.operations[operation]
                return Piece(code.format(inside(base), self._exponent(exponent)))
            case sympy.Max(args=(one, other)):
                code = self.language.operations["larger"]
                return Piece(code.format(inside(one), inside(other)))
            case sympy.Add():
                first, *terms = sorted(expr.as_ordered_terms(), key=_lowers)
                return _sum(inside(first), terms, inside)
            case sympy.Mul() | sympy.Rational():
                over, under = expr.as_numer_denom()
                if under != 1:
                    return Piece(quotient.format(inside(over), inside(under)))
                if _lowers(expr):
                    return Piece(f"-{inside(-expr):a}")
                factors = sorted(expr.args, key=self._place)
                return Piece(" * ".join(f"{inside(factor):a}" for factor in factors))
        raise CannotSpell(f"{expr} has no program here")

    def _exponent(self, exponent: sympy.Expr) -> str:
        """An exponent: a number, or in brackets."""
        if exponent.is_number:
            return f"{float(exponent)!r}"
        return f"{self._expr(exponent, whole=False):a}"

    def _symbol(self, symbol: sympy.Symbol) -> str:
        """The variable of a size, or of a setting."""
        if symbol in self._settings:
            return self._settings[symbol]
        if symbol not in self._names:
            self._names[symbol] = self._name(symbol.name)
        return self._names[symbol]

    def _place(self, part: sympy.Expr) -> tuple[bool, bool, int, str]:
        """Numbers first, then counts, then widths in the order in which people list them."""
        name, order = str(part), self.program.order
        place = order.index(name) if name in order else len(order)
        return not part.is_number, name.startswith("d_"), place, name

    def lines(self, names: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Name and code of each size that was used, from those of the matrices that are given."""
        read: dict[sympy.Symbol, str] = {}
        waiting = sorted(self._names, key=self._place)
        while waiting:
            symbol = waiting.pop(0)
            if symbol not in read:
                read[symbol] = self._read(symbol, names)
                waiting += [other for other in self._names if other not in read]
        for symbol in sorted(read, key=self._place):
            yield self._names[symbol], read[symbol]

    def _read(self, symbol: sympy.Symbol, names: dict[str, str]) -> str:
        """A size read from a shape: alone if it can be, otherwise solved for."""
        places = [
            (names[item.letter], axis - len(value.shape), size)
            for item, value in self.program.inputs
            for axis, size in enumerate(value.shape)
        ]
        for name, axis, expr in sorted(places, key=lambda place: place[2] != symbol):
            scale, offset = expr.coeff(symbol), expr.subs(symbol, 0)
            if not scale.is_Integer or scale == 0 or offset.free_symbols:
                continue
            zeros = "[0]" * (len([place for place in places if place[0] == name]) + axis)
            code = self.language.operations["size"].format(name, axis, zeros=zeros)
            if offset:
                code = f"({code} - {offset})" if scale != 1 else f"{code} - {offset}"
            return code if scale == 1 else self.language.half.format(Piece(code), Piece(str(scale)))
        known = self.program.sizes or {}
        if symbol in known:
            return str(known[symbol])
        raise CannotSpell(f"nothing that is given says how large {symbol} is; say it: {symbol} = 4")


def _decimal(expr: sympy.Expr) -> str:
    """The nearest float of a number, its exponent without a plus or a zero ahead: 1e-6."""
    return re.sub(r"e\+?(-?)0*", r"e\1", repr(nearest_float(expr)))


def _sum(code: Piece, terms: Sequence[sympy.Expr], spelled: Callable[[sympy.Expr], Piece]) -> Piece:
    """Code plus terms, those with a minus taken off."""
    for term in terms:
        sign = f" - {spelled(-term):t}" if _lowers(term) else f" + {spelled(term)}"
        code = Piece(code + sign)
    return code


def _lowers(term: sympy.Expr) -> bool:
    """Whether a term is taken off."""
    return bool(term.could_extract_minus_sign())
