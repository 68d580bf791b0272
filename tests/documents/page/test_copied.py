"""What "Copy LaTeX" copies: the formula and the matrices of `derive`, which amsmath sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from symattn import Attention, Notation
from symattn.attention.example import small_example, small_inputs
from symattn.derivations import Evaluation
from symattn.documents.html import html_document
from symattn.documents.latex import displays
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.evaluate.value_view import heads_of, value_view
from symattn.notation.latex import latex
from tests.documents.page.opening import settled
from tests.documents.page.subjects import ALL, FOLLOW, Subject, page_of
from tests.documents.page.test_certified import Edit, in_python
from tests.shares import share

#: Chooses an entry of every step, clicks the button, and tells what was copied, by step.
COPIED = """async () => {
  const copied = {};
  let at = "";
  const writeText = async (text) => { copied[at] = text; };
  Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
  for (const section of document.querySelectorAll("main > section.step")) {
    at = section.id;
    section.querySelector(".home td[data-c]").focus();
    document.querySelector("#origin .latex").click();
    await new Promise((done) => setTimeout(done));
  }
  return copied;
}"""


def display(body: str) -> str:
    return f"\\[\n{body}\n\\]"


def in_latex(subject: Subject, values: Evaluation, without: str = "") -> dict[str, str]:
    """The formula and the matrices of each step, as documents in LaTeX have them."""
    notation = subject.notation
    found = {}
    for section in outline(Shown(subject.derivation, subject.evaluation, notation=notation)).steps:
        step = subject.derivation[section.name]
        lines = tuple(line for line in section.lines if line.view == "formula")
        bodies = [] if section.name == without else [*displays(lines)]
        for head in heads_of(values, step, notation):
            bodies += map(latex, value_view(values, step, head, notation))
        found[section.name] = "\n".join(map(display, bodies))
    return found


@pytest.mark.parametrize("name", share([*ALL], 72))
def test_a_step_is_copied_as_derive_writes_it(name: str, opened: Callable[..., Any]) -> None:
    subject = ALL[name]()
    page = opened(page_of(subject))
    page.keyboard.press("Escape")  # a page with a story opens on the stage
    assert page.evaluate(COPIED) == in_latex(subject, subject.evaluation)


LABELS = {"n": ["it", "a_b & c", "the 50% \\frac"]}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tokens", "notation", "labels"),
    [
        (12, Notation(), {}),
        (3, Notation(symbols={"weights": "P", "Q": r"\tilde{Q}"}, index_base=0), {}),
        (3, Notation(convention="columns", head=1), LABELS),
    ],
)
def test_notations_are_copied(
    tokens: int, notation: Notation, labels: Mapping[str, list[str]], opened: Callable[..., Any]
) -> None:
    spec = Attention(source="self", mask="causal", heads=2)
    spec, given = small_inputs(spec, tokens=tokens)
    derivation = spec.derivation(given, labels=labels)
    values = derivation.evaluate(**given)
    page = opened(html_document(Shown(derivation, values, notation=notation)))
    assert page.evaluate(COPIED) == in_latex(Subject(derivation, values, notation), values)


@pytest.mark.nightly
def test_a_changed_page_is_copied_as_it_is_shown(opened: Callable[..., Any]) -> None:
    subject = ALL["causal"]()
    page = opened(page_of(subject))
    page.evaluate(FOLLOW, "x=X.0:1/3,mask.1:0;t=1/3;d=6")
    copied = settled(page).evaluate(COPIED)
    values, derivation = subject.evaluation, subject.derivation
    items = (*derivation.inputs, derivation["mask"])
    given = {
        item.letter: (
            values.exact(item.letter).shape,
            [str(value).replace("oo", "inf") for value in values.exact(item.letter).ravel()],
        )
        for item in items
    }
    given["X"][1][0], given["M"][1][1] = "1/3", "0"
    true = in_python(derivation, Edit(given, "1/3", 6), "Z")
    shown = Subject(derivation, values, Notation(digits=6))
    wanted = in_latex(shown, true, without="mask")
    plain, divided = r"\frac{S}{\sqrt{d_{k}}}", r"\frac{S}{T \sqrt{d_{k}}}"
    assert plain in wanted["scaled"]
    divided += r" \qquad T \approx 0.333333"
    wanted["scaled"] = wanted["scaled"].replace(plain, divided, 1)
    assert copied == wanted
    page.evaluate(FOLLOW, "t=0.5")
    assert r" \qquad T = 0.5" in settled(page).evaluate(COPIED)["scaled"]


def test_what_is_not_proven_is_copied_with_a_remark(opened: Callable[..., Any]) -> None:
    subject = ALL["ratio"]()
    page = opened(page_of(subject))
    assert "%" not in page.evaluate(COPIED)["weights"]
    page.evaluate(FOLLOW, "x=Q.0:0,Q.1:0")
    copied = settled(page).evaluate(COPIED)["weights"]
    assert copied.startswith("% Where something is divided by 0 there is no number;")
    assert r"\text{undefined}" in copied


def test_exact_values_are_copied_as_the_page_has_them(opened: Callable[..., Any]) -> None:
    subject = ALL["causal"]()
    exact = replace(subject, notation=Notation(exact=True))
    page = opened(page_of(exact))
    copied = page.evaluate(COPIED)
    wanted = in_latex(exact, exact.evaluation)
    assert copied["scaled"] == wanted["scaled"]
    assert copied["weights"].count(r"\\") == 2  # what is longer than a cell is a decimal there
    assert r"A \approx \left[" in copied["weights"]
    page.evaluate(FOLLOW, "d=5")
    decimals = in_latex(replace(subject, notation=Notation(digits=5)), subject.evaluation)
    assert settled(page).evaluate(COPIED) == decimals


@pytest.mark.nightly
def test_a_matrix_that_was_opened_is_copied_in_full(opened: Callable[..., Any]) -> None:
    derivation, values = small_example(Attention(), tokens=12)
    page = opened(html_document(Shown(derivation, values)))
    page.locator("#weights button.open").click()
    whole = in_latex(Subject(derivation, values, Notation(limit=0)), values)
    assert page.evaluate(COPIED)["weights"] == whole["weights"]


def test_the_button_is_reached_and_says_what_it_did(opened: Callable[..., Any]) -> None:
    page = opened(page_of(ALL["causal"]()))
    page.evaluate("document.execCommand = () => true")
    page.evaluate("delete Navigator.prototype.clipboard")
    page.locator("#Q .home td[data-c]").first.focus()
    button = page.locator("#origin .latex")
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#state").inner_text() == "LaTeX copied."
    page.evaluate("document.execCommand = () => false")
    button.press("Enter")
    assert "to be copied by hand" in page.locator("#state").inner_text()
    selected = "document.activeElement.value.slice(document.activeElement.selectionStart)"
    assert page.evaluate(selected).startswith("\\[\nQ = X W_{Q}\n\\]\n\\[\nQ = ")
