"""Misconceptions about the weights and what they average: A = softmax(Z), O = A V.

A new one is a row at the end: an equation.
"""

from __future__ import annotations

from symattn.mistakes.base import (
    DOT_PRODUCT,
    REPORTED,
    Misconception,
)

WEIGHTS: tuple[Misconception, ...] = (
    Misconception(
        "softmax-over-columns",
        "the softmax is taken over each column",
        "Each query distributes its attention over the keys, so the rows of the weights sum to 1.",
        DOT_PRODUCT,
        ("normaliser: softmax(Z) = colsoftmax(Z)", "weights: ratio(Z) = ratio(Z^T)^T"),
    ),
    Misconception(
        "ratio",
        "the scores are divided by their sum, without exponentials",
        "The softmax raises e to each score first; a plain ratio fails for negative scores.",
        "Raschka, Build a Large Language Model (2024), section 3.3",
        "normaliser: softmax(Z) = seenratio(Z)",
    ),
    Misconception(
        "softmax-for-ratio",
        "a softmax is taken, though here the scores are divided by their sum",
        "This attention divides each score by the sum of its row, without exponentials.",
        "Raschka, Build a Large Language Model (2024), section 3.3",
        ("weights: ratio(keep(Z, M)) = softmax(Z + M)", "weights: ratio(Z) = softmax(Z)"),
    ),
    Misconception(
        "row-sums-along-columns",
        "column j is divided by the sum of row j (r / r.sum(axis=1) without keepdims)",
        "Keep the axis: r / r.sum(axis=1, keepdims=True) divides each row by its own sum.",
        "NumPy manual, broadcasting",
        (
            "normaliser: softmax(Z) = exp(Z) / rowsum(exp(Z))^T; if n > 1",
            "weights: ratio(Z) = Z / rowsum(Z)^T; if n > 1",
        ),
    ),
    Misconception(
        "over-everything",
        "everything is divided by one sum over the whole matrix",
        "Each row belongs to one query and sums to 1 by itself.",
        REPORTED,
        (
            "normaliser: softmax(Z) = exp(Z) / spread(sum(exp(Z)), n, 0); if n > 1",
            "weights: ratio(Z) = Z / spread(sum(Z), n, 0); if n > 1",
        ),
    ),
    Misconception(
        "softmax-of-one",
        "the softmax is taken over an axis of length 1, so every weight is 1",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        "normaliser: softmax(Z) = filled(1, rows=n, columns=m)",
    ),
    Misconception(
        "softmax-twice",
        "the softmax is applied twice",
        "Apply it once; after a second softmax no weight in a row is more than e times another.",
        REPORTED,
        "normaliser: softmax(Z) = softmax(softmax(Z))",
    ),
    Misconception(
        "exponentials-only",
        "the exponentials are not divided by their sum",
        "Divide each row by its sum, so that it sums to 1.",
        DOT_PRODUCT,
        "normaliser: softmax(Z) = exp(Z)",
    ),
    Misconception(
        "base-2",
        "powers of 2 are taken instead of powers of e",
        "The softmax uses powers of e ≈ 2.718.",
        DOT_PRODUCT,
        "normaliser: softmax(Z) = softmax(ln(2) Z)",
    ),
    Misconception(
        "base-10",
        "powers of 10 are taken instead of powers of e",
        "The softmax uses powers of e ≈ 2.718.",
        DOT_PRODUCT,
        "normaliser: softmax(Z) = softmax(ln(10) Z)",
    ),
    Misconception(
        "over-the-largest",
        "each row is divided by its largest number instead of its sum",
        "Divide by the sum of the row, so that the weights sum to 1.",
        DOT_PRODUCT,
        (
            "normaliser: softmax(Z) = exp(Z) / rowmax(exp(Z)); if m > 1",
            "weights: ratio(Z) = Z / rowmax(Z); if m > 1",
        ),
    ),
    Misconception(
        "softmax-of-unscaled",
        "the softmax is taken of the scores before the division by √d_k",
        "Take the softmax of the scaled scores, not of the scores before scaling.",
        DOT_PRODUCT,
        (
            "through exp: scaled = scores; if no row_max",
            "through weights: scaled = scores; if no row_max",
        ),
        rather="not-scaled",
    ),
    Misconception(
        "softmax-of-unmasked",
        "the softmax is taken of the scores before the mask",
        "Take the softmax of the masked scores, not of those before the mask.",
        DOT_PRODUCT,
        tuple(
            f"through {step}: masked = Z; where masked = {masked}; if no row_max"
            for step in ("exp", "weights")
            for masked in ("Z + M", "keep(Z, M)")
        ),
        rather="not-masked",
    ),
    Misconception(
        "exponentials-shifted",
        "e^(z − max) is written where e^z is asked for",
        "Both give the same weights; write the exponentials of the scores themselves.",
        "Blanchard, Higham, Higham 2021",
        "exp: exp(Z) = shifted(Z); if no row_max",
    ),
    Misconception(
        "exponentials-not-shifted",
        "e^z is written where e^(z − max) is asked for",
        "Both give the same weights; subtract the largest score of the row first.",
        "Blanchard, Higham, Higham 2021",
        "exp: exp(less(Z, R)) = exp(Z)",
    ),
    Misconception(
        "all-on-the-largest",
        "all weight goes to the largest score",
        "The softmax gives every key that is not masked out a weight above 0.",
        DOT_PRODUCT,
        "normaliser: softmax(Z) = hardmax(Z)",
    ),
    Misconception(
        "keys-as-values",
        "the keys are averaged instead of the values",
        "The output is the weighted average of the values.",
        DOT_PRODUCT,
        "result: A B = A K",
    ),
    Misconception(
        "queries-as-values",
        "the queries are averaged instead of the values",
        "The output is the weighted average of the values.",
        DOT_PRODUCT,
        "result: A B = A Q",
    ),
    Misconception(
        "tokens-as-values",
        "the token vectors are averaged instead of the values",
        "The output is the weighted average of the values, V = X W_V.",
        DOT_PRODUCT,
        "result: A B = A X",
    ),
    Misconception(
        "keys-values-exchanged",
        "keys and values are exchanged",
        "The scores use the keys; the average uses the values.",
        DOT_PRODUCT,
        "scores: A B^T = A V^T; result: C D = C K",
    ),
    Misconception(
        "weights-transposed",
        "Aᵀ V instead of A V",
        "Row i of the weights averages the values for query i.",
        DOT_PRODUCT,
        "result: A B = A^T B; if n > 1",
    ),
    Misconception(
        "scores-as-weights",
        "the scores, not the weights, are multiplied by the values",
        "Normalise first: the weights, not the scores, multiply the values.",
        DOT_PRODUCT,
        "result: A B = keep(logits, logits) B",
    ),
    Misconception(
        "residual-added",
        "the input is added to the result",
        "The residual connection comes after attention and is not part of it.",
        "Vaswani et al. 2017, section 3.1",
        ("last: O = added(O, X)", "last: O = added(O, Q)"),
    ),
)
