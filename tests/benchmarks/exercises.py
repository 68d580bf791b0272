"""Whether exercises tell misconceptions apart, and whether ``check`` names each of them alone.

``python -m tests.benchmarks.exercises [SEEDS [CHECKED]]`` draws so many exercises of each style and
variant, and marks the answers of every misconception in the first of them; it prints a table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symattn.attention.variants import variant
from symattn.classroom.exercise import Exercise, Mistaken
from symattn.classroom.generator import Generator
from symattn.classroom.styles import STYLES
from symattn.classroom.task import task_of
from symattn.errors import SymattnError
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from symattn.sheets.writing import starter

VARIANTS = ("scaled-dot-product", "causal", "masked", "cross", "multi-head", "alibi")
WIDTHS = {"decimals": (2, 4), "integers": (4,), "fractions": (4,)}


@dataclass
class Count:
    """What came of one style and variant."""

    drawn: int = 0
    #: Exercises in which every pair that any numbers tell is three units apart.
    apart: int = 0
    #: Misconceptions whose answers are those of another or right, and the key does not say so.
    hidden: int = 0
    named: int = 0
    checked: int = 0
    wrong: int = 0
    seconds: float = 0.0
    missed: list[str] = field(default_factory=list)


def measured(name: str, style: str, d_k: int, seeds: int, checked: int) -> Count:
    """Exercises of a variant: `checked` of them with the answers of every misconception."""
    sheet = worksheet_of(starter(variant(name), d_k=d_k, tokens=3))
    maker = Generator(task_of(sheet, exact=STYLES[style].exact), STYLES[style])
    found, known = Count(), _unsaid(maker)
    for seed in range(seeds):
        start = time.perf_counter()
        exercise = maker.exercise(seed)
        found.seconds += time.perf_counter() - start
        found.drawn += 1
        left = {one.name for one in exercise.unseen}
        pairs = {frozenset((one.name, other.name)) for one, other in exercise.alike}
        pairs |= {frozenset((one, "")) for one in left}
        found.apart += pairs <= known
        found.wrong += _wrong_digits(exercise)
        same = [one.answers for one in exercise.mistaken if one.misconception.name not in left]
        found.hidden += sum(one == tuple(exercise.answers.values()) for one in same)
        if seed < checked:
            for one in exercise.mistaken:
                if one.misconception.name not in left:
                    _check(exercise, one, found, f"{style} {name} {d_k} {seed}")
    return found


def _unsaid(maker: Generator) -> set[frozenset[str]]:
    """The pairs that no numbers of the generator's sample tell."""
    names = ["", *(one.misconceptions[0].name for one in maker.hypotheses)]
    size = len(names)
    return {
        frozenset((names[i], names[j]))
        for i in range(size)
        for j in range(i + 1, size)
        if not maker._tellable[i, j]
    }


def _wrong_digits(exercise: Exercise) -> int:
    """Answers that are not the floating-point value rounded."""
    wrong = 0
    for blank, answer in exercise.answers.items():
        value = float(exercise.evaluation.array(blank.letter)[blank.place])
        if answer == "-inf" or value == -float("inf"):
            wrong += (answer == "-inf") != (value == -float("inf"))
        else:
            wrong += abs(float(Fraction(answer)) - value) > 0.5 * 10**-exercise.task.digits + 1e-9
    return wrong


def _check(exercise: Exercise, one: Mistaken, found: Count, where: str) -> None:
    digits = exercise.task.digits
    in_decimals = {blank.step for blank, x in exercise.answers.items() if "." in x}
    answers = {
        blank: f"{float(x):.{digits}f}" if blank.step in in_decimals and _is_decimal(x) else x
        for blank, x in zip(exercise.blanks, one.answers, strict=True)
    }
    text = exercise.task.text(exercise.sheet.numbers, answers, exercise.sheet.exercise, {})
    names = list(dict.fromkeys(x.name for x in check_worksheet(worksheet_of(text)).explanations))
    row = one.misconception
    alike = {x.name for pair in exercise.alike if row in pair for x in pair} | {
        row.name,
        row.rather,
    }
    found.checked += 1
    if names and {*names} <= alike and (len(names) == 1 or len(alike) > 2):
        found.named += 1
    else:
        found.missed.append(f"{where} {row.name}: {names}")


def _is_decimal(answer: str) -> bool:
    """Whether a number is written with as many decimals as are asked for: no fraction, no −∞."""
    return answer[-1].isdigit() and "/" not in answer


def every(seeds: int, checked: int) -> Iterator[tuple[str, str, int, Count]]:
    """Every style, variant and width that it can do."""
    for style, widths in WIDTHS.items():
        for name in VARIANTS:
            for d_k in widths:
                try:
                    yield style, name, d_k, measured(name, style, d_k, seeds, checked)
                except SymattnError as error:
                    print(f"{style:10} {name:20} {d_k}  refused: {error}", flush=True)


def main(arguments: Sequence[str]) -> None:
    seeds, checked = map(int, (*arguments, *("20", "1")[len(arguments) :]))
    print("style      variant              d_k  drawn  apart  hidden  wrong  named alone  s each")
    total = Count()
    for style, name, d_k, one in every(seeds, checked):
        print(
            f"{style:10} {name:20} {d_k:3}  {one.drawn:5}  {one.apart:5}  {one.hidden:6}"
            f"  {one.wrong:5}  {one.named:4} of {one.checked:4}  {one.seconds / one.drawn:.2f}",
            flush=True,
        )
        for key in ("drawn", "apart", "hidden", "named", "checked", "wrong"):
            setattr(total, key, getattr(total, key) + getattr(one, key))
        for line in one.missed:
            print("    ", line, flush=True)
    rate = total.named / max(total.checked, 1)
    print(f"{total.apart} of {total.drawn} exercises three units apart; {rate:.1%} named alone")


if __name__ == "__main__":
    main(sys.argv[1:])
