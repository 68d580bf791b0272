"""Numbers and closed expressions that people write, read exactly and never run as code.

A text is a plain decimal or a closed expression in the language of `symattn.grammar`: fractions,
powers, ``sqrt ln log exp sin cos tanh``, ``e``, ``pi``, ``inf``. A decimal is the exact rational it
spells: 0.1 is 1/10. Length, depth, digits and exponents are bounded before any arithmetic.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Any, TypeAlias

import numpy as np
import sympy
from flint import arb
from sympy.logic.boolalg import BooleanAtom

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import ball, precision
from symattn.arithmetic.machine import is_machine, kept
from symattn.errors import ReadError, located, quote
from symattn.grammar import MAX_EXPONENT, Apart, Call, Name, Number, Tree, read_closed

MAX_LENGTH = 200
MAX_ENTRIES = 65_536
_MOST_LEVELS = 8

_DECIMAL = re.compile(
    r"[+-]?(?P<whole>[0-9]{0,120})(?:\.(?P<fraction>[0-9]{0,120}))?"
    r"(?:[eE](?P<exponent>[+-]?[0-9]{1,9}))?\Z"
)
_MINUS_INFINITY = {"-inf", "-infinity", "-oo", "-∞"}
_ROUND = {"sin": sympy.sin, "cos": sympy.cos, "tanh": sympy.tanh}
_FUNCTIONS = {**_ROUND, "exp": sympy.exp, "ln": sympy.log, "√": sympy.sqrt}
_CONSTANTS = {"e": sympy.E, "pi": sympy.pi, "∞": sympy.oo}

#: Numbers as somebody gives them: nested lists, an array of any library, a matrix of SymPy.
Nested: TypeAlias = Any


def depth(value: object) -> int:
    """How many levels of brackets, or axes, a matrix has."""
    axes = getattr(value, "ndim", None)
    if axes is not None:
        return int(axes)
    depth = 0
    while isinstance(value, list | tuple) and depth < _MOST_LEVELS:
        depth, value = depth + 1, value[0] if value else None
    return depth


def read_number(value: object, where: str, most: int = MAX_LENGTH) -> sympy.Expr:
    """One number, exactly; `where` (``K[2,1]``) begins the message of a `ReadError`.

    A text has at `most` so many characters.

    >>> read_number("0.10", "x"), read_number("1/3", "x"), read_number("sqrt(2)", "x")
    (1/10, 1/3, sqrt(2))
    """
    match value:
        case bool() | np.bool_():
            raise ReadError(f"{where}: {value} is not a number; only a mask takes true and false")
        case int() | np.integer():
            return _integer(int(value), where)
        case float() | np.floating():
            return _decimal(repr(float(value)) if type(value) is float else str(value), where)
        case Decimal():
            return _decimal(str(value), where)
        case Fraction():
            _integer(value.denominator, where)
            return sympy.Rational(_integer(value.numerator, where), value.denominator)
        case str():
            return _text(value, where, most)
        case sympy.Expr() if not value.is_Matrix:
            if value in (sympy.oo, sympy.zoo, sympy.nan) or value.has(sympy.I):
                raise ReadError(f"{where}: {quote(value)} is not a number that attention can use")
            for part in value.atoms(sympy.Rational):
                _integer(max(abs(part.p), part.q), where)
            floats = value.atoms(sympy.Float)
            return value.xreplace({f: _spelled(f) for f in floats}) if floats else value
    raise ReadError(f"{where}: {quote(value)} is not a number")


def _spelled(value: sympy.Float) -> sympy.Rational:
    """The decimal that a SymPy float is the nearest to, as Python spells it."""
    double = float(value)
    return sympy.Rational(repr(double) if sympy.Float(double) == value else str(value))


def _integer(value: int, where: str) -> sympy.Expr:
    if value.bit_length() > 4 * MAX_EXPONENT:
        raise ReadError(f"{where}: the number is too large; keep below 1e{MAX_EXPONENT}")
    return sympy.Integer(value)


def _text(value: str, where: str, most: int) -> sympy.Expr:
    text = value.strip().replace("−", "-")
    if len(text) > most:
        raise ReadError(f"{where}: {len(text)} characters are too many; write {most} at most")
    if _DECIMAL.match(text) and any(c.isdigit() for c in text):
        return _decimal(text, where)
    if text in _MINUS_INFINITY:
        return sympy.S.NegativeInfinity
    with located(where):
        tree = read_closed(text)
    try:
        result = value_of(tree)
    except ReadError as error:
        raise ReadError(f"{where}: {quote(value)} cannot be read: {error}") from None
    return _checked(result, value, where)


def _decimal(text: str, where: str) -> sympy.Expr:
    """A plain decimal as the rational it spells."""
    lowered = text.lower()
    if lowered in ("-inf", "-infinity"):
        return sympy.S.NegativeInfinity
    match = _DECIMAL.match(text)
    if match is None or not (match["whole"] or match["fraction"]):
        hint = "" if "inf" in lowered or "nan" in lowered else "; write at most 120 digits"
        raise ReadError(f"{where}: {quote(text)} is not a number that attention can use{hint}")
    if abs(int(match["exponent"] or 0)) > MAX_EXPONENT:
        raise ReadError(f"{where}: {text[:40]}: keep the exponent within ±{MAX_EXPONENT}")
    value = Fraction(text)
    return sympy.Rational(value.numerator, value.denominator)


def _checked(result: sympy.Expr, source: str, where: str) -> sympy.Expr:
    """The result if it is a real number of a usable size."""
    if result is sympy.S.NegativeInfinity:
        return result
    if result.has(sympy.oo, sympy.zoo, sympy.nan, sympy.I):
        raise ReadError(f"{where}: {quote(source)} is not a real number")
    if not _is_usable(_enclosed(result)):
        raise ReadError(f"{where}: {quote(source)} is too large; keep below 1e{MAX_EXPONENT}")
    return result


def _enclosed(value: sympy.Expr) -> arb:
    with precision(128):
        return ball(value)


def _is_usable(value: arb) -> bool:
    """Whether a number is finite, and no larger than numbers may be."""
    most = _enclosed(sympy.Integer(10) ** MAX_EXPONENT)
    return bool(value.is_finite() and value.abs_upper() < most)


def value_of(tree: Tree) -> sympy.Expr:
    """The exact number that a tree without letters is. Raises `ReadError` where it is none."""
    match tree:
        case Number(value):
            return sympy.Rational(value.numerator, value.denominator)
        case Name(name):
            return _CONSTANTS[name]
        case Call(name, (argument,)):
            return _applied(name, value_of(argument))
        case Apart("+", parts):
            return sum((value_of(part) for part in parts), sympy.S.Zero)
        case Apart("neg", (part,)):
            return -value_of(part)
        case Apart("*", parts):
            return prod((value_of(part) for part in parts), start=sympy.S.One)
        case Apart("/", (above, below)):
            return value_of(above) / _nonzero(value_of(below))
        case Apart("inv", (part,)):
            return 1 / _nonzero(value_of(part))
        case Apart("^", (base, exponent)):
            return _raised(value_of(base), value_of(exponent))
        case Apart("^", (base,), power):
            return _raised(value_of(base), sympy.Rational(power.numerator, power.denominator))
    raise ReadError("it is not a number")


def _nonzero(value: sympy.Expr) -> sympy.Expr:
    if _bounded(value).contains(0):
        raise ReadError("it divides by zero")
    return value


def _raised(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    if base is sympy.E:
        return _applied("exp", exponent)
    size, _ = _bounded(base), _bounded(exponent)
    if not isinstance(exponent, sympy.Rational) or exponent.q not in (1, 2):
        raise ReadError(
            "only e may have such an exponent; elsewhere write an integer or a half-integer"
        )
    if abs(exponent) > MAX_EXPONENT:
        raise ReadError(f"keep exponents within ±{MAX_EXPONENT}")
    if size.contains(0) and exponent < 0:
        raise ReadError("it divides by zero")
    if exponent.q == 2 and not size >= 0:
        raise ReadError("it is the root of a negative number")
    if not size.contains(0) and abs(float(abs(size).log().mid())) * abs(exponent) > 2000:
        raise ReadError("the power is too large or too small")
    return base**exponent


def _applied(name: str, argument: sympy.Expr) -> sympy.Expr:
    if name == "exp" and argument is sympy.S.NegativeInfinity:
        return sympy.S.Zero
    value = _bounded(argument)
    if name in _ROUND and not value.abs_upper() < 1_000_000:
        raise ReadError(f"the argument of {name} is too large")
    if name == "√" and not value >= 0:
        raise ReadError("it is the root of a negative number")
    if name == "ln" and not value > 0:
        raise ReadError("it is the logarithm of a number that is not positive")
    return _FUNCTIONS[name](argument)


def _bounded(value: sympy.Expr) -> arb:
    """An enclosure. Raises `ReadError` for a part that is infinite or astronomically large."""
    if value.has(sympy.oo, sympy.zoo, sympy.nan):
        raise ReadError("infinity cannot be part of an expression")
    enclosed = _enclosed(value)
    if not _is_usable(enclosed):
        raise ReadError(f"a part of it is too large; keep below 1e{MAX_EXPONENT}")
    return enclosed


def read_array(
    value: Nested,
    name: str,
    *,
    levels: tuple[int, ...] = (2,),
    infinite: bool = False,
    boolean: bool = False,
) -> Array:
    """Nested lists, a NumPy array or a SymPy matrix as an object array of exact numbers.

    `levels`: how deep the brackets may go; `infinite`: whether −∞ has a meaning there;
    `boolean`: whether true and false do (read as 1 and 0).
    """
    value = _listed(value, name)
    shape = _shape(value, name)
    _check_levels(shape, name, levels)
    entries: list[Any] = [value]
    for _ in shape:
        entries = [entry for part in entries for entry in part]
    out = np.empty(len(entries), dtype=object)
    for k, entry in enumerate(entries):
        if type(entry) is int and entry.bit_length() < 64 and not boolean:
            out[k] = sympy.Integer(entry)
        else:
            index = tuple(map(int, np.unravel_index(k, shape)))
            out[k] = _entry(entry, name, index, infinite, boolean)
    return out.reshape(shape)


def _entry(
    entry: Any, name: str, index: Sequence[int], infinite: bool, boolean: bool
) -> sympy.Expr:
    """One entry of a matrix, which has a meaning there."""
    place = f"{name}[{','.join(str(i + 1) for i in index)}]"
    if boolean:
        return _truth(entry, place)
    number = read_number(entry, place)
    if number is sympy.S.NegativeInfinity and not infinite:
        raise ReadError(f"{place}: −∞ has no meaning in {name}; only scores and masks hold it")
    return number


def _check_levels(shape: Sequence[int], name: str, levels: Sequence[int]) -> None:
    """Refuse an empty matrix, and brackets (or axes) that are not as deep as is asked for."""
    if 0 in shape:
        raise ReadError(f"{name}: the matrix is empty; give at least one row and one column")
    if len(shape) not in levels:
        found = {0: "a single value", 1: "a single list"}.get(len(shape), f"{len(shape)} levels")
        *others, last = map(str, levels)
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise ReadError(
            f"{name}: {found}, where {wanted} levels of brackets are needed; "
            "write a matrix as [[1, 2], [3, 4]]"
        )


def read_matrix(
    value: Any,
    name: str,
    *,
    levels: tuple[int, ...] = (2,),
    infinite: bool = False,
    boolean: bool = False,
) -> Array:
    """The same as `read_array`, where an array of machine numbers stays one, of any size.

    Its entries are checked all at once; none is read unless it is refused. Other arrays of more
    than `MAX_ENTRIES` are refused.
    """
    array = plain_array(value, name) if is_array(value) else None
    if array is not None and array.dtype.kind == "f" and array.size > MAX_ENTRIES:
        array = array if is_machine(array) else array.astype(float)
    if array is None or not is_machine(array):
        if array is not None and array.size > MAX_ENTRIES and array.ndim >= 2:
            raise ReadError(
                f"{name}: {array.size} entries are too many to read as texts and objects; give an "
                "array of floats"
            )
        given = value if array is None else array
        return read_array(given, name, levels=levels, infinite=infinite, boolean=boolean)
    if array.ndim < 2 and array.size > MAX_ENTRIES:
        raise ReadError(_too_many(name, array.size))
    _check_levels(array.shape, name, levels)
    if boolean:
        fine = (array == 0) | (array == 1)
    elif array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            fine = np.isfinite(array.sum())  # then every term is; else it may have overflowed
        if not fine:
            fine = np.isfinite(array) | (np.isneginf(array) & infinite)
    else:
        fine = np.broadcast_to(array.dtype.kind != "b", array.shape)
    if not fine.all():
        index = tuple(map(int, np.argwhere(~fine)[0]))
        short = array.dtype.kind == "f" and array.dtype != np.float64  # has its own spelling
        entry = array[index] if short else array[index].item()
        _entry(entry, name, index, infinite, boolean)
    return kept(array)


def _truth(entry: object, place: str) -> sympy.Integer:
    """True and 1 are 1, false and 0 are 0; nothing else is."""
    if isinstance(entry, bool | np.bool_ | BooleanAtom):
        return sympy.Integer(bool(entry))
    number = read_number(entry, place)
    if number not in (0, 1):
        raise ReadError(f"{place}: {quote(entry)} is neither true nor false (neither 1 nor 0)")
    return number


def is_array(value: object) -> bool:
    """Whether a value is an array, of NumPy or of another library; a matrix of SymPy is not."""
    if isinstance(value, type | np.generic | sympy.Basic | sympy.MatrixBase):
        return False
    return isinstance(value, np.ndarray) or hasattr(value, "__array__")


def plain_array(value: object, name: str) -> Array:
    """An array of any library as a NumPy array of numbers, truth values, texts or objects.

    Raises `ReadError` for what would be lost or changed: hidden entries of a masked array, complex
    numbers, dates, numbers that are not to be had (a tensor that needs its gradient).
    """
    loaded = "numpy.ma" in sys.modules  # else there is no masked array; asking would load it
    if loaded and isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        count = int(np.ma.getmaskarray(value).sum())
        raise ReadError(
            f"{name}: {count} of its entries {'is' if count == 1 else 'are'} masked; give "
            "array.filled(…) with numbers in their place, or mask keys by a mask of the attention"
        )
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise ReadError(
            f"{name}: the numbers of this {type(value).__name__} cannot be read "
            f"({str(error)[:120]}); give a NumPy array or nested lists"
        ) from None
    if array.dtype.kind not in "biufOU":
        kind = "complex numbers" if array.dtype.kind == "c" else str(array.dtype)
        raise ReadError(f"{name}: an array of {kind} is not a matrix of numbers; give real numbers")
    return array


def _listed(value: Nested, name: str, depth: int = 0) -> Nested:
    """Arrays and SymPy matrices as nested lists, those inside of lists too."""
    if isinstance(value, sympy.MatrixBase | sympy.NDimArray):
        return value.tolist()
    if is_array(value):
        return as_lists(value, name)
    if not isinstance(value, list | tuple) or depth > _MOST_LEVELS:
        return value
    if any(is_array(part) or isinstance(part, list | tuple) for part in value):
        return [_listed(part, name, depth + 1) for part in value]
    return value


def as_lists(value: Nested, name: str) -> Nested:
    """An array as nested lists whose numbers keep the shortest spelling of their own dtype."""
    array = plain_array(value, name)
    if array.size > MAX_ENTRIES:
        raise ReadError(_too_many(name, array.size))
    if array.dtype.kind == "f" and array.dtype != np.float64:  # whose text is the shortest
        return np.array([*array.flat], dtype=object).reshape(array.shape).tolist()
    return array.tolist()


def _too_many(name: str, count: int) -> str:
    return f"{name}: {count} entries are too many to derive step by step; {MAX_ENTRIES} at most"


def _shape(value: Nested, name: str) -> tuple[int, ...]:
    """The shape of nested lists; ragged or oversized ones are refused before they are read."""
    shape: list[int] = []
    level: list[Nested] = [value]
    while level and isinstance(level[0], list | tuple):
        lengths = {len(part) if isinstance(part, list | tuple) else -1 for part in level}
        if len(lengths) != 1:
            raise ReadError(f"{_ragged(level, shape, name)}; make all rows equally long")
        shape.append(lengths.pop())
        if len(level) * shape[-1] > MAX_ENTRIES:
            raise ReadError(_too_many(name, len(level) * shape[-1]))
        if len(shape) > _MOST_LEVELS:
            raise ReadError(f"{name}: the brackets are nested too deeply")
        level = [item for part in level for item in part]
    for index, item in enumerate(level):
        if isinstance(item, list | tuple):
            place = _place(index, shape, name)
            raise ReadError(
                f"{place}: numbers and rows are mixed, and this is a row; make all rows equally "
                "long"
            )
    return tuple(shape)


def _ragged(level: Sequence[Nested], shape: Sequence[int], name: str) -> str:
    """Which row differs from the first one."""
    sizes = [len(part) if isinstance(part, list | tuple) else None for part in level]
    index, size = next((k, size) for k, size in enumerate(sizes) if size != sizes[0])
    first = _counted(sizes[0])
    other = "a single number" if size is None else _counted(size)
    if len(shape) < 2:
        return f"{name}: row 1 has {first}, row {index + 1} has {other}"
    return f"{_place(0, shape, name)} has {first}, {_place(index, shape, name)} has {other}"


def _counted(count: int | None) -> str:
    """1 entry, 2 entries."""
    return "1 entry" if count == 1 else f"{count} entries"


def _place(index: int, shape: Sequence[int], name: str) -> str:
    """The place of a part in nested lists of this shape, counted from 1: Q[2,1]."""
    places = np.unravel_index(index, tuple(shape))
    return f"{name}[{','.join(str(int(i) + 1) for i in places)}]"
