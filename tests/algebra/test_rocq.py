"""Theorems of Rocq: what they say is what was asked, and Rocq accepts their proofs.

`coqc` takes seconds for each: a few here, the catalogue and a part of the corpus each night.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError, equal, prove
from symattn.algebra import traces
from symattn.algebra.equality import stated
from symattn.algebra.forms import Refused
from symattn.algebra.identities import IDENTITIES, identity
from symattn.algebra.rocq.asking import asked
from symattn.algebra.rocq.files import exported
from symattn.algebra.rocq.terms import identifier, library
from tests.command import run
from tests.conftest import Tool
from tests.oracle import Statement, agree
from tests.rocq import Theorem, theorem
from tests.shares import share
from tests.statements import STATEMENTS

#: Takes a file of Rocq, gives its status and what it says.
Rocq = Callable[[str], tuple[int, str]]

ROWS = [row for row in IDENTITIES if row.holds and row.for_all]

#: What has no theorem yet, and why.
REFUSED = {"rotary-orthogonal": "an even size has no proof in Rocq yet"}


#: The axioms of MathComp-Analysis.
AXIOMS = {
    "boolp.constructive_indefinite_description",
    "boolp.functional_extensionality_dep",
    "boolp.propositional_extensionality",
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


@pytest.mark.nightly
def test_its_functions_are_there(rocq: Rocq) -> None:
    """MathComp-Analysis has e^x, ln, cos and sin as the library takes them."""
    status, said = rocq((Path(__file__).parent.parent / "data" / "analysis.v").read_text("utf-8"))
    assert status == 0, said
    assert {*re.findall(r"^\S+(?= :|$)", said, re.MULTILINE)} - {"Axioms:"} == AXIOMS


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
    "name", share([row.name for row in ROWS if row.name not in REFUSED], 96, turn=3)
)
def test_rocq_accepts_the_catalogue(name: str, rocq: Rocq) -> None:
    text = of_row(name)
    status, said = rocq(text)
    assert status == 0, said
    axioms = {*re.findall(r"^\S+(?= :|$)", said, re.MULTILINE)} - {"Axioms:"}
    assert axioms == (AXIOMS if "slope_at" in text else set())


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


def test_a_changed_certificate_is_refused() -> None:
    data = json.loads(json.dumps(prove(identity("shift")).equality.certificate))
    data["statement"]["right"]["text"] = "softmax(2 S)"
    with pytest.raises(Refused):
        exported(data)


# ---- what a theorem says -----------------------------------------------------------------------


def theorem_of(row: Statement) -> Theorem | None:
    """The theorem of a statement of the corpus, read; None if there is none."""
    try:
        return theorem(of_statement(row))
    except (Refused, SymattnError):
        return None


def read_back(row: Statement, found: Theorem | None) -> bool:
    """Whether the theorem of a statement says what NumPy makes of it; False if there is none."""
    if found is None:
        return False
    parameters = inspect.signature(row.sides).parameters
    with np.errstate(all="ignore"):
        for number, drawn in enumerate(
            [*row.draws(seed=1, count=2), *row.draws(seed=1, count=4, most=3)]
        ):
            wanted = row.sides(**{name: drawn[name] for name in parameters})
            known = found.known({identifier(name): value for name, value in drawn.items()})
            said = found.sides(known)
            obeyed = found.obeyed(known)
            if number >= 2 and not all(obeyed.values()):
                continue  # one number has no variance, and a wide matrix no orthonormal columns
            sizes = [value for value in drawn.values() if isinstance(value, int)]
            if np.shape(said[0]) != np.shape(wanted[0]) and 1 in sizes:
                continue  # NumPy takes a matrix with one entry for a number
            if np.shape(said[0]) != np.shape(wanted[0]) and "causal" in found.left:
                return False  # NumPy's mask is square where no letter tells how wide it is
            equations = any(" = " in one for one in obeyed)
            if not found.letters <= {identifier(name) for name in drawn}:
                if equations:
                    return False  # NumPy has other names for the letters
                wanted = said[::-1]
            if not all(obeyed.values()) and found.numbers - drawn.keys():
                return False  # a number is assumed to be what it is not by chance
            assert all(obeyed.values()), row.text
            assert all(map(agree, said, wanted)), row.text
    return True


def with_zeros(drawn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Letters and sizes, and the same with a row of 0, or nothing but 0, in one of the letters."""
    yield drawn
    for name, value in drawn.items():
        if not isinstance(value, int):
            first = np.arange(np.size(value)).reshape(np.shape(value)) < np.shape(value)[-1:]
            yield {**drawn, name: value * 0.0}
            if np.ndim(value):
                yield {**drawn, name: np.where(first, 0.0, value)}


def is_defined(row: Statement, drawn: dict[str, Any]) -> bool:
    """Whether NumPy divides by nothing that is 0."""
    parameters = inspect.signature(row.sides).parameters
    try:
        with np.errstate(divide="raise", invalid="raise"):
            row.sides(**{name: drawn[name] for name in parameters})
    except (FloatingPointError, ZeroDivisionError, AssertionError):
        return False  # the oracle refuses singular matrices
    return True


def of_values(hypotheses: Iterable[str], positive: Iterable[str]) -> list[str]:
    """The hypotheses about where a statement has a value: of divisors, roots and logarithms."""
    said = [f"0 < {identifier(name)}" for name in positive]
    return [
        one
        for one in hypotheses
        if re.search(r"!= 0|unitmx|0 <", one)
        and not one.endswith("%N")
        and re.sub(r"^\(forall i j, | i j\)$", "", one) not in said
    ]


def hypotheses_read_back(row: Statement, found: Theorem | None) -> int:
    """How often the hypotheses of a theorem are what NumPy needs to divide and to take roots."""
    if found is None:
        return 0
    tried = 0
    for drawn in row.draws(seed=2, count=4, most=3):
        about = of_values(found.hypotheses, row.options.get("positive", ()))
        if not about:
            return 0
        if not found.letters <= {identifier(name) for name in drawn}:
            return 0  # NumPy has other names for the letters
        for letters in with_zeros(drawn):
            with np.errstate(all="ignore"):
                known = found.known({identifier(name): value for name, value in letters.items()})
                obeyed = found.obeyed(known)
            divides = [obeyed[one] for one in about]
            if all(holds for one, holds in obeyed.items() if one not in about):
                assert all(divides) == is_defined(row, letters), (row.text, letters, obeyed)
                tried += 1
    return tried


@pytest.mark.parametrize(
    ("every", "said", "assumed"),
    [(54, 4, 5), pytest.param(1, 300, 400, marks=pytest.mark.nightly)],
)
def test_a_theorem_says_what_was_asked_and_assumes_what_its_sides_divide_by(
    every: int, said: int, assumed: int
) -> None:
    rows = [row for row in STATEMENTS if row.holds and not row.options.get("sizes")]
    read = [(row, theorem_of(row)) for row in rows[::every]]
    assert sum(read_back(*one) for one in read) >= said
    assert sum(hypotheses_read_back(*one) for one in read) >= assumed


def test_every_inverse_has_its_hypothesis() -> None:
    (row, *_) = (row for row in STATEMENTS if row.text == "A^-1 - B^-1 = A^-1 (B - A) B^-1")
    found = theorem(of_statement(row))
    assert found.hypotheses == ["A \\in unitmx", "B \\in unitmx"]


def test_the_steps_of_a_derivation_are_put_in() -> None:
    answer = equal(Attention().derivation(), "softmax((Q / sqrt(d_k)) K^T) V")
    found = theorem(exported(json.loads(json.dumps(answer.certificate))))
    assert found.left == "(softmax e (divmx (Q *m (K^T)) (Num.sqrt d_k%:R))) *m V"
    assert found.letters == {"Q", "K", "V"}


def test_heads_are_as_many_as_there_may_be() -> None:
    """Concatenation times W_O is a sum over heads; heads with one key are multi-query attention."""
    random = np.random.default_rng(1)
    h, n, d, width, out = 3, 2, 2, 4, 5
    heads, W_O = random.normal(size=(h, n, d)), random.normal(size=(h * d, out))
    found = theorem(of_row("concat-is-sum"))
    parts = W_O.reshape(h, d, out)
    known = {"O": heads, "W_O": W_O, "W_O'": parts, "d_v": d, "h": h}
    left, right = found.sides(known | {"n": n, "d_out": out})
    assert agree(left, np.concatenate(heads, axis=1) @ W_O)
    assert agree(right, sum(one @ two for one, two in zip(heads, parts, strict=True)))
    W_Q, K, V = (random.normal(size=(k, width, d)) for k in (h, 1, 1))
    X = random.normal(size=(n, width))
    given: dict[str, Any] = {
        "X": X,
        "W_Q": W_Q,
        "W_K": np.repeat(K, h, 0),
        "W_V": np.repeat(V, h, 0),
    }
    given |= {"W_K'": K[0], "W_V'": V[0], "d_k": d, "d_v": d, "h": h, "n": n, "d_model": width}
    found = theorem(of_row("multi-query"))
    powers = np.exp(np.stack([X @ one @ (X @ K[0]).T for one in W_Q]) / np.sqrt(d))
    wanted = np.concatenate(powers / powers.sum(2, keepdims=True) @ (X @ V[0]), axis=1)
    for side in found.sides(given):
        assert agree(side, wanted)


@pytest.mark.parametrize(
    "name", ["jacobian", "log-sum-exp", "gradient-values", "gradient-scores", "gradient-keys"]
)
def test_derivatives_are_read_back(name: str) -> None:
    """What a theorem says that the derivatives are they are in numbers; another matrix is not."""
    found = theorem(of_row(name))
    assert found.sign == "slope"
    random = np.random.default_rng(3)
    letters = {
        one: random.normal(size=[{"n": 2, "m": 3, "1%N": 1}.get(size, 4) for size in shape])
        for one, kind in found.variables.items()
        if (shape := Theorem._shape(kind))
    }
    known = found.known(letters)
    assert all(found.obeyed(known).values())
    left, right = found.sides(known)
    assert agree(left, right)
    assert not agree(left, 2 * right)


def test_the_reader_can_tell_statements_apart() -> None:
    row = next(row for row in STATEMENTS if row.text == "softmax(S + c 1^T) = softmax(S)")
    assert read_back(row, theorem_of(row))
    other = Statement(row.text, True, lambda S, c: (S, S), row.letters, row.options)
    with pytest.raises(AssertionError):
        read_back(other, theorem_of(other))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shift", "separate: Σ_t e^(s_it + c_i) = e^(c_i) Σ_t e^(s_it)"),
        ("mask-deletes", "[[0, if l ≤ m], [−∞, otherwise]] = 0"),
        ("permutation-equivariance", "delta: Σ_u Σ_q δ_u,π(s) x_uq w^K_ql = Σ_u x_π(s),u w^K_ul"),
    ],
)
def test_formulas_stand_beside_the_steps(name: str, said: str) -> None:
    proof = of_row(name).partition("Proof.\n")[2]
    comments = re.findall(r"\(\* (.*?) \*\)", proof)
    assert [one for one in comments if one.startswith(said)]
    assert not [one for one in comments if re.search(r"#|k'|\b_", one)]


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
        ("rotary-orthogonal", 4, "an even size has no proof in Rocq yet"),
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


def checked(file: Path, *more: str, status: int) -> list[str]:
    """The last lines that are said of the certificates in a file."""
    done = run("prove", file, *more, status=status)
    return [line.strip() for line in done.stdout.splitlines()]


@pytest.mark.nightly
def test_it_is_said_what_stands_behind_an_answer(tmp_path: Path, tool: Tool) -> None:
    tool("coqc")
    file = tmp_path / "proofs.json"
    rows = [json.loads(json.dumps({"certificate": prove(identity(name)).equality.certificate}))
            for name in ("shift", "rotary-orthogonal")]  # fmt: skip
    found = {"verdict": "equal", "certificate": None, "statement": "A = B"}
    file.write_text(json.dumps([*rows, found]), encoding="utf-8")
    assert checked(file, status=0)[-2:] == ["A = B", "found: it has no certificate"]
    lines = checked(file, "--format", "rocq", status=4)
    stands = [line for line in lines if re.match("(found|replayed|accepted|not accepted)", line)]
    assert stands == [
        "accepted by Rocq: equal (for all sizes)",
        "replayed: equal (for all sizes, where both sides are defined)",
        "not accepted by Rocq: an even size has no proof in Rocq yet",
        "found: it has no certificate",
    ]


def test_a_machine_without_rocq_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert asked([of_row("shift")], 60) == ["there is no coqc"]


@pytest.mark.nightly
def test_a_theorem_that_stands_on_more_is_not_accepted(tool: Tool) -> None:
    tool("coqc")
    text = of_row("shift")
    admitted = text.replace("same_sizes k'entry.\nQed.", "Admitted.")
    assumed = text.replace("Section Statement.", "Axiom wrong : False.\nSection Statement.")
    assumed = assumed.replace("same_sizes k'entry.", "exact: (False_ind _ wrong).")
    other = text.replace("= softmax e S.", "= softmax e (S + S).")
    plain, *others = asked([text, admitted, assumed, other], 300)
    assert plain == ""
    assert others[:2] == ["it stands on axioms"] * 2
    assert others[2] != ""


def test_a_comment_cannot_be_left() -> None:
    data = json.loads(json.dumps(prove(identity("shift")).equality.certificate))
    data["statement"]["letters"].append(["*) Axiom wrong : False. (*", "n × n"])
    text = exported(data)
    assert text.count("*)") == text.count("(*")
    assert "*) Axiom" not in text
