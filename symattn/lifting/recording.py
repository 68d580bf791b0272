"""A function run once on arrays that record, in a process of its own: what it does, as plain data.

Each local variable that holds a recorded array becomes an equation, in the order in which the
program makes them; what the function returns is the last. `ran` gives its numbers on plain arrays,
which what was recorded is held against.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symattn.errors import SymattnError
from symattn.language.texts import read_text
from symattn.lifting.limits import LIMITS
from symattn.lifting.recorded import Recorded, Recording, quiet, recorded_input
from symattn.lifting.said import Unsaid
from symattn.printable import said_by
from symattn.verifying.calling import code_of, entry
from symattn.verifying.loading import load

#: A function, or where it is: ``module.py:function``.
Target: TypeAlias = str | Callable[..., Any]


@dataclass(frozen=True)
class Asked:
    """A function, or its name, the shapes of its arguments, and the sizes of a run."""

    target: Target
    shapes: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]
    #: Letters of arguments that are not their names.
    letters: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    def drawn(self) -> dict[str, npt.NDArray[np.float64]]:
        """Numbers for each argument; the same whoever asks."""
        draw = np.random.default_rng(self.seed)
        return {
            name: draw.normal(size=[self.size(one) for one in shape])
            for name, shape in self.shapes.items()
        }

    @property
    def function(self) -> Callable[..., Any]:
        """The function; its module is run."""
        return function_of(self.target)

    def size(self, name: str) -> int:
        """A size in this run: a name, or a number."""
        return int(name) if name.isdigit() else self.sizes[name]


def function_of(target: Target) -> Callable[..., Any]:
    """The function that is meant, or that a name names."""
    return load(target) if isinstance(target, str) else target


def arguments(target: Target) -> bytes:
    """The arguments of a function, each with its annotation and whether it has to be given."""
    function = function_of(target)
    try:
        listed = inspect.signature(entry(function)).parameters.values()
    except (TypeError, ValueError):
        raise SymattnError("its arguments cannot be read") from None
    found = [
        (one.name, _annotation(one.annotation), one.default is one.empty, one.kind.name)
        for one in listed
    ]
    return json.dumps(found).encode()


def _annotation(annotation: Any) -> str:
    """The shape that an annotation says: ``Float[Array, "n d_k"]`` or ``"n d_k"``."""
    if isinstance(annotation, str):
        return annotation
    sizes = getattr(annotation, "dim_str", "")
    if isinstance(sizes, str) and sizes:
        return sizes
    said = [one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, str)]
    return said[0] if said else ""


def ran(asked: Asked) -> bytes:
    """What a function returns of plain arrays: its numbers, as a list of lists."""
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = _called(asked.function, asked.drawn())
    return json.dumps(_numbers(result)).encode()


def recorded(asked: Asked) -> bytes:
    """The equations of a function and the numbers of each, as it has made them."""
    function = asked.function
    run = Recording(asked.sizes, file_of(function))
    given = {}
    for name, numbers in asked.drawn().items():
        letter = _letter(run, asked.letters.get(name, name))
        shape = numbers.shape if numbers.ndim == 2 else (1, *numbers.shape)
        run.lines.append(f"{letter} : {run.shape(shape) if numbers.ndim else 'number'}")
        given[name] = recorded_input(numbers, letter, run)
    steps = _Steps(run, list(given.values()))
    previous = sys.gettrace()
    sys.settrace(steps.entered)
    try:
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = _called(function, given)
    finally:
        sys.settrace(previous)
    if isinstance(result, tuple) and result:
        result = result[0]
    if not isinstance(result, Recorded):
        raise SymattnError("it returns no array that was made of what it is given")
    steps.ends_with(result)
    letters = {name: array.said.text for name, array in given.items()}
    found = {"lines": run.lines, "numbers": steps.numbers, "letters": letters}
    return json.dumps(found).encode()


def _called(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """What a function returns; what it raises is said in one line."""
    try:
        return function(**given)
    except Unsaid as error:
        raise SymattnError(str(error)) from None
    except SymattnError:
        raise
    except Exception as error:
        raise SymattnError(f"it raises {said_by(error)}") from None


def _numbers(value: Any) -> Any:
    """An array as lists, −∞ and NaN as words of JSON's."""
    if isinstance(value, tuple) and value:
        value = value[0]
    return np.asarray(value, float).tolist()


def file_of(function: Callable[..., Any]) -> str:
    """The file of a function. Raises `SymattnError` for what has none."""
    codes = code_of(function)
    if not codes:
        raise SymattnError("it is no function of Python, whose lines could be followed")
    return codes[0][0].co_filename


def _letter(run: Recording, name: str) -> str:
    """A letter for a variable: its name, where it may be one."""
    letter = name.strip("_") or "x"
    while True:
        try:
            read_text(f"{letter} = 0")
        except SymattnError:
            letter = f"{letter}_1" if not letter.endswith("_1") else "x"
            continue
        return run.letter(letter)


class _Steps:
    """The local variables of a program as they come to hold new arrays."""

    def __init__(self, run: Recording, given: Sequence[Recorded]) -> None:
        self.run = run
        #: The arrays that have a letter, which are kept so that no other takes their place.
        self.known = {id(one): (one, one._version) for one in given}
        self.numbers: dict[str, Any] = {}

    def entered(self, frame: FrameType, event: str, value: Any) -> Any:
        """Follow the functions of the program's own file."""
        return self.looked if frame.f_code.co_filename == self.run.file else None

    def looked(self, frame: FrameType, event: str, value: Any) -> Any:
        """Make an equation of each variable that is new."""
        for name, item in frame.f_locals.items():
            if isinstance(item, Recorded):
                self._named(name, item)
        return self.looked

    def _named(self, name: str, item: Recorded) -> None:
        kept = self.known.get(id(item))
        version = item._version
        if kept is not None and kept[0] is item and kept[1] == version:
            return
        self.known[id(item)] = (item, version)
        if isinstance(item.formula, str) or item.ndim > 2 or version != item._memory[0]:
            return  # it may not be needed; if it is, its formula is asked for
        formula = item.said
        if formula.text in self.numbers or formula.text in self.run.letters:
            return  # another name for the same
        self._step(name, item)

    def _step(self, name: str, item: Recorded) -> None:
        formula = item.said
        letter = _letter(self.run, name)
        if len(self.numbers) >= LIMITS.steps:
            raise Unsaid(f"{self.run.place()}: more than {LIMITS.steps} steps")
        self.run.lines.append(f"{letter} = {formula.text}")
        self.numbers[letter] = _matrix(np.asarray(item), formula.turned).tolist()
        item.is_made(type(formula)(letter, turned=formula.turned))

    def ends_with(self, result: Recorded) -> None:
        """Make what is returned the last step. Raises `SymattnError` where it has no formula."""
        try:
            formula = result.said
        except Unsaid as error:
            raise SymattnError(str(error)) from None
        if result.ndim > 2:
            raise SymattnError("it returns an array of more than two axes; matrices have a formula")
        if formula.text not in self.numbers or self.run.lines[-1].split(" = ")[0] != formula.text:
            self._step("output" if "output" not in self.run.letters else "result", result)


def _matrix(numbers: npt.NDArray[Any], column: bool) -> npt.NDArray[Any]:
    """An array with one axis as the row or the column that its formula is."""
    if numbers.ndim == 1:
        return numbers[:, None] if column else numbers[None, :]
    return numbers.reshape((1, 1)) if numbers.ndim == 0 else numbers
