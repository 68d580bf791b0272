"""Chains: the numbers that somebody would have written who worked in one style throughout.

Every step is computed from what was kept of the steps before it, in all styles at once and in
floating point. A claim that the chain gives is kept as the style keeps it; one that it does not
give is used as it stands, so that what follows from a mistake is told from a second mistake. A
second track goes on from what should have been written instead: where the two differ, a number
depends on a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.by_hand import MOST_TERMS, ROUNDED, UNROUNDED, ByHand, kept
from symattn.arithmetic.written import Written
from symattn.derivation import Evaluation, Place
from symattn.errors import SymattnError
from symattn.nodes.exponential import Exponential, LineSum
from symattn.worksheet.styles import STYLES, Style

#: Floating point is believed to this share of the largest number of a matrix.
_PRECISE = 1e-13

#: How far beside a claim another number is put, to see what depends on it.
_BESIDE = 0.01

#: Numbers that are held at once, over all styles.
_MOST_NUMBERS = 2_000_000


#: One of the claims on a matrix: its letter, and which of its claims.
Claim = tuple[str, int]


class Claimed:
    """The claims on one matrix as floats, with what has been proven of each."""

    def __init__(self, claims: Array) -> None:
        self.places: list[Place] = [
            place for place in np.ndindex(*claims.shape) if claims[place] is not None
        ]
        self.index = np.array(
            [np.ravel_multi_index(place, claims.shape) for place in self.places], dtype=int
        )
        self.written: list[Written] = [claims[place] for place in self.places]
        self.numbers = np.array([entry.nearest for entry in self.written])
        self.units = np.array([entry.nearest_unit for entry in self.written])
        self.exact = np.array([entry.places is None for entry in self.written], dtype=bool)
        self.decimals = np.array(
            [UNROUNDED if entry.places is None else entry.places for entry in self.written], float
        )
        self.hidden = np.isneginf(self.numbers)
        #: Proven: whether each is right, and whether it is the true value cut off.
        self.right = np.zeros(len(self.places), dtype=bool)
        self.cut = np.zeros(len(self.places), dtype=bool)

    @property
    def fair(self) -> Array:
        """Which claims are no mistakes whatever the style: right, or the true value cut off."""
        return self.right | self.cut

    def __iter__(self) -> Iterator[tuple[Place, Written]]:
        """Each claim with its place."""
        return zip(self.places, self.written, strict=True)


@dataclass(frozen=True)
class Chain:
    """What one style gives: which claims it explains, and which of those depend on a mistake."""

    style: Style
    explained: Mapping[str, Array]
    depends: Mapping[str, Array]
    #: Claims that it does not explain, those among them that are right, and those that are not
    #: right and that it explains.
    unexplained: int
    contradicted: int


class Chains:
    """The chains of all styles through the claims of one worksheet."""

    def __init__(
        self, evaluation: Evaluation, claimed: Mapping[str, Claimed], cut_only: bool = False
    ) -> None:
        self.evaluation, self.claimed, self.cut_only = evaluation, claimed, cut_only
        self.steps: tuple[Any, ...] = (*evaluation.inputs, *evaluation.steps)
        self.shapes = {item.letter: evaluation.shape(item.letter) for item in self.steps}
        self._lengths = {size for shape in self.shapes.values() for size in shape}
        most = max(int(np.prod(shape)) for shape in self.shapes.values())
        self._work = max(most, min(most * max(self._lengths), MOST_TERMS))
        names = [item.name for item in self.steps]
        at = names.index("weights") if "weights" in names else len(names)
        self._after = {item.letter for item in self.steps[at:]}

    @cached_property
    def best(self) -> Chain:
        """The chain that leaves the fewest claims unexplained; of equal ones the plainest.

        A style that is not among the plainest has to explain everything, or two claims more: to
        excuse a single slip one can nearly always be found.
        """
        found: list[Chain] = []
        for rank, styles in enumerate(STYLES):
            for chain in self.all_of([s for s in styles if s.cut or not self.cut_only]):
                beyond = rank > 0 and chain.unexplained > 0
                found.append(replace(chain, unexplained=chain.unexplained + beyond))
            if any(chain.unexplained == 0 for chain in found):
                break
        return min(found, key=lambda chain: (chain.unexplained, chain.contradicted))

    def all_of(self, styles: Sequence[Style]) -> Iterator[Chain]:
        """The chains of these styles."""
        at_once = max(1, _MOST_NUMBERS // (2 * self._work))
        for start in range(0, len(styles), at_once):
            some = styles[start : start + at_once]
            run = _Run(self, some)
            for way, style in enumerate(some):
                yield run.chain(way, style)

    @cached_property
    def mistakes(self) -> Mapping[Claim, tuple[Claim, ...]]:
        """For each claim the mistakes before it that it depends on, the nearest claimed ones.

        A claim depends on a mistake if it would be another number without it.
        """
        wrong = {
            letter: np.flatnonzero(
                (~self.best.explained[letter] & ~claimed.fair)
                | (self.best.depends[letter] & ~claimed.right)
            )
            for letter, claimed in self.claimed.items()
        }
        return self._sources(wrong, moved=False)

    @cached_property
    def operands(self) -> Mapping[Claim, tuple[Claim, ...]]:
        """For each claim the nearest claimed ones that it depends on at all."""
        every = {letter: np.arange(len(c.places)) for letter, c in self.claimed.items()}
        return self._sources(every, moved=True)

    @property
    def explained_only(self) -> int:
        """How many claims that are not right the best chain explains without a mistake."""
        best = self.best
        return sum(
            int((best.explained[letter] & ~best.depends[letter] & ~claimed.right).sum())
            for letter, claimed in self.claimed.items()
        )

    def uncomputed(self, letter: str) -> Iterator[int]:
        """The claims on a matrix that was plainly not computed: one number throughout.

        The true numbers differ, and more than one claim is unexplained: one slip makes two
        numbers alike by accident.
        """
        claimed = self.claimed[letter]
        true = self.evaluation.array(letter).ravel()[claimed.index]
        mistaken = ~claimed.fair & ~self.best.explained[letter]
        alike = len({written.value for written in claimed.written}) == 1
        if alike and mistaken.sum() > 1 and (true != true[0]).any():
            yield from map(int, np.flatnonzero(mistaken))

    def _sources(self, chosen: Mapping[str, Array], moved: bool) -> dict[Claim, tuple[Claim, ...]]:
        found: dict[Claim, list[Claim]] = {}
        run = _Run(self, [self.best.style])
        at_once = max(1, _MOST_NUMBERS // self._work)
        for letter, numbers in chosen.items():
            for start in range(0, len(numbers), at_once):
                some = numbers[start : start + at_once]
                for claim, source in run.exchanged(letter, some, moved):
                    found.setdefault(claim, []).append((letter, source))
        return {claim: tuple(sources) for claim, sources in found.items()}

    def ways(self, wanted: int) -> int:
        """A number of ways, at least as wanted, that no axis of a matrix has."""
        while wanted in self._lengths:
            wanted += 1
        return wanted

    def kept_more(self, letter: str, style: Style) -> int:
        """Decimals that a matrix is used with beyond those written."""
        return style.weights if letter in self._after else style.logits


class _Run:
    """Some styles followed through all steps, each as claimed and without the mistakes."""

    def __init__(self, chains: Chains, styles: Sequence[Style]) -> None:
        self.chains, self.count = chains, len(styles)
        both = [*styles, *styles]
        self.styles = both + [both[-1]] * (chains.ways(len(both)) - len(both))
        self.arithmetic = ByHand(
            np.array([style.between for style in self.styles], float),
            np.array([style.offset_between for style in self.styles]),
        )
        self.offsets = np.array([style.offset for style in self.styles])[:, None]
        self.cut = np.array([style.cut for style in self.styles])[: self.count, None]
        self.twice = np.array([style.twice for style in self.styles])[: self.count, None]
        self.explained: dict[str, Array] = {}
        self.depends: dict[str, Array] = {}
        self.kept: dict[str, Array] = {}
        self.computed: dict[str, Array] = {}
        self.unexplained = np.zeros(self.count, dtype=int)
        self.contradicted = np.zeros(self.count, dtype=int)
        with np.errstate(all="ignore"):
            for item in chains.steps:
                self._take(item)

    def chain(self, way: int, style: Style) -> Chain:
        return Chain(
            style,
            {letter: found[way] for letter, found in self.explained.items()},
            {letter: found[way] for letter, found in self.depends.items()},
            int(self.unexplained[way]),
            int(self.contradicted[way]),
        )

    def exchanged(self, letter: str, chosen: Array, moved: bool) -> Iterator[tuple[Claim, int]]:
        """Claims that change when one of the chosen claims on a matrix does, and which one that is.

        It is exchanged for what should have been written there or, if `moved`, for a number
        beside it; claimed numbers after it stand as they are.
        """
        claimed = self.chains.claimed[letter]
        ways = self.chains.ways(len(chosen))
        style = self.styles[0]
        arithmetic = ByHand(
            np.full(ways, style.between, float), np.full(ways, style.offset_between)
        )
        instead = self.kept[letter][1].ravel()[claimed.index[chosen]]
        if moved:
            beside = np.maximum(claimed.units[chosen], _BESIDE)
            instead = np.where(claimed.hidden, 0.0, claimed.numbers)[chosen] + beside
        changed: dict[str, Array] = {}

        def as_it_is(name: str) -> Array:
            kept_here = self.kept[name][0]
            return np.broadcast_to(kept_here, (ways, *kept_here.shape))

        def operand(name: str) -> Array:
            return changed[name] if name in changed else as_it_is(name)

        own = np.array(as_it_is(letter))
        own.reshape(ways, -1)[np.arange(len(chosen)), claimed.index[chosen]] = instead
        changed[letter] = own
        with np.errstate(all="ignore"):
            for step in self.chains.evaluation.steps:
                if step.letter == letter or not any(name in changed for name in step.operands):
                    continue
                value = self._followed(step, operand, arithmetic)
                here = arithmetic.between(value)
                reached = self.chains.claimed.get(step.letter)
                if reached is not None:
                    now = value.reshape(ways, -1)[: len(chosen), reached.index]
                    before = self.computed[step.letter][0].ravel()[reached.index]
                    same = _same(now, before, _PRECISE * self._largest(step.letter))
                    for way, number in np.argwhere(~same):
                        yield (step.letter, int(number)), int(chosen[way])
                    here = np.array(here)
                    written = self.kept[step.letter][0].ravel()[reached.index]
                    here.reshape(ways, -1)[:, reached.index] = written
                    if len(reached.places) == here[0].size:
                        continue
                changed[step.letter] = here

    def _followed(self, step: Any, operand: Callable[[str], Array], arithmetic: ByHand) -> Array:
        """A step in every way; not a number where what was claimed before makes no sense.

        A step that is a single operation has nothing in between.
        """
        if isinstance(step.expr, Exponential | LineSum):
            arithmetic = arithmetic.without_between
        try:
            value = self.chains.evaluation.follow(step, operand, arithmetic)
        except SymattnError:
            value = np.array(np.nan)
        return np.broadcast_to(value, (arithmetic.ways, *self.chains.shapes[step.letter]))

    def _largest(self, letter: str) -> float:
        """The largest number of a matrix, by size."""
        true = self.chains.evaluation.array(letter)
        return float(np.abs(true[np.isfinite(true)]).max(initial=0.0))

    def _take(self, item: Any) -> None:
        letter = item.letter
        value = self._computed(item)
        self.computed[letter] = value
        claimed = self.chains.claimed.get(letter)
        if claimed is None:
            given = letter in self.chains.evaluation.given
            self.kept[letter] = value if given else self.arithmetic.between(value)
            return
        flat = value.reshape(len(self.styles), -1)
        out = np.array(self.arithmetic.between(value)).reshape(flat.shape)
        out[:, claimed.index] = self._judged(letter, claimed, flat[:, claimed.index])
        self.kept[letter] = out.reshape(value.shape)

    def _computed(self, item: Any) -> Array:
        """A matrix in every way, from what was kept of its operands."""
        evaluation, letter = self.chains.evaluation, item.letter
        shape = (len(self.styles), *self.chains.shapes[letter])
        if letter in evaluation.given:
            return np.broadcast_to(evaluation.array(letter).astype(float), shape)
        return self._followed(item, self.kept.__getitem__, self.arithmetic)

    def _judged(self, letter: str, claimed: Claimed, values: Array) -> Array:
        """Which claims the chains explain; what is kept of them."""
        n = self.count
        more = np.array([self.chains.kept_more(letter, style) for style in self.styles], float)
        whole = (more >= UNROUNDED)[:, None] | claimed.exact
        powers = 10.0 ** np.minimum(claimed.decimals + more[:, None], 300)
        offsets = np.where(claimed.decimals >= 1, self.offsets, ROUNDED)
        short = np.where(whole, values, kept(values, powers, offsets))
        one, other = slice(0, n), slice(n, 2 * n)
        near = _PRECISE * self._largest(letter)
        true = self.chains.evaluation.array(letter).ravel()[claimed.index].astype(float)

        def explains(track: slice) -> Array:
            from_these = np.where(self.twice, short[track], values[track])
            found = _gives(from_these, claimed, self.cut, near)
            cut = np.where(claimed.right, found, claimed.cut)
            proven = np.where(self.cut, cut, claimed.right)
            return np.where(_same(values[track], true, near), proven, found)

        explained, without = explains(one), explains(other)
        depends = ~_same(values[one], values[other], near)
        mistaken = ~explained & ~claimed.fair
        lost = ~explained & ~without & ~depends & claimed.right
        self.explained[letter], self.depends[letter] = explained, depends
        self.contradicted += lost.sum(axis=1)
        self.unexplained += lost.sum(axis=1) + (~explained & ~claimed.right).sum(axis=1)
        as_written = ~explained | (more[:n, None] == 0)
        used = np.where(as_written, claimed.numbers, short[one])
        out = np.array(short)
        out[one] = used
        out[other] = np.where(depends | mistaken, short[other], used)
        return out


def _same(one: Array, other: Array, near: float) -> Array:
    """Whether numbers are the same as far as floating point can tell; none is like none."""
    none = np.isnan(one) & np.isnan(other)
    return np.asarray((one == other) | (np.abs(one - other) <= near) | none)


def _gives(values: Array, claimed: Claimed, cut: Array, near: float) -> Array:
    """Whether the numbers, rounded or cut off where they were claimed, are the claimed ones."""
    apart = values - claimed.numbers
    slack = near + 1e-9 * claimed.units
    rounded = np.abs(apart) <= claimed.units / 2 + slack
    if cut.any():
        away = np.where(claimed.numbers < 0, -apart, apart)
        shorter = (away >= -slack) & (away < claimed.units - slack)
        zero = (claimed.numbers == 0) & (np.abs(values) < claimed.units - slack)
        fraction = claimed.decimals >= 1  # whole numbers and exact ones are not cut off
        rounded = np.where(cut & fraction & ~claimed.exact, shorter | zero, rounded)
    hidden = claimed.hidden
    return np.where(hidden, values == -np.inf, rounded & np.isfinite(values))
