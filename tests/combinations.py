"""Every choice on every axis of attention, pairs of them in few specs, and what they compute.

The choices are listed by axis; the combinations are generated: a pairwise covering set by a
deterministic greedy algorithm over what symattn accepts, which takes half a minute and is kept in
`data/combinations.json` (``python -m tests.combinations`` writes it). `Reference` computes each of
them in NumPy or PyTorch from the definitions, one head after the other; nothing in it knows
symattn.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symattn import Attention, Derivation, SymattnError
from symattn.attention.plan import DEFAULT_SCALE
from tests.positions import frequencies, pair_axes, position_bucket, waves

Array: TypeAlias = NDArray[Any]
Spec: TypeAlias = dict[str, Any]

#: One choice of one axis: the axis, and where the choice stands in its list.
Choice: TypeAlias = tuple[str, int]

#: The choices of each axis, the usual one first.
AXES: Mapping[str, tuple[Any, ...]] = {
    "source": ("self", "given", "cross", "separate", "bare"),
    "embedded": (False, True),
    "tie": (None, "query-key", "key-value"),
    "latent": (False, True, "absorbed"),
    "query_latent": (False, True),
    "projection_bias": (None, True, ["Q", "K", "V"], ["O"], ["G"]),
    "norm": (
        None,
        "rms",
        {"rms": {"eps": "1/3", "gain": True, "joined": True}},
        {"layer": {"eps": "1/4", "gain": "head", "shift": "head"}},
        {"l2": {"eps": "1/2", "gain": "one-plus", "rotated": True}},
        {"Q": "l2", "K": {"rms": {"eps": 1, "shift": True, "joined": True, "rotated": True}}},
        {"Q_latent": "rms", "latent": {"layer": {"eps": 1, "gain": "one-plus", "shift": True}}},
        {"V": {"rms": {"eps": 1}}, "output": {"rms": {"eps": 1, "gain": True}}},
        {"V": {"l2": {"eps": 1, "joined": True}}, "output": {"layer": {"eps": 2, "joined": True}}},
        {"concat": {"rms": {"eps": "1/5", "gain": True}}},
    ),
    "positions": (
        None,
        "sinusoidal",
        "learned",
        "rotary",
        {"rotary": {"pairing": "half"}},
        {"rotary": {"dims": 2, "start": 1}},
        {"rotary": {"pairing": "half", "dims": 2, "base": 100}},
        {"sinusoidal": {"base": 100, "start": 2}},
        {"learned": {"values": False}},
        {"rotary": {"decoupled": True}},
        {"rotary": {"decoupled": True, "pairing": "half", "base": 100, "start": 1}},
        {
            "rotary": {
                "pairing": "half",
                "scaling": {
                    **{"rope_type": "llama3", "factor": 2, "low_freq_factor": 1},
                    **{"high_freq_factor": 4, "original_max_position_embeddings": 8},
                },
            }
        },
        {"rotary": {"sections": [1, 1], "layout": "interleaved"}},
        {"rotary": {"caches": True, "pairing": "half"}},
        {"rotary": {"frequencies": True, "dims": 2, "part": "last", "start": 1}},
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
        {"chunk": 2},
        {"window-2d": [2, 2]},
        {"causal": -1},
        {"top-k": 2},
        {"index-top-k": 1},
        ["causal", {"top-k": 2}],
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
        "entmax15",
        "hardmax",
        "none",
    ),
    "unfold": (False, True, "plain"),
    "heads": (None, 2, 4, 1, "h"),
    "kv_heads": (None, 1, 2, "g"),
    "output_gate": (None, "sigmoid", "silu", {"sigmoid": {"headwise": True}}, "softplus"),
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
    **{
        "n": 3,
        "m": 4,
        "p": 2,
        "d_model": 4,
        "d_mem": 3,
        "d_val": 5,
        "d_k": 4,
        "d_v": 2,
        "d_out": 3,
    },
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


def random_spec(rng: random.Random, usual: float = 0.6) -> Spec:
    """A choice on every axis, the usual one so often: thousands hold most pairs and triples."""
    chosen = {
        axis: 0 if rng.random() < usual else rng.randrange(len(values))
        for axis, values in AXES.items()
    }
    return spec_of(chosen)


#: A proven number, or NumPy's where nothing is proven of it.
_PROVEN = np.vectorize(
    lambda ball, x: float(ball.mid()) if ball.rad() < 1e-9 else x, otypes=[float]
)


def outcome(spec: Spec) -> str:
    """What becomes of a spec: "computed", "refused", "no value", or what is wrong with it.

    What is computed is held against `Reference`, and NumPy's numbers against the proven ones. It is
    "no bound" where the check says that rounding leaves none for NumPy (a quotient of exponentials
    that underflow, a norm of a row that the first of two equal scores decides), and what is proven
    is held against `Reference` instead.
    """
    reason = refusal({axis: AXES[axis].index(value) for axis, value in spec.items()})
    if reason is not None:
        is_line = re.fullmatch(r"[a-z_]+: [^\n]{10,160}", reason) and not reason.startswith(CRASH)
        return "refused" if is_line else f"refused badly: {reason}"
    derivation = derived(spec)
    given = inputs_of(spec, derivation)
    evaluation, last = derivation.evaluate(**given), derivation.names[-1]
    try:
        expected = Reference(spec, given).result()
    except NoValueError:
        return "no value"
    check = evaluation.check()
    unbound = check.first_wrong is not None and math.isinf(check.first_wrong.tolerance)
    found = evaluation[last].array
    if unbound:
        found = _PROVEN(evaluation[last].balls, found)
    if derivation[last].per_head:
        found = np.concatenate(list(found), axis=-1)
    if not np.allclose(found, expected, rtol=1e-9, atol=1e-9):
        return f"off by {abs(found - expected).max()}"
    if unbound:
        return "no bound"
    return "computed" if check else f"NumPy is not held: {check.first_wrong}"


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


@cache
def _derived(text: str) -> Derivation:
    spec = json.loads(text)
    derivation = Attention(**spec).derivation()
    if spec.get("heads") == "h" and not any(item.per_head for item in derivation.inputs):
        return Attention(**spec).derivation(sizes={"h": sizes_of(spec)["h"]})
    return derivation


def derived(spec: Mapping[str, Any]) -> Derivation:
    """The derivation of a spec, with the number of its heads where no matrix tells it."""
    return _derived(json.dumps(spec))


def inputs_of(spec: Mapping[str, Any], derivation: Derivation) -> dict[str, Any]:
    """Small random rationals for every input, in nested lists; always the same for a spec."""
    rng = random.Random(name_of(spec))
    sizes = sizes_of(spec)
    positive = spec.get("normaliser") == "sum"
    # a tanh of e^(e^x) is 1 to thousands of digits; keys whose scores are all capped are tied
    capped = bool(spec.get("soft_cap")) and "top-k" in json.dumps(spec.get("mask"))
    tame = spec.get("feature_map") == "exp" or capped
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


def floats(value: Any) -> Array:
    """Nested lists of numbers and of fractions as text."""
    if isinstance(value, list):
        return np.array([floats(part) for part in value])
    return np.array(-math.inf if value == "-inf" else float(Fraction(value)))


def plain(x: Any) -> Array:
    """The numbers of an array or a tensor, of which nothing is differentiated."""
    return np.asarray(np.real(x.detach().numpy() if hasattr(x, "detach") else x))


@dataclass(frozen=True)
class Reference:
    """Attention from its definitions, one head at a time, at the sizes that its numbers tell.

    The numbers are nested lists, arrays of floats or complex numbers, or tensors; `xp` is NumPy or
    PyTorch, whose own ways to differentiate go through it. Positions, masks and which keys a
    sparsemax picks are computed in NumPy: none of it is differentiated.
    """

    spec: Mapping[str, Any]
    given: Mapping[str, Any]
    xp: Any = np

    def result(self) -> Any:
        """The last matrix; heads that are not joined yet stand side by side all the same."""
        weighted = [self._head(head) for head in range(self._heads)]
        heads = [
            self._gated(self._normed("output", weighted.__getitem__, k), k)
            for k in range(self._heads)
        ]
        if self.spec.get("output_form") == "sum":
            return sum(out @ self._of("W_O", k) for k, out in enumerate(heads)) + self._bias("b_O")
        joined = self._normed("concat", lambda _: self.xp.concatenate(heads, 1))
        if self.spec.get("output_projection"):
            return joined @ self._of("W_O") + self._bias("b_O")
        return joined

    # ---- sizes and numbers -------------------------------------------------------------------

    @property
    def _heads(self) -> int:
        said = self.spec.get("heads")
        if said is None or isinstance(said, int):
            return said or 1
        return self._count("W_Q") or self._count("Q") or 4

    @property
    def _groups(self) -> int:
        said = self.spec.get("kv_heads")
        if isinstance(said, int):
            return said
        counts = map(self._count, ("W_K", "K", "W_V", "V"))
        return next(filter(None, counts), self._heads)

    def _count(self, name: str) -> int:
        """How many heads a matrix has its own of."""
        found = self._numbers(name) if name in self.given else np.zeros((1, 1))
        return len(found) if found.ndim == 3 else 0

    @property
    def _past(self) -> int:
        """How many tokens came before; the first new one is at this position (from 0)."""
        kept = [name for name in self.given if name.endswith("_past")]
        return int(self._of(kept[0]).shape[0]) if kept else 0

    def _numbers(self, name: str) -> Any:
        value = self.given[name]
        return self.xp.asarray(floats(value)) if isinstance(value, list) else value

    def _of(self, name: str, which: int = 0) -> Any:
        """A given matrix, or that of one head or group."""
        value = self._numbers(name)
        return value[which if len(value) > 1 else 0] if value.ndim == 3 else value

    def _bias(self, name: str, which: int = 0) -> Any:
        return self._of(name, which) if name in self.given else 0.0

    def _where(self, condition: Array, one: Any, other: Any) -> Any:
        return self.xp.where(self.xp.asarray(condition), one, other)

    # ---- queries, keys and values ------------------------------------------------------------

    def _tokens(self) -> Any:
        """X, looked up and positioned."""
        x = self._of("one_hot") @ self._of("E") if self.spec.get("embedded") else self._of("X")
        scheme, options = _named(self.spec.get("positions"))
        if scheme == "learned":
            x = x + self._of("positions")
        if scheme == "sinusoidal":
            places = np.arange(len(x)) + options.get("start", 0) + self._past
            x = x + self.xp.asarray(waves(places, x.shape[1], options.get("base", 10000)))
        return x

    def _unplaced(self) -> Any:
        """The tokens that values are made of, of which the positions may be left out."""
        _, options = _named(self.spec.get("positions"))
        if options.get("values", True):
            return self._tokens()
        return self._of("one_hot") @ self._of("E") if self.spec.get("embedded") else self._of("X")

    def _sequences(self) -> tuple[Any, Any]:
        """What queries are projected from, and keys."""
        x = self._tokens()
        memory = self._of("memory") if "memory" in self.given else x
        if not self.spec.get("query_latent"):
            return x, memory
        return self._normed("Q_latent", lambda _: x @ self._of("W_DQ")), memory

    def _projected(self, name: str, x: Any, which: int) -> Any:
        return x @ self._of(f"W_{name}", which) + self._bias(f"b_{name}", which)

    def _after(self, past: str, new: Any, which: int = 0) -> Any:
        """The rows kept from before, and the new ones."""
        if not self.spec.get("cache"):
            return new
        return self.xp.concatenate([self._of(past, which), new], 0)

    def _vectors(self, head: int) -> tuple[Any, Any, Any]:
        """Queries, keys and values of one head, before they are turned."""
        spec, tie = self.spec, self.spec.get("tie")
        group = head // (self._heads // self._groups)
        latent = spec.get("latent")  # absorbed or not, it is the same attention
        if "Q" in self.given:
            query, key = self._of("Q", head), self._of("K", group)
            value = key if tie == "key-value" else self._of("V", group)
        elif spec.get("source") == "bare":
            query = key = self._tokens()
            value = self._unplaced()
        else:
            x, memory = self._sequences()
            query = self._projected("Q", x, head)
            if latent:
                rows = self._after("latent_past", memory @ self._of("W_D"))
                memory = self._normed("latent", lambda _: rows)
            key = query if tie == "query-key" else self._projected("K", memory, group)
            if "memory_V" in self.given:
                memory = self._of("memory_V")
            elif "memory" not in self.given and not latent:
                memory = self._unplaced()
            value = key if tie == "key-value" else self._projected("V", memory, group)
        if latent:
            return query, key, value
        key = self._after("K_past", key, head if tie == "query-key" else group)
        return query, key, key if tie == "key-value" else self._after("V_past", value, group)

    def _normed(
        self, name: str, made: Callable[[int], Any], head: int = 0, rotated: bool = False
    ) -> Any:
        """What is made for a head, its rows normalised if they are at this place."""
        kind, options = _norms(self.spec.get("norm")).get(name, ("", {}))
        if not kind or bool(options.get("rotated")) is not rotated:
            return made(head)
        own = name in ("K", "V") and (name, self.spec.get("tie")) != ("K", "query-key")
        share = self._heads // self._groups if own else 1
        rows, place, width = made(head), head // share, made(head).shape[1]
        if options.get("joined"):
            rows = self.xp.concatenate([made(k) for k in range(0, self._heads, share)], 1)
        if kind == "layer":
            rows = rows - (rows.sum(-1) / rows.shape[1])[:, None]
        square = (rows * rows).sum(-1) / (1 if kind == "l2" else rows.shape[1])
        root = self.xp.sqrt(square + float(Fraction(options.get("eps", 0))))[:, None]
        if not plain(root).all():
            raise NoValueError
        out = rows / root
        if options.get("joined"):
            out = out[:, place * width : (place + 1) * width]
        if options.get("gain"):
            out = out * (self._of(f"gain_{name}", place) + (options["gain"] == "one-plus"))
        return out + self._bias(f"shift_{name}", place)

    def _gated(self, rows: Any, head: int) -> Any:
        """A head's output times its gate."""
        kind, _ = _named(self.spec.get("output_gate"))
        if not kind:
            return rows
        x = self._tokens() @ self._of("W_G", head) + self._bias("b_G", head)
        sigmoid = 1 / (1 + self.xp.exp(-x))
        gates = {"sigmoid": sigmoid, "silu": x * sigmoid, "softplus": self.xp.log1p(self.xp.exp(x))}
        return rows * gates[kind]

    def _head(self, head: int) -> Any:
        query, key = (
            self._normed(name, _picked(self._compared, at), head, rotated=True)
            for at, name in enumerate("QK")
        )
        value = self._normed("V", _picked(self._vectors, 2), head)
        kind = self.spec.get("feature_map")
        if kind is not None:
            query, key = self._features(query, kind), self._features(key, kind)
        out = self._scores(query, key, head) * _scale(self.spec.get("scale", True), query.shape[1])
        cap = self.spec.get("soft_cap")
        if cap is not None:
            bound = float(Fraction(cap))
            out = bound * self.xp.tanh(out / bound)
        return self._weights(out + self._positional(tuple(out.shape), head), head) @ value

    def _compared(self, head: int) -> tuple[Any, Any]:
        """Queries and keys of one head, turned where they are."""
        query, key = (
            self._normed(name, _picked(self._vectors, at), head) for at, name in enumerate("QK")
        )
        scheme, options = _named(self.spec.get("positions"))
        if scheme == "rotary":
            turned = (query, key) if not options.get("decoupled") else self._apart(head)
            first = options.get("start", 0)
            other = self.spec.get("source") in ("given", "cross", "separate")
            apart = self.spec.get("cache") or other
            asked, offered = (
                self._turned(x, self._waves(len(x), first + past, options, which))
                for x, past, which in zip(
                    turned, (self._past, 0), ("query", "key" if apart else "query"), strict=True
                )
            )
            query, key = (
                (asked, offered)
                if turned[0] is query
                else (self.xp.concatenate(pair, 1) for pair in ((query, asked), (key, offered)))
            )
        return query, key

    def _apart(self, head: int) -> tuple[Any, Any]:
        """DeepSeek-V2, eq. 14 and 15: what carries the positions alone, before it is turned."""
        x, memory = self._sequences()
        return x @ self._of("W_QR", head), self._after("K_position_past", memory @ self._of("W_KR"))

    def _waves(
        self, rows: int, first: int, options: Mapping[str, Any], which: str
    ) -> tuple[Any, Any, Mapping[str, Any]]:
        """The cosine and the sine of every row and pair, and how the pairs lie."""
        if options.get("caches"):
            return self._of(f"{which}_cos"), self._of(f"{which}_sin"), options
        width = self._rotary_width(options)
        dims = options.get("dims", width)
        scaling = options.get("scaling", {})
        thetas, factor = frequencies(dims, options.get("base", 10000), scaling, rows + first)
        theta = self._of("frequencies")[0] if "frequencies" in options else self.xp.asarray(thetas)
        if "sections" in options:
            places = self._of("position_ids" if which == "query" else "key_position_ids")
            axes = pair_axes(options["sections"], options.get("layout", "blocks"))
            angles = self.xp.stack([places[:, axis] for axis in axes], 1) * theta
        else:
            angles = self.xp.asarray(np.arange(rows) + float(first))[:, None] * theta
        return factor * self.xp.cos(angles), factor * self.xp.sin(angles), options

    def _rotary_width(self, options: Mapping[str, Any]) -> int:
        """How many columns queries have, or their parts that turn."""
        name = "W_QR" if options.get("decoupled") else "Q" if "Q" in self.given else "W_Q"
        return int(self._of(name).shape[1])

    def _turned(self, x: Any, waves: tuple[Any, Any, Mapping[str, Any]]) -> Any:
        """Each row times a matrix of its own: block-diagonal rotations."""
        width, (cos, sin, options) = x.shape[1], waves
        pairs = cos.shape[1]
        begin = width - 2 * pairs if options.get("part") == "last" else 0
        columns = [x[:, k] for k in range(width)]
        for pair in range(pairs):
            half = options.get("pairing") == "half"
            a, b = (pair, pair + pairs) if half else (2 * pair, 2 * pair + 1)
            c, s, one, other = cos[:, pair], sin[:, pair], x[:, begin + a], x[:, begin + b]
            columns[begin + a], columns[begin + b] = one * c - other * s, other * c + one * s
        return self.xp.stack(columns, 1)

    def _features(self, x: Any, kind: str) -> Any:
        if kind == "exp":
            return self.xp.exp(x)
        above = plain(x) > 0
        if kind == "relu":
            return self._where(above, x, 0 * x)
        return self._where(above, x + 1, self.xp.exp(self._where(above, 0 * x, x)))

    # ---- scores ------------------------------------------------------------------------------

    def _scores(self, query: Any, key: Any, head: int) -> Any:
        xp = self.xp
        match self.spec.get("score", "dot"):
            case "cosine":
                lengths = [xp.sqrt((x * x).sum(-1)) for x in (query, key)]
                if not all(plain(length).all() for length in lengths):
                    raise NoValueError
                return query @ key.T / lengths[0][:, None] / lengths[1][None]
            case "general":
                return query @ self._of("W_S", head) @ key.T
            case "additive":
                one, other = query @ self._of("W_a", head), key @ self._of("U_a", head)
                return (xp.tanh(one[:, None] + other[None]) @ self._of("v_a", head))[..., 0]
            case "distance":
                apart = query[:, None] - key[None]
                return -(apart * apart).sum(-1)
            case "shaw":  # Shaw et al. 2018, eq. 5
                table = self._of("distance_keys", head)
                most = len(table) // 2
                places = np.clip(self._ahead(len(query), len(key)), -most, most) + most
                return query @ key.T + (query[:, None] * table[places]).sum(-1)
            case "transformer-xl":  # Dai et al. 2019, terms (a) to (d)
                weights = self._of("W_R", head)
                back = -self._ahead(len(query), len(key))
                far = xp.asarray(waves(back, len(weights), 10000)) @ weights
                asked = query + self._of("v_d", head)
                return (query + self._of("u_c", head)) @ key.T + (asked[:, None] * far).sum(-1)
            case "dot":
                return query @ key.T
            case unknown:
                raise AssertionError(f"{unknown}: define it here, in Reference._scores")

    def _ahead(self, queries: int, keys: int) -> Array:
        """How many tokens each key is ahead of each query."""
        return np.arange(keys) - np.arange(queries)[:, None] - self._past

    def _positional(self, shape: tuple[int, int], head: int) -> Any:
        """The bias of each pair of query and key."""
        name, options = _named(self.spec.get("bias"))
        ahead = self._ahead(*shape)
        if name == "given":
            return self._of("bias", head)
        if name == "alibi":
            sign = -abs(ahead) if options.get("symmetric") else ahead
            return self.xp.asarray(2 ** (-8 * (head + 1) / self._heads) * sign)
        if name == "relative":
            clip, both = options.get("clip"), options.get("bidirectional", True)
            told = both, options.get("buckets"), options.get("max_distance")
            bucket = np.vectorize(
                lambda x: np.clip(x, -clip, clip) + clip if clip else position_bucket(x, *told)
            )
            return self._of("table", head)[bucket(ahead)][..., 0]
        return 0.0

    # ---- weights -----------------------------------------------------------------------------

    def _weights(self, logits: Any, head: int) -> Any:
        queries, keys = logits.shape
        hidden = np.zeros((queries, keys), bool)
        masks = [mask for mask in _listed(self.spec.get("mask")) if "top-k" not in str(mask)]
        for mask in masks:
            if _named(mask)[0] == "additive":
                added = plain(self._of("mask", head))
                hidden |= np.isneginf(added)
                logits = logits + self.xp.asarray(np.where(np.isneginf(added), 0, added))
            else:
                hidden |= [
                    [not self._sees(mask, i + self._past, j, i, head) for j in range(keys)]
                    for i in range(queries)
                ]
        hidden |= ~self._chosen(np.where(hidden, -np.inf, plain(logits)), hidden)
        return self._normalised(self._where(hidden, 0 * logits, logits), ~hidden, head)

    def _chosen(self, scores: Array, hidden: Array) -> Array:
        """Which keys each query keeps: the k best of those that it sees, of equal ones the first.

        Numbers that floats hold apart by rounding alone are equal.
        """
        out = np.ones(scores.shape, bool)
        for mask in _listed(self.spec.get("mask")):
            name, count = _named(mask)
            if "top-k" not in name:
                continue
            by = scores if name == "top-k" else plain(self._of("index_scores"))
            by = np.where(hidden, -np.inf, by).round(9)
            for row, line in zip(out, by, strict=True):
                order = sorted(range(len(line)), key=lambda j: (-line[j], j))
                row[order[count:]] = False
        return out

    def _sees(self, mask: Any, i: int, j: int, row: int, head: int) -> bool:
        """Whether the query at position i (in this row) may see the key at position j."""
        name, value = _named(mask)
        match name:
            case "any":
                return any(self._sees(part, i, j, row, head) for part in value)
            case "all":
                return all(self._sees(part, i, j, row, head) for part in value)
            case "causal":  # a number says itself where the rows start
                return j <= (i if value is True or value == {} else row + value)
            case "chunk":
                return j in range(i - i % value, i + 1)
            case "window-2d":
                width, side, *shifted = value
                shift = sum(shifted)
                one, other = (divmod(place, width) for place in (i, j))
                pairs = zip(one, other, strict=True)
                return all((a - shift) // side == (b - shift) // side for a, b in pairs)
            case "window":
                before, after = (value, value) if isinstance(value, int) else value
                return i - before <= j <= i + after
            case "prefix":
                return j < value or j <= i
            case "padding":
                return bool(j < value)
            case "boolean":
                return bool(plain(self._of("allowed", head))[row, j])
            case "dilated":
                return j in [i + step * value[1] for step in range(-value[0], value[0] + 1)]
            case "strided":
                return j <= i and (i - j <= value or (i - j) % value == 0)
            case "global":
                return i + 1 in value or j + 1 in value
            case "packed":
                begun = [sum(at >= start for start in value) for at in (i + 1, j + 1)]
                return len({*begun}) == 1
            case "documents":
                if "lengths" in value:
                    lengths = value["lengths"] if isinstance(value, Mapping) else value[1]
                    value = [k for k, many in enumerate(lengths) for _ in range(many)]
                return bool(value[i] == value[j])
        raise AssertionError(name)

    def _normalised(self, logits: Any, seen: Array, head: int) -> Any:
        """The weights of the keys that each query sees, and 0 for the others, which are 0 here."""
        kind, xp = self.spec.get("normaliser", "softmax"), self.xp
        mine = xp.asarray(seen * 1.0)
        if kind == "none":
            return logits
        if kind == "sigmoid":
            return mine * (1 + xp.tanh(logits / 2)) / 2
        if kind == "sum":
            total = logits.sum(-1)[:, None]
            if (abs(plain(total)) < 1e-12).any():
                raise NoValueError
            return logits / total
        found = np.where(seen, plain(logits), -np.inf)
        if kind == "hardmax":
            return xp.asarray(seen * (np.arange(seen.shape[1]) == found.argmax(-1)[:, None]) * 1.0)
        if kind == "entmax15":
            return self._entmax15(logits, found)
        if kind == "sparsemax":
            kept = np.array([_nearest_on_simplex(row) > 0 for row in found])
            support = xp.asarray(kept * 1.0)
            count = xp.asarray(np.maximum(kept.sum(-1), 1) * 1.0)
            return (logits - (((logits * support).sum(-1) - 1) / count)[:, None]) * support
        more = {"softmax-off-by-one": 0.0, "softmax-sink": self._bias("sink", head)}.get(kind)
        rows = found if more is None else np.c_[found, np.full(len(found), plain(more).item())]
        top = rows.max(-1, keepdims=True)
        top = xp.asarray(np.where(np.isneginf(top), 0, top))
        powers = xp.exp(self._where(seen, logits - top, 0 * logits)) * mine
        nothing = 1.0 - seen.any(-1, keepdims=True)
        rest = xp.asarray(nothing) if more is None else xp.exp(more - top)
        return powers / (powers.sum(-1)[:, None] + rest)

    def _entmax15(self, logits: Any, found: Array) -> Any:
        """(z/2 − τ)² of those above τ, which is found from who they are: Σ (z/2 − τ)² = 1."""
        rows = []
        for row, line in zip(logits, found, strict=True):
            level = _square_threshold(line / 2)
            kept = self.xp.asarray((line / 2 > level) * 1.0)
            count = max(float((line / 2 > level).sum()), 1.0)
            half = row / 2
            mean = (half * kept).sum() / count
            spread = ((half - mean) ** 2 * kept).sum()
            rows.append((half - mean + self.xp.sqrt((1 - spread) / count)) ** 2 * kept)
        return self.xp.stack(rows)


def _square_threshold(line: Array) -> float:
    """The τ with Σ max(0, x − τ)² = 1, found by halving; ∞ for a row of −∞."""
    if np.isneginf(line).all():
        return math.inf
    low, high = float(line.max()) - 1, float(line.max())
    for _ in range(200):
        middle = (low + high) / 2
        above = (np.maximum(line - middle, 0) ** 2).sum() > 1
        low, high = (middle, high) if above else (low, middle)
    return high


def _named(value: Any) -> tuple[str, Any]:
    if isinstance(value, Mapping):
        return next(iter(value.items()))
    return value or "", {}


def _picked(made: Callable[[int], tuple[Any, ...]], at: int) -> Callable[[int], Any]:
    """One of several things that are made for a head."""
    return lambda head: made(head)[at]


def _norms(value: Any) -> dict[str, tuple[str, Any]]:
    """The norms by what they are of: queries and keys, where nothing is named."""
    kinds = ("rms", "layer", "l2")
    if value and (value in kinds or next(iter(value)) in kinds):
        value = {"Q": value, "K": value}
    return {name: _named(norm) for name, norm in (value or {}).items()}


def _listed(value: Any) -> Sequence[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _scale(value: Any, width: int) -> float:
    known = {"1/3": 1 / 3, "1/sqrt(3)": 1 / math.sqrt(3), "d_k^(-1/4)": 1 / math.sqrt(width)}
    if isinstance(value, bool):
        return 1 / math.sqrt(width) if value else 1.0
    return known[value] if isinstance(value, str) else float(value)


def _nearest_on_simplex(line: Array) -> Array:
    """The τ with Σ max(0, z − τ) = 1, found by halving; 0 for a row of −∞."""
    if np.isneginf(line).all():
        return np.zeros(len(line))
    low, high = float(line.max()) - 1, float(line.max())
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(line - middle, 0).sum() > 1:
            low = middle
        else:
            high = middle
    return np.maximum(line - high, 0)


def choices_of(attention: Attention) -> Spec:
    """The choices of an attention, as `Reference` takes them."""

    def table(value: Any) -> Any:
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
            name, held = value
            if name in ("any", "all"):
                return {name: [table(part) for part in held]}
            return {name: list(held) if isinstance(held, tuple) else held}
        return value

    def named(value: Any) -> Any:
        options = dict(value[1]) if value else {}
        if "scaling" in options:
            said = dict(options["scaling"])
            options["scaling"] = {
                key: one if isinstance(one, str | tuple) else float(one)
                for key, one in said.items()
            }
        return value and {value[0]: options}

    scale: Any = attention.scale
    if scale is None or scale == DEFAULT_SCALE:
        scale = scale is not None
    bias = named(attention.bias)
    if bias and "relative" in bias:
        bias = {"relative": {"buckets": 32, "max_distance": 128, **bias["relative"]}}
    return {
        **vars(attention),
        "scale": "d_k^(-1/4)" if getattr(scale, "free_symbols", ()) else scale,
        "positions": named(attention.positions),
        "bias": bias,
        "norm": {name: named(norm) for name, norm in attention.norm},
        "output_gate": named(attention.output_gate),
        "mask": [table(pair) for pair in attention.mask],
        "soft_cap": attention.soft_cap and str(attention.soft_cap),
    }


if __name__ == "__main__":
    _write(find_cover())
