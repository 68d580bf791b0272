"""A second replayer of certificates of equations, written from `docs/proof-rules.md` alone.

`tests.opened` looks at the types of the file and writes the entries of both sides as data; all else
is here. One type, `Poly`, stands for forms, indices and polynomials. Letters: n an index, v what is
put in for it, s a size, a an atom, m a monomial, p a polynomial, k a power, c a coefficient. None
is −∞.
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
#: The rules of steps of a sum.
SUMS = ["delta", "identity", "line", "count", "permute", "merge", "separate", "hypothesis"]


class Refused(Exception):
    """A certificate that does not prove its statement, and why."""


class Unknown(Exception):
    """What this replayer does not know."""


def need(fact: object, why: object) -> None:
    """Refuse unless `fact`."""
    if not fact:
        raise Refused(why)


class Atom:
    """An atom: its kind and name, indices that it binds, polynomials in it. Equal ones are one."""

    def __init__(self, kind: str, name: str, binders: Binders, parts: tuple[Poly, ...]) -> None:
        self.kind, self.name, self.binders, self.parts = kind, name, binders, parts
        names = frozenset().union(*(p.free for p in (*parts, *(s for _, s in binders))))
        self.free = names - {n for n, _ in binders} | ({name} if kind == "index" else set())
        self.height = bool(binders) + max((p.height for p in parts), default=0)

    @cached_property
    def text(self) -> str:
        """As it is written."""
        bound = "_" * bool(self.binders) + written(self.binders)
        match self.kind, self.parts:
            case "place", (x,):
                return f"{self.name}({x})"
            case "entry", (x, y, *head):
                return f"{self.name}{''.join(f'[{k + 1}]' for k in head)}[{x}, {y}]"
            case "condition", (x, y):
                return f"[{x} = {y}]"
            case "sum", (p,):
                return f"Σ{bound} {p.text}"
            case kind, (p,):
                return f"{kind}{bound}({p.text})"
        return self.name

    def renamed(self, names: Mapping[str, Atom]) -> Atom:
        """Other indices for some; nothing is worked out."""
        if not self.free & names.keys():
            return self
        if self.kind == "index":
            return names[self.name]
        parts = [p.renamed(names) for p in self.parts]
        if self.kind == "condition":
            parts.sort(key=str)
        return atom(self.kind, self.name, rename(self.binders, names), *parts)


def written(binders: Binders) -> str:
    """Indices with their sizes."""
    return f"{{{', '.join(f'{n}<{s}' for n, s in binders)}}}" if binders else ""


def rename(binders: Binders, names: Mapping[str, Atom]) -> Binders:
    """Other indices, also those that are bound."""
    return tuple((names[n].name if n in names else n, s.renamed(names)) for n, s in binders)


@lru_cache(None)
def atom(kind: str, name: str, binders: Binders, *parts: Poly) -> Atom:
    """The one atom that is this."""
    return Atom(kind, name, binders, parts)


def binding(kind: str, binders: Binders, p: Poly) -> Poly:
    """An atom that binds indices, which it calls by its height."""
    here = f"_{p.height + 1}"
    names = {n: atom("index", here + chr(97 + k), ()) for k, (n, _) in enumerate(binders)}
    return one(atom(kind, "", rename(binders, names), p.renamed(names)))


@lru_cache(None)
def words(m: Monomial) -> str:
    """A monomial as it is written."""
    factors = ((f"({a.text})" if a.kind == "sum" else a.text, k) for a, k in m)
    return " ".join(word if k == 1 else f"{word}^({k})" for word, k in factors) or "1"


def monomial(powers: Iterable[tuple[Atom, Q]]) -> Monomial:
    """The product of atoms to powers, in the order of texts."""
    return tuple(sorted(powers, key=lambda factor: factor[0].text))


def gathered(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The sum of what belongs to each thing, where it is not 0."""
    sums: dict[Any, Any] = {}
    for thing, c in pairs:
        sums[thing] = sums.get(thing, 0) + c
    return {thing: c for thing, c in sums.items() if c}


class Poly(dict[Monomial, Q]):
    """A polynomial: coefficients of monomials."""

    atoms: set[Atom]
    free: frozenset[str]
    height: int

    def __init__(self, terms: Iterable[tuple[Monomial, Q]] = ()) -> None:
        super().__init__(terms)
        self.atoms = {a for m in self for a, _ in m}
        self.free = frozenset().union(*(a.free for a in self.atoms))
        self.height = max((a.height for a in self.atoms), default=0)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __add__(self, other: Poly | int) -> Poly:
        return total((self, other if isinstance(other, Poly) else number(other)))

    def __mul__(self, other: Poly | Q | int) -> Poly:
        if not isinstance(other, Poly):
            return Poly((m, c * other) for m, c in self.items() if other)
        pairs = ((m + n, c * k) for m, c in self.items() for n, k in other.items())
        return total(product(m, c) for m, c in pairs)

    def __sub__(self, other: Poly | int) -> Poly:
        return self + other * -1

    def __pow__(self, k: int) -> Poly:
        return prod([self] * k, start=ONE)

    @cached_property
    def terms(self) -> list[tuple[Monomial, Q]]:
        """The terms in the order of texts."""
        return sorted(self.items(), key=lambda term: words(term[0]))

    @cached_property
    def text(self) -> str:
        """As it is written."""
        need(all(a.kind != "place" for a in self.atoms), "a permuted index as a number")
        parts = ((f"{c} " * (c != 1) + words(m)) if m else str(c) for m, c in self.terms)
        return " + ".join(parts) or "0"

    @cached_property
    def form(self) -> list[tuple[bool, str, Q]]:
        """The terms of a form in the order of texts, the number last."""
        rows = []
        for m, c in self.items():
            kinds = [a.kind for a, k in m for _ in range(int(k))]
            whole = c.denominator == 1 and all(k > 0 and k.denominator == 1 for _, k in m)
            known = set(kinds) <= {"index"} or kinds == ["place"]
            need(whole and known, "no form")
            rows.append((not m, "·".join(sorted(a.text for a, k in m for _ in range(int(k)))), c))
        return sorted(rows)

    def __str__(self) -> str:
        text = ""
        for number, names, c in self.form:
            sign = (" - " if c < 0 else " + ") if text else "-" * (c < 0)
            text += sign + str(abs(c)) * (abs(c) != 1 or number) + names
        return text or "0"

    @property
    def alone(self) -> Atom | None:
        """The atom that it is, if it is one."""
        return next((a for a in self.atoms if self == one(a)), None)

    def renamed(self, names: Mapping[str, Atom]) -> Poly:
        """The same with other indices."""
        return Poly((monomial((a.renamed(names), k) for a, k in m), c) for m, c in self.items())

    @cached_property
    def primitive(self) -> tuple[dict[Atom, Q], Poly, Q]:
        """Content, rest and lead of a polynomial other than 0."""
        rows = [dict(m) for m in self]
        atoms = (a for a in self.atoms if a.kind not in ("condition", "prime"))
        content = {a: k for a in atoms if (k := min(row.get(a, Q(0)) for row in rows))}
        inverse = [(a, -k) for a, k in content.items()]
        rest = Poly((monomial(gathered([*m, *inverse]).items()), c) for m, c in self.items())
        return content, rest * (1 / rest.terms[0][1]), rest.terms[0][1]


def number(c: Q | int) -> Poly:
    """A number."""
    return Poly([((), Q(c))] if c else [])


def total(parts: Iterable[Poly]) -> Poly:
    """The sum of polynomials."""
    p = Poly(gathered(chain.from_iterable(part.items() for part in parts)).items())
    need(len(p) <= 5000, "more than 5,000 terms")
    return p


ONE, ZERO = number(1), number(0)


def one(a: Atom, k: Q | int = 1) -> Poly:
    """a^k."""
    return Poly([(((a, Q(k)),), Q(1))])


def function(kind: str, *parts: Poly, name: str = "") -> Poly:
    """An atom that binds nothing."""
    return one(atom(kind, name, (), *parts))


def rest(m: Monomial, *atoms: Atom) -> Poly:
    """A monomial without some atoms, as a polynomial."""
    return Poly([(tuple(factor for factor in m if factor[0] not in atoms), Q(1))])


def index(name: str) -> Poly:
    """An index or a size."""
    return function("index", name=name)


def place(letter: str, x: Poly, back: bool = False) -> Poly:
    """π(x), or π⁻¹(x)."""
    other = letter[:-2] if letter.endswith("⁻¹") else letter + "⁻¹"
    letter, other = (other, letter) if back else (letter, other)
    inner = x.alone
    same = inner and (inner.kind, inner.name) == ("place", other)
    return inner.parts[0] if inner and same else function("place", x, name=letter)


def parsed(text: Data) -> Poly:
    """The form that a text is."""
    p = ZERO
    for part in re.split(r" (?=[+-] )", text):
        found = re.fullmatch(r"([+-] |-)?(\d*)([^\s\d()][^\s()⌊⌋]*)?", part)
        if not found:
            raise Refused(f"no form: {text}")
        sign, c, names = found.groups(default="")
        k = int(c or 1) * (-1 if "-" in sign else 1)
        p += prod(map(index, filter(None, names.split("·"))), start=number(k))
    need(str(p) == text, f"not as forms are written: {text}")
    return p


def product(factors: Iterable[tuple[Atom, Q]], c: Q | int = 1) -> Poly:
    """c times a product of atoms to powers."""
    powers: dict[Atom, Q] = gathered(factors)
    c, parts = Q(c), []
    for a, k in list(powers.items()):
        match a.kind:
            case "condition":
                powers[a] = Q(1)
            case "prime":
                c, powers[a] = c * Q(a.name) ** (k // 1), k % 1
            case "" if k >= 1:
                powers[a] = k % 1
                parts.append(a.parts[0] ** (k // 1))
            case "abs" if k.denominator == 1 and abs(k) >= 2:
                powers[a] = Q(int(k) - 2 * int(k / 2))
                even, bracket = k - powers[a], atom("", "", (), *a.parts)
                parts.append(a.parts[0] ** int(even) if k > 0 else one(bracket, even))
            case "sin" if k.denominator == 1 and k >= 2:
                powers[a] = k % 2
                parts.append((ONE - function("cos", *a.parts) ** 2) ** (k // 2))
    left = monomial((a, k) for a, k in powers.items() if k)
    return prod(parts, start=Poly([(left, c)] if c else []))


def primes(c: Q) -> list[tuple[int, int]]:
    """The primes of a positive number, with their exponents."""
    pairs = [*fmpz(c.numerator).factor(), *((n, -k) for n, k in fmpz(c.denominator).factor())]
    return [(int(n), int(k)) for n, k in pairs]


def short(text: str) -> str:
    """A text as it stands in a step."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return text if len(text) <= 400 else f"{text[:300]}… {digest}"


def pick(k: Data, things: Any) -> Any:
    """What is at the place that a step says."""
    need(0 <= k < len(things), f"nothing at {k}")
    return things[k]


class Replay:
    """A proof with steps, taken in their order, and what is shown of forms and polynomials."""

    def __init__(self, steps: Data, data: Data) -> None:
        self.steps, self.data, self.count = iter(steps), data, 0
        self.equations, self.letters = data["equations"], data["letters"]
        #: Of letters that are states, how many there are.
        self.counts: dict[str, Poly] = {}
        #: By a letter that states have: their rule, their number, and what letters are there.
        self.recurrences: dict[str, Any] = {}
        self.sizes = {letter: parsed(s) for letter, s in data["permutations"].items()}
        self.sizes |= {f"{letter}⁻¹": s for letter, s in self.sizes.items()}
        self.positive = set(data["positive"])
        self.ranges: dict[str, Poly] = {}
        self.squares: set[Poly] = set()
        self.partial = False

    @contextmanager
    def open(self, binders: Binders) -> Iterator[None]:
        """With these indices open."""
        before, self.ranges = self.ranges, {**self.ranges, **dict(binders)}
        yield
        self.ranges = before

    def reach(self, names: Iterable[str]) -> frozenset[str]:
        """The names on which the ranges of these depend, directly or not."""
        direct = frozenset().union(*(self.ranges[n].free for n in names if n in self.ranges))
        return direct | self.reach(direct) if direct else direct

    def shown(self, x: Poly) -> bool:
        """Whether x ≥ 0 is shown."""
        need(x.form is not None, "no form")
        places = [(len(a.text), a.text, a) for a in x.atoms if a.kind == "place"]
        if places:
            a = max(places)[2]
            c = x[((a, Q(1)),)]
            end = ZERO if c > 0 else self.sizes[a.name] - 1
            return self.shown(x + (end - one(a)) * c)
        here = sorted(x.free & self.ranges.keys())
        for n in here:
            if n not in self.reach(other for other in here if other != n):
                a = atom("index", n, ())
                slope = total(product([*m, (a, Q(-1))], c) for m, c in x.items() if a in dict(m))
                left = x - slope * one(a)
                if n not in slope.free and self.shown(slope):
                    return self.shown(left)
                top = left + slope * (self.ranges[n] - 1)
                return n not in slope.free and self.shown(slope * -1) and self.shown(top)
        ones = {n: index(n) + (n[0] != "+") for n in x.free}
        least = total(
            prod((ones[a.name] ** int(k) for a, k in m), start=number(c)) for m, c in x.items()
        )
        return not any(n[0] in "#_" for n in x.free) and all(c > 0 for c in least.values())

    def lies(self, v: Poly, s: Poly) -> bool:
        """Whether 0 ≤ v < s is shown."""
        return self.shown(v) and self.shown(s - v - 1)

    def above_0(self, a: Atom) -> bool:
        """Whether an atom is positive."""
        match a.kind:
            case "sum" | "":
                terms = a.parts[0].items()
                return all(c > 0 and all(self.above_0(b) for b, _ in m) for m, c in terms)
            case "entry" | "real":
                return a.name in self.positive and len(a.parts) < 3
        return a.kind in ("e^", "prime", "positive") or (
            a.kind == "index" and a.name[0] not in "+#_"
        )

    def square(self, m: Monomial, c: Q | int = 1) -> bool:
        """Whether each factor is ≥ 0."""

        def at_least_0(a: Atom) -> bool:
            if a.kind == "sum":
                return self.square(next(iter(a.parts[0])))
            shown = a.kind == "" and self.at_least_0(a.parts[0])
            return shown or a.kind in ("condition", "abs") or a.name[:1] == "+" or self.above_0(a)

        return c > 0 and all(k % 2 == 0 or k.denominator > 1 or at_least_0(a) for a, k in m)

    def is_positive(self, p: Poly) -> bool:
        """Whether a polynomial is positive."""
        factors = (self.above_0(a) or (k % 2 == 0 and k < 0) for m in p for a, k in m)
        return bool(p) and all(c > 0 for c in p.values()) and all(factors)

    def at_least_0(self, p: Poly) -> bool:
        """Whether a polynomial is ≥ 0."""
        if all(self.square(m, c) for m, c in p.items()) or self.made_of(p) in self.squares:
            return True
        for m, c in p.terms:
            for a, k in m:
                if a.kind == "abs" and k == 1 and self.square(m, c):
                    for sign in (1, -1):
                        both = Poly([(m, Q(1))]) + rest(m, a) * a.parts[0] * sign
                        ratios = [
                            p[t] / both[t] for t in both if t in p and not self.square(t, p[t])
                        ]
                        p -= both * max(Q(0), *ratios, Q(0))
        return all(self.square(m, c) for m, c in p.items())

    def made_of(self, p: Poly) -> Poly | None:
        """The rest with the sign of its lead, where the content is positive."""
        content, left, lead = p.primitive
        return left * (1 if lead > 0 else -1) if all(map(self.above_0, content)) else None

    def noted(self, p: Poly, squares: bool) -> Poly:
        """p, remembered if it is made of squares."""
        if p and squares and (left := self.made_of(p)):
            self.squares.add(left)
        return p

    def filled(self, m: Monomial) -> bool:
        """Whether all sums in it have something to sum."""
        for a, _ in m:
            with self.open(a.binders):
                sizes = all(self.shown(s - 1) for _, s in a.binders)
                if a.kind in ("sum", "") and not (sizes and any(map(self.filled, a.parts[0]))):
                    return False
        return True

    def never_0(self, p: Poly) -> bool:
        """Whether a polynomial is shown not to be 0."""
        return self.is_positive(p) and any(map(self.filled, p))

    def power(self, p: Poly, k: Q) -> Poly:
        """p^k."""
        need(abs(k) <= 64, "a power above 64")
        if (k.denominator == 1 and k >= 0) or (not p and k > 0):
            return p ** int(k) if k.denominator == 1 else p
        need(p and (k > 0 or all(a.kind != "condition" for a in p.atoms)), "a division")
        self.partial |= k < 0 and not self.never_0(p)
        content, left, lead = p.primitive
        if k.denominator == 1:
            whole = [*content.items(), (atom("", "", (), left), Q(1))]
            m, c = next(iter(p.items())) if len(p) == 1 else (whole, lead)
            return product(((a, q * k) for a, q in m), c ** int(k))
        need(p.keys() != {()} or lead > 0, "a root of a negative number")
        self.partial |= not self.at_least_0(p)
        out = product((atom("prime", str(n), ()), q * k) for n, q in primes(abs(lead)))
        inside = left * (1 if lead > 0 else -1)
        bare, factors = inside == ONE, monomial(content.items())
        for a, q in factors:
            others = bare and all(self.square(m) for m in rest(factors, a))
            if q.denominator > 1 or self.square(((a, Q(1)),)) or (q % 2 and others):
                out *= product([(a, q * k)])
            else:
                out *= self.power(
                    self.absolute(a.parts[0] if a.kind == "" else one(a)), (q - q % 2) * k
                )
                inside *= one(a) if q % 2 else ONE
        return out if inside == ONE else out * product([(atom("", "", (), inside), k)])

    def absolute(self, p: Poly) -> Poly:
        """|p|."""
        if not p:
            return p
        content, left, lead = p.primitive
        out = number(abs(lead))
        for a, k in monomial(content.items()):
            out *= product([(a if self.square(((a, k),)) else atom("abs", "", (), one(a)), k)])
        signs = (r for r in (left, left * -1) if self.at_least_0(r))
        return out * next(signs, function("abs", left))

    def exp(self, p: Poly) -> Poly:
        """e^p."""
        out = ONE
        for m, c in p.terms:
            conditions = [(a, k) for a, k in m if a.kind == "condition"]
            x = Poly([(m, Q(1))])
            if conditions:
                e = self.exp(rest(m, *dict(conditions)) * c)
                out *= product(conditions) * (e - 1) + 1
            elif x.alone and x.alone.kind == "ln":
                out *= self.power(x.alone.parts[0], c)
            else:
                out *= one(atom("e^", "", (), x), c)
        return out

    def ln(self, p: Poly) -> Poly:
        """The logarithm."""
        need(p, "the logarithm of 0")
        self.partial |= not self.never_0(p)  # a sum of nothing is 0, and has no logarithm
        content, left, lead = p.primitive
        if len(p) > 1 and lead > 0 and content and all(map(self.above_0, content)):
            return self.ln(product(content.items(), lead)) + function("ln", left)
        m, c = next(iter(p.items()))
        if len(p) > 1 or c < 0 or sum(not self.square((factor,)) for factor in m) > 1:
            return function("ln", p)
        logs = [function("ln", number(n)) * k for n, k in primes(c)]
        for a, k in m:
            log = a.parts[0] if a.kind == "e^" else function("ln", self.absolute(one(a)))
            logs.append(log * k)
        return total(logs)

    def angle(self, p: Poly) -> dict[str, Poly]:
        """The cosine and the sine."""
        cos, sin = ONE, ZERO
        for m, c in p.terms:
            need(abs(c.numerator) <= 24, "an angle with a factor above 24")
            part = Poly([(m, Q(1, c.denominator))])
            x, y = function("cos", part), function("sin", part) * (1 if c > 0 else -1)
            for _ in range(abs(c.numerator)):
                cos, sin = cos * x - sin * y, sin * x + cos * y
        return {"cos": cos, "sin": sin}

    def apply(self, f: str, p: Poly) -> Poly:
        """A function of a polynomial."""
        match f:
            case "abs" | "Abs":
                return self.absolute(p)
            case "exp" | "e^":
                return self.exp(p)
            case "ln" | "log":
                return self.ln(p)
            case "cos" | "sin":
                return self.angle(p)[f]
            case "√":
                return self.power(p, Q(1, 2))
            case "tanh" | "σ":
                e = self.exp(p * (2 if f == "tanh" else 1))
                return (e - (f == "tanh")) * self.power(e + 1, Q(-1))
            case "max0":
                return (p + self.absolute(p)) * Q(1, 2)
        raise Unknown(f"the function {f}")

    def condition(self, x: Poly, y: Poly) -> Poly:
        """[x = y]."""
        d = x - y
        sides = (Poly((m, c * s) for m, c in d.items() if c * s > 0) for s in (1, -1))
        a, b = sorted(sides, key=str)
        for u, v in ((a, b), (b, a)):
            p = u.alone
            if p and p.kind == "place":
                w, inner = place(p.name, v, back=True), p.parts[0]
                shorter = len(str(w)) < len(str(v)) or str(inner) < str(v)
                if shorter and self.lies(v, self.sizes[p.name]):
                    return self.condition(inner, w)
        if not d or self.shown(a - b - 1) or self.shown(b - a - 1):
            return ZERO if d else ONE
        return function("condition", a, b)

    def is_zero(self, p: Poly) -> bool:
        """Whether it is the zero rational function of its atoms."""
        powers = [(len(a.text), a.text, k // 1, a) for m in p for a, k in m]
        under = [row for row in powers if row[3].kind == "" and row[2] < 0]
        if not under:
            return not p
        a = max(under)[3]
        need(not self.is_zero(a.parts[0]), "a division by 0")
        k = min(row[2] for row in under if row[3] is a)
        return self.is_zero(total(product([*m, (a, Q(-k))], c) for m, c in p.items()))

    def new(self) -> str:
        """A name for an index."""
        self.count += 1
        return f"#{self.count}"

    def opening(self, a: Atom) -> tuple[Binders, Poly]:
        """New indices for those that an atom binds, and what is under them."""
        names = {n: atom("index", self.new(), ()) for n, _ in a.binders}
        return rename(a.binders, names), a.parts[-1].renamed(names)

    def taken(self, of: str, *rules: str) -> Data:
        """The next step, of one of these rules, and about this."""
        step: Data = next(self.steps, {})
        need(step.get("rule") in rules and step["of"] == short(of), f"not about {of}: {step}")
        return step

    def settle(self, step: Data, gives: str, *needs: Poly) -> None:
        """Compare what a step gives and needs, and show its obligations."""
        said = {"gives": short(gives)} | ({"needs": [f"{x} ≥ 0" for x in needs]} if needs else {})
        need({k: step[k] for k in step.keys() & {"gives", "needs"}} == said, f"not {said}: {step}")
        need(all(map(self.shown, needs)), f"not shown: {step}")

    def parts(self, size: Poly) -> Iterator[tuple[Poly, Binders]]:
        """The parts of a range: the index, and what is new in it, open meanwhile."""
        step = self.taken(f"0 … {size} - 1", "range")
        if "width" in step:
            raise Unknown("blocks")
        cuts = [parsed(cut) for cut in step["cuts"]]
        need(all(cut.free <= self.ranges.keys() | size.free for cut in cuts), f"names: {step}")
        starts, sizes = [ZERO, *cuts], [b - a for a, b in pairwise([ZERO, *cuts, size])]
        self.settle(step, f"{len(sizes)} part{'s' * (len(sizes) > 1)}", *sizes)
        for k, s in enumerate(sizes):
            if s == ONE:
                yield starts[k], ()
            else:
                binders = ((self.new(), s),)
                with self.open(binders):
                    yield starts[k] + index(binders[0][0]), binders

    def summed(self, binders: Binders, p: Poly) -> Poly:
        """Σ p over indices."""
        with self.open(binders):
            return total([self.sum_of(binders, m) * c for m, c in p.terms]) if binders else p

    def sum_of(self, binders: Binders, m: Monomial) -> Poly:
        """Σ m over indices: one step, and what it needs."""
        step = self.taken(f"Σ_{written(binders)} {words(m)}", *SUMS)
        places = step.get("indices", [step["index"]] if "index" in step else [])
        own = tuple(pick(k, binders) for k in places)
        names = dict(own).keys()
        need(len(names) == len(places) and (own or step["rule"] == "merge"), f"indices: {step}")
        left = tuple(binder for binder in binders if binder not in own)
        free = step["rule"] == "delta" or all(not names & self.reach([n]) for n, _ in left)
        need(free, f"the range of another index depends on it: {step}")
        outer, inner = [a for a, _ in m if not a.free & names], [a for a, _ in m if a.free & names]
        needs: tuple[Poly, ...] = ()
        p, apart = rest(m, *inner), binding("sum", own, rest(m, *outer))
        n, s = own[0] if own else ("", ONE)
        match step["rule"]:
            case "line":
                raise Unknown("lines")
            case "delta":
                a, _ = pick(step["factor"], m)
                v = self.determined(a, n)
                need(n not in self.reach(v.free), f"a range depends on {n}: {step}")
                needs = (v, s - v - 1)
                left = tuple((i, self.put(size, {n: v})) for i, size in left)
                with self.open(left):
                    p = self.put(rest(m, a), {n: v})
            case "identity":
                p *= self.identity(n, s, rest(m, *outer))
            case "count":
                need(not inner, f"a factor holds the index: {step}")
                p, needs = p * s, (s,)
            case "permute":
                letter, back = step["by"]
                need(self.sizes.get(letter) == s and letter in self.data["permutations"], step)
                p, left = self.put(rest(m), {n: place(letter, index(n), back=back == 1)}), binders
            case "merge":
                a, k = pick(step["factor"], m)
                need(a.kind == "sum" and k.denominator == 1 and k >= 1, f"no sum: {step}")
                new, q = self.opening(a)
                p, left = product([*m, (a, Q(-1))]) * q, binders + new
            case "separate":
                p *= apart
            case "hypothesis":
                value, *shape = self.hypothesis(step, apart)
                p, needs = p * value, tuple(shape)
        self.settle(step, p.text, *needs)
        return self.summed(left, p)

    def identity(self, n: str, s: Poly, p: Poly) -> Poly:
        """[i = j], which is Σ_n a_in b_nj for A B = I."""
        pair = [a for m in p for a, k in m for _ in range(int(k))]
        need(len(pair) == 2 and product((a, Q(1)) for a in pair) == p, "no two entries")
        for left, turned, right, turned_right, size in self.data["units"]:
            for a, b in (pair, pair[::-1]):
                if (a.name, b.name) == (left, right) and len(a.parts) == len(b.parts) == 2:
                    (i, k), (k2, j) = a.parts[:: 1 - 2 * turned], b.parts[:: 1 - 2 * turned_right]
                    if k == k2 == index(n) and n not in i.free | j.free and parsed(size) == s:
                        return self.condition(i, j)
        raise Refused(f"not inverse to each other: {p.text}")

    def hypothesis(self, step: Data, apart: Poly) -> tuple[Poly, ...]:
        """What an equation says of a sum, and what has to be ≥ 0."""
        shape, *sides = pick(step["equation"], self.equations)
        i, j = map(parsed, step["at"])
        need(all(n in apart.free for n in i.free | j.free if n[0] in "#_"), f"names: {step}")
        rows, columns = (self.number(size, {}) for size in shape)
        equations, self.equations = self.equations, []
        x, y = (self.number(side, {"row": i, "column": j}) for side in sides)
        self.equations = equations
        need(x.keys() == apart.keys(), f"the equation is about {x.text}: {step}")
        return y * (1 / next(iter(x.values()))), i, rows - i - 1, j, columns - j - 1

    def determined(self, a: Atom, n: str) -> Poly:
        """What a condition says that an index is."""
        need(a.kind == "condition", f"no condition: {a.text}")
        for inner, value in (a.parts, a.parts[::-1]):
            u, v, p = inner, value, inner.alone
            while p and p.kind == "place" and self.lies(v, self.sizes[p.name]):
                u, v = p.parts[0], place(p.name, v, back=True)
                p = u.alone
            if n not in (u - index(n)).free | v.free:
                return v - u + index(n)
        raise Refused(f"{a.text} does not say what {n} is")

    def put(self, p: Poly, values: Env) -> Poly:
        """Forms put in for indices, and what holds them worked out again."""
        if not p.free & values.keys():
            return p
        put = self.put_in
        return total([prod([put(a, k, values) for a, k in m], start=number(c)) for m, c in p.terms])

    def put_in(self, a: Atom, k: Q, values: Env) -> Poly:
        """Forms put in for indices in a^k."""
        if not a.free & values.keys():
            return product([(a, k)])
        if a.kind == "index":
            return self.power(values[a.name], k)
        if a.kind == "sum":
            new, p = self.opening(a)
            new = tuple((n, self.put(s, values)) for n, s in new)
            with self.open(new):
                p = self.put(p, values)
            return self.power(self.summed(new, p), k)
        x, *more = (self.put(p, values) for p in a.parts)
        match a.kind:
            case "e^":
                return self.exp(x * k)
            case "place":
                return place(a.name, x)
            case "condition":
                return self.condition(x, *more)
            case "entry":
                return product([(atom("entry", a.name, (), x, *more), k)])
        return self.power(self.apply(a.kind, x) if a.kind else x, k)

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
            case ["index", n]:
                return env[n]
            case [("real" | "positive") as kind, letter]:
                return function(kind, name=letter)
            case ["atom", "-∞"]:
                return None
            case ["atom", constant]:
                return self.exp(ONE) if constant == "e" else function("positive", name="π")
            case ["const" | "ordinal" | "inverse", x]:
                self.partial |= r[0] == "inverse"
                return self.entry(x, env)
            case ["entry", letter, *places]:
                forms = [self.number(x, env) for x in places]
                if letter in self.letters:
                    known = letter not in self.counts or self.lies(forms[2], self.counts[letter])
                    need(known, f"no state of {letter} is known to stand there")
                    heads = dict(zip(("row", "column", "head"), forms, strict=False))
                    return self.entry(self.letters[letter], heads)
                if letter in self.sizes:
                    return self.condition(forms[1], place(letter, forms[0]))
                return function("entry", *forms, name=letter)
            case ["plus" | "Add", *xs]:
                values = [self.entry(x, env) for x in xs]
                numbers = [p for p in values if p is not None]
                squares = all(map(self.at_least_0, numbers))
                return self.noted(total(numbers), squares) if len(numbers) == len(xs) else None
            case ["times" | "Mul", *xs]:
                return self.times([self.entry(x, env) for x in xs])
            case ["over", x, y, empty]:
                under = self.number(y, env)
                known = empty is None or not self.is_positive(under) or self.never_0(under)
                need(known, "a quotient of sums that may be empty")
                return self.times([self.entry(x, env), self.power(under, Q(-1))])
            case ["total", x, n, size]:
                parts = self.parts(self.number(size, env))
                rows = [(new, self.number(x, {**env, n: at})) for at, new in parts]
                squares = all(self.at_least_0(p) for _, p in rows)
                return self.noted(total([self.summed(new, p) for new, p in rows]), squares)
            case ["power" | "Pow", x, str(k)]:
                return self.power(self.number(x, env), Q(k))
            case ["power" | "Pow", x, y]:
                base, exponent = self.number(x, env), self.number(y, env)
                need(self.is_positive(base), "a power of what is not positive")
                return self.exp(exponent * self.ln(base))
            case ["apply", f, x] | [("exp" | "log" | "Abs" | "tanh" | "cos" | "sin") as f, x]:
                p = self.entry(x, env)
                need(p is not None or f in ("exp", "σ", "max0"), f"{f} of −∞")
                return ZERO if p is None else self.apply(f, p)
            case ["cases", a, sign, b, x, y]:
                return self.cases(a, sign, b, x, y, env)
        raise Unknown(f"the rule {r}")

    def times(self, values: list[Poly | None]) -> Poly | None:
        """A product."""
        numbers = [p for p in values if p is not None]
        if len(numbers) < len(values):
            known = len(numbers) == len(values) - 1 and all(map(self.never_0, numbers))
            need(known, "−∞ times what is not positive")
            return None
        return self.noted(prod(numbers, start=ONE), len(values) == 2 and values[0] == values[1])

    def cases(self, a: Data, sign: str, b: Data, x: Data, y: Data, env: Env) -> Poly | None:
        """x where a and b compare so, else y."""
        if sign == "≤" and [x, y] in ([a, b], [b, a]):
            p, q = self.number(a, env), self.number(b, env)
            return (p + q + self.absolute(p - q) * (1 if x == b else -1)) * Q(1, 2)
        p, q = self.number(a, env), self.number(b, env)
        if sign == "=":
            need(a[0] != "entry" or (p - q).keys() <= {()}, "an entry that is no number")
            where = self.condition(p, q) if a[0] != "entry" else ZERO if p - q else ONE
        else:
            where = ONE if self.shown(q - p) else ZERO
            need(where or self.shown(p - q - 1), f"what is larger, {a} or {b}, is not known")
        if where in (ONE, ZERO):
            return self.entry(x if where else y, env)
        p, q = self.number(x, env), self.number(y, env)
        return where * p + (ONE - where) * q

    def run(self) -> bool:
        """Replay all steps; whether something may be undefined."""
        sides = []
        for side in self.data["sides"]:
            self.letters, self.counts = self.data["letters"] | side["letters"], {}
            for state in side["states"]:
                self.induction(state)
            sides.append((side["entry"], self.letters, self.counts))
        rows, columns = map(parsed, self.data["shape"])
        for i, _ in self.parts(rows):
            for j, _ in self.parts(columns):
                self.part(sides, {"row": i, "column": j})
        need(next(self.steps, None) is None, "steps are left over")
        return self.partial

    def induction(self, state: Data) -> None:
        """Show that the states of a recurrence are its closed form, which stands for them then."""
        name, count = state["name"], parsed(state["count"])
        closed = state.get("closed", {})
        self.settle(self.taken(f"{name}[t], t < {count}", "induction"), "G[t]")
        need(closed.get("shape") == state["shape"], f"{name} has another shape")
        letter = closed.get("states")
        places = [["index", place] for place in ("row", "column", "head")]
        value = ["entry", f"{letter}⁽⁾", *places] if letter else closed["entry"]
        self.letters, self.counts = {**self.letters, name: value}, {**self.counts, name: count}
        here = self.letters, self.counts
        source = value, count, here
        if letter:  # the first recurrence that has the letter
            source = self.recurrences.setdefault(letter, (state["entry"], count, here))
        need(source[1] == count, f"another number of states: {letter}")
        rows, columns = map(parsed, state["shape"])
        for t, _ in self.parts(count):
            for i, _ in self.parts(rows):
                for j, _ in self.parts(columns):
                    env, before = {"row": i, "column": j, "head": t}, self.partial
                    self.partial = False
                    self.letters, self.counts = source[2]
                    value = self.number(source[0], env)
                    self.letters, self.counts = here
                    need(not self.partial, "a closed form that may be undefined")
                    self.partial = before
                    self.vanish(value - self.number(state["entry"], env))

    def part(self, sides: Data, env: Env) -> None:
        """Show that the entries of both sides are the same."""
        values = []
        for entry, self.letters, self.counts in sides:
            values.append(self.entry(entry, env))
        self.letters, self.counts = self.data["letters"], {}
        if values[0] is None or values[1] is None:
            need(values[0] is values[1], "one side alone is −∞")
            return
        d = values[0] - values[1]
        for c, x, y in self.data["cofactors"]:
            before = self.partial, set(self.squares)
            difference = self.number(x, env) - self.number(y, env)
            self.partial = False
            d -= self.number(c, env) * difference
            need(not self.partial, "a cofactor that may be undefined")
            self.partial, self.squares = before
        self.vanish(d)

    def vanish(self, d: Poly) -> None:
        """Take the steps of a difference until it is 0."""
        while (step := self.taken(d.text, "meet", "zero"))["rule"] == "meet":
            m, c = pick(step["term"], d.terms)
            a, k = pick(step["factor"], m)
            n = step["index"]
            need(k == 1 and n in self.ranges, f"no index: {step}")
            put = self.put(rest(m, a), {n: self.determined(a, n)})
            d += (one(a) * put - rest(m)) * c
            self.settle(step, d.text)
        self.settle(step, "0")
        need(self.is_zero(d), f"the difference is not 0: {d.text}")


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
            return max([proven(p, case, depth + 1) for p, case in pairs])
    raise Refused(f"no proof: {sorted(proof)}")


def verdict(certificate: Data) -> tuple[str, str]:
    """accepted, refused or cannot, and why."""
    try:
        data = opened(certificate)
        need("unreadable" not in data, data.get("unreadable"))
        partial = proven(certificate["proof"], data["entries"]) or data["lacking"]
        need(certificate["partial"] is partial, f"partial is {partial}")
    except Unknown as unknown:
        return "cannot", str(unknown)
    except (Refused, LookupError, TypeError, ValueError, AttributeError, RecursionError) as refusal:
        return "refused", f"{type(refusal).__name__}: {refusal}"
    return "accepted", ""


def accepts(certificate: Data) -> bool:
    """Whether a certificate proves its statement."""
    return verdict(certificate)[0] == "accepted"
