"""Exercises as a Moodle quiz: XML with a question of embedded answers (cloze) for each.

Source: Moodle documentation, Embedded Answers (Cloze) question type. Each field has its own
tolerance and, for each misconception, a remark; numbers have an ASCII minus and a point. A brace, a
hash or a tilde of a remark is escaped: an unescaped one would end it, and load all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symattn.classroom.exercise import FINER, MINUS_INFINITY, Exercise, in_decimals
from symattn.classroom.handout import Handout
from symattn.documents.mathml import xhtml
from symattn.documents.page.elements import Markup, el, joined
from symattn.notation.latex import escape_controls
from symattn.printable import in_markup

#: What cloze questions cannot do, told to the teacher in the file and by the command.
LIMITS = (
    "Moodle: each field is marked by itself, without following mistakes through; −∞ is a short "
    "answer; 4/5, 80 %, the decimal comma of another language and the minus sign of print count "
    "as wrong"
)

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

#: Signs that end a remark or its parts, or escape what follows.
_SIGNS = "\\}#~"


def quiz(exercises: Sequence[Exercise]) -> str:
    """The quiz as Moodle XML."""
    questions = "\n".join(map(_question, exercises))
    return f"{_HEAD}<quiz>\n<!-- {LIMITS} -->\n{questions}\n</quiz>\n"


def _question(exercise: Exercise) -> str:
    facts = exercise.sheet.exercise
    name = " ".join(filter(None, (exercise.sheet.title, str(facts.get("seed", "")))))
    fields = [*_fields(exercise)]
    document = Handout(exercise).quiz(lambda _, number: fields[number])
    text = Markup("".join(xhtml([document], 3)))
    return el(
        "question",
        el("name", el("text", name)),
        el("questiontext", _html(text), format="html"),
        el("generalfeedback", _html(joined(" ".join(exercise.untold))), format="html"),
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
            answers = "~".join(f"={text}" for text in MINUS_INFINITY)
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


def _html(markup: Markup) -> Markup:
    """HTML as text, in a section of character data.

    Moodle's reader loses a space that the parser hands over by itself, as it may among references.
    """
    return Markup(f"<text><![CDATA[{markup}]]></text>")


def _escaped(words: str) -> str:
    """Words as HTML in which no sign stands as it is; it is escaped once more with its field.

    >>> _escaped("{a} < ~")
    '{a&#125; &lt; &#126;'
    """
    return "".join(f"&#{ord(x)};" if x in _SIGNS else in_markup(x) for x in escape_controls(words))
