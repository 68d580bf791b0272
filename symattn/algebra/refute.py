"""Numbers that refute an equation: tried before anything is proven, and proven by Arb.

Matrices are small numbers at sizes that differ from one another and from every number in the
statement, so that no coincidence of sizes hides a difference. What is assumed holds by
construction (definitions, symmetric, orthonormal and permutation matrices) or is found by trying
special matrices: an equation may have other solutions than the generic ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice
from math import prod
from typing import Any, TypeAlias

import flint
import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.bounds import doubtful
from symattn.algebra.counterexample import (
    Compared,
    Counterexample,
    Meaning,
    Side,
    compared,
    evaluated,
    has_value,
)
from symattn.algebra.hypotheses import Statement, uses
from symattn.algebra.linear_equations import solution
from symattn.arithmetic.arrays import FLOAT64
from symattn.arithmetic.base import Arithmetic, Array, Ground, elementwise, filled
from symattn.arithmetic.enclosure import in_flint, in_sympy
from symattn.arithmetic.exact import EXACT
from symattn.derivations import Derivation
from symattn.errors import SymattnError
from symattn.nodes.base import shape_of
from symattn.nodes.masks import Mask, may_hide
from symattn.nodes.positions import Rotary

Sizes = dict[sympy.Symbol, int]

#: Numbers for which what is assumed holds: of all matrices, and the sizes and scalars.
Sample: TypeAlias = tuple[dict[str, Array], Sizes]

#: How many samples are taken at each choice of sizes, how many under hypotheses that are not
#: solved, the first of which are often trivial, and how many when it matters; how many of numbers
#: of all signs tell whether one side alone has values, and how many of all magnitudes are tried
#: where an inequality is not decided.
_SAMPLES, _ASSUMED, _MORE, _GENERIC, _WIDE = 5, 12, 60, 6, 40

#: How many special matrices are tried for hypotheses that are not solved, how often a number is
#: made simpler, and the first sample that has whole numbers above 0 where it may.
_SPECIAL, _SIMPLER, _TELLING = 160, 80, 2


@dataclass(frozen=True)
class Found:
    """What trying numbers found: a counterexample, and whether both sides had a value at all.

    `one_sided` says which side alone has values where inputs have other signs, if one does.
    """

    counterexample: Counterexample | None
    defined: bool
    one_sided: str = ""


# ---- sizes ---------------------------------------------------------------------------------


#: Sizes at which numbers for whole derivations are few; those that are not here are 1.
_SMALL = {"n": 2, "m": 2, "h": 2, "d_k": 2, "d_r": 2, "d_model": 2}


def trial_sizes(statement: Statement, symbols: set[sympy.Symbol], given: Sizes) -> Iterator[Sizes]:
    """Sizes at which numbers are tried: in one order, and in the opposite one.

    They are the smallest distinct ones from 2, above every number in a mask and equal to none else.
    """
    ranked = sorted(symbols, key=_rank)
    if not ranked:
        yield {}
        return
    if statement.joint is not None:  # numbers are the smaller, and the sooner tried
        yield {**{symbol: _SMALL.get(symbol.name, 1) for symbol in symbols}, **given}
    yield {**_assigned(statement, ranked, 0), **given}
    if statement.at_most:  # a sum of one number is its largest
        yield {**dict.fromkeys(ranked, 1), **given}
    yield {**_assigned(statement, ranked[::-1], 1, apart=2), **given}
    if any(isinstance(side.meaning, Derivation) for side in statement.all_sides):
        small = {"m": 3, "g": 1, "d": 4, "d_k": 4}  # where distinct sizes do not fit a spec
        yield {**{s: small.get(s.name, 2) for s in ranked}, **given}


def _rank(symbol: sympy.Symbol) -> tuple[int, str]:
    first = ("n", "m", "h", "g")
    return first.index(symbol.name) if symbol.name in first else len(first), symbol.name


def _assigned(statement: Statement, ranked: list[sympy.Symbol], more: int, apart: int = 1) -> Sizes:
    """Distinct sizes, at least so far apart, that no number in the statement is."""
    expressions = [
        expr
        for side in statement.all_sides
        for expr in side.expressions
        if isinstance(expr, sympy.Basic)
    ]
    masks = [mask for expr in expressions for mask in expr.atoms(Mask)]
    taken = _integers(expressions)
    even = any(expr.has(Rotary) for expr in expressions)
    more += bool(statement.permutations)  # of two things every permutation undoes itself
    low = 2 + more + max((number for number in _integers(masks) if number < 40), default=0)
    out: Sizes = {}
    for symbol in ranked:
        if symbol.name in ("h", "g"):
            out[symbol] = 4 if symbol.name == "h" else 2
            continue
        wide = even and symbol.name.startswith("d")
        out[symbol] = next(
            size
            for size in count(low)
            if size not in taken
            and all(abs(size - other) >= apart for other in out.values())
            and not (wide and size % 2)
        )
    return out


def _integers(expressions: list[sympy.Basic]) -> set[int]:
    """The whole numbers in some expressions, without their signs."""
    return {abs(int(number)) for expr in expressions for number in expr.atoms(sympy.Integer)}


def sizes_of(statement: Statement) -> set[sympy.Symbol]:
    """The symbols that are sizes: those in shapes, and positive whole ones."""
    found: set[sympy.Symbol] = set()
    for side in statement.all_sides:
        for letter in side.letters().values():
            for size in letter.shape:
                found |= sympy.sympify(size, strict=True).free_symbols
            if letter.count is not None:
                found |= letter.count.free_symbols
        found |= {s for s in side.scalars() if s.is_integer and s.is_positive}
        if isinstance(side.meaning, MatrixExpr):
            for size in shape_of(side.meaning):
                found |= size.free_symbols
        if isinstance(side.meaning, Derivation):
            counts = (step.count for step in side.meaning.steps if step.count is not None)
            found |= {s for count in counts for s in count.free_symbols}
            found -= set(side.meaning.sizes)
    return found


# ---- samples -------------------------------------------------------------------------------


@dataclass
class _Assumed:
    """The hypotheses of a statement, by how numbers are made to satisfy them."""

    defined: dict[str, Meaning] = field(default_factory=dict)
    scalars: dict[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    mirrored: dict[str, int] = field(default_factory=dict)
    orthonormal: set[str] = field(default_factory=set)
    others: list[tuple[Side, Side]] = field(default_factory=list)

    @property
    def special(self) -> set[str]:
        """Letters for which special matrices are tried."""
        return {name for pair in self.others for side in pair for name in side.letters()}


def _assumed(statement: Statement) -> _Assumed:
    out, pairs = _Assumed(), [(one.meaning, two.meaning) for one, two in statement.where]
    others = dict(enumerate(statement.where))
    for use in uses(pairs):
        match use.kind:
            case "letter":
                out.defined[use.letter] = use.meaning
            case "mirror":
                out.mirrored[use.letter] = -1 if use.meaning.has(sympy.S.NegativeOne) else 1
            case "orthonormal":
                out.orthonormal.add(use.letter)
            case _:
                continue
        del others[use.place]
    for one, two in others.values():
        for a, b in ((one.meaning, two.meaning), (two.meaning, one.meaning)):
            number = _number_in(a)
            if isinstance(number, sympy.Symbol) and number not in getattr(b, "free_symbols", ()):
                out.scalars.setdefault(number, b)
                break
        out.others.append((one, two))
    return out


def _number_in(meaning: Meaning) -> Meaning:
    """The number c that stands as a 1 × 1 matrix; anything else as it is."""
    if isinstance(meaning, sympy.MatMul) and meaning.args[1:] == (sympy.OneMatrix(1, 1),):
        return meaning.args[0]
    return meaning


class _Sampler:
    """Numbers for the letters of a statement at some sizes; always the same."""

    def __init__(self, statement: Statement, sizes: Sizes) -> None:
        self.statement, self.sizes = statement, sizes
        self.assumed = _assumed(statement)
        self.chance = random.Random(20)  # noqa: S311  no secrets here
        self.letters = statement.letters()
        #: Letters in which the hypotheses are not linear.
        self.curved: set[str] = set()
        self.dims = {name: letter.dims(sizes) for name, letter in self.letters.items()}
        self.scalars = sorted(
            {s for side in statement.all_sides for s in side.scalars() if s not in sizes}, key=str
        )

    def samples(self, first: int = 0) -> Iterator[Sample]:
        """Numbers that satisfy what is assumed."""
        return self._matrices(range(first, _SPECIAL))

    def generic(self) -> Iterator[Sample]:
        """Numbers of all signs, none of them 0 or equal to another by chance."""
        return self._matrices(range(-_GENERIC, 0))

    def above_zero(self) -> Iterator[Sample]:
        """Such numbers above 0, of which there are roots and logarithms."""
        return self._matrices(range(-2 * _GENERIC, -_GENERIC))

    def wide(self) -> Iterator[Sample]:
        """Numbers of many magnitudes: an inequality may fail near 0 alone, or far from it."""
        return self._matrices(range(_SPECIAL, _SPECIAL + _WIDE))

    def _matrices(self, styles: range) -> Iterator[Sample]:
        for style in styles:
            self.shared = self._random((4, 4), 1, False)
            scalars: Sizes = {
                **self.sizes,
                **{s: self._number(style, s.is_positive is True) for s in self.scalars},
            }
            given = {name: self._letter(name, style) for name in self.letters}
            given = {
                name: array for name, array in given.items() if name not in self.assumed.defined
            }
            if style % 2:
                letters = sorted(self.assumed.special)
                self.chance.shuffle(letters)
                for name in letters[: 1 + style % 4]:  # one after the other
                    self._solve(name, given, scalars)
            arrays = self._completed(given, scalars)
            if arrays is not None:
                yield arrays, scalars

    def _solve(self, name: str, given: dict[str, Array], scalars: Sizes) -> None:
        """Change one matrix so that the hypotheses that are linear in it hold, if there is one."""
        bound = {*self.assumed.mirrored, *self.assumed.orthonormal, *self.statement.permutations}
        if name not in given or name in self.curved or name in bound:
            return
        dims, size = given[name].shape, given[name].size
        # how many unknown entries linear hypotheses are solved for
        if size > 36 or self.assumed.defined:
            return
        pairs = [
            pair for pair in self.assumed.others if any(name in side.letters() for side in pair)
        ]

        def residue(cells: list[Ground]) -> list[Ground] | None:
            values = {**given, name: filled(dims, cells)}
            out: list[Ground] = []
            for one, two in pairs:
                left, right = _exact(one, values, scalars), _exact(two, values, scalars)
                if left is None or right is None:
                    return None
                out += list(np.ravel(left - right))
            return out

        zero = residue([sympy.S.Zero] * size)
        random_ = [self._number(1, False) for _ in range(size)]
        tried = residue(random_)
        if zero is None or tried is None:
            return
        columns = []
        for k in range(size):
            found = residue([sympy.Integer(int(j == k)) for j in range(size)])
            if found is None:
                return
            columns.append([a - b for a, b in zip(found, zero, strict=True)])
        free = [_RATIONALS.scalar(x) for x in random_]
        linear = [
            b + sum(x * column[row] for x, column in zip(free, columns, strict=True))
            for row, b in enumerate(zero)
        ]
        if linear != tried:
            self.curved.add(name)
            return
        table = [[column[row] for column in columns] for row in range(len(zero))]
        found = solution(table, [-b for b in zero], free)
        if found is not None:
            given[name] = filled(dims, [*map(in_sympy, found)])

    def _completed(self, given: dict[str, Array], scalars: Sizes) -> dict[str, Array] | None:
        """The matrices with those that are defined, scalars being filled in.

        What hypotheses define is in balls. None where something that is assumed does not hold.
        """
        for symbol, meaning in self.assumed.scalars.items():
            side = Side(meaning)
            if set(side.letters()) & set(self.assumed.defined):
                continue
            value = _exact(side, given, scalars)
            if value is None or len({str(x) for x in value.ravel()}) != 1:
                return None
            scalars[symbol] = in_sympy(value.ravel()[0])
            if symbol.is_positive and scalars[symbol] <= 0:
                return None
        arrays = evaluated(given, self.assumed.defined, scalars)
        return None if arrays is None or any(self.statement.broken(arrays, scalars)) else arrays

    def is_exact(self, arrays: dict[str, Array], scalars: Sizes) -> bool:
        """Whether these numbers satisfy the hypotheses exactly, not only as far as balls see."""
        return all(_is_exact(*pair, arrays, scalars) for pair in self.assumed.others)

    def tried(self, arrays: dict[str, Array], scalars: Sizes) -> Compared:
        """The sides with these numbers put in."""
        statement = self.statement
        return compared(statement.left, statement.right, arrays, scalars, statement.at_most)

    def _number(self, style: int, positive: bool) -> sympy.Rational:
        if style >= _SPECIAL:
            low = 1 if positive or style % 2 else -99
            return sympy.Rational(self.chance.randint(low, 99), 10 ** (style % 5))
        positive = positive or style < -_GENERIC
        if style < 0:  # the first of those of all signs are all below 0
            below = not positive and (style == -_GENERIC or self.chance.random() < 0.5)
            return sympy.Rational(self.chance.randint(20, 200), -97 if below else 97)
        top = 1 + min(style // 2, 3)
        positive = positive or style % 3 == 2  # roots and logarithms have values then
        low = 1 if positive else (0 if style == 0 else -top)
        number = self.chance.randint(low, top + positive)
        halved = style % 3 == 1 and number % 2
        return sympy.Rational(number, 2) if halved else sympy.Integer(number)

    def _random(self, dims: tuple[int, ...], style: int, positive: bool) -> Array:
        return filled(dims, [self._number(style, positive) for _ in range(prod(dims))])

    def _letter(self, name: str, style: int) -> Array:
        letter = self.letters[name]
        dims, assumed = self.dims[name], self.assumed
        positive = name in self.statement.positive
        if letter.boolean:
            return self._random(dims, 0, False) % 2
        if name in self.statement.permutations:
            order = list(range(dims[0]))
            while len(order) > 1 and order == sorted(order):
                self.chance.shuffle(order)
            return _unit(dims[0])[order]
        if name in assumed.orthonormal:
            return self._orthonormal(dims)
        if name in assumed.special and len(dims) == 2 and self.chance.random() < 0.6:
            kinds = _SQUARE_KINDS if dims[0] == dims[1] else _WIDE_KINDS
            array = self.chance.choice(kinds)(self, dims)
        else:
            array = self._random(dims, style, positive)
        if name in assumed.mirrored:
            array = array + assumed.mirrored[name] * array.T
        return array if not positive else abs(array) + (array == 0).astype(int)

    def _orthonormal(self, dims: tuple[int, ...]) -> Array:
        """Orthonormal columns (or rows): of signed permutations and rational reflections.

        Rows of ±P (I − 2 v vᵀ/|v|²).
        """
        size = max(dims)
        order = list(range(size))
        self.chance.shuffle(order)
        sign = self.chance.choice((1, -1))
        vector = [int(2 * x) for x in self._random((size,), 1, True)]
        length = sum(x * x for x in vector)
        entries = [
            sympy.Rational(sign * (length * (i == j) - 2 * vector[i] * vector[j]), length)
            for i in order[: dims[0]]
            for j in range(dims[1])
        ]
        return filled(dims, entries)


def _unit(size: int) -> Array:
    out = np.full((size, size), sympy.S.Zero, dtype=object)
    for k in range(size):
        out[k, k] = sympy.S.One
    return out


def _power_of_shared(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    """A polynomial in one matrix, so that two of them commute."""
    size = dims[0]
    base = np.full((size, size), sympy.S.Zero, dtype=object)
    known = sampler.shared[:size, :size]
    base[: known.shape[0], : known.shape[1]] = known
    return sampler.chance.choice((base, base @ base, base + _unit(size)))


def _diagonal(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    return _unit(dims[0]) * sampler._random(dims, 1, False)


def _projection(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    """A matrix with A² = A: ones on a part of the diagonal, or x yᵀ / yᵀx."""
    if sampler.chance.random() < 0.5:
        return np.asarray(_unit(dims[0]) * (abs(sampler._random(dims, 1, False)) % 2))
    x, y = (sampler._random((dims[0], 1), 1, True) for _ in range(2))
    y = y if sampler.chance.random() < 0.5 else x
    return np.asarray(x @ y.T / (y.T @ x).item())


def _nilpotent(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    return np.asarray(np.roll(_unit(dims[0]), 1, axis=1) * (1 - _unit(dims[0])[:, [0]].T))


def _involution(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    return 2 * _projection(sampler, dims) - _unit(dims[0])


def _permuted_rows(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    """Rows of one length, which other letters' have too: numbers in another order and sign."""
    rows, columns = dims
    known = np.resize(sampler.shared[0], columns)
    out = np.empty(dims, dtype=object)
    for k in range(rows):
        order = list(range(columns))
        sampler.chance.shuffle(order)
        out[k] = known[order] * sampler.chance.choice((1, -1))
    return out


def _unit_rows(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    """Rows of length 1 with rational entries: (3/5, 4/5), (1/3, 2/3, 2/3)."""
    size = max(dims)
    rows = [sampler._orthonormal((1, size))[0] for _ in range(dims[0])]
    return np.stack(rows) if dims[1] == size else sampler._orthonormal(dims)


def _of_zeros(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    return np.full(dims, sympy.S.Zero, dtype=object)


def _of_ones(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    return np.full(dims, sympy.Rational(1, dims[-1]), dtype=object)


def _identity(sampler: _Sampler, dims: tuple[int, ...]) -> Array:
    return _unit(dims[0]) * sampler.chance.choice((1, 1, -1, 2))


_Kind = Callable[[_Sampler, tuple[int, ...]], Array]

#: Special matrices, square ones and others.
_WIDE_KINDS: tuple[_Kind, ...] = (_of_zeros, _of_ones, _permuted_rows, _unit_rows)
_SQUARE_KINDS: tuple[_Kind, ...] = (
    _of_zeros,
    _of_ones,
    _identity,
    _identity,
    _diagonal,
    _power_of_shared,
    _power_of_shared,
    _projection,
    _projection,
    _involution,
    _nilpotent,
    _permuted_rows,
    _unit_rows,
)


class _Rationals(Arithmetic):
    """Rational numbers of FLINT in object arrays: sums, products and inverses, nothing else."""

    name = "rationals"

    def scalar(self, value: sympy.Expr) -> flint.fmpq:
        if not isinstance(value, sympy.Rational):
            raise SymattnError(f"{value} is not rational")
        return in_flint(value)

    def array(self, exact: Array) -> Array:
        return elementwise(self.scalar, exact)

    def exp(self, x: Array) -> Array:
        raise SymattnError("an exponential is not rational")

    def apply(self, name: str, x: Array) -> Array:
        raise SymattnError(f"{name} is not rational")

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.zeros(x.shape, dtype=bool)

    def inverse(self, x: Array) -> Array:
        try:
            entries = flint.fmpq_mat(x.shape[0], x.shape[1], list(x.ravel())).inv().entries()
        except ZeroDivisionError:
            raise SymattnError("a matrix that has no inverse") from None
        return filled(x.shape, entries)


_RATIONALS = _Rationals()


def _is_exact(one: Side, two: Side, given: Mapping[str, Array], scalars: Sizes) -> bool:
    """Whether a hypothesis holds in rational numbers."""
    letters = {*one.letters(), *two.letters()}
    if any(given[name].size and isinstance(given[name].flat[0], flint.arb) for name in letters):
        return False
    left, right = _exact(one, given, scalars), _exact(two, given, scalars)
    return left is not None and right is not None and bool(np.all(left == right))


def _exact(side: Side, given: Mapping[str, Array], scalars: Sizes) -> Array | None:
    """The value of a side in rational numbers; None where it is not rational."""
    letters = side.letters()
    try:
        return side.value(
            {k: _RATIONALS.array(v) for k, v in given.items() if k in letters}, _RATIONALS, scalars
        )
    except (SymattnError, ZeroDivisionError, NotImplementedError):
        return None


# ---- refuting ------------------------------------------------------------------------------


def refuted(statement: Statement, sizes: Sizes, thorough: bool = False) -> Found:
    """Try numbers at these sizes."""
    sampler = _Sampler(statement, sizes)
    wanted, defined = _ASSUMED if sampler.assumed.others else _SAMPLES, False
    wanted = max(wanted, _MORE) if thorough else wanted
    more = sampler.wide() if thorough and statement.at_most else ()
    for arrays, scalars in chain(islice(sampler.samples(), wanted), more):
        answer = sampler.tried(arrays, scalars)
        defined = defined or answer.agree
        if answer.place is not None and sampler.is_exact(arrays, scalars):
            if not statement.where:
                answer = _simpler(sampler, arrays, scalars, answer)
            return Found(_counterexample(sampler, arrays, scalars, answer), True)
    return Found(None, defined, _one_sided(sampler) if defined else "")


def example(statement: Statement, sizes: Sizes) -> Sample | None:
    """Numbers at these sizes that satisfy what is assumed, and for which both sides agree.

    What hypotheses define is in balls. None where none are found.
    """
    sampler = _Sampler(statement, sizes)
    return next((one for one in sampler.samples(_TELLING) if sampler.tried(*one).agree), None)


def numbers_at(statement: Statement) -> Iterator[Callable[[Side], Array | None]]:
    """What gives the values of expressions in floating point, for some numbers each."""
    found = [*trial_sizes(statement, sizes_of(statement), {})]
    for sizes in (*found, {size: value + 2 for size, value in found[0].items()}):
        sampler = _Sampler(statement, sizes)
        plain = (sampler.generic(), sampler.above_zero())
        kinds = (sampler.samples(),) if statement.where else plain
        most = 2 if sampler.letters else _GENERIC  # matrices have many entries
        for arrays, scalars in chain(*(islice(kind, most) for kind in kinds)):
            floats = {name: np.vectorize(float)(array) for name, array in arrays.items()}
            yield partial(_in_floats, floats, scalars)


def _in_floats(given: Mapping[str, Array], scalars: Sizes, side: Side) -> Array | None:
    """The value of an expression in floating point; None where it has none."""
    try:
        with np.errstate(all="ignore"):
            letters = {name: given[name] for name in side.letters()}
            return side.value(letters, FLOAT64, scalars)
    except (SymattnError, KeyError):
        return None


def is_refuted(statement: Statement, sizes: Sizes) -> bool:
    """Whether the first numbers at these sizes refute a statement."""
    sampler = _Sampler(statement, sizes)
    return any(
        sampler.tried(arrays, scalars).place is not None and sampler.is_exact(arrays, scalars)
        for arrays, scalars in islice(sampler.samples(), _SAMPLES)
    )


def smallest(statement: Statement, sizes: Sizes, fixed: set[sympy.Symbol]) -> Sizes:
    """The smallest sizes at which numbers refute a statement, one made smaller after the other.

    At the sizes that are given there are such numbers.
    """
    for symbol in sorted(set(sizes) - fixed, key=_rank, reverse=True):
        for size in range(1, sizes[symbol]):
            smaller = {**sizes, symbol: size}
            try:
                if is_refuted(statement, smaller):
                    sizes = smaller
                    break
            except (SymattnError, ValueError):
                continue
    return sizes


def _one_sided(sampler: _Sampler) -> str:
    """Which side alone has values on a whole region, as ln(x²) has where 2 ln x has none."""
    sides = (sampler.statement.left, sampler.statement.right)
    if not any(map(may_lack, sides)):
        return ""
    for arrays, scalars in sampler.generic():
        left, right = (has_value(side, arrays, scalars) for side in sides)
        if left != right:
            return f"the {'left' if left else 'right'} side"
    return ""


def may_lack(side: Side) -> bool:
    """Whether a side may be without a value for some numbers."""
    expr = side.meaning
    return not isinstance(expr, sympy.Basic) or may_hide(expr) or bool(doubtful(expr))


def _simpler(
    sampler: _Sampler, arrays: dict[str, Array], scalars: Sizes, found: Compared
) -> Compared:
    """The numbers made 0 or 1 one by one, as long as the sides still differ; `arrays` change."""
    left = _SIMPLER
    for name, array in arrays.items():
        least = int(name in sampler.statement.positive)
        if name in sampler.statement.permutations:
            continue
        for place in np.ndindex(*array.shape):
            before = array[place]
            for number in (sympy.S.Zero, sympy.S.One)[least:]:
                if before == number or left == 0:
                    break
                left -= 1
                array[place] = number
                still = sampler.tried(arrays, scalars)
                if still.place is not None:
                    found = still
                    break
                array[place] = before
    return found


def _counterexample(
    sampler: _Sampler, arrays: Mapping[str, Array], scalars: Sizes, found: Compared
) -> Counterexample:
    joint, defined = sampler.statement.joint, sampler.assumed.defined
    given = {name: array for name, array in arrays.items() if name not in defined}
    shown = given if joint is None else joint.shown(given, EXACT, sampler.sizes)
    values = [(name, _nested(array)) for name, array in shown.items() if name not in defined]
    values += [(s.name, number) for s, number in scalars.items() if s not in sampler.sizes]
    plain = {side.meaning for side in (sampler.statement.left, sampler.statement.right)}
    for size, number in sampler.sizes.items():  # where no matrix tells how large it is
        if not given or any(
            size in getattr(one, "free_symbols", ()) and not hasattr(one, "shape") for one in plain
        ):
            values.append((size.name, number))
    assert found.place is not None
    return Counterexample(tuple(values), found.place, found.left, found.right)


def _nested(array: Array) -> Any:
    """An array as tuples."""
    return tuple(_nested(part) if isinstance(part, np.ndarray) else part for part in array)
