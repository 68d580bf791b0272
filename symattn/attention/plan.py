"""`Plan`: the choice on each axis, and the size symbols that all steps share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from symattn.nodes.arguments import Setting, symbol_of_size
from symattn.shown import Changed

n, m, p, h, g = map(symbol_of_size, ("n", "m", "p", "h", "g"))
n_vocab, n_clip = map(symbol_of_size, ("n_vocab", "n_clip"))
d_model, d_mem, d_c, d_cq = map(symbol_of_size, ("d_model", "d_mem", "d_c", "d_cq"))
d_k, d_r = map(symbol_of_size, ("d_k", "d_r"))
d_a, d_v, d_out = map(symbol_of_size, ("d_a", "d_v", "d_out"))

DEFAULT_SCALE = 1 / sympy.sqrt(d_k)

#: The scale on queries and on keys, rather than on their scores.
BOTH_SCALE = d_k ** sympy.Rational(-1, 4)

#: How a softmax is taken apart: e^z as by hand, or e^(z − row maximum) as in floating point.
PLAIN, SHIFTED = "plain", "shifted"

#: The parameter of a mask that is a matrix: one for all heads, or one for each.
PER_HEAD = "head"

#: The masks that are a matrix somebody gives, and the input that holds it.
MATRIX_MASKS = {"boolean": "allowed", "additive": "mask"}

#: The options of rotary positions by which frequencies and angles are steps of their own.
STEPWISE = frozenset(
    ("frequencies", "scaling", "sections", "layout", "position_ids", "caches", "part")
)

#: Where Q, K and V may come from.
SOURCES = ("given", "self", "cross", "bare")


@dataclass(frozen=True, repr=False)
class Plan(Changed):
    """The choice on each axis; see `symattn.attention.spec.Attention` for what they mean.

    Steps are taken by a plan that `Attention.settled` has left nothing open in. `positions` and
    `bias` are a name with its options, `mask` is names with their parameters, in tuples all.
    """

    source: str | None = None
    embedded: bool = False
    tie: str | None = None
    latent: bool | str = False
    query_latent: bool = False
    projection_bias: bool | None = None
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
    output_projection: bool | None = None
    output_form: str = "concat"

    @property
    def absorbed(self) -> bool:
        """Whether keys and values are not made: their weights go to the query and the output."""
        return self.latent == "absorbed"

    @property
    def facts(self) -> frozenset[str]:
        """In words, the choices by which steps are taken or left out."""
        positions = self.positions[0] if self.positions else ""
        own = self.tie != "query-key" or self.cache or self.decoupled
        words = {
            str(self.source): True,
            "projected": self.source in ("self", "cross"),
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
            "heads": self.heads is not None,
            "sum": self.heads is not None and self.output_form == "sum",
            "projection": self.output_projection,
        }
        return frozenset(word for word, holds in words.items() if holds)

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
            "scaling": kind != "default",
            "by-length": kind in ("dynamic", "longrope"),
            "proportional": kind == "proportional",
            "axes": axes > 1,
            "apart": self.cache or self.source in ("given", "cross"),
        }

    @property
    def decoupled(self) -> bool:
        """Whether only a part of its own of each query and key is turned."""
        return self.rotary is not None and bool(dict(self.positions[1]).get("decoupled"))

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
