"""Forms in chunks against the loop over tokens that they are, and what of them is proven."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from symattn import Derivation, derivation, equal, variant

Array = Any

_MOST = 20


def _linear(t: int, state: Array, g: dict[str, Array]) -> Array:
    return state + np.outer(g["K"][t], g["V"][t])


def _retention(t: int, state: Array, g: dict[str, Array]) -> Array:
    return g["gamma"] * state + np.outer(g["K"][t], g["V"][t])


def _mamba(t: int, state: Array, g: dict[str, Array]) -> Array:
    return np.exp(-g["Delta"][t]) * state + np.outer(g["B"][t], g["X"][t])


def _delta(t: int, state: Array, g: dict[str, Array]) -> Array:
    error = g["V"][t] - g["K"][t] @ state
    return state + g["B"][t] * np.outer(g["K"][t], error)


#: What a token makes of the state, the letter of what reads it, and the widths of inputs.
LOOPS: dict[str, tuple[Callable[[int, Array, dict[str, Array]], Array], str, dict[str, int]]] = {
    "linear-chunked": (_linear, "Q", {"Q": 2, "K": 2, "V": 3}),
    "retention-chunked": (_retention, "Q", {"Q": 2, "K": 2, "V": 3}),
    "mamba-2-chunked": (_mamba, "C", {"C": 2, "B": 2, "X": 3, "Delta": 1}),
    "deltanet-chunked": (_delta, "Q", {"Q": 2, "K": 2, "V": 3, "B": 1}),
}


@cache
def _made(name: str) -> Derivation:
    return variant(name).derivation()


def _apart(name: str, size: int, count: int = 3) -> float:
    """How far a form in so many chunks of this size is from the loop over all their tokens."""
    step, reads, widths = LOOPS[name]
    random = np.random.default_rng(size)
    given = {x: random.uniform(-1, 1, (count, size, width)) for x, width in widths.items()}
    tokens = {x: value.reshape(count * size, -1) for x, value in given.items()}
    if name == "retention-chunked":
        given["gamma"] = tokens["gamma"] = np.array(0.9)
    state, rows = np.zeros((2, 3)), []
    for t in range(count * size):
        state = step(t, state, tokens)
        rows.append(tokens[reads][t] @ state)
    output = _made(name).evaluate(**given)["output"].array.reshape(count * size, 3)
    return float(abs(output - np.array(rows)).max())


@pytest.mark.parametrize("name", LOOPS)
def test_chunks_are_the_loop_over_tokens(name: str) -> None:
    apart = {size: _apart(name, size) for size in range(1, _MOST + 1)}
    assert max(apart.values()) < 1e-10, apart


@pytest.mark.parametrize("name", LOOPS)
def test_a_state_that_is_a_chunk_late_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, word, output = variant(name).text.rpartition("output")
    late = made + word + output.replace("S[c-1]", "S[c]")
    monkeypatch.setattr(f"{__name__}._made", lambda _: derivation(late))
    assert _apart(name, 3) > 1e-3


#: One chunk from a state that is given, in the two forms; for all sizes.
_TOKEN = "K : n × d_k;  V : n × d_v;  Q : n × d_k\n"
PROVEN = {
    "linear": (
        "S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]",
        "T[i,j] = 1 if j <= i else 0; O = Q S_0 + (Q K^T ∘ T) V",
    ),
    "linear, handed on": ("S[t] = S[t-1] + K[t]^T V[t]; Z = S[n]", "Z = S_0 + K^T V"),
    "retention": (
        "S[t] = γ S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]",
        "D[i,j] = γ^(i-j) if j <= i else 0; E[i,j] = γ^i; O = E ∘ (Q S_0) + (Q K^T ∘ D) V",
    ),
    "retention, handed on": (
        "S[t] = γ S[t-1] + K[t]^T V[t]; Z = S[n]",
        "F[i,j] = γ^(n-i); Z = γ^n S_0 + (F ∘ K)^T V",
    ),
}


@pytest.mark.parametrize("name", PROVEN)
def test_one_chunk_is_proven_for_all_sizes(name: str) -> None:
    one, other = (_TOKEN + text for text in PROVEN[name])
    answer = equal(derivation(one), derivation(other), positive=["gamma"] if "γ" in one else [])
    assert answer.summary == "equal (for all sizes)"


def test_a_chunk_without_its_state_is_refuted() -> None:
    token, chunk = (_TOKEN + text for text in PROVEN["linear, handed on"])
    answer = equal(derivation(token), derivation(chunk.replace("S_0 + ", "")))
    assert answer.verdict == "different"


def written_out(tokens: int) -> str:
    """The delta rule token by token, without a recurrence."""
    lines = []
    for t in range(1, tokens + 1):
        row, before = f"[{t}:{t}, :]", f"S_{t - 1}"
        lines.append(f"S_{t} = {before} + K{row}^T B{row} (V{row} - K{row} {before})")
    rows = "; ".join(f"Q[{t}:{t}, :] S_{t}" for t in range(1, tokens + 1))
    return "; ".join([*lines, f"O = [{rows}]"])


#: The chunk of `deltanet-chunked`, with the inverse G of I + L: L^p = 0 in a chunk of p tokens.
_DELTA = (
    "T[i,j] = 1 if j <= i else 0; N[i,j] = 1 if j < i else 0; L = B ∘ (K K^T ∘ N); G = {inverse}; "
    "U = G (B ∘ V); W = G (B ∘ K); O = Q S_0 + (Q K^T ∘ T) (U - W S_0)"
)


@pytest.mark.parametrize("tokens", [2, 3])
def test_a_chunk_of_the_delta_rule_is_proven_at_given_sizes(tokens: int) -> None:
    sizes = f"K : {tokens} × 2; V : {tokens} × 3; Q : {tokens} × 2; B : {tokens} × 1; S_0 : 2 × 3\n"
    inverse = {2: "I - L", 3: "I - L + L L"}[tokens]
    loop = derivation(sizes + written_out(tokens))
    answer = equal(loop, derivation(sizes + _DELTA.format(inverse=inverse)))
    assert answer.summary == "equal (at the sizes given)"
    late = _DELTA.replace("j <= i", "j < i").format(inverse=inverse)
    assert equal(loop, derivation(sizes + late)).verdict == "different"
    part = f"K : {tokens} × 2; B : {tokens} × 1; N[i,j] = 1 if j < i else 0; L = B ∘ (K K^T ∘ N); "
    both = (derivation(f"{part} O = {text}") for text in (f"(I + L) ({inverse})", "I + 0 * L"))
    assert equal(*both).summary == "equal (at the sizes given)"
