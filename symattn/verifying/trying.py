"""One call of a function on one input, and what became of it.

It is right where every number lies within the tolerance that is proven for its dtype; a number
that is further off than rounding explains, but not by much, is less accurate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.rounded import Rounded
from symattn.claims.computed import DIGITS, Computed
from symattn.derivations import Derivation, Evaluation
from symattn.errors import SymattnError
from symattn.marking.computed import ComputedMarker
from symattn.marking.sampling import marker_of
from symattn.verifying.backward import Differences, Start, gradient_from, gradients_of, start_of
from symattn.verifying.calling import Answer, Call
from symattn.verifying.inputs import FIRST_GRADIENT, Property, numbers_of, sizes_of
from symattn.verifying.subject import Failing, Kind, Subject, Why

#: A number further off than so many tolerances is no matter of rounding; of functions with more
#: entries of a matrix on the way some rows are judged.
_TOLERANCES, _MOST = 100, 2**15

#: A number of a backward pass may be so many times the largest tolerance of its matrix off.
_LOOSE = 16

#: A rounding error that is a larger part of a number explains nothing.
_SMALL = 0.2

#: The properties that show whether a function computes in double precision.
_PRECISE = ("ordinary", "rectangular", "square")


@dataclass(frozen=True)
class Returned:
    """What one call gave: the arrays by letter, as they came and in the dtype that was given."""

    evaluation: Evaluation
    call: Call
    answer: Answer
    dtype: Computed
    own: Mapping[str, Computed]
    arrays: Mapping[str, Computed]


@dataclass(frozen=True)
class Outcome:
    """One call of the function on one input."""

    item: Property
    subject: Subject
    numbers: Mapping[str, Array]
    evaluation: Evaluation
    kind: Kind
    message: str = ""
    why: Why = ""
    marker: ComputedMarker | None = None
    returned: Returned | None = None

    @property
    def passes(self) -> bool:
        """Whether it is right, or need not be possible."""
        return self.kind == "right" or self.is_lacking

    @property
    def is_lacking(self) -> bool:
        """Whether the function cannot do what it need not."""
        if self.why == "forward only":
            return True
        optional = self.item.optional and not (self.takes_batches and self.item.batch > 1)
        return optional and self.kind in ("raises", "shape") and self.why != "batch dropped"

    @property
    def takes_batches(self) -> bool:
        """Whether the function is given batches in everything that is tried."""
        return self.subject.layout.lead > 0

    @property
    def shows_precision(self) -> bool:
        """Whether it shows that the function computes in double precision."""
        return self.kind == "right" and self.item.name in _PRECISE

    @property
    def is_finite(self) -> bool:
        """Whether nothing came out as NaN or ∞ that is not: a masked score is −∞."""
        compared = () if self.marker is None else self.marker.compared.values()
        return all((np.isfinite(one.array.numbers) | one.right).all() for one in compared)


def tried(subject: Subject, item: Property, sizes: Mapping[str, int] | None = None) -> Outcome:
    """The function on the numbers of a property."""
    wanted = dict(sizes or sizes_of(subject.derivation(), subject.spec, item.sizes))
    wanted |= subject.sizes
    if subject.tied and {"d_k", "d_v"} <= set(wanted):
        wanted["d_v"] = wanted["d_k"]
    derivation = subject.derivation(wanted["h"], wanted["g"])
    numbers = numbers_of(item, derivation, wanted, subject.layout.lead, subject.spec)
    return tried_on(subject, item, derivation, numbers)


def tried_on(
    subject: Subject, item: Property, derivation: Derivation, numbers: Mapping[str, Array]
) -> Outcome:
    """The function on these numbers, forward or backward."""
    attempt = _backward if item.backward else _forward
    return attempt(subject, item, derivation, numbers)


def _forward(
    subject: Subject, item: Property, derivation: Derivation, numbers: Mapping[str, Array]
) -> Outcome:
    evaluation = derivation.evaluate(**numbers)
    call = subject.call(evaluation, numbers, item.dtype, item.strided)
    try:
        found = _returned(subject, call, evaluation)
        _repeated(subject, found)
    except Failing as failing:
        said = failing.kind, str(failing), failing.why
        return Outcome(item, subject, numbers, evaluation, *said)
    marker = marker_of(evaluation, found.arrays, _MOST)
    kind, message = judged(marker)
    if kind == "wrong":
        coarser = next((x for x in found.own.values() if x.rounding > found.dtype.rounding), None)
        own = marker_of(evaluation, found.own, _MOST) if coarser else marker
        if coarser and judged(own)[0] != "wrong":
            kind, message = "inaccurate", f"it returns {coarser.dtype} of {found.dtype.dtype}"
        elif item.dtype == "float64" and not subject.is_precise and _is_in_float32(marker):
            kind, message = "inaccurate", "it computes in float32, whatever it is given"
    outcome = Outcome(item, subject, numbers, evaluation, kind, message)
    return replace(outcome, marker=marker, returned=found)


def _returned(subject: Subject, call: Call, evaluation: Evaluation) -> Returned:
    """What a call gives. Raises `Failing` where that is no numbers, or its input is changed."""
    answer = subject.function.answer(call)
    if answer.lack is not None:
        raise Failing("raises", answer.said, answer.lack)
    dtype = _given_in(call, answer)
    _check_kept(_matrices(call), answer, dtype, "it changes")
    own = subject.returned(answer, evaluation)
    arrays = {
        x: Computed(array.numbers.astype(dtype.numbers.dtype), dtype.digits)
        for x, array in own.items()
    }
    own = {x: array if array.rounding > dtype.rounding else arrays[x] for x, array in own.items()}
    return Returned(evaluation, call, answer, dtype, own, arrays)


def _repeated(subject: Subject, first: Returned) -> None:
    """Raise `Failing` where a second call returns other numbers, or none."""
    try:
        answer = subject.function.answer(first.call)
        again = subject.returned(answer, first.evaluation)
    except Failing:
        again = {}
    for letter, array in first.arrays.items():
        other = again.get(letter)
        if other is None or not np.array_equal(
            array.numbers, other.numbers.astype(array.numbers.dtype), equal_nan=True
        ):
            told = "it returns other numbers when it is called again with the same input, as with "
            raise Failing("random", f"{told}dropout that is left on")


def _matrices(call: Call) -> dict[str, object]:
    return {each.matrix: each.value for each in call.given if each.matrix}


def _check_kept(given: Mapping[str, object], answer: Answer, dtype: Computed, changes: str) -> None:
    """Raise `Failing` where a matrix that was given has other numbers afterwards."""
    stored = Rounded(dtype.numbers.dtype, dtype.digits).nearest
    for name, value in given.items():
        after = answer.given.get(name)
        if after is None or not np.array_equal(
            stored(np.asarray(value)), stored(after.numbers), equal_nan=True
        ):
            what = "the gradient" if name == "upstream" else name
            raise Failing("changes", f"{changes} {what}, which it is given")


def _given_in(call: Call, answer: Answer) -> Computed:
    """The dtype of what a function is given: the one asked for, or what JAX has instead of it."""
    floats = [x for x, value in _matrices(call).items() if np.asarray(value).dtype != bool]
    found = answer.given.get(floats[0]) if floats else None
    single = call.library == "jax" and found is not None and found.dtype == "float32"
    name = "float32" if single and call.dtype == "float64" else call.dtype
    digits = DIGITS.get(name)
    return Computed(np.zeros(0, name if digits is None else "float32"), digits)


# ---- the verdict -----------------------------------------------------------------------------


def judged(marker: ComputedMarker) -> tuple[Kind, str]:
    """Whether the numbers are right, and whether rounding has anything to do with it."""
    worst: list[float] = []
    for one in marker.compared.values():
        errors, most = one.errors[~one.right], one.tolerances[~one.right]
        if not (errors <= _TOLERANCES * most).all():
            return "wrong", ""
        if errors.size:
            with np.errstate(invalid="ignore"):
                worst.append(np.fmax.reduce(errors / most, initial=0.0))
    if not worst:
        return "right", ""
    return "inaccurate", f"it is off by {max(worst):.2g} times what rounding explains"


def _loosened(marker: ComputedMarker) -> ComputedMarker:
    """The same, where a number may be as far off as some other of its matrix, and a few times more.

    A backward pass can be computed in several ways, which round other sums.
    """
    loose = {}
    for letter, one in marker.compared.items():
        most = _LOOSE * one.tolerances[np.isfinite(one.tolerances)].max(initial=0)
        true = marker.evaluation.array(letter)
        near = np.abs(one.array.numbers.astype(float) - true) <= most
        loose[letter] = replace(one, right=one.right | near)
    return replace(marker, compared=loose)


def _is_in_float32(marker: ComputedMarker) -> bool:
    """Whether all numbers are ones of float32, within its tolerance."""
    single = {x: array.shortened(np.float32) for x, array in marker.arrays.items()}
    if any(not np.array_equal(single[x].numbers, a.numbers) for x, a in marker.arrays.items()):
        return False
    return judged(ComputedMarker.of(marker.evaluation, single))[0] != "wrong"


def is_coarse(outcomes: list[Outcome], dtype: str) -> bool:
    """Whether all numbers are right within what rounding in a shorter dtype explains."""
    shown = False
    for outcome in outcomes:
        marker = outcome.marker
        if outcome.item.dtype != "float64" or marker is None:
            continue
        arrays = {letter: array.shortened(dtype) for letter, array in marker.arrays.items()}
        coarse = ComputedMarker.of(marker.evaluation, arrays)
        if judged(coarse)[0] != "right" or not marker.shows_rounding_of(arrays):
            return False
        shown = shown or _rounding_is_small(coarse, marker)
    return shown


def _rounding_is_small(coarse: ComputedMarker, marker: ComputedMarker) -> bool:
    """Whether a number is wrong that rounding in a shorter dtype leaves most digits of."""
    for letter, one in marker.compared.items():
        true = np.abs(marker.evaluation.array(letter))
        with np.errstate(invalid="ignore"):
            small = coarse.compared[letter].tolerances < _SMALL * true
        if (small & ~one.right).any():
            return True
    return False


# ---- backward --------------------------------------------------------------------------------


def _backward(
    subject: Subject, item: Property, derivation: Derivation, given: Mapping[str, Array]
) -> Outcome:
    """Its backward pass on these numbers, where its forward pass is right there."""
    inputs = {one.name: given[one.name] for one in derivation.inputs}
    forward = _forward(subject, replace(item, backward=False), derivation, inputs)
    only = replace(forward, item=item, kind="raises", why="forward only", marker=None)
    if forward.kind != "right" or forward.returned is None:
        return only
    start = start_of(subject, forward.returned.answer, forward.evaluation)
    try:
        gradient = gradient_from(derivation, start.step)
    except SymattnError as error:
        return replace(only, message=str(error))
    upstream = given.get(start.name, start.numbers(item, forward.evaluation))
    numbers = {**inputs, start.name: upstream}
    outcome = replace(only, numbers=numbers, evaluation=gradient.evaluate(**numbers), why="")
    call = start.call(forward.returned.call, upstream, subject.given, gradient)
    dtype = forward.returned.dtype
    try:
        answer = _differentiated(subject, call, dtype)
    except Failing as failing:
        return replace(outcome, kind=failing.kind, message=str(failing), why=failing.why)
    arrays = gradients_of(answer, outcome.evaluation, call, subject.layout, dtype)
    marker = _loosened(ComputedMarker.of(outcome.evaluation, arrays))
    loss = _loss_of(subject, derivation, forward.returned, start, upstream)
    differences = Differences(loss, numbers, dtype.dtype)
    kind, message = _judged_backward(item, marker, differences)
    if kind == "wrong":
        message = answer.said or message
    return replace(outcome, kind=kind, message=message, marker=marker)


def _differentiated(subject: Subject, call: Call, dtype: Computed) -> Answer:
    """What a backward pass gives. Raises `Failing` where there is none, or its input is changed."""
    answer = subject.function.answer(call)
    if answer.lack == "forward only":
        raise Failing("raises", answer.said, answer.lack)
    if answer.lack not in (None, "detached"):
        raise Failing("raises", f"its backward pass: {answer.said}")
    if answer.lack is None:
        matrices = {**_matrices(call), "upstream": call.upstream and call.upstream.gradient}
        _check_kept(matrices, answer, dtype, "its backward pass changes")
    return answer


def _judged_backward(
    item: Property, marker: ComputedMarker, differences: Differences
) -> tuple[Kind, str]:
    """Whether gradients are right, by the derivation and by differences of the function itself."""
    kind, message = judged(marker)
    if kind == "wrong":
        double = item.dtype == differences.dtype == "float64"
        if double and _is_in_float32(marker):
            return "inaccurate", "it computes its gradients in float32"
        told = differences.on_worst(marker)
        return ("right", "") if told is None else ("wrong", told)
    if kind == "right" and item == FIRST_GRADIENT:
        message = differences.against(marker)
        kind = "wrong" if message else "right"
    return kind, message


def _loss_of(
    subject: Subject, derivation: Derivation, forward: Returned, start: Start, upstream: Array
) -> Callable[[Mapping[str, Array]], float]:
    """Σ (upstream ∘ the step where it starts), of other numbers, by the function itself."""

    def loss(moved: Mapping[str, Array]) -> float:
        inputs = {name: array for name, array in moved.items() if name != start.name}
        evaluation = derivation.evaluate(**inputs)
        call = subject.call(evaluation, inputs, forward.call.dtype, forward.call.strided)
        arrays = _returned(subject, call, evaluation).arrays
        output = arrays[evaluation[start.step].step.letter].numbers.astype(float)
        return float((output * upstream).sum())

    return loss
