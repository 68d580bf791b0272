"""Undo, the link, the worksheet of a changed page, the row of controls, the bound of work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symattn import VARIANTS, Attention
from symattn.cli import main
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.page.matrices import pretty
from symattn.documents.page.worksheet import Tables
from symattn.documents.shown import Shown
from symattn.sheets.rewriting import head_of, head_of_variant
from symattn.sheets.worksheet import worksheet_of
from tests.documents.page.opening import (
    cells,
    entered,
    field_of,
    settled,
    sheet,
    typed,
    variant,
    variant_page,
)
from tests.documents.page.test_certified import CERTIFIED, run
from tests.shares import share

HEAD = Tables({}, {"variant": '"causal"'})


@pytest.fixture
def page(opened: Callable[..., Any]) -> Any:
    """The page of causal attention, which can write its worksheet."""
    return opened(html_document(Shown(*sheet("causal"), worksheet=HEAD)))


def fragment(page: Any) -> str:
    """The fragment, without the chosen entry."""
    parts = page.evaluate("location.hash").removeprefix("#").split(";")
    return ";".join(part for part in parts if not part.startswith("at="))


# ---- undo and redo ---------------------------------------------------------------------------


def test_every_change_can_be_undone_and_done_again(page: Any) -> None:
    seen = [(cells(page), "")]
    changes: list[Callable[[], object]] = [
        lambda: typed(page, "1/3", 1),
        lambda: page.locator("#mask .switched td[data-c]").nth(1).press("Enter"),
        lambda: entered(page, "#temperature", "0,5"),
        lambda: entered(page, "#decimals", "6"),
        lambda: page.click("#reset"),
    ]
    for change in changes:
        change()
        seen.append((cells(settled(page)), fragment(page)))
    assert seen[-1] == seen[0]
    assert seen[-2][1] == "x=X.1:1/3,mask.1:0;t=0%2C5;d=6"
    for wanted in reversed(seen[:-1]):
        page.locator(".say").click()
        page.keyboard.press("Control+z")
        assert (cells(settled(page)), fragment(page)) == wanted
    assert page.get_attribute("#undo", "aria-disabled") == "true"
    for wanted in seen[1:]:
        page.click("#redo")
        assert (cells(settled(page)), fragment(page)) == wanted
    page.keyboard.press("Control+y")  # nothing is left
    page.keyboard.press("Control+Shift+z")
    assert cells(settled(page)) == seen[-1][0]


@pytest.mark.nightly
def test_escape_gives_a_number_up_and_printing_takes_it(page: Any) -> None:
    field_of(page).fill("9")
    page.keyboard.press("Escape")
    assert fragment(page) == ""
    field_of(page).fill("9")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("td input").count() == 0
    assert fragment(page) == "x=X.0:9"


@pytest.mark.nightly
def test_a_field_keeps_its_own_undo_and_what_was_typed(page: Any) -> None:
    typed(page, " sqrt(2) ")
    assert field_of(page).input_value() == "sqrt(2)"
    page.keyboard.press("Escape")
    field = field_of(page, 1)
    field.fill("7")
    field.press("Control+z")
    assert fragment(page) == "x=X.0:sqrt(2)"
    page.keyboard.press("Escape")
    typed(page, "7", 1)
    page.locator(".say").click()
    page.keyboard.press("Control+z")
    assert fragment(page) == "x=X.0:sqrt(2)"
    assert field_of(page, 1).input_value() == "0"


@pytest.mark.nightly
def test_a_drag_of_the_slider_is_one_step_and_proves_nothing_meanwhile(page: Any) -> None:
    box = page.locator("#slider").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    shown = []
    for step in range(1, 5):
        page.mouse.move(box["x"] + box["width"] * (0.5 + step / 10), y)
        page.wait_for_timeout(60)
        shown.append(cells(page)["A||2|0"])
        assert "provisional" in page.locator("#state").inner_text()
        assert "proven anew" not in page.locator("body").inner_text()
    assert len(set(shown)) > 2
    page.mouse.up()
    assert "proven anew" in settled(page).locator("#state").inner_text()
    assert fragment(page).startswith("t=")
    page.click("#undo")
    assert fragment(page) == ""
    assert page.get_attribute("#undo", "aria-disabled") == "true"


@pytest.mark.nightly
def test_switches_are_drawn_over(page: Any) -> None:
    flips = page.locator("#mask .switched td[data-c]")
    flips.nth(1).scroll_into_view_if_needed()
    first, last = flips.nth(1).bounding_box(), flips.nth(2).bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=4)
    assert "provisional" in page.locator("#state").inner_text()
    page.mouse.up()
    assert fragment(settled(page)) == "x=mask.1:0,mask.2:0"
    flips.nth(5).focus()
    page.keyboard.press("Space")
    assert fragment(page) == "x=mask.1:0,mask.2:0,mask.5:0"
    page.click("#undo")
    page.click("#undo")
    assert fragment(page) == ""


@pytest.mark.nightly
def test_arrows_change_the_last_place(page: Any) -> None:
    typed(page, "0.10")
    field = field_of(page)
    field.press("ArrowDown")
    assert field.input_value() == "0.09"
    field.press("Enter")
    typed(page, "0")
    field_of(page).press("ArrowDown")
    assert fragment(page) == "x=X.0:-1"


@pytest.mark.nightly
def test_a_number_is_dragged_by_tenths_and_typed_at_once(page: Any) -> None:
    cell = page.locator("#X .dragged td[data-c]").first
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for right, text in ((9, "1.1"), (41, "1.5"), (-33, "0.6")):
        page.mouse.move(x + right, y)
        assert cell.inner_text() == text
        assert "provisional" in page.locator("#state").inner_text()
    page.mouse.up()
    assert fragment(settled(page)) == "x=X.0:0.6"
    assert page.locator("td input").count() == 0  # the end of a drag is no click
    page.mouse.click(x, y)
    assert page.locator("td input").input_value() == "0.6"
    page.keyboard.press("Escape")
    page.keyboard.type("-7/3")
    page.keyboard.press("Enter")
    assert fragment(settled(page)) == "x=X.0:-7/3"
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8, y)
    page.mouse.up()
    assert fragment(settled(page)) == "x=X.0:-2.2"
    page.click("#undo")
    page.click("#undo")
    page.click("#undo")
    assert fragment(page) == ""


# ---- the link --------------------------------------------------------------------------------


def reopened(page: Any, hash_: str) -> Any:
    page.goto("about:blank")
    page.goto(page.file + hash_)
    return settled(page)


@pytest.fixture
def link(page: Any) -> Callable[[str], Any]:
    page.file = page.url.partition("#")[0]
    return lambda hash_: reopened(page, hash_)


def test_a_link_is_followed_also_where_what_is_chosen_is_about_to_be_written(page: Any) -> None:
    """The chosen entry is written into the fragment a moment later; a link may change it first."""
    page.locator("section#weights .home td[data-c]").nth(3).focus()
    page.evaluate("history.replaceState(null, '', '#d=6')")  # as it is before it is told of it
    page.wait_for_timeout(500)
    page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")
    assert fragment(settled(page)) == "d=6"
    assert page.locator("#decimals").input_value() == "6"


@pytest.mark.nightly
def test_a_link_opens_what_was_changed(page: Any, link: Callable[[str], Any]) -> None:
    typed(page, "sqrt(2)")
    typed(page, "2/3", 3)
    entered(page, "#decimals", "9")
    page.locator("section#weights .home td[data-c]").nth(3).click()
    page.wait_for_timeout(500)
    wanted, hash_ = cells(settled(page)), page.evaluate("location.hash")
    assert hash_ == "#x=X.0:sqrt(2),X.3:2/3;d=9;at=weights.3"
    link(hash_)
    assert cells(page) == wanted
    assert page.locator("td.chosen").count()
    assert page.evaluate("location.hash") == hash_
    assert page.input_value("#decimals") == "9"
    page.click("#reset")
    page.click("#undo")
    assert cells(settled(page)) == wanted


@pytest.mark.nightly
def test_the_id_of_an_element_still_works(link: Callable[[str], Any]) -> None:
    page = link("#weights")
    assert page.evaluate("scrollY") > 300
    assert page.evaluate("location.hash") == "#weights"
    page = link("#d=3;weights")
    assert page.evaluate("scrollY") > 300
    assert page.input_value("#decimals") == "3"
    page.locator("#contents a", has_text="Scores").first.click()
    page.wait_for_timeout(600)
    assert page.evaluate("location.hash") == "#d=3;scores"
    assert "Scores" in page.evaluate("document.activeElement.textContent")
    top = page.locator("section#scores").bounding_box()["y"]
    assert 0 < top < 200


#: Links, what of them is kept, and what is said of the rest.
STRANGE = (
    ("x=X.0:1/0,X.1:5", "x=X.1:5", "“X.0:1/0”"),
    ("x=Y.0:1;d=5", "d=5", "“Y.0:1”"),
    ("x=X.99:1,X.1:-inf,X.2:3", "x=X.2:3", "these parts of the link: “X.99:1”, “X.1:-inf”"),
    ("x=scores.0:1;t=-1;t=2", "t=2", "“scores.0:1”, “t=-1”"),
    ("d=99;d=x;q=1;=;d=2", "d=2", "“d=99”, “d=x”, “q=1” …"),
    ("x=X.0:%E0%A4%A;t=3", "t=3", "“X.0:%E0%A4%A”"),
    ("x=mask.1:5,mask.1:0", "x=mask.1:0", "“mask.1:5”"),
    ("x=X.0:<img src=x onerror=alert(1)>;d=5", "d=5", "onerror"),
    ("x=X.0:%3Cimg%20src%3Dx%3E", "", "%3Cimg"),
    ("constructor=1;__proto__=2;toString=3", "", "“constructor=1”"),
    ("at=weights.999;d=5", "d=5", "“at=weights.999”"),
    ("x=" + "X.0:1," * 6000, None, "too long"),
)


@pytest.mark.nightly
def test_a_strange_link_says_what_it_cannot_use(link: Callable[[str], Any]) -> None:
    for hash_, kept, said in STRANGE:
        page = link(f"#{hash_}")
        assert kept in (None, fragment(page))
        told = page.locator("#state").inner_text()
        assert said in told.replace("%20", " ")
        assert "\n" not in told
        assert page.locator("#state *, img").count() == 0


def test_the_link_is_copied(page: Any) -> None:
    entered(page, "#decimals", "3")
    page.evaluate(
        "document.addEventListener('copy', () => { window.copied = getSelection() + ''; })"
    )
    page.click("#more")
    page.click("#link")
    page.locator("#state", has_text="Link copied.").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#menu").is_hidden()
    assert page.evaluate("document.activeElement.id") == "more"


# ---- the worksheet ---------------------------------------------------------------------------


def downloaded(page: Any) -> str:
    page.click("#more")
    with page.expect_download() as download:
        page.click("#download")
    page.keyboard.press("Escape")
    return Path(download.value.path()).read_text("utf-8")


def mismatches(page: Any, text: str, left_out: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    """Where the page differs from what its worksheet derives to."""
    found = worksheet_of(text)
    derivation = found.derivation()
    values = found.evaluate(derivation)
    wrong = []
    for key, shown in cells(settled(page)).items():
        letter, head, i, j = key.split("|")
        place = (int(i), int(j)) if head == "" else (int(head), int(i), int(j))
        if found.notation.convention == "columns":
            place = (*place[:-2], place[-1], place[-2])
        if letter in left_out:
            continue
        wanted = pretty(values.digits(letter, place, found.notation).text)
        if wanted != shown:
            wrong.append((key, wanted, shown))
    return wrong


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 50))
def test_a_changed_variant_is_derived_to_the_same_digits(
    name: str, opened: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "variant.html"
    arguments = ["derive", name, "--size", "tokens=2", "--format", "html", "-o", str(file)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    page = opened(file.read_text("utf-8"))
    fields = page.locator(".dragged td[data-c]")
    for place, text in enumerate(("sqrt(2)", "2/3", "1,5", "e^-1")):
        typed(page, text, (place * 7) % fields.count())
    flips = page.locator("section#mask .switched td[data-c]")
    if flips.count():
        flips.nth(1).press("Enter")
    if page.evaluate("JSON.parse(document.querySelector('#data').textContent).worksheet.scale"):
        entered(page, "#temperature", "sqrt(3)/2")
    entered(page, "#decimals", "7")
    text = downloaded(page)
    assert mismatches(page, text, ("B",)) == []  # which the mask that was changed came from
    assert mismatches(page, text.replace('"2/3"', "0.7"), ("B",))


@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("causal", '"boolean"'),
        ("explicit-sparse", '["boolean", { "top-k" = 2 }]'),
        ("deepseek-sparse", '["boolean", { "index-top-k" = 2 }]'),
    ],
)
def test_a_changed_mask_still_chooses_keys(name: str, mask: str) -> None:
    spec = next(row.spec for row in VARIANTS if row.name == name)
    assert head_of_variant(name, "", spec, None).of_truths == mask


@pytest.mark.nightly
def test_what_no_worksheet_says_is_told(opened: Callable[..., Any]) -> None:
    arguments = ["derive", "alibi", "--size", "tokens=2", "--format", "html"]
    page = opened(CliRunner().invoke(main, arguments).output)
    entered(page, "#temperature", "2")
    page.click("#more")
    page.click("#download")
    told = "No worksheet says this: a temperature that divides biased cannot be said there"
    assert told in page.locator("#state").inner_text()


def test_numbers_in_words_are_exact_and_told_as_typed(opened: Callable[..., Any]) -> None:
    page = opened(variant_page("cosine"))
    for place, text in enumerate(("sqrt(2)", "0", "exp(1)")):
        typed(page, text, place)
    assert "→ exp(1)" in page.locator("#changed").inner_text()
    assert cells(page)["Q_u||0|0"] == "1"  # √2/√(√2 √2 + 0)


def columns() -> tuple[Derivation, Evaluation, Any]:
    found = worksheet_of(
        '# hostile\ntitle = "T \\"q\\" \\\\ \\u007f"\n'
        '[attention]\nmask = [[true, true], [true, false]]\ntokens = ["a\\n\\"", "#"]\n'
        '[given]\nQ = [[1, "sqrt(2)/3"], [3, 0.50]]\nK = [[1, 1], [0, 1]]\n'
        'V = [["1/3", 0], ["e^-2", 1]]\n[notation]\nconvention = "columns"\nindex_base = 0\n'
        'symbols = { weights = "P", "d_k" = "d_h" }\n[claims]\nscores = [["?", 1], [1, 1]]\n'
    )
    derivation = found.derivation()
    return derivation, found.evaluate(derivation), found


@pytest.mark.nightly
def test_other_conventions_and_hostile_words_come_back(opened: Callable[..., Any]) -> None:
    derivation, values, found = columns()
    page = opened(
        html_document(Shown(derivation, values, notation=found.notation, worksheet=head_of(found)))
    )
    text = downloaded(typed(page, "1/7", 1))
    assert mismatches(page, text) == []
    again = worksheet_of(text)
    assert (again.title, again.labels, again.notation) == (
        found.title,
        found.labels,
        found.notation,
    )


@pytest.mark.nightly
def test_a_backward_pass_has_no_temperature(opened: Callable[..., Any], tmp_path: Path) -> None:
    """Its formulas are those of the attention without one; its worksheet comes back."""
    file = tmp_path / "backward.html"
    arguments = ["derive", "causal", "--size", "tokens=2", "--gradient", "Q,K", "--format", "html"]
    assert CliRunner().invoke(main, [*arguments, "-o", str(file)]).exit_code == 0
    page = opened(file.read_text("utf-8"))
    assert page.locator("#temperature, #slider").count() == 0
    assert mismatches(page, downloaded(typed(page, "sqrt(2)"))) == []


# ---- what is certified -------------------------------------------------------------------------


@pytest.mark.nightly
def test_steps_beyond_the_bound_say_so(opened: Callable[..., Any]) -> None:
    numbers = np.arange(2 * 64 * 2).reshape(2, 64, 2) % 7
    derivation = Attention(heads=2).derivation()
    values = derivation.evaluate(Q=numbers, K=numbers[:, ::-1], V=numbers)
    page = opened(html_document(Shown(derivation, values)))
    page.click("#more")
    page.fill("#decimals", "3")
    page.press("#decimals", "Enter")
    page.wait_for_selector(".uncertified", timeout=60_000)
    steps = page.locator("section.step:has(.uncertified)").evaluate_all(
        "all => all.map((s) => s.id)"
    )
    names = [step.name for step in derivation]
    assert steps == names[names.index(steps[0]) :]
    assert 0 < len(steps) < len(names)
    assert f"before {steps[0]} are proven anew" in page.locator("#changed").inner_text()
    shown = {
        step: page.locator(f"section#{step} .home td[data-c]").first.inner_text() for step in names
    }
    assert [step for step in names if shown[step].endswith("?")] == steps


BOUNDED = """
certified.allow(3);
const found = [certified.sum([1, 2]), certified.product(3, 4), certified.sum([1])];
console.log(JSON.stringify([found.map((x) => certified.shown(x, 2).text), certified.allow(Infinity),
  certified.shown(certified.sum([1, 1]), 2).text]));
"""


def test_nothing_is_known_beyond_the_bound(tool: Callable[[str], str]) -> None:
    assert run(tool("node"), CERTIFIED + BOUNDED, []) == [["3", "12", "?"], True, "2"]


WORKED = """([m, i, j, h]) => {
    const made = document.createElement("div");
    made.innerHTML = symattn.worked(m, i, j, h);
    return [...made.querySelectorAll("mn")].map((number) => number.textContent);
}"""


def strangers(printed: list[str], true: list[float]) -> list[str]:
    """The decimals that are none of these numbers, rounded."""
    found = []
    for text in printed:
        if "." not in text:
            continue
        half = 0.5 * 10.0 ** -len(text.partition(".")[2])
        if not any(abs(float(text) - abs(one)) <= 1.000001 * half for one in true):
            found.append(text)
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["multi-head", "cosine"])
def test_a_line_that_the_page_makes_has_the_digits_of_what_it_names(
    name: str, opened: Callable[..., Any]
) -> None:
    """Not those of an exponential of rounded scores."""
    derivation, values = variant(name)
    page = opened(variant_page(name))
    entered(page, "#decimals", "5")  # from here on the page makes its lines
    step = derivation["weights"]
    before, weights = values.array(step.operands[0]), values.array(step.letter)
    made = 0
    for place in np.ndindex(*weights.shape):
        head = int(place[0]) if step.per_head else None
        row = before[place[:-1]]
        raised = np.exp(row)
        true = [*row[np.isfinite(row)], *raised, raised.sum(), weights[place]]
        printed = page.evaluate(WORKED, [step.letter, int(place[-2]), int(place[-1]), head])
        assert strangers(printed, true) == [], (name, place, printed)
        made += sum("." in text for text in printed) > 3
    assert made
    assert strangers(["4.1132"], [2**0.5, np.exp(2**0.5)]) == ["4.1132"]
    assert strangers(["4.1133", "1.41"], [2**0.5, np.exp(2**0.5)]) == []
