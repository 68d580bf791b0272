"""``pytest --symattn``: worksheets and pages are tests that fail with a line a wrong number."""

from __future__ import annotations

import pytest

from tests.processes import python

pytest_plugins = ["pytester"]

SHEET = "[attention]\nscale = false\n[given]\nscores = [[0, 0]]\n[claims]\nweights = [[{}, 0.5]]\n"
OPTIONS = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly")


@pytest.fixture
def run(pytester: pytest.Pytester):  # type: ignore[no-untyped-def]
    """Pytest over some files, with the plugin."""
    from importlib.metadata import entry_points

    loaded = any(e.value == "symattn.pytest_plugin" for e in entry_points(group="pytest11"))
    plugin = () if loaded else ("-p", "symattn.pytest_plugin")

    def go(*options: str, **files: str) -> pytest.RunResult:
        for name, text in files.items():
            (pytester.path / name.replace("_", ".")).write_text(text, encoding="utf-8")
        return pytester.runpytest_inprocess(*OPTIONS, *plugin, *options)

    return go


def test_right_and_wrong_files(run, pytester: pytest.Pytester) -> None:  # type: ignore[no-untyped-def]
    result = run(
        "--symattn",
        a_toml=SHEET.format(0.5),
        b_toml=SHEET.format(0.4),
        pyproject_toml="[tool]\n",
        c_md=f"```symattn\n{SHEET.format(0.5)}```\n{{claim}}`weights[1,2] = 0.6`\n",
        d_md="Prose.\n",
        e_rst="No claim here.\n",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*b.toml:6:13: weights[[]1,1[]]: you wrote 0.4; the true value is 0.5",
            "*c.md:9:24: weights[[]1,2[]]: you wrote 0.6; the true value is 0.5",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_files_that_cannot_be_used_fail_in_one_line(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        "--symattn", a_toml=SHEET.format('"9^9^9^9"'), b_md="```symattn\n[given]\nx\n```\n"
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*a.toml:6: weights, entry 1,1: *keep exponents within*"])
    result.stdout.fnmatch_lines(["*b.md:3:*not valid TOML*"])


def test_nothing_is_collected_without_the_option(run) -> None:  # type: ignore[no-untyped-def]
    result = run(a_toml=SHEET.format(0.4))
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_plugin_costs_nothing_until_it_is_asked_for() -> None:
    code = "import sys, symattn.pytest_plugin; print('symattn.sheets.worksheet' in sys.modules)"
    done = python("-c", code, check=True)
    assert done.stdout.strip() == "False"
