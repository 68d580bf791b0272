"""SARIF: held against its published schema, and its places against the files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from symattn.claims.policy import VERDICTS
from symattn.reports.overview import CheckedFile, Overview
from symattn.reports.results import Finding
from symattn.reports.sarif import sarif_log
from symattn.reports.single import report_of
from tests.checking import check, toml
from tests.command import run
from tests.extras import package

#: As `@microsoft/jest-sarif` has it, for its own tests of logs.
SCHEMA = "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"

GIVEN = {"scores": [[0, 0, 0], [1, 2, 3]], "V": [[1], [2], [3]]}
COLUMNS = toml(
    {"scores": [[1, 2, 0], [0, 1, 3]]},
    {"weights": [["0.73", "0.73", "0.05"], ["0.27", "0.27", "0.95"]]},
)
PAGE = f"""# é 𝔸

```symattn
{toml(GIVEN, {"weights[2,:]": ["0.09", "0.24", "0.66"]})}```

𝔸 weight {{claim}}`weights[1,2] = 0.4`, {{claim}}`1 + 1 = 3` and {{claim}}`weights[1,9] = 1`.
"""


@pytest.fixture
def valid(node_file: Callable[[str], Path]) -> Callable[[str], Any]:
    """The only run of a log that agrees with the schema."""
    schema = json.loads(node_file(SCHEMA).read_text("utf-8"))
    validator = package("jsonschema").Draft4Validator(schema)

    def only_run(log: str) -> Any:
        assert log.isascii()
        data = json.loads(log)
        assert [error.message for error in validator.iter_errors(data)] == []
        (run,) = data["runs"]
        return run

    return only_run


def checked(*words: object, given: str | None = None) -> tuple[str, int]:
    result = run("check", "--format", "sarif", *words, given=given)
    return result.stdout, result.exit_code


def placed(one: Any) -> tuple[str, dict[str, int]]:
    """The file of a result or a notification, as its URI says, and the region there."""
    place = one["locations"][0]["physicalLocation"]
    artifact = place["artifactLocation"]
    assert artifact.get("uriBaseId") == "%SRCROOT%"
    return unquote_to_bytes(artifact["uri"]).decode(), place.get("region", {})


def test_results_stand_where_the_numbers_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, valid: Callable[[str], Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    texts = {
        "docs/a b#50%:1.md": PAGE,
        "columns.toml": COLUMNS,
        "broken.toml": "[given]\nscores = [1 2]\n",
        "empty.md": "",
    }
    for name, text in texts.items():
        Path(name).write_text(text, "utf-8")
    log, status = checked(".")
    run = valid(log)
    assert status == 2
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert {*rules} == {*VERDICTS} - {"right"} | {"worked-line"}
    levels: dict[tuple[str, str], int] = {}
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        name, region = placed(result)
        line = texts[name].splitlines()[region["startLine"] - 1]
        if result["ruleId"] == "worked-line":
            assert line[region["startColumn"] - 1 :].startswith("1 + 1 = 3")
        else:
            number = line[region["startColumn"] - 1 : region["endColumn"] - 1]
            assert f": you wrote {number}; the true value is " in result["message"]["text"]
        kind = result["ruleId"], result["level"]
        levels[kind] = levels.get(kind, 0) + 1
    assert levels == {
        ("wrong", "error"): 7,
        ("worked-line", "error"): 1,
        ("truncated", "note"): 1,
    }
    explained = [r for r in run["results"] if "consistent with" in r["message"]["text"]]
    assert len(explained) == 1 and "softmax-over-columns" in explained[0]["message"]["text"]
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (2, False)
    told = {placed(note)[0]: note for note in invocation["toolExecutionNotifications"]}
    assert {name: note["level"] for name, note in told.items()} == {
        "broken.toml": "error",
        "docs/a b#50%:1.md": "error",
        "empty.md": "note",
    }
    assert placed(told["broken.toml"])[1]["startLine"] == 2
    assert placed(told["docs/a b#50%:1.md"])[1]["startLine"] == PAGE.count("\n")
    analysed = [unquote_to_bytes(one["location"]["uri"]).decode() for one in run["artifacts"]]
    assert sorted(analysed) == ["columns.toml", "docs/a b#50%:1.md"]


def test_a_file_that_is_alone_and_cannot_be_used_is_a_notification(
    tmp_path: Path, valid: Callable[[str], Any]
) -> None:
    (tmp_path / "a.toml").write_text("[given", "utf-8")
    log, status = checked(tmp_path / "a.toml")
    run = valid(log)
    assert (status, run["invocations"][0]["exitCode"], run["results"]) == (2, 2, [])
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    uri = told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (tmp_path / "a.toml").as_uri()  # it is not under the current folder


def test_all_right_is_a_success(tmp_path: Path, valid: Callable[[str], Any]) -> None:
    (tmp_path / "a.toml").write_text(toml(GIVEN, {"weights[1,1]": "0.33"}), "utf-8")
    log, status = checked(tmp_path)
    (invocation,) = valid(log)["invocations"]
    assert (status, invocation["exitCode"], invocation["executionSuccessful"]) == (0, 0, True)


def test_fingerprints_tell_claims_apart_and_stay_when_lines_move(
    tmp_path: Path, valid: Callable[[str], Any]
) -> None:
    path = tmp_path / "a.md"
    twice = PAGE.replace("and {claim}", "{claim}`weights[1,2] = 0.5` and {claim}")
    path.write_text(twice, "utf-8")
    before = valid(checked(path)[0])["results"]
    path.write_text(f"One more line.\n\n{twice.replace('= 0.4', '= 0.7')}", "utf-8")
    after = valid(checked(path)[0])["results"]
    prints = [[result["partialFingerprints"]["claim/v1"] for result in r] for r in (before, after)]
    assert prints[0] == prints[1]
    assert len({*prints[0]}) == len(before)
    lines = [[placed_line(result) for result in run] for run in (before, after)]
    assert [line + 2 for line in lines[0]] == lines[1]


def placed_line(result: Any) -> int:
    line: int = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    return line


def test_levels_of_what_is_open_and_of_what_is_accepted(valid: Callable[[str], Any]) -> None:
    open_one = Finding(1, 2, None, "scores[1,1]", "1", "?", "undecided", passes=False)
    accepted = replace(open_one, verdict="rounded-early", passes=True)
    sign = Finding(0, 0, None, "", "", "", "undecided", passes=False, told="is open")
    report = replace(report_of(check(GIVEN, {"weights[1,1]": "0.33"})), lines=(sign,))
    files = (
        CheckedFile("a.toml", reports=(report,), findings=(open_one, accepted), signs=(sign,)),
    )
    results = valid(sarif_log(Overview(files, unfinished=("b.md: not finished",))))["results"]
    assert [(r["ruleId"], r["level"]) for r in results] == [
        ("undecided", "warning"),
        ("rounded-early", "note"),
        ("worked-line", "warning"),
    ]
    assert "region" not in results[2]["locations"][0]["physicalLocation"]


def test_standard_input_has_no_file(valid: Callable[[str], Any]) -> None:
    only = valid(checked("-", given=COLUMNS)[0])
    assert only["artifacts"] == [] and len(only["results"]) == 6
    assert {*only["results"][0]["locations"][0]} == {"logicalLocations"}


@pytest.mark.parametrize("name", ["a\n:,%.md", "\udcff.md", "a\u202e\0.md", "::e.md"])
def test_nothing_in_a_name_or_a_message_breaks_the_log(
    name: str, valid: Callable[[str], Any]
) -> None:
    hostile = "##[error]x\r\n::error::[a](1)\x00\udcff"
    found = Finding(1, 2, None, hostile, hostile, "50%", "wrong", passes=False)
    log = sarif_log(Overview((CheckedFile(name, findings=(found,)),), (f"{name}: {hostile}",)))
    (result,) = valid(log)["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"(?:[\w.~/-]|%[0-9A-F]{2})+", uri, re.A)
    text = result["message"]["text"]
    assert text.isprintable() and "##[" not in text and r"\[a](1)" in text
