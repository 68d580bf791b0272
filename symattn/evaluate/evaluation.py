"""`Evaluation`: the values of a derivation at given numbers, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import sympy

from symattn import handed
from symattn.arguments import instance, whole
from symattn.arithmetic.abbreviated import simplified
from symattn.arithmetic.balls import finer
from symattn.arithmetic.base import Array, elementwise
from symattn.arithmetic.decide import Digits, enclosure
from symattn.arithmetic.enclosure import BITS
from symattn.errors import NoSuchName, NoSuchPlace, SymattnError, nearest, quote
from symattn.evaluate.check import Check, beyond, compare
from symattn.evaluate.matrices import Place
from symattn.evaluate.value_view import matrices, value_view
from symattn.evaluate.values import Values
from symattn.evaluate.worked import worked
from symattn.notation.latex import latex
from symattn.notation.mime import bundle
from symattn.notation.options import MAX_DIGITS, Notation, notation_of
from symattn.notation.text import box, side_by_side
from symattn.notation.tree import Tree
from symattn.step import Item, Step, called


class Evaluation(Values):
    """A derivation's values. ``evaluation["weights"]`` gives one step's, as a `StepValue`.

    Made by `Derivation.evaluate`; nothing is computed before it is asked for. It shows itself in
    its `notation`.
    """

    notation: Notation = Notation()

    def spelled(self, notation: Notation) -> Self:
        """The same values, shown in another notation.

        >>> from symattn import Attention, Notation
        >>> values = Attention().derivation().evaluate(Q=[[1]], K=[[1], [0]], V=[[1], [2]])
        >>> print(values.spelled(Notation(digits=2))["weights"]._repr_mimebundle_()["text/plain"])
        A ≈ [ 0.73  0.27 ]
        """
        other = copy(self)
        other.notation = notation_of(notation, self.notation)
        return other

    def called_as(self, other: Evaluation) -> Self:
        """The same values, whose entries are named as those of another evaluation are."""
        instance(other, Evaluation, "other", "an Evaluation")
        mine = self.spelled(other.notation)
        mine._item, mine._batched = other._item, other._batched
        return mine

    def __getitem__(self, name: str) -> StepValue:
        if not isinstance(name, str) or name not in self:
            raise NoSuchName(f"no step is called {quote(name)}{nearest(name, self._by_name)}")
        return StepValue(self, self._by_name[self._names.get(name, name)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._by_name or name in self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        names = called((*self.inputs, *self.steps), self.notation.steps, self.notation)
        shown = [s for s in self.steps if s.name in (names or self)]
        trees = [tree for step in shown for tree in StepValue(self, step)._trees()]
        return _bundle(trees, gathered=True)

    def __repr__(self) -> str:
        return f"<Evaluation of {', '.join(self._by_name)}>"

    def check(self) -> Check:
        """NumPy's values compared with the proven ones, step by step.

        >>> from symattn import Attention
        >>> values = Attention().derivation().evaluate(Q=[[1, 0]], K=[[1, 1]], V=[[3]])
        >>> values.check().agrees
        True
        """
        lost = {item.letter for item in self.inputs if self._overflows(item.letter)}
        steps = []
        for step in self.steps:
            allowed = self.rounded(step.letter)
            found = compare(
                step.name,
                self.array(step.letter),
                self._true(step.letter, allowed),
                allowed,
                after=bool(lost & set(step.operands)),
            )
            lost |= {step.letter} if found.overflowed else set()
            steps.append(found)
        return Check(self.arithmetic.dtype.name, tuple(steps))

    def _true(self, letter: str, allowed: Array) -> Array:
        """Proven enclosures, of more bits where some are not much finer than what is allowed."""
        found = self.balls(letter, BITS[0])
        is_fine = all(map(finer, found.flat, allowed.flat))
        return found if is_fine else self.balls(letter, BITS[1])

    def compare(self, explain: bool = True, **arrays: object) -> Any:
        """What a program computed, compared with the true values, step by step.

        `arrays` are given by the names of their steps or inputs: arrays or tensors of any library
        and dtype, each in the shape of its step (heads and batches first). A number is right if it
        lies within what rounding in its own dtype can do to it, as `check` has it for NumPy; one
        that is not right may follow from the arrays before it. The marks are those of a hand
        calculation: `passed`, `first_wrong`, `entries`, and `explanations`, which misconceptions
        would produce the numbers (`explain`). They print as the report.

        Raises `SymattnError` for what is no step, has another shape or holds no real numbers.

        >>> import numpy as np
        >>> from symattn import Attention
        >>> values = Attention().derivation().evaluate(Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])
        >>> values.compare(weights=np.array([[0.66, 0.34]], dtype=np.float16)).passed
        False
        >>> marks = values.compare(weights=np.array([[0.66976155, 0.33023845]], dtype=np.float32))
        >>> marks.passed
        True
        """
        return handed.compare(self, explain, **arrays)

    def _overflows(self, letter: str) -> bool:
        """Whether a number that was given does not fit into the dtype."""
        array = self.array(letter)
        if np.isfinite(array).all():
            return False
        true = self.balls(letter, BITS[1])
        return any(map(beyond, array.flat, true.flat))


class StepValue:
    """The value of one step: `exact`, `balls`, `array`, and decimals that are proven."""

    def __init__(self, evaluation: Evaluation, step: Item) -> None:
        instance(evaluation, Evaluation, "evaluation", "an Evaluation")
        instance(step, Item, "step", "a Step or an Input")
        self.evaluation, self.step = evaluation, step

    @property
    def name(self) -> str:
        """The step's name."""
        return self.step.name

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns), with the heads and any batches before them."""
        return self.evaluation.shape(self.step.letter)

    @property
    def exact(self) -> Any:
        """The exact value: a SymPy matrix, or a tuple of them, one for each head."""
        return _matrices(elementwise(simplified, self.evaluation.exact(self.step.letter)))

    @property
    def balls(self) -> Array:
        """Arb balls that provably contain the value, in an object array."""
        return self.evaluation.balls(self.step.letter, 128)

    @property
    def array(self) -> Array:
        """NumPy's value."""
        return self.evaluation.array(self.step.letter)

    def digits(self, place: Place, notation: Notation | None = None) -> Digits:
        """One entry as a proven decimal; `place` counts from 0."""
        notation = notation_of(notation, self.evaluation.notation)
        return self.evaluation.digits(self.step.letter, place, notation)

    def decimals(self, digits: int = 4) -> Any:
        """All entries as decimals, in nested lists of strings.

        A number that ends within the digits is written exactly, without further zeros.
        """
        found = self.evaluation.all_digits(self.step.letter, Notation(digits=digits))
        return elementwise(lambda one: one.text, found).tolist()

    def enclosures(self, digits: int = 20) -> Array:
        """Every entry's lower and upper decimal bound, as an object array of pairs of strings."""
        whole(digits, "digits", 1, MAX_DIGITS)
        return elementwise(lambda value: enclosure(value, digits), self.balls)

    def worked(
        self,
        row: int,
        column: int,
        head: int | None = None,
        notation: Notation | None = None,
        *,
        batch: int | None = None,
    ) -> Tree:
        """One entry worked out, as a notation tree; row, column and head as the reader counts.

        Of a step with a value for each item of a batch, `batch` says of which.

        >>> from symattn import Attention, text
        >>> values = Attention().derivation().evaluate(Q=[[1, 2]], K=[[3, 4]], V=[[5]])
        >>> text(values["scaled"].worked(1, 1))
        'z_11 = (1·3 + 2·4)/√2 = 11/√2 ≈ 7.7782'
        """
        notation = notation_of(notation, self.evaluation.notation)
        if not isinstance(self.step, Step):
            raise SymattnError(f"{self.name} is given; only a step can be worked out")
        if len(self.shape) == 3 + self.step.per_head:
            if batch is None:
                raise SymattnError(f"{self.name}: say which item of the batch")
            item = self.evaluation.of_batch(self._counted(batch, self.shape[0], notation))
            return item[self.name].worked(row, column, head, notation)
        if batch is not None:
            raise SymattnError(f"{self.name}: has no batch")
        rows, columns = self.shape[-2:]
        if notation.convention == "columns":
            rows, columns = columns, rows
        place = self._counted(row, rows, notation), self._counted(column, columns, notation)
        which = self._head(head, notation)
        return worked(self.evaluation, self.step, *place, head=which, notation=notation)

    def _counted(self, index: int, size: int, notation: Notation) -> int:
        """An index counted from 0, of one that is counted as the reader does."""
        base = notation.index_base
        number = whole(index, f"{self.name}: row, column, head or item", -(10**9))
        if not 0 <= number - base < size:
            raise NoSuchPlace(
                f"{self.name}: there is no row, column, head or item {quote(number)}; here "
                f"they are {base} to {size - 1 + base}"
            )
        return number - base

    def _head(self, head: int | None, notation: Notation) -> int | None:
        if self.step.per_head is (head is None):
            wrong = "say which head" if head is None else "has no heads"
            raise SymattnError(f"{self.name}: {wrong}")
        return None if head is None else self._counted(head, self.shape[-3], notation)

    def trees(self, head: int | None = None, notation: Notation | None = None) -> tuple[Tree, ...]:
        """The value view as notation trees: a matrix, or an equation for each long entry."""
        notation = notation_of(notation, self.evaluation.notation)
        return value_view(self.evaluation, self.step, self._head(head, notation), notation)

    def _trees(self) -> list[Tree]:
        notation = self.evaluation.notation
        trees, _ = matrices(self.evaluation, self.step, notation)
        # how many characters wide a line of matrices is in a notebook
        return trees if notation.heads == "column" else side_by_side(trees, 88)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        trees = self._trees()
        return _bundle(trees, gathered=len(trees) > 1)

    def __repr__(self) -> str:
        return f"<{self.name}: {' × '.join(map(str, self.shape))}>"


def _matrices(value: Array) -> Any:
    if value.ndim == 2:
        return sympy.ImmutableDenseMatrix(*value.shape, list(value.ravel()))
    return tuple(_matrices(part) for part in value)


def _bundle(trees: Sequence[Tree], gathered: bool) -> dict[str, str]:
    """Trees below each other, as a notebook shows them; of several LaTeX says that."""
    words = "\n".join("\n".join(box(tree).lines) for tree in trees)
    rows = r" \\ ".join(map(latex, trees))
    return bundle(words, rf"\begin{{gathered}} {rows} \end{{gathered}}" if gathered else rows)
