"""Biases that follow from the distance of a key: ALiBi and tables of relative positions.

`BucketSum`, the adjoint of a table, adds up the gradients of all places that share a bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError, quote
from symattn.nodes import rule as r
from symattn.nodes.arguments import Extent, Flag, HeadIndex, Matrix, Operand, Scalar, Whole, whole
from symattn.nodes.base import Definition, settings, shape_of
from symattn.nodes.positions import (
    IndexNumber,
    Placed,
    at_most,
    number,
    power_of,
)
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: The letters of definitions: the largest power of 2 within the heads, a head, a distance.
_POWER = sympy.Symbol("N", integer=True, positive=True)
_ANY_HEAD = sympy.Symbol("head", integer=True)
_DISTANCE = sympy.Symbol("Delta", positive=True)


def _row_of_table(i: Index, j: Index) -> sympy.Symbol:
    """κ_ij, which names its indices: in a sum over keys they are others."""
    return sympy.Symbol(f"kappa@{i}@{j}", positive=True)


def _only_head(rows: sympy.Expr, columns: sympy.Expr, heads: sympy.Expr) -> sympy.Expr:
    """The index of the head where there is one."""
    if heads != 1:
        raise SymattnError(f"ALiBi: there are {heads} heads; give the index of one")
    return sympy.S.Zero


class ALiBi(Placed):
    """A penalty that grows with the distance: b_ij = μ_h (j − i), with a slope μ_h for each head.

    Meant for causal attention, where j ≤ i; with `symmetric`, b_ij = −μ_h |j − i|. The slope of
    head h (from 0) of H is 2^{−8(h+1)/H} where H is a power of two; otherwise see `alibi_slopes`.
    `index` is the head, a number from 0 or a symbol for any; None where there is a single head.
    Row 0 is the query at position `start`, so that i + start takes the place of i.

    Shapes: n × m; for a symbolic head all heads are evaluated at once, H × n × m. Raises
    `SymattnError` if `heads` is no count or `index` does not fit it.
    Source: Press, Smith, Lewis, *Train Short, Test Long* (2021), section 3; its m is our μ.

    >>> ALiBi(3, 3, 2, 0).as_explicit()
    Matrix([
    [    0,  1/16,  1/8],
    [-1/16,     0, 1/16],
    [ -1/8, -1/16,    0]])
    """

    syntax = "alibi(symmetric=, start=)"
    source = "Press et al. 2021, section 3"
    reason = "The further back a key is, the more is subtracted from its score."
    remark = "The further back a key is, the more is subtracted from its score"

    rows, columns, heads = Extent(), Extent(), Whole(1, least=1)
    by_rows = 0
    index = HeadIndex(otherwise=_only_head)
    symmetric, start = Flag(False), Whole(0)

    def _check(self) -> None:
        head, heads = self.index, self.heads
        fits = bool(head.free_symbols) or (isinstance(head, sympy.Integer) and head >= 0)
        if not fits or (head.is_Integer and heads.is_Integer and head >= heads):
            raise SymattnError(
                f"ALiBi: head {quote(head)} of {heads}; give a symbol or a number from 0"
            )

    def _rule(self, i: Index, j: Index) -> Rule:
        slope, distance = _slope(self.index, self.heads), j - i - self.start
        if self.symmetric:
            return r.minus(r.Times((slope, number(sympy.Abs(distance)))))
        return r.Times((slope, number(distance)))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """μ_i = 2^{−8 i/N} up to head N, the largest power of 2 within H, every other one after it.

        Those after it are from the slopes of 2 N heads: 2^{−8 (2 (i − N) − 1)/(2 N)}.
        """
        _, _, heads, head, *_ = self.args
        if head.is_Integer and heads.is_Integer:
            value = speller.scalar(alibi_slopes(int(heads))[int(head)])
            yield Definition(t.equation(speller.rule(_slope(head, heads)), (t.EQUALS, value)))
            return
        index = head if isinstance(head, sympy.Symbol) else _ANY_HEAD
        slope = _slope(index, heads)
        power = sympy.Integer(_power_within(int(heads))) if heads.is_Integer else _POWER
        right = power_of(speller, 2, 8, speller.rule(number(index + 1)), power)
        if power != heads:
            skipped = speller.rule(number(2 * (index - power) + 1))
            within = speller.condition((r.Ordinal(index), "≤", r.Ordinal(power - 1)))
            right = t.cases([(right, within)], power_of(speller, 2, 4, skipped, power))
        yield Definition(t.equation(speller.rule(slope), (t.EQUALS, right)), (slope, index, heads))
        if power is _POWER:
            log = t.Script(t.Ident("log", roman=True), t.Num("2"))
            floor = t.Fenced(t.call(log, speller.scalar(heads)), "⌊", "⌋")
            largest = t.power(t.Num("2"), floor)
            yield Definition(t.equation(speller.scalar(power), (t.EQUALS, largest)))

    def _spell(self, speller: Speller) -> Tree:
        rows, columns, heads, head, symmetric, _ = self.args
        name: Tree = t.Ident("alibi", roman=True)
        if heads != 1:
            name = speller.notation.in_head(name, speller.index(head))
        extra: list[Tree] = [t.Ident("symmetric", roman=True)] if symmetric else []
        extra += settings(speller, self, "start")
        return t.call(name, speller.scalar(rows), speller.scalar(columns), *extra)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        rows, columns, heads, head, symmetric, start = args
        wide = arithmetic.wide
        slopes = wide.table(alibi_slopes, heads)
        if isinstance(head, sympy.Integer) and head >= 0:
            slopes = wide.pick(slopes, head, -1)
        else:
            slopes = wide.expand(wide.expand(slopes, -1), -1)
        apart = _distances(arithmetic, rows, columns, start)
        bias = wide.multiply(slopes, wide.numbers(-abs(apart) if symmetric else apart))
        return arithmetic.narrowed(bias)


def alibi_slopes(heads: int) -> tuple[sympy.Expr, ...]:
    """The exact slope of each head: 2^{−8/H}, 2^{−16/H}, … for H a power of two.

    For another H: those of the nearest smaller power of two, then every other slope, from the
    first, of twice that. Source: Press et al. 2021, section 3, and its code, ``get_slopes``.

    >>> alibi_slopes(4), alibi_slopes(3)
    ((1/4, 1/16, 1/64, 1/256), (1/16, 1/256, 1/4))
    """
    power = _power_within(heads)
    if power == heads:
        return tuple(2 ** sympy.Rational(-8 * (head + 1), heads) for head in range(heads))
    return alibi_slopes(power) + alibi_slopes(2 * power)[0::2][: heads - power]


class Slope(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """The slope of a head of so many, once both are known."""

    is_positive = True

    @classmethod
    def eval(cls, head: sympy.Expr, heads: sympy.Expr) -> sympy.Expr | None:
        """The number."""
        if head.is_Integer and heads.is_Integer:
            return alibi_slopes(int(heads))[int(head)]
        return None


def _slope(head: sympy.Expr, heads: sympy.Expr) -> r.Named:
    return r.Named("mu", (head,), number(Slope(head, heads)))


def _power_within(heads: int) -> int:
    return 1 << (heads.bit_length() - 1)


class RelativeBias(Placed):
    """A learned number for each bucket of distances: b_ij = t_κ, κ the bucket of j − i.

    T5's buckets: `bidirectional` gives half of them to keys after the query; of each direction
    half are for one distance each and the rest are spaced logarithmically up to `max_distance`,
    past which all share the last. See `relative_bucket`, which is exact. `clipped` is the plain
    table of Shaw et al. The table is a matrix (or one for each head). Row 0 is the query at
    position `start`, so that i + start takes the place of i.

    Shapes: table buckets × 1 gives n × m; for a `Head` of tables H × n × m. Raises
    `SymattnError` if the table has another shape or the buckets cannot be laid out.
    Source: Raffel et al., *T5* (2020), section 2.1, and its code, ``_relative_position_bucket``.

    >>> T = sympy.MatrixSymbol("T", 8, 1)
    >>> RelativeBias(1, 6, T, buckets=8, max_distance=8).as_explicit()
    Matrix([[T[0, 0], T[5, 0], T[6, 0], T[6, 0], T[7, 0], T[7, 0]]])
    """

    syntax = "relative(table, start=)"  # and the layout: see `phrase`
    source = "Raffel et al. 2020, section 2.1"
    adjoint_because = "The gradient of a bucket's bias is the sum of the gradients of its entries."
    reason = "The bias added to a score depends only on the relative position."

    rows, columns, table = Extent(), Extent(), Matrix()
    by_rows = 0
    buckets, furthest, bidirectional, clip = Scalar(32), Scalar(128), Flag(True), Scalar(-1)
    start = Whole(0)

    def __new__(
        cls,
        rows: object,
        columns: object,
        table: MatrixExpr,
        buckets: object = 32,
        max_distance: object = 128,
        bidirectional: object = True,
        clip: object = None,
        start: object = 0,
    ) -> Self:
        limit = sympy.S.NegativeOne if clip in (None, -1) else whole(clip, "RelativeBias", "clip")
        if limit >= 0:
            layout = (2 * limit + 1, limit, sympy.S.One)
        else:
            layout = _t5_layout(buckets, max_distance, bidirectional)
        return super().__new__(cls, rows, columns, table, *layout, limit, start)

    def _check(self) -> None:
        found, buckets = shape_of(self.table), self.buckets
        for size, wanted in zip(found, (buckets, 1), strict=True):
            if isinstance(size, sympy.Integer) and size != wanted:
                raise SymattnError(
                    f"RelativeBias: the table is {found[0]} × {found[1]}, "
                    f"and {buckets} buckets need {buckets} × 1"
                )

    @classmethod
    def clipped(cls, rows: object, columns: object, table: MatrixExpr, distance: object) -> Self:
        """One bucket a distance from −k to k, those beyond clipped: κ = clip(j − i, −k, k) + k.

        The table is (2k + 1) × 1. Source: Shaw, Uszkoreit, Vaswani, *Self-Attention with Relative
        Position Representations* (2018), section 3.2, for a number in place of its vectors.
        """
        return cls(rows, columns, table, clip=distance)

    def _rule(self, i: Index, j: Index) -> Rule:
        _, _, table, buckets, furthest, bidirectional, clip, start = self.args
        query = i + start
        if clip >= 0:
            column, last = sympy.sympify(j, strict=True), int(2 * clip)
            inside = partial(r.rule_of, table, r.index_of(column - query + clip), 0)
            near = partial(at_most, j, query + clip - 1, inside, partial(r.rule_of, table, last, 0))
            return at_most(j, query - clip, partial(r.rule_of, table, 0, 0), near)
        bucket = Bucket(sympy.sympify(j, strict=True) - query, buckets, furthest, bidirectional)
        row = int(bucket) if bucket.is_Integer else IndexNumber(bucket, _row_of_table(i, j))
        return r.rule_of(table, row, 0)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """κ_ij, the row of the table, by T5's buckets of a distance Δ (see `relative_bucket`)."""
        _, _, _, buckets, furthest, bidirectional, clip, start = self.args
        if clip >= 0:
            return
        half = buckets / 2 if bidirectional else buckets
        each = half // 2
        name, base = t.Ident("bucket", roman=True), speller.notation.index_base

        def row(distance: Index, first: int) -> Tree:
            found = t.call(name, speller.rule(number(distance)))
            return t.plus([found, t.Num(str(first + base))]) if first + base else found

        query = i + start
        later = row(j - query, int(half)) if bidirectional else speller.index(0)
        earlier = speller.condition((r.Ordinal(j), "≤", r.Ordinal(query)))
        rows = t.cases([(row(query - j, 0), earlier)], later)
        yield Definition(t.equation(speller.scalar(_row_of_table(i, j)), (t.EQUALS, rows)))
        distance = speller.scalar(_DISTANCE)
        ratios = (_DISTANCE / each, sympy.Rational(furthest, each))
        above, below = (
            t.call(t.Ident("ln", roman=True), t.inline(speller.scalar(ratio))) for ratio in ratios
        )
        steps = t.inline(t.Frac(t.times([speller.scalar(half - each), above]), below))
        spaced = t.plus([speller.scalar(each), t.Fenced(steps, "⌊", "⌋")])
        limits = (t.equation(distance, (t.Op("<"), speller.scalar(x))) for x in (each, furthest))
        listed = zip((distance, spaced), limits, strict=True)
        buckets_of = t.cases(listed, speller.scalar(half - 1))
        yield Definition(t.equation(t.call(name, distance), (t.EQUALS, buckets_of)))

    def _spell(self, speller: Speller) -> Tree:
        extra = settings(speller, self, "clip")
        if not extra:
            extra = settings(speller, self, "buckets", far="furthest")
            extra += [] if self.bidirectional else [t.Ident("past", roman=True)]
        extra += settings(speller, self, "start")
        return t.call(t.Ident("bias", roman=True), speller.matrix(self.table), *extra)

    def phrase(self) -> str:
        """The layout of the buckets is always said."""
        spaced = "buckets=buckets, max_distance=furthest, bidirectional="
        return f"relative(table, {'clip=' if self.clip >= 0 else spaced}, start=)"

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return BucketSum(upstream, *self.args[3:])

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, rows: Operand, columns: Operand, table: Array, *layout: Operand
    ) -> Array:
        return arithmetic.entries(table, _buckets(arithmetic, rows, columns, *layout), 0)


def _distances(
    arithmetic: Arithmetic, rows: sympy.Expr, columns: sympy.Expr, start: sympy.Expr
) -> Array:
    """The distances j − i of n queries, the first at position `start`, and m keys."""
    return arithmetic.columns(columns) - arithmetic.rows(rows, start)


def _buckets(
    arithmetic: Arithmetic, rows: sympy.Expr, columns: sympy.Expr, *layout: Operand
) -> Array:
    """The bucket (from 0) of each distance: clipped where the layout says so by a clip from 0."""
    *spaced, clip, start = layout
    apart = _distances(arithmetic, rows, columns, start)
    if clip >= 0:
        return np.clip(apart, -int(clip), int(clip)) + int(clip)
    buckets, furthest, bidirectional = spaced
    return arithmetic.places(relative_bucket, apart, buckets, furthest, bidirectional)


def relative_bucket(
    distance: int, buckets: int = 32, max_distance: int = 128, bidirectional: bool | int = True
) -> int:
    """T5's bucket (from 0) of the distance j − i, by whole numbers alone.

    With n buckets a direction, e = ⌊n/2⌋ and r = |distance| (0 for a later key where only earlier
    ones count): r itself below e, else e + ⌊(n − e) ln(r/e) / ln(max_distance/e)⌋, at most n − 1.
    That ⌊…⌋ ≥ s means r^(n−e) e^s ≥ max_distance^s e^(n−e), which needs no logarithm; a code in
    floating point may round a logarithm down exactly at the start of a bucket.

    >>> [relative_bucket(distance) for distance in (-200, -16, -3, 0, 3, 16, 200)]
    [15, 10, 3, 0, 19, 26, 31]
    """
    offset = 0
    if bidirectional:
        buckets //= 2
        offset = buckets if distance > 0 else 0
    far = abs(distance) if bidirectional else max(-distance, 0)
    exact = buckets // 2
    if far < exact:
        return offset + far
    rest = buckets - exact
    steps = 0
    while steps < rest - 1 and far**rest * exact ** (steps + 1) >= (
        max_distance ** (steps + 1) * exact**rest
    ):
        steps += 1
    return offset + exact + steps


class Bucket(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """The bucket of a distance, once that is a number."""

    is_integer, is_nonnegative = True, True

    @classmethod
    def eval(cls, distance: sympy.Expr, *layout: sympy.Expr) -> sympy.Expr | None:
        """The number."""
        if distance.is_Integer:
            return sympy.Integer(relative_bucket(int(distance), *map(int, layout)))
        return None


def _t5_layout(
    buckets: object, max_distance: object, bidirectional: object
) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    both = bool(bidirectional)
    count = whole(buckets, "RelativeBias", "buckets", least=4 if both else 2)
    furthest = whole(max_distance, "RelativeBias", "max_distance", least=1)
    for known in (count, furthest):
        if not isinstance(known, sympy.Integer):
            raise SymattnError(f"RelativeBias: {known} is a symbol; give the number itself")
    alone = count // (4 if both else 2)
    if furthest <= alone or (both and count % 2):
        raise SymattnError(
            f"RelativeBias: {count} buckets up to a distance of {furthest}: give an even number of "
            f"buckets and a distance above {alone}, which have a bucket each"
        )
    return count, furthest, sympy.Integer(both)


class BucketSum(Placed):
    """The sum over each bucket of distances: c_β = Σ_pt u_pt over all p, t whose bucket is β.

    The buckets are those of `RelativeBias` with the same layout.

    Shapes: n × m becomes buckets × 1; one for each head where `matrix` is. Raises `SymattnError`
    if `matrix` is no matrix.
    Source: Raffel et al. 2020, section 2.1: all places of a bucket share its number.

    >>> print(BucketSum(sympy.Matrix([[1, 2], [3, 4]]), 3, 1, 1, 1, 0).doit())
    Matrix([[3], [5], [2]])
    """

    matrix = Matrix()
    buckets, furthest, bidirectional, clip = Scalar(), Scalar(), Scalar(), Scalar()
    start = Scalar()

    word = "bucketsum"
    source = "Raffel et al. 2020, section 2.1"
    adjoint_because = "Every entry of a bucket receives the bucket's gradient."

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A number for each bucket."""
        return self.buckets, sympy.S.One

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, *layout, start = self.args
        rows, columns = shape_of(matrix)
        query = r.dummy(i, j, self)
        key = r.dummy(i, j, self, query)
        bucket: sympy.Expr = _bucket(key - query - start, *layout)
        letter = sympy.Symbol(f"kappa@{query}@{key}", positive=True)
        place = r.Plus((r.Ordinal(IndexNumber(bucket, letter, counted=1)),))
        zero = r.Const(sympy.S.Zero)
        body = r.Cases(r.Ordinal(i), "=", place, r.rule_of(matrix, query, key), zero)
        return r.Total(r.Total(body, key, columns), query, rows)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, buckets, furthest, bidirectional, clip, start = self.args
        shape = shape_of(matrix)
        if clip >= 0:
            return RelativeBias(*shape, upstream, clip=clip, start=start)
        return RelativeBias(*shape, upstream, buckets, furthest, bidirectional, start=start)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, *layout: Operand) -> Array:
        buckets = _buckets(arithmetic, *matrix.shape[-2:], *layout)
        sums = arithmetic.sums_at(
            arithmetic.flattened(matrix), arithmetic.flattened(buckets), layout[0]
        )
        return arithmetic.transpose(sums)


def _bucket(distance: sympy.Expr, *layout: sympy.Expr) -> sympy.Expr:
    """The bucket of a distance as an expression."""
    *spaced, clip = layout
    if clip < 0:
        return Bucket(distance, *spaced)
    return sympy.Min(sympy.Max(distance, -clip), clip) + clip
