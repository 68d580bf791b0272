"""`Identity`: a row of the catalogue, with a proof whose every link is checked and decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from time import perf_counter

from symattn.algebra.counterexample import Meaning, Side, Sides
from symattn.algebra.equality import (
    AT_GIVEN,
    FOR_ALL,
    MOST_EFFORT,
    Equality,
    answered,
    certified,
    decide,
    stated,
)
from symattn.algebra.hypotheses import Statement
from symattn.algebra.rules import follows, rule
from symattn.algebra.shapes import GivenShape
from symattn.algebra.traces import reason as decided_by
from symattn.arguments import flag, instance, whole, word, words, wrong
from symattn.grammar import sides as split_sides

#: Links that use no rule: a hypothesis is put in, or all entries are compared.
HYPOTHESIS, ENTRIES = "hypothesis", "entries"


@dataclass(frozen=True)
class Identity:
    """A statement about attention that holds, or a false belief (`holds` is False).

    `statement` is an equation in the language of `symattn.equal`; where that has no words for
    it, `sides` makes both sides and `statement` is only shown. `proof` is a chain from the left
    side to the right: each link names its rule and what follows; the last one ends at the right
    side. `behind` names the steps of a derivation that it explains, "weights: Softmax" where a
    node of their expression matters. `for_all` says that the row is to be proven for all sizes;
    otherwise its sizes are written, in its matrices or in `sizes`, and it is proven for those,
    and `reason` says why. `letters` says what letters of a statement that is only shown mean.
    `everywhere` makes both sides for all sizes where `sides` has numbers.
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
    orthogonal: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()
    shapes: tuple[tuple[str, GivenShape], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    holds: bool = True
    for_all: bool = True
    behind: tuple[str, ...] = ()
    sides: Callable[[], Sides] | None = field(default=None, compare=False)
    everywhere: Callable[[], Sides] | None = field(default=None, compare=False)
    reason: str = ""
    letters: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "says", "statement", "source", "use", "misconception", "letters"):
            word(getattr(self, name), name)
        for name in ("where", "positive", "permuting", "orthogonal", "symmetric", "behind"):
            object.__setattr__(self, name, words(getattr(self, name), name))
        for name in ("holds", "for_all"):
            flag(getattr(self, name), name)
        if self.sides is not None and not callable(self.sides):
            raise wrong(self.sides, "sides", "a function that makes both sides")
        for name in ("shapes", "sizes", "proof"):
            self._check_pairs(name)

    def _check_pairs(self, name: str) -> None:
        wanted = "a tuple of pairs"
        for pair in instance(getattr(self, name), tuple, name, wanted):
            if len(instance(pair, tuple, name, wanted)) != 2:
                raise wrong(pair, name, wanted)
            word(pair[0], name, f"{wanted} that begin with a text")

    def statements(self) -> Iterator[Statement]:
        """The statement with its chain, one for each reading of the letters, the likeliest first.

        Raises `SymattnError` for what cannot be read.
        """
        if self.sides is not None:
            pair = instance(self.sides(), (tuple, list), "sides", "a function that makes both")
            meanings: list[Meaning] = list(pair)
            if len(meanings) < 2:
                raise wrong(pair, "sides", "a function that makes both")
            steps = [meanings[0], *meanings[2:], meanings[1]]
        else:
            left, right = split_sides(self.statement)
            steps = [left, *(text for _, text in self.proof[:-1]), right]
        return stated(
            steps,
            None,
            shapes=dict(self.shapes),
            where=self.where,
            positive=self.positive,
            permuting=self.permuting,
            orthogonal=self.orthogonal,
            symmetric=self.symmetric,
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """The rule of each link."""
        return tuple(name for name, _ in self.proof) or (ENTRIES,)


@dataclass(frozen=True)
class Link:
    """One link of a proof: two expressions, the rule between them, and what was decided."""

    left: Meaning
    right: Meaning
    rule: str
    equality: Equality
    applies: bool

    @property
    def good(self) -> bool:
        """Whether the rule leads from one to the other and the two are equal."""
        return self.applies and bool(self.equality)


@dataclass(frozen=True)
class Proof:
    """The decision about a row's statement, its links, and the seconds taken."""

    identity: Identity
    equality: Equality
    links: tuple[Link, ...]
    seconds: float
    left: Meaning
    right: Meaning

    @property
    def good(self) -> bool:
        """Whether the row is as the catalogue says: proven, or refuted by numbers."""
        if not self.identity.holds:
            return self.equality.verdict == "different"
        reached = not self.identity.for_all or self.equality.scope == FOR_ALL
        return bool(self.equality) and reached and all(link.good for link in self.links)


def for_all_sizes(equality: Equality, statement: Statement) -> Equality:
    """What was decided at one size, for all sizes if the checker accepts a proof."""
    proof, missing = certified(statement)
    if proof is None:
        return replace(equality, reason=f"{equality.reason}; {missing}")
    partial = bool(proof["partial"])
    return replace(
        equality, scope=FOR_ALL, reason=decided_by(proof), certificate=proof, partial=partial
    )


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
    if identity.everywhere is not None and equality:
        equality = for_all_sizes(equality, next(stated(*identity.everywhere())))
    meant = [Side(one) for one in first.chain]
    links: list[Link] = []
    if identity.holds:
        for (one, other), name in zip(pairwise(meant), identity.rules, strict=True):
            free = name in (HYPOTHESIS, ENTRIES)
            applies = free or follows(
                one.meaning, other.meaning, rule(name), frozenset(identity.permuting)
            )
            pair = first.between(one, other)
            decided = equality if len(meant) == 2 else decide(pair, sizes, effort)
            links.append(Link(one.meaning, other.meaning, name, decided, applies))
    seconds = perf_counter() - begun
    return Proof(identity, equality, tuple(links), seconds, meant[0].meaning, meant[-1].meaning)
