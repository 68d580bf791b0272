"""Steps put into the formulas of others: A = softmax(Q Kᵀ/√d_k) of scores, scaled and weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import SymattnError
from symattn.nodes.heads import head_of, heads_in
from symattn.notation import tree as t
from symattn.notation.options import Notation, among
from symattn.step import HEAD, Input, Item, Step, called, leading_to, letter_of, letters_in

#: The most parts (matrices, operations, numbers) that a merged formula has.
MOST_PARTS = 2_000


def merged(
    inputs: Sequence[Input],
    steps: Sequence[Step],
    names: Collection[str],
    notation: Notation | None = None,
) -> tuple[Step, ...]:
    """The steps that are named, with those between them put into their expressions.

    A step may be called by its letter. States stay a step: each is made of the one before it.
    Raises `SymattnError` for a name that neither a step nor an input has, and for an expression of
    more than `MOST_PARTS` parts.
    """
    names = called((*inputs, *steps), [*names], notation)
    needed = leading_to(steps, {step.letter for step in steps if step.name in names})
    meanings: dict[str, MatrixExpr] = {}
    parts: dict[str, tuple[Step, ...]] = {}
    found: list[Step] = []
    for step in (step for step in steps if step.letter in needed):
        expr = put_in(step.expr, meanings)
        if sum(1 for _ in sympy.preorder_traversal(expr)) > MOST_PARTS:
            raise SymattnError(
                f"steps: the formula of {step.name} would have more than {MOST_PARTS} parts; show "
                "more of the steps before it"
            )
        inside = [part for letter in step.operands for part in parts.get(letter, ())]
        whole = tuple(dict.fromkeys((*inside, *(step.parts or (step,)))))
        if step.name not in names and not step.recurrent:
            meanings[step.letter], parts[step.letter] = expr, whole
        else:
            found.append(replace(step, expr=expr, parts=whole) if inside else step)
    return tuple(found)


def put_in(expr: MatrixExpr, meanings: Mapping[str, MatrixExpr]) -> MatrixExpr:
    """The expression with matrices, by their letters, replaced by what they are equal to.

    What is equal to the matrix of head i stands for any head: K⁽ᵍ⁾ is replaced by X W_K⁽ᵍ⁾.
    """
    if letter := letter_of(expr):
        meaning = meanings.get(letter)
        if meaning is None:
            return expr
        return meaning if head_of(expr) is None else meaning.subs(HEAD, expr.head)
    if not letters_in(expr):
        return expr
    args = [put_in(part, meanings) if _is_matrix(part) else part for part in expr.args]
    if isinstance(expr, sympy.Transpose) and isinstance(args[0], sympy.Transpose):
        return args[0].arg
    return expr if args == list(expr.args) else expr.func(*args)


def lettered(items: Sequence[Item], sizes: Iterable[sympy.Symbol], notation: Notation) -> Notation:
    """The notation of a document that prints these items: no index has a letter of theirs.

    Nor of what the functions in merged formulas are applied to, or of the factors in Falk's scheme.
    """
    matrices = {item.letter for item in items if not item.is_number}
    for part in (part for item in items if isinstance(item, Step) for part in item.parts):
        if notation.layout == "falk" or t.APPLY in t.parts(part.formula(notation)):
            matrices |= {part.letter, *part.operands}
    numbers = {item.letter for item in items if item.is_number}
    return among(notation, matrices - numbers, [*numbers, *map(str, sizes)])


def pattern(expr: MatrixExpr) -> object:
    """What expressions have in common that differ in their matrices alone: A B of Q W and K V."""
    places: dict[str, int] = {}

    def of(part: sympy.Basic) -> object:
        if isinstance(part, sympy.MatrixSymbol):
            return places.setdefault(letter_of(part), len(places))
        return (type(part), *map(of, part.args)) if part.args else part

    return of(expr)


def _is_matrix(part: sympy.Basic) -> bool:
    return isinstance(part, MatrixExpr | sympy.MatrixBase)


def of_head(step: Step, head: int, sizes: Mapping[sympy.Symbol, int]) -> Step:
    """The step of one head, counted from 0; at these sizes each matrix in it has its number."""

    def numbered(expr: MatrixExpr) -> MatrixExpr:
        one = expr.subs(HEAD, head)
        heads = {part: part.at(part.head.subs(sizes)) for part in heads_in(one)}
        return one.xreplace(heads)

    if not step.per_head:
        return step
    return replace(step, symbol=numbered(step.symbol), expr=numbered(step.expr))
