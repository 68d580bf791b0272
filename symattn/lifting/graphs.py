"""Functions of PyTorch and JAX, by the graphs that these make of them, on entries that record.

A graph is a list of the library's own operations at given shapes. Each is done on arrays of NumPy
by a row of a table: `_OF_TORCH`, `_OF_JAX`. What is made of constants alone the library computes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symattn.lifting.entries import Entries, entries
from symattn.lifting.said import Unsaid


def of_torch(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a function of PyTorch returns of arrays that record."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn.attention import SDPBackend, sdpa_kernel

    names = [*range(len(args)), *named]
    values = [*args, *named.values()]
    places = [k for k, value in enumerate(values) if isinstance(value, Entries)]
    form: list[Any] = []

    def called(*tensors: Any) -> Any:
        filled = [*values]
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        of = {name: x for name, x in zip(names, filled, strict=True) if isinstance(name, str)}
        result = function(*filled[: len(args)], **of)
        listed = result if isinstance(result, tuple | list) else (result,)
        if isinstance(result, Mapping):
            form[:] = [*result]
            return (*result.values(),)
        form[:] = [] if result is listed else [None]
        return (*listed,)

    draw = torch.Generator().manual_seed(0)
    shapes = [values[place].shape for place in places]
    tensors = [torch.rand(shape, generator=draw, dtype=torch.float64) for shape in shapes]
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        graph = make_fx(torch.func.functionalize(called, remove="mutations_and_views"))(*tensors)
    found = _followed(graph, [values[place] for place in places])
    if form == [None]:
        return found[0]
    return dict(zip(form, found, strict=True)) if form else tuple(found)


def _followed(graph: Any, given: Sequence[Any]) -> Any:
    """The results of a graph of PyTorch's."""
    import torch

    values: dict[Any, Any] = {}
    waiting = iter(given)

    def known(one: Any) -> Any:
        if isinstance(one, list | tuple):
            return type(one)(map(known, one))
        return values.get(one, one) if isinstance(one, torch.fx.Node) else one

    for node in graph.graph.nodes:
        args = known(tuple(node.args))
        more = {name: known(value) for name, value in node.kwargs.items()}
        if node.op == "placeholder":
            values[node] = next(waiting)
        elif node.op == "get_attr":
            values[node] = getattr(graph, node.target)
        elif node.op == "output":
            return [_array(one) for one in args[0]]
        elif node.target is operator.getitem:
            values[node] = args[0][args[1]]
        elif not _holds((args, *more.values())):
            values[node] = node.target(*args, **more)
        else:
            name = node.target._schema.name.partition("::")[2]
            row = _OF_TORCH.get(name)
            if row is None:
                raise Unsaid(f"{name} of PyTorch is not known here")
            more = {key: value for key, value in more.items() if key not in _LEFT_OUT}
            values[node] = row(*_numbers(args), **more)
    raise Unsaid("a graph without an output")


#: What is said of arrays that changes no number.
_LEFT_OUT = ("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking")


def _holds(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds, value))
    return isinstance(value, Entries)


def _array(value: Any) -> Any:
    """A tensor of constants as an array."""
    return value.detach().numpy() if hasattr(value, "detach") else value


def _numbers(args: Any) -> Any:
    return tuple(
        type(one)(map(_array, one)) if isinstance(one, list | tuple) else _array(one)
        for one in args
    )


def _axes(dims: Any) -> Any:
    """The axes of a reduction; all of none."""
    return (
        tuple(dims)
        if isinstance(dims, list | tuple) and dims
        else None
        if not isinstance(dims, int)
        else dims
    )


def _added(a: Any, b: Any, alpha: Any = 1) -> Any:
    return np.add(a, b if alpha == 1 else np.multiply(b, alpha))


def _subtracted(a: Any, b: Any, alpha: Any = 1) -> Any:
    return np.subtract(a, b if alpha == 1 else np.multiply(b, alpha))


def _softmax(x: Any, axis: int, *_: Any) -> Any:
    powers = np.exp(np.subtract(x, np.max(x, axis=axis, keepdims=True)))
    return np.divide(powers, np.sum(powers, axis=axis, keepdims=True))


def _expanded(x: Any, shape: Sequence[int], **_: Any) -> Any:
    own = (1,) * (len(shape) - x.ndim) + x.shape
    wanted = [size if size != -1 else mine for size, mine in zip(shape, own, strict=True)]
    return entries(np.broadcast_to(x.view(np.ndarray), wanted))


def _sliced(x: Any, axis: int = 0, start: Any = None, stop: Any = None, step: int = 1) -> Any:
    key: list[Any] = [slice(None)] * x.ndim
    key[axis] = slice(start, stop, step)
    return x[tuple(key)]


def _slice_scattered(
    x: Any, part: Any, axis: int = 0, start: Any = None, stop: Any = None, step: int = 1
) -> Any:
    out = entries(np.array(np.asarray(x), object))
    key: list[Any] = [slice(None)] * out.ndim
    key[axis] = slice(start, stop, step)
    out[tuple(key)] = part
    return out


def _select_scattered(x: Any, part: Any, axis: int, place: int) -> Any:
    out = entries(np.array(np.asarray(x), object))
    key: list[Any] = [slice(None)] * out.ndim
    key[axis] = place
    out[tuple(key)] = part
    return out


def _selected(x: Any, axis: int, place: int) -> Any:
    return entries(np.take(x.view(np.ndarray), place, axis=axis))


def _indexed(x: Any, keys: Sequence[Any]) -> Any:
    return x[tuple(slice(None) if key is None else key for key in keys)]


def _split(x: Any, size: Any, axis: int = 0) -> Any:
    total = x.shape[axis]
    sizes = size if isinstance(size, list | tuple) else [size] * -(-total // size)
    ends = np.cumsum(sizes)
    return [
        _sliced(x, axis, end - one, min(end, total)) for end, one in zip(ends, sizes, strict=True)
    ]


def _squeezed(x: Any, dims: Any = None) -> Any:
    axes = range(x.ndim) if dims is None else [dims] if isinstance(dims, int) else dims
    return np.squeeze(x, axis=tuple(axis for axis in axes if x.shape[axis] == 1))


def _same(x: Any, *_: Any, **more: Any) -> Any:
    return x


def _largest_of(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The values; the places are known of no entry."""
    if axis is None:
        return np.max(x)
    return np.max(x, axis=axis, keepdims=keepdims), None


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dims=None, keepdims=False: function(x, axis=_axes(dims), keepdims=keepdims)


def _log_sum_exp(x: Any, dims: Any, keepdims: bool = False) -> Any:
    axes = _axes(dims)
    top = np.max(x, axis=axes, keepdims=True)
    out = np.add(np.log(np.sum(np.exp(np.subtract(x, top)), axis=axes, keepdims=True)), top)
    return out if keepdims else np.squeeze(out, axis=axes)


def _sigmoid(x: Any) -> Any:
    return np.divide(1.0, np.add(1.0, np.exp(np.negative(x))))


def _clamped(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _variance(x: Any, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return np.var(x, axis=_axes(dims), ddof=int(correction), keepdims=keepdim)


def _filled(x: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, value, x)


def _padded(x: Any, pads: Sequence[int], value: Any = 0) -> Any:
    pairs = [*zip(pads[::2], pads[1::2], strict=True)]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    return entries(np.pad(x.view(np.ndarray), widths, constant_values=float(value)))


#: What each operation of PyTorch's does.
_OF_TORCH: Mapping[str, Callable[..., Any]] = {
    "mm": np.matmul, "bmm": np.matmul, "matmul": np.matmul, "dot": np.dot, "mv": np.matmul,
    "addmm": lambda c, a, b, **_: np.add(c, np.matmul(a, b)),
    "baddbmm": lambda c, a, b, beta=1, alpha=1: np.add(
        np.multiply(c, beta), np.multiply(np.matmul(a, b), alpha)
    ),
    "t": np.transpose, "transpose": np.swapaxes, "transpose_copy": np.swapaxes,
    "t_copy": np.transpose, "permute": np.transpose, "permute_copy": np.transpose,
    "view": np.reshape, "reshape": np.reshape, "_unsafe_view": np.reshape, "view_copy": np.reshape,
    "_reshape_copy": np.reshape, "expand": _expanded, "expand_copy": _expanded,
    "unsqueeze": np.expand_dims, "unsqueeze_copy": np.expand_dims,
    "squeeze": _squeezed, "squeeze_copy": _squeezed, "squeeze_": _squeezed,
    "add": _added, "sub": _subtracted, "rsub": lambda a, b, alpha=1: _subtracted(b, a, alpha),
    "mul": np.multiply, "div": np.divide, "neg": np.negative, "pow": np.power, "exp": np.exp,
    "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p,
    "sqrt": np.sqrt, "rsqrt": lambda x: np.power(x, -0.5), "tanh": np.tanh, "cos": np.cos,
    "sin": np.sin, "abs": np.abs, "reciprocal": np.reciprocal, "sigmoid": _sigmoid,
    "relu": lambda x: np.maximum(x, 0.0), "silu": lambda x: np.multiply(x, _sigmoid(x)),
    "square": np.square, "maximum": np.maximum, "minimum": np.minimum, "clamp": _clamped,
    "clamp_min": _clamped, "clamp_max": np.minimum,
    "logaddexp": np.logaddexp, "sum": _reduced(np.sum), "mean": _reduced(np.mean),
    "amax": _reduced(np.max), "amin": _reduced(np.min), "max": _largest_of,
    "logsumexp": _log_sum_exp, "var": _variance, "cumsum": lambda x, axis: np.cumsum(x, axis=axis),
    "_softmax": _softmax, "softmax": _softmax, "_safe_softmax": _softmax,
    "_log_softmax": lambda x, axis, *_: np.subtract(x, _log_sum_exp(x, axis, True)),
    "where": np.where, "masked_fill": _filled, "logical_not": np.logical_not,
    "bitwise_not": np.logical_not, "logical_and": np.logical_and, "bitwise_and": np.logical_and,
    "logical_or": np.logical_or, "bitwise_or": np.logical_or, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "isinf": np.isinf, "isnan": np.isnan, "isfinite": np.isfinite, "any": _reduced(np.any),
    "all": _reduced(np.all),
    "tril": np.tril, "triu": np.triu, "cat": lambda parts, axis=0: np.concatenate(parts, axis),
    "stack": lambda parts, axis=0: np.stack(parts, axis), "slice": _sliced, "slice_copy": _sliced,
    "select": _selected, "select_copy": _selected, "index": _indexed, "split": _split,
    "split_copy": _split, "split_with_sizes": _split, "split_with_sizes_copy": _split,
    "chunk": lambda x, count, axis=0: _split(x, -(-x.shape[axis] // count), axis),
    "unbind": lambda x, axis=0: [_selected(x, axis, k) for k in range(x.shape[axis])],
    "unbind_copy": lambda x, axis=0: [_selected(x, axis, k) for k in range(x.shape[axis])],
    "repeat": np.tile, "flip": np.flip,
    "roll": np.roll, "constant_pad_nd": _padded, "slice_scatter": _slice_scattered,
    "select_scatter": _select_scattered, "copy": lambda x, other, *_: _expanded(
        entries(np.asarray(other, object)), x.shape
    ),
    **dict.fromkeys(
        ("clone", "alias", "alias_copy", "detach", "contiguous", "lift_fresh_copy", "_to_copy",
         "lift_fresh", "to", "type_as", "view_as_real_copy"), _same,
    ),
}  # fmt: skip


# ---- JAX -------------------------------------------------------------------------------------


def of_jax(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a function of JAX returns of arrays that record."""
    import jax

    names = [*range(len(args)), *named]
    values = [*args, *named.values()]
    places = [k for k, value in enumerate(values) if isinstance(value, Entries)]

    def called(*arrays: Any) -> Any:
        filled = [*values]
        for place, array in zip(places, arrays, strict=True):
            filled[place] = array
        of = {name: x for name, x in zip(names, filled, strict=True) if isinstance(name, str)}
        return function(*filled[: len(args)], **of)

    with jax.enable_x64(True):  # so that numbers of the program are near to what they stand for
        shapes = [jax.numpy.zeros(values[place].shape, "float64") for place in places]
        closed, made = jax.make_jaxpr(called, return_shape=True)(*shapes)
        found = _of_jaxpr(closed.jaxpr, closed.consts, [values[place] for place in places])
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(made), found)


def _of_jaxpr(jaxpr: Any, constants: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The results of a program of JAX's."""
    values = dict(zip(jaxpr.constvars, map(np.asarray, constants), strict=True))
    values |= dict(zip(jaxpr.invars, given, strict=True))

    def known(one: Any) -> Any:
        return np.asarray(one.val) if hasattr(one, "val") else values[one]

    for equation in jaxpr.eqns:
        args, name = [*map(known, equation.invars)], equation.primitive.name
        if (inner := _inner(equation.params)) is not None and name not in ("scan", "while", "cond"):
            found = _of_jaxpr(inner.jaxpr, inner.consts, args)
        elif name == "scan":
            found = _scanned(equation.params, args)
        elif not _holds(args):
            found = equation.primitive.bind(*args, **equation.params)
            found = [*map(np.asarray, found)] if equation.primitive.multiple_results else [found]
        else:
            row = _OF_JAX.get(name)
            if row is None:
                raise Unsaid(f"{name} of JAX is not known here")
            found = [row(*args, **equation.params)]
        values.update(zip(equation.outvars, found, strict=True))
    return [known(one) for one in jaxpr.outvars]


def _inner(params: Mapping[str, Any]) -> Any:
    """The program within an operation such as jit, if it has one."""
    for name in ("jaxpr", "call_jaxpr"):
        inner = params.get(name)
        if hasattr(inner, "consts"):
            return inner
    return None


def _scanned(params: Mapping[str, Any], args: Sequence[Any]) -> list[Any]:
    """A loop of known length, one step after the other."""
    fixed, carried, inner = params["num_consts"], params["num_carry"], params["jaxpr"]
    constants, carry = args[:fixed], [*args[fixed : fixed + carried]]
    rows: list[list[Any]] = []
    order = range(params["length"])
    for step in reversed(order) if params["reverse"] else order:
        parts = [_selected(_recording(one), 0, step) for one in args[fixed + carried :]]
        found = _of_jaxpr(inner.jaxpr, inner.consts, [*constants, *carry, *parts])
        carry = found[:carried]
        rows.append(found[carried:])
    rows = rows[::-1] if params["reverse"] else rows
    stacked = [
        entries(np.stack([np.asarray(x, object) for x in one])) for one in zip(*rows, strict=True)
    ]
    return [*carry, *stacked]


def _recording(value: Any) -> Any:
    return value if isinstance(value, Entries) else entries(np.asarray(value))


def _dotted(a: Any, b: Any, dimension_numbers: Any, **_: Any) -> Any:
    """A product over some axes, with others in common."""
    (left, right), (left_batch, right_batch) = dimension_numbers
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    one = [next(letters) for _ in range(np.ndim(a))]
    other = [next(letters) for _ in range(np.ndim(b))]
    for mine, its in zip((*left, *left_batch), (*right, *right_batch), strict=True):
        other[its] = one[mine]
    free = [x for k, x in enumerate(one) if k not in (*left, *left_batch)]
    rest = [x for k, x in enumerate(other) if k not in (*right, *right_batch)]
    out = [*(one[k] for k in left_batch), *free, *rest]
    return np.einsum(f"{''.join(one)},{''.join(other)}->{''.join(out)}", a, b)


def _broadcast(x: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int], **_: Any) -> Any:
    own = [1] * len(shape)
    for place, size in zip(broadcast_dimensions, np.shape(x), strict=True):
        own[place] = size
    return entries(np.broadcast_to(np.asarray(x, object).reshape(own), shape))


def _case(condition: Any, *cases: Any, **_: Any) -> Any:
    if len(cases) != 2:
        raise Unsaid("a choice between more than two")
    return np.where(condition, cases[1], cases[0])


def _part(x: Any, start_indices: Any, limit_indices: Any, strides: Any = None, **_: Any) -> Any:
    steps = strides or [1] * x.ndim
    return x[tuple(map(slice, start_indices, limit_indices, steps))]


def _dynamic_part(x: Any, *starts: Any, slice_sizes: Sequence[int], **_: Any) -> Any:
    first = [
        min(max(int(one), 0), n - size)
        for one, n, size in zip(starts, x.shape, slice_sizes, strict=True)
    ]
    return x[tuple(slice(one, one + size) for one, size in zip(first, slice_sizes, strict=True))]


def _updated(x: Any, part: Any, *starts: Any, **_: Any) -> Any:
    out = entries(np.array(np.asarray(x), object))
    sizes = np.shape(part)
    first = [
        min(max(int(one), 0), n - size)
        for one, n, size in zip(starts, out.shape, sizes, strict=True)
    ]
    out[tuple(slice(one, one + size) for one, size in zip(first, sizes, strict=True))] = part
    return out


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axes, **_: function(x, axis=tuple(axes))


def _plain(function: Any) -> Callable[..., Any]:
    return lambda *args, **_: function(*args)


#: What each operation of JAX's does.
_OF_JAX: Mapping[str, Callable[..., Any]] = {
    **{name: _plain(function) for name, function in {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "neg": np.negative, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log1p": np.log1p,
        "expm1": np.expm1, "sqrt": np.sqrt, "rsqrt": lambda x: np.power(x, -0.5),
        "tanh": np.tanh, "cos": np.cos, "sin": np.sin, "abs": np.abs, "max": np.maximum,
        "min": np.minimum, "logistic": _sigmoid, "square": np.square, "pow": np.power,
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal, "not": np.logical_not, "and": np.logical_and,
        "or": np.logical_or, "is_finite": np.isfinite, "stop_gradient": _same, "copy": _same,
        "copy_p": _same, "convert_element_type": _same, "reduce_precision": _same,
        "optimization_barrier": _same,
        "select_n": _case, "clamp": lambda low, x, high: _clamped(x, low, high),
    }.items()},
    "integer_pow": lambda x, y, **_: np.power(x, y),
    "dot_general": _dotted, "broadcast_in_dim": _broadcast, "slice": _part,
    "dynamic_slice": _dynamic_part, "dynamic_update_slice": _updated,
    "reshape": lambda x, new_sizes, **_: np.reshape(x, new_sizes),
    "transpose": lambda x, permutation, **_: np.transpose(x, permutation),
    "squeeze": lambda x, dimensions, **_: np.squeeze(x, axis=tuple(dimensions)),
    "expand_dims": lambda x, dimensions, **_: np.expand_dims(x, tuple(dimensions)),
    "concatenate": lambda *parts, dimension, **_: np.concatenate(parts, dimension),
    "rev": lambda x, dimensions, **_: np.flip(x, tuple(dimensions)),
    "split": lambda x, sizes, axis, **_: _split(x, sizes, axis),
    "cumsum": lambda x, axis, reverse=False, **_: np.cumsum(x, axis=axis),
    "reduce_sum": _over(np.sum), "reduce_max": _over(np.max), "reduce_min": _over(np.min),
    "reduce_and": _over(np.all), "reduce_or": _over(np.any),
    "pad": lambda x, value, padding_config, **_: _padded(
        x, [n for one in reversed(padding_config) for n in one[:2]], value
    ),
}  # fmt: skip
