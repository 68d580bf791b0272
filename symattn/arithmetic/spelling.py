"""How people spell numbers: decimal commas, thousands, percentages, powers of ten, ½, ≈.

A text is made plain, so that the grammar of closed numbers reads it, or taken apart as a `Form`,
which spells another number as this one is spelled. Where two readings are possible the number is
refused with both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from symattn.errors import ReadError, quote

#: The signs of a decimal fraction.
DECIMAL_SIGNS = (".", ",")

#: Spaces that stand inside a number, between groups of three digits.
_THIN = "\u2009\u202f\u00a0\u2007"

#: A power of ten behind a number: e-3, ·10⁻³, ×10^{-3}.
POWER_OF_TEN = (
    r"[eE][-+−]?[0-9]{1,9}"
    r"|\s*(?:[×·⋅∙•*]|\\cdot(?![A-Za-z])|\\times(?![A-Za-z]))\s*10\s*"
    r"(?:(?:\^|\*\*)\s*(?:[-+−]?[0-9]{1,9}|\{\s*[-+−]?[0-9]{1,9}\s*\}|\(\s*[-+−]?[0-9]{1,9}\s*\))"
    r"|[⁻⁺]?[⁰¹²³⁴-⁹]{1,9})"
)

#: A decimal as people write one, whatever its signs mean.
_FORM = re.compile(
    rf"""(?P<lead>\s*\$?\s*)
    (?P<sign>[-+−‒–]?)\s*
    (?P<digits>[0-9]+(?:(?:[.,{_THIN}]|\{{,\}})[0-9]+)*\.?|[.,][0-9]+)
    (?P<power>{POWER_OF_TEN})?
    (?P<dots>\s?(?:…|\.\.\.|\\dots|\\ldots))?
    (?P<percent>[\s{_THIN}]*\\?%)?
    (?P<end>\s*\$?\s*)\Z""",
    re.VERBOSE,
)

#: Signs before a number that say no more than that it is claimed.
_LEAD = re.compile(r"(?:\s*\$?\s*(?:=|≈|≃|≅|≐|∼|~=|~|\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])))+")

#: Digits with points and commas in them.
_TOKEN = re.compile(r"(?<![0-9.,])(?:[0-9]+(?:[.,][0-9]+)+|,[0-9]+)(?![0-9])")
_GROUPS = re.compile(rf"(?<=[0-9])[{_THIN}](?=[0-9]{{3}}(?![0-9]))")
_PERIODIC = re.compile(r"[0-9]*[.,][0-9]*\([0-9]+\)")
#: e as computer algebra prints it.
_CAPITAL_E = re.compile(r"(?<![\w.\\])E(?!\w)")
_SPACED = re.compile(r"[-+]?[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)?\Z")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SAME = str.maketrans(
    {"−": "-", "‒": "-", "–": "-", "•": "·", "∙": "·", "∗": "*", "÷": "/", "⁄": "/", "∕": "/"}
)
_FRACTION = re.compile(r"\\[dt]?frac(?![A-Za-z])\s*")
_FRACTION_SIGN = re.compile(r"([0-9]+\s?)?([¼-¾⅐-⅞↉])")


@dataclass(frozen=True)
class Form:
    """A decimal taken apart: ``≈ −1 234,50·10⁻³ %`` by its parts, in the order of the text."""

    lead: str
    sign: str
    #: The digits as they stand, and in plain form with a point.
    digits: str
    plain: str
    power: str
    dots: str
    percent: str
    end: str

    @property
    def exponent(self) -> int:
        """The power of ten that the digits are multiplied by."""
        return exponent_of(self.power)

    @property
    def after(self) -> int:
        """How many digits stand after the decimal sign."""
        return len(self.plain.partition(".")[2])

    @property
    def places(self) -> int:
        """How many decimals of the number itself are claimed; negative for tens and hundreds."""
        return self.after - self.exponent + 2 * bool(self.percent)

    @property
    def decimal(self) -> str:
        """The sign of its decimals, "" where it has none."""
        return self._signs[0]

    @property
    def _signs(self) -> tuple[str, str]:
        """The sign of its decimals and the sign between its thousands; "" where there is none."""
        last = re.search(r"(?:[.,]|\{,\})(?=[0-9]*\Z)", self.digits)
        decimal = last[0] if last and "." in self.plain else ""
        whole = self.digits[: last.start()] if last and decimal else self.digits
        group = re.search(rf"[.,{_THIN}]|\{{,\}}", whole)
        return decimal, group[0] if group else ""

    def spelled(self, units: int) -> str:
        """So many units of its last digit, spelled as it is."""
        sign = ("−" if self.sign == "−" or not self.sign else self.sign) if units < 0 else ""
        if sign == "−" and self.sign != "−" and "−" not in self.power:
            sign = "-"
        sign = sign.replace("+", "-")
        body = str(abs(units)).rjust(self.after + 1, "0")
        whole, fraction = (body[: -self.after], body[-self.after :]) if self.after else (body, "")
        decimal, group = self._signs
        if group:
            whole = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+\Z)", group, whole)
        tail = f"{decimal}{fraction}" if fraction else ""
        return f"{self.lead}{sign}{whole}{tail}{self.power}{self.dots}{self.percent}{self.end}"


def exponent_of(power: str) -> int:
    """The exponent of ``e-3``, ``·10⁻³`` or ``×10^{-3}``; 0 for no power."""
    if not power:
        return 0
    body = power[1:] if power[0] in "eE" else power.strip()[1:].partition("10")[2]
    return int(re.sub(r"[^-0-9]", "", body.translate(_SUPERSCRIPTS).replace("−", "-")))


@lru_cache(maxsize=8192)
def form_of(text: str, decimal: str = "") -> Form | None:
    """The form of a decimal; None for any other text. Raises `ReadError` for one of two readings.

    `decimal` is the decimal sign of the sheet that it stands in, "" where that is not known.

    >>> form_of("≈ 0,670").places, form_of("33,3 %").places, form_of("1.2·10⁻³").places
    (3, 3, 4)
    >>> form_of("≈ 0,670").spelled(330)
    '≈ 0,330'
    """
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    match = _FORM.match(text, start)
    if match is None:
        return None
    parts = match.groupdict(default="")
    digits = parts["digits"]
    joined = _GROUPS.sub("", digits.replace("{,}", ","))
    if any(space in joined for space in _THIN):
        raise ReadError(
            f"{quote(text)}: spaces must separate groups of three digits; "
            f"write {re.sub(f'[{_THIN}]', '', digits)}"
        )
    if parts["power"] and not decimal and len(re.findall("[.,]", joined)) == 1:
        decimal = "," if "," in joined else "."  # no thousands before a power of ten
    parts["plain"] = plain_digits(joined, decimal)
    parts["lead"] = text[:start] + parts["lead"]
    return Form(**parts)


def without_lead(text: str) -> str:
    """The text without the signs ``=`` and ``≈`` that it begins with."""
    lead = _LEAD.match(text)
    return text[lead.end() :] if lead else text


def plain_text(text: str, decimal: str = "") -> str:
    """An expression as the grammar of closed numbers reads it: points, plain signs, fractions.

    Raises `ReadError` for a number that can be read in two ways.

    >>> plain_text(r"\\frac{0,5}{2} + ½ − 1½"), plain_text("1,234.5 + 2")
    ('((0.5)/(2)) + (1/2) - (1+1/2)', '1234.5 + 2')
    """
    text = _CAPITAL_E.sub("e", text)
    if text.isascii() and not any(sign in text for sign in "\\$,.& "):
        return text
    text = text.translate(_SAME).replace("&", " ").strip()
    if text.startswith("$") and text.endswith("$") and len(text) > 1:
        text = text.strip("$")
    text = _FRACTION_SIGN.sub(_as_fraction, _GROUPS.sub("", text))
    text = text.replace("{,}", ",") if "{,}" in text else text
    text = _with_fractions(text, 0)
    periodic = _PERIODIC.search(text)
    if periodic is not None:
        raise ReadError(
            f"{periodic[0]} may be a repeating decimal or a product: write a fraction, "
            "or the digits followed by …"
        )
    if _SPACED.match(text):
        raise ReadError(
            f"{quote(text)} is two numbers, or one with a space in it: write "
            f"{text.replace(' ', '')} if it is one number"
        )
    return _TOKEN.sub(lambda token: plain_digits(token[0], decimal), text)


def _as_fraction(match: re.Match[str]) -> str:
    """½ as (1/2), 1½ as (1+1/2)."""
    fraction = unicodedata.normalize("NFKC", match[2]).replace("⁄", "/")
    return f"({match[1].strip()}+{fraction})" if match[1] else f"({fraction})"


def _with_fractions(text: str, depth: int) -> str:
    r"""``\frac{a}{b}`` as ((a)/(b)); what is not closed is left for the grammar to refuse."""
    match = _FRACTION.search(text)
    if match is None or depth > 40:
        return text
    above = _braced(text, match.end())
    below = None if above is None else _braced(text, above[1])
    if above is None or below is None:
        return text
    inner = f"(({above[0]})/({below[0]}))"
    return _with_fractions(text[: match.start()] + inner + text[below[1] :], depth + 1)


def _braced(text: str, start: int) -> tuple[str, int] | None:
    """What stands in braces, or the single digit, from `start` on, and where it ends."""
    start += len(text[start:]) - len(text[start:].lstrip())
    if text[start : start + 1].isdigit():
        return text[start], start + 1
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return (text[start + 1 : at], at + 1) if text[start] == "{" else None
    return None


def decimal_shown(texts: Iterable[str]) -> str:
    """The decimal sign that these texts show: of numbers with one reading only.

    "" where none does, or where they show both.

    >>> decimal_shown(["0,33", "10,000"]), decimal_shown(["10,000", "0.33"]), decimal_shown(["5"])
    (',', '.', '')
    """
    signs = {sign for text in texts for sign in _signs_shown(text)}
    return next(iter(signs)) if len(signs) == 1 else ""


@lru_cache(maxsize=8192)
def _signs_shown(text: str) -> frozenset[str]:
    if not any(sign in text for sign in DECIMAL_SIGNS):
        return frozenset()
    found = (_sign_of(token[0]) for token in _TOKEN.finditer(text.replace("{,}", ",")))
    return frozenset(sign for sign in found if sign)


def _sign_of(token: str) -> str:
    """The sign that can only be the decimal one of this token; "" where that is open."""
    signs: list[str] = re.findall("[.,]", token)
    if len(set(signs)) == 2:
        return signs[-1]
    if len(signs) > 1:
        return "," if signs[0] == "." else "."
    return "" if _may_be_thousands(token, signs[0]) else signs[0]


def _may_be_thousands(digits: str, sign: str) -> bool:
    """Whether the sign may stand between groups of three digits."""
    first, *rest = digits.split(sign)
    return 1 <= len(first) <= 3 and first[0] != "0" and all(len(part) == 3 for part in rest)


def plain_digits(digits: str, decimal: str = "") -> str:
    """Digits with points and commas as a plain decimal with a point, or none.

    Raises `ReadError` where a sign can be read in two ways, or in none.

    >>> plain_digits("0,670"), plain_digits("1.234,5"), plain_digits("10,000", ",")
    ('0.670', '1234.5', '10.000')
    """
    signs = re.findall("[.,]", digits)
    if not signs or (signs == ["."] and decimal != ","):
        return digits
    if len(set(signs)) == 2:
        whole, _, fraction = digits.rpartition(signs[-1])
        if signs.count(signs[-1]) > 1 or not _may_be_thousands(whole, signs[0]):
            raise ReadError(
                f"{digits} is not a number: its signs do not group thousands; write it without them"
            )
        _refuse_other(digits, signs[-1], decimal)
        return f"{whole.replace(signs[0], '')}.{fraction}"
    (sign,) = set(signs)
    grouped = _may_be_thousands(digits, sign)
    joined = digits.replace(sign, "")
    if len(signs) > 1:
        if not grouped:
            names = "commas" if sign == "," else "points"
            raise ReadError(
                f"{digits} is not a number: its {names} do not group thousands; "
                "thousands are groups of three digits"
            )
        _refuse_other(digits, "," if sign == "." else ".", decimal)
        return joined
    if grouped and not decimal:  # a single comma: a point is a decimal point unless it is said
        whole, _, fraction = digits.partition(sign)
        raise ReadError(
            f"{digits} may be {joined}, its comma between thousands, or {whole} with "
            f"three decimals: write {joined} or {whole}.{fraction}, or say "
            'decimal = "," (or ".") in [policy]'
        )
    if grouped and sign != decimal:
        return joined
    if sign == ".":
        return digits  # one reading only, whatever the others show
    _refuse_other(digits, sign, decimal)
    return digits.replace(",", ".")


def _refuse_other(digits: str, sign: str, decimal: str) -> None:
    """Refuse a number whose decimal sign is not that of its sheet."""
    if decimal and sign != decimal:
        names = {".": "point", ",": "comma"}
        other = digits.replace(".", "").replace(",", decimal) if digits.count(sign) == 1 else ""
        hint = (
            f"write {other}"
            if other and len(set(re.findall("[.,]", digits))) == 1
            else ("write it without signs between thousands")
        )
        raise ReadError(f"{digits}: the decimal sign here is a {names[decimal]}; {hint}")
