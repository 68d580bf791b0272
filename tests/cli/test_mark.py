"""`symattn mark`: the answers of a class, from the files to the marks."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from symattn.classroom import feedback, gradebook, judge, marks, submissions
from symattn.cli import mark as command
from symattn.cli.progress import Progress
from symattn.errors import ReadError
from tests.classroom.handed_in import but, exercise, right
from tests.command import assert_refused, put, run
from tests.processes import python


def choices(option: str) -> set[str]:
    """What may be chosen for an option of the command."""
    (found,) = (one for one in command.mark.params if f"--{option}" in one.opts)
    assert isinstance(found.type, click.Choice)
    return {*found.type.choices}


def test_what_may_be_chosen_is_what_there_is() -> None:
    assert choices("gradebook") == {*gradebook.FLAVORS, "moodle-worksheet"} - {"plain"}
    told = [f":{reveal}" for reveal in feedback.REVEALS]
    assert choices("feedback") == {f"{form}{one}" for form in marks.FORMS for one in ("", *told)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An exercise, and the answers of a class of two: all right, and one wrong."""
    names = ",".join(f'"{exercise().name(blank)}"' for blank in exercise().blanks)
    wrong = ",".join(but({"scores[1,1]": "7"}))
    put(tmp_path / "exercise.toml", exercise().text)
    put(tmp_path / "class.csv", f"student,{names}\nAda,{','.join(right())}\nBo,{wrong}\n")
    return tmp_path


def marked(folder: Path, *more: object, status: int = 0) -> Result:
    """The class, marked by one process into a folder of its own."""
    words = (folder / "exercise.toml", folder / "class.csv", "-o", folder / "marks")
    return run("mark", *words, "--workers", 1, *more, status=status)


def test_a_name_with_extra_time_that_nobody_has_is_a_line(folder: Path) -> None:
    scheme = put(folder / "s.toml", '[attempts]\nextra_time = {"ADA" = 30, "Bob" = 9, "Bo" = 1}')
    assert marked(folder, "--scheme", scheme).stderr == (
        "symattn: extra_time: nothing was handed in by Bob\n"
    )


def test_what_cannot_be_written_is_refused_before_anything_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any) -> Any:
        raise ReadError("it is read")

    monkeypatch.setattr(submissions, "submissions_in", read)
    assert_refused(marked(folder, status=2), "it is read")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_refused(marked(folder, "--records", status=2), "pip install 'symattn[parquet]'")
    put(folder / "marks" / "groups.toml", "[one]\nlabel = 1")
    assert_refused(marked(folder, status=2), "groups.toml: one: label = 1")
    (folder / "marks" / "groups.toml").unlink()
    (folder / "marks" / "report.html").mkdir()
    assert_refused(marked(folder, status=2), "report.html: cannot be written: is a directory")


#: The command where the system refuses files of more bytes than so many, from the start or once
#: all is marked.
_FULL = """
import resource, sys
from symattn.classroom import marks
from symattn.cli import main

def fill(*_):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))

write = marks.Marks.write
if sys.argv[1] == "begun":
    fill()
else:
    marks.Marks.write = lambda self: fill() or write(self)
main(sys.argv[3:])
"""


@pytest.mark.skipif(os.name == "nt", reason="limits are of POSIX")
@pytest.mark.parametrize(
    ("when", "most", "told"),
    [
        ("begun", 0, "journal.sqlite: the journal cannot be kept: the disk is full, or fails"),
        pytest.param(
            "begun",
            30_000,
            "journal.sqlite: the journal cannot be kept: the disk is full",
            marks=pytest.mark.nightly,
        ),
        ("marked", 100, "gradebook.csv: cannot be written: file too large; the old content is"),
        pytest.param(
            "marked",
            1000,
            "report.html: cannot be written: file too large; the old content is",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_full_disk_is_a_line_and_nothing_is_lost(
    folder: Path, when: str, most: int, told: str
) -> None:
    whole = folder / "class.csv"
    more = put(folder / "more.csv", whole.read_text("utf-8") + "Cy,1,2\nDi,3\n")
    marked(folder)
    before = kept_in(folder / "marks")
    words = ["mark", folder / "exercise.toml", more, "--workers", "1", "-o"]
    full = python("-c", _FULL, when, str(most), *map(str, (*words, folder / "marks")))
    assert (full.returncode, full.stdout, full.stderr.count("\n")) == (2, "", 1)
    assert told in full.stderr
    after = kept_in(folder / "marks")
    assert after.keys() == before.keys()
    assert [name for name in before if after[name] != before[name]] == (
        ["gradebook.csv"] if most == 1000 else []
    )
    run(*words, folder / "marks", status=0)
    again = kept_in(folder / "marks")
    run(*words, folder / "other", status=0)
    assert again == kept_in(folder / "other") != before


def kept_in(marks: Path) -> dict[str, bytes]:
    """The files of a folder of marks, but for the journal."""
    files = {file.name: file.read_bytes() for file in marks.iterdir()}
    return {name: content for name, content in files.items() if "sqlite" not in name}


@pytest.mark.skipif(os.name == "nt", reason="limits are of POSIX")
def test_a_full_folder_for_temporary_files_is_a_line(folder: Path) -> None:
    file = folder / "class.csv"
    head, ada, _ = file.read_text("utf-8").splitlines()
    name = "Ada of a long name " * 4
    put(file, "\n".join([head, *(ada.replace("Ada", f"{name}{k}") for k in range(6000))]))
    words = ["mark", folder / "exercise.toml", file, "-o", folder / "marks"]
    full = python("-c", _FULL, "begun", "200000", *map(str, words), "--workers", "1")
    assert (full.returncode, full.stdout) == (2, "")
    assert full.stderr == (
        "symattn: what is read, in the folder for temporary files, cannot be kept: the disk is "
        "full, or fails; make room and run it again\n"
    )


def test_whose_points_have_changed_is_said_if_the_gradebook_can_be_read(folder: Path) -> None:
    marked(folder)
    put(folder / "class.csv", (folder / "class.csv").read_text("utf-8").replace("Ada,", "Ida,"))
    said = "Ada: 24.00 points before, none now\n1 student had no points before.\n"
    assert said in marked(folder).stdout
    assert "before" not in marked(folder).stdout
    book = folder / "marks" / "gradebook.csv"
    book.write_bytes(book.read_bytes().replace(b"Ida", b"\xe9da"))
    assert "before" not in marked(folder).stdout


def test_how_long_it_will_take_is_said_once_it_is_known() -> None:
    progress = Progress("reading")
    reads, judges = command._watching(progress)
    judges(1000, 10)
    assert str(progress._line()).startswith("1,000 read, 10 judged, 10,000 a second… ")
    reads(0.0001)
    judges(1000, 20)
    assert str(progress._line()).startswith("1,000 read, 20 judged, 10,000 a second, 17 min left…")


def test_a_preview_searches_for_no_slips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: Any) -> Any:
        raise AssertionError("slips are searched for")

    monkeypatch.setattr(judge._Found, "_explained", searched)
    file = put(tmp_path / "exercise.toml", exercise().text)
    said = run("mark", file, status=0).stdout
    assert "the least of 1" in said and "the key" in said


# ---- Moodle's grading worksheet ----------------------------------------------------------------

HEADS = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
)
ROWS = (
    'Participant 123,"Lovelace, Ada",=a@b.c,Submitted for grading,,18.00,Yes,"Friday, 3",-,',
    "Participant 124,Émilie Châtelet,e@b.c,Submitted for grading,3.00,18.00,No,-,-,Good",
    'Participant 125,Tom Ato,t@b.c,No submission,,18.00,Yes,-,-,"two\nlines"',
    "Participant 126,Zoe Who,z@b.c,Submitted for grading,1.00,18.00,Yes,-,-,Kept",
)


def moodle(folder: Path, heads: str = HEADS, rows: tuple[str, ...] = ROWS) -> list[str]:
    """A worksheet, and what three students handed in, as Moodle names it; the words to mark it."""
    put(folder / "sheet.csv", "\r\n".join((heads, *rows)) + "\r\n")
    for who, answers in (
        ("Ada Lovelace_123", right()),
        ("Emilie Chatelet_124", right()),
        ("Zoe Who_126", but({"scores[1,1]": "7"})),
    ):
        place = folder / "in" / f"{who}_assignsubmission_file_"
        place.mkdir(parents=True, exist_ok=True)
        names = [exercise().name(blank) for blank in exercise().blanks]
        lines = [f'"{x}",{y}' for x, y in zip(names, answers, strict=True)]
        put(place / "a.csv", "\n".join(lines))
    put(folder / "scheme.toml", "total = 18")
    return [
        *("mark", str(folder / "exercise.toml"), str(folder / "in")),
        *("--scheme", str(folder / "scheme.toml"), "--workers", "1", "--no-explain"),
        *("--gradebook", "moodle-worksheet", "-o", str(folder / "marks")),
    ]


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file)]


@pytest.mark.parametrize("named", [True, False])
def test_grades_are_written_into_the_worksheet_of_moodle(named: bool, folder: Path) -> None:
    words = moodle(folder)
    if not named:  # as where names are hidden
        heads = HEADS.replace("Full name,Email address,", "")
        rows = tuple(
            ",".join(f'"{x}"' for k, x in enumerate(row) if k not in (1, 2))
            for row in csv.reader(ROWS)
        )
        words = moodle(folder, heads, rows)
    done = run(*words, "--roster", str(folder / "sheet.csv"))
    assert done.exit_code == 0, done.stderr
    before, after = (cells(folder / x) for x in ("sheet.csv", "marks/moodle-worksheet.csv"))
    grade = before[0].index("Grade")
    changed = {
        (row[0], before[0][k]): (x, y)
        for row, other in zip(before, after, strict=True)
        for k, (x, y) in enumerate(zip(row, other, strict=True))
        if x != y
    }
    assert changed == {
        ("Participant 123", "Grade"): ("", "18.00"),
        ("Participant 126", "Grade"): ("1.00", "17.25"),
    }
    assert after[0][grade] == "Grade"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("18.00", "100.00"),
            "Maximum Grade is 100.00, and all points are 18.00; write total = 100",
        ),
        (("Maximum Grade", "Höchstbewertung"), "sheet.csv: has no column Maximum Grade; download"),
    ],
)
def test_a_worksheet_that_does_not_fit_is_refused_before_anything_is_marked(
    change: tuple[str, str], told: str, folder: Path
) -> None:
    words = moodle(folder, HEADS.replace(*change), tuple(row.replace(*change) for row in ROWS))
    assert_refused(run(*words, "--roster", str(folder / "sheet.csv")), told)
    assert not (folder / "marks" / "gradebook.csv").exists()


def test_the_worksheet_of_moodle_is_the_roster(folder: Path) -> None:
    assert_refused(run(*moodle(folder)), "name Moodle's worksheet with --roster")
