"""What the matrices and sizes of attention are called: a name, a letter, and what is known of it.

The words of one score, bias, position scheme or normaliser stand in its own row;
`symattn.attention.vocabulary` has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import sympy

#: What a word knows of its matrix wherever that stands, as an `Item` does.
FACTS = ("logits", "boolean", "fixed", "batch", "weights")


@dataclass(frozen=True)
class Word:
    """A matrix by its name: the letter it goes by, and facts that hold wherever it is given.

    `FACTS` are those of an `Item`. A `learned` matrix is the same in every calculation of a batch,
    a `shared` one the same for all heads.
    """

    name: str
    letter: str
    _: KW_ONLY
    logits: bool = False
    boolean: bool = False
    fixed: bool = False
    batch: bool = False
    weights: bool = False
    learned: bool = False
    shared: bool = False

    @property
    def facts(self) -> dict[str, bool]:
        """The facts that an item carries."""
        return {fact: getattr(self, fact) for fact in FACTS}


@dataclass(frozen=True)
class Parameter(Word):
    """A learned matrix that a row of an axis brings with it: its words, and its rows and columns.

    `shape` is a function of what the axis says: the widths of queries and keys for a score, the
    options for a bias, nothing for positions.
    """

    meaning: str
    shape: Callable[..., tuple[sympy.Expr, sympy.Expr]]
    _: KW_ONLY
    learned: bool = True


#: What every attention may have, in the order in which it is made.
COMMON: tuple[Word, ...] = (
    # where Q, K and V come from
    Word("one_hot", "U", fixed=True, shared=True),
    Word("E", "E", learned=True, shared=True),
    Word("X", "X", shared=True),
    Word("positions", "P", learned=True, shared=True),
    Word("placed", "X_p"),
    Word("memory", "C", shared=True),
    Word("W_Q", "W_Q", learned=True),
    Word("W_K", "W_K", learned=True),
    Word("W_V", "W_V", learned=True),
    Word("W_O", "W_O", learned=True, shared=True),
    Word("b_Q", "b_Q", learned=True),
    Word("b_K", "b_K", learned=True),
    Word("b_V", "b_V", learned=True),
    Word("b_O", "b_O", learned=True, shared=True),
    Word("W_D", "W_D", learned=True, shared=True),
    Word("latent", "C_KV", shared=True),
    Word("latent_past", "C_p", shared=True),
    Word("latent_cached", "C_c"),
    Word("W_DQ", "W_DQ", learned=True, shared=True),
    Word("Q_latent", "C_Q", shared=True),
    Word("Q", "Q", batch=True),
    Word("K", "K"),
    Word("V", "V"),
    Word("K_past", "K_p"),
    Word("V_past", "V_p"),
    Word("K_cached", "K_c"),
    Word("V_cached", "V_c"),
    Word("W_QR", "W_QR", learned=True),
    Word("Q_position", "P_Q"),
    Word("W_KR", "W_KR", learned=True, shared=True),
    Word("K_position", "P_K", shared=True),
    Word("K_position_past", "P_p", shared=True),
    Word("K_position_cached", "P_c"),
    # what is compared
    Word("Q_absorbed", "Q_L"),
    Word("Q_joined", "Q_J"),
    Word("K_joined", "K_J"),
    Word("Q_features", "Q_f"),
    Word("K_features", "K_f"),
    Word("Q_scaled", "Q_s"),
    Word("K_scaled", "K_s"),
    # from scores to the output
    Word("scores", "S", logits=True),
    Word("scaled", "Z", logits=True),
    Word("capped", "Z_cap", logits=True),
    Word("bias", "R", logits=True),
    Word("biased", "Z_bias", logits=True),
    Word("mask", "M", logits=True, fixed=True, shared=True),
    Word("allowed", "B", boolean=True, fixed=True, shared=True),
    Word("masked", "G", logits=True),
    Word("row_max", "rho"),
    Word("exp", "F"),
    Word("exp_sum", "zeta"),
    Word("weights", "A", weights=True),
    Word("latent_output", "O_L"),
    Word("output", "O"),
    Word("heads", "O"),
    Word("concat", "H", shared=True),
    Word("projected", "Y", shared=True),
    # how weights move with scores
    Word("jacobian_own", "J_o"),
    Word("jacobian_taken", "J_t"),
    Word("jacobian", "J"),
    Word("jacobian_sums", "R_J"),
)

#: The names of sizes, in the order in which they are listed: queries, keys, widths, heads.
SIZES = (
    "n",
    "m",
    "p",
    "d_model",
    "d_mem",
    "d_c",
    "d_cq",
    "d_k",
    "d_r",
    "d_a",
    "d_v",
    "d_out",
    "h",
    "g",
    "n_vocab",
    "n_bucket",
    "n_clip",
)
