"""Where queries, keys and values come from: given, projected, positioned, cached."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import GROUP, QUERY, SHARED, Builder, Choice
from symattn.attention.plan import d_c, d_cq, d_k, d_mem, d_model, d_r, d_v, m, n, n_vocab, p
from symattn.attention.words import PAPER, Word
from symattn.nodes.arguments import Setting
from symattn.nodes.heads import Stacked
from symattn.nodes.lines import PlusVector

_ROLES = {"Q": "query", "K": "key", "V": "value"}


def sources(b: Builder) -> None:
    """Everything up to the queries, keys and values that are compared."""
    if b.plan.source == "given":
        b.given("Q", n, d_k, "queries, one for each token", QUERY)
        b.given("K", m, d_k, "keys, one for each token", GROUP)
        if b.plan.tie != "key-value":
            b.given("V", m, d_v, "values, one for each token", GROUP)
    else:
        _projected(b)
    if b.plan.cache and not b.plan.latent:
        _cached(b, "K", d_k)
        if b.plan.tie != "key-value":
            _cached(b, "V", d_v)
    if b.plan.rotary is not None:
        POSITIONS["rotary"].steps(b, b.plan.rotary)
    if b.plan.decoupled:
        _joined(b)


def _projected(b: Builder) -> None:
    x = _placed(b, _words(b))
    memory, width = x, d_model
    if b.plan.source == "cross":
        memory, width = (
            b.given("memory", m, d_mem, "token vectors of a second sequence, one for each token"),
            d_mem,
        )
    if b.plan.source == "bare":
        return
    tokens, of_tokens, of_x = memory, width, d_model
    if b.plan.query_latent:
        down = b.given(
            "W_DQ",
            d_model,
            d_cq,
            "down-projection matrix, which maps tokens to the latent vectors of the queries",
        )
        x = b.step("Q_latent", x * down, kind=SHARED)
        of_x = d_cq
    _project(b, "Q", x, of_x, d_k, QUERY)
    if b.plan.latent:
        memory, width = _latent(b, memory, width), d_c
    if b.plan.absorbed:
        _absorbed(b)
    else:
        _keys_and_values(b, memory, width)
    if b.plan.decoupled:
        _positions_apart(b, x, of_x, tokens, of_tokens)


def _keys_and_values(b: Builder, memory: MatrixExpr, width: sympy.Expr) -> None:
    if b.plan.tie != "query-key":
        _project(b, "K", memory, width, d_k, GROUP)
    if b.plan.tie != "key-value":
        _project(b, "V", memory, width, d_v, GROUP)


def _latent(b: Builder, memory: MatrixExpr, width: sympy.Expr) -> MatrixExpr:
    """The latent C_KV that keys and values are made of, DeepSeek-V2 eq. 9; it is the cache."""
    down = b.given("W_D", width, d_c, "down-projection matrix, which maps tokens to latent vectors")
    latent = b.step("latent", memory * down, kind=SHARED)
    return _cached(b, "latent", d_c) if b.plan.cache else latent


def _absorbed(b: Builder) -> None:
    """The queries brought to the latent: q kᵀ = q (c W_K)ᵀ = (q W_Kᵀ) cᵀ (after eq. 11)."""
    up = b.given("W_K", d_c, d_k, "key projection matrix", GROUP)
    if b.plan.tie != "key-value":
        b.given("W_V", d_c, d_v, "value projection matrix", GROUP)
    b.step("Q_absorbed", b.first("Q") * b.of(up).T)


def _positions_apart(
    b: Builder, x: MatrixExpr, of_x: sympy.Expr, tokens: MatrixExpr, of_tokens: sympy.Expr
) -> None:
    """What is to be turned, apart from the content: DeepSeek-V2 eq. 14 and 15 before RoPE."""
    queries = x * b.given(
        "W_QR", of_x, d_r, "projection matrix of the position part of the queries", QUERY
    )
    b.step("Q_position", queries)
    keys = tokens * b.given(
        "W_KR", of_tokens, d_r, "projection matrix of the position part of the keys"
    )
    b.step("K_position", keys, kind=SHARED)
    if b.plan.cache:
        _cached(b, "K_position", d_r)


def _joined(b: Builder) -> None:
    """Content and position side by side: DeepSeek-V2 eq. 16 and 17."""
    b.step("Q_joined", Stacked(b.first("Q_absorbed", "Q"), b.first("Q_rotated"), 1))
    content = b.first(
        "K_cached", "K", *(("latent_cached", "latent") if b.plan.absorbed else ("Q",))
    )
    kind = SHARED if b.plan.absorbed else b.key_kind
    b.step("K_joined", Stacked(content, b.first("K_rotated"), 1), kind=kind)


def _words(b: Builder) -> MatrixExpr:
    """X as it is given, or looked up."""
    if not b.plan.embedded:
        return b.given("X", n, d_model, "token vectors, one for each token")
    one_hot = b.given(
        "one_hot",
        n,
        n_vocab,
        "one-hot vectors, each marking which word of the vocabulary the token is",
    )
    table = b.given("E", n_vocab, d_model, "embedding table: a vector for each word")
    return b.step("X", one_hot * table, kind=SHARED)


def _placed(b: Builder, x: MatrixExpr) -> MatrixExpr:
    """Positions added to the token vectors, where that is the scheme."""
    if b.plan.positions is None or b.plan.positions[0] == "rotary":
        return x
    name, options = b.plan.positions[0], dict(b.plan.positions[1])
    row = POSITIONS[name]
    encoding = row.steps(b, options, *b.parameters(row.parameters))
    return b.step("placed", sympy.MatAdd(x, encoding), kind=SHARED)


def _sinusoidal(b: Builder, options: dict[str, Setting]) -> MatrixExpr:
    from symattn.nodes.positions import Sinusoidal

    why = "Sines and cosines of many wavelengths give each position its own vector."
    start = options.pop("start", 0) + b.start
    node = Sinusoidal(n, d_model, start=start, **options)
    return b.step("positions", node, "position encoding", why, f"{PAPER}3.5", SHARED)


def _learned(b: Builder, options: dict[str, Setting]) -> MatrixExpr:
    return b.given("positions", n, d_model, "learned position vectors")


def _project(
    b: Builder, name: str, x: MatrixExpr, rows: sympy.Expr, columns: sympy.Expr, kind: str
) -> None:
    of = _ROLES[name]
    product = x * b.given(f"W_{name}", rows, columns, f"{of} projection matrix", kind)
    if b.plan.projection_bias:
        product = PlusVector(product, b.given(f"b_{name}", 1, columns, f"{of} bias", kind))
    b.step(name, product, kind=kind)


#: What may be cached: how it is called, and for whom there is one.
_CACHES = {
    "K": ("keys", GROUP),
    "V": ("values", GROUP),
    "latent": ("latent vectors", SHARED),
    "K_position": ("position parts of the keys", SHARED),
}


def _cached(b: Builder, name: str, columns: sympy.Expr) -> MatrixExpr:
    """What earlier tokens left, before that of the new ones."""
    called, kind = _CACHES[name]
    kind = b.key_kind if name == "K" else kind
    past = b.given(f"{name}_past", p, columns, f"cached {called}", kind)
    return b.step(f"{name}_cached", Stacked(past, b.first(name, "Q")), kind=kind)


def _rotary(b: Builder, options: dict[str, Setting]) -> None:
    """Queries and keys turned by their positions."""
    from symattn.nodes.positions import Rotary

    starts = options.pop("start", 0)
    keys = b.first("K_position_cached", "K_position", "K_cached", "K", "Q")
    queries = b.first("Q_position", "Q")
    kind = SHARED if b.plan.decoupled else b.key_kind
    b.step("Q_rotated", Rotary(queries, start=starts + b.start, **options))
    if keys != queries:
        b.step("K_rotated", Rotary(keys, start=starts, **options), kind=kind)


#: The choices of the positions axis; steps are given the options. Rotary positions turn queries
#: and keys; what the others make is added to the token vectors.
POSITIONS: Mapping[str, Choice] = {
    "sinusoidal": Choice(_sinusoidal, options=("base", "start")),
    "learned": Choice(_learned),
    "rotary": Choice(
        _rotary,
        makes=(
            Word(
                "Q_rotated",
                "Q_r",
                title="rotated queries",
                rule="rotation",
                why="Each pair of columns is rotated by the token's position times the pair's own "
                "angle {theta_t}.",
            ),
            Word(
                "K_rotated",
                "K_r",
                title="rotated keys",
                rule="rotation",
                why="The keys are rotated in the same way, so only differences of positions "
                "matter.",
            ),
        ),
        options=("pairing", "base", "dims", "start", "decoupled"),
    ),
}
