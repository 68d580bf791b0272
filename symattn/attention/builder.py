"""What every stage of the building uses: inputs, steps, and one symbol for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import Plan, g, h, m, n, p
from symattn.derivation import Input, Step
from symattn.nodes.heads import Head
from symattn.notation.options import SYMBOLS
from symattn.step import HEAD

PAPER = "Vaswani et al. 2017, section "

#: One matrix for all heads; one for each query head; one for each group of keys and values.
SHARED, QUERY, GROUP = "shared", "query", "group"


@dataclass
class Builder:
    """Collects inputs and steps in order; `made` finds the symbol of a name."""

    plan: Plan
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def keys(self) -> Any:
        """The number of keys that come with this sequence: the queries' own in self-attention."""
        return n if self.plan.source in ("self", "bare") else m

    @property
    def start(self) -> Any:
        """The position of the first new token: after those whose keys and values are cached."""
        return p if self.plan.cache else sympy.S.Zero

    @property
    def count(self) -> Any:
        """The number of query heads."""
        return h if self.plan.heads == "h" else sympy.Integer(self.plan.heads or 1)

    @property
    def key_kind(self) -> str:
        """Keys are one for each group; where they are the queries, one for each head."""
        return QUERY if self.plan.tie == "query-key" else GROUP

    def key_head(self) -> Any:
        """Which group's keys and values head i uses: ⌊i g/h⌋, counted from 0."""
        if self.plan.kv_heads is None:
            return HEAD
        groups = g if self.plan.kv_heads == "g" else sympy.Integer(self.plan.kv_heads)
        return sympy.floor(HEAD * groups / self.count)

    def of(self, symbol: MatrixExpr) -> MatrixExpr:
        """A key or value matrix as head i uses it."""
        if not isinstance(symbol, Head) or self.plan.kv_heads is None:
            return symbol
        return Head(symbol.args[0], self.key_head())

    def symbol(self, name: str, rows: Any, columns: Any, kind: str) -> MatrixExpr:
        """The symbol of a step or an input, one for each head or group where there are heads."""
        matrix = sympy.MatrixSymbol(SYMBOLS[name], rows, columns)
        single = self.plan.heads is None or kind == SHARED
        if kind == GROUP and self.plan.kv_heads == 1:
            single = True
        return matrix if single else Head(matrix, HEAD)

    def group(self, kind: str) -> str:
        """The size that counts the matrices of this kind."""
        return "g" if kind == GROUP and self.plan.kv_heads is not None else "h"

    def given(
        self, name: str, rows: Any, columns: Any, meaning: str, kind: str = SHARED
    ) -> MatrixExpr:
        """A new input."""
        symbol = self.symbol(name, rows, columns, kind)
        self.inputs.append(Input(name, symbol, meaning, group=self.group(kind)))
        return symbol

    def step(
        self, name: str, expr: MatrixExpr, rule: str, because: str, source: str, kind: str = QUERY
    ) -> MatrixExpr:
        """A new step; its symbol takes the shape of its expression."""
        rows, columns = expr.shape
        symbol = self.symbol(name, rows, columns, kind)
        group = self.group(kind)
        self.steps.append(Step(name, symbol, "", expr, rule, because, source, group=group))
        return symbol

    def made(self, *names: str) -> MatrixExpr:
        """The symbol of the first of these names that exists."""
        items = {item.name: item.symbol for item in (*self.inputs, *self.steps)}
        return next(items[name] for name in names if name in items)
