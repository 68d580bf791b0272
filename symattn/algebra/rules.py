"""A calculus over matrix expressions: named rules, each proven, and where a rule applies.

A rule is an equation between two expressions whose letters stand for any matrices that fit. It is
proven by the same decision as everything else, with symbolic indices, so that it holds for all
sizes. A link of a proof names the rule it uses; `follows` looks for a place where one side of the
rule fits and the other side gives what the link claims. Associativity, commutativity of sums and
(A B)ᵀ = Bᵀ Aᵀ are in the form in which expressions are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import sympy

from symattn.algebra.equality import Equality, decide, stated
from symattn.algebra.hypotheses import Statement
from symattn.errors import SymattnError, nearest
from symattn.nodes.base import Node, shape_of
from symattn.nodes.scale import Quotient

_MOST_FORMS, _MOST_STEPS = 3000, 3


@dataclass(frozen=True)
class RewriteRule:
    """An equation that may be used in a proof, in either direction."""

    name: str
    statement: str
    says: str
    permuting: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()

    def stated(self) -> Statement:
        """The rule as a statement."""
        return next(stated(self.statement, permuting=self.permuting, positive=self.positive))

    def decided(self) -> Equality:
        """Whether the rule holds, and for which sizes."""
        return decide(self.stated())


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
    statement = rule.stated()
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


#: Adding a rule is adding a row; a test proves each.
RULES: tuple[RewriteRule, ...] = (
    RewriteRule("ring", "A (B C) = (A B) C", "products associate; sums and numbers commute"),
    RewriteRule("distribute", "A (B + C) = A B + A C", "a factor on the left distributes"),
    RewriteRule("distribute right", "(A + B) C = A C + B C", "a factor on the right distributes"),
    RewriteRule("distribute number", "a*(B + C) = a*B + a*C", "a number distributes over a sum"),
    RewriteRule("transpose", "(A B)^T = B^T A^T", "transposing reverses a product"),
    RewriteRule("inverse", "M M^-1 = I", "a matrix times its inverse is I"),
    RewriteRule("inverse left", "M^-1 M = I", "an inverse times its matrix is I"),
    RewriteRule("unfold", "softmax(S) = exp(S) / rowsum(exp(S))", "definition of the row softmax"),
    RewriteRule("rows sum to 1", "softmax(S) 1 = ones", "each row of a softmax sums to 1"),
    RewriteRule(
        "shift", "softmax(S + c 1^T) = softmax(S)", "a number added to a row has no effect"
    ),
    RewriteRule("permute rows", "softmax(P S) = P softmax(S)", "rows are treated alike", ("P",)),
    RewriteRule(
        "permute columns", "softmax(S P) = softmax(S) P", "columns are treated alike", ("P",)
    ),
    RewriteRule("permutation", "P^T P = I", "a permutation is undone by its transpose", ("P",)),
    RewriteRule("exp of a sum", "exp(A + B) = exp(A) ∘ exp(B)", "e^(a + b) = e^a e^b"),
    RewriteRule("exp of ln", "exp(ln(A)) = A", "e^(ln a) = a", positive=("A",)),
    RewriteRule(
        "exp of columns", "exp(S + c 1^T) = diag(exp(c)) exp(S)", "an added column scales rows"
    ),
    RewriteRule("row sums", "rowsum(A) = A 1", "a row sum is a product with ones"),
    RewriteRule(
        "sum of a scaled row", "rowsum(diag(c) A) = diag(c) rowsum(A)", "row factors come out"
    ),
    RewriteRule("quotient of rows", "(A / rowsum(B)) C = (A C) / rowsum(B)", "divide at the end"),
    RewriteRule(
        "cancel rows", "(diag(c) A) / (diag(c) rowsum(B)) = A / rowsum(B)", "factors cancel"
    ),
    RewriteRule("blocks", "[A, B] [C; D] = A C + B D", "blocks multiply like numbers"),
    RewriteRule("block row", "A [B, C] = [A B, A C]", "each block is multiplied on the left"),
    RewriteRule("blocks below", "[A; B] C = [A C; B C]", "each block is multiplied on the right"),
    RewriteRule("exp of blocks", "exp([A, B]) = [exp(A), exp(B)]", "exp is taken of each block"),
    RewriteRule(
        "sum of blocks", "rowsum([A, B]) = rowsum(A) + rowsum(B)", "row sums of blocks add"
    ),
    RewriteRule("transposed blocks", "[A; B]^T = [A^T, B^T]", "stacked blocks come side by side"),
    RewriteRule("ratio", "ratio(A) = A / rowsum(A)", "definition of the plain ratio"),
)


def rule(name: str) -> RewriteRule:
    """The rule of this name; raises `SymattnError` with the nearest name otherwise."""
    known = {row.name: row for row in RULES}
    if name not in known:
        raise SymattnError(f'no rule is called "{name}"{nearest(name, list(known))}')
    return known[name]
