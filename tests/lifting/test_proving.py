"""Functions proven to be an attention, refuted, or neither; and no wrong one is ever proven."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn.attention.variants import variant
from symattn.documents import text
from symattn.lifting.proving import Proven, prove_program
from symattn.lifting.report import proven_data, proven_document
from symattn.verifying.own import meant
from symattn.verifying.subject import Wanted
from tests import ROOT
from tests.command import run
from tests.lifting import attentions, partial
from tests.shares import share

RIGHT = (
    "online",
    "row_by_row",
    "by_log_sum_exp",
    "in_powers_of_two",
    "split_scale",
    "causal_by_multiplying",
    "causal_by_index",
    "causal_decoding",
    "causal_negative_number",
)
WRONG = (
    "online_not_rescaled",
    "over_the_queries",
    "scaled_by_the_values",
    "a_number_is_added",
    "causal_off_by_one",
    "causal_after_softmax",
    "causal_masked_by_minus_ten",
    "guarded",  # which low scores show
)


def proven(name: str, **sizes: int) -> Proven:
    other = "causal" if name.startswith("causal") else "scaled-dot-product"
    wanted = Wanted(meant(variant(other).said), attention=f"{other} attention")
    return prove_program(getattr(attentions, name), wanted, sizes)


def line_of(function: Callable[..., Any]) -> int:
    """The line of a file at which a function begins."""
    return inspect.getsourcelines(function)[1]


@pytest.mark.parametrize("name", RIGHT)
def test_right_functions_are_proven(name: str) -> None:
    found = proven(name)
    assert found.verdict in ("equal for all sizes", "equal at the sizes tried")


@pytest.mark.parametrize("name", share(WRONG, 2))
def test_wrong_functions_are_refuted_by_numbers_that_show_it(name: str) -> None:
    found = proven(name)
    assert (found.verdict, found.status) == ("different", 1)
    assert found.found is not None
    given = found.found.input
    assert given is not None
    S = given["Q"] @ given["K"].T / np.sqrt(given["Q"].shape[1])
    if name.startswith("causal"):
        S = np.where(np.tri(*S.shape), S, -np.inf)
    E = np.exp(S)
    own = getattr(attentions, name)(**given)
    assert not np.allclose(own, E / E.sum(axis=1, keepdims=True) @ given["V"], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "verdict", "why"),
    [
        ("cancelled", "equal at the sizes tried", "rounding alone"),
        ("wrong_by_another_library", "undecided", "by rounding it may be"),
    ],
)
def test_a_function_is_refuted_by_what_no_rounding_makes(name: str, verdict: str, why: str) -> None:
    found = proven(name)
    assert found.verdict == verdict
    assert why in found.reason


def test_a_constant_in_float32_shows_nothing() -> None:
    found = proven("scale_in_float32")
    assert (found.verdict, found.status) == ("undecided", 4)
    assert "kept in float32" in found.reason


def test_sizes_that_are_given_are_decided() -> None:
    chosen, given = proven("online"), proven("online", n=2, m=5, d_k=2, d_v=1)
    assert (chosen.verdict, chosen.status) == ("equal at the sizes tried", 4)
    assert (given.verdict, given.status) == ("equal at the sizes given", 0)
    assert "n = 2, d_k = 2, m = 5, d_v = 1" in " ".join(
        text.write([proven_document(given)]).split()
    )


def test_what_holds_for_few_tokens_is_not_said_of_all_sizes() -> None:
    found = proven("causal_within_many")
    assert (found.verdict, found.status) == ("equal at the sizes tried", 4)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("another_branch", "a branch depends on the numbers"),
        ("by_another_library", f"line {line_of(attentions.by_another_library) + 1}: it raises"),
    ],
)
def test_what_is_neither_is_undecided(name: str, why: str) -> None:
    found = proven(name)
    assert (found.verdict, found.status) == ("undecided", 4)
    assert why in found.reason
    assert proven_data(found)["verdict"] == "undecided"


def test_a_proof_for_all_sizes_has_a_certificate(tmp_path: Path) -> None:
    target, written = f"{ROOT / 'tests/lifting'}/programs.py:causal", tmp_path / "causal.json"
    assert run("prove", target, "causal", "--format", "certificate", "-o", written).exit_code == 0
    assert "replayed: equal (for all sizes)" in run("prove", written).output


def test_what_is_undecided_has_no_certificate(tmp_path: Path) -> None:
    target = f"{ROOT / 'tests/lifting'}/attentions.py:another_branch"
    written = tmp_path / "branch.json"
    found = run("prove", target, "scaled-dot-product", "--format", "certificate", "-o", written)
    assert (found.exit_code, written.exists()) == (4, False)
    assert "no certificate is written: undecided" in found.stderr
    found = run("prove", target, "scaled-dot-product", "--format", "rocq")
    assert "no theorem of Rocq is written: undecided" in found.stderr


def test_arguments_are_mapped_and_unknown_sizes_refused() -> None:
    target = f"{ROOT / 'tests/lifting'}/attentions.py:strange_names"
    mapped = ("--map", "Q=left,K=right", "--map", "V=content")
    assert run("prove", target, "scaled-dot-product").exit_code == 2
    assert run("prove", target, "scaled-dot-product", *mapped).exit_code == 0
    found = run("prove", target, "scaled-dot-product", *mapped, "--size", "w=3")
    assert (found.exit_code, "--size w: the sizes are" in found.stderr) == (2, True)
    other = f"{ROOT / 'tests/lifting'}/programs.py:attention"
    paired = ("--map", "left=Q,right=K,content=V")
    shapes = ("--shape", "left=n,d", "--shape", "right=m,d", "--shape", "content=m,e")
    assert run("prove", target, other, *paired, *shapes).exit_code == 0
    assert run("prove", target, other, "--map", "lft=Q").exit_code == 2


def test_only_functions_have_arguments_to_be_mapped() -> None:
    assert run("prove", "shift", "--map", "Q=left").exit_code == 2


@pytest.mark.nightly
def test_a_window_is_tried_where_there_are_tokens_beyond_it() -> None:
    wanted = Wanted(meant(variant("sliding-window").said), attention="sliding-window attention")
    found = prove_program(attentions.windowed, wanted)
    assert found.verdict == "equal at the sizes tried"
    assert found.sizes["n"] == 4
    assert prove_program(attentions.windowed_too_far, wanted).verdict == "different"


@pytest.mark.parametrize("name", ["by_a_logarithm", "by_a_quotient"])
def test_what_may_be_undefined_is_not_settled(name: str) -> None:
    wanted = Wanted(meant(variant("scaled-dot-product").said))
    found = prove_program(getattr(partial, name), wanted)
    assert (found.is_partial, found.status) == (True, 4)
    assert "wherever both are defined" in found.summary
    assert "nothing is said" in " ".join(text.write([proven_document(found)]).split())


def test_numbers_are_tried_at_the_sizes_that_are_said() -> None:
    wanted = Wanted(meant(variant("scaled-dot-product").said))
    sizes = {"n": 2, "m": 2, "d_v": 1}
    assert prove_program(partial.halved, wanted, {**sizes, "d_k": 4}).status == 0
    assert prove_program(partial.halved, wanted, {**sizes, "d_k": 2}).verdict == "different"


def test_a_property_is_not_tried_at_other_sizes_than_its_own() -> None:
    wanted = Wanted(meant(variant("causal").said))
    found = prove_program(attentions.causal_off_by_one, wanted, {"n": 4, "d_k": 1, "d_v": 1})
    assert found.found is not None
    assert "one token" not in dict(found.found.tried)


def test_a_program_without_a_function_is_refused_by_what_to_write() -> None:
    program = str(ROOT / "tests/lifting/programs.py")
    said = run("prove", program, "causal")
    assert (said.exit_code, f"as in {program}:attention" in said.stderr) == (2, True)


def test_numbers_that_are_cut_to_whole_ones_have_no_form() -> None:
    found = prove_program(partial.cut, Wanted(meant(variant("scaled-dot-product").said)))
    assert (found.verdict, "cut to whole ones" in found.reason) == ("undecided", True)


def cast_to_float(Q: Any, K: Any, V: Any) -> Any:
    e = np.exp(Q.astype(float) @ K.T / np.sqrt(K.shape[1]))
    return e / e.sum(axis=1, keepdims=True) @ V


def test_float_is_a_dtype_of_a_program() -> None:
    found = prove_program(cast_to_float, Wanted(meant(variant("scaled-dot-product").said)))
    assert found.verdict == "equal for all sizes"
