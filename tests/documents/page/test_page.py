"""The interactive page in a real browser: what it shows, where it says it comes from, live."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from symattn import VARIANTS, Attention, Notation
from symattn.derivations import Derivation, Evaluation, worked
from symattn.documents.html import html_document
from symattn.documents.page.colour import SCHEMES, SHADES, contrast, shade
from symattn.documents.page.elements import Markup, el, inside
from symattn.documents.page.matrices import pretty
from symattn.documents.shown import Shown
from symattn.notation.text import line
from symattn.sheets.worksheet import read_worksheet
from tests.command import put
from tests.documents.page.opening import (
    cells,
    entered,
    field_of,
    settled,
    sheet,
    sheet_page,
    typed,
    variant,
    variant_page,
)
from tests.gates import HOSTILE_LABELS, HOSTILE_TITLE
from tests.shares import share
from tests.worked_lines import faults

NAMES = tuple(row.name for row in VARIANTS)
NOTATION = Notation()

#: Words that try to become a program, a style, a link or a template, or to turn the text around.
INJECTIONS = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    "</style><style>td{display:none}",
    '"><img src=x onerror="window.hit = 1">',
    "javascript:window.hit=1",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "<!-- <script>",
    "]]>",
    "a\u202eb",
    "a\u2028b",
    "&lt;b&gt; &amp;",
)


def entries(derivation: Derivation, values: Evaluation) -> Iterator[tuple[str, str, Any]]:
    """Key, letter and place of every entry."""
    for item in (*derivation.inputs, *derivation.steps):
        for place in np.ndindex(*values.array(item.letter).shape):
            head = str(place[0]) if item.per_head else ""
            yield f"{item.letter}|{head}|{place[-2]}|{place[-1]}", item.letter, place


# ---- what it shows ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", share(NAMES, 24))
def test_every_variant_shows_the_proven_digits(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    page = opened(html_document(Shown(derivation, values, notation=Notation(limit=0))))
    assert cells(page) == digits_of(derivation, values, NOTATION)
    same_numbers(page, derivation, values)


def digits_of(derivation: Derivation, values: Evaluation, notation: Notation) -> dict[str, str]:
    """What every cell has to show."""
    return {
        key: pretty(values.digits(letter, place, notation).text)
        for key, letter, place in entries(derivation, values)
    }


def same_numbers(page: Any, derivation: Derivation, values: Evaluation) -> None:
    """After a change digits are those of `derive`, by the program; the entry rules agree."""
    edited = page.evaluate("""() => {
        document.querySelector("#decimals").value = "6";
        document.querySelector("#decimals").dispatchEvent(new Event("change", {bubbles: true}));
        return document.body.classList.contains("live");
    }""")
    assert edited
    assert cells(settled(page)) == digits_of(derivation, values, Notation(digits=6))
    keys = [(letter, place) for _, letter, place in entries(derivation, values)]
    asked = [
        [letter, int(place[-2]), int(place[-1]), int(place[0]) if len(place) == 3 else None]
        for letter, place in keys
    ]
    steps = [step.letter for step in derivation.steps]
    found = page.evaluate(
        """([asked, steps]) => asked.map(([m, i, j, h]) => [String(symattn.value(m, i, j, h)),
            steps.includes(m) ? String(symattn.byRule(m, i, j, h)) : null])""",
        [asked, steps],
    )
    for (letter, place), (live, by_rule) in zip(keys, found, strict=True):
        array = values.array(letter)
        size = 1e-15 * np.abs(array[np.isfinite(array)]).max(initial=0)
        told = [live] if by_rule is None else [live, by_rule]
        for text in told:
            number = float(text.replace("Infinity", "inf"))
            assert np.isclose(number, array[place], rtol=1e-12, atol=10 * size), (letter, place)


@pytest.mark.nightly
def test_worked_lines_are_those_of_every_document(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("two_heads")
    page = opened(sheet_page("two_heads"))
    for step in derivation.steps:
        for place in np.ndindex(*values.array(step.letter).shape):
            head = int(place[0]) if step.per_head else None
            i, j = int(place[-2]), int(place[-1])
            tree = worked(values, step, i, j, head, NOTATION)
            shown = page.evaluate(
                "([m, i, j, h]) => symattn.worked(m, i, j, h)", [step.letter, i, j, head]
            )
            assert shown == f'<math display="block">{inside(tree)}</math>'


@pytest.mark.parametrize("name", share(NAMES, 36, 6))
def test_lines_of_changed_numbers_give_their_results(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    page = opened(variant_page(name))
    typed(page, "-7/3")
    if page.locator("#temperature").count():
        entered(page, "#temperature", "0.7")
    settled(page)
    lines = [
        in_text(page.evaluate("([m, i, j, h]) => symattn.worked(m, i, j, h)", asked))
        for asked in places_of(derivation, values)
    ]
    assert [fault for line in lines for fault in faults(line, 4, {})] == []
    assert sum(len(re.findall("[=≈]", line)) > 1 for line in lines) > len(lines) / 2
    if name in ("causal", "self"):
        provisional = page.evaluate("""() => {
            document.querySelector("#decimals").value = "3";
            document.querySelector("#decimals").dispatchEvent(new Event("change", {bubbles: true}));
            return [symattn.worked("A", 0, 0), document.querySelector("#changed").textContent];
        }""")
        assert "=" not in in_text(provisional[0])
        assert "provisional" in provisional[1]


def places_of(derivation: Derivation, values: Evaluation) -> list[list[Any]]:
    """Letter, row, column and head of every entry of the steps."""
    return [
        [letter, int(place[-2]), int(place[-1]), int(place[0]) if len(place) == 3 else None]
        for _, letter, place in entries(derivation, values)
        if letter in {step.letter for step in derivation.steps}
    ]


def in_text(markup: str) -> str:
    """A worked line of the page as the plain text that `faults` reads, its name being x."""
    line = _plain(ElementTree.fromstring(markup))
    _, sign, rest = re.split("([=≈])", line, maxsplit=1)
    return re.sub(" ?([=≈]) ?", r" \1 ", f"x{sign}{rest}").replace("\u2061", "")


def _plain(element: ElementTree.Element) -> str:
    inner = [_plain(child) for child in element]
    match element.tag:
        case "mfrac":
            return f"(({inner[0]})/({inner[1]}))"
        case "msup":
            return f"{inner[0]}^({inner[1]})"
        case "msub":
            return "_".join(inner)
        case "msqrt":
            return f"√({''.join(inner)})"
        case "mrow":
            inner = [
                re.sub("^([-+−])", r" \1 ", part) if k else part for k, part in enumerate(inner)
            ]
    return (element.text or "") + "".join(inner)


# ---- what it does ----------------------------------------------------------------------------


def chosen(page: Any, kind: str) -> set[str]:
    return set(
        page.evaluate(f"""() => [...document.querySelectorAll("td.{kind}")].map((cell) => {{
        const {{m, h = ""}} = cell.closest("table").dataset;
        return `${{m}}|${{h}}|${{cell.parentElement.dataset.r}}|${{cell.dataset.c}}`;
    }})""")
    )


def test_a_cell_says_where_it_comes_from_and_pointing_shows_another(
    opened: Callable[..., Any],
) -> None:
    page = opened(sheet_page("causal"))
    assert page.locator("#origin").is_hidden()
    page.locator("section#scores .home td[data-c]").nth(5).click()  # cat, sat
    assert chosen(page, "chosen") == {"S||1|2"}
    assert chosen(page, "of-q") == {"Q||1|0", "Q||1|1"}
    assert chosen(page, "of-k") == {"K||2|0", "K||2|1"}
    back = chosen(page, "from")
    assert {"X||1|0", "X||1|1", "X||2|0", "X||2|1"} <= back
    assert not {"X||0|0", "X||0|1"} & back
    assert page.locator("#origin .where").inner_text() == (
        "scores: cat, sat. Underlined: what it depends on further back."
    )
    assert page.locator("#origin .line").inner_text().replace("\n", "") != ""
    page.locator("#origin .chip").first.click()
    assert chosen(page, "chosen") == {"Q||1|1"}  # of the larger product
    page.mouse.move(5, 400)  # off what lies below the panel
    page.keyboard.press("Escape")
    assert page.locator("#origin").is_hidden()
    assert chosen(page, "chosen") == set()
    page.locator("section#weights .home td[data-c]").first.click()
    page.locator("section#weights .home td[data-c]").nth(8).hover()
    assert chosen(page, "chosen") == {"A||2|2"}
    page.mouse.move(5, 400)
    assert chosen(page, "chosen") == {"A||0|0"}


def test_the_keyboard_reaches_every_cell_and_step(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    page.locator("section#Q .home td[data-c]").first.focus()
    for key, wanted in (
        ("ArrowRight", "Q||0|1"),
        ("ArrowDown", "Q||1|1"),
        ("ArrowLeft", "Q||1|0"),
        ("ArrowUp", "Q||0|0"),
    ):
        page.keyboard.press(key)
        assert chosen(page, "chosen") == {wanted}
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, 0)")
    page.evaluate("document.activeElement.blur()")
    seen = []
    for _ in range(4):
        page.keyboard.press("n")
        seen.append(page.evaluate("document.activeElement.id"))
    assert seen[1:] == ["Q-heading", "K-heading", "V-heading"]
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.id") == seen[-2]


def test_steps_fold_and_print_shows_the_derivation_alone(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    page.locator("section#weights h2").click()
    assert page.locator("section#weights table").first.is_hidden()
    page.locator("section#weights h2").click()
    assert page.locator("section.step table:visible").count() > 5
    page.locator("section#weights .home td[data-c]").first.click()
    page.emulate_media(media="print")
    for part in ("#contents", "#controls", "#origin"):
        assert page.locator(part).is_hidden()
    assert page.locator("section.step table:visible").count() > 5
    assert page.locator(".hint").first.is_hidden()
    cell = "section#weights .home tbody tr:first-child td:first-of-type"
    drawn = page.evaluate(
        f"getComputedStyle(document.querySelector('{cell}'), '::before').borderTop"
    )
    assert re.match(r"1(\.5)?px solid", drawn)  # a background would not be printed
    shaded = page.evaluate(f"getComputedStyle(document.querySelector('{cell}')).printColorAdjust")
    assert shaded == "exact"


def test_what_is_no_number_is_refused(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    box = field_of(page)
    for wrong in ("abc", "1/0", "", "1e999", "alert(1)"):
        box.fill(wrong)
        box.press("Enter")
        assert box.get_attribute("aria-invalid") == "true"
        assert not page.evaluate("document.body.classList.contains('live')")
    box.fill("-inf")
    box.press("Enter")
    assert box.get_attribute("aria-invalid") == "true"
    said = "−∞ has no meaning in X; only scores and masks hold it."
    assert page.locator("#state").inner_text() == said
    box.fill("2")
    box.press("Enter")
    assert box.count() == 0
    for field, wrong in (("#temperature", "-1"), ("#temperature", ""), ("#decimals", "99")):
        if field == "#decimals":
            page.click("#more")
        page.fill(field, wrong)
        page.press(field, "Enter")
        assert page.locator(field).get_attribute("aria-invalid") == "true"


@pytest.mark.nightly
def test_what_is_said_of_the_digits_follows_the_page(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    derivation, values = sheet("causal")
    page = opened(html_document(Shown(derivation, values, check=values.check())))
    proven, before = "Every digit shown is proven", cells(page)
    assert proven in page.locator("footer").inner_text()
    typed(page, "3")
    entered(page, "#temperature", "2")
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        told = page.locator("#changed").inner_text()
        assert proven not in page.locator("main").inner_text()
        assert "Every digit is proven anew" in told
        assert "X [the, column 1]: 1 → 3" in told
        assert "temperature 2" in told
    page.emulate_media(media="screen")
    changed = page.evaluate("document.documentElement.outerHTML")
    without = opened(f"<!doctype html>{changed}", java_script_enabled=False)
    assert "Every digit is proven anew" in without.locator("#changed").inner_text()
    assert proven not in without.locator("main").inner_text()
    kept = re.sub(r' style="[^"]*"', "", changed)  # which the policy would block, and say so
    again = opened(f"<!doctype html>{kept}")
    assert proven in again.locator("footer").inner_text()
    assert "proven anew" not in again.locator("body").inner_text()
    assert cells(again) == before
    typed(page, "1")
    assert proven not in page.locator("main").inner_text()
    entered(page, "#temperature", "1")
    assert proven in page.locator("footer").inner_text()
    assert page.locator("#state").inner_text() == "Every digit is proven."
    assert cells(page) == before


def test_a_changed_mask_is_no_longer_called_causal(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    section = page.locator("section#mask")
    assert "causal" in section.text_content()
    assert section.locator(".altered").is_hidden()
    flips = page.locator("section#mask .switched td[data-c]")
    flips.nth(0).press("Enter")
    for part in (".why", ".lines", ".said > .spoken"):
        assert section.locator(part).first.is_hidden()
    assert "the rule that the mask had no longer describes it" in section.inner_text()
    without = (
        Attention(mask="additive")
        .derivation()
        .evaluate(Q=[[1]], K=[[1], [2]], V=[[1], [2]], mask=[["-inf", "-inf"]])
    )
    step = without.steps[-2]
    assert step.name == "weights"
    wanted = line(worked(without, step, 0, 0))
    page.locator("section#weights .home td[data-c]").first.click()
    said = page.locator("#origin .line").inner_text()
    assert wanted.endswith("= 0 (no key may be attended to)")
    assert re.sub(r"\s", "", said).endswith(re.sub(r"\s|a_11", "", wanted))
    flips.nth(0).press("Enter")
    assert section.locator(".altered").is_hidden()
    assert section.locator(".lines").is_visible()


# ---- how it is made ------------------------------------------------------------------------------


@pytest.mark.nightly
def test_words_stay_words(tmp_path: Path, opened: Callable[..., Any]) -> None:
    labels = [*INJECTIONS, *HOSTILE_LABELS]
    rows = [[index % 5, 1] for index in range(len(labels))]
    title = HOSTILE_TITLE + "".join(INJECTIONS)
    told = [f"title = {json.dumps(title)}", f"attention.tokens = {json.dumps(labels)}"]
    path = put(
        tmp_path / "hostile.toml", "\n".join(told + [f"given.{name} = {rows}" for name in "QKV"])
    )
    found = read_worksheet(path)
    derivation = found.derivation()
    page = opened(
        html_document(
            Shown(
                derivation, found.evaluate(derivation), notation=Notation(limit=0), notes=INJECTIONS
            )
        )
    )
    assert page.evaluate("window.hit") is None
    assert page.locator("img, iframe, [onerror], [onclick]").count() == 0
    names = page.locator("section#scores .home tbody th").all_text_contents()
    assert names == [label.translate({0x202E: 0xFFFD, 0x2028: 0xFFFD}) for label in labels]
    assert page.locator(".titled").text_content().startswith(HOSTILE_TITLE)
    page.locator("section#scores .home td[data-c]").first.click()
    assert INJECTIONS[0] in page.locator("#origin .where").text_content()
    assert page.evaluate("window.hit") is None


def test_the_policy_lets_nothing_else_in(browser: Any, tmp_path: Path) -> None:
    document = sheet_page("causal")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', document)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src &#x27;none&#x27;")
    file = put(
        tmp_path / "policy.html",
        document.replace("</main>", "<script>window.hit = 1</script></main>"),
    )
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(file.as_uri())
    assert page.evaluate("window.hit") is None
    assert len(refused) == 1
    assert "Content Security Policy" in refused[0]
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('img'), {src: 'x.png'}))"
    )
    page.wait_for_timeout(100)
    assert len(refused) == 2
    page.close()


def test_axe_finds_nothing(opened: Callable[..., Any], node_file: Callable[[str], Path]) -> None:
    """With fields, panel, menu and what is changed in sight; formulas alone, as a page opens."""
    axe = node_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    for name, width, scheme in (("causal", 360, "light"), ("two_heads", 1600, "dark")):
        page = opened(sheet_page(name), width=width, color_scheme=scheme)
        assert axe_faults(page, axe) == []
        field_of(page)
        page.locator("section#weights .home td[data-c]").nth(1).click()
        page.click("#more")
        entered(page, "#temperature", "3")
        assert axe_faults(page, axe) == []
    page = opened(html_document(Shown(Attention(mask="causal").derivation())), width=360)
    assert axe_faults(page, axe) == []


def axe_faults(page: Any, axe: str) -> list[tuple[str, str]]:
    """What axe-core objects to, each with the first element that shows it."""
    page.evaluate(f"{axe};0")
    found = page.evaluate("""async () => (await axe.run()).violations.map(
        (each) => [each.id, each.nodes[0].html])""")
    return [(rule, html) for rule, html in found]


@pytest.mark.nightly
def test_the_nu_checker_finds_nothing(
    tool: Callable[[str], str], node_file: Callable[[str], Path], tmp_path: Path
) -> None:
    jar = node_file("vnu-jar/build/dist/vnu.jar")
    for name in ("causal", "two_heads", "it_cat_mat"):
        page = sheet_page(name)
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    for name in ("llama", "t5"):
        (tmp_path / f"{name}.html").write_text(variant_page(name), encoding="utf-8")
    symbols = html_document(Shown(Attention(mask="causal").derivation()))
    (tmp_path / "symbols.html").write_text(symbols, encoding="utf-8")
    spoilt = put(tmp_path / "spoilt.html", symbols.replace("<main", "<mian"))
    command = [tool("java"), "-jar", str(jar), "--format", "json"]
    files = sorted(map(str, tmp_path.glob("*.html")))
    run = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert {each["url"] for each in json.loads(run.stderr)["messages"]} == {f"file:{spoilt}"}


# ---- its parts -----------------------------------------------------------------------------

#: The least contrast of any text on any ground of the page.
LEAST = 4.5

#: Which inks are written on which grounds.
WRITTEN: tuple[tuple[str, str], ...] = (
    *(
        (ink, ground)
        for ink in ("ink", "soft", "accent", "live")
        for ground in ("ground", "card", "quiet")
    ),
    ("ink", "chosen"),
)

#: Edges that tell kinds of cells apart need 3 to 1 against the card (WCAG 1.4.11).
EDGES = ("chosen-edge",)


def test_every_ink_can_be_read_on_its_ground() -> None:
    for scheme, colours in SCHEMES.items():
        for ink, ground in WRITTEN:
            assert contrast(colours[ink], colours[ground]) >= LEAST, (scheme, ink, ground)
        for edge in EDGES:
            assert contrast(colours[edge], colours["card"]) >= 3, (scheme, edge)
        for level in range(SHADES):
            assert contrast(*shade(scheme, level)) >= LEAST, (scheme, level)


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # WebAIM's example
    assert contrast("#767676", "#ffffff") >= 4.5


def test_shades_run_one_way() -> None:
    from symattn.documents.page.colour import luminance

    for scheme, sign in (("light", -1), ("dark", 1)):
        levels = [sign * luminance(shade(scheme, level)[0]) for level in range(SHADES)]
        assert levels == sorted(levels)


def test_elements_escape_all_but_markup() -> None:
    assert el("p", "<b>", Markup("<i>x</i>"), title='"<') == (
        '<p title="&quot;&lt;">&lt;b&gt;<i>x</i></p>'
    )
    assert el("td", "a\u202eb", hidden=True, id=None) == "<td hidden>a\ufffdb</td>"
