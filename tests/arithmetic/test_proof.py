"""Comparisons of exact numbers by proof, and the abbreviations that keep them short."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn import Attention, Evaluation, text
from symattn.arithmetic.abbreviated import Abbreviation, Abbreviations, nodes, written_out
from symattn.arithmetic.enclosure import ball, precision
from symattn.arithmetic.proof import equals, ordered, sign

exp, tanh, sqrt, log, erf = sympy.exp, sympy.tanh, sympy.sqrt, sympy.log, sympy.erf
SOME = settings(max_examples=60, deadline=None, derandomize=True)

#: A long number whose pieces SymPy does not simplify.
LONG = sum(sympy.Rational(1, k) * exp(sympy.Rational(k, 7)) for k in range(1, 20))


# ---- order -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        (tanh(1000), tanh(2000), -1),
        (2 * tanh(500) + 1, 2 * tanh(400) + 1, 1),
        (-3 * tanh(10**6), -3 * tanh(10**6 + 1), 1),
        (2 * tanh(10**6) + 2 * tanh(10**7), 4, -1),
        (1 / (1 + exp(-100_000)), 1, -1),
        (1 / (1 + exp(-100_000)), 1 / (1 + exp(-100_001)), -1),
        (tanh(tanh(50_000)), tanh(tanh(60_000)), -1),
        (erf(1), sympy.Rational(8427, 10_000), 1),
        (erf(10**6), erf(10**6 + 1), -1),
        (-3 * erf(500) + 2, -3 * erf(400) + 2, -1),
        (erf(sqrt(8)), erf(2 * sqrt(2)), 0),
        (exp(10**9), exp(10**9 + sympy.Rational(1, 10**9)), -1),
        (exp(2) / (exp(2) + exp(3)) + exp(3) / (exp(2) + exp(3)), 1, 0),
        (sympy.sin(1) ** 2 + sympy.cos(1) ** 2, 1, 0),
        (sqrt(5 + 2 * sqrt(6)), sqrt(2) + sqrt(3), 0),
        (tanh(log(2)), sympy.Rational(3, 5), 0),
        (exp(-20_000) / (1 + exp(-20_000)), 0, 1),
    ],
)
def test_numbers_in_order(a: Any, b: Any, order: int) -> None:
    b = sympy.sympify(b)
    assert (ordered(a, b), ordered(b, a)) == (order, -order)


@SOME
@given(st.lists(st.fractions(-30, 30, max_denominator=9), min_size=2, max_size=2))
def test_order_is_that_of_mpmath(pair: Any) -> None:
    x, y = (sympy.Rational(q.numerator, q.denominator) for q in pair)
    for function in (
        tanh,
        exp,
        lambda v: erf(v / 3),
        lambda v: 1 / (1 + exp(-v)),
        lambda v: 3 - 2 * tanh(v / 2),
    ):
        with mpmath.workdps(200):
            apart = mpmath.mpf(function(x).evalf(200)) - mpmath.mpf(function(y).evalf(200))
        assert ordered(function(x), function(y)) == (0 if x == y else mpmath.sign(apart))


def test_what_is_left_open_is_none() -> None:
    assert sign(log(6) - log(2) - log(3)) is None
    assert equals(log(6) - log(2), sympy.Integer(1)) is False


def test_what_balls_tell_apart_is_not_multiplied_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[sympy.Expr] = []
    monkeypatch.setattr("symattn.arithmetic.proof._sign", asked.append)
    tiny = exp(-5000) - exp(-5001)
    assert sign(tiny) == 1 and sign(-tiny, deep=False) == -1
    assert asked == []
    assert sign(log(4) - 2 * log(2) + log(6) - log(2) - log(3)) is None
    assert asked


# ---- abbreviations -----------------------------------------------------------------------------


def test_an_abbreviation_is_the_number_it_stands_for() -> None:
    short = Abbreviations().short(LONG / (1 + LONG))
    assert len(short.atoms(Abbreviation)) == 2
    assert nodes(short) == sum(1 for _ in sympy.preorder_traversal(written_out(short)))
    with precision(200):
        assert (ball(short) - ball(LONG / (1 + LONG))).contains(0)
        assert ball(short).rel_accuracy_bits() > 150
    assert sympy.simplify(written_out(short) - LONG / (1 + LONG)) == 0


def test_equal_numbers_share_one_and_others_do_not() -> None:
    known = Abbreviations()
    assert known.short(LONG) is known.short(sympy.Add(*LONG.args[::-1]))
    assert known.short(LONG) != known.short(LONG + exp(5))
    assert known.short(LONG) != Abbreviations().short(LONG)
    assert known.short(-3 * sqrt(LONG)) == -3 * known.short(sqrt(LONG))
    assert known.short(sqrt(2)) == sqrt(2)
    a = sympy.Symbol("a")
    assert known.short(LONG + a) == LONG + a


def test_sympy_knows_its_sign_and_nothing_else() -> None:
    known = Abbreviations()
    above, below = known.short(LONG), known.short(1 - LONG)
    assert (above.is_positive, below.is_negative, above.is_real) == (True, True, True)
    assert sqrt(above**2) == above and sqrt(below**2) == -below
    assert above.free_symbols == set() and above.args == ()


def test_ties_are_found_over_abbreviations_and_below_them() -> None:
    known = Abbreviations()
    one, other = known.short(LONG), known.short(sympy.expand((1 + LONG) ** 2))
    assert sign(one / one - 1, deep=False) == 0
    assert sign(other - (1 + one) ** 2, deep=False) is None
    assert sign(other - (1 + one) ** 2) == 0
    assert ordered(other, (1 + one) ** 2 + exp(-5000)) == -1


# ---- in a derivation ---------------------------------------------------------------------------


def capped(normaliser: str, keys: list[int], **more: Any) -> Evaluation:
    """Scores k under a soft cap of 2: 2 tanh(k/2)."""
    spec: dict[str, Any] = {"bias": "given"} if "bias" in more else {}
    attention = Attention(scale=False, soft_cap=2, normaliser=normaliser, **spec)
    given = {"Q": [[1]], "K": [[k] for k in keys], "V": [[k] for k in range(len(keys))]} | more
    return attention.derivation().evaluate(**given)


@pytest.mark.parametrize(
    ("keys", "bias", "best"),
    [
        ([1000, 2000, 3000], None, 2),
        ([100_000, 200_000, 100_000], None, 1),
        ([-(10**6), -(10**6) + 1, -(10**6)], None, 1),
        ([5000, 5000, 5000], None, 0),
        ([10**5, -(10**5), 10**6], [["0", "4", "0"]], 1),
        ([10**5, -(10**6), 10**6], [["-4", "0", "-4"]], 1),
    ],
)
def test_saturated_scores_are_told_apart(keys: list[int], bias: Any, best: int) -> None:
    more = {} if bias is None else {"bias": bias}
    values = capped("hardmax", keys, **more)
    weights = [values["weights"].digits((0, j)) for j in range(3)]
    assert all(weight.proven and weight.exact for weight in weights)
    assert [weight.text for weight in weights] == ["1" if j == best else "0" for j in range(3)]
    assert text(values["weights"].worked(1, best + 1)).endswith(f" = {best + 1}")


def test_stacked_steps_stay_short() -> None:
    rows = [["1/3", "-1/2", "3/4"], ["2/3", "1", "-5/4"], ["1/2", "1/5", "2/7"]]
    spec = Attention(source="self", score="additive", feature_map="exp", positions="sinusoidal")
    derivation = spec.derivation()
    names = {item.name: rows for item in derivation.inputs}
    values = derivation.evaluate(**names | {"v_a": [[row[0]] for row in rows]})
    last = values.abbreviated(derivation["output"].letter)
    assert all(sum(1 for _ in sympy.preorder_traversal(entry)) < 100 for entry in last.ravel())
    assert values.longest_exact(derivation["output"].letter) > 1000
    with precision(128):
        exact = values["output"].exact
        assert ball(exact[0, 0]).overlaps(values["output"].balls[0, 0])
