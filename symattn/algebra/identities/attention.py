"""Identities of attention: permutations, circuits, heads, caches, linear and kernel attention."""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.counterexample import Sides
from symattn.algebra.identities.proofs import ENTRIES, HYPOTHESIS, Identity
from symattn.arithmetic.shapes import Size
from symattn.nodes.heads import Stacked
from symattn.nodes.lines import LineSum
from symattn.nodes.masks import Causal, Masked
from symattn.nodes.normalise import Softmax

n, m, p, d_k, d_v = sympy.symbols("n m p d_k d_v", integer=True, positive=True)
_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section "
_CIRCUITS = "Elhage et al., A Mathematical Framework for Transformer Circuits (2021)"
_LINEAR = "Katharopoulos et al., Transformers are RNNs (2020), section "


def _letters(*letters: tuple[str, Size, Size]) -> list[sympy.MatrixSymbol]:
    return [sympy.MatrixSymbol(*letter) for letter in letters]


def _blocks() -> tuple[MatrixExpr, MatrixExpr, MatrixExpr]:
    """Scores in blocks: of the first n queries with the first n and the next p keys."""
    a, b = _letters(("S", n, n), ("R", n, p))
    c, d = _letters(("T", p, n), ("U", p, p))
    values, more = _letters(("V", n, d_v), ("W", p, d_v))
    whole = Stacked(Stacked(a, b, 1), Stacked(c, d, 1))
    weights = Softmax(Masked(whole, Causal(n + p, n + p)))
    return weights * Stacked(values, more), (a, b, c, d), (values, more)


def _prefix() -> Sides:
    """The first n rows of a causal pass over n + p tokens; a causal pass over n tokens."""
    whole, (first, *_), (values, _) = _blocks()
    rows = Stacked(sympy.Identity(n), sympy.ZeroMatrix(n, p), 1)
    return rows * whole, Softmax(Masked(first, Causal(n, n))) * values


def _cache() -> Sides:
    """The last p rows of a causal pass; p new queries over n cached keys and p new ones."""
    whole, (_, _, old, new), (values, more) = _blocks()
    rows = Stacked(sympy.ZeroMatrix(p, n), sympy.Identity(p), 1)
    fresh = Masked(Stacked(old, new, 1), Causal(p, n + p, n))
    return rows * whole, Softmax(fresh) * Stacked(values, more)


def _variance() -> Sides:
    """E (q·k)² = Σ_ab E q_a q_b E k_a k_b, each second moment being the identity matrix."""
    unit = sympy.Identity(d_k)
    return LineSum(LineSum(sympy.HadamardProduct(unit, unit, evaluate=False)), 0), d_k


ATTENTION: tuple[Identity, ...] = (
    Identity(
        "permutation-equivariance",
        "permuting the tokens permutes the outputs",
        "softmax(P X W_Q (P X W_K)^T) P X W_V = P softmax(X W_Q (X W_K)^T) X W_V",
        "Lee et al., Set Transformer (2019), section 3.1",
        "without positions, no token's output depends on the order",
        (
            ("permute rows", "P softmax(X W_Q (P X W_K)^T) P X W_V"),
            ("permute columns", "P softmax(X W_Q (X W_K)^T) P^T P X W_V"),
            ("permutation", ""),
        ),
        "attention alone depends on which token comes first",
        permuting=("P",),
    ),
    Identity(
        "key-order",
        "keys may be permuted together with their values",
        "softmax(Q (P K)^T) P V = softmax(Q K^T) V",
        "Lee et al., Set Transformer (2019), section 3.1",
        "the order of the keys has no effect",
        (("permute columns", "softmax(Q K^T) P^T P V"), ("permutation", "softmax(Q K^T) V")),
        permuting=("P",),
    ),
    Identity(
        "convex-hull",
        "for any vector v, an output minus v is the weighted mean of the differences "
        "between the values and v",
        "softmax(S) V - ones v = softmax(S) (V - ones v)",
        "Bishop and Bishop, Deep Learning (2024), section 12.1.3",
        "outputs lie in the convex hull of the values: weights are never negative and sum to 1",
        behind=(
            "output",
            "heads",
        ),
    ),
    Identity(
        "zero-queries",
        "queries of 0 give every token the mean of the values",
        "softmax((0*Q) K^T) V = 1/m ones ones^T V",
        f"{_VASWANI}3.2.1",
        "attention whose query projection is still 0",
    ),
    Identity(
        "scale-split",
        "multiplying queries and keys by d_k^(−1/4) each divides the scores by √d_k",
        "(Q / d_k^(1/4)) (K / d_k^(1/4))^T = Q K^T / sqrt(d_k)",
        "Child et al., Generating Long Sequences with Sparse Transformers (2019), code",
        "dividing before the product avoids overflow in half precision",
        (("ring", ""),),
        "dividing both queries and keys by √d_k divides the scores by √d_k",
    ),
    Identity(
        "variance",
        "the variance of q·k is d_k for independent components of mean 0 and variance 1",
        "Σ_ab E[q_a q_b] E[k_a k_b] = sum(I ∘ I) = d_k",
        f"{_VASWANI}3.2.1, footnote 4",
        "why scores are divided by √d_k",
        sides=_variance,
        letters="E is the expectation; q_a and k_a are the components",
        misconception="the variance of q·k does not grow with d_k",
        behind=("scaled",),
    ),
    Identity(
        "variance-scaled",
        "the variance of q·k/√d_k is 1",
        "d_k / sqrt(d_k)^2 = 1",
        f"{_VASWANI}3.2.1, footnote 4",
        "why scores are divided by √d_k, not by d_k",
    ),
    Identity(
        "gram-symmetric",
        "K Kᵀ is symmetric",
        "(K K^T)^T = K K^T",
        f"{_VASWANI}3.2.1",
        "without projections the score of i for j equals that of j for i",
        (("transpose", "K K^T"),),
    ),
    Identity(
        "cauchy-schwarz",
        "|q|²|k|² − (q·k)² is a sum of squares",
        "(q q^T) (k k^T) - (q k^T) (q k^T) = 1/2 sum((q^T k - k^T q) ∘ (q^T k - k^T q))",
        "Steele, The Cauchy–Schwarz Master Class (2004), chapter 3 (Lagrange's identity)",
        "with equal norms no score exceeds that of a token with itself",
    ),
    Identity(
        "diagonal-dominates",
        "for equal norms |x|² − x·y is half the squared distance",
        "c - x y^T = 1/2 (x - y) (x - y)^T",
        "Steele 2004, chapter 1",
        "without projections and with equal norms, every token attends most to itself",
        ((HYPOTHESIS, ""),),
        where=("x x^T = c", "y y^T = c"),
        shapes=(("x", (1, "d")), ("y", (1, "d"))),
    ),
    Identity(
        "cosine",
        "on the unit sphere cosine is the dot product",
        "unit(Q) unit(K)^T = Q K^T",
        "Graves et al., Neural Turing Machines (2014), sec. 3.3.1",
        "for unit vectors the dot product is the cosine",
        ((HYPOTHESIS, ""),),
        where=("norm2(Q) = 1", "norm2(K) = 1"),
    ),
    Identity(
        "qk-circuit",
        "scores depend on W_Q and W_K only through W_Q W_Kᵀ",
        "(X W_Q) (X W_K)^T = X (W_Q W_K^T) X^T",
        f"{_CIRCUITS}, on the QK circuit",
        "only the product W_Q W_Kᵀ can be interpreted, not each factor alone",
        (("transpose", ""),),
        behind=(
            "scores",
            "Q",
            "K",
        ),
    ),
    Identity(
        "qk-gauge",
        "W_Q M and W_K M⁻ᵀ give the same scores for every invertible M",
        "(X W_Q M) (X W_K M^-T)^T = (X W_Q) (X W_K)^T",
        f"{_CIRCUITS}, on the QK circuit",
        "two models with different W_Q and W_K can compute the same scores",
        (("inverse", ""),),
    ),
    Identity(
        "ov-circuit",
        "the outputs are weighted sums of the rows of X W_V W_O",
        "(softmax(S) (X W_V)) W_O = softmax(S) X (W_V W_O)",
        f"{_CIRCUITS}, on the OV circuit",
        "the value and output projections form one linear map",
        (("ring", ""),),
        behind=("V",),
    ),
    Identity(
        "ov-rank",
        "W_V W_O has rank at most d_v; here for d_v = 1: W_V W_O = v o, so all 2 × 2 minors are 0",
        "(a v o b) (c v o d) = (a v o d) (c v o b)",
        f"{_CIRCUITS}, on the OV circuit",
        "a head's outputs lie in a subspace of dimension at most d_v",
        shapes=(
            *((name, (1, "d_model")) for name in "aco"),
            *((name, ("d_model", 1)) for name in "bdv"),
        ),
    ),
    Identity(
        "concat-is-sum",
        "concatenation times W_O is a sum over the heads",
        "[O1, O2] [W1; W2] = O1 W1 + O2 W2",
        f"{_CIRCUITS}, on additive heads",
        "each head's contribution can be studied separately",
        (("blocks", ""),),
        behind=(
            "concat",
            "projected",
        ),
    ),
    Identity(
        "multi-query",
        "multi-query attention is multi-head attention whose heads share one key and "
        "one value projection",
        "[softmax(Q1 K1^T) V1, softmax(Q2 K2^T) V2] = [softmax(Q1 K^T) V, softmax(Q2 K^T) V]",
        "Shazeer, Fast Transformer Decoding (2019), section 3",
        "one cache of keys and values serves all heads",
        ((HYPOTHESIS, ""),),
        where=("K1 = K", "K2 = K", "V1 = V", "V2 = V"),
    ),
    Identity(
        "latent-absorption",
        "the up-projection of the keys can be absorbed into the query projection",
        "(X W_Q) (C W_K)^T = X (W_Q W_K^T) C^T",
        "DeepSeek-AI, DeepSeek-V2 (2024), sec. 2.1.2",
        "only the latent vectors C are cached",
        (("transpose", ""),),
        shapes=(("C", ("m", "d_c")),),
    ),
    Identity(
        "causal-prefix",
        "each row of causal attention is attention over its prefix",
        "[I, 0] softmax([S, R; T, U] + causal(n + p, n + p)) [V; W] = softmax(S + causal(n, n)) V",
        f"{_VASWANI}3.2.3",
        "later tokens have no effect on an output",
        sides=_prefix,
    ),
    Identity(
        "cache",
        "decoding with a cache gives the rows of the full causal pass",
        "rows n+1…n+p of causal attention = new queries over cached and new keys",
        "Shazeer, Fast Transformer Decoding (2019), section 2.4",
        "why decoding with a cache is exact",
        sides=_cache,
    ),
    Identity(
        "linear-reassociates",
        "without a softmax the product may be computed from the right",
        "(Q K^T) V = Q (K^T V)",
        f"{_LINEAR}3.2",
        "the cost is linear in the length",
        (("ring", ""),),
        "softmax attention can be reassociated",
    ),
    Identity(
        "linear-normalised",
        "the row sums of Q Kᵀ come from one vector, Kᵀ 1",
        "ratio(Q K^T) V = (Q (K^T V)) / (Q (K^T 1))",
        f"{_LINEAR}3.2",
        "normalised linear attention",
        (
            ("ratio", "(Q K^T) / rowsum(Q K^T) V"),
            ("quotient of rows", "(Q K^T V) / rowsum(Q K^T)"),
            ("row sums", ""),
        ),
    ),
    Identity(
        "linear-recurrence",
        "one more key and value add kᵀ v to the state",
        "q [K; k]^T [V; v] = q (K^T V) + q (k^T v)",
        f"{_LINEAR}3.3",
        "causal linear attention is a recurrent network",
        (
            ("transposed blocks", "q [K^T, k^T] [V; v]"),
            ("blocks", "q (K^T V + k^T v)"),
            ("distribute", ""),
        ),
    ),
    Identity(
        "gaussian-kernel",
        "with equal key norms Gaussian kernel regression is softmax attention",
        "softmax(-dist2(Q, K) / 2) V = softmax(Q K^T) V",
        "Tsai et al., Transformer Dissection (2019), section 3; Nadaraya (1964)",
        "unscaled attention is Gaussian kernel smoothing where all keys have the same norm",
        ((HYPOTHESIS, ""),),
        where=("norm2(K) = c",),
    ),
    Identity(
        "hopfield",
        "the update of a modern Hopfield network is attention",
        "X^T colsoftmax(c X R^T) = (softmax(c R X^T) X)^T",
        "Ramsauer et al., Hopfield Networks is All You Need (2020), section 2",
        "stored patterns are keys and values (columns in the paper)",
    ),
    Identity(
        "soft-cap-bounded",
        "c² minus the square of a capped score is positive",
        "c^2 - softcap(S, c) ∘ softcap(S, c) = 4 c^2 / ((exp(S / c) + exp(-S / c)) ∘ "
        "(exp(S / c) + exp(-S / c)))",
        "Gemma Team, Gemma 2 (2024), section 2",
        "capped scores stay between −c and c",
        ((ENTRIES, ""),),
        positive=("c",),
        behind=("capped",),
    ),
)
