"""A failure made small: the smallest sizes and the simplest numbers that still show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

from symattn.arithmetic.base import Array
from symattn.errors import SymattnError
from symattn.verifying.inputs import simpler, sizes_of, small, smaller
from symattn.verifying.trying import Outcome, tried, tried_on

Shown = TypeVar("Shown")

#: How many sizes up to which one, draws of numbers and simpler numbers are tried; inputs of more
#: numbers than the last are not made simpler, which would take long.
_MOST_SIZES, _FEW, _DRAWS, _MOST_SIMPLER, _MOST_SIMPLIFIED = 40, 6, 4, 160, 200


def seeds(sizes: Mapping[str, int]) -> range:
    """The draws of numbers that are tried at these sizes: of many numbers one."""
    return range(1 if max(sizes.values(), default=0) > _MOST_SIZES else _DRAWS)


@dataclass(frozen=True)
class Search(Generic[Shown]):
    """Where else a failure is looked for: at other sizes, and with other numbers of the same."""

    at: Callable[[Mapping[str, int]], Shown | None]
    on: Callable[[Shown, Mapping[str, Array]], Shown | None]
    #: What was given where it shows.
    given: Callable[[Shown], Mapping[str, Array]]


def made_small(
    failed: Shown, sizes: Mapping[str, int], free: Collection[str], search: Search[Shown]
) -> Shown:
    """The same failure at the smallest sizes and with the simplest numbers that were found.

    Of the `sizes` at which it was seen those that are `free` may change.
    """
    few = {name: min(size, _FEW) if name in free else size for name, size in sizes.items()}
    for fewer in islice(smaller(few, frozenset(free)), _MOST_SIZES):
        found = search.at(fewer)
        if found is not None:
            return _simplified(found, search)
    return _simplified(_fewer(failed, sizes, free, search), search)


def shrunk(failed: Outcome) -> Outcome:
    """The same failure of a function, made small."""
    subject = failed.subject
    derivation = subject.derivation()
    sizes = sizes_of(derivation, subject.spec, failed.item.sizes)
    free = frozenset(symbol.name for symbol in derivation.size_symbols)
    free -= frozenset(("h", "g") if subject.spec.heads is None else ())
    search = Search(partial(_at, failed), _on, lambda outcome: outcome.numbers)
    return made_small(failed, sizes, free, search)


def _fewer(
    best: Shown, sizes: Mapping[str, int], free: Collection[str], search: Search[Shown]
) -> Shown:
    """The same failure with every size as small as it may be while the others stay."""
    current = dict(sizes)
    for name in sorted({*free} & {*sizes}, key=lambda name: -sizes[name]):
        low, high = 1, current[name]
        while low < high:  # as if what fails at a size failed at every larger one
            middle = (low + high) // 2
            found = search.at({**current, name: middle})
            if found is None:
                low = middle + 1
            else:
                best, high = found, middle
        current[name] = high
    return best


def _simplified(best: Shown, search: Search[Shown]) -> Shown:
    """The same failure with simpler numbers."""
    left = _MOST_SIMPLER
    if sum(array.size for array in search.given(best).values()) > _MOST_SIMPLIFIED:
        return best
    while (found := _simpler(best, search, left)) is not None:
        best, left = found
    return best


def _simpler(best: Shown, search: Search[Shown], left: int) -> tuple[Shown, int] | None:
    """The same failure with one number simpler, and how many more may be tried."""
    for count, numbers in enumerate(islice(simpler(search.given(best)), left), 1):
        found = search.on(best, numbers)
        if found is not None:
            return found, left - count
    return None


# ---- of one function -------------------------------------------------------------------------


def _at(failed: Outcome, sizes: Mapping[str, int]) -> Outcome | None:
    """The same failure at these sizes; None where there is none, or they cannot be had."""
    for seed in seeds(sizes):
        for item in (small(failed.item), failed.item):
            try:
                found = tried(failed.subject, replace(item, seed=seed), sizes)
            except SymattnError:
                return None
            if _is_alike(found, failed):
                return replace(found, item=failed.item)
    return None


def _on(best: Outcome, numbers: Mapping[str, Array]) -> Outcome | None:
    """The same failure on other numbers."""
    sizes = best.evaluation.known_sizes
    derivation = best.subject.derivation(sizes.get("h", 4), sizes.get("g", 2))
    try:
        found = tried_on(best.subject, best.item, derivation, numbers)
    except SymattnError:
        return None
    return found if _is_alike(found, best) else None


def _is_alike(one: Outcome, other: Outcome) -> bool:
    """Whether two failures are of one kind: NaN may have another cause than a wrong number."""
    return one.kind == other.kind and one.is_finite == other.is_finite
