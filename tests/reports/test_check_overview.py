"""Folders and several files: an overview first, then file by file, alike in every format."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from symattn.reports.annotations import github_annotations
from symattn.reports.overview import CheckedFile, Overview
from symattn.reports.results import Finding
from symattn.reports.single import report_of
from tests.checking import check, toml
from tests.command import put, run

GIVEN = {"scores": [[0, 0, 0], [1, 2, 3]], "V": [[1], [2], [3]]}
RIGHT = toml(GIVEN, {"weights[1,1]": "0.33"})
SLIP = toml(GIVEN, {"weights[1,1]": "0.43", "output": [["2.00"], ["2.58"]]})
COLUMNS = toml(
    {"scores": [[1, 2, 0], [0, 1, 3]]},
    {"weights": [["0.73", "0.73", "0.05"], ["0.27", "0.27", "0.95"]]},
)
PAGE = f"# A page\n\n```symattn\n{RIGHT}```\n\nIt is {{claim}}`weights[1,2] = 0.4` there.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "anna.toml": RIGHT,
        "ben.toml": SLIP,
        "cleo.toml": COLUMNS,
        "page.md": PAGE,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def checked(*words: object) -> Result:
    return run("check", *words)


def test_the_overview_comes_first_and_then_the_files(folder: Path) -> None:
    result = checked(folder)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == lines[-1] == "4 files, 12 numbers: 4 right, 8 wrong"
    ben, cleo, page = (
        next(line for line in lines[:8] if name in line)
        for name in ("ben.toml", "cleo.toml", "page.md")
    )
    assert ben.split()[1:] == ["weights[1,1]", "0.43", "0.3333"]
    assert cleo.split()[1:] == ["weights[1,1]", "0.73", "0.2447", "softmax-over-columns"]
    assert page.split()[1:] == ["weights[1,2]", "0.4", "0.333"]
    assert "1 other file: all numbers accepted" in lines
    assert not any("anna" in line for line in lines)
    heading = lines.index(str(folder / "ben.toml"))
    assert lines[heading + 1].startswith("Your first wrong number is weights[1,1]: you wrote 0.43")
    ((row, text),) = ((k, x) for k, x in enumerate(PAGE.splitlines(), 1) if "claim}" in x)
    place = f"{folder}/page.md:{row}:{text.index('0.4') + 1}"
    assert f"{place}: weights[1,2]: you wrote 0.4; the true value is 0.333" in lines


def test_every_format_has_the_overview_the_names_and_the_numbers(folder: Path) -> None:
    data = json.loads(checked(folder, "--format", "json").stdout)
    rows = [row for row in data["overview"] if not row["passes"]]
    assert [Path(row["file"]).name for row in rows] == ["ben.toml", "cleo.toml", "page.md"]
    assert [row["step"] for row in rows] == ["weights"] * 3
    assert data["counts"] == {"right": 4, "wrong": 8}
    assert [row["numbers"] for row in data["overview"]] == [1, 3, 6, 2]
    pages = {form: checked(folder, "--format", form).stdout for form in ("text", "md", "html")}
    pages["md"] = pages["md"].replace("\\", "")
    for form, page in pages.items():
        assert data["conclusion"] in page, form
        for row in rows:
            told = (row["file"], row["first_wrong"], row["claimed"], row["true"])
            at = [page.find(word) for word in told]
            assert -1 not in at, (form, row)
            first = data["files"][row["file"]][0]["first_wrong"]
            assert first["sentence"] in page
            assert row["explanation"] in page
        assert page.index(data["conclusion"]) < page.index("Your first wrong number"), form


def test_a_file_all_of_whose_numbers_pass_is_a_line(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.toml").write_text(RIGHT, encoding="utf-8")
    result = checked(tmp_path)
    assert (result.exit_code, result.stdout) == (0, "3 files, 3 numbers: 3 right\n")


def test_long_lists_are_short_and_full_shows_all(tmp_path: Path) -> None:
    claims = {"weights": [["0.2", "0.9", "0.7"]] * 5}
    path = put(
        tmp_path / "many.md", f"```symattn\n{toml({'scores': [[1, 2, 4]] * 5}, claims)}```\n"
    )
    lines = checked(path, "--no-explain").stdout.splitlines()
    assert sum(line.startswith(str(path)) for line in lines) == 8
    assert "and 7 more; --full lists them" in lines
    lines = checked(path, "--no-explain", "--full").stdout.splitlines()
    assert sum(line.startswith(f"{path}:") and "you wrote" in line for line in lines) == 15


# ---- workflow annotations ----------------------------------------------------------------

_COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)\Z")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it (ActionCommand.cs of actions/runner)."""
    match = _COMMAND.match(line)
    assert match is not None, line
    properties = dict(part.split("=", 1) for part in match[2].split(","))
    signs = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}

    def plain(words: str) -> str:
        return re.sub("%0D|%0A|%3A|%2C|%25", lambda found: signs[found[0]], words)

    return match[1], {key: plain(value) for key, value in properties.items()}, plain(match[3])


def test_annotations_stand_where_the_numbers_do(folder: Path) -> None:
    (folder / "broken.toml").write_text("[given]\nscores = [1 2]\n", encoding="utf-8")
    result = checked(folder, "--format", "github")
    assert result.exit_code == 2
    *commands, total = result.stdout.splitlines()
    assert total.startswith("4 files, 12 numbers: ")
    told = [read(line) for line in commands]
    errors = [(at, message) for kind, at, message in told if kind == "error"]
    assert len(errors) == 8
    for at, message in errors:
        line = Path(at["file"]).read_text("utf-8").splitlines()[int(at["line"]) - 1]
        number = line[int(at["col"]) - 1 : int(at["endColumn"]) - 1]
        assert f": you wrote {number}; the true value is " in message
        assert at["title"].endswith(": wrong")
    assert any("\nConsistent with softmax-over-columns: " in message for _, message in errors)
    ((at, message),) = [(at, message) for kind, at, message in told if kind == "warning"]
    assert at["file"].endswith("broken.toml") and at["line"].isdigit()
    assert "not valid TOML" in message


def test_what_passes_is_a_notice_and_the_status_stays(tmp_path: Path) -> None:
    path = put(tmp_path / "a,b 50%.toml", toml(GIVEN, {"weights[2,:]": ["0.09", "0.24", "0.66"]}))
    result = checked(path, "--format", "github")
    assert result.exit_code == 0
    assert "a%2Cb 50%25.toml" in result.stdout
    kind, at, message = read(result.stdout.splitlines()[0])
    assert (kind, at["file"]) == ("notice", str(path))
    assert "weights[2,3]: you wrote 0.66; the true value is 0.6652 (cut off" in message
    assert checked(tmp_path / "none.toml", "--format", "github").exit_code == 2


LONE = """
```symattn
[given]
Q = [[1, 2], [0.5, 1]]
K = [[1, 0], [0, 3]]
V = [[1, 2], [3, 4]]
```

{claim}`weights[1,1] = 0.0283`, {claim}`weights[1,2] = WEIGHT`, {claim}`output[1,1] = 2.9434`,
{claim}`output[2,1] = 2.708`, {claim}`scaled[1,2] = 4.243`.
"""


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_a_number_cut_off_beside_rounded_ones_is_remarked_on(tmp_path: Path, form: str) -> None:
    """0.971682 is 0.97 or 0.972, and 0.971 is cut off."""
    page = tmp_path / "page.md"
    for weight, remarked in (("0.971", True), ("0.972", False), ("0.97", False)):
        page.write_text(LONE.replace("WEIGHT", weight))
        result = checked(page, "--format", form)
        assert result.exit_code == 0
        assert ("so it may be a mistake" in " ".join(result.stdout.split())) is remarked


def test_nothing_in_a_message_ends_its_command() -> None:
    hostile = "1\r\n::error::x"
    placed = Finding(1, 2, None, hostile, hostile, "50%", "wrong", passes=False)
    page = github_annotations(Overview((CheckedFile("a\n:,%.md", findings=(placed,)),)))
    lines = page.splitlines()
    assert len(lines) == 2
    kind, at, _ = read(lines[0])
    assert (kind, at["file"]) == ("error", "a\n:,%.md")


@pytest.mark.parametrize(
    ("problem", "place", "message"),
    [
        ("a.md:3:7: no", {"file": "a.md", "line": "3", "col": "7"}, "no"),
        ("a.md:3: no: 1:2: x", {"file": "a.md", "line": "3"}, "no: 1:2: x"),
        ("a.md: no", {"file": "a.md"}, "no"),
        ("a.md:3.md:7: no", {"file": "a.md:3.md", "line": "7"}, "no"),  # a name with a colon
        ("other.md:3:7: no", {"file": "other.md", "line": "3", "col": "7"}, "no"),
        ("a.md is no file", {}, "a.md is no file"),
        ("<stdin>:3: no", {}, "<stdin>:3: no"),
        ("<stdin>: no", {}, "<stdin>: no"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_a_problem_is_a_warning_where_it_is(
    problem: str, place: dict[str, str], message: str, finished: bool
) -> None:
    problems: Any = {"problems" if finished else "unfinished": (problem,)}
    page = github_annotations(Overview((), names=("a.md", "a.md:3.md", "<stdin>"), **problems))
    title = "could not be used" if finished else "not finished"
    assert read(page.splitlines()[0]) == ("warning", place | {"title": title}, message)


def test_of_many_accepted_numbers_the_first_are_listed() -> None:
    def cut_off(count: int) -> str:
        findings = tuple(
            Finding(n, 5, 9, f"scores[1,{n}]", "0.66", "0.667", "truncated", passes=True)
            for n in range(1, count + 1)
        )
        return github_annotations(Overview((CheckedFile("a.toml", findings=findings),)))

    place = {"file": "a.toml", "line": "1", "col": "5", "endColumn": "9"}
    kind, at, message = read(cut_off(8).splitlines()[0])
    title = "8 numbers accepted though not correctly rounded"
    assert (kind, at) == ("notice", place | {"title": title})
    assert message.splitlines()[-1] == (
        "scores[1,8]: you wrote 0.66; the true value is 0.667 (cut off)"
    )
    _, at, message = read(cut_off(10).splitlines()[0])
    assert at["title"].startswith("10 numbers")
    assert len(message.splitlines()) == 9
    assert message.splitlines()[-1] == "and 2 more"


def test_a_sign_that_does_not_hold_is_an_error_and_one_that_is_open_a_warning() -> None:
    lines = tuple(
        Finding(line, 2, None, entry, "", "", verdict, passes=False, told="is not")
        for entry, verdict, line in (("scores[1,1]", "wrong", 4), ("", "undecided", 0))
    )
    report = replace(report_of(check(GIVEN, {"weights[1,1]": "0.5"})), lines=lines)
    for name, places in (
        ("a.toml", ({"file": "a.toml", "line": "4", "col": "2"}, {"file": "a.toml"})),
        ("<stdin>", ({}, {})),
    ):
        page = github_annotations(Overview((CheckedFile(name, reports=(report,), signs=lines),)))
        wrong, unsettled, _ = page.splitlines()
        title = {"title": "scores[1,1]: worked line"}
        assert read(wrong) == ("error", places[0] | title, "is not")
        assert read(unsettled) == ("warning", places[1] | {"title": "worked line"}, "is not")


def test_no_file_of_a_folder_is_dropped_in_silence(folder: Path) -> None:
    odd = {
        "d: 3.toml": SLIP.replace("0.43", "x.y"),
        "e\n:7: f.toml": "[given",
        "empty.toml": "",
        "html.md": "<p>x</p>",
        "none.ipynb": "[]",
        "cut.ipynb": '{"symattn',
    }
    for name, text in odd.items():
        (folder / name).write_text(text, encoding="utf-8")
    said = "3 files could not be used; 3 files without claims"
    data = json.loads(checked(folder, "--format", "json").stdout)
    assert [Path(name).name for name in data["skipped"]] == ["empty.toml", "html.md", "none.ipynb"]
    assert len(data["files"]) + len(data["problems"]) + len(data["skipped"]) == 4 + len(odd)
    assert data["conclusion"].endswith(said)
    report = folder.parent / "report"
    for form in ("text", "md", "html"):
        shown = checked(folder, "--format", form).stdout
        assert said in " ".join(shown.split()) and "Without claims" in shown
        assert "none.ipynb" in shown
        checked(folder, "--format", form, "-o", report)
        assert "not a notebook" in report.read_text(encoding="utf-8")
    notes = checked(folder, "--format", "github").stdout.splitlines()
    assert said in notes[-1]
    warned = [read(line)[1] for line in notes if line.startswith("::warning")]
    files = {Path(told["file"]).name: told.get("line") for told in warned}
    assert set(files) == {"d: 3.toml", "e\n:7: f.toml", "cut.ipynb"}
    assert files["cut.ipynb"] == "1"


def test_a_single_worksheet_among_other_files_is_not_told_as_if_it_were_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.toml").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "b.toml").write_text("", encoding="utf-8")
    result = checked(tmp_path)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "1 file, 1 number: 1 right; 1 file without claims"
    many = [f"{k:02}.toml" for k in range(20)]
    for name in many:
        (tmp_path / name).write_text("", encoding="utf-8")
    assert "and 9 more" in " ".join(checked(tmp_path).stdout.split())
