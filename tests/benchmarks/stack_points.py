"""Who loses points for what: simulated students whose answers are marked as a class's are.

The students are those of ``tests/students.py``, which shares nothing with symattn: each keeps and
rounds numbers in a style, half of them slip once and compute on. Others have a misconception, and
write its numbers with all digits kept, or go on with what they wrote; others fill in what takes no
thought. Run with ``python -m tests.benchmarks.stack_points [sheets of each kind] [seed]``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from symattn.classroom.answered import Answers
from symattn.classroom.exercise import Exercise
from symattn.classroom.judge import SOUND, Judge
from symattn.errors import SymattnError
from symattn.sheets.worksheet import worksheet_of
from tests.classroom.tasks import generator
from tests.students import SLIPS, Exercises, Sheet, Style, honest, reached, slip, toml

#: Six ways of keeping and writing numbers.
STYLES = {
    "all digits kept": Style(None, None, "half-up", False, None),
    "used as written": Style(0, None, "half-up", False, 0),
    "one digit more": Style(1, None, "half-up", False, 1),
    "all digits, ties to even": Style(None, None, "half-even", False, None),
    "e^z to 4 decimals": Style(None, 4, "half-up", False, None),
    "cut off": Style(None, None, "cut off", False, None),
}

#: What misconceptions are tried on.
VARIANTS = ("scaled-dot-product", "causal", "cross")

#: Answers that take no thought.
DEGENERATE = ("0", "1", "0.5", "0.333", "-1")


def exercise_of(sheet: Sheet) -> Exercise:
    """The exercise that a student answered."""
    attention, given, claims = sheet.tables()
    blank = {
        step: str([["?"] * sheet.task.shape(step)[1]] * sheet.task.shape(step)[0]).replace("'", '"')
        for step in dict.fromkeys(place[0] for place in sheet.written)
    }
    assert claims
    facts = f"[exercise]\ndigits = {sheet.decimals}\n"
    return Exercise.of(worksheet_of(toml(attention, given, blank) + facts))


def verdicts(judge: Judge, sheet: Sheet) -> dict[tuple[str, int, int], str]:
    """The verdict on each entry that the student wrote."""
    exercise = judge.exercise
    places = [(blank.step, blank.place[-2], blank.place[-1]) for blank in exercise.blanks]
    texts = [sheet.text(place) if place in sheet.written else "" for place in places]
    found = judge.judge(Answers(tuple(texts)))
    return dict(zip(places, found.verdicts, strict=True))


def share(count: Counter[str], *names: str) -> str:
    """The share of some, of all."""
    every = sum(count.values())
    return f"{100 * sum(count[name] for name in names) / max(every, 1):6.2f} % of {every}"


def by_hand(count: int, seed: int) -> None:
    """Honest students, and those who slip once, in each style."""
    for name, style in STYLES.items():
        rng = Random(seed)
        exercises = Exercises(rng, 12, 200)
        sound, first, after, others = (Counter[str]() for _ in range(4))
        for _ in range(count):
            sheet = honest(exercises, style, 3, 60)
            try:
                judge = Judge(exercise_of(sheet), explain=False)
            except SymattnError:
                continue
            sound.update(
                verdict for p, verdict in verdicts(judge, sheet).items() if p in sheet.written
            )
            made = slip(rng, sheet, rng.choice([kind for kind in SLIPS if "unit" not in kind]))
            if made is None or made.leaves_it_right:
                continue
            follow = reached(made.sheet, frozenset({made.place}))
            for place, verdict in verdicts(judge, made.sheet).items():
                if place not in made.sheet.written:
                    continue
                into = first if place == made.place else after if place in follow else others
                into[verdict] += 1
        print(f"{name:26} sound {share(sound, *SOUND)}")
        print(f"{'':26} the slip costs {share(first, 'wrong', 'not computed')}")
        print(f"{'':26} what follows has points {share(after, *SOUND)}; not {after}")
        print(f"{'':26} what does not follow {share(others, *SOUND)}")


def with_misconceptions(count: int) -> None:
    """Misconceptions, in answers with all digits kept."""
    first, after = Counter[str](), Counter[str]()
    missed = Counter[str]()
    for exercise in some_exercises(count):
        judge = Judge(exercise, explain=False)
        for one in exercise.seen:
            found = judge.judge(Answers(one.answers))
            steps = [blank.step for blank in exercise.blanks]
            wrong = [k for k, x in enumerate(found.verdicts) if x not in SOUND]
            if not wrong:
                missed["nothing is wrong"] += 1
                continue
            start = steps[wrong[0]]
            if "not computed" in found.verdicts:
                missed["not computed"] += 1
                continue
            behind = False
            for k, verdict in enumerate(found.verdicts):
                behind = behind or (k > 0 and steps[k - 1] == start != steps[k])
                (after if behind else first)[verdict] += 1
                if behind and verdict not in SOUND:
                    missed[one.misconception.name] += 1
    print(
        f"misconceptions: what follows has points {share(after, *SOUND)}; left out {dict(missed)}"
    )


def some_exercises(count: int) -> Iterator[Exercise]:
    """Exercises of a class."""
    for name in VARIANTS:
        made = generator(name, blank=("scores", "scaled", "weights", "output"))
        yield from (made.exercise(seed) for seed in range(count))


def degenerate(count: int) -> None:
    """What answers without thought gain."""
    gained, sheets = Counter[str](), 0
    for exercise in some_exercises(count):
        judge = Judge(exercise, explain=False)
        steps = exercise.steps
        for text in DEGENERATE:
            for early in range(1, len(steps) + 1):
                chosen = steps[:early]
                texts: Sequence[str] = [
                    text if blank.step in chosen else "" for blank in exercise.blanks
                ]
                found = judge.judge(Answers(tuple(texts)))
                sheets += 1
                for verdict in found.verdicts:
                    gained[verdict] += 1
    print(
        f"degenerate: {sheets} sheets, entries with points {share(gained, *SOUND)} {dict(gained)}"
    )


def main() -> None:
    count, seed = (*map(int, sys.argv[1:]), *(60, 5)[len(sys.argv) - 1 :])
    by_hand(count, seed)
    with_misconceptions(max(1, count // 20))
    degenerate(max(1, count // 20))


if __name__ == "__main__":
    main()
