"""Which engine has which variant as one function, found by asking it.

From the queries, keys and values of a variant on (projected, rotated, joined with the cache), each
engine's own attention is asked for the output of random numbers. ``python -m tests.engines``
writes what agrees to `docs/explanation/engines.json`, of which the site's cards are made;
`tests/attention/test_engines.py` asks again. An engine that is not installed keeps its rows.
"""

from __future__ import annotations

import datetime
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from symattn import VARIANTS, SymattnError, Variant
from symattn.attention.example import small_inputs
from tests import ROOT, semantics
from tests.semantics import Attend

KEPT = ROOT / "docs" / "explanation" / "engines.json"

Array = Any

#: The last of these steps or inputs that there is enters the scores, or is mixed.
_QUERIES = ("Q_joined", "Q_rotated", "Q_absorbed", "Q_unit", "Q_normed", "Q", "X")
_KEYS = ("K_joined", "K_rotated", "K_unit", "K_normed", "K_cached", "K", "latent", "X")
_VALUES = ("V_cached", "V", "latent", "K", "X")
_OUT = ("latent_output", "heads", "output")

#: Why an engine's function cannot be asked.
SCORES = "its scores are not products of queries and keys"
WEIGHTS = "its weights are not a softmax"


@dataclass(frozen=True)
class Core:
    """An attention from queries, keys and values on: (heads, rows, columns), and its output."""

    q: Array
    k: Array
    v: Array
    scale: float
    cap: float | None
    bias: Array | None
    seen: Array | None
    sink: Array | None
    out: Array

    @property
    def added(self) -> Array | None:
        """Bias and mask as one matrix that is added."""
        if self.seen is None:
            return self.bias
        return np.where(self.seen, 0.0 if self.bias is None else self.bias, -np.inf)


@cache
def core(row: Variant, seed: int = 1) -> Core | str:
    """The core of a variant on random numbers, or why no engine can be asked for it."""
    try:
        spec, given = small_inputs(row.spec, tokens=5)
    except SymattnError:  # a mask says how many tokens there are
        spec, given = small_inputs(row.spec)
    if spec.normaliser not in ("softmax", "softmax-sink"):
        return WEIGHTS
    random = np.random.default_rng(seed)
    told = {
        name: np.array(value, float)
        if name in ("allowed", "one_hot")
        else random.normal(size=np.shape(value))
        for name, value in given.items()
    }
    values = spec.derivation().evaluate(**told)
    steps = {step.name for step in values.steps}

    def array(name: str) -> Array:
        found = np.asarray(values[name].array if name in steps else told[name], np.float64)
        return found if found.ndim == 3 else found[None]

    def first(names: tuple[str, ...]) -> Array:
        return array(next(name for name in names if name in steps or name in told))

    q, k, v = first(_QUERIES), first(_KEYS), first(_VALUES)
    scores = array("scores")
    groups = np.repeat(k, len(scores) // len(k), axis=0)
    if q.shape[-1] != k.shape[-1] or not np.allclose(q @ groups.swapaxes(1, 2), scores):
        return SCORES
    factor = 1.0
    if "scaled" in steps:
        place = np.unravel_index(np.abs(scores).argmax(), scores.shape)
        factor = float(array("scaled")[place] / scores[place])
    bias = array("bias") if "bias" in steps | {*told} else array("mask") if "mask" in told else None
    hiding = next((name for name in ("selected", "masked") if name in steps), None)
    hidden = hiding is not None and np.isneginf(array(hiding))
    return Core(
        *(q, k, v, factor),
        cap=None if spec.soft_cap is None else float(spec.soft_cap),
        bias=bias,
        seen=~hidden if np.any(hidden) else None,
        sink=array("sink").ravel() if spec.normaliser == "softmax-sink" else None,
        out=first(_OUT),
    )


# ---- the engines ------------------------------------------------------------------------------


def _added(attend: Attend) -> Callable[[Core], Array]:
    """Asks with bias and mask as one matrix that is added."""
    return lambda of: attend(of.q, of.k, of.v, **_told(bias=of.added, cap=of.cap, scale=of.scale))


def _apart(attend: Attend) -> Callable[[Core], Array]:
    """Asks with numbers to add and a boolean mask."""
    return lambda of: attend(of.q, of.k, of.v, **_told(bias=of.bias, mask=of.seen, scale=of.scale))


def _told(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _keras(of: Core) -> Array:
    """Keys or values are repeated for the heads of their group: Keras has no groups."""
    k, v = (np.repeat(x, len(of.q) // len(x), axis=0) for x in (of.k, of.v))
    return _apart(semantics.keras)(replace(of, k=k, v=v))


def _transformers(of: Core, model: str) -> Array:
    torch = import_module("torch")
    module = import_module(f"transformers.models.{model}.modeling_{model}")
    heads = len(of.q)
    own = torch.nn.Module()
    own.num_key_value_groups = heads // len(of.k)
    if of.sink is not None:
        own.sinks = torch.from_numpy(of.sink)
    own.eval()
    q, k, v = (torch.from_numpy(x)[None] for x in (of.q, of.k, of.v))
    added = np.zeros((1, 1)) if of.added is None else of.added
    options = {} if of.cap is None else {"softcap": of.cap}
    mask = torch.from_numpy(np.maximum(added, np.finfo(np.float64).min))[None]
    mask = mask.expand(1, -1, q.shape[2], k.shape[2]) if of.added is None else mask
    out, _ = module.eager_attention_forward(
        own, q, k, v, mask if mask.ndim == 4 else mask[:, None], scaling=of.scale, **options
    )
    return out[0].transpose(0, 1).numpy()


@dataclass(frozen=True)
class Engine:
    """A package's own function, what it has to be told, what it cannot be, and how near it comes.

    `has` names the part of a `Core` that it is there for.
    """

    package: str
    title: str
    function: str
    asked: Callable[[Core], Array]
    lacks: tuple[str, ...] = ("cap", "sink")
    has: str = ""
    tolerance: float = 2e-5  # where something is computed in float32

    def agrees(self, of: Core) -> bool:
        """Whether it answers what the steps of the variant are worth."""
        without = any(getattr(of, part) is not None for part in self.lacks)
        if without or (self.has and getattr(of, self.has) is None):
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = self.asked(of)
            except (ValueError, TypeError):  # refused, as values of another width are by JAX
                return False
        slack = self.tolerance * float(np.abs(of.v).max())
        return answer.shape == of.out.shape and bool((abs(answer - of.out) <= slack).all())


_TORCH = "torch.nn.functional.scaled_dot_product_attention"
_EAGER = "transformers.models.{0}.modeling_{0}.eager_attention_forward"


def _of_transformers(model: str, lacks: tuple[str, ...], has: str = "") -> Engine:
    ask = partial(_transformers, model=model)
    return Engine("transformers", "transformers", _EAGER.format(model), ask, lacks, has)


ENGINES: tuple[Engine, ...] = (
    Engine("torch", "PyTorch", _TORCH, _added(semantics.torch), tolerance=1e-14),
    Engine("jax", "JAX", "jax.nn.dot_product_attention", _apart(semantics.jax)),
    Engine("onnx", "ONNX", "Attention", _added(semantics.onnx), ("sink",)),
    Engine("keras", "Keras", "keras.ops.dot_product_attention", _keras),
    _of_transformers("llama", ("cap", "sink")),
    _of_transformers("gemma2", ("sink",), "cap"),
    _of_transformers("gpt_oss", ("cap",), "sink"),
)


def asked(engine: Engine, rows: Sequence[Variant] = VARIANTS) -> list[str]:
    """The variants whose numbers an engine gives."""
    cores = ((row.name, core(row)) for row in rows)
    return [name for name, of in cores if isinstance(of, Core) and engine.agrees(of)]


def refused() -> dict[str, str]:
    """Why no engine was asked, by variant."""
    cores = ((row.name, core(row)) for row in VARIANTS)
    return {name: of for name, of in cores if isinstance(of, str)}


if __name__ == "__main__":
    made = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"functions": {}}
    for engine in ENGINES:
        if find_spec(engine.package) is not None:
            made["functions"][engine.function] = {
                "engine": f"{engine.title} {version(engine.package).partition('+')[0]}",
                "date": datetime.date.today().isoformat(),
                "agrees": asked(engine),
            }
    made["not asked"] = refused()
    KEPT.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
