"""The nodes of mistakes: their entries, which worked lines show, are what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from symattn.mistakes.nodes import HeadsTaken, Instead, OverHeads, Reshaped, UnguardedSoftmax
from symattn.mistakes.words import FUNCTIONS
from symattn.nodes.base import Node
from symattn.nodes.heads import Concat, Head, Split

_HIDDEN = -sympy.oo
SCORES = sympy.Matrix([[1, 2, 3], [4, 5, 6]])
MASK = sympy.ImmutableMatrix([[0, _HIDDEN, 0], [_HIDDEN, 0, 2]])

ROWS, COLUMNS, COUNT = 3, 2, 4
S = sympy.MatrixSymbol("S", ROWS, COLUMNS)
I = sympy.Symbol("i", integer=True)  # noqa: E741 the index of the head
HEADS = np.arange(COUNT * ROWS * COLUMNS).reshape(COUNT, ROWS, COLUMNS)


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (FUNCTIONS["inverted"](MASK), [[_HIDDEN, 0, _HIDDEN], [0, _HIDDEN, _HIDDEN]]),
        (Instead(SCORES, MASK, 7 * SCORES), [[1, 14, 3], [28, 5, 6]]),
        (Reshaped(SCORES, 2).T.T, [[1, 2, 3], [4, 5, 6]]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Node) else "",
)
def test_entries_and_values(node: Any, wanted: list[list[Any]]) -> None:
    assert [[node[i, j] for j in range(3)] for i in range(2)] == wanted
    assert sympy.Matrix(node.doit()) == sympy.Matrix(wanted)
    with np.errstate(invalid="ignore"):
        computed = sympy.lambdify([], node, "numpy")()
    np.testing.assert_array_equal(computed, np.array(wanted, dtype=float))


def number(entry: Any) -> int:
    """The number that an entry of one head is."""
    head, row, column = entry.args
    return int(HEADS[int(head.args[1]), int(row), int(column)])


BESIDE, BELOW = (Concat(Head(S, I), I, COUNT, axis) for axis in (1, 0))


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (
            Concat(HeadsTaken(Head(S, I), I, COUNT, COUNT - 1 - I), I, COUNT),
            np.concatenate(HEADS[::-1], axis=1),
        ),
        (Reshaped(BELOW, ROWS), HEADS.reshape(ROWS, COUNT * COLUMNS)),
        (
            Reshaped(BELOW.T, COUNT * COLUMNS).T,
            np.moveaxis(HEADS, 0, -1).reshape(ROWS, COUNT * COLUMNS),
        ),
    ],
)
def test_heads_joined_in_a_wrong_way(node: Any, wanted: Any) -> None:
    assert node.shape == wanted.shape
    seen = sympy.symbols("row column", integer=True)
    entry = node[seen]
    found = [
        [number(entry.subs(dict(zip(seen, place, strict=True)))) for place in line]
        for line in np.moveaxis(np.indices(wanted.shape), 0, -1).tolist()
    ]
    np.testing.assert_array_equal(found, wanted)


def test_heads_split_in_a_wrong_way() -> None:
    node = Split(Reshaped(BESIDE, COUNT * ROWS), I, COUNT, 0)
    wanted = np.concatenate(HEADS, axis=1).reshape(HEADS.shape)
    entries = [
        [
            [number(node[i, j].xreplace({I: sympy.Integer(k)})) for j in range(COLUMNS)]
            for i in range(ROWS)
        ]
        for k in range(COUNT)
    ]
    np.testing.assert_array_equal(entries, wanted)


def test_a_softmax_over_the_heads() -> None:
    node: Any = OverHeads(Head(S, I), I, sympy.Integer(COUNT))
    z = HEADS / 7
    powers = np.exp(z)
    np.testing.assert_allclose(node.numpy(z), powers / powers.sum(axis=0), rtol=1e-14)
    assert len(node[0, 1].subs(I, 2).atoms(sympy.exp)) == COUNT


@pytest.mark.parametrize("shifted", [0, 1])
def test_a_softmax_that_looks_for_nothing_is_nan_where_programs_are(shifted: int) -> None:
    node: Any = UnguardedSoftmax(sympy.MatrixSymbol("Z", 3, 2), shifted)
    z = np.array([[0, np.log(3)], [-np.inf, -np.inf], [1000, 0]])
    with np.errstate(all="ignore"):
        found = node.numpy(z, shifted)
    np.testing.assert_allclose(found[0], [0.25, 0.75], rtol=1e-15)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[2]).any() == (not shifted)
