"""Misconceptions that only programs show: in floating point, and in how arrays are laid out.

A calculation by hand has exact numbers and its heads side by side, so that none of these shows in
it; arrays are compared with these rows and all others. A new one is a row at the end, and the
function above that changes the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import g, h
from symattn.mistakes.accidents import (
    BlocksAveraged,
    BlocksFilled,
    FirstHead,
    FirstHeads,
    Floored,
    HeadsMeant,
    HeadsSummed,
    HeadsTurned,
    Interlaced,
    KeysReshaped,
    LastBlockDropped,
    LoweredSoftmax,
    OverBatch,
    RowsDropped,
    SplitByColumns,
    Unrescaled,
)
from symattn.mistakes.base import (
    DOT_PRODUCT,
    REPORTED,
    Change,
    Misconception,
    Steps,
    fits,
    square,
)
from symattn.mistakes.nodes import (
    InterleavedConcat,
    Lowered,
    MaskedTo,
    MergedByReshape,
    OverHeads,
    SplitByReshape,
    UnguardedSoftmax,
)
from symattn.nodes.base import shape_of
from symattn.nodes.biases import ALiBi
from symattn.nodes.entrywise import Entrywise, Exponential, SoftCap
from symattn.nodes.heads import Concat, Head, Stacked
from symattn.nodes.lines import Filled, Lengths, LineDifference, LineQuotient, LineSum, Spread
from symattn.nodes.masks import Causal, Masked, Window
from symattn.nodes.normalise import (
    Hardmax,
    OffByOneSoftmax,
    RowMax,
    Sigmoid,
    SinkSoftmax,
    Softmax,
    Sparsemax,
)
from symattn.nodes.positions import Rotary, RotaryBack
from symattn.nodes.scale import Quotient
from symattn.nodes.scores import Distance
from symattn.step import HEAD


def _softmax(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Another way of computing the softmax, where it is one step."""

    def change(s: Steps) -> Change | None:
        whole = s.softmax is not None and "exp" not in s.steps
        return {"weights": make(s.softmax)} if whole else None

    return change


def _lowered_by(value: object) -> Callable[[Steps], Change | None]:
    """A finite number added where the mask hides, instead of −∞."""

    def change(s: Steps) -> Change | None:
        if s.mask is None:
            return None
        return {"masked": Lowered(s.before_mask, s.mask, value)}

    return change


def _scaled_afterwards(s: Steps) -> Change | None:
    """A = softmax(S)/√d_k."""
    scaled, weights = s.expr("scaled"), s.expr("weights")
    if not isinstance(scaled, Quotient) or weights is None:
        return None
    return {"scaled": scaled.args[0], "weights": Quotient(weights, scaled.args[1])}


def _over_heads(s: Steps) -> Change | None:
    """Weights that sum to 1 over the heads."""
    count = s.derivation.known_sizes.get("h", 1)
    if s.softmax is None or count == 1 or not s.softmax.has(HEAD):
        return None
    return {"weights": OverHeads(s.softmax, HEAD, sympy.Integer(count))}


def _interleaved(s: Steps) -> Change | None:
    """The heads joined entry by entry."""
    concat = s.expr("concat")
    if not isinstance(concat, Concat) or concat.args[2] == 1:
        return None
    return {"concat": InterleavedConcat(*concat.args[:3])}


def _scaled_by(divisor: Callable[[Steps, sympy.Expr], object]) -> Callable[[Steps], Change | None]:
    """Another divisor of the scores, made of d_k."""

    def change(s: Steps) -> Change | None:
        scaled, scores = s.expr("scaled"), s.symbol("scores")
        if not isinstance(scaled, Quotient) or scores is None or scaled.args[1] == 1:
            return None
        by = divisor(s, scaled.args[1] ** 2)
        return None if by is None else {"scaled": Quotient(scores, by)}

    return change


def _by_queries(s: Steps, width: sympy.Expr) -> object:
    """√n, where queries are not keys."""
    rows, columns = s.symbols["scores"].shape
    return None if rows in (columns, width, 1) else sympy.sqrt(rows)


def _by_latent(s: Steps, width: sympy.Expr) -> object:
    """√d_c."""
    latent = s.symbol("latent")
    return None if latent is None else sympy.sqrt(latent.shape[1])


def _floored(s: Steps) -> Change | None:
    """⌊S/√d_k⌋."""
    scaled = s.expr("scaled")
    return None if scaled is None else {"scaled": Floored(scaled)}


def _scores(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Something done to every score, where the score is a dot product."""

    def change(s: Steps) -> Change | None:
        scores = s.expr("scores")
        return None if scores is None or s.compared is None else {"scores": make(scores)}

    return change


def _logits(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Other weights from the logits, whichever normaliser makes them; without a mask."""

    def change(s: Steps) -> Change | None:
        if s.logits is None or "exp" in s.steps or s.mask is not None:
            return None
        return {"weights": make(s.logits)}

    return change


def _plus(matrix: MatrixExpr, number: object) -> MatrixExpr:
    return sympy.MatAdd(matrix, Filled(*shape_of(matrix), number))


def _minus(one: MatrixExpr, other: MatrixExpr) -> MatrixExpr:
    return sympy.MatAdd(one, sympy.MatMul(-1, other))


def _clipped(most: int) -> Callable[[MatrixExpr], MatrixExpr]:
    """min(max(z, −c), c) = max(0, z + c) − max(0, z − c) − c."""

    def make(logits: MatrixExpr) -> MatrixExpr:
        up, down = (Entrywise(_plus(logits, sign * most), "max0") for sign in (1, -1))
        return Softmax(_plus(_minus(up, down), -most))

    return make


def _over(parts: MatrixExpr, more: object = 0) -> MatrixExpr:
    """Each row over its sum and a number."""
    return LineQuotient(parts, _plus(LineSum(parts), more) if more else LineSum(parts))


def _shifted(logits: MatrixExpr) -> MatrixExpr:
    return Exponential(LineDifference(logits, RowMax(logits)))


def _with_added(digits: int) -> Callable[[MatrixExpr], MatrixExpr]:
    """Exponentials over their sum and 10^−digits."""
    return lambda logits: _over(_shifted(logits), sympy.Rational(1, 10**digits))


def _by_number(number: int) -> Callable[[Steps, sympy.Expr], object]:
    """The same divisor, whatever d_k is."""
    return lambda s, width: None if width == number**2 else number


def _always(base: int) -> Callable[[sympy.Expr], object]:
    """The same base, whatever it should be."""
    return lambda old: sympy.Integer(base)


def _lengths_one(logits: MatrixExpr) -> MatrixExpr:
    parts = _shifted(logits)
    return LineQuotient(parts, Lengths(parts))


def _log_softmax(logits: MatrixExpr) -> MatrixExpr:
    """Logits less their maximum and ln Σ e^(z − max)."""
    low = LineDifference(logits, RowMax(logits))
    return LineDifference(low, Entrywise(LineSum(Exponential(low)), "ln"))


def _uniform(logits: MatrixExpr) -> MatrixExpr:
    rows, columns = shape_of(logits)
    return Filled(rows, columns, sympy.Rational(1, int(columns)))


def _softmax_instead(*kinds: type[MatrixExpr]) -> Callable[[Steps], Change | None]:
    """The softmax where another normaliser is asked for."""

    def change(s: Steps) -> Change | None:
        weights = s.expr("weights")
        return {"weights": Softmax(weights.args[0])} if isinstance(weights, kinds) else None

    return change


def _row_sums_along_columns(s: Steps) -> Change | None:
    """e^(z_ij − m_i) over the sum of row j."""
    if s.softmax is None or "exp" in s.steps or not square(s.softmax):
        return None
    parts = _shifted(s.softmax)
    return {"weights": LineQuotient(parts, LineSum(parts).T, 0)}


def _over_everything(s: Steps) -> Change | None:
    """e^(z_ij − m_i) over the sum of all."""
    if s.softmax is None or "exp" in s.steps or s.softmax.shape[0] == 1:
        return None
    parts = _shifted(s.softmax)
    total = LineSum(LineSum(parts), 0)
    return {"weights": LineQuotient(parts, Spread(total, parts.shape[0], 0))}


def _result(make: Callable[[MatrixExpr], MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Something done to A V."""

    def change(s: Steps) -> Change | None:
        product = s.expr(s.result)
        return None if product is None else {s.result: make(product)}

    return change


def _over_batch(s: Steps) -> Change | None:
    """Weights that sum to 1 over the calculations of a batch."""
    if s.softmax is None or "exp" in s.steps:
        return None
    return {"weights": OverBatch(s.softmax, s.softmax.has(HEAD))}


def _unfinished(s: Steps) -> Change | None:
    """The last step left out."""
    last, *before = reversed(s.derivation.steps)
    for step in before:
        if fits(step.symbol, last.expr) and step.count == last.count:
            return {last.name: step.symbol}
    return None


def _keys_reshaped(s: Steps) -> Change | None:
    """Q times K reshaped to d × m."""
    if s.compared is None or 1 in s.compared[1].shape:
        return None
    query, key = s.compared
    return {"scores": query * KeysReshaped(key).T}


def _of_other_tokens(*names: str) -> Callable[[Steps], Change | None]:
    """Projections of the other sequence, the one of the queries for keys and values."""

    def change(s: Steps) -> Change | None:
        x, memory = s.symbol("X"), s.symbol("memory")
        if x is None or memory is None or x.shape[1] != memory.shape[1]:
            return None
        changes = {name: s.steps[name].expr.xreplace({memory: x, x: memory}) for name in names}
        return changes if len(names) == 3 or x.shape == memory.shape or len(names) == 2 else None

    return change


def _cache_after_new(s: Steps) -> Change | None:
    """[K; K_p] and [V; V_p]."""
    changes: dict[str, MatrixExpr] = {}
    for name in ("K_cached", "V_cached"):
        stacked = s.expr(name)
        if isinstance(stacked, Stacked) and len(stacked.args) > 1:
            first, second, *rest = stacked.args
            changes[name] = Stacked(second, first, *rest)
    return changes or None


# ---- masks -------------------------------------------------------------------------------------


def _masked_to(value: object) -> Callable[[Steps], Change | None]:
    """A number where the mask hides, instead of −∞."""

    def change(s: Steps) -> Change | None:
        return None if s.mask is None else {"masked": MaskedTo(s.before_mask, s.mask, value)}

    return change


def masked_to(value: object) -> Misconception:
    """A row for the number that masked scores were found to be set to."""
    name, words = _told(value)
    return Misconception(
        f"masked-to-{name}",
        f"masked scores are set to about {words} instead of −∞",
        _MASKED,
        REPORTED,
        _masked_to(value),
    )


def lowered_by(value: object) -> Misconception:
    """A row for the number that was found to be added to masked scores."""
    name, words = _told(value)
    return Misconception(
        f"masked-plus-{name}",
        f"about {words} is added to masked scores instead of −∞",
        _MASKED,
        REPORTED,
        _lowered_by(value),
    )


#: Misconceptions with a number in them, which what was computed tells.
MEASURED = (masked_to, lowered_by)


def _told(value: Any) -> tuple[str, str]:
    """A number in a name, and in words."""
    digits = f"{float(value):.4g}"
    return digits.replace("-", "minus-"), digits.replace("-", "−")


def _one_key_too_many(s: Steps) -> Change | None:
    """Keys up to the next one: j ≤ i + 1."""
    causal = s.expr("mask") if "mask" in s.steps else s.mask
    if not isinstance(causal, Causal) or s.before_mask is None:
        return None
    rows, columns, start = causal.args
    return {"masked": Masked(s.before_mask, Causal(rows, columns, start + 1))}


def _window(
    make: Callable[[sympy.Expr, sympy.Expr], tuple[sympy.Expr, sympy.Expr]],
) -> Callable[[Steps], Change | None]:
    """Another window, made of the keys that may be seen to the left and to the right."""

    def change(s: Steps) -> Change | None:
        window = s.expr("mask") if "mask" in s.steps else s.mask
        if not isinstance(window, Window) or s.before_mask is None:
            return None
        rows, columns, left, right, start = window.args
        other = make(left, right)
        if other == (left, right) or any(side < 0 for side in other):
            return None
        return {"masked": Masked(s.before_mask, Window(rows, columns, *other, start=start))}

    return change


def _bias_with(
    make: Callable[[MatrixExpr, MatrixExpr, sympy.Expr], MatrixExpr],
) -> Callable[[Steps], Change | None]:
    """The bias brought in otherwise: made of the scaled scores, the bias and √d_k."""

    def change(s: Steps) -> Change | None:
        scaled, by, bias = s.symbol("scaled"), s.expr("scaled"), s.symbol("bias")
        if not isinstance(by, Quotient) or bias is None or "biased" not in s.steps:
            return None
        return {"biased": make(scaled, bias, by.args[1])}

    return change


def _mask_before_scale(s: Steps) -> Change | None:
    """(S + M)/√d_k with a mask of numbers."""
    by, mask = s.expr("scaled"), s.symbols.get("mask")
    if not isinstance(by, Quotient) or mask is None or "mask" in s.steps or s.mask != mask:
        return None
    return {"masked": Masked(s.before_mask, Quotient(mask, by.args[1]))}


def _bias_after_softmax(s: Steps) -> Change | None:
    """A + R."""
    scaled, bias, weights = s.symbol("scaled"), s.symbol("bias"), s.expr("weights")
    if scaled is None or bias is None or weights is None or "biased" not in s.steps:
        return None
    return {"biased": scaled, "weights": weights + bias}


def _capped(
    make: Callable[[MatrixExpr, sympy.Expr, sympy.Expr], MatrixExpr],
) -> Callable[[Steps], Change | None]:
    """Another cap, made of the scaled scores, the cap and √d_k."""

    def change(s: Steps) -> Change | None:
        capped, scaled, by = s.expr("capped"), s.symbol("scaled"), s.expr("scaled")
        if not isinstance(capped, SoftCap) or not isinstance(by, Quotient):
            return None
        return {"capped": make(scaled, capped.args[1], by.args[1])}

    return change


# ---- heads -------------------------------------------------------------------------------------


def _split(make: Callable[..., MatrixExpr]) -> Callable[[Steps], Change | None]:
    """Q, K and V split into heads otherwise, those of groups too."""

    def change(s: Steps) -> Change | None:
        counts = s.derivation.known_sizes
        if "X" not in s.symbols:
            return None
        changes: dict[str, MatrixExpr] = {}
        for name in ("Q", "K", "V"):
            step = s.steps.get(name)
            if step is None or step.count not in (h, g):
                continue
            count = counts.get(str(step.count), 1)
            index = next((x for x in step.expr.free_symbols if x == HEAD), None)
            if count > 1 and index is not None:
                changes[name] = make(step.expr, HEAD, sympy.Integer(count))
        return changes or None

    return change


def _split_and_merged(s: Steps) -> Change | None:
    """Split into (h, n, d) and joined again by reshape alone."""
    split, concat = _split(SplitByReshape)(s), s.expr("concat")
    if split is None or not isinstance(concat, Concat):
        return None
    return {**split, "concat": MergedByReshape(*concat.args[:3])}


def _of_heads(step: str, make: Callable[..., MatrixExpr]) -> Callable[[Steps], Change | None]:
    """A step of each head made of those of all heads."""

    def change(s: Steps) -> Change | None:
        expr, count = s.expr(step), s.derivation.known_sizes.get("h", 1)
        if expr is None or count == 1 or not expr.has(HEAD):
            return None
        return {step: make(expr, HEAD, sympy.Integer(count))}

    return change


def _one_head(s: Steps) -> Change | None:
    """One softmax of Σ_h S^(h)/√(h d_k), for all heads."""
    count, scaled, scores = s.derivation.known_sizes.get("h", 1), s.expr("scaled"), s.expr("scores")
    if count == 1 or not isinstance(scaled, Quotient) or scores is None or not scores.has(HEAD):
        return None
    whole = HeadsSummed(scores, HEAD, sympy.Integer(count))
    return {"scaled": Quotient(whole, sympy.sqrt(count) * scaled.args[1])}


def _of_groups(
    names: str, index: Callable[[sympy.Expr, sympy.Expr], sympy.Expr]
) -> Callable[[Steps], Change | None]:
    """Keys, values, or both ("KV") of other groups: made of a head's own group and their number."""

    def change(s: Steps) -> Change | None:
        groups, count = (s.derivation.known_sizes.get(size) for size in "gh")
        if groups in (None, 1) or count in (None, groups):
            return None
        items = (s.symbols.get(f"{name}{more}") for name in names for more in _MADE_OF)
        letters = {item.args[0] for item in items if isinstance(item, Head)}
        changes = {}
        for step in s.derivation.steps:
            shared = {
                head: Head(head.args[0], index(head.head, sympy.Integer(groups)))
                for head in step.expr.atoms(Head)
                if not isinstance(head.head, sympy.Symbol) and head.args[0] in letters
            }
            if shared:
                changes[step.name] = step.expr.xreplace(shared)
        return changes or None

    return change


def _nought(own: sympy.Expr, groups: sympy.Expr) -> sympy.Expr:
    """0, written with the head."""
    return sympy.floor(own / groups)


#: What is made of keys and values of a group before heads use them.
_MADE_OF = ("", "_rotated", "_cached")

#: Which group a head uses instead: a name, words, and the index, in which the head has to stay.
_OTHER_GROUPS: tuple[tuple[str, str, Callable[[sympy.Expr, sympy.Expr], sympy.Expr]], ...] = (
    ("first-group-for-all", "every query head uses the first {}", _nought),
    (
        "last-group-for-all",
        "every query head uses the last {}",
        lambda own, g: g - 1 + _nought(own, g),
    ),
    (
        "groups-tiled",
        "query head i uses {} i mod n_g, counted from 0",
        lambda own, g: sympy.Mod(HEAD, g),
    ),
    (
        "groups-reversed",
        "query heads use the {}s from the last one to the first",
        lambda own, g: g - 1 - own,
    ),
)


# ---- positions ---------------------------------------------------------------------------------


def _rotated(
    *names: str, make: Callable[[Rotary], MatrixExpr | None]
) -> Callable[[Steps], Change | None]:
    """Queries, keys, or both, rotated otherwise."""

    def change(s: Steps) -> Change | None:
        changes = {}
        for name in names:
            node = s.expr(f"{name}_rotated")
            other = make(node) if isinstance(node, Rotary) else None
            if other is None:
                return None
            changes[f"{name}_rotated"] = other
        return changes

    return change


def _with_base(base: Callable[[sympy.Expr], object]) -> Callable[[Rotary], MatrixExpr | None]:
    def make(node: Rotary) -> MatrixExpr | None:
        matrix, old, *rest = node.args
        new = base(old)
        return None if new == old else Rotary(matrix, new, *rest)

    return make


def _started(node: Rotary) -> MatrixExpr:
    *rest, start = node.args
    return Rotary(*rest, start + 1)


def _from_zero(node: Rotary) -> MatrixExpr | None:
    *rest, start = node.args
    return Rotary(*rest, 0) if start != 0 else None


def _other_pairs(node: Rotary) -> MatrixExpr | None:
    matrix, base, dims, code, start = node.args
    return Rotary(matrix, base, dims, 1 - int(code), start) if dims > 2 else None


def _unsigned(node: Rotary) -> MatrixExpr:
    """Both columns of a pair: x cos + x′ sin."""
    return Interlaced(RotaryBack(*node.args), node, int(node.args[3]) == 1)


def _values_rotated(s: Steps) -> Change | None:
    """The values rotated as the keys are."""
    node, values = s.expr("K_rotated"), s.expr("V")
    if not isinstance(node, Rotary) or values is None or values.shape[1] % 2:
        return None
    _, base, _, code, start = node.args
    return {"V": Rotary(values, base, values.shape[1], code, start)}


def _rotated_before(s: Steps) -> Change | None:
    """Tokens rotated, then projected."""
    changes: dict[str, MatrixExpr] = {}
    for name in ("Q", "K"):
        node, product = s.expr(f"{name}_rotated"), s.expr(name)
        if not isinstance(node, Rotary) or not isinstance(product, sympy.MatMul):
            return None
        tokens, *weights = product.args
        if tokens.shape[1] % 2 or len(weights) != 1:
            return None
        _, base, _, code, start = node.args
        turned = Rotary(tokens, base, tokens.shape[1], code, start)
        changes[f"{name}_rotated"] = turned * weights[0]
    return changes


def _slopes(
    make: Callable[[ALiBi, int], MatrixExpr | None],
) -> Callable[[Steps], Change | None]:
    """Other slopes of ALiBi, made of the bias and the number of heads."""

    def change(s: Steps) -> Change | None:
        bias = s.expr("bias")
        count = s.derivation.known_sizes.get("h", 1)
        other = make(bias, count) if isinstance(bias, ALiBi) and count > 1 else None
        return None if other is None else {"bias": other}

    return change


def _with_heads(count: int) -> Callable[[ALiBi, int], MatrixExpr | None]:
    def make(bias: ALiBi, heads: int) -> MatrixExpr | None:
        rows, columns, _, *rest = bias.args
        if heads >= count:
            return None
        return FirstHeads(ALiBi(rows, columns, count, *rest), HEAD, sympy.Integer(heads))

    return make


def _of_head(head: Callable[[int], int]) -> Callable[[ALiBi, int], MatrixExpr | None]:
    def make(bias: ALiBi, heads: int) -> MatrixExpr | None:
        rows, columns, _, _, *rest = bias.args
        return ALiBi(rows, columns, heads, head(heads), *rest)

    return make


_PRESS = "Press, Smith, Lewis 2021, section 3"
_SU = "Su et al. 2021, section 3.2.2"
_ONLINE = "Milakov, Gimelshein 2018, algorithm 3"
_MASKED = "Use −∞, which no score is below."
_BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)


#: What goes wrong with an online softmax: a name, words, and which of output and sums is rescaled.
_NOT_RESCALED = (
    ("", "does not rescale its sums", False, False),
    ("output-", "rescales the sum of exponentials, but not the output,", False, True),
    ("sum-", "rescales the output, but not the sum of exponentials,", True, False),
)

#: What goes wrong with the last block: a name and words, in which {} is how many there are in one,
#: what to tell, and the change.
_OF_BLOCKS: tuple[tuple[str, str, str, Callable[[int], Callable[[Steps], Change | None]]], ...] = (
    (
        "blocks-of-{}-averaged",
        "each block of {} keys has a softmax of its own, and their outputs are averaged",
        "Blocks count by the sums of their exponentials, not alike.",
        lambda block: _softmax(lambda logits: BlocksAveraged(logits, block)),
    ),
    (
        "last-block-of-{}-dropped",
        "keys beyond the last whole block of {} are left out",
        "Where the block does not divide the number of keys, a shorter one comes last.",
        lambda block: _if_longer(block, 1, _softmax(lambda z: LastBlockDropped(z, block))),
    ),
    (
        "last-block-of-{}-filled",
        "the last block of {} keys is filled up with zeros, which get weight",
        "Mask what fills up a block: a score of 0 has the weight of e⁰ = 1.",
        lambda block: _softmax(lambda logits: BlocksFilled(logits, block)),
    ),
    (
        "last-block-of-{}-queries-dropped",
        "queries beyond the last whole block of {} are left at 0",
        "Where the block does not divide the number of queries, a shorter one comes last.",
        lambda block: _if_longer(block, 0, _result(lambda product: RowsDropped(product, block))),
    ),
)


def _unrescaled(block: int, output: bool, sums: bool, logits: MatrixExpr) -> MatrixExpr:
    return Unrescaled(logits, block, output, sums)


def _with_blocks(block: int) -> Iterator[Misconception]:
    """What goes wrong with keys, or queries, in blocks of so many."""
    of = f"blocks of {block}" if block > 1 else "one key at a time"
    for name, words, output, sums in _NOT_RESCALED:
        yield Misconception(
            f"online-{block}-{name}not-rescaled",
            f"an online softmax ({of}) {words} when the running maximum grows",
            "When the running maximum grows, multiply what was added up so far by e^(old − new), "
            "the sum of the exponentials and the output alike.",
            _ONLINE,
            _softmax(partial(_unrescaled, block, output, sums)),
        )
    if block == 1:
        return
    for name, words, tell, change in _OF_BLOCKS:
        yield Misconception(name.format(block), words.format(block), tell, _ONLINE, change(block))


def _if_longer(
    block: int, axis: int, change: Callable[[Steps], Change | None]
) -> Callable[[Steps], Change | None]:
    """A change that needs a whole block of queries (axis 0) or keys."""

    def changed(s: Steps) -> Change | None:
        scores = s.symbol("scores")
        longer = scores is not None and bool(scores.shape[axis] >= block)
        return change(s) if longer else None

    return changed


PROGRAMS: tuple[Misconception, ...] = (
    Misconception(
        "overflows",
        "e^z is computed without taking off the largest score of the row, so that it overflows",
        "Subtract the row's maximum before the exponential; the weights are the same.",
        "Blanchard, Higham, Higham 2021",
        _softmax(lambda logits: UnguardedSoftmax(logits, 0)),
        floating=True,
    ),
    Misconception(
        "nothing-to-attend-to",
        "a row in which every key is masked becomes NaN",
        "A query without keys has weights 0 and output 0: −∞ − (−∞) and 0/0 have no value.",
        "PyTorch, scaled_dot_product_attention",
        _softmax(lambda logits: UnguardedSoftmax(logits, 1)),
        floating=True,
    ),
    Misconception(
        "lowered-by-1e9",
        "10⁹ is subtracted from masked scores",
        "The weights are the same unless a whole row is masked, which then attends to the keys "
        "that it must not see; use −∞.",
        REPORTED,
        _lowered_by(-(10**9)),
    ),
    Misconception(
        "lowered-by-1e4",
        "10⁴ is subtracted from masked scores",
        "The weights are the same unless scores are as large or a whole row is masked; use −∞.",
        REPORTED,
        _lowered_by(-(10**4)),
    ),
    Misconception(
        "scaled-after-softmax",
        "the weights, not the scores, are divided by √d_k",
        "Divide the scores before the softmax; otherwise the rows sum to 1/√d_k.",
        DOT_PRODUCT,
        _scaled_afterwards,
    ),
    Misconception(
        "softmax-over-heads",
        "the softmax is taken over the heads",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        _over_heads,
    ),
    Misconception(
        "heads-interleaved",
        "the heads are joined entry by entry, (n, d, h) instead of (n, h, d)",
        "Exchange the axes to (tokens, heads, width) before joining the heads.",
        REPORTED,
        _interleaved,
    ),
    Misconception(
        "shifted-by-the-largest-of-all",
        "the largest score of the whole matrix is taken off, not that of each row",
        "A row whose scores all lie far below becomes 0/0; subtract the row's own maximum.",
        "Blanchard, Higham, Higham 2021",
        _softmax(lambda logits: LoweredSoftmax(logits, 0)),
        rather="nothing-to-attend-to",
        floating=True,
    ),
    Misconception(
        "shifted-by-the-mean",
        "the mean of the row is taken off before the exponential, not its maximum",
        "A score far above the mean still overflows; subtract the row's maximum.",
        "Blanchard, Higham, Higham 2021",
        _softmax(lambda logits: LoweredSoftmax(logits, 1)),
        floating=True,
    ),
    *(
        Misconception(
            f"clipped-at-{most}",
            f"the scores are clipped to between −{most} and {most}",
            "Subtract the row's maximum instead: clipping makes large scores equal.",
            REPORTED,
            _softmax(_clipped(most)),
        )
        for most in (20, 30, 50, 100)
    ),
    *(
        Misconception(
            f"1e-{digits}-added",
            f"10^-{digits} is added to the sums that the exponentials are divided by",
            "After subtracting the maximum every sum is 1 or more: nothing has to be added.",
            REPORTED,
            _softmax(_with_added(digits)),
        )
        for digits in (3, 4, 5, 6, 7, 8, 9, 10, 12)
    ),
    # ---- the scale
    Misconception(
        "multiplied-by-d_k",
        "the scores are multiplied by d_k",
        "Divide by √d_k; multiplying increases the variance of the scores.",
        DOT_PRODUCT,
        _scaled_by(lambda s, width: 1 / width),
    ),
    Misconception(
        "scaled-by-fourth-root",
        "the scores are divided by the fourth root of d_k",
        "Divide the scores by √d_k; the fourth root is for queries and keys both.",
        DOT_PRODUCT,
        _scaled_by(lambda s, width: sympy.root(width, 4)),
    ),
    *(
        Misconception(
            f"scaled-by-{number}",
            f"the scores are divided by {number}, whatever d_k is",
            f"√d_k is {number} only for d_k = {number**2}.",
            DOT_PRODUCT,
            _scaled_by(_by_number(number)),
            rather="scaled-by-d_k",
        )
        for number in (4, 8, 16)
    ),
    Misconception(
        "scaled-by-queries",
        "the scores are divided by √n, the root of the number of queries",
        "The scale depends on the width of the vectors, not on their number.",
        DOT_PRODUCT,
        _scaled_by(_by_queries),
    ),
    Misconception(
        "scaled-by-latent",
        "the scores are divided by √d_c, the root of the width of the latent vectors",
        "Queries and keys of a head are d_k wide; absorbing a projection "
        "does not change the scale.",
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2",
        _scaled_by(_by_latent),
    ),
    Misconception(
        "rounded-down",
        "the scaled scores are rounded down to whole numbers, as // does",
        "Divide by /; // is a division of whole numbers.",
        "Python, floor division",
        _floored,
    ),
    # ---- the weights
    Misconception(
        "softmax-over-batch",
        "the softmax is taken over the calculations of a batch",
        "The axis of the keys is the last one of the scores.",
        REPORTED,
        _over_batch,
    ),
    Misconception(
        "negated",
        "the scores have the other sign",
        "A larger dot product gives a larger weight.",
        DOT_PRODUCT,
        _scores(lambda scores: sympy.MatMul(-1, scores)),
    ),
    Misconception(
        "absolute-scores",
        "the absolute values of the scores are taken",
        "A negative score stands for keys unlike the query, and gives a small weight.",
        DOT_PRODUCT,
        _scores(lambda scores: Entrywise(scores, "abs")),
    ),
    Misconception(
        "negative-scores-cut-off",
        "negative scores are set to 0 before the softmax",
        "The softmax takes scores of either sign.",
        DOT_PRODUCT,
        _scores(lambda scores: Entrywise(scores, "max0")),
    ),
    Misconception(
        "distance-for-dot",
        "minus the squared distances take the place of the dot products",
        "The score is the dot product, which depends on the lengths of the keys too.",
        DOT_PRODUCT,
        lambda s: None if s.compared is None else {"scores": Distance(*s.compared)},
    ),
    Misconception(
        "keys-reshaped",
        "the keys are reshaped to d_k × m, not transposed",
        "reshape keeps the order of the numbers; a transpose exchanges rows and columns.",
        REPORTED,
        _keys_reshaped,
    ),
    Misconception(
        "sigmoid-for-softmax",
        "a sigmoid of each score is taken instead of a softmax",
        "The weights of a row have to sum to 1.",
        DOT_PRODUCT,
        _logits(lambda logits: Entrywise(logits, "σ")),
    ),
    Misconception(
        "relu-for-softmax",
        "negative scores are set to 0, and the others are the weights",
        "The softmax raises e to each score and divides by the sum of the row.",
        DOT_PRODUCT,
        _logits(lambda logits: Entrywise(logits, "max0")),
    ),
    Misconception(
        "relu-over-its-sum",
        "negative scores are set to 0, and the others divided by their sum",
        "The softmax raises e to each score first.",
        DOT_PRODUCT,
        _logits(lambda logits: _over(Entrywise(logits, "max0"))),
    ),
    Misconception(
        "extra-term-left-out",
        "the term that the denominator has besides the exponentials is left out",
        "With the 1, or the sink, in the denominator the weights of a row sum to less than 1.",
        "Miller, Attention Is Off By One (2023)",
        _softmax_instead(OffByOneSoftmax, SinkSoftmax),
    ),
    Misconception(
        "softmax-for-sigmoid",
        "a softmax is taken, though here each weight is the sigmoid of its score alone",
        "This attention has a sigmoid for each score; its weights need not sum to 1.",
        "Ramapuram et al. 2024",
        _softmax_instead(Sigmoid),
    ),
    Misconception(
        "softmax-for-sparsemax",
        "a softmax is taken, though here weights may be exactly 0",
        "This attention has another normaliser.",
        "Martins, Astudillo 2016",
        _softmax_instead(Sparsemax, Hardmax),
    ),
    Misconception(
        "log-softmax",
        "the logarithms of the weights take their place",
        "Take the softmax, not its logarithm, of the scores.",
        "PyTorch, log_softmax",
        _logits(_log_softmax),
    ),
    Misconception(
        "one-added",
        "1 is added to the sums that the exponentials are divided by",
        "The weights of a row sum to 1; the softmax off by one is another normaliser.",
        "Miller, Attention Is Off By One (2023)",
        _softmax(OffByOneSoftmax),
    ),
    Misconception(
        "one-added-after-shift",
        "the 1 in the denominator is not lowered as the scores are",
        "With the maximum m taken off, the 1 becomes e^(−m).",
        "Miller, Attention Is Off By One (2023)",
        _logits(lambda logits: _over(_shifted(logits), 1)),
    ),
    Misconception(
        "scores-times-log2e",
        "the scores are multiplied by log₂ e, but powers of e are taken",
        "2^(z log₂ e) is e^z: use either powers of 2 or scores as they are.",
        REPORTED,
        _softmax(lambda logits: Softmax(logits / sympy.log(2))),
    ),
    Misconception(
        "scores-times-log-2-squared",
        "powers of 2 are taken of scores that are multiplied by ln 2",
        "2^(z log₂ e) is e^z, and log₂ e = 1/ln 2: divide by ln 2.",
        REPORTED,
        _softmax(lambda logits: Softmax(sympy.log(2) ** 2 * logits)),
    ),
    Misconception(
        "length-1-for-sum-1",
        "each row is divided by its length, so that its squares sum to 1",
        "Divide by the sum of the row, so that the weights sum to 1.",
        DOT_PRODUCT,
        _softmax(_lengths_one),
    ),
    Misconception(
        "equal-weights",
        "all keys have the same weight",
        "The weights depend on queries and keys.",
        DOT_PRODUCT,
        _logits(_uniform),
    ),
    Misconception(
        "row-sums-along-columns-shifted",
        "column j is divided by the sum of row j (e / e.sum(axis=1) without keepdims), after the "
        "rows' maxima are taken off",
        "Keep the axis: e / e.sum(axis=1, keepdims=True) divides each row by its own sum.",
        "NumPy manual, broadcasting",
        _row_sums_along_columns,
    ),
    Misconception(
        "over-everything-shifted",
        "everything is divided by one sum over the whole matrix, after the rows' maxima are "
        "taken off",
        "Each row belongs to one query and sums to 1 by itself.",
        REPORTED,
        _over_everything,
    ),
    # ---- what comes of them
    Misconception(
        "softmax-of-output",
        "a softmax is taken of the output too",
        "The output is the weighted average of the values.",
        DOT_PRODUCT,
        _result(Softmax),
    ),
    Misconception(
        "unfinished",
        "an earlier step is returned, and the last one is left out",
        "The report says which step is asked for; where an output projection follows, "
        "multiply the joined heads by W_O.",
        REPORTED,
        _unfinished,
    ),
    # ---- two sequences
    Misconception(
        "keys-of-x",
        "the keys are computed from the sequence of the queries",
        "In cross-attention keys and values come from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        _of_other_tokens("K"),
    ),
    Misconception(
        "values-of-x",
        "the values are computed from the sequence of the queries",
        "In cross-attention keys and values come from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        _of_other_tokens("V"),
    ),
    Misconception(
        "keys-and-values-of-x",
        "keys and values are computed from the sequence of the queries",
        "In cross-attention keys and values come from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        _of_other_tokens("K", "V"),
    ),
    Misconception(
        "sequences-exchanged",
        "the two sequences are exchanged",
        "In cross-attention the queries come from x, keys and values from the other sequence.",
        "Vaswani et al. 2017, section 3.2.3",
        _of_other_tokens("Q", "K", "V"),
    ),
    Misconception(
        "cache-after-new",
        "cached keys and values are put after the new ones",
        "The cache holds earlier tokens: they come first.",
        "Shazeer, Fast Transformer Decoding (2019), section 2.4",
        _cache_after_new,
    ),
    # ---- masks, biases, caps
    Misconception(
        "mask-added-as-1",
        "the mask is added to the scores as 1 and 0, not as 0 and −∞",
        "Add −∞ where a key is masked, and 0 where it is not.",
        REPORTED,
        _lowered_by(-1),
    ),
    Misconception(
        "mask-added-as-1-inverted",
        "1 is added to the scores of masked keys",
        "Add −∞ where a key is masked, and 0 where it is not.",
        REPORTED,
        _lowered_by(1),
    ),
    Misconception(
        "mask-one-too-many",
        "each query sees one later key, as with triu(…, k=2) or tril(…, k=1)",
        "Query i sees keys up to its own: mask above the diagonal, triu(…, k=1).",
        "Vaswani et al. 2017, section 3.2.3",
        _one_key_too_many,
    ),
    Misconception(
        "window-too-narrow",
        "the window is one key too narrow",
        "Count whether the query's own position is one of the keys of the window.",
        "Jiang et al., Mistral 7B (2023), section 2",
        _window(lambda left, right: (left - 1, right - 1 if right else right)),
    ),
    Misconception(
        "window-too-wide",
        "the window is one key too wide",
        "Count whether the query's own position is one of the keys of the window.",
        "Jiang et al., Mistral 7B (2023), section 2",
        _window(lambda left, right: (left + 1, right + 1 if right else right)),
    ),
    Misconception(
        "window-two-sided",
        "the window reaches to later keys too",
        "This window reaches to earlier keys only.",
        "Jiang et al., Mistral 7B (2023), section 2",
        _window(lambda left, right: (left, left)),
    ),
    Misconception(
        "window-one-sided",
        "the window reaches to earlier keys only",
        "This window reaches to both sides.",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
        _window(lambda left, right: (left, sympy.S.Zero)),
    ),
    Misconception(
        "window-without-end",
        "every earlier key is seen, however far away",
        "The window leaves out keys that are too far away.",
        "Jiang et al., Mistral 7B (2023), section 2",
        _window(lambda left, right: (sympy.oo, right)),
    ),
    Misconception(
        "window-halved",
        "the window reaches half as far to each side",
        "The width here is that of one side; Longformer's w counts both.",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
        _window(lambda left, right: (sympy.floor(left / 2), sympy.floor(right / 2))),
    ),
    Misconception(
        "bias-before-scale",
        "the bias is added before the division by √d_k",
        "Divide the scores, then add the bias.",
        _PRESS,
        _bias_with(lambda scaled, bias, root: scaled + Quotient(bias, root)),
    ),
    Misconception(
        "mask-before-scale",
        "the mask is added before the division by √d_k",
        "Divide the scores, then add the mask: its finite numbers are not to be scaled.",
        REPORTED,
        _mask_before_scale,
    ),
    Misconception(
        "bias-multiplied",
        "the scores are multiplied by the bias",
        "Add the bias to the scores.",
        _PRESS,
        _bias_with(lambda scaled, bias, root: sympy.HadamardProduct(scaled, bias)),
    ),
    Misconception(
        "bias-after-softmax",
        "the bias is added to the weights, not to the scores",
        "Add the bias before the softmax, so that the weights still sum to 1.",
        _PRESS,
        _bias_after_softmax,
    ),
    Misconception(
        "soft-cap-not-multiplied-back",
        "tanh(z/c) is not multiplied by the cap",
        "The capped score is c tanh(z/c), which is nearly z for small scores.",
        "Gemma Team, Gemma 2 (2024), section 2",
        _capped(lambda scaled, cap, root: Quotient(SoftCap(scaled, cap), cap)),
    ),
    Misconception(
        "soft-cap-not-divided",
        "the scores are not divided by the cap before tanh",
        "The capped score is c tanh(z/c), which is nearly z for small scores.",
        "Gemma Team, Gemma 2 (2024), section 2",
        _capped(lambda scaled, cap, root: SoftCap(cap * scaled, cap)),
    ),
    Misconception(
        "soft-cap-before-scale",
        "the soft cap comes before the division by √d_k",
        "Divide the scores, then cap them.",
        "Gemma Team, Gemma 2 (2024), section 2",
        _capped(lambda scaled, cap, root: Quotient(SoftCap(root * scaled, cap), root)),
    ),
    Misconception(
        "hard-cap",
        "the scores are clipped at the cap, not kept within it by tanh",
        "The capped score is c tanh(z/c).",
        "Gemma Team, Gemma 2 (2024), section 2",
        _capped(
            lambda scaled, cap, root: _plus(
                _minus(
                    Entrywise(_plus(scaled, cap), "max0"), Entrywise(_plus(scaled, -cap), "max0")
                ),
                -cap,
            )
        ),
    ),
    # ---- heads
    Misconception(
        "groups-split-by-reshape",
        "queries, keys and values are split into heads by reshape without exchanging axes",
        "Reshape to (tokens, heads, width) first, then exchange the axes; otherwise a "
        "head mixes tokens.",
        REPORTED,
        _split(SplitByReshape),
        rather="split-by-reshape",
    ),
    Misconception(
        "split-and-merged-by-reshape",
        "the heads are split and merged by reshape alone, without exchanging axes",
        "Reshape to (tokens, heads, width), then exchange the axes; and exchange them back before "
        "joining the heads.",
        REPORTED,
        _split_and_merged,
    ),
    Misconception(
        "split-by-columns",
        "the heads are split as (tokens, width, heads): head i has every h-th column",
        "Reshape to (tokens, heads, width): a head has neighbouring columns.",
        REPORTED,
        _split(SplitByColumns),
    ),
    Misconception(
        "one-head",
        "the heads are not split: there is one softmax for all of them",
        "Each head has weights of its own.",
        "Vaswani et al. 2017, section 3.2.2",
        _one_head,
    ),
    Misconception(
        "weights-of-the-first-head",
        "every head uses the weights of the first one",
        "Each head has weights of its own.",
        "Vaswani et al. 2017, section 3.2.2",
        _of_heads("weights", FirstHead),
    ),
    Misconception(
        "heads-averaged",
        "the outputs of the heads are averaged",
        "Join the heads side by side.",
        "Vaswani et al. 2017, section 3.2.2",
        _of_heads("heads", HeadsMeant),
    ),
    *(
        Misconception(
            f"{before}{name}",
            words.format(f"{head} head") + rest,
            f"Neighbouring query heads share a {head} head: head i uses ⌊i n_g/n_h⌋, counted "
            "from 0.",
            "Ainslie et al. 2023, section 2.2",
            _of_groups(names, index),
        )
        for names, before, head, rest in (
            ("KV", "", "key and value", ""),
            ("K", "keys-", "key", ", though its values are the right ones"),
            ("V", "values-", "value", ", though its keys are the right ones"),
        )
        for name, words, index in _OTHER_GROUPS
        if (names, name) != ("KV", "groups-tiled")  # which calculations by hand show too
    ),
    # ---- positions
    Misconception(
        "keys-not-rotated",
        "the queries are rotated, but not the keys",
        "Rotate both, so that a score depends on the difference of the positions.",
        _SU,
        _rotated("K", make=lambda node: node.args[0]),
    ),
    Misconception(
        "queries-not-rotated",
        "the keys are rotated, but not the queries",
        "Rotate both, so that a score depends on the difference of the positions.",
        _SU,
        _rotated("Q", make=lambda node: node.args[0]),
    ),
    Misconception(
        "values-rotated",
        "the values are rotated too",
        "Rotate queries and keys only.",
        _SU,
        _values_rotated,
    ),
    Misconception(
        "rotated-backwards",
        "queries and keys are rotated the other way",
        "The first of a pair becomes x cos φ − x′ sin φ, the second x′ cos φ + x sin φ.",
        _SU,
        _rotated("Q", "K", make=lambda node: RotaryBack(*node.args)),
    ),
    Misconception(
        "queries-rotated-backwards",
        "queries and keys are rotated in opposite directions, the queries the wrong way",
        "Rotate both by the same rule; the dot product subtracts the angles by itself.",
        _SU,
        _rotated("Q", make=lambda node: RotaryBack(*node.args)),
    ),
    Misconception(
        "keys-rotated-backwards",
        "queries and keys are rotated in opposite directions, the keys the wrong way",
        "Rotate both by the same rule; the dot product subtracts the angles by itself.",
        _SU,
        _rotated("K", make=lambda node: RotaryBack(*node.args)),
    ),
    Misconception(
        "rotary-sign-missing",
        "in a rotation x′ sin φ is added, not subtracted",
        "The first of a pair becomes x cos φ − x′ sin φ: rotate_half has a minus sign.",
        _SU,
        _rotated("Q", "K", make=_unsigned),
    ),
    Misconception(
        "query-pairs-differ",
        "queries and keys are rotated in different pairs of columns, the queries in other ones",
        "Neighbouring columns and columns half the width apart are two conventions; keep to one.",
        _SU,
        _rotated("Q", make=_other_pairs),
    ),
    Misconception(
        "key-pairs-differ",
        "queries and keys are rotated in different pairs of columns, the keys in other ones",
        "Neighbouring columns and columns half the width apart are two conventions; keep to one.",
        _SU,
        _rotated("K", make=_other_pairs),
    ),
    Misconception(
        "queries-a-position-ahead",
        "the positions of the queries start one later than those of the keys",
        "Only the difference of positions counts, so that both have to start alike.",
        _SU,
        _rotated("Q", make=_started),
    ),
    Misconception(
        "keys-a-position-ahead",
        "the positions of the keys start one later than those of the queries",
        "Only the difference of positions counts, so that both have to start alike.",
        _SU,
        _rotated("K", make=_started),
    ),
    Misconception(
        "positions-without-cache",
        "the positions of the queries start at 0, though there are tokens in the cache",
        "The position of a new token is the number of tokens before it.",
        _SU,
        _rotated("Q", make=_from_zero),
    ),
    Misconception(
        "rotary-half-exponent",
        "the angles fall with base^(−t/d) instead of base^(−2t/d)",
        "θ_t = base^(−2t/d) for pair t, counted from 0.",
        _SU,
        _rotated("Q", "K", make=_with_base(sympy.sqrt)),
    ),
    Misconception(
        "rotary-double-exponent",
        "the angles fall with base^(−4t/d) instead of base^(−2t/d)",
        "θ_t = base^(−2t/d) for pair t, counted from 0.",
        _SU,
        _rotated("Q", "K", make=_with_base(lambda base: base**2)),
    ),
    *(
        Misconception(
            f"rotary-base-{base}",
            f"the base of the rotary embedding is {base:,}",
            "The base is a choice of the model: the angles are position · base^(−2t/d).",
            _SU,
            _rotated("Q", "K", make=_with_base(_always(base))),
        )
        for base in (1000, 10_000, 100_000, 500_000, 1_000_000)
    ),
    Misconception(
        "rotated-before-projection",
        "the tokens are rotated, not queries and keys",
        "Project first, then rotate: rotations and projections do not commute.",
        _SU,
        _rotated_before,
    ),
    Misconception(
        "alibi-halves",
        "the slopes are 1/2, 1/4, 1/8, …, whatever the number of heads",
        "The slopes fall from 2^(−8/h) to 2^(−8); 1/2, 1/4, … are those of 8 heads.",
        _PRESS,
        _slopes(_with_heads(8)),
    ),
    Misconception(
        "alibi-from-1",
        "the slopes start at 1 instead of 2^(−8/h)",
        "The slope of head i, counted from 1, is 2^(−8i/h).",
        _PRESS,
        _slopes(lambda bias, heads: Quotient(bias, 2 ** sympy.Rational(-8, heads))),
    ),
    Misconception(
        "alibi-first-slope",
        "all heads have the slope of the first one",
        "Each head has a slope of its own, 2^(−8i/h).",
        _PRESS,
        _slopes(_of_head(lambda heads: 0)),
    ),
    Misconception(
        "alibi-last-slope",
        "all heads have the slope of the last one, 2^(−8)",
        "Each head has a slope of its own, 2^(−8i/h).",
        _PRESS,
        _slopes(_of_head(lambda heads: heads - 1)),
    ),
    Misconception(
        "alibi-reversed",
        "the slopes of the heads are in the opposite order",
        "The first head has the largest slope, 2^(−8/h).",
        _PRESS,
        _slopes(lambda bias, heads: HeadsTurned(bias, HEAD, sympy.Integer(heads))),
    ),
    # ---- keys and queries in blocks
    *(row for block in _BLOCKS for row in _with_blocks(block)),
)
