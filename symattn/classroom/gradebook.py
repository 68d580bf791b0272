"""A gradebook: a row of points for each student, as spreadsheets and learning platforms take it.

Points are exact until they are written: each number is rounded half up to two places by itself, so
that a total is that of the exact points, and may differ from the sum of what is shown beside it.
The points of steps are those before a late submission loses its share; the total has lost it.

Every cell is quoted, so that a spreadsheet whose separator is ``;`` does not part a name. A cell
that would be a formula begins with an apostrophe (OWASP, CSV Injection). Only the plain flavor
begins with a byte-order mark: Excel takes UTF-8 for the system's encoding without one, while Moodle
and Canvas take UTF-8 as it is.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TextIO

from symattn.classroom.records import Record
from symattn.classroom.roster import who
from symattn.classroom.tables import mark_in
from symattn.errors import ReadError
from symattn.printable import printable

#: What a spreadsheet takes for a formula, in signs of full width too.
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")

_POINTS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")

#: The columns of the plain flavor before and behind those of the steps.
_BEFORE, _BEHIND = ("student", "number"), ("points", "of", "remark")

#: The words for what a fault, or a remark, says, by how that begins.
_FAULTS = {
    "nothing is answered": "nothing answered",
    "nothing was handed in": "missing",
    "no exercise": "no exercise",
}
_REMARKS = {
    r"answers the exercise of seed": "wrong seed",
    r"[0-9]+ submissions;": "twice",
    r"has an? ": "own numbers",
    r".*(?:it is|,) not read": "not all read",
}


def word(record: Record) -> str:
    """What is to be said of a record beside its points, in a word or two each.

    >>> word(Record("Ada", "a.toml", fault="nothing is answered", share=Fraction(1, 2)))
    'nothing answered, late'
    """
    words = [_FAULTS.get(record.fault, "not read")] if record.fault else []
    words += [] if record.student else ["no name"]
    for begins, said in _REMARKS.items():
        words += [said] * any(re.match(begins, remark) for remark in record.remarks)
    return ", ".join([*words, *(["late"] if record.share != 1 else [])])


def decimal(number: Fraction) -> str:
    """Points with two decimals, rounded half up.

    >>> decimal(Fraction(1, 8)), decimal(Fraction(17, 2))
    ('0.13', '8.50')
    """
    above, below = number.as_integer_ratio()
    whole, rest = divmod((200 * above + below) // (2 * below), 100)
    return f"{whole}.{rest:02d}"


def in_words(number: Fraction) -> str:
    """Points in a sentence: without zeros behind them.

    >>> in_words(Fraction(1, 8)), in_words(Fraction(17, 2)), in_words(Fraction(10))
    ('0.13', '8.5', '10')
    """
    return decimal(number).rstrip("0").rstrip(".")


def cell(text: str) -> str:
    r"""A text as a cell: one line, and no formula.

    A backslash is written ``/``, as Moodle (PHP) takes one before a quote for an escape.

    >>> print(cell("=1+1"), cell("Ada\n Lovelace"))
    '=1+1 Ada Lovelace
    """
    line = printable(" ".join(text.split())).replace("\\", "/")
    return f"'{line}" if _FORMULA.match(line) else line


def _text(written: str) -> str:
    """The line that `cell` wrote."""
    return written[1:] if written.startswith("'") and _FORMULA.match(written) else written


@dataclass(frozen=True)
class Gradebook:
    """The columns of a gradebook: its title, the steps that have points, and all points."""

    title: str
    steps: tuple[str, ...]
    most: Fraction

    def rows(self, records: Iterable[Record], flavor: str = "plain") -> Iterator[list[str]]:
        """The rows of a flavor, a row of `FLAVORS`, with those above the students."""
        form = FLAVORS[flavor]
        for row in form.head(self):
            yield [cell(text) for text in row]
        for record in records:
            yield [cell(text) for text in form.row(self, record)]

    def write(self, records: Iterable[Record], file: TextIO, flavor: str = "plain") -> None:
        """Write the rows to a file that was opened as UTF-8 with ``newline=""``."""
        file.write(FLAVORS[flavor].mark)
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(self.rows(records, flavor))


@dataclass(frozen=True)
class Flavor:
    """How a program wants a gradebook: rows above the students, and the row of a student."""

    head: Callable[[Gradebook], Sequence[Sequence[str]]]
    row: Callable[[Gradebook, Record], Sequence[str]]
    #: What the file begins with.
    mark: str = ""


def _plain(book: Gradebook, record: Record) -> list[str]:
    own = [decimal(record.steps.get(step, Fraction(0))) for step in book.steps]
    total = decimal(record.points), decimal(book.most)
    return [record.student, record.key, *own, *total, word(record)]


def _moodle(book: Gradebook, record: Record) -> list[str]:
    """For Moodle's import of grades, which is told what each column is.

    A row without a number would be taken for that of the student above, so that it has the name.
    """
    number = record.key or record.student
    return [record.student, number, decimal(record.points), word(record)]


def _canvas(book: Gradebook, record: Record) -> list[str]:
    """For Canvas, which looks for a student by ID, then by name; a name must be no head."""
    name = " ".join(record.student.split()).replace("Points Possible", "Points possible")
    return [name, record.key, "", "", "", decimal(record.points)]


#: Every flavor by its name. Moodle: ``grade/import/csv/classes/load_data.php``; Canvas:
#: ``lib/gradebook_importer.rb``, which wants these five columns before the assignments.
FLAVORS: Mapping[str, Flavor] = {
    "plain": Flavor(lambda book: [(*_BEFORE, *book.steps, *_BEHIND)], _plain, "\ufeff"),
    "moodle": Flavor(
        lambda book: [("Student", "ID number", book.title, f"{book.title} (feedback)")], _moodle
    ),
    "canvas": Flavor(
        lambda book: [
            ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", book.title),
            ("Points Possible", "", "", "", "", decimal(book.most)),
        ],
        _canvas,
    ),
}


def points_in(file: Iterable[str]) -> dict[tuple[str, str], str]:
    """The points of a plain gradebook as `decimal` has them, by student and number.

    Raises `ReadError` with the line for what is none.
    """
    lines = iter(file)
    first = next(lines, "").removeprefix("\ufeff")
    rows = csv.reader(chain([first], lines), strict=True)
    found: dict[tuple[str, str], str] = {}
    try:
        head = [_text(x) for x in next(rows, [])]
        if (tuple(head[:2]), tuple(head[-3:])) != (_BEFORE, _BEHIND):
            raise ReadError(f"line 1: is no head of a gradebook: {', '.join(_BEFORE)}, …")
        for row in filter(None, rows):
            if len(row) != len(head) or not all(map(_POINTS.fullmatch, row[2:-1])):
                where = f"line {rows.line_num}"
                raise ReadError(f"{where}: has other columns, or points that are no numbers")
            found[_text(row[0]), _text(row[1])] = decimal(Fraction(row[-3]))
    except csv.Error as error:
        raise ReadError(f"line {rows.line_num}: is no CSV: {error}") from None
    return found


def changes(
    before: Mapping[tuple[str, str], str], now: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, str, str]]:
    """Whose points are others than before: student, then, now; "" for none now."""
    for student, then in before.items():
        points = now.get(student, "")
        if then != points:
            yield student[0], then, points


# ---- Moodle's grading worksheet ------------------------------------------------------------------

#: Its columns that are read, and those that are written. Moodle:
#: ``mod/assign/feedback/offline/importgradeslib.php``.
_IDENTIFIER, _NAME, _MOST, _OPEN = (
    "Identifier",
    "Full name",
    "Maximum Grade",
    "Grade can be changed",
)
_GRADE, _COMMENTS = "Grade", "Feedback comments"


@dataclass(frozen=True)
class GradingWorksheet:
    """The worksheet that Moodle gives for an assignment, which is uploaded with grades in it."""

    sign: str
    heads: Sequence[str]
    rows: Sequence[Mapping[str, str]]

    @classmethod
    def of(cls, text: str, name: str) -> GradingWorksheet:
        """The worksheet of a text. Raises `ReadError` where a column is missing."""
        sign = mark_in(text)
        table = csv.DictReader(io.StringIO(text, newline=""), delimiter=sign, restval="")
        heads = table.fieldnames or ()
        if lost := next((x for x in (_IDENTIFIER, _GRADE, _MOST) if x not in heads), ""):
            raise ReadError(
                f"{name}: has no column {lost}; download the grading worksheet of the assignment "
                "in Moodle, and leave its language English"
            )
        return cls(sign, heads, [*table])

    @property
    def most(self) -> str:
        """The maximum grade."""
        return next((row[_MOST] for row in self.rows), "")

    def graded(self, records: Iterable[Record]) -> str:
        """The same with the grades of who handed something in; all other cells are as they were.

        A comment is written where there is none. A row is known by the number of its identifier,
        or by the name; one that must not be changed is left as it is.
        """
        found: dict[str, Record] = {}
        for record in filter(lambda one: one.source, records):
            found |= dict.fromkeys((record.key, who(record.student)), record)
        found.pop("", None)
        out = io.StringIO()
        writer = csv.DictWriter(out, self.heads, delimiter=self.sign)
        writer.writeheader()
        for row in self.rows:
            identifier = row[_IDENTIFIER]
            keys = (identifier.rpartition(" ")[2], who(identifier), who(row.get(_NAME, "-")))
            one = next((found[key] for key in keys if key in found), None)
            if one is not None and row.get(_OPEN) != "No":
                comment = {_COMMENTS: row[_COMMENTS] or cell(word(one))} if _COMMENTS in row else {}
                writer.writerow({**row, _GRADE: decimal(one.points), **comment})
            else:
                writer.writerow(row)
        return out.getvalue()
