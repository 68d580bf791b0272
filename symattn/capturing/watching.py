"""`capture`: attentions that a PyTorch model computes, recorded, and what else may be one, said.

PyTorch is imported when it is used. Whatever calls ``scaled_dot_product_attention`` is seen, and
every ``nn.MultiheadAttention`` (or call of ``multi_head_attention_forward``) with its projections.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from symattn.arguments import instance
from symattn.capturing.call import Captured
from symattn.capturing.flow import Flow, PartialCapture
from symattn.errors import SymattnError

if TYPE_CHECKING:
    from torch import nn


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
        from torch import nn

        from symattn.capturing.modes import watched
    except ImportError:
        raise SymattnError("capture: needs PyTorch 2.6 or newer; pip install torch") from None

    instance(module, nn.Module, "module", "a torch.nn.Module")
    calls, flow = Captured(), Flow(module)
    with watched(module, calls, flow):
        yield calls
    calls.missed = flow.modules.missed
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
