"""A product in Falk's scheme: the second factor above the result, the first on its left.

Source: S. Falk, "Ein übersichtliches Schema für die Matrizenmultiplikation", ZAMM 31, 1951.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from symattn.derivations import Step
from symattn.documents.page.elements import Markup, el
from symattn.documents.page.figures import figure
from symattn.documents.page.matrices import MatrixView, head_of
from symattn.evaluate.falk import is_product

#: Where the factors stand, and whether their rows and columns have names: those of the result are
#: the names of the rows on its left and of the columns above it.
_SIDES = (("left", (True, True)), ("above", (False, True)))


def scheme(step: Step, matrices: Mapping[str, MatrixView], head: int | None) -> Markup | None:
    """The scheme of a step that is a product of two matrices; None for any other."""
    result = matrices[step.letter]
    _, expr = step.in_convention(result.notation)
    if not is_product(expr):
        return None
    figures = []
    for part, (side, labelled) in zip(expr.args, _SIDES, strict=True):
        turned = isinstance(part, sympy.Transpose)
        symbol = part.arg if turned else part
        factor = matrices[str(symbol.name)]
        drawn = figure(factor.of(head_of(step, factor, head), turned), labelled=labelled)
        figures.append(el("div", drawn, class_=side))
    made = el("div", figure(result.of(head), home=True, labelled=(False, False)), class_="product")
    return el("div", *figures[::-1], made, class_="falk")
