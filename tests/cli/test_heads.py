"""One head, and how heads are arranged: honoured, or refused in one line."""

from __future__ import annotations

import pytest

from tests import ROOT
from tests.command import run

TWO = str(ROOT / "examples" / "two_heads.toml")
CAUSAL = str(ROOT / "examples" / "causal.toml")


@pytest.mark.parametrize("picture", ["lines", "heat", "falk"])
def test_a_picture_shows_the_head_that_is_asked_for(picture: str) -> None:
    words = ["derive", TWO, "--format", f"svg:{picture}"]
    both, one, other = (
        run(*words, *more).output for more in ([], ["--head", "1"], ["--head", "2"])
    )
    assert len({both, one, other}) == 3
    assert len(one) < len(both) > len(other)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["causal", "--head", "1"], "head 1: this attention has no heads; leave it out"),
        ([CAUSAL, "--head", "1", "--format", "svg"], "head 1: this attention has no heads"),
        ([TWO, "--head", "3", "--format", "svg"], "head 3: heads are 1 to 2"),
        (
            [TWO, "--head", "2", "--format", "svg:steps"],
            "head 2: the graph of steps is the same for every head; leave it out",
        ),
        (["causal", "--notation", "heads=side-by-side"], "heads side-by-side: this attention has"),
        (
            ["multi-head", "--symbolic", "--notation", "heads=column"],
            "heads column: arranges matrices of numbers",
        ),
    ],
)
def test_what_is_said_of_heads_in_vain_is_refused(words: list[str], said: str) -> None:
    result = run("derive", *words, status=2)
    assert said in result.output
    assert result.output.count("\n") == 1
