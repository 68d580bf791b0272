"""`Attention`: which attention is meant, one choice on each axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import sympy

from symattn.arithmetic.reading import read_number
from symattn.attention.build import DEFAULT_SCALE, Plan, build
from symattn.derivation import Derivation
from symattn.errors import SymattnError, nearest, shown
from symattn.nodes.masks import MASKS
from symattn.nodes.normalise import NORMALISERS
from symattn.notation.options import SIZES

Source: TypeAlias = Literal["given", "self", "cross"]

#: The masks that are a matrix somebody gives, and the input that holds it.
MATRIX_MASKS = {"boolean": "allowed", "additive": "mask"}

_SOURCES = ("given", "self", "cross")


@dataclass(frozen=True)
class Attention:
    """The choice on each axis of attention.

    - `source`: where Q, K, V come from: ``given``; ``self`` (projected from X); ``cross``
      (queries from X, keys and values from another sequence, `memory`). None: what is given
      decides, and without that ``given``.
    - `embedded`: whether X is looked up, one-hot rows times an embedding table E.
    - `scale`: ``"1/sqrt(d_k)"`` or True; False for none; any number or closed expression.
    - `mask`: ``"causal"``, ``{"padding": 3}``, ``"boolean"`` (a matrix `allowed`, True attends),
      ``"additive"`` (a matrix `mask`, added), or a list of these, which allows what all allow.
    - `normaliser`: ``softmax`` or ``sum`` (the plain ratio); `unfold`: the softmax in steps.
    - `heads`: None for one unnumbered head, a number, or ``"h"``.
    - `output_projection`: whether a last W_O follows; None: if W_O is given.

    Raises `SymattnError` for a choice that does not exist.
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

    source: Source | None = None
    embedded: bool = False
    scale: Any = DEFAULT_SCALE
    mask: Any = None
    normaliser: str = "softmax"
    unfold: bool = False
    heads: int | str | None = None
    output_projection: bool | None = None

    def __post_init__(self) -> None:
        if self.source is not None and self.source not in _SOURCES:
            hint = nearest(str(self.source), _SOURCES)
            raise SymattnError(f"source = {shown(self.source)}: there is none{hint}")
        for name in ("embedded", "unfold", "output_projection"):
            value = getattr(self, name)
            optional = name == "output_projection" and value is None
            if not isinstance(value, bool) and not optional:
                raise SymattnError(f"{name} = {shown(value)}: choose true or false")
        if not isinstance(self.normaliser, str) or self.normaliser not in NORMALISERS:
            hint = nearest(str(self.normaliser), NORMALISERS)
            raise SymattnError(f"normaliser = {shown(self.normaliser)}: there is none{hint}")
        if self.unfold and self.normaliser != "softmax":
            raise SymattnError(f'unfold: only a softmax has exponentials, not "{self.normaliser}"')
        object.__setattr__(self, "scale", _scale(self.scale))
        object.__setattr__(self, "mask", _masks(self.mask))
        object.__setattr__(self, "heads", _heads(self.heads))
        if self.normaliser == "sum" and self.mask:
            raise SymattnError('mask: a score of −∞ has no ratio; use normaliser = "softmax"')

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
        plan = self._plan(given)
        known = {_size(name): _count(name, count) for name, count in (sizes or {}).items()}
        if isinstance(self.heads, int):
            known[_size("h")] = self.heads
        named = {_size(name): tuple(words) for name, words in (labels or {}).items()}
        if plan.source == "self" and _size("m") in named:
            named.setdefault(_size("n"), named.pop(_size("m")))
        derivation = build(plan, known, named, title)
        if given is not None:
            self._check_given(set(given))
            derivation = derivation.restricted(given)
        for size in known:
            if size not in derivation.size_symbols and size.name != "h":
                raise SymattnError(f"{size}: no matrix of this derivation has that size; remove it")
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

    def _plan(self, given: Collection[str] | None) -> Plan:
        """The choices with what is left open settled by what is given."""
        names = set(given or ())
        masks = self.mask
        if "masked" in names and not masks:
            masks = (("causal", True),)  # any mask: what leads to `masked` is cut off
        embedded = self.embedded or "E" in names
        source = self.source or inferred_source(names, embedded)
        kept = self.output_projection
        return Plan(
            source=source,
            embedded=embedded,
            scale=DEFAULT_SCALE if "scaled" in names and self.scale is None else self.scale,
            masks=masks,
            normaliser=self.normaliser,
            unfold=self.unfold or bool({"exp", "exp_sum"} & names),
            heads=self.heads,
            output_projection="W_O" in names if kept is None else kept,
        )


def inferred_source(names: Collection[str], embedded: bool = False) -> str:
    """Where Q, K, V come from, told by what is given.

    >>> inferred_source({"X", "W_Q", "W_K"}), inferred_source({"Q", "K"})
    ('self', 'given')
    """
    if "memory" in names:
        return "cross"
    if "X" in names or embedded:
        return "cross" if {"K", "V"} & set(names) and "W_K" not in names else "self"
    return "given"


def _scale(value: Any) -> sympy.Expr | None:
    """The factor on the scores; None for none."""
    if value is True or value == DEFAULT_SCALE:
        return DEFAULT_SCALE
    if isinstance(value, str) and value.replace(" ", "") in ("1/sqrt(d_k)", "1/√d_k"):
        return DEFAULT_SCALE
    if value is False or value is None:
        return None
    if isinstance(value, sympy.Expr) and value.free_symbols:
        return value
    factor = read_number(value, "scale")
    if factor.is_infinite or factor == 0:
        raise SymattnError(f"scale = {shown(value)}: give a number other than 0, true or false")
    return None if factor == 1 else factor


def _masks(value: Any) -> tuple[tuple[str, Any], ...]:
    """The masks as (name, parameter) pairs."""
    if value is None or value is False:
        return ()
    if isinstance(value, str):
        pairs: list[tuple[str, Any]] = [(value, True)]
    elif isinstance(value, Mapping):
        pairs = [(str(name), parameter) for name, parameter in value.items()]
    elif isinstance(value, list | tuple):
        if all(isinstance(part, tuple) and len(part) == 2 for part in value):
            pairs = list(value)
        else:
            pairs = [pair for part in value for pair in _masks(part)]
    else:
        raise SymattnError(f"mask = {shown(value)}: name a mask; known: {', '.join(_mask_names())}")
    out = []
    for name, parameter in pairs:
        if name not in _mask_names():
            raise SymattnError(f"mask {shown(name)} is not known{nearest(name, _mask_names())}")
        if parameter is False:
            continue
        if name in MASKS:
            MASKS[name].of(sympy.Symbol("n"), sympy.Symbol("m"), parameter)
        out.append((name, parameter))
    return tuple(out)


def _mask_names() -> tuple[str, ...]:
    return (*MASKS, *MATRIX_MASKS)


def _heads(value: Any) -> int | str | None:
    if value is None or value == "h":
        return value  # type: ignore[no-any-return]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
        raise SymattnError(f'heads = {shown(value)}: give a whole number from 1 to 1024, or "h"')
    return value


def _size(name: str) -> sympy.Symbol:
    if name not in SIZES:
        raise SymattnError(f'no size is called "{name}"{nearest(name, SIZES)}')
    return sympy.Symbol(name, integer=True, positive=True)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**6:
        raise SymattnError(f"{name} = {shown(value)}: a size is a whole number from 1 to 1000000")
    return value
