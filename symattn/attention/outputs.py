"""From weights to the output: weighted values, the heads together, the last projection."""

from __future__ import annotations

import sympy

from symattn.attention.builder import QUERY, SHARED, Builder
from symattn.attention.plan import d_out
from symattn.nodes.heads import Concat, HeadSum
from symattn.nodes.lines import PlusVector
from symattn.step import HEAD


def output(b: Builder) -> None:
    """All steps after the weights."""
    product, why = _up(b) if b.plan.absorbed else (_averaged(b), "")
    if b.plan.heads is None:
        result = b.step("output", product, because=why)
    else:
        head = b.step("heads", product, because=why)
        if b.plan.output_form == "sum":
            _summed(b, head)
            return
        result = b.step("concat", Concat(head, HEAD, b.count), kind=SHARED)
    if b.plan.output_projection:
        weights = b.given("W_O", result.shape[1], d_out, "output projection matrix")
        b.step("projected", _biased(b, result * weights), kind=SHARED)


def _averaged(b: Builder) -> sympy.MatrixExpr:
    """The weights times the values."""
    names: tuple[str, ...] = ("V_cached", "V", "K_cached", "K", "Q", "placed", "X")
    if b.plan.tie == "key-value":
        names = ("K_cached", "K")
    return b.first("weights") * b.of(b.first(*names))


def _up(b: Builder) -> tuple[sympy.MatrixExpr, str]:
    """The averaged latents, brought up to values, A (C W_V) = (A C) W_V, and why."""
    latent = b.first("latent_cached", "latent")
    mixed = b.step("latent_output", b.first("weights") * latent)
    why = (
        "The value projection matrix is applied after the weighted sum, so no values are computed."
    )
    return mixed * b.of(b.first("W_K" if b.plan.tie == "key-value" else "W_V")), why


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
