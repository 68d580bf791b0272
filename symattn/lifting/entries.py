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
from typing import Any

import numpy as np

from symattn.lifting.limits import LIMITS
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
    if isinstance(value, complex | Complex):
        raise Unsaid(_OF_COMPLEX)
    return None if isinstance(value, Taped) else float(value)


class Taped:
    """A number that a program computes."""

    __slots__ = ("place", "tape")
    __array_priority__ = 100

    def __init__(self, tape: Tape, place: int) -> None:
        self.tape, self.place = tape, place

    def __add__(self, other: Any) -> Any:
        return _folded("add", self, other)

    def __sub__(self, other: Any) -> Any:
        return _folded("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _folded("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _folded("mul", self, other)

    def __truediv__(self, other: Any) -> Any:
        return _folded("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _folded("div", other, self)

    def __neg__(self) -> Any:
        return _folded("sub", 0.0, self)

    def __pos__(self) -> Any:
        return self

    #: As of any number, and it is a real one.
    real, imag, conjugate = property(__pos__), 0.0, __pos__

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Taped):
            raise Unsaid("a power whose exponent is no number")
        return self if exponent == 1 else self.tape.entry("pow", self, float(exponent))

    def __rpow__(self, base: Any) -> Any:
        return self.tape.entry("exp", self * math.log(base))

    def __abs__(self) -> Any:
        return self.tape.entry("abs", self)

    def __lt__(self, other: Any) -> Any:
        return _compared("<", self, other)

    def __le__(self, other: Any) -> Any:
        return _compared("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(">=", self, other)

    def __eq__(self, other: object) -> Any:
        return _compared("==", self, other)

    def __ne__(self, other: object) -> Any:
        return _compared("!=", self, other)

    __radd__, __rmul__ = __add__, __mul__
    __hash__ = None  # type: ignore[assignment]  # as of arrays

    def __bool__(self) -> bool:
        raise self.tape.refuse(_BRANCH)

    def __float__(self) -> float:
        raise self.tape.refuse("a number that depends on what is given is taken out of its array")

    __int__ = __index__ = __float__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        return of_ufunc(ufunc, method, inputs, more)

    def item(self) -> Taped:
        """Itself, as of an array of one entry."""
        return self


class Complex:
    """A complex number, as its real and its imaginary part, of which each may be an entry."""

    __slots__ = ("imag", "real")
    __array_priority__ = 100

    def __init__(self, real: Any, imag: Any) -> None:
        self.real, self.imag = real, imag

    def __add__(self, other: Any) -> Any:
        return Complex(self.real + other.real, self.imag + other.imag)

    def __mul__(self, other: Any) -> Any:
        real = self.real * other.real - self.imag * other.imag
        return Complex(real, self.real * other.imag + self.imag * other.real)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, complex | Complex):
            raise Unsaid(f"a quotient by a complex number; {_OF_COMPLEX}")
        return Complex(self.real / other, self.imag / other)

    def __neg__(self) -> Any:
        return Complex(-self.real, -self.imag)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __abs__(self) -> Any:
        return _UFUNCS["sqrt"](self.real * self.real + self.imag * self.imag)

    __radd__, __rmul__ = __add__, __mul__

    def conjugate(self) -> Any:
        """With the other sign of the imaginary part."""
        return Complex(self.real, -self.imag)

    def exp(self) -> Any:
        """e^a (cos b + i sin b) of a + i b."""
        size = _UFUNCS["exp"](self.real)
        return Complex(size * _UFUNCS["cos"](self.imag), size * _UFUNCS["sin"](self.imag))

    def _refused(self, *args: Any) -> Any:
        raise Unsaid(_OF_COMPLEX)

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __pow__ = __rtruediv__ = _refused


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


def _folded(name: str, one: Any, other: Any) -> Any:
    """An operation of two, of which one at least is an entry; 0, 1 and −∞ are known to it."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return NotImplemented
    if isinstance(one, complex | Complex) or isinstance(other, complex | Complex):
        first = Complex(one.real, one.imag)
        if name == "div":
            return first / other
        return getattr(operator, name)(first, Complex(other.real, other.imag))
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
    elif a == 0 or (b == 0 and name == "mul"):
        return 0.0
    elif b == 1 or (a == 1 and name == "mul"):
        return one if b == 1 else other
    return tape.entry(name, one if a is None else a, other if b is None else b)


def _compared(sign: str, one: Any, other: Any) -> Any:
    """A comparison: an entry is above −∞ and below ∞."""
    if isinstance(other, np.ndarray):
        return NotImplemented
    number = None if isinstance(other, Taped) else float(other)
    if number is not None and math.isinf(number):
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


# ---- functions of entries --------------------------------------------------------------------


def _largest(one: Any, other: Any) -> Any:
    return _extreme(one, other, 1)


def _smallest(one: Any, other: Any) -> Any:
    return _extreme(one, other, -1)


def _extreme(one: Any, other: Any, sign: int) -> Any:
    a, b = _number(one), _number(other)
    if a is not None and b is not None:
        return max(a, b) if sign > 0 else min(a, b)
    if -sign * math.inf in (a, b):
        return other if a == -sign * math.inf else one
    if sign * math.inf in (a, b):
        return sign * math.inf
    tape = (one if a is None else other).tape
    name = "max" if sign > 0 else "min"
    return tape.entry(name, one if a is None else a, other if b is None else b)


def _function(
    name: str,
    number: Callable[[float], float],
    of_complex: Callable[[Complex], Any] | None = None,
) -> Callable[[Any], Any]:
    """A function of one entry, or of a number that is known; some also of complex numbers."""

    def of(x: Any) -> Any:
        if isinstance(x, complex | Complex):
            if of_complex is None:
                raise Unsaid(_OF_COMPLEX)
            return of_complex(Complex(x.real, x.imag))
        return x.tape.entry(name, x) if isinstance(x, Taped) else float(number(x))

    return of


def _is(answer: bool) -> Callable[[str], Callable[[Any], Any]]:
    def made(name: str) -> Callable[[Any], Any]:
        function = getattr(np, name)
        return lambda x: answer if isinstance(x, Taped) else bool(function(x))

    return made


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


def _both(one: Any, other: Any) -> Any:
    if isinstance(one, Condition) or isinstance(other, Condition):
        known = other if isinstance(one, Condition) else one
        if isinstance(known, Condition):
            raise Unsaid(_BRANCH)
        return (one if isinstance(one, Condition) else other) if known else False
    return bool(one) and bool(other)


def _either(one: Any, other: Any) -> Any:
    if isinstance(one, Condition) or isinstance(other, Condition):
        known = other if isinstance(one, Condition) else one
        if isinstance(known, Condition):
            raise Unsaid(_BRANCH)
        return True if known else (one if isinstance(one, Condition) else other)
    return bool(one) or bool(other)


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
    "exp": _function("exp", np.exp, lambda z: z.exp()),
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
    "isfinite": _is(True)("isfinite"),
    "isinf": _is(False)("isinf"),
    "isnan": _is(False)("isnan"),
    "logical_not": lambda x: ~x if isinstance(x, Condition) else not x,
    "invert": lambda x: ~x if isinstance(x, Condition) else not x,
    "logical_and": _both,
    "bitwise_and": _both,
    "logical_or": _either,
    "bitwise_or": _either,
}


class Entries(np.ndarray[Any, Any]):
    """An array of entries and numbers, which NumPy's operations record."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        """An operation entry by entry, a product of matrices, or a reduction."""
        return of_ufunc(ufunc, method, inputs, more)

    def __array_function__(
        self, function: Any, types: Any, args: Any, options: Mapping[str, Any]
    ) -> Any:
        """A function of NumPy's: by a row of `_FUNCTIONS`, or as NumPy does it with objects."""
        own = _FUNCTIONS.get(function.__name__, function)
        found = own(*map(_bare, args), **{name: _bare(x) for name, x in options.items()})
        return _wrapped(found)

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

    #: As the functions of NumPy's have them.
    mean, var, std, dot = np.mean, np.var, np.std, np.dot  # type: ignore[assignment]

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


def _bare(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_bare, value))
    return value.view(np.ndarray) if isinstance(value, Entries) else value


def _wrapped(value: Any) -> Any:
    """An array of objects as one that records; of answers that are all known, one of those."""
    if isinstance(value, list | tuple):
        return type(value)(map(_wrapped, value))
    if not isinstance(value, np.ndarray) or value.dtype != object:
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
    if out is None:
        return _wrapped(found)
    (target,) = out
    if target is None:
        return _wrapped(found)
    if not isinstance(target, Entries):
        raise Unsaid("numbers are written into an array of constants")
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


def _where(condition: Any, one: Any = None, other: Any = None) -> Any:
    own = np.frompyfunc(_chosen, 3, 1)
    return own(_objects(condition), _objects(one), _objects(other))


def _mean(
    array: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **more: Any,
) -> Any:
    array = _objects(array)
    summed = _reduced("add", array, axis, bool(keepdims) and keepdims is not np._NoValue)
    return summed / (array.size / np.size(summed))


def _var(
    array: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    **more: Any,
) -> Any:
    array = _objects(array)
    apart = array - _mean(array, axis, keepdims=True)
    count = array.size / np.size(_mean(array, axis))
    return _mean(apart * apart, axis, keepdims=keepdims) * (count / (count - ddof))


def _of(name: str) -> Callable[..., Any]:
    """A reduction by the name of its universal function."""

    def reduced(
        array: Any, axis: Any = None, *args: Any, keepdims: Any = False, **more: Any
    ) -> Any:
        options = {key: one for key, one in more.items() if key in ("initial", "where")}
        keeps = bool(keepdims) and keepdims is not np._NoValue
        return _reduced(name, _objects(array), axis, keeps, **options)

    return reduced


def _clip(array: Any, low: Any = None, high: Any = None, **more: Any) -> Any:
    low, high = more.get("min", low), more.get("max", high)
    array = _objects(array)
    array = array if low is None else np.frompyfunc(_largest, 2, 1)(array, low)
    return array if high is None else np.frompyfunc(_smallest, 2, 1)(array, high)


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
    array = _objects(array)
    squares = _reduced("add", array * array, axis, keepdims)
    return np.frompyfunc(_UFUNCS["sqrt"], 1, 1)(squares)


def _along(function: Callable[..., Any], axis: int, array: Any, *args: Any, **more: Any) -> Any:
    rows = np.moveaxis(_objects(array), axis, -1)
    found = [np.asarray(function(entries(row), *args, **more), object) for row in _rows(rows)]
    out = np.stack(found).reshape(rows.shape[:-1] + found[0].shape)
    return np.moveaxis(out, -1, axis) if found[0].ndim else out


def _rows(array: Any) -> Any:
    return array.reshape(-1, array.shape[-1])


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials over their sum."""
    powers = np.exp(np.subtract(x, np.max(x, axis=axis, keepdims=True)))
    return np.divide(powers, np.sum(powers, axis=axis, keepdims=True))


def log_sum_exp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of a sum of exponentials."""
    top = np.max(x, axis=axis, keepdims=True)
    out = np.add(np.log(np.sum(np.exp(np.subtract(x, top)), axis=axis, keepdims=True)), top)
    return out if keepdims else np.squeeze(out, axis=axis)


def sigmoid(x: Any) -> Any:
    """1/(1 + e^-x)."""
    return np.divide(1.0, np.add(1.0, np.exp(np.negative(x))))


def complex_of(real: Any, imag: Any) -> Any:
    """Complex numbers of their real and imaginary parts."""
    return entries(np.frompyfunc(Complex, 2, 1)(_objects(real), _objects(imag)))


def _part(name: str) -> Callable[..., Any]:
    """The real or the imaginary part of each number."""
    return lambda x: np.frompyfunc(operator.attrgetter(name), 1, 1)(_objects(x))


def erf(x: Any) -> Any:
    """2/√π times the integral of e^-t² from 0."""
    found = np.frompyfunc(_function("erf", math.erf), 1, 1)(_objects(x))
    return found.view(Entries) if isinstance(x, Entries) else np.asarray(found, float)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "apply_along_axis": _along,
    "where": _where,
    "mean": _mean,
    "average": _mean,
    "var": _var,
    "std": lambda *args, **more: np.frompyfunc(_UFUNCS["sqrt"], 1, 1)(_var(*args, **more)),
    "sum": _of("add"),
    "prod": _of("multiply"),
    "max": _of("maximum"),
    "amax": _of("maximum"),
    "nanmax": _of("maximum"),
    "min": _of("minimum"),
    "amin": _of("minimum"),
    "all": _of("logical_and"),
    "any": _of("logical_or"),
    "clip": _clip,
    "einsum": _einsum,
    "norm": _norm,
    "nan_to_num": _nan_to_num,
    "isneginf": np.frompyfunc(lambda x: False if isinstance(x, Taped) else x == -math.inf, 1, 1),
    "isposinf": np.frompyfunc(lambda x: False if isinstance(x, Taped) else x == math.inf, 1, 1),
    "real": _part("real"),
    "imag": _part("imag"),
}


# ---- the modules that a program sees ---------------------------------------------------------


def _made(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that makes an array of floats, into which entries may be written."""

    def made(*args: Any, **more: Any) -> Any:
        dtype = more.get("dtype")
        if dtype is not None and np.dtype(dtype) != np.dtype(object):
            kind = np.dtype(dtype).kind
            if kind != "f":
                return function(*map(_bare, args), **more)
        found = function(*map(_bare, args), **{**more, "dtype": None} if "dtype" in more else more)
        array = np.asarray(found)
        if array.dtype == object:
            return array.view(Entries)
        return entries(array) if array.dtype.kind == "f" else found

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
    if isinstance(value, list | tuple):
        return any(map(_holds, value))
    return isinstance(value, Entries | Taped)


def _finfo(dtype: Any) -> Any:
    return np.finfo(np.float64 if np.dtype(dtype) == np.dtype(object) else dtype)


class Module(types.ModuleType):
    """A module as a program sees it: with some functions of its own."""

    def __init__(self, module: Any, own: Mapping[str, Any]) -> None:
        super().__init__(module.__name__)
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        found = self._own.get(name)
        return getattr(self._module, name) if found is None else found


def _of_math(name: str) -> Callable[..., Any]:
    function, own = getattr(math, name), _UFUNCS["absolute" if name == "fabs" else name]
    return lambda *args: own(*args) if any(isinstance(x, Taped) for x in args) else function(*args)


_MADE = ("zeros", "empty", "full", "ones", "zeros_like", "empty_like", "ones_like", "full_like")

NUMPY = Module(
    np,
    {
        **{name: _made(getattr(np, name)) for name in _MADE},
        "array": _array,
        "asarray": _same_array,
        "ascontiguousarray": _same_array,
        "asanyarray": _same_array,
        "finfo": _finfo,
        "float64": lambda x=0.0: x if _holds(x) else np.float64(x),
    },
)
MATH = Module(
    math, {name: _of_math(name) for name in ("exp", "log", "sqrt", "tanh", "cos", "sin", "fabs")}
)


#: Functions of `scipy.special`, which asks its arguments what they are.
_SPECIAL: Mapping[str, Callable[..., Any]] = {
    "softmax": softmax,
    "log_softmax": lambda x, axis=None: np.subtract(x, log_sum_exp(x, axis, keepdims=True)),
    "logsumexp": log_sum_exp,
    "expit": sigmoid,
    "erf": erf,
}


def of_special() -> dict[int, Any]:
    """What a program sees for SciPy, if it has imported that, by the ids of what it would see."""
    special = sys.modules.get("scipy.special")
    if special is None:
        return {}
    scipy, own = sys.modules["scipy"], Module(special, _SPECIAL)
    found = {id(scipy): Module(scipy, {"special": own}), id(special): own}
    return found | {id(getattr(special, name)): each for name, each in _SPECIAL.items()}


def _largest_of(*args: Any, **more: Any) -> Any:
    """``max`` of Python's."""
    listed = [*args] if len(args) > 1 else [*args[0]]
    if not any(isinstance(one, Taped) for one in listed):
        return builtins.max(*args, **more)
    out = listed[0]
    for one in listed[1:]:
        out = _largest(out, one)
    return out


def _float(value: Any = 0.0) -> Any:
    return value if isinstance(value, Taped) else float(value)


#: It is also a dtype, as Python's own is.
_float.dtype = np.dtype(float)  # type: ignore[attr-defined]


def of_entries() -> dict[int, Any]:
    """What a program sees that is run on entries: `NUMPY`, `MATH`, and their functions."""
    own = {id(np): NUMPY, id(math): MATH}
    own |= {id(getattr(np, name)): one for name, one in NUMPY._own.items()}
    own |= {id(getattr(math, name)): one for name, one in MATH._own.items()}
    return {**own, **of_special()}


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
