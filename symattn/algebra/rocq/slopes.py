"""Derivatives in Rocq: what each atom and each polynomial has as its derivative by an entry."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symattn.algebra.certificate import Checker
from symattn.algebra.claims import Slope
from symattn.algebra.forms import Env, Form, Refused, variable
from symattn.algebra.polynomials import settled, single
from symattn.algebra.rocq.equations import Equation, have, some, sum_text, summed_text
from symattn.algebra.rocq.reasoning import Frame, proven
from symattn.algebra.rocq.terms import bracketed, identifier, letter, nat, plain
from symattn.algebra.rocq.writer import ProofWriter
from symattn.algebra.texts import Atom, Poly, atoms_of, terms_of
from symattn.nodes import rule as r


class Slopes(ProofWriter):
    """A checker that proves what derivatives are.

    A derivative is an `Equation` whose right side is that of the left one.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        #: What each number is that is differentiated, and its derivative, in their order.
        self.slopes: list[tuple[Equation, Equation]] = []

    def of_rule(self, rule: r.Rule, env: Env, poly: Poly | None, inside: list[Any]) -> Equation:
        match rule:
            case r.Entry(matrix=Slope()):
                value, slope = inside
                self.slopes.append((value, slope))
                return self.known(poly)
        return super().of_rule(rule, env, poly, inside)

    @proven(Checker.derived)
    def derived(
        self, inside: Frame, out: Poly, poly: Poly, name: str, i: Form, j: Form
    ) -> Equation:
        return self.of_poly(poly, out, inside, _place(name, i, j))

    def of_poly(
        self, poly: Poly, out: Poly, inside: Sequence[Equation | None], at: str
    ) -> Equation:
        """The derivative of a polynomial, from those of its atoms: Σ (∂P/∂a) ∂a."""
        places = [(mono, c, *pair) for mono, c in terms_of(poly) for pair in atoms_of(mono)]
        given = [(*place, one) for place, one in zip(places, inside, strict=True) if one]
        if any(self.rooted_power(atom, p)[1] > 1 for _, _, atom, p, _ in given):
            raise Refused("the derivative of a root has no proof in Rocq yet")
        self.check_divisors(poly)
        lefts = [settled({**dict(mono), atom: p - 1}) for mono, _, atom, p, _ in given]

        def whole(texts: Sequence[str]) -> str:
            pairs = zip(texts[: len(given)], texts[len(given) :], strict=True)
            words = [f"({left}) * ({slope})" for left, slope in pairs]
            return sum_text([c * p for _, c, _, p, _ in given], words)

        slopes = {atom: one for _, _, atom, _, one in given}
        script = [line for one in slopes.values() for line in have(self.fresh("D"), one)]
        about = [*lefts, *(some(one.poly) for *_, one in given)]
        taken = Equation(
            self.text(poly), whole([*map(self.text, about)]), (*script, "by_chain."), slope=at
        )
        return self.chain(taken, self.combined(whole, out, *about))

    def check_divisors(self, poly: Poly) -> None:
        """Raise `Refused` where a polynomial divides by what may be 0 or negative."""
        checker = self.plainly()
        below = {atom for mono in poly for atom, p in mono if p < 0}
        if not all(checker.is_positive(atom) and checker.is_filled(atom) for atom in below):
            raise Refused("the derivative of a quotient by what may be 0 has no proof in Rocq yet")

    @proven(Checker.slope_of)
    def slope_of(
        self, inside: Frame, out: Poly, atom: Atom, name: str, i: Form, j: Form
    ) -> Equation | None:
        moves = bool(inside) or atom[:2] == ("entry", name)
        return self.of_atom(atom, out, inside, (i, j), _place(name, i, j)) if moves else None

    def of_atom(
        self, atom: Atom, out: Poly, inside: Sequence[Equation], entry: tuple[Form, Form], at: str
    ) -> Equation:
        """The derivative of an atom."""
        left = self.base(atom, 1, None)
        match atom:
            case Atom("entry"):
                conditions = [
                    self.condition_is(
                        f"({plain(nat(one))} == {plain(nat(other))})%N%:R", self.delta(one, other)
                    )
                    for one, other in zip(atom.places, entry, strict=True)
                ]
                right = " * ".join(one.left for one in conditions)
                taken = Equation(left, right, ("apply: slope_entry; places.",), slope=at)
                return self.chain(
                    taken, self.combined(lambda g: f"{g[0]} * {g[1]}", out, *conditions)
                )
            case Atom("sum"):
                (one, whole) = inside
                bound = whole.bound or []
                new = {
                    own: nat(variable(name))
                    for (own, _), (name, _) in zip(atom.bound, bound, strict=True)
                }
                if self.term(atom.mono, Fraction(1), new) != one.left:
                    raise Refused("the derivative of such a sum has no proof in Rocq yet")
                script = tuple(
                    f"apply: slope_sumto => {identifier(n)} lt{identifier(n)}." for n, _ in bound
                )
                taken = Equation(
                    left, summed_text(bound, one.right), (*script, *one.proof), slope=at
                )
                return self.chain(taken, whole)
            case Atom("poly"):
                (one,) = inside
                return Equation(left, one.right, one.script, one.poly, slope=at)
        (one,), outer = inside, single(atom)
        law, function, shape = "slope_e", "exf e", "({0}) * ({1})"
        if atom.kind == "fn":
            outer = dict(atom.terms)
            law, function, shape = "slope_ln", "lg ln", "({0})^-1 * ({1})"
        self.laws.add(law)
        name = self.fresh("D")
        last = f"by apply: (slope_comp (h := {function}) _ {name}); apply: k'{law}; pos."
        script = (*have(name, one), last if atom.kind == "fn" else last.replace("; pos", ""))
        taken = Equation(left, shape.format(self.text(outer), one.right), script, slope=at)
        return self.chain(
            taken, self.combined(lambda g: shape.format(*g), out, outer, some(one.poly))
        )


def _place(name: str, i: Form, j: Form) -> str:
    """At which matrix a derivative is, by which entry, and the name of the letter in it."""
    one = letter(name)
    return f"{one} {bracketed(nat(i))} {bracketed(nat(j))} (fun {one}"
