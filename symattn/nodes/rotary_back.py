"""Rotary positions undone, which is what gradients go through on their way back."""

from __future__ import annotations

from typing import ClassVar

from symattn.nodes.encodings import Rotary


class RotaryBack(Rotary):
    """Rotary positions undone: each pair of columns turned back by its angle.

    A rotation is orthogonal, so that this is its transpose, which turns gradients.

    Shapes: n × d in and out. Raises as `Rotary` does. Source: Su et al. 2021, section 3.2.2.

    >>> import sympy
    >>> print(RotaryBack(sympy.Matrix([[1, 0], [1, 0]])).doit())
    Matrix([[1, 0], [cos(1), -sin(1)]])
    """

    forwards: ClassVar[bool] = False
