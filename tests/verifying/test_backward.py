"""Backward passes: right ones in unusual style agree, wrong ones are found, most by their names.

The functions of `backward.py` are all right forward, which PyTorch itself confirms here; and
PyTorch's own gradients say which of them are right backward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from symattn import Attention, variant
from symattn.mistakes.backward import OF_BACKWARD
from symattn.status import Status
from symattn.testing import verify_attention
from tests import ROOT
from tests.extras import package
from tests.shares import share
from tests.verifying import broken, right, verify

torch = package("torch")
jax = package("jax")

from tests.verifying import backward  # noqa: E402 it needs them

SPECS = {
    "dot": Attention(),
    "causal": Attention(mask="causal"),
    "masked": Attention(mask="boolean"),
    "groups": Attention(heads="h", kv_heads="g"),
    "cap": Attention(soft_cap=2),
    "bias": Attention(bias="given"),
    "sink": replace(variant("sink").spec, source=None, mask=()),
    "multi-head": variant("multi-head").spec,
}

#: What is wrong with the pass itself, and not with its numbers.
OTHERWISE = {"gradient overwritten": "changes", "raises": "raises", "in float32": "inaccurate"}


@pytest.fixture(autouse=True)
def single_precision() -> Iterator[None]:
    """JAX as it is installed, whatever another test has set."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


def library(name: str) -> str:
    return "jax" if "JAX" in name else "torch"


@pytest.mark.parametrize("name", share(backward.RIGHT, 18, 6))
def test_a_right_backward_pass_agrees(name: str) -> None:
    spec, function = backward.RIGHT[name]
    found = verify(function, SPECS[spec], library=library(name))
    assert found.agrees, str(found)
    assert found.forward_only == ""
    tried = [item for item, verdict in found.tried if verdict == "agrees"]
    assert sum(item.startswith("gradient") for item in tried) >= 12
    assert "The backward pass was tried too" in str(found)


@pytest.mark.parametrize("name", share(backward.WRONG, 48, 9))
def test_a_wrong_backward_pass_is_found_and_named(name: str) -> None:
    spec, function, mistake = backward.WRONG[name]
    found = verify(function, SPECS[spec], library=library(name))
    assert not found.agrees
    assert found.kind == OTHERWISE.get(name, "wrong")
    assert found.failed.startswith("gradient")
    assert mistake in ["", *(each.name for each in found.explanations)], str(found)
    if found.kind == "wrong" and library(name) == "torch":
        assert found.input is not None
        assert any(letter.startswith("d") for letter in found.input)


def test_most_wrong_ones_have_a_name() -> None:
    names = {row.name for row in OF_BACKWARD}
    mistakes = [mistake for *_, mistake in backward.WRONG.values() if mistake]
    assert {*mistakes} <= names
    assert len(names) == len(OF_BACKWARD)
    assert len(backward.WRONG) >= 25
    assert 3 * len(mistakes) >= 2 * len(backward.WRONG) - 10


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["no row sum", "one head of a group"])
def test_the_smallest_input_shows_it_to_pytorch(name: str) -> None:
    """PyTorch's own gradient at the input of the report is not the function's."""
    spec, function, _ = backward.WRONG[name]
    found = verify(function, SPECS[spec], library="torch")
    assert found.input is not None
    q, k, v = (torch.tensor(found.input[x]).requires_grad_() for x in "QKV")
    upstream = torch.tensor(next(a for x, a in found.input.items() if x.startswith("d_")))
    true = backward.grouped_sdpa if spec == "groups" else backward.by_autograd

    def gradients(attention: Any) -> list[Any]:
        return [*torch.autograd.grad(attention(q, k, v), (q, k, v), upstream)]

    pairs = zip(gradients(function), gradients(true), strict=True)
    assert not all(torch.allclose(one, other) for one, other in pairs)


@pytest.mark.parametrize("name", backward.FORWARD_ONLY)
def test_what_cannot_be_differentiated_is_said_in_words(name: str) -> None:
    found = verify(backward.FORWARD_ONLY[name], Attention(), library="torch")
    assert found.status == Status.AGREES
    assert not any(item.startswith("gradient") for item, _ in found.tried)
    assert "Only the forward pass was tried: " in str(found)
    assert found.forward_only in (
        "what it returns carries no gradient, as under torch.no_grad",
    ) or ("numpy" in found.forward_only)


def test_numpy_has_a_forward_pass_only() -> None:
    found = verify_attention(right.textbook)
    assert found.forward_only == "functions of NumPy have no gradients of their own"
    assert "Only the forward pass was tried: functions of NumPy" in " ".join(str(found).split())
    assert not verify_attention(broken.no_scale).forward_only


def test_gradients_may_be_left_out() -> None:
    from symattn.verifying.inputs import PROPERTIES

    gradients = [item.name for item in PROPERTIES if item.backward]
    _, wrong, _ = backward.WRONG["no scale"]
    found = verify(wrong, Attention(), library="torch", skip=gradients)
    assert found.agrees
    assert found.forward_only == "its gradients were left out"


def test_a_class_of_pytorch_names_the_library() -> None:
    """A function that says only ``Kernel.apply`` is called with tensors."""
    found = verify(backward.kernel(), Attention(), skip=[])
    assert found.layout.startswith("torch")


@pytest.mark.nightly
def test_differences_can_contradict() -> None:
    """A gradient that is right for a forward pass which is right at one point only."""

    def bumped(q: Any, k: Any, v: Any) -> Any:
        out = backward.by_autograd(q, k, v)
        off = 8 * q.detach() - (8 * q.detach()).round()
        return out + off.abs().sum() * out.detach().sum()

    skipped = ("long fractions", "tiny numbers")
    found = verify(bumped, Attention(), library="torch", skip=skipped)
    assert found.failed == "gradient", str(found)
    assert "differences of the function itself give" in found.message


def test_a_kink_is_no_mistake() -> None:
    """The derivative of the function itself counts, where ours is another convention."""
    spec = replace(Attention(), normaliser="sparsemax")

    def sparse(q: Any, k: Any, v: Any) -> Any:
        z = q @ k.mT / q.shape[-1] ** 0.5
        ordered, _ = z.sort(dim=-1, descending=True)
        sums = ordered.cumsum(-1) - 1
        ranks = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype)
        support = (ordered * ranks > sums).sum(-1, keepdim=True)
        threshold = sums.gather(-1, support - 1) / support.to(z.dtype)
        return (z - threshold).clamp_min(0) @ v

    found = verify(sparse, spec, library="torch")
    assert found.agrees, str(found)


def test_the_table_of_the_docs_counts_these() -> None:
    page = (ROOT / "docs/verifying.md").read_text(encoding="utf-8")
    count, named = len(backward.WRONG), sum(1 for *_, name in backward.WRONG.values() if name)
    for row in (
        f"| backward passes: right, in unusual style | {len(backward.RIGHT)} | 0 refused |",
        f"| backward passes: wrong | {count} | 0 accepted, {named} of {count} named |",
    ):
        assert row in page
