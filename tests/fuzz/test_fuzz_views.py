"""Functions that move axes at random: what is read off is right, and what is not is refused."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from tests.fuzz.views import drawn, is_laid_as, verdict


def test_what_is_read_off_is_right() -> None:
    counts = Counter(verdict(drawn(random.Random(f"7 {number}"))[0]) for number in range(25))
    assert counts["wrong"] == 0
    assert counts["right"] > counts["refused"]


def test_arrays_are_the_same_with_heads_in_another_place_and_not_with_other_numbers() -> None:
    numbers = np.arange(24.0).reshape(2, 3, 4)
    assert is_laid_as(numbers.swapaxes(0, 1), numbers)
    assert not is_laid_as(numbers.reshape(3, 2, 4), numbers)
    assert not is_laid_as(numbers + 1, numbers)
