"""Arrays of machine numbers (floats, whole numbers, truth values), kept as they are.

A float means the shortest decimal that its own dtype spells it with: 0.1 is 1/10, in float32 too.
What is read of it here is that decimal, as a whole number over a power of ten.
"""

from __future__ import annotations

import numpy as np
import sympy

from symattn.arithmetic.base import Array, filled


def is_machine(array: Array) -> bool:
    """Whether an array holds numbers of NumPy that are kept as they are; others hold objects."""
    return array.dtype.kind in "biu" or array.dtype in (np.float64, np.float32, np.float16)


def kept(array: Array) -> Array:
    """A copy that nobody else can change, in the machine's byte order; −0 is 0."""
    own = array.dtype.newbyteorder("=")
    copy: Array = array.astype(own) if own.kind == "b" else array.astype(own) + own.type(0)
    copy.flags.writeable = False
    return copy


def decimals(array: Array) -> list[tuple[int, int] | None]:
    """Every entry as (units, places), the number units/10^places; None is −∞.

    >>> decimals(np.array([0.25, 1e20, -np.inf]))
    [(25, 2), (1, -20), None]
    """
    if array.dtype.kind != "f":
        return [(int(entry), 0) for entry in array.ravel().tolist()]
    texts = _texts(array)
    together = " ".join(texts)
    if "e" in together or "inf" in together:
        return [*map(_decimal, texts)]
    units = map(int, together.replace(".", "").split())
    return [(n, len(text) - text.find(".") - 1) for n, text in zip(units, texts, strict=True)]


def _decimal(text: str) -> tuple[int, int] | None:
    if text == "-inf":
        return None
    digits, _, power = text.partition("e")
    whole, _, fraction = digits.partition(".")
    return int(whole + fraction), len(fraction) - int(power or 0)


def _texts(array: Array) -> list[str]:
    """The shortest text of every entry of an array of floats."""
    if array.dtype == np.float64:
        return [*map(repr, array.ravel().tolist())]
    texts: list[str] = array.ravel().astype(str).tolist()
    return texts


def exact_numbers(array: Array) -> Array:
    """Every entry as a SymPy number."""
    return filled(array.shape, [*map(_exact, decimals(array))])


def _exact(decimal: tuple[int, int] | None) -> sympy.Expr:
    if decimal is None:
        return sympy.S.NegativeInfinity
    units, places = decimal
    if places <= 0:
        return sympy.Integer(units * 10**-places)
    return sympy.Rational(units, 10**places)


def as_floats(array: Array) -> Array:
    """Every entry as the float64 nearest to its decimal."""
    if array.dtype.kind != "f" or array.dtype == np.float64:
        return array.astype(np.float64)
    return np.array([*map(float, _texts(array))]).reshape(array.shape)
