"""Values that must come out exactly: ties, means, masks, symbols, what is read, what is refused."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, Evaluation, Notation, SymattnError
from symattn import text as plain


def evaluated(spec: dict[str, Any] | None = None, **told: Any) -> Evaluation:
    """The evaluation of an attention with these inputs; the scores are not scaled unless asked."""
    return Attention(**({"scale": False} | (spec or {}))).derivation(given=told).evaluate(**told)


def one(value: Any) -> Evaluation:
    """An evaluation whose only score is this number."""
    return evaluated(Q=[[value]], K=[[1]], V=[[1]])


def shown(evaluation: Evaluation, name: str, digits: int, rounding: Any = "half-up") -> list[str]:
    """The first row of a step in decimals."""
    notation = Notation(digits=digits, rounding=rounding)
    columns = range(evaluation[name].shape[-1])
    return [evaluation[name].digits((0, column), notation).text for column in columns]


# ---- ties --------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [0, "1/3", "sqrt(2)", "-1e4", "ln 7", "pi"])
def test_two_equal_keys_share_alike(score: Any) -> None:
    equal = evaluated(Q=[[score]], K=[[1], [1]], V=[["0.05"], ["0.2"]])
    assert equal["weights"].exact == sympy.Matrix([[1, 1]]) / 2
    assert shown(equal, "weights", 0) == ["1", "1"]
    assert shown(equal, "weights", 0, "half-even") == ["0", "0"]
    assert equal["weights"].decimals(4) == [["0.5", "0.5"]]
    assert shown(equal, "output", 2) == ["0.13"]
    assert shown(equal, "output", 2, "half-even") == ["0.12"]
    assert equal["output"].digits((0, 0), Notation(digits=3)).exact


@pytest.mark.parametrize(
    ("one_key", "other"),
    [
        ("(1+sqrt(2))^2", "3+2sqrt(2)"),
        ("sqrt(6)", "sqrt(2)*sqrt(3)"),
        ("ln 6", "ln 2 + ln 3"),
        ("ln 4", "2 ln 2"),
    ],
)
def test_scores_that_are_equal_but_written_otherwise(one_key: str, other: str) -> None:
    equal = evaluated(Q=[[1]], K=[[one_key], [other]], V=[[1], [2]])
    assert equal["weights"].decimals(4) == [["0.5", "0.5"]]
    assert shown(equal, "output", 0) == ["2"]
    assert shown(equal, "weights", 0, "half-even") == ["0", "0"]


# ---- exact values ------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [{"padding": 0}, "additive", "boolean"])
def test_a_row_with_nothing_to_attend_to_is_exactly_zero(mask: Any) -> None:
    told: dict[str, Any] = {"Q": [[1]], "K": [[2], [3]], "V": [[4], [5]]}
    told |= {"mask": [["-inf", float("-inf")]]} if mask == "additive" else {}
    told |= {"allowed": [[False, 0]]} if mask == "boolean" else {}
    nothing = evaluated({"mask": mask}, **told)
    assert nothing["weights"].array.tolist() == [[0.0, 0.0]]
    assert nothing["output"].decimals(3) == [["0"]]
    assert nothing["output"].balls[0, 0].is_zero()


def test_symbols_have_exact_values_and_no_others() -> None:
    a, b = sympy.symbols("a b")
    told = {"Q": sympy.Matrix([[a, 1]]), "K": sympy.Matrix([[1, 0], [0, b]]), "V": [[1], [2]]}
    symbolic = evaluated({"scale": "1/2"}, **told)
    assert symbolic["scaled"].exact == sympy.Matrix([[a, b]]) / 2
    total = sympy.exp(a / 2) + sympy.exp(b / 2)
    wanted = sympy.Matrix([[sympy.exp(a / 2) / total, sympy.exp(b / 2) / total]])
    assert sympy.simplify(symbolic["weights"].exact - wanted) == sympy.zeros(1, 2)
    assert symbolic["output"].exact.subs({a: 0, b: 0}) == sympy.Matrix([[sympy.Rational(3, 2)]])
    for ask in ("balls", "array"):
        with pytest.raises(SymattnError, match="a: no number was given for it"):
            getattr(symbolic["weights"], ask)
    with pytest.raises(SymattnError, match="ask for the exact values"):
        symbolic["output"].decimals()
    with pytest.raises(SymattnError, match="no number was given"):
        symbolic.check()


# ---- what is read ------------------------------------------------------------------------------

TENTHS = sympy.Matrix([[sympy.Rational(1, 10), -2]])


@pytest.mark.parametrize(
    "given_as",
    [
        [[0.1, -2]],
        ((0.1, -2),),
        [["1/10", "−2.0"]],
        [["1e-1", "-sqrt(4)"]],
        [[Decimal("0.1"), Decimal(-2)]],
        [[Fraction(1, 10), Fraction(-2)]],
        [[np.float32(0.1), np.int8(-2)]],
        np.array([[0.1, -2]]),
        np.array([[0.1, -2]], dtype=np.float32),
        sympy.Rational(1, 10) * np.array([[1, -20]]),
        np.array([["1/10", np.int64(-2)]], dtype=object),
        np.array([[0.1, -2]], dtype=np.float16),
        np.array([[Fraction(1, 10), "-2"]], dtype=object),
        sympy.Matrix([[sympy.Rational(1, 10), -2]]),
        sympy.ImmutableMatrix([[0.1, -2]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_number_however_it_is_written(given_as: Any) -> None:
    read = evaluated(Q=[[1]], K=[[1]], V=given_as)
    assert read["output"].exact == TENTHS
    assert read["V"].decimals(3) == [["0.1", "-2"]]
    assert read["output"].array.tolist() == [[0.1, -2.0]]


# ---- what is refused ---------------------------------------------------------------------------

ONE = [[1]]
TWO: dict[str, Any] = {"Q": ONE, "K": [["1/2"], [1000]], "V": [[1], [2]]}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"Q": ONE, "K": ONE}, "V is not given; this derivation needs Q, K, V"),
        ({"Q": ONE, "K": ONE, "V": ONE, "q": ONE}, '"q" is not an input.*did you mean "Q"?'),
        ({"Q": ONE, "K": ONE, "V": ONE, "W_O": ONE}, '"W_O" is not an input.*known: Q, K, V'),
        ({"Q": [[1, "x"]], "K": [[1, 2]], "V": ONE}, r"Q\[1,2\]: .x. cannot be read"),
        ({"Q": [[1], [1, 2]], "K": ONE, "V": ONE}, "row 1 has 1 entry, row 2 has 2 entries"),
        ({"Q": [1], "K": ONE, "V": ONE}, "Q: .* levels of brackets are needed"),
        ({"Q": [["-inf"]], "K": ONE, "V": ONE}, "−∞ has no meaning in Q"),
        ({"Q": [[True]], "K": ONE, "V": ONE}, "True is not a number; only a mask"),
    ],
)
def test_inputs_that_cannot_be_used(told: dict[str, Any], message: str) -> None:
    with pytest.raises(SymattnError, match=message) as error:
        Attention().derivation().evaluate(**told)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "told", "message"),
    [
        ({}, {"Q": [[1, 2]], "K": [[1, 2, 3]], "V": ONE}, "K: .*1 × 3.* Q .*1 × 2.*d_k = 2"),
        ({}, {"Q": ONE, "K": ONE, "V": [[1], [2]]}, "V: .*2 × 1.* K .*1 × d_v.*m = 1"),
        ({"mask": "additive"}, TWO | {"mask": [[0, 0, 0]]}, "mask: .*1 × 3.* K .*1 × 2.*m = 2"),
        (
            {},
            {"X": [[1, 2]], "W_Q": [[1], [2]], "W_K": ONE, "W_V": [[1], [2]]},
            "W_K: .*1 × 1.* X .*2 × 1.*d_model = 2",
        ),
        ({"heads": 1}, TWO | {"W_O": [[1], [2], [3]]}, "W_O: .*3 × 1.*1 × d_out.*d_v = 1"),
        (
            {"heads": "h"},
            {"Q": [ONE] * 2, "K": [ONE], "V": [ONE]},
            "K: .*1 × 1 × 1.* Q .*2 × 1 × 1",
        ),
        ({"heads": 2}, TWO | {"Q": [[1, 2, 3]]}, "3 columns cannot be shared evenly by 2 heads"),
        ({"heads": "h"}, TWO, "give one matrix for each head"),
    ],
)
def test_shapes_that_do_not_fit(spec: Any, told: dict[str, Any], message: str) -> None:
    with pytest.raises(SymattnError, match=message):
        evaluated(spec, **told)


def test_scores_alone_do_not_tell_d_k() -> None:
    alone = evaluated({"scale": True}, scores=[[2, 0]])
    refusal = "^scaled: the input does not determine d_k; give it, e.g. d_k = 64$"
    for ask in ("exact", "array", "balls"):
        with pytest.raises(SymattnError, match=refusal):
            getattr(alone["weights"], ask)
    told = Attention().derivation(given=["scores"], sizes={"d_k": 4}).evaluate(scores=[[2, 0]])
    assert told["scaled"].exact == sympy.Matrix([[1, 0]])
    assert evaluated(scores=[[2, 0]])["weights"].decimals(3) == [["0.881", "0.119"]]


# ---- what once went wrong ----------------------------------------------------------------------


def test_exact_values_beside_a_huge_exponential_warn_of_nothing() -> None:
    told = {"Q": ONE, "K": [["1/2"], [1000], [0]], "V": [[1], [2], [3]]}
    assert evaluated({"mask": {"padding": 2}}, **told)["weights"].exact[0, 2] == 0


def test_a_decimal_very_near_a_binary_fraction_is_not_exact() -> None:
    top = pow(5**40, -1, 2**96)
    answer = one(Fraction(top, 2**136))["scores"].digits((0, 0), Notation(digits=40))
    assert Fraction(answer.text) == Fraction((top * 5**40 - 1) // 2**96, 10**40)
    assert not answer.exact


def test_a_tie_that_a_very_tiny_weight_tips_over_is_proven() -> None:
    tipped = evaluated(Q=[[20_000]], K=[[1], [0]], V=[["0.5"], [0]])
    answer = tipped["output"].digits((0, 0), Notation(digits=0))
    assert (answer.text, answer.proven) == ("0", True)


def test_lists_of_numpy_booleans_are_a_mask() -> None:
    masked = evaluated({"mask": "boolean"}, **TWO, allowed=[list(np.array([True, False]))])
    assert masked["weights"].exact == sympy.Matrix([[1, 0]])


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"mask": "boolean"}, TWO | {"allowed": [[2, 1]]}),
        ({"mask": "boolean"}, TWO | {"allowed": [["0.99999999999999999999", 1]]}),
        ({}, {"Q": [ONE] * 2, "K": [ONE] * 3, "V": [ONE] * 3}),
        ({"scale": -2}, {"scores": [[0, "-inf"]]}),
        ({"normaliser": "sum"}, {"scores": [["0.1", "0.2", "-0.3"]]}),
    ],
    ids=["two", "nearly one", "unequal batches", "plus infinity", "over zero"],
)
def test_what_has_no_value_is_refused(spec: dict[str, Any], told: dict[str, Any]) -> None:
    with pytest.raises(SymattnError):
        evaluated(spec, **told)["weights"].array.tolist()


@pytest.mark.parametrize("number", [1 / 3, 0.12345678901234568])
def test_floats_of_sympy_are_the_decimals_they_spell(number: float) -> None:
    assert one(sympy.Float(number))["scores"].exact == one(number)["scores"].exact


def test_large_operands_give_the_printed_sum() -> None:
    values = (
        Attention(unfold="plain", scale=False)
        .derivation()
        .evaluate(Q=[[1]], K=[["21.401"], ["5.2013"], ["2.101"]], V=[[1], [1], [1]])
    )
    line = plain(values["exp_sum"].worked(1, 1))
    found = re.fullmatch(r"ζ_11 ≈ (.*) ≈ (\S+)", line)
    assert found is not None
    assert found[2] == f"{math.exp(21.401) + math.exp(5.2013) + math.exp(2.101):.4f}"
    total = sum(map(Fraction, found[1].split(" + ")))
    assert abs(total - Fraction(found[2])) < Fraction(1, 2 * 10**4)


def test_heads_that_nothing_counts_are_asked_for() -> None:
    spec = Attention(source="bare", heads="h", score="cosine")
    told = spec.derivation().evaluate(X=[[1, 2], [3, 4]])
    with pytest.raises(
        SymattnError, match=r"^Q_unit: the input does not determine h; give it, e.g. h = 64$"
    ):
        told["Q_unit"].array  # noqa: B018
    counted = spec.derivation(sizes={"h": 3}).evaluate(X=[[1, 2], [3, 4]])
    assert counted["Q_unit"].shape == (3, 2, 2)


def _cells(table: str, by: str) -> list[list[str]]:
    """The rows of a table under its heading, cell by cell."""
    return [re.split(by, row.strip("| ")) for row in table.splitlines()]


@pytest.mark.parametrize(("dtype", "key"), [("float64", 2), ("float16", 300)])
def test_a_check_shows_itself_as_a_table(dtype: str, key: int) -> None:
    """Row by row what its steps say; 300 · 300 is more than half precision holds."""
    derivation = Attention(scale=False).derivation()
    values = derivation.evaluate(Q=[[key]], K=[[key]], V=[[1]], dtype=dtype)
    check = values.check()
    assert check.agrees is (key == 2)
    shown, markdown = repr(check), check._repr_markdown_()
    assert shown.splitlines()[0] == check.verdict()
    rows = _cells(shown, r"\s{2,}")[2:]
    assert [row[0] for row in rows] == [step.name for step in derivation.steps]
    marked = _cells(markdown.replace("\\", ""), r" \| ")[4:]
    assert [[cell for cell in row if cell] for row in marked] == rows
    for row, step in zip(rows, check.steps, strict=True):
        exact = np.array(values[step.name].exact.tolist(), dtype=float)
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            largest = np.abs(values[step.name].array.astype(float) - exact).max()
        assert row[1] == "1 × 1"
        if np.isfinite(largest):
            assert float(row[2]) == pytest.approx(largest, rel=0.06)
        else:
            assert row[2] == "inf"
            assert not step.agrees
        assert row[-1] == ("agrees" if step.agrees else "OVERFLOW")
        assert str(step).startswith(step.name)
        assert ("agrees" in str(step)) is step.agrees


_NUMBERED: dict[str, Any] = {"documents": [1, 1, 2, 2]}


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"mask": _NUMBERED}, "4 numbers for 2"),
        ({"mask": {"any": ["causal", _NUMBERED]}}, "4 numbers for 2"),
        ({"mask": {"all": ["causal", {"any": [_NUMBERED, {"global": [1]}]}]}}, "4 numbers for 2"),
        ({"mask": _NUMBERED, "cache": True}, "4 numbers for 3"),
        ({"mask": {"documents": [1]}}, "1 numbers for 2"),
        ({"positions": "rotary"}, "3 of 3 columns cannot form pairs"),
        ({"positions": {"rotary": {"dims": 4}}}, "4 of 3 columns cannot form pairs"),
    ],
    ids=str,
)
def test_what_cannot_have_these_sizes_is_refused_at_once(
    choices: dict[str, Any], words: str
) -> None:
    """Not only when a value of the step is asked for."""
    derivation = Attention(source="given", **choices).derivation()
    given = {"Q": [[1, 0, 1], [0, 1, 1]], "K": [[1, 0, 1], [0, 1, 0]], "V": [[1], [2]]}
    if "cache" in choices:
        given |= {"K_past": [[1, 0, 0]], "V_past": [[3]]}
    with pytest.raises(SymattnError, match=words):
        derivation.evaluate(**given)
