"""From weights to the output: weighted values, the heads together, the last projection."""

from __future__ import annotations

import sympy

from symattn.attention.builder import PAPER, QUERY, SHARED, Builder
from symattn.attention.plan import d_out
from symattn.nodes.heads import Concat, HeadSum
from symattn.nodes.lines import PlusVector
from symattn.step import HEAD

_LATENT = "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2"


def output(b: Builder) -> None:
    """All steps after the weights."""
    if b.plan.absorbed:
        product = _up(b)
        why = (
            "The value projection matrix is applied after the weighted sum, so no values "
            "are computed."
        )
    else:
        product = _averaged(b)
        why = (
            "For each query, the output is the sum of the values, weighted by that query's "
            "attention weights."
        )
    if b.plan.heads is None:
        result = b.step("output", product, "weighted sum", why, f"{PAPER}3.2.1")
    else:
        head = b.step("heads", product, "weighted sum", why, f"{PAPER}3.2.2")
        if b.plan.output_form == "sum":
            _summed(b, head)
            return
        why = "The heads' outputs are joined into one matrix."
        result = b.step(
            "concat", Concat(head, HEAD, b.count), "concatenation", why, f"{PAPER}3.2.2", SHARED
        )
    if b.plan.output_projection:
        weights = b.given("W_O", result.shape[1], d_out, "output projection matrix")
        why = "{W_O} combines the heads into one vector for each token."
        b.step(
            "projected", _biased(b, result * weights), "projection", why, f"{PAPER}3.2.2", SHARED
        )


def _averaged(b: Builder) -> sympy.MatrixExpr:
    """The weights times the values."""
    names: tuple[str, ...] = ("V_cached", "V", "K_cached", "K", "Q", "placed", "X")
    if b.plan.tie == "key-value":
        names = ("K_cached", "K")
    return b.first("weights") * b.of(b.first(*names))


def _up(b: Builder) -> sympy.MatrixExpr:
    """The averaged latents, brought up to values: A (C W_V) = (A C) W_V."""
    latent = b.first("latent_cached", "latent")
    why = (
        "For each query, the latent vectors themselves are summed, weighted by that query's "
        "attention weights."
    )
    mixed = b.step("latent_output", b.first("weights") * latent, "weighted sum", why, _LATENT)
    return mixed * b.of(b.first("W_K" if b.plan.tie == "key-value" else "W_V"))


def _summed(b: Builder, head: sympy.MatrixExpr) -> None:
    """Each head projected by its own rows of W_O, and the results added."""
    weights = b.given("W_O", head.shape[1], d_out, "output projection matrix", QUERY)
    why = "Each head adds its own term to the result."
    total = HeadSum(head * weights, HEAD, b.count)
    b.step("projected", _biased(b, total), "sum over heads", why, HeadSum.source, SHARED)


def _biased(b: Builder, product: sympy.MatrixExpr) -> sympy.MatrixExpr:
    if not b.plan.projection_bias:
        return product
    return PlusVector(product, b.given("b_O", 1, d_out, "output bias"))
