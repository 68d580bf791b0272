"""Functions that move axes at random: what is read off is right, and what is not is refused."""

from __future__ import annotations

import random
from collections import Counter

from tests.fuzz.views import drawn, verdict


def test_what_is_read_off_is_right() -> None:
    counts = Counter(verdict(drawn(random.Random(f"7 {number}"))[0]) for number in range(25))
    assert counts["wrong"] == 0
    assert counts["right"] > counts["refused"]
