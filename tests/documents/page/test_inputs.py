"""Every input of a page, changed in Chromium: all that follows is what `derive` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from symattn import VARIANTS, Attention, Notation, variant
from symattn.attention.example import small_example
from symattn.derivations import Derivation, Evaluation
from symattn.documents import html
from symattn.documents.html import html_document
from symattn.documents.page.live import Live, live
from symattn.documents.page.matrices import MatrixView
from symattn.documents.shown import Shown
from symattn.errors import SymattnError
from symattn.sheets.worksheet import read_worksheet
from tests.documents.page.opening import cells, settled, texts_of_values
from tests.documents.page.test_certified import Edit, in_python
from tests.gates import EXAMPLES
from tests.shares import share

#: Masks that are given, alone and with others, beside those of the variants.
MASKS: Mapping[str, Attention] = {
    "boolean and causal": Attention(mask=["boolean", "causal"]),
    "causal or global": Attention(mask={"any": ["causal", {"global": [1]}]}),
    "boolean of each head": Attention(mask={"boolean": "head"}, heads=2, source="self"),
    "boolean and padding": Attention(mask=["boolean", {"padding": 2}], source="self"),
    "boolean, sigmoid": Attention(mask="boolean", normaliser="sigmoid"),
    "boolean, sparsemax": Attention(mask="boolean", normaliser="sparsemax"),
    "boolean, hard": Attention(mask="boolean", normaliser="hardmax"),
    "boolean, unfolded": Attention(mask="boolean", unfold=True),
    "boolean, unfolded plainly": Attention(mask="boolean", unfold="plain"),
    "boolean, linear": Attention(mask="boolean", feature_map="relu"),
    "boolean, cached": Attention(mask="boolean", cache=True, source="self"),
    "additive and causal": Attention(mask=["additive", "causal"]),
    "additive and boolean": Attention(mask=["additive", "boolean"]),
    "documents": Attention(mask={"documents": [1, 1, 2]}),
    "prefix and padding": Attention(mask=[{"prefix": 2}, {"padding": 2}]),
}

#: Texts for an entry, of which each change takes the next.
TEXTS = ("0.5", "-1", "0.15", "2/3", "0", "3")


#: Goes where a link leads, and waits until the page has read it.
FOLLOW = """(text) => new Promise((done) => {
  addEventListener("hashchange", () => setTimeout(done), { once: true });
  location.hash = text;
})"""


@dataclass(frozen=True)
class Subject:
    """What a page is made of, and in which notation."""

    derivation: Derivation
    evaluation: Evaluation
    notation: Notation = field(default_factory=Notation)


def subjects() -> Iterator[tuple[str, Callable[[], Subject]]]:
    """By name: all variants, masks that are given, gradients, examples, tokens as columns."""

    def small(spec: Attention, notation: Notation | None = None, **how: Any) -> Subject:
        return Subject(*small_example(spec, tokens=3, **how), notation or Notation())

    for row in VARIANTS:
        yield row.name, partial(small, row.spec)
    for name, spec in MASKS.items():
        yield name, partial(small, spec)
    masked = variant("masked").spec
    yield "masked, backward", partial(small, masked, gradient=())
    columns = Notation(convention="columns")
    yield "masked, columns", partial(small, masked, columns)
    yield "boolean of each head, columns", partial(small, MASKS["boolean of each head"], columns)
    for path in EXAMPLES:
        yield f"example {path.stem}", partial(of_worksheet, path)


def of_worksheet(path: Path) -> Subject:
    """An example, all of its tokens at once."""
    sheet = read_worksheet(path)
    derivation = sheet.derivation()
    return Subject(derivation, sheet.evaluate(derivation), sheet.notation)


def page_of(subject: Subject) -> str:
    """Its page."""
    return html_document(Shown(subject.derivation, subject.evaluation, notation=subject.notation))


@dataclass
class Result:
    """How many changes of an input were tried, entries compared, and where they differ."""

    changes: int = 0
    refused: int = 0
    compared: int = 0
    wrong: list[tuple[str, ...]] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.changes:4} changes, {self.refused} refused, {self.compared:6} entries, "
            f"{len(self.wrong)} wrong"
        )


def changes(view: MatrixView, every: bool) -> Iterator[tuple[int, str]]:
    """Places in the page's order, every one or one in the middle, with a text for each."""
    item = view.item
    places = [*view.places(whole=True)]
    count = len(places)
    for k, place in enumerate(range(count) if every else [count // 2]):
        head, i, j = places[place]
        value = str(view.exact[(i, j) if head is None else (head, i, j)])
        if item.name == "allowed":
            yield place, "0" if value == "1" else "1"
        elif item.fixed and item.name == "mask" and value in ("0", "-oo"):
            yield place, "0" if value == "-oo" else "-inf"
        else:
            yield place, next(t for t in (*TEXTS[k % 6 :], *TEXTS) if t != value)


def in_order(view: MatrixView, place: int) -> int:
    """The place in the array of a place on the page."""
    head, i, j = [*view.places(whole=True)][place]
    at = (j, i) if view.notation.flipped else (i, j)
    shape = view.evaluation.shape(view.item.letter)
    return int(np.ravel_multi_index(at if head is None else (head, *at), shape))


def compare(page: Any, subject: Subject, every: bool = False) -> dict[str, Result]:
    """Changes one entry after the other of each input of an opened page, by its link."""
    values, notation = subject.evaluation, subject.notation
    items = {item.letter: item for item in (*subject.derivation.inputs, *subject.derivation.steps)}
    first = {letter: texts_of_values(values, letter) for letter in items}
    given = {item.letter: first[item.letter] for item in subject.derivation.inputs}
    found: dict[str, Result] = {}
    for letter in live(subject.derivation).letters:
        view = MatrixView(items[letter], values, notation)
        result = found.setdefault(items[letter].name, Result())
        for place, text in changes(view, every):
            shape, texts = first[letter]
            at = in_order(view, place)
            changed = (shape, [*texts[:at], text, *texts[at + 1 :]])
            edit = Edit({**given, letter: changed}, "", notation.digits)
            said = f"x={quote(items[letter].name)}.{place}:{quote(text)}"
            page.evaluate(FOLLOW, said)
            settled(page)
            assert page.evaluate("location.hash").startswith(f"#{said}"), said
            shown = cells(page)
            result.changes += 1
            try:
                wanted = dict(texts_of(in_python(subject.derivation, edit, ""), notation))
            except SymattnError:  # there is no number, and no other one is proven
                result.refused += 1
                assert "undefined" in shown.values(), said
                continue
            for key in shown.keys() & wanted.keys():
                result.compared += 1
                if shown[key] != wanted[key]:
                    result.wrong.append((said, key, wanted[key], shown[key]))
    return found


def texts_of(values: Evaluation, notation: Notation) -> Iterator[tuple[str, str]]:
    """What each cell should show."""
    for item in (*values.inputs, *values.steps):
        view = MatrixView(item, values, replace(notation, exact=False))
        for head, i, j in view.places():
            key = f"{item.letter}|{'' if head is None else head}|{i}|{j}"
            yield key, view.of(head).text(i, j)


ALL = dict(subjects())


@pytest.mark.parametrize("name", share([*ALL], 24, 6))
def test_what_follows_from_a_changed_input_is_what_derive_shows(
    name: str, opened: Callable[..., Any]
) -> None:
    subject = ALL[name]()
    page = opened(page_of(subject))
    found = compare(page, subject)
    assert all(result.changes and result.compared for result in found.values())
    assert [wrong for result in found.values() for wrong in result.wrong] == []


def test_a_mask_that_stays_as_it_was_would_be_seen(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program takes the mask as given, which follows from `allowed`."""

    def spoilt(derivation: Derivation) -> Live:
        return Live((*live(derivation).letters, derivation["mask"].letter), "")

    with monkeypatch.context() as patched:
        patched.setattr(html, "live", spoilt)
        subject = ALL["masked"]()
        document = page_of(subject)
    found = compare(opened(document), subject)
    assert found["allowed"].wrong
    assert not found["Q"].wrong
