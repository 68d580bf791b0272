"""How a number follows from sizes: the simplest expression that gives it at several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from operator import add, mul, sub, truediv
from typing import Any, TypeAlias

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.documents.code.by_position import Sized

#: One value for each set of sizes.
Values: TypeAlias = NDArray[np.int64]

#: No constant in an expression is larger.
_MOST = 64

#: Heads and groups that stand for any number of them.
_MANY = {"h": 46 * 94, "g": 46}


class Growth:
    """Expressions by how they grow from one set of sizes to the next; constants do not matter.

    `fixed` are numbers that may stand before a size. `ambiguous` says that two expressions grow
    alike, so that these sets cannot tell them apart.
    """

    def __init__(
        self, trials: Sequence[Mapping[sympy.Symbol, int]], fixed: Iterable[int] = ()
    ) -> None:
        self._known: dict[tuple[int, ...], tuple[int, Values, Callable[[], sympy.Expr]]] = {}
        self.ambiguous = False
        self._large = {s: 2 * sympy.prime(170 + 31 * k) for k, s in enumerate(trials[0])}
        self._large |= {s: _MANY[s.name] for s in trials[0] if s.name in _MANY}
        values = {size: np.array([trial[size] for trial in trials]) for size in trials[0]}
        for grown, expr in _expressions(values):
            self.ambiguous |= self._growth(grown) in self._known or not np.diff(grown).any()
            self._learn(grown, expr)
        for number in sorted(set(fixed) - {0, 1, 2}):
            for size, grown in values.items():
                if self._growth(number * grown) not in self._known:
                    self._learn(number * grown, partial(mul, number, size))

    def _learn(self, grown: Values, expr: Callable[[], sympy.Expr]) -> None:
        for sign in (1, -1):
            self._known[self._growth(sign * grown)] = sign, grown, expr

    @staticmethod
    def _growth(values: Values) -> tuple[int, ...]:
        return tuple(np.diff(values).tolist())

    def find(self, values: Sequence[int]) -> int | None:
        """The number, as itself where it is always the same; None where nothing gives it."""
        first = int(values[0])
        growth = self._growth(np.array(values))
        if not any(growth):
            return first
        if growth not in self._known:
            return None
        sign, grown, expr = self._known[growth]
        constant = first - sign * int(grown[0])
        if abs(constant) > _MOST:
            return None
        whole = sign * expr() + constant
        return Sized(self.large(whole), whole)

    def large(self, expr: sympy.Expr) -> int:
        """The expression at large sizes, where it is in order with others as it is in general."""
        return int(expr.subs(self._large))


def _expressions(
    values: Mapping[sympy.Symbol, Values],
) -> Iterator[tuple[Values, Callable[[], sympy.Expr]]]:
    """What shapes and slices are made of, but for signs and constants, the simplest first."""
    sizes = list(values)

    def told(formula: Callable[..., Any], *of: sympy.Symbol) -> Any:
        return formula(*(values[size] for size in of)), partial(formula, *of)

    for size in sizes:
        yield told(lambda n: n, size)
        yield told(lambda n: 2 * n, size)
        if not (values[size] % 2).any():
            yield values[size] // 2, partial(truediv, size, 2)
    for pair in combinations(sizes, 2):
        yield from (told(formula, *pair) for formula in (add, sub, mul))
    for one, other in permutations(sizes, 2):
        yield told(lambda n, m: n + 2 * m, one, other)
        if not (values[one] % values[other]).any():
            yield values[one] // values[other], partial(truediv, one, other)
    for several in combinations(sizes, 3):
        yield told(lambda a, b, c: a + b + c, *several)
    for several in combinations([size for size in sizes if not size.name.startswith("d_")], 3):
        yield told(lambda a, b, c: a + b - c, *several)
        yield told(lambda a, b, c: a - b + c, *several)
        yield told(lambda a, b, c: b + c - a, *several)
