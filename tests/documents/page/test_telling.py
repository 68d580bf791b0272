"""What the stage says in each frame: every number is that of the matrix it is said to be of.

The numbers of a sentence are held against `derive`: which they have to be follows here from the
step, its operands and the row that is followed, not from what the page computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from symattn import VARIANTS, Notation
from symattn.derivations import Derivation, Evaluation, Step
from symattn.documents.html import html_document
from symattn.documents.page import frame
from symattn.documents.shown import Shown
from tests.documents.page.opening import sheet, variant
from tests.documents.page.test_page import digits_of
from tests.program import source
from tests.shares import share

NAMES = tuple(row.name for row in VARIANTS)

#: As many presses of Next lead at most from the opening to the output of one token.
MOST_PRESSES = 14

#: Every frame from the opening to the end: the step, and its sentences.
TOLD = """() => {
    const frames = [];
    for (;;) {
        const seen = [...document.querySelectorAll("#stage .seen p")].map((p) => p.textContent);
        const where = document.querySelector("#stage .where").textContent;
        const {hash} = document.querySelector("#contents [aria-current]");
        frames.push({step: hash.slice(1), told: where ? [where] : seen, end: seen.length > 0});
        const next = document.querySelector("#onward");
        if (seen.length || next.getAttribute("aria-disabled") === "true") return frames;
        next.click();
    }
}"""
REASONS = "[...document.querySelectorAll('.why')].map((one) => one.textContent)"

_ORDINAL = re.compile(r"\b(?:query|key|component|head) \d+|\d+ keys", re.IGNORECASE)
_NUMBER = re.compile(r"−?(?:\d+(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|∞)")


def numbers(sentence: str) -> list[str]:
    return _NUMBER.findall(_ORDINAL.sub("", sentence))


@dataclass(frozen=True)
class Followed:
    """The row of a query, in its first head: the numbers that each frame has to say."""

    derivation: Derivation
    values: Evaluation
    row: int

    @cached_property
    def digits(self) -> dict[str, str]:
        return digits_of(self.derivation, self.values, Notation())

    @cached_property
    def steps(self) -> dict[str, Step]:
        return {step.letter: step for step in self.derivation.steps}

    @property
    def weights(self) -> Step:
        return next(step for step in self.steps.values() if step.weights)

    def array(self, letter: str) -> Any:
        found = self.values.array(letter)
        return found[0] if found.ndim == 3 else found

    def texts(self, letter: str, i: int) -> list[str]:
        head = "0" if self.values.array(letter).ndim == 3 else ""
        return [self.digits[f"{letter}|{head}|{i}|{j}"] for j in range(self.array(letter).shape[1])]

    def column(self, letter: str, j: int) -> list[str]:
        return [self.texts(letter, i)[j] for i in range(self.array(letter).shape[0])]

    def listed(self, texts: list[str]) -> list[str]:
        """All of a list, or of more than five the first four and how many more there are."""
        return texts if len(texts) <= 5 else [*texts[:4], str(len(texts) - 4)]

    def said(self, step: Step, count: int) -> Iterator[Sequence[str | float]]:
        """The numbers of each of so many frames of a step; of sums and exponentials none."""
        own = self.texts(step.letter, self.row)
        masks = [one for one in step.operands if self.is_mask(one)]
        if step.weights and count > 1:
            yield from [[]] * (count - 1)
            order = sorted(range(len(own)), key=lambda k: -self.array(step.letter)[self.row, k])
            yield [*self.listed(own if len(own) <= 5 else [own[k] for k in order]), "1"]
        elif count > 1:
            left, right = step.operands[0], step.operands[-1]
            for j, text in enumerate(own):
                if left == self.weights.letter and self.array(left).shape[1] > 4:
                    yield [text]
                elif left == self.weights.letter:
                    yield [*self.column(right, j), *map(float, self.array(left)[self.row]), text]
                else:
                    yield [*self.texts(left, self.row), *self.texts(right, j), text]
        elif masks and not step.weights:
            hidden = self.array(masks[0])[self.row] == -np.inf
            gone = [text for text, hides in zip(own, hidden, strict=True) if hides][:1]
            yield [
                *(number for text in gone for number in (text, "0")),
                *(text for text, hides in zip(own, hidden, strict=True) if not hides),
            ]
        else:
            yield self.listed(own)

    def is_mask(self, letter: str) -> bool:
        """Whether it hides keys and does nothing else."""
        step = self.steps.get(letter)
        array = self.array(letter)
        isolated = bool(np.all((array == 0) | (array == -np.inf)))
        return step is not None and step.fixed and step.logits and isolated

    def most(self, row: int) -> list[str]:
        """The largest weight of a row; nothing where all are 0."""
        weights = self.array(self.weights.letter)[row]
        k = int(np.argmax(weights))
        return [self.texts(self.weights.letter, row)[k]] if weights[k] > 0 else []

    def seen(self) -> list[list[str]]:
        """The numbers of the three sentences at the end."""
        letter = self.weights.letter
        weights = self.array(letter)[self.row]
        order = sorted((k for k in range(len(weights)) if weights[k]), key=lambda k: -weights[k])
        mixed = next(step for step in self.steps.values() if letter in step.operands)
        parts = self.listed([self.texts(letter, self.row)[k] for k in order])
        others = (row for row in range(self.array(letter).shape[0]) if row != self.row)
        last = [text for row in others for text in self.most(row)]
        *_, end = self.steps.values()
        told = [self.most(self.row), [*self.texts(mixed.letter, self.row), *parts]]
        return [*told, *([self.texts(end.letter, self.row)] if end is not mixed else []), last]

    def wrong(self, frames: list[dict[str, Any]], reasons: list[str]) -> list[Any]:
        """Sentences with other numbers than they have to have."""
        found: list[Any] = []
        opening, *rest = frames
        if numbers(opening["told"][0]):
            found.append(opening)
        named = {step.name: step for step in self.derivation.steps}
        for name, some in groupby(rest, lambda one: one["step"]):
            group = [one for one in some if not one["end"]]
            for one, wanted in zip(group, self.said(named[name], len(group)), strict=True):
                sentence = one["told"][0]
                for reason in sorted(reasons, key=len, reverse=True):
                    sentence = sentence.removeprefix(reason)
                said = numbers(sentence)
                if "Dividing by" in sentence:
                    said = said[1:]
                if wanted and not agree(said, wanted):
                    found.append((one, wanted))
            if named[name].weights and len(group) > 1:
                found += self.wrong_shares(named[name], [one["told"][0] for one in group])
        for sentence, wanted in zip(frames[-1]["told"], self.seen(), strict=True):
            if not agree(numbers(sentence), wanted):
                found.append((sentence, wanted))
        return found

    def wrong_shares(self, step: Step, told: list[str]) -> Iterator[Any]:
        """Exponentials, sums, and whether the weights add up to 1, judged by NumPy."""
        scores = self.array(step.operands[0])[self.row]
        weights = self.array(step.letter)[self.row]
        parts = np.exp(scores) if len(told) == 3 else scores
        k = int(np.argmax(weights))
        whole = [parts[k] / weights[k] if weights[k] else 0]
        if len(parts) > 5:
            parts = [*(parts[j] for j in np.argsort(-weights, kind="stable")[:4]), len(parts) - 4]
        for sentence, wanted in zip(told[-3:-1], [parts, whole][-len(told) + 1 :], strict=True):
            for text, value in zip(numbers(sentence), wanted, strict=True):
                decimals = len(text.partition(".")[2]) or 9
                if abs(Decimal(text) - Decimal(float(value))) > Decimal(6) / 10 ** (decimals + 1):
                    yield sentence, text, value
        if ("less than" in told[-1]) != bool(weights.sum() < 1 - 1e-9):
            yield told[-1]


def agree(said: list[str], wanted: Sequence[str | float]) -> bool:
    """Whether numbers are the texts that are wanted, or, of others, rounded to their last digit."""
    if len(said) != len(wanted):
        return False
    for one, other in zip(said, wanted, strict=True):
        if isinstance(other, str) and one != other:
            return False
        unit = Decimal(1).scaleb(-len(one.partition(".")[2]))
        if not isinstance(other, str) and abs(Decimal(one) - Decimal(other)) > unit / 2 + Decimal(
            "1e-12"
        ):
            return False
    return True


def frames_of(page: Any, row: int) -> list[dict[str, Any]]:
    """Every frame of a row, from the opening to the end."""
    page.evaluate(f"""() => new Promise((done) => {{
        addEventListener("hashchange", done, {{once: true}});
        location.hash = "follow={row}.0;stage=";
    }})""")
    page.wait_for_selector("#stage:not([hidden])")
    page.keyboard.press("Home")
    frames: list[dict[str, Any]] = page.evaluate(TOLD)
    return frames


#: Where each of the kinds of sentences is told.
USUAL = ("multi-head", "causal-linear")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in USUAL else pytest.mark.nightly) for n in NAMES],
)
def test_every_number_is_that_of_its_matrix(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    page = opened(html_document(Shown(derivation, values)), reduced_motion="reduce")
    reasons = [f"{reason} " for reason in page.evaluate(REASONS)]
    for row in (0, 2):
        followed = Followed(derivation, values, row)
        frames = frames_of(page, row)
        assert followed.wrong(frames, reasons) == []
        assert frames[-1]["end"] and len(frames) - 2 <= MOST_PRESSES
        assert all(f"uery {row + 1}" in "".join(one["told"]) for one in frames)


@pytest.mark.nightly
def test_tokens_have_their_names(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("causal")
    page = opened(html_document(Shown(derivation, values)), reduced_motion="reduce")
    page.get_by_role("button", name="Follow one token").click()
    frames = page.evaluate(TOLD)
    assert "We follow sat" in frames[0]["told"][0]
    assert frames[2]["told"] == [
        "sat is compared with cat: the dot product of its query (1, 1) and the key (0, 1) is 1."
    ]
    assert "sat is compared with itself" in frames[3]["told"][0]
    page.evaluate("location.hash = 'stage=scaled'")
    root = page.wait_for_selector("#stage .where math msqrt", state="attached")
    assert root.evaluate("(root) => root.namespaceURI.endsWith('MathML')")
    masked = [one["told"][0] for one in frames_of(page, 0) if one["step"] == "masked"]
    assert masked == [
        "No query may attend to a later key. The mask hides cat and sat from the: these scores "
        "become −∞, so that their weights will be 0; the other stays 0.7071."
    ]


#: Changes of the program that make it say something wrong.
WRONG = {
    "the number of another row": (
        "const result = at.text;",
        "const result = new Entry(at.item, at.h, 0, at.j).text;",
    ),
    "a vector of another key": ("entryAt(part, { ...at, h,", "entryAt(part, { ...at, j: 0, h,"),
    "a sum that is not 1": ('isPlain ? "1" : "less than 1"', '"less than 1"'),
    "the smallest weight": ("const most = Math.max(...places.map(value))", "const most = 0.14"),
}


@pytest.mark.parametrize("what", share([*WRONG], 2))
def test_a_wrong_sentence_would_be_found(
    what: str, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = WRONG[what]
    assert source().count(right) == 1
    monkeypatch.setattr(frame, "scripts", lambda: source().replace(right, wrong))
    derivation, values = variant("causal")
    page = opened(html_document(Shown(derivation, values)), reduced_motion="reduce")
    reasons = [f"{reason} " for reason in page.evaluate(REASONS)]
    assert Followed(derivation, values, 2).wrong(frames_of(page, 2), reasons)
