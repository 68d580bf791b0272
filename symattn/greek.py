"""The Greek letters, for those who read formulas and those who write them."""

from __future__ import annotations

from collections.abc import Mapping

#: The Greek letters, and ℓ, by their names: those of LaTeX's commands.
GREEK: Mapping[str, str] = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "phi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "lambda": "λ",
    "ell": "ℓ",
}


def in_ascii(name: str) -> str:
    """A name with its Greek letters by their names, as files and programs have them.

    >>> in_ascii("λ_q"), in_ascii("W_Q")
    ('lambda_q', 'W_Q')
    """
    return "".join(_NAMES.get(letter, letter) for letter in name)


_NAMES = {letter: name for name, letter in GREEK.items()}
