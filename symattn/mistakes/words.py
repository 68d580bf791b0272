"""The functions that stand in the equations of misconceptions, by their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import SymattnError
from symattn.mistakes.nodes import (
    Floored,
    HeadsSummed,
    HeadsTaken,
    Instead,
    OverBatch,
    OverHeads,
    Reshaped,
    SeenRatio,
    UnguardedSoftmax,
    Unrescaled,
)
from symattn.nodes.base import Node
from symattn.nodes.catalogue import CALLED, SHARES
from symattn.nodes.defined import COLUMN_NUMBER, WherePlaced
from symattn.nodes.entrywise import Exponential
from symattn.nodes.heads import Concat, GroupSum, HeadSum, Slice, Split, Stacked, head_of
from symattn.nodes.lines import Filled, LineDifference, LineProduct, LineSum, PlusVector, Spread
from symattn.nodes.masks import MASKS, Masked
from symattn.nodes.normalise import NORMALISERS, RowMax, Softmax
from symattn.nodes.norms import NORMS
from symattn.nodes.positions import RotaryBack
from symattn.nodes.scale import Quotient
from symattn.step import HEAD

#: The words that other equations have for nodes, too.
_CALLED = (
    *(*SHARES, "sinksoftmax", "softcap", "keep", "topk", "lengths"),
    *("rotary", "turned", "sinusoidal", "alibi", "unit"),
)

#: Nodes, those of people's mistakes included; what a node lacks in a text is as it was, or usual.
WORDS: Mapping[str, type[Node]] = {
    **{word: MASKS[word] for word in ("causal", "padding", "window")},
    **{word: cast(type[Node], CALLED[word]) for word in _CALLED},
    "sigmoids": NORMALISERS["sigmoid"],
    "exp": Exponential,
    "less": LineDifference,
    "spread": Spread,
    "filled": Filled,
    "below": Stacked,
    "part": Slice,
    "plus": PlusVector,
    "linesum": LineSum,
    "gained": LineProduct,
    **{norm.divides.word: norm.divides for norm in NORMS.values()},
    **NORMS,
    "headsum": HeadSum,
    "groupsum": GroupSum,
    "hide": Masked,
    "joined": Concat,
    "rotaryback": RotaryBack,
    "seenratio": SeenRatio,
    "unguarded": UnguardedSoftmax,
    "floored": Floored,
    "overheads": OverHeads,
    "overbatch": OverBatch,
    "unrescaled": Unrescaled,
    "reshaped": Reshaped,
    "apart": Split,
    "sumofheads": HeadsSummed,
    "take": HeadsTaken,
}


def lowest(logits: MatrixExpr) -> MatrixExpr:
    """Z − max, with the maximum of each row."""
    return LineDifference(logits, RowMax(logits))


def blocks(logits: MatrixExpr, block: sympy.Integer) -> MatrixExpr:
    """A softmax for each block of keys, all blocks counting alike."""
    keys = int(logits.shape[1])
    starts = range(0, keys, int(block))
    parts = [Softmax(Slice(logits, at, min(int(block), keys - at), 1)) for at in starts]
    return Quotient(_beside(parts), len(parts))


def _beside(parts: Sequence[MatrixExpr]) -> MatrixExpr:
    """Matrices side by side; halves, since thousands one in another are nested too deeply."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Stacked(_beside(parts[:half]), _beside(parts[half:]), 1)


def lacking(matrix: MatrixExpr, place: sympy.Integer) -> MatrixExpr:
    """A matrix without one of the terms, counted from 0, of the longest sum in it."""
    sums = [part for part in sympy.preorder_traversal(matrix) if isinstance(part, sympy.MatAdd)]
    whole = max(sums, key=lambda one: len(one.args))
    left = [*whole.args]
    del left[int(place)]
    return matrix.xreplace({whole: sympy.MatAdd(*left)})


def interlaced(first: MatrixExpr, second: MatrixExpr, neighbours: sympy.Integer) -> MatrixExpr:
    """The first column of each pair, of neighbours or half the width apart, and the second."""
    half = sympy.floor(first.shape[1] / 2)
    odd = sympy.Eq(sympy.Mod(COLUMN_NUMBER, 2), 1)
    return WherePlaced(first, second, odd if neighbours else sympy.Le(COLUMN_NUMBER, half))


def added(result: MatrixExpr, more: MatrixExpr) -> MatrixExpr:
    """A sum with what is no part of the result yet: of a head with what each head has."""
    if result.has(more) or (HEAD in result.free_symbols) is (head_of(more) is None):
        raise SymattnError(f"{more} is not added to {result}")
    return result + more


#: Functions that are no nodes: of numbers, and of matrices.
FUNCTIONS: Mapping[str, Callable[..., sympy.Expr]] = {
    "lowest": lowest,
    "fill": lambda scores, mask, number: Instead(
        Masked(scores, mask), mask, Filled(*scores.shape, number)
    ),
    "lower": lambda scores, mask, number: Masked(
        scores, Instead(mask, mask, Filled(*mask.shape, number))
    ),
    "inverted": lambda mask: Instead(Filled(*mask.shape, -sympy.oo), mask, Filled(*mask.shape, 0)),
    "lacking": lacking,
    "interlaced": interlaced,
    "added": added,
    "shifted": lambda logits: Exponential(lowest(logits)),
    "blocks": blocks,
    "ceil": sympy.ceiling,
    "floor": sympy.floor,
    "mod": sympy.Mod,
    "at": lambda matrix, index, value: matrix.xreplace({index: value}),
    "max": sympy.Max,
    "min": sympy.Min,
    "zeros": lambda matrix: Filled(*matrix.shape, 0),
    "width": lambda matrix: matrix.shape[1],
    "height": lambda matrix: matrix.shape[0],
}
