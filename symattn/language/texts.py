"""The lines of a text of equations: headings, reasons, shapes, and left and right sides.

::

    text     = line ((newline | ";") line)*
    line     = [equation | shape] ["#" reason]     a line of "## words" heads the next step
    equation = left "=" right                      the last line may be a right side alone
    left     = [WORD] item                         WORD is the name of the step: weights A = …
    item     = NAME | NAME [h] | NAME [h] [i, j] | NAME [t, :] | NAME (x, …)
    shape    = NAME [h] ":" ("number" | size ("×" | ",") size)

Neither sign ends a line inside brackets, and nothing counts behind a ``#``. Right sides are read
by `symattn.grammar`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields, replace

from symattn.errors import ReadError, quote
from symattn.grammar import FUNCTIONS, Refused, Tree, canonical, greek, marks, read_right
from symattn.language.shapes import KNOWN_SIZES, USUAL
from symattn.nodes.catalogue import words

MAX_LENGTH, MAX_LINE = 20_000, 2_000

#: Words that no letter may be.
_TAKEN = ("if", "else", "and", "or", "not", "e", "pi", "inf", "I", "ones", "number")

_NAME = r"[^\W\d_][\w]*'*"
_LETTER = r"[^\W\d_]"
#: What a letter may be made of: as right sides and documents read it.
_READABLE = re.compile(r"[A-Za-zΑ-Ωα-ωϑϕϵϱϖ][A-Za-z0-9_Α-Ωα-ωϑϕϵϱϖ]*'*\Z")
_LEFT = re.compile(
    rf"\s*(?:(?P<word>{_NAME})\s+)?(?P<name>{_NAME}(?:_\{{[A-Za-z0-9,]+\}})?)"
    rf"(?:\[\s*(?P<one>[^\[\],:]+?)\s*\])?"
    rf"(?:\[\s*(?P<row>{_LETTER})\s*,\s*(?P<column>{_LETTER}|:)\s*\])?"
    rf"(?:\((?P<arguments>[^()]*)\))?\s*\Z"
)
_SHAPE = re.compile(
    rf"\s*(?P<name>{_NAME}(?:_\{{[A-Za-z0-9,]+\}})?)(?:\[\s*(?P<one>{_LETTER})\s*\])?\s*:"
    r"(?P<shape>[^=]*)\Z"
)
#: A shape in brackets, (n × d).
_BRACKETED = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")


@dataclass(frozen=True)
class Place:
    """A line of a text, from 1, and a character of it, from 1."""

    line: int
    character: int = 1

    def __str__(self) -> str:
        return f"line {self.line}, character {self.character}"


@dataclass(frozen=True)
class Left:
    """The left side of an equation.

    `word` names the step; `head` is the index of a family ("0" for its start); `indices` are those
    of a matrix by its entries, ("i", "j"), or by its rows, ("t", ":"); `arguments` those of a
    function.
    """

    name: str
    word: str = ""
    head: str = ""
    indices: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def by_entries(self) -> bool:
        """Whether it makes a matrix by its entries."""
        return bool(self.indices) and not self.by_rows

    @property
    def by_rows(self) -> bool:
        """Whether it makes a matrix by its rows."""
        return ":" in self.indices


@dataclass(frozen=True)
class _Written:
    """An equation as it is written: its left side, the right one, and what is said of it.

    `left` has no name where a text ends with a right side alone.
    """

    left: Left
    text: str
    place: Place
    heading: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        """The letter that it makes; empty where it has no left side."""
        return self.left.name

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the function that it makes; none where it makes a letter."""
        return self.left.arguments

    def at(self, offset: int) -> Place:
        """Where a character of the right side stands, counted from 0."""
        before = self.text[:offset]
        lines = before.count("\n")
        if not lines:
            return Place(self.place.line, self.place.character + offset)
        return Place(self.place.line + lines, len(before) - before.rfind("\n"))


@dataclass(frozen=True)
class Equation(_Written):
    """An equation that is read: with the tree of its right side."""

    tree: Tree = field(kw_only=True, repr=False)


@dataclass(frozen=True)
class Shape:
    """A line that says the shape of a letter: ``W_Q[h] : d_model × d_k``; () of a number."""

    name: str
    head: str
    sizes: tuple[str, ...]
    place: Place


class Wrong(ReadError):
    """What cannot be used, with its place in the text; `why` is without that."""

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why or message


def wrong(place: Place, why: str) -> Wrong:
    """The error for what stands at a place of the text."""
    return Wrong(f"{place}: {why}", why)


@dataclass(frozen=True)
class Text:
    """A text of equations as read."""

    equations: tuple[Equation, ...]
    shapes: tuple[Shape, ...]
    functions: tuple[Equation, ...]


def read_text(text: str, given: Collection[str] = ()) -> Text:
    """The equations and shapes of a text; `given` are letters that have more than one character.

    Raises `ReadError` with the line and the character, for what cannot be read.
    """
    if not isinstance(text, str):
        raise ReadError(f"{quote(text)} is not a text of equations")
    if len(text) > MAX_LENGTH:
        raise wrong(
            Place(1), f"{len(text)} characters are too many; a text has {MAX_LENGTH} at most"
        )
    equations: list[_Written] = []
    shapes: list[Shape] = []
    heading = ""
    for line in _lines(text):
        if line.remark.startswith("##"):
            heading = line.remark.lstrip("#").strip()
        if not line.content.strip():
            continue
        if equations and not equations[-1].name:
            bare = equations[-1]
            why = f"{quote(bare.text)} has no left side; only the last line may stand without one"
            raise wrong(bare.place, why)
        declared = _SHAPE.match(line.content)
        if declared is not None and "[" not in declared["shape"]:
            shapes.append(_shape(declared, line.place))
        else:
            equations.append(_equation(line, heading))
            heading = ""
    if not equations:
        raise wrong(Place(1), "no equation is written; write e.g. O = softmax(Q K^T / sqrt(d_k)) V")
    return _with_trees(equations, shapes, given)


def _with_trees(equations: list[_Written], shapes: list[Shape], given: Collection[str]) -> Text:
    """The right sides read, with all letters known that are made, declared or given."""
    letters = {greek(name) for name in given} | {shape.name for shape in shapes}
    letters |= {one.name for one in equations if one.name and not one.arguments}
    functions = words().union(one.name for one in equations if one.arguments)
    usual = letters.union(KNOWN_SIZES, USUAL)
    read: list[Equation] = []
    for equation in equations:
        try:
            known = letters.union(equation.arguments)
            tree = read_right(equation.text, known, functions, usual)
        except Refused as refused:
            why = refused.why.replace("‹›", str(equation.at(refused.bracket)))
            raise wrong(equation.at(refused.place), why) from None
        except ReadError as error:
            raise wrong(equation.place, str(error)) from None
        read.append(Equation(*(getattr(equation, x.name) for x in fields(equation)), tree=tree))
    return Text(
        tuple(one for one in read if not one.arguments),
        tuple(shapes),
        tuple(one for one in read if one.arguments),
    )


#: The marks that end a line or a side, and brackets, in which they do not.
_MARKS = re.compile(r"#[^\n]*|[()\[\]{}\n;]|(?<![<>!=])=(?!=)|\Z")


@dataclass(frozen=True)
class _Line:
    """A piece of a text that may be an equation, where it begins, and where it has a =."""

    content: str
    place: Place
    remark: str
    signs: tuple[int, ...]


def _lines(text: str) -> Iterator[_Line]:
    """Each piece of the text that may be an equation."""
    content, remark, start, place = "", "", 0, Place(1)
    signs: list[int] = []
    for match, opened in marks(text, _MARKS):
        mark, at = match[0], match.start()
        if mark.startswith("#"):
            content += text[start:at]
            start = match.end()
            if not opened or start == len(text):  # else an equation goes on behind it
                remark = mark
        elif mark == "=":
            signs += [] if opened else [len(content) + at - start]
        elif not opened or not mark:
            content += text[start:at]
            if len(content) > MAX_LINE:
                raise wrong(place, f"{len(content)} characters are too many; a line has {MAX_LINE}")
            yield _Line(content, place, remark, tuple(signs))
            content, remark, start, signs = "", "", match.end(), []
            place = Place(text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def _equation(line: _Line, heading: str) -> _Written:
    """An equation: its left side, if it has one, its right side, and where that begins."""
    content, place = line.content, line.place
    reason = "" if line.remark.startswith("##") else line.remark.lstrip("#").strip()
    at = line.signs[0] + 1 if line.signs else 0
    right = content[at:]
    where = replace(place, character=place.character + at + len(right) - len(right.lstrip()))
    if line.signs and not right.strip():
        raise wrong(place, f"nothing stands behind the = of {quote(content.strip())}")
    for second in line.signs[1:]:
        raise wrong(
            replace(place, character=place.character + second),
            "a second = in one equation; write two equations, or == in a test",
        )
    left = _left(content[: at - 1], place) if line.signs else Left("")
    return _Written(left, right.strip(), where, heading, reason)


def _left(text: str, place: Place) -> Left:
    found = _LEFT.match(text)
    place = Place(place.line, place.character + len(text) - len(text.lstrip()))
    if found is None or (found["arguments"] is not None and (found["one"] or found["row"])):
        raise wrong(
            place,
            f"{quote(text.strip())} is no left side; write a letter, weights A, Q[h], M[i,j], "
            "O[t,:] or f(x)",
        )
    name = _letter(found["name"], place)
    word, head = found["word"] or "", greek(found["one"] or "")
    if len(word) == 1:
        raise wrong(
            place,
            f"{quote(text.strip())}: one letter stands on a left side, behind the word that names "
            "its step: weights A = …",
        )
    row, column = found["row"], found["column"]
    indices = () if row is None else (greek(row), greek(column))
    said = found["arguments"]
    arguments = () if said is None else tuple(greek(one.strip()) for one in said.split(","))
    if arguments and (word or not all(re.fullmatch(_NAME, one) for one in arguments)):
        raise wrong(place, f"{quote(text.strip())}: a function is written f(x) = … or f(x, y) = …")
    if arguments and canonical(name) != name:  # Tanh would be read as tanh
        raise wrong(place, f"{quote(name)} has a meaning of its own here; choose another letter")
    if len({*indices, head}) != len(indices) + 1 or len(set(arguments)) != len(arguments):
        raise wrong(place, f"{quote(text.strip())}: an index stands there twice")
    if head and ":" in indices:
        raise wrong(
            place,
            f"{quote(text.strip())}: the matrix of each {head} is made as a whole, "
            f"{name}[{head}] = …, or by its entries, {name}[{head}][i,j] = …",
        )
    return Left(name, word, head, indices, arguments)


def _letter(name: str, place: Place) -> str:
    """The name of a letter, Greek in its own letter; refused where it means something else."""
    name = greek(name.replace("{", "").replace("}", "").replace(",", ""))
    if not _READABLE.match(name):
        raise wrong(place, f"{quote(name)} is no letter here; take Latin or Greek ones")
    if name in _TAKEN or (name in FUNCTIONS and len(name) > 1) or name in words():
        raise wrong(place, f"{quote(name)} has a meaning of its own here; choose another letter")
    return name


def _shape(found: re.Match[str], place: Place) -> Shape:
    place = Place(place.line, place.character + found.start("name"))
    name = _letter(found["name"], place)
    said = found["shape"].strip()
    if said in ("number", "scalar"):
        return Shape(name, greek(found["one"] or ""), (), place)
    inside = _BRACKETED.fullmatch(said)
    sizes = [one.strip() for one in re.split(r"[×,]|\bx\b", inside[1] if inside else said)]
    if len(sizes) != 2 or not all(sizes):
        raise wrong(place, f"{quote(said)} is no shape; write {name} : n × d_k, or {name} : number")
    return Shape(name, greek(found["one"] or ""), tuple(sizes), place)
