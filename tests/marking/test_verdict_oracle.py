"""An independent marker, written from the definitions by brute force, agrees entry by entry.

It follows every style through the sheets of `tests.students`, in decimal arithmetic of fifty
digits, one number after the other. From the package it takes only the list of the styles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, localcontext
from functools import lru_cache
from random import Random

import numpy as np
import pytest

from symattn.arithmetic.by_hand import UNROUNDED
from symattn.marking import styles
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from tests.students import (
    SLIPS,
    Exercises,
    Matrix,
    Place,
    Sheet,
    Student,
    Style,
    Task,
    honest,
    random_number,
    rounded,
    slip,
    some_style,
)

SEED = 4711

#: Numbers nearer to one another than this are the same, and farther than `SURELY` different.
SAME, SURELY = Decimal("1e-30"), Decimal("1e-9")

FIFTY = Context(prec=50)
HIDDEN = Decimal("-Infinity")

Verdicts = dict[Place, str]


class TooNear(Exception):
    """Floating point need not tell what decimals tell."""


# ---- definitions ------------------------------------------------------------------------------


def rounds(x: Decimal, c: Decimal, unit: Decimal) -> bool:
    """c = Rd(x): within half a unit; a tie goes away from zero, or to an even digit."""
    if not x.is_finite() or not c.is_finite():
        return x == c
    off = abs(x - c) - unit / 2
    if abs(off) > SAME:
        return off < 0
    return abs(c) > abs(x) or (c / unit) % 2 == 0


def cuts(x: Decimal, c: Decimal, unit: Decimal) -> bool:
    """c = Ct(x): x without its later digits; only of one decimal or more."""
    if unit >= 1 or not x.is_finite() or not c.is_finite():
        return False
    if c == 0:
        return abs(x) < unit - SAME
    return -SAME <= (x - c).copy_sign((x - c) * c) < unit - SAME


@lru_cache(maxsize=4096)
def power_of_e(z: Decimal) -> Decimal:
    return FIFTY.exp(z)


@dataclass
class Follower(Student):
    """Somebody who works in one style, and who wrote what the sheet shows.

    `way`: the style; `sheet`: the numbers to be explained. `without`: a calculation as claimed,
    beside which this one goes on from what should have been written in place of its mistakes.
    `most`: more mistakes than that end the calculation.
    """

    sheet: Sheet = field(kw_only=True)
    way: styles.Style = field(kw_only=True)
    without: Follower | None = None
    most: int = 10**6
    #: The right numbers that no plain style gives.
    spared: int = 0
    #: Numbers that follow from what should have been written before them, as they are kept.
    forced: Mapping[Place, Decimal] = field(default_factory=dict)
    explained: dict[Place, bool] = field(default_factory=dict)
    used: dict[Place, Decimal] = field(default_factory=dict)
    found: dict[Place, Decimal] = field(default_factory=dict)
    depends: dict[Place, bool] = field(default_factory=dict)

    def _shorter(self, y: Decimal, decimals: int, cut: bool) -> Decimal:
        rounding = "cut off" if cut else "half-even" if self.way.even else "half-up"
        if decimals >= UNROUNDED or not y.is_finite() or not y:
            return y
        places = decimals - 1 - y.adjusted() if self.way.significant else decimals
        return rounded(y, places, rounding)

    def _inner(self, y: Decimal) -> Decimal:
        return self._shorter(y, self.way.root, self.way.cut_between)

    def _sum(self, place: Place, left: object, right: object) -> Decimal:
        assert isinstance(left, list | tuple) and isinstance(right, list | tuple)
        way = self.way
        pairs = [(a, b) for a, b in zip(left, right, strict=True)]
        if way.numpy and way.terms < UNROUNDED:  # which ties floating point hits, it says itself
            floats = [np.round(float(a) * float(b), way.terms) for a, b in pairs]
            return sum((Decimal(repr(float(x))) for x in floats), Decimal(0))
        terms = [self._shorter(a * b, way.terms, way.cut_between) for a, b in pairs]
        return sum(terms, Decimal(0))

    def _row(self, i: int, Q: Matrix, K: Matrix, V: Matrix, root: Decimal) -> None:
        """As other students do; 1/√d_k, or e^(z − max), in its place."""
        task, way = self.task, self.way
        z = [task.given[s][i] for s in ("scaled", "scores") if s in task.given]
        row = (
            list(z[0])
            if z
            else [
                self._note(("scores", i, j), self._sum(("scores", i, j), Q[i], k))
                for j, k in enumerate(K)
            ]
        )
        keys, seen = range(task.keys), task.visible(i)
        if "scaled" in task.steps:
            root = Decimal(task.d_k).sqrt(FIFTY)
            whole = root == root.to_integral_value()
            times = FIFTY.divide(1, root) if whole else self._inner(FIFTY.divide(1, root))
            over = root if whole else self._inner(root)
            row = [
                self._note(
                    ("scaled", i, j),
                    FIFTY.multiply(x, times) if way.inverse else FIFTY.divide(x, over),
                )
                for j, x in enumerate(row)
            ]
        if task.causal:
            row = [self._note(("masked", i, j), row[j] if j in seen else HIDDEN) for j in keys]
        shift = way.shifted and ("exp", i, 0) not in self.sheet.written
        top = max(row[j] for j in seen) if shift else Decimal(0)
        exact = [power_of_e(row[j] - top) if j in seen else Decimal(0) for j in keys]
        powers = [self._note(("exp", i, j), power) for j, power in enumerate(exact)]
        if shift:  # nobody keeps as 0 what subtracting the maximum leaves
            powers = [
                Decimal("NaN") if not p and w else p for p, w in zip(powers, exact, strict=True)
            ]
        total = self._note(("exp_sum", i, 0), sum(powers, Decimal(0)))
        a = [self._note(("weights", i, j), FIFTY.divide(e, total)) for j, e in enumerate(powers)]
        for c, column in enumerate(zip(*V, strict=True)):
            self._note(("output", i, c), self._sum(("output", i, c), a, column))

    def _note(self, place: Place, y: Decimal) -> Decimal:
        self.values[place] = y
        step = place[0]
        if place not in self.sheet.written:
            inner = self.way.sums if step in ("exp", "exp_sum") else self.way.steps
            z = self._shorter(y, inner, self.way.cut_between)
        elif self.without is None:
            z = self._as_claimed(place, y)
        else:
            z = self._without_mistakes(place, y, self.without)
        self.used[place] = z
        return z

    def _as_claimed(self, place: Place, y: Decimal) -> Decimal:
        c = self.sheet.written[place]
        if place in self.forced:
            self.explained[place] = True
            return self.forced[place]
        self.explained[place] = self._explains(place, y)
        if len(self.mistakes) > self.most:
            raise InvalidOperation
        return self._kept(place, y) if self.explained[place] and self._more(place) else c

    @property
    def mistakes(self) -> list[Place]:
        """The claims that are not right, and that this style does not explain."""
        return [p for p, known in self.explained.items() if not known and not right(self.sheet, p)]

    @property
    def score(self) -> tuple[int, int]:
        """The mistakes, one more for a style that right numbers contradict, and how many do.

        Right numbers that it would not give are against it, but for `spared`; where numbers were
        used as they were written, only two for each claim that it explains, or more.
        """
        known = sum(not right(self.sheet, p) for p, known in self.explained.items() if known)
        other = list(self.explained.values()).count(False) - len(self.mistakes)
        plain = styles.Style(logits=0, weights=0, even=self.way.even) == self.way
        spared = self.spared + (max(2 * known - 1, 0) if plain else 0)
        return len(self.mistakes) + (other > spared), other

    def _without_mistakes(self, place: Place, y: Decimal, claimed: Follower) -> Decimal:
        before = claimed.values[place]
        gap = abs(y - before) if y.is_finite() and before.is_finite() else Decimal(0)
        noticed = unit_of(self.sheet, place) / 1000
        if abs(gap - noticed) < SURELY * noticed:
            raise TooNear
        self.depends[place] = gap > noticed or y.is_finite() != before.is_finite()
        known = claimed.explained[place]
        if not known and not right(self.sheet, place) and self._explains(place, y):
            self.found[place] = (
                self._kept(place, y) if self._more(place) else self.sheet.written[place]
            )
        if place in self.forced:
            self.depends[place] = False
        mistaken = not known and not fair(self.sheet, place)
        if self.depends[place] or mistaken:
            return self._kept(place, y)
        return claimed.used[place]

    def _more(self, place: Place) -> int:
        return self.way.weights if place[0] in ("weights", "output") else self.way.logits

    def _kept(self, place: Place, y: Decimal) -> Decimal:
        """As many digits of it as this style keeps; whole numbers are rounded in any."""
        places, more = self.sheet.places(place[0]), self._more(place)
        return self._shorter(y, min(places + more, UNROUNDED), self.way.cut and places > 0)

    def _explains(self, place: Place, y: Decimal) -> bool:
        """Whether this style would have written what is claimed, from y."""
        c, places = self.sheet.written[place], self.sheet.places(place[0])
        x, unit = self.sheet.truth[place], Decimal(1).scaleb(-places)
        if not y.is_finite() or not c.is_finite():
            return y == c
        if (
            self.way.twice and places > 0 and abs(x - y) > SAME
        ):  # the true value itself is not judged
            y = self._kept(place, y)
        cut, off = self.way.cut and places > 0, abs(y - c) / unit
        edges = [off - 1, *[off][: c != 0]] if cut else [off - Decimal("0.5")]
        if any(SAME < abs(edge) < SURELY for edge in edges):
            raise TooNear
        if cut:
            return cuts(y, c, unit)
        if abs(x - y) < SAME:
            return rounds(x, c, unit)
        return abs(y - c) <= unit / 2 + SAME


def right(sheet: Sheet, place: Place) -> bool:
    return rounds(sheet.truth[place], sheet.written[place], unit_of(sheet, place))


def fair(sheet: Sheet, place: Place) -> bool:
    """Right, or the true value cut off: no mistake in any style."""
    x, c, unit = sheet.truth[place], sheet.written[place], unit_of(sheet, place)
    return rounds(x, c, unit) or cuts(x, c, unit)


def unit_of(sheet: Sheet, place: Place) -> Decimal:
    return Decimal(1).scaleb(-sheet.places(place[0]))


# ---- the marker ----------------------------------------------------------------------------


def follow(sheet: Sheet, way: styles.Style, most: int = 10**6) -> Follower | None:
    """One style through the sheet; None where it makes no sense, or leaves too much unexplained."""
    found = Follower(
        sheet.task, Style(), sheet.decimals, sheet.claimed, sheet=sheet, way=way, most=most
    )
    try:
        found.compute()
    except (DivisionByZero, InvalidOperation):
        return None
    return found


def best_styles(sheet: Sheet) -> list[Follower]:
    """All styles with the least score.

    If a plain one does, whatever the others do; and those alone where one explains everything.
    """
    found: list[tuple[tuple[int, int], int, Follower]] = []
    most = 10**6
    plain = [done for way in styles.STYLES[0] if (done := follow(sheet, way)) is not None]
    spared = min(done.score[1] for done in plain)
    for plainness, group in enumerate(styles.STYLES):
        charge = styles.MORE if plainness == 2 else 0
        for way in group:
            done = follow(sheet, way, most - charge)
            if done is not None:
                done.spared = spared
                mistakes, other = done.score
                most = min(most, mistakes + charge)
                found.append(((mistakes + charge, other), plainness, done))
        if most < (1, styles.MORE, 0)[plainness]:
            break
    usual = min(score for score, plainness, _ in found if plainness < 2)
    rare = [(score, p, f) for score, p, f in found if p == 2 and score[0] <= usual[0]]
    some = rare or [one for one in found if one[1] < 2]
    least = min(score for score, _, _ in some)
    plainest = min(plainness for score, plainness, _ in some if score == least)
    return [f for score, plainness, f in some if (score, plainness) == (least, plainest)]


def judged(sheet: Sheet, chain: Follower) -> Verdicts:
    """The verdicts of one style."""
    forced: dict[Place, Decimal] = {}
    while True:
        other = Follower(
            sheet.task,
            Style(),
            sheet.decimals,
            sheet.claimed,
            sheet=sheet,
            way=chain.way,
            without=chain,
            forced=forced,
        )
        other.compute()
        if not other.found:
            break
        place = next(iter(other.found))  # the first of them: what comes after it may change
        forced[place] = other.found[place]
        chain = Follower(
            sheet.task,
            Style(),
            sheet.decimals,
            sheet.claimed,
            sheet=sheet,
            way=chain.way,
            forced=forced,
        )
        chain.compute()
    found: Verdicts = {}
    for place, c in sheet.written.items():
        x, unit = sheet.truth[place], unit_of(sheet, place)
        cut = cuts(x, c, unit)
        if rounds(x, c, unit):
            found[place] = "right"
        elif chain.explained[place] and other.depends[place]:
            found[place] = "carried"
        elif chain.explained[place] and not (cut and chain.way.cut):
            found[place] = "rounded-early"
        elif cut and not other.depends[place]:
            found[place] = "truncated"
        elif sheet.places(place[0]) >= 2 and abs(x - c) <= unit:
            found[place] = "last-digit"
        else:
            found[place] = "wrong"
    return found


def agreed(sheet: Sheet) -> Verdicts:
    """The verdicts that all styles agree on which leave equally little unexplained."""
    with localcontext(FIFTY):
        first, *others = [judged(sheet, chain) for chain in best_styles(sheet)]
    return {p: v for p, v in first.items() if all(other[p] == v for other in others)}


def by_symattn(sheet: Sheet) -> Verdicts:
    marking = check_worksheet(worksheet_of(sheet.toml), explain=False)
    return {(e.step, *e.place[-2:]): e.verdict for e in marking.entries}  # type: ignore[misc]


# ---- random sheets ---------------------------------------------------------------------------


def _of_one_number(sheet: Sheet) -> bool:
    """Matrices of one number throughout have a rule of their own, with tests of their own."""
    for step in {place[0] for place in sheet.written}:
        numbers = [x for p, x in sheet.written.items() if p[0] == step]
        if len(numbers) > 1 and len({*numbers}) == 1:
            return True
    return False


def _sheets(kind: str, rng: Random) -> Iterator[Sheet]:
    """Honest ones, slips that are gone on from, two of them, and numbers that are made up."""
    asked = Exercises(rng, 12, 10**6)
    while True:
        sheet: Sheet | None = honest(asked, some_style(rng), 2, 24)
        if kind == "random":
            sheet = random_number(asked)
        for _ in range(("honest", "slip", "slips").index(kind) if kind != "random" else 0):
            found = None if sheet is None else slip(rng, sheet, rng.choice(SLIPS))
            sheet = None if found is None else found.sheet
        if sheet is not None and len(sheet.written) <= 24 and not _of_one_number(sheet):
            yield sheet


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *(("honest", 40), ("slip", 20), ("slips", 10), ("random", 10)),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)
            for each in (("honest", 80), ("slip", 30), ("slips", 30), ("random", 20))
        ),
    ],
)
def test_the_marker_agrees_with_brute_force(kind: str, count: int) -> None:
    seen: Counter[str] = Counter()
    for _, sheet in zip(range(count), _sheets(kind, Random(f"{kind} {SEED}")), strict=False):
        try:
            expected = agreed(sheet)
        except TooNear:
            seen["too near"] += 1
            continue
        found = by_symattn(sheet)
        assert {place: found[place] for place in expected} == expected, sheet.toml
        seen["open"] += len(sheet.written) - len(expected)
        seen.update(expected.values())
    assert seen["too near"] <= count / 20
    assert seen["open"] <= sum(seen.values()) / 20
    assert seen["right"] and seen["wrong"] + seen["rounded-early"] + seen["truncated"]


# ---- the oracle itself -----------------------------------------------------------------------

ZERO, ONE = Decimal(0), Decimal(1)
TENS = Task({"scaled": ((ONE, ZERO),), "V": ((Decimal(10),), (Decimal(20),))}, 1)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("0.73", "0.27", "12.69"), ("right", "right", "right")),
        (("0.73", "0.27", "12.70"), ("right", "right", "rounded-early")),
        (("0.73", "0.27", "12.68"), ("right", "right", "truncated")),
        (("0.73", "0.27", "12.71"), ("right", "right", "wrong")),
        (("0.74", "0.27", "12.80"), ("last-digit", "right", "carried")),
        (("0.74", "0.27", "12.86"), ("last-digit", "right", "wrong")),
        (("0.83", "0.27", "13.70"), ("wrong", "right", "carried")),
    ],
)
def test_the_oracle_by_hand(numbers: tuple[str, ...], expected: tuple[str, ...]) -> None:
    places: list[Place] = [("weights", 0, 0), ("weights", 0, 1), ("output", 0, 0)]
    written: Mapping[Place, Decimal] = dict(zip(places, map(Decimal, numbers), strict=True))
    sheet = Sheet(TENS, Style(), 2, written)
    assert tuple(agreed(sheet)[place] for place in places) == expected
    assert by_symattn(sheet) == agreed(sheet)


def test_the_oracle_tells_right_from_cut_off() -> None:
    cent, third = Decimal("0.01"), ONE / 3
    assert rounds(third, Decimal("0.33"), cent) and not rounds(third, Decimal("0.34"), cent)
    for tie, c, taken in (
        ("0.125", "0.12", True),
        ("0.125", "0.13", True),
        ("0.375", "0.37", False),
        ("-0.125", "-0.13", True),
    ):
        assert rounds(Decimal(tie), Decimal(c), cent) is taken
    assert cuts(2 * third, Decimal("0.66"), cent) and not cuts(2 * third, Decimal("0.67"), cent)
    assert cuts(-2 * third, Decimal("-0.66"), cent) and not cuts(2 * third, ZERO, ONE)
    assert cuts(Decimal("-0.004"), ZERO, cent) and not cuts(Decimal("0.66"), Decimal("-0.66"), cent)
