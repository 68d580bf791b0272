"""The states of a recurrence, one token after another, in any arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import CannotSpell
from symattn.nodes.recurrence import Recurrence

#: As in `symattn.evaluate.walk`, whose programs these are made of.
Program: TypeAlias = Callable[[Callable[[str], Array], Arithmetic], Array]


def by_token(
    node: Recurrence,
    sizes: Mapping[sympy.Symbol, int],
    program_of: Callable[[MatrixExpr, Mapping[sympy.Symbol, int]], Program],
) -> Program:
    """The states of all tokens, (…, tokens, rows, columns), one after another."""
    body, index, count, start, letter = node.args
    known = count.subs(sizes)
    if not known.is_Integer:
        raise CannotSpell(f"{letter} is made token by token; say how many there are ({count})")
    number = int(known)
    order = range(number - 1, -1, -1) if node.back else range(number)

    def at_token(expr: MatrixExpr, token: int) -> Program:
        return program_of(expr.xreplace({index: sympy.Integer(token)}), sizes)

    own = [at_token(body, token) for token in order]
    others = [at_token(start, token) for token in [*order][1:]] if node.back else []
    begin = program_of(start, sizes) if not node.back else None
    key = f"{letter} beside"

    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        states: list[Array] = []
        state: Array | None = None if begin is None else begin(values, arithmetic)

        def known(name: str) -> Array:
            return state if name == key and state is not None else values(name)

        for place, program in enumerate(own):
            new = program(known, arithmetic)
            if node.back and place:
                new = arithmetic.add(new, others[place - 1](known, arithmetic))
            state = new
            states.append(arithmetic.expand(new, -3))
        return arithmetic.join(states[::-1] if node.back else states, axis=-3)

    return run
