"""Quizzes read back by readers of our own: Moodle's embedded answers, QTI's response processing.

Cloze: Moodle documentation, Embedded Answers (Cloze) question type. QTI: IMS QTI 2.1, Information
Model, sections 8 and 15.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pytest

from symattn.classroom import moodle, qti
from symattn.classroom.exercise import Exercise
from symattn.classroom.generator import Generator
from symattn.classroom.styles import STYLES
from symattn.classroom.task import task_of
from symattn.cli import exercise as commands
from symattn.sheets.worksheet import worksheet_of
from tests.classroom.tasks import generator
from tests.command import run

STEPS = ("scaled", "masked", "weights", "output")

NAMESPACE = "http://www.imsglobal.org/xsd/imsqti_"


# ---- Moodle ------------------------------------------------------------------------------------


@dataclass
class Field:
    """A field as Moodle reads it: its kind, and answers with fraction, tolerance and remark."""

    kind: str
    answers: list[tuple[float, str, float, str]]

    def mark(self, typed: str) -> tuple[float, str]:
        """The points and the remark for what somebody types: of the first answer that fits."""
        for fraction, answer, tolerance, remark in self.answers:
            if self.kind == "SHORTANSWER":
                if answer in ("*", typed):
                    return fraction, remark
            elif re.fullmatch(r"-?[0-9]*\.?[0-9]+", typed) and (
                abs(float(typed) - float(answer)) <= tolerance
            ):
                return fraction, remark
        return 0.0, ""


def fields(text: str) -> list[Field]:
    """The fields of a question text: each ends at the first brace that is not escaped."""
    found = []
    for match in re.finditer(r"\{1:(NUMERICAL|SHORTANSWER):(.*?)(?<!\\)\}", text, re.DOTALL):
        answers = []
        for part in re.split(r"(?<!\\)~", match[2]):
            body, *more = re.split(r"(?<!\\)#", part, maxsplit=1)
            remark = "".join(more)
            share = re.match(r"=|%(\d+)%", body)
            assert share, part
            answer, _, tolerance = body[share.end() :].partition(":")
            fraction = 1.0 if share[0] == "=" else float(share[1]) / 100
            kept = re.sub(r"\\([}#])", r"\1", unescape(remark))  # as the importer does
            assert "<" not in kept and "~" not in kept, kept  # what a browser takes for a tag
            answers.append((fraction, answer, float(tolerance or 0), unescape(kept)))
        found.append(Field(match[1], answers))
    return found


def questions(exercises: list[Exercise]) -> list[tuple[str, list[Field]]]:
    tree = ElementTree.fromstring(moodle.quiz(exercises))
    texts = [x.findtext("questiontext/text") or "" for x in tree.findall("question")]
    assert [x.get("type") for x in tree.findall("question")] == ["cloze"] * len(exercises)
    return [(text, fields(text)) for text in texts]


def test_moodle_marks_the_right_answers_right_and_says_what_was_believed() -> None:
    exercises = [generator(blank=STEPS).exercise(seed) for seed in (1, 2)]
    for exercise, (text, found) in zip(exercises, questions(exercises), strict=True):
        assert len(found) == len(exercise.blanks) == text.count("{1:")
        for field, (blank, answer) in zip(found, exercise.answers.items(), strict=True):
            assert field.mark(answer) == (1.0, ""), exercise.name(blank)
        for one in exercise.mistaken:
            if one.misconception in exercise.unseen:
                continue
            marks = [field.mark(x) for field, x in zip(found, one.answers, strict=True)]
            told = [remark for _, remark in marks if one.misconception.instead in remark]
            lost = [k for k, (points, _) in enumerate(marks) if points < 1]
            assert lost, one.misconception.name
            assert told or all(
                found[k].kind == "SHORTANSWER" or "inf" in one.answers[k] for k in lost
            )


def test_moodle_numbers_are_ascii_and_infinity_is_a_short_answer() -> None:
    ((text, found),) = questions([generator(blank=STEPS).exercise(3)])
    for field in found:
        for _, answer, _, _ in field.answers if field.kind == "NUMERICAL" else ():
            assert re.fullmatch(r"-?[0-9]+\.[0-9]+", answer)
    short = [field for field in found if field.kind == "SHORTANSWER"]
    assert len(short) == 3  # above the diagonal
    assert short[0].mark("-inf")[0] == short[0].mark("−∞")[0] == 1.0
    assert short[0].mark("0")[0] == 0.0
    assert "4/5" in moodle.LIMITS and "without following" in moodle.LIMITS and "<math" not in text


def test_a_brace_in_words_ends_no_field_and_begins_none() -> None:
    """An unescaped } would load, and be wrong: the reader above would find another number."""
    sheet = worksheet_of(
        """
        title = "{1:NM:=2} } ~ # a"
        given = {Q = [[1, 2], [0, 1]], K = [[0, 1], [1, 1]], V = [[1], [2]]}
        attention = {tokens = ["{1:SA:=x}", "b"]}

        [[misconception]]
        name = "braces"
        equation = "S / c = 2 S"
        instead = 'the set {a, b} ~ 50% # is \\taken for <b> & c'
        tell = "no"
        """
    )
    exercise = Generator(task_of(sheet), STYLES["decimals"]).exercise(1)
    ((_, found),) = questions([exercise])
    assert len(found) == len(exercise.blanks)
    assert all(f.mark(x)[0] == 1 for f, x in zip(found, exercise.answers.values(), strict=True))
    assert (
        fields("{1:NUMERICAL:=1:0.1~%0%2:0.1#a } b} {1:NUMERICAL:=1:0.1}")[0].answers[1][3] == "a "
    )
    told = {remark for field in found for *_, remark in field.answers}
    assert any(r"the set {a, b} ~ 50% # is \taken for <b> & c" in remark for remark in told)


def test_moodle_text_stands_in_one_piece() -> None:
    """Moodle's reader drops pieces of nothing but spaces, which references may leave between."""
    text = moodle.quiz([generator(blank=STEPS).exercise(1)])
    pieces: list[str] = []
    parser = expat.ParserCreate()
    parser.CharacterDataHandler = pieces.append
    parser.Parse(text, True)
    kept = "".join(piece for piece in pieces if piece.strip())
    whole = "".join(ElementTree.fromstring(text).itertext())
    assert kept.replace("\n", "") == whole.replace("\n", "") and len(pieces) < 20


# ---- QTI ---------------------------------------------------------------------------------------


class Item:
    """An item as a delivery engine runs it."""

    def __init__(self, exercise: Exercise, flavor: str = "2.1") -> None:
        package = zipfile.ZipFile(io.BytesIO(qti.package([exercise], flavor)))
        manifest = ElementTree.fromstring(package.read("imsmanifest.xml"))
        (resource,) = [x for x in manifest.iter() if x.tag.endswith("}resource")]
        self.item = ElementTree.fromstring(package.read(resource.get("href") or ""))
        version = f"v{flavor.replace('.', 'p')}"
        assert self.item.tag == f"{{{NAMESPACE}{version}}}assessmentItem"
        assert resource.get("type") == f"imsqti_item_xml{version}"
        for node in self.item.iter():
            node.tag = node.tag.removeprefix(f"{{{NAMESPACE}{version}}}")
        self.kinds = {
            x.get("identifier"): x.get("baseType") for x in self.item.iter("responseDeclaration")
        }
        self.correct = {
            x.get("identifier"): x.findtext("correctResponse/value")
            for x in self.item.iter("responseDeclaration")
        }
        fields = [x.get("responseIdentifier") for x in self.item.iter("textEntryInteraction")]
        assert fields == [*self.kinds]

    def run(self, typed: list[str]) -> tuple[float, set[str]]:
        """The score, and the remarks, for what is typed into the fields."""
        self.values: dict[str, Any] = {"SCORE": 0.0, "REMARK": ()}
        for (name, kind), text in zip(self.kinds.items(), typed, strict=True):
            self.values[str(name)] = None if not text else float(text) if kind == "float" else text
        for condition in self.item.find("responseProcessing") or ():
            assert condition.tag == "responseCondition"
            (inside,) = condition
            test, done = inside
            if self.value(test) is True:
                self.values[str(done.get("identifier"))] = self.value(done[0])
        known = {x.get("identifier") for x in self.item.iter("modalFeedback")}
        assert {*self.values["REMARK"]} <= known
        return self.values["SCORE"], {*self.values["REMARK"]}

    def value(self, node: ElementTree.Element) -> Any:
        """The value of an expression, None for NULL."""
        name, inside = node.tag, [*node]
        if name == "variable":
            return self.values[str(node.get("identifier"))]
        if name == "correct":
            key = node.get("identifier")
            text = self.correct[key]
            return float(str(text)) if self.kinds[key] == "float" else text
        if name == "baseValue":
            return float(str(node.text)) if node.get("baseType") == "float" else node.text
        values = [self.value(part) for part in inside]
        if name == "or":
            return True if True in values else None if None in values else False
        if name == "and":
            return False if False in values else None if None in values else True
        if name == "isNull":
            return values[0] is None
        if name == "multiple":
            parts = [x if isinstance(x, tuple) else (x,) for x in values if x is not None]
            return tuple(y for part in parts for y in part)
        if None in values:
            return None
        match name:
            case "not":
                return not values[0]
            case "stringMatch":
                assert node.get("caseSensitive") == "false"
                return values[0].lower() == values[1].lower()
            case "equal":
                below, above = map(float, str(node.get("tolerance")).split())
                assert node.get("toleranceMode") == "absolute"
                return values[1] - below <= values[0] <= values[1] + above
            case "sum":
                return sum(values)
            case "product":
                return math.prod(values)
            case "divide":
                return values[0] / values[1] if values[1] else None
            case "mathOperator":
                assert node.get("name") == "exp"
                return math.exp(values[0])
        raise AssertionError(f"an expression of no QTI 2.1 that is used here: {name}")


@pytest.mark.parametrize("flavor", qti.FLAVORS)
@pytest.mark.parametrize("style", ["decimals", "integers", "fractions"])
def test_qti_gives_every_point_for_the_right_answers(style: str, flavor: str) -> None:
    exercise = generator(style=style, d_k=4, blank=STEPS).exercise(1)
    item = Item(exercise, flavor)
    values = [exercise.evaluation.array(blank.letter)[blank.place] for blank in exercise.blanks]
    typed = ["-inf" if np.isneginf(x) else f"{x:.3f}" for x in values]
    assert item.run(typed) == (len(typed), set())
    for infinite in ("-Inf", "-infinity", "−∞", "-∞", "-oo"):
        assert item.run([x.replace("-inf", infinite) for x in typed])[0] == len(typed)
    assert item.run([x.replace("-inf", "0") for x in typed])[0] == len(typed) - 3
    assert item.run([""] * len(typed)) == (0, set())


def test_qti_follows_a_mistake_through_and_names_it() -> None:
    """Scores not scaled, all else right from there: only the scaled scores lose their points."""
    exercise = generator(blank=STEPS).exercise(2)
    item = Item(exercise)
    one = next(x for x in exercise.mistaken if x.misconception.name == "not-scaled")
    typed = [f"{float(x):.3f}" if x != "-inf" else x for x in one.answers]
    score, told = item.run(typed)
    lost = [
        blank
        for blank, x, y in zip(exercise.blanks, exercise.right, one.units, strict=True)
        if blank.step == "scaled" and x != y
    ]
    assert score == len(typed) - len(lost)
    assert told == {"not-scaled"}
    typed[-1] = "77"
    assert item.run(typed)[0] == score - 1


def test_qti_follows_a_score_through_a_mask_that_is_given() -> None:
    exercise = generator("masked", blank=STEPS).exercise(2)
    typed = [x if x == "-inf" else f"{float(x):.3f}" for x in exercise.answers.values()]
    first = next(k for k, blank in enumerate(exercise.blanks) if blank.step == "scaled")
    same = next(k for k, blank in enumerate(exercise.blanks) if blank.step == "masked")
    assert typed[first] == typed[same]  # the first query sees the first key alone
    typed[first] = typed[same] = f"{float(typed[first]) + 0.3:.3f}"
    assert Item(exercise).run(typed)[0] == len(typed) - 1


def test_qti_names_every_misconception_that_shows() -> None:
    exercise = generator(blank=STEPS).exercise(4)
    item = Item(exercise)
    for one in exercise.mistaken:
        if one.misconception not in exercise.unseen:
            typed = [
                x if x == "-inf" or item.kinds[f"R{k}"] != "float" else f"{float(x):.3f}"
                for k, x in enumerate(one.answers)
            ]
            if "-inf" not in [x for k, x in enumerate(typed) if item.kinds[f"R{k}"] == "float"]:
                assert one.misconception.name in item.run(typed)[1]


def test_an_item_holds_nothing_that_qti_does_not_know() -> None:
    item = Item(generator(blank=STEPS).exercise(5)).item
    names = {x.tag for x in item.find("itemBody").iter()}  # type: ignore[union-attr]
    known = "itemBody div h2 h3 h4 p table caption thead tbody tr th td textEntryInteraction"
    assert names <= {*known.split()}
    attributes = {key for x in item.iter() for key in x.attrib}
    assert not attributes & {"tabindex", "role", "aria-label"}
    package = qti.package([generator(blank=STEPS).exercise(5)])
    assert package == qti.package([generator(blank=STEPS).exercise(5)])


def test_the_command_writes_quizzes_and_says_what_they_cannot() -> None:
    result = run(*["exercise", "causal", "--format", "moodle", "--count", "2"])
    assert result.exit_code == 0 and result.stdout.count("<question ") == 2
    assert "without following mistakes through" in result.stderr
    assert run(*["exercise", "causal", "--format", "qti", "--key"]).exit_code == 2
    refused = run(*["exercise", "causal", "--format", "qti:3.0"])
    assert refused.exit_code == 2 and "2.2" in refused.stderr
    assert {"moodle": (), "qti": (*qti.FLAVORS,)} == commands._QUIZZES


@pytest.mark.parametrize("flavor", qti.FLAVORS)
def test_the_command_writes_the_version_that_is_asked_for(flavor: str, tmp_path: Path) -> None:
    out = str(tmp_path / "quiz.zip")
    words = ["exercise", "causal", "--format", f"qti:{flavor}", "-o", out]
    assert run(*words).exit_code == 0
    parts = zipfile.ZipFile(out)
    version = flavor.replace(".", "p")
    assert f"imsqti_v{version}".encode() in parts.read("item-1.xml")
    assert f"xmlv{version}".encode() in parts.read("imsmanifest.xml")
