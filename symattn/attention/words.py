"""What the matrices and sizes of attention are called: a name, a letter, and what is known of it.

The words of one score, bias, position scheme or normaliser stand in its own row;
`symattn.attention.vocabulary` has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import sympy

#: What a word knows of its matrix wherever that stands, as an `Item` does.
FACTS = ("logits", "boolean", "fixed", "batch", "weights")


@dataclass(frozen=True)
class Word:
    """A matrix by its name: the letter it goes by, and facts that hold wherever it is given.

    `title` is what it is called in a heading, and `FACTS` are those of an `Item`. A `learned`
    matrix is the same in every calculation of a batch, a `shared` one the same for all heads.
    """

    name: str
    letter: str
    _: KW_ONLY
    title: str = ""
    logits: bool = False
    boolean: bool = False
    fixed: bool = False
    batch: bool = False
    weights: bool = False
    learned: bool = False
    shared: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        """The facts that an item carries."""
        return {"title": self.title, **{fact: getattr(self, fact) for fact in FACTS}}


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

    @property
    def facts(self) -> dict[str, Any]:
        """The facts that an item carries; without a title of its own it is called what it is."""
        called = self.title or self.meaning.partition(",")[0].removeprefix("the ")
        return {**super().facts, "title": called}


#: What every attention may have, in the order in which it is made.
COMMON: tuple[Word, ...] = (
    # where Q, K and V come from
    Word("one_hot", "U", title="one-hot vectors", fixed=True, shared=True),
    Word("E", "E", title="embedding table", learned=True, shared=True),
    Word("X", "X", title="token vectors", shared=True),
    Word("positions", "P", title="position vectors", learned=True, shared=True),
    Word("placed", "X_p", title="token vectors with positions"),
    Word("memory", "C", title="token vectors of the second sequence", shared=True),
    Word("W_Q", "W_Q", title="query projection matrix", learned=True),
    Word("W_K", "W_K", title="key projection matrix", learned=True),
    Word("W_V", "W_V", title="value projection matrix", learned=True),
    Word("W_O", "W_O", title="output projection matrix", learned=True, shared=True),
    Word("b_Q", "b_Q", title="query bias", learned=True),
    Word("b_K", "b_K", title="key bias", learned=True),
    Word("b_V", "b_V", title="value bias", learned=True),
    Word("b_O", "b_O", title="output bias", learned=True, shared=True),
    Word("W_D", "W_D", title="down-projection matrix", learned=True, shared=True),
    Word("latent", "C_KV", title="latent vectors", shared=True),
    Word("latent_past", "C_p", title="cached latent vectors", shared=True),
    Word("latent_cached", "C_c", title="cached and new latent vectors"),
    Word("W_DQ", "W_DQ", title="down-projection matrix of the queries", learned=True, shared=True),
    Word("Q_latent", "C_Q", title="latent vectors of the queries", shared=True),
    Word("Q", "Q", title="queries", batch=True),
    Word("K", "K", title="keys"),
    Word("V", "V", title="values"),
    Word("K_past", "K_p", title="cached keys"),
    Word("V_past", "V_p", title="cached values"),
    Word("K_cached", "K_c", title="cached and new keys"),
    Word("V_cached", "V_c", title="cached and new values"),
    Word(
        "W_QR", "W_QR", title="projection matrix of the position part of the queries", learned=True
    ),
    Word("Q_position", "P_Q", title="position part of the queries"),
    Word(
        "W_KR",
        "W_KR",
        title="projection matrix of the position part of the keys",
        learned=True,
        shared=True,
    ),
    Word("K_position", "P_K", title="position part of the keys", shared=True),
    Word("K_position_past", "P_p", title="cached position part of the keys", shared=True),
    Word("K_position_cached", "P_c", title="position part of the cached and new keys"),
    # what is compared
    Word("Q_absorbed", "Q_L", title="absorbed queries"),
    Word("Q_joined", "Q_J", title="joined queries"),
    Word("K_joined", "K_J", title="joined keys"),
    Word("Q_features", "Q_f", title="features of the queries"),
    Word("K_features", "K_f", title="features of the keys"),
    Word("Q_scaled", "Q_s", title="scaled queries"),
    Word("K_scaled", "K_s", title="scaled keys"),
    # from scores to the output
    Word("scores", "S", title="scores", logits=True),
    Word("scaled", "Z", title="scaled scores", logits=True),
    Word("capped", "Z_cap", title="capped scores", logits=True),
    Word("bias", "R", title="bias of the scores", logits=True),
    Word("biased", "Z_bias", title="biased scores", logits=True),
    Word("mask", "M", title="mask", logits=True, fixed=True, shared=True),
    Word("allowed", "B", title="allowed pairs", boolean=True, fixed=True, shared=True),
    Word("masked", "G", title="masked scores", logits=True),
    Word("row_max", "rho", title="row maxima"),
    Word("exp", "F", title="exponentials"),
    Word("exp_sum", "zeta", title="row sums of the exponentials"),
    Word("weights", "A", title="attention weights", weights=True),
    Word("latent_output", "O_L", title="averaged latent vectors"),
    Word("output", "O", title="output"),
    Word("heads", "O", title="outputs of the heads"),
    Word("concat", "H", title="concatenated heads", shared=True),
    Word("projected", "Y", title="projected output", shared=True),
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
