"""Two functions proven the same, told apart by numbers, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symattn.documents import text
from symattn.errors import SymattnError
from symattn.lifting.comparing import prove_programs
from symattn.lifting.report import proven_data, proven_document
from tests import ROOT
from tests.extras import package
from tests.lifting import attentions, liars


def plain(Q: Any, K: Any, V: Any) -> Any:
    scores = Q @ K.T / np.sqrt(K.shape[1])
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ V


def divided_late(value: Any, key: Any, query: Any) -> Any:
    e = np.exp(query @ key.T * key.shape[1] ** -0.5)
    return (e @ value) / e.sum(axis=1, keepdims=True)


def with_weights(Q: Any, K: Any, V: Any) -> Any:
    return plain(Q, K, V), Q


def of_other_names(a: Any, b: Any, c: Any) -> Any:
    return a @ b @ c


def by_chance(Q: Any, K: Any, V: Any) -> Any:
    return plain(Q, K, V) + np.random.default_rng().normal()


def beyond_many(Q: Any, K: Any, V: Any) -> Any:
    return plain(Q, K, V) + (len(Q) > 200)


def test_functions_of_other_names_and_order_are_the_same_for_all_sizes() -> None:
    found = prove_programs(plain, divided_late)
    assert (found.verdict, found.status) == ("equal for all sizes", 0)


def test_a_loop_is_the_same_at_sizes() -> None:
    tried = prove_programs(plain, attentions.online)
    given = prove_programs(plain, attentions.online, sizes={"n": 2, "m": 3, "d_k": 2, "d_v": 1})
    assert (tried.verdict, tried.status) == ("equal at the sizes tried", 4)
    assert (given.verdict, given.status) == ("equal at the sizes given", 0)


def test_what_begins_at_many_tokens_is_not_said_of_all_sizes() -> None:
    assert prove_programs(plain, beyond_many).verdict == "equal at the sizes tried"


@pytest.mark.parametrize("name", ["online_not_rescaled", "scaled_by_the_values"])
def test_wrong_ones_are_told_apart_by_numbers(name: str) -> None:
    other = getattr(attentions, name)
    found = prove_programs(plain, other)
    assert (found.verdict, found.status) == ("different", 1)
    assert found.difference is not None
    given = found.difference.given
    assert not np.allclose(plain(**given), other(**given), atol=1e-6)
    assert max(sum(array.shape) for array in given.values()) <= 5
    assert proven_data(found)["difference"]["said"] == found.difference.said
    assert "of the second" in " ".join(text.write([proven_document(found)]).split())


def cancelled(Q: Any, K: Any, V: Any) -> Any:
    return plain(Q, K, (V + 1e12) - 1e12)


def beyond_twenty(Q: Any, K: Any, V: Any) -> Any:
    return plain(Q, K, V) + (0.001 if len(Q) > 16 else 0.0)


def test_what_rounding_alone_makes_is_no_difference() -> None:
    found = prove_programs(plain, cancelled)
    assert found.verdict == "undecided"
    assert "by rounding it may be" in found.reason


def of_nearly_the_same_power(Q: Any, K: Any, V: Any) -> Any:
    e = np.exp(Q @ K.T / np.sqrt(K.shape[1])) ** 1.00000001
    return e / e.sum(axis=1, keepdims=True) @ V


def test_a_power_is_none_that_is_near_it() -> None:
    found = prove_programs(plain, of_nearly_the_same_power)
    assert found.verdict == "different"


def test_a_difference_of_large_sizes_is_shown_by_sizes_as_small_as_that_takes() -> None:
    found = prove_programs(plain, beyond_twenty)
    assert found.verdict == "different"
    assert found.difference is not None
    assert "of the first and" in found.difference.said
    assert {name: array.shape for name, array in found.difference.given.items()} == {
        "Q": (17, 1),
        "K": (1, 1),
        "V": (1, 1),
    }


def test_chance_is_undecided() -> None:
    assert "called again" in prove_programs(plain, by_chance).reason


@pytest.mark.parametrize(
    ("other", "sizes", "why"),
    [
        (of_other_names, {}, 'its argument "Q" is none of of_other_names'),
        (with_weights, {}, "they return other things"),
        (divided_late, {"h": 2}, "--size h"),
    ],
)
def test_what_does_not_match_is_refused(other: Any, sizes: dict[str, int], why: str) -> None:
    with pytest.raises(SymattnError, match=why):
        prove_programs(plain, other, sizes=sizes)


def in_two_heads(Q: Any, K: Any, V: Any) -> Any:
    heads = zip(*(np.split(x, 2, axis=1) for x in (Q, K, V)), strict=True)
    return np.concatenate([plain(*one) for one in heads], axis=1)


def in_heads_of_other_columns(Q: Any, K: Any, V: Any) -> Any:
    q, k, v = (x.reshape(len(x), -1, 2) for x in (Q, K, V))
    return np.concatenate([plain(q[..., h], k[..., h], v[..., h]) for h in (0, 1)], axis=1)


def by_views(Q: Any, K: Any, V: Any) -> Any:
    q, k, v = (x.reshape(len(x), 2, -1).swapaxes(0, 1) for x in (Q, K, V))
    e = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]))
    return (e / e.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(len(Q), -1)


def test_sizes_may_be_products() -> None:
    shapes = {"Q": ("n", "2*d_k"), "K": ("m", "2*d_k"), "V": ("m", "2*d_v")}
    assert prove_programs(in_two_heads, by_views, shapes).verdict == "equal at the sizes tried"
    assert prove_programs(in_heads_of_other_columns, by_views, shapes).verdict == "different"
    with pytest.raises(SymattnError, match=r"--size 2\*d_k: the sizes are n, d_k, m, d_v"):
        prove_programs(in_two_heads, by_views, shapes, {"2*d_k": 4})


def test_what_is_added_at_places_is_followed() -> None:
    assert prove_programs(attentions.added_at_places, plain).verdict == "equal at the sizes tried"


def test_a_function_that_takes_other_shapes_is_refused() -> None:
    with pytest.raises(SymattnError, match="cannot be called"):
        prove_programs(plain, divided_late, {"Q": ("n", "d_k"), "K": ("m", "n")})


def test_functions_of_two_libraries_are_the_same() -> None:
    package("torch")
    target = f"{ROOT / 'tests/lifting/torched'}.py:sdpa"
    assert prove_programs(plain, target).verdict == "equal for all sizes"
    wrong = f"{ROOT / 'tests/lifting/torched'}.py:causal_strictly"
    assert prove_programs(plain, wrong).verdict == "different"


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (liars.not_below, liars.same, "an entry has another form"),
        (liars.rounded_away, liars.same, "the program goes on without"),
        (liars.halved_if_large, liars.same, "the program goes on without"),
        (liars.clipped_if_real, liars.same, ""),
        (liars.clipped_if_double, liars.same, ""),
        (liars.nothing_near_a_half, liars.same, ""),
        (liars.with_nothing, liars.same, ""),
        (liars.of_largest, liars.same, "max with options"),
        (liars.softplus_of_beta, liars.log_of_sum, "a threshold below 20"),
        (liars.halved_by_jax, liars.same, "the program goes on without"),
        (liars.summed_tenths, liars.hundredfold, ""),
        (liars.to_a_power, liars.times_its_root, ""),
    ],
)
def test_what_is_recorded_of_a_function_that_is_another_proves_nothing(
    one: Any, other: Any, why: str
) -> None:
    found = prove_programs(one, other, {"x": ("n", "d")})
    assert found.verdict in ("undecided", "different")
    assert why in found.reason
