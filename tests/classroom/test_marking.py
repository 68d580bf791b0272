"""Answers to an exercise: judged once, given points by a scheme, and kept in a journal."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from symattn.classroom.answered import Answers, AnswerSheet
from symattn.classroom.exercise import Exercise
from symattn.classroom.exercises import Exercises
from symattn.classroom.journal import Journal
from symattn.classroom.judge import Judge, Judgement
from symattn.classroom.pool import Asked, Judged, Pool, Portions, in_turn, of_dask, of_processes
from symattn.classroom.preview import slipped
from symattn.classroom.records import Marking, Record
from symattn.classroom.scheme import Scheme, scheme_of
from symattn.classroom.stack import Stack
from symattn.classroom.submission import Sheet, Submission
from symattn.doors import Failure
from symattn.errors import SymattnError
from symattn.status import Status
from tests.classroom.handed_in import in_this_process
from tests.classroom.tasks import generator
from tests.extras import package
from tests.fuzz.stacks import cluster
from tests.processes import started_by

STEPS = ("scores", "weights", "output")


@cache
def exercise(seed: int = 7) -> Exercise:
    return generator("causal", blank=STEPS).exercise(seed)


def answers(*changed: tuple[str, str]) -> list[str]:
    """The right answers, but for these entries."""
    texts = {exercise().name(blank): text for blank, text in exercise().answers.items()}
    assert {name for name, _ in changed} <= texts.keys()
    return [*{**texts, **dict(changed)}.values()]


def judged(texts: Sequence[str], digits: int | None = None, tolerance: int = 0) -> dict[str, str]:
    found = Judge(exercise(), digits, tolerance).judge(Answers(tuple(texts)))
    return dict(zip(map(exercise().name, exercise().blanks), found.verdicts, strict=True))


# ---- verdicts ------------------------------------------------------------------------------------


def test_the_key_is_right_and_an_empty_sheet_is_blank() -> None:
    assert {*judged(answers()).values()} == {"right"}
    assert {*judged([""] * len(exercise().blanks)).values()} == {"blank"}


@pytest.mark.parametrize(
    ("written", "digits", "tolerance", "verdict"),
    [
        ("0.804", 3, 0, "right"),
        ("0.80443", 3, 0, "right"),
        ("0,804", 3, 0, "right"),
        ("80.4 %", 3, 0, "right"),
        ("0.8049", 3, 0, "right"),
        ("0.8050", 3, 0, "wrong"),
        ("0.80", 3, 0, "wrong"),
        ("0.80", 2, 0, "right"),
        ("0.83", 2, 0, "wrong"),
        ("0.803", 3, 1, "right"),
        ("0.802", 3, 1, "wrong"),
        ("e^2/(e^2+e^x)", 3, 0, "unreadable"),
        ("n/a", 3, 0, "unreadable"),
        ("—", 3, 0, "unreadable"),
        ("", 3, 0, "blank"),
    ],
)
def test_an_answer_by_itself(written: str, digits: int, tolerance: int, verdict: str) -> None:
    # its true value is 0.80443…
    found = judged(answers(("weights[2,2]", written)), digits=digits, tolerance=tolerance)
    assert found["weights[2,2]"] == verdict


def test_a_first_mistake_costs_once_and_what_follows_nothing() -> None:
    for texts in slipped(exercise(), 3, 40):
        found = [*judged(texts).values()]
        mistakes = [x for x in found if x not in ("right", "rounded", "follows")]
        assert mistakes in ([], ["wrong"])


def test_what_a_misconception_gives_follows_whatever_digits_were_kept() -> None:
    for one in exercise().seen:
        found = Judge(exercise(), explain=False).judge(Answers(one.answers))
        steps = [blank.step for blank in exercise().blanks]
        wrong = {s for s, x in zip(steps, found.verdicts, strict=True) if x in ("wrong",)}
        if "not computed" not in found.verdicts:
            assert len(wrong) == 1
            alike = {x.name for pair in exercise().alike for x in pair}
            named = {told.name for told in found.mistakes}
            assert one.misconception.name in named or one.misconception.rather in named | alike


@pytest.mark.parametrize("text", ["0", "1", "0.333", "-2"])
@pytest.mark.parametrize("step", STEPS)
def test_one_number_throughout_has_no_points_and_gives_none(text: str, step: str) -> None:
    found = judged([text if b.step == step else "" for b in exercise().blanks])
    assert {*found.values()} == {"not computed", "blank"}


def test_nothing_follows_from_what_nobody_computed() -> None:
    mean = "0.333"
    texts = [
        "0" if b.step == "scores" else mean if b.step == "weights" else answer
        for b, answer in exercise().answers.items()
    ]
    found = judged(texts)
    assert {verdict for name, verdict in found.items() if name.startswith("weights")} == {
        "not computed"
    }


def test_explanations_change_no_verdict() -> None:
    silent, telling = Judge(exercise(), explain=False), Judge(exercise())
    told = 0
    for texts in [*slipped(exercise(), 5, 12), *(one.answers for one in exercise().seen[:6])]:
        one, other = silent.judge(Answers(tuple(texts))), telling.judge(Answers(tuple(texts)))
        assert one.verdicts == other.verdicts
        told += len(other.mistakes)
    assert told > 6


# ---- schemes -------------------------------------------------------------------------------------


def points(scheme: str, texts: Sequence[str]) -> dict[str, Fraction]:
    marking = Marking(exercise(), scheme_of(scheme), explain=False)
    given = Answers(tuple(texts))
    record = marking.record(Submission("ada.toml"), given, marking.judge.judge(given))
    return dict(record.steps)


def test_points_by_step_are_shared_by_its_blanks() -> None:
    texts = answers(("weights[2,2]", "0.9"))
    assert points("[points]\nscores = 3\nweights = 9\noutput = 6", texts) == {
        "scores": 3,
        "weights": 8,
        "output": 6,
    }


def test_a_step_may_have_its_points_whole_or_not_at_all() -> None:
    scheme = '[points]\nscores = 3\nweights = 9\noutput = 6\n[answers]\nby = "step"'
    assert points(scheme, answers(("weights[2,2]", "0.9"))) == {
        "scores": 3,
        "weights": 0,
        "output": 6,
    }


def test_what_follows_may_have_a_share_and_all_a_total() -> None:
    one = next(x for x in exercise().seen if x.misconception.name == "softmax-over-columns")
    whole = points("total = 24", one.answers)
    half = points("total = 24\n[answers]\nfollow_through = 0.5", one.answers)
    assert whole["output"] == 6
    assert half["output"] == 3
    assert sum(points("total = 10", answers()).values()) == 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[points]\nwieghts = 1", "wieghts"),
        ("[points]\nV = 1", "V is not asked for"),
        ("[points]\nweights = -1", "from 0"),
        ('[points]\nweights = "all"', "from 0"),
        ("points = 3", "a table"),
        ("[answers]\nby = 'row'", "use entry, step"),
        ("[answers]\ntolerance = 1.5", "a whole number"),
        ("[answers]\nfollow = 1", "no key of [answers]"),
        ("[attempts]\ndue = 2026-12-01", "time of day"),
        ("[attempts]\nlate = 2", "a share from 0 to 1"),
        ("[attempts]\nextra_time = 3", "in minutes"),
        ("total = ", "Invalid value"),
    ],
)
def test_a_scheme_that_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(SymattnError) as refused:
        Marking(exercise(), scheme_of(text))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


# ---- submissions against the exercise ------------------------------------------------------------


def named(texts: Sequence[str]) -> dict[str, object]:
    return dict(zip(map(exercise().name, exercise().blanks), texts, strict=True))


def submission(student: str, texts: Sequence[str]) -> Submission:
    return Submission(f"class.csv: {student}", student, named(texts))


def test_only_claims_are_read_and_the_rest_is_remarked_on() -> None:
    found = AnswerSheet(exercise()).read(
        Submission(
            "ada.toml",
            "Ada",
            {"weights": [["1", "n/a", "0"]] * 3, "Grade": "A", "scores": [["1"]]},
            others={"policy": {"accept": ["wrong"]}, "exercise": {"seed": 8}, "title": "mine"},
        )
    )
    assert found.texts[9:12] == ("1", "n/a", "0")
    assert found.texts[:9] == ("",) * 9
    assert len(found.remarks) == 4
    assert "seed 8" in " ".join(found.remarks)
    assert "policy" in " ".join(found.remarks)


def test_capitals_and_both_decimal_signs_are_read() -> None:
    texts = answers()
    own = {name.capitalize(): text for name, text in named(texts).items()}
    assert AnswerSheet(exercise()).read(Submission("", "Ada", own)).texts == tuple(texts)
    commas = {name: str(text).replace(".", ",") for name, text in own.items()}
    mixed = Submission("", "Ada", commas | {"Output[2,1]": "1.330"})
    (remark,) = AnswerSheet(exercise()).read(mixed).remarks
    assert remark == "has points and commas in its numbers; the comma is read as the decimal sign"


def test_too_few_digits_need_no_other_reason() -> None:
    texts = answers(("weights[2,1]", "0.20"), ("output[2,1]", "-0.431"))
    judge = Judge(exercise())
    assert not judge.judge(Answers(tuple(texts))).mistakes
    whole = answers(("output[2,1]", "-0.431"))
    assert judge.judge(Answers(tuple(whole))).mistakes


def test_tables_of_a_document_stand_in_the_order_of_the_exercise() -> None:
    texts = answers()
    tables = (
        Sheet("1. Scores", tuple(tuple(texts[k : k + 3]) for k in (0, 3, 6))),
        Sheet("2. Weights", tuple(tuple(texts[k : k + 3]) for k in (9, 12, 15))),
        Sheet("3. Output", tuple(tuple(texts[k : k + 2]) for k in (18, 20, 22))),
    )
    read = AnswerSheet(exercise()).read(Submission("ada.docx", "Ada", tables=tables))
    assert read.texts == tuple(texts)
    assert read.remarks == ()


# ---- a stack -------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "exercise.toml"
    path.write_text(exercise().text)
    return path


@contextmanager
def stack(file: Path, scheme: str = "", journal: str = "j.sqlite") -> Iterator[Stack]:
    with Journal.at(file.parent / journal) as kept:
        yield Stack(Exercises.at(file, scheme_of(scheme)), kept, explain=False)


def some(count: int = 60) -> list[Submission]:
    wrong = [*slipped(exercise(), 1, 20), *(one.answers for one in exercise().seen)]
    right = answers()
    return [
        submission(f"Student {k}", wrong[k % len(wrong)] if k % 3 else right) for k in range(count)
    ]


def marked(file: Path, pool: Pool = in_this_process, journal: str = "j.sqlite") -> list[Record]:
    with stack(file, journal=journal) as one:
        one.mark(some(), pool)
        return [*one.records()]


def test_records_depend_on_no_process_and_nothing_is_judged_twice(file: Path) -> None:
    alone = marked(file, journal="alone.sqlite")
    assert [record.student for record in alone] == [f"Student {k}" for k in range(60)]
    with of_processes(2) as pool:
        assert marked(file, pool) == alone

    def refuses(
        portions: Iterable[Sequence[Asked]],
    ) -> Iterator[tuple[Sequence[Asked], Judged]]:
        assert not [*portions]
        return iter(())

    assert marked(file, refuses) == alone


def test_of_several_submissions_the_last_or_the_best_counts(file: Path) -> None:
    best, last = answers(), [""] * len(answers())
    for count, expected in (("best", 24), ("last", 0), ("first", 24)):
        with stack(file, f'[attempts]\ncount = "{count}"') as one:
            one.mark([submission("Ada", best), submission("Ada", last)], in_this_process)
            (record,) = one.records()
        assert record.points == expected
        assert f"2 submissions; the {count} counts" in record.remarks


def test_a_late_submission_keeps_a_share_unless_it_has_more_time(file: Path) -> None:
    from datetime import datetime

    scheme = """
        [attempts]
        due = 2026-12-01T12:00:00
        late = 0.5
        extra_time = {"Émile Bo" = 30, "Cy" = 10, "cy" = 20, "Eve" = 30}
    """
    with stack(file, scheme) as one:
        when = datetime(2026, 12, 1, 12, 20)
        names = ("Ada", "Bo, Emile", "boemile", "CY")
        handed = [Submission("x", name, named(answers()), submitted=when) for name in names]
        one.mark(handed, in_this_process)
        assert [record.points for record in one.records()] == [12, 24, 24]
        assert [*one.without(one.exercises.scheme.attempts.extra_time)] == ["Eve"]


def test_what_cannot_be_read_is_a_row_and_a_word(file: Path) -> None:
    with stack(file) as one:
        broken = Submission("ada.toml", "Ada", fault="is no TOML")
        one.mark([broken, submission("Bo", [""] * 24)], in_this_process)
        first, second = one.records()
    assert [first.fault, second.fault] == ["is no TOML", "nothing is answered"]
    assert first.points == second.points == 0


def test_each_student_may_have_an_exercise_and_who_is_missing_has_a_row(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    for seed, student in ((7, "Ada Lovelace"), (8, "Bo")):
        made = generator("causal", blank=STEPS).exercise(seed, student=student)
        (folder / f"{student.lower().replace(' ', '-')}.toml").write_text(made.text)
        (folder / f"{student.lower().replace(' ', '-')}-key.toml").write_text(made.key)
    exercises = Exercises.at(folder, Scheme())
    assert exercises.students == ("Ada Lovelace", "Bo")
    with Journal.at(tmp_path / "j.sqlite") as journal:
        one = Stack(exercises, journal, students=exercises.students)
        handed = [submission("lovelaceada", answers()), submission("Nobody", answers())]
        one.mark(handed, in_this_process)
        found = {record.student: record for record in one.records()}
    assert found["lovelaceada"].points == 24
    assert found["Nobody"].fault == "no exercise of the folder is this student's"
    assert found["Bo"].fault == "nothing was handed in"
    assert "Ada Lovelace" not in found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_workers_of_dask_judge_as_this_process_does(file: Path) -> None:
    package("distributed")
    alone = marked(file, journal="alone.sqlite")
    with cluster(file.parent) as (_, address), of_dask(address) as pool:
        assert marked(file, pool, "dask.sqlite") == alone


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_scheduler_that_is_gone_is_a_line_and_running_again_finishes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package("distributed")
    monkeypatch.setattr("symattn.classroom.pool._LOOK", 0.5)
    alone = marked(file, journal="alone.sqlite")
    with cluster(file.parent) as (scheduler, address), of_dask(address) as pool:

        def killing(portions: Portions) -> Iterator[tuple[Sequence[Asked], Judged]]:
            for portion in pool(portions):
                scheduler.kill()
                yield portion
            assert not [*pool([[Asked(exercise().text, 3, 0, False, ("9",) * 24, ".")]])]

        with pytest.raises(SymattnError, match=r"--workers tcp://.* the scheduler is gone;"):
            marked(file, killing)
    assert marked(file) == alone


# ---- what goes wrong -----------------------------------------------------------------------------


def test_processes_that_are_killed_take_nothing_along(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = marked(file, journal="whole.sqlite")
    with of_processes(2) as pool:

        def killing(
            portions: Iterable[Sequence[Asked]],
        ) -> Iterator[tuple[Sequence[Asked], Judged]]:
            for number, portion in enumerate(pool(portions)):
                if number == 0:
                    _kill_children()
                yield portion

        assert marked(file, killing) == whole


def _kill_children() -> None:
    """Kill the processes of the pool, and no others that this process has started."""
    started = started_by(os.getpid(), "symattn.isolation")
    workers = [one for one in started if not started_by(one)]
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    assert workers


@pytest.mark.parametrize("spoil", ["cut", "noise", "no database", "of another program"])
def test_a_damaged_journal_is_put_aside_and_nothing_is_wrong(file: Path, spoil: str) -> None:
    whole = marked(file)
    path = file.parent / "j.sqlite"
    content = path.read_bytes()
    other = file.parent / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE judged (sentence TEXT)")
    connection.close()
    spoilt = {
        "cut": content[: len(content) // 2],
        "noise": content[:4096] + bytes(reversed(content[4096:])),
        "no database": b"not a database at all" * 100,
        "of another program": other.read_bytes(),
    }
    path.write_bytes(spoilt[spoil])
    assert marked(file) == whole
    assert (file.parent / "j.sqlite.damaged").exists()


def test_a_row_that_was_changed_is_judged_again(file: Path) -> None:
    whole = marked(file)
    with sqlite3.connect(file.parent / "j.sqlite") as connection:
        changed = connection.execute("UPDATE judged SET row = replace(row, 'e', 'a')").rowcount
    connection.close()
    assert changed > 10
    assert marked(file) == whole


def test_a_journal_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SymattnError, match="the journal cannot be kept"):  # noqa: SIM117
        with Journal.at(tmp_path / "nowhere" / "j.sqlite"):
            pass


def test_what_ends_its_process_every_time_is_a_row_alone() -> None:
    asked = [Asked("", 3, 0, False, (text,), "") for text in ("a", "poison", "b", "c")]
    sent: list[list[str]] = []

    def submit(portion: Sequence[Asked]) -> Future[object]:
        future = Future[object]()
        sent.append([one.texts[0] for one in portion])
        lost = Failure(Status.INTERNAL, "its process was killed")
        judged = [Judgement(("right",), {}) for _ in portion]
        future.set_result(lost if ["poison"] in [[*one.texts] for one in portion] else judged)
        return future

    found = {
        one.texts[0]: result
        for portion, results in in_turn(submit, 2, iter([asked[:3], asked[3:]]))
        for one, result in zip(portion, results, strict=True)
    }
    assert [isinstance(found[name], Failure) for name in ("a", "poison", "b", "c")] == [
        False,
        True,
        False,
        False,
    ]
    assert sent.count(["poison"]) == 2
