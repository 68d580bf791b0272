"""Recurrences and their parallel forms: proven by induction over the tokens, refuted by numbers.

More are drawn by ``python -m tests.fuzz.recurrences``.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symattn import derivation, equal
from symattn.algebra.certificate import check
from symattn.algebra.claims import Goal
from symattn.algebra.forms import Refused
from symattn.algebra.rocq.asking import asked as asked_of_rocq
from symattn.algebra.rocq.files import exported
from symattn.algebra.rocq.terms import identifier
from symattn.cli import main
from symattn.nodes.arguments import symbol_of_size
from tests.conftest import Tool
from tests.fuzz.recurrences import (
    DECAYS,
    SLIPS,
    TERMS,
    Drawn,
    asked,
    certificates,
    changed,
    judged_apart,
    numbers,
    outcomes,
    sizes_of,
)
from tests.fuzz.traces import forged
from tests.oracle import agree
from tests.replaying import accepts, verdict
from tests.rocq import Theorem, theorem
from tests.shares import share

Made = dict[str, Any]

LINEAR = "S[0] = 0; S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]"
PARALLEL = "D[i,j] = 1 if j <= i else 0; O = (Q K^T ∘ D) V"

DELTA_RULE = (
    "S[0] = 0; S[t] = S[t-1] - K[t]^T (K[t] S[t-1]) + K[t]^T V[t]; O = S[n]",
    "S[0] = 0; S[t] = (I - K[t]^T K[t]) S[t-1] + K[t]^T V[t]; O = S[n]",
)

#: Decays, terms and whether a start is given; each slip in one of them.
PROVEN = [
    *(Drawn(decay, "plain", True, False, "none") for decay in DECAYS),
    *(Drawn("gate", term, False, False, "none") for term in TERMS),
    Drawn("none", "kernel", False, True, "none"),
    Drawn("vector", "plain", False, True, "none"),
]
REFUTED = [Drawn("gate", "plain", True, False, slip) for slip in SLIPS[1:]]


@pytest.mark.parametrize("one", PROVEN, ids=str)
def test_a_recurrence_is_its_parallel_form_for_all_sizes(one: Drawn) -> None:
    assert one.holds()
    assert asked(one) == "equal"


@pytest.mark.parametrize("one", REFUTED, ids=lambda one: one.slip)
def test_a_slip_is_refuted_by_numbers(one: Drawn) -> None:
    assert not one.holds()
    assert asked(one) == "different"


@pytest.mark.parametrize(
    ("recurrence", "otherwise"),
    [
        ("c[0] = 0; c[t] = c[t-1] + X[t]; O[t,:] = c[t]", "C[i,j] = 1 if j <= i else 0; O = C X"),
        ("X : n × d; c[0] = 0; c[t] = c[t-1] + X[t]; O = c[n]", "X : n × d; O = colsum(X)"),
        (  # a causal prefix: later tokens have no say in the first p rows
            "A : p × d; B : r × d; X = [A; B]; c[0] = 0; c[t] = c[t-1] + X[t]; R[t,:] = c[t]; "
            "O = R[1:p,:]",
            "A : p × d; c[0] = 0; c[t] = c[t-1] + A[t]; O[t,:] = c[t]",
        ),
    ],
    ids=["running sums", "the last state", "prefix"],
)
def test_running_sums(recurrence: str, otherwise: str) -> None:
    answer = equal(derivation(recurrence), derivation(otherwise))
    assert answer.summary == "equal (for all sizes)"
    check(json.loads(json.dumps(answer.certificate)))


#: Two recurrences that make the same states, which have no closed form.
SAME = {
    "a factor of any sign": (
        "S[0] = 0; S[t] = γ S[t-1] + V[t]; O = S[n]",
        "T[0] = 0; T[t] = V[t] + T[t-1] γ; O = T[n]",
    ),
    "the delta rule": DELTA_RULE,
    "no linear function": (
        "S_0 : 1 × d_v; S[t] = tanh(S[t-1] + V[t]); O[t,:] = S[t]",
        "S_0 : 1 × d_v; S[t] = tanh(V[t] + S[t-1]); O[t,:] = (S[t] + S[t]) / 2",
    ),
}


def both(texts: tuple[str, str]) -> Any:
    """What is answered of two recurrences over V and K."""
    return equal(*(derivation("V : n × d_v; K : n × d_k; " + text) for text in texts))


@pytest.mark.parametrize("name", SAME)
def test_two_recurrences_make_the_same_states(name: str) -> None:
    answer = both(SAME[name])
    assert answer.summary == "equal (for all sizes)"
    certificate = json.loads(json.dumps(answer.certificate))
    check(certificate)
    assert accepts(certificate)
    with pytest.raises(Refused, match=r"states without a closed form|two recurrences that"):
        exported(certificate)
    last = [step for step in certificate["proof"]["steps"] if step["rule"] == "induction"][-1]
    last["closed"][1][1] = "U"  # states of its own
    changed_ = forged(certificate)
    assert verdict(changed_)[0] == "refused"
    with pytest.raises(Refused):
        check(changed_)


@pytest.mark.parametrize(
    ("other", "verdict_"),
    [("(I + K[t]^T K[t]) S[t-1]", "different"), ("(I - K[t]^T K[t]) S[t-1] / 1", "equal")],
)
def test_a_slip_in_one_of_them_is_refuted(other: str, verdict_: str) -> None:
    one, two = DELTA_RULE
    assert both((one, two.replace("(I - K[t]^T K[t]) S[t-1]", other))).verdict == verdict_


#: What a state is made of, twice, and whether that is the same: wrong tokens, transposes, signs.
MADE = [
    ("g[t] S[t-1] + K[t]^T V[t]", "K[t]^T V[t] + S[t-1] g[t]", True),
    ("g[t] S[t-1] + K[t]^T V[t]", "(g[t] S[t-1]^T + V[t]^T K[t])^T", True),
    ("g[t] S[t-1] + K[t]^T V[t]", "g[t] S[t-1]^T + K[t]^T V[t]", False),
    ("g[t] S[t-1] + K[t]^T V[t]", "g[1] S[t-1] + K[t]^T V[t]", False),
    ("g[t] S[t-1] + K[t]^T V[t]", "g[t] S[t-1] + V[t]^T K[t]", False),
    ("S[t-1] + K[t]^T (V[t] - K[t] S[t-1])", "(I - K[t]^T K[t]) S[t-1] + K[t]^T V[t]", True),
    ("S[t-1] + K[t]^T (V[t] - K[t] S[t-1])", "S[t-1] (I - K[t]^T K[t]) + K[t]^T V[t]", False),
    ("S[t-1] + K[t]^T (V[t] - K[t] S[t-1])", "S[t-1] + K[t]^T (V[t] - K[1] S[t-1])", False),
]


@pytest.mark.parametrize(("one", "other", "same"), MADE)
def test_two_bodies_are_told_apart(one: str, other: str, same: bool) -> None:
    sized = "K : n × d; V : n × d; g : n × 1; S[0] = 0; "
    texts = (f"{sized}S[t] = {body}; O[t,:] = K[t] S[t]" for body in (one, other))
    answer = equal(*map(derivation, texts))
    assert answer.verdict == ("equal" if same else "different")
    assert bool(answer.certificate) is same


def test_what_has_no_closed_form_is_undecided() -> None:
    texts = [
        f"S[0] = 0; S[t] = {body}; O = S[n]" for body in ("S[t-1] / γ + V[t]", "V[t] + S[t-1] / γ")
    ]
    answer = both((texts[0], texts[1]))
    assert answer.verdict == "undecided"
    assert "no closed form of S was found" in answer.reason


def test_derivatives_beside_states_of_their_own_are_refused() -> None:
    """Of states without a closed form nothing is known of how they depend on letters."""
    certificate = json.loads(json.dumps(both(SAME["the delta rule"]).certificate))
    value = ["MatMul", ["letter", "V", "1", "1"], ["letter", "V", "1", "1"]]
    for side in ("left", "right"):
        certificate["statement"][side]["expr"] = ["Slope", value, ["letter", "V", "1", "1"]]
    with pytest.raises(Refused):
        check(forged(certificate))


def test_a_proof_names_the_induction() -> None:
    answer = equal(derivation(LINEAR), derivation(PARALLEL))
    assert answer.exposition is not None
    (chain,) = answer.exposition.chains
    reasons = [words for line in chain.lines for words in line.reasons]
    assert ("by induction over the tokens, from the first to the last",) in reasons


# ---- theorems of Rocq ------------------------------------------------------------------------


def test_a_theorem_is_written(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.eq", "two.eq", "out.v")]
    for path, text in zip(files, (LINEAR, PARALLEL), strict=False):
        path.write_text(text)
    one, two, out = map(str, files)
    result = CliRunner().invoke(main, ["prove", one, two, "--format", "rocq", "-o", out])
    assert result.exit_code == 0
    (state,) = (one for one in theorem(files[2].read_text()).hypotheses if "recurs" in one)
    assert state == (
        "recurs S (0 : 'M[R]_(d_k, d_v)) "
        "(fun head before => before + (((token K head)^T) *m (token V head)))"
    )


def theorem_and_claim(one: Drawn) -> tuple[Theorem, Goal]:
    """The theorem of a pair, read back, and what it was asked for."""
    certificate = equal(*map(derivation, one.texts), positive=one.positive).certificate
    data = json.loads(json.dumps(certificate))
    return theorem(exported(data)), check(data)


def says(found: Theorem, claim: Goal) -> bool:
    """Whether a theorem says what a claim does, in numbers at the sizes 1 to 3."""
    for tokens, width in itertools.product((1, 2, 3), repeat=2):
        sizes = {one: 1 + (width + k) % 3 for k, one in enumerate(sizes_of(claim))}
        values, sides = numbers(claim, sizes | {symbol_of_size("n"): tokens})
        known = found.known({identifier(name): value for name, value in values.items()})
        assert all(found.obeyed(known).values())
        if not all(map(agree, found.sides(known), sides)):
            return False
    return True


#: What has no theorem yet.
POWERS = ("half", "constant")


@pytest.mark.parametrize(
    "one", share([one for one in PROVEN if one.decay not in POWERS], 4), ids=str
)
def test_a_theorem_says_what_was_asked(one: Drawn) -> None:
    if one.normalised:
        with pytest.raises(Refused, match="a division in each head or token has no proof in Rocq"):
            theorem_and_claim(one)
        return
    found, claim = theorem_and_claim(one)
    assert says(found, claim)
    hypotheses = [one.replace("token V head", "token V 0%N") for one in found.hypotheses]
    assert not says(dataclasses.replace(found, hypotheses=hypotheses), claim)


@pytest.mark.nightly
@pytest.mark.parametrize("one", [PROVEN[0], PROVEN[3]], ids=str)
def test_rocq_accepts_an_induction(one: Drawn, tool: Tool) -> None:
    tool("coqc")
    left, right = map(derivation, one.texts)
    data = json.loads(json.dumps(equal(left, right, positive=one.positive).certificate))
    text = exported(data)
    last = text.replace("token V head", "token V 0%N", 1)
    assert [bool(why) for why in asked_of_rocq([text, last], 300)] == [False, True]


# ---- what the checker refuses ----------------------------------------------------------------


def made(left: str = LINEAR, right: str = PARALLEL) -> Made:
    """A certificate, as it comes out of a file."""
    one, two = derivation(left), derivation(right)
    return json.loads(json.dumps(equal(one, two).certificate))  # type: ignore[no-any-return]


def _induction(certificate: Made) -> Made:
    return next(step for step in certificate["proof"]["steps"] if step["rule"] == "induction")


def test_another_closed_form_is_refused() -> None:
    certificate = made()
    assert accepts(certificate)
    step = _induction(certificate)
    step["closed"] = ["MatMul", "2", step["closed"]]
    changed_ = forged(certificate)
    with pytest.raises(Refused, match="the difference is not 0"):
        check(changed_)
    assert verdict(changed_)[0] == "refused"


def test_a_closed_form_has_a_value_for_all_inputs() -> None:
    certificate = made()
    step = _induction(certificate)
    size, letter = ["size", "n"], ["letter", "K", ["size", "n"], ["size", "d_k"]]
    entry = ["Split", ["Transpose", ["Split", letter, "0", size, "0"]], "0", ["size", "d_k"], "0"]
    quotient = ["NumberQuotient", ["NumberTimes", entry, step["closed"]], entry]
    step["closed"] = quotient
    with pytest.raises(Refused, match="a closed form divides by what may be 0"):
        check(certificate)
    assert "a closed form that may be undefined" in verdict(certificate)[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("later", "made of another state than the one before it"),
        ("itself", "made of itself, or of a later step"),
        ("within", "a recurrence is a step, and the state before stands only in its own"),
        ("start", "made of another state than the one before it"),
        ("outside", "S has no state that is known to stand there"),
    ],
)
def test_what_is_no_recurrence_is_refused(change: str, words: str) -> None:
    certificate = made()
    side = certificate["statement"]["left"]
    (_, recurrence), (_, output) = side["steps"]
    before = recurrence[1][1]
    match change:
        case "later":
            before[5] = "1"
        case "itself":
            recurrence[1][1] = output[1][2]
        case "within":
            side["steps"].insert(1, ["T", ["MatMul", "2", recurrence]])
        case "start":
            recurrence[4] = copy.deepcopy(before)
        case "outside":
            output[1][2][2] = ["Add", ["index", "head"], "1"]
            side["expr"] = copy.deepcopy(output)
    with pytest.raises(Refused, match=words):
        check(certificate)
    assert verdict(certificate)[0] == "refused"


def test_two_sides_may_call_a_state_the_same() -> None:
    """The left S has a decay, the right one has none."""
    slow = LINEAR.replace("S[t-1]", "S[t-1] / 2")
    assert equal(derivation(slow), derivation(LINEAR)).verdict == "different"


@pytest.mark.parametrize("count", [20, pytest.param(4000, marks=pytest.mark.nightly)])
def test_no_changed_certificate_proves_what_is_false(count: int) -> None:
    found = [*outcomes(changed(certificates(), count, 3))]
    assert not [made for _, became, made in found if became == "false"]
    assert not [made for _, _, made in found if judged_apart(made)]
    assert sum(became == "refused" for _, became, _ in found) > count // 2
