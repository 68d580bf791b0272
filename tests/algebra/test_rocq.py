"""Theorems of Rocq: what they say is what was asked, and Rocq accepts their proofs.

`coqc` takes seconds for each: a few here, the catalogue and a part of the corpus each night.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from symattn import Attention, SymattnError, equal, prove
from symattn.algebra import traces
from symattn.algebra.equality import stated
from symattn.algebra.forms import Refused
from symattn.algebra.identities import IDENTITIES, identity
from symattn.algebra.rocq.export import exported
from symattn.algebra.rocq.terms import identifier, library
from tests.command import run
from tests.conftest import Tool
from tests.oracle import Statement, agree
from tests.rocq import theorem
from tests.shares import share
from tests.statements import STATEMENTS

#: Takes a file of Rocq, gives its status and what it says.
Rocq = Callable[[str], tuple[int, str]]

ROWS = [row for row in IDENTITIES if row.holds and row.for_all]

#: What has no theorem yet, and why.
REFUSED = {
    "jacobian": "an entry of Slope has no term in Rocq yet",
    "log-sum-exp": "an entry of Slope has no term in Rocq yet",
    "attention-one-step": "an entry of Slope has no term in Rocq yet",
    "gradient-values": "an entry of Slope has no term in Rocq yet",
    "gradient-weights": "an entry of Slope has no term in Rocq yet",
    "gradient-scores": "an entry of Slope has no term in Rocq yet",
    "gradient-queries": "an entry of Slope has no term in Rocq yet",
    "gradient-keys": "an entry of Slope has no term in Rocq yet",
    "qk-gauge": "an entry of Inverse has no term in Rocq yet",
    "linear-normalised": "a division by what may be 0 has no proof in Rocq yet",
    "rotary-orthogonal": "cases of sizes have no proof in Rocq yet",
}


@pytest.fixture(scope="module")
def rocq(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Rocq:
    """Rocq, with the library compiled."""
    program, folder = tool("coqc"), tmp_path_factory.mktemp("rocq")

    def compiled(text: str, name: str = "statement") -> tuple[int, str]:
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
        command = [program, "-w", "none", "-Q", ".", "Symattn", f"{name}.v"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
        return done.returncode, done.stdout + done.stderr

    status, said = compiled(library(), "symattn")
    assert status == 0, said
    return compiled


def of_row(name: str) -> str:
    """The theorem of a row of the catalogue."""
    return exported(json.loads(json.dumps(prove(identity(name)).equality.certificate)))


def of_statement(row: Statement) -> str:
    """The theorem of a statement of the corpus."""
    return exported(traces.certificate(next(stated(row.text, None, **row.options))))


# ---- what is exported --------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_theorem_is_named(name: str) -> None:
    with pytest.raises(Refused, match=re.escape(REFUSED[name])):
        of_row(name)


@pytest.mark.parametrize(
    "name", share([row.name for row in ROWS if row.name not in REFUSED], 16, turn=1)
)
def test_rocq_accepts_the_catalogue(name: str, rocq: Rocq) -> None:
    status, said = rocq(of_row(name))
    assert status == 0, said
    assert said.strip() == "Closed under the global context"


@pytest.mark.nightly
@pytest.mark.parametrize("turn", range(20))
def test_rocq_accepts_statements(turn: int, rocq: Rocq) -> None:
    rows = [row for row in STATEMENTS if row.holds and not row.options.get("sizes")]
    tried = 0
    for row in rows[turn::60]:
        try:
            text = of_statement(row)
        except (Refused, SymattnError):
            continue
        status, said = rocq(text)
        assert status == 0, f"{row.text}: {said}"
        tried += 1
    assert tried


def test_no_proof_stands_on_an_axiom() -> None:
    for text in (library(), of_row("shift")):
        code = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
        assert not re.findall(r"\b(Axiom|Parameter|Conjecture|Admitted|admit|Hypothesis)\b", code)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("softmax e (S + (c *m", "softmax e (S + S + (c *m"),
        ("= softmax e S", "= softmax e (S + S)"),
        ("  = softmax e S", "  = had (softmax e S) S"),
    ],
)
def test_a_proof_is_of_its_statement_alone(old: str, new: str, rocq: Rocq) -> None:
    text = of_row("shift")
    head, theorem_, rest = text.partition("Theorem ")
    assert old in rest
    changed = head + theorem_ + rest.replace(old, new, 1)
    status, said = rocq(changed)
    assert status != 0, said


def test_a_changed_certificate_is_refused() -> None:
    data = json.loads(json.dumps(prove(identity("shift")).equality.certificate))
    data["statement"]["right"]["text"] = "softmax(2 S)"
    with pytest.raises(Refused):
        exported(data)


# ---- what a theorem says -----------------------------------------------------------------------


def read_back(row: Statement) -> bool:
    """Whether the theorem of a statement says what NumPy makes of it; False if there is none."""
    try:
        found = theorem(of_statement(row))
    except (Refused, SymattnError):
        return False
    parameters = inspect.signature(row.sides).parameters
    with np.errstate(all="ignore"):
        for drawn in row.draws(seed=1, count=3):
            wanted = row.sides(**{name: drawn[name] for name in parameters})
            known = found.known({identifier(name): value for name, value in drawn.items()})
            said = found.sides(known)
            obeyed = all(agree(*sides) for sides in found.assumed(known))
            if not found.letters <= {identifier(name) for name in drawn}:
                if found.assumed(known):
                    return False  # NumPy has other names for the letters
                wanted = said[::-1]
            if not obeyed and found.numbers - drawn.keys():
                return False  # a number is assumed to be what it is not by chance
            assert obeyed, row.text
            assert all(map(agree, said, wanted)), row.text
    return True


@pytest.mark.parametrize(
    ("every", "least"), [(9, 25), pytest.param(1, 300, marks=pytest.mark.nightly)]
)
def test_a_theorem_says_what_was_asked(every: int, least: int) -> None:
    rows = [row for row in STATEMENTS if row.holds and not row.options.get("sizes")]
    assert sum(map(read_back, rows[::every])) >= least


def test_the_steps_of_a_derivation_are_put_in() -> None:
    answer = equal(Attention().derivation(), "softmax(Q K^T / sqrt(d_k)) V")
    found = theorem(exported(json.loads(json.dumps(answer.certificate))))
    assert found.left == "(softmax e (over (Q *m (K^T)) (Num.sqrt d_k%:R))) *m V"
    assert found.letters == {"Q", "K", "V"}


def test_the_reader_can_tell_statements_apart() -> None:
    row = next(row for row in STATEMENTS if row.text == "softmax(S + c 1^T) = softmax(S)")
    assert read_back(row)
    other = Statement(row.text, True, lambda S, c: (S, S), row.letters, row.options)
    with pytest.raises(AssertionError):
        read_back(other)


# ---- the command -------------------------------------------------------------------------------


def test_a_theorem_is_written(tmp_path: Path) -> None:
    out = tmp_path / "shift.v"
    run("prove", "shift", "--format", "rocq", "-o", out, status=0)
    assert "Theorem shift" in out.read_text("utf-8")
    run("prove", "--format", "rocq", "-o", tmp_path / "symattn.v", status=0)
    assert (tmp_path / "symattn.v").read_text("utf-8") == library()


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("gradient-values", 4, "an entry of Slope has no term in Rocq yet"),
        ("no-scale", 1, "different"),
        ("softmax(2 S) = softmax(S)", 1, "different"),
    ],
)
def test_nothing_is_written_without_a_theorem(
    asked: str, status: int, said: str, tmp_path: Path
) -> None:
    out = tmp_path / "none.v"
    done = run("prove", asked, "--format", "rocq", "-o", out, status=status)
    assert f"no theorem of Rocq is written: {said}" in done.stderr
    assert not out.exists()
