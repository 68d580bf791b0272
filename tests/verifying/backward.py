"""Functions of PyTorch and JAX that are right forward, with right and with wrong backward passes.

`WRONG` has what each does wrong by its name; where that has a name among the misconceptions, the
name is in the table of `tests/verifying/test_backward.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.nn import functional

Array = Any


def weights_of(q: Array, k: Array, causal: bool = False, cap: float = 0.0) -> Array:
    z = q @ k.mT / math.sqrt(q.shape[-1])
    if cap:
        z = cap * torch.tanh(z / cap)
    if causal:
        seen = torch.ones(z.shape[-2:], dtype=torch.bool).tril()
        z = z.masked_fill(~seen, -math.inf)
    return z.softmax(-1)


def repeated(x: Array, heads: int) -> Array:
    return x.repeat_interleave(heads // x.shape[-3], dim=-3)


class Kernel(torch.autograd.Function):
    """O = softmax(Q Kᵀ / √d) V, and its backward pass by hand."""

    causal, cap = False, 0.0

    @classmethod
    def weights(cls, q: Array, k: Array) -> Array:
        return weights_of(q, k, cls.causal, cls.cap)

    @classmethod
    def forward(cls, ctx: Any, q: Array, k: Array, v: Array) -> Array:
        a = cls.weights(q, k)
        ctx.save_for_backward(q, k, v, a)
        return a @ v

    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        q, k, v, a = ctx.saved_tensors
        dv = cls.dv(a, do)
        ds = cls.ds(a, cls.da(do, v), q, k)
        return *cls.dqk(ds, q, k), dv

    @staticmethod
    def da(do: Array, v: Array) -> Array:
        return do @ v.mT

    @staticmethod
    def dv(a: Array, do: Array) -> Array:
        return a.mT @ do

    @classmethod
    def ds(cls, a: Array, da: Array, q: Array, k: Array) -> Array:
        return cls.dz(a, da) / math.sqrt(q.shape[-1])

    @staticmethod
    def dz(a: Array, da: Array) -> Array:
        return a * (da - (a * da).sum(-1, keepdim=True))

    @staticmethod
    def dqk(ds: Array, q: Array, k: Array) -> tuple[Array, Array]:
        return ds @ k, ds.mT @ q


def kernel(base: type = Kernel, **methods: Any) -> Callable[..., Array]:
    """A function by a `Kernel` with other parts."""
    made = type(
        "Made", (base,), {n: staticmethod(f) if callable(f) else f for n, f in methods.items()}
    )

    def attention(q: Array, k: Array, v: Array) -> Array:
        return made.apply(q, k, v)  # type: ignore[attr-defined]

    return attention


class Grouped(Kernel):
    """The same with heads that share keys and values."""

    @classmethod
    def forward(cls, ctx: Any, q: Array, k: Array, v: Array) -> Array:
        a = cls.weights(q, repeated(k, q.shape[-3]))
        ctx.save_for_backward(q, k, v, a)
        return a @ repeated(v, q.shape[-3])

    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        q, k, v, a = ctx.saved_tensors
        heads, groups = q.shape[-3], k.shape[-3]
        dv = cls.shared(a.mT @ do, groups)
        ds = cls.dz(a, do @ repeated(v, heads).mT) / math.sqrt(q.shape[-1])
        return ds @ repeated(k, heads), cls.shared(ds.mT @ q, groups), dv

    @staticmethod
    def shared(x: Array, groups: int) -> Array:
        return x.unflatten(-3, (groups, -1)).sum(-3)


class Flash(torch.autograd.Function):
    """The weights are computed again, from the log-sum-exp alone."""

    block = 4

    @classmethod
    def forward(cls, ctx: Any, q: Array, k: Array, v: Array) -> Array:
        z = q @ k.mT / math.sqrt(q.shape[-1])
        lse = z.logsumexp(-1, keepdim=True)
        o = (z - lse).exp() @ v
        ctx.save_for_backward(q, k, v, o, lse)
        return o

    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        q, k, v, o, lse = ctx.saved_tensors
        scale = 1 / math.sqrt(q.shape[-1])
        dots = (do * o).sum(-1, keepdim=True)
        dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
        for j in cls.blocks(k.shape[-2]):
            kj, vj = k[..., j, :], v[..., j, :]
            p = (scale * q @ kj.mT - cls.log_sum(lse)).exp()
            dv[..., j, :] += p.mT @ do
            ds = cls.dz(p, do @ vj.mT, dots) * scale
            cls.add(dq, ds @ kj)
            dk[..., j, :] += ds.mT @ q
        return dq, dk, dv

    @classmethod
    def blocks(cls, keys: int) -> list[slice]:
        return [slice(j, j + cls.block) for j in range(0, keys, cls.block)]

    @staticmethod
    def log_sum(lse: Array) -> Array:
        return lse

    @staticmethod
    def dz(p: Array, dp: Array, dots: Array) -> Array:
        return p * (dp - dots)

    @staticmethod
    def add(dq: Array, part: Array) -> None:
        dq += part


def with_bias(dbias: Callable[[Array], Array | None]) -> Callable[..., Array]:
    class Biased(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, q: Array, k: Array, v: Array, bias: Array) -> Array:
            a = (q @ k.mT / math.sqrt(q.shape[-1]) + bias).softmax(-1)
            ctx.save_for_backward(q, k, v, a)
            return a @ v

        @staticmethod
        def backward(ctx: Any, do: Array) -> tuple[Array | None, ...]:
            q, k, v, a = ctx.saved_tensors
            dz = Kernel.dz(a, do @ v.mT)
            ds = dz / math.sqrt(q.shape[-1])
            return ds @ k, ds.mT @ q, a.mT @ do, dbias(dz)

    def attention(q: Array, k: Array, v: Array, bias: Array) -> Array:
        return Biased.apply(q, k, v, bias)  # type: ignore[no-untyped-call]

    return attention


def with_sink(dsink: Callable[[Array, Array], Array], full: bool = True) -> Callable[..., Array]:
    class Sunk(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, q: Array, k: Array, v: Array, sink: Array) -> Array:
            z = q @ k.mT / math.sqrt(q.shape[-1])
            column = sink.reshape(-1, 1, 1).expand(*z.shape[:-1], 1)
            a = torch.cat([z, column], -1).softmax(-1)
            ctx.save_for_backward(q, k, v, a)
            ctx.shape = sink.shape
            return a[..., :-1] @ v

        @staticmethod
        def backward(ctx: Any, do: Array) -> tuple[Array, ...]:
            q, k, v, whole = ctx.saved_tensors
            a, of_sink = whole[..., :-1], whole[..., -1:]
            da = do @ v.mT
            dots = (a * da).sum(-1, keepdim=True)
            share = dots if full else dots / a.sum(-1, keepdim=True)
            ds = a * (da - share) / math.sqrt(q.shape[-1])
            total = dsink(of_sink, dots)
            total = total.sum(dim=tuple(range(total.ndim - 3))) if total.ndim > 3 else total
            return ds @ k, ds.mT @ q, a.mT @ do, total.sum((-2, -1)).reshape(ctx.shape)

    def attention(q: Array, k: Array, v: Array, sink: Array) -> Array:
        return Sunk.apply(q, k, v, sink)  # type: ignore[no-untyped-call]

    return attention


# ---- right ones, in unusual style --------------------------------------------------------------


def by_autograd(q: Array, k: Array, v: Array) -> Array:
    return weights_of(q, k) @ v


def sdpa(q: Array, k: Array, v: Array) -> Array:
    return functional.scaled_dot_product_attention(q, k, v)


def checkpointed(q: Array, k: Array, v: Array) -> Array:
    from torch.utils.checkpoint import checkpoint

    return checkpoint(by_autograd, q, k, v, use_reentrant=False)


class Old(torch.autograd.Function):
    """By ``setup_context`` and ``needs_input_grad``, and with a backward that saves memory."""

    @staticmethod
    def forward(q: Array, k: Array, v: Array) -> tuple[Array, Array]:
        a = weights_of(q, k)
        return a @ v, a

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Array, ...], output: tuple[Array, Array]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Array, _: Array) -> tuple[Array | None, ...]:
        q, k, v, a = ctx.saved_tensors
        dv = a.mT.matmul(do) if ctx.needs_input_grad[2] else None
        work = do.matmul(v.mT).mul_(a)
        work.sub_(a * work.sum(-1, keepdim=True)).mul_(q.shape[-1] ** -0.5)
        return work.matmul(k), work.mT.matmul(q), dv


def with_setup(q: Array, k: Array, v: Array) -> Array:
    return Old.apply(q, k, v)[0]  # type: ignore[no-untyped-call]


@torch.no_grad()
def without_gradient(q: Array, k: Array, v: Array) -> Array:
    return by_autograd(q, k, v)


def of_numpy(q: Array, k: Array, v: Array) -> Array:
    z = q.numpy() @ k.mT.numpy() / math.sqrt(q.shape[-1])
    e = np.exp(z - z.max(-1, keepdims=True))
    return torch.from_numpy(e / e.sum(-1, keepdims=True) @ v.numpy())


def masked_with_where(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.mT / math.sqrt(q.shape[-1])
    safe = torch.where(mask, z, torch.full_like(z, torch.finfo(z.dtype).min))
    e = torch.exp(safe - safe.amax(-1, keepdim=True)) * mask
    return (e / e.sum(-1, keepdim=True).clamp_min(1e-37)) @ v


def biased(q: Array, k: Array, v: Array, bias: Array) -> Array:
    return (q @ k.mT / math.sqrt(q.shape[-1]) + bias).softmax(-1) @ v


def multi_head(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int) -> Array:
    q, k, v = ((x @ w).unflatten(-1, (heads, -1)).transpose(-3, -2) for w in (w_q, w_k, w_v))
    return (weights_of(q, k) @ v).transpose(-3, -2).flatten(-2) @ w_o


def sunk(q: Array, k: Array, v: Array, sink: Array) -> Array:
    z = q @ k.mT / math.sqrt(q.shape[-1])
    column = sink.reshape(-1, 1, 1).expand(*z.shape[:-1], 1)
    return torch.cat([z, column], -1).softmax(-1)[..., :-1] @ v


def grouped_sdpa(q: Array, k: Array, v: Array) -> Array:
    return functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def in_jax(q: Array, k: Array, v: Array) -> Array:
    return jax.nn.softmax(q @ k.mT / jnp.sqrt(q.shape[-1]), axis=-1) @ v


def vjp(backward: Callable[..., tuple[Array, ...]]) -> Callable[..., Array]:
    """A function of JAX with its backward pass by hand."""

    @jax.custom_vjp
    def attention(q: Array, k: Array, v: Array) -> Array:
        return in_jax(q, k, v)

    def forward(q: Array, k: Array, v: Array) -> tuple[Array, tuple[Array, ...]]:
        a = jax.nn.softmax(q @ k.mT / jnp.sqrt(q.shape[-1]), axis=-1)
        return a @ v, (q, k, v, a)

    def back(saved: tuple[Array, ...], do: Array) -> tuple[Array, ...]:
        return backward(*saved, do)

    attention.defvjp(forward, back)
    return attention


def jax_by_hand(q: Array, k: Array, v: Array, a: Array, do: Array) -> tuple[Array, ...]:
    da = do @ v.mT
    ds = a * (da - (a * da).sum(-1, keepdims=True)) / jnp.sqrt(q.shape[-1])
    return ds @ k, ds.mT @ q, a.mT @ do


# ---- wrong ones ---------------------------------------------------------------------------------


class Stale(Kernel):
    """What is saved is saved on the class."""

    saved: Any = None

    @classmethod
    def forward(cls, ctx: Any, q: Array, k: Array, v: Array) -> Array:
        cls.saved = q, k, v, weights_of(q, k)
        return cls.saved[3] @ v

    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        q, k, v, a = cls.saved
        ds = cls.ds(a, do @ v.mT, q, k)
        return ds @ k, ds.mT @ q, a.mT @ do


class Overflowing(Flash):
    """The weights are computed again without the largest score."""

    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        q, k, v, _, _ = ctx.saved_tensors
        e = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
        a = e / e.sum(-1, keepdim=True)
        ds = Kernel.ds.__func__(Kernel, a, do @ v.mT, q, k)  # type: ignore[attr-defined]
        return ds @ k, ds.mT @ q, a.mT @ do


class NotMasked(Kernel):
    """The weights of a causal mask are computed again without it."""

    causal = True

    @classmethod
    def forward(cls, ctx: Any, q: Array, k: Array, v: Array) -> Array:
        out = super().forward(ctx, q, k, v)
        ctx.save_for_backward(q, k, v, weights_of(q, k))
        return out


class InPlace(Kernel):
    """The gradient that it is given is overwritten."""

    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        found = super().backward(ctx, do)
        do.mul_(2)
        return found


class Raises(Kernel):
    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        _, _, v, a = ctx.saved_tensors
        return do @ v.mT, do, a


class InFloat32(Kernel):
    @classmethod
    def backward(cls, ctx: Any, do: Array) -> tuple[Array, ...]:
        return tuple(x.float() for x in super().backward(ctx, do))


def weights_detached(q: Array, k: Array, v: Array) -> Array:
    return weights_of(q, k).detach() @ v


def all_detached(q: Array, k: Array, v: Array) -> Array:
    return by_autograd(q, k, v).detach()


def keys_detached(q: Array, k: Array, v: Array) -> Array:
    return weights_of(q, k.detach()) @ v


def nan_for_empty_rows(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.mT / math.sqrt(q.shape[-1]) + torch.where(mask, 0.0, -math.inf).to(q.dtype)
    return torch.nan_to_num(z.softmax(-1)) @ v


def jax_stopped(q: Array, k: Array, v: Array) -> Array:
    return jax.lax.stop_gradient(jax.nn.softmax(q @ k.mT / jnp.sqrt(q.shape[-1]))) @ v


def jax_without_scale(q: Array, k: Array, v: Array, a: Array, do: Array) -> tuple[Array, ...]:
    dq, dk, dv = jax_by_hand(q, k, v, a, do)
    return dq * jnp.sqrt(q.shape[-1]), dk * jnp.sqrt(q.shape[-1]), dv


def one_way(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int) -> Array:
    q, k, v = (
        (y @ w).unflatten(-1, (heads, -1)).transpose(-3, -2)
        for y, w in ((x, w_q), (x.detach(), w_k), (x, w_v))
    )
    return (weights_of(q, k) @ v).transpose(-3, -2).flatten(-2) @ w_o


ROOT = math.sqrt

#: By name: the function, and the misconception that it has; "" where it has none.
WRONG: dict[str, tuple[str, Callable[..., Array], str]] = {
    "no scale": ("dot", kernel(ds=lambda a, da, q, k: Kernel.dz(a, da)), "gradient-not-scaled"),
    "no scale of Q": (
        "dot",
        kernel(dqk=lambda ds, q, k: (ds @ k * ROOT(q.shape[-1]), ds.mT @ q)),
        "gradient-not-scaled-of-Q",
    ),
    "scaled twice": (
        "dot",
        kernel(ds=lambda a, da, q, k: Kernel.dz(a, da) / q.shape[-1]),
        "gradient-scaled-twice",
    ),
    "K scaled twice": (
        "dot",
        kernel(dqk=lambda ds, q, k: (ds @ k, ds.mT @ q / ROOT(q.shape[-1]))),
        "gradient-scaled-twice-of-K",
    ),
    "no row sum": ("dot", kernel(dz=lambda a, da: a * da), "row-sum-missing"),
    "row sum of dA": (
        "dot",
        kernel(dz=lambda a, da: a * (da - da.sum(-1, keepdim=True))),
        "row-sum-of-the-gradient-alone",
    ),
    "row mean": (
        "dot",
        kernel(dz=lambda a, da: a * (da - (a * da).mean(-1, keepdim=True))),
        "row-mean",
    ),
    "row sum added": (
        "dot",
        kernel(dz=lambda a, da: a * (da + (a * da).sum(-1, keepdim=True))),
        "row-sum-added",
    ),
    "of a sigmoid": ("dot", kernel(dz=lambda a, da: a * (1 - a) * da), "softmax-diagonal"),
    "straight through the softmax": ("dot", kernel(dz=lambda a, da: da), "softmax-passed-through"),
    "over the other axis": (
        "dot",
        kernel(dz=lambda a, da: a * (da - (a * da).sum(-2, keepdim=True))),
        "column-sum",
    ),
    "keys and values exchanged": (
        "dot",
        kernel(dv=lambda a, do: a.mT @ do + 1),
        "",
    ),
    "no dV": ("dot", kernel(dv=lambda a, do: None), "no-gradient-of-V"),
    "dropout's rescaling": (
        "dot",
        kernel(dv=lambda a, do: a.mT @ do / 0.9),
        "dropout-rescaled-10-of-V",
    ),
    "dropout's rescaling of all": (
        "dot",
        kernel(da=lambda do, v: do @ v.mT * 0.8, dv=lambda a, do: a.mT @ do * 0.8),
        "dropout-rescaled-20-inverse",
    ),
    "stale": ("dot", kernel(Stale), ""),
    "overflowing": ("dot", kernel(Overflowing), ""),
    "gradient overwritten": ("dot", kernel(InPlace), ""),
    "raises": ("dot", kernel(Raises), ""),
    "in float32": ("dot", kernel(InFloat32), ""),
    "not masked": ("causal", kernel(NotMasked), "recomputed-not-masked"),
    "dV not masked": (
        "causal",
        kernel(NotMasked, dz=lambda a, da: torch.tril(a) * 0 + Kernel.dz(a, da)),
        "",
    ),
    "last block left out": (
        "dot",
        kernel(Flash, blocks=lambda keys: [slice(j, j + 4) for j in range(0, max(keys - 3, 1), 4)]),
        "",
    ),
    "dQ of the last block": ("dot", kernel(Flash, add=lambda dq, part: dq.copy_(part)), ""),
    "dots without O": (
        "dot",
        kernel(Flash, dz=lambda p, dp, dots: p * (dp - (p * dp).sum(-1, keepdim=True))),
        "",
    ),
    "log-sum-exp in base 2": ("dot", kernel(Flash, log_sum=lambda lse: lse * math.log(2)), ""),
    "blocks of 64": (
        "dot",
        kernel(Flash, blocks=lambda keys: [slice(0, min(keys, 64))]),
        "",
    ),
    "one head of a group": (
        "groups",
        kernel(Grouped, shared=lambda x, g: x.unflatten(-3, (g, -1))[..., 0, :, :]),
        "groups-not-summed",
    ),
    "the mean of a group": (
        "groups",
        kernel(Grouped, shared=lambda x, g: x.unflatten(-3, (g, -1)).mean(-3)),
        "groups-averaged",
    ),
    "groups tiled": (
        "groups",
        kernel(Grouped, shared=lambda x, g: x.unflatten(-3, (-1, g)).sum(-4)),
        "gradient-groups-tiled",
    ),
    "cap left out": ("cap", kernel(cap=2.0), "cap-left-out"),
    "cap not divided": (
        "cap",
        kernel(
            cap=2.0,
            ds=lambda a, da, q, k: (
                Kernel.dz(a, da)
                * (1 - (2 * torch.tanh(q @ k.mT / ROOT(q.shape[-1]) / 2)) ** 2)
                / ROOT(q.shape[-1])
            ),
        ),
        "cap-not-divided",
    ),
    "no gradient of the bias": ("bias", with_bias(lambda dz: None), "no-gradient-of-bias"),
    "bias scaled": ("bias", with_bias(lambda dz: dz / 2), ""),
    "sink's sign": ("sink", with_sink(lambda of_sink, dots: of_sink * dots), ""),
    "sink's share in the row sum": (
        "sink",
        with_sink(lambda of_sink, dots: -of_sink * dots, full=False),
        "",
    ),
    "weights detached": ("dot", weights_detached, "weights-detached"),
    "all detached": ("dot", all_detached, "detached"),
    "keys detached": ("dot", keys_detached, "no-gradient-of-K"),
    "NaN for empty rows": ("masked", nan_for_empty_rows, ""),
    "one way": ("multi-head", one_way, ""),
    "JAX without scale": ("dot", vjp(jax_without_scale), "gradient-not-scaled"),
    "JAX stopped": ("dot", jax_stopped, "weights-detached"),
}

RIGHT: dict[str, tuple[str, Callable[..., Array]]] = {
    "by autograd": ("dot", by_autograd),
    "by hand": ("dot", kernel()),
    "flash": ("dot", kernel(Flash)),
    "sdpa": ("dot", sdpa),
    "checkpointed": ("dot", checkpointed),
    "setup": ("dot", with_setup),
    "causal": ("causal", kernel(causal=True)),
    "groups": ("groups", kernel(Grouped)),
    "groups of sdpa": ("groups", grouped_sdpa),
    "where": ("masked", masked_with_where),
    "biased": ("bias", biased),
    "bias by hand": ("bias", with_bias(lambda dz: dz)),
    "sink": ("sink", sunk),
    "sink by hand": ("sink", with_sink(lambda of_sink, dots: -of_sink * dots)),
    "multi-head": ("multi-head", multi_head),
    "JAX": ("dot", in_jax),
    "JAX, jitted": ("dot", jax.jit(in_jax)),
    "JAX by hand": ("dot", vjp(jax_by_hand)),
}

#: Right ones that cannot be differentiated.
FORWARD_ONLY: dict[str, Callable[..., Array]] = {
    "no_grad": without_gradient,
    "NumPy inside": of_numpy,
}
