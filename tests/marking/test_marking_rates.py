"""The marker's rates on generated students, a bounded number of them, and the judge's own check."""

from __future__ import annotations

import tomllib
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.benchmarks.marking_rates import (
    AS_WRITTEN,
    BETWEEN,
    Gate,
    Marked,
    Spot,
    accepted,
    claiming_more,
    first_slips,
    honest_refused,
    random_explained,
    refused,
    second_slips,
    slips_accepted,
    symattn_marks,
)
from tests.students import (
    MIXED,
    SLIPS,
    STYLES,
    Exercises,
    Style,
    Task,
    honest,
    reached,
    shown_by,
    slip,
    some_style,
)

SEED = 20261122

#: Slips, and second slips in what follows from the first; how many of each kind.
SLIPPED = ((first_slips, "slips", 10), (second_slips, "second slips", 6))


def exercises() -> Exercises:
    """Always the same, of a few forms."""
    return Exercises(Random(SEED), 16, 10**6)


def failing(gates: list[Gate]) -> list[str]:
    return [str(gate) for gate in gates if not gate.holds]


# ---- the marker -----------------------------------------------------------------------------


def test_honest_sheets_are_accepted_whatever_their_style() -> None:
    found = honest_refused(symattn_marks, exercises(), 4)
    assert failing(list(found.gates)) == [], found.examples.get(found.worst)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("each step with decimals of its own", 60),
        ("right numbers among rounded ones", 20),
        ("products rounded as they are written", 30),
        pytest.param("each step with decimals of its own", 150, marks=pytest.mark.nightly),
        pytest.param("right numbers among rounded ones", 40, marks=pytest.mark.nightly),
        pytest.param("products rounded as they are written", 60, marks=pytest.mark.nightly),
    ],
)
def test_nor_is_one_refused_of_another_kind(kind: str, count: int) -> None:
    for name, rate in refused(symattn_marks, exercises(), kind, count).items():
        # a lone number rounded in between may as well be a slip
        limit = 0.02 if name in AS_WRITTEN else 0.12 if name in BETWEEN else 0.01
        assert not rate.surely_above(limit), (str(name), str(rate))


def test_sheets_computed_from_whole_numbers_in_place_of_decimals_are_not_accepted() -> None:
    kind = "computed from whole numbers in place of decimals"
    rates = accepted(symattn_marks, exercises(), kind, 4)
    assert {name: rate.hits for name, rate in rates.items() if rate.hits} == {}
    assert all(r.hits == 2 for r in accepted(accepts_everything, exercises(), kind, 2).values())


@pytest.mark.parametrize(("made", "name", "count"), SLIPPED)
def test_slips_are_not(made: Any, name: str, count: int) -> None:
    found = slips_accepted(symattn_marks, made(exercises(), count), name, False)
    assert failing(list(found.gates)) == [], found.examples[:3]


def test_an_honest_student_who_claims_more_earns_no_less() -> None:
    rate = claiming_more(symattn_marks, exercises(), 20)["honest"]
    assert not rate.surely_above(0.01), str(rate)


@pytest.mark.parametrize("alone", [False, True])
def test_a_random_number_has_no_explanation(alone: bool) -> None:
    rate = random_explained(symattn_marks, exercises(), 15, alone)
    assert not rate.surely_above(0.05), str(rate)


# ---- the judge can fail ---------------------------------------------------------------------


def spots(text: str) -> tuple[Spot, ...]:
    """The entries that a sheet claims."""
    found: list[Spot] = []
    for key, value in tomllib.loads(text)["claims"].items():
        step, _, row = key.partition("[")
        array = np.array([value] if row else value)
        first = int(row.split(",")[0]) - 1 if row else 0
        found += [
            (step, (*place[:-2], place[-2] + first, place[-1]))
            for place in np.ndindex(*array.shape)
            if array[place] != "?"
        ]
    return tuple(found)


def accepts_everything(text: str, explain: bool) -> Marked:
    return Marked(True, dict.fromkeys(spots(text), "right"), explained=True)


def refuses_everything(text: str, explain: bool) -> Marked:
    return Marked(False, dict.fromkeys(spots(text), "wrong"))


def test_a_marker_that_accepts_everything_fails() -> None:
    asked = exercises()
    assert failing(list(honest_refused(accepts_everything, asked, 1).gates)) == []
    for made, name, _ in SLIPPED:
        found = slips_accepted(accepts_everything, made(asked, 2), name)
        gates = [gate for gate in found.gates if gate.rate.total > 1]
        assert gates and not any(gate.holds for gate in gates)
    assert random_explained(accepts_everything, asked, 10, alone=True).surely_above(0.05)


def test_a_marker_that_refuses_everything_fails() -> None:
    gates = list(honest_refused(refuses_everything, exercises(), 2).gates)
    assert len(gates) > len(STYLES) and not any(gate.holds for gate in gates)
    found = slips_accepted(refuses_everything, first_slips(exercises(), 2), "slips")
    assert failing(list(found.gates)) == [] and found.followed.surely_above(0.01)


def test_a_marker_that_is_stricter_with_more_claims_is_seen() -> None:
    def strict(text: str, explain: bool) -> Marked:
        found = spots(text)
        return Marked(False, dict.fromkeys(found, "last-digit" if len(found) > 5 else "right"))

    assert claiming_more(strict, exercises(), 20)["honest"].surely_above(0.01)


# ---- the students ---------------------------------------------------------------------------


def by_mpmath(task: Task) -> dict[str, Any]:
    """The steps from the paper, in 60 digits."""
    given = {
        name: mpmath.matrix([[str(x) for x in row] for row in matrix])
        for name, matrix in task.given.items()
    }
    if "X" in given:
        given |= {name: given["X"] * given[f"W_{name}"] for name in "QKV"}
    scores: Any = given.get("scores")
    if scores is None and "scaled" not in given:
        scores = given["Q"] * given["K"].T
    z: Any = given.get("scaled")
    if z is None:
        z = scores / mpmath.sqrt(task.d_k) if task.scaled else scores
    e = z.apply(mpmath.exp)
    for i in range(e.rows):
        for j in range(e.cols):
            if task.causal and j > i:
                e[i, j] = 0
    sums = e * mpmath.ones(e.cols, 1)
    weights = mpmath.matrix(e.rows, e.cols)
    for i in range(e.rows):
        for j in range(e.cols):
            weights[i, j] = e[i, j] / sums[i]
    return {
        **given,
        "scores": scores,
        "scaled": z,
        "exp": e,
        "exp_sum": sums,
        "weights": weights,
        "output": weights * given["V"],
    }


def test_the_truth_of_a_sheet_is_what_mpmath_finds_and_exact_students_write_it() -> None:
    asked = exercises()
    seen = set()
    with mpmath.workdps(60):
        for _ in range(80):
            sheet = honest(asked, Style())
            truth = by_mpmath(sheet.task)
            for step, i, j in sheet.written:
                y = sheet.truth[step, i, j]
                if step != "masked":
                    assert abs(truth[step][i, j] - mpmath.mpf(str(y))) < mpmath.mpf(10) ** -30
                assert sheet.is_right((step, i, j))
                seen.add(step)
    assert {"Q", "V", "scores", "scaled", "masked", "exp", "exp_sum", "weights", "output"} <= seen


def test_every_honest_sheet_is_one_that_a_style_shows() -> None:
    asked = exercises()
    for style in (*STYLES, *MIXED):
        assert shown_by(honest(asked, style)) is not None


def test_a_slip_moves_one_number_and_what_follows_from_it() -> None:
    asked = exercises()
    kinds = set()
    for _ in range(200):
        found = slip(asked.rng, honest(asked, some_style(asked.rng)), asked.rng.choice(SLIPS))
        if found is None:
            continue
        kinds.add(found.kind)
        before, after = found.before.written, found.sheet.written
        moved = {place for place in before if before[place] != after[place]}
        assert found.place in moved
        assert moved - {found.place} <= reached(found.sheet, frozenset({found.place}))
        assert found.units >= 1
    assert kinds == set(SLIPS)
