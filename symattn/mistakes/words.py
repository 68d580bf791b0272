"""The functions that stand in the equations of misconceptions, by their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.mistakes.accidents import (
    Floored,
    HeadsSummed,
    HeadsTaken,
    Interlaced,
    KeysReshaped,
    OverBatch,
    SplitByColumns,
    Unrescaled,
)
from symattn.mistakes.nodes import (
    Instead,
    InterleavedConcat,
    Inverted,
    MergedByReshape,
    OverHeads,
    ReversedConcat,
    SeenRatio,
    SplitByReshape,
    UnguardedSoftmax,
)
from symattn.nodes.base import Node
from symattn.nodes.biases import ALiBi
from symattn.nodes.entrywise import Exponential, SoftCap
from symattn.nodes.heads import Concat, GroupSum, HeadSum, Slice, Stacked
from symattn.nodes.lines import Filled, Lengths, LineDifference, LineSum, PlusVector, Spread
from symattn.nodes.masks import MASKS, Masked, VisibleScores
from symattn.nodes.normalise import NORMALISERS, RowMax, Softmax
from symattn.nodes.positions import Rotary, RotaryBack, Sinusoidal
from symattn.nodes.scale import Quotient

#: Nodes, those of people's mistakes included; what a node lacks in a text is as it was, or usual.
WORDS: Mapping[str, type[Node]] = {
    **{word: MASKS[word] for word in ("causal", "padding", "window")},
    **{word: NORMALISERS[word] for word in ("softmax", "hardmax", "sparsemax")},
    "softmax1": NORMALISERS["softmax-off-by-one"],
    "sinksoftmax": NORMALISERS["softmax-sink"],
    "sigmoids": NORMALISERS["sigmoid"],
    "ratio": NORMALISERS["sum"],
    "exp": Exponential,
    "softcap": SoftCap,
    "keep": VisibleScores,
    "less": LineDifference,
    "lengths": Lengths,
    "spread": Spread,
    "filled": Filled,
    "below": Stacked,
    "part": Slice,
    "plus": PlusVector,
    "linesum": LineSum,
    "headsum": HeadSum,
    "groupsum": GroupSum,
    "hide": Masked,
    "joined": Concat,
    "rotary": Rotary,
    "rotaryback": RotaryBack,
    "sinusoidal": Sinusoidal,
    "alibi": ALiBi,
    "inverted": Inverted,
    "seenratio": SeenRatio,
    "unguarded": UnguardedSoftmax,
    "floored": Floored,
    "overheads": OverHeads,
    "overbatch": OverBatch,
    "unrescaled": Unrescaled,
    "reshaped": KeysReshaped,
    "interlaced": Interlaced,
    "split": SplitByReshape,
    "splitcolumns": SplitByColumns,
    "merge": MergedByReshape,
    "reversed": ReversedConcat,
    "interleaved": InterleavedConcat,
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


#: Functions that are no nodes: of numbers, and of matrices.
FUNCTIONS: Mapping[str, Callable[..., sympy.Expr]] = {
    "lowest": lowest,
    "fill": lambda scores, mask, number: Instead(
        Masked(scores, mask), mask, Filled(*scores.shape, number)
    ),
    "lower": lambda scores, mask, number: Masked(
        scores, Instead(mask, mask, Filled(*mask.shape, number))
    ),
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
}
