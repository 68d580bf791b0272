"""From queries and keys to weights: score, scale, soft cap, bias, mask, normalise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import QUERY, SHARED, Builder, Choice, Line
from symattn.attention.plan import KEY_CHOICES, PER_HEAD, SHIFTED, d_a, d_model, n_clip
from symattn.attention.words import PAPER, Word
from symattn.nodes.arguments import Learned, Setting
from symattn.nodes.base import shape_of
from symattn.nodes.biases import ALiBi, RelativeBias
from symattn.nodes.entrywise import Exponential, Features, SoftCap
from symattn.nodes.heads import head_of, heads_in
from symattn.nodes.lines import LineDifference, LineQuotient, LineSum, UnitVectors
from symattn.nodes.masks import Allowed, Masked, TopK, mask_of, reason_of
from symattn.nodes.normalise import NORMALISERS, Normaliser, RowMax
from symattn.nodes.positions import Sinusoidal
from symattn.nodes.relative import ClippedShift, RelativeShift
from symattn.nodes.scale import PowerTimes, Quotient
from symattn.nodes.scores import Additive, Distance
from symattn.step import HEAD


def weights(b: Builder) -> None:
    """All steps from the compared vectors to the weights, in the settled order."""
    if b.plan.feature_map is not None:
        kind = b.plan.feature_map
        _each(b, "features", lambda matrix: Features(matrix, kind))
    if b.plan.scales_both:
        width, root = b.plan.width, sympy.Rational(-1, 4)
        _each(b, "scaled", lambda matrix: PowerTimes(matrix, width, root))
    b.take(SCORES[b.plan.score].lines)
    _scaled(b)
    b.take(_CAPPED)
    if b.plan.bias is not None:
        b.take(BIASES[b.plan.bias[0]].lines)
    _masked(b)
    _normalised(b)


def _each(b: Builder, name: str, node: Callable[[MatrixExpr], MatrixExpr]) -> None:
    """The same done to queries and, for its own reason, to keys; once, where they are one."""
    query, key = b.first("query"), b.first("key")
    b.step(f"Q_{name}", node(query), kind=SHARED if head_of(query) is None else QUERY)
    if key != query:
        b.step(f"K_{name}", node(key))


def _clipped(b: Builder, content: MatrixExpr, distance: MatrixExpr) -> MatrixExpr:
    return sympy.MatAdd(content, ClippedShift(distance, content.shape[1], b.start))


def _shifted(b: Builder, content: MatrixExpr, distance: MatrixExpr) -> MatrixExpr:
    return sympy.MatAdd(content, RelativeShift(distance, content.shape[1]))


def _distances(b: Builder, query: MatrixExpr, key: MatrixExpr) -> MatrixExpr:
    rows, columns = query.shape[0], key.shape[0]
    return Sinusoidal(rows + columns - 1, d_model, start=b.start + 1 - columns)


def _soft_cap(b: Builder, logits: MatrixExpr) -> MatrixExpr:
    return SoftCap(logits, b.plan.soft_cap)


_CAPPED = (Line("capped", "logits", when="soft-cap", node=_soft_cap),)


@dataclass(frozen=True)
class Score(Choice):
    """A row of the score axis: the steps from queries and keys to scores.

    `unscaled` is why scaling queries and keys would not scale the scores; empty where it does.
    """

    unscaled: str = ""


_DAI = "Dai et al. 2019, section 3.3"
_SHAW = ClippedShift.source

_COMPARED = "Each query is compared with each key: their dot product is the score."
_BY_TERMS = (
    Word(
        "by_content",
        "S_a",
        title="scores by content",
        rule="matrix product",
        why=_COMPARED,
    ),
    Word(
        "by_distance",
        "S_b",
        title="scores by distance",
        rule="matrix product",
        why="Each query is also compared with the key of each distance.",
    ),
)
_DISTANCE_KEYS = Word(
    "distance_keys",
    "K_d",
    "a key for each distance",
    title="keys of the distances",
    learned=True,
    rule="projection",
    why="A separate projection matrix gives each distance a key of its own.",
    source=_DAI,
    rows=lambda _: 2 * n_clip + 1,  # the first sum of symbols has SymPy load its tensors
    columns="query.columns",
)
_KEYS_OF_DISTANCES = "distances have keys of their own, which scaling both would leave unscaled"

#: The choices of the score axis.
SCORES: Mapping[str, Score] = {
    "dot": Score((Line("scores", "query key^T", why=_COMPARED, source=f"{PAPER}3.2.1"),)),
    "cosine": Score(
        (
            Line("Q_unit", "query", node=UnitVectors),
            Line("K_unit", "key", node=UnitVectors),
            Line(
                "scores",
                "Q_unit K_unit^T",
                why="Each query is compared with each key: the score is the cosine of the angle "
                "between them.",
                source=UnitVectors.source,
            ),
        ),
        (
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
        (
            Line(
                "scores",
                "query W_S key^T",
                why="A learned matrix weights each product of a query feature with a key feature.",
                source="Luong, Pham, Manning 2015, section 3.1 (general)",
            ),
        ),
        (
            Word(
                "W_S",
                "W_S",
                "matrix between queries and keys",
                learned=True,
                rows="query.columns",
                columns="key.columns",
            ),
        ),
    ),
    "additive": Score(
        (
            Line("Q_hidden", "query W_a"),
            Line("K_hidden", "key U_a"),
            Line(
                "scores",
                "Q_hidden, K_hidden, v_a",
                node=Additive,
                why="A small network with one hidden layer scores each pair of query and key.",
                rule="additive score",
            ),
        ),
        (
            Word(
                "W_a",
                "W_a",
                "matrix that projects queries to the hidden layer",
                learned=True,
                rows="query.columns",
                columns=d_a,
            ),
            Word(
                "U_a",
                "U_a",
                "matrix that projects keys to the hidden layer",
                learned=True,
                rows="key.columns",
                columns=d_a,
            ),
            Word(
                "v_a",
                "lambda_a",
                "weight vector of the hidden layer",
                learned=True,
                rows=d_a,
                columns=1,
            ),
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
    "distance": Score(
        (
            Line(
                "scores",
                "query, key",
                node=Distance,
                why="The score is minus the squared distance: the nearer the key, the higher its "
                "score.",
                rule="squared distance",
            ),
        )
    ),
    # A learned key for each distance up to k: q_i · (k_j + a_ij), Shaw et al. 2018, section 3.
    "shaw": Score(
        (
            Line("by_content", "query key^T", source=_SHAW),
            Line("by_distance", "query distance_keys^T", source=_SHAW),
            Line(
                "scores",
                "by_content, by_distance",
                node=_clipped,
                why="The score for the distance is added to the score for the content; distances "
                "are clipped to the range from {−n_clip} to {n_clip}.",
                source=_SHAW,
                rule="sum",
            ),
        ),
        (_DISTANCE_KEYS, *_BY_TERMS),
        unscaled=_KEYS_OF_DISTANCES,
    ),
    # q_i·k_j + q_i·r_{i−j} + u·k_j + v·r_{i−j}, Dai et al. 2019, section 3.3, terms (a) to (d).
    "transformer-xl": Score(
        (
            Line("distances", "query, key", node=_distances, source=_DAI),
            Line("distance_keys", "distances W_R"),
            Line("by_content", "query key^T", source=_DAI),
            Line("by_distance", "query distance_keys^T", source=_DAI),
            Line("content_bias", "u_c key^T"),
            Line("distance_bias", "v_d distance_keys^T"),
            Line(
                "scores",
                "by_content + content_bias, by_distance + distance_bias",
                node=_shifted,
                why="The four terms are added; the two distance terms of a query and a key are "
                "those for the distance between them.",
                source=_DAI,
                rule="sum",
            ),
        ),
        (
            Word(
                "W_R",
                "W_R",
                "projection matrix of the distances",
                learned=True,
                columns="query.columns",
                rows=d_model,
            ),
            Word(
                "u_c",
                "u_c",
                "content bias, for all queries",
                learned=True,
                rows=1,
                columns="query.columns",
            ),
            Word(
                "v_d",
                "u_d",
                "distance bias, for all queries",
                learned=True,
                rows=1,
                columns="query.columns",
            ),
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
            _DISTANCE_KEYS,
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


def _scaled(b: Builder) -> None:
    scale = b.plan.scale
    if scale is None or b.plan.scales_both:
        return
    usual, source = scale == 1 / sympy.sqrt(b.plan.width), f"{PAPER}3.2.1"
    if usual and b.plan.decoupled:
        source = "DeepSeek-AI, DeepSeek-V2 (2024), eq. 18"
    inverse, logits = 1 / scale, b.first("logits")
    by_root = not isinstance(scale, sympy.Rational) and sympy.fraction(inverse)[1] == 1
    expr = Quotient(logits, inverse) if by_root else scale * logits
    why = ""
    if usual and b.plan.score == "dot" and b.plan.feature_map is None:
        width = b.plan.width
        root = f"{{√({width})}}, the width of the joined vectors," if b.plan.decoupled else ""
        why = "If the entries of queries and keys are independent with mean 0 and variance 1, "
        why += f"dividing by {root or f'{{√{width}}}'} gives the scores variance 1"
        why += "." if b.plan.decoupled else f", whatever {{{width}}} is."
    b.step("scaled", expr, why, source)


def _alibi(b: Builder) -> MatrixExpr:
    index = None if b.plan.heads is None else HEAD
    shape = shape_of(b.first("logits"))
    return ALiBi(*shape, b.count, index, start=b.start, **b.options("bias"))


def _relative(b: Builder) -> MatrixExpr:
    """T5's buckets, or one number for each distance."""
    options = b.options("bias")
    clip = options.get("clip")
    table = b.given("table", rows=options.get("buckets", 32) if clip is None else 2 * clip + 1)
    return RelativeBias(*shape_of(b.first("logits")), table, start=b.start, **options)


def _biased(source: str) -> Line:
    return Line("biased", "logits + bias", source=source)


#: The choices of the bias axis.
BIASES: Mapping[str, Choice] = {
    "given": Choice((_biased("ONNX, operator Attention, input attn_mask"),)),
    "alibi": Choice(
        (Line("bias", node=_alibi, rule="linear bias"), _biased(ALiBi.source)),
        options=("symmetric",),
    ),
    "relative": Choice(
        (
            Line("bias", when="-heads", node=_relative, rule="relative bias"),
            Line(
                "bias",
                when="heads",
                node=_relative,
                why=f"In each head, t{RelativeBias.reason[1:]}",
                rule="relative bias",
            ),
            _biased(RelativeBias.source),
        ),
        (
            Word(
                "table",
                "gamma",
                "a number for each bucket of distances",
                title="biases of the buckets",
                learned=True,
                columns=1,
            ),
        ),
        ("buckets", "max_distance", "bidirectional", "clip"),
    ),
}


def _masked(b: Builder) -> None:
    logits, normaliser = b.first("logits"), NORMALISERS[b.plan.normaliser]
    masks = [(name, value) for name, value in b.plan.mask if name not in KEY_CHOICES]
    parts = [_mask(b, name, value) for name, value in masks]
    if not parts:
        return _selected(b, [])
    total = parts[0] if len(parts) == 1 else sympy.MatAdd(*parts)
    given = any(name == "additive" for name, _ in masks)
    if not given:
        source = next((getattr(part, "source", "") for part in parts), "") or f"{PAPER}3.2.3"
        kind = QUERY if heads_in(total) else SHARED
        total = b.step("mask", total, reason_of(total), source, kind=kind)
    why = "The entries of {M} are added to the scores. " if given else ""
    why += "A score of {−∞} gets weight 0, so a masked-out key has no effect."
    if not normaliser.additive_mask:
        why = "A masked score is set to 0, so a masked-out key has no effect."
    b.step("masked", normaliser.masked(logits, total), why)
    return _selected(b, [total])


def _selected(b: Builder, masks: list[MatrixExpr]) -> None:
    """Of the keys that the masks allow, those that numbers choose."""
    if b.plan.key_choice is None:
        return
    (name, count), scores = b.plan.key_choice, b.first("logits")
    by = b.first(KEY_CHOICES[name])
    normaliser = NORMALISERS[b.plan.normaliser]
    # masked scores may be 0, and are no choice
    if masks and (by != scores or not normaliser.additive_mask):
        by = Masked(by, *masks)
    why = "" if name == "top-k" else "The keys with the largest index scores are kept, no others."
    source = "" if name == "top-k" else "DeepSeek-AI, DeepSeek-V3.2 (2025), section 2.1"
    kind = QUERY if heads_in(by) else SHARED
    choice = b.step("choice", TopK(by, count), why, source, kind=kind)
    b.step("selected", normaliser.masked(scores, choice))


def _mask(b: Builder, name: str, value: Setting) -> MatrixExpr:
    kind = QUERY if value == PER_HEAD else SHARED
    if name == "additive":
        return b.given("mask", kind)
    if name == "boolean":
        return Allowed(b.given("allowed", kind))
    return mask_of(name, *shape_of(b.first("logits")), value, b.start)


def _normalised(b: Builder) -> None:
    normaliser, logits = NORMALISERS[b.plan.normaliser], b.first("logits")
    if not b.plan.unfold:
        learned = (b.given(word.name) for word in learned_of(normaliser))
        b.step("weights", normaliser(logits, *learned))
        return
    if b.plan.unfold == SHIFTED:
        logits = LineDifference(logits, b.step("row_max", RowMax(logits)))
    powers = b.step("exp", Exponential(logits))
    sums = b.step("exp_sum", LineSum(powers))
    why = "Dividing by the sum makes each query's weights sum to 1."
    b.step("weights", LineQuotient(powers, sums), why, rule="row quotient")


def learned_of(normaliser: type[Normaliser]) -> Iterable[Word]:
    """What is learned of a normaliser: the arguments that its node declares so."""
    for one in normaliser.arguments:
        if isinstance(one, Learned):
            rows, columns = one.shape
            yield Word(one.name, one.letter, one.meaning, learned=True, rows=rows, columns=columns)
