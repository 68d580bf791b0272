"""Every line that a proof prints is equal to the one before it: read back and worked out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from symattn import equal
from symattn.algebra.equality import Equality
from symattn.algebra.proof_lines import Lines
from symattn.nodes.spell import Speller
from symattn.notation.latex import latex
from tests.oracle import Statement
from tests.proof_reader import Reader, Unread
from tests.shares import share
from tests.statements import STATEMENTS

_RANGE = re.compile(r"(?:([^,]+) ≤ )?([ij]) ≤ ([^,]+)")
TRUE = [row for row in STATEMENTS if row.holds and not row.options.get("sizes")]


def bound(answer: Equality, drawn: dict[str, Any]) -> dict[str, Any]:
    """The letters and sizes of a draw, with the sizes that the reading has names of its own for."""
    values = {name: drawn[name] for name, _ in answer.reading if name in drawn}
    values |= {f"{name}'": value for name, value in values.items()}  # of A = Aᵀ
    for name, shape in answer.reading:
        if " × " in shape and name in values:
            for size, number in zip(shape.split(" × "), np.atleast_2d(values[name]).shape):
                if re.fullmatch(r"\w+", size) and not size.isdigit():
                    if values.setdefault(size, number) != number:
                        raise Unread("sizes that differ from the reading's")
    sizes = {name: value for name, value in drawn.items() if isinstance(value, int)}
    return {**sizes, **values}


def places(chain: Lines, values: dict[str, Any], shape: tuple[int, ...]) -> Iterator[Any]:
    """The indices of a chain, and the entry of the matrix that it is about."""
    if re.search(r"\w = ", chain.when):
        return
    ranges = {k: (low, high) for low, k, high in _RANGE.findall(chain.when)}

    def within(letter: str, at: dict[str, int]) -> bool:
        ends = [Reader(end, values, at).value() for end in ranges.get(letter, ()) if end]
        return all(ends[:-1][:1][0] <= at[letter] for _ in ends[1:]) and (
            not ends or at[letter] <= ends[-1]
        )

    for i in range(1, shape[0] + 1):
        for j in range(1, shape[1] + 1):
            at = {"i": i, "j": j}
            if within("i", at) and within("j", at):
                texts = [latex(Speller().index(one)) for one in chain.entry] or ["1", "1"]
                entry = [int(Reader("", values, at).index(tokens(text))) for text in texts]
                if entry[0] <= shape[0] and entry[1] <= shape[1]:
                    yield at, entry


def tokens(text: str) -> list[str]:
    from tests.proof_reader import tokens as found

    return found(text)


def wrong_lines(row: Statement, answer: Equality, change: Any = None) -> tuple[int, list[str]]:
    """How many lines were read, and those that are not what NumPy says of the side."""
    count, wrong = 0, []
    drawn = next(iter(row.draws(3, 1)))
    values = bound(answer, drawn)
    parameters = row.sides.__code__.co_varnames[: row.sides.__code__.co_argcount]
    with np.errstate(all="ignore"):
        sides = row.sides(**{name: drawn[name] for name in parameters})
    side = np.broadcast_arrays(*map(np.atleast_2d, sides))[0]
    assert answer.exposition is not None
    for chain in answer.exposition.chains:
        texts = [
            latex(Speller().rule(line.value))
            for line in chain.lines
            if line.value is not None and not hasattr(line.value, "shape")
        ]
        if change is not None:
            texts = [change(text) for text in texts]
        for at, (i, j) in list(places(chain, values, side.shape))[:6]:
            expected = float(side[i - 1, j - 1])
            for text in texts:
                found = Reader(text, values, at).value()
                count += 1
                if not math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-9):
                    wrong.append(f"{row.text}: {text} at {at} is {found}, not {expected}")
    return count, wrong


@pytest.mark.parametrize("row", share(TRUE, 12), ids=lambda row: row.text)
def test_every_line_is_equal_to_the_one_before(row: Statement) -> None:
    answer = equal(row.text, **row.options)
    if answer.certified:
        try:
            _, wrong = wrong_lines(row, answer)
        except Unread:
            return
        assert not wrong
