"""A user's function called: all that happens beside its own code, in the process that runs it.

What it is given and what comes of it are numbers and words, so that a process may be asked which
nobody trusts: `answered` calls the function and reads what it returns, `packed` makes bytes of the
answer and `unpacked` reads them. Nothing here judges. Whatever a stranger's object does when it is
touched (an exception whose ``__str__`` raises, an ``__array__`` that lies) ends in an `Answer`.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path
from types import CodeType
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from symattn.arithmetic.base import Array
from symattn.claims.computed import DIGITS, Computed, computed
from symattn.errors import LONGEST, SymattnError, quote
from symattn.printable import said_by

#: Libraries whose arrays a function may take; lists are for functions in plain Python.
LIBRARIES = ("numpy", "torch", "jax", "lists")

#: Of what a function returns so many parts are read, and so many numbers of each.
_MOST_PARTS, _MOST_NUMBERS = 64, 2**26


@dataclass(frozen=True)
class Argument:
    """An argument of a function, as its signature has it."""

    name: str
    kind: str
    required: bool
    is_none: bool = False


@dataclass(frozen=True)
class Signature:
    """The arguments of a function, None where they cannot be read, and the libraries it is for."""

    arguments: tuple[Argument, ...] | None
    libraries: tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """An argument of a function, and what it is given: a matrix, a size, a flag, or nothing."""

    name: str
    kind: str
    meaning: str
    by_position: bool = False
    value: Array | int | None = None

    @property
    def matrix(self) -> str:
        """Which matrix it is; "" for what is none."""
        return self.meaning if self.kind == "matrix" else ""


@dataclass(frozen=True)
class Upstream:
    """The gradient at which the backward pass starts: of which part of what is returned."""

    part: int
    gradient: Array
    #: The matrices by which the function is differentiated.
    wrt: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """One call of a function, with arrays of a library; `strided`: as views of other arrays."""

    given: tuple[Given, ...]
    library: str
    dtype: str
    strided: bool = False
    upstream: Upstream | None = None


#: Why there are no numbers: the library is not there; the function raised; what it returned is
#: none; it has no backward pass; what it returns is cut off from it.
Lack: TypeAlias = Literal[
    "missing", "raised", "arithmetic", "unreadable", "forward only", "detached"
]


@dataclass(frozen=True)
class Answer:
    """What came of a call, as numbers and words.

    `parts` are what it returned, by name where it was a ``table``, each an array or why it is
    none; `given` what its matrices were afterwards; `gradients` those of the backward pass, None
    for a matrix that no gradient reaches.
    """

    lack: Lack | None = None
    said: str = ""
    form: Literal["array", "tuple", "table"] = "array"
    parts: tuple[tuple[str, Computed | str], ...] = ()
    given: Mapping[str, Computed] = field(default_factory=dict)
    gradients: Mapping[str, Computed | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Function:
    """A user's function as it is asked, wherever it runs: what comes of a call is its answer."""

    name: str
    signature: Signature
    answer: Callable[[Call], Answer]


def here(function: Callable[..., Any], name: str = "") -> Function:
    """A function that runs in this process. Raises `SymattnError` for what cannot be called."""
    if not callable(function):
        raise SymattnError(f"{quote(function)} is no function")
    own = getattr(type(function), "__name__", "")
    with contextlib.suppress(Exception):
        own = getattr(function, "__name__", own)
    named = name or (own if isinstance(own, str) else "the function")
    return Function(named, signature_of(function), partial(answered, function))


# ---- a call ----------------------------------------------------------------------------------


def answered(function: Callable[..., Any], call: Call) -> Answer:
    """The function called, and what it returns read. Raises only `KeyboardInterrupt`."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = [_made(each, call) for each in call.given]
        except ImportError as error:
            return Answer("missing", said_by(error))
        try:
            if call.upstream is not None:
                return _differentiated(function, call, call.upstream, made)
            result = _called(function, call, made)
            return Answer(None, "", *_read(result), _after(call, made))
        except KeyboardInterrupt:
            raise
        except SymattnError as error:
            return Answer("unreadable", _words(error))
        except ArithmeticError as error:
            return Answer("arithmetic", said_by(error))
        except BaseException as error:
            return Answer("raised", said_by(error))


def _words(error: SymattnError) -> str:
    """What an error of our own says; a function may raise one of a class of its own."""
    return said_by(error, LONGEST).partition(": ")[2] or said_by(error)


def _made(each: Given, call: Call) -> Any:
    """What an argument is given, in the library's own arrays."""
    if not isinstance(each.value, np.ndarray):
        return each.value
    value = converted(each.value, call.library, call.dtype)
    return as_view(value) if call.strided and each.matrix else value


def _called(function: Callable[..., Any], call: Call, made: Sequence[Any]) -> Any:
    pairs = list(zip(call.given, made, strict=True))
    args = [value for each, value in pairs if each.by_position]
    return whole(function)(*args, **{x.name: value for x, value in pairs if not x.by_position})


def _after(call: Call, made: Sequence[Any]) -> dict[str, Computed]:
    """The matrices that it was given, as they are now."""
    pairs = zip(call.given, made, strict=True)
    return {each.matrix: _array(value, each.matrix) for each, value in pairs if each.matrix}


def _read(
    result: Any,
) -> tuple[Literal["array", "tuple", "table"], tuple[tuple[str, Computed | str], ...]]:
    """What is returned, in parts."""
    form, parts = parts_of(result)
    read: list[tuple[str, Computed | str]] = []
    for name, value in parts:
        try:
            read.append((name, _array(value, name or "what it returns")))
        except SymattnError as error:
            read.append((name, _words(error)))
    return form, tuple(read)


def parts_of(
    result: Any, most: int | None = _MOST_PARTS
) -> tuple[Literal["array", "tuple", "table"], list[tuple[str, Any]]]:
    """What is returned as the parts that it has, by name, so many at most."""
    if result is None:
        raise SymattnError("it returns None")
    if hasattr(result, "_asdict"):
        result = result._asdict()
    if isinstance(result, Mapping):
        items = islice(result.items(), most)
        return "table", [(str(name), value) for name, value in items]
    if isinstance(result, tuple):
        return "tuple", [("", value) for value in islice(result, most)]
    return "array", [("", result)]


def _array(value: Any, name: str) -> Computed:
    """An array as NumPy's own, which nothing else holds. Raises `SymattnError` for what is none."""
    if value is None:
        raise SymattnError(f"{name} is None")
    size = prod(getattr(value, "shape", ()))
    if size > _MOST_NUMBERS:
        raise SymattnError(f"{name} has {size:,} numbers; {_MOST_NUMBERS:,} are the most")
    read = computed(value, name)
    numbers = np.array(read.numbers, dtype=read.numbers.dtype, order="C", subok=False)
    return Computed(numbers, read.digits)


# ---- its gradient ----------------------------------------------------------------------------


def _differentiated(
    function: Callable[..., Any], call: Call, upstream: Upstream, made: list[Any]
) -> Answer:
    """The function called and its backward pass, by the library's own differentiation."""
    start = converted(upstream.gradient, call.library, call.dtype)
    start = as_view(start) if call.strided else start
    by_library = _by_torch if call.library == "torch" else _by_jax
    places = [k for k, each in enumerate(call.given) if each.matrix in upstream.wrt]
    try:
        found = by_library(function, call, upstream.part, made, places, start)
    except Exception as error:
        if not _is_not_differentiable(error):
            raise
        return Answer("forward only", said_by(error))
    if isinstance(found, Answer):
        return found
    names = [call.given[place].matrix for place in places]
    gradients = {
        name: None if one is None else _array(one, f"the gradient by {name}")
        for name, one in zip(names, found, strict=True)
    }
    after = {**_after(call, made), "upstream": _array(start, "upstream")}
    return Answer(None, "", given=after, gradients=gradients)


def _by_torch(
    function: Callable[..., Any],
    call: Call,
    part: int,
    made: list[Any],
    places: Sequence[int],
    start: Any,
) -> Sequence[Any] | Answer:
    """Its gradients by PyTorch's autograd, in its own dtypes.

    Another call comes before the backward pass, whose numbers are not to be taken for its own.
    """
    import torch

    given = [made[place] for place in places]
    with torch.enable_grad():
        for tensor in given:
            tensor.requires_grad_()
        out = _part(_called(function, call, made), part)
        if not isinstance(out, torch.Tensor):
            return Answer("forward only", f"it returns an array of {type(out).__module__}")
        if not out.requires_grad:
            return _without_gradient(function, call, made)
        _called(function, call, [_rolled(value) for value in made])
        found: Sequence[Any] = torch.autograd.grad(
            out, given, grad_outputs=start.to(out.dtype), allow_unused=True
        )
    return found


def _without_gradient(function: Callable[..., Any], call: Call, made: list[Any]) -> Answer:
    """Why what it returns has no gradient: nothing was recorded for one, or it was cut off."""
    import torch

    recorded: list[object] = []

    def record(tensor: Any) -> Any:
        recorded.append(None)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(record, lambda tensor: tensor):
        _called(function, call, made)
    if recorded:
        return Answer("detached", "what it returns is cut off from the graph of its gradient")
    return Answer("forward only", "what it returns carries no gradient, as under torch.no_grad")


def _rolled(value: Any) -> Any:
    """Another tensor of the same numbers, which requires a gradient if it does."""
    if not hasattr(value, "requires_grad") or not value.is_floating_point():
        return value
    return value.detach().roll(1).requires_grad_(value.requires_grad)


def _by_jax(
    function: Callable[..., Any],
    call: Call,
    part: int,
    made: list[Any],
    places: Sequence[int],
    start: Any,
) -> Sequence[Any]:
    """Its gradients by JAX's reverse mode."""
    import jax

    def along(*leaves: Any) -> Any:
        filled = list(made)
        for place, leaf in zip(places, leaves, strict=True):
            filled[place] = leaf
        return _part(_called(function, call, filled), part)

    out, pull = jax.vjp(along, *(made[place] for place in places))
    return list(pull(start.astype(out.dtype)))


def _part(result: Any, part: int) -> Any:
    return parts_of(result)[1][part][1]


def _is_not_differentiable(error: Exception) -> bool:
    """Whether an error says that something has no derivative, or left the library."""
    text = said_by(error)
    return (
        isinstance(error, NotImplementedError)
        or type(error).__module__.startswith("jax.")
        or any(words in text for words in _NOT_DIFFERENTIABLE)
    )


_NOT_DIFFERENTIABLE = (
    "not implemented",
    "Can't call numpy() on Tensor that requires grad",
    "differentiation does not work",
    "requires real- or complex-valued outputs",
    "TracerArrayConversionError",
)


# ---- arrays ----------------------------------------------------------------------------------


def converted(array: Array, library: str, dtype: str) -> Any:
    """An array of a library, in a dtype; of truth values it keeps these."""
    truth = array.dtype == bool
    if library == "lists":
        return array.tolist()
    if library == "torch":
        import torch

        tensor = torch.from_numpy(np.array(array))
        return tensor if truth else tensor.to(getattr(torch, dtype))
    if library == "jax":
        import jax.numpy as jnp

        if truth or dtype == "float64":  # which it may not have; then it takes float32
            return jnp.asarray(array)
        return jnp.asarray(array, dtype=getattr(jnp, dtype))
    return np.array(array) if truth else np.array(array, dtype=dtype)


def as_view(array: Any) -> Any:
    """An array whose rows do not lie one after the other: a view of its transpose."""
    if getattr(array, "ndim", 0) < 2:
        return array
    turned = array.swapaxes(-1, -2)
    held = turned.contiguous() if hasattr(turned, "contiguous") else np.ascontiguousarray(turned)
    return held.swapaxes(-1, -2)


# ---- what it is ------------------------------------------------------------------------------


def signature_of(function: Callable[..., Any]) -> Signature:
    """The arguments of a function and its libraries; what cannot be read is left open."""
    libraries: tuple[str, ...] = ("numpy", "lists")
    with contextlib.suppress(Exception):
        libraries = libraries_of(function)
    arguments = None
    with contextlib.suppress(Exception):  # of a compiled library
        found = inspect.signature(entry(function)).parameters.values()
        arguments = tuple(
            Argument(p.name, p.kind.name, p.default is p.empty, p.default is None) for p in found
        )
        own = [Argument(name, "KEYWORD_ONLY", False) for name in parameters_of(function)]
        arguments = (*arguments, *own)
    return Signature(arguments, libraries)


def entry(function: Any) -> Any:
    """What has the arguments' names: of a module of PyTorch its ``forward``."""
    modules = getattr(sys.modules.get("torch"), "nn", None)
    is_module = modules is not None and isinstance(function, modules.Module)
    return function.forward if is_module else function


def parameters_of(function: Any) -> dict[str, Any]:
    """The parameters of a module of PyTorch, by name; a function has none."""
    return {} if entry(function) is function else dict(function.named_parameters())


def whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function; that of a module of PyTorch takes its parameters as arguments, too, by name.

    Those that are not given, and its buffers, are in the dtype of what is given.
    """
    names = parameters_of(function)
    if not names:
        return function

    def called(*args: Any, **given: Any) -> Any:
        import torch

        module = cast(torch.nn.Module, function)
        own = {**names, **dict(module.named_buffers())}
        dtypes = [x.dtype for x in (*args, *given.values()) if hasattr(x, "is_floating_point")]
        for name, one in own.items():
            own[name] = one.to(dtypes[0]) if dtypes and one.is_floating_point() else one
        own |= {name: given.pop(name) for name in names if name in given}
        return torch.func.functional_call(module, own, args, given)

    return called


def libraries_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The libraries that a function's own code names, and that of what it calls; then others.

    A file may hold functions of several libraries: what only stands beside this one comes last.
    What is not imported yet is not imported only to be tried.
    """
    named = dict.fromkeys([*_roots_of_kind(function) & {*LIBRARIES}])
    named.update(dict.fromkeys(_libraries_named(code_of(function), set())))
    named.update(dict.fromkeys(_libraries_annotated(function)))
    own = str(getattr(function, "__module__", "") or "").partition(".")[0]
    special = [name for name in (own, *named) if name in ("torch", "jax")]
    beside = [name for name in ("torch", "jax") if name in sys.modules]
    return tuple(dict.fromkeys([*special, "numpy", "lists", *beside]))


#: Code with the names that it can see.
Code: TypeAlias = tuple[CodeType, Mapping[str, Any]]


def code_of(function: Any, most: int = 100) -> list[Code]:
    """The code of a function, wrapped so many times at most, or of an object that is called."""
    for _ in range(most):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if inner is None:
            break
        function = inner
    if not hasattr(function, "__code__"):
        kind = function if isinstance(function, type) else type(function)
        methods = [getattr(kind, name, None) for name in ("forward", "__call__")]
        return [
            (code, _seen_by(method))
            for method in methods
            if isinstance(code := getattr(method, "__code__", None), CodeType)
        ]
    return [(function.__code__, _seen_by(function))]


def _seen_by(function: Any) -> Mapping[str, Any]:
    """What a function's names stand for: those of its module, and of a function around it."""
    closed = dict[str, Any]()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it is not filled yet
            closed[name] = cell.cell_contents
    return {**function.__globals__, **closed}


def _libraries_named(codes: Sequence[Code], seen: set[CodeType]) -> Iterator[str]:
    """The libraries that code names, and the code of the functions that it names."""
    for code, space in codes:
        if code in seen:
            continue
        seen.add(code)
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        yield from _libraries_named([(part, space) for part in inner], seen)
        for name in (*code.co_names, *code.co_freevars):
            value = inspect.unwrap(space[name]) if callable(space.get(name)) else space.get(name)
            roots = {name} if name in LIBRARIES else {_root(value), *_roots_of_kind(value)}
            if found := roots & {*LIBRARIES}:
                yield from found
            elif getattr(value, "__globals__", None) is not None or isinstance(value, type):
                own = [part for part in code_of(value) if not _is_installed(part[0])]
                yield from _libraries_named(own, seen)


def _is_installed(code: CodeType) -> bool:
    """Whether code is of an installed package: SciPy names JAX, but takes NumPy's arrays."""
    return bool({"site-packages", "dist-packages"} & {*Path(code.co_filename).parts})


def _libraries_annotated(function: Any) -> Iterator[str]:
    """The libraries that its annotations are of."""
    for kind in getattr(function, "__annotations__", {}).values():
        yield (kind if isinstance(kind, str) else str(_root(kind))).partition(".")[0]


def _roots_of_kind(value: Any) -> set[str]:
    """The libraries that the classes of an object, or the bases of a class, belong to."""
    return {_root(kind) for kind in (value if isinstance(value, type) else type(value)).__mro__}


def _root(value: Any) -> str:
    """The library that a module, or a function of one, belongs to."""
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return str(name or "").partition(".")[0]


# ---- as bytes --------------------------------------------------------------------------------

#: The dtypes in which numbers come back.
_DTYPES = ("float64", "float32", "float16")


def packed(answer: Answer | Signature) -> bytes:
    """An answer as JSON, in which the bytes of an array are spelled in base 16."""
    return json.dumps([*vars(answer).values()], default=_plain).encode()


def _plain(value: Any) -> Any:
    """What JSON does not know: an argument, or an array."""
    if not isinstance(value, Computed):
        return [*vars(value).values()]
    array = value.numbers
    kind, data = array.dtype.name, array.tobytes().hex()
    return {"dtype": kind, "shape": array.shape, "digits": value.digits, "data": data}


def _array_from(told: dict[str, Any]) -> Any:
    """An object of JSON, as an array if it is one."""
    if told.keys() != {"dtype", "shape", "digits", "data"}:
        return told
    if told["dtype"] not in _DTYPES or told["digits"] not in (None, *DIGITS.values()):
        raise ValueError(told["dtype"])
    numbers: Array = np.frombuffer(bytes.fromhex(told["data"]), told["dtype"])
    return Computed(numbers.reshape(told["shape"]), told["digits"])


def signature_from(data: bytes) -> Signature:
    """A signature that came as bytes. Raises `SymattnError` for bytes that are none."""
    with _readable():
        told, libraries = json.loads(data)
        arguments = None if told is None else tuple(Argument(*each) for each in told)
        for each in arguments or ():
            _of(each.name, str)
            _of(each.kind, str)
        return Signature(arguments, tuple(one for one in libraries if one in LIBRARIES))


def answer_from(data: bytes) -> Answer:
    """An answer that came as bytes; none of them is run. Raises `SymattnError` as above."""
    with _readable():
        lack, said, form, parts, given, gradients = json.loads(data, object_hook=_array_from)
        if lack not in (None, *get_args(Lack)) or form not in ("array", "tuple", "table"):
            raise ValueError(form)
        parts = tuple((_of(name, str), _of(value, Computed | str)) for name, value in parts)
        given = {name: _of(value, Computed) for name, value in given.items()}
        gradients = {name: _of(value, Computed | None) for name, value in gradients.items()}
        return Answer(lack, _of(said, str), form, parts, given, gradients)


def _of(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(value)
    return value


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        raise SymattnError("its process gave no answer that can be read") from None
