"""Derivations written as texts and read back, and what single constructs mean."""

from __future__ import annotations

import numpy as np
import pytest

from symattn import VARIANTS, Variant, latex, text
from symattn.attention.example import small_example
from symattn.errors import ReadError, SymattnError
from symattn.language.equations import derivation_of
from symattn.language.writing import written
from tests.language.literature import WORKS
from tests.language.texts import CASES
from tests.shares import share


@pytest.mark.parametrize("name", ["scaled-dot-product", "causal", "self", "biased", "masked"])
def test_what_is_written_reads_back(name: str) -> None:
    (spec,) = (each.spec for each in VARIANTS if each.name == name)
    derived, values = small_example(spec)
    again = derivation_of(written(derived))
    given = {item.letter: values[item.name].array for item in derived.inputs}
    names = {item.letter: item.name for item in again.inputs}
    found = again.evaluate(**{names[letter]: x for letter, x in given.items()})
    last, other = derived.names[-1], again.names[-1]
    np.testing.assert_allclose(found[other].array, values[last].array, rtol=1e-12, atol=1e-14)
    equations, others = (written(one).splitlines()[1:] for one in (derived, again))
    assert equations == others  # the first line lists what is given, in the order of its use


@pytest.mark.parametrize(
    ("row", "heads"),
    share(
        (
            (row, heads)
            for row in VARIANTS
            for heads in ((None,) if row.spec.heads is None else (None, 1, 2, 4))
        ),
        3,
    ),
    ids=lambda one: one.name if isinstance(one, Variant) else str(one),
)
def test_every_variant_is_written_and_read_back(row: Variant, heads: int | None) -> None:
    first = row.spec.derivation() if heads is None else small_example(row.spec, heads=heads)[0]
    text = written(first)
    second = derivation_of(text)
    assert written(second).splitlines()[-len(first) :] == text.splitlines()[-len(first) :]
    assert [step.shape for step in first] == [step.shape for step in second]


def test_a_line_says_how_many_heads_there_are() -> None:
    text = "n_h = {}; A[h] = softmax(Q[h] K[h]^T / sqrt(n_h)); O = concat_h(A[h] V[h]) W_O"
    for heads in (1, 2, 3):
        whole = derivation_of(text.format(heads))
        assert whole.known_sizes["h"] == heads
        given = {name: np.ones((heads, 2, 2)) for name in "QKV"} | {"W_O": np.eye(2 * heads)}
        assert whole.evaluate(**given)["O"].array.shape == (2, 2 * heads)
    with pytest.raises(ReadError, match="line 1, character 7: n_h is a whole number from 1"):
        derivation_of(text.format("1/2"))
    with pytest.raises(SymattnError):
        derivation_of(text.format(3)).evaluate(**given | {"Q": np.ones((2, 2, 2))})


def test_constructs_of_the_language_are_written() -> None:
    for case in (*CASES, *WORKS):
        whole = derivation_of(case.text)
        again = derivation_of(written(whole))
        assert [str(step.expr) for step in whole] == [str(step.expr) for step in again], case.name


def test_a_number_that_is_declared_may_be_made() -> None:
    whole = derivation_of("c : number; c = sum(X); O = c X")
    assert whole.evaluate(X=[[1, 2]])["O"].array.tolist() == [[3, 6]]
    with pytest.raises(ReadError, match="line 1, character 17"):
        derivation_of("s : number; s = X; O = s X")


def test_cases_are_not_raised() -> None:
    entry = derivation_of("A = softmax(S + causal())")["A"].entry()
    above, below = text(entry).splitlines()
    assert above == "a_ij = exp⎛ s_ij + ⎧ 0   if j ≤ i  ⎞ / Σ_l exp⎛ s_il + ⎧ 0   if l ≤ i  ⎞"
    assert below.split() == ["⎝", "⎩", "−∞", "otherwise", "⎠"] * 2
    assert "^" not in latex(entry).replace(r"\sum_{l = 1}^{m}", "")


def test_a_quotient_behind_a_factor_keeps_its_brackets() -> None:
    for own in ("O = A (V / rowsum(V))", "O = A (V / c)", "O = A (c V)"):
        whole = derivation_of(own)
        assert written(whole).splitlines()[-1] == own
        assert str(derivation_of(written(whole))) == str(whole)


@pytest.mark.parametrize("said", ["", "z[t] : d_k × 1"])
def test_a_state_of_columns_is_a_column(said: str) -> None:
    """Beside a state that is a matrix, too, in a quotient by what is made of it."""
    whole = derivation_of(f"""
        {said}
        S[t] = S[t-1] + K[t]^T V[t];  S[0] = 0
        z[t] = z[t-1] + K[t]^T;  z[0] = 0
        O[t,:] = Q[t] S[t] / (Q[t] z[t])
    """)
    assert [str(step.shape[1]) for step in whole] == ["d_v", "1", "d_v"]
    assert "1ᵀ" not in str(whole)
    with pytest.raises(ReadError, match=r"line 1, character 1: the text makes z\[t\]; write z\[t"):
        derivation_of("z : d_k × 1; z[t] = z[t-1] + K[t]^T")


def test_the_columns_of_one_head_are_cut_from_those_of_all() -> None:
    """By NumPy's slices, for two and three heads; written out and read, it is the same."""
    text = """
    X : n × d;  W_Q : d × n_h*d_k
    Q = X W_Q
    P[h] = Q[:, (h-1) d_k + 1 : h d_k]
    R[h] = (Q^T)[(h-1) d_k + 1 : h d_k, :]
    O = concat_h(P[h] R[h] P[h])
    """
    draw = np.random.default_rng(0)
    X, W_Q = draw.normal(size=(3, 4)), draw.normal(size=(4, 6))
    for heads in (2, 3):
        made = derivation_of(f"n_h = {heads}\n{text}")
        parts = np.split(X @ W_Q, heads, axis=1)
        expected = np.concatenate([part @ part.T @ part for part in parts], axis=1)
        np.testing.assert_allclose(made.evaluate(X=X, W_Q=W_Q)["O"].array, expected, rtol=1e-12)
        again = derivation_of(written(made))
        assert [step.expr for step in again] == [step.expr for step in made]
