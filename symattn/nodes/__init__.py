"""The matrix expressions that SymPy lacks, one file a family.

Names load when they are first used, so that a plain derivation does not pay for every family.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symattn.nodes.base import Node
    from symattn.nodes.biases import ALiBi, RelativeBias
    from symattn.nodes.catalogue import NODES
    from symattn.nodes.entrywise import Diagonal, EntryQuotient, Entrywise, Exponential
    from symattn.nodes.heads import Concat, Head
    from symattn.nodes.lines import LineDifference, LineQuotient, LineSum
    from symattn.nodes.masks import (
        MASKS,
        Allowed,
        AnyOf,
        Causal,
        Dilated,
        Documents,
        Global,
        Mask,
        Masked,
        Padding,
        Prefix,
        Strided,
        VisibleScores,
        Window,
        mask_of,
        reason_of,
    )
    from symattn.nodes.normalise import (
        NORMALISERS,
        Hardmax,
        Normaliser,
        OffByOneSoftmax,
        RowMax,
        RowRatio,
        Sigmoid,
        SinkSoftmax,
        Softmax,
        Sparsemax,
        Unnormalised,
    )
    from symattn.nodes.positions import Rotary, Sinusoidal
    from symattn.nodes.relative import ClippedShift, RelativeShift
    from symattn.nodes.scale import PowerTimes, Quotient

_HOMES = {
    "ALiBi": "symattn.nodes.biases",
    "Allowed": "symattn.nodes.masks",
    "AnyOf": "symattn.nodes.masks",
    "Causal": "symattn.nodes.masks",
    "ClippedShift": "symattn.nodes.relative",
    "Concat": "symattn.nodes.heads",
    "Diagonal": "symattn.nodes.entrywise",
    "Dilated": "symattn.nodes.masks",
    "Documents": "symattn.nodes.masks",
    "EntryQuotient": "symattn.nodes.entrywise",
    "Entrywise": "symattn.nodes.entrywise",
    "Exponential": "symattn.nodes.entrywise",
    "Global": "symattn.nodes.masks",
    "Hardmax": "symattn.nodes.normalise",
    "Head": "symattn.nodes.heads",
    "VisibleScores": "symattn.nodes.masks",
    "LineDifference": "symattn.nodes.lines",
    "LineQuotient": "symattn.nodes.lines",
    "LineSum": "symattn.nodes.lines",
    "MASKS": "symattn.nodes.masks",
    "Mask": "symattn.nodes.masks",
    "Masked": "symattn.nodes.masks",
    "NORMALISERS": "symattn.nodes.normalise",
    "Node": "symattn.nodes.base",
    "Normaliser": "symattn.nodes.normalise",
    "OffByOneSoftmax": "symattn.nodes.normalise",
    "Padding": "symattn.nodes.masks",
    "PowerTimes": "symattn.nodes.scale",
    "Prefix": "symattn.nodes.masks",
    "Quotient": "symattn.nodes.scale",
    "RelativeBias": "symattn.nodes.biases",
    "RelativeShift": "symattn.nodes.relative",
    "Rotary": "symattn.nodes.positions",
    "RowMax": "symattn.nodes.normalise",
    "RowRatio": "symattn.nodes.normalise",
    "Sigmoid": "symattn.nodes.normalise",
    "SinkSoftmax": "symattn.nodes.normalise",
    "Sinusoidal": "symattn.nodes.positions",
    "Softmax": "symattn.nodes.normalise",
    "Sparsemax": "symattn.nodes.normalise",
    "Strided": "symattn.nodes.masks",
    "Unnormalised": "symattn.nodes.normalise",
    "Window": "symattn.nodes.masks",
    "mask_of": "symattn.nodes.masks",
    "reason_of": "symattn.nodes.masks",
    "NODES": "symattn.nodes.catalogue",
}

__all__ = [
    "MASKS",
    "NODES",
    "NORMALISERS",
    "ALiBi",
    "Allowed",
    "AnyOf",
    "Causal",
    "ClippedShift",
    "Concat",
    "Diagonal",
    "Dilated",
    "Documents",
    "EntryQuotient",
    "Entrywise",
    "Exponential",
    "Global",
    "Hardmax",
    "Head",
    "LineDifference",
    "LineQuotient",
    "LineSum",
    "Mask",
    "Masked",
    "Node",
    "Normaliser",
    "OffByOneSoftmax",
    "Padding",
    "PowerTimes",
    "Prefix",
    "Quotient",
    "RelativeBias",
    "RelativeShift",
    "Rotary",
    "RowMax",
    "RowRatio",
    "Sigmoid",
    "SinkSoftmax",
    "Sinusoidal",
    "Softmax",
    "Sparsemax",
    "Strided",
    "Unnormalised",
    "VisibleScores",
    "Window",
    "mask_of",
    "reason_of",
]


def __getattr__(name: str) -> object:
    """Load a node's home when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'symattn.nodes' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
