"""Checking files: worksheets, and pages with worksheets and claims in the middle of prose.

Every wrong number is reported where it stands, and can be put right in place, at its own digits,
with every other byte of the file as it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from symattn.arithmetic.spelling import decimal_shown
from symattn.attention.vocabulary import SYMBOLS
from symattn.claims.claims import arrays_of, read_claim, read_claims
from symattn.claims.labels import texts_of
from symattn.claims.lines import Claim, read_line
from symattn.claims.references import is_known_letter
from symattn.derivations import Evaluation, Place
from symattn.errors import ReadError, SymattnError, Undecided, counted, located
from symattn.files.named import (
    LIMITS,
    Site,
    named_file,
    read_text,
    reason,
    site_file,
    why_not_searched,
)
from symattn.files.toml import Places, Token, parse, place_of_fault
from symattn.language import is_equations_file
from symattn.marking.correction import correction_of
from symattn.marking.lines import check_lines
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.pages.syntax import claim_of
from symattn.pages.syntaxes import SYNTAXES, Anchor, Block, Flaw, Found, place_of
from symattn.reports.check import exercise_of, mark_arrays, mark_claims
from symattn.reports.overview import CheckedFile
from symattn.reports.results import Finding, Marking
from symattn.sheets.worksheet import (
    Worksheet,
    check_tables,
    equations_of,
    with_arrays,
    worksheet_of,
)

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
    most = LIMITS.notebook if Path(name).suffix.lower() == ".ipynb" else LIMITS.bytes
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
        if len(self) > LIMITS.problems:
            raise _TooMany(
                f"{min(self)[1]}; this page has more than {LIMITS.problems} such mistakes"
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
    marked: list[tuple[Worksheet, Marking, list[Finding]]] = []
    read: list[Worksheet] = []
    problems = _Problems()
    for block, anchors in _grouped(name, text, found, problems):
        refused: dict[str, str] | None = None if alone else {}
        try:
            sheet = sheet_of_block(name, text, block, site, refused)
            sheet = with_arrays(sheet, claimed) if claimed else sheet
            read.append(sheet)
            decimal = _decimal_of(sheet, anchors)
            own = _Sheet(name, text, block, sheet, decimal, None if alone else problems)
            if one := own.marked(anchors, explain, refused or {}):
                marked.append((sheet, *one))
        except (Undecided, _TooMany):
            raise
        except SymattnError as error:
            if alone:
                raise
            left = _left(len(anchors)) if anchors else ""
            problems.append((block.start, f"{error}{left}"))
    lines = tuple(lines for _, lines in sorted(problems))
    if len(lines) == 1 and not marked:
        raise ReadError(lines[0])
    findings = [
        replace(each, worksheet=number) for number, one in enumerate(marked) for each in one[2]
    ]
    markings = tuple(marking for _, marking, _ in marked)
    signs = (marking.sign(link) for marking in markings for link in marking.lines)
    names = [file for file in (name, *(sheet.name for sheet in read)) if file != "<stdin>"]
    numbers = [path for sheet in read for path in sheet.files]
    return CheckedFile(
        name,
        text,
        not alone,
        markings,
        tuple(sheet for sheet, _, _ in marked),
        tuple(sorted(findings, key=lambda finding: finding.start)),
        tuple(sign for sign in signs if not sign.passes),
        lines,
        tuple(dict.fromkeys([*(Path(file).resolve() for file in names), *numbers])),
    )


def _left(count: int) -> str:
    """How many claims go with a worksheet that cannot be used."""
    return f"; {counted(count, 'claim')} after it {'is' if count == 1 else 'are'} not marked"


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


def _decimal_of(sheet: Worksheet, anchors: Sequence[Anchor]) -> str:
    """The decimal sign of a worksheet's claims and of those after it."""
    texts = [text for anchor in anchors for text in texts_of(anchor.value)]
    if sheet.policy.decimal or not texts:
        return sheet.policy.decimal or sheet.decimal
    return decimal_shown([*texts_of(sheet.claims), *texts])


@dataclass(frozen=True)
class _Sheet:
    """One worksheet of a file, with which the claims in it, and in the prose after it, are marked.

    Claims that cannot be used are added to the `problems`; without these, they are raised.
    """

    name: str
    text: str
    block: Block
    sheet: Worksheet
    decimal: str
    problems: list[Problem] | None = None

    def marked(
        self, anchors: Sequence[Anchor], explain: bool, refused: Mapping[str, str]
    ) -> tuple[Marking, list[Finding]] | None:
        """The marking of all claims, and every claimed number where it stands.

        None where no claim can be used. `refused` are claims of what is no step, with the reasons.
        """
        if not (self.sheet.claims or self.sheet.arrays or anchors or refused):
            return None
        for key, told in refused.items():
            self._refuse_key(key, told)
        with self.sheet.in_file():
            return self._marked(anchors, explain)

    def _marked(
        self, anchors: Sequence[Anchor], explain: bool
    ) -> tuple[Marking, list[Finding]] | None:
        exercise = exercise_of(self.sheet)
        evaluation = exercise.evaluate(self.sheet)
        if self.sheet.arrays:
            if anchors:
                raise ReadError("claims: an array of a program is claimed; write none in the text")
            marking = mark_arrays(self.sheet.title, evaluation, self.sheet.arrays, explain)
            return marking, [
                self._finding(marking, mark, entry, self._at_key(mark.name, str(entry.claimed)))
                for mark in marking.steps
                for entry in mark.entries
            ]
        before = len(self.problems or ())
        own = [*self._own(evaluation)]
        prose = [*self._in_prose(anchors, evaluation)]
        claims = [claim for claim, _ in (*own, *prose)]
        if not claims and len(self.problems or ()) > before:
            return None
        marker = Marker(evaluation, arrays_of(claims, evaluation), self.sheet.policy)
        marking = mark_claims(self.sheet.title, exercise, marker, explain, claims)
        return self._where(marking, marker, {claim.entry: anchor for claim, anchor in own}, prose)

    def _where(
        self,
        marking: Marking,
        marker: Marker,
        own: Mapping[tuple[str, Place], Anchor],
        prose: Sequence[tuple[Claim, Anchor]],
    ) -> tuple[Marking, list[Finding]]:
        """The marking with the numbers that claim an entry once more, and where each stands."""
        marks = {mark.letter: mark for mark in marking.steps}
        found = [
            (mark, entry, own[mark.letter, entry.place])
            for mark in marking.steps
            for entry in mark.entries
            if (mark.letter, entry.place) in own
        ]
        again: dict[str, list[EntryMark]] = {letter: [] for letter in marks}
        known = set(own)
        for claim, anchor in prose:
            if not claim.letter:
                continue
            entry = marker.judge(*claim.entry, claim.written)
            found.append((marks[claim.letter], entry, anchor))
            if claim.entry in known:
                again[claim.letter].append(entry)
            known.add(claim.entry)
        steps = (replace(x, entries=(*x.entries, *again[x.letter])) for x in marking.steps)
        marking = replace(marking, steps=tuple(steps))
        return marking, [self._finding(marking, *one) for one in found]

    # ---- the claims of its table ----

    def _own(self, evaluation: Evaluation) -> Iterator[tuple[Claim, Anchor]]:
        """The claims of its table; in a page, those that can be read."""
        before: set[tuple[str, Place]] = set()
        for key, value in self.sheet.claims.items():
            try:
                claims = read_claim(key, value, evaluation, self.decimal, before)
            except Undecided:
                raise
            except SymattnError as error:
                if self.problems is None:
                    raise
                self._refuse_key(key, str(error))
                continue
            before |= {claim.entry for claim in claims}
            for claim in claims:
                anchor = self._at_key(key, str(claim.written))
                if not self.block.file and key not in self.sheet.elsewhere:
                    text, start = self.spans[key][claim.number]
                    anchor = claim_of(key, text, start).moved(self.block.place)
                yield replace(claim, where=place_of(self.text, anchor.whole)), anchor

    def _refuse_key(self, key: str, reason: str) -> None:
        """A claim of its table that cannot be used, as a problem of the page."""
        start = self._at_key(key, "").start
        if self.block.file:
            place = place_of_fault(self.sheet.name, self.sheet.text, reason)
        else:
            place = _placed(self.name, self.text, start)
        self._refuse(start, ReadError(f"{place}: {reason}"))

    def _at_key(self, key: str, number: str) -> Anchor:
        """A number of its table, at the first one of its key as far as that is known."""
        spans = () if self.block.file else self.spans.get(key, ())
        return Anchor(key, number, self.block.place(spans[0].start) if spans else self.block.start)

    def _refuse(self, start: int, error: SymattnError) -> None:
        """A claim that cannot be used, as a problem of the page."""
        if self.problems is None:
            raise error
        self.problems.append((start, str(error)))

    @cached_property
    def spans(self) -> Mapping[str, list[Token]]:
        """Where the numbers of its own claims stand in its text."""
        return Places.of(self.block.text).of_table("claims")

    # ---- claims in prose ----

    def _in_prose(
        self, anchors: Sequence[Anchor], evaluation: Evaluation
    ) -> Iterator[tuple[Claim, Anchor]]:
        """The claims after it that can be read, number by number."""
        for anchor in anchors:
            where = place_of(self.text, anchor.whole)
            try:
                with located(":".join(map(str, (self.name, *where)))):
                    claims = self._of_anchor(anchor, evaluation)
            except SymattnError as error:
                self._refuse(anchor.start, error)
                continue
            for claim in claims:
                yield replace(claim, where=where), anchor.part(claim.number)

    def _of_anchor(self, anchor: Anchor, evaluation: Evaluation) -> tuple[Claim, ...]:
        """The numbers of a claim, or its calculation where it names no entry."""
        key = anchor.key
        if self._names_nothing(anchor, evaluation):
            read = read_line(anchor.line.strip(), key or "claim", self.decimal)
            return (Claim(key, 0, "", (), *read),)
        claims = read_claim(key, anchor.value, evaluation, self.decimal)
        if not claims:
            raise ReadError(f"{key}: claims no number; write e.g. weights[1,2] = 0.47")
        return claims

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

    # ---- where they stand ----

    def _finding(
        self, marking: Marking, mark: StepMark, entry: EntryMark, anchor: Anchor
    ) -> Finding:
        """The mark of a number, and what belongs in its place."""
        line, column = place_of(self.text, anchor.start)
        found = replace(
            marking.finding(mark, entry),
            line=line,
            column=column,
            start=anchor.start,
            written=anchor.number,
        )
        if not self.text.startswith(found.written, anchor.start):  # it is spelled with escapes
            return found
        found = replace(found, end=column + len(found.written))
        if found.passes:
            return found
        accepted = marking.policy.rounding
        correct = correction_of(marking.evaluation, mark.letter, entry, found.written, accepted)
        holds = correct and self._holds(marking, entry, anchor, correct)
        return replace(found, correction=correct) if holds else found

    def _holds(self, marking: Marking, entry: EntryMark, anchor: Anchor, correction: str) -> bool:
        """Whether a worked line holds, among the true numbers, with its last number put right."""
        if not anchor.line:
            return True
        before, _, behind = anchor.line.rpartition(anchor.number)
        claims = {str(entry): f"{before}{correction}{behind}"}
        lines = read_claims(claims, marking.evaluation, self.decimal)
        return all(map(marking.passes, check_lines(lines, marking.evaluation, {})))
