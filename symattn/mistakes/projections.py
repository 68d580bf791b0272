"""Misconceptions about projections, heads and positions: Q = X W_Q, H = [H¹ … H^h] W_O.

A new one is a row at the end, and the function above that changes the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import h
from symattn.mistakes.base import (
    REPORTED,
    Change,
    Misconception,
    Steps,
    fits,
    square,
)
from symattn.mistakes.nodes import (
    MergedByReshape,
    ReversedConcat,
    SplitByReshape,
)
from symattn.nodes.heads import Concat, Head
from symattn.nodes.positions import Rotary, Sinusoidal
from symattn.step import HEAD, Step


def _projection(s: Steps, name: str) -> tuple[MatrixExpr, MatrixExpr] | None:
    """The two factors of a projection, X and W."""
    product = s.expr(name)
    if not isinstance(product, sympy.MatMul) or len(product.args) != 2:
        return None
    return product.args[0], product.args[1]


def _weights_of_projections_transposed(s: Steps) -> Change | None:
    """X Wᵀ for every projection whose weights are square."""
    changes = {}
    for name in ("Q", "K", "V"):
        parts = _projection(s, name)
        if parts is not None and square(parts[1]):
            changes[name] = parts[0] * parts[1].T
    return changes or None


def _projected_with(names: dict[str, str]) -> Callable[[Steps], Change | None]:
    """Projections with one another's weights: {"K": "V"} makes the keys with W_V."""

    def change(s: Steps) -> Change | None:
        changes = {}
        for name, other in names.items():
            own, wrong = _projection(s, name), _projection(s, other)
            if own is None or wrong is None or not fits(own[1], wrong[1]) or own[1] == wrong[1]:
                return None
            if not _as_many(s.steps[name], s.steps[other]):
                return None
            changes[name] = own[0] * wrong[1]
        return changes

    return change


def _as_many(own: Step, other: Step) -> bool:
    """Whether two projections are both for each head, for each group, or for all of them."""
    return own.count == other.count


def _output_weights_transposed(s: Steps) -> Change | None:
    """H W_Oᵀ."""
    parts = _projection(s, "projected")
    if parts is None or not square(parts[1]):
        return None
    return {"projected": parts[0] * parts[1].T}


def _split_by_reshape(s: Steps) -> Change | None:
    """Q, K and V split into heads by reshape alone."""
    count = _heads(s)
    if count is None or s.symbols.get("X") is None:
        return None
    changes: dict[str, MatrixExpr] = {
        name: SplitByReshape(s.steps[name].expr, HEAD, count)
        for name in ("Q", "K", "V")
        if name in s.steps and s.steps[name].count == h
    }
    return changes or None


def _heads(s: Steps) -> sympy.Expr | None:
    """The number of heads that are joined, h."""
    concat = s.expr("concat")
    return concat.args[2] if isinstance(concat, Concat) else None


def _joined(make: Callable[..., MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Another way of joining the heads."""

    def change(s: Steps) -> Change | None:
        concat = s.expr("concat")
        if not isinstance(concat, Concat) or concat.args[2] == 1:
            return None
        return {"concat": make(*concat.args[:3])}

    return change


def _tiled(s: Steps) -> Change | None:
    """Query head i with key head i mod g instead of ⌊i g/h⌋."""
    groups = s.derivation.known_sizes.get("g")
    if groups in (None, 1):
        return None
    changes = {}
    for step in s.derivation.steps:
        shared = {
            head: Head(head.args[0], sympy.Mod(HEAD, groups))
            for head in step.expr.atoms(Head)
            if not isinstance(head.head, sympy.Symbol)
        }
        if shared:
            changes[step.name] = step.expr.xreplace(shared)
    return changes or None


def _other_pairing(s: Steps) -> Change | None:
    """The other pairing of columns: interleaved for half-split, half-split for interleaved."""
    changes = {}
    for name in ("Q_rotated", "K_rotated"):
        node = s.expr(name)
        if isinstance(node, Rotary) and node.args[2] > 2:
            matrix, base, dims, code, start = node.args
            changes[name] = Rotary(matrix, base, dims, 1 - int(code), start)
    return changes or None


def _positions_from_one(s: Steps) -> Change | None:
    """Sinusoids of positions 1, 2, … instead of 0, 1, …."""
    node = s.expr("positions")
    if not isinstance(node, Sinusoidal):
        return None
    rows, columns, base, start = node.args
    return {"positions": Sinusoidal(rows, columns, base, start + 1)}


def _no_positions(s: Steps) -> Change | None:
    """The tokens, or the queries and keys, without their positions."""
    placed, x = s.expr("placed"), s.symbol("X")
    if placed is not None and x is not None:
        return {"placed": x}
    changes = {}
    for name in ("Q_rotated", "K_rotated"):
        node = s.expr(name)
        if isinstance(node, Rotary):
            changes[name] = node.args[0]
    return changes or None


_OWN_WEIGHTS = "Q = X W_Q, K = X W_K and V = X W_V: each has a matrix of its own."


def _with_weights_of(name: str, other: str) -> Misconception:
    """One projection made with the weights of another."""
    what = {"Q": "queries", "K": "keys", "V": "values"}[name]
    return Misconception(
        f"{what}-from-W_{other}",
        f"the {what} are computed with W_{other}",
        _OWN_WEIGHTS,
        "Vaswani et al. 2017, section 3.2.2",
        _projected_with({name: other}),
    )


PROJECTIONS: tuple[Misconception, ...] = (
    Misconception(
        "projection-transposed",
        "X Wᵀ instead of X W",
        "Rows are tokens, so a projection multiplies by W on the right; PyTorch's Linear "
        "stores the transpose of W.",
        "PyTorch, nn.Linear",
        _weights_of_projections_transposed,
    ),
    Misconception(
        "query-key-weights-exchanged",
        "W_Q and W_K are exchanged",
        _OWN_WEIGHTS,
        "Vaswani et al. 2017, section 3.2.2",
        _projected_with({"Q": "K", "K": "Q"}),
    ),
    *(_with_weights_of(name, other) for name in "QKV" for other in "QKV" if name != other),
    Misconception(
        "output-projection-transposed",
        "the heads are multiplied by W_Oᵀ",
        "Multiply the joined heads by W_O on the right.",
        "PyTorch, nn.Linear",
        _output_weights_transposed,
    ),
    Misconception(
        "split-by-reshape",
        "the heads are split by reshape without exchanging axes",
        "Reshape to (tokens, heads, width) first, then exchange the axes; otherwise a "
        "head mixes tokens.",
        REPORTED,
        _split_by_reshape,
    ),
    Misconception(
        "merged-by-reshape",
        "the heads are merged without exchanging the axes back",
        "Exchange the axes back to (tokens, heads, width) before joining the heads.",
        REPORTED,
        _joined(MergedByReshape),
    ),
    Misconception(
        "heads-reversed",
        "the heads are joined in the wrong order",
        "Join the heads in order, starting with the first; the rows of W_O are in that order.",
        "Vaswani et al. 2017, section 3.2.2",
        _joined(ReversedConcat),
    ),
    Misconception(
        "groups-tiled",
        "query head i uses key head i mod n_g, counted from 0",
        "Neighbouring query heads share a key head: head i uses ⌊i n_g/n_h⌋, counted from 0.",
        "Ainslie et al. 2023, section 2.2",
        _tiled,
    ),
    Misconception(
        "other-rotary-pairs",
        "the rotary embedding rotates other pairs of columns",
        "Neighbouring columns (interleaved) and columns half the width apart (half) "
        "are two conventions; keep to one.",
        "Su et al. 2021, section 3.2.2",
        _other_pairing,
    ),
    Misconception(
        "positions-from-1",
        "positions are counted from 1 instead of 0",
        "Position encodings count from 0: the first token has position 0.",
        "Vaswani et al. 2017, section 3.5",
        _positions_from_one,
    ),
    Misconception(
        "no-positions",
        "the positions are left out",
        "Add the position encodings, or rotate queries and keys, before computing the scores.",
        "Vaswani et al. 2017, section 3.5",
        _no_positions,
    ),
)
