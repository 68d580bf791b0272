"""Exact numbers as data for the page, which `made` of certified.js reads."""

from __future__ import annotations

import sympy

from symattn.arithmetic.arrays import nearest_float
from symattn.arithmetic.functions import ELEMENTARY
from symattn.documents.data import Data

#: Functions of one number by what the page calls them.
_CALLED = {**ELEMENTARY, sympy.erf: "erf"}


def number_data(value: sympy.Expr) -> Data:
    """A number, its text, or an operation and its operands; ``?`` for what the page cannot enclose.

    >>> number_data(sympy.Rational(1, 3)), number_data(sympy.Rational(1, 2)), number_data(-sympy.oo)
    ('1/3', 0.5, '-inf')
    >>> number_data(3 * sympy.sqrt(2))
    ['*', 3, ['√', 2]]
    """
    half = sympy.S.Half
    match value:
        case sympy.Rational():
            return _rational(value)
        case sympy.Add() | sympy.Mul():
            sign = "+" if isinstance(value, sympy.Add) else "*"
            return [sign, *map(number_data, value.args)]
        case sympy.Pow(args=(base, exponent)) if exponent == half:
            return ["√", number_data(base)]
        case sympy.Pow(args=(base, exponent)) if exponent.is_Rational and exponent < 0:
            return ["/", 1, number_data(base**-exponent)]
        # so many factors of a power are written beside each other
        case sympy.Pow(args=(base, exponent)) if exponent in range(1, 8):
            return ["*", *[number_data(base)] * int(exponent)]
        case sympy.Pow(args=(sympy.Rational() as base, sympy.Rational() as exponent)) if base > 0:
            return ["^", _rational(base), int(exponent.p), int(exponent.q)]
        case sympy.Pow(args=(base, exponent)) if base.is_positive and base is not sympy.S.Exp1:
            return ["exp", ["*", number_data(exponent), ["ln", number_data(base)]]]
    if value in (sympy.S.Exp1, sympy.S.Pi):
        return ["exp", 1] if value is sympy.S.Exp1 else ["π"]
    if type(value) in _CALLED:
        return [_CALLED[type(value)], number_data(value.args[0])]
    return "-inf" if value is sympy.S.NegativeInfinity else "?"


def _rational(value: sympy.Rational) -> Data:
    """The number itself where its shortest decimal is all of it, otherwise its text."""
    near = nearest_float(value)
    short = abs(near) < 2**53 and sympy.Rational(repr(near)) == value
    if short:
        return int(value.p) if value.q == 1 else near
    return str(value)
