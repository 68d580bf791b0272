"""What is printed of a node is what was printed: all rows of nodes in `tests/golden`."""

from __future__ import annotations

import pytest

from symattn.nodes.base import Node
from tests.golden import changed, groups, kept
from tests.nodes.test_nodes_contract import SAMPLES

KNOWN = kept()


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: str(kind.__name__))
def test_what_is_printed_of_a_node_is_what_was_printed(kind: type[Node]) -> None:
    rows = [row for row in groups()["nodes"]() if row.made == kind.__name__]
    told = "python -m tests.golden --show says what has changed, --write takes it for right"
    assert len(rows) >= 5
    assert changed(rows, KNOWN) == [], told
