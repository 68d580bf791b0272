"""Misconceptions about the weights and what they average: A = softmax(Z), O = A V.

A new one is a row at the end, and the function above that changes the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.mistakes.base import (
    DOT_PRODUCT,
    REPORTED,
    Change,
    Misconception,
    Steps,
    fits,
    square,
)
from symattn.mistakes.nodes import SeenRatio
from symattn.mistakes.scores import scores_from
from symattn.nodes.entrywise import Exponential
from symattn.nodes.heads import Head
from symattn.nodes.lines import LineDifference, LineQuotient, LineSum
from symattn.nodes.masks import Masked, VisibleScores
from symattn.nodes.normalise import Hardmax, RowMax, RowRatio, Softmax


def _weights(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Another way from the logits of a softmax to the weights."""

    def change(s: Steps) -> Change | None:
        return None if s.softmax is None else {"weights": make(s.softmax)}

    return change


def _columns(s: Steps) -> Change | None:
    """Each column, not each row, sums to 1."""
    weights = s.expr("weights")
    if s.softmax is not None:
        return {"weights": Softmax(s.softmax, 0)}
    if isinstance(weights, RowRatio):
        return {"weights": RowRatio(weights.args[0], 0)}
    return None


def _shared_out(s: Steps) -> MatrixExpr | None:
    """What each row's weights are shares of: exponentials, or the scores themselves."""
    weights = s.expr("weights")
    if s.softmax is not None:
        return Exponential(s.softmax)
    return weights.args[0] if isinstance(weights, RowRatio) else None


def _over_everything(s: Steps) -> Change | None:
    """a_ij = e^(z_ij) / Σ_kl e^(z_kl)."""
    parts = _shared_out(s)
    if parts is None or parts.shape[0] == 1:
        return None
    rows = int(parts.shape[0])
    ones = sympy.ImmutableDenseMatrix(rows, 1, [1] * rows)
    return {"weights": LineQuotient(parts, ones * LineSum(LineSum(parts), 0))}


def _row_sums_along_columns(s: Steps) -> Change | None:
    """a_ij = e^(z_ij) / Σ_l e^(z_jl): the sum of row j."""
    parts = _shared_out(s)
    if parts is None or not square(parts):
        return None
    return {"weights": LineQuotient(parts, LineSum(parts).T, 0)}


def _ones(logits: MatrixExpr) -> MatrixExpr:
    """a_ij = 1."""
    rows, columns = map(int, logits.shape)
    return sympy.ImmutableDenseMatrix(rows, columns, [1] * rows * columns)


def _ratio_as_softmax(s: Steps) -> Change | None:
    """A softmax where a_ij = s_ij / Σ_l s_il."""
    weights, masked = s.expr("weights"), s.expr("masked")
    if not isinstance(weights, RowRatio):
        return None
    if isinstance(masked, VisibleScores):  # with 0 where a softmax has −∞
        return {"weights": Softmax(Masked(*masked.args))}
    return {"weights": Softmax(weights.args[0])}


def _weights_transposed(s: Steps) -> Change | None:
    """O = Aᵀ V."""
    if s.averaged is None or not square(s.averaged[0]):
        return None
    weights, values = s.averaged
    return {s.result: weights.T * values}


def _values_from(name: str) -> Callable[[Steps], Change | None]:
    """O = A M, with another matrix M than the values."""

    def change(s: Steps) -> Change | None:
        other = s.symbol(name)
        if s.averaged is None or not fits(other, s.averaged[1]) or other == s.averaged[1]:
            return None
        return {s.result: s.averaged[0] * other}

    return change


def _keys_and_values_exchanged(s: Steps) -> Change | None:
    """S = Q Vᵀ and O = A K."""
    keys, values = _values_from("K")(s), scores_from("V")(s)
    return None if keys is None or values is None else {**values, **keys}


def _scores_as_weights(s: Steps) -> Change | None:
    """O = S V, over the scores that a query may see."""
    logits = s.logits
    if s.averaged is None or logits is None or not fits(logits, s.averaged[0]):
        return None
    return {s.result: VisibleScores(logits, logits) * s.averaged[1]}


def _over_the_largest(s: Steps) -> Change | None:
    """a_ij = e^(z_ij) / max_l e^(z_il)."""
    parts = _shared_out(s)
    if parts is None or parts.shape[1] == 1:
        return None
    return {"weights": LineQuotient(parts, RowMax(parts))}


def _logits_instead(s: Steps, old: str, new: MatrixExpr | None) -> Change | None:
    """The logits made from another step, though the steps between are written as they should be."""
    user = "exp" if "exp" in s.steps else "weights"
    expr, logits = s.expr(user), s.logits
    if expr is None or logits is None or new is None or old not in s.steps:
        return None
    if "row_max" in s.steps:
        return None  # which would have to be made from them too
    inside = logits
    for name in ("masked", "biased", "capped"):
        if name in s.steps and name != old:
            inside = inside.xreplace({s.symbols[name]: s.steps[name].expr})
    other = inside.xreplace({s.symbols[old]: new})
    return None if other == inside else {user: expr.xreplace({logits: other})}


def _unscaled_logits(s: Steps) -> Change | None:
    """The softmax of S, though S/√d_k stands before it."""
    return _logits_instead(s, "scaled", s.symbol("scores"))


def _unmasked_logits(s: Steps) -> Change | None:
    """The softmax of the scores before the mask, though the masked ones stand before it."""
    return _logits_instead(s, "masked", s.before_mask)


def _shifted(s: Steps) -> Change | None:
    """e^(z − max) where e^z is asked for."""
    exponential = s.expr("exp")
    if not isinstance(exponential, Exponential) or "row_max" in s.steps:
        return None
    logits = exponential.args[0]
    return {"exp": Exponential(LineDifference(logits, RowMax(logits)))}


def _not_shifted(s: Steps) -> Change | None:
    """e^z where e^(z − max) is asked for."""
    exponential = s.expr("exp")
    if not isinstance(exponential, Exponential) or "row_max" not in s.steps:
        return None
    return {"exp": Exponential(s.logits)}


def _residual_added(s: Steps) -> Change | None:
    """The tokens, or the queries, added to the result; of a head to those of heads."""
    last = s.derivation.steps[-1]
    for name in ("X", "Q"):
        added = s.symbol(name)
        by_head = isinstance(added, Head)
        if fits(added, last.expr) and by_head == last.per_head and not last.expr.has(added):
            return {last.name: last.expr + added}
    return None


WEIGHTS: tuple[Misconception, ...] = (
    Misconception(
        "softmax-over-columns",
        "the softmax is taken over each column",
        "Each query distributes its attention over the keys, so the rows of the weights sum to 1.",
        DOT_PRODUCT,
        _columns,
    ),
    Misconception(
        "ratio",
        "the scores are divided by their sum, without exponentials",
        "The softmax raises e to each score first; a plain ratio fails for negative scores.",
        "Raschka, Build a Large Language Model (2024), section 3.3",
        _weights(SeenRatio),
    ),
    Misconception(
        "softmax-for-ratio",
        "a softmax is taken, though here the scores are divided by their sum",
        "This attention divides each score by the sum of its row, without exponentials.",
        "Raschka, Build a Large Language Model (2024), section 3.3",
        _ratio_as_softmax,
    ),
    Misconception(
        "row-sums-along-columns",
        "column j is divided by the sum of row j (r / r.sum(axis=1) without keepdims)",
        "Keep the axis: r / r.sum(axis=1, keepdims=True) divides each row by its own sum.",
        "NumPy manual, broadcasting",
        _row_sums_along_columns,
    ),
    Misconception(
        "over-everything",
        "everything is divided by one sum over the whole matrix",
        "Each row belongs to one query and sums to 1 by itself.",
        REPORTED,
        _over_everything,
    ),
    Misconception(
        "softmax-of-one",
        "the softmax is taken over an axis of length 1, so every weight is 1",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        _weights(_ones),
    ),
    Misconception(
        "softmax-twice",
        "the softmax is applied twice",
        "Apply it once; after a second softmax no weight in a row is more than e times another.",
        REPORTED,
        _weights(lambda logits: Softmax(Softmax(logits))),
    ),
    Misconception(
        "exponentials-only",
        "the exponentials are not divided by their sum",
        "Divide each row by its sum, so that it sums to 1.",
        DOT_PRODUCT,
        _weights(Exponential),
    ),
    Misconception(
        "base-2",
        "powers of 2 are taken instead of powers of e",
        "The softmax uses powers of e ≈ 2.718.",
        DOT_PRODUCT,
        _weights(lambda logits: Softmax(sympy.log(2) * logits)),
    ),
    Misconception(
        "base-10",
        "powers of 10 are taken instead of powers of e",
        "The softmax uses powers of e ≈ 2.718.",
        DOT_PRODUCT,
        _weights(lambda logits: Softmax(sympy.log(10) * logits)),
    ),
    Misconception(
        "over-the-largest",
        "each row is divided by its largest number instead of its sum",
        "Divide by the sum of the row, so that the weights sum to 1.",
        DOT_PRODUCT,
        _over_the_largest,
    ),
    Misconception(
        "softmax-of-unscaled",
        "the softmax is taken of the scores before the division by √d_k",
        "Take the softmax of the scaled scores, not of the scores before scaling.",
        DOT_PRODUCT,
        _unscaled_logits,
        rather="not-scaled",
    ),
    Misconception(
        "softmax-of-unmasked",
        "the softmax is taken of the scores before the mask",
        "Take the softmax of the masked scores, not of those before the mask.",
        DOT_PRODUCT,
        _unmasked_logits,
        rather="not-masked",
    ),
    Misconception(
        "exponentials-shifted",
        "e^(z − max) is written where e^z is asked for",
        "Both give the same weights; write the exponentials of the scores themselves.",
        "Blanchard, Higham, Higham 2021",
        _shifted,
    ),
    Misconception(
        "exponentials-not-shifted",
        "e^z is written where e^(z − max) is asked for",
        "Both give the same weights; subtract the largest score of the row first.",
        "Blanchard, Higham, Higham 2021",
        _not_shifted,
    ),
    Misconception(
        "all-on-the-largest",
        "all weight goes to the largest score",
        "The softmax gives every key that is not masked out a weight above 0.",
        DOT_PRODUCT,
        _weights(Hardmax),
    ),
    Misconception(
        "keys-as-values",
        "the keys are averaged instead of the values",
        "The output is the weighted average of the values.",
        DOT_PRODUCT,
        _values_from("K"),
    ),
    Misconception(
        "queries-as-values",
        "the queries are averaged instead of the values",
        "The output is the weighted average of the values.",
        DOT_PRODUCT,
        _values_from("Q"),
    ),
    Misconception(
        "tokens-as-values",
        "the token vectors are averaged instead of the values",
        "The output is the weighted average of the values, V = X W_V.",
        DOT_PRODUCT,
        _values_from("X"),
    ),
    Misconception(
        "keys-values-exchanged",
        "keys and values are exchanged",
        "The scores use the keys; the average uses the values.",
        DOT_PRODUCT,
        _keys_and_values_exchanged,
    ),
    Misconception(
        "weights-transposed",
        "Aᵀ V instead of A V",
        "Row i of the weights averages the values for query i.",
        DOT_PRODUCT,
        _weights_transposed,
    ),
    Misconception(
        "scores-as-weights",
        "the scores, not the weights, are multiplied by the values",
        "Normalise first: the weights, not the scores, multiply the values.",
        DOT_PRODUCT,
        _scores_as_weights,
    ),
    Misconception(
        "residual-added",
        "the input is added to the result",
        "The residual connection comes after attention and is not part of it.",
        "Vaswani et al. 2017, section 3.1",
        _residual_added,
    ),
)
