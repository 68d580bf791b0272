"""`capture`: attentions that a PyTorch model computes, recorded, and what else may be one, said.

PyTorch is imported when it is used. Whatever calls ``scaled_dot_product_attention`` is seen, and
every ``nn.MultiheadAttention`` (or call of ``multi_head_attention_forward``) with its projections.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from symattn.arguments import instance
from symattn.capturing.call import Call, Captured
from symattn.capturing.flow import Flow, PartialCapture
from symattn.capturing.reading import NESTED, Argument, dot_product, is_nested, multi_head
from symattn.errors import SymattnError

if TYPE_CHECKING:
    from torch import nn
    from torch.utils.hooks import RemovableHandle


@contextmanager
def capture(module: nn.Module) -> Iterator[Captured]:
    """Record the attentions that `module` computes inside the block, by PyTorch's two functions.

    ::

        with symattn.capture(model) as calls:
            model(x)
        calls[0].derivation(), calls[0].evaluate(batch=0), calls[0].check()

    At the end of the block ``calls.missed`` has what else ran and may be an attention or another
    mixer of tokens, of which a `PartialCapture` warns, and ``calls.status`` is then 4.

    Whatever was compiled by torch.compile runs as it is written meanwhile, and PyTorch's fast paths
    are off, since neither calls what could be seen.

    Raises `SymattnError` where PyTorch is missing, for dropout, which has no one result, for what
    is no plain array (nested tensors, vmap) or module (TorchScript), and if no attention was seen.
    """
    try:
        import torch
        from torch.compiler import set_stance
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError:
        raise SymattnError("capture: needs PyTorch 2.6 or newer; pip install torch") from None

    instance(module, torch.nn.Module, "module", "a torch.nn.Module")
    calls, flow = Captured(), Flow(module)

    class Watching(TorchFunctionMode):
        """Sees the two functions however they were imported; what they call is theirs."""

        def __torch_function__(
            self,
            func: Callable[..., Argument],
            types: object,
            args: Sequence[Argument] = (),
            kwargs: Mapping[str, Argument] | None = None,
        ) -> Argument:
            if func in leaving_torch:
                flow.taken_out(args[0])
            read = readers.get(func)
            if read is None:
                return func(*args, **(kwargs or {}))
            name = _numbered(flow.inside, calls)
            try:
                with flow.captured() as results:
                    result, call = read(name, args, kwargs or {})
                    results.append(result)
            except SymattnError as error:
                raise SymattnError(f"{name}: {error}") from None
            calls.append(call)
            return result

    class Below(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch's own
        """Sees every operation, also of scripted functions, under autograd and of nobody's kind."""

        supports_higher_order_operators = True

        def __torch_dispatch__(
            self,
            func: Callable[..., Argument],
            types: object,
            args: Sequence[Argument] = (),
            kwargs: Mapping[str, Argument] | None = None,
        ) -> Argument:
            result = func(*args, **(kwargs or {}))
            flow.follow(func, args, kwargs or {}, result)
            return result

    def entering(name: str, part: nn.Module) -> Callable[..., None]:
        takes_nested = isinstance(
            part,
            torch.nn.MultiheadAttention
            | torch.nn.TransformerEncoder
            | torch.nn.TransformerEncoderLayer,
        )

        def enter(
            part: nn.Module, args: Sequence[Argument], kwargs: Mapping[str, Argument]
        ) -> None:
            flow.ran[name] = (part, tuple(flow.inside))
            flow.inside.append(name)
            if takes_nested and any(is_nested(value) for value in (*args, *kwargs.values())):
                raise SymattnError(f"{name}: {NESTED}")

        return enter

    def leaving(part: nn.Module, args: object, result: object) -> None:
        flow.inside.pop()

    readers = {
        torch.nn.functional.scaled_dot_product_attention: dot_product,
        torch.nn.functional.multi_head_attention_forward: multi_head,
    }
    leaving_torch = (torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__dlpack__)
    hooks: list[RemovableHandle] = []
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        for path, part in module.named_modules():
            if isinstance(part, torch.jit.ScriptModule):
                raise SymattnError(
                    f"{path or 'capture'}: TorchScript is not captured; give the module that it "
                    "was made from"
                )
            name = path.replace("_orig_mod.", "").removesuffix("_orig_mod") or _kind(part)
            enter = entering(name, part)
            hooks.append(part.register_forward_pre_hook(enter, with_kwargs=True))
            hooks.append(part.register_forward_hook(leaving, always_call=True))
        below = Below()  # type: ignore[no-untyped-call]  # as the class
        with Watching(), below, set_stance("force_eager"):
            yield calls
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for hook in hooks:
            hook.remove()
    calls.missed = flow.missed
    listed = ", ".join(map(str, calls.missed))
    if not calls:
        may = f", though one may have run in {listed}" if calls.missed else ""
        raise SymattnError(
            f"capture: no attention ran in the block that is captured{may}; nn.MultiheadAttention "
            "and calls of scaled_dot_product_attention are, not explicit products or flex_attention"
        )
    if calls.missed:
        warnings.warn(
            "capture: beside the captured attentions there may be another one, or another mixer "
            f"of tokens, in {listed}",
            PartialCapture,
            stacklevel=3,
        )


def _kind(part: nn.Module) -> str:
    """The name of a module that has no path: its class, below what torch.compile wraps it in."""
    return type(getattr(part, "_orig_mod", part)).__name__


def _numbered(inside: Sequence[str], calls: Sequence[Call]) -> str:
    """The name of the module that is running, numbered if it calls attention more than once."""
    name = inside[-1] if inside else "attention"
    before = sum(call.name.split(" #")[0] == name for call in calls)
    return f"{name} #{before + 1}" if before else name
