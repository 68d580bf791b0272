"""Forms of numbers with letters: what is the same either way, and what is not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symattn.lifting import terms
from symattn.lifting.tapes import by_truth, functions
from symattn.lifting.terms import ONE, ZERO, Term, exp, largest, ln

X, Y, B = terms.letter(0), terms.letter(1), terms.truth(2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (largest([X, Y]), X + largest([ZERO, Y - X])),
        (largest([X - Y, Y - X]), 2 * largest([X, Y]) - X - Y),
        (terms.chosen(-X, exp(X), X + ONE), terms.chosen(X, X + ONE, exp(X))),
        (largest([X, Y]) + ln(ONE + exp(-largest([X - Y, Y - X]))), ln(exp(X) + exp(Y))),
        (exp(by_truth(terms, B, X, terms.LOWEST_TERM)), B * exp(X)),
        (B * B, B),
    ],
)
def test_the_same_either_way(one: Term, other: Term) -> None:
    assert exp(one).equals_either_way(exp(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (largest([X, Y]), X),
        (largest([X, ZERO]), largest([-X, ZERO])),
        (terms.chosen(X, X + ONE, ZERO), largest([X + ONE, ZERO])),
        (terms.chosen(X, ONE, ZERO), terms.chosen(-X, ZERO, ONE)),
        (by_truth(terms, B, X, Y), by_truth(terms, B, Y, X)),
        (B * X, X),
    ],
)
def test_not_the_same(one: Term, other: Term) -> None:
    assert not one.equals_either_way(other)


def test_a_variance_is_never_negative_and_other_forms_may_be() -> None:
    x, y, z = (terms.letter(k) for k in range(3))
    mean = (x + y + z) / terms.term(3)
    variance = (x * x + y * y + z * z) / terms.term(3) - mean * mean
    assert terms.largest([variance, terms.ZERO]).equals(variance)
    for form in (variance - x * x / terms.term(2), x * y, x * x - terms.term(3) * x * y + y * y):
        assert not terms.largest([form, terms.ZERO]).equals(form)


def test_odd_functions_are_those_of_either_sign() -> None:
    x, y = terms.letter(0), terms.letter(1)
    for name in ("tanh", "sin", "erf"):
        of = functions(terms)[name]
        assert of(x - y).equals(-of(y - x))
        assert not of(x - y).equals(of(y - x))


def test_a_root_squared_is_known_of_what_is_never_negative() -> None:
    x, y = terms.letter(0), terms.letter(1)
    for inner, known in ((x * x + y * y, True), (x * y, False)):
        root = functions(terms)["√"](inner)
        assert root.power(Fraction(2)).equals(inner) == known
