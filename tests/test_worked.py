"""Every worked line, read back and worked out again, gives its result; its signs = are true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from symattn import VARIANTS, Derivation, Evaluation, Notation, text
from symattn.arithmetic.decide import enclosure
from symattn.attention.example import small_example
from symattn.worksheet.read import read_worksheet
from tests.worked_lines import DIGITS, faults, names_in

EXAMPLES = sorted(Path("examples").glob("*.toml"))


def lines_of(derivation: Derivation, evaluation: Evaluation, digits: int) -> Iterator[Any]:
    """The worked line of every entry of every step, and the entry's value."""
    notation = Notation(digits=digits)
    for step in derivation:
        value = evaluation[step.name]
        balls = evaluation.balls(step.letter, 256)
        for place in np.ndindex(*value.shape):
            *lead, row, column = (index + 1 for index in place)
            head = lead[0] if lead else None
            low, _ = enclosure(balls[place], DIGITS)
            with mpmath.workdps(DIGITS):
                yield text(value.worked(row, column, head, notation)), mpmath.mpf(low)


def wrong_lines(derivation: Derivation, evaluation: Evaluation, digits: int) -> list[str]:
    lines = list(lines_of(derivation, evaluation, digits))
    names = names_in(lines)
    return [f"{line}\n   {fault}" for line, _ in lines for fault in faults(line, digits, names)]


@pytest.mark.parametrize("digits", [4, 1])
@pytest.mark.parametrize("name", [variant.name for variant in VARIANTS])
def test_the_lines_of_every_variant_give_their_results(name: str, digits: int) -> None:
    (spec,) = (variant.spec for variant in VARIANTS if variant.name == name)
    assert wrong_lines(*small_example(spec), digits) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_lines_of_every_example_give_their_results(path: Path) -> None:
    worksheet = read_worksheet(path)
    derivation = worksheet.derivation()
    assert wrong_lines(derivation, worksheet.evaluate(derivation), 4) == []
