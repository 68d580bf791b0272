"""The values of a derivation's matrices in every arithmetic, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self, TypeAlias, TypeVar, cast

import numpy as np
import sympy

from symattn.arguments import instance, whole, words, wrong
from symattn.arithmetic.abbreviated import Abbreviations, nodes, written_out
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Arithmetic, Array, elementwise
from symattn.arithmetic.decide import Digits, decide
from symattn.arithmetic.enclosure import BITS, precision
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.quantity import USUAL_BITS, Quantity
from symattn.arithmetic.reading import MAX_ENTRIES, read_matrix
from symattn.arithmetic.rounded import Rounded
from symattn.errors import NoSuchName, ShapeError, SymattnError, counted, nearest, quote
from symattn.evaluate import fusing
from symattn.evaluate.fusing import Fused, Fusion, fusion_of
from symattn.evaluate.walk import Program, program_of_step, size_error, split_heads
from symattn.nodes.base import Node
from symattn.nodes.heads import Head
from symattn.notation.options import Notation, notation_of
from symattn.step import MOST_OF_A_SIZE, Input, Item, Step, listed_sizes

#: An index into a step's value: (…, row, column), counted from 0.
Place = tuple[int, ...]


#: A matrix as it is given: nested lists of numbers or texts, a NumPy array, a SymPy matrix.
Given: TypeAlias = Any

#: For how many shapes a derivation keeps what it has worked out.
_KEPT = 8

#: What is worked out once for all numbers of the same shapes.
Known = TypeVar("Known")


class ByShapes:
    """What was worked out for the latest few shapes of what is given, by these shapes."""

    def __init__(self) -> None:
        self._by_shapes: dict[tuple[Place, ...], dict[tuple[object, ...], Any]] = {}

    def of(self, shapes: tuple[Place, ...]) -> dict[tuple[object, ...], Any]:
        """All that is known at these shapes, to be added to."""
        known = self._by_shapes.pop(shapes, {})
        self._by_shapes[shapes] = known
        while len(self._by_shapes) > _KEPT:
            del self._by_shapes[next(iter(self._by_shapes))]
        return known

    def __reduce__(self) -> tuple[type[ByShapes], tuple[()]]:
        """Pickles and copies work it out again."""
        return ByShapes, ()


class Values:
    """Every matrix's value in every arithmetic, by letter; nothing is computed unasked."""

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
        self.given = _read(self.inputs, given, sizes)
        #: The sizes that were said, before the matrices told the others.
        self.stated = dict(sizes)
        #: What depends on the steps and shapes alone: shared by all values of the same.
        self._known = {} if known is None else known.of(tuple(g.shape for g in self.given.values()))
        self.sizes = dict(self.known(("sizes",), lambda: self._bound(sizes)))
        self._values: dict[object, dict[str, Array]] = {}
        self._abbreviations = Abbreviations()
        self._digits: dict[object, Digits] = {}
        #: Which item of a batch these values are of; () for all of it.
        self._item: Place = ()
        self._batched: frozenset[str] = frozenset()
        self.known(("labels",), self._check_labels)
        self.known(("steps",), self._check_steps)

    def _bound(self, sizes: Mapping[sympy.Symbol, int]) -> dict[sympy.Symbol, int]:
        """Every size that the shapes of the given matrices tell; two that disagree are an error."""
        known = dict(sizes)
        origin = dict.fromkeys(known, "the sizes given")
        for item in self.inputs:
            array = self.given[item.letter]
            sides = item.shape if item.count is None else (item.count, *item.shape)
            axes = [*zip(sides, array.shape[-len(sides) :], strict=True)]
            for size, count in (*axes[-2:], *axes[:-2]):
                expected = size.subs(known)
                unknown = expected.free_symbols
                if len(unknown) > 1:
                    continue
                if unknown:
                    (symbol,) = unknown
                    factor, more = expected.coeff(symbol), int(expected.subs(symbol, 0))
                    share, rest = divmod(count - more, int(factor))
                    if rest or share < 1:
                        needed = f"{expected}" if more else f"a multiple of {factor}"
                        raise ShapeError(f"{item.name}: {count} rows or columns are not {needed}")
                    known[symbol] = share
                    origin[symbol] = item.name
                elif int(expected) != count:
                    other = origin.get(size, "the rest")
                    needed = " × ".join(str(side.subs(known)) for side in sides)
                    found = " × ".join(map(str, array.shape[-len(sides) :]))
                    raise ShapeError(
                        f"{item.name}: is {found}; because of {other} it has to be {needed} "
                        f"({size} = {expected})"
                    )
        self._check_groups(known, origin)
        _check_batches(self.inputs, self.given)
        return known

    def _check_groups(
        self, known: Mapping[sympy.Symbol, int], origin: Mapping[sympy.Symbol, str]
    ) -> None:
        """Every group of keys and values serves equally many heads."""
        for step in self.steps:
            for item in (self._by_name[self._names[letter]] for letter in step.operands):
                if item.count in (None, step.count) or not step.count or not _is_shared(item, step):
                    continue
                heads, groups = step.heads(known), item.heads(known)
                if heads and groups and heads % groups:
                    first, last = (origin.get(one.count, "the rest") for one in (step, item))
                    raise ShapeError(
                        f"kv_heads: {counted(heads, 'head')} (because of {first}) cannot be shared "
                        f"evenly by {groups} (because of {last})"
                    )

    def __getstate__(self) -> dict[str, object]:
        """What pickle and copies keep: all but what is computed again when it is asked for."""
        state = {k: x for k, x in self.__dict__.items() if k not in ("_is_symbolic", "_is_small")}
        return state | {"_values": {}, "_digits": {}, "_known": {}, "_abbreviations": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._abbreviations = Abbreviations()

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

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

    def of_batch(self, *index: int) -> Self:
        """One calculation of the batch, counted from 0, with its own numbers and the shared ones.

        Raises `ShapeError` where there is no such item.
        """
        batch = self.batch
        for number in index:
            whole(number, "batch")
        if len(index) != len(batch) or not all(
            0 <= i < n for i, n in zip(index, batch, strict=True)
        ):
            index_text = ", ".join(map(quote, index))
            raise ShapeError(f"batch: there is no item ({index_text}) among {batch}")
        other = copy(self)
        other.given = {
            item.letter: self.item_of(item.letter, self.given[item.letter], index)
            for item in self.inputs
        }
        other._item = (*self._item, *index)
        other._batched = frozenset(
            item.letter
            for item in self._by_name.values()
            if self._leads(item, self.shape(item.letter))
        )
        other._known = {key: known for key, known in self._known.items() if key[0] != "shape"}
        other._values, other._digits, other._abbreviations = {}, {}, Abbreviations()
        return other

    def item_of(self, letter: str, value: Array, index: Place) -> Array:
        """What belongs to one item of the batch in an array over a matrix; all of a shared one."""
        own = self._leads(self.item(letter), value.shape)
        inside: Array = (
            value[tuple(0 if n == 1 else i for i, n in zip(index[-len(own) :], own, strict=True))]
            if own
            else value
        )
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

    def value(self, letter: str, arithmetic: Arithmetic, key: object) -> Array:
        """The value of the matrix with this letter; each is computed once for each `key`."""
        known = self._values.setdefault(key, {})
        if self._letter(letter) not in known:
            known[letter] = self._computed(letter, arithmetic, key)
        return known[letter]

    def _computed(self, letter: str, arithmetic: Arithmetic, key: object) -> Array:
        if letter in self.given:
            if not isinstance(arithmetic, Arrays):
                self._check_exact(letter)
            return arithmetic.array(self.given[letter])
        step = self._steps[letter]
        if not isinstance(arithmetic, Arrays):
            self._check_size(step)
        elif self._is_partial(step) and self.is_exact:
            self.balls(letter, BITS[1])  # which refuses what floating point would gloss over
        if key == "array" and (fused := self._fused(step)) is not None:
            return self._by_rows(step, *fused)
        return self.follow(step, lambda operand: self.value(operand, arithmetic, key), arithmetic)

    def _fused(self, step: Step) -> tuple[Fusion, Sequence[Fused]] | None:
        """How a step is computed by rows; None where that is not worth it, or has been in vain."""

        def make() -> tuple[Fusion, Sequence[Fused]] | None:
            fusion = fusion_of(step, self._steps)
            if fusion is None or not fusion.is_worth_it(self.sizes):
                return None
            heads = range(step.heads(self.sizes))
            return fusion, [Fused(fusion, self.sizes, head) for head in heads]

        found = self.known(("fused", step), make)
        kept = self._values["array"]
        return None if found is None or any(s.letter in kept for s in found[0].steps) else found

    def _by_rows(self, step: Step, fusion: Fusion, heads: Sequence[Fused]) -> Array:
        """A step by rows, for every item of a batch and every head."""
        read = {x for one in (*fusion.steps, step) for x in one.operands}
        read -= {one.letter for one in fusion.steps}
        whole = {letter: self.value(letter, self.arithmetic, "array") for letter in read}
        leads = [self._leads(self.item(letter), value.shape) for letter, value in whole.items()]
        rows, columns = (int(size.subs(self.sizes)) for size in step.shape)
        lead = np.broadcast_shapes(*leads)
        out = np.empty((*lead, len(heads), rows, columns), dtype=self.arithmetic.dtype)
        for index in np.ndindex(*lead):
            own = {letter: self.item_of(letter, x, index) for letter, x in whole.items()}
            for place, head in zip(out[index], heads, strict=True):
                first = 0
                for part in head.rows(own.__getitem__, self.arithmetic.dtype, fusing.TILE):
                    place[first : first + len(part)] = part
                    first += len(part)
        return out if step.per_head else out[..., 0, :, :]

    def follow(self, step: Step, operand: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        """The value of a step for these values of its operands; exact ones are abbreviated."""
        value = self._program(step)(operand, arithmetic)
        return elementwise(self._abbreviations.short, value) if arithmetic is EXACT else value

    def _program(self, step: Step) -> Program:
        """The program of a step, made once."""
        key = ("program", step)
        if key not in self._known:
            heads = set() if step.count is None else step.count.free_symbols
            missing = sorted(
                str(s)
                for s in step.expr.free_symbols | heads
                if isinstance(s, sympy.Symbol) and s.is_positive and s not in self.sizes
            )
            if missing:
                raise size_error(step.name, missing)
            self._known[key] = program_of_step(step, self.sizes)
        program: Program = self._known[key]
        return program

    def _is_partial(self, step: Step) -> bool:
        """Whether some numbers have no value under the step."""
        key = ("partial", step.letter)
        if key not in self._known:
            self._known[key] = any(node.partial for node in step.expr.atoms(Node))
        return bool(self._known[key])

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
        if ("size", step.letter) in self._known:
            return
        rows, columns = (size.subs(self.sizes) for size in step.shape)
        count = rows * columns * step.heads(self.sizes) * int(np.prod(self.batch))
        if count.is_Integer and count > 4 * MAX_ENTRIES:
            raise ShapeError(
                f"{step.name}: would have {count} entries, too many to derive step by step; "
                f"{4 * MAX_ENTRIES} at most"
            )
        self._known["size", step.letter] = True

    def known(self, name: tuple[object, ...], make: Callable[[], Known]) -> Known:
        """What `make` gives, computed once: it depends on the steps and sizes alone.

        A name ("shape", …) says that it depends on the batch too.
        """
        if name not in self._known:
            self._known[name] = make()
        return cast(Known, self._known[name])

    def again(self, **given: Given) -> Self:
        """The same derivation at other numbers of the same shapes; its programs are not made again.

        Raises `ShapeError` for other shapes.
        """
        other = copy(self)
        other.given = _read(self.inputs, given, self.sizes)
        for letter, array in other.given.items():
            if array.shape != self.given[letter].shape:
                raise ShapeError(f"{letter}: the new numbers have to have the same shape")
        other._values, other._digits, other._abbreviations = {}, {}, Abbreviations()
        other.__dict__.pop("_is_symbolic", None)
        return other

    def exact(self, letter: str) -> Array:
        """Exact values of a matrix, as an object array of SymPy numbers."""
        known = self._values.setdefault("written out", {})
        if self._letter(letter) not in known:
            known[letter] = elementwise(written_out, self.abbreviated(letter))
        return known[letter]

    def abbreviated(self, letter: str) -> Array:
        """Exact values of a matrix, in which long numbers are abbreviated."""
        known = self._values.get("abbreviated", {}).get(self._letter(letter))
        if known is not None:
            return known
        with np.errstate(all="ignore"):  # NumPy looks for overflow even among objects
            return self.value(letter, EXACT, "abbreviated")

    def longest_exact(self, letter: str) -> int:
        """How many nodes the longest exact value of a matrix has when it is written out."""
        return max(map(nodes, self.abbreviated(letter).ravel()))

    def balls(self, letter: str, bits: int) -> Array:
        """Proven enclosures of a matrix, computed with so many bits."""
        if type(bits) is not int or not 2 <= bits <= BITS[-1]:
            bits = whole(bits, "bits", 2, BITS[-1])
        known = self._values.get(bits, {}).get(self._letter(letter))
        if known is not None:
            return known
        with precision(bits), np.errstate(all="ignore"):
            return self.value(letter, BALLS, bits)

    def rounded(self, letter: str, digits: int | None = None) -> Array:
        """Where floating point in this dtype may end up, as balls; `digits` as for `Rounded`."""
        if digits is not None:
            digits = whole(digits, "digits", 1, 113)
        with precision(BITS[0]), np.errstate(all="ignore"):
            arithmetic = Rounded(self.arithmetic.dtype, digits)
            return self.value(letter, arithmetic, ("rounded", digits))

    def array(self, letter: str) -> Array:
        """NumPy's values of a matrix."""
        with np.errstate(all="ignore"):  # an overflow shows in the value, and check() says so
            value = self.value(letter, self.arithmetic, "array")
        return value if value.flags.writeable else value.copy()  # what was given is kept

    def digits(self, letter: str, place: Place, notation: Notation) -> Digits:
        """One entry as a decimal that is proven, or marked as not."""
        notation = notation_of(notation)
        place = self._place(letter, place)
        key = (letter, place, notation.digits, notation.rounding)
        if key not in self._digits:
            true = Quantity(
                lambda bits: self.balls(letter, bits)[place],
                lambda: self.abbreviated(letter)[place],
                BITS[-1] if self._is_small else USUAL_BITS,
            )
            self._digits[key] = decide(true, notation.digits, notation.rounding)
        return self._digits[key]

    def _place(self, letter: str, place: Place) -> Place:
        """A place in a matrix, counted from 0."""
        shape = self.shape(letter)
        counted = type(place) is tuple and [*map(type, place)] == [int] * len(shape)
        if counted and all(-n <= i < n for i, n in zip(place, shape, strict=True)):
            return place
        expected = f"{self._names[letter]}: {' × '.join(map(str, shape))}, counted from 0"
        if not isinstance(place, tuple) or len(place) != len(shape):
            raise wrong(place, expected, f"a tuple of {len(shape)} indices")
        for index, size in zip(place, shape, strict=True):
            whole(index, expected, -size, size - 1)
        return place

    def shape(self, letter: str) -> tuple[int, ...]:
        """The shape of a matrix's value: batches, heads, rows, columns."""
        key = ("shape", self._letter(letter))
        if key not in self._known:
            self._known[key] = self._any_value(letter).shape
        found: tuple[int, ...] = self._known[key]
        return found

    def _any_value(self, letter: str) -> Array:
        """A matrix in the arithmetic that is quickest, or in one that has a value for it."""
        if not self._is_symbolic:
            try:
                return self.array(letter)
            except SymattnError:  # what has underflowed in a dtype may have an exact value
                pass
        return self.abbreviated(letter)

    @cached_property
    def _is_symbolic(self) -> bool:
        """Whether a symbol was given in place of a number."""
        return any(
            getattr(entry, "free_symbols", None)
            for array in self.given.values()
            if array.dtype == object
            for entry in array.ravel()
        )

    @cached_property
    def _is_small(self) -> bool:
        """Whether the matrices are so few and small that high precision costs little."""
        entries = sum(int(np.prod(array.shape)) for array in self.given.values())
        return entries <= 256

    def _check_steps(self) -> None:
        """Refuse sizes that no node of a step can have: its arguments are checked again at them."""
        for step in self.steps:
            step.expr.subs(self.sizes)

    def _check_labels(self) -> None:
        for size, names in self.labels.items():
            count = self.sizes.get(size, size)
            if isinstance(count, int | sympy.Integer) and len(names) != int(count):
                some = ", ".join((*names[:4], "…") if len(names) > 4 else names)
                raise ShapeError(
                    f"tokens: {len(names)} labels ({some}) for {size} = {count}; give one per row"
                )


def _read(
    inputs: Sequence[Input], given: Mapping[str, Given], sizes: Mapping[sympy.Symbol, int]
) -> dict[str, Array]:
    """What was given, by letter: arrays of numbers as they are, all else as exact entries."""
    names = [item.name for item in inputs]
    letters = {item.letter: item.name for item in inputs}
    given = {letters.get(name, name): value for name, value in given.items()}
    for name in given:
        if name not in names:
            raise NoSuchName(
                f"{quote(name)} is not an input of this derivation{nearest(name, names)}"
            )
    out: dict[str, Array] = {}
    for item in inputs:
        if item.name not in given:
            raise SymattnError(
                f"{item.name} is not given; this derivation needs {', '.join(names)}"
            )
        array = read_matrix(
            _levelled(given[item.name], item),
            item.name,
            levels=(2, 3, 4),
            infinite=item.logits,
            boolean=item.boolean,
        )
        if item.per_head and array.ndim == 2:
            count = item.heads(sizes)
            if not count:
                raise SymattnError(f"{item.name}: give one matrix for each head: [[[…]], [[…]]]")
            array = split_heads(array, count, item.name)
        out[item.letter] = array
    return out


def _levelled(value: Given, item: Item) -> Given:
    """A number, a row or a column that is given without the brackets of a matrix, with them."""
    rows, columns = item.shape
    if item.per_head or 1 not in (rows, columns):
        return value
    array = isinstance(value, np.ndarray)
    if (rows, columns) == (1, 1) and not (array and value.ndim) and not _is_listed(value):
        return [[value]]
    flat = value.ndim == 1 if array else _is_listed(value) and not any(map(_is_listed, value))
    if not flat:
        return value
    return [value] if rows == 1 else [[entry] for entry in value]


def _is_listed(value: object) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def _check_batches(inputs: Sequence[Input], given: Mapping[str, Array]) -> None:
    """The leading axes (batches) of all given matrices must broadcast."""
    shape: tuple[int, ...] = ()
    for item in inputs:
        array = given[item.letter]
        own = array.shape[: array.ndim - 2 - item.per_head]
        try:
            shape = np.broadcast_shapes(shape, own)
        except ValueError:
            raise ShapeError(
                f"{item.name}: its leading axes {own} do not fit those of the others, {shape}; "
                "give equally many of each"
            ) from None
    _check_shared(inputs, given)


def _check_shared(inputs: Sequence[Input], given: Mapping[str, Array]) -> None:
    """Refuse a shared matrix with as many axes as one that each head of a batch has of its own."""
    for first in (item for item in inputs if item.batch and item.per_head):
        for item in inputs:
            if not item.per_head and given[item.letter].ndim - 2 > given[first.letter].ndim - 3:
                raise ShapeError(
                    f"{item.name}: all heads share it; leave the axis of the heads out, or give "
                    f"{first.name} as many leading axes"
                )


def _is_shared(item: Item, step: Step) -> bool:
    """Whether head i of a step reads the matrix of its group, ⌊i g/h⌋."""
    used = (part for part in step.expr.atoms(Head) if part.name == item.letter)
    return any(not isinstance(part.head, sympy.Symbol) for part in used)
