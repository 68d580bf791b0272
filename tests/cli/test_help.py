"""Help: examples that run, and every option in one group."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from symattn.cli import COMMANDS, EXAMPLES, SECTIONS, main
from symattn.cli.help import Explained
from tests import ROOT
from tests.command import run
from tests.shares import share


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


#: How many commands there may be, how many options these may have together, and how many of them
#: there may be to learn: what means the same at several commands counts once.
MOST = {"commands": 12, "options": 92, "options to learn": 75}

#: What means the same at every command that has it.
SHARED = {"--format", "--output", "--timeout", "--watch", "--size", "--width", "--map"}


def surface(commands: Mapping[str, click.Command]) -> dict[str, int]:
    """How much there is of what `MOST` limits."""
    each = [
        max(option.opts, key=len)
        for one in commands.values()
        for option in one.params
        if isinstance(option, click.Option)
    ]
    own = [option for option in each if option not in SHARED]
    learnt = len(own) + len({*each} & SHARED)
    return {"commands": len(commands), "options": len(each), "options to learn": learnt}


def too_much(commands: Mapping[str, click.Command]) -> list[str]:
    """What there is more of than `MOST` allows."""
    return [name for name, found in surface(commands).items() if found > MOST[name]]


def test_there_are_few_commands_and_options() -> None:
    commands: dict[str, click.Command] = {name: command(name) for name in COMMANDS}
    assert too_much(commands) == [], "what is added takes the place of something"
    ladder = commands["ladder"]

    def with_more(count: int) -> dict[str, click.Command]:
        """The commands, one of which has so many options more."""
        more = (click.Option([f"--new-{number}"]) for number in range(count))
        return {**commands, "ladder": click.Command("ladder", params=[*ladder.params, *more])}

    room = MOST["options to learn"] - surface(commands)["options to learn"]
    assert "options to learn" not in too_much(with_more(room))
    assert too_much(with_more(room + 1)) == ["options", "options to learn"]
    assert too_much({**commands, "another": click.Command("another")}) == ["commands"]


def test_what_each_command_does_is_a_line_of_its_own() -> None:
    lines = [line for commands in SECTIONS.values() for line in commands.values()]
    assert len({*lines}) == len(lines) == len(COMMANDS)
    assert all(len(line) <= 60 for line in lines)


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


@pytest.mark.parametrize("words", share(RUN, 2))
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


@pytest.mark.parametrize("name", share(FROM_NOTHING, 2))
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
