"""The command line, called in this process."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from symattn.cli import main


def run(*words: object, status: int | None = None, given: str | bytes | None = None) -> Result:
    """What a command makes of its words and of standard input; it ends as is expected of it."""
    result = CliRunner().invoke(main, [str(word) for word in words], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert status is None or result.exit_code == status, result.output
    return result


def assert_refused(result: Result, *told: str, status: int = 2, shown: bool = False) -> None:
    """It ends so, with exactly one printable line, in which these words stand."""
    assert result.exit_code == status, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert (result.stdout != "", result.stderr.count("\n")) == (shown, 1)
    line = result.stderr.removesuffix("\n")
    assert line.isprintable() and "Traceback" not in line
    assert [words for words in told if words not in line] == []


def put(path: Path, text: str) -> Path:
    """A file of this text, which a command can read."""
    path.write_text(text, encoding="utf-8")
    return path
