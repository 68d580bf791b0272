"""Whether a function is an attention: for all sizes, or for all inputs at sizes that are given.

Its numbers are tried first, as `symattn verify` does, where they are ordinary ones: real numbers
are meant, and no rounding. If they agree, the equations of the function are compared with those
of the attention for all sizes (`symattn.algebra.equality`). A function without equations is run on
entries that record; what it returns and what the attention says are brought to one form (`terms`)
at the sizes given. The tape is held against the function's own numbers before anything is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal

import numpy as np
import sympy

from symattn.algebra.comparison import ending_with
from symattn.algebra.counterexample import Side
from symattn.algebra.equality import Equality, equal
from symattn.arithmetic.base import Arithmetic, Array, Ground, elementwise, of_rows
from symattn.budget import Spent
from symattn.errors import SymattnError
from symattn.isolation import Limits
from symattn.lifting import terms
from symattn.lifting.fields import decided
from symattn.lifting.lift import lift, running
from symattn.lifting.limits import LIMITS, PROVEN
from symattn.lifting.precise import Program
from symattn.lifting.recording import Target
from symattn.lifting.tapes import (
    Asked,
    Kind,
    by_truth,
    functions,
    hold_same,
    may_be_undefined,
    named,
)
from symattn.lifting.taping import taped
from symattn.lifting.terms import Unknown
from symattn.lifting.trials import Shown, extreme, further, ordinary, shown, told_apart
from symattn.status import Status
from symattn.verifying.calling import here
from symattn.verifying.inputs import Property, numbers_of, sizes_of
from symattn.verifying.loading import Ended, there
from symattn.verifying.own import Meant, Own
from symattn.verifying.report import Verification
from symattn.verifying.subject import Subject, Wanted, axes_laid_out
from symattn.verifying.verification import called, verified

Verdict = Literal[
    "equal for all sizes",
    "equal at the sizes given",
    "equal at the sizes tried",
    "equal but for a chance below 2⁻⁸⁰",
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


#: What is said of a function that is right only in real arithmetic.
ROUNDED = "In floats the numbers differ, as rounding alone makes them."


def sizes_said(sizes: Mapping[str, int]) -> str:
    """Sizes as a sentence has them."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


@dataclass(frozen=True)
class Difference:
    """Numbers that show that two functions differ: what both are given, and what comes of it."""

    given: Mapping[str, Array]
    said: str
    #: How it is known that this is no rounding, where their operations do not show it.
    how: str = ""


@dataclass(frozen=True)
class Proven:
    """What is known of a function and an attention, or another function.

    `found` is what `symattn verify` says where they are different, `difference` what shows that two
    functions are, and `equality` the proof for all sizes, where there is one. `reason` says why it
    is undecided, or why not for all sizes; `agreed`, that their numbers are the same wherever they
    were tried.
    """

    verdict: Verdict
    name: str
    attention: str
    sizes: Mapping[str, int]
    reason: str = ""
    found: Verification | None = None
    equality: Equality | None = None
    difference: Difference | None = None
    agreed: bool = False
    #: Whether one of them may be undefined where the other is not, of which nothing is said.
    is_partial: bool = False
    #: The largest sizes at which its numbers were tried, where nothing is proven of all sizes.
    largest: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.status == Status.AGREES

    @property
    def status(self) -> Status:
        """How a command ends that proved it; small sizes that were chosen here prove nothing."""
        if self.verdict in ("equal for all sizes", "equal at the sizes given"):
            return Status.UNSETTLED if self.is_partial else Status.AGREES
        return Status.WRONG if self.verdict == "different" else Status.UNSETTLED

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        sizes = sizes_said(self.sizes)
        real = f"in real arithmetic{', wherever both are defined' * self.is_partial}"
        match self.verdict:
            case "equal for all sizes":
                return f"{self.name} is {self.attention} (for all sizes, {real})"
            case "equal at the sizes given" | "equal at the sizes tried":
                which = self.verdict.removeprefix("equal ")
                return f"{self.name} is {self.attention} for all inputs {which}, {sizes} ({real})"
            case "equal but for a chance below 2⁻⁸⁰":
                return (
                    f"{self.name} is {self.attention} for all inputs at {sizes}, but for a chance "
                    "below 2⁻⁸⁰ (in real arithmetic)"
                )
            case "different":
                return f"{self.name} is not {self.attention}"
        return f"undecided: {self.reason}"

    def at_sizes(self, said: Collection[str], unformed: str) -> Proven:
        """The same as proven at its sizes, of which some were said; or why only by chance."""
        if unformed:
            reason = " ".join(filter(None, (f"{unformed[0].upper()}{unformed[1:]}.", self.reason)))
            return replace(self, verdict="equal but for a chance below 2⁻⁸⁰", reason=reason)
        chosen = {*self.sizes} - {*said}
        return replace(
            self, verdict="equal at the sizes tried" if chosen else "equal at the sizes given"
        )


def prove_program(
    target: Target,
    wanted: Wanted,
    sizes: Mapping[str, int] | None = None,
    limits: Limits = PROVEN,
) -> Proven:
    """Whether a function is the attention that is wanted, for all inputs.

    `sizes` are those at which its entries are compared where it has no equations for all sizes.
    Raises `SymattnError` for a function that cannot be called with the matrices of this attention.
    """
    sizes = sizes or {}
    fixed = _of_heads(wanted.spec, sizes)
    with running(target, limits, (taped.__module__,)) as run:
        function = there(run, target) if isinstance(target, str) else here(target)
        program = Program(run, target, function, limits)
        common = Proven("undecided", function.name, wanted.attention, {})
        try:
            subject = called(function, replace(wanted, spec=fixed, sizes=sizes))
            _check_sizes(subject, wanted.spec, sizes)
            return _proven(program, subject, wanted, sizes, common)
        except Ended as ended:
            return replace(common, reason=ended.failure.line)
        except Spent as spent:
            return replace(common, reason=str(spent))


def _proven(
    program: Program, subject: Subject, wanted: Wanted, said: Mapping[str, int], common: Proven
) -> Proven:
    """What is found of a function that can be called."""
    found = verified(subject, [*ordinary()], wanted.attention)
    if found.kind == "random" or (found.kind == "shape" and found.failed == "ordinary"):
        return replace(common, verdict="different", found=found)
    if found.kind == "changes":
        return replace(common, reason=found.message)
    if found.kind in ("wrong", "inaccurate"):
        differing = shown(program, found)
        if differing is not None:
            return _different(common, differing)
    formed = _formed(program, subject, said, common, found)
    if formed:
        return formed
    last: Property | None = None
    every = chain(ordinary(), extreme()) if formed.verdict == "undecided" else ()
    for items in (every, further(subject, said)):
        differing, last = told_apart(program, subject, items, wanted.attention)
        if differing is not None:
            return _different(formed, differing)
    names = {symbol.name for symbol in subject.derivation().size_symbols}
    largest = {name: size for name, size in (last.sizes if last else {}).items() if name in names}
    return replace(formed, largest=largest)


def _different(found: Proven, shown: Shown) -> Proven:
    """What numbers show that a function has wrong; what is known else, where this may be rounding.

    Nothing is, where ordinary numbers are wrong so.
    """
    if shown.is_known:
        return replace(found, verdict="different", found=shown.found, sizes={}, reason="")
    if not found.sizes:
        return replace(found, reason=shown.why)
    return replace(found, reason=f"{shown.found.failed}: {shown.why}")


def _formed(
    program: Program,
    subject: Subject,
    said: Mapping[str, int],
    common: Proven,
    found: Verification,
) -> Proven:
    """What the forms of its entries show of it, and its equations, beside its numbers."""
    common, differs = replace(common, agreed=found.agrees), found.kind in ("wrong", "inaccurate")
    try:
        shown, unformed, is_partial = _at_sizes(program, subject, _sizes(subject, said), said)
    except SymattnError as error:
        nearly = "; its numbers are near, as with constants that are kept in float32"
        return replace(common, reason=f"{error}{nearly if differs else ''}")
    common = replace(common, is_partial=is_partial)
    reason = ROUNDED if differs else ""
    everywhere = found.agrees or found.kind == "inaccurate"
    found_at = replace(common, sizes=shown, reason=reason).at_sizes(said, unformed)
    is_free = {*shown} - {*said} and not {"h", "g"} & {*said}
    return _at_all(program, subject, found_at, reason) if everywhere and is_free else found_at


def _at_all(program: Program, subject: Subject, found: Proven, reason: str) -> Proven:
    """What is found at sizes, or for all of them."""
    equality, limited = _for_all(program, subject)
    if equality is None:
        return found
    if limited:
        return replace(found, reason=limited)
    return replace(found, verdict="equal for all sizes", sizes={}, equality=equality, reason=reason)


def _of_heads(spec: Meant, said: Mapping[str, int]) -> Meant:
    """The attention with as many heads and groups of them as are said."""
    if spec.heads == "h" and "h" in said:
        spec = replace(spec, heads=said["h"])
    if spec.kv_heads == "g" and "g" in said:
        spec = replace(spec, kv_heads=said["g"])
    return spec


def _check_sizes(subject: Subject, spec: Meant, said: Collection[str]) -> None:
    """Raise `SymattnError` for a size that is none of the attention's."""
    known = {symbol.name for symbol in subject.derivation("h", "g").size_symbols}
    known |= {*("h",) * (spec.heads == "h"), *("g",) * (spec.kv_heads == "g")}
    for unknown in {*said} - known:
        raise SymattnError(f"--size {unknown}: the sizes are {', '.join(sorted(known))}")


def _sizes(subject: Subject, said: Mapping[str, int]) -> dict[str, int]:
    """The sizes at which entries are compared: those said, and small ones; two heads a group."""
    usual = {**SMALL, **({} if subject.spec.kv_heads is None else {"h": 4})}
    # the base of the angles shows from the second pair on
    if not isinstance(subject.spec, Own) and subject.spec.rotary is not None:
        usual |= {"d_k": 4, "d_r": 4}
    # and a window where there are tokens beyond it
    mask = "" if isinstance(subject.spec, Own) else str(subject.spec.mask)
    if "window'" in mask:
        beyond = 2 + max(map(int, re.findall(r"\d+", mask)), default=0)
        usual |= {name: max(usual[name], min(beyond, LIMITS.whole)) for name in ("n", "m")}
    sizes = sizes_of(subject.derivation(), subject.spec, {**usual, **said})
    if subject.tied and {"d_k", "d_v"} <= {*sizes}:
        sizes["d_v"] = sizes["d_k"]
    return sizes


# ---- for all sizes ---------------------------------------------------------------------------


def _for_all(program: Program, subject: Subject) -> tuple[Equality | None, str]:
    """The proof that the equations of a function are the attention's; None where there is none.

    And why nothing is said of all sizes, in spite of it.
    """
    derivation = subject.derivation("h", "g")
    items = {item.name: item for item in derivation.inputs}
    names = {one.name: one.meaning for one in subject.parameters}
    if subject.layout.lead > 1 or not {*names.values()} <= {*items}:
        return None, ""
    given = {name: axes_laid_out(items[meaning], subject.layout) for name, meaning in names.items()}
    shapes = {name: shape for name, shape in given.items() if shape is not None}
    if len(shapes) < len(given):
        return None, ""
    ends = [derivation]
    if derivation.names[-1] == "concat":  # or one for each head
        ends.append(ending_with(derivation, "heads"))
    try:
        lifted = lift(program.target, shapes, letters=names, **vars(program.limits))
        is_family = lifted.equations.whole.steps[-1].per_head
        found = equal(lifted.equations.whole, ends[-1 if is_family else 0])
    except SymattnError:
        return None, ""
    return (found if found and found.scope == "for all sizes" else None), lifted.limited


# ---- at the sizes given ----------------------------------------------------------------------


def _at_sizes(
    program: Program, subject: Subject, sizes: Mapping[str, int], said: Collection[str]
) -> tuple[dict[str, int], str, bool]:
    """The sizes at which every number that a function returns is what it should be, by `decided`.

    One that cannot be run with fewer queries than keys is run with as many, where neither is said.
    """
    try:
        return _at_these(program, subject, sizes)
    except Ended:
        if "m" not in sizes or sizes["m"] == sizes["n"] or {"n", "m"} & {*said}:
            raise
        return _at_these(program, subject, {**sizes, "m": sizes["n"]})


def _at_these(
    program: Program, subject: Subject, sizes: Mapping[str, int]
) -> tuple[dict[str, int], str, bool]:
    """The same at these sizes alone.

    Raises `SymattnError` for what has no form, another one, or a tape that gives other numbers.
    """
    derivation = subject.derivation(sizes["h"], sizes["g"])
    used = {symbol: sizes[symbol.name] for symbol in derivation.size_symbols}
    drawn = [
        numbers_of(
            Property("", "", seed=seed), derivation, sizes, subject.layout.lead, subject.spec
        )
        for seed in (7, 8)
    ]
    evaluation, ids = derivation.evaluate(**drawn[0]), named(drawn[0])
    calls = [
        subject.call(derivation.evaluate(**numbers), numbers, "float64", False) for numbers in drawn
    ]
    tape = program.tape(subject.call(evaluation, ids, "float64", False), calls, LIMITS.taped)

    def hold(of: Kind) -> bool:
        given = {
            item.letter: elementwise(
                lambda one, named=of.truth if item.boolean else of.letter: named(int(one)),
                ids[item.name],
            )
            for item in derivation.inputs
        }
        read, is_partial = tape.formal(of), False
        for letter, places in subject.returned(tape.answer, evaluation).items():
            name = evaluation.item(letter).name
            formal = Formal(of)
            try:
                true = Side(ending_with(derivation, name)).value(given, formal, used)
            except NotImplementedError:  # a choice of keys, say, which is no formula
                raise Unknown(f"a step before {name} has no form here") from None
            wanted = np.broadcast_to(np.asarray(true, object), places.numbers.shape)
            hold_same(of, read(places.numbers), wanted, f"an entry of {name}")
            if of is terms:
                is_partial |= may_be_undefined(tape.asked, formal.asked)
        return is_partial

    shown = {symbol.name: size for symbol, size in used.items()}
    return shown, *decided(hold, len(tape.operations))


class Formal(Arithmetic):
    """Terms, or elements of fields, in arrays of objects: what an attention says of its entries."""

    name = "formal"

    def __init__(self, of: Kind) -> None:
        self.of = of
        #: What is not defined everywhere.
        self.asked: list[Asked] = []

    @property
    def key(self) -> tuple[object, ...]:
        return (self.name, self.of)

    def scalar(self, value: sympy.Expr) -> Any:
        return self.of.term(terms.of_sympy(value))

    def array(self, exact: Array) -> Array:
        def read(one: Any) -> Any:
            return self.scalar(one) if isinstance(one, sympy.Basic) else self.of.term(one)

        return elementwise(read, exact)

    def exp(self, x: Array) -> Array:
        return elementwise(self.of.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        known = functions(self.of)
        if name not in known:
            raise Unknown(f"{name} has no form here")
        if name in ("ln", "√"):
            self.asked.extend((name, self.of.term(one)) for one in x.flat)
        return elementwise(known[name], x)

    def divide(self, a: Array, b: Array | Ground) -> Array:
        self.asked.extend(("÷", self.of.term(one)) for one in np.ravel(np.asarray(b, object)))
        return super().divide(a, b)

    def hidden(self, x: Array) -> Any:
        return np.asarray(elementwise(lambda one: self.of.term(one).lowest, x), dtype=bool)

    def shift(self, x: Array) -> Array:
        return x

    def row_max(self, x: Array) -> Array:
        return of_rows(self.of.largest, x)

    def row_sum(self, x: Array) -> Array:
        return of_rows(lambda row: sum(row, start=self.of.term(0)), x)

    def add(self, a: Array, b: Array) -> Array:
        return elementwise(lambda one, other: self.of.term(one) + self.of.term(other), a, b)

    def vanishing(self, x: Array) -> Any:
        return np.asarray(elementwise(lambda one: self.of.term(one).number == 0, x), dtype=bool)

    def where(self, condition: Any, a: Any, b: Any) -> Array:
        if condition.dtype == bool:
            return super().where(condition, a, b)
        return elementwise(lambda *x: by_truth(self.of, *map(self.of.term, x)), condition, a, b)

    def equals(self, x: Array, number: int) -> Any:
        if number == 1 and all(one.is_truth for one in map(self.of.term, x.flat)):
            return x
        return np.asarray(
            elementwise(lambda one: self.of.term(one).number == number, x), dtype=bool
        )
