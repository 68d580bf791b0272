"""Where queries, keys and values come from: given, projected, positioned, cached."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import GROUP, PAPER, QUERY, SHARED, Builder
from symattn.attention.plan import d_c, d_k, d_mem, d_model, d_v, m, n, n_vocab, p
from symattn.nodes.affine import PlusVector, Stacked

_ROLES = {
    "Q": ("query", "The query asks: what is this token looking for?"),
    "K": ("key", "The key answers: what can this token be found by?"),
    "V": ("value", "The value carries: what does this token pass on?"),
}
_LATENT = "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2"


def sources(b: Builder) -> None:
    """Everything up to the queries, keys and values that are compared."""
    if b.plan.source == "given":
        b.given("Q", n, d_k, "queries: what each token looks for", QUERY)
        b.given("K", m, d_k, "keys: what each token offers to be found by", GROUP)
        if b.plan.tie != "key-value":
            b.given("V", m, d_v, "values: what each token passes on", GROUP)
    else:
        _projected(b)
    if b.plan.cache:
        _cached(b)
    if b.plan.positions is not None and b.plan.positions[0] == "rotary":
        _rotated(b)


def _projected(b: Builder) -> None:
    x = _placed(b, _words(b))
    memory, width = x, d_model
    if b.plan.source == "cross":
        memory, width = b.given("memory", m, d_mem, "the other sequence's vectors"), d_mem
    if b.plan.source == "bare":
        return
    _project(b, "Q", x, d_model, d_k, QUERY)
    if b.plan.latent:
        down = b.given("W_D", width, d_c, "weights that compress to the latent")
        memory = b.step(
            "latent", memory * down, "projection",
            "Keys and values are compressed together; only this latent has to be cached.",
            _LATENT, SHARED,
        )  # fmt: skip
        width = d_c
    if b.plan.tie != "query-key":
        _project(b, "K", memory, width, d_k, GROUP)
    if b.plan.tie != "key-value":
        _project(b, "V", memory, width, d_v, GROUP)


def _words(b: Builder) -> MatrixExpr:
    """X as it is given, or looked up."""
    if not b.plan.embedded:
        return b.given("X", n, d_model, "token vectors, one for each token")
    one_hot = b.given("one_hot", n, n_vocab, "one-hot vectors: which word each token is")
    table = b.given("E", n_vocab, d_model, "embedding table: a vector for each word")
    why = "A one-hot vector picks its word's vector from {E}."
    return b.step("X", one_hot * table, "embedding look-up", why, f"{PAPER}3.4", SHARED)


def _placed(b: Builder, x: MatrixExpr) -> MatrixExpr:
    """Positions added to the token vectors, where that is the scheme."""
    if b.plan.positions is None or b.plan.positions[0] == "rotary":
        return x
    name, options = b.plan.positions[0], dict(b.plan.positions[1])
    if name == "learned":
        encoding = b.given("positions", n, d_model, "position vectors, learned like the words'")
    else:
        from symattn.nodes.encodings import Sinusoidal

        why = "Sines and cosines of many wavelengths tell the positions apart."
        start = options.pop("start", 0) + (p if b.plan.cache else 0)
        node = Sinusoidal(n, d_model, start=start, **options)
        encoding = b.step("positions", node, "position encoding", why, f"{PAPER}3.5", SHARED)
    why = "Without positions, the order of the tokens would make no difference."
    return b.step("placed", sympy.MatAdd(x, encoding), "sum", why, f"{PAPER}3.5", SHARED)


def _project(b: Builder, name: str, x: MatrixExpr, rows: Any, columns: Any, kind: str) -> None:
    of, why = _ROLES[name]
    product = x * b.given(f"W_{name}", rows, columns, f"{of} weights", kind)
    if b.plan.projection_bias:
        product = PlusVector(product, b.given(f"b_{name}", 1, columns, f"{of} bias", kind))
    b.step(name, product, "projection", why, f"{PAPER}3.2.2", kind)


def _cached(b: Builder) -> None:
    """Keys and values of earlier tokens before the new ones."""
    for name, columns in (("K", d_k), ("V", d_v)):
        past = b.given(f"{name}_past", p, columns, f"cached {_ROLES[name][0]}s", GROUP)
        why = f"The {_ROLES[name][0]}s of earlier tokens are kept, not computed again."
        b.step(f"{name}_cached", Stacked(past, b.made(name)), "append", why,
               "Shazeer 2019, section 2.4", GROUP)  # fmt: skip


def _rotated(b: Builder) -> None:
    """Queries and keys turned by their positions."""
    from symattn.nodes.encodings import Rotary

    assert b.plan.positions is not None
    options = dict(b.plan.positions[1])
    why = "Each pair of columns is turned by its own angle {theta_t}, once for every position."
    source = Rotary.source
    starts = options.pop("start", 0)
    later = starts + p if b.plan.cache else starts
    keys = b.made("K_cached", "K", "Q")
    queries = b.made("Q")
    b.step("Q_rotated", Rotary(queries, start=later, **options), "rotation", why, source)
    if keys != queries:
        b.step("K_rotated", Rotary(keys, start=starts, **options), "rotation", why, source, GROUP)
