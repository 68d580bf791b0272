"""How often the marker refuses honest sheets and accepts slips: the table of rates, with gates.

The students are those of ``tests/students.py``, which shares nothing with symattn; symattn marks
what they hand in. A slip that an honest sheet of some style would show too cannot be told apart;
it is counted by itself, and no gate asks for it: the gates are on the others, "of tellable". A
gate fails where so many would hardly be seen at the rate it allows. The exit status is 1 where
one fails; ``-v`` shows sheets::

    python -m tests.benchmarks.marking_rates [sheets of each kind] [seed] [-v]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import exp, lgamma, log
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[2]))

from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from tests.students import (
    COARSE,
    MIXED,
    SLIPS,
    STYLES,
    Exercises,
    Sheet,
    Slip,
    Style,
    among_right,
    apart,
    coarse,
    honest,
    in_halves,
    random_number,
    reached,
    shown_by,
    slip,
    some_style,
)

#: The verdicts of entries that no one is blamed for, the best first, and the others.
ORDER = ("right", "truncated", "rounded-early", "undecided", "last-digit", "carried", "wrong")
ACCEPTED = frozenset(ORDER[:3])
EXCUSED = ACCEPTED | {"carried"}

#: Slips that are plainly more than a rounding; their gate, and that of 2 and 3 units.
PLAIN = ("4–9 units", "10–99 units", "digit", "swapped", "sign", "term", "copied")
SMALL = ("2 units", "3 units")
MANY = 6

#: Sheets of each kind, and the seed.
DEFAULTS = (200, 20261121)

#: How unlikely a count must be, were the rate at its gate, for the gate to fail.
_DOUBT = 0.01


#: Students who round half up, and only what they write.
_SURE = tuple(Style(keep, None, "half-up", False, keep) for keep in (0, None))

#: Students who use numbers as they wrote them, and some who round what they do not write.
AS_WRITTEN = tuple(Style(0, None, rounding, False, 0) for rounding in ("half-up", "half-even"))
BETWEEN = tuple(
    Style(keep, inner, "half-up", False, keep) for keep in (0, None) for inner in (2, 3)
)

Spot: TypeAlias = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Marked:
    """What a marker says of a sheet, and the verdict on each entry."""

    passed: bool
    verdicts: dict[Spot, str]
    explained: bool = False


Marker: TypeAlias = Callable[[str, bool], Marked]


def symattn_marks(text: str, explain: bool = False) -> Marked:
    """What symattn says."""
    marking = check_worksheet(worksheet_of(text), explain)
    entries = {(entry.step, entry.place): entry for entry in marking.entries}
    return Marked(
        marking.passed,
        {spot: entry.verdict for spot, entry in entries.items()},
        bool(marking.explanations),
    )


# ---- rates and gates ------------------------------------------------------------------------


@dataclass
class Rate:
    """How many of how many."""

    hits: int = 0
    total: int = 0

    def count(self, hit: bool) -> None:
        """One more."""
        self.hits += hit
        self.total += 1

    def surely_above(self, limit: float) -> bool:
        """Whether so many hits would hardly be seen if the true rate were `limit`."""
        n, k = self.total, self.hits
        if n == 0 or k <= limit * n:
            return False
        whole = lgamma(n + 1)
        below = sum(
            exp(
                whole
                - lgamma(i + 1)
                - lgamma(n - i + 1)
                + i * log(limit)
                + (n - i) * log(1 - limit)
            )
            for i in range(k)
        )
        return 1 - below < _DOUBT

    def __str__(self) -> str:
        return f"{100 * self.hits / self.total:6.2f} %" if self.total else "     – "


@dataclass(frozen=True)
class Gate:
    """What is promised of a rate."""

    name: str
    rate: Rate
    limit: float

    @property
    def holds(self) -> bool:
        """Whether the rate may be within its limit."""
        return not self.rate.surely_above(self.limit)

    def __str__(self) -> str:
        word = "holds" if self.holds else "FAILS"
        return f"{word}  {self.name}: {self.rate} of {self.rate.total} (at most {self.limit:.0%})"


# ---- honest sheets --------------------------------------------------------------------------


@dataclass
class Honest:
    """How many honest sheets are refused, by style."""

    styles: dict[Style, Rate] = field(default_factory=dict)
    examples: dict[Style, str] = field(default_factory=dict)

    @property
    def gates(self) -> Iterator[Gate]:
        """For every value of every dimension, and for every style."""
        for label, rate in self.by_value().items():
            if not label.startswith("mixed"):
                yield Gate(f"honest refused, {label}", rate, 0.01)
        for style, rate in self.styles.items():
            if not style.mixed:
                yield Gate(f"honest refused, {style}", rate, 0.01)

    def by_value(self) -> dict[str, Rate]:
        """The rates for each value of each dimension."""
        found: dict[str, Rate] = {}
        for style, rate in self.styles.items():
            labels = ["mixed"] if style.mixed else [f"{k} {v}" for k, v in style.values.items()]
            if style.mixed:
                labels = [f"mixed: {style}"]
            for label in labels:
                total = found.setdefault(label, Rate())
                total.hits, total.total = total.hits + rate.hits, total.total + rate.total
        return dict(sorted(found.items()))

    @property
    def worst(self) -> Style:
        """The style most of whose sheets are refused."""
        return max(self.styles, key=lambda s: self.styles[s].hits / max(self.styles[s].total, 1))


def honest_refused(marker: Marker, exercises: Exercises, count: int) -> Honest:
    """So many honest sheets of each style, marked."""
    found = Honest()
    for style in (*STYLES, *MIXED):
        rate = found.styles[style] = Rate()
        for _ in range(count):
            text = honest(exercises, style).toml
            passed = marker(text, False).passed
            rate.count(not passed)
            if not passed:
                found.examples.setdefault(style, text)
    return found


#: Sheets of other kinds, of which none is to be refused, or none accepted: each kind with what
#: makes one of them.
KINDS: Mapping[str, Callable[[Exercises], Mapping[Any, Callable[[], Sheet]]]] = {
    "each step with decimals of its own": lambda asked: {
        "any style": lambda: apart(asked, some_style(asked.rng))
    },
    "right numbers among rounded ones": lambda asked: {
        style: partial(among_right, asked, style) for style in (*AS_WRITTEN, *BETWEEN)
    },
    "products rounded as they are written": lambda asked: {
        rounding: partial(in_halves, asked, rounding)
        for rounding in ("half-up", "half-even", "numpy")
    },
    "computed from whole numbers in place of decimals": lambda asked: {
        f"{step}, {rounding}": partial(coarse, asked, step, rounding)
        for step in COARSE
        for rounding in ("half-up", "half-even")
    },
}


def accepted(marker: Marker, exercises: Exercises, kind: str, count: int) -> dict[Any, Rate]:
    """How many of so many sheets of each kind are accepted."""
    found: dict[Any, Rate] = {}
    for name, make in KINDS[kind](exercises).items():
        rate = found[name] = Rate()
        for _ in range(count):
            rate.count(marker(make().toml, False).passed)
    return found


def refused(marker: Marker, exercises: Exercises, kind: str, count: int) -> dict[Any, Rate]:
    """How many of them are not."""
    rates = accepted(marker, exercises, kind, count)
    return {name: Rate(rate.total - rate.hits, rate.total) for name, rate in rates.items()}


# ---- slips ----------------------------------------------------------------------------------


@dataclass
class Row:
    """What became of the slips of one size."""

    #: Sheets, those that pass, those that pass and can be told, and those that cannot be told.
    accepted: Rate = field(default_factory=Rate)
    tellable: Rate = field(default_factory=Rate)
    lowest: Rate = field(default_factory=Rate)
    #: Slips called right, rounded, cut off or carried, whether the sheet passes or not.
    entries: Rate = field(default_factory=Rate)

    def count(self, accepted: bool, entry: bool, same: bool) -> None:
        """One more sheet; `same`: an honest one would show these numbers too."""
        self.accepted.count(accepted)
        self.entries.count(entry)
        self.lowest.count(same)
        if not same:
            self.tellable.count(accepted)

    def add(self, other: Row) -> None:
        """Also those of another row."""
        for name in ("accepted", "tellable", "lowest", "entries"):
            mine, its = getattr(self, name), getattr(other, name)
            mine.hits, mine.total = mine.hits + its.hits, mine.total + its.total


@dataclass
class Slips:
    """What became of slips, by size and by whether many entries are claimed."""

    name: str
    rows: dict[tuple[str, bool], Row] = field(default_factory=dict)
    examples: list[tuple[str, str]] = field(default_factory=list)
    #: Honest numbers of these sheets that are called wrong: those that the slip reaches, others;
    #: and the former where nothing but the written numbers is rounded, half up.
    followed: Rate = field(default_factory=Rate)
    beside: Rate = field(default_factory=Rate)
    plain: Rate = field(default_factory=Rate)
    refused: list[str] = field(default_factory=list)

    @property
    def gates(self) -> Iterator[Gate]:
        """Plain slips, one by one and together, and small ones among many entries."""
        for kinds, sizes, limit in (
            (PLAIN, (False, True), 0.01),
            (SMALL, (True,), 0.05),
        ):
            whole = Row()
            for kind in kinds:
                row = Row()
                for many in sizes:
                    row.add(self.rows.get((kind, many), Row()))
                whole.add(row)
                yield Gate(f"{self.name} accepted, {kind}", row.tellable, limit)
            yield Gate(f"{self.name} accepted, {' or '.join(kinds)}", whole.tellable, limit)


def first_slips(exercises: Exercises, count: int) -> Iterator[Slip]:
    """So many sheets of each kind of slip, with few claims and with many in turn."""
    for kind in SLIPS:
        made = 0
        while made < count:
            sheet = honest(exercises, some_style(exercises.rng), *_claims(made))
            found = slip(exercises.rng, sheet, kind)
            if found is not None and not found.leaves_it_right:
                made += 1
                yield found


def _claims(made: int) -> tuple[int, int]:
    """The least and the most claims, few and many in turn."""
    return (MANY, 1000) if made % 2 else (1, MANY - 1)


def second_slips(exercises: Exercises, count: int) -> Iterator[Slip]:
    """So many of each kind, in a number computed from one that is wrong already."""
    firsts = ("10–99 units", "digit", "sign", "term")
    for kind in SLIPS:
        made = 0
        while made < count:
            sheet = honest(exercises, some_style(exercises.rng), *_claims(made))
            first = slip(exercises.rng, sheet, exercises.rng.choice(firsts))
            if first is None or first.leaves_it_right or first.units <= 3:
                continue
            after = reached(first.sheet, frozenset({first.place}))
            second = slip(exercises.rng, first.sheet, kind, after)
            if second is not None and not second.leaves_it_right:
                made += 1
                yield second


def slips_accepted(
    marker: Marker, found: Iterator[Slip], name: str, all_asked: bool = True
) -> Slips:
    """What becomes of sheets with slips.

    `all_asked`: whether it is asked of the refused ones too if an honest sheet would show them,
    which takes most of the time and is not needed for the gates.
    """
    rates = Slips(name)
    second = name != "slips"
    for one in found:
        sheet = one.sheet
        text = sheet.toml
        marked = marker(text, False)
        verdict = marked.verdicts[spot_of(one.place)]
        entry = verdict in EXCUSED
        accepted = entry if second else marked.passed
        asked = accepted or all_asked
        same = asked and shown_by(sheet, len(sheet.slips) - 1) is not None
        key = one.size, len(sheet.written) >= MANY
        rates.rows.setdefault(key, Row()).count(accepted, entry, same)
        if accepted and not same:
            rates.examples.append((one.size, text))
        after = reached(sheet, frozenset(sheet.slips))
        for place in sheet.written:
            if place not in sheet.slips:
                bad = marked.verdicts[spot_of(place)] not in EXCUSED
                (rates.followed if place in after else rates.beside).count(bad)
                if place in after and sheet.style in _SURE:
                    rates.plain.count(bad)
                    if bad:
                        rates.refused.append(f"# {place} after {sheet.slips}\n{text}")
    return rates


def spot_of(place: tuple[str, int, int]) -> Spot:
    """A student's place as the marker counts it."""
    return place[0], place[1:]


# ---- claiming more --------------------------------------------------------------------------


def claiming_more(marker: Marker, exercises: Exercises, count: int) -> dict[str, Rate]:
    """How many entries are judged worse where more is claimed, on honest sheets and on others."""
    rng = exercises.rng
    found = {"honest": Rate(), "with a slip": Rate()}
    for kind, rate in found.items():
        for _ in range(count):
            sheet = _some_sheet(exercises, kind == "with a slip")
            full = marker(sheet.toml, False).verdicts
            steps = sorted({place[0] for place in sheet.written})
            if len(steps) > 1 and rng.random() < 0.5:
                gone = set(rng.sample(steps, rng.randint(1, len(steps) - 1)))
                left_out = frozenset(p for p in sheet.written if p[0] in gone)
            else:
                places = sorted(sheet.written)
                left_out = frozenset(rng.sample(places, rng.randint(1, len(places) - 1)))
            fewer = marker(sheet.without(left_out).toml, False).verdicts
            for spot, verdict in fewer.items():
                rate.count(ORDER.index(full[spot]) > ORDER.index(verdict))
    return found


def _some_sheet(exercises: Exercises, slipped: bool) -> Sheet:
    while True:
        sheet = honest(exercises, some_style(exercises.rng), 2)
        if not slipped:
            return sheet
        found = slip(exercises.rng, sheet, exercises.rng.choice(SLIPS))
        if found is not None:
            return found.sheet


# ---- what depends on what -------------------------------------------------------------------


# ---- random numbers -------------------------------------------------------------------------


def random_explained(marker: Marker, exercises: Exercises, count: int, alone: bool) -> Rate:
    """How many sheets with one random number in them, or of it alone, get an explanation."""
    rate = Rate()
    for _ in range(count):
        rate.count(marker(random_number(exercises, alone).toml, True).explained)
    return rate


# ---- the table ------------------------------------------------------------------------------


def print_slips(rates: Slips, verbose: bool) -> None:
    """The rows by size and number of entries."""
    print(f"\n{rates.name:<22} entries  sheets  accepted  of tellable  lowest possible  entry")
    for size in SLIPS:
        for many in (False, True):
            row = rates.rows.get((size, many))
            if row is not None:
                rest = f"{row.accepted}   {row.tellable}        {row.lowest}   {row.entries}"
                print(f"  {size:<20} {'≥ 6' if many else '< 6':<7} {row.accepted.total:7} {rest}")
    print(f"  honest numbers refused: what follows from a slip {_of(rates.followed)}")
    print(f"    of students who round only what they write     {_of(rates.plain)}")
    print(f"    what does not follow from it                   {_of(rates.beside)}")
    if verbose:
        for size in SLIPS:
            shown = [text for its, text in rates.examples if its == size][:2]
            for text in shown:
                print(f"\naccepted, {size}:\n{text}")
        for text in rates.refused[:3]:
            print(f"\nrefused:\n{text}")


def _of(rate: Rate) -> str:
    return f"{rate} of {rate.total}"


def table(title: str, rates: Mapping[str, Rate], limit: float | None = None) -> list[Gate]:
    """The rates below their title, and their gates where there is a limit."""
    print(f"\n{title}")
    for label, rate in rates.items():
        print(f"  {label:<70} {_of(rate)}")
    return [Gate(f"{title}, {x}", rate, limit) for x, rate in rates.items() if limit is not None]


def main(count: int, seed: int, verbose: bool = False) -> int:
    """Print the tables; 1 where a gate fails."""
    exercises = Exercises(Random(seed))
    start = time.perf_counter()
    kept = honest_refused(symattn_marks, exercises, count)
    gates = [*kept.gates]
    table(f"honest refused ({count} of each of {len(kept.styles)} styles)", kept.by_value())
    print(f"  worst: {kept.worst}: {_of(kept.styles[kept.worst])}")
    if verbose and kept.worst in kept.examples:
        print(kept.examples[kept.worst])
    own = refused(symattn_marks, exercises, "each step with decimals of its own", 6 * count)
    gates += table("honest refused, decimals", own, 0.01)
    halves = refused(symattn_marks, exercises, "products rounded as they are written", count)
    gates += table("honest refused, products rounded as they are written", halves, 0.01)
    among = refused(symattn_marks, exercises, "right numbers among rounded ones", count)
    for styles, limit in ((AS_WRITTEN, 0.02), (BETWEEN, 0.12)):
        rates = {str(style): among[style] for style in styles}
        gates += table("honest refused, right numbers among them", rates, limit)
    whole = "computed from whole numbers in place of decimals"
    rough = accepted(symattn_marks, exercises, whole, count)
    gates += table(f"{whole}, accepted", rough, 0.01)
    for name, made in (("slips", first_slips), ("second slips", second_slips)):
        found = slips_accepted(symattn_marks, made(exercises, count), name)
        print_slips(found, verbose)
        gates += found.gates
    table("judged worse where more is claimed", claiming_more(symattn_marks, exercises, count))
    explained = {
        name: random_explained(symattn_marks, exercises, count, alone)
        for alone, name in ((False, "among others"), (True, "alone"))
    }
    gates += table("a random number, explained", explained, 0.05)
    failing = [gate for gate in gates if not gate.holds]
    print(f"\n{len(failing)} of {len(gates)} gates fail", *failing, sep="\n  ")
    print(f"{time.perf_counter() - start:.0f} s")
    return int(bool(failing))


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    count, seed, *_ = (*numbers, *DEFAULTS[len(numbers) :])
    sys.exit(main(count, seed, "-v" in sys.argv))
