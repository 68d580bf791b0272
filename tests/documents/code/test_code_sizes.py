"""Programs of many specs, made at one set of sizes and run at another."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from symattn import Attention, Derivation
from symattn.documents.code.document import code_document
from tests.attention.test_combinations import SPECS, derived, given

pytestmark = pytest.mark.nightly

#: Every third of the specs that cover all pairs of choices.
NAMES = tuple(SPECS)[::3]

#: Sizes to run at, where a program does not keep its own.
OTHER = {
    "n": 6,
    "m": 8,
    "p": 3,
    "d_model": 10,
    "d_mem": 7,
    "d_k": 12,
    "d_v": 5,
    "d_c": 9,
    "d_cq": 11,
    "d_r": 4,
    "d_a": 13,
    "d_out": 3,
    "n_vocab": 14,
    "k": 2,
    "h": 12,
    "g": 4,
}


def kept(code: str) -> dict[str, int]:
    """The sizes that a program says it is written for."""
    said = re.search(r"Written for (.*)\.", code)
    parts = [part.split(" = ") for part in (said[1].split(", ") if said else ())]
    return {part[0]: int(part[1]) for part in parts if len(part) == 2}


def numbers(derivation: Derivation, sizes: dict[str, int]) -> dict[str, Any]:
    """Small numbers for all inputs."""
    random = np.random.default_rng(7)
    known = {s: sizes[s.name] for s in derivation.size_symbols if s.name in sizes}
    out: dict[str, Any] = {}
    for item in derivation.inputs:
        shape = tuple(int(size.subs(known)) for size in item.shape)
        shape = (sizes[str(item.count)], *shape) if item.per_head else shape
        if item.name == "one_hot":
            rows, columns = shape
            out[item.name] = np.eye(rows, columns)
        elif item.name == "allowed":
            out[item.name] = (random.random(shape) < 0.7).astype(int)
        else:
            out[item.name] = random.integers(1, 60, shape) / 512
    return out


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_the_same_at_other_sizes(name: str) -> None:
    derivation = derived(name)
    values = derivation.evaluate(**given(name))
    code = code_document(derivation, values, "numpy")
    own = {symbol.name: size for symbol, size in values.sizes.items()}
    fixed = kept(code)
    heads = {name: own[name] for name in ("h", "g") if name in own and {"h", "g"} & fixed.keys()}
    stated = {symbol.name: size for symbol, size in derivation.sizes.items()}
    other = derivation.evaluate(**numbers(derivation, OTHER | heads | fixed | stated))
    wanted = {step.letter: other.array(step.letter) for step in derivation.steps}
    room: dict[str, Any] = {}
    exec(code, room)
    with np.errstate(all="ignore"):
        found = room["attention"](**{i.letter: other.array(i.letter) for i in derivation.inputs})
    for letter, value in wanted.items():
        assert found[letter].shape == value.shape, letter
        assert np.allclose(found[letter], value, rtol=1e-8, atol=1e-10, equal_nan=True), letter


def test_a_power_of_a_sum_is_one() -> None:
    spec = Attention(
        source="self", positions={"rotary": {"decoupled": True}}, latent=True, scale="d_k^(-1/4)"
    )
    derivation = spec.derivation()
    code = code_document(derivation, derivation.evaluate(**numbers(derivation, OTHER)), "numpy")
    assert "(d_k + d_r) ** -0.25" in code
