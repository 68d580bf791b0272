"""Feedback: what a student is told, three sentences and the first line with a mistake.

How much it tells of that mistake is chosen: where it is, a hint, or the right values too. Nothing
else of the key is ever in it: what a slip was is said in numbers, and so only beside the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from symattn.claims.entry_names import counted_place, listed, turned
from symattn.classroom.exercise import STATEMENTS, Exercise
from symattn.classroom.gradebook import in_words
from symattn.classroom.handout import Handout
from symattn.classroom.judge import SHORT, SOUND, Told
from symattn.classroom.records import Mark, Record
from symattn.classroom.task import Blank
from symattn.documents import blocks as b
from symattn.documents.outline import Outline
from symattn.errors import counted
from symattn.printable import printable, shortened
from symattn.reports.wording import BOUNDS

#: How much is told of the first mistake, each with all that those before it tell.
REVEALS = ("place", "hint", "value")

#: The most cells of a line, characters of an answer, and unreadable answers and remarks quoted.
_CELLS, _ANSWER, _QUOTED = 8, 24, 3

#: Faults that are sentences by themselves.
_FAULTS = ("nothing is answered", "nothing was handed in")


@dataclass(frozen=True)
class Feedback:
    """The feedback on one exercise; `reveal` is one of `REVEALS`."""

    exercise: Exercise
    reveal: str = "hint"

    def document(self, record: Record) -> b.Document:
        """What a student is told of a record of this exercise."""
        first = record.first_mistake
        said = [_points(record), self._found(record), *self._reason(record)]
        blocks: list[b.Block] = [b.Paragraph((" ".join(said),))]
        if first is not None and first < len(self.exercise.blanks):
            blocks += [b.Break(), *self._line(record, first)]
        if more := [*self._more(record)]:
            blocks += [b.Break(), b.List(tuple(b.Item((sentence,)) for sentence in more))]
        title = ": ".join(filter(None, map(printable, (self.exercise.sheet.title, record.student))))
        return b.Document(title, tuple(blocks), width=BOUNDS.width, called="Feedback")

    # ---- words for places -----------------------------------------------------------------------

    @cached_property
    def _outline(self) -> Outline:
        return Handout(self.exercise).outlined("formula", "value")

    def _title(self, step: str) -> str:
        """What a step is called within a sentence: ``attention weights``."""
        words = self._outline.headings.get(step, step)
        return words[:1].lower() + words[1:] if words[1:2].islower() else words

    def _labels(self, blank: Blank) -> Sequence[Sequence[str]]:
        """The labels of the rows and columns in which a blank stands; of none, nothing."""
        evaluation = self.exercise.evaluation
        shape = evaluation[blank.step].step.shape
        return [evaluation.labels.get(size, ()) for size in shape]

    def _where(self, blank: Blank) -> str:
        """``row 2, column 1 (cat, the)``, counted and turned as the exercise does."""
        notation = self.exercise.evaluation.notation
        *heads, row, column = counted_place(blank.place, notation)
        pairs = zip(self._labels(blank), blank.place[-2:], strict=True)
        named = turned(tuple(names[k] if names else "" for names, k in pairs), notation)
        labels = [printable(name) for name in named if name]
        words = [*(f"head {head}" for head in heads), f"row {row}", f"column {column}"]
        return ", ".join(words) + (f" ({', '.join(labels)})" if labels else "")

    def _spot(self, number: int) -> str:
        """``in the attention weights, in row 2, column 1``; of a statement what it says."""
        if number >= len(self.exercise.blanks):
            row = self.exercise.statements[number - len(self.exercise.blanks)]
            return f"in the {STATEMENTS}, in “{row.says}”"
        blank = self.exercise.blanks[number]
        return f"in the {self._title(blank.step)}, in {self._where(blank)}"

    # ---- the three sentences --------------------------------------------------------------------

    def _found(self, record: Record) -> str:
        """How far the answers are right."""
        if record.fault in _FAULTS:
            return f"{_begun(record.fault)}."
        if record.fault:
            return f"Your submission could not be marked: {printable(record.fault)}."
        first = record.first_mistake
        sound = sum(mark.verdict in SOUND for mark in record.marks)
        if first is not None:
            return self._first(record, first)
        if sound == len(record.marks):
            return "Your answer is right." if sound == 1 else f"All {sound} answers are right."
        return "What you answered is right." if sound else "No answer could be read as a number."

    def _first(self, record: Record, first: int) -> str:
        """Where the first mistake is, and which steps before it are right."""
        mark = record.marks[first]
        earlier: dict[str, bool] = {}
        for other in record.marks[:first]:
            good = other.verdict in SOUND
            earlier[other.step] = earlier.get(other.step, True) and good
        right = [self._title(x) for x, good in earlier.items() if good and x != mark.step]
        lead = f"Your {listed(right)} {_are(right)} right; the" if right else "The"
        where = f"{lead} first mistake is {self._spot(first)}"
        alone = sum(each.is_mistaken for each in record.marks) == 1
        if alone:
            where = where.replace("first mistake", "only mistake")
        if mark.verdict == "not computed":
            return f"{where}: one number stands for several that differ."
        return f"{where}."

    def _reason(self, record: Record) -> Iterator[str]:
        """What may have led to the first mistake, as far as it is told."""
        first = record.first_mistake
        if first is None or record.marks[first].verdict == "not computed":
            return
        if first >= len(self.exercise.blanks):
            row = self.exercise.statements[first - len(self.exercise.blanks)]
            if self.reveal == "value":
                yield f"It is {self.exercise.truths[row.name]}: {row.use}."
        elif record.marks[first].remark.startswith(SHORT):
            yield f"It is {printable(record.marks[first].remark)}.".replace("; ", ", but ")
        elif self.reveal == "place" or not record.mistakes:
            yield "Check it against the formula of this step."
        else:
            if reasons := [*filter(None, map(self._reason_of, record.mistakes))]:
                yield f"A likely reason: {', or '.join(reasons[:_QUOTED])}."
            yield from dict.fromkeys(printable(x.tell) for x in record.mistakes[:2] if x.tell)

    def _reason_of(self, told: Told) -> str:
        """What was done instead, as far as it may be told: not in the numbers of a slip."""
        if self.reveal == "value" or told.is_label:
            return printable(told.instead)
        return printable(self.exercise.instead.get(told.name, ""))

    # ---- the first line with a mistake ----------------------------------------------------------

    def _line(self, record: Record, first: int) -> Iterator[b.Block]:
        """The answers beside the first mistake; with the formula, with the right values."""
        blanks, fault = self.exercise.blanks, self.exercise.blanks[first]
        line = [
            number
            for number, blank in enumerate(blanks)
            if (blank.step, blank.place[:-1]) == (fault.step, fault.place[:-1])
        ]
        begin = max(0, line.index(first) - _CELLS // 2)
        shown = line[begin : begin + _CELLS]
        names = [self.exercise.name(blanks[number]) for number in shown]
        rows = [b.Row(b.Cell(("your answer",)), tuple(_cell(record.marks[k]) for k in shown))]
        if self.reveal == "value":
            right = (self.exercise.answers[blanks[number]].replace("-", "−") for number in shown)
            cells = tuple(b.Cell((text.replace("inf", "∞"),)) for text in right)
            rows.append(b.Row(b.Cell(("right",)), cells))
        yield b.Table(tuple(names), tuple(rows), label="The first line with a mistake")
        if self.reveal != "place":
            section = next(x for x in self._outline.steps if x.name == fault.step)
            lines = tuple(one for one in section.lines if one.view == "formula")
            yield b.Break()
            yield b.Formulas(lines, (f"The formula of the {self._title(fault.step)}:",))

    # ---- what else is to be said ----------------------------------------------------------------

    def _more(self, record: Record) -> Iterator[str]:
        """A sentence for each other thing, the important ones first."""
        if record.share != 1:
            kept = f"{in_words(100 * record.share)} %"
            yield f"It came late and keeps {kept if record.share else 'none'} of its points."
        yield from (_remark(remark) for remark in record.remarks[:_QUOTED])
        if record.fault:
            return
        marks: dict[str, list[Mark]] = {}
        for mark in record.marks:
            marks.setdefault(mark.verdict, []).append(mark)
        if follows := marks.get("follows"):
            verb = "follows" if len(follows) == 1 else "follow"
            yield f"{counted(len(follows), 'answer')} {verb} from a mistake and {_cost(follows)}."
        mistaken = [mark for mark in record.marks if mark.is_mistaken]
        short = sum(mark.remark.startswith(SHORT) for mark in mistaken[1:])
        if more := max(len(mistaken) - 1, 0) - short:
            yield f"{counted(more, 'more answer')} {_is(more)} wrong."
        if short:
            have = "has" if short == 1 else "have"
            yield f"{counted(short, 'more answer')} {have} too few decimals."
        if blank := marks.get("blank"):
            yield f"{counted(len(blank), 'answer')} {_is(len(blank))} missing."
        yield from self._unreadable(record)
        for verdict, words in _ACCEPTED.items():
            if found := marks.get(verdict):
                yield f"{counted(len(found), 'answer')} {_is(len(found))} {words}."

    def _unreadable(self, record: Record) -> Iterator[str]:
        """The answers that are no numbers, the first few with their places."""
        marks = enumerate(record.marks)
        found = [(number, mark) for number, mark in marks if mark.verdict == "unreadable"]
        for number, mark in found[:_QUOTED]:
            none = "neither true nor false" if mark.step == STATEMENTS else "no number"
            yield f"“{_answer(mark)}” {self._spot(number)}, is {none}."
        more = len(found) - _QUOTED
        if more > 0:
            yield f"{counted(more, 'more answer')} {_is(more)} no number{'s' * (more > 1)}."


#: What is said of answers that count as right and are not.
_ACCEPTED = {
    "rounded": "rounded early or cut off, which costs nothing",
    "undecided": "too close to decide, and counted as right",
}


def _points(record: Record) -> str:
    """The points in a sentence: ``8.5 of 12 points.``, as far as there is something to mark."""
    points, most = (in_words(number) for number in (record.points, record.most))
    if not record.marks:
        return "0 points."
    return f"{points} of {most} point{'' if record.most == 1 else 's'}."


def _cost(marks: Sequence[Mark]) -> str:
    """What answers cost that follow from a mistake."""
    one = len(marks) == 1
    if all(mark.points == mark.most for mark in marks):
        return "costs nothing" if one else "cost nothing"
    some = "part" if any(mark.points for mark in marks) else "none"
    return f"keeps {some} of its points" if one else f"keep {some} of their points"


def _cell(mark: Mark) -> b.Cell:
    """An answer; one that is wrong stands out."""
    text = _answer(mark)
    if mark.verdict in SOUND or not text:
        return b.Cell((text,))
    return b.Cell((text,), "wrong", "✗", "wrong")


def _answer(mark: Mark) -> str:
    return shortened(printable(mark.answer), _ANSWER)


def _remark(remark: str) -> str:
    """A remark on the submission as a sentence."""
    said = printable(remark).rstrip(".")
    begins = said.startswith(("answers ", "has "))
    return f"Your submission {said}." if begins else f"{_begun(said)}."


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _are(titles: Sequence[str]) -> str:
    """The verb of titles: those in the plural end with s."""
    one = len(titles) == 1 and (not titles[0].endswith("s") or titles[0].endswith("ss"))
    return _is(1 if one else 2)
