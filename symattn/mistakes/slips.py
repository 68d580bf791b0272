"""Slips: one entry worked out wrongly, though the formula is right.

A kind of slip is a row of `SLIPS`: a name, what to tell the learner, and the numbers that an entry
would have after such a slip, each with a sentence that names the entry and the numbers. What an
entry is made of is read off its entry rule, so that a slip applies to every step.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.written import Written
from symattn.claims.claims import as_read
from symattn.claims.entry_names import called
from symattn.derivations import Evaluation, Place
from symattn.evaluate.rules import place_in, rule_at
from symattn.mistakes.base import Mistake
from symattn.nodes import rule as r
from symattn.nodes.rule import Rule

#: The number at a place (head,) row, column of the matrix with a letter.
Read: TypeAlias = Callable[[str, Place], float]


@dataclass(frozen=True)
class Slip(Mistake):
    """A slip that somebody made in one entry or one row; `places` are the entries it explains."""

    step: str
    places: tuple[Place, ...]
    #: Bits of the digits that it reproduces, less those of the slips that were tried.
    bits: float = 0.0


#: A number that an entry has after a slip, what says the slip in a sentence, and what is the same
#: for the same slip in another entry of the row. Few of many slips are ever said: it is made then.
Outcome: TypeAlias = tuple[float, Callable[[], str], tuple[object, ...]]


@dataclass(frozen=True)
class SlipKind:
    """One kind of slip: its name, what to tell, and what an entry may come out as."""

    name: str
    tell: str
    outcomes: Callable[[Spot], Iterator[Outcome]]


class Guess(NamedTuple):
    """A slip of some kind that may have been made in an entry, and what that gives."""

    kind: SlipKind
    value: float
    said: Callable[[], str]
    key: tuple[object, ...]


class Numbers:
    """What somebody had before them when they worked out an entry.

    With `own`, their claims, and what follows from these where nothing is claimed; otherwise the
    true values.
    """

    def __init__(self, evaluation: Evaluation, claims: Mapping[str, Array], own: bool) -> None:
        self.evaluation, self.claims, self.own = evaluation, claims, own
        self._computed: dict[str, Array] = {}
        self._taken: dict[str, Array] = {}

    def computed(self, letter: str) -> Array:
        """A matrix as it follows from what stands before it."""
        if not self.own:
            return self.evaluation.array(letter)
        if letter not in self._computed:
            step = self.evaluation.step(letter)
            with np.errstate(all="ignore"):
                self._computed[letter] = (
                    self.evaluation.array(letter)
                    if step is None
                    else self.evaluation.follow(step, self.taken, self.evaluation.arithmetic)
                )
        return self._computed[letter]

    def taken(self, letter: str) -> Array:
        """A matrix as later steps read it."""
        if letter not in self._taken:
            value, claimed = self.computed(letter), self.claims.get(letter)
            read = self.own and claimed is not None
            self._taken[letter] = as_read(value, claimed) if read else value
        return self._taken[letter]

    def read(self, letter: str, place: Place) -> float:
        """One entry as later steps read it."""
        return float(self.taken(letter)[place])

    def text(self, letter: str, place: Place) -> str:
        """How that number is written: as claimed, where that is what it rounds to."""
        claimed: Written | None = self.claims[letter][place] if letter in self.claims else None
        value = self.read(letter, place)
        if claimed is not None and abs(value - claimed.nearest) <= claimed.nearest_unit:
            return str(claimed).replace("-", "−")
        return spelled(value)


def spelled(value: float) -> str:
    """A number in a sentence: as long as it is, with four digits at most after those before."""
    if not math.isfinite(value):
        return "−∞" if value < 0 else str(value)
    return f"{value:.4f}".rstrip("0").rstrip(".").replace("-", "−")


def rule_in(evaluation: Evaluation, letter: str, place: Place) -> Rule | None:
    """The rule of one entry, with its scalars as numbers; made once for all sheets."""

    def made() -> Rule | None:
        rule = rule_at(evaluation, letter, place)
        return None if rule is None else _sized(rule, evaluation)

    return evaluation.known(("rule", letter, place), made)


def _sized(rule: Rule, evaluation: Evaluation) -> Rule:
    """A rule with its scalars as numbers: √3 for √d_k."""
    if isinstance(rule, r.Const):
        return r.Const(rule.value.subs(evaluation.sizes))
    return r.rebuilt(rule, lambda part: _sized(part, evaluation))


def value_of(rule: Rule, read: Read) -> float:
    """The number that a rule gives where `read` gives those of the entries; NaN for none."""
    return _combined(rule, [value_of(child, read) for child in r.children(rule)], read)


def _combined(rule: Rule, values: Sequence[float], read: Read) -> float:
    """The number that a rule gives where its children have these values."""
    match rule:
        case r.Entry():
            return read(*place_in(rule))
        case r.Const(value):
            return float(value) if value.is_number and value.is_extended_real else math.nan
        case r.Named():
            return values[0]
        case r.Plus():
            return sum(values)
        case r.Times():
            return math.prod(values)
        case r.Over():
            return values[0] / values[1] if values[1] else math.nan
        case r.Exp():
            return math.exp(values[0]) if values[0] < 700 else math.inf
        case r.Apply("tanh"):
            return math.tanh(values[0])
        case r.Power(_, exponent):
            return float(values[0] ** exponent)
        case r.OfRow("max", _, None):
            return max(values)
        case r.Cases(_, "=", _):
            left, right, value, otherwise = values
            return value if left == right else otherwise
    return math.nan


class Variation(NamedTuple):
    """A part of a rule done otherwise: what is done, the number then, and the part.

    `path` leads to the part, so that it is the same in another entry of the row.
    """

    name: str
    value: float
    part: Rule
    path: tuple[object, ...]


def _variations(
    rule: Rule, spot: Spot, path: tuple[object, ...] = ()
) -> tuple[float, list[Variation]]:
    """The number that a rule gives, and those it gives with a slip in one of its parts."""
    read = spot.numbers.read
    if not isinstance(rule, r.Plus | r.Times | r.Over | r.Exp | r.Named):
        return value_of(rule, read), []
    parts = r.children(rule)
    inside = [_variations(part, spot, (*path, k)) for k, part in enumerate(parts)]
    values = [value for value, _ in inside]
    found = []
    for k, (_, varied) in enumerate(inside):
        for name, new, part, where in varied:
            value = _combined(rule, [*values[:k], new, *values[k + 1 :]], read)
            found.append(Variation(name, value, part, where))
        for name, value, part in _slips_in(rule, values, k):
            found.append(Variation(name, value, part, (*path, name, k)))
    return _combined(rule, values, read), [each for each in found if not math.isnan(each.value)]


def _slips_in(rule: Rule, values: Sequence[float], k: int) -> Iterator[tuple[str, float, Rule]]:
    """What may be done to child k of a rule: a name, the rule's number then, and the part named."""
    value, others = values[k], [*values[:k], *values[k + 1 :]]
    match rule:
        case r.Plus(terms) if value and len(terms) > 1:
            rest = sum(others)
            yield "dropped" if math.isfinite(value) else "unmasked", rest, terms[k]
            if math.isfinite(value):
                yield "negated", rest - value, terms[k]
                yield "doubled", rest + 2 * value, terms[k]
        case r.Times(factors) if isinstance(factors[k], r.Const) and value not in (0, 1, -1):
            yield "factor-left-out", math.prod(others), factors[k]
        case r.Over(_, r.Const() as divisor) if k == 1 and value not in (0, 1):
            yield "unscaled", values[0], divisor
            yield "scaled-twice", values[0] / value / value, divisor
            yield "multiplied", values[0] * value, divisor
        case r.Over(dividend, _) if k == 1 and value not in (0, 1):
            yield "undivided", values[0], dividend


class Spot:
    """One claimed entry, what it is made of, and what stands around it."""

    def __init__(
        self, numbers: Numbers, letter: str, place: Place, written: Written | None
    ) -> None:
        self.numbers, self.letter, self.place, self.written = numbers, letter, place, written
        self.evaluation = numbers.evaluation
        self.rule = rule_in(self.evaluation, letter, place)
        self.value = float(numbers.computed(letter)[place])

    def called(self, place: Place, letter: str = "") -> str:
        """An entry as a report names it."""
        return called(self.evaluation, letter or self.letter, place)

    @property
    def entry(self) -> str:
        """This entry as a report names it."""
        return self.called(self.place)

    @cached_property
    def variations(self) -> list[Variation]:
        """What the entry would be with one part of its rule done otherwise."""
        return [] if self.rule is None else _variations(self.rule, self)[1]

    def moved(self, units: int) -> Spot:
        """The same with a value so many units of the last written digit away."""
        assert self.written is not None
        other = copy(self)
        other.value = self.value + units * self.written.nearest_unit
        return other

    def words(self, rule: Rule) -> str:
        """A part of the rule with its numbers: 0.4446·0.6."""
        match rule:
            case r.Entry():
                text = self.numbers.text(*place_in(rule))
                return f"({text})" if text.startswith("−") else text
            case r.Const(value):
                square = value**2
                root = not value.is_Rational and square.is_Integer
                return f"√{square}" if root else spelled(value_of(rule, self.numbers.read))
            case r.Times(factors):
                return "·".join(map(self.words, factors)).removeprefix("1·")
            case r.Exp(body):
                return f"e^{self.words(body)}"
            case r.Plus(terms, _) if len(terms) == 1:
                return self.words(terms[0])
        return spelled(value_of(rule, self.numbers.read))

    def around(self) -> Iterator[tuple[Place, int]]:
        """The other entries of its row and its column, and how far away they are."""
        *lead, row, column = self.place
        rows, columns = self.numbers.computed(self.letter).shape[-2:]
        for k in range(columns):
            if k != column:
                yield (*lead, row, k), abs(k - column)
        for k in range(rows):
            if k != row:
                yield (*lead, k, column), abs(k - row)


def _sign(spot: Spot) -> Iterator[Outcome]:
    if spot.value:
        yield -spot.value, lambda: f"{spot.entry} has the wrong sign", ("sign",)


def _in_rule(variation: str, sentence: str) -> Callable[[Spot], Iterator[Outcome]]:
    """A slip in a part of the entry's rule; ``{part}`` in the sentence is the part in numbers."""

    def outcomes(spot: Spot) -> Iterator[Outcome]:
        for name, value, part, path in spot.variations:
            if name == variation:
                yield value, partial(said, spot, part), (name, path)

    def said(spot: Spot, part: Rule) -> str:
        return sentence.format(entry=spot.entry, part=spot.words(part))

    return outcomes


def _digits_of(spot: Spot) -> Iterator[str]:
    """The digits that the entry should have, as many as are written; none where nothing is.

    Of what is half-way between two roundings, both: the nearest in binary is chance.
    """
    places = None if spot.written is None else spot.written.places
    if places is None or not 0 <= places <= sys.float_info.dig or not math.isfinite(spot.value):
        return
    nearest = f"{spot.value:.{places}f}"
    yield nearest
    off = spot.value - float(nearest)
    if math.isclose(abs(off), 0.5 * 10.0**-places, rel_tol=1e-6):
        yield f"{float(nearest) + math.copysign(10.0**-places, off):.{places}f}"


def _swapped_digits(spot: Spot) -> Iterator[Outcome]:
    for text in _digits_of(spot):
        spots = [k for k, letter in enumerate(text) if letter.isdigit()]
        for one, two in pairwise(spots):
            letters = list(text)
            letters[one], letters[two] = letters[two], letters[one]
            if (wrong := "".join(letters)) != text:
                words = f"two digits are exchanged, {wrong} for {text}".replace("-", "−")
                yield float(wrong), partial(_of_entry, spot, words), ("digits", wrong)


def _digit(spot: Spot) -> Iterator[Outcome]:
    for text in _digits_of(spot):
        for k, letter in enumerate(text):
            for other in "0123456789" if letter.isdigit() else "":
                if other != letter:
                    wrong = text[:k] + other + text[k + 1 :]
                    words = f"one digit is misread, {wrong} for {text}".replace("-", "−")
                    yield float(wrong), partial(_of_entry, spot, words), ("digit", wrong)


def _point(spot: Spot) -> Iterator[Outcome]:
    if spot.value:
        for factor in (10.0, 0.1):
            words = "the decimal point is one place off"
            yield spot.value * factor, partial(_of_entry, spot, words), ("point", factor)


def _of_entry(spot: Spot, words: str) -> str:
    return f"{spot.entry}: {words}"


def _copied(near: bool) -> Callable[[Spot], Iterator[Outcome]]:
    """The number of another entry of its row or column: of a neighbour, or of one further away."""

    def outcomes(spot: Spot) -> Iterator[Outcome]:
        for place, distance in spot.around():
            if (distance == 1) is near:
                value = spot.numbers.read(spot.letter, place)
                key = ("copied", place[-2] - spot.place[-2], place[-1])
                yield value, partial(said, spot, place), key

    def said(spot: Spot, place: Place) -> str:
        text = spot.numbers.text(spot.letter, place)
        return f"{spot.entry} holds the number of {spot.called(place)}, {text}"

    return outcomes


def _transposed_place(spot: Spot) -> Iterator[Outcome]:
    *lead, row, column = spot.place
    rows, columns = spot.numbers.computed(spot.letter).shape[-2:]
    if row != column and column < rows and row < columns:
        place = (*lead, column, row)

        def said() -> str:
            return (
                f"{spot.entry} holds {spot.numbers.text(spot.letter, place)}, which belongs to "
                f"{spot.called(place)}: row and column are exchanged"
            )

        yield spot.numbers.read(spot.letter, place), said, ("transposed",)


def _operand_transposed(spot: Spot) -> Iterator[Outcome]:
    """One matrix of a product read along the other axis."""
    if not isinstance(spot.rule, r.Plus):
        return
    read = spot.numbers.read
    for letter in dict.fromkeys(place_in(entry)[0] for entry in r.entries(spot.rule)):
        shape = spot.numbers.taken(letter).shape
        if shape[-2] != shape[-1]:
            continue

        def transposed(other: str, place: Place, letter: str = letter) -> float:
            return read(other, (*place[:-2], place[-1], place[-2]) if other == letter else place)

        words = f"a row of {spot.evaluation.item(letter).name} is mistaken for a column"
        said = partial(_of_entry, spot, words)
        yield value_of(spot.rule, transposed), said, ("transposed", letter)


_CHECK = "Compute the entry again and compare the digits."
_TERMS = (
    "An entry of a matrix product is a sum of one product for each number of the row; "
    "check that each occurs exactly once."
)

#: The kinds, the likelier first: those with few outcomes for each entry, then those with more.
SLIPS: tuple[SlipKind, ...] = (
    SlipKind("sign", "Check the sign.", _sign),
    SlipKind(
        "entry-not-scaled",
        "Every score is divided by √d_k.",
        _in_rule("unscaled", "{entry} is not divided by {part}"),
    ),
    SlipKind(
        "entry-not-masked",
        "Masked scores are −∞ in every row.",
        _in_rule("unmasked", "{entry} is not masked"),
    ),
    SlipKind(
        "entry-not-divided",
        "Divide every exponential by the sum of its row.",
        _in_rule("undivided", "{entry} is {part}, not divided by the sum"),
    ),
    SlipKind("swapped-digits", _CHECK, _swapped_digits),
    SlipKind("row-for-column", "Rows belong to queries, columns to keys.", _transposed_place),
    SlipKind("dropped-term", _TERMS, _in_rule("dropped", "{entry}: the term {part} is missing")),
    SlipKind("copied-entry", _CHECK, _copied(near=True)),
    SlipKind(
        "sign-of-a-term",
        "Check the signs of the products.",
        _in_rule("negated", "{entry}: the term {part} has the wrong sign"),
    ),
    SlipKind(
        "row-for-column-of-a-factor",
        "Rows belong to queries, columns to keys.",
        _operand_transposed,
    ),
    SlipKind("term-twice", _TERMS, _in_rule("doubled", "{entry}: the term {part} is added twice")),
    SlipKind(
        "entry-scaled-twice",
        "Divide every score by √d_k exactly once.",
        _in_rule("scaled-twice", "{entry} is divided by {part} twice"),
    ),
    SlipKind(
        "entry-multiplied",
        "Every score is divided by √d_k.",
        _in_rule("multiplied", "{entry} is multiplied by {part} instead of divided"),
    ),
    SlipKind(
        "factor-left-out",
        _CHECK,
        _in_rule("factor-left-out", "{entry} is not multiplied by {part}"),
    ),
    SlipKind("decimal-point", "Check the position of the decimal point.", _point),
    SlipKind("copied-entry", _CHECK, _copied(near=False)),
    SlipKind("misread-digit", _CHECK, _digit),
)


#: The kinds whose sentence quotes the digits of a number, so that they give it or do not.
OF_DIGITS: tuple[SlipKind, ...] = tuple(
    kind for kind in SLIPS if kind.outcomes in (_swapped_digits, _digit)
)


def guesses(spot: Spot, kinds: Iterable[SlipKind] = SLIPS) -> Iterator[Guess]:
    """The numbers an entry would have after each slip, the likelier first."""
    for kind in kinds:
        for value, said, key in kind.outcomes(spot):
            if math.isfinite(value) or value == -math.inf:
                yield Guess(kind, value, said, key)
