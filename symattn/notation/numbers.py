"""How a decimal is spelled: minus sign, fixed or scientific, never the digits themselves.

The digits are decided elsewhere (`symattn.arithmetic.decide`); here they become a tree.
"""

from __future__ import annotations

import re

from symattn.errors import CannotSpell
from symattn.notation.tree import DOT, INFINITY, MINUS, Num, Script, Tree, row

_DECIMAL = re.compile(r"(-?)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?\Z")


def number(text: str) -> Tree:
    """The tree of a plain decimal: ``-0.25``, ``2.061e-9``, ``inf``, ``-inf``.

    >>> number("-0.5")
    <−0.5>
    """
    if text in ("inf", "-inf"):
        return INFINITY if text == "inf" else row(MINUS, INFINITY)
    match = _DECIMAL.match(text)
    if match is None:
        raise CannotSpell(f"{text!r} is not a plain decimal")
    sign, digits, exponent = match.groups()
    body: Tree = Num(digits)
    if exponent is not None:
        body = row(body, DOT, Script(Num("10"), None, number(str(int(exponent)))))
    return row(MINUS, body) if sign else body
