"""Coverage is counted, and a run that reaches too little fails."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.covered import LEAST, Counted
from tests.processes import python


def _reached(executed: list[int], missing: list[int]) -> dict[str, Any]:
    """A worker's count of one file."""
    lines = {"executed_lines": executed, "missing_lines": missing}
    branches: dict[str, list[int]] = {"executed_branches": [], "missing_branches": []}
    meta = {"software": "slipcover", "branch_coverage": True}
    return {"meta": meta, "files": {"a.py": lines | branches}, "summary": {"percent_covered": 0.0}}


def test_what_one_worker_reaches_the_others_need_not() -> None:
    counted = Counted()
    assert counted.percent == 0.0
    counted.add(_reached([1, 2], [3, 4]))
    counted.add(_reached([2, 3], [1, 4]))
    assert counted.percent == pytest.approx(75.0)


@pytest.mark.nightly
def test_a_run_that_reaches_too_little_fails() -> None:
    one = "tests/nodes/test_masks.py::test_every_mask_is_defined_here"
    run = python(
        *("-m", "pytest", "-q", "-n", "1", one),
        PYTEST_ADDOPTS="-p tests.covered",
        PYTEST_XDIST_WORKER="",
    )
    (percent,) = re.findall(rf"(\S+) % of lines .* reached; {LEAST:.0f} % have to be", run.stdout)
    assert 1 < float(percent) < LEAST
    assert re.search(r"^symattn/nodes/masks\.py +\d+ ", run.stdout, re.M)
    assert (run.returncode, " passed" in run.stdout) == (1, True)
