"""Exercises as a Moodle quiz: XML with a question of embedded answers (cloze) for each.

Source: Moodle documentation, Embedded Answers (Cloze) question type. Each field has its own
tolerance and, for each misconception, a remark; numbers have an ASCII minus and a point. A brace, a
hash or a tilde of a remark is escaped: an unescaped one would end it, and load all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symattn.classroom.exercise import FINER, Exercise, in_decimals
from symattn.classroom.handout import Handout
from symattn.documents.mathml import xhtml
from symattn.documents.page.elements import el

#: What cloze questions cannot do, told to the teacher in the file and by the command.
LIMITS = (
    "Moodle: each field is marked by itself, without following mistakes through; −∞ is a short "
    "answer; 4/5, 80 % and the decimal comma of another language count as wrong"
)

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

#: How minus infinity may be typed.
_INFINITE = ("-inf", "-infinity", "-∞", "−∞")


def quiz(exercises: Sequence[Exercise]) -> str:
    """The quiz as Moodle XML."""
    questions = "\n".join(map(_question, exercises))
    return f"{_HEAD}<quiz>\n<!-- {LIMITS} -->\n{questions}\n</quiz>\n"


def _question(exercise: Exercise) -> str:
    facts = exercise.sheet.exercise
    name = " ".join(filter(None, (exercise.sheet.title, str(facts.get("seed", "")))))
    fields = [*_fields(exercise)]
    document = Handout(exercise).quiz(lambda _, number: fields[number])
    text = str("".join(xhtml([document], 3)))
    return el(
        "question",
        el("name", el("text", name)),
        el("questiontext", el("text", text), format="html"),  # escaped, as it is no XML of Moodle's
        el("generalfeedback", el("text", " ".join(exercise.untold)), format="html"),
        el("penalty", "0"),
        el("hidden", "0"),
        type="cloze",
    )


def _fields(exercise: Exercise) -> Iterator[str]:
    """The field of each blank: the right answer, then those of misconceptions."""
    places = exercise.places
    half = 10**FINER // 2 + 1
    for number, right in enumerate(exercise.right):
        others: dict[int, list[str]] = {}
        for one in exercise.seen:
            other = one.units[number]
            if other is not None and (right is None or abs(other - right) > 2 * half):
                near = next((x for x in others if abs(x - other) <= half), other)
                others.setdefault(near, []).append(one.misconception.instead)
        if right is None:
            answers = "~".join(f"={text}" for text in _INFINITE)
            yield f"{{1:SHORTANSWER:{answers}~%0%*#{_escaped('A hidden key has the score −∞')}}}"
            continue
        wrong = "".join(
            f"~%0%{in_decimals(x, places)}:{in_decimals(half, places)}#{_escaped(_either(told))}"
            for x, told in others.items()
        )
        yield f"{{1:NUMERICAL:={in_decimals(right, places)}:{in_decimals(half, places)}{wrong}}}"


def _either(told: Sequence[str]) -> str:
    """What may have been done, one thing or several."""
    return "As if " + ", or ".join(dict.fromkeys(told))


def _escaped(words: str) -> str:
    """Words as a remark has them, in HTML."""
    plain = words.replace("\\", "∖")
    for sign in "}#~":
        plain = plain.replace(sign, f"\\{sign}")
    return el("span", plain).removeprefix("<span>").removesuffix("</span>")
