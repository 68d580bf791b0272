"""Which slips explain the mistaken entries of a sheet, and with what evidence.

Entries of one row first: the same slip in all of them, an operand that was misread, one logit that
differs, a row copied; then entry by entry. A slip that would change an entry that is right is out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, log, log2

import numpy as np

from symattn.arithmetic.base import Array
from symattn.derivation import Evaluation, Place
from symattn.errors import SymattnError
from symattn.nodes.lines import LineQuotient
from symattn.nodes.normalise import Softmax
from symattn.nodes.rule import Entry, parts
from symattn.worksheet.misconceptions.evidence import LEAST_BITS, Field, weighed
from symattn.worksheet.misconceptions.slips import (
    SLIPS,
    Guess,
    Numbers,
    Rules,
    Slip,
    SlipKind,
    Spot,
    guesses,
    named,
    spelled,
)
from symattn.worksheet.reading.naming import called, leading, line_called

#: How many mistaken entries and rows, and how many misread operands of each, are looked at.
_MOST_ENTRIES, _MOST_ROWS, _MOST_OPERANDS, _MOST_MISREAD = 8, 4, 80, 400

_MISREAD_TELL = "Copy each number once more before you calculate with it."
_LOGIT_TELL = "Compare the exponents with the scores that you wrote before."
_COPY_TELL = "Work each row out by itself; two queries rarely have the same numbers."


@dataclass(frozen=True, eq=False)
class Entries:
    """A sheet's mistaken entries (`roots`, by letter), and the numbers around them."""

    own: Numbers
    true: Numbers
    rules: Rules
    fields: Mapping[str, Field]
    claims: Mapping[str, Array]
    roots: Mapping[str, Sequence[Place]]
    #: What misconceptions would make of an entry alone.
    tried: Mapping[tuple[str, Place], Sequence[float]]
    #: What was worked out already, by letter.
    readings: dict[str, object] = field(default_factory=dict)

    def all_claimed(self, letter: str) -> bool:
        """Whether everything that a step is made of is given or claimed whole."""
        step = self.evaluation.step(letter)
        return step is not None and all(
            self.evaluation.step(operand) is None
            or (operand in self.fields and bool(self.fields[operand].there.all()))
            for operand in step.operands
        )

    @property
    def evaluation(self) -> Evaluation:
        """The derivation that the entries are held against."""
        return self.own.evaluation

    def name(self, letter: str) -> str:
        """A step's name."""
        return self.evaluation.item(letter).name

    def bits(self, letter: str, place: Place) -> float:
        """The bits of a claimed entry."""
        return self.fields[letter].bits(place, float(self.own.computed(letter)[place]))

    def spots(self, letter: str, place: Place) -> tuple[Spot, ...]:
        """An entry with the student's own numbers before it, and with the true ones."""
        written = self.claims[letter][place]
        own = Spot(self.own, self.rules, letter, place, written)
        true = Spot(self.true, self.rules, letter, place, written)
        return (own,) if own.value == true.value else (own, true)


#: What rows and columns are where everything is printed transposed.
_TURNED = {"rows": "columns", "columns": "rows"}


def _called(entries: Entries, letter: str, place: Place) -> str:
    return called(entries.evaluation, letter, place)


def _row_called(entries: Entries, letter: str, row: Place) -> str:
    return line_called(entries.evaluation, letter, (*row, 0))


@dataclass(frozen=True)
class Slipped:
    """The slips found, and whether they explain every mistaken entry."""

    parts: tuple[Slip, ...]
    complete: bool
    #: Others that explain as much, each alone.
    others: tuple[Slip, ...] = ()


def slipped(entries: Entries) -> Slipped:
    """The slips that explain mistaken entries, in the order of the calculation."""
    found: list[Slip] = []
    others: list[Slip] = []
    left = 0
    for letter, places in entries.roots.items():
        remaining = list(places)
        for group in _groups(remaining):
            if len(group) < 2:
                continue
            slips = _together(entries, letter, group)
            for slip in slips[:1]:
                found.append(slip)
                others += slips[1:]
                remaining = [place for place in remaining if place not in slip.places]
            if not remaining:
                break
        several = len(remaining)
        if several > _MOST_ENTRIES:
            left += several
            continue
        for place in remaining:
            one = _alone(entries, letter, place, several)
            if one is None:
                left += 1
            else:
                found.append(one)
    if len(found) > 3:
        return Slipped(tuple(found[:3]), False)
    complete = left == 0 and bool(found)
    return Slipped(tuple(found), complete, tuple(others) if len(found) == 1 else ())


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
    field = entries.fields[letter]
    spots = entries.spots(letter, place)
    tried = list(entries.tried.get((letter, place), ()))
    best: tuple[float, Guess] | None = None
    order = {kind: k for k, kind in enumerate(SLIPS)}
    listed = sorted(
        (guess for spot in spots for guess in guesses(spot)), key=lambda g: order[g.kind]
    )
    meant = spots[0].value
    for guess in listed:
        tried.append(guess.value)
        if field.matches(place, guess.value):
            best = field.chance(place, tried, meant), guess
            break
    if best is None:
        near = _nearly(field, place, listed, tried, meant)
        if near is None:
            return _one_operand(entries, letter, place, tried, several)
        best = near
    chance, guess = best
    if (told := weighed(chance * several)) < LEAST_BITS:
        return None
    kind, step = guess.kind, entries.name(letter)
    return Slip(kind.name, guess.said, kind.tell, step, (place,), told)


def _nearly(
    field: Field, place: Place, listed: Sequence[Guess], tried: Sequence[float], meant: float
) -> tuple[float, Guess] | None:
    """A slip that misses the claim by a unit or two, as numbers rounded in between do."""
    unit, claim = field.unit(place), float(field.numbers[place])
    for guess in listed:
        if abs(guess.value - claim) <= 2.5 * unit and isfinite(guess.value):
            window = [x + k * unit for x in tried for k in (-2, -1, 0, 1, 2)]
            return field.chance(place, window, meant), guess
    return None


def _one_operand(
    entries: Entries, letter: str, place: Place, tried: list[float], several: int
) -> Slip | None:
    """An operand that was misread, where that changes no other claimed entry."""
    field = entries.fields[letter]
    first, listed, values = _read_so(entries, letter, [place])
    if first < 0:
        return None
    tried += [float(x) for k, x in zip(listed, values, strict=True) if k <= first]
    chance = field.chance(place, tried, float(entries.own.computed(letter)[place]))
    if (told := weighed(chance * several)) < LEAST_BITS:
        return None
    table = _readings(entries, letter)
    assert table is not None
    misread, step = table.listed[first], entries.name(letter)
    return Slip(misread.name, misread.said, misread.tell, step, (place,), told)


# ---- several entries -----------------------------------------------------------------------------


def _together(entries: Entries, letter: str, places: Sequence[Place]) -> list[Slip]:
    """One slip that explains several entries of a step; two where both are exchanges."""
    field = entries.fields[letter]
    bits = sum(entries.bits(letter, place) for place in places)
    if len({place[:-1] for place in places}) == 1 and field.sums_to_one(places):
        bits -= max(entries.bits(letter, place) for place in places)
    found: list[Slip] = []
    chosen: list[Slip] = []  # with a number of our choosing, where nothing else fits
    for rank, (name, said, tell, free) in enumerate(_ways(entries, letter, places), start=1):
        if found and not name.startswith("exchanged"):
            break
        told = bits - log2(rank) - free
        if name and told >= LEAST_BITS:
            slip = Slip(name, said, tell, entries.name(letter), tuple(places), told)
            (chosen if free else found).append(slip)
        elif name and not free:
            break
    return found or chosen[:1]


#: The name of a slip that fits ("" for one that does not), what it is, what to tell, and the bits
#: of the number that was chosen to fit.
_Way = tuple[str, str, str, float]
_NOT: _Way = ("", "", "", 0.0)


def _ways(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Way]:
    yield from _exchanged(entries, letter, places, entries.own.computed(letter))
    yield from _exchanged(entries, letter, places, entries.true.computed(letter))
    rows = {place[:-1] for place in places}
    if len(rows) == 1:
        yield from _other_logit(entries, letter, places)
        yield from _same_slip(entries, letter, places)
        yield from _copied_row(entries, letter, places)
    columns = {place[-1] for place in places}
    if len(rows) == 1 or len(columns) == 1 or not entries.all_claimed(letter):
        first, listed, _ = _read_so(entries, letter, places)
        yield from (_NOT for k in listed if first < 0 or k < first)
        table = _readings(entries, letter)
        if first >= 0 and table is not None:
            misread = table.listed[first]
            yield misread.name, misread.said, misread.tell, 0.0


def _exchanged(
    entries: Entries, letter: str, places: Sequence[Place], value: Array
) -> Iterator[_Way]:
    """Two entries, or two rows, that stand in each other's place."""
    field = entries.fields[letter]
    if len(places) == 2:
        one, two = places
        fits = field.matches(one, float(value[two])) and field.matches(two, float(value[one]))
        said = f"{_called(entries, letter, one)} and {_called(entries, letter, two)} are exchanged"
        yield ("exchanged-entries", said, _MISREAD_TELL, 0.0) if fits else _NOT
    notation = entries.evaluation.notation
    for axis, word in ((-2, "rows"), (-1, "columns")):
        lines = sorted({place[axis] for place in places})
        heads = {place[:-2] for place in places}
        if len(lines) != 2 or len(heads) != 1 or len(places) < 3:
            continue
        other = np.moveaxis(np.array(value[next(iter(heads))]), axis, 0)
        other[lines] = other[lines[::-1]]
        turned = np.moveaxis(other, 0, axis)
        fits = all(field.matches(place, float(turned[place[-2:]])) for place in places)
        printed = word if notation.convention == "rows" else _TURNED[word]
        counted = " and ".join(str(one + notation.index_base) for one in lines)
        inside = leading(
            entries.evaluation, letter, entries.evaluation.place_of(letter, places[0]), notation
        )
        where = f"{entries.name(letter)}{inside and f' in {inside}'}"
        said = f"{printed} {counted} of {where} are exchanged"
        yield (f"exchanged-{word}", said, _MISREAD_TELL, 0.0) if fits else _NOT


def _copied_row(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Way]:
    field = entries.fields[letter]
    *lead, row, _ = places[0]
    wrong = {place[:-1] for place in entries.roots[letter]}
    for source in (entries.own.taken(letter), entries.own.computed(letter)):
        for other in range(field.shape[-2]):
            if other == row or (*lead, other) in wrong:
                continue
            fits = all(
                field.matches((*lead, row, j), float(source[(*lead, other, j)]))
                for j in range(field.shape[-1])
                if field.there[(*lead, row, j)]
            )
            own, source_row = (_row_called(entries, letter, (*lead, i)) for i in (row, other))
            said = f"{own} holds the numbers of {source_row}"
            yield ("copied-row", said, _COPY_TELL, 0.0) if fits else _NOT


def _same_slip(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Way]:
    """The same slip in every mistaken entry of a row, which leaves the others as they are."""
    field = entries.fields[letter]
    columns = [j for j in range(field.shape[-1]) if field.there[(*places[0][:-1], j)]]
    for source in (0, 1):
        tables: list[dict[tuple[object, ...], Guess]] = []
        values = []
        for column in columns:
            spots = entries.spots(letter, (*places[0][:-1], column))
            spot = spots[min(source, len(spots) - 1)]
            tables.append({guess.key: guess for guess in guesses(spot, _IN_ROWS)})
            values.append(spot.value)
        mistaken = [columns.index(place[-1]) for place in places]
        for key, first in tables[mistaken[0]].items():
            if not all(key in tables[k] for k in mistaken):
                continue
            right = all(
                field.matches(
                    (*places[0][:-1], column), table[key].value if key in table else value
                )
                for column, table, value in zip(columns, tables, values, strict=True)
            )
            row = _row_called(entries, letter, places[0][:-1])
            entry = _called(entries, letter, places[0])
            said = (
                first.said.replace(entry, row)
                if len(places) == len(columns)
                else (
                    first.said.replace(
                        entry, " and ".join(_called(entries, letter, p) for p in places)
                    )
                )
            )
            yield (first.kind.name, said, first.kind.tell, 0.0) if right else _NOT


#: The kinds that the same hand may repeat along a row.
_IN_ROWS: tuple[SlipKind, ...] = tuple(
    kind
    for kind in SLIPS
    if kind.name not in ("swapped-digits", "misread-digit", "copied-entry", "row-for-column")
)


def _other_logit(entries: Entries, letter: str, places: Sequence[Place]) -> Iterator[_Way]:
    """A row of a softmax in which one logit was another: ln of the weights tells which."""
    evaluation, field = entries.evaluation, entries.fields[letter]
    step = evaluation.step(letter)
    if step is None or not isinstance(step.expr, Softmax | LineQuotient):
        return
    line = places[0][:-1]
    logits = _logits(entries, letter, line)
    if logits is None or not field.there[line].all() or field.hidden[line].any():
        return
    before, z = logits
    shares = field.numbers[line]
    for j in range(len(z)):
        rest = np.delete(np.arange(len(z)), j)
        others = np.exp(z[rest] - z[rest].max()) if np.isfinite(z[rest]).any() else np.zeros(0)
        share = float(shares[j])
        if not 0 < share < 1 or not others.sum() > 0:
            yield _NOT
            continue
        meant = log(share / (1 - share)) + log(others.sum()) + float(z[rest].max())
        again = (1 - share) * others / others.sum()
        unit = field.units[line]
        near = all(
            abs(x - float(shares[k])) <= 0.5 * unit[k] + again_share * unit[j] + 1e-12
            for k, x, again_share in zip(rest, again, others / others.sum(), strict=True)
        )
        where = (*line, j)
        place = called(evaluation, before, where)
        text = _shortest(meant, z, j, shares, unit)
        was = spelled(float(z[j]))
        row = _row_called(entries, letter, line)
        said = f"{row} belong to {place} = {text} rather than {was}"
        free = max(entries.bits(letter, (*line, k)) for k in range(len(z)))
        yield ("other-logit", said, _LOGIT_TELL, free) if near else _NOT


def _logits(entries: Entries, letter: str, line: Place) -> tuple[str, Array] | None:
    """The step before a softmax and its numbers in one row."""
    step = entries.evaluation.step(letter)
    if step is None:
        return None
    symbol = step.expr.args[0] if isinstance(step.expr, Softmax) else None
    before = str(getattr(symbol, "name", ""))
    if not before:
        return None
    taken = entries.own.taken(before)
    if taken.shape != entries.fields[letter].shape:
        return None
    return before, np.asarray(taken[line], dtype=float)


def would_belong(entries: Entries, letter: str) -> str:
    """The logit that the weights of the first mistaken row would belong to, where one differs."""
    line = entries.roots[letter][0][:-1]
    places = [place for place in entries.roots[letter] if place[:-1] == line]
    fitting = [said for name, said, _, _ in _other_logit(entries, letter, places) if name]
    return fitting[-1].replace("belong to", "would belong to") if fitting else ""


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


@dataclass(frozen=True)
class _Misread:
    """A number that was another when it was used."""

    name: str
    said: str
    tell: str
    letter: str
    place: Place
    value: float


@dataclass(frozen=True, eq=False)
class _Readings:
    """What a step becomes when one number it is made of is another: all readings at once."""

    listed: tuple[_Misread, ...]
    values: Array
    near: Array
    #: Whether a reading changes an entry, and whether it leaves all that is right as it is.
    touched: Array
    viable: Array


def _readings(entries: Entries, letter: str) -> _Readings | None:
    """The step for every number that may have been misread."""
    if letter not in entries.readings:
        entries.readings[letter] = _made_readings(entries, letter)
    found = entries.readings[letter]
    assert found is None or isinstance(found, _Readings)
    return found


def _made_readings(entries: Entries, letter: str) -> _Readings | None:
    by_letter: dict[str, list[_Misread]] = {}
    for misread in _numbers_misread(entries, letter, entries.roots[letter]):
        by_letter.setdefault(misread.letter, []).append(misread)
    listed: list[_Misread] = []
    parts_: list[Array] = []
    shape = entries.fields[letter].shape
    for operand, some in by_letter.items():
        for numbers in (entries.own, entries.true):
            try:
                values = _again(numbers, letter, operand, some)
            except (SymattnError, ValueError, TypeError):
                continue
            if values.shape == (len(some), *shape):
                listed += some
                parts_.append(values)
    if not listed:
        return None
    field, values = entries.fields[letter], np.concatenate(parts_)
    slack = 1e-9 * max(1.0, field.largest)
    mistaken = np.zeros(shape, dtype=bool)
    for place in entries.roots[letter]:
        mistaken[place] = True
    with np.errstate(all="ignore"):
        near = np.abs(values - field.numbers) <= 0.5 * field.units + slack
        near |= field.hidden & np.isneginf(values)
        usual = np.asarray(entries.own.computed(letter), dtype=float)
        touched = ~((np.abs(values - usual) <= slack) | (values == usual))
    broken = field.there & ~near & ~mistaken & touched
    viable = ~broken.reshape(len(listed), -1).any(axis=1)
    return _Readings(tuple(listed), values, near, touched, viable)


def _read_so(entries: Entries, letter: str, places: Sequence[Place]) -> tuple[int, Array, Array]:
    """The first reading that gives these entries, −1 if none does; and those that touch them."""
    table = _readings(entries, letter)
    if table is None:
        return -1, np.zeros(0, dtype=int), np.zeros((0,))
    at_places = (slice(None), *np.array(places).T)
    touching = table.viable & table.touched[at_places].any(axis=1)
    fitting = table.viable & table.near[at_places].all(axis=1)
    tried = np.flatnonzero(touching)
    first = int(np.argmax(fitting)) if fitting.any() else -1
    return first, tried, table.values[tried][(slice(None), *np.array(places[:1]).T)].ravel()


def _again(numbers: Numbers, letter: str, operand: str, listed: Sequence[_Misread]) -> Array:
    """The step for each of several values of an operand, all at once."""
    evaluation = numbers.evaluation
    usual = np.asarray(numbers.taken(operand), dtype=float)
    batch = np.repeat(usual[None], len(listed), axis=0)
    for k, misread in enumerate(listed):
        batch[(k, *misread.place)] = misread.value
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
        read = pending.pop(0)
        step = entries.evaluation.step(read[0])
        rule = None if step is None else entries.rules.of(entries.evaluation, step, read[1])
        for part in parts(rule) if rule is not None else ():
            if not isinstance(part, Entry):
                continue
            try:
                other = named(part)
            except (TypeError, ValueError, AttributeError):
                continue
            if other in seen:
                continue
            made = entries.evaluation.step(other[0]) is not None
            claimed = entries.claims.get(other[0])
            unclaimed = made and (claimed is None or claimed[other[1]] is None)
            seen[other] = unclaimed
            if unclaimed:
                pending.append(other)
    out: list[_Misread] = []
    for (operand, place), unclaimed in seen.items():
        spot = Spot(entries.own, entries.rules, operand, place, None)
        if unclaimed:
            for guess in guesses(spot):
                out.append(
                    _Misread(
                        guess.kind.name, guess.said, guess.kind.tell, operand, place, guess.value
                    )
                )
        else:
            out.extend(_taken_for(entries, letter, operand, place, spot))
    return out[:_MOST_MISREAD]


def _taken_for(
    entries: Entries, letter: str, operand: str, place: Place, spot: Spot
) -> Iterator[_Misread]:
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
    for name, new, words, _ in spot.changed:
        if name in ("unscaled", "scaled-twice", "shown"):
            others.setdefault(new, f"{spelled(new)} ({_WORDS[name].format(words)})")
    called = spot.called(place)
    for number, shown in others.items():
        said = f"{entries.name(letter)} is worked out with {called} = {shown} instead of {text}"
        yield _Misread("misread-number", said, _MISREAD_TELL, operand, place, number)


_WORDS = {
    "unscaled": "not divided by {}",
    "scaled-twice": "divided by {} twice",
    "shown": "without the mask",
}
