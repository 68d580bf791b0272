"""Workflow annotations: wrong numbers as GitHub shows them beside the lines of a change.

A line ``::error file=…,line=…,col=…,endColumn=…,title=…::message``; what is escaped is in
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands and in
``escapeData`` and ``escapeProperty`` of @actions/core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from symattn.errors import counted
from symattn.printable import printable
from symattn.worksheet.reports.overview import FileReport, Overview, Placed
from symattn.worksheet.reports.report import PHRASES

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}

#: The file, line and column that a problem begins with; the file may be one that is not known.
_PLACE = re.compile(
    r"(?P<file>[^\n]+?)(?::(?P<line>[0-9]+))?(?::(?P<col>[0-9]+))?: (?P<told>.*)\Z", re.S
)
_BEHIND = re.compile(r"(?::(?P<line>[0-9]+))?(?::(?P<col>[0-9]+))?: (?P<told>.*)\Z", re.S)


def github_annotations(found: Overview) -> str:
    """An error for each number that is not accepted, a warning for each file that cannot be used.

    Undecided numbers are warnings. What is accepted without being right is a notice for each file.
    Then a line with the totals.
    """
    lines = [line for one in found.files for line in _of_file(one)]
    names = sorted({*found.names, *(one.name for one in found.files)}, key=len, reverse=True)
    lines += [_problem(problem, "could not be used", names) for problem in found.unused]
    lines += [_problem(problem, "not finished", names) for problem in found.unfinished]
    return "\n".join([*lines, found.conclusion]) + "\n"


def _of_file(one: FileReport) -> Iterator[str]:
    reasons = [reason for report in one.reports for reason in report.reasons[:1]]
    for index, placed in enumerate(one.failing):
        kind = "warning" if placed.verdict == "undecided" else "error"
        told = placed.told
        if index == 0 and reasons:
            told += f"\nConsistent with {reasons[0].name}: {reasons[0].done}"
        yield _command(kind, _at(one, placed), f"{placed.entry}: {PHRASES[placed.verdict]}", told)
    for sign in one.false_lines:
        kind = "warning" if sign.verdict == "undecided" else "error"
        at = {"file": one.name} if one.name != "<stdin>" else {}
        if at and sign.line:
            at |= {"line": str(sign.line), "col": str(sign.column)}
        yield _command(kind, at, f"{sign.entry}: worked line".removeprefix(": "), sign.told)
    passing = [each for each in one.placed if each.passes and each.verdict != "right"]
    if passing:
        told = "\n".join(each.told for each in passing[:8])
        if len(passing) > 8:
            told += f"\nand {len(passing) - 8} more"
        title = f"{counted(len(passing), 'number')} accepted though not correctly rounded"
        yield _command("notice", _at(one, passing[0]), title, told)


def _at(one: FileReport, placed: Placed) -> dict[str, str]:
    if one.name == "<stdin>":
        return {}
    at = {"file": one.name, "line": str(placed.line), "col": str(placed.column)}
    return at | ({"endColumn": str(placed.end)} if placed.end is not None else {})


def _problem(problem: str, title: str, names: Sequence[str]) -> str:
    """A warning where the problem is: in the file of these names that it begins with, the longest.

    A name may hold a colon, and is printable in the problem.
    """
    for name in names:
        shown = printable(name)
        match = _BEHIND.match(problem, len(shown)) if problem.startswith(shown) else None
        if match is not None:
            break
    else:
        match = _PLACE.match(problem)
        name = match["file"] if match is not None else "<stdin>"
    if match is None or name == "<stdin>":
        return _command("warning", {}, title, problem)
    at = {key: match[key] for key in ("line", "col") if match[key]}
    return _command("warning", {"file": name} | at, title, match["told"])


def _command(kind: str, at: dict[str, str], title: str, message: str) -> str:
    """A workflow command.

    >>> _command("error", {"file": "a,b.md", "line": "3"}, "scores[1,2]: wrong", "50%")
    '::error file=a%2Cb.md,line=3,title=scores[1%2C2]%3A wrong::50%25'
    """
    told = ",".join(
        f"{key}={_escaped(value, _PROPERTY)}" for key, value in {**at, "title": title}.items()
    )
    return f"::{kind} {told}::{_escaped(message, _DATA)}"


def _escaped(words: str, signs: dict[str, str]) -> str:
    """The words with these signs escaped; GitHub has no escape for others that do not print."""
    pieces = re.split(f"([{''.join(signs)}])", words)
    return "".join(signs.get(piece) or printable(piece) for piece in pieces)
