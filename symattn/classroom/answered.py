"""Answers: what a submission says of each blank of an exercise, and what it says besides.

Only claims are answers. Other numbers than those that are given, another policy, another seed are
reported, and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from symattn.arithmetic.spelling import DECIMAL_SIGNS, decimal_shown
from symattn.arithmetic.written import BLANKS
from symattn.claims.claims import claimed_cells
from symattn.claims.entry_names import listed, turned
from symattn.classroom.exercise import STATEMENTS, Exercise
from symattn.classroom.submission import Sheet, Submission
from symattn.derivations import Place
from symattn.errors import ReadError, counted
from symattn.files.toml import parse

#: The most characters of an answer that are read.
_LONGEST = 400

#: How many keys of submissions are remembered.
_KEYS = 4096


@dataclass(frozen=True)
class Answers:
    """A text for each blank, "" for none, and the decimal sign of all; `remarks`: what else."""

    texts: tuple[str, ...]
    decimal: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is answered."""
        return not any(self.texts)


@dataclass(frozen=True)
class AnswerSheet:
    """The cells of an exercise that submissions fill in; made once for all of them."""

    exercise: Exercise

    @cached_property
    def _facts(self) -> Mapping[str, object]:
        return parse(self.exercise.sheet.text, self.exercise.sheet.name)

    @cached_property
    def _tables(self) -> Sequence[tuple[str, str, Place, tuple[int, ...]]]:
        """Of each table that is handed out the step and its letter, the head, and the shape."""
        evaluation, statements = self.exercise.evaluation, self.exercise.statements
        found: list[tuple[str, str, Place, tuple[int, ...]]] = []
        for name in self.exercise.steps:
            letter = evaluation[name].step.letter
            *heads, rows, columns = evaluation.shape(letter)
            shape = turned((rows, columns), evaluation.notation)
            each = [(head,) for head in range(heads[-1])] if heads else [()]
            found += [(name, letter, head, shape) for head in each]
        if statements:
            found.append((STATEMENTS, STATEMENTS, (), (len(statements), 1)))
        return found

    @cached_property
    def cell(self) -> Callable[[str], tuple[str, Place] | None]:
        """The cell that a key such as ``weights[1,2]`` names, None where it names none."""
        asked = dict(zip(self.exercise.asked, self.exercise.number, strict=True))

        @lru_cache(_KEYS)
        def named(key: str) -> tuple[str, Place] | None:
            called = self._called(key)
            if called in asked:
                return asked[called]
            try:
                ((letter, place, _),) = claimed_cells(called, "?", self.exercise.evaluation)
            except (ReadError, ValueError):
                return None
            return letter, place

        return named

    def _called(self, key: str) -> str:
        """A key with the step as the exercise writes it: ``Weights[1,2]`` is weights[1,2]."""
        name, bracket, place = key.partition("[")
        small = name.lower()
        return f"{small}{bracket}{place}" if small in self.exercise.parts else key

    def read(self, submission: Submission) -> Answers:
        """What a submission answers; nothing in it is refused, and nothing but claims is used."""
        remarks = [submission.remark] if submission.remark else []
        cells = dict(self._claimed(submission.claims, remarks))
        for cell, entry in self._filled_in(submission.tables, remarks):
            cells.setdefault(cell, entry)
        texts = [""] * len(self.exercise.asked)
        for cell, entry in cells.items():
            if (number := self.exercise.number.get(cell)) is not None:
                texts[number] = _text(entry)
        remarks += self._changed(submission.others)
        decimal = self.exercise.sheet.decimal or decimal_shown(texts)
        remarks += _mixed(texts, decimal)
        return Answers(tuple(texts), decimal, tuple(remarks))

    def _claimed(
        self, claims: Mapping[str, object], remarks: list[str]
    ) -> Iterator[tuple[tuple[str, Place], object]]:
        """The cells that are claimed by name; what names none is remarked on."""
        unknown = []
        for key, value in claims.items():
            try:
                if isinstance(value, list | Mapping):
                    called = self._called(key)
                    found = claimed_cells(called, value, self.exercise.evaluation)
                    yield from (((letter, place), entry) for letter, place, entry in found)
                elif (cell := self.cell(key)) is None:
                    unknown.append(key)
                else:
                    yield cell, value
            except ReadError as error:
                remarks.append(f"{error}; it is not read")
        if unknown:
            remarks.append(f"{listed(unknown)}: no entry of the exercise; not read")

    def _filled_in(
        self, tables: Sequence[Sheet], remarks: list[str]
    ) -> Iterator[tuple[tuple[str, Place], object]]:
        """The cells of tables that stand in the order in which they were handed out."""
        evaluation = self.exercise.evaluation
        for (name, letter, head, shape), table in zip(self._tables, tables, strict=False):
            found = len(table.cells), *{len(row) for row in table.cells}
            if found != shape:
                remarks.append(f"the table of {name} has other rows or columns; it is not read")
                continue
            for i, row in enumerate(table.cells):
                for j, entry in enumerate(row):
                    place = turned((i, j), evaluation.notation)
                    yield (letter, (*head, *place)), entry
        if tables and len(tables) != len(self._tables):
            asked = counted(len(self._tables), "table")
            remarks.append(f"{counted(len(tables), 'table')} where the exercise has {asked}")

    def _changed(self, others: Mapping[str, object]) -> Iterator[str]:
        """What a worksheet says of itself otherwise than the exercise does."""
        facts, seed = others.get("exercise"), self.exercise.sheet.exercise.get("seed")
        own = facts.get("seed") if isinstance(facts, Mapping) else None
        if own is not None and own != seed:
            yield f"answers the exercise of seed {own}, not {seed}"
        ours = self._facts
        other = [
            name
            for name in (*_COMPARED, *(x for x in others if x not in (*_COMPARED, *_LEFT)))
            if name in others and others[name] != ours.get(name, {})
        ]
        if other:
            words = listed(other, len(other))
            yield f"has a {words} of its own, which {'is' if len(other) == 1 else 'are'} not used"


#: Tables that are compared first, and those that may be what they like.
_COMPARED = ("given", "attention", "policy", "notation")
_LEFT = ("exercise", "title", "claims", "schema")


def _mixed(texts: Sequence[str], decimal: str) -> Iterator[str]:
    """What is said where numbers have both signs, one of which is taken for the decimal one."""
    others = [sign for sign in DECIMAL_SIGNS if decimal and sign != decimal]
    if any(sign in text for sign in others for text in texts):
        word = {".": "point", ",": "comma"}[decimal]
        yield f"has points and commas in its numbers; the {word} is read as the decimal sign"


def _text(entry: object) -> str:
    """What stands in a cell, "" for nothing."""
    text = "" if entry is None else str(entry).strip()
    return "" if text in BLANKS else text[:_LONGEST]
