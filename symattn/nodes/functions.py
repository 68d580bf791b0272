"""The functions of one number that formulas apply: how each is written, and its gradient.

One row a function, by the name it has in entry rules; what it is in numbers stands under the same
name in each arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from symattn.notation import tree as t
from symattn.notation.tree import Tree


@dataclass(frozen=True)
class Function:
    """A function f of one number.

    `adjoint` gives the gradient of x from that of y = f(x), u, by +, −, ·, / and other functions
    of the entries (``x("sin")``); None where f changes only where it jumps.
    """

    adjoint: Callable[[Any, Any, Any], Any] | None
    #: How it is written of one number.
    written: Callable[[Tree], Tree]
    #: What it is called of a whole matrix; where it is empty, it is written as of a number.
    word: str = ""
    #: What has to be said of it, an equation, where it is used.
    defined: Tree | None = None


def applied(name: str, argument: Tree) -> Tree:
    """A function of one number as it is written: tanh(x), √x, max(0, x)."""
    return FUNCTIONS[name].written(argument)


def _called(word: str) -> Callable[[Tree], Tree]:
    return lambda x: t.call(t.Ident(word, roman=len(word) > 1), x)


def _bounded(word: str, bound: str) -> Callable[[Tree], Tree]:
    """max(0, x)."""
    return lambda x: t.call(t.Ident(word, roman=True), t.Num(bound), x)


def _indicator(sign: str, bound: str) -> Callable[[Tree], Tree]:
    """[x > 0], which is 1 where that holds and 0 elsewhere."""
    return lambda x: t.Fenced(t.equation(x, (t.Op(sign), t.Num(bound))), "[", "]")


_X, _E, _ELU = t.Ident("x"), t.Ident("e"), t.Ident("elu", roman=True)

#: elu(x) = x where x ≥ 0, else e^x − 1.
_ELU_DEFINED = t.equation(
    t.call(_ELU, _X),
    (
        t.EQUALS,
        t.cases(
            [(_X, t.equation(_X, (t.Op("≥"), t.Num("0"))))],
            t.plus([t.power(_E, _X), t.row(t.MINUS, t.Num("1"))]),
        ),
    ),
)

FUNCTIONS: Mapping[str, Function] = {
    "tanh": Function(lambda u, x, y: u * (1 - y * y), _called("tanh"), "tanh"),
    "σ": Function(lambda u, x, y: u * (y * (1 - y)), _called("σ"), "σ"),
    "√": Function(lambda u, x, y: u / (2 * y), t.Root, "sqrt"),
    "cos": Function(lambda u, x, y: u * -x("sin"), _called("cos"), "cos"),
    "sin": Function(lambda u, x, y: u * x("cos"), _called("sin"), "sin"),
    "erf": Function(
        lambda u, x, y: u * (2 / sympy.sqrt(sympy.pi) * (-(x * x))("exp")), _called("erf"), "erf"
    ),
    "exp": Function(lambda u, x, y: u * y, lambda x: t.power(_E, t.inline(x)), "exp"),
    "max0": Function(lambda u, x, y: u * y("above0"), _bounded("max", "0"), "relu"),
    "elu1": Function(
        lambda u, x, y: u * y("min1"),
        lambda x: t.plus([t.call(_ELU, x), t.Num("1")]),
        "elu1",
        _ELU_DEFINED,
    ),
    "ln": Function(lambda u, x, y: u / x, _called("ln"), "ln"),
    "abs": Function(lambda u, x, y: u * (x / y), _called("abs"), "abs"),
    "min1": Function(lambda u, x, y: u * x("below1"), _bounded("min", "1")),
    "above0": Function(None, _indicator(">", "0")),
    "below1": Function(None, _indicator("<", "1")),
}
