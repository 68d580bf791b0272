"""The checker of inequalities L ≤ R, entry by entry: replays the steps by which one was found.

A step is a claim A ≤ B, the rule that it follows by, and the claims that it follows from. What is
equal is shown by certificates of equality (`certificate.py`). Values are those of the nodes: the
weights of a row without a key that may be seen are 0. A claim says something wherever both of its
sides have a value. Nothing here is shared with what finds the steps (`inequalities.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import refusing, replayed
from symattn.algebra.claims import Goal, decoded, goal_of
from symattn.algebra.forms import Refused
from symattn.algebra.kinds import Data, check_kind, check_limits
from symattn.algebra.texts import read_number
from symattn.errors import ReadError, quote
from symattn.nodes.base import Node
from symattn.nodes.entrywise import function, word
from symattn.nodes.lines import Lengths, LineSum
from symattn.nodes.masks import HIDING, may_hide
from symattn.nodes.normalise import RowMax
from symattn.nodes.operators import negative
from symattn.nodes.written import spread

#: The kind of a certificate, beside 1 for an equation.
INEQUALITY = "inequality"

#: What two expressions are said to be: the first at most the second, entry by entry.
Claim: TypeAlias = tuple[sympy.Basic, sympy.Basic]


@dataclass(frozen=True)
class Step:
    """A claim, what it follows from, and of a combination the multiples and the equation."""

    claim: Claim
    premises: tuple[Claim, ...]
    by: tuple[Fraction, ...] = ()
    equation: Claim | None = None
    #: The letters whose entries are positive.
    positive: tuple[str, ...] = ()


# ---- what is known of an expression ------------------------------------------------------------

#: Functions whose values are above 0, and where others have none: below 0.
_NEVER_ZERO, _OF_POSITIVE = ("exp", "σ", "elu1"), ("sqrt", "ln")


def constant(expr: sympy.Basic) -> sympy.Expr | None:
    """The number that every entry is; None where it is not seen."""
    match expr:
        case sympy.ZeroMatrix():
            return sympy.S.Zero
        case sympy.OneMatrix():
            return sympy.S.One
        case sympy.MatMul(args=(number, sympy.OneMatrix())):
            return number
        case sympy.Rational():
            return expr
        case sympy.Transpose() | RowMax():
            return constant(expr.args[0])
        case LineSum() if constant(expr.args[0]) == 0:
            return sympy.S.Zero
    return None


def limits(expr: sympy.Basic) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """The numbers between which all entries are, by what the expression itself is."""
    known = constant(expr)
    if known is not None and known.is_Rational:
        return known, known
    between = getattr(_source(expr), "between", (None, None))
    low, high = (value if value is None else sympy.sympify(value, strict=True) for value in between)
    return low, high


def rises(expr: sympy.Basic) -> bool:
    """Whether no entry falls where an entry of its first argument rises."""
    return isinstance(expr, sympy.Transpose) or getattr(_source(expr), "rises", False)


def _source(expr: sympy.Basic) -> object:
    """What says what is known of an expression: its node, or the function that it applies."""
    return function(expr) or expr


def is_finite(expr: sympy.Basic) -> bool:
    """Whether no entry is −∞: masks stand only below functions that stay between two numbers."""
    if not may_hide(expr):
        return True
    low, high = limits(expr)
    if low is not None and (high is not None or (word(expr) and rises(expr))):
        return all(map(is_below, expr.args))
    return bool(expr.args) and not isinstance(expr, HIDING) and all(map(is_finite, expr.args))


def is_below(expr: sympy.Basic) -> bool:
    """Whether no entry is ∞, as one less a mask would be: some may be −∞."""
    if isinstance(expr, HIDING):
        return True
    others = [arg for arg in expr.args if not isinstance(arg, sympy.OneMatrix)]
    repeats = isinstance(expr, sympy.MatMul) and len(others) == 1
    if isinstance(expr, sympy.MatAdd) or rises(expr) or repeats:
        return all(map(is_below, expr.args))
    return is_finite(expr)


def divides(expr: sympy.Basic) -> bool:
    """Whether it is a quotient of its first two arguments."""
    return getattr(expr, "is_quotient", False)


def factors(expr: sympy.Basic) -> tuple[tuple[object, ...], tuple[sympy.Basic, ...]]:
    """The kind of a product or a quotient, and its factors; a divisor is one of them."""
    if divides(expr):
        return (expr.func, *expr.args[2:]), expr.args[:2]
    if isinstance(expr, sympy.MatMul | sympy.HadamardProduct | sympy.Mul):
        return (expr.func, len(expr.args)), expr.args
    return (), ()


def is_positive(expr: sympy.Basic) -> bool:
    """Whether every entry is above 0, as is seen from what the expression is."""
    if isinstance(expr, sympy.OneMatrix):
        return True
    if word(expr) in _NEVER_ZERO:
        return not may_hide(expr)
    if word(expr) == "sqrt" or isinstance(expr, sympy.Transpose | LineSum | RowMax):
        return is_positive(expr.args[0])
    if isinstance(expr, sympy.MatMul | sympy.MatAdd | sympy.HadamardProduct):
        return all(map(is_positive, expr.args))
    return not isinstance(expr, MatrixExpr) and bool(expr.is_positive)


def is_of_squares(expr: sympy.Basic) -> bool:
    """Whether every entry is a square X ∘ X, or a sum of such: the square of a length."""
    if isinstance(expr, sympy.Transpose | LineSum):
        return is_of_squares(expr.args[0])
    even = all(count % 2 == 0 for count in Counter(expr.args).values())
    return isinstance(expr, sympy.HadamardProduct) and is_finite(expr) and even


def doubtful(*exprs: sympy.Basic) -> set[tuple[object, ...]]:
    """What may leave expressions without a value, other than the parts of these.

    Divisors, arguments of roots and logarithms, powers of matrices, unit vectors, and nodes of
    which nothing is known here.
    """
    return {
        found
        for expr in exprs
        for part in sympy.preorder_traversal(expr)
        if (found := _doubt(part)) and not (found[0] != "" and is_positive(found[1]))
    }


def _doubt(part: sympy.Basic) -> tuple[Any, ...]:
    """How a part may be without a value, and what of it would have to be positive."""
    if divides(part):
        return () if getattr(part.args[1], "is_nonzero", False) else ("/", part.args[1])
    if word(part) in _OF_POSITIVE:
        rooted = word(part) == "sqrt" and is_of_squares(part.args[0])
        return () if rooted else (word(part), part.args[0])
    if isinstance(part, sympy.Pow) and not (part.exp.is_Integer and part.exp > 0):
        return "^", part.base
    known = not isinstance(part, Node) or part.between != (None, None) or part.rises
    safe = known or isinstance(part, HIDING) or word(part)
    undefined = isinstance(part, sympy.MatPow) or getattr(part, "partial", False)
    return () if safe and not undefined else ("", part)


# ---- the rules -----------------------------------------------------------------------------------


def _bound(step: Step) -> bool:
    """A function's, a node's or a number's own bound: 0 ≤ softmax(S) ≤ 1, −1 ≤ tanh(S)."""
    left, right = step.claim
    below, above = constant(left), constant(right)
    low, high = limits(right)[0], limits(left)[1]
    return (below is not None and low is not None and (low - below).is_nonnegative is True) or (
        above is not None and high is not None and (above - high).is_nonnegative is True
    )


def _positive(step: Step) -> bool:
    """0 ≤ S of a letter that is said to be positive; 0 ≤ c of a size, a square, a root."""
    left, right = step.claim
    if isinstance(right, MatrixExpr):
        known = isinstance(right, sympy.MatrixSymbol) and right.name in step.positive
    else:
        rooted = isinstance(right, sympy.Pow) and right.exp.is_Rational and not right.exp.is_Integer
        known = bool(right.is_nonnegative or rooted)
    return constant(left) == 0 and known


def _square(step: Step) -> bool:
    """0 ≤ X ∘ X."""
    left, right = step.claim
    if isinstance(right, sympy.Pow):
        whole = bool(right.exp.is_Integer and right.exp % 2 == 0)
    else:
        whole = isinstance(right, sympy.HadamardProduct) and is_of_squares(right)
    return constant(left) == 0 and whole


def _product(step: Step) -> bool:
    """A product or quotient of parts that are ≥ 0; one of them may rise: P X ≤ P Y."""
    left, right = step.claim
    kind, more = factors(right)
    if not kind or not all(map(is_finite, step.claim)):
        return False
    if constant(left) == 0:
        wanted = [(0, factor) for factor in more]
    else:
        other, less = factors(left)
        apart = [k for k, pair in enumerate(zip(less, more, strict=False)) if pair[0] != pair[1]]
        if other != kind or len(apart) != 1:
            return False
        if divides(right) and apart == [1]:
            return False  # a divisor that rises
        wanted = [(less[k] if k in apart else 0, factor) for k, factor in enumerate(more)]
    return len(wanted) == len(step.premises) and all(
        found[1] == factor and (constant(found[0]) == 0 if least == 0 else found[0] == least)
        for (least, factor), found in zip(wanted, step.premises, strict=True)
    )


def _monotone(step: Step) -> bool:
    """f(X) ≤ f(Y) for X ≤ Y and an f that never falls: exp, ln, a sum of each row, a maximum."""
    left, right = step.claim
    return (
        left.func == right.func
        and rises(left)
        and left.args[1:] == right.args[1:]
        and step.premises == ((left.args[0], right.args[0]),)
    )


def _terms(step: Step) -> bool:
    """A + C ≤ B + D from A ≤ B and C ≤ D, term by term."""
    left, right = step.claim
    sums = all(isinstance(side, sympy.MatAdd) and is_finite(side) for side in step.claim)
    return sums and step.premises == tuple(zip(left.args, right.args, strict=True))


def _largest(step: Step) -> bool:
    """X ≤ max(X) 1ᵀ: no entry is above the largest of its row, or of its column."""
    left, right = step.claim
    return right in (along(left, axis) for axis in (0, 1))


def along(matrix: MatrixExpr, axis: int) -> MatrixExpr:
    """The largest entry of each row (with `axis` 0: column), repeated along it."""
    return repeated(RowMax(matrix, axis), matrix)


def repeated(line: MatrixExpr, matrix: MatrixExpr) -> MatrixExpr:
    """A column or a row as often as a matrix has columns or rows."""
    return spread(line, tuple(line.shape), tuple(matrix.shape))


def _sum(step: Step) -> bool:
    """Y ≤ Σ Y 1ᵀ and max(Y) ≤ Σ Y along each row or column of parts that are ≥ 0."""
    ((zero, part),) = step.premises
    sums = [(LineSum(part, axis), RowMax(part, axis)) for axis in (0, 1)]
    known = [(most, total) for total, most in sums] + [(part, repeated(x, part)) for x, _ in sums]
    return step.claim in known and constant(zero) == 0


def are_weights(expr: sympy.Basic) -> bool:
    """Whether entries are shares of 1 along a line, or all 0 where there is no key to be seen."""
    return getattr(expr, "shares", False) and limits(expr) == (0, 1)


def _weights(step: Step) -> bool:
    """Σ A ≤ 1 along each line of weights."""
    left, right = step.claim
    if not isinstance(left, LineSum) or constant(right) != 1:
        return False
    weights, axis = left.args[0], left.axis
    return are_weights(weights) and bool(weights.axis == axis)


def _cauchy(step: Step) -> bool:
    """±A B ≤ ‖a_i‖ ‖b_j‖ of the rows of A and the columns of B: it differs by sums of squares."""
    left, right = step.claim
    product = left if constant(left) is None and factors(left)[1][:1] != (-1,) else left.args[1]
    return (
        isinstance(product, sympy.MatMul)
        and left in (product, negative(product))
        and right == lengths(*product.args)
        and all(map(is_finite, step.claim))
    )


def lengths(one: MatrixExpr, other: MatrixExpr) -> MatrixExpr:
    """The lengths of the rows of a matrix times those of the columns of another."""
    return sympy.MatMul(Lengths(one, 1), Lengths(other, 0))


def _absolute(step: Step) -> bool:
    """|X| ≤ Y from X ≤ Y and −X ≤ Y."""
    left, right = step.claim
    inner = left.args[0]
    return word(left) == "abs" and step.premises == ((inner, right), (negative(inner), right))


def _line(step: Step) -> bool:
    """A function and a straight line that it does not cross: x + 1 ≤ e^x, ln x ≤ x − 1."""
    left, right = step.claim
    return left in lines(right, "below") or right in lines(left, "above")


def lines(expr: sympy.Basic, side: str) -> list[sympy.Expr]:
    """The lines a X + b 1 below or above a function of X, a being 1 or −1; none of others."""
    out = []
    for a, b in getattr(function(expr), side, ()):
        slope = expr.args[0] if a == 1 else negative(expr.args[0])
        more = sympy.MatMul(b, sympy.OneMatrix(*expr.shape)) if expr.is_Matrix else sympy.Integer(b)
        out.append(total(slope, more) if b else slope)
    return out


def _combination(step: Step) -> bool:
    """L ≤ R, since R − L = Σ c (B − A) with c ≥ 0 and A ≤ B: an equation that is proven."""
    left, right = step.claim
    if not all(is_finite(side) for claim in (step.claim, *step.premises) for side in claim):
        return False
    below, above = summed(step)
    if not doubtful(below, above) <= doubtful(left, right):
        return False  # it would say nothing where a premise has no value
    return all(c > 0 for c in step.by) and step.equation == (below, above)


def summed(step: Step) -> Claim:
    """L + Σ c B and R + Σ c A, which are equal where L ≤ R is a combination."""
    left, right = step.claim
    below, above = [left], [right]
    for c, (small, large) in zip(step.by, step.premises, strict=True):
        below.append(_times(c, large))
        above.append(_times(c, small))
    return total(*below), total(*above)


def total(*terms: sympy.Expr) -> sympy.Expr:
    """The sum of matrices, or of numbers."""
    kind = sympy.MatAdd if isinstance(terms[0], MatrixExpr) else sympy.Add
    return terms[0] if len(terms) == 1 else kind(*terms)


def _times(c: Fraction, expr: sympy.Basic) -> sympy.Basic:
    number = sympy.Rational(c.numerator, c.denominator)
    return sympy.MatMul(number, expr) if isinstance(expr, MatrixExpr) else number * expr


#: The rules: what each says, and what decides that a step follows it.
RULES: Mapping[str, tuple[str, Callable[[Step], bool]]] = {
    "bound": ("its entries are never beyond that number", _bound),
    "positive": ("it is positive", _positive),
    "square": ("it is a square", _square),
    "product": ("the other factors, or the divisor, are ≥ 0", _product),
    "monotone": ("the function never falls", _monotone),
    "terms": ("term by term", _terms),
    "largest": ("no entry is above the largest of its line", _largest),
    "sum": ("no entry of a line ≥ 0 is above its sum", _sum),
    "weights": ("weights sum to 1, or to less", _weights),
    "Cauchy–Schwarz": ("Cauchy–Schwarz", _cauchy),
    "absolute value": ("both X and −X are below it", _absolute),
    "line": ("the graph of the function does not cross that line", _line),
    "combination": ("a sum of multiples of what is above, by an equation", _combination),
}

# ---- checking ------------------------------------------------------------------------------------


class Link:
    """The check of one link, of a chain L ≤ R, and whether an equation in it is partial."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        #: Whether the sides, or an equation, may be without a value.
        self.doubts = [bool(doubtful(goal.left, goal.right))]

    @classmethod
    def of(cls, link: Data) -> Self:
        """The check of a link. Raises `Refused` where it is not proven."""
        out = cls(goal_of(link["statement"]))
        out.check(link["proof"])
        return out

    def check(self, proof: Data) -> None:
        """Check that the steps prove the statement."""
        if self.claim(proof) != (self.goal.left, self.goal.right):
            raise Refused("the steps prove something else")

    def claim(self, data: Data) -> Claim:
        """What a step shows. Raises `Refused` where it does not follow."""
        left, right = decoded(data["left"]), decoded(data["right"])
        goal = self.goal
        Goal(left, right, ((goal.left, goal.right),), goal.positive).check_letters()
        if getattr(left, "shape", None) != getattr(right, "shape", None):
            raise Refused("the shapes differ")
        if not (is_below(left) and is_below(right)):
            raise Refused("a side may be ∞")
        premises = tuple(map(self.claim, data["from"]))
        by = tuple(map(read_number, data.get("by", ())))
        equation = None if "equation" not in data else self.equation(data["equation"])
        step = Step((left, right), premises, by, equation, goal.positive)
        self.follow(data["rule"], step)
        return step.claim

    def follow(self, rule: str, step: Step) -> None:
        """Check that a step follows by its rule. Raises `Refused` where it does not."""
        _, follows = RULES[rule]
        if not follows(step):
            left, right = step.claim
            raise Refused(f"{left} ≤ {right} does not follow by {quote(rule)}")

    def equation(self, data: Data) -> Claim:
        """Both sides of an equation that is proven under what the statement assumes.

        Where it holds only if both are defined, nothing may be hidden: the weights of a row
        without keys are 0 here, and undefined there.
        """
        found, goal = replayed(data), self.goal
        assumed = (goal.where, goal.positive, goal.permuting)
        if (found.where, found.positive, found.permuting) != assumed or any(found.steps):
            raise Refused("an equation assumes something else")
        if data["partial"]:
            if any(map(may_hide, (found.left, found.right))):
                raise Refused("an equation says nothing of rows without a key that may be seen")
            self.doubts.append(True)
        return found.left, found.right


def check(data: Data) -> list[Goal]:
    """The links that a certificate proves, L ≤ R each.

    Raises `Refused` where it proves none, `ReadError` for data that is no certificate.
    """
    check_limits(data)
    if not isinstance(data, dict) or data.get("certificate") != INEQUALITY:
        raise ReadError("this is not a certificate of an inequality")
    check_kind(data, "inequality")
    goals, partial = replayed_links(data["links"])
    if partial is not data["partial"]:
        raise Refused("what it says about where both sides are defined is wrong")
    return goals


def replayed_links(links: Data) -> tuple[list[Goal], bool]:
    """What links prove, and whether only where both sides are defined; however large they are."""
    with refusing():
        replays = [Link.of(link) for link in links]
        return [one.goal for one in replays], any(any(one.doubts) for one in replays)


def steps(data: Data) -> Iterator[tuple[sympy.Basic, sympy.Basic, str]]:
    """The claims of a proof and their rules, each after those that it follows from, each once."""
    seen: set[Claim] = set()

    def visit(step: Data) -> Iterator[tuple[sympy.Basic, sympy.Basic, str]]:
        for one in step["from"]:
            yield from visit(one)
        claim = decoded(step["left"]), decoded(step["right"])
        if claim not in seen:
            seen.add(claim)
            yield (*claim, step["rule"])

    for link in data["links"]:
        yield from visit(link["proof"])


def rules_of(data: Data) -> Sequence[str]:
    """The rules that a proof uses, in the order in which they are first used."""
    return [*dict.fromkeys(rule for *_, rule in steps(data))]
