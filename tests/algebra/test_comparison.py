"""Two attentions compared: partners, ties, the smallest numbers, what is missing."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement, islice
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import (
    VARIANTS,
    Attention,
    Derivation,
    SymattnError,
    Variant,
    derivation,
    equal,
    variant,
)
from symattn.algebra.comparison import ending_with, joined
from symattn.arithmetic.arrays import FLOAT64
from tests.fuzz.attentions import compared
from tests.shares import share

SELF: dict[str, Any] = {"source": "self", "output_projection": True}


def of(name: str | Attention) -> Derivation:
    """The derivation of a spec, or of a variant, perhaps up to a step."""
    if isinstance(name, Attention):
        return name.derivation()
    row, _, step = name.partition("#")
    derivation = variant(row).spec.derivation()
    return ending_with(derivation, step) if step else derivation


EQUAL = [
    ("scaled-dot-product", "unfolded", ()),
    ("multi-head", "multi-head-sum", ()),
    ("multi-head-latent", "absorbed-latent", ()),
    ("perceiver", "set-pooling", ()),
    ("self", "cross", ("memory = X",)),
    ("scaled-dot-product", "biased", ("mask = 0",)),
    ("masked", "scaled-dot-product", ("allowed = 1",)),
    ("learned-positions", "self", ("positions = 0",)),
    ("luong-general", "dot-product", ("W_S = I",)),
    ("scaled-dot-product", "self", ("Q = Q'", "K = K'", "V = V'")),
    ("multi-head", "multi-query", ("W_K = repeat(W_K')", "W_V = repeat(W_V')")),
    ("multi-head", "multi-query", ("W_K = W_K[1]", "W_V = W_V[1]")),
    ("multi-query", "multi-head", ("W_K = W_K[1]", "W_V = W_V[1]")),
    ("multi-head", "multi-query", ("h = 2", "W_K[1] = W_K[2]", "W_V[1] = W_V[2]")),
    ("grouped-query", "multi-head", ("W_K' = repeat(W_K)", "W_V' = repeat(W_V)")),
    ("multi-head#weights[1]", "self#weights", ()),
    (
        "causal#output[p+1:]",
        "cached",
        ("X = [X_p; X']", "K_past = X_p W_K", "V_past = X_p W_V"),
    ),
    (
        "sink",
        Attention(normaliser="softmax-off-by-one", source="self", heads="h", mask="causal"),
        ("sink = 0",),
    ),
    (
        Attention(heads=4, **SELF),
        Attention(heads=4, kv_heads=2, **SELF),
        ("W_K[1] = W_K[2]", "W_V[1]=W_V[2]", "W_K[3] = W_K[4]", "W_V[4] = W_V[3]"),
    ),
]


@pytest.mark.parametrize(("one", "other", "where"), share(EQUAL, 4))
def test_equal_for_all_sizes(
    one: str | Attention, other: str | Attention, where: tuple[str, ...]
) -> None:
    answer = equal(of(one), of(other), where=where)
    assert answer and answer.scope == "for all sizes", answer


DIFFERENT = [
    ("causal", "mistral", ()),
    ("multi-head", "multi-query", ()),
    ("multi-head", "grouped-query", ()),
    ("self", "cross", ()),
    ("causal#weights", "sliding-window#weights", ()),
    ("multi-head", "multi-query", ("h = 3", "W_K[1] = W_K[2]", "W_V = W_V[1]")),
    (
        Attention(heads=4, **SELF),
        Attention(heads=4, kv_heads=2, **SELF),
        ("W_K[1] = W_K[2]", "W_V[1] = W_V[2]", "W_K[3] = W_K[4]"),
    ),
    ("causal#output[p+1:]", "cached", ("X = [X_p; X']", "K_past = X_p W_K")),
]


@pytest.mark.parametrize(("one", "other", "where"), share(DIFFERENT, 4))
def test_different_with_numbers(
    one: str | Attention, other: str | Attention, where: tuple[str, ...]
) -> None:
    """The numbers go into both as they are; what is not said to be the same may be anything."""
    answer = equal(of(one), of(other), where=where)
    assert answer.verdict == "different"
    found = answer.counterexample
    assert found is not None
    assert found.left != found.right
    if "#" in f"{one}{other}":
        return
    sides = []
    for second, side in ((False, of(one)), (True, of(other))):
        numbers = dict(found.values)
        given = {
            item.name: numbers[
                f"{item.name}'" if second and f"{item.name}'" in numbers else item.name
            ]
            for item in side.inputs
        }
        sides.append(side.evaluate(**given)[side.steps[-1].name].array[found.place])
    assert sides == pytest.approx([float(found.left), float(found.right)], abs=1e-5)


def test_the_numbers_are_small() -> None:
    """A window of four keys and all earlier ones differ from the fifth query on, and no sooner."""
    found = equal(of("causal"), of("mistral")).counterexample
    assert found is not None
    shapes = {name: sympy.Matrix(value).shape for name, value in found.values}
    assert shapes == {"X": (5, 1), "W_Q": (1, 1), "W_K": (1, 1), "W_V": (1, 1)}
    assert found.place == (4, 0)


def test_what_is_missing_is_said() -> None:
    answer = equal(of("scaled-dot-product"), of("multi-query"))
    assert answer.verdict == "undecided"
    assert "Q, K and V of the first and X, W_Q, W_K, W_V and W_O of the second" in answer.reason
    assert answer.hint == 'say what they are, as in --where "Q = …"'


def test_steps_of_other_names_are_offered() -> None:
    assert "Q_rotated'" in equal(of(Attention(mask="causal")), of("rotary")).notes[-1]


@pytest.mark.parametrize(
    ("other", "holds"),
    [
        ("Q_r = X W; K = X U; A = softmax(Q_r Q_r^T)", True),  # whatever Q_r is
        ("Q_r = X W; K = X W; A = softmax(Q_r K^T)", True),  # for what it is alone
        ("Q_r = X W; K = X U; A = softmax(Q_r K^T)", False),
    ],
)
def test_an_offer_is_tried_with_its_steps_as_inputs_and_as_they_are(
    other: str, holds: bool
) -> None:
    answer = equal(derivation("A = softmax(Q Q^T)"), derivation(other))
    assert answer.verdict == "undecided"
    assert ("where Q = Q_r', the answer is: equal (for all sizes)" in answer.notes) is holds


@pytest.mark.parametrize(
    ("one", "other", "verdict", "says"),
    [
        ("scaled-dot-product", "self", "equal", "Q = Q' and K = K' and V = V'"),
        ("cross", "scaled-dot-product", "equal", "Q' = Q and K' = K and V' = V"),
        ("scaled-dot-product", "causal", "different", "Q = Q' and K = K' and V = V'"),
    ],
)
def test_inputs_are_the_steps_of_their_names(one: str, other: str, verdict: str, says: str) -> None:
    answer = equal(of(one), of(other))
    assert answer.verdict == verdict
    assert answer.notes[0] == f"where {says}"


def test_what_would_make_them_equal_is_offered() -> None:
    answer = equal(of("scaled-dot-product"), of("biased"))
    assert answer.verdict == "different"
    assert answer.notes[-1].startswith("where mask = 0, the answer is: equal")
    assert "W_K = repeat(W_K')" in equal(of("multi-head"), of("multi-query")).notes[-1]
    assert not equal(of("causal"), of("mistral")).notes


def test_partners_are_told() -> None:
    joint = joined(of("multi-head"), of("multi-head-sum"), (), {})
    assert joint.says == ("W_O' = split(W_O)",)
    assert joint.alone == ((), ())
    joint = joined(of("self"), of("cross"), ("memory = X",), {})
    assert joint.says == ("d_mem = d_model", "m = n")
    joint = joined(of("multi-head"), of("grouped-query"), (), {})
    assert joint.says[0] == "W_K' = the first of each group of W_K"


def test_one_derivation_is_itself() -> None:
    for name in ("deepseek", "cached-llama", "hard"):
        assert equal(of(name), of(name)).scope == "for all sizes"


REFUSED = [
    ("alibi", "causal", (), "matrices of different shapes"),
    ("causal", "cached", ("X = [X_p; X']", "K_past = X_p W_K"), "#output[p+1:]"),
    ("multi-head#weights", "self#weights", (), "choose a head"),
    ("multi-head", "multi-query", ("W_K[1] = W_K[2]",), "the number of heads is open"),
    ("multi-head", "multi-query", ("h = 2", "W_K[1] = W_K[3]"), "has 2 heads"),
    ("self", "cross", ("memory = W_Q W_K",), ""),
    ("self", "multi-head", ("W_Q' = repeat(W_Q')",), ""),
    ("self", "causal", ("nothing",), "two sides are needed"),
    ("multi-head", "self", ("W_Q^T W_Q = I",), "one matrix for each head"),
    ("self", "causal", ("scores = scores'",), "is a step"),
]


@pytest.mark.parametrize(("one", "other", "where", "words"), REFUSED)
def test_refusals(one: str, other: str, where: tuple[str, ...], words: str) -> None:
    with pytest.raises(SymattnError) as refusal:
        equal(of(one), of(other), where=where)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("nothing", "no step is called"),
        ("weights[0]", "give a head"),
        ("weights[x]", "all heads"),
        ("output[0:]", "give a head"),
        ("output[:", "no step is called"),
    ],
)
def test_steps_that_are_none(step: str, words: str) -> None:
    with pytest.raises(SymattnError) as refusal:
        ending_with(of("causal"), step)
    assert words in str(refusal.value)


def test_ties_mean_what_they_say() -> None:
    """The inputs of both, made of those that are left open."""
    joint = joined(
        of(Attention(heads=4, **SELF)),
        of(Attention(heads=4, kv_heads=2, **SELF)),
        ("W_K[1] = W_K[2]", "W_K[4] = W_K[3]"),
        {},
    )
    letters = {i.letter: i for side in (joint.left, joint.right) for i in side.inputs}
    sizes = {s: 2 for side in (joint.left, joint.right) for s in side.size_symbols}
    given = {}
    for number, (letter, item) in enumerate(letters.items()):
        count = () if item.count is None else (int(item.count),)
        shape = (*count, *(int(sympy.sympify(x).subs(sizes)) for x in item.shape))
        given[letter] = 100.0 * number + np.arange(np.prod(shape)).reshape(shape)
    shown = joint.shown(given, FLOAT64, sizes)
    keys, groups = shown["W_K"], shown["W_K'"]
    assert (keys[0] == keys[1]).all() and (keys[2] == keys[3]).all()
    assert (groups[0] == keys[0]).all() and (groups[1] == keys[2]).all()
    assert (shown["W_V'"][1] == shown["W_V"][2]).all() and (
        shown["W_V"][2] != shown["W_V"][3]
    ).any()


@pytest.mark.parametrize(
    ("one", "other"),
    share(islice(combinations_with_replacement(VARIANTS, 2), 0, None, 5), 48),
)
def test_pairs_of_variants(one: Variant, other: Variant) -> None:
    """Every answer is what NumPy's numbers say."""
    assert not compared(one, other)[1]


@pytest.mark.parametrize("text", ["x = 1", "1 = 1", "x = y", "softmax(Y) = Y"])
@pytest.mark.parametrize(
    "sides",
    [
        "scaled-dot-product causal",
        "multi-head grouped-query",
        "deepseek absorbed-latent",
        "dot-product bare",
        "self cross",
        "causal masked",
        "Q K^T = (K Q^T)^T",
        "softmax(S) = S",
        "c A = A c",
    ],
)
def test_an_assumption_about_nothing_in_the_statement_is_refused(sides: str, text: str) -> None:
    if "Y" in text and "=" not in sides:
        return  # Y may be an output of theirs, which is refused in other words
    given = [sides] if "=" in sides else [of(name) for name in sides.split()]
    with pytest.raises(SymattnError, match=f"where {re.escape(text)}: nothing in the statement"):
        equal(*given, where=[text])


@pytest.mark.parametrize(
    ("sides", "assumed"),
    [
        ("A B = A", ["B = I"]),
        ("A B = A", ["B = C", "C = I"]),
        ("c A = A", ["c = d", "d = 1"]),
        ("A / d_k = A", ["d_k = 1"]),
        ("u^T v = 0", ["v = 0"]),
    ],
)
def test_an_assumption_that_others_lead_to_is_used(sides: str, assumed: list[str]) -> None:
    assert equal(sides, where=assumed).verdict == "equal"


def test_a_matrix_of_each_head_is_no_matrix_of_all() -> None:
    shapes = {"X": ("n", "d_model"), "W_Q": ("d_model", "d_k"), "M": ("d_k", "d_out")}
    told = (
        "W_Q: is d_model × d_k for each of h heads in one place and d_model × d_k in another; "
        "these are different inputs"
    )
    with pytest.raises(SymattnError, match=re.escape(told)):
        equal(of(Attention(heads="h", **SELF)), "X W_Q M", shapes=shapes)
