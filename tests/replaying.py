"""A second replayer of certificates of equations, written from `docs/proof-rules.md` alone.

`tests.opened` writes the entries of both sides as data; all else is here. One type stands for forms,
indices and polynomials. Letters: l an index, v what is put in for it, s a size, a an atom, m a
monomial, p a polynomial, k a power, c a coefficient; None is −∞.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction as Q
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import prod
from typing import Any

from flint import fmpz

from tests.opened import opened

Data = Any
Binders = tuple[tuple[str, "Poly"], ...]
Monomial = tuple[tuple["Atom", Q], ...]
Env = Mapping[str, "Poly"]
CONDITIONS = ("condition", "argmax")
#: The rules, and the keys that a step of each has beside `rule`, `of`, `gives` and `needs`.
RULES: dict[str, tuple[str, ...]] = {
    "range": ("cuts", "again cuts", "width"),
    "meet": ("factor index term",),
    "zero": ("",),
    "delta": ("factor index side",),
    "identity": ("index",),
    "line": ("index",),
    "count": ("index",),
    "permute": ("by index",),
    "merge": ("factor",),
    "separate": ("indices",),
    "hypothesis": ("at equation indices",),
}


class Refused(Exception):
    """A certificate that does not prove its statement, and why."""


class Unknown(Exception):
    """What this replayer does not know."""


def need(fact: object, why: str) -> None:
    """Refuse unless `fact`."""
    if not fact:
        raise Refused(why)


# Atoms, forms and polynomials


class Atom:
    """An atom: its kind and name, the indices that it binds, and polynomials. Equal ones are one."""

    def __init__(self, kind: str, name: str, binders: Binders, parts: tuple[Poly, ...]) -> None:
        self.kind, self.name, self.binders, self.parts = kind, name, binders, parts
        inner = frozenset().union(*(p.free for p in (parts[-1:] if binders else parts)))
        inner = inner.union(*(s.free for _, s in binders)) - {l for l, _ in binders}
        outer = frozenset().union(*(p.free for p in parts[:-1])) if binders else frozenset()
        self.free = inner | outer | ({name} if kind == "index" else set())
        self.height = bool(binders) + max((p.height for p in parts), default=0)

    @cached_property
    def text(self) -> str:
        """As it is written."""
        bound = f"_{{{', '.join(f'{l}<{s}' for l, s in self.binders)}}}"
        match self.kind, self.parts:
            case (("place" | "quotient"), _):
                return str(one(self))
            case "entry", (x, y, *head):
                return f"{self.name}{''.join(f'[{k + 1}]' for k in head)}[{x}, {y}]"
            case "condition", (x, y):
                return f"[{x} = {y}]"
            case "argmax", (x, p):
                return f"[{x} = argmax{bound}({p.text})]"
            case "sum", (p,):
                return f"Σ{bound} {p.text}"
            case kind, (p,):
                return f"{kind}{bound if self.binders else ''}({p.text})"
        return self.name

    def renamed(self, names: Mapping[str, Atom]) -> Atom:
        """Other indices for some; nothing is worked out."""
        if not self.free & names.keys():
            return self
        if self.kind == "index":
            return names[self.name]
        parts = tuple(p.renamed(names) for p in self.parts)
        if self.kind == "condition":
            parts = tuple(sorted(parts, key=lambda p: repr(p.raw)))
        elif self.kind == "place" and (inner := place(self.name, parts[0]).atom):
            return inner
        return atom(self.kind, self.name, [(l, s.renamed(names)) for l, s in self.binders], *parts)


@lru_cache(None)
def interned(kind: str, name: str, binders: Binders, parts: tuple[Poly, ...]) -> Atom:
    """The one atom that is this."""
    return Atom(kind, name, binders, parts)


def atom(kind: str, name: str = "", binders: Iterable[tuple[str, Poly]] = (), *parts: Poly) -> Atom:
    """The atom that is this."""
    return interned(kind, name, tuple(binders), parts)


def binding(kind: str, binders: Iterable[tuple[str, Poly]], *parts: Poly) -> Atom:
    """An atom that binds indices, which it calls by its height."""
    names = {l: f"_{parts[-1].height + 1}{chr(97 + k)}" for k, (l, _) in enumerate(binders)}
    new = {l: atom("index", n) for l, n in names.items()}
    inner = [(names[l], s.renamed(new)) for l, s in binders]
    return atom(kind, "", inner, *parts[:-1], parts[-1].renamed(new))


@lru_cache(None)
def words(m: Monomial) -> str:
    """A monomial as it is written."""
    factors = ((f"({a.text})" if a.kind == "sum" else a.text, k) for a, k in m)
    return " ".join(word if k == 1 else f"{word}^({k})" for word, k in factors) or "1"


def monomial(powers: Iterable[tuple[Atom, Q]]) -> Monomial:
    """The product of atoms to powers, in the order of texts."""
    return tuple(sorted(((a, k) for a, k in powers if k), key=lambda factor: factor[0].text))


def gathered(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The sum of what belongs to each thing."""
    sums: dict[Any, Any] = {}
    for thing, c in pairs:
        sums[thing] = sums.get(thing, 0) + c
    return {thing: c for thing, c in sums.items() if c}


class Poly(dict[Monomial, Q]):
    """A polynomial: coefficients of monomials."""

    def __hash__(self) -> int:  # type: ignore[override]
        return self.key

    key = cached_property(lambda self: hash(frozenset(self.items())))
    terms = cached_property(lambda self: sorted(self.items(), key=lambda term: words(term[0])))
    free = cached_property(lambda self: frozenset().union(*(a.free for m in self for a, _ in m)))
    height = cached_property(lambda self: max((a.height for m in self for a, _ in m), default=0))

    def __add__(self, other: Poly | Q | int) -> Poly:
        return total((self, other if isinstance(other, Poly) else number(other)))

    def __mul__(self, other: Poly | Q | int) -> Poly:
        if not isinstance(other, Poly):
            return Poly((m, c * other) for m, c in self.items() if other)
        pairs = ((m, n, c * k) for m, c in self.items() for n, k in other.items())
        return Poly(
            gathered(chain.from_iterable(product((*m, *n), c).items() for m, n, c in pairs))
        )

    def __sub__(self, other: Poly | Q | int) -> Poly:
        return self + other * -1

    def __pow__(self, k: int) -> Poly:
        return prod([self] * k, start=ONE)

    @cached_property
    def text(self) -> str:
        """As it is written."""
        return (
            " + ".join(
                (f"{c} " if c != 1 else "") + words(m) if m else str(c) for m, c in self.terms
            )
            or "0"
        )

    @cached_property
    def raw(self) -> tuple[Any, ...]:
        """A form as pairs of terms and coefficients."""
        pairs: list[Any] = []
        for m, c in self.items():
            whole = all(k.denominator == 1 and k > 0 for _, k in m) and c.denominator == 1
            match m:
                case ((Atom(kind="place" | "quotient") as a, _),) if whole:
                    back = a.name.endswith("⁻¹")
                    term = (
                        ("π", a.name.removesuffix("⁻¹"), int(back))
                        if a.kind == "place"
                        else ("⌊⌋", "")
                    )
                    pairs.append(((*term, *(x.raw for x in a.parts)), int(c)))
                case _:
                    need(whole and all(a.kind == "index" for a, _ in m), f"no form: {self.text}")
                    pairs.append(
                        ("·".join(sorted(a.name for a, k in m for _ in range(int(k)))), int(c))
                    )
        return tuple(sorted(pairs, key=str))

    def __str__(self) -> str:
        return written(self.raw)

    @property
    def atom(self) -> Atom | None:
        """The atom that it is, if it is one."""
        ((m, c),) = self.items() if len(self) == 1 else (((), Q(0)),)
        return m[0][0] if c == 1 and len(m) == 1 and m[0][1] == 1 else None

    def renamed(self, names: Mapping[str, Atom]) -> Poly:
        """Other indices for some; nothing is worked out."""
        return Poly((monomial((a.renamed(names), k) for a, k in m), c) for m, c in self.items())

    @cached_property
    def primitive(self) -> tuple[dict[Atom, Q], Poly, Q]:
        """Content, rest and lead of a polynomial other than 0."""
        rows = [dict(m) for m in self]
        atoms = {a for row in rows for a in row if a.kind not in (*CONDITIONS, "prime")}
        content = {a: k for a in atoms if (k := min(row.get(a, Q(0)) for row in rows))}
        inverse = [(a, -k) for a, k in content.items()]
        rest = Poly((monomial(gathered([*m, *inverse]).items()), c) for m, c in self.items())
        lead = rest.terms[0][1]
        return content, rest * (1 / lead), lead


def number(c: Q | int) -> Poly:
    """A number."""
    return Poly({(): Q(c)} if c else {})


def total(parts: Iterable[Poly]) -> Poly:
    """The sum of polynomials."""
    p = Poly(gathered(chain.from_iterable(part.items() for part in parts)))
    need(len(p) <= 5000, "more than 5,000 terms")
    return p


ONE, ZERO = number(1), number(0)


def one(a: Atom, k: Q | int = 1) -> Poly:
    """a^k."""
    return Poly({((a, Q(k)),): Q(1)})


def single(m: Iterable[tuple[Atom, Q]]) -> Poly:
    """A monomial as a polynomial."""
    return Poly({tuple(m): Q(1)})


def index(name: str) -> Poly:
    """An index or a size."""
    return one(atom("index", name))


def place(letter: str, x: Poly) -> Poly:
    """π(x), or π⁻¹(x)."""
    inner = x.atom
    if inner and inner.kind == "place" and inner.name == inverse(letter):
        return inner.parts[0]
    return one(atom("place", letter, (), x))


def inverse(letter: str) -> str:
    """The letter of the inverse permutation."""
    return letter.removesuffix("⁻¹") if letter.endswith("⁻¹") else f"{letter}⁻¹"


def written(raw: tuple[Any, ...]) -> str:
    """A form as it is written."""
    text = ""
    for term, c in sorted(raw, key=lambda pair: (pair[0] == "", str(pair[0]))):
        match term:
            case ("π", letter, back, x):
                word = f"{letter}{'⁻¹' * back}({written(x)})"
            case ("⌊⌋", _, b, a):
                word = f"⌊({written(a)})/({written(b)})⌋"
            case _:
                word = term
        sign = (" - " if c < 0 else " + ") if text else "-" * (c < 0)
        text += sign + str(abs(c)) * (abs(c) != 1 or not word) + word
    return text or "0"


def parsed(text: Data) -> Poly:
    """The form that a text is."""
    need(isinstance(text, str) and len(text) <= 5000, "a form is a text")
    p = ZERO
    for part in re.split(r" (?=[+-] )", text):
        found = re.fullmatch(r"([+-] |-)?(\d*)([^\s\d()][^\s()⌊⌋]*)?", part)
        if not found or not found[2] and not found[3]:
            raise Refused(f"no form: {text}")
        names = (found[3] or "").split("·")
        p += prod(map(index, filter(None, names)), start=number(int(found[2] or 1))) * (
            -1 if (found[1] or "+")[0] == "-" else 1
        )
    need(str(p) == text, f"not as forms are written: {text}")
    return p


def divided(a: Poly, b: Poly) -> Poly:
    """The quotient of a by b; the rest is a less b times it."""
    match b.raw:
        case (("", k),) if k > 0:
            return Poly((m, Q(c // k)) for m, c in a.items() if c // k)
        case ((str(), 1),):
            ((factors, _),) = b.items()
            rows = [(gathered([*m, *((n, -k) for n, k in factors)]), c) for m, c in a.items()]
            return Poly(
                (monomial(row.items()), c) for row, c in rows if all(k > 0 for k in row.values())
            )
    return ZERO


def product(factors: Iterable[tuple[Atom, Q]], c: Q | int = 1) -> Poly:
    """c times a product of atoms to powers."""
    powers: dict[Atom, Q] = gathered(factors)
    c, parts = Q(c), []
    for a, k in list(powers.items()):
        match a.kind:
            case "condition" | "argmax":
                powers[a] = Q(1)
            case "prime":
                c, powers[a] = c * Q(a.name) ** (k // 1), k % 1
            case "" if k >= 1:
                powers[a] = k % 1
                parts.append(a.parts[0] ** (k // 1))
            case "abs" if k.denominator == 1 and abs(k) >= 2:
                powers[a] = Q(int(k) - 2 * int(k / 2))
                whole = int(k - powers[a])
                (x,) = a.parts
                parts.append(x**whole if k > 0 else one(x.atom or atom("", "", (), x), whole))
            case "sin" if k.denominator == 1 and k >= 2:
                powers[a] = k % 2
                parts.append((ONE - one(atom("cos", "", (), *a.parts), 2)) ** (k // 2))
    return prod(parts, start=Poly({monomial(powers.items()): c} if c else {}))


def even(k: Q) -> bool:
    """Whether it is an even number."""
    return k % 2 == 0


def primes(c: Q) -> list[tuple[int, int]]:
    """The primes of a positive number, with their exponents."""
    pairs = [*fmpz(c.numerator).factor(), *((n, -k) for n, k in fmpz(c.denominator).factor())]
    return [(int(n), int(k)) for n, k in pairs]


def within(v: Poly, s: Poly) -> tuple[Poly, Poly]:
    """What has to be ≥ 0 for 0 ≤ v < s."""
    return v, s - v - 1


class Algebra:
    """What is shown of forms and polynomials, and functions of these."""

    def __init__(self, data: Data) -> None:
        sizes = {letter: parsed(s) for letter, s in data["permutations"].items()}
        self.permuting = sizes | {inverse(letter): s for letter, s in sizes.items()}
        self.positive = set(data["positive"])
        self.ranges: dict[str, Poly] = {}
        self.squares: set[Poly] = set()
        self.partial = False

    @contextmanager
    def opened(self, binders: Iterable[tuple[str, Poly]]) -> Iterator[None]:
        """With these indices open."""
        before, self.ranges = self.ranges, {**self.ranges, **dict(binders)}
        yield
        self.ranges = before

    # Obligations

    def reach(self, names: Iterable[str]) -> frozenset[str]:
        """The names on which the ranges of these depend, directly or not."""
        direct = frozenset().union(*(self.ranges[l].free for l in names if l in self.ranges))
        return direct | self.reach(direct) if direct else direct

    def shown(self, x: Poly) -> bool:
        """Whether x ≥ 0 is shown."""
        odd = [pair for pair in x.raw if not isinstance(pair[0], str)]
        if odd:
            worst = max(odd, key=lambda pair: len(str(pair)))
            a, c = next((m[0][0], c) for m, c in x.items() if Poly({m: c}).raw == (worst,))
            if a.kind == "quotient" or a.name not in self.permuting:
                return False
            return self.shown(x + (ZERO if c > 0 else self.permuting[a.name] - 1) * c - one(a) * c)
        here = sorted(x.free & self.ranges.keys())
        for l in here:
            if l not in self.reach(n for n in here if n != l):
                slope = divided(x, index(l))
                rest = x - slope * index(l)
                if l in slope.free:
                    return False
                if self.shown(slope):
                    return self.shown(rest)
                return self.shown(slope * -1) and self.shown(rest + slope * (self.ranges[l] - 1))
        least = {n: index(n) + (n[0] != "+") for n in x.free}
        lowest = total(
            prod((least[a.name] ** int(k) for a, k in m), start=number(c)) for m, c in x.items()
        )
        return not any(n[0] in "#_" for n in x.free) and all(c > 0 for c in lowest.values())

    def lies(self, v: Poly, s: Poly) -> bool:
        """Whether 0 ≤ v < s is shown."""
        return all(map(self.shown, within(v, s)))

    def floor(self, a: Poly, b: Poly) -> Poly:
        """⌊a/b⌋."""
        ways = chain([divided(a, b)], map(number, range(24)))
        return next(
            (q for q in ways if self.lies(a - q * b, b)), one(atom("quotient", "", (), b, a))
        )

    # Signs

    def above_0(self, a: Atom) -> bool:
        """Whether an atom is positive."""
        match a.kind:
            case "entry":
                return a.name in self.positive and len(a.parts) == 2
            case "sum" | "":
                return all(
                    c > 0 and all(self.above_0(b) for b, _ in m) for m, c in a.parts[0].items()
                )
            case "real":
                return a.name in self.positive
        return a.kind in ("e^", "prime", "positive") or a.kind == "index" and a.name[0] not in "+#_"

    def square(self, m: Monomial, c: Q | int = 1) -> bool:
        """Whether each factor is ≥ 0."""

        def at_least_0(a: Atom) -> bool:
            match a.kind:
                case "sum":
                    return self.square(next(iter(a.parts[0])))
                case "" if self.at_least_0(a.parts[0]):
                    return True
            return a.kind in (*CONDITIONS, "abs") or a.name[:1] == "+" or self.above_0(a)

        return c > 0 and all(even(k) or k.denominator > 1 or at_least_0(a) for a, k in m)

    def is_positive(self, p: Poly) -> bool:
        """Whether a polynomial is positive."""
        factors = (self.above_0(a) or even(k) and k < 0 for m in p for a, k in m)
        return bool(p) and all(c > 0 for c in p.values()) and all(factors)

    def at_least_0(self, p: Poly) -> bool:
        """Whether a polynomial is ≥ 0."""
        if all(self.square(m, c) for m, c in p.items()) or self.made_of(p) in self.squares:
            return True
        for m, c in p.terms:
            for a, k in m:
                if a.kind == "abs" and k == 1 and self.square(m, c):
                    x = single(factor for factor in m if factor[0] is not a) * a.parts[0]
                    for both in (single(m) + x, single(m) - x):
                        ratios = (
                            p[t] / k for t, k in both.items() if t in p and not self.square(t, p[t])
                        )
                        p -= both * max(chain([Q(0)], ratios))
        return all(self.square(m, c) for m, c in p.items())

    def made_of(self, p: Poly) -> Poly | None:
        """The rest with the sign of its lead, where the content is positive."""
        content, rest, lead = p.primitive
        return rest * (1 if lead > 0 else -1) if all(map(self.above_0, content)) else None

    def noted(self, p: Poly, squares: bool) -> Poly:
        """p, remembered if it is made of squares."""
        if p and squares and (rest := self.made_of(p)):
            self.squares.add(rest)
        return p

    def filled(self, m: Monomial) -> bool:
        """Whether all sums in it have something to sum."""
        for a, _ in m:
            with self.opened(a.binders):
                sizes = a.kind != "sum" or all(self.shown(s - 1) for _, s in a.binders)
                if not sizes or a.kind in ("sum", "") and not any(map(self.filled, a.parts[0])):
                    return False
        return True

    def never_0(self, p: Poly) -> bool:
        """Whether a polynomial is shown not to be 0."""
        return self.is_positive(p) and any(map(self.filled, p))

    # Functions

    def power(self, p: Poly, k: Q) -> Poly:
        """p^k."""
        need(abs(k) <= 64, "a power above 64")
        if k.denominator == 1 and k >= 0:
            return p ** int(k)
        if not p and k > 0:
            return p
        need(p and (k > 0 or not any(a.kind in CONDITIONS for m in p for a, _ in m)), "a division")
        self.partial |= k < 0 and not self.never_0(p)
        content, rest, lead = p.primitive
        if k.denominator == 1:
            ((m, c),) = (
                p.items()
                if len(p) == 1
                else [((*content.items(), (atom("", "", (), rest), Q(1))), lead)]
            )
            return product(((a, q * k) for a, q in m), c ** int(k))
        need(p.keys() != {()} or lead > 0, "a root of a negative number")
        self.partial |= not self.at_least_0(p)
        out = product((atom("prime", str(n)), q * k) for n, q in primes(abs(lead)))
        inside = rest * (1 if lead > 0 else -1)
        bare, factors = inside == ONE, monomial(content.items())
        for a, q in factors:
            others = bare and self.square(tuple(factor for factor in factors if factor[0] is not a))
            if q.denominator > 1 or self.square(((a, Q(1)),)) or not even(q) and others:
                out *= product([(a, q * k)])
            else:
                base = self.absolute(one(a) if a.kind else a.parts[0])
                out *= self.power(base, (q - q % 2) * k)
                inside *= one(a) if q % 2 else ONE
        return out if inside == ONE else out * product([(atom("", "", (), inside), k)])

    def absolute(self, p: Poly) -> Poly:
        """|p|."""
        if not p:
            return p
        content, rest, lead = p.primitive
        whole = (
            (a if self.square(((a, k),)) else atom("abs", "", (), one(a)), k)
            for a, k in monomial(content.items())
        )
        signs = (r for r in (rest, rest * -1) if self.at_least_0(r))
        return product(whole, abs(lead)) * next(signs, one(atom("abs", "", (), rest)))

    def exp(self, p: Poly) -> Poly:
        """e^p."""
        out = ONE
        for m, c in p.terms:
            conditions = [factor for factor in m if factor[0].kind in CONDITIONS]
            a = single(m).atom
            if conditions:
                e = self.exp(single(factor for factor in m if factor not in conditions) * c)
                out *= product(conditions) * (e - 1) + 1
            elif a and a.kind == "ln":
                out *= self.power(a.parts[0], c)
            else:
                out *= one(atom("e^", "", (), single(m)), c)
        return out

    def ln(self, p: Poly) -> Poly:
        """ln p."""
        need(p, "the logarithm of 0")
        self.partial |= not self.is_positive(p)
        content, rest, lead = p.primitive
        if len(p) > 1 and lead > 0 and content and all(map(self.above_0, content)):
            return self.ln(product(content.items(), lead)) + one(atom("ln", "", (), rest))
        ((m, c),) = p.items() if len(p) == 1 else (((), Q(0)),)
        if c <= 0 or sum(not self.square((factor,)) for factor in m) > 1:
            return one(atom("ln", "", (), p))
        logs = [one(atom("ln", "", (), number(n))) * k for n, k in primes(c)]
        for a, k in m:
            logs.append(
                (a.parts[0] if a.kind == "e^" else one(atom("ln", "", (), self.absolute(one(a)))))
                * k
            )
        return total(logs)

    def angle(self, p: Poly) -> tuple[Poly, Poly]:
        """cos p and sin p."""
        cos, sin = ONE, ZERO
        for m, c in p.terms:
            need(abs(c.numerator) <= 24, "an angle with a factor above 24")
            part = single(m) * Q(1, c.denominator)
            x, y = (
                one(atom("cos", "", (), part)),
                one(atom("sin", "", (), part)) * (1 if c > 0 else -1),
            )
            for _ in range(abs(c.numerator)):
                cos, sin = cos * x - sin * y, sin * x + cos * y
        return cos, sin

    def apply(self, f: str, p: Poly | None) -> Poly:
        """A function of a polynomial."""
        if p is None:
            need(f in ("σ", "max0", "exp"), f"{f} of −∞")
            return ZERO
        match f:
            case "abs" | "Abs":
                return self.absolute(p)
            case "exp" | "e^":
                return self.exp(p)
            case "ln" | "log":
                return self.ln(p)
            case "cos" | "sin":
                return self.angle(p)[f == "sin"]
            case "√":
                return self.power(p, Q(1, 2))
            case "tanh" | "σ":
                e = self.exp(p * (2 if f == "tanh" else 1))
                return (e - (f == "tanh")) * self.power(e + 1, Q(-1))
            case "max0":
                return (p + self.absolute(p)) * Q(1, 2)
            case "erf" if not p or p.primitive[2] < 0:
                return p and one(atom(f, "", (), p * -1)) * -1
        return one(atom(f, "", (), p))

    # Conditions and lines

    def condition(self, x: Poly, y: Poly) -> Poly:
        """[x = y]."""
        d = x - y
        a, b = sorted(
            (Poly((m, c * s) for m, c in d.items() if c * s > 0) for s in (1, -1)),
            key=lambda p: repr(p.raw),
        )
        for u, v in ((a, b), (b, a)):
            if (p := u.atom) and p.kind == "place" and p.name in self.permuting:
                other = place(inverse(p.name), v)
                shorter = len(repr(other.raw)) < len(repr(v.raw)) or repr(p.parts[0].raw) < repr(
                    v.raw
                )
                if shorter and self.lies(v, self.permuting[p.name]):
                    return self.condition(p.parts[0], other)
        if not d:
            return ONE
        if self.shown(a - b - 1) or self.shown(b - a - 1):
            return ZERO
        return one(atom("condition", "", (), a, b))

    def along(self, p: Poly, l: str, strict: bool = False) -> tuple[Poly, Poly, Poly]:
        """Terms without l; of the others the scale, and what is left."""
        inner = Poly((m, c) for m, c in p.items() if l in single(m).free)
        if not inner:
            return p, ONE, inner
        c = min(map(abs, inner.values()))
        common = {
            (a, k)
            for a, k in next(iter(inner))
            if l not in a.free and self.above_0(a) and all((a, k) in m for m in inner)
            if not strict or self.filled(((a, k),))
        }
        left = Poly((tuple(f for f in m if f not in common), k / c) for m, k in inner.items())
        return p - inner, single(monomial(common)) * c, left

    @staticmethod
    def exponent(p: Poly) -> Poly | None:
        """E if p is e^E, as a product of exponentials."""
        ((m, c), *more) = p.items()
        alone = not more and c == 1 and all(a.kind == "e^" for a, _ in m)
        return total(a.parts[0] * k for a, k in m) if alone else None

    def line(self, kind: str, p: Poly, l: str, s: Poly) -> Poly:
        """The largest of p along l, or its threshold τ."""
        outer, scale, inner = self.along(p, l)
        if kind == "τ":
            outer, scale, inner = (outer, ONE, p - outer) if inner else (ZERO, ONE, p)
        elif not inner:
            return outer
        elif e := self.exponent(inner):
            return outer + scale * self.exp(self.line(kind, e, l, s))
        for letter in sorted(letter for letter in self.permuting if not letter.endswith("⁻¹")):
            if self.permuting[letter] == s:
                ways = (place(way, index(l)).atom for way in (letter, inverse(letter)))
                inner = min(
                    [inner, *(inner.renamed({l: way}) for way in ways if way)],
                    key=lambda q: (len(q.text), q.text),
                )
        return outer + scale * one(binding(kind, [(l, s)], inner))

    def first(self, x: Poly, p: Poly, l: str, s: Poly) -> Poly:
        """[x is the first place of the largest of p along l]."""
        inner = self.along(p, l, strict=True)[2]
        if not inner:
            return self.condition(x, ZERO)
        e = self.exponent(inner)
        return self.first(x, e, l, s) if e else one(binding("argmax", [(l, s)], x, inner))

    def is_zero(self, p: Poly) -> bool:
        """Whether it is the zero rational function of its atoms."""
        low = [(len(a.text), a.text, k // 1, a) for m in p for a, k in m if a.kind == "" and k < 0]
        if not low:
            return not p
        a = max(low)[3]
        k = min(row[2] for row in low if row[3] is a)
        need(not self.is_zero(a.parts[0]), "a division by 0")
        return self.is_zero(total(product([*m, (a, Q(-k))], c) for m, c in p.items()))


def short(text: str) -> str:
    """A text as it stands in a step."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return text if len(text) <= 400 else f"{text[:300]}… {digest}"


def pick(step: Data, key: str, things: Any) -> Any:
    """What is at the place that a step says."""
    k = step[key]
    need(type(k) is int and 0 <= k < len(things), f"no {key}: {step}")
    return things[k]


class Replay(Algebra):
    """A proof with steps, taken in their order."""

    def __init__(self, steps: Data, data: Data) -> None:
        super().__init__(data)
        self.steps, self.data, self.count = iter(steps), data, 0
        self.equations, self.letters = data["equations"], data["letters"]

    def opening(self, a: Atom) -> tuple[Binders, Poly]:
        """New names for the indices that an atom binds, with their ranges, and what is under them."""
        names = {l: self.new() for l, _ in a.binders}
        new = {l: atom("index", n) for l, n in names.items()}
        return tuple((names[l], s.renamed(new)) for l, s in a.binders), a.parts[-1].renamed(new)

    def new(self) -> str:
        """A name for an index."""
        self.count += 1
        return f"#{self.count}"

    def taken(self, of: str, *rules: str) -> Data:
        """The next step, of one of these rules and about this."""
        step = next(self.steps, {})
        need(step.get("rule") in rules and step.get("of") == short(of), f"not about {of}: {step}")
        keys = sorted(step.keys() - {"rule", "of", "gives", "needs"})
        need(" ".join(keys) in RULES[step["rule"]], f"other keys: {step}")
        return step

    def settle(self, step: Data, gives: str, *needs: Poly) -> None:
        """Compare what a step gives and needs, and show its obligations."""
        need(step["gives"] == short(gives), f"it gives {gives}: {step}")
        said = step["needs"] if "needs" in step or needs else []
        need(
            said == [f"{x} ≥ 0" for x in needs] and bool(needs) == ("needs" in step),
            f"needs: {step}",
        )
        need(all(map(self.shown, needs)), f"not shown: {step}")

    def parts(self, size: Poly) -> Iterator[tuple[Poly, Binders]]:
        """The parts of a range: the index, and what is new in it, open meanwhile."""
        step = self.taken(f"0 … {size} - 1", "range")
        if "width" in step:
            width = parsed(step["width"])
            blocks = divided(size, width)
            whole = size == blocks * width and not any(n[0] in "#_" for n in width.free)
            need(whole, f"no blocks: {step}")
            self.settle(step, f"{blocks} blocks")
            for k, outer in self.parts(blocks):
                for l, inner in self.parts(width):
                    yield k * width + l, outer + inner
            return
        cuts, again = [parsed(cut) for cut in step["cuts"]], step.get("again", [])
        need(all(cut.free <= self.ranges.keys() | size.free for cut in cuts), f"names: {step}")
        need(all(type(k) is int and 0 <= k <= len(cuts) for k in again), f"again: {step}")
        sizes = [b - a for a, b in pairwise([ZERO, *cuts, size])]
        self.settle(step, f"{len(sizes)} part{'s' * (len(sizes) > 1)}", *sizes)
        for k, (start, s) in enumerate(zip([ZERO, *cuts], sizes, strict=True)):
            if k in again:
                for at, binders in self.parts(s):
                    yield start + at, binders
            elif s == ONE:
                yield start, ()
            else:
                l = self.new()
                with self.opened([(l, s)]):
                    yield start + index(l), ((l, s),)

    # Sums

    def summed(self, binders: Binders, p: Poly) -> Poly:
        """Σ p over indices."""
        with self.opened(binders):
            return total([self.sum_of(binders, m) * c for m, c in p.terms]) if binders else p

    def sum_of(self, binders: Binders, m: Monomial) -> Poly:
        """Σ m over indices: one step, and what it needs."""
        of = f"Σ_{{{', '.join(f'{l}<{s}' for l, s in binders)}}} {words(m)}"
        sums = ("delta", "identity", "line", "count", "permute", "merge", "separate", "hypothesis")
        step = self.taken(of, *sums)
        rule, factors = (
            step["rule"],
            step.get("indices", [step["index"]] if "index" in step else []),
        )
        own = tuple(pick({"index": k}, "index", binders) for k in factors)
        names = {l for l, _ in own}
        need(len(names) == len(factors) and (own or rule == "merge"), f"indices: {step}")
        left = tuple(binder for binder in binders if binder not in own)
        free = rule == "delta" or all(not names & self.reach([l]) for l, _ in left)
        need(free, f"another range depends on it: {step}")
        inner = tuple(factor for factor in m if factor[0].free & names)
        p, needs = single(factor for factor in m if not factor[0].free & names), ()
        l, s = own[0] if own else ("", ONE)
        match rule:
            case "delta":
                a = pick(step, "factor", m)[0]
                v = self.determined(a, l)
                need(l not in self.reach(v.free), f"a range depends on {l}: {step}")
                side = {"inside": within(v, s), "below": (v * -1 - 1,), "above": (v - s,)}
                needs, values = side[step["side"]], {l: v}
                left = (
                    tuple((n, self.put(size, values)) for n, size in left) if len(needs) > 1 else ()
                )
                with self.opened(left):
                    p = (
                        self.put(single(f for f in m if f[0] is not a), values)
                        if len(needs) > 1
                        else ZERO
                    )
            case "identity":
                p *= self.identity(l, s, inner)
            case "line":
                a, b = self.of_line(l, s, inner)
                p, needs = p * (a + self.summed(own, b)), (s - 1,)
            case "count":
                need(not inner, f"a factor holds the index: {step}")
                p, needs = p * s, (s,)
            case "permute":
                letter, back = step["by"]
                need(
                    type(back) is int and back in (0, 1) and self.permuting[letter] == s,
                    f"by: {step}",
                )
                v = place(inverse(letter) if back else letter, index(l))
                p, left = self.put(single(m), {l: v}), binders
            case "merge":
                a, k = pick(step, "factor", m)
                need(a.kind == "sum" and k.denominator == 1 and k >= 1, f"no sum: {step}")
                new, q = self.opening(a)
                p, left = product([*m, (a, Q(-1))]) * q, binders + new
            case "separate":
                p *= one(binding("sum", own, single(inner)))
            case "hypothesis":
                value, *needs = self.hypothesis(step, binding("sum", own, single(inner)))
                p *= value
        self.settle(step, p.text, *needs)
        return self.summed(left, p)

    def identity(self, l: str, s: Poly, m: Monomial) -> Poly:
        """[i = j], which is Σ_l a_il b_lj for A B = I."""
        pair = [a for a, k in m for _ in range(int(k))]
        need(len(pair) == 2 and all(k in (1, 2) for _, k in m), f"no two entries: {words(m)}")
        for left, turned, right, turned_right, size in self.data["units"]:
            for a, b in (pair, pair[::-1]):
                if (a.name, b.name) == (left, right) and len(a.parts) == len(b.parts) == 2:
                    (i, k), (n, j) = a.parts[:: 1 - 2 * turned], b.parts[:: 1 - 2 * turned_right]
                    if k == n == index(l) and l not in i.free | j.free and parsed(size) == s:
                        return self.condition(i, j)
        raise Refused(f"not inverse to each other: {words(m)}")

    def of_line(self, l: str, s: Poly, m: Monomial) -> tuple[Poly, Poly]:
        """a and b for which Σ_l m = a + Σ_l b along a line."""
        here = {n: atom("index", l) for n in ("_1a", "_2a", "_3a", "_4a", "_5a", "_6a")}
        for a, _ in m:
            if a.kind == "argmax" and a.parts[0] == index(l) and a.binders[0][1] == s:
                z, rest = a.parts[1].renamed(here), single(f for f in m if f[0] is not a)
                need(rest == ONE or rest == z and z.atom, f"other factors: {words(m)}")
                return (ONE if rest == ONE else self.line("max", z, l, s)), ZERO
            if a.kind == "abs" and single(m).atom:
                for t in (b for n in a.parts[0] for b, _ in n if b.kind == "τ"):
                    z = t.parts[0].renamed(here)
                    if t.binders[0][1] == s and a.parts[0] in (z - one(t), one(t) - z):
                        return s * one(t) + 2, z * -1
        raise Refused(f"no line: {words(m)}")

    def hypothesis(self, step: Data, a: Atom) -> tuple[Poly, ...]:
        """What an equation says of a sum, and what has to be ≥ 0."""
        shape, left, right = pick(step, "equation", self.equations)
        i, j = map(parsed, step["at"])
        need(all(n in a.free for n in i.free | j.free if n[0] in "#_"), f"other names: {step}")
        rows, columns = (self.number(size, {}) for size in shape)
        equations, self.equations = self.equations, []
        x, y = (self.number(side, {"row": i, "column": j}) for side in (left, right))
        self.equations = equations
        need(x.keys() == one(a).keys(), f"the equation is about {x.text}: {step}")
        return y * (1 / x[(a, Q(1)),]), *within(i, rows), *within(j, columns)

    def determined(self, a: Atom, l: str) -> Poly:
        """What a condition says that an index is."""
        need(a.kind == "condition", f"no condition: {a.text}")
        for inner, value in (a.parts, a.parts[::-1]):
            p = inner.atom
            while p and p.kind == "place" and self.lies(value, self.permuting[p.name]):
                inner, value = p.parts[0], place(inverse(p.name), value)
                p = inner.atom
            rest = inner - index(l)
            if l not in rest.free | value.free:
                return value - rest
        raise Refused(f"{a.text} does not say what {l} is")

    def put(self, p: Poly, values: Env) -> Poly:
        """Forms put in for indices, and what holds them worked out again."""
        if not p.free & values.keys():
            return p
        return total(
            [prod([self.put_atom(a, k, values) for a, k in m], start=number(c)) for m, c in p.terms]
        )

    def put_atom(self, a: Atom, k: Q, values: Env) -> Poly:
        """Forms put in for indices in a^k."""
        if not a.free & values.keys():
            return product([(a, k)])
        *forms, last = [self.put(x, values) for x in a.parts[: len(a.parts) - bool(a.binders)]] or [
            ZERO
        ]
        new: Binders = ()
        if a.binders:
            forms, (new, last) = [last], self.opening(a)
            new = tuple((l, self.put(s, values)) for l, s in new)
            with self.opened(new):
                last = self.put(last, values)
        match a.kind:
            case "index":
                p = values[a.name]
            case "entry":
                p = one(atom("entry", a.name, (), *forms, last))
            case "place":
                p = place(a.name, last)
            case "quotient":
                p = self.floor(last, *forms)
            case "condition":
                p = self.condition(*forms, last)
            case "e^":
                return self.exp(last * k)
            case "sum":
                p = self.summed(new, last)
            case "max" | "τ":
                p = self.line(a.kind, last, *new[0])
            case "argmax":
                p = self.first(forms[0], last, *new[0])
            case kind:
                p = self.apply(kind, last) if kind else last
        return self.power(p, k)

    # Entries

    def number(self, r: Data, env: Env) -> Poly:
        """The entry of a rule where −∞ must not be."""
        p = self.entry(r, env)
        if p is None:
            raise Refused("−∞ where a number has to be")
        return p

    def entry(self, r: Data, env: Env) -> Poly | None:
        """The entry of a rule, or the value of a number, with forms for the indices in it."""
        match r:
            case str():
                return number(Q(r))
            case ["size", size]:
                return index(size)
            case ["index", l]:
                return env[l]
            case [("real" | "positive") as kind, letter]:
                return one(atom(kind, letter))
            case ["atom", constant]:
                return {"-∞": None, "e": self.exp(ONE), "π": one(atom("positive", "π"))}[constant]
            case ["floor", x]:
                a, b = fraction(x)
                return self.floor(self.number(a, env), self.number(b, env))
            case ["Mod", x, y]:
                a, b = self.number(x, env), self.number(y, env)
                need(
                    self.lies(rest := a - self.floor(a, b) * b, b), "a remainder that is not known"
                )
                return rest
            case ["const" | "ordinal" | "inverse", x]:
                self.partial |= r[0] == "inverse"
                return self.entry(x, env)
            case ["entry", letter, *places]:
                forms = [self.number(x, env) for x in places]
                if letter in self.letters:
                    inner = dict(zip(("row", "column", "head"), forms, strict=False))
                    return self.entry(self.letters[letter], inner)
                if letter in self.permuting:
                    return self.condition(forms[1], place(letter, forms[0]))
                return one(atom("entry", letter, (), *forms))
            case ["plus" | "Add", *xs]:
                values = [self.entry(x, env) for x in xs]
                numbers = [p for p in values if p is not None]
                squares = all(map(self.at_least_0, numbers))
                return self.noted(total(numbers), squares) if len(numbers) == len(values) else None
            case ["times" | "Mul", *xs]:
                return self.times([self.entry(x, env) for x in xs])
            case ["over", x, y, empty]:
                under = self.number(y, env)
                known = empty is None or not self.is_positive(under) or self.never_0(under)
                need(known, "a quotient of sums that may be empty")
                return self.times([self.entry(x, env), self.power(under, Q(-1))])
            case ["total", x, l, size]:
                rows = [
                    (new, self.number(x, {**env, l: at}))
                    for at, new in self.parts(self.number(size, env))
                ]
                squares = all(self.at_least_0(p) for _, p in rows)
                return self.noted(total([self.summed(new, p) for new, p in rows]), squares)
            case ["power" | "Pow", x, str(k)]:
                return self.power(self.number(x, env), Q(k))
            case ["power" | "Pow", x, y]:
                base, exponent = self.number(x, env), self.number(y, env)
                need(self.is_positive(base), "a power of what is not positive")
                return self.exp(exponent * self.ln(base))
            case ["apply", f, x] | [("exp" | "log" | "Abs" | "tanh" | "cos" | "sin") as f, x]:
                return self.apply(f, self.entry(x, env))
            case ["slope", x, letter, *places]:
                p = self.number(x, {**env, "row": ZERO, "column": ZERO})
                i, j = (self.number(y, env) for y in places)
                return self.slope(p, letter, i, j)
            case ["ofrow", ("max" | "τ") as which, x, l, size]:
                rows = [
                    (new, self.entry(x, {**env, l: at}))
                    for at, new in self.parts(self.number(size, env))
                ]
                return self.of_row(which, [(new, p) for new, p in rows if p is not None])
            case ["cases", a, sign, b, x, y]:
                return self.cases(a, sign, b, x, y, env)
        raise Unknown(f"no rule is about {r}")

    def times(self, values: list[Poly | None]) -> Poly | None:
        """A product."""
        numbers = [p for p in values if p is not None]
        if len(numbers) < len(values):
            known = len(numbers) == len(values) - 1 and all(map(self.is_positive, numbers))
            need(known, "−∞ times what is not positive")
            return None
        return self.noted(prod(numbers, start=ONE), len(numbers) == 2 and numbers[0] == numbers[1])

    def of_row(self, which: str, rows: list[tuple[Binders, Poly]]) -> Poly:
        """The largest of parts of a line, or its threshold."""
        values: list[Poly] = []
        for new, p in rows:
            with self.opened(new):
                filled = len(new) < 2 and all(self.shown(s - 1) for _, s in new)
                need(filled and (which == "max" or new), "a line that may be empty, or of blocks")
                values.append(self.line(which, p, *new[0]) if new else p)
        need(values and (which == "max" or len(values) == 1), "a line without entries, or of parts")
        largest = values[0]
        for p in values[1:]:
            largest = (largest + p + self.absolute(largest - p)) * Q(1, 2)
        return largest

    def cases(self, a: Data, sign: str, b: Data, x: Data, y: Data, env: Env) -> Poly | None:
        """x where a and b compare so, else y."""
        match a, sign, b:
            case _, "=", ["ofrow", "argmax", z, l, size] | [
                "plus",
                ["ofrow", "argmax", z, l, size],
            ]:
                rows = [
                    (self.number(z, {**env, l: at}), new)
                    for at, new in self.parts(self.number(size, env))
                ]
                ((p, (binder,)),) = rows
                where = self.first(self.number(a, env), p, *binder)
            case _, "≤", _ if [x, y] in ([a, b], [b, a]):
                p, q = self.number(a, env), self.number(b, env)
                return (p + q + self.absolute(p - q) * (1 if x == b else -1)) * Q(1, 2)
            case ["entry", *_], "=", _:
                d = self.number(a, env) - self.number(b, env)
                need(d.keys() <= {()}, "an entry that is no number")
                where = ZERO if d else ONE
            case _, "≤", _:
                inner, other = absolute_of(a), absolute_of(b)
                ways = [
                    self.at_most(
                        ["times", sign, inner or a] if inner else a,
                        ["times", sign, other] if other else b,
                        env,
                    )
                    for sign in (("1", "-1") if inner or other else ("1",))
                ]
                where = ONE if (all if inner else any)(ways) else ZERO
            case _:
                where = self.condition(self.number(a, env), self.number(b, env))
        if where in (ONE, ZERO):
            return self.entry(x if where else y, env)
        p, q = self.number(x, env), self.number(y, env)
        return where * p + (ONE - where) * q

    def at_most(self, a: Data, b: Data, env: Env) -> bool:
        """Whether a ≤ b."""
        d = self.number(b, env) - self.number(a, env)
        need(self.shown(d) or self.shown(d * -1 - 1), f"the sign of {d} is not known")
        return self.shown(d)

    def slope(self, p: Poly, letter: str, i: Poly, j: Poly) -> Poly:
        """∂p by entry (i, j) of a letter."""
        parts = []
        for m, c in p.terms:
            for a, k in m:
                d = self.slope_of(a, letter, i, j)
                self.partial |= bool(d) and k.denominator > 1
                parts.append(product([*m, (a, Q(-1))], c * k) * d)
        return total(parts)

    def slope_of(self, a: Atom, letter: str, i: Poly, j: Poly) -> Poly:
        """∂a by entry (i, j) of a letter."""
        if "⁻¹" not in a.text and not re.search(rf"(?<![\w']){re.escape(letter)}\[", a.text):
            return ZERO
        match a.kind:
            case "entry" if a.name == letter and len(a.parts) == 2:
                return self.condition(a.parts[0], i) * self.condition(a.parts[1], j)
            case "e^" | "" | "ln":
                outer = {"e^": one(a), "": ONE}.get(a.kind) or self.power(a.parts[0], Q(-1))
                return outer * self.slope(a.parts[0], letter, i, j)
            case "sum":
                new, p = self.opening(a)
                with self.opened(new):
                    p = self.slope(p, letter, i, j)
                return self.summed(new, p)
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

    def part(self, env: Env) -> None:
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
        d = left - right
        for c, x, y in self.data["cofactors"]:
            before = self.partial, set(self.squares)
            difference = self.number(x, env) - self.number(y, env)
            self.partial = False
            d -= self.number(c, env) * difference
            need(not self.partial, "a cofactor that may be undefined")
            self.partial, self.squares = before
        while (step := self.taken(d.text, "meet", "zero"))["rule"] == "meet":
            m, c = pick(step, "term", d.terms)
            a, k = pick(step, "factor", m)
            l = step["index"]
            need(k == 1 and l in self.ranges, f"no index: {step}")
            rest = self.put(single(f for f in m if f[0] is not a), {l: self.determined(a, l)})
            d += (one(a) * rest - single(m)) * c
            self.settle(step, d.text)
        self.settle(step, "0")
        need(self.is_zero(d), f"the difference is not 0: {d.text}")


def fraction(x: Data) -> tuple[Data, Data]:
    """Numerator and denominator of a fraction."""
    over: tuple[list[Data], list[Data]] = ["Mul"], ["Mul"]
    for part in x[1:] if x[0] == "Mul" else [x]:
        match part:
            case str():
                over[0].append(str(Q(part).numerator))
                over[1].append(str(Q(part).denominator))
            case ["Pow", b, "-1"]:
                over[1].append(b)
            case _:
                over[0].append(part)
    return over


def absolute_of(r: Data) -> Data:
    """x if a rule is |x|."""
    match r:
        case ["plus", x]:
            return absolute_of(x)
        case ["apply", "abs", x] | ["ordinal" | "const", ["Abs", x]]:
            return x
    return None


def proven(proof: Data, data: Data, depth: int = 0) -> bool:
    """Replay a proof; whether the statement holds only where both sides are defined."""
    need(depth <= 8, "nested too deep")
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


def verdict(certificate: Data) -> tuple[str, str]:
    """accepted, refused or cannot, and why."""
    try:
        data = opened(certificate)
        need("unreadable" not in data, str(data.get("unreadable")))
        keys = {"certificate", "statement", "uses", "letters_only", "partial", "proof"}
        need(certificate.keys() == keys and certificate["certificate"] == 1, "other keys")
        partial = proven(certificate["proof"], data["entries"]) or data["lacking"]
        need(certificate["partial"] is partial, f"partial is {partial}")
    except Unknown as unknown:
        return "cannot", str(unknown)
    except (Refused, LookupError, TypeError, ValueError, AttributeError) as refusal:
        return "refused", f"{type(refusal).__name__}: {refusal}"
    return "accepted", ""


def accepts(certificate: Data) -> bool:
    """Whether a certificate proves its statement."""
    return verdict(certificate)[0] == "accepted"
