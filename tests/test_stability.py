"""A change of what users build upon is noticed: semantic versioning, `tests/stable/`."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests import stability
from tests.stability import KEPT, changes, kept, listed, python_names


@pytest.mark.parametrize("name", KEPT)
def test_what_users_build_upon_is_as_it_was(name: str) -> None:
    assert (found := changes(kept(name), listed(name))) == "", found


def test_a_change_says_what_to_do() -> None:
    assert changes(["a"], ["a"]) == ""
    gone, new = changes(["a", "b"], ["a"]), changes(["a"], ["a", "b"])
    assert gone.startswith("- b\nraise the second number") and "python -m tests.stability" in gone
    assert new.startswith("+ b\nraise the third number")


def test_an_argument_that_is_renamed_is_a_change() -> None:
    def before(one: int, *, two: int = 0) -> None: ...
    def after(one: int, *, other: int = 0) -> None: ...

    lists = [[*python_names(SimpleNamespace(__all__=["f"], f=f))] for f in (before, after)]
    assert lists == [["f(one, keyword two=)"], ["f(one, keyword other=)"]]


def test_the_lists_are_whole() -> None:
    for name, line in {
        "python": "Derivation.evaluate(self, keyword dtype=, **given)",
        "command_line": "status 4 UNSETTLED",
        "worksheet": "attention: kv_heads",
        "json": "derive .steps.*.decimals[]: text",
    }.items():
        assert line in listed(name), (name, [x for x in listed(name) if line[:12] in x][:9])
    assert stability.FOLDER.is_dir()
