"""Whether a link of a proof in the catalogue follows by the rule that it names.

Letters of a rule stand for any matrices that fit. `follows` looks for a place where one side of the
rule fits and the other side gives what the link claims. Associativity, commutativity of sums and
(A B)ᵀ = Bᵀ Aᵀ are in the form in which expressions are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import sympy

from symattn.algebra.equality import stated
from symattn.algebra.hypotheses import Statement
from symattn.algebra.rules import RewriteRule
from symattn.nodes.base import Node, shape_of
from symattn.nodes.scale import Quotient

_MOST_FORMS, _MOST_STEPS = 3000, 3


def statement_of(rule: RewriteRule) -> Statement:
    """A rule as a statement."""
    return next(stated(rule.statement, permuting=rule.permuting, positive=rule.positive))


# ---- forms ---------------------------------------------------------------------------------


class Form(NamedTuple):
    """A matrix expression in the form in which expressions are compared.

    `kind` is the class of the expression; that of a number is `sympy.Expr`. `value` is a number,
    the number before a product, or the symbol of a letter.
    """

    kind: type[sympy.Expr]
    parts: tuple[Form, ...] = ()
    value: sympy.Expr = sympy.S.One


def form(expr: sympy.Expr) -> Form:
    """The form of an expression. Of ones, zeros and I it says which sizes are 1: the rest tells."""
    match expr:
        case sympy.MatrixSymbol():
            return Form(sympy.MatrixSymbol, value=sympy.Symbol(expr.name))
        case sympy.MatMul():
            coefficient, factors = expr.as_coeff_matrices()
            return _made(sympy.MatMul, map(form, factors), coefficient)
        case Quotient(args=(matrix, divisor)):
            return _made(sympy.MatMul, [form(matrix)], 1 / divisor)
        case sympy.OneMatrix() | sympy.ZeroMatrix() | sympy.Identity():
            return _made(type(expr), (form(sympy.Integer(size == 1)) for size in shape_of(expr)))
        case (
            sympy.Transpose() | sympy.MatAdd() | sympy.HadamardProduct() | sympy.Inverse() | Node()
        ):
            return _made(type(expr), map(form, expr.args))
    return Form(sympy.Expr, value=expr)


def _made(kind: type[sympy.Expr], parts: Iterable[Form], value: sympy.Expr = sympy.S.One) -> Form:
    """An operation on forms: products and sums flat, terms sorted, transposes on letters."""
    parts = tuple(parts)
    match kind:
        case sympy.Transpose:
            return transposed(*parts)
        case sympy.MatMul:
            return _product(value, parts)
        case sympy.MatAdd:
            flat = [x for part in parts for x in (part.parts if part.kind is kind else (part,))]
            parts = tuple(sorted(flat, key=str))
        case sympy.HadamardProduct:
            parts = tuple(sorted(parts, key=str))
    return parts[0] if kind is sympy.MatAdd and len(parts) == 1 else Form(kind, parts, value)


def _product(number: sympy.Expr, factors: Sequence[Form]) -> Form:
    flat: list[Form] = []
    for factor in factors:
        if factor.kind is sympy.MatMul:
            number *= factor.value
            flat += factor.parts
        elif factor.kind is not sympy.Identity:
            flat.append(factor)
    if not flat:
        return factors[0]
    return flat[0] if len(flat) == 1 and number == 1 else Form(sympy.MatMul, tuple(flat), number)


def transposed(one: Form) -> Form:
    """The form of the transpose."""
    match one.kind:
        case sympy.Transpose:
            return one.parts[0]
        case sympy.MatMul:
            return _made(sympy.MatMul, map(transposed, reversed(one.parts)), one.value)
        case sympy.MatAdd:
            return _made(sympy.MatAdd, map(transposed, one.parts))
        case sympy.OneMatrix | sympy.ZeroMatrix | sympy.Identity:
            return Form(one.kind, one.parts[::-1])
    return Form(sympy.Transpose, (one,))


# ---- matching ------------------------------------------------------------------------------

Bound = Mapping[str, Form]


def _bind(bound: Bound, name: str, value: Form) -> Iterator[Bound]:
    if name not in bound:
        yield {**bound, name: value}
    elif bound[name] == value:
        yield bound


def _match(pattern: Form, one: Form, bound: Bound) -> Iterator[Bound]:
    """The ways in which letters of the pattern stand for parts of a form."""
    match pattern.kind:
        case sympy.MatrixSymbol:
            yield from _bind(bound, str(pattern.value), one)
        case sympy.Transpose:
            yield from _match(pattern.parts[0], transposed(one), bound)
        case sympy.MatMul:
            product = one if one.kind is sympy.MatMul else Form(sympy.MatMul, (one,))
            for more in _match_number(pattern.value, product.value, bound):
                yield from _match_row(pattern.parts, product.parts, more)
            if pattern.value == 1 != product.value:  # the number goes to the first letter
                yield from _match_row(pattern.parts, product.parts, bound, product.value)
        case kind if one.kind is not kind:
            return
        case sympy.MatAdd | sympy.HadamardProduct:
            yield from _match_terms(pattern, one, bound)
        case sympy.Expr:
            yield from _match_number(pattern.value, one.value, bound)
        case _ if len(one.parts) == len(pattern.parts):
            yield from _match_all(pattern.parts, one.parts, bound)


def _match_all(patterns: Sequence[Form], parts: Sequence[Form], bound: Bound) -> Iterator[Bound]:
    if not patterns:
        yield bound
        return
    for more in _match(patterns[0], parts[0], bound):
        yield from _match_all(patterns[1:], parts[1:], more)


def _match_number(pattern: sympy.Expr, value: sympy.Expr, bound: Bound) -> Iterator[Bound]:
    if pattern == value:
        yield bound
    elif isinstance(pattern, sympy.Symbol):
        yield from _bind(bound, pattern.name, form(value))


def _match_row(
    patterns: Sequence[Form],
    factors: Sequence[Form],
    bound: Bound,
    number: sympy.Expr = sympy.S.One,
) -> Iterator[Bound]:
    """Patterns against factors in a row; a letter may stand for several."""
    if not patterns:
        if not factors:
            yield bound
        return
    for taken in range(1, len(factors) - len(patterns) + 2):
        part = _product(number, factors[:taken])
        for more in _match(patterns[0], part, bound):
            yield from _match_row(patterns[1:], factors[taken:], more)


def _match_terms(pattern: Form, one: Form, bound: Bound) -> Iterator[Bound]:
    """A sum, or an entrywise product, in any order; a last letter takes what is left."""
    patterns, terms = pattern.parts, one.parts
    if len(patterns) == 1:
        if terms:
            yield from _match(patterns[0], terms[0] if len(terms) == 1 else one, bound)
        return
    hard = sorted(patterns, key=lambda each: each.kind is sympy.MatrixSymbol)
    for k, term in enumerate(terms):
        rest = Form(one.kind, (*terms[:k], *terms[k + 1 :]))
        for more in _match(hard[0], term, bound):
            yield from _match_terms(Form(one.kind, tuple(hard[1:])), rest, more)


def _filled(pattern: Form, bound: Bound) -> Form:
    """The pattern with its letters put in."""
    given = bound.get(str(pattern.value), pattern)  # a letter that the other side lost stays
    if pattern.kind is sympy.MatrixSymbol:
        return given
    return _made(pattern.kind, [_filled(part, bound) for part in pattern.parts], given.value)


# ---- applying ------------------------------------------------------------------------------


def rewritten(
    one: Form, left: Form, right: Form, allowed: Callable[[Bound], bool]
) -> Iterator[Form]:
    """Everything that one use of left = right, anywhere inside, makes of a form."""
    if one.kind is sympy.Expr:
        return
    parts = one.parts
    yield from _whole(one, left, right, allowed)
    for k, part in enumerate(parts):
        for new in rewritten(part, left, right, allowed):
            yield _made(one.kind, (*parts[:k], new, *parts[k + 1 :]), one.value)
    if one.kind is sympy.MatMul:
        for start, end in combinations(range(len(parts) + 1), 2):
            if end - start > 1 and (end - start < len(parts) or one.value != 1):
                for new in _whole(_product(sympy.S.One, parts[start:end]), left, right, allowed):
                    yield _product(one.value, [*parts[:start], new, *parts[end:]])
    if one.kind is left.kind is sympy.MatAdd and len(parts) > len(left.parts):
        for k, term in enumerate(parts):
            rest = Form(sympy.MatAdd, (*parts[:k], *parts[k + 1 :]))
            for new in _whole(rest, left, right, allowed):
                yield _made(sympy.MatAdd, [term, new])


def _whole(one: Form, left: Form, right: Form, allowed: Callable[[Bound], bool]) -> Iterator[Form]:
    for bound in _match(left, one, {}):
        if allowed(bound):
            yield _filled(right, bound)


@cache
def _sides(rule: RewriteRule) -> tuple[Form, Form]:
    statement = statement_of(rule)
    return form(statement.left.meaning), form(statement.right.meaning)


def follows(
    before: sympy.Expr, after: sympy.Expr, rule: RewriteRule, permuting: frozenset[str]
) -> bool:
    """Whether a few uses of the rule, in either direction, lead from one expression to another."""
    goal, (left, right) = form(after), _sides(rule)
    letters = [Form(sympy.MatrixSymbol, value=sympy.Symbol(name)) for name in permuting]
    permutations = {*letters, *map(transposed, letters)}

    def allowed(bound: Bound) -> bool:
        return all(bound.get(name) in permutations for name in rule.permuting)

    return any(
        goal in _reached(form(before), one, other, allowed)
        for one, other in ((left, right), (right, left))
    )


def _reached(
    start: Form, left: Form, right: Form, allowed: Callable[[Bound], bool]
) -> Iterator[Form]:
    """The forms that few rewritings of left by right lead to, until there are too many."""
    wave, seen = [start], set[Form]()
    for _ in range(_MOST_STEPS + 1):
        yield from wave
        new: list[Form] = []
        for each in wave:
            for rewriting in rewritten(each, left, right, allowed):
                if rewriting not in seen:
                    new.append(rewriting)
                    seen.add(rewriting)
                if len(seen) > _MOST_FORMS:
                    return
        wave = new
