"""Whether two functions are the same, of whatever libraries, by what they are given and return.

Arguments are matched by name. Numbers are tried first, from small sizes to larger ones; what they
do not tell apart is run on entries that record, and each entry of both results is brought to one
form (`terms`) at small sizes. Where both have equations, these are compared for all sizes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from symattn.algebra.equality import Equality, equal
from symattn.arithmetic.base import Array
from symattn.budget import Spent
from symattn.errors import SymattnError, quote
from symattn.isolation import Limits, Run
from symattn.lifting.certificate import function_data, of_programs
from symattn.lifting.fields import decided
from symattn.lifting.held import OfPrograms, parts
from symattn.lifting.lift import asked_of, lift, running, shapes_of, square_of
from symattn.lifting.limits import LIMITS, PROVEN
from symattn.lifting.numerals import TRIAL
from symattn.lifting.precise import Program
from symattn.lifting.proving import ROUNDED, SMALL, Difference, Proven
from symattn.lifting.recording import Target, arguments, parameters
from symattn.lifting.tapes import near
from symattn.lifting.taping import taped
from symattn.verifying.calling import Answer, Call, Given, here
from symattn.verifying.loading import Ended, there
from symattn.verifying.shrinking import DRAWS, Search, made_small
from symattn.verifying.subject import canonical_name


@dataclass(frozen=True)
class _Program(Program):
    """A function, where it runs, and what its arguments are called in the other one."""

    letters: Mapping[str, str]
    library: str = ""

    def call(self, numbers: Mapping[str, Array]) -> Call:
        """A call with these numbers, by letter."""
        given = tuple(
            Given(one.name, "matrix", letter, one.kind == "POSITIONAL_ONLY", numbers[letter])
            for one in self.function.signature.arguments or ()
            if (letter := self.letters.get(one.name)) is not None
        )
        return Call(given, self.library, "float64")

    def answer(self, numbers: Mapping[str, Array]) -> Answer:
        """What comes of a call. Raises `SymattnError` where nothing does."""
        found = self.function.answer(self.call(numbers))
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
        listed = (size for shape in self.shapes.values() for size in shape)
        return [*dict.fromkeys(size for size in listed if not size.isdigit())]

    def drawn(
        self, sizes: Mapping[str, int], seed: int = 0, whole: bool = False
    ) -> dict[str, Array]:
        """Numbers for what is given, of two decimals or small whole ones."""
        return OfPrograms(self.shapes, sizes).drawn(seed, whole)

    def answers(self, numbers: Mapping[str, Array]) -> tuple[Answer, Answer]:
        """What both return."""
        return self.one.answer(numbers), self.other.answer(numbers)


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
        programs = _loaded(here_one, one, limits), _loaded(here_other, other, limits)
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
    tried = _tried(pair, small)
    if tried.shown is not None:
        return replace(common, verdict="different", difference=tried.shown)
    if tried.unsure:
        return replace(
            common, reason=f"their numbers differ, by rounding it may be: {tried.unsure}"
        )
    common = replace(common, agreed=not tried.rounds)
    try:
        common, unformed = _held(pair, small, common)
    except SymattnError as error:
        return replace(common, reason=str(error))
    rounded = ROUNDED if tried.rounds else ""
    equality, limited = _for_all(pair, numbers) if tried.everywhere else (None, "")
    if equality is not None:
        if not limited:
            return replace(
                common,
                verdict="equal for all sizes",
                equality=equality,
                certificate=equality.certificate,
            )
        rounded = limited
    common = replace(common, sizes=small, reason=rounded)
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


def _tried(pair: _Pair, small: Mapping[str, int]) -> _Tried:
    """What comes of numbers, from small sizes to large ones."""
    found = _Tried()
    for sizes in _trials(pair, small):
        given = pair.drawn(sizes)
        try:
            answers = pair.answers(given)
        except SymattnError:
            found = replace(found, everywhere=False)
            continue
        if _difference(given, *answers) is not None:
            shown, unsure = _confirmed(pair, sizes, given)
            if shown is not None:
                return replace(found, shown=shown)
            found = replace(found, rounds=True, unsure=found.unsure or unsure)
    return found


def _confirmed(
    pair: _Pair, sizes: Mapping[str, int], given: Mapping[str, Array]
) -> tuple[Difference | None, str]:
    """A difference in real arithmetic, made small; or why none is known.

    What cannot be recorded at these sizes is tried where all sizes but one, or two, are small.
    """
    unsure = ""
    try:
        shown = _in_real_numbers(pair, given)
    except (SymattnError, ArithmeticError) as error:
        unsure = str(error)
        narrow = ((sizes, _shown(pair, pair.drawn(sizes))) for sizes in _narrow(pair))
        sizes, shown = next((one for one in narrow if one[1] is not None), ({}, None))
    if shown is None:
        return None, unsure
    search = Search(partial(_at, pair), lambda _, given: _shown(pair, given), lambda x: x.given)
    return made_small(shown, sizes, {*pair.names} - {*pair.said}, search), ""


def _at(pair: _Pair, sizes: Mapping[str, int]) -> Difference | None:
    """A difference at these sizes, with small whole numbers if one is found."""
    draws = (pair.drawn(sizes, seed, whole) for seed in range(DRAWS) for whole in (True, False))
    return next((shown for given in draws if (shown := _shown(pair, given)) is not None), None)


def _shown(pair: _Pair, given: Mapping[str, Array]) -> Difference | None:
    """A difference that floats and real arithmetic show."""
    try:
        in_floats = _difference(given, *pair.answers(given))
        return None if in_floats is None else _in_real_numbers(pair, given)
    except (SymattnError, ArithmeticError):
        return None


def _both(pair: _Pair) -> tuple[_Program, _Program]:
    return pair.one, pair.other


# ---- how they are called ---------------------------------------------------------------------


def _loaded(run: Run, target: Target, limits: Limits) -> _Program:
    """A function that is called where it runs."""
    function = there(run, target) if isinstance(target, str) else here(target)
    return _Program(run, target, function, limits, {})


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
    name = program.function.name
    listed = json.loads(asked_of(program.run, arguments, program.target, name))
    own = json.loads(asked_of(program.run, parameters, program.target, name))
    listed += [[parameter, "", True, "KEYWORD_ONLY"] for parameter, *_ in own]
    return listed, {parameter: tuple(shape) for parameter, _, shape in own}


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


def _narrow(pair: _Pair) -> Iterator[Mapping[str, int]]:
    """Sizes of which one is large, or those of queries and keys."""
    names = pair.names
    for large in ({"n", "m"}, *({name} for name in names)):
        yield {name: TRIAL[0] if name in large else 2 for name in names} | {**pair.said}


# ---- numbers ---------------------------------------------------------------------------------


def _in_real_numbers(pair: _Pair, given: Mapping[str, Array]) -> Difference | None:
    """Where two programs differ in real arithmetic. Raises `SymattnError` where it is not known."""
    try:
        answers = [program.precisely(program.call(given)) for program in _both(pair)]
    except Ended as ended:
        raise SymattnError(ended.failure.line) from None
    return _difference(given, *answers)


def _difference(given: Mapping[str, Array], one: Answer, other: Answer) -> Difference | None:
    """Where two answers differ by more than rounding; None for nowhere.

    What is not finite may be so by rounding alone, and tells nothing.
    """
    for mine, its, which in parts(one, other):
        if mine.numbers.shape != its.numbers.shape:
            shapes = [" × ".join(map(str, x.numbers.shape)) or "a number" for x in (mine, its)]
            return Difference(
                given, f"The first returns{which} {shapes[0]}, the second {shapes[1]}"
            )
        finite = np.isfinite(mine.numbers) & np.isfinite(its.numbers)
        a, b = (np.where(finite, x.numbers, 0.0) for x in (mine, its))
        wrong = ~near(a, b, max(mine.rounding, its.rounding, LIMITS.shown))
        if wrong.any():
            place = tuple(int(k) for k in np.argwhere(wrong)[0])
            where = f"Entry {[*place]}{which}" if place else f"What they return{which}"
            return Difference(
                given, f"{where} is {a[place]:.6g} of the first and {b[place]:.6g} of the second"
            )
    return None


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

    And why nothing is said of all sizes, in spite of it.
    """
    if pair.said or pair.one.answer(numbers).form != "array":
        return None, ""
    lifted = []
    for program in _both(pair):
        shapes = {name: pair.shapes[letter] for name, letter in program.letters.items()}
        try:
            found = lift(program.target, shapes, letters=program.letters, **vars(program.limits))
        except SymattnError:
            return None, ""
        lifted.append(found)
        if {one.letter for one in found.equations.whole.inputs} != {*pair.shapes}:
            return None, ""  # a letter has another name there, and which is not said
    try:
        equality = equal(*(one.equations.whole for one in lifted))
    except SymattnError:
        return None, ""
    limited = next((one.limited for one in lifted if one.limited), "")
    return (equality if equality and equality.scope == "for all sizes" else None), limited
