"""How often explanations are right, and how often chance gets one.

Sheets are made in plain NumPy, with no symattn in it, and handed in with one thing wrong. Run it
by hand::

    python tests/benchmarks/explaining_rates.py [sheets of each kind] [seed]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np

from symattn.reports.check import check_worksheet
from symattn.reports.results import Marking
from symattn.sheets.worksheet import worksheet_of
from tests.mistakes.single import CASES, MASK, D, work
from tests.oracle import softmax

#: Queries, keys, widths of keys and of values; few, as what is tried is prepared for each.
SHAPES = (
    (1, 2, 2, 1),
    (1, 3, 2, 2),
    (2, 2, 3, 2),
    (3, 3, 2, 3),
    (3, 2, 4, 1),
    (2, 4, 2, 2),
    (4, 4, 3, 2),
    (3, 3, 3, 3),
    (1, 4, 4, 4),
    (4, 3, 2, 1),
)


def spelled(x: float, digits: int) -> str:
    """A number as a student writes it."""
    if not np.isfinite(x):
        return str(x)
    return str(Decimal(repr(float(x))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def written(matrix: Any, digits: int) -> list[list[str]]:
    """The numbers of a matrix."""
    return [[spelled(x, digits) for x in row] for row in np.asarray(matrix)]


@dataclass
class Sheet:
    """A worksheet in the making."""

    attention: list[str]
    given: Mapping[str, Any]
    values: dict[str, Any]
    claims: dict[str, list[list[str]]]
    digits: int

    def text(self) -> str:
        """As somebody would hand it in."""
        given = [
            f"{name} = {[[int(x) for x in row] for row in m]}" for name, m in self.given.items()
        ]
        claims = [f"{name} = {rows!r}" for name, rows in self.claims.items()]
        return "\n".join(["[attention]", *self.attention, "[given]", *given, "[claims]", *claims])


def honest(rng: Any, digits: int, claimed: tuple[str, ...] = ()) -> Sheet:
    """A sheet with nothing wrong in it, of a shape of its own."""
    n, m, d, e = SHAPES[int(rng.integers(len(SHAPES)))]
    given = {
        "Q": rng.integers(-3, 4, (n, d)),
        "K": rng.integers(-3, 4, (m, d)),
        "V": rng.integers(-9, 10, (m, e)),
    }
    q, k, v = (given[name].astype(float) for name in "QKV")
    values = {"scores": q @ k.T}
    values["scaled"] = values["scores"] / np.sqrt(d)
    values["weights"] = softmax(values["scaled"])
    values["output"] = values["weights"] @ v
    names = claimed or tuple(values)
    claims = {name: written(values[name], 0 if name == "scores" else digits) for name in names}
    return Sheet([], given, values, claims, digits)


def follow(sheet: Sheet, wrong: str, row: int, column: int, value: float) -> None:
    """Put a wrong number in, and carry it on as somebody would who does the rest rightly."""
    digits = 0 if wrong == "scores" and value == round(value) else sheet.digits
    sheet.claims[wrong][row][column] = spelled(value, digits)
    taken = sheet.values[wrong].copy()
    taken[row, column] = float(sheet.claims[wrong][row][column])
    d = sheet.given["Q"].shape[1]
    steps: list[tuple[str, Callable[[Any], Any]]] = [
        ("scaled", lambda s: s / np.sqrt(d)),
        ("weights", softmax),
        ("output", lambda a: a @ sheet.given["V"]),
    ]
    names = ["scores", "scaled", "weights", "output"]
    for name, make in steps[names.index(wrong) :]:
        taken = make(taken)
        if name in sheet.claims:
            sheet.claims[name] = written(taken, sheet.digits)
            taken = np.array([[float(x) for x in line] for line in sheet.claims[name]])


def checked(sheet: Sheet) -> Marking:
    """What symattn says of it."""
    return check_worksheet(worksheet_of(sheet.text()))


# ---- misconceptions -----------------------------------------------------------------------------


#: Those that make sense whatever the numbers are.
MISTAKES = (
    *("not-scaled", "scaled-by-d_k", "multiplied-by-root", "query-key-exchanged"),
    *("values-as-keys", "softmax-over-columns", "ratio", "over-everything"),
    *("row-sums-along-columns", "softmax-twice", "softmax-of-one", "weights-transposed"),
    *("keys-as-values", "queries-as-values", "not-masked", "mask-inverted"),
    *("mask-transposed", "masked-to-0", "mask-after-softmax"),
)


def hand_in(rng: Any, names: tuple[str, ...], carry: bool, causal: bool) -> str | None:
    """A worksheet with these misconceptions in it; None where no one would hand that in.

    `carry`: who made it goes on from the numbers as they were written.
    """
    tokens = int(rng.integers(3, 5))
    given = {name: rng.integers(-3, 4, (tokens, D)) for name in "QKV"}
    ways = {step: way for name in names for step, way in CASES[name][1].items()}
    claims: dict[str, list[list[str]]] = {}

    def kept(step: str, value: Any) -> Any:
        claims[step] = written(value, 0 if step == "scores" else 2)
        return np.array([[float(x) for x in row] for row in claims[step]]) if carry else value

    attention = MASK if causal else {}
    with np.errstate(all="ignore"):
        work(attention, ways, tuple(x.astype(float) for x in given.values()), kept)
    numbers = [x.lower() for rows in claims.values() for row in rows for x in row]
    if any("nan" in x or x == "inf" or len(x) > 9 for x in numbers):
        return None
    return Sheet(['mask = "causal"'] if causal else [], given, {}, claims, 2).text()


def handed_in(rng: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Worksheets in whose numbers these misconceptions show."""
    carry = bool(rng.integers(2))
    causal = any("mask" in CASES[name][0] for name in names) or bool(rng.integers(2))
    for seed in map(int, rng.integers(2**31, size=50)):
        sheet = hand_in(np.random.default_rng(seed), names, carry, causal)
        if sheet not in (None, hand_in(np.random.default_rng(seed), (), carry, causal)):
            yield str(sheet)


# ---- chance -------------------------------------------------------------------------------------


def random_numbers(rng: Any, digits: int) -> Iterator[Sheet]:
    """Sheets with one number that means nothing: anywhere in its matrix's range, or near."""
    while True:
        names = ("scores", "scaled", "weights", "output")
        chosen = tuple(n for n in names if rng.random() < 0.6) or ("output",)
        sheet = honest(rng, digits, chosen)
        wrong = str(rng.choice(chosen))
        row, column = (int(rng.integers(size)) for size in sheet.values[wrong].shape)
        value = sheet.values[wrong]
        low, high = (0.0, 1.0) if wrong == "weights" else (value.min(), value.max())
        if rng.random() < 0.3:
            reach = 0.2 * (high - low)
            low, high = value[row, column] - reach, value[row, column] + reach
        number = spelled(rng.uniform(low, high), digits)
        if abs(float(number) - value[row, column]) <= 1.01 * 10.0**-digits:
            continue
        if rng.random() < 0.5:
            follow(sheet, wrong, row, column, float(number))
        sheet.claims[wrong][row][column] = number
        yield sheet


def random_rows(rng: Any, digits: int) -> Iterator[Sheet]:
    """Sheets with one row that means nothing."""
    while True:
        sheet = honest(rng, digits)
        wrong = str(rng.choice(("scaled", "weights", "output")))
        value = sheet.values[wrong]
        row = int(rng.integers(len(value)))
        low, high = (0.0, 1.0) if wrong == "weights" else (value.min(), value.max())
        if high - low < 0.1:
            continue
        numbers = rng.uniform(low, high, value.shape[1])
        sheet.claims[wrong][row] = [spelled(x, digits) for x in numbers]
        if np.abs(numbers - value[row]).max() < 0.05:
            continue
        yield sheet


# ---- slips --------------------------------------------------------------------------------------


def _factors(sheet: Sheet, step: str, row: int, column: int) -> tuple[Any, Any]:
    """The two vectors whose product an entry is, as the student has them."""
    if step == "scores":
        return sheet.given["Q"][row], sheet.given["K"][column]
    weights = np.array([float(x) for x in sheet.claims["weights"][row]])
    return weights, sheet.given["V"][:, column]


def _sign(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float:
    return float(-sheet.values[step][row, column])


def _term(factor: float) -> Callable[..., float | None]:
    def slip(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float | None:
        if step not in ("scores", "output"):
            return None
        one, two = _factors(sheet, step, row, column)
        products = one * two
        k = int(rng.integers(len(products)))
        return float(products.sum() + factor * products[k])

    return slip


def _copied(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float | None:
    value = sheet.values[step]
    around = [
        (row + i, column + j)
        for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0))
        if 0 <= row + i < value.shape[0] and 0 <= column + j < value.shape[1]
    ]
    return float(value[around[int(rng.integers(len(around)))]]) if around else None


def _swapped(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float | None:
    letters = list(sheet.claims[step][row][column])
    places = [k for k, x in enumerate(letters) if x.isdigit()]
    pairs = [(a, b) for a, b in pairwise(places) if letters[a] != letters[b]]
    if not pairs:
        return None
    a, b = pairs[int(rng.integers(len(pairs)))]
    letters[a], letters[b] = letters[b], letters[a]
    return float("".join(letters))


def _transposed(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float | None:
    value = sheet.values[step]
    if row == column or column >= value.shape[0] or row >= value.shape[1]:
        return None
    return float(value[column, row])


def _unscaled(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float | None:
    return float(sheet.values["scores"][row, column]) if step == "scaled" else None


def _undivided(sheet: Sheet, rng: Any, step: str, row: int, column: int) -> float | None:
    return float(np.exp(sheet.values["scaled"][row, column])) if step == "weights" else None


#: What slips, how it is named (any of these), and the number it gives.
SLIPS: dict[str, tuple[tuple[str, ...], Callable[..., float | None]]] = {
    "sign": (("sign",), _sign),
    "dropped-term": (("dropped-term",), _term(-1)),
    "term-twice": (("term-twice",), _term(1)),
    "sign-of-a-term": (("sign-of-a-term", "misread-number"), _term(-2)),
    "copied-entry": (("copied-entry",), _copied),
    "swapped-digits": (("swapped-digits",), _swapped),
    "row-for-column": (("row-for-column", "copied-entry"), _transposed),
    "entry-not-scaled": (("entry-not-scaled",), _unscaled),
    "entry-not-divided": (("entry-not-divided",), _undivided),
}


def slips(rng: Any, kind: str, digits: int) -> Iterator[Sheet]:
    """Sheets with one slip of a kind, carried on."""
    while True:
        sheet = honest(rng, digits)
        step = str(rng.choice(("scores", "scaled", "weights", "output")))
        row, column = (int(rng.integers(size)) for size in sheet.values[step].shape)
        value = SLIPS[kind][1](sheet, rng, step, row, column)
        if value is None:
            continue
        if abs(value - sheet.values[step][row, column]) < 3.01 * 10.0**-digits:
            continue
        follow(sheet, step, row, column, value)
        yield sheet


# ---- the tables ---------------------------------------------------------------------------------


def taken(found: Iterator[Sheet], count: int) -> Iterator[Marking]:
    """The first so many that are not accepted."""
    for sheet in found:
        marking = checked(sheet)
        if marking.first_wrong is None:
            continue
        yield marking
        count -= 1
        if not count:
            return


def explained(found: Iterator[Sheet], count: int) -> Counter[str]:
    """How often there is an explanation ("any"), and by name."""
    names: Counter[str] = Counter()
    for marking in taken(found, count):
        names["sheets"] += 1
        names["any"] += bool(marking.explanations)
        names.update(each.name for each in marking.explanations[:1])
    return names


def named(rng: Any, kind: str, digits: int, count: int) -> tuple[int, int, Counter[str]]:
    """How many slips of a kind are explained, how many rightly, and what else was said."""
    some = right = 0
    others: Counter[str] = Counter()
    for marking in taken(slips(rng, kind, digits), count):
        some += bool(marking.explanations)
        if marking.explanations and marking.explanations[0].name in SLIPS[kind][0]:
            right += 1
        elif marking.explanations:
            others[marking.explanations[0].name] += 1
    return some, right, others


def known(rng: Any, each: int, most: int = 10**9) -> tuple[int, int, Counter[str]]:
    """Misconceptions and pairs of them: sheets, how many are named, and which are not."""
    kinds = [(name,) for name in MISTAKES] + [
        pair
        for pair in combinations(MISTAKES, 2)
        if not {*CASES[pair[0]][1]} & {*CASES[pair[1]][1]}
    ]
    rng.shuffle(kinds)
    total = hits = 0
    missed: Counter[str] = Counter()
    for kind in kinds[:most]:
        names = tuple(map(str, kind))
        for text in islice(handed_in(rng, names), each):
            marking = check_worksheet(worksheet_of(text))
            total += 1
            hit = {frozenset(e.name.split(" + ")) for e in marking.explanations}
            hits += frozenset(names) in hit
            if frozenset(names) not in hit:
                missed[" + ".join(names)] += 1
    return total, hits, missed


def main(count: int, seed: int) -> None:
    """Print the tables."""
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    for label, make in (("number", random_numbers), ("row", random_rows)):
        for digits in (1, 2, 3, 4):
            names = explained(make(rng, digits), count)
            rate = names["any"] / names["sheets"]
            rest = {k: v for k, v in names.most_common(8) if k not in ("sheets", "any")}
            print(f"random {label}, {digits} decimals: explained {rate:6.1%}  {rest}")
    for kind in SLIPS:
        for digits in (2, 3, 4):
            of = max(count // 4, 1)
            some, right, others = named(rng, kind, digits, of)
            rates = f"explained {some / of:5.0%}, named {right / of:5.0%}"
            print(f"{kind:18} {digits} decimals: {rates}  {dict(others.most_common(4))}")
    total, hits, missed = known(rng, 1)
    print(f"misconceptions and pairs: {hits} of {total} named {dict(missed.most_common(12))}")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    words = [*map(int, sys.argv[1:3])]
    main(*words, *(200, 1)[len(words) :])
