"""The functions of one number that formulas apply, a row each: numbers, notation, gradient.

A row holds all that is known of a function but its spelling in programs, which is in
`documents/code/languages.py`; a function is added by a row of `FUNCTIONS` here and one there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from flint import arb

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import ball_erf
from symattn.arithmetic.proof import ordered
from symattn.notation import tree as t
from symattn.notation.tree import Tree


@dataclass(frozen=True)
class Function:
    """A function f of one number."""

    #: f of a SymPy number or symbol.
    exact: Callable[[sympy.Expr], sympy.Expr]
    #: f of an Arb ball: a ball that contains f(x) for every x in it.
    ball: Callable[[arb], arb]
    #: f of every entry of a NumPy array.
    array: Callable[[Array], Array]
    #: The gradient of x, from that of y = f(x), u, by +, −, ·, / and other functions of the
    #: entries (``x("sin")``); None where f changes only where it jumps.
    adjoint: Callable[[Any, Any, Any], Any] | None
    #: How it is written of one number.
    written: Callable[[Tree], Tree]
    #: What it is called of a whole matrix; where it is empty, it is written as of a number.
    word: str = ""
    #: An equation that defines it, where it is not known to every reader.
    definition: Tree | None = None
    #: The numbers between which it is; None where there is none.
    between: tuple[int | None, int | None] = (None, None)
    #: Whether it never falls.
    rises: bool = False
    #: Lines a x + b below and above it, by (a, b), where a is 1 or −1.
    below: tuple[tuple[int, int], ...] = ()
    above: tuple[tuple[int, int], ...] = ()
    #: By how many units of rounding floating point may miss it.
    roundings: int = 8  # NumPy's are good to 4 units in the last place, which are 2 units each


def applied(name: str, argument: Tree) -> Tree:
    """A function of one number as it is written: tanh(x), √x, max(0, x)."""
    return FUNCTIONS[name].written(argument)


# ---- σ(x) = 1/(1 + e^(−x)) ----------------------------------------------------------------------


def ball_sigmoid(x: arb) -> arb:
    """1 / (1 + e^−x), without overflow on either side."""
    if x.rad() > 1:  # it rises, so its ends bound it
        return ball_sigmoid(x.lower()).union(ball_sigmoid(x.upper()))
    return 1 / (1 + (-x).exp()) if not x < 0 else x.exp() / (1 + x.exp())


def _array_sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))  # never overflows
    return np.asarray(np.where(x < 0, small, np.ones_like(x)) / (1 + small))


# ---- max(0, x), min(1, x) and elu(x) + 1, the comparisons proven --------------------------------


def _exact_relu(x: sympy.Expr) -> sympy.Expr:
    if x.free_symbols:
        return sympy.Max(x, 0)
    return x if ordered(x, sympy.S.Zero) > 0 else sympy.S.Zero


def _exact_min1(x: sympy.Expr) -> sympy.Expr:
    if x.free_symbols:
        return sympy.Min(x, 1)
    return x if ordered(x, sympy.S.One) < 0 else sympy.S.One


def _exact_elu1(x: sympy.Expr) -> sympy.Expr:
    if x.free_symbols:
        return sympy.Piecewise((x + 1, x >= 0), (sympy.exp(x), True))
    return x + 1 if ordered(x, sympy.S.Zero) >= 0 else sympy.exp(x)


def _ball_elu1(x: arb) -> arb:
    return x + 1 if x >= 0 else x.exp() if x < 0 else (x + 1).union(x.exp())


# ---- the indicators [x > 0] and [x < 1], whose slopes are 0 -------------------------------------


def exact_above(x: sympy.Expr, bound: int = 0) -> sympy.Expr:
    """1 where x is above the bound, else 0."""
    if x.free_symbols:
        return sympy.Piecewise((1, x > bound), (0, True))
    return sympy.S.One if ordered(x, sympy.Integer(bound)) > 0 else sympy.S.Zero


def _ball_above0(x: arb) -> arb:
    """1 if x > 0, 0 if x ≤ 0, [0, 1] for a ball with both."""
    return arb(1) if x > 0 else arb(0) if x <= 0 else arb(0.5, 0.5)


def _array_indicator(holds: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """1 where it holds, else 0; of NaN, NaN."""
    return lambda x: np.where(holds(x), 1, np.where(np.isnan(x), x, 0))


# ---- notation -----------------------------------------------------------------------------------


def _called(word: str) -> Callable[[Tree], Tree]:
    """tanh(x)."""
    return lambda x: t.call(t.Ident(word, roman=len(word) > 1), x)


def _bounded(word: str, bound: str) -> Callable[[Tree], Tree]:
    """max(0, x)."""
    return lambda x: t.call(t.Ident(word, roman=True), t.Num(bound), x)


def _indicator(sign: str, bound: str) -> Callable[[Tree], Tree]:
    """[x > 0], which is 1 where that holds and 0 elsewhere."""
    return lambda x: t.Fenced(t.equation(x, (t.Op(sign), t.Num(bound))), "[", "]")


_X, _E, _ELU = t.Ident("ξ"), t.Ident("e"), t.Ident("elu", roman=True)

#: elu(ξ) = ξ where ξ ≥ 0, else e^ξ − 1.
_ELU_DEFINITION = t.equation(
    t.call(_ELU, _X),
    (
        t.EQUALS,
        t.cases(
            [(_X, t.equation(_X, (t.Op("≥"), t.Num("0"))))],
            t.plus([t.power(_E, _X), t.row(t.MINUS, t.Num("1"))]),
        ),
    ),
)

#: SymPy's elementary functions of one number, by their names in entry rules.
ELEMENTARY: Mapping[type[sympy.Function], str] = {
    sympy.exp: "exp",
    sympy.log: "ln",
    sympy.tanh: "tanh",
    sympy.sin: "sin",
    sympy.cos: "cos",
}

#: Every function by its name in entry rules.
FUNCTIONS: Mapping[str, Function] = {
    "tanh": Function(
        exact=sympy.tanh,
        ball=arb.tanh,
        array=np.tanh,
        adjoint=lambda u, x, y: u * (1 - y * y),
        written=_called("tanh"),
        word="tanh",
        between=(-1, 1),
        rises=True,
    ),
    "σ": Function(
        exact=lambda x: 1 / (1 + sympy.exp(-x)),
        ball=ball_sigmoid,
        array=_array_sigmoid,
        adjoint=lambda u, x, y: u * (y * (1 - y)),
        written=_called("σ"),
        word="σ",
        roundings=12,  # a sum and a quotient more than the exponential in it
        between=(0, 1),
        rises=True,
    ),
    "√": Function(
        exact=sympy.sqrt,
        ball=arb.sqrt,
        array=np.sqrt,
        adjoint=lambda u, x, y: u / (2 * y),
        written=t.Root,
        word="sqrt",
        between=(0, None),
        rises=True,
    ),
    "cos": Function(
        exact=sympy.cos,
        ball=arb.cos,
        array=np.cos,
        adjoint=lambda u, x, y: u * -x("sin"),
        written=_called("cos"),
        word="cos",
        between=(-1, 1),
    ),
    "sin": Function(
        exact=sympy.sin,
        ball=arb.sin,
        array=np.sin,
        adjoint=lambda u, x, y: u * x("cos"),
        written=_called("sin"),
        word="sin",
        between=(-1, 1),
    ),
    "erf": Function(
        exact=sympy.erf,
        ball=ball_erf,
        array=np.vectorize(math.erf, otypes=[float]),  # NumPy has none
        adjoint=lambda u, x, y: u * (2 / sympy.sqrt(sympy.pi) * (-(x * x))("exp")),
        written=_called("erf"),
        word="erf",
        between=(-1, 1),
        rises=True,
    ),
    "exp": Function(
        exact=sympy.exp,
        ball=arb.exp,
        array=np.exp,
        adjoint=lambda u, x, y: u * y,
        written=lambda x: t.power(_E, t.inline(x)),
        word="exp",
        between=(0, None),
        rises=True,
        below=((1, 1),),
    ),
    "max0": Function(
        exact=_exact_relu,
        ball=lambda x: x.max(arb(0)),
        array=lambda x: np.maximum(x, 0),
        adjoint=lambda u, x, y: u * y("above0"),
        written=_bounded("max", "0"),
        word="relu",
        between=(0, None),
        rises=True,
        below=((1, 0),),
    ),
    "elu1": Function(
        exact=_exact_elu1,
        ball=_ball_elu1,
        array=lambda x: np.where(x >= 0, x + 1, np.exp(np.minimum(x, 0))),
        adjoint=lambda u, x, y: u * y("min1"),
        written=lambda x: t.plus([t.call(_ELU, x), t.Num("1")]),
        word="elu1",
        definition=_ELU_DEFINITION,
        between=(0, None),
        rises=True,
        below=((1, 1),),
    ),
    "ln": Function(
        exact=sympy.log,
        ball=arb.log,
        array=np.log,
        adjoint=lambda u, x, y: u / x,
        written=_called("ln"),
        word="ln",
        rises=True,
        above=((1, -1),),
    ),
    "abs": Function(
        exact=sympy.Abs,
        ball=abs,
        array=np.abs,
        adjoint=lambda u, x, y: u * (x / y),
        written=_called("abs"),
        word="abs",
        between=(0, None),
        below=((1, 0), (-1, 0)),
    ),
    "min1": Function(
        exact=_exact_min1,
        ball=lambda x: x.min(arb(1)),
        array=lambda x: np.minimum(x, 1),
        adjoint=lambda u, x, y: u * x("below1"),
        written=_bounded("min", "1"),
        between=(None, 1),
        rises=True,
        above=((1, 0),),
    ),
    "above0": Function(
        exact=exact_above,
        ball=_ball_above0,
        array=_array_indicator(lambda x: x > 0),
        adjoint=None,
        written=_indicator(">", "0"),
        between=(0, 1),
        rises=True,
    ),
    "below1": Function(
        exact=lambda x: exact_above(-x, -1),
        ball=lambda x: _ball_above0(1 - x),
        array=_array_indicator(lambda x: x < 1),
        adjoint=None,
        written=_indicator("<", "1"),
        between=(0, 1),
    ),
}
