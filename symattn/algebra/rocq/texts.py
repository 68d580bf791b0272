"""Polynomials and entry rules as terms of Rocq."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from itertools import count
from math import lcm
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Checker
from symattn.algebra.forms import Env, Refused, linear, variable
from symattn.algebra.rocq.comments import Comments
from symattn.algebra.rocq.divisors import Divisor
from symattn.algebra.rocq.equations import (
    Induction,
    along_text,
    largest_text,
    product_text,
    summed_text,
)
from symattn.algebra.rocq.terms import (
    FUNCTIONS,
    SIGNS,
    Places,
    bracketed,
    fraction,
    identifier,
    leaf_text,
    letter,
    nat,
    plain,
    root,
    scalar,
    to_power,
)
from symattn.algebra.sums import Step
from symattn.algebra.texts import Atom, Mono, Poly, atoms_of, spelled, terms_of
from symattn.nodes import rule as r
from symattn.nodes.heads import Head
from symattn.step import HEAD

#: Variables in the place of atoms.
Variables = Mapping[Any, str]

#: What is assumed of atoms, by their texts: that 0 <, 0 <= or 0 != them.
Assumed: TypeAlias = Sequence[tuple[re.Pattern[str], str]]


def sign_of(atom: Atom, assumed: Assumed) -> str:
    """What is assumed of an atom, whatever its places are."""
    return next((sign for pattern, sign in assumed if pattern.fullmatch(spelled(atom))), "")


class Spelling(Checker):
    """A checker that spells what it finds.

    `orders` says of every atom by which number its exponents are whole.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        positive: Sequence[str],
        orders: dict[Atom, int],
        comments: Comments,
        divisors: Sequence[Divisor],
    ) -> None:
        super().__init__(steps, positive)
        self.orders, self.comments, self.divisors = orders, comments, divisors
        #: What is said of atoms by hypotheses about divisors, and the proofs.
        self.assumed: list[tuple[re.Pattern[str], str]] = [
            (anywhere(d.atom), f"0 {d.sign}") for d in divisors if d.atom
        ]
        self.given: list[str] = []
        #: Letters of heads that are said to be what another letter is, and the hypothesis.
        self.ties: Mapping[str, str] = {}
        #: What says that states are their closed forms, by the letter and the closed form.
        self.states: dict[tuple[str, MatrixExpr], str] = {}
        #: The inductions that show it.
        self.inductions: list[Induction] = []
        #: What names in a script end with.
        self.numbers = count(1)
        #: The laws of e^x that are used besides those that it always has.
        self.laws: set[str] = set()
        #: Identities of polynomials, by what they say.
        self.identities: dict[str, str] = {}
        #: The equations of what is being worked out, a list for each part around it.
        self.frames: list[list[Any]] = [[]]

    def text(
        self, poly: Poly, places: Places | None = None, names_: Variables | None = None
    ) -> str:
        """A polynomial."""
        return " + ".join(self.term(mono, c, places, names_) for mono, c in terms_of(poly)) or "0"

    def term(
        self,
        mono: Mono,
        c: Fraction,
        places: Places | None = None,
        names_: Variables | None = None,
    ) -> str:
        """A term of a polynomial."""
        factors = [self.power_text(atom, p, places, names_) for atom, p in atoms_of(mono)]
        if abs(c) != 1 or not factors:
            factors.insert(0, fraction(abs(c)))
        text = product_text(factors)
        return text if c > 0 else f"- {bracketed(text)}"

    def power_text(
        self, atom: Atom, p: Fraction, places: Places | None, names_: Variables | None
    ) -> str:
        """An atom to a power."""
        turns, base = self.rooted_power(atom, p)
        if names_ is not None and atom in names_:
            text = names_[atom]
            if (atom, -1) in names_ and turns < 0:
                text, turns = names_[atom, -1], -turns
        else:
            text = self.base(atom, base, places, names_)
        return to_power(text, turns)

    def is_assumed(self, atom: Atom) -> str:
        """What is assumed of an atom, whatever its places are: 0 <, 0 <= or 0 !=."""
        return sign_of(atom, self.assumed)

    def rooted_power(self, atom: Atom, p: Fraction) -> tuple[int, int]:
        """So many times the root of this order."""
        order = self.orders[atom] = lcm(self.orders.get(atom, 1), p.denominator)
        signed = not self.is_nonnegative(atom) and self.is_assumed(atom) not in ("0 <", "0 <=")
        if order > 1 and (atom.kind == "poly" or signed):
            what = "a sum" if atom.kind == "poly" else "what may be negative"
            raise Refused(f"a root of {what} has no proof in Rocq yet")
        return int(p * order), order

    def base(
        self,
        atom: Atom,
        order: int,
        places: Places | None,
        names_: Variables | None = None,
    ) -> str:
        """An atom, or its root of this order; of e^x e^(x/order)."""
        if atom.kind == "exp":
            inner = self.term(atom.mono, Fraction(1), places)
            return f"e ({inner})" if order == 1 else f"e ({inner} / {order}%:R)"
        return root(self.atom(atom, places, names_), order)

    def atom(self, atom: Atom, places: Places | None, names_: Variables | None = None) -> str:
        """An atom."""
        match atom:
            case Atom("entry", name, (i, j, *heads)):
                words = [nat(one, places) for one in heads]
                one = f"({letter(name)} {words[0]})" if words else letter(name)
                return f"ent {one} {nat(i, places)} {nat(j, places)}"
            case Atom("positive", "π"):
                raise Refused("π has no term in Rocq yet")
            case Atom("name" | "positive", name):
                return identifier(name)
            case Atom("size", name):
                return f"{nat(variable(name), places)}%:R"
            case Atom("index", places=(at,)):
                return f"{nat(at, places)}%:R"
            case Atom("prime", value):
                return f"{value}%:R"
            case Atom("δ", places=(one, other)):
                return f"({plain(nat(one, places))} == {plain(nat(other, places))})%N%:R"
            case Atom("sum", bound=bound):
                inner = {k: v for k, v in (places or {}).items() if k not in dict(bound)}
                return summed_text(bound, self.term(atom.mono, Fraction(1), inner), places)
            case Atom("line", "max", bound=(pair,)):
                inner = {k: v for k, v in (places or {}).items() if k != pair[0]}
                return largest_text(pair, self.text(dict(atom.terms), inner), places)
            case Atom("poly"):
                return f"({self.text(dict(atom.terms), places, names_)})"
            case Atom("fn", name) if name in FUNCTIONS:
                return f"{FUNCTIONS[name]} ({self.text(dict(atom.terms), places)})"
        what = atom.name if atom.kind in ("fn", "line") else atom.kind
        raise Refused(f"{what} has no term in Rocq yet")

    def rule_text(self, rule: r.Rule, env: Env, lifted: bool = False, depth: int = 0) -> str:
        """An entry rule at these places; a number among what may be −∞ is Some number."""

        def inner(one: r.Rule) -> str:
            return self.rule_text(one, env, False, depth)

        hides = self.may_hide(rule)
        if lifted and not hides:
            return f"Some ({inner(rule)})"
        match rule:
            case r.Entry():
                return self.entry_text(rule, env, depth)
            case r.Const(value) if hides:
                return "None"
            case r.Const(value) | r.Ordinal(value):
                whole = sympy.sympify(value, strict=True)
                return scalar(
                    whole, lambda one: f"{nat(env[one])}%:R" if one in env else leaf_text(one)
                )
            case r.Named(_, _, value):
                return inner(value)
            case r.Plus(terms) if hides:
                first, *others = (bracketed(self.rule_text(one, env, True, depth)) for one in terms)
                return reduce(lambda one, other: f"(add_oo {one} {other})", others, first)
            case r.Exp(body):
                return f"{'exo e' if self.may_hide(body) else 'e'} {bracketed(inner(body))}"
            case r.Total(body, index, size) | r.OfRow("max", (body,), index, size) if index:
                new = f"#b{depth}"
                text = self.rule_text(body, {**env, index: variable(new)}, False, depth + 1)
                word = "sumto" if isinstance(rule, r.Total) else "largest"
                return along_text(word, self.index_text(size, env), new, text)
            case r.OfRow(name):
                raise Refused(f"{name} of a row has no term in Rocq yet")
            case r.Cases(value=value, otherwise=otherwise):
                values = (self.rule_text(one, env, hides, depth) for one in (value, otherwise))
                return f"if {self.condition(rule, env)} then {' else '.join(values)}"
        return operation(rule, [*map(inner, r.children(rule))])

    def condition(self, rule: r.Cases, env: Env) -> str:
        """The condition of cases, on two places."""
        left, right = (plain(self.place_text(one, env)) for one in (rule.left, rule.right))
        if rule.sign not in SIGNS:
            raise Refused(f"a condition with {rule.sign} has no term in Rocq yet")
        if rule.sign == "≤" and right.endswith(" - 1)"):
            return f"({left} < {right[1:-5]})%N"
        return f"({left} {SIGNS[rule.sign]} {right})%N"

    def entry_text(self, rule: r.Entry, env: Env, depth: int) -> str:
        """An entry of a letter, of what it stands for, of a permutation matrix."""
        matrix, i, j = rule.matrix, rule.row, rule.column
        row, column = (self.index_text(one, env) for one in (i, j))
        match matrix:
            case Head(name=name, head=head):
                meant = self.here.means.get(name)
                if meant is not None and (name, meant) not in self.states and name not in self.ties:
                    meant = meant.subs(HEAD, head)
                    return self.rule_text(r.rule_of(meant, i, j), env, False, depth)
                return f"ent ({letter(name)} {self.index_text(head, env)}) {row} {column}"
            case sympy.Inverse(arg=sympy.MatrixSymbol(name=base)):
                name = f"{base}⁻¹"
            case sympy.MatrixSymbol(name=name):
                pass
            case _:
                raise Refused(f"an entry of {type(matrix).__name__} has no term in Rocq yet")
        if name in self.here.means:
            return self.rule_text(r.rule_of(self.here.means[name], i, j), env, False, depth)
        if name in self.permuted:
            return f"(permn {identifier(name)} {row} == {plain(column)})%N%:R"
        if {name, name.removesuffix("⁻¹")} & {*self.here.means, *self.permuted}:
            raise Refused("the inverse of a letter with a meaning has no term in Rocq yet")
        return f"ent {letter(name)} {row} {column}"

    def index_text(self, index: r.Index, env: Env) -> str:
        """An index as the rule has it, forms being put in for its letters."""
        match index:
            case sympy.floor() | sympy.Mod():
                with suppress(Refused):  # it is the block or the place in it of an index
                    return nat(self.at(index, env))
                top, below = sympy.fraction(index.args[0]) if len(index.args) == 1 else index.args
                words = [plain(self.index_text(one, env)) for one in (top, below)]
                return f"({words[0]} {'%/' if len(index.args) == 1 else '%%'} {words[1]})%N"
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
            case r.Ordinal(index) | r.Const(index):
                return self.index_text(index, env)
        raise Refused("a condition on entries has no term in Rocq yet")

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


def same_entry(atom: Atom) -> str:
    """The proof that an entry is the same where its places are written otherwise."""
    name = letter(atom.name)
    return f"congr (ent {f'({name} _)' if len(atom.places) > 2 else name} _ _); places."


def anywhere(atom: Atom) -> re.Pattern[str]:
    """The text of an atom, whatever its places are."""
    return re.compile(re.sub(r"\\#\d+", r"[^],]+", re.escape(spelled(atom))))


def operation(rule: r.Rule, given: Sequence[str]) -> str:
    """What a rule makes of the texts of its parts."""
    inner = [*map(bracketed, given)]
    match rule:
        case r.Plus():
            return " + ".join(inner)
        case r.Times():
            return " * ".join(inner)
        case r.Over():
            return " / ".join(inner)
        case r.Power(_, int(exponent)):
            return f"{inner[0]} ^+ {exponent}"
        case r.Apply(name) if name in FUNCTIONS:
            return f"{FUNCTIONS[name]} {inner[0]}"
    what = rule.name if isinstance(rule, r.Apply) else type(rule).__name__
    raise Refused(f"{what} has no term in Rocq yet")
