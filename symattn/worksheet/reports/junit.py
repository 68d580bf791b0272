"""JUnit XML: what was marked as tests, for servers that show these (GitLab, Jenkins, Azure).

A test suite for each file and a test case for each claimed step of a worksheet. Elements and
attributes are those that pytest writes (``junit_family = xunit1``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from symattn.printable import as_line
from symattn.worksheet.reports.overview import FileReport, Overview, Problem
from symattn.worksheet.reports.results import Finding
from symattn.worksheet.reports.single import LineReport, Report


@dataclass(frozen=True)
class _Case:
    """A test case: its name, its line in the file or 0, and, unless it passes, why not."""

    name: str
    line: int = 0
    outcome: Literal["passed", "failure", "error", "skipped"] = "passed"
    #: The verdict, or another kind of reason.
    kind: str = ""
    message: str = ""
    #: All that is said of it, line by line.
    body: Sequence[str] = ()


@dataclass(frozen=True)
class _Suite:
    """A file's test cases, and how many seconds they took together."""

    name: str
    cases: Sequence[_Case]
    seconds: float = 0.0

    def count(self, outcome: str) -> int:
        """How many cases have this outcome."""
        return sum(case.outcome == outcome for case in self.cases)


def junit_xml(overview: Overview) -> str:
    """The overview as JUnit XML; a file is marked as a whole, its cases share the time equally."""
    suites = [
        *(_of_file(file, overview.taken_apart(file.problems)) for file in overview.files),
        *_unmarked(overview.taken_apart(overview.problems), "could not be used"),
        *_unmarked(overview.taken_apart(overview.unfinished), "not finished"),
        *(
            _Suite(name, (_Case("claims", 0, "skipped", "", "no claims"),))
            for name in overview.skipped
        ),
    ]
    root = ElementTree.Element("testsuites", {"name": "symattn check", **_totals(suites)})
    for suite in suites:
        root.append(_suite(suite))
    ElementTree.indent(root)
    written = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'


def _totals(suites: Sequence[_Suite]) -> dict[str, str]:
    """The attributes that count; seconds have three decimals, as the schema of Jenkins asks."""
    return {
        "tests": str(sum(len(suite.cases) for suite in suites)),
        "failures": str(sum(suite.count("failure") for suite in suites)),
        "errors": str(sum(suite.count("error") for suite in suites)),
        "time": f"{sum(round(suite.seconds, 3) for suite in suites):.3f}",
    }


def _suite(suite: _Suite) -> ElementTree.Element:
    name = as_line(suite.name)
    skipped = str(suite.count("skipped"))
    element = ElementTree.Element(
        "testsuite", {"name": name, **_totals([suite]), "skipped": skipped}
    )
    for case in suite.cases:
        time = f"{suite.seconds / len(suite.cases):.6f}"
        attributes = {"classname": name, "name": as_line(case.name)}
        if suite.name != "<stdin>":
            attributes["file"] = name
        if case.line:
            attributes["line"] = str(case.line)
        test = ElementTree.SubElement(element, "testcase", {**attributes, "time": time})
        if case.outcome == "passed":
            continue
        why = {"type": case.kind} if case.kind else {}
        why["message"] = as_line(case.message)
        outcome = ElementTree.SubElement(test, case.outcome, why)
        outcome.text = "\n".join(map(as_line, case.body))
    return element


def _of_file(file: FileReport, problems: Sequence[Problem]) -> _Suite:
    cases = [
        case
        for number, report in enumerate(file.reports)
        for case in _of_worksheet(file, number, report)
    ]
    cases += _not_used(problems, "could not be used")
    return _Suite(file.name, cases, file.seconds)


def _of_worksheet(file: FileReport, number: int, report: Report) -> Iterator[_Case]:
    """A case for each claimed step; one for the worked lines of what is no step."""
    before = f"worksheet {number + 1}: " if len(file.reports) > 1 else ""
    known = {step.name for step in report.steps}
    others = {sign.step for sign in report.lines} - known
    for name in (*(step.name for step in report.steps), *sorted(others)):
        claimed: list[Finding | LineReport] = [
            each
            for each in file.findings
            if each.worksheet == number and each.entry.partition("[")[0] == name
        ]
        claimed += [sign for sign in report.lines if sign.step == name]
        failing = [each for each in claimed if not each.passes]
        title = before + (name or "worked lines")
        line = min((each.line for each in claimed if each.line), default=0)
        if not failing:
            yield _Case(title, line)
            continue
        more = f"; and {len(failing) - 1} more" if len(failing) > 1 else ""
        message = failing[0].message + more
        body = [*map(file.located, failing)]
        yield _Case(title, line, "failure", failing[0].verdict, message, body)


def _unmarked(problems: Sequence[Problem], reason: str) -> Iterator[_Suite]:
    """A suite for each file that has no marks, with its problems."""
    for name in dict.fromkeys(problem.file for problem in problems):
        own = [problem for problem in problems if problem.file == name]
        yield _Suite(name or "symattn check", [*_not_used(own, reason)])


def _not_used(problems: Sequence[Problem], reason: str) -> Iterator[_Case]:
    for number, problem in enumerate(problems, 1):
        name = f"{reason}, {number}"
        yield _Case(name, problem.line, "error", reason, problem.message, (problem.text,))
