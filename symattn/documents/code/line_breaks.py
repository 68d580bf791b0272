"""Lines of a program broken where they are too long, as Black and Prettier break them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from symattn.documents.code.bracketed import outside

_CLOSING = {"(": ")", "[": "]", "{": "}"}

#: Two rows of at least two numbers each.
_ROWS = re.compile(r"\[[^][]+,[^][]+\], \[")

#: A function of a row and a column among arguments.
_RULE = re.compile(r"\([ij, ]+\) => ")

#: One that is a single call.
_CALL = re.compile(_RULE.pattern + r"\w+\([^()]*\)")

#: What joins conditions, and what compares numbers, the loosest first.
_JOINING = ((" or ", " || "), (" and ", " && "), (" == ", " === "))

#: A number as it is written in a list.
_NUMBER = re.compile(r"-?[\d.]+(e[-+]?\d+)?")


@dataclass(frozen=True)
class Style:
    """How long a line may be, how deep it is indented, and the two habits that differ.

    Black puts what stands in brackets, but not a dict, on one line of its own if it fits there;
    Prettier (`tall`) has every part on its own line, but as many numbers of a list as fit, keeps a
    list that stands alone in brackets with them, and breaks every list of rows.
    """

    width: int
    indent: str
    tall: bool = False
    #: A value longer than this gets a line of its own.
    long: int = 60
    #: So many statements, with the blank lines between them, are one paragraph.
    brief: int = 5
    #: Of so many steps beside the result, each is named.
    few: int = 5


BLACK, PRETTIER = Style(88, "    "), Style(80, "  ", tall=True)


def fitted(code: str, style: Style, indent: str = "", *, broken: bool = False) -> list[str]:
    """The code in lines that fit, where brackets allow it; in several if it is `broken`.

    Only what ends with a bracket (and at most a comma or semicolon) is broken, inside that pair,
    and a sum, and conditions that are joined.
    """
    fits = len(indent) + len(code) <= style.width and not (style.tall and _ROWS.search(code))
    if fits and not broken:
        return [indent + code]
    tail = code[-1:] if code[-1:] in (";", ",") else ""
    start = _opening(code.removesuffix(tail))
    several = [] if style.tall else _operands(code)
    if style.tall and _RULE.match(code):
        head, body = code.split(" => ", 1)
        return [f"{indent}{head} =>", *_conditions(body, style, indent + style.indent)]
    if len(several) > 2 or (several and start is None):
        return _in_brackets(code, several, style, indent)
    if start is None:
        return _conditions(code, style, indent)
    if several and len(indent) + start >= style.width:
        return _first_broken(code, several, style, indent)
    head, body = code[: start + 1], code[start + 1 : len(code) - len(tail) - 1]
    closing = _CLOSING[code[start]] + tail
    if style.tall:
        return _tall(head, body, closing, style, indent)
    inside = indent + style.indent
    parts = [*_split(body)]
    if code[start] != "{" and len(inside) + len(body) <= style.width:
        lines = [inside + body]
    elif len(parts) == 1 and " for " not in body:
        lines = fitted(body, style, inside)
    else:
        runs = _runs(body) or [f"{part}," for part in parts]
        lines = [line for part in runs for line in fitted(part, style, inside)]
    return [indent + head, *lines, indent + closing]


def _tall(head: str, body: str, closing: str, style: Style, indent: str) -> list[str]:
    """What is opened by `head`, as Prettier has it."""
    inside, parts = indent + style.indent, [*_split(body)]
    if head[-1] == "(" and parts[-1][:1] == "[":  # stays with the brackets
        before = head + "".join(f"{part}, " for part in parts[:-1])
        first, *rest, last = fitted(parts[-1], style, indent, broken=True)
        if len(indent) + len(before) + len(first.lstrip()) <= style.width:
            return [indent + before + first.lstrip(), *rest, last + closing]
    if _CALL.fullmatch(parts[-1]):  # the rule of a table stays with the brackets
        rule, call = ", ".join(parts).split(" => ", 1)
        return [f"{indent}{head}{rule} =>", f"{inside}{call},", indent + closing]
    if len(parts) > 1 and all(map(_NUMBER.fullmatch, parts)):
        numbers = f"{', '.join(parts)},"
        lines = wrap(numbers, style.width, initial_indent=inside, subsequent_indent=inside)
    else:
        lines = [line for part in parts for line in fitted(f"{part},", style, inside)]
    return [indent + head, *lines, indent + closing]


def _operands(code: str) -> list[str]:
    """What is assigned, in operands with the operator ahead; empty where it is no sum."""
    name, equals, body = code.partition(" = ")
    if equals and name.isidentifier():
        for signs in (" | ",), (" & ",), (" + ", " - "):
            places = [place for place in outside(body) if body[place : place + 3] in signs]
            if places:
                ends = zip([0, *places], [*places, None], strict=True)
                return [body[start:end].strip() for start, end in ends]
    return []


def _in_brackets(code: str, operands: list[str], style: Style, indent: str) -> list[str]:
    """A sum, or what is joined, in brackets: on one line if it fits there, else by operands."""
    name, _, body = code.partition(" = ")
    inside = indent + style.indent
    whole = len(inside) + len(body) <= style.width
    lines = [body] if whole else operands
    return [f"{indent}{name} = (", *(inside + line for line in lines), f"{indent})"]


def _first_broken(code: str, operands: list[str], style: Style, indent: str) -> list[str]:
    """Two operands in brackets, of which the second fits beside the end of the first."""
    first, second = operands
    name = code.partition(" = ")[0]
    *lines, last = fitted(f"{name} = {first}", style, indent, broken=True)
    return [*lines, f"{last} {second}"]


def _conditions(code: str, style: Style, indent: str) -> list[str]:
    """Conditions on lines of their own, Black's with what joins them ahead, Prettier's behind."""
    if len(indent) + len(code) <= style.width:
        return [indent + code]
    deeper = style.indent if style.tall else ""
    for signs in _JOINING:
        parts = _apart(code, signs, behind=style.tall)
        if len(parts) > 1:
            lines: list[str] = []
            for part in parts:
                first, *rest = _conditions(part, style, indent)
                lines += [first, *(deeper + line for line in rest)]
            return lines
    return [indent + code]


def _apart(code: str, signs: tuple[str, ...], *, behind: bool) -> list[str]:
    """What signs outside brackets join, each part with its sign ahead, or behind."""
    found = [
        (place, sign) for place in outside(code) for sign in signs if code.startswith(sign, place)
    ]
    ends = [place + len(sign) if behind else place for place, sign in found]
    return [code[a:b].strip() for a, b in zip([0, *ends], [*ends, None], strict=True)]


def _opening(code: str) -> int | None:
    """Where the bracket opens that the last character closes."""
    *_, before, last = (-1, -1, *outside(code))
    return before + 1 if last == len(code) - 1 and code[-1:] in _CLOSING.values() else None


def _split(body: str) -> Iterator[str]:
    """The parts between the commas that stand in no bracket."""
    commas = [place for place in outside(body) if body[place] == ","]
    for before, comma in zip([-1, *commas], [*commas, None], strict=True):
        part = body[before + 1 : comma].strip()
        if part or comma is not None:
            yield part


def _runs(body: str) -> list[str] | None:
    """What a comprehension collects, and what it runs through; None for what is none."""
    places = (place for place in outside(body) if body.startswith(" for ", place))
    place = next(places, None)
    return None if place is None else [body[:place], body[place + 1 :]]
