"""Named variants of attention: a spec, a line about it, and where it was published.

Adding a variant is adding a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from symattn.attention.spec import Attention
from symattn.errors import NoSuchName, nearest, quote
from symattn.nodes.arguments import Setting

_PAPER = "Vaswani et al., Attention Is All You Need (2017), section "
_SELF: dict[str, Setting] = {"source": "self"}
_HEADS: dict[str, Setting] = {"source": "self", "heads": "h", "output_projection": True}


@dataclass(frozen=True)
class Variant:
    """A named spec; `called` where a title says more than the name: Causal attention with ALiBi."""

    name: str
    spec: Attention
    about: str
    source: str
    called: str = ""

    @property
    def title(self) -> str:
        """The first words of a title: Causal attention."""
        return self.called or f"{self.name[0].upper()}{self.name[1:]} attention"


VARIANTS: tuple[Variant, ...] = (
    Variant(
        "scaled-dot-product",
        Attention(),
        "queries, keys and values given, scores divided by √d_k",
        f"{_PAPER}3.2.1",
    ),
    Variant(
        "dot-product",
        Attention(scale=False),
        "dot-product scores without the division by √d_k",
        "Luong, Pham, Manning, Effective Approaches to Attention-based NMT (2015), sec. 3.1",
    ),
    Variant(
        "bare",
        Attention(source="bare", scale=False),
        "no projections: token vectors serve as queries, keys and values",
        "Raschka, Build a Large Language Model (2024), section 3.3",
    ),
    Variant(
        "self",
        Attention(**_SELF),
        "queries, keys and values projected from one sequence",
        f"{_PAPER}3.2.3",
        "Self-attention",
    ),
    Variant(
        "causal",
        Attention(**_SELF, mask="causal"),
        "each token attends only to itself and earlier tokens",
        f"{_PAPER}3.2.3",
        "Causal self-attention",
    ),
    Variant(
        "cross",
        Attention(source="cross"),
        "queries from one sequence, keys and values from another",
        f"{_PAPER}3.2.3",
        "Cross-attention",
    ),
    Variant(
        "masked",
        Attention(mask="boolean"),
        "a given boolean matrix says which keys each query may attend to",
        "ONNX, operator Attention, input attn_mask",
    ),
    Variant(
        "biased",
        Attention(mask="additive"),
        "a given matrix of numbers is added to the scores",
        "ONNX, operator Attention, input attn_mask",
    ),
    Variant(
        "multi-head",
        Attention(**_HEADS),
        "several heads with their own projections, concatenated and projected",
        f"{_PAPER}3.2.2",
    ),
    Variant(
        "causal-multi-head",
        Attention(**_HEADS, mask="causal"),
        "multi-head attention with a causal mask, as in a decoder",
        f"{_PAPER}3.2.3",
        "Causal multi-head attention",
    ),
    Variant(
        "multi-head-sum",
        Attention(**_HEADS, output_form="sum"),
        "multi-head attention written as a sum over the heads",
        "Elhage et al., A Mathematical Framework for Transformer Circuits (2021)",
        "Multi-head attention as a sum",
    ),
    Variant(
        "multi-query",
        Attention(**_HEADS, kv_heads=1),
        "all heads share one key and one value projection",
        "Shazeer, Fast Transformer Decoding (2019), section 3",
    ),
    Variant(
        "grouped-query",
        Attention(**_HEADS, kv_heads="g"),
        "groups of heads share keys and values",
        "Ainslie et al., GQA (2023), section 2.2",
    ),
    Variant(
        "multi-head-latent",
        Attention(**_HEADS, latent=True),
        "keys and values computed from one small latent vector, which alone is cached",
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2",
        "Multi-head latent attention",
    ),
    Variant(
        "absorbed-latent",
        Attention(**_HEADS, latent="absorbed"),
        "latent attention that compares queries with the latent vectors, computing no "
        "keys or values",
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2",
        "Multi-head latent attention with absorbed projections",
    ),
    Variant(
        "deepseek",
        Attention(
            **_HEADS,
            latent=True,
            query_latent=True,
            mask="causal",
            positions={"rotary": {"decoupled": True}},
        ),
        "latent vectors for queries, keys and values; rotary position embeddings in a "
        "separate part; a causal mask",
        "DeepSeek-AI, DeepSeek-V2 (2024), sections 2.1.2 and 2.1.3, equations 9 to 19",
        "DeepSeek's latent attention",
    ),
    Variant(
        "embedded",
        Attention(**_SELF, embedded=True),
        "token vectors looked up: one-hot vectors times an embedding table",
        f"{_PAPER}3.4",
        "Self-attention with an embedding",
    ),
    Variant(
        "sinusoidal",
        Attention(**_SELF, positions="sinusoidal"),
        "sines and cosines of the position added to the token vectors",
        f"{_PAPER}3.5",
        "Attention with sinusoidal position encodings",
    ),
    Variant(
        "learned-positions",
        Attention(**_SELF, positions="learned"),
        "a learned vector for each position added to the token vectors",
        "Gehring et al., Convolutional Sequence to Sequence Learning (2017), section 3.1",
        "Attention with learned position embeddings",
    ),
    Variant(
        "rotary",
        Attention(**_SELF, positions="rotary", mask="causal"),
        "a causal mask; queries and keys rotated by angles proportional to their positions",
        "Su et al., RoFormer (2021), section 3.2.2",
        "Causal attention with rotary position embeddings (RoFormer)",
    ),
    Variant(
        "llama",
        Attention(**_HEADS, kv_heads="g", mask="causal", positions={"rotary": {"pairing": "half"}}),
        "causal mask, rotary position embeddings (half-split pairs, as in Hugging "
        "Face's implementation), grouped heads",
        "Touvron et al., Llama 2 (2023), section 2.2",
    ),
    Variant(
        "alibi",
        Attention(source="self", heads="h", bias="alibi", mask="causal"),
        "a causal mask, and a penalty proportional to the distance, with a different "
        "slope in each head",
        "Press, Smith, Lewis, Train Short, Test Long (2021), section 3",
        "Causal attention with ALiBi",
    ),
    Variant(
        "t5",
        Attention(**_HEADS, scale=False, bias="relative"),
        "a learned bias for each head and each bucket of distances; scores are not scaled",
        "Raffel et al., T5 (2020), section 2.1",
        "T5 attention",
    ),
    Variant(
        "shaw",
        Attention(source="self", heads="h", score="shaw"),
        "a learned key for each relative position, clipped at a maximum distance; "
        "without the paper's learned values",
        "Shaw, Uszkoreit, Vaswani, Self-Attention with Relative Position Representations "
        "(2018), section 3.2",
        "Attention with relative positions (Shaw)",
    ),
    Variant(
        "transformer-xl",
        Attention(**_HEADS, score="transformer-xl", mask="causal"),
        "a causal mask; scores of four terms: content and distance, each with and "
        "without the query",
        "Dai et al., Transformer-XL (2019), section 3.3",
        "Transformer-XL attention",
    ),
    Variant(
        "bahdanau",
        Attention(source="given", score="additive", scale=False),
        "a small network scores each pair of query and key",
        "Bahdanau, Cho, Bengio (2015), section A.1.2",
    ),
    Variant(
        "luong-general",
        Attention(source="given", score="general", scale=False),
        "a bilinear form: a learned matrix between query and key",
        "Luong, Pham, Manning (2015), section 3.1",
        "Luong's general attention",
    ),
    Variant(
        "cosine",
        Attention(source="given", score="cosine", scale=False),
        "the score is the cosine of the angle between query and key",
        "Graves, Wayne, Danihelka, Neural Turing Machines (2014), section 3.3.1",
    ),
    Variant(
        "nadaraya-watson",
        Attention(source="given", score="distance", scale="1/2"),
        "kernel regression: values weighted by a Gaussian of the distance",
        "Nadaraya (1964); Watson (1964)",
        "Nadaraya-Watson attention",
    ),
    Variant(
        "sliding-window",
        Attention(**_SELF, mask={"window": 2}),
        "each token attends only to itself and its neighbours",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
    ),
    Variant(
        "mistral",
        Attention(**_SELF, mask={"window": [3, 0]}),
        "each token attends to itself and to a fixed number of tokens before it",
        "Jiang et al., Mistral 7B (2023), section 2",
    ),
    Variant(
        "longformer",
        Attention(**_SELF, mask={"any": [{"window": 1}, {"global": [1]}]}),
        "a window, and a global token, which attends to all tokens and to which all tokens attend",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
    ),
    Variant(
        "strided",
        Attention(**_SELF, mask={"strided": 2}),
        "each token attends to the last few tokens, and to earlier ones at regular intervals",
        "Child et al., Generating Long Sequences with Sparse Transformers (2019), section 4.3",
    ),
    Variant(
        "prefix-lm",
        Attention(**_SELF, mask={"prefix": 2}),
        "every token attends to the whole prefix; the rest is causal",
        "Raffel et al., T5 (2020), section 3.2.1",
        "Attention of a prefix LM",
    ),
    Variant(
        "gemma",
        Attention(**_HEADS, mask="causal", soft_cap=50),
        "a causal mask; scores kept between −50 and 50 by a soft cap",
        "Gemma Team, Gemma 2 (2024), section 2",
    ),
    Variant(
        "off-by-one",
        Attention(normaliser="softmax-off-by-one"),
        "1 is added to the softmax's denominator, so all weights can be near 0",
        "Miller, Attention Is Off By One (2023)",
        "Softmax-off-by-one attention",
    ),
    Variant(
        "sink",
        Attention(source="self", heads="h", normaliser="softmax-sink", mask="causal"),
        "a causal mask; a learned extra logit takes a share of the weight, but has no value vector",
        "Xiao et al., Efficient Streaming Language Models with Attention Sinks (2023); "
        "OpenAI, gpt-oss (2025)",
        "Causal attention with a sink",
    ),
    Variant(
        "sigmoid",
        Attention(normaliser="sigmoid"),
        "a sigmoid of each score, independent of the other scores",
        "Ramapuram et al., Theory, Analysis, and Best Practices for Sigmoid Self-Attention (2024)",
    ),
    Variant(
        "sparsemax",
        Attention(normaliser="sparsemax"),
        "the Euclidean projection onto the probability simplex in place of softmax: "
        "weights may be exactly 0",
        "Martins, Astudillo, From Softmax to Sparsemax (2016)",
    ),
    Variant(
        "hard",
        Attention(normaliser="hardmax"),
        "all weight on the key with the highest score",
        "ONNX, operator Hardmax",
    ),
    Variant(
        "linear",
        Attention(feature_map="elu+1", scale=False, normaliser="sum"),
        "non-negative features of queries and keys instead of exponentials",
        "Katharopoulos et al., Transformers are RNNs (2020), section 3.2",
    ),
    Variant(
        "causal-linear",
        Attention(feature_map="elu+1", scale=False, normaliser="sum", mask="causal"),
        "linear attention with a causal mask",
        "Katharopoulos et al., Transformers are RNNs (2020), section 3.3",
        "Causal linear attention",
    ),
    Variant(
        "hopfield",
        Attention(source="given", scale="1/2", tie="key-value"),
        "one update of a modern Hopfield network: values are the stored patterns",
        "Ramsauer et al., Hopfield Networks is All You Need (2020), section 2",
    ),
    Variant(
        "cached",
        Attention(**_SELF, cache=True, mask="causal"),
        "decoding: keys and values of earlier tokens come from a cache",
        "Shazeer, Fast Transformer Decoding (2019), section 2.4",
        "Attention with a cache",
    ),
    Variant(
        "cached-window",
        Attention(**_SELF, cache=True, mask={"window": [3, 0]}),
        "decoding in which each token attends only to the last few tokens",
        "Jiang et al., Mistral 7B (2023), section 2, rolling buffer cache",
        "Sliding-window attention with a cache",
    ),
    Variant(
        "cached-llama",
        Attention(
            **_HEADS,
            kv_heads="g",
            cache=True,
            mask="causal",
            positions={"rotary": {"pairing": "half"}},
        ),
        "decoding with rotary position embeddings and with grouped heads; the groups "
        "keep the cache small",
        "Ainslie et al., GQA (2023), section 2.2",
        "Llama attention with a cache",
    ),
    Variant(
        "perceiver",
        Attention(source="cross", heads="h", output_projection=True),
        "a few latent vectors (X) attend to a long input (memory)",
        "Jaegle et al., Perceiver (2021), section 3.1",
    ),
    Variant(
        "set-pooling",
        Attention(source="cross", heads="h", output_projection=True),
        "a few learned seed vectors (X) attend to a set (memory)",
        "Lee et al., Set Transformer (2019), section 3.2, equation 11",
        "Set pooling by attention",
    ),
    Variant(
        "unfolded",
        Attention(unfold=True),
        "the softmax written as exponentials, sums and quotients",
        f"{_PAPER}3.2.1",
        "Attention with the softmax in steps",
    ),
    Variant(
        "ratio",
        Attention(scale=False, normaliser="sum"),
        "scores divided by their sum, without exponentials",
        "Graves, Wayne, Danihelka, Neural Turing Machines (2014), section 3.3.2",
        "Attention without exponentials",
    ),
)


def variant(name: str) -> Variant:
    """The variant of this name; raises `SymattnError` with the nearest name otherwise."""
    rows = {row.name: row for row in VARIANTS}
    if not isinstance(name, str) or name not in rows:
        raise NoSuchName(f"no variant is called {quote(name)}{nearest(name, rows)}")
    return rows[name]
