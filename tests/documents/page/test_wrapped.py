"""Formulas that are wider than a row, cut so that they go on below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from symattn.documents.html import html_document
from symattn.documents.page import frame
from symattn.documents.shown import Shown
from symattn.evaluate.worked import worked
from symattn.language.equations import derivation_of
from symattn.notation.options import Notation
from symattn.notation.text import line
from tests.documents.page.opening import settled, typed, variant_page
from tests.documents.page.test_boxes import WORKS
from tests.documents.page.test_page import in_text
from tests.program import source
from tests.worked_lines import faults

#: Attentions with long lines: a softmax of scores in one equation, norms, gates, blocks, powers.
LONG = (
    "a post-norm block (Vaswani et al. 2017)",
    "norms on queries and keys",
    "long short-term memory (Hochreiter and Schmidhuber 1997)",
    "cross-covariance attention (El-Nouby et al. 2021)",
    "retention",
)

#: What is left out of a page that wraps nothing.
WRAPS = "boxes.forEach(wrapLine);"

#: Numbers, letters and signs in their order, without brackets, signs of products, e and exp, and
#: the root or the power of 1/2 that stands for it.
READ = """(lines) => lines.map((line) => [...line.querySelectorAll("mi, mn, mo, mtext")]
    .map((one) => one.textContent.trim())
    .filter((text) => !/^(|e|exp|1\\/2|[·()⁡⁢√/,])$/.test(text)).join(" "))"""

#: Signs of numbers that are spaced as those between two terms are, and the other way round.
SPACED = """(signs) => signs.filter((one) => {
    const before = one.previousElementSibling, form = one.getAttribute("form");
    const isOperand = before && (before.localName !== "mo" || /[)\\]]/.test(before.textContent));
    return one.textContent === "−" && before && isOperand === (form === "prefix");
}).map((one) => one.parentElement.textContent)"""

BESIDE = """(lines) => lines.filter((line) => [...line.querySelectorAll("mi, mn, mo")].some(
    (sign) => sign.getBoundingClientRect().right > innerWidth)).map((line) => line.innerText)"""


def unwrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages made from now on wrap nothing."""
    assert source().count(WRAPS) == 1
    monkeypatch.setattr(frame, "scripts", lambda: source().replace(WRAPS, ""))


@pytest.mark.nightly
def test_a_long_line_goes_on_below(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(variant_page("cached-llama"), 680)  # A4 between its margins
    unwrapped(monkeypatch)
    other = opened(variant_page.__wrapped__("cached-llama"), 680)
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        assert page.locator(".line, .worked").evaluate_all(BESIDE) == []
        other.emulate_media(media=media)
        assert other.locator(".line, .worked").evaluate_all(BESIDE)


@pytest.mark.nightly
@pytest.mark.parametrize("name", LONG)
def test_what_is_cut_reads_as_it_did(
    name: str, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    derivation = derivation_of(WORKS[name].text)
    shown = Shown(derivation, derivation.evaluate(**WORKS[name].numbers()))
    page = opened(html_document(shown))
    cut = page.locator(".line, .worked").evaluate_all(READ)
    assert page.locator(":is(.line, .worked) > math + math").count() > 2
    typed(page, "-7/3")  # now the program writes the lines
    assert settled(page).locator(".line mo, .worked mo").evaluate_all(SPACED) == []
    unwrapped(monkeypatch)
    page = opened(html_document(shown))
    assert page.locator(":is(.line, .worked) > math + math").count() == 0
    assert cut == page.locator(".line, .worked").evaluate_all(READ)


@pytest.mark.nightly
def test_stages_of_many_numbers_are_left_out(opened: Callable[..., Any]) -> None:
    work = WORKS["a post-norm block (Vaswani et al. 2017)"]
    derivation = derivation_of(work.text)
    values = derivation.evaluate(**work.numbers())
    step = derivation["H"]
    few, all_ = (
        line(worked(values, step, 0, 0, notation=Notation(limit=limit))) for limit in (8, 0)
    )
    assert few.count("⋯") == 1
    assert "⋯" not in all_
    assert all_.endswith(few.partition("⋯ ")[2])
    assert len(few) < 100
    assert len(all_) > 4000
    page = opened(html_document(Shown(derivation, values)))
    typed(page, "-7/3")
    made = in_text(settled(page).evaluate("symattn.worked('H', 0, 0)"))
    assert made.startswith("x ≈ ⋯ ≈ ")
    assert [*faults(made, 4, {})] == []
