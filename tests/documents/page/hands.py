"""A page in a reader's hands: numbers and queries dragged, goals tried, mistakes held.

``python -m tests.documents.page.hands --seconds 600 --seed 1`` does random things to the pages of
examples and variants in Chromium. After each it reads from the page's link what was changed, and
holds every cell, the sentence about one token and what is said of a goal against the derivation
with the same numbers. It prints how much was compared and every difference, and ends with 1 if
there is any.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from playwright.sync_api import sync_playwright

from symattn import VARIANTS, Notation
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.page.live import live
from symattn.documents.page.matrices import MatrixView
from symattn.documents.shown import Shown, Supposed
from symattn.errors import SymattnError
from symattn.mistakes.hypotheses import supposed
from tests.documents.page.opening import (
    cells,
    entered,
    settled,
    sheet,
    texts_of_values,
    variant,
)
from tests.documents.page.subjects import in_order, texts_of
from tests.documents.page.test_certified import Edit, in_python
from tests.documents.page.test_supposed import done_so, hold, release
from tests.fuzz.asking import options
from tests.gates import EXAMPLES

#: Texts that are typed, and temperatures.
NUMBERS = ("1/3", "-2", "0.15", "3", "0", "-0.5", "2/7", "1.25")
TEMPERATURES = ("0.5", "2", "1/3", "10", "0.1", "1")

#: How near an output has to come to what a goal asks for, and how equal shares have to be.
NEAR, EQUAL = 0.05, 0.01


@dataclass
class Hand:
    """A reader of a page: what was done to it, and what was found."""

    page: Any
    derivation: Derivation
    values: Evaluation
    numbers: random.Random
    offered: tuple[Supposed, ...] = ()
    done: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[Any, ...]] = field(default_factory=list)

    # ---- what is done ----

    def _one(self, selector: str) -> Any:
        """One of the elements in sight; None where there is none."""
        found = [one for one in self.page.locator(selector).all() if one.is_visible()]
        return self.numbers.choice(found) if found else None

    def _dragged(self, element: Any, over: Any = None) -> None:
        """The element dragged sideways, or to places over another one."""
        element.scroll_into_view_if_needed()
        box, whole = element.bounding_box(), over and over.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for _ in range(3):
            along, across = self.numbers.random(), self.numbers.random()
            to = (x + 180 * (along - 0.5), y)
            if whole:
                to = (whole["x"] + along * whole["width"], whole["y"] + across * whole["height"])
            self.page.mouse.move(*to)
        self.page.mouse.up()

    def drag_number(self) -> None:
        if cell := self._one(".dragged td[data-c]"):
            self._dragged(cell)

    def drag_query(self) -> None:
        if tip := self._one(".tip"):
            self._dragged(tip, tip.locator("xpath=.."))

    def move_query(self) -> None:
        if tip := self._one(".tip"):
            tip.focus()
            for _ in range(self.numbers.randint(1, 6)):
                self.page.keyboard.press(
                    "Arrow" + self.numbers.choice(["Up", "Down", "Left", "Right"])
                )

    def type_number(self) -> None:
        if cell := self._one(".dragged td[data-c]"):
            cell.click()
            cell.click()
            self.page.locator("td input").fill(self.numbers.choice(NUMBERS))
            self.page.locator("td input").press("Enter")

    def switch(self) -> None:
        if cell := self._one(".switched td[data-c]"):
            cell.click()
            cell.press("Enter")

    def warm(self) -> None:
        if self._one("#temperature"):
            entered(self.page, "#temperature", self.numbers.choice(TEMPERATURES))

    def follow(self) -> None:
        if choice := self._one("h1 select"):
            choice.select_option(index=self.numbers.randrange(choice.locator("option").count()))

    def undo(self) -> None:
        self.page.keyboard.press("Control+z")

    def act(self) -> None:
        """One of these things, the commoner ones more often."""
        usual = (self.drag_number, self.drag_query, self.follow, self.type_number)
        act = self.numbers.choice(
            (*usual, *usual, self.move_query, self.switch, self.warm, self.undo)
        )
        self.page.keyboard.press("Escape")
        act()
        self.done.append(act.__name__)
        settled(self.page)
        self.page.wait_for_timeout(380)  # the link follows a little later

    # ---- what is compared ----

    def link(self) -> dict[str, str]:
        """What the page's link says."""
        text = unquote(self.page.evaluate("location.hash")[1:])
        return dict(part.split("=", 1) for part in text.split(";") if "=" in part)

    def wanted(self) -> Evaluation:
        """The derivation with the numbers of the link; raises as `derive` does."""
        link = self.link()
        items = {item.name: item for item in (*self.derivation.inputs, *self.derivation.steps)}
        given = {
            item.letter: texts_of_values(self.values, item.letter)
            for item in self.derivation.inputs
        }
        for said in filter(None, link.get("x", "").split(",")):
            where, text = said.split(":")
            name, place = where.rsplit(".", 1)
            view = MatrixView(items[name], self.values, Notation())
            whole = given.setdefault(
                items[name].letter, texts_of_values(self.values, items[name].letter)
            )
            whole[1][in_order(view, int(place))] = text
        tempered = live(self.derivation).tempered if "t" in link else ""
        return in_python(self.derivation, Edit(given, link.get("t", ""), 4), tempered)

    def compare(self) -> Evaluation | None:
        """Holds every cell against the derivation; None where that has no value."""
        shown = cells(self.page)
        try:
            values = self.wanted()
            wanted = dict(texts_of(values, Notation()))
        except SymattnError:
            self._expect("undefined" in shown.values(), "undefined", "")
            return None
        for key in shown.keys() & wanted.keys():
            self._expect(shown[key] == wanted[key], "digits", (key, wanted[key], shown[key]))
        return values

    def _expect(self, holds: bool, what: str, told: Any) -> None:
        self.counts[what] += 1
        if not holds:
            self.wrong.append((what, told, self.link(), *self.done))

    def _weights(self, values: Evaluation) -> tuple[int, Any] | None:
        """The query that is followed, and its weights; None where there are none."""
        item = next((item for item in values.steps if item.name == "weights"), None)
        if item is None or not self.page.locator(".say").count():
            return None
        chosen = {
            choice.get_attribute("aria-label"): int(choice.input_value())
            for choice in self.page.locator("h1 select").all()
        }
        row, head = chosen.get("The token that is followed", 0), chosen.get("Its head", 0)
        view, array = MatrixView(item, values, Notation()), values.array(item.letter)
        masked = view.of(head if array.ndim == 3 else None).is_masked
        weights = array[head][row] if array.ndim == 3 else array[row]
        return row, np.array([w for k, w in enumerate(weights) if not masked(row, k)])

    def hear(self, values: Evaluation) -> None:
        """Holds the sentence about the token against its weights: the largest come first."""
        found = self._weights(values)
        said = self.page.locator(".say").inner_text() if found else ""
        if not found or " looks " not in said or "no key" in said:
            return
        heaviest = sorted(found[1], reverse=True)
        for told, weight in zip(
            re.findall(r"(under |over )?(\d+) % at (?!\d)", said), heaviest, strict=False
        ):
            near = abs(int(told[1]) - 100 * weight) <= 0.5 + 1e-9
            self._expect(near or told[0] != "", "shares told", (said, list(heaviest)))

    def aim(self, values: Evaluation) -> None:
        """Holds what is said of a goal against the numbers."""
        found, goal = self._weights(values), self._one(".goals button")
        if found is None or goal is None or not len(found[1]):
            return
        goal.click()
        words, told = goal.inner_text(), self.page.locator("p.goal").inner_text()
        goal.click()
        row, weights = found
        is_met = None
        if words == "share equally":
            is_met = max(weights) - min(weights) <= EQUAL
        elif words.startswith("make") and "output" in {step.name for step in values.steps}:
            target = [float(text.replace("−", "-")) for text in re.findall(r"[−\d.]+", words)]
            output = values.array(next(s.letter for s in values.steps if s.name == "output"))
            is_met = (
                bool(np.all(np.abs(output[row][:2] - target) <= NEAR)) if output.ndim == 2 else None
            )
        elif told.startswith("Reached"):
            is_met = max(weights) > 0.5
        if is_met is not None:
            self._expect(told.startswith("Reached") == is_met, "goals", (words, told))

    def suppose(self, values: Evaluation) -> None:
        """Holds a mistake on the page, where no mask and no temperature was changed."""
        link = self.link()
        if "t" in link or re.search(r"\b(mask|allowed)\.", link.get("x", "")):
            return
        given = {item.name: values.exact(item.letter).tolist() for item in self.derivation.inputs}
        one = self.numbers.choice(self.offered)
        wanted = done_so(self.derivation, self.derivation.evaluate(**given), one)
        shown = cells(hold(self.page, one.instead))
        for key, text in wanted.items():
            self._expect(
                shown[key].replace("undefined", "?") == text, "digits of mistakes", (key, text)
            )
        release(self.page)


def handle(hand: Hand, times: int) -> None:
    """Does so many things to a page, and compares after each."""
    for _ in range(times):
        hand.act()
        values = hand.compare()
        if values is None:
            hand.undo()
            settled(hand.page)
            continue
        hand.hear(values)
        hand.aim(values)
        if hand.offered and hand.numbers.random() < 0.3:
            hand.suppose(values)


def subjects() -> Iterator[tuple[str, Callable[[], tuple[Derivation, Evaluation]]]]:
    """Examples and variants by name."""
    for path in EXAMPLES:
        yield path.stem, lambda name=path.stem: sheet(name)  # type: ignore[misc]
    for row in VARIANTS:
        yield row.name, lambda name=row.name: variant(name)  # type: ignore[misc]


def main() -> int:
    asked = options(__doc__, seconds=600, seed=1)
    numbers = random.Random(asked.seed)
    counts: Counter[str] = Counter()
    wrong: list[tuple[Any, ...]] = []
    end = time.monotonic() + asked.seconds
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, made in numbers.sample([*subjects()], k=len([*subjects()])):
            if time.monotonic() > end:
                break
            derivation, values = made()
            offered = supposed(derivation, values)
            file = Path(folder, f"{name}.html")
            file.write_text(html_document(Shown(derivation, values, supposed=offered)), "utf-8")
            page = browser.new_page()
            page.goto(file.as_uri())
            hand = Hand(page, derivation, values, numbers, offered)
            handle(hand, 14)
            page.close()
            counts += hand.counts
            wrong += [(name, *each) for each in hand.wrong]
    print(
        *(f"{count:8} {what}" for what, count in counts.items()), f"{len(wrong):8} wrong", sep="\n"
    )
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
