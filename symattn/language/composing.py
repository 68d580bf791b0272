"""What nobody writes: the parts of one expression as steps, headings and reasons of common shapes.

A step whose shape is none of these has no reason: none is better than a false one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.grammar import Apart, Call, Name, Tree, subtrees
from symattn.language.texts import Equation, Left
from symattn.nodes.base import Node
from symattn.nodes.catalogue import SHARES
from symattn.nodes.defined import Applied
from symattn.nodes.heads import Concat, heads_in
from symattn.nodes.lines import LineProduct, LineQuotient, PlusVector
from symattn.nodes.masks import Mask, Masked
from symattn.nodes.normalise import Normaliser
from symattn.nodes.norms import Norm
from symattn.nodes.scale import Quotient
from symattn.step import Step, letter_of

#: What a step is called whose rows are shares.
WEIGHTS = "weights"

#: The functions of scores that make weights of them.
_WEIGHTS = (*SHARES, "σ")

#: What projections are called whose letters say what they are.
_PROJECTED = {"Q": "queries", "K": "keys", "V": "values"}

#: The names of steps that one expression is cut into, and their letters, the first that is free.
_CUTS: dict[str, str] = {
    "scores": "STE",
    "scaled": "ZS",
    "masked": "GZ",
    "weights": "APW",
    "output": "OYR",
}


def cut(equation: Equation, taken: Collection[str]) -> list[Equation]:
    """A right side alone as equations: scores, scaled, masked, weights and output.

    `taken` are the letters that the text has already.
    """
    free = {*taken} | {part.name for part in subtrees(equation.tree) if isinstance(part, Name)}
    found: list[Equation] = []

    def named(word: str, tree: Tree) -> Tree:
        if isinstance(tree, Name):
            return tree
        letters = (*_CUTS[word], *(f"{_CUTS[word][0]}{k}" for k in range(1, 99)))
        letter = next(one for one in letters if one not in free)
        free.add(letter)
        found.append(replace(equation, left=Left(letter, word), tree=tree, heading="", reason=""))
        return Name(letter)

    def scored(tree: Tree) -> Tree:
        match tree:
            case Apart("+", (first, *others)) if all(map(_is_mask, others)) and others:
                return named("masked", Apart("+", (scored(first), *others)))
            case Apart("/", (above, below)) if _is_number(below):
                return named("scaled", Apart("/", (scored(above), below)))
        return named("scores", tree)

    def weighed(tree: Tree) -> Tree:
        match tree:
            case Call(name, (inner,), options) if name in _WEIGHTS and not found:
                return named("weights", Call(name, (scored(inner),), options))
            case Apart("*", (first, *rest)):
                return Apart("*", (weighed(first), *rest))
        return tree

    last = weighed(equation.tree)
    if isinstance(last, Name) and found:
        return found
    letter = next(one for one in (*_CUTS["output"], "O1") if one not in free)
    word = "output" if found else ""
    return [*found, replace(equation, left=Left(letter, word), tree=last)]


def _is_mask(tree: Tree) -> bool:
    return isinstance(tree, Call) and (not tree.args or tree.name in ("window", "prefix"))


def _is_number(tree: Tree) -> bool:
    """Whether a divisor has no matrix in it: √d_k."""
    return all(not isinstance(part, Name) or part.name[0].islower() for part in subtrees(tree))


def composed(expr: MatrixExpr, made: Sequence[Step], letter: str = "") -> tuple[str, str]:
    """The heading and the reason of a step whose shape is common; empty for others.

    `made` are the steps before it, whose letters are no inputs; `letter` is its own.
    """
    heading, reason = next(_composed(expr, {step.symbol: step for step in made}), ("", ""))
    return (_PROJECTED.get(letter, heading) if heading == "projection" else heading), reason


def _composed(expr: MatrixExpr, made: Mapping[MatrixExpr, Step]) -> Iterator[tuple[str, str]]:
    match expr:
        case LineProduct(matrix=Norm() as norm):
            yield norm.heading, f"{norm.reason[:-1]}; then {_multiplied(expr)}."
        case PlusVector(matrix=Norm() as norm):
            yield norm.heading, f"{norm.reason[:-1]}; then {_added(expr)}."
        case PlusVector(matrix=LineProduct(matrix=Norm() as norm)):
            done = f"{_multiplied(expr.matrix)}, and {_added(expr)}"
            yield norm.heading, f"{norm.reason[:-1]}; then {done}."
        case Quotient(matrix=sympy.MatMul() as product) if rows := _of_rows(product):
            one, other = rows
            by_width = expr.divisor**2 == product.args[0].cols
            why = " that keeps it from growing with the width" if by_width else ""
            yield (
                "scaled scores",
                f"Each row of {{{one}}} is compared with each row of {{{other}}}: their dot "
                f"product, divided by a number{why}.",
            )
        case sympy.MatMul() if rows := _of_rows(expr):
            one, other = rows
            yield (
                "scores",
                f"Each row of {{{one}}} is compared with each row of {{{other}}} by their dot "
                "product.",
            )
        case sympy.MatMul(args=(first, second)):
            left, right = letter_of(first), letter_of(second)
            if left and right.startswith("W") and second not in made:
                yield "projection", f"Every row of {{{left}}} is multiplied by {{{right}}}."
            elif left and right and first in made:
                yield (
                    "weighted sums",
                    f"Each row is a sum of rows of {{{right}}}, weighed by a row of {{{left}}}.",
                )
        case Concat(axis=sympy.S.Zero):
            yield "rows", "Each row is computed by itself."
        case Concat():
            yield "concatenated heads", "The outputs of all heads stand side by side."
        case sympy.MatMul(args=(Concat(axis=sympy.S.One), _)):
            yield (
                "projected output",
                "The outputs of all heads stand side by side and are multiplied by one matrix.",
            )
        case Masked(mask=mask):
            yield "masked scores", getattr(mask, "reason", "")
        case sympy.MatAdd(args=(first, other)) if letter_of(first) and not letter_of(other):
            if _needs(other, first, made) and not other.could_extract_minus_sign():
                yield (
                    "residual sum",
                    f"What is computed from it is added to {{{letter_of(first)}}}.",
                )
        case Normaliser():
            yield (WEIGHTS, expr.reason) if expr.axis == 1 else ("weights of every column", "")
        case LineQuotient(axis=1, sums=sums) if _written(sums, made) == expr.own_sums:
            yield WEIGHTS, "Every entry is divided by the sum of its row; then the row sums to 1."
        case Mask():
            yield "mask", expr.reason
        case Node() if expr.heading:
            yield expr.heading, expr.reason
        case Applied():
            yield "", "The function is applied to every entry."


def _written(expr: MatrixExpr, made: Mapping[MatrixExpr, Step]) -> MatrixExpr:
    """An expression, or the one that it is the letter of."""
    return made[expr].expr if expr in made else expr


def _multiplied(expr: MatrixExpr) -> str:
    return f"every {('column', 'row')[expr.axis]} is multiplied by a number of its own"


def _added(expr: MatrixExpr) -> str:
    return f"a vector is added to every {('column', 'row')[expr.axis]}"


def _needs(expr: MatrixExpr, letter: MatrixExpr, made: Mapping[MatrixExpr, Step]) -> bool:
    """Whether a matrix is computed from another one, by way of steps too."""
    letters = expr.atoms(sympy.MatrixSymbol) | heads_in(expr)
    return letter in letters or any(
        _needs(made[one].expr, letter, made) for one in letters if one in made
    )


def _of_rows(product: sympy.MatMul) -> tuple[str, str] | None:
    """The letters of A Bᵀ."""
    if len(product.args) == 2 and isinstance(product.args[1], sympy.Transpose):
        one, other = letter_of(product.args[0]), letter_of(product.args[1].arg)
        if one and other:
            return one, other
    return None
