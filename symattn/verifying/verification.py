"""A function verified: every property tried in turn, the first that fails made small, and why.

*Agrees* means: on every input that was tried, each number lies within the tolerance that is proven
for its dtype. It is no proof about other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import BITS
from symattn.arithmetic.rounded import Rounded
from symattn.claims.computed import DIGITS, Computed
from symattn.derivations import Derivation, Evaluation
from symattn.errors import ShapeError, SymattnError, quote
from symattn.evaluate.check import distance
from symattn.marking.computed import ComputedMarker
from symattn.mistakes import OF_PROGRAMS
from symattn.mistakes.backward import OF_BACKWARD
from symattn.mistakes.computed import (
    UNFINISHED,
    Run,
    explained,
    explainer_of,
    overflowing,
)
from symattn.mistakes.explanations import Explainer, Explanation
from symattn.notation.letters import GRADIENT, prefixed
from symattn.reports.check import marking_of
from symattn.verifying.backward import (
    DIFFERENTIATING,
    Start,
    difference,
    doubt,
    gradients_of,
    start_of,
)
from symattn.verifying.calling import LIBRARIES, Answer, Call, Function, Here, Lack
from symattn.verifying.inputs import (
    FIRST_GRADIENT,
    PROBES,
    PROPERTIES,
    Property,
    fits,
    named,
    numbers_of,
    simpler,
    sizes_of,
    small,
    smaller,
)
from symattn.verifying.own import Meant
from symattn.verifying.report import Kind, Verification
from symattn.verifying.subject import BatchDropped, Layout, Subject, Unfinished, subject_of

#: A number further off than so many tolerances is no matter of rounding.
_TOLERANCES = 100

#: A number of a backward pass may be so many times the largest tolerance of its matrix off.
_LOOSE = 16

#: A rounding error that is a larger part of a number explains nothing.
_SMALL = 0.2

#: How many sizes, draws of numbers and simpler numbers are tried to make a failure small.
_MOST_SIZES, _DRAWS, _MOST_SIMPLER = 40, 4, 160

#: Inputs of more numbers are not made simpler: it would take long.
_MOST_SIMPLIFIED = 200


@dataclass(frozen=True)
class Outcome:
    """One call of the function on one input."""

    item: Property
    kind: Kind
    message: str = ""
    numbers: Mapping[str, Array] | None = None
    evaluation: Evaluation | None = None
    marker: ComputedMarker | None = None
    #: What it returned that has another shape, and why it returned no numbers.
    error: ShapeError | None = None
    lack: Lack | None = None
    #: Whether it is given batches in everything that is tried.
    takes_batches: bool = False

    @property
    def passes(self) -> bool:
        """Whether it is right, or need not be possible."""
        return self.kind == "right" or self.is_lacking

    @property
    def is_lacking(self) -> bool:
        """Whether the function cannot do what it need not."""
        if self.lack == "forward only":
            return True
        optional = self.item.optional and not (self.takes_batches and self.item.batch > 1)
        dropped = isinstance(self.error, BatchDropped)
        return optional and self.kind in ("raises", "shape") and not dropped


def verify(
    function: Callable[..., Any] | Function,
    spec: Meant,
    *,
    mapped: Mapping[str, str] | None = None,
    library: str = "",
    returns: Sequence[str] = (),
    skip: Sequence[str] = (),
    name: str = "",
    attention: str = "",
) -> Verification:
    """A function held against the derivation of an attention, on every row of `PROPERTIES`.

    Arguments are matched by name, or as `mapped` says (``{"Q": "left"}``). Raises `SymattnError`
    for a function that cannot be called with the matrices of this attention.
    """
    if library and library not in LIBRARIES:
        raise SymattnError(f"library {library[:60]!r}: choose one of {', '.join(LIBRARIES)}")
    left_out = [named(one) for one in skip]
    if not callable(function):
        raise SymattnError(f"{quote(function)} is no function")
    is_asked = issubclass(type(function), Function)  # isinstance would ask a stranger's object
    asked = cast("Function", function) if is_asked else Here(function, name)
    signature = asked.signature()
    subject = subject_of(asked, spec, mapped, returns, signature.arguments)
    found = _Tried(subject, attention or "this attention")
    found.choose((library,) if library else signature.libraries)
    return found.verification([item for item in PROPERTIES if item not in left_out])


@dataclass(frozen=True)
class _Gradients:
    """The gradients that came of one property, marked; `numbers` are given, and where it starts."""

    item: Property
    derivation: Derivation
    numbers: Mapping[str, Array]
    start: Start
    marker: ComputedMarker
    dtype: Computed


class _Tried:
    """A function with the ways in which it was called, and what came of it."""

    def __init__(self, subject: Subject, attention: str) -> None:
        self.subject, self.attention = subject, attention
        self.layout = Layout("numpy")
        #: Whether values have to be as wide as keys, and whether double precision was seen.
        self.tied, self.is_precise = False, False
        self._evaluations: dict[object, Evaluation] = {}
        self._gradients: dict[tuple[int, str], Derivation] = {}
        self._explainers: dict[object, Explainer] = {}

    # ---- how it is called ----------------------------------------------------------------------

    def choose(self, libraries: Sequence[str]) -> None:
        """Choose the layout under which ordinary inputs agree, or the first that can be called."""
        refused: list[tuple[Layout, Outcome]] = []
        ordinary = named("ordinary")
        for item, self.tied in ((ordinary, False), (ordinary, True), (named("square"), False)):
            first: Layout | None = None
            coarse: Layout | None = None
            for layout in self.subject.layouts(libraries):
                if first is not None and not _may_follow(layout, first):
                    continue  # it takes arrays of another library or of other shapes
                self.layout = layout
                outcome = self.call(item)
                if outcome.lack == "missing":
                    continue
                if outcome.kind == "right":
                    return
                if outcome.kind in ("raises", "shape"):
                    refused.append((layout, outcome))
                    continue
                if coarse is None and self._is_coarse([outcome], "float32"):
                    coarse = layout
                first = first or layout
            if first is not None:
                self.layout = coarse or first
                return
        self.tied = False
        for layout, outcome in refused:
            if outcome.kind == "shape":
                self.layout = layout
                return
        why = f"none of {', '.join(libraries)} is installed"
        if refused:
            why = refused[0][1].message
        raise SymattnError(f"{self.subject.name}: cannot be called: {why}")

    def verification(self, items: Sequence[Property]) -> Verification:
        """Every property in turn, up to the first that fails."""
        outcomes: list[Outcome] = []
        tried: list[tuple[str, str]] = []
        derivation = self.subject.derivation(4, 2)
        for item in items:
            if not fits(item, self.subject.spec, derivation) or not self._has(item):
                continue
            if item.dtype != "float64" and any(o.kind == "wrong" for o in outcomes):
                continue  # what is wrong in full precision is so in others
            if item.backward and not self._may_be_differentiated(outcomes):
                continue
            outcome = self.call(item)
            outcomes.append(outcome)
            if outcome.lack != "forward only":
                word = "lacking" if outcome.is_lacking else outcome.kind
                tried.append((item.name, _WORDS[word]))
        told = self.layout.told(self.subject.has_heads, self.subject.has_weights)
        lacking = tuple(o.item.name for o in outcomes if o.is_lacking and o.lack != "forward only")
        if self.tied:
            lacking = (*lacking, _OTHER_WIDTH)
            tried.append((_OTHER_WIDTH, _WORDS["lacking"]))
        only = "" if any(not o.passes for o in outcomes) else self._forward_only(outcomes)
        common = (self.subject.name, self.attention, told, tuple(tried), lacking, only)
        failed, reasons = self._told(outcomes)
        if failed is None:
            return Verification(*common)
        shrunk = self.shrunk(failed)
        marking = None
        if shrunk.marker is not None and shrunk.evaluation is not None:
            marking = replace(
                marking_of("", shrunk.evaluation, shrunk.marker), notes=(), explanations=reasons
            )
        item = shrunk.item
        return Verification(
            *common,
            item.name,
            item.about,
            shrunk.kind,
            shrunk.message,
            shrunk.numbers,
            marking,
            reasons,
        )

    def _may_be_differentiated(self, outcomes: Sequence[Outcome]) -> bool:
        """Whether its forward pass is right, and it is not known that it has no backward pass."""
        if self.layout.library not in DIFFERENTIATING:
            return False
        first = next((o for o in outcomes if o.item.backward), None)
        return all(o.passes for o in outcomes if not o.item.backward) and (
            first is None or first.lack != "forward only"
        )

    def _forward_only(self, outcomes: Sequence[Outcome]) -> str:
        """Why only the forward pass was tried; "" where the backward pass was tried too."""
        library = {"numpy": "NumPy", "lists": "Python"}.get(self.layout.library)
        if library is not None:
            return f"functions of {library} have no gradients of their own"
        backward = [o for o in outcomes if o.item.backward]
        if not backward:
            return "its gradients were left out"
        lacking = backward[0].lack == "forward only"
        return (backward[0].message or "its gradients are not known here") if lacking else ""

    def _told(self, outcomes: Sequence[Outcome]) -> tuple[Outcome | None, tuple[Explanation, ...]]:
        """The failure that is told, and what explains it.

        It is the first one, but where that shows only that shapes do not fit, or that a function
        is not repeatable, the first that tells more.
        """
        failures = [o for o in outcomes if not o.passes]
        random = [o for o in failures if o.kind == "random"]
        wrong = [o for o in failures if o.kind == "wrong"]
        first = next(
            iter(random or [o for o in failures if o.kind != "inaccurate"] or failures), None
        )
        if first is None or first.kind in ("random", "changes", "inaccurate"):
            return first, ()
        if wrong:
            telling = [
                o
                for o in outcomes
                if o.item.backward == wrong[0].item.backward
                and (o is wrong[0] or not o.item.optional or o.takes_batches)
            ]
            if not wrong[0].item.backward and all(
                o.item.empty_row or o.item.drawn != "usual" for o in wrong
            ):
                telling += [self.call(item) for item in PROBES]
            reasons = explained(list(self._runs(telling)))
            if not reasons:
                reasons = self._reasons_where_finite(telling)
            full = [o for o in telling if o.item.dtype == wrong[0].item.dtype == "float64"]
            shorter = ("float32", "float16") if full else ()
            coarse = next((dtype for dtype in shorter if self._is_coarse(full, dtype)), "")
            if coarse and not reasons:
                words = f"it is right within what rounding in {coarse} explains, and no more"
                return replace(wrong[0], kind="inaccurate", message=words), ()
            if reasons or first.kind == "wrong":
                return wrong[0], reasons
        if isinstance(first.error, Unfinished):
            return first, (UNFINISHED,)
        if first.lack == "arithmetic" and first.evaluation is not None:
            return first, overflowing(self._explainer(first.evaluation), first.evaluation)
        return first, ()

    def _reasons_where_finite(self, outcomes: Sequence[Outcome]) -> tuple[Explanation, ...]:
        """What explains all numbers that came out, where others are NaN or ∞ for another reason."""
        lost = [o for o in outcomes if o.marker is not None and not _is_finite(o.marker)]
        if not lost:
            return ()
        empty = any(o.item.empty_row for o in lost)
        if empty and len({o.item.empty_row for o in lost}) > 1:
            return ()
        if not empty and not all(o.item.is_large for o in lost):
            return ()  # no e^z is out of range there
        rest = [o for o in outcomes if o not in lost]
        return explained(list(self._runs(rest)), "nothing-to-attend-to" if empty else "overflows")

    def _is_coarse(self, outcomes: Sequence[Outcome], dtype: str) -> bool:
        """Whether all numbers are right within what rounding in a shorter dtype explains."""
        shown = False
        for outcome in outcomes:
            if outcome.item.dtype != "float64" or outcome.marker is None:
                continue
            marker = outcome.marker
            arrays = {letter: array.shortened(dtype) for letter, array in marker.arrays.items()}
            coarse = ComputedMarker(marker.evaluation, arrays)
            if self._judged(coarse)[0] != "right" or not marker.shows_rounding_of(arrays):
                return False
            shown = shown or _rounding_is_small(coarse, marker)
        return shown

    def _has(self, item: Property) -> bool:
        """Whether the library has what a property asks for."""
        if item.name == "many tokens" and self.layout.library == "jax":
            return False  # which compiles every shape, and each step of a loop, anew
        if item.name == "scores below float32" and not self.is_precise:
            return False
        if item.dtype == "bfloat16":
            return self.layout.library in ("torch", "jax")
        if self.layout.library == "lists":
            return item.dtype == "float64" and not item.strided
        return not (item.strided and self.layout.library == "jax")

    # ---- one call ------------------------------------------------------------------------------

    def call(self, item: Property, sizes: Mapping[str, int] | None = None) -> Outcome:
        """The function on the numbers of a property."""
        derivation = self.subject.derivation(4, 2)
        wanted = dict(sizes or sizes_of(derivation, self.subject.spec, item.sizes))
        if self.tied and {"d_k", "d_v"} <= set(wanted):
            wanted["d_v"] = wanted["d_k"]
        derivation = self.subject.derivation(wanted["h"], wanted["g"])
        numbers = numbers_of(item, derivation, wanted, self.layout.lead, self.subject.spec)
        return self.on(item, derivation, numbers)

    def on(self, item: Property, derivation: Derivation, numbers: Mapping[str, Array]) -> Outcome:
        """The function on these numbers."""
        if item.backward:
            return self._backward(item, derivation, numbers)
        evaluation = self._evaluated(derivation, numbers)
        call = self.subject.call(evaluation, numbers, self.layout, item.dtype, item.strided)
        outcome = partial(
            Outcome,
            item,
            numbers=numbers,
            evaluation=evaluation,
            takes_batches=self.layout.lead > 0,
        )
        answer = self.subject.function(call)
        if answer.lack is not None:
            return outcome("raises", answer.said, lack=answer.lack)
        dtype = _given_in(call, answer)
        for each in call.given:
            if each.matrix and not _is_kept(each.value, answer.given.get(each.matrix), dtype):
                return outcome("changes", f"it changes {each.matrix}, which it is given")
        try:
            arrays = self.subject.returned(answer, evaluation, self.layout, dtype)
        except ShapeError as error:
            return outcome("shape", str(error), error=error)
        except SymattnError as error:
            return outcome("raises", str(error))
        again = self._again(call, evaluation, dtype)
        if again is None or any(not _same(arrays[x], again[x]) for x in arrays):
            return outcome(
                "random",
                "it returns other numbers when it is called again with the same input, as with "
                "dropout that is left on",
            )
        marker = ComputedMarker(evaluation, arrays)
        kind, message = self._judged(marker)
        if kind == "wrong":
            own = self.subject.returned(answer, evaluation, self.layout, dtype, coarse=True)
            coarser = next((x.dtype for x in own.values() if x.rounding > dtype.rounding), "")
            if coarser and self._judged(ComputedMarker(evaluation, own))[0] != "wrong":
                kind, message = "inaccurate", f"it returns {coarser} of {dtype.dtype}"
            elif (
                item.dtype == "float64"
                and not self.is_precise
                and self._is_in_float32(evaluation, arrays)
            ):
                kind, message = "inaccurate", "it computes in float32, whatever it is given"
        if kind == "right" and item.name in ("ordinary", "rectangular", "square"):
            self.is_precise = True
        return outcome(kind, message, marker=marker)

    def _backward(
        self, item: Property, derivation: Derivation, given: Mapping[str, Array]
    ) -> Outcome:
        """Its backward pass on these numbers, where its forward pass is right there."""
        numbers = {name: given[name] for name in (one.name for one in derivation.inputs)}
        forward = self.on(replace(item, backward=False), derivation, numbers)
        only = replace(forward, item=item, kind="raises", lack="forward only", marker=None)
        if forward.kind != "right" or forward.evaluation is None:
            return only
        call = self.subject.call(forward.evaluation, numbers, self.layout, item.dtype, item.strided)
        answer = self.subject.function(call)
        dtype = _given_in(call, answer)
        start = start_of(self.subject, answer, forward.evaluation, self.layout)
        try:
            gradient = self._gradient(derivation, start.step)
        except SymattnError as error:
            return replace(only, message=str(error))
        upstream = given.get(start.name, start.numbers(item, forward.evaluation))
        numbers[start.name] = upstream
        wrt = [name for name in self.subject.given if prefixed(GRADIENT, name) in gradient]
        call = start.call(call, upstream, tuple(wrt))
        answer = self.subject.function(call)
        evaluation = self._evaluated(gradient, numbers)
        outcome = partial(replace, forward, item=item, numbers=numbers, evaluation=evaluation)
        outcome = partial(outcome, marker=None)
        if answer.lack == "forward only":
            return replace(only, message=answer.said)
        if answer.lack not in (None, "detached"):
            return outcome(kind="raises", message=f"its backward pass: {answer.said}")
        if answer.lack is None:
            matrices = {each.matrix: each.value for each in call.given if each.matrix}
            begun = call.upstream and call.upstream.gradient
            for name, value in {**matrices, "upstream": begun}.items():
                if not _is_kept(value, answer.given.get(name), dtype):
                    what = "the gradient" if name == "upstream" else name
                    message = f"its backward pass changes {what}, which it is given"
                    return outcome(kind="changes", message=message)
        else:
            answer = replace(answer, gradients=dict.fromkeys(wrt))
        try:
            arrays = gradients_of(answer, evaluation, call, self.layout, dtype)
        except ShapeError as error:
            return outcome(kind="shape", message=str(error))
        marker = ComputedMarker(evaluation, arrays)
        kind, message = self._judged(marker, loose=True)
        single = item.dtype == dtype.dtype == "float64"
        if kind == "wrong" and single and self._is_in_float32(evaluation, arrays):
            kind, message = "inaccurate", "it computes its gradients in float32"
        gradients = _Gradients(item, derivation, numbers, start, marker, dtype)
        if kind == "wrong":
            told = self._by_difference(gradients)
            kind, message = ("right", "") if told is None else ("wrong", answer.said or told)
        elif kind == "right" and item == FIRST_GRADIENT:
            message = self._along_signs(gradients)
            kind = "wrong" if message else "right"
        return outcome(kind=kind, message=message, marker=marker)

    def _gradient(self, derivation: Derivation, step: str) -> Derivation:
        """The derivation with its gradients, made once."""
        key = id(derivation), step
        if key not in self._gradients:
            self._gradients[key] = derivation.gradient(of=step)
        return self._gradients[key]

    def _by_difference(self, tried: _Gradients) -> str | None:
        """What differences of the function itself say of its worst number.

        None where they say that it is the derivative: where there is a kink, say.
        """
        marker, worst = tried.marker, list[tuple[float, str, tuple[int, ...]]]()
        for letter, array in marker.arrays.items():
            true = marker.evaluation.array(letter)
            off = np.where(marker.right[letter], 0, np.abs(array.numbers - true))
            off = np.nan_to_num(off, nan=np.inf)
            at = np.unravel_index(int(off.argmax()), off.shape)
            worst.append((float(off[at]), letter, tuple(map(int, at))))
        _, letter, place = max(worst)
        own = float(marker.arrays[letter].numbers[place])
        ours = float(marker.evaluation.array(letter)[place])
        name = next(x for x in self.subject.given if self._is_of(x, letter, marker.evaluation))
        direction = np.zeros(tried.numbers[name].shape)
        direction[place[len(place) - direction.ndim :]] = 1
        quotient = self._quotient(tried, {name: direction})
        if quotient is None:
            return ""
        off_own, off_ours = abs(quotient - own), abs(quotient - ours)
        if off_own < off_ours / 2 and off_ours > doubt(tried.dtype.dtype, quotient):
            return None
        if not off_ours < off_own / 2:
            return ""
        where = f"{marker.evaluation[letter].name}[{','.join(str(k + 1) for k in place)}]"
        return f"{where} is {own:.4g}, where differences of the function itself give {quotient:.4g}"

    def _along_signs(self, tried: _Gradients) -> str:
        """What differences of the function itself, along ±1 everywhere, say against its gradient.

        "" where they agree.
        """
        marker, numbers = tried.marker, tried.numbers
        for letter, array in marker.arrays.items():
            name = next(x for x in self.subject.given if self._is_of(x, letter, marker.evaluation))
            shape = numbers[name].shape
            signs = np.where(np.arange(numbers[name].size).reshape(shape) % 3, 1.0, -1.0)
            quotient = self._quotient(tried, {name: signs})
            terms = array.numbers.astype(float) * signs
            own, size = float(terms.sum()), float(np.abs(terms).sum())
            if quotient is not None and abs(quotient - own) > doubt(tried.dtype.dtype, size):
                return (
                    f"along a change of {name} its gradient gives {own:.4g}, differences of the "
                    f"function itself give {quotient:.4g}"
                )
        return ""

    def _is_of(self, name: str, letter: str, evaluation: Evaluation) -> bool:
        """Whether this is the letter of the gradient by a matrix."""
        gradient = prefixed(GRADIENT, name)
        return gradient in evaluation and evaluation[gradient].step.letter == letter

    def _quotient(self, tried: _Gradients, direction: Mapping[str, Array]) -> float | None:
        """A quotient of differences of the loss; None where the function has no such numbers."""
        item, start, dtype = tried.item, tried.start, tried.dtype

        def loss(moved: Mapping[str, Array]) -> float:
            inputs = {x: moved[x] for x in moved if x != start.name}
            evaluation = self._evaluated(tried.derivation, inputs)
            call = self.subject.call(evaluation, inputs, self.layout, item.dtype, item.strided)
            answer = self.subject.function(call)
            arrays = self.subject.returned(answer, evaluation, self.layout, dtype)
            output = arrays[evaluation[start.step].step.letter].numbers.astype(float)
            return float((output * tried.numbers[start.name]).sum())

        try:
            quotient = difference(loss, tried.numbers, direction, dtype.dtype)
        except SymattnError:
            return None
        return quotient if np.isfinite(quotient) else None

    def _again(
        self, call: Call, evaluation: Evaluation, dtype: Computed
    ) -> dict[str, Computed] | None:
        """What a second call returns; None where it has nothing that the first one had."""
        answer = self.subject.function(call)
        try:
            return self.subject.returned(answer, evaluation, self.layout, dtype)
        except SymattnError:
            return None

    def _is_in_float32(self, evaluation: Evaluation, arrays: Mapping[str, Computed]) -> bool:
        """Whether all numbers are ones of float32, within its tolerance."""
        single = {x: array.shortened(np.float32) for x, array in arrays.items()}
        if any(not np.array_equal(single[x].numbers, a.numbers) for x, a in arrays.items()):
            return False
        return self._judged(ComputedMarker(evaluation, single))[0] != "wrong"

    def _judged(self, marker: ComputedMarker, loose: bool = False) -> tuple[Kind, str]:
        """Whether the numbers are right, and whether rounding has anything to do with it.

        `loose`: a number may be as far off as some other one of its matrix, and a few times more.
        A backward pass can be computed in several ways, which round other sums.
        """
        worst, kind, message = 0.0, "right", ""
        _ = marker.marks
        for letter, array in marker.arrays.items():
            if marker.right[letter].all():
                continue
            allowed: Any = marker.allowed(letter, array)
            true: Any = marker.evaluation.balls(letter, BITS[1])
            if loose:
                bounds = marker.tolerances[letter]
                most = _LOOSE * bounds[np.isfinite(bounds)].max(initial=0)
                near = np.abs(array.numbers.astype(float) - marker.evaluation.array(letter)) <= most
                marker.right[letter] |= near
            for place in map(tuple, np.argwhere(~marker.right[letter])):
                value: Any = array.numbers[place]
                error, tolerance, _ = distance(value, true[place], allowed[place])
                if not error <= _TOLERANCES * tolerance:
                    return "wrong", ""
                worst = max(worst, error / tolerance)
                kind = "inaccurate"
        if kind == "inaccurate":
            message = f"it is off by {worst:.2g} times what rounding explains"
            return "inaccurate", message
        return "right", ""

    def _evaluated(self, derivation: Derivation, numbers: Mapping[str, Array]) -> Evaluation:
        """The derivation with these numbers; what shapes share is made once."""
        key = (id(derivation), *((name, x.shape) for name, x in numbers.items()))
        if key not in self._evaluations:
            self._evaluations[key] = derivation.evaluate(**numbers)
        return self._evaluations[key].again(**numbers)

    # ---- why -----------------------------------------------------------------------------------

    def _runs(self, outcomes: Sequence[Outcome]) -> Iterator[Run]:
        """What was computed in full precision, for misconceptions to be tried on."""
        for outcome in outcomes:
            marker = outcome.marker
            if outcome.evaluation is None or marker is None or outcome.item.dtype != "float64":
                continue
            yield Run(
                self._explainer(outcome.evaluation),
                outcome.evaluation,
                marker.arrays,
                marker.tolerances,
                marker.right,
            )

    def _explainer(self, evaluation: Evaluation) -> Explainer:
        """What tries misconceptions at these sizes."""
        key = tuple((x.letter, evaluation.given[x.letter].shape) for x in evaluation.inputs)
        if key not in self._explainers:
            rows = OF_BACKWARD if "d_weights" in evaluation else OF_PROGRAMS
            self._explainers[key] = explainer_of(evaluation, rows)
        return self._explainers[key]

    # ---- small ---------------------------------------------------------------------------------

    def shrunk(self, failed: Outcome) -> Outcome:
        """The same failure at the smallest sizes and with the simplest numbers that were found."""
        derivation = self.subject.derivation(4, 2)
        sizes = sizes_of(derivation, self.subject.spec, failed.item.sizes)
        free = frozenset(symbol.name for symbol in derivation.size_symbols)
        free -= frozenset(name for name in ("h", "g") if self.subject.spec.heads is None)
        for smaller_sizes in islice(smaller(sizes, free), _MOST_SIZES):
            found = self._same_failure(failed, smaller_sizes)
            if found is not None:
                return self._simplified(found)
        return self._simplified(self._fewer(failed, sizes, free))

    def _fewer(self, best: Outcome, sizes: Mapping[str, int], free: frozenset[str]) -> Outcome:
        """The same failure with every size as small as it may be while the others stay."""
        current = dict(sizes)
        for name in sorted(free & set(sizes), key=lambda name: -sizes[name]):
            low, high = 1, current[name]
            while low < high:  # as if what fails at a size failed at every larger one
                middle = (low + high) // 2
                found = self._same_failure(best, {**current, name: middle})
                if found is None:
                    low = middle + 1
                else:
                    best, high = found, middle
            current[name] = high
        return best

    def _same_failure(self, failed: Outcome, sizes: Mapping[str, int]) -> Outcome | None:
        for seed in range(_DRAWS):
            for item in (small(failed.item), failed.item):
                try:
                    found = self.call(replace(item, seed=seed), sizes)
                except SymattnError:
                    return None  # sizes that this attention cannot have
                if found.kind == failed.kind:
                    return replace(found, item=failed.item)
        return None

    def _simplified(self, best: Outcome) -> Outcome:
        """The same failure with simpler numbers."""
        number = 0
        given = best.numbers or {}
        changed = sum(array.size for array in given.values()) <= _MOST_SIMPLIFIED
        while changed and best.numbers is not None and best.evaluation is not None:
            changed = False
            for numbers in simpler(best.numbers):
                number += 1
                if number > _MOST_SIMPLER:
                    return best
                try:
                    evaluation = best.evaluation.again(**numbers)
                    derivation = self.subject.derivation(
                        evaluation.known_sizes.get("h", 4), evaluation.known_sizes.get("g", 2)
                    )
                    found = self.on(best.item, derivation, numbers)
                except SymattnError:
                    continue
                if found.kind == best.kind:
                    best, changed = found, True
                    break
        return best


def _rounding_is_small(coarse: ComputedMarker, marker: ComputedMarker) -> bool:
    """Whether a number is wrong that rounding in a shorter dtype leaves most digits of."""
    for letter, right in marker.right.items():
        true = np.abs(marker.evaluation.array(letter))
        with np.errstate(invalid="ignore"):
            small = coarse.tolerances[letter] < _SMALL * true
        if (small & ~right).any():
            return True
    return False


_OTHER_WIDTH = "values of another width than keys"

#: What a table says of a property.
_WORDS = {
    "right": "agrees",
    "wrong": "WRONG",
    "inaccurate": "less accurate",
    "raises": "RAISES",
    "shape": "WRONG SHAPE",
    "changes": "CHANGES ITS INPUT",
    "random": "NOT REPEATABLE",
    "lacking": "not supported",
}


def _is_finite(marker: ComputedMarker) -> bool:
    """Whether nothing came out as NaN or ∞ that is not: a masked score is −∞."""
    _ = marker.marks
    return all(
        bool((np.isfinite(array.numbers) | marker.right[letter]).all())
        for letter, array in marker.arrays.items()
    )


def _may_follow(layout: Layout, first: Layout) -> bool:
    """Whether a layout may be chosen that is right, where the first that can be called is not.

    Another place of the heads, and of PyTorch and JAX, whose functions count on one, another
    batch; but no other library and no other weights.
    """
    same_batch = layout.lead == first.lead or first.library in ("torch", "jax")
    return same_batch and (layout.library, layout.weights) == (first.library, first.weights)


def _given_in(call: Call, answer: Answer) -> Computed:
    """The dtype of what a function is given: the one asked for, or what JAX has instead of it."""
    floats = [
        each.matrix
        for each in call.given
        if isinstance(each.value, np.ndarray) and each.matrix and each.value.dtype != bool
    ]
    found = answer.given.get(floats[0]) if floats else None
    single = call.library == "jax" and found is not None and found.dtype == "float32"
    name = "float32" if single and call.dtype == "float64" else call.dtype
    digits = DIGITS.get(name)
    return Computed(np.zeros(0, name if digits is None else "float32"), digits)


def _is_kept(value: object, after: Computed | None, dtype: Computed) -> bool:
    """Whether a matrix that was given has the same numbers afterwards."""
    if after is None:
        return False
    stored = Rounded(dtype.numbers.dtype, dtype.digits).nearest
    return np.array_equal(stored(np.asarray(value)), stored(after.numbers), equal_nan=True)


def _same(one: Computed, other: Computed) -> bool:
    return bool(np.array_equal(one.numbers, other.numbers, equal_nan=True))
