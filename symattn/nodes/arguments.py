"""The arguments of a node, which its class declares; each is read and checked by its kind.

``matrix, sums, axis = Matrix(), Matrix(), Axis()`` in the body of a node's class says what its
constructor takes, in this order; on the node itself each is the value that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import SymattnError, nearest, quote

#: Stands for the default of an argument that has to be given.
NEEDED: object = Parameter.empty

#: The largest whole number that a node takes.
MOST = 1_000_000

#: What a formula is given for an argument of its node: an array for a matrix, SymPy for the others.
Operand: TypeAlias = Any

#: What a spec says of an axis or a mask, in any of the forms that people write it in.
Setting: TypeAlias = Any


def symbol_of_size(name: str) -> sympy.Symbol:
    """The symbol of a size, a positive whole number."""
    return sympy.Symbol(name, integer=True, positive=True)


def size_written(text: str) -> sympy.Expr:
    """A size that is written as a whole number or by its name."""
    return sympy.Integer(text) if text.isdigit() else symbol_of_size(text)


class ArgumentKind:
    """One argument of a node.

    `default` is taken where it is not given; `otherwise` makes a default of the arguments before
    it, and is then asked for None too.
    """

    #: Whether its letters are letters of the node, for which `subs` puts in values.
    has_letters: ClassVar[bool] = True

    def __init__(
        self, default: object = NEEDED, otherwise: Callable[..., object] | None = None
    ) -> None:
        self.default = default if otherwise is None else None
        self.otherwise = otherwise
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, node: MatrixExpr | None, owner: type[Any]) -> Any:
        """Its value in a node; of the class, the argument itself."""
        return self if node is None else node.args[owner.places[self.name]]

    def read(self, value: object, owner: str) -> sympy.Basic:
        """The value as an entry of `args`. Raises `SymattnError`, naming the node."""
        raise NotImplementedError

    def called(self, value: sympy.Basic) -> sympy.Basic | str:
        """What equations write for the value: a matrix or a number, unless it has a word."""
        return value

    def turned(self, value: sympy.Basic, flip: Callable[[MatrixExpr], MatrixExpr]) -> sympy.Basic:
        """The argument of the transposed node: a matrix transposed, the other axis."""
        return value


class Matrix(ArgumentKind):
    """A matrix expression."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        return as_matrix(value, owner)

    def turned(self, value: sympy.Basic, flip: Callable[[MatrixExpr], MatrixExpr]) -> sympy.Basic:
        return flip(value)


class Learned(Matrix):
    """A matrix of numbers that are learned: the letter it goes by, what it is, and its shape."""

    def __init__(self, letter: str, meaning: str, shape: tuple[object, object] = (1, 1)) -> None:
        super().__init__()
        self.letter, self.meaning, self.shape = letter, meaning, shape


class Scalar(ArgumentKind):
    """A number or a symbol for one."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        return as_scalar(value, owner)


class Extent(Scalar):
    """How many rows, or columns, the node has."""


class Whole(ArgumentKind):
    """A whole number from `least` on, or a symbol for one."""

    def __init__(
        self,
        default: object = NEEDED,
        otherwise: Callable[..., object] | None = None,
        least: int = 0,
    ) -> None:
        super().__init__(default, otherwise)
        self.least = least

    def read(self, value: object, owner: str) -> sympy.Basic:
        return whole(value, owner, self.name, self.least)


class HeadIndex(Scalar):
    """Which head: a number from 0, or a symbol for any, of which all are evaluated at once."""


class BoundIndex(Scalar):
    """A bound index: the head i in Σ_i O⁽ⁱ⁾, which is no letter of the node."""

    has_letters = False


class Axis(ArgumentKind):
    """1 where the lines of a matrix are its rows, 0 where they are its columns."""

    def __init__(self, default: int = 1) -> None:
        super().__init__(default)

    def read(self, value: object, owner: str) -> sympy.Basic:
        return sympy.Integer(value)

    def turned(self, value: sympy.Basic, flip: Callable[[MatrixExpr], MatrixExpr]) -> sympy.Basic:
        return 1 - value


class Flag(ArgumentKind):
    """Yes or no, kept as 1 or 0."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        return sympy.Integer(bool(value))

    def called(self, value: sympy.Basic) -> sympy.Basic | str:
        return "true" if value else "false"


class Fixed(ArgumentKind):
    """Always the default, whatever is given."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        return sympy.sympify(self.default, strict=True)


class OneOf(ArgumentKind):
    """One of a few words, such as the name of a function, kept as a symbol; `what` it names."""

    has_letters = False

    def __init__(self, what: str, known: Collection[str], default: object = NEEDED) -> None:
        super().__init__(default)
        self.what, self.known = what, known

    def read(self, value: object, owner: str) -> sympy.Basic:
        name = str(value)
        if name not in self.known:
            raise SymattnError(f'{self.what} "{name}" is not known{nearest(name, self.known)}')
        return sympy.Symbol(name)


def as_matrix(value: object, owner: str) -> MatrixExpr:
    """The argument as a matrix expression, or an error that names the node."""
    if isinstance(value, sympy.MatrixBase):
        return sympy.ImmutableDenseMatrix(value)
    if not isinstance(value, MatrixExpr):
        raise SymattnError(
            f"{owner}: {quote(value)} is not a matrix expression; give one, such as a MatrixSymbol"
        )
    return value


def as_scalar(value: object, owner: str) -> sympy.Expr:
    """The argument as a SymPy scalar; a string is refused, since SymPy would run it."""
    try:
        return sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        raise SymattnError(f"{owner}: {quote(value)} is not a number or a symbol") from None


def whole(value: object, owner: str, name: str, least: int = 0) -> sympy.Expr:
    """A whole number, or a symbol for one."""
    is_number = isinstance(value, Integral | sympy.Expr)
    found = (
        as_scalar(value, owner) if is_number and not isinstance(value, bool | MatrixExpr) else None
    )
    if found is not None and found.is_number:
        good = isinstance(found, sympy.Integer) and least <= int(found) <= MOST
    else:
        good = found is not None and found.is_integer is not False
    if not good:
        raise SymattnError(
            f"{owner}: {name} = {picture(value)}: give a whole number from {least} to {MOST}"
        )
    return found


def picture(value: object) -> str:
    """A wrong argument in a message; Python refuses to write a number of many digits."""
    if isinstance(value, int | sympy.Integer) and int(value).bit_length() > 256:
        return "a number of very many digits"
    return quote(value)
