"""`Identity`: a row of the catalogue, with a proof whose every link is checked and decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Any

from symattn.algebra.calculus import follows
from symattn.algebra.equality import FOR_ALL, Equality, decide, stated
from symattn.algebra.hypotheses import Statement
from symattn.algebra.rules import rule
from symattn.algebra.witness import Side
from symattn.grammar import sides as split_sides

#: Links that use no rule: a hypothesis is put in, or all entries are compared.
HYPOTHESIS, ENTRIES = "hypothesis", "entries"


@dataclass(frozen=True)
class Identity:
    """A statement about attention that holds, or a false belief (`holds` is False).

    `statement` is an equation in the language of `symattn.equal`; where that has no words for
    it, `sides` makes both sides and `statement` is only shown. `proof` is a chain from the left
    side to the right: each link names its rule and what follows; the last one ends at the right
    side.
    """

    name: str
    says: str
    statement: str
    source: str
    use: str
    proof: tuple[tuple[str, str], ...] = ()
    misconception: str = ""
    where: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    permuting: tuple[str, ...] = ()
    shapes: tuple[tuple[str, tuple[Any, Any]], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    holds: bool = True
    sides: Callable[[], tuple[Any, Any]] | None = field(default=None, compare=False)

    def chain(self) -> list[Statement]:
        """The whole statement first, then one statement for each link of the proof."""
        if self.sides is not None:
            told: list[Any] = list(self.sides())
            steps = [told[0], *told[2:], told[1]]
        else:
            left, right = split_sides(self.statement)
            steps = [left, *(text for _, text in self.proof[:-1]), right]
        options: dict[str, Any] = {
            "shapes": dict(self.shapes), "where": self.where,
            "positive": self.positive, "permuting": self.permuting,
        }  # fmt: skip
        whole = next(stated(steps, None, **options))
        meant = [Side(one) for one in whole.chain]
        pairs = [(meant[0], meant[-1]), *pairwise(meant)]
        return [whole.between(one, other) for one, other in pairs]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rule of each link."""
        return tuple(name for name, _ in self.proof) or (ENTRIES,)


@dataclass(frozen=True)
class Link:
    """One link of a proof: two expressions, the rule between them, and what was decided."""

    left: Any
    right: Any
    rule: str
    equality: Equality
    applies: bool

    @property
    def good(self) -> bool:
        """Whether the rule leads from one to the other and the two are equal."""
        return self.applies and bool(self.equality)


@dataclass(frozen=True)
class Proof:
    """What became of a row: the decision about the statement, the links, and how long it took."""

    identity: Identity
    equality: Equality
    links: tuple[Link, ...]
    seconds: float
    left: Any
    right: Any

    @property
    def good(self) -> bool:
        """Whether the row is as the catalogue says: proven, or refuted by numbers."""
        if not self.identity.holds:
            return self.equality.verdict == "different"
        reached = not self.identity.for_all or self.equality.scope == FOR_ALL
        return bool(self.equality) and reached and all(link.good for link in self.links)


def prove(identity: Identity | str) -> Proof:
    """Decide a row of the catalogue, or one of your own, link by link.

    Raises `SymattnError` for a name that no row has.

    >>> proof = prove("shift")
    >>> proof.good, proof.equality.scope
    (True, 'for all sizes')
    """
    if isinstance(identity, str):
        from symattn.algebra.identities import identity as named

        identity = named(identity)
    begun = perf_counter()
    whole, *pairs = identity.chain()
    sizes = dict(identity.sizes) or None
    equality = decide(whole, sizes)
    links: list[Link] = []
    if identity.holds:
        for pair, name in zip(pairs, identity.rules, strict=True):
            one, other = pair.left.meaning, pair.right.meaning
            free = name in (HYPOTHESIS, ENTRIES)
            applies = free or follows(one, other, rule(name), frozenset(identity.permuting))
            decided = equality if len(pairs) == 1 else decide(pair, sizes)
            links.append(Link(one, other, name, decided, applies))
    seconds = perf_counter() - begun
    sides = whole.left.meaning, whole.right.meaning
    return Proof(identity, equality, tuple(links), seconds, *sides)
