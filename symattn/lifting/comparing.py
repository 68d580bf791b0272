"""Whether two functions are the same, of whatever libraries, by what they are given and return.

Arguments are matched by name. Numbers are tried first, from small sizes to larger ones; what they
do not tell apart is run on entries that record, and each entry of both results is brought to one
form (`terms`) at small sizes. Where both have equations, these are compared for all sizes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from symattn.algebra.equality import Equality, equal
from symattn.arithmetic.base import Array
from symattn.budget import Spent
from symattn.errors import SymattnError, Undecided, quote
from symattn.isolation import Limits, Run
from symattn.lifting.certificate import function_data, of_programs
from symattn.lifting.fields import decided
from symattn.lifting.held import OfPrograms, parts
from symattn.lifting.lift import asked_of, lift_in, running, shapes_of, square_of
from symattn.lifting.limits import LIMITS, PROVEN
from symattn.lifting.numerals import TRIAL, sizes_in
from symattn.lifting.precise import Program, apart, is_steady, numbers_of
from symattn.lifting.proving import ROUNDED, SMALL, UNREAD, Difference, Proven
from symattn.lifting.recording import Target, described
from symattn.lifting.tapes import near
from symattn.lifting.taping import taped
from symattn.lifting.trials import IN_SINGLE
from symattn.verifying.calling import Answer, Call, Given, here
from symattn.verifying.inputs import FAR
from symattn.verifying.loading import Ended, there
from symattn.verifying.shrinking import Search, made_small, seeds
from symattn.verifying.subject import canonical_name


@dataclass(frozen=True)
class _Program(Program):
    """A function, where it runs, and what its arguments are called in the other one."""

    letters: Mapping[str, str]
    library: str = ""

    def call(self, numbers: Mapping[str, Array], dtype: str = "float64") -> Call:
        """A call with these numbers, by letter."""
        given = tuple(
            Given(one.name, "matrix", letter, one.kind == "POSITIONAL_ONLY", numbers[letter])
            for one in self.function.signature.arguments or ()
            if (letter := self.letters.get(one.name)) is not None
        )
        return Call(given, self.library, dtype)

    def answer(self, numbers: Mapping[str, Array], dtype: str = "float64") -> Answer:
        """What comes of a call. Raises `SymattnError` where nothing does."""
        found = self.function.answer(self.call(numbers, dtype))
        said = found.said if found.lack is not None else ""
        said = said or next((part for _, part in found.parts if isinstance(part, str)), "")
        if said:
            raise SymattnError(f"{self.function.name}: cannot be called: {said}")
        return found

    def chosen(self, numbers: Mapping[str, Array]) -> _Program:
        """With the first library whose arrays it takes. Raises `SymattnError` for none."""
        refused: list[SymattnError] = []
        for library in self.function.signature.libraries:
            program = replace(self, library=library)
            try:
                program.answer(numbers)
            except SymattnError as error:
                refused.append(error)
            else:
                return program
        raise refused[0]


@dataclass(frozen=True)
class _Pair:
    """Two programs, the shapes of what both are given, and the sizes that are said."""

    one: _Program
    other: _Program
    shapes: Mapping[str, Sequence[str]]
    said: Mapping[str, int]

    @property
    def names(self) -> list[str]:
        """The sizes that have a name."""
        return [one for one in sizes_in(self.shapes.values()) if not one.isdigit()]

    def drawn(
        self, sizes: Mapping[str, int], seed: int = 0, whole: bool = False
    ) -> dict[str, Array]:
        """Numbers for what is given, of two decimals or small whole ones."""
        return OfPrograms(self.shapes, sizes).drawn(seed, whole)

    def answers(
        self, numbers: Mapping[str, Array], dtype: str = "float64"
    ) -> tuple[Answer, Answer]:
        """What both return."""
        return self.one.answer(numbers, dtype), self.other.answer(numbers, dtype)


def prove_programs(
    one: Target,
    other: Target,
    shapes: Mapping[str, Sequence[str]] | None = None,
    sizes: Mapping[str, int] | None = None,
    *,
    mapped: Mapping[str, str] | None = None,
    limits: Limits = PROVEN,
) -> Proven:
    """Whether two functions return the same for all inputs, in real arithmetic.

    `shapes` are those of the arguments of `one`, where neither annotations nor their usual meaning
    says them; `sizes` those at which entries are compared; `mapped` says which argument of `other`
    an argument of `one` is, where their names do not. Raises `SymattnError` for arguments
    that cannot be matched, and for a function that cannot be called with these shapes.
    """
    modules = (taped.__module__,)
    first, second = (running(each, limits, modules) for each in (one, other))
    with first as here_one, second as here_other:
        programs = _loaded(here_one, one), _loaded(here_other, other)
        pair = _paired(programs, shapes or {}, sizes or {}, mapped or {})
        name = other if isinstance(other, str) else pair.other.function.name
        common = Proven("undecided", pair.one.function.name, f"the same function as {name}", {})
        try:
            pair, small = _callable(pair)
            return _proven(pair, small, common)
        except Ended as ended:
            return replace(common, reason=ended.failure.line)
        except Spent as spent:
            return replace(common, reason=str(spent))


def _proven(pair: _Pair, small: Mapping[str, int], common: Proven) -> Proven:
    """What is found of two functions that can be called."""
    numbers = pair.drawn(small)
    for once, again in zip(pair.answers(numbers), pair.answers(numbers), strict=True):
        if _difference(numbers, once, again) is not None:
            return replace(common, reason="called again, one of them gives other numbers")
    tried = _tried(pair, _trials(pair, small))
    if tried.shown is not None:
        return common.differing(difference=tried.shown)
    if tried.unsure:
        return replace(common, reason=_UNSURE + tried.unsure)
    formed = _formed(pair, small, common, tried)
    if formed:
        return formed
    found = _Tried(_nearly(pair, small) if formed.verdict == "undecided" else None)
    if found.shown is None and not tried.rounds:
        found = _tried(pair, _further(pair), beyond=True)
    if found.shown is not None:
        return formed.differing(difference=found.shown)
    if found.unsure:
        return replace(formed, reason=_UNSURE + found.unsure)
    return replace(formed, largest=found.largest)


_UNSURE = "their numbers differ, by rounding it may be: "


def _formed(pair: _Pair, small: Mapping[str, int], common: Proven, tried: _Tried) -> Proven:
    """What the forms of their entries show of two functions, and their equations."""
    common = replace(common, agreed=not tried.rounds)
    try:
        common, unformed = _held(pair, small, common)
    except SymattnError as error:
        return replace(common, reason=str(error))
    rounded = ROUNDED if tried.rounds else ""
    equality, limited = _for_all(pair, pair.drawn(small)) if tried.everywhere else (None, "")
    if equality is not None and not limited:
        return common.at_all_sizes(equality, rounded)
    reason = " ".join(filter(None, (rounded, limited)))
    common = replace(common, sizes=small, reason=reason)
    return common.at_sizes({*pair.said}, unformed)


@dataclass(frozen=True)
class _Tried:
    """What numbers show of two programs; whether both answered everywhere.

    `unsure`: why it is not known whether they differ in real arithmetic where their floats do;
    `rounds`: whether they do not, there.
    """

    shown: Difference | None = None
    everywhere: bool = True
    unsure: str = ""
    rounds: bool = False
    #: The last sizes at which both answered, and the same.
    largest: Mapping[str, int] = field(default_factory=dict)


def _tried(pair: _Pair, trials: Iterable[Mapping[str, int]], beyond: bool = False) -> _Tried:
    """What comes of numbers at some sizes; no more are tried after those that take long.

    `beyond`: they are larger than those at which both agree, and what cannot be followed there is
    held against itself in single precision.
    """
    found = _Tried()
    for sizes in trials:
        given, start = pair.drawn(sizes), time.monotonic()
        try:
            answers = pair.answers(given)
        except SymattnError:
            found = replace(found, everywhere=False)
            continue
        difference = _difference(given, *answers)
        if difference is not None:
            shown, unsure = _confirmed(pair, sizes, difference, beyond)
            if shown is not None:
                return replace(found, shown=shown)
            found = replace(found, rounds=True, unsure=found.unsure or unsure)
            continue
        found = replace(found, largest=sizes)
        if time.monotonic() - start > LIMITS.seconds:
            break
    return found


def _confirmed(
    pair: _Pair, sizes: Mapping[str, int], seen: Difference, beyond: bool
) -> tuple[Difference | None, str]:
    """A difference of floats in real arithmetic, made small; or why none is known.

    What cannot be recorded at these sizes is tried where all sizes but one, or two, are small.
    """
    search = Search(partial(_at, pair), partial(_on, pair), lambda x: x.given)
    small = made_small(seen, sizes, {*pair.names} - {*pair.said}, search)
    unsure, most = "", LIMITS.taped if beyond else LIMITS.operations
    for given in chain([small.given, seen.given], map(pair.drawn, _narrow(pair, sizes))):
        try:
            shown = _in_real_numbers(pair, given, most)
        except (SymattnError, ArithmeticError) as error:
            unsure, beyond = unsure or str(error), beyond and not isinstance(error, Undecided)
        else:
            if shown is not None:
                return shown, ""
    if unsure and beyond and _is_same_in_single(pair, small.given):
        return replace(small, how=IN_SINGLE.format(unsure)), ""
    return None, unsure


def _at(pair: _Pair, sizes: Mapping[str, int]) -> Difference | None:
    """A difference at these sizes, with small whole numbers if one is found."""
    draws = (pair.drawn(sizes, seed, whole) for seed in seeds(sizes) for whole in (True, False))
    return next((shown for given in draws if (shown := _on(pair, None, given)) is not None), None)


def _on(pair: _Pair, _: Difference | None, given: Mapping[str, Array]) -> Difference | None:
    """A difference of floats on these numbers."""
    try:
        return _difference(given, *pair.answers(given))
    except SymattnError:
        return None


def _nearly(pair: _Pair, small: Mapping[str, int]) -> Difference | None:
    """A difference, however small, that real arithmetic and floats show, of larger numbers too."""
    for seed in seeds(small):
        drawn = pair.drawn(small, seed)
        for times in (1, 8):
            given = {name: times * array for name, array in drawn.items()}
            try:
                answers, shown = pair.answers(given), _in_real_numbers(pair, given)
            except (SymattnError, ArithmeticError):
                continue
            if shown is not None and _difference(given, *answers, off=()) is not None:
                return shown
    return None


def _is_same_in_single(pair: _Pair, given: Mapping[str, Array]) -> bool:
    """Whether two programs are much further from one another than each from itself in float32."""
    try:
        answers, singles = pair.answers(given), pair.answers(given, "float32")
        double, single = [*parts(*answers)], [*parts(*singles)]
    except SymattnError:
        return False
    return any(
        is_steady(mine.numbers - its.numbers, mine, one)
        and is_steady(mine.numbers - its.numbers, its, other)
        for (mine, its, _), (one, other, _) in zip(double, single, strict=True)
    )


def _both(pair: _Pair) -> tuple[_Program, _Program]:
    return pair.one, pair.other


# ---- how they are called ---------------------------------------------------------------------


def _loaded(run: Run, target: Target) -> _Program:
    """A function that is called where it runs."""
    function = there(run, target) if isinstance(target, str) else here(target)
    return _Program(run, target, function, {})


def _paired(
    made: tuple[_Program, _Program],
    shapes: Mapping[str, Sequence[str]],
    sizes: Mapping[str, int],
    mapped: Mapping[str, str],
) -> _Pair:
    """Both with their arguments matched. Raises `SymattnError` for what does not match."""
    one, other = made
    (listed, own_shapes), (others, _) = map(_arguments, made)
    turned = {theirs: name for name, theirs in mapped.items()}
    matched = {
        **_matched(listed, others, (one, other), mapped),
        **{b: a for a, b in _matched(others, listed, (other, one), turned).items()},
    }
    own = {name: name for name in matched}
    its = {theirs: name for name, theirs in matched.items()}
    if not matched or len(its) < len(matched):
        names = " and ".join(program.function.name for program in made)
        raise SymattnError(f"{names}: have no arguments in common that can be told apart")
    asked = [(name, note, name in matched, kind) for name, note, _, kind in listed]
    said = {**own_shapes, **{name: (*shape,) for name, shape in shapes.items()}}
    found = dict(shapes_of(one.function.name, asked, said))
    for unknown in {*found} - {*matched}:
        raise SymattnError(f"--shape {unknown}: it keeps its default in both functions")
    pair = _Pair(replace(one, letters=own), replace(other, letters=its), found, sizes)
    for unknown in {*sizes} - {*pair.names}:
        raise SymattnError(f"--size {unknown}: the sizes are {', '.join(pair.names)}")
    if len(pair.names) > len(TRIAL):
        raise SymattnError(f"{len(pair.names)} sizes are too many; {len(TRIAL)} are the most")
    return pair


def _arguments(program: _Program) -> tuple[list[list[Any]], dict[str, tuple[str, ...]]]:
    """The arguments of a program, with the parameters of a module, and the shapes of these."""
    known = json.loads(asked_of(program.run, described, program.target, program.function.name))
    own = {parameter: tuple(shape) for parameter, _, shape in known["parameters"]}
    return [*known["arguments"], *([name, "", True, "KEYWORD_ONLY"] for name in own)], own


def _matched(
    own: Sequence[Sequence[str]],
    others: Sequence[Sequence[str]],
    programs: tuple[_Program, _Program],
    mapped: Mapping[str, str],
) -> dict[str, str]:
    """The argument of the other that each is which has to be given, by name or what it means."""
    found: dict[str, str] = {}
    mine, its = (program.function.name for program in programs)
    there_are = [each for each, _, _, kind in others if not kind.startswith("VAR_")]
    for name, theirs in mapped.items():
        if name not in [each for each, *_ in own]:
            raise SymattnError(f"--map: {mine} has no argument {quote(name)}")
        if theirs in there_are:
            found[name] = theirs
    for name, _, required, kind in own:
        if not required or kind.startswith("VAR_") or name in found:
            continue
        meaning = canonical_name(name)
        alike = [each for each in there_are if meaning and canonical_name(each) == meaning]
        which = [name] if name in there_are else alike
        if len(which) != 1:
            names = ", ".join(there_are)
            raise SymattnError(
                f"{mine}: its argument {quote(name)} is none of {its}({names}); say which, as in "
                f"--map {name}=…, or give it a default"
            )
        found[name] = which[0]
    return found


def _callable(pair: _Pair) -> tuple[_Pair, dict[str, int]]:
    """Both with their libraries, and small sizes at which they can be called.

    Those that cannot be called with fewer queries than keys are called with as many.
    """
    refused: list[SymattnError] = []
    for shapes in (pair.shapes, square_of(pair.shapes)):
        tried = replace(pair, shapes=shapes)
        listed = {name: SMALL.get(name, 2 + place % 4) for place, name in enumerate(tried.names)}
        sizes = {name: pair.said.get(name, size) for name, size in listed.items()}
        numbers = tried.drawn(sizes)
        try:
            one, other = (program.chosen(numbers) for program in _both(tried))
        except SymattnError as error:
            refused.append(error)
        else:
            return replace(tried, one=one, other=other), sizes
        if "m" in pair.said:
            break
    raise refused[0]


def _trials(pair: _Pair, small: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """Sizes at which numbers are tried, small ones first, so that what is shown is small."""
    names = pair.names
    for size in (1, 2):
        yield {**dict.fromkeys(names, size), **pair.said}
    yield small
    for listed in (TRIAL, TRIAL[::-1]):
        yield {**dict(zip(names, listed, strict=False)), **pair.said}


def _further(pair: _Pair) -> Iterator[Mapping[str, int]]:
    """Larger sizes, one at a time, or queries and keys, for what is done only from some size on."""
    few = dict.fromkeys(pair.names, 2) | {**pair.said}
    free = {*pair.names} - {*pair.said}
    together = {"n", "m"} & free
    for most in (max(item.sizes.values()) for item in FAR):
        for large in (together, *({name} for name in pair.names if name in free)):
            if large and most > max(TRIAL):
                yield few | dict.fromkeys(large, most)


def _narrow(pair: _Pair, sizes: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """The sizes of which one is as large, or those of queries and keys."""
    for large in ({"n", "m"}, *({name} for name in pair.names)):
        yield {name: sizes[name] if name in large else 2 for name in pair.names} | {**pair.said}


# ---- numbers ---------------------------------------------------------------------------------


def _in_real_numbers(
    pair: _Pair, given: Mapping[str, Array], most: int = LIMITS.operations
) -> Difference | None:
    """Where two programs of at `most` so many operations differ in real arithmetic.

    Raises `SymattnError` where it is not known.
    """
    try:
        (one, off), (other, also) = (
            program.precisely(program.call(given), most) for program in _both(pair)
        )
    except Ended as ended:
        raise SymattnError(ended.failure.line) from None
    return _difference(given, one, other, off=(off, also))


def _difference(
    given: Mapping[str, Array], one: Answer, other: Answer, off: Sequence[Answer] | None = None
) -> Difference | None:
    """Where two answers differ by more than rounding; None for nowhere.

    With `off`, where they differ at all, each number being `off` so much. What is not finite may be
    so by rounding alone, and tells nothing.
    """
    for place, (mine, its, which) in enumerate(parts(one, other)):
        if mine.numbers.shape != its.numbers.shape:
            shapes = [" × ".join(map(str, x.numbers.shape)) or "a number" for x in (mine, its)]
            return Difference(
                given, f"The first returns{which} {shapes[0]}, the second {shapes[1]}"
            )
        finite = np.isfinite(mine.numbers) & np.isfinite(its.numbers)
        a, b = (np.where(finite, x.numbers, 0.0) for x in (mine, its))
        rounding = max(mine.rounding, its.rounding)
        if off is None:
            wrong = ~near(a, b, max(rounding, LIMITS.shown))
        else:
            radii = (each.parts[place][1] for each in off)
            wrong = apart(a, b, sum((numbers_of(x) for x in radii), np.full(a.shape, rounding)))
        if wrong.any():
            entry = tuple(int(k) for k in np.argwhere(wrong)[0])
            where = f"Entry {[*entry]}{which}" if entry else f"What they return{which}"
            said = _apart_in_digits(a[entry], b[entry])
            return Difference(
                given, f"{where} is {said[0]} of the first and {said[1]} of the second"
            )
    return None


def _apart_in_digits(one: float, other: float) -> tuple[str, str]:
    """Two numbers in as many digits as tell them apart, six at least."""
    for digits in range(6, 18):
        said = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if said[0] != said[1]:
            return said
    return said


# ---- entries ---------------------------------------------------------------------------------


def _held(pair: _Pair, sizes: Mapping[str, int], common: Proven) -> tuple[Proven, str]:
    """What is known where each entry of both results is the same at these sizes.

    And why it is known but for a chance. Raises `SymattnError` where it is not known.
    """
    held = OfPrograms(pair.shapes, sizes)
    numbers = [*map(held.drawn, LIMITS.draws)]
    tapes = [
        program.tape(program.call(held.ids), [*map(program.call, numbers)], LIMITS.taped)
        for program in _both(pair)
    ]
    operations = sum(len(tape.operations) for tape in tapes)
    unformed, is_partial = decided(partial(held.hold, tapes), operations)
    functions = [
        function_data(program.target, program.call(held.ids), tape)
        for program, tape in zip(_both(pair), tapes, strict=True)
    ]
    certificate = None if unformed else of_programs(held, functions, is_partial)
    return replace(common, is_partial=is_partial, certificate=certificate), unformed


# ---- for all sizes ---------------------------------------------------------------------------


def _for_all(pair: _Pair, numbers: Mapping[str, Array]) -> tuple[Equality | None, str]:
    """The proof that the equations of both are the same; None where there is none.

    And why nothing is said of all sizes, where that is known.
    """
    if pair.said or pair.one.answer(numbers).form != "array":
        return None, ""
    lifted = []
    for program in _both(pair):
        shapes = {name: pair.shapes[letter] for name, letter in program.letters.items()}
        try:
            found = lift_in(program.run, program.target, shapes, program.letters)
        except SymattnError as error:
            return None, UNREAD.format(error)
        lifted.append(found)
        if {one.letter for one in found.equations.whole.inputs} != {*pair.shapes}:
            return None, ""  # a letter has another name there, and which is not said
    try:
        equality = equal(*(one.equations.whole for one in lifted))
    except SymattnError:
        return None, ""
    limited = next((one.limited for one in lifted if one.limited), "")
    return (equality if equality and equality.scope == "for all sizes" else None), limited
