"""A derivation's formulas, run over references in place of numbers: the lines of a program.

`Tracing` is an `Arithmetic` whose arrays hold references to entries of earlier lines. A node's
own formula, called with it, writes down what it does; so the program cannot say anything else than
the node. What NumPy does to an array on the way (slices, joins, broadcasts) moves references about,
and `symattn.documents.code.views` reads from them how each operand is taken from the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.exact import EXACT
from symattn.derivation import Evaluation
from symattn.documents.code.views import PLACES, View, view
from symattn.errors import CannotSpell
from symattn.evaluate.walk import program_of
from symattn.nodes.masks import AnyOf, Mask
from symattn.step import Input, Item

#: A parameter that divides what the weights are made of; 1 leaves everything as it is.
TEMPERATURE = "temperature"


@dataclass(frozen=True)
class Scalar:
    """A number that stands in a formula, or a parameter by its name."""

    value: sympy.Expr | str


@dataclass(frozen=True, eq=False)
class Line:
    """One line: what is done to which operands, and the shape of what comes out.

    The operations ``input`` and ``literal`` have no operands; ``is`` takes its one operand as it
    stands. `step` is what the line is for a reader: a step of the derivation.
    """

    number: int
    operation: str
    operands: tuple[View | Scalar, ...]
    shape: tuple[int, ...]
    name: str = ""
    step: Item | None = None
    literal: Array | None = None
    #: What a literal follows from: a mask, or what `general` finds.
    made: Any = None


class References(np.ndarray[Any, Any]):
    """References as an array: NumPy may move them about and turn their sign, nothing else."""

    owner: Tracing

    def __array_finalize__(self, made_from: Any) -> None:
        self.owner = getattr(made_from, "owner", None)  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(value) for value in inputs]
        if ufunc is np.negative and method == "__call__":
            return self.owner.references(-plain[0])
        if ufunc in _LOGIC and method == "__call__":
            return self.owner.record(_LOGIC[ufunc], *plain)
        raise CannotSpell(f"a formula uses NumPy's {ufunc.__name__} outside its arithmetic")

    def all(self, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Whether all along the last axis hold."""
        return self._along("all", axis)

    def any(self, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Whether any along the last axis holds; a guard before an error (no axis) never does."""
        return False if axis is None else self._along("any", axis)

    def _along(self, operation: str, axis: Any) -> Any:
        if axis != -1:
            raise CannotSpell(f"a formula asks for {operation} over axis {axis}")
        return self.owner.record(operation, self, shape=(*self.shape[:-1], 1))


_LOGIC = {np.bitwise_or: "or", np.bitwise_and: "and", np.invert: "not"}


@dataclass
class Tracing(Arithmetic):
    """Writes down each operation as a `Line` and answers with references to its entries."""

    name = "tracing"
    lines: list[Line] = field(default_factory=list)
    #: The number of each line by what it says.
    said: dict[Any, int] = field(default_factory=dict)

    def references(self, codes: Array) -> References:
        """The codes as an array that watches over them."""
        made = np.asarray(codes).view(References)
        made.owner = self
        return made

    def record(
        self, operation: str, *operands: Any, shape: tuple[int, ...] | None = None, **told: Any
    ) -> References:
        """A new line; its shape is that of its operands together unless it is told."""
        views = tuple(self._operand(operand) for operand in operands)
        if shape is None:
            arrays = [part.shape for part in views if isinstance(part, View)]
            shape = tuple(np.broadcast_shapes(*arrays))
        line = Line(len(self.lines) + 1, operation, views, shape, **told)
        key = _key(line)
        number = self.said.setdefault(key, line.number)  # nothing is computed twice
        if number == line.number:
            self.lines.append(line)
        return self.references(number * PLACES + np.arange(int(np.prod(shape))).reshape(shape))

    def _operand(self, operand: Any) -> View | Scalar:
        if isinstance(operand, Scalar):
            return operand
        return view(np.asarray(operand), {line.number: line.shape for line in self.lines})

    def scalar(self, value: sympy.Expr) -> Any:
        return Scalar(value)

    def array(self, exact: Array) -> Array:
        return self.record("literal", shape=exact.shape, literal=exact)

    def mask(self, mask: Mask, sizes: Mapping[sympy.Symbol, int]) -> Array:
        """A mask that follows from positions alone, as a matrix of its own."""
        exact = program_of(mask, sizes)(lambda _: np.array([]), EXACT)
        return self.record("literal", shape=exact.shape, literal=exact, made=mask)

    def exp(self, x: Array) -> Array:
        return self.record("exp", x)

    def apply(self, name: str, x: Array) -> Array:
        return self.record(name, x)

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return self.record("hidden", x)

    def equals(self, x: Array, number: int) -> NDArray[np.bool_]:
        return self.record("equals", x, Scalar(sympy.Integer(number)))

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        return self.equals(x, 0)

    def shift(self, x: Array) -> Array:
        return self.lowered(x)

    def inverse(self, x: Array) -> Array:
        raise CannotSpell("the inverse of a matrix has no program here")

    def row_max(self, x: Array) -> Array:
        return self._by_row("row_max", x)

    def lowered(self, x: Array) -> Array:
        return self.record("subtract", x, self.row_max(x))

    def threshold(self, x: Array) -> Array:
        return self._by_row("threshold", x)

    def first_largest(self, x: Array) -> Array:
        return self.record("first_largest", x)

    def row_sum(self, x: Array) -> Array:
        return self._by_row("row_sum", x)

    def _by_row(self, operation: str, x: Array) -> Array:
        return self.record(operation, x, shape=(*x.shape[:-1], 1))

    def matmul(self, a: Array, b: Array) -> Array:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return self.record("matmul", a, b, shape=(*lead, a.shape[-2], b.shape[-1]))

    def add(self, a: Array, b: Array) -> Array:
        if (np.asarray(b) < 0).all():  # minus entries
            return self.record("subtract", a, -np.asarray(b))
        return self.record("add", a, b)

    def multiply(self, a: Array | Any, b: Array | Any) -> Array:
        return self.record("multiply", a, b)

    def divide(self, a: Array, b: Array | Any) -> Array:
        by_one = isinstance(b, Scalar) and b.value == 1
        return a if by_one else self.record("divide", a, b)

    def where(self, condition: NDArray[np.bool_], a: Array | Any, b: Array | Any) -> Array:
        if condition.dtype != bool:  # references, watched over or not
            return self.record("where", condition, a, b)
        if isinstance(a, Scalar) and isinstance(b, Scalar):  # known from positions alone
            exact = np.where(condition, np.array(a.value, object), np.array(b.value, object))
            return self.array(exact)
        known = np.where(condition, sympy.S.One, sympy.S.Zero)
        return self.record("where", self.equals(self.array(known), 1), a, b)


@dataclass(frozen=True)
class Program:
    """A derivation as lines, in order; only what a step needs is among them."""

    inputs: tuple[Input, ...]
    lines: tuple[Line, ...]
    parameters: tuple[str, ...] = ()
    #: The names of sizes as they are to be listed.
    order: tuple[str, ...] = ()


def traced(evaluation: Evaluation, *, given: Collection[str] = (), tempered: str = "") -> Program:
    """The program of a derivation at the shapes of what was given; no number of it is read.

    Steps whose names are `given` become inputs too. The step named `tempered` is divided by a
    parameter, `TEMPERATURE`. Raises `CannotSpell` for a formula that cannot be followed.
    """
    tracing = Tracing()
    known: dict[str, Array] = {}
    steps = evaluation.steps
    taken = [*evaluation.inputs, *(Input.of(step) for step in steps if step.name in given)]
    for item in taken:
        shape = evaluation.array(item.letter).shape
        known[item.letter] = tracing.record("input", shape=shape, name=item.letter, step=item)
    for step in steps:
        if step.name in given:
            continue
        masks = {f"mask {k}": mask for k, mask in enumerate(_masks(step.expr))}
        known |= {letter: tracing.mask(mask, evaluation.sizes) for letter, mask in masks.items()}
        named = {mask: sympy.MatrixSymbol(letter, *mask.shape) for letter, mask in masks.items()}
        apart = replace(step, expr=step.expr.xreplace(named)) if masks else step
        value = evaluation.follow(apart, known.__getitem__, tracing)
        if step.name == tempered:
            value = tracing.divide(value, Scalar(TEMPERATURE))
        known[step.letter] = tracing.record(
            "is", np.asarray(value), shape=value.shape, name=step.letter, step=step
        )
    parameters = (TEMPERATURE,) if tempered else ()
    lines = _needed([*_plainer(tracing.lines)])
    return Program(tuple(taken), lines, parameters, evaluation.order)


def _masks(expr: MatrixExpr) -> list[MatrixExpr]:
    """The masks in an expression that follow from positions alone, joined ones as a whole."""
    joined = [part for part in expr.atoms(AnyOf) if not part.atoms(sympy.MatrixSymbol)]
    inside = {mask for part in joined for mask in part.atoms(Mask)}
    return sorted([*joined, *(expr.atoms(Mask) - inside)], key=str)


def _key(line: Line) -> Any:
    """What a line says: two lines with the same key are the same."""
    if line.name:
        return line.number
    literal = None if line.literal is None else tuple(line.literal.ravel().tolist())
    told = tuple(map(str if isinstance(line.made, MatrixExpr) else repr, [line.made]))
    return line.operation, tuple(map(_told, line.operands)), line.shape, literal, told


def _told(part: View | Scalar) -> Any:
    if isinstance(part, Scalar):
        return part
    details = np.asarray(part.details).tobytes() if isinstance(part.details, np.ndarray) else None
    told = details or repr(part.details)
    return part.kind, part.line, part.shape, told, tuple(map(_told, part.parts))


def _plainer(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines in which a choice is not made again where an outer one has made it.

    ``where(c, a, where(c, 0, x) + y)`` is ``where(c, a, x + y)``.
    """
    by_number = {line.number: line for line in lines}
    uses = Counter(
        number
        for line in lines
        for part in line.operands
        if isinstance(part, View)
        for number in part.lines
    )

    def settled(part: View | Scalar, condition: Any) -> View | Scalar:
        if not isinstance(part, View) or part.kind != "line":
            return part
        line = by_number[part.line]
        if line.operation == "where" and _told(line.operands[0]) == condition:
            return line.operands[2]
        if line.operation in ("add", "subtract", "multiply") and uses[line.number] == 1:
            operands = tuple(settled(inner, condition) for inner in line.operands)
            by_number[line.number] = replace(line, operands=operands)
        return part

    for line in lines:
        if line.operation == "where":
            chosen, one, other = line.operands
            other = settled(other, _told(chosen))
            by_number[line.number] = replace(line, operands=(chosen, one, other))
    return iter(by_number.values())


def _needed(lines: list[Line]) -> tuple[Line, ...]:
    """The lines that lead to a step; guards that only led to an error are left out."""
    wanted: set[int] = set()
    for line in reversed(lines):
        if line.step is not None or line.number in wanted:
            wanted |= {
                number for part in line.operands if isinstance(part, View) for number in part.lines
            }
            wanted.add(line.number)
    return tuple(line for line in lines if line.number in wanted)
