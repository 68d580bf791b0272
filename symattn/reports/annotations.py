"""Workflow annotations: wrong numbers as GitHub shows them beside the lines of a change.

A line ``::error file=…,line=…,col=…,endColumn=…,title=…::message``; what is escaped is in
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands and in
``escapeData`` and ``escapeProperty`` of @actions/core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.errors import counted
from symattn.printable import printable
from symattn.reports.overview import CheckedFile, Overview, Problem
from symattn.reports.results import Finding
from symattn.reports.wording import BOUNDS, WORDING

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def github_annotations(overview: Overview) -> str:
    """An error for each number that is not accepted, a warning for each file that cannot be used.

    Undecided numbers are warnings. What is accepted without being right is a notice for each file.
    Then a line with the totals.
    """
    lines = [line for file in overview.files for line in _of_file(file)]
    for title, problems in (
        ("could not be used", overview.unused),
        ("not finished", overview.unfinished),
    ):
        lines += [_problem(problem, title) for problem in overview.taken_apart(problems)]
    return "\n".join([*lines, overview.conclusion]) + "\n"


def _of_file(file: CheckedFile) -> Iterator[str]:
    reasons = [reason for report in file.reports for reason in report.reasons[:1]]
    for index, finding in enumerate(file.failing):
        message = finding.message
        if index == 0 and reasons:
            message += f"\nConsistent with {reasons[0].name}: {reasons[0].done}"
        title = f"{finding.entry}: {WORDING[finding.verdict].phrase}"
        yield _command(_kind(finding.verdict), _position(file, finding), title, message)
    for sign in file.signs:
        position = {"file": file.name} if file.name != "<stdin>" else {}
        if position and sign.line:
            position |= {"line": str(sign.line), "col": str(sign.column)}
        title = f"{sign.entry}: worked line".removeprefix(": ")
        yield _command(_kind(sign.verdict), position, title, sign.message)
    accepted = [each for each in file.findings if each.passes and each.verdict != "right"]
    if accepted:
        message = "\n".join(each.message for each in accepted[: BOUNDS.listed])
        if len(accepted) > BOUNDS.listed:
            message += f"\nand {len(accepted) - BOUNDS.listed} more"
        title = f"{counted(len(accepted), 'number')} accepted though not correctly rounded"
        yield _command("notice", _position(file, accepted[0]), title, message)


def _kind(verdict: str) -> str:
    """What GitHub shows what does not pass as."""
    return "warning" if verdict == "undecided" else "error"


def _position(file: CheckedFile, finding: Finding) -> dict[str, str]:
    """Where a number stands; nowhere in what was read from standard input."""
    if file.name == "<stdin>":
        return {}
    position = {"file": file.name, "line": str(finding.line), "col": str(finding.column)}
    return position | ({"endColumn": str(finding.end)} if finding.end is not None else {})


def _problem(problem: Problem, title: str) -> str:
    """A warning at the place that a problem names."""
    if problem.file in ("", "<stdin>"):
        return _command("warning", {}, title, problem.text)
    numbers = {"line": problem.line, "col": problem.column}
    position = {key: str(number) for key, number in numbers.items() if number}
    return _command("warning", {"file": problem.file} | position, title, problem.message)


def _command(kind: str, position: dict[str, str], title: str, message: str) -> str:
    """A workflow command.

    >>> _command("error", {"file": "a,b.md", "line": "3"}, "scores[1,2]: wrong", "50%")
    '::error file=a%2Cb.md,line=3,title=scores[1%2C2]%3A wrong::50%25'
    """
    properties = {**position, "title": title}.items()
    listed = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties)
    return f"::{kind} {listed}::{_escaped(message, _DATA)}"


def _escaped(words: str, signs: dict[str, str]) -> str:
    """The words with these signs escaped; GitHub has no escape for others that do not print."""
    pieces = re.split(f"([{''.join(signs)}])", words)
    return "".join(signs.get(piece) or printable(piece) for piece in pieces)
