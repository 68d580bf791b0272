"""States that are given and handed on: a sequence in chunks is the sequence at once."""

from __future__ import annotations

import numpy as np
import pytest

from symattn import derivation

#: One update rule each: what a token makes of the state.
RULES = {
    "linear": "S[t-1] + K[t]^T V[t]",
    "a decay": "γ S[t-1] + K[t]^T V[t]",
    "a gate": "diag(G[t]) S[t-1] + K[t]^T V[t]",
    "the delta rule": "S[t-1] + β[t] K[t]^T (V[t] - K[t] S[t-1])",
}
_TEXT = """
K : n × d_k;  V : n × d_v;  G : n × d_k
S[t] = {rule}
output O[t,:] = Q[t] S[t]
last Z = S[n]
"""
_GIVEN = {"G": "G[t]", "gamma": "γ", "beta": "β"}


def _chunks(rule: str, cuts: list[int], forget: bool = False) -> np.ndarray:
    """The outputs of five tokens, cut into chunks; each begins with the state of the one before."""
    random = np.random.default_rng(3)
    told = {name: random.standard_normal((5, 2)) for name in ("Q", "K", "V", "G")}
    told |= {"beta": random.standard_normal((5, 1)), "gamma": np.array(0.5)}
    made = derivation(_TEXT.format(rule=rule).replace("G : n × d_k", "G : n × d_k" * ("G" in rule)))
    state, rows = random.standard_normal((2, 2)), []
    for first, last in zip([0, *cuts], [*cuts, 5], strict=True):
        given = {
            name: value if value.ndim == 0 else value[first:last]
            for name, value in told.items()
            if name in "QKV" or _GIVEN[name] in rule
        }
        values = made.evaluate(**given, S_0=state)
        rows.append(values["output"].array)
        state = np.zeros((2, 2)) if forget else values["last"].array
    return np.concatenate(rows)


@pytest.mark.parametrize("cuts", [[1], [2], [1, 3], [1, 2, 3, 4]], ids=str)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_sequence_in_chunks_is_the_sequence_at_once(rule: str, cuts: list[int]) -> None:
    np.testing.assert_allclose(_chunks(rule, cuts), _chunks(rule, []), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_state_that_is_not_handed_on_is_found(rule: str) -> None:
    assert not np.allclose(_chunks(rule, [2], forget=True), _chunks(rule, []))
