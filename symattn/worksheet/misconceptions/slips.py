"""Slips: one entry worked out wrongly, though the formula is right.

Each kind is a row: a name, what to tell the learner, and the numbers that an entry would have
after such a slip, each with a sentence that names the entry and the numbers. What an entry is made
of is read off its entry rule, so that a slip applies to every step. Adding one is adding a row,
the likelier before the less likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Array
from symattn.arithmetic.written import Written
from symattn.derivation import Evaluation, Place
from symattn.errors import SymattnError
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Entry,
    Exp,
    Named,
    OfRow,
    Over,
    Plus,
    Power,
    Rule,
    Times,
    at,
    parts,
    rule_of,
)
from symattn.step import HEAD, Step
from symattn.worksheet.reading.naming import called

#: The number of an entry: its matrix's letter and its place in it.
Read: TypeAlias = Callable[[str, Place], float]


@dataclass(frozen=True)
class Slip:
    """A slip that somebody made in one entry or one row; `places` are the entries it explains."""

    name: str
    instead: str
    tell: str
    step: str
    places: tuple[Place, ...]
    #: Bits of the digits that it reproduces, less those of the slips that were tried.
    bits: float = 0.0


@dataclass(frozen=True)
class Guess:
    """A number that an entry has after a slip, and the slip in a sentence.

    `key` is the same for the same slip in another entry of the row.
    """

    kind: SlipKind
    value: float
    said: str
    key: tuple[object, ...]


#: A number, a sentence, and what tells the same slip in another entry of the row.
Found: TypeAlias = "Iterator[tuple[float, str, tuple[object, ...]]]"


@dataclass(frozen=True)
class SlipKind:
    """One kind of slip: its name, what to tell, and the numbers it gives."""

    name: str
    tell: str
    find: Callable[[Spot], Found]


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
            if self.own and claimed is not None:
                value = np.array(value, dtype=float)
                for place in np.ndindex(*claimed.shape):
                    written: Any = claimed[place]
                    if written is not None:
                        value[place] = written.nearest
            self._taken[letter] = value
        return self._taken[letter]

    def read(self, letter: str, place: Place) -> float:
        """One entry as later steps read it."""
        return float(self.taken(letter)[place])

    def text(self, letter: str, place: Place) -> str:
        """How that number is written: as claimed, where that is what it rounds to."""
        claimed: Any = self.claims[letter][place] if letter in self.claims else None
        value = self.read(letter, place)
        if claimed is not None and abs(value - claimed.nearest) <= claimed.nearest_unit:
            return str(claimed).replace("-", "−")
        return spelled(value)


def spelled(value: float) -> str:
    """A number in a sentence: as long as it is, with four digits at most after those before."""
    if not math.isfinite(value):
        return "−∞" if value < 0 else str(value)
    return f"{value:.4f}".rstrip("0").rstrip(".").replace("-", "−")


class Rules:
    """The entry rules of a derivation's entries, with their numbers' places filled in."""

    def __init__(self) -> None:
        self._known: dict[tuple[Step, Place], Rule | None] = {}
        self._sized: dict[Step, MatrixExpr] = {}

    def of(self, evaluation: Evaluation, step: Step, place: Place) -> Rule | None:
        """The rule of one entry; None where it is not known."""
        key = step, place
        if key not in self._known:
            i, j = step.indices
            *lead, row, column = place
            heads = {HEAD: lead[-1]} if step.per_head and lead else {}
            try:
                if step not in self._sized:  # √d_k as a number
                    self._sized[step] = step.expr.subs(evaluation.sizes)
                stated = rule_of(self._sized[step], i, j)
                rule = at(stated, {i: row, j: column} | heads, evaluation.sizes)
            except (SymattnError, TypeError, ValueError):
                rule = None
            self._known[key] = rule
        return self._known[key]


def named(entry: Entry) -> tuple[str, Place]:
    """The letter and the place of an entry in a rule."""
    head = getattr(entry.matrix, "head", None)
    index = (entry.row, entry.column) if head is None else (head, entry.row, entry.column)
    return str(entry.matrix.name), tuple(map(int, index))


def worth(rule: Rule, read: Read) -> float:
    """The number that a rule gives; NaN where it gives none."""
    match rule:
        case Entry():
            return read(*named(rule))
        case Const(value):
            return float(value) if value.is_number and value.is_extended_real else math.nan
        case Named(_, _, value):
            return worth(value, read)
        case Plus(terms, _):
            return sum(worth(term, read) for term in terms)
        case Times(factors):
            return math.prod(worth(factor, read) for factor in factors)
        case Over(num, den, _):
            below = worth(den, read)
            return worth(num, read) / below if below else math.nan
        case Exp(body):
            return _exp(worth(body, read))
        case Apply("tanh", body):
            return math.tanh(worth(body, read))
        case Power(body, exponent):
            return float(worth(body, read) ** exponent)
        case OfRow("max", terms, None, _):
            return max(worth(term, read) for term in terms)
        case Cases(left, "=", right, value, otherwise):
            return worth(value if worth(left, read) == worth(right, read) else otherwise, read)
    return math.nan


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


#: What is done to a part of a rule: what it is, the part's number then, the words, and where.
Varied: TypeAlias = tuple[str, float, str, tuple[object, ...]]


def varied(rule: Rule, spot: Spot, path: tuple[object, ...] = ()) -> tuple[float, list[Varied]]:
    """The number that a rule gives, and those it gives with a slip in one of its parts."""
    read = spot.numbers.read
    match rule:
        case Plus(terms, _):
            inside = [varied(term, spot, (*path, k)) for k, term in enumerate(terms)]
            values = [value for value, _ in inside]
            total, out = sum(values), []
            for k, (value, changed) in enumerate(inside):
                rest = total - value if math.isfinite(value) else sum(values[:k] + values[k + 1 :])
                out += [(what, rest + new, said, where) for what, new, said, where in changed]
                if value == 0 or len(terms) == 1:
                    continue
                words = spot.words(terms[k])
                out.append(
                    (
                        "dropped" if math.isfinite(value) else "shown",
                        rest,
                        words,
                        (*path, "dropped", k),
                    )
                )
                if math.isfinite(value):
                    out.append(("negated", rest - value, words, (*path, "negated", k)))
                    out.append(("doubled", total + value, words, (*path, "doubled", k)))
            return total, out
        case Times(factors):
            inside = [varied(factor, spot, (*path, k)) for k, factor in enumerate(factors)]
            values = [value for value, _ in inside]
            out = []
            for k, (value, changed) in enumerate(inside):
                rest = math.prod(values[:k] + values[k + 1 :])
                out += [(what, rest * new, said, where) for what, new, said, where in changed]
                if isinstance(factors[k], Const) and value not in (0, 1, -1):
                    words = spot.words(factors[k])
                    out.append(("factor-left-out", rest, words, (*path, "left out", k)))
            return math.prod(values), out
        case Over(num, den, _):
            above, changed_above = varied(num, spot, (*path, "above"))
            below, changed_below = varied(den, spot, (*path, "below"))
            if not below:
                return math.nan, []
            out = [(what, new / below, *more) for what, new, *more in changed_above]  # type: ignore[misc]
            out += [(what, above / new, *more) for what, new, *more in changed_below if new]  # type: ignore[misc]
            words = spot.words(den)
            if below != 1:
                if isinstance(den, Const):
                    out.append(("unscaled", above, words, (*path, "unscaled")))
                    out.append(("scaled-twice", above / below / below, words, (*path, "twice")))
                    out.append(("multiplied", above * below, words, (*path, "multiplied")))
                else:
                    out.append(("undivided", above, spot.words(num), (*path, "undivided")))
            return above / below, out
        case Exp(body):
            power, changed = varied(body, spot, path)
            return _exp(power), [(what, _exp(new), *more) for what, new, *more in changed]  # type: ignore[misc]
        case Named(_, _, value):
            return varied(value, spot, path)
    return worth(rule, read), []


class Spot:
    """One claimed entry, what it is made of, and what stands around it."""

    def __init__(
        self, numbers: Numbers, rules: Rules, letter: str, place: Place, written: Written | None
    ) -> None:
        self.numbers, self.letter, self.place, self.written = numbers, letter, place, written
        self.evaluation = numbers.evaluation
        self.step = self.evaluation.step(letter)
        self.rule = None if self.step is None else rules.of(self.evaluation, self.step, place)
        self.value = float(numbers.computed(letter)[place])

    def called(self, place: Place, letter: str = "") -> str:
        """An entry as a report names it."""
        return called(self.evaluation, letter or self.letter, place)

    @property
    def entry(self) -> str:
        """This entry as a report names it."""
        return self.called(self.place)

    @cached_property
    def changed(self) -> list[Varied]:
        """What the entry would be with one part of its rule done otherwise."""
        return [] if self.rule is None else varied(self.rule, self)[1]

    def words(self, rule: Rule) -> str:
        """A part of the rule with its numbers: 0.4446·0.6."""
        match rule:
            case Entry():
                text = self.numbers.text(*named(rule))
                return f"({text})" if text.startswith("−") else text
            case Const(value):
                square = value**2
                root = not value.is_Rational and square.is_Integer
                return f"√{square}" if root else spelled(worth(rule, self.numbers.read))
            case Times(factors):
                return "·".join(map(self.words, factors)).removeprefix("1·")
            case Exp(body):
                return f"e^{self.words(body)}"
            case Plus(terms, _) if len(terms) == 1:
                return self.words(terms[0])
        return spelled(worth(rule, self.numbers.read))

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


def _sign(spot: Spot) -> Found:
    if spot.value:
        yield -spot.value, f"{spot.entry} has the wrong sign", ("sign",)


def _rule_changed(what: str, sentence: str) -> Callable[[Spot], Found]:
    """A slip inside the entry's rule; in the sentence, {} stands for the part's numbers."""

    def find(spot: Spot) -> Found:
        for name, value, words, where in spot.changed:
            if name == what:
                yield value, sentence.format(entry=spot.entry, part=words), (name, where)

    return find


def _digits_of(spot: Spot) -> str:
    """The digits that the entry should have where as many are written."""
    assert spot.written is not None
    places = spot.written.places
    if places is None or places < 0 or not math.isfinite(spot.value):
        return ""
    return f"{spot.value:.{places}f}"


def _swapped_digits(spot: Spot) -> Found:
    text = _digits_of(spot)
    spots = [k for k, letter in enumerate(text) if letter.isdigit()]
    for one, two in pairwise(spots):
        letters = list(text)
        letters[one], letters[two] = letters[two], letters[one]
        if (wrong := "".join(letters)) != text:
            said = f"{spot.entry}: two digits are exchanged, {wrong} for {text}"
            yield float(wrong), said.replace("-", "−"), ("digits", wrong)


def _digit(spot: Spot) -> Found:
    text = _digits_of(spot)
    for k, letter in enumerate(text):
        for other in "0123456789" if letter.isdigit() else "":
            if other != letter:
                wrong = text[:k] + other + text[k + 1 :]
                said = f"{spot.entry}: one digit is misread, {wrong} for {text}"
                yield float(wrong), said.replace("-", "−"), ("digit", wrong)


def _point(spot: Spot) -> Found:
    if spot.value:
        for factor in (10.0, 0.1):
            said = f"{spot.entry}: the decimal point is one place off"
            yield spot.value * factor, said, ("point", factor)


def _copied(near: bool) -> Callable[[Spot], Found]:
    def find(spot: Spot) -> Found:
        for place, distance in spot.around():
            if (distance == 1) is near:
                value = spot.numbers.read(spot.letter, place)
                text = spot.numbers.text(spot.letter, place)
                said = f"{spot.entry} holds the number of {spot.called(place)}, {text}"
                yield value, said, ("copied", place[-2] - spot.place[-2], place[-1])

    return find


def _transposed_place(spot: Spot) -> Found:
    *lead, row, column = spot.place
    rows, columns = spot.numbers.computed(spot.letter).shape[-2:]
    if row != column and column < rows and row < columns:
        place = (*lead, column, row)
        said = (
            f"{spot.entry} holds {spot.numbers.text(spot.letter, place)}, which belongs to "
            f"{spot.called(place)}: row and column are mistaken for each other"
        )
        yield spot.numbers.read(spot.letter, place), said, ("transposed",)


def _operand_transposed(spot: Spot) -> Found:
    """One matrix of a product read along the other axis."""
    if not isinstance(spot.rule, Plus):
        return
    read = spot.numbers.read
    for letter in dict.fromkeys(named(p)[0] for p in parts(spot.rule) if isinstance(p, Entry)):
        shape = spot.numbers.taken(letter).shape
        if shape[-2] != shape[-1]:
            continue

        def other(name: str, place: Place, letter: str = letter) -> float:
            turned = (*place[:-2], place[-1], place[-2]) if name == letter else place
            return read(name, turned)

        called = spot.evaluation.item(letter).name
        said = f"{spot.entry}: a row of {called} is mistaken for a column"
        yield worth(spot.rule, other), said, ("turned", letter)


_CHECK = "Compute the entry again and compare the digits."
_TERMS = (
    "An entry of a matrix product is a sum of one product for each number of the row; "
    "check that each is there once."
)

#: The kinds, the likelier first: those with few numbers to each entry, then those with more.
SLIPS: tuple[SlipKind, ...] = (
    SlipKind("sign", "Look at the sign again.", _sign),
    SlipKind(
        "entry-not-scaled",
        "Every score is divided by √d_k.",
        _rule_changed("unscaled", "{entry} is not divided by {part}"),
    ),
    SlipKind(
        "entry-not-masked",
        "What is masked is −∞ in every row.",
        _rule_changed("shown", "{entry} is not masked"),
    ),
    SlipKind(
        "entry-not-divided",
        "Divide every exponential by the sum of its row.",
        _rule_changed("undivided", "{entry} is {part}, not divided by the sum"),
    ),
    SlipKind("swapped-digits", _CHECK, _swapped_digits),
    SlipKind("row-for-column", "Rows belong to queries, columns to keys.", _transposed_place),
    SlipKind(
        "dropped-term", _TERMS, _rule_changed("dropped", "{entry}: the term {part} is missing")
    ),
    SlipKind("copied-entry", _CHECK, _copied(near=True)),
    SlipKind(
        "sign-of-a-term",
        "Look at the signs of the products again.",
        _rule_changed("negated", "{entry}: the term {part} has the wrong sign"),
    ),
    SlipKind(
        "row-for-column-of-a-factor",
        "Rows belong to queries, columns to keys.",
        _operand_transposed,
    ),
    SlipKind(
        "term-twice", _TERMS, _rule_changed("doubled", "{entry}: the term {part} is added twice")
    ),
    SlipKind(
        "entry-scaled-twice",
        "Every score is divided by √d_k, once.",
        _rule_changed("scaled-twice", "{entry} is divided by {part} twice"),
    ),
    SlipKind(
        "entry-multiplied",
        "Every score is divided by √d_k.",
        _rule_changed("multiplied", "{entry} is multiplied by {part} instead of divided"),
    ),
    SlipKind(
        "factor-left-out",
        _CHECK,
        _rule_changed("factor-left-out", "{entry} is not multiplied by {part}"),
    ),
    SlipKind("decimal-point", "Look at where the decimal point is.", _point),
    SlipKind("copied-entry", _CHECK, _copied(near=False)),
    SlipKind("misread-digit", _CHECK, _digit),
)


def guesses(spot: Spot, kinds: Iterable[SlipKind] = SLIPS) -> Iterator[Guess]:
    """The numbers an entry would have after each slip, the likelier first."""
    for kind in kinds:
        if spot.written is None and kind.find in (_swapped_digits, _digit):
            continue  # nothing is written there
        for value, said, key in kind.find(spot):
            if math.isfinite(value) or value == -math.inf:
                yield Guess(kind, value, said, key)
