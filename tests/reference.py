"""Attention as Vaswani et al. (2017) write it in sections 3.2.1 to 3.2.3: the tests' oracle.

Nothing here knows symattn. Loops over single numbers of mpmath, with 50 digits unless asked for
more, return every step by name. Random attentions to hold against them are at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Lines: TypeAlias = list[list[Any]]

#: Digits that hold in the mpmath version; it computes with more to pay for cancellation.
DIGITS = 50
_GUARD = 25

MINUS_INFINITY = float("-inf")


# ---- masks: 0 where a query may attend, −∞ where it may not (section 3.2.3) ---------------------


def causal(queries: int, keys: int, past: int = 0) -> Array:
    """Query i (from 0) sees keys 0 … i + past."""
    out = np.empty((queries, keys), dtype=object)
    for i in range(queries):
        for j in range(keys):
            out[i, j] = Fraction(0) if j <= i + past else MINUS_INFINITY
    return out


def padding(queries: int, keys: int, length: int) -> Array:
    """Only the first `length` keys are seen."""
    out = np.empty((queries, keys), dtype=object)
    for i in range(queries):
        for j in range(keys):
            out[i, j] = Fraction(0) if j < length else MINUS_INFINITY
    return out


def allowed(matrix: Array) -> Array:
    """True attends."""
    out = np.empty(matrix.shape, dtype=object)
    for place in np.ndindex(*matrix.shape):
        out[place] = Fraction(0) if bool(matrix[place]) else MINUS_INFINITY
    return out


# ---- mpmath ------------------------------------------------------------------------------------


def precise(value: Any) -> Any:
    """A fraction, a float or a text in mpmath."""
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)


def _product(a: Lines, b: Lines) -> Lines:
    return [
        [mpmath.fsum(row[k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))]
        for row in a
    ]


def _softmax_row(row: Sequence[Any]) -> list[Any]:
    largest = max(row)
    if largest == mpmath.mpf("-inf"):
        return [mpmath.mpf(0) for _ in row]
    powers = [mpmath.exp(entry - largest) for entry in row]
    return [power / mpmath.fsum(powers) for power in powers]


def _lines(matrix: Any) -> Lines:
    return [[precise(entry) for entry in row] for row in matrix]


def _one_head(
    given: Mapping[str, Any], factor: Any, mask: Lines | None, out: dict[str, list[Lines]]
) -> Lines:
    """The steps of one head, each appended to `out`; its output."""

    def keep(name: str, value: Lines) -> Lines:
        out.setdefault(name, []).append(value)
        return value

    made = {}
    for letter, source in (("Q", "X"), ("K", "memory"), ("V", "memory")):
        if letter in given:
            made[letter] = _lines(given[letter])
        else:
            tokens = given[source] if source in given else given["X"]
            made[letter] = keep(letter, _product(_lines(tokens), _lines(given[f"W_{letter}"])))
    turned = [list(column) for column in zip(*made["K"], strict=True)]
    logits = keep("scores", _product(made["Q"], turned))
    if factor is not None:
        logits = keep("scaled", [[entry * factor for entry in row] for row in logits])
    if mask is not None:
        pairs = zip(logits, mask, strict=True)
        logits = keep("masked", [[x + y for x, y in zip(*pair, strict=True)] for pair in pairs])
    return _product(keep("weights", [_softmax_row(row) for row in logits]), made["V"])


def precise_steps(
    given: Mapping[str, Array],
    factor: Callable[[], Any] | None,
    mask: Array | None,
    heads: bool,
    digits: int = DIGITS,
) -> dict[str, Array]:
    """All steps with so many digits, for matrices of fractions.

    `factor` is called for the scale, so that it is computed with all the digits.
    """
    with mpmath.workdps(digits + _GUARD):
        scale = None if factor is None else factor()
        added = None if mask is None else _lines(mask)
        found: dict[str, list[Lines]] = {}
        per_head = ("Q", "K", "V", "W_Q", "W_K", "W_V")
        results: list[Lines] = []
        count = len(given["Q" if "Q" in given else "W_Q"]) if heads else 1
        for head in range(count):
            own = {
                name: value[head] if heads and name in per_head else value
                for name, value in given.items()
            }
            results.append(_one_head(own, scale, added, found))
        joined = [
            [entry for head in parts for entry in head] for parts in zip(*results, strict=True)
        ]
        single: dict[str, Lines] = {}
        if heads:
            found["heads"] = results
            single["concat"] = joined
        else:
            single["output"] = joined
        if "W_O" in given:
            single["projected"] = _product(joined, _lines(given["W_O"]))
        out = {name: value if heads else value[0] for name, value in found.items()}
        return {name: np.array(value, dtype=object) for name, value in (out | single).items()}


# ---- random attentions -------------------------------------------------------------------------

#: What `scale` may be, and the factor that it means for a d_k; None for no scaling.
SCALES: tuple[tuple[Any, Callable[[int], Any] | None], ...] = (
    ("1/sqrt(d_k)", lambda d_k: 1 / mpmath.sqrt(d_k)),
    (True, lambda d_k: 1 / mpmath.sqrt(d_k)),
    (False, None),
    (1, None),
    (0.1, lambda _: mpmath.mpf(1) / 10),
    (-2, lambda _: mpmath.mpf(-2)),
    (Fraction(1, 3), lambda _: mpmath.mpf(1) / 3),
    ("1/sqrt(3)", lambda _: 1 / mpmath.sqrt(3)),
    ("pi ln 2", lambda _: mpmath.pi * mpmath.log(2)),
)


@dataclass(frozen=True)
class Case:
    """An attention with numbers: `spec` and `told` for symattn, the rest for the oracles."""

    spec: dict[str, Any]
    told: dict[str, Any]
    given: dict[str, Array]
    factor: Callable[[], Any] | None
    mask: Array | None
    heads: bool
    #: The matrices that each item of a batch has of its own; () where there is no batch.
    own: tuple[str, ...] = ()

    def precise(self, digits: int = DIGITS) -> dict[str, Array]:
        """mpmath's answer."""
        if not self.own:
            return precise_steps(self.given, self.factor, self.mask, self.heads, digits)
        items = [
            replace(
                self,
                given={n: x[item] if n in self.own else x for n, x in self.given.items()},
                mask=self.mask[item] if self.mask is not None and self.mask.ndim > 2 else self.mask,
                own=(),
            ).precise(digits)
            for item in range(len(self.given[self.own[0]]))
        ]
        return {name: np.stack([item[name] for item in items]) for name in items[0]}

    def plain(self) -> dict[str, Array]:
        """The same in floats."""
        return {name: value.astype(float) for name, value in self.precise(20).items()}

    def spread(self) -> float:
        """How far apart the finite logits are."""
        plain = self.plain()
        logits = next(plain[name] for name in ("masked", "scaled", "scores") if name in plain)
        finite = logits[np.isfinite(logits)]
        return float(np.ptp(finite)) if finite.size else 0.0

    def slack(self, epsilon: float) -> float:
        """How far rounding with this machine epsilon may carry any step, generously."""
        sizes = {name: abs(value) for name, value in self.given.items()}
        size = sizes | replace(self, given=sizes, mask=None).plain()
        logits = max(abs(size[name]).max() for name in ("scores", "scaled") if name in size) + 4.0
        mixed = float(sizes["W_O"].sum(axis=0).max()) if "W_O" in sizes else 1.0
        return float(64 * epsilon * logits * max(1.0, size["V"].max()) * max(1.0, mixed))


def fractions(rng: np.random.Generator, *shape: int) -> Array:
    """Small fractions: whole numbers, quarters, tenths and thirds."""
    out = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        out[place] = Fraction(int(rng.integers(-6, 7)), int(rng.choice([1, 1, 3, 4, 10])))
    return out


def written(value: Any, form: str) -> Any:
    """The same matrix as an array, or as nested lists of numbers or of strings."""
    if isinstance(value, np.ndarray):
        return value if form == "array" else [written(part, form) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return str(value) if form == "strings" else value


@st.composite
def masks(
    draw: st.DrawFn, rng: np.random.Generator, shape: tuple[int, ...]
) -> tuple[Array | None, Any, dict[str, Array]]:
    """Any masks together: their sum, how a spec names them, and the matrices they need."""
    queries, keys = shape[-2:]
    parts: list[Array] = []
    spec: list[Any] = []
    extra: dict[str, Array] = {}
    kinds = st.sampled_from(["causal", "padding", "boolean", "additive"])
    for name in sorted(draw(st.sets(kinds))):
        full = shape if draw(st.booleans()) else (queries, keys)
        match name:
            case "causal":
                past = draw(st.integers(0, 2))
                parts.append(causal(queries, keys, past))
                spec.append({"causal": past} if past else "causal")
            case "padding":
                length = draw(st.integers(0, keys))
                parts.append(padding(queries, keys, length))
                spec.append({"padding": length})
            case "boolean":
                extra["allowed"] = np.asarray(rng.random(full) < 0.7)
                parts.append(allowed(extra["allowed"]))
                spec.append("boolean")
            case _:
                extra["mask"] = fractions(rng, *full) / 2
                extra["mask"][rng.random(full) < 0.3] = MINUS_INFINITY
                parts.append(extra["mask"])
                spec.append("additive")
    if not parts:
        return None, None, extra
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total, spec[0] if len(spec) == 1 else spec, extra


@st.composite
def cases(draw: st.DrawFn, *, batches: bool = True, large: bool = True, most: int = 4) -> Case:
    """Any attention: sources, shapes, scales, masks, heads, projections, leading axes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    source = draw(st.sampled_from(["given", "self", "cross"]))
    heads = draw(st.sampled_from([None, 1, 2, 3]))
    n, m, d_k, d_v, width, other = (draw(st.integers(1, most)) for _ in range(6))
    m, other = (n, width) if source == "self" else (m, other)
    lead = (2,) if batches and draw(st.booleans()) else ()
    own = () if heads is None else (heads,)
    if source == "given":
        shapes = {"Q": (n, d_k), "K": (m, d_k), "V": (m, d_v)}
        shapes = {name: (*lead, *own, *shape) for name, shape in shapes.items()}
    else:
        shapes = {"W_Q": (width, d_k), "W_K": (other, d_k), "W_V": (other, d_v)}
        shapes = {name: (*own, *shape) for name, shape in shapes.items()}
    per_head = tuple(shapes)
    if source != "given":
        shapes["X"] = (*lead, n, width)
    if source == "cross":
        shapes["memory"] = (*lead, m, other)
    if draw(st.booleans()):
        shapes["W_O"] = ((heads or 1) * d_v, draw(st.integers(1, 3)))
    numbers = {name: fractions(rng, *shape) for name, shape in shapes.items()}
    if large:
        numbers[per_head[0]] *= Fraction(draw(st.sampled_from([1, 10, 100])))
    mask, spec_mask, extra = draw(masks(rng, (*lead, n, m)))
    scale, factor = draw(st.sampled_from(SCALES))
    form = draw(st.sampled_from(["array", "lists", "strings"]))
    told = {name: written(value, form) for name, value in (numbers | extra).items()}
    said: Any = heads
    if heads is not None and numbers[per_head[0]].ndim == 3:
        together = draw(
            st.sampled_from(["none", "some", "all"])
        )  # packed as rows × heads · columns
        for name in {"none": (), "some": per_head[1:], "all": per_head}[together]:
            told[name] = written(np.concatenate(list(numbers[name]), axis=-1), form)
        said = draw(st.sampled_from([heads, "h"])) if together == "none" else heads
    spec = {"source": draw(st.sampled_from([None, source])), "scale": scale, "mask": spec_mask}
    called = None if factor is None else lambda: factor(d_k)
    mine = tuple(name for name, x in numbers.items() if name[0] != "W") if lead else ()
    return Case(spec | {"heads": said}, told, numbers, called, mask, heads is not None, mine)
