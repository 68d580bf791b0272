"""Attention's steps as equations, and what makes them: inputs, steps, one symbol for each.

A `Line` is a step. What it is made of is written as in the language of equations, products and
sums of letters by their names: ``memory W_K + b_K``. A name may be a role, such as ``memory`` or
``query``: the first there is of several matrices (`_roles`). A letter that no line has made is an
input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import Plan, g, h, p
from symattn.attention.words import Word
from symattn.nodes import operators
from symattn.nodes.arguments import Setting
from symattn.nodes.base import shape_of
from symattn.nodes.heads import Head, head_of, heads_in
from symattn.step import HEAD, Facts, Input, Step

#: One matrix for all heads; one for each query head; one for each group of keys and values.
SHARED, QUERY, GROUP = "shared", "query", "group"


@dataclass(frozen=True)
class Line:
    """A step: its name, what it is made of, and the facts of a plan with which it is taken.

    `node` is what the operands are given to, which commas part, a function the builder before
    them; without one there is a single operand, which is the step. A line without either is an
    input. Of the facts in `when` those after "-" must not hold.
    """

    name: str
    operands: str = ""
    when: str = ""
    node: Callable[..., MatrixExpr] | None = None
    why: str = ""
    source: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Choice:
    """A row of an axis: the steps it takes, and the words of the matrices that only it has.

    `options` may be said of it besides its name; `reads` reads those that are no numbers, and
    `check` refuses those that mean nothing together.
    """

    lines: tuple[Line, ...] = ()
    words: tuple[Word, ...] = ()
    options: tuple[str, ...] = ()
    reads: Mapping[str, Callable[[object], Setting]] = field(default_factory=dict)
    check: Callable[[Mapping[str, Setting]], None] | None = None


@dataclass
class Builder:
    """Collects inputs and steps in order."""

    plan: Plan
    words: Mapping[str, Word]
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    # ---- what the plan says --------------------------------------------------------------

    @property
    def start(self) -> sympy.Expr:
        """The position of the first new token: after those whose keys and values are cached."""
        return p if self.plan.cache else sympy.S.Zero

    @property
    def count(self) -> sympy.Expr:
        """The number of query heads."""
        return h if self.plan.heads == "h" else sympy.Integer(self.plan.heads or 1)

    @cached_property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """What each role may be, the last one made first."""
        return _roles(self.plan)

    def number(self, kind: str) -> sympy.Expr:
        """How many matrices of a kind there are: one for each head, or for each group."""
        groups = self.plan.kv_heads
        if kind != GROUP or groups is None:
            return self.count
        return g if groups == "g" else sympy.Integer(groups)

    def options(self, axis: str) -> dict[str, Setting]:
        """What is said of the choice on an axis besides its name."""
        return dict(getattr(self.plan, axis)[1])

    # ---- symbols -------------------------------------------------------------------------

    def called(self, name: str) -> str:
        """The name of the matrix that a name or a role stands for."""
        made = {item.name for item in (*self.inputs, *self.steps)}
        return next((one for one in self.roles.get(name, ()) if one in made), name)

    def first(self, name: str) -> MatrixExpr:
        """The matrix that a name or a role stands for; an input, where there is none yet."""
        name = self.called(name)
        items = {item.name: item.symbol for item in (*self.inputs, *self.steps)}
        return items[name] if name in items else self.given(name)

    def kind(self, name: str) -> str:
        """For whom there is one of a matrix."""
        word, facts = self.words[name], self.plan.facts
        if name == "W_O" and "sum" in facts:  # each head has rows of its own
            return QUERY
        tied = name.startswith("K") and "key-is-query" in facts  # a head's own queries are its keys
        if word.shared:
            return SHARED
        return GROUP if word.grouped and not tied else QUERY

    def used(self, name: str, kind: str) -> MatrixExpr:
        """A matrix as an operand: a key or value matrix as head i uses it: ⌊i g/h⌋, from 0."""
        symbol = self.first(name)
        apart = kind == QUERY and self.kind(self.called(name)) == GROUP
        if not apart or self.plan.kv_heads is None or head_of(symbol) is None:
            return symbol
        return symbol.at(sympy.floor(HEAD * self.number(GROUP) / self.count))

    def symbol(self, name: str, rows: sympy.Expr, columns: sympy.Expr, kind: str) -> MatrixExpr:
        """The symbol of a step or an input, one for each head or group where there are heads."""
        matrix = sympy.MatrixSymbol(self.words[name].letter, rows, columns)
        single = kind == SHARED or (kind == GROUP and self.plan.kv_heads == 1)
        return matrix if single or self.plan.heads is None else Head(matrix, HEAD)

    def facts(self, name: str, symbol: MatrixExpr, kind: str) -> Facts:
        """What is known of a matrix of this name and kind."""
        grouped = kind == GROUP and self.plan.kv_heads is not None
        count = None if head_of(symbol) is None else g if grouped else h
        return {"count": count, **self.words[name].facts}

    def _size(self, size: Setting) -> sympy.Expr:
        """A size of an input, which may be that of another matrix, or made when it is asked for."""
        if not isinstance(size, str):
            return size(self) if callable(size) else size
        name, _, axis = size.partition(".")
        rows, columns = shape_of(self.first(name))
        return columns if axis == "columns" else rows

    # ---- inputs and steps ----------------------------------------------------------------

    def given(
        self, name: str, kind: str = "", rows: Setting = None, columns: Setting = None
    ) -> MatrixExpr:
        """A new input; its sizes are those of its word, unless they are said."""
        word, kind = self.words[name], kind or self.kind(name)
        shape = self._size(rows or word.rows), self._size(columns or word.columns)
        symbol = self.symbol(name, *shape, kind)
        meaning = word.meaning or word.title
        self.inputs.append(Input(name, symbol, meaning, **self.facts(name, symbol, kind)))
        return symbol

    def step(
        self,
        name: str,
        expr: MatrixExpr,
        because: str = "",
        source: str = "",
        rule: str = "",
        kind: str = "",
    ) -> MatrixExpr:
        """A new step; its symbol takes the shape of its expression.

        What is not said of it here is said by its word or, where that says nothing, by its node.
        """
        word, shared = self.words[name], not heads_in(expr)
        kind = kind or (SHARED if word.grouped and shared else self.kind(name))
        said = (
            rule or word.rule or getattr(expr, "rule_name", ""),
            because or word.why or getattr(expr, "reason", ""),
            source or word.source or getattr(expr, "source", ""),
        )
        symbol = self.symbol(name, *shape_of(expr), kind)
        self.steps.append(Step(name, symbol, expr, *said, **self.facts(name, symbol, kind)))
        return symbol

    def take(self, lines: Iterable[Line]) -> None:
        """The steps and inputs of the lines that the plan has."""
        known = self.plan.facts
        for line in lines:
            wanted = {fact.removeprefix("-"): fact[0] != "-" for fact in line.when.split()}
            if any((fact in known) != holds for fact, holds in wanted.items()):
                continue
            if not line.operands and line.node is None:
                self.given(line.name)
                continue
            listed = filter(None, line.operands.split(", "))
            operands = [self._sum(text, self.kind(line.name)) for text in listed]
            if line.node is not None:
                owner = () if isinstance(line.node, type) else (self,)
                operands = [line.node(*owner, *operands)]
            self.step(line.name, operands[0], line.why, line.source, line.rule)

    def _sum(self, text: str, kind: str) -> MatrixExpr:
        """The sum of products that a line says; a bias is left out where nothing has one."""
        terms = [term.split() for term in text.split(" + ")]
        biased = self.plan.biases
        return operators.plus(
            [
                operators.times([self._factor(factor, kind) for factor in factors])
                for factors in terms
                if not factors[0].startswith("b_") or factors[0][-1] in biased
            ]
        )

    def _factor(self, text: str, kind: str) -> MatrixExpr:
        """One matrix of a product, transposed where ^T says so."""
        matrix = self.used(text.removesuffix("^T"), kind)
        return operators.transposed(matrix) if text.endswith("^T") else matrix


def _roles(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """What each role may be, of which the first there is stands for it."""
    x, latents = ("placed", "X"), ("latent_normed", "latent_cached", "latent")
    keys, queries = ("K_cached", "K"), ("Q_normed", "Q")
    own = latents if plan.absorbed else ("K_normed", *keys)
    scored = ("Q_scaled", "Q_features")
    last_query, last_key = (
        (f"{name}_normed",) if plan.norm_of(name).get("rotated") else () for name in "QK"
    )
    valued = x if plan.places_values else ("X",)
    return {
        "sequence": x,
        "tokens": ("Q_latent_normed", "Q_latent", *x),
        "second": ("memory", *x),
        "memory": (*latents, "memory", *x),
        "value_memory": (*latents, "memory_V", "memory", *valued),
        "new_key": ("K", "Q"),
        "own_key": (*keys, "Q"),
        "own_query": queries,
        "own_latent": ("latent_cached", "latent"),
        "content_key": (*own, "Q"),
        "content_query": ("Q_absorbed", *queries),
        "turned_key": ("K_position_cached", "K_position", *own, "Q"),
        "turned_query": ("Q_position", *queries),
        "one_axis": ("frequencies_scaled", "frequencies"),
        "all_axes": ("frequencies_axes", "frequencies_scaled", "frequencies"),
        "key_angles": ("key_angles", "query_angles"),
        "key_cos": ("key_cos", "query_cos"),
        "key_sin": ("key_sin", "query_sin"),
        "query": (*scored, *last_query, "Q_joined", "Q_rotated", "Q_absorbed", *queries, *x),
        "key": (
            *("K_scaled", "K_features", *scored, *last_key, "K_joined", "K_rotated"),
            *(*own, "Q_rotated", "Q", *x),
        ),
        "logits": ("selected", "masked", "biased", "capped", "scaled", "scores"),
        "latents": latents,
        "values": ("V_normed", "V_cached", "V", *keys, "Q", *valued),
        "up": ("W_V", "W_K"),
        "weighted": ("output_gated", "output_normed", "heads", "output"),
        "result": ("concat_normed", "concat", "output_gated", "output_normed", "output", "heads"),
    }
