"""What a student is told: whole texts, the key only as far as it is revealed, nothing injected."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.classroom.feedback import REVEALS, Feedback
from symattn.classroom.judge import Told
from symattn.classroom.records import Mark, Record
from symattn.documents.job import written
from tests.classroom.handed_in import (
    SHEET,
    but,
    exercise,
    handed_in,
    marking,
    mistaken,
    right,
)

COLUMNS = "softmax-over-columns"
LATE = "[attempts]\ndue = 2026-12-01T12:00:00\nlate = "
LATER = datetime(2026, 12, 2)
FOLLOW = "answers.follow_through = "

#: What is revealed, the record, and all that is said below the title.
TOLD = (
    pytest.param(
        "hint",
        lambda: handed_in(right()),
        """\
24 of 24 points. All 24 answers are right.""",
        id="right",
    ),
    pytest.param(
        "hint",
        lambda: handed_in([]),
        """\
0 of 24 points. Nothing is answered.""",
        id="nothing",
    ),
    pytest.param(
        "hint",
        lambda: replace(handed_in([]), fault="a.zip: is broken"),
        """\
0 of 24 points. Your submission could not be marked: a.zip: is broken.""",
        id="unread",
    ),
    pytest.param(
        "hint",
        lambda: Record("Ada", "", fault="nothing was handed in"),
        """\
0 points. Nothing was handed in.""",
        id="missing",
    ),
    pytest.param(
        "place",
        lambda: handed_in(mistaken(COLUMNS)),
        """\
18 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 1, column 1 (the, the). Check it against the formula of this
step.

             weights[1,1]  weights[1,2]  weights[1,3]
your answer       ✗ 0.882             0             0

6 answers follow from a mistake and cost nothing.
5 more answers are wrong.""",
        id="place",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(mistaken(COLUMNS)),
        """\
18 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 1, column 1 (the, the). A likely reason: the softmax is taken
over each column. Each query distributes its attention over the keys, so the
rows of the weights sum to 1.

             weights[1,1]  weights[1,2]  weights[1,3]
your answer       ✗ 0.882             0             0

The formula of the attention weights:
A = softmax(G)

6 answers follow from a mistake and cost nothing.
5 more answers are wrong.""",
        id="hint",
    ),
    pytest.param(
        "value",
        lambda: handed_in(mistaken(COLUMNS)),
        """\
18 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 1, column 1 (the, the). A likely reason: the softmax is taken
over each column. Each query distributes its attention over the keys, so the
rows of the weights sum to 1.

             weights[1,1]  weights[1,2]  weights[1,3]
your answer       ✗ 0.882             0             0
right                   1             0             0

The formula of the attention weights:
A = softmax(G)

6 answers follow from a mistake and cost nothing.
5 more answers are wrong.""",
        id="value",
    ),
    pytest.param(
        "place",
        lambda: handed_in(mistaken(COLUMNS), scheme=FOLLOW + "0.5"),
        """\
15 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 1, column 1 (the, the). Check it against the formula of this
step.

             weights[1,1]  weights[1,2]  weights[1,3]
your answer       ✗ 0.882             0             0

6 answers follow from a mistake and keep part of their points.
5 more answers are wrong.""",
        id="half",
    ),
    pytest.param(
        "place",
        lambda: handed_in(mistaken(COLUMNS), scheme=FOLLOW + "0"),
        """\
12 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 1, column 1 (the, the). Check it against the formula of this
step.

             weights[1,1]  weights[1,2]  weights[1,3]
your answer       ✗ 0.882             0             0

6 answers follow from a mistake and keep none of their points.
5 more answers are wrong.""",
        id="no follow",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(but({"weights[2,3]": "0.5"})),
        """\
23 of 24 points. Your scores are right; the only mistake is in the attention
weights, in row 2, column 3 (cat, sat). Compute the entry again and compare the
digits.

             weights[2,1]  weights[2,2]  weights[2,3]
your answer         0.196         0.804         ✗ 0.5

The formula of the attention weights:
A = softmax(G)""",
        id="slip",
    ),
    pytest.param(
        "value",
        lambda: handed_in(but({"weights[2,3]": "0.5"})),
        """\
23 of 24 points. Your scores are right; the only mistake is in the attention
weights, in row 2, column 3 (cat, sat). A likely reason: weights[2,3]: one digit
is misread, 0.500 for 0.000. Compute the entry again and compare the digits.

             weights[2,1]  weights[2,2]  weights[2,3]
your answer         0.196         0.804         ✗ 0.5
right               0.196         0.804             0

The formula of the attention weights:
A = softmax(G)""",
        id="slip value",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(but({"scores[1,1]": "-7"})),
        """\
23 of 24 points. The only mistake is in the scores, in row 1, column 1 (the,
the). Check it against the formula of this step.

             scores[1,1]  scores[1,2]  scores[1,3]
your answer         ✗ -7            4           -2

The formula of the scores:
S = Q Kᵀ""",
        id="unexplained",
    ),
    pytest.param(
        "place",
        lambda: handed_in(
            but({"weights[2,2]": "0.80", "output[3,2]": "1.86", "output[2,1]": "-0.41"})
        ),
        """\
22 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 2, column 2 (cat, cat). It is right as far as it goes, but 3
decimals count.

             weights[2,1]  weights[2,2]  weights[2,3]
your answer         0.196        ✗ 0.80             0

1 more answer has too few decimals.
1 answer is rounded early or cut off, which costs nothing.""",
        id="short",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(
            but({f"weights[{i},{j}]": "0.333" for i in (1, 2, 3) for j in (1, 2, 3)})
        ),
        """\
15 of 24 points. Your scores are right; the first mistake is in the attention
weights, in row 1, column 1 (the, the): one number stands for several that
differ.

             weights[1,1]  weights[1,2]  weights[1,3]
your answer       ✗ 0.333       ✗ 0.333       ✗ 0.333

The formula of the attention weights:
A = softmax(G)

8 more answers are wrong.""",
        id="thirds",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(but({"weights[2,1]": "n/a", "scores[2,1]": "", "scores[2,2]": ""})),
        """\
21 of 24 points. What you answered is right.

2 answers are missing.
“n/a” in the attention weights, in row 2, column 1 (cat, the), is no number.""",
        id="gaps",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(["x"] * 24),
        """\
0 of 24 points. No answer could be read as a number.

“x” in the scores, in row 1, column 1 (the, the), is no number.
“x” in the scores, in row 1, column 2 (the, cat), is no number.
“x” in the scores, in row 1, column 3 (the, sat), is no number.
21 more answers are no numbers.""",
        id="no number",
    ),
    pytest.param(
        "place",
        lambda: handed_in(
            but({"weights[2,3]": "0.5", "output[2,2]": "1.500", "output[2,1]": "-0.913"})
        ),
        """\
23 of 24 points. Your scores are right; the only mistake is in the attention
weights, in row 2, column 3 (cat, sat). Check it against the formula of this
step.

             weights[2,1]  weights[2,2]  weights[2,3]
your answer         0.196         0.804         ✗ 0.5

2 answers follow from a mistake and cost nothing.""",
        id="one follows",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(right(), scheme=LATE + "0.5", submitted=LATER),
        """\
12 of 24 points. All 24 answers are right.

It came late and keeps 50 % of its points.""",
        id="late",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(right(), scheme=LATE + "0", submitted=LATER),
        """\
0 of 24 points. All 24 answers are right.

It came late and keeps none of its points.""",
        id="too late",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(
            right(), others={"given": {"Q": [[0]]}, "policy": {}, "exercise": {"seed": 8}}
        ),
        """\
24 of 24 points. All 24 answers are right.

Your submission answers the exercise of seed 8, not 7.
Your submission has a given and policy of its own, which are not used.""",
        id="others",
    ),
    pytest.param(
        "hint",
        lambda: replace(handed_in(right()), remarks=("2 submissions; the last counts",)),
        """\
24 of 24 points. All 24 answers are right.

2 submissions; the last counts.""",
        id="twice",
    ),
    pytest.param(
        "hint",
        lambda: handed_in(but({"weights[2,1]": "0.195"})),
        """\
24 of 24 points. All 24 answers are right.

1 answer is rounded early or cut off, which costs nothing.""",
        id="rounded",
    ),
)


def told(record: Record, reveal: str = "hint", form: str = "text") -> str:
    text = written(form, [Feedback(exercise(), reveal).document(record)])
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(("reveal", "record", "text"), TOLD)
def test_what_is_told(reveal: str, record: Callable[[], Record], text: str) -> None:
    title, _, rest = told(record(), reveal).split("\n", 2)
    assert title == "Causal self-attention: Ada"
    assert rest.rstrip("\n") == text


def test_no_name_of_a_verdict_or_a_misconception_is_told() -> None:
    for one in exercise().seen:
        for reveal in REVEALS:
            text = told(handed_in(one.answers), reveal)
            assert one.misconception.name not in text or "-" not in one.misconception.name
            assert "not computed" not in text


@pytest.mark.parametrize("reveal", ["place", "hint"])
def test_no_right_number_is_told_before_it_is_revealed(reveal: str) -> None:
    """Every right answer is a number that nobody typed, and none of them stands in the feedback."""
    answers = {blank: text for blank, text in exercise().answers.items() if len(text) > 3}
    names = {exercise().name(blank): text for blank, text in answers.items()}
    for name, text in names.items():
        for typed in ("0.5", text[:-1] + ("1" if text[-1] != "1" else "2"), text.lstrip("-")[::-1]):
            others = dict.fromkeys(names, "0.5")
            record = handed_in(but(others | {name: typed}))
            said = told(record, reveal)
            shown = {mark.answer for mark in record.marks}
            found = set(re.findall(r"-?[0-9]+\.[0-9]+", said)) - shown
            assert found == set(), said


def test_a_slip_is_told_in_numbers_only_beside_the_values() -> None:
    record = handed_in(but({"weights[2,3]": "0.5"}))
    assert [name for name, *_ in record.mistakes] == ["misread-digit"]
    assert "0.500 for 0.000" in told(record, "value")
    assert "0.000" not in told(record, "hint")


def test_a_label_is_told_as_the_reason() -> None:
    record = replace(handed_in(but({"scores[1,1]": "-7"})), mistakes=(Told("a", "a", ""),))
    assert "A likely reason: a.\n" in told(record)


def test_the_one_answer_of_a_small_exercise() -> None:
    text = (
        'title = "One"\n[given]\nQ = [[1, 2]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
        '[claims]\nscores = [["?", 2]]\n'
    )
    said = written("md", [Feedback(exercise(text)).document(handed_in(["1"], text=text))])
    assert said == "## One: Ada\n\n1 of 1 point. Your answer is right.\n"
    wrong = written("md", [Feedback(exercise(text)).document(handed_in(["3"], text=text))])
    assert "0 of 1 point. The only mistake is in the scores, in row 1, column 1." in wrong


def test_places_are_counted_and_turned_as_the_exercise_does() -> None:
    text = re.sub("claims.(scores|output).*", "", SHEET)
    text = text.replace("notation.digits = 3", 'notation = {digits = 3, convention = "columns"}')
    record = handed_in(but({"weights[1,2]": "0.5"}, text), text=text)
    said = written("text", [Feedback(exercise(text)).document(record)])
    assert "in row 1, column 2 (the, cat)" in " ".join(str(said).split())
    assert "weights[1,2]" in said


def test_of_a_long_line_the_part_with_the_mistake_is_shown() -> None:
    blanks = ", ".join(['"?"'] * 12)
    keys = ", ".join(f"[{k}]" for k in range(12))
    text = (
        f"given = {{Q = [[1]], K = [{keys}], V = [{keys}]}}\nclaims = {{scores = [[{blanks}]]}}\n"
    )
    record = handed_in(but({"scores[1,9]": "77"}, text), text=text)
    said = str(written("text", [Feedback(exercise(text)).document(record)]))
    assert re.findall(r"scores\[1,([0-9]+)\]", said) == [str(k) for k in range(5, 13)]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))


def _tags(page: str) -> list[object]:
    tags = _Tags()
    tags.feed(page)
    return tags.found


#: What a format might act on instead of showing it.
SIGNS = (
    *("<script>", "</td>", "<!--", "&lt;", "*", "**", "_", "`", "```\n", "[a](b)", "|", "\n# a\n"),
    *("\\input{x}", "\\end{document}", "$", "%", "{", "}", "\\", "^^5c", "\x00", "\x1b[31m"),
    *("\u202e", "\u2028", "\r", "\t", "=1+1", "\udc80", "é", "李", "x", "1", " "),
)
NASTY = st.lists(st.sampled_from(SIGNS), min_size=1, max_size=6).map("".join)


def _record(name: str, answer: str) -> Record:
    """A record with this answer, wrong in one place and unreadable in another."""
    record = handed_in(but({"scores[1,1]": "-7"}))
    marks = list(record.marks)
    marks[0] = replace(marks[0], answer=answer)
    marks[9] = Mark("weights[1,1]", answer, "unreadable", Fraction(0), Fraction(1))
    return replace(record, student=name, marks=tuple(marks), remarks=(f"{name}: no entry",))


@pytest.mark.nightly
@settings(max_examples=60, deadline=None)
@given(NASTY, NASTY)
def test_names_and_answers_are_only_text(name: str, answer: str) -> None:
    nasty, plain = (
        {form: told(_record(*words), "value", form) for form in ("html", "md", "tex", "text")}
        for words in ((name, answer), ("Ada", "7"))
    )
    assert _tags(nasty["html"]) == _tags(plain["html"])
    for form, text in nasty.items():
        assert text.count("\n") <= plain[form].count("\n") + 8, form  # lines that are broken
        for sign in "\x00\x1b\u202e\u2028\r\t":
            assert sign not in text
    body = nasty["tex"].split(r"\begin{document}")[1]
    assert body.count(r"\end{document}") == 1
    assert r"\input" not in body
    assert "^^" not in body
    assert len(re.findall(r"(?<!\\)\{", body)) == len(re.findall(r"(?<!\\)\}", body))
    assert not re.search(r"(?m)^ {0,3}(#|```)(?! Causal|#|math|\n)", nasty["md"])
    assert not re.search(r"(?<!\\)<[a-z!/]", nasty["md"])


def test_points_of_the_key_are_all() -> None:
    assert marking().points.whole == handed_in(right()).points == 24
