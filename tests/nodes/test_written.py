"""A statement as an expression over nodes has the values that NumPy gives its text."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import sympy

from symattn.arithmetic.arrays import FLOAT64
from symattn.errors import SymattnError
from symattn.evaluate.walk import program_of
from symattn.grammar import sides
from symattn.language.statement import readings
from tests.oracle import Statement, agree
from tests.shares import share
from tests.statements import STATEMENTS

#: Those that hold of all letters and say how wide everything is, as a mask alone does not.
ROWS = [row for row in STATEMENTS if "where" not in row.options and "causal" not in row.text]


def read_as_drawn(letter: Any, drawn: dict[str, Any]) -> bool:
    """Whether a letter of the reading is one that is drawn, in its shape."""
    if letter.name not in drawn:
        return False
    shape = np.shape(drawn[letter.name])
    if isinstance(letter, sympy.Symbol):
        return shape in ((), (1, 1))
    return bool(shape == tuple(drawn.get(str(size), size) for size in letter.shape))


def value(meaning: Any, drawn: dict[str, Any]) -> Any:
    """The value of an expression, its letters being what is drawn; NaN of what is not real."""
    sizes = {size for each in meaning.atoms(sympy.MatrixSymbol) for size in each.shape}
    letters = {each for each in meaning.free_symbols | sizes if isinstance(each, sympy.Symbol)}
    put = meaning.subs({x: sympy.sympify(np.ravel(drawn[x.name])[0]) for x in letters})
    if getattr(put, "is_Matrix", False):
        return program_of(put, {})(drawn.__getitem__, FLOAT64)
    return float(put) if put.is_real else np.nan


def values(row: Statement, drawn: dict[str, Any]) -> list[Any]:
    """Both sides by their nodes; none where the text has no such reading, or no such value."""
    shapes, positive = row.options.get("shapes"), tuple(row.options.get("positive", ()))
    try:
        (written,) = next(readings([sides(row.text)], shapes, positive)).groups
        letters = set[Any]().union(*(side.meaning.free_symbols for side in written))
        sized = any(isinstance(letter, sympy.MatrixSymbol) for letter in letters)
        if not sized or not all(read_as_drawn(letter, drawn) for letter in letters):
            return []
        return [value(side.meaning, drawn) for side in written]
    except SymattnError:
        return []


@pytest.mark.parametrize("quarter", share(range(4), 4))
def test_a_statement_has_the_values_of_numpy(quarter: int) -> None:
    rows, asked, wrong = ROWS[quarter::4], 0, list[str]()
    for row in rows:
        drawn = next(row.draws(4, 1))
        letters = inspect.signature(row.sides).parameters
        with np.errstate(all="ignore"):
            ours, told = values(row, drawn), row.sides(**{name: drawn[name] for name in letters})
        pairs = [(x, y) for x, y in zip(ours, told, strict=False) if np.isfinite(y).all()]
        wrong += [row.text for x, y in pairs if not agree(x, y)]
        asked += bool(pairs)
    assert wrong == []
    assert asked > 0.7 * len(rows)
