"""Whether a function is an attention: for all sizes, or for all inputs at sizes that are given.

Its numbers are tried first, as `symattn verify` does, where they are ordinary ones: real numbers
are meant, and no rounding. If they agree, the equations of the function are compared with those
of the attention for all sizes (`symattn.algebra.equality`). A function without equations is run on
entries that record; what it returns and what the attention says are brought to one form (`terms`)
at the sizes given. The tape is held against the function's own numbers before anything is said.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import sympy

from symattn.algebra.comparison import ending_with
from symattn.algebra.counterexample import Side
from symattn.algebra.equality import Equality, equal
from symattn.arithmetic.base import Arithmetic, Array, elementwise, of_rows
from symattn.budget import Spent
from symattn.derivations import Evaluation
from symattn.errors import SymattnError
from symattn.isolation import Run
from symattn.lifting import terms
from symattn.lifting.lift import asked_of, lift, running
from symattn.lifting.limits import LIMITS
from symattn.lifting.recording import Target, whole_numbers
from symattn.lifting.tapes import Tape, hold_terms, named, near, numbers_by_name
from symattn.lifting.taping import Taping, taped
from symattn.lifting.terms import Term, Unknown, term
from symattn.status import Status
from symattn.verifying.calling import here
from symattn.verifying.inputs import PROPERTIES, Property, numbers_of, sizes_of
from symattn.verifying.loading import Ended, there
from symattn.verifying.report import Verification
from symattn.verifying.subject import Subject, Wanted
from symattn.verifying.verification import called, verified

Verdict = Literal[
    "equal for all sizes",
    "equal at the sizes given",
    "equal at the sizes tried",
    "different",
    "undecided",
]

#: Small sizes at which entries are compared where none are given, no two the same.
SMALL: Mapping[str, int] = {
    "n": 3,
    "m": 4,
    "d_k": 2,
    "d_v": 3,
    "d_model": 4,
    "d_mem": 3,
    "d_r": 2,
    "d_out": 3,
    "p": 2,
    "h": 2,
    "g": 2,
}


class Differing(SymattnError):
    """Numbers of a tape that are others than those of the attention."""


@dataclass(frozen=True)
class Difference:
    """Numbers that show that two functions differ: what both are given, and what comes of it."""

    given: Mapping[str, Array]
    said: str


@dataclass(frozen=True)
class Proven:
    """What is known of a function and an attention, or another function.

    `found` is what `symattn verify` says where they are different, `difference` what shows that two
    functions are, and `equality` the proof for all sizes, where there is one. `reason` says why it
    is undecided, or why not for all sizes.
    """

    verdict: Verdict
    name: str
    attention: str
    sizes: Mapping[str, int]
    reason: str = ""
    found: Verification | None = None
    equality: Equality | None = None
    difference: Difference | None = None

    def __bool__(self) -> bool:
        return self.status == Status.AGREES

    @property
    def status(self) -> Status:
        """How a command ends that proved it; small sizes that were chosen here prove nothing."""
        if self.verdict in ("equal for all sizes", "equal at the sizes given"):
            return Status.AGREES
        return Status.WRONG if self.verdict == "different" else Status.UNSETTLED

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        match self.verdict:
            case "equal for all sizes":
                return f"{self.name} is {self.attention} (for all sizes, in real arithmetic)"
            case "equal at the sizes given" | "equal at the sizes tried":
                which = self.verdict.removeprefix("equal ")
                return (
                    f"{self.name} is {self.attention} for all inputs {which}, {sizes} "
                    "(in real arithmetic)"
                )
            case "different":
                return f"{self.name} is not {self.attention}"
        return f"undecided: {self.reason}"


def prove_program(
    target: Target,
    wanted: Wanted,
    sizes: Mapping[str, int] | None = None,
    *,
    seconds: float | None = LIMITS.proven,
    memory: int | None = 4096,
) -> Proven:
    """Whether a function is the attention that is wanted, for all inputs.

    `sizes` are those at which its entries are compared where it has no equations for all sizes.
    Raises `SymattnError` for a function that cannot be called with the matrices of this attention.
    """
    with running(target, seconds, memory, (taped.__module__,)) as run:
        function = there(run, target) if isinstance(target, str) else here(target)
        subject = called(function, wanted)
        found = verified(subject, [*_real()], wanted.attention)
        common = Proven("undecided", subject.name, wanted.attention, {})
        if found.kind == "wrong" or (found.kind == "shape" and found.failed == "ordinary"):
            return replace(common, verdict="different", found=found)
        if found.kind == "random":
            return replace(common, verdict="different", found=found)
        if found.kind == "changes":
            return replace(common, reason=found.message)
        given = _sizes(subject, sizes or {})
        try:
            shown = _at_sizes(run, target, subject, given, {*(sizes or {})})
        except Differing as differing:
            if found.kind == "inaccurate":  # it is, and not by rounding
                other = replace(found, kind="wrong", message="")
                return replace(common, verdict="different", found=other)
            return replace(common, reason=str(differing))
        except Ended as ended:
            return replace(common, reason=ended.failure.line)
        except (SymattnError, Spent) as error:
            return replace(common, reason=str(error))
        if found.agrees and is_for_all(run, target, subject.name):
            equality = _for_all(target, subject, seconds, memory)
            if equality:
                return replace(common, verdict="equal for all sizes", equality=equality)
        chosen = {*shown} - {*(sizes or {})}
        which: Verdict = "equal at the sizes tried" if chosen else "equal at the sizes given"
        return replace(common, verdict=which, sizes=shown)


def _sizes(subject: Subject, said: Mapping[str, int]) -> dict[str, int]:
    """The sizes at which entries are compared: those said, and small ones; two heads a group."""
    usual = {**SMALL, **({} if subject.spec.kv_heads is None else {"h": 4})}
    sizes = sizes_of(subject.derivation(), subject.spec, {**usual, **said})
    if subject.tied and {"d_k", "d_v"} <= {*sizes}:
        sizes["d_v"] = sizes["d_k"]
    return sizes


def _real() -> Iterator[Property]:
    """The properties of a function that are about its mathematics, not about rounding."""
    for item in PROPERTIES:
        plain = item.drawn == "usual" and item.dtype == "float64" and not item.optional
        if plain and not (item.strided or item.empty_row or item.hidden or item.backward):
            yield item


# ---- for all sizes ---------------------------------------------------------------------------


def is_for_all(run: Run, target: Target, name: str) -> bool:
    """Whether no number in a program is as large as a number of tokens that was not tried.

    Up to 133 tokens were; a block of 8 times 8 is one of 64.
    """
    most = json.loads(asked_of(run, whole_numbers, target, name))
    return bool(most <= LIMITS.whole)


def _for_all(
    target: Target, subject: Subject, seconds: float | None, memory: int | None
) -> Equality | None:
    """The proof that the equations of a function are the attention's; None where there is none."""
    derivation = subject.derivation()
    items = {item.name: item for item in derivation.inputs}
    plain = all(
        one.kind == "matrix" and items[one.meaning].count is None for one in subject.parameters
    )
    if (
        subject.layout.library != "numpy"
        or not plain
        or subject.layout.lead
        or subject.layout.heads == "single"
    ):
        return None
    names = {one.name: one.meaning for one in subject.parameters}
    shapes = {one: [str(x) for x in items[meaning].shape] for one, meaning in names.items()}
    try:
        lifted = lift(target, shapes, letters=names, seconds=seconds, memory=memory)
        found = equal(lifted.equations.whole, derivation)
    except SymattnError:
        return None
    return found if found and found.scope == "for all sizes" else None


# ---- at the sizes given ----------------------------------------------------------------------


def _at_sizes(
    run: Run, target: Target, subject: Subject, sizes: Mapping[str, int], said: Collection[str]
) -> dict[str, int]:
    """The sizes at which every number that a function returns has the form that it should have.

    One that cannot be run with fewer queries than keys is run with as many, where neither is said.
    """
    try:
        return _at_these(run, target, subject, sizes)
    except Ended:
        if "m" not in sizes or sizes["m"] == sizes["n"] or {"n", "m"} & {*said}:
            raise
        return _at_these(run, target, subject, {**sizes, "m": sizes["n"]})


def _at_these(
    run: Run, target: Target, subject: Subject, sizes: Mapping[str, int]
) -> dict[str, int]:
    """The same at these sizes alone.

    Raises `SymattnError` for what has no form, another one, or a tape that gives other numbers.
    """
    derivation = subject.derivation(sizes["h"], sizes["g"])
    used = {symbol: sizes[symbol.name] for symbol in derivation.size_symbols}
    booleans = tuple(item.name for item in derivation.inputs if item.boolean)
    lead = subject.layout.lead
    first, second = (
        numbers_of(Property("", "", seed=seed), derivation, sizes, lead, subject.spec)
        for seed in (7, 8)
    )
    evaluation = derivation.evaluate(**first)
    ids = named(first)
    call = subject.call(evaluation, ids, "float64", False)
    asked = Taping(target, call, booleans)
    tape = Tape(json.loads(asked_of(run, taped, asked, subject.name)))
    for numbers in (first, second):
        _hold(subject, derivation.evaluate(**numbers), numbers, ids, tape)
    given = {
        item.letter: elementwise(
            lambda one, named=terms.truth if item.boolean else terms.letter: named(int(one)),
            ids[item.name],
        )
        for item in derivation.inputs
    }
    read, floats = tape.terms(), tape.floats(numbers_by_name(ids, first))
    for letter, places in subject.returned(tape.answer, evaluation).items():
        name = evaluation.item(letter).name
        true = Side(ending_with(derivation, name)).value(given, TERMS, used)
        mine = floats(places.numbers).astype(float).reshape(-1)
        if not near(mine, np.asarray(evaluation.array(letter)).reshape(-1)).all():
            raise Differing(f"its numbers of {name} are others than those of the attention")
        wanted = np.broadcast_to(np.asarray(true, object), places.numbers.shape)
        hold_terms(read(places.numbers), wanted, f"an entry of {name}")
    return {symbol.name: size for symbol, size in used.items()}


def _hold(
    subject: Subject,
    evaluation: Evaluation,
    numbers: Mapping[str, Array],
    ids: Mapping[str, Array],
    tape: Tape,
) -> None:
    """Hold a tape against the function's own numbers. Raises `SymattnError` where they differ."""
    answer = subject.function.answer(subject.call(evaluation, numbers, "float64", False))
    if answer.lack is not None:
        raise SymattnError(answer.said)
    read = tape.floats(numbers_by_name(ids, numbers))
    own = subject.returned(answer, evaluation)
    for letter, places in subject.returned(tape.answer, evaluation).items():
        here = read(places.numbers).astype(float).reshape(-1)
        if not near(here, own[letter].numbers.reshape(-1), own[letter].rounding).all():
            raise SymattnError("what was recorded gives other numbers than the function itself")


class Terms(Arithmetic):
    """Terms in arrays of objects, in which an attention says what its entries are."""

    name = "terms"

    def scalar(self, value: sympy.Expr) -> Term:
        return terms.of_sympy(value)

    def array(self, exact: Array) -> Array:
        def read(one: Any) -> Term:
            return terms.of_sympy(one) if isinstance(one, sympy.Basic) else term(one)

        return elementwise(read, exact)

    def exp(self, x: Array) -> Array:
        return elementwise(terms.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        if name not in terms.FUNCTIONS:
            raise Unknown(f"{name} has no form here")
        return elementwise(terms.FUNCTIONS[name], x)

    def hidden(self, x: Array) -> Any:
        return np.asarray(elementwise(lambda one: term(one).lowest, x), dtype=bool)

    def shift(self, x: Array) -> Array:
        return x

    def row_max(self, x: Array) -> Array:
        return of_rows(terms.largest, x)

    def row_sum(self, x: Array) -> Array:
        return of_rows(lambda row: sum(row, start=terms.ZERO), x)

    def add(self, a: Array, b: Array) -> Array:
        return elementwise(lambda one, other: term(one) + term(other), a, b)

    def vanishing(self, x: Array) -> Any:
        return np.asarray(elementwise(lambda one: term(one).number == 0, x), dtype=bool)

    def where(self, condition: Any, a: Any, b: Any) -> Array:
        if condition.dtype == bool:
            return super().where(condition, a, b)
        return elementwise(lambda *x: terms.by_truth(*map(term, x)), condition, a, b)

    def equals(self, x: Array, number: int) -> Any:
        if number == 1 and all(one.is_truth for one in map(term, x.flat)):
            return x
        return np.asarray(elementwise(lambda one: term(one).number == number, x), dtype=bool)


TERMS = Terms()
