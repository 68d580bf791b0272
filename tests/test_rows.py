"""A thing without a row, and a row of nothing, fail with one sentence."""

from __future__ import annotations

import pytest

from symattn.nodes.masks import Causal, Padding
from tests.rows import every_one_has_a_row

HOME = "SAMPLES of tests/nodes/test_nodes_contract.py"


def test_what_has_no_row_is_told_in_a_sentence() -> None:
    every_one_has_a_row((Causal, Padding), {Padding: 1, Causal: 2}, HOME, "an instance")
    with pytest.raises(pytest.fail.Exception) as caught:
        every_one_has_a_row((Causal, Padding), {Padding: 1}, HOME, "an instance")
    assert caught.value.msg == f"Causal: not in {HOME} yet; add there an instance"
    assert caught.value.pytrace is False


def test_a_row_of_nothing_is_told() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"^b, c: in A of x\.py, but nowhere in"):
        every_one_has_a_row(("a",), ("a", "b", "c"), "A of x.py", "a row")
