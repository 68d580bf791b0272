"""The opening: every sentence is true of its numbers, and every goal is judged as it is."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from flint import arb

from symattn import VARIANTS, Attention, decode
from symattn.documents.html import html_document, html_series
from symattn.documents.shown import Shown
from symattn.language.equations import derivation_of
from tests.documents.page.opening import settled, sheet, typed, variant
from tests.shares import share

#: A number, of what is said to have it, in a sentence.
SAID = re.compile(
    r"((?:under |over )?[−\d.]+(?:·10[⁻⁰-⁹]+)?(?: %)?) (?:at|to) (“.*?”|itself|key \d+|\d+ others)"
)

Point = tuple[Fraction, Fraction]

MATRICES = {
    "Q": [[1, 0], [0, 2], [1, 1]],
    "K": [[1, 1], [0, 1], [2, 0]],
    "V": [[1, 0], [0, 2], [1, -1]],
}


def told(page: Any) -> list[tuple[str, str]]:
    """What the sentence says: numbers, and of which keys they are."""
    words = page.locator(".say").inner_text()
    return SAID.findall(re.sub("[\u2068\u2069]", "", words))


def fits(said: str, weight: arb) -> bool:
    """Whether what is said of a weight is true, to the last digit said."""
    number = re.sub(r"·10(.*)", "", said.replace("−", "-"))
    if said.startswith("under"):
        return bool(weight > 0) and bool(100 * weight < 0.5)
    if said.startswith("over"):
        return bool(weight < 1) and bool(100 * weight > 99.5)
    if said.endswith("%"):
        return bool(abs(100 * weight - int(number.removesuffix(" %"))) <= arb("0.5 +/- 1e-25"))
    decimals = len(number.partition(".")[2])
    return bool(abs(weight - arb(number)) <= arb(f"0.5e-{decimals} +/- 1e-25"))


def follow(page: Any, row: int, head: int = 0) -> None:
    """Follow this token, in this head."""
    if page.locator("select[aria-label^='The token']").count():
        page.select_option("select[aria-label^='The token']", str(row))
    if page.locator("select[aria-label='Its head']").count():
        page.select_option("select[aria-label='Its head']", str(head))


# ---- the sentence ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 36))
def test_what_is_said_of_every_token_is_true(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    page = opened(html_document(Shown(derivation, values)))
    if "weights" not in {step.name for step in derivation.steps}:
        assert page.locator("#front").count() == 0
        return
    balls = values["weights"].balls
    for head, own in enumerate(balls if balls.ndim == 3 else balls[None]):
        for row, weights in enumerate(own):
            follow(page, row, head)
            said = told(page)
            if not said:
                assert "looks at no key" in page.locator(".say").inner_text()
                assert all(weight == 0 for weight in weights)
            for number, key in said:
                assert fits(number, weights[int(key.removeprefix("key ")) - 1]), (head, row, key)


def test_a_false_sentence_is_seen() -> None:
    assert fits("58 %", arb("0.5760"))
    assert not fits("57 %", arb("0.5760"))
    assert fits("under 1 %", arb("0.0049"))
    assert not fits("under 1 %", arb("0"))
    assert fits("0.5760", arb("0.57604"))
    assert not fits("0.5761", arb("0.57604"))


def test_the_page_asks_and_answers(opened: Callable[..., Any]) -> None:
    page = opened(html_document(Shown(*sheet("causal"))))
    assert page.locator(".titled").inner_text() == "Causal self-attention"
    assert page.title() == "Causal self-attention"
    say = page.locator(".say")
    assert say.inner_text() == "“sat” looks 58 % at itself, 28 % at “the” and 14 % at “cat”."
    follow(page, 0)
    assert say.inner_text() == "“the” looks 100 % at itself."
    follow(page, 1)
    assert told(page) == [("50 %", "“the”"), ("50 %", "itself")]


def test_of_many_keys_the_largest_are_named(opened: Callable[..., Any]) -> None:
    queries, keys = [[1]], [[k] for k in range(9)]
    derivation = Attention().derivation()
    values = derivation.evaluate(Q=queries, K=keys, V=keys)
    page = opened(html_document(Shown(derivation, values)))
    weights = values["weights"].balls[0]
    said = told(page)
    assert [key for _, key in said] == ["key 9", "key 8", "key 7", "key 6", "5 others"]
    for number, weight in zip(said, [*weights[:4:-1], sum(weights[:5])], strict=True):
        assert fits(number[0], weight)
    assert page.locator(".bars .whole").count() == 7
    assert page.locator(".bars .more").inner_text() == "and 2 more below"


# ---- moving the query ------------------------------------------------------------------------


def given(page: Any) -> dict[str, list[list[float]]]:
    """The numbers of the page that were given, read from their tables."""
    read = page.evaluate("""() => Object.fromEntries(symattn.letters.map((letter) => [letter,
        [...document.querySelectorAll(`#given table[data-m="${letter}"] tbody tr`)].map((row) =>
            [...row.querySelectorAll("td[data-c]")].map((cell) => symattn.value(letter,
                Number(row.dataset.r), Number(cell.dataset.c))))]))""")
    return {letter: rows for letter, rows in read.items() if rows}


def row_of(page: Any, row: int = 2) -> tuple[list[float], list[float], list[float]]:
    """Query, weights and output of a token under a causal mask, by NumPy from what is given."""
    m = {letter: np.array(rows) for letter, rows in given(page).items()}
    q, k, v = (m["X"] @ m[f"W_{name}"] for name in "QKV")
    scores = (q @ k.T / np.sqrt(k.shape[1]))[row, : row + 1]
    raised = np.exp(scores - scores.max())
    weights = raised / raised.sum()
    return q[row].tolist(), weights.tolist(), (weights @ v[: row + 1]).tolist()


@pytest.fixture
def causal(opened: Callable[..., Any]) -> Any:
    return opened(html_document(Shown(*sheet("causal"))))


def pull(page: Any, right: float, up: float, letting_go: bool = True) -> None:
    """Drags the query by so many pixels."""
    box = page.locator(".tip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right / 2, y - up / 2)
    page.mouse.move(x + right, y - up, steps=3)
    page.wait_for_timeout(60)
    if letting_go:
        page.mouse.up()
        settled(page)


def test_one_gesture_changes_a_number_and_every_step_follows(causal: Any) -> None:
    page = causal
    pull(page, 40, -90)
    query, weights, output = row_of(page)
    assert query[0] > 1 > query[1]
    assert query == pytest.approx([round(x, 1) for x in query], abs=1e-9)
    for (number, _), weight in zip(told(page), sorted(weights, reverse=True), strict=True):
        assert fits(number, arb(weight))
    shown = page.locator("#output .home td[data-c]").all_inner_texts()[-2:]
    assert [float(text) for text in shown] == pytest.approx(output, abs=6e-5)
    assert f"({', '.join(shown)})" in page.locator("#front").inner_text().replace("−", "-")
    page.keyboard.press("Control+z")
    assert row_of(page)[0] == [1, 1]


def test_what_is_dragged_is_provisional(causal: Any) -> None:
    page = causal
    pull(page, 30, 30, letting_go=False)
    assert "provisional" in page.locator("#state").inner_text()
    page.mouse.up()
    assert "proven anew" in settled(page).locator("#state").inner_text()


def test_arrow_keys_move_the_query(causal: Any) -> None:
    page = causal
    page.locator(".tip").focus()
    for key, wanted in (("Right", [1.1, 1]), ("Up", [1.1, 1.1]), ("Left", [1, 1.1])):
        page.keyboard.press(f"Arrow{key}")
        assert row_of(settled(page))[0] == pytest.approx(wanted)
    assert page.locator(".tip").get_attribute("aria-valuetext") == "1, 1.1"


@pytest.mark.nightly
def test_a_query_that_is_made_otherwise_is_not_dragged(opened: Callable[..., Any]) -> None:
    for name, count in (("rotary", 0), ("cosine", 0), ("scaled-dot-product", 1), ("cross", 1)):
        page = opened(html_document(Shown(*variant(name))))
        assert page.locator(".tip").count() == count, name


#: Equations whose weights are called by no name of the field, and the panels of their page.
UNNAMED = {
    "S = Q K^T / sqrt(d_k)\nA = softmax(S)\nO = A V": ["Ask and compare", "Share", "Mix"],
    "T = 3 K Q^T\nA = softmax(T^T)\nO = A V": ["Share", "Mix"],  # the scores are turned
    "A = softmax(V V^T)\nB = A V\nC = softmax(B B^T / 2)\nO = C B": [],  # of two layers
    "A = softmax(Q K^T)": [],  # which nothing reads
    "A = colsoftmax(V V^T)\nO = A V": [],  # of columns
}


def test_what_attends_to_nothing_is_told_by_rows_and_columns(opened: Callable[..., Any]) -> None:
    derivation = derivation_of("B = V V^T\nA = sigmoid(B)\nO = B - A", {"V": (3, 2)})
    page = opened(html_document(Shown(derivation, derivation.evaluate(V=MATRICES["V"]))))
    page.keyboard.press("s")
    said = []
    while True:
        said.append(page.locator("#stage .where").inner_text())
        if page.locator("#onward").get_attribute("aria-disabled") == "true":
            break
        page.keyboard.press("ArrowRight")
    whole = re.sub("[\u2068\u2069]", "", " ".join(said))
    assert "We follow row 3 step by step." in whole
    assert "Component 2 of row 3 is −2." in whole
    assert not re.search("query|key|attend", whole), whole


@pytest.mark.nightly
@pytest.mark.parametrize("text", UNNAMED)
def test_the_weights_of_equations_need_no_name(text: str, opened: Callable[..., Any]) -> None:
    derivation = derivation_of(text, {"V": (3, 2)})
    numbers = {item.letter: MATRICES[item.letter] for item in derivation.inputs}
    values = derivation.evaluate(**numbers)
    page = opened(html_document(Shown(derivation, values)))
    assert page.locator("#front h2").all_inner_texts() == UNNAMED[text]
    shares = [step for step in derivation.steps if step.weights]
    assert bool(shares) == bool(UNNAMED[text])
    for row, weights in enumerate(values[shares[-1].letter].balls if shares else ()):
        follow(page, row)
        assert told(page)
        for number, key in told(page):
            at = row if key == "itself" else int(key[-1]) - 1
            assert fits(number, weights[at]), (row, number, key)


# ---- which key wins, and which never does ----------------------------------------------------


def between(point: Point, others: Sequence[Point]) -> bool:
    """Whether a point is in the hull of others, by the triangles of three of them."""

    def side(a: Point, b: Point, c: Point) -> Fraction:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def on(a: Point, b: Point) -> bool:
        low = [min(x) for x in zip(a, b, strict=True)]
        high = [max(x) for x in zip(a, b, strict=True)]
        inside = all(p <= x <= q for p, x, q in zip(low, point, high, strict=True))
        return side(a, b, point) == 0 and inside

    if point in others or any(on(a, b) for a, b in combinations(others, 2)):
        return True
    for a, b, c in combinations(others, 3):
        signs = [side(*edge, point) > 0 for edge in ((a, b), (b, c), (c, a))]
        if side(a, b, c) and len(set(signs)) == 1:
            return True
    return False


@pytest.mark.nightly
@pytest.mark.parametrize("count", [3, 5, 4])
def test_a_key_is_said_to_win_nowhere_if_and_only_if_it_lies_between_others(
    count: int, opened: Callable[..., Any]
) -> None:
    some = random.Random(count)
    first = [[1, 0]] * count
    derivation = Attention().derivation()
    values = derivation.evaluate(Q=[[0, 1]], K=first, V=first)
    page = opened(html_document(Shown(derivation, values)))
    seen = {True: 0, False: 0}
    for _ in range(10):
        keys = [(Fraction(some.randint(-2, 2)), Fraction(some.randint(-2, 2))) for _ in first]
        flat = [x for key in keys for x in key]
        page.evaluate(
            "text => { location.hash = text; }",
            "x=" + ",".join(f"K.{place}:{x}" for place, x in enumerate(flat)),
        )
        page.wait_for_timeout(40)
        settled(page)
        page.evaluate("dispatchEvent(new Event('hashchange'))")  # the goals of proven numbers
        settled(page)
        lost = {k for k in range(count) if between(keys[k], [*keys[:k], *keys[k + 1 :]])}
        goals = page.locator(".goals button").all_inner_texts()
        for place, words in enumerate(goals):
            key = re.fullmatch(r"look mostly at key (\d+)", words)
            page.locator(".goals button").nth(place).click()
            impossible = page.locator(".goal").inner_text().startswith("Impossible")
            page.locator(".goals button").nth(place).click()
            if key:
                assert impossible == (int(key[1]) - 1 in lost), (keys, words)
                seen[impossible] += 1
    assert min(seen.values()) > 2, seen


# ---- goals -----------------------------------------------------------------------------------


def meets(goal: str, weights: Sequence[float], output: Sequence[float]) -> bool:
    """Whether a goal of “sat” is reached, by its definition."""
    if "mostly" in goal:
        return (
            weights[["the", "cat", "itself"].index(re.sub("[“”]", "", goal.rsplit(maxsplit=1)[-1]))]
            > 0.5
        )
    if "equally" in goal:
        return max(weights) - min(weights) <= 0.01
    target = [float(x.replace("−", "-")) for x in re.findall(r"−?[\d.]+", goal)]
    return all(abs(x - y) < 0.05 for x, y in zip(output, target, strict=True))


def judged(page: Any, place: int) -> str:
    """What is said of a goal now: Reached, Not yet, or Impossible."""
    button = page.locator(".goals button").nth(place)
    button.click()
    said = page.locator(".goal b").inner_text()
    button.click()
    return str(said).strip(" .:")


@pytest.mark.nightly
def test_goals_are_judged_by_the_numbers(causal: Any) -> None:
    page = causal
    goals = page.locator(".goals button").all_inner_texts()
    assert goals[:2] == ["look mostly at “cat”", "share equally"]
    assert goals[3] == "make the output (3, 0)"
    some = random.Random(1)
    counts = {"Reached": 0, "Not yet": 0}
    queries = [(0.0, 0.0), (-1.0, 0.4), (0.1, -0.1), (-2.0, 1.0), (0.0, 0.1)]
    queries += [(round(some.uniform(-2, 2), 1), round(some.uniform(-2, 2), 1)) for _ in range(3)]
    for one, other in queries:  # (1, 1) W_Q, whose entries are the numbers 6 to 9
        for place, number in enumerate((one, other, 0, 0), 6):
            typed(page, str(number), place)
        query, weights, output = row_of(settled(page))
        assert query == pytest.approx([one, other])
        for place, goal in enumerate(goals):
            said = judged(page, place)
            if said == "Impossible":
                assert not meets(goal, weights, output), goal
                continue
            assert (said == "Reached") == meets(goal, weights, output), (goal, weights, output)
            counts[said] += 1
    assert min(counts.values()) > 1, counts


def test_what_is_offered_as_possible_can_be_reached(causal: Any) -> None:
    m = {letter: np.array(rows) for letter, rows in given(causal).items()}
    k, v = m["X"] @ m["W_K"], m["X"] @ m["W_V"]
    grid = np.arange(-40, 41) / 10
    queries = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    raised = np.exp(queries @ k.T / np.sqrt(2))
    weights = raised / raised.sum(1, keepdims=True)
    goals = causal.locator(".goals button").all_inner_texts()
    reached = [
        any(meets(goal, *pair) for pair in zip(weights, weights @ v, strict=True)) for goal in goals
    ]
    said = [judged(causal, place) != "Impossible" for place in range(len(goals))]
    assert reached == said == [True, True, True, False]


def near_a_mean(target: Point, values: Sequence[Point]) -> bool:
    """Whether a mean of values is within 1/20 of a target, by triangles cut to that square."""
    near = Fraction(1, 20)
    for some in combinations(values, min(3, len(values))):
        shape = list(some)
        for side in (0, 1):
            for sign in (1, -1):
                limit = sign * target[side] + near
                depth = [limit - sign * corner[side] for corner in shape]
                cut = []
                for k, corner in enumerate(shape):
                    if depth[k] >= 0:
                        cut.append(corner)
                    after = (k + 1) % len(shape)
                    if depth[k] * depth[after] < 0:
                        part = depth[k] / (depth[k] - depth[after])
                        x, y = (
                            a + part * (b - a) for a, b in zip(corner, shape[after], strict=True)
                        )
                        cut.append((x, y))
                shape = cut
        if shape:
            middle = [sum(axis, Fraction()) / len(shape) for axis in zip(*shape, strict=True)]
            if all(abs(x - y) < near for x, y in zip(middle, target, strict=True)):
                return True
    return False


@pytest.mark.nightly
@pytest.mark.parametrize("count", [2, 3, 4])
def test_an_output_is_impossible_if_and_only_if_it_is_beside_the_means_of_the_values(
    count: int, opened: Callable[..., Any]
) -> None:
    some = random.Random(count)
    keys, values = [[1, 0], [0, 1], [-1, -1], [1, 1]][:count], [[0, 0], [3, 1], [1, 4], [2, 2]]
    derivation = Attention().derivation()
    evaluation = derivation.evaluate(Q=[[0, 1]], K=keys, V=values[:count])
    page = opened(html_document(Shown(derivation, evaluation)))
    goal = page.locator(".goals button", has_text="make the output").first
    goal.click()
    numbers = re.findall(r"−?[\d.]+", goal.inner_text())
    x, y = (Fraction(number.replace("−", "-")) for number in numbers)
    shape = [(Fraction(a), Fraction(b)) for a, b in values[:count]]
    seen: dict[tuple[bool, bool], int] = {}
    for turn in range(24):
        if turn == 12 and count > 2:  # from now on the first two keys are the same
            typed(page, "0", 2)
            typed(page, "1", 3)
        same = turn >= 12 and count > 2
        at = some.randrange(count)
        low = (-12, 2)[turn % 2]
        shape[at] = (x + Fraction(some.randint(low, 12), 5), y + Fraction(some.randint(low, 12), 5))
        if turn % 5 == 0:  # the target is between two
            other = shape[(at + 1) % count]
            shape[at] = (2 * x - other[0], 2 * y - other[1])
        for side in (0, 1):
            typed(page, str(shape[at][side]), 2 + 2 * count + 2 * at + side)
        settled(page)
        (a, b), (c, d) = shape[:2]
        means = [((a + c) / 2, (b + d) / 2), *shape[2:]] if same else shape
        impossible = page.locator(".goal").inner_text().startswith("Impossible")
        assert impossible is not near_a_mean((x, y), means), (shape, same)
        seen[same, impossible] = seen.get((same, impossible), 0) + 1
    assert len(seen) == (4 if count > 2 else 2), seen


@pytest.mark.nightly
@pytest.mark.parametrize("normaliser", ["softmax", "softmax-off-by-one", "sum"])
def test_nothing_is_impossible_that_a_bias_or_another_normaliser_makes(
    normaliser: str, opened: Callable[..., Any]
) -> None:
    """A key between others wins by its bias; weights that make less than 1 shrink the output."""
    keys, values = [[2, 0], [-1, 0], [0, 0]], [[-3, 1], [-4, 1], [-3, 2]]
    biased = normaliser == "softmax"
    derivation = Attention(normaliser=normaliser, bias="given" if biased else None).derivation()
    added = {"bias": [[0, 0, 5]]} if biased else {}
    evaluation = derivation.evaluate(Q=[[1, 0]], K=keys, V=values, **added)
    page = opened(html_document(Shown(derivation, evaluation)))
    queries = np.linspace(-9, 9, 181)[:, None] * [1, 0]
    raised = np.exp(queries @ np.transpose(keys) / np.sqrt(2) + added.get("bias", [[0, 0, 0]]))
    weights = raised / (raised.sum(1, keepdims=True) + (normaliser == "softmax-off-by-one"))
    for place, goal in enumerate(page.locator(".goals button").all_inner_texts()):
        if judged(page, place) != "Impossible":
            continue
        key = re.fullmatch(r"look mostly at key (\d)", goal)
        if key:
            assert not (weights[:, int(key[1]) - 1] > 0.5).any(), goal
        else:
            x, y = (float(n.replace("−", "-")) for n in re.findall(r"−?[\d.]+", goal))
            assert normaliser == "softmax" and (x > -2.95 or not 0.95 < y < 2.05)
    assert page.locator("#front .tip").count() == (normaliser == "softmax-off-by-one")


def test_a_masked_key_is_an_impossible_goal(causal: Any) -> None:
    follow(causal, 1)
    hidden = causal.locator(".goals button").last
    assert hidden.inner_text() == "look mostly at “sat”"
    hidden.click()
    assert causal.locator(".goal").inner_text() == (
        "Impossible. The mask hides “sat” from “cat”, so its weight is 0 whatever the other "
        "numbers are."
    )


def test_a_series_has_no_goals_and_no_handle(opened: Callable[..., Any]) -> None:
    rows = [[1, 0], [0, 2], [1, 1]]
    parts = decode(Attention(mask="causal"), 1, Q=rows, K=rows, V=rows)
    page = opened(html_series([Shown(one.derivation, one.evaluation) for one in parts], "Three"))
    assert page.locator(".say").inner_text()
    assert page.locator(".tip, .goals button").count() == 0
