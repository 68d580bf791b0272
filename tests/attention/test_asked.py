"""The engines that a variant's card names were asked, and are asked again."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from symattn import VARIANTS, variant
from tests import semantics
from tests.engines import ENGINES, KEPT, Core, Engine, asked, core, refused
from tests.extras import package

SAID = json.loads(KEPT.read_text("utf-8"))
NAMES = {row.name for row in VARIANTS}


@pytest.mark.parametrize(
    ("engine", "every"),
    [
        *(pytest.param(engine, 32 if engine.package == "jax" else 1) for engine in ENGINES),
        *(
            pytest.param(engine, 1, marks=pytest.mark.nightly)  # JAX compiles for every shape
            for engine in ENGINES
            if engine.package == "jax"
        ),
    ],
)
def test_the_engines_answer_as_the_cards_say(engine: Engine, every: int) -> None:
    said, rows = SAID["functions"][engine.function]["agrees"], VARIANTS[::every]
    if engine.package in ("torch", "jax", "onnx"):  # the others were asked on the day that is kept
        package(engine.package)
    elif find_spec(engine.package) is None:
        assert {*said} <= NAMES
        return
    wanted = [row.name for row in rows if row.name in said]
    assert asked(engine, rows) == wanted, "python -m tests.engines"


def test_every_variant_is_asked_or_said_not_to_be() -> None:
    agreeing = {name for each in SAID["functions"].values() for name in each["agrees"]}
    assert SAID["not asked"] == refused()
    assert agreeing | {*SAID["not asked"]} == NAMES and not agreeing & {*SAID["not asked"]}


@pytest.mark.parametrize("package_name", ["torch", "jax", "onnx"])
def test_another_attention_does_not_agree(package_name: str) -> None:
    package(package_name)
    engine = next(each for each in ENGINES if each.package == package_name)
    for name in ("causal", "grouped-query", "alibi"):
        right = core(variant(name))
        assert isinstance(right, Core) and engine.agrees(right)
        assert not engine.agrees(replace(right, scale=right.scale * 1.001))
        assert not engine.agrees(replace(right, v=right.v[..., ::-1]))
        if right.seen is not None:
            assert not engine.agrees(replace(right, seen=None))


@pytest.mark.parametrize("name", ["PyTorch", "JAX", "ONNX", "symattn"])
def test_the_table_of_semantics_says_what_engines_do(name: str) -> None:
    package(semantics.ENGINES[name][0])
    kept = json.loads(semantics.KEPT.read_text("utf-8"))
    assert {*kept} == {*semantics.ENGINES}
    assert all([*each["answers"]] == [*semantics.SITUATIONS] for each in kept.values())
    assert kept[name]["answers"] == semantics.answers(name), "python -m tests.semantics"


def test_another_answer_is_told() -> None:
    def mean(q: semantics.Array, k: semantics.Array, v: semantics.Array, **_: object) -> object:
        return np.broadcast_to(v[:1].mean(axis=1, keepdims=True), (len(q), q.shape[1], v.shape[-1]))

    told = {words: situation(mean) for words, situation in semantics.SITUATIONS.items()}
    assert told["a query with every key masked out by a boolean mask"] == "the mean of V"
    assert [*told.values()].count("something else") >= 4
