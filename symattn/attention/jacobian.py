"""The Jacobian of the softmax, derived, and what becomes of it as the logits grow.

∂a_j/∂z_l = a_j (δ_jl − a_l), so J = diag(a) − aᵀ a for a row a. With t times the logits, a gap Δ
between the largest and the next, and m keys, 1 − max a ≤ (m − 1) e^{−tΔ}, and no entry of J is
larger than that: the gradient vanishes. Dot products of random vectors have a spread of √d_k, which
is such a factor t; dividing by √d_k takes it out again.

Source: Vaswani et al. 2017, section 3.2.1 and footnote 4; Dao et al. 2022, appendix B.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import instance, whole
from symattn.arithmetic.arrays import nearest_float
from symattn.arithmetic.decide import decide
from symattn.arithmetic.proof import ordered
from symattn.arithmetic.quantity import exactly
from symattn.arithmetic.reading import read_number
from symattn.attention.builder import Builder, Line
from symattn.attention.plan import Plan, m
from symattn.attention.vocabulary import WORDS
from symattn.attention.words import SIZES
from symattn.derivations import Derivation, Input
from symattn.errors import SymattnError, counted
from symattn.nodes import operators
from symattn.nodes.entrywise import Diagonal, Exponential
from symattn.nodes.lines import LineQuotient, LineSum
from symattn.notation.options import MAX_DIGITS

#: The longest row that is shown.
_MOST = 64


def _taken(b: Builder, own: MatrixExpr, taken: MatrixExpr) -> MatrixExpr:
    return operators.plus([own, operators.negative(taken)])


_LINES = (
    Line(
        "exp",
        "scaled",
        node=Exponential,
        why="The exponential is its own derivative: an entry of {F} depends on its own logit "
        "alone.",
    ),
    Line(
        "exp_sum",
        "exp",
        node=LineSum,
        why="The derivative of the sum by each logit is that logit's exponential.",
    ),
    Line(
        "weights",
        "exp, exp_sum",
        node=LineQuotient,
        why="By the quotient rule, numerator and denominator contribute one term each.",
        rule="row quotient",
    ),
    Line("jacobian_own", "weights", node=Diagonal),
    Line("jacobian_taken", "weights^T weights"),
    Line("jacobian", "jacobian_own, jacobian_taken", node=_taken),
    Line("jacobian_sums", "jacobian", node=LineSum),
)


def softmax_jacobian() -> Derivation:
    """The steps from one row of logits to the Jacobian of its softmax: J_jl = ∂a_j/∂z_l.

    Shapes: `scaled` 1 × m, `jacobian` m × m.

    >>> print(softmax_jacobian()["jacobian"])
    J = J_o − J_t
    >>> values = softmax_jacobian().evaluate(scaled=[[0, 0]])
    >>> values["jacobian"].decimals(2)
    [['0.25', '-0.25'], ['-0.25', '0.25']]
    """
    builder = Builder(Plan(), WORDS)
    word = WORDS["scaled"]
    logits = sympy.MatrixSymbol(word.letter, 1, m)
    builder.inputs.append(Input(word.name, logits, "one query's logits", **word.facts))
    builder.take(_LINES)
    steps = tuple(builder.steps)
    return Derivation(
        tuple(builder.inputs), steps, title="The Jacobian of the softmax", order=SIZES
    )


@dataclass(frozen=True)
class Growth:
    """The softmax of so many times the logits: its largest weight, and J's largest entry.

    `bound` is (m − 1) e^{−tΔ}, which that entry cannot exceed; proven decimals, all three.
    """

    factor: int
    weight: str
    entry: str
    bound: str


def growth(
    logits: Sequence[object], factors: Sequence[int] = (1, 2, 4, 8, 16), digits: int = 4
) -> tuple[Growth, ...]:
    """What becomes of the Jacobian as the logits are multiplied by t, one line for each factor.

    Raises `SymattnError` if fewer than two logits are given.

    >>> [(line.weight, line.entry) for line in growth([0, 1], factors=(1, 8), digits=4)]
    [('0.7311', '0.1966'), ('0.9997', '0.0003')]
    """
    row = read_row(logits)
    first, second = sorted(row, key=cmp_to_key(ordered), reverse=True)[:2]
    best = row.index(first)
    whole(digits, "digits", 0, MAX_DIGITS)
    instance(factors, Sequence, "factors", "whole numbers in a list")
    derivation = softmax_jacobian()
    lines = []
    for factor in factors:
        # the most that logits are multiplied by
        whole(factor, "factors", 1, 10_000)
        values = derivation.evaluate(scaled=[[factor * logit for logit in row]])
        diagonal = [values["jacobian"].exact[k, k] for k in range(len(row))]
        largest = max(range(len(row)), key=lambda k: nearest_float(diagonal[k]))
        bound = (len(row) - 1) * sympy.exp(factor * (second - first))
        lines.append(
            Growth(
                factor,
                _decimal(values["weights"].exact[0, best], digits),
                _decimal(diagonal[largest], digits),
                _decimal(bound, digits),
            )
        )
    return tuple(lines)


def growth_notes(logits: Sequence[object]) -> list[str]:
    """The same as sentences, for the foot of a document."""
    lines = growth(logits)
    first = "As the logits grow, the largest weight approaches 1 and every entry of J approaches 0:"
    rows = [
        f"{line.factor:>2} times the logits: largest weight {line.weight}, largest entry "
        f"{line.entry}, at most {line.bound}"
        for line in lines
    ]
    last = (
        "Dot products of vectors with d_k random entries are about √d_k times as large as with "
        "one; dividing by √d_k keeps J, and with it the gradient, from vanishing."
    )
    return [first, *rows, last]


def read_row(logits: Sequence[object]) -> list[sympy.Expr]:
    """One row of logits: numbers, or strings such as ``"1/3"``.

    Raises `SymattnError` unless there are 2 to 64 of them, all finite.
    """
    instance(logits, Sequence, "logits", "2 to 64 numbers in a list")
    if not 2 <= len(logits) <= _MOST:
        raise SymattnError(
            f"logits: {counted(len(logits), 'number')}; give 2 to {_MOST}, e.g. 2,1,0"
        )
    row = [read_number(logit, "logits") for logit in logits]
    if any(logit.is_infinite for logit in row):
        raise SymattnError("logits: a key at −∞ is masked out; leave it out")
    return row


def _decimal(value: sympy.Expr, digits: int) -> str:
    """A number as a proven decimal, in scientific notation if it is tiny."""
    return decide(exactly(value), digits, tiny=digits).text
