"""The axes of `Attention`: scales, masks of each head, groups, and refusals by name."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import VARIANTS, Attention, Notation, SymattnError, Variant, latex, text
from symattn.errors import ShapeError
from symattn.notation.mathml import mathml
from symattn.sheets.worksheet import Worksheet, read_worksheet
from tests.oracle import softmax
from tests.processes import python

RNG = np.random.default_rng(3)


def sheet(tmp_path: Path, words: str) -> Worksheet:
    path = tmp_path / "w.toml"
    path.write_text(words, encoding="utf-8")
    return read_worksheet(path)


def numbers(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).tolist()


# ---- the source --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "source"),
    [
        ({"latent": True}, "self"),
        ({"positions": "learned"}, "self"),
        ({"positions": "sinusoidal"}, "self"),
        ({"tie": "query-key"}, "self"),
        ({"embedded": True}, "self"),
        ({"positions": "rotary"}, "given"),
        ({"tie": "key-value"}, "given"),
    ],
)
def test_a_choice_tells_the_source_where_none_is_said(spec: dict[str, Any], source: Any) -> None:
    assert Attention(**spec).derivation() == Attention(**spec, source=source).derivation()


def test_what_is_given_is_checked_too() -> None:
    spec = Attention(projection_bias=True)
    with pytest.raises(SymattnError, match=r"^projection_bias: nothing is projected here"):
        spec.derivation(given=["Q", "K", "V"])
    derivation = spec.derivation(given=["Q", "K", "V", "W_O", "b_O"])
    assert str(derivation["projected"]) == "Y = O W_O + 1 b_O"


@pytest.mark.parametrize(
    ("tie", "given", "told"),
    [
        ("query-key", ["K", "V"], 'K: with tie = "query-key" K is Q; give Q instead'),
        ("query-key", ["Q", "K", "V"], 'K: with tie = "query-key" K is Q; remove it'),
        ("query-key", ["X", "K", "W_V"], 'K: with tie = "query-key" K is Q; give Q instead'),
        ("query-key", ["X", "W_K", "W_V"], 'W_K: with tie = "query-key" K is Q; give W_Q instead'),
        ("key-value", ["Q", "V"], 'V: with tie = "key-value" V is K; give K instead'),
        ("key-value", ["X", "W_Q", "W_K", "W_V"], 'W_V: with tie = "key-value" V is K; remove it'),
    ],
)
def test_of_two_that_are_tied_the_first_is_given(tie: Any, given: list[str], told: str) -> None:
    with pytest.raises(SymattnError, match=rf"^{re.escape(told)}, or leave tie out$"):
        Attention(tie=tie).derivation(given=given)
    assert Attention(tie="query-key").derivation(given=["Q", "V"]).names[-1] == "output"


@pytest.mark.parametrize(
    ("axis", "value", "message"),
    [
        ("positions", {"rotary": {"foo": 1}}, 'positions: rotary has no option "foo"; known: pair'),
        ("positions", {"learned": {"base": 1}}, 'learned has no option "base"; known: values'),
        ("positions", {"sinusoidal": {"bas": 1}}, 'did you mean "base"'),
        ("bias", {"given": {"foo": 1}}, 'bias: given has no option "foo"; leave it out'),
        ("bias", {"alibi": {"heads": 2}}, 'bias: alibi has no option "heads"'),
        ("bias", {"relative": {"clip": 1, "buckets": 8}}, "leave the other options out"),
        ("mask", {"boolean": 3}, 'mask "boolean" = 3: say true'),
        ("mask", {"additive": "heads"}, 'or "head" (one for each), and give the matrix as mask'),
        ("mask", ["boolean", {"boolean": "head"}], 'mask: "boolean" is named twice'),
        ("mask", {"boolean": "head"}, "mask: a matrix for each head needs heads"),
    ],
)
def test_no_option_is_ignored(axis: str, value: Any, message: str) -> None:
    with pytest.raises(SymattnError) as caught:
        Attention(**{axis: value})
    assert message in str(caught.value)
    assert str(caught.value).startswith(axis)


# ---- groups of heads ---------------------------------------------------------------------------


@pytest.mark.parametrize(("heads", "groups"), [(3, 2), (2, 4), (1, 2), (6, 4)])
@pytest.mark.parametrize("said", ["both", "groups", "heads", "neither"])
def test_groups_that_do_not_divide_the_heads_are_refused(
    heads: int, groups: int, said: str
) -> None:
    spec: dict[str, Any] = {
        "heads": heads if said in ("both", "heads") else "h",
        "kv_heads": groups if said in ("both", "groups") else "g",
    }
    given = {"Q": numbers(heads, 2, 2), "K": numbers(groups, 2, 2), "V": numbers(groups, 2, 2)}
    message = f"^kv_heads: {heads} heads? .*cannot be shared evenly by {groups}"
    with pytest.raises(SymattnError, match=message) as caught:
        Attention(**spec).derivation().evaluate(**given)
    assert "1 heads" not in str(caught.value)


# ---- bare vectors ------------------------------------------------------------------------------


def test_the_width_of_bare_vectors_goes_by_either_name() -> None:
    scores = [[8, 16], [4, 0]]
    for name in ("d_k", "d_model"):
        derivation = Attention(source="bare").derivation(given=["scores"], sizes={name: 16})
        assert derivation.evaluate(scores=scores)["scaled"].exact == sympy.Matrix(scores) / 4
    with pytest.raises(ShapeError, match="has to be 1 × 3"):
        Attention(source="bare").derivation(sizes={"d_k": 3}).evaluate(X=[[1, 2]])
    with pytest.raises(SymattnError, match=r"^d_k: no matrix"):
        Attention(source="bare").derivation(sizes={"d_k": 2, "d_model": 2})


# ---- the scale on both -------------------------------------------------------------------------

BOTH = Attention(scale="d_k^(-1/4)")


@pytest.mark.parametrize(
    "spelling",
    [
        "d_k^(-1/4)",
        "d_k ** (-1/4)",
        "d_k^(−1/4)",
        "d_k^(-0.25)",
        "1/d_k^(1/4)",
        "1 / d_k**(1/4)",
        sympy.Symbol("d_k") ** sympy.Rational(-1, 4),
    ],
)
def test_a_scale_on_both_in_any_spelling(spelling: Any) -> None:
    assert Attention(scale=spelling) == BOTH
    assert Attention(scale=BOTH.scale) == BOTH


@pytest.mark.parametrize("spelling", ["d_k^-1/4", "(d_k^-1)/4", "d_k", "1/d_k^1/4"])
def test_a_scale_that_can_be_read_in_two_ways_is_refused(spelling: str) -> None:
    with pytest.raises(SymattnError, match=r"^scale: "):
        Attention(scale=spelling)


def test_a_scale_on_both_is_written_as_it_is_said() -> None:
    derivation = BOTH.derivation()
    assert derivation.names == ("Q_scaled", "K_scaled", "scores", "weights", "output")
    step = derivation["Q_scaled"]
    assert str(step) == "Q_s = d_k^(−1/4) Q"
    assert latex(step.formula()) == "Q_{s} = d_{k}^{-1/4} Q"
    assert text(step.entry()) == "q^s_ij = d_k^(−1/4) q_ij"
    assert text(step.formula(), charset="ascii") == "Q_s = d_k^(-1/4) Q"
    assert text(step.formula(Notation(convention="columns"))) == "Q_s = d_k^(−1/4) Q"
    power = '<mo form="prefix">−</mo><mn>1</mn><mo lspace="0" rspace="0">/</mo><mn>4</mn>'
    assert f"<msubsup><mi>d</mi><mi>k</mi><mrow>{power}</mrow></msubsup>" in mathml(step.formula())
    assert str(derivation.subs({"d_k": 4})["K_scaled"]) == "K_s = 4^(−1/4) K"
    assert str(derivation["scores"]) == "S = Q_s K_sᵀ"


@pytest.mark.parametrize(
    ("width", "rounded", "exact"),
    [
        (2, "2^(−1/4)·3 ≈ 2.5227", "2^(−1/4)·3 = 3/2^(1/4)"),
        (3, "3^(−1/4)·3 ≈ 2.2795", "3^(−1/4)·3 = 3^(3/4)"),
        (4, "4^(−1/4)·3 ≈ 2.1213", "4^(−1/4)·3 = 3/√2"),
        (16, "16^(−1/4)·3 = 1.5", "16^(−1/4)·3 = 1.5"),
    ],
)
def test_a_scale_on_both_is_worked(width: int, rounded: str, exact: str) -> None:
    row = [3, *numbers(width - 1)]
    value = BOTH.derivation().evaluate(Q=[row], K=[row], V=[[1]])["Q_scaled"]
    assert text(value.worked(1, 1)) == f"q^s_11 = {rounded}"
    assert text(value.worked(1, 1, notation=Notation(exact=True))) == f"q^s_11 = {exact}"


@pytest.mark.parametrize("score", ["cosine", "additive", "shaw", "transformer-xl"])
def test_a_scale_on_both_is_refused_where_it_is_no_scale(score: str) -> None:
    with pytest.raises(SymattnError, match=r"^scale: .*; scale the scores$"):
        Attention(scale="d_k^(-1/4)", score=score)


# ---- masks of each head ------------------------------------------------------------------------

HEADS = """
[attention]
heads = 2
{line}
[given]
Q = [[[1, 0], [0, 1]], [[1, 1], [2, 1]]]
K = [[[1, 0], [0, 1], [1, 2]], [[1, 1], [0, 1], [1, 0]]]
V = [[[1], [2], [3]], [[4], [5], [6]]]
{given}
"""
SEEN = [[[True, False, True], [False, False, False]], [[True, True, False], [False, True, True]]]
TOML = str(SEEN).lower()


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("", f"allowed = {TOML}"),
        ("", f"mask = {TOML}"),
        (f"mask = {TOML}", ""),
        ('mask = "boolean"', f"allowed = {TOML}"),
        ('mask = {boolean = "head"}', f"allowed = {TOML}"),
        ("", '"allowed[1]" = {}\n"allowed[2]" = {}'.format(*(str(s).lower() for s in SEEN))),
        (
            "",
            str([[["0" if x else "-inf" for x in row] for row in one] for one in SEEN]).join(
                ["mask = ", ""]
            ),
        ),
    ],
)
def test_a_worksheet_gives_each_head_its_mask(tmp_path: Path, line: str, given: str) -> None:
    read = sheet(tmp_path, HEADS.format(line=line, given=given))
    derivation = read.derivation()
    assert derivation["masked"].per_head
    assert str(derivation["masked"]) == "G⁽ʰ⁾ = Z⁽ʰ⁾ + M⁽ʰ⁾"
    values = read.evaluate()
    q, k = (np.array(read.given[name], dtype=float) for name in "QK")
    logits = np.where(SEEN, q @ k.swapaxes(1, 2) / math.sqrt(2), -np.inf)
    np.testing.assert_allclose(values["weights"].array, softmax(logits), rtol=1e-14)
    assert values["weights"].array[0, 1].tolist() == [0, 0, 0]
    assert values.check()


def test_masks_of_each_head_need_heads(tmp_path: Path) -> None:
    words = f"[given]\nQ = [[1]]\nK = [[1]]\nV = [[1]]\nallowed = {[[[1]], [[0]]]}\n"
    with pytest.raises(SymattnError, match="Q: allowed is given for each head, Q is not"):
        sheet(tmp_path, words)


@pytest.mark.parametrize("kind", ["boolean", "additive"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_masks_of_each_head_from_python(kind: str, batch: tuple[int, ...]) -> None:
    h, n, m = 3, 2, 4
    given: dict[str, Any] = {
        "Q": RNG.normal(size=(*batch, h, n, 2)),
        "K": RNG.normal(size=(*batch, m, 2)),
        "V": RNG.normal(size=(*batch, m, 2)),
    }
    if kind == "boolean":
        given["allowed"] = RNG.random((h, n, m)) < 0.6
        added = np.where(given["allowed"], 0, -np.inf)
    else:
        given["mask"] = added = RNG.integers(-2, 3, (h, n, m)).astype(float)
    spec = Attention(heads=h, kv_heads=1, mask=[{kind: "head"}, {"padding": 3}])
    values = spec.derivation(given=given).evaluate(**given)
    logits = given["Q"] @ given["K"][..., None, :, :].swapaxes(-1, -2) / math.sqrt(2) + added
    logits[..., 3:] = -np.inf
    np.testing.assert_allclose(values["weights"].array, softmax(logits), rtol=1e-13)


# ---- plans and rows ----------------------------------------------------------------------------


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
def test_specs_and_their_plans_are_hashable(row: Variant) -> None:
    again = replace(row.spec)
    assert (again, hash(again)) == (row.spec, hash(row.spec))
    assert hash(row.spec.settled(None)) == hash(again.settled(None))


def test_lists_and_tables_of_a_spec_cannot_change_it() -> None:
    window: list[int] = [1, 0]
    masks: dict[str, Any] = {"any": [{"window": window}, "causal", {"all": ["causal"]}]}
    spec = Attention(mask=masks, positions={"rotary": {"pairing": "half"}})
    before, printed = hash(spec), str(spec.derivation())
    window[0] = 5
    masks.clear()
    assert (hash(spec), str(spec.derivation())) == (before, printed)
    assert spec == Attention(mask=spec.mask, positions=spec.positions)
    assert "any(window(n, m, 1, 0), causal(n, m))" in printed


NEW_SCORE = """
from symattn.attention.builder import Line
from symattn.attention.scoring import SCORES, Score
from symattn.attention.words import Word

rank = Word("W_L", "W_L", "matrix between queries and keys", learned=True, rows="query.columns",
            columns=1)
narrow = Word("Q_narrow", "Q_n", rule="projection", why="Why.", source="Source.")
lines = Line("Q_narrow", "query W_L"), Line("scores", "Q_narrow W_L^T key^T", why="Why.")
SCORES["low-rank"] = Score(lines, (rank, narrow))

from symattn import Attention, Notation, text
from symattn.sheets.worksheet import worksheet_of

derivation = Attention(score="low-rank", heads=2).derivation()
print(text(derivation["Q_narrow"].formula(Notation(symbols={"W_L": "L"}))))
print([item.name for item in derivation.inputs], derivation.gradient("W_L").names[-1])
one = "[[1], [2]]"
sheet = worksheet_of(f'''
attention = {{score = "low-rank", batch = 1, scale = false}}
given = {{Q = [[[1, 0]]], K = [[[0, 1]]], V = [[[1]]], W_L = {one}}}
claims = {{"Q_narrow[1,1]" = "1"}}
''')
print(sheet.evaluate()["scores"].exact)
"""


def test_a_new_score_is_one_row_with_its_weights() -> None:
    """Its letter can be chosen, its weights are given in worksheets, shared by all of a batch."""
    found = python("-c", NEW_SCORE, seconds=60)
    assert found.stderr == ""
    assert found.stdout.splitlines() == [
        "Q_n⁽ʰ⁾ = Q⁽ʰ⁾ L⁽ʰ⁾",
        "['Q', 'K', 'V', 'W_L'] dW_L",
        "(Matrix([[2]]),)",
    ]
