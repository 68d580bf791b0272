"""Misconceptions about the scores: S = Q Kᵀ / √d_k.

A new one is a row at the end, and the function above that changes the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy

from symattn.mistakes.base import (
    DOT_PRODUCT,
    Change,
    Misconception,
    Steps,
    fits,
)
from symattn.nodes.lines import UnitVectors
from symattn.nodes.scale import Quotient


def _no_transpose(s: Steps) -> Change | None:
    """S = Q K, where K is square."""
    if s.compared is None or s.compared[0].shape[1] != s.compared[1].shape[0]:
        return None
    query, key = s.compared
    return {"scores": query * key} if key.shape[0] == key.shape[1] else None


def _swapped(s: Steps) -> Change | None:
    """S = K Qᵀ."""
    if s.compared is None or not fits(*s.compared) or s.compared[0] == s.compared[1]:
        return None
    query, key = s.compared
    return {"scores": key * query.T}


def scores_from(name: str) -> Callable[[Steps], Change | None]:
    """Queries compared with another matrix than the keys."""

    def change(s: Steps) -> Change | None:
        other = s.symbol(name)
        if other is None or s.compared is None or not fits(other, s.compared[1]):
            return None
        query, key = s.compared
        return None if other == key else {"scores": query * other.T}

    return change


def _cosine(s: Steps) -> Change | None:
    """s_ij = cos(q_i, k_j): rows of length 1."""
    if s.compared is None or any(isinstance(part, UnitVectors) for part in s.compared):
        return None
    query, key = s.compared
    return {"scores": UnitVectors(query) * UnitVectors(key).T}


def _by_root(s: Steps) -> sympy.Expr | None:
    """d_k where the scores are divided by its root."""
    scaled = s.expr("scaled")
    if not isinstance(scaled, Quotient):
        return None
    width = scaled.args[1] ** 2
    return width if width != 1 else None


def _unscaled(s: Steps) -> Change | None:
    """No division: the scaled scores are S."""
    scaled = s.expr("scaled")
    if isinstance(scaled, Quotient):
        return None if scaled.args[1] == 1 else {"scaled": scaled.args[0]}
    return {"scaled": s.symbols["scores"]} if scaled is not None and "scores" in s.symbols else None


def _scaled_by(factor: Callable[[sympy.Expr], sympy.Expr]) -> Callable[[Steps], Change | None]:
    """Another divisor than √d_k, as a function of d_k."""

    def change(s: Steps) -> Change | None:
        width = _by_root(s)
        return None if width is None else {"scaled": Quotient(s.symbols["scores"], factor(width))}

    return change


def _scaled_by_width_of(name: str) -> Callable[[Steps], Change | None]:
    """√ of the width of another matrix."""

    def change(s: Steps) -> Change | None:
        width, other = _by_root(s), s.symbol(name)
        if width is None or other is None or other.shape[1] in (width, 1):
            return None
        return {"scaled": Quotient(s.symbols["scores"], sympy.sqrt(other.shape[1]))}

    return change


def _scaled_by_all_heads(s: Steps) -> Change | None:
    """√(h d_k), the width of all heads together."""
    width = _by_root(s)
    count = s.derivation.known_sizes.get("h", 1)
    if width is None or count == 1:
        return None
    return {"scaled": Quotient(s.symbols["scores"], sympy.sqrt(count * width))}


def _scaled_by_keys(s: Steps) -> Change | None:
    """√m, the number of keys."""
    width, scores = _by_root(s), s.symbol("scores")
    if width is None or scores is None or scores.shape[1] in (width, 1):
        return None
    return {"scaled": Quotient(scores, sympy.sqrt(scores.shape[1]))}


def _scaled_anyway(s: Steps) -> Change | None:
    """A scale where this attention has none."""
    scores, width = s.symbol("scores"), s.width
    if "scaled" in s.steps or scores is None or width in (None, 1):
        return None
    for step in s.derivation.steps:
        if step.expr.has(scores) and step.name != "scores":
            return {step.name: step.expr.subs(scores, Quotient(scores, sympy.sqrt(width)))}
    return None


SCORES: tuple[Misconception, ...] = (
    Misconception(
        "not-scaled",
        "the scores are not divided by √d_k",
        "Divide every score by √d_k before the softmax; otherwise the weights are too peaked.",
        DOT_PRODUCT,
        _unscaled,
    ),
    Misconception(
        "scaled-by-d_k",
        "the scores are divided by d_k instead of √d_k",
        "The standard deviation of q·k grows as √d_k, so divide by √d_k; dividing by d_k "
        "makes the weights too flat.",
        DOT_PRODUCT,
        _scaled_by(lambda width: width),
    ),
    Misconception(
        "multiplied-by-root",
        "the scores are multiplied by √d_k",
        "Divide by √d_k; multiplying increases the variance of the scores.",
        DOT_PRODUCT,
        _scaled_by(lambda width: 1 / sympy.sqrt(width)),
    ),
    Misconception(
        "scaled-by-d_model",
        "the scores are divided by √d_model instead of √d_k",
        "d_k is the width of one head's queries and keys, not of the tokens.",
        DOT_PRODUCT,
        _scaled_by_width_of("X"),
    ),
    Misconception(
        "scaled-by-all-heads",
        "the scores are divided by √(n_h d_k)",
        "Each head divides by the root of its own width.",
        DOT_PRODUCT,
        _scaled_by_all_heads,
    ),
    Misconception(
        "scaled-by-length",
        "the scores are divided by √m, the root of the number of keys",
        "The scale depends on the width of the vectors, not on their number.",
        DOT_PRODUCT,
        _scaled_by_keys,
    ),
    Misconception(
        "scaled-by-d_v",
        "the scores are divided by √d_v instead of √d_k",
        "Scores compare queries with keys; the width of the values has no effect on them.",
        DOT_PRODUCT,
        _scaled_by_width_of("V"),
    ),
    Misconception(
        "scaled-anyway",
        "the scores are divided by √d_k, though the scores are not scaled here",
        "This attention does not scale the scores.",
        DOT_PRODUCT,
        _scaled_anyway,
    ),
    Misconception(
        "keys-not-transposed",
        "Q K instead of Q Kᵀ",
        "Each row of Q is compared with each row of K, so K is transposed.",
        DOT_PRODUCT,
        _no_transpose,
    ),
    Misconception(
        "query-key-exchanged",
        "K Qᵀ instead of Q Kᵀ",
        "Row i belongs to query i; K Qᵀ is the transpose of the scores.",
        DOT_PRODUCT,
        _swapped,
    ),
    Misconception(
        "values-as-keys",
        "queries are compared with the values",
        "Scores compare queries with keys; values are averaged afterwards.",
        DOT_PRODUCT,
        scores_from("V"),
    ),
    Misconception(
        "queries-as-keys",
        "queries are compared with each other",
        "Scores compare queries with keys.",
        DOT_PRODUCT,
        scores_from("Q"),
    ),
    Misconception(
        "cosine-for-dot",
        "cosines instead of dot products",
        "The score is the dot product, which depends on the lengths too.",
        DOT_PRODUCT,
        _cosine,
    ),
)
