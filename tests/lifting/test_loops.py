"""Loops as equations by rows, families and recurrences; what has no formula is refused by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from symattn.errors import SymattnError
from symattn.lifting.comparing import prove_programs
from symattn.lifting.graphs import _joined_at_once
from symattn.lifting.lift import lift
from tests.lifting import jaxed_loops, looped, torched_loops
from tests.shares import share

HEADS = dict.fromkeys("QKV", ("h", "n", "d"))


def steps(function: Callable[..., Any], shapes: Any = None) -> list[str]:
    return [x for x in lift(function, shapes).text.splitlines() if " = " in x]


BY_ROWS = [
    "s[t,:] = Q[t] K^T / sqrt(d_k)",
    "e_1[t,:] = exp(s[t] - rowmax(s[t]))",
    "output[t,:] = e_1[t] / rowsum(e_1[t]) V",
]
OF_DELTA = [
    "S[0] = 0",
    "S[t] = S[t - 1] + K[t]^T (V[t] - K[t] S[t - 1])",
    "output[t,:] = Q[t] S[t]",
]
STATES = ["S[0] = 0", "S[t] = S[t - 1] + K[t]^T V[t]", "output[t,:] = Q[t] S[t]"]


@pytest.mark.parametrize(
    ("function", "equations"),
    share(
        [
            (looped.appended, BY_ROWS),
            (
                looped.written,
                [
                    "scores[t,:] = Q[t] K^T / sqrt(d_k)",
                    "e_1[t,:] = exp(scores[t] - rowmax(scores[t]))",
                    "weights[t,:] = e_1[t] / rowsum(e_1[t])",
                    "out[t,:] = weights[t] V",
                ],
            ),
            (
                looped.by_entries,
                [
                    "S[t,:] = Q[t] K^T / sqrt(d_k)",
                    "A = exp(S)",
                    "A_2 = A / rowsum(A)",
                    "output = A_2 V",
                ],
            ),
            (
                looped.by_sums,
                [
                    "s[t,:] = Q[t] K^T / sqrt(d_k)",
                    "w[t,:] = exp(s[t]) / rowsum(exp(s[t]))",
                    "output[t,:] = w[t] V",
                ],
            ),
            (
                looped.of_three,
                [
                    "A = exp(K)",
                    "A_2 = exp(K)",
                    "A_3 = exp(K)",
                    "output[t,:] = relu(Q[t] A^T + Q[t] A_2^T + Q[t] A_3^T) V",
                ],
            ),
            (
                looped.linear,
                [
                    "p[t,:] = exp(K[t])",
                    "S[0] = 0",
                    "S[t] = S[t - 1] + p[t]^T V[t]",
                    "z[0] = 0",
                    "z[t] = z[t - 1] + p[t]",
                    "output[t,:] = Q[t] S[t] / (Q[t] z[t]^T)",
                ],
            ),
            (
                looped.retention,
                ["S[0] = 0", "S[t] = 9/10 S[t - 1] + K[t]^T V[t]", "out[t,:] = Q[t] S[t]"],
            ),
            (looped.delta, OF_DELTA),
            (torched_loops.delta, OF_DELTA),
            (jaxed_loops.delta, OF_DELTA),
            (torched_loops.rows, [BY_ROWS[0], "w[t,:] = softmax(s[t])", "output[t,:] = w[t] V"]),
            (torched_loops.written, [BY_ROWS[0], "output[t,:] = softmax(s[t]) V"]),
            (torched_loops.linear, STATES),
            (jaxed_loops.scanned, STATES),
        ],
        2,
    ),
)
def test_a_loop_over_tokens_is_read(function: Callable[..., Any], equations: list[str]) -> None:
    assert steps(function) == equations


def test_rows_that_jax_joins_by_sixteens_are_rows_of_one_matrix() -> None:
    """As it does those of 17 tokens, and of 300, in two rounds."""
    assert steps(jaxed_loops.joined) == OF_DELTA
    rows = [jnp.zeros(2)] * 300
    program = jax.make_jaxpr(lambda *rows: jnp.array(rows))(*rows).jaxpr
    joins = [
        sum(x.primitive.name == "concatenate" for x in each)
        for each in (program.eqns, _joined_at_once(program))
    ]
    assert joins == [19 + 2 + 1, 1]


@pytest.mark.parametrize("function", [looped.of_heads, torched_loops.heads])
def test_a_loop_over_heads_is_read(function: Callable[..., Any]) -> None:
    assert steps(function, HEADS)[0] == "s[h] = Q[h] K[h]^T / sqrt(d)"


@pytest.mark.parametrize(
    "function",
    share(
        [
            looped.strictly_causal,
            looped.new_ones_first,
            looped.every_second_kept,
            looped.values_of_before,
            looped.kept_twice,
            looped.of_other_rows,
            looped.mean_so_far,
            looped.growing,
            looped.state_of_two,
            looped.first_otherwise,
            looped.one_left_out,
            looped.written_twice,
            looped.shifted,
            looped.mirrored,
        ],
        3,
    ),
)
def test_a_loop_of_rows_that_are_not_alike_is_refused_by_line(function: Callable[..., Any]) -> None:
    with pytest.raises(SymattnError, match=r"^line \d+: "):
        lift(function)


@pytest.mark.parametrize("function", [looped.appended, looped.retention, looped.of_heads])
def test_what_is_read_gives_the_numbers_of_the_function(function: Callable[..., Any]) -> None:
    is_of_heads = function is looped.of_heads
    draw = np.random.default_rng(3)
    given = {name: draw.normal(size=(2, 4, 3) if is_of_heads else (4, 3)) for name in "QKV"}
    made = lift(function, HEADS if is_of_heads else dict.fromkeys("QKV", ("n", "d"))).equations
    values = made.derivation().evaluate(**given)
    found = values.array(made.whole.steps[-1].letter)
    assert np.allclose(found, function(*given.values()), rtol=1e-12)


MASKED = ["M[i,j] = 0 if j <= i else -inf", "s[t,:] = Q[t] K^T / sqrt(d) + M[t]"]
BY_HAND = ["e_1[t,:] = exp(s[t] - rowmax(s[t]))", "w[t,:] = e_1[t] / rowsum(e_1[t])"]
SQUARE = dict.fromkeys("QKV", ("n", "d"))


@pytest.mark.parametrize(
    ("function", "weights"),
    [
        (looped.decoding, BY_HAND),
        (looped.joined, BY_HAND),
        (torched_loops.cached, ["w[t,:] = softmax(s[t])"]),
        (jaxed_loops.causal, ["w[t,:] = softmax(s[t])"]),
        *share(
            [
                (jaxed_loops.cached, ["w[t,:] = softmax(s[t])"]),
                (torched_loops.causal, ["w[t,:] = softmax(s[t])"]),
            ],
            3,
            2,
        ),
    ],
)
def test_the_keys_up_to_each_token_are_those_that_a_mask_leaves(
    function: Callable[..., Any], weights: list[str]
) -> None:
    assert steps(function, SQUARE) == [*MASKED, *weights, "output[t,:] = w[t] V"]


@pytest.mark.parametrize(
    ("function", "scores", "result"),
    [
        (looped.named_parts, "x[t,:] = Q[t] K^T / sqrt(d) + M[t]", "output[t,:] = w[t] V"),
        (looped.joined_in_a_pair, MASKED[1], "output[t,:] = w[t] V"),
    ],
)
def test_what_is_kept_may_have_names_or_none(function: Any, scores: str, result: str) -> None:
    found = steps(function, SQUARE)
    assert (found[0], found[1], found[-1]) == (MASKED[0], scores, result)


def test_keys_that_are_made_in_the_loop_are_kept_by_their_letter() -> None:
    shapes = {"X": ("n", "d_m"), **dict.fromkeys(("W_Q", "W_K", "W_V"), ("d_m", "d"))}
    assert steps(looped.projected, shapes) == [
        "v[t,:] = X[t] W_V",
        "k[t,:] = X[t] W_K",
        "q[t,:] = X[t] W_Q",
        MASKED[0],
        "s[t,:] = q[t] k^T / sqrt(d) + M[t]",
        BY_HAND[0],
        "out[t,:] = e_1[t] / rowsum(e_1[t]) v",
    ]


LOWER = "D[i,j] = 1 if j <= i else 0"
TWO = {"Q": ("h", "n", "d_k"), "K": ("h", "n", "d_k"), "V": ("h", "n", "d_v")}
_SUMS = "out[t,:] = exp(Q[t] K^T / sqrt(d)) V / rowsum(exp(Q[t] K^T / sqrt(d)))"


@pytest.mark.parametrize(
    ("function", "first", "last"),
    share(
        [
            (looped.added_up, _SUMS, _SUMS),
            (looped.added_so_far, MASKED[0], _SUMS.replace("(d))", "(d) + M[t])")),
            (looped.in_place, "S[t,:] = Q[t] K^T", "output[t,:] = A[t] V"),
            (looped.hidden_before, MASKED[0], "output = A / rowsum(A) V"),
            (looped.hidden_by_entry, MASKED[0], "output = A / rowsum(A) V"),
            (looped.listed, "", "output[t,:] = exp(Q[t] K^T) / rowsum(exp(Q[t] K^T)) V"),
            (looped.weighed_by_scores, LOWER, "output[t,:] = (Q[t] K^T ∘ D[t]) V"),
            (looped.linear_by_parts, LOWER, ""),
            (looped.divided_by_scores, LOWER, "output[t,:] = w[t] / rowsum(w[t]) V"),
        ],
        2,
    ),
)
def test_sums_over_keys_are_products(function: Any, first: str, last: str) -> None:
    found = steps(function, SQUARE)
    assert found[0] == (first or last)
    assert found[-1] == (last or found[-1])


BY_HEADS = {"X": ("n", "d"), **dict.fromkeys(("W_Q", "W_K", "W_V"), ("h", "d", "k"))}


@pytest.mark.parametrize(
    ("function", "shapes", "scores"),
    share(
        [
            (looped.of_heads_in_place, TWO, "s[h] = Q[h] K[h]^T / sqrt(d_k)"),
            (looped.of_heads_by_rows, BY_HEADS, "s[h] = Q[h] K[h]^T / sqrt(k) + M"),
        ],
        2,
    ),
)
def test_rows_inside_of_heads_are_matrices_of_each_head(
    function: Any, shapes: Any, scores: str
) -> None:
    found = steps(function, shapes)
    assert scores in found
    assert "[t" not in "".join(found)


def test_columns_are_rows_turned() -> None:
    assert steps(looped.in_columns)[-1] == "output[t,:] = (w[t] / rowsum(w[t])) V"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (looped.keys_of_the_head_before, HEADS),
        (looped.later_heads_see_less, BY_HEADS),
    ],
)
def test_heads_that_are_not_alike_are_refused(function: Any, shapes: Any) -> None:
    with pytest.raises(SymattnError):
        lift(function, shapes)


@pytest.mark.parametrize(
    "function",
    [
        looped.own_key_twice,
        looped.values_shifted,
        looped.nothing_for_hidden,
        looped.own_score_twice,
    ],
)
def test_sums_of_others_than_the_keys_so_far_are_refused(function: Any) -> None:
    with pytest.raises(SymattnError):
        lift(function, SQUARE)


def test_a_loop_that_does_much_is_run_with_few_tokens() -> None:
    """At 17 queries and 29 keys its formula is too long; as many keys as queries are not meant."""
    assert lift(looped.listed).text.splitlines()[:2] == ["Q : n × d_k", "K : m × d_k"]


def test_a_window_that_begins_with_the_first_key_is_a_band() -> None:
    band = "M[i,j] = 0 if j >= i - 2 and j <= i else -inf"
    assert steps(looped.windowed, SQUARE)[0] == band


def test_scores_of_no_variable_are_masked_too() -> None:
    assert steps(looped.causal_by_parts, SQUARE) == [
        MASKED[0],
        "x[t,:] = Q[t] K^T + M[t]",
        "e_1[t,:] = exp(x[t] - rowmax(x[t]))",
        "out[t,:] = e_1[t] / rowsum(e_1[t]) V",
    ]


@pytest.mark.parametrize("function", [looped.first_doubled, looped.last_doubled])
def test_rows_that_a_mask_does_not_make_are_held_against_the_numbers(function: Any) -> None:
    with pytest.raises(SymattnError, match="at n = 17, d = 23 its own numbers are others"):
        lift(function, SQUARE)


def test_a_loop_is_proven_to_be_what_it_is_without_one() -> None:
    found = prove_programs(looped.appended, looped.by_entries)
    assert found.verdict == "equal at the sizes tried"
    found = prove_programs(looped.appended, looped.growing)
    assert found.verdict == "different"
