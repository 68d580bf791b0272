"""A function verified: every property tried in turn, the first that fails made small, and why.

*Agrees* means: on every input that was tried, each number lies within the tolerance that is proven
for its dtype. It is no proof about other inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn.derivations import Evaluation
from symattn.errors import SymattnError
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
from symattn.reports.check import marking_of
from symattn.verifying.backward import DIFFERENTIATING
from symattn.verifying.calling import LIBRARIES, Function
from symattn.verifying.inputs import FAR, PROBES, PROPERTIES, Property, fits, named
from symattn.verifying.report import Verification
from symattn.verifying.shrinking import shrunk
from symattn.verifying.subject import Layout, Subject, Wanted, subject_of
from symattn.verifying.trying import Outcome, is_coarse, tried


def verify(function: Function, wanted: Wanted) -> Verification:
    """A function held against the derivation of an attention, on every row of `PROPERTIES`.

    Arguments are matched by name, or as `wanted` says. Raises `SymattnError` for a function that
    cannot be called with the matrices of this attention.
    """
    left_out = [named(one) for one in wanted.skip]
    subject = called(function, wanted)
    items = [item for item in PROPERTIES if item not in left_out]
    return verified(subject, items, wanted.attention)


def called(function: Function, wanted: Wanted) -> Subject:
    """A function, and how it is called with the matrices of an attention; raises as `verify`."""
    library = wanted.library
    if library and library not in LIBRARIES:
        raise SymattnError(f"library {library[:60]!r}: choose one of {', '.join(LIBRARIES)}")
    subject = subject_of(function, wanted)
    return _chosen(subject, (library,) if library else function.signature.libraries)


def verified(subject: Subject, items: Sequence[Property], attention: str) -> Verification:
    """What is found of a function by these properties."""
    return _verification(subject, list(_outcomes(subject, items)), attention)


# ---- how it is called ------------------------------------------------------------------------


def _chosen(subject: Subject, libraries: Sequence[str]) -> Subject:
    """With the layout under which ordinary inputs agree, or the first that can be called."""
    refused: list[Outcome] = []
    ordinary = named("ordinary")
    for item, tied in ((ordinary, False), (ordinary, True), (named("square"), False)):
        called: list[Outcome] = []
        for layout in subject.layouts(libraries):
            if called and not _may_follow(layout, called[0].subject.layout):
                continue  # it takes arrays of another library or of other shapes
            outcome = tried(replace(subject, layout=layout, tied=tied), item)
            if outcome.kind == "right":
                return replace(outcome.subject, is_precise=True)
            if outcome.kind not in ("raises", "shape"):
                called.append(outcome)
            elif outcome.why != "missing":
                refused.append(outcome)
        if called:
            coarse = (each for each in called if is_coarse([each], "float32"))
            return next(coarse, called[0]).subject
    for outcome in refused:
        if outcome.kind == "shape":
            return replace(outcome.subject, tied=False)
    why = refused[0].message if refused else f"none of {', '.join(libraries)} is installed"
    raise SymattnError(f"{subject.name}: cannot be called: {why}")


def _may_follow(layout: Layout, first: Layout) -> bool:
    """Whether a layout may be chosen that is right, where the first that can be called is not.

    Another place of the heads, and of PyTorch and JAX, whose functions count on one, another
    batch; but no other library and no other weights.
    """
    same_batch = layout.lead == first.lead or first.library in ("torch", "jax")
    return same_batch and (layout.library, layout.weights) == (first.library, first.weights)


# ---- what is tried ---------------------------------------------------------------------------


def _outcomes(subject: Subject, items: Sequence[Property]) -> Iterator[Outcome]:
    """What became of every property that can be asked for."""
    found: list[Outcome] = []
    derivation = subject.derivation()
    for item in items:
        if not fits(item, subject.spec, derivation) or not _has(subject, item):
            continue
        if item.dtype != "float64" and any(o.kind == "wrong" for o in found):
            continue  # what is wrong in full precision is so in others
        if item.backward and not _may_be_differentiated(subject, found):
            continue
        outcome = tried(subject, item)
        subject = replace(subject, is_precise=subject.is_precise or outcome.shows_precision)
        found.append(outcome)
        yield outcome


def _has(subject: Subject, item: Property) -> bool:
    """Whether the library has what a property asks for."""
    library = subject.layout.library
    if item.name == "many tokens" and library == "jax":
        return False  # which compiles every shape, and each step of a loop, anew
    if item.name == "scores below float32" and not subject.is_precise:
        return False
    if item.dtype == "bfloat16":
        return library in DIFFERENTIATING
    if library == "lists":
        return item.dtype == "float64" and not item.strided
    return not (item.strided and library == "jax")


def _may_be_differentiated(subject: Subject, outcomes: Sequence[Outcome]) -> bool:
    """Whether its forward pass is right, and it is not known that it has no backward pass."""
    backward = [o for o in outcomes if o.item.backward]
    return (
        subject.layout.library in DIFFERENTIATING
        and all(o.passes for o in outcomes if not o.item.backward)
        and not any(o.why == "forward only" for o in backward[:1])
    )


# ---- what is told ----------------------------------------------------------------------------

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


def _verification(subject: Subject, outcomes: Sequence[Outcome], attention: str) -> Verification:
    """What is said of a function, with the first failure made small."""
    kinds = [
        (o.item.name, "lacking" if o.is_lacking else o.kind)
        for o in outcomes
        if o.why != "forward only"
    ]
    if subject.tied:
        kinds.append((_OTHER_WIDTH, "lacking"))
    failed, reasons = _told(outcomes)
    common = Verification(
        subject.name,
        attention,
        subject.layout.told(subject.has_heads, subject.has_weights),
        tuple((name, _WORDS[kind]) for name, kind in kinds),
        tuple(name for name, kind in kinds if kind == "lacking"),
        "" if any(not o.passes for o in outcomes) else _forward_only(subject, outcomes),
        steps=tuple(_steps(outcomes)),
    )
    if failed is None:
        return common
    small = shrunk(failed)
    marking = None
    if small.marker is not None:
        marking = marking_of("", small.marker.evaluation, small.marker)
        marking = replace(marking, notes=(), explanations=reasons)
    return replace(
        common,
        failed=small.item.name,
        about=small.item.about,
        kind=small.kind,
        message=small.message,
        input=small.numbers,
        marking=marking,
        explanations=reasons,
        shown=small,
    )


def _steps(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str]]:
    """The verdict on each step that is returned of the ordinary input."""
    for outcome in outcomes:
        if outcome.item.name == "ordinary" and outcome.marker is not None:
            yield from ((mark.name, mark.verdict) for mark in outcome.marker.marks)


def _forward_only(subject: Subject, outcomes: Sequence[Outcome]) -> str:
    """Why only the forward pass was tried; "" where the backward pass was tried too."""
    library = {"numpy": "NumPy", "lists": "Python"}.get(subject.layout.library)
    if library is not None:
        return f"functions of {library} have no gradients of their own"
    backward = [o for o in outcomes if o.item.backward]
    if not backward:
        return "its gradients were left out"
    lacking = backward[0].why == "forward only"
    return (backward[0].message or "its gradients are not known here") if lacking else ""


def _told(outcomes: Sequence[Outcome]) -> tuple[Outcome | None, tuple[Explanation, ...]]:
    """The failure that is told, and what explains it.

    It is the first one, but where that shows only that shapes do not fit, or that a function
    is not repeatable, the first that tells more.
    """
    failures = [o for o in outcomes if not o.passes]
    random = [o for o in failures if o.kind == "random"]
    plain = [o for o in failures if o.kind != "inaccurate"]
    first = next(iter(random or plain or failures), None)
    if first is None or first.kind in ("random", "changes", "inaccurate"):
        return first, ()
    wrong = [o for o in failures if o.kind == "wrong"]
    if wrong and wrong[0].item in FAR:
        return wrong[0], ()  # what explains it would show for few tokens, too
    if wrong:
        telling = _telling(outcomes, wrong)
        reasons = explained(_runs(telling)) or _reasons_where_finite(telling)
        full = [o for o in telling if o.item.dtype == wrong[0].item.dtype == "float64"]
        shorter = ("float32", "float16") if full else ()
        coarse = next((dtype for dtype in shorter if is_coarse(full, dtype)), "")
        if coarse and not reasons:
            words = f"it is right within what rounding in {coarse} explains, and no more"
            return replace(wrong[0], kind="inaccurate", message=words), ()
        if reasons or first.kind == "wrong":
            return wrong[0], reasons
    if first.why == "unfinished":
        return first, (UNFINISHED,)
    if first.why == "arithmetic":
        return first, overflowing(_explainer(first.evaluation), first.evaluation)
    return first, ()


def _telling(outcomes: Sequence[Outcome], wrong: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes that an explanation has to fit: those of the same pass that have to be right."""
    first = wrong[0]
    found = [
        o
        for o in outcomes
        if o.item.backward == first.item.backward
        and (o is first or not o.item.optional or o.takes_batches)
    ]
    extreme = all(o.item.empty_row or o.item.drawn != "usual" for o in wrong)
    if not first.item.backward and extreme:
        found += [tried(first.subject, item) for item in PROBES]
    return found


def _reasons_where_finite(outcomes: Sequence[Outcome]) -> tuple[Explanation, ...]:
    """What explains all numbers that came out, where others are NaN or ∞ for another reason."""
    lost = [o for o in outcomes if not o.is_finite]
    if not lost:
        return ()
    empty = any(o.item.empty_row for o in lost)
    if empty and len({o.item.empty_row for o in lost}) > 1:
        return ()
    if not empty and not all(o.item.is_large for o in lost):
        return ()  # no e^z is out of range there
    rest = [o for o in outcomes if o not in lost]
    return explained(_runs(rest), "nothing-to-attend-to" if empty else "overflows")


def _runs(outcomes: Sequence[Outcome]) -> list[Run]:
    """What was computed in full precision, for misconceptions to be tried on."""
    return [
        Run(_explainer(m.evaluation), m.evaluation, m.arrays, m.tolerances, m.right)
        for o in outcomes
        if (m := o.marker) is not None and o.item.dtype == "float64"
    ]


def _explainer(evaluation: Evaluation) -> Explainer:
    """What tries misconceptions at these sizes."""
    rows = OF_BACKWARD if "d_weights" in evaluation else OF_PROGRAMS
    return evaluation.known(("shape", "explainer"), lambda: explainer_of(evaluation, rows))
