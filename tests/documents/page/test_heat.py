"""The temperature in what a page says: formula, entry and worked lines, on both sheet and stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from symattn import Attention, Notation, latex
from symattn.derivations import Derivation, Evaluation
from symattn.documents.blocks import Line
from symattn.documents.html import html_document
from symattn.documents.page.heated import heated
from symattn.documents.page.live import live
from symattn.documents.shown import Shown
from symattn.notation.text import line
from tests.documents.page.opening import cells, entered, sheet_page, variant
from tests.documents.page.test_page import in_text, places_of
from tests.worked_lines import faults

#: The formula and the entry with a temperature, by what it divides.
WRITTEN: dict[str, tuple[Attention, str, str]] = {
    "scaled": (Attention(), "Z = S/(T √d_k)", "z_ij = s_ij/(T √d_k)"),
    "a number": (Attention(scale="1/3"), "Z = (1/3) S / T", "z_ij = (1/3) s_ij / T"),
    "not scaled": (Attention(scale=False), "S = Q Kᵀ / T", "s_ij = (Σ_l q_il k_jl)/T"),
    "biased": (Attention(bias="given"), "Z_bias = (Z + R)/T", "z^bias_ij = (z_ij + R_ij)/T"),
    "capped": (Attention(soft_cap=5), "Z_cap = 5 tanh(Z/5) / T", "z^cap_ij = 5 tanh(z_ij/5) / T"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_step_that_is_divided_is_written_so(name: str) -> None:
    spec, formula, entry = WRITTEN[name]
    derivation = spec.derivation()
    step = derivation[live(derivation).tempered]
    lines = (Line("formula", step.formula()), Line("entry", step.entry()))
    assert [line(heated(step, one, Notation()).tree) for one in lines] == [formula, entry]


def test_its_letter_is_free_and_the_convention_kept() -> None:
    step = Attention(scale=False).derivation()["scores"]
    told = Line("formula", step.formula())
    columns = Notation(convention="columns")
    assert line(heated(step, told, columns).tree) == "S = Kᵀ Q / T"
    taken = Notation(symbols={"n": "T"})
    assert r"\mathcal{T}" in latex(heated(step, told, taken).tree)


def said(page: Any, where: str) -> list[str]:
    """The formulas in sight, as plain text."""
    shown = page.locator(f"{where} .line:visible math")
    return [shown.nth(k).get_attribute("alttext") for k in range(shown.count())]


def test_formula_and_entry_have_it_while_it_is_not_1(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    plain = said(page, "#scaled .lines")
    assert plain == ["Z = S/√d_k", "z_ij = s_ij/√d_k"]
    spoken = page.locator("#scaled .said > .spoken")
    assert "T times" not in spoken.inner_text()
    entered(page, "#temperature", "0.7")
    assert said(page, "#scaled .lines") == ["Z = S/(T √d_k)", "z_ij = s_ij/(T √d_k)"]
    told = page.locator("#scaled .tempered").text_content()
    assert told == "with the temperature T=0.7"
    page.locator("#scaled .home td[data-c]").first.click()
    page.keyboard.press("s")
    assert page.locator("#stage .tempered").is_visible()
    page.emulate_media(media="print")
    assert said(page, "#scaled .lines") == ["Z = S/(T √d_k)", "z_ij = s_ij/(T √d_k)"]
    page.emulate_media(media="screen")
    page.keyboard.press("s")
    entered(page, "#temperature", "1")
    assert said(page, "#scaled .lines") == plain
    assert page.locator("#scaled .tempered").count() == 0


def lines_of(page: Any, subject: tuple[Derivation, Evaluation], letter: str) -> list[str]:
    return [
        in_text(page.evaluate("([m, i, j, h]) => symattn.worked(m, i, j, h)", asked))
        for asked in places_of(*subject)
        if asked[0] == letter
    ]


@pytest.mark.parametrize(
    ("name", "letter", "text"),
    [("causal", "Z", "0.7"), ("self", "Z", "sqrt(3)/2"), ("alibi", "Z_bias", "0.7")],
)
def test_worked_lines_have_it_and_hold(
    name: str, letter: str, text: str, opened: Callable[..., Any]
) -> None:
    subject = variant(name)
    page = opened(html_document(Shown(*subject)))
    entered(page, "#temperature", text)
    lines = lines_of(page, subject, letter)
    assert [fault for one in lines for fault in faults(one, 4, {})] == []
    printed = "0.7" if text == "0.7" else "0.866"
    assert sum(f"/({printed}" in one for one in lines) > len(lines) / 2, lines
    wrong = next(one for one in lines if printed in one).replace(printed, "0.9")
    assert [*faults(wrong, 4, {})] != []  # the judge sees another temperature
    assert len({*cells(page)}) > len(lines)
