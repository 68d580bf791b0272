"""The proof of a certificate as a script of Rocq, another reader of the checker's run.

Every part of an entry becomes a polynomial over atoms, and every sum is rewritten by steps: each
is an `Equation` here, whose proof is a lemma of `symattn.v`, the equations of its parts, or an
identity of polynomials that `ring` or `field` decides, over variables in the place of atoms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import lcm
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import (
    Along,
    Atom,
    Bound,
    Checker,
    Env,
    Factors,
    Form,
    Found,
    Items,
    Mono,
    Needs,
    Poly,
    Refused,
    Step,
    atoms_of,
    constant,
    form_poly,
    indices,
    is_permuted,
    linear,
    names,
    number,
    plus_form,
    put,
    read_form,
    renamed,
    renamed_items,
    renamed_mono,
    settled,
    single,
    terms_of,
    times,
    variable,
)
from symattn.algebra.rocq.terms import (
    Places,
    bracketed,
    fraction,
    identifier,
    leaf_text,
    nat,
    root,
    scalar,
)
from symattn.nodes import rule as r

#: Lines of a script, which end the goal that they begin with.
Script: TypeAlias = tuple[str, ...]

#: A side of an identity: a text of the texts of what it is about.
Template: TypeAlias = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Equation:
    """Left = right, and a script that proves it; none where both are the same but for names.

    `poly` is what the right side says, None of −∞; a sum was over `bound` before.
    """

    left: str
    right: str
    script: Script = ()
    poly: Poly | None = None
    bound: Bound | None = None
    rule: object = None

    @property
    def proof(self) -> Script:
        """The script of a goal that is this equation."""
        return self.script or ("by [].",)


@dataclass(frozen=True)
class Piece:
    """A part of a range: its places, their index and number, and the equations there."""

    at: Form
    index: str
    count: Form
    alone: bool
    inside: list[Any]


@dataclass(frozen=True)
class Pieces:
    """All parts of a range."""

    size: Form
    parts: list[Piece]


def have(name: str, one: Equation, kind: str = " :> R") -> Script:
    """A step of a script: an equation with a name."""
    first, *rest = one.proof
    lines = (f"have {name} : {said(one, kind)}.", "{ " + first, *map(indented, rest))
    return (*lines[:-1], lines[-1] + " }")


def said(one: Equation, kind: str = " :> R") -> str:
    """An equation as a statement about numbers, or scores."""
    sides = (f"({side})" if side[:3] == "if " else side for side in (one.left, one.right))
    return " = ".join(sides) + kind


def indented(line: str) -> str:
    """A line further to the right."""
    return f"  {line}"


def within(bound: Bound, one: Equation) -> Equation:
    """The sums of both sides of an equation."""
    for name, size in reversed(bound):
        script = (f"apply: sum_eq => {identifier(name)} lt{identifier(name)}.", *one.script)
        left, right = (summed_text([(name, size)], side) for side in (one.left, one.right))
        one = Equation(left, right, script if one.script else ())
    return one


def summed_text(bound: Bound, body: str) -> str:
    """Σ over indices, the last one innermost."""
    for name, size in reversed(bound):
        body = f"sum {nat(size)} (fun {identifier(name)} => {body})"
    return body


def function(place: Form, name: str = "#rest") -> str:
    """A place as a function of an index."""
    return f"(fun {identifier(name)} => {nat(place)})"


class Writer(Checker):
    """A checker that keeps the equations of its run."""

    def __init__(
        self, steps: Sequence[Step], positive: Sequence[str], orders: dict[Atom, int]
    ) -> None:
        super().__init__(steps, positive)
        #: Of every atom, the least common denominator of its exponents.
        self.orders = orders
        #: The equations of what is being worked out, a list for each part around it.
        self.frames: list[list[Any]] = [[]]
        #: Identities of polynomials, by what they say.
        self.identities: dict[str, str] = {}
        #: How many names equations and single places have.
        self.names_given = 0

    @contextmanager
    def framed(self) -> Iterator[list[Any]]:
        """The equations of the parts of what is worked out here."""
        self.frames.append([])
        yield self.frames[-1]
        self.frames.pop()

    def keep(self, one: Any) -> None:
        """Keep what was found for the part around it."""
        self.frames[-1].append(one)

    def fresh(self, letter: str) -> str:
        """A name that nothing else in the script has."""
        self.names_given += 1
        return f"{letter}{self.names_given}"

    def chain(self, *equations: Equation) -> Equation:
        """From the left side of the first equation to the right side of the last."""
        kept = [one for one in equations if one.script]
        first, last = equations[0], equations[-1]
        if len(kept) <= 1:
            script = kept[0].script if kept else ()
        else:
            *before, term = given = [self.fresh("E") for _ in kept]
            script = tuple(chain.from_iterable(map(have, given, kept)))
            for name in reversed(before):
                term = f"(etrans {name} {term})"
            script += (f"exact: {term}.",)
        return replace(last, left=first.left, script=script)

    # ---- texts -----------------------------------------------------------------------------

    def text(
        self, poly: Poly, places: Places | None = None, names_: Mapping[Atom, str] | None = None
    ) -> str:
        """A polynomial."""
        return " + ".join(self.term(mono, c, places, names_) for mono, c in terms_of(poly)) or "0"

    def term(
        self,
        mono: Mono,
        c: Fraction,
        places: Places | None = None,
        names_: Mapping[Atom, str] | None = None,
    ) -> str:
        """A term of a polynomial."""
        factors = [self.power_text(atom, p, places, names_) for atom, p in atoms_of(mono)]
        if abs(c) != 1 or not factors:
            factors.insert(0, fraction(abs(c)))
        text = _product(factors)
        return text if c > 0 else f"- {bracketed(text)}"

    def power_text(
        self, atom: Atom, p: Fraction, places: Places | None, names_: Mapping[Atom, str] | None
    ) -> str:
        """An atom to a power."""
        turns, base = self.rooted_power(atom, p)
        if names_ is not None and atom in names_:
            text = names_[atom]
            if (atom, -1) in names_ and turns < 0:
                text, turns = names_[atom, -1], -turns
        else:
            text = self.base(atom, base, places, names_)
        return _to_power(text, turns)

    def rooted_power(self, atom: Atom, p: Fraction) -> tuple[int, int]:
        """So many times the root of this order."""
        order = self.orders[atom] = lcm(self.orders.get(atom, 1), p.denominator)
        return int(p * order), order

    def base(
        self,
        atom: Atom,
        order: int,
        places: Places | None,
        names_: Mapping[Atom, str] | None = None,
    ) -> str:
        """An atom, or its root of this order; of e^x e^(x/order)."""
        if atom[0] == "exp":
            inner = self.term(atom[1], Fraction(1), places)
            return f"e ({inner})" if order == 1 else f"e ({inner} / {order}%:R)"
        return root(self.atom(atom, places, names_), order)

    def atom(
        self, atom: Atom, places: Places | None, names_: Mapping[Atom, str] | None = None
    ) -> str:
        """An atom."""
        match atom:
            case ("entry", name, i, j):
                return f"ent {identifier(name)} {nat(i, places)} {nat(j, places)}"
            case ("name", "π", _):
                raise Refused("π has no term in Rocq yet")
            case ("name", name, _):
                return identifier(name)
            case ("size" | "index", name):
                return f"{nat(variable(name), places)}%:R"
            case ("prime", value):
                return f"{value}%:R"
            case ("δ", one, other):
                return f"({_plain(nat(one, places))} == {_plain(nat(other, places))})%N%:R"
            case ("sum", sizes, mono):
                inner = {k: v for k, v in (places or {}).items() if k not in dict(sizes)}
                return _sums(sizes, self.term(mono, Fraction(1), inner), places)
            case ("poly", items):
                return f"({self.text(dict(items), places, names_)})"
            case ("fn", "cos" | "sin" as name, items):
                return f"{name} t ({self.text(dict(items), places)})"
            case ("fn", "ln", items):
                return f"ln ({self.text(dict(items), places)})"
        raise Refused(
            f"{atom[1] if atom[0] in ('fn', 'line') else atom[0]} has no term in Rocq yet"
        )

    def known(self, poly: Poly | None, left: str = "", script: Script = ()) -> Equation:
        """An equation whose right side is a polynomial."""
        right = "None" if poly is None else self.text(poly)
        same = bracketed(left) in ("", "()", bracketed(right))
        return Equation(left or right, right, () if same else script, poly)

    # ---- identities of polynomials ---------------------------------------------------------

    def algebra(self, left: Template, right: Template, *about: Poly | Equation) -> Equation:
        """An identity of texts of polynomials; of an equation its left side is meant."""
        polys = [one.poly if isinstance(one, Equation) else one for one in about]
        inside = self.opened_up(polys)
        marks = ["@"] * len(about)
        negative = {atom for atom, p in inside if p < 0}
        positive = {atom for atom, p in inside if p > 0}
        divided = re.search(r"/ \(*@|@[^@]*\^-1", f"{left(marks)} = {right(marks)}")
        mixed = bool(divided) or bool(negative & positive) or any(a[0] == "poly" for a in negative)
        atoms = sorted({atom for atom, _ in inside if atom[0] != "poly"}, key=str)
        concrete = [
            one.left if isinstance(one, Equation) else self.text(one or {}) for one in about
        ]
        names_: dict[Any, str] = {atom: f"x{k}" for k, atom in enumerate(atoms)}
        if not mixed:
            names_ |= {(atom, -1): f"y{names_[atom][1:]}" for atom in atoms if atom in negative}
        given = [
            f"c{k}"
            if isinstance(one, Equation) and one.script
            else self.text(poly or {}, None, names_)
            for k, (one, poly) in enumerate(zip(about, polys, strict=True))
        ]
        shown = f"{left(given)} = {right(given)} :> R"
        one_text, other = left(concrete), right(concrete)
        if bracketed(one_text) == bracketed(other):
            return Equation(one_text, other)
        hypotheses, arguments = self.signs_of(atoms, negative, names_) if mixed else ([], [])
        squares, known = self.circles(atoms, names_)
        hypotheses += squares
        arguments += known
        equations = [k for k, one in enumerate(about) if isinstance(one, Equation) and one.script]
        meant = [f"c{k} = {self.text(polys[k] or {}, None, names_)}" for k in equations]
        variables = [*(f"c{k}" for k in equations), *names_.values()]
        words = " -> ".join([*hypotheses, *meant, shown])
        divides = " / " in words or "^-1" in words
        lemma = f"forall {' '.join(variables)} : R, {words}" if variables else words
        intro = [f"h{k}" for k in range(len(hypotheses))] + ["->"] * len(equations)
        first = f"move=> {' '.join([*variables, *intro])}; " if variables else ""
        facts = [f"h{k}" for k, one in enumerate(hypotheses) if "=" in one and "!=" not in one]
        how = f"{'field' if divides else 'ring'}{': ' + ' '.join(facts) if facts else ''}"
        how += "; nz" if divides else ""
        name = self.identity(lemma, f"{first}{how}.")
        values = [f"({self.value_of(atom)})" for atom in names_]
        script: Script = ()
        named = {k: self.fresh("C") for k in equations}
        for k in equations:
            script += have(named[k], about[k])  # type: ignore[arg-type]
        holes = ["_"] * len(equations)
        term = " ".join([f"@{name}", *holes, *values, *arguments, *named.values()])
        return Equation(one_text, other, (*script, f"exact: ({term})."))

    def value_of(self, atom: Any) -> str:
        """What a variable of an identity stands for."""
        if isinstance(atom[1], int) and atom[1] == -1 and isinstance(atom[0], tuple):
            return f"({bracketed(self.value_of(atom[0]))})^-1"
        return self.base(atom, self.orders.get(atom, 1), None)

    def opened_up(self, polys: Sequence[Poly | None]) -> set[tuple[Atom, Fraction]]:
        """The atoms and exponents in polynomials, and in the sums that are divided by there."""
        out: set[tuple[Atom, Fraction]] = set()
        for poly in polys:
            for mono in poly or {}:
                for atom, p in mono:
                    out.add((atom, p))
                    if atom[0] == "poly":
                        out |= self.opened_up([dict(atom[1])])
        return out

    def signs_of(
        self, atoms: Sequence[Atom], negative: set[Atom], names_: Mapping[Any, str]
    ) -> tuple[list[str], list[str]]:
        """Which atoms are positive, and why."""
        count = self.count
        found = [atom for atom in atoms if self.is_positive(atom) and self.is_filled(atom)]
        if any(not self.is_positive(atom) or not self.is_filled(atom) for atom in negative):
            raise Refused("a division by what may be 0 has no proof in Rocq yet")
        self.count = count  # the numbers of indices are those of the trace
        return [f"0 < {names_[atom]}" for atom in found], ["ltac:(pos)" for _ in found]

    def circles(
        self, atoms: Sequence[Atom], names_: Mapping[Any, str]
    ) -> tuple[list[str], list[str]]:
        """Sin² = 1 − cos² of the angles among the atoms, [i = j]² = [i = j]."""
        hypotheses, arguments = [], []
        for atom in atoms:
            if atom[0] == "δ":
                hypotheses.append(f"{names_[atom]} ^+ 2 = {names_[atom]}")
                arguments.append(
                    f"(@condition_square R {self.atom(atom, None).removesuffix('%:R')})"
                )
            if atom[0] == "prime":
                hypotheses.append(f"{names_[atom]} ^+ {self.orders[atom]} = {atom[1]}%:R")
                arguments.append("ltac:(roots)")
            other = ("fn", "cos", atom[-1])
            if atom[:2] == ("fn", "sin") and other in names_:
                hypotheses.append(f"{names_[atom]} ^+ 2 = 1 - {names_[other]} ^+ 2")
                arguments.append(f"(sin2 t ({self.text(dict(atom[-1]))}))")
        return hypotheses, arguments

    def combined(self, template: Template, out: Poly, *about: Equation | Poly) -> Equation:
        """What a template of equations is, as a polynomial."""
        one = self.algebra(lambda given: template(given[:-1]), lambda given: given[-1], *about, out)
        return replace(one, poly=out)

    # ---- entry rules -----------------------------------------------------------------------

    def rule_text(self, rule: r.Rule, env: Env, lifted: bool = False, depth: int = 0) -> str:
        """An entry rule at these places; a number among what may be −∞ is Some number."""

        def inner(one: r.Rule) -> str:
            return self.rule_text(one, env, False, depth)

        if lifted and not self.may_hide(rule):
            return f"Some ({inner(rule)})"
        match rule:
            case r.Entry(matrix, i, j):
                return self.entry_text(rule, env, depth)
            case r.Const(value) if value is sympy.S.NegativeInfinity:
                return "None"
            case r.Const(value) | r.Ordinal(value):
                return scalar(sympy.sympify(value), lambda one: self.leaf_text(one, env))
            case r.Named(_, _, value):
                return inner(value)
            case r.Plus(terms) if self.may_hide(rule):
                first, *others = (bracketed(self.rule_text(one, env, True, depth)) for one in terms)
                for other in others:
                    first = f"(plus {first} {other})"
                return first
            case r.Plus(terms):
                return " + ".join(bracketed(inner(term)) for term in terms)
            case r.Times(factors):
                return " * ".join(bracketed(inner(factor)) for factor in factors)
            case r.Over(num, den):
                return f"{bracketed(inner(num))} / {bracketed(inner(den))}"
            case r.Power(body, int(exponent)):
                return f"{bracketed(inner(body))} ^+ {exponent}"
            case r.Exp(body):
                return f"{'exo e' if self.may_hide(body) else 'e'} {bracketed(inner(body))}"
            case r.Apply(name, body) if name in _FUNCTIONS:
                return f"{_FUNCTIONS[name]} {bracketed(inner(body))}"
            case r.Total(body, index, size):
                new = f"#b{depth}"
                body_text = self.rule_text(body, {**env, index: variable(new)}, False, depth + 1)
                return summed_text([(new, linear(size, env))], body_text)
            case r.Cases(left, sign, right, value, otherwise) if sign in _SIGNS:
                places = (_plain(self.place_text(one, env)) for one in (left, right))
                lifted = self.may_hide(rule)
                values = (self.rule_text(one, env, lifted, depth) for one in (value, otherwise))
                condition = condition_text(*places, sign)
                return f"if {condition} then {' else '.join(values)}"
        what = rule.name if isinstance(rule, r.Apply | r.OfRow) else type(rule).__name__
        raise Refused(f"{what} has no term in Rocq yet")

    def entry_text(self, rule: r.Entry, env: Env, depth: int) -> str:
        """An entry of a letter, of what it stands for, of a permutation matrix."""
        matrix, i, j = rule.matrix, rule.row, rule.column
        if type(matrix) is not sympy.MatrixSymbol:
            raise Refused(f"an entry of {type(matrix).__name__} has no term in Rocq yet")
        if matrix.name in self.here.means:
            return self.rule_text(r.rule_of(self.here.means[matrix.name], i, j), env, False, depth)
        row, column = (self.index_text(one, env) for one in (i, j))
        if matrix.name in self.permuted:
            return f"(ap {identifier(matrix.name)} {row} == {_plain(column)})%N%:R"
        return f"ent {identifier(matrix.name)} {row} {column}"

    def index_text(self, index: r.Index, env: Env) -> str:
        """An index as the rule has it, forms being put in for its letters."""
        symbols = sympy.sympify(index, strict=True).free_symbols
        own = sorted((one for one in symbols if one in env), key=str)
        new = {
            one: sympy.Symbol(f"#at{k}", integer=True, nonnegative=True)
            for k, one in enumerate(own)
        }
        one = linear(
            sympy.sympify(index, strict=True).xreplace(new),
            {new[key]: variable(new[key].name) for key in new},
        )
        return nat(one, {new[key].name: nat(env[key]) for key in new})

    def place_text(self, rule: r.Rule, env: Env) -> str:
        """A side of a condition on places."""
        match rule:
            case r.Ordinal(index):
                return self.index_text(index, env)
            case r.Const(value):
                return self.index_text(value, env)
        raise Refused("a condition on entries has no term in Rocq yet")

    def leaf_text(self, value: sympy.Basic, env: Env) -> str:
        """A symbol, a root or a power of e of an entry rule."""
        return f"{nat(env[value])}%:R" if value in env else leaf_text(value)

    def may_hide(self, rule: r.Rule) -> bool:
        """Whether a rule may be −∞."""
        match rule:
            case r.Const(value):
                return bool(value is sympy.S.NegativeInfinity)
            case r.Cases(value=value, otherwise=otherwise):
                return self.may_hide(value) or self.may_hide(otherwise)
            case r.Exp() | r.Apply():
                return False
        return any(map(self.may_hide, r.children(rule)))

    # ---- the checker's run -----------------------------------------------------------------

    def entry(self, expr: sympy.Basic, i: Form, j: Form, head: Form | None = None) -> Poly | None:
        if not isinstance(expr, MatrixExpr):
            self.keep(self.of_scalar(expr, {}))
        return super().entry(expr, i, j, head)

    def value(self, rule: r.Rule, env: Env) -> Poly | None:
        with self.framed() as inside:
            poly = super().value(rule, env)
        one = self.of_rule(rule, env, poly, inside)
        self.keep(replace(one, poly=poly, rule=rule))
        return poly

    def of_rule(self, rule: r.Rule, env: Env, poly: Poly | None, inside: list[Any]) -> Equation:
        """The equation of a rule, from those of its parts."""
        left = self.rule_text(rule, env)
        match rule:
            case r.Entry(_, i, j) if inside:  # what the letter stands for
                (meant,) = inside
                raw = [self.index_text(one, env) for one in (i, j)]
                plain = [nat(self.at(one, env)) for one in (i, j)]
                moved = [
                    f"(_ : {a} = {b}); last by places"
                    for a, b in zip(raw, plain, strict=True)
                    if a != b
                ]
                script = (*(f"rewrite {one}." for one in moved), "by [].") if moved else ()
                return self.chain(Equation(left, meant.left, script), meant)
            case r.Named():
                return inside[0]
            case r.Entry(matrix):
                assert poly is not None
                if matrix.name in self.permuted:
                    return self.condition_is(left, poly)
                words = f"congr (ent {identifier(matrix.name)} _ _); places."
                return self.known(poly, left, (words,))
            case r.Const(value) if poly is None:
                return Equation(left, "None")
            case r.Const(value) | r.Ordinal(value):
                return self.of_scalar(sympy.sympify(value), env)
            case r.Plus() if self.may_hide(rule):
                return self.of_hidden(left, poly, inside)
            case r.Plus():
                return self.combined(
                    lambda given: " + ".join(map(bracketed, given)), _some(poly), *inside
                )
            case r.Times():
                return self.combined(
                    lambda given: " * ".join(map(bracketed, given)), _some(poly), *inside
                )
            case r.Over():
                below, above = inside
                return self.combined(
                    lambda given: f"{bracketed(given[1])} / {bracketed(given[0])}",
                    _some(poly),
                    below,
                    above,
                )
            case r.Power(_, exponent):
                return self.combined(
                    lambda given: f"{bracketed(given[0])} ^+ {exponent}", _some(poly), *inside
                )
            case r.Exp(body):
                return self.of_exp(left, inside[0], self.may_hide(body))
            case r.Apply(name):
                return self.of_function(name, left, inside[0], _some(poly))
            case r.Total(body, index, size):
                return self.of_total(rule, env, left, _some(poly), inside)
            case r.Cases():
                return self.of_cases(rule, env, left, poly, inside)
        raise Refused(f"{type(rule).__name__} has no proof in Rocq yet")

    def of_scalar(self, value: sympy.Expr, env: Env) -> Equation:
        """A number of a rule."""
        leaves: list[Equation] = []

        def leaf(one: sympy.Basic) -> str:
            leaves.append(self.of_leaf(one, env))
            return f"\0{len(leaves) - 1}\0"

        text = scalar(value, leaf)

        def template(given: Sequence[str]) -> str:
            out = text
            for k, words in enumerate(given):
                out = out.replace(f"\0{k}\0", words)
            return out

        return self.combined(template, self.scalar(value, env), *leaves)

    def of_leaf(self, value: sympy.Basic, env: Env) -> Equation:
        """A symbol, a root or a power of e of a rule."""
        poly, left = self.scalar(value, env), self.leaf_text(value, env)
        match value:
            case sympy.exp(args=(inner,)):
                inside = self.of_scalar(inner, env)
                return self.chain(self.applied_to(inside, "e"), self.of_power(inside.poly or {}))
            case sympy.tanh(args=(inner,)):
                return self.of_function("tanh", left, self.of_scalar(inner, env), poly)
            case sympy.Symbol() if value in env:
                return self.known(poly, left, ("by rewrite ?natrD ?natrM.",))
        right = self.text(poly)
        if bracketed(left).strip("()") == bracketed(right).strip("()"):
            return Equation(left, right, (), poly)
        return self.known(poly, left, ("by roots.",))

    def applied_to(self, one: Equation, function: str) -> Equation:
        """A function of both sides."""
        left, right = (f"{function} {bracketed(side)}" for side in (one.left, one.right))
        name = {"e": "ex e", "ln": "lg ln"}.get(function, function)
        return Equation(
            left, right, (f"apply: (congr1 ({name})).", *one.script) if one.script else ()
        )

    def of_hidden(self, left: str, poly: Poly | None, inside: list[Equation]) -> Equation:
        """A sum with what may be −∞."""
        script: Script = ()
        lifted = [one for one in map(self.lifted, inside) if one.script]
        named = [self.fresh("M") for _ in lifted]
        for name, one in zip(named, lifted, strict=True):
            script += have(name, one, " :> score R")
        rewriting = f"rewrite {' '.join([*named, '/='])}."
        if poly is None:
            return Equation(left, "None", (*script, f"by {rewriting}"))
        added = self.combined(
            lambda given: " + ".join(map(bracketed, given)),
            poly,
            *(self.known(one.poly) for one in inside),
        )
        return Equation(left, self.text(poly), (*script, rewriting, "congr Some.", *added.proof))

    def lifted(self, one: Equation) -> Equation:
        """An equation of what may be −∞; a number x is Some x there."""
        if one.poly is None or self.may_hide(one.rule):  # type: ignore[arg-type]
            right = one.right if one.poly is None else f"Some ({one.right})"
            return replace(one, right=right)
        script = ("congr Some.", *one.script) if one.script else ()
        return replace(one, left=f"Some ({one.left})", right=f"Some ({one.right})", script=script)

    def of_exp(self, left: str, inside: Equation, hides: bool) -> Equation:
        """E to what may be −∞, or to a number."""
        if not hides:
            return self.chain(self.applied_to(inside, "e"), self.of_power(_some(inside.poly)))
        name, lifted = self.fresh("M"), self.lifted(inside)
        script: Script = ("by [].",)
        if lifted.script:
            script = (*have(name, lifted, " :> score R"), f"by rewrite {name}.")
        if inside.poly is None:
            return Equation(left, "0", script)
        return self.chain(Equation(left, f"e ({inside.right})", script), self.of_power(inside.poly))

    def of_power(self, poly: Poly) -> Equation:
        """E to a polynomial is a product over its terms."""
        out, left = self.exp(poly), f"e ({self.text(poly)})"
        if not poly:
            return self.known(out, left, ("exact: ex0.",))
        pieces = [self.of_power_of_term(mono, c) for mono, c in terms_of(poly)]
        if len(pieces) == 1:
            return pieces[0]
        script: Script = ()
        term = ""
        for k, one in enumerate(pieces):
            name = self.fresh("T") if one.script else "erefl"
            script += have(name, one) if one.script else ()
            term = f"(ex_add {term} {name})" if k else name
        product = " * ".join(bracketed(one.right) for one in pieces)
        taken = Equation(left, product, (*script, f"exact: {term}."))
        polys = [one.poly or {} for one in pieces]
        return self.chain(
            taken, self.combined(lambda given: " * ".join(map(bracketed, given)), out, *polys)
        )

    def of_power_of_term(self, mono: Mono, c: Fraction) -> Equation:
        """E to one term."""
        out = self.exp({mono: c})
        conditions = [atom for atom, _ in mono if atom[0] == "δ"]
        logarithm = next(iter(mono))[0] if len(mono) == 1 else None
        if len(conditions) > 1:
            raise Refused("e to a product of conditions has no proof in Rocq yet")
        if conditions:
            return self.of_power_if(conditions[0], mono, c, out)
        if logarithm and logarithm[:2] == ("fn", "ln"):
            if c.denominator != 1:
                raise Refused("a root of e to a logarithm has no proof in Rocq yet")
            inner = dict(logarithm[2])
            return self.whole_power(mono, c, self.text(inner), (int(c), 1), ("ln", inner, out))
        ((atom, p),) = next(iter(out))
        turns, order = self.rooted_power(atom, p)
        if turns == order == 1:
            return self.known(out)
        return self.whole_power(
            mono, c, self.base(atom, order, None), (turns, order), ("power", out, out)
        )

    def whole_power(
        self,
        mono: Mono,
        c: Fraction,
        base: str,
        times_: tuple[int, int],
        what: tuple[str, Poly, Poly],
    ) -> Equation:
        """E^(k x) is (e^x)^k, and e^(k ln x) is x^k."""
        turns, order = times_
        lemma, inner, out = what
        sign, scale = "- " if c < 0 else "", "" if order == 1 else f" / {order}%:R"
        shown = self.algebra(
            lambda g: g[0],
            lambda g: f"{sign}({abs(turns)}%:R * ({g[1]}{scale}))",
            {mono: c},
            {mono: Fraction(1)},
        )
        name = self.fresh("I")
        known = have(name, shown) if shown.script else ()
        given = name if shown.script else "erefl"
        word = f"{bracketed(base)}^-1" if c < 0 else base
        right = f"{bracketed(word)} ^+ {abs(turns)}"
        lemma = f"ex_{lemma}{'N' if c < 0 else ''}"
        proof = (
            f"exact: ({lemma} e {given})."
            if what[0] == "power"
            else f"by apply: ({lemma} _ {given}); pos."
        )
        taken = Equation(f"e ({self.term(mono, c)})", right, (*known, proof))
        if what[0] == "ln":

            def template(given: Sequence[str]) -> str:
                below = f"{bracketed(given[0])}^-1" if c < 0 else given[0]
                return f"{bracketed(below)} ^+ {abs(turns)}"

            return self.chain(taken, self.combined(template, out, inner))
        same = Equation(
            right, self.text(out), ("by rewrite expr1.",) if abs(turns) == 1 else (), out
        )
        return self.chain(taken, same)

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

    def of_function(self, name: str, left: str, inside: Equation, poly: Poly) -> Equation:
        """A function of a number."""
        moved = self.applied_to(inside, _FUNCTIONS[name])
        inner = _some(inside.poly)
        match name:
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
            case "√":
                bigger = self.algebra(lambda g: f"({g[0]}) ^+ 2", lambda g: g[1], poly, inner)
                square = self.fresh("Q")
                script = (*have(square, bigger), f"apply: (sqrt_of _ {square}); pos.")
                return self.chain(moved, self.known(poly, moved.right, script))
            case "cos" | "sin":
                return self.chain(moved, self.of_angle(name, inner, poly))
        raise Refused(f"{name} has no proof in Rocq yet")

    def of_angle(self, name: str, inner: Poly, poly: Poly) -> Equation:
        """Cosine or sine of a sum."""
        left, angles = f"{name} t {bracketed(self.text(inner))}", terms_of(inner)
        if any(abs(c) != 1 for _, c in angles):
            raise Refused("a multiple of an angle has no proof in Rocq yet")
        names_ = {
            ("fn", word, frozenset({(mono, Fraction(1))})): f"({word} t v{k})"
            for k, (mono, _) in enumerate(angles)
            for word in ("cos", "sin")
        }
        sum_ = " + ".join(f"v{k}" if c > 0 else f"- (v{k})" for k, (_, c) in enumerate(angles))
        variables = " ".join(f"v{k}" for k in range(len(angles)))
        facts = " ".join(f"(sin2 t v{k})" for k in range(len(angles)))
        lemma = f"forall {variables} : R, {name} t ({sum_}) = {self.text(poly, None, names_)}"
        proof = f"move=> {variables}; rewrite ?(cosD, sinD, cosN, sinN); ring: {facts}."
        values = " ".join(f"({self.term(mono, Fraction(1))})" for mono, _ in angles)
        return self.known(poly, left, (f"exact: (@{self.identity(lemma, proof)} {values}).",))

    def identity(self, lemma: str, proof: str) -> str:
        """The name of a lemma."""
        return self.identities.setdefault(
            f"{lemma}.\nProof. {proof} Qed.", f"identity{len(self.identities) + 1}"
        )

    def of_cases(
        self, rule: r.Cases, env: Env, left: str, poly: Poly | None, inside: list[Any]
    ) -> Equation:
        """A value by a condition."""
        values = [one for one in inside if isinstance(one, Equation)]
        places = [self.place_value(side, env) for side in (rule.left, rule.right)]
        condition = condition_text(
            *(_plain(self.place_text(side, env)) for side in (rule.left, rule.right)), rule.sign
        )
        if len(values) == 1:
            (value,) = values
            holds = (
                self.nonnegative(plus_form(places[1], places[0], -1))
                if rule.sign == "≤"
                else self.delta(*places) == constant(1)
            )
            if self.may_hide(rule):
                value = self.lifted(value)
            kind = " :> score R" if self.may_hide(rule) else " :> R"
            decided = f"rewrite (_ : {condition} = {'true' if holds else 'false'}); last by places."
            script = (f"change ({said(value, kind)}).", *value.proof)
            if re.search(r"\d*[^\W\d_]", condition.removesuffix("%N")):  # of numbers it is computed
                script = (decided, *script)
            return Equation(
                left,
                value.right.removeprefix("Some ") if self.may_hide(rule) else value.right,
                script,
            )
        same = self.condition_is(f"{condition}%:R", self.delta(*places))
        texts = [self.rule_text(one, env) for one in (rule.value, rule.otherwise)]
        either = Equation(
            left,
            f"{condition}%:R * ({texts[0]}) + (1 - {condition}%:R) * ({texts[1]})",
            ("exact: if_either.",),
        )
        return self.chain(
            either,
            self.combined(
                lambda g: f"{g[0]} * ({g[1]}) + (1 - {g[0]}) * ({g[2]})", _some(poly), same, *values
            ),
        )

    def condition_is(self, left: str, poly: Poly) -> Equation:
        """Whether two places are the same, as a number."""
        if poly in ({}, constant(1)):
            return self.known(
                poly, left, (f"apply: condition_{'true' if poly else 'false'}; conditions.",)
            )
        return self.known(poly, left, ("apply: condition_eq; conditions.",))

    # ---- sums ------------------------------------------------------------------------------

    def in_parts(self, size: Form, evaluated: Callable[[Form], Found]) -> list[tuple[Found, Bound]]:
        inner: list[tuple[Form, list[Any]]] = []

        def here(at: Form) -> Found:
            with self.framed() as inside:
                out = evaluated(at)
            inner.append((at, inside))
            return out

        step = self.left[0] if self.left else {}
        if step.get("again") or step.get("every", 1) != 1 or "width" in step:
            raise Refused("a range in pairs, blocks or parts of parts has no proof in Rocq yet")
        found = super().in_parts(size, here)
        parts = []
        for (at, inside), (_, ((index, count),)) in zip(inner, found, strict=True):
            name = index or self.fresh("#one")
            parts.append(Piece(at, name, count, not index, inside))
        self.keep(Pieces(size, parts))
        return found

    def of_total(
        self, rule: r.Total, env: Env, left: str, poly: Poly, inside: list[Any]
    ) -> Equation:
        """A sum of a rule: over the parts of its range, and each of these rewritten."""
        pieces, *sums = inside
        heads = []
        for piece, one in zip(pieces.parts, sums, strict=True):
            (value,) = piece.inside
            over = within([(piece.index, piece.count)], value)
            if piece.alone:
                one = Equation(over.right, value.right, ("exact: sum_one.",), one.poly)
            heads.append(replace(self.chain(over, one), poly=one.poly))
        cut = self.cut(rule, env, left, pieces)
        return self.chain(
            cut, heads[0] if len(heads) == 1 else self.combined(_nested, poly, *heads)
        )

    def cut(self, rule: r.Total, env: Env, left: str, pieces: Pieces) -> Equation:
        """A sum as the sums over the parts of its range."""
        new = "#rest"
        whole = self.rule_text(rule.body, {**env, rule.index: variable("#whole")}, False, 1)
        every = f"(fun {identifier('#whole')} => {whole})"

        def at(place: Form) -> str:
            return self.rule_text(rule.body, {**env, rule.index: place}, False, 1)

        def tail(low: Form) -> tuple[Bound, Form]:
            return [(new, plus_form(pieces.size, low, -1))], plus_form(low, variable(new))

        def head(piece: Piece) -> str:
            return summed_text([(piece.index, piece.count)], at(piece.at))

        if len(pieces.parts) == 1:
            (piece,) = pieces.parts
            return Equation(left, head(piece), (f"exact: (sum_first {every}).",) * piece.alone)
        given: list[str] = []
        script: Script = ()
        low = number(0)
        *before, last = pieces.parts
        for piece in before:
            ((name, length),), place = tail(low)
            low = plus_form(low, piece.count)
            rest: tuple[Bound, Form] = tail(low)
            if piece is before[-1]:
                rest = [(last.index, last.count)], last.at
            ((after, more),), there = rest
            words = [nat(length), nat(piece.count), nat(more), function(place, name)]
            words += [function(piece.at, piece.index), function(there, after)]
            one = Equation(
                summed_text([(name, length)], at(place)),
                f"{head(piece)} + {bracketed(summed_text(rest[0], at(there)))}",
                (f"apply: (@sum_cut _ {every} {' '.join(words)}) => [|? ?|? ?]; places.",),
            )
            given.append(self.fresh("S"))
            script += have(given[-1], one)
        *names_, term = given
        for name in reversed(names_):
            term = f"(etrans {name} (congr1 (+%R _) {term}))"
        return Equation(left, _nested([*map(head, pieces.parts)]), (*script, f"exact: {term}."))

    def summed(self, bound: Bound, poly: Poly) -> Poly:
        with self.framed() as inside:
            out = super().summed(bound, poly)
        bound = [pair for pair in bound if pair[0]]
        if not bound:
            self.keep(replace(self.known(poly), bound=bound))
            return out
        one = self.chain(self.linear(bound, poly), self.weighted(poly, out, inside))
        self.keep(replace(one, poly=out, bound=bound))
        return out

    def weighted(self, poly: Poly, out: Poly, inside: Sequence[Equation]) -> Equation:
        """The sum of the terms' sums, each times its number."""
        numbers = [c for _, c in terms_of(poly)]
        if not numbers or numbers == [1]:
            return inside[0] if inside else self.known(out)
        return self.combined(lambda given: _weighted(numbers, given), out, *inside)

    def linear(self, bound: Bound, poly: Poly) -> Equation:
        """A sum over indices of a polynomial is the sum of its terms' sums."""
        terms = terms_of(poly)
        numbers = [c for _, c in terms]
        monos: list[Poly] = [{mono: Fraction(1)} for mono, _ in terms]
        if numbers == [1]:
            return Equation(
                summed_text(bound, self.text(poly)), summed_text(bound, self.text(poly))
            )
        if not poly:
            script = tuple(f"apply: sum_zero => {identifier(name)} _." for name, _ in bound)
            return Equation(summed_text(bound, "0"), "0", (*script, "by []."))
        first = self.algebra(lambda g: g[0], lambda g: _weighted(numbers, g[1:]), poly, *monos)
        one = Equation(first.left, first.right, first.script)
        texts = [self.text(mono) for mono in monos]
        for place in reversed(range(len(bound))):
            outer = bound[place : place + 1]
            inner = bound[place + 1 :]
            bodies = [summed_text(inner, text) for text in texts]
            over = Equation(
                summed_text(outer, _weighted(numbers, bodies)),
                _weighted(numbers, [summed_text(outer, body) for body in bodies]),
                (f"exact: {self.linear_lemma(numbers)}.",),
            )
            one = self.chain(within(outer, one), over)
        return one

    def linear_lemma(self, numbers: Sequence[Fraction]) -> str:
        """The lemma that a sum over one index is linear, for so many terms with these numbers."""
        functions = [f"f{k}" for k in range(len(numbers))]
        inside = _weighted(numbers, [f"{f} l" for f in functions])
        outside = _weighted(numbers, [f"sum n {f}" for f in functions])
        lemma = (
            f"forall n ({' '.join(functions)} : nat -> R), sum n (fun l => {inside}) = {outside}"
        )
        return self.identity(lemma, "by move=> *; rewrite /sum ?big_split /= -?mulr_sumr.")

    def total(self, bound: Bound, mono: Mono) -> Poly:
        step, factors = self.left[0] if self.left else {}, atoms_of(mono)
        with self.framed() as inside:
            out = super().total(bound, mono)
        last = inside[-1]
        if step["rule"] not in _SUMS:
            raise Refused(f"the rule {step['rule']} has no lemma in Rocq yet")
        one = _SUMS[step["rule"]](self, step, bound, factors, inside)
        self.keep(replace(self.chain(one, last), poly=out))
        return out

    def moved(self, bound: Bound, order: Sequence[int], body: str) -> Equation:
        """A sum with its indices in another order."""
        current, out = list(range(len(bound))), []
        for place, wanted in enumerate(order):
            for k in range(current.index(wanted), place, -1):
                outer = [bound[n] for n in current[: k - 1]]
                a, b = (bound[n] for n in current[k - 1 : k + 1])
                if a[0] in names(b[1]):
                    raise Refused("a range that depends on another index has no proof in Rocq yet")
                rest = summed_text([bound[n] for n in current[k + 1 :]], body)
                one = Equation(
                    summed_text([a, b], rest), summed_text([b, a], rest), ("exact: sum_swap.",)
                )
                out.append(within(outer, one))
                current[k - 1], current[k] = current[k], current[k - 1]
        whole = summed_text(bound, body)
        return self.chain(Equation(whole, whole), *out)

    def substituted(self, mono: Mono, values: Mapping[str, Form]) -> Poly:
        with self.framed() as inside:
            out = super().substituted(mono, values)
        factors = atoms_of(mono)
        about: list[Equation | Poly] = []
        turned: list[int] = []
        for (atom, p), one in zip(factors, inside, strict=True):
            turns, order = self.rooted_power(atom, p)
            if not indices(atom) & set(values):
                about.append({frozenset({(atom, p)}): Fraction(1)})
                turned.append(1)
            elif order == 1:
                about.append(one)
                turned.append(turns)
            else:
                raise Refused("a root that an index is put in for has no proof in Rocq yet")

        def template(given: Sequence[str]) -> str:
            words = [_to_power(*pair) for pair in zip(given, turned, strict=True)]
            return _product(words)

        self.keep(self.combined(template, out, *about))
        return out

    def with_names(self, mono: Mono, new: Mapping[str, Form]) -> Equation:
        """A product whose factors are in the order of one naming of indices, and of another."""
        about = [self.atom_with_names(atom, p, new) for atom, p in atoms_of(mono)]
        return self.combined(_product, {renamed_mono(mono, new): Fraction(1)}, *about)

    def atom_with_names(self, atom: Atom, p: Fraction, new: Mapping[str, Form]) -> Equation:
        """A factor of such a product, a power."""
        places = {name: nat(one) for name, one in new.items()}
        turns, order = self.rooted_power(atom, p)
        left, out = self.base(atom, order, places), renamed(atom, new)
        right = self.base(out, order, None)
        kept = {name: one for name, one in new.items() if name in indices(atom)}
        script: Script = ()
        if bracketed(left) != bracketed(right):
            match atom:
                case ("exp", mono) if order == 1:
                    script = self.applied_to(self.with_names(mono, kept), "e").script
                case ("sum", sizes, mono):
                    script = within(sizes, self.with_names(mono, kept)).script
                case ("fn", "cos" | "sin" as name, items) if order == 1:
                    script = self.applied_to(self.items_with_names(items, kept), f"{name} t").script
                case ("poly", items) if order == 1:
                    script = self.items_with_names(items, kept).script
                case _:
                    raise Refused(f"{atom[0]} under other names has no proof in Rocq yet")
        one = Equation(left, right, script, single(out))
        return self.combined(lambda given: _to_power(given[0], turns), single(out, p), one)

    def items_with_names(self, items: Items, new: Mapping[str, Form]) -> Equation:
        """A polynomial whose terms are in the order of another naming of indices."""
        terms = terms_of(dict(items))
        about = [self.with_names(mono, new) for mono, _ in terms]
        numbers = [c for _, c in terms]
        out = dict(renamed_items(items, new))
        return self.combined(lambda given: _plain_sum(numbers, given), out, *about)

    def changed(self, atom: Atom, values: Mapping[str, Form]) -> Poly:
        with self.framed() as inside:
            out = super().changed(atom, values)
        places = {name: nat(one) for name, one in values.items()}
        left = self.atom(atom, places) if atom[0] != "exp" else self.base(atom, 1, places)
        if not indices(atom) & set(values):
            self.keep(self.known(out, left))
            return out
        match atom:
            case ("entry", name, *_):
                one = self.known(out, left, (f"congr (ent {identifier(name)} _ _); places.",))
            case ("index", _):
                one = self.known(out, left, ("by rewrite ?natrD ?natrM.",))
            case ("δ", *_):
                one = self.condition_is(left, out)
            case ("exp", _):
                one = self.chain(
                    self.applied_to(inside[0], "e"), self.of_power(_some(inside[0].poly))
                )
            case ("sum", *_):
                body, whole = inside
                one = self.chain(within(whole.bound, body), whole)
                one = replace(one, left=left)
            case ("poly", items):
                (one,) = inside
            case ("fn", "cos" | "sin" as name, items):
                (moved,) = inside
                one = self.chain(
                    self.applied_to(moved, f"{name} t"), self.of_angle(name, _some(moved.poly), out)
                )
            case _:
                raise Refused(f"{atom[1]} of another index has no proof in Rocq yet")
        self.keep(replace(one, poly=out))
        return out

    def polynomial_of(self, inside: Sequence[Equation], items: Items, out: Poly) -> Equation:
        """A polynomial whose terms are changed."""
        numbers = [c for _, c in terms_of(dict(items))]
        return self.combined(lambda given: _plain_sum(numbers, given), out, *inside)

    def polynomial(self, items: Items, values: Mapping[str, Form]) -> Poly:
        with self.framed() as inside:
            out = super().polynomial(items, values)
        self.keep(replace(self.polynomial_of(inside, items, out), poly=out))
        return out

    def exp(self, poly: Poly) -> Poly:
        with self.framed():  # what it works out has equations of its own here
            return super().exp(poly)

    def said(self, step: Step, atom: Atom) -> tuple[Poly, Needs]:
        with self.framed() as inside:
            out, needs = super().said(step, atom)
        one, other = inside
        at = " ".join(nat(read_form(text)) for text in step["at"])
        script = (f"exact: (known_{step['equation']} {at} ltac:(places) ltac:(places)).",)
        given = Equation(one.left, other.left, script)
        found = self.chain(turned(one), given, replace(other, poly=out))
        ((_, c),) = one.poly.items()
        if c != 1:
            factor = f"({'- ' if c < 0 else ''}{fraction(abs(1 / c))})"

            def template(given: Sequence[str]) -> str:
                return f"{factor} * ({given[-1]})"

            alone = self.algebra(lambda g: g[0], template, single(atom), one.poly)
            found = replace(found, poly=other.poly)
            found = self.chain(alone, self.combined(template, out, found))
        self.keep(replace(found, poly=out))
        return out, needs

    def as_known(self, atom: Atom) -> Poly:
        with self.framed() as inside:
            out = super().as_known(atom)
        if not inside and out != single(atom):
            raise Refused("the rule threshold has no lemma in Rocq yet")
        self.keep(inside[0] if inside else self.known(out))
        return out

    def simplified(self, left: Poly) -> Poly | None:
        step = self.left[0] if self.left else {"rule": ""}
        terms = terms_of(left)
        with self.framed() as inside:
            out = super().simplified(left)
        match step["rule"]:
            case "zero":
                self.keep(self.algebra(lambda g: g[0], lambda g: "0", left))
            case "meet":
                about: list[Poly | Equation] = [{mono: Fraction(1)} for mono, _ in terms]
                about[step["term"]] = self.met(step, terms[step["term"]][0], inside[0])
                numbers = [c for _, c in terms]
                self.keep(self.combined(lambda g: _plain_sum(numbers, g), out or {}, *about))
            case rule:
                raise Refused(f"the rule {rule} has no lemma in Rocq yet")
        return out

    def met(self, step: Step, mono: Mono, moved: Equation) -> Equation:
        """[i = j] f(i) is [i = j] f(j)."""
        atom, p = atoms_of(mono)[step["factor"]]
        rest: Poly = {mono - {(atom, p)}: Fraction(1)}
        whole: Poly = {mono: Fraction(1)}
        value, index = self.solved(atom, step["index"]), identifier(step["index"])
        assert value is not None
        apart = self.algebra(lambda g: g[0], lambda g: f"{g[1]} * ({g[2]})", whole, single(atom), rest)
        name = self.fresh("met")
        script = (f"apply: meet => {name}.", f"by rewrite (_ : {index} = {nat(value)}) //; places.")
        right = f"{self.text(single(atom))} * ({moved.left})"
        same = Equation(apart.right, right, script)
        put_in = self.combined(
            lambda g: f"{g[0]} * ({g[1]})", times(single(atom), _some(moved.poly)), single(atom), moved
        )
        return self.chain(apart, same, put_in)

    def vanishes(self, difference: Poly) -> None:
        sides = [*self.frames[-1]]
        self.frames[-1].clear()
        if len(sides) != 2:
            raise Refused("what follows from products of assumed equations has no proof in Rocq yet")
        super().vanishes(difference)
        steps = [*self.frames[-1]]
        self.frames[-1].clear()
        left, right = sides
        if len(steps) == 1:
            middle = self.algebra(lambda g: g[0], lambda g: g[1], _some(left.poly), _some(right.poly))
        else:
            apart = self.algebra(
                lambda g: f"({g[0]}) - ({g[1]})", lambda g: g[2], _some(left.poly), _some(right.poly), difference
            )
            gone = self.chain(apart, *steps)
            middle = Equation(left.right, right.right, ("apply/subr0_eq.", *gone.proof))
        self.keep(self.chain(left, middle, turned(right)))


def turned(one: Equation) -> Equation:
    """An equation from right to left."""
    return Equation(one.right, one.left, ("symmetry.", *one.script) if one.script else ())


def _some(poly: Poly | None) -> Poly:
    """A polynomial that is not −∞."""
    if poly is None:
        raise Refused("−∞ on both sides has no proof in Rocq yet")
    return poly


def _plain(text: str) -> str:
    return text.removesuffix("%N")


def condition_text(left: str, right: str, sign: str) -> str:
    """A condition on two places, without subtraction."""
    if sign == "≤" and right.endswith(" - 1)"):
        return f"({left} < {right[1:-5]})%N"
    return f"({left} {_SIGNS[sign]} {right})%N"


def _sums(sizes: Any, body: str, places: Places | None) -> str:
    for name, size in reversed(sizes):
        body = f"sum {nat(size, places)} (fun {identifier(name)} => {body})"
    return body


def _product(words: Sequence[str]) -> str:
    return " * ".join(map(bracketed, words)) if len(words) > 1 else "".join(words) or "1"


def _to_power(text: str, turns: int) -> str:
    """A text to a whole power."""
    word = text if turns > 0 else f"{bracketed(text)}^-1"
    return word if abs(turns) == 1 else f"{bracketed(word)} ^+ {abs(turns)}"


def _nested(texts: Sequence[str]) -> str:
    """A + (b + (c + …))."""
    *before, out = texts
    for text in reversed(before):
        out = f"{text} + ({out})"
    return out


def _weighted(numbers: Sequence[Fraction], texts: Sequence[str]) -> str:
    words = []
    for c, text in zip(numbers, texts, strict=True):
        factor = fraction(abs(c))
        words.append(f"{factor if c > 0 else f'(- {factor})'} * ({text})")
    return " + ".join(words)


def _plain_sum(numbers: Sequence[Fraction], texts: Sequence[str]) -> str:
    words = []
    for c, text in zip(numbers, texts, strict=True):
        scaled_ = fraction(abs(c)) if text == "1" else f"{fraction(abs(c))} * {bracketed(text)}"
        word = text if abs(c) == 1 else scaled_
        words.append(word if c > 0 else f"- {bracketed(word)}")
    return " + ".join(words) or "0"


# ---- the rules of sums -------------------------------------------------------------------------


def _innermost(writer: Writer, bound: Bound, place: int, body: str) -> tuple[Equation, Bound]:
    """A sum with one index innermost, and the other indices."""
    others = [k for k in range(len(bound)) if k != place]
    return writer.moved(bound, [*others, place], body), [bound[k] for k in others]


def _delta(
    writer: Writer, step: Step, bound: Bound, factors: Factors, parts: list[Any]
) -> Equation:
    """Σ_l [l = k] f(l) is f(k), or 0."""
    mono = frozenset(factors)
    body = writer.text({mono: Fraction(1)})
    index, size = bound[step["index"]]
    atom, p = factors[step["factor"]]
    name = identifier(index)
    if not step["inside"]:
        rest: Poly = {mono - {(atom, p)}: Fraction(1)}
        shown = writer.algebra(
            lambda g: g[0], lambda g: f"{g[1]} * ({g[2]})", {mono: Fraction(1)}, single(atom), rest
        )
        given = writer.fresh("D"), writer.fresh("Z")
        none = writer.condition_is(writer.atom(atom, None), {})
        opened = tuple(f"apply: sum_zero => {identifier(n)} lt{identifier(n)}." for n, _ in bound)
        known = (*have(given[0], shown), *have(given[1], none))
        script = (*opened, *known, f"by rewrite {' '.join(given)} mul0r.")
        return Equation(summed_text(bound, body), "0", script)
    value = writer.solved(atom, index)
    assert value is not None
    place, own = step["index"], parts[0]
    behind = bound[place + 1 :]
    if names(value) & {other for other, _ in behind}:
        first, others = _innermost(writer, bound, place, body)
        bound, behind = [*others, (index, size)], []
        place = len(others)
    else:
        first = Equation(summed_text(bound, body), summed_text(bound, body))
    rest_poly: Poly = {frozenset(pair for pair in factors if pair[0] != atom): Fraction(1)}
    condition = f"({name} == {_plain(nat(value))})%N%:R"
    one = writer.algebra(
        lambda g: g[0], lambda g: f"{g[1]} * ({g[2]})", {mono: Fraction(1)}, single(atom), rest_poly
    )
    rest = writer.text(rest_poly)
    same = Equation(one.right, f"{condition} * ({rest})", ("congr (_%:R * _).", "conditions."))
    one = writer.chain(one, same if same.left != same.right else replace(same, script=()))
    for k in reversed(range(len(behind))):
        inner, own_name = summed_text(behind[k:], rest), identifier(behind[k][0])
        script = (f"apply: pull => {own_name} lt{own_name}.", *one.proof)
        one = Equation(summed_text(behind[k:], body), f"{condition} * ({inner})", script)
    at = {index: nat(value)}
    rest = summed_text(behind, rest)
    taken = Equation(
        summed_text(bound[place:], body),
        _sums(behind, own.left, at),
        (
            f"apply: (sum_delta (v := {nat(value)}) (g := fun {name} => {rest})) "
            f"=> [|{name} lt{name}]; first by places.",
            *one.proof,
        ),
    )
    left = [(other, put(length, {index: value})) for other, length in behind]
    sized = Equation(taken.right, summed_text(left, own.left), ("congr (sum _ _); places.",))
    if sized.left == sized.right:
        sized = replace(sized, script=())
    moved = writer.chain(taken, sized, within(left, own))
    return writer.chain(first, within(bound[:place], moved))


def _count(
    writer: Writer, step: Step, bound: Bound, factors: Factors, parts: list[Any]
) -> Equation:
    """Σ_l c is size · c."""
    mono: Poly = {frozenset(factors): Fraction(1)}
    body = writer.text(mono)
    first, others = _innermost(writer, bound, step["index"], body)
    pair = bound[step["index"]]
    size = writer.known(
        form_poly(pair[1]),
        f"{nat(pair[1])}%:R",
        ("by rewrite ?natrD ?natrM ?natrB ?sqr_sqrtr ?ler0n //; lia.",),
    )
    counted = Equation(
        summed_text([pair], body), f"{nat(pair[1])}%:R * ({body})", ("exact: sum_const.",)
    )
    product = writer.combined(
        lambda g: f"{g[0]} * ({g[1]})", times(mono, form_poly(pair[1])), size, mono
    )
    return writer.chain(first, within(others, writer.chain(counted, product)))


def _permute(
    writer: Writer, step: Step, bound: Bound, factors: Factors, parts: list[Any]
) -> Equation:
    """Σ_l f(l) is Σ_l f(π(l))."""
    place = step["index"]
    body = writer.text({frozenset(factors): Fraction(1)})
    name, back = step["by"]
    inner = parts[0]
    turned = summed_text(bound[place:], inner.left)
    one = Equation(
        summed_text(bound[place:], body),
        turned,
        (f"exact: (sum_perm {identifier(name)}{'^-1' if back else ''}).",),
    )
    return writer.chain(within(bound[:place], one), within(bound, inner))


def _merge(
    writer: Writer, step: Step, bound: Bound, factors: Factors, parts: list[Any]
) -> Equation:
    """C Σ_l f(l) is Σ_l c f(l)."""
    atom, p = factors[step["factor"]]
    rest = settled({**dict(factors), atom: p - 1})
    new = parts[-1].bound[len(bound) :]
    names_ = {name: variable(own) for (name, _), (own, _) in zip(atom[1], new, strict=True)}
    inner: Poly = {renamed_mono(atom[2], names_): Fraction(1)}
    product = times(rest, inner)
    one = writer.algebra(lambda g: g[0], lambda g: f"({g[1]}) * ({g[2]})", product, rest, inner)
    for place in reversed(range(len(new))):
        name = identifier(new[place][0])
        body = summed_text(new[place:], writer.text(inner))
        script = (f"apply: pull => {name} lt{name}.", *one.proof)
        left = summed_text(new[place:], writer.text(product))
        one = Equation(left, f"({writer.text(rest)}) * ({body})", script)
    named = within(new, writer.with_names(atom[2], names_))
    shown = Equation(
        f"({writer.text(rest)}) * ({writer.text(single(atom))})", one.right, times_script(named)
    )
    mono: Poly = {frozenset(factors): Fraction(1)}
    split = writer.algebra(
        lambda g: g[0], lambda g: f"({g[1]}) * ({g[2]})", mono, rest, single(atom)
    )
    back = Equation(one.right, one.left, ("symmetry.", *one.proof))
    return within(bound, writer.chain(split, shown, back))


def times_script(one: Equation) -> Script:
    """The proof that equal numbers are so times another one."""
    return ("apply: (congr1 ( *%R _)).", *one.script) if one.script else ()


def _separate(
    writer: Writer, step: Step, bound: Bound, factors: Factors, parts: list[Any]
) -> Equation:
    """The product of the sums over indices that have to do with one another."""
    groups = step["groups"]
    every = {name for name, _ in bound}
    outer = settled({atom: p for atom, p in factors if not indices(atom) & every})
    order = [k for group in groups for k in group]
    inside: list[Poly] = []
    sums: list[Poly] = []
    for group in groups:
        mine = {bound[k][0] for k in group}
        held = {atom: p for atom, p in factors if indices(atom) & mine}
        inside.append({frozenset(held.items()): Fraction(1)})
        sums.append(single(writer.canonical([bound[k] for k in group], held)))
    whole: Poly = {frozenset(factors): Fraction(1)}
    body = writer.text(whole)
    one: Equation | None = None
    after: Poly = constant(1)
    for g in reversed(range(len(groups))):
        c = outer
        for other in inside[:g]:
            c = times(c, other)
        c = times(c, after)
        if one is None:
            one = writer.algebra(
                lambda t: t[0], lambda t: f"({t[1]}) * ({t[2]})", whole, c, inside[g]
            )
        else:
            before_c, before_s = outer, sums[g + 1]
            for other in inside[: g + 1]:
                before_c = times(before_c, other)
            done: Poly = constant(1)
            for other in sums[g + 2 :]:
                done = times(done, other)
            before_c = times(before_c, done)
            step_ = writer.algebra(
                lambda t: f"({t[0]}) * ({t[1]})",
                lambda t: f"({t[2]}) * ({t[3]})",
                before_c,
                before_s,
                c,
                inside[g],
            )
            one = writer.chain(one, step_)
        ends = order.index(groups[g][-1])
        for place in reversed(range(len(groups[g]))):
            at = ends - (len(groups[g]) - 1 - place)
            name, size = bound[order[at]]
            rest = [bound[k] for k in groups[g][place + 1 :]]
            body_g = summed_text(rest, writer.text(inside[g]))
            one = Equation(
                summed_text([bound[k] for k in order[at:]], body),
                f"({writer.text(c)}) * ({summed_text([(name, size)], body_g)})",
                (f"apply: pull => {identifier(name)} lt{identifier(name)}.", *one.proof),
            )
        (((_, sizes, _), _),) = next(iter(sums[g]))
        new = {bound[k][0]: variable(n) for k, (n, _) in zip(groups[g], sizes, strict=True)}
        named = within(sizes, writer.with_names(next(iter(inside[g])), new))
        right = f"({writer.text(c)}) * ({writer.text(sums[g])})"
        one = writer.chain(one, Equation(one.right, right, times_script(named)))
        after = times(after, sums[g])
    assert one is not None
    c_first, done = outer, constant(1)
    for other in sums[1:]:
        done = times(done, other)
    c_first = times(c_first, done)
    known, out = parts[:-1], outer
    for found in known:
        out = times(out, found.poly)
    final = writer.algebra(
        lambda t: f"({t[0]}) * ({t[1]})", lambda t: _product(t[2:]), c_first, sums[0], outer, *sums
    )
    last = writer.combined(_product, out, outer, *known)
    return writer.chain(writer.moved(bound, order, body), one, final, last)


def _hypothesis(
    writer: Writer, step: Step, bound: Bound, factors: Factors, parts: list[Any]
) -> Equation:
    """A sum is what an assumed equation gives for it."""
    mono: Poly = {frozenset(factors): Fraction(1)}
    body = writer.text(mono)
    first, others = _innermost(writer, bound, step["index"], body)
    run, given = Along.of(bound, factors, step["index"]), parts[0]
    held: Poly = {frozenset(run.uses): Fraction(1)}
    left: Poly = {run.left: Fraction(1)}
    own = single(writer.canonical([(run.index, run.size)], dict(run.uses)))
    apart = writer.algebra(lambda g: g[0], lambda g: f"({g[1]}) * ({g[2]})", mono, left, held)
    name, new = identifier(run.index), next(iter(next(iter(own))))[0][1]
    taken = Equation(
        summed_text([(run.index, run.size)], body),
        f"({writer.text(left)}) * ({summed_text([(run.index, run.size)], writer.text(held))})",
        (f"apply: pull => {name} lt{name}.", *apart.proof),
    )
    named = within(new, writer.with_names(frozenset(run.uses), {run.index: variable(new[0][0])}))
    shown = Equation(taken.right, f"({writer.text(left)}) * ({writer.text(own)})", times_script(named))
    last = writer.combined(lambda g: f"({g[0]}) * ({g[1]})", times(left, given.poly), left, given)
    return writer.chain(first, within(others, writer.chain(taken, shown, last)))


#: The proofs of what a sum is rewritten to, by the rule of the step.
_SUMS: Mapping[str, Callable[[Writer, Step, Bound, Factors, list[Any]], Equation]] = {
    "delta": _delta,
    "count": _count,
    "hypothesis": _hypothesis,
    "permute": _permute,
    "merge": _merge,
    "separate": _separate,
}

_FUNCTIONS: Mapping[str, str] = {
    "√": "Num.sqrt",
    "tanh": "tanh e",
    "σ": "sigmoid e",
    "ln": "lg ln",
    "cos": "cos t",
    "sin": "sin t",
}

_SIGNS: Mapping[str, str] = {"≤": "<=", "=": "=="}
