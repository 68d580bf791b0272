"""Every misconception, made in plain NumPy on an attention it applies to, is named first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from symattn.mistakes import MISCONCEPTIONS
from symattn.mistakes.explanations import cannot_tell
from symattn.mistakes.habits import HABITS
from symattn.reports.check import check_worksheet
from symattn.reports.results import Marking
from symattn.sheets.worksheet import worksheet_of
from tests.benchmarks.explaining_rates import (
    explained,
    known,
    named,
    random_rows,
)
from tests.checking import check, toml, verdicts
from tests.mistakes.normed import CASES as NORMED
from tests.mistakes.single import BIAS, CASES, MASK, USUAL, Array, D, K, Q, V, Ways, work
from tests.oracle import softmax
from tests.positions import frequencies, turned, waves
from tests.rows import every_one_has_a_row
from tests.shares import share


def way(ways: Ways, name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
    """What is done in one place."""
    return ways.get(name, usual)


def spelled(values: Array, places: int = 3) -> Any:
    """Rounded decimals as text, −∞ as such."""
    if np.ndim(values):
        return [spelled(part, places) for part in values]
    return "-inf" if np.isneginf(values) else f"{values:.{places}f}"


def exactly(values: Array) -> Any:
    """Numbers that are given, with all their digits."""
    return np.vectorize(lambda x: repr(float(x)), otypes=[object])(values).tolist()


def names(found: Marking) -> list[str]:
    return [explanation.name for explanation in found.explanations]


@pytest.mark.parametrize("name", share(CASES, 2))
def test_a_mistake_in_one_head_is_named_first(name: str) -> None:
    attention, ways, given = CASES[name]
    table = dict(zip("QKV", map(exactly, given), strict=True))
    if "bias" in attention:
        table["bias"] = exactly(BIAS)
    right = {step: spelled(value) for step, value in work(attention, {}, given).items()}
    found = check(table, right, attention, explain=True)
    assert {v for listed in verdicts(found).values() for v in listed} <= {"right", "rounded-early"}
    assert found.explanations == ()
    claims = {step: spelled(value) for step, value in work(attention, ways, given).items()}
    found = check(table, claims, attention, explain=True)
    assert found.first_wrong is not None
    assert names(found)[:1] == [name]
    assert found.explanations[0].whole
    assert all("+" not in other for other in names(found))


# ---- projections, positions and heads ---------------------------------------------------------

X = np.array([[1.0, 0, 2, 1], [0, 3, 1, -1], [2, 1, 0, 1]])
W = {
    "W_Q": np.array([[1.0, 0, 1, 2], [0, 1, -1, 0], [1, 1, 0, 1], [0, 2, 1, 0]]),
    "W_K": np.array([[0.0, 1, 1, 0], [1, 0, 0, 1], [-1, 1, 2, 0], [1, 0, 1, 1]]),
    "W_V": np.array([[2.0, 1, 0, 3], [1, 0, 1, 0], [0, 4, 1, 1], [1, 1, 0, 2]]),
    "W_O": np.array([[1.0, 2, 0, 0], [0, 1, 3, 0], [1, 0, 1, 1], [0, 1, 0, 2]]),
}
HEADS = 2


def split(x: Array) -> Array:
    """(n, h·d) to (h, n, d)."""
    return np.moveaxis(x.reshape(len(x), HEADS, -1), 1, 0)


def join(heads: Array) -> Array:
    """(h, n, d) to (n, h·d)."""
    return np.moveaxis(heads, 0, 1).reshape(heads.shape[1], -1)


def work_heads(ways: Ways) -> dict[str, Array]:
    """The steps of multi-head attention from X on, every head's matrices side by side."""
    project = way(ways, "project", lambda x, w: x @ w)
    q, k, v = (way(ways, "split", split)(project(X, W[name])) for name in ("W_Q", "W_K", "W_V"))
    out = {"Q": q, "K": k, "V": v, "scores": q @ k.swapaxes(1, 2)}
    out["scaled"] = out["scores"] / way(ways, "root", lambda: np.sqrt(2))()
    out["weights"] = softmax(out["scaled"])
    out["heads"] = out["weights"] @ v
    out["concat"] = way(ways, "join", join)(out["heads"])
    out["projected"] = way(ways, "last", lambda c, w: c @ w)(out["concat"], W["W_O"])
    return out


def single(
    x: Array, w: Mapping[str, Array], ways: Ways, placed: Array | None = None
) -> dict[str, Array]:
    """Self-attention with one head, from X or from X with positions."""
    x = x if placed is None else placed
    out = {
        name[-1]: way(ways, "project", lambda x, w: x @ w)(x, w[name])
        for name in ("W_Q", "W_K", "W_V")
    }
    out["scores"] = out["Q"] @ out["K"].T
    out["scaled"] = out["scores"] / way(ways, "root", lambda: np.sqrt(out["Q"].shape[1]))()
    out["weights"] = softmax(out["scaled"])
    out["output"] = out["weights"] @ way(ways, "values", lambda v: v)(out["V"])
    return out


def grouped(order: list[int]) -> dict[str, Array]:
    """The steps of four query heads, each with the key and value head of this number."""
    q, k, v = GROUPED.values()
    scores = q @ k[order].swapaxes(1, 2)
    a = softmax(scores / np.sqrt(D))
    return {"scores": scores, "scaled": scores / np.sqrt(D), "weights": a, "heads": a @ v[order]}


def from_scores(**other: Array) -> dict[str, Array]:
    """The steps from scores on that are not scaled, some of them otherwise."""
    z = Q @ K.T
    return {"weights": softmax(z), **other}


def padded(weights: Array) -> dict[str, Array]:
    """Scores, and what comes of these weights."""
    return {"scores": Q @ K.T, "weights": weights, "output": weights @ V}


NARROW = {key: value[:, :3] for key, value in W.items()}
PROJECTED = ("W_Q", "W_K", "W_V")
TOKENS = {"X": X, **{key: W[key] for key in PROJECTED}}
TURNED = {"Q": X, "K": X[::-1] + 1, "V": V}
GROUPED = {
    "Q": np.stack([Q, Q + 1, Q[::-1], Q - 1]),
    "K": np.stack([K, K[::-1] * 2]),
    "V": np.stack([V, V[::-1] + 1]),
}
_Z, _TOP = Q @ K.T, (Q @ K.T).max(1, keepdims=True)
_POWERS, _LOW = np.exp(_Z), np.exp(_Z - _TOP)
_SUMS, _LOW_SUMS = _POWERS.sum(1, keepdims=True), _LOW.sum(1, keepdims=True)


def with_heads(**ways: Callable[..., Any]) -> tuple[dict[str, Any], ...]:
    """Two heads, of which something is done otherwise."""
    return {"heads": HEADS}, {"X": X, **W}, work_heads({}), work_heads(ways)


def with_weights(**other: Array) -> tuple[dict[str, Any], ...]:
    """One head with other weights of a projection."""
    return {}, TOKENS, single(X, W, {}), single(X, W | other, {})


def rotated(pairing: str) -> dict[str, Array]:
    """The steps after a rotation."""
    q, k = (turned(TURNED[name], 10000, 4, pairing) for name in "QK")
    return work({}, {}, (q, k, V))


def stepwise(scaling: dict[str, Any], **wrong: Any) -> tuple[dict[str, Any], ...]:
    """Rotations by steps, of which something is done otherwise."""
    theta = frequencies(4, 10000, {}, 3)[0]
    scaled, factor = frequencies(4, 10000, scaling, 3)

    def steps(scaled: Array = scaled, q: float = factor, k: float = factor) -> dict[str, Array]:
        angles = np.outer(np.arange(3), scaled)
        turns = np.exp(1j * angles)
        pairs = (TURNED[name][:, ::2] + 1j * TURNED[name][:, 1::2] for name in "QK")
        both = ((each * turns).view(float) for each in pairs)
        made = {"frequencies_scaled": scaled[None], "query_angles": angles, "key_angles": angles}
        return made | work({}, {}, (q * next(both), k * next(both), V))

    otherwise = {key: value(theta) for key, value in wrong.items()}
    return {"positions": {"rotary": {"scaling": scaling}}}, TURNED, steps(), steps(**otherwise)


#: Scalings: all frequencies, and the slow ones only, with an attention factor.
LINEAR = {"rope_type": "linear", "factor": 4}
YARN = {
    **{"rope_type": "yarn", "factor": 4, "ramp": "rotations", "beta_fast": 8},
    "original_max_position_embeddings": 32,
}


def placed(positions: Array) -> dict[str, Array]:
    """The steps of tokens with positions."""
    return {"placed": X + positions} | single(X, W, {}, X + positions)


#: Where more than one head without projections is needed: what attention, what is given, the steps
#: as they should be and as they are.
OTHERS: dict[str, tuple[dict[str, Any], ...]] = {
    "output-projection-transposed": with_heads(last=lambda c, w: c @ w.T),
    "split-by-reshape": with_heads(split=lambda x: x.reshape(HEADS, len(x), -1)),
    "merged-by-reshape": with_heads(join=lambda heads: heads.reshape(heads.shape[1], -1)),
    "heads-reversed": with_heads(join=lambda heads: join(heads[::-1])),
    "query-key-weights-exchanged": with_weights(W_Q=W["W_K"], W_K=W["W_Q"]),
    "keys-from-W_V": with_weights(W_K=W["W_V"]),
    "keys-from-W_Q": with_weights(W_K=W["W_Q"]),
    "values-from-W_K": with_weights(W_V=W["W_K"]),
    "values-from-W_Q": with_weights(W_V=W["W_Q"]),
    "queries-from-W_K": with_weights(W_Q=W["W_K"]),
    "queries-from-W_V": with_weights(W_Q=W["W_V"]),
    "projection-transposed": (
        *with_weights()[:3],
        single(X, W, {"project": lambda x, w: x @ w.T}),
    ),
    "tokens-as-values": (*with_weights()[:3], single(X, W, {"values": lambda v: X})),
    "scaled-by-d_model": (
        {},
        {"X": X, **{key: NARROW[key] for key in PROJECTED}},
        single(X, NARROW, {}),
        single(X, NARROW, {"root": lambda: 2}),
    ),
    "positions-from-1": (
        {"positions": "sinusoidal"},
        TOKENS,
        placed(waves(np.arange(3), 4)),
        placed(waves(np.arange(1, 4), 4)),
    ),
    "no-positions": (
        {"positions": "sinusoidal"},
        TOKENS,
        placed(waves(np.arange(3), 4)),
        placed(np.zeros((3, 4))),
    ),
    "other-rotary-pairs": (
        {"positions": "rotary"},
        TURNED,
        rotated("interleaved"),
        rotated("half"),
    ),
    "frequencies-not-scaled": stepwise(LINEAR, scaled=lambda theta: theta),
    "frequencies-multiplied": stepwise(LINEAR, scaled=lambda theta: 4 * theta),
    "all-frequencies-scaled": stepwise(YARN, scaled=lambda theta: theta / 4),
    "kept-shares-exchanged": stepwise(
        YARN, scaled=lambda theta: theta * 1.25 - frequencies(4, 10000, YARN, 3)[0]
    ),
    "attention-factor-left-out": stepwise(YARN, q=lambda _: 1, k=lambda _: 1),
    "attention-factor-once": stepwise(YARN, q=lambda _: 1),
    "groups-tiled": (
        {"heads": 4, "kv_heads": 2},
        GROUPED,
        grouped([0, 0, 1, 1]),
        grouped([0, 1, 0, 1]),
    ),
    "exponentials-not-shifted": (
        {"scale": False},
        {"scores": _Z},
        from_scores(row_max=_TOP, exp=_LOW, exp_sum=_LOW_SUMS),
        from_scores(row_max=_TOP, exp=_POWERS, exp_sum=_SUMS),
    ),
    **NORMED,
}


@pytest.mark.parametrize("name", share(OTHERS, 2))
def test_a_mistake_elsewhere_is_named_first(name: str) -> None:
    attention, given, right, wrong = OTHERS[name]
    table = {key: exactly(value) for key, value in given.items()}
    right, wrong = ({step: spelled(x) for step, x in made.items()} for made in (right, wrong))
    assert check(table, right, attention).first_wrong is None
    found = check(table, wrong, attention, explain=True)
    assert names(found) == [name]
    assert found.explanations[0].whole


@pytest.mark.parametrize("root", [np.sqrt(4), 2])  # of all heads, or d_k: d_model is 4, so is h·d_k
def test_scales_that_are_the_same_number_are_not_told_apart(root: float) -> None:
    attention, given, _, wrong = with_heads(root=lambda: root)
    claims = {step: spelled(value) for step, value in wrong.items()}
    table = {key: exactly(value) for key, value in given.items()}
    found = check(table, claims, attention, explain=True)
    assert {"scaled-by-all-heads", "scaled-by-d_k", "scaled-by-d_model"} == set(names(found))
    assert "do not distinguish" in found.notes[-1]


def test_exponentials_with_the_maximum_taken_off() -> None:
    claims = {k: spelled(v) for k, v in from_scores(exp=_LOW, exp_sum=_LOW_SUMS).items()}
    assert check({"scores": exactly(_Z)}, claims).passed  # every row says which it means
    claims["exp"][0][0] = "?"
    found = check({"scores": exactly(_Z)}, claims, explain=True)
    assert names(found) == ["exponentials-shifted"]


def test_a_padding_mask_on_the_queries_is_named() -> None:
    weights = softmax(Q @ K.T / np.sqrt(D))
    weights[2] = 1 / 3
    claims = {step: spelled(value) for step, value in padded(weights).items()}
    sheet = "[attention]\nmask = {padding = 2}\n" + toml(given_usual(), claims, {})
    assert names(check_worksheet(worksheet_of(sheet))) == ["mask-on-queries"]


REACHED = {
    *CASES,
    *OTHERS,
    "mask-on-queries",
    "scaled-by-all-heads",
    "exponentials-shifted",
}


def test_every_misconception_is_reached() -> None:
    home = "CASES of tests/mistakes/single.py (or REACHED of test_explanations.py)"
    names = [row.name for row in MISCONCEPTIONS]
    every_one_has_a_row(names, REACHED, home, "the mistake, made in NumPy")
    for row in MISCONCEPTIONS:
        assert row.instead and row.source and row.tell.endswith(".")
    for habit in HABITS:
        assert habit.instead and habit.source and habit.tell.endswith(".")


@pytest.mark.parametrize(
    ("scaled", "weights", "first"),
    [(4, 1, "not-scaled"), (1, 4, "softmax-over-columns + entry-not-scaled")],
)
def test_of_partial_explanations_the_one_with_more_evidence_is_named(
    scaled: int, weights: int, first: str
) -> None:
    """Scores that are not scaled, a softmax over columns of the scaled ones, outputs from nowhere.

    Neither explains the other; the one whose numbers were written with more digits is named.
    """
    scores = Q @ K.T
    claims = {
        "scaled": spelled(scores, scaled),
        "weights": spelled(softmax(scores / np.sqrt(D), 0), weights),
        "output": [["7.13", "1.91", "9.77"], ["5.31", "2.22", "8.19"], ["3.47", "6.05", "4.44"]],
    }
    found = check(dict(zip("QKV", map(exactly, USUAL), strict=True)), claims, {}, explain=True)
    assert names(found) == [first]
    assert not found.explanations[0].whole


def test_the_broadcast_bug_and_the_invented_softmax_are_told_from_honest_rounding() -> None:
    ratio = {"scale": False, "normaliser": "sum"}
    given = {"scores": [[1, 3], [2, 6]]}
    bug = check(given, {"weights": [["0.25", "0.375"], ["0.5", "0.75"]]}, ratio, explain=True)
    assert names(bug) == ["row-sums-along-columns"]
    assert (
        check(
            given, {"weights": [["0.3", "0.8"], ["0.2", "0.7"]]}, ratio, explain=True
        ).explanations
        == ()
    )
    logits = {"scores": [["4.2", "0.1", "0.5", "2.5", "-1.5"]]}
    scaled = {"scaled": ["2.1", "0.05", "0.25", "1.25", "-0.75"]}
    attention = {"d_k": 4}
    fabricated = {**scaled, "weights": ["0.45", "0.1", "0.15", "0.2", "0.1"]}
    found = check(logits, fabricated, attention, explain=True)
    assert names(found) == ["invented"]
    assert not found.explanations[0].whole
    for honest in (["0.56", "0.07", "0.09", "0.24", "0.03"], ["0.6", "0.1", "0.1", "0.2", "0.0"]):
        assert (
            check(logits, {**scaled, "weights": honest}, attention, explain=True).explanations == ()
        )


def test_a_forced_last_digit_is_told() -> None:
    given = {"scores": [[0, 1, "1/2"]]}  # 0.186, 0.506, 0.307
    found = check(given, {"weights": ["0.186", "0.506", "0.308"]}, explain=True)
    assert names(found) == ["last-digit-forced"]
    found = check(given, {"weights": ["0.187", "0.506", "0.308"]}, explain=True)
    assert names(found) == []
    # 2.72/5.37 = 0.507: whoever keeps e^z with two decimals forces nothing
    assert check(given, {"weights": ["0.186", "0.507", "0.307"]}, explain=True).passed


# ---- slips ---------------------------------------------------------------------------------------


def given_usual() -> dict[str, Any]:
    return dict(zip("QKV", map(exactly, USUAL), strict=True))


def claimed(ways: Ways, attention: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {step: spelled(value) for step, value in work(attention or {}, ways).items()}


def told(found: Marking) -> list[str]:
    """What is said to be done instead, part by part, of the first explanation."""
    return [part.instead for part in found.explanations[0].misconceptions]


#: Step, row, column, what is written there, and how that is explained.
SLIPS: tuple[tuple[str, int, int, Callable[[dict[str, Any]], str], str, str], ...] = (
    (
        "output",
        0,
        1,
        lambda c: f"{float(c['output'][0][1]) - 0.533 * 8:.3f}",
        "dropped-term",
        "output[1,2]: the term 0.533·8 is missing",
    ),
    (
        "output",
        0,
        0,
        lambda c: f"{float(c['output'][0][0]) + 0.299 * 7:.3f}",
        "term-twice",
        "output[1,1]: the term 0.299·7 is added twice",
    ),
    (
        "output",
        2,
        2,
        lambda c: f"{float(c['output'][2][2]) - 2 * 0.92 * 2:.3f}",
        "sign-of-a-term",
        "output[3,3]: the term 0.920·2 has the wrong sign",
    ),
    ("scaled", 0, 1, lambda c: "-" + c["scaled"][0][1], "sign", "scaled[1,2] has the wrong sign"),
    ("scaled", 2, 0, lambda c: "5.000", "entry-not-scaled", "scaled[3,1] is not divided by √3"),
    (
        "output",
        1,
        0,
        lambda c: c["output"][2][0],
        "copied-entry",
        "output[2,1] holds the number of output[3,1]",
    ),
    (
        "output",
        1,
        0,
        lambda c: c["output"][1][0][0] + "." + c["output"][1][0][3:1:-1] + c["output"][1][0][4],
        "swapped-digits",
        "output[2,1]: two digits are exchanged",
    ),
    ("weights", 2, 0, lambda c: c["weights"][0][2], "row-for-column", "belongs to weights[1,3]"),
    (
        "weights",
        1,
        2,
        lambda c: f"{np.exp(2.887):.3f}",
        "entry-not-divided",
        "weights[2,3] is e^2.887, not divided by the sum",
    ),
)


@pytest.mark.parametrize(("step", "row", "column", "number", "name", "said"), SLIPS)
def test_a_slip_is_named_with_its_entry_and_numbers(
    step: str, row: int, column: int, number: Callable[..., str], name: str, said: str
) -> None:
    claims = claimed({})
    claims[step][row][column] = number(claims)
    found = check(given_usual(), claims, {}, explain=True)
    assert names(found)[0] == name
    assert said in told(found)[0]
    assert found.explanations[0].bits > 4.3


@pytest.mark.parametrize(
    ("operand", "claim", "said"),
    [
        ("2.5725", "5.273", "two digits are exchanged, 5.273 for 2.573"),  # rounded up
        ("2.5725", "5.272", "two digits are exchanged, 5.272 for 2.572"),  # cut off
        ("2.5735", "5.274", "two digits are exchanged, 5.274 for 2.574"),
        ("-2.5725", "-5.273", "two digits are exchanged, −5.273 for −2.573"),
        ("2.57249", "5.273", "two digits are exchanged, 5.273 for 2.573"),  # a unit too high
        ("2.5725", "2.973", "one digit is misread, 2.973 for 2.573"),
        ("2.5725", "2.972", "one digit is misread, 2.972 for 2.572"),
    ],
)
def test_digits_are_quoted_as_they_were_written(operand: str, claim: str, said: str) -> None:
    found = check({"Q": [[operand]], "K": [[1]]}, {"scores": claim}, explain=True)
    assert told(found) == [f"scores[1,1]: {said}"]


@pytest.mark.parametrize(
    ("rows", "invented"),
    [
        ([["0.15", "0.60", "0.25"], ["0.40", "0.40", "0.20"]], True),
        ([["0.15", "0.60", "0.25"], ["0.40", "0.40", "0.30"]], False),  # one row does not
        ([["0.15", "0.60", "0.25"], ["0.42", "0.51", "0.27"]], False),  # nor this, with one wrong
        ([["0.15", "0.60", "0.25"], ["0.37", "0.45", "0.15"]], False),
        ([["0.15", "0.60", "0.25"], ["0.38", "0.46", "0.17"]], True),  # 1.01, within its rounding
        ([["1", "0", "0"], ["0", "0", "0"]], False),  # whole numbers that may sum to anything
    ],
)
def test_weights_are_called_invented_where_every_row_sums_to_1(
    rows: list[list[str]], invented: bool
) -> None:
    given = {"scores": [["0.769", "-1.14", "1.741"], ["1.819", "2.01", "0.458"]]}
    found = check(given, {"weights": rows}, explain=True)
    assert (names(found) == ["invented"]) is invented


_HIDDEN = -np.inf
_SEEN = {
    "causal": np.where(np.tri(3) == 1, 0, _HIDDEN),
    "window": np.where(np.abs(np.subtract.outer(range(3), range(3))) <= 1, 0, _HIDDEN),
    "a row with nothing to attend to": np.array([[0, 0, _HIDDEN], [_HIDDEN] * 3, [0, 0, 0]]),
}


@pytest.mark.parametrize("first", ["scores", "masked"])
@pytest.mark.parametrize("mask", _SEEN.values(), ids=_SEEN)
def test_a_plain_ratio_is_one_of_what_a_query_may_see(mask: Array, first: str) -> None:
    """So are scores that are taken as weights, in place of which NaN would be tried."""
    scores = np.array([[2.0, 1, 1], [1, 3, 1], [2, 1, 5]])
    seen = np.where(np.isfinite(mask), scores, 0)
    total = seen.sum(axis=-1, keepdims=True)
    ratio = np.divide(seen, total, out=np.zeros_like(seen), where=total != 0)
    table = {"scores": exactly(scores), "mask": exactly(mask), "V": exactly(V)}
    attention: dict[str, Any] = {"scale": False, "mask": "additive"}
    if first == "masked":
        table, attention = {"masked": exactly(scores + mask), "V": exactly(V)}, {}
    for step, value, name in (
        ("weights", ratio, "ratio"),
        ("output", seen @ V, "scores-as-weights"),
    ):
        found = check(table, {step: spelled(value)}, attention, explain=True)
        assert names(found) == [name], step


def test_weights_are_not_called_invented_where_a_formula_has_no_number() -> None:
    rows = [["0.15", "0.60", "0.25"], ["0.40", "0.40", "0.20"]]
    for first, told in (("1.141", True), ("1.140", False)):  # 1.14 − 1.14 has no ratio
        given = {"scores": [[first, "-1.140", "0"], ["1.819", "2.01", "0.458"]]}
        assert (names(check(given, {"weights": rows}, explain=True)) == ["invented"]) is told


def test_an_entry_that_is_not_masked() -> None:
    claims = claimed({}, MASK)
    claims["masked"][0][2] = claims["scaled"][0][2]
    found = check(given_usual(), claims, MASK, explain=True)
    assert names(found) == ["entry-not-masked"]


def test_exchanged_and_copied_numbers() -> None:
    claims = claimed({})
    first, second, third = claims["output"]
    claims["output"] = [[first[1], first[0], first[2]], second, third]
    found = check(given_usual(), claims, {}, explain=True)
    assert told(found) == ["output[1,1] and output[1,2] are exchanged"]
    claims["output"] = [second, second, third]
    found = check(given_usual(), claims, {}, explain=True)
    assert told(found) == ["output[1,:] holds the numbers of output[2,:]"]
    claims["output"] = [second, first, third]
    found = check(given_usual(), claims, {}, explain=True)
    assert told(found) == ["rows 1 and 2 of output are exchanged"]


def test_the_numbers_of_another_step() -> None:
    claims = claimed({})
    claims["scores"] = claims.pop("scaled")
    found = check(given_usual(), claims, {}, explain=True)
    assert told(found) == ["scores holds the numbers of scaled"]
    assert found.explanations[0].whole
    claims["scores"][0][0] = "0.123"  # which is no step's
    assert "other-step" not in names(check(given_usual(), claims, {}, explain=True))


def test_a_number_that_was_misread() -> None:
    misread = V.copy()
    misread[1, 2] = -4
    ways: Ways = {"output": lambda a, q, k, v: a @ misread}
    found = check(given_usual(), claimed(ways), {}, explain=True)
    assert told(found) == ["output is worked out with V[2,3] = −4 instead of 4"]
    scores = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]]) * (np.sqrt(D) - 1) + 1
    ways = {"weights": lambda z: softmax(z * scores)}
    found = check(given_usual(), claimed(ways), {}, explain=True)
    assert "scaled[2,3] = 5 (not divided by √3) instead of 2.887" in told(found)[0]


def test_other_logits_are_told_from_the_weights() -> None:
    given = {"scores": [["0.3", "-1.2", "1.4", "0.9", "0.1"]]}
    other = np.array([[0.3, -1.2, 0.7, 0.9, 0.1]])
    found = check(given, {"weights": spelled(softmax(other), 4)}, explain=True)
    assert names(found) == ["other-logit"]
    assert "weights[1,:] belong to scores[1,3] = 0.7 rather than 1.4" in told(found)[0]
    short = check({"scores": [[0, "1.4"]]}, {"weights": ["0.33", "0.67"]}, explain=True)
    assert names(short) == ["invented"]  # any two weights belong to some logit
    assert "would belong to scores[1,2] = 0.7 rather than 1.4" in told(short)[0]


def test_a_slip_after_a_misconception_and_before() -> None:
    ways: Ways = {"scaled": lambda s: s}
    claims = claimed(ways)
    claims["output"][0][1] = f"{float(claims['output'][0][1]) - 0.665 * 8:.3f}"
    found = check(given_usual(), claims, {}, explain=True)
    assert names(found) == ["not-scaled + dropped-term"]
    assert found.explanations[0].whole
    assert told(found)[1] == "output[1,2]: the term 0.665·8 is missing"
    claims = claimed(
        {
            "output": lambda a, q, k, v: a.T @ v,
            "scaled": lambda s: np.where(s == 4, 4, s / np.sqrt(D)),
        }
    )
    found = check(given_usual(), claims, {}, explain=True)
    assert names(found) == ["weights-transposed + entry-not-scaled"]


def test_a_misconception_in_one_row_only() -> None:
    def shares(z: Array) -> Array:
        right = softmax(z)
        right[1] = softmax(softmax(z))[1]
        return right

    found = check(given_usual(), claimed({"weights": shares}), {}, explain=True)
    assert names(found) == ["softmax-twice"]
    assert told(found) == ["in row 2 only: the softmax is applied twice"]
    assert found.explanations[0].whole


def test_what_is_right_speaks_against_a_misconception() -> None:
    """One entry that a misconception gives is no sign of it where the others are right."""
    claims = claimed({})
    claims["weights"][0][0] = claimed(CASES["softmax-over-columns"][1])["weights"][0][0]
    found = check(given_usual(), claims, {}, explain=True)
    assert "softmax-over-columns" not in names(found)


# ---- evidence ------------------------------------------------------------------------------------


def test_random_rows_are_not_explained() -> None:
    found = explained(random_rows(np.random.default_rng(3), 3), 30)
    assert found["any"] - found["invented"] <= 2


@pytest.mark.parametrize(
    ("kind", "least"), [("swapped-digits", 12), ("entry-not-scaled", 12), ("sign", 9)]
)
def test_most_slips_are_named(kind: str, least: int) -> None:
    _, right, _ = named(np.random.default_rng(11), kind, 3, 15)
    assert right >= least


def test_most_misconceptions_and_pairs_are_named() -> None:
    total, hits, missed = known(np.random.default_rng(5), 1, most=24)
    assert total >= 16
    assert hits >= total - 1, missed


def test_symmetric_scores_hide_the_axis() -> None:
    given = {"scores": [[1, 2], [2, 1]], "V": [[1, 0], [0, 1]]}
    down = softmax(np.array([[1.0, 2], [2, 1]]), 0)
    assert check(given, {"weights": spelled(down)}).first_wrong is None
    lost = check(
        given, {"output": spelled(np.array([[0.7311, 0.2689], [0.2689, 0.7311]]))}, explain=True
    )
    assert len(names(lost)) != 1
    assert cannot_tell(lost.explanations) == tuple(
        n for n in lost.notes if "do not distinguish" in n
    )


def weights_only(claims: str) -> Marking:
    """The marking of claims on the weights of two keys."""
    given = "[given]\nQ = [[1, 0], [2, -1]]\nK = [[1, 2], [0, 1]]\nV = [[1, 4], [2, -3]]\n"
    return check_worksheet(worksheet_of(f"{given}[claims]\n{claims}\n"))


@pytest.mark.parametrize("fraction", ["1/3", "1/2", "½", "2/3", "1/4"])
def test_a_simple_fraction_alone_is_hardly_evidence(fraction: str) -> None:
    """As many hypotheses give 1/2 or 1/3 as there are simple fractions."""
    assert names(weights_only(f'"weights[1,1]" = "{fraction}"')) == []


def test_one_entry_of_an_invented_row_is_no_slip() -> None:
    given = {"Q": [[1, 0], [0, 1], [1, 1]], "K": [[1, 0], [0, 1], [1, 1]], "V": np.eye(3).tolist()}
    invented = [["0.49", "0.39", "0.12"], ["?"] * 3, ["?"] * 3]
    found = check(given, {"weights": invented}, {}, explain=True)
    assert names(found) == ["invented"]


def test_many_near_hypotheses_leave_room_for_the_one_that_fits() -> None:
    """Where the softmax is saturated, several misconceptions come near; one gives every digit."""
    given = {
        "X": [[0, 2, -1], [2, 2, 2], [2, 1, 1]],
        "W_Q": [[-1, -1], [0, 1], [-1, -1]],
        "W_K": [[1, 1], [-1, 2], [2, 0]],
        "W_V": [[2, 1], [-1, -1], [1, 2]],
    }
    claims = {
        "weights": [
            ["0.993", "0.003", "0.003"],
            ["0.997", "0.000", "0.003"],
            ["1.000", "0.000", "0.000"],
        ],
        "output": [["-2.951", "-3.948"], ["-2.976", "-3.976"], ["-3.000", "-4.000"]],
    }
    found = check(given, claims, MASK, explain=True)
    assert names(found) == ["masked-to-0"] and found.explanations[0].whole
