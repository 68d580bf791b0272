"""From scores to weights: row softmax, the plain ratio it replaced, and what came after it.

`RowMax` is here too: a softmax subtracts it, and its gradient is a `Hardmax`. Adding a normaliser
is adding a class and a row of `NORMALISERS` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError, SymattnError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Learned
from symattn.nodes.base import Definition, shape_of
from symattn.nodes.entrywise import Entrywise
from symattn.nodes.lines import (
    Filled,
    LineQuotient,
    LineSum,
    NumberOfLines,
    OfLines,
    PlusVector,
    Spread,
)
from symattn.nodes.masks import Masked, VisibleScores
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Normaliser(OfLines):
    """What turns each row of scores into weights; `axis` 1 over rows, 0 over columns."""

    rule_name: ClassVar[str] = ""

    #: Whether the weights of every query that sees a key sum to 1.
    sums_to_one: ClassVar[bool] = True

    shares = True

    #: The identity of the catalogue by which the weights times other matrices are divided last.
    late: ClassVar[str] = ""

    #: Whether a masked score is −∞; otherwise it has to be made 0 before.
    additive_mask: ClassVar[bool] = True

    #: Why the weights of a query that sees no key are 0 by convention.
    of_nothing: ClassVar[str] = "the formula alone would be 0/0"

    by_rows = 1

    @property
    def sharpens(self) -> bool:
        """Whether a temperature matters: it cancels where scores are divided by their own sum."""
        return self.additive_mask

    @classmethod
    def masked(cls, scores: MatrixExpr, mask: MatrixExpr) -> MatrixExpr:
        """Scores of which those that a mask hides get weight 0."""
        return (Masked if cls.additive_mask else VisibleScores)(scores, mask)

    @classmethod
    def _times(
        cls, arithmetic: Arithmetic, scores: Array, others: Sequence[Array], last: bool
    ) -> Array:
        """The weights times other matrices, divided last or first; of those with `late`."""
        raise NotImplementedError

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return sympy.HadamardProduct(value, self._less_mean(upstream, value))

    def _less_mean(self, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr:
        """The gradient less its mean over the line, weighed by the weights: U − rowsum(A ∘ U)."""
        axis = self.axis
        mean = LineSum(sympy.HadamardProduct(value, upstream), axis)
        return PlusVector(upstream, sympy.MatMul(-1, mean), 1 - axis)


def unless_all_hidden(
    arithmetic: Arithmetic, scores: Array, weigh: Callable[[Arithmetic, Array], Array]
) -> Array:
    """The weights of scores, and 0 in every row that has nothing to attend to (−∞ alone)."""
    nothing = arithmetic.all_hidden(scores)
    weights = arithmetic.call(weigh, arithmetic.where(nothing, arithmetic.zero, scores))
    return arithmetic.where(nothing, arithmetic.zero, weights)


def softmax(arithmetic: Arithmetic, scores: Array) -> Array:
    """e^{z_ij} / Σ_l e^{z_il} for rows with a finite score each."""
    return arithmetic.share(*exponentials(arithmetic, scores))


def exponentials(arithmetic: Arithmetic, scores: Array) -> tuple[Array, Array]:
    """e^{z_ij} and Σ_l e^{z_il}, both over the same number in each row."""
    powers = arithmetic.exp(arithmetic.shift(scores))
    return powers, arithmetic.row_sum(powers)


def softmax_with_sink(arithmetic: Arithmetic, scores: Array, sink: Array) -> Array:
    """e^{z_ij} / (e^s + Σ_l e^{z_il}), the weights of the scores beside one more, s."""
    weights = Softmax._rows(arithmetic, arithmetic.join([scores, sink], axis=-1))
    return arithmetic.part(weights, 0, scores.shape[-1], -1)


def softmax_off_by_one(arithmetic: Arithmetic, scores: Array) -> Array:
    """e^{z_ij} / (1 + Σ_l e^{z_il}): the sink is 0."""
    return softmax_with_sink(arithmetic, scores, arithmetic.filled(sympy.S.Zero, 1, 1))


def sparsemax(arithmetic: Arithmetic, scores: Array) -> Array:
    """max(0, z_ij − τ_i) for rows with a finite score each."""
    low = arithmetic.lowered(scores)
    left = arithmetic.subtract(low, arithmetic.threshold(low))
    return arithmetic.share(arithmetic.apply("max0", left), arithmetic.scalar(sympy.S.One))


def entmax15(arithmetic: Arithmetic, scores: Array) -> Array:
    """max(0, z_ij/2 − τ_i)² for rows with a finite score each."""
    half = arithmetic.over(arithmetic.lowered(scores), sympy.Integer(2))
    left = arithmetic.subtract(half, arithmetic.threshold_of_squares(half))
    root = arithmetic.apply("max0", left)
    return arithmetic.share(arithmetic.multiply(root, root), arithmetic.scalar(sympy.S.One))


def hardmax(arithmetic: Arithmetic, scores: Array) -> Array:
    """1 at the first largest entry of each row, 0 elsewhere."""
    return arithmetic.first_largest(scores)


class RowMax(NumberOfLines):
    """The largest entry of each row as a column, ρ_i = max_l z_il; with `axis` 0 of each column.

    A row of −∞ alone (or of no entries) has the maximum −∞. Exact arithmetic proves every
    comparison; balls answer with one that holds the largest, whichever entry it is.

    Shapes: n × m becomes n × 1. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact entries can be neither told apart nor proven equal.
    Source: Blanchard, Higham, Higham, *Accurately computing the log-sum-exp and softmax functions*
    (2021), equation 1.3; Milakov and Gimelshein 2018, algorithm 2.

    >>> print(RowMax(sympy.Matrix([[1, sympy.sqrt(8)], [4, 3]])).doit())
    Matrix([[2*sqrt(2)], [4]])
    """

    syntax = ("rowmax(matrix)", "")
    source = "Blanchard, Higham, Higham 2021, equation 1.3"
    rises = True

    adjoint_because = (
        "Only the largest entry of a row affects its maximum; of equal ones, only the first."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index, entry, size = self._line(i, j)
        return r.OfRow("max", (entry,), index, size)

    def _spell(self, speller: Speller) -> Tree:
        word = "rowmax" if self.axis == 1 else "colmax"
        return t.call(t.Ident(word, roman=True), speller.matrix(self.matrix))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, axis = self.args
        spread = Spread(upstream, shape_of(matrix)[int(axis)], axis)
        return sympy.HadamardProduct(spread, Hardmax(matrix, axis))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, matrix: Array, *more: Array) -> Array:
        return arithmetic.row_max(matrix)


_AT_LEAST = t.Op("≥")


def _x(index: Tree) -> Tree:
    return t.Script(t.Ident("ξ"), index)


class Hardmax(Normaliser):
    """All weight on the best key: a_ij = 1 if j = argmax_l z_il, else 0.

    Of equally large scores the first one counts. Exact arithmetic proves every comparison; balls
    answer [0, 1] where they overlap. A row of −∞ alone gets weights 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact scores can be neither told apart nor proven equal.
    Source: ONNX, operator Hardmax.

    >>> print(Hardmax(sympy.Matrix([[1, sympy.sqrt(8), 2 * sympy.sqrt(2)]])).doit())
    Matrix([[0, 1, 0]])
    """

    source = "ONNX, operator Hardmax"
    between = (0, 1)
    of_nothing = "no score is finite"
    syntax = ("hardmax(matrix)", "")
    rule_name = "hardmax"
    reason = (
        "Each query puts all its weight on the key with the largest score, or on the "
        "first such key if there are several."
    )
    adjoint_because = (
        "A small change of the scores leaves the weights unchanged, so the gradient is 0; at a "
        "tie, where the weights jump, it does not exist."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index, score, size = self._line(i, j)
        here = r.Ordinal(j if self.args[-1] == 1 else i)
        best = r.OfRow("argmax", (score,), index, size)
        return r.Cases(here, "=", best, r.Const(sympy.S.One), r.Const(sympy.S.Zero))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """argmax_l z_il = min {l : z_il = max_p z_ip}: the first of equally large ones."""
        index, score, size = self._line(i, j)
        other, any_score, _ = self._line(i, j, index)
        largest = t.call(
            t.Script(t.Ident("max", roman=True), speller.index(other)), speller.rule(any_score)
        )
        such = t.equation(speller.rule(score), (t.EQUALS, largest))
        places = t.Fenced(t.row(speller.index(index), t.Op(":"), such), "{", "}")
        first = t.row(t.Ident("min", roman=True), t.APPLY, places)
        best = speller.rule(r.OfRow("argmax", (score,), index, size))
        yield Definition(t.equation(best, (t.EQUALS, first)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Filled(*self.shape, 0)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return unless_all_hidden(arithmetic, scores, hardmax)


class _AboveThreshold(Normaliser):
    """Weights of what lies above a threshold τ_i, which makes them sum to 1; 0 for the rest.

    Where a small change of the scores keeps who lies above it, each of these moves by its `slope`,
    s, less its share of all: da = s ∘ (dz − (s · dz)/(s · 1)).
    """

    between = (0, 1)
    of_nothing = "no score is finite"

    #: The name of the row function that is τ, and of the function of the weight that is s.
    level: ClassVar[str] = ""
    slope: ClassVar[str] = ""

    def _excess(self, i: Index, j: Index, part: Callable[[Rule], Rule]) -> Rule:
        """max(0, z_ij − τ(z_i1, …, z_im)), of this part of each score."""
        index, score, size = self._line(i, j)
        level = r.OfRow(self.level, (part(score),), index, size)
        own = part(r.rule_of(self.args[0], i, j))
        return r.Apply("max0", r.Plus((own, r.minus(level))))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        axis, slopes = self.axis, Entrywise(value, self.slope)
        weighted_sum = LineSum(sympy.HadamardProduct(slopes, upstream), axis)
        mean = LineQuotient(weighted_sum, LineSum(slopes, axis), axis)
        rest = PlusVector(upstream, sympy.MatMul(-1, mean), 1 - axis)
        return sympy.HadamardProduct(slopes, rest)


class Sparsemax(_AboveThreshold):
    """The nearest point of the simplex: a_ij = max(0, z_ij − τ_i), with τ_i so that Σ_l a_il = 1.

    With the scores of row i in decreasing order, τ_i = max_k (z_(1) + … + z_(k) − 1)/k. A score of
    −∞ gets weight exactly 0, and a row with nothing else gets weights 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact scores can be neither told apart nor proven equal.
    Source: Martins and Astudillo, *From Softmax to Sparsemax* (2016).

    >>> print(Sparsemax(sympy.Matrix([[2, sympy.Rational(3, 2), 0]])).doit())
    Matrix([[3/4, 1/4, 0]])
    """

    source = "Martins and Astudillo 2016"
    level, slope = "τ", "above0"
    syntax = ("sparsemax(matrix)", "")
    rule_name = "sparsemax"
    reason = (
        "The same number {τ} is subtracted from all of a query's scores so that the positive "
        "results sum to 1; keys with small scores get weight 0."
    )
    adjoint_because = (
        "Among the keys with positive weight, the mean of their gradients is subtracted from each; "
        "a key with weight 0 has gradient 0."
    )
    adjoint_source = "Martins and Astudillo 2016, section 2.5"

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._excess(i, j, lambda score: score)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """τ(ξ_1, …) = max_l (ξ_(1) + … + ξ_(l) − 1)/l over the numbers in decreasing order."""
        index, _, size = self._line(i, j)
        count, k = speller.scalar(size), speller.index(index)
        given = t.commas([_x(t.Num("1")), t.DOTS, _x(count)])
        sums = t.plus([_x(t.Fenced(t.Num("1"))), t.DOTS, _x(t.Fenced(k))])
        share = t.Frac(t.plus([sums, t.row(t.MINUS, t.Num("1"))]), k)
        largest = t.call(t.Script(t.Ident("max", roman=True), k), share)
        yield Definition(t.equation(t.call(t.Ident("τ"), given), (t.EQUALS, largest)))
        falling = t.equation(
            _x(t.Fenced(t.Num("1"))), (_AT_LEAST, t.DOTS), (_AT_LEAST, _x(t.Fenced(count)))
        )
        order = t.Text(" in decreasing order")
        yield Definition(t.row(falling, t.Text(" are "), given, order))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return unless_all_hidden(arithmetic, scores, sparsemax)


class Entmax15(_AboveThreshold):
    """Between softmax and sparsemax: a_ij = max(0, z_ij/2 − τ_i)², with τ_i so that Σ_l a_il = 1.

    With x the halved scores of row i in decreasing order, M_k the mean of the first k and S_k the
    sum of their squared distances from it, τ_i = M_k − √((1 − S_k)/k) for the largest k with
    τ_i ≤ x_k. A score of −∞ gets weight exactly 0, and a row with nothing else gets weights 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact scores can be neither told apart nor proven equal.
    Source: Peters, Niculae, Martins, *Sparse Sequence-to-Sequence Models* (2019), section 3.2 and
    algorithm 2; α is 3/2.

    >>> print(Entmax15(sympy.Matrix([[2, 2, 0]])).doit())
    Matrix([[1/2, 1/2, 0]])
    """

    source = "Peters, Niculae, Martins 2019, section 3.2"
    level, slope = "τ2", "√"
    syntax = ("entmax15(matrix)", "")
    rule_name = "entmax"
    reason = (
        "Of a query's halved scores the same number {τ} is subtracted, and what is positive is "
        "squared, so that the squares sum to 1; keys with small scores get weight 0."
    )
    adjoint_because = (
        "A score moves its weight by the weight's square root: the mean of the gradients, weighed "
        "by these roots, is subtracted from each, and the result is multiplied by the root."
    )
    adjoint_source = "Peters, Niculae, Martins 2019, section 3.3"

    def _rule(self, i: Index, j: Index) -> Rule:
        two = r.Const(sympy.Integer(2))
        return r.Power(self._excess(i, j, lambda score: r.Over(score, two)), 2)

    def _spell(self, speller: Speller) -> Tree:
        name = t.Script(t.Ident("entmax", roman=True), t.Num("1.5"))
        return t.call(name, speller.matrix(self.args[0]))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """τ₂(ξ_1, …) is the number with Σ_l max(0, ξ_l − τ₂)² = 1."""
        index, _, size = self._line(i, j)
        letter, k = t.Script(t.Ident("τ"), t.Num("2")), speller.index(index)
        given = t.commas([_x(t.Num("1")), t.DOTS, _x(speller.scalar(size))])
        above = t.plus([_x(k), t.row(t.MINUS, letter)])
        square = t.power(t.call(t.Ident("max", roman=True), t.Num("0"), above), t.Num("2"))
        total = t.row(t.Script(t.SUM, k), square)
        one = t.equation(total, (t.EQUALS, t.Num("1")))
        yield Definition(t.row(t.call(letter, given), t.Text(" is the number with "), one))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return unless_all_hidden(arithmetic, scores, entmax15)


#: Why the gradient of the scores is what it is wherever the weights of a row share a sum.
_SHARED_WEIGHT = (
    "A higher score raises its own weight and lowers the others: the weighted mean of a row's "
    "gradients is subtracted from each, and the result is multiplied by the weight."
)


class Softmax(Normaliser):
    """Row softmax: a_ij = e^{z_ij} / Σ_l e^{z_il}.

    A score of −∞ gets weight exactly 0, and a row with nothing else gets weights 0, not NaN.
    Arrays subtract the row maximum first, which changes nothing but keeps e^z in range.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.1; Bridle, *Probabilistic Interpretation of
    Feedforward Classification Network Outputs* (1990), for the name.

    >>> print(Softmax(sympy.Matrix([[0, sympy.log(3)]])).doit())
    Matrix([[1/4, 3/4]])
    """

    source = "Vaswani et al. 2017, section 3.2.1"
    between = (0, 1)
    late = "late-normalisation"
    syntax = ("softmax(matrix)", "colsoftmax(matrix)")
    rule_name = "row softmax"
    reason = (
        "Exponentials are never negative; dividing by their sum makes each query's "
        "weights sum to 1."
    )
    adjoint_because = _SHARED_WEIGHT
    adjoint_source = "Dao et al. 2022, appendix B.2"

    def _rule(self, i: Index, j: Index) -> Rule:
        index, score, size = self._line(i, j)
        total = r.Total(r.Exp(score), index, size)
        return r.Over(r.Exp(r.rule_of(self.args[0], i, j)), total, empty=sympy.S.Zero)

    @classmethod
    def _times(
        cls, arithmetic: Arithmetic, scores: Array, others: Sequence[Array], last: bool
    ) -> Array:
        nothing = arithmetic.all_hidden(scores)
        safe = arithmetic.where(nothing, arithmetic.zero, scores)
        powers, sums = exponentials(arithmetic, safe)
        out = powers if last else arithmetic.share(powers, sums)
        for other in others:
            out = arithmetic.matmul(out, other)
        return arithmetic.where(
            nothing, arithmetic.zero, arithmetic.divide(out, sums) if last else out
        )

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return unless_all_hidden(arithmetic, scores, softmax)


class RowRatio(Normaliser):
    """Each score over the sum of its row: a_ij = s_ij / Σ_l s_il.

    The plain ratio that softmax replaced: a negative score gives a negative weight, and a row
    that sums to 0 has no weights at all, which is an error here.

    Shapes: n × m in and out. Raises `SymattnError` for a row that sums to 0 when evaluated.
    Source: Graves, Wayne, Danihelka, *Neural Turing Machines* (2014), section 3.3.2, normalises
    this way after sharpening; Raschka, *Build a Large Language Model*, section 3.3.1, as a naive
    first attempt.

    >>> print(RowRatio(sympy.Matrix([[1, 3]])).doit())
    Matrix([[1/4, 3/4]])
    """

    source = "Graves et al. 2014, section 3.3.2"
    partial = True
    additive_mask = False
    syntax = ("ratio(matrix)", "")
    rule_name = "row ratio"
    reason = "Dividing each query's scores by their sum makes its weights sum to 1."
    adjoint_because = (
        "Each score also changes its row's sum: the weighted mean of a row's gradients is "
        "subtracted from each, and the result is divided by the sum of the scores."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index, score, size = self._line(i, j)
        return r.Over(r.rule_of(self.args[0], i, j), r.Total(score, index, size))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return LineQuotient(
            self._less_mean(upstream, value), LineSum(self.matrix, self.axis), self.axis
        )

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        if arithmetic.anywhere(arithmetic.hidden(scores)):
            raise SymattnError(
                "weights: a score of −∞ has no ratio; mask before a softmax, or leave the mask out"
            )
        total = arithmetic.row_sum(scores)
        if arithmetic.anywhere(arithmetic.vanishing(total)):
            raise SymattnError(
                "weights: a row of scores sums to 0 (or too near 0 to tell), so it has no ratio; "
                'normalise with "softmax" instead'
            )
        return arithmetic.divide(scores, total)


class _OneMore(Normaliser):
    """A softmax over the scores and one more, whose weight then belongs to no key."""

    sums_to_one = False
    adjoint_because = _SHARED_WEIGHT

    def _below(self, i: Index, j: Index, extra: Rule) -> Rule:
        """e^{z_ij} over `extra` and the sum of all exponentials."""
        index, score, size = self._line(i, j)
        return r.Over(
            r.Exp(r.rule_of(self.args[0], i, j)),
            r.Plus((extra, r.Total(r.Exp(score), index, size))),
        )

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        if more:
            return arithmetic.call(softmax_with_sink, scores, *more)
        return arithmetic.call(softmax_off_by_one, scores)


class OffByOneSoftmax(_OneMore):
    """Softmax that may attend to nothing: a_ij = e^{z_ij} / (1 + Σ_l e^{z_il}).

    The weights of a row sum to less than 1, and to nearly 0 where all its scores are very
    negative. A score of −∞ gets weight 0. Arrays subtract the larger of the row maximum and 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Miller, *Attention Is Off By One* (2023).

    >>> print(OffByOneSoftmax(sympy.Matrix([[0, sympy.log(2)]])).doit())
    Matrix([[1/4, 1/2]])
    """

    source = "Miller, Attention Is Off By One (2023)"
    between = (0, 1)
    syntax = ("softmax1(matrix)", "")
    word = "softmax"
    rule_name = "softmax off by one"
    reason = "With 1 added to the denominator, the weights of a query sum to less than 1."

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._below(i, j, r.Const(sympy.S.One))

    def _spell(self, speller: Speller) -> Tree:
        name = t.Script(t.Ident(self.word, roman=True), t.Num("1"))
        return t.call(name, speller.matrix(self.args[0]))


class SinkSoftmax(_OneMore):
    """Softmax with a learned sink: a_ij = e^{z_ij} / (e^s + Σ_l e^{z_il}).

    The sink s is one more logit, the same for all queries, whose weight is thrown away; with
    s = 0 it is `OffByOneSoftmax`. A score of −∞ gets weight 0.

    Shapes: n × m in and out, the sink 1 × 1. Raises `SymattnError` if an argument is no matrix
    and `ShapeError` if the sink is not 1 × 1.
    Source: Xiao et al., *Efficient Streaming Language Models with Attention Sinks* (2023), for
    sinks; OpenAI, gpt-oss (2025), for a learned logit in each head.

    >>> print(SinkSoftmax(sympy.Matrix([[0, 0]]), sympy.Matrix([[sympy.log(2)]])).doit())
    Matrix([[1/4, 1/4]])
    """

    sink = Learned("beta", "the sink's logit")
    source = "Xiao et al. 2023; OpenAI, gpt-oss (2025)"
    between = (0, 1)
    syntax = "sinksoftmax(matrix, sink)"
    word = "softmax"
    rule_name = "softmax with a sink"
    reason = (
        "The sink is a learned extra score: it takes a share of each query's weight, "
        "but has no value vector."
    )
    adjoint_reasons: ClassVar[Mapping[int, str]] = {
        1: (
            "A higher sink takes weight from all keys of a row, in proportion to their weights: "
            "the sink's weight times the weighted sum of the row's gradients is subtracted, "
            "row by row."
        )
    }

    def _check(self) -> None:
        rows, columns = self.sink.shape
        if (rows, columns) != (1, 1):
            raise ShapeError(f"sink: is {rows} × {columns}; give a single number, 1 × 1")

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._below(i, j, r.Exp(r.rule_of(self.args[1], 0, 0)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return super()._adjoint(place, upstream, value)
        axis = self.args[-1]
        shares = LineSum(value, axis)
        rest = sympy.MatAdd(Filled(*shares.shape, 1), sympy.MatMul(-1, shares))
        mean = LineSum(sympy.HadamardProduct(value, upstream), axis)
        parts = (sympy.Transpose(rest), mean) if axis == 1 else (mean, sympy.Transpose(rest))
        return sympy.MatMul(-1, *parts)


class Sigmoid(Normaliser):
    """Each score on its own: a_ij = σ(z_ij) = 1 / (1 + e^{−z_ij}).

    The weights of a row need not sum to 1. A score of −∞ gets weight 0. The bias −log n that the
    authors add to the scores is a step of its own.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Ramapuram et al., *Theory, Analysis, and Best Practices for Sigmoid Self-Attention*
    (2024).

    >>> print(Sigmoid(sympy.Matrix([[0, sympy.log(3)]])).doit())
    Matrix([[1/2, 3/4]])
    """

    source = "Ramapuram et al. 2024"
    between = (0, 1)
    rises = True
    sums_to_one = shares = False
    syntax = "sigmoid(matrix)"
    rule_name = "sigmoid"
    reason = "Each score is mapped to a number between 0 and 1, whatever the other scores are."
    adjoint_because = (
        "The sigmoid's derivative σ(1 − σ) is largest at weight 1/2 and near 0 at 0 and 1."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Apply("σ", r.rule_of(self.args[0], i, j))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """σ(ξ) = 1/(1 + e^{−ξ})."""
        x = t.Ident("ξ")
        below = t.plus([t.Num("1"), t.power(t.Ident("e"), t.row(t.MINUS, x))])
        value = t.Frac(t.Num("1"), below)
        yield Definition(t.equation(t.call(t.Ident("σ"), x), (t.EQUALS, value)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        rest = sympy.MatAdd(Filled(*self.shape, 1), sympy.MatMul(-1, value))
        return sympy.HadamardProduct(upstream, value, rest)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        hidden = arithmetic.hidden(scores)
        safe = arithmetic.where(hidden, arithmetic.zero, scores)
        return arithmetic.where(hidden, arithmetic.zero, arithmetic.apply("σ", safe))


class Unnormalised(Normaliser):
    """The scores themselves as weights: a_ij = z_ij, and 0 where z_ij is −∞.

    For linear attention without a denominator, whose output is Q (Kᵀ V).

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Sun et al., *Retentive Network* (2023), equation 5.

    >>> print(Unnormalised(sympy.Matrix([[2, -sympy.oo, -1]])).doit())
    Matrix([[2, 0, -1]])
    """

    source = "Sun et al. 2023, equation 5"
    sums_to_one = shares = False
    additive_mask = False
    syntax = "unnormalised(matrix)"
    word = "none"
    rule_name = "no normalisation"
    reason = "The scores are used as weights; nothing is normalised."
    adjoint_because = "The scores are the weights, so the gradients are equal."

    def _rule(self, i: Index, j: Index) -> Rule:
        score = r.rule_of(self.args[0], i, j)
        hidden = r.Const(sympy.S.NegativeInfinity)
        return r.Cases(score, "=", hidden, r.Const(sympy.S.Zero), score)

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.args[0])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return VisibleScores(upstream, self.args[0])

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return arithmetic.visible(scores)


def shared_out(expr: MatrixExpr) -> bool:
    """Whether every row sums to 1 by its definition: weights, or a row over its own sum."""
    return expr.sums_to_one if isinstance(expr, Normaliser) else isinstance(expr, LineQuotient)


#: The choices of the normaliser axis.
NORMALISERS: Mapping[str, type[Normaliser]] = {
    "softmax": Softmax,
    "softmax-off-by-one": OffByOneSoftmax,
    "softmax-sink": SinkSoftmax,
    "sum": RowRatio,
    "sigmoid": Sigmoid,
    "sparsemax": Sparsemax,
    "entmax15": Entmax15,
    "hardmax": Hardmax,
    "none": Unnormalised,
}
