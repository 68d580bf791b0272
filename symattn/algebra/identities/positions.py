"""Identities of positions and of functions of one number: rotations, waves, slopes, derivatives."""

from __future__ import annotations

from typing import Any

import sympy

from symattn.algebra.identities.proofs import Identity

_ROPE = "Su et al., RoFormer (2021), section 3.2"
_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section "
_A, _B, _W, _K = sympy.symbols("a b ω k", real=True)


def rotation(angle: sympy.Expr) -> sympy.Matrix:
    """What turns a row vector by an angle, from the right."""
    return sympy.Matrix(
        [[sympy.cos(angle), sympy.sin(angle)], [-sympy.sin(angle), sympy.cos(angle)]]
    )


def _pair(name: str) -> sympy.Matrix:
    return sympy.Matrix([[sympy.Symbol(f"{name}_{k}", real=True) for k in (1, 2)]])


def _orthogonal() -> tuple[Any, Any]:
    turn = rotation(_A * _W)
    return turn * turn.T, sympy.eye(2)


def _relative() -> tuple[Any, Any]:
    """The query at position a, the key at position b: their score; and with the key at b − a."""
    q, k = _pair("q"), _pair("k")
    return (q * rotation(_A * _W)) * (k * rotation(_B * _W)).T, q * (k * rotation((_B - _A) * _W)).T


def _absolute() -> tuple[Any, Any]:
    q, k = _pair("q"), _pair("k")
    return (q * rotation(_A * _W)) * (k * rotation(_B * _W)).T, q * k.T


def _wave() -> tuple[Any, Any]:
    """(sin, cos) at position a + k is that at a, turned by a matrix that knows k only."""
    here = sympy.Matrix([[sympy.sin(_A * _W), sympy.cos(_A * _W)]])
    there = sympy.Matrix([[sympy.sin((_A + _K) * _W), sympy.cos((_A + _K) * _W)]])
    return there, here * rotation(-_K * _W)


def _wave_products() -> tuple[Any, Any]:
    one = sympy.Matrix([[sympy.sin(_A * _W), sympy.cos(_A * _W)]])
    two = sympy.Matrix([[sympy.sin(_B * _W), sympy.cos(_B * _W)]])
    return one * two.T, sympy.Matrix([[sympy.cos((_A - _B) * _W)]])


def _cap_slope() -> tuple[Any, Any]:
    """The soft cap's derivative is 1 − tanh², which is positive."""
    x, c = sympy.Symbol("x", real=True), sympy.Symbol("c", positive=True)
    grown = sympy.exp(x / c) + sympy.exp(-x / c)
    return sympy.diff(c * sympy.tanh(x / c), x), 4 / grown**2


def _recurrent() -> tuple[Any, Any]:
    """Three steps of h ← tanh(w h): the derivative is a product of three Jacobians."""
    h, w = sympy.symbols("h w", real=True)
    states = [h]
    for _ in range(3):
        states.append(sympy.tanh(w * states[-1]))
    product = sympy.Mul(*(w * (1 - state**2) for state in states[1:]))
    return sympy.diff(states[-1], h), product


def _one_step() -> tuple[Any, Any]:
    """In attention one factor stands between any two tokens: ∂o/∂v_j is the weight a_j."""
    scores = [sympy.Symbol(f"s_{k}", real=True) for k in (1, 2, 3)]
    values = [sympy.Symbol(f"v_{k}", real=True) for k in (1, 2, 3)]
    total = sympy.Add(*map(sympy.exp, scores))
    weights = [sympy.exp(score) / total for score in scores]
    output = sympy.Add(*(a * v for a, v in zip(weights, values, strict=True)))
    return sympy.Matrix([[sympy.diff(output, v) for v in values]]), sympy.Matrix([weights])


POSITIONS: tuple[Identity, ...] = (
    Identity(
        "rotary-orthogonal",
        "a rotation keeps lengths",
        "R(aω) R(aω)ᵀ = I",
        _ROPE,
        "positions change no norms",
        for_all=False,
        sides=_orthogonal,
    ),
    Identity(
        "rotary-relative",
        "rotated scores depend on the distance of the positions only",
        "(q R(aω)) (k R(bω))ᵀ = q (k R((b − a)ω))ᵀ",
        _ROPE,
        "why rotary positions are relative",
        for_all=False,
        sides=_relative,
        misconception="rotary attention depends on absolute positions",
    ),
    Identity(
        "sinusoidal-rotation",
        "the encoding of p + k is a fixed rotation of that of p",
        "PE(a + k) = PE(a) R(−kω)",
        f"{_VASWANI}3.5",
        "offsets are linear maps",
        for_all=False,
        sides=_wave,
    ),
    Identity(
        "sinusoidal-products",
        "products of encodings depend on the distance only",
        "PE(a) PE(b)ᵀ = cos((a − b)ω)",
        f"{_VASWANI}3.5",
        "nearby positions look alike",
        for_all=False,
        sides=_wave_products,
    ),
    Identity(
        "alibi-shift",
        "ALiBi's bias a (j − i) is a j, the query's own position cancels",
        "softmax(S + a*(ones b - c ones^T)) = softmax(S + a*ones b)",
        "Press et al., Train Short, Test Long (2021), section 3",
        "only the key's position counts",
        (("distribute number", "softmax(S + a*ones b - a*c ones^T)"), ("shift", "")),
        shapes=(("b", (1, "m")), ("c", ("n", 1))),
        behind=(
            "bias",
            "biased",
        ),
    ),
    Identity(
        "soft-cap-monotone",
        "the soft cap's slope is positive",
        "d/dx c tanh(x/c) = 4 / (e^(x/c) + e^(−x/c))²",
        "Gemma Team, Gemma 2 (2024), section 2",
        "a cap keeps the order of scores",
        sides=_cap_slope,
    ),
    Identity(
        "recurrent-jacobians",
        "a recurrent net's gradient is a product of Jacobians",
        "∂h_3/∂h_0 = Π_t w (1 − h_t²)",
        "Pascanu et al., On the Difficulty of Training Recurrent Neural Networks (2013), sec. 2",
        "why gradients vanish over many steps",
        for_all=False,
        sides=_recurrent,
    ),
    Identity(
        "attention-one-step",
        "between a value and an output stands one factor, its weight",
        "∂o/∂v_j = a_j",
        f"{_VASWANI}4",
        "attention's paths are short",
        for_all=False,
        sides=_one_step,
    ),
)

#: For the false belief that rotated scores are those of the vectors as they were.
ABSOLUTE = _absolute
