"""Work is metered while it is done: every command ends in time, with one line and status 4."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sympy

from symattn import Attention, check, document, equal
from symattn.algebra.kinds import storable
from symattn.arithmetic.balls import BALLS
from symattn.budget import Spent, Stopped, limited, spend, within
from symattn.cli import COMMANDS
from symattn.cli.help import Explained
from symattn.errors import Undecided
from tests import within_seconds
from tests.command import run
from tests.shares import share


def endless(*_: object, **__: object) -> None:
    """Work that keeps whatever is raised to itself, as long as it is an `Exception`."""
    while True:
        with suppress(Exception):  # as a search does that goes on with the next candidate
            sum(range(100))


# ---- the meter -------------------------------------------------------------------------------


def test_work_stops_in_time_whatever_it_does() -> None:
    words = r"^not finished in 0\.2 s of processor time; .* with --x$"
    with within_seconds(2), pytest.raises(Spent, match=words), limited("--x", 0.2):
        endless()
    assert issubclass(Spent, Undecided)


def test_work_is_stopped_though_a_finalizer_keeps_the_first_word_to_itself(
    capfd: pytest.CaptureFixture[str],
) -> None:
    kept: list[str] = []

    class Slow:
        def __del__(self) -> None:
            try:
                endless()
            except Stopped:
                kept.append("the first")
                raise  # which Python drops here

    with pytest.raises(Spent), limited("--x", 0.2):
        Slow()
        endless()
    assert kept == ["the first"]
    assert capfd.readouterr().err == ""


def test_what_else_is_dropped_in_a_finalizer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", lambda dropped: told.append(dropped.exc_value))
    ours, mine = Stopped(), KeyError("mine")

    class Failing:
        def __init__(self, raised: BaseException) -> None:
            self.raised = raised

        def __del__(self) -> None:
            raise self.raised

    with limited("--x", 60.0):
        Failing(ours)
        Failing(mine)
    assert told == [mine]


def test_work_that_ends_is_left_alone() -> None:
    for _ in range(20):
        with limited("--x", 0.05, time.monotonic):
            sum(range(1000))
    deadline = time.monotonic() + 0.3
    while time.monotonic() < deadline:  # nothing comes after the block
        sum(range(1000))
    with limited("--x", None):
        sum(range(1000))


def test_the_inner_budget_is_spent_before_the_outer_one() -> None:
    with limited("outer", 60.0):
        with pytest.raises(Spent, match="with inner"), limited("inner", 0.1):
            endless()
        sum(range(1000))
    with pytest.raises(Spent, match="with outer"), limited("outer", 0.1), limited("inner", 60.0):
        endless()


@pytest.mark.parametrize("seconds", [5, 0.1])
def test_a_debugger_goes_on_after_a_budget(seconds: float) -> None:
    code = f"""
import sys
from symattn.budget import Spent, limited
try:
    with limited("--timeout", {seconds}):
        while {seconds} < 1:
            pass
except Spent:
    pass
def outer():
    kept = 1
    return lambda: kept
sys.settrace(lambda *_: None)
assert outer()() == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_fails_inside_is_told_as_it_is() -> None:
    with pytest.raises(KeyError), limited("--x", 60.0):
        raise KeyError("mine")


def test_a_budget_works_in_any_thread() -> None:
    told: list[str] = []

    def work() -> None:
        try:
            with limited("--x", 0.1, time.monotonic):
                endless()
        except Spent as spent:
            told.append(str(spent))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert told == ["not finished in 0.1 s; leave something out, or allow more with --x"]


def test_a_product_that_nothing_could_interrupt_is_not_begun() -> None:
    big = np.broadcast_to(np.array(BALLS.scalar(sympy.S.One), dtype=object), (20_000, 20_000))
    with within_seconds(2), pytest.raises(Spent, match="not finished in 5 s"), limited("--x", 5.0):
        BALLS.matmul(big, big)


def test_steps_are_counted_only_where_they_are_limited() -> None:
    spend(10**9)
    with pytest.raises(Spent, match="within 3 steps"), within(3):
        for _ in range(4):
            spend()


def test_python_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symattn.budget.SECONDS", 0.0)
    values = Attention().derivation().evaluate(Q=[[1]], K=[[1], [0]], V=[[2], [4]])
    assert "weights" in document(values, "md")
    assert check("[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]\n[claims]\nweights=[[1]]\n").passed


# ---- commands --------------------------------------------------------------------------------

#: Commands that do their work in a process of its own where a limit is asked for.
APART = ("check", "render", "verify")

#: What the other commands with a budget do within it.
WORK = {
    "derive": "symattn.cli.derive.jobs_of",
    "exercise": "symattn.cli.exercise._write_together",
    "mark": "symattn.cli.mark._preview",
    "prove": "symattn.cli.prove._show",
}


def command(name: str) -> Explained:
    found = getattr(import_module(COMMANDS[name]), name)
    assert isinstance(found, Explained)
    return found


ARGUMENTS: dict[str, tuple[str, ...]] = {
    "derive": ("causal",),
    "exercise": ("causal",),
    "mark": ("exercise.toml",),
    "prove": ("shift",),
}


@pytest.mark.parametrize("name", WORK)
def test_every_command_stops_after_its_timeout(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORK[name], endless)
    words = ARGUMENTS.get(name, ())
    with within_seconds(20):
        result = run(name, *words, "--timeout", "0.2", status=4)
    assert result.stderr.count("\n") == 1
    assert "not finished in 0.2 s; leave something out, or allow more with --timeout" in (
        result.stderr
    )


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_that_works_long_has_the_option(name: str) -> None:
    is_long = name in (*APART, *WORK)
    assert is_long == any("--timeout" in parameter.opts for parameter in command(name).params)
    if not is_long:
        return
    assert "--timeout" in run(name, "--help").output
    for wrong in ("0", "-1", "nan", "inf", "soon"):
        assert run(name, "--timeout", wrong).exit_code == 2


@pytest.mark.parametrize("name", ["derive", "prove"])
def test_without_a_timeout_processor_time_is_limited(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symattn.budget.SECONDS", 0.2)
    monkeypatch.setattr(WORK[name], endless)
    words = ARGUMENTS.get(name, ())
    result = run(name, *words, status=4)
    assert "not finished in 0.2 s of processor time" in result.stderr
    assert "--timeout 120" in result.stderr


def sheet(path: Path, tokens: int) -> str:
    rows = repr([[(3 * i + 2 * j) % 5 - 2 for j in range(8)] for i in range(tokens)])
    given = "".join(f"{name} = {rows}\n" for name in "QKV")
    claims = f"[claims]\nscores = {[[0] * tokens] * tokens}\n"
    path.write_text(f"[attention]\nmask = 'causal'\n[given]\n{given}{claims}", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("words", [("check",), ("derive", "--full")])
def test_a_file_is_stopped_as_well(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symattn.budget.SECONDS", 0.3)
    result = run(*words, sheet(tmp_path / "large.toml", 120), status=4)
    assert "not finished in 0.3 s of processor time" in result.stderr
    assert result.stderr.count("\n") == 1


def test_large_work_can_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symattn.budget.SECONDS", 1e-9)
    words = ("derive", "causal", "--size", "tokens=2", "--view", "value")
    assert run(*words).exit_code == 4
    assert run(*words, "--timeout", "300").exit_code == 0


@pytest.mark.parametrize("words", ["endless causal", "endless attention", "attention endless"])
def test_a_program_that_does_not_end_is_stopped(words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    endless = "def endless(q, k, v):\n    while True: pass\n"
    path.write_text(f"def attention(q, k, v): return v\n{endless}", encoding="utf-8")
    one, other = words.split()
    other = other if other == "causal" else f"{path}:{other}"
    found = run("prove", f"{path}:{one}", other, "--timeout", "1", status=4)
    assert "not finished in 1 s" in " ".join(found.stdout.split())
    assert "It agrees" not in found.stdout


# ---- proofs ----------------------------------------------------------------------------------


def test_a_proof_too_large_to_be_kept_is_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symattn.algebra.kinds.MOST_VALUES", 100)
    answer = equal("softmax(S + c 1^T) = softmax(S)")
    assert answer and answer.certified
    assert storable(answer.certificate) is None
    target = tmp_path / "proof.json"
    result = run("prove", "shift", "--format", "certificate", "-o", target, status=0)
    assert result.stderr == "no certificate is written: it is too large to be read again\n"
    assert not target.exists()
    result = run("prove", "softmax(S + c 1^T) = softmax(S)", "--format", "json")
    assert json.loads(result.stdout)["certificate"] is None


def test_what_was_not_replayed_is_not_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    def replayed(data: object) -> None:
        spend(10**9)

    monkeypatch.setattr("symattn.algebra.equality.replayed", replayed)
    answer = equal("softmax(S + c 1^T) = softmax(S)")
    assert not answer and not answer.certified
    assert answer.verdict == "undecided"
    assert "--effort 10" in answer.hint


@pytest.mark.parametrize(
    "statement",
    share(
        [
            "(A+B)^64 = (B+A)^64",
            "(A+B)^12 = (B+A)^12",
            "rowsum((A+B)^12) = rowsum((B+A)^12)",
            "tr((A+B+C)^6) = tr((C+B+A)^6)",
        ],
        4,
        0,
    ),
)
def test_products_of_sums_are_decided_or_not_in_seconds(statement: str) -> None:
    with within_seconds(60):  # a bound for work that never ends, not for how long it takes
        answer = equal(statement)
    assert answer.verdict in ("equal", "holds at the sizes tried", "undecided")


@pytest.mark.parametrize("name", ["cosine", "hopfield", "multi-query"])
def test_a_name_of_an_identity_and_of_an_attention_reaches_both(name: str) -> None:
    assert run("prove", name).exit_code == 0
    assert "equal" in run("prove", name, name).output
    assert run("prove", "causal").exit_code == 2
