"""From weights to the output: weighted values, a gate, the heads together, the last projection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import Builder, Choice, Line
from symattn.attention.norms import norm_lines
from symattn.nodes import operators
from symattn.nodes.base import shape_of
from symattn.nodes.entrywise import function_of
from symattn.nodes.heads import Concat, HeadSum
from symattn.nodes.lines import LineProduct
from symattn.step import HEAD


def _sigmoid(x: MatrixExpr) -> MatrixExpr:
    return function_of("σ", x)


def _silu(x: MatrixExpr) -> MatrixExpr:
    return operators.entry_by_entry("∘", x, _sigmoid(x))


def _softplus(x: MatrixExpr) -> MatrixExpr:
    return function_of("ln", operators.plus([sympy.S.One, function_of("exp", x)]))


@dataclass(frozen=True)
class Gate(Choice):
    """A row of the axis of output gates: the function of a token's numbers that is the gate."""

    of: Callable[[MatrixExpr], MatrixExpr] = _sigmoid
    options: tuple[str, ...] = ("headwise",)


#: The choices of the axis of output gates.
GATES: Mapping[str, Gate] = {
    "sigmoid": Gate(),
    "silu": Gate(of=_silu),
    "softplus": Gate(of=_softplus),
}


def _gate_scores(b: Builder, tokens: MatrixExpr, weighted: MatrixExpr) -> MatrixExpr:
    """X W_G, with a column for each column of the output, or with one for all of them."""
    one = b.options("output_gate").get("headwise")
    columns = sympy.S.One if one else shape_of(weighted)[1]
    terms = [operators.times([tokens, b.given("W_G", columns=columns)])]
    if "G" in b.plan.biases:
        terms.append(b.given("b_G", columns=columns))
    return operators.plus(terms)


def _gate(b: Builder, scores: MatrixExpr) -> MatrixExpr:
    return GATES[b.plan.output_gate[0]].of(scores)


def _gated(b: Builder, weighted: MatrixExpr, gate: MatrixExpr) -> MatrixExpr:
    if b.options("output_gate").get("headwise"):
        return LineProduct(weighted, gate)
    return sympy.HadamardProduct(gate, weighted)


def _concat(b: Builder, head: MatrixExpr) -> MatrixExpr:
    return Concat(head, HEAD, b.count)


def _summed(b: Builder, term: MatrixExpr) -> MatrixExpr:
    """Each head projected by its own rows of W_O, and the results added."""
    total = HeadSum(term, HEAD, b.count)
    return operators.plus([total, b.first("b_O")]) if "O" in b.plan.biases else total


_UP = "The value projection matrix is applied after the weighted sum, so no values are computed."

#: All steps after the weights; averaged latents are brought up to values: A (C W_V) = (A C) W_V.
OUTPUT_LINES: tuple[Line, ...] = (
    Line("latent_output", "weights latents", when="absorbed"),
    Line("output", "latent_output up", when="absorbed -heads", why=_UP),
    Line("heads", "latent_output up", when="absorbed heads", why=_UP),
    Line("output", "weights values", when="-absorbed -heads"),
    Line("heads", "weights values", when="-absorbed heads"),
    *norm_lines("output", "weighted"),
    Line("gate_scores", "sequence, weighted", when="gated", node=_gate_scores),
    Line("gate", "gate_scores", when="gated", node=_gate),
    Line("output_gated", "weighted, gate", when="gated", node=_gated),
    Line("concat", "weighted", when="heads -sum", node=_concat),
    *norm_lines("concat", "concat"),
    Line("projected", "result W_O + b_O", when="projection -sum"),
    Line(
        "projected",
        "weighted W_O",
        when="sum",
        node=_summed,
        why="Each head adds its own term to the result.",
        source=HeadSum.source,
        rule="sum over heads",
    ),
)
