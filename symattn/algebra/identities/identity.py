"""`Identity`: a row of the catalogue, which needs no SymPy before it is proven."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from symattn.arguments import flag, instance, word, words, wrong
from symattn.shown import Named

if TYPE_CHECKING:  # start-up time: a list of names needs no SymPy
    from symattn.algebra.counterexample import Meaning, Sides
    from symattn.algebra.hypotheses import Statement
    from symattn.language.shapes import GivenShape

#: Links that use no rule: a hypothesis is put in, or all entries are compared.
HYPOTHESIS, ENTRIES = "hypothesis", "entries"


@dataclass(frozen=True, repr=False)
class Identity(Named):
    """A statement about attention that holds, or a false belief (`holds` is False).

    `statement` is an equation in the language of `symattn.equal`; where that has no words for
    it, `sides` makes both sides and `statement` is only shown. `proof` is a chain from the left
    side to the right: each link names its rule and what follows; the last one ends at the right
    side. `behind` names the steps of a derivation that it explains, "weights: Softmax" where a
    node of their expression matters. `for_all` says that the row is to be proven for all sizes;
    otherwise its sizes are written, in its matrices or in `sizes`, and it is proven for those,
    and `reason` says why. `letters` says what letters of a statement that is only shown mean.
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
    reason: str = ""
    letters: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.says}. {self.statement} ({self.source})"

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
        from symattn.algebra.equality import stated  # start-up time
        from symattn.grammar import is_inequality
        from symattn.grammar import sides as split_sides

        steps: list[Meaning] | str
        if self.sides is not None:
            pair = instance(self.sides(), (tuple, list), "sides", "a function that makes both")
            meanings: list[Meaning] = list(pair)
            if len(meanings) < 2:
                raise wrong(pair, "sides", "a function that makes both")
            steps = [meanings[0], *meanings[2:], meanings[1]]
        elif is_inequality(self.statement):
            steps = self.statement
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


def made(name: str, *arguments: object) -> Callable[[], Sides]:
    """What makes both sides: a function of `symattn.algebra.identities.sides`, by its name."""
    return partial(_made, name, *arguments)


def _made(name: str, *arguments: object) -> Sides:
    sides: Sides = getattr(import_module("symattn.algebra.identities.sides"), name)(*arguments)
    return sides
