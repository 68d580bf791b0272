"""Equations of polynomials: their chains, and the identities that `ring` and `field` decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import reduce, wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar

from symattn.algebra.certificate import Checker
from symattn.algebra.forms import Refused
from symattn.algebra.polynomials import constant, single
from symattn.algebra.rocq.equations import (
    Equation,
    Script,
    Template,
    have,
    product_text,
    some,
)
from symattn.algebra.rocq.terms import FUNCTIONS, bracketed, to_power
from symattn.algebra.rocq.texts import Assumed, Spelling, sign_of
from symattn.algebra.sums import Step
from symattn.algebra.texts import Atom, Mono, Poly, spelled, terms_of

P = ParamSpec("P")
T = TypeVar("T")


class Frame(list[Any]):
    """The equations of the parts of what is worked out, and the step that came first there."""

    def __init__(self, left: Iterable[Step]) -> None:
        super().__init__()
        self.step: Step = next(iter(left), {"rule": ""})


def proven(method: Callable[P, T]) -> Callable[[Callable[..., object]], Callable[P, T]]:
    """A method of the checker, with the proof of what it finds from the equations of its parts."""

    def proving(prove: Callable[..., object]) -> Callable[P, T]:
        @wraps(prove)
        def kept(*given: P.args, **named: P.kwargs) -> T:
            writer: Any = given[0]
            with writer.framed() as inside:
                out = method(*given, **named)
            writer.keep(prove(writer, inside, out, *given[1:], **named))
            return out

        return kept

    return proving


class Knowing(Checker):
    """A checker that is asked for signs, and knows what is assumed."""

    assumed: Assumed = ()

    def is_positive(self, atom: Atom) -> bool:
        return super().is_positive(atom) or sign_of(atom, self.assumed) == "0 <"

    def is_nonnegative(self, atom: Atom) -> bool:
        return super().is_nonnegative(atom) or sign_of(atom, self.assumed) == "0 <="


class Reasoning(Spelling):
    """A checker that proves identities of what it finds."""

    @contextmanager
    def framed(self) -> Iterator[Frame]:
        """The equations of the parts of what is worked out here."""
        inside = Frame(self.left)
        self.frames.append(inside)
        yield inside
        self.frames.pop()

    def keep(self, one: Any) -> None:
        """Keep what was found for the part around it."""
        self.frames[-1].append(one)

    def fresh(self, letter: str) -> str:
        """A name that nothing else in the script has."""
        return f"k'{letter}{next(self.numbers)}"

    def chain(self, *equations: Equation) -> Equation:
        """From the left side of the first equation to the right side of the last.

        The first may say what the derivative of its left side is; the others say so of numbers.
        """
        kept = [one for one in equations if one.script]
        first, last = equations[0], equations[-1]
        if len(kept) <= 1:
            script, comment = (kept[0].script, kept[0].comment) if kept else ((), "")
        else:
            comment = ""
            *before, term = given = [self.fresh("E") for _ in kept]
            script = tuple(chain.from_iterable(map(have, given, kept)))
            for name, one in [*zip(before, kept, strict=False)][::-1]:
                term = f"({'slope_eq' if one.slope else 'etrans'} {name} {term})"
            script += (f"exact: {term}.",)
        return replace(last, left=first.left, script=script, comment=comment, slope=first.slope)

    def known(self, poly: Poly | None, left: str = "", script: Script = ()) -> Equation:
        """An equation whose right side is a polynomial."""
        right = "None" if poly is None else self.text(poly)
        same = bracketed(left) in ("", "()", bracketed(right))
        return Equation(left or right, right, () if same else script, poly)

    def algebra(self, left: Template, right: Template, *about: Poly | Equation) -> Equation:
        """An identity of texts of polynomials; of an equation its left side is meant."""
        concrete = [one.left if isinstance(one, Equation) else self.text(one) for one in about]
        sides = left(concrete), right(concrete)
        if bracketed(sides[0]) == bracketed(sides[1]):
            return Equation(*sides)
        named = {k: self.fresh("C") for k, one in enumerate(about) if _is_proven(one)}
        polys = [one.poly or {} if isinstance(one, Equation) else one for one in about]
        names_, divided = self.variables(
            polys, f"{left(['@'] * len(about))} {right(['@'] * len(about))}"
        )
        facts = [*self.signs_of(names_, divided), *self.squares(names_)]
        texts = [self.text(poly, None, names_) for poly in polys]
        given = [f"c{k}" if k in named else text for k, text in enumerate(texts)]
        hypotheses = [one for one, _ in facts] + [f"c{k} = {texts[k]}" for k in named]
        letters = [*(f"c{k}" for k in named), *names_.values()]
        name = self.lemma(letters, hypotheses, f"{left(given)} = {right(given)} :> R", len(named))
        words = [f"@{name}", *("_" for _ in named), *(f"({self.value_of(a)})" for a in names_)]
        term = " ".join([*words, *(why for _, why in facts), *named.values()])
        known = [
            have(named[k], one)
            for k, one in enumerate(about)
            if isinstance(one, Equation) and k in named
        ]
        return Equation(*sides, (*chain.from_iterable(known), f"exact: ({term})."))

    def variables(
        self, polys: Sequence[Poly], texts: str
    ) -> tuple[dict[Any, str], set[Atom] | None]:
        """Variables in the place of atoms, and the atoms that are divided by.

        Where nothing is cancelled 1/x has a variable of its own, and they are None.
        """
        inside = self.opened_up(polys)
        above, below = ({atom for atom, p in inside if (p > 0) is way} for way in (True, False))
        names_: dict[Any, str] = {}
        for atom in sorted({atom for atom, _ in inside if atom.kind != "poly"}, key=spelled):
            names_[atom] = f"x{len(names_)}"
        divided = re.search(r"/ \(*@|@[^@]*\^-1", texts)
        if divided or above & below or any(atom.kind == "poly" for atom in below):
            return names_, below
        return names_ | {(a, -1): f"y{x[1:]}" for a, x in names_.items() if a in below}, None

    def lemma(
        self, letters: Sequence[str], hypotheses: Sequence[str], said: str, named: int
    ) -> str:
        """The name of an identity of numbers, the last hypotheses being equations to put in."""
        words = " -> ".join([*hypotheses, said])
        how = "field" if " / " in words or "^-1" in words else "ring"
        plain = hypotheses[: len(hypotheses) - named]
        facts = [f"h{k}" for k, one in enumerate(plain) if " = " in one]
        how += f": {' '.join(facts)}" if facts else ""
        how += "; nz" if how[0] == "f" else ""
        if not letters:
            return self.identity(words, f"{how}.")
        intro = [*letters, *(f"h{k}" for k in range(len(plain))), *("->" for _ in range(named))]
        lemma = f"forall {' '.join(letters)} : R, {words}"
        return self.identity(lemma, f"move=> {' '.join(intro)}; {how}.")

    def value_of(self, atom: Any) -> str:
        """What a variable of an identity stands for."""
        if not isinstance(atom, Atom):  # 1/x has a variable of its own
            return f"({bracketed(self.value_of(atom[0]))})^-1"
        return self.base(atom, self.orders.get(atom, 1), None)

    def opened_up(self, polys: Sequence[Poly]) -> set[tuple[Atom, Fraction]]:
        """The atoms and exponents in polynomials, and in the sums that are divided by there."""
        out: set[tuple[Atom, Fraction]] = set()
        for poly in polys:
            for mono in poly:
                for atom, p in mono:
                    out.add((atom, p))
                    if atom.kind == "poly" or atom[:2] == ("fn", "abs"):
                        out |= self.opened_up([dict(atom.terms)])
        return out

    def signs_of(
        self, names_: Mapping[Any, str], divided: set[Atom] | None
    ) -> Iterator[tuple[str, str]]:
        """Which atoms are positive, and why, where some are divided by."""
        if divided is None:
            return
        plain = self.plainly()
        positive = {a for a in (*names_, *divided) if plain.is_positive(a) and plain.is_filled(a)}
        positive |= {a for a in (*names_, *divided) if self.is_assumed(a) == "0 <"}
        if [atom for atom in divided - positive if self.is_assumed(atom) != "0 !="]:
            raise Refused("a division by what may be 0 has no proof in Rocq yet")
        for atom, name in names_.items():
            if atom in positive:
                yield f"0 < {name}", "ltac:(pos)"
        for atom in sorted({*names_, *divided} - positive, key=spelled):
            if self.is_assumed(atom) == "0 !=":
                text = names_.get(atom) or self.atom(atom, None, names_)
                yield f"{text} != 0", "ltac:(nz)"

    def plainly(self) -> Checker:
        """A checker that knows the same letters and ranges, to ask for signs."""
        out = Knowing((), tuple(self.positive))
        out.sizes, out.count, out.here = {**self.sizes}, self.count, self.here
        out.permuted.update(self.permuted)
        out.assumed = self.assumed
        return out

    def as_power(self, atom: Atom) -> Equation:
        """An atom, where roots are taken of it as a power of its root."""
        left, right = self.base(atom, 1, None), self.text(single(atom))
        return self.known(single(atom), left, ("by roots.",) if left != right else ())

    def squares(self, names_: Mapping[Any, str]) -> Iterator[tuple[str, str]]:
        """Sin² = 1 − cos², [i = j]² = [i = j] and √2² = 2 for the atoms with these variables."""
        for atom, name in names_.items():
            match atom:
                case Atom("δ"):
                    condition = self.atom(atom, None).removesuffix("%:R")
                    yield f"{name} ^+ 2 = {name}", f"(@condition_square R {condition})"
                case Atom("prime", value):
                    yield f"{name} ^+ {self.orders[atom]} = {value}%:R", "ltac:(roots)"
                case Atom("fn", "abs"):
                    inner = dict(atom.terms)
                    if any(a[:2] == ("fn", "abs") for a, _ in self.opened_up([inner])):
                        raise Refused("|x| of another absolute value has no proof in Rocq yet")
                    value = self.text(inner, None, names_)
                    yield f"{name} ^+ 2 = ({value}) ^+ 2", f"(abs_sqr ({self.text(inner)}))"
                case Atom("fn", "sin") if (cosine := atom._replace(name="cos")) in names_:
                    other = names_[cosine]
                    angle = f"(sine_sqr t ({self.text(dict(atom.terms))}))"
                    yield f"{name} ^+ 2 = 1 - {other} ^+ 2", angle

    def combined(self, template: Template, out: Poly, *about: Equation | Poly) -> Equation:
        """What a template of equations is, as a polynomial."""
        one = self.algebra(lambda given: template(given[:-1]), lambda given: given[-1], *about, out)
        return replace(one, poly=out)

    def identity(self, lemma: str, proof: str) -> str:
        """The name of a lemma."""
        return self.identities.setdefault(
            f"{lemma}.\nProof. {proof} Qed.", f"identity{len(self.identities) + 1}"
        )

    def condition_is(self, left: str, poly: Poly) -> Equation:
        """Whether two places are the same, as a number."""
        if poly in ({}, constant(1)):
            return self.known(
                poly, left, (f"apply: condition_{'true' if poly else 'false'}; conditions.",)
            )
        return self.known(poly, left, ("apply: condition_eq; conditions.",))

    def applied_to(self, one: Equation, function: str) -> Equation:
        """A function of both sides."""
        left, right = (f"{function} {bracketed(side)}" for side in (one.left, one.right))
        name = {"e": "exf e", "ln": "lg ln"}.get(function, function)
        return Equation(
            left,
            right,
            (f"apply: (congr1 ({name})).", *one.remark, *one.script) if one.script else (),
        )

    def of_square(
        self, moved: Equation, lemma: str, poly: Poly, inner: Poly, sides: tuple[str, str]
    ) -> Equation:
        """A root or an absolute value, which is ≥ 0 and has this square."""
        signed = [c for mono, c in poly.items() if c < 0 or not self.plainly().is_square(mono)]
        if signed and len(poly) != 2:
            raise Refused("a sum that is ≥ 0 by |x| ≥ x has no proof in Rocq yet")
        left, right = sides
        same = self.algebra(lambda g: left.format(*g), lambda g: right.format(*g), poly, inner)
        given = self.fresh("Q")
        script = (*have(given, same), f"apply: ({lemma} _ {given}); nn.")
        return self.chain(moved, self.known(poly, moved.right, script))

    def lifted(self, one: Equation) -> Equation:
        """An equation of what may be −∞; a number x is Some x there."""
        if self.may_hide(one.rule):  # type: ignore[arg-type]
            return one
        script = ("congr Some.", *one.script) if one.script else ()
        return replace(one, left=f"Some ({one.left})", right=f"Some ({one.right})", script=script)


def _value(one: Equation) -> Poly:
    """What an equation says that a number is."""
    return one.poly or {}


def _is_proven(one: Poly | Equation) -> bool:
    return isinstance(one, Equation) and bool(one.script)


class Functions(Reasoning):
    """A checker that proves what functions of polynomials are."""

    def of_hidden_exp(self, left: str, inside: Equation) -> Equation:
        """E to what may be −∞."""
        name = self.fresh("M")
        known = have(name, inside, " :> score R")
        script = (*known, f"by rewrite {name}.") if inside.script else ("by [].",)
        if inside.poly is None:
            return Equation(left, "0", script)
        power = self.of_power(inside.poly)
        return self.chain(Equation(left, power.left, script), power)

    def of_power(self, poly: Poly) -> Equation:
        """E to a polynomial is a product over its terms."""
        out, left = self.exp(poly), f"e ({self.text(poly)})"
        if not poly:
            return self.known(out, left, ("exact: ex0.",))
        pieces = [self.of_power_of_term(mono, c) for mono, c in terms_of(poly)]
        if len(pieces) == 1:
            return pieces[0]
        names_ = [self.fresh("T") for _ in pieces]
        script = chain.from_iterable(map(have, names_, pieces))
        term = reduce(lambda one, other: f"(ex_add {one} {other})", names_)
        taken = Equation(
            left, product_text([one.right for one in pieces]), (*script, f"exact: {term}.")
        )
        return self.chain(taken, self.combined(product_text, out, *map(_value, pieces)))

    def of_power_of_term(self, mono: Mono, c: Fraction) -> Equation:
        """E to one term k x is the power k of what e^x is."""
        conditions = [atom for atom, _ in mono if atom.kind == "δ"]
        if len(conditions) > 1:
            raise Refused("e to a product of conditions has no proof in Rocq yet")
        if conditions:
            return self.of_power_if(conditions[0], mono, c, self.exp({mono: c}))
        turns, order, one = self.whole_power(mono, c)
        if turns == order == 1:
            return one
        sign, scale = "- " if c < 0 else "", "" if order == 1 else f" / {order}%:R"
        shown = self.algebra(
            lambda g: g[0],
            lambda g: f"{sign}({abs(turns)}%:R * ({g[1]}{scale}))",
            {mono: c},
            {mono: Fraction(1)},
        )
        given = self.fresh("I"), self.fresh("I")
        script = (
            *have(given[0], shown),
            *have(given[1], one),
            f"exact: (ex_power{'N' if c < 0 else ''} {' '.join(given)}).",
        )
        right = f"{to_power(one.right, 1 if c > 0 else -1)} ^+ {abs(turns)}"
        taken = Equation(f"e ({self.term(mono, c)})", right, script)
        power = self.combined(lambda g: to_power(g[0], turns), self.exp({mono: c}), _value(one))
        if abs(turns) == 1:
            power = self.chain(Equation(right, power.left, ("exact: expr1.",)), power)
        return self.chain(taken, power)

    def whole_power(self, mono: Mono, c: Fraction) -> tuple[int, int, Equation]:
        """E^(k x/d) as k times what e^(x/d) is; of x = ln y and d = 1 it is y."""
        logarithm = next(iter(mono))[0] if len(mono) == 1 else None
        if logarithm is None or logarithm[:2] != ("fn", "ln"):
            atom = Atom("exp", terms=frozenset({(mono, Fraction(1))}))
            turns, order = self.rooted_power(atom, c)
            return turns, order, self.known(single(atom, Fraction(1, order)))
        if c.denominator != 1:
            raise Refused("a root of e to a logarithm has no proof in Rocq yet")
        inner = dict(logarithm.terms)
        if not self.plainly().never_zero(inner):
            raise Refused("a logarithm of what may be negative has no proof in Rocq yet")
        left = f"e ({self.term(mono, Fraction(1))})"
        return int(c), 1, self.known(inner, left, ("by apply: lgK; pos.",))

    def of_power_if(self, condition: Atom, mono: Mono, c: Fraction, out: Poly) -> Equation:
        """E^([i = j] x) is 1 + [i = j] (e^x − 1)."""
        rest = frozenset(pair for pair in mono if pair[0] != condition)
        inner, holds = self.of_power({rest: c}), single(condition)
        shown = self.algebra(
            lambda given: given[0],
            lambda given: f"{given[1]} * {bracketed(given[2])}",
            {mono: c},
            holds,
            {rest: c},
        )
        given = self.fresh("I"), self.fresh("I")
        script = (
            *have(given[0], shown),
            *have(given[1], inner),
            f"exact: (ex_if {' '.join(given)}).",
        )
        right = f"1 + {self.text(holds)} * ({inner.right} - 1)"
        taken = Equation(f"e ({self.term(mono, c)})", right, script)
        end = self.combined(lambda g: f"1 + {g[0]} * ({g[1]} - 1)", out, holds, inner.poly or {})
        return self.chain(taken, end)

    def of_function(self, name: str, inside: Equation, poly: Poly) -> Equation:
        """A function of a number."""
        moved = self.applied_to(inside, FUNCTIONS[name])
        inner = some(inside.poly)
        match name:
            case "e":
                return self.chain(moved, self.of_power(inner))
            case "tanh" | "σ":
                power = inner if name == "σ" else {mono: 2 * c for mono, c in inner.items()}
                value = self.of_power(power)
                if name == "tanh":
                    doubled = self.algebra(
                        lambda g: f"2%:R * ({g[0]})", lambda g: g[1], inner, power
                    )
                    value = self.chain(self.applied_to(doubled, "e"), value)
                    shape = "(({0}) - 1) / (({0}) + 1)"
                else:
                    shape = "({0}) / (1 + ({0}))"
                opened = Equation(moved.right, shape.format(value.left))
                return self.chain(
                    moved, opened, self.combined(lambda g: shape.format(g[0]), poly, value)
                )
            case "ln":
                back = self.algebra(lambda g: g[0], lambda g: g[1], self.exp(poly), inner)
                name = self.fresh("L")
                script = (
                    *have(name, self.chain(self.of_power(poly), back)),
                    f"exact: (ln_of ln {name}).",
                )
                return self.chain(moved, self.known(poly, moved.right, script))
            case "√" if not self.plainly().all_nonnegative(inner):
                raise Refused("a root of what may be negative has no proof in Rocq yet")
            case "√":
                return self.of_square(moved, "sqrt_of", poly, inner, ("({0}) ^+ 2", "{1}"))
            case "abs":
                return self.of_square(moved, "abs_of", poly, inner, ("({0}) ^+ 2", "({1}) ^+ 2"))
            case "max0" if inner:
                size = self.of_function("abs", self.known(inner), self.absolute(inner))

                def half(given: Sequence[str]) -> str:
                    return f"(({given[0]}) + ({given[1]})) / 2%:R"

                both = half([self.text(inner), size.left])
                moved = self.chain(moved, Equation(moved.right, both, ("exact: max0E.",)))
                return self.chain(moved, self.combined(half, poly, inner, size))
            case "cos" | "sin":
                return self.chain(moved, self.of_angle(name, inner, poly))
        raise Refused(f"{name} has no proof in Rocq yet")

    def of_angle(self, name: str, inner: Poly, poly: Poly) -> Equation:
        """Cosine or sine of a sum."""
        left, angles = f"{FUNCTIONS[name]} {bracketed(self.text(inner))}", terms_of(inner)
        if any(abs(c) != 1 for _, c in angles):
            raise Refused("a multiple of an angle has no proof in Rocq yet")
        names_ = {
            Atom("fn", word, terms=frozenset({(mono, Fraction(1))})): f"({FUNCTIONS[word]} v{k})"
            for k, (mono, _) in enumerate(angles)
            for word in ("cos", "sin")
        }
        sum_ = " + ".join(f"v{k}" if c > 0 else f"- (v{k})" for k, (_, c) in enumerate(angles))
        variables = " ".join(f"v{k}" for k in range(len(angles)))
        facts = " ".join(f"(sine_sqr t v{k})" for k in range(len(angles)))
        lemma = (
            f"forall {variables} : R, {FUNCTIONS[name]} ({sum_}) = {self.text(poly, None, names_)}"
        )
        proof = f"move=> {variables}; rewrite ?(cosineD, sineD, cosineN, sineN); ring: {facts}."
        values = " ".join(f"({self.term(mono, Fraction(1))})" for mono, _ in angles)
        return self.known(poly, left, (f"exact: (@{self.identity(lemma, proof)} {values}).",))
