"""What a capture has not seen is said: models that are written out in part, and those that are not.

Whether tokens are mixed is judged by an oracle of its own: the numbers of one token are changed.
"""
# ruff: noqa: E402

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.extras import package

package("torch")  # or this file is skipped

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention

import symattn
from symattn.capturing import Captured, PartialCapture
from symattn.errors import SymattnError
from symattn.status import Status

N, D, H = 6, 8, 2

Mixing = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


class Layer(nn.Module):
    """Projections around some way to mix tokens, called by no telling name."""

    def __init__(self, mixing: Mixing, heads: int = 1) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.norm = nn.LayerNorm(D)
        self.mixing, self.heads = mixing, heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        q, k, v = self.q(y), self.k(y), self.v(y)
        if self.heads > 1:
            q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        mixed = self.mixing(q, k, v)
        if self.heads > 1:
            mixed = mixed.transpose(1, 2).flatten(-2)
        return torch.as_tensor(x + self.o(mixed))


def captured_layer() -> Layer:
    return Layer(scaled_dot_product_attention, heads=H)


def scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def by_torch(q, k, v):  # type: ignore[no-untyped-def]
    return torch.softmax(scores(q, k), -1) @ v


def by_function(q, k, v):  # type: ignore[no-untyped-def]
    return torch.matmul(functional.softmax(scores(q, k), dim=-1), v)


def by_method(q, k, v):  # type: ignore[no-untyped-def]
    return torch.bmm(scores(q, k).softmax(-1), v)


def by_hand(q, k, v):  # type: ignore[no-untyped-def]
    raised = (s := scores(q, k)).sub(s.amax(-1, keepdim=True)).exp()
    return (raised / raised.sum(-1, keepdim=True)) @ v


def by_logarithm(q, k, v):  # type: ignore[no-untyped-def]
    return functional.log_softmax(scores(q, k), -1).exp() @ v


def by_logsumexp(q, k, v):  # type: ignore[no-untyped-def]
    s = scores(q, k)
    return (s - s.logsumexp(-1, keepdim=True)).exp() @ v


def by_einsum(q, k, v):  # type: ignore[no-untyped-def]
    weights = torch.einsum("bid,bjd->bij", q, k).softmax(-1)
    return torch.einsum("bij,bjd->bid", weights, v)


def by_masked_einsum(q, k, v):  # type: ignore[no-untyped-def]
    weights = torch.einsum("bhid,bhjd->bhij", q, k)
    weights = weights.masked_fill(torch.ones(N, N, dtype=torch.bool).triu(1), -1e9).softmax(-1)
    return torch.einsum("bhij,bhjd->bhid", functional.dropout(weights, 0.1, False), v)


def by_broadcasting(q, k, v):  # type: ignore[no-untyped-def]
    weights = (q[:, :, None] * k[:, None]).sum(-1).softmax(-1)
    return (weights[..., None] * v[:, None]).sum(-2)


def by_loops(q, k, v):  # type: ignore[no-untyped-def]
    rows = []
    for b in range(q.shape[0]):
        for i in range(N):
            row = torch.stack([q[b, i] @ k[b, j] for j in range(N)]).softmax(0)
            rows.append(sum(row[j] * v[b, j] for j in range(N)))
    return torch.stack(rows).reshape(q.shape)


def by_blocks(q, k, v):  # type: ignore[no-untyped-def]
    """The rescaled sums of FlashAttention."""
    most = q.new_full((*q.shape[:-1], 1), -math.inf)
    total, out = torch.zeros_like(most), torch.zeros_like(q)
    for keys, values in zip(k.split(2, -2), v.split(2, -2), strict=True):
        s = scores(q, keys)
        new = torch.maximum(most, s.amax(-1, keepdim=True))
        raised, kept = (s - new).exp(), (most - new).exp()
        total, out, most = (
            total * kept + raised.sum(-1, keepdim=True),
            out * kept + raised @ values,
            new,
        )
    return out / total


def written(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) / 2.0, -1) @ v


def by_script(q, k, v):  # type: ignore[no-untyped-def]
    return torch.jit.script(written)(q, k, v)


def by_compiling(q, k, v):  # type: ignore[no-untyped-def]
    return torch.compile(by_torch, backend="eager")(q, k, v)


def by_flex(q, k, v):  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return flex_attention(q, k, v)


class Hidden(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(by_hand(q, k, v))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients * 3


def by_numpy(q, k, v):  # type: ignore[no-untyped-def]
    q, k, v = (part.detach().numpy() for part in (q, k, v))
    import numpy as np

    raised = np.exp(q @ k.swapaxes(-1, -2))
    return torch.from_numpy(raised / raised.sum(-1, keepdims=True) @ v)


def by_feature_map(q, k, v):  # type: ignore[no-untyped-def]
    q, k = functional.elu(q) + 1, functional.elu(k) + 1
    return q @ (k.transpose(-2, -1) @ v) / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)


def by_causal_feature_map(q, k, v):  # type: ignore[no-untyped-def]
    state = (k[..., :, None] * v[..., None, :]).cumsum(1)
    return (q[..., None, :] @ state)[..., 0, :]


def by_relu(q, k, v):  # type: ignore[no-untyped-def]
    return scores(q, k).relu() @ v / N


def by_retention(q, k, v):  # type: ignore[no-untyped-def]
    away = torch.arange(N)[:, None] - torch.arange(N)
    return (q @ k.mT * torch.where(away >= 0, 0.9**away, 0.0)) @ v


def by_distance(q, k, v):  # type: ignore[no-untyped-def]
    return (-torch.cdist(q, k)).softmax(-1) @ v


def by_delta_rule(q, k, v):  # type: ignore[no-untyped-def]
    state, rows = q.new_zeros(q.shape[0], D, D), []
    for t in range(N):
        wrong = v[:, t] - torch.einsum("bvk,bk->bv", state, k[:, t])
        state = state + torch.einsum("bv,bk->bvk", wrong, k[:, t])
        rows.append(torch.einsum("bvk,bk->bv", state, q[:, t]))
    return torch.stack(rows, 1)


def by_selective_scan(q, k, v):  # type: ignore[no-untyped-def]
    """Mamba's reference: h = exp(Δ A) h + Δ B x, y = C h."""
    step = functional.softplus(q)
    decays = torch.exp(step[..., None] * -torch.arange(1.0, D + 1))
    inputs = (step * v)[..., None] * k[:, :, None]
    state, rows = torch.zeros_like(inputs[:, 0]), []
    for t in range(N):
        state = decays[:, t] * state + inputs[:, t]
        rows.append((state * k[:, t, None]).sum(-1))
    return torch.stack(rows, 1)


def by_diagonal_recurrence(q, k, v):  # type: ignore[no-untyped-def]
    state, rows = torch.zeros_like(v[:, 0]), []
    for gate, value in zip(q.sigmoid().unbind(1), v.unbind(1), strict=True):
        state = gate * state + (1 - gate) * value
        rows.append(state)
    return torch.stack(rows, 1)


def by_time_mixing(q, k, v):  # type: ignore[no-untyped-def]
    """RWKV's sums, over steps along the second axis of a transposed tensor."""
    above, below, out = 0.0, 0.0, torch.empty_like(v)
    for t in range(N):
        raised = k[:, t : t + 1].exp()
        above, below = 0.9 * above + raised * v[:, t : t + 1], 0.9 * below + raised
        out[:, t : t + 1] = q[:, t : t + 1].sigmoid() * above / below
    return out


def by_cumulative_sum(q, k, v):  # type: ignore[no-untyped-def]
    return q.sigmoid() * (k.exp() * v).cumsum(1) / k.exp().cumsum(1)


def by_fourier(q, k, v):  # type: ignore[no-untyped-def]
    return torch.fft.fft(v, dim=1).real


MIXING: dict[str, tuple[Mixing, int]] = {
    "torch.softmax": (by_torch, 1),
    "F.softmax": (by_function, 2),
    "Tensor.softmax": (by_method, 1),
    "exp over its sum": (by_hand, 1),
    "log_softmax": (by_logarithm, 2),
    "logsumexp": (by_logsumexp, 1),
    "einsum": (by_einsum, 1),
    "einsum, masked": (by_masked_einsum, 2),
    "broadcasting": (by_broadcasting, 1),
    "loops": (by_loops, 1),
    "blocks": (by_blocks, 2),
    "scripted": (by_script, 1),
    "compiled": (by_compiling, 1),
    "flex_attention": (by_flex, 2),
    "autograd.Function": (Hidden.apply, 1),
    "NumPy": (by_numpy, 1),
    "linear": (by_feature_map, 1),
    "linear, causal": (by_causal_feature_map, 1),
    "ReLU": (by_relu, 2),
    "retention": (by_retention, 1),
    "distances": (by_distance, 1),
    "delta rule": (by_delta_rule, 1),
    "selective scan": (by_selective_scan, 1),
    "diagonal recurrence": (by_diagonal_recurrence, 1),
    "RWKV": (by_time_mixing, 1),
    "sums so far": (by_cumulative_sum, 1),
    "Fourier": (by_fourier, 1),
}


class Classifier(nn.Module):
    """Layers, their mean or first token, and probabilities of classes."""

    def __init__(self, *layers: nn.Module, first: bool = False) -> None:
        super().__init__()
        self.embedding, self.places = nn.Embedding(11, D), nn.Parameter(torch.randn(N, D))
        self.layers, self.head, self.first = nn.ModuleList(layers), nn.Linear(D, 5), first

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens) + self.places
        for layer in self.layers:
            x = layer(x)
        return torch.softmax(self.head(x[:, 0] if self.first else x.mean(1)), -1)


class Router(nn.Module):
    """A mixture of experts, by one of the usual ways to compute it."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.gate = nn.Linear(D, 4, bias=False)
        self.experts = nn.ModuleList(nn.Linear(D, D) for _ in range(4))
        self.up = nn.Parameter(torch.randn(4, D, 3))
        self.down = nn.Parameter(torch.randn(4, 3, D))
        self.way = way

    def forward(self, whole: torch.Tensor) -> torch.Tensor:
        x = whole.flatten(0, 1)
        gates = functional.softmax(self.gate(x).float(), dim=-1)
        match self.way:
            case "einsum":
                each = torch.stack([expert(x) for expert in self.experts], 1)
                out = torch.einsum("te,ted->td", gates, each)
            case "sum":
                each = torch.stack([expert(x) for expert in self.experts], 1)
                out = (gates[..., None] * each).sum(1)
            case "loop":
                out = torch.zeros_like(x)
                for number, expert in enumerate(self.experts):
                    out = out + gates[:, number : number + 1] * expert(x)
            case "top":
                chosen, which = gates.topk(3, -1)
                chosen = chosen / chosen.sum(-1, keepdim=True)
                out = torch.zeros_like(x)
                for number, expert in enumerate(self.experts):
                    rows, place = torch.where(which == number)
                    out.index_add_(0, rows, expert(x[rows]) * chosen[rows, place, None])
            case "gathered":
                chosen, which = gates.topk(2, -1)
                each = torch.einsum("td,tkdf->tkf", x, self.up[which])
                each = torch.einsum("tkf,tkfd->tkd", functional.silu(each), self.down[which])
                out = torch.einsum("tkd,tk->td", each, chosen)
            case _:
                chosen = functional.one_hot(gates.argmax(-1), 4) * gates
                sent = torch.einsum("te,td->etd", functional.one_hot(gates.argmax(-1), 4) * 1.0, x)
                each = torch.bmm(torch.bmm(sent, self.up).relu(), self.down)
                out = torch.einsum("te,etd->td", chosen, each)
        return whole + out.reshape(whole.shape)


class RMS(nn.Module):
    def __init__(self, by: str = "pow") -> None:
        super().__init__()
        self.weight, self.by = nn.Parameter(torch.ones(D)), by

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        square = x.pow(2) if self.by == "pow" else x * x
        return torch.as_tensor(
            self.weight * (x * torch.rsqrt(square.mean(-1, keepdim=True) + 1e-6))
        )


class Rotated(nn.Module):
    """A Llama layer: rotary positions, RMS norms before and after, grouped heads and SwiGLU."""

    def __init__(self, by: str = "pow") -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, D // H), nn.Linear(D, D // H)
        self.o, self.up, self.gate, self.down = (nn.Linear(D, D) for _ in range(4))
        self.before, self.after, self.norm, self.last = (RMS(by) for _ in range(4))
        self.register_buffer("frequency", 100.0 ** -torch.arange(0, 1, 0.5))

    def rotated(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        frequency: Any = self.frequency
        angles = (frequency[None, :, None] @ places[:, None, :].float()).transpose(1, 2)
        cos, sin = (torch.cat([part, part], -1)[:, None] for part in (angles.cos(), angles.sin()))
        one, other = x.chunk(2, -1)
        return x * cos + torch.cat([-other, one], -1) * sin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, places = self.before(x), torch.arange(x.shape[1])[None]
        q, k, v = (
            made.unflatten(-1, (-1, D // H)).transpose(1, 2)
            for made in (self.q(y), self.k(y), self.v(y))
        )
        mixed = scaled_dot_product_attention(
            self.rotated(q, places), self.rotated(k, places), v, is_causal=True, enable_gqa=True
        )
        x = x + self.after(self.o(mixed.transpose(1, 2).flatten(-2)))
        y = self.norm(x)
        return x + self.last(self.down(functional.silu(self.gate(y)) * self.up(y)))


def tokens() -> torch.Tensor:
    return torch.arange(2 * N).reshape(2, N) % 11


WHOLE: dict[str, Callable[[], nn.Module]] = {
    "one layer": captured_layer,
    "a classifier": lambda: Classifier(captured_layer(), captured_layer()),
    "of the first token": lambda: Classifier(captured_layer(), first=True),
    **{
        f"experts, {way}": lambda way=way: Classifier(
            captured_layer(), Router(way), captured_layer()
        )
        for way in ("einsum", "sum", "loop", "top", "gathered", "sent")
    },
    "Llama's": lambda: Classifier(Rotated(), Rotated()),
    "Llama's, squared by hand": lambda: Classifier(Rotated("mul"), Rotated("mul")),
    "PyTorch's": lambda: Classifier(
        nn.TransformerEncoder(
            nn.TransformerEncoderLayer(D, H, batch_first=True), 2, enable_nested_tensor=False
        )
    ),
}


def run(model: nn.Module, *inputs: torch.Tensor) -> Captured:
    """A capture of one run; what is said of it must be what it knows."""
    inputs = inputs or (numbers(2, N, D),)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PartialCapture)
        with symattn.capture(model.eval()) as calls, torch.no_grad():
            model(*inputs)
    said = [str(one.message) for one in told if one.category is PartialCapture]
    assert len(said) == bool(calls.missed)
    assert all(one.name in said[0] for one in calls.missed)
    return calls


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7))


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("name", MIXING)
def test_a_layer_that_is_written_out_beside_a_captured_one_is_said(name: str) -> None:
    torch.manual_seed(1)
    mixing, heads = MIXING[name]
    layer = Layer(mixing, heads).eval()
    other = (x := numbers(2, N, D)).clone()
    other[:, 0, 0] += 1
    with torch.no_grad():
        mixed = not torch.allclose(layer(x)[:, -1], layer(other)[:, -1])
    assert mixed
    model = nn.Sequential(captured_layer(), layer, captured_layer())
    calls = run(model)
    assert [call.name for call in calls] == ["0", "2"]
    assert [one.name for one in calls.missed] == ["1"]
    assert calls.status == Status.UNSETTLED


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_is_said_of_a_model_that_is_captured_whole(name: str) -> None:
    torch.manual_seed(1)
    model = WHOLE[name]()
    calls = run(model, *([tokens()] if isinstance(model, Classifier) else []))
    assert calls.missed == ()
    assert calls.status == Status.AGREES
