"""`Plan`: the choice on each axis, and the size symbols that all steps share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from symattn.nodes.arguments import Setting, symbol_of_size
from symattn.shown import Changed

n, m, p, h, g = map(symbol_of_size, ("n", "m", "p", "h", "g"))
n_vocab, n_clip = map(symbol_of_size, ("n_vocab", "n_clip"))
d_model, d_mem, d_val, d_c, d_cq = map(symbol_of_size, ("d_model", "d_mem", "d_val", "d_c", "d_cq"))
d_k, d_r = map(symbol_of_size, ("d_k", "d_r"))
d_a, d_v, d_out = map(symbol_of_size, ("d_a", "d_v", "d_out"))

DEFAULT_SCALE = 1 / sympy.sqrt(d_k)

#: The scale on queries and on keys, rather than on their scores.
BOTH_SCALE = d_k ** sympy.Rational(-1, 4)

#: How a softmax is taken apart: e^z as by hand, or e^(z − row maximum) as in floating point.
PLAIN, SHIFTED = "plain", "shifted"

#: The parameter of a mask that is a matrix, or of a gain: one for all heads, or one for each.
PER_HEAD = "head"

#: A gain that is 1 plus what is learned.
ONE_PLUS = "one-plus"

#: The projections that may have a bias, by their letters.
BIASED = ("Q", "K", "V", "G", "O")

#: The masks that are a matrix somebody gives, and the input that holds it.
MATRIX_MASKS = {"boolean": "allowed", "additive": "mask"}

#: The options of rotary positions by which frequencies and angles are steps of their own.
STEPWISE = frozenset(
    ("frequencies", "scaling", "sections", "layout", "position_ids", "caches", "part")
)

#: The masks that choose keys by numbers, and the role of the matrix that they choose by.
KEY_CHOICES = {"top-k": "logits", "index-top-k": "index_scores"}

#: Where Q, K and V may come from.
SOURCES = ("given", "self", "cross", "separate", "bare")


@dataclass(frozen=True, repr=False)
class Plan(Changed):
    """The choice on each axis; see `symattn.attention.spec.Attention` for what they mean.

    Steps are taken by a plan that `Attention.settled` has left nothing open in. `positions`,
    `bias` and `output_gate` are a name with its options, `mask` is names with their parameters,
    `norm` is names of steps with a name with its options, in tuples all.
    """

    source: str | None = None
    embedded: bool = False
    tie: str | None = None
    latent: bool | str = False
    query_latent: bool = False
    projection_bias: Setting = None
    norm: Setting = ()
    positions: Setting = None
    cache: bool = False
    score: str = "dot"
    feature_map: str | None = None
    scale: Setting = DEFAULT_SCALE
    soft_cap: Setting = None
    bias: Setting = None
    mask: Setting = None
    normaliser: str = "softmax"
    unfold: bool | str = False
    heads: int | str | None = None
    kv_heads: int | str | None = None
    output_gate: Setting = None
    output_projection: bool | None = None
    output_form: str = "concat"

    @property
    def key_choice(self) -> tuple[str, Setting] | None:
        """The mask that chooses keys by numbers, and how many it keeps."""
        return next((pair for pair in self.mask or () if pair[0] in KEY_CHOICES), None)

    @property
    def absorbed(self) -> bool:
        """Whether keys and values are not made: their weights go to the query and the output."""
        return self.latent == "absorbed"

    @property
    def facts(self) -> frozenset[str]:
        """In words, the choices by which steps are taken or left out."""
        positions = self.positions[0] if self.positions else ""
        norms = {name: self.norm_of(name) for name, _ in self.norm}
        apart = any(name in "QK" and not norm.get("rotated") for name, norm in norms.items())
        own = self.tie != "query-key" or self.cache or self.decoupled or apart
        words = {
            str(self.source): True,
            "projected": self.source in ("self", "cross", "separate"),
            "memory": self.source in ("cross", "separate"),
            "embedded": self.embedded,
            "query-latent": self.query_latent,
            "latent": self.latent,
            "absorbed": self.absorbed,
            "cache": self.cache,
            "key-is-query": self.tie == "query-key",
            "value-is-key": self.tie == "key-value",
            positions: True,
            "added": positions not in ("", "rotary"),
            "decoupled": self.decoupled,
            **self._rotation,
            "turned-key": positions == "rotary" and own,
            "soft-cap": self.soft_cap is not None,
            **{
                f"{name}-{norm['kind']}{'-rotated' * bool(norm.get('rotated'))}": True
                for name, norm in norms.items()
            },
            "gated": self.output_gate is not None,
            "heads": self.heads is not None,
            "sum": self.heads is not None and self.output_form == "sum",
            "projection": self.output_projection,
        }
        return frozenset(word for word, holds in words.items() if holds)

    @property
    def projections(self) -> frozenset[str]:
        """The letters of the projections that there are."""
        projected = self.source in ("self", "cross", "separate")
        there = {
            "Q": projected,
            "K": projected and not self.absorbed and self.tie != "query-key",
            "V": projected and not self.absorbed and self.tie != "key-value",
            "G": self.output_gate is not None,
            "O": self.output_projection,
        }
        return frozenset(letter for letter, holds in there.items() if holds)

    @property
    def biases(self) -> frozenset[str]:
        """The letters of the projections to which a bias is added."""
        said = self.projection_bias
        return self.projections & set(BIASED if said is True else said or ())

    def norm_of(self, name: str) -> dict[str, Setting]:
        """The kind and the options of the norm of a step; empty where it has none."""
        kind, options = dict(self.norm).get(name, ("", ()))
        return {"kind": kind, **dict(options)} if kind else {}

    @property
    def rotary(self) -> dict[str, Setting] | None:
        """The options of the rotation, where there is one; `decoupled` is not among them."""
        if self.positions is None or self.positions[0] != "rotary":
            return None
        return {name: value for name, value in self.positions[1] if name != "decoupled"}

    @property
    def _rotation(self) -> dict[str, bool]:
        """The facts of a rotation: whole in one step, or by angles or caches that are steps."""
        options = self.rotary or {}
        axes = len(sections_of(options)) or 1
        stepwise, caches = bool(STEPWISE & {*options}), bool(options.get("caches"))
        kind = dict(options.get("scaling", ())).get("rope_type", "default")
        return {
            "whole": self.rotary is not None and not stepwise,
            "stepwise": stepwise,
            "caches": caches,
            "angles": stepwise and not caches,
            "frequencies-given": bool(options.get("frequencies")),
            "ids": bool(options.get("position_ids")) or axes > 1,
            "ramp": kind in ("llama3", "yarn"),
            "divisors": kind == "longrope",
            "scaling": kind not in ("default", "axial"),
            "by-length": kind in ("dynamic", "longrope"),
            "proportional": kind == "proportional",
            "axes": axes > 1,
            "apart": self.cache or self.source in ("given", "cross", "separate"),
        }

    @property
    def decoupled(self) -> bool:
        """Whether only a part of its own of each query and key is turned."""
        return self.rotary is not None and bool(dict(self.positions[1]).get("decoupled"))

    @property
    def places_values(self) -> bool:
        """Whether positions that are added to the tokens are in their values, too."""
        return self.positions is None or dict(self.positions[1]).get("values") is not False

    @property
    def width(self) -> sympy.Expr:
        """The d_k of the usual scale: d_k + d_r with a decoupled part, d_model of bare vectors."""
        if self.source == "bare":
            return d_model
        return d_k + d_r if self.decoupled else d_k

    @property
    def scales_both(self) -> bool:
        """Whether queries and keys are scaled, rather than their scores."""
        return bool(self.scale == BOTH_SCALE.subs(d_k, self.width))


def sections_of(options: Mapping[str, Setting]) -> tuple[int, ...]:
    """How many pairs of a rotation turn along each axis; none where there is one axis."""
    said = options.get("sections", dict(options.get("scaling", ())).get("mrope_section"))
    return tuple(said or ())
