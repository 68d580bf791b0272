"""Checking files: worksheets, and pages with worksheets and claims in the middle of prose.

Every wrong number is reported where it stands, and can be put right in place, at its own digits,
with every other byte of the file as it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from symattn.arithmetic.base import Array
from symattn.arithmetic.spelling import decimal_shown
from symattn.arithmetic.written import Written
from symattn.attention.vocabulary import SYMBOLS
from symattn.claims.claims import Origins, read_claims
from symattn.claims.labels import texts_of
from symattn.claims.lines import Line, is_line, last_side, read_line
from symattn.claims.references import is_known_letter
from symattn.derivations import Evaluation, Place
from symattn.errors import ReadError, SymattnError, Undecided, counted, located
from symattn.files.named import (
    MAX_BYTES,
    Site,
    named_file,
    read_text,
    reason,
    site_file,
    why_not_searched,
)
from symattn.files.toml import Places, Scalar, parse, place_of_fault
from symattn.language import is_equations_file
from symattn.marking.correction import correction_of
from symattn.marking.lines import check_lines
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.pages.syntaxes import MAX_NOTEBOOK, SYNTAXES, Anchor, Block, Flaw, Found, place_of
from symattn.reports.check import exercise_of, mark_arrays, mark_claims
from symattn.reports.results import CheckedFile, Finding, Marking
from symattn.reports.single import true_text
from symattn.sheets.worksheet import (
    Worksheet,
    check_tables,
    equations_of,
    with_arrays,
    worksheet_of,
)

#: Of tables with as many claims at most, those that contradict one another are found.
_FEW = 200

#: Of a page in which more cannot be used, nothing is marked.
_MOST_PROBLEMS = 200

#: Where something that cannot be used stands, and what is said of it.
Problem: TypeAlias = tuple[int, str]


def check_file(
    path: str | Path, explain: bool = True, claims: str | Path = ""
) -> CheckedFile | None:
    """A file's numbers checked; None where it holds neither a worksheet nor a claim.

    The arrays of the file `claims` are held against a worksheet instead of what it claims itself.
    A worksheet or a claim of a page that cannot be used is one of its problems, unless there is
    nothing else. Raises `ReadError` (or another `SymattnError`) that begins with the file and the
    line.
    """
    name = "<stdin>" if str(path) == "-" else str(path)
    text = _text_of(path, name)
    if not claims:
        return check_text(text, name, explain)
    if is_page(name):
        raise ReadError(f"{name}: arrays are compared with a worksheet, not with a page")
    return _checked(name, text, [Block(text, 0)], explain, None, claims)


def no_claims(path: str | Path) -> ReadError:
    """Why nothing in a file can be marked: it claims nothing, or is no worksheet for a reason."""
    name = str(path)
    if name != "-" and not is_page(name):
        try:
            if is_equations_file(name):
                equations_of(_text_of(path, name), name)
                return ReadError(
                    f"{name}: equations claim nothing; put them into a worksheet, as "
                    "equations = '''…''' above [given] and [claims]"
                )
            check_tables(_text_of(path, name), name)
        except ReadError as error:
            return error
    return ReadError(
        f"{path}: no claims; add a table [claims], or a claim in the text after the worksheet"
    )


def _text_of(path: str | Path, name: str) -> str:
    most = MAX_NOTEBOOK if Path(name).suffix.lower() == ".ipynb" else MAX_BYTES
    return read_text(path, name, most)


def check_text(
    text: str, name: str, explain: bool = True, site: Site | None = None
) -> CheckedFile | None:
    """The text of a file checked; the end of its name tells the syntax. As `check_file`.

    The files that it names lie beside it, or where the `site` that it is a page of has them.
    """
    found = _found(text, name)
    return _checked(name, text, found, explain, site) if found else None


def mended(one: CheckedFile) -> tuple[CheckedFile, int]:
    """A file checked with its wrong numbers corrected, and how many were.

    Again until nothing is left to correct: a number may have been accepted only because it follows
    from one that is corrected.
    """
    count = 0
    for _ in one.findings:  # a number that was corrected is right from then on
        if not one.corrections:
            break
        count += len(one.corrections)
        again = check_text(one.corrected(), one.name, explain=False)
        assert again is not None  # it holds as many claims as before
        one = again
    return one, count


def _found(text: str, name: str) -> Sequence[Found]:
    """The worksheets and claims in the text of a file; the end of its name tells the syntax."""
    syntax = SYNTAXES.get(Path(name).suffix.lower())
    if syntax is None:
        return [Block(text, 0)] if name == "<stdin>" or _holds_worksheet(text, name) else []
    if "symattn" not in text and "claim" not in text and "attention" not in text:
        return []
    try:
        return list(syntax(text))
    except ReadError as error:
        raise ReadError(f"{name}:{error}") from None


def is_page(name: str) -> bool:
    """Whether a file is a page of prose, by the end of its name, rather than one worksheet."""
    return Path(name).suffix.lower() in SYNTAXES


def holds_something(path: Path) -> bool:
    """Whether a file has a worksheet or a claim, or cannot be read, so that one does not know."""
    try:
        return bool(_found(_text_of(path, str(path)), str(path)))
    except ReadError:
        return True


def files_in(path: str | Path, problems: list[str] | None = None) -> Iterator[Path]:
    """The files of a folder that may hold claims, in order; hidden and built ones left out.

    What cannot be read (a folder), leads out of the folder (a link) or is no file (a pipe) is one
    of the `problems`. Raises `ReadError` without these.
    """

    def unread(place: object, why: str) -> None:
        if problems is None:
            raise ReadError(f"{place}: {why}")
        problems.append(f"{place}: {why}")

    def refused(error: OSError) -> None:
        unread(error.filename, f"cannot be read: {reason(error)}")

    for folder, inside, names in _walked(path, refused):
        for name in inside:
            if (link := Path(folder) / name).is_symlink() and (
                why := why_not_searched(link, Path(path))
            ):
                unread(link, why)
        for name in sorted(names):
            if _left_out(name) or Path(name).suffix.lower() not in (".toml", *SYNTAXES):
                continue
            if why := why_not_searched(Path(folder) / name, Path(path)):
                unread(Path(folder) / name, why)
            else:
                yield Path(folder) / name


def folders_in(path: str | Path) -> Iterator[Path]:
    """The folders that `files_in` searches, the folder itself first."""
    return (Path(folder) for folder, _, _ in _walked(path))


def _walked(
    path: str | Path, refused: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk`, in order, without hidden and built folders."""
    for folder, inside, names in os.walk(path, onerror=refused):
        inside[:] = sorted(name for name in inside if not _left_out(name))
        yield folder, inside, names


def _left_out(name: str) -> bool:
    return name.startswith((".", "_build")) or name == "node_modules"


def _holds_worksheet(text: str, name: str) -> bool:
    """Whether a TOML file is a worksheet rather than something else."""
    if is_equations_file(name) or not any(
        table in text for table in ("given", "attention", "claims")
    ):
        return False
    data = parse(text, name)
    return any(table in data for table in ("given", "attention", "claims"))


class _TooMany(ReadError):
    """More of a page cannot be used than anybody would read of."""


class _Problems(list[Problem]):
    """What of a page cannot be used. Raises `_TooMany` where that is more than a few."""

    def append(self, problem: Problem) -> None:
        super().append(problem)
        if len(self) > _MOST_PROBLEMS:
            raise _TooMany(
                f"{min(self)[1]}; this page has more than {_MOST_PROBLEMS} such mistakes"
            )


def _checked(
    name: str,
    text: str,
    found: Sequence[Found],
    explain: bool,
    site: Site | None,
    claimed: str | Path = "",
) -> CheckedFile:
    """All worksheets of a file, each with the claims that follow it.

    What cannot be used is a problem of the page. It is raised where the file is one worksheet
    `alone`, and where the page holds nothing else.
    """
    alone = not is_page(name)
    markings: list[Marking] = []
    sheets: list[Worksheet] = []
    read: list[Worksheet] = []
    findings: list[Finding] = []
    problems = _Problems()
    for block, anchors in _grouped(name, text, found, problems):
        refused: dict[str, str] | None = None if alone else {}
        try:
            sheet = sheet_of_block(name, text, block, site, refused)
            if claimed:
                sheet = with_arrays(sheet, claimed)
            read.append(sheet)
            if not (sheet.claims or sheet.arrays or anchors or refused):
                continue
            one = _Sheet(name, text, block, sheet, anchors, None if alone else problems)
            for key, reason in (refused or {}).items():
                one.refuse_key(key, reason)
            with sheet.in_file():
                marking = one.marking(explain)
        except (Undecided, _TooMany):
            raise
        except SymattnError as error:
            if alone:
                raise
            count = len(anchors)
            left = (
                f"; {counted(count, 'claim')} after it {'is' if count == 1 else 'are'} not marked"
            )
            problems.append((block.start, f"{error}{left if anchors else ''}"))
            continue
        if marking is not None:
            markings.append(marking)
            sheets.append(sheet)
            number = len(markings) - 1
            findings.extend(replace(each, worksheet=number) for each in one.findings(marking))
    lines = tuple(lines for _, lines in sorted(problems))
    if len(lines) == 1 and not markings:
        raise ReadError(lines[0])
    ordered = tuple(sorted(findings, key=lambda finding: finding.start))
    return CheckedFile(
        name, text, not alone, tuple(markings), tuple(sheets), ordered, lines, tuple(read)
    )


def _grouped(
    name: str, text: str, found: Sequence[Found], problems: list[Problem]
) -> Iterator[tuple[Block, list[Anchor]]]:
    """Each worksheet with the claims after it; what is none, or has none, is among the problems."""
    block: Block | None = None
    anchors: list[Anchor] = []
    for item in found:
        if isinstance(item, Block):
            if block is not None:
                yield block, anchors
            block, anchors = item, []
        elif isinstance(item, Flaw):
            problems.append((item.start, f"{_placed(name, text, item.start)}: {item.message}"))
        elif block is None:
            key = f"{item.key}: " if item.key else ""
            place = _placed(name, text, item.start)
            problems.append((item.start, f"{place}: {key}no worksheet stands before this claim"))
        else:
            anchors.append(item)
    if block is not None:
        yield block, anchors


def _placed(name: str, text: str, start: int) -> str:
    """The file, the line and the column of a place in a text."""
    line, column = place_of(text, start)
    return f"{name}:{line}:{column}"


def sheet_of_block(
    name: str,
    text: str,
    block: Block,
    site: Site | None = None,
    refused: dict[str, str] | None = None,
) -> Worksheet:
    """The worksheet of a block of the page `text` in the file `name`; as `worksheet_of`."""
    line = place_of(text, block.start)[0]
    if block.file:
        return _from_file(name, line, block.file, site)
    try:
        return worksheet_of(block.text, name, line, site.roots if site else (), refused)
    except Undecided:
        raise
    except SymattnError as error:
        words = str(error)
        if not is_page(name) or re.match(r"[0-9]+:", words.removeprefix(f"{name}:")):
            raise
        words_left = words.removeprefix(f"{name}: ")  # of a worksheet as a whole: where it begins
        raise type(error)(f"{name}:{line}: {words_left}") from None


def _from_file(page: str, line: int, file: str, site: Site | None) -> Worksheet:
    """The worksheet that a page names, which has to lie beside the page, or in its site."""
    folder = Path(page).parent
    with located(f"{page}:{line}"):
        path = site_file(file, folder, site) if site else named_file(file, folder, "page")
    name = str(path if site else folder / file)
    return worksheet_of(read_text(path, name), name, roots=site.roots if site else ())


class _Sheet:
    """One worksheet of a file and the claims in the prose after it.

    Claims that cannot be used are added to the `problems`; without these, they are raised.
    """

    def __init__(
        self,
        name: str,
        text: str,
        block: Block,
        sheet: Worksheet,
        anchors: Sequence[Anchor],
        problems: list[Problem] | None = None,
    ) -> None:
        self.name, self.text, self.block, self.sheet = name, text, block, sheet
        self.problems = problems
        self.anchors = anchors
        self.origins: Origins = {}
        self.claimed: list[tuple[Anchor, str, Place, Written]] = []
        texts = [text for anchor in anchors for text in texts_of(anchor.value)]
        self.decimal = sheet.policy.decimal or (
            decimal_shown([*texts_of(sheet.claims), *texts]) if texts else sheet.decimal
        )

    def marking(self, explain: bool) -> Marking | None:
        """The marking of its own claims and of the first claim in prose of every other entry.

        None where no claim can be used.
        """
        exercise = exercise_of(self.sheet)
        evaluation = exercise.evaluate(self.sheet)
        if self.sheet.arrays:
            if self.anchors:
                raise ReadError("claims: an array of a program is claimed; write none in the text")
            marking = mark_arrays(self.sheet.title, evaluation, self.sheet.arrays, explain)
            self.once = marking.steps
            return marking
        lines: list[Line] = []
        before = len(self.problems or ())
        claims = self._own_claims(evaluation, lines)
        lines = [self._placed(line) for line in lines]
        again: list[tuple[str, Place, Written]] = []
        for anchor in self.anchors:
            try:
                if self._names_nothing(anchor, evaluation):
                    lines.append(self._calculation(anchor))
                    continue
                letter, places, claimed, line = self._in_prose(anchor, evaluation)
            except SymattnError as error:
                self._refuse(anchor.start, error)
                continue
            lines += line
            matrix = claims.setdefault(letter, claimed)
            for place, number in places.items():
                written = claimed[place]
                self.claimed.append((anchor.part(number), letter, place, written))
                if matrix[place] is None:
                    matrix[place] = written
                elif matrix is not claimed:
                    again.append((letter, place, written))
        if not claims and not lines and len(self.problems or ()) > before:
            return None
        self.marker = Marker(evaluation, claims, self.sheet.policy)
        marking = mark_claims(self.sheet.title, exercise, self.marker, explain, lines)
        self.once = marking.steps
        return replace(marking, steps=tuple(self._with_others(self.once, again)))

    def _own_claims(self, evaluation: Evaluation, lines: list[Line]) -> dict[str, Array]:
        """The claims of its table; in a page, those that can be read."""
        table = self.sheet.claims
        try:
            return read_claims(table, evaluation, self.origins, lines, self.decimal)
        except Undecided:
            raise
        except SymattnError:
            if self.problems is None:
                raise
        good: dict[str, object] = {}
        for key, value in table.items():
            # one by one; of a large table what only two together show to be wrong stays unfound
            before = good if len(table) <= _FEW else {}
            try:
                read_claims({**before, key: value}, evaluation, None, None, self.decimal)
                good[key] = value
            except Undecided:
                raise
            except SymattnError as error:
                self.refuse_key(key, str(error))
        self.origins.clear()
        lines.clear()
        return read_claims(good, evaluation, self.origins, lines, self.decimal)

    def refuse_key(self, key: str, reason: str) -> None:
        """A claim of its table that cannot be used, as a problem of the page."""
        start = self._stands(key)
        if self.block.file:
            place = place_of_fault(self.sheet.name, self.sheet.text, reason)
        else:
            place = _placed(self.name, self.text, start)
        self._refuse(start, ReadError(f"{place}: {reason}"))

    def _stands(self, key: str) -> int:
        """Where a claim of its table stands in the file, as well as that is known."""
        spans = () if self.block.file else self.spans.get(key, ())
        return self.block.place(spans[0].start) if spans else self.block.start

    def _refuse(self, start: int, error: SymattnError) -> None:
        """A claim that cannot be used, as a problem of the page."""
        if self.problems is None:
            raise error
        self.problems.append((start, str(error)))

    def _with_others(
        self, steps: Sequence[StepMark], again: Sequence[tuple[str, Place, Written]]
    ) -> Iterator[StepMark]:
        """The steps' marks with those of the numbers that claim an entry once more."""
        for step in steps:
            more = tuple(self.marker.judge(*one) for one in again if one[0] == step.letter)
            yield replace(step, entries=(*step.entries, *more)) if more else step

    @cached_property
    def spans(self) -> Mapping[str, list[Scalar]]:
        """Where the numbers of its own claims stand in its text."""
        return Places.of(self.block.text).of_table("claims")

    def _placed(self, line: Line) -> Line:
        """A line of its own claims, with where it begins in the file."""
        key, number = self.origins[line.letter, line.place]
        if self.block.file or key in self.sheet.elsewhere:
            return replace(line, where=place_of(self.text, self._stands(key)))
        start = self.block.place(self.spans[key][number].start)
        return replace(line, where=place_of(self.text, start))

    def _names_nothing(self, anchor: Anchor, evaluation: Evaluation) -> bool:
        """Whether a claim is a calculation of its own: it names no entry, or one by other letters.

        What stands behind such letters has to be more than one number.
        """
        if not anchor.key:
            return True
        if "[" in anchor.key or not anchor.line:
            return False
        # steps that this attention lacks have Latin letters to be told of; a Greek one may be any
        letters = {
            name: letter
            for name, letter in SYMBOLS.items()
            if name in evaluation or len(letter) == 1
        }
        return not is_known_letter(anchor.key, letters, self.sheet.notation)

    def _calculation(self, anchor: Anchor) -> Line:
        """The line of a claim that names no entry."""
        line, column = place_of(self.text, anchor.begins)
        with located(f"{self.name}:{line}:{column}"):
            _, sides = read_line(anchor.line.strip(), anchor.key or "claim", self.decimal)
        return Line("", (), sides, (line, column))

    def _in_prose(
        self, anchor: Anchor, evaluation: Evaluation
    ) -> tuple[str, dict[Place, int], Array, list[Line]]:
        """The step that a claim in prose means, and its numbers.

        Which of them is which entry, the step's claims with these alone, and their worked lines.
        """
        origins: Origins = {}
        lines: list[Line] = []
        begins = place_of(self.text, anchor.begins if anchor.line else anchor.start)
        with located(":".join(map(str, (self.name, *begins)))):
            claimed = {anchor.key: anchor.value}
            claims = read_claims(claimed, evaluation, origins, lines, self.decimal)
            if not origins:
                raise ReadError(f"{anchor.key}: claims no number; write e.g. weights[1,2] = 0.47")
        (letter,) = claims
        places = {place: number for (_, place), (_, number) in origins.items()}
        return letter, places, claims[letter], [replace(line, where=begins) for line in lines]

    def findings(self, marking: Marking) -> Iterator[Finding]:
        """Every claimed number where it stands in the file."""
        marks = {mark.letter: mark for mark in self.once}
        for mark in self.once:
            for entry in mark.entries:
                if self.sheet.arrays:
                    start, text = self._stands(mark.name), str(entry.claimed)
                    yield self._finding(marking, mark, entry, start, text)
                    continue
                origin = self.origins.get((mark.letter, entry.place))
                if origin is None:
                    continue
                key, number = origin
                if self.block.file or key in self.sheet.elsewhere:
                    start, text = self._stands(key), str(entry.claimed)
                    yield self._finding(marking, mark, entry, start, text)
                    continue
                span = self.spans[key][number]
                text, offset = last_side(span.text)
                start = self.block.place(span.start + offset)
                yield self._finding(marking, mark, entry, start, text, span.text)
        for anchor, letter, place, written in self.claimed:
            mark = marks[letter]
            entry = self.marker.judge(letter, place, written)
            text, whole = anchor.number, anchor.claimed
            yield self._finding(marking, mark, entry, anchor.start, text, whole)

    def _finding(
        self,
        marking: Marking,
        mark: StepMark,
        entry: EntryMark,
        start: int,
        text: str,
        claim: str = "",
    ) -> Finding:
        """The mark of the number `text`, which ends the claim `claim`, and where it stands."""
        line, column = place_of(self.text, start)
        passes = marking.passes(entry)
        end, correction = None, None
        if self.text.startswith(text, start):  # and is not spelled with escapes
            end = column + len(text)
            if not passes:
                accepted = marking.policy.rounding
                correction = correction_of(marking.evaluation, mark.letter, entry, text, accepted)
        if correction and not self._holds(marking, entry, claim, text, correction):
            correction = None
        return Finding(
            line,
            column,
            end,
            str(entry),
            text,
            true_text(marking, mark, entry),
            entry.verdict,
            passes,
            start,
            correction,
        )

    def _holds(
        self, marking: Marking, entry: EntryMark, claim: str, number: str, correction: str
    ) -> bool:
        """Whether a worked line holds, among the true numbers, with its last number put right."""
        if not is_line(claim):
            return True
        start = claim.rindex(number)
        corrected = claim[:start] + correction + claim[start + len(number) :]
        lines: list[Line] = []
        read_claims({str(entry): corrected}, marking.evaluation, None, lines, self.decimal)
        return all(map(marking.passes, check_lines(lines, marking.evaluation, {})))
