"""Variants under other spellings are equal for all sizes; a slip in the spelling is found."""

from __future__ import annotations

import pytest

from symattn import derivation, equal, variant

#: Texts that are a variant under another spelling: by exponentials, by entries, before the product.
SPELLINGS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("scaled-dot-product", "E = exp(Q K^T / sqrt(d_k)); O = (E V) / rowsum(E)", ()),
    (
        "scaled-dot-product",
        "Z = Q K^T / sqrt(d_k); E = exp(Z - rowmax(Z)); O = (E / rowsum(E)) V",
        (),
    ),
    ("scaled-dot-product", "Q_1 = Q / sqrt(d_k); O = softmax(Q_1 K^T) V", ()),
    (
        "causal",
        "Q = X W_Q;  K = X W_K;  V = X W_V;  L[i,j] = 1 if j <= i else 0\n"
        "E = exp(Q K^T / sqrt(d_k)) ∘ L;  O = (E V) / rowsum(E)",
        (),
    ),
    (
        "causal",
        "M[i,j] = -inf if j > i else 0;  O = softmax(X W_Q (X W_K)^T / sqrt(d_k) + M) X W_V",
        (),
    ),
    ("multi-head-sum", "O = sum_h(softmax(X W_Q[h] (X W_K[h])^T / sqrt(d_k)) X W_V[h] W_O[h])", ()),
    (
        "grouped-query",
        "Q[h] = X W_Q[h];  K[g] = X W_K[g];  V[g] = X W_V[g]\n"
        "E[h] = exp(Q[h] K[group(h)]^T / sqrt(d_k))\n"
        "O = concat_h((E[h] V[group(h)]) / rowsum(E[h])) W_O",
        (),
    ),
    (
        "cosine",
        "N = rowsum(Q ∘ Q);  R = rowsum(K ∘ K);  U = Q / sqrt(N);  T = K / sqrt(R)\n"
        "O = softmax(U T^T) V",
        (),
    ),
    ("linear", "φ(x) = elu1(x)\nF = elu1(Q); G = elu1(K); O = (F (G^T V)) / (F colsum(G)^T)", ()),
    ("sigmoid", "f(x) = 1 / (1 + exp(-x));  O = f(Q K^T / sqrt(d_k)) V", ()),
    ("off-by-one", "E = exp(Q K^T / sqrt(d_k));  O = (E V) / (1 + rowsum(E))", ()),
    (
        "biased",
        "E = exp(Q K^T / sqrt(d_k));  F = E ∘ exp(B);  O = (F V) / rowsum(F)",
        ("B = mask",),
    ),
    ("luong-general", "O = softmax(Q (W_S K^T)) V", ()),
    (
        "gemma",
        "c(x) = 50 tanh(x / 50);  M = causal()\n"
        "A[h] = softmax(c(X W_Q[h] (X W_K[h])^T / sqrt(d_k)) + M)\n"
        "O = concat_h(A[h] X W_V[h]) W_O",
        (),
    ),
    ("hopfield", "β = 1/2;  O = softmax(β Q K^T) K", ()),
    ("nadaraya-watson", "E = exp(-dist2(Q, K) / 2);  O = (E V) / rowsum(E)", ()),
    ("nadaraya-watson", "N = rowsum(K ∘ K);  O = softmax(Q K^T - 1/2 N^T) V", ()),
)


@pytest.mark.parametrize(("name", "text", "where"), SPELLINGS)
def test_a_variant_is_found_under_another_spelling(
    name: str, text: str, where: tuple[str, ...]
) -> None:
    answer = equal(derivation(text), variant(name).derivation(), where=where)
    assert answer.summary.startswith("equal (for all sizes"), answer


@pytest.mark.parametrize(
    "hidden", ["-inf if 3 <= abs(i - j) else 0", "0 if abs(i - j) <= 2 else -inf"]
)
def test_a_window_by_its_entries_is_shown_at_given_sizes(hidden: str) -> None:
    own = derivation(
        f"Q = X W_Q;  K = X W_K;  V = X W_V;  M[i,j] = {hidden}\n"
        "O = softmax(Q K^T / sqrt(d_k) + M) V"
    )
    window = variant("sliding-window").derivation()
    assert equal(own, window).verdict == "holds at the sizes tried"
    sizes = {"n": 5, "d_k": 1, "d_v": 1, "d_model": 1}
    assert equal(own, window, sizes=sizes).verdict == "equal"


#: The same with a slip each.
SLIPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("scaled-dot-product", "E = exp(Q K^T / d_k);  O = (E V) / rowsum(E)", ()),
    ("scaled-dot-product", "E = exp(Q K^T / sqrt(d_k));  O = (E V) / (1 + rowsum(E))", ()),
    (
        "causal",
        "Q = X W_Q;  K = X W_K;  V = X W_V;  L[i,j] = 1 if j < i else 1/2\n"
        "E = exp(Q K^T / sqrt(d_k)) ∘ L;  O = (E V) / rowsum(E)",
        (),
    ),
    (
        "sliding-window",
        "Q = X W_Q;  K = X W_K;  V = X W_V;  M[i,j] = -inf if 2 <= abs(i - j) else 0\n"
        "O = softmax(Q K^T / sqrt(d_k) + M) V",
        (),
    ),
    ("linear", "F = elu1(Q); G = elu1(K); O = (F (G^T V)) / (G colsum(F)^T)", ("m = n",)),
    ("sigmoid", "f(x) = 1 / (1 + exp(x));  O = f(Q K^T / sqrt(d_k)) V", ()),
    ("nadaraya-watson", "N = rowsum(Q ∘ Q);  O = softmax(Q K^T - 1/2 N) V", ()),
)


@pytest.mark.parametrize(("name", "text", "where"), SLIPS)
def test_a_slip_in_a_spelling_is_found(name: str, text: str, where: tuple[str, ...]) -> None:
    answer = equal(derivation(text), variant(name).derivation(), where=where)
    assert answer.verdict == "different", answer


def test_the_larger_of_two_is_that_of_absolute_values() -> None:
    relu, least, largest = (
        derivation(f"f(x) = {text};  O = f(S) V")
        for text in ("max(x, 0)", "min(x, 0)", "x if x > 0 else 0")
    )
    plain = derivation("O = relu(S) V")
    assert equal(relu, plain).scope == equal(largest, plain).scope == "for all sizes"
    assert equal(least, plain).verdict == "different"
