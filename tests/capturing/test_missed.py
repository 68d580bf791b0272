"""What a capture has not seen is said: models that are written out in part, and those that are not.

Whether tokens are mixed is judged by an oracle of its own: the numbers of one token are changed.
"""
# ruff: noqa: E402
# mypy: allow-untyped-calls, disable-error-code="no-any-return, misc"

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


def by_hand(q, k, v):  # type: ignore[no-untyped-def]
    raised = (s := scores(q, k)).sub(s.amax(-1, keepdim=True)).exp()
    return (raised / raised.sum(-1, keepdim=True)) @ v


def by_broadcasting(q, k, v):  # type: ignore[no-untyped-def]
    weights = (q[:, :, None] * k[:, None]).sum(-1).softmax(-1)
    return (weights[..., None] * v[:, None]).sum(-2)


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


def by_distance(q, k, v):  # type: ignore[no-untyped-def]
    return (-torch.cdist(q, k)).softmax(-1) @ v


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


class Additive(nn.Module):
    """Bahdanau's scores: v · tanh(q + k)."""

    def __init__(self) -> None:
        super().__init__()
        self.vector = nn.Linear(D, 1)

    def forward(self, q, k, v):  # type: ignore[no-untyped-def]
        return self.vector(torch.tanh(q[:, :, None] + k[:, None])).squeeze(-1).softmax(-1) @ v


class Graph(nn.Module):
    """GAT on a whole graph: a softmax over edges, by scattering."""

    def __init__(self) -> None:
        super().__init__()
        self.vector = nn.Linear(2 * D, 1)

    def forward(self, q, k, v):  # type: ignore[no-untyped-def]
        to, source = torch.meshgrid(torch.arange(N), torch.arange(N), indexing="ij")
        to, source, rows = to.flatten(), source.flatten(), []
        for one, other, value in zip(q, k, v, strict=True):
            logits = self.vector(torch.cat([one[to], other[source]], -1)).squeeze(-1)
            raised = functional.leaky_relu(logits).exp()
            total = torch.zeros(N).index_add(0, to, raised)
            weights = raised / total[to]
            rows.append(torch.zeros(N, D).index_add(0, to, weights[:, None] * value[source]))
        return torch.stack(rows)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = nn.LSTM(D, D)

    def forward(self, q, k, v):  # type: ignore[no-untyped-def]
        return self.part(v.transpose(0, 1))[0].transpose(0, 1)


class Convolved(nn.Module):
    """Hyena's and LFM2's: a convolution along the tokens between two gates."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(D, D, N, groups=D, padding=N - 1)

    def forward(self, q, k, v):  # type: ignore[no-untyped-def]
        return q * self.conv((k * v).transpose(1, 2))[..., :N].transpose(1, 2)


def by_vmap(q, k, v):  # type: ignore[no-untyped-def]
    return torch.vmap(torch.vmap(by_torch))(q, k, v)


def by_addition(q, k, v):  # type: ignore[no-untyped-def]
    """Products into a tensor that is there already, as Megatron makes them."""
    s = torch.baddbmm(torch.empty(2, N, N), q, k.mT, beta=0.0, alpha=D**-0.5)
    return torch.bmm(functional.softmax(s, -1, dtype=torch.float64).to(v.dtype), v)


def by_a_native_layer(q, k, v):  # type: ignore[no-untyped-def]
    layer: Any = nn.MultiheadAttention(D, H, batch_first=True).eval()
    return torch._native_multi_head_attention(
        v, v, v, D, H, layer.in_proj_weight, layer.in_proj_bias,
        layer.out_proj.weight, layer.out_proj.bias, None, False,
    )[0]  # fmt: skip


@torch.library.custom_op("symattn_tests::mixing", mutates_args=())
def of_another_library(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    import numpy as np

    raised = np.exp(q.numpy() @ k.numpy().swapaxes(-1, -2))
    return torch.from_numpy(raised / raised.sum(-1, keepdims=True) @ v.numpy())


torch.manual_seed(5)  # what mixes has random weights: relu of all scores may be 0
MIXING: dict[str, tuple[Mixing, int]] = {
    "torch.softmax": (by_torch, 2),
    "broadcasting": (by_broadcasting, 1),
    "scripted": (by_script, 1),
    "compiled": (by_compiling, 1),
    "flex_attention": (by_flex, 2),
    "autograd.Function": (Hidden.apply, 1),
    "NumPy": (by_numpy, 1),
    "linear": (by_feature_map, 1),
    "distances": (by_distance, 1),
    "RWKV": (by_time_mixing, 1),
    "sums so far": (by_cumulative_sum, 1),
    "Fourier": (by_fourier, 1),
    "additive": (Additive(), 1),
    "graph": (Graph(), 1),
    "LSTM": (Recurrent(), 1),
    "gated convolution": (Convolved(), 1),
    "vmap": (by_vmap, 2),
    "baddbmm": (by_addition, 1),
    "native layer": (by_a_native_layer, 1),
    "another library": (of_another_library, 1),
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
            case _:
                chosen, which = gates.topk(2, -1)
                each = torch.einsum("td,tkdf->tkf", x, self.up[which])
                each = torch.einsum("tkf,tkfd->tkd", functional.silu(each), self.down[which])
                out = torch.einsum("tkd,tk->td", each, chosen)
        return whole + out.reshape(whole.shape)


class RMS(nn.Module):
    """Squared by hand, by a product of activations that is none."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
        return torch.as_tensor(self.weight * (x * size))


class Rotated(nn.Module):
    """A Llama layer: rotary positions, RMS norms before and after, grouped heads and SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, D // H), nn.Linear(D, D // H)
        self.o, self.up, self.gate, self.down = (nn.Linear(D, D) for _ in range(4))
        self.before, self.after, self.norm, self.last = (RMS() for _ in range(4))
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


class Seen(nn.Module):
    """A picture: convolutions, squeeze and excitation, normalisation of groups, then a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.squeeze, self.excite = (
            nn.Conv2d(3, D, 3, 2, 1),
            nn.Conv2d(D, 2, 1),
            nn.Conv2d(2, D, 1),
        )
        self.norm, self.batch, self.layer = nn.GroupNorm(2, D), nn.BatchNorm2d(D), captured_layer()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.batch(self.stem(torch.stack([x[:, :, :3].mT] * 4, -1)))
        gate = self.excite(self.squeeze(y.mean((2, 3), keepdim=True)).relu()).sigmoid()
        y = self.norm(y * gate) + y
        return torch.as_tensor(self.layer(y.flatten(2).transpose(1, 2)).mean(1))


class Projections(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))

    def forward(self, x: torch.Tensor) -> Any:
        return self.q(x), self.k(x), self.v(x)


class AttentionProjections(Projections):
    pass


class Modulated(nn.Module):
    """A DiT block: shifts and scales from a condition, chunks, projections in a module apart."""

    def __init__(self) -> None:
        super().__init__()
        self.condition, self.attn_in, self.attn_norm = (
            nn.Linear(D, 4 * D),
            AttentionProjections(),
            RMS(),
        )
        self.attn_out = nn.Sequential(nn.Linear(D, D), nn.Dropout(0.1))
        self.up, self.down = nn.Linear(D, 2 * D), nn.Linear(D, D)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shift, scale, gate, other = self.condition(x.mean(1, keepdim=True)).chunk(4, -1)
        q, k, v = (part[:, None] for part in self.attn_in(self.attn_norm(x) * (1 + scale) + shift))
        q, k = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)
        x = x + gate * self.attn_out(scaled_dot_product_attention(q, k, v)[:, 0])
        one, two = self.up(x).chunk(2, -1)
        return torch.as_tensor(x + other * self.down(functional.gelu(one) * two))


class Packed(nn.Module):
    """One projection of queries, keys and values, taken apart; a mask made by a product."""

    def __init__(self) -> None:
        super().__init__()
        self.all, self.out, self.norm = nn.Linear(D, 3 * D), nn.Linear(D, D), nn.LayerNorm(D)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        there = (torch.arange(N) < N - 1)[None].long()
        mask = there[:, None, :] * there[:, :, None] * 1.0
        parts = self.all(self.norm(x)).unflatten(-1, (3, H, -1)).permute(2, 0, 3, 1, 4)
        made = scaled_dot_product_attention(*parts, attn_mask=(1 - mask[:, None]) * -1e4)
        return torch.as_tensor(x + self.out(made.transpose(1, 2).flatten(-2)))


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
        for way in ("einsum", "loop", "top", "gathered")
    },
    "Llama's": lambda: Classifier(Rotated(), Rotated()),
    **{
        kind.__name__: lambda kind=kind: nn.Sequential(captured_layer(), kind())
        for kind in (Seen, Modulated, Packed)
    },
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
    assert {one.name.partition(".")[0] for one in calls.missed} == {"1"}
    assert calls.status == Status.UNSETTLED


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_is_said_of_a_model_that_is_captured_whole(name: str) -> None:
    torch.manual_seed(1)
    model = WHOLE[name]()
    calls = run(model, *([tokens()] if isinstance(model, Classifier) else []))
    assert calls.missed == ()
    assert calls.status == Status.AGREES


def test_a_backward_pass_in_the_block_is_not_taken_for_attention() -> None:
    model = nn.Sequential(captured_layer(), Router("loop"), captured_layer(), nn.Linear(D, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    with symattn.capture(model) as calls:
        for _ in range(2):
            optimizer.zero_grad()
            (model(numbers(2, N, D)) ** 2).mean().backward()
            optimizer.step()
    assert len(calls) == 4
    assert calls.missed == ()


class SlidingMixer(nn.Module):
    """A mixer whose operations say nothing: tokens are moved, by projections from it and to it."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(D, D), nn.Linear(D, D)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(x + self.out(self.into(x).roll(1, 1)))


class Mlp(SlidingMixer):
    """What is no mixer by its own name, though it is one by that of the class above."""


def test_a_name_is_enough_to_be_said_where_nothing_accounts_for_it() -> None:
    class Hybrid(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = captured_layer()
            self.mixer, self.other = SlidingMixer(), Mlp()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.other(self.mixer(self.attention(x))))

    calls = run(nn.Sequential(Hybrid(), Hybrid()))
    assert [str(one) for one in calls.missed] == [
        f"{layer}.mixer (its name is that of an attention or another mixer of tokens)"
        for layer in (0, 1)
    ]
    assert "<may be missed: 0.mixer" in repr(calls)


def test_where_nothing_is_captured_the_refusal_names_what_ran() -> None:
    with (
        pytest.raises(SymattnError, match=r"though one may have run in 0 \(a product of activ"),
        symattn.capture(model := nn.Sequential(Layer(by_torch))),
    ):
        model(numbers(2, N, D))


def test_what_runs_outside_of_the_model_is_said_to() -> None:
    model, x = captured_layer(), numbers(2, N, D)
    with pytest.warns(PartialCapture, match="outside of the model"), symattn.capture(model):
        by_torch(model(x), x, x)


def test_a_wrong_result_outweighs_what_may_be_missed() -> None:
    calls = run(nn.Sequential(captured_layer(), Layer(by_torch)))
    calls[0].output[0, 0, 0, 0] += 1
    assert calls.status == Status.WRONG
