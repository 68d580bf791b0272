"""`Attention`: which attention is meant, one choice on each axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from symattn.arguments import choice, table, words
from symattn.attention.plan import (
    BIASED,
    BOTH_SCALE,
    DEFAULT_SCALE,
    KEY_CHOICES,
    MATRIX_MASKS,
    SOURCES,
    Plan,
    d_k,
    d_model,
    g,
    h,
    m,
    n,
    p,
)
from symattn.errors import SymattnError, quote

if TYPE_CHECKING:  # start-up time, as the imports in functions: the choices need all nodes
    from symattn.derivations import Derivation
    from symattn.nodes.arguments import Setting

Source: TypeAlias = Literal["given", "self", "cross", "separate", "bare"]

PASTS = {"K_past", "V_past", "latent_past", "K_position_past"}


@dataclass(frozen=True, repr=False)
class Attention(Plan):
    """The choice on each axis of attention.

    - `source`: where Q, K, V come from: ``given``; ``self`` (projected from X); ``cross``
      (queries from X, keys and values from another sequence, `memory`); ``separate`` (values from
      vectors of their own, `memory_V`); ``bare`` (X itself, no projection). None: what is given
      decides, and without that what is chosen.
    - `embedded`: X is looked up, one-hot rows times E; `tie`: ``query-key`` (K is Q) or
      ``key-value`` (V is K); `latent`: keys and values from one compressed latent, which may be
      ``absorbed`` (queries compared with the latent itself); `query_latent`: queries from a latent
      of their own; `cache`: keys and values of earlier tokens (the latent, if there is one) before
      the new ones; `projection_bias`: bias vectors, all of them or those listed, ``["Q", "K"]``.
    - `norm`: ``rms``, ``layer`` or ``l2`` of queries and keys, or a table of norms by the steps
      they are of: ``{"Q": "rms", "V": {"rms": {"gain": True}}}`` (Q, K, V, latent, Q_latent,
      output, concat). Options: `eps`; `gain` (True, ``head``: one for each head, ``one-plus``: 1
      and what is learned) and `shift`; `joined`: over the row of all heads; `rotated`: after the
      rotation.
    - `positions`: ``sinusoidal`` or ``learned`` (added to X), ``rotary`` (turns Q and K), or a
      table such as ``{"rotary": {"pairing": "half"}}``; ``{"learned": {"values": False}}`` leaves
      values without positions; ``{"rotary": {"decoupled": True}}`` turns a part of its own of each
      query and one key for all heads, appended to Q and K. Frequencies and angles are steps where
      `scaling` (a model's configuration), `sections` (several axes), `frequencies`,
      `position_ids`, `caches` or `part` say more; see `symattn.attention.rope`.
    - `score`: ``dot``, ``cosine``, ``general``, ``additive``, ``distance``, ``shaw`` and
      ``transformer-xl`` (relative positions); `feature_map`: ``elu+1``, ``relu`` or ``exp`` on
      queries and keys (linear attention).
    - `scale`: ``"1/sqrt(d_k)"`` or True (over √(d_k + d_r) with decoupled positions); False for
      none; any number or closed expression; or ``"d_k^(-1/4)"``, by which queries and keys are
      multiplied instead of their scores.
    - `soft_cap`: a positive number; `bias`: ``given`` (a matrix `bias`), ``alibi``, ``relative``
      (T5's buckets).
    - `mask`: a name (``"causal"``), a table (``{"padding": 3}``), ``"boolean"`` (a matrix
      `allowed`, True attends), ``"additive"`` (a matrix `mask`), ``{"boolean": "head"}`` and
      ``{"additive": "head"}`` (one for each head), or a list, which allows what all allow;
      ``{"any": [...]}`` allows what any allows. ``{"top-k": 2}`` then keeps the two keys with the
      largest scores, ``{"index-top-k": 2}`` those with the largest of other scores (a matrix
      `index_scores`).
    - `normaliser`: see `symattn.nodes.normalise.NORMALISERS`; `unfold`: the softmax in
      steps, with the row maximum taken off first (True or ``"shifted"``) or not (``"plain"``: e^z
      as by hand, which overflows in floating point).
    - `heads`: None for one unnumbered head, a number, or ``"h"``; `kv_heads`: fewer key/value
      heads, shared by groups of query heads.
    - `output_gate`: ``sigmoid``, ``silu`` or ``softplus`` of X W_G, which multiplies each head's
      output entry by entry, or as one number: ``{"sigmoid": {"headwise": True}}``.
    - `output_projection`: whether W_O follows (None: if it is given); `output_form`: ``concat``
      or ``sum`` (Σ O⁽ⁱ⁾ W_O⁽ⁱ⁾).

    Raises `SymattnError` for a choice that does not exist or that has no meaning with another.
    Source: Vaswani et al., *Attention Is All You Need* (2017), section 3.2; its Q, K, V, d_k and
    d_v are ours, its head_i is our O⁽ⁱ⁾.

    >>> print(Attention(source="self", mask="causal").derivation())
    Q        Q = X W_Q
    K        K = X W_K
    V        V = X W_V
    scores   S = Q Kᵀ
    scaled   Z = S/√d_k
    mask     M = causal(n, n)
    masked   G = Z + M
    weights  A = softmax(G)
    output   O = A V
    """

    def __post_init__(self) -> None:
        from symattn.attention.choices import read

        for name, value in read(self).items():
            object.__setattr__(self, name, value)
        self._check_somewhere()

    def _check_somewhere(self) -> None:
        """Refuse choices that have no meaning whatever is given later."""
        from symattn.attention.meaning import check_meaning

        refusals = []
        for source in SOURCES if self.source is None else (self.source,):
            plan = self.settled(None, source)
            plan = replace(plan, output_projection=self.output_projection is not False)
            try:
                return check_meaning(plan)
            except SymattnError as error:
                refusals.append(error)
        raise refusals[0]

    def derivation(
        self,
        given: Collection[str] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        labels: Mapping[str, Collection[str]] | None = None,
        title: str = "",
    ) -> Derivation:
        """The steps of this attention, from what is `given` (any inputs or steps) on.

        `sizes` are known already (``{"d_k": 64}``); `labels` name rows and columns by size
        (``{"n": ["it", "cat"]}``). Raises `SymattnError` if what is given leads nowhere.

        >>> print(Attention().derivation(given=["scores"], sizes={"d_k": 64}))
        scaled   Z = S/√d_k
        weights  A = softmax(Z)
        """
        from symattn.attention.build import build
        from symattn.attention.choices import count, size_called
        from symattn.attention.meaning import check_meaning

        given = None if given is None else words(given, "given")
        plan = self.settled(given)
        if given is not None and self.tie is not None:
            self._check_tied(set(given))
        check_meaning(plan)
        known = {
            size_called(name): count(name, many) for name, many in table(sizes, "sizes").items()
        }
        if plan.source == "bare" and d_k in known and d_model not in known:
            known[d_model] = known.pop(d_k)
        for name, heads in (("h", self.heads), ("g", self.kv_heads)):
            if isinstance(heads, int):
                known[size_called(name)] = heads
        names = {
            size_called(name): words(listed, f"labels of {quote(name)}")
            for name, listed in table(labels, "labels").items()
        }
        if plan.source in ("self", "bare") and size_called("m") in names:
            names.setdefault(size_called("n"), names.pop(size_called("m")))
        for new in (n, m):
            if {new, p} <= set(names):  # the keys are those of before and the new ones
                names[new + p] = names[p] + names[new]
        derivation = build(plan, known, names, title)
        if given is not None:
            self._check_given(set(given))
            derivation = derivation.restricted(given)
        for symbol in (*known, *names):
            if not symbol.free_symbols <= {*derivation.size_symbols, h, g}:
                raise SymattnError(
                    f"{symbol}: no matrix of this derivation has that size; remove it"
                )
        return derivation

    def _check_tied(self, names: set[str]) -> None:
        """Of two matrices that are tied only the first is given."""
        kept, tied = (word[0].upper() for word in str(self.tie).split("-"))
        for lead in ("", "W_", "b_"):
            if lead + tied in names:
                instead = "remove it" if lead + kept in names else f"give {lead}{kept} instead"
                raise SymattnError(
                    f'{lead}{tied}: with tie = "{self.tie}" {tied} is {kept}; '
                    f"{instead}, or leave tie out"
                )

    def _check_given(self, names: set[str]) -> None:
        """What the spec asks for must be given."""
        for kind, _ in self.mask:
            name, later = MATRIX_MASKS.get(kind), {"masked", "selected", "exp", "weights"}
            if kind in KEY_CHOICES and KEY_CHOICES[kind] != "logits":
                name, later = KEY_CHOICES[kind], {"choice", "selected", "exp", "weights"}
            if name is not None and not names & {name, *later}:
                raise SymattnError(f'mask: "{kind}" needs its matrix; give it as {name}')
        for name in ("heads", "concat"):
            if name in names and not isinstance(self.heads, int):
                raise SymattnError(f"{name}: say how many heads there are, e.g. heads = 2")
        if self.output_projection and "W_O" not in names:
            raise SymattnError("output_projection: W_O is not given; give it or leave this out")

    def settled(self, given: Collection[str] | None, source: str | None = None) -> Plan:
        """The choices with what is left open decided by what is given, or by this source."""
        from symattn.attention.choices import unfolding

        names = set(() if given is None else words(given, "given"))
        if source is not None:
            choice(source, "source", SOURCES)
        embedded = self.embedded or "E" in names
        latent, query_latent = self.latent or "W_D" in names, self.query_latent or "W_DQ" in names
        projected = bool(latent) or query_latent or self.tie == "query-key" or _needs_x(self)
        projection, biased = self.output_projection, self.projection_bias
        if projection is None:
            projection = "W_O" in names if given is not None else self.output_form == "sum"
        decided: dict[str, object] = {
            "source": source or self.source or inferred_source(names, embedded, projected),
            "embedded": embedded,
            "latent": latent,
            "query_latent": query_latent,
            "projection_bias": _biases_in(names) if biased is None else biased,
            "norm": tuple((name, _vectors_in(names, name, norm)) for name, norm in self.norm),
            "cache": self.cache or bool(names & PASTS),
            "unfold": unfolding(self.unfold or bool({"row_max", "exp", "exp_sum"} & names)),
            "output_projection": projection,
        }
        if "bias" in names and self.bias is None:
            decided["bias"] = ("given", ())
        if "W_G" in names and self.output_gate is None:
            decided["output_gate"] = ("sigmoid", ())
        if "masked" in names and not self.mask:
            decided["mask"] = (("causal", True),)  # any mask: what leads to `masked` is cut off
        if {"choice", "selected"} & names and not self.mask:
            decided["mask"] = (("top-k", 1),)
        if "scaled" in names and self.scale is None:
            decided["scale"] = DEFAULT_SCALE
        plan = Plan(**{**vars(self), **decided})
        if plan.scale in (DEFAULT_SCALE, BOTH_SCALE) or (plan.scale and plan.source == "bare"):
            return replace(plan, scale=plan.scale.subs(d_k, plan.width))
        return plan


def inferred_source(names: Collection[str], embedded: bool = False, projected: bool = False) -> str:
    """Where Q, K, V come from, told by what is given, then by whether they have to be `projected`.

    >>> inferred_source({"X", "W_Q", "W_K"}), inferred_source({"Q", "K"})
    ('self', 'given')
    """
    if "memory_V" in names:
        return "separate"
    if "memory" in names:
        return "cross"
    if "X" in names or embedded:
        return "cross" if {"K", "V"} & set(names) and "W_K" not in names else "self"
    return "self" if projected else "given"


def _biases_in(names: Collection[str]) -> tuple[str, ...]:
    """The letters of the biases that are given."""
    return tuple(letter for letter in BIASED if f"b_{letter}" in names)


def _vectors_in(names: Collection[str], step: str, norm: Setting) -> Setting:
    """The norm of a step, with a gain and a shift if they are given."""
    kind, options = norm
    given = {word: True for word in ("gain", "shift") if f"{word}_{step}" in names}
    return kind, tuple({**given, **dict(options)}.items())


def _needs_x(spec: Attention) -> bool:
    """Whether the positions are added to X, or they or a gate are projected from it."""
    if spec.positions is None or spec.output_gate is not None:
        return spec.output_gate is not None
    return spec.rotary is None or spec.decoupled
