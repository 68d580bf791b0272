"""Every node, for the contract that all of them keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.nodes.base import Node, word_of
from symattn.nodes.biases import ALiBi, BucketSum, RelativeBias
from symattn.nodes.defined import Counted, WherePlaced
from symattn.nodes.entrywise import (
    Diagonal,
    EntryQuotient,
    Entrywise,
    Exponential,
    Features,
    SoftCap,
)
from symattn.nodes.heads import Concat, GroupSum, Head, HeadSum, Slice, Split, Stacked
from symattn.nodes.lines import (
    EntrySum,
    Filled,
    Lengths,
    LineDifference,
    LineProduct,
    LineQuotient,
    LineSum,
    PlusVector,
    Spread,
    UnitVectors,
)
from symattn.nodes.masks import MASKS, Allowed, AnyOf, Masked, VisibleScores
from symattn.nodes.normalise import NORMALISERS, RowMax
from symattn.nodes.positions import Rotary, RotaryBack, Sinusoidal
from symattn.nodes.powers import WhereAtMost, WholePower
from symattn.nodes.relative import ClippedShift, RelativeShift, ShiftSum
from symattn.nodes.scale import Everywhere, NumberQuotient, NumberTimes, PowerTimes, Quotient
from symattn.nodes.scores import Additive, Distance, PairSum

#: Every node.
NODES: tuple[type[Node], ...] = (
    Quotient,
    PowerTimes,
    *NORMALISERS.values(),
    *MASKS.values(),
    Allowed,
    AnyOf,
    Masked,
    VisibleScores,
    RowMax,
    LineDifference,
    Exponential,
    LineSum,
    LineQuotient,
    Entrywise,
    EntryQuotient,
    Diagonal,
    Head,
    Concat,
    Sinusoidal,
    Rotary,
    ALiBi,
    RelativeBias,
    RelativeShift,
    ClippedShift,
    SoftCap,
    Features,
    UnitVectors,
    Distance,
    Additive,
    PlusVector,
    Stacked,
    HeadSum,
    # what equations say beside them
    Counted,
    WherePlaced,
    WhereAtMost,
    WholePower,
    NumberTimes,
    NumberQuotient,
    Everywhere,
    # what derivatives are made of
    EntrySum,
    Filled,
    Spread,
    LineProduct,
    Lengths,
    Split,
    Slice,
    GroupSum,
    PairSum,
    BucketSum,
    ShiftSum,
    RotaryBack,
)


def _called() -> Mapping[str, Callable[..., MatrixExpr]]:
    """The nodes of rows, and those of columns that have a word of their own."""
    calls: dict[str, Callable[..., MatrixExpr]] = {}
    for node in NODES:
        if isinstance(node.syntax, str):
            calls[word_of(node.syntax)] = node
        else:
            rows, columns = map(word_of, node.syntax)
            calls |= {rows: node, columns: partial(node, axis=0)}
    return {word: call for word, call in calls.items() if word}


#: What equations call by a word.
CALLED = _called()
