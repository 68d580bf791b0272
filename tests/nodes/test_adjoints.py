"""The adjoint of every node, against central differences of its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from symattn.arithmetic.arrays import FLOAT64
from symattn.arithmetic.functions import FUNCTIONS
from symattn.derivatives import rules
from symattn.evaluate.walk import program_of
from symattn.nodes.base import Node
from symattn.nodes.entrywise import Entrywise
from symattn.nodes.heads import Head
from symattn.nodes.masks import Allowed, AnyOf, TopK
from symattn.nodes.normalise import Hardmax
from tests.nodes.test_nodes_contract import MEANT, SAMPLES, SIZES

#: Nodes whose matrices only decide, or name.
DECIDE = (Allowed, AnyOf, TopK, Head, Hardmax)


def flip(monkeypatch: pytest.MonkeyPatch, kind: type[Node]) -> None:
    """Minus the rule of one node."""
    original = kind._adjoint

    def wrong(self: Node, place: int, upstream: Any, value: Any) -> Any:
        found = original(self, place, upstream, value)
        return None if found is None else sympy.MatMul(-1, found)

    monkeypatch.setattr(kind, "_adjoint", wrong)


def node_gap(kind: type[Node], sample: Any = None) -> float:
    """How far the adjoint of a node is from central differences of its own values."""
    node = ({**SAMPLES, **MEANT}[kind] if sample is None else sample).subs(SIZES)
    rng = np.random.default_rng(5)
    of_heads = {part.args[0].name for part in node.atoms(Head)}
    values = {}
    for symbol in node.atoms(sympy.MatrixSymbol):
        lead = (2,) if symbol.name in of_heads else ()
        values[symbol.name] = rng.uniform(0.2, 1.5, (*lead, *map(int, symbol.shape)))
    h = next(size for size in SIZES if size.name == "h")

    def at(expr: Any, numbers: Any, per_head: bool = False) -> Any:
        return program_of(expr, {h: 2}, h if per_head else None)(numbers.__getitem__, FLOAT64)

    upstream = sympy.MatrixSymbol("upstream", *node.shape)
    weights = rng.normal(size=at(node, values).shape[-2:])
    worst = 0.0
    for name, matrix in values.items():
        found = [s.gradient for s in rules.shares(node, upstream, {name})]
        assert found, f"{name} has no say in {node}"
        per_head = name in of_heads
        ours = at(rules.summed(found), {**values, "upstream": weights}, per_head)
        ours = np.broadcast_to(ours, matrix.shape)
        for place in np.ndindex(*matrix.shape):
            sides = []
            for sign in (1, -1):
                moved = {key: value.copy() for key, value in values.items()}
                moved[name][place] += sign * 1e-6
                reached = at(node, moved)
                sides.append((np.where(np.isfinite(reached), reached, 0) * weights).sum())
            worst = max(worst, abs((sides[0] - sides[1]) / 2e-6 - ours[place]))
    return float(worst)


_DIFFERENTIABLE = [
    kind
    for kind, sample in SAMPLES.items()
    if kind not in DECIDE and sample.atoms(sympy.MatrixSymbol)
] + [kind for kind in MEANT if kind.has_adjoint]


@pytest.mark.parametrize("kind", _DIFFERENTIABLE, ids=lambda kind: kind.__name__)
def test_the_adjoint_of_every_node(kind: type[Node]) -> None:
    assert node_gap(kind) < 1e-7


@pytest.mark.parametrize(
    "name", [name for name, row in FUNCTIONS.items() if row.adjoint is not None]
)
def test_the_adjoint_of_every_function(name: str) -> None:
    S = next(iter(SAMPLES[Entrywise].atoms(sympy.MatrixSymbol)))
    assert node_gap(Entrywise, Entrywise(S, name)) < 1e-7


@pytest.mark.parametrize("kind", _DIFFERENTIABLE, ids=lambda kind: kind.__name__)
def test_a_wrong_adjoint_is_found(kind: type[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    flip(monkeypatch, kind)
    assert node_gap(kind) > 1e-3


def test_every_adjoint_says_why() -> None:
    for kind in _DIFFERENTIABLE:
        assert kind.adjoint_because.endswith("."), kind.__name__
