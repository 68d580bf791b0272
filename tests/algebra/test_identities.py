"""The catalogue is proven row by row; a wrong row, a wrong link and a wrong rule are caught."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symattn import IDENTITIES, SymattnError, prove
from symattn.algebra.equality import decide
from symattn.algebra.identities import reports
from symattn.algebra.identities.identity import ENTRIES, HYPOTHESIS, Identity
from symattn.algebra.rules import RULES, RewriteRule, rule
from symattn.cli import main
from symattn.documents.job import written
from symattn.language.statement import readings
from tests import within_seconds
from tests.algebra.rewriting import follows, statement_of
from tests.shares import share

BY_NAME = {row.name: row for row in IDENTITIES}


@pytest.mark.parametrize("row", share(IDENTITIES, 2), ids=lambda row: row.name)
def test_every_row_is_as_the_catalogue_says(row: Identity) -> None:
    with within_seconds(10):  # all of them take half a minute
        proof = prove(row)
    assert proof.good, (
        str(proof.equality),
        [link.rule for link in proof.links if not link.equality],
    )
    assert bool(proof.equality) is row.holds
    if row.holds:
        assert (proof.equality.scope == "for all sizes") is row.for_all
    assert (proof.equality.counterexample is None) is row.holds


def test_a_wrong_identity_is_caught() -> None:
    planted = replace(BY_NAME["shift"], statement="softmax(S + c 1^T) = 2 softmax(S)", proof=())
    assert not prove(planted).good
    believed = replace(BY_NAME["no-scale"], holds=True)
    assert not prove(believed).good
    doubted = replace(BY_NAME["shift"], holds=False)
    assert not prove(doubted).good


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.name)
def test_every_rule_is_proven_for_all_sizes(row: RewriteRule) -> None:
    answer = decide(statement_of(row))
    assert answer.verdict == "equal"
    assert answer.scope == "for all sizes"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("distribute", "A (B + C) = A B - A C"),
        ("shift", "softmax(S + 1 c^T) = softmax(S)"),
        ("exp of columns", "exp(S + c 1^T) = diag(exp(-c)) exp(S)"),
        ("exp of a sum", "exp(A + B) = exp(A) ∘ exp(-B)"),
        ("blocks", "[A, B] [C; D] = A C - B D"),
        ("sum of blocks", "rowsum([A, B]) = rowsum(A) - rowsum(B)"),
        ("unfold", "softmax(S) = exp(-S) / rowsum(exp(S))"),
    ],
)
def test_a_rule_with_a_sign_flipped_is_caught(name: str, wrong: str) -> None:
    answer = decide(statement_of(replace(rule(name), statement=wrong)))
    assert answer.verdict == "different"
    assert answer.counterexample is not None


def _sides(*texts: str) -> list[Any]:
    ((out,),) = (next(readings([texts], {"P": ("#P", "#P")})).groups,)
    return [one.meaning for one in out]


def test_rules_apply_where_they_fit_and_nowhere_else() -> None:
    nobody: frozenset[str] = frozenset()
    one, other = _sides("V1 + softmax(Q K^T + c 1^T) V", "V1 + softmax(Q K^T) V")
    assert follows(one, other, rule("shift"), nobody)
    one, other = _sides("softmax(S)", "softmax(2 S)")
    assert not follows(one, other, rule("shift"), nobody)
    one, other = _sides("softmax(P S)", "P softmax(S)")
    assert follows(one, other, rule("permute rows"), frozenset({"P"}))
    assert not follows(one, other, rule("permute rows"), nobody)  # P has to be a permutation


NAMED = [row for row in IDENTITIES if {*row.rules} - {HYPOTHESIS, ENTRIES}]


@pytest.mark.parametrize("row", NAMED, ids=lambda row: row.name)
def test_every_link_follows_by_the_rule_that_it_names(row: Identity) -> None:
    meant = next(row.statements()).chain
    for (one, other), name in zip(pairwise(meant), row.rules, strict=True):
        free = name in (HYPOTHESIS, ENTRIES)
        assert free or follows(one, other, rule(name), frozenset(row.permuting)), name


def test_a_link_that_names_no_rule_is_refused() -> None:
    tiles = BY_NAME["two-tiles"]
    row = replace(tiles, proof=(("block", tiles.proof[0][1]), *tiles.proof[1:]))
    with pytest.raises(SymattnError, match='no rule is called "block"; did you mean "blocks"'):
        prove(row)


def test_all_proofs_are_listed_with_what_became_of_them() -> None:
    """✓ proven, ≠ refuted as it should be, ✗ not as the catalogue says."""
    shift, tiles = BY_NAME["shift"], BY_NAME["two-tiles"]
    rows = [
        shift,
        BY_NAME["no-scale"],
        replace(shift, statement="softmax(S + c 1^T) = 2 softmax(S)", proof=()),
        replace(tiles, proof=(("unfold", "exp([S1, S2]) [V1; V2]"), *tiles.proof[1:])),
    ]
    proofs = [prove(row) for row in rows]
    brief = str(written("text", [reports.proofs_document(proofs, brief=True)]))
    lines = brief.splitlines()
    assert [line.split()[:2] for line in lines[:4]] == [
        ["✓", "shift"],
        ["≠", "no-scale"],
        ["✗", "shift"],
        ["✗", "two-tiles"],
    ]
    assert "2 of 4 as stated: 3 identities (2 for all sizes), 1 false beliefs" in brief
    whole = str(written("text", [reports.proofs_document(proofs)]))
    for row in rows:
        assert f"{row.name}: {row.says}" in whole
    assert "the proof does not hold: the link by unfold fails" in whole
    assert whole.count("different: with ") == 2


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(words))
    return result.exit_code, result.output


def test_the_command_line(tmp_path: Path) -> None:
    status, out = run("prove", "shift")
    assert status == 0
    assert "= softmax(S)" in out
    assert "equal (for all sizes)" in out
    status, out = run("prove", "softmax(2 S) = softmax(S)")
    assert status == 1
    assert "different: with S =" in out
    status, out = run(
        "prove", "softmax(-dist2(Q, K)/2) = softmax(Q K^T)", "--where", "norm2(K) = c"
    )
    assert status == 0
    status, out = run("prove")
    assert status == 0
    assert out.count("\n") == len(IDENTITIES)
    target = tmp_path / "proof.json"
    status, _ = run("prove", "jacobian", "--format", "json", "-o", str(target))
    assert status == 0
    found = json.loads(target.read_text(encoding="utf-8"))
    assert (found["verdict"], found["good"]) == ("equal", True)


@pytest.mark.parametrize(
    "words",
    [
        ("prove", "shfit"),
        ("prove", "A = "),
        ("prove", "shift", "--all"),
        ("prove", "shift", "--where", "S positive"),
    ],
)
def test_wrong_calls_are_refused_in_one_line(words: tuple[str, ...]) -> None:
    status, out = run(*words)
    assert status == 2
    assert out.startswith("symattn: ")
    assert out.count("\n") == 1


# ---- what is printed of a proof introduces its letters and functions ------------------------

#: What every reader knows, and what the grammar of statements has besides functions.
_KNOWN = {"exp", "tanh", "cos", "sin", "ln", "max", "min"}
_SIGNS = {"T", "I", "ones"}

#: A function that is applied in LaTeX, and one that a line "where …" or "and …" defines.
_APPLIED = re.compile(r"\\mathrm\{(\w{2,})\}(?:_\{[^{}]*\}|\^\{[^{}]*\})*(?:\\left)?\(")
_DEFINED = re.compile(r"\\text\{(?:where|and) \}(?:\[|-|\{|\\left\[| |[a-z] )*\\mathrm\{(\w+)\}")


def _unexplained(row: Identity, source: str) -> set[str]:
    """The functions in the LaTeX of a proof that no line of it defines."""
    return {*_APPLIED.findall(source)} - {*_DEFINED.findall(source)} - _KNOWN


@pytest.mark.parametrize("row", share(IDENTITIES, 12), ids=lambda row: row.name)
def test_a_printed_proof_introduces_its_functions_and_letters(row: Identity) -> None:
    proof = prove(row)
    source = str(written("latex", [reports.proof_document(proof)]))
    assert _unexplained(row, source) == set()
    words = str(written("text", [reports.proof_document(proof, brief=True)]))
    for name in _APPLIED.findall(source):
        assert name in _KNOWN or re.search(rf"(where|and) \W*(\w )?{name}", words)
    if row.sides is None:
        typed = re.sub(r"[^\W\d]\w*\(", "(", row.statement)
        shapes = dict(proof.equality.reading)
        sizes = {size for shape in shapes.values() for size in re.findall(r"\w+", shape)}
        letters = {*re.findall(r"\b[^\W\d]\w*", typed)}
        assert letters - {*shapes} - sizes - _SIGNS - {"d_k", "d_model"} == set()
        assert all(name in words.split("read as")[1] for name in shapes)


def test_a_function_that_is_not_introduced_is_found() -> None:
    row = BY_NAME["mask-deletes"]
    source = str(written("latex", [reports.proof_document(prove(row))]))
    assert _unexplained(row, re.sub(r".*\\text\{and \}.*\n", "", source)) == {"padding"}
