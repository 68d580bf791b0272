"""Misconceptions about the scores: S = Q Kᵀ / √d_k.

A new one is a row at the end: an equation.
"""

from __future__ import annotations

from symattn.mistakes.base import (
    DOT_PRODUCT,
    Misconception,
)

SCORES: tuple[Misconception, ...] = (
    Misconception(
        "not-scaled",
        "the scores are not divided by √d_k",
        "Divide every score by √d_k before the softmax; otherwise the weights are too peaked.",
        DOT_PRODUCT,
        ("scaled: S / c = S", "scaled: c S = S"),
    ),
    Misconception(
        "scaled-by-d_k",
        "the scores are divided by d_k instead of √d_k",
        "The standard deviation of q·k grows as √d_k, so divide by √d_k; dividing by d_k "
        "makes the weights too flat.",
        DOT_PRODUCT,
        "scaled: S / c = S / c^2",
    ),
    Misconception(
        "multiplied-by-root",
        "the scores are multiplied by √d_k",
        "Divide by √d_k; multiplying increases the variance of the scores.",
        DOT_PRODUCT,
        "scaled: S / c = S / (1/c)",
    ),
    Misconception(
        "scaled-by-d_model",
        "the scores are divided by √d_model instead of √d_k",
        "d_k is the width of one head's queries and keys, not of the tokens.",
        DOT_PRODUCT,
        "scaled: S / c = S / sqrt(d_model)",
    ),
    Misconception(
        "scaled-by-all-heads",
        "the scores are divided by √(n_h d_k)",
        "Each head divides by the root of its own width.",
        DOT_PRODUCT,
        "scaled: S / c = S / (sqrt(n_h) c)",
    ),
    Misconception(
        "scaled-by-length",
        "the scores are divided by √m, the root of the number of keys",
        "The scale depends on the width of the vectors, not on their number.",
        DOT_PRODUCT,
        "scaled: S / c = S / sqrt(m)",
    ),
    Misconception(
        "scaled-by-d_v",
        "the scores are divided by √d_v instead of √d_k",
        "Scores compare queries with keys; the width of the values has no effect on them.",
        DOT_PRODUCT,
        "scaled: S / c = S / sqrt(d_v)",
    ),
    Misconception(
        "scaled-anyway",
        "the scores are divided by √d_k, though the scores are not scaled here",
        "This attention does not scale the scores.",
        DOT_PRODUCT,
        "in row_max, capped, biased, masked, exp, weights: scores = scores / sqrt(d_k); "
        "if no scaled",
    ),
    Misconception(
        "keys-not-transposed",
        "Q K instead of Q Kᵀ",
        "Each row of Q is compared with each row of K, so K is transposed.",
        DOT_PRODUCT,
        "scores: Q K^T = Q K",
    ),
    Misconception(
        "query-key-exchanged",
        "K Qᵀ instead of Q Kᵀ",
        "Row i belongs to query i; K Qᵀ is the transpose of the scores.",
        DOT_PRODUCT,
        "scores: Q K^T = K Q^T",
    ),
    Misconception(
        "values-as-keys",
        "queries are compared with the values",
        "Scores compare queries with keys; values are averaged afterwards.",
        DOT_PRODUCT,
        "scores: A B^T = A V^T",
    ),
    Misconception(
        "queries-as-keys",
        "queries are compared with each other",
        "Scores compare queries with keys.",
        DOT_PRODUCT,
        "scores: A B^T = A Q^T",
    ),
    Misconception(
        "cosine-for-dot",
        "cosines instead of dot products",
        "The score is the dot product, which depends on the lengths too.",
        DOT_PRODUCT,
        "scores: Q K^T = unit(Q) unit(K)^T",
    ),
)
