"""Exit statuses: one table, the same at every door, and no bare numbers beside it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from symattn.algebra.equality import Equality
from symattn.algebra.identities.identity import Identity
from symattn.algebra.identities.proofs import Link, Proof
from symattn.cli import COMMANDS
from symattn.cli.prove import status_of
from symattn.doors import failure
from symattn.errors import ReadError, Undecided
from symattn.pages import checked
from symattn.pages.filling import fill_page
from symattn.reports.overview import CheckedFile
from symattn.status import PRECEDENCE, Status, exit_statuses, worst
from tests import ROOT
from tests.command import run
from tests.processes import environment, python
from tests.rows import every_one_has_a_row

pytest_plugins = ["pytester"]

PACKAGE = ROOT / "symattn"

SHEET = "[attention]\nscale = false\n[given]\nscores = [[0, 0]]\n"
RIGHT, WRONG = (f"{SHEET}[claims]\nweights = [[{x}, 0.5]]\n" for x in ("0.5", "0.4"))
BLANK = f'{SHEET}[claims]\nweights = [["?", "?"]]\n'
BAD = "[given]\nscores = [[0,\n"
PAGE = f"```symattn\n{SHEET}```\n\nIt is <!-- value weights[1,1] --><!-- /value -->.\n"
FILLED = fill_page(PAGE, "page.md", "github")
MINE = "def attention(q, k, v):\n    return v\ndef doubled(q, k, v):\n    return 2 * v\n"


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], str]:
    """Writes a file and gives its path."""

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def planted(*_: Any, **__: Any) -> Any:
    """A defect that nobody foresaw."""
    return os.environ["PLANTED_DEFECT"]


REPORT = re.compile(r"internal error, please report: KeyError at symattn/[\w/]+\.py:\d+")


# ---- the table -------------------------------------------------------------------------------


def test_the_numbers_are_what_the_documents_promise() -> None:
    """Read from the page that people read, not from the table itself."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9]) \| (.+?) \|$", page, re.M)
    assert [int(number) for number, _ in rows] == [0, 1, 2, 3, 4]
    assert {int(number): words for number, words in rows} == {
        status.value: status.meaning for status in Status
    }


def test_every_help_shows_the_table() -> None:
    table = [line.split() for line in exit_statuses().splitlines()]
    for words in ((), *((name,) for name in COMMANDS)):
        shown = [line.split() for line in run(*words, "--help").stdout.splitlines()]
        start = shown.index(["Exit", "status:"])
        assert shown[start : start + len(table)] == table
    assert len(table) == 1 + len(Status)


@pytest.mark.parametrize(
    ("several", "together"),
    [((), 0), ((0, 0), 0), ((0, 4), 4), ((4, 1, 0), 1), ((1, 2, 4), 2), ((2, 1, 3, 0), 3)],
)
def test_the_status_of_several(several: tuple[int, ...], together: int) -> None:
    assert worst(map(Status, several)) == together
    assert worst(map(Status, reversed(several))) == together
    assert sorted(PRECEDENCE) == sorted(Status)


def test_nothing_else_in_the_package_leaves() -> None:
    """Only the command line ends the process."""
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path != PACKAGE / "cli" / "__init__.py":
            assert not re.search(r"\b(?:sys|os)\._?exit\(|raise SystemExit", source), path


# ---- the boundary ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (ReadError("a.toml:3: no number"), 2, "a.toml:3: no number"),
        (Undecided("undecided at 4,096 bits"), 4, "undecided at 4,096 bits"),
        (OSError(28, "No space left on device"), 2, "x: cannot write: no space left on device"),
        (PermissionError(13, "Permission denied", "y"), 2, "y: permission denied"),
        (MemoryError(), 2, "x: too large for the memory of this machine"),
        (
            RecursionError("deep"),
            3,
            "x: internal error, please report: RecursionError nowhere; "
            "something is nested too deeply",
        ),
        (ZeroDivisionError(), 3, "x: internal error, please report: ZeroDivisionError nowhere"),
    ],
)
def test_what_is_said_of_an_exception(error: Exception, status: int, line: str) -> None:
    assert (failure(error, "x").status, failure(error, "x").line) == (status, line)


def test_the_place_is_the_innermost_line_of_the_package() -> None:
    from symattn.status import worst as broken

    with pytest.raises(ValueError, match="not in tuple") as caught:
        broken([7, 0])  # type: ignore[list-item]
    assert "ValueError at symattn/status.py:" in failure(caught.value).line


# ---- the command line ------------------------------------------------------------------------


def sized(verdict: str) -> Equality:
    return Equality(verdict, "at the sizes tried: n = 3", "made up")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict", "holds", "status"),
    [
        ("equal", True, 0),
        ("different", True, 1),
        ("undecided", True, 4),
        ("holds at the sizes tried", True, 4),
        ("different", False, 0),
        ("equal", False, 4),
        ("undecided", False, 4),
    ],
)
def test_the_status_of_a_verdict(verdict: str, holds: bool, status: int) -> None:
    row = Identity("", "", "A = B", "", "", holds=holds, for_all=False)
    assert status_of(Proof(row, sized(verdict), (), 0.0, None, None)) == status


def test_a_proof_with_a_broken_link_is_not_settled() -> None:
    row, yes = Identity("", "", "A = B", "", "", for_all=False), sized("equal")
    broken = Link(None, None, "shift", sized("undecided"))
    assert status_of(Proof(row, yes, (broken,), 0.0, None, None)) == Status.UNSETTLED


@pytest.mark.parametrize(
    ("passes", "verdict", "status"),
    [
        (True, "right", 0),
        (True, "undecided", 0),
        (False, "wrong", 1),
        (False, "carried", 1),
        (False, "undecided", 4),
    ],
)
def test_the_status_of_a_claimed_number(passes: bool, verdict: str, status: int) -> None:
    found: Any = SimpleNamespace(passes=passes, verdict=verdict)
    assert worst(CheckedFile("a.md", findings=(found,)).statuses) == status


def test_a_number_that_cannot_be_decided_is_not_settled(
    file: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn.marking import verdicts as mark

    def undecided(*_: Any, **__: Any) -> Any:
        raise Undecided("undecided at 4,096 bits")

    path, right = file("a.toml", WRONG), file("b.toml", RIGHT)
    assert run("check", path).exit_code == 1
    monkeypatch.setattr(mark, "surely_rounds", lambda *_: False)
    monkeypatch.setattr(mark, "surely_apart", lambda *_: False)
    monkeypatch.setattr(mark, "rounds_to", undecided)
    assert "undecided" in run("check", path).stdout
    assert run("check", path).exit_code == 4
    assert run("check", path, right).exit_code == 4
    assert run("check", path, "--diff").exit_code == 4
    monkeypatch.setattr("symattn.derivations.Derivation.evaluate", undecided)
    result = run("derive", path)
    assert (result.exit_code, result.stderr.count("\n")) == (4, 1)


#: A door of the command line and what it is given, and the status. The words name files that
#: `test_doors` writes.
CASES: tuple[tuple[str, int], ...] = (
    ("derive {right}", 0),
    ("derive {float16} --errors float16", 4),
    ("derive {bad}", 2),
    ("derive casual", 2),
    ("derive causal --watch", 2),
    ("derive", 2),
    ("completion bash", 0),
    ("completion tcsh", 2),
    ("check {right}", 0),
    ("check {wrong}", 1),
    ("check {bad}", 2),
    ("check {nothing}", 2),
    ("check --if-any {nothing}", 0),
    ("check {empty}", 0),
    ("check {right} {wrong}", 1),
    ("check {wrong} {bad} {right}", 2),
    ("check {folder}", 2),
    ("check {right} {missing}", 2),
    ("check {wrong} --diff", 1),
    ("check {wrong} --fix", 0),
    ("check {wrong} --format sarif", 1),
    ("check {bad} --format junit", 2),
    ("check - --watch", 2),
    ("render {filled} --check", 0),
    ("render {page} --check", 1),
    ("render {right}", 2),
    ("render {page} {missing} --check", 2),
    ("render {page}", 0),
    ("prove shift", 0),
    ("prove", 0),
    ("prove never-nearer", 2),
    ("prove A", 2),
    ("prove scaling-does-nothing --size n=2", 2),
    ("prove self cross --where memory=X", 0),
    ("prove self#weights causal#weights", 1),
    ("prove dot-product multi-query", 4),
    ("prove dot-product self", 1),
    ("prove self", 2),
    ("prove self nowhere", 2),
    ("prove self alibi", 2),
    ("prove --grammar", 0),
    ("prove --timeout 30", 0),
    ("derive softmax(2,1,0) --gradient all", 0),
    ("derive softmax(2,1,0)", 2),
    ("variants", 0),
    ("variants x", 2),
    ("new", 0),
    ("new nowhere", 2),
    ("new causal -o {right}", 2),
    ("new causal -o {empty}", 2),
    ("new causal --size heads=2", 2),
    ("exercise causal", 0),
    ("exercise {right}", 0),
    ("exercise causal --key --style integers --format toml", 0),
    ("exercise nowhere", 2),
    ("exercise causal --format qti --hints", 2),
    ("exercise causal --style roman", 2),
    ("exercise causal --style integers --size d_k=2", 2),
    ("exercise causal -o {right}", 2),
    ("exercise causal --count 2 --format toml", 2),
    ("exercise causal --roster {missing}", 2),
    ("mark {blank}", 0),
    ("mark {blank} {right} -o {empty}", 0),
    ("mark {blank} {bad} -o {empty}", 2),
    ("mark {blank} {missing} -o {empty}", 2),
    ("mark {right} {right} -o {empty}", 2),
    ("mark {missing} {right} -o {empty}", 2),
    ("mark {blank} {right} -o {right}", 2),
    ("mark {blank} {right} --scheme {right} -o {empty}", 2),
    ("mark {blank} {right} --workers nowhere -o {empty}", 2),
    ("mark {blank} -o {empty}", 2),
    ("mark", 2),
    ("examples", 0),
    ("examples causal", 0),
    ("examples nowhere", 2),
    ("examples causal -o {right}", 2),
    ("examples causal two_heads", 2),
    ("examples -o {empty}", 0),
    ("examples -o {right}", 2),
    ("derive {mine}:absent", 2),
    ("derive {right} --shape Q=n,d_k", 2),
    ("prove {mine}:absent causal", 2),
    ("prove {mine}:absent", 2),
    ("prove {mine}:attention {mine}:absent", 2),
    ("prove {mine}:attention {mine}:attention", 4),
    ("prove {mine}:attention {mine}:attention --size n=2,m=2,d_k=1,d_v=2", 0),
    ("prove {mine}:attention {mine}:doubled", 1),
    ("prove {mine}:attention {mine}:attention --where P=Q", 2),
    ("prove {mine}:attention {mine}:attention --size h=2", 2),
    ("verify {mine}:absent", 2),  # the others, in processes, are those of test_verify
    ("ladder", 0),
    ("ladder nowhere", 2),
    ("", 2),
    ("--nothing", 2),
    ("--help", 0),
    ("nosuch", 2),
)


@pytest.fixture
def given(file: Callable[[str, str], str], tmp_path: Path) -> dict[str, str]:
    """The files that `CASES` name."""
    for name in ("empty", "folder"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / "a.toml").write_text(BAD, encoding="utf-8")
    (tmp_path / "folder" / "b.toml").write_text(WRONG, encoding="utf-8")
    return {
        "right": file("right.toml", RIGHT),
        "blank": file("blank.toml", BLANK),
        "wrong": file("wrong.toml", WRONG),
        "bad": file("bad.toml", BAD),
        "nothing": file("nothing.md", "Prose.\n"),
        "float16": file("float16.toml", '[given]\nQ = [["300"]]\nK = [["300"]]\n'),
        "page": file("page.md", PAGE),
        "mine": file("mine.py", MINE),
        "filled": file("filled.md", FILLED),
        "missing": str(tmp_path / "missing.md"),
        "empty": str(tmp_path / "empty"),
        "folder": str(tmp_path / "folder"),
    }


def test_every_command_has_its_statuses() -> None:
    ours = {words.partition(" ")[0] for words, _ in CASES} & {*COMMANDS}
    every_one_has_a_row(COMMANDS, ours, "CASES of tests/test_status.py", "its words and statuses")


@pytest.mark.parametrize(("words", "status"), CASES, ids=[words for words, _ in CASES])
def test_doors(words: str, status: int, given: dict[str, str]) -> None:
    result = run(*words.format(**given).split(), status=status)
    assert (result.stderr != "") == (status == Status.UNUSABLE)
    assert result.stderr.count("\n") <= 1


EQUATIONS: tuple[tuple[str, int], ...] = (
    ("softmax(S + c 1^T) = softmax(S)", 0),
    ("softmax(2 S) = softmax(S)", 1),
    ("1/0 = 1/0", 2),
    ("ln(-exp(S)) = S", 4),
    ("(Q = Q)", 2),
    ("softmax(Q K^T = A", 2),
    ("A = ", 2),
    ("=", 2),
    ("A = B)", 2),
    ("∞ = x", 2),
)


@pytest.mark.parametrize(("equation", "status"), EQUATIONS)
def test_equations(equation: str, status: int) -> None:
    result = run("prove", equation, status=status)
    assert result.stderr.count("\n") == (1 if status == Status.UNUSABLE else 0)


@pytest.mark.parametrize(
    "options",
    [
        "--shape A",
        "--shape A=",
        "--shape A=n",
        "--shape A=n,0",
        "--shape 3=n,m",
        "--shape A=n,m,p",
        "--size n",
        "--size n=0",
        "--size n=x",
        "--size n=1.5",
        "--size n=2 --size n=3",
        "--shape A=n,m --shape A=m,n",
        "--effort 0",
        "--effort x",
    ],
)
def test_malformed_options_are_refused_in_a_line(options: str) -> None:
    result = run("prove", "A A^T = A A^T", *shlex.split(options), status=2)
    assert result.stderr.count("\n") == 1
    assert options.split(maxsplit=1)[0] in result.stderr


@pytest.mark.parametrize("words", ["3 a permutation", "R+ orthogonal", "symmetric", "A positiv"])
def test_what_is_no_assumption_is_refused_in_a_line(words: str) -> None:
    result = run("prove", "A A^T = A A^T", "--where", words, status=2)
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_options_reach_the_library() -> None:
    """Each changes the verdict: without it the equation does not hold, or not in this form."""
    assert run("prove", "P P^T = I").exit_code == 1
    assert run("prove", "P P^T = I", "--where", "P a permutation", "--size", "n=2").exit_code == 0
    commute = ("prove", "Q K^T = K Q^T")
    assert run(*commute, "--shape", "Q=1,2", "--shape", "K=1,2").exit_code == 0
    assert run(*commute, "--shape", "Q=2,1", "--shape", "K=2,1").exit_code == 1
    assert run("prove", "softmax(S + c) = softmax(S)", "--shape", "c=scalar").exit_code == 0
    assert run("prove", "softmax(S + C) = softmax(S)", "--shape", "C=n,m").exit_code == 1
    assert run("prove", "R R^T = I").exit_code == 1
    assert run("prove", "R R^T = I", "--where", "R orthogonal").exit_code == 0
    assert run("prove", "A B = (B A)^T").exit_code in (1, 2)
    assert run("prove", "A B = (B A)^T", "--where", "A, B are symmetric").exit_code == 0
    assert run("prove", "A = A", "--where", "B symmetric").exit_code == 2
    assert run("prove", "n = 4").exit_code == 1
    assert run("prove", "n = 4", "--size", "n=4").exit_code == 0


def test_all_is_the_worst_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from symattn.algebra import identities

    verdicts = {"a": "equal", "b": "undecided", "c": "different"}

    def made(row: Identity, effort: int) -> Proof:
        return Proof(row, sized(verdicts[row.name]), (), 0.0, None, None)

    monkeypatch.setattr(identities, "prove", made)
    for names, status in (("a", 0), ("ab", 4), ("abc", 1), ("cb", 1)):
        rows = tuple(Identity(name, "", "A = B", "", "", for_all=False) for name in names)
        monkeypatch.setattr(identities, "IDENTITIES", rows)
        assert run("prove", "--all").exit_code == status


@pytest.mark.parametrize("at", ["check_file", "report_of"])
def test_a_defect_in_one_file_stops_no_other(
    at: str, file: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn.reports import overview

    texts = {"a": RIGHT, "b": RIGHT, "c": WRONG, "d": BAD}
    paths = [file(f"{name}.toml", text) for name, text in texts.items()]
    module: Any = checked if at == "check_file" else overview
    real, calls = getattr(module, at), []

    def once(*arguments: Any) -> Any:
        calls.append(arguments)
        return planted() if len(calls) == 2 else real(*arguments)

    monkeypatch.setattr(module, at, once)
    result = run("check", *paths, status=Status.INTERNAL)
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert any(line.startswith(f"symattn: {paths[1]}: internal error") for line in lines)
    assert f"{paths[2]}:6:13: weights[1,1]: you wrote 0.4" in result.stdout


def test_a_file_that_cannot_be_put_right_stops_no_other(
    file: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn import writing

    first, second = file("a.toml", WRONG), file("b.toml", WRONG)
    real = writing.replace_text

    def full(path: Path, before: str, after: str) -> None:
        if str(path) == first:
            raise OSError(28, "No space left on device")
        real(path, before, after)

    monkeypatch.setattr(writing, "replace_text", full)
    result = run("check", "--fix", first, second)
    assert result.exit_code == Status.UNUSABLE
    assert result.stdout == "1 number corrected\n"
    assert result.stderr == f"symattn: {first}: cannot write: no space left on device\n"
    assert Path(second).read_text(encoding="utf-8") == RIGHT


# ---- real processes --------------------------------------------------------------------------


#: Runs the command line with a defect planted in the reader of worksheets.
PLANTED = """
import sys
from symattn.pages import checked as pages
from symattn.cli import main
pages.check_text = lambda *_: {}["planted"]
main(sys.argv[1:])
"""


def test_each_status_of_a_real_process(given: dict[str, str]) -> None:
    command = ("-W", "error", "-m", "symattn")
    refused = python(*command, "check", given["wrong"], given["bad"])
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1 and "weights[1,1]: you wrote 0.4" in refused.stdout
    for options, traceback in (((), False), (("--debug",), True)):
        broken = python("-c", PLANTED, *options, "check", given["right"])
        assert broken.returncode == 3
        assert ("Traceback" in broken.stderr) is traceback
        assert REPORT.search(broken.stderr.splitlines()[-1])


@pytest.mark.parametrize(("name", "status"), [("right", 0), ("wrong", 1)])
def test_a_reader_that_leaves_changes_no_status(
    name: str, status: int, given: dict[str, str]
) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "symattn", "check", given[name]],
            stdout=closed,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert (done.returncode, done.stderr) == (status, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
def test_an_interrupted_command_is_not_settled(tmp_path: Path) -> None:
    code = (
        "import time, symattn.pages.checked\n"
        "from symattn.cli import main\n"
        "def waits(*_):\n    print('here', flush=True)\n    time.sleep(60)\n"
        "symattn.pages.checked.check_file = waits\n"
        "main(['check', 'x.toml'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=tmp_path,
    ) as running:
        assert running.stdout is not None and running.stdout.readline() == "here\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == Status.UNSETTLED
    assert said.strip() == "symattn: interrupted"
