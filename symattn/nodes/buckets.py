"""What a table of relative biases learns from: the gradients of all places that share a bucket."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import as_matrix, as_scalar, shape_of
from symattn.nodes.biases import Bucket, RelativeBias, bucket_of, distances
from symattn.nodes.encodings import Number, Placed
from symattn.nodes.rule import Cases, Const, Index, Ordinal, Plus, Rule, Total, dummy, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class BucketSum(Placed):
    """The sum over each bucket of distances: c_β = Σ_pt u_pt over all p, t whose bucket is β.

    The buckets are those of `RelativeBias` with the same layout.

    Shapes: n × m becomes buckets × 1; one for each head where `matrix` is. Raises `SymattnError`
    if `matrix` is no matrix.
    Source: Raffel et al. 2020, section 2.1: all places of a bucket share its number.

    >>> print(BucketSum(sympy.Matrix([[1, 2], [3, 4]]), 3, 1, 1, 1, 0).doit())
    Matrix([[3], [5], [2]])
    """

    source: ClassVar[str] = "Raffel et al. 2020, section 2.1"
    adjoint_because: ClassVar[str] = "All places of a bucket have its gradient."

    def __new__(cls, matrix: Any, *layout: Any) -> Self:
        numbers = (as_scalar(number, "BucketSum") for number in layout)
        return super().__new__(cls, as_matrix(matrix, "BucketSum"), *numbers)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A number for each bucket."""
        return self.args[1], sympy.S.One

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, *layout, start = self.args
        rows, columns = shape_of(matrix)
        query = dummy(i, j)
        key = dummy(i, j, query)
        bucket: sympy.Expr = _bucket(key - query - start, *layout)
        letter = sympy.Symbol(f"beta_{query}{key}", positive=True)
        place = Plus((Ordinal(Number(bucket, letter, counted=1)),))
        zero = Const(sympy.S.Zero)
        body = Cases(Ordinal(i), "=", place, rule_of(matrix, query, key), zero)
        return Total(Total(body, key, columns), query, rows)

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("bucketsum", roman=True), speller.matrix(self.args[0]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, buckets, furthest, bidirectional, clip, start = self.args
        shape = shape_of(matrix)
        if clip >= 0:
            return RelativeBias(*shape, upstream, clip=clip, start=start)
        return RelativeBias(*shape, upstream, buckets, furthest, bidirectional, start=start)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, *layout, start = args
        n, m = matrix.shape[-2:]
        between, places = distances(n, m, start)
        known = [bucket_of(distance, *map(int, layout)) for distance in between]
        place = np.array(known)[places]
        out = []
        for bucket in range(int(layout[0])):
            inside = arithmetic.where(place == bucket, matrix, arithmetic.zero)
            out.append(arithmetic.row_sum(inside.reshape(*inside.shape[:-2], 1, n * m)))
        return np.concatenate(out, axis=-2)


def _bucket(distance: sympy.Expr, *layout: sympy.Expr) -> sympy.Expr:
    """The bucket of a distance as an expression."""
    *spaced, clip = layout
    if clip < 0:
        return Bucket(distance, *spaced)
    return sympy.Min(sympy.Max(distance, -clip), clip) + clip
