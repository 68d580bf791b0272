"""Specs, derivations and steps: what is built, in which order, from what is given."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import sympy

from symattn import VARIANTS, Attention, Derivation, SymattnError, latex, text, variant
from symattn.attention.vocabulary import SYMBOLS
from symattn.derivations import Input, Step
from symattn.errors import ShapeError
from tests import ROOT

n, m = sympy.symbols("n m", integer=True, positive=True)


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
def test_every_variant_builds_prints_and_pickles(row: Any) -> None:
    derivation = row.spec.derivation()
    assert all(name in SYMBOLS for name in derivation.names)
    assert pickle.loads(pickle.dumps(derivation)) == derivation
    for step in derivation:
        assert step.reason and step.rule and step.source
        assert str(step).split(" = ")[0] == text(step.formula()).split(" = ")[0]
        assert latex(step.entry())
    assert row.source and row.about
    assert variant(row.name) is row


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["scores"], ("scaled", "weights")),
        (["scaled"], ("weights",)),
        (["Q", "K"], ("scores", "scaled", "weights")),
        (["weights", "V"], ("output",)),
        (["Q", "K", "V", "W_O"], ("scores", "scaled", "weights", "output", "projected")),
        (["X", "W_Q", "W_K"], ("Q", "K", "scores", "scaled", "weights")),
        (["X", "W_Q", "K", "V"], ("Q", "scores", "scaled", "weights", "output")),
        (["scores", "X", "W_V"], ("V", "scaled", "weights", "output")),
    ],
)
def test_a_derivation_starts_where_something_is_given(given: list[str], names: Any) -> None:
    derivation = Attention().derivation(given)
    assert derivation.names == names
    assert {item.name for item in derivation.inputs} == set(given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["X"], "leads to no step"),
        (["V"], "leads to no step"),
        (["scores", "Q"], "Q: no step needs it"),
        (["scoers"], "not part of this derivation"),
        ([], "leads to no step"),
    ],
)
def test_what_leads_nowhere_is_refused(given: list[str], why: str) -> None:
    with pytest.raises(SymattnError, match=why):
        Attention().derivation(given)


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"source": "slef"}, 'did you mean "self"'),
        ({"mask": "casual"}, 'did you mean "causal"'),
        ({"mask": 3}, "name a mask"),
        ({"normaliser": "sotfmax"}, 'did you mean "softmax"'),
        ({"normaliser": "sum", "unfold": True}, "only a softmax"),
        ({"heads": 0}, "whole number from 1"),
        ({"heads": True}, "whole number from 1"),
        ({"scale": 0}, "other than 0"),
        ({"scale": "big"}, "names and code are not read"),
        ({"embedded": 1}, "true or false"),
        ({"output_projection": "yes"}, "true or false"),
    ],
)
def test_choices_that_do_not_exist_are_refused(choices: dict[str, Any], why: str) -> None:
    with pytest.raises(SymattnError, match=why):
        Attention(**choices)


def test_sizes_can_be_put_in() -> None:
    derivation = Attention(source="self", heads="h").derivation().subs({"n": 3, "d_k": 2, "h": 2})
    assert derivation["scores"].shape == (3, 3)
    assert str(derivation["concat"]) == "H = [O⁽¹⁾, O⁽²⁾]"
    with pytest.raises(SymattnError, match="no size is called"):
        derivation.subs({"d_q": 3})


def test_shapes_are_checked_when_a_step_is_made() -> None:
    left, right = sympy.MatrixSymbol("Q", n, m), sympy.MatrixSymbol("K", m + 1, m)
    with pytest.raises(ShapeError, match=r"scores: Q \(n × m\) times K \(m \+ 1 × m\)"):
        Step("scores", sympy.MatrixSymbol("S", n, m), sympy.MatMul(left, right))
    with pytest.raises(ShapeError, match="declared m × m"):
        Step("copy", sympy.MatrixSymbol("S", m, m), sympy.MatrixSymbol("Q", n, m))
    with pytest.raises(ShapeError, match="need the same shape"):
        added = sympy.MatAdd(left, right)
        Step("sum", sympy.MatrixSymbol("S", n, m), added)


def test_a_step_cannot_read_what_is_not_made_yet() -> None:
    q, a = sympy.MatrixSymbol("Q", n, m), sympy.MatrixSymbol("A", n, m)
    step = Step("weights", a, 2 * q)
    with pytest.raises(SymattnError, match="before any step makes it"):
        Derivation((), (step,))
    with pytest.raises(SymattnError, match="names another matrix"):
        Derivation((Input("Q", q), Input("weights", a)), (step,))


def test_unknown_steps_are_named_with_the_nearest() -> None:
    with pytest.raises(SymattnError, match='did you mean "scores"'):
        Attention().derivation()["sores"]


def test_jupyter_shows_mathematics() -> None:
    derivation = Attention().derivation()
    shown = derivation._repr_mimebundle_()
    assert shown["text/latex"].count(r"\\") == 3
    assert shown["text/plain"] == str(derivation)
    values = derivation.evaluate(Q=[[1]], K=[[1], [2]], V=[[1], [2]])
    assert r"\begin{array}" in values["weights"]._repr_mimebundle_()["text/markdown"]


def test_the_example_in_python_runs() -> None:
    import runpy

    runpy.run_path(str(ROOT / "examples/derive_in_python.py"))


def test_the_notebook_runs() -> None:
    import json

    path = ROOT / "examples/derive.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    sources = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    for source in sources:
        exec(source, names)
    assert names["values"].check().agrees
    assert len(sources) >= 5
