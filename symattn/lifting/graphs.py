"""Functions of PyTorch and JAX, by the graphs that these make of them, on arrays that record.

A graph is a list of the library's own operations at given shapes. What is made of constants alone
the library computes. It also does what only moves numbers (`_MOVES_OF_TORCH`, `_MOVES_OF_JAX`), to
the places of the numbers, so that a view, an index or a scatter needs no meaning here. All others
are done on arrays of NumPy by a row of a table: `_OF_TORCH`, `_OF_JAX`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from traceback import walk_stack
from types import FrameType
from typing import Any, TypeAlias, cast

import numpy as np

from symattn.lifting import composed
from symattn.lifting.composed import Unmade
from symattn.lifting.entries import Complex, Condition, Entries, Taped, all_of, entries, in_lists
from symattn.lifting.following import followed
from symattn.lifting.loops import WRITTEN
from symattn.lifting.recorded import BRANCHES, Blank, Recorded, bare, in_parts
from symattn.lifting.said import Unsaid

#: Arrays that record: each of their entries by itself, or as a formula of the whole.
_RECORD = (Entries, Recorded)


@dataclass(frozen=True)
class Graph:
    """A program of a library's, with which arguments are arrays that record."""

    args: Sequence[Any]
    named: Mapping[str, Any]

    @property
    def values(self) -> list[Any]:
        """All that is given."""
        return [*self.args, *self.named.values()]

    @property
    def given(self) -> list[Any]:
        """The arrays that record."""
        return [value for value in self.values if isinstance(value, _RECORD)]

    def called(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        """What a function returns of the library's arrays in the place of those that record."""
        waiting = iter(arrays)
        filled = [next(waiting) if isinstance(x, _RECORD) else x for x in self.values]
        count = len(self.args)
        return function(*filled[:count], **dict(zip(self.named, filled[count:], strict=True)))


def _needed(value: Any) -> Any:
    """What an operation is given. Raises `Unsaid` for what could not be made."""
    if isinstance(value, Unmade):
        raise Unsaid(value.why)
    return value


def _holds(value: Any) -> bool:
    return any(isinstance(one, (*_RECORD, Unmade)) for one in all_of(value))


def _kept(value: Any, args: Any) -> Any:
    """What a row gives, as an array even of one number.

    Raises `Unsaid` for numbers that are taken out of arrays that record as wholes.
    """
    if any(isinstance(one, Recorded) for one in all_of(args)):
        for one in all_of(value):
            is_boolean = isinstance(one, np.ndarray) and one.dtype.kind == "b"
            if is_boolean and isinstance(one, Recorded):
                raise Unsaid(BRANCHES)
            if not is_boolean and not isinstance(one, Recorded | Unmade):
                raise Unsaid("an operation without a formula here")
    return entries(value) if isinstance(value, Taped | Complex | Condition) else value


def _is_boolean(array: Any) -> bool:
    """Whether an array that records is of truth values."""
    if isinstance(array, Recorded):
        return False
    return any(isinstance(one, Condition | bool) for one in np.asarray(array).flat)


def _moved(operation: Callable[..., Any], args: Any, library: Callable[[Any], Any]) -> Any:
    """What an operation makes that only moves numbers: the same of their places, 0 where none is.

    `library` makes an array of the library's of one of NumPy's.
    """
    pool: list[Any] = [np.zeros(1)]
    arrays: list[tuple[Any, Any]] = []

    @in_lists
    def placed(one: Any) -> Any:
        records = isinstance(one, _RECORD)
        if not records and getattr(one, "dtype", np.dtype(int)).kind not in "fc":
            return library(one) if isinstance(one, np.ndarray) else one
        numbers, start = np.asarray(bare(one)), sum(map(len, pool))
        pool.append(numbers.ravel())
        places = np.arange(start, start + numbers.size, dtype=float).reshape(numbers.shape)
        if not records:
            places[numbers == 0] = 0
        if places.any():
            arrays.append((one, places))
        return library(places)

    def taken(found: Any) -> Any:
        if isinstance(found, list | tuple):
            return [*map(taken, found)]
        places = np.asarray(found).astype(int)
        if any(isinstance(one, Recorded) for one, _ in arrays):
            return _whole(arrays, places, numbers)
        return entries(numbers[places])

    moved = operation(*map(placed, args))
    numbers = np.concatenate(pool)
    return taken(moved)


def _whole(arrays: Sequence[tuple[Any, Any]], places: Any, numbers: Any) -> Any:
    """An array that records as a whole, of the places that it takes of one, or of some joined."""
    (one, own), *others = arrays
    if not others and places.all():
        return one.taken(places - int(own.flat[0]))
    kept = places != 0
    if not others and places.shape == own.shape and (places == own)[kept].all():
        return np.where(kept, one, 0.0)  # what is left of a triangle
    ways: list[Callable[..., Any]] = [np.stack]
    ways += [partial(np.concatenate, axis=axis) for axis in range(places.ndim)]
    for joined in ways:
        with suppress(ValueError):  # not along this axis
            if np.array_equal(joined([each for _, each in arrays]), places):
                return joined([array for array, _ in arrays])
    run = next(array.run for array, _ in arrays if isinstance(array, Recorded))
    return in_parts(numbers[places], run, [(one, np.isin(places, own)) for one, own in arrays])


def _scattered(
    operation: Callable[[Any, Any], Any], x: Any, parts: Any, combined: np.ufunc, neutral: float
) -> Any:
    """An array into which others are added or multiplied, each at the places that it changes.

    The library's own operation says which: one number at a time is not the neutral one.
    """
    if isinstance(x, Recorded) or isinstance(parts, Recorded):
        raise Unsaid(WRITTEN)
    start, size = np.full(np.shape(x), neutral), np.size(parts)
    alone = np.full((size, size), neutral) + np.eye(size)
    changed = [np.asarray(operation(start, one.reshape(np.shape(parts)))) != start for one in alone]
    out = entries(np.array(x, object))
    for where, part in zip(changed, np.asarray(parts, object).flat, strict=True):
        out[where] = combined(out[where], part)
    return out


# ---- what both have --------------------------------------------------------------------------


def _same(x: Any, *_: Any, **more: Any) -> Any:
    return x


def _as(x: Any, dtype: Any) -> Any:
    """The same as numbers of a dtype; numbers are real here, and truth is 1 or 0.

    Raises `Unsaid` for numbers that are cut to whole ones.
    """
    if isinstance(x, _RECORD):
        x.kept_in(dtype)
    return x if "bool" in str(dtype) or not _is_boolean(x) else np.where(x, 1.0, 0.0)


#: What operations do that both libraries have, by the names that both use.
_OF_BOTH: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: np.power(x, -0.5),
    "tanh": np.tanh,
    "cos": np.cos,
    "sin": np.sin,
    "abs": np.abs,
    "square": np.square,
    "pow": np.power,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "cumsum": np.cumsum,
}


#: The line of a program that an operation comes from, and its file, then those of the calls
#: around it.
Lines: TypeAlias = Sequence[tuple[str, int]]


def _behind(lines: Lines, why: str) -> str:
    """Why, behind the line of the program, unless one stands there."""
    placed = not lines or why.startswith(("line ", "the program"))
    return why if placed else f"line {lines[0][1]}: {why}"


def _at(lines: Lines, args: Any) -> None:
    """An operation of a line begins; what the lines before it made has its name first."""
    used = [one for one in all_of(args) if isinstance(one, Recorded)]
    if used:
        run = used[0].run
        own = [line for file, line in lines if file == run.file]
        run.line = own[0] if own else run.line
        run.at(own, used)


def _made(value: Any) -> Any:
    """What an operation has made; the last of a line is what its variable is."""
    for one in all_of(value):
        if isinstance(one, Recorded):
            one.run.has_made(one)
    return value


# ---- PyTorch ---------------------------------------------------------------------------------


def of_torch(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], file: str
) -> Any:
    """What a function of PyTorch, of a file, returns of arrays that record."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn.attention import SDPBackend, sdpa_kernel

    whole = Graph(args, named)
    form: list[Any] = []

    def called(*tensors: Any) -> Any:
        result = whole.called(function, tensors)
        listed = result if isinstance(result, tuple | list) else (result,)
        if isinstance(result, Mapping):
            form[:] = [*result]
            return (*result.values(),)
        form[:] = [] if result is listed else [None]
        return (*listed,)

    draw = torch.Generator().manual_seed(0)
    tensors = [torch.rand(x.shape, generator=draw, dtype=torch.float64) for x in whole.given]
    tensors = [
        one > 0.5 if _is_boolean(x) else one for one, x in zip(tensors, whole.given, strict=True)
    ]
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), _parameters_made(), _lines_kept(file):
        functional = torch.func.functionalize(called, remove="mutations_and_views")
        graph = make_fx(functional)(*tensors)
    found = _followed(graph, whole.given)
    if form == [None]:
        return found[0]
    return dict(zip(form, found, strict=True)) if form else tuple(found)


def _followed(graph: Any, given: Sequence[Any]) -> Any:
    """The results of a graph of PyTorch's."""
    import torch

    values: dict[Any, Any] = {}
    waiting = iter(given)

    @in_lists
    def known(one: Any) -> Any:
        return values.get(one, one) if isinstance(one, torch.fx.Node) else one

    for node in graph.graph.nodes:
        args = known(tuple(node.args))
        more = {name: known(value) for name, value in node.kwargs.items()}
        if node.op == "placeholder":
            values[node] = next(waiting)
        elif node.op == "get_attr":
            values[node] = getattr(graph, node.target)
        elif node.op == "output":
            return [_needed(_array(one)) for one in args[0]]
        elif node.target is operator.getitem:
            values[node] = _needed(args[0])[args[1]]
        elif not _holds((args, *more.values())):
            values[node] = node.target(*args, **more)
        else:
            _at(_lines_of(node), args)
            values[node] = _plain_as_tensor(_made(_by_row(node, args, more)))
            if node.target._schema.name.endswith("_"):  # its first argument is written over
                values[node.args[0]] = values[node]
    raise Unsaid("a graph without an output")


def _plain_as_tensor(value: Any) -> Any:
    """What an operation has made, as PyTorch has it where nothing that is given is left in it."""
    import torch

    plain = isinstance(value, float | np.generic | np.ndarray) and not isinstance(value, _RECORD)
    return torch.as_tensor(value) if plain else value


def _by_row(node: Any, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """What an operation of PyTorch's gives of arrays that record."""
    import torch

    name = node.target._schema.name.partition("::")[2]
    base = name.removesuffix("_copy")
    base = base.removesuffix("_") if base not in _MOVES_OF_TORCH else base
    if base.startswith("new_") or base.endswith("_like"):  # of which the shape matters alone
        return node.target(torch.zeros(args[0].shape, dtype=torch.float64), *args[1:], **more)
    try:
        if base in _SUMS_OF_TORCH or (base == "index_put" and args[3:] == (True,)):
            return _summed_at(node, args, _SUMS_OF_TORCH.get(base, 2), more)
        args = tuple(map(_array, args))
        if base in _MOVES_OF_TORCH:
            return _moved(lambda *x: node.target(*x, **more), args, torch.as_tensor)
        if base not in _OF_TORCH:
            raise Unsaid(f"{base} of PyTorch is not known here")
        if "dtype" in more:
            args = (_as(args[0], more["dtype"]), *args[1:])
        more = {key: value for key, value in more.items() if key not in _LEFT_OUT}
        return _kept(_OF_TORCH[base](*args, **more), args)
    except Unsaid as error:
        return Unmade(_behind(_lines_of(node), str(error)))


def _summed_at(node: Any, args: tuple[Any, ...], which: int, more: Mapping[str, Any]) -> Any:
    """An array into which parts, one of what an operation is given, are added at places."""
    import torch

    def added(start: Any, parts: Any) -> Any:
        given = [*args]
        given[0], given[which] = torch.as_tensor(start), torch.as_tensor(parts)
        return node.target(*given, **more)

    parts = np.multiply(more.get("alpha", 1), _array(args[which]))
    return _scattered(added, _array(args[0]), parts, np.add, 0.0)


def _lines_of(node: Any) -> Lines:
    """The lines that an operation comes from."""
    stack = (node.stack_trace or "").splitlines()
    return [(file, int(line)) for line, _, file in (each.partition(" ") for each in stack)]


@contextmanager
def _parameters_made() -> Iterator[None]:
    """Parameters made of tensors that are given follow from them in a graph: they are copied."""
    import torch

    kept = torch.nn.Parameter.__new__

    def made(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            return kept(cls, data, requires_grad)
        parameter = kept(cls, torch.empty_like(data), requires_grad)
        with torch.no_grad():
            parameter.copy_(data)
        return parameter

    torch.nn.Parameter.__new__ = made  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Parameter.__new__ = kept  # type: ignore[method-assign]


@contextmanager
def _lines_kept(file: str) -> Iterator[None]:
    """Graphs of PyTorch's that are made keep the lines of the program, as stacks of their nodes."""
    from torch.fx import traceback

    def looked(frame: FrameType, event: str, value: Any) -> None:
        at = walk_stack(frame.f_back if event == "return" else frame)
        lines = (f"{line} {file}\n" for one, line in at if one.f_code.co_filename == file)
        traceback.set_stack_trace(["".join(lines)])

    with followed(file, looked), traceback.preserve_node_meta():
        yield


#: What is said of arrays that changes no number.
_LEFT_OUT = ("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking")


@in_lists
def _array(value: Any) -> Any:
    """A tensor of constants as an array."""
    return _constant(value.detach()) if hasattr(value, "detach") else _needed(value)


def _axes(dims: Any) -> Any:
    """The axes of a reduction; all of none."""
    return dims if isinstance(dims, int) else tuple(dims) if dims else None


def _times(x: Any, number: Any) -> Any:
    return x if number == 1 else np.multiply(x, number)


def _added(a: Any, b: Any, alpha: Any = 1) -> Any:
    return np.add(a, _times(b, alpha))


def _product_added(c: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return np.add(_times(np.matmul(a, b), alpha), _times(c, beta))


def _divided(a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        raise Unsaid("a division that rounds")
    return np.divide(a, b)


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    if threshold < 20:  # from there on it is x to eight digits
        raise Unsaid("softplus with a threshold below 20")
    return np.divide(np.log(np.add(1.0, np.exp(np.multiply(x, beta)))), beta)


def _largest_of(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The values; the places are known of no entry."""
    if axis is None:
        return np.max(x)
    return np.max(x, axis=axis, keepdims=keepdims), Unmade("the place of the largest of some")


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, dims=None, keepdims=False: function(x, axis=_axes(dims), keepdims=keepdims)


def _variance(x: Any, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    freedom = 1 if correction is None else int(correction)
    return np.var(x, axis=_axes(dims), ddof=freedom, keepdims=keepdim)


def _with_mean(spread: str) -> Callable[..., Any]:
    """A variance, or its root, and the mean."""
    return lambda x, dims=None, correction=1, keepdim=False: (
        _OF_TORCH[spread](x, dims, correction, keepdim),
        np.mean(x, axis=_axes(dims), keepdims=keepdim),
    )


def _padded(x: Any, pads: Sequence[int], value: Any = 0) -> Any:
    pairs = [*zip(pads[::2], pads[1::2], strict=True)]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    return entries(np.pad(x.view(np.ndarray), widths, constant_values=float(value)))


#: Operations of PyTorch's that only move numbers, or put 0 in their place.
_MOVES_OF_TORCH = frozenset(
    [
        "t",
        "transpose",
        "permute",
        "view",
        "reshape",
        "_unsafe_view",
        "_reshape_alias",
        "expand",
        "unsqueeze",
        "squeeze",
        "squeeze_",
        "tril",
        "triu",
        "cat",
        "stack",
        "slice",
        "select",
        "index",
        "index_select",
        "gather",
        "take",
        "split",
        "split_with_sizes",
        "chunk",
        "unbind",
        "repeat",
        "repeat_interleave",
        "flip",
        "roll",
        "narrow",
        "unfold",
        "diagonal",
        "slice_scatter",
        "select_scatter",
        "index_put",
        "scatter",
        "diagonal_scatter",
        "as_strided",
        "movedim",
    ]
)

#: Operations of PyTorch's that add parts at places, and which of what they are given these are.
_SUMS_OF_TORCH: Mapping[str, int] = {"index_add": 3, "scatter_add": 3}

#: What each other operation of PyTorch's does.
_OF_TORCH: Mapping[str, Callable[..., Any]] = {
    **_OF_BOTH,
    "mm": np.matmul,
    "bmm": np.matmul,
    "matmul": np.matmul,
    "dot": np.dot,
    "mv": np.matmul,
    "addmm": _product_added,
    "baddbmm": _product_added,
    "addmv": _product_added,
    "addr": lambda c, a, b, beta=1, alpha=1: _product_added(c, a[:, None], b[None, :], beta, alpha),
    "add": _added,
    "sub": lambda a, b, alpha=1: np.subtract(a, _times(b, alpha)),
    "rsub": lambda a, b, alpha=1: np.subtract(b, _times(a, alpha)),
    "addcmul": lambda c, a, b, value=1: _added(c, np.multiply(a, b), value),
    "lerp": lambda a, b, w: np.add(a, np.multiply(w, np.subtract(b, a))),
    "div": _divided,
    "log2": np.log2,
    "reciprocal": np.reciprocal,
    "sigmoid": composed.sigmoid,
    "relu": lambda x: np.maximum(x, 0.0),
    "silu": composed.silu,
    "gelu": composed.gelu,
    "erf": composed.erf,
    "elu": composed.elu,
    "softplus": _softplus,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clamp": lambda x, low=None, high=None: np.clip(x, low, high),
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "logaddexp": np.logaddexp,
    "sum": _reduced(np.sum),
    "mean": _reduced(np.mean),
    "amax": _reduced(np.max),
    "amin": _reduced(np.min),
    "max": _largest_of,
    "var": _variance,
    "std": lambda *args, **more: np.sqrt(_variance(*args, **more)),
    "var_mean": _with_mean("var"),
    "std_mean": _with_mean("std"),
    "native_layer_norm": composed.layer_norm,
    "complex": composed.complex,
    "polar": lambda size, angle: composed.complex(size * np.cos(angle), size * np.sin(angle)),
    "view_as_complex": lambda x: composed.complex(x[..., 0], x[..., 1]),
    "view_as_real": lambda x: np.stack([np.real(x), np.imag(x)], axis=-1),
    "real": np.real,
    "imag": np.imag,
    **dict.fromkeys(("_conj", "conj", "conj_physical"), np.conjugate),
    "logsumexp": lambda x, dims, keepdims=False: composed.log_sum_exp(x, _axes(dims), keepdims),
    "linalg_vector_norm": lambda x, order=2, dims=None, keepdims=False: np.linalg.norm(
        x, order, _axes(dims), keepdims
    ),
    "_softmax": composed.softmax,
    "softmax": composed.softmax,
    "_safe_softmax": composed.softmax,
    "_log_softmax": composed.log_softmax,
    "where": np.where,
    "masked_fill": lambda x, mask, value: np.where(mask, value, x),
    "logical_not": np.logical_not,
    "bitwise_not": np.logical_not,
    "logical_and": np.logical_and,
    "bitwise_and": np.logical_and,
    "logical_or": np.logical_or,
    "bitwise_or": np.logical_or,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "isfinite": np.isfinite,
    "any": _reduced(np.any),
    "all": _reduced(np.all),
    "constant_pad_nd": _padded,
    "copy": lambda x, other, *_: (
        np.add(np.zeros(x.shape), other)
        if isinstance(other, Recorded)
        else entries(np.broadcast_to(np.asarray(other, object), x.shape))
    ),
    **dict.fromkeys(
        (
            *("clone", "alias", "detach", "contiguous", "lift_fresh", "_to", "to", "type_as"),
            *("resolve_conj", "resolve_neg"),
        ),
        _same,
    ),
}


# ---- JAX -------------------------------------------------------------------------------------


def of_jax(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], file: str
) -> Any:
    """What a function of JAX, of a file, returns of arrays that record."""
    import jax

    whole = Graph(args, named)
    with in_doubles("jax"):  # so that numbers of the program are near to what they stand for
        arrays = [
            jax.numpy.zeros(one.shape, bool if _is_boolean(one) else "float64")
            for one in whole.given
        ]
        closed, made = jax.make_jaxpr(
            lambda *given: whole.called(function, given), return_shape=True
        )(*arrays)
        found = [*map(_needed, _of_jaxpr(closed.jaxpr, closed.consts, whole.given))]
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(made), found)


def in_doubles(library: str) -> AbstractContextManager[Any]:
    """Where a library computes in float64, which JAX does if asked."""
    if library != "jax":
        return nullcontext()
    import jax

    return cast(AbstractContextManager[Any], jax.enable_x64(True))


def _of_jaxpr(jaxpr: Any, constants: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The results of a program of JAX's."""
    values = dict(zip(jaxpr.constvars, map(np.asarray, constants), strict=True))
    values |= dict(zip(jaxpr.invars, given, strict=True))

    def known(one: Any) -> Any:
        return np.asarray(one.val) if hasattr(one, "val") else values[one]

    for equation in _joined_at_once(jaxpr):
        lines, args = _lines_in(equation), [*map(known, equation.invars)]
        try:
            _at(lines, args)
            found = [*map(_made, _of_equation(equation, args))]
        except Unsaid as error:
            found = [Unmade(_behind(lines, str(error)))] * len(equation.outvars)
        values.update(zip(equation.outvars, found, strict=True))
    return [known(one) for one in jaxpr.outvars]


def _joined_at_once(jaxpr: Any) -> list[Any]:
    """The operations of a program, in which arrays are joined that JAX joins by sixteens."""
    joins: dict[tuple[int, int], list[Any]] = {}

    def whole(equation: Any) -> Any:
        if equation.primitive.name != "concatenate":
            return equation
        axis = equation.params["dimension"]
        invars = [each for one in equation.invars for each in joins.get((id(one), axis), [one])]
        joins[id(equation.outvars[0]), axis] = invars
        return equation.replace(invars=invars)

    found = [whole(equation) for equation in jaxpr.eqns]
    used = {id(one) for places in (*(x.invars for x in found), jaxpr.outvars) for one in places}
    unused = {place for place, _ in joins} - used
    return [each for each in found if unused.isdisjoint(map(id, each.outvars))]


def _lines_in(equation: Any) -> Lines:
    """The lines that an operation comes from."""
    from jax._src import source_info_util

    frames = source_info_util.user_frames(equation.source_info.traceback)
    return [(frame.file_name, int(frame.start_line)) for frame in frames]


def _of_equation(equation: Any, args: list[Any]) -> list[Any]:
    """What an operation of JAX's gives. Raises `Unsaid` for one that is not known here."""
    primitive, params = equation.primitive, equation.params
    name, inner = primitive.name, _inner(params)

    def bound(*given: Any) -> Any:
        return primitive.bind(*given, **params)

    if name == "scan":
        return _scanned(params, args)
    if not _holds(args):
        found = bound(*args)
        return [*map(_constant, found if primitive.multiple_results else [found])]
    if inner is not None and name != "while":
        own = _named(inner, args)
        return [own(*args)] if own else _of_jaxpr(inner.jaxpr, inner.consts, args)
    args = [*map(_needed, args)]
    if name == "while":
        return _repeated(params, args)
    if name == "cond":
        return _branched(params, args)
    if name in _MOVES_OF_JAX:
        import jax

        found = _moved(bound, args, jax.numpy.asarray)
        return found if primitive.multiple_results else [found]
    if name in _SCATTERS_OF_JAX:
        x, where, parts = args
        return [_scattered(lambda a, b: bound(a, where, b), x, parts, *_SCATTERS_OF_JAX[name])]
    if name not in _OF_JAX:
        raise Unsaid(f"{name} of JAX is not known here")
    return [_kept(_OF_JAX[name](*args, **params), args)]


def _constant(value: Any) -> Any:
    """An array of constants; of zeros one that a state may begin with."""
    array = np.asarray(value)
    return array.view(Blank) if array.dtype.kind == "f" and not array.any() else array


def _inner(params: Mapping[str, Any]) -> Any:
    """The program within an operation such as jit, if it has one."""
    found = (params.get(name) for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"))
    return next((inner for inner in found if hasattr(inner, "consts")), None)


def _named(inner: Any, args: Sequence[Any]) -> Callable[..., Any] | None:
    """A function of JAX's own that equations know by a name; None for all others.

    A function of the program may have the same name, but not the same file.
    """
    name, _, file = str(inner.jaxpr.debug_info.func_src_info).partition(" at ")
    known = isinstance(args[0], Recorded) and "/jax/_src/nn/" in file
    return _NAMED_IN_JAX.get(name) if known else None


def _scanned(params: Mapping[str, Any], args: Sequence[Any]) -> list[Any]:
    """A loop of known length, one step after the other."""
    fixed, carried, inner = params["num_consts"], params["num_carry"], params["jaxpr"]
    constants, carry = args[:fixed], [*args[fixed : fixed + carried]]
    rows: list[list[Any]] = []
    order = range(params["length"])
    for step in reversed(order) if params["reverse"] else order:
        parts = [_row(_needed(one), step) for one in args[fixed + carried :]]
        found = _of_jaxpr(inner.jaxpr, inner.consts, [*constants, *carry, *parts])
        carry = found[:carried]
        rows.append(found[carried:])
    rows = rows[::-1] if params["reverse"] else rows
    return [*carry, *(np.stack([*map(_needed, one)]) for one in zip(*rows, strict=True))]


def _row(array: Any, place: int) -> Any:
    """A part along the first axis, an array even of one number."""
    return array[place : place + 1].reshape(array.shape[1:])


def _repeated(params: Mapping[str, Any], args: Sequence[Any]) -> list[Any]:
    """A loop that ends by what is known without what is given."""
    tests, bodies = params["cond_nconsts"], params["body_nconsts"]
    carry = [*args[tests + bodies :]]
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    while True:
        (goes,) = _of_jaxpr(test.jaxpr, test.consts, [*args[:tests], *carry])
        if _holds(goes):
            raise Unsaid("a loop whose end depends on the numbers")
        if not goes:
            return carry
        carry = _of_jaxpr(body.jaxpr, body.consts, [*args[tests : tests + bodies], *carry])


def _branched(params: Mapping[str, Any], args: Sequence[Any]) -> list[Any]:
    """The branch that is taken, where that is known without what is given."""
    if _holds(args[0]):
        raise Unsaid("a branch depends on the numbers; use jnp.where")
    branches = params["branches"]
    taken = branches[min(max(int(args[0]), 0), len(branches) - 1)]
    return _of_jaxpr(taken.jaxpr, taken.consts, args[1:])


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


def _case(condition: Any, *cases: Any, **_: Any) -> Any:
    if len(cases) != 2:
        raise Unsaid("a choice between more than two")
    return np.where(condition, cases[1], cases[0])


def _running(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a function makes of the first, of the first two, and so on, along an axis."""

    def of(x: Any, axis: int, reverse: bool = False) -> Any:
        x = np.flip(x, axis) if reverse else x
        out = function(x, axis=axis)
        return np.flip(out, axis) if reverse else out

    return of


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axes, **_: function(x, axis=tuple(axes))


def _plain(function: Any) -> Callable[..., Any]:
    return lambda *args, **_: function(*args)


#: Functions of JAX's that equations know by a name.
_NAMED_IN_JAX: Mapping[str, Callable[..., Any]] = {
    "elu": lambda x, alpha=1.0: composed.elu(x, float(alpha)),
    "silu": composed.silu,
}

#: Operations of JAX's that only move numbers.
_MOVES_OF_JAX = frozenset(
    [
        "broadcast_in_dim",
        "slice",
        "dynamic_slice",
        "dynamic_update_slice",
        "reshape",
        "transpose",
        "squeeze",
        "expand_dims",
        "concatenate",
        "stack",
        "unstack",
        "tile",
        "rev",
        "split",
        "gather",
        "scatter",
        "pad",
        "copy",
        "copy_p",
    ]
)

#: Operations of JAX's that add or multiply parts at places, and the number that changes nothing.
_SCATTERS_OF_JAX: Mapping[str, tuple[np.ufunc, float]] = {
    "scatter-add": (np.add, 0.0),
    "scatter-mul": (np.multiply, 1.0),
}

#: What each other operation of JAX's does.
_OF_JAX: Mapping[str, Callable[..., Any]] = {
    **{
        name: _plain(function)
        for name, function in {
            **_OF_BOTH,
            "max": np.maximum,
            "min": np.minimum,
            "logistic": composed.sigmoid,
            "complex": composed.complex,
            "real": np.real,
            "imag": np.imag,
            "conj": np.conjugate,
            "erf": composed.erf,
            "erfc": lambda x: np.subtract(1.0, composed.erf(x)),
            "not": np.logical_not,
            "and": np.logical_and,
            "or": np.logical_or,
            "is_finite": np.isfinite,
            "stop_gradient": _same,
            "reduce_precision": _same,
            "optimization_barrier": _same,
            "clamp": lambda low, x, high: np.clip(x, low, high),
        }.items()
    },
    "convert_element_type": lambda x, new_dtype, **_: _as(x, new_dtype),
    "integer_pow": lambda x, y, **_: np.power(x, y),
    "dot_general": _dotted,
    "select_n": _case,
    "cumsum": _running(np.cumsum),
    "cummax": _running(np.maximum.accumulate),
    "cumlogsumexp": _running(lambda x, axis: np.log(np.cumsum(np.exp(x), axis=axis))),
    "reduce_sum": _over(np.sum),
    "reduce_max": _over(np.max),
    "reduce_min": _over(np.min),
    "reduce_and": _over(np.all),
    "reduce_or": _over(np.any),
}


#: How functions of libraries are run that make graphs of them.
GRAPHS: Mapping[str, Callable[..., Any]] = {"torch": of_torch, "jax": of_jax}
