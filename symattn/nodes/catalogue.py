"""Every node, for the contract that all of them keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.functions import FUNCTIONS
from symattn.grammar import FUNCTIONS as SPELLED
from symattn.nodes.arguments import Extent, Learned
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
    NumberOfLines,
    PlusVector,
    Spread,
    UnitVectors,
)
from symattn.nodes.masks import MASKS, Allowed, AnyOf, Masked, TopK, VisibleScores
from symattn.nodes.normalise import NORMALISERS, Normaliser, RowMax
from symattn.nodes.positions import (
    Frequencies,
    PairDot,
    Rotary,
    RotaryBack,
    Sinusoidal,
    Turned,
)
from symattn.nodes.powers import WhereAtMost, WholePower
from symattn.nodes.relative import ClippedShift, RelativeShift, ShiftSum
from symattn.nodes.scale import Everywhere, NumberQuotient, NumberTimes, PowerTimes, Quotient
from symattn.nodes.scores import Additive, Distance, OfPairs, PairSum

#: Every node.
NODES: tuple[type[Node], ...] = (
    Quotient,
    PowerTimes,
    *NORMALISERS.values(),
    *MASKS.values(),
    Allowed,
    AnyOf,
    TopK,
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
    Frequencies,
    Turned,
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
    PairDot,
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

#: The nodes that make shares of the scores alone, by the words that equations have for them.
SHARES: Mapping[str, type[Normaliser]] = {
    word: node
    for word, node in CALLED.items()
    if isinstance(node, type) and issubclass(node, Normaliser)
    if node.shares and not node._places_of(Learned)
}

#: The words of nodes whose size follows from where they stand.
PLACED = tuple(
    node.word
    for node in NODES
    if node.word and any(isinstance(one, Extent) for one in node.arguments[:1])
)


def words() -> frozenset[str]:
    """The words of nodes, masks and functions of one number that the grammar does not list."""
    functions = (function.word for function in FUNCTIONS.values())
    masks = (mask.replace("-", "_") for mask in MASKS)
    return frozenset(filter(None, (*CALLED, *masks, *functions))) - {*SPELLED}


def mask_called(word: str) -> str:
    """The name of the mask that equations call by a word, every_second; empty if there is none."""
    name = word.replace("_", "-")
    return name if name in MASKS else ""


def rows_and_columns(word: str) -> str:
    """How the class of a node says its shape: a column (a number for each row), a row, all pairs.

    Empty where it says none.
    """
    call = CALLED.get(word)
    node, over = (call.func, "row") if isinstance(call, partial) else (call, "column")
    if not isinstance(node, type):
        return ""
    return over if issubclass(node, NumberOfLines) else "pairs" * issubclass(node, OfPairs)
