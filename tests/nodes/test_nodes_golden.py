"""What is printed of a node is what was printed: all rows of nodes in `tests/golden`."""

from __future__ import annotations

import pytest

from symattn.nodes.base import Node
from tests.golden import assert_kept, groups
from tests.nodes.test_nodes_contract import MEANT, SAMPLES


@pytest.mark.parametrize("kind", [*SAMPLES, *MEANT], ids=lambda kind: str(kind.__name__))
def test_what_is_printed_of_a_node_is_what_was_printed(kind: type[Node]) -> None:
    assert_kept(row for row in groups()["nodes"]() if row.made == kind.__name__)
