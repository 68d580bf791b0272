"""Arrays of NumPy that remember by which formula they were made, beside their numbers.

NumPy hands every operation to the array (`__array_ufunc__`, `__array_function__`): it is done on
the numbers, and on the formulas by a row of `_FORMULAS` or `_FUNCTIONS`. What has no row has no
formula, and says so where one is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from symattn.errors import quote
from symattn.lifting import said
from symattn.lifting.numerals import LOWEST
from symattn.lifting.said import ENTRIES, OF_ENTRIES, Said, Unsaid, called


@dataclass
class Recording:
    """A run of a program: the sizes it is run at, its file, and the lines that it has made."""

    sizes: Mapping[str, int]
    file: str
    lines: list[str] = field(default_factory=list)
    #: Letters that are taken, and the matrices of constants by their equations.
    letters: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)

    def letter(self, name: str) -> str:
        """A letter that is not taken: the name itself, or with a number behind it."""
        candidate, number = name, 1
        while candidate in self.letters:
            number += 1
            candidate = f"{name}_{number}"
        self.letters.add(candidate)
        return candidate

    def constant(self, values: Any) -> Said:
        """The letter of a matrix of constants, by its entries."""
        entries = said.by_entries(values, self.sizes)
        if entries not in self.constants:
            letter = self.letter("M" if "-inf" in entries else "D")
            self.constants[entries] = letter
            self.lines.append(f"{letter} : {self.shape(values.shape)}")
            self.lines.append(f"{letter}[i,j] = {entries}")
        return Said(self.constants[entries])

    def shape(self, shape: Sequence[int]) -> str:
        """A shape in names of sizes."""
        return " × ".join(said.of_number(size, self.sizes).text for size in shape)

    def place(self) -> str:
        """The line of the program that is being run."""
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return f"line {frame.f_lineno}"
            frame = frame.f_back
        return "the program"


class Recorded(np.ndarray[Any, Any]):
    """An array with the formula by which it was made, or why it has none."""

    run: Recording
    formula: Said | str
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
            raise Unsaid(self.formula)
        if self._version != self._memory[0]:
            raise Unsaid("an array of which a part was written over")
        return self.formula

    def is_made(self, formula: Said) -> None:
        """Say by which formula it was made, as it is now."""
        self.formula, self._version = formula, self._memory[0]

    def known(self, formula: Callable[[], Said]) -> Recorded:
        """Itself, with the formula, or with the line at which there is none."""
        try:
            self.is_made(formula())
        except Unsaid as error:
            self.formula = _placed(self.run, str(error))
        return self

    # ---- operations ----------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **more: Any
    ) -> Any:
        """An operation entry by entry, a product of matrices, or a reduction."""
        numbers = getattr(ufunc, method)(*map(bare, inputs), **_bare_options(more))
        if not isinstance(numbers, np.ndarray | np.generic):
            return numbers
        if np.asarray(numbers).dtype == bool:
            return Asked(numbers, _placed(self.run, ""))
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
        numbers = function(*map(_bare, args), **{name: _bare(x) for name, x in options.items()})
        name = function.__name__
        if name in ("shape", "ndim", "size"):
            return numbers
        if not isinstance(numbers, np.ndarray | np.floating) or numbers.dtype == bool:
            raise Unsaid(_placed(self.run, f"{name} has no formula here"))
        row = _FUNCTIONS.get(name)
        result = _recorded(numbers, self.run)
        if row is None:
            result.formula = _placed(self.run, f"{name} has no formula here")
            return result
        return result.known(lambda: row(self.run, *args, **options))

    # ---- views ---------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """A part, or the same with another axis."""
        result = super().__getitem__(bare(key))
        if not isinstance(result, Recorded):
            result = _recorded(result, self.run)
        return result.known(lambda: _part(self, key, result.shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        """A part written over; the whole has no formula any more, unless it is written whole."""
        super().__setitem__(bare(key), bare(value))
        self._memory[0] += 1
        self.formula = _placed(self.run, "a part is written over; make a new array instead")

    @property
    def T(self) -> Any:  # noqa: N802  NumPy's name
        """The transpose."""
        return self.transpose()

    def transpose(self, *axes: Any) -> Any:
        """The transpose, of an array with two axes."""
        result = super().transpose(*axes)
        return result.known(lambda: _transposed(self, result.shape))

    def swapaxes(self, one: Any, other: Any) -> Any:
        """The transpose, of an array with two axes."""
        result = super().swapaxes(one, other)
        return result.known(lambda: _transposed(self, result.shape))

    def dot(self, other: Any, out: Any = None) -> Any:
        """The product of matrices."""
        return np.matmul(self, other)

    def mean(self, axis: Any = None, *args: Any, **more: Any) -> Any:
        """The mean, as `np.mean` has it."""
        return np.mean(self, axis, *args, **more)

    def astype(self, *args: Any, **more: Any) -> Any:
        """Itself: numbers are real here, whatever their dtype."""
        return self.copy()

    def copy(self, order: Any = "C") -> Any:
        """A copy, which is made by the same formula."""
        return _recorded(np.array(bare(self)), self.run).known(lambda: self.said)

    def __float__(self) -> float:
        """No number may be taken out."""
        raise Unsaid(_placed(self.run, "a number is taken out of its array"))

    __int__ = __index__ = __float__  # type: ignore[assignment]  # they raise

    def item(self, *args: Any) -> Any:
        """No number may be taken out."""
        return float(self)

    def tolist(self) -> Any:
        """No number may be taken out."""
        return float(self)

    def __iter__(self) -> Any:
        """Its rows, of which each records."""
        return (self[place] for place in range(len(self)))

    def __bool__(self) -> bool:
        """No branch may depend on numbers."""
        raise Unsaid(
            _placed(self.run, "a branch depends on the numbers; use np.where or np.maximum")
        )


class Asked(np.ndarray[Any, Any]):
    """What a comparison of numbers gives; only `np.where` may ask it."""

    why: str

    def __new__(cls, numbers: Any, why: str) -> Asked:
        """The answers at the numbers of the run."""
        made = np.asarray(numbers).view(cls)
        made.why = why
        return made

    def __bool__(self) -> bool:
        """No branch may depend on numbers."""
        raise Unsaid(f"{self.why}a branch depends on the numbers; use np.where or np.maximum")

    __float__ = __int__ = __index__ = __iter__ = __bool__  # type: ignore[assignment]

    def item(self, *args: Any) -> Any:
        """No answer may be taken out."""
        return bool(self)

    def tolist(self) -> Any:
        """No answer may be taken out."""
        return bool(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        """What is made of answers is one, too."""
        if any(isinstance(one, Recorded) for one in inputs):
            return NotImplemented
        return Asked(getattr(ufunc, method)(*map(bare, inputs), **_bare_options(more)), self.why)

    def __array_function__(
        self, function: Any, types: Any, args: Iterable[Any], options: Mapping[str, Any]
    ) -> Any:
        """Only what goes with an array that records may ask."""
        if any(isinstance(one, Recorded) for one in args):
            return NotImplemented
        return bool(self)


def bare(value: Any) -> Any:
    """An array without its formula."""
    return value.view(np.ndarray) if isinstance(value, Recorded | Asked) else value


def _bare(value: Any) -> Any:
    """Arrays without formulas, also within lists."""
    if isinstance(value, list | tuple):
        return type(value)(map(_bare, value))
    return bare(value)


def _bare_options(more: Mapping[str, Any]) -> dict[str, Any]:
    return {name: bare(value) for name, value in more.items()}


def _recorded(numbers: Any, run: Recording) -> Recorded:
    array = np.asarray(numbers).view(Recorded)
    array.run = run
    return array


def recorded_input(numbers: Any, letter: str, run: Recording) -> Recorded:
    """What a function is given: a matrix that is a letter."""
    array = _recorded(np.array(numbers), run)
    array.is_made(Said(letter))
    return array


def _written_over(out: Any, result: Recorded) -> Any:
    """An array that is written over as a whole, as by ``a -= b``."""
    if not isinstance(out, Recorded):
        raise Unsaid(_placed(result.run, "numbers are written into an array of constants"))
    np.copyto(out.view(np.ndarray), bare(result))
    out._memory[0] += 1
    if out.base is not None and isinstance(out.base, Recorded):
        out.base.formula = _placed(result.run, "a part is written over")
    return out.known(lambda: result.said)


def _placed(run: Recording, why: str) -> str:
    """Why, behind the line of the program; unless a line stands there already."""
    return why if why.startswith("line ") else f"{run.place()}: {why}"


# ---- formulas --------------------------------------------------------------------------------


def _formula(
    run: Recording, name: str, method: str, inputs: Sequence[Any], more: Mapping[str, Any]
) -> Said:
    """The formula of a universal function."""
    if method == "reduce":
        return _reduced(run, name, inputs[0], **more)
    if method != "__call__":
        raise Unsaid(f"{name}.{method} has no formula here")
    if name in OF_ENTRIES:
        one = inputs[0].said
        return called(OF_ENTRIES[name], one, turned=one.turned)
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        return _product(run, *inputs)
    row = _FORMULAS.get(name)
    if row is None:
        raise Unsaid(f"{name} has no formula here")
    return row(run, *inputs)


def _operands(run: Recording, one: Any, other: Any) -> tuple[Said, Said]:
    """The formulas of two operands, which lie as they are repeated along one another."""
    most = max(np.ndim(one), np.ndim(other))
    if most > 2:
        raise Unsaid("an array of more than two axes; matrices have a formula")
    pair = [_said(run, each) for each in (one, other)]
    if most == 2:
        lying = (
            each.lying(as_column=False) if np.ndim(x) == 1 else each
            for each, x in zip(pair, (one, other), strict=True)
        )
        first, second = lying
        return first, second
    column = any(p.turned for p, x in zip(pair, (one, other), strict=True) if np.ndim(x) == 1)
    first, second = (
        each.lying(column) if np.ndim(x) == 1 else each
        for each, x in zip(pair, (one, other), strict=True)
    )
    return first, second


def _said(run: Recording, value: Any) -> Said:
    """The formula of an operand: a recorded array, a number, or a matrix of constants."""
    if isinstance(value, Recorded):
        return value.said
    if isinstance(value, Asked):
        raise Unsaid(f"{value.why}the numbers are asked; np.where with a mask has a formula")
    numbers = np.asarray(value)
    if numbers.dtype == object:
        raise Unsaid("an array of objects")
    if np.unique(numbers).size == 1:
        return said.of_number(float(numbers.flat[0]), run.sizes)
    if numbers.ndim == 2:
        return run.constant(numbers.astype(float))
    raise Unsaid("a table of numbers; a matrix of two numbers has a formula")


def _is_number(value: Any) -> bool:
    return not isinstance(value, Recorded | Asked) and np.unique(np.asarray(value)).size == 1


def _sum(run: Recording, one: Any, other: Any) -> Said:
    first, second = _operands(run, one, other)
    return said.added(first, second, "+")


def _difference(run: Recording, one: Any, other: Any) -> Said:
    first, second = _operands(run, one, other)
    return said.added(first, second, "-")


def _multiple(run: Recording, one: Any, other: Any) -> Said:
    first, second = _operands(run, one, other)
    return said.multiplied(first, second, (_is_number(one), _is_number(other)))


def _quotient(run: Recording, one: Any, other: Any) -> Said:
    return said.divided(*_operands(run, one, other))


def _negative(run: Recording, one: Recorded) -> Said:
    return Said(f"-{one.said.within(said.PRODUCT)}", said.SUM, one.said.turned)


def _power(run: Recording, one: Any, exponent: Any) -> Said:
    if not isinstance(one, Recorded) or not _is_number(exponent):
        raise Unsaid("a power whose exponent is no number")
    return said.power(one.said, float(np.asarray(exponent).flat[0]))


def _largest(run: Recording, one: Any, other: Any) -> Said:
    if isinstance(other, Recorded):
        one, other = other, one
    if isinstance(other, Recorded) or not _is_number(other) or np.any(np.asarray(other) != 0):
        raise Unsaid("the larger of two; that of a number and 0 has a formula")
    return called("relu", one.said, turned=one.said.turned)


#: The formula of each universal function of two operands, or of one.
_FORMULAS: Mapping[str, Callable[..., Said]] = {
    "add": _sum,
    "subtract": _difference,
    "multiply": _multiple,
    "divide": _quotient,
    "negative": _negative,
    "power": _power,
    "square": lambda run, one: said.power(one.said, 2),
    "reciprocal": lambda run, one: said.power(one.said, -1),
    "maximum": _largest,
}


def _product(run: Recording, one: Any, other: Any) -> Said:
    """A product of matrices; of an array with one axis, as NumPy has it."""
    if max(np.ndim(one), np.ndim(other)) > 2:
        raise Unsaid("a product of arrays with more than two axes")
    first, second = _said(run, one), _said(run, other)
    if np.ndim(one) == 1 and np.ndim(other) == 1:
        raise Unsaid("a product of two vectors")
    if np.ndim(other) == 1:
        made = said.product(first, second.lying(as_column=True))
        return Said(made.text, made.level, turned=True)
    if np.ndim(one) == 1:
        first = first.lying(as_column=False)
    return said.product(first, second)


_ROWS: Mapping[str, str] = {"add": "rowsum", "maximum": "rowmax", "mean": "rowmean"}


def _reduced(
    run: Recording,
    name: str,
    array: Recorded,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    **more: Any,
) -> Said:
    """A sum, a mean or a maximum over one axis of a matrix."""
    function = _ROWS.get(name)
    if function is None or array.ndim != 2 or isinstance(axis, tuple) or axis is None:
        raise Unsaid(f"{name} over these axes; sums, means and maxima of rows have a formula")
    if {key for key, value in more.items() if value is not np._NoValue and value is not True}:
        raise Unsaid(f"{name} with options")
    if axis % 2 == 1:
        return called(function, array.said, turned=not keepdims)
    if name == "maximum":
        return called("rowmax", array.said.transposed).transposed
    return called(function.replace("row", "col"), array.said)


def _mean(run: Recording, array: Any, axis: Any = None, dtype: Any = None, **more: Any) -> Said:
    return _reduced(run, "mean", array, axis, keepdims=bool(more.get("keepdims", False)))


def _sum_of(run: Recording, array: Any, axis: Any = None, dtype: Any = None, **more: Any) -> Said:
    return _reduced(run, "add", array, axis, keepdims=bool(more.get("keepdims", False)))


def _max_of(run: Recording, array: Any, axis: Any = None, **more: Any) -> Said:
    return _reduced(run, "maximum", array, axis, keepdims=bool(more.get("keepdims", False)))


def _transposed(array: Recorded, shape: Sequence[int]) -> Said:
    if array.ndim == 1:
        return array.said
    if array.ndim != 2:
        raise Unsaid("an array of more than two axes; matrices have a formula")
    return array.said.transposed if tuple(shape) == array.shape[::-1] else array.said


def _part(array: Recorded, key: Any, shape: Sequence[int]) -> Said:
    """A part of a matrix, or a new axis."""
    keys = key if isinstance(key, tuple) else (key,)
    whole = slice(None)
    if keys.count(Ellipsis) == 1 and not any(isinstance(one, np.ndarray) for one in keys):
        at = keys.index(Ellipsis)
        there = sum(one is not None and one is not Ellipsis for one in keys)
        keys = (*keys[:at], *[whole] * (array.ndim - there), *keys[at + 1 :])
    if array.ndim == 1 and keys in ((whole, None), (None, whole), (None,)):
        return array.said.lying(as_column=keys == (whole, None))
    if any(not isinstance(one, slice) for one in keys) or array.ndim != 2:
        raise Unsaid(
            "a part of an array by these indices; rows and columns from … to … have a formula"
        )
    ranges = [*keys, *[whole] * (2 - len(keys))]
    if all(one == whole for one in ranges):
        return array.said
    words = []
    for one, size in zip(ranges, array.shape, strict=True):
        first, stop, step = one.indices(size)
        if step != 1 or stop <= first:
            raise Unsaid("a part with steps; rows and columns from … to … have a formula")
        numbers = [
            said.of_number(place, array.run.sizes).text if place not in (0, size) else ""
            for place in (first, stop)
        ]
        begin = f"{numbers[0]} + 1" if numbers[0] else ""
        words.append(f"{begin}:{numbers[1]}")
    return Said(f"{array.said.within(said.ATOM)}[{', '.join(words)}]")


def _chosen(run: Recording, condition: Any, one: Any = None, other: Any = None) -> Said:
    """``np.where``: entries of a matrix where a pattern of constants is, else a number."""
    if isinstance(condition, Asked):
        raise Unsaid("np.where asks the numbers; np.where with a mask has a formula")
    allowed = np.asarray(condition, bool)
    if not isinstance(one, Recorded):
        one, other, allowed = other, one, ~allowed
    if isinstance(other, Recorded) or not _is_number(other):
        raise Unsaid("np.where between two matrices; with a number it has a formula")
    number = float(np.asarray(other).flat[0])
    allowed = np.broadcast_to(allowed, np.broadcast_shapes(allowed.shape, one.shape))
    if number <= LOWEST:
        mask = run.constant(np.where(allowed, 0.0, -np.inf))
        return said.added(one.said, mask, "+")
    if number == 0:
        kept = run.constant(allowed.astype(float))
        return Said(f"{one.said.within(ENTRIES)} ∘ {kept.text}", ENTRIES)
    raise Unsaid(f"np.where with {number:g}; with -inf or 0 it has a formula")


def _joined(run: Recording, arrays: Sequence[Any], axis: Any = 0, **more: Any) -> Said:
    """Matrices below or beside one another."""
    if any(np.ndim(one) != 2 for one in arrays):
        raise Unsaid("arrays that are no matrices joined")
    sign = "; " if axis % 2 == 0 else ", "
    return Said(f"[{sign.join(_said(run, one).text for one in arrays)}]")


def _einsum(run: Recording, pattern: Any, *operands: Any, **more: Any) -> Said:
    """``np.einsum`` of two matrices with one index in common, or of one."""
    if not isinstance(pattern, str):
        raise Unsaid("np.einsum without a pattern")
    left, _, out = pattern.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != 2 or len(out) != 2 or any(len({*one}) != 2 for one in terms):
        raise Unsaid(f"np.einsum {quote(pattern)}; products of two matrices have a formula")
    (shared,) = {*terms[0]} & {*terms[1]} or {""}
    if not shared or shared in out:
        raise Unsaid(f"np.einsum {quote(pattern)}; products of two matrices have a formula")
    one, other = (_said(run, x) for x in operands)
    first = one if terms[0][1] == shared else one.transposed
    second = other if terms[1][0] == shared else other.transposed
    made = said.product(first, second)
    return made if out[0] in terms[0] else made.transposed


#: The formula of each other function of NumPy's.
_FUNCTIONS: Mapping[str, Callable[..., Said]] = {
    "where": _chosen,
    "dot": _product,
    "einsum": _einsum,
    "concatenate": _joined,
    "vstack": _joined,
    "hstack": lambda run, arrays, **more: _joined(run, arrays, 1),
    "mean": _mean,
    "sum": _sum_of,
    "max": _max_of,
    "amax": _max_of,
    "transpose": lambda run, array, axes=None: _transposed(array, array.shape[::-1]),
    "swapaxes": lambda run, array, one, other: _transposed(
        array, array.shape[::-1] if one % 2 != other % 2 else array.shape
    ),
    "expand_dims": lambda run, array, axis: _part(
        array, (slice(None), None) if axis in (1, -1) else (None,), ()
    ),
}


def place_in(error: BaseException, file: str) -> str:
    """The last line of a program's file at which an error passed."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"line {line}" if line else "the program"


@contextmanager
def quiet() -> Iterator[None]:
    """Numbers that overflow or are none are no matter here."""
    with np.errstate(all="ignore"):
        yield
