"""Formulas over shapes alone that write down what they do: the operations of a program.

A node's own formula, called with `Recording`, answers with values that hold an operation, what it
is applied to, and a shape in SymPy sizes. So a program cannot say anything else than the node, at
any sizes. What is known of a value makes it plainer: a − b, not a + (−b); no choice that has been
made already; no guard for rows of −∞ alone where a row cannot be that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
import sympy
from numpy.lib.mixins import NDArrayOperatorsMixin
from sympy.logic.boolalg import Boolean

from symattn.arithmetic.base import Arithmetic
from symattn.arithmetic.shapes import Shapes, Size
from symattn.errors import CannotSpell

#: An operand: another value, a SymPy number or size, or a truth that is known.
Operand: TypeAlias = "Recorded | sympy.Expr | bool"

#: What stands for an array here: a recorded value, or a number or a truth that is known.
Value: TypeAlias = Any

#: What positions are reckoned with, and what says where something holds.
Place: TypeAlias = "Recorded | sympy.Expr | int"
Condition: TypeAlias = "Recorded | bool"

#: NumPy's functions of positions, which Python's operators call, by the operations that they are.
_OF_POSITIONS: Mapping[Callable[..., object], str] = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.floor_divide: "whole quotient",
    np.remainder: "remainder",
    np.negative: "negative",
    np.absolute: "size of",
    np.minimum: "smaller",
    np.maximum: "larger",
    np.clip: "clip",
    np.isin: "among",
    np.digitize: "begun",
}

#: Its functions that say where a relation of positions holds.
_RELATIONS: Mapping[Callable[..., object], str] = {
    np.less_equal: "at most",
    np.less: "below",
    np.greater_equal: "at least",
    np.greater: "above",
    np.equal: "equals",
}


@dataclass(frozen=True, eq=False)
class Recorded(NDArrayOperatorsMixin):
    """A value known by how it is computed; `details` are whole numbers, sizes and names.

    `batched`: whether it may have more axes, ahead of its shape. `positional`: whether it follows
    from the positions of row and column alone, so that its numbers are whole, or truths.
    """

    owner: _Places
    operation: str
    operands: tuple[Operand, ...]
    shape: tuple[sympy.Expr, ...]
    details: tuple[Any, ...] = ()
    batched: bool = False
    positional: bool = False

    @property
    def ndim(self) -> int:
        """How many axes it has, batches apart."""
        return len(self.shape)

    __hash__ = object.__hash__  # by what it is: == says where, rather than whether

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: object
    ) -> Condition:
        match ufunc:
            case np.bitwise_and:
                return self.owner.both(*inputs)
            case np.bitwise_or:
                return self.owner.either(*inputs)
            case np.invert:
                return self.owner.opposite(self)
            case np.not_equal:
                return self.owner.opposite(self == inputs[1])
        if ufunc in _RELATIONS:
            return self.owner.compared(_RELATIONS[ufunc], *inputs)
        return self.__array_function__(ufunc, (), inputs, keywords)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: Collection[type],
        args: Sequence[Any],
        keywords: Mapping[str, object],
    ) -> Condition:
        if function not in _OF_POSITIONS:
            name = function.__name__
            raise CannotSpell(f"a formula uses NumPy's {name} outside its arithmetic")
        return self.owner.placed(_OF_POSITIONS[function], *args)

    def __getitem__(self, places: object) -> Recorded:
        if self.operation != "listed" or not isinstance(places, Recorded):
            raise CannotSpell("a formula takes entries outside its arithmetic")
        return self.owner.placed("look up", self, places)


#: Operations entry by entry that are −∞ nowhere, and those that are where their operand is.
_KEEPS = (
    "multiply",
    "divide",
    "negative",
    "transpose",
    "expand",
    "beneath",
    "repeat",
    "broadcast",
    "shared",
)
_MOVES = (
    "part",
    "pick",
    "entries",
    "chosen",
    "join",
    "by head",
    "heads apart",
    "heads beside",
    "flattened",
)


class _Places(Shapes):
    """What is recorded of positions and conditions; what is said twice is one value."""

    def __init__(self) -> None:
        self._known: dict[object, Recorded] = {}

    def record(
        self,
        operation: str,
        *operands: Value,
        shape: Sequence[Size] | None = None,
        details: tuple[Any, ...] = (),
        positional: bool = False,
    ) -> Recorded:
        """The value of an operation; its shape is that of its operands together unless given."""
        parts = [part for part in operands if isinstance(part, Recorded)]
        found = together(*(part.shape for part in parts)) if shape is None else shape
        sizes = tuple(sympy.expand(size) for size in found)
        key = (operation, tuple(map(_key, operands)), sizes, details, positional)
        if key not in self._known:
            batched = any(part.batched for part in parts)
            self._known[key] = Recorded(
                self, operation, operands, sizes, details, batched, positional
            )
        return self._known[key]

    def given(
        self, name: str, shape: Sequence[Size], *, logits: bool = False, batched: bool = True
    ) -> Recorded:
        """What is given, with any axes ahead if `batched`; `logits`: its entries may be −∞."""
        return Recorded(self, "given", (), tuple(shape), (name, logits), batched=batched)

    def placed(self, operation: str, *operands: Place) -> Recorded:
        """An operation on positions."""
        if not any(isinstance(part, Recorded) and part.positional for part in operands):
            raise CannotSpell(f"a formula uses {operation} outside its arithmetic")
        values = [part if isinstance(part, Recorded) else _number(part) for part in operands]
        first = values[0]
        if isinstance(first, Recorded) and operation in ("add", "subtract") and _is(values[1], 0):
            return first
        if operation == "among" and len(values[1].details) == 1:
            return self.placed("equals", first, *values[1].details)
        known = [part for part in values if isinstance(part, Recorded)]
        found = [part.shape for part in known if not is_of(part, "listed")]
        shape = together(*(found or [part.shape for part in known]))
        return self.record(operation, *values, shape=shape, positional=True)

    def compared(self, operation: str, one: Place, other: Place | float) -> Condition:
        """Where a relation holds."""
        if isinstance(other, float) and np.isinf(other):
            return operation != "equals" and (operation in ("at most", "below")) == (other > 0)
        if isinstance(one, Recorded) and one.operation == "subtract" and _is(other, 0):
            one, other = one.operands
        return self.placed(operation, one, other)

    def opposite(self, condition: Condition) -> Condition:
        """Where a condition does not hold."""
        if not isinstance(condition, Recorded):
            return not condition
        if condition.operation == "not":
            return condition.operands[0]
        return self.record("not", condition, positional=condition.positional)

    def both(self, one: Condition, other: Condition) -> Condition:
        """Where two conditions hold."""
        return self._joined("and", one, other)

    def either(self, one: Condition, other: Condition) -> Condition:
        """Where at least one of two conditions holds."""
        return self._joined("or", one, other)

    def _joined(self, operation: str, one: Condition, other: Condition) -> Condition:
        if not isinstance(one, Recorded):  # which settles it, or makes no difference
            return one if one == (operation == "or") else other
        if one is other:
            return one
        if not isinstance(other, Recorded):
            return self._joined(operation, other, one)
        positional = one.positional and other.positional
        if one.operation == other.operation == "not":
            dual = "and" if operation == "or" else "or"
            inner = self.record(dual, *one.operands, *other.operands, positional=positional)
            return self.opposite(inner)
        return self.record(operation, one, other, positional=positional)

    def rows(self, count: sympy.Expr, start: sympy.Expr = sympy.S.Zero) -> Value:
        return self.record("rows", _number(start), shape=(count, 1), positional=True)

    def columns(self, count: Size) -> Value:
        return self.record("columns", shape=(1, count), positional=True)

    def listed(self, numbers: Iterable[Size]) -> Value:
        whole = tuple(map(int, numbers))
        return _Listed(self, "listed", (), (sympy.Integer(len(whole)),), whole, positional=True)

    def places(self, function: Callable[..., int], x: Value, *settings: Size) -> Value:
        details = (function.__name__,)
        return self.record("places", x, *settings, shape=x.shape, details=details, positional=True)

    def every(self, condition: Value) -> Value:
        if isinstance(condition, Recorded) and not _rows_can_hold(condition):
            return False
        if is_of(condition, "not"):
            return self.opposite(_by_row("some")(self, condition.operands[0]))
        return condition and _by_row("every")(self, condition)

    def anywhere(self, condition: Value) -> bool:
        return False


class _Shaped(_Places):
    """What is recorded of entries that are moved about."""

    def broadcast(self, x: Value, rows: Size, columns: Size) -> Value:
        if not isinstance(x, Recorded):
            operation = "always" if x else "never"
            return self.record(operation, shape=(rows, columns), positional=True)
        if x.shape[-2:] == (rows, columns):
            return x
        shape = (*x.shape[:-2], rows, columns)
        return self.record("broadcast", x, shape=shape, positional=x.positional)

    def repeat(self, x: Value, times: Size, axis: int) -> Value:
        shape = _resized(x.shape, axis, x.shape[axis] * times)
        return self.record("repeat", x, times, shape=shape, details=(axis,))

    def expand(self, x: Value, axis: int) -> Value:
        shape = [*x.shape]
        shape.insert(len(shape) + 1 + axis, sympy.S.One)
        return self.record("expand", x, shape=shape, details=(axis,))

    def transpose(self, x: Value) -> Value:
        if x.operation == "transpose":
            return x.operands[0]
        if is_of(x, "expand") and x.details in ((-1,), (-2,)):
            return self.expand(x.operands[0], -3 - x.details[0])
        return self.record("transpose", x, shape=(*x.shape[:-2], x.shape[-1], x.shape[-2]))

    def part(self, x: Value, first: Size, count: Size, axis: int, step: int = 1) -> Value:
        if first == 0 and sympy.expand(count - x.shape[axis]) == 0:
            return x
        if is_of(x, "transpose") and axis in (-1, -2):
            return self.transpose(self.part(x.operands[0], first, count, -3 - axis, step))
        bounds = sympy.sympify(first, strict=True), sympy.expand(first + count * step)
        shape = _resized(x.shape, axis, count)
        return self.record("part", x, *bounds, shape=shape, details=(axis, step))

    def entries(self, x: Value, rows: Value, columns: Value) -> Value:
        places = together(*(part.shape for part in (rows, columns) if isinstance(part, Recorded)))
        if is_of(x, "expand") and x.details == (-1,) and _is(columns, 0):
            vector = x.operands[0]
            return self.record("chosen", vector, rows, shape=(*vector.shape[:-1], *places))
        columns = columns if isinstance(columns, Recorded) else sympy.Integer(columns)
        return self.record("entries", x, rows, columns, shape=(*x.shape[:-2], *places))

    def join(self, parts: Value, axis: int) -> Value:
        lead = together(*(part.shape[:axis] for part in parts))
        width = sympy.Add(*(part.shape[axis] for part in parts))
        shape = _resized((*lead, *parts[0].shape[axis:]), axis, width)
        return self.record("join", *parts, shape=shape, details=(axis,))

    def interleave(self, a: Value, b: Value) -> Value:
        width = a.shape[-1] + b.shape[-1]
        width = width.replace(sympy.floor, lambda half: 2 * half - sympy.ceiling(half))
        shape = (*together(a.shape[:-1], b.shape[:-1]), width)
        return self.record("interleave", a, b, shape=shape)

    def flattened(self, x: Value) -> Value:
        *lead, rows, columns = x.shape
        return self.record("flattened", x, shape=(*lead, sympy.S.One, rows * columns))

    def _of_family(self, x: Value, place: Size) -> Value:
        """One of the matrices that another was cut into, as a part of that; None of others."""
        if is_of(x, "transpose"):
            turned = self._of_family(x.operands[0], place)
            return None if turned is None else self.transpose(turned)
        if is_of(x, "heads apart"):
            width = x.shape[-1]
            return self.part(x.operands[0], place * width, width, -1)
        if is_of(x, "expand") and x.details in ((-1,), (-2,)):
            row = self.part(x.operands[0], place, sympy.S.One, -2)
            return row if x.details == (-2,) else self.transpose(row)
        return None

    def states(
        self,
        letter: str,
        following: Callable[[sympy.Expr, Value], Value],
        first: Value,
        count: Size,
        back: bool = False,
    ) -> Value:
        token = sympy.Dummy("t", integer=True, nonnegative=True)
        state = replace(
            self.record("state", shape=first.shape, details=(letter, token)), batched=True
        )
        new = following(token, state)
        lead = together(first.shape[:-2], new.shape[:-2])
        shape = (*lead, count, *new.shape[-2:])
        return self.record("states", first, new, shape=shape, details=(state, back))

    def shared(self, x: Value, heads: Size) -> Value:
        return self.record("shared", x, heads, shape=(*x.shape[:-2], heads, *x.shape[-2:]))

    def by_head(self, x: Value, used: sympy.Expr, head: sympy.Symbol, count: Size) -> Value:
        groups = x.shape[-3]
        if used != sympy.floor(head * groups / count):
            raise CannotSpell(f"the matrix {used} for head {head} has no program here")
        return self.repeat(x, count / groups, -3)

    def heads_apart(self, x: Value, heads: Size) -> Value:
        *lead, rows, columns = x.shape
        if heads == columns:
            return self.expand(self.transpose(x), -1)
        return self.record("heads apart", x, heads, shape=(*lead, heads, rows, columns / heads))

    def heads_beside(self, x: Value) -> Value:
        *lead, heads, rows, columns = x.shape
        if columns == 1:
            return self.transpose(self.pick(x, 0, -1))
        return self.record("heads beside", x, shape=(*lead, rows, heads * columns))

    def groups(self, x: Value, count: Size) -> Value:
        *lead, heads, rows, columns = x.shape
        return self.record("groups", x, count, shape=(*lead, count, heads / count, rows, columns))


def _entrywise(operation: str) -> Any:
    """An operation that keeps the shape."""
    return lambda self, x: self.record(operation, x)


def _by_row(operation: str) -> Any:
    """An operation that makes one number of each row."""
    return lambda self, x: self.record(operation, x, shape=(*x.shape[:-1], 1))


class Recording(_Shaped, Arithmetic):
    """Answers every operation with a `Recorded` value; what is said twice is one value."""

    name = "recorded"

    narrowed = _entrywise("narrowed")
    numbers = _entrywise("numbers")
    exp = _entrywise("exp")
    inverse = _entrywise("inverse")
    first_largest = _entrywise("first_largest")
    row_max = _by_row("row_max")
    row_sum = _by_row("row_sum")
    threshold = _by_row("threshold")
    threshold_of_squares = _by_row("threshold_of_squares")

    def scalar(self, value: sympy.Expr) -> Value:
        return value

    def top(self, x: Value, count: Size) -> Value:
        return self.where(self.record("top_k", x, count), self.zero, self.minus_infinity)

    def array(self, exact: Value) -> Value:
        return self.record("literal", shape=exact.shape, details=_nested(exact.tolist()))

    def table(self, function: Callable[..., Value], *sizes: Size) -> Value:
        return self.record("table", *sizes, shape=sizes[:1], details=(function.__name__,))

    def powers(self, base: sympy.Expr, step: int, size: Size) -> Value:
        count = size / 2 if step < 0 else sympy.ceiling(size / 2)
        return self.record("powers", base, size, shape=(count,), details=(step,))

    def filled(self, number: sympy.Expr, rows: Size, columns: Size) -> Value:
        return self.record("filled", number, shape=(rows, columns))

    def identity(self, size: Size) -> Value:
        return self.record("identity", size, shape=(size, size))

    def call(self, formula: Callable[..., Value], *args: Value) -> Value:
        inner = formula(self, *args)
        return self.record("call", *args, inner, shape=inner.shape, details=(formula.__name__,))

    def apply(self, name: str, x: Value) -> Value:
        return self.record(name, x)

    def add(self, a: Value, b: Value) -> Value:
        for one, other in ((a, b), (b, a)):
            if is_of(one, "filled") and _is(one.operands[0], 0) and other.shape == one.shape:
                return other
            taken = _taken_off(other)
            if taken is not None:
                return self.subtract(one, taken)
        one, other = map(_hides_by, (a, b))
        if one is not None and other is not None:
            return self.where(self.both(one, other), self.zero, self.minus_infinity)
        return self.record("add", a, b)

    def subtract(self, a: Value, b: Value) -> Value:
        taken = _taken_off(b)
        return self.record("subtract", a, b) if taken is None else self.record("add", a, taken)

    def negative(self, x: Value) -> Value:
        if not isinstance(x, Recorded):
            return -x
        return x.operands[0] if x.operation == "negative" else self.record("negative", x)

    def multiply(self, a: Value, b: Value) -> Value:
        for one, other in ((a, b), (b, a)):
            number = one.operands[0] if is_of(one, "filled") else one
            spreads = is_of(one, "filled") and (
                not isinstance(other, Recorded) or together(one.shape, other.shape) != other.shape
            )
            if not isinstance(number, Recorded) and not spreads:
                return self._times(other, number)
            if is_of(other, "negative"):
                return self.negative(self.multiply(one, other.operands[0]))
        return self.record("multiply", a, b)

    def _times(self, x: Value, number: sympy.Expr) -> Value:
        if number == 1:
            return x
        if number.is_number and number.is_negative:
            return self.negative(self._times(x, -number))
        if isinstance(number, sympy.Rational) and number.p == 1:
            return self.divide(x, sympy.Integer(number.q))
        return self.record("multiply", number, x)

    def divide(self, a: Value, b: Value) -> Value:
        return a if _is(b, 1) else self.record("divide", a, b)

    def matmul(self, a: Value, b: Value) -> Value:
        lead = together(a.shape[:-2], b.shape[:-2])
        return self.record("matmul", a, b, shape=(*lead, a.shape[-2], b.shape[-1]))

    def shift(self, x: Value) -> Value:
        return self.lowered(x)

    def lowered(self, x: Value) -> Value:
        return self.subtract(x, self.row_max(x))

    def total(self, x: Value, axis: int) -> Value:
        return self.record("total", x, shape=_resized(x.shape, axis), details=(axis,))

    def sums_at(self, x: Value, places: Value, count: Size) -> Value:
        return self.record("sums_at", x, places, count, shape=(*x.shape[:-1], count))

    def _keeps_minus_infinity(self, x: Value, factor: sympy.Expr) -> None:
        """Nothing is known of the numbers."""

    def hidden(self, x: Value) -> Value:
        if not _may_hide(x):
            return False
        match x.operation:
            case "where":
                condition, one, other = x.operands
                if _is(other, -sympy.oo) and self.hidden(one) is False:
                    return self.opposite(condition)
            case "multiply" | "divide" | "negative" | "add" | "subtract":
                parts = [part for part in x.operands if _may_hide(part)]
                if len(parts) == 1 and parts[0].shape == x.shape:
                    return self.hidden(parts[0])
            case "row_max":
                return self.every(self.hidden(x.operands[0]))
        return self.record("hidden", x)

    def allowed_by(self, x: Value) -> Value:
        """The condition that a mask of 0 and −∞ says no more than; None of other matrices."""
        if is_of(x, "filled") and _is(x.operands[0], 0):
            return self.broadcast(True, *x.shape)
        return _hides_by(x)

    def vanishing(self, x: Value) -> Value:
        return False

    def equals(self, x: Value, number: int) -> Value:
        if number == 0 and _hides_by(x) is not None:
            return _hides_by(x)
        logits = _logits_of(x)
        if number == 0 and logits is not None:
            hidden = self.every(self.hidden(logits))
            return hidden and self.record("equals", x, sympy.S.Zero)
        return self.record("equals", x, sympy.Integer(number))

    def whole_power(self, x: Value, exponents: Value) -> Value:
        return self.record("whole power", x, self.numbers(exponents))

    def where_at_most(self, left: Value, right: Value, a: Value, b: Value) -> Value:
        return self.where(self.record("no more", left, right), a, b)

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        if not isinstance(condition, Recorded):
            return a if condition else b
        if condition.operation == "not":
            return self.where(condition.operands[0], b, a)
        if condition.operation in ("always", "never"):
            chosen = a if condition.operation == "always" else b
            return chosen if isinstance(chosen, Recorded) else self.filled(chosen, *condition.shape)
        a, b = _settled(a, condition, True), _settled(b, condition, False)
        if _is(b, 0) and is_of(a, "σ") and self.hidden(a.operands[0]) is self.opposite(condition):
            return a  # σ(−∞) is 0
        shapes = [part.shape for part in (condition, a, b) if isinstance(part, Recorded)]
        return self.record("where", condition, a, b, shape=together(*shapes))

    def beneath(self, x: Value) -> Value:
        if len(x.shape) == 2 and not x.batched:
            return x
        if _hides_by(x) is not None:
            seen = self.beneath(_hides_by(x))
            return self.where(seen, self.zero, self.minus_infinity)
        return self.record("beneath", x, shape=(*x.shape[:-2], sympy.S.One, *x.shape[-2:]))

    def pick(self, x: Value, place: Size, axis: int) -> Value:
        """What stands at one place; of a single row or column, without having made it."""
        if axis == -3 and (part := self._of_family(x, place)) is not None:
            return part
        if place == 0 and axis in (-1, -2):
            other = -3 - axis
            if is_of(x, "expand") and x.details == (axis,):
                return x.operands[0]
            if is_of(x, "transpose") and x.shape[axis] == 1:
                return self.pick(x.operands[0], 0, other)
            if is_of(x, "negative"):
                return self.negative(self.pick(x.operands[0], 0, axis))
            if is_of(x, "row_sum") and axis == -1:
                return self.total(x.operands[0], -1)
            if is_of(x, "matmul") and axis == -1 and is_of(x.operands[1], "expand"):
                table, vector = x.operands[0], x.operands[1].operands[0]
                if vector.ndim == 1 and x.operands[1].details == (-1,):
                    return self.record("matmul", table, vector, shape=x.shape[:-1])
        return self.record(
            "pick",
            x,
            sympy.sympify(place, strict=True),
            shape=_resized(x.shape, axis),
            details=(axis,),
        )


class _Listed(Recorded):
    """Whole numbers in a row; what is taken off each is taken off at once."""

    def __sub__(self, other: Place) -> Recorded:
        return self.owner.listed(number - other for number in self.details)  # type: ignore[no-any-return]

    __hash__ = object.__hash__


def together(*shapes: Sequence[sympy.Expr]) -> tuple[sympy.Expr, ...]:
    """The shape that others have together, broadcast from the back."""
    backwards = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=sympy.S.One)
    sizes = [next((size for size in along if size != 1), sympy.S.One) for along in backwards]
    return tuple(reversed(sizes))


def _rows_can_hold(condition: Recorded) -> bool:
    """Whether a condition may hold for all of a row, as far as is known.

    It does not where its opposite holds for the first key, or for the query's own, of any row.
    """
    if condition.operation == "hidden":
        (x,) = condition.operands
        ends = isinstance(x, Recorded) and x.operation == "join" and x.details == (-1,)
        return not ends or all(_may_hide(part) for part in x.operands)  # type: ignore[union-attr]
    if condition.operation != "not" or not condition.positional:
        return True
    (opposite,) = condition.operands
    row = sympy.Symbol("i", integer=True, nonnegative=True)
    rows, columns = condition.shape[-2:]
    keys = [sympy.S.Zero]
    for start in {sympy.S.Zero, sympy.expand(columns - rows)}:
        if sympy.expand(columns - rows - start).is_nonnegative and start.is_nonnegative:
            keys.append(row + start)
    return not any(_holds(opposite, row, key) is True for key in keys)


def _holds(x: Operand, row: sympy.Expr, column: sympy.Expr) -> sympy.Basic | bool | None:
    """What a positional value is for a row and a column: a SymPy number, a truth, None if open."""
    if not isinstance(x, Recorded):
        return x
    if x.operation == "rows":
        return row + x.operands[0]
    if x.operation in ("columns", "always", "never"):
        return {"columns": column, "always": True, "never": False}[x.operation]
    if x.operation == "listed":
        return sympy.Tuple(*x.details)
    parts = [_holds(part, row, column) for part in x.operands]
    if x.operation == "and":
        return False if False in parts else True if all(p is True for p in parts) else None
    if x.operation == "or":
        return True if True in parts else False if all(p is False for p in parts) else None
    if x.operation == "not":
        return None if parts[0] is None else not parts[0]
    if x.operation == "broadcast":
        return parts[0]
    if any(part is None for part in parts) or x.operation not in _MEANINGS:
        return None
    found = _MEANINGS[x.operation](*parts)
    if isinstance(found, Boolean):
        return {sympy.true: True, sympy.false: False}.get(found)
    return found


#: What operations on positions mean in SymPy.
_MEANINGS: dict[str, Callable[..., sympy.Basic]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negative": lambda a: -a,
    "size of": sympy.Abs,
    "whole quotient": lambda a, b: sympy.floor(a / b),
    "remainder": sympy.Mod,
    "at most": sympy.Le,
    "below": sympy.Lt,
    "at least": sympy.Ge,
    "above": sympy.Gt,
    "equals": sympy.Eq,
    "look up": sympy.Function("look_up"),
    "begun": sympy.Function("begun"),
    "among": lambda place, listed: sympy.Contains(place, sympy.FiniteSet(*listed)),
}


def _may_hide(x: Operand) -> bool:
    """Whether an entry may be −∞."""
    if not isinstance(x, Recorded):
        return bool(x == -sympy.oo)
    if x.operation == "given":
        return bool(x.details[1])
    if x.operation == "literal":
        return -sympy.oo in _flat(x.details)
    where = ("where", "add", "subtract", "filled", "row_max", "ln")
    operands = x.operands[1:] if x.operation == "where" else x.operands
    return x.operation in (*_KEEPS, *_MOVES, *where) and any(map(_may_hide, operands))


def _hides_by(x: Value) -> Value:
    """The condition of a matrix that is 0 where it holds and −∞ elsewhere; None of others."""
    if is_of(x, "where") and _is(x.operands[1], 0) and _is(x.operands[2], -sympy.oo):
        return x.operands[0]
    return None


def _settled(x: Value, condition: Recorded, holds: bool) -> Value:
    """The value as it is where a condition is known to hold, or not to."""
    if not isinstance(x, Recorded):
        return x
    if x.operation == "where" and x.operands[0] is condition:
        return _settled(x.operands[1 if holds else 2], condition, holds)
    if x.operation in ("add", "subtract", "multiply", "divide", "negative", "σ", "exp"):
        operands = [_settled(part, condition, holds) for part in x.operands]
        if any(new is not old for new, old in zip(operands, x.operands, strict=True)):
            one, *more = operands
            if x.operation in ("add", "subtract") and _is(more[0], 0):
                return one
            if x.operation == "add" and _is(one, 0):
                return more[0]
            return x.owner.record(x.operation, *operands, shape=x.shape)
    return x


def _logits_of(x: Value) -> Value:
    """What a row's sum is made of that is 0 only where all of the row is −∞; None of others."""
    if is_of(x, "row_sum") and is_of(x.operands[0], "exp"):
        return x.operands[0].operands[0]
    if is_of(x, "row_sum") and (is_of(x.operands[0], "above0") or is_of(x.operands[0], "√")):
        (weights,) = x.operands[0].operands
        if is_of(weights, "call") and weights.details in (("sparsemax",), ("entmax15",)):
            return weights.operands[0]
    return None


def _key(operand: Operand) -> object:
    return id(operand) if isinstance(operand, Recorded) else (type(operand), operand)


def is_of(x: object, operation: str) -> bool:
    """Whether an operand is the value of this operation."""
    return isinstance(x, Recorded) and x.operation == operation


def _is(x: Operand | int | float, number: sympy.Expr | int) -> bool:
    return not isinstance(x, Recorded | bool) and bool(x == number)


def _number(value: sympy.Expr | int) -> sympy.Expr:
    return value if isinstance(value, sympy.Basic) else sympy.Integer(int(value))


def _taken_off(x: Value) -> Value:
    """What is subtracted where this is added; None where nothing is."""
    return x.operands[0] if is_of(x, "negative") else None


def _resized(shape: Sequence[sympy.Expr], axis: int, *sizes: Size) -> tuple[Size, ...]:
    """The shape with these sizes in the place of an axis, which is counted from the back."""
    place = len(shape) + axis
    return (*shape[:place], *sizes, *shape[place + 1 :])


def _nested(values: Any) -> Any:
    return tuple(map(_nested, values)) if isinstance(values, list) else values


def _flat(values: object) -> list[object]:
    if isinstance(values, tuple):
        return [entry for part in values for entry in _flat(part)]
    return [values]
