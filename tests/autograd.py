"""Attention written once more over NumPy or PyTorch, for their own ways to differentiate it.

What depends on positions alone (masks, sinusoids, slopes, buckets) and which keys a sparsemax or a
hardmax picks is taken from symattn's values: none of it is differentiated. All the rest is written
here from the definitions, one head after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symattn import Attention, Derivation

Array = NDArray[Any]

#: What each matrix of a head is given as; inputs that nothing is differentiated by.
FIXED = ("allowed", "one_hot", "mask")

SIZES = {
    **{"n": 3, "m": 3, "p": 2, "d_model": 4, "d_mem": 3, "d_k": 4, "d_v": 2, "d_out": 3},
    **{"d_c": 2, "d_cq": 3, "d_r": 2, "d_a": 2, "n_clip": 1, "n_vocab": 3},
}


def concrete(spec: Attention) -> Attention:
    """The spec with its numbers of heads as numbers."""
    from dataclasses import replace

    if spec.heads != "h" and spec.kv_heads != "g":
        return spec
    heads = 4 if spec.heads == "h" else spec.heads
    groups = min(int(heads or 1), 2) if spec.kv_heads == "g" else spec.kv_heads
    return replace(spec, heads=heads, kv_heads=groups)


def random_inputs(derivation: Derivation, spec: Attention, seed: int = 0) -> dict[str, Array]:
    """Random numbers for every input, upstream gradients and directions included."""
    rng = np.random.default_rng(seed)
    out = {}
    known = {size: SIZES[size.name] for size in derivation.size_symbols if size.name in SIZES}
    for item in derivation.inputs:
        rows, columns = (int(size.subs(known).subs(derivation.sizes)) for size in item.shape)
        heads = (item.heads(derivation.sizes),) if item.per_head else ()
        value = np.round(rng.normal(size=(*heads, rows, columns)), 3)
        if spec.normaliser == "sum" and spec.feature_map is None:
            value = abs(value) + 0.5  # so that no row of scores sums to nearly 0
        if item.name == "allowed":
            value = np.tril(np.ones((rows, columns)))
        if item.name == "one_hot":
            value = np.eye(rows, columns)
        out[item.name] = value
    return out


@dataclass(frozen=True)
class Constants:
    """What is not differentiated, from symattn's forward values."""

    hidden: Array | None
    bias: Array | None
    buckets: Array | None
    sinusoids: Array | None
    weights: Array

    @classmethod
    def of(cls, spec: Attention, derivation: Derivation, given: Mapping[str, Any]) -> Constants:
        values = derivation.evaluate(**given)
        names = derivation.names

        def taken(name: str) -> Array | None:
            return values[name].array if name in names else None

        mask = taken("masked" if any(kind == "additive" for kind, _ in spec.mask) else "mask")
        hidden = None if mask is None else np.isneginf(mask)
        buckets = None
        if "table" in given:
            numbered = np.broadcast_to(
                np.arange(given["table"].shape[-2])[:, None], given["table"].shape
            )
            again = derivation.evaluate(**{**given, "table": np.array(numbered, dtype=float)})
            buckets = again["bias"].array.astype(int)
        return cls(hidden, taken("bias"), buckets, taken("positions"), values["weights"].array)


class Functional:
    """One attention as a function of its matrices; `xp` is numpy or torch."""

    def __init__(self, xp: Any, spec: Attention, constants: Constants) -> None:
        self.xp, self.spec, self.constants = xp, spec, constants
        self.const = getattr(xp, "tensor", xp.asarray) if hasattr(xp, "tensor") else xp.asarray

    def __call__(self, given: Mapping[str, Any]) -> Any:
        spec = self.spec
        heads = int(spec.heads or 1)
        outputs = [self._head(given, head) for head in range(heads)]
        if spec.output_form == "sum":
            total = sum(out @ _of(given, "W_O", head) for head, out in enumerate(outputs))
            return total + given["b_O"] if "b_O" in given else total
        joined = outputs[0] if spec.heads is None else self.xp.concatenate(outputs, 1)
        if spec.output_projection:
            joined = joined @ given["W_O"]
            return joined + given["b_O"] if "b_O" in given else joined
        return joined

    def _tokens(self, given: Mapping[str, Any]) -> Any:
        x = given["one_hot"] @ given["E"] if self.spec.embedded else given["X"]
        kind = self.spec.positions[0] if self.spec.positions else ""
        if kind == "learned":
            x = x + given["positions"]
        if kind == "sinusoidal":
            x = x + self.const(self.constants.sinusoids)
        return x

    def _vectors(self, given: Mapping[str, Any], head: int) -> tuple[Any, Any, Any]:
        spec = self.spec
        groups = int(cast(int, spec.kv_heads or spec.heads or 1))
        group = head // (int(spec.heads or 1) // groups)
        if "Q" in given:
            query, key = _of(given, "Q", head), _of(given, "K", group)
            value = key if spec.tie == "key-value" else _of(given, "V", group)
        elif spec.source == "bare":
            query = key = value = self._tokens(given)
        else:
            x = self._tokens(given)
            memory = given.get("memory", x)
            if spec.query_latent:
                x = x @ given["W_DQ"]
            query = self._projected(given, "Q", x, head)
            if spec.latent:  # absorbed or not, it is the same attention
                memory = memory @ given["W_D"]
                if spec.cache:
                    memory = self.xp.concatenate([given["latent_past"], memory], 0)
            key = query if spec.tie == "query-key" else self._projected(given, "K", memory, group)
            value = key
            if spec.tie != "key-value":
                value = self._projected(given, "V", memory, group)
        if spec.cache and not spec.latent:
            tied = spec.tie == "query-key"  # then there are as many past keys as queries
            key = self.xp.concatenate([_of(given, "K_past", head if tied else group), key], 0)
            past = "K_past" if spec.tie == "key-value" else "V_past"
            value = self.xp.concatenate([_of(given, past, group), value], 0)
        return query, key, value

    def _projected(self, given: Mapping[str, Any], name: str, x: Any, which: int) -> Any:
        out = x @ _of(given, f"W_{name}", which)
        return out + _of(given, f"b_{name}", which) if f"b_{name}" in given else out

    def _head(self, given: Mapping[str, Any], head: int) -> Any:
        spec, xp = self.spec, self.xp
        query, key, value = self._vectors(given, head)
        if spec.positions is not None and spec.positions[0] == "rotary":
            options = dict(spec.positions[1])
            start = options.pop("start", 0)
            past = SIZES["p"] if spec.cache else 0
            if options.pop("decoupled", False):
                asked, offered = self._apart(given, head)
                query = xp.concatenate([query, self._turned(asked, start + past, **options)], 1)
                key = xp.concatenate([key, self._turned(offered, start, **options)], 1)
            else:
                query = self._turned(query, start + past, **options)
                key = self._turned(key, start, **options)
        if spec.feature_map is not None:
            query, key = self._features(query), self._features(key)
        logits = self._scores(given, query, key, head)
        scale = spec.scale
        if scale is not None:
            d_k = dict.fromkeys(scale.free_symbols, query.shape[1])
            factor = float(scale.subs(d_k))
            both = str(scale) == "d_k**(-1/4)"  # queries and keys are scaled, each by as much
            logits = logits * (factor**2 if both else factor)
        if spec.soft_cap is not None:
            logits = float(spec.soft_cap) * xp.tanh(logits / float(spec.soft_cap))
        if self.constants.buckets is not None:
            logits = logits + _of(given, "table", head)[_at(self.constants.buckets, head)][..., 0]
        elif "bias" in given:
            logits = logits + _of(given, "bias", head)
        elif self.constants.bias is not None:
            logits = logits + self.const(_at(self.constants.bias, head))
        if "mask" in given:
            logits = logits + _of(given, "mask", head)
        return self._weights(given, logits, head) @ value

    def _apart(self, given: Mapping[str, Any], head: int) -> tuple[Any, Any]:
        """DeepSeek-V2, eq. 14 and 15: what carries the positions alone, before it is turned."""
        x = self._tokens(given)
        memory = given.get("memory", x)
        if self.spec.query_latent:
            x = x @ given["W_DQ"]
        keys = memory @ given["W_KR"]
        if self.spec.cache:
            keys = self.xp.concatenate([given["K_position_past"], keys], 0)
        return x @ _of(given, "W_QR", head), keys

    def _turned(
        self, x: Any, first: int, base: Any = 10000, dims: Any = None, pairing: str = "interleaved"
    ) -> Any:
        """x times a matrix for each row: block-diagonal rotations."""
        rows, width = x.shape
        count = int(dims or width)
        turns = np.tile(np.eye(width), (rows, 1, 1))
        for row in range(rows):
            for pair in range(count // 2):
                a, b = (2 * pair, 2 * pair + 1)
                if pairing == "half":
                    a, b = pair, pair + count // 2
                angle = (row + first) * float(base) ** (-2 * pair / count)
                turns[row, a, a] = turns[row, b, b] = np.cos(angle)
                turns[row, a, b], turns[row, b, a] = np.sin(angle), -np.sin(angle)
        return self.xp.stack([x[row] @ self.const(turns[row]) for row in range(rows)])

    def _features(self, x: Any) -> Any:
        xp = self.xp
        if self.spec.feature_map == "exp":
            return xp.exp(x)
        below = xp.where(x > 0, 0 * x, x)
        if self.spec.feature_map == "relu":
            return x - below
        return xp.where(x > 0, x + 1, xp.exp(below))

    def _scores(self, given: Mapping[str, Any], query: Any, key: Any, head: int) -> Any:
        xp = self.xp
        match self.spec.score:
            case "cosine":
                lengths = [xp.sqrt((x * x).sum(-1)) for x in (query, key)]
                return (query @ key.T) / lengths[0][:, None] / lengths[1][None, :]
            case "general":
                return query @ _of(given, "W_S", head) @ key.T
            case "additive":
                one, other = query @ _of(given, "W_a", head), key @ _of(given, "U_a", head)
                return (xp.tanh(one[:, None, :] + other[None]) @ _of(given, "v_a", head))[..., 0]
            case "shaw":
                return query @ key.T + self._of_distances(given, query, key, head)
            case "transformer-xl":
                far = self._of_distances(given, query, key, head)
                return query @ key.T + _of(given, "u_c", head) @ key.T + far
            case "distance":
                apart = query[:, None, :] - key[None]
                return -(apart * apart).sum(-1)
        return query @ key.T

    def _of_distances(self, given: Mapping[str, Any], query: Any, key: Any, head: int) -> Any:
        """What the distances add: Shaw et al. 2018, eq. 5; Dai et al. 2019, terms (b) and (d)."""
        n, m = query.shape[0], key.shape[0]
        past = SIZES["p"] if self.spec.cache else 0
        back = np.arange(n)[:, None] + past - np.arange(m)[None]
        if self.spec.score == "shaw":
            table = _of(given, "distance_keys", head)
            most = table.shape[0] // 2
            return (query[:, None, :] * table[np.clip(-back, -most, most) + most]).sum(-1)
        weights = _of(given, "W_R", head)
        width = weights.shape[0]
        angles = back[..., None] / 10000.0 ** (2 * (np.arange(width) // 2) / width)
        waves = np.where(np.arange(width) % 2, np.cos(angles), np.sin(angles))
        asked = query + _of(given, "v_d", head)
        return (asked[:, None, :] * (self.const(waves) @ weights)).sum(-1)

    def _weights(self, given: Mapping[str, Any], logits: Any, head: int) -> Any:
        xp, kind = self.xp, self.spec.normaliser
        seen = np.ones(tuple(logits.shape))
        if self.constants.hidden is not None:
            seen = 1.0 - _at(self.constants.hidden, head)
        weights = self.constants.weights
        fixed = weights if weights.ndim == 2 else weights[head]
        if kind == "hardmax":
            return self.const(fixed)
        if kind == "sparsemax":
            support = self.const((fixed > 0) * 1.0)
            count = self.const(np.maximum((fixed > 0).sum(-1), 1) * 1.0)
            level = ((logits * support).sum(-1) - 1) / count
            return (logits - level[:, None]) * support
        seen = self.const(seen)
        if kind == "none":
            return logits * seen
        if kind == "sum":
            return logits * seen / (logits * seen).sum(-1)[:, None]
        if kind == "sigmoid":
            return seen / (1 + xp.exp(-logits))
        powers = xp.exp(logits) * seen
        more = 0.0
        if kind == "softmax-off-by-one":
            more = 1.0
        if kind == "softmax-sink":
            more = xp.exp(_of(given, "sink", head))[0, 0]
        total = powers.sum(-1) + more
        safe = total + self.const((np.asarray(_plain(seen)).sum(-1) == 0) * 1.0)
        return powers / safe[:, None]


def _plain(x: Any) -> Any:
    return x.detach().numpy() if hasattr(x, "detach") else x


def _of(given: Mapping[str, Any], name: str, which: int) -> Any:
    value = given[name]
    return value[which] if value.ndim == 3 else value


def _at(value: Array, head: int) -> Array:
    return cast(Array, value[head] if value.ndim == 3 else value)


# ---- three ways to differentiate it -----------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """An attention with numbers: what is differentiated, and by what."""

    spec: Attention
    derivation: Derivation
    given: Mapping[str, Array]
    upstream: Array
    constants: Constants

    @classmethod
    def of(cls, spec: Attention, seed: int = 0) -> Problem:
        spec = concrete(spec)
        derivation = spec.derivation()
        backward = derivation.gradient()
        numbers = random_inputs(backward, spec, seed)
        upstream = numbers.pop(backward.inputs[-1].name)
        if derivation.steps[-1].per_head:  # pragma: no cover  heads are always joined
            raise AssertionError
        return cls(spec, derivation, numbers, upstream, Constants.of(spec, derivation, numbers))

    @property
    def names(self) -> list[str]:
        """What the loss is differentiated by."""
        return [name for name in self.given if name not in FIXED]

    def gradients(self) -> dict[str, Array]:
        """symattn's."""
        backward = self.derivation.gradient(self.names)
        values = backward.evaluate(**self.given, **{backward.inputs[-1].name: self.upstream})
        return {name: values[gradient_of(backward, name)].array for name in self.names}

    def by_complex_step(self, names: list[str] | None = None) -> dict[str, Array]:
        """Im L(x + ih) / h, with no difference and so no cancellation (Squire and Trapp 1998)."""
        function = Functional(np, self.spec, self.constants)
        out, step = {}, 1e-40
        for name in names or self.names:
            gradient = np.empty(self.given[name].shape)
            for place in np.ndindex(*gradient.shape):
                moved = {key: value.astype(complex) for key, value in self.given.items()}
                moved[name][place] += 1j * step
                gradient[place] = (function(moved) * self.upstream).sum().imag / step
            out[name] = gradient
        return out

    def by_torch(self, torch: Any) -> dict[str, Array]:
        """PyTorch's reverse mode."""
        tensors = {
            name: torch.tensor(value, requires_grad=name in self.names)
            for name, value in self.given.items()
        }
        out = Functional(torch, self.spec, self.constants)(tensors)
        loss = (out * torch.tensor(self.upstream)).sum()
        found = torch.autograd.grad(loss, [tensors[x] for x in self.names], allow_unused=True)
        return {
            name: np.zeros(self.given[name].shape) if x is None else x.numpy()
            for name, x in zip(self.names, found, strict=True)
        }

    def by_torch_twice(self, torch: Any, along: Mapping[str, Array]) -> dict[str, Array]:
        """PyTorch's Hessian times a direction."""
        function = Functional(torch, self.spec, self.constants)
        fixed = {n: torch.tensor(v) for n, v in self.given.items() if n not in self.names}

        def loss(*moving: Any) -> Any:
            given = {**fixed, **dict(zip(self.names, moving, strict=True))}
            return (function(given) * torch.tensor(self.upstream)).sum()

        start = tuple(torch.tensor(self.given[name]) for name in self.names)
        ways = tuple(torch.tensor(along[name]) for name in self.names)
        _, found = torch.autograd.functional.hvp(loss, start, ways)
        return {name: x.numpy() for name, x in zip(self.names, found, strict=True)}


def gradient_of(backward: Derivation, name: str) -> str:
    """The name of the step that holds the gradient with respect to this input."""
    letter = next(item.letter for item in backward.inputs if item.name == name)
    return next(step.name for step in backward.steps if step.letter == f"d{letter}")


def disagreement(ours: Mapping[str, Array], theirs: Mapping[str, Array]) -> str:
    """The first gradient that differs by more than float64 explains; nothing if none does."""
    for name, wanted in theirs.items():
        found = ours[name]
        if found.shape != wanted.shape:
            return f"d{name}: {found.shape} and {wanted.shape}"
        scale = max(1.0, float(abs(wanted).max()))
        if not abs(found - wanted).max() <= 1e-11 * scale:
            return f"d{name}: off by {abs(found - wanted).max():.1e}"
    return ""


def farther(
    ours: Mapping[str, Array], theirs: Mapping[str, Array], truth: Mapping[str, Array]
) -> str:
    """The first gradient that is farther from the truth than four times another's way there.

    1 − tanh² has few digits left for a large argument, and a sum of scores near 0 divides by it:
    two sound programs then differ by more than `disagreement` takes. Nothing if none does.
    """
    for name, wanted in truth.items():
        scale = max(1.0, float(abs(wanted).max()))
        one, other = (float(abs(x[name] - wanted).max()) / scale for x in (ours, theirs))
        if not one <= 4 * max(other, 1e-14):
            return f"d{name}: off by {one:.1e}, and another by {other:.1e}"
    return ""
