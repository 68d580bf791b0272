"""Misconceptions about the soft cap, the bias and the mask: Z = cap(S) + B + M.

A new one is a row at the end: an equation.
"""

from __future__ import annotations

from symattn.mistakes.base import (
    REPORTED,
    Misconception,
)

MASKS: tuple[Misconception, ...] = (
    Misconception(
        "not-masked",
        "the mask is left out",
        "Add the mask before the softmax: a masked-out key gets weight 0.",
        "Vaswani et al. 2017, section 3.2.3",
        ("masked: Z + M = Z", "masked: keep(Z, M) = Z"),
    ),
    Misconception(
        "mask-inverted",
        "the mask is inverted: it masks out the keys that should be kept",
        "True means that a query may attend; in some libraries it means the opposite.",
        "PyTorch, nn.MultiheadAttention, attn_mask",
        "masked: Z + M = Z + inverted(M)",
    ),
    Misconception(
        "mask-transposed",
        "the mask is transposed: queries attend to later tokens, not to earlier ones",
        "Rows are queries: row i may attend to keys 1 to i, up to the diagonal.",
        "Vaswani et al. 2017, section 3.2.3",
        "masked: Z + M = Z + M^T",
    ),
    Misconception(
        "mask-on-queries",
        "the padding mask is applied to the queries, with a large negative number, so "
        "that a padded row has equal weights for all keys",
        "Padding masks out keys, column by column; the weights of every query still sum to 1.",
        REPORTED,
        "masked: Z + padding(l) = fill(Z, padding(l)^T, -10^9); if n > 1",
    ),
    Misconception(
        "mask-strict",
        "a token does not attend to itself",
        "The causal mask masks out later keys only; the diagonal is kept.",
        "Vaswani et al. 2017, section 3.2.3",
        "masked: Z + causal() = Z + inverted(causal(start=0)^T); if n > 1",
    ),
    Misconception(
        "mask-other-corner",
        "the causal mask is aligned to the wrong corner",
        "With a cache, query i attends to all cached keys and those up to its own; without "
        "one, the mask starts at the top left.",
        "PyTorch, scaled_dot_product_attention",
        (
            "masked: Z + causal(start=0) = Z + causal(start=m - n); if m > n",
            "masked: Z + causal(start=s) = Z + causal(start=0); if m > n",
        ),
    ),
    Misconception(
        "masked-to-0",
        "masked scores are set to 0 instead of −∞",
        "e⁰ is 1, so a masked-out key would still get weight; use −∞.",
        "Vaswani et al. 2017, section 3.2.3",
        "masked: Z + M = fill(Z, M, 0)",
    ),
    Misconception(
        "masked-to-minus-1e9",
        "masked scores are set to −10⁹ instead of −∞",
        "The weights agree in all digits shown, unless a whole row is masked; then they "
        "are 1/m each instead of 0. In half precision −10⁹ overflows.",
        REPORTED,
        "masked: Z + M = fill(Z, M, -10^9)",
    ),
    Misconception(
        "masked-to-minus-1e4",
        "masked scores are set to −10⁴ instead of −∞",
        "The weights agree in all digits shown, unless other scores are as low or a "
        "whole row is masked.",
        REPORTED,
        "masked: Z + M = fill(Z, M, -10^4)",
    ),
    Misconception(
        "mask-after-softmax",
        "the mask is applied after the softmax, without renormalising",
        "Mask before the softmax; otherwise the rows no longer sum to 1.",
        "Vaswani et al. 2017, section 3.2.3",
        "masked: Z + M = Z; weights: A = keep(A, M); if no exp",
    ),
    Misconception(
        "choice-left-out",
        "every key is kept, not only those with the largest scores",
        "Only the chosen keys keep their scores; the others get weight 0.",
        "Zhao et al. 2019, section 3",
        ("selected: G + M = G", "selected: keep(G, M) = G"),
    ),
    Misconception(
        "choice-before-mask",
        "the keys are chosen before the mask, so that hidden keys take places of others",
        "Mask first: the keys are chosen among those that the query may attend to.",
        "Zhao et al. 2019, section 3",
        "choice: topk(G, k) = topk(Z, k); where masked = Z + M",
    ),
    Misconception(
        "choice-by-columns",
        "each key chooses queries, instead of each query keys",
        "The choice is made row by row, since rows are queries.",
        "Zhao et al. 2019, section 3",
        "choice: topk(G, k) = topk(G^T, k)^T; if n > 1",
    ),
    Misconception(
        "soft-cap-left-out",
        "the soft cap is left out",
        "Cap the scores before the mask.",
        "Gemma Team, Gemma 2 (2024), section 2",
        "capped: softcap(S, c) = S",
    ),
    Misconception(
        "soft-cap-after-mask",
        "the soft cap comes after the mask",
        "The cap turns −∞ into −cap, so masked-out keys would get weight; cap first.",
        "onnx/onnx#7867",
        "masked: Z + M = fill(Z, M, -c); where capped = softcap(S, c)",
    ),
    Misconception(
        "bias-left-out",
        "the bias is left out",
        "Add the bias to the scores.",
        "Press, Smith, Lewis 2021, section 3",
        "biased: S + bias = S",
    ),
    Misconception(
        "bias-subtracted",
        "the bias is subtracted",
        "Add the bias to the scores.",
        "Press, Smith, Lewis 2021, section 3",
        "biased: S + bias = S - bias",
    ),
)
