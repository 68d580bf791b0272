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
from functools import partial
from itertools import chain
from typing import Literal

from symattn.algebra.comparison import ending_with
from symattn.algebra.equality import Equality, equal
from symattn.algebra.kinds import Data
from symattn.arithmetic.base import Array
from symattn.budget import Spent
from symattn.errors import SymattnError
from symattn.isolation import Limits
from symattn.lifting.certificate import of_attention
from symattn.lifting.fields import decided
from symattn.lifting.held import OfAttention
from symattn.lifting.lift import lift_in, running
from symattn.lifting.limits import LIMITS, PROVEN
from symattn.lifting.numerals import sizes_said
from symattn.lifting.precise import Program
from symattn.lifting.recording import Target
from symattn.lifting.taping import taped
from symattn.lifting.trials import Shown, extreme, further, ordinary, shown, told_apart
from symattn.status import Status
from symattn.verifying.calling import here
from symattn.verifying.inputs import Property, sizes_of
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


#: What is said of a function that no equations of all sizes are read off.
UNREAD = "Nothing is said of all sizes, of which it has no equations: {}."

#: What is said of a function that is right only in real arithmetic.
ROUNDED = "In floats the numbers differ, as rounding alone makes them."


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
    #: What a checker replays, for all sizes or at these; None where there is none.
    certificate: Data = None

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

    def differing(
        self, found: Verification | None = None, difference: Difference | None = None
    ) -> Proven:
        """The same where numbers show that both are different, whatever was found before."""
        return replace(
            self,
            verdict="different",
            sizes={},
            reason="",
            found=found,
            difference=difference,
            equality=None,
            certificate=None,
            is_partial=False,
        )

    def at_all_sizes(self, equality: Equality, reason: str) -> Proven:
        """The same as proven for all sizes, of which a reason may say more."""
        return replace(
            self,
            verdict="equal for all sizes",
            sizes={},
            equality=equality,
            reason=reason,
            certificate=equality.certificate,
        )

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
        program = Program(run, target, function)
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
    found = verified(subject, [*ordinary(said)], wanted.attention)
    if found.kind == "random" or (found.kind == "shape" and found.failed == "ordinary"):
        return common.differing(found)
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
    every = chain(() if found.agrees else ordinary(said), extreme())
    beyond = further(subject, said) if found.agrees else ()
    for items in (every if formed.verdict == "undecided" else (), beyond):
        differing, last = told_apart(program, subject, items, wanted.attention)
        if differing is not None and differing.is_known:
            return _different(formed, differing)
        if differing is not None and formed.verdict != "undecided":
            return replace(formed, reason=f"{differing.found.failed}: {differing.why}")
    names = {symbol.name for symbol in subject.derivation().size_symbols}
    largest = {name: size for name, size in (last.sizes if last else {}).items() if name in names}
    return replace(formed, largest=largest)


def _different(found: Proven, shown: Shown) -> Proven:
    """What numbers show that a function has wrong; undecided where this may be rounding."""
    if shown.is_known:
        return found.differing(shown.found)
    return replace(found, reason=shown.why)


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
        found_at, unformed = _at_sizes(program, subject, _sizes(subject, said), common)
    except SymattnError as error:
        nearly = "; its numbers are near, as with constants that are kept in float32"
        return replace(common, reason=f"{error}{nearly if differs else ''}")
    reason = ROUNDED if differs else ""
    everywhere = found.agrees or found.kind == "inaccurate"
    found_at = replace(found_at, reason=reason).at_sizes(said, unformed)
    is_free = {*found_at.sizes} - {*said} and not {"h", "g"} & {*said}
    return _at_all(program, subject, found_at, reason) if everywhere and is_free else found_at


def _at_all(program: Program, subject: Subject, found: Proven, reason: str) -> Proven:
    """What is found at sizes, or for all of them."""
    equality, limited = _for_all(program, subject)
    if equality is None or limited:
        return replace(found, reason=" ".join(filter(None, (found.reason, limited))))
    return found.at_all_sizes(equality, reason)


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

    And why nothing is said of all sizes, where that is known.
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
        lifted = lift_in(program.run, program.target, shapes, names)
        is_family = lifted.equations.whole.steps[-1].per_head
        found = equal(lifted.equations.whole, ends[-1 if is_family else 0])
    except SymattnError as error:
        return None, UNREAD.format(error)
    return (found if found and found.scope == "for all sizes" else None), lifted.limited


# ---- at the sizes given ----------------------------------------------------------------------


def _at_sizes(
    program: Program, subject: Subject, sizes: Mapping[str, int], common: Proven
) -> tuple[Proven, str]:
    """What is known at sizes, where every number that a function returns is what it should be.

    And why it is known but for a chance. A function that cannot be run with fewer queries than keys
    is run with as many, where neither is said.
    """
    try:
        return _at_these(program, subject, sizes, common)
    except Ended:
        if "m" not in sizes or sizes["m"] == sizes["n"] or {"n", "m"} & {*subject.sizes}:
            raise
        return _at_these(program, subject, {**sizes, "m": sizes["n"]}, common)


def _at_these(
    program: Program, subject: Subject, sizes: Mapping[str, int], common: Proven
) -> tuple[Proven, str]:
    """The same at these sizes alone.

    Raises `SymattnError` for what has no form, another one, or a tape that gives other numbers.
    """
    held = OfAttention(subject, sizes)
    tape = program.tape(held.call_by_name, [*map(held.call, LIMITS.draws)], LIMITS.taped)
    unformed, is_partial = decided(partial(held.hold, (tape,)), len(tape.operations))
    found = replace(
        common,
        sizes={symbol.name: size for symbol, size in held.used.items()},
        is_partial=is_partial,
        certificate=None if unformed else of_attention(held, program.target, tape, is_partial),
    )
    return found, unformed
