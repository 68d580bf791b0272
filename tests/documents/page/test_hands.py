"""A moment of a page in a reader's hands; and what is compared with other numbers is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from tests.documents.page.hands import Hand, handle
from tests.documents.page.opening import sheet


def test_what_a_reader_does_is_what_derive_shows(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("rileys_dog")
    hand = Hand(
        opened(html_document(Shown(derivation, values))), derivation, values, random.Random(2)
    )
    handle(hand, 6)
    assert hand.counts["digits"] > 200
    assert hand.counts["shares told"] and hand.counts["goals"]
    assert hand.wrong == []
    given = {item.name: values.exact(item.letter) for item in derivation.inputs}
    others = {name: (1 - array).tolist() for name, array in given.items()}
    handle(replace(hand, values=derivation.evaluate(**others)), 1)
    assert {what for what, *_ in hand.wrong} >= {"digits", "shares told"}
