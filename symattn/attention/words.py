"""What the matrices and sizes of attention are called: a name, a letter, and what is known of it.

The words of one score, bias, position scheme or normaliser stand in its own row;
`symattn.attention.vocabulary` has them all.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from symattn.attention.plan import (
    d_c,
    d_cq,
    d_k,
    d_mem,
    d_model,
    d_out,
    d_r,
    d_v,
    d_val,
    m,
    n,
    n_vocab,
    p,
)
from symattn.nodes.arguments import Setting

PAPER = "Vaswani et al. 2017, section "

_LATENT = "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2"
_DECOUPLED = "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.3"
_GATE = "Qiu et al. 2025, section 2.2"
_BACKWARD = "Dao et al. 2022, appendix B.2"

#: What a word knows of its matrix wherever that stands, as an `Item` does.
FACTS = ("logits", "boolean", "fixed", "batch", "weights")


@dataclass(frozen=True)
class Word:
    """A matrix by its name: the letter it goes by, and facts that hold wherever it is given.

    `title` is what it is called in a heading, and `FACTS` are those of an `Item`. A `learned`
    matrix is the same in every calculation of a batch, a `shared` one the same for all heads, a
    `grouped` one the same for all heads of a group. `rule`, `why` and `source` are those of the
    step that makes it, where they are always the same.

    Of an input `meaning` says what it stands for (its title, if empty); `rows` and `columns` are
    its sizes, or those of another matrix: "query.columns".
    """

    name: str
    letter: str
    meaning: str = ""
    _: KW_ONLY
    title: str = ""
    logits: bool = False
    boolean: bool = False
    fixed: bool = False
    batch: bool = False
    weights: bool = False
    learned: bool = False
    shared: bool = False
    grouped: bool = False
    rule: str = ""
    why: str = ""
    source: str = ""
    rows: Setting = n
    columns: Setting = d_model

    @property
    def facts(self) -> dict[str, Any]:
        """The facts that an item carries; without a title it is called what it means."""
        called = self.title or self.meaning.partition(",")[0].removeprefix("the ")
        return {"title": called, **{fact: getattr(self, fact) for fact in FACTS}}


#: What every attention may have, in the order in which it is made.
COMMON: tuple[Word, ...] = (
    # where Q, K and V come from
    Word(
        "one_hot",
        "U",
        title="one-hot vectors",
        fixed=True,
        shared=True,
        meaning="one-hot vectors, each marking which word of the vocabulary the token is",
        columns=n_vocab,
    ),
    Word(
        "E",
        "E",
        title="embedding table",
        learned=True,
        shared=True,
        meaning="embedding table: a vector for each word",
        rows=n_vocab,
    ),
    Word(
        "X",
        "X",
        title="token vectors",
        shared=True,
        rule="embedding look-up",
        why="A one-hot vector selects its word's vector from {E}.",
        source=f"{PAPER}3.4",
        meaning="token vectors, one for each token",
    ),
    Word(
        "positions",
        "P",
        title="position vectors",
        learned=True,
        shared=True,
        meaning="learned position vectors",
    ),
    Word(
        "placed",
        "X_p",
        title="token vectors with positions",
        shared=True,
        rule="sum",
        why="With positions added, the output depends on the order of the tokens.",
        source=f"{PAPER}3.5",
    ),
    Word(
        "memory",
        "C",
        title="token vectors of the second sequence",
        shared=True,
        meaning="token vectors of a second sequence, one for each token",
        rows=m,
        columns=d_mem,
    ),
    Word(
        "memory_V",
        "C_V",
        title="vectors that values are made of",
        shared=True,
        meaning="vectors that the values are made of, one for each token of the second sequence",
        rows=m,
        columns=d_val,
    ),
    Word(
        "W_Q",
        "W_Q",
        title="query projection matrix",
        learned=True,
        rows="tokens.columns",
        columns=d_k,
    ),
    Word(
        "W_K",
        "W_K",
        title="key projection matrix",
        learned=True,
        rows="memory.columns",
        columns=d_k,
        grouped=True,
    ),
    Word(
        "W_V",
        "W_V",
        title="value projection matrix",
        learned=True,
        rows="value_memory.columns",
        columns=d_v,
        grouped=True,
    ),
    Word(
        "W_O",
        "W_O",
        title="output projection matrix",
        learned=True,
        shared=True,
        rows="result.columns",
        columns=d_out,
    ),
    Word("b_Q", "b_Q", title="query bias", learned=True, rows=1, columns=d_k),
    Word("b_K", "b_K", title="key bias", learned=True, rows=1, columns=d_k, grouped=True),
    Word("b_V", "b_V", title="value bias", learned=True, rows=1, columns=d_v, grouped=True),
    Word("b_O", "b_O", title="output bias", learned=True, shared=True, rows=1, columns=d_out),
    Word(
        "W_G",
        "W_G",
        title="gate projection matrix",
        learned=True,
        rows="sequence.columns",
        columns="weighted.columns",
    ),
    Word("b_G", "b_G", title="gate bias", learned=True, rows=1, columns="weighted.columns"),
    Word(
        "W_D",
        "W_D",
        title="down-projection matrix",
        learned=True,
        shared=True,
        meaning="down-projection matrix, which maps tokens to latent vectors",
        rows="memory.columns",
        columns=d_c,
    ),
    Word(
        "latent",
        "C_KV",
        title="latent vectors",
        shared=True,
        rule="projection",
        why="Keys and values are compressed into one latent vector for each token, which is "
        "cached in their place.",
        source=f"{_LATENT}, eq. 9",
    ),
    Word("latent_past", "C_p", title="cached latent vectors", shared=True, rows=p, columns=d_c),
    Word(
        "latent_cached",
        "C_c",
        title="cached and new latent vectors",
        rule="append",
        why="The latent vectors of earlier tokens are taken from the cache, not computed again.",
        source="Shazeer 2019, section 2.4",
        shared=True,
    ),
    Word(
        "W_DQ",
        "W_DQ",
        title="down-projection matrix of the queries",
        learned=True,
        shared=True,
        meaning="down-projection matrix, which maps tokens to the latent vectors of the queries",
        columns=d_cq,
        rows="tokens.columns",
    ),
    Word(
        "Q_latent",
        "C_Q",
        title="latent vectors of the queries",
        shared=True,
        rule="projection",
        why="The queries are compressed too, which saves memory in training.",
        source=f"{_LATENT}, eq. 12",
    ),
    Word(
        "Q",
        "Q",
        title="queries",
        batch=True,
        rule="projection",
        why="The projection gives each token a query, which is compared with the keys.",
        source=f"{PAPER}3.2.2",
        meaning="queries, one for each token",
        columns=d_k,
    ),
    Word(
        "K",
        "K",
        title="keys",
        rule="projection",
        why="The projection gives each token a key, which the queries are compared with.",
        source=f"{PAPER}3.2.2",
        meaning="keys, one for each token",
        rows=m,
        columns=d_k,
        grouped=True,
    ),
    Word(
        "V",
        "V",
        title="values",
        rule="projection",
        why="The projection gives each token a value; outputs are weighted sums of values.",
        source=f"{PAPER}3.2.2",
        meaning="values, one for each token",
        rows=m,
        columns=d_v,
        grouped=True,
    ),
    Word("K_past", "K_p", title="cached keys", rows=p, columns=d_k, grouped=True),
    Word("V_past", "V_p", title="cached values", rows=p, columns=d_v, grouped=True),
    Word(
        "K_cached",
        "K_c",
        title="cached and new keys",
        rule="append",
        why="The keys of earlier tokens are taken from the cache, not computed again.",
        source="Shazeer 2019, section 2.4",
        grouped=True,
    ),
    Word(
        "V_cached",
        "V_c",
        title="cached and new values",
        rule="append",
        why="The values of earlier tokens are taken from the cache, not computed again.",
        source="Shazeer 2019, section 2.4",
        grouped=True,
    ),
    Word(
        "W_QR",
        "W_QR",
        title="projection matrix of the position part of the queries",
        learned=True,
        rows="tokens.columns",
        columns=d_r,
    ),
    Word(
        "Q_position",
        "P_Q",
        title="position part of the queries",
        rule="projection",
        why="A separate part of each query is projected; it will be rotated by an angle "
        "proportional to the token's position.",
        source=f"{_DECOUPLED}, eq. 14",
    ),
    Word(
        "W_KR",
        "W_KR",
        title="projection matrix of the position part of the keys",
        learned=True,
        shared=True,
        rows="second.columns",
        columns=d_r,
    ),
    Word(
        "K_position",
        "P_K",
        title="position part of the keys",
        shared=True,
        rule="projection",
        why="All heads share this key, which is projected from the tokens, not from the latent "
        "vectors.",
        source=f"{_DECOUPLED}, eq. 15",
    ),
    Word(
        "K_position_past",
        "P_p",
        title="cached position part of the keys",
        shared=True,
        meaning="cached position parts of the keys",
        rows=p,
        columns=d_r,
    ),
    Word(
        "K_position_cached",
        "P_c",
        title="position part of the cached and new keys",
        rule="append",
        why="The position parts of the keys of earlier tokens are taken from the cache, not "
        "computed again.",
        source="Shazeer 2019, section 2.4",
        shared=True,
    ),
    # what is compared
    Word(
        "Q_absorbed",
        "Q_L",
        title="absorbed queries",
        rule="projection",
        why="The key projection matrix is applied to the queries instead, so no keys have to be "
        "computed.",
        source=_LATENT,
    ),
    Word(
        "Q_joined",
        "Q_J",
        title="joined queries",
        rule="concatenation",
        why="Content and position parts are joined, so their dot products are added in the score.",
        source=f"{_DECOUPLED}, eq. 16",
    ),
    Word(
        "K_joined",
        "K_J",
        title="joined keys",
        rule="concatenation",
        why="Every head appends the same rotated key.",
        source=f"{_DECOUPLED}, eq. 17",
        grouped=True,
    ),
    Word(
        "Q_features",
        "Q_f",
        title="features of the queries",
        rule="feature map",
        why="The feature map makes every entry non-negative, so the scores are non-negative too.",
    ),
    Word(
        "K_features",
        "K_f",
        title="features of the keys",
        rule="feature map",
        why="The same feature map is applied to the keys.",
        grouped=True,
    ),
    Word(
        "Q_scaled",
        "Q_s",
        title="scaled queries",
        rule="scaling",
        why="Queries and keys are each multiplied by the square root of the scale, so the "
        "scores are scaled already.",
    ),
    Word(
        "K_scaled",
        "K_s",
        title="scaled keys",
        rule="scaling",
        why="The keys are multiplied by the square root of the scale too.",
        grouped=True,
    ),
    # from scores to the output
    Word("scores", "S", title="scores", logits=True, rule="matrix product"),
    Word(
        "scaled",
        "Z",
        title="scaled scores",
        logits=True,
        rule="scaling",
        why="Every score is multiplied by the same number.",
        source=f"{PAPER}3.2.1",
    ),
    Word(
        "capped",
        "Z_cap",
        title="capped scores",
        logits=True,
        rule="soft cap",
        why="The soft cap keeps the absolute value of every score below the cap.",
    ),
    Word(
        "bias",
        "R",
        title="bias of the scores",
        logits=True,
        meaning="matrix that is added to the scores",
        rows="logits.rows",
        columns="logits.columns",
    ),
    Word(
        "biased",
        "Z_bias",
        title="biased scores",
        logits=True,
        rule="sum",
        why="A number that depends on the positions is added to each score.",
    ),
    Word(
        "mask",
        "M",
        title="mask",
        logits=True,
        fixed=True,
        shared=True,
        rule="mask",
        meaning="matrix that is added to the scores",
        rows="logits.rows",
        columns="logits.columns",
    ),
    Word(
        "allowed",
        "B",
        title="allowed pairs",
        boolean=True,
        fixed=True,
        shared=True,
        meaning="matrix whose entry is 1 where the query may attend to the key",
        rows="logits.rows",
        columns="logits.columns",
    ),
    Word("masked", "G", title="masked scores", logits=True, rule="masking"),
    Word(
        "index_scores",
        "S_I",
        "index scores, by which keys are chosen",
        title="index scores",
        logits=True,
        fixed=True,
        shared=True,
        rows="logits.rows",
        columns="logits.columns",
    ),
    Word("choice", "M_top", title="choice of keys", logits=True, fixed=True, rule="top k"),
    Word(
        "selected",
        "G_top",
        title="scores of the chosen keys",
        logits=True,
        rule="masking",
        why="A key that is not chosen has no effect: its score becomes {−∞}, its weight 0.",
    ),
    Word(
        "row_max",
        "rho",
        title="row maxima",
        rule="row maximum",
        why="Subtracting the same number from all of a query's scores leaves its weights "
        "unchanged; with the largest score subtracted, no exponential exceeds 1.",
    ),
    Word(
        "exp",
        "F",
        title="exponentials",
        rule="exponential",
        why="The exponential is increasing and never negative: a higher score gets more weight.",
        source=f"{PAPER}3.2.1",
    ),
    Word(
        "exp_sum",
        "zeta",
        title="row sums of the exponentials",
        rule="row sum",
        why="Each weight will be its exponential divided by this sum over all keys.",
        source=f"{PAPER}3.2.1",
    ),
    Word("weights", "A", title="attention weights", weights=True),
    Word(
        "latent_output",
        "O_L",
        title="averaged latent vectors",
        rule="weighted sum",
        why="For each query, the latent vectors themselves are summed, weighted by that query's "
        "attention weights.",
        source=_LATENT,
    ),
    Word(
        "output",
        "O",
        title="output",
        rule="weighted sum",
        why="For each query, the output is the sum of the values, weighted by that query's "
        "attention weights.",
        source=f"{PAPER}3.2.1",
    ),
    Word(
        "heads",
        "O",
        title="outputs of the heads",
        rule="weighted sum",
        why="For each query, the output is the sum of the values, weighted by that query's "
        "attention weights.",
        source=f"{PAPER}3.2.2",
    ),
    Word(
        "gate_scores",
        "Z_G",
        title="scores of the gate",
        rule="projection",
        why="The projection gives each token numbers that say how much of the output is let "
        "through.",
        source=_GATE,
    ),
    Word(
        "gate",
        "G_O",
        title="gate",
        rule="activation",
        why="The gate depends on the query's own token, not on those attended to.",
        source=_GATE,
    ),
    Word(
        "output_gated",
        "O_gate",
        title="gated output",
        rule="gating",
        why="What a token does not need of the output is multiplied by nearly 0.",
        source=_GATE,
    ),
    Word(
        "concat",
        "H",
        title="concatenated heads",
        shared=True,
        rule="concatenation",
        why="The heads' outputs are joined into one matrix.",
        source=f"{PAPER}3.2.2",
    ),
    Word(
        "projected",
        "Y",
        title="projected output",
        shared=True,
        rule="projection",
        why="{W_O} combines the heads into one vector for each token.",
        source=f"{PAPER}3.2.2",
    ),
    # how weights move with scores
    Word(
        "jacobian_own",
        "J_o",
        rule="quotient rule: numerator",
        why="With the sum held fixed, a weight depends on its own logit alone; its derivative is "
        "the exponential over the sum, which is the weight again.",
        source=_BACKWARD,
    ),
    Word(
        "jacobian_taken",
        "J_t",
        rule="quotient rule: denominator",
        why="The sum grows with every logit, which lowers each weight at the rate of the product "
        "of both weights.",
        source=_BACKWARD,
    ),
    Word(
        "jacobian",
        "J",
        rule="quotient rule",
        why="Together: raising a logit raises its own weight and lowers the others.",
        source=_BACKWARD,
    ),
    Word(
        "jacobian_sums",
        "R_J",
        rule="row sum",
        why="Adding the same number to all logits changes no weight, so each row sums to 0.",
        source=_BACKWARD,
    ),
)

#: The names of sizes, in the order in which they are listed: queries, keys, widths, heads.
SIZES = (
    "n",
    "m",
    "p",
    "d_model",
    "d_mem",
    "d_val",
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
