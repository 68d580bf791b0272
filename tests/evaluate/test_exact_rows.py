"""Exact matrices: fractions stand together, decimals that end do too."""

from __future__ import annotations

import pytest

from symattn import Notation
from symattn.notation.text import line
from symattn.notation.tree import Fenced, Grid, Row
from symattn.sheets.worksheet import worksheet_of


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        (["ln 2", "ln 3", "0"], ["1/3", "1/2", "1/6"]),
        (["0", "0", "ln 2"], ["0.25", "0.25", "0.5"]),
        (["ln 2", "ln 3", "-inf"], ["0.4", "0.6", "0"]),
        (["ln 2", "0", "-inf"], ["2/3", "1/3", "0"]),
    ],
)
def test_numbers_of_a_matrix_are_written_alike(scores: list[str], shown: list[str]) -> None:
    sheet = worksheet_of(
        f"given.scores = [{scores}]\ngiven.V = [[1], [2], [3]]\nattention.scale = false", "sheet"
    )
    values = sheet.evaluate(sheet.derivation())
    (tree,) = values["weights"].trees(notation=Notation(exact=True))
    assert isinstance(tree, Row)
    matrix = tree.items[-1]
    assert isinstance(matrix, Fenced) and isinstance(matrix.body, Grid)
    assert [line(cell) for cell in matrix.body.rows[0]] == shown
