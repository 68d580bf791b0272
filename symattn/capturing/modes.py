"""What PyTorch shows of a running model: its two functions, every operation, every module.

PyTorch is needed to import this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.compiler import set_stance
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

from symattn.capturing.call import Call
from symattn.capturing.flow import Flow
from symattn.capturing.reading import NESTED, dot_product, is_nested, multi_head
from symattn.errors import SymattnError

_READERS = {
    nn.functional.scaled_dot_product_attention: dot_product,
    nn.functional.multi_head_attention_forward: multi_head,
}
_LEAVING = (torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__dlpack__)
_TAKE_NESTED = (nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerEncoderLayer)


class Watching(TorchFunctionMode):
    """Sees the two functions however they were imported; what they call is theirs."""

    def __init__(self, calls: list[Call], flow: Flow) -> None:
        super().__init__()
        self.calls, self.flow = calls, flow

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in _LEAVING:
            self.flow.taken_out(args[0])
        read = _READERS.get(func)
        if read is None:
            return func(*args, **(kwargs or {}))
        name = _numbered(self.flow.modules.inside, self.calls)
        try:
            with self.flow.captured() as results:
                result, call = read(name, args, kwargs or {})
                results.append(result)
        except SymattnError as error:
            raise SymattnError(f"{name}: {error}") from None
        self.calls.append(call)
        return result


class Below(TorchDispatchMode):
    """Sees every operation, also of scripted functions, under autograd and of nobody's kind."""

    supports_higher_order_operators = True

    def __init__(self, flow: Flow) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PyTorch's own
        self.flow = flow

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.flow.follow(func, args, kwargs or {}, result)
        return result


@contextmanager
def watched(module: nn.Module, calls: list[Call], flow: Flow) -> Iterator[None]:
    """What runs inside is seen; nothing is compiled, and no fast path is taken."""
    hooks: list[RemovableHandle] = []
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        for path, part in module.named_modules():
            hooks += _hooks(path, part, flow)
        with Watching(calls, flow), Below(flow), set_stance("force_eager"):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for hook in hooks:
            hook.remove()


def _hooks(path: str, part: nn.Module, flow: Flow) -> tuple[RemovableHandle, RemovableHandle]:
    """What notes when a module begins and when it ends."""
    if isinstance(part, torch.jit.ScriptModule):
        raise SymattnError(
            f"{path or 'capture'}: TorchScript is not captured; give the module that it was made "
            "from"
        )
    name = path.replace("_orig_mod.", "").removesuffix("_orig_mod") or _kind(part)

    def enter(part: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        flow.modules.enter(name, part)
        given = (*args, *kwargs.values())
        if isinstance(part, _TAKE_NESTED) and any(is_nested(value) for value in given):
            raise SymattnError(f"{name}: {NESTED}")

    def leave(part: nn.Module, args: object, result: object) -> None:
        flow.modules.inside.pop()

    entering = part.register_forward_pre_hook(enter, with_kwargs=True)
    return entering, part.register_forward_hook(leave, always_call=True)


def _kind(part: nn.Module) -> str:
    """The name of a module that has no path: its class, below what torch.compile wraps it in."""
    return type(getattr(part, "_orig_mod", part)).__name__


def _numbered(inside: Sequence[str], calls: Sequence[Call]) -> str:
    """The name of the module that is running, numbered if it calls attention more than once."""
    name = inside[-1] if inside else "attention"
    before = sum(call.name.split(" #")[0] == name for call in calls)
    return f"{name} #{before + 1}" if before else name
