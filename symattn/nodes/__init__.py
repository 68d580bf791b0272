"""The matrix expressions that SymPy lacks, one file a family."""

from symattn.nodes.base import Node
from symattn.nodes.biases import ALiBi, RelativeBias
from symattn.nodes.encodings import Rotary, Sinusoidal
from symattn.nodes.exponential import Exponential, LineQuotient, LineSum
from symattn.nodes.heads import Concat, Head
from symattn.nodes.masks import (
    MASKS,
    Allowed,
    AnyOf,
    Causal,
    Dilated,
    Documents,
    Global,
    Kept,
    Mask,
    Masked,
    Padding,
    Prefix,
    Strided,
    Window,
    mask_of,
    reason_of,
)
from symattn.nodes.normalise import (
    NORMALISERS,
    OffByOneSoftmax,
    RowRatio,
    Sigmoid,
    SinkSoftmax,
    Softmax,
    Unnormalised,
)
from symattn.nodes.normaliser import Normaliser
from symattn.nodes.scale import Quotient
from symattn.nodes.simplex import Hardmax, Sparsemax

#: Every node, for the contract that all of them keep.
NODES: tuple[type[Node], ...] = (
    Quotient,
    *NORMALISERS.values(),
    *MASKS.values(),
    Allowed,
    AnyOf,
    Masked,
    Kept,
    Exponential,
    LineSum,
    LineQuotient,
    Head,
    Concat,
    Sinusoidal,
    Rotary,
    ALiBi,
    RelativeBias,
)

__all__ = [
    "MASKS",
    "NODES",
    "NORMALISERS",
    "ALiBi",
    "Allowed",
    "AnyOf",
    "Causal",
    "Concat",
    "Dilated",
    "Documents",
    "Exponential",
    "Global",
    "Hardmax",
    "Head",
    "Kept",
    "LineQuotient",
    "LineSum",
    "Mask",
    "Masked",
    "Node",
    "Normaliser",
    "OffByOneSoftmax",
    "Padding",
    "Prefix",
    "Quotient",
    "RelativeBias",
    "Rotary",
    "RowRatio",
    "Sigmoid",
    "SinkSoftmax",
    "Sinusoidal",
    "Softmax",
    "Sparsemax",
    "Strided",
    "Unnormalised",
    "Window",
    "mask_of",
    "reason_of",
]
