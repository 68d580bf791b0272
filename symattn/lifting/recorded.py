"""Arrays of NumPy that remember by which formula they were made, beside their numbers.

NumPy hands every operation to the array (`__array_ufunc__`, `__array_function__`): it is done on
the numbers, and on the formulas by a row of `_FORMULAS` or `_FUNCTIONS`. What has no row has no
formula, and says so where one is asked for.
"""

from __future__ import annotations

import math
import re
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from symattn.errors import SymattnError, quote
from symattn.language.texts import MAX_LENGTH
from symattn.lifting import loops, said
from symattn.lifting.entries import MADE, in_lists, in_place_of
from symattn.lifting.limits import LIMITS
from symattn.lifting.loops import NOTHING, WRITTEN
from symattn.lifting.numerals import LOWEST
from symattn.lifting.runs import Recording
from symattn.lifting.said import (
    ATOM,
    CUT,
    FAMILIES,
    OF_ENTRIES,
    Said,
    Unsaid,
    called,
    is_whole,
    laid,
)
from symattn.lifting.turning import rotary
from symattn.lifting.views import viewed


@dataclass(frozen=True)
class _View:
    """Numbers of another array: at places in the one that has a formula, and in the last one."""

    formula: Said
    whole: tuple[int, ...]
    places: npt.NDArray[Any]
    last: Recorded
    places_in_last: npt.NDArray[Any]

    def said(self, run: Recording) -> Said:
        """The formula. Raises `Unsaid` where there is none."""
        try:
            return viewed(self.formula, self.whole, self.places, run)
        except Unsaid:  # of the whole at once; it is a view of a view
            return viewed(self.last.said, self.last.shape, self.places_in_last, run)


@dataclass
class _Parts:
    """An array that is written part by part: each part, by where it begins."""

    shape: tuple[int, ...]
    known: dict[int, Recorded] = field(default_factory=dict)
    #: The line of the program that has written the last of them.
    line: str = ""

    def write(self, places: npt.NDArray[Any], value: Any) -> bool:
        """Keep a part, which has to be one piece; whether it is."""
        start, count = int(places.flat[0]) if places.size else 0, places.size
        whole = np.array_equal(places.ravel(), np.arange(start, start + count))
        is_kept = whole and isinstance(value, Recorded) and value.size == count
        if is_kept:
            self.known[start] = value
        return is_kept

    def read(self, numbers: Any, key: Any) -> Any:
        """What was written at some places, if that is one part, or the constants there.

        None where part of them was written.
        """
        places = np.arange(numbers.size).reshape(numbers.shape)[key]
        one = self.known.get(int(np.min(places, initial=numbers.size)))
        if one is not None and one.shape == np.shape(places):
            return one
        if self.has(places):
            return None
        return _kept(numbers[key]) if np.ndim(places) else numbers[key]

    def has(self, places: Any) -> bool:
        """Whether something was written at any of these places."""
        return bool(self._written.ravel()[places].any())

    @property
    def _written(self) -> npt.NDArray[np.bool_]:
        """Where something was written."""
        found = np.zeros(self.shape, bool)
        for start, one in self.known.items():
            found.flat[start : start + one.size] = True
        return found

    def _is_hidden(self, numbers: Any) -> bool:
        """Whether all that is missing is behind what is known of each row, and −∞ there."""
        known = self._written
        is_first = np.array_equal(known, np.sort(known)[..., ::-1]) and bool(known[..., 0].all())
        return is_first and bool((np.asarray(numbers)[~known] <= LOWEST).all())

    def said(self, run: Recording, numbers: Any, name: str = "output") -> Said:
        """The formula. Raises `Unsaid` where parts are missing, or are not made alike."""
        parts = [self.known[start] for start in sorted(self.known)]
        counts = {one.size for one in parts}
        if len(counts) != 1 or not (self._written.all() or self._is_hidden(numbers)):
            raise Unsaid(WRITTEN)
        formulas, count = [one.said for one in parts], counts.pop()
        if len(self.shape) == 3 and count == math.prod(self.shape[1:]):
            return loops.of_heads(run, formulas, run.index(len(parts)))
        if len(self.shape) == 3 and count == self.shape[2]:
            heads, rows, _ = self.shape
            starts = range(0, heads * rows, rows)
            each = zip((formulas[start : start + rows] for start in starts), numbers, strict=True)
            made = [loops.of_rows(run, own, of_head, name) for own, of_head in each]
            return loops.of_heads(run, made, run.index(heads))
        if len(self.shape) > 2 or count not in (1, self.shape[-1]):
            raise Unsaid(WRITTEN)
        if count == len(self.shape) == 1:
            with suppress(Unsaid):
                return loops.of_vector(run, formulas)
        if count == 1 < len(self.shape):
            lines: dict[int, list[Said]] = {}
            for start, one in zip(sorted(self.known), formulas, strict=True):
                lines.setdefault(start // self.shape[1], []).append(one)
            formulas = [loops.of_vector(run, line) for line in lines.values()]
        return loops.of_rows(run, formulas, numbers, name)


class Blank(np.ndarray[Any, Any]):
    """An array of constants that a program may write over, which then records."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a part; what was made of what is given makes this array one that records."""
        if isinstance(value, Recorded) and self.base is None:
            _begun(self, value.run)[key] = value
        else:
            super().__setitem__(key, bare(value))

    def __array_function__(
        self, function: Any, types: Any, args: Iterable[Any], options: Mapping[str, Any]
    ) -> Any:
        """A function of constants; one that records does it where there is one."""
        if any(issubclass(one, Recorded) for one in types):
            return NotImplemented
        return super().__array_function__(function, types, args, options)


def _begun(array: Any, run: Recording) -> Recorded:
    """An array that records from here on what is written into it; a blank one becomes one."""
    if isinstance(array, Blank):
        array.__class__ = Recorded  # type: ignore[assignment]  # of the same layout
    made = array if isinstance(array, Recorded) else array.view(Recorded)
    made.run, made._memory = run, [0]
    made.is_made(_Parts(made.shape))
    return cast(Recorded, made)


def _moving(name: str) -> Callable[..., Any]:
    """A method of NumPy's that only moves numbers, by its name."""

    def of(self: Recorded, *args: Any, **more: Any) -> Any:
        return self.moved(lambda array: getattr(array, name)(*args, **more))

    return of


class Recorded(np.ndarray[Any, Any]):
    """An array with the formula by which it was made, or why it has none."""

    run: Recording
    formula: Said | _View | _Parts | str
    #: Of truth values the operation that gave them, and of what.
    compared: tuple[Any, ...] = ("",)
    _memory: list[int]
    _version: int

    def __array_finalize__(self, made_of: object) -> None:
        """What NumPy makes of an array has no formula until it is given one."""
        self.formula = "an operation without a formula here"
        self._memory, self._version = [0], 0
        if isinstance(made_of, Recorded):
            self.run = made_of.run
            if self.base is not None:
                self._memory = made_of._memory
                self._version = self._memory[0]

    @property
    def said(self) -> Said:
        """The formula. Raises `Unsaid` where there is none."""
        if isinstance(self.formula, str):
            self.is_made(_turned(self) or self.formula)
        if isinstance(self.formula, str):
            raise Unsaid(self.formula)
        if self._version != self._memory[0]:
            raise Unsaid("an array of which a part was written over")
        match self.formula:
            case _Parts() as parts:
                try:
                    self.is_made(parts.said(self.run, bare(self), self.run.variable(self)))
                except Unsaid as error:
                    where = f"{parts.line}: " * (error.args[0] == WRITTEN)
                    raise Unsaid(f"{where}{error}") from None
                return self.said
            case _View() as view:
                return view.said(self.run)
        return self.formula

    @property
    def is_in_parts(self) -> bool:
        """Whether it is written part by part, and nothing has asked for all of it yet."""
        return isinstance(self.formula, _Parts)

    @property
    def is_known(self) -> bool:
        """Whether it has a formula, and is as that made it."""
        return isinstance(self.formula, Said) and self._version == self._memory[0]

    def is_made(self, formula: Said | _Parts | str) -> None:
        """Say by which formula it was made, as it is now, or why there is none."""
        self.formula, self._version = formula, self._memory[0]

    def known(self, formula: Callable[[], Said]) -> Recorded:
        """Itself, with the formula, or with the line at which there is none."""
        self.run.operations += 1
        if self.run.operations > LIMITS.recorded:
            raise SymattnError(f"{self.run.place()}: {_MANY}")
        try:
            made = formula()
            if len(made.text) > MAX_LENGTH:
                raise Unsaid(f"a formula of more than {MAX_LENGTH:,} characters")
            self.is_made(made)
        except Unsaid as error:
            self.is_made(_placed(self.run, str(error)))
        return self

    def moved(self, operation: Callable[[Any], Any]) -> Any:
        """What an operation makes that only moves numbers, or arrays of what it makes."""
        numbers = operation(bare(self))
        places = operation(np.arange(self.size).reshape(self.shape))
        if isinstance(numbers, list | tuple):
            return [self._at(*pair) for pair in zip(numbers, places, strict=True)]
        return self._at(numbers, places)

    def taken(self, places: Any) -> Recorded:
        """An array of its numbers at these places."""
        return self._at(bare(self).flat[places], places)

    def _at(self, numbers: Any, places: Any) -> Recorded:
        """An array of these numbers, which come from these places."""
        made, places = _recorded(numbers, self.run), np.asarray(places)
        if isinstance(self.formula, str | _Parts):
            with suppress(Unsaid):
                self.is_made(self.said)
        match self.formula:
            case _Parts():
                made.formula = _placed(self.run, WRITTEN)
            case Said():
                made.formula = _View(self.formula, self.shape, places, self, places)
            case _View(formula, whole, before):
                made.formula = _View(formula, whole, before.flat[places], self, places)
            case why:
                made.formula = why
        if np.shares_memory(numbers, bare(self)):
            made._memory, made._version = self._memory, self._version
        elif self._version != self._memory[0]:
            made.formula = _placed(self.run, "an array of which a part was written over")
        return made

    # ---- operations ----------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **more: Any
    ) -> Any:
        """An operation entry by entry, a product of matrices, or a reduction."""
        if method == "at":
            raise Unsaid(_placed(self.run, f"np.{ufunc.__name__}.at has no formula here"))
        numbers = getattr(ufunc, method)(
            *map(bare, inputs), **{name: bare(x) for name, x in more.items()}
        )
        if not isinstance(numbers, np.ndarray | np.generic):
            return numbers
        if np.asarray(numbers).dtype == bool:
            if ufunc.__name__ in _OF_HIDDEN or _is_known(inputs):
                return numbers
            made = unsaid(numbers, self.run, BRANCHES)
            made.compared = (ufunc.__name__, *inputs)
            return made
        result = _recorded(numbers, self.run).known(
            lambda: _formula(self.run, ufunc.__name__, method, inputs, more)
        )
        if out is None:
            return result
        return _written_over(out[0], result)

    def __array_function__(
        self, function: Any, types: Any, args: Iterable[Any], options: Mapping[str, Any]
    ) -> Any:
        """A function of NumPy's that is no operation entry by entry."""
        name = function.__name__
        first, *rest = args
        if name in _MOVES and isinstance(first, Recorded):
            return first.moved(lambda array: function(array, *rest, **options))
        if name in _BY_OTHERS:
            return super().__array_function__(function, types, args, options)
        numbers = function(*map(_bare, args), **{name: _bare(x) for name, x in options.items()})
        if name in ("shape", "ndim", "size"):
            return numbers
        if not isinstance(numbers, np.ndarray | np.floating) or numbers.dtype == bool:
            raise Unsaid(_placed(self.run, f"{name} has no formula here"))
        row = _FUNCTIONS.get(name)
        if row is None:
            return unsaid(numbers, self.run, f"{name} has no formula here")
        return _recorded(numbers, self.run).known(lambda: row(self.run, *args, **options))

    # ---- views ---------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """A part, or the same with another axis."""
        key = bare(key)
        if isinstance(self.formula, _Parts):
            found = self.formula.read(bare(self), key)
            if found is not None:
                return found
        return self.moved(lambda array: array[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        """A part written over; the whole has no formula any more, unless it is written whole."""
        key = bare(key)
        bare(self)[key] = bare(value)  # NumPy would ask this class for what is written over
        places = np.arange(self.size).reshape(self.shape)[key]
        is_current = self._version == self._memory[0]
        self._memory[0] += 1
        parts = self.formula if isinstance(self.formula, _Parts) and is_current else None
        if parts and not isinstance(value, Recorded) and not parts.has(places):
            self.is_made(parts)  # constants, where nothing was written yet
        elif parts and parts.write(places, value):
            parts.line = self.run.place()
            self.is_made(parts)
            if value.ndim:  # by whose letter it is known from now on
                self.run.names(self.run.variable(self), value)
        else:
            self.formula = _placed(self.run, f"a part is written over: {WRITTEN}")

    transpose, swapaxes, reshape, squeeze, repeat, ravel, flatten = map(
        _moving, ("transpose", "swapaxes", "reshape", "squeeze", "repeat", "ravel", "flatten")
    )
    T = property(transpose, doc="The transpose.")

    def called(
        self, name: str, numbers: Any, axis: int | None = None, **options: float
    ) -> Recorded:
        """What a function of its entries, or along an axis, makes of it, by the function's name."""
        said = "".join(f", {key}={self.run.number(one).text}" for key, one in options.items())
        return _recorded(numbers, self.run).known(
            lambda: called(name, self.said) if axis is None else _by_rows(name, self, axis, said)
        )

    def dot(self, other: Any, out: Any = None) -> Any:
        """The product of matrices."""
        return np.matmul(self, other)

    #: As the functions of NumPy's have them.
    mean, var, std = np.mean, np.var, np.std  # type: ignore[assignment]

    def kept_in(self, dtype: Any) -> None:
        """Note that its numbers are kept in a dtype, if that is float32.

        Raises `Unsaid` for one of whole numbers.
        """
        if is_whole(dtype):
            raise Unsaid(_placed(self.run, CUT))
        self.run.is_single |= "float32" in str(dtype)

    def astype(self, *args: Any, **more: Any) -> Any:
        """Itself: numbers are real here, whatever their dtype."""
        dtype = np.dtype((*args, *more.values())[0])
        if dtype.kind == "b" and self.dtype != bool:
            raise Unsaid(_placed(self.run, CUT))
        self.kept_in(dtype)
        return self.copy()

    def copy(self, order: Any = "C") -> Any:
        """A copy, which is made by the same formula."""
        return _recorded(np.array(bare(self)), self.run).known(lambda: self.said)

    def _taken_out(self, *args: Any) -> Any:
        """No number may be taken out."""
        raise Unsaid(_placed(self.run, "a number is taken out of its array"))

    __float__ = __int__ = __index__ = item = tolist = _taken_out

    def __iter__(self) -> Any:
        """Its rows, of which each records."""
        return (self[place] for place in range(len(self)))

    def __bool__(self) -> bool:
        """No branch may depend on numbers."""
        raise Unsaid(
            _placed(self.run, "a branch depends on the numbers; use np.where or np.maximum")
        )


def _turned(array: Recorded) -> Said | None:
    """The formula of an array that is one with a letter, turned by its positions."""
    alike = [
        one
        for one in reversed(array.run.named if array.dtype == float else [])
        if one.shape == array.shape and one.is_known and {"i", "j"} <= {*one.said.axes}
    ]
    for one in alike:
        axes = one.said.axes
        options = rotary(laid(bare(one), axes), laid(bare(array), axes))
        if options is not None:
            more = "".join(f", {name}={value}" for name, value in options.items())
            return Said(f"rotary({one.said.text}{more})", ATOM, axes)
    return None


#: What is said of a program that takes its arrays apart into numbers.
_MANY = f"more than {LIMITS.recorded:,} operations; on whole matrices it takes fewer"

#: What is said of a program that asks the numbers.
BRANCHES = "a branch depends on the numbers; a mask of constants has a formula"


def bare(value: Any) -> Any:
    """An array without its formula."""
    return value.view(np.ndarray) if isinstance(value, Recorded) else value


#: The same of arrays within lists.
_bare = in_lists(bare)


def _recorded(numbers: Any, run: Recording) -> Recorded:
    array = np.asarray(numbers).view(Recorded)
    array.run = run
    return array


def _kept(numbers: Any) -> Blank:
    """An array of constants that may be written over."""
    blank = Blank(np.shape(numbers))
    blank[...] = numbers
    return blank


def _blank(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an array of constants, which may be written over."""

    def of(*args: Any, **more: Any) -> Any:
        made = function(*map(bare, args), **more)
        return _kept(made) if made.dtype.kind == "f" else made

    return of


def _array(function: Callable[..., Any]) -> Callable[..., Any]:
    """``np.array``, of arrays that record, too."""

    def of(value: Any, *args: Any, **more: Any) -> Any:
        if isinstance(value, list | tuple) and any(isinstance(one, Recorded) for one in value):
            return np.stack([*value])
        return function(value, *args, **more)

    return of


_OF_NUMPY: Mapping[str, Callable[..., Any]] = {
    **{name: _blank(getattr(np, name)) for name in MADE},
    **{name: _array(getattr(np, name)) for name in ("array", "asarray")},
}


def of_numpy() -> dict[int, Any]:
    """What a program sees for NumPy that is run on arrays with formulas."""
    return in_place_of(np, _OF_NUMPY)


#: How many heads and groups of them there are, by name.
HEADS = ("n_h", "n_g")


def leading(array: npt.NDArray[Any]) -> int:
    """How many axes of one number stand before a matrix, or before those of heads."""
    return next((k for k, size in enumerate(array.shape[:-2]) if size != 1), max(array.ndim - 2, 0))


def unsaid(numbers: Any, run: Recording, why: str) -> Recorded:
    """An array that records, and has no formula of its own."""
    made = _recorded(numbers, run)
    made.is_made(_placed(run, why))
    return made


def in_parts(numbers: Any, run: Recording, pieces: Sequence[tuple[Any, Any]]) -> Recorded:
    """An array that is written part by part: each array with where it stands in this one.

    One that is in parts itself gives those that are still whole; without a formula if another is
    in pieces, or does not record.
    """
    made = _begun(np.array(numbers), run)
    parts = made.formula
    assert isinstance(parts, _Parts)
    parts.line = run.place()
    for one, where in pieces:
        if isinstance(one, Recorded) and isinstance(one.formula, _Parts):
            kept = where.ravel()
            for start, part in one.formula.known.items():
                if kept[start : start + part.size].all():
                    parts.known[start] = part
        elif not parts.write(np.flatnonzero(where), one):
            return unsaid(numbers, run, WRITTEN)
        elif one.ndim:
            run.names("output", one)
    return made


def recorded_input(
    numbers: Any, letter: str, run: Recording, sizes: Sequence[str] = ()
) -> Recorded:
    """What a function is given: a matrix that is a letter, or one for each head, or a number.

    The axis of the heads is that of which the size is their number, else the first of three.
    """
    array = _recorded(np.array(numbers), run)
    lead = leading(array)
    shape = [*array.shape[lead:]]
    if len(shape) > 3:
        raise Unsaid(
            f"{letter} has {array.ndim} axes; matrices, and one for each head, have a formula, and "
            "a batch of them with a first axis b"
        )
    axes, index = ["i", "j"][-len(shape) :] if shape else [], ""
    if len(shape) > 2:
        named = [place for place, size in enumerate(sizes[lead:]) if size in HEADS]
        place = named[0] if named else 0
        index = run.index(shape.pop(place))
        axes.insert(place, index)
    matrix = [1, *shape][-2:]
    whole = f"{letter}[{index}]" if index else letter
    run.lines.append(f"{whole} : {run.shape(matrix) if shape else 'number'}")
    array.is_made(Said(whole, axes=("",) * lead + (*axes,)))
    run.given(array)
    return array


def _written_over(out: Any, result: Recorded) -> Any:
    """An array that is written over as a whole, as by ``a -= b``."""
    if not isinstance(out, Recorded):  # of which only the name is kept
        np.copyto(out, bare(result))
        return result
    np.copyto(out.view(np.ndarray), bare(result))
    out._memory[0] += 1
    if out.base is not None and isinstance(out.base, Recorded):
        out.base.formula = _placed(result.run, "a part is written over")
    return out.known(lambda: result.said)


def _placed(run: Recording, why: str) -> str:
    """Why, behind the line of the program; unless a line stands there already."""
    return why if why.startswith(("line ", "the program")) else f"{run.place()}: {why}"


# ---- formulas --------------------------------------------------------------------------------


def _formula(
    run: Recording, name: str, method: str, inputs: Sequence[Any], more: Mapping[str, Any]
) -> Said:
    """The formula of a universal function."""
    if method == "reduce":
        return _reduced(name, run, inputs[0], **{"axis": 0, **more})
    if (name, method) == ("add", "accumulate"):
        return _running(run, inputs[0], **more)
    if method != "__call__":
        raise Unsaid(f"{name}.{method} has no formula here")
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        return _product(run, *inputs)
    row = _FORMULAS.get(name)
    if row is None:
        raise Unsaid(f"{name} has no formula here")
    return row(*(_said(run, one) for one in inputs))


def _said(run: Recording, value: Any) -> Said:
    """The formula of an operand: a recorded array, a number, or a matrix of constants."""
    if isinstance(value, Recorded):
        return value.said
    if isinstance(value, Blank) and value.ndim in (1, 2) and not value.any():
        return Said(NOTHING, ATOM, ("i", "j")[-value.ndim :])
    numbers = np.asarray(value)
    lead = 0
    while numbers.ndim > 2 and (numbers == numbers[:1]).all():
        numbers, lead = numbers[0], lead + 1
    if numbers.dtype.kind not in "fiub":
        raise Unsaid("complex numbers and objects have no formula here; rotary(Q) has")
    number = _number(numbers)
    if number is not None:
        return run.number(number)
    if numbers.ndim == 2:
        made = run.constant(numbers.astype(float))
        return replace(made, axes=("",) * lead + made.axes)
    raise Unsaid("a table of numbers; a matrix of two numbers has a formula")


def _number(value: Any) -> float | None:
    """The one number of which an array of constants is made; None of others."""
    found = np.unique(np.asarray(value))
    return float(found[0]) if found.size == 1 else None


#: What is asked of numbers and known of all of them: −∞ is where a mask is.
_OF_HIDDEN = ("isfinite", "isinf", "isnan")


def _is_known(values: Sequence[Any]) -> bool:
    """Whether numbers are compared with ∞, with −∞, or with themselves."""
    if len(values) == 2 and values[0] is values[1]:
        return True
    constants = [one for one in values if not isinstance(one, Recorded)]
    return bool(constants) and all(np.isinf(one).all() for one in constants)


#: The formula of each universal function, of those of its operands.
_FORMULAS: Mapping[str, Callable[..., Said]] = {
    **{name: partial(called, other) for name, other in OF_ENTRIES.items()},
    "add": partial(said.added, sign="+"),
    "subtract": partial(said.added, sign="-"),
    "multiply": said.multiplied,
    "divide": said.divided,
    "negative": said.negative,
    "power": said.power,
    "square": lambda one: said.power(one, Said("2", number=2)),
    "reciprocal": lambda one: said.divided(Said("1"), one),
    "log1p": lambda one: called("ln", said.added(Said("1"), one, "+")),
    "exp2": lambda one: called("exp", said.multiplied(Said("ln(2)", number=math.log(2)), one)),
    "expm1": lambda one: said.added(called("exp", one), Said("1"), "-"),
    "maximum": partial(said.extreme, "max"),
    "minimum": partial(said.extreme, "min"),
    "clip": lambda one, low, high: said.extreme("min", said.extreme("max", one, low), high),
}


def _product(run: Recording, one: Any, other: Any) -> Said:
    """A product of matrices, or of one and an array with one axis, as NumPy has it."""
    first, second = _said(run, one), _said(run, other)
    if len(first.axes) < 1 or len(second.axes) < 1:
        raise Unsaid("a product with a number by a function of matrices")
    if len(second.axes) == 1 and len(first.axes) < 3:
        row = _as_row(second)
        if len(first.axes) == 1:
            return said.product(_as_row(first), row.turned, ())
        first = _with_columns(first, -1, one)
        if first.axes[:1] == ("i",) and (  # a row of a loop
            row.text in run.made or re.search(r"\[\d+\]", row.text)
        ):
            return said.product(row, first.turned, ("j",))
    first = _with_columns(first, -1, one)
    second = _with_columns(second.turned, max(-2, -len(second.axes)), other).turned
    lead = said.together(first.axes[:-2], second.axes[:-2])
    if lead is None or {*lead} & {"i", "j"}:
        raise Unsaid("a product for each row")
    rows, columns = first.axes[-2:-1], second.axes[-1:] if len(second.axes) > 1 else ()
    return said.product(first, second, (*lead, *rows, *columns))


def _dot(run: Recording, one: Any, other: Any) -> Said:
    """The product of two matrices, or of one and an array with one axis."""
    if max(np.ndim(one), np.ndim(other)) > 2:
        raise Unsaid("np.dot of more than two axes; A @ B multiplies the matrices of all heads")
    return _product(run, one, other)


def _as_row(one: Said) -> Said:
    """An array with one axis by the formula of a row."""
    if one.axes not in (("i",), ("j",)):
        raise Unsaid("a product over more than the rows and columns of matrices")
    return one if one.axes == ("j",) else one.turned


def _outer(run: Recording, one: Any, other: Any) -> Said:
    """The product of a column and a row."""
    return said.product(_as_row(_said(run, one)).turned, _as_row(_said(run, other)), ("i", "j"))


def _with_columns(one: Said, axis: int, array: Any) -> Said:
    """The formula by which an axis runs along the columns, those of length 1 included."""
    label = one.axes[axis]
    if label in FAMILIES or (not label and np.shape(array)[axis] > 1):
        raise Unsaid("a product over more than the rows and columns of matrices")
    return one.turned if label == "i" or (not label and "j" in one.axes) else one


def _by_rows(function: str, array: Recorded, axis: int, options: str = "") -> Said:
    """A function of the rows of a matrix, along an axis."""
    one = array.said
    along = one.axes[axis] or ("j" if array.shape[axis] == 1 else "")
    if along not in ("i", "j"):
        raise Unsaid(f"{function} over heads")
    if not one.axes[axis] and "j" in one.axes:  # of one number, across columns that lie as rows
        one = one.turned
    made = called(function, one if along == "j" else one.turned, options)
    return made if along == "j" else made.turned


_ROWS: Mapping[str, str] = {
    "add": "rowsum",
    "maximum": "rowmax",
    "mean": "rowmean",
    "var": "rowvar",
    "norm": "norm2",
}

#: Of those the ones that have a name for columns, too.
_COLUMNS = ("add", "mean")


def _reduced(
    name: str, run: Recording, array: Recorded, axis: Any = None, keepdims: Any = False, **more: Any
) -> Said:
    """A sum, a mean or a maximum over one axis: of rows, of columns, or of heads."""
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    axis = 0 if axis is None and array.ndim == 1 else axis
    function = _ROWS.get(name)
    if function is None or axis is None or np.ndim(axis) > 0:
        raise Unsaid(f"{name} over these axes; sums, means and maxima of rows have a formula")
    given = [value for option, value in more.items() if option != "dtype" and value is not True]
    if any(value is not None and value is not np._NoValue for value in given):
        raise Unsaid(f"{name} with options")
    one, length = array.said, array.shape[axis]
    along = one.axes[axis]
    if along in FAMILIES and name in _COLUMNS:
        made = Said(f"sum_{along}({one.text})")
        made = made if name == "add" else said.divided(made, run.number(length))
    elif along == "j" or (along == "i" and name not in _COLUMNS):
        made = _by_rows(function, array, axis)
    elif along == "i":
        made = called(function.replace("row", "col"), one)
    elif not along and length == 1 and name in (*_COLUMNS, "maximum"):
        made = one
    else:
        raise Unsaid(f"{name} over these axes; sums, means and maxima of rows have a formula")
    axes = [*(one.axes if along in FAMILIES else made.axes)]
    axes[axis] = ""
    if not keepdims:
        del axes[axis]
    return replace(made, axes=tuple(axes))


def _running(run: Recording, array: Recorded, axis: Any = 0, **more: Any) -> Said:
    """The sums of the first row, of the first two, and so on: L times a matrix, L of ones below."""
    one = array.said
    along = one.axes[axis]
    if along not in ("i", "j") or array.ndim != 2:
        raise Unsaid("running sums over other axes than the rows and columns of a matrix")
    below = run.constant(np.tri(array.shape[axis]))
    first = one if along == "i" else one.turned
    made = said.product(below, first, first.axes)
    return made if along == "i" else made.turned


def _variance(run: Recording, array: Any, axis: Any = None, *, ddof: Any = 0, **more: Any) -> Said:
    """A variance over one axis, of so many degrees of freedom less than numbers."""
    made = _reduced("var", run, array, axis, **more)
    if not ddof:
        return made
    (along,) = np.ravel(axis)
    count = array.shape[along]
    times = said.divided(run.number(count), run.number(count - ddof))
    return said.multiplied(Said(times.within(ATOM), number=count / (count - ddof)), made)


def _squares(
    run: Recording, array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False
) -> Said:
    """The squared length of each row, or column."""
    if ord not in (None, 2):
        raise Unsaid("this norm; the length of rows has a formula")
    return _reduced("norm", run, array, axis, keepdims)


#: Comparisons by which numbers are chosen; those that are equal may be either.
_COMPARISONS = ("greater", "greater_equal", "less", "less_equal")


def _chosen(run: Recording, condition: Any, one: Any = None, other: Any = None) -> Said:
    """``np.where``: entries of a matrix where a pattern of constants is, else a number."""
    if isinstance(condition, Recorded):
        name, *compared = condition.compared
        if name not in _COMPARISONS:
            raise Unsaid(said.ASKED)
        pair, choices = ([_said(run, x) for x in two] for two in (compared, (one, other)))
        if name.startswith("less"):
            pair.reverse()
        return said.above(*pair, *choices)
    allowed = np.asarray(condition, bool)
    if allowed.all() or not allowed.any():
        chosen = one if allowed.all() else other
        shape = np.broadcast_shapes(*map(np.shape, (allowed, one, other)))
        return said.added(_said(run, chosen), _said(run, np.zeros(shape)), "+")
    if not isinstance(one, Recorded):
        one, other, allowed = other, one, ~allowed
    number = None if isinstance(other, Recorded) else _number(other)
    if number is None:
        raise Unsaid("np.where between two matrices; with a number it has a formula")
    allowed = np.broadcast_to(allowed, np.broadcast_shapes(allowed.shape, one.shape))
    if number <= LOWEST:
        return said.added(one.said, _said(run, np.where(allowed, 0.0, -np.inf)), "+")
    if number == 0:
        return said.multiplied(one.said, _said(run, allowed.astype(float)))
    raise Unsaid(f"np.where with {number:g}; with -inf or 0 it has a formula")


def _joined(run: Recording, arrays: Sequence[Any], axis: Any = 0, **more: Any) -> Said:
    """Matrices below or beside one another."""
    filled = [one for one in arrays if np.size(one)]
    parts = [_said(run, one).upright for one in filled]
    axes, depth = parts[0].axes, max(np.ndim(one) for one in arrays)
    if len(parts) == 1:
        return replace(parts[0], axes=("",) * (depth - len(axes)) + axes)
    index = next((one for one, count in run.counts.items() if count == len(parts)), "")
    if index and axes[axis] == "j":
        with suppress(Unsaid):
            whole = loops.of_heads(run, parts, index)
            return Said(f"concat_{index}({whole.text})", ATOM, axes)
    if depth == 2 and axis in (0, -2):
        return _below(run, parts, np.vstack([*map(bare, filled)]))
    if any(one.axes != axes for one in parts) or axes[axis] != "j":
        raise Unsaid("arrays that are no matrices joined")
    return Said(f"[{', '.join(one.text for one in parts)}]", ATOM, axes)


def _below(run: Recording, parts: Sequence[Said], numbers: Any) -> Said:
    """Matrices and rows below one another; rows as a loop has made them, once it has made all."""
    before = run.joined.setdefault(run.place(), len(parts))
    if before == len(parts) > 2 and not any("i" in one.axes for one in parts):
        return loops.of_rows(run, parts, numbers, run.assigned())
    return loops.piled(run, parts)


def _stacked(run: Recording, arrays: Sequence[Any], axis: Any = 0, **more: Any) -> Said:
    """Rows, matrices or numbers one after another, as a loop has made them."""
    if not all(isinstance(one, Recorded) for one in arrays):
        raise Unsaid(WRITTEN)
    if axis in (1, -1) and arrays[0].ndim == 1:  # columns are rows, turned
        rows = _stacked(run, arrays)
        return replace(rows, axes=rows.axes[::-1])
    if axis != 0:
        raise Unsaid(WRITTEN)
    if arrays[0].ndim == 1:
        return _below(run, [one.said for one in arrays], np.vstack([*map(bare, arrays)]))
    known = {place * one.size: one for place, one in enumerate(arrays)}
    parts = _Parts((len(arrays), *arrays[0].shape), known)
    return parts.said(run, np.stack([*map(bare, arrays)]), run.assigned())


def _einsum(run: Recording, pattern: Any, *operands: Any, **more: Any) -> Said:
    """``np.einsum``: products of matrices, of heads each by its own, by entry, and sums."""
    left, _, out = str(pattern).replace(" ", "").partition("->")
    terms = left.split(",")
    if "->" not in str(pattern):
        out = "".join(sorted(x for x in {*left} - {","} if left.count(x) == 1))
    if len(operands) != len(terms) or any(len({*x}) != len(x) for x in (*terms, out)):
        raise Unsaid(f"np.einsum {quote(str(pattern))}; products and sums have a formula")
    made, letters = operands[0], terms[0]
    for place, (term, operand) in enumerate(zip(terms[1:], operands[1:], strict=True), 2):
        kept = {*out, *chain(*terms[place:])}
        after = [*dict.fromkeys(x for x in letters + term if x in kept)]
        together = "".join(after) if place < len(terms) else out
        made = _of_two(run, (letters, made), (term, operand), together)
        letters = together
    return cast(Recorded, _summed(made, letters, out)).said


def _summed(array: Any, letters: str, out: str) -> Any:
    """An array whose axes have letters, summed over those that are not wanted, in that order."""
    for place in reversed(range(len(letters))):
        if letters[place] not in out:
            array = np.sum(array, axis=place)
    return _in_order(array, [x for x in letters if x in out], [*out])


def _of_two(run: Recording, one: tuple[str, Any], other: tuple[str, Any], out: str) -> Any:
    """The product of two arrays whose axes have letters, summed over those that are not wanted."""
    pairs = [one, other]
    terms = [term for term, _ in pairs]
    lengths = (zip(term, np.shape(x), strict=True) for term, x in pairs)
    sizes = {letter: size for letter, size in chain(*lengths) if size > 1}
    axes = (zip(term, _said(run, x).axes, strict=False) for term, x in pairs)  # none of a number
    heads = {letter for letter, axis in chain(*axes) if axis in FAMILIES}
    both = {*terms[0]} & {*terms[1]} & {*sizes}
    free = [[letter for letter in term if letter in {*sizes} - both] for term in terms]
    shared = [*both - {*out} - heads]
    if len(shared) != 1 or max(map(len, free)) > 1 or not {*free[0], *free[1]} <= {*out}:
        return _by_entries(pairs, out)
    if all(free) and out.index(free[1][0]) < out.index(free[0][0]):  # it has the rows
        pairs.reverse()
        free.reverse()
    each = [letter for letter in terms[0] if letter in both and letter not in shared]
    if not {*each} <= heads:
        return _by_entries(pairs, out)
    rows, columns = (one or [""] * bool(each) for one in free)
    (left, first), (right, second) = pairs
    made: Recorded = np.matmul(
        _in_order(first, left, [*each, *rows, *shared]),
        _in_order(second, right, [*each, *shared, *columns]),
    )
    for place, letter in reversed([*enumerate(each)]):
        made = made if letter in out else np.sum(made, axis=place)
    kept = [letter for letter in each if letter in out]
    wanted = [letter if letter in sizes else "" for letter in out]
    return _in_order(made, [*kept, *rows, *columns], wanted)


def _by_entries(pairs: Sequence[tuple[str, Any]], out: str) -> Any:
    """The product of every two entries, summed over the letters that are not wanted."""
    letters = [*dict.fromkeys(chain(*(term for term, _ in pairs)))]
    one, other = (
        _in_order(array, term, [letter if letter in term else "" for letter in letters])
        for term, array in pairs
    )
    return _summed(np.multiply(one, other), "".join(letters), out)


def _in_order(array: Any, letters: Sequence[str], wanted: Sequence[str]) -> Any:
    """An array whose axes have letters with those that are wanted, in that order.

    Others are of one number, as are those that are wanted without a letter.
    """
    kept = [letter for letter in letters if letter and letter in wanted]
    parts = array[tuple(slice(None) if letter in kept else 0 for letter in letters)]
    turned = np.transpose(parts, [kept.index(letter) for letter in wanted if letter])
    return turned[tuple(slice(None) if letter else None for letter in wanted)]


#: The formula of each other function of NumPy's.
_FUNCTIONS: Mapping[str, Callable[..., Said]] = {
    "where": _chosen,
    "stack": _stacked,
    "dot": _dot,
    "inner": lambda run, one, other: _dot(run, one, np.transpose(other)),
    "vdot": lambda run, one, other: _dot(run, np.ravel(one), np.ravel(other)),
    "outer": _outer,
    "einsum": _einsum,
    "concatenate": _joined,
    "vstack": lambda run, arrays, **more: (
        _joined(run, arrays) if any(np.ndim(x) > 1 for x in arrays) else _stacked(run, arrays)
    ),
    "hstack": lambda run, arrays, **more: _joined(run, arrays, 1),
    "mean": partial(_reduced, "mean"),
    "var": _variance,
    "std": lambda *args, **more: called("sqrt", _variance(*args, **more)),
    "norm": lambda *args, **more: called("sqrt", _squares(*args, **more)),
}

#: Functions of NumPy's that it defines by its universal functions, or by ``np.where``.
_BY_OTHERS = (
    *("sum", "prod", "max", "amax", "min", "amin", "clip", "cumsum", "all", "any", "tril", "triu"),
)

#: Functions of NumPy's that only move numbers.
_MOVES = frozenset(
    [
        "transpose",
        "swapaxes",
        "moveaxis",
        "expand_dims",
        "squeeze",
        "reshape",
        "broadcast_to",
        "repeat",
        "split",
        "array_split",
        "hsplit",
        "vsplit",
        "atleast_2d",
        "ravel",
        "diagonal",
    ]
)


def place_in(error: BaseException, file: str) -> str:
    """The last line of a program's file at which an error passed."""
    passed = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in passed if frame.f_code.co_filename == file]
    return f"line {lines[-1]}" if lines else "the program"


@contextmanager
def quiet() -> Iterator[None]:
    """Numbers that overflow or are none are no matter here, nor is what warns of them."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
