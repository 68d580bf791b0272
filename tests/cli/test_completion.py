"""What shells complete, and the manual page: in the shells themselves, and as man reads it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from symattn import IDENTITIES, TEXTS, VARIANTS
from symattn.cli import COMMANDS, main
from symattn.cli.completion import EXAMPLES, completion
from tests import ROOT
from tests.command import put
from tests.conftest import Tool
from tests.manual import MANUAL, dated, manual

#: How a shell, told by the lines that the help shows, is asked to complete a line.
ASK = {
    "bash": "{told}; read -ra COMP_WORDS <<< '{line}'; COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
    '_symattn_completion symattn 2>/dev/null; printf "%s\\n" "${{COMPREPLY[@]}}"',
    "fish": "{told}; complete -C '{line}'",
}


@pytest.fixture
def completed(tmp_path: Path, tool: Tool) -> Callable[[str, str], list[str]]:
    """What a shell offers for a line."""
    program = put(
        tmp_path / "symattn", f"#!{sys.executable}\nfrom symattn.cli import main\nmain()\n"
    )
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    told = {words: example for example in EXAMPLES for words in ASK if words in example}

    def ask(shell: str, line: str) -> list[str]:
        ran = subprocess.run(
            [tool(shell), "-c", ASK[shell].format(told=told[shell], line=line)],
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return [each.partition("\t")[0] for each in ran.stdout.splitlines()]  # without what it is

    return ask


@pytest.mark.parametrize("shell", ASK)
def test_shells_complete_commands_options_and_names(
    shell: str, completed: Callable[[str, str], list[str]]
) -> None:
    assert sorted(completed(shell, "symattn ver")) == ["verify"]
    assert sorted(completed(shell, "symattn derive causal-")) == [
        "causal-linear",
        "causal-multi-head",
    ]
    assert sorted(completed(shell, "symattn derive causal --format js")) == ["json"]


def test_zsh_reads_its_script(tool: Tool) -> None:
    script = CliRunner().invoke(main, ["completion", "zsh"], prog_name="symattn").stdout
    assert script.startswith("#compdef symattn\n")
    read = [tool("zsh"), "-n"]
    assert subprocess.run(read, input=script, encoding="utf-8", check=False).returncode == 0
    broken = script.replace("}", "", 1)
    ran = subprocess.run(read, input=broken, encoding="utf-8", capture_output=True, check=False)
    assert ran.returncode != 0


def offered(name: str, begun: str = "") -> set[str]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    context = click.Context(command)
    (argument, *_) = [each for each in command.params if isinstance(each, click.Argument)]
    return {item.value for item in argument.shell_complete(context, begun) if item.type == "plain"}


def test_names_are_those_of_the_tables() -> None:
    variants = {row.name for row in (*VARIANTS, *TEXTS)}
    assert offered("derive") == offered("new") == variants
    assert offered("prove") == {row.name for row in IDENTITIES} | variants
    assert "scaled" in offered("ladder") and offered("ladder", "x") == set()
    assert {"causal", "two_heads"} <= offered("examples")
    assert offered("check") == set()


def test_every_shell_has_an_example() -> None:
    shells = completion.params[0].type
    assert isinstance(shells, click.Choice)
    assert [sum(f"completion {each}" in line for line in EXAMPLES) for each in shells.choices] == [
        1
    ] * 3


def test_the_manual_page_is_that_of_this_help() -> None:
    page = MANUAL.read_text("utf-8")
    assert page == manual(dated(page)), "python -m tests.manual writes it anew"
    for name in COMMANDS:
        assert f'\n.SS "symattn {name} ' in page


def complaints(page: str, tool: Tool) -> str:
    """What mandoc and groff find wrong with a page."""
    lint = [tool("mandoc"), "-T", "lint", "-W", "style"]
    groff = [tool("groff"), "-man", "-ww", "-z", "-Kutf8", "-Tutf8"]
    said = ""
    for reader in (lint, groff):
        ran = subprocess.run(reader, input=page, capture_output=True, encoding="utf-8", check=False)
        said += ran.stdout + ran.stderr
    return said


def test_man_reads_the_page_without_a_warning(tool: Tool) -> None:
    page = MANUAL.read_text("utf-8")
    assert complaints(page, tool) == ""
    broken = complaints(page.replace(".SH EXAMPLES", ".SX EXAMPLES"), tool)
    assert broken.count("SX") >= 2
