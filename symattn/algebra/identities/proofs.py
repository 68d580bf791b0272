"""Proofs of rows of the catalogue, whose every link is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, pairwise
from time import perf_counter

from symattn.algebra.counterexample import Meaning, Side
from symattn.algebra.equality import (
    AT_GIVEN,
    FOR_ALL,
    MOST_EFFORT,
    Equality,
    answered,
    decide,
)
from symattn.algebra.identities.identity import ENTRIES, HYPOTHESIS, Identity
from symattn.algebra.rules import rule
from symattn.arguments import whole


@dataclass(frozen=True)
class Link:
    """One link of a proof: two expressions, the rule between them, and what was decided."""

    left: Meaning
    right: Meaning
    rule: str
    equality: Equality


@dataclass(frozen=True, repr=False)
class Proof:
    """The decision about a row's statement, its links, and the seconds taken."""

    identity: Identity
    equality: Equality
    links: tuple[Link, ...]
    seconds: float
    left: Meaning
    right: Meaning
    #: Of an inequality its sides as they are written, and whether the largest is the first.
    bounds: tuple[Meaning, ...] = ()
    falls: bool = False

    def __repr__(self) -> str:
        return f"<{self.identity.name}: {self.equality.summary}>"

    @property
    def good(self) -> bool:
        """Whether the row is as the catalogue says: proven, or refuted by numbers."""
        if not self.identity.holds:
            return self.equality.is_false
        reached = not self.identity.for_all or self.equality.scope == FOR_ALL
        return bool(self.equality) and reached and all(link.equality for link in self.links)


def proven(identity: Identity, effort: int = 1) -> Proof:
    """Decide a row link by link."""
    effort = whole(effort, "effort", 1, MOST_EFFORT)
    begun = perf_counter()
    readings = identity.statements()
    first = next(readings)
    sizes = dict(identity.sizes) or None
    others = iter(()) if identity.name else readings  # a row of the catalogue means one thing
    equality = answered(chain((first,), others), sizes, effort)
    has_sizes = identity.sides is not None and first.joint is None
    if has_sizes and not identity.for_all and equality.scope == FOR_ALL:
        equality = replace(equality, scope=AT_GIVEN)  # numbers made of matrices with sizes
    meant = [Side(one) for one in first.chain]
    links: list[Link] = []
    if identity.holds and not first.at_most:
        for (one, other), name in zip(pairwise(meant), identity.rules, strict=True):
            if name not in (HYPOTHESIS, ENTRIES):
                rule(name)  # there has to be one of this name
            pair = first.between(one, other)
            decided = equality if len(meant) == 2 else decide(pair, sizes, effort)
            links.append(Link(one.meaning, other.meaning, name, decided))
    seconds = perf_counter() - begun
    ends = (meant[0].meaning, meant[-1].meaning)
    bounds = (first.chain[::-1] if first.falls else first.chain) if first.at_most else ()
    return Proof(identity, equality, tuple(links), seconds, *ends, bounds, first.falls)
