"""A pytest plugin: ``pytest --symattn`` checks worksheets, and the numbers in prose, as tests.

Each worksheet in a collected file is a test, which fails with a line for each wrong number.
Nothing else is imported unless the option is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symattn.errors import needing

with needing("symattn.pytest_plugin", "pytest", "pytest"):
    import pytest

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr, TracebackStyle

    from symattn.reports.overview import CheckedFile


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--symattn``."""
    group = parser.getgroup("symattn")
    group.addoption(
        "--symattn", action="store_true", help="check the numbers of attention worksheets and pages"
    )
    parser.addini("symattn_allow_large", "check worksheets whatever work it takes", "bool", False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file that may hold claims, if the option is given."""
    if not parent.config.getoption("--symattn"):
        return None
    from symattn.pages.syntaxes import SYNTAXES
    from symattn.printable import as_line

    if file_path.suffix.lower() not in (".toml", *SYNTAXES):
        return None
    collected: pytest.Collector = _File.from_parent(parent, path=file_path)
    printed = as_line(collected.nodeid)
    if printed == collected.nodeid:
        return collected
    printed = printed.replace("::", r"\x3a\x3a").replace("[", r"\x5b")  # which divide an id
    renamed: pytest.Collector = _File.from_parent(
        parent, path=file_path, name=as_line(collected.name), nodeid=printed
    )
    return renamed


class _File(pytest.File):
    """A file with worksheets; one without is passed over."""

    def collect(self) -> Iterator[pytest.Item]:
        from symattn.budget import SECONDS, limited
        from symattn.doors import failure
        from symattn.pages.checked import check_file

        try:
            seconds = None if self.config.getini("symattn_allow_large") else SECONDS
            with limited("symattn_allow_large = true in pytest's configuration", seconds):
                checked = check_file(self.path)
        except BaseException as error:
            problem = failure(error, str(self.path)).line
            yield _Item.from_parent(self, name="worksheet", problem=problem)
            return
        if checked is not None and (checked.markings or checked.problems):
            yield _Item.from_parent(self, name="claims", checked=checked)


class NumberWrong(Exception):
    """A claimed number is wrong."""


class _Item(pytest.Item):
    """The claims of one file."""

    def __init__(
        self, *, checked: CheckedFile | None = None, problem: str = "", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.checked, self.problem = checked, problem

    def runtest(self) -> None:
        if self.checked is None:
            raise NumberWrong(self.problem)
        from symattn.printable import as_line

        checked = self.checked
        wrong = [f"{self.path}:{x.line}:{x.column}: {x.message}" for x in checked.complaints]
        wrong += checked.problems
        if wrong:
            raise NumberWrong("\n".join(map(as_line, wrong)))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        from symattn.doors import failure, leaves

        if isinstance(excinfo.value, NumberWrong):
            return str(excinfo.value)
        if not leaves(excinfo.value):
            return failure(excinfo.value, str(self.path)).line
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        from symattn.printable import as_line

        return Path(as_line(str(self.path))), None, as_line(f"{self.path.name}: claims")
