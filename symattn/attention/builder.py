"""What every stage of the building uses: inputs, steps, and one symbol for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import Plan, g, h, m, n, p
from symattn.attention.words import Parameter, Word
from symattn.nodes.arguments import Setting
from symattn.nodes.heads import Head
from symattn.step import HEAD, Facts, Input, Step

#: One matrix for all heads; one for each query head; one for each group of keys and values.
SHARED, QUERY, GROUP = "shared", "query", "group"


@dataclass(frozen=True)
class Choice:
    """A row of an axis: the steps it takes, and the words of what it reads and makes.

    `steps` is given the builder, what its axis says, and the symbols of the `parameters`; `makes`
    are the steps that no other row makes. `options` may be said of it besides its name.
    """

    steps: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    makes: tuple[Word, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """All words that the row brings."""
        return (*self.parameters, *self.makes)


@dataclass
class Builder:
    """Collects inputs and steps in order; `made` finds the symbol of a name."""

    plan: Plan
    words: Mapping[str, Word]
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def keys(self) -> sympy.Expr:
        """The number of keys that come with this sequence: the queries' own in self-attention."""
        return n if self.plan.source in ("self", "bare") else m

    @property
    def start(self) -> sympy.Expr:
        """The position of the first new token: after those whose keys and values are cached."""
        return p if self.plan.cache else sympy.S.Zero

    @property
    def count(self) -> sympy.Expr:
        """The number of query heads."""
        return h if self.plan.heads == "h" else sympy.Integer(self.plan.heads or 1)

    @property
    def key_kind(self) -> str:
        """Keys are one for each group; where they are the queries, one for each head."""
        return QUERY if self.plan.tie == "query-key" else GROUP

    def key_head(self) -> sympy.Expr:
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

    def symbol(self, name: str, rows: sympy.Expr, columns: sympy.Expr, kind: str) -> MatrixExpr:
        """The symbol of a step or an input, one for each head or group where there are heads."""
        matrix = sympy.MatrixSymbol(self.words[name].letter, rows, columns)
        single = self.plan.heads is None or kind == SHARED
        if kind == GROUP and self.plan.kv_heads == 1:
            single = True
        return matrix if single else Head(matrix, HEAD)

    def facts(self, name: str, symbol: MatrixExpr, kind: str) -> Facts:
        """What is known of a matrix of this name and kind."""
        grouped = kind == GROUP and self.plan.kv_heads is not None
        count = (g if grouped else h) if isinstance(symbol, Head) else None
        return {"count": count, **self.words[name].facts}

    def given(
        self, name: str, rows: sympy.Expr, columns: sympy.Expr, meaning: str, kind: str = SHARED
    ) -> MatrixExpr:
        """A new input."""
        symbol = self.symbol(name, rows, columns, kind)
        self.inputs.append(Input(name, symbol, meaning, **self.facts(name, symbol, kind)))
        return symbol

    def parameters(self, wanted: Iterable[Parameter], *sizes: Setting) -> tuple[MatrixExpr, ...]:
        """New inputs for the parameters of a row, whose shapes follow from these sizes."""
        return tuple(
            self.given(one.name, *one.shape(*sizes), one.meaning, SHARED if one.shared else QUERY)
            for one in wanted
        )

    def step(
        self,
        name: str,
        expr: MatrixExpr,
        rule: str = "",
        because: str = "",
        source: str = "",
        kind: str = QUERY,
    ) -> MatrixExpr:
        """A new step; its symbol takes the shape of its expression.

        What is not said of it here is said by its word or, where that says nothing, by its node.
        """
        word = self.words[name]
        rule = rule or word.rule or getattr(expr, "rule_name", "")
        because = because or word.why or getattr(expr, "reason", "")
        source = source or word.source or getattr(expr, "source", "")
        rows, columns = expr.shape
        symbol = self.symbol(name, rows, columns, kind)
        facts = self.facts(name, symbol, kind)
        self.steps.append(Step(name, symbol, expr, rule, because, source, **facts))
        return symbol

    def first(self, *names: str) -> MatrixExpr:
        """The symbol of the first of these names that exists."""
        items = {item.name: item.symbol for item in (*self.inputs, *self.steps)}
        return next(items[name] for name in names if name in items)
