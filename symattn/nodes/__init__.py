"""The matrix expressions that SymPy lacks, one file a family."""

from symattn.nodes.base import Node
from symattn.nodes.exponential import Exponential, LineQuotient, LineSum
from symattn.nodes.heads import Concat, Head
from symattn.nodes.masks import MASKS, Allowed, Causal, Mask, Masked, Padding
from symattn.nodes.normalise import NORMALISERS, Normaliser, RowRatio, Softmax
from symattn.nodes.scale import Quotient

#: Every node, for the contract that all of them keep.
NODES: tuple[type[Node], ...] = (
    Quotient,
    *NORMALISERS.values(),
    *MASKS.values(),
    Allowed,
    Masked,
    Exponential,
    LineSum,
    LineQuotient,
    Head,
    Concat,
)

__all__ = [
    "MASKS",
    "NODES",
    "NORMALISERS",
    "Allowed",
    "Causal",
    "Concat",
    "Exponential",
    "Head",
    "LineQuotient",
    "LineSum",
    "Mask",
    "Masked",
    "Node",
    "Normaliser",
    "Padding",
    "Quotient",
    "RowRatio",
    "Softmax",
]
