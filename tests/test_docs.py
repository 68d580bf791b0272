"""The documents keep what they promise: their examples run, their commands are the real ones."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
from pathlib import Path

import click
import pytest

from symattn.cli.derive import derive
from symattn.mistakes import OF_PROGRAMS
from symattn.pages.checked import check_file
from tests import ROOT
from tests.command import run
from tests.extras import package

GENERATED = ROOT / "docs" / "generated"
FOUND = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
PAGES = sorted(page for page in FOUND if not page.is_relative_to(GENERATED))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_in_documents_run(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0


def test_python_page_has_examples() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    assert len(doctest.DocTestParser().get_examples(page)) >= 15


def test_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 -m pip install . && symattn derive examples/it_cat_mat.toml" in readme
    assert "python3 -m pip install '.[test]' && pytest" in readme


def test_local_links_lead_somewhere() -> None:
    import re

    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            if (
                "/generated/" not in target
            ):  # which the build of the site makes, and its test follows
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_number_on_the_example_page_is_right() -> None:
    checked = check_file(ROOT / "examples/attention_by_hand.md")
    assert checked is not None
    assert len(checked.findings) == 6
    assert checked.passes


def test_the_example_of_a_wrong_calculation_is_explained() -> None:
    checked = check_file(ROOT / "examples/checked_hand_calculation.toml")
    assert checked is not None
    (marking,) = checked.markings
    assert str(marking.first_wrong) == "weights[1,2]"
    assert [each.name for each in marking.explanations] == ["softmax-over-columns"]


#: A row of the table of options: the option, and a command that uses it.
_ROW = re.compile(r"^\| `(--[a-z-]+)` \| .* \| `symattn (derive .*)` \|$", re.MULTILINE)


def test_every_option_of_derive_is_told_once_with_a_command_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _ROW.findall((ROOT / "docs" / "commands.md").read_text("utf-8"))
    options = {
        next(name for name in option.opts if name.startswith("--"))
        for option in derive.params
        if isinstance(option, click.Option)
    }
    assert [name for name, _ in rows] == list(dict.fromkeys(name for name, _ in rows))
    assert {name for name, _ in rows} == options
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "sheet.toml").write_text(
        "[attention]\nbatch = 2\n[given]\n"
        "Q = [[[1]], [[2]]]\nK = [[[1]], [[2]]]\nV = [[[3]], [[4]]]\n"
    )
    (tmp_path / "mine.py").write_text("def attention(q, k, v):\n    return q @ k.T @ v\n")
    monkeypatch.chdir(tmp_path)
    for name, command in rows:
        assert name in command
        if name == "--watch":  # which goes on until it is stopped
            continue
        ran = run(*shlex.split(command))
        assert ran.exit_code == 0, (command, ran.output)
    assert "# " in (tmp_path / "causal.md").read_text("utf-8")


@pytest.mark.nightly
@pytest.mark.parametrize("turn", range(6))
def test_numbers_on_the_site_give_each_misconception_away(
    turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    package("sphinx")
    monkeypatch.syspath_prepend(ROOT / "docs/_ext")
    site = runpy.run_path(str(ROOT / "docs/_ext/reference.py"))
    shown, examples = site["_given_away"], [*site["_shown_on"]()]
    known: dict[tuple[str, str], list[list[str]]] = {}
    for one in [x for x in OF_PROGRAMS if not x.floating][turn::6]:
        assert one.name and shown(one, examples, known)
    with pytest.raises(AssertionError, match="add one to _own_examples"):
        shown(OF_PROGRAMS[0], [], known)
