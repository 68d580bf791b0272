"""JUnit XML: what was marked as tests, for servers that show these (GitLab, Jenkins, Azure).

A test suite for each file and a test case for each claimed step of a worksheet. Elements and
attributes are those that pytest writes (``junit_family = xunit1``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, indent, tostring

from symattn.printable import as_line
from symattn.reports.overview import CheckedFile, Overview, Problem
from symattn.reports.results import Finding
from symattn.reports.single import Report


def junit_xml(overview: Overview) -> str:
    """The overview as JUnit XML; a file is marked as a whole, its cases share the time equally."""
    suites = [
        *(_of_file(file, overview.taken_apart(file.problems)) for file in overview.files),
        *_unmarked(overview.taken_apart(overview.problems), "could not be used"),
        *_unmarked(overview.taken_apart(overview.unfinished), "not finished"),
        *(
            _suite(name, [_case(name, "claims", why=_why("skipped", "", "no claims"))])
            for name in overview.skipped
        ),
    ]
    root = Element("testsuites", name="symattn check")
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.attrib[key]) for suite in suites)))
    root.set("time", f"{sum(float(suite.attrib['time']) for suite in suites):.3f}")
    root.extend(suites)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _suite(name: str, cases: Sequence[Element], seconds: float = 0.0) -> Element:
    """A file's test cases, which took so many seconds together.

    Seconds of a suite have three decimals, as the schema of Jenkins asks.
    """
    outcomes = Counter(part.tag for case in cases for part in case)
    suite = Element("testsuite", name=as_line(name), tests=str(len(cases)))
    for key, outcome in (("failures", "failure"), ("errors", "error")):
        suite.set(key, str(outcomes[outcome]))
    suite.set("time", f"{seconds:.3f}")
    suite.set("skipped", str(outcomes["skipped"]))
    for case in cases:
        case.set("time", f"{seconds / len(cases):.6f}")
    suite.extend(cases)
    return suite


def _case(file: str, name: str, line: int = 0, why: Element | None = None) -> Element:
    """A test case, its line in the file or 0, and, unless it passes, why not."""
    case = Element("testcase", classname=as_line(file), name=as_line(name))
    if file != "<stdin>":
        case.set("file", as_line(file))
    if line:
        case.set("line", str(line))
    if why is not None:
        case.append(why)
    return case


def _why(outcome: str, kind: str, message: str, body: Sequence[str] = ()) -> Element:
    """Why a case does not pass: the verdict, or another kind of reason, and all that is said."""
    found = Element(outcome, {"type": kind} if kind else {}, message=as_line(message))
    found.text = "\n".join(map(as_line, body))
    return found


def _of_file(file: CheckedFile, problems: Sequence[Problem]) -> Element:
    cases = [
        case
        for number, report in enumerate(file.reports)
        for case in _of_worksheet(file, number, report)
    ]
    cases += _not_used(file.name, problems, "could not be used")
    return _suite(file.name, cases, file.seconds)


def _of_worksheet(file: CheckedFile, number: int, report: Report) -> Iterator[Element]:
    """A case for each claimed step; one for the worked lines of what is no step."""
    before = f"worksheet {number + 1}: " if len(file.reports) > 1 else ""
    known = {step.name for step in report.steps}
    others = {sign.step for sign in report.lines} - known
    for name in (*(step.name for step in report.steps), *sorted(others)):
        claimed: list[Finding] = [
            each for each in file.findings if each.worksheet == number and each.step == name
        ]
        claimed += [sign for sign in report.lines if sign.step == name]
        failing = [each for each in claimed if not each.passes]
        title = before + (name or "worked lines")
        line = min((each.line for each in claimed if each.line), default=0)
        if not failing:
            yield _case(file.name, title, line)
            continue
        more = f"; and {len(failing) - 1} more" if len(failing) > 1 else ""
        message = failing[0].message + more
        body = [*map(file.located, failing)]
        yield _case(file.name, title, line, _why("failure", failing[0].verdict, message, body))


def _unmarked(problems: Sequence[Problem], reason: str) -> Iterator[Element]:
    """A suite for each file that has no marks, with its problems."""
    for name in dict.fromkeys(problem.file for problem in problems):
        own = [problem for problem in problems if problem.file == name]
        suite = name or "symattn check"
        yield _suite(suite, [*_not_used(suite, own, reason)])


def _not_used(file: str, problems: Sequence[Problem], reason: str) -> Iterator[Element]:
    for number, problem in enumerate(problems, 1):
        name = f"{reason}, {number}"
        why = _why("error", reason, problem.message, (problem.text,))
        yield _case(file, name, problem.line, why)
