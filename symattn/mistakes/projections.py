"""Misconceptions about projections, heads and positions: Q = X W_Q, H = [H¹ … H^h] W_O.

A new one is a row at the end: an equation.
"""

from __future__ import annotations

from itertools import product

from symattn.mistakes.base import (
    REPORTED,
    Misconception,
)

#: Heads that are split, and merged, without exchanging axes.
SPLIT = "P = apart(reshaped(joined(P), width(joined(P^T)))^T)^T"
MERGED = "concat: joined(H) = reshaped(joined(H^T)^T, height(H))"

#: Whether heads share keys and values.
_SHARED = "if n_g; if n_g > 1; if n_h != n_g"

#: What is made of keys and values of a group before heads use them, the last first.
_MADE_OF = ("_cached", "_rotated", "")


def of_groups(names: str, index: str) -> tuple[str, ...]:
    """Keys, values, or both ("KV") of other groups, k being a head's own."""
    made = ([f"{name}{more}[k] = {name}{more}[{index}]" for more in _MADE_OF] for name in names)
    return tuple("; ".join((*lines, _SHARED)) for lines in product(*made))


_OWN_WEIGHTS = "Q = X W_Q, K = X W_K and V = X W_V: each has a matrix of its own."


def _with_weights_of(name: str, other: str) -> Misconception:
    """One projection made with the weights of another."""
    what = {"Q": "queries", "K": "keys", "V": "values"}[name]
    return Misconception(
        f"{what}-from-W_{other}",
        f"the {what} are computed with W_{other}",
        _OWN_WEIGHTS,
        "Vaswani et al. 2017, section 3.2.2",
        f"{name}: A B = A D; where {other} = C D",
    )


_YARN = "Peng et al., YaRN (2023), section 3"

#: The frequencies as a mixture of what they were and of what they are over the factor.
_MIXED = "frequencies_scaled: C ∘ A + D ∘ (A / s)"


def _factored(name: str, matrix: str, cos: str, sin: str) -> str:
    """Queries or keys turned without the attention factor."""
    left = f"turned({matrix}, s {cos}, s {sin})"
    return f"{name}_rotated: {left} = turned({matrix}, {cos}, {sin})"


PROJECTIONS: tuple[Misconception, ...] = (
    Misconception(
        "projection-transposed",
        "X Wᵀ instead of X W",
        "Rows are tokens, so a projection multiplies by W on the right; PyTorch's Linear "
        "stores the transpose of W.",
        "PyTorch, nn.Linear",
        "Q, K, V: X W = X W^T",
    ),
    Misconception(
        "query-key-weights-exchanged",
        "W_Q and W_K are exchanged",
        _OWN_WEIGHTS,
        "Vaswani et al. 2017, section 3.2.2",
        "Q: A B = A D; K: C D = C B; where Q = A B; where K = C D",
    ),
    *(_with_weights_of(name, other) for name in "QKV" for other in "QKV" if name != other),
    Misconception(
        "output-projection-transposed",
        "the heads are multiplied by W_Oᵀ",
        "Multiply the joined heads by W_O on the right.",
        "PyTorch, nn.Linear",
        "projected: H W = H W^T",
    ),
    Misconception(
        "split-by-reshape",
        "the heads are split by reshape without exchanging axes",
        "Reshape to (tokens, heads, width) first, then exchange the axes; otherwise a "
        "head mixes tokens.",
        REPORTED,
        (
            f"Q, K, V: {SPLIT}; if X; if concat; if no n_g",
            f"Q: {SPLIT}; if X; if concat",
        ),
    ),
    Misconception(
        "merged-by-reshape",
        "the heads are merged without exchanging the axes back",
        "Exchange the axes back to (tokens, heads, width) before joining the heads.",
        REPORTED,
        MERGED,
    ),
    Misconception(
        "heads-reversed",
        "the heads are joined in the wrong order",
        "Join the heads in order, starting with the first; the rows of W_O are in that order.",
        "Vaswani et al. 2017, section 3.2.2",
        "concat: joined(H) = joined(take(H, which=n_h - 1 - i))",
    ),
    Misconception(
        "groups-tiled",
        "query head i uses key head i mod n_g, counted from 0",
        "Neighbouring query heads share a key head: head i uses ⌊i n_g/n_h⌋, counted from 0.",
        "Ainslie et al. 2023, section 2.2",
        f"G[k] = G[mod(i, n_g)]; {_SHARED}",
    ),
    Misconception(
        "other-rotary-pairs",
        "the rotary embedding rotates other pairs of columns",
        "Neighbouring columns (interleaved) and columns half the width apart (half) "
        "are two conventions; keep to one.",
        "Su et al. 2021, section 3.2.2",
        (
            "Q_rotated, K_rotated: rotary(A, dims=d, pairing=c) = rotary(A, pairing=1 - c); "
            "if d > 2",
            "Q_rotated, K_rotated: turned(A, B, C, pairing=c) = turned(A, B, C, pairing=1 - c)",
        ),
    ),
    Misconception(
        "frequencies-not-scaled",
        "the frequencies are not scaled",
        "Scale the frequencies as the model's configuration says before angles are made of them.",
        _YARN,
        ("frequencies_scaled: A / s = A", f"{_MIXED} = A"),
    ),
    Misconception(
        "frequencies-multiplied",
        "the frequencies are multiplied by the factor instead of being divided by it",
        "A longer text needs slower rotations: divide by the factor.",
        _YARN,
        (
            "frequencies_scaled: A / s = A / (1/s)",
            f"{_MIXED} = C ∘ A + D ∘ (A / (1/s))",
        ),
    ),
    Misconception(
        "all-frequencies-scaled",
        "all frequencies are divided by the factor, the fast ones too",
        "Pairs that turn often within the trained length keep their frequency.",
        _YARN,
        f"{_MIXED} = A / s",
    ),
    Misconception(
        "kept-shares-exchanged",
        "the fast frequencies are divided by the factor, the slow ones are kept",
        "A share of 1 keeps the frequency, a share of 0 divides it.",
        _YARN,
        f"{_MIXED} = D ∘ A + C ∘ (A / s)",
    ),
    Misconception(
        "attention-factor-left-out",
        "cosines and sines are not multiplied by the attention factor",
        "The attention factor multiplies cosines and sines of queries and keys.",
        _YARN,
        f"{_factored('Q', 'A', 'B', 'C')}; {_factored('K', 'D', 'E', 'F')}",
    ),
    Misconception(
        "attention-factor-once",
        "the attention factor multiplies the cosines and sines of the queries or of the keys only",
        "The attention factor multiplies cosines and sines of queries and keys.",
        _YARN,
        _factored("Q", "A", "B", "C"),
    ),
    Misconception(
        "positions-from-1",
        "positions are counted from 1 instead of 0",
        "Position encodings count from 0: the first token has position 0.",
        "Vaswani et al. 2017, section 3.5",
        "positions: sinusoidal(start=s) = sinusoidal(start=s + 1)",
    ),
    Misconception(
        "no-positions",
        "the positions are left out",
        "Add the position encodings, or rotate queries and keys, before computing the scores.",
        "Vaswani et al. 2017, section 3.5",
        (
            "placed: A = X",
            "Q_rotated, K_rotated: rotary(A) = A",
            "Q_rotated, K_rotated: turned(A, B, C) = A",
        ),
    ),
)
