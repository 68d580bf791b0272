"""A derivation as the operations of a program: its formulas run once over symbolic shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.recorded import Recorded, Recording, Value
from symattn.derivations import Derivation
from symattn.evaluate.walk import program_of_step
from symattn.nodes.base import Node, shape_of
from symattn.notation.letters import derived_from
from symattn.step import Input, Item, Step


@dataclass(frozen=True)
class Setting:
    """A number of a node that a caller may change: its name, type, meaning, and usual value."""

    name: str
    kind: str
    meaning: str
    value: sympy.Expr | bool = sympy.nan

    @property
    def symbol(self) -> sympy.Symbol:
        """What stands for it in formulas."""
        return sympy.Symbol(self.name, positive=True, integer=self.kind != "float")


#: The settings of nodes, by the names of their arguments; by the node's word too where it matters.
_SETTINGS = {
    "base": Setting("base", "float", "base of the wavelengths"),
    "cap": Setting("soft_cap", "float", "bound of the scores"),
    "left": Setting("window", "int", "how far the window reaches back, in tokens"),
    "right": Setting("lookahead", "int", "how far it reaches ahead"),
    "both": Setting("window", "int", "how far the window reaches on each side, in tokens"),
    "prefix length": Setting("prefix", "int", "length of the prefix"),
    "padding length": Setting("length", "int", "number of keys that are no padding, at least 1"),
    "width": Setting("width", "int", "number of keys on each side of the query's own"),
    "step": Setting("step", "int", "distance between neighbours among them"),
    "stride": Setting(
        "stride", "int", "number of preceding keys that are seen, and the step between earlier ones"
    ),
    "chunk size": Setting("chunk", "int", "number of tokens in a chunk"),
    "grid": Setting("grid", "int", "number of columns of the grid"),
    "side": Setting("window", "int", "side of a window"),
    "shift": Setting("shift", "int", "how far the windows are shifted, in cells"),
    "topk count": Setting("count", "int", "number of keys that a query keeps"),
    "buckets": Setting("buckets", "int", "number of buckets"),
    "furthest": Setting("max_distance", "int", "distance from which all share the last bucket"),
    "bidirectional": Setting(
        "bidirectional", "bool", "whether later keys have buckets of their own"
    ),
}


@dataclass(frozen=True)
class Program:
    """What is given and what each step is, as values of operations.

    `sizes` are known beforehand, `order` is that in which sizes are listed. `conditions` are the
    letters of masks that are 0 or −∞ in the derivation, and here true where that is 0.
    """

    inputs: tuple[tuple[Input, Recorded], ...]
    steps: tuple[tuple[Step, Recorded], ...]
    settings: tuple[Setting, ...] = ()
    sizes: Mapping[sympy.Symbol, int] | None = None
    order: tuple[str, ...] = ()
    conditions: frozenset[str] = frozenset()

    @property
    def tokens(self) -> frozenset[sympy.Symbol]:
        """The sizes that count queries and keys."""
        return _tokens(item for item, _ in (*self.inputs, *self.steps))

    def batched(self, value: Recorded) -> bool:
        """Whether what is given has a row for each token, so that a batch has several of it."""
        return value.ndim > 1 and bool(self.tokens & value.shape[-2].free_symbols)


def _tokens(items: Iterable[Item]) -> frozenset[sympy.Symbol]:
    return frozenset(
        symbol
        for item in items
        if item.weights
        for size in item.shape
        for symbol in size.free_symbols
    )


def recorded(derivation: Derivation) -> Program:
    """The program of a derivation for any sizes.

    What is learned as a single row or column is given without that axis, as is its gradient, masks
    are conditions, and the loss is left to the caller. Raises `CannotSpell` for a formula that
    cannot be followed.
    """
    recording = Recording()
    derivation = _with_heads(derivation)
    settings: dict[str, Setting] = {}
    used = {part for step in derivation.steps for part in step.expr.atoms(sympy.MatrixSymbol)}
    own = (step for step in derivation.steps if not step.is_number or step.symbol in used)
    steps = [_set(step, settings) for step in own]
    axes = _vectors(derivation)
    inputs, known = _given(recording, derivation.inputs, axes, settings)
    found: list[tuple[Step, Recorded]] = []
    for step in steps:
        value: Value = program_of_step(step, {})(known.__getitem__, recording)
        known[step.letter] = value
        for axis in reversed(axes.get(_origin(step.letter), ())):
            value = recording.pick(value, 0, axis)
        found.append((step, value))
    conditions = _conditions(recording, found)
    return Program(
        tuple(inputs),
        tuple((step, conditions.get(step.letter, value)) for step, value in found),
        tuple(settings.values()),
        derivation.sizes,
        derivation.order,
        frozenset(conditions),
    )


def _given(
    recording: Recording,
    items: Iterable[Input],
    axes: Mapping[str, Sequence[int]],
    settings: dict[str, Setting],
) -> tuple[list[tuple[Input, Recorded]], dict[str, Value]]:
    """What is given, without the `axes` of length 1, and by letter what formulas take, with them.

    A table of buckets says how many there are, which is no setting then.
    """
    buckets = settings.get("buckets")
    inputs: list[tuple[Input, Recorded]] = []
    known: dict[str, Value] = {}
    for item in items:
        shape = item.shape if item.count is None else (item.count, *item.shape)
        if buckets and item.shape == (buckets.value, 1):  # the table says how many there are
            shape = (*shape[:-2], buckets.symbol, sympy.S.One)
            settings.pop("buckets", None)
        dropped = axes.get(_origin(item.letter), ())
        if dropped:
            shape = (*shape[:-2], *(size for size in shape[-2:] if size != 1))
        matrix = recording.given(item.letter, shape, logits=item.logits, batched=not dropped)
        known[item.letter] = reduce(recording.expand, dropped, matrix)
        inputs.append((item, matrix))
    return inputs, known


def _with_heads(derivation: Derivation) -> Derivation:
    """The derivation with a number of heads that was said put in, which is in formulas, too."""
    heads = {item.count for item in (*derivation.inputs, *derivation.steps)}
    said = {size: count for size, count in derivation.sizes.items() if size in heads}
    return replace(
        derivation,
        inputs=tuple(item.subs(said) for item in derivation.inputs),
        steps=tuple(step.subs(said) for step in derivation.steps),
    )


def _conditions(
    recording: Recording, steps: Iterable[tuple[Step, Recorded]]
) -> dict[str, Recorded]:
    """By letter where a query may attend, of the masks that say no more."""
    allowed = {step.letter: recording.allowed_by(value) for step, value in steps if step.fixed}
    return {letter: value for letter, value in allowed.items() if value is not None}


def _vectors(derivation: Derivation) -> dict[str, tuple[int, ...]]:
    """By letter the axes, to be put back in turn, of what is given without those of length 1.

    There are none where nothing says which sizes count tokens.
    """
    tokens = _tokens((*derivation.inputs, *derivation.steps))
    return {
        item.letter: (-1, -1) if item.shape == (1, 1) else (item.shape.index(1) - 2,)
        for item in (derivation.inputs if tokens else ())
        if 1 in item.shape
        and (item.per_head or item.shape != (1, 1))
        and not any(tokens & size.free_symbols for size in item.shape)
    }


def _origin(letter: str) -> str:
    """The letter that a gradient or a change is derived from, or the letter itself."""
    while (derived := derived_from(letter)) is not None:
        _, letter = derived
    return letter


def _set(step: Step, settings: dict[str, Setting]) -> Step:
    """The step with symbols for the settings of its nodes; `settings` gets those that are new.

    A second number of the same name stays a number.
    """

    def with_symbols(node: Node) -> Node:
        args = list(node.args)
        if "clip" in node.places and node.clip >= 0:  # then distances are clipped, and no buckets
            return node
        for place, (argument, value) in enumerate(zip(node.arguments, node.args, strict=True)):
            row = _SETTINGS.get(f"{node.word} {argument.name}") or _SETTINGS.get(argument.name)
            if {"left", "right"} <= {*node.places} and node.left == node.right:
                row = _SETTINGS["both"]
            if row and value.is_number and value.is_finite and (value > 0 or row.kind == "bool"):
                row = replace(row, value=bool(value) if row.kind == "bool" else value)
                if settings.setdefault(row.name, row) == row:
                    args[place] = row.symbol
        return MatrixExpr.__new__(type(node), *args)  # type: ignore[no-any-return]

    expr = step.expr.replace(lambda part: isinstance(part, Node) and part.arguments, with_symbols)
    sizes = dict(zip(step.shape, shape_of(expr), strict=True))  # one may be a setting now
    return replace(step, symbol=step.symbol.xreplace(sizes), expr=expr)
