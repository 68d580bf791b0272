"""Functions of PyTorch and JAX, proven by their graphs."""

from __future__ import annotations

import pytest

from symattn.attention.variants import variant
from symattn.lifting.proving import prove_program
from symattn.verifying.own import meant
from symattn.verifying.subject import Wanted
from tests import ROOT
from tests.extras import package


def verdict(library: str, name: str) -> str:
    package("torch" if library == "torched" else "jax")
    other = "causal" if name.startswith("causal") else "scaled-dot-product"
    wanted = Wanted(meant(variant(other).said), attention=f"{other} attention")
    target = f"{ROOT / 'tests/lifting' / library}.py:{name}"
    return prove_program(target, wanted).verdict


@pytest.mark.parametrize("name", ["sdpa", "causal_by_filling", "online", "written_by_rows"])
def test_right_functions_of_torch_are_proven(name: str) -> None:
    assert verdict("torched", name) == "equal at the sizes tried"


@pytest.mark.parametrize("name", ["causal_by_where", "scanned", "vmapped"])
def test_right_functions_of_jax_are_proven(name: str) -> None:
    assert verdict("jaxed", name) == "equal at the sizes tried"


@pytest.mark.parametrize(
    ("library", "name"), [("torched", "causal_strictly"), ("jaxed", "scaled_by_the_tokens")]
)
def test_wrong_ones_are_refuted(library: str, name: str) -> None:
    assert verdict(library, name) == "different"
