"""A failure made small: the smallest sizes and the simplest numbers that still show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from symattn.errors import SymattnError
from symattn.verifying.inputs import simpler, sizes_of, small, smaller
from symattn.verifying.trying import Outcome, tried, tried_on

#: How many sizes, draws of numbers and simpler numbers are tried; inputs of more numbers than the
#: last are not made simpler, which would take long.
_MOST_SIZES, _DRAWS, _MOST_SIMPLER, _MOST_SIMPLIFIED = 40, 4, 160, 200


def shrunk(failed: Outcome) -> Outcome:
    """The same failure at the smallest sizes and with the simplest numbers that were found."""
    subject = failed.subject
    derivation = subject.derivation()
    sizes = sizes_of(derivation, subject.spec, failed.item.sizes)
    free = frozenset(symbol.name for symbol in derivation.size_symbols)
    free -= frozenset(("h", "g") if subject.spec.heads is None else ())
    for fewer in islice(smaller(sizes, free), _MOST_SIZES):
        found = _same_failure(failed, fewer)
        if found is not None:
            return _simplified(found)
    return _simplified(_fewer(failed, sizes, free))


def _fewer(best: Outcome, sizes: Mapping[str, int], free: frozenset[str]) -> Outcome:
    """The same failure with every size as small as it may be while the others stay."""
    current = dict(sizes)
    for name in sorted(free & set(sizes), key=lambda name: -sizes[name]):
        low, high = 1, current[name]
        while low < high:  # as if what fails at a size failed at every larger one
            middle = (low + high) // 2
            found = _same_failure(best, {**current, name: middle})
            if found is None:
                low = middle + 1
            else:
                best, high = found, middle
        current[name] = high
    return best


def _same_failure(failed: Outcome, sizes: Mapping[str, int]) -> Outcome | None:
    """The same failure at these sizes; None where there is none, or they cannot be had."""
    for seed in range(_DRAWS):
        for item in (small(failed.item), failed.item):
            try:
                found = tried(failed.subject, replace(item, seed=seed), sizes)
            except SymattnError:
                return None
            if found.kind == failed.kind:
                return replace(found, item=failed.item)
    return None


def _simplified(best: Outcome) -> Outcome:
    """The same failure with simpler numbers."""
    left = _MOST_SIMPLER
    if sum(array.size for array in best.numbers.values()) > _MOST_SIMPLIFIED:
        return best
    while (found := _simpler(best, left)) is not None:
        best, left = found
    return best


def _simpler(best: Outcome, left: int) -> tuple[Outcome, int] | None:
    """The same failure with one number simpler, and how many more may be tried."""
    sizes = best.evaluation.known_sizes
    derivation = best.subject.derivation(sizes.get("h", 4), sizes.get("g", 2))
    for count, numbers in enumerate(islice(simpler(best.numbers), left), 1):
        try:
            found = tried_on(best.subject, best.item, derivation, numbers)
        except SymattnError:
            continue
        if found.kind == best.kind:
            return found, left - count
    return None
