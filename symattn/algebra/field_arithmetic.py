"""The exact field as an arithmetic, so that every node's own formula is computed in it."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.algebra.field import Element, TooHard, Undefined, solved
from symattn.algebra.functions import Functions
from symattn.arithmetic.base import Arithmetic, Array, elementwise, of_rows, rowwise


class Entries(Arithmetic):
    """Elements of the field in object arrays; a symbol is an input of that name."""

    name = "entries"

    def __init__(self, functions: Functions, positive: frozenset[str] = frozenset()) -> None:
        self.functions, self.ring, self.positive = functions, functions.ring, positive

    def symbol(self, name: str, positive: bool = False) -> Element:
        """The input of this name."""
        return self.functions.input(name, positive or name in self.positive)

    def scalar(self, value: sympy.Expr) -> Element:
        f = self.functions
        match value:
            case sympy.Rational():
                return self.ring.number(Fraction(int(value.p), int(value.q)))
            case sympy.Float():
                return self.scalar(sympy.Rational(value))
            case sympy.Symbol():
                return self.symbol(value.name, value.is_positive is True)
            case sympy.Add():
                return reduce(lambda a, b: a + b, map(self.scalar, value.args))
            case sympy.Mul():
                return reduce(lambda a, b: a * b, map(self.scalar, value.args))
            case sympy.exp():
                return f.exp(self.scalar(value.args[0]))
            case sympy.log():
                return f.log(self.scalar(value.args[0]))
            case sympy.Pow() if isinstance(value.args[1], sympy.Rational):
                power = value.args[1]
                return f.power(self.scalar(value.args[0]), Fraction(int(power.p), int(power.q)))
            case sympy.Pow():
                base, power = map(self.scalar, value.args)
                return f.exp(f.log(base) * power)
            case sympy.tanh() | sympy.cos() | sympy.sin():
                return self._apply(type(value).__name__, self.scalar(value.args[0]))
            case sympy.Abs():
                return f.absolute(self.scalar(value.args[0]))
        if value is sympy.S.NegativeInfinity:
            return Element(self.ring, None, None)
        if value is sympy.S.Exp1:
            return f.exp(self.ring.number(1))
        if value is sympy.S.Pi:
            f.doubts["π beside e"] = None
            return self.symbol("π", positive=True)
        if isinstance(value, sympy.Expr) and value.func.__name__ == "Number":
            return self.scalar(value.args[0])
        raise TooHard(f"{value}: {type(value).__name__} is not covered by the decision procedure")

    def array(self, exact: Array) -> Array:
        return elementwise(self.scalar, np.asarray(exact, dtype=object))

    def exp(self, x: Array) -> Array:
        return elementwise(self.functions.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        return elementwise(lambda entry: self._apply(name, entry), x)

    def _apply(self, name: str, x: Element) -> Element:
        f = self.functions
        match name:
            case "tanh":
                twice = f.exp(x + x)
                return (twice - 1) / (twice + 1)
            case "σ":
                return self.ring.number(0) if x.hidden else f.exp(x) / (1 + f.exp(x))
            case "√":
                return f.root(x)
            case "ln":
                return f.log(x)
            case "cos" | "sin":
                return f.cos_sin(x)[name == "sin"]
            case "erf":
                return self._odd("erf", x)
            case "max0" | "elu1" | "abs" if f.known.opaque and not x.hidden:
                return f.unknown(name, x.key())
            case "max0":
                return x if f.sign(x) > 0 else self.ring.number(0)
            case "elu1":
                return x + 1 if f.sign(x) >= 0 else f.exp(x)
            case "abs":
                return f.absolute(x)
        raise TooHard(f"the function {name} is not covered by the decision procedure")

    def _odd(self, name: str, x: Element) -> Element:
        """f(x) as a new input with f(−x) = −f(x), and nothing else used of f."""
        if x.is_zero:
            return x
        sign = 1 if max(x.terms())[1] > 0 else -1
        return self.functions.unknown(name, (x * sign).key()) * sign

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(elementwise(lambda entry: entry.hidden, x), dtype=bool)

    def shift(self, x: Array) -> Array:
        return x

    def row_sum(self, x: Array) -> Array:
        return of_rows(lambda row: reduce(lambda a, b: a + b, row, self.zero), x)

    def inverse(self, x: Array) -> Array:
        size = x.shape[-1]
        unit = [[self.ring.number(int(i == j)) for j in range(size)] for i in range(size)]
        columns = [solved([list(row) for row in x], line) for line in unit]
        if any(column is None for column in columns):
            raise Undefined("a matrix that has no inverse")
        out = np.empty((size, size), dtype=object)
        for j, column in enumerate(columns):
            out[:, j] = column
        return out

    def add(self, a: Array, b: Array) -> Array:
        return np.asarray(np.asarray(a) + np.asarray(b), dtype=object)

    def equals(self, x: Array, number: int) -> NDArray[np.bool_]:
        return np.asarray(elementwise(lambda entry: entry == number, x), dtype=bool)

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        return self.equals(x, 0)

    def _keeps_minus_infinity(self, x: Array, factor: sympy.Expr) -> None:
        """Nothing to do: an element looks at the sign itself."""

    def first_largest(self, x: Array) -> Array:
        """1 at the first largest entry, as new inputs that depend on the row and nothing else.

        Cases of signs would say nothing where two entries are equal, and the first one counts.
        """
        if not self.functions.known.opaque:
            raise TooHard("which entry is the largest, where two may be the same")

        def chosen(row: Array) -> list[Element]:
            _, _, key = self._above_first(row, scaled=True)
            return [self.functions.unknown(f"hardmax {k}", key) for k in range(len(row))]

        return rowwise(chosen, x, x.shape[-1])

    def threshold(self, x: Array) -> Array:
        """τ with Σ max(0, x − τ) = 1, from the scores in decreasing order."""

        def level(row: Array) -> Element:
            if not self.functions.known.opaque:
                return self._threshold([e for e in row if not e.hidden])
            first, _, key = self._above_first(row, scaled=False)
            return first + self.functions.unknown("τ", key)

        return of_rows(level, x)

    def row_max(self, x: Array) -> Array:
        """The largest entry of each row; where two are the same function, either."""

        def largest(row: Array) -> Element:
            seen = [entry for entry in row if not entry.hidden]
            if seen and self.functions.known.opaque:
                first, scale, key = self._above_first(row, scaled=True)
                return first + scale * self.functions.unknown("max", key)
            best: Element = seen[0] if seen else row[0]
            for entry in seen[1:]:
                best = entry if self._above(entry, best) else best
            return best

        return of_rows(largest, x)

    def _above_first(self, row: Array, scaled: bool) -> tuple[Element, Fraction, str]:
        """A row's first finite entry, a positive number, and the row less the one, by the other.

        max(z) = z_1 + k max((z − z_1)/k) for k > 0, τ(z) = z_1 + τ(z − z_1), and where the largest
        entry stands depends on (z − z_1)/k alone. The key is a text for (z − z_1)/k.
        """
        first = next((entry for entry in row if not entry.hidden), self.zero)
        lowered = [entry if entry.hidden else entry - first for entry in row]
        number = Fraction(1)
        if scaled:
            terms: list[Any] = next(
                (e.terms() for e in lowered if not e.hidden and not e.is_zero), []
            )
            number = abs(max(terms)[1]) if terms else number
        keys = ("−∞" if e.hidden else (e * (1 / number)).key() for e in lowered)
        return first, number, "; ".join(keys)

    def _threshold(self, row: list[Element]) -> Element:
        ranked: list[Element] = []
        for entry in row:
            place = next((k for k, e in enumerate(ranked) if self._above(entry, e)), len(ranked))
            ranked.insert(place, entry)
        added, level = self.zero, self.zero
        for count, entry in enumerate(ranked, start=1):
            if count > 1 and not self._above(entry, level):
                break
            added = added + entry
            level = (added - 1) / count
        return level  # type: ignore[no-any-return]

    def _above(self, one: Element, other: Element) -> bool:
        if one.hidden or other.hidden:
            return other.hidden and not one.hidden
        return self.functions.sign(one - other) > 0
