"""A function run once on arrays that record, in a process of its own: what it does, as plain data.

Each local variable that holds a recorded array becomes an equation, in the order in which the
program makes them; what the function returns is the last. `ran` gives its numbers on plain arrays,
which what was recorded is held against.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symattn.errors import SymattnError
from symattn.lifting.composed import of_special
from symattn.lifting.entries import seen_by
from symattn.lifting.following import followed
from symattn.lifting.graphs import GRAPHS, in_doubles
from symattn.lifting.limits import LIMITS
from symattn.lifting.loops import finished
from symattn.lifting.numerals import size_at
from symattn.lifting.recorded import (
    Recorded,
    of_numpy,
    place_in,
    quiet,
    recorded_input,
)
from symattn.lifting.runs import Recording
from symattn.printable import said_by
from symattn.verifying.calling import (
    code_of,
    converted,
    entry,
    libraries_of,
    parameters_of,
    whole,
)
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
    #: Of which library its arrays are, and the arguments that are whole numbers.
    library: str = "numpy"
    numbers: Mapping[str, int] = field(default_factory=dict)
    #: The first axis of a batch, which is 1 where no size is given to it.
    batch: str = ""
    #: What scores of keys that a row does not have are: −∞, or 0.
    hides: bool = True

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
        """A size in this run: a name, a number, or a product of these."""
        return size_at(name, {self.batch: 1, **self.sizes})


def function_of(target: Target) -> Callable[..., Any]:
    """The function that is meant, or that a name names."""
    return load(target) if isinstance(target, str) else target


def described(target: Target) -> bytes:
    """What is known of a function before it runs.

    Its arguments, each with its annotation and whether it has to be given; the libraries of whose
    arrays it may be, the most likely one first; and of a module of PyTorch the parameters, each
    with its name, a letter for it, and its shape.
    """
    function = function_of(target)
    try:
        listed = inspect.signature(entry(function)).parameters.values()
    except (TypeError, ValueError):
        raise SymattnError("its arguments cannot be read") from None
    found = {
        "arguments": [
            (one.name, _annotation(one.annotation), one.default is one.empty, one.kind.name)
            for one in listed
        ],
        "libraries": [library for library in libraries_of(function) if library != "lists"],
        "parameters": [
            (name, _letter_of(name), [str(size) for size in one.shape])
            for name, one in parameters_of(function).items()
        ],
    }
    return json.dumps(found).encode()


def _letter_of(name: str) -> str:
    """The letter of a parameter: W_q of ``q_proj.weight``, b_q of ``q_proj.bias``."""
    *_, owner, last = ("", *name.split("."))
    stem, _, kind = last.rpartition("_") if last not in _KINDS else (owner, "", last)
    stem = stem.removeprefix("c_").removeprefix("to_")
    stem = stem.removesuffix("_proj").removesuffix("_linear").replace("_", "")
    return f"{_KINDS[kind]}_{stem}" if kind in _KINDS and stem else last


#: The letters of what a layer of PyTorch's has.
_KINDS: Mapping[str, str] = {"weight": "W", "bias": "b"}


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
    function = asked.function
    with quiet(), in_doubles(asked.library):
        drawn = asked.drawn().items()
        given = {name: converted(one, asked.library, "float64") for name, one in drawn}
        result = called(whole(function), [], {**given, **asked.numbers}, file_of(function))
    return json.dumps(_numbers(result)).encode()


def recorded(asked: Asked) -> bytes:
    """The equations of a function and the numbers of each, as it has made them."""
    function = asked.function

    def looked(frame: FrameType, event: str, value: Any) -> None:
        for name, item in frame.f_locals.items():
            if isinstance(item, Recorded):
                run.names(name, item)

    run = Recording(asked.sizes, file_of(function), hides=asked.hides)
    given = {}
    for name, numbers in asked.drawn().items():
        letter = run.letter(asked.letters.get(name, name))
        given[name] = recorded_input(numbers, letter, run, asked.shapes[name])
    all_given = {**given, **asked.numbers}
    by_graph = GRAPHS.get(asked.library)
    with quiet():
        if by_graph is not None:
            result = called(by_graph, (whole(function), [], all_given, run.file), {}, run.file)
            run.at(())
        else:
            own = {**of_numpy(), **of_special()}
            with seen_by(function, own, {}), followed(run.file, looked):
                result = called(function, [], all_given, run.file)
    if isinstance(result, tuple) and result:
        result = result[0]
    if not isinstance(result, Recorded):
        raise SymattnError("it returns no array that was made of what it is given")
    run.ends_with(result)
    finished(run)
    if len(run.numbers) > LIMITS.steps:
        raise SymattnError(f"it has {len(run.numbers)} steps; {LIMITS.steps} are the most")
    return json.dumps(_found(run, given, result)).encode()


def _found(run: Recording, given: Mapping[str, Recorded], result: Recorded) -> dict[str, Any]:
    """What was recorded: the equations, the numbers of each, and how what is given lies."""
    counts = [
        f"n_{index} = {count}"
        for index, count in run.counts.items()
        if count not in run.sizes.values()
        and any(re.search(rf"\b{index}\b", line) for line in run.lines)
    ]
    said = {name: array.said for name, array in given.items()}
    letters = {name: one.text.partition("[")[0] for name, one in said.items()}
    axes = {letters[name]: one.axes for name, one in said.items()}
    return {
        "lines": [*counts, *run.lines],
        "numbers": run.numbers,
        "letters": letters,
        "axes": {**axes, [*run.numbers][-1]: result.said.axes},
        "single": run.is_single,
    }


def called(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], file: str
) -> Any:
    """What a function returns. Raises `SymattnError` with the line of the file that is refused.

    That is so, too, where the program goes on: it might not, with plain numbers.
    """
    failed: list[str] = []

    def looked(frame: FrameType, event: str, value: Any) -> None:
        if event == "exception" and issubclass(value[0], Exception):
            failed.append(_refused(value[1], f"line {frame.f_lineno}"))

    try:
        with followed(file, looked) if _catches(file) else nullcontext():
            result = function(*args, **named)
    except Exception as error:
        raise SymattnError(_refused(error, place_in(error, file))) from None
    if failed:
        raise SymattnError(f"{failed[0]}; the program goes on without")
    return result


def _refused(error: BaseException, place: str) -> str:
    """What an operation was refused for, with its place."""
    why = str(error) if isinstance(error, SymattnError) else f"it raises {said_by(error)}"
    return why if why.startswith(("line ", "the program")) else f"{place}: {why}"


def _catches(file: str) -> bool:
    """Whether a program may go on where something in it fails."""
    try:
        return bool(re.search(r"\b(except|suppress)\b", Path(file).read_text("utf-8")))
    except (OSError, ValueError):
        return True


def _numbers(value: Any) -> Any:
    """An array as lists, −∞ and NaN as words of JSON's."""
    if isinstance(value, tuple) and value:
        value = value[0]
    if hasattr(value, "detach"):
        value = value.detach()
    return np.asarray(value, float).tolist()


def file_of(function: Callable[..., Any]) -> str:
    """The file of a function. Raises `SymattnError` for what has none."""
    codes = code_of(function)
    if not codes:
        raise SymattnError("it is no function of Python, whose lines could be followed")
    return codes[0][0].co_filename
