"""The package: what it asks for, what it brings, and what is said of it, in agreement."""

from __future__ import annotations

import re
import tomllib

import symattn
from tests import ROOT
from tests.extras_alone import USES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: needs for name, needs in PROJECT["optional-dependencies"].items() if name != "test"}


def bounds(requirements: list[str]) -> dict[str, str]:
    """What is required from which version on."""
    return dict(re.split(">=|==", each) for each in requirements)


def pinned(text: str) -> dict[str, str]:
    """The versions of a file of constraints."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return dict(line.split("==") for line in lines)


def test_the_lowest_versions_that_are_tried_are_those_that_are_promised() -> None:
    promised = bounds(PROJECT["dependencies"])
    for needs in EXTRAS.values():
        promised |= bounds(needs)
    tried = pinned((ROOT / ".ci/lowest.txt").read_text("utf-8"))
    assert tried.keys() == promised.keys()
    for name, version in tried.items():  # 8.2 promises 8.2.0
        assert re.fullmatch(rf"{re.escape(promised[name])}(\.0)*", version), name


def test_a_bound_that_is_not_tried_is_caught() -> None:
    assert pinned("# a\nclick==8.2.0\n") == {"click": "8.2.0"}
    assert bounds(["a>=1.2", "b==3"]) == {"a": "1.2", "b": "3"}


def test_the_tests_ask_for_no_less_than_the_package() -> None:
    test = bounds(PROJECT["optional-dependencies"]["test"])
    for needs in EXTRAS.values():
        assert {k: test.get(k) for k in bounds(needs)} == bounds(needs)


def test_every_extra_is_used_and_tried_alone() -> None:
    assert EXTRAS.keys() == USES.keys()
    script = (ROOT / ".ci/package").read_text("utf-8")
    assert f"for extra in {' '.join(EXTRAS)}; do" in script
    assert f"${{wheel}}[{','.join(EXTRAS)}]" in script


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["version"] == symattn.__version__
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {symattn.__version__}\n" in cited
    assert f"\nlicense: {PROJECT['license']}\n" in cited
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## \[?{re.escape(symattn.__version__)}\b", changes, re.MULTILINE)


def test_the_workflows_run_scripts_that_are_there() -> None:
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    ran = [script for each in workflows for script in re.findall(r"\.ci/\w+", each.read_text())]
    assert {".ci/run", ".ci/nightly", ".ci/package"} <= {*ran}
    assert all((ROOT / script).is_file() for script in ran)


def test_actions_are_pinned_by_commit_and_those_who_install_may_only_read() -> None:
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        text = path.read_text("utf-8")
        for used in re.findall(r"uses: (\S+.*)", text):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), (path.name, used)
        jobs = re.split(r"(?m)^  (?=\w+:)", text.partition("\njobs:\n")[2])
        assert "write" not in text.partition("\njobs:\n")[0], path.name
        for job in jobs:
            assert not ("run:" in job and re.search(r"\w: write", job)), (path.name, job)


def test_every_tool_that_is_compared_has_a_version_or_a_day_and_a_source() -> None:
    text = (ROOT / "docs/explanation/comparison.md").read_text("utf-8").partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 9
    for tool, *_, source in rows:
        assert re.search(r"\d+\.\d+|\d{4}-\d\d-\d\d", tool), tool
        assert re.search(r"\]\((#|https://)|its package", source), tool


def test_what_the_pages_run_is_in_the_extra_that_builds_them() -> None:
    """But for what a page runs only where it is there."""
    extra = {
        re.split(r"[>=]", one)[0]
        for one in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
            "optional-dependencies"
        ]["docs"]
    }
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for block in re.findall(r"```\{shell\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for module in re.findall(
                r"(?m)^(?:python -m )?(pytest|mkdocs|sphinx|jupyter)\b", block
            ):
                assert module in extra or f":needs-module: {module}" in block, (page.name, block)
