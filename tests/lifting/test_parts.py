"""Parts of models by functions of libraries: the same as by hand, and read as equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from symattn.errors import SymattnError
from symattn.lifting.comparing import prove_programs
from symattn.lifting.lift import lift
from symattn.lifting.turning import rotary
from tests import ROOT
from tests.extras import package
from tests.shares import share

_PAIRS = ("n", "4")
_Shapes = dict[str, Sequence[str]]
_OF_X: _Shapes = {"x": ("n", "d")}
_OF_ROWS: _Shapes = {"q": ("n", "d"), "k": ("n", "d")}
_OF_FOUR: _Shapes = {"q": _PAIRS, "k": _PAIRS}


def target(library: str, name: str) -> str:
    package("torch" if library == "torched" else "jax")
    return f"{ROOT / 'tests/lifting' / library}_parts.py:{name}"


def steps_of(library: str, name: str, shapes: _Shapes) -> list[str]:
    text = lift(target(library, name), shapes).text
    return [line for line in text.splitlines() if " = " in line]


_PARTS: list[tuple[str, str, _Shapes]] = [
    *[
        ("torched", name, _OF_X)
        for name in ("layer_norm", "rms_norm", "deviation", "gelu", "gelu_by_tanh")
    ],
    *[("torched", name, _OF_X) for name in ("clamped", "of_length_1")],
    ("torched", "added_by_rows", _OF_ROWS),
    ("torched", "put_together", _OF_ROWS),
    ("torched", "turned_scores", _OF_FOUR),
    ("torched", "scores_of_complex", _OF_FOUR),
    ("jaxed", "standardized", _OF_X),
    ("jaxed", "gelu", _OF_X),
    ("jaxed", "row_by_row", _OF_ROWS),
    ("jaxed", "sums_so_far", _OF_ROWS),
    ("jaxed", "turned_scores", _OF_FOUR),
]


@pytest.mark.parametrize(("library", "name", "shapes"), share(_PARTS, 12, 4))
def test_a_function_of_a_library_is_that_by_hand(library: str, name: str, shapes: _Shapes) -> None:
    one, hand, other = (target(library, f"{name}{end}") for end in ("", "_by_hand", "_not"))
    assert prove_programs(one, hand, shapes).verdict == "equal at the sizes tried"
    assert prove_programs(one, other, shapes).verdict == "different"


@pytest.mark.parametrize(
    ("library", "name", "shapes", "steps"),
    share(
        [
            ("torched", "layer_norm", _OF_X, ["output = LayerNorm(x, eps=0.00001)"]),
            ("torched", "rms_norm", _OF_X, ["output = x / sqrt(rowmean(x ∘ x) + 0.000001)"]),
            ("torched", "gelu", _OF_X, ["output = GELU(x)"]),
            ("torched", "clamped", _OF_X, ["output = relu(x) + min(max(x, -1), 1)"]),
            ("torched", "of_length_1", _OF_X, ["output = x / sqrt(norm2(x))"]),
            (
                "torched",
                "turned_scores",
                _OF_FOUR,
                ["q_2 = rotary(q)", "k_2 = rotary(k)", "output = q_2 k_2^T"],
            ),
            (
                "torched",
                "of_a_batch",
                dict.fromkeys("qkv", ("b", "h", "n", "d_k")),
                [
                    "scores[h] = q[h] k[h]^T / sqrt(d_k)",
                    "M[i,j] = 0 if j <= i else -inf",
                    "weights[h] = softmax(scores[h] + M)",
                    "output[h] = weights[h] v[h]",
                ],
            ),
            (
                "torched",
                "norm",
                {"x": ("b", "n", "6")},
                [
                    "h = GELU((LayerNorm(x, eps=0.00001) ∘ W_ln1 + b_ln1) W_fc^T + b_fc)",
                    "output = SiLU(h)",
                ],
            ),
            (
                "jaxed",
                "turned_scores",
                _OF_FOUR,
                ["a = rotary(q, base=500)", "b = rotary(k, base=500)", "output = a b^T"],
            ),
            (
                "jaxed",
                "of_features",
                {},
                [
                    "q_2 = elu1(q)",
                    "k_2 = elu1(k)",
                    "output = q_2 (k_2^T v) / (q_2 colsum(k_2)^T)",
                ],
            ),
            (
                "jaxed",
                "of_a_batch",
                dict.fromkeys(("query", "key", "value"), ("b", "n", "h", "d_k")),
                [
                    "scores[h] = query[h] / sqrt(d_k) key[h]^T",
                    "output[h] = softmax(scores[h]) value[h]",
                ],
            ),
            (
                "jaxed",
                "by_log_sum_exp",
                {},
                [
                    "s = q k^T",
                    "output = exp(s - (ln(abs(rowsum(exp(s - rowmax(s))))) + rowmax(s))) v",
                ],
            ),
        ],
        2,
    ),
)
def test_parts_are_read(library: str, name: str, shapes: _Shapes, steps: list[str]) -> None:
    assert steps_of(library, name, shapes) == steps


def test_a_batch_is_said_and_no_element_may_have_a_say_in_another() -> None:
    shapes = dict.fromkeys("qkv", ("b", "h", "n", "d_k"))
    assert lift(target("torched", "of_a_batch"), shapes).note.endswith(
        "b = 3; for each element of the batch b"
    )
    with pytest.raises(SymattnError, match="on other elements of the batch"):
        lift(target("torched", "mixing_the_batch"), shapes)


def test_of_complex_numbers_only_turns_have_a_form() -> None:
    name = target("torched", "tangent_of_complex")
    assert prove_programs(name, name, _OF_FOUR).reason.endswith(
        "of complex numbers sums, products, conj, abs, exp, and their real and imaginary parts "
        "have a form"
    )


def turned(x: Any, base: float, half: bool, shift: float = 0.0) -> Any:
    n, width = x.shape
    angles = (np.arange(n)[:, None] + shift) * base ** (-np.arange(0, width, 2) / width)
    a, b = np.split(x, 2, axis=1) if half else (x[:, ::2], x[:, 1::2])
    parts = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
    return np.concatenate(parts, axis=1) if half else np.stack(parts, -1).reshape(n, width)


def test_rotary_positions_are_known_by_numbers() -> None:
    x = np.random.default_rng(3).normal(size=(17, 6))
    assert rotary(x, turned(x, 10000, False)) == {}
    assert rotary(x, turned(x, 10000, True)) == {"pairing": "half"}
    assert rotary(x, turned(x, 500000, True)) == {"base": "500000", "pairing": "half"}
    assert rotary(x, turned(x, 10000, False, shift=1.0)) is None
    assert rotary(x, turned(x, 10000, False) * 1.0001) is None
    assert rotary(x, x[::-1]) is None
