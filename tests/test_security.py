"""The page on security: its limits are those of the code, and all of them are on it."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from operator import attrgetter

import pytest

from symattn.files.named import LIMITS
from tests import ROOT
from tests.fuzz.doors import table

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROWS = re.findall(r"^\| (.+?) \| ([0-9,]+) \| `([\w.]+)` \|$", PAGE, re.MULTILINE)

#: A limit has a name that begins like this; what a page shows, and not what it reads, has none.
LIMIT = re.compile(r"^(MAX_[A-Z_, ]*[A-Z]) *(?::[^=]*)?= *[0-9]", re.MULTILINE)


def limits(source: str) -> set[str]:
    """The names of the limits that a module sets."""
    return {name for names in LIMIT.findall(source) for name in names.split(", ")}


@pytest.mark.parametrize(("what", "value", "where"), ROWS, ids=[row[2] for row in ROWS])
def test_a_limit_on_the_page_is_the_codes(what: str, value: str, where: str) -> None:
    module, name = re.split(r"\.(?=[A-Z])", where, maxsplit=1)
    found = attrgetter(name)(import_module(f"symattn.{module}"))
    assert found == int(value.replace(",", "")), what


def test_every_limit_of_the_code_is_on_the_page() -> None:
    set_there = {
        f"{'.'.join(path.relative_to(ROOT / 'symattn').with_suffix('').parts)}.{name}"
        for path in (ROOT / "symattn").rglob("*.py")
        for name in limits(path.read_text("utf-8"))
    }
    set_there |= {f"files.named.LIMITS.{one.name}" for one in fields(LIMITS)}
    assert len(set_there) > 10
    assert set_there - {where for _, _, where in ROWS} == set()


def test_limits_are_found() -> None:
    source = (
        "MAX_A, MAX_B = 1, 2\nMAX_C: int = 3\n_MAX_D = 4\n    MAX_E = 5\nMAX_F = re.compile('')\n"
    )
    assert limits(source) == {"MAX_A", "MAX_B", "MAX_C"}


def test_the_page_is_linked() -> None:
    for page in ("README.md", "docs/checking.md", "docs/commands.md"):
        assert "security.md" in (ROOT / page).read_text("utf-8"), page


def test_the_table_of_counts_has_the_generators_columns() -> None:
    heads, *_ = table([]).splitlines()
    assert heads.startswith("| entry point | inputs | ")
    assert heads in PAGE.splitlines()
