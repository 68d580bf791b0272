"""Exact values of single entries: those of the whole matrix, of which no more is computed."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from symattn.arithmetic.abbreviated import written_out
from symattn.arithmetic.base import Array
from symattn.arithmetic.exact import Exact
from symattn.arithmetic.proof import ordered
from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS, variant
from symattn.errors import Undecided
from tests.shares import share


def same(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Whether two numbers are equal, of whatever form."""
    try:
        return one == other or ordered(one, other) == 0
    except Undecided:
        return False


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 8))
def test_an_entry_is_that_of_its_matrix(name: str) -> None:
    derivation, values = small_example(variant(name).spec, tokens=2)
    whole = values.again(**{item.name: values.given[item.letter] for item in values.inputs})
    for step in derivation.steps:
        exact = whole.abbreviated(step.letter)
        for place in product(*map(range, exact.shape)):
            mine = written_out(values.exact_entry(step.letter, place))
            assert same(mine, written_out(exact[place])), (step.name, place)


def test_only_the_rows_that_are_asked_for_are_exponentiated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: list[int] = []
    usual = Exact.exp

    def counting(self: Exact, x: Array) -> Array:
        counts.append(x.size)
        return usual(self, x)

    monkeypatch.setattr(Exact, "exp", counting)
    _, values = small_example(variant("causal").spec, tokens=8)
    entry = values.exact_entry("O", (5, 0))
    assert counts == [8]
    assert same(written_out(entry), values.exact("O")[5, 0])
    assert counts == [8, 64]
    values.exact_entry("O", (6, 0))
    assert counts == [8, 64]
