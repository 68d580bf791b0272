"""Regular expressions mean the same in every version of Python that symattn runs on."""

from __future__ import annotations

import re

from tests import ROOT

#: A group that gives nothing back, ``(…)*+``: Python before 3.11.5 matches it wrongly where it has
#: alternatives (CPython's issues 100061 and 106052). A set of characters may be possessive.
_POSSESSIVE = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9]*,?[0-9]*\})\+")


def groups(source: str) -> list[int]:
    """The lines of Python in which a text has such a group."""
    lines = enumerate(source.splitlines(), 1)
    return [number for number, line in lines if _POSSESSIVE.search(line)]


def test_no_group_is_possessive() -> None:
    files = [*ROOT.glob("symattn/**/*.py"), *ROOT.glob("docs/**/*.py")]
    assert len(files) > 200
    assert {str(file): groups(file.read_text("utf-8")) for file in files} == {
        str(file): [] for file in files
    }


def test_such_a_group_is_found() -> None:
    assert groups('a = r"(?:x|xy)*+"\nb = r"[xy]*+(?:z)*"\nc = r"(?:x){2,3}+"') == [1, 3]
