"""What a class hands in is read, wherever it lies, and nothing keeps the rest from being read."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import struct
import sys
import tracemalloc
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from symattn.classroom.answers import READERS
from symattn.classroom.submissions import SYSTEMS, Sheet, Submission, submissions_in
from symattn.errors import MissingExtra, ReadError
from symattn.files.named import LIMITS
from tests.command import run
from tests.extras import package

STEPS = {"scores": 9, "weights": 9, "output": 6}

CLAIM = '[claims]\nscores = [["0.50", 1.20], ["?", 3]]\n'
READ = {"scores": [["0.50", "1.20"], ["", "3"]]}


def read(path: Path) -> list[Submission]:
    return [*submissions_in(path)]


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def lying(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def handout(folder: Path, form: str) -> Path:
    file = folder / f"sheet.{form}"
    options = "--size tokens=3,d_k=2 --seed 7 --blank scores,weights,output"
    run("exercise", "causal", *options.split(), "--format", form, "-o", str(file))
    return file


# ---- one file ------------------------------------------------------------------------------------


def filled_docx(file: Path, numbers: Sequence[str]) -> None:
    docx = package("docx")
    document = docx.Document(str(file))
    left = iter(numbers)
    for table in document.tables:
        for row in table.rows:
            for cell in row.cells:
                if cell.text.startswith("__"):
                    cell.text = next(left)
    for run_ in document.paragraphs[1].runs:
        if run_.text.startswith("__"):
            run_.text = "Ada Lovelace"
    document.save(str(file))


def filled_text(file: Path, numbers: Sequence[str]) -> None:
    text = file.read_text("utf-8").replace("_____", "Ada Lovelace", 1)
    for number in numbers:
        text = text.replace("_____", number, 1)
    file.write_text(text, "utf-8")


@pytest.mark.parametrize("form", ["docx", "ipynb", "md"])
def test_a_handout_that_was_filled_in(form: str, tmp_path: Path) -> None:
    file = handout(tmp_path, form)
    numbers = [f"0.{k:02}" for k in range(sum(STEPS.values()))]
    (filled_docx if form == "docx" else filled_text)(file, numbers)
    (found,) = read(file)
    headings = ["1. Scores", "2. Attention weights", "3. Output"]
    assert [table.heading for table in found.tables] == headings
    assert [x for table in found.tables for row in table.cells for x in row] == numbers
    assert [len(table.cells) for table in found.tables] == [3, 3, 3]
    assert (found.student, found.fault, found.source) == ("Ada Lovelace", "", file.name)
    assert found.others == {"exercise": {"seed": 7}}


@pytest.mark.parametrize("form", ["docx", "ipynb", "md"])
def test_a_handout_as_it_was_handed_out_is_blank(form: str, tmp_path: Path) -> None:
    (found,) = read(handout(tmp_path, form))
    assert {x for table in found.tables for row in table.cells for x in row} == {""}
    assert found.student == "sheet"


def test_a_worksheet_keeps_its_digits_and_only_claims_are_answers(tmp_path: Path) -> None:
    file = handout(tmp_path, "toml")
    text = file.read_text("utf-8").replace('"?"', "0.50", 1)
    file.write_text(text + 'student = "Ada"\n', "utf-8")
    (found,) = read(file)
    assert found.claims["scores"] == [["0.50", "", ""], ["", "", ""], ["", "", ""]]
    assert found.student == "Ada"
    assert set(found.others) >= {"given", "policy", "exercise", "attention"}
    assert not set(found.others) & {"claims"}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ('{"claims": {"a": [[0.10, 1e-3]]}, "student": "Ada"}', {"a": [["0.10", "1e-3"]]}),
        ('{"name": "Ada", "weights[1,2]": 0.50}', {"weights[1,2]": "0.50"}),
        ('{"name": "Ada", "a": [null, true, "_____"]}', {"a": ["null", "true", ""]}),
        ('{"name": "Ada", "a": {"b": 1}}', {"a": "a table"}),
    ],
)
def test_json(text: str, claims: Mapping[str, object], tmp_path: Path) -> None:
    (found,) = read(lying(tmp_path, {"x.json": text}) / "x.json")
    assert (found.claims, found.student) == (claims, "Ada")


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ('entry,answer\n"weights[1,2]",0.50\n', {"weights[1,2]": "0.50"}),
        ("weights[1,2],0.50\n", {"weights[1,2]": "0.50"}),
        ("weights[1,:];0,5;0,5\n", {"weights[1,:]": ["0,5", "0,5"]}),
        ("scores\n1,2\n?,4\n\noutput\n5\n", {"scores": [["1", "2"], ["", "4"]], "output": [["5"]]}),
        ("scores\n,the,cat\nthe,1,2\ncat,3,\n", {"scores": [["1", "2"], ["3", ""]]}),
    ],
)
def test_csv_of_one_student(text: str, claims: Mapping[str, object], tmp_path: Path) -> None:
    (found,) = read(lying(tmp_path, {"ada.csv": text}))
    assert found.claims == claims
    assert found.student == "ada"


def test_lines_of_csv_below_no_name_are_told(tmp_path: Path) -> None:
    (found,) = read(lying(tmp_path, {"ada.csv": "My scores\n1,2\n3,4\n"}))
    assert not found.answers
    assert found.remark == "3 lines below no name of a step, not read"


def test_a_notebook_with_a_worksheet_in_a_cell(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": f"# A\n```toml\n{CLAIM}```\n"},
        {"cell_type": "raw", "source": ["%%attention\n", '[claims]\noutput = "1/2"\n']},
        {"cell_type": "code", "source": "print(1)"},
    ]
    (found,) = read(lying(tmp_path, {"x.ipynb": json.dumps({"cells": cells})}) / "x.ipynb")
    assert found.claims == {**READ, "output": "1/2"}


def test_a_fraction_in_word_keeps_its_bar(tmp_path: Path) -> None:
    w, m = (
        f"http://schemas.openxmlformats.org/{x}"
        for x in ("wordprocessingml/2006/main", "officeDocument/2006/math")
    )
    of = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>3</m:t></m:r></m:den></m:f>"
    text = (
        f'<w:document xmlns:w="{w}" xmlns:m="{m}"><w:body><w:tbl><w:tr><w:tc><w:p><m:oMath>{of}'
        "</m:oMath></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"
    )
    (found,) = read(zipped(tmp_path / "x.docx", {"word/document.xml": text}))
    assert found.tables == (Sheet("", (("1/3",),)),)


@pytest.mark.parametrize(
    ("encoding", "remark"),
    [("utf-8", ""), ("utf-8-sig", ""), ("utf-16", ""), ("latin-1", "Latin-1")],
)
def test_encodings(encoding: str, remark: str, tmp_path: Path) -> None:
    text = f'{CLAIM}[exercise]\nstudent = "Zoë"\n'
    (found,) = read(lying(tmp_path, {"x.toml": text.encode(encoding)}) / "x.toml")
    assert (found.claims, found.student) == (READ, "Zoë")
    assert remark in found.remark and bool(remark) == bool(found.remark)


# ---- places --------------------------------------------------------------------------------------

ZIPS = {
    "Moodle": {
        "Ada Lovelace_12345_assignsubmission_file_/exercise.toml": CLAIM,
        "Ada Lovelace_12345_assignsubmission_onlinetext_/onlinetext.html": "<p></p>",
        "Bob_12346_assignsubmission_file_exercise.toml": CLAIM,
    },
    "Canvas": {
        "lovelaceada_LATE_12345_67890_exercise.toml": CLAIM,
        "lovelaceada_LATE_12345_67891_notes.md": "# Notes\n",
        "bob_12346_67892_exercise.toml": CLAIM,
    },
    "Brightspace": {
        "index.html": "",
        "12345-67890 - Ada Lovelace - 3 Oct 2026 10-03 AM/exercise.toml": CLAIM,
        "12346-67890 - Bob - Oct 3, 2026 1003 AM/exercise.toml": CLAIM,
    },
    "Blackboard": {
        "Exercise 7_ada_attempt_2026-10-03-10-03-00.txt": "Name: Ada",
        "Exercise 7_ada_attempt_2026-10-03-10-03-00_exercise.toml": CLAIM,
        "Exercise 7_bob_attempt_2026-10-03-10-03-00_exercise.toml": CLAIM,
    },
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("inside", ["", "class/"])
@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
def test_systems(system: str, inside: str, packed: bool, tmp_path: Path) -> None:
    files = {inside + name: text for name, text in ZIPS[system].items()}
    path = zipped(tmp_path / "all.zip", files) if packed else lying(tmp_path / "all", files)
    found = [one for one in read(path) if not one.fault]
    students = {"Canvas": ["bob", "lovelaceada"], "Blackboard": ["ada", "bob"]}
    assert sorted(one.student for one in found) == students.get(system, ["Ada Lovelace", "Bob"])
    assert {one.key for one in found} == ({"12345", "12346"} if system != "Blackboard" else {""})
    assert all(one.claims == READ for one in found)
    if system in ("Brightspace", "Blackboard"):
        assert {one.submitted for one in found} == {datetime(2026, 10, 3, 10, 3)}


def test_the_name_of_a_system_counts_but_is_spelled_as_in_the_sheet(tmp_path: Path) -> None:
    text = CLAIM + '[exercise]\nstudent = "Ada Lovelace"\n'
    names = ("lovelaceada_1_2_x.toml", "hopperbob_3_4_x.toml")
    ada, bob = sorted(read(zipped(tmp_path / "a.zip", dict.fromkeys(names, text))), key=_key)
    assert (ada.student, bob.student) == ("Ada Lovelace", "hopperbob")
    assert bob.others["exercise"] == {"student": "Ada Lovelace"}


def _key(one: Submission) -> str:
    return one.key


def test_a_folder_for_each_student(tmp_path: Path) -> None:
    files: Mapping[str, str | bytes] = {
        "ada/exercise.toml": CLAIM,
        "ada/notes.md": "Nothing.",
        "ada/photo.jpg": b"\xff\xd8",
        "bob/a.toml": CLAIM,
        "bob/b.json": '{"scores": 1}',
        "eve.pdf": b"%PDF",
        "__MACOSX/ada/._exercise.toml": b"\0",
        ".DS_Store": b"\0",
        "Thumbs.db": b"\0",
        "~$eve.docx": b"\0",
    }
    found = read(lying(tmp_path / "class", files))
    assert [(one.source, one.student, bool(one.fault)) for one in found] == [
        ("class/ada/exercise.toml", "ada", False),
        ("class/bob/a.toml", "bob", False),
        ("class/bob/b.json", "bob", False),
        ("class/eve.pdf", "eve", True),
    ]


@pytest.mark.parametrize("shown", ["class.zip", "other.zip"])
def test_the_folder_of_an_archive_is_no_student(shown: str, tmp_path: Path) -> None:
    files = {"class/ada/x.toml": CLAIM, "class/bob/x.toml": CLAIM}
    assert [one.student for one in read(zipped(tmp_path / shown, files))] == ["ada", "bob"]


def test_files_beside_one_another_are_of_one_student_each(tmp_path: Path) -> None:
    files = {"ada.toml": CLAIM, "bob.toml": CLAIM}
    assert [one.student for one in read(lying(tmp_path, files))] == ["ada", "bob"]


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    outside = lying(tmp_path / "out", {"secret.toml": CLAIM})
    inside = lying(tmp_path / "class", {"ada.toml": CLAIM})
    (inside / "bob.toml").symlink_to(outside / "secret.toml")
    (inside / "eve").symlink_to(outside)
    found = {one.student: one for one in read(inside)}
    assert not found["ada"].fault
    assert "leads out" in found["bob"].fault and not found["bob"].claims
    assert all(not one.claims for name, one in found.items() if name != "ada")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ada.toml")
    (found,) = read(tmp_path)
    assert "pipe" in found.fault


def test_names_are_printable(tmp_path: Path) -> None:
    (found,) = read(lying(tmp_path, {"=HYPERLINK(1)\x1b[0m.toml": CLAIM}))
    assert found.student == r"=HYPERLINK(1)\x1b[0m"
    assert found.source.isprintable()


# ---- what is broken ------------------------------------------------------------------------------

DEEP = "[" * 3000 + "]" * 3000
BROKEN: Mapping[str, tuple[str, str | bytes]] = {
    "no TOML": ("x.toml", "scores = ["),
    "empty": ("x.toml", ""),
    "no text": ("x.toml", b"a\0b"),
    "deep TOML": ("x.toml", f"[claims]\na = {DEEP}"),
    "deep JSON": ("x.json", f'{{"a": {DEEP}}}'),
    "nine lists": ("x.json", '{"a": ' + "[" * 9 + "]" * 9 + "}"),
    "claims are no table": ("x.json", '{"claims": 3}'),
    "a list": ("x.json", "[]"),
    "half a UTF-16": ("x.md", b"\xff\xfea"),
    "no notebook": ("x.ipynb", "{}"),
    "no document": ("x.docx", b"PK\x03\x04"),
    "a long name": ("x.json", '{"student": "' + "a" * 100 + '", "a": 1}'),
    "huge": ("x.toml", "#" * 2_000_001),
    "many lines": ("x.md", "\n" * 50_001),
    "a zip in a zip": ("x.zip", b"PK\x03\x04"),
}


@pytest.mark.parametrize("what", [what for what in BROKEN if what != "half a UTF-16"])
def test_what_is_broken_is_a_fault_of_its_own(what: str, tmp_path: Path) -> None:
    name, text = BROKEN[what]
    files = {name: text, "ada.toml": CLAIM}
    for path in (lying(tmp_path / "class", files), zipped(tmp_path / "c.zip", files)):
        ada, broken = read(path)
        assert ada.claims == READ and not ada.fault
        assert broken.fault and broken.fault.isprintable() and len(broken.fault) <= 800
        assert broken.student == "x" and not broken.answers


def test_entities_are_refused(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    (found,) = read(zipped(tmp_path / "x.docx", {"word/document.xml": laughs}))
    assert "definitions" in found.fault


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = b"#" * 200_000_000
    path = zipped(tmp_path / "c.zip", {"ada.toml": CLAIM, "bob.toml": bomb})
    del bomb
    tracemalloc.start()
    ada, bob = read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ada.claims == READ and "too many" in bob.fault
    assert most < 20_000_000


#: How a member of an archive is spoilt, and what is said of it.
SPOILT = {
    "encrypted": (8, b"\x01\x00", "without a password"),
    "packed by bzip2": (10, b"\x0c\x00", "compressed in a way that is not read"),
    "more than deflate can have": (20, struct.pack("<II", 90, 1_000_000), "promises 1,000,000"),
    "larger than the archive": (20, struct.pack("<II", 2**31, 90), "promises 90 bytes in 2,147"),
    "larger than is read": (20, struct.pack("<II", 90_000, 90_000_000), "are too many"),
}


def spoilt(made: bytes, what: str) -> bytes:
    """An archive whose directory says something else of its first member, and is long."""
    place, changed, _ = SPOILT[what]
    start = made.index(b"PK\x01\x02") + place
    return made[:start] + changed + made[start + len(changed) :]


@pytest.mark.parametrize("what", SPOILT)
def test_a_member_of_an_archive_that_is_not_unpacked(what: str, tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "c.zip",
        {"ada.toml": CLAIM, "bob.toml": CLAIM, "notes.bin": os.urandom(100_000)},
    )
    path.write_bytes(spoilt(path.read_bytes(), what))
    ada, bob, _ = read(path)
    assert SPOILT[what][2] in ada.fault and bob.claims == READ


@pytest.mark.parametrize("what", SPOILT)
def test_a_document_of_word_that_is_not_unpacked(what: str, tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "ada.docx", {"word/document.xml": "<x/>", "picture.png": os.urandom(100_000)}
    )
    assert not read(path)[0].fault
    path.write_bytes(spoilt(path.read_bytes(), what))
    (found,) = read(path)
    assert SPOILT[what][2] in found.fault


def test_a_large_directory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "c.zip", {f"student {k}/{'x' * 200}.toml": CLAIM for k in range(600)})
    assert len(read(path)) == 600
    limits = replace(LIMITS, members_directory=100_000, directory=100_000)
    monkeypatch.setattr("symattn.classroom.submissions.LIMITS", limits)
    monkeypatch.setattr("symattn.classroom.answers.LIMITS", limits)
    (found,) = read(path)
    assert found.fault.startswith("a directory of 1") and "is too large" in found.fault
    (found,) = read(path.rename(tmp_path / "ada.docx"))
    assert found.fault == "is no document of Word (.docx)"


def test_thousands_of_files_with_long_names_are_a_class(tmp_path: Path) -> None:
    name = f"Ada Lovelace {{0}}_{{0}}_assignsubmission_file_/exercise {'of the week ' * 16}.toml"
    path = zipped(tmp_path / "c.zip", {name.format(k): CLAIM for k in range(20_000)})
    assert 20_000 * len(name) > LIMITS.directory
    assert next(submissions_in(path)).claims == READ


def test_paths_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    files = {"../../ada.toml": CLAIM, "/etc/bob.toml": CLAIM}
    assert len(read(zipped(tmp_path / "c.zip", files))) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["c.zip"]


def test_a_broken_archive(tmp_path: Path) -> None:
    path = zipped(tmp_path / "c.zip", {"ada.toml": CLAIM * 50, "bob.toml": CLAIM})
    raw = bytearray(path.read_bytes())
    raw[60:64] = b"\xff" * 4  # inside the first file
    path.write_bytes(raw)
    ada, bob = read(path)
    assert ada.fault and bob.claims == READ
    path.write_bytes(raw[:100])
    (found,) = read(path)
    assert "zip" in found.fault


def test_nothing_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is no file"):
        submissions_in(tmp_path / "none")
    with pytest.raises(ReadError, match="is not read"):
        submissions_in(lying(tmp_path, {"a.pdf": b"%PDF"}) / "a.pdf")


# ---- tables --------------------------------------------------------------------------------------

EXPORTS = {
    "our own": (
        'student,id,submitted,"weights[1,2]",scores\nAda,7,2026-10-03T10:03,0.50,?\n',
        ("Ada", "7", {"weights[1,2]": "0.50", "scores": ""}),
    ),
    "typed without quotes": (
        "Student,weights[1,2],weights[2,1]\nAda,0.50,0.25\n",
        ("Ada", "", {"weights[1,2]": "0.50", "weights[2,1]": "0.25"}),
    ),
    "Moodle": (
        "Last name,First name,ID number,Email address,Status,Started,Completed,Duration,"
        'Grade/10.00,"weights[1,2]"\nLovelace,Ada,7,a@b.c,Finished,"3 October 2026, 10:00 AM",'
        '"3 October 2026, 10:03 AM",3 mins,-,0.50\n',
        (
            "Ada Lovelace",
            "7",
            {"weights[1,2]": "0.50", "Status": "Finished", "Duration": "3 mins"}
            | {"Started": "3 October 2026, 10:00 AM"},
        ),
    ),
    "Canvas": (
        "name,id,sis_id,section,submitted,attempt,123: scores[1],1.0,n correct,score\n"
        "Ada,7,S7,A,2026-10-03 10:03:00,1,0.50,1.0,1,1\n",
        ("Ada", "7", {"section": "A", "attempt": "1", "scores[1]": "0.50", "score": "1"}),
    ),
    "Brightspace": (
        "OrgDefinedId,Username,Last Name,First Name,scores,End-of-Line Indicator\n"
        "#7,#ada,Lovelace,Ada,0.50,#\n",
        ("Ada Lovelace", "7", {"scores": "0.50"}),
    ),
    "with semicolons": ("sep=;\nName;scores\nAda;0,50\n", ("Ada", "", {"scores": "0,50"})),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_exports(export: str, tmp_path: Path) -> None:
    text, expected = EXPORTS[export]
    (found,) = read(lying(tmp_path, {"answers.csv": text}) / "answers.csv")
    assert (found.student, found.key, found.claims) == expected
    assert found.submitted in (None, datetime(2026, 10, 3, 10, 3))
    assert (found.submitted is None) == ("10:03" not in text)
    assert found.source.startswith("answers.csv: line ") and not found.fault


def test_a_row_that_is_wrong_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    rows = [
        "name,scores",
        "    Points Possible,10",
        'ada,"0.5',
        "bob,0.6",
        'eve,"0.7"',
        "dan,0,8",
        f"{'x' * 300},0.9",
        f"fay,{'1' * 300_000}",
        "Zo\xeb,1.0",
        '"Lovelace,\nAda",1.1',
    ]
    file = lying(tmp_path, {"a.csv": "\n".join(rows).encode("latin-1")}) / "a.csv"
    found = read(file)
    good = [(one.student, one.claims["scores"]) for one in found if not one.fault]
    assert good == [
        ("ada", "0.5"),
        ("bob", "0.6"),
        ("eve", "0.7"),
        ("Zoë", "1.0"),
        (r"Lovelace,\nAda", "1.1"),
    ]
    assert [one.source for one in found if one.fault] == [f"a.csv: line {k}" for k in (6, 7, 8)]
    assert [one.student for one in found if "Latin-1" in one.remark] == ["Zoë"]


def test_a_table_of_a_class_may_not_stand_among_submissions(tmp_path: Path) -> None:
    found = read(lying(tmp_path, {"ada.csv": "student,scores\nbob,1\neve,2\n"}))
    assert [one.student for one in found] != ["bob", "eve"]
    assert len(found) == 1


def test_parquet(tmp_path: Path) -> None:
    pa = package("pyarrow")
    parquet = package("pyarrow.parquet")
    columns = {
        "student": ["Ada", "Bob"],
        "scores": pa.array([[[0.1, 2.0]], None], pa.list_(pa.list_(pa.float64()))),
        "weights[1,2]": pa.array([0.1, None], pa.float32()),
        "output[1]": [True, None],
        "n": pa.array([3, 4]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    ada, bob = read(tmp_path / "a.parquet")
    assert ada.claims == {
        "scores": [["0.1", "2.0"]],
        "weights[1,2]": "0.1",
        "output[1]": "true",
        "n": "3",
    }
    assert {*bob.claims.values()} == {"", "4"}
    assert (bob.student, bob.source) == ("Bob", "a.parquet: row 2")


def test_parquet_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"symattn\[parquet\]"):
        read(lying(tmp_path, {"a.parquet": b"PAR1"}) / "a.parquet")


def test_memory_is_flat(tmp_path: Path) -> None:
    def most(count: int) -> int:
        file = tmp_path / f"{count}.csv"
        with file.open("w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(["student", *(f"weights[{i},{j}]" for i in range(4) for j in range(4))])
            rows.writerows([f"student {k}", *["0.25"] * 16] for k in range(count))
        tracemalloc.start()
        assert sum(not one.fault for one in submissions_in(file)) == count
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert most(3_000) < 1_000_000  # of all rows at once: several times as many


@pytest.mark.parametrize("kind", ["folder", "zip", "csv", "parquet"])
def test_how_much_is_read_is_told(kind: str, tmp_path: Path) -> None:
    files = {f"student {k}.toml": CLAIM for k in range(40)}
    path = tmp_path / f"class.{kind}"
    if kind == "folder":
        lying(path, files)
    elif kind == "zip":
        zipped(path, files)
    elif kind == "csv":
        path.write_text("student,scores\n" + "Ada Lovelace,0.5\n" * 3000, "utf-8")
    else:
        pa, parquet = package("pyarrow"), package("pyarrow.parquet")
        table = pa.table({"student": ["Ada"] * 3000, "scores": ["0.5"] * 3000})
        parquet.write_table(table, path)
    heard: list[float] = []
    assert len([*submissions_in(path, heard.append)]) in (40, 3000)
    assert heard == sorted(heard)
    assert heard[0] < 0.5 < heard[-1] <= 1


# ---- anything ------------------------------------------------------------------------------------


def seeds(ending: str) -> list[bytes]:
    """Files of an ending that are right, to be broken."""
    docx, archive = io.BytesIO(), io.BytesIO()
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    table = "<w:tbl><w:tr><w:tc/></w:tr></w:tbl>"
    text = f'<w:document xmlns:w="{w}"><w:body>{table}</w:body></w:document>'
    with zipfile.ZipFile(docx, "w") as file:
        file.writestr("word/document.xml", text)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("ada/x.toml", CLAIM)
        file.writestr("bob/x.json", '{"a": [1]}')
    cell = {"cell_type": "markdown", "source": ["# A\n", "| | a |\n", "|--|--|\n", "| b | 1 |"]}
    known: Mapping[str, list[bytes]] = {
        ".toml": [CLAIM.encode()],
        ".json": [b'{"claims": {"a": [[1, 0.5]]}, "student": "Ada"}'],
        ".csv": [b'student,"weights[1,2]"\nAda,0.5\n"Bob",1\n', b"scores\n1,2\n3,4\n"],
        ".tsv": [b"student\tscores\nAda\t0.5\n"],
        ".md": [b"Name: Ada. Seed 7.\n# A\n| | a |\n|--|--|\n| b | 1 |\n```\n[claims]\na = 1\n```"],
        ".ipynb": [json.dumps({"cells": [cell]}).encode()],
        ".docx": [docx.getvalue()],
        ".zip": [archive.getvalue()],
        ".parquet": [b"PAR1\x15\x04\x15PAR1"],
    }
    return known[ending]


@pytest.mark.parametrize("ending", [*READERS, ".zip", ".parquet"])
def test_no_bytes_are_an_exception(ending: str, tmp_path: Path) -> None:
    if ending == ".parquet":
        package("pyarrow")
    draws = random.Random(ending)
    alphabet = b"\0\xff\xfe\xef\xbb\xbf\"'[]{}|,;\t\r\n=#%`~\\?_.0129aAZ \x1f\xc3\xa9"
    file = tmp_path / f"x{ending}"
    for k in range(300):
        raw = bytearray(draws.choice(seeds(ending)) if k % 3 else b"")
        for _ in range(draws.randrange(1, 30)):
            place = draws.randrange(len(raw) + 1)
            some = bytes(draws.choices(alphabet, k=draws.randrange(4)))
            raw[place : place + draws.randrange(3)] = some
        file.write_bytes(raw)
        for one in submissions_in(file):
            assert one.fault or one.claims is not None
            assert one.fault.isprintable() and one.student.isprintable()
