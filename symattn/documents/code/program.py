"""A derivation as the operations of a program: its formulas run once over symbolic shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.recorded import Recorded, Recording, Value
from symattn.derivation import Derivation
from symattn.evaluate.values import program_of_step
from symattn.nodes.base import Node, shape_of
from symattn.step import Input, Step

#: A parameter that divides what the weights are made of; 1 leaves everything as it is.
TEMPERATURE = "temperature"


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


#: The settings of nodes, by the names of their arguments.
_SETTINGS = {
    "base": Setting("base", "float", "base of the wavelengths"),
    "cap": Setting("soft_cap", "float", "bound of the scores"),
    "left": Setting("window", "int", "distance to the furthest token that a query attends to"),
    "right": Setting("lookahead", "int", "largest distance ahead that a query attends to"),
    "length": Setting("length", "int", "number of first keys every query attends to, at least 1"),
    "width": Setting("width", "int", "number of keys a query attends to on each side"),
    "step": Setting("step", "int", "distance between these keys"),
    "stride": Setting(
        "stride", "int", "number of preceding tokens a query attends to, and the step beyond them"
    ),
    "buckets": Setting("buckets", "int", "number of buckets"),
    "furthest": Setting("max_distance", "int", "distance from which all share the last bucket"),
    "bidirectional": Setting(
        "bidirectional", "bool", "whether keys ahead have buckets of their own"
    ),
}


@dataclass(frozen=True)
class Program:
    """What is given and what each step is, as values of operations.

    `sizes` are known beforehand, `order` is that in which sizes are listed.
    """

    inputs: tuple[tuple[Input, Recorded], ...]
    steps: tuple[tuple[Step, Recorded], ...]
    parameters: tuple[Recorded, ...] = ()
    settings: tuple[Setting, ...] = ()
    sizes: Mapping[sympy.Symbol, int] | None = None
    order: tuple[str, ...] = ()


def recorded(derivation: Derivation, *, given: Collection[str] = (), tempered: str = "") -> Program:
    """The program of a derivation for any sizes.

    Steps whose names are `given` become inputs. The step named `tempered` is divided by a
    parameter, `TEMPERATURE`. Raises `CannotSpell` for a formula that cannot be followed.
    """
    recording = Recording()
    heads = {item.count for item in (*derivation.inputs, *derivation.steps)}
    said = {size: count for size, count in derivation.sizes.items() if size in heads}
    derivation = replace(  # a number of heads that was said is in formulas, too
        derivation,
        inputs=tuple(item.subs(said) for item in derivation.inputs),
        steps=tuple(step.subs(said) for step in derivation.steps),
    )
    settings: dict[str, Setting] = {}
    steps = [_set(step, settings) for step in derivation.steps if step.name not in given]
    buckets = settings.get("buckets")
    taken = [step for step in derivation.steps if step.name in given]
    inputs = []
    for item in (*derivation.inputs, *map(Input.of, taken)):
        shape = item.shape if item.count is None else (item.count, *item.shape)
        if buckets and item.shape == (buckets.value, 1):  # the table says how many there are
            shape = (*shape[:-2], buckets.symbol, sympy.S.One)
            settings.pop("buckets", None)
        inputs.append((item, recording.given(item.letter, shape, logits=item.logits)))
    known: dict[str, Value] = {item.letter: value for item, value in inputs}
    temperature = recording.given(TEMPERATURE, ())
    found = []
    for step in steps:
        value: Value = program_of_step(step, {})(known.__getitem__, recording)
        if step.name == tempered:
            value = recording.divide(value, temperature)
        known[step.letter] = value
        found.append((step, value))
    return Program(
        tuple(inputs),
        tuple(found),
        (temperature,) if tempered else (),
        tuple(settings.values()),
        derivation.sizes,
        derivation.order,
    )


def _set(step: Step, settings: dict[str, Setting]) -> Step:
    """The step with symbols for the settings of its nodes; `settings` gets those that are new.

    A second number of the same name stays a number.
    """

    def with_symbols(node: Node) -> Node:
        args = list(node.args)
        if "clip" in node.places and node.clip >= 0:  # then distances are clipped, and no buckets
            return node
        for place, (argument, value) in enumerate(zip(node.arguments, node.args, strict=True)):
            equal = argument.name == "right" and value == node.args[place - 1]  # both sides
            row = _SETTINGS.get("left" if equal else argument.name)
            if row and value.is_number and value.is_finite and (value > 0 or row.kind == "bool"):
                usual = bool(value) if row.kind == "bool" else value
                if settings.setdefault(row.name, replace(row, value=usual)).value == usual:
                    args[place] = row.symbol
        return MatrixExpr.__new__(type(node), *args)  # type: ignore[no-any-return]

    expr = step.expr.replace(lambda part: isinstance(part, Node) and part.arguments, with_symbols)
    sizes = dict(zip(step.shape, shape_of(expr), strict=True))  # one may be a setting now
    return replace(step, symbol=step.symbol.xreplace(sizes), expr=expr)
