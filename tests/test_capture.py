"""Attention captured from running PyTorch modules agrees with what the modules computed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import symattn
from symattn import SymattnError
from symattn.capturing import Call


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
            split(self.queries(x), self.heads), split(self.keys(x), self.groups),
            split(self.values(x), self.groups), attn_mask=mask, **self.options,
        )  # fmt: skip
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


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("masked", ["nothing", "padding", "causal", "both"])
def test_an_encoder_of_two_layers(batch_first: bool, masked: str) -> None:
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=batch_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = numbers(3, 5, 8) if batch_first else numbers(5, 3, 8)
    told: dict[str, Any] = {}
    if masked in ("padding", "both"):
        told["src_key_padding_mask"] = torch.arange(5) >= torch.tensor([[5], [3], [4]])
    if masked in ("causal", "both"):
        told["mask"] = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    with symattn.capture(model) as calls, torch.no_grad():
        model(x, **told)
    assert [call.name for call in calls] == ["layers.0.self_attn", "layers.1.self_attn"]
    agreed(calls, batches=3)
    weights = np.asarray(calls[0].evaluate(1).array("A"), dtype=float)
    assert weights.shape == (2, 5, 5)
    if masked in ("padding", "both"):
        assert (weights[..., 3:] == 0).all()
    if masked in ("causal", "both"):
        assert (np.triu(weights, 1) == 0).all()


def test_a_decoder_layer_attends_to_itself_and_to_memory() -> None:
    torch.manual_seed(5)
    model = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True).eval()
    with symattn.capture(model) as calls, torch.no_grad():
        model(numbers(2, 3, 8), numbers(2, 4, 8))
    assert [call.name for call in calls] == ["self_attn", "multihead_attn"]
    assert calls[1].spec.source == "cross"
    agreed(calls, batches=2)


@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.25}])
def test_a_module_written_by_hand(groups: int, options: dict[str, Any]) -> None:
    torch.manual_seed(groups)
    model = ByHand(groups=groups, **options).eval()
    with symattn.capture(model) as calls, torch.no_grad():
        output = model(numbers(2, 5, 8))
    (call,) = calls
    agreed(calls, batches=2)
    derived = call.evaluate(1).array("O")  # heads × tokens × width
    assert np.allclose(
        np.moveaxis(np.asarray(derived, float), 0, 1).reshape(5, 8), output[1], atol=1e-6
    )


@pytest.mark.parametrize("kind", ["boolean", "additive", "per batch"])
def test_masks_that_are_given(kind: str) -> None:
    allowed = torch.tril(torch.ones(5, 5, dtype=torch.bool))
    mask = {
        "boolean": allowed,
        "additive": torch.where(allowed, numbers(5, 5), -torch.inf),
        "per batch": torch.stack([allowed, allowed | True])[:, None],
    }[kind]
    model = ByHand().eval()
    with symattn.capture(model) as calls, torch.no_grad():
        model(numbers(2, 5, 8), mask)
    agreed(calls, batches=2)


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


def test_a_captured_call_is_explained_like_any_other() -> None:
    model = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    x = numbers(1, 3, 4)
    with symattn.capture(model) as calls, torch.no_grad():
        model(x, x, x)
    derivation = calls[0].derivation()
    assert derivation.title == "MultiheadAttention"
    assert {"Q", "scores", "weights", "heads", "projected"} <= set(derivation.names)
    assert calls[0].evaluate().array("A").shape == (2, 3, 3)


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


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True), "eval mode"),
        (nn.MultiheadAttention(4, 2, add_zero_attn=True, batch_first=True).eval(), "extra keys"),
        (nn.MultiheadAttention(4, 2, add_bias_kv=True, batch_first=True).eval(), "extra keys"),
    ],
)
def test_what_has_no_derivation_is_refused(model: nn.Module, complaint: str) -> None:
    x = numbers(1, 3, 4)
    with pytest.raises(SymattnError, match=complaint), symattn.capture(model):
        model(x, x, x)
    assert not model._forward_hooks


def test_dropout_in_a_call_and_a_batch_that_is_not_there_are_refused() -> None:
    with pytest.raises(SymattnError, match="dropout"), symattn.capture(ByHand(dropout_p=0.5)) as _:
        ByHand(dropout_p=0.5)(numbers(1, 3, 8))
    with symattn.capture(model := ByHand()) as calls:
        model(numbers(2, 3, 8))
    with pytest.raises(SymattnError, match="no batch 2; it has 2"):
        calls[0].evaluate(2)


def test_torch_is_imported_when_it_is_used() -> None:
    code = "import sys, symattn; symattn.capture; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
