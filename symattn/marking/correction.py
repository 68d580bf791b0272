"""A true value written as somebody else would have: with as many digits, in the same form."""

from __future__ import annotations

import re
from decimal import Decimal

import sympy

from symattn.arithmetic.quantity import Quantity
from symattn.arithmetic.spelling import Form, form_of
from symattn.arithmetic.verify import Accepted, cuts_to, rounds_to
from symattn.arithmetic.written import Written
from symattn.derivations import Evaluation
from symattn.errors import ReadError
from symattn.marking.verdicts import EntryMark, true_value
from symattn.notation.options import MAX_DIGITS, Notation, Rounding

#: An exact number that a fraction may stand for.
_PLAIN_EXACT = re.compile(r"[-+−]?[0-9]+(?:/[0-9]+)?\Z")


def correction_of(
    evaluation: Evaluation, letter: str, entry: EntryMark, text: str, accepted: Accepted = "either"
) -> str | None:
    """The true value in the form of `text`; None where it cannot be written so, or not be proven.

    It is rounded, or cut off, so that it is right by the policy `accepted`.

    >>> from symattn import Attention
    >>> values = Attention().derivation().evaluate(Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])
    >>> from symattn.arithmetic.written import read_written
    >>> claim = EntryMark("weights", (0, 1), read_written("0.30", ""), "wrong")
    >>> correction_of(values, "A", claim, "0.30")
    '0.33'
    """
    form = _form(entry.claimed, text)
    minus = "−" if "−" in text else "-"
    if entry.claimed.places is None and not entry.claimed.hidden:
        if "%" in text or not _PLAIN_EXACT.match(text.strip()):
            return None
        value = evaluation.exact(letter)[entry.place]
        return str(value).replace("-", minus) if isinstance(value, sympy.Rational) else None
    usual = Notation().digits  # where −∞ was claimed
    places = usual if entry.claimed.places is None else entry.claimed.places
    if not 0 <= places <= MAX_DIGITS:
        return None
    rounding: Rounding = "half-even" if accepted == "half-even" else "half-up"
    digits = evaluation.digits(letter, entry.place, Notation(digits=places, rounding=rounding))
    if not digits.proven:
        return None
    true = true_value(evaluation, letter, entry.place)
    if entry.verdict == "wrong" and rounds_to(true, entry.claimed, accepted):
        return None  # right at its own digits, but too coarse: it needs more of them
    if digits.text == "-inf":
        return f"{minus}inf"
    if "e" in digits.text:
        return None
    units = int(Decimal(f"{digits.text}e{places}"))
    if accepted == "truncated" or (form is not None and form.dots):
        units = _cut(true, units, places)
    return _fixed(units, places).replace("-", minus) if form is None else form.spelled(units)


def _form(claimed: Written, text: str) -> Form | None:
    """How the number is spelled where it stands; as it was read, if that is its own text."""
    for decimal in ("", ".", ","):
        try:
            form = form_of(text, decimal)
        except ReadError:
            continue
        if form is None or form.places == claimed.places:
            return form
    return None


def _cut(x: Quantity, rounded: int, places: int) -> int:
    """The units of x cut off, which are those of x rounded or one nearer to zero."""
    written = Written(_fixed(rounded, places), sympy.Rational(rounded, 10**places), places)
    if rounded == 0 or cuts_to(x, written):
        return rounded
    return rounded - 1 if rounded > 0 else rounded + 1


def _fixed(units: int, places: int) -> str:
    """An integer count of 10^-places as a decimal with all its digits."""
    return f"{Decimal(f'{units}e-{places}'):f}"
