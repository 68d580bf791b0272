"""A calculus over matrix expressions: named rules, each proven, and where a rule applies.

A rule is an equation between two expressions whose letters stand for any matrices that fit. It is
proven by the same decision as everything else, with symbolic indices, so that it holds for all
sizes. A link of a proof names the rule it uses; `follows` looks for a place where one side of the
rule fits and the other side gives what the link claims. Associativity, commutativity of sums and
(A B)ᵀ = Bᵀ Aᵀ are in the form in which expressions are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.equality import Equality, decide, stated
from symattn.algebra.hypotheses import Statement
from symattn.errors import SymattnError, nearest
from symattn.nodes.base import Node, shape_of
from symattn.nodes.scale import Quotient

_MOST_FORMS, _MOST_STEPS = 3000, 3

#: A matrix expression in the form in which expressions are compared: nested tuples.
Form = tuple[Any, ...]


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


def form(expr: sympy.Basic) -> Form:
    """The form of a matrix expression: products flat, sums sorted, transposes on letters."""
    match expr:
        case sympy.MatrixSymbol():
            return ("letter", expr.name)
        case sympy.Transpose():
            return transposed(form(expr.arg))
        case sympy.MatMul():
            coefficient, factors = expr.as_coeff_matrices()
            return _mul(coefficient, [form(factor) for factor in factors])
        case Quotient():
            return _mul(1 / expr.args[1], [form(expr.args[0])])
        case sympy.MatAdd():
            return _add([form(term) for term in expr.args])
        case sympy.HadamardProduct():
            return ("∘", tuple(sorted((form(f) for f in expr.args), key=str)))
        case sympy.OneMatrix() | sympy.ZeroMatrix() | sympy.Identity():
            return (type(expr).__name__, *shape_of(expr))
        case Node() | sympy.Inverse():
            return (
                type(expr).__name__,
                *(form(arg) if isinstance(arg, MatrixExpr) else ("#", arg) for arg in expr.args),
            )
    return ("#", expr)


def _mul(coefficient: sympy.Expr, factors: list[Form]) -> Form:
    flat: list[Form] = []
    for factor in factors:
        if factor[0] == "*":
            coefficient *= factor[1]
            flat += factor[2]
        elif factor[0] != "Identity":
            flat.append(factor)
    if not flat:
        return factors[0]
    return flat[0] if len(flat) == 1 and coefficient == 1 else ("*", coefficient, tuple(flat))


def _add(terms: list[Form]) -> Form:
    flat = [part for term in terms for part in (term[1] if term[0] == "+" else (term,))]
    return flat[0] if len(flat) == 1 else ("+", tuple(sorted(flat, key=str)))


def transposed(one: Form) -> Form:
    """The form of the transpose."""
    match one[0]:
        case "T":
            return one[1]  # type: ignore[no-any-return]
        case "*":
            return _mul(one[1], [transposed(factor) for factor in reversed(one[2])])
        case "+":
            return _add([transposed(term) for term in one[1]])
        case "OneMatrix" | "ZeroMatrix" | "Identity":
            return (one[0], one[2], one[1])
        case "Diagonal":
            return one
    return ("T", one)


# ---- matching ------------------------------------------------------------------------------

Bound = Mapping[str, Form]


def _bind(bound: Bound, name: str, value: Form) -> Iterator[Bound]:
    if name not in bound:
        yield {**bound, name: value}
    elif bound[name] == value:
        yield bound


def _match(pattern: Form, one: Form, bound: Bound) -> Iterator[Bound]:
    """The ways in which letters of the pattern stand for parts of a form."""
    match pattern[0]:
        case "letter":
            yield from _bind(bound, pattern[1], one)
        case "T":
            yield from _match(pattern[1], transposed(one), bound)
        case "*":
            coefficient, factors = (one[1], one[2]) if one[0] == "*" else (sympy.S.One, (one,))
            for more in _match_number(pattern[1], coefficient, bound):
                yield from _match_row(pattern[2], factors, more)
            if pattern[1] == 1 != coefficient:  # the number goes to the first letter
                yield from _match_row(pattern[2], factors, bound, coefficient)
        case kind if one[0] != kind:
            return
        case "+" | "∘":
            yield from _match_sum(pattern[1], one[1], bound)
        case "#":
            yield from _match_number(pattern[1], one[1], bound)
        case "OneMatrix" | "ZeroMatrix" | "Identity":
            if _sizeless(one) == _sizeless(pattern):
                yield bound
        case _ if len(one) == len(pattern):
            yield from _match_all(pattern[1:], one[1:], bound)


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
        yield from _bind(bound, pattern.name, ("#", value))


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
        part = _mul(number, list(factors[:taken]))
        for more in _match(patterns[0], part, bound):
            yield from _match_row(patterns[1:], factors[taken:], more)


def _match_sum(patterns: Sequence[Form], terms: Sequence[Form], bound: Bound) -> Iterator[Bound]:
    """Patterns against all terms of a sum, in any order; a last letter takes what is left."""
    if len(patterns) == 1:
        rest = terms[0] if len(terms) == 1 else ("+", tuple(terms))
        if terms:
            yield from _match(patterns[0], rest, bound)
        return
    hard = sorted(patterns, key=lambda pattern: pattern[0] == "letter")
    for k, term in enumerate(terms):
        for more in _match(hard[0], term, bound):
            yield from _match_sum(tuple(hard[1:]), (*terms[:k], *terms[k + 1 :]), more)


def _filled(pattern: Form, bound: Bound) -> Form:
    """The pattern with its letters put in."""
    match pattern[0]:
        case "letter":
            return bound.get(pattern[1], pattern)  # a letter that the other side lost stays
        case "T":
            return transposed(_filled(pattern[1], bound))
        case "*":
            return _mul(_number(pattern[1], bound), [_filled(f, bound) for f in pattern[2]])
        case "+":
            return _add([_filled(term, bound) for term in pattern[1]])
        case "∘":
            return ("∘", tuple(sorted((_filled(f, bound) for f in pattern[1]), key=str)))
        case "#":
            return ("#", _number(pattern[1], bound))
        case "OneMatrix" | "ZeroMatrix" | "Identity":
            return pattern
    return (pattern[0], *(_filled(part, bound) for part in pattern[1:]))


def _number(value: sympy.Expr, bound: Bound) -> sympy.Expr:
    if isinstance(value, sympy.Symbol) and value.name in bound:
        return bound[value.name][1]
    return value


# ---- applying ------------------------------------------------------------------------------


def rewritten(
    one: Form, left: Form, right: Form, allowed: Callable[[Bound], bool]
) -> Iterator[Form]:
    """Everything that one use of left = right, anywhere inside, makes of a form."""
    yield from _whole(one, left, right, allowed)
    match one[0]:
        case "*":
            factors = one[2]
            for start, end in combinations(range(len(factors) + 1), 2):
                if end - start == len(factors) and one[1] == 1:
                    continue
                part = _mul(sympy.S.One, list(factors[start:end]))
                inner = rewritten if end == start + 1 else _whole
                for new in inner(part, left, right, allowed):
                    yield _mul(one[1], [*factors[:start], new, *factors[end:]])
        case "+":
            terms = one[1]
            for k, term in enumerate(terms):
                for new in rewritten(term, left, right, allowed):
                    yield _add([*terms[:k], new, *terms[k + 1 :]])
            if left[0] == "+" and len(terms) > len(left[1]):
                for k, term in enumerate(terms):
                    rest = ("+", (*terms[:k], *terms[k + 1 :]))
                    for new in _whole(rest, left, right, allowed):
                        yield _add([term, new])
        case "∘":
            for k, part in enumerate(one[1]):
                for new in rewritten(part, left, right, allowed):
                    yield ("∘", tuple(sorted((*one[1][:k], new, *one[1][k + 1 :]), key=str)))
        case "letter" | "#" | "OneMatrix" | "ZeroMatrix" | "Identity":
            return
        case _:
            for k, part in enumerate(one[1:], start=1):
                if isinstance(part, tuple):
                    for new in rewritten(part, left, right, allowed):
                        yield (*one[:k], new, *one[k + 1 :])


def _whole(one: Form, left: Form, right: Form, allowed: Callable[[Bound], bool]) -> Iterator[Form]:
    for bound in _match(left, one, {}):
        if allowed(bound):
            yield _filled(right, bound)


def _sizeless(one: Form) -> Form:
    """A form without the sizes of its ones, zeros and identities, which the rest tells."""
    if not isinstance(one, tuple):
        return one
    if one and one[0] in ("OneMatrix", "ZeroMatrix", "Identity"):
        return (one[0], *(size == 1 for size in one[1:]))
    return tuple(map(_sizeless, one))


@cache
def _sides(rule: RewriteRule) -> tuple[Form, Form]:
    statement = rule.stated()
    return form(statement.left.meaning), form(statement.right.meaning)


def follows(
    before: sympy.Basic, after: sympy.Basic, rule: RewriteRule, permuting: frozenset[str]
) -> bool:
    """Whether a few uses of the rule, in either direction, lead from one expression to another."""
    goal = _sizeless(form(after))
    left, right = _sides(rule)

    def allowed(bound: Bound) -> bool:
        for name in rule.permuting:
            value = bound.get(name, ("letter", ""))
            value = value[1] if value[0] == "T" else value
            if value[0] != "letter" or value[1] not in permuting:
                return False
        return True

    return any(
        goal in map(_sizeless, _reached(form(before), one, other, allowed))
        for one, other in ((left, right), (right, left))
    )


def _reached(
    start: Form, left: Form, right: Form, allowed: Callable[[Bound], bool]
) -> Iterator[Form]:
    """The forms that few rewritings of left by right lead to, until there are too many."""
    wave, seen = [start], set[str]()
    for _ in range(_MOST_STEPS + 1):
        yield from wave
        new: dict[str, Form] = {}
        for each in wave:
            for rewriting in rewritten(each, left, right, allowed):
                if str(rewriting) not in seen:
                    new[str(rewriting)] = rewriting
                    seen.add(str(rewriting))
                if len(seen) > _MOST_FORMS:
                    return
        wave = list(new.values())


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
