"""What numbers show: differences that begin at some size, or are small; none where none is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symattn.attention.variants import variant
from symattn.documents import text
from symattn.lifting import trials
from symattn.lifting.comparing import prove_programs
from symattn.lifting.limits import LIMITS
from symattn.lifting.proving import Proven, prove_program
from symattn.lifting.report import proven_data, proven_document
from symattn.verifying.inputs import FAR
from symattn.verifying.own import meant
from symattn.verifying.subject import Wanted
from tests.lifting import far
from tests.shares import share


def proven(name: str, **sizes: int) -> Proven:
    other = "causal" if name.startswith("causal") else "scaled-dot-product"
    wanted = Wanted(meant(variant(other).said), attention=f"{other} attention")
    return prove_program(getattr(far, name), wanted, sizes)


def said(found: Proven) -> str:
    return " ".join(text.write([proven_document(found)]).split())


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "tokens"),
    [("causal_of_a_short_cache", 41), ("every_second_key", 256), ("causal_windowed", 1001)],
)
def test_what_a_function_does_from_some_size_on_is_found_at_the_first(
    name: str, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "LIMITS", replace(LIMITS, seconds=60.0))
    found = proven(name)
    assert (found.verdict, found.status) == ("different", 1)
    assert (found.certificate, found.equality) == (None, None)
    assert found.found is not None
    given = found.found.input
    assert given is not None
    assert len(given["K"]) == tokens
    single = "in single precision it returns the same" in said(found)
    assert single == (tokens > 1000)


def test_of_many_numbers_the_first_and_the_last_are_shown() -> None:
    found = proven("every_second_key", n=1, d_k=1, d_v=1)
    assert "..., " in said(found)
    assert "(256 × 1)" in said(found)
    assert "--format json has all of these numbers." in said(found)
    report = proven_data(found)["report"]
    assert len(report["input"]["K"]) == 256


def test_what_has_two_functions_differ_from_some_size_on_is_found_at_the_first() -> None:
    found = prove_programs(far.every_key, far.every_second_key)
    assert (found.verdict, found.status) == ("different", 1)
    assert found.difference is not None
    given = found.difference.given
    assert len(given["K"]) == 256
    assert not np.allclose(far.every_key(**given), far.every_second_key(**given))
    assert "(256 × 1)" in said(found)


def test_a_small_number_in_the_denominator_is_a_difference() -> None:
    found = proven("nearly")
    assert found.verdict == "different"
    assert "1e-9-added" in said(found)
    pair = prove_programs(far.every_key, far.nearly)
    assert pair.difference is not None
    given = pair.difference.given
    assert not np.array_equal(far.every_key(**given), far.nearly(**given))


def test_a_difference_that_low_scores_show_is_found() -> None:
    assert proven("causal_capped_late").verdict == "different"


@pytest.mark.parametrize("name", share(["shortened", "in_single"], 2))
def test_a_number_that_is_rounded_stands_for_what_it_was(name: str) -> None:
    found = proven(name, n=2, m=2, d_k=3, d_v=1)
    assert found.verdict == "undecided"
    assert "near" in found.reason


def test_numbers_that_are_lost_to_overflow_show_nothing() -> None:
    found = proven("causal_lost_at_many")
    assert (found.verdict, found.status) == ("equal at the sizes tried", 4)
    assert found.largest["n"] < 1024


@pytest.mark.nightly
def test_what_agrees_says_up_to_which_size(monkeypatch: pytest.MonkeyPatch) -> None:
    found = proven("every_key")
    assert found.largest["n"] > 37
    monkeypatch.setattr(trials, "FAR", FAR[:3])
    assert proven("every_key").largest == {"n": 37, "m": 39}
    assert "numbers were tried up to n = 37, m = 39, and agree" in said(proven("every_key"))
    assert proven_data(proven("every_key"))["largest"] == {"n": 37, "m": 39}
