"""SARIF 2.1.0: numbers that are not right, as viewers and code scanning read results of analyses.

One run. A number that is not accepted and a sign of a worked line that does not hold are errors,
what is undecided is a warning, a number that is accepted without being right a note. What could not
be used is a notification of the run. The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from symattn.printable import as_line
from symattn.reports.overview import CheckedFile, Overview, Problem
from symattn.reports.results import Finding
from symattn.version import VERSION

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

#: The folder that the command ran in, to which names of files are relative.
_BASE = "%SRCROOT%"

_WORKED_LINE = "worked-line"

#: The rules: each verdict but "right", and the signs of worked lines; what is said of it, and how
#: it is mended.
_RULES = {
    "truncated": (
        "A claimed number is cut off",
        "The number is the true value cut off, where it would have been rounded up. Round it, or "
        "leave it: it is accepted unless the worksheet's policy says otherwise.",
    ),
    "rounded-early": (
        "A claimed number was rounded early",
        "The number follows from numbers that were rounded before they were used. Keep more "
        "digits, or leave it: it is accepted unless the worksheet's policy says otherwise.",
    ),
    "undecided": (
        "A claimed number is undecided",
        "The limit of precision was reached before it was decided whether the number is right. "
        "Claim fewer digits, or exact values.",
    ),
    "last-digit": (
        "A claimed number is off in the last digit",
        "The number differs from the true value by at most one unit of its last digit. Round the "
        "true value again.",
    ),
    "carried": (
        "A claimed number follows from a mistake",
        "The number follows correctly from numbers of which one is a mistake. Correct that one, "
        "then calculate this one again.",
    ),
    "wrong": (
        "A claimed number is wrong",
        "The number is not a rounding of the true value and does not follow from other claimed "
        "numbers. Calculate it again; the message has the true value.",
    ),
    _WORKED_LINE: (
        "A worked line does not hold",
        "The two sides of a sign = or ≈ are not equal, or the right side is not a rounding of the "
        "left side. Correct one of the sides.",
    ),
}


def sarif_log(overview: Overview) -> str:
    """The overview as a SARIF log, in ASCII."""
    results = [result for file in overview.files for result in _of_file(file)]
    notifications = [
        _notification(problem, level)
        for level, lines in (("error", overview.unused), ("warning", overview.unfinished))
        for problem in overview.taken_apart(lines)
    ]
    notifications += [
        _notification(Problem(f"{name}: no claims", "no claims", name), "note")
        for name in overview.skipped
    ]
    invocation = {
        "executionSuccessful": not (overview.unused or overview.unfinished),
        "exitCode": int(overview.status),
        "exitCodeDescription": overview.status.meaning,
        "toolExecutionNotifications": notifications,
    }
    driver = {
        "name": "symattn",
        "version": VERSION,
        "semanticVersion": VERSION,
        "rules": [_rule(verdict, *words) for verdict, words in _RULES.items()],
    }
    base = {"description": _message("The folder in which symattn was run.")}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: base},
        "invocations": [invocation],
        "artifacts": [
            {"location": _artifact(file.name), "roles": ["analysisTarget"]}
            for file in overview.files
            if file.name != "<stdin>"
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(verdict: str, phrase: str, help_text: str) -> dict[str, object]:
    level = "note" if verdict in ("truncated", "rounded-early") else _level(verdict, passes=False)
    return {
        "id": verdict,
        "name": verdict.title().replace("-", ""),
        "shortDescription": _message(f"{phrase}."),
        "fullDescription": _message(help_text),
        "help": _message(help_text),
        "defaultConfiguration": {"level": level},
    }


def _level(verdict: str, passes: bool) -> str:
    if passes:
        return "note"
    return "warning" if verdict == "undecided" else "error"


def _of_file(file: CheckedFile) -> Iterator[dict[str, object]]:
    """A result for each number that is not right, and each sign that does not hold."""
    reasons = [reason for report in file.reports for reason in report.reasons[:1]]
    seen: list[str] = []
    for finding in file.findings:
        if finding.verdict == "right":
            continue
        message = finding.message
        if reasons and not finding.passes:
            message += f"; consistent with {reasons[0].name}: {reasons[0].done}"
            reasons.clear()
        yield _result(file, finding, finding.verdict, message, seen)
    for sign in file.signs:
        yield _result(file, sign, _WORKED_LINE, sign.message, seen)


def _result(
    file: CheckedFile, one: Finding, rule: str, message: str, seen: list[str]
) -> dict[str, object]:
    """A result; `seen` are the identities of those before it in the file."""
    identity = f"{rule if rule == _WORKED_LINE else 'number'}\0{one.entry}"
    seen.append(identity)
    unique = f"{_uri(file.name)}\0{identity}\0{seen.count(identity)}"
    return {
        "ruleId": rule,
        "ruleIndex": [*_RULES].index(rule),
        "level": _level(one.verdict, one.passes),
        "message": _message(message),
        "locations": [_location(file.name, one)],
        "partialFingerprints": {
            "claim/v1": sha256(unique.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        },
    }


def _location(name: str, one: Finding) -> dict[str, object]:
    """Where it stands, and the entry that is meant; of standard input only the entry."""
    location: dict[str, object] = {}
    if name != "<stdin>":
        location["physicalLocation"] = _place(name, one.line, one.column, one.end)
    if one.entry:
        location["logicalLocations"] = [{"fullyQualifiedName": as_line(one.entry)}]
    return location


def _notification(problem: Problem, level: str) -> dict[str, object]:
    if problem.file in ("", "<stdin>"):
        return {"level": level, "message": _message(problem.text)}
    place = _place(problem.file, problem.line, problem.column)
    return {
        "level": level,
        "message": _message(problem.message),
        "locations": [{"physicalLocation": place}],
    }


def _place(name: str, line: int, column: int, end: int | None = None) -> dict[str, object]:
    """A physicalLocation; the whole file where the line is 0."""
    place: dict[str, object] = {"artifactLocation": _artifact(name)}
    numbers = {"startLine": line, "startColumn": column, "endColumn": end}
    if line:
        place["region"] = {key: number for key, number in numbers.items() if number}
    return place


def _artifact(name: str) -> dict[str, str]:
    uri = _uri(name)
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _BASE}


def _uri(name: str) -> str:
    """A file relative to the current folder; elsewhere as a whole ``file:`` URI.

    >>> _uri("docs/a b:50%.md")
    'docs/a%20b%3A50%25.md'
    """
    path, here = Path(name), Path.cwd()
    if path.is_absolute() or ".." in path.parts:
        path = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
        if not path.is_relative_to(here):
            return path.as_uri()
        path = path.relative_to(here)
    return quote(os.fsencode(path.as_posix()))


def _message(words: str) -> dict[str, str]:
    """A message of plain text, in which nothing is a link ``[text](1)``."""
    return {"text": re.sub(r"\[(?=[^\]]*\]\()", r"\\[", as_line(words))}
