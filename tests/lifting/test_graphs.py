"""Functions of PyTorch and JAX, proven by their graphs."""

from __future__ import annotations

import pytest

from symattn.attention.variants import variant
from symattn.lifting.comparing import prove_programs
from symattn.lifting.proving import prove_program
from symattn.verifying.own import meant
from symattn.verifying.subject import Wanted
from tests import ROOT
from tests.command import assert_refused, run
from tests.extras import package
from tests.shares import share

_OF_HEADS = {
    **dict.fromkeys(("eager", "stacked_weights"), "multi-head"),
    "causal_of_heads": "causal-multi-head",
}


def verdict(library: str, name: str) -> str:
    package("torch" if library == "torched" else "jax")
    other = _OF_HEADS.get(name) or ("causal" * name.startswith("causal") or "scaled-dot-product")
    wanted = Wanted(meant(variant(other).said), attention=f"{other} attention")
    target = f"{ROOT / 'tests/lifting' / library}.py:{name}"
    return prove_program(target, wanted).verdict


@pytest.mark.parametrize(
    ("library", "name"),
    share(
        [
            *(("torched", "sdpa"), ("torched", "causal_by_filling"), ("torched", "eager")),
            *(("torched", "causal_of_heads"), ("jaxed", "causal_by_where")),
            ("torched", "stacked_weights"),
        ],
        2,
    ),
)
def test_right_functions_are_proven_for_all_sizes(library: str, name: str) -> None:
    assert verdict(library, name) == "equal for all sizes"


@pytest.mark.parametrize(
    ("library", "name"),
    share(
        [
            *(("torched", "online"), ("torched", "written_by_rows")),
            *(("jaxed", "vmapped"), ("jaxed", "scanned")),
        ],
        2,
        1,
    ),
)
def test_others_are_proven_at_sizes(library: str, name: str) -> None:
    assert verdict(library, name) == "equal at the sizes tried"


@pytest.mark.parametrize(
    ("library", "name"), [("torched", "causal_strictly"), ("jaxed", "scaled_by_the_tokens")]
)
def test_wrong_ones_are_refuted(library: str, name: str) -> None:
    assert verdict(library, name) == "different"


WEIGHTS = "W_Q=q_proj.weight,W_K=k_proj.weight,W_V=v_proj.weight,W_O=out_proj.weight"


@pytest.mark.parametrize(("name", "status"), [("projected", 4), ("unscaled_layer", 1)])
def test_a_module_is_a_function_of_its_parameters(name: str, status: int) -> None:
    package("torch")
    target = f"{ROOT / 'tests/lifting'}/torched.py:{name}"
    found = run("prove", target, "multi-head", "--map", WEIGHTS, "--size", "h=2", status=status)
    assert ("is multi-head attention" in found.stdout) == (status == 4)


def test_which_parameter_is_which_has_to_be_said() -> None:
    package("torch")
    found = run("prove", f"{ROOT / 'tests/lifting'}/torched.py:projected", "multi-head")
    assert_refused(found, "say which: --map W_Q=q_proj.weight")


@pytest.mark.parametrize(("name", "status"), [("by_hand", 0), ("unscaled_layer", 1)])
def test_modules_are_compared_for_all_values_of_their_parameters(name: str, status: int) -> None:
    package("torch")
    folder = ROOT / "tests/lifting"
    modules = (f"{folder}/torched.py:projected", f"{folder}/torched.py:{name}")
    found = run("prove", *modules, "--shape", "x=n,6", "--size", "n=2", status=status)
    assert ("q_proj.weight = " in found.stdout) == (status == 1)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("projected_by_parameters", "projected_plainly", "equal at the sizes tried"),
        ("before_its_own_key", "behind_its_own_key", "different"),
    ],
)
def test_what_is_made_of_what_is_given_is_followed(one: str, other: str, verdict: str) -> None:
    """As parameters, and where a part of it is a number whatever is given."""
    package("torch")
    folder = f"{ROOT / 'tests/lifting'}/torched.py"
    square = dict.fromkeys("QKV", ("n", "d")) if one.startswith("before") else {"W": ("d_k", "e")}
    assert prove_programs(f"{folder}:{one}", f"{folder}:{other}", square).verdict == verdict
