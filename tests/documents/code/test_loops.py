"""States as programs: loops over tokens, for any number of them, forward and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from keyword import iskeyword
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn import derivation
from symattn.attention.variants import TEXTS
from symattn.derivations import Derivation
from symattn.documents.code.document import code_document
from symattn.documents.code.program import recorded
from symattn.evaluate.evaluation import Evaluation
from tests.documents.code.test_code import differing, given_to, run, run_javascript, with_numbers
from tests.shares import share

RECURRENT = tuple(
    row.name for row in TEXTS if any(step.recurrent for step in row.derivation().steps)
)

#: Sizes that are all different, of which the programs are told none.
SIZES = {"n_c": 3, "d_s": 3, "d_h": 7, "d_g": 2, "d_l": 5}


@cache
def made(name: str, back: bool = False) -> tuple[Derivation, Evaluation]:
    """The derivation of a text, or its backward pass, on numbers of fresh sizes."""
    whole = next(row for row in TEXTS if row.name == name).derivation()
    return with_numbers(whole.gradient(upstream="ones") if back else whole, SIZES)


def told(name: str, back: bool) -> dict[str, Any]:
    """What a program is given, by the names of its arguments."""
    given = given_to(*made(name, back))
    return {f"{letter}_" if iskeyword(letter) else letter: x for letter, x in given.items()}


@pytest.mark.parametrize(
    ("name", "back", "language"),
    share(product(RECURRENT, (False, True), ("python", "numpy", "torch", "jax")), 15),
)
def test_a_loop_makes_the_states(name: str, back: bool, language: str) -> None:
    whole, values = made(name, back)
    found = run(code_document(whole, language), language, told(name, back))
    assert differing(whole, values, found) == []


def test_a_loop_makes_the_states_in_javascript(tool: Callable[[str], str], tmp_path: Path) -> None:
    calls = [*product(RECURRENT, (False, True))]
    programs = ((code_document(made(*call)[0], "javascript"), told(*call)) for call in calls)
    found = run_javascript(tool("node"), tmp_path, programs)
    wrong = [differing(*made(*call), values) for call, values in zip(calls, found, strict=True)]
    assert wrong == [[]] * len(calls)


@pytest.mark.parametrize(
    ("name", "language"),
    share(product(["online-softmax", "gated-deltanet", "gru"], ["numpy", "torch", "jax"]), 4),
)
def test_a_batch_has_states_of_its_own(name: str, language: str) -> None:
    whole, _ = made(name, back=True)
    code = code_document(whole, language)
    shapes = [value.shape for _, value in recorded(whole).inputs]
    rows = [len(shape) > 1 and str(shape[-2]) in ("n", "m") for shape in shapes]
    given = [*zip(told(name, True).items(), rows, strict=True)]
    alone = [{key: x * part if row else x for (key, x), row in given} for part in (1.0, 0.5)]
    both = {key: np.stack([one[key] for one in alone]) if row else x for (key, x), row in given}
    found = run(code, language, both)
    for number, single in enumerate(alone):
        *_, (last, wanted) = run(code, language, single).items()
        np.testing.assert_allclose(np.asarray(found[last])[number], np.asarray(wanted), rtol=1e-10)


_DELTA = "S[0] = 0; S[t] = S[t-1] + β[t] K[t]^T (V[t] - K[t] S[t-1]); output O[t,:] = Q[t] S[t]"


@pytest.mark.parametrize("tokens", [1, 2, 9])
def test_one_program_is_for_any_number_of_tokens(tokens: int) -> None:
    code = code_document(derivation(_DELTA), "numpy")
    assert code.count("for t in range(n):") == 1
    rng = np.random.default_rng(tokens)
    given = {name: rng.uniform(-1, 1, (tokens, 2)) for name in "qkv"}
    given["beta"] = rng.uniform(0, 1, (tokens, 1))
    state, wanted = np.zeros((2, 2)), []
    for query, key, value, beta in zip(*given.values(), strict=True):
        state = state + beta * np.outer(key, value - key @ state)
        wanted.append(query @ state)
    found = run(code, "numpy", given)["output"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_a_loop_that_begins_elsewhere_is_found() -> None:
    whole, values = made("gated-deltanet")
    code = code_document(whole, "numpy")
    wrong = code.replace("for t in range(n):", "for t in reversed(range(n)):")
    assert wrong != code
    found = run(wrong, "numpy", given_to(whole, values))
    assert differing(whole, values, found) == ["S", "output"]
