"""The letters of papers and textbooks: what each writes for the matrices, sizes and indices here.

Where a paper has one letter for two things that stand in one derivation, one of them has another
here. Adding a notation is adding a row of `PRESETS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Preset:
    """A notation by name: its symbols, its other choices, and where it is from."""

    name: str
    symbols: Mapping[str, str]
    source: str
    choices: Mapping[str, str] = field(default_factory=dict)


PRESETS: tuple[Preset, ...] = (
    # head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V), MultiHead = Concat(head_1, …, head_h) W^O
    Preset(
        "vaswani",
        {
            "heads": "head",
            "W_Q": "W^Q",
            "W_K": "W^K",
            "W_V": "W^V",
            "W_O": "W^O",
            "positions": "PE",
            "head": "i",
            "h": "h",
        },
        "Vaswani et al., Attention Is All You Need (2017), sections 3.2 and 3.5",
        {"head_index": "below"},
    ),
    # S = Q Kᵀ ∈ ℝ^{N×N}, P = softmax(S), O = P V; row maximum m, row sum ℓ
    Preset(
        "flash-attention",
        {
            "weights": "P",
            "weights[i,j]": "p",
            "masked": "S^{masked}",
            "row_max": "m",
            "exp_sum": r"\ell",
            "positions": "E_pos",
            "n": "N",
            "m": "N_k",
            "p": "N_p",
            "d_k": "d",
        },
        "Dao et al., FlashAttention (2022), sections 2.2 and 3.1, appendix B",
    ),
    # q_m = R_{Θ,m} W_q x_m, θ_i = 10000^{−2(i−1)/d}, a_{m,n}
    Preset(
        "roformer",
        {
            "W_Q": "W_q",
            "W_K": "W_k",
            "W_V": "W_v",
            "row": "m",
            "column": "n",
            "pair": "i",
            "n": "N",
            "m": "N_k",
            "d_k": "d",
        },
        "Su et al., RoFormer (2021), sections 2.1 and 3.2",
    ),
    # c_t^{KV} = W^{DKV} h_t: the columns of C^{KV} = W^{DKV} H
    Preset(
        "deepseek",
        {
            "X": "H",
            "X[i,j]": "h",
            "W_D": "W^{DKV}",
            "latent": "C^{KV}",
            "W_DQ": "W^{DQ}",
            "Q_latent": "C^Q",
            "W_Q": "W^{UQ}",
            "W_K": "W^{UK}",
            "W_V": "W^{UV}",
            "W_QR": "W^{QR}",
            "W_KR": "W^{KR}",
            "Q": "Q^C",
            "K": "K^C",
            "V": "V^C",
            "Q_rotated": "Q^R",
            "K_rotated": "K^R",
            "Q_joined": "Q",
            "K_joined": "K",
            "W_O": "W^O",
            "concat": "O_cat",
            "projected": "U",
            "one_hot": "N",
            "row": "j",
            "column": "t",
            "pair": "r",
            "head": "i",
            "h": "n_h",
            "d_k": "d_h",
            "d_r": "d_h^R",
            "d_cq": "d_c'",
            "d_model": "d",
        },
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1",
        {"convention": "columns", "head_index": "below"},
    ),
    # Y = Softmax[Q Kᵀ/√D_k] V with Q = X W^{(q)}; H_h = Attention(Q_h, K_h, V_h)
    Preset(
        "bishop",
        {
            "X": r"\mathbf{X}",
            "Q": r"\mathbf{Q}",
            "K": r"\mathbf{K}",
            "V": r"\mathbf{V}",
            "W_Q": r"\mathbf{W}^{(q)}",
            "W_K": r"\mathbf{W}^{(k)}",
            "W_V": r"\mathbf{W}^{(v)}",
            "W_O": r"\mathbf{W}^{(o)}",
            "weights": r"\mathbf{A}",
            "heads": r"\mathbf{H}",
            "output": r"\mathbf{Y}",
            "concat": r"\mathbf{H}_{cat}",
            "projected": r"\mathbf{Y}(\mathbf{X})",
            "row": "n",
            "column": "m",
            "n": "N",
            "m": "N_k",
            "d_model": "D",
            "d_k": "D_k",
            "d_v": "D_v",
            "h": "H",
        },
        "Bishop, Bishop, Deep Learning: Foundations and Concepts (2024), section 12.1",
        {"head_index": "below"},
    ),
)
