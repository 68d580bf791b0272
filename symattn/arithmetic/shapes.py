"""What moves entries about and counts positions, in NumPy; no number is computed.

Values are (…, rows, columns) or, one matrix a head, (…, heads, rows, columns); axes are counted
from the back, and sizes may be SymPy's. A formula that uses these has a program in every language.
Positions and places are whole numbers: on them Python's operators, `np.abs`, `np.clip`, `np.isin`
and `np.digitize` are at hand as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.errors import CannotSpell

Array: TypeAlias = NDArray[Any]

#: How many rows, columns or heads there are, or which place: Python's whole number or SymPy's.
Size: TypeAlias = int | sympy.Expr


class Shapes:
    """The operations on shapes and positions, the same for all that holds entries in arrays."""

    #: The rows that are computed, from 0, where not all are.
    only: Array | None = None
    #: What has been computed of all rows, for those that are computed.
    wholes: dict[Any, Array]

    def at_rows(self, numbers: Array | None) -> Self:
        """The same operations for the rows of these numbers alone; for all again, of None."""
        other = copy(self)
        other.only = numbers
        if self.only is None:
            other.wholes = {}
        return other

    def rows(self, count: Size, start: Size = 0) -> Array:
        """The whole numbers from `start` on, so many, as a column."""
        if self.only is not None:
            return self.only[:, None] + int(start)
        return np.arange(int(start), int(start) + int(count))[:, None]

    def columns(self, count: Size) -> Array:
        """The whole numbers from 0 on, so many, as a row."""
        return np.arange(int(count))[None, :]

    def listed(self, numbers: Iterable[Size]) -> Array:
        """Some whole numbers in a row, to look up by position or to look for."""
        return np.array([int(number) for number in numbers])

    def places(self, function: Callable[..., int], x: Array, *settings: Size) -> Array:
        """A function of each whole number; in a program it is called by its name."""
        found, place = np.unique(x, return_inverse=True)
        values = [function(int(number), *map(int, settings)) for number in found]
        return np.array(values)[place].reshape(x.shape)

    def every(self, condition: Array) -> Array:
        """Where a condition holds for all of a row, as an axis of length 1."""
        return np.asarray(condition.all(axis=-1, keepdims=True))

    def anywhere(self, condition: Array) -> bool:
        """Whether a condition holds at all; in a program, which has no numbers yet, it does not."""
        return bool(condition.any())

    def broadcast(self, x: Array, rows: Size, columns: Size) -> Array:
        """Repeated to so many rows and columns, where it has 1."""
        return np.broadcast_to(x, (*x.shape[:-2], int(rows), int(columns)))

    def repeat(self, x: Array, times: Size, axis: int) -> Array:
        """Every entry along an axis so many times."""
        return np.repeat(x, int(times), axis=axis)

    def expand(self, x: Array, axis: int) -> Array:
        """A new axis of length 1."""
        return np.expand_dims(x, axis)

    def pick(self, x: Array, place: Size, axis: int) -> Array:
        """What stands at one place of an axis, which goes."""
        return np.asarray(np.take(x, int(place), axis=axis))

    def part(self, x: Array, first: Size, count: Size, axis: int, step: int = 1) -> Array:
        """Consecutive entries along an axis, or every `step`-th, so many."""
        chosen = slice(int(first), int(first) + (int(count) - 1) * step + 1, step)
        behind = [slice(None)] * (-1 - axis)
        return np.asarray(x[(Ellipsis, chosen, *behind)])  # type: ignore[arg-type]  # slices

    def entries(self, x: Array, rows: Array | Size, columns: Array | Size) -> Array:
        """The entries at places: out_ij = x_{r, c} with r = rows_ij and c = columns_ij."""
        return np.asarray(x[..., rows, columns])

    def join(self, parts: Sequence[Array], axis: int) -> Array:
        """One after the other along the last axis or the one before; axes ahead broadcast."""
        lead = np.broadcast_shapes(*(part.shape[:axis] for part in parts))
        wide = [np.broadcast_to(part, lead + part.shape[axis:]) for part in parts]
        return np.concatenate(wide, axis=axis)

    def states(
        self,
        letter: str,
        following: Callable[[sympy.Expr, Array], Array],
        first: Array,
        count: Size,
        back: bool = False,
    ) -> Array:
        """A state for each token, made of that beside it: (…, tokens, rows, columns).

        `following` makes it of the token, from 0, and the state before. `first` is the state before
        all others; going `back` it is that of the last token, and the others follow from it.
        Raises `CannotSpell` where it is not known how many tokens there are.
        """
        if not sympy.sympify(count, strict=True).is_Integer:
            raise CannotSpell(f"{letter} is made token by token; say how many there are ({count})")
        state, states = first, [first] if back else []
        for token in range(int(count) - 1)[::-1] if back else range(int(count)):
            state = following(sympy.Integer(token), state)
            states.append(state)
        found = [self.expand(state, -3) for state in states]
        return self.join(found[::-1] if back else found, axis=-3)

    def interleave(self, a: Array, b: Array) -> Array:
        """Columns in turn, a_1, b_1, a_2, …; the first matrix may have one more."""
        out = np.empty((*a.shape[:-1], a.shape[-1] + b.shape[-1]), dtype=a.dtype)
        out[..., 0::2], out[..., 1::2] = a, b
        return out

    def flattened(self, x: Array) -> Array:
        """All rows as one: (…, rows, columns) as (…, 1, rows · columns)."""
        return x.reshape(*x.shape[:-2], 1, x.shape[-2] * x.shape[-1])

    def beneath(self, x: Array) -> Array:
        """A matrix that all heads share, where axes before it have to stay apart from theirs."""
        return x[..., None, :, :] if x.ndim > 2 else x

    def shared(self, x: Array, heads: Size) -> Array:
        """The same matrix for each of so many heads."""
        return np.broadcast_to(x[..., None, :, :], (*x.shape[:-2], int(heads), *x.shape[-2:]))

    def by_head(self, x: Array, used: sympy.Expr, head: sympy.Symbol, count: Size) -> Array:
        """For each head of so many the matrix whose number is `used`, an expression in the head."""
        return np.take(x, [int(used.subs(head, number)) for number in range(int(count))], axis=-3)

    def heads_apart(self, x: Array, heads: Size) -> Array:
        """(…, rows, heads · columns) as (…, heads, rows, columns): block i is head i's."""
        apart = x.reshape(*x.shape[:-1], int(heads), x.shape[-1] // int(heads))
        return np.moveaxis(apart, -2, -3)

    def heads_beside(self, x: Array) -> Array:
        """(…, heads, rows, columns) as (…, rows, heads · columns)."""
        moved = np.moveaxis(x, -3, -2)
        return moved.reshape(*moved.shape[:-2], moved.shape[-2] * moved.shape[-1])

    def groups(self, x: Array, count: Size) -> Array:
        """(…, heads, rows, columns) as (…, groups, heads/groups, rows, columns)."""
        heads, *matrix = x.shape[-3:]
        return x.reshape(*x.shape[:-3], int(count), heads // int(count), *matrix)
