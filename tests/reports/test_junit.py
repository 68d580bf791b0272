"""JUnit XML: of the form that pytest writes, with the counts, the times and the places right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

from symattn.reports.junit import junit_xml
from symattn.reports.overview import CheckedFile, Overview
from symattn.reports.results import Finding
from symattn.reports.single import report_of
from tests.checking import check, toml
from tests.command import run

pytest_plugins = ["pytester"]

GIVEN = {"scores": [[0, 0, 0], [1, 2, 3]], "V": [[1], [2], [3]]}
SHEET = toml(GIVEN, {"weights[1,1]": "0.43", "scores[1,2]": "1·0 + 2·4 = 9", "output[2,1]": "2.58"})
PAGE = f"""```symattn
{toml(GIVEN, {})}```
{{claim}}`weights[1,1] = 0.4` {{claim}}`weights[1,2] = 0.5` {{claim}}`1 + 1 = 3`
{{claim}}`weights[1,9] = 1` {{claim}}`weights[1,8] = 1`

```symattn
{toml(GIVEN, {"weights[1,1]": "0.33"})}```
"""

#: Tests with every outcome, for pytest to write.
OUTCOMES = """
import pytest

@pytest.fixture
def broken():
    raise ValueError("no")

def test_right(): pass
def test_wrong(): assert False
def test_error(broken): pass
def test_skipped(): pytest.skip("why")
"""


def checked(*words: object) -> Result:
    return run("check", "--format", "junit", *words)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = {"a.toml": SHEET, "b.md": PAGE, "broken.toml": "[given\n", "empty.md": ""}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def forms(root: ElementTree.Element) -> Iterator[tuple[str, str, set[str]]]:
    """The name of each element inside, that of the one around it, and its attributes."""
    for parent in root.iter():
        for element in parent:
            yield parent.tag, element.tag, {*element.attrib}


def test_elements_and_attributes_are_those_of_pytest(
    folder: Path, pytester: pytest.Pytester
) -> None:
    ours = [*forms(ElementTree.fromstring(checked(folder).stdout))]
    pytester.makepyfile(OUTCOMES)
    pytester.runpytest_inprocess("-n0", "--junitxml=x.xml", "-o", "junit_family=xunit1")
    known: dict[tuple[str, str], set[str]] = {}
    for parent, tag, attributes in forms(ElementTree.parse(pytester.path / "x.xml").getroot()):
        known.setdefault((parent, tag), set()).update(attributes)
    required = {"testsuite": {"name", "tests", "failures", "errors", "skipped", "time"}}
    outcomes = {"type", "message"}
    for parent, tag, attributes in ours:
        assert attributes <= known[parent, tag] | (outcomes if parent == "testcase" else set())
        assert attributes >= required.get(tag, set())
    assert {(parent, tag) for parent, tag, _ in ours} == {*known} - {("testsuites", "properties")}


def test_a_suite_for_each_file_and_a_case_for_each_step(folder: Path) -> None:
    result = checked(".")
    assert result.exit_code == 2
    root = ElementTree.fromstring(result.stdout)
    outcomes = {
        suite.attrib["name"]: [
            (case.attrib["name"], case[0].tag if len(case) else "") for case in suite
        ]
        for suite in root
    }
    assert outcomes == {
        "a.toml": [("scores", "failure"), ("weights", "failure"), ("output", "")],
        "b.md": [
            ("worksheet 1: weights", "failure"),
            ("worksheet 1: worked lines", "failure"),
            ("worksheet 2: weights", ""),
            ("could not be used, 1", "error"),
            ("could not be used, 2", "error"),
        ],
        "broken.toml": [("could not be used, 1", "error")],
        "empty.md": [("claims", "skipped")],
    }
    for suite in root:
        cases = [(case.attrib["classname"], case.attrib["name"]) for case in suite]
        assert len({*cases}) == len(cases)
        assert {case.attrib["file"] for case in suite} == {suite.attrib["name"]}
        spent = sum(float(case.attrib["time"]) for case in suite)
        assert spent == pytest.approx(float(suite.attrib["time"]), abs=0.001)
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.attrib[count]) == sum(1 for _ in suite.iter(tag))
        assert int(suite.attrib["tests"]) == len(suite)
    for count in ("tests", "failures", "errors"):
        assert int(root.attrib[count]) == sum(int(suite.attrib[count]) for suite in root)
    spent = sum(float(suite.attrib["time"]) for suite in root)
    assert spent > 0 and spent == pytest.approx(float(root.attrib["time"]), abs=0.001)
    scores, *_ = root.iter("failure")
    assert scores.attrib["type"] == "wrong"
    assert scores.attrib["message"].endswith("; and 1 more")
    row = next(k for k, line in enumerate(SHEET.splitlines(), 1) if "9" in line)
    assert scores.text is not None
    assert [line.split(":")[:2] for line in scores.text.splitlines()] == [["a.toml", str(row)]] * 2


def test_what_was_not_finished_is_an_error_and_nothing_at_all_is_no_suite() -> None:
    root = ElementTree.fromstring(junit_xml(Overview((), unfinished=("a.md: too slow",))))
    assert [error.attrib["type"] for error in root.iter("error")] == ["not finished"]
    assert len(ElementTree.fromstring(junit_xml(Overview(())))) == 0


def test_standard_input_is_no_file() -> None:
    result = run("check", "-", "--format", "junit", given=SHEET)
    cases = [*ElementTree.fromstring(result.stdout).iter("testcase")]
    assert len(cases) == 3 and not any("file" in case.attrib for case in cases)


def test_every_character_is_allowed_in_xml() -> None:
    report = report_of(check(GIVEN, {"weights[1,1]": "0.43"}))
    odd = [
        *range(0xA0),
        *range(0x2000, 0x2070),
        *range(0xD800, 0xE000, 97),
        0xFEFF,
        *range(0xFFF0, 0x10000),
        0x1FFFF,
    ]
    hostile = "".join(map(chr, odd)) + "]]> ##[error]\n::error::x"
    found = Finding(1, 2, None, f"weights[{hostile}", hostile, "1", "wrong", passes=False)
    page = junit_xml(
        Overview(
            (
                CheckedFile(
                    hostile, reports=(report,), findings=(found,), problems=(f"{hostile}: no",)
                ),
            ),
            (hostile,),
            skipped=(hostile,),
        )
    )
    root = ElementTree.fromstring(page.encode("utf-8"))
    assert len([*root.iter("testcase")]) == 4
    assert "##[" not in page and not any(line.startswith("::") for line in page.splitlines())
