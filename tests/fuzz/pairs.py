"""``python -m tests.fuzz.pairs --count 2000 --seed 0``: random pairs of terms, true and false.

A random term gets a partner: by laws of algebra (true, mostly), by a slip (false, mostly), or one
that has nothing to do with it. NumPy judges which are equal, at several sizes and draws, with 60
digits where floats leave a doubt; then `symattn.equal` is asked. The table counts; every false
acceptance and refutation is listed. The same seed gives the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np

from tests.fuzz import asking, terms
from tests.fuzz.asking import Question
from tests.fuzz.terms import (
    DIGITS,
    FLOATS,
    Loose,
    Shape,
    Term,
    add,
    anchored,
    below,
    beside,
    divided,
    entrywise,
    function,
    inverse,
    letter,
    mask,
    multiple,
    ones,
    product,
    subtract,
    turned,
    unit,
)

_T = TypeVar("_T")

_SIZES = ("n", "m", "p", "r")
_CAPITALS, _SMALL = "ABCDSVXYZ", "abcgu"
_ENTRYWISE = ("exp", "tanh", "σ", "relu", "abs", "cos", "sin")
_LONGEST = 260

#: Letters of which something is assumed.
_SPECIAL = {
    "P": "permutation",
    "M": "square",
    "R": "orthonormal",
    "E": "projection",
    "H": "symmetric",
    "J": "skew",
    "F": "commuting",
    "G": "commuting",
}


class Maker:
    """Random terms over letters that keep their sizes."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.known: dict[str, Term] = {}

    def pick(self, options: Sequence[_T]) -> _T:
        """One of these."""
        return options[int(self.random.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        """True so often."""
        return bool(self.random.random() < probability)

    def letter(self, shape: Shape, fresh: bool = False) -> Term:
        """A letter of this shape, an old one rather than a new one."""
        old = [one for one in self.known.values() if one.shape == shape and one.kind == "plain"]
        if old and not fresh and self.chance(0.6):
            return self.pick(old)
        names = _SMALL if 1 in shape else _CAPITALS
        free = [name for name in names if name not in self.known]
        if not free:
            if not old:
                raise Loose
            return self.pick(old)
        kind = "positive" if self.chance(0.08) else "plain"
        return self.learn(letter(self.pick(free), *shape, kind))

    def learn(self, one: Term) -> Term:
        """A letter that keeps its size from now on."""
        return self.known.setdefault(one.name, one)

    def special(self, shape: Shape) -> Term:
        """A letter of a square or tall shape of which something is assumed."""
        name = self.pick("PPMMRREHJFG")
        if shape[0] != shape[1]:
            name = "R"
        if name == "R" and shape == ("n", "m"):
            shape = ("w", "p")
        found = self.learn(letter(name, *shape, _SPECIAL[name]))
        if found.shape != shape:
            return self.letter(shape)
        return found

    def size(self) -> str:
        """The name of a size."""
        return str(self.pick(_SIZES))

    def term(self, shape: Shape, depth: int) -> Term:
        """A random term of this shape."""
        square = shape[0] == shape[1]
        if depth <= 0 or self.chance(0.1):
            return self.special(shape) if square and self.chance(0.4) else self.letter(shape)
        if 1 in shape:
            return self._vector(shape, depth)
        ways: tuple[Callable[[Shape, int], Term], ...] = (
            self._sum,
            self._sum,
            self._product,
            self._product,
            self._product,
            self._hadamard,
            self._turned,
            self._multiple,
            self._function,
            self._softmax,
            self._softmax,
            self._masked,
            self._scaled,
            self._blocks,
            self._outer,
            self._square if square else self._product,
            self._framed,
        )
        return self.pick(ways)(shape, depth)

    def _vector(self, shape: Shape, depth: int) -> Term:
        rows, columns = shape
        inner = self.size()
        if columns == 1:
            ways: tuple[Callable[[], Term], ...] = (
                lambda: function("rowsum", self.term((rows, inner), depth - 1)),
                lambda: product(self.term((rows, inner), depth - 1), ones(inner)),
                lambda: product(self.term((rows, inner), depth - 1), self.letter((inner, 1))),
                lambda: function(self.pick(_ENTRYWISE), self.letter(shape)),
                lambda: function("rowmean", self.term((rows, inner), depth - 1)),
            )
            return self.pick(ways)()
        ways = (
            lambda: function("colsum", self.term((inner, columns), depth - 1)),
            lambda: turned(self._vector((columns, 1), depth - 1)),
            lambda: function("softmax", self.letter(shape)),
        )
        return self.pick(ways)()

    def _sum(self, shape: Shape, depth: int) -> Term:
        made = self.pick((add, subtract))
        return made(self.term(shape, depth - 1), self.term(shape, depth - 2))

    def _product(self, shape: Shape, depth: int) -> Term:
        inner = self.pick((*_SIZES, shape[0], shape[1]))
        return product(
            self.term((shape[0], inner), depth - 1), self.term((inner, shape[1]), depth - 2)
        )

    def _hadamard(self, shape: Shape, depth: int) -> Term:
        return entrywise(self.term(shape, depth - 1), self.term(shape, depth - 2))

    def _turned(self, shape: Shape, depth: int) -> Term:
        return turned(self.term((shape[1], shape[0]), depth - 1))

    def _multiple(self, shape: Shape, depth: int) -> Term:
        number = self.pick((*map(Fraction, (2, 3, -1)), Fraction(1, 2), Fraction(-2, 3)))
        return multiple(number, self.term(shape, depth - 1))

    def _function(self, shape: Shape, depth: int) -> Term:
        name = self.pick(_ENTRYWISE)
        return function(name, self.term(shape, min(depth - 1, 1 if name == "exp" else 9)))

    def _softmax(self, shape: Shape, depth: int) -> Term:
        name = self.pick(("softmax", "softmax", "softmax", "colsoftmax", "softmax1"))
        return function(name, self.term(shape, min(depth - 1, 2)))

    def _masked(self, shape: Shape, depth: int) -> Term:
        if self.chance(0.5):
            return function("softmax", add(self.term(shape, min(depth - 1, 1)), mask(*shape)))
        return entrywise(function("exp", mask(*shape)), self.term(shape, depth - 1))

    def _scaled(self, shape: Shape, depth: int) -> Term:
        rows = self.chance(0.5)
        side = shape[0] if rows else shape[1]
        scale = function("diag", self.letter((side, 1) if self.chance(0.6) else (1, side)))
        inner = self.term(shape, depth - 1)
        return product(scale, inner) if rows else product(inner, scale)

    def _blocks(self, shape: Shape, depth: int) -> Term:
        one, other = self.size(), self.size()
        left = beside(self.term((shape[0], one), depth - 2), self.term((shape[0], other), 0))
        right = below(self.term((one, shape[1]), depth - 2), self.term((other, shape[1]), 0))
        return product(function("softmax", left) if self.chance(0.4) else left, right)

    def _outer(self, shape: Shape, depth: int) -> Term:
        return product(self.term((shape[0], 1), depth - 1), self.letter((1, shape[1])))

    def _framed(self, shape: Shape, depth: int) -> Term:
        """A term between letters of which something is assumed."""
        inner = self.term(shape, depth - 1)
        left, right = self.special((shape[0],) * 2), self.special((shape[1],) * 2)
        return product(left, inner) if self.chance(0.5) else product(inner, right)

    def _square(self, shape: Shape, depth: int) -> Term:
        found = self.learn(letter("M", *shape, "square"))
        kept = found.shape == shape
        ways: tuple[Callable[[], Term], ...] = (
            lambda: inverse(found) if kept else self.letter(shape),
            lambda: unit(shape[0]),
            lambda: product(one := self.term(shape, depth - 2), one),
            lambda: product(one := self.term((shape[0], self.size()), depth - 2), turned(one)),
            lambda: subtract(unit(shape[0]), self.term(shape, depth - 1)),
        )
        return self.pick(ways)()


# ---- laws --------------------------------------------------------------------------------------


def _regrouped(t: Term, _: Maker) -> Iterator[Term]:
    if t.op == "*":
        a, b = t.parts
        if a.op == "*":
            yield product(a.parts[0], product(a.parts[1], b))
        if b.op == "*":
            yield product(product(a, b.parts[0]), b.parts[1])
        if b.op in "+-":
            yield Term(b.op, tuple(product(a, part) for part in b.parts), t.shape)
        if a.op in "+-":
            yield Term(a.op, tuple(product(part, b) for part in a.parts), t.shape)
        if a.op == "beside" and b.op == "below" and _meet(a, b):
            yield add(*(product(x, y) for x, y in zip(a.parts, b.parts, strict=True)))


def _meet(a: Term, b: Term) -> bool:
    pairs = zip(a.parts, b.parts, strict=True)
    return all(one.shape[1] == two.shape[0] for one, two in pairs)


def _swapped(t: Term, _: Maker) -> Iterator[Term]:
    if t.op in ("+", "∘"):
        yield Term(t.op, t.parts[::-1], t.shape)
    if t.op == "-":
        yield multiple(-1, subtract(*t.parts[::-1]))
    names = {part.name for part in t.parts}
    if t.op == "*" and names == {"F", "G"}:
        yield product(*t.parts[::-1])
    if t.op == "∘" and t.parts[1].op in ("+", "-"):
        a, b = t.parts
        yield Term(b.op, tuple(entrywise(a, part) for part in b.parts), t.shape)


def _transposed(t: Term, _: Maker) -> Iterator[Term]:
    if 1 not in t.shape:
        yield turned(turned(t))
    if t.op != "T":
        return
    (a,) = t.parts
    match a.op:
        case "T":
            yield a.parts[0]
        case "*":
            yield product(turned(a.parts[1]), turned(a.parts[0]))
        case "+" | "-" | "∘":
            yield Term(a.op, tuple(map(turned, a.parts)), t.shape)
        case "inv":
            yield inverse(turned(a.parts[0]))
        case "times":
            yield multiple(a.number, turned(a.parts[0]))
        case "call" if a.name in _ENTRYWISE:
            yield function(a.name, turned(a.parts[0]))
        case "call" if a.name in ("softmax", "colsoftmax"):
            other = "colsoftmax" if a.name == "softmax" else "softmax"
            yield function(other, turned(a.parts[0]))
        case "call" if a.name in ("rowsum", "colsum"):
            other = "colsum" if a.name == "rowsum" else "rowsum"
            yield function(other, turned(a.parts[0]))
        case "letter" if a.kind == "symmetric":
            yield a
        case "letter" if a.kind == "skew":
            yield multiple(-1, a)
        case "letter" if a.kind == "permutation":
            yield inverse(a)


def _finite(t: Term) -> bool:
    """Whether no entry is −∞: a product with such entries would have 0 · −∞."""
    if t.op == "call" and t.name in ("exp", "softmax"):
        return True
    return t.op != "causal" and all(map(_finite, t.parts))


def _inserted(t: Term, maker: Maker) -> Iterator[Term]:
    if not _finite(t):
        return
    rows = t.shape[0]
    more = maker.letter(t.shape)
    yield subtract(add(t, more), more)
    yield multiple(2, multiple(Fraction(1, 2), t))
    if rows != 1:
        yield product(unit(rows), t)
        for name, other in (("M", inverse), ("P", turned), ("R", turned)):
            one = maker.learn(letter(name, rows, rows, _SPECIAL[name]))
            if one.shape == (rows, rows):
                yield product(product(other(one), one), t)
                yield product(one, product(other(one), t))
    tall = maker.learn(letter("R", "w", rows, "orthonormal")) if isinstance(rows, str) else None
    if tall is not None and tall.shape == ("w", rows):
        yield product(product(turned(tall), tall), t)


def _softened(t: Term, maker: Maker) -> Iterator[Term]:
    if t.op != "call" or t.name not in ("softmax", "colsoftmax"):
        return
    (a,) = t.parts
    rows, columns = t.shape
    if t.name == "softmax":
        if isinstance(rows, str) and isinstance(columns, str):
            yield function(
                "softmax", add(a, product(maker.letter((rows, 1)), turned(ones(columns))))
            )
        powers = function("exp", a)
        yield divided(powers, function("rowsum", powers))
        if a.op == "*" and a.parts[0].kind == "permutation":
            yield product(a.parts[0], function("softmax", a.parts[1]))
        if a.op == "*" and a.parts[1].kind == "permutation":
            yield product(function("softmax", a.parts[0]), a.parts[1])
        if a.op == "below":
            yield below(*(function("softmax", part) for part in a.parts))
        if a.op == "+" and a.parts[1].op == "causal":
            yield function("softmax", add(a, a.parts[1]))
            yield entrywise(t, function("exp", a.parts[1]))
    yield turned(function("colsoftmax" if t.name == "softmax" else "softmax", turned(a)))


def _functions(t: Term, _: Maker) -> Iterator[Term]:
    if t.op != "call":
        return
    (a,) = t.parts
    match t.name:
        case "exp" if a.op in ("+", "-"):
            second = function("exp", a.parts[1] if a.op == "+" else multiple(-1, a.parts[1]))
            yield entrywise(function("exp", a.parts[0]), second)
        case "exp":
            half = function("exp", multiple(Fraction(1, 2), a))
            yield entrywise(half, half)
        case "tanh":
            yield subtract(function("σ", multiple(2, a)), function("σ", multiple(-2, a)))
        case "relu":
            yield add(a, function("relu", multiple(-1, a)))
            yield multiple(Fraction(1, 2), add(a, function("abs", a)))
        case "abs":
            yield add(function("relu", a), function("relu", multiple(-1, a)))
        case "cos" if a.op == "+":
            x, y = a.parts
            yield subtract(
                entrywise(function("cos", x), function("cos", y)),
                entrywise(function("sin", x), function("sin", y)),
            )
        case "sin" if a.op == "+":
            x, y = a.parts
            yield add(
                entrywise(function("sin", x), function("cos", y)),
                entrywise(function("cos", x), function("sin", y)),
            )
        case "rowsum":
            yield product(a, ones(a.shape[1]))
            if a.op == "*":
                yield product(a.parts[0], function("rowsum", a.parts[1]))
            if a.op == "beside":
                yield add(*(function("rowsum", part) for part in a.parts))
        case "colsum":
            yield product(turned(ones(a.shape[0])), a)
            if a.op == "*":
                yield product(function("colsum", a.parts[0]), a.parts[1])
    if t.name in _ENTRYWISE and a.op == "*" and a.parts[0].kind == "permutation":
        yield product(a.parts[0], function(t.name, a.parts[1]))


def _sums_and_scales(t: Term, _: Maker) -> Iterator[Term]:
    if t.op == "*":
        a, b = t.parts
        if b.op == "ones" and 1 not in a.shape:
            yield function("rowsum", a)
        if a.op == "call" and a.name == "diag" and 1 not in t.shape:
            side = a.parts[0] if a.parts[0].shape[1] == 1 else turned(a.parts[0])
            yield entrywise(product(side, turned(ones(t.shape[1]))), b)
        if b.op == "call" and b.name == "diag" and 1 not in t.shape:
            side = b.parts[0] if b.parts[0].shape[0] == 1 else turned(b.parts[0])
            yield entrywise(a, product(ones(t.shape[0]), side))
        if a == b and a.kind == "projection":
            yield a
        if a.op == "T" and a.parts[0] == b and b.kind in ("orthonormal", "permutation"):
            yield unit(t.shape[0])
    if t.kind == "projection":
        yield product(t, t)
    if t.kind == "symmetric":
        yield turned(t)
    if t.op == "times" and t.parts[0].op in ("+", "-"):
        inner = t.parts[0]
        yield Term(inner.op, tuple(multiple(t.number, part) for part in inner.parts), t.shape)
    if t.op == "∘" and t.parts[0].op == "call" and t.parts[0].parts[0].op == "causal":
        yield entrywise(t.parts[0], t)


_LAWS: tuple[Callable[[Term, Maker], Iterator[Term]], ...] = (
    _regrouped,
    _regrouped,
    _swapped,
    _transposed,
    _transposed,
    _inserted,
    _softened,
    _softened,
    _functions,
    _functions,
    _sums_and_scales,
    _sums_and_scales,
)


# ---- slips -------------------------------------------------------------------------------------


def _slips(t: Term, maker: Maker) -> Iterator[Term]:
    """What somebody could write instead of this term, of the same shape."""
    square = t.shape[0] == t.shape[1]
    other = {"+": "-", "-": "+"}.get(t.op)
    if other:
        yield Term(other, t.parts, t.shape)
        yield t.parts[0]
    if t.op == "T" and square:
        yield t.parts[0]
    if t.op == "inv":
        yield from (t.parts[0], turned(t.parts[0]), turned(t))
    if t.op == "*" and square and t.parts[0].shape == t.parts[1].shape:
        yield from (product(*t.parts[::-1]), entrywise(*t.parts))
    if t.op == "*" and t.parts[0].op == "∘" and t.parts[0].shape == t.shape:
        (a, b), c = t.parts[0].parts, t.parts[1]
        yield entrywise(a, product(b, c))
    if t.op == "*" and t.parts[0].shape == t.shape:
        yield t.parts[0]
    if t.op == "*" and t.parts[1].shape == t.shape:
        yield t.parts[1]
    if t.op == "∘":
        yield t.parts[0]
        yield t.parts[1]
        a, b = t.parts
        if b.op == "*" and a.shape == b.parts[0].shape:
            yield product(entrywise(a, b.parts[0]), b.parts[1])
        if square:
            yield product(*t.parts)
            yield entrywise(t.parts[0], turned(t.parts[1]))
    if t.op == "times":
        yield from (t.parts[0], multiple(-t.number, t.parts[0]), multiple(2, t))
    if t.op == "letter" and square:
        yield turned(t)
    if t.op == "letter":
        yield maker.letter(t.shape)
        yield multiple(2, t)
    if t.op == "I":
        yield multiple(2, t)
    if t.op == "ones":
        yield multiple(-1, t)
    if t.op in ("beside", "below") and t.parts[0].shape == t.parts[1].shape:
        yield Term(t.op, t.parts[::-1], t.shape)
    if t.op == "call":
        yield from _other_functions(t)


def _other_functions(t: Term) -> Iterator[Term]:
    """Another function, none, or one of something else."""
    (a,) = t.parts
    square = t.shape[0] == t.shape[1]
    change = {
        "softmax": ("colsoftmax", "softmax1", "ratio"),
        "colsoftmax": ("softmax",),
        "softmax1": ("softmax",),
        "rowsum": ("rowmean",),
        "rowmean": ("rowsum",),
        "relu": ("abs",),
        "abs": ("relu",),
        "cos": ("sin",),
        "sin": ("cos",),
        "tanh": ("σ",),
        "σ": ("tanh",),
    }.get(t.name, ())
    yield from (function(name, a) for name in change)
    if a.shape == t.shape and a.op != "causal":
        yield a
    if a.op == "causal" and square:
        yield turned(t)
    if a.shape[0] == a.shape[1] and t.name in ("rowsum", "softmax", "rowmean"):
        yield function(t.name, turned(a))
    if a.op == "beside":
        halves = [function(t.name, part) for part in a.parts]
        if t.name in ("softmax", "colsoftmax"):
            yield beside(*halves)


#: How a partner is made, as often as it stands here.
_WAYS = ("law",) * 7 + ("slip",) * 2 + ("law and slip",) * 2 + ("masked slip", "turned", "other")


# ---- pairs -------------------------------------------------------------------------------------


def _changed(term: Term, maker: Maker, rules: Callable[[Term], list[Term]]) -> Term | None:
    """The term with one part replaced, at a random place where something can be."""
    places = list(term.walk())
    for k in maker.random.permutation(len(places)):
        place, part = places[int(k)]
        found = [one for one in rules(part) if one.shape == part.shape and one != part]
        if found:
            return term.put(place, maker.pick(found))
    return None


def _listed(rules: Callable[[Term, Maker], Iterator[Term]], maker: Maker, term: Term) -> list[Term]:
    return list(rules(term, maker))


def _partial(maker: Maker, shape: Shape, term: Term) -> tuple[Term, Term]:
    """A sum over all keys, and one that a mask cut short, of letters that would cancel."""
    rows = shape[0]
    name, other = maker.pick((("M", inverse), ("P", turned), ("R", turned)))
    one = maker.learn(letter(name, rows, rows, _SPECIAL[name]))
    if one.shape != (rows, rows):
        raise Loose
    cut = function("exp", mask(rows, rows))
    left, right = (one, other(one)) if maker.chance(0.5) else (other(one), one)
    if maker.chance(0.3):
        return function("rowsum", entrywise(cut, one)), function("rowsum", one)
    return product(product(entrywise(cut, left), right), term), term


def pair(seed: int) -> tuple[Term, Term, str]:
    """Two terms of one shape, and how the second was made."""
    maker = Maker(seed)
    rows, columns = maker.size(), maker.size()
    shape: Shape = (rows, columns if maker.chance(0.6) else rows)
    if maker.chance(0.12):
        shape = (rows, 1) if maker.chance(0.5) else (1, columns)
    first = maker.term(shape, int(maker.random.integers(2, 4)))
    how = maker.pick(_WAYS)
    second = first
    if how == "other":
        second = maker.term(shape, 2)
    if "law" in how:
        for _ in range(int(maker.random.integers(1, 5))):
            law = maker.pick(_LAWS)
            second = _changed(second, maker, partial(_listed, law, maker)) or second
    if "slip" in how:
        second = _changed(second, maker, partial(_listed, _slips, maker)) or second
    if how == "masked slip":
        first, second = _partial(maker, shape, first)
    if how == "turned":
        second = turned(second)
    if maker.chance(0.5):
        first, second = second, first
    for rows_known, columns_known in zip(*map(_known, (first, second)), strict=True):
        if not (rows_known or columns_known):
            raise Loose
    return first, second, how


def _known(term: Term) -> tuple[bool, bool]:
    rows, columns = anchored(term)
    return rows or term.shape[0] == 1, columns or term.shape[1] == 1


def _difference(one: Any, other: Any) -> float:
    """The largest relative difference; what is not defined agrees with everything."""
    worst = 0.0
    if one.shape != other.shape:
        return 1.0
    for a, b in zip(one.ravel(), other.ravel(), strict=True):
        if a == b or a != a or b != b:  # noqa: PLR0124 - not a number
            continue
        worst = max(worst, float(abs(a - b) / (1 + max(abs(a), abs(b)))))
    return worst


#: Below this floats agree, above it they differ; between them 60 digits decide.
_SAME, _APART, _DRAWS = 1e-10, 1e-5, 18


def truth(first: Term, second: Term, seed: int, sizes: dict[str, int] | None = None) -> bool | None:
    """Whether two terms agree at random sizes, or at these; None where numbers cannot tell."""
    random = np.random.default_rng([seed, 1])
    found = terms.letters(first, second)
    defined = False
    for k in range(_DRAWS):
        numbers = random.permutation(np.arange(2, 7))[: len(_SIZES)]
        here = {**dict(zip(_SIZES, map(int, numbers), strict=True)), "w": 8, **(sizes or {})}
        given = terms.drawn(found, here, random, (0.3, 1.0, 2.0)[k % 3])
        with np.errstate(all="ignore"):
            sides = [terms.value(one, given, here, FLOATS) for one in (first, second)]
            apart = _difference(*sides)
            defined |= bool(all(np.isfinite(side).all() for side in sides))
            if _SAME < apart < _APART:
                exact = {name: DIGITS.array(x) for name, x in given.items()}
                apart = _difference(
                    *(terms.value(one, exact, here, DIGITS) for one in (first, second))
                )
        if apart >= _APART:
            return False
        if apart > _SAME:
            return None
    return True if defined else None


def questions(count: int, seed: int) -> Iterator[Question]:
    """So many pairs with their truth; those that say nothing are left out."""
    made, trial = 0, seed * 1_000_000
    while made < count:
        trial += 1
        try:
            first, second, how = pair(trial)
            text = f"{first} = {second}"
            if first == second or len(text) > _LONGEST:
                continue
            sizes = _said(first, second, trial)
            everywhere = truth(first, second, trial)
            holds = truth(first, second, trial, sizes) if sizes else everywhere
        except (Loose, np.linalg.LinAlgError, ArithmeticError, ValueError):  # shapes by chance
            continue
        if holds is None or everywhere is None:
            continue
        made += 1
        told = terms.options(first, second)
        if not holds and not everywhere and not sizes:
            _forgotten(told, trial)
        yield Question(
            text,
            {**told, "sizes": sizes} if sizes else told,
            holds,
            everywhere,
            f"{how}, pair {trial}",
        )


def _forgotten(told: dict[str, Any], seed: int) -> None:
    """Some shapes of matrices left unsaid; what is false here is no less so for more sizes."""
    random = np.random.default_rng([seed, 4])
    if random.random() < 0.3:
        for name in [name for name in told["shapes"] if name.isupper() and random.random() < 0.7]:
            del told["shapes"][name]


def _said(first: Term, second: Term, seed: int) -> dict[str, int]:
    """Sizes, for every eighth pair."""
    if seed % 8:
        return {}
    random = np.random.default_rng([seed, 2])
    used = {
        size
        for one in terms.letters(first, second).values()
        for size in one.shape
        if isinstance(size, str)
    }
    return {name: 4 if name == "w" else int(random.integers(2, 4)) for name in sorted(used)}


def main() -> int:
    """Print the table; 1 if something false was said."""
    told = asking.options(__doc__, count=2000, seed=0, verbose=False)
    return asking.hold(questions(told.count, told.seed), told)


if __name__ == "__main__":
    raise SystemExit(main())
