"""A second replayer of certificates of equations, written from `docs/proof-rules.md` alone.

`tests.opened` writes the entries of both sides as data; all else is here. Letters: P a permutation,
l an index, v what is put in for it, m a monomial, p a polynomial, k a power, c a coefficient. None
is −∞.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction as Q
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import prod
from typing import Any, NamedTuple

from tests.opened import opened

Term = Any
Binders = list[tuple[str, "Form"]]
Monomial = tuple[tuple["Atom", Q], ...]
Poly = dict[Monomial, Q]
Data = Any


class Refused(Exception):
    """A certificate that does not prove its statement, and why."""


class Unknown(Exception):
    """What this replayer does not know."""


def need(fact: object, why: str) -> None:
    """Refuse unless `fact`."""
    if not fact:
        raise Refused(why)


def gathered(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The sum of the coefficients of each thing, without zeros."""
    sums: dict[Any, Any] = {}
    for thing, c in pairs:
        sums[thing] = sums.get(thing, 0) + c
    need(len(sums) <= 5000, "more than 5,000 terms")
    return {thing: c for thing, c in sums.items() if c}


# Forms


@dataclass(frozen=True, repr=False)
class Form:
    """A sum of whole multiples of names, products of names, places and quotients."""

    pairs: tuple[tuple[Term, int], ...] = ()

    def __repr__(self) -> str:
        return repr(self.pairs)

    def __add__(self, other: Form | int) -> Form:
        more = number(other) if isinstance(other, int) else other
        return form(chain(self.pairs, more.pairs))

    def __sub__(self, other: Form | int) -> Form:
        return self + other * -1

    def __mul__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return form((t, c * other) for t, c in self.pairs)
        return form((times(s, t), a * b) for s, a in self.pairs for t, b in other.pairs)

    def __str__(self) -> str:
        text = ""
        for t, c in sorted(self.pairs, key=lambda pair: (pair[0] == "", str(pair[0]))):
            match t:
                case ("π", letter, back, x):
                    word = f"{letter}{'⁻¹' * back}({x})"
                case ("⌊⌋", _, b, a):
                    word = f"⌊({a})/({b})⌋"
                case _:
                    word = t
            sign = (" - " if c < 0 else " + ") if text else "-" * (c < 0)
            text += sign + str(abs(c)) * (abs(c) != 1 or not word) + word
        return text or "0"

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in it."""
        parts = (t.split("·") if isinstance(t, str) else inside(t) for t, _ in self.pairs)
        return frozenset(chain.from_iterable(parts)) - {""}

    def mapped(self, f: Callable[[Term], Form]) -> Form:
        """f of every term."""
        return sum((f(t) * c for t, c in self.pairs), Form())


def form(pairs: Iterable[tuple[Term, int]]) -> Form:
    """The form of these terms."""
    return Form(tuple(sorted(gathered(pairs).items(), key=repr)))


def number(c: int) -> Form:
    """A number as a form."""
    return form([("", c)])


def name(term: Term) -> Form:
    """A term as a form."""
    return Form(((term, 1),))


def inside(term: Term) -> frozenset[str]:
    """The names in a place or a quotient."""
    return frozenset().union(*(x.names for x in term if isinstance(x, Form)))


def times(s: Term, t: Term) -> Term:
    """The product of two terms."""
    need("" in (s, t) or isinstance(s, str) and isinstance(t, str), "a place in a product")
    return "·".join(sorted(s.split("·") + t.split("·"))) if s and t else s or t


def renamed(x: Form, names: Mapping[str, str]) -> Form:
    """Other names in a form; nothing is worked out."""

    def other(t: Term) -> Form:
        if isinstance(t, str):
            return name("·".join(sorted(names.get(n, n) for n in t.split("·"))))
        return name(tuple(renamed(y, names) if isinstance(y, Form) else y for y in t))

    return x.mapped(other)


def parsed(text: object) -> Form:
    """The form that a text is."""
    need(isinstance(text, str) and len(text) <= 5000, "a form is a text")
    pairs = []
    for part in re.split(r" (?=[+-] )", str(text)):
        found = re.fullmatch(r"([+-] |-)?(\d*)([^\s\d()][^\s()⌊⌋]*)?", part)
        if not found or not found[2] + (found[3] or ""):
            raise Refused(f"no form: {text}")
        sign = -1 if (found[1] or "")[:1] == "-" else 1
        pairs.append((found[3] or "", sign * int(found[2] or 1)))
    need(str(form(pairs)) == text, f"not as forms are written: {text}")
    return form(pairs)


def divided(a: Form, b: Form) -> tuple[Form, Form]:
    """Quotient and rest of a by b."""
    match b.pairs:
        case (("", int(k)),) if k > 0:
            q = form((t, c // k) for t, c in a.pairs)
        case ((str(t), 1),):
            q = form((over, c) for s, c in a.pairs if (over := without(s, t)) is not None)
        case _:
            q = Form()
    return q, a - q * b


def without(s: Term, t: str) -> str | None:
    """The product of names s without the factors t, if it has them."""
    left = s.split("·") if isinstance(s, str) else []
    for factor in t.split("·"):
        if factor not in left:
            return None
        left.remove(factor)
    return "·".join(left)


def place(letter: str, back: int, x: Form) -> Form:
    """π(x), or π⁻¹(x)."""
    match x.pairs:
        case ((("π", str(same), int(turned), Form() as u), 1),) if (same, turned) == (letter, 1 - back):
            return u
    return name(("π", letter, back, x))


def single_place(x: Form) -> tuple[str, int, Form] | None:
    """P, whether inverse, and u if the form is π(u)."""
    match x.pairs:
        case ((("π", str(letter), int(back), Form() as u), 1),):
            return letter, back, u
    return None


def within(v: Form, size: Form) -> tuple[Form, Form]:
    """What has to be ≥ 0 for 0 ≤ v < size."""
    return v, size - v - 1


# Atoms and polynomials


@dataclass(frozen=True, eq=False)
class Atom:
    """An atom: forms in it, indices that it binds, a polynomial under them. Equal ones are the same."""

    kind: str
    name: str
    forms: tuple[Form, ...]
    binders: tuple[tuple[str, Form], ...]
    body: tuple[tuple[Monomial, Q], ...]

    @cached_property
    def text(self) -> str:
        """As it is written."""
        bound = ", ".join(f"{n}<{size}" for n, size in self.binders)
        p = text(dict(self.body))
        match self.kind, self.forms:
            case "entry", (x, y, *head):
                return f"{self.name}{''.join(f'[{k + 1}]' for k in head)}[{x}, {y}]"
            case "index", (x,):
                return str(x)
            case "condition", (x, y):
                return f"[{x} = {y}]"
            case "first", (x,):
                return f"[{x} = argmax_{{{bound}}}({p})]"
            case "sum", _:
                return f"Σ_{{{bound}}} {p}"
            case "line", _:
                return f"{self.name}_{{{bound}}}({p})"
            case "exp", _:
                return f"e^({p})"
            case ("real" | "positive" | "prime"), _:
                return self.name
        return f"{self.name}({p})"

    @cached_property
    def height(self) -> int:
        """How deep the indices are that it binds."""
        return bool(self.binders) + height(dict(self.body))

    @cached_property
    def free(self) -> frozenset[str]:
        """The names in it that it does not bind."""
        sizes = frozenset().union(*(size.names for _, size in self.binders))
        forms = frozenset().union(*(x.names for x in self.forms))
        return forms | (sizes | held(m for m, _ in self.body)) - {n for n, _ in self.binders}

    def renamed(self, names: Mapping[str, str]) -> Atom:
        """Other names of free indices; nothing is worked out."""
        if not self.free & names.keys():
            return self
        forms = [renamed(x, names) for x in self.forms]
        if self.kind == "condition":
            forms.sort(key=repr)
        binders = tuple((n, renamed(size, names)) for n, size in self.binders)
        return atom(self.kind, self.name, forms, binders, other_names(dict(self.body), names))


@lru_cache(None)
def interned(*parts: Any) -> Atom:
    """The one atom of these parts."""
    return Atom(*parts)


def atom(
    kind: str,
    name: str = "",
    forms: Iterable[Form] = (),
    binders: Iterable[tuple[str, Form]] = (),
    body: Poly | None = None,
) -> Atom:
    """The atom of these parts."""
    return interned(kind, name, tuple(forms), tuple(binders), tuple(terms(body or {})))


def bound(kind: str, name: str, forms: Iterable[Form], binders: Binders, body: Poly) -> Atom:
    """An atom that binds indices, under the names that they have there."""
    names = {n: f"_{height(body) + 1}{chr(97 + k)}" for k, (n, _) in enumerate(binders)}
    inner = [(names[n], renamed(size, names)) for n, size in binders]
    return atom(kind, name, forms, inner, other_names(body, names))


def other_names(p: Poly, names: Mapping[str, str]) -> Poly:
    """Other names of indices in a polynomial; nothing is worked out."""
    return {monomial((a.renamed(names), k) for a, k in m): c for m, c in p.items()}


def monomial(factors: Iterable[tuple[Atom, Q]]) -> Monomial:
    """The monomial of these factors."""
    return tuple(sorted(((a, k) for a, k in factors if k), key=lambda factor: factor[0].text))


def height(p: Iterable[Monomial]) -> int:
    """The greatest height of the atoms."""
    return max((a.height for m in p for a, _ in m), default=0)


def held(monomials: Iterable[Monomial]) -> frozenset[str]:
    """The free names in them."""
    return frozenset().union(*(a.free for m in monomials for a, _ in m))


@lru_cache(None)
def monomial_text(m: Monomial) -> str:
    """A monomial as it is written."""
    words = ((f"({a.text})" if a.kind == "sum" else a.text, k) for a, k in m)
    return " ".join(word if k == 1 else f"{word}^({k})" for word, k in words) or "1"


def terms(p: Poly) -> list[tuple[Monomial, Q]]:
    """The terms in the order of texts."""
    return sorted(p.items(), key=lambda term: monomial_text(term[0]))


def text(p: Poly) -> str:
    """A polynomial as it is written."""
    words = (
        str(c) if not m else monomial_text(m) if c == 1 else f"{c} {monomial_text(m)}"
        for m, c in terms(p)
    )
    return " + ".join(words) or "0"


def constant(c: Q | int) -> Poly:
    """A number as a polynomial."""
    return {(): Q(c)} if c else {}


def one(a: Atom, k: Q | int = 1) -> Poly:
    """a^k as a polynomial; nothing is worked out."""
    return {((a, Q(k)),): Q(1)}


def add(*polynomials: Poly) -> Poly:
    """The sum."""
    return gathered(chain.from_iterable(p.items() for p in polynomials))


def scaled(p: Poly, c: Q | int) -> Poly:
    """c p."""
    return {m: k * c for m, k in p.items()} if c else {}


def less(p: Poly, q: Poly) -> Poly:
    """p − q."""
    return add(p, scaled(q, -1))


def even(k: Q) -> bool:
    """Whether it is an even whole number."""
    return k % 2 == 0


def primes(c: Q) -> list[tuple[int, int]]:
    """The primes of a positive number with their exponents."""
    found: list[tuple[int, int]] = []
    for n, sign in ((c.numerator, 1), (c.denominator, -1)):
        p = 2
        while n > 1:
            p = p if p * p <= n else n
            count = 0
            while n % p == 0:
                n, count = n // p, count + 1
            found += [(p, sign * count)] * (count > 0)
            p += 1
    return found


ONE = constant(1)
CONDITIONS = ("condition", "first")


def divides(p: Iterable[Monomial]) -> bool:
    """Whether no condition stands in it."""
    return not any(a.kind in CONDITIONS for m in p for a, _ in m)


class Algebra:
    """Polynomials, with ranges of open indices, and what is known of letters."""

    def __init__(self, data: Data) -> None:
        self.permutations = {letter: parsed(size) for letter, size in data["permutations"].items()}
        self.positive = set(data["positive"])
        self.ranges: dict[str, Form] = {}
        self.squares: set[frozenset[tuple[Monomial, Q]]] = set()
        self.partial = False

    @contextmanager
    def opened(self, binders: Iterable[tuple[str, Form]]) -> Iterator[None]:
        """With these indices open."""
        before, self.ranges = self.ranges, {**self.ranges, **dict(binders)}
        try:
            yield
        finally:
            self.ranges = before

    # Obligations

    def reach(self, names: Iterable[str]) -> set[str]:
        """The names on which the ranges of these depend, directly or not."""
        todo, seen = list(names), set[str]()
        while todo:
            new = self.ranges.get(todo.pop(), Form()).names - seen
            seen |= new
            todo += new
        return seen

    def shown(self, x: Form) -> bool:
        """Whether x ≥ 0 is shown."""
        while odd := [pair for pair in x.pairs if not isinstance(pair[0], str)]:
            t, c = max(odd, key=lambda pair: len(str(pair)))
            if t[0] != "π" or t[1] not in self.permutations:
                return False
            x = x - name(t) * c + (number(0) if c > 0 else (self.permutations[t[1]] - 1) * c)
        here = sorted(x.names & self.ranges.keys())
        for l in here:
            if l in self.reach(n for n in here if n != l):
                continue
            slope, rest = divided(x, name(l))
            if l in slope.names:
                return False
            if self.shown(slope):
                return self.shown(rest)
            return self.shown(slope * -1) and self.shown(rest + slope * (self.ranges[l] - 1))
        least = x.mapped(lambda t: prod((self.least(n) for n in t.split("·") if n), start=number(1)))
        return not here and not any(n[0] in "#_" for n in x.names) and all(c > 0 for _, c in least.pairs)

    @staticmethod
    def least(size: str) -> Form:
        """A size n written as 1 + n."""
        return name(size) if size[0] == "+" else name(size) + 1

    def lies(self, v: Form, size: Form) -> bool:
        """Whether 0 ≤ v < size is shown."""
        return all(self.shown(x) for x in within(v, size))

    def floor(self, a: Form, b: Form) -> tuple[Form, Form | None]:
        """⌊a/b⌋ and a mod b."""
        for q in chain([divided(a, b)[0]], map(number, range(24))):
            if self.lies(a - q * b, b):
                return q, a - q * b
        return name(("⌊⌋", "", b, a)), None

    def put_form(self, x: Form, values: Mapping[str, Form]) -> Form:
        """Forms put in for indices."""

        def put(t: Term) -> Form:
            match t:
                case ("π", letter, back, u):
                    return place(letter, back, self.put_form(u, values))
                case ("⌊⌋", _, b, a):
                    return self.floor(self.put_form(a, values), self.put_form(b, values))[0]
            return prod((values.get(n, name(n)) for n in t.split("·") if n), start=number(1))

        return x.mapped(put) if x.names & values.keys() else x

    def of_form(self, x: Form) -> Poly:
        """A form as a polynomial."""
        words = ((t.split("·") if isinstance(t, str) else [t], c) for t, c in x.pairs)
        return add(
            *(
                self.product(((atom("index", forms=[name(n)]), Q(1)) for n in word if n), Q(c))
                for word, c in words
            )
        )

    def as_form(self, p: Poly | None) -> Form:
        """The form that a polynomial is."""
        x = Form()
        need(p is not None, "−∞ where a form has to be")
        for m, c in (p or {}).items():
            good = all(a.kind == "index" and k > 0 and k.denominator == 1 for a, k in m)
            need(good and c.denominator == 1, f"no form: {text(p or {})}")
            x += prod((a.forms[0] for a, k in m for _ in range(int(k))), start=number(int(c)))
        return x

    # Signs

    def is_positive(self, a: Atom) -> bool:
        """Whether an atom is positive."""
        match a.kind:
            case "exp" | "prime" | "positive":
                return True
            case "index":
                term = a.forms[0].pairs[0][0]
                return isinstance(term, str) and term[0] not in "+#_"
            case "real":
                return a.name in self.positive
            case "entry":
                return a.name in self.positive and len(a.forms) == 2
            case "sum" | "bracket":
                return all(c > 0 and all(self.is_positive(b) for b, _ in m) for m, c in a.body)
        return False

    def not_negative(self, a: Atom) -> bool:
        """Whether an atom is ≥ 0."""
        match a.kind:
            case "condition" | "first":
                return True
            case "function" if a.name == "abs":
                return True
            case "index" if str(a.forms[0])[0] == "+":
                return True
            case "sum":
                return self.is_square(a.body[0][0])
            case "bracket" if self.at_least_0(dict(a.body)):
                return True
        return self.is_positive(a)

    def is_square(self, m: Monomial) -> bool:
        """Whether each factor is ≥ 0."""
        return all(even(k) or k.denominator > 1 or self.not_negative(a) for a, k in m)

    def above_0(self, p: Poly) -> bool:
        """Whether a polynomial is positive."""
        return bool(p) and all(
            c > 0 and all(self.is_positive(a) or even(k) and k < 0 for a, k in m)
            for m, c in p.items()
        )

    def at_least_0(self, p: Poly) -> bool:
        """Whether a polynomial is ≥ 0."""

        def good(term: tuple[Monomial, Q]) -> bool:
            return term[1] > 0 and self.is_square(term[0])

        if all(map(good, p.items())) or self.square_key(p) in self.squares:
            return True
        for m, c in terms(p):
            for a, k in m:
                if (a.kind, a.name, k) == ("function", "abs", 1) and good((m, c)):
                    others = {tuple(factor for factor in m if factor[0] is not a): Q(1)}
                    x = self.times(others, dict(a.body))
                    for both in (add({m: Q(1)}, x), less({m: Q(1)}, x)):
                        ratios = (p[t] / k for t, k in both.items() if t in p and not good((t, p[t])))
                        p = less(p, scaled(both, max(chain([Q(0)], ratios))))
        return all(map(good, p.items()))

    def filled(self, m: Monomial) -> bool:
        """Whether all its sums have something to sum."""
        for a, _ in m:
            if a.kind == "bracket" and not any(self.filled(t) for t, _ in a.body):
                return False
            if a.kind == "sum":
                with self.opened(a.binders):
                    sizes = all(self.shown(size - 1) for _, size in a.binders)
                    if not sizes or not self.filled(a.body[0][0]):
                        return False
        return True

    def never_0(self, p: Poly) -> bool:
        """Whether a polynomial is shown not to be 0."""
        return self.above_0(p) and any(self.filled(m) for m in p)

    def square_key(self, p: Poly) -> frozenset[tuple[Monomial, Q]] | None:
        """The rest with the sign of its lead, where the content is positive."""
        content, rest, lead = self.primitive(p)
        key = frozenset(scaled(rest, 1 if lead > 0 else -1).items())
        return key if all(self.is_positive(a) for a in content) else None

    def note_square(self, p: Poly) -> Poly:
        """Remember that p was made of squares."""
        if p and (key := self.square_key(p)):
            self.squares.add(key)
        return p

    # Products and powers

    def product(self, factors: Iterable[tuple[Atom, Q]], c: Q = Q(1)) -> Poly:
        """c times a product of atoms to powers."""
        powers: dict[Atom, Q] = gathered(factors)
        parts: list[Poly] = []
        for a, k in list(powers.items()):
            match a.kind, a.name:
                case ("condition" | "first"), _:
                    powers[a] = Q(1)
                case "prime", _:
                    c, powers[a] = c * Q(a.name) ** (k // 1), k % 1
                case "bracket", _ if k >= 1:
                    powers[a] = k % 1
                    parts.append(self.power(dict(a.body), k // 1))
                case "function", "abs" if k.denominator == 1 and abs(k) >= 2:
                    powers[a] = Q(int(k) - 2 * int(k / 2))
                    x = dict(a.body)
                    inner = x if k > 0 else one(atom("bracket", body=x))
                    parts.append(self.power(inner, k - powers[a]))
                case "function", "sin" if k.denominator == 1 and k >= 2:
                    powers[a] = k % 2
                    cosine = atom("function", "cos", body=dict(a.body))
                    parts.append(self.power(less(ONE, one(cosine, 2)), k // 2))
        out = {monomial(powers.items()): c} if c else {}
        for part in parts:
            out = self.times(out, part)
        return out

    def times(self, p: Poly, q: Poly) -> Poly:
        """The product."""
        return gathered(
            term
            for m, c in p.items()
            for n, k in q.items()
            for term in (self.product(m + n, c * k) if m and n else {m or n: c * k}).items()
        )

    def primitive(self, p: Poly) -> tuple[dict[Atom, Q], Poly, Q]:
        """Content, rest and lead of a polynomial other than 0."""
        rows = [dict(m) for m in p]
        atoms = {a for row in rows for a in row if a.kind not in (*CONDITIONS, "prime")}
        content = {a: k for a in atoms if (k := min(row.get(a, Q(0)) for row in rows))}
        inverse = [(a, -k) for a, k in content.items()]
        rest = {monomial(gathered([*m, *inverse]).items()): c for m, c in p.items()}
        lead = terms(rest)[0][1]
        return content, scaled(rest, 1 / lead), lead

    def power(self, p: Poly, k: Q) -> Poly:
        """p^k."""
        need(abs(k) <= 64, "a power above 64")
        if k.denominator == 1 and k >= 0:
            out = ONE
            for _ in range(int(k)):
                out = self.times(out, p)
            return out
        if not p and k > 0:
            return {}
        need(p and (k > 0 or divides(p)), "a division by 0 or by a condition")
        self.partial |= k < 0 and not self.never_0(p)
        content, rest, lead = self.primitive(p)
        if k.denominator > 1:
            return self.root(p, k)
        if len(p) > 1:
            content[atom("bracket", body=rest)] = Q(1)
        else:
            content = dict(next(iter(p)))
            lead = next(iter(p.values()))
        return self.product(((a, q * k) for a, q in content.items()), lead ** int(k))

    def root(self, p: Poly, k: Q) -> Poly:
        """p^k for a power that is not whole."""
        content, rest, lead = self.primitive(p)
        need(set(p) != {()} or lead > 0, "a root of a negative number")
        self.partial |= not self.at_least_0(p)
        out = self.product((atom("prime", str(n)), q * k) for n, q in primes(abs(lead)))
        inside = rest if lead > 0 else scaled(rest, -1)
        bare = inside == ONE
        factors = monomial(content.items())
        for a, q in factors:
            others = tuple(factor for factor in factors if factor[0] is not a)
            if self.not_negative(a) or q.denominator > 1 or bare and self.is_square(others):
                out = self.times(out, self.product([(a, q * k)]))
            else:
                base = dict(a.body) if a.kind == "bracket" else one(a)
                out = self.times(out, self.power(self.absolute(base), (q - q % 2) * k))
                inside = self.times(inside, one(a, q % 2) if q % 2 else ONE)
        return out if inside == ONE else self.times(out, self.product([(atom("bracket", body=inside), k)]))

    # Functions

    def absolute(self, p: Poly) -> Poly:
        """|p|."""
        if not p:
            return p
        content, rest, lead = self.primitive(p)
        out = constant(abs(lead))
        for a, k in monomial(content.items()):
            whole = a if self.is_square(((a, k),)) else atom("function", "abs", body=one(a))
            out = self.times(out, self.product([(whole, k)]))
        for r in (rest, scaled(rest, -1)):
            if self.at_least_0(r):
                return self.times(out, r)
        return self.times(out, one(atom("function", "abs", body=rest)))

    def exp(self, p: Poly) -> Poly:
        """e^p."""
        out = ONE
        for m, c in terms(p):
            conditions = [factor for factor in m if factor[0].kind in CONDITIONS]
            if conditions:
                rest = self.exp({tuple(factor for factor in m if factor not in conditions): c})
                part = add(ONE, self.times(self.product(conditions), less(rest, ONE)))
            elif len(m) == 1 and m[0][1] == 1 and (m[0][0].kind, m[0][0].name) == ("function", "ln"):
                part = self.power(dict(m[0][0].body), c)
            else:
                part = one(atom("exp", body={m: Q(1)}), c)
            out = self.times(out, part)
        return out

    def ln(self, p: Poly) -> Poly:
        """The logarithm."""
        need(p, "the logarithm of 0")
        self.partial |= not self.above_0(p)

        def simple(x: Poly) -> Poly:
            return one(atom("function", "ln", body=x))

        content, rest, lead = self.primitive(p)
        if len(p) > 1:
            if lead > 0 and content and all(map(self.is_positive, content)):
                return add(self.ln({monomial(content.items()): lead}), simple(rest))
            return simple(p)
        ((m, c),) = p.items()
        if c < 0 or sum(not self.is_square((factor,)) for factor in m) > 1:
            return simple(p)
        return add(
            *(scaled(simple(constant(n)), k) for n, k in primes(c)),
            *(
                scaled(dict(a.body) if a.kind == "exp" else simple(self.absolute(one(a))), k)
                for a, k in m
            ),
        )

    def angle(self, p: Poly) -> tuple[Poly, Poly]:
        """cos p and sin p."""
        cos, sin = ONE, constant(0)
        for m, c in terms(p):
            need(abs(c.numerator) <= 24, "an angle with a factor above 24")
            part = {m: Q(1, c.denominator)}
            x = one(atom("function", "cos", body=part))
            y = scaled(one(atom("function", "sin", body=part)), 1 if c > 0 else -1)
            for _ in range(abs(c.numerator)):
                cos, sin = (
                    less(self.times(cos, x), self.times(sin, y)),
                    add(self.times(sin, x), self.times(cos, y)),
                )
        return cos, sin

    def apply(self, f: str, p: Poly | None) -> Poly:
        """A function of a polynomial."""
        if p is None:
            need(f in ("σ", "max0", "exp"), f"{f} of −∞")
            return constant(0)
        match f:
            case "abs" | "Abs":
                return self.absolute(p)
            case "exp":
                return self.exp(p)
            case "ln" | "log":
                return self.ln(p)
            case "cos" | "sin":
                return self.angle(p)[f == "sin"]
            case "√":
                return self.power(p, Q(1, 2))
            case "tanh":
                e = self.exp(scaled(p, 2))
                return self.times(less(e, ONE), self.power(add(e, ONE), Q(-1)))
            case "σ":
                e = self.exp(p)
                return self.times(e, self.power(add(e, ONE), Q(-1)))
            case "max0":
                return scaled(add(p, self.absolute(p)), Q(1, 2))
            case "erf" if not p:
                return p
            case "erf" if self.primitive(p)[2] < 0:
                return scaled(one(atom("function", f, body=scaled(p, -1))), -1)
        return one(atom("function", f, body=p))

    # Conditions and lines

    def condition(self, x: Form, y: Form) -> Poly:
        """[x = y]."""
        d = x - y
        more, under = (form((t, c * s) for t, c in d.pairs if c * s > 0) for s in (1, -1))
        a, b = sorted((more, under), key=repr)
        for u, v in ((a, b), (b, a)):
            if found := single_place(u):
                letter, back, inner = found
                other = place(letter, 1 - back, v)
                shorter = len(repr(other)) < len(repr(v)) or repr(inner) < repr(v)
                if shorter and letter in self.permutations and self.lies(v, self.permutations[letter]):
                    return self.condition(inner, other)
        if not d.pairs:
            return ONE
        if self.shown(a - b - 1) or self.shown(b - a - 1):
            return constant(0)
        return one(atom("condition", forms=[a, b]))

    def scale(self, p: Poly, l: str, strict: bool) -> tuple[Poly, Poly]:
        """The scale of a line, and what is left."""
        c = min(map(abs, p.values()))
        common = {
            (a, k)
            for a, k in next(iter(p))
            if l not in a.free
            and self.is_positive(a)
            and all((a, k) in m for m in p)
            and (not strict or self.filled(((a, k),)))
        }
        left = {tuple(factor for factor in m if factor not in common): k / c for m, k in p.items()}
        return {monomial(common): c}, left

    def through(self, p: Poly, l: str, size: Form) -> Poly:
        """Of p, p with π(l), and p with π⁻¹(l) for l that with the shortest text."""
        for letter, s in sorted(self.permutations.items()):
            if s == size:
                ways = [p, *(self.moved(p, {l: place(letter, back, name(l))}) for back in (0, 1))]
                p = min(ways, key=lambda q: (len(text(q)), text(q)))
        return p

    def moved(self, p: Poly, values: Mapping[str, Form]) -> Poly:
        """Forms put in for indices in all forms of p; nothing else is worked out."""

        def other(a: Atom) -> Atom:
            forms = [self.put_form(x, values) for x in a.forms]
            binders = [(n, self.put_form(size, values)) for n, size in a.binders]
            return atom(a.kind, a.name, forms, binders, self.moved(dict(a.body), values))

        return {monomial((other(a), k) for a, k in m): c for m, c in p.items()}

    def exponent(self, p: Poly) -> Poly | None:
        """E if p is e^E, as a product of exponentials."""
        m = next(iter(p))
        if p == {m: 1} and all(a.kind == "exp" for a, _ in m):
            return add(*(scaled(dict(a.body), k) for a, k in m))
        return None

    def line(self, kind: str, p: Poly, l: str, size: Form) -> Poly:
        """The largest of p along l, or its threshold τ."""
        inner = {m: c for m, c in p.items() if l in held([m])}
        outer = {m: c for m, c in p.items() if m not in inner}
        scale = ONE
        if kind == "max":
            if not inner:
                return outer
            scale, inner = self.scale(inner, l, strict=False)
            if e := self.exponent(inner):
                return add(outer, self.times(scale, self.exp(self.line(kind, e, l, size))))
        elif not inner:
            inner, outer = outer, {}
        a = bound("line", kind, (), [(l, size)], self.through(inner, l, size))
        return add(outer, self.times(scale, one(a)))

    def first(self, x: Form, p: Poly, l: str, size: Form) -> Poly:
        """[x is the first place of the largest of p along l]."""
        inner = {m: c for m, c in p.items() if l in held([m])}
        if not inner:
            return self.condition(x, Form())
        inner = self.scale(inner, l, strict=True)[1]
        if e := self.exponent(inner):
            return self.first(x, e, l, size)
        return one(bound("first", "argmax", [x], [(l, size)], inner))

    def is_zero(self, p: Poly) -> bool:
        """Whether p is the zero rational function of its atoms."""
        low: dict[Atom, int] = {}
        for a, k in chain.from_iterable(p):
            if a.kind == "bracket" and k < 0:
                low[a] = min(low.get(a, 0), k // 1)
        if not low:
            return not p
        a = max(low, key=lambda b: len(b.text))
        need(not self.is_zero(dict(a.body)), "a division by what is 0")
        return self.is_zero(
            add(
                *(
                    self.times(
                        self.product([*(f for f in m if f[0] is not a), (a, k % 1)], c),
                        self.power(dict(a.body), k // 1),
                    )
                    for m, c in p.items()
                    for k in [dict(m).get(a, Q(0)) - low[a]]
                )
            )
        )


# Steps

KEYS = {
    "range": {"cuts"},
    "delta": {"index", "factor", "side"},
    "identity": {"index"},
    "line": {"index"},
    "count": {"index"},
    "permute": {"index", "by"},
    "merge": {"factor"},
    "separate": {"indices"},
    "hypothesis": {"indices", "equation", "at"},
    "meet": {"term", "factor", "index"},
    "zero": set(),
}
DIFFERENCE = ("meet", "zero")


def short(words: str) -> str:
    """A text as it stands in a step."""
    digest = hashlib.sha256(words.encode()).hexdigest()[:16]
    return words if len(words) <= 400 else f"{words[:300]}… {digest}"


def pick(step: Data, key: str, things: Sequence[Any]) -> Any:
    """What is at the place that a step says."""
    k = step[key]
    need(type(k) is int and 0 <= k < len(things), f"no {key} {k}")
    return things[k]


class Sum(NamedTuple):
    """A sum and a step of it: indices that the step is about, and factors that hold them or not."""

    step: Data
    binders: Binders
    monomial: Monomial
    own: Binders
    left: Binders
    inner: Monomial
    outer: Poly


class Replay(Algebra):
    """A proof with steps, taken in their order."""

    def __init__(self, steps: Data, data: Data) -> None:
        super().__init__(data)
        need(isinstance(steps, list), "no steps")
        self.steps, self.data, self.names = iter(steps), data, 0
        self.equations, self.letters = data["equations"], data["letters"]

    def new(self) -> str:
        """A name for an index."""
        self.names += 1
        return f"#{self.names}"

    def taken(self, of: str, *rules: str) -> Data:
        """The next step, of one of these rules and about this."""
        step = next(self.steps, None)
        need(isinstance(step, dict) and step.get("rule") in rules, f"no step of {rules}: {step}")
        keys = [KEYS[step["rule"]]]
        if step["rule"] == "range":
            keys += [{"cuts", "again"}, {"width"}]
        need(step.keys() - {"rule", "of", "gives", "needs"} in keys, f"other keys: {step}")
        need("gives" in step and step.get("of") == short(of), f"it is about {of}: {step}")
        return step

    def settle(self, step: Data, gives: str, *needs: Form) -> None:
        """Compare what a step gives and needs, and show its obligations."""
        need(step["gives"] == short(gives), f"it gives {gives}: {step}")
        need(step.get("needs") == ([f"{x} ≥ 0" for x in needs] or None), f"needs {needs}: {step}")
        for x in needs:
            need(self.shown(x), f"{x} ≥ 0 is not shown: {step}")

    def parts(self, size: Form) -> Iterator[tuple[Form, Binders]]:
        """The parts of a range: the index, and what is new in it, open meanwhile."""
        step = self.taken(f"0 … {size} - 1", "range")
        if "width" in step:
            width = parsed(step["width"])
            blocks, rest = divided(size, width)
            need(not rest.pairs and not any(n[0] in "#_" for n in width.names), f"no blocks: {step}")
            self.settle(step, f"{blocks} blocks")
            for k, outer in self.parts(blocks):
                for l, inner in self.parts(width):
                    yield k * width + l, outer + inner
            return
        again = step.get("again", [])
        need(isinstance(step["cuts"], list) and isinstance(again, list), f"no lists: {step}")
        cuts = [parsed(cut) for cut in step["cuts"]]
        need(all(cut.names <= self.ranges.keys() | size.names for cut in cuts), f"names: {step}")
        need(all(type(k) is int and 0 <= k <= len(cuts) for k in again), f"again: {step}")
        starts = [Form(), *cuts]
        sizes = [b - a for a, b in pairwise([*starts, size])]
        self.settle(step, f"{len(sizes)} part{'s' * (len(sizes) > 1)}", *sizes)
        for k, (start, length) in enumerate(zip(starts, sizes, strict=True)):
            if k in again:
                for index, binders in self.parts(length):
                    yield start + index, binders
            elif length == number(1):
                yield start, []
            else:
                l = self.new()
                with self.opened([(l, length)]):
                    yield start + name(l), [(l, length)]

    # Sums

    def summed(self, binders: Binders, p: Poly) -> Poly:
        """Σ p over indices."""
        if not binders:
            return p
        with self.opened(binders):
            return add(*(scaled(self.sum_of(binders, m), c) for m, c in terms(p)))

    def sum_of(self, binders: Binders, m: Monomial) -> Poly:
        """Σ m over indices: one step, and what it needs."""
        bound_here = ", ".join(f"{n}<{size}" for n, size in binders)
        step = self.taken(f"Σ_{{{bound_here}}} {monomial_text(m)}", *SUMS)
        indices = step.get("indices", [step["index"]] if "index" in step else [])
        need(isinstance(indices, list) and (indices or step["rule"] == "merge"), f"indices: {step}")
        own = [pick({"index": k}, "index", binders) for k in indices]
        names = {l for l, _ in own}
        need(len(names) == len(own), f"an index twice: {step}")
        left = [binder for binder in binders if binder not in own]
        free = all(not names & self.reach([n]) for n, _ in left)
        need(free or step["rule"] == "delta", f"the range of another index depends on it: {step}")
        inner = tuple(factor for factor in m if factor[0].free & names)
        outer = {tuple(factor for factor in m if not factor[0].free & names): Q(1)}
        left, p, *needs = SUMS[step["rule"]](self, Sum(step, binders, m, own, left, inner, outer))
        self.settle(step, text(p), *needs)
        return self.summed(left, p)

    def delta(self, sum: Sum) -> Outcome:
        """Σ_l [l = v] f(l) = f(v), or 0."""
        ((l, size),) = sum.own
        a, k = pick(sum.step, "factor", sum.monomial)
        v = self.determined(a, l)
        need(l not in self.reach(v.names), f"the range of {v} depends on {l}")
        match sum.step["side"]:
            case "below":
                return [], {}, v * -1 - 1
            case "above":
                return [], {}, v - size
            case side:
                need(side == "inside", f"no side: {side}")
        left = [(n, self.put_form(s, {l: v})) for n, s in sum.left]
        needs = within(v, size)
        need(all(map(self.shown, needs)), f"{v} is not shown to be within {size}")
        with self.opened(left):
            return left, self.put(((b, k) for b, k in sum.monomial if b is not a), {l: v}), *needs

    def identity(self, sum: Sum) -> Outcome:
        """Σ_l a_il b_lj = [i = j] for A B = I."""
        ((l, size),) = sum.own
        pair = [a for a, k in sum.inner for _ in range(int(k))]
        need(len(pair) == 2 and all(k in (1, 2) for _, k in sum.inner), "no two entries")
        for left, left_turned, right, right_turned, s in self.data["units"]:
            for a, b in (pair, pair[::-1]):
                if (a.name, b.name) == (left, right) and len(a.forms) == len(b.forms) == 2:
                    (i, k), (m, j) = a.forms[:: 1 - 2 * left_turned], b.forms[:: 1 - 2 * right_turned]
                    if k == m == name(l) and l not in i.names | j.names and parsed(s) == size:
                        return sum.left, self.times(sum.outer, self.condition(i, j))
        raise Refused(f"not inverse to each other: {sum.step}")

    def along(self, sum: Sum) -> Outcome:
        """What is known of the sum over a line with its first largest entry, or its threshold."""
        ((l, size),) = sum.own
        a, p = self.of_line(l, size, {sum.inner: Q(1)})
        return sum.left, self.times(sum.outer, add(a, self.summed(sum.own, p))), size - 1

    def of_line(self, l: str, size: Form, p: Poly) -> tuple[Poly, Poly]:
        """a and b for which Σ_l p = a + Σ_l b."""
        ((m, _),) = p.items()
        for a, k in m:
            x = dict(a.body)
            if a.kind == "first" and a.forms == (name(l),) and a.binders[0][1] == size:
                z = other_names(x, {a.binders[0][0]: l})
                rest = tuple(factor for factor in m if factor[0] is not a)
                need(rest == () or z == {rest: 1} and len(rest) == 1, "other factors")
                return (self.line("max", z, l, size) if rest else ONE), {}
            if (a.kind, a.name) == ("function", "abs") and p == one(a):
                for t in {b for b, _ in chain.from_iterable(x) if (b.kind, b.name) == ("line", "τ")}:
                    z = other_names(dict(t.body), {t.binders[0][0]: l})
                    if t.binders[0][1] == size and l not in t.free and less(z, one(t)) in (x, scaled(x, -1)):
                        threshold = self.times(self.of_form(size), one(t))
                        return add(constant(2), threshold), scaled(z, -1)
        raise Refused(f"no line: {text(p)}")

    def count(self, sum: Sum) -> Outcome:
        """Σ_l c = s c."""
        ((_, size),) = sum.own
        need(not sum.inner, "a factor holds the index")
        return sum.left, self.times(sum.outer, self.of_form(size)), size

    def permute(self, sum: Sum) -> Outcome:
        """Σ_l f(l) = Σ_l f(π(l))."""
        ((l, size),) = sum.own
        match sum.step["by"]:
            case [str(letter), 0 | 1 as back] if type(back) is int:
                need(self.permutations.get(letter) == size, f"{letter} does not permute {size}")
                return sum.binders, self.put(sum.monomial, {l: place(letter, back, name(l))})
        raise Refused(f"no permutation: {sum.step}")

    def merge(self, sum: Sum) -> Outcome:
        """c (Σ_l f(l))^p = Σ_l c f(l) (Σ_l f(l))^(p−1)."""
        a, k = pick(sum.step, "factor", sum.monomial)
        need(a.kind == "sum" and k.denominator == 1 and k >= 1, f"no sum to a whole power: {sum.step}")
        new, body = self.unbound(a)
        with self.opened(new):
            return sum.binders + new, self.product([*sum.monomial, (a, Q(-1)), *next(iter(body))])

    def separate(self, sum: Sum) -> Outcome:
        """Σ_{k,l} c(k) f(k, l) = Σ_k c(k) Σ_l f(k, l)."""
        return sum.left, self.times(sum.outer, one(self.apart(sum)))

    def apart(self, sum: Sum) -> Atom:
        """The sum of the factors that hold the indices."""
        return bound("sum", "", (), sum.own, {sum.inner: Q(1)})

    def hypothesis(self, sum: Sum) -> Outcome:
        """A sum is what an equation says."""
        a = self.apart(sum)
        shape, left, right = pick(sum.step, "equation", self.equations)
        need(isinstance(sum.step["at"], list) and len(sum.step["at"]) == 2, f"no entry: {sum.step}")
        i, j = map(parsed, sum.step["at"])
        need(all(n in a.free for n in i.names | j.names if n[0] in "#_"), f"other names: {sum.step}")
        rows, columns = (self.as_form(self.entry(size, {})) for size in shape)
        equations, self.equations = self.equations, []
        x, y = (self.number(side, {"row": i, "column": j}) for side in (left, right))
        self.equations = equations
        need(list(x) == list(one(a)), f"the equation is about {text(x)}: {sum.step}")
        value = scaled(y, 1 / x[(a, Q(1)),])
        return sum.left, self.times(sum.outer, value), *within(i, rows), *within(j, columns)

    def determined(self, a: Atom, l: str) -> Form:
        """What a condition says that an index is."""
        need(a.kind == "condition", f"no condition: {a.text}")
        for inner, value in (a.forms, a.forms[::-1]):
            while found := single_place(inner):
                letter, back, u = found
                if letter not in self.permutations or not self.lies(value, self.permutations[letter]):
                    break
                inner, value = u, place(letter, 1 - back, value)
            rest = inner - name(l)
            if l not in rest.names | value.names:
                return value - rest
        raise Refused(f"{a.text} does not say what {l} is")

    # Putting in

    def unbound(self, a: Atom) -> tuple[Binders, Poly]:
        """New names for the indices that an atom binds: these with their sizes, and what is under them."""
        names = {n: self.new() for n, _ in a.binders}
        binders = [(names[n], renamed(size, names)) for n, size in a.binders]
        return binders, other_names(dict(a.body), names)

    def put(self, m: Iterable[tuple[Atom, Q]], values: Mapping[str, Form]) -> Poly:
        """Forms put in for indices in a monomial."""
        p = ONE
        for a, k in m:
            p = self.times(p, self.put_atom(a, k, values))
        return p

    def put_all(self, p: Poly, values: Mapping[str, Form]) -> Poly:
        """Forms put in for indices in a polynomial."""
        return add(*(scaled(self.put(m, values), c) for m, c in terms(p)))

    def put_atom(self, a: Atom, k: Q, values: Mapping[str, Form]) -> Poly:
        """Forms put in for indices in a^k."""
        if not a.free & values.keys():
            return self.product([(a, k)])
        forms = [self.put_form(x, values) for x in a.forms]
        if a.binders:
            new, body = self.unbound(a)
            new = [(n, self.put_form(size, values)) for n, size in new]
            with self.opened(new):
                body = self.put_all(body, values)
        else:
            body = self.put_all(dict(a.body), values)
        match a.kind:
            case "entry":
                return self.product([(atom("entry", a.name, forms), k)])
            case "index":
                return self.power(self.of_form(forms[0]), k)
            case "condition":
                return self.condition(*forms)
            case "exp":
                return self.exp(scaled(body, k))
            case "function":
                return self.power(self.apply(a.name, body), k)
            case "bracket":
                return self.power(body, k)
            case "sum":
                return self.power(self.summed(new, body), k)
            case "line":
                return self.power(self.line(a.name, body, *new[0]), k)
        return self.first(forms[0], body, *new[0])

    # Entries

    def number(self, r: Data, env: Mapping[str, Form]) -> Poly:
        """The entry of a rule where −∞ must not be."""
        p = self.entry(r, env)
        if p is None:
            raise Refused("−∞ where a number has to be")
        return p

    def form(self, r: Data, env: Mapping[str, Form]) -> Form:
        """The form that the entry of a rule is."""
        return self.as_form(self.entry(r, env))

    def entry(self, r: Data, env: Mapping[str, Form]) -> Poly | None:
        """The entry of a rule, or the value of a number, with forms for the indices in it."""
        match r:
            case str():
                return constant(Q(r))
            case ["size", size]:
                return self.of_form(name(size))
            case ["index", index]:
                need(index in env, f"no index {index}")
                return self.of_form(env[index])
            case [("real" | "positive") as kind, letter]:
                return one(atom(kind, letter))
            case ["atom", "-∞"]:
                return None
            case ["atom", "e"]:
                return self.exp(ONE)
            case ["atom", "π"]:
                return one(atom("positive", "π"))
            case [("floor" | "Mod") as which, *parts]:
                a, b = fraction(parts[0]) if which == "floor" else parts
                q, rest = self.floor(self.form(a, env), self.form(b, env))
                need(which == "floor" or rest is not None, "a remainder that is not known")
                return self.of_form(q if which == "floor" else rest or Form())
            case ["const" | "ordinal", x]:
                return self.entry(x, env)
            case ["entry", letter, *places]:
                return self.letter(letter, [self.form(x, env) for x in places])
            case ["plus" | "Add", *parts]:
                return self.plus([self.entry(x, env) for x in parts])
            case ["times" | "Mul", *parts]:
                return self.all_times([self.entry(x, env) for x in parts])
            case ["over", x, y, empty]:
                return self.over(x, y, empty, env)
            case ["total", x, l, size]:
                rows = [(new, self.number(x, {**env, l: at})) for at, new in self.parts(self.form(size, env))]
                p = add(*(self.summed(new, p) for new, p in rows))
                return self.note_square(p) if all(self.at_least_0(p) for _, p in rows) else p
            case ["power" | "Pow", x, str(k)]:
                return self.power(self.number(x, env), Q(k))
            case ["power" | "Pow", x, y]:
                base, k = self.number(x, env), self.number(y, env)
                need(self.above_0(base), "a power of what is not positive")
                return self.exp(self.times(k, self.ln(base)))
            case ["apply", f, x]:
                return self.apply(f, self.entry(x, env))
            case [("exp" | "log" | "Abs" | "tanh" | "cos" | "sin") as f, x]:
                return self.apply(f, self.entry(x, env))
            case ["inverse", x]:
                self.partial = True
                return self.entry(x, env)
            case ["slope", x, letter, i, j]:
                p = self.number(x, {**env, "row": Form(), "column": Form()})
                return self.slope(p, letter, self.form(i, env), self.form(j, env))
            case ["ofrow", ("max" | "τ") as which, x, l, size]:
                return self.of_row(which, x, l, self.form(size, env), env)
            case ["cases", a, sign, b, x, y]:
                return self.cases(a, sign, b, x, y, env)
        raise Unknown(f"no rule is about {r}")

    def letter(self, letter: str, places: list[Form]) -> Poly | None:
        """An entry of a letter."""
        if letter in self.letters:
            return self.entry(self.letters[letter], dict(zip(("row", "column", "head"), places)))
        if letter in self.permutations:
            return self.condition(places[1], place(letter, 0, places[0]))
        return one(atom("entry", letter, places))

    def plus(self, values: list[Poly | None]) -> Poly | None:
        """A sum."""
        numbers = [p for p in values if p is not None]
        if len(numbers) < len(values):
            return None
        p = add(*numbers)
        return self.note_square(p) if all(map(self.at_least_0, numbers)) else p

    def all_times(self, values: list[Poly | None]) -> Poly | None:
        """A product."""
        numbers = [p for p in values if p is not None]
        if len(numbers) < len(values):
            need(all(map(self.above_0, numbers)), "−∞ times what is not positive")
            need(len(numbers) == len(values) - 1, "−∞ times −∞")
            return None
        out = ONE
        for p in numbers:
            out = self.times(out, p)
        if len(numbers) == 2 and numbers[0] == numbers[1]:
            return self.note_square(out)
        return out

    def over(self, x: Data, y: Data, empty: Data, env: Mapping[str, Form]) -> Poly | None:
        """A quotient."""
        under = self.number(y, env)
        known = empty is None or not self.above_0(under) or self.never_0(under)
        need(known, "a quotient of sums that may be empty")
        return self.all_times([self.entry(x, env), self.power(under, Q(-1))])

    def of_row(self, which: str, x: Data, l: str, size: Form, env: Mapping[str, Form]) -> Poly:
        """The largest along an index, or its threshold."""
        values: list[Poly] = []
        for at, new in self.parts(size):
            p = self.entry(x, {**env, l: at})
            if p is not None:
                need(len(new) < 2 and all(self.shown(s - 1) for _, s in new), "a line that may be empty")
                need(which == "max" or new, "a threshold of one entry")
                values.append(self.line(which, p, *new[0]) if new else p)
        need(values and (which == "max" or len(values) == 1), "a line without entries, or of parts")
        largest = values[0]
        for p in values[1:]:
            largest = self.larger(largest, p, 1)
        return largest

    def larger(self, p: Poly, q: Poly, sign: int) -> Poly:
        """max(p, q), or min(p, q) for sign −1."""
        return scaled(add(p, q, scaled(self.absolute(less(p, q)), sign)), Q(1, 2))

    def cases(self, a: Data, sign: str, b: Data, x: Data, y: Data, env: Mapping[str, Form]) -> Poly | None:
        """x where a and b compare so, else y."""
        match a, sign, b:
            case _, "=", ["ofrow", "argmax", z, l, size] | ["plus", ["ofrow", "argmax", z, l, size]]:
                rows = [(self.number(z, {**env, l: at}), new) for at, new in self.parts(self.form(size, env))]
                need(len(rows) == 1 and len(rows[0][1]) == 1, "a line of parts")
                return self.either(self.first(self.form(a, env), rows[0][0], *rows[0][1][0]), x, y, env)
            case _, "≤", _ if [x, y] in ([a, b], [b, a]):
                return self.larger(self.number(a, env), self.number(b, env), 1 if x == b else -1)
            case ["entry", *_], "=", _:
                d = less(self.number(a, env), self.number(b, env))
                need(d.keys() <= {()}, "an entry that is no number")
                return self.entry(y if d else x, env)
            case _, "≤", _ if inner := absolute_of(a):
                ways = [self.at_most(z, b, env) for z in (inner, ["times", "-1", inner])]
                return self.entry(x if all(ways) else y, env)
            case _, "≤", _ if inner := absolute_of(b):
                ways = [self.at_most(a, z, env) for z in (inner, ["times", "-1", inner])]
                return self.entry(x if any(ways) else y, env)
            case _, "≤", _:
                return self.entry(x if self.at_most(a, b, env) else y, env)
        return self.either(self.condition(self.form(a, env), self.form(b, env)), x, y, env)

    def at_most(self, a: Data, b: Data, env: Mapping[str, Form]) -> bool:
        """Whether a ≤ b."""
        d = self.form(b, env) - self.form(a, env)
        need(self.shown(d) or self.shown(d * -1 - 1), f"the sign of {d} is not known")
        return self.shown(d)

    def either(self, where: Poly, x: Data, y: Data, env: Mapping[str, Form]) -> Poly | None:
        """x where a condition holds, else y."""
        if where in (ONE, {}):
            return self.entry(x if where else y, env)
        p, q = self.number(x, env), self.number(y, env)
        return add(self.times(where, p), self.times(less(ONE, where), q))

    # Derivatives

    def slope(self, p: Poly, letter: str, i: Form, j: Form) -> Poly:
        """∂p by entry (i, j) of a letter."""
        out: Poly = {}
        for m, c in terms(p):
            for a, k in m:
                d = self.slope_of(a, letter, i, j)
                self.partial |= bool(d) and k.denominator > 1
                out = add(out, self.times(self.product([*m, (a, Q(-1))], c * k), d))
        return out

    def slope_of(self, a: Atom, letter: str, i: Form, j: Form) -> Poly:
        """∂a by entry (i, j) of a letter."""
        if "⁻¹" not in a.text and not re.search(rf"(?<![\w']){re.escape(letter)}\[", a.text):
            return {}
        body = dict(a.body)
        match a.kind, a.name:
            case "entry", str(same) if same == letter and len(a.forms) == 2:
                x, y = a.forms
                return self.times(self.condition(x, i), self.condition(y, j))
            case "exp", _:
                return self.times(one(a), self.slope(body, letter, i, j))
            case "bracket", _:
                return self.slope(body, letter, i, j)
            case "function", "ln":
                return self.times(self.slope(body, letter, i, j), self.power(body, Q(-1)))
            case "sum", _:
                new, body = self.unbound(a)
                with self.opened(new):
                    d = self.slope(body, letter, i, j)
                return self.summed(new, d)
        raise Refused(f"no derivative of {a.text}")

    # The difference

    def run(self) -> bool:
        """Replay all steps; whether something may be undefined."""
        rows, columns = map(parsed, self.data["shape"])
        for i, _ in self.parts(rows):
            for j, _ in self.parts(columns):
                self.part({"row": i, "column": j})
        need(next(self.steps, None) is None, "steps are left over")
        return self.partial

    def part(self, env: Mapping[str, Form]) -> None:
        """Show that the entries of both sides are the same."""
        values = []
        for side in self.data["sides"]:
            self.letters = self.data["letters"] | side["letters"]
            values.append(self.entry(side["entry"], env))
        self.letters = self.data["letters"]
        left, right = values
        if left is None or right is None:
            need(left is right, "one side alone is −∞")
            return
        d = less(left, right)
        for c, x, y in self.data["cofactors"]:
            before = self.partial, set(self.squares)
            difference = less(self.number(x, env), self.number(y, env))
            self.partial = False
            factor = self.number(c, env)
            need(not self.partial, "a cofactor that may be undefined")
            d = less(d, self.times(factor, difference))
            self.partial, self.squares = before
        step = self.taken(text(d), *DIFFERENCE)
        while step["rule"] == "meet":
            m, c = pick(step, "term", terms(d))
            a, k = pick(step, "factor", m)
            l = step["index"]
            need(k == 1 and l in self.ranges, f"no index: {step}")
            rest = self.put((factor for factor in m if factor[0] is not a), {l: self.determined(a, l)})
            d = add(d, {m: -c}, scaled(self.times(one(a), rest), c))
            self.settle(step, text(d))
            step = self.taken(text(d), *DIFFERENCE)
        self.settle(step, "0")
        need(self.is_zero(d), f"the difference is not 0: {text(d)}")


Outcome = tuple[Any, ...]
SUMS: dict[str, Callable[[Replay, Sum], Outcome]] = {
    "delta": Replay.delta,
    "identity": Replay.identity,
    "line": Replay.along,
    "count": Replay.count,
    "permute": Replay.permute,
    "merge": Replay.merge,
    "separate": Replay.separate,
    "hypothesis": Replay.hypothesis,
}


def fraction(x: Data) -> tuple[Data, Data]:
    """Numerator and denominator of a fraction."""
    over: list[Data] = [[], []]
    for part in x[1:] if x[0] == "Mul" else [x]:
        match part:
            case str():
                over[0].append(str(Q(part).numerator))
                over[1].append(str(Q(part).denominator))
            case ["Pow", b, "-1"]:
                over[1].append(b)
            case a:
                over[0].append(a)
    return ["Mul", *over[0]], ["Mul", *over[1]]


def absolute_of(r: Data) -> Data:
    """x if a rule is |x|."""
    match r:
        case ["plus", x]:
            return absolute_of(x)
        case ["apply", "abs", x] | ["ordinal" | "const", ["Abs", x]]:
            return x
    return None


# Proofs


def proven(proof: Data, data: Data, depth: int = 0) -> bool:
    """Replay a proof; whether the statement holds only where both sides are defined."""
    need(isinstance(proof, dict) and depth <= 8, "no proof, or nested too deep")
    match sorted(proof):
        case ["same"]:
            need(proof["same"] is True and data["same"] is True, "not the same")
            return False
        case ["cofactors", "steps"]:
            return Replay(proof["steps"], data).run()
        case ["even", "half"]:
            need(proof["even"] in data["rotated"], "no width of a rotation")
            return proven(proof["half"], data["half"], depth + 1) or True
        case ["cases", "least", "split"]:
            pairs = zip(proof["cases"], data["cases"], strict=True)
            return any([proven(p, case, depth + 1) for p, case in pairs])
    raise Refused(f"no proof: {sorted(proof)}")


def replayed(certificate: Data) -> None:
    """Replay a certificate of an equation, or refuse it."""
    data = opened(certificate)
    need("unreadable" not in data, str(data.get("unreadable")))
    keys = {"certificate", "statement", "uses", "letters_only", "partial", "proof"}
    need(certificate.keys() == keys and certificate["certificate"] == 1, "other keys")
    partial = proven(certificate["proof"], data["entries"]) or data["lacking"]
    need(certificate["partial"] is partial, f"partial is {partial}")


def verdict(certificate: Data) -> tuple[str, str]:
    """accepted, refused or cannot, and why."""
    try:
        replayed(certificate)
    except Refused as refusal:
        return "refused", str(refusal)
    except Unknown as unknown:
        return "cannot", str(unknown)
    return "accepted", ""


def accepts(certificate: Data) -> bool:
    """Whether a certificate proves its statement."""
    return verdict(certificate)[0] == "accepted"
