"""Diagnosis: which slips explain the mistaken entries of a sheet, and with what evidence.

Several entries of a step first: two exchanged, the same slip in all of them, an operand that was
misread, one logit that differs, a row copied, another step's numbers; then entry by entry. A slip
that would change an entry that is right is out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf, isfinite, log, log2
from typing import NamedTuple

import numpy as np

from symattn.arithmetic.base import Array
from symattn.claims.entry_names import called, leading, line_called
from symattn.derivations import Evaluation, Place
from symattn.errors import SymattnError
from symattn.evaluate.rules import operands
from symattn.mistakes.evidence import LEAST_BITS, Candidates, bits_against
from symattn.mistakes.slips import (
    OF_DIGITS,
    SLIPS,
    Guess,
    Numbers,
    Slip,
    SlipKind,
    Spot,
    guesses,
    spelled,
)
from symattn.nodes.normalise import Softmax
from symattn.step import Step, leading_to

#: How many mistaken entries and rows, and how many misread operands of each, are looked at.
_MOST_ENTRIES, _MOST_ROWS, _MOST_OPERANDS, _MOST_MISREAD = 8, 4, 80, 400

_MISREAD_TELL = "Check each copied number before you calculate with it."
_MISREAD = SlipKind("misread-number", _MISREAD_TELL, lambda spot: iter(()))
_LOGIT_TELL = "Compare the exponents with the scores that you wrote before."
_COPY_TELL = "Compute each row separately; two queries rarely have the same numbers."
_STEP_TELL = "Write numbers under the name of the step that they belong to."


@dataclass(frozen=True, eq=False)
class Entries:
    """The mistaken entries of a sheet (`roots`, by letter), and the numbers around them.

    `own` are the numbers that the learner had before them, `true` the true ones.
    """

    own: Numbers
    true: Numbers
    candidates: Mapping[str, Candidates]
    claims: Mapping[str, Array]
    roots: Mapping[str, Sequence[Place]]
    #: What misconceptions would make of an entry alone.
    tried: Mapping[tuple[str, Place], Sequence[float]]
    #: The misread operands of a step, once they were tried, by letter.
    readings: dict[str, _Readings] = field(default_factory=dict)

    def all_claimed(self, letter: str) -> bool:
        """Whether everything that a step is made of is given or claimed whole."""
        step = self.evaluation.step(letter)
        return step is not None and all(
            self.evaluation.step(operand) is None
            or (operand in self.candidates and bool(self.candidates[operand].claimed.all()))
            for operand in step.operands
        )

    @property
    def evaluation(self) -> Evaluation:
        """The derivation that the entries are held against."""
        return self.own.evaluation

    def name(self, letter: str) -> str:
        """A step's name."""
        return self.evaluation.item(letter).name

    def called(self, letter: str, place: Place) -> str:
        """An entry as a report names it."""
        return called(self.evaluation, letter, place)

    def row_called(self, letter: str, row: Place) -> str:
        """A row as a report names it."""
        return line_called(self.evaluation, letter, (*row, 0))

    def bits(self, letter: str, place: Place) -> float:
        """The bits of a claimed entry."""
        return self.candidates[letter].bits(place, float(self.own.computed(letter)[place]))

    def spots(self, letter: str, place: Place) -> tuple[Spot, ...]:
        """An entry with the student's own numbers before it, and with the true ones."""
        written = self.claims[letter][place]
        own = Spot(self.own, letter, place, written)
        true = Spot(self.true, letter, place, written)
        return (own,) if own.value == true.value else (own, true)


#: What rows and columns are where everything is printed transposed.
_TURNED = {"rows": "columns", "columns": "rows"}


@dataclass(frozen=True)
class Diagnosis:
    """The slips found, and whether they explain every mistaken entry."""

    slips: tuple[Slip, ...]
    complete: bool
    #: Others that explain as much, each alone.
    others: tuple[Slip, ...] = ()


def diagnosed(entries: Entries) -> Diagnosis:
    """The slips that explain mistaken entries, in the order of the calculation."""
    found: list[Slip] = []
    others: list[Slip] = []
    left = 0
    for letter, places in entries.roots.items():
        remaining = list(places)
        for group in (some for some in _groups(remaining) if len(some) > 1):
            slips = _together(entries, letter, group)
            for slip in slips[:1]:
                found.append(slip)
                others += slips[1:]
                remaining = [place for place in remaining if place not in slip.places]
            if not remaining:
                break
        if len(remaining) > _MOST_ENTRIES:
            left += len(remaining)
            continue
        alone = [_alone(entries, letter, place, len(remaining)) for place in remaining]
        found += filter(None, alone)
        left += alone.count(None)
    if len(found) > 3:
        return Diagnosis(tuple(found[:3]), False)
    complete = left == 0 and bool(found)
    return Diagnosis(tuple(found), complete, tuple(others) if len(found) == 1 else ())


def _groups(places: Sequence[Place]) -> Iterator[list[Place]]:
    """All of a step's mistaken entries, then those of each row, then those of each column."""
    yield list(places)
    for axis in (-2, -1):
        lines: dict[Place, list[Place]] = {}
        for place in places:
            line = (*place[:-2], place[axis])
            lines.setdefault(line, []).append(place)
        if len(lines) > 1:
            yield from list(lines.values())[:_MOST_ROWS]


# ---- one entry ----------------------------------------------------------------------------------


def _alone(entries: Entries, letter: str, place: Place, several: int) -> Slip | None:
    """The likeliest slip that gives an entry's number, if it is no accident."""
    candidates = entries.candidates[letter]
    spots = entries.spots(letter, place)
    tried = list(entries.tried.get((letter, place), ()))
    best: tuple[float, Guess] | None = None
    listed = sorted((guess for spot in spots for guess in guesses(spot)), key=_rank)
    meant = spots[0].value
    for guess in listed:
        tried.append(guess.value)
        if candidates.matches(place, guess.value):
            best = candidates.chance(place, tried, meant), guess
            break
    best = best or _nearly(candidates, place, spots, listed, tried)
    if best is None:
        return _one_operand(entries, letter, place, tried, several)
    chance, guess = best
    if (bits := bits_against(chance * several)) < LEAST_BITS:
        return None
    return _slip(entries, letter, place, guess, bits)


def _nearly(
    candidates: Candidates,
    place: Place,
    spots: Sequence[Spot],
    listed: Sequence[Guess],
    tried: Sequence[float],
) -> tuple[float, Guess] | None:
    """A slip that misses the claim by a unit or two, as numbers rounded in between do.

    Digits are those of a number that is a unit or two away: what is quoted is what was written.
    """
    unit, claim = candidates.unit(place), float(candidates.claims[place])
    close = [guess for guess in listed if guess.kind not in OF_DIGITS]
    close = [guess for guess in close if abs(guess.value - claim) <= 2.5 * unit]
    for spot in spots:
        for units in (-1, 1, -2, 2):
            digits = guesses(spot.moved(units), OF_DIGITS)
            close += [guess for guess in digits if candidates.matches(place, guess.value)]
    if not close:
        return None
    window = [x + k * unit for x in tried for k in (-2, -1, 0, 1, 2)]
    chance = candidates.chance(place, window, spots[0].value)
    return chance, min(close, key=_rank)


def _rank(guess: Guess) -> int:
    """The place of a guess among the slips, which are in order from the likeliest."""
    return SLIPS.index(guess.kind)


def _one_operand(
    entries: Entries, letter: str, place: Place, tried: list[float], several: int
) -> Slip | None:
    """An operand that was misread, where that changes no other claimed entry."""
    candidates, readings = entries.candidates[letter], _readings(entries, letter)
    first, listed = readings.fitting([place])
    if first < 0:
        return None
    tried += [float(readings.values[(k, *place)]) for k in listed if k <= first]
    chance = candidates.chance(place, tried, float(entries.own.computed(letter)[place]))
    if (bits := bits_against(chance * several)) < LEAST_BITS:
        return None
    return _slip(entries, letter, place, readings.listed[first].guess, bits)


def _slip(entries: Entries, letter: str, place: Place, guess: Guess, bits: float) -> Slip:
    """A guess as what was done in one entry."""
    kind = guess.kind
    return Slip(kind.name, guess.said(), kind.tell, entries.name(letter), (place,), bits)


# ---- several entries -----------------------------------------------------------------------------


def _together(entries: Entries, letter: str, places: Sequence[Place]) -> list[Slip]:
    """One slip that explains several entries of a step; two where both are exchanges."""
    candidates = entries.candidates[letter]
    bits = sum(entries.bits(letter, place) for place in places)
    if len({place[:-1] for place in places}) == 1 and candidates.sums_to_one(places):
        bits -= max(entries.bits(letter, place) for place in places)
    found: list[Slip] = []
    chosen: list[Slip] = []  # with a number of our choosing, where nothing else fits
    for rank, trial in enumerate(_trials(entries, letter, places), start=1):
        if found and not (trial.fits and trial.name.startswith("exchanged")):
            break
        evidence = bits - log2(rank) - trial.chosen
        if trial.fits and evidence >= LEAST_BITS:
            step = entries.name(letter)
            slip = Slip(trial.name, trial.said(), trial.tell, step, tuple(places), evidence)
            (chosen if trial.chosen else found).append(slip)
        elif trial.fits and not trial.chosen:
            break
    return found or chosen[:1]


class _Trial(NamedTuple):
    """A slip that may give all of several entries."""

    name: str
    tell: str
    said: Callable[[], str]
    #: Whether it gives all of them.
    fits: bool
    #: The bits of a number that was chosen so that it fits.
    chosen: float = 0.0


def _trials(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Trial]:
    """The slips that are tried on several entries, the likelier first."""
    yield from _exchanged(entries, letter, places, entries.own.computed(letter))
    yield from _exchanged(entries, letter, places, entries.true.computed(letter))
    rows, columns = {place[:-1] for place in places}, {place[-1] for place in places}
    if len(rows) == 1:
        yield from _other_logit(entries, letter, places)
        yield from _same_slip(entries, letter, places)
        yield from _copied_row(entries, letter, places)
    if len(rows) == 1 or len(columns) == 1 or not entries.all_claimed(letter):
        readings = _readings(entries, letter)
        first, tried = readings.fitting(places)
        for k in tried if first < 0 else tried[tried <= first]:
            guess = readings.listed[k].guess
            yield _Trial(guess.kind.name, guess.kind.tell, guess.said, k == first)
    if len(places) == len(entries.roots[letter]):
        yield from _other_step(entries, letter)


def _other_step(entries: Entries, letter: str) -> Iterator[_Trial]:
    """The numbers of another step, in all that is claimed of this one.

    Not of one that it is made of: that is a step left out, which has a name of its own.
    """
    candidates, evaluation = entries.candidates[letter], entries.evaluation
    claimed = [tuple(map(int, place)) for place in np.argwhere(candidates.claimed)]
    steps = [item for name in evaluation if isinstance(item := evaluation[name].step, Step)]
    before = leading_to(steps, {letter})
    for other in (step for step in steps if step.letter not in before):
        value = entries.true.computed(other.letter)  # what follows from these numbers is like them
        fits = value.shape == candidates.shape and all(
            candidates.matches(place, float(value[place])) for place in claimed
        )
        said = partial("{} holds the numbers of {}".format, entries.name(letter), other.name)
        yield _Trial("other-step", _STEP_TELL, said, fits)


def _exchanged(
    entries: Entries, letter: str, places: Sequence[Place], value: Array
) -> Iterator[_Trial]:
    """Two entries, or two rows, that stand in each other's place."""
    matches, evaluation = entries.candidates[letter].matches, entries.evaluation
    if len(places) == 2:
        one, two = places
        fits = matches(one, float(value[two])) and matches(two, float(value[one]))
        names = f"{entries.called(letter, one)} and {entries.called(letter, two)}"
        said = partial("{} are exchanged".format, names)
        yield _Trial("exchanged-entries", _MISREAD_TELL, said, fits)
    notation = evaluation.notation
    for axis, word in ((-2, "rows"), (-1, "columns")):
        lines = sorted({place[axis] for place in places})
        heads = {place[:-2] for place in places}
        if len(lines) != 2 or len(heads) != 1 or len(places) < 3:
            continue
        other = np.moveaxis(np.array(value[next(iter(heads))]), axis, 0)
        other[lines] = other[lines[::-1]]
        turned = np.moveaxis(other, 0, axis)
        fits = all(matches(place, float(turned[place[-2:]])) for place in places)
        printed = word if notation.convention == "rows" else _TURNED[word]
        counted = " and ".join(str(one + notation.index_base) for one in lines)
        inside = leading(evaluation, letter, evaluation.place_of(letter, places[0]), notation)
        where = f"{entries.name(letter)}{inside and f' in {inside}'}"
        said = partial("{} {} of {} are exchanged".format, printed, counted, where)
        yield _Trial(f"exchanged-{word}", _MISREAD_TELL, said, fits)


def _copied_row(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Trial]:
    """The numbers of another row, which is right."""
    candidates = entries.candidates[letter]
    *lead, row, _ = places[0]
    wrong = {place[:-1] for place in entries.roots[letter]}
    claimed = [j for j in range(candidates.shape[-1]) if candidates.claimed[(*lead, row, j)]]
    for matrix in (entries.own.taken(letter), entries.own.computed(letter)):
        for other in range(candidates.shape[-2]):
            if other == row or (*lead, other) in wrong:
                continue
            fits = all(
                candidates.matches((*lead, row, j), float(matrix[(*lead, other, j)]))
                for j in claimed
            )
            names = (entries.row_called(letter, (*lead, i)) for i in (row, other))
            said = partial("{} holds the numbers of {}".format, *names)
            yield _Trial("copied-row", _COPY_TELL, said, fits)


def _same_slip(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Trial]:
    """The same slip in every mistaken entry of a row, which leaves the others as they are."""
    candidates, row = entries.candidates[letter], places[0][:-1]
    columns = [j for j in range(candidates.shape[-1]) if candidates.claimed[(*row, j)]]
    mistaken = [columns.index(place[-1]) for place in places]
    name = entries.called(letter, places[0])
    names = " and ".join(entries.called(letter, place) for place in places)
    if len(places) == len(columns):
        names = entries.row_called(letter, row)
    for numbers in (0, -1):  # with the student's own numbers, with the true ones
        slips = _slips_of(entries.spots(letter, places[0])[numbers])
        # most slips are ruled out by one entry, before the others are looked at
        possible = any(candidates.matches(places[0], guess.value) for guess in slips.values())
        spots = [entries.spots(letter, (*row, j))[numbers] for j in columns if possible]
        tables = [_slips_of(each) for each in spots]
        for key, first in slips.items():
            if possible and not all(key in tables[k] for k in mistaken):
                continue
            fits = possible and all(
                candidates.matches((*row, j), table[key].value if key in table else spot.value)
                for j, table, spot in zip(columns, tables, spots, strict=True)
            )
            said = partial(_said_of, first, name, names)
            yield _Trial(first.kind.name, first.kind.tell, said, fits)


def _said_of(guess: Guess, name: str, names: str) -> str:
    return guess.said().replace(name, names)


def _slips_of(spot: Spot) -> dict[tuple[object, ...], Guess]:
    """The slips that may be repeated along a row, by what tells that they are the same."""
    return {guess.key: guess for guess in guesses(spot, _IN_ROWS)}


#: The kinds that the same hand may repeat along a row.
_IN_ROWS: tuple[SlipKind, ...] = tuple(
    kind
    for kind in SLIPS
    if kind.name not in ("swapped-digits", "misread-digit", "copied-entry", "row-for-column")
)


def _other_logit(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Trial]:
    """A row of a softmax in which one logit z_j was another one.

    The weights tell which: z_j = ln(a_j / (1 − a_j)) + ln Σ_k≠j e^(z_k).
    """
    candidates, line = entries.candidates[letter], places[0][:-1]
    logits = _logits(entries, letter, line)
    if logits is None or not candidates.claimed[line].all() or candidates.hidden[line].any():
        return
    _, z = logits
    shares, unit = candidates.claims[line], candidates.units[line]
    for j in range(len(z)):
        rest = np.delete(np.arange(len(z)), j)
        others = np.exp(z[rest] - z[rest].max()) if np.isfinite(z[rest]).any() else np.zeros(0)
        share = float(shares[j])
        if not 0 < share < 1 or not others.sum() > 0:
            yield _Trial("other-logit", _LOGIT_TELL, str, False)
            continue
        meant = log(share / (1 - share)) + log(others.sum()) + float(z[rest].max())
        split = others / others.sum()  # of what a_j leaves
        off = np.abs((1 - share) * split - shares[rest])
        fits = bool((off <= 0.5 * unit[rest] + split * unit[j] + 1e-12).all())
        chosen = max(entries.bits(letter, (*line, k)) for k in range(len(z)))
        said = partial(_belonging, entries, letter, (*line, j), logits, meant)
        yield _Trial("other-logit", _LOGIT_TELL, said, fits, chosen)


def _belonging(
    entries: Entries, letter: str, place: Place, logits: tuple[str, Array], meant: float
) -> str:
    """The sentence that says which logit the weights of a row belong to."""
    (before, z), line, j = logits, place[:-1], place[-1]
    candidates = entries.candidates[letter]
    number = _shortest(meant, z, j, candidates.claims[line], candidates.units[line])
    row, logit = entries.row_called(letter, line), called(entries.evaluation, before, place)
    return f"{row} belong to {logit} = {number} rather than {spelled(float(z[j]))}"


def _logits(entries: Entries, letter: str, line: Place) -> tuple[str, Array] | None:
    """The step before a softmax and its numbers in one row."""
    expr = getattr(entries.evaluation.step(letter), "expr", None)
    before = str(getattr(expr.args[0], "name", "")) if isinstance(expr, Softmax) else ""
    if not before:
        return None
    taken = entries.own.taken(before)
    if taken.shape != entries.candidates[letter].shape:
        return None
    return before, np.asarray(taken[line], dtype=float)


def would_belong(entries: Entries, letter: str) -> str:
    """The logit that the weights of the first mistaken row would belong to, where one differs."""
    line = entries.roots[letter][0][:-1]
    places = [place for place in entries.roots[letter] if place[:-1] == line]
    fitting = [trial for trial in _other_logit(entries, letter, places) if trial.fits]
    return fitting[-1].said().replace("belong to", "would belong to") if fitting else ""


def _shortest(meant: float, z: Array, j: int, shares: Array, units: Array) -> str:
    """The logit with as few digits as give the claimed weights."""
    for digits in range(5):
        tried = round(meant, digits)
        other = z.copy()
        other[j] = tried
        again = np.exp(other - other.max())
        if (np.abs(again / again.sum() - shares) <= 0.5 * units + 1e-12).all():
            return spelled(tried)
    return spelled(round(meant, 2))


# ---- operands ------------------------------------------------------------------------------------


class _Misread(NamedTuple):
    """A number that was another when it was used."""

    letter: str
    place: Place
    guess: Guess


@dataclass(frozen=True, eq=False)
class _Readings:
    """A step for every number that may have been misread: `values` has one matrix a reading."""

    listed: tuple[_Misread, ...]
    values: Array
    near: Array
    #: Which entries a reading changes, and which readings change no entry that is right.
    touched: Array
    viable: Array

    def fitting(self, places: Sequence[Place]) -> tuple[int, Array]:
        """The first reading that gives these entries, −1 if none does; those that touch them."""
        at_places = (slice(None), *np.array(places).T)
        touching = self.viable & self.touched[at_places].any(axis=1)
        fitting = self.viable & self.near[at_places].all(axis=1)
        first = int(np.argmax(fitting)) if fitting.any() else -1
        return first, np.flatnonzero(touching)


def _readings(entries: Entries, letter: str) -> _Readings:
    """The step for every number that may have been misread."""
    if letter not in entries.readings:
        entries.readings[letter] = _tried_readings(entries, letter)
    return entries.readings[letter]


def _tried_readings(entries: Entries, letter: str) -> _Readings:
    by_letter: dict[str, list[_Misread]] = {}
    for misread in _numbers_misread(entries, letter, entries.roots[letter]):
        by_letter.setdefault(misread.letter, []).append(misread)
    candidates, shape = entries.candidates[letter], entries.candidates[letter].shape
    listed: list[_Misread] = []
    stacks = [np.empty((0, *shape))]
    for operand, some in by_letter.items():
        for numbers in (entries.own, entries.true):
            try:
                values = _again(numbers, letter, operand, some)
            except SymattnError:
                continue
            if values.shape == (len(some), *shape):
                listed += some
                stacks.append(values)
    values = np.concatenate(stacks)
    slack = 1e-9 * max(1.0, candidates.largest)
    mistaken = np.zeros(shape, dtype=bool)
    mistaken[tuple(np.array(entries.roots[letter]).T)] = True
    with np.errstate(all="ignore"):
        near = np.abs(values - candidates.claims) <= 0.5 * candidates.units + slack
        near |= candidates.hidden & np.isneginf(values)
        usual = np.asarray(entries.own.computed(letter), dtype=float)
        touched = ~((np.abs(values - usual) <= slack) | (values == usual))
    broken = candidates.claimed & ~near & ~mistaken & touched
    viable = ~broken.any(axis=tuple(range(1, broken.ndim)))
    return _Readings(tuple(listed), values, near, touched, viable)


def _again(numbers: Numbers, letter: str, operand: str, listed: Sequence[_Misread]) -> Array:
    """The step for each of several values of an operand, all at once."""
    evaluation = numbers.evaluation
    usual = np.asarray(numbers.taken(operand), dtype=float)
    batch = np.repeat(usual[None], len(listed), axis=0)
    for k, misread in enumerate(listed):
        batch[(k, *misread.place)] = misread.guess.value
    known = {operand: batch}

    def read(name: str) -> Array:
        return known[name] if name in known else numbers.taken(name)

    with np.errstate(all="ignore"):
        for step in evaluation.steps:
            if step.letter == operand or not any(name in known for name in step.operands):
                continue
            value = evaluation.follow(step, read, evaluation.arithmetic)
            if step.letter == letter:
                return np.broadcast_to(value, (len(listed), *value.shape[1:]))
            if step.letter not in numbers.claims:
                known[step.letter] = value
    return np.empty((0,))


def _numbers_misread(entries: Entries, letter: str, places: Sequence[Place]) -> list[_Misread]:
    """The numbers that the entries are made of, each with what it may have been taken for."""
    seen: dict[tuple[str, Place], bool] = {}
    pending = [(letter, place) for place in places[:_MOST_ENTRIES]]
    while pending and len(seen) < _MOST_OPERANDS:
        for operand, place in operands(entries.evaluation, *pending.pop(0)):
            if (operand, place) in seen:
                continue
            computed = entries.evaluation.step(operand) is not None
            claimed = entries.claims.get(operand)
            seen[operand, place] = computed and (claimed is None or claimed[place] is None)
            if seen[operand, place]:
                pending.append((operand, place))
    return list(islice(_misread(entries, letter, seen), _MOST_MISREAD))


def _misread(
    entries: Entries, letter: str, read: Mapping[tuple[str, Place], bool]
) -> Iterator[_Misread]:
    """What the numbers that are read may have been; of each, whether it is not claimed."""
    for (operand, place), unclaimed in read.items():
        spot = Spot(entries.own, operand, place, None)
        if not unclaimed:
            yield from _taken_for(entries, letter, operand, place, spot)
            continue
        yield from (_Misread(operand, place, guess) for guess in guesses(spot))


def _taken_for(
    entries: Entries, letter: str, operand: str, place: Place, spot: Spot
) -> Iterator[_Misread]:
    """What a number may have been taken for: −x, 0, a neighbour, or itself not scaled or masked."""
    value, text = entries.own.read(operand, place), entries.own.text(operand, place)
    if not isfinite(value):
        return
    others: dict[float, str] = {}
    if value:
        others[-value] = spelled(-value)
        others[0.0] = "0"
    for other, distance in spot.around():
        if distance == 1:
            number = entries.own.read(operand, other)
            if number != value and number > -inf:
                others.setdefault(number, entries.own.text(operand, other))
    for name, new, part, _ in spot.variations:
        if name in ("unscaled", "scaled-twice", "unmasked"):
            words = _WORDS[name].format(spot.words(part))
            others.setdefault(new, f"{spelled(new)} ({words})")
    step, entry = entries.name(letter), spot.called(place)
    for number, spelling in others.items():
        words = "{} is worked out with {} = {} instead of {}"
        said = partial(words.format, step, entry, spelling, text)
        yield _Misread(operand, place, Guess(_MISREAD, number, said, ()))


_WORDS = {
    "unscaled": "not divided by {}",
    "scaled-twice": "divided by {} twice",
    "unmasked": "without the mask",
}
