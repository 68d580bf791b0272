"""The adversary: right functions in unusual style, broken ones, and mutants of the right ones.

What a broken one should be called is said here. They were written with the misconceptions known,
and some of them led to a property or a rule: they are tests, and no estimate of error rates.
`docs/verifying.md` has the table of what came of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError, variant
from symattn.mistakes import OF_PROGRAMS
from symattn.mistakes.programs import PROGRAMS
from symattn.status import Status
from symattn.testing import Verification, assert_attention, verify_attention
from symattn.verifying import verification
from symattn.verifying.inputs import PROPERTIES
from symattn.verifying.own import Meant, meant
from tests import ROOT
from tests.extras import package
from tests.shares import share
from tests.verifying import broken, right, verify
from tests.verifying.mutants import MUTANTS, changed

Array = Any

DOT = Attention()
CAUSAL = Attention(mask="causal")
MASKED = Attention(mask="boolean")
HEADS = Attention(heads="h")
GROUPS = Attention(heads="h", kv_heads="g")
SELF = variant("causal").spec
MULTI = variant("multi-head").spec
GROUPED = variant("grouped-query").spec

RIGHT: Mapping[str, Meant] = {
    "textbook": DOT,
    "with_weights": DOT,
    "every_step": DOT,
    "einsum": DOT,
    "loops": DOT,
    "blockwise": DOT,
    "logsumexp": DOT,
    "in_place_on_copies": DOT,
    "scaled_first": DOT,
    "torch_sdpa": DOT,
    "torch_softmax": DOT,
    "jax_plain": DOT,
    "jax_dot_product": DOT,
    "causal": CAUSAL,
    "causal_told": CAUSAL,
    "causal_with_a_mask": CAUSAL,
    "causal_sdpa": CAUSAL,
    "masked": MASKED,
    "grouped": GROUPS,
    "grouped_by_reshape": GROUPS,
    "tokens_first": HEADS,
    "multi_head": MULTI,
    "multi_head_of_lists": MULTI,
    "grouped_query": GROUPED,
    "jax_dot_product_of_heads": HEADS,
    "powers_of_two": DOT,
    "divided_last": DOT,
    "of_scipy": DOT,
    "query_by_query": SELF,
    "cross": variant("cross").spec,
    "rotary": variant("rotary").spec,
    "rotary_from_one": variant("rotary").spec,
    "linear_bias": variant("alibi").spec,
    "windowed": variant("mistral").spec,
    "soft_capped": Attention(soft_cap=20),
    "latent": variant("multi-head-latent").spec,
    "with_a_sink": variant("sink").spec,
    "additive": variant("bahdanau").spec,
    "gated_delta": meant(variant("gated-deltanet").said),
}

#: The attention that each is to be, the property that fails, and the mistake; "" where it has none.
BROKEN: Mapping[str, tuple[Attention, str, str]] = {
    "divided_by_width": (DOT, "ordinary", "scaled-by-d_k"),
    "no_scale": (DOT, "ordinary", "not-scaled"),
    "scaled_by_tokens": (DOT, "ordinary", "scaled-by-length"),
    "over_queries": (DOT, "ordinary", "softmax-over-columns"),
    "overflowing": (DOT, "large scores", "overflows"),
    "scaled_afterwards": (DOT, "ordinary", "scaled-after-softmax"),
    "softmaxed_twice": (DOT, "ordinary", "softmax-twice"),
    "without_exponentials": (DOT, "ordinary", "ratio"),
    "base_two": (DOT, "ordinary", "base-2"),
    "scores_for_weights": (DOT, "ordinary", "scores-as-weights"),
    "steps_with_unmasked_scores_for_weights": (CAUSAL, "ordinary", ""),
    "steps_not_masked": (CAUSAL, "ordinary", "not-masked"),
    "steps_masked_to_zero": (CAUSAL, "ordinary", "masked-to-0"),
    "steps_divided_by_width": (CAUSAL, "ordinary", "scaled-by-d_k"),
    "steps_transposed": (CAUSAL, "ordinary", "mask-transposed"),
    "steps_that_give_no_number": (CAUSAL, "ordinary", ""),
    "keys_averaged": (DOT, "ordinary", "keys-as-values"),
    "whole_matrix": (DOT, "ordinary", "over-everything"),
    "changes_its_input": (DOT, "ordinary", ""),
    "never_twice_the_same": (DOT, "ordinary", ""),
    "one_row_too_few": (DOT, "ordinary", ""),
    "only_square": (DOT, "rectangular", ""),
    "small_number_added": (DOT, "ordinary", "1e-6-added"),
    "causal_self_minus_1e4": (SELF, "lower scores", "masked-to-minus-1e4"),
    "strictly_and_minus_1e9": (SELF, "ordinary", "mask-strict + masked-to-minus-1e9"),
    "causal_strictly": (CAUSAL, "ordinary", "mask-strict"),
    "causal_at_the_other_corner": (CAUSAL, "rectangular", "mask-other-corner"),
    "causal_transposed": (CAUSAL, "ordinary", "mask-transposed"),
    "not_causal": (CAUSAL, "ordinary", "not-masked"),
    "masked_with_zeros": (CAUSAL, "ordinary", "masked-to-0"),
    "masked_after_softmax": (CAUSAL, "ordinary", "mask-after-softmax"),
    "masked_with_minus_1e4": (MASKED, "fully masked", "masked-to-minus-1e4"),
    "masked_with_minus_1e9": (MASKED, "fully masked", "masked-to-minus-1e9"),
    "lowered_by_1e4": (MASKED, "fully masked", "lowered-by-1e4"),
    "lowered_by_1e9": (MASKED, "fully masked", "lowered-by-1e9"),
    "nan_where_nothing_is_seen": (MASKED, "fully masked", "nothing-to-attend-to"),
    "mask_the_other_way": (MASKED, "ordinary", "mask-inverted"),
    "tiled": (GROUPS, "ordinary", "groups-tiled"),
    "first_group": (GROUPS, "ordinary", "first-group-for-all"),
    "over_heads": (HEADS, "ordinary", "softmax-over-heads"),
    "heads_reversed": (MULTI, "ordinary", "heads-reversed"),
    "heads_interleaved": (MULTI, "ordinary", "heads-interleaved"),
    "heads_merged_by_reshape": (MULTI, "ordinary", "merged-by-reshape"),
    "heads_split_by_reshape": (MULTI, "ordinary", "split-by-reshape"),
    "scaled_by_all_heads": (MULTI, "ordinary", "scaled-by-all-heads"),
    "keys_from_queries": (MULTI, "ordinary", "queries-as-keys"),
    "torch_over_the_wrong_axis": (HEADS, "ordinary", "softmax-over-heads"),
    "torch_divided_by_width": (DOT, "ordinary", "scaled-by-d_k"),
}


def functions(module: Any) -> set[str]:
    """The public functions that a module defines, but for what they share."""
    shared = {"softmax", "attend", "turned", "steps"}
    own = (n for n, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__)
    return {name for name in own if not name.startswith("_")} - shared


def test_every_function_is_judged() -> None:
    assert functions(right) == set(RIGHT)
    assert functions(broken) == set(BROKEN)


#: What the functions of `broken.MADE` are to be.
SPECS: Mapping[str, Attention] = {
    "dot": DOT,
    "causal dot": CAUSAL,
    "groups": GROUPS,
    "sigmoid": Attention(normaliser="sigmoid"),
    "sparsemax": Attention(normaliser="sparsemax"),
    "entmax": Attention(normaliser="entmax15"),
    "bias": Attention(bias="given"),
    "cap": Attention(soft_cap=20),
    "cached rotary": replace(variant("cached").spec, positions="rotary"),
    "rotary of 500,000": replace(SELF, positions=("rotary", (("base", 500_000),))),
}


def test_every_mistake_of_programs_is_made_by_one() -> None:
    names = [row.name for row in OF_PROGRAMS]
    assert len(names) == len({*names})
    made = {mistake for *_, mistake in BROKEN.values()} | {*broken.MADE}
    assert {row.name for row in PROGRAMS} <= made
    assert {*broken.MADE} <= {*names}


@pytest.mark.parametrize("mistake", share(broken.MADE, 64, 29))
def test_a_mistake_is_named(mistake: str) -> None:
    to_be, function = broken.MADE[mistake]
    found = verify(function, SPECS.get(to_be) or variant(to_be).spec)
    assert found.status == Status.WRONG
    assert mistake in [one.name for one in found.explanations]


MASK_VALUES = (-20, -30, -50, -77, -300)


@pytest.mark.nightly
@pytest.mark.parametrize("score", MASK_VALUES)
def test_what_masked_scores_are_set_to_is_found(score: int) -> None:
    def weigh(z: Array, seen: Array, hidden: Array) -> Array:
        return right.softmax(np.where(seen, z, hidden))

    def causal(q: Array, k: Array, v: Array) -> Array:
        z = q @ k.T / np.sqrt(q.shape[1])
        return weigh(z, np.tri(*z.shape) == 1, score) @ v

    def masked(q: Array, k: Array, v: Array, mask: Array) -> Array:
        return weigh(q @ k.T / np.sqrt(q.shape[1]), mask, score) @ v

    def lowered(q: Array, k: Array, v: Array) -> Array:
        z = q @ k.T / np.sqrt(q.shape[1])
        return weigh(z, np.tri(*z.shape) == 1, z + score) @ v

    for function, spec, name, words in (
        (causal, CAUSAL, "masked-to", "masked scores are set to about"),
        (masked, MASKED, "masked-to", "masked scores are set to about"),
        (lowered, CAUSAL, "masked-plus", "about"),
    ):
        found = verify(function, spec)
        assert found.status == Status.WRONG
        (one,) = found.explanations
        assert one.name == f"{name}-minus-{-score}"
        assert one.instead.startswith(f"{words} −{-score} ")


def masked_by(value: Callable[[np.dtype[Any]], float]) -> Callable[..., Array]:
    """Causal attention with another number than −∞ where the mask hides, by dtype."""

    def causal(q: Array, k: Array, v: Array) -> Array:
        z = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1]))
        hidden = z.dtype.type(value(z.dtype))
        return right.softmax(np.where(np.tri(*z.shape[-2:]) == 1, z, hidden)) @ v

    return causal


@pytest.mark.parametrize(
    ("score", "failed", "named"),
    share(
        [
            (-1e4, "lower scores", ["masked-to-minus-1e4"]),
            (-5e4, "much lower scores", []),
            (-65504, "much lower scores", []),
            (-1e6, "much lower scores", []),
            (-1e9, "lowest scores", ["masked-to-minus-1e9"]),
            (-1e10, "scores below float32", []),
            (-1e30, "scores below float32", []),
            (float(np.finfo(np.float32).min), "scores below float32", []),
        ],
        4,
    ),
)
def test_a_masked_score_that_can_win_is_found(score: float, failed: str, named: list[str]) -> None:
    """Whatever finite number it is; that of the dtype alone can lose to no score."""
    found = verify(masked_by(lambda dtype: score), CAUSAL)
    assert (found.failed, found.kind) == (failed, "wrong")
    assert [one.name for one in found.explanations] == named


@pytest.mark.usefixtures("unexplained")
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_masked_score_of_one_dtype_is_found(dtype: str) -> None:
    found = verify(masked_by(lambda own: -1e4 if own == dtype else -np.inf), CAUSAL)
    assert found.failed == f"{dtype}, lowest scores"
    assert not found.agrees


def test_a_masked_score_that_no_other_is_below_is_right() -> None:
    assert verify(masked_by(lambda dtype: float(np.finfo(dtype).min)), CAUSAL).agrees
    assert verify(masked_by(lambda dtype: -np.inf), CAUSAL).agrees


def test_another_number_explains_no_mask() -> None:
    """e^−50 is as near to 0, beside 1, as e^−100 is: of a single sheet nothing can be said."""
    z = np.zeros((2, 2))
    values = CAUSAL.derivation().evaluate(Q=z, K=z, V=z)
    for leak in (math.exp(-50), 1e-22):
        found = values.compare(weights=np.array([[1.0, leak], [0.5, 0.5]]))
        assert not found.passed
        assert not found.explanations


@pytest.mark.usefixtures("unexplained")
def test_a_batch_of_which_one_calculation_is_returned_is_wrong() -> None:
    def dropped(q: Array, k: Array, v: Array) -> Array:
        if q.ndim == 3:
            q, k, v = q[0], k[0], v[0]
        return right.textbook(q, k, v)

    def queries_dropped(q: Array, k: Array, v: Array) -> Array:
        return right.textbook(q[0] if q.ndim == 3 else q, k, v)

    found = verify(dropped, DOT)
    assert (found.failed, found.kind) == ("batched", "shape")
    assert found.message == "it takes a batch of 2 and returns the output of one"
    found = verify(queries_dropped, DOT)
    assert (found.failed, found.kind) == ("batched", "wrong")


@pytest.fixture
def unexplained(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is neither made small nor explained, which takes most of the time."""
    monkeypatch.setattr(verification, "shrunk", lambda failed: failed)
    monkeypatch.setattr(verification, "_runs", lambda outcomes: [])
    monkeypatch.setattr(verification, "explained", lambda runs, *_: ())


def needed(name: str) -> None:
    for library in ("torch", "jax"):
        if library in name or (
            library == "torch" and name in ("grouped_by_reshape", "causal_sdpa")
        ):
            package(library)


@pytest.fixture
def single_precision() -> Iterator[None]:
    """JAX as it is installed, whatever another test has set: its own attention is for float32."""
    jax = package("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("name", share(RIGHT, 9))
@pytest.mark.usefixtures("single_precision")
def test_a_right_function_agrees(name: str) -> None:
    needed(name)
    found = verify(getattr(right, name), RIGHT[name])
    assert found.agrees, str(found)
    assert found.status == Status.AGREES
    assert set(found.lacking) <= {"batched", "values of another width than keys"}
    assert len(found.tried) >= 9


@pytest.mark.parametrize("name", share(BROKEN, 12, 5))
def test_a_broken_function_is_refused_and_its_mistake_named(name: str) -> None:
    needed(name)
    spec, failed, mistake = BROKEN[name]
    found = verify(getattr(broken, name), spec)
    assert found.status == Status.WRONG
    assert found.failed == failed
    assert [each.name for each in found.explanations][:1] == ([mistake] if mistake else [])


@pytest.mark.usefixtures("unexplained")
@pytest.mark.parametrize(("name", "old", "new"), share(MUTANTS, 14))
def test_a_mutant_is_refused(name: str, old: str, new: str) -> None:
    needed(name)
    try:
        found = verify(changed(name, old, new), RIGHT[name])
    except SymattnError:
        return  # it cannot even be called
    assert found.status == Status.WRONG, str(found)


def test_the_smallest_input_still_shows_the_failure() -> None:
    """What is printed as the smallest input is one: NumPy alone disagrees on it."""
    for name in ("divided_by_width", "softmaxed_twice", "base_two", "overflowing", "only_square"):
        found = verify(getattr(broken, name), DOT)
        assert found.input is not None
        q, k, v = (found.input[x] for x in "QKV")
        wanted = right.textbook(q, k, v)
        assert max(q.size, k.size, v.size) <= 4
        try:
            with np.errstate(all="ignore"):
                got = getattr(broken, name)(q, k, v)
        except IndexError:
            continue
        assert not np.allclose(got, wanted, rtol=1e-9, atol=0)


def test_the_true_value_of_the_report_is_that_of_numpy() -> None:
    found = verify(broken.divided_by_width, DOT)
    assert found.input is not None
    assert found.marking is not None
    wanted = right.textbook(*(found.input[x] for x in "QKV"))
    assert f"the true value is {wanted.flat[0]:.4f}" in " ".join(str(found).split())


# ---- what is asked for -------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.usefixtures("unexplained")
def test_every_property_can_fail() -> None:
    """For each property a function that is right but for that one."""

    def small(q: Array, k: Array, v: Array, when: Callable[[Array, Array, Array], bool]) -> Array:
        out = right.textbook(q, k, v)
        return 2 * out + 1 if when(q, k, v) else out

    conditions: dict[str, Callable[[Array, Array, Array], bool]] = {
        "ordinary": lambda q, k, v: q.shape == (3, 4),
        "rectangular": lambda q, k, v: q.shape[-2] < k.shape[-2] == 5,
        "more queries": lambda q, k, v: q.shape[-2] > k.shape[-2],
        "square": lambda q, k, v: q.shape == k.shape == v.shape != (1, 1),
        "one token": lambda q, k, v: q.shape[-2] == k.shape[-2] == 1,
        "large scores": lambda q, k, v: q.min() < -50 and q.dtype == np.float64,
        "low scores": lambda q, k, v: q.min() >= 0 and 50 < q.max() < 79,
        "lower scores": lambda q, k, v: q.min() >= 0 and q.max() > 150,
        "tiny numbers": lambda q, k, v: 0 < np.abs(q).max() < 1e-9,
        "equal scores": lambda q, k, v: not q.any(),
        "other sizes": lambda q, k, v: q.shape[-1] == 2,
        "long fractions": lambda q, k, v: bool((8 * q % 1).any()) and np.abs(q).max() > 1e-9,
        "more tokens": lambda q, k, v: q.shape[-2] == 9,
        "many tokens": lambda q, k, v: q.shape[-2] > 128,
        "batched": lambda q, k, v: q.ndim == 3,
        "not contiguous": lambda q, k, v: not q.flags.c_contiguous,
        "float32": lambda q, k, v: q.dtype == np.float32 and np.abs(q).max() < 50,
        "float32, large scores": lambda q, k, v: q.dtype == np.float32 and np.abs(q).max() > 50,
        "float16": lambda q, k, v: q.dtype == np.float16,
    }
    for name, when in conditions.items():
        found = verify(lambda q, k, v, when=when: small(q, k, v, when), DOT)
        assert (found.failed, found.kind) == (name, "wrong"), name
    asked = {item.name for item in PROPERTIES}
    elsewhere = {"fully masked", "other heads", "bfloat16"}
    elsewhere |= {item.name for item in PROPERTIES if item.hidden or item.backward}
    assert set(conditions) | elsewhere == asked


@pytest.mark.usefixtures("unexplained")
def test_heads_and_bfloat16_can_fail_too() -> None:
    torch = package("torch")

    def six(q: Array, k: Array, v: Array) -> Array:
        return right.grouped(q, k, v) + (len(q) == 6)

    assert verify(six, GROUPS).failed == "other heads"

    def brain(q: Any, k: Any, v: Any) -> Any:
        return right.torch_sdpa(q, k, v) + (q.dtype == torch.bfloat16)

    assert verify(brain, DOT).failed == "bfloat16"


def test_single_precision_is_no_wrong_mathematics() -> None:
    def single(q: Array, k: Array, v: Array) -> Array:
        return right.blockwise(*(x.astype(np.float32) for x in (q, k, v)))

    def widened(q: Array, k: Array, v: Array) -> Array:
        return single(q, k, v).astype(np.float64)

    for function, words in ((single, "returns float32"), (widened, "computes in float32")):
        found = verify(function, DOT)
        assert (found.kind, found.status) == ("inaccurate", Status.UNSETTLED)
        assert words in found.message
        assert found.explanations == ()


def test_half_precision_that_loses_digits_is_told_as_such() -> None:
    def lossy(q: Array, k: Array, v: Array) -> Array:
        out = right.textbook(q, k, v)
        return out * np.float16(1.05) if q.dtype == np.float16 else out

    found = verify(lossy, DOT)
    assert (found.failed, found.kind) == ("float16", "inaccurate")
    assert "is less accurate than rounding explains" in str(found)


# ---- arguments ---------------------------------------------------------------------------------


def test_arguments_are_matched_by_name() -> None:
    def queries_last(values: Array, keys: Array, queries: Array) -> Array:
        return right.textbook(queries, keys, values)

    def positional(q: Array, k: Array, v: Array, /) -> Array:
        return right.textbook(q, k, v)

    def any_number(*matrices: Array) -> Array:
        return right.textbook(*matrices)

    def with_options(
        q: Array, k: Array, v: Array, mask: Array = None, dropout: float = 0.0
    ) -> Array:
        assert mask is None
        assert dropout == 0
        return right.textbook(q, k, v)

    for function in (queries_last, positional, any_number, with_options):
        assert verify(function, DOT).agrees


def test_arguments_are_matched_as_told() -> None:
    def strange(left: Array, right_: Array, payload: Array) -> Array:
        return right.textbook(left, right_, payload)

    with pytest.raises(SymattnError, match='"left" is not known'):
        verify(strange, DOT)
    mapped = {"Q": "left", "K": "right_", "V": "payload"}
    assert verify(strange, DOT, mapped=mapped).agrees
    with pytest.raises(SymattnError, match='no argument "lefty"; did you mean "left"'):
        verify(strange, DOT, mapped={**mapped, "Q": "lefty"})
    with pytest.raises(SymattnError, match="is no matrix of attention"):
        verify(strange, DOT, mapped={"Queries!": "left"})


def test_a_function_without_a_signature_is_called_as_told() -> None:
    torch = package("torch")
    sdpa = torch.nn.functional.scaled_dot_product_attention
    mapped = {"Q": "query", "K": "key", "V": "value"}
    assert verify(sdpa, DOT).agrees
    assert verify(sdpa, MASKED, mapped={**mapped, "allowed": "attn_mask"}).agrees
    with pytest.raises(SymattnError, match="say which is which, as in --map Q=query,K=key,V=value"):
        verify(sdpa, CAUSAL)


@pytest.mark.nightly
def test_parts_of_a_tuple_are_named() -> None:
    def both(q: Array, k: Array, v: Array) -> tuple[Array, Array]:
        out, weights = right.with_weights(q, k, v)
        return weights, out

    assert not verify(both, DOT).agrees
    assert verify(both, DOT, returns=("weights", "output")).agrees
    wrong = verify(lambda q, k, v: (both(q, k, v)[1], 2 * both(q, k, v)[0]), DOT)
    assert wrong.marking is not None
    assert str(wrong.marking.first_wrong) == "weights[1,1]"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda q, k, v: None, "cannot be called: it returns None"),
        (lambda q, k, v: {"rows": q}, "no name is a step"),
        (lambda a, b: a, '"a" is not known'),
        (lambda: 1, "no argument is a matrix"),
        (lambda q, query, k, v: q, "could both be Q"),
        (lambda q, k, v: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda q, k, v: sys.exit(3), "SystemExit: 3"),
        ("attention", "is no function"),
    ],
)
def test_what_cannot_be_called_is_one_line(function: Any, words: str) -> None:
    with pytest.raises(SymattnError) as raised:
        verify(function, DOT, name="f")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("unexplained")
def test_a_property_may_be_left_out() -> None:
    assert not verify(broken.overflowing, DOT).agrees
    skipped = ("large scores", "low scores", "lower scores", "float32, large scores")
    assert verify(broken.overflowing, DOT, skip=skipped).agrees
    with pytest.raises(SymattnError, match="there are ordinary, rectangular"):
        verify(broken.overflowing, DOT, skip=("large",))


# ---- in tests of one's own ---------------------------------------------------------------------


def test_assert_attention_raises_the_report() -> None:
    assert_attention(right.textbook)
    assert_attention(right.causal, CAUSAL)
    with pytest.raises(AssertionError) as raised:
        assert_attention(broken.divided_by_width, "scaled-dot-product")
    assert str(raised.value).startswith("divided_by_width does not agree with scaled-dot-product")
    assert "scaled-by-d_k: the scores are divided by d_k instead of √d_k" in str(raised.value)
    with pytest.raises(SymattnError, match="give an Attention"):
        verify_attention(right.textbook, 3)  # type: ignore[arg-type]  # on purpose
    assert isinstance(verify_attention(right.textbook), Verification)


def test_the_table_of_the_docs_counts_these() -> None:
    page = (ROOT / "docs/verifying.md").read_text(encoding="utf-8")
    named = sum(1 for _, _, mistake in BROKEN.values() if mistake)
    for row in (
        f"| right, in unusual style | {len(RIGHT)} | 0 refused |",
        f"| broken by hand | {len(BROKEN)} | 0 accepted, {named} of {named} mistakes named |",
        f"| one mistake each, of those only programs show | {len(broken.MADE)} | 0 accepted, "
        f"{len(broken.MADE)} of {len(broken.MADE)} mistakes named |",
        f"| one small change in a right one | {len(MUTANTS)} | 0 accepted |",
    ):
        assert row in page
