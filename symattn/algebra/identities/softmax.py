"""Identities of the softmax: shifts, temperatures, Jacobian, masks, tiles."""

from __future__ import annotations

from symattn.algebra.identities.identity import ENTRIES, HYPOTHESIS, Identity, made

_BRIDLE = "Bridle, Probabilistic Interpretation of Feedforward Classification Networks (1990)"
_BISHOP = "Bishop, Pattern Recognition and Machine Learning (2006), section 4.3.4"
_FLASH = "Dao et al., FlashAttention (2022), section 3.1"
_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section "


SOFTMAX: tuple[Identity, ...] = (
    Identity(
        "rows-sum-to-1",
        "the weights of every query sum to 1",
        "softmax(S) 1 = ones",
        _BRIDLE,
        "a first check for any matrix of weights",
        (
            ("unfold", "exp(S) / rowsum(exp(S)) 1"),
            ("quotient of rows", "(exp(S) 1) / rowsum(exp(S))"),
            ("row sums", "rowsum(exp(S)) / rowsum(exp(S))"),
            (ENTRIES, "ones"),
        ),
        "softmax over the columns makes rows sum to 1",
    ),
    Identity(
        "weights-bounded",
        "a weight is between 0 and 1",
        "0 <= softmax(S) <= 1",
        _BRIDLE,
        "a first check for any matrix of weights",
    ),
    Identity(
        "shift",
        "adding the same number to all scores of a query changes nothing",
        "softmax(S + c 1^T) = softmax(S)",
        _BRIDLE,
        "the row maximum may be subtracted, so that no exponential overflows",
        (
            ("unfold", "exp(S + c 1^T) / rowsum(exp(S + c 1^T))"),
            ("exp of columns", "(diag(exp(c)) exp(S)) / rowsum(diag(exp(c)) exp(S))"),
            ("sum of a scaled row", "(diag(exp(c)) exp(S)) / (diag(exp(c)) rowsum(exp(S)))"),
            ("cancel rows", "exp(S) / rowsum(exp(S))"),
            ("unfold", "softmax(S)"),
        ),
        "subtracting the maximum makes the weights smaller",
        behind=(
            "weights: Softmax",
            "exp: Exponential",
            "exp_sum",
        ),
    ),
    Identity(
        "key-shift",
        "adding the same vector to all keys changes nothing",
        "softmax(Q (K + ones k)^T) = softmax(Q K^T)",
        "Cordonnier et al., Multi-Head Attention: Collaborate Instead of Concatenate (2020), "
        "section 3.1",
        "a bias in the key projection has no effect",
        (("distribute", "softmax(Q K^T + Q (ones k)^T)"), ("shift", "softmax(Q K^T)")),
        "a bias on the keys has an effect, as one on the queries has",
    ),
    Identity(
        "value-bias",
        "adding a vector to all values adds it to all outputs",
        "softmax(S) (V + ones v) = softmax(S) V + ones v",
        "Cordonnier et al. 2020, section 3.1",
        "a bias on the values can be moved into the output bias",
        (
            ("distribute", "softmax(S) V + softmax(S) ones v"),
            ("rows sum to 1", "softmax(S) V + ones v"),
        ),
    ),
    Identity(
        "temperature-two-keys",
        "with two keys, at temperature T, the weights depend only on the difference of "
        "the scores divided by T",
        "softmax([a, b] / T) = [σ((a - b) / T), σ((b - a) / T)]",
        _BISHOP,
        "T → 0 sends this quotient to ±∞ (all or nothing), T → ∞ to 0 (one half each)",
        shapes=(("a", ("n", 1)), ("b", ("n", 1))),
        positive=("T",),
    ),
    Identity(
        "temperature-infinite",
        "at 1/T = 0 every query gets the mean of the values",
        "softmax(0*S) V = 1/m ones ones^T V",
        _BISHOP,
        "the limit of very flat attention",
    ),
    Identity(
        "temperature-zero",
        "as T → 0, the scores divided by T fall behind the largest without bound: "
        "softmax tends to the one-hot vector of the argmax, if the largest is unique",
        "softmax([0, −∞, −∞]) = [1, 0, 0]",
        _BISHOP,
        "the limit of very sharp attention",
        for_all=False,
        reason="the gaps of −∞ are written out as a matrix of this size",
        sides=made("without_temperature"),
    ),
    Identity(
        "two-keys-sigmoid",
        "over two keys, softmax is a sigmoid of the difference",
        "softmax([a, b]) = [σ(a - b), σ(b - a)]",
        _BISHOP,
        "two weights from a single difference",
        shapes=(("a", ("n", 1)), ("b", ("n", 1))),
    ),
    Identity(
        "jacobian",
        "the softmax's Jacobian is diag(p) − p pᵀ",
        "∂(wᵀ p)/∂z = wᵀ (diag(p) − p pᵀ) for every w, p = softmax(z)ᵀ",
        _BISHOP,
        "this Jacobian gives the gradient of the scores in the backward pass",
        sides=made(  # Jᵀ w for any w
            "slopes",
            "softmax(z) w",
            "z",
            "w^T diag(softmax(z)) - (w^T softmax(z)^T) softmax(z)",
            {"z": (1, "m"), "w": ("m", 1)},
        ),
    ),
    Identity(
        "jacobian-times-1",
        "the Jacobian times the vector of ones is 0: a shift changes nothing",
        "(diag(p) - p p^T) 1 = 0*p",
        _BISHOP,
        "the gradients in each row of scores sum to 0",
        ((HYPOTHESIS, "0*p"),),
        where=("p = softmax(z)^T",),
        shapes=(("z", (1, "m")), ("p", ("m", 1))),
    ),
    Identity(
        "log-sum-exp",
        "the gradient of log-sum-exp is softmax",
        "∂ ln Σ_l e^(z_l) / ∂z = softmax(z)",
        _BISHOP,
        "log-sum-exp is a smooth maximum",
        sides=made("slopes", "lse(z)", "z", "softmax(z)", {"z": (1, "m")}),
    ),
    Identity(
        "log-sum-exp-bounds",
        "log-sum-exp is at least the largest of m scores, and at most ln m above it",
        "rowmax(S) <= lse(S) <= rowmax(S) + ln(m)",
        _BISHOP,
        "log-sum-exp is a smooth maximum",
    ),
    Identity(
        "softmax-of-logs",
        "the plain ratio is the softmax of logarithms",
        "ratio(S) = softmax(ln(S))",
        "Graves et al., Neural Turing Machines (2014), section 3.3.2",
        "sum-normalised attention is a softmax of other scores",
        (
            ("ratio", "S / rowsum(S)"),
            ("exp of ln", "exp(ln(S)) / rowsum(exp(ln(S)))"),
            ("unfold", "softmax(ln(S))"),
        ),
        positive=("S",),
        behind=("weights: RowRatio",),
    ),
    Identity(
        "sharpen",
        "doubling the scores squares the weights, renormalised",
        "softmax(2 S) = ratio(softmax(S) ∘ softmax(S))",
        "Graves et al., Neural Turing Machines (2014), section 3.3.2",
        "a temperature raises the weights to a power",
    ),
    Identity(
        "mask-deletes",
        "masking the last keys with −∞ is deleting them",
        "softmax([S, R] + padding(n, m + p, m)) [V; W] = softmax(S) V",
        f"{_VASWANI}3.2.3",
        "masked-out keys have no effect",
        sides=made("deleted"),
        misconception="a large negative number is as good as −∞",
        behind=(
            "masked",
            "mask",
        ),
    ),
    Identity(
        "mask-then-renormalise",
        "causally masking the weights and renormalising is masking the scores",
        "ratio(softmax(S) ∘ exp(causal())) = softmax(S + causal())",
        f"{_VASWANI}3.2.3",
        "two ways to write masked attention: e^M is 1 where a mask M is 0, and 0 where it is −∞",
        shapes=(("S", ("n", "n")),),
        misconception="masking after the softmax is masking before it",
    ),
    Identity(
        "factors-of-weights",
        "positive factors of the weights, renormalised, are their logarithms added to the scores",
        "ratio(softmax(S) ∘ B) = softmax(S + ln(B))",
        f"{_VASWANI}3.2.3",
        "a bias of the scores is a factor of the weights",
        positive=("B",),
    ),
    Identity(
        "late-normalisation",
        "the weighted sum of the values may be divided by the sum of the exponentials last",
        "softmax(S) V = (exp(S) V) / rowsum(exp(S))",
        _FLASH,
        "rows of the output without the weights",
        (
            ("unfold", "exp(S) / rowsum(exp(S)) V"),
            ("quotient of rows", "(exp(S) V) / rowsum(exp(S))"),
        ),
    ),
    Identity(
        "two-tiles",
        "the softmax over two tiles of keys follows from two partial sums",
        "softmax([S1, S2]) [V1; V2] = (exp(S1) V1 + exp(S2) V2) / (rowsum(exp(S1)) + "
        "rowsum(exp(S2)))",
        _FLASH,
        "keys can be processed tile by tile",
        (
            ("unfold", "exp([S1, S2]) / rowsum(exp([S1, S2])) [V1; V2]"),
            ("quotient of rows", "(exp([S1, S2]) [V1; V2]) / rowsum(exp([S1, S2]))"),
            ("exp of blocks", "([exp(S1), exp(S2)] [V1; V2]) / rowsum([exp(S1), exp(S2)])"),
            ("blocks", "(exp(S1) V1 + exp(S2) V2) / rowsum([exp(S1), exp(S2)])"),
            ("sum of blocks", ""),
        ),
    ),
    Identity(
        "online-softmax",
        "two tiles, each shifted by its maximum or any number, merge into the softmax over both",
        "(diag(exp(a - c)) (exp(S1 - a 1^T) V1) + diag(exp(b - c)) (exp(S2 - b 1^T) V2)) / "
        "(diag(exp(a - c)) rowsum(exp(S1 - a 1^T)) + diag(exp(b - c)) rowsum(exp(S2 - b 1^T))) "
        "= softmax([S1, S2]) [V1; V2]",
        "Milakov and Gimelshein, Online Normalizer Calculation for Softmax (2018), section 3; "
        f"{_FLASH}",
        "the FlashAttention step; by induction any tiling",
        shapes=(("a", ("n", 1)), ("b", ("n", 1)), ("c", ("n", 1))),
    ),
    Identity(
        "online-softmax-recurrent",
        "sums that are rescaled at each key, as the shift changes, end as the softmax",
        "o_m / l_m = softmax(S^T) V with l_t = e^(c_(t−1) − c_t) l_(t−1) + e^(s_t − c_t)",
        "Milakov and Gimelshein, Online Normalizer Calculation for Softmax (2018), section 3; "
        f"{_FLASH}",
        "scores are read once; the running maximum is one choice of the shift",
        sides=made(
            "attentions",
            "S : m × n; V : m × d_v; C[t] = C[t-1] + D[t]; L[0] = 0; O[0] = 0; "
            "L[t] = exp(-D[t]) ∘ L[t-1] + exp(S[t] - C[t]); "
            "O[t] = exp(-D[t])^T ∘ O[t-1] + exp(S[t] - C[t])^T V[t]; Y = O[m] / L[m]^T",
            "S : m × n; V : m × d_v; Y = softmax(S^T) V",
        ),
        letters="s_t are the scores of key t; o_t is made as l_t is, with v_t; the shifts c_t are "
        "any, and D holds c_t − c_(t−1)",
    ),
    Identity(
        "sink-zero-key",
        "softmax with 1 added to the denominator is softmax with one extra key whose "
        "score and value are 0",
        "softmax1(S) V = softmax([S, 0*c]) [V; 0*v]",
        "Miller, Attention Is Off By One (2023)",
        "the weights of a head can all be near 0",
        shapes=(("c", ("n", 1)), ("v", (1, "d_v"))),
        behind=("weights: OffByOneSoftmax",),
    ),
    Identity(
        "tanh-sigmoid",
        "tanh is a sigmoid, scaled and shifted",
        "tanh(S) = 2 σ(2 S) - 1",
        "LeCun et al., Efficient BackProp (1998), section 4.4",
        "sigmoid gates and tanh caps have the same shape",
    ),
)
