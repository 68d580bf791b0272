"""The lines and branches of the package that a run reaches.

``PYTHONPATH=. PYTEST_ADDOPTS="-p tests.covered" pytest``; of the options only these in the
environment are read by the workers before they import anything.

slipcover takes its probes out of what has been reached, so that the run is not slower for it. The
workers count, and the table is printed at the end; below `LEAST` per cent the run fails. Only the
processes of the run itself are counted, not those that tests start.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import pytest
import slipcover
from slipcover.importer import SlipcoverLoader

from tests import ROOT

#: How many of a hundred lines and branches have to be reached.
LEAST = 95.0

_SOURCE = str(ROOT / "symattn")
_IS_WORKER = bool(os.environ.get("PYTEST_XDIST_WORKER"))


class Probes(MetaPathFinder):
    """Imports the package with probes.

    Stands before pytest's own hook, which takes the package for a plugin and knows no probes.
    """

    def __init__(self, counting: slipcover.Slipcover) -> None:
        self.counting = counting

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name.partition(".")[0] == "symattn" else None
        if spec and spec.loader and spec.origin:
            spec.loader = SlipcoverLoader(self.counting, spec.loader, spec.origin)
        return spec


class Counted:
    """What one process of the run reaches, and what all of them have reached together."""

    def __init__(self) -> None:
        self.slipcover = slipcover.Slipcover(
            branch=True, source=[_SOURCE], exclude_also=["@overload"]
        )
        self.together: Any = None

    def watch(self) -> None:
        """From now on modules of the package are imported with probes."""
        sys.meta_path.insert(0, Probes(self.slipcover))

    def add(self, reached: Any) -> None:
        """What another process has reached."""
        if self.together is None:
            self.together = reached
        else:
            slipcover.merge_coverage(self.together, reached)

    @property
    def percent(self) -> float:
        """How many of a hundred lines and branches have been reached; 0 if nothing was counted."""
        return float(self.together["summary"]["percent_covered"]) if self.together else 0.0


COUNTED = Counted()
if _IS_WORKER and __name__ in os.environ.get("PYTEST_ADDOPTS", ""):  # not where a test imports it
    COUNTED.watch()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A worker hands on what it has reached; the run fails where that is too little."""
    if _IS_WORKER:
        output: dict[str, str] = vars(session.config)["workeroutput"]
        output["reached"] = json.dumps(COUNTED.slipcover.get_coverage())
    elif exitstatus == pytest.ExitCode.OK and COUNTED.percent < LEAST:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """A worker has ended."""
    COUNTED.add(json.loads(node.workeroutput["reached"]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table: files that are not reached whole, and what is missing in them."""
    if _IS_WORKER:
        return
    if COUNTED.together is not None:
        terminalreporter.section("coverage")
        slipcover.print_coverage(COUNTED.together, skip_covered=True, missing_width=60)
    terminalreporter.write_line(
        f"{COUNTED.percent:.1f} % of lines and branches are reached; {LEAST:.0f} % have to be"
    )
