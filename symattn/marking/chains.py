"""Chains: the numbers that somebody would have written who worked in one style throughout.

Every step is computed from the numbers of the steps before it as a style keeps them, in all styles
at once and in floating point. A claim that the chain explains is used as the style keeps it; one
that it does not explain is used as it stands, so that what follows from a mistake is not a second
mistake. A second track goes on from what should have been written instead: where the two differ, a
number depends on a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import sympy

from symattn.arithmetic.base import Array
from symattn.arithmetic.by_hand import (
    MOST_TERMS,
    ROUNDED,
    TO_EVEN,
    UNROUNDED,
    Between,
    ByHand,
    Manner,
    to_decimals,
)
from symattn.arithmetic.verify import Accepted
from symattn.arithmetic.written import Written
from symattn.derivations import Evaluation, Given, Place
from symattn.errors import SymattnError
from symattn.marking.styles import AS_WRITTEN, MORE, Style, styles_that_differ
from symattn.nodes.lines import LineQuotient
from symattn.nodes.normalise import Normaliser
from symattn.step import Input, Item, Step

#: Floating point is believed to this share of the largest number of a matrix.
_PRECISE = 1e-13

#: A change by this share of a unit of the last digit does not show.
_NOTICED = 1e-3

#: Rounding hardly moves a number by more: so many units, and such a share of the largest number.
_FAR, _SHARE = 3, 0.05

#: A number is another one if it is off by more than such a share of the largest number of its row:
#: one without decimals, and one with fewer decimals than numbers that are made of it. A matrix with
#: a number of three digits or more is kept well enough without decimals.
_WHOLE_OFF, _SHORT_OFF, _THREE_DIGITS = 1 / 1000, 1 / 3, 100

#: Right numbers that need not follow: as written, so many for each claim that is explained, less
#: one; where more was rounded than what is written, one for so many explained claims.
_RIGHT_FOR_ONE, _EXPLAINED_FOR_RIGHT = 2, 3

#: What is added to a claim to see which others depend on it.
_BESIDE = 0.01

#: Numbers that are held at once, over all styles.
_MOST_NUMBERS = 2_000_000


#: One of the claims on a matrix: its letter, and which of its claims.
ClaimKey = tuple[str, int]


class Proven(NamedTuple):
    """What is proven of a claim by itself."""

    right: bool = False
    #: It is the true value cut off.
    cut: bool = False
    #: It is more than a unit of its last digit from the true value.
    apart: bool = False
    #: Why nothing more could be proven.
    undecided: str = ""


class Claimed:
    """The claims on one matrix as floats, with what is proven of each."""

    def __init__(
        self,
        claims: Array,
        true: Callable[[], Array],
        prove: Callable[[Place, Written], Proven],
    ) -> None:
        flat = claims.ravel().tolist()
        indices = [index for index, entry in enumerate(flat) if entry is not None]
        #: Whether every entry of the matrix is claimed.
        self.whole = len(indices) == len(flat)
        places = list(np.ndindex(*claims.shape))
        self.places: list[Place] = places if self.whole else [places[index] for index in indices]
        self.written: list[Written] = [flat[index] for index in indices]
        #: Where the claims stand in the matrix written as one row.
        self.index = np.array(indices, dtype=int)
        self._true = true
        self.proven = [prove(place, written) for place, written in self]
        self.right: Array = np.array([each.right for each in self.proven], dtype=bool)
        self.cut: Array = np.array([each.cut for each in self.proven], dtype=bool)

    @cached_property
    def numbers(self) -> Array:
        """What was claimed, as floats."""
        return np.array([entry.nearest for entry in self.written])

    @cached_property
    def units(self) -> Array:
        """One unit of the last digit of each; 0 for an exact claim."""
        return np.array([entry.nearest_unit for entry in self.written])

    @cached_property
    def exact(self) -> Array:
        """Which claim to be the value itself."""
        return np.array([entry.places is None for entry in self.written], dtype=bool)

    @cached_property
    def decimals(self) -> Array:
        """How many decimals each was written with."""
        places = [UNROUNDED if entry.places is None else entry.places for entry in self.written]
        return np.array(places, float)

    @cached_property
    def true(self) -> Array:
        """The true values as floats."""
        return np.asarray(self._true().ravel()[self.index], dtype=float)

    @cached_property
    def near(self) -> float:
        """What floating point cannot tell apart in this matrix."""
        true = self._true()
        return _PRECISE * float(np.abs(true[np.isfinite(true)]).max(initial=0.0))

    @property
    def fair(self) -> Array:
        """Which claims are no mistakes whatever the style: right, or the true value cut off."""
        return self.right | self.cut

    @cached_property
    def rounding_interval(self) -> tuple[Array, Array]:
        """The least and the largest number that is rounded to each claim: half a unit around it."""
        half = self.units / 2 + self._slack
        return self.numbers - half, self.numbers + half

    @cached_property
    def cutting_interval(self) -> tuple[Array, Array]:
        """The same for cutting off: a unit away from zero; whole and exact numbers are not cut."""
        low, high = self.rounding_interval
        near, far = self._slack, self.units - self._slack
        fraction = (self.decimals >= 1) & ~self.exact
        below = np.where(self.numbers > 0, near, far)
        above = np.where(self.numbers < 0, near, far)
        return (
            np.where(fraction, self.numbers - below, low),
            np.where(fraction, self.numbers + above, high),
        )

    def interval(self, cut: Array) -> tuple[Array, Array]:
        """The least and the largest number that is written as each claim, in every way of working.

        `cut` says of each way whether digits are cut off.
        """
        low, high = self.rounding_interval
        if not cut.any():
            return low, high
        return np.where(cut, self.cutting_interval[0], low), np.where(
            cut, self.cutting_interval[1], high
        )

    @cached_property
    def written_alike(self) -> tuple[Array, Array]:
        """Which claims have decimals, and how many; one for all where all have as many."""
        decimals = self.decimals
        if decimals.size and (decimals == decimals[0]).all():
            decimals = decimals[:1]
        return decimals >= 1, decimals

    @property
    def plainly_rounded(self) -> Array:
        """Which are right and would be other numbers if digits had been cut off."""
        low, high = self.cutting_interval
        fraction = (self.decimals >= 1) & ~self.exact
        return self.right & fraction & ((self.true < low) | (self.true > high))

    @cached_property
    def noticed(self) -> Array:
        """The least change of each number that shows in how it is written."""
        return self.near + _NOTICED * self.units

    @cached_property
    def _slack(self) -> Array:
        return self.near + 1e-9 * self.units

    def __iter__(self) -> Iterator[tuple[Place, Written]]:
        """Each claim with its place."""
        return zip(self.places, self.written, strict=True)


@dataclass(frozen=True)
class Followed:
    """A matrix in one way of working, or along a first axis in several.

    As it follows from those before it (`computed`) and as later steps use it (`used`); of its
    claims, which are explained, which were rounded so `coarse`ly, and used so, that what follows is
    made of another number, and which of the explained ones depend on a mistake. `should`: what
    should have been used, were there no mistakes.
    """

    computed: Array
    used: Array
    explained: Array
    coarse: Array
    depends: Array
    should: Array

    def of(self, way: int) -> Followed:
        """In one way of several."""
        return replace(
            self,
            computed=self.computed[way],
            used=self.used[way],
            explained=self.explained[way],
            coarse=self.coarse[way],
        )


@dataclass(frozen=True)
class Chain:
    """What one style gives: every matrix as it keeps it, and how many mistakes that leaves."""

    style: Style
    matrices: Mapping[str, Followed]
    #: How many claims are mistakes, or told against the style; and how many it would not give.
    order: tuple[int, int] = (0, 0)

    def __getitem__(self, letter: str) -> Followed:
        return self.matrices[letter]

    def within_reach(self, claims: Mapping[str, Claimed]) -> int:
        """How many mistakes another style might explain: those near what is computed."""
        count = 0
        for letter, claimed in claims.items():
            value = self[letter].computed.ravel()[claimed.index]
            reach = _FAR * claimed.units + _SHARE * claimed.near / _PRECISE
            with np.errstate(invalid="ignore"):
                near = np.abs(value - claimed.numbers) <= reach
            mistaken = ~self[letter].explained & ~claimed.right
            count += int((near & mistaken).sum())
        return count


class _Layout:
    """What the chains of all sheets of one exercise share: shapes, and how much work they are."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.steps: tuple[Item, ...] = (*evaluation.inputs, *evaluation.steps)
        levels = len(evaluation.batch) + 2
        self.shapes: dict[str, tuple[int, ...]] = {}
        for item in self.steps:  # what a batch shares has an axis of 1 for its items
            shape = evaluation.shape(item.letter)
            self.shapes[item.letter] = (1,) * (levels + item.per_head - len(shape)) + shape
        self.lengths = {size for shape in self.shapes.values() for size in shape}
        most = max(int(np.prod(shape)) for shape in self.shapes.values())
        #: About how many numbers one style holds at once.
        self.work = max(most, min(most * max(self.lengths), MOST_TERMS))
        names = [item.name for item in self.steps]
        at = names.index("weights") if "weights" in names else len(names)
        #: The weights and what follows them.
        self.after = {item.letter for item in self.steps[at:]}
        roots = (
            power.subs(evaluation.sizes)
            for step in evaluation.steps
            for power in step.expr.atoms(sympy.Pow)
        )
        #: Whether something is divided by, or multiplied with, an irrational number.
        self.root = any(root.is_number and not root.is_Rational for root in roots)


class Chains:
    """The chains of all styles through the claims of one worksheet."""

    def __init__(
        self,
        evaluation: Evaluation,
        claimed: Mapping[str, Claimed],
        rounding: Accepted = "either",
    ) -> None:
        self.evaluation, self.claimed, self.rounding = evaluation, claimed, rounding
        layout: _Layout = evaluation.known(("shape", "chains"), lambda: _Layout(evaluation))
        self.layout, self.steps, self.shapes = layout, layout.steps, layout.shapes
        self._operands: dict[str, Mapping[ClaimKey, tuple[ClaimKey, ...]]] = {}

    @cached_property
    def best(self) -> Chain:
        """The chain that leaves the fewest mistakes; of equal ones the plainest.

        In both tracks, where a claim is not explained.
        """
        chosen = self._chosen
        if not any(
            (~chosen[letter].explained & ~claimed.right).any() or chosen[letter].coarse.any()
            for letter, claimed in self.claimed.items()
        ):
            return chosen  # no mistakes: the tracks are one
        tracks = _Run(self, _one_way(chosen.style, self.ways(2)), tracks=2)
        return tracks.chain(0)

    @cached_property
    def _chosen(self) -> Chain:
        """The chain of the style of the sheet."""
        groups = styles_that_differ(*self._circumstances)
        plain, usual, unusual = accumulate(map(len, groups))
        runs = [*self._runs(0, plain)]
        known = runs[0].never_given if runs else None
        best = self._best_of(runs, known or 0)
        if best is not None and not best.within_reach(self.claimed):
            return best
        runs = [*self._runs(plain, usual)]
        known = runs[0].never_given if known is None else known
        others = self._best_of(runs, known)
        best = min((chain for chain in (best, others) if chain), key=lambda chain: chain.order)
        if best.within_reach(self.claimed) < MORE:
            return best
        rare = self._best_of(self._runs(usual, unusual), known)
        return rare if rare and rare.order[0] + MORE <= best.order[0] else best

    @cached_property
    def _circumstances(self) -> tuple[bool, bool]:
        """Whether there is a root to be rounded, and whether a step is left out."""
        left_out = any(step.letter not in self._whole for step in self.evaluation.steps)
        return self.layout.root, left_out

    def _runs(self, first: int, last: int) -> Iterator[_Run]:
        """The styles in a range of them, so many at once, where the policy allows any."""
        at_once = max(1, _MOST_NUMBERS // self.layout.work)
        for start in range(first, last, at_once):
            stop = min(start + at_once, last)
            run = _Run(self, _some_ways(self._circumstances, start, stop, self.ways(stop - start)))
            if run.able:
                yield run

    @staticmethod
    def _best_of(runs: Iterable[_Run], known: int) -> Chain | None:
        """The chain of the best style of some runs; None where the policy allows none."""
        return min((run.best(known) for run in runs), key=lambda chain: chain.order, default=None)

    @cached_property
    def mistakes(self) -> Mapping[ClaimKey, tuple[ClaimKey, ...]]:
        """For each claim the mistakes before it that it depends on, the nearest claimed ones.

        A claim depends on a mistake if it would be another number without it.
        """
        wrong = {
            letter: np.flatnonzero(
                (~self.best[letter].explained & ~claimed.fair)
                | (self.best[letter].depends & ~claimed.right)
                | self.best[letter].coarse
            )
            for letter, claimed in self.claimed.items()
        }
        return self._origins(wrong, moved=False)

    @cached_property
    def too_coarse(self) -> frozenset[ClaimKey]:
        """The claims that are mistakes because they were rounded so coarsely and then used so."""
        if not any(self.best[letter].coarse.any() for letter in self.claimed):
            return frozenset()
        return frozenset(
            origin
            for (letter, number), origins in self.mistakes.items()
            if self.best[letter].depends[number] and not self.claimed[letter].right[number]
            for origin in origins
            if self.best[origin[0]].coarse[origin[1]]
        )

    @cached_property
    def decimals_after(self) -> Mapping[str, float]:
        """For each matrix the most decimals of a claimed number that is made of it."""
        most = dict.fromkeys(self.shapes, -np.inf)
        for step in reversed(self.evaluation.steps):
            own, claimed = most[step.letter], self.claimed.get(step.letter)
            if claimed is not None:
                own = max(own, claimed.decimals[~claimed.exact].max(initial=-np.inf))
            for operand in step.operands:
                most[operand] = max(most[operand], own)
        return most

    def operands(self, claim: ClaimKey) -> tuple[ClaimKey, ...]:
        """The nearest claimed numbers before a claim that it depends on at all."""
        letter = claim[0]
        if letter not in self._operands:
            every = {
                before: np.arange(len(self.claimed[before].places))
                for before in nearest_before(self.evaluation, letter, self.claimed, self._whole)
            }
            self._operands[letter] = self._origins(every, moved=True)
        return self._operands[letter].get(claim, ())

    @cached_property
    def _whole(self) -> frozenset[str]:
        """The matrices all of whose entries are claimed."""
        return frozenset(letter for letter, claimed in self.claimed.items() if claimed.whole)

    @property
    def explained_only(self) -> int:
        """How many claims that are not right the best chain explains without a mistake."""
        best = self.best
        return sum(
            int((best[letter].explained & ~best[letter].depends & ~claimed.right).sum())
            for letter, claimed in self.claimed.items()
        )

    @cached_property
    def cut_off(self) -> tuple[int, int]:
        """How many claims are plainly cut off, and how many are plainly rounded."""
        cut = sum(int((one.cut & ~one.right).sum()) for one in self.claimed.values())
        return cut, sum(int(one.plainly_rounded.sum()) for one in self.claimed.values())

    def uncomputed(self, letter: str) -> Iterator[int]:
        """The claims on a matrix that was plainly not computed: one number throughout.

        The true numbers differ, and more than one claim is unexplained: one slip makes two
        numbers alike by accident. Weights that are all 0 were not computed in any case.
        """
        claimed = self.claimed[letter]
        if len({written.value for written in claimed.written}) != 1:
            return
        mistaken = ~claimed.fair & ~self.best[letter].explained
        step = self.evaluation.step(letter)
        weights = step is not None and isinstance(step.expr, Normaliser | LineQuotient)
        none = weights and claimed.written[0].value == 0
        if mistaken.sum() > (0 if none else 1) and (claimed.true != claimed.true[0]).any():
            yield from map(int, np.flatnonzero(mistaken))

    def _origins(
        self, chosen: Mapping[str, Array], moved: bool
    ) -> dict[ClaimKey, tuple[ClaimKey, ...]]:
        """The claims that depend on some of the chosen ones, each with those."""
        found: dict[ClaimKey, list[ClaimKey]] = {}
        at_once = max(1, _MOST_NUMBERS // self.layout.work)
        for letter, numbers in chosen.items():
            for start in range(0, len(numbers), at_once):
                some = numbers[start : start + at_once]
                for claim, origin in self._exchanged(letter, some, moved):
                    found.setdefault(claim, []).append((letter, origin))
        return {claim: tuple(origins) for claim, origins in found.items()}

    def _exchanged(self, letter: str, chosen: Array, moved: bool) -> Iterator[tuple[ClaimKey, int]]:
        """The claims that change when a chosen claim on a matrix does, each with that one.

        It is exchanged for what should have been written there or, if `moved`, for a number
        beside it; claimed numbers after it stand as they are.
        """
        claimed = self.claimed[letter]
        if moved:  # what is hidden stays hidden
            instead = claimed.numbers[chosen] + np.maximum(claimed.units[chosen], _BESIDE)
        else:
            instead = self.best[letter].should.ravel()[claimed.index[chosen]]
        ways = self.ways(len(chosen))
        arithmetic = _one_way(self.best.style, ways).arithmetic
        changed: dict[str, Array] = {}

        def operand(name: str) -> Array:
            here = self.best[name].used
            return changed[name] if name in changed else np.broadcast_to(here, (ways, *here.shape))

        own = np.array(operand(letter))
        own.reshape(ways, -1)[np.arange(len(chosen)), claimed.index[chosen]] = instead
        changed[letter] = own
        with np.errstate(all="ignore"):
            for step in self.evaluation.steps:
                if step.letter == letter or not any(name in changed for name in step.operands):
                    continue
                value = self.followed(step, operand, arithmetic)
                here = _unwritten(step, value, arithmetic)
                reached = self.claimed.get(step.letter)
                if reached is not None:
                    now = value.reshape(ways, -1)[: len(chosen), reached.index]
                    before = self.best[step.letter].computed.ravel()[reached.index]
                    for origin, number in np.argwhere(~_same(now, before, reached.noticed)):
                        yield (step.letter, int(number)), int(chosen[origin])
                    if reached.whole:
                        continue
                    here = np.array(here)
                    written = self.best[step.letter].used.ravel()[reached.index]
                    here.reshape(ways, -1)[:, reached.index] = written
                changed[step.letter] = here

    def followed(self, step: Step, operand: Callable[[str], Array], arithmetic: ByHand) -> Array:
        """A step in every way; NaN where the numbers claimed before it make no sense.

        A step that is a single operation has nothing in between.
        """
        if getattr(step.expr, "single", False):
            arithmetic = arithmetic.without_between
        try:
            value = self.evaluation.follow(step, operand, arithmetic)
        except SymattnError:
            value = np.array(np.nan)
        return np.broadcast_to(value, (arithmetic.ways, *self.shapes[step.letter]))

    def own_work(self, letter: str) -> Evaluation | None:
        """A step over its operands as the style keeps them; None of what is given."""
        step = self.evaluation.step(letter)
        if step is None:
            return None
        operands = [self.evaluation.item(name) for name in step.operands]
        inputs = [Input.of(operand) for operand in operands]
        given = {operand.letter: self._as_used(operand.letter) for operand in operands}
        return Evaluation(inputs, [step], given, self.evaluation.sizes, self.evaluation.labels)

    def _as_used(self, letter: str) -> Given:
        """A matrix as the style keeps it: nested lists of decimals.

        Claims as they were read; of what was computed the digits that floating point has right:
        0.2, where it gives 0.19999999999999996.
        """
        used, claimed = self.best[letter].used, self.claimed.get(letter)
        written = np.zeros(used.size, dtype=bool)
        if claimed is not None:
            written[claimed.index] = True
        texts = [
            format(Decimal(repr(x) if own else f"{x:.15g}"), "f") if np.isfinite(x) else "-inf"
            for x, own in zip(map(float, used.ravel()), written.tolist(), strict=True)
        ]
        return np.array(texts, dtype=object).reshape(used.shape).tolist()

    def ways(self, wanted: int) -> int:
        """The least number of ways from `wanted` on that is the length of no axis."""
        while wanted in self.layout.lengths:
            wanted += 1
        return wanted


class _Ways:
    """Styles side by side along a first axis, one a way; the last one fills up the count."""

    def __init__(self, styles: Sequence[Style], count: int) -> None:
        every = [*styles, *[styles[-1]] * (count - len(styles))]

        def column(part: str) -> Array:
            return np.array([getattr(style, part) for style in every])

        sums, terms, root, steps = (
            column(part).astype(float) for part in ("sums", "terms", "root", "steps")
        )
        self.styles, self.count = tuple(styles), count
        manner = Manner(column("shifted"), column("inverse"))
        between = Between(sums, terms, root, steps, column("significant"))
        self.arithmetic = ByHand(between, column("offset_between"), manner)
        self.offsets = column("offset")[:, None]
        self.cut, self.twice = column("cut")[:, None], column("twice")[:, None]
        self.any_twice = bool(self.twice.any())
        self.even = np.flatnonzero(np.isin(column("offset"), TO_EVEN))
        self.more = {part: column(part)[:, None].astype(float) for part in ("logits", "weights")}


@lru_cache(maxsize=64)
def _some_ways(circumstances: tuple[bool, bool], start: int, stop: int, count: int) -> _Ways:
    styles = [style for group in styles_that_differ(*circumstances) for style in group]
    return _Ways(styles[start:stop], count)


@lru_cache(maxsize=64)
def _one_way(style: Style, count: int) -> _Ways:
    return _Ways([style], count)


class _Run:
    """Styles followed through all steps, one a way.

    The style that was chosen is followed in two `tracks`: as claimed, and without the mistakes.
    """

    def __init__(self, chains: Chains, ways: _Ways, tracks: int = 0) -> None:
        self.chains, self.ways, self.tracks = chains, ways, tracks
        #: The ways whose style the policy allows.
        styles = enumerate(ways.styles)
        self.able = [way for way, style in styles if style.fits(chains.rounding)]
        self.matrices: dict[str, Followed] = {}
        with np.errstate(all="ignore"):
            for item in chains.steps:
                self.matrices[item.letter] = self._followed(item)

    @cached_property
    def counts(self) -> Array:
        """In each way, of claims that are not right how many are explained, and how many are not.

        Then how many that are right are not, and how many are.
        """
        counts = np.zeros((4, self.ways.count), dtype=int)
        for letter, claimed in self.chains.claimed.items():
            explained, right = self.matrices[letter].explained, claimed.right
            kinds = (explained & ~right, ~explained & ~right, ~explained & right, explained & right)
            counts += [kind.sum(axis=1) for kind in kinds]
        return counts

    @property
    def never_given(self) -> int:
        """How many right numbers no style gives, since they follow a number miscopied."""
        return int(self.counts[2, self.able].min())

    def best(self, known: int) -> Chain:
        """The chain of the best style that the policy allows.

        So many right numbers are `known` to be given by no plain style.
        """
        costs = {way: self._cost(way, known) for way in self.able}
        way = min(self.able, key=costs.__getitem__)
        return replace(self.chain(way), order=costs[way])

    def chain(self, way: int) -> Chain:
        """What one way gives."""
        matrices = {letter: found.of(way) for letter, found in self.matrices.items()}
        return Chain(self.ways.styles[way], matrices)

    def _cost(self, way: int, known: int) -> tuple[int, int]:
        """How many mistakes a way makes of the claims, and how many right ones it would not give.

        A right number decides no style, since it may be known without one. But a single slip is
        soon explained by one of many styles; so those that would not give right numbers have to
        explain a claim more, unless numbers were used as written, which few people do not try,
        or nothing is a mistake and these are few, beside those explained and beside the right ones
        that the style gives. Digits cut off are told by any right number.
        """
        explained, mistaken, other, given = self.counts[:, way].tolist()
        style, few = self.ways.styles[way], 0
        if style.as_written:
            few = _RIGHT_FOR_ONE * explained - 1
        elif not (mistaken or style.cut) and given > other:
            few = explained // _EXPLAINED_FOR_RIGHT
        return mistaken + (other > known + max(few, 0)), other

    def _followed(self, item: Item) -> Followed:
        """A matrix in every way, from its operands as they are used."""
        letter, chains = item.letter, self.chains
        if isinstance(item, Step):
            value = chains.followed(item, lambda x: self.matrices[x].used, self.ways.arithmetic)
            used = _unwritten(item, value, self.ways.arithmetic)
        else:
            shape = (self.ways.count, *chains.shapes[letter])
            own = chains.evaluation.array(letter).astype(float).reshape(shape[1:])
            value = used = np.broadcast_to(own, shape)
        claimed = chains.claimed.get(letter)
        none = np.zeros((self.ways.count, 0), dtype=bool)
        if claimed is None:
            return Followed(value, used, none, none, none, used)
        return self._claimed(letter, claimed, value, used)

    def _most_off(self, letter: str, claimed: Claimed, value: Array) -> Array:
        """How far each claim may be rounded before it is another number."""
        short = claimed.decimals < self.chains.decimals_after[letter]
        if not short.any() and (claimed.decimals >= 1).all():
            return np.array(np.inf)
        sizes = np.abs(np.where(np.isfinite(value), value, 0))
        of_row, of_matrix = (
            np.broadcast_to(sizes.max(axis=axes, keepdims=True), value.shape).reshape(
                self.ways.count, -1
            )[:, claimed.index]
            for axes in ((-1,), (-2, -1))
        )
        whole = of_matrix < _THREE_DIGITS * claimed.units
        return np.where(
            claimed.decimals >= 1,
            np.where(short, _SHORT_OFF * of_row, np.inf),
            np.where(whole, _WHOLE_OFF * of_row, np.inf),
        )

    def _claimed(
        self, letter: str, claimed: Claimed, computed: Array, unwritten: Array
    ) -> Followed:
        """A matrix with claims, which later steps use as a style keeps them, if it explains them.

        One that is too far off its value is too coarse to be used as written.
        """
        ways, most_off = self.ways, self._most_off(letter, claimed, computed)
        values = computed.reshape(ways.count, -1)[:, claimed.index]
        more = ways.more["weights" if letter in self.chains.layout.after else "logits"]
        short = self._shortened(claimed, values, more)
        explained = self._explained(claimed, values, short)
        off = np.abs(values - claimed.numbers)
        coarse = explained & (off > most_off) & (more == AS_WRITTEN) & ~claimed.exact
        depends = np.zeros(len(claimed.places), dtype=bool)
        out = np.where(explained & (more > 0), short, claimed.numbers)
        if self.tracks == 2:  # a number miscopied: what comes next was made of the right one
            depends = ~_same(values[0], values[1], claimed.noticed)
            if not self._is_mistaken:  # what is the same whatever was rounded is no one's fault
                depends &= ~explained[1]
            miscopied = ~explained[0] & explained[1] & ~claimed.right
            explained[0] |= miscopied
            depends &= ~miscopied
            out[0] = np.where(miscopied & (more[0] > 0), short[1], out[0])
            mistaken = ~explained[0] & ~claimed.fair
            finer = np.where(np.abs(values - short) > most_off, values, short)[1]
            out[1] = np.where(depends | mistaken | coarse[0], finer, out[0])
        used: Array = np.array(unwritten).reshape(ways.count, -1)
        used[:, claimed.index] = out
        used = used.reshape(computed.shape)
        return Followed(computed, used, explained, coarse, depends, used[self.tracks // 2])

    def _shortened(self, claimed: Claimed, values: Array, more: Array) -> Array:
        """Values as they would be kept where so many decimals more are kept than are written."""
        fraction, decimals = claimed.written_alike
        powers = 10.0 ** np.minimum(decimals + more, 300)
        offsets = np.where(fraction, self.ways.offsets, ROUNDED)
        short: Array = to_decimals(values, powers, offsets, self.ways.even)
        np.copyto(short, values, where=(more >= UNROUNDED) | claimed.exact)
        return short

    def _explained(self, claimed: Claimed, values: Array, short: Array) -> Array:
        """Which claims are these values written down; `short`: rounded once before."""
        ways, fraction = self.ways, claimed.written_alike[0]
        written = np.where(ways.twice & fraction, short, values) if ways.any_twice else values
        low, high = claimed.interval(ways.cut)
        explained = (written >= low) & (written <= high)
        true = np.abs(values - claimed.true) <= claimed.near
        if not true.any():
            return explained
        # there a proof stands in place of a judgement
        proven = np.where(ways.cut & ~claimed.right, claimed.cut, claimed.right)
        return np.where(true, proven & (explained | ~ways.cut), explained)

    @property
    def _is_mistaken(self) -> bool:
        """Whether a number so far is a mistake that no rounding explains."""
        return any(
            (~found.explained[0] & ~self.chains.claimed[letter].fair).any()
            for letter, found in self.matrices.items()
            if letter in self.chains.claimed
        )


def nearest_before(
    evaluation: Evaluation,
    letter: str,
    claimed: Collection[str],
    whole: Collection[str] | None = None,
) -> list[str]:
    """The nearest matrices that a step is made of and that are claimed, in the order of these.

    What is not claimed as a `whole` is made of what comes before it, too.
    """
    found, pending = set[str](), [letter]
    while pending:
        step = evaluation.step(pending.pop())
        for operand in step.operands if step is not None else ():
            found.add(operand)
            if operand not in (claimed if whole is None else whole):
                pending.append(operand)
    return [each for each in claimed if each in found]


def _unwritten(step: Step, value: Array, arithmetic: ByHand) -> Array:
    """A step that is not claimed, as later steps use it."""
    if getattr(step.expr, "single", False):
        return arithmetic.sums(value)
    return arithmetic.between(value)


def _same(one: Array, other: Array, near: Array) -> Array:
    """Whether numbers are the same as far as floating point can tell; none is like none."""
    none = np.isnan(one) & np.isnan(other)
    return np.asarray((one == other) | (np.abs(one - other) <= near) | none)
