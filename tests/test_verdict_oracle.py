"""An independent marker, written from the definitions by brute force, agrees entry by entry.

It knows unscaled and scaled softmax attention over given Q, K and V only, in mpmath and fractions,
and shares nothing with the package: no rules, no balls, no nodes.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.checking import check, verdicts

Matrix = list[list[Any]]
Interval = tuple[Any, Any]

ORDER = ("right", "truncated", "rounded-early", "last-digit", "carried", "wrong")
STEPS = ("scores", "scaled", "weights", "output")
DIGITS = 60


class Number:
    """A claimed decimal: units of 10^-places."""

    def __init__(self, units: int, places: int) -> None:
        self.places, self.unit = places, Fraction(1, 10**places)
        self.value = units * self.unit

    def __str__(self) -> str:
        sign, body = "-" if self.value < 0 else "", str(abs(self.value.numerator * 10**self.places
                     // self.value.denominator)).rjust(self.places + 1, "0")  # fmt: skip
        return (
            f"{sign}{body[: -self.places]}.{body[-self.places :]}" if self.places else sign + body
        )


def real(x: Any) -> Any:
    """A number as mpmath's."""
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction | int) else x


def rounds(x: Any, claim: Number) -> bool:
    """Within half a unit; both ways of rounding a tie count."""
    if isinstance(x, Fraction):
        return abs(x - claim.value) <= claim.unit / 2 and (
            abs(x - claim.value) < claim.unit / 2 or _tie(x, claim)
        )
    return bool(abs(x - real(claim.value)) < real(claim.unit) / 2)  # fmt: skip


def _tie(x: Fraction, claim: Number) -> bool:
    """Half-up goes away from zero, half-even to an even count of units."""
    return abs(claim.value) > abs(x) or (claim.value / claim.unit) % 2 == 0


def cut(x: Any, claim: Number) -> bool:
    """x without its later digits."""
    x, c, unit = (x if isinstance(x, Fraction) else real(x)), claim.value, claim.unit
    if not isinstance(x, Fraction):
        c, unit = real(c), real(unit)
    if claim.value == 0:
        return bool(-unit < x < unit)
    return bool(c <= x < c + unit) if claim.value > 0 else bool(c - unit < x <= c)


# ---- one formula, on numbers and on intervals ----------------------------------------------


def product_of(a: Any, b: Any, add: Any, times: Any) -> Any:
    total = None
    for x, y in zip(a, b, strict=True):
        term = times(x, y)
        total = term if total is None else add(total, term)
    return total


def plus(x: Interval, y: Interval) -> Interval:
    return x[0] + y[0], x[1] + y[1]


def times(x: Interval, y: Interval) -> Interval:
    corners = [real(p) * real(q) for p, q in product(x, y)]
    return min(corners), max(corners)


def compute(step: str, parts: dict[str, Matrix], scale: bool) -> Matrix:
    """A step's exact or 60-digit values from those before it."""
    q, k, v = parts["Q"], parts["K"], parts["V"]
    if step == "scores":
        return [[sum(x * y for x, y in zip(a, b, strict=True)) for b in k] for a in q]
    if step == "scaled":
        root = mpmath.sqrt(len(q[0]))
        whole = int(root) if root == int(root) else None
        return [[Fraction(x) / whole if whole and isinstance(x, Fraction) else real(x) / root
                 for x in row] for row in parts["scores"]]  # fmt: skip
    if step == "weights":
        rows = []
        for row in parts["scaled" if scale else "scores"]:
            if len({*row}) == 1 and isinstance(row[0], Fraction):
                rows.append([Fraction(1, len(row))] * len(row))
                continue
            e = [mpmath.exp(real(x)) for x in row]
            rows.append([x / sum(e) for x in e])
        return rows
    rows = []
    for row in parts["weights"]:
        columns = list(zip(*v, strict=True))
        if all(isinstance(x, Fraction) for x in row):
            rows.append([sum((a * b for a, b in zip(row, c, strict=True)), Fraction(0))
                         for c in columns])  # fmt: skip
        else:
            rows.append([sum(real(a) * real(b) for a, b in zip(row, c, strict=True))
                         for c in columns])  # fmt: skip
    return rows


def ranges(step: str, parts: dict[str, Any], scale: bool) -> Any:
    """A step's intervals from those before it; the softmax at its own extremes."""
    given = {name: [[(x, x) for x in row] for row in parts[name]] for name in ("Q", "K", "V")}
    if step == "scores":
        return [[product_of(a, b, plus, times) for b in given["K"]] for a in given["Q"]]
    if step == "scaled":
        root = mpmath.sqrt(len(parts["Q"][0]))
        return [[(real(x) / root, real(y) / root) for x, y in row] for row in parts["scores"]]
    if step == "weights":
        rows = []
        for row in parts["scaled" if scale else "scores"]:
            e = [(mpmath.exp(real(x)), mpmath.exp(real(y))) for x, y in row]
            rows.append([
                (low / (low + sum(e[o][1] for o in range(len(e)) if o != j)),
                 high / (high + sum(e[o][0] for o in range(len(e)) if o != j)))
                for j, (low, high) in enumerate(e)
            ])  # fmt: skip
        return rows
    columns = list(zip(*given["V"], strict=True))
    return [[product_of(row, column, plus, times) for column in columns]
            for row in parts["weights"]]  # fmt: skip


def ends(x: Any, claim: Number) -> bool:
    """Whether a number ends within the digits written."""
    if isinstance(x, Fraction):
        return (x / claim.unit).denominator == 1
    near = mpmath.nint(x / real(claim.unit)) * real(claim.unit)
    return bool(abs(x - near) < mpmath.mpf(10) ** -40)


# ---- the marker ----------------------------------------------------------------------------


def marked(given: dict[str, Matrix], claims: dict[str, list[list[Number]]], scale: bool) -> Any:
    """The verdicts by step, or None where an edge is too near for intervals of 60 digits."""
    true: dict[str, Any] = dict(given)
    taken: dict[str, Any] = dict(given)  # as claimed, else as it follows
    spans: dict[str, Any] = dict(given)
    worst: dict[str, int] = {}
    out: dict[str, list[str]] = {}
    before: list[str] = []
    for step in STEPS:
        if step == "scaled" and not scale:
            continue
        true[step] = compute(step, true, scale)
        again, around = compute(step, taken, scale), ranges(step, spans, scale)
        if step not in claims:
            taken[step], spans[step] = again, around
            continue
        so_far = worst[before[-1]] if before else None
        four: tuple[Any, ...] = (true[step], again, around, claims[step])
        found = [[_verdict(x, y, z, claim, so_far) for x, y, z, claim in zip(*rows, strict=True)]
                 for rows in zip(*four, strict=True)]  # fmt: skip
        out[step] = [verdict for row in found for verdict in row]
        if None in out[step]:
            return None
        worst[step] = max(ORDER.index(verdict) for verdict in out[step])
        taken[step] = [[claim.value for claim in row] for row in claims[step]]
        four = (claims[step], again, found, around)
        spans[step] = [[_stands_for(c, y, v, z) for c, y, v, z in zip(*rows, strict=True)]
                       for rows in zip(*four, strict=True)]  # fmt: skip
        before.append(step)
    return out


def _verdict(true: Any, again: Any, around: Interval, claim: Number, worst: int | None) -> Any:
    if any(_on_edge(x, claim) for x in (true, again) if not isinstance(x, Fraction)):
        return None  # 60 digits cannot tell
    if rounds(true, claim):
        return "right"
    low, high = real(claim.value - claim.unit / 2), real(claim.value + claim.unit / 2)
    if min(abs(around[1] - low), abs(around[0] - high)) < mpmath.mpf(10) ** -20:
        return None  # the ranges only touch
    follows = worst is not None and (rounds(again, claim) or (around[0] < high and around[1] > low))
    carried = (
        "carried" if worst is not None and worst >= ORDER.index("last-digit") else "rounded-early"
    )
    if follows:
        return carried
    if claim.places >= 1 and cut(true, claim):
        return "truncated"
    if claim.places >= 1 and worst is not None and cut(again, claim):
        return carried
    off = abs((true if isinstance(true, Fraction) else real(true)) - (
        claim.value if isinstance(true, Fraction) else real(claim.value)))  # fmt: skip
    unit = claim.unit if isinstance(true, Fraction) else real(claim.unit)
    return "last-digit" if claim.places >= 2 and off <= unit else "wrong"


def _on_edge(x: Any, claim: Number) -> bool:
    halves = 2 * x / real(claim.unit)
    return bool(abs(halves - mpmath.nint(halves)) < mpmath.mpf(10) ** -30)


def _stands_for(claim: Number, computed: Any, verdict: str, around: Interval) -> Interval:
    width = abs(real(around[1]) - real(around[0]))
    if width < mpmath.mpf(10) ** -30 and ends(computed, claim):
        return claim.value, claim.value
    half = claim.unit / 2
    if verdict != "truncated":
        return claim.value - half, claim.value + half
    if claim.value < 0:
        return claim.value - claim.unit, claim.value + half
    return claim.value - half, claim.value + claim.unit


# ---- random worksheets -----------------------------------------------------------------------


@st.composite
def sheets(draw: st.DrawFn) -> Any:
    """Q, K and V of 1 to 2 queries, 2 to 3 keys and 1, 2 or 4 columns; claims near the truth."""
    n, m, d = draw(st.integers(1, 2)), draw(st.integers(2, 3)), draw(st.sampled_from([1, 2, 4]))
    entry = st.sampled_from(
        [Fraction(x) for x in (-2, -1, 0, 1, 2, 3)] + [Fraction(1, 2), Fraction(1, 3)]
    )

    def matrix(rows: int, columns: int) -> Matrix:
        return [[draw(entry) for _ in range(columns)] for _ in range(rows)]

    given = {"Q": matrix(n, d), "K": matrix(m, d), "V": matrix(m, draw(st.integers(1, 2)))}
    scale = draw(st.booleans())
    names = [name for name in STEPS if scale or name != "scaled"]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    values: dict[str, Any] = dict(given)
    claims: dict[str, list[list[Number]]] = {}
    for name in names:
        follow = draw(st.booleans())  # students go on from what they wrote
        fresh = compute(name, values, scale)
        if name not in chosen:
            values[name] = fresh
            continue
        places = draw(st.integers(0, 3))
        claims[name] = [[_near(draw, x, places) for x in row] for row in fresh]
        values[name] = [[c.value for c in row] for row in claims[name]] if follow else fresh
    return given, claims, scale


def _near(draw: st.DrawFn, x: Any, places: int) -> Number:
    """Mostly x rounded, sometimes cut off, a unit off, or far."""
    scaled = real(x) * 10**places
    nearest = int(mpmath.floor(scaled + mpmath.mpf(1) / 2))
    off = draw(st.sampled_from([0] * 8 + [1, -1, 2, -2, 30, -30]))
    cut_off = draw(st.sampled_from([False] * 3 + [True]))
    return Number((int(scaled) if cut_off else nearest) + off, places)


@settings(max_examples=300, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])  # fmt: skip
@given(sheets())
def test_the_marker_agrees_with_brute_force(sheet: Any) -> None:
    given, claims, scale = sheet
    with mpmath.workdps(DIGITS):
        expected = marked(given, claims, scale)
    assume(expected is not None)
    assume(not _degenerate(claims))
    written = {name: [[str(c) for c in row] for row in rows] for name, rows in claims.items()}
    spelled = {name: [[str(x) for x in row] for row in rows] for name, rows in given.items()}
    found = verdicts(check(spelled, written, {} if scale else {"scale": False}))
    assert found == expected


def _degenerate(claims: dict[str, list[list[Number]]]) -> bool:
    """Rows that are all alike have a rule of their own, with tests of their own."""
    rows = [[claim.value for claim in row] for rows in claims.values() for row in rows]
    return any(len({*row}) == 1 and (len(row) > 1 or row[0] == 0) for row in rows)


def test_the_oracle_tells_right_from_wrong() -> None:
    third = Fraction(1, 3)
    assert rounds(third, Number(33, 2))
    assert not rounds(third, Number(34, 2))
    assert rounds(Fraction(1, 8), Number(12, 2)) and rounds(Fraction(1, 8), Number(13, 2))
    assert cut(Fraction(2, 3), Number(66, 2)) and not cut(Fraction(2, 3), Number(67, 2))
    given = {"Q": [[Fraction(1)]], "K": [[Fraction(1)], [Fraction(0)]], "V": [[Fraction(1)]] * 2}
    claims = {"scores": [[Number(2, 0), Number(0, 0)]], "weights": [[Number(88, 2), Number(13, 2)]]}
    with mpmath.workdps(DIGITS):
        assert marked(given, claims, scale=False) == {
            "scores": ["wrong", "right"], "weights": ["carried", "wrong"]}  # fmt: skip
