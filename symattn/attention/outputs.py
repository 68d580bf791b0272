"""From weights to the output: weighted values, the heads together, the last projection."""

from __future__ import annotations

from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import Builder, Line
from symattn.nodes import operators
from symattn.nodes.heads import Concat, HeadSum
from symattn.step import HEAD


def _concat(b: Builder, head: MatrixExpr) -> MatrixExpr:
    return Concat(head, HEAD, b.count)


def _summed(b: Builder, term: MatrixExpr) -> MatrixExpr:
    """Each head projected by its own rows of W_O, and the results added."""
    total = HeadSum(term, HEAD, b.count)
    return operators.plus([total, b.first("b_O")]) if b.plan.projection_bias else total


_UP = "The value projection matrix is applied after the weighted sum, so no values are computed."

#: All steps after the weights; averaged latents are brought up to values: A (C W_V) = (A C) W_V.
OUTPUT_LINES: tuple[Line, ...] = (
    Line("latent_output", "weights latents", when="absorbed"),
    Line("output", "latent_output up", when="absorbed -heads", why=_UP),
    Line("heads", "latent_output up", when="absorbed heads", why=_UP),
    Line("output", "weights values", when="-absorbed -heads"),
    Line("heads", "weights values", when="-absorbed heads"),
    Line("concat", "heads", when="heads -sum", node=_concat),
    Line("projected", "result W_O + b_O", when="projection -sum"),
    Line(
        "projected",
        "heads W_O",
        when="sum",
        node=_summed,
        why="Each head adds its own term to the result.",
        source=HeadSum.source,
        rule="sum over heads",
    ),
)
