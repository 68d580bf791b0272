"""A real model's attention, captured while it runs, so that a step of it can be explained.

PyTorch is imported when it is used. Whatever calls ``scaled_dot_product_attention`` is seen, and
every ``nn.MultiheadAttention`` with its own projections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symattn.arithmetic.balls import BITS
from symattn.arithmetic.base import Array
from symattn.attention.spec import Attention
from symattn.derivation import Derivation, Evaluation, StepCheck
from symattn.errors import SymattnError
from symattn.evaluate.check import compare

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Call:
    """One attention that a model computed: where, which, with which numbers, and its result."""

    name: str
    spec: Attention
    given: dict[str, Array] = field(repr=False)
    output: Array = field(repr=False)
    #: How many axes stand behind the batches of each matrix, and of the output.
    axes: dict[str, int] = field(repr=False, default_factory=dict)
    #: Significant binary digits of the model's numbers where NumPy has no such dtype.
    digits: int | None = None

    @property
    def batches(self) -> int:
        """How many calculations were done at once."""
        return int(np.prod(self._lead, dtype=int))

    @property
    def _lead(self) -> tuple[int, ...]:
        return self.output.shape[: self.output.ndim - self.axes["output"]]

    def derivation(self) -> Derivation:
        """The steps of this attention."""
        return self.spec.derivation(list(self.given), title=self.name)

    def evaluate(self, batch: int = 0) -> Evaluation:
        """The derivation with the captured numbers of one batch."""
        given = {name: self._one(name, array, batch) for name, array in self.given.items()}
        return self.derivation().evaluate(dtype=self.output.dtype, **given)

    def _one(self, name: str, array: Array, batch: int) -> Array:
        """One batch of a matrix; weights of a module are the same for all."""
        if not 0 <= batch < self.batches:
            raise SymattnError(f"{self.name}: there is no batch {batch}; it has {self.batches}")
        own = array.shape[array.ndim - self.axes.get(name, array.ndim) :]
        if own == array.shape:
            return array
        whole = np.broadcast_to(array, (*self._lead, *own))
        return np.asarray(whole.reshape(-1, *own)[batch])

    def check(self, batch: int = 0) -> StepCheck:
        """The model's own result held against the true one, as `Evaluation.check` does NumPy's."""
        evaluation = self.evaluate(batch)
        steps = [step for step in evaluation.steps if step.name != "concat"]
        name, letter = steps[-1].name, steps[-1].letter
        output = self._one("output", self.output, batch)
        allowed = evaluation.rounded(letter, self.digits)
        found = compare(name, output, evaluation.balls(letter, BITS[1]), allowed)
        if self.digits is None:
            return found
        finer = np.finfo(output.dtype).nmant + 1 - self.digits
        return replace(found, ulps=found.ulps / 2.0**finer)


@contextmanager
def capture(module: nn.Module) -> Iterator[list[Call]]:
    """Record every attention that `module` computes inside the block.

    ::

        with symattn.capture(model) as calls:
            model(x)
        calls[0].derivation(), calls[0].evaluate(batch=0), calls[0].check()

    Raises `SymattnError` where PyTorch is missing, and for dropout, which has no one result.
    """
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        raise SymattnError("capture: needs PyTorch; install torch") from None

    calls: list[Call] = []
    inside: list[str] = []
    whole: list[str] = []  # the nn.MultiheadAttention that is running, if any

    class Watching(TorchFunctionMode):
        """Sees every scaled_dot_product_attention, however it was imported."""

        def __torch_function__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if func is torch.nn.functional.scaled_dot_product_attention and not whole:
                calls.append(_dot_product(_numbered(inside, calls), args, kwargs or {}, result))
            return result

    def entering(name: str) -> Callable[..., None]:
        def enter(part: Any, args: Any) -> None:
            inside.append(name)
            if isinstance(part, torch.nn.MultiheadAttention):
                whole.append(name)

        return enter

    def leaving(part: Any, args: Any, kwargs: Any, result: Any) -> None:
        name = inside.pop()
        if isinstance(part, torch.nn.MultiheadAttention):
            whole.pop()
            calls.append(_multi_head(_numbered([name], calls), part, args, kwargs, result[0]))

    hooks: list[Any] = []
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # the fast path passes modules by
    try:
        for name, part in module.named_modules():
            hooks.append(part.register_forward_pre_hook(entering(name or type(part).__name__)))
            hooks.append(part.register_forward_hook(leaving, with_kwargs=True))
        with Watching():
            yield calls
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for hook in hooks:
            hook.remove()


def _numbered(inside: Sequence[str], calls: Sequence[Call]) -> str:
    """The name of the module that is running, numbered if it calls attention more than once."""
    name = inside[-1] if inside else "attention"
    before = sum(call.name.split(" #")[0] == name for call in calls)
    return f"{name} #{before + 1}" if before else name


def _array(tensor: Any) -> Array:
    """A tensor's numbers; bfloat16, which NumPy lacks, as float32, which holds it exactly."""
    import torch

    kept = tensor.detach().cpu()
    return np.asarray((kept.float() if kept.dtype == torch.bfloat16 else kept).numpy())


def _digits(tensor: Any) -> int | None:
    """The significant binary digits of a dtype that NumPy lacks."""
    import torch

    return 8 if tensor.dtype == torch.bfloat16 else None


def _masks(mask: Any, *, attends: bool) -> dict[str, Array]:
    """A boolean mask as `allowed`, a mask of numbers as `mask`; batches and heads in front."""
    if mask is None:
        return {}
    array = _array(mask)
    if array.dtype == bool:
        return {"allowed": array if attends else ~array}
    return {"mask": array}


def _dot_product(name: str, args: Sequence[Any], kwargs: Any, result: Any) -> Call:
    """A call of scaled_dot_product_attention."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    told = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None}
    told |= dict(zip(names, args, strict=False)) | kwargs
    if told["dropout_p"]:
        raise SymattnError(f"{name}: dropout has no one result; put the model in eval mode")
    query, key, value = (_array(told[part]) for part in ("query", "key", "value"))
    heads = query.ndim > 3
    found = _masks(told["attn_mask"], attends=True)
    masks = {kind: _alike(mask, name) for kind, mask in found.items()}
    choices: dict[str, Any] = {}
    axes = dict.fromkeys(("Q", "K", "V", "output"), 3 if heads else 2) | dict.fromkeys(masks, 2)
    if heads:
        choices["heads"] = query.shape[-3]
        if key.shape[-3] != query.shape[-3]:
            choices["kv_heads"] = key.shape[-3]
        if key.shape[-3] == 1 != query.shape[-3]:  # one key head is a matrix that all heads share
            key, value, axes["K"], axes["V"] = key[..., 0, :, :], value[..., 0, :, :], 2, 2
    kinds = ["causal"] if told["is_causal"] else []
    kinds += ["boolean"] if "allowed" in masks else []
    kinds += ["additive"] if "mask" in masks else []
    if told["scale"] is not None:
        choices["scale"] = float(told["scale"])
    spec = Attention(source="given", mask=kinds or None, **choices)
    given = {"Q": query, "K": key, "V": value, **masks}
    return Call(name, spec, given, _array(result), axes, _digits(result))


def _alike(mask: Array, name: str) -> Array:
    """A mask without the axis of the heads, where it is the same for all of them."""
    if mask.ndim < 3:
        return mask
    if mask.shape[-3] == 1 or (mask == mask[..., :1, :, :]).all():
        return mask[..., 0, :, :]
    raise SymattnError(f"{name}: differs from head to head; capture one head at a time")


def _multi_head(name: str, part: Any, args: Sequence[Any], kwargs: Any, result: Any) -> Call:
    """A forward pass of nn.MultiheadAttention, from its inputs and its own weights."""
    names = ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask",
             "average_attn_weights", "is_causal")  # fmt: skip
    told: dict[str, Any] = {"key_padding_mask": None, "attn_mask": None}
    told |= dict(zip(names, args, strict=False)) | kwargs
    if part.training and part.dropout:
        raise SymattnError(f"{name}: dropout has no one result; put the model in eval mode")
    if part.bias_k is not None or part.add_zero_attn:
        raise SymattnError(f"{name}: extra keys (add_bias_kv, add_zero_attn) are not captured")
    query, key, value = told["query"], told["key"], told["value"]
    if key is not value:
        raise SymattnError(f"{name}: keys and values from different sequences are not captured")
    output = result
    if not part.batch_first and query.dim() == 3:
        query, key, output = (t.transpose(0, 1) for t in (query, key, output))
    own = key.shape == query.shape and told["query"] is told["key"]
    given = {"X": _array(query)} | ({} if own else {"memory": _array(key)})
    given |= _weights(part)
    masks: dict[str, Array] = {}
    for kind, mask in _masks(told["attn_mask"], attends=False).items():
        by_head = mask.reshape(-1, part.num_heads, *mask.shape[-2:]) if mask.ndim == 3 else mask
        masks[kind] = _alike(by_head, name)
    padding = told["key_padding_mask"]
    if padding is not None:
        for kind, array in _masks(padding, attends=False).items():
            lines, before = array[..., None, :], masks.get(kind)
            join = np.logical_and if kind == "allowed" else np.add
            masks[kind] = lines if before is None else join(before, lines)
    rows = query.shape[-2]
    masks = {kind: np.broadcast_to(mask, (*mask.shape[:-2], rows, mask.shape[-1]))
             for kind, mask in masks.items()}  # fmt: skip
    kinds = ["boolean"] * ("allowed" in masks) + ["additive"] * ("mask" in masks)
    spec = Attention(
        source="self" if own else "cross",
        heads=part.num_heads,
        mask=kinds or None,
        output_projection=True,
        projection_bias=part.in_proj_bias is not None,
    )
    axes = dict.fromkeys(("X", "memory", "output", *masks), 2)
    return Call(name, spec, {**given, **masks}, _array(output), axes, _digits(output))


def _weights(part: Any) -> dict[str, Array]:
    """The module's projections, turned so that they multiply from the right."""
    if part.in_proj_weight is not None:
        projections = part.in_proj_weight.chunk(3)
    else:
        projections = (part.q_proj_weight, part.k_proj_weight, part.v_proj_weight)
    pairs = zip("QKV", projections, strict=True)
    weights = {f"W_{letter}": _array(matrix).T for letter, matrix in pairs}
    weights["W_O"] = _array(part.out_proj.weight).T
    if part.in_proj_bias is not None:
        for letter, vector in zip("QKV", part.in_proj_bias.chunk(3), strict=True):
            weights[f"b_{letter}"] = _array(vector)[None, :]
        weights["b_O"] = _array(part.out_proj.bias)[None, :]
    return weights
