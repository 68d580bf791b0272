"""Variants that equations say, as worksheets, commands and functions take them by name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from symattn import TEXTS, VARIANTS, Variant, variant
from symattn.errors import SymattnError
from symattn.sheets.worksheet import worksheet_of
from symattn.sheets.writing import starter
from symattn.testing import verify_attention
from tests.command import assert_refused, run

_GIVEN = "[given]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\nQ = [[1, 1], [2, 0]]\n"


def test_every_name_is_one() -> None:
    names = [row.name for row in (*VARIANTS, *TEXTS)]
    assert len(names) == len({*names})
    assert all(re.search(r"\((19|20)\d\d\)", row.source) for row in TEXTS)


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: row.name)
def test_a_worksheet_begins_with_it(row: Variant) -> None:
    text = starter(row)
    sheet = worksheet_of(text)
    assert sheet.evaluate().check().agrees
    assert {item.name for item in sheet.derivation().inputs} == {*sheet.given}
    claimed = re.sub(r'^# (?=\[claims\]|"\w+\[)', "", text, flags=re.MULTILINE)
    assert claimed != text
    run("check", "-", given=claimed, status=0)


def test_its_equations_take_the_place_of_choices() -> None:
    with pytest.raises(SymattnError, match="mask: is said by the equations"):
        worksheet_of(f'[attention]\nvariant = "gated-deltanet"\nmask = "causal"\n{_GIVEN}')
    with pytest.raises(SymattnError, match="deltanet: equations say it, not choices"):
        variant("deltanet").spec  # noqa: B018


def test_equations_go_on_top_of_it() -> None:
    numbers = 'alpha = [["1/2"], ["1/3"]]\nbeta = [[1], [2]]\n'
    table = f'[attention]\nvariant = "gated-deltanet"\n{_GIVEN}{numbers}'
    once = worksheet_of(table).evaluate()["output"].array
    twice = worksheet_of(f'equations = "output O[t,:] = 2 Q[t] S[t]"\n{table}').evaluate()
    assert np.abs(once).max() > 0.1
    np.testing.assert_allclose(twice["output"].array, 2 * once)


def test_names_of_tokens_are_those_of_its_rows() -> None:
    sheet = worksheet_of(starter(variant("linformer")))
    assert "E" in sheet.given
    assert "one_hot" not in sheet.given  # an E of equations is no embedding
    for name in ("linformer", "gated-linear"):  # which have, and have not, a second sequence
        derivation = worksheet_of(starter(variant(name))).derivation()
        assert ("the", "cat", "sat") in derivation.labels.values()


def test_a_function_is_held_against_it() -> None:
    def retention(x: Any, w_q: Any, w_k: Any, w_v: Any, gamma: Any) -> Any:
        def turned(z: Any) -> Any:
            n, width = z.shape[-2:]
            angle = np.arange(n)[:, None] * 10000.0 ** (-2 * np.arange(width // 2) / width)
            a, b = z[..., ::2], z[..., 1::2]
            pairs = (a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle))
            return np.stack(pairs, -1).reshape(z.shape)

        q, k, v = turned(x @ w_q), turned(x @ w_k), x @ w_v
        far = np.arange(x.shape[-2])[:, None] - np.arange(x.shape[-2])
        decay = np.where(far >= 0, np.reshape(gamma, ()) ** np.maximum(far, 0), 0)
        return (decay * (q @ k.mT)) @ v

    assert verify_attention(retention, "retention").agrees
    swapped = {"W_Q": "w_k", "W_K": "w_q", "X": "x"}
    assert not verify_attention(retention, "retention", mapped=swapped).agrees


@pytest.mark.parametrize(
    "words",
    [
        ("mamba-2", "mamba-2-dual"),
        ("retention", "retention-recurrent", "--where", "gamma positive"),
    ],
)
def test_the_recurrent_form_is_the_parallel_one(words: tuple[str, ...]) -> None:
    shown = run("prove", *words, status=0).stdout
    assert "equal (for all sizes" in shown


def test_the_command_line_takes_the_name() -> None:
    written = run("derive", "deltanet", "--format", "equations", status=0).stdout
    assert "K[t]^T (V[t] - K[t] S[t-1])" in written
    assert "talking-heads" in run("variants", status=0).stdout
    shown = run("derive", "gated", "--size", "heads=3", "--view", "formula", status=0).stdout
    assert shown.startswith("Gated attention") and "n_h = 3" in shown
    assert_refused(run("derive", "deltanet", "--size", "heads=3"), "no heads")
