"""Every choice on every axis of attention, pairs of them in few specs, and what they compute.

The choices are listed by axis; the combinations are generated: a pairwise covering set by a
deterministic greedy algorithm over what symattn accepts, which takes half a minute and is kept in
`data/combinations.json` (``python -m tests.combinations`` writes it). `Reference` computes each of
them in plain NumPy from the definitions, one head after the other; nothing in it knows symattn.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symattn import Attention, Derivation, SymattnError

Array: TypeAlias = NDArray[np.float64]
Spec: TypeAlias = dict[str, Any]

#: One choice of one axis: the axis, and where the choice stands in its list.
Choice: TypeAlias = tuple[str, int]

#: The choices of each axis, the usual one first.
AXES: Mapping[str, tuple[Any, ...]] = {
    "source": ("self", "given", "cross", "bare"),
    "embedded": (False, True),
    "tie": (None, "query-key", "key-value"),
    "latent": (False, True, "absorbed"),
    "query_latent": (False, True),
    "projection_bias": (None, True),
    "positions": (
        None,
        "sinusoidal",
        "learned",
        "rotary",
        {"rotary": {"pairing": "half"}},
        {"rotary": {"dims": 2, "start": 1}},
        {"rotary": {"pairing": "half", "dims": 2, "base": 100}},
        {"sinusoidal": {"base": 100, "start": 2}},
        {"rotary": {"decoupled": True}},
        {"rotary": {"decoupled": True, "pairing": "half", "base": 100, "start": 1}},
    ),
    "cache": (False, True),
    "score": ("dot", "cosine", "general", "additive", "distance", "shaw", "transformer-xl"),
    "feature_map": (None, "elu+1", "relu", "exp"),
    "scale": (True, False, "1/3", "1/sqrt(3)", "d_k^(-1/4)"),
    "soft_cap": (None, 2, "3/2"),
    "bias": (
        None,
        "given",
        "alibi",
        {"alibi": {"symmetric": True}},
        {"relative": {"buckets": 8, "max_distance": 6}},
        {"relative": {"buckets": 4, "max_distance": 8, "bidirectional": False}},
        {"relative": {"clip": 1}},
    ),
    "mask": (
        None,
        "causal",
        {"window": 1},
        {"window": [1, 0]},
        {"prefix": 2},
        {"padding": 2},
        "boolean",
        "additive",
        {"any": [{"window": 0}, {"global": [2]}]},
        {"all": ["causal", {"window": 1}]},
        {"dilated": [1, 2]},
        {"strided": 2},
        {"global": [1, 3]},
        {"documents": [1, 2, 1]},
        ["causal", "boolean"],
        ["additive", {"padding": 3}],
        ["causal", {"boolean": "head"}],
        {"additive": "head"},
    ),
    "normaliser": (
        "softmax",
        "softmax-off-by-one",
        "softmax-sink",
        "sum",
        "sigmoid",
        "sparsemax",
        "hardmax",
        "none",
    ),
    "unfold": (False, True, "plain"),
    "heads": (None, 2, 4, 1, "h"),
    "kv_heads": (None, 1, 2, "g"),
    "output_projection": (None, True),
    "output_form": ("concat", "sum"),
}

#: Where the search starts: specs under which a choice may have a meaning that it lacks alone.
_BASES: tuple[Mapping[str, Any], ...] = (
    {},
    {"heads": 2},
    {"source": "given"},
    {"source": "cross", "heads": 2},
    {"source": "given", "heads": 4, "scale": False},
    {"source": "bare", "scale": False},
    {"heads": 2, "output_projection": True},
    {"source": "given", "heads": "h", "normaliser": "none"},
)

#: How the "reason" of a combination begins that symattn does not refuse but breaks on.
CRASH = "crash: "

SIZES = {
    **{"n": 3, "m": 4, "p": 2, "d_model": 4, "d_mem": 3, "d_k": 4, "d_v": 2, "d_out": 3},
    **{"d_c": 2, "d_cq": 3, "d_r": 2, "d_a": 2, "n_clip": 1, "n_vocab": 3},
}


# ---- what is accepted, and why the rest is not -------------------------------------------------


def spec_of(choices: Mapping[str, int]) -> Spec:
    """The choices as `Attention` takes them; the first of an axis is left out if it is default."""
    return {axis: AXES[axis][index] for axis, index in choices.items() if index or axis == "source"}


def name_of(spec: Mapping[str, Any]) -> str:
    """A spec in one line, which names a test."""
    return " ".join(f"{axis}={_words(value)}" for axis, value in spec.items())


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "+".join(f"{key}:{_words(part)}" for key, part in value.items())
    if isinstance(value, list):
        return "[" + ",".join(map(_words, value)) + "]"
    return str(value)


@cache
def _refusal(choices: tuple[Choice, ...]) -> str | None:
    """Why symattn refuses these choices (the rest being usual), or None where it takes them."""
    spec = spec_of(dict(choices))
    try:
        Attention(**spec).derivation()
    except SymattnError as error:
        return str(error)
    except Exception as error:  # a crash is no refusal: the test of the refusals fails on it
        return f"{CRASH}{type(error).__name__}: {error}"
    return _unfit(spec)


def _unfit(spec: Mapping[str, Any]) -> str | None:
    """Combinations whose shapes cannot fit whatever the numbers are."""
    if spec.get("cache") and "documents" in _masks(spec.get("mask")):
        return "documents: one number a token, and the cached keys are more"
    return None


def refusal(spec: Mapping[str, int]) -> str | None:
    """`_refusal` of choices in any order."""
    return _refusal(tuple((axis, spec[axis]) for axis in AXES if spec.get(axis)))


@dataclass(frozen=True)
class Cover:
    """Specs that cover every pair of choices that goes together, and the pairs that do not."""

    specs: tuple[Spec, ...]
    refused: tuple[Spec, ...]

    def missing(self) -> list[Spec]:
        """The pairs of choices of `AXES` that are neither in a spec nor refused."""
        indices = [
            {axis: AXES[axis].index(value) for axis, value in spec.items()} for spec in self.specs
        ]
        covered = {pair for each in indices for pair in _pairs_in(each)}
        pairs = (spec_of(dict(pair)) for pair in _pairs() if pair not in covered)
        return [pair for pair in pairs if pair not in self.refused]


_KEPT = Path(__file__).parent / "data" / "combinations.json"


def cover() -> Cover:
    """The covering set as it was found last."""
    found = json.loads(_KEPT.read_text("utf-8"))
    return Cover(tuple(found["specs"]), tuple(found["refused"]))


def _write(found: Cover) -> None:
    def rows(specs: Iterable[Spec]) -> str:
        return ",\n".join(json.dumps(spec) for spec in specs)

    text = f'{{"specs": [\n{rows(found.specs)}\n],\n"refused": [\n{rows(found.refused)}\n]}}\n'
    _KEPT.write_text(text, "utf-8")


def _pairs() -> list[tuple[Choice, Choice]]:
    """Every pair of choices of two axes."""
    return [pair for axes in combinations(AXES, 2) for pair in _pairs_of(*axes)]


def find_cover() -> Cover:
    """The covering set: always the same one.

    For each pair not covered yet, one spec is begun with it; then every axis in turn takes the
    choice that covers the most further pairs and is still accepted.
    """
    wanted = _pairs()
    left = dict.fromkeys(wanted)
    specs: list[Spec] = []
    refused: list[Spec] = []
    for pair in sorted(wanted, key=_rarity):
        if pair not in left:
            continue
        begun = _begun(pair)
        if begun is None:
            del left[pair]
            refused.append(spec_of(dict(pair)))
            continue
        filled = _filled(begun, dict(pair), left)
        for covered in _pairs_in(filled):
            left.pop(covered, None)
        specs.append(spec_of(filled))
    return Cover(tuple(specs), tuple(refused))


def _pairs_of(one: str, other: str) -> Iterator[tuple[Choice, Choice]]:
    for first in range(len(AXES[one])):
        for second in range(len(AXES[other])):
            yield (one, first), (other, second)


def _rarity(pair: tuple[Choice, Choice]) -> int:
    """Pairs of axes with many choices first; they fill the most."""
    return -len(AXES[pair[0][0]]) * len(AXES[pair[1][0]])


def _pairs_in(choices: Mapping[str, int]) -> Iterator[tuple[Choice, Choice]]:
    return combinations(((axis, choices.get(axis, 0)) for axis in AXES), 2)


def _begun(pair: tuple[Choice, Choice]) -> dict[str, int] | None:
    """Some spec with both choices that is accepted, or None."""
    fixed = dict(pair)
    for base in _BASES:
        start = {axis: AXES[axis].index(value) for axis, value in base.items()} | fixed
        if refusal(start) is None:
            return start
    for axis, values in AXES.items():
        if axis not in fixed:
            for index in range(1, len(values)):
                if refusal(fixed | {axis: index}) is None:
                    return fixed | {axis: index}
    return None


def _filled(
    begun: dict[str, int], fixed: Mapping[str, int], left: Mapping[tuple[Choice, Choice], None]
) -> dict[str, int]:
    out = dict(begun)
    free = [axis for axis in sorted(AXES, key=lambda axis: -len(AXES[axis])) if axis not in fixed]
    settled = dict(fixed)
    for axis in free:
        gains = []
        for index in range(len(AXES[axis])):
            mine = (axis, index)
            gain = sum(
                (((other, at), mine) in left) or ((mine, (other, at)) in left)
                for other, at in settled.items()
            )
            gains.append((-gain, index != out.get(axis, 0), index))
        for _, _, index in sorted(gains):
            if index == out.get(axis, 0) or refusal(out | {axis: index}) is None:
                out[axis] = index
                break
        settled[axis] = out.get(axis, 0)
    return out


# ---- numbers to put in -------------------------------------------------------------------------


def _masks(value: Any) -> str:
    """The names of masks somewhere in a choice, as one text."""
    return repr(value)


def sizes_of(spec: Mapping[str, Any]) -> dict[str, int]:
    """Every size; the document mask numbers as many keys as queries."""
    heads, groups = spec.get("heads"), spec.get("kv_heads")
    sizes = dict(SIZES)
    sizes["h"] = heads if isinstance(heads, int) else 4 if heads == "h" else 1
    sizes["g"] = groups if isinstance(groups, int) else 2 if groups == "g" else sizes["h"]
    if groups == "g" and sizes["h"] == 1:
        sizes["g"] = 1
    if "documents" in _masks(spec.get("mask")):
        sizes["m"] = sizes["n"]
    return sizes


def inputs_of(spec: Mapping[str, Any], derivation: Derivation) -> dict[str, Any]:
    """Small random rationals for every input, in nested lists; always the same for a spec."""
    rng = random.Random(name_of(spec))
    sizes = sizes_of(spec)
    positive = spec.get("normaliser") == "sum"
    tame = spec.get("feature_map") == "exp"  # a tanh of e^(e^x) is 1 to thousands of digits
    out: dict[str, Any] = {}
    for item in derivation.inputs:
        rows, columns = (
            int(size.subs({symbol: sizes[symbol.name] for symbol in size.free_symbols}))
            for size in item.shape
        )
        count = sizes[str(item.count)] if item.per_head else 1
        matrices = [_matrix(item.name, rows, columns, positive, tame, rng) for _ in range(count)]
        out[item.name] = matrices if item.per_head else matrices[0]
    return out


def _matrix(
    name: str, rows: int, columns: int, positive: bool, tame: bool, rng: random.Random
) -> Any:
    if name == "one_hot":
        seen = [rng.randrange(columns) for _ in range(rows)]
        return [[int(j == word) for j in range(columns)] for word in seen]
    if name == "allowed":
        kept = [[rng.randrange(2) for _ in range(columns)] for _ in range(rows)]
        for i, line in enumerate(kept):
            if positive or i != 1:
                line[0] = 1  # a row of scores that are all 0 has no ratio
            else:
                line[:] = [0] * columns  # a query that sees nothing
        return kept
    if name == "mask":
        return [
            [rng.choice(["-inf", "0", "1/2", "-2"]) for _ in range(columns)] for _ in range(rows)
        ]
    if tame:
        return [
            [
                str(Fraction(rng.choice([1, 2, 3]) * (1 if positive else rng.choice([-1, 1])), 8))
                for _ in range(columns)
            ]
            for _ in range(rows)
        ]
    choices = [1, 2, 3] if positive else [-3, -2, -1, 1, 2, 3]
    return [
        [str(Fraction(rng.choice(choices), rng.choice([1, 2, 3, 4]))) for _ in range(columns)]
        for _ in range(rows)
    ]


# ---- the reference -----------------------------------------------------------------------------


class NoValueError(Exception):
    """These numbers have no value under the definition: a ratio over 0, a cosine of nothing."""


@dataclass(frozen=True)
class Reference:
    """Attention from its definitions, one head at a time, in float64."""

    spec: Mapping[str, Any]
    given: Mapping[str, Any]

    def result(self) -> Array:
        """The last matrix; heads that are not joined yet stand side by side all the same."""
        heads = self._sizes["h"]
        if self.spec.get("heads") is None:
            out = self._head(0)
        else:
            out = np.concatenate([self._head(head) for head in range(heads)], axis=1)
        if self.spec.get("output_form") == "sum":
            width = self._head(0).shape[1]
            parts = [out[:, k * width : (k + 1) * width] @ self._of("W_O", k) for k in range(heads)]
            return np.asarray(sum(parts) + self._bias("b_O"))
        if self.spec.get("output_projection"):
            return np.asarray(out @ self._of("W_O", 0) + self._bias("b_O"))
        return out

    @property
    def _sizes(self) -> dict[str, int]:
        return sizes_of(self.spec)

    @property
    def _past(self) -> int:
        """How many tokens came before; the first new one is at this position (from 0)."""
        return self._sizes["p"] if self.spec.get("cache") else 0

    def _of(self, name: str, which: int) -> Array:
        """A given matrix, or that of one head or group."""
        value = np.array(
            [
                [
                    [float(Fraction(x)) if x != "-inf" else -math.inf for x in line]
                    for line in matrix
                ]
                for matrix in _three(self.given[name])
            ]
        )
        return np.asarray(value[which if len(value) > 1 else 0])

    def _bias(self, name: str, which: int = 0) -> Any:
        return self._of(name, which) if name in self.given else 0.0

    def _tokens(self) -> Array:
        """X, looked up and positioned."""
        if self.spec.get("embedded"):
            x = self._of("one_hot", 0) @ self._of("E", 0)
        else:
            x = self._of("X", 0)
        scheme, options = _named(self.spec.get("positions"))
        if scheme == "learned":
            x = x + self._of("positions", 0)
        if scheme == "sinusoidal":
            first = options.get("start", 0) + self._past
            x = x + _sinusoidal(len(x), x.shape[1], options.get("base", 10000), first)
        return np.asarray(x)

    def _projected(self, name: str, x: Array, which: int) -> Array:
        return np.asarray(x @ self._of(f"W_{name}", which) + self._bias(f"b_{name}", which))

    def _vectors(self, head: int) -> tuple[Array, Array, Array]:
        """Queries, keys and values of one head, before they are turned."""
        spec, sizes = self.spec, self._sizes
        group = head // (sizes["h"] // sizes["g"])
        tie = spec.get("tie")
        if spec["source"] == "given":
            query, key = self._of("Q", head), self._of("K", group)
            value = key if tie == "key-value" else self._of("V", group)
        elif spec["source"] == "bare":
            query = key = value = self._tokens()
        else:
            x = self._tokens()
            memory = self._of("memory", 0) if spec["source"] == "cross" else x
            if spec.get("query_latent"):
                x = x @ self._of("W_DQ", 0)
            query = self._projected("Q", x, head)
            if spec.get("latent"):  # absorbed or not, it is the same attention
                memory = memory @ self._of("W_D", 0)
                if spec.get("cache"):
                    memory = np.vstack([self._of("latent_past", 0), memory])
            key = query if tie == "query-key" else self._projected("K", memory, group)
            value = key if tie == "key-value" else self._projected("V", memory, group)
        if spec.get("cache") and not spec.get("latent"):
            past = self._of("K_past", head if tie == "query-key" else group)
            key = np.vstack([past, key])
            value = key if tie == "key-value" else np.vstack([self._of("V_past", group), value])
        return query, key, value

    def _head(self, head: int) -> Array:
        query, key, value = self._vectors(head)
        scheme, options = _named(self.spec.get("positions"))
        first = options.get("start", 0)
        if scheme == "rotary" and options.get("decoupled"):
            asked, offered = self._apart(head)
            query = np.hstack([query, _rotary(asked, first + self._past, options)])
            key = np.hstack([key, _rotary(offered, first, options)])
        elif scheme == "rotary":
            query = _rotary(query, first + self._past, options)
            key = _rotary(key, first, options)
        kind = self.spec.get("feature_map")
        if kind is not None:
            query, key = _features(query, kind), _features(key, kind)
        width = query.shape[1]
        out = np.zeros((len(query), len(key)))
        for i, q in enumerate(query):
            for j, k in enumerate(key):
                out[i, j] = self._score(q, k, head)
                if self.spec.get("score") in ("shaw", "transformer-xl"):
                    out[i, j] += self._of_distance(q, k, i + self._past - j, head)
        out = out * _scale(self.spec.get("scale", True), width)
        cap = self.spec.get("soft_cap")
        if cap is not None:
            bound = float(Fraction(cap))
            out = bound * np.tanh(out / bound)
        out = out + self._positional(out.shape, head)
        return np.asarray(self._weights(out, head) @ value)

    def _apart(self, head: int) -> tuple[Array, Array]:
        """DeepSeek-V2, eq. 14 and 15: what carries the positions alone, before it is turned."""
        x = self._tokens()
        memory = self._of("memory", 0) if self.spec["source"] == "cross" else x
        if self.spec.get("query_latent"):
            x = x @ self._of("W_DQ", 0)
        keys = memory @ self._of("W_KR", 0)
        if self.spec.get("cache"):
            keys = np.vstack([self._of("K_position_past", 0), keys])
        return x @ self._of("W_QR", head), keys

    def _of_distance(self, q: Array, k: Array, back: int, head: int) -> float:
        """What the distance i − j adds to the dot product: Shaw et al.; Dai et al., (b) to (d)."""
        if self.spec["score"] == "shaw":
            table = self._of("distance_keys", head)
            most = len(table) // 2
            return float(q @ table[max(-most, min(most, -back)) + most])
        weights = self._of("W_R", head)
        waves = _sinusoidal(1, len(weights), 10000, back)[0]
        far = waves @ weights
        u, v = self._of("u_c", head)[0], self._of("v_d", head)[0]
        return float(q @ far + u @ k + v @ far)

    def _score(self, q: Array, k: Array, head: int) -> float:
        match self.spec.get("score", "dot"):
            case "cosine":
                lengths = math.sqrt(float((q**2).sum()) * float((k**2).sum()))
                if lengths == 0:
                    raise NoValueError
                return float(q @ k) / lengths
            case "general":
                return float(np.einsum("a,ab,b", q, self._of("W_S", head), k))
            case "additive":
                inside = q @ self._of("W_a", head) + k @ self._of("U_a", head)
                return float(np.tanh(inside) @ self._of("v_a", head)[:, 0])
            case "distance":
                return -float(((q - k) ** 2).sum())
            case "dot" | "shaw" | "transformer-xl":
                return float(q @ k)
            case unknown:
                raise AssertionError(f"{unknown}: define it here, in Reference._score")

    def _positional(self, shape: tuple[int, ...], head: int) -> Array:
        """The bias of each pair of query and key."""
        name, options = _named(self.spec.get("bias"))
        out = np.zeros(shape)
        if name == "given":
            return self._of("bias", head)
        for i, j in np.ndindex(*shape):
            ahead = j - (i + self._past)
            if name == "alibi":
                slope = _slopes(self._sizes["h"])[head]
                out[i, j] = slope * (-abs(ahead) if options.get("symmetric") else ahead)
            if name == "relative" and "clip" in options:
                clip = options["clip"]
                out[i, j] = self._of("table", head)[int(np.clip(ahead, -clip, clip)) + clip, 0]
            elif name == "relative":
                out[i, j] = self._of("table", head)[_t5_bucket(ahead, options), 0]
        return out

    def _weights(self, logits: Array, head: int) -> Array:
        added = np.zeros(logits.shape)
        for mask in _listed(self.spec.get("mask")):
            if _named(mask)[0] == "additive":
                added = added + self._of("mask", head)
            else:
                hidden = ~np.array(
                    [
                        [
                            self._sees(mask, i + self._past, j, i, head)
                            for j in range(logits.shape[1])
                        ]
                        for i in range(logits.shape[0])
                    ]
                )
                added[hidden] = -math.inf
        hidden = np.isneginf(added)
        seen = logits + np.where(hidden, 0, added)
        out = np.zeros(logits.shape)
        for i in range(len(out)):
            kept = [j for j in range(len(out[i])) if not hidden[i, j]]
            for j, weight in zip(kept, self._line(seen[i, kept], head), strict=True):
                out[i, j] = weight
        return out

    def _sees(self, mask: Any, i: int, j: int, row: int, head: int) -> bool:
        """Whether the query at position i (in this row) may see the key at position j."""
        name, value = _named(mask)
        match name:
            case "any":
                return any(self._sees(part, i, j, row, head) for part in value)
            case "all":
                return all(self._sees(part, i, j, row, head) for part in value)
            case "causal":
                return j <= i
            case "window":
                before, after = (value, value) if isinstance(value, int) else value
                return i - before <= j <= i + after
            case "prefix":
                return j < value or j <= i
            case "padding":
                return bool(j < value)
            case "boolean":
                return bool(self._of("allowed", head)[row, j])
            case "dilated":
                return j in [i + step * value[1] for step in range(-value[0], value[0] + 1)]
            case "strided":
                return j <= i and (i - j <= value or (i - j) % value == 0)
            case "global":
                return i + 1 in value or j + 1 in value
            case "documents":
                return bool(value[i] == value[j])
        raise AssertionError(name)

    def _line(self, line: Array, head: int) -> Iterable[float]:
        """The weights of the keys that one query sees."""
        kind = self.spec.get("normaliser", "softmax")
        if kind == "sum":
            if len(line) == 0 or abs(line.sum()) < 1e-12:
                raise NoValueError
            return list(line / line.sum())
        if len(line) == 0 or kind == "none":
            return list(line)
        if kind == "sigmoid":
            return [math.exp(min(x, 0)) / (1 + math.exp(-abs(x))) for x in line]
        if kind == "hardmax":
            return [float(j == int(np.argmax(line))) for j in range(len(line))]
        if kind == "sparsemax":
            return _nearest_on_simplex(line)
        more = {"softmax-off-by-one": [0.0], "softmax-sink": [self._sink(head)]}.get(kind, [])
        top = max([*line, *more])
        total = sum(math.exp(x - top) for x in [*line, *more])
        return [math.exp(x - top) / total for x in line]

    def _sink(self, head: int) -> float:
        return float(self._of("sink", head)[0, 0]) if "sink" in self.given else 0.0


def _three(value: Any) -> Any:
    return value if isinstance(value[0][0], list) else [value]


def _named(value: Any) -> tuple[str, Any]:
    if isinstance(value, Mapping):
        return next(iter(value.items()))
    return value or "", {}


def _listed(value: Any) -> Sequence[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _scale(value: Any, width: int) -> float:
    known = {
        "1/2": 1 / 2,
        "1/3": 1 / 3,
        "1/sqrt(3)": 1 / math.sqrt(3),
        "d_k^(-1/4)": 1 / math.sqrt(width),
    }
    if isinstance(value, str):
        return known[value]
    return 1 / math.sqrt(width) if value else 1.0


def _sinusoidal(count: int, width: int, base: float, first: int) -> Array:
    out = np.zeros((count, width))
    for row, column in np.ndindex(count, width):
        angle = (row + first) / base ** (2 * (column // 2) / width)
        out[row, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return out


def _rotary(x: Array, first: int, options: Mapping[str, Any]) -> Array:
    """Pairs of columns as complex numbers, turned."""
    dims = options.get("dims", x.shape[1])
    out = np.array(x)
    for row in range(len(x)):
        for pair in range(dims // 2):
            half = options.get("pairing") == "half"
            a, b = (pair, pair + dims // 2) if half else (2 * pair, 2 * pair + 1)
            theta = options.get("base", 10000) ** (-2 * pair / dims)
            turned = complex(x[row, a], x[row, b]) * np.exp(1j * (row + first) * theta)
            out[row, a], out[row, b] = turned.real, turned.imag
    return out


def _features(x: Array, kind: str) -> Array:
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "exp":
        return np.exp(x)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _slopes(heads: int) -> list[float]:
    """For powers of two alone; the tests have no other counts."""
    return [2 ** (-8 * (head + 1) / heads) for head in range(heads)]


def _t5_bucket(ahead: int, options: Mapping[str, Any]) -> int:
    """T5's code, with its logarithms; no distance here is at the start of a bucket."""
    count, bucket, far = int(options["buckets"]), 0, -ahead
    if options.get("bidirectional", True):
        count //= 2
        bucket += count * (ahead > 0)
        far = abs(far)
    else:
        far = max(far, 0)
    exact = count // 2
    if far < exact:
        return bucket + far
    further = math.log(far / exact) / math.log(options["max_distance"] / exact) * (count - exact)
    return bucket + min(exact + int(further + 1e-9), count - 1)


def _nearest_on_simplex(line: Array) -> list[float]:
    """The τ with Σ max(0, z − τ) = 1, found by halving."""
    low, high = float(line.min()) - 1, float(line.max())
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(line - middle, 0).sum() > 1:
            low = middle
        else:
            high = middle
    return [max(0.0, float(x) - high) for x in line]


if __name__ == "__main__":
    _write(find_cover())
