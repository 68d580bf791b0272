"""Arrays of NumPy whose entries record what is done to them, at given sizes.

Loops, slices and what is written into arrays are Python's and NumPy's own: an array holds objects,
and each is a number that is known, or the place of an operation on a tape (`Taped`). A tape is
plain data, which is read elsewhere (`proving`). A branch that depends on an entry is refused.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np

from symattn.lifting.limits import LIMITS
from symattn.lifting.numerals import LOWEST, LOWEST_START
from symattn.lifting.said import CUT, Unsaid, is_whole
from symattn.verifying.calling import code_of

_BRANCH = "a branch depends on the numbers; use np.where or np.maximum"


@dataclass
class Tape:
    """Operations in their order: a name, and what it is applied to, places before it or numbers."""

    file: str
    most: int = LIMITS.operations
    operations: list[tuple[Any, ...]] = field(default_factory=list)
    places: dict[tuple[Any, ...], int] = field(default_factory=dict)
    #: What was refused, though the program may have gone on.
    refused: str = ""
    #: Whether numbers are kept in float32 on the way, so that others come of it than recorded.
    is_single: bool = False

    def refuse(self, why: str) -> Unsaid:
        """What to raise where a program asks for a number that is not known."""
        self.refused = why
        return Unsaid(why)

    def entry(self, *operation: Any) -> Taped:
        """The entry of an operation; the same for the same one."""
        name, *arguments = operation
        said = (name, *(_said(one) for one in arguments))
        key = tuple((type(one) is int, one) for one in said)
        if key not in self.places:
            if len(self.operations) >= self.most:
                raise Unsaid(f"more than {self.most:,} operations; give smaller sizes")
            self.places[key] = len(self.operations)
            self.operations.append(said)
        return Taped(self, self.places[key])


def _said(value: Any) -> Any:
    """An argument of an operation: a place, a number, or the name of a letter."""
    if isinstance(value, Taped):
        return value.place
    return value if isinstance(value, str) else float(value)


#: What is said of complex numbers beyond what they are used for, which is to turn vectors.
_OF_COMPLEX = (
    "of complex numbers sums, products, conj, abs, exp, and their real and imaginary parts have a "
    "form"
)


def _number(value: Any) -> float | None:
    """A number that is known; None for an entry."""
    if isinstance(value, Taped):
        return None
    if isinstance(value, _COMPLEX):
        raise Unsaid(_OF_COMPLEX)
    return float(value)


def _folded(name: str, one: Any, other: Any) -> Any:
    """An operation of two, of which one at least is an entry; 0, 1 and −∞ are known to it."""
    if name in ("add", "mul") and not isinstance(one, _Computed):
        one, other = other, one  # so that x + 1 and 1 + x are the same entry
    if isinstance(one, _COMPLEX) or isinstance(other, _COMPLEX):
        return _of_complex(name, one, other)
    a, b = _number(one), _number(other)
    tape = (one if a is None else other).tape
    if math.inf in (a, b) or (name in ("sub", "div") and b == -math.inf):
        raise Unsaid("∞ in a sum or a product with what is given")
    if name in ("add", "sub"):
        if -math.inf in (a, b):
            return -math.inf
        if b == 0 or (a == 0 and name == "add"):
            return one if b == 0 else other
    elif -math.inf in (a, b):
        raise Unsaid("−∞ times a number that may be 0 or negative")
    elif name == "mul" and 0 in (a, b):
        return 0.0
    elif b == 1 or (a == 1 and name == "mul"):
        return one if b == 1 else other
    return tape.entry(name, one if a is None else a, other if b is None else b)


def _of_complex(name: str, one: Any, other: Any) -> Complex:
    """The same of complex numbers."""
    match name:
        case "mul":
            real = one.real * other.real - one.imag * other.imag
            return Complex(real, one.real * other.imag + one.imag * other.real)
        case "div" if isinstance(other, _COMPLEX):
            raise Unsaid(f"a quotient by a complex number; {_OF_COMPLEX}")
        case "div":
            return Complex(one.real / other, one.imag / other)
    operation = getattr(operator, name)
    return Complex(operation(one.real, other.real), operation(one.imag, other.imag))


def _compared(sign: str, one: Any, other: Any) -> Any:
    """A comparison: an entry is above −∞ and below ∞."""
    number = _number(other)
    if _number(one) is None and number is not None and math.isinf(number):
        return {"==": False, "!=": True}.get(sign, (number < 0) == (sign in (">", ">=")))
    if one.tape.operations[one.place][0] == "truth" and number is not None:
        holds = [bool(_SIGNS[sign](each, number)) for each in (0.0, 1.0)]
        return holds[0] if len({*holds}) == 1 else Condition(str(holds[1]).lower(), one, 1.0)
    return Condition(sign, one, other)


_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _power(base: Any, exponent: Any) -> Any:
    """A power of an entry, or one whose exponent is one."""
    if _number(base) is not None:
        return _UFUNCS["exp"](exponent * math.log(base))
    if _number(exponent) is None:
        raise Unsaid("a power whose exponent is no number")
    return base if exponent == 1 else base.tape.entry("pow", base, float(exponent))


def _operators(function: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """An operator of Python's between numbers that are computed, and the one from its right."""

    def of(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else function(self, other)

    def from_right(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else function(other, self)

    return of, from_right


class _Computed:
    """A number that a program computes, with the operators of Python's and NumPy's functions."""

    __slots__ = ()
    __array_priority__ = 100

    __add__, __radd__ = _operators(partial(_folded, "add"))
    __sub__, __rsub__ = _operators(partial(_folded, "sub"))
    __mul__, __rmul__ = _operators(partial(_folded, "mul"))
    __truediv__, __rtruediv__ = _operators(partial(_folded, "div"))
    __pow__, __rpow__ = _operators(_power)
    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = (
        _operators(partial(_compared, sign))[0] for sign in _SIGNS
    )
    __hash__ = None  # type: ignore[assignment]  # as of arrays

    def __neg__(self) -> Any:
        return 0.0 - self

    def __pos__(self) -> Any:
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        return of_ufunc(ufunc, method, inputs, more)


class Taped(_Computed):
    """A real number, by its place on a tape."""

    __slots__ = ("place", "tape")

    def __init__(self, tape: Tape, place: int) -> None:
        self.tape, self.place = tape, place

    #: As of any number, and it is a real one; an array of one entry gives it as itself.
    real, imag, conjugate = property(_Computed.__pos__), 0.0, _Computed.__pos__
    item = _Computed.__pos__

    def __abs__(self) -> Any:
        return self.tape.entry("abs", self)

    def __bool__(self) -> bool:
        raise self.tape.refuse(_BRANCH)

    def __float__(self) -> float:
        raise self.tape.refuse("a number that depends on what is given is taken out of its array")

    __int__ = __index__ = __float__


class Complex(_Computed):
    """A complex number, as its real and its imaginary part, of which each may be an entry."""

    __slots__ = ("imag", "real")

    def __init__(self, real: Any, imag: Any) -> None:
        self.real, self.imag = real, imag

    def __abs__(self) -> Any:
        return _UFUNCS["sqrt"](self.real * self.real + self.imag * self.imag)

    def conjugate(self) -> Any:
        """With the other sign of the imaginary part."""
        return Complex(self.real, -self.imag)

    def __bool__(self) -> bool:
        raise Unsaid(_OF_COMPLEX)

    __float__ = __bool__


#: Complex numbers: of Python's, and of entries.
_COMPLEX = complex | Complex


class Condition:
    """What a comparison of entries gives; only a choice between the two may ask it."""

    def __init__(self, sign: str, left: Any, right: Any) -> None:
        self.sign, self.left, self.right = sign, left, right
        self.tape: Tape = (left if isinstance(left, Taped) else right).tape

    def __bool__(self) -> bool:
        raise self.tape.refuse(_BRANCH)

    def __invert__(self) -> Condition:
        other = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
        other |= {"true": "false", "false": "true"}
        return Condition(other[self.sign], self.left, self.right)

    @property
    def number(self) -> Any:
        """1 where it holds, else 0."""
        return self.left if self.sign == "true" else _chosen(self, 1.0, 0.0)


# ---- functions of entries --------------------------------------------------------------------


def _extreme(sign: int, one: Any, other: Any) -> Any:
    """The larger of two, or with the sign −1 the smaller one."""
    a, b = _number(one), _number(other)
    if a is not None and b is not None:
        return max(a, b) if sign > 0 else min(a, b)
    if -sign * math.inf in (a, b):
        return other if a == -sign * math.inf else one
    if sign * math.inf in (a, b):
        return sign * math.inf
    tape = (one if a is None else other).tape
    name = "max" if sign > 0 else "min"
    return tape.entry(name, *(_as_itself(tape, one) for one in (one, other)))


def _as_itself(tape: Tape, value: Any) -> Any:
    """A number that would stand for −∞ in a sum, and is one of which others may be below."""
    number = _number(value)
    is_itself = number is not None and LOWEST_START < number <= LOWEST
    return tape.entry("sub", 0.0, -number) if number is not None and is_itself else value


_largest, _smallest = partial(_extreme, 1), partial(_extreme, -1)


def _function(
    name: str,
    number: Callable[[float], float],
    of_complex: Callable[[Complex], Any] | None = None,
) -> Callable[[Any], Any]:
    """A function of one entry, or of a number that is known; some also of complex numbers."""

    def of(x: Any) -> Any:
        if isinstance(x, _COMPLEX):
            if of_complex is None:
                raise Unsaid(_OF_COMPLEX)
            return of_complex(Complex(x.real, x.imag))
        return x.tape.entry(name, x) if isinstance(x, Taped) else float(number(x))

    return of


def _exp_of_complex(z: Complex) -> Complex:
    """e^a (cos b + i sin b) of a + i b."""
    size = _UFUNCS["exp"](z.real)
    return Complex(size * _UFUNCS["cos"](z.imag), size * _UFUNCS["sin"](z.imag))


def _is(name: str, answer: bool) -> Callable[[Any], Any]:
    """What is asked of numbers, and known of entries."""
    function = getattr(np, name)
    return lambda x: answer if isinstance(x, Taped) else bool(function(x))


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    """``np.where`` of an entry: known, or the larger or smaller of the two that are compared."""
    if not isinstance(condition, Condition):
        return one if condition else other
    left, right, sign = condition.left, condition.right, condition.sign
    if sign in ("<", "<="):
        left, right, sign = right, left, sign.replace("<", ">")
    elif sign in ("!=", "false"):
        one, other, sign = other, one, {"!=": "==", "false": "true"}[sign]
    tape = left.tape if isinstance(left, Taped) else right.tape
    if sign == "true":
        return tape.entry("true", left, one, other)
    if sign == "==":
        return tape.entry("equal", left, right, one, other)
    if _same(one, left) and _same(other, right):
        return _largest(one, other)
    if _same(one, right) and _same(other, left):
        return _smallest(one, other)
    return tape.entry("at least" if sign == ">=" else "above", left, right, one, other)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Taped) and isinstance(other, Taped):
        return one.place == other.place
    return not isinstance(one, Taped) and not isinstance(other, Taped) and one == other


def _by_one(deciding: bool) -> Callable[[Any, Any], Any]:
    """Whether both answers are true, or one of them: what is decided by one that is false, or true.

    Of two that are not known it raises `Unsaid`.
    """

    def of(one: Any, other: Any) -> Any:
        open_ones = [answer for answer in (one, other) if isinstance(answer, Condition)]
        known = [bool(answer) for answer in (one, other) if not isinstance(answer, Condition)]
        if deciding in known:
            return deciding
        if len(open_ones) > 1:
            raise Unsaid(_BRANCH)
        return open_ones[0] if open_ones else not deciding

    return of


def _logaddexp(one: Any, other: Any) -> Any:
    if -math.inf in (
        one if not isinstance(one, Taped) else 0,
        other if not isinstance(other, Taped) else 0,
    ):
        return other if not isinstance(one, Taped) else one
    exp = _UFUNCS["exp"]
    return _UFUNCS["log"](exp(one) + exp(other))


_LN_2 = math.log(2)

#: What each universal function of NumPy's does to entries.
_UFUNCS: Mapping[str, Callable[..., Any]] = {
    **{
        name: getattr(operator, other)
        for name, other in {
            "add": "add",
            "subtract": "sub",
            "multiply": "mul",
            "divide": "truediv",
            "negative": "neg",
            "positive": "pos",
            "power": "pow",
            "float_power": "pow",
            "greater": "gt",
            "greater_equal": "ge",
            "less": "lt",
            "less_equal": "le",
            "equal": "eq",
            "not_equal": "ne",
        }.items()
    },
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "exp": _function("exp", np.exp, _exp_of_complex),
    "exp2": lambda x: _UFUNCS["exp"](x * _LN_2),
    "expm1": lambda x: _UFUNCS["exp"](x) - 1.0,
    "log": _function("ln", np.log),
    "log2": lambda x: _UFUNCS["log"](x) / _LN_2,
    "log1p": lambda x: _UFUNCS["log"](1.0 + x),
    "sqrt": _function("√", np.sqrt),
    "tanh": _function("tanh", np.tanh),
    "cos": _function("cos", np.cos),
    "sin": _function("sin", np.sin),
    "absolute": _function("abs", np.abs, abs),
    "fabs": _function("abs", np.abs),
    "conjugate": lambda x: x.conjugate(),
    "maximum": _largest,
    "fmax": _largest,
    "minimum": _smallest,
    "fmin": _smallest,
    "clip": lambda x, low, high: _smallest(_largest(x, low), high),
    "logaddexp": _logaddexp,
    "isfinite": _is("isfinite", True),
    "isinf": _is("isinf", False),
    "isnan": _is("isnan", False),
    "logical_not": lambda x: ~x if isinstance(x, Condition) else not x,
    "invert": lambda x: ~x if isinstance(x, Condition) else not x,
    "logical_and": _by_one(False),
    "bitwise_and": _by_one(False),
    "logical_or": _by_one(True),
    "bitwise_or": _by_one(True),
}


class Entries(np.ndarray[Any, Any]):
    """An array of entries and numbers, which NumPy's operations record."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        """An operation entry by entry, a product of matrices, or a reduction."""
        return of_ufunc(ufunc, method, inputs, more)

    def __array_function__(
        self, function: Any, types: Any, args: Any, options: Mapping[str, Any]
    ) -> Any:
        """A function of NumPy's: by a row of `_FUNCTIONS`, or by NumPy's own definition."""
        own = _FUNCTIONS.get(function.__name__)
        if own is None:
            return _wrapped(super().__array_function__(function, types, args, options))
        return _wrapped(own(*map(_bare, args), **{name: _bare(x) for name, x in options.items()}))

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the numbers which these stand for, as a program would have it."""
        first = next(self.flat, 0.0)
        return np.dtype(bool if isinstance(first, Condition) else float)

    def __setitem__(self, key: Any, value: Any) -> None:
        """A part written over, also where a condition holds that is not known."""
        if isinstance(key, Entries) and any(isinstance(one, Condition) for one in key.flat):
            key, value = ..., _where(key, value, self.view(np.ndarray))
        super().__setitem__(_bare(key), _bare(value))

    def kept_in(self, dtype: Any) -> None:
        """Note that its entries are kept in a dtype, if that is float32.

        Raises `Unsaid` for one of whole numbers.
        """
        for one in self.flat:
            if isinstance(one, Taped):
                if is_whole(dtype):
                    raise Unsaid(CUT)
                one.tape.is_single |= "float32" in str(dtype)

    def astype(self, dtype: Any, *args: Any, **more: Any) -> Any:
        """A copy of real numbers, whatever their dtype; known ones may become others."""
        self.kept_in(np.dtype(dtype))
        kind = np.dtype(dtype).kind
        if kind in "fiu" and any(isinstance(one, Condition) for one in self.flat):
            return entries(_NUMBERS(self.view(np.ndarray)))
        if kind == "f" or any(isinstance(one, Taped | Condition) for one in self.flat):
            return self.copy()
        return self.view(np.ndarray).astype(dtype)

    #: Of entries these are no views, as NumPy has them.
    real = property(np.real, doc="The real parts.")
    imag = property(np.imag, doc="The imaginary parts.")

    def conj(self) -> Any:
        """With the other sign of the imaginary parts."""
        return np.conjugate(self)


#: Conditions as numbers, for arithmetic.
_NUMBERS = np.frompyfunc(lambda x: x.number if isinstance(x, Condition) else x, 1, 1)

_OF_CONDITIONS = frozenset(
    ["logical_not", "invert", "logical_and", "bitwise_and", "logical_or", "bitwise_or"]
)


def in_lists(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a function makes of a value, or of each that is in a list or a tuple."""

    def of(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(of, value))
        return function(value)

    return of


def all_of(value: Any) -> Iterator[Any]:
    """What is given, also within lists."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from all_of(one)
    else:
        yield value


@in_lists
def _bare(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Entries) else value


@in_lists
def _wrapped(value: Any) -> Any:
    """An array of objects as one that records; of answers that are all known, one of those."""
    if not isinstance(value, np.ndarray) or _bare(value).dtype != object:
        return value
    if value.size and all(isinstance(one, bool | np.bool_) for one in value.flat):
        return value.astype(bool)
    return value.view(Entries)


def entries(numbers: Any) -> Any:
    """An array that records, of what is given."""
    return np.asarray(numbers, dtype=object).view(Entries)


def of_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], more: Mapping[str, Any]) -> Any:
    """A universal function of arrays of entries."""
    name, out = ufunc.__name__, more.get("out")
    (target,) = inputs[:1] if method == "at" else out or (None,)
    if target is not None and not isinstance(target, Entries):
        raise Unsaid("numbers are written into an array of constants")
    if method == "at" and name in _UFUNCS:
        values = [_NUMBERS(_objects(one)) for one in inputs[2:]]
        own = np.frompyfunc(_UFUNCS[name], 1 + len(values), 1)
        return own.at(_bare(target), _bare(inputs[1]), *values)
    rest = {key: _bare(one) for key, one in more.items() if key not in ("out", "dtype", "casting")}
    given = [
        _objects(one) if k == 0 or method == "__call__" else _bare(one)
        for k, one in enumerate(inputs)
    ]
    if name not in _OF_CONDITIONS:
        given = [_objects(_NUMBERS(one)) if one.dtype == object else one for one in given]
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        found = getattr(ufunc, method)(*given, **rest)
    elif name not in _UFUNCS:
        raise Unsaid(f"{name} is not known here")
    elif method == "reduce":
        found = _reduced(name, given[0], **rest)
    else:
        own = np.frompyfunc(_UFUNCS[name], len(given) if method == "__call__" else 2, 1)
        found = getattr(own, method)(*given, **rest)
    if target is None:
        return _wrapped(found)
    target.view(np.ndarray)[...] = found
    return target


def _objects(value: Any) -> Any:
    if isinstance(value, Taped | Condition):
        box = np.empty((), object)
        box[()] = value
        return box
    array = np.asarray(_bare(value))
    return array if array.dtype in (object, bool) else array.astype(object)


def _reduced(
    name: str,
    array: Any,
    axis: Any = 0,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """A reduction over some axes."""
    starts = {"add": 0.0, "multiply": 1.0, "maximum": -math.inf, "minimum": math.inf}
    starts |= {"logical_and": True, "logical_or": False}
    if name not in starts:
        raise Unsaid(f"{name} over an axis is not known here")
    start = starts[name] if initial is np._NoValue or initial is None else initial
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    function = np.frompyfunc(_UFUNCS[name], 2, 1)
    if where is not True:
        array = np.where(where, array, np.array(starts[name], object))
    for one in sorted({each % array.ndim for each in axes}, reverse=True):
        array = function.reduce(array, axis=one, keepdims=keepdims, initial=start)
        array = _objects(array)
    return array if array.ndim or keepdims else array[()]


# ---- functions of NumPy's --------------------------------------------------------------------


def _of_each(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """A function of so many arrays that is done to their entries."""
    own = np.frompyfunc(function, count, 1)
    return lambda *arrays: own(*map(_objects, arrays))


_where = _of_each(_chosen, 3)


def _nan_to_num(array: Any, *args: Any, **more: Any) -> Any:
    array = _objects(array)
    if any(not isinstance(one, Taped) and not math.isfinite(one) for one in array.flat):
        raise Unsaid("np.nan_to_num of what is none, or not finite")
    return array


def _einsum(*args: Any, **more: Any) -> Any:
    given: Any = [one if isinstance(one, str | list) else _objects(one) for one in args]
    return np.einsum(*given)


def _norm(array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if ord not in (None, 2) or (ord == 2 and axis is None):
        raise Unsaid("this norm is not known here")
    return np.sqrt(np.sum(np.square(entries(array)), axis=axis, keepdims=keepdims))


def _along(function: Callable[..., Any], axis: int, array: Any, *args: Any, **more: Any) -> Any:
    rows = np.moveaxis(_objects(array), axis, -1)
    lines = rows.reshape(-1, rows.shape[-1])
    found = [np.asarray(function(entries(row), *args, **more), object) for row in lines]
    out = np.stack(found).reshape(rows.shape[:-1] + found[0].shape)
    return np.moveaxis(out, -1, axis) if found[0].ndim else out


def complex_of(real: Any, imag: Any) -> Any:
    """Complex numbers of their real and imaginary parts."""
    return entries(_of_each(Complex, 2)(real, imag))


def erf(x: Any) -> Any:
    """2/√π times the integral of e^-t² from 0."""
    found = _of_each(_function("erf", math.erf))(x)
    return found.view(Entries) if isinstance(x, Entries) else np.asarray(found, float)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "apply_along_axis": _along,
    "where": _where,
    "nanmax": lambda array, *args, **more: np.max(entries(array), *args, **more),
    "einsum": _einsum,
    "norm": _norm,
    "nan_to_num": _nan_to_num,
    "isneginf": np.frompyfunc(lambda x: False if isinstance(x, Taped) else x == -math.inf, 1, 1),
    "isposinf": np.frompyfunc(lambda x: False if isinstance(x, Taped) else x == math.inf, 1, 1),
    "real": _of_each(operator.attrgetter("real")),
    "imag": _of_each(operator.attrgetter("imag")),
}


# ---- the modules that a program sees ---------------------------------------------------------


def _made(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that makes an array of floats, into which entries may be written."""

    def made(*args: Any, dtype: Any = None, **more: Any) -> Any:
        is_exact = dtype is not None and np.dtype(dtype).kind not in "fO"
        kept = {"dtype": dtype} if is_exact else {}
        found = np.asarray(function(*map(_bare, args), **kept, **more))
        return entries(found) if found.dtype.kind in "fO" else found

    return made


def _array(value: Any, *args: Any, **more: Any) -> Any:
    """``np.array`` and its like: what holds entries records."""
    if isinstance(value, Entries | Taped):
        return entries(_bare(value)).copy()
    found = (
        np.array(_bare(value), *args, **more)
        if not _holds(value)
        else np.array(_bare(value), object)
    )
    return _wrapped(found)


def _same_array(value: Any, *args: Any, **more: Any) -> Any:
    return value if isinstance(value, np.ndarray) else _array(value, *args, **more)


def _holds(value: Any) -> bool:
    return any(isinstance(one, Entries | Taped) for one in all_of(value))


def _finfo(dtype: Any) -> Any:
    return np.finfo(np.float64 if np.dtype(dtype) == np.dtype(object) else dtype)


class Module(types.ModuleType):
    """A module as a program sees it: with some functions of its own."""

    def __init__(self, module: Any, own: Mapping[str, Any]) -> None:
        super().__init__(module.__name__)
        vars(self).update(_module=module, _own=own)

    def __getattr__(self, name: str) -> Any:
        found = self._own.get(name)
        return getattr(self._module, name) if found is None else found

    def __setattr__(self, name: str, value: Any) -> None:
        """A part that is imported when it is asked for becomes one of the module itself."""
        setattr(self._module, name, value)


def _of_math(name: str) -> Callable[..., Any]:
    function, own = getattr(math, name), _UFUNCS["absolute" if name == "fabs" else name]
    return lambda *args: own(*args) if any(isinstance(x, Taped) for x in args) else function(*args)


#: Functions of NumPy's that make an array by its shape, or by that of another.
MADE = ("zeros", "empty", "full", "ones", "zeros_like", "empty_like", "ones_like", "full_like")

_OF_NUMPY: Mapping[str, Callable[..., Any]] = {
    **{name: _made(getattr(np, name)) for name in MADE},
    "array": _array,
    "asarray": _same_array,
    "ascontiguousarray": _same_array,
    "asanyarray": _same_array,
    "finfo": _finfo,
    "float64": lambda x=0.0: x if _holds(x) else np.float64(x),
}
_OF_MATH: Mapping[str, Callable[..., Any]] = {
    name: _of_math(name) for name in ("exp", "log", "sqrt", "tanh", "cos", "sin", "fabs")
}


def _largest_of(*args: Any, **more: Any) -> Any:
    """``max`` of Python's."""
    listed = [*args] if len(args) > 1 else [*args[0]]
    known = not any(isinstance(one, Taped) for one in listed)
    if more and not known:
        raise Unsaid("max with options")
    return builtins.max(*args, **more) if known else reduce(_largest, listed)


def _float(value: Any = 0.0) -> Any:
    return value if isinstance(value, Taped) else float(value)


#: It is also a dtype, as Python's own is.
_float.dtype = np.dtype(float)  # type: ignore[attr-defined]


def in_place_of(module: Any, own: Mapping[str, Any]) -> dict[int, Any]:
    """What a program sees for a module and some of its functions, by the ids of these."""
    functions = {id(getattr(module, name)): function for name, function in own.items()}
    return {**functions, id(module): Module(module, own)}


def of_entries() -> dict[int, Any]:
    """What a program sees that is run on entries."""
    return {**in_place_of(np, _OF_NUMPY), **in_place_of(math, _OF_MATH)}


#: What stands for functions of Python's.
BUILTINS: Mapping[str, Any] = {"max": _largest_of, "float": _float}


@contextmanager
def seen_by(
    function: Callable[..., Any], own: Mapping[int, Any], beside: Mapping[str, Any]
) -> Iterator[None]:
    """A program sees others for modules and functions of some ids, and for names it has not."""
    file = code_of(function)[0][0].co_filename
    spaces = [getattr(inspect.unwrap(function), "__globals__", {})]
    spaces += [
        vars(module)
        for module in [*sys.modules.values()]
        if getattr(module, "__file__", None) == file
    ]
    before = [dict(space) for space in spaces]
    shown = {one.__name__: one for one in own.values() if isinstance(one, Module)}
    modules = {name: sys.modules[name] for name in shown}
    for space in spaces:
        space.update({name: own[id(one)] for name, one in [*space.items()] if id(one) in own})
        space.update({name: one for name, one in beside.items() if name not in space})
    sys.modules.update(shown)
    try:
        yield
    finally:
        sys.modules.update(modules)
        for space, kept in zip(spaces, before, strict=True):
            space.clear()
            space.update(kept)
