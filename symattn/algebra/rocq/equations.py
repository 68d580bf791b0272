"""Equations of numbers with the scripts that prove them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from symattn.algebra.forms import Form, Refused
from symattn.algebra.polynomials import Bound
from symattn.algebra.rocq.terms import Places, bracketed, fraction, identifier, nat
from symattn.algebra.texts import Poly

#: Lines of a script, which end the goal that they begin with.
Script: TypeAlias = tuple[str, ...]

#: A side of an identity: a text of the texts of what it is about.
Template: TypeAlias = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Equation:
    """Left = right, and a script that proves it; none where both are the same but for names.

    `poly` is what the right side says, None of −∞; a sum was over `bound` before. `comment` says
    it in the letters of the statement. With a `slope`, the place of a derivative and what it is by,
    the right side is the derivative of the left one.
    """

    left: str
    right: str
    script: Script = ()
    poly: Poly | None = None
    bound: Bound | None = None
    rule: object = None
    comment: str = ""
    slope: str = ""

    @property
    def remark(self) -> Script:
        """The comment as a line of a script."""
        return (f"(* {self.comment} *)",) if self.comment else ()

    @property
    def proof(self) -> Script:
        """The script of a goal that is this equation."""
        return self.script or ("by [].",)


@dataclass(frozen=True)
class Piece:
    """A part of a range: its places, their index and number, and the equations there.

    `blocks` is the index and number of the blocks whose places they are, if it is cut in such.
    """

    at: Form
    index: str
    count: Form
    alone: bool
    inside: list[Any]
    blocks: Sequence[tuple[str, Form]] = ()

    @property
    def bound(self) -> Bound:
        """Its indices."""
        return [*self.blocks, (self.index, self.count)]

    @property
    def sizes(self) -> str:
        """The number of blocks and their width."""
        return " ".join(nat(size) for _, size in self.bound)


@dataclass(frozen=True)
class Pieces:
    """All parts of a range."""

    size: Form
    parts: list[Piece]


@dataclass(frozen=True)
class Induction:
    """The proof that a state is its closed form: the entry of that, and the equations of its parts.

    `before` names what is known of the states before, `known` what is shown.
    """

    name: str
    value: str
    found: Pieces
    before: str
    known: str


def have(name: str, one: Equation, kind: str = " :> R") -> Script:
    """A step of a script: an equation with a name."""
    first, *rest = one.proof
    lines = (f"have {name} : {said(one, kind)}.", "{ " + first, *map(indented, rest))
    return (*one.remark, *lines[:-1], lines[-1] + " }")


def said(one: Equation, kind: str = " :> R") -> str:
    """An equation as a statement about numbers, or scores."""
    if one.slope:
        return f"slope_at {one.slope} => {one.left}) ({one.right})"
    sides = (f"({side})" if side[:3] == "if " else side for side in (one.left, one.right))
    return " = ".join(sides) + kind


def indented(line: str) -> str:
    """A line further to the right."""
    return f"  {line}"


def within(bound: Sequence[tuple[str, Form]], one: Equation, word: str = "sumto") -> Equation:
    """The sums of both sides of an equation, or the largest along an index (largest)."""
    for index, count in reversed(bound):
        name, size = identifier(index), nat(count)
        script = (f"apply: {word}_eq => {name} lt{name}.", *one.remark, *one.script)
        left, right = (along_text(word, size, index, side) for side in (one.left, one.right))
        one = Equation(left, right, script if one.script else ())
    return one


def along_text(word: str, size: str, name: str, body: str) -> str:
    """What is taken along an index below a size: a sum (sumto), or the largest (largest)."""
    return f"{word} {size} (fun {identifier(name)} => {body})"


def largest_text(pair: tuple[str, Form], body: str, places: Places | None = None) -> str:
    """The largest along an index; places are put in for indices in its range."""
    return along_text("largest", nat(pair[1], places), pair[0], body)


def summed_text(bound: Sequence[tuple[str, Form]], body: str, places: Places | None = None) -> str:
    """Σ over indices, the last one innermost; places are put in for indices in their ranges."""
    for name, size in reversed(bound):
        body = along_text("sumto", nat(size, places), name, body)
    return body


def sized(left: str, written: str, size: Form) -> Equation:
    """A sum, or the largest along an index, whose size is a form, not as its rule has it."""
    word, other = left.partition(" ")[0], nat(size)
    right = f"{word} {other}{left.removeprefix(f'{word} {written}')}"
    return Equation(left, right, (f"congr ({word} _ _); lia.",) if other != written else ())


def function(place: Form, name: str) -> str:
    """A place as a function of an index."""
    return f"(fun {identifier(name)} => {nat(place)})"


def turned(one: Equation) -> Equation:
    """An equation from right to left."""
    return Equation(one.right, one.left, ("symmetry.", *one.script) if one.script else ())


def times_script(one: Equation) -> Script:
    """The proof that equal numbers are so times another one."""
    return ("apply: (congr1 ( *%R _)).", *one.script) if one.script else ()


def some(poly: Poly | None) -> Poly:
    """A polynomial that is not −∞."""
    if poly is None:
        raise Refused("−∞ on both sides has no proof in Rocq yet")
    return poly


def product_text(words: Sequence[str]) -> str:
    """A product."""
    return " * ".join(map(bracketed, words)) if len(words) > 1 else "".join(words) or "1"


def nested(texts: Sequence[str]) -> str:
    """A + (b + (c + …))."""
    *before, out = texts
    for text in reversed(before):
        out = f"{text} + ({out})"
    return out


def weighted_text(numbers: Sequence[Fraction], texts: Sequence[str]) -> str:
    """A sum of texts, each times its number."""
    words = []
    for c, text in zip(numbers, texts, strict=True):
        factor = fraction(abs(c))
        words.append(f"{factor if c > 0 else f'(- {factor})'} * ({text})")
    return " + ".join(words)


def sum_text(numbers: Sequence[Fraction], texts: Sequence[str]) -> str:
    """A sum of texts times numbers, as a polynomial is written."""
    words = []
    for c, text in zip(numbers, texts, strict=True):
        scaled_ = fraction(abs(c)) if text == "1" else f"{fraction(abs(c))} * {bracketed(text)}"
        word = text if abs(c) == 1 else scaled_
        words.append(word if c > 0 else f"- {bracketed(word)}")
    return " + ".join(words) or "0"
