"""Misconceptions about norms and gates: Q_norm = RMSNorm(Q) diag(α_Q), O_gate = σ(X W_G) ∘ O.

A new one is a row at the end: an equation.
"""

from __future__ import annotations

from symattn.mistakes.base import Misconception

_ZHANG = "Zhang and Sennrich 2019, equation 4"
_GATED = "Qiu et al. 2025, section 2.2"

#: The steps that a norm makes, and the norms by their words.
_NORMED = (
    "Q_latent_normed, Q_normed, latent_normed, K_normed, V_normed, output_normed, concat_normed"
)
_WORDS = ("RMSNorm", "LayerNorm", "unit")


def _of_each(*texts: str) -> tuple[str, ...]:
    """The equations of each norm, in which N is its word."""
    return tuple(text.replace("N(", f"{word}(") for word in _WORDS for text in texts)


NORMS: tuple[Misconception, ...] = (
    Misconception(
        "norm-left-out",
        "the norm is left out",
        "Divide each row by its norm before going on; only the gain is applied otherwise.",
        _ZHANG,
        (*_of_each(f"in {_NORMED}: N(A) = A"), f"in {_NORMED}: A / rms(B) = A"),
    ),
    Misconception(
        "norm-and-gain-left-out",
        "neither the norm nor its gain is applied",
        "Normalise each row, then multiply by the gain.",
        _ZHANG,
        (
            *_of_each(f"in {_NORMED}: gained(N(A), G) = A"),
            f"in {_NORMED}: gained(A / rms(B), G) = A",
        ),
    ),
    Misconception(
        "gain-left-out",
        "the norm is not multiplied by its gain",
        "Multiply each entry of the normalised row by its own entry of the gain.",
        _ZHANG,
        f"in {_NORMED}: gained(A, G) = A",
    ),
    Misconception(
        "gain-without-1",
        "the norm is multiplied by what is learned, without the 1",
        "The gain is 1 plus what is learned.",
        "Hugging Face transformers, Gemma3RMSNorm",
        f"in {_NORMED}: gained(A, filled(1) + G) = gained(A, G)",
    ),
    Misconception(
        "norm-after-rotation",
        "queries and keys are rotated before the norm",
        "Normalise first, gain included, and rotate what the norm gives.",
        "Qwen Team, Qwen3 Technical Report (2025), section 2",
        (
            "Q_rotated, K_rotated: rotary(gained(RMSNorm(A), G)) = gained(RMSNorm(rotary(A)), G)",
            "Q_rotated, K_rotated: rotary(gained(LayerNorm(A), G)) = "
            "gained(LayerNorm(rotary(A)), G)",
            "Q_rotated, K_rotated: rotary(LayerNorm(A)) = LayerNorm(rotary(A))",
        ),
    ),
    Misconception(
        "norm-before-rotation",
        "queries and keys are rotated after the norm",
        "Rotate first, and normalise what the rotation gives, gain included.",
        "Hugging Face transformers, HunYuanDenseV1Attention",
        (
            "Q_normed, K_normed: gained(RMSNorm(rotary(A)), G) = rotary(gained(RMSNorm(A), G))",
            "Q_normed, K_normed: gained(LayerNorm(rotary(A)), G) = rotary(gained(LayerNorm(A), G))",
            "Q_normed, K_normed: LayerNorm(rotary(A)) = rotary(LayerNorm(A))",
        ),
    ),
    Misconception(
        "mean-not-subtracted",
        "RMSNorm instead of LayerNorm: the mean is not subtracted",
        "LayerNorm subtracts the mean of the row from each entry, in the deviation too.",
        "Ba, Kiros, Hinton 2016, equation 3",
        f"in {_NORMED}: LayerNorm(A) = RMSNorm(A)",
    ),
    Misconception(
        "mean-subtracted",
        "LayerNorm instead of RMSNorm: the mean is subtracted",
        "RMSNorm divides the entries as they are; it subtracts no mean.",
        _ZHANG,
        f"in {_NORMED}: RMSNorm(A) = LayerNorm(A)",
    ),
    Misconception(
        "length-for-rms",
        "each row is divided by its length instead of its root mean square",
        "Divide the sum of the squares by their number before taking the root.",
        _ZHANG,
        f"in {_NORMED}: RMSNorm(A) = unit(A)",
    ),
    Misconception(
        "eps-outside-the-root",
        "ε is added to the root instead of the mean square",
        "Add ε to the mean of the squares, then take the root.",
        _ZHANG,
        f"in {_NORMED}: RMSNorm(A, eps=e) = A / (rms(A, eps=0) + e); if e > 0",
    ),
    Misconception(
        "eps-left-out",
        "ε is left out of the norm",
        "Add ε to the mean of the squares before taking the root.",
        _ZHANG,
        (
            f"in {_NORMED}: RMSNorm(A, eps=e) = RMSNorm(A, eps=0)",
            f"in {_NORMED}: LayerNorm(A, eps=e) = LayerNorm(A, eps=0)",
        ),
    ),
    Misconception(
        "norm-of-each-head",
        "each head is normalised by itself instead of all together",
        "The norm is one of a token's whole row, before it is split into heads.",
        "Hugging Face transformers, Olmo2Attention",
        (
            "in Q_normed, K_normed, V_normed, output_normed: A / rms(joined(A)) = RMSNorm(A)",
            "in Q_normed, K_normed, V_normed, output_normed: A / lengths(joined(A)) = unit(A)",
        ),
    ),
    Misconception(
        "gate-left-out",
        "the output is not multiplied by its gate",
        "Multiply each head's output by its gate before the output projection.",
        _GATED,
        ("output_gated: G ∘ A = A", "output_gated: gained(A, G) = A"),
    ),
    Misconception(
        "gate-without-activation",
        "the projection itself serves as the gate",
        "Apply the activation to the projection first.",
        _GATED,
        "gate: Z = gate_scores",
    ),
    Misconception(
        "gate-by-softmax",
        "a softmax makes the gate, so its entries sum to 1",
        "A gate's entries are independent: apply the activation to each alone.",
        _GATED,
        "gate: Z = softmax(gate_scores)",
    ),
)
