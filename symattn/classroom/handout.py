"""An exercise as documents: the sheet with its blanks, hints, the key with all steps worked.

They are blocks, so that every format shows the same; only what a page marks by is for pages alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from symattn.algebra.identities.identity import Identity
from symattn.claims.entry_names import leading, turned
from symattn.classroom.exercise import FINER, Exercise, statement_name
from symattn.classroom.following import Following
from symattn.classroom.task import Blank
from symattn.derivations import Item, Place, Step
from symattn.documents import blocks as b
from symattn.documents.outline import Outline, derivation_document, outline
from symattn.documents.shown import Shown
from symattn.notation import tree as t
from symattn.printable import printable

#: What a page says of a step by the worst of its answers; the first is the worst.
_SENTENCES = {
    "flat": "One number stands for several that differ.",
    "wrong": "Not right yet.",
    "open": (
        "The page does not judge all of this: it may be off in the last digit, come from numbers "
        "that were rounded, or be no answer."
    ),
    "follows": "Right for what it is computed from.",
    "good": "Right so far.",
}

#: What stands in a cell: a blank of the sheet, or its answer.
_Filled = Callable[[Blank, str], b.Words]


@dataclass(frozen=True)
class Handout:
    """The documents of one exercise."""

    exercise: Exercise

    def sheet(self, hints: bool = False) -> b.Document:
        """What is handed out; `hints`: formulas, entries and numbers put in stand at its end."""
        blocks = [*self._head(), self._given, *self._steps(self._room), *self._judged(_asked)]
        blocks += self._hints() if hints else []
        return b.Document(self.exercise.sheet.title, (*blocks, b.Practice(self._marks())))

    def key(self) -> b.Document:
        """The answers, what each misconception would answer, and all steps worked."""
        exercise = self.exercise
        title = ": ".join(filter(None, (exercise.sheet.title, "answers")))
        said = [b.Paragraph((sentence,)) for sentence in (exercise.effort, *exercise.untold)]
        blocks = [
            *self._whose(()),
            *said,
            self._given,
            *self._steps(lambda _, answer: (b.Strong(_signed(answer)),)),
            *self._judged(_told),
        ]
        worked = derivation_document(self.outlined("formula", "worked", "value"))
        shown = tuple(block for block in worked.blocks if block != self._given)
        return b.Document(title, (*blocks, *self._mistaken(), b.Section("Worked", shown)))

    def quiz(self, fields: Callable[[Blank, int], str]) -> b.Document:
        """What a quiz asks: numbers in tables, no formulas, and a field for every blank."""
        exercise = self.exercise
        places = {blank: number for number, blank in enumerate(exercise.blanks)}

        def field(blank: Blank, answer: str) -> b.Words:
            return (b.Blank(exercise.name(blank), field=fields(blank, places[blank])),)

        given = (self._matrix(item) for item in exercise.task.derivation.inputs)
        tables = tuple(table for some in given for table in some)
        title = _inert(exercise.sheet.title)
        told = (*self._head(named=False), b.Section("Given", tables))
        return b.Document(title, (*told, *self._steps(field)))

    # ---- what both have -------------------------------------------------------------------------

    def outlined(self, *views: str) -> Outline:
        """The derivation as documents show it, to the digits that are asked for."""
        exercise = self.exercise
        task, notation = exercise.task, exercise.evaluation.notation
        notation = notation.but(digits=task.digits, exact=task.exact)  # ln 9 is no 2.197
        return outline(Shown(task.derivation, exercise.evaluation, notation, views))

    def _head(self, named: bool = True) -> Iterator[b.Block]:
        """Who it is for, unless that is known, and what to do."""
        exercise = self.exercise
        yield from self._whose(("Name: ", b.Blank("your name"))) if named else ()
        fractions = named and exercise.task.exact
        exact = "as fractions where possible, otherwise " if fractions else ""
        yield b.Paragraph(
            (f"Fill in the blanks, {exact}to {exercise.task.digits} decimals; −∞ is -inf.",)
        )
        if exercise.sheet.story:
            yield b.Paragraph((_inert(exercise.sheet.story),))

    def _whose(self, unknown: b.Words) -> Iterator[b.Block]:
        """The name of the student, or what stands for one that is unknown, and the seed."""
        facts = self.exercise.sheet.exercise
        student = facts.get("student")
        name = (f"Name: {student}",) if student else unknown
        seed = (f"{'. ' if name else ''}Seed {facts['seed']}.",) if "seed" in facts else ()
        if name or seed:
            yield b.Paragraph((*name, *seed))

    @property
    def _given(self) -> b.Block:
        """What is given, with its numbers."""
        document = derivation_document(self.outlined("formula", "value"))
        return next(x for x in document.blocks if isinstance(x, b.Section) and x.title == "Given")

    def _steps(self, filled: _Filled) -> Iterator[b.Block]:
        """A table for each step that is asked for, for each head of it."""
        headings = self.outlined("formula", "value").headings
        for number, name in enumerate(self.exercise.steps, 1):
            tables = tuple(self._tables(name, filled))
            yield b.Section(f"{number}. {headings[name]}", tables)
            yield b.Break()

    def _tables(self, name: str, filled: _Filled) -> Iterator[b.Table]:
        """What is asked of a step, head by head."""
        exercise = self.exercise
        step = exercise.task.derivation[name]
        found = [(blank, x) for blank, x in exercise.answers.items() if blank.step == name]
        answers = {blank.place: (blank, x) for blank, x in found}

        def cell(place: Place) -> b.Cell:
            if place in answers:
                return b.Cell(filled(*answers[place]))
            text = exercise.task.answer(exercise.evaluation, step.letter, place)
            return b.Cell((_signed(text),))

        yield from self.tables_of(step, name, cell)

    def _matrix(self, item: Item) -> Iterator[b.Table]:
        """What is given, as it is written, head by head."""
        values = self.exercise.sheet.numbers[item.name]

        def cell(place: Place) -> b.Cell:
            entry = values
            for index in place:
                entry = entry[index]
            return b.Cell((_signed(str(entry)),))

        yield from self.tables_of(item, "", cell)

    def tables_of(
        self, item: Item, name: str, cell: Callable[[Place], b.Cell]
    ) -> Iterator[b.Table]:
        """A matrix as tables, one for each head, labelled and turned as the notation has it."""
        evaluation, notation = self.exercise.evaluation, self.exercise.evaluation.notation
        *heads, rows, columns = evaluation.shape(item.letter)
        labels = turned(tuple(evaluation.labels.get(size, ()) for size in item.shape), notation)
        down, across = turned((range(rows), range(columns)), notation)

        def label(names: Sequence[str], index: int) -> str:
            return _inert(printable(names[index])) if names else str(index + notation.index_base)

        for head in range(heads[-1]) if heads else (None,):
            lead = () if head is None else (head,)
            lines = tuple(
                b.Row(
                    b.Cell((label(labels[0], i),)),
                    tuple(cell((*lead, *turned((i, j), notation))) for j in across),
                )
                for i in down
            )
            top = tuple(label(labels[1], j) for j in across)
            of = leading(evaluation, item.letter, (*lead, 0, 0), notation)
            given = "" if isinstance(item, Step) else item.letter
            yield b.Table(top, lines, ", ".join(filter(None, (given, of))), name)

    def _judged(self, filled: Callable[[Identity], b.Inline]) -> Iterator[b.Block]:
        """The statements that are true or false."""
        rows = tuple(
            b.Row(b.Cell((_sentence(row.says),)), (b.Cell((filled(row),)),))
            for row in self.exercise.statements
        )
        if rows:
            yield b.Section("True or false?", (b.Table(("true or false",), rows),))

    def _room(self, blank: Blank, answer: str) -> b.Words:
        """Room for an answer."""
        name = self.exercise.name(blank)
        return (b.Blank(name, name),)

    # ---- hints ----------------------------------------------------------------------------------

    def _hints(self) -> Iterator[b.Block]:
        """The formula of each step; the rule of its entries; an entry with the numbers put in."""
        for title, view in (
            ("Hint 1: the formulas", "formula"),
            ("Hint 2: the entries", "entry"),
            ("Hint 3: numbers put in", "worked"),
        ):
            sections = self.outlined(view, "value").steps
            parts = [
                b.Formulas(tuple(_begun(x) for x in section.lines if x.view in (view, "where")))
                for section in sections
            ]
            yield b.Section(title, tuple(part for part in parts if part.lines))

    # ---- the key --------------------------------------------------------------------------------

    def _mistaken(self) -> Iterator[b.Block]:
        """The answer by which each misconception shows first."""
        exercise = self.exercise
        rows = []
        for one in exercise.seen:
            found = zip(exercise.answers.items(), one.answers, strict=True)
            other = next(((blank, x, y) for (blank, x), y in found if x != y), None)
            if other is not None:
                blank, true, answer = other
                numbers = _signed(true), _signed(answer)
                words = (one.misconception.instead, exercise.name(blank), *numbers)
                cells = tuple(b.Cell((each,)) for each in words)
                rows.append(b.Row(b.Cell((one.misconception.name,)), cells))
        columns = ("what is done instead", "shows first in", "right", "instead")
        if rows:
            table = b.Table(columns, tuple(rows), corner="misconception", align="llrr")
            yield b.Section("What misconceptions answer", (table,))

    # ---- what a page marks by -------------------------------------------------------------------

    def _marks(self) -> str:
        """The answers, those of misconceptions, and rules, for the program of a page.

        Numbers are in units of the last digit that is asked for; null stands for −∞. `groups` are
        the step of an answer and its row.
        """
        exercise = self.exercise
        seen = exercise.seen
        rows = zip(exercise.blanks, exercise.right, *(one.units for one in seen), strict=True)
        asked = {
            exercise.name(blank): {
                "groups": [blank.step, f"{blank.step}{[*blank.place[:-1]]}"],
                "right": right,
                "others": others,
            }
            for blank, right, *others in rows
        }
        asked |= {statement_name(row.name): {"right": row.holds} for row in exercise.statements}
        rules = Following(exercise).rules
        entries = {name: {"rule": rules.get(name)} | asked.get(name, {}) for name in rules | asked}
        data = {
            "digits": exercise.task.digits,
            "finer": 10**FINER,
            "entries": entries,
            "mistakes": [f"{one.misconception.instead}. {one.misconception.tell}" for one in seen],
            "sentences": _SENTENCES,
        }
        written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return written.replace("<", "\\u003c").replace("##", "#\\u0023")


def _asked(row: Identity) -> b.Inline:
    return b.Blank(row.says, statement_name(row.name))


def _told(row: Identity) -> b.Inline:
    return b.Strong("true" if row.holds else f"false: {row.use}")


def _signed(answer: str) -> str:
    """An answer with the signs of print.

    >>> _signed("-inf"), _signed("-0.5")
    ('−∞', '−0.5')
    """
    return answer.replace("-", "−").replace("inf", "∞")


def _inert(words: str) -> str:
    """Words in which no quiz reads a field: behind a brace stands a joiner that is not seen."""
    return words.replace("{", "{\u2060")


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _begun(line: b.Line) -> b.Line:
    """A worked line up to what follows from the numbers that are put in; any other as it is."""
    if line.view != "worked" or not isinstance(line.tree, t.Row):
        return line
    items = line.tree.items
    signs = [k for k, item in enumerate(items) if item in (t.EQUALS, t.APPROX)]
    return replace(line, tree=t.row(*items[: signs[1]])) if len(signs) > 1 else line
