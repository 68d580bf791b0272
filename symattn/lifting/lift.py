"""A function as equations: recorded in a process of its own, and held against its own numbers.

What was recorded is shown only if its derivation, evaluated here, gives the numbers that the
function gives: every step at the sizes of the run, and the result at other sizes and numbers, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symattn.arithmetic.base import Array
from symattn.derivations import Derivation, Evaluation
from symattn.doors import Failure
from symattn.errors import SymattnError, quote
from symattn.isolation import Limits, Run, here
from symattn.language.shapes import USUAL
from symattn.language.spec import Equations
from symattn.language.texts import Wrong
from symattn.lifting.limits import DERIVED, LIMITS
from symattn.lifting.numerals import AGAIN, FEW, LOWEST, TRIAL, sizes_in, sizes_said
from symattn.lifting.recorded import HEADS
from symattn.lifting.recording import (
    Asked,
    Target,
    described,
    ran,
    recorded,
)
from symattn.lifting.said import laid
from symattn.lifting.tapes import near
from symattn.lifting.uniform import Called, varying
from symattn.verifying.loading import Ended, alone
from symattn.verifying.subject import canonical_name

#: The sizes at which a result is held against the function's own, beside those of the run.
_OTHERS = ((3, 4, 2, 5, 6, 7, 8, 9, 10, 11), (6, 5, 4, 3, 2, 7, 9, 8, 3, 4))

#: How many heads and groups of them there are, by names that are indices in a text.
_HEADS: Mapping[str, str] = {"h": "n_h", "g": "n_g"}

#: What the first axis of a batch is called.
_BATCHES = ("b", "batch", "batch_size")

_SIZES = re.compile(r'"([^"]*)"|\'([^\']*)\'')


@dataclass(frozen=True)
class Lifted:
    """What a function computes: the equations, and the sizes at which they were held against it."""

    name: str
    text: str
    sizes: tuple[Mapping[str, int], ...]
    #: The axis of a batch, of which the equations are those of each element.
    batch: str = ""
    #: Why it may do something else at other sizes: a line of its source, or that this is not read.
    varies: str = ""
    #: The function itself, which is called as before where `lift` decorates it.
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)

    def __call__(self, *args: Any, **more: Any) -> Any:
        """What the function gives. Raises `SymattnError` for one of a file, which is run apart."""
        if self.function is None:
            raise SymattnError(f"{self.name}: is a function of a file; import it to call it")
        return self.function(*args, **more)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The derivation, as a notebook shows it."""
        return self.equations.whole._repr_mimebundle_()

    @property
    def note(self) -> str:
        """What the equations were held against."""
        said = "; ".join(map(sizes_said, self.sizes))
        each = f"; for each element of the batch {self.batch}" if self.batch else ""
        is_shown = self.varies.startswith("line ")
        other = f"; at other sizes it may do something else ({self.varies})" if is_shown else ""
        return f"read off {self.name} and held against its own numbers at {said}{each}{other}"

    @property
    def limited(self) -> str:
        """Why nothing is said of all sizes; "" where its source shows that all are the same."""
        return f"It is not said of all sizes: {self.varies}." if self.varies else ""

    @property
    def equations(self) -> Equations:
        """The equations, to be derived from."""
        return Equations(self.text)


def lift(
    target: Target,
    shapes: Mapping[str, Sequence[str]] | None = None,
    *,
    letters: Mapping[str, str] | None = None,
    seconds: float | None = DERIVED.seconds,
    memory: int | None = DERIVED.memory,
) -> Lifted:
    """The equations of a function, or of one of a file, ``"module.py:function"``.

    The function is run; one of a file in a process of its own, within so many `seconds` and MiB of
    `memory`. `shapes` are those of its arguments, ``{"Q": ("n", "d_k")}``, where neither its
    annotations nor their usual meaning says them, `letters` other letters than their names. Raises
    `SymattnError` with the line of the program for what has no formula, and for equations that do
    not give the function's own numbers.

    >>> def attention(Q, K, V):
    ...     scores = Q @ K.T / K.shape[1] ** 0.5
    ...     e = np.exp(scores)
    ...     return e / e.sum(axis=1, keepdims=True) @ V
    >>> print(lift(attention).equations.whole)
    scores  scores = Q Kᵀ / √d_k
    e_1     e_1 = exp(scores)
    output  output = (e_1 / rowsum(e_1)) V
    """
    with running(target, Limits(seconds, memory)) as run:
        return lift_in(run, target, shapes or {}, letters or {})


def lift_in(
    run: Run, target: Target, shapes: Mapping[str, Sequence[str]], letters: Mapping[str, str]
) -> Lifted:
    """The equations of a function, as `lift`, where it runs already."""
    said = {name: (*sizes,) for name, sizes in shapes.items()}
    try:
        found = _lifted(run, target, said, letters)
    except Ended as ended:
        raise SymattnError(ended.failure.line) from None
    return found if isinstance(target, str) else replace(found, function=target)


@contextmanager
def running(
    target: Target,
    limits: Limits,
    modules: tuple[str, ...] = (described.__module__,),
) -> Iterator[Run]:
    """Where a function runs: one of a file in a process of its own.

    Raises `SymattnError` where it cannot.
    """
    apart: AbstractContextManager[Run] = nullcontext(here())
    if isinstance(target, str):
        apart = alone(target, limits, modules, shared=("torch._dynamo", "jax"))
    with apart as run:
        try:
            yield run
        except Ended as ended:
            raise SymattnError(ended.failure.line) from None


def _lifted(
    run: Run, target: Target, said: Mapping[str, tuple[str, ...]], letters: Mapping[str, str]
) -> Lifted:
    name = target.rpartition(":")[2] if isinstance(target, str) else target.__name__
    known = json.loads(asked_of(run, described, target, name))
    shapes = {
        argument: tuple("*".join(_HEADS.get(x, x) for x in size.split("*")) for size in shape)
        for argument, shape in shapes_of(name, known["arguments"], said)
    }
    numbers = {
        argument: int(shape[0])
        for argument, shape in shapes.items()
        if len(shape) == 1 and shape[0].isdigit()
    }
    shapes = {argument: shape for argument, shape in shapes.items() if argument not in numbers}
    letters = dict(letters)
    for parameter, letter, sizes in known["parameters"]:
        shapes[parameter] = tuple(sizes)
        letters.setdefault(parameter, letter)
    batch = _batch(shapes.values())
    listed = sizes_in(shapes.values())
    names = [one for one in listed if not one.isdigit() and one != batch]
    if len(names) > len(TRIAL):
        raise SymattnError(f"{name}: {len(names)} sizes are too many; {len(TRIAL)} are the most")
    taken = [int(one) for one in listed if one.isdigit()]
    first, other, few = (
        Asked(target, shapes, _unlike(names, trial, taken), letters, numbers=numbers, batch=batch)
        for trial in (TRIAL, AGAIN, FEW)
    )
    refused: list[Exception] = []
    for library in known["libraries"]:
        for asked in _runs(first, other, few, said, refused):
            try:
                found = _held(run, name, replace(asked, library=library))
                why = json.loads(asked_of(run, varying, Called(target, (*shapes,)), name))
                return replace(found, varies=why)
            except (Ended, SymattnError) as error:
                refused.append(error)
        if library == "numpy" and not _raises(refused[-1]):
            break  # it does something with them, whatever else is imported beside it
    raise next((one for one in refused if not _raises(one)), refused[0])


def _raises(refused: Exception) -> bool:
    """Whether a function itself has raised something, as it does of arrays that are not its own."""
    return "it raises" in str(refused)


def _batch(shapes: Iterable[Sequence[str]]) -> str:
    """The first axis of a batch: by its name before a matrix, or whatever stands before heads."""
    firsts = (
        shape[0]
        for shape in shapes
        if (len(shape) > 2 and shape[0] in _BATCHES)
        or (len(shape) > 3 and shape[0] not in HEADS and not shape[0].isdigit())
    )
    return next(firsts, "")


def _runs(
    first: Asked,
    other: Asked,
    few: Asked,
    said: Mapping[str, tuple[str, ...]],
    refused: Sequence[Exception],
) -> Iterator[Asked]:
    """At which sizes a program is run until it has a formula; at few where it did too much."""
    yield from (first, other)
    is_much = any("more than" in str(error) for error in refused)
    yield from [few] * is_much
    for one in (first, *[few] * is_much):
        yield from _of_one_text(one, said)


def _of_one_text(asked: Asked, said: Mapping[str, tuple[str, ...]]) -> Iterator[Asked]:
    """With as many keys as queries, which some functions need, where nobody said how many."""
    if {"n", "m"} <= {*asked.sizes} and "m" not in {size for one in said.values() for size in one}:
        sizes = {name: size for name, size in asked.sizes.items() if name != "m"}
        yield replace(asked, shapes=square_of(asked.shapes), sizes=sizes)


def square_of(shapes: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The shapes with as many keys as queries."""
    return {
        name: tuple("*".join("n" if x == "m" else x for x in size.split("*")) for size in shape)
        for name, shape in shapes.items()
    }


def _held(run: Run, name: str, first: Asked) -> Lifted:
    """What a function computes of a library's arrays, held against its own numbers.

    Scores of keys that a row does not have are −∞ first, for a softmax, and 0 where that is wrong.
    """
    found = json.loads(asked_of(run, recorded, first, name))
    text = "\n".join(found["lines"])
    try:
        return _held_as(run, name, first, found, text)
    except SymattnError:
        if first.hides and "-inf" in text:
            with suppress(Ended, SymattnError):
                return _held(run, name, replace(first, hides=False))
        raise


def _held_as(run: Run, name: str, first: Asked, found: Mapping[str, Any], text: str) -> Lifted:
    """These equations, if they give the function's own numbers. Raises `SymattnError`."""
    try:
        made = Equations(text).whole
    except Wrong as error:  # whose place is one in these equations, which nobody has written
        raise SymattnError(f"{name}: what it does is no equation: {error.why}") from None
    others = (dict(zip(first.sizes, one, strict=False)) for one in _OTHERS)
    batches = ({first.batch: count} if first.batch else {} for count in (2, 3))
    runs = [first] + [
        replace(first, sizes={**sizes, **batch}, seed=1)
        for sizes, batch in zip(others, batches, strict=True)
    ]
    for asked in runs:
        own = np.asarray(json.loads(asked_of(run, ran, asked, name)), float)
        for element in range(asked.size(asked.batch) if asked.batch else 1):
            _hold_element(name, made, found, asked, own, element)
    return Lifted(name, text, tuple(one.sizes for one in runs), first.batch)


def _hold_element(
    name: str, made: Derivation, found: Mapping[str, Any], asked: Asked, own: Array, element: int
) -> None:
    """Hold what was recorded against what a function returns, or an element of that of a batch."""
    asked_for = {one.letter for one in made.inputs}  # a program need not use all that it is given
    given = {}
    for argument, numbers in asked.drawn().items():
        letter = found["letters"][argument]
        of_batch = asked.batch and asked.shapes[argument][0] == asked.batch
        part = numbers[element : element + 1] if of_batch else numbers
        if letter in asked_for:
            axes = found["axes"][letter]
            given[letter] = laid(part, axes) if axes else part
    try:
        evaluation = made.evaluate(**given)
    except SymattnError as error:
        raise SymattnError(f"{name}: at {sizes_said(asked.sizes)}: {error}") from None
    last = made.steps[-1].letter
    if asked.batch:
        own = own[element : element + 1]
    try:
        steps = {last: laid(own, found["axes"][last])}
    except ValueError:
        raise _of_another_shape(name, asked) from None
    if asked.seed == 0:  # the run that was recorded
        steps |= {letter: np.asarray(one, float) for letter, one in found["numbers"].items()}
    for letter, numbers in steps.items():
        _hold(name, evaluation, letter, numbers, asked, LIMITS.shown * found["single"])


def _unlike(names: Sequence[str], trial: Sequence[int], taken: Sequence[int]) -> dict[str, int]:
    """Sizes by name, first those that no number which is said may be taken for."""

    def is_like(size: int) -> bool:
        return any(number % size == 0 or abs(number - size) == 1 for number in taken)

    return dict(zip(names, sorted(trial, key=is_like), strict=False))


def asked_of(run: Run, function: Callable[[Any], bytes], argument: object, name: str) -> bytes:
    """What a function of this code gives where the program is run. Raises `Ended` for nothing."""
    found = run(function, argument, name)
    if isinstance(found, Failure):
        raise Ended(found)
    return found


def shapes_of(
    name: str, listed: Sequence[Sequence[Any]], said: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The shape of each argument that has to be given: as is said, annotated, or usual."""
    for unknown in {*said} - {one for one, *_ in listed}:
        raise SymattnError(f"--shape {unknown}: {name} has no argument {quote(unknown)}")
    for argument, annotation, required, kind in listed:
        if argument in said:
            yield argument, said[argument]
        elif kind.startswith("VAR_") or not required:
            continue
        elif sizes := _annotated(annotation):
            yield argument, sizes
        elif (usual := USUAL.get(canonical_name(argument))) is not None:
            yield argument, usual
        else:
            raise SymattnError(
                f"{name}: the shape of {quote(argument)} is not known; say it, as in --shape "
                f"{argument}=n,d, or {argument}=2 for a whole number"
            )


def _annotated(text: str) -> tuple[str, ...]:
    """The sizes of ``Float[Array, "n d_k"]``, or of ``n d_k``; () for none."""
    found = _SIZES.search(text)
    inner = (found[1] or found[2]) if found else text
    parts = inner.replace(",", " ").split()
    if len(parts) > 1 and all(re.fullmatch(r"[a-z]\w*|\d+", one) for one in parts):
        return tuple(parts)
    return ()


def _hold(
    name: str, evaluation: Evaluation, letter: str, numbers: Any, asked: Asked, rounding: float
) -> None:
    """Hold a step against the function's own numbers. Raises `SymattnError` where they differ."""
    own, here = numbers, np.asarray(evaluation.array(letter), float)
    own = own.reshape(here.shape) if own.squeeze().shape == here.squeeze().shape else own
    if own.shape != here.shape:
        raise _of_another_shape(name, asked)
    own = np.where((own <= LOWEST) & np.isneginf(here), -np.inf, own)
    if not near(own, here, rounding).all():
        why = "a number in it may depend on the sizes in a way that has no formula here"
        why += ", or on other elements of the batch" if asked.batch else ""
        if near(own, here, float(np.finfo(np.float32).eps)).all():
            why = "they are near, as where it computes in float32; let it compute in float64"
        raise SymattnError(
            f"{name}: at {sizes_said(asked.sizes)} its own numbers are others than those of what "
            f"was recorded; {why}"
        )


def _of_another_shape(name: str, asked: Asked) -> SymattnError:
    return SymattnError(
        f"{name}: at {sizes_said(asked.sizes)} it returns another shape than what was recorded"
    )
