"""What a page says of an entry: links of its line, signs between terms, marks, powers of ten."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from symattn import Attention
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from symattn.evaluate.worked import worked
from symattn.notation.text import line
from tests.documents.page.opening import entered, settled, sheet_page
from tests.documents.page.test_page import in_text

#: The parts of the line on the stage, between its signs.
LINKS = """() => {
    const seen = [];
    const row = document.querySelector("#stage .line.now math > mrow");
    let link = "";
    for (const part of row?.children ?? []) {
        const isSign = part.tagName === "mo" && "=≈".includes(part.textContent);
        if (isSign) seen.push(link);
        link = isSign ? "" : link + part.textContent;
    }
    return [...seen, link];
}"""


def test_no_link_of_a_line_on_the_stage_is_the_one_before(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), reduced_motion="reduce")
    page.evaluate("location.hash = 'follow=0.0;stage=scores'")
    page.wait_for_selector("#stage:visible")
    seen = set()
    for _ in range(9):  # from the scores to the output
        links = page.evaluate(LINKS)
        assert all(one != other for one, other in pairwise(links)), links
        seen |= set(links)
        page.keyboard.press("ArrowRight")
    assert {"1·1+0·1", "0.7071+0"} <= seen


def test_a_minus_between_terms_has_room_on_both_sides(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    page.evaluate("location.hash = 't=0.9;at=masked.1'")  # a line that the page makes
    settled(page)
    before, after = page.evaluate("""() => {
        const sign = document.querySelector('#origin .line mo[form="infix"]');
        const left = sign.closest("mrow").previousElementSibling.getBoundingClientRect();
        const right = sign.nextElementSibling.getBoundingClientRect();
        const [minus, size] = [sign.getBoundingClientRect(), getComputedStyle(sign).fontSize];
        return [minus.left - left.right, right.left - minus.right].map((x) => x / parseFloat(size));
    }""")
    assert min(before, after) > 0.15


def test_wide_numbers_of_a_line_are_powers_of_ten_as_derive_writes_them(
    opened: Callable[..., Any],
) -> None:
    derivation = Attention(scale=False).derivation()
    values = derivation.evaluate(Q=[[5]], K=[["47/10"], [5]], V=[["1/3"], [2]])
    page = opened(html_document(Shown(derivation, values)))
    page.evaluate("location.hash = 'x=Q.0:51/10'")
    settled(page)
    then = derivation.evaluate(Q=[["51/10"]], K=[["47/10"], [5]], V=[["1/3"], [2]])
    for j in range(2):
        made = in_text(page.evaluate("(j) => symattn.worked('A', 0, j)", j))
        wanted = line(worked(then, derivation["weights"], 0, j))
        powers = [set(re.findall(r"·10(?:\^\((\d+)\)|([⁰-⁹¹²³]+))", one)) for one in (made, wanted)]
        exponents = [{a or b.translate(_LOWERED) for a, b in found} for found in powers]
        assert exponents[0] and exponents[0] <= exponents[1], (made, wanted)
        assert not re.search(r"\d{11,}", made)


#: Digits as they stand when they are not raised.
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def test_a_frame_is_heard_as_it_is_seen(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), reduced_motion="reduce")
    page.evaluate("location.hash = 'stage=scaled_scores'")
    page.wait_for_selector("#stage:visible")
    heard = set()
    while page.get_attribute("#onward", "aria-disabled") != "true":
        page.keyboard.press("ArrowRight")
        heard.add(page.locator("#said").text_content())
    assert any("√2" in words for words in heard)
    assert not any("Dividing by 2" in words or "Copy a link" in words for words in heard)


def test_the_focus_stays_where_something_is_left(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), reduced_motion="reduce")
    entered(page, "#temperature", "0.5")
    page.locator("#temperature").press("Enter")
    assert page.evaluate("document.activeElement.id") == "temperature"
    page.locator("#reset").press("Enter")
    assert page.evaluate("document.activeElement.id") == "more"
    page.keyboard.press("s")
    for _ in range(12):  # through several steps
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == "stage-heading"
    page.keyboard.press("b")
    assert page.evaluate("document.activeElement.id") == "stage-heading"


def test_the_letters_of_the_strip_are_those_of_the_head(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("two_heads"))
    letters = page.locator("#contents a[href='#weights'] .symbol")
    assert letters.text_content() == "A(1)"
    page.evaluate("location.hash = 'follow=0.1'")
    letters.get_by_text("2", exact=True).wait_for(state="attached")
    assert letters.text_content() == "A(2)"
