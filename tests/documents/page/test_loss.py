"""The loss on a page: stated, kept up to date after a change, and printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.documents.page.opening import cells, settled, sheet, sheet_page


def test_the_page_states_it_and_keeps_it_up_to_date(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("backward")
    page = opened(sheet_page("backward"))
    step = page.locator("#loss_linear")
    assert "its value is not given" in step.locator(".why").inner_text()
    assert "one number" in step.locator("summary").inner_text()
    assert cells(page)["L_lin||0|0"] == values["loss_linear"].decimals(4)[0][0]
    page.locator("#dO td[data-c], [id=d_output] td[data-c]").first.focus()
    page.keyboard.type("1/3")
    page.keyboard.press("Enter")
    settled(page)
    given = {item.name: values.exact(item.letter).tolist() for item in derivation.inputs}
    given["dO" if "dO" in given else "d_output"][0][0] = "1/3"
    then = derivation.evaluate(**given)
    assert cells(page)["L_lin||0|0"] == then["loss_linear"].decimals(4)[0][0].replace("-", "−")
    page.locator("#loss_linear .home td[data-c]").click()
    where = page.locator("#origin .where").inner_text()
    assert where.startswith("loss linear.") and "row" not in where
    line = page.locator("#loss_linear .worked").evaluate("(m) => m.textContent")
    assert line.endswith(then["loss_linear"].decimals(4)[0][0].replace("-", "−"))
    page.emulate_media(media="print")
    assert page.locator("#loss_linear .worked").is_visible()
    border = page.locator("#loss_linear .home td[data-c]").evaluate(
        "(cell) => getComputedStyle(cell).borderLeftWidth"
    )
    assert border == "0px"  # a number has no brackets
