"""Laws of attention by topic, and false neighbours of them.

Most hold for all sizes: softmax and its masks, merges of partial softmaxes, normalisers, positions,
heads, norms, gradients, hypotheses, traces. They stand among the statements of `tests.statements`;
their sides in NumPy are worked out of their texts by `tests.texts`.
"""

from __future__ import annotations

from typing import Any

from tests.oracle import Statement
from tests.texts import law


def yes(text: str, letters: str = "", **options: Any) -> Statement:
    """A true statement."""
    return law(text, True, letters, **options)


def no(text: str, letters: str = "", **options: Any) -> Statement:
    """A false one."""
    return law(text, False, letters, **options)


SHIFTS = (
    yes("softmax((S + c 1^T) / T) = softmax(S / T)", shapes={"c": ("n", 1), "T": "scalar"}),
    yes("softmax(S - rowmax(S)) = softmax(S)"),
    yes("softmax(S - rowmean(S)) = softmax(S)"),
    yes("softmax(S - lse(S)) = softmax(S)"),
    yes("exp(S - lse(S)) = softmax(S)"),
    yes("ln(softmax(S)) = S - lse(S)"),
    yes("lse(S + c 1^T) = lse(S) + c", "c: n 1"),
    yes("lse(S) = rowmax(S) + lse(S - rowmax(S))"),
    yes("softmax(S) = exp(S - rowmax(S)) / rowsum(exp(S - rowmax(S)))"),
    yes("rowmax(S + c 1^T) = rowmax(S) + c", "c: n 1"),
    yes("rowmax(3 S) = 3 rowmax(S)"),
    yes("softmax(3 S) = ratio(softmax(S) ∘ softmax(S) ∘ softmax(S))"),
    yes("softmax(S) ∘ rowsum(exp(S)) = exp(S)"),
    yes("m softmax(0 S) = 1 1^T", shapes={"S": ("n", "m")}),
    yes("softmax(ln(A) + ln(B)) = ratio(A ∘ B)", "A B: positive n m", positive=["A", "B"]),
    yes("softmax(S + ln(A)) = ratio(softmax(S) ∘ A)", "A: positive n m", positive=["A"]),
    yes("ratio(exp(S + c 1^T)) = softmax(S)", shapes={"c": ("n", 1)}),
    yes("softmax(-S) = ratio(1 ⊘ softmax(S))"),
    yes("softmax(S / 2) = ratio(sqrt(softmax(S)))"),
    yes("ln(softmax(S)) ∘ softmax(S) = softmax(S) ∘ S - softmax(S) ∘ lse(S)"),
    yes("-rowsum(softmax(S) ∘ ln(softmax(S))) = lse(S) - rowsum(softmax(S) ∘ S)"),
    yes("softmax(S) 1 c^T = 1 c^T", shapes={"c": ("p", 1), "S": ("n", "m")}),
    yes(
        "softmax([a + c, b + c]) = softmax([a, b])",
        shapes={"a": ("n", 1), "b": ("n", 1), "c": ("n", 1)},
    ),
    yes("sigmoid(A) + sigmoid(-A) = 1 1^T"),
    yes("tanh(A) = 2 sigmoid(2 A) - 1"),
    yes("sigmoid(A) = 1/2 + tanh(A/2) / 2"),
    yes("sigmoid(A) ∘ sigmoid(-A) = exp(A) ⊘ ((1 + exp(A)) ∘ (1 + exp(A)))"),
    yes("tanh(-A) = -tanh(A)"),
    yes("softcap(-S, c) = -softcap(S, c)", "c: positivescalar", positive=["c"]),
    yes("softcap(c S, c) = c tanh(S)", "c: positivescalar", positive=["c"]),
    yes("softmax(S)^T 1 = colsum(softmax(S))^T"),
    yes("colsoftmax(S - colmean(S)) = colsoftmax(S)"),
    yes("softmax(S) ⊘ softmax(Z) = exp(S - Z) ∘ (rowsum(exp(Z)) ⊘ rowsum(exp(S)))"),
    no("softmax((S + c 1^T) / T) = softmax(S) / T", shapes={"c": ("n", 1), "T": "scalar"}),
    no("lse(S + c 1^T) = lse(S) - c", "c: n 1"),
    no("rowmax(-3 S) = -3 rowmax(S)"),
    no("softmax(-S) = 1 - softmax(S)"),
    no("softmax(S / 2) = sqrt(softmax(S))"),
    no("sigmoid(A) + sigmoid(-A) = 0 A"),
)

ORDERS = (
    yes("softmax(S P) = softmax(S) P", "P: permutation m", permuting=["P"]),
    yes("lse(S P) = lse(S)", "P: permutation m", permuting=["P"]),
    yes("rowmax(S P) = rowmax(S)", "P: permutation m", permuting=["P"]),
    yes("softmax(Q (P K)^T) (P V) = softmax(Q K^T) V", "P: permutation m", permuting=["P"]),
    yes("sparsemax(S P) = sparsemax(S) P", "P: permutation m", permuting=["P"]),
    yes("sparsemax(P S) = P sparsemax(S)", "P: permutation n", permuting=["P"]),
    yes("LayerNorm(X P) = LayerNorm(X) P", "P: permutation d_model", permuting=["P"]),
    yes("unit(X P) = unit(X) P", "P: permutation d_model", permuting=["P"]),
    yes("diag(P c) = P diag(c) P^T", "P: permutation n", permuting=["P"], shapes={"c": ("n", 1)}),
    yes("relu(P A P^T) = P relu(A) P^T", "A: n n; P: permutation n", permuting=["P"]),
    yes("P (A ∘ B) P^T = (P A P^T) ∘ (P B P^T)", "A B: n n; P: permutation n", permuting=["P"]),
    yes("colsoftmax(P S) = P colsoftmax(S)", "P: permutation n", permuting=["P"]),
    yes("sum(P ∘ A) = tr(P^T A)", "A: n n; P: permutation n", permuting=["P"]),
    yes("(P - I)^T (P - I) = 2 I - P - P^T", "P: permutation n", permuting=["P"]),
    no("softmax(S P) = P softmax(S)", "S: n n; P: permutation n", permuting=["P"]),
    no("P^T P = P", "P: permutation n", permuting=["P"]),
    no(
        "softmax(P S + causal()) = P softmax(S + causal())",
        "S: n n; P: permutation n",
        permuting=["P"],
    ),
    no("P = P^T", "P: permutation n", permuting=["P"]),
)

MASKED = (
    yes("softmax(S + causal()) = (exp(S) ∘ exp(causal())) / rowsum(exp(S) ∘ exp(causal()))"),
    yes("rowsum(softmax(S + causal())) = 1"),
    yes("softmax(S + c 1^T + causal()) = softmax(S + causal())", shapes={"c": ("n", 1)}),
    yes("ratio(softmax(S) ∘ exp(causal())) = softmax(S + causal())"),
    yes("ratio(softmax(S) ∘ exp(causal())) = softmax(S + causal())", shapes={"S": ("n", "n")}),
    yes("softmax(S + causal() + causal()) = softmax(S + causal())"),
    yes("exp(causal()) ∘ exp(causal()) ∘ A = exp(causal()) ∘ A"),
    yes("softmax(S + causal() + causal()^T) = I", shapes={"S": ("n", "n")}),
    yes(
        "softmax([A, B + causal()]) [V; W] = (exp(A) V + (exp(B) ∘ exp(causal())) W) / "
        "(rowsum(exp(A)) + rowsum(exp(B) ∘ exp(causal())))",
        shapes={"A": ("n", "p"), "B": ("n", "n"), "V": ("p", "d"), "W": ("n", "d")},
    ),
    yes("rowsum(softmax([A, B + causal()])) = 1", shapes={"A": ("n", "p"), "B": ("n", "n")}),
    yes(
        "softmax([A, B] + causal()) = [softmax(A + causal()), 0 B]",
        shapes={"A": ("n", "n"), "B": ("n", "p")},
    ),
    yes(
        "softmax([A; B] + causal()) = [softmax(A + causal()); softmax(B)]",
        shapes={"A": ("n", "n"), "B": ("p", "n")},
    ),
    yes("tr(exp(causal()) ∘ A) = tr(A)", shapes={"A": ("n", "n")}),
    yes(
        "(exp(causal()) ∘ (Q K^T)) V = (exp(causal()) ∘ (Q K^T)) (V - 1 b) + "
        "rowsum(exp(causal()) ∘ (Q K^T)) b",
        shapes={"Q": ("n", "d_k"), "K": ("n", "d_k"), "V": ("n", "d_v"), "b": (1, "d_v")},
    ),
    yes(
        "(exp(causal()) ∘ ([Q1; Q2] [K1; K2]^T)) [V1; V2] = [(exp(causal()) ∘ (Q1 K1^T)) V1; "
        "Q2 K1^T V1 + (exp(causal()) ∘ (Q2 K2^T)) V2]",
        shapes={
            "Q1": ("n", "d"),
            "K1": ("n", "d"),
            "Q2": ("p", "d"),
            "K2": ("p", "d"),
            "V1": ("n", "r"),
            "V2": ("p", "r"),
        },
    ),
    yes(
        "ratio([exp(A), 0 B; 0 C, exp(D)]) = [softmax(A), 0 B; 0 C, softmax(D)]",
        shapes={"A": ("n", "m"), "B": ("n", "p"), "C": ("r", "m"), "D": ("r", "p")},
    ),
    yes(
        "[softmax(A), 0 B; 0 C, softmax(D)] [V; W] = [softmax(A) V; softmax(D) W]",
        shapes={
            "A": ("n", "m"),
            "B": ("n", "p"),
            "C": ("r", "m"),
            "D": ("r", "p"),
            "V": ("m", "d"),
            "W": ("p", "d"),
        },
    ),
    yes("exp(causal()) ∘ A + (1 - exp(causal())) ∘ A = A"),
    yes("(1 - exp(causal())) ∘ exp(causal()) ∘ A = 0 A"),
    yes("softmax(ln(A) + causal()) = ratio(A ∘ exp(causal()))", "A: positive n m", positive=["A"]),
    yes("relu(A) ∘ exp(causal()) = relu(A ∘ exp(causal()))"),
    yes("sigmoid(S + causal()) = sigmoid(S) ∘ exp(causal())"),
    yes("softmax1(S + causal()) = (exp(S) ∘ exp(causal())) / (1 + rowsum(exp(S) ∘ exp(causal())))"),
    yes("lse(S + causal()) = ln(rowsum(exp(S) ∘ exp(causal())))"),
    no("softmax(S + causal()) = softmax(S + causal()^T)", shapes={"S": ("n", "n")}),
    no("softmax([A, B] + causal()) = [softmax(A), 0 B]", shapes={"A": ("n", "n"), "B": ("n", "p")}),
    no(
        "softmax([A, B] + causal()) = [softmax(A + causal()), 0 B]",
        shapes={"A": ("n", "p"), "B": ("n", "p")},
    ),
    no(
        "softmax([A; B] + causal()) = [softmax(A + causal()); softmax(B + causal())]",
        shapes={"A": ("n", "n"), "B": ("p", "n")},
    ),
    no(
        "exp(causal()) ∘ exp(causal())^T = exp(causal())",
        where=["A = causal()"],
        shapes={"A": ("n", "n")},
    ),
    no(
        "(exp(causal()) ∘ (Q K^T)) V = Q (K^T V)",
        shapes={"Q": ("n", "d_k"), "K": ("n", "d_k"), "V": ("n", "d_v")},
    ),
)

LINEAR = (
    yes("exp(Q) (exp(K)^T V) = (exp(Q) exp(K)^T) V"),
    yes("relu(Q) (relu(K)^T V) = (relu(Q) relu(K)^T) V"),
    yes("(exp(Q) (exp(K)^T V)) / (exp(Q) (exp(K)^T 1)) = ratio(exp(Q) exp(K)^T) V"),
    yes(
        "[K1; K2]^T [V1; V2] = K1^T V1 + K2^T V2",
        shapes={"K1": ("n", "d"), "K2": ("m", "d"), "V1": ("n", "r"), "V2": ("m", "r")},
    ),
    yes(
        "(1 + relu(Q)) (1 + relu(K))^T = d_k + rowsum(relu(Q)) + rowsum(relu(K))^T + relu(Q) "
        "relu(K)^T",
        shapes={"Q": ("n", "d_k"), "K": ("m", "d_k")},
    ),
    yes(
        "M - (M k - v) k^T = M (I - k k^T) + v k^T",
        shapes={"M": ("n", "r"), "k": ("r", 1), "v": ("n", 1)},
    ),
    yes(
        "(M - (M k - v) k^T) k = v",
        "k: orthonormal r 1",
        shapes={"M": ("n", "r"), "k": ("r", 1), "v": ("n", 1)},
        where=["k^T k = 1"],
    ),
    yes(
        "(I - k k^T)^2 = I - k k^T",
        "k: orthonormal n 1",
        shapes={"k": ("n", 1)},
        where=["k^T k = 1"],
    ),
    yes(
        "(I - 2 k k^T) (I - 2 k k^T)^T = I",
        "k: orthonormal n 1",
        shapes={"k": ("n", 1)},
        where=["k^T k = 1"],
    ),
    yes("exp(Q K^T) = (exp(norm2(Q) / 2) exp(norm2(K) / 2)^T) ∘ exp(-dist2(Q, K) / 2)"),
    yes("ratio(Q K^T) 1 = 1", shapes={"K": ("m", "d_k")}),
    yes("ratio(diag(a) Q K^T) = ratio(Q K^T)", shapes={"a": ("n", 1)}),
    yes("Q (K^T V + k^T v) = Q K^T V + (Q k^T) v", "k: 1 d_k; v: 1 d_v"),
    yes("rowsum((Q K^T) ∘ (Q K^T)) = rowsum((Q (K^T K)) ∘ Q)"),
    no("exp(Q) (exp(K)^T V) = exp(Q K^T) V"),
    no("(I - k k^T)^2 = I - k k^T", shapes={"k": ("n", 1)}),
    no(
        "M - (M k - v) k^T = M (I + k k^T) + v k^T",
        shapes={"M": ("n", "r"), "k": ("r", 1), "v": ("n", 1)},
    ),
    no("softmax(-dist2(Q, K)) = softmax(Q K^T)"),
    no("ratio(Q K^T) V = Q ratio(K^T V)"),
)

MERGES = (
    yes(
        "softmax([A, B]) [V; W] = (exp(lse(A)) ∘ (softmax(A) V) + exp(lse(B)) ∘ (softmax(B) "
        "W)) / (exp(lse(A)) + exp(lse(B)))",
        shapes={"A": ("n", "m"), "B": ("n", "p"), "V": ("m", "d"), "W": ("p", "d")},
    ),
    yes(
        "softmax([A, B]) [V; W] = sigmoid(lse(A) - lse(B)) ∘ (softmax(A) V) + sigmoid(lse(B) "
        "- lse(A)) ∘ (softmax(B) W)",
        shapes={"A": ("n", "m"), "B": ("n", "p"), "V": ("m", "d"), "W": ("p", "d")},
    ),
    yes("lse([A, B]) = lse(A) + ln(1 + exp(lse(B) - lse(A)))", "B: n p"),
    yes("lse([A, B, C]) = lse([lse(A), lse(B), lse(C)])", "B: n p; C: n r"),
    yes("lse([A, A]) = lse(A) + ln(2)"),
    yes("rowmax([A, B]) = rowmax(B) + relu(rowmax(A) - rowmax(B))", "B: n p"),
    yes("rowmax([A, B]) = rowmax([B, A])", "B: n p"),
    yes("softmax([A, A]) = [softmax(A), softmax(A)] / 2"),
    yes(
        "softmax([A, B]) = [softmax(A) ∘ sigmoid(lse(A) - lse(B)), softmax(B) ∘ "
        "sigmoid(lse(B) - lse(A))]",
        "B: n p",
    ),
    yes("softmax([S, S]) [V; W] = softmax(S) (V + W) / 2", "W: m d_v"),
    yes(
        "rowsum(exp([A, B] - rowmax([A, B]))) = exp(rowmax(A) - rowmax([A, B])) ∘ "
        "rowsum(exp(A - rowmax(A))) + exp(rowmax(B) - rowmax([A, B])) ∘ rowsum(exp(B - "
        "rowmax(B)))",
        "B: n p",
    ),
    yes(
        "softmax([S, 0 c]) = [softmax1(S), 1 - rowsum(softmax1(S))]",
        shapes={"c": ("n", 1), "S": ("n", "m")},
    ),
    yes("softmax1(S) = softmax(S) ∘ sigmoid(lse(S))"),
    yes(
        "softmax([S, c]) [V; 0 v] = (exp(S) V) / (exp(c) + rowsum(exp(S)))",
        shapes={"c": ("n", 1), "v": (1, "d_v"), "V": ("m", "d_v"), "S": ("n", "m")},
    ),
    yes(
        "softmax([S, c]) [V; v] = (exp(S) V + exp(c) v) / (exp(c) + rowsum(exp(S)))",
        shapes={"c": ("n", 1), "v": (1, "d_v"), "V": ("m", "d_v"), "S": ("n", "m")},
    ),
    yes("softmax1(S - c 1^T) = exp(S) / (exp(c) + rowsum(exp(S)))", shapes={"c": ("n", 1)}),
    no("softmax([A, B]) = [softmax(A), softmax(B)] / 2", "B: n p"),
    no("rowmax([A, B]) = rowmax(A) + relu(rowmax(A) - rowmax(B))", "B: n p"),
    no("softmax1(S) = softmax(S) ∘ sigmoid(-lse(S))"),
    no("softmax1(S + c 1^T) = softmax1(S)", shapes={"c": ("n", 1)}),
    no(
        "softmax([A, B]) [V; W] = sigmoid(lse(B) - lse(A)) ∘ (softmax(A) V) + sigmoid(lse(A) "
        "- lse(B)) ∘ (softmax(B) W)",
        shapes={"A": ("n", "m"), "B": ("n", "p"), "V": ("m", "d"), "W": ("p", "d")},
    ),
)

NORMALISERS = (
    yes("relu(A) - relu(-A) = A"),
    yes("relu(A) + relu(-A) = abs(A)"),
    yes("relu(A) ∘ relu(-A) = 0 A"),
    yes("relu(relu(A)) = relu(A)"),
    yes("relu(A) ∘ relu(A) = A ∘ relu(A)"),
    yes("relu(abs(A)) = abs(A)"),
    yes("relu(-abs(A)) = 0 A"),
    yes("abs(relu(A)) = relu(A)"),
    yes("abs(A) ∘ abs(B) = abs(A ∘ B)"),
    yes("A + relu(B - A) = B + relu(A - B)"),
    yes("abs(A - B) = abs(B - A)"),
    yes("relu(A - B) + relu(B - A) = abs(A - B)"),
    yes("ratio(relu(A) ∘ relu(A)) = ratio(A ∘ relu(A))"),
    yes("ratio(2 A) = ratio(A)"),
    yes("ratio(ratio(A)) = ratio(A)"),
    yes("ratio(A) ∘ rowsum(A) = A"),
    yes("relu(c A) = c relu(A)", "c: positivescalar", positive=["c"]),
    yes("relu(diag(a) A) = diag(a) relu(A)", positive=["a"], shapes={"a": ("n", 1)}),
    yes("relu(exp(A)) = exp(A)"),
    yes("relu(softmax(S)) = softmax(S)"),
    yes("exp(relu(A)) ∘ exp(-relu(-A)) = exp(A)"),
    yes("sqrt(A ∘ A) = abs(A)"),
    yes("relu(A) = (A + abs(A)) / 2"),
    yes("relu(1 - relu(A)) = 1 - relu(A) + relu(relu(A) - 1)"),
    yes("relu(abs(A) - A) = abs(A) - A"),
    yes("abs(abs(A) + abs(B)) = abs(A) + abs(B)"),
    yes("relu(relu(A) + relu(B)) = relu(A) + relu(B)"),
    yes("relu(A) ∘ relu(A) + relu(-A) ∘ relu(-A) = A ∘ A"),
    yes("relu(relu(A) - relu(B)) = relu(A - relu(B))"),
    yes("relu(A - relu(A)) = 0 A"),
    yes("relu(A + relu(-A)) = relu(A)"),
    yes("sparsemax(S + c 1^T) = sparsemax(S)", shapes={"c": ("n", 1)}),
    yes("rowsum(sparsemax(S)) = 1"),
    yes("relu(sparsemax(S)) = sparsemax(S)"),
    yes("sparsemax(S) (V + 1 b) = sparsemax(S) V + 1 b", shapes={"b": (1, "d_v")}),
    yes("abs(sparsemax(S)) = sparsemax(S)"),
    yes("sparsemax(0 S) = ratio(1 + 0 S)"),
    yes("sparsemax(sparsemax(S)) = sparsemax(S)"),
    yes("hardmax(S + c 1^T) = hardmax(S)", shapes={"c": ("n", 1)}),
    yes("hardmax(exp(S)) = hardmax(S)"),
    yes("rowsum(hardmax(S)) = 1", shapes={"S": ("n", "m")}),
    yes("hardmax(S) ∘ hardmax(S) = hardmax(S)"),
    yes("rowsum(hardmax(S) ∘ S) = rowmax(S)"),
    yes("hardmax(S) 1 = 1", shapes={"S": ("n", "m")}),
    yes("hardmax(P S) = P hardmax(S)", "P: permutation n", permuting=["P"]),
    yes("hardmax(tanh(S)) = hardmax(S)"),
    no("hardmax(S ∘ S) = hardmax(S)"),
    no("hardmax(S) = softmax(S)"),
    no("relu(A) + relu(-A) = A"),
    no("relu(c A) = c relu(A)", shapes={"c": "scalar"}),
    no("relu(A) ∘ relu(B) = relu(A ∘ B)"),
    no("colsum(sparsemax(S)) = 1^T"),
    no("rowsum(hardmax(S) ∘ Z) = rowmax(Z)"),
)

POSITIONS = (
    yes("norm2(rotary(Q)) = norm2(Q)", shapes={"Q": ("n", 6)}),
    yes("rotary(A + B) = rotary(A) + rotary(B)", shapes={"A": ("n", 4), "B": ("n", 4)}),
    yes("rotary(2 A) = 2 rotary(A)", shapes={"A": ("n", 4)}),
    yes("rowsum(rotary(Q) ∘ rotary(K)) = rowsum(Q ∘ K)", shapes={"Q": ("n", 4), "K": ("n", 4)}),
    yes("unit(rotary(Q)) = rotary(unit(Q))", shapes={"Q": ("n", 4)}),
    yes("rotary(diag(a) Q) = diag(a) rotary(Q)", shapes={"Q": ("n", 4), "a": ("n", 1)}),
    yes("norm2(rotary(Q)) = norm2(Q)", "Q: n 4", shapes={"Q": ("n", "d_k")}),
    yes("rotary(A + B) = rotary(A) + rotary(B)", "A B: n 4"),
    yes(
        "rowsum(rotary(Q) ∘ rotary(K)) = rowsum(Q ∘ K)",
        "Q K: n 4",
        shapes={"Q": ("n", "d"), "K": ("n", "d")},
    ),
    yes("cos(A) ∘ cos(A) + sin(A) ∘ sin(A) = 1 1^T"),
    yes("sin(A - B) = sin(A) ∘ cos(B) - cos(A) ∘ sin(B)"),
    yes("cos(2 A) = 1 - 2 sin(A) ∘ sin(A)"),
    yes(
        "norm2([A ∘ cos(B) - Z ∘ sin(B), A ∘ sin(B) + Z ∘ cos(B)]) = norm2([A, Z])",
        shapes={"A": ("n", "m"), "B": ("n", "m"), "Z": ("n", "m")},
    ),
    yes(
        "rowsum((A ∘ cos(B) - Z ∘ sin(B)) ∘ (A ∘ cos(B) - Z ∘ sin(B)) + (A ∘ sin(B) + Z ∘ "
        "cos(B)) ∘ (A ∘ sin(B) + Z ∘ cos(B))) = norm2(A) + norm2(Z)",
        shapes={"A": ("n", "m"), "B": ("n", "m"), "Z": ("n", "m")},
    ),
    yes(
        "cos(x f) cos(y f)^T + sin(x f) sin(y f)^T = cos((x + c 1) f) cos((y + c 1) f)^T + "
        "sin((x + c 1) f) sin((y + c 1) f)^T",
        shapes={"x": ("n", 1), "y": ("m", 1), "f": (1, "r"), "c": "scalar"},
    ),
    yes(
        "(cos(x f) ∘ A) (cos(y f) ∘ B)^T + (sin(x f) ∘ A) (sin(y f) ∘ B)^T = (cos((x - c 1) "
        "f) ∘ A) (cos((y - c 1) f) ∘ B)^T + (sin((x - c 1) f) ∘ A) (sin((y - c 1) f) ∘ B)^T",
        shapes={
            "x": ("n", 1),
            "y": ("m", 1),
            "f": (1, "r"),
            "c": "scalar",
            "A": ("n", "r"),
            "B": ("m", "r"),
        },
    ),
    yes(
        "[cos(a), -sin(a); sin(a), cos(a)] [cos(b), -sin(b); sin(b), cos(b)] = [cos(a + b), "
        "-sin(a + b); sin(a + b), cos(a + b)]",
        shapes={"a": (1, 1), "b": (1, 1)},
    ),
    yes(
        "[cos(a), -sin(a); sin(a), cos(a)] [cos(a), -sin(a); sin(a), cos(a)]^T = I",
        shapes={"a": (1, 1)},
    ),
    yes(
        "norm2(Q [cos(a), -sin(a); sin(a), cos(a)]) = norm2(Q)", shapes={"Q": ("n", 2), "a": (1, 1)}
    ),
    yes(
        "softmax(S + a*(1 b - c 1^T)) = softmax(S + a*1 b)",
        shapes={"a": "scalar", "b": (1, "m"), "c": ("n", 1)},
    ),
    yes("softmax(S + B + c 1^T) = softmax(S + B)", shapes={"c": ("n", 1)}),
    yes("softmax(S + B) = ratio(softmax(S) ∘ exp(B))"),
    yes(
        "(Q + 1 u) K^T = Q K^T + 1 (u K^T)",
        shapes={"u": (1, "d_k"), "Q": ("n", "d_k"), "K": ("m", "d_k")},
    ),
    yes(
        "(X + E) W_Q W_K^T (X + E)^T = X W_Q W_K^T X^T + X W_Q W_K^T E^T + E W_Q W_K^T X^T + "
        "E W_Q W_K^T E^T",
        shapes={"E": ("n", "d_model")},
    ),
    yes(
        "(diag(a) Q R) (diag(b) K R)^T = diag(a) (Q K^T) diag(b)",
        "R: orthonormal d_k d_k",
        where=["R R^T = I"],
        shapes={"a": ("n", 1), "b": ("m", 1), "R": ("d_k", "d_k")},
    ),
    no("rotary(Q) rotary(K)^T = Q K^T", shapes={"Q": ("n", 4), "K": ("m", 4)}),
    no("rotary(rotary(Q)) = Q", shapes={"Q": ("n", 4)}),
    no("norm2(rotary(Q)) = 2 norm2(Q)", "Q: n 4", shapes={"Q": ("n", "d")}),
    no(
        "cos(x f) cos(y f)^T = cos((x + c 1) f) cos((y + c 1) f)^T",
        shapes={"x": ("n", 1), "y": ("m", 1), "f": (1, "r"), "c": "scalar"},
    ),
    no(
        "[cos(a), -sin(a); sin(a), cos(a)] [cos(b), -sin(b); sin(b), cos(b)] = [cos(a - b), "
        "-sin(a - b); sin(a - b), cos(a - b)]",
        shapes={"a": (1, 1), "b": (1, 1)},
    ),
)

HEADS = (
    yes(
        "[Q1, Q2] [K1, K2]^T = Q1 K1^T + Q2 K2^T",
        shapes={"Q1": ("n", "r"), "Q2": ("n", "p"), "K1": ("m", "r"), "K2": ("m", "p")},
    ),
    yes(
        "X [W1, W2, W3] = [X W1, X W2, X W3]",
        shapes={"W1": ("d_model", "p"), "W2": ("d_model", "r"), "W3": ("d_model", "t")},
    ),
    yes(
        "[softmax(A) V1, softmax(B) V2] [W1; W2] = softmax(A) V1 W1 + softmax(B) V2 W2",
        shapes={
            "A": ("n", "m"),
            "B": ("n", "m"),
            "V1": ("m", "p"),
            "V2": ("m", "r"),
            "W1": ("p", "d"),
            "W2": ("r", "d"),
        },
    ),
    yes(
        "softmax(A) [V, W] = [softmax(A) V, softmax(A) W]",
        shapes={"W": ("m", "p"), "A": ("n", "m"), "V": ("m", "d_v")},
    ),
    yes(
        "softmax([A; B]) V = [softmax(A) V; softmax(B) V]",
        shapes={"B": ("p", "m"), "A": ("n", "m"), "V": ("m", "d_v")},
    ),
    yes(
        "[softmax(Q1 K^T) V, softmax(Q2 K^T) V] [W1; W2] = softmax(Q1 K^T) (V W1) + "
        "softmax(Q2 K^T) (V W2)",
        shapes={"Q1": ("n", "d_k"), "Q2": ("n", "d_k"), "W1": ("d_v", "p"), "W2": ("d_v", "p")},
    ),
    yes(
        "softmax([Q1; Q2] K^T) V = [softmax(Q1 K^T) V; softmax(Q2 K^T) V]",
        shapes={"Q1": ("n", "d_k"), "Q2": ("p", "d_k")},
    ),
    yes("softmax(Q [K; K]^T) [V; V] = softmax(Q K^T) V"),
    yes("[Q, Q] [K, K]^T = 2 Q K^T"),
    yes("(X W_Q) (C W_U)^T = (X W_Q W_U^T) C^T", shapes={"C": ("m", "r"), "W_U": ("r", "d_k")}),
    yes(
        "(softmax(S) (C W_U)) W_O = (softmax(S) C) (W_U W_O)",
        shapes={"C": ("m", "r"), "W_U": ("r", "d_v"), "W_O": ("d_v", "d_model")},
    ),
    yes(
        "[X W_Q W_U^T, A] [C, B]^T = X W_Q (C W_U)^T + A B^T",
        shapes={"C": ("m", "r"), "W_U": ("r", "d_k"), "A": ("n", "p"), "B": ("m", "p")},
    ),
    yes("tr(W_V W_O) = tr(W_O W_V)", shapes={"W_V": ("d_model", "d_v"), "W_O": ("d_v", "d_model")}),
    yes("(W_V M) (M^-1 W_O) = W_V W_O", shapes={"M": ("d_v", "d_v")}),
    yes("(X W_Q M) (X W_K M^-T)^T = X W_Q W_K^T X^T", shapes={"M": ("d_k", "d_k")}),
    yes(
        "softmax(A) X W_V W_O + softmax(B) X W_V W_O = (softmax(A) + softmax(B)) X (W_V W_O)",
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "[A, B; C, D] = [[A; C], [B; D]]",
        shapes={"A": ("n", "m"), "B": ("n", "p"), "C": ("r", "m"), "D": ("r", "p")},
    ),
    yes(
        "X + [O1, O2] [W1; W2] = X + O1 W1 + O2 W2",
        shapes={"O1": ("n", "p"), "O2": ("n", "r"), "W1": ("p", "d_model"), "W2": ("r", "d_model")},
    ),
    yes(
        "diag([a; b]) = [diag(a), 0 a b^T; 0 b a^T, diag(b)]", shapes={"a": ("n", 1), "b": ("m", 1)}
    ),
    yes("sum([A, B]) = sum(A) + sum(B)", "B: n p"),
    yes(
        "tr([A, B; C, D]) = tr(A) + tr(D)",
        shapes={"A": ("n", "n"), "B": ("n", "p"), "C": ("p", "n"), "D": ("p", "p")},
    ),
    yes("relu([A; B]) = [relu(A); relu(B)]", shapes={"A": ("n", "m"), "B": ("p", "m")}),
    yes("[I, A; 0 B, I] [I, -A; 0 B, I] = I", shapes={"A": ("n", "p"), "B": ("p", "n")}),
    no("softmax(Q [K; K]^T) [V; W] = softmax(Q K^T) V", "W: m d_v"),
    no(
        "[Q1, Q2] [K1, K2]^T = Q1 K2^T + Q2 K1^T",
        shapes={"Q1": ("n", "r"), "Q2": ("n", "r"), "K1": ("m", "r"), "K2": ("m", "r")},
    ),
    no(
        "softmax(Q1 K1^T + Q2 K2^T) = softmax(Q1 K1^T) + softmax(Q2 K2^T)",
        shapes={"Q1": ("n", "r"), "Q2": ("n", "r"), "K1": ("m", "r"), "K2": ("m", "r")},
    ),
    no("(X W_Q M) (X W_K M^-1)^T = X W_Q W_K^T X^T", "M: square d_k", shapes={"M": ("d_k", "d_k")}),
    no(
        "tr([A, B; C, D]) = tr(A) + tr(B)",
        shapes={"A": ("n", "n"), "B": ("n", "n"), "C": ("n", "n"), "D": ("n", "n")},
    ),
)

BIASES = (
    yes(
        "softmax(Q (K + 1 b)^T) = softmax(Q K^T)",
        shapes={"b": (1, "d_k"), "K": ("m", "d_k"), "Q": ("n", "d_k")},
    ),
    yes(
        "softmax((Q + 1 b) (K + 1 c)^T) = softmax((Q + 1 b) K^T)",
        shapes={"b": (1, "d_k"), "c": (1, "d_k"), "K": ("m", "d_k"), "Q": ("n", "d_k")},
    ),
    yes(
        "softmax(S) (V + 1 b) = softmax(S) V + 1 b",
        shapes={"b": (1, "d_v"), "V": ("m", "d_v"), "S": ("n", "m")},
    ),
    yes("softmax(Q (K - 1 colmean(K))^T) = softmax(Q K^T)"),
    yes(
        "softmax((Q + 1 b) K^T) = softmax(Q K^T + 1 (b K^T))",
        shapes={"b": (1, "d_k"), "K": ("m", "d_k"), "Q": ("n", "d_k")},
    ),
    yes(
        "softmax(S) 1 b + softmax(S) V = softmax(S) (V + 1 b)",
        shapes={"b": (1, "d_v"), "V": ("m", "d_v"), "S": ("n", "m")},
    ),
    yes(
        "(X W_V + 1 b) W_O = X (W_V W_O) + 1 (b W_O)",
        shapes={"b": (1, "d_v"), "X": ("n", "d_model"), "W_V": ("d_model", "d_v")},
    ),
    yes(
        "colmean(X W + 1 b) = colmean(X) W + b",
        shapes={"W": ("d_model", "p"), "b": (1, "p"), "X": ("n", "d_model")},
    ),
    yes(
        "(I - 1 1^T / n) (X + 1 b) = (I - 1 1^T / n) X",
        shapes={"b": (1, "d_model"), "X": ("n", "d_model")},
    ),
    yes("(I - 1 1^T / n) X = X - 1 colmean(X)", shapes={"X": ("n", "d_model")}),
    no(
        "softmax((Q + 1 b) K^T) = softmax(Q K^T)",
        shapes={"b": (1, "d_k"), "K": ("m", "d_k"), "Q": ("n", "d_k")},
    ),
    no(
        "softmax1(Q (K + 1 b)^T) = softmax1(Q K^T)",
        shapes={"b": (1, "d_k"), "K": ("m", "d_k"), "Q": ("n", "d_k")},
    ),
    no(
        "softmax1(S) (V + 1 b) = softmax1(S) V + 1 b",
        shapes={"b": (1, "d_v"), "V": ("m", "d_v"), "S": ("n", "m")},
    ),
)

NORMED = (
    yes("unit(2 K) = unit(K)"),
    yes("unit(-K) = -unit(K)"),
    yes("norm2(unit(K)) = 1"),
    yes("unit(unit(K)) = unit(K)"),
    yes("unit(diag(a) K) = unit(K)", positive=["a"], shapes={"a": ("m", 1)}),
    yes(
        "unit(K R) = unit(K) R",
        "R: orthonormal d_k d_k",
        where=["R R^T = I"],
        shapes={"R": ("d_k", "d_k")},
    ),
    yes("RMSNorm(K) = sqrt(d_k) unit(K)", shapes={"K": ("m", "d_k")}),
    yes("norm2(RMSNorm(X)) = d_model", shapes={"X": ("n", "d_model")}),
    yes("rowmean(RMSNorm(X) ∘ RMSNorm(X)) = 1"),
    yes("RMSNorm(RMSNorm(X)) = RMSNorm(X)"),
    yes("RMSNorm(3 X) = RMSNorm(X)"),
    yes("rowsum(LayerNorm(X)) = 0"),
    yes("LayerNorm(2 X) = LayerNorm(X)"),
    yes("LayerNorm(X + c 1^T) = LayerNorm(X)", shapes={"c": ("n", 1)}),
    yes("LayerNorm(-X) = -LayerNorm(X)"),
    yes("LayerNorm(LayerNorm(X)) = LayerNorm(X)"),
    yes("LayerNorm(X) = RMSNorm(X - rowmean(X))"),
    yes("rowvar(LayerNorm(X)) = 1"),
    yes("unit(Q) unit(K)^T = (Q K^T) ⊘ (sqrt(norm2(Q)) sqrt(norm2(K))^T)"),
    yes("dist2(unit(Q), unit(K)) = 2 - 2 unit(Q) unit(K)^T"),
    yes("abs(unit(A)) = unit(abs(A))"),
    yes("unit(exp(A)) = exp(A) / sqrt(rowsum(exp(2 A)))"),
    yes("(unit(K) unit(K)^T) ∘ I = I", shapes={"K": ("m", "d_k")}),
    yes("sqrt(norm2(K)) ∘ unit(K) = K"),
    no("unit(relu(A)) = relu(unit(A))"),
    yes("dist2(Q, K) = norm2(Q) + norm2(K)^T - 2 Q K^T"),
    yes(
        "dist2(Q R, K R) = dist2(Q, K)",
        "R: orthonormal d_k d_k",
        where=["R R^T = I"],
        shapes={"R": ("d_k", "d_k")},
    ),
    yes(
        "dist2(Q + 1 b, K + 1 b) = dist2(Q, K)",
        shapes={"b": (1, "d_k"), "Q": ("n", "d_k"), "K": ("m", "d_k")},
    ),
    yes(
        "RMSNorm(X) diag(g) W = RMSNorm(X) (diag(g) W)",
        shapes={"g": ("d_model", 1), "W": ("d_model", "p")},
    ),
    yes(
        "softmax(-dist2(Q, K) / 2) = softmax(Q K^T)",
        "K: unitrows m d_k",
        where=["norm2(K) = c"],
        shapes={"c": "scalar"},
    ),
    yes("(unit(Q) W) ∘ sqrt(norm2(Q)) = Q W", shapes={"W": ("d_k", "p")}),
    yes(
        "norm2(unit(K) diag(g)) = rowsum((K ∘ K) diag(g ∘ g)) ⊘ norm2(K)",
        shapes={"g": ("d_k", 1), "K": ("m", "d_k")},
    ),
    yes("LayerNorm(diag(a) X) = LayerNorm(X)", positive=["a"], shapes={"a": ("n", 1)}),
    no("unit(diag(a) K) = unit(K)", shapes={"a": ("m", 1)}),
    no("unit(K + 1 b) = unit(K)", shapes={"b": (1, "d_k")}),
    no("norm2(RMSNorm(X)) = 1"),
    no("RMSNorm(X + c 1^T) = RMSNorm(X)", shapes={"c": ("n", 1)}),
    no("dist2(unit(Q), unit(K)) = 1 - unit(Q) unit(K)^T"),
    no("unit(K M) = unit(K) M", shapes={"M": ("d_k", "d_k")}),
    no("LayerNorm(X P) = LayerNorm(X)", "P: permutation d_model", permuting=["P"]),
)

GRADIENTS = (
    yes("rowsum(dO ∘ O) = rowsum(A ∘ (dO V^T))", where=["O = A V"]),
    yes(
        "rowsum(A ∘ (dA - rowsum(A ∘ dA))) = 0", where=["A = softmax(S)"], shapes={"A": ("n", "m")}
    ),
    yes(
        "rowsum(A ∘ (dA - rowsum(A ∘ dA))) = 0",
        "A: stochastic n m",
        where=["A 1 = 1"],
        shapes={"A": ("n", "m")},
    ),
    yes("sum((dS K) ∘ Q) = sum((dS^T Q) ∘ K)"),
    yes("sum((dS K) ∘ Q) = sum(dS ∘ (Q K^T))"),
    yes("tr(dO^T A V) = tr(A^T dO V^T)"),
    yes("sum(dO ∘ (A V)) = sum((A^T dO) ∘ V)"),
    yes("sum(dO ∘ (A V)) = sum((dO V^T) ∘ A)"),
    yes("(diag(p) - p p^T) 1 = 0 p", "p: weights n", where=["1^T p = 1"], shapes={"p": ("n", 1)}),
    yes(
        "1^T (diag(p) - p p^T) = 0 p^T", "p: weights n", where=["1^T p = 1"], shapes={"p": ("n", 1)}
    ),
    yes(
        "(diag(p) - p p^T) (g + c 1) = (diag(p) - p p^T) g",
        where=["p = softmax(z)^T"],
        shapes={"p": ("n", 1), "z": (1, "n"), "g": ("n", 1), "c": "scalar"},
    ),
    yes("(diag(p) - p p^T)^T = diag(p) - p p^T", shapes={"p": ("n", 1)}),
    yes("(diag(p) - p p^T) g = p ∘ (g - 1 p^T g)", shapes={"p": ("n", 1), "g": ("n", 1)}),
    yes("g^T (diag(p) - p p^T) g = p^T (g ∘ g) - (p^T g)^2", shapes={"p": ("n", 1), "g": ("n", 1)}),
    yes(
        "1^T (A^T dO) = 1^T dO",
        "A: stochastic n m",
        where=["A 1 = 1"],
        shapes={"A": ("n", "m"), "dO": ("n", "d_v")},
    ),
    yes(
        "dS (K + 1 b) = dS K",
        "dS: centred n m",
        where=["dS 1 = 0 c"],
        shapes={"dS": ("n", "m"), "b": (1, "d_k"), "c": ("n", 1), "K": ("m", "d_k")},
    ),
    yes("A ∘ (dA - rowsum(A ∘ dA)) = A ∘ (dO V^T - rowsum(dO ∘ (A V)))", where=["dA = dO V^T"]),
    yes("rowsum((dS K) ∘ Q) = rowsum(dS ∘ (Q K^T))"),
    yes("colsum((dS^T Q) ∘ K) = colsum(dS^T Q ∘ K)"),
    yes("X^T (dS K) W^T = (X^T dS K) W^T", shapes={"W": ("p", "d_k")}),
    yes(
        "sum(A ∘ (dA - rowsum(A ∘ dA)) ∘ S) = sum(A ∘ dA ∘ S) - sum(rowsum(A ∘ dA) ∘ rowsum(A ∘ S))"
    ),
    yes(
        "(A ∘ (dA - rowsum(A ∘ dA))) (1 c^T) = 0 1 c^T",
        "A: stochastic n m",
        where=["A 1 = 1"],
        shapes={"A": ("n", "m"), "c": ("p", 1)},
    ),
    yes(
        "A ∘ ((dA + c 1^T) - rowsum(A ∘ (dA + c 1^T))) = A ∘ (dA - rowsum(A ∘ dA))",
        where=["A = softmax(S)"],
        shapes={"c": ("n", 1), "A": ("n", "m")},
    ),
    yes("(I - y^T y) g^T = g^T - y^T (y g^T)", shapes={"y": (1, "n"), "g": (1, "n")}),
    yes(
        "rowsum(unit(X) ∘ (dX - unit(X) ∘ rowsum(unit(X) ∘ dX))) = 0",
        shapes={"dX": ("n", "d_model"), "X": ("n", "d_model")},
    ),
    yes("(1 - tanh(A)) ∘ (1 + tanh(A)) = 1 - tanh(A) ∘ tanh(A)"),
    yes("1 - tanh(A) ∘ tanh(A) = 4 ⊘ ((exp(A) + exp(-A)) ∘ (exp(A) + exp(-A)))"),
    no("rowsum(dO ∘ O) = rowsum(A ∘ (V dO^T)^T ∘ A)", where=["O = A V"]),
    no("rowsum(A ∘ (dA - rowsum(A ∘ dA))) = 0", shapes={"A": ("n", "m")}),
    no("(diag(p) - p p^T) 1 = 0 p", shapes={"p": ("n", 1)}),
    no("(diag(p) + p p^T) 1 = 0 p", "p: weights n", where=["1^T p = 1"], shapes={"p": ("n", 1)}),
    no("sum((dS K) ∘ Q) = -sum((dS^T Q) ∘ K)"),
    no("dS (K + 1 b) = dS K", shapes={"b": (1, "d_k"), "K": ("m", "d_k")}),
    no("A ∘ (dA - colsum(A ∘ dA)) = A ∘ (dA - rowsum(A ∘ dA))"),
)

ASSUMED = (
    yes("(I - A)^2 = I - A", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("(2 A - I)^2 = I", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("A (I - A) = 0 A", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("A^5 = A", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("(I + A) (I - A / 2) = I", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("(I + A)^-1 = I - A / 2", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("(A^T)^2 = A^T", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes("tr(A^3) = tr(A)", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    yes(
        "softmax(A^2 S) = softmax(A S)",
        "A: projection n",
        where=["A^2 = A"],
        shapes={"A": ("n", "n")},
    ),
    yes(
        "A A X + (I - A) (I - A) X = X",
        "A: projection n",
        where=["A^2 = A"],
        shapes={"A": ("n", "n"), "X": ("n", "d")},
    ),
    yes(
        "rowsum((X A) ∘ (X A)) = rowsum((X A) ∘ X)",
        "A: orthoprojection d",
        where=["A^2 = A", "A^T = A"],
        shapes={"A": ("d", "d"), "X": ("n", "d")},
    ),
    yes(
        "(A B)^2 = A B",
        "A B: commutingprojections n",
        where=["A^2 = A", "B^2 = B", "A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "(A + B - A B)^2 = A + B - A B",
        "A B: commutingprojections n",
        where=["A^2 = A", "B^2 = B", "A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "(A + B)^2 = A + B",
        "A B: disjointprojections n",
        where=["A^2 = A", "B^2 = B", "A B = 0 A", "B A = 0 A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "y A x^T = x A y^T",
        "A: symmetric n",
        where=["A = A^T"],
        shapes={"A": ("n", "n"), "x": (1, "n"), "y": (1, "n")},
    ),
    yes(
        "(Q A Q^T)^T = Q A Q^T",
        "A: symmetric d_k",
        where=["A^T = A"],
        shapes={"A": ("d_k", "d_k"), "Q": ("n", "d_k")},
    ),
    yes(
        "rowsum(Q ∘ (Q A)) = 0",
        "A: skew d_k",
        where=["A^T = -A"],
        shapes={"A": ("d_k", "d_k"), "Q": ("n", "d_k")},
    ),
    yes("(I - A) (I + A)^-1 = (I + A)^-1 (I - A)", "A: square n", shapes={"A": ("n", "n")}),
    yes(
        "tr(R^T A R) = tr(A)",
        "R: orthonormal n n",
        where=["R R^T = I"],
        shapes={"A": ("n", "n"), "R": ("n", "n")},
    ),
    yes(
        "(R A R^T) (R B R^T) = R A B R^T",
        "R: orthonormal n n",
        where=["R^T R = I"],
        shapes={"A": ("n", "n"), "B": ("n", "n"), "R": ("n", "n")},
    ),
    yes(
        "sum((A R) ∘ (B R)) = sum(A ∘ B)",
        "R: orthonormal m m",
        where=["R R^T = I"],
        shapes={"A": ("n", "m"), "B": ("n", "m"), "R": ("m", "m")},
    ),
    yes("(I + A)^-1 A = A (I + A)^-1", "A: square n", shapes={"A": ("n", "n")}),
    yes(
        "A^-1 - B^-1 = A^-1 (B - A) B^-1",
        "A B: square n",
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes("(I + A B)^-1 A = A (I + B A)^-1", shapes={"A": ("n", "m"), "B": ("m", "n")}),
    yes("(I + A B)^-1 = I - A (I + B A)^-1 B", shapes={"A": ("n", "m"), "B": ("m", "n")}),
    yes("(A B)^-1 = B^-1 A^-1", "A B: square n", shapes={"A": ("n", "n"), "B": ("n", "n")}),
    yes(
        "A^-1 B = B A^-1",
        "A B: inverses n",
        where=["A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "(A + B)^2 = A^2 + 2 A B + B^2",
        "A B: commuting n",
        where=["A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "(A + B) (A - B) = A^2 - B^2",
        "A B: commuting n",
        where=["A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "A^2 B^2 = (A B)^2",
        "A B: commuting n",
        where=["A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "A (B + A^2) = (B + A^2) A",
        "A B: commuting n",
        where=["A B = B A"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "A B 1 = 1",
        "B: stochastic n n; A: stochastic n n",
        where=["A 1 = 1", "B 1 = 1"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes(
        "A (V + 1 b) = A V + 1 b",
        "A: stochastic n m",
        where=["A 1 = 1"],
        shapes={"A": ("n", "m"), "V": ("m", "d"), "b": (1, "d")},
    ),
    yes(
        "(A + B) / 2 1 = 1",
        "B: stochastic n n; A: stochastic n n",
        where=["A 1 = 1", "B 1 = 1"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    yes("A^3 1 = 1", "A: stochastic n n", where=["A 1 = 1"], shapes={"A": ("n", "n")}),
    yes(
        "1^T A V = 1^T V",
        "A: columnstochastic n n",
        where=["1^T A = 1^T"],
        shapes={"A": ("n", "n"), "V": ("n", "d")},
    ),
    yes(
        "colmean(A V) = colmean(V)",
        "A: columnstochastic n n",
        where=["1^T A = 1^T"],
        shapes={"A": ("n", "n"), "V": ("n", "d")},
    ),
    yes(
        "(I - 1 1^T / n) A = A - 1 1^T / n",
        "A: columnstochastic n n",
        where=["1^T A = 1^T"],
        shapes={"A": ("n", "n")},
    ),
    yes(
        "(I - 1 1^T / n) A (I - 1 1^T / n) = A - 1 1^T / n",
        "A: doublystochastic n",
        where=["1^T A = 1^T", "A 1 = 1"],
        shapes={"A": ("n", "n")},
    ),
    yes("A^-1 = A", "A: reflection n", where=["A^2 = I"], shapes={"A": ("n", "n")}),
    yes(
        "((I + A) / 2)^2 = (I + A) / 2",
        "A: reflection n",
        where=["A^2 = I"],
        shapes={"A": ("n", "n")},
    ),
    yes("(I - A)^-1 = I + A", "A: nilpotent n", where=["A^2 = 0 A"], shapes={"A": ("n", "n")}),
    yes(
        "(I - A)^-1 = I + A + A^2", "A: nilpotent n", where=["A^3 = 0 A"], shapes={"A": ("n", "n")}
    ),
    yes(
        "softmax(Q K^T) V = softmax(X W_Q W_K^T X^T) X W_V",
        where=["Q = X W_Q", "K = X W_K", "V = X W_V"],
    ),
    yes(
        "softmax(Q K^T) = softmax(K Q^T)",
        where=["Q = K"],
        shapes={"Q": ("n", "d"), "K": ("n", "d")},
    ),
    yes(
        "K^T K V = V",
        "K: orthonormal w d",
        where=["K^T K = I"],
        shapes={"K": ("m", "d"), "V": ("d", "p")},
    ),
    yes(
        "(A M)^2 = A^2 M^2",
        "A M: commuting n",
        where=["A M = M A"],
        shapes={"A": ("n", "n"), "M": ("n", "n")},
    ),
    yes(
        "A^2 M = M B^2",
        "A M B: similar n",
        where=["A M = M B"],
        shapes={"A": ("n", "n"), "B": ("m", "m"), "M": ("n", "m")},
    ),
    no("(I - A)^2 = I - A", shapes={"A": ("n", "n")}),
    no("A^T = A", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    no("A = I", "A: projection n", where=["A^2 = A"], shapes={"A": ("n", "n")}),
    no(
        "A B = B A",
        "A B: projection n",
        where=["A^2 = A", "B^2 = B"],
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    no("1^T A = 1^T", "A: stochastic n n", where=["A 1 = 1"], shapes={"A": ("n", "n")}),
    no("(I + A B)^-1 A = A (I + A B)^-1", shapes={"A": ("n", "n"), "B": ("n", "n")}),
    no(
        "A^-1 - B^-1 = A^-1 (A - B) B^-1",
        "A B: square n",
        shapes={"A": ("n", "n"), "B": ("n", "n")},
    ),
    no(
        "R A R^T = A",
        "R: orthonormal n n",
        where=["R R^T = I"],
        shapes={"A": ("n", "n"), "R": ("n", "n")},
    ),
)

TRACES = (
    yes("tr(A B) = tr(B A)", shapes={"A": ("n", "m"), "B": ("m", "n")}),
    yes("tr(A^T B) = sum(A ∘ B)"),
    yes("tr(A B C) = tr(C A B)", shapes={"A": ("n", "m"), "B": ("m", "p"), "C": ("p", "n")}),
    yes("tr(x^T y) = y x^T", shapes={"x": (1, "n"), "y": (1, "n")}),
    yes("diag(a) A diag(b) = A ∘ (a b^T)", shapes={"a": ("n", 1), "b": ("m", 1), "A": ("n", "m")}),
    yes(
        "(a b^T) ∘ (c d^T) = (a ∘ c) (b ∘ d)^T",
        shapes={"a": ("n", 1), "c": ("n", 1), "b": ("m", 1), "d": ("m", 1)},
    ),
    yes(
        "rowsum((A B) ∘ C) = rowsum(A ∘ (C B^T))",
        shapes={"A": ("n", "m"), "B": ("m", "p"), "C": ("n", "p")},
    ),
    yes(
        "x^T (A ∘ B) y = tr(diag(x) A diag(y) B^T)",
        shapes={"x": ("n", 1), "y": ("m", 1), "A": ("n", "m"), "B": ("n", "m")},
    ),
    yes("1^T A 1 = sum(A)"),
    yes("diag(a) 1 = a", shapes={"a": ("n", 1)}),
    yes("tr(diag(a)) = sum(a)", shapes={"a": ("n", 1)}),
    yes("rowsum(I ∘ (A B^T)) = rowsum(A ∘ B)"),
    yes("tr(A^T A) = sum(A ∘ A)"),
    yes("(A + B) (A + B)^T = A A^T + A B^T + B A^T + B B^T"),
    yes("(x y^T)^2 = (y^T x) (x y^T)", shapes={"x": ("n", 1), "y": ("n", 1)}),
    yes("(I + x y^T)^-1 = I - (x y^T) / (1 + y^T x)", shapes={"x": ("n", 1), "y": ("n", 1)}),
    yes("(x 1^T - 1 x^T) 1 = n x - 1 (1^T x)", shapes={"x": ("n", 1)}),
    yes("sum((A - B) ∘ (A - B)) = tr(A^T A) - 2 tr(A^T B) + tr(B^T B)"),
    yes("diag(softmax(S) 1) = I", shapes={"S": ("n", "m")}),
    yes("tr(A) = tr(A^T)", shapes={"A": ("n", "n")}),
    yes(
        "(A ∘ B) diag(c) = A ∘ (B diag(c))",
        shapes={"c": ("m", 1), "A": ("n", "m"), "B": ("n", "m")},
    ),
    yes("(A ∘ (b 1^T)) C = b ∘ (A C)", shapes={"b": ("n", 1), "A": ("n", "m"), "C": ("m", "p")}),
    yes("colsum(A B) = colsum(A) B", shapes={"A": ("n", "m"), "B": ("m", "p")}),
    yes("rowmean(A B) = A rowmean(B)", shapes={"A": ("n", "m"), "B": ("m", "p")}),
    yes("sum(x x^T) = sum(x)^2", shapes={"x": ("n", 1)}),
    yes(
        "n sum(x ∘ x) - sum(x)^2 = sum((x 1^T - 1 x^T) ∘ (x 1^T - 1 x^T)) / 2",
        shapes={"x": ("n", 1)},
    ),
    no("tr(A B C) = tr(B A C)", shapes={"A": ("n", "n"), "B": ("n", "n"), "C": ("n", "n")}),
    no("diag(a) A = A diag(a)", shapes={"A": ("n", "n"), "a": ("n", 1)}),
    no("sum((A - B) ∘ (A - B)) = tr(A^T A) - tr(A^T B) + tr(B^T B)"),
    no("(I + x y^T)^-1 = I - (x y^T) / (1 - y^T x)", shapes={"x": ("n", 1), "y": ("n", 1)}),
    no("(A B) ∘ C = A (B ∘ C)", shapes={"A": ("n", "n"), "B": ("n", "n"), "C": ("n", "n")}),
)

LAWS: tuple[Statement, ...] = (
    *SHIFTS,
    *ORDERS,
    *MASKED,
    *LINEAR,
    *MERGES,
    *NORMALISERS,
    *POSITIONS,
    *HEADS,
    *BIASES,
    *NORMED,
    *GRADIENTS,
    *ASSUMED,
    *TRACES,
)
