"""`equal` against statements whose truth NumPy confirms, and against random pairs.

The whole corpus is asked by ``python -m tests.fuzz.corpus``, thousands of pairs by
``python -m tests.fuzz.pairs``; here are samples.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from symattn import SymattnError, equal
from tests import oracle
from tests.fuzz.asking import OUTCOMES, Judged, ask, asked, table
from tests.fuzz.corpus import question
from tests.fuzz.pairs import pair, questions, truth
from tests.fuzz.terms import (
    DIGITS,
    Loose,
    anchored,
    drawn,
    letter,
    letters,
    ones,
    product,
    turned,
    value,
)
from tests.oracle import KINDS, TOGETHER, Statement, agree, judge
from tests.statements import STATEMENTS, TELLING


def test_there_are_enough_statements_of_both_kinds() -> None:
    true = sum(row.holds for row in STATEMENTS)
    assert len(STATEMENTS) >= 420
    assert 0.4 < true / len(STATEMENTS) < 0.6
    said = [(row.text, row.holds, repr(row.options)) for row in STATEMENTS]
    assert len({*said}) == len(said)


@pytest.mark.parametrize("holds", [True, False])
def test_numpy_confirms_every_truth(holds: bool) -> None:
    wrong = [row.text for row in STATEMENTS if row.holds is holds and judge(row) is not holds]
    assert not wrong


def test_a_wrong_label_is_noticed() -> None:
    row = STATEMENTS[0]
    assert judge(row)
    assert not judge(Statement(row.text, True, lambda S: (S, 2 * S)))


def test_no_true_statement_is_only_undefined() -> None:
    """Numbers that are NaN agree with everything; most draws of each statement have values."""
    for row in STATEMENTS:
        for one in row.draws(1, 3) if row.holds else ():
            names = inspect.signature(row.sides).parameters
            with np.errstate(all="ignore"):
                sides = row.sides(**{name: one[name] for name in names})
            assert all(np.isfinite(np.asarray(x, float)).mean() > 0.25 for x in sides), row.text


# ---- what is drawn satisfies the hypotheses ----------------------------------------------------


def _letters(kind: str, *dims: int) -> Iterator[Any]:
    random = np.random.default_rng(7)
    for _ in range(40):
        yield {**KINDS, **TOGETHER}[kind](random, *dims)


LAWS: dict[str, tuple[tuple[int, ...], Any]] = {
    "orthonormal": ((5, 3), lambda R: agree(R.T @ R, np.eye(3))),
    "permutation": ((4,), lambda P: agree(P @ P.T, np.eye(4)) and {*P.ravel()} == {0, 1}),
    "symmetric": ((3,), lambda A: agree(A, A.T)),
    "skew": ((3,), lambda A: agree(A, -A.T)),
    "projection": ((4,), lambda A: agree(A @ A, A)),
    "reflection": ((4,), lambda A: agree(A @ A, np.eye(4))),
    "nilpotent": ((4,), lambda A: agree(A @ A, 0 * A) and not agree(A, 0 * A)),
    "unitrows": ((3, 4), lambda A: agree(oracle.norm2(A), np.ones((3, 1)))),
    "stochastic": ((3, 4), lambda A: agree(A @ np.ones((4, 1)), np.ones((3, 1)))),
    "centred": ((3, 4), lambda A: agree(oracle.rowsum(A), np.zeros((3, 1)))),
    "commuting": ((3,), lambda M: agree(M[0] @ M[1], M[1] @ M[0])),
    "chain": (
        (3,),
        lambda M: agree(M[0] @ M[1], M[1] @ M[0]) and agree(M[1] @ M[2], M[2] @ M[1]),
    ),
    "inverses": ((3,), lambda M: agree(M[0] @ M[1], np.eye(3))),
    "sameproducts": ((3,), lambda M: agree(M[0] @ M[1], M[0] @ M[2]) and not agree(M[1], M[2])),
    "nullproduct": ((3,), lambda M: agree(M[0] @ M[1], 0 * M[0]) and not agree(M[1], 0 * M[0])),
    "similar": ((3,), lambda M: agree(M[0] @ M[1], M[1] @ M[2])),
}


@pytest.mark.parametrize("kind", LAWS)
def test_what_is_drawn_satisfies_its_hypothesis(kind: str) -> None:
    dims, law = LAWS[kind]
    assert all(law(matrices) for matrices in _letters(kind, *dims))


def test_commuting_pairs_are_drawn_on_their_degenerate_branches() -> None:
    """B = c I has to occur, or what follows only there from A B = B A would pass for general."""
    pairs = list(_letters("commuting", 3))
    scalar = [agree(B, B[0, 0] * np.eye(3)) for _, B in pairs]
    assert any(scalar)
    assert not all(scalar)


# ---- the table can fail ------------------------------------------------------------------------


def _liar(verdict: str, scope: str = "for all sizes") -> Any:
    class Answer(SimpleNamespace):
        def __bool__(self) -> bool:
            return bool(self.verdict == "equal")

        def __str__(self) -> str:
            return "as planted"

    def decide(_text: str, **_options: Any) -> Any:
        return Answer(verdict=verdict, scope=scope)

    return lambda text, options: ask(text, options, decide)


def test_a_verdict_that_lies_is_caught() -> None:
    rows = [question(row) for row in STATEMENTS[::10]]
    judged = [*asked(rows, _liar("equal"))]
    false = [one for one in judged if not one.everywhere]
    assert [one for one in judged if one.falsely_equal] == false != []
    assert f"falsely equal: {len(false)}" in table(judged)
    judged = [*asked(rows, _liar("different", ""))]
    assert [one for one in judged if one.falsely_different] == [x for x in judged if x.holds] != []


def test_what_holds_at_its_sizes_alone_is_no_proof_for_all() -> None:
    row = next(row for row in STATEMENTS if row.text.startswith("rowsum(V) = 2") and row.holds)
    assert row.options["sizes"]["d_v"] == 2
    one = question(row)
    assert one.holds
    assert not one.everywhere
    ((everywhere), (given)) = (
        next(asked([one], _liar("equal", scope)))
        for scope in ("for all sizes", "at the sizes given: m = 3, d_v = 2")
    )
    assert everywhere.falsely_equal
    assert not given.falsely_equal


def test_other_errors_than_ours_are_tracebacks() -> None:
    def broken(_text: str, **_options: Any) -> Any:
        raise RecursionError("deep")

    outcome = ask("A = A", {}, broken)
    assert outcome.kind == "traceback"
    assert "RecursionError" in table([Judged("A = A", {}, True, True, outcome)])
    assert {ask("A = ) B", {}).kind, outcome.kind} <= {*OUTCOMES}
    assert ask("A = ) B", {}).kind == "refused"


# ---- samples -----------------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=[
        ("statements", 36),
        ("pairs", 25),
        pytest.param(("statements", 1), marks=pytest.mark.nightly),
        pytest.param(("pairs", 600), marks=pytest.mark.nightly),
    ],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def sampled(request: pytest.FixtureRequest) -> list[Judged]:
    """Every so many of the statements, or so many random pairs, asked."""
    kind, count = request.param
    rows = map(question, STATEMENTS[::count]) if kind == "statements" else questions(count, 7)
    return list(asked(rows, ask))


def test_a_sample_is_judged_rightly(sampled: list[Judged]) -> None:
    """Nothing false is said, nothing escapes but our errors, and most of what is true is proven."""
    wrong = [one for one in sampled if one.falsely_equal or one.falsely_different]
    wrong += [one for one in sampled if one.outcome.kind == "traceback"]
    assert not wrong, "\n".join(map(str, wrong))
    true = [one for one in sampled if one.holds]
    assert sum(one.outcome.equal for one in true) > 0.5 * len(true)


def test_a_statement_of_each_kind_is_judged_rightly() -> None:
    rows = [row for row in STATEMENTS if row.text in TELLING]
    assert {row.text for row in rows} == {*TELLING}
    judged = [*asked(map(question, rows), ask)]
    wrong = [one for one in judged if one.falsely_equal or one.falsely_different]
    assert not [str(one) for one in wrong]
    assert not [str(one) for one in judged if one.outcome.kind == "traceback"]
    assert {one.outcome.kind for one in judged} >= {"equal, all sizes", "different", "refused"}


# ---- random pairs ------------------------------------------------------------------------------


def test_numpy_and_sixty_digits_agree_on_a_term() -> None:
    """The two arithmetics of the fuzzer's oracle, written apart, give the same numbers."""
    compared = 0
    for seed in range(60):
        try:
            term = pair(seed)[0]
        except Loose:
            continue
        sizes = {"n": 2, "m": 3, "p": 4, "r": 5, "w": 6}
        given = drawn(letters(term), sizes, np.random.default_rng(seed), 0.5)
        exact = {name: DIGITS.array(x) for name, x in given.items()}
        with np.errstate(all="ignore"):
            left, right = value(term, given, sizes), value(term, exact, sizes, DIGITS)
        assert agree(left, right.astype(float)), str(term)
        compared += 1
    assert compared > 20


def test_truth_tells_a_slip_from_a_law() -> None:
    A, B = letter("A", "n", "n"), letter("B", "n", "n")
    assert truth(turned(product(A, B)), product(turned(B), turned(A)), 1) is True
    assert truth(turned(product(A, B)), product(turned(A), turned(B)), 1) is False


def test_a_size_that_cannot_be_read_is_noticed() -> None:
    with pytest.raises(Loose):
        anchored(product(turned(ones("n")), ones("n")))


@pytest.mark.parametrize(
    "text",
    [
        "RMSNorm(X, gain=g)",
        "softmax(S, beta=2)",
        "rotary(Q, base=500)",
        "softmax(S + causal(start=2))",
    ],
)
def test_an_option_is_not_dropped(text: str) -> None:
    with pytest.raises(SymattnError, match="has no meaning in a statement"):
        equal(text, re.sub(r"(?:, )?\w+=\w+", "", text))
