"""The random test over two finite fields: its fields, its bounds, and what it tells apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

import flint
import numpy as np
import pytest

from symattn.errors import SymattnError
from symattn.lifting import comparing, fields, proving, terms
from symattn.lifting.comparing import prove_programs
from symattn.lifting.fields import BITS, Element, Fields, decided
from symattn.lifting.limits import LIMITS
from symattn.lifting.tapes import Kind, functions
from symattn.lifting.terms import Term, Unknown
from tests.extras import package
from tests.lifting import attentions, corpus
from tests.lifting.corpus.table import LIBRARIES, verdict
from tests.lifting.test_proving import RIGHT, proven


@pytest.fixture(scope="module")
def of() -> Fields:
    return Fields()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is brought to normal forms."""
    for room in (proving, comparing):
        monkeypatch.setattr(room, "decided", lambda hold, _: decided(hold, LIMITS.operations + 1))


def _letters(of: Kind, count: int) -> list[Any]:
    return [of.letter(name) for name in range(count)]


# ---- the fields ------------------------------------------------------------------------------


def test_one_field_has_roots_of_1_as_many_as_the_other_has_elements(of: Fields) -> None:
    p, q = of.values.prime, of.exponents.prime
    assert flint.fmpz(p).is_prime()
    assert flint.fmpz(q).is_prime()
    assert (p - 1) % q == 0
    assert q.bit_length() == BITS.exponents
    assert p > 2**BITS.factor * q
    assert int(of.omega) != 1
    assert of.omega**q == 1
    assert Fields().values.prime != p


def test_what_is_no_prime_is_not_taken_for_one(of: Fields) -> None:
    q = of.exponents.prime
    factor = next(k for k in range(2, 1000, 4) if not flint.fmpz(k * q + 1).is_prime())
    with pytest.raises(Unknown, match="is none"):
        fields._of_order(q, fields.Field(flint.fmpz(factor * q + 1)))


@pytest.mark.parametrize("field", ["values", "exponents"])
def test_roots_of_products_are_products_of_roots(of: Fields, field: str) -> None:
    def root(number: int) -> Any:
        return getattr(of.term(math.sqrt(number)), field.removesuffix("s")).value

    assert root(2) * root(3) == root(6)
    assert root(3) * 2 == root(12)
    assert root(7) ** 2 == 7


def test_a_prime_without_a_root_is_asked_for_again() -> None:
    root = math.sqrt(10_007)

    def hold(kind: Kind) -> bool:
        assert kind.same(kind.term(root) * kind.term(root), kind.term(10_007))
        return False

    assert "too many" in decided(hold, LIMITS.operations + 1)[0]


# ---- what is the same ------------------------------------------------------------------------

Made = Callable[[Any, Any, Any, Any], tuple[Any, Any]]

SAME: dict[str, Made] = {
    "(x + y)(x − y)": lambda of, x, y, z: ((x + y) * (x - y), x * x - y * y),
    "1/x + 1/y": lambda of, x, y, z: (of.term(1) / x + of.term(1) / y, (x + y) / (x * y)),
    "e^x e^y": lambda of, x, y, z: (of.exp(x) * of.exp(y), of.exp(x + y)),
    "e^(x y)/e^z": lambda of, x, y, z: (of.exp(x * y) / of.exp(z), of.exp(x * y - z)),
    "e^ln": lambda of, x, y, z: (of.exp(of.ln(of.exp(x) + y) + x), (of.exp(x) + y) * of.exp(x)),
    "ln(e^x/e^y)": lambda of, x, y, z: (of.ln(of.exp(x) / of.exp(y)) + y, of.ln(of.exp(x))),
    "2 ln": lambda of, x, y, z: (of.exp(of.ln(x) * of.term(2.0)), x * x),
    "a shift": lambda of, x, y, z: (
        of.exp(x - of.largest([x, y])) / of.exp(y - of.largest([x, y])),
        of.exp(x - y),
    ),
    "its largest": lambda of, x, y, z: (of.largest([x * y, z]), of.largest([z, y * x])),
    "a root": lambda of, x, y, z: (
        (x * x + y).power(Fraction(1, 2)),
        functions(of)["√"](y + x * x),
    ),
    "x^3": lambda of, x, y, z: (x.power(Fraction(3)), x * x * x),
    "a hidden one": lambda of, x, y, z: (of.exp(x + of.term(-1e30)) + y, y),
    "σ": lambda of, x, y, z: (functions(of)["σ"](x), of.exp(x) / (of.exp(x) + of.term(1))),
    "x = y": lambda of, x, y, z: (of.chosen((x - y) ** 2, x, z), of.chosen((y - x) ** 2, x, z)),
    "0.5^3": lambda of, x, y, z: (of.exp(of.term(3) * of.ln(of.term(0.5))) * x, x * of.term(0.125)),
}
OTHER: dict[str, Made] = {
    "the twelfth digit": lambda of, x, y, z: (x, x * of.term(1.00000000001)),
    "x^227": lambda of, x, y, z: (x, x.power(Fraction(227))),
    "227": lambda of, x, y, z: (x, x + of.term(227.0)),
    "a Mersenne prime": lambda of, x, y, z: (x, x * of.term(2.0**31)),
    "|x|": lambda of, x, y, z: (functions(of)["abs"](x), x),
    "e^(2x)": lambda of, x, y, z: (of.exp(x), of.exp(x * of.term(math.log(2)))),
    "√x²": lambda of, x, y, z: (functions(of)["√"](x * x), x),
    "sums": lambda of, x, y, z: (of.exp(x) + of.exp(y), of.exp(x) + of.exp(z)),
    "−√2": lambda of, x, y, z: (x * of.term(math.sqrt(2)), -x * of.term(math.sqrt(2))),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same_is_the_same_in_fields(of: Fields, name: str) -> None:
    assert of.same(*SAME[name](of, *_letters(of, 3)))
    assert of.chance < 2.0**-BITS.chance


@pytest.mark.parametrize("name", OTHER)
def test_what_is_not_is_not(of: Fields, name: str) -> None:
    assert not of.same(*OTHER[name](of, *_letters(of, 3)))


def test_the_primes_of_a_field_that_is_known_would_deceive() -> None:
    x = fields.Field(flint.fmpz(227)).letter()
    assert (x**227).value == x.value  # so they are drawn, and large


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda of, x: of.exp(of.exp(x)), "an exponential of what an exponential is in"),
        (lambda of, x: of.exp(of.ln(x) * of.term(0.5)), "a product with a logarithm"),
        (lambda of, x: of.ln(x) * x, "a product with a logarithm"),
        (lambda of, x: x / of.ln(x), "a quotient by a logarithm"),
        (lambda of, x: of.ln(of.ln(x)), "a logarithm of a logarithm"),
        (lambda of, x: x * of.term(-1e30), "may be 0 or negative"),
    ],
)
def test_what_the_test_is_not_for_is_refused(of: Fields, made: Any, why: str) -> None:
    with pytest.raises(Unknown, match=why):
        made(of, of.letter(0))


# ---- the chance ------------------------------------------------------------------------------


def test_bounds_of_exponents_are_at_least_as_many_as_there_are(of: Fields) -> None:
    draw = np.random.default_rng(5)
    for _ in range(40):
        mine, its = [*_letters(of, 3)], [*_letters(terms, 3)]
        for _ in range(6):
            one, other = draw.integers(0, len(mine), 2)
            operation = draw.choice(["__add__", "__mul__", "__sub__", "exp"])
            try:
                if operation == "exp":
                    made: Any = of.exp(mine[one]), terms.exp(its[one])
                else:
                    made = [getattr(x[one], operation)(x[other]) for x in (mine, its)]
            except Unknown:
                continue
            if not any(_is_nested(dict(exponent)) for _, exponent in made[1].terms):
                mine.append(made[0])
                its.append(made[1])
        for one, other in zip(mine, its, strict=True):
            assert isinstance(one, Element)
            if one.value is not None:
                assert one.value.terms >= len({exponent for _, exponent in other.terms})
                degrees = [sum(power for _, power in powers) for powers, _ in other.terms]
                assert one.value.height >= BITS.letters * max(degrees, default=0)


def _is_nested(exponent: Any) -> bool:
    return any(inner for _, inner in Term(exponent).terms)


def test_sums_over_one_divisor_are_bounded_as_such(of: Fields) -> None:
    powers = [of.exp(x) for x in _letters(of, 64)]
    total = sum(powers[1:], start=powers[0])
    shares = [x / total for x in powers]
    mean = sum(shares[1:], start=shares[0])
    assert mean.value is not None
    assert mean.value.terms == 64
    assert [one.terms for one in mean.value.below] == [64]
    assert of.same(mean, of.term(1))


def test_where_the_chance_is_not_small_nothing_is_said() -> None:
    def hold(kind: Kind) -> bool:
        one, other = kind.term(1), kind.term(1)
        for x in _letters(kind, 140):
            one, other = one * (kind.exp(x) + kind.term(1)), other * (kind.term(1) + kind.exp(x))
        assert kind.same(one, other)
        return False

    with pytest.raises(SymattnError, match="not known to be small"):
        decided(hold, LIMITS.operations + 1)


def test_a_divisor_that_is_0_is_no_answer() -> None:
    def hold(kind: Kind) -> bool:
        (x,) = _letters(kind, 1)
        assert kind.same(x / (x * x - x * x), x)
        return False

    with pytest.raises(SymattnError, match="divides by 0"):
        decided(hold, LIMITS.operations + 1)


# ---- functions -------------------------------------------------------------------------------


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["online", "by_log_sum_exp", "causal_decoding"])
def test_functions_are_equal_but_for_a_chance(name: str) -> None:
    found = proven(name)
    assert (found.verdict, found.status) == ("equal but for a chance below 2⁻⁸⁰", 4)
    assert not found
    assert "but for a chance below 2⁻⁸⁰ (in real arithmetic)" in found.summary
    assert "too many for normal forms" in found.reason


@pytest.mark.usefixtures("alone")
def test_two_functions_are_equal_but_for_a_chance() -> None:
    found = prove_programs(attentions.online, attentions.row_by_row)
    assert found.verdict == "equal but for a chance below 2⁻⁸⁰"


def _witness(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What fields say of all that has the same normal forms, if they do not agree."""
    others: list[str] = []

    def both(hold: Callable[[Kind], bool], operations: int) -> tuple[str, bool]:
        why, is_partial = decided(hold, operations)
        if not why:
            try:
                decided(hold, LIMITS.operations + 1)
            except SymattnError as error:
                others.append(str(error))
        return why, is_partial

    for room in (proving, comparing):
        monkeypatch.setattr(room, "decided", both)
    return others


def test_what_has_the_same_normal_forms_is_the_same_in_fields(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = _witness(monkeypatch)
    for name in RIGHT:
        assert proven(name).verdict.startswith("equal"), name
    assert others == []


#: What has normal forms, but not in fields: x > 0 and x >= 0 are two letters there, what is true is
#: not its own square, and logarithms are not compared.
APART = ("linear_in_chunks", "linear_by_scan", "masked", "combined_by_lse")


@pytest.mark.nightly
@pytest.mark.parametrize("library", LIBRARIES)
def test_functions_of_strangers_are_the_same_in_fields(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library != "numpied":
        package({"torched": "torch", "jaxed": "jax"}[library])
    others = _witness(monkeypatch)
    found = {}
    for name in import_module(f"{corpus.__name__}.{library}").RIGHT:
        verdict(library, name)
        found[name] = others[:]
        others.clear()
    assert {name for name, said in found.items() if said} <= {*APART}
