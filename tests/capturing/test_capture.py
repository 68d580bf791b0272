"""Attention captured from running PyTorch modules agrees with what the modules computed."""
# ruff: noqa: E402

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extras import package
from tests.processes import python

package("torch")  # or this file is skipped

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.functional import scaled_dot_product_attention

import symattn
from symattn import SymattnError, document
from symattn.capturing import Call
from symattn.sheets.worksheet import read_worksheet


class ByHand(nn.Module):
    """A module written by hand around scaled_dot_product_attention, perhaps with grouped heads."""

    def __init__(self, width: int = 8, heads: int = 4, groups: int = 4, **options: Any) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.queries = nn.Linear(width, heads * self.size)
        self.keys = nn.Linear(width, groups * self.size)
        self.values = nn.Linear(width, groups * self.size)
        self.options = options | ({"enable_gqa": True} if groups != heads else {})

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        def split(made: torch.Tensor, count: int) -> torch.Tensor:
            return made.reshape(*made.shape[:-1], count, self.size).transpose(-2, -3)

        attended = scaled_dot_product_attention(
            split(self.queries(x), self.heads),
            split(self.keys(x), self.groups),
            split(self.values(x), self.groups),
            attn_mask=mask,
            **self.options,
        )
        return attended.transpose(-2, -3).flatten(-2)


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7), dtype=dtype)


def agreed(calls: list[Call], batches: int) -> None:
    """Every captured call agrees with its own derivation in every batch."""
    for call in calls:
        assert call.batches == batches
        for batch in range(batches):
            found = call.check(batch)
            assert found.agrees, (call.name, batch, found)


@pytest.mark.parametrize(("batch_first", "masked"), [(True, "padding"), (False, "both")])
def test_an_encoder_of_two_layers(batch_first: bool, masked: str) -> None:
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=batch_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = numbers(3, 5, 8) if batch_first else numbers(5, 3, 8)
    told: dict[str, Any] = {}
    told["src_key_padding_mask"] = torch.arange(5) >= torch.tensor([[5], [3], [4]])
    if masked == "both":
        told["mask"] = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    with symattn.capture(model) as calls, torch.no_grad():
        model(x, **told)
    assert [call.name for call in calls] == ["layers.0.self_attn", "layers.1.self_attn"]
    agreed(calls, batches=3)
    weights = np.asarray(calls[0].evaluate(1).array("A"), dtype=float)
    assert weights.shape == (2, 5, 5)
    assert (weights[..., 3:] == 0).all()
    if masked == "both":
        assert (np.triu(weights, 1) == 0).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_types_of_number(dtype: torch.dtype) -> None:
    model = ByHand().to(dtype).eval()
    with symattn.capture(model) as calls, torch.no_grad():
        model(numbers(2, 4, 8, dtype=torch.float32).to(dtype))
    agreed(calls, batches=2)


@pytest.mark.parametrize(("dtype", "off"), [(torch.float32, 1e-3), (torch.bfloat16, 0.2)])
def test_a_wrong_result_is_noticed(dtype: torch.dtype, off: float) -> None:
    model = ByHand().to(dtype).eval()
    with symattn.capture(model) as calls, torch.no_grad():
        model(numbers(1, 4, 8).to(dtype))
    assert calls[0].check().agrees
    calls[0].output[0, 0, 0, 0] += off
    found = calls[0].check()
    assert (found.agrees, found.worst) == (False, (0, 0, 0))


def test_nothing_is_left_behind() -> None:
    model = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    before = torch.backends.mha.get_fastpath_enabled()
    with pytest.raises(AssertionError), symattn.capture(model) as calls:
        model(numbers(1, 3, 5), numbers(1, 3, 5), numbers(1, 3, 5))
    with torch.no_grad():
        model(numbers(1, 3, 4), numbers(1, 3, 4), numbers(1, 3, 4))
    assert calls == []
    assert torch.backends.mha.get_fastpath_enabled() == before
    assert not model._forward_hooks
    assert not model._forward_pre_hooks


class Dots(nn.Module):
    """Nothing but the call itself."""

    def forward(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        return scaled_dot_product_attention(*args, **kwargs)


def captured(model: nn.Module, *args: Any, **kwargs: Any) -> list[Call]:
    with symattn.capture(model.eval()) as calls, torch.no_grad():
        model(*args, **kwargs)
    return calls


QUERIES, KEYS, VALUES = numbers(2, 2, 3, 4), numbers(2, 2, 5, 4) + 1, numbers(2, 2, 5, 6) - 1
SEEN = numbers(2, 2, 3, 5) > -0.5


@pytest.mark.parametrize(
    ("told", "mask"),
    [
        ({"attn_mask": SEEN}, {"boolean": "head"}),
        ({"attn_mask": SEEN[:, :1]}, {"boolean": True}),
        ({"attn_mask": SEEN[:1, :1, :1]}, {"boolean": True}),
        ({"attn_mask": numbers(2, 3, 5)}, {"additive": "head"}),
        ({"attn_mask": torch.where(SEEN, numbers(1), -torch.inf)}, {"additive": "head"}),
        ({"attn_mask": torch.where(SEEN, 0.0, -torch.inf)}, {"boolean": "head"}),
        ({"attn_mask": torch.where(SEEN, 0.0, torch.finfo().min)}, {"additive": "head"}),
        ({"attn_mask": torch.ones(3, 5, dtype=torch.bool).tril()}, "causal"),
        ({"attn_mask": torch.ones(3, 5, dtype=torch.bool).tril(2)}, {"causal": 2}),
        ({"attn_mask": causal_upper_left(3, 5)}, "causal"),
        ({"attn_mask": causal_lower_right(3, 5)}, {"causal": 2}),
        ({"is_causal": True}, "causal"),
        ({"is_causal": True, "attn_mask": SEEN[:, :1]}, ["causal", "boolean"]),
    ],
)
def test_a_mask_is_read_as_what_it_is(told: dict[str, Any], mask: Any) -> None:
    values = KEYS - 2 if len(told) == 2 else VALUES  # which PyTorch refuses for another width
    (call,) = captured(Dots(), QUERIES, KEYS, values, **told)
    assert call.spec.mask == symattn.Attention(mask=mask, heads=2).mask
    agreed([call], batches=2)


@pytest.mark.filterwarnings("ignore:Lower right causal bias")
def test_queries_before_the_first_key_see_nothing() -> None:
    (call,) = captured(Dots(), KEYS, QUERIES, QUERIES, attn_mask=causal_lower_right(5, 3))
    agreed([call], batches=2)
    assert (np.asarray(call.evaluate()["weights"].array)[:, :2] == 0).all()


@pytest.mark.parametrize(
    ("shapes", "told", "axes"),
    [
        (((3, 4), (5, 4), (5, 6)), {"attn_mask": SEEN[0, 0]}, {"heads": None}),
        (((2, 3, 4), (2, 5, 4), (2, 5, 6)), {"attn_mask": SEEN[:, 0]}, {"heads": None}),
        (((2, 3, 2, 3, 4),) * 3, {}, {"heads": 2}),
        (((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)), {"enable_gqa": True}, {"kv_heads": 2}),
        (((2, 4, 3, 4), (2, 2, 5, 4), (2, 4, 5, 4)), {"enable_gqa": True}, {"kv_heads": None}),
        (((1, 4, 3, 4), (1, 1, 5, 4), (1, 1, 5, 4)), {}, {"kv_heads": 1}),
        (((2, 2, 3, 4),) * 3, {"scale": 4**-0.5}, {"scale": symattn.Attention().scale}),
        (((2, 2, 3, 4),) * 3, {"scale": 1.0}, {"scale": None}),
    ],
)
def test_shapes_heads_and_scales(shapes: Any, told: Any, axes: dict[str, Any]) -> None:
    parts = [numbers(*shape) + shift for shift, shape in enumerate(shapes)]
    (call,) = captured(Dots(), *parts, **told)
    assert {axis: getattr(call.spec, axis) for axis in axes} == axes
    agreed([call], batches=int(np.prod(shapes[0][: -3 if len(shapes[0]) > 3 else -2])))


X, MEMORY = numbers(2, 5, 8), numbers(2, 3, 8) + 1
PADDED = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize(
    ("options", "sequences", "told", "note"),
    [
        ({}, (X + numbers(5, 8), X + numbers(5, 8), X), {}, "different sequences"),
        ({"kdim": 6, "vdim": 3}, (X, numbers(2, 3, 6), numbers(2, 3, 3)), {}, "different seq"),
        ({"add_bias_kv": True}, (X, X, X), {"key_padding_mask": PADDED}, "add_bias_kv"),
        ({"add_zero_attn": True}, (X, MEMORY, MEMORY), {}, "add_zero_attn"),
        ({"kdim": 6, "vdim": 6}, (X, memory := numbers(2, 3, 6), memory), {}, ""),
        ({"bias": False}, (X, MEMORY, MEMORY.clone()), {}, ""),
        ({}, (X, X, X), {"attn_mask": numbers(4, 5, 5)}, ""),
        ({}, (X, X, X), {"attn_mask": numbers(4, 5, 5) > 1, "key_padding_mask": PADDED}, ""),
        ({}, (X[0], X[0], X[0]), {"attn_mask": numbers(2, 5, 5)}, ""),
        ({}, (X[0], X[0], X[0]), {"key_padding_mask": PADDED[1]}, ""),
    ],
)
def test_every_multi_head_attention(
    options: Any, sequences: Any, told: Any, note: str, weights: bool
) -> None:
    torch.manual_seed(2)
    model = nn.MultiheadAttention(8, 2, batch_first=True, **options)
    with torch.no_grad():
        model.in_proj_bias is not None and model.in_proj_bias.uniform_(-1, 1)  # it begins as 0
    (call,) = captured(model, *sequences, need_weights=weights, **told)
    agreed([call], batches=1 if sequences[0].ndim == 2 else 2)
    assert note in call.note
    assert note in repr(call)
    assert ("Q" in call.given) is bool(note) is ("W_Q" not in call.given)


def test_a_function_called_directly_with_a_bias_of_the_output_alone() -> None:
    class Direct(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found, _ = functional.multi_head_attention_forward(
                x,
                x,
                x,
                8,
                2,
                numbers(24, 8),
                None,
                None,
                None,
                False,
                0.5,
                numbers(8, 8),
                numbers(8),
                training=False,
            )
            return found

    (call,) = captured(Direct(), X.transpose(0, 1))
    assert call.spec.projection_bias
    agreed([call], batches=2)


class Block(nn.Module):
    """A block as in nanoGPT, which adds to its input in place."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.into, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.into(self.norm(x)).split(8, dim=-1)
        q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in parts)
        made = scaled_dot_product_attention(q, k, v, is_causal=True)
        out = self.out(made.transpose(1, 2).flatten(2))
        for used in (q, k, v, made):
            used.zero_()
        return x.add_(out)


def test_what_the_model_does_later_changes_nothing() -> None:
    model = nn.Sequential(Block(), Block())
    calls = captured(model, X.clone())
    assert [call.name for call in calls] == ["0", "1"]
    assert all(np.abs(call.output).min() > 0 for call in calls)
    agreed(calls, batches=2)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("how", ["wrapped", "in place"])
def test_a_compiled_model_is_seen_under_its_own_names(how: str) -> None:
    model = nn.Sequential(Block(), Block())
    if how == "in place":
        model.compile()
    compiled: Any = torch.compile(model) if how == "wrapped" else model
    calls = captured(compiled, X.clone())
    assert [call.name for call in calls] == ["0", "1"]
    agreed(calls, batches=2)


@pytest.mark.parametrize("model", [nn.MultiheadAttention(8, 2, batch_first=True), ByHand()])
def test_under_autocast_the_numbers_are_those_computed_with(model: nn.Module) -> None:
    args = (X, X, X) if isinstance(model, nn.MultiheadAttention) else (X,)
    narrow = torch.autocast("cpu", dtype=torch.bfloat16)
    with symattn.capture(model.eval()) as calls, torch.no_grad(), narrow:
        model(*args)
    assert calls[0].digits == 8
    agreed(calls, batches=2)


def test_a_module_that_raises_and_is_caught_does_not_name_what_follows() -> None:
    class Fails(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError

    class Falls(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Fails(), ByHand()

        def forward(self, x: torch.Tensor) -> Any:
            try:
                return self.first(x)
            except ValueError:
                scaled_dot_product_attention(x, x, x)
                return self.second(x)

    assert [call.name for call in captured(Falls(), X)] == ["Falls", "second"]


def nested(width: int) -> torch.Tensor:
    return torch.nested.nested_tensor([numbers(3, width), numbers(2, width)])


@pytest.mark.parametrize(
    ("module", "run", "complaint"),
    [
        (nn.Linear(8, 8), lambda part: part(X), "capture: no attention ran"),
        (
            nn.TransformerEncoderLayer(8, 2, batch_first=True),
            lambda part: part(nested(8)),
            "EncoderLayer: nested ten",
        ),
        (Dots(), lambda part: part(*(nested(4).unsqueeze(1),) * 3), "Dots: nested tensors"),
        (Dots(), lambda part: torch.vmap(part)(X, X, X), "cannot be read here"),
        (Dots(), lambda part: part(QUERIES, KEYS, VALUES, None, 0.5), "Dots: dropout"),
        (nn.MultiheadAttention(8, 2, dropout=0.5), lambda part: part.train()(X, X, X), "eval mode"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*nested tensors")
@pytest.mark.filterwarnings("ignore:.*vmap")
def test_what_cannot_be_captured_is_refused_in_a_line(
    module: nn.Module, run: Any, complaint: str
) -> None:
    with pytest.raises(SymattnError, match=complaint), symattn.capture(module.eval()):
        run(module)
    assert not module._forward_hooks
    assert functional.scaled_dot_product_attention is scaled_dot_product_attention


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torch_script_is_refused() -> None:
    traced: Any = torch.jit.trace(nn.Linear(8, 8), X)  # type: ignore[no-untyped-call]
    model = nn.Sequential(traced, Block())
    with pytest.raises(SymattnError, match="0: TorchScript"), symattn.capture(model):
        model(X)
    assert not model._forward_hooks


def several_calls() -> list[Call]:
    """Calls of every kind of mask and of start, in one and two numbers a batch."""
    model = nn.MultiheadAttention(8, 2, batch_first=True)
    calls = captured(model, X, X, X, attn_mask=numbers(4, 5, 5) > 1, key_padding_mask=PADDED)
    calls += captured(model, X, MEMORY, MEMORY + 1)
    calls += captured(Dots(), QUERIES, KEYS, VALUES, attn_mask=numbers(2, 3, 5), scale=0.3)
    calls += captured(Dots(), QUERIES, QUERIES, QUERIES, is_causal=True)
    calls += captured(Dots(), QUERIES, KEYS, VALUES, attn_mask=causal_lower_right(3, 5), scale=1)
    return calls + captured(ByHand(groups=1).to(torch.bfloat16), X.bfloat16())


@pytest.mark.parametrize("number", range(6))
def test_a_call_is_saved_as_a_worksheet_that_says_the_same(number: int, tmp_path: Path) -> None:
    call = several_calls()[number]
    sheet = read_worksheet(call.save(tmp_path / "layer.toml", batch=1))
    assert (sheet.title, sheet.spec) == (call.name, call.spec)
    assert (call.note in sheet.text) is True
    own, read = call.evaluate(1), sheet.evaluate(dtype=call.output.dtype.name)
    for name in own:
        assert np.array_equal(own[name].array, read[name].array)
    assert np.array_equal(own.exact("S"), read.exact("S"))
    assert document(read, "latex", title=call.name) == document(own, "latex", title=call.name)


def test_a_call_is_a_document_that_says_how_the_model_did() -> None:
    masked, apart, *_ = several_calls()
    text = masked.document("text", batch=1, views=["value"], steps=["weights"])
    assert isinstance(text, str)
    assert "agrees with the true one" in text.splitlines()[-1]
    assert "M⁽ʰ⁾ = allow(B⁽ʰ⁾)" in str(masked.document("text", views=["formula"]))
    assert "starts from Q, K and V after the projections: keys and" in str(apart.document("md"))
    apart.output[0, 1, 2] += 0.5
    assert "is off by 0.5 at projected[2,3]." in str(apart.document())
    assert str(masked.document("html")).startswith("<!")
    with pytest.raises(SymattnError, match=r"layer.txt: .* a name that ends in .toml"):
        masked.save("layer.txt")


def test_dropout_in_a_call_and_a_batch_that_is_not_there_are_refused() -> None:
    with pytest.raises(SymattnError, match="dropout"), symattn.capture(ByHand(dropout_p=0.5)) as _:
        ByHand(dropout_p=0.5)(numbers(1, 3, 8))
    with symattn.capture(model := ByHand()) as calls:
        model(numbers(2, 3, 8))
    with pytest.raises(SymattnError, match="no batch 2; it has 2"):
        calls[0].evaluate(2)


def test_torch_is_imported_when_it_is_used() -> None:
    code = "import sys, symattn; symattn.capture; sys.exit('torch' in sys.modules)"
    assert python("-c", code).returncode == 0


@pytest.mark.parametrize("weights", [False, True])
def test_a_layer_as_large_as_real_ones_is_explained_from_its_queries(weights: bool) -> None:
    layer = nn.MultiheadAttention(512, 8, batch_first=True).eval()
    x = numbers(2, 6, 512)
    with torch.no_grad(), symattn.capture(layer) as calls:
        layer(x, x, x, need_weights=weights)
    (call,) = calls
    assert set(call.given) == {"Q", "K", "V"}
    assert "too large to show" in call.note
    agreed(calls, 2)
    values = call.evaluate(1)
    assert values["weights"].shape == (8, 6, 6)
    queries = (x @ layer.in_proj_weight[:512].T + layer.in_proj_bias[:512])[1]
    assert np.allclose(
        values.array("Q"), queries.detach().reshape(6, 8, 64).transpose(0, 1), atol=1e-5
    )
    assert "0." in call.document("text")
