"""Norms, gates and biases by themselves, held against PyTorch's own functions; what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError, variant
from tests.extras import package
from tests.positions import turned

torch = package("torch")

N, H, G, D_MODEL, D_K, D_V, EPS = 5, 4, 2, 8, 6, 4, 1e-6
RNG = np.random.default_rng(7)


def numbers(*shape: int) -> Any:
    return RNG.normal(size=shape)


def projections(groups: int = G) -> dict[str, Any]:
    return {
        "X": numbers(N, D_MODEL),
        "W_Q": numbers(H, D_MODEL, D_K),
        "W_K": numbers(groups, D_MODEL, D_K),
        "W_V": numbers(groups, D_MODEL, D_V),
        "W_O": numbers(H * D_V, 3),
    }


def attended(q: Any, k: Any, v: Any, causal: bool = True) -> Any:
    """The heads' outputs by PyTorch, (h, n, d_v)."""
    return torch.nn.functional.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=causal, enable_gqa=True
    )[0]


def rope(x: Any) -> Any:
    """Each head's rows turned, halves of columns paired."""
    return torch.stack([torch.tensor(turned(h.numpy(), 10000, D_K, "half")) for h in x])


def heads(t: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return tuple(t["X"] @ t[f"W_{name}"] for name in "QKV")


def projected(out: Any, t: Mapping[str, Any]) -> Any:
    return torch.cat([*out], -1) @ t["W_O"]


def qwen2(t: Mapping[str, Any]) -> Any:
    q, k, v = (x + t[f"b_{name}"] for name, x in zip("QKV", heads(t), strict=True))
    return projected(attended(rope(q), rope(k), v), t)


def qwen3(t: Mapping[str, Any], plus: int = 0) -> Any:
    q, k, v = heads(t)
    q, k = (
        torch.nn.functional.rms_norm(x, (D_K,), t[f"gain_{name}"][0] + plus, EPS)
        for name, x in (("Q", q), ("K", k))
    )
    return attended(rope(q), rope(k), v)


def olmo(t: Mapping[str, Any]) -> Any:
    q, k, v = heads(t)
    normed = []
    for name, x in (("Q", q), ("K", k)):
        row, gain = torch.cat([*x], -1), torch.cat([*t[f"gain_{name}"]], -1)[0]
        whole = torch.nn.functional.rms_norm(row, row.shape[-1:], gain, EPS)
        normed.append(torch.stack(whole.chunk(len(x), -1)))
    return projected(attended(rope(normed[0]), rope(normed[1]), v), t)


def chameleon(t: Mapping[str, Any]) -> Any:
    q, k, v = heads(t)
    q, k = (
        torch.nn.functional.layer_norm(x, (D_K,), eps=1e-5) * t[f"gain_{name}"] + t[f"shift_{name}"]
        for name, x in (("Q", q), ("K", k))
    )
    return projected(attended(rope(q), rope(k), v), t)


def vit(t: Mapping[str, Any]) -> Any:
    q, k, v = heads(t)
    q, k = (
        torch.nn.functional.layer_norm(x, (D_K,), t[f"gain_{name}"][0], eps=EPS)
        for name, x in (("Q", q), ("K", k))
    )
    return projected(attended(q, k, v, causal=False), t)


def gated_heads(t: Mapping[str, Any]) -> Any:
    return projected(attended(*heads(t)) * torch.sigmoid(t["X"] @ t["W_G"]), t)


def qwen3_next(t: Mapping[str, Any]) -> Any:
    return projected(qwen3(t, plus=1) * torch.sigmoid(t["X"] @ t["W_G"]), t)


def sub_norm(t: Mapping[str, Any]) -> Any:
    row = torch.cat([*attended(*heads(t))], -1)
    return torch.nn.functional.layer_norm(row, row.shape[-1:], t["gain_concat"][0]) @ t["W_O"]


def unit_vectors(t: Mapping[str, Any]) -> Any:
    q, k, v = heads(t)
    q, k = (torch.nn.functional.normalize(rope(x), dim=-1) for x in (q, k))
    return projected(torch.nn.functional.silu(t["X"] @ t["W_G"] + t["b_G"]) * attended(q, k, v), t)


GAINS = {"gain_Q": (1, D_K), "gain_K": (1, D_K)}
OF_HEADS = {"gain_Q": (H, 1, D_K), "gain_K": (G, 1, D_K)}
SHIFTS = {"shift_Q": (H, 1, D_K), "shift_K": (G, 1, D_K)}
GATE = {"W_G": (H, D_MODEL, D_V)}
HEADS: dict[str, Any] = {"source": "self", "heads": H, "kv_heads": G, "mask": "causal"}

#: What attention, what is given beside the projections, and what PyTorch computes.
CASES: Mapping[str, tuple[Any, Mapping[str, tuple[int, ...]], Callable[..., Any]]] = {
    "qwen2": ("qwen2", {"b_Q": (H, 1, D_K), "b_K": (G, 1, D_K), "b_V": (G, 1, D_V)}, qwen2),
    "qwen3": ("qwen3", GAINS, lambda t: projected(qwen3(t), t)),
    "gemma-3": ("gemma-3", GAINS, lambda t: projected(qwen3(t, plus=1), t)),
    "olmo-2": ("olmo-2", OF_HEADS, olmo),
    "chameleon": ("chameleon", {**OF_HEADS, **SHIFTS}, chameleon),
    "vit-22b": ("vit-22b", GAINS, vit),
    "gated-heads": ("gated-heads", {"W_G": (H, D_MODEL, 1)}, gated_heads),
    "qwen3-next": ("qwen3-next", {**GAINS, **GATE}, qwen3_next),
    "a norm before the last projection": (
        {"norm": {"concat": {"layer": {"eps": "1e-5"}}}},
        {"gain_concat": (1, H * D_V)},
        sub_norm,
    ),
    "unit vectors and a SiLU gate": (
        {
            "norm": {"l2": {"rotated": True}},
            "positions": {"rotary": {"pairing": "half"}},
            "output_gate": "silu",
            "projection_bias": ["G"],
        },
        {**GATE, "b_G": (H, 1, D_V)},
        unit_vectors,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pytorch_computes_the_same(name: str) -> None:
    said, shapes, of = CASES[name]
    one = name in ("vit-22b", "gated-heads")  # these have no groups
    given = {**projections(H if one else G), **{k: numbers(*shape) for k, shape in shapes.items()}}
    if name == "vit-22b":
        given["gain_K"] = numbers(1, D_K)
    spec = (
        Attention(**{**variant(said).choices, "heads": H, "kv_heads": None if one else G})
        if isinstance(said, str)
        else Attention(**{**HEADS, **said})
    )
    got = spec.derivation([*given]).evaluate(**given)["projected"].array
    want = of({key: torch.tensor(value) for key, value in given.items()})
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-10, atol=1e-12)


def test_a_given_gain_or_shift_or_gate_is_applied() -> None:
    spec = Attention(norm={"Q": "rms", "latent": "layer"}, latent=True)
    given = {"X", "W_Q", "W_D", "W_K", "W_V", "gain_Q", "shift_latent", "W_G", "b_K"}
    steps = {step.name: str(step) for step in spec.derivation(given)}
    assert steps["Q_normed"] == "Q_norm = RMSNorm(Q) diag(α_Q)"
    assert steps["latent_normed"] == "C_KVnorm = LayerNorm(C_KV) + 1 b_CKVnorm"
    assert steps["K"] == "K = C_KVnorm W_K + 1 b_K" and steps["V"] == "V = C_KVnorm W_V"
    assert steps["gate"] == "G_O = σ(Z_G)"


def test_what_names_no_step_is_of_queries_and_keys() -> None:
    one = {"rms": {"eps": "1/8"}}
    assert Attention(norm=one) == Attention(norm={"Q": one, "K": one})
    assert Attention(norm="l2").norm == (
        ("Q", ("l2", (("eps", 0),))),
        ("K", ("l2", (("eps", 0),))),
    )


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"norm": "batch"}, 'norm = "batch": there is none; known: rms, layer, l2'),
        ({"norm": {"scores": "rms"}}, 'norm = "scores": there is none; known: Q_latent, Q, '),
        (
            {"norm": {"rms": {"epsilon": 1}}},
            'norm: rms has no option "epsilon"; did you mean "eps"',
        ),
        ({"norm": {"rms": {"eps": -1}}}, r"norm: Q: eps = -1: give a number from 0"),
        ({"norm": {"V": {"rms": {"rotated": True}}}}, "norm: V: rotated = true: choose false"),
        ({"norm": {"rms": {"rotated": True}}}, "norm: Q: nothing is rotated here"),
        ({"norm": {"rms": {"joined": True}}}, "norm: Q: there is one head"),
        ({"norm": {"latent": "rms"}}, "norm: latent: there is none; use latent = true"),
        ({"norm": {"concat": "rms"}}, "norm: concat: no heads are concatenated here"),
        ({"source": "bare", "norm": "rms"}, "norm: Q: bare vectors are not projected"),
        (
            {"source": "self", "latent": "absorbed", "norm": {"K": "rms"}},
            "norm: K: a norm stands between",
        ),
        ({"source": "given", "output_gate": "silu"}, "output_gate: the gate is projected from X"),
        ({"output_gate": {"silu": {"headwise": 1}}}, "output_gate: headwise = 1: choose true"),
        ({"source": "self", "projection_bias": ["O"]}, "projection_bias: O is not made"),
        ({"projection_bias": ["W"]}, 'projection_bias = "W": there is none; known: Q, K, V'),
        ({"projection_bias": "Q"}, 'projection_bias = "Q": choose true or false, or list'),
    ],
)
def test_what_has_no_meaning_is_refused(choices: dict[str, Any], reason: str) -> None:
    with pytest.raises(SymattnError) as refused:
        Attention(**choices).derivation()
    assert str(refused.value).startswith(reason)
