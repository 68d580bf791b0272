"""Masks that leave out most keys of a long text: window, dilated, strided, global."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.base import Array
from symattn.errors import SymattnError
from symattn.nodes.positions import Mask, count, counts, picture, when
from symattn.nodes.rule import Condition, Index, Ordinal, Rule
from symattn.nodes.spell import Speller
from symattn.notation.tree import Tree

_LONGFORMER = "Beltagy et al. 2020, section 3.1"


class Window(Mask):
    """Keys at most w places away: m_ij = 0 if |i − j| ≤ w, else −∞.

    With l to the left and r to the right: m_ij = 0 if j ≤ i + r and i ≤ j + l; −1 or ∞ is no
    limit. A parameter [l, r] says both; one number is both. The window contains the query's own
    position, so that it is l + 1 + r wide: Longformer's w is twice the one here, and Mistral's
    sliding window of w keys is causal with [w − 1, 0].

    Shapes: n × m. Raises `SymattnError` if a width is neither a whole number from 0 nor −1.
    Source: Beltagy, Peters, Cohan, *Longformer* (2020), section 3.1.

    >>> Window(3, 3, 1).as_explicit()
    Matrix([
    [  0, 0, -oo],
    [  0, 0,   0],
    [-oo, 0,   0]])
    """

    source: ClassVar[str] = _LONGFORMER
    word: ClassVar[str] = "window"
    reason: ClassVar[str] = "A query sees only the keys near its own position."
    needs: ClassVar[str] = "say how far a query sees: {window = 2} or {window = [2, 0]}"

    def __new__(cls, rows: Any, columns: Any, left: Any, right: Any = None, start: Any = 0) -> Self:
        if isinstance(left, list | tuple | sympy.Tuple):
            if right is not None or len(left) != 2:
                raise SymattnError(
                    'mask "window": a list has two widths, to the left and to the right; '
                    "give {window = [2, 0]}"
                )
            left, right = left
        widths = [_width(width) for width in (left, left if right is None else right)]
        return super().__new__(cls, rows, columns, *widths, start)

    def _spell(self, speller: Speller) -> Tree:
        left, right = self.args[2:-1]
        told = (left,) if left == right else (left, right)
        return self._called(speller, *map(speller.scalar, told))

    def _at(self, i: Index, j: Index) -> Rule:
        left, right = self.args[2:-1]
        conditions: list[Condition] = []
        if left == right != sympy.oo:
            conditions = [(Ordinal(abs(i - j)), "≤", Ordinal(left))]
        else:
            if right != sympy.oo:
                conditions.append((Ordinal(j), "≤", Ordinal(i + right)))
            if left != sympy.oo:
                conditions.append((Ordinal(i), "≤", Ordinal(j + left)))
        return when(*conditions)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        left, right = parameters
        return np.asarray((keys - queries <= right) & (queries - keys <= left))


class Dilated(Mask):
    """A window with gaps: m_ij = 0 if |i − j| ≤ w s and (i − j) mod s = 0, else −∞.

    A query sees its own position and, on both sides, w keys that are s places apart.

    Shapes: n × m. Raises `SymattnError` if w is no whole number from 0 or s none from 1.
    Source: Beltagy, Peters, Cohan, *Longformer* (2020), section 3.1.

    >>> Dilated(2, 4, 1, 2).as_explicit()
    Matrix([
    [  0, -oo,   0, -oo],
    [-oo,   0, -oo,   0]])
    """

    source: ClassVar[str] = _LONGFORMER
    word: ClassVar[str] = "dilated"
    reason: ClassVar[str] = "A query sees keys at equal steps on both sides of its own position."
    needs: ClassVar[str] = "say how many keys on each side and the step: {dilated = [2, 3]}"

    def __new__(cls, rows: Any, columns: Any, width: Any, step: Any = None, start: Any = 0) -> Self:
        if step is None:
            if not isinstance(width, list | tuple) or len(width) != 2:
                raise SymattnError(
                    f'mask "dilated": {picture(width)} is not two numbers; '
                    "give how many keys on each side and the step: {dilated = [2, 3]}"
                )
            width, step = width
        numbers = count(width, "dilated"), count(step, "dilated", 1)
        return super().__new__(cls, rows, columns, *numbers, start)

    def _at(self, i: Index, j: Index) -> Rule:
        width, step = self.args[2:-1]
        near: Condition = (Ordinal(abs(i - j)), "≤", Ordinal(width * step))
        return when(near, *_on_step(i, j, step))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        width, step = parameters
        apart = abs(queries - keys)
        return np.asarray((apart <= width * step) & (apart % step == 0))


class Strided(Mask):
    """The last s keys and every s-th before: m_ij = 0 if j ≤ i and (i ≤ j + s or s | i − j).

    The union of both patterns of strided attention, A⁽¹⁾ and A⁽²⁾ with l = s, each causal.

    Shapes: n × m. Raises `SymattnError` if s is no whole number from 1.
    Source: Child, Gray, Radford, Sutskever, *Sparse Transformers* (2019), section 4.3.

    >>> Strided(6, 6, 2).as_explicit()[5, :]
    Matrix([[-oo, 0, -oo, 0, 0, 0]])
    """

    source: ClassVar[str] = "Child et al. 2019, section 4.3"
    word: ClassVar[str] = "strided"
    reason: ClassVar[str] = "A query sees the last few keys, and earlier ones at equal steps."
    needs: ClassVar[str] = "say the stride: {strided = 3}"

    def __new__(cls, rows: Any, columns: Any, stride: Any, start: Any = 0) -> Self:
        return super().__new__(cls, rows, columns, count(stride, "strided", 1), start)

    def _at(self, i: Index, j: Index) -> Rule:
        stride = self.args[2]
        causal: Condition = (Ordinal(j), "≤", Ordinal(i))
        steps = _on_step(i, j, stride)
        if not steps:
            return when(causal)
        either = when((Ordinal(i), "≤", Ordinal(j + stride)), otherwise=when(*steps))
        return when(causal, then=either)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        (stride,) = parameters
        back = queries - keys
        return np.asarray((back >= 0) & ((back <= stride) | (back % stride == 0)))


class Global(Mask):
    """Tokens that see all and are seen by all: m_ij = 0 if i ∈ G or j ∈ G, else −∞.

    Usually one part of a union: any of a window and this. G counts tokens from 1.

    Shapes: n × m. Raises `SymattnError` if G is no list of whole numbers from 1.
    Source: Beltagy, Peters, Cohan, *Longformer* (2020), section 3.1.

    >>> Global(3, 3, [1]).as_explicit()
    Matrix([
    [0,   0,   0],
    [0, -oo, -oo],
    [0, -oo, -oo]])
    """

    source: ClassVar[str] = _LONGFORMER
    word: ClassVar[str] = "global"
    reason: ClassVar[str] = "Global tokens see every token and are seen by every token."
    needs: ClassVar[str] = "say which tokens, counted from 1: {global = [1]}"

    def __new__(cls, rows: Any, columns: Any, tokens: Any, start: Any = 0) -> Self:
        listed = counts(tokens, "global", 1)
        ordered = sympy.Tuple(*sorted(set(listed), key=int))
        return super().__new__(cls, rows, columns, ordered, start)

    def _spell(self, speller: Speller) -> Tree:
        return self._called(speller, speller.places(self._places()))

    def _places(self) -> sympy.FiniteSet:
        return sympy.FiniteSet(*(token - 1 for token in self.args[2]))

    def _at(self, i: Index, j: Index) -> Rule:
        places = Ordinal(self._places())
        return when((Ordinal(i), "∈", places), otherwise=when((Ordinal(j), "∈", places)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        places = np.array(parameters[0]) - 1
        return np.asarray(np.isin(queries, places) | np.isin(keys, places))


def _on_step(i: Index, j: Index, step: sympy.Expr) -> list[Condition]:
    """(i − j) mod s = 0, which needs no saying where s is 1."""
    if step == 1:
        return []
    return [(Ordinal(sympy.Mod(i - j, step)), "=", Ordinal(0))]


def _width(value: Any) -> sympy.Expr:
    """A width; −1 and ∞ are no limit."""
    unlimited = isinstance(value, int | sympy.Expr) and value in (-1, sympy.oo)
    return sympy.oo if unlimited else count(value, "window")
