"""An exercise: a worksheet with blanks, their answers, and the answers of each misconception.

It is all that a sheet, a key or a quiz is written from; what is filled in is marked by
``symattn check``, as any worksheet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import isfinite, isnan

import numpy as np

from symattn.algebra.identities import identity
from symattn.algebra.identities.identity import Identity
from symattn.arithmetic.enclosure import BITS
from symattn.claims.entry_names import entry_name, listed, turned
from symattn.classroom.task import Blank, Task
from symattn.derivations import Evaluation, Given, Place
from symattn.errors import counted
from symattn.evaluate.rules import operands
from symattn.mistakes import MISCONCEPTIONS, Misconception
from symattn.mistakes.base import SENSELESS
from symattn.mistakes.explanations import Explainer
from symattn.mistakes.hypotheses import Hypothesis
from symattn.mistakes.rewriting import misconception_of
from symattn.sheets.worksheet import Worksheet, worksheet_of
from symattn.step import leading_to

#: Decimals beyond those of an answer in which answers are compared, and how far apart they are.
FINER, UNITS_APART = 4, 3

#: What statements are called among the steps, as ``statements[shift]``.
STATEMENTS = "statements"


def statement_name(name: str) -> str:
    """What the answer to a statement of the catalogue is called: ``statements[shift]``."""
    return f"{STATEMENTS}[{name}]"


#: How minus infinity may be typed into a quiz.
MINUS_INFINITY = ("-inf", "-infinity", "-oo", "-∞", "−∞")


@dataclass(frozen=True, eq=False)
class Mistaken:
    """The answers of who has a misconception, blank by blank."""

    misconception: Misconception
    #: The answers in whole units of a finer last digit; None for −∞.
    units: tuple[int | None, ...]
    #: The steps as they are done.
    evaluation: Evaluation = field(repr=False)
    #: Finds the answers as they are written, when these are asked for.
    find_answers: Callable[[], tuple[str, ...]] = field(repr=False)

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """The answers as they are written, in proven digits."""
        return self.find_answers()


@dataclass(frozen=True)
class Exercise:
    """A worksheet with blanks; it says itself how it was drawn."""

    task: Task

    @classmethod
    def of(cls, sheet: Worksheet) -> Exercise:
        """The exercise that a worksheet is, where ``?`` is what is asked for.

        Raises `ReadError` for one without blanks.

        >>> sheet = worksheet_of('''
        ... given = {Q = [[1, 2]], K = [[1, 0], [0, 1]], V = [[1], [2]]}
        ... claims = {scores = [["?", "?"]]}
        ... ''')
        >>> [*Exercise.of(sheet).answers.values()]
        ['1', '2']
        """
        return cls(Task.of(sheet))

    @classmethod
    def drawn(
        cls,
        task: Task,
        given: Mapping[str, Given],
        facts: Mapping[str, object],
        statements: Sequence[Identity] = (),
        title: str = "",
    ) -> Exercise:
        """The exercise of a task with these numbers; `facts` say how they were drawn."""
        asked = {row.name: "?" for row in statements}
        text = task.text(given, {}, facts, asked, title=title)
        return cls(Task.of(worksheet_of(text, task.sheet.name)))

    @property
    def sheet(self) -> Worksheet:
        """The worksheet with its blanks, as it is handed out."""
        return self.task.sheet

    @property
    def blanks(self) -> tuple[Blank, ...]:
        """What is asked for, in the order of the derivation."""
        return self.task.blanks

    @cached_property
    def statements(self) -> tuple[Identity, ...]:
        """What is to be judged true or false besides."""
        return tuple(map(identity, self.sheet.statements))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The name of each answer: of the blanks, then of the statements."""
        blanks = map(self.name, self.blanks)
        return (*blanks, *(statement_name(row.name) for row in self.statements))

    @cached_property
    def part_of_each(self) -> tuple[str, ...]:
        """What each answer has points with: its step, or the statements."""
        return tuple(name.partition("[")[0] for name in self.asked)

    @property
    def parts(self) -> tuple[str, ...]:
        """What has points together: the steps, and the statements."""
        return tuple(dict.fromkeys(self.part_of_each))

    @cached_property
    def truths(self) -> Mapping[str, str]:
        """Whether each statement is true, by its name."""
        return {row.name: "true" if row.holds else "false" for row in self.statements}

    @property
    def evaluation(self) -> Evaluation:
        """The true values."""
        return self.task.evaluation

    @property
    def places(self) -> int:
        """The decimals of the finer units in which answers are compared."""
        return self.task.digits + FINER

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps that are asked for."""
        return tuple(dict.fromkeys(blank.step for blank in self.blanks))

    @cached_property
    def number(self) -> Mapping[tuple[str, Place], int]:
        """The number of each answer, by letter and place; statements are a column."""
        blanks = [(blank.letter, blank.place) for blank in self.blanks]
        column = [(k, 0) for k in range(len(self.statements))]
        rows = [(STATEMENTS, turned(place, self.evaluation.notation)) for place in column]
        return {cell: k for k, cell in enumerate((*blanks, *rows))}

    def name(self, blank: Blank) -> str:
        """What an entry is called: ``weights[1,2]``."""
        return entry_name(blank.step, blank.place, self.evaluation.notation)

    @cached_property
    def answers(self) -> Mapping[Blank, str]:
        """The proven answer of each blank."""
        return {
            blank: self.task.answer(self.evaluation, blank.letter, blank.place)
            for blank in self.blanks
        }

    @property
    def text(self) -> str:
        """The file that is handed out."""
        return self.sheet.text

    @property
    def key(self) -> str:
        """The file with the answers, and above it what the blanks cannot tell."""
        return self.task.text(
            self.sheet.numbers,
            self.answers,
            self.sheet.exercise,
            self.truths,
            remark="\n".join((f"The answers. {self.effort}", *self.untold)),
        )

    # ---- misconceptions -------------------------------------------------------------------------

    @cached_property
    def explainer(self) -> Explainer:
        """What tries the misconceptions that apply, those of the worksheet first."""
        sheet = self.sheet
        with sheet.in_file():
            own = [misconception_of(*row) for row in sheet.misconceptions]
        return Explainer(self.task.derivation, self.evaluation, (*own, *MISCONCEPTIONS))

    @cached_property
    def right(self) -> tuple[int | None, ...]:
        """The true answers in finer units."""
        return tuple(self._unit(self.evaluation, blank) for blank in self.blanks)

    @cached_property
    def mistaken(self) -> tuple[Mistaken, ...]:
        """The answers of each misconception that applies to these numbers."""
        return tuple(filter(None, map(self._mistaken, self.explainer.singles)))

    def _mistaken(self, hypothesis: Hypothesis) -> Mistaken | None:
        """The answers of a misconception; None where it makes no sense with these numbers."""
        given = {x.name: self.evaluation.given[x.letter] for x in self.explainer.derivation.inputs}
        reached = hypothesis.reached
        try:
            changed = self.explainer.evaluated(hypothesis, given).called_as(self.evaluation)
            units = tuple(
                self._unit(changed, blank) if blank.letter in reached else right
                for blank, right in zip(self.blanks, self.right, strict=True)
            )
        except SENSELESS:
            return None

        def answers() -> tuple[str, ...]:
            return tuple(
                self.task.answer(changed, one.letter, one.place) if one.letter in reached else right
                for one, right in self.answers.items()
            )

        return Mistaken(hypothesis.misconceptions[0], units, changed, answers)

    def _unit(self, evaluation: Evaluation, blank: Blank) -> int | None:
        """An entry in finer units of its last digit, which only tell how far answers are apart."""
        ball = evaluation.balls(blank.letter, BITS[1])[blank.place]
        number = float(ball.mid())
        if isnan(number):
            raise ArithmeticError(f"{self.name(blank)}: no number")
        finer: int = 10**self.places
        return round(number * finer) if isfinite(number) else None

    @cached_property
    def instead(self) -> Mapping[str, str]:
        """What is done instead by each misconception, by its name."""
        return {x.misconception.name: x.misconception.instead for x in self.mistaken}

    @cached_property
    def unseen(self) -> tuple[Misconception, ...]:
        """The misconceptions whose answers are the right ones."""
        return tuple(one.misconception for one in self.mistaken if not _told(one.units, self.right))

    @cached_property
    def seen(self) -> tuple[Mistaken, ...]:
        """The misconceptions with answers of their own."""
        return tuple(one for one in self.mistaken if one.misconception not in self.unseen)

    @cached_property
    def alike(self) -> tuple[tuple[Misconception, Misconception], ...]:
        """The pairs of misconceptions whose answers are the same, though not the right ones.

        One that is reported as a simpler one where both fit is no other.
        """
        return tuple(
            (one.misconception, other.misconception)
            for one, other in combinations(self.seen, 2)
            if not _told(one.units, other.units)
            and one.misconception.name != other.misconception.rather
            and other.misconception.name != one.misconception.rather
        )

    @property
    def untold(self) -> tuple[str, ...]:
        """What the blanks cannot tell, a sentence each."""
        return tuple(self._untold())

    def _untold(self) -> Iterator[str]:
        if self.unseen:
            names = [one.name for one in self.unseen]
            answer = "gives" if len(names) == 1 else "give"
            yield f"{listed(names, len(names))} {answer} the right answers in these blanks."
        for group in _groups(self.alike):
            yield f"These blanks do not tell apart {listed(group, len(group))}."

    # ---- effort ---------------------------------------------------------------------------------

    @cached_property
    def operations(self) -> int:
        """How many numbers other than 0 the steps up to the last blank are computed from."""
        values = self.evaluation
        wanted = leading_to(values.steps, {blank.letter for blank in self.blanks})
        return sum(
            bool(np.isfinite(number := values.array(letter)[place]) and number)
            for step in values.steps
            if step.letter in wanted
            for at in np.ndindex(*values.shape(step.letter))
            for letter, place in operands(values, step.letter, at)
        )

    @property
    def effort(self) -> str:
        """How much there is to do, in a sentence."""
        return f"{counted(len(self.blanks), 'blank')}, {counted(self.operations, 'operation')}."


def in_decimals(units: int, places: int) -> str:
    """Whole units of a last digit as a decimal with so many places, in ASCII.

    >>> in_decimals(-1500, 3), in_decimals(7, 3)
    ('-1.500', '0.007')
    """
    whole, rest = divmod(abs(units), 10**places)
    return f"{'-' * (units < 0)}{whole}.{rest:0{places}d}"


def _told(one: Sequence[int | None], other: Sequence[int | None]) -> bool:
    """Whether two lists of answers differ by three units of the last digit somewhere."""
    for first, second in zip(one, other, strict=True):
        if first is None or second is None:
            if first is not second:
                return True
        elif abs(first - second) >= UNITS_APART * 10**FINER - 1:  # each is rounded
            return True
    return False


def _groups(pairs: Sequence[tuple[Misconception, Misconception]]) -> list[list[str]]:
    """The names of what belongs together, pair by pair; one name may be in two groups."""
    groups: list[list[str]] = []
    known = [{one.name, other.name} for one, other in pairs]
    for one, other in pairs:
        fits = (
            group
            for group in groups
            if one.name in group
            and all(name == other.name or {name, other.name} in known for name in group)
        )
        group = next(fits, None)
        if group is None:
            groups.append([one.name, other.name])
        elif other.name not in group:
            group.append(other.name)
    return groups
