"""Named variants of attention: a spec, a line about it, and where it was published.

Adding a variant is adding a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from symattn.attention.spec import Attention
from symattn.errors import SymattnError, nearest

_PAPER = "Vaswani et al., Attention Is All You Need (2017)"


@dataclass(frozen=True)
class Variant:
    """A named spec."""

    name: str
    spec: Attention
    about: str
    source: str


VARIANTS: tuple[Variant, ...] = (
    Variant("scaled-dot-product", Attention(), "Q, K and V given, scores over √d_k",
            f"{_PAPER}, section 3.2.1"),
    Variant("dot-product", Attention(scale=False), "the same without the scale",
            "Luong, Pham, Manning, Effective Approaches to Attention-based NMT (2015), sec. 3.1"),
    Variant("self", Attention(source="self"), "queries, keys, values projected from one sequence",
            f"{_PAPER}, section 3.2.3"),
    Variant("causal", Attention(source="self", mask="causal"), "no token sees a later one",
            f"{_PAPER}, section 3.2.3"),
    Variant("cross", Attention(source="cross"), "queries from one sequence, keys and values from "
            "another", f"{_PAPER}, section 3.2.3"),
    Variant("masked", Attention(mask="boolean"), "any boolean matrix says who may attend to whom",
            "ONNX, operator Attention, input attn_mask"),
    Variant("biased", Attention(mask="additive"), "any matrix of numbers is added to the scores",
            "ONNX, operator Attention, input attn_mask"),
    Variant("multi-head", Attention(source="self", heads="h", output_projection=True),
            "several heads with projections of their own, concatenated and projected",
            f"{_PAPER}, section 3.2.2"),
    Variant("causal-multi-head",
            Attention(source="self", heads="h", mask="causal", output_projection=True),
            "multi-head attention as in a decoder", f"{_PAPER}, section 3.2.3"),
    Variant("embedded", Attention(source="self", embedded=True),
            "self-attention from words: one-hot rows times an embedding table",
            f"{_PAPER}, section 3.4"),
    Variant("unfolded", Attention(unfold=True), "the softmax as exponentials, row sums, quotients",
            f"{_PAPER}, section 3.2.1"),
    Variant("ratio", Attention(scale=False, normaliser="sum"),
            "scores over their sum, the plain ratio that softmax replaced",
            "Graves, Wayne, Danihelka, Neural Turing Machines (2014), section 3.3.2"),
)  # fmt: skip


def variant(name: str) -> Variant:
    """The variant of this name; raises `SymattnError` with the nearest name otherwise."""
    for row in VARIANTS:
        if row.name == name:
            return row
    raise SymattnError(f'no variant is called "{name}"{nearest(name, [r.name for r in VARIANTS])}')
