"""From queries and keys to weights: score, scale, soft cap, bias, mask, normalise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import GROUP, QUERY, SHARED, Builder, Choice
from symattn.attention.plan import PER_HEAD, SHIFTED, d_a, d_model, n_clip
from symattn.attention.words import PAPER, Parameter, Word
from symattn.nodes.arguments import Learned, Setting
from symattn.nodes.entrywise import Exponential, Features, SoftCap
from symattn.nodes.heads import Head
from symattn.nodes.lines import LineDifference, LineQuotient, LineSum, PlusVector, UnitVectors
from symattn.nodes.masks import Allowed, Masked, VisibleScores, mask_of, reason_of
from symattn.nodes.normalise import NORMALISERS, Normaliser, RowMax
from symattn.nodes.scale import PowerTimes, Quotient
from symattn.nodes.scores import Additive, Distance
from symattn.step import HEAD


def weights(b: Builder) -> None:
    """All steps from the compared vectors to the weights, in the settled order."""
    query, key = _compared(b)
    score = SCORES[b.plan.score]
    weights = b.parameters(score.parameters, query.shape[1], key.shape[1])
    logits = score.steps(b, query, key, *weights)
    for stage in (_scaled, _capped, _biased, _masked):
        logits = stage(b, logits)
    _normalised(b, logits)


def _compared(b: Builder) -> tuple[MatrixExpr, MatrixExpr]:
    """The query and key matrices that are scored, keys as head i uses them."""
    query = b.first("Q_joined", "Q_rotated", "Q_absorbed", "Q", "placed", "X")
    names: tuple[str, ...] = ("K_joined", "K_rotated", "K_cached", "K", "placed", "X")
    tied = b.plan.tie == "query-key"
    if tied:
        names = ("K_joined", "K_rotated", "K_cached", "Q_rotated", "Q")
    elif b.plan.absorbed:
        names = ("K_joined", "latent_cached", "latent")
    key = b.first(*names)
    if b.plan.feature_map is not None:
        kind = b.plan.feature_map
        query, key = _each(b, "features", query, key, lambda matrix: Features(matrix, kind))
    if b.plan.scales_both:
        width, root = b.plan.width, sympy.Rational(-1, 4)
        query, key = _each(b, "scaled", query, key, lambda matrix: PowerTimes(matrix, width, root))
    return query, key if tied else b.of(key)  # a head's own queries are its keys


def _each(
    b: Builder,
    name: str,
    query: MatrixExpr,
    key: MatrixExpr,
    node: Callable[[MatrixExpr], MatrixExpr],
) -> tuple[MatrixExpr, MatrixExpr]:
    """The same done to queries and, for its own reason, to keys; once, where they are one."""
    groups = QUERY if b.plan.tie == "query-key" else GROUP
    one = b.step(f"Q_{name}", node(query), kind=QUERY if isinstance(query, Head) else SHARED)
    if key == query:
        return one, one
    return one, b.step(f"K_{name}", node(key), kind=groups if isinstance(key, Head) else SHARED)


def _dot(b: Builder, query: MatrixExpr, key: MatrixExpr) -> MatrixExpr:
    why = "Each query is compared with each key: their dot product is the score."
    return b.step("scores", query * key.T, because=why, source=f"{PAPER}3.2.1")


def _cosine(b: Builder, query: MatrixExpr, key: MatrixExpr) -> MatrixExpr:
    one, other = b.step("Q_unit", UnitVectors(query)), b.step("K_unit", UnitVectors(key))
    why = "Each query is compared with each key: the score is the cosine of the angle between them."
    return b.step("scores", one * other.T, because=why, source=b.steps[-1].source)


def _general(b: Builder, query: MatrixExpr, key: MatrixExpr, table: MatrixExpr) -> MatrixExpr:
    why = "A learned matrix weights each product of a query feature with a key feature."
    source = "Luong, Pham, Manning 2015, section 3.1 (general)"
    return b.step("scores", query * table * key.T, because=why, source=source)


def _additive(
    b: Builder,
    query: MatrixExpr,
    key: MatrixExpr,
    left: MatrixExpr,
    right: MatrixExpr,
    vector: MatrixExpr,
) -> MatrixExpr:
    one, other = b.step("Q_hidden", query * left), b.step("K_hidden", key * right)
    why = "A small network with one hidden layer scores each pair of query and key."
    return b.step("scores", Additive(one, other, vector), "additive score", why)


def _distance(b: Builder, query: MatrixExpr, key: MatrixExpr) -> MatrixExpr:
    why = "The score is minus the squared distance: the nearer the key, the higher its score."
    return b.step("scores", Distance(query, key), "squared distance", why)


def _shaw(b: Builder, query: MatrixExpr, key: MatrixExpr, table: MatrixExpr) -> MatrixExpr:
    """A learned key for each distance up to k: q_i · (k_j + a_ij), Shaw et al. 2018, section 3."""
    from symattn.nodes.relative import ClippedShift

    content, distance = _two_terms(b, query, key, table, ClippedShift.source)
    why = (
        "The score for the distance is added to the score for the content; distances are "
        "clipped to the range from {−n_clip} to {n_clip}."
    )
    placed = ClippedShift(distance, key.shape[0], b.start)
    return b.step("scores", sympy.MatAdd(content, placed), "sum", why, ClippedShift.source)


def _transformer_xl(
    b: Builder,
    query: MatrixExpr,
    key: MatrixExpr,
    wide: MatrixExpr,
    of_words: MatrixExpr,
    of_distances: MatrixExpr,
) -> MatrixExpr:
    """q_i·k_j + q_i·r_{i−j} + u·k_j + v·r_{i−j}, Dai et al. 2019, section 3.3, terms (a) to (d)."""
    from symattn.nodes.positions import Sinusoidal
    from symattn.nodes.relative import RelativeShift

    source = _DAI
    rows, columns = query.shape[0], key.shape[0]
    waves = Sinusoidal(rows + columns - 1, d_model, start=b.start + 1 - columns)
    far = b.step("distance_keys", b.step("distances", waves, source=source, kind=SHARED) * wide)
    content, distance = _two_terms(b, query, key, far, source)
    word = b.step("content_bias", of_words * key.T)
    place = b.step("distance_bias", of_distances * far.T)
    why = (
        "The four terms are added; the two distance terms of a query and a key are those "
        "for the distance between them."
    )
    shifted = RelativeShift(PlusVector(distance, place), columns)
    terms = sympy.MatAdd(PlusVector(content, word), shifted)
    return b.step("scores", terms, "sum", why, source)


def _two_terms(
    b: Builder, query: MatrixExpr, key: MatrixExpr, far: MatrixExpr, source: str
) -> tuple[MatrixExpr, MatrixExpr]:
    """Each query with each key, and with the key of each distance."""
    content = b.step("by_content", query * key.T, source=source)
    return content, b.step("by_distance", query * far.T, source=source)


@dataclass(frozen=True)
class Score(Choice):
    """A row of the score axis: its steps are given queries and keys, a parameter their widths.

    `unscaled` is why scaling queries and keys would not scale the scores; empty where it does.
    """

    unscaled: str = ""


_DAI = "Dai et al. 2019, section 3.3"

_BY_TERMS = (
    Word(
        "by_content",
        "S_a",
        title="scores by content",
        rule="matrix product",
        why="Each query is compared with each key: their dot product is the score.",
    ),
    Word(
        "by_distance",
        "S_b",
        title="scores by distance",
        rule="matrix product",
        why="Each query is also compared with the key of each distance.",
    ),
)
_KEYS_OF_DISTANCES = "distances have keys of their own, which scaling both would leave unscaled"

#: The choices of the score axis.
SCORES: Mapping[str, Score] = {
    "dot": Score(_dot),
    "cosine": Score(
        _cosine,
        makes=(
            Word(
                "Q_unit",
                "Q_u",
                title="queries of length 1",
                rule="unit vectors",
                why="The dot product of vectors of length 1 is the cosine of the angle between "
                "them.",
            ),
            Word(
                "K_unit",
                "K_u",
                title="keys of length 1",
                rule="unit vectors",
                why="The keys are scaled to length 1 too.",
            ),
        ),
        unscaled="a cosine does not depend on the lengths of queries and keys",
    ),
    "general": Score(
        _general,
        (
            Parameter(
                "W_S", "W_S", "matrix between queries and keys", lambda query, key: (query, key)
            ),
        ),
    ),
    "additive": Score(
        _additive,
        (
            Parameter(
                "W_a",
                "W_a",
                "matrix that projects queries to the hidden layer",
                lambda query, key: (query, d_a),
            ),
            Parameter(
                "U_a",
                "U_a",
                "matrix that projects keys to the hidden layer",
                lambda query, key: (key, d_a),
            ),
            Parameter("v_a", "lambda_a", "weight vector of the hidden layer", lambda *_: (d_a, 1)),
        ),
        (
            Word(
                "Q_hidden",
                "Q_a",
                title="hidden queries",
                rule="projection",
                why="The queries are projected to the width of the hidden layer.",
                source=Additive.source,
            ),
            Word(
                "K_hidden",
                "K_a",
                title="hidden keys",
                rule="projection",
                why="The keys are projected to the same width.",
                source=Additive.source,
            ),
        ),
        unscaled=(
            "an additive score is not a product of query and key, so scaling both does not scale it"
        ),
    ),
    "distance": Score(_distance),
    "shaw": Score(
        _shaw,
        (
            Parameter(
                "distance_keys",
                "K_d",
                "a key for each distance",
                lambda query, key: (2 * n_clip + 1, query),
                title="keys of the distances",
            ),
        ),
        _BY_TERMS,
        unscaled=_KEYS_OF_DISTANCES,
    ),
    "transformer-xl": Score(
        _transformer_xl,
        (
            Parameter(
                "W_R",
                "W_R",
                "projection matrix of the distances",
                lambda query, key: (d_model, query),
            ),
            Parameter("u_c", "u_c", "content bias, for all queries", lambda query, key: (1, query)),
            Parameter(
                "v_d",
                "u_d",
                "distance bias, for all queries",
                lambda query, key: (1, query),
            ),
        ),
        (
            Word(
                "distances",
                "R_d",
                title="vectors of the distances",
                learned=True,
                shared=True,
                rule="position encoding",
                why="Each distance from a query back to a key is encoded by sines and cosines; if "
                "it is negative, the key comes after the query.",
            ),
            Word(
                "distance_keys",
                "K_d",
                title="keys of the distances",
                learned=True,
                rule="projection",
                why="A separate projection matrix gives each distance a key of its own.",
                source=_DAI,
            ),
            *_BY_TERMS,
            Word(
                "content_bias",
                "S_c",
                title="bias of the content",
                rule="matrix product",
                why="This term depends on the key's content, not on the query.",
                source=f"{_DAI}, term (c)",
            ),
            Word(
                "distance_bias",
                "S_d",
                title="bias of the distances",
                rule="matrix product",
                why="This term depends on the distance, not on the query.",
                source=f"{_DAI}, term (d)",
            ),
        ),
        unscaled=_KEYS_OF_DISTANCES,
    ),
}


def _scaled(b: Builder, logits: MatrixExpr) -> MatrixExpr:
    scale = b.plan.scale
    if scale is None or b.plan.scales_both:
        return logits
    usual, source = scale == 1 / sympy.sqrt(b.plan.width), f"{PAPER}3.2.1"
    if usual and b.plan.decoupled:
        source = "DeepSeek-AI, DeepSeek-V2 (2024), eq. 18"
    inverse = 1 / scale
    by_root = not isinstance(scale, sympy.Rational) and sympy.fraction(inverse)[1] == 1
    expr = Quotient(logits, inverse) if by_root else scale * logits
    why = ""
    if usual and b.plan.score == "dot" and b.plan.feature_map is None:
        width = b.plan.width
        root = f"{{√({width})}}, the width of the joined vectors," if b.plan.decoupled else ""
        why = "If the entries of queries and keys are independent with mean 0 and variance 1, "
        why += f"dividing by {root or f'{{√{width}}}'} gives the scores variance 1"
        why += "." if b.plan.decoupled else f", whatever {{{width}}} is."
    return b.step("scaled", expr, because=why, source=source)


def _capped(b: Builder, logits: MatrixExpr) -> MatrixExpr:
    if b.plan.soft_cap is None:
        return logits
    return b.step("capped", SoftCap(logits, b.plan.soft_cap))


def _biased(b: Builder, logits: MatrixExpr) -> MatrixExpr:
    if b.plan.bias is None:
        return logits
    name, options = b.plan.bias[0], dict(b.plan.bias[1])
    row = BIASES[name]
    bias = row.steps(b, *logits.shape, options, *b.parameters(row.parameters, options))
    made = (step.source for step in b.steps if step.name == "bias")
    source = next(made, "ONNX, operator Attention, input attn_mask")
    return b.step("biased", sympy.MatAdd(logits, bias), source=source)


def _given_bias(
    b: Builder, rows: sympy.Expr, columns: sympy.Expr, options: dict[str, Setting]
) -> MatrixExpr:
    return b.given("bias", rows, columns, "matrix that is added to the scores", QUERY)


def _alibi(
    b: Builder, rows: sympy.Expr, columns: sympy.Expr, options: dict[str, Setting]
) -> MatrixExpr:
    from symattn.nodes.biases import ALiBi

    index = None if b.plan.heads is None else HEAD
    node = ALiBi(rows, columns, b.count, index, start=b.start, **options)
    return b.step("bias", node, "linear bias")


def _relative(
    b: Builder,
    rows: sympy.Expr,
    columns: sympy.Expr,
    options: dict[str, Setting],
    table: MatrixExpr,
) -> MatrixExpr:
    from symattn.nodes.biases import RelativeBias

    node = RelativeBias(rows, columns, table, start=b.start, **options)
    why = node.reason
    if b.plan.heads is not None:
        why = f"In each head, {why[0].lower()}{why[1:]}"
    return b.step("bias", node, "relative bias", why)


def _buckets(options: Mapping[str, Setting]) -> tuple[int, int]:
    """The shape of the table of T5's buckets, or of one number for each distance."""
    clip = options.get("clip")
    return options.get("buckets", 32) if clip is None else 2 * clip + 1, 1


#: The choices of the bias axis; steps and parameters are given the options.
BIASES: Mapping[str, Choice] = {
    "given": Choice(_given_bias),
    "alibi": Choice(_alibi, options=("symmetric",)),
    "relative": Choice(
        _relative,
        (
            Parameter(
                "table",
                "gamma",
                "a number for each bucket of distances",
                _buckets,
                title="biases of the buckets",
            ),
        ),
        options=("buckets", "max_distance", "bidirectional", "clip"),
    ),
}


def _masked(b: Builder, logits: MatrixExpr) -> MatrixExpr:
    if not b.plan.mask:
        return logits
    additive = NORMALISERS[b.plan.normaliser].additive_mask
    parts = [_mask(b, logits, name, value) for name, value in b.plan.mask]
    total = parts[0] if len(parts) == 1 else sympy.MatAdd(*parts)
    if not any(name == "additive" for name, _ in b.plan.mask):
        source = next((getattr(part, "source", "") for part in parts), "")
        kind = QUERY if total.has(Head) else SHARED
        source = source or f"{PAPER}3.2.3"
        total = b.step("mask", total, because=reason_of(total), source=source, kind=kind)
    if additive:
        why = "A score of {−∞} gets weight 0, so a masked-out key has no effect."
        if any(name == "additive" for name, _ in b.plan.mask):
            why = f"The entries of {{M}} are added to the scores. {why}"
        return b.step("masked", Masked(logits, total), because=why)
    why = "A masked score is set to 0, so a masked-out key has no effect."
    return b.step("masked", VisibleScores(logits, total), because=why)


def _mask(b: Builder, logits: MatrixExpr, name: str, value: Setting) -> MatrixExpr:
    rows, columns = logits.shape
    kind = QUERY if value == PER_HEAD else SHARED
    if name == "additive":
        return b.given("mask", rows, columns, "matrix that is added to the scores", kind)
    if name == "boolean":
        return Allowed(
            b.given(
                "allowed",
                rows,
                columns,
                "matrix whose entry is 1 where the query may attend to the key",
                kind,
            )
        )
    return mask_of(name, rows, columns, value, b.start)


def _normalised(b: Builder, logits: MatrixExpr) -> None:
    normaliser = NORMALISERS[b.plan.normaliser]
    if b.plan.unfold:
        if b.plan.unfold == SHIFTED:
            logits = LineDifference(logits, b.step("row_max", RowMax(logits)))
        powers = b.step("exp", Exponential(logits))
        sums = b.step("exp_sum", LineSum(powers))
        why = "Dividing by the sum makes each query's weights sum to 1."
        b.step("weights", LineQuotient(powers, sums), "row quotient", why)
        return
    b.step("weights", normaliser(logits, *b.parameters(parameters_of(normaliser))))


def parameters_of(normaliser: type[Normaliser]) -> Iterable[Parameter]:
    """What is learned of a normaliser: the arguments that its node declares so."""
    for one in normaliser.arguments:
        if isinstance(one, Learned):
            yield Parameter(one.name, one.letter, one.meaning, lambda shape=one.shape: shape)
