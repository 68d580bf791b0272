"""Latent attention, relative scores and set pooling, held against their papers' equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, SymattnError, text, variant
from symattn.attention.example import small_example
from symattn.nodes.relative import ClippedShift, RelativeShift
from tests.extras import package

RNG = np.random.default_rng(3)
N, HEADS, D, DC, DCQ, DK, DR, DV = 4, 2, 4, 3, 3, 2, 4, 2


def numbers(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape) / 2.0


def weights() -> dict[str, Any]:
    """Small weights for every part of DeepSeek-V2's attention."""
    return {
        "X": numbers(N, D),
        "W_DQ": numbers(D, DCQ),
        "W_Q": numbers(HEADS, DCQ, DK),
        "W_D": numbers(D, DC),
        "W_K": numbers(HEADS, DC, DK),
        "W_V": numbers(HEADS, DC, DV),
        "W_QR": numbers(HEADS, DCQ, DR),
        "W_KR": numbers(D, DR),
        "W_O": numbers(HEADS * DV, D),
    }


def deepseek(given: dict[str, Any]) -> Any:
    """DeepSeek-V2, equations 9 to 19, a token at a time; its columns are our rows."""
    torch = package("torch")
    w = {
        name: torch.tensor(np.asarray(value), dtype=torch.float64) for name, value in given.items()
    }

    def rope(x: Any, position: int) -> Any:
        pairs = torch.view_as_complex(x.reshape(-1, 2).contiguous())
        angles = position * 10000.0 ** (-torch.arange(len(pairs), dtype=torch.float64) * 2 / len(x))
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).reshape(-1)

    out = []
    for t, h in enumerate(w["X"]):
        c_q, heads = h @ w["W_DQ"], []
        for i in range(HEADS):
            q = torch.cat([c_q @ w["W_Q"][i], rope(c_q @ w["W_QR"][i], t)])
            scores, values = [], []
            for j in range(t + 1):
                c_kv = w["X"][j] @ w["W_D"]
                k = torch.cat([c_kv @ w["W_K"][i], rope(w["X"][j] @ w["W_KR"], j)])
                scores.append(q @ k / (DK + DR) ** 0.5)
                values.append(c_kv @ w["W_V"][i])
            heads.append(torch.softmax(torch.stack(scores), 0) @ torch.stack(values))
        out.append(torch.cat(heads) @ w["W_O"])
    return torch.stack(out).numpy()


def spec(latent: Any = True, **axes: Any) -> Attention:
    usual: dict[str, Any] = {"query_latent": True, "positions": {"rotary": {"decoupled": True}}}
    return Attention(
        source="self",
        heads=HEADS,
        latent=latent,
        mask="causal",
        output_projection=True,
        **(usual | axes),
    )


@pytest.mark.parametrize("latent", [True, "absorbed"])
def test_deepseek_is_what_its_equations_say(latent: Any) -> None:
    given = weights()
    values = spec(latent).derivation().evaluate(**given)
    np.testing.assert_allclose(values["projected"].array, deepseek(given), rtol=1e-12, atol=1e-12)
    assert values.check().agrees
    wrong = given | {"W_KR": -given["W_KR"]}
    assert not np.allclose(values["projected"].array, deepseek(wrong))


def test_the_absorbed_form_is_the_plain_one_exactly() -> None:
    given = {k: v for k, v in weights().items() if k not in ("W_DQ", "W_QR", "W_KR")}
    given["W_Q"] = numbers(HEADS, D, DK)
    axes = {"query_latent": False, "positions": None, "normaliser": "none"}
    plain, absorbed = (
        spec(latent, **axes).derivation().evaluate(**given) for latent in (True, "absorbed")
    )
    for name in ("scores", "scaled", "weights", "heads", "projected"):
        assert plain[name].exact == absorbed[name].exact, name
    assert "K" not in absorbed and "V" not in absorbed


def test_the_latent_and_one_turned_key_are_the_whole_cache() -> None:
    given = weights()
    whole = spec("absorbed").derivation().evaluate(**given)
    past = {
        "latent_past": whole["latent"].array[:3],
        "K_position_past": whole["K_position"].array[:3],
    }
    derivation = spec("absorbed", cache=True).derivation()
    assert {item.name for item in derivation.inputs if item.name.endswith("_past")} == set(past)
    last = derivation.evaluate(**(given | past | {"X": given["X"][3:]}))
    np.testing.assert_allclose(
        last["projected"].array, whole["projected"].array[3:], rtol=1e-12, atol=1e-12
    )


def test_the_absorbed_form_reads_as_it_should() -> None:
    derivation = Attention(source="self", heads="h", latent="absorbed").derivation()
    names = ("Q_absorbed", "scores", "latent_output", "heads")
    assert [str(derivation[name]) for name in names] == [
        "Q_L⁽ʰ⁾ = Q⁽ʰ⁾ W_K⁽ʰ⁾ᵀ",
        "S⁽ʰ⁾ = Q_L⁽ʰ⁾ C_KVᵀ",
        "O_L⁽ʰ⁾ = A⁽ʰ⁾ C_KV",
        "O⁽ʰ⁾ = O_L⁽ʰ⁾ W_V⁽ʰ⁾",
    ]
    scaled = spec().derivation()["scaled"]
    assert str(scaled) == "Z⁽ʰ⁾ = S⁽ʰ⁾/√(d_k + d_r)"


@pytest.mark.parametrize(
    ("axes", "why"),
    [
        ({"positions": "rotary"}, "decoupled = true"),
        ({"score": "cosine"}, "plain dot product"),
        ({"score": "transformer-xl"}, "plain dot product"),
        ({"feature_map": "relu"}, "plain dot product"),
        ({"tie": "query-key"}, "no projection matrix to absorb"),
        ({"projection_bias": True}, "a bias cannot be"),
        ({"source": "given"}, "projected from X"),
    ],
)
def test_what_cannot_be_absorbed_is_refused(axes: dict[str, Any], why: str) -> None:
    with pytest.raises(SymattnError, match=why):
        Attention(**({"source": "self", "latent": "absorbed"} | axes))


def test_a_bias_that_is_given_is_not_dropped() -> None:
    names = ["X", "W_Q", "W_D", "W_K", "W_V", "b_K"]
    with pytest.raises(SymattnError, match="a bias cannot be"):
        Attention(source="self", latent="absorbed").derivation(given=names)


@pytest.mark.parametrize("wrong", ["absorb", 1, None])
def test_an_unknown_latent_is_refused(wrong: Any) -> None:
    with pytest.raises(SymattnError, match="latent"):
        Attention(source="self", latent=wrong)


def test_transformer_xl_is_its_four_terms() -> None:
    """Dai et al., section 3.3 as written, and the shift of appendix B by padding and reshaping."""
    torch = package("torch")
    given = {
        "X": numbers(N, D),
        "W_Q": numbers(D, DK),
        "W_K": numbers(D, DK),
        "W_V": numbers(D, DV),
        "W_R": numbers(D, DK),
        "u_c": numbers(1, DK),
        "v_d": numbers(1, DK),
    }
    spec = Attention(source="self", score="transformer-xl", mask="causal")
    values = spec.derivation().evaluate(**given)
    w = {name: torch.tensor(value) for name, value in given.items()}
    q, k, v = w["X"] @ w["W_Q"], w["X"] @ w["W_K"], w["X"] @ w["W_V"]
    far = torch.arange(N - 1, -N, -1.0, dtype=torch.float64)  # as in the appendix: far ones first
    rates = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    waves = torch.stack([torch.sin(far[:, None] * rates), torch.cos(far[:, None] * rates)], -1)
    r = waves.reshape(len(far), D) @ w["W_R"]
    content, distance = (q + w["u_c"]) @ k.T, (q + w["v_d"]) @ r.T
    padded = torch.cat([torch.zeros(N, 1, dtype=torch.float64), distance], 1)
    shifted = padded.reshape(2 * N, N)[1:].reshape(N, 2 * N - 1)[:, :N]
    scores = content + shifted
    np.testing.assert_allclose(values["scores"].array, scores.numpy(), rtol=1e-12, atol=1e-12)
    hidden = torch.triu(torch.ones(N, N, dtype=torch.bool), 1)
    weighed = torch.softmax((scores / DK**0.5).masked_fill(hidden, -torch.inf), 1)
    np.testing.assert_allclose(values["output"].array, (weighed @ v).numpy(), rtol=1e-12)
    assert values.check().agrees
    dropped = content + shifted - (w["v_d"] @ r.T).reshape(-1)[N - 1]
    assert not np.allclose(values["scores"].array, dropped.numpy())


@pytest.mark.parametrize("reach", [1, 2, 5])
def test_shaw_adds_a_key_for_each_clipped_distance(reach: int) -> None:
    torch = package("torch")
    given = {"Q": numbers(N, DK), "K": numbers(N + 1, DK), "V": numbers(N + 1, DV)}
    given["distance_keys"] = numbers(2 * reach + 1, DK)
    values = Attention(score="shaw").derivation().evaluate(**given)
    w = {name: torch.tensor(value) for name, value in given.items()}
    ahead = torch.arange(N + 1)[None, :] - torch.arange(N)[:, None]
    added = w["distance_keys"][ahead.clamp(-reach, reach) + reach]  # n × m × d
    scores = torch.einsum("ik,ijk->ij", w["Q"], w["K"][None] + added)
    np.testing.assert_allclose(values["scores"].array, scores.numpy(), rtol=1e-12)
    assert values.check().agrees


def test_an_even_number_of_distances_is_refused() -> None:
    given = {"Q": numbers(2, 2), "K": numbers(2, 2), "V": numbers(2, 2)}
    with pytest.raises(
        SymattnError, match=r"distance_keys: 4 rows or columns are not 2\*n_clip \+ 1"
    ):
        Attention(score="shaw").derivation().evaluate(**given, distance_keys=numbers(4, 2))
    with pytest.raises(SymattnError, match="odd number"):
        ClippedShift(sympy.MatrixSymbol("B", 3, 4), 3)
    with pytest.raises(SymattnError, match="have 5 distances, not 6"):
        RelativeShift(sympy.MatrixSymbol("B", 3, 6), 3)


def test_a_shaw_entry_says_where_distances_are_clipped() -> None:
    entry = text(Attention(score="shaw").derivation()["scores"].entry())
    assert "if j ≤ i − n_clip" in entry and "if j ≤ i + n_clip − 1" in entry


def test_set_pooling_does_not_see_the_order() -> None:
    whole, values = small_example(variant("set-pooling").spec)
    given = {item.name: values.array(item.letter) for item in whole.inputs}
    turned = whole.evaluate(**(given | {"memory": given["memory"][::-1]}))
    np.testing.assert_allclose(
        turned["projected"].array, values["projected"].array, rtol=1e-12, atol=1e-12
    )
    assert not np.allclose(turned["weights"].array, values["weights"].array)
