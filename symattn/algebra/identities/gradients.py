"""The backward pass of attention, each line held against the derivatives of all entries.

With dO the gradient of a loss with respect to O, the loss changes as ⟨dO, O⟩ = Σ do_ij o_ij does.
Its derivatives by the entries of V, Q, … are the checker's; numbers that are tried have those of
forward mode.
"""

from __future__ import annotations

from functools import partial

from symattn.algebra.identities.identity import Identity, made

_FLASH = "Dao et al., FlashAttention (2022), appendix B.2"
_FLASH_DOTS = "Dao et al., FlashAttention (2022), appendices B.2 and B.4"


_SEEN = "softmax(Q K^T / sqrt(d_k))"
_DS = f"({_SEEN} ∘ (dO V^T - rowsum({_SEEN} ∘ (dO V^T))))"


#: Shapes at which the weights are square.
_SQUARE = {**dict.fromkeys("QK", ("n", "d_k")), **dict.fromkeys(("V", "dO"), ("n", "d_v"))}

#: What the letters of the statements mean.
_LETTERS = "S are the scaled scores, A = softmax(S), O = A V; dX is the gradient of a loss for X"


def _row(
    name: str,
    says: str,
    statement: str,
    use: str,
    slopes: tuple[object, ...],
    behind: tuple[str, ...] = (),
    holds: bool = True,
) -> Identity:
    """A row whose `slopes` are a number, the letter that it is differentiated by, the formula.

    Shapes may follow.
    """
    return Identity(
        name,
        says,
        statement,
        _FLASH,
        use,
        holds=holds,
        behind=behind,
        sides=made("slopes", *slopes),
        letters=_LETTERS,
    )


_false = partial(_row, holds=False)

GRADIENTS: tuple[Identity, ...] = (
    _row(
        "gradient-values",
        "the gradient of the values",
        "dV = Aᵀ dO",
        "the gradient of a value is the sum of the output gradients, weighted by A",
        (f"sum(dO ∘ ({_SEEN} V))", "V", f"{_SEEN}^T dO"),
        behind=("dV",),
    ),
    _row(
        "gradient-weights",
        "the gradient of the weights",
        "dA = dO Vᵀ",
        "each entry is the dot product of an output gradient with a value",
        ("sum(dO ∘ (A V))", "A", "dO V^T"),
        behind=("d_weights",),
    ),
    _row(
        "gradient-scores",
        "the gradient of the scores",
        "dS = A ∘ (dA − rowsum(A ∘ dA))",
        "the softmax's Jacobian is applied to each row",
        ("sum(dA ∘ softmax(S))", "S", "softmax(S) ∘ (dA - rowsum(softmax(S) ∘ dA))"),
        behind=("d_scores: LineSum", "d_scaled: LineSum", "d_masked: LineSum"),
    ),
    Identity(
        "gradient-row-dots",
        "with dA = dO Vᵀ, rowsum(A ∘ dA) is D = rowsum(dO ∘ O)",
        "rowsum(A ∘ (dO V^T)) = rowsum(dO ∘ (A V))",
        _FLASH_DOTS,
        "the D in dS = A ∘ (dA − D 1ᵀ) can be computed from dO and O alone",
        misconception="D cannot be computed without the weights",
        behind=("output_dots",),
    ),
    _row(
        "gradient-queries",
        "the gradient of the queries",
        "dQ = dS K / √d_k",
        "the factor 1/√d_k appears in the gradient too",
        (f"sum(dO ∘ ({_SEEN} V))", "Q", f"{_DS} K / sqrt(d_k)"),
        behind=("dQ",),
    ),
    _row(
        "gradient-keys",
        "the gradient of the keys",
        "dK = dSᵀ Q / √d_k",
        "the formula is that for the queries, with dS transposed",
        (f"sum(dO ∘ ({_SEEN} V))", "K", f"{_DS}^T Q / sqrt(d_k)"),
        behind=("dK",),
    ),
    _false(
        "gradient-no-row-sums",
        "the gradient of the scores is A ∘ dA",
        "dS = A ∘ dA",
        "rows of dS have to sum to 0",
        ("sum(dA ∘ softmax(S))", "S", "softmax(S) ∘ dA"),
    ),
    _false(
        "gradient-no-scale",
        "the scale is not needed in the backward pass",
        "dQ = dS K",
        "gradients come out too large by a factor of √d_k",
        (f"sum(dO ∘ ({_SEEN} V))", "Q", f"{_DS} K"),
    ),
    _false(
        "gradient-no-transpose",
        "dV needs no transpose",
        "dV = A dO",
        "the shapes fit only where the weights are square",
        (f"sum(dO ∘ ({_SEEN} V))", "V", f"{_SEEN} dO", _SQUARE),
    ),
)
