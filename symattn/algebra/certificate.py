"""The checker: replays the trace of a proof that two expressions are equal for all sizes.

A certificate is data: a statement as it was written, how its letters are read, and the steps of
a proof. The checker reads the statement again with the one grammar, opens the entry rules of its
nodes at symbolic indices, and takes the steps in their order; it never searches. Both entries are
polynomials over atoms (an entry, e to a monomial, a sum over an index, …), and a step rewrites
one sum by one of the `RULES`, whose obligations (a range, a sign, a full set of rows) are shown
here again. A proof ends where the difference of the sides is 0, which is decided by FLINT's
polynomials over the atoms. What is trusted is this file, the grammar and the nodes' entry rules.

Nothing here is shared with what finds proofs: of `symattn.algebra` it imports nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import pairwise
from itertools import product as product_
from math import lcm
from typing import Any, TypeAlias, TypeVar

import flint
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.printer import Printer

from symattn.budget import Spent, spend
from symattn.errors import ReadError, SymattnError, quote
from symattn.grammar import read
from symattn.nodes import rule as r
from symattn.nodes.arguments import symbol_of_size
from symattn.nodes.base import Node
from symattn.nodes.catalogue import NODES, words
from symattn.nodes.entrywise import Diagonal, Exponential
from symattn.nodes.heads import Concat, GroupSum, Head, HeadSum
from symattn.nodes.lines import LineDifference, LineSum
from symattn.nodes.masks import MASKS, Allowed, AnyOf, Masked
from symattn.nodes.normalise import Normaliser, RowMax
from symattn.nodes.operators import together
from symattn.nodes.positions import IndexNumber, Rotary
from symattn.nodes.scale import Quotient
from symattn.nodes.spell import Speller
from symattn.nodes.written import CONSTANTS, Writer, spread
from symattn.notation import tree as t
from symattn.step import HEAD, check_shapes

#: The rules that a step may use, and what each says.
RULES: Mapping[str, str] = {
    "range": "an index runs through 0 … size − 1, as k t + r for r < k, t cut at points within",
    "delta": "Σ_l [l = k] f(l) = f(k) for 0 ≤ k < size, and 0 for a k outside",
    "identity": "Σ_l a_il b_lj = [i = j] for a matrix and its inverse, l through all rows",
    "first": "Σ_j [j is the first of the largest z] = 1, and times z_j the largest, j through all",
    "count": "Σ_l c = size · c",
    "permute": "Σ_l f(l) = Σ_l f(π(l)), l through all that π permutes",
    "merge": "c Σ_l f(l) = Σ_l c f(l)",
    "separate": "factors without the indices of a sum are taken out of it; indices are renamed",
    "hypothesis": "a sum is replaced by what an assumed equation gives for it",
    "keep": "no assumed equation applies to this sum",
    "meet": "[i = j] f(i) = [i = j] f(j)",
    "threshold": "Σ_l |z_l − τ(z)| = 2 − Σ_l z_l + size · τ(z), since Σ_l max(0, z_l − τ(z)) = 1",
    "sign": "x ≥ 0 or x ≤ 0: the difference is 0 in both cases",
    "logarithm": "Σ_k c_k ln p_k + t = 0 where Π_k p_k^(c_k) e^t = 1",
    "prefix": "a sum from a to b is the sum from 0 to b minus that from 0 to a",
    "zero": "the difference is the polynomial 0 over the atoms",
}

#: Limits for certificates from elsewhere.
MOST_VALUES, MOST_DEPTH, MOST_LENGTH, MOST_TERMS = 50_000, 60, 5_000, 5_000
MOST_POWER, _MOST_TURNS = 64, 24

#: A form over sizes and indices: of a product d·h, a place π(l) or a quotient; "" is the number 1.
Form = tuple[tuple["Term", int], ...]
#: What a form is made of: the name of an index, a size or a product, or a tuple for the others.
Term: TypeAlias = Any
Atom = tuple[Any, ...]
Mono = frozenset[tuple[Atom, Fraction]]
Poly = dict[Mono, Fraction]
Bound = list[tuple[str, Form]]
#: Atoms and their powers, in an order that is always the same.
Factors = list[tuple[Atom, Fraction]]
#: What has to be shown: forms that are ≥ 0, and what they say.
Needs = list[tuple[Form, str]]
#: What a sum is rewritten to: what is summed now, over which indices, and what that needs.
Rewritten = tuple[Poly, Bound, Needs]
#: A part of a certificate as JSON has it: a text, a number, a list, a table.
Data: TypeAlias = Any
Step = dict[str, Data]
#: The terms of a polynomial, as they stand in atoms.
Items: TypeAlias = frozenset[tuple[Mono, Fraction]]
#: What stands in each part of a range, None for −∞, and the indices of the part.
Parts: TypeAlias = list[tuple[Poly | None, Bound]]
#: What is found in each part of a range.
Found = TypeVar("Found")
#: The forms that the indices of a rule are.
Env: TypeAlias = Mapping[sympy.Symbol, Form]
#: Two letters whose product is I, and whether each is transposed.
Unit: TypeAlias = tuple[str, bool, str, bool]
#: An assumed equation, or both sides of a product: expressions.
Pair: TypeAlias = tuple[sympy.Basic, sympy.Basic]

UNIT: Mono = frozenset()


class Refused(SymattnError):
    """The certificate is no proof; the message says what fails."""


class Open(Refused):
    """Whether a linear form is ≥ 0 is not the same throughout the ranges of its indices."""

    def __init__(self, room: Form) -> None:
        super().__init__(f"whether {form_text(room)} ≥ 0 depends on the indices; cut a range")
        self.room = room


class Odd(Refused):
    """The remainder of a linear form is not the same throughout the range of an index."""

    def __init__(self, index: str, below: int) -> None:
        super().__init__(f"the remainder of {index} by {below} is not the same throughout")
        self.index, self.below = index, below


class Half(Refused):
    """A size has to be even."""

    def __init__(self, size: str) -> None:
        super().__init__(f"{size} is not said to be even")
        self.size = size


class Wide(Refused):
    """An index runs through so many blocks of a width, and is needed as block and place in it."""

    def __init__(self, index: str, width: Form) -> None:
        super().__init__(f"{index} is not an index of a block of {form_text(width)}")
        self.index, self.width = index, width


# ---- linear forms ----------------------------------------------------------------------------


def form(pairs: Iterable[tuple[Term, int]]) -> Form:
    """The linear form of these terms: what all work of a proof is made of, and counted by."""
    spend()
    out: dict[Term, int] = {}
    for atom, c in pairs:
        out[atom] = out.get(atom, 0) + c
    return tuple(sorted(((a, c) for a, c in out.items() if c), key=str))


def number(value: int) -> Form:
    """A whole number as a form."""
    return form([("", value)])


def variable(name: str) -> Form:
    """An index or size as a form."""
    return ((name, 1),)


def plus_form(one: Form, other: Form, times: int = 1) -> Form:
    """One + times · other."""
    return form([*one, *((atom, c * times) for atom, c in other)])


def factors_of(atom: str) -> list[str]:
    """The sizes and indices of a product d·h."""
    return atom.split("·") if atom else []


def times_form(one: Form, other: Form) -> Form:
    """The product of two forms. Raises `Refused` for one of a place or a quotient."""
    out = []
    for (a, c), (b, k) in product_(one, other):
        if a and b and not (isinstance(a, str) and isinstance(b, str)):
            raise Refused("a product with a permuted index or a quotient")
        atom = (a or b) if not a or not b else "·".join(sorted(factors_of(a) + factors_of(b)))
        out.append((atom, c * k))
    return form(out)


def quotient_form(top: Form, below: Form) -> tuple[Form, Form]:
    """The terms of a form that a product of sizes divides, over that, and the others."""
    ((width, c),) = below if len(below) == 1 else (("", 0),)
    if c != 1 or not isinstance(width, str) or not width:
        return (), top
    quotient, rest, wanted = [], [], Counter(factors_of(width))
    for atom, k in top:
        given = Counter(factors_of(atom) if isinstance(atom, str) else ())
        if wanted <= given:
            quotient.append(("·".join(sorted((given - wanted).elements())), k))
        else:
            rest.append((atom, k))
    return form(quotient), form(rest)


def is_permuted(one: Form) -> bool:
    """Whether a form is π(x) or π⁻¹(x) and nothing else."""
    return len(one) == 1 and one[0][1] == 1 and one[0][0][:1] == ("π",)


def place(name: str, at: Form, back: int) -> Form:
    """Where a permutation, or its inverse, takes an index."""
    if is_permuted(at):
        _, other, turned, inner = at[0][0]
        if other == name and turned != back:
            return inner  # type: ignore[no-any-return]
    return ((("π", name, back, at), 1),)


def put(one: Form, values: Mapping[str, Form]) -> Form:
    """A form with forms put in for indices."""
    out: list[tuple[Term, int]] = []
    for atom, c in one:
        if isinstance(atom, str):
            factors = (values.get(factor, variable(factor)) for factor in factors_of(atom))
            value = reduce(times_form, factors, number(1))
        elif atom[0] == "π":
            value = place(atom[1], put(atom[3], values), atom[2])
        else:
            value = (((*atom[:2], put(atom[2], values), put(atom[3], values)), 1),)
        out += [(a, c * k) for a, k in value]
    return form(out)


def names(one: Form) -> frozenset[str]:
    """The indices of a form."""
    out: set[str] = set()
    for atom, _ in one:
        if isinstance(atom, str):
            out |= {factor for factor in factors_of(atom) if factor[:1] in ("#", "_")}
        else:
            out |= names(atom[3]) | (names(atom[2]) if atom[0] == "⌊⌋" else set())
    return frozenset(out)


def form_text(one: Form) -> str:
    """A form as text: n - l - 1."""
    words = []
    for atom, c in sorted(one, key=lambda pair: (pair[0] == "", str(pair[0]))):
        if isinstance(atom, tuple) and atom[0] == "⌊⌋":
            name = f"⌊({form_text(atom[3])})/({form_text(atom[2])})⌋"
        elif isinstance(atom, tuple):
            name = f"{atom[1]}{'⁻¹' if atom[2] else ''}({form_text(atom[3])})"
        else:
            name = atom
        sign = " - " if c < 0 else " + "
        words.append(
            sign + (str(abs(c)) if not name else name if abs(c) == 1 else f"{abs(c)}{name}")
        )
    text = "".join(words)
    return (
        text.removeprefix(" + ").replace(" - ", "-", 1)
        if text.startswith(" - ")
        else text[3:] or "0"
    )


# ---- polynomials over atoms ------------------------------------------------------------------


def constant(value: Fraction | int) -> Poly:
    """A rational number."""
    return {UNIT: Fraction(value)} if value else {}


def single(atom: Atom, power: Fraction | int = 1) -> Poly:
    """An atom to a power."""
    return {frozenset({(atom, Fraction(power))}): Fraction(1)}


def plus(*polys: Poly) -> Poly:
    """A sum."""
    out: Poly = {}
    for poly in polys:
        for mono, c in poly.items():
            out[mono] = out.get(mono, Fraction(0)) + c
    if len(out) > MOST_TERMS:
        raise Refused("a polynomial has too many terms")
    return {mono: c for mono, c in out.items() if c}


def scaled(poly: Poly, value: Fraction | int) -> Poly:
    """A multiple by a rational number."""
    return {mono: c * value for mono, c in poly.items()} if value else {}


def atoms_of(mono: Mono) -> Factors:
    """The factors of a monomial in an order that is always the same."""
    return sorted(mono, key=lambda pair: spelled(pair[0]))


def terms_of(poly: Poly) -> list[tuple[Mono, Fraction]]:
    """The terms of a polynomial in an order that is always the same."""
    return (
        sorted(poly.items(), key=lambda pair: mono_text(pair[0]))
        if len(poly) > 1
        else [*poly.items()]
    )


@lru_cache(maxsize=65536)
def spelled(atom: Atom) -> str:
    """An atom as a text, the same for equal ones."""
    match atom:
        case ("entry", name, i, j):
            return f"{name}[{form_text(i)}, {form_text(j)}]"
        case ("entry", name, i, j, head):
            one = form_text(plus_form(head, number(1)))
            return f"{name}[{one}][{form_text(i)}, {form_text(j)}]"
        case ("name" | "size" | "index" | "prime", name, *_):
            return str(name)
        case ("exp", mono):
            return f"e^({mono_text(mono)})"
        case ("δ", one, other):
            return f"[{form_text(one)} = {form_text(other)}]"
        case ("sum", sizes, mono):
            bound = ", ".join(f"{name}<{form_text(size)}" for name, size in sizes)
            return f"Σ_{{{bound}}} {mono_text(mono)}"
        case ("line", name, (index, size), items):
            return f"{name}_{{{index}<{form_text(size)}}}({text_of(dict(items))})"
        case ("first", at, line):
            return f"[{form_text(at)} = {spelled(line)}]"
        case ("poly", items):
            return f"({text_of(dict(items))})"
        case ("fn", name, items):
            return f"{name}({text_of(dict(items))})"
    return str(atom)


def mono_text(mono: Mono) -> str:
    """A monomial as text."""
    words = []
    for atom, p in atoms_of(mono):
        word = spelled(atom)
        word = f"({word})" if atom[0] == "sum" else word
        words.append(word if p == 1 else f"{word}^({p})")
    return " ".join(words) or "1"


def text_of(poly: Poly) -> str:
    """A polynomial as text."""
    words = []
    for mono, c in terms_of(poly):
        word = mono_text(mono)
        words.append(str(c) if not mono else word if c == 1 else f"{c} {word}")
    return " + ".join(words) or "0"


def brief(text: str) -> str:
    """A text as it stands in a trace: a long one is cut off and ends with its digest."""
    if len(text) <= 400:
        return text
    return f"{text[:300]}… {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def parts(atom: Atom) -> tuple[tuple[Form, ...], frozenset[str], list[Atom]]:
    """What an atom is made of: linear forms, the indices it binds, and atoms."""
    match atom:
        case ("entry", _, *places) | ("δ", *places):
            return tuple(places), frozenset(), []
        case ("index", name):
            return (variable(name),), frozenset(), []
        case ("exp", mono):
            return (), frozenset(), [inner for inner, _ in mono]
        case ("sum", sizes, mono):
            bound = frozenset(name for name, _ in sizes)
            return tuple(size for _, size in sizes), bound, [inner for inner, _ in mono]
        case ("first", at, line):
            return (at,), frozenset(), [line]
        case ("line", _, (index, size), items):
            return (size,), frozenset({index}), [inner for mono, _ in items for inner, _ in mono]
        case ("poly" | "fn", *_, items):
            return (), frozenset(), [inner for mono, _ in items for inner, _ in mono]
    return (), frozenset(), []


@lru_cache(maxsize=65536)
def indices(atom: Atom) -> frozenset[str]:
    """The indices that an atom depends on."""
    forms, bound, atoms = parts(atom)
    return frozenset().union(*map(names, forms), *map(indices, atoms)) - bound


def indices_of(mono: Mono) -> frozenset[str]:
    """The indices that a monomial depends on."""
    return frozenset().union(*(indices(atom) for atom, _ in mono))


@lru_cache(maxsize=65536)
def height(atom: Atom) -> int:
    """How deep sums and lines are nested in an atom."""
    _, bound, atoms = parts(atom)
    return bool(bound) + max(map(height, atoms), default=0)


def renamed(atom: Atom, new: Mapping[str, Form]) -> Atom:
    """An atom with its free indices exchanged for others, and nothing else changed."""
    if not indices(atom) & set(new):
        return atom
    match atom:
        case ("entry", name, *places):
            return ("entry", name, *(put(at, new) for at in places))
        case ("index", name):
            ((other, _),) = new[name]
            return ("index", other)
        case ("δ", one, other):
            return ("δ", *sorted((put(one, new), put(other, new)), key=str))
        case ("exp", mono):
            return ("exp", renamed_mono(mono, new))
        case ("sum", sizes, mono):
            return ("sum", tuple((n, put(s, new)) for n, s in sizes), renamed_mono(mono, new))
        case ("line", name, (index, size), items):
            return ("line", name, (index, put(size, new)), renamed_items(items, new))
        case ("first", at, line):
            return ("first", put(at, new), renamed(line, new))
    return (*atom[:-1], renamed_items(atom[-1], new))


def renamed_mono(mono: Mono, new: Mapping[str, Form]) -> Mono:
    """A monomial with indices exchanged."""
    return frozenset((renamed(atom, new), p) for atom, p in mono)


def renamed_items(items: Iterable[tuple[Mono, Fraction]], new: Mapping[str, Form]) -> Items:
    """The terms of a polynomial with indices exchanged."""
    return frozenset((renamed_mono(mono, new), c) for mono, c in items)


def only_place(atoms: Iterable[Atom], index: str) -> tuple[Term, ...] | None:
    """The one π(index) within which alone an index occurs; None if there is none."""
    found: set[tuple[Term, ...]] = set()

    def look(one: Form) -> bool:
        for atom, _ in one:
            if is_permuted(((atom, 1),)) and atom[3] == variable(index):
                found.add(atom)
            elif is_permuted(((atom, 1),)):
                if not look(atom[3]):
                    return False
            elif index in names(((atom, 1),)):
                return False
        return True

    def within(atom: Atom) -> bool:
        forms, _, atoms = parts(atom)
        return all(map(look, forms)) and all(map(within, atoms))

    return found.pop() if all(map(within, atoms)) and len(found) == 1 else None


def kept_part(atom: Atom, p: Fraction) -> tuple[Fraction, list[Poly]]:
    """What stays of atom^p as an atom's power, and the polynomials that are multiplied out."""
    whole = p.numerator // p.denominator
    match atom:
        case ("δ" | "first", *_):
            return Fraction(1), []
        case ("prime", value):
            return p - whole, [constant(Fraction(value) ** whole)] if whole else []
        case ("poly", items) if p >= 1:
            return p - whole, [dict(items)] * whole
        case ("fn", "abs", items) if p.denominator == 1 and p % 2 == 0:
            return Fraction(0), [power_of_square(items, p)]
        case ("fn", "sin", items) if p.denominator == 1 and p >= 2:
            square = plus(constant(1), scaled(single(("fn", "cos", items), 2), -1))
            return p % 2, [square] * int(p // 2)
    return p, []


def power_of_square(items: Items, p: Fraction) -> Poly:
    """|x|^p for an even p, which is x^p."""
    if p < 0:
        if len(items) > 1:
            return single(("poly", items), p)
        ((mono, c),) = items
        return scaled(settled({atom: q * p for atom, q in mono}), c ** int(p))
    return reduce(times, [dict(items)] * int(p), constant(1))


def settled(powers: Mapping[Atom, Fraction]) -> Poly:
    """A product of powers of atoms."""
    kept: dict[Atom, Fraction] = {}
    parts: list[Poly] = []
    for atom, p in powers.items():
        if p:
            left, more = kept_part(atom, p)
            parts += more
            if left:
                kept[atom] = left
    return reduce(times, parts, {frozenset(kept.items()): Fraction(1)})


def product(one: Mono, other: Mono) -> Poly:
    """The product of two monomials."""
    powers = dict(one)
    for atom, p in other:
        powers[atom] = powers.get(atom, Fraction(0)) + p
    return settled(powers)


def times(one: Poly, other: Poly) -> Poly:
    """The product of two polynomials."""
    return plus(*(scaled(product(a, b), c * d) for a, c in one.items() for b, d in other.items()))


def is_zero(poly: Poly) -> bool:
    """Whether this is 0 over its atoms: FLINT's polynomials, over one denominator."""
    if not poly:
        return True
    roots: dict[Atom, int] = {}

    def look(items: Iterable[tuple[Mono, Fraction]]) -> None:
        for mono, _ in items:
            for atom, p in mono:
                roots[atom] = lcm(roots.get(atom, 1), p.denominator)
                if atom[0] == "poly":
                    look(atom[1])

    look(poly.items())
    places = {atom: k for k, atom in enumerate(sorted(roots, key=spelled))}
    context = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(places))], "degrevlex")

    def whole(atom: Atom, p: Fraction) -> Fraction:
        """The part of a power that is multiplied out: of a sum the whole part."""
        return Fraction(p.numerator // p.denominator) if atom[0] == "poly" else p

    def quotient(one: Poly) -> tuple[flint.fmpq_mpoly, flint.fmpq_mpoly]:
        """Numerator and denominator; Σ c Π x^p Π (N/D)^k over one denominator."""
        used = {atom for mono in one for atom, _ in mono}
        listed = [(dict(mono), c) for mono, c in one.items()]
        zero = Fraction(0)
        low = {a: min([zero, *(whole(a, m.get(a, zero)) for m, _ in listed)]) for a in used}
        sums = {a: quotient(dict(a[1])) for a in used if a[0] == "poly"}
        most = {a: int(max(whole(a, m.get(a, zero)) for m, _ in listed) - low[a]) for a in sums}
        top, below = context.constant(0), context.constant(1)
        for powers, c in listed:
            exponents = [0] * len(places)
            term = context.constant(flint.fmpq(c.numerator, c.denominator))
            for atom in used:
                p = powers.get(atom, zero)
                if atom in sums:
                    turns = int(whole(atom, p) - low[atom])
                    term *= sums[atom][0] ** turns * sums[atom][1] ** (most[atom] - turns)
                    p -= whole(atom, p)
                else:
                    p -= low[atom]
                exponents[places[atom]] += int(p * roots[atom])
            top += term * context.from_dict({tuple(exponents): 1})
        for atom in used:
            if atom in sums:
                top *= sums[atom][1] ** int(-low[atom])
                below *= sums[atom][1] ** most[atom] * sums[atom][0] ** int(-low[atom])
            else:
                below *= context.gens()[places[atom]] ** int(-low[atom] * roots[atom])
        return top, below

    numbers = [(k, atom[1], roots[atom]) for atom, k in places.items() if atom[0] == "prime"]
    left: dict[tuple[int, ...], flint.fmpq] = {}
    for powers, c in quotient(poly)[0].to_dict().items():
        rest = list(powers)
        for k, prime, order in numbers:  # √2² is 2
            turns, rest[k] = divmod(rest[k], order)
            c *= flint.fmpq(prime) ** turns  # noqa: PLW2901
        left[tuple(rest)] = left.get(tuple(rest), 0) + c
    return not any(left.values())


_PARTIAL = t.Ident("∂")


class Slope(MatrixExpr):  # type: ignore[misc]  # SymPy has no types
    """The derivatives of a number, a 1 × 1 expression, by all entries of a letter: (∂f/∂x_kl)."""

    expr = property(lambda self: self.args[0])
    letter = property(lambda self: self.args[1])
    shape = property(lambda self: self.args[1].shape)

    def _rule(self, i: r.Index, j: r.Index) -> r.Rule:
        return r.Entry(self, i, j)

    def _spell(self, speller: Speller) -> t.Tree:
        top, below = (speller.matrix(part) for part in (self.expr, self.letter))
        return t.Frac(t.row(_PARTIAL, t.bracketed(top, t.ATOM)), t.row(_PARTIAL, below))

    def _sympystr(self, printer: Printer) -> str:
        return f"∂({printer._print(self.expr)})/∂{self.letter.name}"


@dataclass(frozen=True)
class Here:
    """What holds in a part of a proof, and no longer behind it."""

    #: The indices that a trace may speak of.
    scope: frozenset[str] = frozenset()
    #: Whether roots are noted: inside of what may be empty, or of one case, they are not.
    noting: bool = False
    #: Equations about sums that may be used: both sides, entry by entry.
    known: tuple[Pair, ...] = ()
    #: Letters that stand for an expression.
    means: Mapping[str, MatrixExpr] = field(default_factory=dict)


class Checker:
    """The replay of one certificate, step by step.

    `take` gives the next step; what finds proofs overrides it to choose one.
    """

    def __init__(self, steps: Sequence[Step], positive: Iterable[str] = ()) -> None:
        self.steps, self.left = list(steps), deque(steps)
        self.positive, self.here = frozenset(positive), Here()
        #: Whether something has no value for some inputs: a divisor that may be 0, a root.
        self.partial = False
        #: The range of every index, 0 … size − 1, and how many things a permutation permutes.
        self.sizes: dict[str, Form] = {}
        self.permuted: dict[str, Form] = {}
        #: Pairs of matrices whose product is I.
        self.units: dict[Unit, Form] = {}
        #: What roots and logarithms are taken of: ≥ 0 where both sides are defined.
        self.rooted: set[Items] = set()
        #: Polynomials that are ≥ 0 (1) or ≤ 0 (−1) in the case at hand.
        self.signs: dict[Items, int] = {}
        #: How many indices have a name.
        self.count = 0

    @contextmanager
    def inside(self, **changes: Any) -> Iterator[None]:
        """A part of the proof in which something else holds."""
        before = self.here
        self.here = replace(before, **changes)
        try:
            yield
        finally:
            self.here = before

    def lack(self, where: bool = True) -> None:
        """Something has no value for some inputs."""
        self.partial = self.partial or where

    # ---- the trace -------------------------------------------------------------------------

    def take(self, allowed: Sequence[str], before: str, *about: object) -> Step:
        """The next step. Raises `Refused` where it is of another kind, or about something else.

        `about` is what `before` spells, for a prover that chooses the step.
        """
        if not self.left:
            raise Refused(f"step {self.done + 1}: the trace ends before the proof does")
        step = self.left.popleft()
        if step["rule"] not in allowed:
            raise self.wrong(f"{step['rule']} is not a step here; {' or '.join(allowed)} is")
        if step["of"] != brief(before):
            raise self.wrong(f"it is about {step['of'][:80]}, where {before[:80]} stands")
        return step

    @property
    def done(self) -> int:
        """How many steps are taken."""
        return len(self.steps) - len(self.left)

    def wrong(self, why: str) -> Refused:
        """The refusal of the step taken last."""
        return Refused(f"step {self.done}: {why}")

    def settle(self, step: Step, needs: Sequence[tuple[Form, str]], gives: str) -> None:
        """Check a step's obligations, each a form that is ≥ 0, and what it says it gives."""
        listed = [f"{form_text(one)} ≥ 0" for one, _ in needs]
        if step.get("needs", []) != listed:
            raise self.wrong(f"the obligations are {listed}, not {step.get('needs', [])}")
        for one, what in needs:
            if not self.nonnegative(one):
                raise self.wrong(f"{what}: {form_text(one)} ≥ 0 is not shown")
        if step["gives"] != brief(gives):
            raise self.wrong(f"it gives {gives[:80]}, not {step['gives'][:80]}")

    def finish(self) -> None:
        """Refuse a trace that goes on behind its end."""
        if self.left:
            raise Refused(f"step {self.done + 1}: the proof is complete before it")

    # ---- ranges ----------------------------------------------------------------------------

    def name(self) -> str:
        """A fresh name of an index."""
        self.count += 1
        return f"#{self.count}"

    def new(self, size: Form) -> str:
        """A fresh index with this range."""
        name = self.name()
        self.sizes[name] = size
        return name

    def nonnegative(self, one: Form) -> bool:
        """Whether a form is ≥ 0 throughout the ranges of its indices, for all sizes.

        An index that no other range depends on is put at the end of its range that is worse,
        by the sign of what it is multiplied by, which has to be the same throughout;
        where the range is empty there is nothing that could be wrong.
        """
        while True:
            places = [pair for pair in one if isinstance(pair[0], tuple)]
            free = names(one) & set(self.sizes)
            if places:
                atom, c = max(places, key=lambda pair: len(str(pair)))
                if atom[0] != "π":
                    return False
                end = number(0) if c > 0 else plus_form(self.permuted[atom[1]], number(-1))
                one = plus_form(form(pair for pair in one if pair[0] != atom), end, c)
            elif free:
                needed = self.needed(free)
                last = next((name for name in sorted(free) if name not in needed), None)
                slope, _ = quotient_form(one, variable(last)) if last else ((), one)
                if last is None or last in names(slope):
                    return False
                if self.nonnegative(slope):
                    end = number(0)
                elif self.nonnegative(form((atom, -c) for atom, c in slope)):
                    end = plus_form(self.sizes[last], number(-1))
                else:
                    return False
                one = put(one, {last: end})
            else:
                break
        if names(one):
            return False
        # a size is at least 1, +k at least 0: n is 1 + (n - 1)
        sizes = {factor for atom, _ in one for factor in factors_of(atom) if factor[0] != "+"}
        raised = put(one, {size: plus_form(variable(size), number(1)) for size in sizes})
        return all(c >= 0 for _, c in raised)

    def needed(self, inside: Iterable[str]) -> set[str]:
        """The indices that the ranges of these depend on."""
        found: set[str] = set()
        left = list(inside)
        while left:
            more = names(self.sizes.get(left.pop(), ())) - found
            found |= more
            left += more
        return found

    def within(self, at: Form, size: Form) -> Needs:
        """The obligations of 0 ≤ at < size."""
        above = plus_form(plus_form(size, at, -1), number(-1))
        return [(at, "the start of the range"), (above, "the end of the range")]

    def holds(self, needs: Iterable[tuple[Form, str]]) -> bool:
        """Whether all obligations are shown."""
        return all(self.nonnegative(one) for one, _ in needs)

    def delta(self, one: Form, other: Form) -> Poly:
        """1 where two indices are the same, else 0."""
        gap = plus_form(one, other, -1)
        more, less = ([(a, abs(c)) for a, c in gap if c * s > 0] for s in (1, -1))
        low, high = sorted((form(more), form(less)), key=str)
        for left, right in ((low, high), (high, low)):
            if is_permuted(left):
                _, name, back, inner = left[0][0]
                turned = place(name, right, 1 - back)
                shorter = len(str(turned)) < len(str(right)) or str(inner) < str(right)
                if shorter and self.holds(self.within(right, self.permuted[name])):
                    return self.delta(inner, turned)
        apart = plus_form(low, high, -1)
        if not apart:
            return constant(1)
        if any(
            self.nonnegative(form([*((a, c * s) for a, c in apart), ("", -1)])) for s in (1, -1)
        ):
            return {}
        return single(("δ", low, high))

    def solved(self, condition: Atom, index: str) -> Form | None:
        """The index from one = other; None where it cannot be solved for."""
        for left, right in (condition[1:], condition[:0:-1]):
            inner, value = left, right
            while is_permuted(inner):
                _, name, back, at = inner[0][0]
                if not self.holds(self.within(value, self.permuted[name])):
                    break
                inner, value = at, place(name, value, 1 - back)
            rest = plus_form(inner, variable(index), -1)
            if index not in names(rest) | names(value):
                return plus_form(value, rest, -1)
        return None

    # ---- signs -----------------------------------------------------------------------------

    def is_positive(self, atom: Atom) -> bool:
        """Whether an atom is above 0; a sum is where it is not empty."""
        match atom:
            case ("exp" | "prime", _):
                return True
            case ("size", name):
                return bool(name[:1] != "+")  # +k may be 0
            case ("name", _, positive):
                return bool(positive)
            case ("entry", name, _, _):
                return name in self.positive
            case ("sum", _, mono):
                return all(self.is_positive(inner) for inner, _ in mono)
            case ("poly", items):
                return all(c > 0 and all(self.is_positive(a) for a, _ in m) for m, c in items)
        return False

    def is_nonnegative(self, atom: Atom) -> bool:
        """Whether an atom is ≥ 0, also in the case at hand, or a root is taken of it."""
        items = frozenset(single(atom).items())
        if items in self.rooted or self.signs.get(items) == 1:
            return True
        match atom:
            case ("δ" | "first", *_) | ("fn", "abs", _):
                return True
            case ("size", _):
                return True
            case ("sum", _, mono):
                return all(self.is_nonnegative(inner) or p % 2 == 0 for inner, p in mono)
            case ("poly", items):
                return items in self.rooted or self.all_nonnegative(dict(items))
        return self.is_positive(atom)

    def sign(self, mono: Mono) -> int:
        """1 where a product is ≥ 0, −1 where it is ≤ 0, 0 where that is not known."""
        out = 1
        for atom, p in mono:
            if p % 2 == 0 or self.is_nonnegative(atom):
                continue
            known = self.signs.get(frozenset(single(atom).items()), 0)
            out *= known if p.denominator == 1 else 0
        return out

    def all_nonnegative(self, poly: Poly) -> bool:
        """Whether a sum is of terms ≥ 0, of c (|x| ± x), and of what is ≥ 0 in the case at hand."""
        known = [scaled(dict(items), sign) for items, sign in self.signs.items()]
        for mono, c in poly.items():
            for atom, p in mono if c > 0 else ():
                rest = mono - {(atom, p)}
                if atom[:2] == ("fn", "abs") and p == 1 and self.sign(rest) == 1:
                    inner = times({rest: Fraction(1)}, dict(atom[2]))
                    known += [plus({mono: Fraction(1)}, scaled(inner, s)) for s in (1, -1)]
        for one in [*known, None]:
            less = {mono: c for mono, c in poly.items() if c * self.sign(mono) <= 0}
            if not less:
                return True
            shares = [less[m] / one[m] for m in less if one and m in one and one[m] * less[m] > 0]
            if one and shares:
                poly = plus(poly, scaled(one, -max(shares)))
        return False

    def all_positive(self, poly: Poly) -> bool:
        """Whether every term is a positive number times positive factors, and there is one."""
        return bool(poly) and all(
            c > 0
            and all(
                self.is_positive(a) or (p.denominator == 1 and p % 2 == 0 and p < 0) for a, p in m
            )
            for m, c in poly.items()
        )

    def never_zero(self, poly: Poly) -> bool:
        """Whether a polynomial is positive and one of its terms has no empty sum."""
        return self.all_positive(poly) and any(
            all(self.is_filled(atom) for atom, _ in mono) for mono in poly
        )

    def is_filled(self, atom: Atom) -> bool:
        """Whether the sums in a positive atom have something to sum."""
        if atom[0] == "poly":
            return all(self.is_filled(inner) for mono, _ in atom[1] for inner, _ in mono)
        if atom[0] != "sum":
            return True
        bound, mono = self.opened(atom)
        return all(self.nonnegative(plus_form(size, number(-1))) for _, size in bound) and all(
            self.is_filled(inner) for inner, _ in mono
        )

    # ---- powers and functions --------------------------------------------------------------

    def primitive(self, poly: Poly) -> tuple[Mono, Poly, Fraction]:
        """Common factors, the rest whose first coefficient is 1, and a number."""
        shared: dict[Atom, Fraction] = {}
        for atom in {a for mono in poly for a, _ in mono if a[0] not in ("δ", "prime")}:
            shared[atom] = min(dict(mono).get(atom, Fraction(0)) for mono in poly)
        content = frozenset((atom, p) for atom, p in shared.items() if p)
        back = frozenset((atom, -p) for atom, p in content)
        rest = plus(*(scaled(product(mono, back), c) for mono, c in poly.items()))
        lead = terms_of(rest)[0][1]
        return content, scaled(rest, 1 / lead), lead

    def power(self, poly: Poly, p: Fraction) -> Poly:
        """A rational power; of a root all factors that leave it are ≥ 0."""
        if abs(p) > MOST_POWER:
            raise Refused("a power is too large")
        if p < 0 and any(atom[0] in ("δ", "first") for mono in poly for atom, _ in mono):
            raise Refused("division by something that is 0 off a diagonal")
        if p.denominator == 1 and p >= 0:
            return reduce(times, [poly] * int(p), constant(1))
        if not poly:
            raise Refused("division by 0")
        if p.denominator != 1:
            return self.root(poly, p)
        if len(poly) == 1:
            ((mono, c),) = poly.items()
            return scaled(settled({atom: q * p for atom, q in mono}), c ** int(p))
        content, rest, lead = self.primitive(poly)
        outside = settled({atom: q * p for atom, q in content})
        return scaled(times(outside, single(("poly", frozenset(rest.items())), p)), lead ** int(p))

    def root(self, poly: Poly, p: Fraction) -> Poly:
        """A power that is not whole, of what is ≥ 0 where it is defined."""
        content, rest, lead = self.primitive(poly)
        out, inside = power_of_number(abs(lead), p), scaled(rest, 1 if lead > 0 else -1)
        gone = {atom for atom, _ in content if not self.is_positive(atom)}
        for atom, q in atoms_of(content):
            if self.is_nonnegative(atom):
                out = times(out, settled({atom: q * p}))
            elif q.denominator == 1:  # x³ is x² x
                size = ("fn", "abs", frozenset(single(atom).items()))
                out = times(out, settled({size: (q - q % 2) * p}))
                inside = times(inside, single(atom, q % 2) if q % 2 else constant(1))
            else:
                inside = times(inside, single(atom, q))
        if inside == constant(1):
            return out
        if all(gone <= {atom for atom, _ in mono} for mono in inside):
            self.note(inside)
        if len(inside) == 1:
            ((mono, c),) = inside.items()
            if len(mono) == 1 and c == 1:
                ((atom, q),) = mono
                return times(out, settled({atom: q * p}))
        return times(out, settled({("poly", frozenset(inside.items())): p}))

    def note(self, poly: Poly) -> None:
        """This is ≥ 0 wherever both sides are defined."""
        if self.here.noting:
            self.rooted.add(frozenset(poly.items()))

    def absolute(self, poly: Poly) -> Poly:
        """|poly|: what is ≥ 0 leaves it, and |−p| is |p|."""
        if not poly:
            return poly
        content, rest, lead = self.primitive(poly)
        out = constant(abs(lead))
        for atom, p in atoms_of(content):
            if self.is_nonnegative(atom) or (p.denominator == 1 and p % 2 == 0):
                out = times(out, settled({atom: p}))
            elif p.denominator != 1:
                return single(("fn", "abs", frozenset(poly.items())))
            else:
                known = self.signs.get(frozenset(single(atom).items()), 0)
                size = atom if known else ("fn", "abs", frozenset(single(atom).items()))
                out = times(scaled(out, known or 1), settled({size: p}))
        for sign in (1, -1):
            if self.all_nonnegative(scaled(rest, sign)):
                return scaled(times(out, rest), sign)
        return times(out, single(("fn", "abs", frozenset(rest.items()))))

    def exp(self, poly: Poly) -> Poly:
        """E to a polynomial is a product over its terms."""
        out = constant(1)
        for mono, c in poly.items():
            condition = frozenset(pair for pair in mono if pair[0][0] == "δ")
            if condition:  # e^{[i = j] x} is 1 + [i = j] (e^x − 1)
                more = plus(self.exp({mono - condition: c}), constant(-1))
                out = times(out, plus(constant(1), times({condition: Fraction(1)}, more)))
                continue
            logarithm = next(iter(mono)) if len(mono) == 1 else None
            if logarithm and logarithm[0][:2] == ("fn", "ln") and logarithm[1] == 1:
                out = times(out, self.power(dict(logarithm[0][2]), c))  # e^{q ln x} is x^q
                continue
            out = times(out, single(("exp", mono), c))
        return out

    def cos_sin(self, angle: Poly) -> tuple[Poly, Poly]:
        """Cosine and sine by the addition formulas along the terms of the angle."""
        cosine, sine = constant(1), constant(0)
        for mono, c in terms_of(angle):
            turns = abs(c.numerator)
            if turns > _MOST_TURNS:
                raise Refused("a large multiple of an angle")
            inner = frozenset({(mono, Fraction(1, c.denominator))})
            one, two = single(("fn", "cos", inner)), single(("fn", "sin", inner))
            two = scaled(two, 1 if c > 0 else -1)
            for _ in range(turns):
                cosine, sine = (
                    plus(times(cosine, one), scaled(times(sine, two), -1)),
                    plus(times(sine, one), times(cosine, two)),
                )
        return cosine, sine

    def logarithm(self, inner: Poly) -> Poly:
        """Ln of a product of what is ≥ 0 is a sum."""
        if len(inner) == 1:
            ((mono, c),) = inner.items()
            odd = [atom for atom, p in atoms_of(mono) if not self.is_nonnegative(atom) and p % 2]
            if c > 0 and len(odd) == 1 and dict(mono)[odd[0]].denominator == 1:
                self.note(single(odd[0]))  # the others are ≥ 0
                odd = []
            if c > 0 and not odd:
                out = [scaled(_ln(constant(prime)), turns) for prime, turns in primes(c)]
                for atom, p in atoms_of(mono):
                    if atom[0] == "exp":
                        out.append({atom[1]: p})
                    else:
                        out.append(scaled(_ln(self.absolute(single(atom))), p))
                return plus(*out)
        return _ln(inner)

    def applied(self, name: str, inner: Poly | None) -> Poly | None:
        """A function of one number."""
        if inner is None:
            if name in ("σ", "max0"):
                return {}
            raise Refused("a function of −∞")
        one = constant(1)
        match name:
            case "√":
                self.lack(not self.all_nonnegative(inner))
                return self.power(inner, Fraction(1, 2))
            case "tanh":
                twice = self.exp(scaled(inner, 2))
                return times(plus(twice, constant(-1)), self.power(plus(twice, one), Fraction(-1)))
            case "σ":
                up = self.exp(inner)
                return times(up, self.power(plus(one, up), Fraction(-1)))
            case "ln":
                self.lack(not self.all_positive(inner))
                return self.logarithm(inner)
            case "abs":
                return self.absolute(inner)
            case "cos" | "sin":
                return self.cos_sin(inner)[name == "sin"]
            case "max0":  # (x + |x|) / 2
                return scaled(plus(inner, self.absolute(inner)), Fraction(1, 2))
            case "erf" if inner:  # odd
                sign = -1 if self.primitive(inner)[2] < 0 else 1
                return scaled(single(("fn", name, frozenset(scaled(inner, sign).items()))), sign)
            case "erf":
                return {}
        return single(("fn", name, frozenset(inner.items())))

    # ---- entry rules -----------------------------------------------------------------------

    def entry(self, expr: sympy.Basic, i: Form, j: Form, head: Form | None = None) -> Poly | None:
        """Entry (i, j) of an expression, None where it is −∞; a scalar is the same everywhere.

        Of a step that is made for every head, this head is meant.
        """
        if isinstance(expr, sympy.MatrixBase):
            raise Refused("a matrix of numbers has fixed sizes")
        if not isinstance(expr, MatrixExpr):
            return self.scalar(expr)
        env = {_ROW: i, _COLUMN: j, **({} if head is None else {HEAD: head})}
        return self.value(r.rule_of(expr, _ROW, _COLUMN), env)

    def value(self, rule: r.Rule, env: Env) -> Poly | None:
        """The polynomial of an entry rule, the indices in it being these forms."""
        match rule:
            case r.Entry(matrix, i, j):
                return self.letter(matrix, self.at(i, env), self.at(j, env), env)
            case r.Const(value):
                return None if value is sympy.S.NegativeInfinity else self.scalar(value, env)
            case r.Ordinal(index):
                return self.scalar(index, env)
            case r.Plus(terms):
                parts = [self.value(term, env) for term in terms]
                return None if None in parts else plus(*(p for p in parts if p is not None))
            case r.Named(_, _, value):
                return self.value(value, env)
            case r.Times(factors):
                return self.multiplied([self.value(factor, env) for factor in factors])
            case r.Over(num, den, empty):
                below = self.divisor(self.finite(den, env), empty)
                above = self.value(num, env)
                if above is None:
                    if not self.all_positive(below):
                        raise Refused("−∞ divided by something that may be negative")
                    return None
                return times(above, below)
            case r.Total(body, index, size):
                found = self.along(body, index, size, env)
                return plus(*(self.summed(bound, poly) for poly, bound in self.all_finite(found)))
            case r.Exp(body):
                inner = self.value(body, env)
                return {} if inner is None else self.exp(inner)
            case r.Apply(name, body):
                return self.applied(name, self.value(body, env))
            case r.Power(body, exponent):
                inner = self.finite(body, env)
                if exponent < 0:
                    return self.divisor(inner, None, -exponent)
                return self.power(inner, Fraction(exponent))
            case r.Cases():
                return self.cases(rule, env)
            case r.OfRow("max" | "τ" as name, (body,), index, size) if index is not None:
                return self.largest(name, self.along(body, index, size, env))
        raise Refused(f"{type(rule).__name__} is not covered")

    def along(self, body: r.Rule, index: sympy.Symbol, size: sympy.Expr, env: Env) -> Parts:
        """What stands along an index, in parts."""
        return self.in_parts(linear(size, env), lambda at: self.value(body, {**env, index: at}))

    def finite(self, rule: r.Rule, env: Env) -> Poly:
        """The polynomial of a rule that may not be −∞."""
        out = self.value(rule, env)
        if out is None:
            raise Refused("−∞ where a number has to be")
        return out

    def all_finite(self, parts: Parts) -> Iterator[tuple[Poly, Bound]]:
        """The parts of a sum, none of which is −∞."""
        for poly, bound in parts:
            if poly is None:
                raise Refused("a sum of −∞")
            yield poly, bound

    def multiplied(self, parts: list[Poly | None]) -> Poly | None:
        """A product; −∞ times what is positive is −∞."""
        out = constant(1)
        for part in parts:
            out = out if part is None else times(out, part)
        if None in parts and not self.all_positive(out):
            raise Refused("−∞ in a product")
        return None if None in parts else out

    def divisor(self, below: Poly, empty: sympy.Expr | None, power: int = 1) -> Poly:
        """1 over what is not 0, or is said not to be."""
        if not self.never_zero(below):
            if empty is not None and self.all_positive(below):
                raise Refused("a sum that may be empty")
            self.lack()
        return self.power(below, Fraction(-power))

    def letter(self, matrix: MatrixExpr, i: Form, j: Form, env: Env | None = None) -> Poly | None:
        """An entry of a letter, of one head's or of an inverse."""
        match matrix:
            case Head(name=name):
                head = self.at(matrix.head, env or {})
                if name in self.here.means:
                    return self.entry(self.here.means[name], i, j, head)
                return single(("entry", name, i, j, head))
            case _ if matrix.free_symbols & set(env or {}):
                raise Refused("an inverse or a derivative that depends on an index")
            case sympy.Inverse():
                self.lack()
                return self.inverse(matrix.arg, i, j)
            case Slope():
                with self.inside(noting=False):
                    value = self.some(self.entry(matrix.expr, number(0), number(0)))
                    return self.derived(value, matrix.letter.name, i, j)
            case sympy.MatrixSymbol(name=name) if name in self.here.means:
                return self.entry(self.here.means[name], i, j)
            case sympy.MatrixSymbol(name=name) if name in self.permuted:  # p_ij is 1 for j = π(i)
                return self.delta(j, place(name, i, 0))
            case sympy.MatrixSymbol(name=name):
                return single(("entry", name, i, j))
        raise Refused(f"an entry of {type(matrix).__name__} is not covered")

    def derived(self, poly: Poly, name: str, i: Form, j: Form) -> Poly:
        """The derivative by entry (i, j) of a letter, by the rules for products and chains."""
        out: Poly = {}
        for mono, c in terms_of(poly):
            for atom, p in atoms_of(mono):
                inner = self.slope_of(atom, name, i, j)
                if inner:
                    self.lack(p.denominator != 1)  # a root has no slope at 0
                    left = dict(mono)
                    left[atom] = p - 1
                    out = plus(out, scaled(times(settled(left), inner), c * p))
        return out

    def slope_of(self, atom: Atom, name: str, i: Form, j: Form) -> Poly:
        """The derivative of an atom; of what may have a kink or be an inverse there is none."""
        text = spelled(atom)
        if "⁻¹" not in text and not re.search(rf"(?<![\w']){re.escape(name)}\[", text):
            return {}
        match atom:
            case ("entry", other, row, column) if other == name:
                return times(self.delta(row, i), self.delta(column, j))
            case ("exp", mono):
                return times(single(atom), self.derived({mono: Fraction(1)}, name, i, j))
            case ("sum", *_):
                bound, mono = self.opened(atom)
                return self.summed(bound, self.derived({mono: Fraction(1)}, name, i, j))
            case ("poly", items):
                return self.derived(dict(items), name, i, j)
            case ("fn", "ln", items):
                inner = self.derived(dict(items), name, i, j)
                return times(inner, self.power(dict(items), Fraction(-1)))
        raise Refused(f"{text[:60]} is not differentiated")

    def inverse(self, base: MatrixExpr, i: Form, j: Form) -> Poly | None:
        """Entry (i, j) of the inverse of a letter, a product, a transpose, a multiple."""
        match base:
            case sympy.MatrixSymbol() if base.name in self.here.means:
                return self.inverse(self.here.means[base.name], i, j)
            case sympy.MatrixSymbol() if base.name in self.permuted:
                return self.letter(base, j, i)
            case sympy.MatrixSymbol():
                name, size = f"{base.name}⁻¹", linear(base.shape[0], {})
                for turned in (False, True):
                    self.units[base.name, turned, name, turned] = size
                    self.units[name, turned, base.name, turned] = size
                return single(("entry", name, i, j))
            case Diagonal():
                (vector,) = base.args
                rows = vector.shape[1] == 1
                entry = (
                    self.entry(vector, i, number(0)) if rows else self.entry(vector, number(0), i)
                )
                return times(self.delta(i, j), self.divisor(self.some(entry), None))
            case sympy.Inverse():
                return self.entry(base.arg, i, j)
            case sympy.Transpose():
                return self.entry(sympy.Inverse(base.arg), j, i)
            case Quotient():
                turned = sympy.MatMul(base.args[1], sympy.Inverse(base.args[0]))
                return self.entry(turned, i, j)
            case sympy.MatMul():
                scalar, factors = base.as_coeff_matrices()
                size = linear(base.shape[0], {})
                if all(linear(side, {}) == size for f in factors for side in f.shape):
                    turned = sympy.MatMul(1 / scalar, *map(sympy.Inverse, reversed(factors)))
                    return self.entry(turned, i, j)
        self.opened_nothing(base)
        return single(("entry", f"({sympy.srepr(base)})⁻¹", i, j))

    def opened_nothing(self, base: MatrixExpr) -> None:
        """Refuse the inverse of what stands for something else."""
        if _reached(base, self.here.means) & set(self.here.means):
            raise Refused("the inverse of a sum with letters that are defined")

    def some(self, poly: Poly | None) -> Poly:
        """A polynomial that is not −∞."""
        if poly is None:
            raise Refused("−∞ where a number has to be")
        return poly

    def scalar(self, value: sympy.Expr, env: Env | None = None) -> Poly:
        """A SymPy scalar, also of indices."""
        value, env = sympy.sympify(value, strict=True), env or {}
        match value:
            case sympy.floor() | sympy.Mod():
                return form_poly(self.at(value, env))
            case IndexNumber():
                return self.scalar(value.args[0], env)
            case sympy.Symbol() if value in env:
                return form_poly(env[value])
            case sympy.Rational():
                return constant(Fraction(int(value.p), int(value.q)))
            case sympy.Symbol():
                if value.is_integer and value.is_nonnegative:
                    return single(("size", value.name))
                return single(("name", value.name, value.is_positive is True))
            case sympy.Add():
                return plus(*(self.scalar(term, env) for term in value.args))
            case sympy.Mul():
                factors = (self.scalar(factor, env) for factor in value.args)
                return reduce(times, factors, constant(1))
            case sympy.exp():
                return self.exp(self.scalar(value.args[0], env))
            case sympy.log():
                return self.some(self.applied("ln", self.scalar(value.args[0], env)))
            case sympy.Abs() | sympy.tanh() | sympy.cos() | sympy.sin():
                name = type(value).__name__.lower()
                return self.some(self.applied(name, self.scalar(value.args[0], env)))
            case sympy.Pow() if isinstance(value.args[1], sympy.Rational):
                p = Fraction(int(value.args[1].p), int(value.args[1].q))
                inner = self.scalar(value.args[0], env)
                if p.denominator != 1 and value.args[0].is_negative:
                    raise Refused("a root of a negative number")
                self.lack(p.denominator != 1 and not self.all_nonnegative(inner))
                self.lack(p < 0 and not self.never_zero(inner))
                return self.power(inner, p)
            case sympy.Pow() if value.args[0].is_positive:  # b^x is e^(x ln b)
                logarithm = self.some(self.applied("ln", self.scalar(value.args[0], env)))
                return self.exp(times(self.scalar(value.args[1], env), logarithm))
        if value is sympy.S.Exp1:
            return self.exp(constant(1))
        if value is sympy.S.Pi:
            return single(("name", "π", True))
        raise Refused(f"{type(value).__name__} is not covered")

    def cases(self, rule: r.Cases, env: Env) -> Poly | None:
        """A value by a condition on indices. Raises `Open` where ranges do not decide ≤."""
        match rule:  # |i − j| ≤ w, and w ≤ |i − j|
            case r.Cases(right=r.OfRow() as row):
                return self.chosen_case(rule, row, env)
            case r.Cases(one, "≤", other, value, rest) if {value, rest} == {one, other}:
                return self.extreme(rule, 1 if value == other else -1, env)
            case r.Cases(r.Entry(), "="):
                return self.case_of_numbers(rule, env)
            case r.Cases(r.Ordinal(sympy.Abs(args=(apart,))), "≤", most, value, otherwise):
                within = r.Cases(r.Ordinal(-apart), "≤", most, value, otherwise)
                return self.cases(r.Cases(r.Ordinal(apart), "≤", most, within, otherwise), env)
            case r.Cases(least, "≤", r.Ordinal(sympy.Abs(args=(apart,))), value, otherwise):
                beyond = r.Cases(least, "≤", r.Ordinal(-apart), value, otherwise)
                return self.cases(r.Cases(least, "≤", r.Ordinal(apart), value, beyond), env)
        low, high = self.place_value(rule.left, env), self.place_value(rule.right, env)
        if rule.sign == "≤":
            room = plus_form(high, low, -1)
            if self.nonnegative(room):
                return self.value(rule.value, env)
            if self.nonnegative(form([*((a, -c) for a, c in room), ("", -1)])):
                return self.value(rule.otherwise, env)
            raise Open(room)
        if rule.sign != "=":
            raise Refused("a condition on a set is not covered")
        same = self.delta(low, high)
        if same in ({}, constant(1)):
            return self.value(rule.value if same else rule.otherwise, env)
        return self.either(same, rule, env)

    def extreme(self, rule: r.Cases, sign: int, env: Env) -> Poly:
        """The larger (or smaller) of two values: (a + b ± |a − b|) / 2."""
        one, other = self.finite(rule.left, env), self.finite(rule.right, env)
        apart = self.absolute(plus(one, scaled(other, -1)))
        return scaled(plus(one, other, scaled(apart, sign)), Fraction(1, 2))

    def case_of_numbers(self, rule: r.Cases, env: Env) -> Poly | None:
        """A value by whether an entry is a number, where its difference from that is one."""
        apart = plus(self.finite(rule.left, env), scaled(self.finite(rule.right, env), -1))
        if any(mono for mono in apart):
            raise Refused("cases that depend on entries are not covered")
        return self.value(rule.otherwise if apart else rule.value, env)

    def either(self, same: Poly, rule: r.Cases, env: Env) -> Poly:
        """The value of a rule by cases where the condition is 1, the other where it is 0."""
        with self.inside(noting=False):
            value, otherwise = self.finite(rule.value, env), self.finite(rule.otherwise, env)
        unlike = plus(constant(1), scaled(same, -1))
        return plus(times(same, value), times(unlike, otherwise))

    def place_value(self, rule: r.Rule, env: Env) -> Form:
        """The linear form of a rule in a condition."""
        match rule:
            case r.Ordinal(index):
                return self.at(index, env)
            case r.Const(sympy.Integer() as value):
                return number(int(value))
            case r.Plus(terms):
                return form(pair for term in terms for pair in self.place_value(term, env))
        raise Refused("cases that depend on entries are not covered")

    def chosen_case(self, rule: r.Cases, row: r.OfRow, env: Env) -> Poly:
        """A value by whether an index is the first of the largest entries of a line."""
        if row.name != "argmax" or rule.sign != "=" or row.index is None:
            raise Refused(f"{row.name} of a row is not covered")
        parts = self.along(row.terms[0], row.index, row.size, env)
        (poly, ((index, count), *inner)), *more = parts
        if more or inner or poly is None or not index or count != linear(row.size, env):
            raise Refused("the largest of a row in parts")
        return self.either(
            self.first(self.place_value(rule.left, env), poly, index, count), rule, env
        )

    def first(self, at: Form, body: Poly, index: str, size: Form) -> Poly:
        """1 where an index is the first of the largest entries of a line, else 0.

        A positive factor and a term that are the same along the line leave it, and so does e^x.
        """
        inner = {m: c for m, c in body.items() if index in indices_of(m)}
        if not inner:
            return self.delta(at, number(0))
        inner = times(inner, self.power(self.scale(inner, index, True), Fraction(-1)))
        (mono, c), *more = inner.items()
        if c == 1 and not more and all(atom[0] == "exp" for atom, _ in mono):
            return self.first(at, {atom[1]: p for atom, p in mono}, index, size)
        return single(("first", at, self.named_line("argmax", inner, index, size)))

    def at(self, index: r.Index, env: Env) -> Form:
        """An index as a linear form."""
        return linear(index, env, self.divided)

    def divided(self, top: Form, below: Form) -> tuple[Form, Form | None]:
        """Quotient and remainder. Raises `Open` or `Odd` where ranges do not decide them."""
        if _is_number(below):
            by = dict(below).get("", 0)
            quotient = form((atom, c // by) for atom, c in top)
            rest = plus_form(top, quotient, -by)
            if self.holds(self.within(rest, below)):
                return quotient, rest
            odd = [atom for atom, _ in rest if atom in self.sizes]
            if odd:
                raise Odd(odd[0], by)
        quotient, rest = quotient_form(top, below)
        if self.holds(self.within(rest, below)):
            return quotient, rest
        for index in sorted(names(rest) & set(self.sizes)):
            blocks, left = quotient_form(self.sizes[index], below)
            if not left and not _is_number(blocks):
                raise Wide(index, below)
        for k in range(_MOST_TURNS):
            room = plus_form(top, below, -k - 1)
            if self.nonnegative(room):
                continue
            rest = plus_form(top, below, -k)
            if self.holds(self.within(rest, below)):
                return number(k), rest
            if any(names(((atom, 1),)) and "·" in atom for atom, _ in room):
                whole = ((("⌊⌋", "", below, top), 1),)  # which head serves head k: ⌊k g/h⌋
                return whole, None
            raise Open(room)
        raise Refused("a large quotient")

    # ---- sums ------------------------------------------------------------------------------

    def in_parts(self, size: Form, evaluated: Callable[[Form], Found]) -> list[tuple[Found, Bound]]:
        """What stands at every index below a size, by the parts in which the trace cuts it."""
        return self.parts_of(self.take(("range",), range_text(size)), size, evaluated)

    def parts_of(
        self, step: Step, size: Form, evaluated: Callable[[Form], Found]
    ) -> list[tuple[Found, Bound]]:
        """What stands at every index below a size, by the parts in which a step cuts it."""
        if "width" in step:
            return [self.in_blocks(step, size, evaluated)]
        every = step.get("every", 1)
        if every not in range(1, MOST_POWER) or any(c % every for _, c in size):
            raise self.wrong("the range does not divide so")
        whole = tuple((atom, c // every) for atom, c in size)
        points = [number(0), *map(read_form, step["cuts"]), whole]
        if frozenset().union(*map(names, points)) - self.here.scope - names(size):
            raise self.wrong("a cut at an index that is not open here")
        needs = [(plus_form(high, low, -1), "a cut") for low, high in pairwise(points)]
        self.settle(step, needs, "1 part" if len(points) == 2 else f"{len(points) - 1} parts")
        out: list[tuple[Found, Bound]] = []
        for part, (low, high) in enumerate(pairwise(points)):
            count = plus_form(high, low, -1)
            if part in step.get("again", ()) and every == 1:
                out += self.in_parts(count, partial(_behind, low, evaluated))
                continue
            noting = self.here.noting and self.nonnegative(plus_form(count, number(-1)))
            for rest in range(every):
                index = "" if count == number(1) else self.new(count)
                at = plus_form(low, variable(index)) if index else low
                at = plus_form(number(rest), at, every)
                with self.inside(scope=self.here.scope | {index} - {""}, noting=noting):
                    out.append((evaluated(at), [(index, count)]))
        return out

    def in_blocks(
        self, step: Step, size: Form, evaluated: Callable[[Form], Found]
    ) -> tuple[Found, Bound]:
        """What stands at k w + l for block k and a place l in it, w being the blocks' width."""
        width = read_form(step["width"])
        blocks, left = quotient_form(size, width)
        if left or names(width):
            raise self.wrong("the range does not consist of such blocks")
        needs = [(plus_form(part, number(-1)), "a block") for part in (blocks, width)]
        self.settle(step, needs, f"{form_text(blocks)} blocks")
        block, place_ = self.new(blocks), self.new(width)
        at = plus_form(times_form(variable(block), width), variable(place_))
        with self.inside(scope=self.here.scope | {block, place_}):
            value = evaluated(at)
        return value, [(block, blocks), (place_, width)]

    def summed(self, bound: Bound, poly: Poly) -> Poly:
        """Σ over indices of every term; an index without a name has one value."""
        bound = [pair for pair in bound if pair[0]]
        if not bound:
            return poly
        with self.inside(noting=False):
            return plus(*(scaled(self.total(bound, mono), c) for mono, c in terms_of(poly)))

    def total(self, bound: Bound, mono: Mono) -> Poly:
        """Σ of a product, rewritten as the trace says."""
        limits = ", ".join(f"{name}<{form_text(size)}" for name, size in bound)
        step = self.take((*_OF_SUMS,), f"Σ_{{{limits}}} {mono_text(mono)}", bound, mono)
        out, left, needs = _OF_SUMS[step["rule"]](self, step, bound, atoms_of(mono))
        self.settle(step, needs, text_of(out))
        return self.summed(left, out)

    def along_index(self, step: Step, bound: Bound, factors: Factors) -> Along:
        """The index that a step speaks of, on which no other range may depend."""
        run = Along.of(bound, factors, self.place_of(step, "index", bound))
        if run.dependent:
            raise self.wrong("the range of another index depends on this one")
        return run

    def at_first(self, uses: Factors, index: str, size: Form) -> Poly | None:
        """Σ_j [j is the first of the largest z] is 1, and times z_j the largest; None of others."""
        (atom, _), *more = sorted(uses, key=lambda pair: pair[0][0] != "first")
        if atom[0] != "first":
            return None
        _, at, (_, _, (own, length), items) = atom
        if at != variable(index) or length != size or index in indices(atom[2]):
            return None
        body = dict(renamed_items(items, {own: variable(index)}))
        if not more:
            return constant(1)
        return self.line("max", body, index, size) if body == {frozenset(more): 1} else None

    def place_of(self, step: Step, what: str, among: Sequence[object]) -> int:
        """A place in a list, from 0."""
        if not 0 <= step[what] < len(among):
            raise self.wrong(f"there is no {what} {step[what]}")
        return int(step[what])

    def ends(self, uses: Factors, index: str, size: Form) -> tuple[Form, Form] | None:
        """The outer indices of Σ_l a_il b_lj where the product of a and b is I."""
        pair = [atom for atom, p in uses for _ in range(int(p) if p in (1, 2) else 3)]
        match pair:
            case [("entry", _, _, _) as a, ("entry", _, _, _) as b]:
                orders = [(a, b), (b, a)]
            case _:
                orders = []
        for one, other in orders:
            for (first, turned, second, back), full in self.units.items():
                if (one[1], other[1], size) != (first, second, full):
                    continue
                left = one[2:][::-1] if turned else one[2:]
                right = other[2:][::-1] if back else other[2:]
                met = left[1] == variable(index) == right[0]
                if met and index not in names(left[0]) | names(right[1]):
                    return left[0], right[1]
        return None

    def opened(self, atom: Atom) -> tuple[Bound, Mono]:
        """The bound indices of a sum under fresh names, and what is summed."""
        _, sizes, mono = atom
        bound, new = self.freshly(sizes, {})
        return bound, renamed_mono(mono, new)

    def freshly(
        self, sizes: Sequence[tuple[str, Form]], values: Mapping[str, Form]
    ) -> tuple[Bound, dict[str, Form]]:
        """Indices under names that nothing else uses, and the values with these put in."""
        new = {name: variable(self.name()) for name, _ in sizes}
        inner = {**values, **new}
        bound = [(new[name][0][0], put(size, inner)) for name, size in sizes]
        self.sizes.update(bound)
        return bound, inner

    def canonical(self, bound: Bound, factors: Mapping[Atom, Fraction]) -> Atom:
        """A sum of a product, its indices named by their places."""
        if len(bound) > len(_LETTERS):
            raise Refused("a sum over too many indices")
        deep = 1 + max(map(height, factors), default=0)
        new = {name: variable(f"_{deep}{_LETTERS[k]}") for k, (name, _) in enumerate(bound)}
        sizes = tuple((new[name][0][0], put(size, new)) for name, size in bound)
        return ("sum", sizes, renamed_mono(frozenset(factors.items()), new))

    def as_known(self, atom: Atom) -> Poly:
        """A sum, or what an assumed equation, or what a threshold is, says of it."""
        found = self.threshold(atom)
        if not self.here.known and found is None:
            return single(atom)
        step = self.take(("hypothesis", "threshold", "keep"), spelled(atom), atom)
        needs: Needs = []
        if step["rule"] == "hypothesis":
            out, needs = self.said(step, atom)
        elif step["rule"] == "keep":
            out = single(atom)
        elif found is None:
            raise self.wrong("this is not a sum of what is above a threshold")
        else:
            size, level, scores, own = found
            index = self.new(size)
            inner = dict(renamed_items(scores, {own: variable(index)}))
            needs = [(plus_form(size, number(-1)), "a row with something in it")]
            below = times(form_poly(size), level)
            out = plus(constant(2), below, scaled(self.summed([(index, size)], inner), -1))
        self.settle(step, needs, text_of(out))
        return out

    def threshold(self, atom: Atom) -> tuple[Form, Poly, Items, str] | None:
        """Of Σ_l |z_l − τ(z)| the range, τ(z), z and its index; None of another sum."""
        if atom[0] != "sum":
            return None
        _, sizes, mono = atom
        (inner, p), *more = mono
        if len(sizes) != 1 or more or p != 1 or inner[:2] != ("fn", "abs"):
            return None
        ((index, size),) = sizes
        for level in {a for m, _ in inner[2] for a, _ in m if a[:2] == ("line", "τ")}:
            _, _, (own, length), items = level
            scores = dict(renamed_items(items, {own: variable(index)}))
            apart = plus(scores, scaled(single(level), -1))
            if length == size and dict(inner[2]) in (apart, scaled(apart, -1)):
                return size, single(level), items, own
        return None

    def said(self, step: Step, atom: Atom) -> tuple[Poly, Needs]:
        """What an assumed equation says that a sum is, and what has to be shown for it."""
        known = self.here.known
        one, other = known[self.place_of(step, "equation", known)]
        i, j = (read_form(text) for text in step["at"])
        if (names(i) | names(j)) - indices(atom):
            raise self.wrong("the equation is used at an index that does not occur")
        with self.inside(known=(), scope=indices(atom)):
            left, right = self.entry(one, i, j), self.some(self.entry(other, i, j))
        shape = one.shape if isinstance(one, MatrixExpr) else (1, 1)
        needs = [*self.within(i, linear(shape[0], {})), *self.within(j, linear(shape[1], {}))]
        ((mono, c),) = left.items() if left is not None and len(left) == 1 else ((None, 0),)
        if mono != next(iter(single(atom))):
            raise self.wrong("the equation says nothing of this sum")
        return scaled(right, 1 / Fraction(c)), needs

    # ---- putting in ------------------------------------------------------------------------

    def substituted(self, mono: Mono, values: Mapping[str, Form]) -> Poly:
        """A monomial with forms put in for indices, its conditions and sums worked out again."""
        out = constant(1)
        for atom, p in atoms_of(mono):
            inner = self.changed(atom, values)
            out = times(
                out, settled({next(iter(m))[0]: p}) if (m := _atom(inner)) else self.power(inner, p)
            )
        return out

    def polynomial(self, items: Items, values: Mapping[str, Form]) -> Poly:
        """A polynomial with forms put in for indices."""
        return plus(
            *(scaled(self.substituted(mono, values), c) for mono, c in terms_of(dict(items)))
        )

    def changed(self, atom: Atom, values: Mapping[str, Form]) -> Poly:
        """An atom with forms put in for indices."""
        if not indices(atom) & set(values):
            return single(atom)
        match atom:
            case ("entry", name, *places):
                return single(("entry", name, *(put(at, values) for at in places)))
            case ("index", name):
                return form_poly(values[name])
            case ("δ", one, other):
                return self.delta(put(one, values), put(other, values))
            case ("exp", mono):
                return self.exp(self.substituted(mono, values))
            case ("sum", sizes, mono):
                bound, inner = self.freshly(sizes, values)
                return self.summed(bound, self.substituted(mono, inner))
            case ("line", name, run, items):
                (pair,), inner = self.freshly([run], values)
                return self.line(name, self.polynomial(items, inner), *pair)
            case ("first", at, ("line", _, run, items)):
                (pair,), inner = self.freshly([run], values)
                return self.first(put(at, values), self.polynomial(items, inner), *pair)
            case ("poly", items):
                return self.polynomial(items, values)
            case ("fn", "abs" | "cos" | "sin" as name, items):
                return self.some(self.applied(name, self.polynomial(items, values)))
        return single(("fn", atom[1], frozenset(self.polynomial(atom[2], values).items())))

    # ---- functions of a line ---------------------------------------------------------------

    def largest(self, name: str, parts: Parts) -> Poly | None:
        """The largest entry of a line, or its τ; entries of −∞ have no part in it."""
        lines = []
        if any(len(bound) > 1 for _, bound in parts):
            raise Refused(f"{name} of a row of blocks")
        for poly, ((index, count),) in parts:
            if poly is not None:
                if not self.nonnegative(plus_form(count, number(-1))):
                    raise Refused("a row that may be empty")
                lines.append(self.line(name, poly, index, count) if index else poly)
        if (len(lines) > 1 and name != "max") or (
            name != "max" and any(not i for _, ((i, _),) in parts)
        ):
            raise Refused(f"{name} of a row in parts")
        out = lines[0] if lines else None
        for other in lines[1:]:  # max(a, b) = (a + b + |a − b|)/2
            apart = self.absolute(plus(out or {}, scaled(other, -1)))
            out = scaled(plus(out or {}, other, apart), Fraction(1, 2))
        return out

    def line(self, name: str, body: Poly, index: str, size: Form) -> Poly:
        """The maximum of a line or its τ: max_l (k a_l + c) = k max_l a_l + c for k > 0."""
        outer = {m: c for m, c in body.items() if index not in indices_of(m)}
        inner = {m: c for m, c in body.items() if index in indices_of(m)}
        if not inner and name == "max":
            return outer
        if not inner:
            inner, outer = body, {}
        factor = constant(1)
        if name == "max":
            factor = self.scale(inner, index)
            inner = times(inner, self.power(factor, Fraction(-1)))
            ((mono, c), *more) = inner.items()
            if c == 1 and not more and all(atom[0] == "exp" for atom, _ in mono):
                top = self.line(name, {atom[1]: p for atom, p in mono}, index, size)
                return plus(times(factor, self.exp(top)), outer)  # e^x grows with x
        return plus(times(factor, single(self.named_line(name, inner, index, size))), outer)

    def scale(self, inner: Poly, index: str, strict: bool = False) -> Poly:
        """The common factor ≥ 0, or > 0, of the terms along a line."""
        shared = frozenset.intersection(
            *(
                frozenset(
                    (a, p)
                    for a, p in mono
                    if self.is_positive(a)
                    and index not in indices(a)
                    and (not strict or self.is_filled(a))
                )
                for mono in inner
            )
        )
        return scaled({shared: Fraction(1)}, min(abs(c) for c in inner.values()))

    def named_line(self, name: str, inner: Poly, index: str, size: Form) -> Atom:
        """A function of a line, its index named by its depth."""
        deep = 1 + max((height(a) for mono in inner for a, _ in mono), default=0)
        new = f"_{deep}a"
        items = renamed_items(inner.items(), {index: variable(new)})
        whole = only_place([a for mono, _ in items for a, _ in mono if new in indices(a)], new)
        if name != "argmax" and whole is not None and self.permuted.get(whole[1]) == size:
            back = {new: place(whole[1], variable(new), 1 - whole[2])}
            items = renamed_items(items, back)  # the largest of permuted entries is the largest
        return ("line", name, (new, size), items)

    # ---- the difference --------------------------------------------------------------------

    def vanishes(self, difference: Poly) -> None:
        """Follow the trace until the difference is 0."""
        left: Poly | None = self.signed(difference)
        while left is not None:
            left = self.simplified(left)

    def simplified(self, left: Poly) -> Poly | None:
        """The difference behind the next step, None where that ends the proof."""
        rules = ("meet", "prefix", "sign", "logarithm", "zero")
        step = self.take(rules, text_of(left), left)
        match step["rule"]:
            case "sign":
                self.vanishes_by_cases(step, left)
                return None
            case "zero":
                self.settle(step, [], "0")
                if not is_zero(left):
                    raise self.wrong("the difference is not 0")
                return None
        out, needs = _OF_DIFFERENCES[step["rule"]](self, step, left)
        self.settle(step, needs, text_of(out))
        return out

    def vanishes_by_cases(self, step: Step, left: Poly) -> None:
        """Follow the trace for x ≥ 0 and for x ≤ 0."""
        found = [items for items in inside_of_sizes(left) if text_of(dict(items)) == step["x"]]
        if not found:
            raise self.wrong("there is no |x| of this x")
        self.settle(step, [], "two cases")
        for sign in (1, -1):
            self.signs[found[0]] = sign
            self.vanishes(left)
        del self.signs[found[0]]

    def factor(self, step: Step, left: Poly) -> tuple[Mono, Atom, Fraction]:
        """The term of a difference, and the factor in it, that a step speaks of."""
        terms = terms_of(left)
        mono, _ = terms[self.place_of(step, "term", terms)]
        factors = atoms_of(mono)
        return mono, *factors[self.place_of(step, "factor", factors)]

    def from_zero(self, atom: Atom, p: Fraction) -> tuple[Poly, Needs]:
        """A sum as sums that begin at 0 and whose sizes have no number added."""
        if atom[0] != "sum" or len(atom[1]) != 1 or p != 1:
            raise self.wrong("this is not a sum over one index")
        ((index, size),), body = self.opened(atom)
        found = [one for inner, _ in body for one in places_of(inner, index)]
        starts = {plus_form(one, variable(index), -1) for one in found}
        start = starts.pop() if len(starts) == 1 else None
        if start is None or index in names(start):
            raise self.wrong("the index is not moved alike everywhere")
        if names(start):  # Σ_{l<s} f(l + a) = Σ_{l<a+s} f(l) − Σ_{l<a} f(l)
            moved = renamed_mono(body, {index: plus_form(variable(index), start, -1)})
            runs = [self.new(plus_form(start, size)), self.new(start)]
            whole, less = (self.over(moved, index, new) for new in runs)
            return plus(whole, scaled(less, -1)), [(start, "the start"), (size, "the size")]
        more = dict(size).get("", 0)
        shorter = plus_form(size, number(-more))
        if start or more <= 0 or not names(shorter):
            raise self.wrong("the sum begins at 0 already")
        out = [self.over(body, index, self.new(shorter))]
        out += [self.substituted(body, {index: plus_form(shorter, number(k))}) for k in range(more)]
        return plus(*out), [(shorter, "the shorter sum")]

    def over(self, body: Mono, index: str, new: str) -> Poly:
        """A product summed over a new index in the place of another."""
        moved = renamed_mono(body, {index: variable(new)})
        return self.summed([(new, self.sizes[new])], {moved: Fraction(1)})

    def without_logarithms(self, poly: Poly) -> Poly:
        """Σ_k c_k ln p_k + t is 0, also times a common factor, where Π_k p_k^(c_k) e^t is 1."""
        groups: dict[Mono, dict[Items, Fraction]] = {}
        for mono, c in poly.items():
            logs = [atom for atom, p in mono if atom[:2] == ("fn", "ln") and p == 1]
            if len(logs) == 1:
                groups.setdefault(mono - {(logs[0], Fraction(1))}, {})[logs[0][2]] = c
        out = dict(poly)
        for factor, terms in groups.items():
            turns = lcm(*(c.denominator for c in terms.values()))
            product_ = constant(1)
            for items, c in terms.items():
                product_ = times(product_, self.power(dict(items), c * turns))
            mine = {*(factor | {(("fn", "ln", items), Fraction(1))} for items in terms)}
            if not factor:  # also with what has no logarithm in it
                plain = {m for m in poly if m not in mine and "ln(" not in mono_text(m)}
                mine |= plain
                product_ = times(product_, self.exp({m: poly[m] * turns for m in plain}))
            if is_zero(plus(product_, constant(-1))):
                out = {m: c for m, c in out.items() if m not in mine}
        if out == poly:
            raise self.wrong("the logarithms do not cancel")
        return out

    def signed(self, poly: Poly) -> Poly:
        """|x| is x where x ≥ 0 in the case at hand, or a root is taken of x anywhere."""
        if "abs(" not in text_of(poly):
            return poly
        out = []
        for mono, c in poly.items():
            done = constant(c)
            for atom, p in atoms_of(mono):
                inner = self.signed_atom(atom)
                same = inner == single(atom)
                done = times(done, settled({atom: p}) if same else self.power(inner, p))
            out.append(done)
        return plus(*out)

    def signed_atom(self, atom: Atom) -> Poly:
        """An atom, absolute values in it worked out again."""
        match atom:
            case ("fn", name, items):
                inner = self.signed(dict(items))
                return (
                    self.absolute(inner) if name == "abs" else self.some(self.applied(name, inner))
                )
            case ("exp", mono):
                return self.exp(self.signed({mono: Fraction(1)}))
            case ("poly", items):
                return self.signed(dict(items))
        return single(atom)


# ---- the rules of sums -------------------------------------------------------------------------


@dataclass(frozen=True)
class Along:
    """A sum of a product as one of its indices runs: the factors with it, and the others."""

    index: str
    size: Form
    others: Bound
    uses: Factors
    left: Mono

    @classmethod
    def of(cls, bound: Bound, factors: Factors, place: int) -> Along:
        """The sum as the index at a place runs."""
        index, size = bound[place]
        others = [pair for pair in bound if pair[0] != index]
        uses = [pair for pair in factors if index in indices(pair[0])]
        return cls(index, size, others, uses, frozenset(factors) - {*uses})

    @property
    def dependent(self) -> set[str]:
        """The other indices whose ranges depend on this one."""
        return {name for name, size in self.others if self.index in names(size)}

    def rewritten(self, value: Poly, needs: Needs) -> Rewritten:
        """What the sum over this index is, over the others."""
        return times({self.left: Fraction(1)}, value), self.others, needs


def _eliminated(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l [l = k] f(l) is f(k) for a k in the range of l, and 0 for a k outside."""
    run = Along.of(bound, factors, checker.place_of(step, "index", bound))
    atom, _ = factors[checker.place_of(step, "factor", factors)]
    value = checker.solved(atom, run.index) if atom[0] == "δ" else None
    if value is None or names(value) & run.dependent:
        raise checker.wrong("the condition does not determine the index")
    if not step["inside"]:
        below = form([*((a, -c) for a, c in value), ("", -1)])
        above = plus_form(value, run.size, -1)
        return {}, [], [(below if step["below"] else above, "outside of the range")]
    at = {run.index: value}
    out = checker.substituted(frozenset(pair for pair in factors if pair[0] != atom), at)
    left = [(name, put(size, at)) for name, size in run.others]
    checker.sizes.update(left)
    return out, left, checker.within(value, run.size)


def _counted(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l c is c times the size."""
    run = checker.along_index(step, bound, factors)
    if run.uses:
        raise checker.wrong("the index occurs")
    return run.rewritten(form_poly(run.size), [(run.size, "the size")])


def _permuted(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l f(l) is Σ_l f(π(l))."""
    run = checker.along_index(step, bound, factors)
    name, back = step["by"]
    if checker.permuted.get(name) != run.size or back not in (0, 1):
        raise checker.wrong("the index does not run through what this permutes")
    at = {run.index: place(name, variable(run.index), back)}
    return checker.substituted(frozenset(factors), at), bound, []


def _of_first(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_j [j is the first of the largest z] f(j)."""
    run = checker.along_index(step, bound, factors)
    value = checker.at_first(run.uses, run.index, run.size)
    if value is None:
        raise checker.wrong("the index does not run through the line")
    return run.rewritten(value, [(plus_form(run.size, number(-1)), "the size")])


def _by_hypothesis(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """A sum is what an assumed equation gives for it."""
    run = checker.along_index(step, bound, factors)
    inner = checker.canonical([(run.index, run.size)], dict(run.uses))
    return run.rewritten(*checker.said(step, inner))


def _of_inverses(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l a_il b_lj is [i = j]."""
    run = checker.along_index(step, bound, factors)
    ends = checker.ends(run.uses, run.index, run.size)
    if ends is None:
        raise checker.wrong("these are not a matrix and its inverse over a full range")
    return run.rewritten(checker.delta(*ends), [])


def _merged(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """A sum among the factors is opened, so that all is one sum."""
    atom, p = factors[checker.place_of(step, "factor", factors)]
    if atom[0] != "sum" or p.denominator != 1 or p < 1:
        raise checker.wrong("this factor is not a sum")
    new, inner = checker.opened(atom)
    out = times(settled({**dict(factors), atom: p - 1}), {inner: Fraction(1)})
    return out, [*bound, *new], []


def _separated(checker: Checker, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """The product of the sums over indices that have to do with one another."""
    groups = step["groups"]
    if sorted(k for group in groups for k in group) != list(range(len(bound))):
        raise checker.wrong("the groups are not all indices, each once")
    every = {name for name, _ in bound}
    out = settled({atom: p for atom, p in factors if not indices(atom) & every})
    for group in groups:
        pairs = [bound[k] for k in group]
        mine = {name for name, _ in pairs}
        inside = {atom: p for atom, p in factors if indices(atom) & mine}
        used = frozenset().union(*map(indices, inside), *(names(size) for _, size in pairs))
        if used & every - mine:
            raise checker.wrong("the groups share a factor or a range")
        out = times(out, checker.as_known(checker.canonical(pairs, inside)))
    return out, [], []


# ---- the rules of differences ------------------------------------------------------------------


def _met(checker: Checker, step: Step, left: Poly) -> tuple[Poly, Needs]:
    """[i = j] f(i) is [i = j] f(j)."""
    mono, atom, p = checker.factor(step, left)
    value = checker.solved(atom, step["index"]) if atom[0] == "δ" else None
    if value is None:
        raise checker.wrong("the condition does not determine the index")
    moved = checker.substituted(mono - {(atom, p)}, {step["index"]: value})
    return replaced(left, mono, times(moved, single(atom))), []


def _begun_at_zero(checker: Checker, step: Step, left: Poly) -> tuple[Poly, Needs]:
    """A sum as sums that begin at 0."""
    mono, atom, p = checker.factor(step, left)
    new, needs = checker.from_zero(atom, p)
    return replaced(left, mono, times(new, {mono - {(atom, p)}: Fraction(1)})), needs


def _without_logarithms(checker: Checker, step: Step, left: Poly) -> tuple[Poly, Needs]:
    """Logarithms that cancel are left out."""
    return checker.without_logarithms(left), []


def replaced(poly: Poly, mono: Mono, new: Poly) -> Poly:
    """A polynomial with another one in the place of a product."""
    return plus({m: c for m, c in poly.items() if m != mono}, scaled(new, poly[mono]))


#: What the steps make of a difference, by their rules; those by cases, and the last, end it.
_OF_DIFFERENCES: Mapping[str, Callable[[Checker, Step, Poly], tuple[Poly, Needs]]] = {
    "meet": _met,
    "prefix": _begun_at_zero,
    "logarithm": _without_logarithms,
}

#: What the steps make of a sum, by their rules.
_OF_SUMS: Mapping[str, Callable[[Checker, Step, Bound, Factors], Rewritten]] = {
    "delta": _eliminated,
    "identity": _of_inverses,
    "first": _of_first,
    "hypothesis": _by_hypothesis,
    "count": _counted,
    "permute": _permuted,
    "merge": _merged,
    "separate": _separated,
}


def range_text(size: Form) -> str:
    """The range of an index as it stands in a trace."""
    return f"0 … {form_text(size)} - 1"


def inside_of_sizes(poly: Poly) -> Iterator[Items]:
    """The x of every |x| in a polynomial that is in no sum and holds none itself."""
    for mono, _ in terms_of(poly):
        for atom, _ in atoms_of(mono):
            match atom:
                case ("fn" | "poly", *_, items):
                    inner = [*inside_of_sizes(dict(items))]
                    yield from inner
                    if atom[1] == "abs" and not inner:
                        yield items
                case ("exp", exponent):
                    yield from inside_of_sizes({exponent: Fraction(1)})


#: Row and column of an entry, whose names no letter of a statement has.
_ROW, _COLUMN = (sympy.Symbol(f"{name}·", integer=True) for name in ("row", "column"))


def _behind(low: Form, evaluated: Callable[[Form], Found], at: Form) -> Found:
    """What stands so far behind a place."""
    return evaluated(plus_form(low, at))


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _ln(inner: Poly) -> Poly:
    return single(("fn", "ln", frozenset(inner.items())))


def _atom(poly: Poly) -> Mono | None:
    """The monomial of a polynomial that is one atom."""
    if len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    return mono if c == 1 and len(mono) == 1 and next(iter(mono))[1] == 1 else None


def places_of(atom: Atom, index: str) -> Iterator[Form]:
    """The forms in entries, also in an exponent, that hold an index; refuses any other use."""
    match atom:
        case ("entry", _, *places):
            yield from (one for one in places if index in names(one))
        case ("exp", mono):
            for inner, _ in mono:
                yield from places_of(inner, index)
        case _ if index in indices(atom):
            raise Refused("a shifted index occurs outside the entries too")


def primes(value: Fraction) -> list[tuple[int, int]]:
    """The primes of a positive rational with their exponents."""
    out: list[tuple[int, int]] = []
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        if part.bit_length() > 200:
            raise Refused("a root or logarithm of a very large number")
        out += [(int(p), int(k) * sign) for p, k in flint.fmpz(part).factor()]
    return out


def power_of_number(value: Fraction, p: Fraction) -> Poly:
    """A positive rational to a power, along its primes."""
    return settled({("prime", prime): p * turns for prime, turns in primes(value)})


def form_poly(one: Form) -> Poly:
    """A linear form as a polynomial."""
    out: Poly = {}
    for atom, c in one:
        if isinstance(atom, tuple):
            raise Refused("a permuted index or a quotient as a number")
        kinds = (("index" if name[:1] == "#" else "size", name) for name in factors_of(atom))
        out = plus(out, reduce(times, map(single, kinds), constant(c)))
    return out


#: Gives quotient and remainder of two forms; None for a remainder that is not known.
Divided: TypeAlias = Callable[[Form, Form], tuple[Form, Form | None]]


def linear(index: r.Index, env: Env, divided: Divided | None = None) -> Form:
    """A SymPy index or size as a linear form; `divided` gives quotient and remainder."""
    if isinstance(index, int):
        return number(index)
    match index:
        case sympy.Integer():
            return number(int(index))
        case sympy.Symbol() if index in env:
            return env[index]
        case sympy.Symbol() if index.is_integer and index.is_nonnegative:
            return variable(index.name)
        case sympy.Add():
            return form(pair for term in index.args for pair in linear(term, env, divided))
        case sympy.Mul(args=(sympy.core.numbers.Half(), sympy.Symbol(name=name))):
            raise Half(name)
        case sympy.Mul():
            factors = (linear(factor, env, divided) for factor in index.args)
            return reduce(times_form, factors, number(1))
        case sympy.floor() if divided:
            above, below = index.args[0].as_numer_denom()
            quotient, _ = divided(linear(above, env, divided), linear(below, env, divided))
            return quotient
        case sympy.Mod() if divided:
            _, rest = divided(*(linear(part, env, divided) for part in index.args))
            if rest is None:
                raise Refused("a remainder that is not known")
            return rest
        case IndexNumber():
            return linear(index.args[0], env, divided)
    raise Refused(f"the index {str(index)[:60]} is not linear")


def _is_number(one: Form) -> bool:
    return all(not atom for atom, _ in one)


_TERM = re.compile(r"([+-]?)(\d{0,6})([A-Za-zα-ωΑ-Ω#+_]\S*)?")


def read_form(text: str) -> Form:
    """A linear form from a trace: n - #3 - 1."""
    out: list[tuple[Term, int]] = []
    for word in text.replace(" - ", " -").replace(" + ", " ").split(" "):
        found = _TERM.fullmatch(word)
        if found is None or not (found[2] or found[3]):
            raise Refused(f"{quote(text)} is not a linear form")
        c = int(found[2] or 1)
        atom = found[3] or ""
        if "" in atom.split("·")[1:] or any(f[:1].isdigit() for f in factors_of(atom)):
            raise Refused(f"{quote(text)} is not a linear form")
        out.append(("·".join(sorted(factors_of(atom))), -c if found[1] == "-" else c))
    return form(out)


# ---- the statement ---------------------------------------------------------------------------


#: Steps of a derivation: letters, and the expressions that they stand for.
Named: TypeAlias = tuple[tuple[str, sympy.Basic], ...]


@dataclass(frozen=True)
class Goal:
    """A statement to be proven: two sides, equations, positive letters, permutations.

    A side is an expression; the steps of a derivation are letters that stand for one.
    """

    left: sympy.Basic
    right: sympy.Basic
    where: tuple[Pair, ...] = ()
    positive: tuple[str, ...] = ()
    permuting: tuple[str, ...] = ()
    steps: tuple[Named, Named] = ((), ())
    #: The case of sizes that is looked at: what each is in terms of others.
    sizes: tuple[tuple[sympy.Expr, sympy.Expr], ...] = ()

    def lines(self, data: Mapping[str, Data], sign: str = "=") -> Iterator[str]:
        """The statement in lines: texts as they were written, how letters are read."""

        def words(one: Mapping[str, Data], meaning: sympy.Basic) -> str:
            steps = "".join(f"{name} := {decoded(expr)}; " for name, expr in one.get("steps", ()))
            return str(one.get("text") or f"{steps}{meaning}")

        yield f"{words(data['left'], self.left)} {sign} {words(data['right'], self.right)}"
        for (one, other), (left, right) in zip(data["where"], self.where, strict=True):
            yield f"where {words(one, left)} = {words(other, right)}"
        for names_, kind in ((self.positive, "positive"), (self.permuting, "a permutation")):
            if names_:
                yield f"{', '.join(names_)} {kind}"
        read_as = [f"{name} {shape}" for name, shape in data["letters"]]
        if read_as:
            yield f"read as {', '.join(read_as)}"

    @property
    def parts(self) -> list[sympy.Basic]:
        """All expressions: sides, equations and steps."""
        equations = [side for pair in self.where for side in pair]
        return [self.left, self.right, *equations, *(e for s in self.steps for _, e in s)]

    def check_letters(self) -> None:
        """Refuse letters of two shapes, products that do not fit, equations about steps."""
        shapes: dict[str, tuple[sympy.Expr, sympy.Expr]] = {}
        for part in self.parts:
            if isinstance(part, MatrixExpr):
                check_shapes(part, "the statement")
            for letter in part.atoms(sympy.MatrixSymbol):
                if shapes.setdefault(letter.name, letter.shape) != letter.shape:
                    raise Refused(f"{letter.name} has two shapes")
        for node in {node for part in self.parts for node in part.atoms(*_BINDING)}:
            index, body = node.index, node.args[0]
            if index != HEAD or any(other.index == index for other in body.atoms(*_BINDING)):
                raise Refused("a sum over heads, or a matrix of them, within another")
        assumed = {s.name for pair in self.where for x in pair for s in x.atoms(sympy.MatrixSymbol)}
        for node in {node for part in self.parts for node in part.atoms(Slope)}:
            held = assumed | {*self.permuting} | {name for steps in self.steps for name, _ in steps}
            if not isinstance(node.letter, sympy.MatrixSymbol) or node.letter.name in held:
                raise Refused("a derivative with respect to something that is not free")
            if tuple(node.expr.shape) != (1, 1):
                raise Refused("a derivative of something that is not a number")
        if assumed & {name for steps in self.steps for name, _ in steps}:
            raise Refused("an equation about a step")

    def put(self, values: Mapping[sympy.Basic, sympy.Basic]) -> Goal:
        """The goal with numbers and sizes put in."""

        def at(one: sympy.Basic) -> sympy.Basic:
            return one.xreplace(dict(values))

        one, other = (tuple((n, at(e)) for n, e in steps) for steps in self.steps)
        where = tuple((at(a), at(b)) for a, b in self.where)
        return replace(
            self, left=at(self.left), right=at(self.right), where=where, steps=(one, other)
        )

    def in_case(self, case: Mapping[sympy.Expr, sympy.Expr]) -> Goal:
        """The goal in one case of sizes."""
        return replace(self.put(case), sizes=(*self.sizes, *case.items()))


#: The nodes that bind the index of a head.
_BINDING = (Concat, GroupSum, HeadSum)

#: The functions and operations that an expression in a certificate may be made of.
_MADE_OF: Mapping[str, type[sympy.Basic]] = {
    **{node.__name__: node for node in NODES},
    **{
        kind.__name__: kind
        for kind in (
            sympy.Add,
            sympy.Mul,
            sympy.Pow,
            sympy.exp,
            sympy.log,
            sympy.Abs,
            sympy.tanh,
            sympy.cos,
            sympy.sin,
            Slope,
            sympy.floor,
            sympy.ceiling,
            sympy.Mod,
            sympy.Min,
            sympy.Max,
            sympy.Le,
            sympy.Eq,
            sympy.And,
            sympy.Or,
            sympy.Not,
            sympy.MatAdd,
            sympy.MatMul,
            sympy.MatPow,
            sympy.Transpose,
            sympy.Inverse,
            sympy.HadamardProduct,
            sympy.Identity,
            sympy.OneMatrix,
            sympy.ZeroMatrix,
        )
    },
}
_ATOMS: Mapping[str, sympy.Expr] = {"e": sympy.E, "π": sympy.pi, "-∞": -sympy.oo}
_SYMBOLS: Mapping[str, Mapping[str, bool]] = {
    "size": {"integer": True, "positive": True},
    "index": {"integer": True},
    "positive": {"positive": True},
    "real": {"real": True},
    "word": {},
}


def encoded(one: sympy.Basic) -> Data:
    """An expression as lists of texts. Raises `Refused` for what a certificate cannot hold."""
    if isinstance(one, sympy.MatrixSymbol):
        return ["letter", one.name, *map(encoded, one.shape)]
    if isinstance(one, sympy.Symbol):
        given = {"integer": one.is_integer, "positive": one.is_positive, "real": one.is_real}
        for kind, facts in _SYMBOLS.items():
            if sympy.Symbol(one.name, **facts) == one:
                return [kind, one.name]
        raise Refused(f"a symbol with {given} is not covered")
    if isinstance(one, sympy.Rational):
        return str(one)
    for name, value in _ATOMS.items():
        if one is value:
            return ["atom", name]
    name = type(one).__name__
    if _MADE_OF.get(name) is not type(one) and not isinstance(one, sympy.exp):
        raise Refused(f"{name} has no place in a certificate")
    return [name, *map(encoded, one.args)]


_FRACTION = re.compile(r"-?[0-9]{1,60}(/[0-9]{1,60})?")


_MOST_NAME, _NAME = 60, re.compile(r"[^\W\d_][\w']*")


def decoded(data: Data) -> sympy.Basic:
    """An expression of a certificate. Raises `Refused` for what is none."""
    if isinstance(data, str) and _FRACTION.fullmatch(data) and not data.endswith("/0"):
        return sympy.Rational(data)
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise Refused(f"{quote(data)} is not an expression")
    kind, *parts = data
    if kind in (*_SYMBOLS, "letter"):
        named = parts and isinstance(parts[0], str) and len(parts[0]) <= _MOST_NAME
        if not named or (kind != "word" and not _NAME.fullmatch(parts[0])):
            raise Refused(f"{quote(data)} is not a letter")
    if kind in _SYMBOLS:
        return sympy.Symbol(parts[0], **_SYMBOLS[kind])
    if kind == "atom" and parts[0] in _ATOMS:
        return _ATOMS[parts[0]]
    if kind == "letter" and len(parts) == 3:
        return sympy.MatrixSymbol(parts[0], *map(decoded, parts[1:]))
    if kind not in _MADE_OF:
        raise Refused(f"{quote(kind)} is not a function here")
    args = [decoded(part) for part in parts]
    if kind == "Pow" and not (isinstance(args[1], sympy.Rational) and abs(args[1]) <= MOST_POWER):
        raise Refused("a power is too large")
    return _MADE_OF[kind](*args)


def read_size(text: str) -> sympy.Expr:
    """A size in the reading of a letter: n, 3, n + p."""
    out = sympy.S.Zero
    for name, c in read_form(text):
        if name and not _NAME.fullmatch(name):
            raise Refused(f"{quote(name)} is not a size")
        size = symbol_of_size(name) if name else sympy.S.One
        out = sympy.Add(out, sympy.Mul(c, size))
    return out


def goal_of(data: Mapping[str, Data]) -> Goal:
    """The statement of a certificate, read again."""
    letters: dict[str, tuple[sympy.Expr, sympy.Expr] | None] = {}
    values: dict[str, sympy.Expr] = {}
    for name, text in data["letters"]:
        if " × " in text:
            rows, _, columns = text.partition(" × ")
            letters[name] = (read_size(rows), read_size(columns))
        elif text == "the constant":
            values[name] = CONSTANTS[name]
        elif text.startswith("= "):
            values[name] = read_size(text[2:])
        elif text == "a number" and name in data["declared"]:
            letters[name] = None
    positive = tuple(data["positive"])

    def side(one: Mapping[str, Data]) -> tuple[sympy.Basic, tuple[sympy.Expr, ...] | None, Named]:
        if "text" in one:
            spare = [(read_size(a), read_size(b)) for a, b in one["spare"]]
            writer = Writer(letters, values, spare, positive)
            declared = [name for name, text in data["letters"] if name in data["declared"]]
            return (*writer.build(read(one["text"], declared, words())), ())
        steps = tuple((name, decoded(expr)) for name, expr in one.get("steps", ()))
        value = decoded(one["expr"])
        return value, tuple(value.shape) if isinstance(value, MatrixExpr) else None, steps

    def pair(one: Data, other: Data) -> tuple[sympy.Basic, sympy.Basic, tuple[Named, Named]]:
        (left, a, before), (right, b, after) = side(one), side(other)
        shape = together([a, b])
        for own in (a, b):
            if own not in (None, shape, (1, 1)) and "text" not in one:
                raise Refused("the shapes differ")
        return spread(left, a, shape), spread(right, b, shape), (before, after)

    left, right, steps = pair(data["left"], data["right"])
    where = tuple(pair(one, other)[:2] for one, other in data["where"])
    goal = Goal(left, right, where, positive, tuple(data["permuting"]), steps)
    goal.check_letters()
    return goal


# ---- checking --------------------------------------------------------------------------------


#: A goal with definitions put in, what letters stand for, which are orthonormal, what is known.
Used: TypeAlias = tuple[
    Goal, dict[str, MatrixExpr], list[tuple[sympy.MatrixSymbol, bool]], list[Pair]
]


def used(goal: Goal, uses: Iterable[Data]) -> Used:
    """The goal with what equations define put in; letters that stand for an expression.

    Also the matrices that are orthonormal and the equations about sums. Raises `Refused` where an
    equation is none of the kind that it is used as.
    """
    means: dict[str, MatrixExpr] = {}
    units: list[tuple[sympy.MatrixSymbol, bool]] = []
    known: list[Pair] = []
    for kind, k, flipped in uses:
        one, other = goal.where[k][:: -1 if flipped else 1]
        letter, meaning = meant(kind, one, other, means)
        match kind:
            case "number":
                goal = goal.put({letter: meaning})
            case "orthonormal":
                units.append((letter, meaning))
            case "known":
                known.append((one, other))
            case _:
                means[letter.name] = meaning
    return goal, means, units, known


def meant(
    kind: str, one: sympy.Basic, other: sympy.Basic, means: Mapping[str, MatrixExpr]
) -> tuple[sympy.Basic, Any]:
    """The letter that an equation is about, and what it says of it as this kind of equation.

    A number or a letter is the other side, a mirror ±Aᵀ is half of a free letter ± its transpose,
    and of an orthonormal letter the columns are, or the rows. `means` are the letters that are
    defined already. Raises `Refused` where the equation is none of this kind.
    """
    match kind:
        case "number" if isinstance(one, sympy.Symbol) and not isinstance(other, MatrixExpr):
            if one in other.free_symbols or (one.is_integer and not other.is_integer):
                raise Refused(f"{one} is not defined by this equation")
            if one.is_integer and not other.is_positive:
                raise Refused(f"{one} would not be a size")
            return one, other
        case "letter" if isinstance(one, sympy.MatrixSymbol | sympy.Transpose):
            letter = one.arg if isinstance(one, sympy.Transpose) else one
            if not isinstance(letter, sympy.MatrixSymbol) or not _same_shape(one, other):
                raise Refused("this equation defines no letter")
            value = sympy.Transpose(other) if isinstance(one, sympy.Transpose) else other
            if letter.name in means or letter.name in _reached(value, means):
                raise Refused(f"{letter.name} is defined twice, or in terms of itself")
            return letter, value
        case "mirror" if isinstance(one, MatrixExpr):
            turned = one if isinstance(one, sympy.Transpose) else sympy.Transpose(one)
            letter = turned.arg
            plain = letter if turned is one else turned
            signs = {plain: 1, sympy.MatMul(-1, plain): -1}
            square = isinstance(letter, sympy.MatrixSymbol) and letter.shape[0] == letter.shape[1]
            if not square or other not in signs or letter.name in means:
                raise Refused("this equation makes no letter symmetric")
            free = sympy.MatrixSymbol(f"{letter.name}°", *letter.shape)
            half = sympy.MatAdd(free, sympy.MatMul(signs[other], sympy.Transpose(free)))
            return letter, sympy.MatMul(sympy.S.Half, half)
        case "orthonormal" if isinstance(one, sympy.MatMul) and len(one.args) == 2:
            a, b = one.args
            letter = b if isinstance(a, sympy.Transpose) else a
            turned = sympy.Transpose(letter)
            about = isinstance(letter, sympy.MatrixSymbol) and isinstance(other, sympy.Identity)
            if not about or (a, b) not in ((turned, letter), (letter, turned)):
                raise Refused("this equation makes no letter orthonormal")
            return letter, b is letter
        case "known":
            return one, other
    raise Refused(f"an equation cannot be used as a {kind}")


def _same_shape(one: sympy.Basic, other: sympy.Basic) -> bool:
    return isinstance(other, MatrixExpr) and tuple(one.shape) == tuple(other.shape)


def _reached(value: sympy.Basic, means: Mapping[str, MatrixExpr]) -> set[str]:
    """The letters in an expression, those that others stand for included."""
    found: set[str] = set()
    left = [value]
    while left:
        for symbol in left.pop().atoms(sympy.MatrixSymbol):
            if symbol.name not in found:
                found.add(symbol.name)
                left += [means[symbol.name]] if symbol.name in means else []
    return found


def opaque(expr: sympy.Basic, letters: dict[MatrixExpr, sympy.MatrixSymbol]) -> sympy.Basic:
    """An expression whose functions are letters, of which nothing but the shape is used."""
    match expr:
        case sympy.MatrixSymbol() | sympy.Identity() | sympy.OneMatrix() | sympy.ZeroMatrix():
            return expr
        case sympy.MatMul() | sympy.MatAdd() | sympy.HadamardProduct():
            return expr.func(
                *(opaque(a, letters) if isinstance(a, MatrixExpr) else a for a in expr.args)
            )
        case sympy.Transpose() | sympy.Inverse():
            return expr.func(opaque(expr.arg, letters))
        case Quotient() | LineSum():
            return expr.func(opaque(expr.args[0], letters), *expr.args[1:])
        case Node() if isinstance(expr, Normaliser | Exponential) or not expr.has(*_MAY_BE_HIDDEN):
            return letters.setdefault(
                expr, sympy.MatrixSymbol(f"⟨{len(letters) + 1}⟩", *expr.shape)
            )
    if isinstance(expr, MatrixExpr):
        raise Refused(f"{type(expr).__name__} is not a letter")
    return expr


_MAY_BE_HIDDEN = (*MASKS.values(), Masked, Allowed, AnyOf, LineDifference, RowMax, Head)


@dataclass(frozen=True)
class Run:
    """The check of one case of sizes: the goal in it, the checker, and the cofactors' terms."""

    goal: Goal
    checker: Checker
    added: tuple[tuple[sympy.Expr, Pair], ...]

    def compare(self, known: Goal, i: Form, j: Form) -> None:
        """Check entry (i, j) of the goal's sides, definitions being put in."""
        checker, sides = self.checker, []
        for side, steps in zip((known.left, known.right), known.steps, strict=True):
            with checker.inside(means={**checker.here.means, **dict(steps)}, noting=True):
                sides.append(checker.entry(side, i, j))
        if None in sides:
            if sides != [None, None]:
                raise Refused("one side alone is −∞")
            return
        left, right = map(checker.some, sides)
        more = [self.cofactor(c, pair, i, j) for c, pair in self.added]
        checker.vanishes(plus(left, scaled(right, -1), *(scaled(one, -1) for one in more)))

    def cofactor(self, c: sympy.Expr, sides: Pair, i: Form, j: Form) -> Poly:
        """Entry (i, j) of c (u L v − u R v), where c has a value."""
        checker = self.checker
        before = checker.partial
        one, other = (checker.some(checker.entry(side, i, j)) for side in sides)
        checker.partial = False
        out = times(checker.scalar(c), plus(one, scaled(other, -1)))
        if checker.partial:
            raise Refused("a cofactor divides by what may be 0")
        checker.partial = before
        return out


class Replay:
    """The check of one proof: cases of sizes, entries, and what equations are used for."""

    checker: type[Checker] = Checker

    def __init__(self, goal: Goal, uses: Sequence[Data], letters_only: bool) -> None:
        self.uses, self.runs = uses, list[Run]()
        self.letters: dict[MatrixExpr, sympy.MatrixSymbol] | None = {} if letters_only else None
        left, right = self.plain(goal.left), self.plain(goal.right)
        where = tuple((self.plain(a), self.plain(b)) for a, b in goal.where)
        self.goal = replace(goal, left=left, right=right, where=where)
        #: What cofactors may be made of, beside letters: it has a value where the sides have one.
        self.given = {one for side in (left, right) for one in sympy.preorder_traversal(side)}
        used = [left.atoms(sympy.MatrixSymbol), right.atoms(sympy.MatrixSymbol)]
        letters = set(self.letters.values()) if self.letters else set()
        self.partial = bool(letters and used[0] & letters != used[1] & letters)

    def is_whole(self, expr: sympy.Basic) -> bool:
        """Whether a cofactor has a value wherever the sides have one."""
        match expr:
            case sympy.MatrixSymbol() | sympy.Identity() | sympy.OneMatrix():
                return True
            case sympy.MatMul() | sympy.MatAdd() | sympy.Transpose():
                matrices = [arg for arg in expr.args if isinstance(arg, MatrixExpr)]
                numbers = [arg for arg in expr.args if not isinstance(arg, MatrixExpr)]
                return all(map(self.is_whole, matrices)) and all(n.is_Rational for n in numbers)
        return expr in self.given

    def plain(self, expr: sympy.Basic) -> sympy.Basic:
        """An expression, its functions being letters where that is all that is used of them."""
        return expr if self.letters is None else opaque(expr, self.letters)

    def check(self, proof: Data, goal: Goal, depth: int = 0) -> None:
        """Check a proof: of the entries, or of all cases of which of two sizes is larger."""
        if depth > 8:
            raise Refused("too many cases of sizes")
        if proof.get("same"):
            if goal.left != goal.right or goal.steps[0] != goal.steps[1]:
                raise Refused("the sides are not the same expression")
            return
        if "even" in proof:
            size = read_size(proof["even"])
            turned = {node.dims for part in goal.parts for node in part.atoms(Rotary)}
            if size not in turned or not isinstance(size, sympy.Symbol):
                raise Refused("no rotation has this width, so nothing requires it to be even")
            self.partial = True
            self.check(proof["half"], goal.put(halved(size)), depth + 1)
            return
        if "split" in proof:
            size, least = read_size(proof["split"]), read_size(proof["least"])
            found = cases(size, least, depth)
            for case, inner in zip(found, proof["cases"], strict=True):
                self.check(inner, goal.in_case(case), depth + 1)
            return
        self.entries(self.checker(proof["steps"], goal.positive), goal, proof["cofactors"])

    def entries(self, checker: Checker, goal: Goal, cofactors: Sequence[Data]) -> None:
        """Check entry (i, j) of both sides for all i and j."""
        known, means, units, sums = used(goal, self.uses)
        checker.permuted.update(permutations_in(known))
        checker.units.update(
            pair for letter, columns in units for pair in inverses(letter, columns)
        )
        shapes = [side.shape for side in (known.left, known.right) if isinstance(side, MatrixExpr)]
        shape = shapes[0] if shapes else (1, 1)
        if any(tuple(other) != tuple(shape) for other in shapes):
            raise Refused("the shapes differ")
        added = tuple(
            (decoded(c), self.product_of(known, u, relation, v, shape))
            for c, u, relation, v in cofactors
        )
        run = Run(goal, checker, added)
        self.runs.append(run)
        rows, columns = (linear(size, {}) for size in shape)
        with checker.inside(means=means, known=tuple(sums)):
            checker.in_parts(
                rows, lambda i: checker.in_parts(columns, lambda j: run.compare(known, i, j))
            )
        checker.finish()
        self.partial |= checker.partial

    def product_of(
        self, goal: Goal, u: Data, relation: Data, v: Data, shape: tuple[sympy.Expr, ...]
    ) -> Pair:
        """Both sides of u L v = u R v for an assumed L = R, or for what an inverse is."""
        kind, which, turned = relation
        match kind:
            case "equation":
                one, other = goal.where[which]
            case "around":
                one, other = turned_around(goal.where[which[0]], which[1])
            case "inverse" | "inverse left":
                base = self.plain(decoded(which))
                if sympy.Inverse(base) not in self.given:
                    raise Refused(
                        "a cofactor contains something that does not occur in the statement"
                    )
                factors = [base, sympy.Inverse(base)]
                one = sympy.MatMul(*(factors if kind == "inverse" else factors[::-1]))
                other = sympy.Identity(base.shape[0])
            case _:
                raise Refused(f"{quote(kind)} is not a relation")
        if not isinstance(one, MatrixExpr) or not _same_shape(one, other):
            raise Refused("this is not an equation of matrices")
        if turned:
            one, other = sympy.Transpose(one), sympy.Transpose(other)
        around = [self.plain(decoded(part)) if part else None for part in (u, v)]
        for part in around:
            if part is not None and not self.is_whole(part):
                raise Refused("a cofactor contains something that does not occur in the statement")
        out = []
        for middle in (one, other):
            factors = [f for f in (around[0], middle, around[1]) if f is not None]
            for a, b in pairwise(factors):
                if a.shape[1] != b.shape[0]:
                    raise Refused("the cofactors do not fit")
            if (factors[0].shape[0], factors[-1].shape[1]) != tuple(shape):
                raise Refused("the cofactors do not fit")
            out.append(sympy.MatMul(*factors) if len(factors) > 1 else factors[0])
        return out[0], out[1]


def permutations_in(goal: Goal) -> Iterator[tuple[str, Form]]:
    """The letters of permutation matrices, and how many things each permutes."""
    sides = [goal.left, goal.right, *(one for pair in goal.where for one in pair)]
    for letter in {letter for side in sides for letter in side.atoms(sympy.MatrixSymbol)}:
        if letter.name in goal.permuting:
            rows, across = (linear(size, {}) for size in letter.shape)
            if rows != across:
                raise Refused(f"{letter.name} is not square, so it is not a permutation matrix")
            yield letter.name, rows


def inverses(letter: sympy.MatrixSymbol, columns: bool) -> Iterator[tuple[Unit, Form]]:
    """Which products of an orthonormal letter and its transpose are I, and the range summed."""
    rows, width = (linear(size, {}) for size in letter.shape)
    name = letter.name
    yield (name, columns, name, not columns), rows if columns else width
    if rows == width:
        yield (name, not columns, name, columns), rows


def turned_around(equation: Pair, cut: int) -> Pair:
    """Of A B = I with square A and B, B A = I too: a left inverse is a right inverse."""
    one, other = equation
    coefficient, factors = one.as_coeff_matrices() if isinstance(one, sympy.MatMul) else (0, [])
    sides = {
        size for factor in (*factors[:1], *factors[cut : cut + 1]) for size in factor.shape[:1]
    }
    sides |= {factors[cut - 1].shape[1]} if 0 < cut < len(factors) else {None}
    if coefficient != 1 or not isinstance(other, sympy.Identity) or len(sides) != 1:
        raise Refused("the factors of this product cannot be reversed")
    return sympy.MatMul(*factors[cut:], *factors[:cut]), other


def halved(size: sympy.Symbol) -> dict[sympy.Symbol, sympy.Expr]:
    """An even size as twice another."""
    return {size: sympy.Mul(2, symbol_of_size(f"{size.name}½"))}


def cases(size: sympy.Expr, least: sympy.Expr, depth: int) -> list[dict[sympy.Expr, sympy.Expr]]:
    """All cases of a size: it is at least another size, or a number, or it is less."""
    more = sympy.Symbol(f"+{depth}", integer=True, nonnegative=True)
    above = {size: sympy.Add(least, more)}
    if not isinstance(size, sympy.Symbol) or size == least:
        raise Refused("the cases are not those of a size")
    if isinstance(least, sympy.Symbol):
        return [above, {least: sympy.Add(size, 1, more)}]
    if not isinstance(least, sympy.Integer) or not 1 <= least <= 12:
        raise Refused("the cases are too many")
    return [above, *({size: sympy.Integer(k)} for k in range(1, int(least)))]


def check(data: Data) -> Goal:
    """The statement that a certificate proves.

    Raises `Refused` where it proves none, `ReadError` for data that is no certificate.
    """
    check_limits(data)
    if not isinstance(data, dict) or data.get("certificate") != 1:
        raise ReadError("this is not a certificate")
    return replayed(data)


def replayed(data: Data) -> Goal:
    """As `check`, of a certificate from here, however large it is."""
    try:
        goal = goal_of(data["statement"])
        replay = Replay(goal, data["uses"], data["letters_only"])
        replay.check(data["proof"], replay.goal)
        if replay.partial is not data["partial"]:
            raise Refused("what it says about where both sides are defined is wrong")
    except (Refused, Spent):
        raise
    except (SymattnError, KeyError, TypeError, ValueError, IndexError, AttributeError) as trouble:
        raise Refused(f"it cannot be read: {type(trouble).__name__}: {trouble}"[:200]) from None
    except (RecursionError, ArithmeticError, NotImplementedError) as trouble:
        raise Refused(f"it cannot be replayed: {type(trouble).__name__}") from None
    return goal


def storable(data: Data) -> Data:
    """A certificate from here, None where it is too large to be read again from a file."""
    try:
        check_limits(data)
    except ReadError:
        return None
    return data


def check_limits(data: Data) -> None:
    """Refuse data that is too deep, too large, or holds something but texts and small numbers."""
    left, count = [(data, 0)], 0
    while left:
        one, depth = left.pop()
        count += 1
        if depth > MOST_DEPTH or count > MOST_VALUES:
            raise ReadError("the certificate is too large")
        match one:
            case dict():
                left += [(part, depth + 1) for part in (*one, *one.values())]
            case list():
                left += [(part, depth + 1) for part in one]
            case str() if len(one) > MOST_LENGTH:
                raise ReadError("a text in it is too long")
            case int() if abs(one) > 10**9:
                raise ReadError("a number in it is too large")
            case str() | int() | None:
                pass
            case _:
                raise ReadError(f"{quote(one)} has no place in a certificate")
