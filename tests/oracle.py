"""What the statements of `tests.statements` mean, in NumPy: functions, random letters, verdicts.

Nothing here knows symattn. A statement holds if both of its sides agree at several random sizes
(distinct, at least 2) for several random draws of its letters; the hypotheses hold of what is
drawn, by construction, on all of their branches (B = I commutes with everything).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import mpmath
import numpy as np

from tests.positions import turned

#: A matrix of float64; NumPy's stubs give its reductions no type.
Array: TypeAlias = Any
Random: TypeAlias = np.random.Generator

#: Sizes of letters that a row does not say.
USUAL: Mapping[str, str] = {
    "Q": "n d_k",
    "K": "m d_k",
    "V": "m d_v",
    "X": "n d_model",
    "W_Q": "d_model d_k",
    "W_K": "d_model d_k",
    "W_V": "d_model d_v",
    "W_O": "d_v d_model",
    **dict.fromkeys(("S", "Z", "A", "P", "B", "M", "dA", "dS"), "n m"),
    "O": "n d_v",
    "dO": "n d_v",
}

#: Names of sizes; `w` is wider than all others, `t` and `u` are numbers of further tokens.
SIZES = ("n", "m", "d", "d_k", "d_v", "d_model", "p", "r", "t", "u", "w")


# ---- the functions of the statement language --------------------------------------------------


def softmax(x: Array, axis: int = -1) -> Array:
    """Over each row; a row of −∞ alone has weights 0."""
    top = np.max(x, axis=axis, keepdims=True)
    powers = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = powers.sum(axis=axis, keepdims=True)
    return np.where(total > 0, powers / np.where(total > 0, total, 1), 0.0)


def colsoftmax(x: Array) -> Array:
    return softmax(x.T).T


def softmax1(x: Array) -> Array:
    return np.exp(x) / (1 + np.exp(x).sum(axis=1, keepdims=True))


def ratio(x: Array) -> Array:
    return x / rowsum(x)


def rowsum(x: Array) -> Array:
    return x.sum(axis=1, keepdims=True)


def colsum(x: Array) -> Array:
    return x.sum(axis=0, keepdims=True)


def rowmean(x: Array) -> Array:
    return x.mean(axis=1, keepdims=True)


def colmean(x: Array) -> Array:
    return x.mean(axis=0, keepdims=True)


def rowmax(x: Array) -> Array:
    return x.max(axis=1, keepdims=True)


def lse(x: Array) -> Array:
    return np.log(rowsum(np.exp(x)))


def rowvar(x: Array) -> Array:
    return rowmean((x - rowmean(x)) ** 2)


def layernorm(x: Array) -> Array:
    return (x - rowmean(x)) / np.sqrt(rowvar(x))


def rmsnorm(x: Array) -> Array:
    return x / np.sqrt(rowmean(x**2))


def norm2(x: Array) -> Array:
    return rowsum(x**2)


def unit(x: Array) -> Array:
    return x / np.sqrt(norm2(x))


def dist2(x: Array, y: Array) -> Array:
    """Squared distances of the rows of x and of y."""
    out: Array = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    return out


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def gelu(x: Array) -> Array:
    """x Φ(x), with the normal distribution function Φ."""
    normal = np.vectorize(lambda z: float(mpmath.ncdf(z)), otypes=[float])
    out: Array = x * normal(x)
    return out


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def softcap(x: Array, cap: Any) -> Array:
    out: Array = cap * np.tanh(x / cap)
    return out


def hardmax(x: Array) -> Array:
    out = np.zeros_like(x)
    out[np.arange(len(x)), x.argmax(axis=1)] = 1
    return out


def sparsemax(x: Array) -> Array:
    """Martins and Astudillo (2016), algorithm 1: the nearest point of the simplex."""
    out = np.empty_like(x)
    for place, row in enumerate(x):
        falling = np.sort(row)[::-1]
        sums = np.cumsum(falling)
        count = np.arange(1, len(row) + 1)
        support = count[1 + count * falling > sums].max()
        out[place] = np.maximum(row - (sums[support - 1] - 1) / support, 0)
    return out


def entmax15(x: Array) -> Array:
    """Peters, Niculae, Martins (2019): squares of what lies above a threshold, found by halving."""
    out = np.empty_like(x)
    for place, row in enumerate(x / 2):
        low, high = row.max() - 1, row.max()
        for _ in range(200):
            middle = (low + high) / 2
            above = (np.maximum(row - middle, 0) ** 2).sum() > 1
            low, high = (middle, high) if above else (low, middle)
        out[place] = np.maximum(row - low, 0) ** 2
    return out


def rotary(x: Array) -> Array:
    """Columns 2t and 2t + 1 of row p turned by the angle p · 10000^(−2t/d)."""
    return turned(x, 10000, x.shape[1], "interleaved")


def causal(rows: int, columns: int | None = None) -> Array:
    """0 where key j ≤ query i, −∞ elsewhere."""
    seen = np.tril(np.ones((rows, rows if columns is None else columns)))
    return np.where(seen > 0, 0.0, -np.inf)


def lower(rows: int, columns: int | None = None) -> Array:
    """1 where key j ≤ query i, 0 elsewhere."""
    return np.tril(np.ones((rows, rows if columns is None else columns)))


def ones(rows: int, columns: int = 1) -> Array:
    return np.ones((rows, columns))


def diag(x: Array) -> Array:
    """The diagonal matrix of a row or column."""
    return np.diag(np.ravel(x))


def tr(x: Array) -> Array:
    return np.full((1, 1), np.trace(x))


def total(x: Array) -> Array:
    return np.full((1, 1), x.sum())


def eye(size: int) -> Array:
    return np.eye(size)


def inv(x: Array) -> Array:
    """The inverse; of what has none but for rounding errors, machines return different numbers."""
    assert np.linalg.cond(x) < 1e10, "a singular matrix has no inverse"
    out: Array = np.linalg.inv(x)
    return out


def beside(*parts: Array) -> Array:
    return np.hstack(parts)


def below(*parts: Array) -> Array:
    return np.vstack(parts)


# ---- random letters -----------------------------------------------------------------------------


def _plain(random: Random, rows: int, columns: int) -> Array:
    return random.normal(size=(rows, columns))


def _square(random: Random, size: int) -> Array:
    """Well-conditioned, so that inverses keep their digits."""
    return random.normal(size=(size, size)) + 3 * np.diag(random.choice((-1.0, 1.0), size=size))


def _positive(random: Random, rows: int, columns: int) -> Array:
    return random.uniform(0.3, 3, size=(rows, columns))


def _orthonormal(random: Random, rows: int, columns: int) -> Array:
    """Orthonormal columns, or rows if there are fewer; of either determinant."""
    tall = random.normal(size=(max(rows, columns), min(rows, columns)))
    turned: Array = np.linalg.qr(tall)[0] * random.choice((-1.0, 1.0), size=min(rows, columns))
    return turned if rows >= columns else turned.T


def _permutation(random: Random, size: int) -> Array:
    """Any but the identity, and seldom one that is its own inverse."""
    orders = [random.permutation(size) for _ in range(8)]
    order = max(orders, key=lambda one: int((np.argsort(one) != one).sum() + (one != 0).sum()))
    return np.eye(size)[order]


def _swap(random: Random, size: int) -> Array:
    """A permutation that exchanges two places and keeps the rest: its own inverse."""
    order = np.arange(size)
    one, other = random.permutation(size)[:2]
    order[[one, other]] = order[[other, one]]
    return np.eye(size)[order]


def _symmetric(random: Random, size: int) -> Array:
    half = random.normal(size=(size, size))
    return half + half.T


def _skew(random: Random, size: int) -> Array:
    half = random.normal(size=(size, size))
    return half - half.T


def _projection(random: Random, size: int) -> Array:
    """A² = A, oblique; 0, 1 or more directions are kept."""
    turn = _square(random, size)
    kept = np.diag((np.arange(size) < random.integers(0, size + 1)).astype(float))
    return turn @ kept @ inv(turn)


def _reflection(random: Random, size: int) -> Array:
    """A² = I, oblique."""
    return eye(size) - 2 * _projection(random, size)


def _nilpotent(random: Random, size: int) -> Array:
    """A² = 0."""
    left, right = random.normal(size=(size, 1)), random.normal(size=(1, size))
    right -= (right @ left) / (left.T @ left) * left.T
    return left @ right


def _unit_rows(random: Random, rows: int, columns: int) -> Array:
    return unit(random.normal(size=(rows, columns)))


def _stochastic(random: Random, rows: int, columns: int) -> Array:
    """Rows of positive numbers that sum to 1."""
    return softmax(random.normal(size=(rows, columns)))


def _column_stochastic(random: Random, rows: int, columns: int) -> Array:
    """Columns of positive numbers that sum to 1."""
    return _stochastic(random, columns, rows).T


def _doubly_stochastic(random: Random, size: int) -> Array:
    """Positive rows and columns that sum to 1: a mean of permutations."""
    share = random.uniform()
    return share * _permutation(random, size) + (1 - share) * _permutation(random, size)


def _weights(random: Random, rows: int) -> Array:
    """A column of positive numbers that sum to 1."""
    return _stochastic(random, 1, rows).T


def _ortho_projection(random: Random, size: int) -> Array:
    """A² = A = Aᵀ."""
    turn = _orthonormal(random, size, size)
    return turn @ np.diag((np.arange(size) < random.integers(0, size + 1)).astype(float)) @ turn.T


def _centred(random: Random, rows: int, columns: int) -> Array:
    """Rows that sum to 0."""
    free = random.normal(size=(rows, columns))
    return free - rowmean(free)


def _scalar(random: Random) -> Array:
    return random.choice((-1, 1), size=(1, 1)) * random.uniform(0.4, 2.5, size=(1, 1))


def _positive_scalar(random: Random) -> Array:
    return random.uniform(0.4, 2.5, size=(1, 1))


KINDS: Mapping[str, Callable[..., Array]] = {
    "plain": _plain,
    "square": _square,
    "positive": _positive,
    "orthonormal": _orthonormal,
    "permutation": _permutation,
    "swap": _swap,
    "symmetric": _symmetric,
    "skew": _skew,
    "projection": _projection,
    "reflection": _reflection,
    "nilpotent": _nilpotent,
    "unitrows": _unit_rows,
    "stochastic": _stochastic,
    "columnstochastic": _column_stochastic,
    "doublystochastic": _doubly_stochastic,
    "weights": _weights,
    "orthoprojection": _ortho_projection,
    "centred": _centred,
    "scalar": _scalar,
    "positivescalar": _positive_scalar,
}


def _commuting(random: Random, size: int) -> list[Array]:
    """Two matrices with A B = B A, on one of the branches of that equation."""
    free = random.normal(size=(size, size))
    other = random.normal(size=(size, size))
    match random.integers(6):
        case 0:
            return [free, random.normal() * eye(size)]
        case 1:
            return [random.normal() * eye(size), free]
        case 2:
            return [np.diag(random.normal(size=size)), np.diag(random.normal(size=size))]
        case 3:  # a multiple eigenvalue: the commutant is larger than the polynomials
            block = np.zeros((size, size))
            block[0, 0], other[0, 1:], other[1:, 0] = 1, 0, 0
            return [block, other]
        case _:
            return [free, free @ free - 2 * free + random.normal() * eye(size)]


def _commuting_chain(random: Random, size: int) -> list[Array]:
    """A, B, C with A B = B A and B C = C B; often A C ≠ C A, through B = I."""
    one, two = (random.normal(size=(size, size)) for _ in range(2))
    if random.integers(2):
        return [one, random.normal() * eye(size), two]
    return [one, one @ one + one, one - 3 * eye(size)]


def _inverse_pair(random: Random, size: int) -> list[Array]:
    """A B = I."""
    one = _square(random, size)
    return [one, inv(one)]


def _equal_products(random: Random, size: int) -> list[Array]:
    """A B = A C with B ≠ C: A is singular."""
    kept = _projection(random, size)
    kept = kept if np.linalg.matrix_rank(kept) < size else np.zeros((size, size))
    two = random.normal(size=(size, size))
    return [kept, two, two + (eye(size) - kept) @ random.normal(size=(size, size))]


def _null_product(random: Random, size: int) -> list[Array]:
    """A B = 0, neither being 0."""
    kept = np.diag((np.arange(size) < max(1, size // 2)).astype(float))
    turn, one, two = (_square(random, size) for _ in range(3))
    return [one @ kept @ inv(turn), turn @ (eye(size) - kept) @ two]


def _similar(random: Random, size: int) -> list[Array]:
    """A M = M B."""
    one, turn = _square(random, size), _square(random, size)
    return [one, turn, inv(turn) @ one @ turn]


def _commuting_projections(random: Random, size: int) -> list[Array]:
    """A² = A, B² = B, A B = B A."""
    turn = _square(random, size)
    kept = [np.diag(random.integers(0, 2, size=size).astype(float)) for _ in range(2)]
    return [turn @ one @ inv(turn) for one in kept]


def _disjoint_projections(random: Random, size: int) -> list[Array]:
    """A² = A, B² = B, A B = B A = 0."""
    turn, first = _square(random, size), random.integers(0, 2, size=size)
    second = (1 - first) * random.integers(0, 2, size=size)
    return [turn @ np.diag(one.astype(float)) @ inv(turn) for one in (first, second)]


#: Letters that are drawn together.
TOGETHER: Mapping[str, Callable[[Random, int], list[Array]]] = {
    "commuting": _commuting,
    "chain": _commuting_chain,
    "inverses": _inverse_pair,
    "sameproducts": _equal_products,
    "nullproduct": _null_product,
    "similar": _similar,
    "commutingprojections": _commuting_projections,
    "disjointprojections": _disjoint_projections,
}


# ---- statements ---------------------------------------------------------------------------------


Sides: TypeAlias = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Statement:
    """An equation, its options for `equal`, its truth, and both sides in NumPy.

    `sides` takes letters and sizes by their names and returns the values of both sides. `letters`
    says how letters are drawn that are not as usual: "c: n 1; A B: commuting n".
    """

    text: str
    holds: bool
    sides: Sides
    letters: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def draws(
        self, seed: int, count: int, free: bool = False, most: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Letters and sizes, at sizes of their own each; `free` of the sizes in the options.

        With `most` sizes are from 1 to it, and may be the same.
        """
        random = np.random.default_rng(seed)
        said = {} if free else dict(self.options.get("sizes") or {})
        for _ in range(count):
            sizes = _sizes(random, said)
            if most is not None:
                sizes = {name: int(random.integers(1, most + 1)) for name in sizes} | said
            yield {**sizes, **_letters(self, random, sizes)}


def _sizes(random: Random, said: Mapping[str, int]) -> dict[str, int]:
    """Distinct sizes from 2 on, `w` the largest, but for those that are said."""
    numbers = random.permutation(np.arange(2, 1 + len(SIZES)))
    sizes = dict(zip(SIZES[:-1], map(int, numbers), strict=True))
    return {**sizes, "w": 2 + len(SIZES), **said}


def _letters(row: Statement, random: Random, sizes: Mapping[str, int]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for part in filter(None, row.letters.split(";")):
        names, _, rest = part.partition(":")
        words = rest.split()
        kind = words.pop(0) if words[0] in {**KINDS, **TOGETHER} else "plain"
        dims = [int(word) if word.isdigit() else sizes[word] for word in words]
        if kind in TOGETHER:
            out.update(zip(names.split(), TOGETHER[kind](random, *dims), strict=True))
        else:
            out.update({name: KINDS[kind](random, *dims) for name in names.split()})
    parameters = inspect.signature(row.sides).parameters
    wanted = [name for name in parameters if name in out or name not in SIZES]
    for name in wanted:
        if name not in out:
            rows, columns = USUAL[name].split()
            kind = "positive" if name in row.options.get("positive", ()) else "plain"
            out[name] = KINDS[kind](random, sizes[rows], sizes[columns])
    return {name: out[name] for name in wanted}


def agree(left: Any, right: Any, tolerance: float = 1e-7) -> bool:
    """Whether two values are the same: shapes fit, infinities meet, numbers to seven digits.

    What is undefined (NaN) on either side counts as agreement: equality is claimed where both
    sides are defined.
    """
    one, two = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (left, right))
    if one.shape != two.shape and 1 not in (one.size, two.size):
        return False
    one, two = np.broadcast_arrays(one, two)
    known = ~(np.isnan(one) | np.isnan(two))
    one, two = one[known], two[known]
    with np.errstate(all="ignore"):
        near = np.abs(one - two) <= tolerance * (1 + np.maximum(np.abs(one), np.abs(two)))
    return bool(np.all((one == two) | (near & np.isfinite(one) & np.isfinite(two))))


def judge(row: Statement, draws: int = 12, seed: int = 1, free: bool = False) -> bool:
    """Whether both sides agree in every draw."""
    parameters = inspect.signature(row.sides).parameters
    with np.errstate(all="ignore"):
        for drawn in row.draws(seed, draws, free):
            left, right = row.sides(**{name: drawn[name] for name in parameters})
            if not agree(left, right):
                return False
    return True
