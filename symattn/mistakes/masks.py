"""Misconceptions about the soft cap, the bias and the mask: Z = cap(S) + B + M.

A new one is a row at the end, and the function above that changes the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.mistakes.base import (
    REPORTED,
    Change,
    Misconception,
    Steps,
    fits,
    square,
)
from symattn.mistakes.nodes import Inverted, MaskedTo
from symattn.nodes.entrywise import SoftCap
from symattn.nodes.masks import Causal, Masked, Padding, VisibleScores


def _uncapped(s: Steps) -> Change | None:
    """The scores before the soft cap."""
    capped = s.expr("capped")
    return {"capped": capped.args[0]} if isinstance(capped, SoftCap) else None


def _capped_after_mask(s: Steps) -> Change | None:
    """−c where the mask hides: c tanh(−∞ / c)."""
    capped, masked = s.expr("capped"), s.expr("masked")
    if not isinstance(capped, SoftCap) or not isinstance(masked, Masked):
        return None
    hidden = MaskedTo(s.symbols["capped"], masked.args[1], -capped.args[1])
    return {"masked": hidden}


def _unbiased(s: Steps) -> Change | None:
    """S without its bias."""
    biased, bias = s.expr("biased"), s.symbol("bias")
    if biased is None or bias is None:
        return None
    rest = [term for term in biased.args if term != bias]
    return {"biased": rest[0]} if len(rest) == 1 else None


def _bias_subtracted(s: Steps) -> Change | None:
    """S − B."""
    without = _unbiased(s)
    return None if without is None else {"biased": without["biased"] - s.symbols["bias"]}


def _masked_with(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Another mask made from the right one."""

    def change(s: Steps) -> Change | None:
        if s.mask is None or s.before_mask is None:
            return None
        other = make(s.mask)
        if not fits(other, s.mask):
            return None
        return {"masked": Masked(s.before_mask, other)}

    return change


def _masked_to(value: int) -> Callable[[Steps], Change | None]:
    """A number where the mask hides, instead of −∞."""

    def change(s: Steps) -> Change | None:
        if s.mask is None:
            return None
        return {"masked": MaskedTo(s.before_mask, s.mask, value)}

    return change


def _unmasked(s: Steps) -> Change | None:
    """S without its mask."""
    return None if s.before_mask is None else {"masked": s.before_mask}


def _mask_after(s: Steps) -> Change | None:
    """The mask sets weights to 0 after the softmax."""
    weights, masked = s.expr("weights"), s.symbol("masked")
    if s.mask is None or weights is None or not weights.has(masked):
        return None
    unmasked = weights.subs(masked, s.before_mask)
    return {"masked": s.before_mask, "weights": VisibleScores(unmasked, s.mask)}


def _mask_on_queries(s: Steps) -> Change | None:
    """A padding mask transposed: all scores of a padded query are alike."""
    if s.mask is None or not square(s.mask) or not isinstance(s.expr("mask"), Padding):
        return None
    return {"masked": MaskedTo(s.before_mask, s.mask.T, -(10**9))}


def _causal_mask(s: Steps) -> MatrixExpr | None:
    """The causal part of the mask, under its own name or as the step `mask`."""
    mask = s.expr("mask") if "mask" in s.steps else s.mask
    return mask if isinstance(mask, Causal) else None


def _causal_shifted(s: Steps) -> Change | None:
    """With a cache of p tokens j ≤ i, without one j ≤ i + m − n."""
    causal = _causal_mask(s)
    if causal is None or s.before_mask is None or causal.shape[0] == causal.shape[1]:
        return None
    rows, columns = causal.shape
    past = causal.args[2] if len(causal.args) > 2 else sympy.S.Zero
    other = Causal(rows, columns, columns - rows if past == 0 else 0)
    return None if columns < rows else {"masked": Masked(s.before_mask, other)}


def _strictly_causal(s: Steps) -> Change | None:
    """No token sees itself: j < i."""
    causal = _causal_mask(s)
    if causal is None or s.before_mask is None or not square(causal):
        return None
    return {"masked": Masked(s.before_mask, Inverted(Causal(*causal.shape).T))}


MASKS: tuple[Misconception, ...] = (
    Misconception(
        "not-masked",
        "the mask is left out",
        "Add the mask before the softmax: a masked-out key gets weight 0.",
        "Vaswani et al. 2017, section 3.2.3",
        _unmasked,
    ),
    Misconception(
        "mask-inverted",
        "the mask is inverted: it masks out the keys that should be kept",
        "True means that a query may attend; in some libraries it means the opposite.",
        "PyTorch, nn.MultiheadAttention, attn_mask",
        _masked_with(Inverted),
    ),
    Misconception(
        "mask-transposed",
        "the mask is transposed: queries attend to later tokens, not to earlier ones",
        "Rows are queries: row i may attend to keys 1 to i, up to the diagonal.",
        "Vaswani et al. 2017, section 3.2.3",
        _masked_with(sympy.Transpose),
    ),
    Misconception(
        "mask-on-queries",
        "the padding mask is applied to the queries, with a large negative number, so "
        "that a padded row has equal weights for all keys",
        "Padding masks out keys, column by column; the weights of every query still sum to 1.",
        REPORTED,
        _mask_on_queries,
    ),
    Misconception(
        "mask-strict",
        "a token does not attend to itself",
        "The causal mask masks out later keys only; the diagonal is kept.",
        "Vaswani et al. 2017, section 3.2.3",
        _strictly_causal,
    ),
    Misconception(
        "mask-other-corner",
        "the causal mask is aligned to the wrong corner",
        "With a cache, query i attends to all cached keys and those up to its own; without "
        "one, the mask starts at the top left.",
        "PyTorch, scaled_dot_product_attention",
        _causal_shifted,
    ),
    Misconception(
        "masked-to-0",
        "masked scores are set to 0 instead of −∞",
        "e⁰ is 1, so a masked-out key would still get weight; use −∞.",
        "Vaswani et al. 2017, section 3.2.3",
        _masked_to(0),
    ),
    Misconception(
        "masked-to-minus-1e9",
        "masked scores are set to −10⁹ instead of −∞",
        "The weights agree in all digits shown, unless a whole row is masked; then they "
        "are 1/m each instead of 0. In half precision −10⁹ overflows.",
        REPORTED,
        _masked_to(-(10**9)),
    ),
    Misconception(
        "masked-to-minus-1e4",
        "masked scores are set to −10⁴ instead of −∞",
        "The weights agree in all digits shown, unless other scores are as low or a "
        "whole row is masked.",
        REPORTED,
        _masked_to(-(10**4)),
    ),
    Misconception(
        "mask-after-softmax",
        "the mask is applied after the softmax, without renormalising",
        "Mask before the softmax; otherwise the rows no longer sum to 1.",
        "Vaswani et al. 2017, section 3.2.3",
        _mask_after,
    ),
    Misconception(
        "soft-cap-left-out",
        "the soft cap is left out",
        "Cap the scores before the mask.",
        "Gemma Team, Gemma 2 (2024), section 2",
        _uncapped,
    ),
    Misconception(
        "soft-cap-after-mask",
        "the soft cap comes after the mask",
        "The cap turns −∞ into −cap, so masked-out keys would get weight; cap first.",
        "onnx/onnx#7867",
        _capped_after_mask,
    ),
    Misconception(
        "bias-left-out",
        "the bias is left out",
        "Add the bias to the scores.",
        "Press, Smith, Lewis 2021, section 3",
        _unbiased,
    ),
    Misconception(
        "bias-subtracted",
        "the bias is subtracted",
        "Add the bias to the scores.",
        "Press, Smith, Lewis 2021, section 3",
        _bias_subtracted,
    ),
)
