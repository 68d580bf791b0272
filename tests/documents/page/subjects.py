"""What pages are made of: variants, masks that are given, gradients, examples, columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from symattn import VARIANTS, Attention, Notation, variant
from symattn.attention.example import small_example
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.page.matrices import MatrixView
from symattn.documents.shown import Shown
from symattn.sheets.worksheet import read_worksheet
from tests.gates import EXAMPLES

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


def in_order(view: MatrixView, place: int) -> int:
    """The place in the array of a place on the page."""
    head, i, j = [*view.places(whole=True)][place]
    at = (j, i) if view.notation.flipped else (i, j)
    shape = view.evaluation.shape(view.item.letter)
    return int(np.ravel_multi_index(at if head is None else (head, *at), shape))


def texts_of(values: Evaluation, notation: Notation) -> Iterator[tuple[str, str]]:
    """What each cell should show."""
    for item in (*values.inputs, *values.steps):
        view = MatrixView(item, values, replace(notation, exact=False))
        for head, i, j in view.places():
            key = f"{item.letter}|{'' if head is None else head}|{i}|{j}"
            yield key, view.of(head).text(i, j)


ALL = dict(subjects())
