"""Follow-through: every step recomputed from what somebody claims of the steps before it.

No rule is written for this: a step is the same expression, evaluated over the claimed numbers
instead of the computed ones; where nothing is claimed, over what follows from earlier claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from symattn.arithmetic.balls import BALLS, BITS, Balls, ball, precision
from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.verify import Quantity, spread
from symattn.evaluate.values import Place, Values
from symattn.nodes.rule import Entry, at, parts, rule_of
from symattn.step import HEAD

#: What one entry of a step reads: an operand's letter and a place in it.
Read = tuple[str, Place]


class Ranges(Balls):
    """Balls so wide that they are ranges of numbers, with no range counted twice."""

    name = "ranges"

    def share(self, part: Array, whole: Array) -> Array:
        """p/(p + rest): least where p is least and the rest largest, and the other way round."""
        whole = np.broadcast_to(whole, part.shape)
        out = np.empty(part.shape, dtype=object)
        for index in np.ndindex(*part.shape):
            p: Any = part[index]
            total: Any = whole[index]
            if p.is_zero() or not (p.is_finite() and total.is_finite()):
                out[index] = p / total
                continue
            low, high = p.lower(), p.upper()
            least = low / (low + (total.upper() - high))
            most = high / (high + (total.lower() - low))
            out[index] = least.union(most)
        return out


RANGES = Ranges()


class Carried:
    """What follows, step by step, from the claims on the steps before.

    `claims` holds, by letter, an array of the step's shape with what is `Written` at each place,
    or None.
    """

    def __init__(self, values: Values, claims: Mapping[str, Array]) -> None:
        self.values, self.claims = values, claims
        #: Entries whose digits were cut off rather than rounded; told by who marks them.
        self.cut: set[Read] = set()
        self._known: dict[tuple[str, object], Array] = {}
        self._taken: dict[tuple[str, object], Array] = {}
        self._reads: dict[Read, tuple[Read, ...]] = values.known("reads", dict)

    def quantity(self, letter: str, place: Place) -> Quantity:
        """An entry recomputed from the claimed numbers before it, as they stand."""
        return Quantity(
            lambda bits: self._at(bits, BALLS, letter)[place],
            lambda: self.computed(letter, EXACT, "exact")[place],
            BITS[2],
        )

    def range(self, letter: str, place: Place) -> Any:
        """All that an entry may be, were the claimed numbers before it rounded to what they are."""
        return self._at(BITS[0], RANGES, letter)[place]

    def _at(self, bits: int, arithmetic: Arithmetic, letter: str) -> Array:
        with precision(bits), np.errstate(all="ignore"):
            return self.computed(letter, arithmetic, (arithmetic.name, bits))

    def computed(self, letter: str, arithmetic: Arithmetic, key: object) -> Array:
        """A step from its operands as they are taken."""
        if (letter, key) not in self._known:
            step = self.values.step(letter)
            self._known[letter, key] = (
                self.values.value(letter, arithmetic, ("true", key))
                if step is None
                else self.values.follow(
                    step, lambda operand: self.taken(operand, arithmetic, key), arithmetic
                )
            )
        return self._known[letter, key]

    def taken(self, letter: str, arithmetic: Arithmetic, key: object) -> Array:
        """A matrix as later steps read it: as claimed, and as computed where nothing is."""
        if (letter, key) not in self._taken:
            value = self.computed(letter, arithmetic, key)
            claimed = self.claims.get(letter)
            if claimed is not None:
                value = self._put_in(letter, value, claimed, arithmetic)
            self._taken[letter, key] = value
        return self._taken[letter, key]

    def _put_in(self, letter: str, value: Array, claimed: Array, arithmetic: Arithmetic) -> Array:
        out = np.array(value, dtype=object)
        for place in np.ndindex(*claimed.shape):
            written: Any = claimed[place]
            if written is None:
                continue
            if arithmetic is EXACT:
                out[place] = written.value
            elif arithmetic is RANGES:
                out[place] = spread(written, value[place], (letter, place) in self.cut)
            else:
                out[place] = ball(written.value)
        return out

    # ---- what an entry is made from ------------------------------------------------------

    def sources(self, letter: str, place: Place) -> Iterator[Read]:
        """The claimed entries that an entry follows from, the nearest claimed ones before it."""
        seen: set[Read] = set()
        pending = list(self.reads(letter, place))
        while pending:
            read = pending.pop()
            if read in seen:
                continue
            seen.add(read)
            claimed = self.claims.get(read[0])
            if claimed is not None and claimed[read[1]] is not None:
                yield read
            else:
                pending.extend(self.reads(*read))

    def reads(self, letter: str, place: Place) -> tuple[Read, ...]:
        """The entries of other steps that the rule of this entry names."""
        if (letter, place) not in self._reads:
            self._reads[letter, place] = tuple(dict.fromkeys(self._named(letter, place)))
        return self._reads[letter, place]

    def _named(self, letter: str, place: Place) -> Iterator[Read]:
        step = self.values.step(letter)
        if step is None:
            return
        i, j = step.indices
        *lead, row, column = place
        heads = {HEAD: lead[-1]} if step.per_head else {}
        rule = at(rule_of(step.expr, i, j), {i: row, j: column} | heads, self.values.sizes)
        for part in parts(rule):
            if isinstance(part, Entry):
                head = getattr(part.matrix, "head", None)
                index = (part.row, part.column) if head is None else (head, part.row, part.column)
                yield part.matrix.name, tuple(map(int, index))
