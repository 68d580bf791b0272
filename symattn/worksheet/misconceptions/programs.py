"""Misconceptions that only programs show: in floating point, and in how arrays are laid out.

A calculation by hand has exact numbers and its heads side by side, so that none of these shows in
it; arrays are compared with these rows and all others. A new one is a row at the end, and the
function above that changes the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.nodes.heads import Concat, Head
from symattn.nodes.scale import Quotient
from symattn.step import HEAD
from symattn.worksheet.misconceptions.base import (
    DOT_PRODUCT,
    REPORTED,
    Change,
    Misconception,
    Steps,
)
from symattn.worksheet.misconceptions.nodes import (
    InterleavedConcat,
    Lowered,
    OverHeads,
    UnguardedSoftmax,
)


def _softmax(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Another way of computing the softmax, where it is one step."""

    def change(s: Steps) -> Change | None:
        whole = s.softmax is not None and "exp" not in s.steps
        return {"weights": make(s.softmax)} if whole else None

    return change


def _lowered_by(value: int) -> Callable[[Steps], Change | None]:
    """A finite number added where the mask hides, instead of −∞."""

    def change(s: Steps) -> Change | None:
        if s.mask is None:
            return None
        return {"masked": Lowered(s.before_mask, s.mask, value)}

    return change


def _scaled_afterwards(s: Steps) -> Change | None:
    """A = softmax(S)/√d_k."""
    scaled, weights = s.expr("scaled"), s.expr("weights")
    if not isinstance(scaled, Quotient) or weights is None:
        return None
    return {"scaled": scaled.args[0], "weights": Quotient(weights, scaled.args[1])}


def _over_heads(s: Steps) -> Change | None:
    """Weights that sum to 1 over the heads."""
    count = s.derivation.known_sizes.get("h", 1)
    if s.softmax is None or count == 1 or not s.softmax.has(HEAD):
        return None
    return {"weights": OverHeads(s.softmax, HEAD, sympy.Integer(count))}


def _interleaved(s: Steps) -> Change | None:
    """The heads joined entry by entry."""
    concat = s.expr("concat")
    if not isinstance(concat, Concat) or concat.args[2] == 1:
        return None
    return {"concat": InterleavedConcat(*concat.args[:3])}


def _first_group(s: Steps) -> Change | None:
    """Every query head with the first key head."""
    count = s.derivation.known_sizes.get("h")
    if s.derivation.known_sizes.get("g") in (None, 1) or count is None:
        return None
    changes = {}
    for step in s.derivation.steps:
        shared = {
            head: Head(head.args[0], sympy.floor(HEAD / count))
            for head in step.expr.atoms(Head)
            if not isinstance(head.head, sympy.Symbol)
        }
        if shared:
            changes[step.name] = step.expr.xreplace(shared)
    return changes or None


PROGRAMS: tuple[Misconception, ...] = (
    Misconception(
        "overflows",
        "e^z is computed without taking off the largest score of the row, so that it overflows",
        "Subtract the row's maximum before the exponential; the weights are the same.",
        "Blanchard, Higham, Higham 2021",
        _softmax(lambda logits: UnguardedSoftmax(logits, 0)),
        floating=True,
    ),
    Misconception(
        "nothing-to-attend-to",
        "a row in which every key is masked becomes NaN",
        "A query without keys has weights 0 and output 0: −∞ − (−∞) and 0/0 have no value.",
        "PyTorch, scaled_dot_product_attention",
        _softmax(lambda logits: UnguardedSoftmax(logits, 1)),
        floating=True,
    ),
    Misconception(
        "lowered-by-1e9",
        "10⁹ is subtracted from masked scores",
        "The weights are the same unless a whole row is masked, which then attends to the keys "
        "that it must not see; use −∞.",
        REPORTED,
        _lowered_by(-(10**9)),
    ),
    Misconception(
        "lowered-by-1e4",
        "10⁴ is subtracted from masked scores",
        "The weights are the same unless scores are as large or a whole row is masked; use −∞.",
        REPORTED,
        _lowered_by(-(10**4)),
    ),
    Misconception(
        "scaled-after-softmax",
        "the weights, not the scores, are divided by √d_k",
        "Divide the scores before the softmax; otherwise the rows sum to 1/√d_k.",
        DOT_PRODUCT,
        _scaled_afterwards,
    ),
    Misconception(
        "softmax-over-heads",
        "the softmax is taken over the heads",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        _over_heads,
    ),
    Misconception(
        "heads-interleaved",
        "the heads are joined entry by entry, (n, d, h) instead of (n, h, d)",
        "Exchange the axes to (tokens, heads, width) before joining the heads.",
        REPORTED,
        _interleaved,
    ),
    Misconception(
        "first-group-for-all",
        "every query head uses the first key head",
        "Neighbouring query heads share a key head: head i uses ⌊i g/h⌋, counted from 0.",
        "Ainslie et al. 2023, section 2.2",
        _first_group,
    ),
)
