"""`Attention`: which attention is meant, one choice on each axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import sympy

from symattn.arguments import choice, table, whole, words, wrong
from symattn.arithmetic.reading import read_number
from symattn.attention.meaning import AXES, check_meaning, check_options
from symattn.attention.plan import (
    BOTH_SCALE,
    DEFAULT_SCALE,
    PER_HEAD,
    PLAIN,
    SHIFTED,
    Plan,
    d_k,
    d_model,
    m,
    n,
    p,
    size,
)
from symattn.attention.scoring import SCORES
from symattn.attention.words import SIZES
from symattn.errors import NoSuchName, SymattnError, nearest, quote
from symattn.nodes.arguments import Setting
from symattn.nodes.entrywise import FEATURE_MAPS
from symattn.nodes.masks import COMBINED, MASKS, mask_of
from symattn.nodes.normalise import NORMALISERS
from symattn.step import MOST_OF_A_SIZE

if TYPE_CHECKING:
    from symattn.derivation import Derivation

Source: TypeAlias = Literal["given", "self", "cross", "bare"]

#: The masks that are a matrix somebody gives, and the input that holds it.
MATRIX_MASKS = {"boolean": "allowed", "additive": "mask"}

_SOURCES = ("given", "self", "cross", "bare")
_FLAGS = ("embedded", "cache", "query_latent")
_OPTIONAL_FLAGS = ("output_projection", "projection_bias")
_BIASES = {"b_Q", "b_K", "b_V", "b_O"}
PASTS = {"K_past", "V_past", "latent_past", "K_position_past"}


#: The choices of the axes that have no options, and the axes that may be left open.
_CHOICES: Mapping[str, Collection[str]] = {
    "source": _SOURCES,
    "tie": ("query-key", "key-value"),
    "score": SCORES,
    "feature_map": FEATURE_MAPS,
    "normaliser": NORMALISERS,
    "output_form": ("concat", "sum"),
}
_OPEN = ("source", "tie", "feature_map")

#: How people write a scale that depends on d_k; spaces do not count, and ** is ^.
_SCALES = {
    **dict.fromkeys(("1/sqrt(d_k)", "1/√d_k", "d_k^(-1/2)", "d_k^(-0.5)"), DEFAULT_SCALE),
    **dict.fromkeys(("d_k^(-1/4)", "d_k^(-0.25)", "1/d_k^(1/4)", "1/d_k^0.25"), BOTH_SCALE),
}


@dataclass(frozen=True)
class Attention(Plan):
    """The choice on each axis of attention.

    - `source`: where Q, K, V come from: ``given``; ``self`` (projected from X); ``cross``
      (queries from X, keys and values from another sequence, `memory`); ``bare`` (X itself, no
      projection). None: what is given decides, and without that what is chosen.
    - `embedded`: X is looked up, one-hot rows times E; `tie`: ``query-key`` (K is Q) or
      ``key-value`` (V is K); `latent`: keys and values from one compressed latent, which may be
      ``absorbed`` (queries compared with the latent itself); `query_latent`: queries from a latent
      of their own; `cache`: keys and values of earlier tokens (the latent, if there is one) before
      the new ones; `projection_bias`: bias vectors.
    - `positions`: ``sinusoidal`` or ``learned`` (added to X), ``rotary`` (turns Q and K), or a
      table such as ``{"rotary": {"pairing": "half"}}``; ``{"rotary": {"decoupled": True}}`` turns
      a part of its own of each query and one key for all heads, appended to Q and K.
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
      ``{"any": [...]}`` allows what any allows.
    - `normaliser`: see `symattn.nodes.normalise.NORMALISERS`; `unfold`: the softmax in
      steps, with the row maximum taken off first (True or ``"shifted"``) or not (``"plain"``: e^z
      as by hand, which overflows in floating point).
    - `heads`: None for one unnumbered head, a number, or ``"h"``; `kv_heads`: fewer key/value
      heads, shared by groups of query heads.
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
        _check_flags(self)
        if not isinstance(self.unfold, bool):
            _unfolding(self.unfold)
        if not isinstance(self.latent, bool):
            choice(self.latent, "latent", ("absorbed",))
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value is not None or name not in _OPEN:
                choice(value, name, known)
        read = {
            "scale": _scale(self.scale),
            "soft_cap": _soft_cap(self.soft_cap),
            "positions": _named("positions", self.positions),
            "bias": _named("bias", self.bias),
            "mask": _masks(self.mask),
            "heads": _heads("heads", self.heads, "h"),
            "kv_heads": _heads("kv_heads", self.kv_heads, "g"),
        }
        for name, value in read.items():
            object.__setattr__(self, name, value)
        self._check_somewhere()

    def _check_somewhere(self) -> None:
        """Refuse choices that have no meaning whatever is given later."""
        refusals = []
        for source in _SOURCES if self.source is None else (self.source,):
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
        given = None if given is None else words(given, "given")
        plan = self.settled(given)
        check_meaning(plan)
        known = {_size(name): _count(name, count) for name, count in table(sizes, "sizes").items()}
        if plan.source == "bare" and d_k in known and d_model not in known:
            known[d_model] = known.pop(d_k)
        for name, heads in (("h", self.heads), ("g", self.kv_heads)):
            if isinstance(heads, int):
                known[_size(name)] = heads
        names = {
            _size(name): words(listed, f"labels of {quote(name)}")
            for name, listed in table(labels, "labels").items()
        }
        if plan.source in ("self", "bare") and _size("m") in names:
            names.setdefault(_size("n"), names.pop(_size("m")))
        for new in (n, m):
            if {new, p} <= set(names):  # the keys are those of before and the new ones
                names[new + p] = names[p] + names[new]
        from symattn.attention.build import build  # start-up time

        derivation = build(plan, known, names, title)
        if given is not None:
            self._check_given(set(given))
            derivation = derivation.restricted(given)
        for symbol in known:
            if symbol not in derivation.size_symbols and symbol.name not in ("h", "g"):
                raise SymattnError(
                    f"{symbol}: no matrix of this derivation has that size; remove it"
                )
        return derivation

    def _check_given(self, names: set[str]) -> None:
        """What the spec asks for must be given."""
        for kind, _ in self.mask:
            name = MATRIX_MASKS.get(kind)
            if name is not None and not names & {name, "masked", "exp", "weights"}:
                raise SymattnError(f'mask: "{kind}" needs its matrix; give it as {name}')
        for name in ("heads", "concat"):
            if name in names and not isinstance(self.heads, int):
                raise SymattnError(f"{name}: say how many heads there are, e.g. heads = 2")
        if self.output_projection and "W_O" not in names:
            raise SymattnError("output_projection: W_O is not given; give it or leave this out")

    def settled(self, given: Collection[str] | None, source: str | None = None) -> Plan:
        """The choices with what is left open decided by what is given, or by this source."""
        names = set(() if given is None else words(given, "given"))
        if source is not None:
            choice(source, "source", _SOURCES)
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
            "projection_bias": bool(names & _BIASES) if biased is None else biased,
            "cache": self.cache or bool(names & PASTS),
            "unfold": _unfolding(self.unfold or bool({"row_max", "exp", "exp_sum"} & names)),
            "output_projection": projection,
        }
        if "bias" in names and self.bias is None:
            decided["bias"] = ("given", ())
        if "masked" in names and not self.mask:
            decided["mask"] = (("causal", True),)  # any mask: what leads to `masked` is cut off
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
    if "memory" in names:
        return "cross"
    if "X" in names or embedded:
        return "cross" if {"K", "V"} & set(names) and "W_K" not in names else "self"
    return "self" if projected else "given"


def _needs_x(spec: Attention) -> bool:
    """Whether the positions are added to X, or projected from it."""
    if spec.positions is None:
        return False
    return spec.rotary is None or spec.decoupled


def _check_flags(spec: Attention) -> None:
    for name in (*_FLAGS, *_OPTIONAL_FLAGS):
        value = getattr(spec, name)
        if not isinstance(value, bool) and not (name in _OPTIONAL_FLAGS and value is None):
            raise SymattnError(f"{name} = {quote(value)}: choose true or false")


def _unfolding(value: bool | str) -> str:
    """How the softmax is taken apart; empty where it stays whole."""
    if isinstance(value, bool):
        return SHIFTED if value else ""
    if not isinstance(value, str) or value not in (PLAIN, SHIFTED):
        hint = nearest(value, (PLAIN, SHIFTED))
        raise SymattnError(
            f'unfold = {quote(value)}: choose true, false, "{SHIFTED}" or "{PLAIN}"{hint}'
        )
    return value


def _scale(value: Setting) -> sympy.Expr | None:
    """The factor on the scores, or `BOTH_SCALE`; None for none."""
    if value is True:
        return DEFAULT_SCALE
    if isinstance(value, str):
        value = _SCALES.get("".join(value.split()).replace("**", "^").replace("−", "-"), value)
    if value is False or value is None:
        return None
    if isinstance(value, sympy.Expr) and value.free_symbols and not value.is_Matrix:
        return value.subs({s: size(s.name) for s in value.free_symbols if s.name in SIZES})
    factor = read_number(value, "scale")
    if factor.is_infinite or factor == 0:
        raise SymattnError(f"scale = {quote(value)}: give true, false, or a number other than 0")
    return None if factor == 1 else factor


def _soft_cap(value: Setting) -> sympy.Expr | None:
    if value is None or value is False:
        return None
    cap = read_number(value, "soft_cap")
    if not cap.is_positive:
        raise SymattnError(f"soft_cap = {quote(value)}: give a positive number")
    return cap


def _named(name: str, value: Setting) -> tuple[str, tuple[tuple[str, Setting], ...]] | None:
    """A choice with options: a name, or a table of one name with its options."""
    known = tuple(AXES[name])
    if value is None or value is False:
        return None
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict | tuple):
        value = {value[0]: dict(value[1])}
    options: Setting = {}
    chosen = value
    if isinstance(value, Mapping):
        if len(value) != 1:
            raise SymattnError(f"{name}: name one choice; known: {', '.join(known)}")
        ((chosen, options),) = value.items()
        options = {} if options is True else options
    choice(chosen, name, known)
    if not isinstance(options, Mapping):
        raise SymattnError(f"{name}: the options of {chosen} have to be a table")
    check_options(name, chosen, options)
    return chosen, tuple((option, _frozen(held)) for option, held in options.items())


def _masks(value: Setting) -> tuple[tuple[str, Setting], ...]:
    """The masks as (name, parameter) pairs."""
    if value is None or value is False:
        return ()
    if isinstance(value, str):
        pairs: list[tuple[str, Setting]] = [(value, True)]
    elif isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list | tuple):
        if all(isinstance(part, tuple) and len(part) == 2 for part in value):
            pairs = list(value)
        else:
            pairs = [pair for part in value for pair in _masks(part)]
    else:
        known = ", ".join(_mask_names())
        raise SymattnError(f"mask = {quote(value)}: name a mask; known: {known}")
    out: list[tuple[str, Setting]] = []
    for name, parameter in pairs:
        if not isinstance(name, str) or name not in _mask_names():
            raise SymattnError(f"mask {quote(name)} is not known{nearest(name, _mask_names())}")
        if parameter is False:
            continue
        if name not in MATRIX_MASKS:
            mask_of(name, sympy.Symbol("n"), sympy.Symbol("m"), parameter)
        elif parameter is not True and not (isinstance(parameter, str) and parameter == PER_HEAD):
            raise SymattnError(
                f'mask "{name}" = {quote(parameter)}: say true (one matrix for all heads) or '
                f'"{PER_HEAD}" (one for each), and give the matrix as {MATRIX_MASKS[name]}'
            )
        if name in MATRIX_MASKS and name in (earlier for earlier, _ in out):
            raise SymattnError(f'mask: "{name}" is named twice; there is one {MATRIX_MASKS[name]}')
        out.append((name, _frozen(parameter)))
    return tuple(out)


def _frozen(value: Setting) -> Setting:
    """Lists as tuples, and a table of one mask as a pair, so that a spec can be hashed."""
    if isinstance(value, Mapping):
        return next((name, _frozen(held)) for name, held in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _mask_names() -> tuple[str, ...]:
    return (*MASKS, *COMBINED, *MATRIX_MASKS)


def _heads(name: str, value: object, letter: str) -> int | str | None:
    if value is None or (isinstance(value, str) and value == letter):
        return value
    if isinstance(value, str):
        raise wrong(value, name, f'a whole number from 1 to 1024, or "{letter}"')
    return whole(value, name, 1, 1024)


def _size(name: str) -> sympy.Symbol:
    if name not in SIZES:
        raise NoSuchName(f"no size is called {quote(name)}{nearest(name, SIZES)}")
    return size(name)


def _count(name: str, value: object) -> int:
    return whole(value, name, 1, MOST_OF_A_SIZE)
