"""Gradients of states, of those before them, and of one matrix of a family, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from symattn import derivation, variant
from symattn.derivations import Derivation
from symattn.nodes.recurrence import Earlier
from tests.extras import package

Array = Any


@dataclass(frozen=True)
class Case:
    """A text, the shapes of its inputs, and its output in PyTorch, as a loop over tokens."""

    text: str
    shapes: Mapping[str, tuple[int, ...]]
    value: Callable[..., Any]


def _two_states(Q: Any, K: Any, V: Any, S_0: Any, Z_0: Any, a: Any) -> Any:
    torch = package("torch")
    s, z, rows = S_0, Z_0, []
    for t in range(4):
        before, s = s, a[t] * s + torch.outer(K[t], V[t])
        z = before @ z + Q[t][:, None] * s
        rows.append(Q[t] @ (z + before))
    return torch.stack(rows) @ s


def _softmax(Q: Any, K: Any, V: Any) -> Any:
    return package("torch").softmax(Q @ K.mT / 2**0.5, -1) @ V


_QKV = {"Q": (3, 2), "K": (4, 2), "V": (4, 2)}
CASES = {
    "the last state": Case(
        "S[0] = 0; S[t] = S[t-1] + K[t]^T V[t]; O = Q S[m]",
        _QKV,
        lambda Q, K, V: Q @ (K.mT @ V),
    ),
    "states made of another's before": Case(
        "Q : n × d; S_0 : d × d; S[t] = a[t] S[t-1] + K[t]^T V[t]; "
        "Z[t] = S[t-1] Z[t-1] + Q[t]^T ∘ S[t]; R[t,:] = Q[t] (Z[t] + S[t-1]); O = R S[n]",
        {
            **dict.fromkeys("QKV", (4, 2)),
            **dict.fromkeys(("S_0", "Z_0"), (2, 2)),
            "a": (4, 1),
        },
        _two_states,
    ),
    "one head alone": Case(
        "A[h] = softmax(Q[h] K[h]^T); O = A[2] V",
        {"Q": (2, 3, 2), "K": (2, 4, 2), "V": (4, 2)},
        lambda Q, K, V: package("torch").softmax(Q[1] @ K[1].mT, -1) @ V,
    ),
    "one head in every head": Case(
        "A[h] = softmax(Q[h] K[h]^T); B[h] = A[1] V[h]; O = sum_h(B[h])",
        {"Q": (2, 3, 2), "K": (2, 4, 2), "V": (2, 4, 2)},
        lambda Q, K, V: package("torch").softmax(Q[0] @ K[0].mT, -1) @ V.sum(0),
    ),
    "online softmax": Case(variant("online-softmax").text, _QKV, _softmax),
}


def _found(made: Derivation, case: Case) -> tuple[dict[str, Array], dict[str, Array]]:
    """The gradients of all inputs, ours and PyTorch's, for numbers that are drawn."""
    torch = package("torch")
    random = np.random.default_rng(0)
    given = {name: random.standard_normal(shape) for name, shape in case.shapes.items()}
    leaves = {name: torch.tensor(value, requires_grad=True) for name, value in given.items()}
    out = case.value(**leaves)
    upstream = random.standard_normal(out.shape)
    out.backward(torch.tensor(upstream))
    backward = made.gradient(wrt=[*given])
    start = f"d{made.steps[-1].name}" if len(made.steps[-1].name) == 1 else "d_output"
    values = backward.evaluate(**given, **{start: upstream})
    names = {step.letter: step.name for step in backward.steps}
    ours = {name: np.asarray(values[names[f"d{name}"]].array) for name in given}
    return ours, {name: leaf.grad.numpy() for name, leaf in leaves.items()}


@pytest.mark.parametrize("name", CASES)
def test_pytorch_agrees(name: str) -> None:
    ours, theirs = _found(derivation(CASES[name].text), CASES[name])
    for letter, gradient in theirs.items():
        np.testing.assert_allclose(ours[letter], gradient, rtol=1e-11, atol=1e-12, err_msg=letter)


def test_a_state_taken_for_the_one_before_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Earlier, "settled", lambda self, sizes: self.matrix)
    with pytest.raises(AssertionError):
        test_pytorch_agrees("states made of another's before")
