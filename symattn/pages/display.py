"""`symattn.check`: a hand calculation marked from Python; the marks display their report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import overload

from symattn.arguments import flag, instance, whole
from symattn.arithmetic.written import read_written
from symattn.derivations import Evaluation
from symattn.documents import markdown, text
from symattn.documents.blocks import Document
from symattn.documents.page import static
from symattn.errors import NoSuchPlace, ReadError, counted, quote
from symattn.marking.verdicts import EntryMark, StepMark
from symattn.mistakes.explanations import Explanation
from symattn.pages.checked import check_file, no_claims
from symattn.pages.syntaxes import SYNTAXES
from symattn.printable import as_line
from symattn.reports.check import check_worksheet, mark_arrays
from symattn.reports.documents import overview_document, report_document
from symattn.reports.overview import CheckedFile, Overview
from symattn.reports.results import Finding, Marking
from symattn.reports.single import report_of
from symattn.sheets.worksheet import worksheet_of

#: What the name of a file ends with.
_SUFFIXES = (".toml", *SYNTAXES)


class _Reported:
    """What shows itself as its report: in a notebook, by `print`."""

    def _document(self, brief: bool = False) -> Document:
        """The report; `brief` on a screen."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text.write([self._document(brief=True)]).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return static.fragment([self._document()])

    def _repr_markdown_(self) -> str:
        return markdown.write([self._document()], markdown.DOLLARS)


class Marks(_Reported, Marking):
    """A worksheet's marks, which show themselves as their report."""

    def _document(self, brief: bool = False) -> Document:
        return report_document(report_of(self), brief)


@dataclass(frozen=True, repr=False)
class PageMarks(_Reported, Sequence[Marks]):
    """The marks of the worksheets of a page, in order, and of the numbers in its prose.

    It answers what one worksheet's marks do, for all of them together.
    """

    checked: CheckedFile

    @cached_property
    def markings(self) -> tuple[Marks, ...]:
        """One for each worksheet of which something is claimed."""
        return tuple(map(_marks, self.checked.markings))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every claimed number where it stands: line, column, verdict."""
        return self.checked.findings

    @property
    def problems(self) -> tuple[str, ...]:
        """A line for each worksheet or claim of the page that cannot be used; not marked."""
        return self.checked.problems

    @overload
    def __getitem__(self, index: int) -> Marks: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Marks]: ...
    def __getitem__(self, index: int | slice) -> Marks | Sequence[Marks]:
        if isinstance(index, slice):
            return self.markings[index]
        number = whole(index, "worksheets of the page", -(10**9))
        try:
            return self.markings[number]
        except IndexError:
            raise NoSuchPlace(
                f"the page has {counted(len(self), 'worksheet')}, counted from 0; there is no "
                f"worksheet {quote(number)}"
            ) from None

    def __len__(self) -> int:
        return len(self.markings)

    @property
    def steps(self) -> tuple[StepMark, ...]:
        """The steps of all worksheets."""
        return tuple(step for one in self.markings for step in one.steps)

    @property
    def entries(self) -> tuple[EntryMark, ...]:
        """The claimed entries of all worksheets; one that is claimed twice once."""
        return tuple(entry for one in self.markings for entry in one.entries)

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """What would explain the wrong numbers of any of them."""
        return tuple(each for one in self.markings for each in one.explanations)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is odd in any of them."""
        return tuple(note for one in self.markings for note in one.notes)

    @property
    def passed(self) -> bool:
        """Whether every number passes, those in the prose too, and every worked line.

        Not where there are problems.
        """
        return self.checked.passes and all(one.passed for one in self.markings)

    @property
    def first_wrong(self) -> EntryMark | None:
        """The first entry that does not pass, worksheet by worksheet; then those in the prose."""
        return next((m.first_wrong for m in self.markings if m.first_wrong is not None), None) or (
            next(self._in_prose(), None)
        )

    def _in_prose(self) -> Iterator[EntryMark]:
        """What does not pass of the entries that are claimed again, after a right claim."""
        for finding in self.findings if not self.passed else ():
            for one in self.markings if not finding.passes else ():
                for entry in one.entries:
                    if finding.entry == str(entry):
                        again = read_written(finding.written, finding.entry)
                        if again is not None:
                            yield replace(entry, claimed=again, verdict=finding.verdict)

    def passes(self, entry: EntryMark) -> bool:
        """Whether the policy of the worksheet that an entry belongs to lets it pass."""
        instance(entry, EntryMark, "entry", "an entry of the marks")
        owner = next((m for m in self.markings if any(e is entry for e in m.entries)), None)
        return (owner or self.markings[0]).passes(entry)

    @cached_property
    def _overview(self) -> Overview:
        return Overview((self.checked.reported(),))

    def _document(self, brief: bool = False) -> Document:
        return overview_document(self._overview, brief)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *map(as_line, self.problems)])


def check(text_or_path: str | os.PathLike[str], explain: bool = True) -> Marks | PageMarks:
    """Mark the claims of a worksheet, or of a page.

    `text_or_path` is a `Path`, or a string. A string with a line break, or with a ``=`` that does
    not name a file, is the text of a worksheet; one line that ends in ``.toml``, ``.md``,
    ``.rst``, ``.tex``, ``.ipynb``, …, or that names a file, is a path. `explain`: look for
    misconceptions and slips behind wrong numbers.

    The marks of a worksheet have `passed`, `first_wrong`, `steps` (each with `name`, `verdict`
    and `entries`), `entries`, `explanations`, `notes` and `passes(entry)`. An entry has `step`,
    `place` (head, if there are heads, row and column, from 0), `claimed`, `verdict` and
    `because`, the entries that it follows from. A page (Markdown, reStructuredText, LaTeX, a
    notebook) gives the sequence of its worksheets' marks, with the same attributes for the page.
    Both print as the report, also in a notebook. A worksheet or a claim of a page that cannot be
    used is a line of the page's `problems`, and the page has not `passed`; where a page holds
    nothing else, it is raised.

    Raises `SymattnError` for a file that cannot be read, a text that is not a worksheet, and a
    worksheet without claims; the message says where, what and how to correct it.

    >>> marks = check('''
    ... [given]
    ... Q = [[1, 0]]
    ... K = [[1, 0], [0, 1]]
    ... [claims]
    ... scaled = [["0.71", 0]]
    ... weights = [["0.67", "0.36"]]
    ... ''')
    >>> marks.passed, str(marks.first_wrong), marks.first_wrong.place
    (False, 'weights[1,2]', (0, 1))
    >>> [(entry.claimed.text, entry.verdict) for entry in marks.steps[1].entries]
    [('0.67', 'right'), ('0.36', 'wrong')]
    """
    flag(explain, "explain")
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        sheet = worksheet_of(text_or_path)
        with sheet.in_file():
            return _marks(check_worksheet(sheet, explain))
    if not isinstance(text_or_path, str | os.PathLike):
        raise ReadError(
            f"check: {quote(text_or_path)} is neither text nor a path; give the text of a "
            "worksheet, or the path of a file"
        )
    path = Path(text_or_path)
    checked = check_file(path, explain)
    if checked is None or not (checked.markings or checked.problems):
        raise no_claims(path)
    if path.suffix.lower() in SYNTAXES:
        return PageMarks(checked)
    (marking,) = checked.markings
    return _marks(marking)


def compare(values: Evaluation, explain: bool = True, **arrays: object) -> Marks:
    """What a program computed, compared with the true values; see `Evaluation.compare`."""
    instance(values, Evaluation, "values", "an Evaluation")
    return _marks(mark_arrays("", values, arrays, flag(explain, "explain")))


def _is_path(text: str) -> bool:
    """Whether a string names a file, rather than being a worksheet's text.

    Raises `ReadError` for one that can be neither.
    """
    if "\n" in text or "\r" in text:
        return False
    if text.strip().lower().endswith(_SUFFIXES) or _exists(text):
        return True
    if "=" in text:
        return False
    raise ReadError(
        f"check: {quote(text)} is neither a file nor the text of a worksheet; give a path that "
        'ends in .toml or .md, or text such as "[given]\\nQ = [[1, 0]]…"'
    )


def _exists(text: str) -> bool:
    try:
        return bool(text.strip()) and Path(text).exists()
    except (OSError, ValueError):  # too long, or with characters that no name has
        return False


def _marks(marking: Marking) -> Marks:
    """The same marks, which show themselves."""
    return Marks(**{field.name: getattr(marking, field.name) for field in fields(marking)})
