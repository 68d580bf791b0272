"""What people believe of attention and is not so: each row with the numbers that refute it."""

from __future__ import annotations

from functools import partial

import sympy

from symattn.algebra.counterexample import Sides
from symattn.algebra.identities.positions import ABSOLUTE
from symattn.algebra.identities.proofs import Identity
from symattn.nodes.entrywise import SoftCap
from symattn.nodes.masks import Causal, Masked
from symattn.nodes.normalise import Softmax

_COMMON = "a mistake often seen in worked examples"
_VASWANI = "Vaswani et al. 2017, section "
_false = partial(Identity, holds=False)


def _hidden() -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix([[0, -sympy.oo], [0, 0]])


def _lower() -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix([[1, 0], [1, 1]])


def _scores() -> sympy.MatrixSymbol:
    return sympy.MatrixSymbol("S", 2, 2)


def _after() -> Sides:
    scores = _scores()
    return sympy.HadamardProduct(Softmax(scores), _lower()), Softmax(Masked(scores, _hidden()))


def _zeroed() -> Sides:
    scores = _scores()
    return Softmax(sympy.HadamardProduct(scores, _lower())), Softmax(Masked(scores, _hidden()))


def _big_number() -> Sides:
    scores, low = _scores(), sympy.ImmutableMatrix([[0, -4], [0, 0]])
    return Softmax(Masked(scores, low)), Softmax(Masked(scores, _hidden()))


def _inverted() -> Sides:
    turned = sympy.ImmutableMatrix([[0, 0], [-sympy.oo, 0]])
    return Softmax(Masked(_scores(), turned)), Softmax(Masked(_scores(), _hidden()))


def _cap_last() -> Sides:
    """A cap over masked scores lets −∞ become −c."""
    scores = _scores()
    finite = sympy.ImmutableMatrix([[0, -1000], [0, 0]])
    return (
        Softmax(SoftCap(Masked(scores, finite), 2)),
        Softmax(Masked(SoftCap(scores, 2), _hidden())),
    )


def _alignment() -> Sides:
    """One new query after two cached keys sees three keys, not one."""
    scores = sympy.MatrixSymbol("S", 1, 3)
    return Softmax(Masked(scores, Causal(1, 3))), Softmax(Masked(scores, Causal(1, 3, 2)))


def _grid(name: str, rows: int, columns: int) -> sympy.Matrix:
    return sympy.Matrix(
        rows, columns, lambda i, j: sympy.Symbol(f"{name}_{i + 1}{j + 1}", real=True)
    )


def _reshaped() -> Sides:
    """Two tokens of width 4 as two heads of width 2: rows cut in order, and columns cut."""
    matrix = _grid("q", 2, 4)
    return matrix.reshape(4, 2)[:2, :], matrix[:, :2]


def _tiled() -> Sides:
    """Four query heads over two key heads: 1 2 1 2, and 1 1 2 2."""
    one, two = _grid("k", 1, 1), _grid("l", 1, 1)
    return sympy.Matrix.hstack(one, two, one, two), sympy.Matrix.hstack(one, one, two, two)


FALSE: tuple[Identity, ...] = (
    _false(
        "columns-for-rows",
        "softmax over columns is softmax over rows",
        "softmax(S) = colsoftmax(S)",
        _COMMON,
        "check whether rows or columns sum to 1",
    ),
    _false(
        "no-scale",
        "the scale does not matter",
        "softmax(Q K^T) V = softmax(Q K^T / sqrt(d_k)) V",
        f"{_VASWANI}3.2.1",
        "weights come out too peaked without the scale",
    ),
    _false(
        "d_k-for-root",
        "dividing by d_k is dividing by its root",
        "softmax(Q K^T / d_k) = softmax(Q K^T / sqrt(d_k))",
        f"{_VASWANI}3.2.1",
        "weights come out too flat",
    ),
    _false(
        "times-for-over",
        "multiplying by √d_k is dividing by it",
        "softmax(sqrt(d_k) Q K^T) = softmax(Q K^T / sqrt(d_k))",
        _COMMON,
        "weights come out too peaked",
    ),
    _false(
        "d_model-for-d_k",
        "the scale is the root of d_model",
        "softmax(X W_Q W_K^T X^T / sqrt(d_model)) = softmax(X W_Q W_K^T X^T / sqrt(d_k))",
        _COMMON,
        "scores come out too small by a factor of √heads",
        sizes=(("d_model", 4), ("d_k", 2), ("n", 2)),
        shapes=(("W_Q", ("d_model", "d_k")), ("W_K", ("d_model", "d_k"))),
    ),
    _false(
        "mask-after",
        "masking the weights is masking the scores",
        "softmax(S) ∘ causal ones = softmax(S + causal)",
        _COMMON,
        "rows sum to less than 1 until they are renormalised",
        sides=_after,
    ),
    _false(
        "mask-zero",
        "before a softmax, a masked score is 0",
        "softmax(S ∘ causal ones) = softmax(S + causal)",
        _COMMON,
        "e⁰ = 1 leaves some weight on keys that are masked out",
        sides=_zeroed,
    ),
    _false(
        "mask-big-number",
        "any negative number masks a key out",
        "softmax(S + (0 or −4)) = softmax(S + (0 or −∞))",
        _COMMON,
        "the remaining weight is small, but not 0",
        sides=_big_number,
    ),
    _false(
        "mask-transposed",
        "the causal mask may be transposed",
        "softmax(S + causalᵀ) = softmax(S + causal)",
        _COMMON,
        "the weights above the diagonal are then not 0",
        sides=_inverted,
    ),
    _false(
        "cap-after-mask",
        "the soft cap may come after the mask",
        "softmax(cap(S + mask)) = softmax(cap(S) + mask)",
        "ONNX, operator Attention",
        "a masked score of −1000 is capped to −c and gets weight",
        sides=_cap_last,
    ),
    _false(
        "causal-alignment",
        "with a cache, the causal mask still starts at the top left",
        "softmax(S + causal(1, 3)) = softmax(S + causal(1, 3, past 2))",
        _COMMON,
        "the new query would attend to one key only",
        sides=_alignment,
    ),
    _false(
        "scores-symmetric",
        "Q Kᵀ is symmetric",
        "Q K^T = (Q K^T)^T",
        f"{_VASWANI}3.2.1",
        "with different projections the scores need not be symmetric",
        shapes=(("Q", ("n", 1)), ("K", ("n", 1))),
    ),
    _false(
        "weights-symmetric",
        "the weights of symmetric scores are symmetric",
        "softmax(X X^T) = softmax(X X^T)^T",
        _COMMON,
        "each row is divided by its own sum",
        sizes=(("n", 2), ("d_model", 1)),
    ),
    _false(
        "query-key-swap",
        "query and key can be exchanged",
        "softmax(Q K^T) V = softmax(K Q^T) V",
        _COMMON,
        "the scores come out transposed",
    ),
    _false(
        "value-key-swap",
        "keys and values can be exchanged",
        "softmax(Q K^T) V = softmax(Q V^T) K",
        _COMMON,
        "check which matrix the weights multiply",
    ),
    _false(
        "key-not-transposed",
        "K needs no transposing",
        "Q K = Q K^T",
        _COMMON,
        "the shapes fit only where K is square",
        shapes=(("Q", ("n", "d")), ("K", ("d", "d"))),
    ),
    _false(
        "softmax-twice",
        "a second softmax changes nothing",
        "softmax(softmax(S)) = softmax(S)",
        _COMMON,
        "no weight in a row is then more than e times another",
    ),
    _false(
        "ratio-for-softmax",
        "weights are scores over their sum",
        "ratio(S) = softmax(S)",
        _COMMON,
        "the ratio fails for negative scores and differs for positive ones",
        positive=("S",),
    ),
    _false(
        "total-for-rows",
        "one sum over everything normalises every row",
        "exp(S) / sum(exp(S)) = softmax(S)",
        _COMMON,
        "the whole matrix sums to 1, not each row",
    ),
    _false(
        "sums-along-columns",
        "column j may be divided by the sum of row j",
        "exp(S) / rowsum(exp(S))^T = softmax(S)",
        "NumPy: r / r.sum(axis=1) without keepdims",
        "neither rows nor columns sum to 1",
        shapes=(("S", ("n", "n")),),
    ),
    _false(
        "softmax-linear",
        "softmax of a sum is the sum of softmaxes",
        "softmax(A + B) = softmax(A) + softmax(B)",
        _COMMON,
        "rows would sum to 2",
    ),
    _false(
        "softmax-homogeneous",
        "scaling the scores changes nothing",
        "softmax(2 S) = softmax(S)",
        _COMMON,
        "only adding the same number to a whole row has no effect",
    ),
    _false(
        "mean-of-heads",
        "attention with mean scores is the mean of the heads",
        "softmax(1/2 (A + B)) = 1/2 (softmax(A) + softmax(B))",
        _COMMON,
        "the softmax is not linear",
    ),
    _false(
        "softmax-reassociates",
        "softmax attention can start with Kᵀ V",
        "softmax(Q K^T) V = Q softmax(K^T V)",
        "Katharopoulos et al. 2020, section 3.2",
        "the softmax is taken before the product with V",
        sizes=(("n", 2), ("m", 2), ("d_k", 2), ("d_v", 1)),
    ),
    _false(
        "positions-equivariant",
        "with positions added, attention is still permutation-equivariant",
        "softmax((P X + E) (P X + E)^T) (P X + E) = P softmax((X + E) (X + E)^T) (X + E)",
        f"{_VASWANI}3.5",
        "positions make the outputs depend on the order",
        permuting=("P",),
        sizes=(("n", 2), ("d_model", 1)),
        shapes=(("X", ("n", "d_model")),),
    ),
    _false(
        "heads-order",
        "heads may be joined in any order",
        "[A, B] W = [B, A] W",
        _COMMON,
        "each head has its own rows of W_O",
    ),
    _false(
        "heads-reshaped",
        "heads are split by reshaping alone",
        "reshape(Q) = columns of Q",
        "a reshape without a transpose",
        "each head then mixes numbers of several tokens",
        sides=_reshaped,
    ),
    _false(
        "groups-tiled",
        "for grouped queries, key heads are repeated in turn, 1 2 1 2, not 1 1 2 2",
        "[K₁ K₂ K₁ K₂] = [K₁ K₁ K₂ K₂]",
        "Ainslie et al., GQA (2023), section 2.2",
        "query heads 1 and 2 share the first key head",
        sides=_tiled,
    ),
    _false(
        "rotary-does-nothing",
        "rotating each vector by its own position leaves every score unchanged",
        "(q R(aω)) (k R(bω))ᵀ = q kᵀ",
        "Su et al. 2021, section 3.2",
        "only equal rotations cancel",
        sides=ABSOLUTE,
        letters="R(α) is the rotation by the angle α",
    ),
    _false(
        "jacobian-diagonal",
        "the softmax's Jacobian is diagonal, p (1 − p)",
        "diag(p) - p p^T = diag(p - p ∘ p)",
        "the sigmoid's derivative, carried over",
        "every weight depends on every score",
        where=("p = softmax(z)^T",),
        shapes=(("z", (1, "m")), ("p", ("m", 1))),
    ),
)
