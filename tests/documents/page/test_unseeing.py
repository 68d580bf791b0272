"""Queries that may attend to no key: in every document, and on a page after a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from symattn import Attention, Notation
from symattn.derivations import Derivation, Evaluation
from symattn.documents.data import derivation_data
from symattn.documents.html import html_document
from symattn.documents.job import document
from symattn.documents.shown import Shown
from symattn.documents.unseeing import unseeing
from tests.documents.page.opening import settled, sheet_page

ROWS = [[1, 0], [0, 1], [1, 1]]
BECAUSE = "its weights are 0 and sum to 0, by convention, since the formula alone would be 0/0."


def hidden(
    rows: tuple[int, ...], labels: bool = False, **choices: Any
) -> tuple[Derivation, Evaluation]:
    """An attention in which these queries may attend to no key."""
    names = {"n": ["a", "b", "c"], "m": ["x", "y", "z"]} if labels else {}
    derivation = Attention(mask="boolean", **choices).derivation(labels=names)
    allowed = [[int(i not in rows)] * 3 for i in range(3)]
    return derivation, derivation.evaluate(Q=ROWS, K=ROWS, V=ROWS, allowed=allowed)


def said(subject: tuple[Derivation, Evaluation], notation: Notation | None = None) -> str:
    derivation, values = subject
    return unseeing(values, derivation["weights"], notation or Notation())


def test_which_queries_and_why() -> None:
    assert said(hidden(())) == ""
    assert said(hidden((1,))) == f"But query 2 may attend to no key: {BECAUSE}"
    assert said(hidden((1,)), Notation(index_base=0)).startswith("But query 1 may")
    assert said(hidden((0, 2), labels=True)) == (
        "But the queries “a” and “c” may attend to no key: " + BECAUSE.replace("its", "their", 1)
    )
    assert said(hidden((0,), normaliser="sparsemax")).endswith("since no score is finite.")
    assert said(hidden((0,), unfold=True)) == f"But query 1 may attend to no key: {BECAUSE}"
    for normaliser in ("sigmoid", "softmax-off-by-one", "none"):  # none of which sums to 1
        assert said(hidden((0,), normaliser=normaliser)) == ""


def test_a_float_that_is_0_is_no_row_without_a_key() -> None:
    derivation = Attention(scale=False, unfold=True).derivation()
    given = {"Q": [[1]], "K": [[-800], [-900]], "V": [[1], [2]]}
    assert said((derivation, derivation.evaluate(**given))) == ""


def test_one_head_alone_is_named_with_its_query() -> None:
    derivation = Attention(heads=2, bias="given").derivation()
    rows = [[[1, 0], [0, 1]]] * 2
    bias = [[[0, 0], [0, 0]], [["-inf", "-inf"], [0, 0]]]
    values = derivation.evaluate(Q=rows, K=rows, V=rows, bias=bias)
    assert said((derivation, values)).startswith("But query 1 in head 2 may attend to no key")


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["text", "md", "latex", "mathml", "html"])
def test_every_format_says_it(form: str) -> None:
    words = ('<p class="unseeing">' if form == "html" else "") + "But query 2 may attend to no key"
    assert words in str(document(hidden((1,))[1], form))
    told = words in str(document(hidden(())[1], form))  # compared here: a page is long to print
    assert not told


def test_json_says_it_in_its_reason() -> None:
    data = derivation_data(Shown(*hidden((1,))))
    assert BECAUSE in json.dumps(data["steps"]["weights"]["reason"])


@pytest.mark.nightly
@pytest.mark.parametrize("convention", ["rows", "columns"])
def test_the_page_says_after_a_change_what_a_new_one_would(
    convention: Any, opened: Callable[..., Any]
) -> None:
    notation = Notation(convention=convention)
    page = opened(html_document(Shown(*hidden((), labels=True), notation=notation)))
    for rows in ((1,), (0, 2), (0, 1, 2), ()):
        changes = [
            f"allowed.{3 * i + j if convention == 'rows' else 3 * j + i}:0"
            for i in rows
            for j in range(3)
        ]
        page.evaluate(f"location.hash = 'x={','.join(changes)};d=5'")
        settled(page)
        found = page.locator("#weights .unseeing").all_inner_texts()
        assert "".join(found) == said(hidden(rows, labels=True), notation)
    fresh = opened(html_document(Shown(*hidden((1,), labels=True), notation=notation)))
    assert fresh.locator("#weights .unseeing").count() == 1
    page = opened(sheet_page("causal"))
    assert page.locator(".unseeing").count() == 0
