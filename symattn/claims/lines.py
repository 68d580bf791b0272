"""Worked lines as text: ``s_12 = 1·0 + 2·4 = 8``, their sides and the number that ends them.

Each side is read exactly; the last one is the number that is claimed. Whether the signs between
the sides hold is judged in `symattn.marking.lines`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeGuard

import sympy

from symattn.arithmetic.enclosure import BITS, ball, precision
from symattn.arithmetic.quantity import Quantity, exactly
from symattn.arithmetic.reading import read_number
from symattn.arithmetic.spelling import POWER_OF_TEN, exponent_of, plain_text
from symattn.arithmetic.written import Written, read_written
from symattn.derivations import Place
from symattn.errors import ReadError, quote
from symattn.grammar import Tree, read_closed

#: Sides that a line may have, and characters of it.
MAX_SIDES, MAX_LINE = 20, 2000

#: What stands between the sides of a line.
_SIGN = re.compile(r"=|≈|≃|≅|≐|~=|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])")

#: What does not belong to a side: spaces, LaTeX's dollars, columns and ends of rows.
_AROUND = re.compile(r"(?:[\s&$]|\\\\)*")
_BEHIND = re.compile(r"(?:[\s&$]|\\\\)+\Z")

#: Numbers that are indices, exponents or sizes under a root, in what is named by letters.
_INDICES = re.compile(
    r"[_^]\s*\{[^{}]*\}|_[0-9A-Za-z,]+|\^\s*\(?[-+−]?\w+\)?|\[[^\[\]]*\]|√\s*\(?[0-9]+"
    r"|\\sqrt\s*\{[^{}]*\}|[₀-₉⁰¹²³⁴-⁹]+"
)
_LETTER = re.compile(r"[^\W\d_]")

#: The letter of an entry with its indices: ``g_00``, ``s[1,2]``, ``a₁₂``, ``\\alpha_{12}``.
_ENTRY = re.compile(
    r"(?<![^\W\d_])[^\W\d_](?:_|[₀-₉]|\[[0-9]+,\s*[0-9]+\])|\\(?!(?:max|min|log|sum|ln)_)[a-zA-Z]+_"
)
_DECIMAL = re.compile(r"(?<![\w.])([0-9]+)(?:\.([0-9]*))?([eE][-+]?[0-9]+)?|\.([0-9]+)")
_SCIENTIFIC = re.compile(rf"((?<![\w.])[0-9]+\.[0-9]+)({POWER_OF_TEN})")
_MAX = re.compile(
    r"\\?max\s*(?:\\left)?\s*\\?[({](?P<inside>.*?)(?:\\right)?\s*\\?[)}]\Z", re.DOTALL
)


@dataclass(frozen=True)
class Side:
    """One side of a line: its text, where that begins in the line, and what it comes to.

    `written` is set where it is a single number.
    """

    text: str
    start: int
    sign: str
    written: Written | None
    plain: str
    value: sympy.Expr

    @cached_property
    def tree(self) -> Tree:
        """How it is put together."""
        return read_closed(self.plain)

    @cached_property
    def decimals(self) -> Mapping[Fraction, int]:
        """The decimals of each number in it that has some; the fewest that it is written with.

        They are negative of what is written to tens or hundreds, 2.98·10³.
        """
        found: dict[Fraction, int] = {}
        for match in _DECIMAL.finditer(self.plain):
            digits = match[2] or match[4] or ""
            places = len(digits) - exponent_of(match[3] or "")
            value = Fraction(match[0])
            if places > 0 or (digits and match[3]):  # 2.98e3 is written to tens
                found[value] = min(places, found.get(value, places))
        return found

    @property
    def is_exact(self) -> bool:
        """Whether no number in it can have been rounded."""
        if self.written is None:  # after ≈ whole numbers may be rounded: e^8/e^5 ≈ 2981/148
            return not self.decimals and self.sign in ("", "=")
        return self.written.places is None or self.written.places <= 0

    @property
    def is_infinite(self) -> bool:
        """Whether it comes to −∞."""
        return self.value is sympy.S.NegativeInfinity

    @property
    def quantity(self) -> Quantity:
        """What it comes to, as a number to be compared."""
        return exactly(self.value)


@dataclass(frozen=True)
class Claim:
    """A number that is claimed: of which entry, what was written, and which number of a key it is.

    `sides` are those of the worked line that it ends, made of numbers, or of the expression that it
    is. A calculation that names no entry has no letter.
    """

    key: str
    number: int
    letter: str
    place: Place
    written: Written
    sides: tuple[Side, ...] = ()
    #: Line and column in the file where it begins, from 1; 0 where they are not known.
    where: tuple[int, int] = (0, 0)

    @property
    def entry(self) -> tuple[str, Place]:
        """The letter of the step, and the place in it."""
        return self.letter, self.place


def sides_of(text: str) -> list[tuple[str, str, int]]:
    """The sides of a text: the sign before each, its text, and where that begins.

    >>> sides_of("s_12 = 1·0 + 2·4 = 8")
    [('', 's_12', 0), ('=', '1·0 + 2·4', 7), ('=', '8', 19)]
    """
    found: list[tuple[str, str, int]] = []
    sign, start = "", 0
    for match in [*_SIGN.finditer(text), None]:
        end = len(text) if match is None else match.start()
        lead = _AROUND.match(text, start, end)
        begin = lead.end() if lead else start
        found.append((sign, _BEHIND.sub("", text[begin:end]), begin))
        if match is not None:
            sign, start = match[0], match.end()
    if len(found) > 1 and not found[0][1]:  # a sign that begins the text claims nothing more
        found = found[1:]
    return found


def is_line(text: object) -> TypeGuard[str]:
    """Whether a claimed text has more than one side."""
    return isinstance(text, str) and _SIGN.search(text) is not None and len(sides_of(text)) > 1


def is_calculation(text: str) -> bool:
    """Whether all sides of a text are made of numbers: ``2.03/3.03 = 0.67``."""
    return is_line(text) and all(
        side and any(c.isdigit() for c in side) and not _is_symbolic(side)
        for _, side, _ in sides_of(text.strip().strip("$"))
    )


def last_side(text: str) -> tuple[str, int]:
    """The last side of a text, which is the number that it claims, and where that begins."""
    if not is_line(text):
        return text, 0
    _, side, start = sides_of(text)[-1]
    return side, start


def read_line(
    text: str, where: str, decimal: str, names: Callable[[str], bool | None] = lambda side: None
) -> tuple[Written, tuple[Side, ...]]:
    """The claimed number of a worked line and its sides that are made of numbers.

    `names` says of a side whether it is a symbol of the claimed entry, None if of none. Raises
    `ReadError` for a side that cannot be read.
    """
    if len(text) > MAX_LINE:
        raise ReadError(f"{where}: {len(text)} characters are too many; write {MAX_LINE} at most")
    found = sides_of(text)
    if len(found) > MAX_SIDES:
        raise ReadError(f"{where}: {len(found)} sides are too many; write {MAX_SIDES} at most")
    sides: list[Side] = []
    for sign, side, start in found:
        if not side:
            raise ReadError(f"{where}: a side of the equation is empty; write e.g. 1·0 + 2·4 = 8")
        if not sides and _is_symbolic(side):
            if start == found[0][2] and names(side) is False:
                raise ReadError(
                    f"{where}: {quote(side)} is another entry; claim the line for that one"
                )
            continue
        sides.append(replace(_read_side(side, where, decimal), start=start, sign=sign))
    last = sides[-1] if sides else None
    if last is None or last.text != found[-1][1]:
        raise ReadError(f"{where}: {quote(found[-1][1])} is not a number; end the line with one")
    if last.written is None and last.decimals and len(found) > 1:
        raise ReadError(f"{where}: ends with {last.text[:40]}; write its value after it")
    claimed = last.written or Written(last.text, last.value, None)
    return claimed, tuple(sides)


@lru_cache(maxsize=4096)
def _read_side(text: str, where: str, decimal: str) -> Side:
    if (row := _MAX.match(text)) is not None:
        return replace(_largest(row["inside"], where, decimal), text=text)
    written = read_written(text, where, decimal)
    if written is None:
        raise ReadError(
            f"{where}: {quote(text)} stands where a number belongs; write the number, "
            "or leave the claim out"
        )
    if written.places is not None:
        return Side(text, 0, "", written, str(written.value), written.value)
    try:
        plain = plain_text(text.removesuffix("%").removesuffix("\\"), decimal)
    except ReadError as error:
        raise ReadError(f"{where}: {error}") from None
    plain = _SCIENTIFIC.sub(lambda m: f"{m[1]}e{exponent_of(m[2])}", plain)
    return Side(text, 0, "", None, plain, written.value)


def _largest(inside: str, where: str, decimal: str) -> Side:
    """The largest of numbers with commas, or semicolons, between them."""
    if ";" in inside:
        texts = inside.split(";")
    else:
        texts = re.split(r",\s+" if decimal == "," else ",", inside)
    parts = [_read_side(text.strip(), where, decimal) for text in texts]
    with precision(BITS[1]):
        known = [part for part in parts if not part.is_infinite]
        return max(known, key=lambda part: float(ball(part.value)), default=parts[0])


def _is_symbolic(side: str) -> bool:
    """Whether a side is a formula: it has letters only, or the letter of an entry with its indices.

    ``e^(g_00)/(e^(g_00) + 0)`` is one, though 0 is a number; ``l·0 + 2·4`` is a slip of the pen.
    """
    if _ENTRY.search(side):
        return True
    rest = _INDICES.sub(" ", side)
    if any(character.isdigit() for character in rest):
        return False
    try:
        read_number(plain_text(side), "")
    except ReadError:
        return _LETTER.search(rest) is not None
    return False
