"""Help: examples that run, and every option in one group."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from symattn.cli import COMMANDS, EXAMPLES, SECTIONS, main
from symattn.cli.help import Explained
from tests import ROOT
from tests.command import run


def command(name: str) -> Explained:
    found = main.get_command(click.Context(main), name)
    assert isinstance(found, Explained)
    return found


def options(name: str) -> set[str]:
    return {max(p.opts, key=len) for p in command(name).params if isinstance(p, click.Option)}


def test_every_command_stands_in_one_section() -> None:
    listed = [name for commands in SECTIONS.values() for name in commands]
    assert sorted(listed) == sorted(COMMANDS)
    shown = run("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in shown, name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_in_one_group(name: str) -> None:
    grouped = [option for names in command(name).groups.values() for option in names]
    assert len(grouped) == len({*grouped}) and {*grouped} <= options(name)
    rest = options(name) - {*grouped}
    assert not grouped or rest <= {"--timeout", "--help-all"}, (
        f"{rest}: which group of {name} are they in?"
    )
    every = "--help-all" if command(name).common else "--help"
    shown = run(name, every).stdout
    for option in (*options(name), "--help"):
        assert len(re.findall(rf"^  (?:-\w, )?{option}(?= |$)", shown, re.MULTILINE)) == 1, option


def test_common_options_fit_a_screen_and_all_are_a_call_away() -> None:
    common = {*command("derive").common}
    assert common <= {*options("derive"), "--help"} and len(common) <= 16
    shown, every = (
        CliRunner().invoke(main, ["derive", one]).stdout for one in ("--help", "--help-all")
    )
    for option in options("derive"):
        names = rf"^  (?:-\w, )?{option}(?= |$)"
        assert (re.search(names, shown, re.MULTILINE) is not None) == (option in common), option
        assert re.search(names, every, re.MULTILINE), option


#: The examples whose files are the reader's own.
OWN = {"page.md", "mine.py:attention", "mine.py:attend", "package.layers:sdpa", "mine.toml"}

#: The commands whose examples need nothing but those before them.
FROM_NOTHING = ("derive", "check", "mark", "prove")

RUN = [
    words
    for words in (
        *EXAMPLES,
        *(e for name in COMMANDS if name not in FROM_NOTHING for e in command(name).examples),
    )
    if (not {*shlex.split(words)} & OWN or " new " in words) and "completion" not in words
]


#: What stands in the file that examples call mine.py.
_MINE = """
import numpy as np

def attention(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True) @ V

def plain(Q, K, V):
    return attention(Q, K, V)

def fast(Q, K, V):
    weights = np.exp(Q @ K.T * Q.shape[1] ** -0.5)
    return (weights @ V) / weights.sum(axis=1)[:, None]
"""


@pytest.mark.parametrize("words", RUN)
def test_the_examples_run(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("examples", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("pictures"))
    (tmp_path / "mine.py").write_text(_MINE, "utf-8")
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(words)
    result = run(*arguments)
    assert program == "symattn"
    expected = {0, 1} if arguments[0] in ("check", "prove", "render") else {0}
    assert result.exit_code in expected, result.output


@pytest.mark.parametrize("name", FROM_NOTHING)
def test_the_examples_run_one_after_the_other_beside_a_function(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(_MINE, "utf-8")
    for words in command(name).examples:
        result = run(*shlex.split(words)[1:])
        assert result.exit_code in {0, 1}, (words, result.output)


def test_an_option_without_a_group_is_shown() -> None:
    told = Explained(
        "x", params=[click.Option(["--one"]), click.Option(["--two"])], groups={"First": "--one"}
    )
    shown = CliRunner().invoke(told, ["--help"]).output
    assert shown.index("First:") < shown.index("--one") < shown.index("Other options:")
    assert shown.index("Other options:") < shown.index("--two")
