"""The ways in which NumPy and PyTorch differentiate the attention of `tests.combinations`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symattn import Attention, Derivation
from tests.combinations import SIZES, Reference, choices_of

Array = NDArray[Any]

#: Inputs that nothing is differentiated by.
FIXED = ("allowed", "one_hot", "mask", "index_scores")


def concrete(spec: Attention) -> Attention:
    """The spec with its numbers of heads as numbers."""
    if spec.heads != "h" and spec.kv_heads != "g":
        return spec
    heads = 4 if spec.heads == "h" else spec.heads
    groups = min(int(heads or 1), 2) if spec.kv_heads == "g" else spec.kv_heads
    return replace(spec, heads=heads, kv_heads=groups)


def random_inputs(derivation: Derivation, spec: Attention, seed: int = 0) -> dict[str, Array]:
    """Random numbers for every input, upstream gradients and directions included."""
    rng = np.random.default_rng(seed)
    out = {}
    known = {size: SIZES[size.name] for size in derivation.size_symbols if size.name in SIZES}
    for item in derivation.inputs:
        rows, columns = (int(size.subs(known).subs(derivation.sizes)) for size in item.shape)
        heads = (item.heads(derivation.sizes),) if item.per_head else ()
        value = np.round(rng.normal(size=(*heads, rows, columns)), 3)
        if spec.normaliser == "sum" and spec.feature_map is None:
            value = abs(value) + 0.5  # so that no row of scores sums to nearly 0
        if item.name == "allowed":
            value = np.tril(np.ones((rows, columns)))
        if item.name == "one_hot":
            value = np.eye(rows, columns)
        out[item.name] = value
    return out


@dataclass(frozen=True)
class Problem:
    """An attention with numbers: what is differentiated, and by what."""

    spec: Attention
    derivation: Derivation
    given: Mapping[str, Array]
    upstream: Array

    @classmethod
    def of(cls, spec: Attention, seed: int = 0) -> Problem:
        spec = concrete(spec)
        derivation = spec.derivation()
        backward = derivation.gradient()
        numbers = random_inputs(backward, spec, seed)
        upstream = numbers.pop(backward.inputs[-1].name)
        derivation.evaluate(**numbers).array(derivation.steps[-1].letter)  # or these have no value
        return cls(spec, derivation, numbers, upstream)

    @property
    def names(self) -> list[str]:
        """What the loss is differentiated by."""
        return [name for name in self.given if name not in FIXED]

    def result(self, given: Mapping[str, Any], xp: Any = np) -> Any:
        """The attention as a function of its matrices."""
        return Reference(choices_of(self.spec), given, xp).result()

    def gradients(self) -> dict[str, Array]:
        """symattn's."""
        backward = self.derivation.gradient(self.names)
        values = backward.evaluate(**self.given, **{backward.inputs[-1].name: self.upstream})
        return {name: values[gradient_of(backward, name)].array for name in self.names}

    def by_complex_step(self) -> dict[str, Array]:
        """Im L(x + ih) / h, with no difference and so no cancellation (Squire and Trapp 1998)."""
        out, step = {}, 1e-40
        for name in self.names:
            gradient = np.empty(self.given[name].shape)
            for place in np.ndindex(*gradient.shape):
                moved = {key: value.astype(complex) for key, value in self.given.items()}
                moved[name][place] += 1j * step
                gradient[place] = (self.result(moved) * self.upstream).sum().imag / step
            out[name] = gradient
        return out

    def _loss(self, torch: Any, *moving: Any) -> Any:
        fixed = {n: torch.tensor(v) for n, v in self.given.items() if n not in self.names}
        given = {**fixed, **dict(zip(self.names, moving, strict=True))}
        return (self.result(given, torch) * torch.tensor(self.upstream)).sum()

    def by_torch(self, torch: Any) -> dict[str, Array]:
        """PyTorch's reverse mode."""
        tensors = [torch.tensor(self.given[name], requires_grad=True) for name in self.names]
        found = torch.autograd.grad(self._loss(torch, *tensors), tensors, allow_unused=True)
        return {
            name: np.zeros(self.given[name].shape) if x is None else x.numpy()
            for name, x in zip(self.names, found, strict=True)
        }

    def by_torch_twice(self, torch: Any, along: Mapping[str, Array]) -> dict[str, Array]:
        """PyTorch's Hessian times a direction."""
        start = tuple(torch.tensor(self.given[name]) for name in self.names)
        ways = tuple(torch.tensor(along[name]) for name in self.names)
        loss = partial(self._loss, torch)
        _, found = torch.autograd.functional.hvp(loss, start, ways)
        return {name: x.numpy() for name, x in zip(self.names, found, strict=True)}


def gradient_of(backward: Derivation, name: str) -> str:
    """The name of the step that holds the gradient with respect to this input."""
    letter = next(item.letter for item in backward.inputs if item.name == name)
    return next(step.name for step in backward.steps if step.letter == f"d{letter}")


def disagreement(ours: Mapping[str, Array], theirs: Mapping[str, Array]) -> str:
    """The first gradient that differs by more than float64 explains; nothing if none does."""
    for name, wanted in theirs.items():
        found = ours[name]
        if found.shape != wanted.shape:
            return f"d{name}: {found.shape} and {wanted.shape}"
        scale = max(1.0, float(abs(wanted).max()))
        if not abs(found - wanted).max() <= 1e-11 * scale:
            return f"d{name}: off by {abs(found - wanted).max():.1e}"
    return ""


def farther(
    ours: Mapping[str, Array], theirs: Mapping[str, Array], truth: Mapping[str, Array]
) -> str:
    """The first gradient that is farther from the truth than four times another's way there.

    1 − tanh² has few digits left for a large argument, and a sum of scores near 0 divides by it:
    two sound programs then differ by more than `disagreement` takes. Nothing if none does.
    """
    for name, wanted in truth.items():
        scale = max(1.0, float(abs(wanted).max()))
        one, other = (float(abs(x[name] - wanted).max()) / scale for x in (ours, theirs))
        if not one <= 4 * max(other, 1e-14):
            return f"d{name}: off by {one:.1e}, and another by {other:.1e}"
    return ""
