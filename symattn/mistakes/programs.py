"""Misconceptions that only programs show: in floating point, and in how arrays are laid out.

A calculation by hand has exact numbers and its heads side by side, so that none of these shows in
it; arrays are compared with these rows and all others. A new one is a row at the end: an equation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from symattn.mistakes.base import (
    DOT_PRODUCT,
    REPORTED,
    Misconception,
)
from symattn.mistakes.projections import MERGED, SPLIT, of_groups

# ---- masks -------------------------------------------------------------------------------------


#: Misconceptions with a number in them, which what was computed tells: a function, a name, words.
MEASURED: Mapping[str, tuple[str, str]] = {
    "fill": ("masked-to-{}", "masked scores are set to about {} instead of −∞"),
    "lower": ("masked-plus-{}", "about {} is added to masked scores instead of −∞"),
}


def with_number(function: str, value: Any) -> Misconception:
    """A row for the number that masked scores were found to be set to, or to be lowered by."""
    name, words = MEASURED[function]
    digits = f"{float(value):.4g}"
    return Misconception(
        name.format(digits.replace("-", "minus-")),
        words.format(digits.replace("-", "−")),
        _MASKED,
        REPORTED,
        f"masked: Z + M = {function}(Z, M, {value})",
    )


# ---- heads -------------------------------------------------------------------------------------


#: Which group a head uses instead: a name, words, and its number, made of that of its own, k.
_OTHER_GROUPS = (
    ("first-group-for-all", "every query head uses the first {}", "floor(k / n_g)"),
    ("last-group-for-all", "every query head uses the last {}", "n_g - 1 + floor(k / n_g)"),
    ("groups-tiled", "query head i uses {} i mod n_g, counted from 0", "mod(i, n_g)"),
    (
        "groups-reversed",
        "query heads use the {}s from the last one to the first",
        "n_g - 1 - k",
    ),
)


# ---- positions ---------------------------------------------------------------------------------


_PRESS = "Press, Smith, Lewis 2021, section 3"
_SU = "Su et al. 2021, section 3.2.2"
_ONLINE = "Milakov, Gimelshein 2018, algorithm 3"
_MASKED = "Use −∞, which no score is below."


#: What goes wrong with an online softmax: a name, words, and which of output and sums is rescaled.
_NOT_RESCALED = (
    ("", "does not rescale its sums", 0, 0),
    ("output-", "rescales the sum of exponentials, but not the output,", 0, 1),
    ("sum-", "rescales the output, but not the sum of exponentials,", 1, 0),
)

#: What goes wrong with the last block: a name and words, in which {0} is how many there are in one,
#: what to tell, and the equations.
_OF_BLOCKS = (
    (
        "blocks-of-{0}-averaged",
        "each block of {0} keys has a softmax of its own, and their outputs are averaged",
        "Blocks count by the sums of their exponentials, not alike.",
        "weights: softmax(Z) = blocks(Z, {0})",
    ),
    (
        "last-block-of-{0}-dropped",
        "keys beyond the last whole block of {0} are left out",
        "Where the block does not divide the number of keys, a shorter one comes last.",
        "weights: softmax(Z) = softmax(hide(Z, padding({0} floor(m/{0}), rows=n, columns=m))); "
        "if m >= {0}",
    ),
    (
        "last-block-of-{0}-filled",
        "the last block of {0} keys is filled up with zeros, which get weight",
        "Mask what fills up a block: a score of 0 has the weight of e⁰ = 1.",
        "weights: softmax(Z) = "
        "part(softmax(below(Z, filled(0, rows=n, columns={0} ceil(m/{0}) - m), 1)), 0, m, 1)",
    ),
    (
        "last-block-of-{0}-queries-dropped",
        "queries beyond the last whole block of {0} are left at 0",
        "Where the block does not divide the number of queries, a shorter one comes last.",
        "result: O = below(part(O, 0, {0} floor(n/{0}), 0), "
        "filled(0, rows=n - {0} floor(n/{0}), columns=width(O)), 0); if n >= {0}",
    ),
)


def _with_blocks(block: int) -> Iterator[Misconception]:
    """What goes wrong with keys, or queries, in blocks of so many."""
    of = f"blocks of {block}" if block > 1 else "one key at a time"
    for name, words, output, sums in _NOT_RESCALED:
        yield Misconception(
            f"online-{block}-{name}not-rescaled",
            f"an online softmax ({of}) {words} when the running maximum grows",
            "When the running maximum grows, multiply what was added up so far by e^(old − new), "
            "the sum of the exponentials and the output alike.",
            _ONLINE,
            f"weights: softmax(Z) = unrescaled(Z, {block}, {output}, {sums})",
        )
    for row in _OF_BLOCKS if block > 1 else ():
        name, words, tell, equation = (text.format(block) for text in row)
        yield Misconception(name, words, tell, _ONLINE, equation)


PROGRAMS: tuple[Misconception, ...] = (
    Misconception(
        "overflows",
        "e^z is computed without taking off the largest score of the row, so that it overflows",
        "Subtract the row's maximum before the exponential; the weights are the same.",
        "Blanchard, Higham, Higham 2021",
        "weights: softmax(Z) = unguarded(Z, 0)",
        floating=True,
    ),
    Misconception(
        "nothing-to-attend-to",
        "a row in which every key is masked becomes NaN",
        "A query without keys has weights 0 and output 0: −∞ − (−∞) and 0/0 have no value.",
        "PyTorch, scaled_dot_product_attention",
        "weights: softmax(Z) = unguarded(Z, 1)",
        floating=True,
    ),
    Misconception(
        "lowered-by-1e9",
        "10⁹ is subtracted from masked scores",
        "The weights are the same unless a whole row is masked, which then attends to the keys "
        "that it must not see; use −∞.",
        REPORTED,
        "masked: Z + M = lower(Z, M, -10^9)",
    ),
    Misconception(
        "lowered-by-1e4",
        "10⁴ is subtracted from masked scores",
        "The weights are the same unless scores are as large or a whole row is masked; use −∞.",
        REPORTED,
        "masked: Z + M = lower(Z, M, -10^4)",
    ),
    Misconception(
        "scaled-after-softmax",
        "the weights, not the scores, are divided by √d_k",
        "Divide the scores before the softmax; otherwise the rows sum to 1/√d_k.",
        DOT_PRODUCT,
        "scaled: S / c = S; weights: A = A / c",
    ),
    Misconception(
        "softmax-over-heads",
        "the softmax is taken over the heads",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        "normaliser: softmax(Z) = overheads(Z)",
    ),
    Misconception(
        "heads-interleaved",
        "the heads are joined entry by entry, (n, d, h) instead of (n, h, d)",
        "Exchange the axes to (tokens, heads, width) before joining the heads.",
        REPORTED,
        "concat: joined(H) = reshaped(joined(H^T), width(joined(H)))^T",
    ),
    Misconception(
        "shifted-by-the-largest-of-all",
        "the largest score of the whole matrix is taken off, not that of each row",
        "A row whose scores all lie far below becomes 0/0; subtract the row's own maximum.",
        "Blanchard, Higham, Higham 2021",
        "weights: softmax(Z) = unguarded(Z, 2)",
        rather="nothing-to-attend-to",
        floating=True,
    ),
    Misconception(
        "shifted-by-the-mean",
        "the mean of the row is taken off before the exponential, not its maximum",
        "A score far above the mean still overflows; subtract the row's maximum.",
        "Blanchard, Higham, Higham 2021",
        "weights: softmax(Z) = unguarded(Z, 3)",
        floating=True,
    ),
    *(
        Misconception(
            f"clipped-at-{most}",
            f"the scores are clipped to between −{most} and {most}",
            "Subtract the row's maximum instead: clipping makes large scores equal.",
            REPORTED,
            f"weights: softmax(Z) = softmax(relu(Z + {most}) - relu(Z - {most}) - {most})",
        )
        for most in (20, 30, 50, 100)
    ),
    *(
        Misconception(
            f"1e-{digits}-added",
            f"10^-{digits} is added to the sums that the exponentials are divided by",
            "After subtracting the maximum every sum is 1 or more: nothing has to be added.",
            REPORTED,
            f"weights: softmax(Z) = shifted(Z) / (rowsum(shifted(Z)) + 1e-{digits})",
        )
        for digits in (3, 4, 5, 6, 7, 8, 9, 10, 12)
    ),
    # ---- the scale
    Misconception(
        "multiplied-by-d_k",
        "the scores are multiplied by d_k",
        "Divide by √d_k; multiplying increases the variance of the scores.",
        DOT_PRODUCT,
        "scaled: S / c = S / (1/c^2)",
    ),
    Misconception(
        "scaled-by-fourth-root",
        "the scores are divided by the fourth root of d_k",
        "Divide the scores by √d_k; the fourth root is for queries and keys both.",
        DOT_PRODUCT,
        "scaled: S / c = S / sqrt(c)",
    ),
    *(
        Misconception(
            f"scaled-by-{number}",
            f"the scores are divided by {number}, whatever d_k is",
            f"√d_k is {number} only for d_k = {number**2}.",
            DOT_PRODUCT,
            f"scaled: S / c = S / {number}",
            rather="scaled-by-d_k",
        )
        for number in (4, 8, 16)
    ),
    Misconception(
        "scaled-by-queries",
        "the scores are divided by √n, the root of the number of queries",
        "The scale depends on the width of the vectors, not on their number.",
        DOT_PRODUCT,
        "scaled: S / c = S / sqrt(n); if n != m",
    ),
    Misconception(
        "scaled-by-latent",
        "the scores are divided by √d_c, the root of the width of the latent vectors",
        "Queries and keys of a head are d_k wide; absorbing a projection "
        "does not change the scale.",
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2",
        "scaled: S / c = S / sqrt(d_c)",
    ),
    Misconception(
        "rounded-down",
        "the scaled scores are rounded down to whole numbers, as // does",
        "Divide by /; // is a division of whole numbers.",
        "Python, floor division",
        "scaled: S = floored(S)",
    ),
    # ---- the weights
    Misconception(
        "softmax-over-batch",
        "the softmax is taken over the calculations of a batch",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        "weights: softmax(Z) = overbatch(Z)",
    ),
    Misconception(
        "negated",
        "the scores have the other sign",
        "A larger dot product gives a larger weight.",
        DOT_PRODUCT,
        "scores: Q K^T = -Q K^T",
    ),
    Misconception(
        "absolute-scores",
        "the absolute values of the scores are taken",
        "A negative score stands for keys unlike the query, and gives a small weight.",
        DOT_PRODUCT,
        "scores: Q K^T = abs(Q K^T)",
    ),
    Misconception(
        "negative-scores-cut-off",
        "negative scores are set to 0 before the softmax",
        "The softmax takes scores of either sign.",
        DOT_PRODUCT,
        "scores: Q K^T = relu(Q K^T)",
    ),
    Misconception(
        "distance-for-dot",
        "minus the squared distances take the place of the dot products",
        "The score is the dot product, which depends on the lengths of the keys too.",
        DOT_PRODUCT,
        "scores: Q K^T = -dist2(Q, K)",
    ),
    Misconception(
        "keys-reshaped",
        "the keys are reshaped to d_k × m, not transposed",
        "reshape keeps the order of the numbers; a transpose exchanges rows and columns.",
        REPORTED,
        "scores: Q K^T = Q reshaped(K, width(K)); if m > 1; if d_k > 1",
    ),
    Misconception(
        "sigmoid-for-softmax",
        "a sigmoid of each score is taken instead of a softmax",
        "The weights of a row have to sum to 1.",
        DOT_PRODUCT,
        "weights: A = sigmoid(logits); if no hiding; if no exp",
    ),
    Misconception(
        "relu-for-softmax",
        "negative scores are set to 0, and the others are the weights",
        "The softmax raises e to each score and divides by the sum of the row.",
        DOT_PRODUCT,
        "weights: A = relu(logits); if no hiding; if no exp",
    ),
    Misconception(
        "relu-over-its-sum",
        "negative scores are set to 0, and the others divided by their sum",
        "The softmax raises e to each score first.",
        DOT_PRODUCT,
        "weights: A = relu(logits) / rowsum(relu(logits)); if no hiding; if no exp",
    ),
    Misconception(
        "extra-term-left-out",
        "the term that the denominator has besides the exponentials is left out",
        "With the 1, or the sink, in the denominator the weights of a row sum to less than 1.",
        "Miller, Attention Is Off By One (2023)",
        ("weights: softmax1(Z) = softmax(Z)", "weights: sinksoftmax(Z, B) = softmax(Z)"),
    ),
    Misconception(
        "softmax-for-sigmoid",
        "a softmax is taken, though here each weight is the sigmoid of its score alone",
        "This attention has a sigmoid for each score; its weights need not sum to 1.",
        "Ramapuram et al. 2024",
        "weights: sigmoids(Z) = softmax(Z)",
    ),
    Misconception(
        "softmax-for-sparsemax",
        "a softmax is taken, though here weights may be exactly 0",
        "This attention has another normaliser.",
        "Martins, Astudillo 2016",
        (
            "weights: sparsemax(Z) = softmax(Z)",
            "weights: entmax15(Z) = softmax(Z)",
            "weights: hardmax(Z) = softmax(Z)",
        ),
    ),
    Misconception(
        "sparsemax-for-entmax",
        "a sparsemax is taken: the scores are not halved, nor is their excess squared",
        "In 1.5-entmax the squares of what lies above the threshold sum to 1.",
        "Peters, Niculae, Martins 2019",
        "weights: entmax15(Z) = sparsemax(Z)",
    ),
    Misconception(
        "entmax-not-halved",
        "the scores are not halved before the threshold is subtracted",
        "With α = 3/2 the scores are multiplied by α − 1, which is 1/2.",
        "Peters, Niculae, Martins 2019",
        "weights: entmax15(Z) = entmax15(2 Z)",
    ),
    Misconception(
        "log-softmax",
        "the logarithms of the weights take their place",
        "Take the softmax, not its logarithm, of the scores.",
        "PyTorch, log_softmax",
        "weights: A = less(lowest(logits), lse(lowest(logits))); if no hiding; if no exp",
    ),
    Misconception(
        "one-added",
        "1 is added to the sums that the exponentials are divided by",
        "The weights of a row sum to 1; the softmax off by one is another normaliser.",
        "Miller, Attention Is Off By One (2023)",
        "weights: softmax(Z) = softmax1(Z)",
    ),
    Misconception(
        "one-added-after-shift",
        "the 1 in the denominator is not lowered as the scores are",
        "With the maximum m taken off, the 1 becomes e^(−m).",
        "Miller, Attention Is Off By One (2023)",
        "weights: A = shifted(logits) / (rowsum(shifted(logits)) + 1); if no hiding; if no exp",
    ),
    Misconception(
        "scores-times-log2e",
        "the scores are multiplied by log₂ e, but powers of e are taken",
        "2^(z log₂ e) is e^z: use either powers of 2 or scores as they are.",
        REPORTED,
        "weights: softmax(Z) = softmax(Z / ln(2))",
    ),
    Misconception(
        "scores-times-log-2-squared",
        "powers of 2 are taken of scores that are multiplied by ln 2",
        "2^(z log₂ e) is e^z, and log₂ e = 1/ln 2: divide by ln 2.",
        REPORTED,
        "weights: softmax(Z) = softmax(ln(2)^2 Z)",
    ),
    Misconception(
        "length-1-for-sum-1",
        "each row is divided by its length, so that its squares sum to 1",
        "Divide by the sum of the row, so that the weights sum to 1.",
        DOT_PRODUCT,
        "weights: softmax(Z) = shifted(Z) / lengths(shifted(Z))",
    ),
    Misconception(
        "equal-weights",
        "all keys have the same weight",
        "The weights depend on queries and keys.",
        DOT_PRODUCT,
        "weights: A = filled(1/m, rows=n, columns=m); if no hiding; if no exp",
    ),
    Misconception(
        "row-sums-along-columns-shifted",
        "column j is divided by the sum of row j (e / e.sum(axis=1) without keepdims), after the "
        "rows' maxima are taken off",
        "Keep the axis: e / e.sum(axis=1, keepdims=True) divides each row by its own sum.",
        "NumPy manual, broadcasting",
        "weights: softmax(Z) = shifted(Z) / rowsum(shifted(Z))^T; if n > 1",
    ),
    Misconception(
        "over-everything-shifted",
        "everything is divided by one sum over the whole matrix, after the rows' maxima are "
        "taken off",
        "Each row belongs to one query and sums to 1 by itself.",
        REPORTED,
        "weights: softmax(Z) = shifted(Z) / spread(sum(shifted(Z)), n, 0); if n > 1",
    ),
    # ---- what comes of them
    Misconception(
        "softmax-of-output",
        "a softmax is taken of the output too",
        "The output is the weighted average of the values.",
        DOT_PRODUCT,
        "result: O = softmax(O)",
    ),
    Misconception(
        "unfinished",
        "an earlier step is returned, and the last one is left out",
        "The report says which step is asked for; where an output projection follows, "
        "multiply the joined heads by W_O.",
        REPORTED,
        "last: O = earlier",
    ),
    # ---- two sequences
    Misconception(
        "keys-of-x",
        "the keys are computed from the sequence of the queries",
        "In cross-attention keys and values come from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        "K: memory W = X W",
    ),
    Misconception(
        "values-of-x",
        "the values are computed from the sequence of the queries",
        "In cross-attention keys and values come from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        "V: memory W = X W",
    ),
    Misconception(
        "keys-and-values-of-x",
        "keys and values are computed from the sequence of the queries",
        "In cross-attention keys and values come from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        "K: memory W = X W; V: memory U = X U",
    ),
    Misconception(
        "sequences-exchanged",
        "the two sequences are exchanged",
        "In cross-attention the queries come from x, keys and values from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        "Q: X W = memory W; K: memory U = X U; V: memory T = X T",
    ),
    Misconception(
        "cache-after-new",
        "cached keys and values are put after the new ones",
        "The cache holds earlier tokens: they come first.",
        "Shazeer, Fast Transformer Decoding (2019), section 2.4",
        "K_cached, V_cached: below(A, B) = below(B, A)",
    ),
    # ---- masks, biases, caps
    Misconception(
        "mask-added-as-1",
        "the mask is added to the scores as 1 and 0, not as 0 and −∞",
        "Add −∞ where a key is masked, and 0 where it is not.",
        REPORTED,
        "masked: Z + M = lower(Z, M, -1)",
    ),
    Misconception(
        "mask-added-as-1-inverted",
        "1 is added to the scores of masked keys",
        "Add −∞ where a key is masked, and 0 where it is not.",
        REPORTED,
        "masked: Z + M = lower(Z, M, 1)",
    ),
    Misconception(
        "mask-one-too-many",
        "each query sees one later key, as with triu(…, k=2) or tril(…, k=1)",
        "Query i sees keys up to its own: mask above the diagonal, triu(…, k=1).",
        "Vaswani et al. 2017, section 3.2.3",
        "masked: Z + causal(start=s) = Z + causal(start=s + 1)",
    ),
    Misconception(
        "window-too-narrow",
        "the window is one key too narrow",
        "Count whether the query's own position is one of the keys of the window.",
        "Jiang et al., Mistral 7B (2023), section 2",
        "masked: Z + window(l, r) = Z + window(l - 1, max(r - 1, 0)); if l > 0",
    ),
    Misconception(
        "window-too-wide",
        "the window is one key too wide",
        "Count whether the query's own position is one of the keys of the window.",
        "Jiang et al., Mistral 7B (2023), section 2",
        "masked: Z + window(l, r) = Z + window(l + 1, r + min(r, 1))",
    ),
    Misconception(
        "window-two-sided",
        "the window reaches to later keys too",
        "This window reaches to earlier keys only.",
        "Jiang et al., Mistral 7B (2023), section 2",
        "masked: Z + window(l, r) = Z + window(l, l); if l != r",
    ),
    Misconception(
        "window-one-sided",
        "the window reaches to earlier keys only",
        "This window reaches to both sides.",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
        "masked: Z + window(l, r) = Z + window(l, 0); if r > 0",
    ),
    Misconception(
        "window-without-end",
        "every earlier key is seen, however far away",
        "The window leaves out keys that are too far away.",
        "Jiang et al., Mistral 7B (2023), section 2",
        "masked: Z + window(l, r) = Z + window(inf, r)",
    ),
    Misconception(
        "window-halved",
        "the window reaches half as far to each side",
        "The width here is that of one side; Longformer's w counts both.",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
        "masked: Z + window(l, r) = Z + window(floor(l / 2), floor(r / 2))",
    ),
    Misconception(
        "bias-before-scale",
        "the bias is added before the division by √d_k",
        "Divide the scores, then add the bias.",
        _PRESS,
        "biased: Z + bias = scaled + bias / c; where scaled = S / c",
    ),
    Misconception(
        "mask-before-scale",
        "the mask is added before the division by √d_k",
        "Divide the scores, then add the mask: its finite numbers are not to be scaled.",
        REPORTED,
        "masked: Z + mask = Z + mask / c; where scaled = S / c",
    ),
    Misconception(
        "bias-multiplied",
        "the scores are multiplied by the bias",
        "Add the bias to the scores.",
        _PRESS,
        "biased: Z + bias = scaled ∘ bias; where scaled = S / c",
    ),
    Misconception(
        "bias-after-softmax",
        "the bias is added to the weights, not to the scores",
        "Add the bias before the softmax, so that the weights still sum to 1.",
        _PRESS,
        "biased: Z + bias = scaled; weights: A = A + bias",
    ),
    Misconception(
        "soft-cap-not-multiplied-back",
        "tanh(z/c) is not multiplied by the cap",
        "The capped score is c tanh(z/c), which is nearly z for small scores.",
        "Gemma Team, Gemma 2 (2024), section 2",
        "capped: softcap(Z, c) = softcap(scaled, c) / c",
    ),
    Misconception(
        "soft-cap-not-divided",
        "the scores are not divided by the cap before tanh",
        "The capped score is c tanh(z/c), which is nearly z for small scores.",
        "Gemma Team, Gemma 2 (2024), section 2",
        "capped: softcap(Z, c) = softcap(c scaled, c)",
    ),
    Misconception(
        "soft-cap-before-scale",
        "the soft cap comes before the division by √d_k",
        "Divide the scores, then cap them.",
        "Gemma Team, Gemma 2 (2024), section 2",
        "capped: softcap(Z, c) = softcap(r scaled, c) / r; where scaled = S / r",
    ),
    Misconception(
        "hard-cap",
        "the scores are clipped at the cap, not kept within it by tanh",
        "The capped score is c tanh(z/c).",
        "Gemma Team, Gemma 2 (2024), section 2",
        "capped: softcap(Z, c) = relu(scaled + c) - relu(scaled - c) - c",
    ),
    # ---- heads
    Misconception(
        "groups-split-by-reshape",
        "queries, keys and values are split into heads by reshape without exchanging axes",
        "Reshape to (tokens, heads, width) first, then exchange the axes; otherwise a "
        "head mixes tokens.",
        REPORTED,
        f"Q, K, V: {SPLIT}; if X",
        rather="split-by-reshape",
    ),
    Misconception(
        "split-and-merged-by-reshape",
        "the heads are split and merged by reshape alone, without exchanging axes",
        "Reshape to (tokens, heads, width), then exchange the axes; and exchange them back before "
        "joining the heads.",
        REPORTED,
        f"Q, K, V: {SPLIT}; {MERGED}; if X",
    ),
    Misconception(
        "split-by-columns",
        "the heads are split as (tokens, width, heads): head i has every h-th column",
        "Reshape to (tokens, heads, width): a head has neighbouring columns.",
        REPORTED,
        "Q, K, V: P = apart(reshaped(joined(P)^T, width(P)))^T; if X",
    ),
    Misconception(
        "one-head",
        "the heads are not split: there is one softmax for all of them",
        "Each head has weights of its own.",
        "Vaswani et al. 2017, section 3.2.2",
        "scaled: S / c = sumofheads(S) / (sqrt(n_h) c)",
    ),
    Misconception(
        "weights-of-the-first-head",
        "every head uses the weights of the first one",
        "Each head has weights of its own.",
        "Vaswani et al. 2017, section 3.2.2",
        "weights: A = take(A, which=0); if n_h > 1",
    ),
    Misconception(
        "heads-averaged",
        "the outputs of the heads are averaged",
        "Join the heads side by side.",
        "Vaswani et al. 2017, section 3.2.2",
        "heads: H = sumofheads(H) / n_h",
    ),
    *(
        Misconception(
            f"{before}{name}",
            words.format(f"{head} head") + rest,
            f"Neighbouring query heads share a {head} head: head i uses ⌊i n_g/n_h⌋, counted "
            "from 0.",
            "Ainslie et al. 2023, section 2.2",
            of_groups(names, index),
        )
        for names, before, head, rest in (
            ("KV", "", "key and value", ""),
            ("K", "keys-", "key", ", though its values are the right ones"),
            ("V", "values-", "value", ", though its keys are the right ones"),
        )
        for name, words, index in _OTHER_GROUPS
        if (names, name) != ("KV", "groups-tiled")  # which calculations by hand show too
    ),
    # ---- positions
    Misconception(
        "keys-not-rotated",
        "the queries are rotated, but not the keys",
        "Rotate both, so that a score depends on the difference of the positions.",
        _SU,
        "K_rotated: rotary(A) = A",
    ),
    Misconception(
        "queries-not-rotated",
        "the keys are rotated, but not the queries",
        "Rotate both, so that a score depends on the difference of the positions.",
        _SU,
        "Q_rotated: rotary(A) = A",
    ),
    Misconception(
        "values-rotated",
        "the values are rotated too",
        "Rotate queries and keys only.",
        _SU,
        "V: B = rotary(B, dims=width(B)); where K_rotated = rotary(A)",
    ),
    Misconception(
        "rotated-backwards",
        "queries and keys are rotated the other way",
        "The first of a pair becomes x cos φ − x′ sin φ, the second x′ cos φ + x sin φ.",
        _SU,
        "Q_rotated: rotary(A) = rotaryback(A); K_rotated: rotary(B) = rotaryback(B)",
    ),
    Misconception(
        "queries-rotated-backwards",
        "queries and keys are rotated in opposite directions, the queries the wrong way",
        "Rotate both by the same rule; the dot product subtracts the angles by itself.",
        _SU,
        "Q_rotated: rotary(A) = rotaryback(A)",
    ),
    Misconception(
        "keys-rotated-backwards",
        "queries and keys are rotated in opposite directions, the keys the wrong way",
        "Rotate both by the same rule; the dot product subtracts the angles by itself.",
        _SU,
        "K_rotated: rotary(A) = rotaryback(A)",
    ),
    Misconception(
        "rotary-sign-missing",
        "in a rotation x′ sin φ is added, not subtracted",
        "The first of a pair becomes x cos φ − x′ sin φ: rotate_half has a minus sign.",
        _SU,
        "Q_rotated: rotary(A, pairing=c) = interlaced(rotaryback(A), rotary(A), c); "
        "K_rotated: rotary(B) = interlaced(rotaryback(B), rotary(B), c)",
    ),
    Misconception(
        "query-pairs-differ",
        "queries and keys are rotated in different pairs of columns, the queries in other ones",
        "Neighbouring columns and columns half the width apart are two conventions; keep to one.",
        _SU,
        "Q_rotated: rotary(A, dims=d, pairing=c) = rotary(A, pairing=1 - c); if d > 2",
    ),
    Misconception(
        "key-pairs-differ",
        "queries and keys are rotated in different pairs of columns, the keys in other ones",
        "Neighbouring columns and columns half the width apart are two conventions; keep to one.",
        _SU,
        "K_rotated: rotary(A, dims=d, pairing=c) = rotary(A, pairing=1 - c); if d > 2",
    ),
    Misconception(
        "queries-a-position-ahead",
        "the positions of the queries start one later than those of the keys",
        "Only the difference of positions counts, so that both have to start alike.",
        _SU,
        "Q_rotated: rotary(A, start=s) = rotary(A, start=s + 1)",
    ),
    Misconception(
        "keys-a-position-ahead",
        "the positions of the keys start one later than those of the queries",
        "Only the difference of positions counts, so that both have to start alike.",
        _SU,
        "K_rotated: rotary(A, start=s) = rotary(A, start=s + 1)",
    ),
    Misconception(
        "positions-without-cache",
        "the positions of the queries start at 0, though there are tokens in the cache",
        "The position of a new token is the number of tokens before it.",
        _SU,
        "Q_rotated: rotary(A) = rotary(A, start=0)",
    ),
    Misconception(
        "rotary-half-exponent",
        "the angles fall with base^(−t/d) instead of base^(−2t/d)",
        "θ_t = base^(−2t/d) for pair t, counted from 0.",
        _SU,
        "Q_rotated: rotary(A, base=b) = rotary(A, base=sqrt(b)); "
        "K_rotated: rotary(B) = rotary(B, base=sqrt(b))",
    ),
    Misconception(
        "rotary-double-exponent",
        "the angles fall with base^(−4t/d) instead of base^(−2t/d)",
        "θ_t = base^(−2t/d) for pair t, counted from 0.",
        _SU,
        "Q_rotated: rotary(A, base=b) = rotary(A, base=b^2); "
        "K_rotated: rotary(B) = rotary(B, base=b^2)",
    ),
    *(
        Misconception(
            f"rotary-base-{base}",
            f"the base of the rotary embedding is {base:,}",
            "The base is a choice of the model: the angles are position · base^(−2t/d).",
            _SU,
            f"Q_rotated: rotary(A) = rotary(A, base={base}); "
            f"K_rotated: rotary(B) = rotary(B, base={base})",
        )
        for base in (1000, 10_000, 100_000, 500_000, 1_000_000)
    ),
    Misconception(
        "rotated-before-projection",
        "the tokens are rotated, not queries and keys",
        "Project first, then rotate: rotations and projections do not commute.",
        _SU,
        "Q_rotated: rotary(A) = rotary(X, dims=width(X)) W; "
        "K_rotated: rotary(B) = rotary(Y, dims=width(Y)) U; "
        "where Q = X W; where K = Y U",
    ),
    Misconception(
        "alibi-halves",
        "the slopes are 1/2, 1/4, 1/8, …, whatever the number of heads",
        "The slopes fall from 2^(−8/h) to 2^(−8); 1/2, 1/4, … are those of 8 heads.",
        _PRESS,
        "bias: alibi() = take(alibi(heads=8), which=i); if n_h < 8; if n_h > 1",
    ),
    Misconception(
        "alibi-from-1",
        "the slopes start at 1 instead of 2^(−8/h)",
        "The slope of head i, counted from 1, is 2^(−8i/h).",
        _PRESS,
        "bias: alibi() = alibi() / 2^(-8/n_h); if n_h > 1",
    ),
    Misconception(
        "alibi-first-slope",
        "all heads have the slope of the first one",
        "Each head has a slope of its own, 2^(−8i/h).",
        _PRESS,
        "bias: alibi() = alibi(index=0); if n_h > 1",
    ),
    Misconception(
        "alibi-last-slope",
        "all heads have the slope of the last one, 2^(−8)",
        "Each head has a slope of its own, 2^(−8i/h).",
        _PRESS,
        "bias: alibi() = alibi(index=n_h - 1); if n_h > 1",
    ),
    Misconception(
        "alibi-reversed",
        "the slopes of the heads are in the opposite order",
        "The first head has the largest slope, 2^(−8/h).",
        _PRESS,
        "bias: alibi() = take(alibi(), which=n_h - 1 - i); if n_h > 1",
    ),
    # ---- keys and queries in blocks
    *(row for block in (1, 2, 4, 8, 16, 32, 64, 128) for row in _with_blocks(block)),
)
