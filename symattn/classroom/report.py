"""The report on a class: points, what fell first, likely reasons, and wrong answers by entry.

It counts records as they come and keeps none, so that a class may be of any size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import mean, quantiles

from symattn.algebra.identities import identity
from symattn.classroom.exercise import STATEMENTS, Exercise, statement_name
from symattn.classroom.gradebook import decimal, in_words, word
from symattn.classroom.groups import Groups
from symattn.classroom.handout import Handout
from symattn.classroom.judge import Told
from symattn.classroom.records import Record
from symattn.derivations import Place
from symattn.documents import blocks as b
from symattn.errors import counted
from symattn.printable import printable, shortened

#: The most reasons and groups that are listed, and the most characters of a cell.
_LISTED, _CELL = 12, 90

#: The tint of a share of wrong answers, from which on.
_TINTS = ((Fraction(1, 2), "wrong"), (Fraction(1, 4), "follows"), (Fraction(1, 10), "rounded"))

#: What is said of the points.
_POSITIONS = ("mean", "lowest", "lower quartile", "median", "upper quartile", "highest")


@dataclass
class ClassReport:
    """Counts the records of one exercise, or of one for each student that has the same steps."""

    exercise: Exercise
    groups: Groups = field(default_factory=Groups)
    _points: Counter[Fraction] = field(default_factory=Counter)
    _words: Counter[str] = field(default_factory=Counter)
    _first: Counter[str] = field(default_factory=Counter)
    _reasons: Counter[str] = field(default_factory=Counter)
    _wrong: Counter[str] = field(default_factory=Counter)
    #: How many were asked to judge each statement: a class may have other ones for each student.
    _judged: Counter[str] = field(default_factory=Counter)
    #: How many answered something, and how many everything rightly.
    _how_many: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Count a record."""
        self._points[record.points] += 1
        self._words.update(filter(None, word(record).split(", ")))
        if record.fault:
            return
        all_right = all(mark.verdict == "right" for mark in record.marks)
        self._how_many.update(["answered", *["right"] * all_right])
        self._wrong.update(mark.entry for mark in record.marks if mark.is_mistaken)
        statements = (mark.entry for mark in record.marks if mark.step == STATEMENTS)
        self._judged.update(name.partition("[")[2].rstrip("]") for name in statements)
        first = record.first_mistake
        if first is not None:
            self._first[record.marks[first].step] += 1
            self._reasons.update({*map(self._reason, record.mistakes)})
            self.groups.add(record)

    @property
    def _answered(self) -> int:
        """How many answered something."""
        return self._how_many["answered"]

    def _reason(self, told: Told) -> str:
        """A reason in words that do not depend on an entry or its numbers."""
        slip = f"a slip: {told.name.replace('-', ' ')}"
        return told.instead if told.is_label else self.exercise.instead.get(told.name, slip)

    # ---- the document ---------------------------------------------------------------------------

    def document(self, most: Fraction) -> b.Document:
        """The report as blocks; `most` are the points of a sheet on which all is right."""
        title = ": ".join(filter(None, (printable(self.exercise.sheet.title), "the class")))
        return b.Document(title, tuple(self._blocks(most)), called="The class")

    def _blocks(self, most: Fraction) -> Iterator[b.Block]:
        count = self._points.total()
        said = [f"{counted(count, 'student')}, {self._how_many['right']} with every answer right."]
        said += [f"{name.capitalize()}: {n}." for name, n in _ordered(self._words)]
        yield b.Paragraph((" ".join(said),))
        if count:
            yield b.Section(f"Points, of {in_words(most)}", tuple(self._all_points()))
        if not self._answered:
            return
        yield b.Section("First mistakes", (self._fell(),))
        if self._reasons:
            rows = [_row(str(n), words) for words, n in _ordered(self._reasons)[:_LISTED]]
            note = b.Paragraph(("Where several fit, each is counted.",), "note")
            table = b.Table(("likely reason",), tuple(rows), corner="students", align="l")
            yield b.Section("Likely reasons", (table, note))
        yield b.Section("Wrong answers by entry, in percent", tuple(self._entries()))
        yield from self._identical()

    def _all_points(self) -> Iterator[b.Block]:
        """How points are distributed, and how many have none because there was nothing to mark."""
        yield self._distribution()
        if unmarked := self._points.total() - self._how_many["answered"]:
            said = f"There was nothing to mark of {counted(unmarked, 'student')}"
            yield b.Paragraph((f"{said}, counted here with 0 points.",), "note")

    def _distribution(self) -> b.Table:
        """Mean and quartiles of the points; between two students they are interpolated."""
        values = sorted(self._points.elements())
        ends = values[0], values[-1]
        quartiles = quantiles(values, method="inclusive") if values[1:] else 3 * values
        found = (mean(values), ends[0], *quartiles, ends[1])
        return b.Table(_POSITIONS, (_row("points", *map(decimal, found)),), label="Points")

    def _fell(self) -> b.Table:
        """How many made their first mistake in each step."""
        headings = Handout(self.exercise).outlined("formula", "value").headings
        parts = self.exercise.parts
        rows = [self._share(headings.get(part, part), self._first[part]) for part in parts]
        rows.append(self._share("no mistake", self._answered - self._first.total()))
        return b.Table(("students", "percent"), tuple(rows), corner="step", align="rr")

    def _share(self, name: str, count: int) -> b.Row:
        return _row(name, str(count), _percent(Fraction(count, self._answered)))

    def _entries(self) -> Iterator[b.Block]:
        """A table of each step as it is handed out, with shares for entries."""
        exercise = self.exercise
        blanks = {(blank.step, blank.place): exercise.name(blank) for blank in exercise.blanks}
        handout = Handout(exercise)
        headings = handout.outlined("formula", "value").headings
        for name in exercise.steps:

            def cell(place: Place, name: str = name) -> b.Cell:
                if (name, place) not in blanks:
                    return b.Cell(("",), "gap")
                share = Fraction(self._wrong[blanks[name, place]], self._answered)
                tint = next((tint for least, tint in _TINTS if share >= least), "")
                return b.Cell((_percent(share),), tint)

            step = exercise.task.derivation[name]
            yield b.Section(headings[name], tuple(handout.tables_of(step, name, cell)))
        rows = [
            _row(identity(name).says, _percent(Fraction(self._wrong[statement_name(name)], n)))
            for name, n in sorted(self._judged.items())
        ]
        if rows:
            yield b.Section("True or false?", (b.Table(("percent",), tuple(rows), align="r"),))

    def _identical(self) -> Iterator[b.Block]:
        """The largest groups of identical wrong answers."""
        found = [(group, n) for group, n in self.groups.largest(_LISTED) if n > 1]
        rows = [
            _row(str(n), group.step, ", ".join(x or "—" for x in group.answers), group.reason)
            for group, n in found
        ]
        if rows:
            columns = ("step", "answers", "likely reason")
            table = b.Table(columns, tuple(rows), corner="students", align="lll")
            yield b.Section("Identical wrong answers", (table,))


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    """What is counted, the most frequent first, then by name."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _row(name: str, *words: str) -> b.Row:
    cells = (b.Cell((shortened(printable(text), _CELL),)) for text in words)
    return b.Row(b.Cell((printable(name),)), tuple(cells))


def _percent(share: Fraction) -> str:
    return f"{(share * 100 + Fraction(1, 2)).__floor__()}"
