"""``--watch``: done again when a file that is read changes, as editors change files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from symattn.cli import watching
from symattn.pages import checked
from tests import ROOT
from tests.command import run
from tests.terminal import shown_at_a_terminal

SHEET = "[attention]\nscale = false\n[given]\nscores = {}\n"
CLAIM = '[claims]\n"weights[1,1]" = "0.5"\n'
PAGE = "```symattn in/sheet.toml\n```\n\nIt is <!-- value weights[1,1] to 3 --><!-- /value -->.\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> Callable[[], object]:
    """Makes a file, and its folder; never the same version of it twice."""

    def edit() -> None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, "utf-8")
        edits.append(0)
        os.utime(name, ns=(len(edits), len(edits)))

    return edit


def replace(name: str, text: str) -> Callable[[], object]:
    """Puts another file in the place of one, as editors do."""

    def edit() -> None:
        write(".swap", text)()
        Path(".swap").replace(name)

    return edit


edits: list[int] = []


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command, and makes an edit every second time that it waits; ^C at the end."""

    def edited(words: str, *changes: Callable[[], object]) -> Result:
        left = [step for change in changes for step in (change, lambda: None)]

        def sleep(_: float) -> None:
            if not left:
                raise KeyboardInterrupt
            left.pop(0)()

        monkeypatch.setattr("symattn.cli.watching.time.sleep", sleep)
        return run(*words.split())

    return edited


def weights(result: Result) -> list[str]:
    """What was derived, run by run; what was complained of is no run."""
    return [line.split("A ")[1] for line in result.stdout.splitlines() if " A " in line]


DERIVE = "derive sheet.toml --watch --steps weights --view value"


def test_a_sheet_is_derived_again_as_editors_save_it(here: Path, watched: Any) -> None:
    write("sheet.toml", SHEET.format("[[0, 0]]"))()
    one, two = SHEET.format("[[1, 1, 1, 1]]"), SHEET.format("[[0, 0]]")
    result = watched(
        DERIVE,
        replace("sheet.toml", one),
        write("sheet.toml", two),
        write("other.toml", one),
        write("sheet.toml", "[given"),
        Path("sheet.toml").unlink,
        write("sheet.toml", one),
    )
    assert result.exit_code == 0
    assert weights(result) == [
        f"= [ {'  '.join(row)} ]" for row in (["0.5"] * 2, ["0.25"] * 4, ["0.5"] * 2, ["0.25"] * 4)
    ]
    told = result.stderr.splitlines()
    assert len(told) == 2 and "not valid TOML" in told[0] and "no such file" in told[1]


def test_data_files_are_watched_that_are_not_there_yet(here: Path, watched: Any) -> None:
    write("sheet.toml", SHEET.format('"data/my numbers.csv"'))()
    result = watched(
        DERIVE,
        lambda: Path("data").mkdir(),
        write("data/my numbers.csv", "0,0\n"),
        lambda: Path("data").rename("away"),
        lambda: Path("away").rename("data"),
        write("data/my numbers.csv", "1,1,1,1\n"),
    )
    assert [row.count("0.") for row in weights(result)] == [2, 2, 4]
    assert result.stderr.count("there is no such file beside the worksheet") == 2


def test_links_are_watched_on_the_whole_way(here: Path, watched: Any) -> None:
    for number in (1, 2):
        write(f"r{number}/sheet.toml", SHEET.format([[0] * 2 * number]))()
    Path("now").symlink_to("r1")
    Path("home").mkdir()
    Path("home/sheet.toml").symlink_to("../now/sheet.toml")

    def release() -> None:
        Path("next").symlink_to("r2")
        Path("next").replace("now")

    result = watched(
        DERIVE.replace("sheet.toml", "home/sheet.toml"),
        release,
        write("r2/sheet.toml", SHEET.format([[0] * 5])),
        write("r1/sheet.toml", SHEET.format([[0] * 7])),  # not any more
    )
    assert [row.count("0.") for row in weights(result)] == [2, 4, 5]


def test_a_folder_is_marked_again_and_only_what_changed(
    here: Path, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:

    marked: list[str] = []
    check_file = checked.check_file

    def noted(name: str, explain: bool, claims: str = "") -> Any:
        marked.append(name)
        return check_file(name, explain, claims)

    monkeypatch.setattr(checked, "check_file", noted)
    wrong = SHEET.format("[[0, 1]]") + CLAIM
    for name in ("a.toml", "b.toml", "in/c.toml"):
        write(name, SHEET.format("[[0, 0]]") + CLAIM)()
    Path("empty").mkdir()
    result = watched(
        "check . --watch -o report.md --format md",
        write("b.toml", wrong),
        write("empty/d.toml", wrong),
        write("notes.txt", "nothing"),
        Path("in/c.toml").unlink,
    )
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert marked[:4] == ["a.toml", "b.toml", "in/c.toml", "b.toml"]
    assert [name for name in marked[4:] if name != "report.md"] == ["empty/d.toml"]
    assert "3 files, 3 numbers: 1 right, 2 wrong" in Path("report.md").read_text("utf-8")


def test_pages_are_filled_in_again(here: Path, watched: Any) -> None:
    write("in/sheet.toml", SHEET.format("[[0, 0]]"))()
    write("page.md", PAGE)()
    result = watched(
        "render . --watch",
        write("in/sheet.toml", SHEET.format("[[0, 0")),
        write("in/sheet.toml", SHEET.format("[[0, 0]] ")),
        write("in/sheet.toml", SHEET.format("[[0, 0, 0, 0]]")),
        write("new.md", PAGE),
    )
    assert result.stdout == "page.md: filled in\npage.md: filled in\nnew.md: filled in\n"
    assert result.stderr.count("\n") == 1 and "sheet.toml:" in result.stderr
    assert "-->0.25<!--" in Path("new.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("check - --watch", "standard input cannot be watched; give a file"),
        ("derive - --watch", "standard input cannot be watched; give a file"),
        ("derive causal --watch", "causal is not a file; give a worksheet"),
        ("check sheet.toml --fix --watch", "give --fix or --watch, not both"),
        ("derive sheet.toml --watch -o sheet.toml", "is read here"),
        ("check pipe --watch", "pipe: is a pipe; give a file"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_a_line(words: str, told: str, here: Path) -> None:
    write("sheet.toml", SHEET.format("[[0, 0]]"))()
    os.mkfifo("pipe")
    result = run(*words.split())
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert told in result.stderr


def test_who_does_not_read_on_ends_it(
    here: Path, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = iter([(0, 1), (0, 1), (0, 2)])
    monkeypatch.setattr(watching, "_open_file", lambda _: next(opened))
    write("sheet.toml", SHEET.format("[[0, 0]]"))()
    result = watched(DERIVE, write("sheet.toml", SHEET.format("[[0, 0, 0]]")), pytest.fail)
    assert result.exit_code == 0


def test_changes_are_seen_in_a_process_of_its_own(tmp_path: Path) -> None:
    """An editor that saves by renaming, and several files at once."""
    sheet, report = tmp_path / "sheet.toml", tmp_path / "report.txt"
    sheet.write_text(SHEET.format("[[0, 0]]") + CLAIM, "utf-8")
    code = (
        "import signal, sys; from symattn.cli import main; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(main())"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code, "check", str(tmp_path), "--watch", "-o", str(report)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )

    def appears(words: str) -> bool:
        for _ in range(600):
            if report.exists() and words in report.read_text("utf-8"):
                return True
            time.sleep(0.05)
        return False

    try:
        assert appears("1 right")
        (tmp_path / ".swap").write_text(SHEET.format("[[0, 1]]") + CLAIM, "utf-8")
        (tmp_path / ".swap").replace(sheet)
        assert appears("1 wrong")
        for number in range(3):
            (tmp_path / f"{number}.toml").write_text(SHEET.format("[[0, 0]]") + CLAIM, "utf-8")
        assert appears("3 right, 1 wrong")
    finally:
        program.send_signal(signal.SIGINT)
    _, stderr = program.communicate(timeout=60)
    assert (program.returncode, stderr) == (0, "")


def test_runs_are_apart_on_a_terminal() -> None:
    code = (
        "from pathlib import Path; from symattn.cli.watching import _separate; "
        "_separate([Path(name) for name in ('a.toml', 'b\\n.csv', 'c', 'd', 'e')])"
    )
    shown = shown_at_a_terminal("-c", code)
    (rule,) = re.findall(r"── \d\d:\d\d:\d\d a\.toml, b\\n\.csv, c and 2 more ─+", shown)
    assert len(rule) == 80
