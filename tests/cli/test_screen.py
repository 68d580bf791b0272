"""What a terminal is sent: lines in their styles, and the line that tells how far things are."""

from __future__ import annotations

import os
import sys
import time

import pytest

from symattn.cli.progress import Progress
from symattn.cli.screen import can_show_unicode, print_lines
from tests.terminal import terminal_here

pytestmark = pytest.mark.skipif(os.name == "nt", reason="terminals are of POSIX")

LINES = [
    ("heading", "Scores"),
    ("formula", "S = Q Kᵀ"),
    ("good", "agrees"),
    ("bad", "wrong \x1b]0;title\x07 here"),
    ("plain", "and no more"),
]


def test_lines_have_their_styles_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal_here(monkeypatch) as shown:
        print_lines(LINES)
    lines = shown().splitlines()
    assert lines == [
        "\x1b[1;36mScores\x1b[0m",
        "\x1b[1mS = Q Kᵀ\x1b[0m",
        "\x1b[32magrees\x1b[0m",
        "\x1b[1;31mwrong \\x1b]0;title\\x07 here\x1b[0m",
        "and no more",
    ]


def test_a_closed_standard_output_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed"):
        print_lines(LINES)
    assert not can_show_unicode()


def test_what_is_quick_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal_here(monkeypatch) as shown:
        with Progress("marking").watched():
            pass
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr("symattn.cli.progress._AFTER", 0.0)
        with Progress("marking").watched():
            time.sleep(0.05)
    assert shown() == ""
