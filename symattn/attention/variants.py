"""Named variants of attention: a spec or a text, a line about it, and where it was published.

Adding a variant is adding a row: to `VARIANTS` where choices of `Attention` say it, to `TEXTS`
where equations do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symattn.errors import NoSuchName, SymattnError, nearest, quote
from symattn.shown import Named

if TYPE_CHECKING:  # start-up time: a list of names needs no SymPy
    from symattn.attention.spec import Attention
    from symattn.derivations import Derivation
    from symattn.language.spec import Equations

_PAPER = "Vaswani et al., Attention Is All You Need (2017), section "
_SELF: dict[str, Any] = {"source": "self"}
_HEADS: dict[str, Any] = {"source": "self", "heads": "h", "output_projection": True}
_LLAMA: dict[str, Any] = {
    **_HEADS,
    "kv_heads": "g",
    "mask": "causal",
    "positions": {"rotary": {"pairing": "half"}},
}
_EPS = "1e-6"


@dataclass(frozen=True, repr=False)
class Variant(Named):
    """A named spec, by its choices, which are what `Attention` takes; or a `text` of equations.

    `called` is its title where that says more than the name (Causal attention with ALiBi),
    `computes` the first line of its programs, `used_by` names published models that have it, as
    their papers or their code in Hugging Face's Transformers say; empty where none is known here.
    """

    name: str
    choices: Mapping[str, Any] = field(hash=False)
    about: str
    source: str
    called: str = ""
    computes: str = ""
    used_by: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.about} ({self.origin})"

    @property
    def origin(self) -> str:
        """Where it was published, and which models use it: Su et al. (2021); used by GPT-J."""
        return f"{self.source}; used by {self.used_by}" if self.used_by else self.source

    @cached_property
    def spec(self) -> Attention:
        """The choices, settled when they are first asked for: a list of names needs no SymPy.

        Raises `SymattnError` for a variant that equations say.
        """
        from symattn.attention.spec import Attention  # start-up time

        if self.text:
            raise SymattnError(f"{self.name}: equations say it, not choices of an Attention")
        return Attention(**self.choices)

    @cached_property
    def equations(self) -> Equations:
        """The text, with the usual order of sizes, and what is known of steps by their words."""
        from symattn.attention.vocabulary import equations

        return equations(self.text)

    @property
    def said(self) -> Attention | Equations:
        """What it is: its equations, or the spec of its choices."""
        return self.equations if self.text else self.spec

    @property
    def title(self) -> str:
        """The first words of a title: Causal attention."""
        return self.called or f"{self.name[0].upper()}{self.name[1:]} attention"

    def told_of(self, derivation: Derivation) -> Derivation:
        """A derivation of it that says so, with its source."""
        about = self.computes or self.about
        return replace(derivation, title=self.title, about=about, source=self.source)

    def derivation(self) -> Derivation:
        """All steps, with its title, what it computes, and where it was published.

        >>> variant("rotary").derivation().about
        'Causal self-attention with queries and keys rotated by their positions'
        """
        return self.told_of(self.said.derivation())


def _choices(**choices: Any) -> dict[str, Any]:
    """What `Attention` takes."""
    return choices


VARIANTS: tuple[Variant, ...] = (
    Variant(
        "scaled-dot-product",
        _choices(),
        "queries, keys and values given, scores divided by √d_k",
        f"{_PAPER}3.2.1",
        computes="Dot-product attention, softmax(q kᵀ / √d_k) v",
        used_by="the Transformer",
    ),
    Variant(
        "dot-product",
        _choices(scale=False),
        "dot-product scores without the division by √d_k",
        "Luong, Pham, Manning, Effective Approaches to Attention-based NMT (2015), sec. 3.1",
        computes="Dot-product attention without a scale, softmax(q kᵀ) v",
        used_by="Luong et al.'s translation models",
    ),
    Variant(
        "bare",
        _choices(source="bare", scale=False),
        "no projections: token vectors serve as queries, keys and values",
        "Raschka, Build a Large Language Model (2024), section 3.3",
        computes="Attention in which the token vectors are queries, keys and values at once",
    ),
    Variant(
        "self",
        _choices(**_SELF),
        "queries, keys and values projected from one sequence",
        f"{_PAPER}3.2.3",
        "Self-attention",
        computes="Attention of one sequence to itself, through learned projections",
    ),
    Variant(
        "causal",
        _choices(**_SELF, mask="causal"),
        "each token attends only to itself and earlier tokens",
        f"{_PAPER}3.2.3",
        "Causal self-attention",
        computes="Self-attention in which no token sees a later one",
    ),
    Variant(
        "cross",
        _choices(source="cross"),
        "queries from one sequence, keys and values from another",
        f"{_PAPER}3.2.3",
        "Cross-attention",
        computes="Attention of one sequence (x) to another one (memory)",
    ),
    Variant(
        "masked",
        _choices(mask="boolean"),
        "a given boolean matrix says which keys each query may attend to",
        "ONNX, operator Attention, input attn_mask",
        computes="Attention to the keys that a boolean matrix allows each query",
    ),
    Variant(
        "biased",
        _choices(mask="additive"),
        "a given matrix of numbers is added to the scores",
        "ONNX, operator Attention, input attn_mask",
        computes="Attention with a matrix of numbers added to its scores",
    ),
    Variant(
        "multi-head",
        _choices(**_HEADS),
        "several heads with their own projections, concatenated and projected",
        f"{_PAPER}3.2.2",
        computes="Several heads of attention side by side, concatenated and projected",
        used_by="the encoders of the Transformer and of BERT",
    ),
    Variant(
        "causal-multi-head",
        _choices(**_HEADS, mask="causal"),
        "multi-head attention with a causal mask, as in a decoder",
        f"{_PAPER}3.2.3",
        "Causal multi-head attention",
        computes="Multi-head attention in which no token sees a later one, as in a decoder",
        used_by="the Transformer's decoder, GPT-2",
    ),
    Variant(
        "multi-head-sum",
        _choices(**_HEADS, output_form="sum"),
        "multi-head attention written as a sum over the heads",
        "Elhage et al., A Mathematical Framework for Transformer Circuits (2021)",
        "Multi-head attention as a sum",
        computes="Multi-head attention as a sum, each head's output projected on its own",
    ),
    Variant(
        "multi-query",
        _choices(**_HEADS, kv_heads=1),
        "all heads share one key and one value projection",
        "Shazeer, Fast Transformer Decoding (2019), section 3",
        computes="Multi-head attention whose heads share one key and one value projection",
        used_by="Falcon, GPTBigCode",
    ),
    Variant(
        "grouped-query",
        _choices(**_HEADS, kv_heads="g"),
        "groups of heads share keys and values",
        "Ainslie et al., GQA (2023), section 2.2",
        computes="Multi-head attention in which groups of heads share keys and values",
        used_by="Llama 2, Mistral, Qwen2",
    ),
    Variant(
        "multi-head-latent",
        _choices(**_HEADS, latent=True),
        "keys and values computed from one small latent vector, which alone is cached",
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2",
        "Multi-head latent attention",
        computes="Multi-head attention whose keys and values are made from one small latent",
        used_by="DeepSeek-V2, DeepSeek-V3",
    ),
    Variant(
        "absorbed-latent",
        _choices(**_HEADS, latent="absorbed"),
        "latent attention that compares queries with the latent vectors, computing no "
        "keys or values",
        "DeepSeek-AI, DeepSeek-V2 (2024), section 2.1.2",
        "Multi-head latent attention with absorbed projections",
        computes="Latent attention that compares queries with the latent and makes no keys",
        used_by="DeepSeek-V2 when it generates",
    ),
    Variant(
        "deepseek",
        _choices(
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
        computes="Causal multi-head attention over latents, with rotary positions kept apart",
        used_by="DeepSeek-V2, DeepSeek-V3",
    ),
    Variant(
        "embedded",
        _choices(**_SELF, embedded=True),
        "token vectors looked up: one-hot vectors times an embedding table",
        f"{_PAPER}3.4",
        "Self-attention with an embedding",
        computes="Self-attention over token vectors looked up in an embedding table",
    ),
    Variant(
        "sinusoidal",
        _choices(**_SELF, positions="sinusoidal"),
        "sines and cosines of the position added to the token vectors",
        f"{_PAPER}3.5",
        "Attention with sinusoidal position encodings",
        computes="Self-attention with sinusoidal positions added to the token vectors",
        used_by="the Transformer, Whisper's encoder",
    ),
    Variant(
        "learned-positions",
        _choices(**_SELF, positions="learned"),
        "a learned vector for each position added to the token vectors",
        "Gehring et al., Convolutional Sequence to Sequence Learning (2017), section 3.1",
        "Attention with learned position embeddings",
        computes="Self-attention with a learned position vector added to each token vector",
        used_by="BERT, GPT-2, BART",
    ),
    Variant(
        "rotary",
        _choices(**_SELF, positions="rotary", mask="causal"),
        "a causal mask; queries and keys rotated by angles proportional to their positions",
        "Su et al., RoFormer (2021), section 3.2.2",
        "Causal attention with rotary position embeddings (RoFormer)",
        computes="Causal self-attention with queries and keys rotated by their positions",
        used_by="GPT-J, on a part of each head",
    ),
    Variant(
        "llama",
        _choices(**_LLAMA),
        "causal mask, rotary position embeddings (half-split pairs, as in Hugging "
        "Face's implementation), grouped heads",
        "Touvron et al., Llama 2 (2023), section 2.2",
        computes="Causal grouped-query attention with rotary positions, paired by halves",
        used_by="Llama 2, Mistral, Qwen2",
    ),
    Variant(
        "qwen2",
        _choices(**_LLAMA, projection_bias=["Q", "K", "V"]),
        "Llama's attention with biases of queries, keys and values, and none of the output",
        "Yang et al., Qwen2 Technical Report (2024), section 2.2",
        computes="Llama's attention with biases added to queries, keys and values",
    ),
    Variant(
        "qwen3",
        _choices(**_LLAMA, norm={"rms": {"eps": _EPS, "gain": True}}),
        "Llama's attention with an RMSNorm of each head's queries and keys before the rotation",
        "Qwen Team, Qwen3 Technical Report (2025), section 2",
        computes="Llama's attention with queries and keys normalised in each head, then rotated",
    ),
    Variant(
        "qwen3-next",
        _choices(
            **_LLAMA,
            norm={"rms": {"eps": _EPS, "gain": "one-plus"}},
            output_gate="sigmoid",
        ),
        "queries and keys normalised with a gain of 1 + α; a sigmoid gate of the token on each "
        "entry of each head's output",
        "Qiu et al., Gated Attention for Large Language Models (2025), section 2.2; Hugging Face "
        "transformers, Qwen3NextAttention",
        "Qwen3-Next attention",
        computes="Llama's attention with normalised queries and keys and a gate on the output",
    ),
    Variant(
        "gated-heads",
        _choices(**_HEADS, mask="causal", output_gate={"sigmoid": {"headwise": True}}),
        "one sigmoid gate for each head and token, by which the head's output is multiplied",
        "Qiu et al., Gated Attention for Large Language Models (2025), section 2.2",
        "Causal attention with gated heads",
        computes="Causal multi-head attention, each head's output times a gate of the token",
    ),
    Variant(
        "olmo-2",
        _choices(**_LLAMA, norm={"rms": {"eps": _EPS, "gain": True, "joined": True}}),
        "Llama's attention with one RMSNorm of the queries of all heads, and one of the keys",
        "OLMo Team, 2 OLMo 2 Furious (2025), section 2.1",
        "OLMo 2 attention",
        computes="Llama's attention with the queries of all heads normalised as one row",
    ),
    Variant(
        "gemma-3",
        _choices(**_LLAMA, norm={"rms": {"eps": _EPS, "gain": "one-plus"}}),
        "Llama's attention with queries and keys normalised; the gain is 1 + α",
        "Gemma Team, Gemma 3 Technical Report (2025), section 2",
        "Gemma 3 attention",
        computes="Llama's attention with normalised queries and keys, whose gain is 1 + α",
    ),
    Variant(
        "chameleon",
        _choices(**_LLAMA, norm={"layer": {"eps": "1e-5", "gain": "head", "shift": "head"}}),
        "Llama's attention with a LayerNorm of queries and keys, learned by each head",
        "Chameleon Team, Chameleon: Mixed-Modal Early-Fusion Foundation Models (2024), section 2.3",
        computes="Llama's attention with a LayerNorm of each head's queries and keys",
    ),
    Variant(
        "vit-22b",
        _choices(**_HEADS, norm={"layer": {"eps": _EPS, "gain": True}}),
        "multi-head attention with a LayerNorm of queries and keys, without biases",
        "Dehghani et al., Scaling Vision Transformers to 22 Billion Parameters (2023), section 2",
        "ViT-22B attention",
        computes="Multi-head attention with a LayerNorm of each head's queries and keys",
    ),
    Variant(
        "alibi",
        _choices(source="self", heads="h", bias="alibi", mask="causal"),
        "a causal mask, and a penalty proportional to the distance, with a different "
        "slope in each head",
        "Press, Smith, Lewis, Train Short, Test Long (2021), section 3",
        "Causal attention with ALiBi",
        computes="Causal multi-head attention with a penalty on each score, linear in the distance",
        used_by="BLOOM, MPT",
    ),
    Variant(
        "t5",
        _choices(**_HEADS, scale=False, bias="relative"),
        "a learned bias for each head and each bucket of distances; scores are not scaled",
        "Raffel et al., T5 (2020), section 2.1",
        "T5 attention",
        computes="Multi-head attention with a learned bias for each bucket of distances",
        used_by="T5, mT5",
    ),
    Variant(
        "shaw",
        _choices(source="self", heads="h", score="shaw"),
        "a learned key for each relative position, clipped at a maximum distance; "
        "without the paper's learned values",
        "Shaw, Uszkoreit, Vaswani, Self-Attention with Relative Position Representations "
        "(2018), section 3.2",
        "Attention with relative positions (Shaw)",
        computes="Multi-head attention with a learned key for each clipped relative position",
        used_by="SeamlessM4T, Wav2Vec2-BERT",
    ),
    Variant(
        "transformer-xl",
        _choices(**_HEADS, score="transformer-xl", mask="causal"),
        "a causal mask; scores of four terms: content and distance, each with and "
        "without the query",
        "Dai et al., Transformer-XL (2019), section 3.3",
        "Transformer-XL attention",
        computes="Causal multi-head attention with scores of four terms, two of them by distance",
        used_by="Transformer-XL; XLNet, with another mask",
    ),
    Variant(
        "bahdanau",
        _choices(source="given", score="additive", scale=False),
        "a small network scores each pair of query and key",
        "Bahdanau, Cho, Bengio (2015), section A.1.2",
        computes="Attention scored by a small network on each pair of query and key",
        used_by="RNNsearch",
    ),
    Variant(
        "luong-general",
        _choices(source="given", score="general", scale=False),
        "a bilinear form: a learned matrix between query and key",
        "Luong, Pham, Manning (2015), section 3.1",
        "Luong's general attention",
        computes="Attention with the bilinear score q W kᵀ of a learned matrix W",
        used_by="Luong et al.'s translation models",
    ),
    Variant(
        "cosine",
        _choices(source="given", score="cosine", scale=False),
        "the score is the cosine of the angle between query and key",
        "Graves, Wayne, Danihelka, Neural Turing Machines (2014), section 3.3.1",
        computes="Attention scored by the cosine of the angle between query and key",
        used_by="the Neural Turing Machine; Swin V2, with a learned scale",
    ),
    Variant(
        "nadaraya-watson",
        _choices(source="given", score="distance", scale="1/2"),
        "kernel regression: values weighted by a Gaussian of the distance",
        "Nadaraya (1964); Watson (1964)",
        "Nadaraya-Watson attention",
        computes="Average of the values, weighted by a Gaussian of the distance from query to key",
    ),
    Variant(
        "sliding-window",
        _choices(**_SELF, mask={"window": 2}),
        "each token attends only to itself and its neighbours",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
        computes="Self-attention within a window around each token",
        used_by="Longformer",
    ),
    Variant(
        "mistral",
        _choices(**_SELF, mask={"window": [3, 0]}),
        "each token attends to itself and to a fixed number of tokens before it",
        "Jiang et al., Mistral 7B (2023), section 2",
        computes="Self-attention in which each token sees itself and the few tokens before it",
        used_by="Mistral 7B; Gemma 2 and OLMo 3, in some layers",
    ),
    Variant(
        "longformer",
        _choices(**_SELF, mask={"any": [{"window": 1}, {"global": [1]}]}),
        "a window, and a global token, which attends to all tokens and to which all tokens attend",
        "Beltagy, Peters, Cohan, Longformer (2020), section 3.1",
        computes="Self-attention within a window, and to and from one global token",
        used_by="Longformer",
    ),
    Variant(
        "strided",
        _choices(**_SELF, mask={"strided": 2}),
        "each token attends to the last few tokens, and to earlier ones at regular intervals",
        "Child et al., Generating Long Sequences with Sparse Transformers (2019), section 4.3",
        computes="Causal self-attention to the last few tokens, and to earlier ones at equal steps",
        used_by="the Sparse Transformer",
    ),
    Variant(
        "chunked",
        _choices(**_SELF, mask={"chunk": 2}),
        "each token attends to itself and to earlier tokens of its own chunk of the sequence",
        "Meta, Llama 4 (2025), attention_chunk_size",
        computes="Causal self-attention within chunks of the sequence",
        used_by="Llama 4, in some layers",
    ),
    Variant(
        "packed",
        _choices(**_SELF, mask=["causal", {"packed": [1, 3]}]),
        "several documents in one sequence; each token attends to itself and to earlier tokens of "
        "its own document",
        "Grattafiori et al., The Llama 3 Herd of Models (2024), section 3.2",
        "Causal attention over packed documents",
        computes="Causal self-attention within each document of a packed sequence",
        used_by="Llama 3 in training",
    ),
    Variant(
        "swin",
        _choices(**_HEADS, mask={"window-2d": [4, 2]}, bias="given"),
        "tokens of a grid attend within square windows; a bias for the relative position",
        "Liu et al., Swin Transformer (2021), section 3.2, equation 4",
        "Window attention (Swin)",
        computes="Multi-head attention within the square windows of a grid, with a bias",
        used_by="Swin Transformer",
    ),
    Variant(
        "shifted-window",
        _choices(**_HEADS, mask={"window-2d": [4, 2, 1]}, bias="given"),
        "windows of a grid, shifted by half a window",
        "Liu et al., Swin Transformer (2021), section 3.2, figure 4",
        "Shifted-window attention (Swin)",
        computes="Multi-head attention within shifted windows of a grid, with a bias",
        used_by="Swin Transformer",
    ),
    Variant(
        "explicit-sparse",
        _choices(**_SELF, mask=["causal", {"top-k": 2}]),
        "each query keeps the keys with its largest scores, of those that are not later",
        "Zhao et al., Explicit Sparse Transformer (2019), section 3",
        "Explicit sparse attention",
        computes="Causal self-attention to the keys with the largest scores alone",
        used_by="the Explicit Sparse Transformer",
    ),
    Variant(
        "deepseek-sparse",
        _choices(
            **_HEADS,
            latent=True,
            query_latent=True,
            mask=["causal", {"index-top-k": 2}],
            positions={"rotary": {"decoupled": True}},
        ),
        "DeepSeek's latent attention to the keys with the largest index scores, which are given",
        "DeepSeek-AI, DeepSeek-V3.2 (2025), section 2.1, equation 2",
        "DeepSeek sparse attention",
        computes="Causal latent attention to the keys that an indexer scores highest",
        used_by="DeepSeek-V3.2",
    ),
    Variant(
        "prefix-lm",
        _choices(**_SELF, mask={"prefix": 2}),
        "every token attends to the whole prefix; the rest is causal",
        "Raffel et al., T5 (2020), section 3.2.1",
        "Attention of a prefix LM",
        computes="Self-attention that is bidirectional over a prefix and causal after it",
        used_by="PaliGemma",
    ),
    Variant(
        "gemma",
        _choices(**_HEADS, mask="causal", soft_cap=50),
        "a causal mask; scores kept between −50 and 50 by a soft cap",
        "Gemma Team, Gemma 2 (2024), section 2",
        computes="Causal multi-head attention with scores kept within a soft cap",
        used_by="Gemma 2, VaultGemma",
    ),
    Variant(
        "off-by-one",
        _choices(normaliser="softmax-off-by-one"),
        "1 is added to the softmax's denominator, so all weights can be near 0",
        "Miller, Attention Is Off By One (2023)",
        "Softmax-off-by-one attention",
        computes="Attention by a softmax with 1 added to its denominator",
    ),
    Variant(
        "sink",
        _choices(source="self", heads="h", normaliser="softmax-sink", mask="causal"),
        "a causal mask; a learned extra logit takes a share of the weight, but has no value vector",
        "Xiao et al., Efficient Streaming Language Models with Attention Sinks (2023); "
        "OpenAI, gpt-oss (2025)",
        "Causal attention with a sink",
        computes="Causal attention in which a learned extra logit takes weight in each head",
        used_by="gpt-oss",
    ),
    Variant(
        "sigmoid",
        _choices(normaliser="sigmoid"),
        "a sigmoid of each score, independent of the other scores",
        "Ramapuram et al., Theory, Analysis, and Best Practices for Sigmoid Self-Attention (2024)",
        computes="Attention weighted by a sigmoid of each score, independent of the others",
    ),
    Variant(
        "sparsemax",
        _choices(normaliser="sparsemax"),
        "the Euclidean projection onto the probability simplex in place of softmax: "
        "weights may be exactly 0",
        "Martins, Astudillo, From Softmax to Sparsemax (2016)",
        computes="Attention by sparsemax, which makes some weights exactly 0",
    ),
    Variant(
        "entmax",
        _choices(normaliser="entmax15"),
        "between softmax and sparsemax: squares of what lies above a threshold, so that weights "
        "may be exactly 0",
        "Peters, Niculae, Martins, Sparse Sequence-to-Sequence Models (2019), section 3",
        computes="Attention by 1.5-entmax, which makes some weights exactly 0",
    ),
    Variant(
        "hard",
        _choices(normaliser="hardmax"),
        "all weight on the key with the highest score",
        "ONNX, operator Hardmax",
        computes="Attention with all weight on the key with the highest score",
    ),
    Variant(
        "linear",
        _choices(feature_map="elu+1", scale=False, normaliser="sum"),
        "non-negative features of queries and keys instead of exponentials",
        "Katharopoulos et al., Transformers are RNNs (2020), section 3.2",
        computes="Attention by the kernel φ(q)·φ(k), φ = elu + 1, in place of exp",
        used_by="the Linear Transformer",
    ),
    Variant(
        "causal-linear",
        _choices(feature_map="elu+1", scale=False, normaliser="sum", mask="causal"),
        "linear attention with a causal mask",
        "Katharopoulos et al., Transformers are RNNs (2020), section 3.3",
        "Causal linear attention",
        computes="Causal attention by the kernel φ(q)·φ(k), φ = elu + 1, in place of exp",
        used_by="the Linear Transformer",
    ),
    Variant(
        "hopfield",
        _choices(source="given", scale="1/2", tie="key-value"),
        "one update of a modern Hopfield network: values are the stored patterns",
        "Ramsauer et al., Hopfield Networks is All You Need (2020), section 2",
        computes="One update of a modern Hopfield network: keys and values are the stored patterns",
        used_by="Hopfield layers",
    ),
    Variant(
        "cached",
        _choices(**_SELF, cache=True, mask="causal"),
        "decoding: keys and values of earlier tokens come from a cache",
        "Shazeer, Fast Transformer Decoding (2019), section 2.4",
        "Attention with a cache",
        computes="Causal self-attention of new tokens over a cache of earlier keys and values",
    ),
    Variant(
        "cached-window",
        _choices(**_SELF, cache=True, mask={"window": [3, 0]}),
        "decoding in which each token attends only to the last few tokens",
        "Jiang et al., Mistral 7B (2023), section 2, rolling buffer cache",
        "Sliding-window attention with a cache",
        computes="Self-attention of new tokens to the last few, over a cache of keys and values",
        used_by="Mistral 7B when it generates",
    ),
    Variant(
        "cached-llama",
        _choices(**_LLAMA, cache=True),
        "decoding with rotary position embeddings and with grouped heads; the groups "
        "keep the cache small",
        "Ainslie et al., GQA (2023), section 2.2",
        "Llama attention with a cache",
        computes="Causal grouped-query attention of new tokens over a cache, with rotary positions",
        used_by="Llama 2 when it generates",
    ),
    Variant(
        "separate-memories",
        _choices(source="separate", heads="h", output_projection=True, projection_bias=True),
        "queries, keys and values projected from three inputs, each with a width of its own",
        "PyTorch, nn.MultiheadAttention, kdim and vdim",
        "Attention with keys and values of their own",
        computes="Attention of one sequence (x) to keys of memory, with values of memory_v",
        used_by="TrOCR",
    ),
    Variant(
        "detr",
        _choices(**_HEADS, projection_bias=True, positions={"learned": {"values": False}}),
        "positions added to what queries and keys are made of, but not to what values are made of",
        "Carion et al., End-to-End Object Detection with Transformers (2020), appendix A.3",
        "DETR's self-attention",
        computes="Multi-head attention whose values are made of tokens without their positions",
        used_by="DETR's encoder",
    ),
    Variant(
        "perceiver",
        _choices(source="cross", heads="h", output_projection=True),
        "a few latent vectors (X) attend to a long input (memory)",
        "Jaegle et al., Perceiver (2021), section 3.1",
        computes="Attention of a few latent vectors (x) to a long input (memory)",
        used_by="Perceiver",
    ),
    Variant(
        "set-pooling",
        _choices(source="cross", heads="h", output_projection=True),
        "a few learned seed vectors (X) attend to a set (memory)",
        "Lee et al., Set Transformer (2019), section 3.2, equation 11",
        "Set pooling by attention",
        computes="Attention of a few learned seed vectors (x) to a set (memory)",
        used_by="the Set Transformer",
    ),
    Variant(
        "unfolded",
        _choices(unfold=True),
        "the softmax written as exponentials, sums and quotients",
        f"{_PAPER}3.2.1",
        "Attention with the softmax in steps",
        computes="Attention with its softmax taken in steps: exponentials, sums, quotients",
    ),
    Variant(
        "ratio",
        _choices(scale=False, normaliser="sum"),
        "scores divided by their sum, without exponentials",
        "Graves, Wayne, Danihelka, Neural Turing Machines (2014), section 3.3.2",
        "Attention without exponentials",
        computes="Attention whose weights are the scores over their sum, without exponentials",
    ),
)


#: Variants that equations say; a text is written as `docs/equations.md` tells.
TEXTS: tuple[Variant, ...] = (
    Variant(
        "differential",
        {},
        "heads that take the difference of two softmaxes, each followed by a norm",
        "Ye et al., Differential Transformer (2024), section 2.1, equations 1 and 3",
        used_by="the Differential Transformer, DiffLlama",
        text="""
Q_1[h] : n × d_k;  K_1[h] : n × d_k;  Q_2[h] : n × d_k;  K_2[h] : n × d_k
Q_1[h] = X W_Q1[h];  K_1[h] = X W_K1[h]
Q_2[h] = X W_Q2[h];  K_2[h] = X W_K2[h]
V[h] = X W_V[h]
A_1[h] = softmax(Q_1[h] K_1[h]^T / sqrt(d_k))
A_2[h] = softmax(Q_2[h] K_2[h]^T / sqrt(d_k))
weights A[h] = A_1[h] - λ A_2[h]   # What both softmaxes give is noise, and cancels.
Y[h] = (1 - λ_0) RMSNorm(A[h] V[h])
output O = concat_h(Y[h]) W_O
""",
    ),
    Variant(
        "talking-heads",
        {},
        "heads mixed by learned matrices, before the softmax and after it",
        "Shazeer et al., Talking-Heads Attention (2020), section 4",
        used_by="DeBERTa, as an option",
        text="""
P_L : n_h × n_h;  P_W : n_h × n_h
Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
J[h] = Q[h] K[h]^T / sqrt(d_k)
scores S[h] = sum_g(P_L[g,h] J[g])   # Every head's scores are mixed from those of all heads.
weights A[h] = softmax(S[h])
U[h] = sum_g(P_W[g,h] A[g])   # And so are its weights.
output O = concat_h(U[h] V[h]) W_O
""",
    ),
    Variant(
        "stick-breaking",
        {},
        "each token takes its share of what nearer ones have left, from the last one back",
        "Tan et al., Scaling Stick-Breaking Attention (2024), section 2",
        text="""
Q = X W_Q;  K = X W_K;  V = X W_V
scores S = Q K^T / sqrt(d_k)
B = sigmoid(S)   # The share of what is left.
L[i,j] = ln(1 - B[i,j]) if j < i else 0
U[i,j] = 1 if i > j else 0
R = L U   # The logarithm of what the tokens in between leave.
weights A[i,j] = B[i,j] exp(R[i,j]) if j < i else 0
output O = A V
""",
    ),
    Variant(
        "forgetting",
        {},
        "a bias that is the sum of the logarithms of forget gates between key and query",
        "Lin et al., Forgetting Transformer (2025), section 3",
        text="""
w : d_model × 1;  b : number
Q = X W_Q;  K = X W_K;  V = X W_V
T[i,j] = 1 if j <= i else 0
F = T ln(sigmoid(X w + b))   # The logarithms of the gates, summed up to each token.
D[i,j] = F[i] - F[j] if j <= i else -inf
weights A = softmax(Q K^T / sqrt(d_k) + D)
output O = A V
""",
    ),
    Variant(
        "memory-tokens",
        {},
        "learned vectors before the tokens, which attend and are attended to as tokens are",
        "Burtsev et al., Memory Transformer (2020), section 3.1",
        "Attention with memory tokens",
        used_by="the Memory Transformer; DINOv2 with registers",
        text="""
M : d_m × d_model
H = [M; X]
Q = H W_Q;  K = H W_K;  V = H W_V
weights A = softmax(Q K^T / sqrt(d_k))
output O = A V
""",
    ),
    Variant(
        "disentangled",
        {},
        "scores of content to content, content to position and position to content",
        "He et al., DeBERTa (2021), section 3.1, equation 4, with distances clipped alike on "
        "both sides",
        used_by="DeBERTa",
        text="""
R : 2 d_w + 1 × d_model;  Q_R : 2 d_w + 1 × d_k;  K_R : 2 d_w + 1 × d_k
Q = X W_Q;  K = X W_K;  V = X W_V
Q_R = R W_QR;  K_R = R W_KR
scores S = (Q K^T + clip(Q K_R^T) + clip(K Q_R^T)^T) / sqrt(3 d_k)
weights A = softmax(S)
output O = A V
""",
    ),
    Variant(
        "cross-layer",
        {},
        "two layers that share the keys and values of the first",
        "Brandon et al., Cross-Layer Attention (2024), section 3",
        text="""
K = X W_K;  V = X W_V
H = X + softmax(X W_Q K^T / sqrt(d_k) + causal()) V W_O
## Second layer
O = H + softmax(H W_P K^T / sqrt(d_k) + causal()) V W_R
""",
    ),
    Variant(
        "gated",
        {},
        "a sigmoid gate of the token on what each head gives",
        "Qiu et al., Gated Attention for Large Language Models (2025), section 2.2",
        used_by="Qwen3-Next",
        text="""
Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
weights A[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + causal())
Y[h] = sigmoid(X W_G[h]) ∘ (A[h] V[h])
output O = concat_h(Y[h]) W_O
""",
    ),
    Variant(
        "value-residual",
        {},
        "a second layer whose values are mixed with those of the first",
        "Zhou et al., Value Residual Learning (2024), section 3",
        text="""
λ : number
V_1 : n × d_model
V_1 = X W_V
H = X + softmax(X W_Q (X W_K)^T / sqrt(d_k) + causal()) V_1
## Second layer
V_2 = λ V_1 + (1 - λ) H W_U
O = H + softmax(H W_P (H W_R)^T / sqrt(d_k) + causal()) V_2
""",
    ),
    Variant(
        "query-key-norm",
        {},
        "queries and keys of length 1, and a learned factor in place of 1/√d_k",
        "Henry et al., Query-Key Normalization for Transformers (2020), section 3.1",
        text="""
Q = unit(X W_Q);  K = unit(X W_K);  V = X W_V
scores S = g Q K^T
weights A = softmax(S)
output O = A V
""",
    ),
    Variant(
        "lightning-indexer",
        {},
        "keys chosen by an indexer: a small attention of several heads, with one key for all of "
        "them, here as many as the attention has",
        "DeepSeek-AI, DeepSeek-V3.2 (2025), section 2.1, equations 1 and 2",
        "Attention to the keys of a lightning indexer",
        used_by="DeepSeek-V3.2",
        text="""
w[h] : d_model × 1
Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
P[h] = X W_P[h];  R = X W_R
B = sum_h((X w[h]) ∘ relu(P[h] R^T))   # The index scores: each head's are weighted by the query.
M = causal()
G = B + M
C = topk(G, 2)
weights A[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + M + C)
output O = concat_h(A[h] V[h]) W_O
""",
    ),
    Variant(
        "linformer",
        {},
        "keys and values projected to a fixed number of rows",
        "Wang et al., Linformer (2020), section 4",
        used_by="Linformer",
        text="""
E : d_p × m;  F : d_p × m
weights A = softmax(Q (E K)^T / sqrt(d_k))
output O = A (F V)
""",
    ),
    Variant(
        "synthesizer",
        {},
        "weights computed from each token alone, without keys",
        "Tay et al., Synthesizer (2021), section 3.1",
        "Dense Synthesizer attention",
        used_by="Synthesizer",
        text="""
X : n × d_model;  W_1 : d_model × d_model;  W_2 : d_model × n
scores S = relu(X W_1 + b_1) W_2 + b_2
weights A = softmax(S)
output O = A X W_V
""",
    ),
    Variant(
        "online-softmax",
        {},
        "the softmax computed token by token, with the largest score so far subtracted",
        "Milakov, Gimelshein, Online normalizer calculation for softmax (2018), algorithm 3; Dao "
        "et al., FlashAttention (2022), section 3.1, with blocks of one key",
        "Attention with an online softmax",
        text="""
scores S = Q K^T / sqrt(d_k)
M[0] = -inf;  L[0] = 0;  N[0] = 0
M[t] = max(M[t-1], S[:,t])   # The largest score so far of each query.
L[t] = exp(M[t-1] - M[t]) ∘ L[t-1] + exp(S[:,t] - M[t])   # A new maximum rescales it.
N[t] = exp(M[t-1] - M[t]) ∘ N[t-1] + exp(S[:,t] - M[t]) V[t]
output O = N[m] / L[m]
""",
    ),
    Variant(
        "linear-recurrent",
        {},
        "causal linear attention computed token by token, with two sums as its state",
        "Katharopoulos et al., Transformers are RNNs (2020), section 3.4, equations 16 to 20",
        "Linear attention as a recurrence",
        used_by="the Linear Transformer",
        text="""
φ(x) = x + 1 if x > 0 else exp(x)
S[0] = 0;  z[0] = 0
S[t] = S[t-1] + φ(K[t])^T V[t]
z[t] = z[t-1] + φ(K[t])^T
output O[t,:] = φ(Q[t]) S[t] / (φ(Q[t]) z[t])
""",
    ),
    Variant(
        "retention",
        {},
        "products of queries and keys that decay with the distance, without a softmax",
        "Sun et al., Retentive Network (2023), section 2.1, equation 5",
        "Retention",
        used_by="RetNet",
        text="""
Q = rotary(X W_Q);  K = rotary(X W_K);  V = X W_V
D[i,j] = γ^(i-j) if i >= j else 0
weights A = Q K^T ∘ D
output O = A V
""",
    ),
    Variant(
        "retention-recurrent",
        {},
        "retention computed token by token: the state decays and takes in each token",
        "Sun et al., Retentive Network (2023), section 2.1, equation 6",
        "Retention as a recurrence",
        used_by="RetNet",
        text="""
Q = rotary(X W_Q);  K = rotary(X W_K);  V = X W_V
S[0] = 0
S[t] = γ S[t-1] + K[t]^T V[t]
output O[t,:] = Q[t] S[t]
""",
    ),
    Variant(
        "gated-linear",
        {},
        "linear attention whose state decays by a gate of each token, for each key component",
        "Yang et al., Gated Linear Attention Transformers (2023), sections 4.1 and 4.4",
        used_by="the GLA Transformer",
        text="""
W_A : d_model × d_r;  W_B : d_r × d_k
g(x) = sigmoid(x)^(1/16)
Q = X W_Q;  K = X W_K;  V = X W_V
G = g(X W_A W_B + b_A)
S[0] = 0
S[t] = diag(G[t]) S[t-1] + K[t]^T V[t]
output O[t,:] = Q[t] S[t]
""",
    ),
    Variant(
        "mamba-2",
        {},
        "a state space whose state decays by a number of each token",
        "Dao, Gu, Transformers are SSMs (2024), section 3",
        "A state space (Mamba-2)",
        used_by="Mamba-2, Zamba2, Bamba",
        text="""
X : n × d_v;  B : n × d_s;  C : n × d_s
S[0] = 0
S[t] = exp(-δ[t]) S[t-1] + B[t]^T X[t]
output O[t,:] = C[t] S[t]
""",
    ),
    Variant(
        "mamba-2-dual",
        {},
        "the same state space as masked attention: products of decays stand in the mask",
        "Dao, Gu, Transformers are SSMs (2024), section 5.1",
        "A state space as attention",
        used_by="Mamba-2, Zamba2, Bamba",
        text="""
X : n × d_v;  B : n × d_s;  C : n × d_s;  δ : n × 1
T[i,j] = 1 if j <= i else 0
F = T δ   # The decays' logarithms, summed up to each token.
L[i,j] = exp(F[j] - F[i]) if j <= i else 0
weights A = C B^T ∘ L
output O = A X
""",
    ),
    Variant(
        "linear-chunked",
        {},
        "causal linear attention chunk by chunk, without a normaliser: a state between chunks",
        "Hua et al., Transformer Quality in Linear Time (2022), section 3.3; Yang et al., Gated "
        "Linear Attention Transformers (2023), section 2.2",
        "Linear attention in chunks",
        text="""
Q[c] : p × d_k;  K[c] : p × d_k;  V[c] : p × d_v
T[i,j] = 1 if j <= i else 0
S[0] = 0
S[c] = S[c-1] + K[c]^T V[c]
output O[c] = Q[c] S[c-1] + (Q[c] K[c]^T ∘ T) V[c]   # What is before the chunk, and in it.
""",
    ),
    Variant(
        "retention-chunked",
        {},
        "retention chunk by chunk: decays within a chunk stand in matrices, those between in a "
        "state",
        "Sun et al., Retentive Network (2023), section 2.1, equation 7, from rotated queries and "
        "keys",
        "Retention in chunks",
        text="""
Q[c] : p × d_k;  K[c] : p × d_k;  V[c] : p × d_v;  E : p × 1;  F : p × 1
D[i,j] = γ^(i-j) if j <= i else 0
E[i,j] = γ^i   # From the end of the chunk before to token i.
F[i,j] = γ^(p-i)   # From token i to the end of its chunk.
S[0] = 0
S[c] = γ^p S[c-1] + (F ∘ K[c])^T V[c]
output O[c] = E ∘ (Q[c] S[c-1]) + (Q[c] K[c]^T ∘ D) V[c]
""",
    ),
    Variant(
        "mamba-2-chunked",
        {},
        "a state space chunk by chunk: the logarithms of its decays, summed up within each chunk",
        "Dao, Gu, Transformers are SSMs (2024), section 6",
        "A state space in chunks",
        text="""
X[c] : p × d_v;  B[c] : p × d_s;  C[c] : p × d_s;  Δ[c] : p × 1
T[i,j] = 1 if j <= i else 0
F[c] = -T Δ[c]
L[c][i,j] = exp(F[c][i] - F[c][j]) if j <= i else 0
S[0] = 0
S[c] = exp(-colsum(Δ[c])) S[c-1] + (exp(-colsum(Δ[c]) - F[c]) ∘ B[c])^T X[c]
output O[c] = exp(F[c]) ∘ (C[c] S[c-1]) + (C[c] B[c]^T ∘ L[c]) X[c]
""",
    ),
    Variant(
        "deltanet-chunked",
        {},
        "the delta rule chunk by chunk: the inverse of a triangular matrix takes the tokens of a "
        "chunk together",
        "Yang et al., Parallelizing Linear Transformers with the Delta Rule (2024), section 3.2, "
        "equations 8 to 11",
        "The delta rule in chunks",
        text="""
Q[c] : p × d_k;  K[c] : p × d_k;  V[c] : p × d_v;  B[c] : p × 1
T[i,j] = 1 if j <= i else 0
N[i,j] = 1 if j < i else 0
L[c] = B[c] ∘ (K[c] K[c]^T ∘ N)
U[c] = (I + L[c])^-1 (B[c] ∘ V[c])
W[c] = (I + L[c])^-1 (B[c] ∘ K[c])
S[0] = 0
S[c] = S[c-1] + K[c]^T (U[c] - W[c] S[c-1])
output O[c] = Q[c] S[c-1] + (Q[c] K[c]^T ∘ T) (U[c] - W[c] S[c-1])
""",
    ),
    Variant(
        "deltanet",
        {},
        "a state in which each key's value is replaced in part, as by one step of gradient descent",
        "Schlag et al., Linear Transformers Are Secretly Fast Weight Programmers (2021); Yang et "
        "al., Parallelizing Linear Transformers with the Delta Rule (2024), section 2",
        "The delta rule",
        used_by="DeltaNet",
        text="""
w : d_model × 1
Q = unit(SiLU(X W_Q));  K = unit(SiLU(X W_K));  V = SiLU(X W_V)
β = sigmoid(X w)
S[0] = 0
S[t] = S[t-1] + β[t] K[t]^T (V[t] - K[t] S[t-1])
output O[t,:] = Q[t] S[t]
""",
    ),
    Variant(
        "gated-deltanet",
        {},
        "the delta rule on a state that decays by a number of each token",
        "Yang, Kautz, Hatamizadeh, Gated Delta Networks (2024), section 3.1, equation 10",
        "The gated delta rule",
        used_by="Qwen3-Next, OLMo Hybrid",
        text="""
S[0] = 0
S[t] = α[t] (S[t-1] - β[t] K[t]^T (K[t] S[t-1])) + β[t] K[t]^T V[t]
output O[t,:] = Q[t] S[t]
""",
    ),
    Variant(
        "kimi-delta",
        {},
        "the delta rule on a state that decays by a gate for each key component",
        "Kimi Team, Kimi Linear (2025), section 3, equation 1",
        "Kimi delta attention",
        used_by="Kimi Linear",
        text="""
G : n × d_k
S[0] = 0
S[t] = (I - β[t] K[t]^T K[t]) diag(G[t]) S[t-1] + β[t] K[t]^T V[t]
output O[t,:] = Q[t] S[t]
""",
    ),
    Variant(
        "lightning",
        {},
        "linear attention with a decay, a norm and a gate",
        "Qin et al., TransNormerLLM (2023), section 3; Lightning Attention-2 (2024), section 3",
        "Lightning attention",
        used_by="TransNormerLLM, MiniMax",
        text="""
Q = SiLU(X W_Q);  K = SiLU(X W_K);  V = SiLU(X W_V)
S[0] = 0
S[t] = λ S[t-1] + K[t]^T V[t]
R[t,:] = Q[t] S[t]
output O = sigmoid(X W_G) ∘ RMSNorm(R)
""",
    ),
    Variant(
        "rnn",
        {},
        "no attention: a state that each token changes, to compare with",
        "Elman, Finding Structure in Time (1990)",
        "A recurrent network",
        text="""
W_H : d_h × d_h
H[0] = 0
H[t] = tanh(X[t] W_X + H[t-1] W_H + b_H)
output O[t,:] = H[t] W_O + b_O
""",
    ),
    Variant(
        "gru",
        {},
        "no attention: a state that gates keep or replace, to compare with",
        "Cho et al., Learning Phrase Representations using RNN Encoder-Decoder (2014), section 2.3",
        "A recurrent network with gates",
        text="""
U_Z : d_h × d_h
Z = X W_Z + b_Z;  R = X W_R + b_R;  C = X W_C + b_C
H[0] = 0
H[t] = sigmoid(Z[t] + H[t-1] U_Z) ∘ H[t-1] + (1 - sigmoid(Z[t] + H[t-1] U_Z)) ∘ tanh(
    C[t] + (sigmoid(R[t] + H[t-1] U_R) ∘ H[t-1]) U_C)
output O[t,:] = H[t]
""",
    ),
)

#: Every variant by its name.
NAMED: Mapping[str, Variant] = {row.name: row for row in (*VARIANTS, *TEXTS)}


def variant(name: str) -> Variant:
    """The variant of this name; raises `SymattnError` with the nearest name otherwise."""
    if not isinstance(name, str) or name not in NAMED:
        raise NoSuchName(f"no variant is called {quote(name)}{nearest(name, NAMED)}")
    return NAMED[name]
