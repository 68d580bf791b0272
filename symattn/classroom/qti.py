"""Exercises as QTI: a package of items whose response processing follows mistakes through.

Source: IMS Question and Test Interoperability 2.1, Assessment Test, Section and Item Information
Model, sections 8 (response processing) and 15 (expressions); nothing of it is otherwise in 2.2. An
entry earns its point if it is right, or if the rule that it is computed by gives it from what was
answered before.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from symattn.classroom.exercise import FINER, MINUS_INFINITY, Exercise, in_decimals
from symattn.classroom.following import Data, Following
from symattn.classroom.handout import Handout
from symattn.documents.mathml import xhtml
from symattn.documents.page.elements import Markup, el

_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"

#: Attributes of a page that an item does not know.
_UNKNOWN = re.compile(r' (?:tabindex|role|aria-label)="[^"]*"')

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

#: When every file was made: a file's time would change its bytes.
_TIME = (1980, 1, 1, 0, 0, 0)

LIMITS = (
    "QTI: −∞ is typed as -inf; fractions and percentages are for the system that shows the item"
)


@dataclass(frozen=True)
class Version:
    """What a version of QTI calls itself: in names, and in the manifest its schema and version."""

    name: str
    schema: str
    number: str


#: The versions, the usual one first.
FLAVORS: Mapping[str, Version] = {
    "2.1": Version("v2p1", "IMS Content", "1.1"),
    "2.2": Version("v2p2", "QTIv2.2 Package", "1.0.0"),
}


def package(exercises: Sequence[Exercise], flavor: str = "2.1") -> bytes:
    """The zip file: an item for each exercise, and the manifest; `flavor` is a row of `FLAVORS`."""
    version = FLAVORS[flavor]
    files = {
        f"item-{k}.xml": str(Item(one, f"item-{k}", version).xml)
        for k, one in enumerate(exercises, 1)
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as parts:
        for name, text in {"imsmanifest.xml": _manifest([*files], version), **files}.items():
            parts.writestr(zipfile.ZipInfo(name, _TIME), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _manifest(names: Sequence[str], version: Version) -> str:
    resources = (
        el(
            "resource",
            el("file", href=name),
            identifier=f"resource-{name.removesuffix('.xml')}",
            type=f"imsqti_item_xml{version.name}",
            href=name,
        )
        for name in names
    )
    about = el("schema", version.schema), el("schemaversion", version.number)
    return _HEAD + el(
        "manifest",
        el("metadata", *about),
        el("organizations"),
        el("resources", *resources),
        xmlns=_PACKAGE,
        identifier="symattn",
    )


@dataclass(frozen=True)
class Item:
    """One exercise as an assessment item."""

    exercise: Exercise
    identifier: str
    version: Version

    @cached_property
    def _following(self) -> Following:
        return Following(self.exercise)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """The number of each answer by its name."""
        return {self.exercise.name(blank): k for k, blank in enumerate(self.exercise.blanks)}

    @property
    def xml(self) -> str:
        """The file of the item."""
        exercise, most = self.exercise, str(len(self.exercise.blanks))
        document = Handout(exercise).quiz(
            lambda _, number: el(
                "textEntryInteraction", responseIdentifier=f"R{number}", expectedLength=8
            )
        )
        parts = (Markup(_UNKNOWN.sub("", part)) for part in xhtml([document], 2))
        body = el("itemBody", el("div", *parts))
        return _HEAD + el(
            "assessmentItem",
            *map(self._declared, range(len(exercise.blanks))),
            self._outcome("SCORE", "float", el("defaultValue", el("value", "0"))),
            self._outcome("MAXSCORE", "float", el("defaultValue", el("value", most))),
            self._outcome("REMARK", "identifier", cardinality="multiple"),
            body,
            el("responseProcessing", *self._points(), *self._remarks()),
            *self._told(),
            xmlns=f"http://www.imsglobal.org/xsd/imsqti_{self.version.name}",
            identifier=self.identifier,
            title=exercise.sheet.title or "Attention",
            adaptive="false",
            timeDependent="false",
        )

    @staticmethod
    def _outcome(name: str, kind: str, *default: Markup, cardinality: str = "single") -> Markup:
        return el(
            "outcomeDeclaration",
            *default,
            identifier=name,
            cardinality=cardinality,
            baseType=kind,
        )

    def _declared(self, number: int) -> Markup:
        right = self.exercise.right[number]
        text = "-inf" if right is None else in_decimals(right, self.exercise.places)
        kind = "string" if right is None else "float"
        answer = el("correctResponse", el("value", text))
        return el(
            "responseDeclaration",
            answer,
            identifier=f"R{number}",
            cardinality="single",
            baseType=kind,
        )

    # ---- response processing --------------------------------------------------------------------

    def _points(self) -> Iterator[Markup]:
        """A point for each answer that is right, or follows from those before it."""
        for number, blank in enumerate(self.exercise.blanks):
            conditions = [_infinite(number)]
            if self.exercise.right[number] is not None:
                conditions = [self._near(number, el("correct", identifier=f"R{number}"), 1)]
                own = self._expression(self._following.rules.get(self.exercise.name(blank)))
                if own is not None and 'variable identifier="R' in own:
                    conditions.append(self._near(number, own, 4))
            more = el("sum", el("variable", identifier="SCORE"), _value(1))
            point = el("setOutcomeValue", more, identifier="SCORE")
            test = conditions[0] if len(conditions) == 1 else el("or", *conditions)
            yield el("responseCondition", el("responseIf", test, point))

    def _near(self, number: int, value: Markup, halves: int) -> Markup:
        """Whether an answer is so many halves of a unit of the last digit from a value at most."""
        tolerance = in_decimals(halves * 10**FINER // 2 + 1, self.exercise.places)
        return el(
            "equal",
            _variable(number),
            value,
            toleranceMode="absolute",
            tolerance=f"{tolerance} {tolerance}",
        )

    def _expression(self, part: Data) -> Markup | None:
        """A part of a rule; an entry is what was answered, or what its own rule gives.

        None where QTI has no expression for it, as for −∞.
        """
        match part:
            case float():
                return _value(part)
            case str() if part in self._numbers:
                number = self._numbers[part]
                return None if self.exercise.right[number] is None else _variable(number)
            case str():
                return self._expression(self._following.rules.get(part))
            case ["exp", inside] if self._is_hidden(inside):
                return _value(0)
            case [str() as sign, *inside]:
                found = [self._expression(one) for one in inside]
                parts = [one for one in found if one is not None]
                return _OPERATORS[sign](*parts) if len(parts) == len(found) else None
        return None

    def _is_hidden(self, part: Data) -> bool:
        """Whether a part is −∞, by its rule or as an answer."""
        if not isinstance(part, str):
            return part is None
        if part in self._numbers:
            return self.exercise.right[self._numbers[part]] is None
        return self._is_hidden(self._following.rules.get(part, 0.0))

    # ---- remarks --------------------------------------------------------------------------------

    def _remarks(self) -> Iterator[Markup]:
        """Which misconceptions give all the answers up to the first step that they change."""
        blanks, right = self.exercise.blanks, self.exercise.right
        for one in self.exercise.seen:
            first = next(k for k, x in enumerate(one.units) if x != right[k])
            count = max(k for k, blank in enumerate(blanks) if blank.step == blanks[first].step)
            tests = [self._believed(k, one.units[k]) for k in range(count + 1)]
            name = el("baseValue", one.misconception.name, baseType="identifier")
            found = el("multiple", el("variable", identifier="REMARK"), name)
            told = el("setOutcomeValue", found, identifier="REMARK")
            yield el("responseCondition", el("responseIf", el("and", *tests), told))

    def _believed(self, number: int, units: int | None) -> Markup:
        """Whether an answer is that of a misconception; where −∞ is right, whether it is that."""
        if self.exercise.right[number] is None:
            same = _infinite(number)
            return same if units is None else el("not", same)
        if units is None:
            return el("isNull", _variable(number))
        return self._near(number, _value(float(in_decimals(units, self.exercise.places))), 1)

    def _told(self) -> Iterator[Markup]:
        for one in self.exercise.seen:
            words = f"As if {one.misconception.instead}. {one.misconception.tell}"
            yield el(
                "modalFeedback",
                words,
                outcomeIdentifier="REMARK",
                identifier=one.misconception.name,
                showHide="show",
            )


#: What QTI calls the operations of a rule.
_OPERATORS: Mapping[str, Callable[..., Markup]] = {
    "+": partial(el, "sum"),
    "*": partial(el, "product"),
    "/": partial(el, "divide"),
    "exp": partial(el, "mathOperator", name="exp"),
}


def _variable(number: int) -> Markup:
    return el("variable", identifier=f"R{number}")


def _infinite(number: int) -> Markup:
    """Whether an answer is −∞, however it is typed."""
    spellings = (el("baseValue", text, baseType="string") for text in MINUS_INFINITY)
    tests = (el("stringMatch", _variable(number), x, caseSensitive="false") for x in spellings)
    return el("or", *tests)


def _value(number: float) -> Markup:
    return el("baseValue", repr(float(number)), baseType="float")
