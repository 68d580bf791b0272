"""Derivatives in Rocq: what each atom and each polynomial has as its derivative by an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symattn.algebra.claims import Slope
from symattn.algebra.forms import Env, Form, Refused, variable
from symattn.algebra.polynomials import settled, single
from symattn.algebra.rocq.equations import Equation, have, some, sum_text, summed_text
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

    def derived(self, poly: Poly, name: str, i: Form, j: Form) -> Poly:
        with self.framed() as inside:
            out = super().derived(poly, name, i, j)
        self.keep(self.of_poly(poly, out, inside, _place(name, i, j)))
        return out

    def of_poly(
        self, poly: Poly, out: Poly, inside: Sequence[Equation | None], at: str
    ) -> Equation:
        """The derivative of a polynomial, from those of its atoms: Σ (∂P/∂a) ∂a."""
        places = [(mono, c, *pair) for mono, c in terms_of(poly) for pair in atoms_of(mono)]
        given = [pair for pair in zip(places, inside, strict=True) if pair[1]]
        if any(self.rooted_power(a, p)[1] > 1 for (_, _, a, p), _ in given):
            raise Refused("the derivative of a root has no proof in Rocq yet")
        atoms = dict.fromkeys(atom for _, _, atom, _ in places)
        moving = [atom for (_, _, atom, _), _ in given]
        lefts = [settled({**dict(mono), atom: p - 1}) for (mono, _, atom, p), _ in given]

        def whole(texts: Sequence[str]) -> str:
            pairs = zip(texts[: len(given)], texts[len(given) :], strict=True)
            words = [f"({left}) * ({slope})" for left, slope in pairs]
            return sum_text([c * p for (_, c, _, p), _ in given], words)

        def slope(names_: Mapping[Any, str]) -> str:
            own = (names_[atom, "∂"] for atom in moving)
            return whole([*(self.text(one, None, names_) for one in lefts), *own])

        signs = self.below(poly)
        name = self.chain_rule(poly, [*atoms], moving, signs, slope)
        slopes = {atom: one for atom, (_, one) in zip(moving, given, strict=True) if one}
        found = {atom: self.fresh("D") for atom in slopes}
        function = f"fun {at.rpartition(' ')[2]} => "
        words = [f"({function if a in slopes else ''}{self.value_of(a)})" for a in atoms]
        words += [f"({one.right})" for one in slopes.values()]
        words += [*("ltac:(pos)" for _ in signs), *found.values()]
        script = [line for atom, one in slopes.items() for line in have(found[atom], one)]
        about = [*lefts, *(some(one.poly) for _, one in given if one)]
        taken = Equation(
            self.text(poly),
            whole([*map(self.text, about)]),
            (*script, f"exact: (@{name} _ _ _ _ _ {' '.join(words)})."),
            slope=at,
        )
        return self.then(taken, self.combined(whole, out, *about))

    def chain_rule(
        self,
        poly: Poly,
        atoms: Sequence[Atom],
        moving: Sequence[Atom],
        signs: Sequence[Atom],
        slope: Callable[[Mapping[Any, str]], str],
    ) -> str:
        """The name of the lemma that a polynomial has this derivative if its atoms have theirs."""
        own = {atom: f"x{k}" for k, atom in enumerate(atoms)}
        there, here = (
            {atom: f"({x} {place})" if atom in moving else x for atom, x in own.items()}
            for place in "ZX"
        )
        slopes = {(atom, "∂"): f"d{own[atom][1:]}" for atom in own if atom in moving}
        function, result = self.text(poly, None, there), slope({**here, **slopes})
        kinds = {x: "'M[R]_(n, m) -> R" if atom in moving else "R" for atom, x in own.items()}
        kinds |= dict.fromkeys(slopes.values(), "R")
        words = " ".join(f"({name} : {kind})" for name, kind in kinds.items())
        said = [
            *(f"0 < {here[atom]}" for atom in signs),
            *(f"slope_at X i j {own[atom]} {d}" for (atom, _), d in slopes.items()),
            f"slope_at X i j (fun Z => {function}) ({result})",
        ]
        return self.identity(
            f"forall n m (X : 'M[R]_(n, m)) (i j : nat) {words}, {' -> '.join(said)}",
            "move=> *; eapply slope_eq; [slopes | rewrite /= ?expr0; field; nz].",
        )

    def below(self, poly: Poly) -> Sequence[Atom]:
        """The atoms that a polynomial divides by, all of which are positive."""
        below = dict.fromkeys(a for mono, _ in terms_of(poly) for a, p in atoms_of(mono) if p < 0)
        checker = self.plainly()
        if not all(checker.is_positive(atom) and checker.is_filled(atom) for atom in below):
            raise Refused("the derivative of a quotient by what may be 0 has no proof in Rocq yet")
        return [*below]

    def then(self, slope: Equation, same: Equation) -> Equation:
        """A derivative, with its right side written otherwise."""
        if not same.script:
            return Equation(slope.left, same.right, slope.script, same.poly, slope=slope.slope)
        first, second = self.fresh("D"), self.fresh("E")
        script = (*have(first, slope), *have(second, same), f"exact: (slope_eq {first} {second}).")
        return Equation(slope.left, same.right, script, same.poly, slope=slope.slope)

    def slope_of(self, atom: Atom, name: str, i: Form, j: Form) -> Poly:
        with self.framed() as inside:
            out = super().slope_of(atom, name, i, j)
        moves = bool(inside) or atom[:2] == ("entry", name)
        self.keep(self.of_atom(atom, out, inside, (i, j), _place(name, i, j)) if moves else None)
        return out

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
                return self.then(
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
                return self.then(taken, whole)
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
        return self.then(
            taken, self.combined(lambda g: shape.format(*g), out, outer, some(one.poly))
        )


def _place(name: str, i: Form, j: Form) -> str:
    """At which matrix a derivative is, by which entry, and the name of the letter in it."""
    one = letter(name)
    return f"{one} {bracketed(nat(i))} {bracketed(nat(j))} (fun {one}"
