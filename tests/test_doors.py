"""Every door, with every kind of failure planted in the core: one line, the right status.

Status 1 is given for what the table of statuses says, and for nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from symattn import cli
from symattn.cli import main, screen
from symattn.doors import failure
from symattn.errors import ReadError, SymattnError
from symattn.pages import checked
from symattn.status import Status
from tests import ROOT
from tests.command import run
from tests.rows import every_one_has_a_row
from tests.sphinxed import warnings_of

pytest_plugins = ["pytester"]

SHEET = "[attention]\nscale = false\n[given]\nscores = [[0, 0]]\n"
RIGHT = f"{SHEET}[claims]\nweights = [[0.5, 0.5]]\n"
BLANK = f'{SHEET}[claims]\nweights = [["?", "?"]]\n'
PAGE = f"```symattn\n{SHEET}```\n\nIt is <!-- value weights[1,1] --><!-- /value -->.\n"
CLAIMING = f"```symattn\n{SHEET}```\n\nIt is {{claim}}`weights[1,1] = 0.4`.\n"


class Mute(Exception):
    """Its words cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class PanicException(BaseException):
    """As what a compiled library raises where it gives up."""


#: What may be raised, with the status at a door that has nothing else to say, and words.
RAISED: tuple[tuple[BaseException, Status, str], ...] = (
    (RuntimeError("boom"), Status.INTERNAL, "internal error, please report: RuntimeError at "),
    (RecursionError("deep"), Status.INTERNAL, "nested too deeply"),
    (ZeroDivisionError(), Status.INTERNAL, "ZeroDivisionError"),
    (SystemError("bad"), Status.INTERNAL, "SystemError"),
    (UnicodeEncodeError("ascii", "é", 0, 1, "no"), Status.INTERNAL, "UnicodeEncodeError"),
    (RuntimeWarning("made an error"), Status.INTERNAL, "RuntimeWarning"),
    (EOFError(), Status.INTERNAL, "EOFError"),
    (PanicException("at lib.rs"), Status.INTERNAL, "PanicException"),
    (RuntimeError("a\nb\x1b[2J\r::error::c"), Status.INTERNAL, "RuntimeError"),
    (MemoryError(), Status.UNUSABLE, "too large for the memory"),
    (OSError(28, "No space left on device"), Status.UNUSABLE, "no space left on device"),
    (OSError(28, "Full", b"\xff\n"), Status.UNUSABLE, "\\udcff\\n: full"),
    (Mute(), Status.INTERNAL, "Mute"),
    (ReadError("a\nb.md:3: x\x1b[2J\u202e"), Status.UNUSABLE, "a\\nb.md:3: x\\x1b[2J\\u202e"),
    (KeyboardInterrupt(), Status.UNSETTLED, "interrupted"),
)

#: Each command, and what it calls.
COMMANDS = (
    ("symattn.derivations.Derivation.evaluate", "derive {right}"),
    ("symattn.pages.checked.check_file", "check {right}"),
    ("symattn.pages.checked.check_file", "check {right} {page}"),
    ("symattn.reports.overview.report_of", "check {right}"),
    ("symattn.reports.documents.report_document", "check {right} --format html"),
    ("symattn.pages.checked.mended", "check {right} --diff"),
    ("symattn.pages.filling.fill_page", "render {page}"),
    ("symattn.algebra.identities.proofs.decide", "prove shift"),
    ("symattn.attention.jacobian.read_row", "derive softmax(1,2) --gradient all"),
    ("symattn.attention.ladder.before_attention", "ladder"),
    ("symattn.cli.formats.Output.put", "variants"),
    ("symattn.sheets.writing.starter", "new causal"),
    ("symattn.cli.examples.all_examples", "examples"),
    ("symattn.classroom.generator.Generator.exercise", "exercise causal"),
    ("symattn.classroom.preview.preview", "mark {blank}"),
    ("symattn.cli.completion.Destination.of", "completion zsh"),
    ("symattn.cli.verify.attention_meant", "verify mine.py:attention"),
    ("symattn.lifting.lift.lift", "derive mine.py:attention"),
    ("symattn.lifting.proving.prove_program", "prove mine.py:attention causal"),
    ("symattn.lifting.comparing.prove_programs", "prove mine.py:attention mine.py:other"),
    ("symattn.pages.checked.with_arrays", "check {right} --claims mine.npz"),
    ("symattn.cli.import_module", "variants"),
    ("click.Command.get_help", "--help"),
    ("click.Group.make_context", "variants"),
)


def raising(error: BaseException) -> Callable[..., Any]:
    def planted(*_: Any, **__: Any) -> Any:
        raise error

    return planted


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    names = {"right": "a.toml", "page": "b.md", "blank": "c.toml"}
    paths = {name: tmp_path / file for name, file in names.items()}
    paths["right"].write_text(RIGHT, encoding="utf-8")
    paths["page"].write_text(PAGE, encoding="utf-8")
    paths["blank"].write_text(BLANK, encoding="utf-8")
    return {name: str(path) for name, path in paths.items()}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYMATTN_DEBUG", raising=False)


# ---- the command line ------------------------------------------------------------------------


def test_every_command_is_made_to_fail() -> None:
    ours = {words.partition(" ")[0] for _, words in COMMANDS} & {*cli.COMMANDS}
    every_one_has_a_row(cli.COMMANDS, ours, "COMMANDS of tests/test_doors.py", "what it calls")


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=[f"{w}-{n}" for n, w in COMMANDS])
def test_every_command_says_every_failure_in_a_line(
    number: int, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first commands, which keep on after a failure or do not, every one; the others some."""
    name, words = COMMANDS[number]
    arguments = words.format(**given).split()
    for error, status, told in RAISED if number < 3 else RAISED[number % 4 :: 4]:
        monkeypatch.setattr(name, raising(error))
        result = run(*arguments)
        lines = result.stderr.splitlines()
        assert result.exit_code == status, (error, result.output)
        assert lines and all(line.isprintable() for line in lines), result.stderr
        assert told in lines[0] and "Traceback" not in result.output
        files = max(1, words.count("{")) if status != Status.UNSETTLED else 1
        assert len(set(lines)) <= files
        monkeypatch.undo()


@pytest.mark.parametrize("words", ["variants", "check {right}", "render {page} --check"])
def test_a_traceback_is_for_those_who_ask(
    words: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = raising(RuntimeError("a\x1b[2J\nb"))
    for name in (
        "cli.formats.Output.put",
        "pages.checked.check_file",
        "pages.filling.fill_page",
    ):
        monkeypatch.setattr(f"symattn.{name}", planted)
    arguments = words.format(**given).split()
    assert "Traceback" not in run(*arguments).output
    asked = run("--debug", *arguments, status=Status.INTERNAL)
    assert "Traceback" in asked.stderr and "\\x1b[2J" in asked.stderr and "\x1b" not in asked.stderr
    monkeypatch.setenv("SYMATTN_DEBUG", "1")
    assert "Traceback" in run(*arguments).stderr


@pytest.mark.parametrize("error", [SystemExit(1), SystemExit("x")])
def test_an_exit_from_below_is_a_defect(error: SystemExit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symattn.cli.formats.Output.put", raising(error))
    result = run("variants", status=Status.INTERNAL)
    assert result.stderr.startswith("symattn: internal error, please report: SystemExit at ")


def test_a_pipe_that_closes_leaves_the_status_open(
    given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "drop_output", lambda: None)  # pytest's own output
    for name in ("cli.formats.Output.put", "algebra.identities.proofs.decide"):
        monkeypatch.setattr(f"symattn.{name}", raising(BrokenPipeError()))
    for words in (["variants"], ["prove", "shift"]):
        result = run(*words)
        assert (result.exit_code, result.output) == (Status.UNSETTLED, "")


@pytest.mark.parametrize("status", [7, -1, "x", 1.5])
def test_a_status_that_is_none_is_a_defect(status: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click.Group, "invoke", lambda *_: status)
    result = run("variants", status=Status.INTERNAL)
    assert result.stderr.startswith("symattn: internal error, please report: ValueError at ")


@pytest.mark.parametrize(
    ("instruction", "status"),
    [("bash_source", 0), ("zsh_source", 0), ("nosuch_source", 2), ("bash_nosuch", 2), ("x", 2)],
)
def test_the_completion_of_a_shell(instruction: str, status: int) -> None:
    result = CliRunner().invoke(
        main, [], prog_name="symattn", env={"_SYMATTN_COMPLETE": instruction}
    )
    assert result.exit_code == status
    assert result.stderr.count("\n") == (status == Status.UNUSABLE)


def test_words_of_strangers_in_options_stay_on_a_line() -> None:
    for words in (
        ["derive", "a\n::error::b"],
        ["prove", "x\x1b]0;t\x07"],
        ["variants", "a\nb"],
        ["derive", "causal", "--steps", "\u202ea\nb"],
        ["derive", "causal", "--format", "a\n##[error]b"],
        ["check", "\udcff\n::error::.md", "a\0.md"],
        ["check", "x" * 5000, "y" * 300 + "/z.md"],
        ["no\nsuch"],
    ):
        result = run(*words, status=Status.UNUSABLE)
        for line in result.stderr.splitlines():
            assert line.startswith("symattn: ") and line.isprintable() and len(line) <= 400
            assert "##[" not in line


# ---- real processes --------------------------------------------------------------------------

#: Redirections of a shell, with what is run, and the status.
REDIRECTED = (
    ("variants > /dev/full", 2),
    ("--version > /dev/full", 2),
    ("variants >&-", 2),
    ("check nosuch.toml >&- 2>&-", 2),
    ("derive - <&-", 2),
)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_streams_that_are_full_or_closed(given: dict[str, str], tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            ["/bin/sh", "-c", f"{sys.executable} -m symattn {words.format(**given)}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for words, _ in REDIRECTED
    ]
    for process, (words, status) in zip(running, REDIRECTED, strict=True):
        _, said = process.communicate(timeout=120)
        assert process.returncode == status, (words, said)
        assert said.count("\n") <= 1 and "Traceback" not in said


# ---- the other doors -------------------------------------------------------------------------

#: What a door inside of another program says; an interruption is that program's.
INSIDE = [row for row in RAISED if not isinstance(row[0], KeyboardInterrupt)]


def test_words_that_cannot_be_had() -> None:
    class Silent(Mute, SymattnError):
        """Refused on purpose, and broken."""

    assert failure(Silent()).line == "Silent"
    assert failure(SymattnError()).line == "SymattnError"
    assert failure(OSError()).line == "cannot write: oserror"
    assert failure(OSError(5, 5, 7)).line == "7: 5"


def test_what_ends_a_process_on_purpose_passes() -> None:
    for error in (KeyboardInterrupt(), SystemExit(1), GeneratorExit(), pytest.fail.Exception("x")):
        with pytest.raises(type(error)):
            failure(error)


def test_every_failure_in_a_cell(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from IPython.core.error import UsageError

    from symattn import ipython

    for error, _, told in INSIDE:
        monkeypatch.setattr(ipython, "worksheet_of", raising(error))
        with pytest.raises(UsageError) as caught:
            ipython.cell("", SHEET)
        assert told in str(caught.value) and str(caught.value).isprintable()
    with pytest.raises(UsageError) as caught:
        ipython.cell("--view 'a\x1b[2J\n::error::b'", SHEET)
    assert str(caught.value).isprintable()
    assert capsys.readouterr().err == ""


def test_every_failure_in_mkdocs(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    from symattn import mkdocsext

    shown: Any = SimpleNamespace(abs_src_path="/docs/a\n.md", content_string=CLAIMING)
    page: Any = SimpleNamespace(file=shown)
    plugin = mkdocsext.Fills()
    plugin.load_config({})
    for error, _, told in INSIDE:
        caplog.clear()
        monkeypatch.setattr(mkdocsext, "fill_page", raising(error))
        assert plugin.on_page_markdown(CLAIMING, page=page) == CLAIMING
        wrong, record = (one.getMessage() for one in caplog.records)
        assert "weights[1,1]: you wrote 0.4" in wrong  # what was found before is still said
        assert told in record and record.isprintable() and wrong.isprintable()


def test_every_failure_in_pytest(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = any(e.value == "symattn.pytest_plugin" for e in entry_points(group="pytest11"))
    plugin = () if loaded else ("-p", "symattn.pytest_plugin")

    real = checked.check_file
    errors: dict[str, tuple[BaseException, str]] = {}
    for number, (error, _, told) in enumerate(INSIDE):
        name = f"a{number}.toml"
        pytester.path.joinpath(name).write_text(RIGHT, encoding="utf-8")
        errors[name] = error, told
    pytester.path.joinpath("b\n::error::\x1b[2J.toml").write_text(
        RIGHT.replace("0.5, 0.5", "0.4, 0.5"), encoding="utf-8"
    )

    def planted(path: Path, *rest: Any) -> Any:
        if path.name in errors:
            raise errors[path.name][0]
        return real(path, *rest)

    monkeypatch.setattr(checked, "check_file", planted)
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "--color=no", *plugin)
    result = pytester.runpytest_inprocess(*options, "--symattn", "-v")
    result.assert_outcomes(failed=len(INSIDE) + 1)
    shown = result.stdout.str()
    assert all(told in shown for _, told in errors.values())
    assert "Traceback" not in shown and "planted(" not in shown and "\x1b" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert "b\\n\\x3a\\x3aerror\\x3a\\x3a\\x1b\\x5b2J.toml::claims FAILED" in shown
    assert "b\\n::error::\\x1b[2J.toml:6:13: weights[1,1]: you wrote 0.4" in shown


#: What Sphinx is asked for, and where it is planted.
DIRECTED = (
    ("check_text", "Text.\n"),
    ("worksheet_of", ".. symattn::\n\n   [given]\n   scores = [[0, 0]]\n"),
    ("Job", ".. attention:: causal\n"),
    ("quotation", ".. symattn::\n\n   [given]\n   scores = [[0, 0]]\n\n:value:`scores[1,1]`\n"),
)


def test_every_failure_in_sphinx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page for each; the hooks on pages that are read fail as well."""
    from symattn import sphinxext

    pages = [body for _, body in DIRECTED]
    text = "Title\n=====\n\n" + "\n\n".join(pages)
    raised = iter([*INSIDE, *INSIDE])
    (tmp_path / "index.rst").write_text(text, encoding="utf-8")
    for number in range(len(INSIDE)):
        (tmp_path / f"p{number}.rst").write_text(f":orphan:\n\n{text}", encoding="utf-8")
    told: list[str] = []

    def planted(*_: Any, **__: Any) -> Any:
        error, _status, words = next(raised, INSIDE[0])
        told.append(words)
        raise error

    for name, _ in DIRECTED:
        monkeypatch.setattr(sphinxext, name, planted)
    shown = warnings_of(tmp_path)
    assert len(told) >= len(INSIDE)
    for words in {*told}:
        assert words in shown
    assert "Traceback" not in shown and "\x1b[2J" not in shown and "\u202e" not in shown


@pytest.mark.parametrize("hook", ["in_words", "in_cells"])
def test_a_failure_on_a_page_that_was_read(
    hook: str, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    from symattn import sphinxext

    said: list[str] = []
    monkeypatch.setattr(sphinxext._log, "warning", lambda told, **_: said.append(told))
    for error, _, told in INSIDE:
        broken: Any = SimpleNamespace(findall=raising(error))
        form = "text" if hook == "in_words" else "latex"
        env = SimpleNamespace(reread_always=set())
        app: Any = SimpleNamespace(builder=SimpleNamespace(format=form), env=env)
        getattr(sphinxext, hook)(app, broken, "index")
        assert told in said[-1]
        assert env.reread_always == {"index"}
    assert len(said) == len(INSIDE)
