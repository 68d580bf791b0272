"""The formulas beside the steps of a script, as the lines of a proof have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import sympy

from symattn.algebra.claims import Goal
from symattn.algebra.forms import Env, Form, names
from symattn.algebra.polynomials import Bound, indices_of
from symattn.algebra.proof_lines import Formulas, parted, place_of, renamed, symbol
from symattn.algebra.texts import Mono, Poly
from symattn.errors import SymattnError
from symattn.nodes import rule as r
from symattn.nodes.spell import Speller
from symattn.notation.text import line


def spelled(one: sympy.Basic | r.Rule) -> str:
    """An expression or an entry rule. Raises `SymattnError` for what has no notation."""
    speller = Speller()
    return line(speller.meaning(one) if isinstance(one, sympy.Basic) else speller.rule(one))


class Comments:
    """Equations of a statement in its own letters and their order."""

    def __init__(self, goal: Goal) -> None:
        self.formulas = Formulas(goal, {}, {})
        #: Row and column of the entry that is compared.
        self.entry: Sequence[Form] = ()

    def of_rule(self, rule: r.Rule, env: Env, value: Poly | None) -> str:
        """What an entry rule is at these places."""
        return self._equation(lambda: rule, value, {}, env)

    def of_sum(self, bound: Bound, mono: Mono, value: Poly) -> str:
        """What a sum of products is."""

        def left() -> r.Rule:
            body = self.formulas.of_mono(mono, Fraction(1))
            for name, size in reversed(bound):
                body = r.Total(body, symbol(name), place_of(size))
            return body

        return self._equation(left, value, {mono: Fraction(1)}, {})

    def of_difference(self, difference: Poly, value: Poly) -> str:
        """What the difference of both sides is."""
        return self._equation(lambda: self.formulas.of_poly(difference), value, difference, {})

    def _equation(
        self, left: Callable[[], r.Rule], value: Poly | None, about: Poly, env: Env
    ) -> str:
        """An equation as text; none of what has no notation."""
        try:
            own, pool = self._letters({*about, *(value or {})}, env)
            places = {index: place_of(at).xreplace(own) for index, at in env.items()}
            sides = [renamed(left(), {**own, **places}, pool)]
            sides.append(renamed(self.formulas.of_poly(value), own, pool))
            words = [*map(spelled, sides)]
        except SymattnError:  # it has no notation
            return ""
        text = " = ".join(words)
        return "" if words[0] == words[1] or re.search(r"\(\*|\*\)", text) else text

    def _letters(
        self, monos: Iterable[Mono], env: Env
    ) -> tuple[dict[sympy.Symbol, sympy.Expr], Sequence[str]]:
        """Letters for the indices that are at hand, and those that are left for sums."""
        found: dict[sympy.Symbol, sympy.Expr] = {}
        for letter, at in zip("ij", self.entry, strict=False):
            low, index = parted(at)
            if index:
                found[symbol(index)] = sympy.Symbol(letter, integer=True) - place_of(low)
        used = frozenset().union(*map(names, env.values()), *map(indices_of, monos))
        others = sorted(one for one in used if symbol(one) not in found)
        pool = self.formulas.pool
        own = dict(zip(map(symbol, others), pool, strict=False))
        found |= {index: sympy.Symbol(letter, integer=True) for index, letter in own.items()}
        return found, pool[len(own) :]
