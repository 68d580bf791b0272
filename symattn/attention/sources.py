"""Where queries, keys and values come from: given, projected, positioned, cached."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention import rope
from symattn.attention.builder import Builder, Choice, Line
from symattn.attention.norms import norm_lines
from symattn.attention.plan import STEPWISE, d_model, n
from symattn.attention.words import PAPER, Word
from symattn.nodes.heads import Stacked
from symattn.nodes.positions import Rotary, Sinusoidal


def _beside(b: Builder, one: MatrixExpr, other: MatrixExpr) -> MatrixExpr:
    """Content and position side by side: DeepSeek-V2 eq. 16 and 17."""
    return Stacked(one, other, 1)


def _sinusoidal(b: Builder) -> MatrixExpr:
    options = b.options("positions")
    options.pop("values", None)
    return Sinusoidal(n, d_model, start=options.pop("start", 0) + b.start, **options)


def _turned(b: Builder, matrix: MatrixExpr, first: sympy.Expr = sympy.S.Zero) -> MatrixExpr:
    """Keys turned by their positions, or queries, the first of which has position `first`."""
    options = dict(b.plan.rotary or {})
    return Rotary(matrix, start=options.pop("start", 0) + first, **options)


def _turned_query(b: Builder, matrix: MatrixExpr) -> MatrixExpr:
    return _turned(b, matrix, b.start)


#: Everything up to the queries, keys and values that are compared. The latent C_KV is DeepSeek-V2
#: eq. 9, q kᵀ = q (c W_K)ᵀ = (q W_Kᵀ) cᵀ follows eq. 11; the position parts are eq. 14 and 15.
SOURCE_LINES: tuple[Line, ...] = (
    Line("Q", when="given"),
    Line("K", when="given"),
    Line("V", when="given -value-is-key"),
    Line("X", "one_hot E", when="embedded"),
    Line("X", when="-given -embedded"),
    Line(
        "positions",
        when="sinusoidal",
        node=_sinusoidal,
        why="Sines and cosines of many wavelengths give each position its own vector.",
        source=f"{PAPER}3.5",
        rule="position encoding",
    ),
    Line("placed", "X + positions", when="added"),
    Line("memory", when="memory"),
    Line("memory_V", when="separate"),
    Line("Q_latent", "tokens W_DQ", when="query-latent"),
    *norm_lines("Q_latent", "Q_latent"),
    Line("Q", "tokens W_Q + b_Q", when="projected"),
    *norm_lines("Q", "Q"),
    Line("latent", "memory W_D", when="latent"),
    Line("latent_cached", "latent_past, latent", when="latent cache", node=Stacked),
    *norm_lines("latent", "own_latent"),
    Line("W_K", when="absorbed"),
    Line("W_V", when="absorbed -value-is-key"),
    Line("Q_absorbed", "own_query W_K^T", when="absorbed"),
    Line("K", "memory W_K + b_K", when="projected -absorbed -key-is-query"),
    Line("V", "value_memory W_V + b_V", when="projected -absorbed -value-is-key"),
    Line("Q_position", "tokens W_QR", when="decoupled"),
    Line("K_position", "second W_KR", when="decoupled"),
    Line("K_position_cached", "K_position_past, K_position", when="decoupled cache", node=Stacked),
    Line("K_cached", "K_past, new_key", when="cache -latent", node=Stacked),
    Line("V_cached", "V_past, V", when="cache -latent -value-is-key", node=Stacked),
    *norm_lines("K", "own_key"),
    *norm_lines("V", "values"),
    Line("Q_rotated", "turned_query", when="whole", node=_turned_query),
    Line("K_rotated", "turned_key", when="whole turned-key", node=_turned),
    Line("frequencies", when="angles frequencies-given"),
    Line("frequencies", when="angles -frequencies-given", node=rope.frequencies),
    Line("kept_share", when="angles ramp", node=rope.kept),
    Line("divisors", when="angles divisors", node=rope.divisors),
    Line("frequencies_scaled", when="angles scaling -proportional", node=rope.scaled),
    Line(
        "frequencies_scaled",
        when="angles proportional",
        node=rope.scaled,
        why="The slow pairs do not turn at all, so they compare contents whatever the positions.",
        source="Barbero et al., Round and Round We Go (2024), section 6",
    ),
    Line("frequencies_axes", when="angles axes -frequencies-given", node=rope.of_axes),
    Line("position_ids", when="angles ids"),
    Line("position_ids", when="angles -ids", node=rope.query_positions),
    Line("query_angles", "position_ids, all_axes", when="angles", node=sympy.MatMul),
    Line("key_position_ids", when="angles ids apart"),
    Line("key_position_ids", when="angles -ids apart", node=rope.key_positions),
    Line("key_angles", "key_position_ids, all_axes", when="angles apart", node=sympy.MatMul),
    Line("query_cos", when="caches"),
    Line("query_sin", when="caches"),
    Line("key_cos", when="caches apart"),
    Line("key_sin", when="caches apart"),
    Line("Q_rotated", "turned_query", when="stepwise", node=rope.turned_query),
    Line("K_rotated", "turned_key", when="stepwise turned-key", node=rope.turned_key),
    Line("Q_joined", "content_query, Q_rotated", when="decoupled", node=_beside),
    Line("K_joined", "content_key, K_rotated", when="decoupled", node=_beside),
    *norm_lines("Q", "query", rotated=True),
    *norm_lines("K", "key", rotated=True),
)

#: The choices of the positions axis. Rotary positions turn queries and keys; what the others make
#: is added to the token vectors.
POSITIONS: Mapping[str, Choice] = {
    "sinusoidal": Choice(options=("base", "start", "values")),
    "learned": Choice(options=("values",)),
    "rotary": Choice(
        words=(
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
                grouped=True,
                rule="rotation",
                why="The keys are rotated in the same way, so only differences of positions "
                "matter.",
            ),
            *rope.WORDS,
        ),
        options=("pairing", "base", "dims", "start", "decoupled", *sorted(STEPWISE)),
        reads=rope.READS,
        check=rope.check,
    ),
}
