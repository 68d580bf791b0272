"""``symattn new`` and ``symattn examples``: what people begin with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from symattn import VARIANTS, Attention, variant
from symattn.attention.example import small_example
from symattn.cli.examples import all_examples, examples_folder
from symattn.errors import SymattnError
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from symattn.sheets.writing import starter, worksheet_text
from tests import ROOT, indexed
from tests.command import put, run
from tests.shares import share


def uncommented(text: str) -> str:
    """The starter with what it only suggests put in force."""
    return re.sub(r"^# (?=\[|\"|digits)", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("row", share(VARIANTS, 9), ids=lambda row: row.name)
def test_what_new_writes_derives_as_the_variant_does(row: object) -> None:
    assert isinstance(row, type(VARIANTS[0]))
    text = starter(row, "mine.toml")
    sheet = worksheet_of(text)
    derivation = sheet.derivation()
    expected, values = small_example(row.spec)
    assert (sheet.title, derivation.names) == (row.title, expected.names)
    evaluation = sheet.evaluate(derivation)
    last = derivation.names[-1]
    assert evaluation[last].decimals(12) == values[last].decimals(12)
    assert evaluation[last].decimals(12) != [["0"]]


def test_new_shows_how_weights_are_shared_out() -> None:
    """No weight that is seen is below 0.03, where such numbers were found."""
    for name in ("causal", "self", "cross", "rotary", "alibi", "ratio"):
        text = run("new", name).stdout
        sheet = worksheet_of(text)
        values = sheet.evaluate()
        seen = values["weights"].array[np.abs(values["weights"].array) > 0]
        assert seen.min() >= 0.03, name
        assert text == run("new", name).stdout
        assert worksheet_of(starter(variant(name))).given != sheet.given


@pytest.mark.parametrize("row", share(VARIANTS, 9, 1), ids=lambda row: row.name)
def test_every_comment_of_it_is_true(row: object) -> None:
    assert isinstance(row, type(VARIANTS[0]))
    text = starter(row, "mine.toml")
    sheet = worksheet_of(text)
    # the choices that it names are those of the variant
    said = "\n".join(re.findall(r"^#   (\w+ = .*)$", text, re.MULTILINE))
    spelled = worksheet_of(text.replace(f'variant = "{row.name}"', said))
    assert str(spelled.derivation()) == str(sheet.derivation())
    assert tomllib.loads(said).keys() == {
        key for key, value in row.choices.items() if value not in ("h", "g")
    }
    # the shapes
    assert isinstance(sheet.spec, Attention)
    given = tomllib.loads(text)["given"]
    shapes = re.findall(r"^# \S+: (.*?): .*?(\d+) × (\d+)\n(\w+) = ", text, re.MULTILINE)
    assert [name for *_, name in shapes] == [*given]
    for what, rows, columns, name in shapes:
        matrix = given[name]
        if "one for each head" in what:
            assert len(matrix) == sheet.spec.heads
        elif "one for each group of heads" in what:
            assert len(matrix) == sheet.spec.kv_heads
        if ", one for each head" in what or ", one for each group" in what:
            matrix = matrix[0]
        assert (len(matrix), len(matrix[0])) == (int(rows), int(columns)), name
    # its numbers that are to be marked, and what else it suggests
    marked = worksheet_of(uncommented(text))
    assert marked.notation.digits == 6 and len(marked.claims) == 1
    marking = check_worksheet(marked)
    assert marking.entries and {entry.verdict for entry in marking.entries} == {"right"}


def test_a_comment_that_is_wrong_is_caught() -> None:
    row = next(row for row in VARIANTS if row.name == "causal")
    text = uncommented(starter(row)).replace('["0.000", "2.000"]', '["0.000", "3.000"]')
    assert not check_worksheet(worksheet_of(text)).passed


@pytest.mark.parametrize("row", share(VARIANTS, 16, 2), ids=lambda row: row.name)
def test_other_sizes(row: object) -> None:
    assert isinstance(row, type(VARIANTS[0]))
    sheet = worksheet_of(starter(row, tokens=5, d_k=4))
    values = sheet.evaluate(sheet.derivation())
    assert values.check().agrees


def test_its_commands_run_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("new", "rotary", "-o", "my own.toml").exit_code == 0
    text = Path("my own.toml").read_text("utf-8")
    assert re.findall(r"^# (symattn .*?)  ", text, re.MULTILINE) == [
        "symattn derive 'my own.toml'",
        "symattn derive 'my own.toml' --format html -o page.html",
        "symattn check 'my own.toml'",
    ]
    assert run("derive", "my own.toml").exit_code == 0
    Path("my own.toml").write_text(uncommented(text), "utf-8")
    assert run("check", "my own.toml").exit_code == 0


def test_no_file_is_replaced_unasked(tmp_path: Path) -> None:
    file = put(tmp_path / "a\n.toml", "mine")
    for words in (["new", "-o", str(file)], ["examples", "causal", "-o", str(file)]):
        refused = run(*words)
        assert refused.exit_code == 2 and refused.stderr.count("\n") == 1
        assert "is there already; remove it" in refused.stderr
        assert file.read_text("utf-8") == "mine"
    file.unlink()
    assert run("new", "-o", str(file)).exit_code == 0
    assert worksheet_of(file.read_text("utf-8")).title == "Scaled-dot-product attention"


def test_worksheets_hold_what_they_are_given() -> None:
    given = {"W_Q[1]": [["1/3", -2]], "Q": [[True]], "K": [[]]}
    text = worksheet_text({"mask": {"window": [2, 0]}}, given, title='a "b" \\ é\x7f')
    read = tomllib.loads(text)
    assert read["given"] == given and read["attention"] == {"mask": {"window": [2, 0]}}
    assert read["title"] == 'a "b" \\ é\x7f'
    with pytest.raises(SymattnError, match="Q"):
        worksheet_text({}, {"Q": [[0.5]]})


# ---- the examples ----------------------------------------------------------------------------


def test_every_example_is_listed_and_says_what_it_is_for() -> None:
    files = {path.name for path in (ROOT / "examples").iterdir() if path.is_file()}
    listed = run("examples").stdout.splitlines()
    assert {line.split()[0] for line in listed} == files - {"README.md"}
    for example in all_examples():
        assert example.title and example.purpose, example.name
        assert "\n" not in example.purpose and "|" not in example.purpose
        assert f"{example.name} " in "\n".join(listed) and example.title in "\n".join(listed)


def test_the_index_is_that_of_the_files() -> None:
    kept = indexed.INDEX.read_text("utf-8")
    assert kept == indexed.index(), "`python -m tests.indexed` writes it anew"


def test_examples_are_copied_as_they_are(tmp_path: Path) -> None:
    assert run("examples", "-o", str(tmp_path)).exit_code == 0
    for example in all_examples():
        copied = (tmp_path / example.name).read_text("utf-8")
        assert copied == (examples_folder() / example.name).read_text("utf-8")
    run("examples", "causal", "two_heads", "-o", str(tmp_path), status=2)
    assert run("examples", "causal.toml", "-o", str(tmp_path / "b.toml")).exit_code == 0
    assert run("examples", "causal").stdout == (tmp_path / "b.toml").read_text("utf-8")


def test_nothing_is_copied_where_one_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "two_heads.toml").write_text("mine", "utf-8")
    refused = run("examples", "causal", "two_heads", "-o", str(tmp_path))
    assert refused.exit_code == 2 and "two_heads.toml" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["two_heads.toml"]


@pytest.mark.parametrize("command", [["derive"], ["check"], ["prove", "causal"]])
def test_an_example_that_is_not_here_is_told_how_to_be_copied(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(worksheet_text({}, {"Q": [[1]], "K": [[1]], "V": [[1]]}), "utf-8")
    for name in ("head_it_cat.toml", "examples/head_it_cat.toml"):
        refused = run(*command, name, status=2)
        assert refused.stderr == (
            f"symattn: {name}: there is no such file; symattn examples head_it_cat -o . "
            "copies the example of that name\n"
        )
    assert run("examples", "head_it_cat", "-o", ".").exit_code == 0
    assert "copies" not in run(*command, "head_it_cat.toml").stderr
    assert "copies" not in run(*command, "nobody.toml").stderr


def test_a_name_without_ending_is_that_of_an_example_too() -> None:
    refused = run("derive", "head_it_cat")
    assert refused.exit_code == 2 and "symattn examples head_it_cat -o . copies" in refused.stderr
    assert 'did you mean "causal"?' in run("derive", "causl").stderr
    assert "neither a file nor a variant" in run("derive", "README").stderr


def test_new_takes_a_variant_and_no_file() -> None:
    refused = run("new", "my sheet.toml", status=2)
    assert "symattn new causal -o 'my sheet.toml' begins one" in refused.stderr
