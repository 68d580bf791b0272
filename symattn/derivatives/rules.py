"""The chain rule over one expression: what each matrix in it contributes, backwards and forwards.

Every node states one rule, its adjoint (`Node._adjoint`). The rule is linear in the upstream
gradient, so that its transpose is the derivative in a direction: forward mode needs no rules of its
own. Source: Griewank, Walther, *Evaluating Derivatives*, 2nd ed. (2008), sections 3.1 and 3.2;
transposing a linear rule: Radul et al., *You Only Linearize Once* (2023), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import SymattnError
from symattn.nodes.arguments import Matrix
from symattn.nodes.base import Node, shape_of
from symattn.nodes.defined import Defined
from symattn.nodes.heads import Head
from symattn.nodes.lines import Filled, LineProduct, PlusVector, Spread
from symattn.nodes.recurrence import (
    Backward,
    Beside,
    Recurrence,
    before,
    beside,
    neighbours,
)
from symattn.step import letter_of, letters_in

_REVERSE = "Griewank and Walther 2008, section 3.2"

_PRODUCT = "Dao et al. 2022, appendix B.2"

#: The name of the upstream gradient in an adjoint rule that is transposed.
_UPSTREAM = "upstream"


@dataclass(frozen=True)
class Share:
    """What one occurrence of a matrix contributes to its gradient, and why.

    `leaf` is the occurrence (a symbol or one head's matrix; of one operation, what it is made of),
    which is ‹› in the reason. `binder` is the node around it that is about all heads at once, if
    there is one; `whole` if the gradient holds those of all heads.
    """

    leaf: MatrixExpr
    gradient: MatrixExpr
    because: str = ""
    source: str = ""
    binder: MatrixExpr | None = None
    whole: bool = False


def shares(
    expr: MatrixExpr,
    upstream: MatrixExpr,
    wanted: Collection[str],
    value: MatrixExpr | None = None,
) -> Iterator[Share]:
    """What each occurrence of the wanted letters contributes, given the gradient of `expr`.

    `value` is the symbol that `expr` goes by, where it has one. Raises `SymattnError` for an
    operation whose gradient is not known.
    """

    def moves(part: MatrixExpr) -> bool:
        return bool(set(letters_in(part)) & set(wanted))

    if not moves(expr):
        return
    match expr:
        case sympy.MatrixSymbol() | Head():
            yield Share(expr, upstream)
        case Defined() if not expr.has_adjoint:
            yield from shares(expr.meaning, upstream, wanted)
        case Recurrence():
            yield from _of_recurrence(expr, upstream, wanted)
        case _:
            for part in _parts(expr, upstream, value or expr, moves):
                for share in shares(part.leaf, part.gradient, wanted):
                    because = part.because.replace("‹›", f"{{{letter_of(share.leaf)}}}")
                    yield replace(
                        share,
                        binder=part.binder or share.binder,
                        whole=share.whole or part.whole,
                        because=share.because or because,
                        source=share.source or part.source,
                    )


def _parts(
    expr: MatrixExpr,
    upstream: MatrixExpr,
    value: MatrixExpr,
    moves: Callable[[MatrixExpr], bool],
) -> Iterator[Share]:
    """What an operation passes back to each of its matrices that `moves`.

    Raises `SymattnError` for an operation whose gradient is not known.
    """
    match expr:
        case sympy.Transpose():
            found = [Share(expr.arg, turned(upstream))]
        case sympy.MatAdd():
            why = "A sum passes its gradient to each of its terms."
            found = [Share(term, upstream, why, _REVERSE) for term in expr.args]
        case sympy.MatMul():
            found = [*_of_product(expr, upstream)]
        case sympy.HadamardProduct():
            why, args = "Each factor's gradient is multiplied by the other.", expr.args
            found = [
                Share(factor, entrywise(*args[:k], upstream, *args[k + 1 :]), why, _REVERSE)
                for k, factor in enumerate(args)
            ]
        case sympy.Inverse():
            why = (
                "The gradient is multiplied by the transposed inverse on both sides; its sign "
                "changes."
            )
            back = product(sympy.S.NegativeOne, turned(expr), upstream, turned(expr))
            found = [Share(expr.arg, back, why, _REVERSE)]
        case Node():
            found = [*_of_node(expr, upstream, value, moves)]
        case _:
            raise SymattnError(f"{type(expr).__name__}: its gradient is not known here")
    yield from (part for part in found if moves(part.leaf))


def _of_product(expr: sympy.MatMul, upstream: MatrixExpr) -> Iterator[Share]:
    coefficient, factors = expr.as_coeff_matrices()
    for place, factor in enumerate(factors):
        left = [turned(x) for x in reversed(factors[:place])]
        right = [turned(x) for x in reversed(factors[place + 1 :])]
        why = _of_factor(place, len(factors), isinstance(factor, sympy.Transpose))
        yield Share(factor, product(coefficient, *left, upstream, *right), why, _PRODUCT)


def _of_node(
    node: Node, upstream: MatrixExpr, value: MatrixExpr, moves: Callable[[MatrixExpr], bool]
) -> Iterator[Share]:
    source, binder = node.adjoint_source or node.source, node if node.over_heads else None
    for place, arg in enumerate(node.args):
        if not isinstance(arg, MatrixExpr) or not moves(arg):
            continue
        inner = node._adjoint(place, upstream, value)
        if inner is not None:
            why = node.adjoint_reasons.get(place, node.adjoint_because)
            yield Share(arg, inner, why, source, binder, place in node.gathers)


def _of_recurrence(
    node: Recurrence, upstream: MatrixExpr, wanted: Collection[str]
) -> Iterator[Share]:
    """What the letters of a body contribute at every token, and those of the start at the first.

    `upstream` is the gradient of each state, with what the next ones pass back to it.
    """
    body, index, _, start, _ = node.args
    earlier = beside(node)
    for share in shares(body, upstream, wanted):
        found = neighbours(share.gradient, node.letter)
        known = {part: before(node, part.index) for part in found}
        yield replace(share, gradient=share.gradient.xreplace(known))
    if earlier is not None and set(letters_in(start)) & set(wanted):
        first = {index: sympy.S.Zero}
        inner = passed_back(node, body.xreplace(first), upstream.xreplace(first), start)
        for share in shares(start, inner, wanted):
            why = f"The first state is made of {{{letter_of(share.leaf)}}}."
            yield replace(share, whole=True, because=share.because or why)


def passed_back(
    node: Recurrence, body: MatrixExpr, upstream: MatrixExpr, state: MatrixExpr
) -> MatrixExpr:
    """What the body of one token passes back to the state before it, which is `state`."""
    (earlier,) = (part for part in body.atoms(Beside) if part.letter == node.letter)
    held = sympy.MatrixSymbol("state before", *earlier.shape)
    found = shares(body.xreplace({earlier: held}), upstream, {held.name})
    return summed([share.gradient for share in found]).xreplace({held: state})


def backward_states(node: Recurrence, own: MatrixExpr, letter: str) -> MatrixExpr:
    """The gradient of every state: `own`, from its readers, and what the next state passes back."""
    body, index, count, _, name = node.args
    if beside(node) is None:
        return own
    rows, columns = shape_of(node)
    after = Beside(rows, columns, sympy.Symbol(letter), index, 1)
    state = Head(sympy.MatrixSymbol(str(name), rows, columns), index)
    more = passed_back(node, body.xreplace({index: index + 1}), after, state)
    return Backward(own, index, count, more, sympy.Symbol(letter))


def _of_factor(place: int, count: int, is_turned: bool) -> str:
    """Why the gradient of a factor of a product is what it is; ‹› is the factor."""
    if count == 1:
        return "The gradient of a multiple is multiplied by the same number."
    if 0 < place < count - 1:
        return (
            "In the product ‹› is a middle factor: its gradient is the product's gradient "
            "between the other factors, transposed."
        )
    side, other = ("left", "right") if place == 0 else ("right", "left")
    if is_turned:
        where = f"the {side} factor, transposed"
        upstream, factor = "the product's gradient, transposed", f"the {other} factor"
    else:
        where = f"the {side} factor"
        upstream, factor = "the product's gradient", f"the {other} factor, transposed"
    first, last = (upstream, factor) if (place == 0) != is_turned else (factor, upstream)
    return f"In the product ‹› is {where}: its gradient is {first}, times {last}."


# ---- forwards --------------------------------------------------------------------------------


def change(
    expr: MatrixExpr,
    changes: Callable[[MatrixExpr], MatrixExpr | None],
    value: MatrixExpr | None = None,
) -> MatrixExpr | None:
    """How `expr` changes, to first order, as its matrices do; None where it does not.

    `changes` is the change of a symbol or of one head's matrix, or None where that is constant.
    """
    match expr:
        case sympy.MatrixSymbol() | Head():
            return changes(expr)
        case Node() if expr.over_heads and len(expr._places_of(Matrix)) == 1:
            inner = change(expr.args[0], changes)
            return None if inner is None else expr.func(inner, *expr.args[1:])
        case Defined() if not expr.has_adjoint:
            return change(expr.meaning, changes)
    if not letters_in(expr):
        return None

    @cache
    def moved(part: MatrixExpr) -> MatrixExpr | None:
        return change(part, changes)

    terms: list[MatrixExpr] = []
    upstream = sympy.MatrixSymbol(_UPSTREAM, *expr.shape)
    for part in _parts(expr, upstream, value or expr, lambda x: moved(x) is not None):
        if _UPSTREAM in letters_in(part.gradient):
            # the adjoint rule, a linear map, transposed
            found = shares(part.gradient, cast(MatrixExpr, moved(part.leaf)), {_UPSTREAM})
            parts = [share.gradient for share in found]
            terms.append(summed(parts) if isinstance(expr, Node) else parts[0])
    return summed(terms) if terms else None


# ---- writing the results as one would by hand ------------------------------------------------


def turned(expr: MatrixExpr) -> MatrixExpr:
    """The transpose, carried into products and sums: (A Bᵀ)ᵀ is B Aᵀ."""
    match expr:
        case sympy.Transpose():
            return expr.arg
        case sympy.MatMul():
            coefficient, factors = expr.as_coeff_matrices()
            return product(coefficient, *(turned(factor) for factor in reversed(factors)))
        case sympy.MatAdd() | sympy.HadamardProduct():
            return expr.func(*map(turned, expr.args))
        case Filled():
            rows, columns, number = expr.args
            return Filled(columns, rows, number)
    return sympy.Transpose(expr)


def product(*factors: sympy.Expr) -> MatrixExpr:
    """A product in this order, with all numbers gathered in front."""
    number: sympy.Expr = sympy.S.One
    matrices: list[MatrixExpr] = []
    for factor in factors:
        if isinstance(factor, sympy.MatMul):
            inside, inner = factor.as_coeff_matrices()
            number, matrices = number * inside, [*matrices, *inner]
        elif isinstance(factor, MatrixExpr):
            matrices.append(factor)
        else:
            number *= factor
    if number == 1 and len(matrices) == 1:
        return matrices[0]
    return sympy.MatMul(*([] if number == 1 else [number]), *matrices)


def entrywise(*factors: MatrixExpr) -> MatrixExpr:
    """An entrywise product in this order."""
    flat: list[MatrixExpr] = []
    for factor in factors:
        flat += factor.args if isinstance(factor, sympy.HadamardProduct) else [factor]
    return flat[0] if len(flat) == 1 else sympy.HadamardProduct(*flat)


def summed(terms: Sequence[MatrixExpr]) -> MatrixExpr:
    """A sum, with what all terms are multiplied by entrywise taken out of it."""
    flat: list[MatrixExpr] = []
    for term in terms:
        flat += term.args if isinstance(term, sympy.MatAdd) else [term]
    if len(flat) == 1:
        return _unspread(flat[0])
    common = _common(flat)
    if common is None:
        return sympy.MatAdd(*map(_unspread, flat))
    rest = [entrywise(*_without(term, common)) for term in flat]
    spread = [term for term in rest if isinstance(term, Spread)]
    others = [term for term in rest if term not in spread]
    if not others:
        return entrywise(common, summed(rest))
    inside = summed(others)
    for term in spread:
        inside = PlusVector(inside, term.args[0], 1 - term.args[2])
    return entrywise(common, inside)


def _common(terms: Sequence[MatrixExpr]) -> MatrixExpr | None:
    """A factor of all terms, each of which is an entrywise product."""
    if not all(isinstance(term, sympy.HadamardProduct) for term in terms):
        return None
    shared = (f for f in terms[0].args if all(f in term.args for term in terms[1:]))
    return next(shared, None)


def _without(term: MatrixExpr, factor: MatrixExpr) -> list[MatrixExpr]:
    rest = list(term.args)
    rest.remove(factor)
    return rest


def _unspread(term: MatrixExpr) -> MatrixExpr:
    """Rows times their numbers rather than times a matrix of equal columns: diag(r) A."""
    if not isinstance(term, sympy.HadamardProduct):
        return term
    for factor in term.args:
        if isinstance(factor, Spread):
            vector, _, axis = factor.args
            number, factors = sympy.S.One, [vector]
            if isinstance(vector, sympy.MatMul):
                number, factors = vector.as_coeff_matrices()
            rows = LineProduct(entrywise(*_without(term, factor)), product(*factors), axis)
            return product(number, rows)
    return term
