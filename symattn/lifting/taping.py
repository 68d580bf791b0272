"""A function run once on arrays whose entries record: its tape, as plain data for another process.

Of what it is given each number has a name, the place at which it stands in all that is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symattn.errors import SymattnError
from symattn.lifting.composed import of_special
from symattn.lifting.entries import (
    BUILTINS,
    Condition,
    Entries,
    Tape,
    Taped,
    entries,
    of_entries,
    seen_by,
)
from symattn.lifting.graphs import GRAPHS
from symattn.lifting.limits import LIMITS
from symattn.lifting.recorded import quiet
from symattn.lifting.recording import Target, called, file_of, function_of
from symattn.verifying.calling import Call, Given, converted, parts_of, whole


@dataclass(frozen=True)
class Taping:
    """A function to run, and the call in which every number of a matrix is its name."""

    target: Target
    call: Call
    #: The matrices whose entries are true or false.
    booleans: tuple[str, ...] = ()
    #: How many operations there may be.
    most: int = LIMITS.operations


def taped(asked: Taping) -> bytes:
    """The tape of a call: its operations, and what is returned, as places on it or numbers."""
    function = function_of(asked.target)
    tape = Tape(file_of(function), asked.most)
    made = [_made(each, tape, asked) for each in asked.call.given]
    pairs = list(zip(asked.call.given, made, strict=True))
    args = [value for each, value in pairs if each.by_position]
    named = {each.name: value for each, value in pairs if not each.by_position}
    run = GRAPHS.get(asked.call.library, _by_numpy)
    with quiet():
        result = called(run, (whole(function), args, named, tape.file), {}, tape.file)
    if tape.refused:  # and the program went on
        raise SymattnError(tape.refused)
    form, listed = parts_of(result, None)
    parts = [(name, *_flat(value)) for name, value in listed]
    found = {"operations": tape.operations, "form": form, "parts": parts, "single": tape.is_single}
    return json.dumps(found).encode()


def _by_numpy(
    function: Callable[..., Any], args: list[Any], named: Mapping[str, Any], file: str
) -> Any:
    """What a function of NumPy or plain Python returns."""
    with seen_by(function, {**of_entries(), **of_special()}, BUILTINS):
        return function(*args, **named)


def _made(each: Given, tape: Tape, asked: Taping) -> Any:
    """An argument: a matrix of entries, or what is given otherwise."""
    library = asked.call.library
    if not isinstance(each.value, np.ndarray):
        return each.value
    if not each.matrix:
        return converted(each.value, library, asked.call.dtype)
    names = np.asarray(each.value)
    flat = np.empty(names.size, object)
    if each.matrix in asked.booleans:
        flat[:] = [Condition("true", tape.entry("truth", str(int(x))), 1.0) for x in names.flat]
    else:
        flat[:] = [tape.entry("letter", str(int(name))) for name in names.flat]
    made = flat.reshape(names.shape)
    return made.tolist() if library == "lists" else entries(made)


def _flat(value: Any) -> tuple[list[int], list[Any]]:
    array = np.asarray(value.view(np.ndarray) if isinstance(value, Entries) else value, object)
    if array.size > LIMITS.returned:
        raise SymattnError(f"it returns {array.size:,} numbers; {LIMITS.returned:,} are the most")
    said = [one.place if isinstance(one, Taped) else float(one) for one in array.flat]
    return [*array.shape], said
