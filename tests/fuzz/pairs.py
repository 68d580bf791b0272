"""``python -m tests.fuzz.pairs --count 2000 --seed 0``: random pairs of terms, true and false.

A random term gets a partner: by laws of algebra (true, mostly), by a slip (false, mostly), or one
that has nothing to do with it. NumPy judges which are equal, at several sizes and draws, with 60
digits where floats leave a doubt; then `symattn.equal` is asked. The table counts; every false
acceptance and refutation is listed. The same seed gives the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from tests.fuzz import asking, terms
from tests.fuzz.asking import Question
from tests.fuzz.laws import ENTRYWISE, LAWS, SLIPS, finite, rewritten
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
                lambda: function(self.pick(ENTRYWISE), self.letter(shape)),
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
        name = self.pick(ENTRYWISE)
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


# ---- laws and slips ----------------------------------------------------------------------------

_BOTH_WAYS = (*LAWS, *((right, left) for left, right in LAWS))


def _laws(term: Term, maker: Maker) -> list[Term]:
    """What a term is equal to by a law, by something that cancels, or by a shift of a softmax."""
    found = [*rewritten(_BOTH_WAYS, term)]
    if not found or maker.chance(0.3):
        found = [*_inserted(term, maker)]
    rows, columns = term.shape
    if term.name == "softmax" and isinstance(rows, str) and isinstance(columns, str):
        shift = product(maker.letter((rows, 1)), turned(ones(columns)))
        found.append(function("softmax", add(term.parts[0], shift)))
    return found


def _slips(term: Term, maker: Maker) -> list[Term]:
    """What somebody could write instead of a term."""
    others = [maker.letter(term.shape)] if term.op == "letter" else []
    return [*rewritten(SLIPS, term), *others]


def _inserted(t: Term, maker: Maker) -> Iterator[Term]:
    if not finite(t):
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


#: How a partner is made, as often as it stands here.
_WAYS = ("law",) * 7 + ("slip",) * 2 + ("law and slip",) * 2 + ("masked slip", "turned", "other")


# ---- pairs -------------------------------------------------------------------------------------


def _changed(term: Term, maker: Maker, rules: Callable[[Term, Maker], list[Term]]) -> Term | None:
    """The term with one part replaced, at a random place where something can be."""
    places = list(term.walk())
    for k in maker.random.permutation(len(places)):
        place, part = places[int(k)]
        found = [one for one in rules(part, maker) if one.shape == part.shape and one != part]
        if found:
            return term.put(place, maker.pick(found))
    return None


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
            second = _changed(second, maker, _laws) or second
    if "slip" in how:
        second = _changed(second, maker, _slips) or second
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
