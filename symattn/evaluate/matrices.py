"""The matrices of a derivation by letter: what is given, their sizes, and where an entry stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import sympy

from symattn.arguments import instance, whole, words, wrong
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.base import Array
from symattn.arithmetic.reading import MAX_ENTRIES
from symattn.errors import NoSuchName, ShapeError, located, nearest, quote
from symattn.evaluate.given import Given, read_given, sizes_of
from symattn.nodes.heads import heads_in
from symattn.step import MOST_OF_A_SIZE, Input, Item, Step, listed_sizes

#: An index into a step's value: (…, row, column), counted from 0.
Place: TypeAlias = tuple[int, ...]


#: What is worked out once for all numbers of the same shapes.
Known = TypeVar("Known")


class Once(dict[tuple[object, ...], Any]):
    """What is worked out once, by a name."""

    def of(self, name: tuple[object, ...], make: Callable[[], Known]) -> Known:
        """What `make` gives, the first time."""
        if name not in self:
            self[name] = make()
        return cast(Known, self[name])

    def __reduce__(self) -> tuple[type[Once], tuple[()]]:
        """Pickles work it out again."""
        return Once, ()


class ByShapes:
    """What was worked out for the latest few shapes of what is given, by these shapes."""

    def __init__(self) -> None:
        self._by_shapes: dict[tuple[Place, ...], Once] = {}

    def of(self, shapes: tuple[Place, ...]) -> Once:
        """All that is known at these shapes, to be added to."""
        known = self._by_shapes.pop(shapes, Once())
        self._by_shapes[shapes] = known
        # for how many shapes a derivation keeps what it has worked out
        while len(self._by_shapes) > 8:
            del self._by_shapes[next(iter(self._by_shapes))]
        return known

    def __reduce__(self) -> tuple[type[ByShapes], tuple[()]]:
        """Pickles and copies work it out again."""
        return ByShapes, ()


def checked_place(place: Place, name: str, shape: tuple[int, ...]) -> Place:
    """A place in a matrix of this name and shape, counted from 0."""
    counted = type(place) is tuple and [*map(type, place)] == [int] * len(shape)
    if counted and all(-n <= i < n for i, n in zip(place, shape, strict=True)):
        return place
    expected = f"{name}: {' × '.join(map(str, shape))}, counted from 0"
    if not isinstance(place, tuple) or len(place) != len(shape):
        raise wrong(place, expected, f"a tuple of {len(shape)} indices")
    for index, size in zip(place, shape, strict=True):
        whole(index, expected, -size, size - 1)
    return place


class Matrices:
    """The inputs and the steps of a derivation, with the shapes that what is given has."""

    def __init__(
        self,
        inputs: Sequence[Input],
        steps: Sequence[Step],
        given: Mapping[str, Given],
        sizes: Mapping[sympy.Symbol, int],
        labels: Mapping[sympy.Expr, tuple[str, ...]],
        dtype: object = "float64",
        order: Sequence[str] = (),
        known: ByShapes | None = None,
    ) -> None:
        for name, items, kind in (("inputs", inputs, Input), ("steps", steps, Step)):
            for item in instance(items, (tuple, list), name, "a tuple of them"):
                instance(item, kind, name, f"a tuple of {kind.__name__}s")
        self.inputs, self.steps = tuple(inputs), tuple(steps)
        self.arithmetic = Arrays(dtype)
        self.labels = dict(instance(labels, Mapping, "labels", "a table"))
        instance(given, Mapping, "given", "a table of matrices by name")
        for size, count in instance(sizes, Mapping, "sizes", "a table of sizes").items():
            instance(size, sympy.Symbol, "sizes", "a table of numbers by their symbols")
            whole(count, f"sizes: {size}", 1, MOST_OF_A_SIZE)
        self.order = words(order, "order")
        self._by_name: dict[str, Item] = {item.name: item for item in (*self.inputs, *self.steps)}
        self._names = {item.letter: item.name for item in self._by_name.values()}
        self._steps = {step.letter: step for step in self.steps}
        self.given = read_given(self.inputs, given, sizes)
        #: The sizes that were said, before the matrices told the others.
        self.stated = dict(sizes)
        #: What depends on the steps and shapes alone: shared by all values of the same.
        self._known = (known or ByShapes()).of(tuple(g.shape for g in self.given.values()))
        #: What depends on the numbers, too.
        self._computed = Once()
        self.sizes: dict[sympy.Symbol, int] = dict(
            self.known(("sizes",), lambda: sizes_of(self.inputs, self.steps, self.given, sizes))
        )
        #: Which item of a batch these values are of; () for all of it.
        self._item: Place = ()
        self._batched: frozenset[str] = frozenset()
        self.known(("labels",), self._check_labels)
        self.known(("steps",), self._check_steps)

    @property
    def known_sizes(self) -> dict[str, int]:
        """The sizes that are known, by name: ``{"n": 1, "m": 3, "d_k": 4}``."""
        return listed_sizes(self.sizes, self.order)

    def item(self, letter: str) -> Item:
        """The input or the step that this letter stands for."""
        return self._by_name[self._names[self._letter(letter)]]

    def _letter(self, letter: str) -> str:
        """A letter of an input or of a step."""
        if not isinstance(letter, str) or letter not in self._names:
            raise NoSuchName(
                f"no matrix has the letter {quote(letter)}{nearest(letter, self._names)}"
            )
        return letter

    def step(self, letter: str) -> Step | None:
        """The step that makes this matrix; None where it is given."""
        return self._steps.get(self._letter(letter))

    @property
    def batch(self) -> tuple[int, ...]:
        """How many calculations of the same shape these are: the axes before heads; () for one."""
        own = [self._leads(item, self.given[item.letter].shape) for item in self.inputs]
        return np.broadcast_shapes(*own)

    @property
    def item_number(self) -> Place:
        """Which item of a batch these values are of, from 0; () where they are all there is."""
        return self._item

    @staticmethod
    def _leads(item: Item, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[: len(shape) - 2 - item.per_head]

    def within(self, letter: str, place: Place) -> tuple[Place, Place]:
        """A place in a matrix as its item of the batch and the place there: (head,) row, column."""
        self._check_place(place, 2 + self.item(letter).per_head)
        count = len(place) - 2 - self.item(letter).per_head
        return place[:count], place[count:]

    @staticmethod
    def _check_place(place: Place, least: int) -> None:
        """A tuple of whole numbers, so many at the least."""
        wanted = "a tuple of indices: (head,) row, column"
        if len(instance(place, tuple, "place", wanted)) < least:
            raise wrong(place, "place", wanted)
        for index in place:
            whole(index, "place")

    def place_of(self, letter: str, place: Place) -> Place:
        """Where an entry of one item of a batch stands in the matrix of the whole batch."""
        self._check_place(place, 0)
        return (*self._item, *place) if self._letter(letter) in self._batched else place

    def item_of(self, letter: str, value: Array, index: Place) -> Array:
        """What belongs to one item of the batch in an array over a matrix; all of a shared one."""
        own = self._leads(self.item(letter), value.shape)
        if not own:
            return value
        axes = zip(index[-len(own) :], own, strict=True)
        inside: Array = value[tuple(0 if count == 1 else place for place, count in axes)]
        return inside

    def judged(self, letter: str, value: Array) -> Array:
        """What is held against claims of a value of a matrix: all of it, where it is no sample."""
        return value

    def original(self, letter: str, place: Place) -> Place:
        """Where an entry of what is judged stands in its matrix."""
        return place

    def claims(self, letter: str, numbers: Array) -> Array:
        """The claimed numbers of a matrix that others are made of, where `numbers` are judged."""
        return numbers

    def known(self, name: tuple[object, ...], make: Callable[[], Known]) -> Known:
        """What `make` gives, computed once: it depends on the steps and sizes alone.

        A name ("shape", …) says that it depends on the batch too.
        """
        return self._known.of(name, make)

    def check_sizes(self) -> None:
        """Raises `SymattnError` where a matrix is too large for exact values or proven digits."""
        for letter in self.given:
            self._check_exact(letter)
        for step in self.steps:
            self._check_size(step)

    def _check_exact(self, letter: str) -> None:
        value = self.given[letter]
        if value.size > MAX_ENTRIES:
            raise ShapeError(
                f"{letter}: {value.size} entries are too many for exact values or proven "
                f"digits ({MAX_ENTRIES} at most); its arrays are there"
            )

    @property
    def is_exact(self) -> bool:
        """Whether what was given is small enough for exact values and proven digits."""
        return all(array.size <= MAX_ENTRIES for array in self.given.values())

    def _check_size(self, step: Step) -> None:
        """Refuse a step too large to be derived entry by entry."""
        rows, columns = (size.subs(self.sizes) for size in step.shape)
        count = rows * columns * step.heads(self.sizes) * int(np.prod(self.batch))
        if count.is_Integer and count > 4 * MAX_ENTRIES:
            raise ShapeError(
                f"{step.name}: would have {count} entries, too many to derive step by step; "
                f"{4 * MAX_ENTRIES} at most"
            )

    def _check_steps(self) -> None:
        """Refuse sizes that no node of a step can have: its arguments are checked again at them.

        So where one of its heads is none at these sizes.
        """
        for step in self.steps:
            with located(step.name):
                for one in heads_in(step.expr.subs(self.sizes)):
                    count = (item := self.item(one.name)).heads(self.sizes)
                    if item.count is not None and one.head.is_Integer and one.head >= count > 0:
                        raise ShapeError(f"there is no {item.name}[{one.head + 1}]; it has {count}")

    def _check_labels(self) -> None:
        """Refuse more or fewer names than there are rows or columns."""
        for size, names in self.labels.items():
            count = self.sizes.get(size, size)
            if isinstance(count, int | sympy.Integer) and len(names) != int(count):
                some = ", ".join((*names[:4], "…") if len(names) > 4 else names)
                raise ShapeError(
                    f"{size}: {len(names)} labels ({some}) for {size} = {count}; give one for each"
                )
