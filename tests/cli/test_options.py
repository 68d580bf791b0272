"""Options that several commands share: a format with its flavor, sizes, letters and choices."""

from __future__ import annotations

import pytest

from tests import ROOT
from tests.command import assert_refused, run

TWO = str(ROOT / "examples" / "two_heads.toml")
CAUSAL = str(ROOT / "examples" / "causal.toml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("derive causal --size tokens=65", "tokens up to 64, d_k up to 64, heads up to 16"),
        ("derive causal --size n=3", "--size n=3: an example has tokens up to 64"),
        ("derive causal --size tokens", '--size "tokens": give a name and a whole number'),
        ("derive causal --size tokens=2 --size tokens=3", "--size tokens: is given two values"),
        (f"derive {TWO} --size tokens=2", "--size: is of examples of variants, not of a file"),
        ("new causal --size heads=0", '--size "heads=0": give a name and a whole number above 0'),
        ("exercise causal --size width=2", "--size width=2: an example has"),
        ("derive causal --notation vaswani,bishop", "--notation bishop: the letters are those of"),
        ("derive causal --notation layout=flak", "choose one of matrix, falk"),
        ("derive causal --notation wieghts=P", 'did you mean "weights"'),
        ("derive causal --notation page=stage", "--notation page: is of the interactive page"),
        ("derive causal --format html:stage", "html has no flavors"),
        ("derive causal --format tikz:line", 'did you mean "lines"'),
        ("mark a.toml b.csv -o marks --workers 0", "0 is not in the range"),
    ],
)
def test_what_they_do_not_take_is_refused_in_a_line(words: str, said: str) -> None:
    assert_refused(run(*words.split()), said)


def test_letters_and_choices_are_said_together_or_one_by_one() -> None:
    words = ("derive", CAUSAL, "--steps", "scaled,weights")
    together = run(*words, "--notation", "weights=P,worked=all,weights[i,j]=p", status=0).stdout
    assert "P = softmax" in together and together.count("p_") > 8
    apart = ("--notation", "weights=P", "--notation", "worked=all", "--notation", "weights[i,j]=p")
    shown = [text.partition("More: ")[0] for text in (together, run(*words, *apart).stdout)]
    assert shown[0] == shown[1]


def test_a_size_is_that_of_the_example() -> None:
    shown = run("derive", "multi-head", "--size", "tokens=2,heads=3", "--view", "value", status=0)
    assert "n = 2" in shown.stdout and "h = 3" in shown.stdout
