"""Attentions of the literature as texts: values, gradients, documents and programs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from symattn import document
from symattn.errors import SymattnError
from symattn.language.equations import derivation_of
from tests.documents.code.test_code import run, run_javascript
from tests.language.blocks import WORKS as BLOCKS
from tests.language.literature import WORKS, Work
from tests.language.texts import CASES


def _given(work: Work) -> dict[str, Any]:
    rng = np.random.default_rng(len(work.name))
    return {
        name: np.round(rng.uniform(0.2 if name in work.positive else -1, 1, shape), 3)
        for name, shape in work.shapes.items()
    }


ALL = (*CASES, *WORKS, *BLOCKS)


@pytest.mark.parametrize("work", ALL, ids=lambda work: work.name)
def test_a_text_is_what_its_paper_says(work: Work) -> None:
    whole, given = derivation_of(work.text), _given(work)
    assert {item.name for item in whole.inputs} == {*work.shapes}
    values = whole.evaluate(**given)
    assert values.check().agrees
    tensors = {name: torch.tensor(array, requires_grad=True) for name, array in given.items()}
    letters = {"lambda_" if name == "lambda" else name: x for name, x in tensors.items()}
    wanted = work.value(SimpleNamespace(**letters))
    found = np.asarray(values[whole.names[-1]].array, dtype=float)
    np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-12, atol=1e-13)
    wanted.sum().backward()
    backward = whole.gradient(upstream="ones").evaluate(**given)
    for name, tensor in tensors.items():
        gradient = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy()
        found = np.asarray(backward[f"d{name}"].array, dtype=float)
        np.testing.assert_allclose(found, gradient, rtol=1e-10, atol=1e-12, err_msg=name)
    assert "undefined" not in str(document(values, "text"))
    for language, taken in () if work.recurs else (("numpy", np.asarray), ("torch", torch.tensor)):
        scope: dict[str, Any] = {}
        exec(str(document(values, language)), scope)
        *_, last = scope["attention"](*(taken(given[item.name]) for item in whole.inputs)).values()
        assert tuple(last.shape) == np.shape(values[whole.names[-1]].array)
        rounding = 1e-12 if language == "numpy" else 1e-6  # PyTorch divides places in float32
        np.testing.assert_allclose(last, wanted.detach().numpy(), rtol=rounding, atol=1e-13)


def _last(work: Work, given: dict[str, Any]) -> Any:
    """The last step as its paper says it."""
    letters = {name: torch.tensor(array) for name, array in given.items()}
    return work.value(SimpleNamespace(**letters, lambda_=letters.get("lambda"))).numpy()


@pytest.mark.nightly
@pytest.mark.parametrize("work", ALL, ids=lambda work: work.name)
def test_a_text_is_a_program_in_every_language(
    work: Work, tool: Callable[[str], str], tmp_path: Path
) -> None:
    whole, given = derivation_of(work.text), _given(work)
    values, wanted = whole.evaluate(**given), _last(work, given)
    for language in ("python", "numpy", "torch", "jax", "javascript"):
        code = str(document(values, language))
        named = re.search(r"\battention\(\{?(.*?)\}?\)", code, re.DOTALL)
        assert named is not None
        asked = [one.strip() for one in named[1].split(",") if one.strip() and "=" not in one]
        letters = [one.partition(":")[0] for one in asked]
        numbers = (np.atleast_2d(given[item.name]) for item in whole.inputs)
        told = dict(zip(letters, numbers, strict=True))
        if language == "javascript":
            (steps,) = run_javascript(tool("node"), tmp_path, [(code, told)])
        else:
            steps = run(code, language, told)
        *_, last = steps.values()
        last = np.reshape(np.asarray(last), wanted.shape)
        np.testing.assert_allclose(last, wanted, rtol=1e-12, atol=1e-13, err_msg=language)


@pytest.mark.nightly
@pytest.mark.parametrize("work", ALL, ids=lambda work: work.name)
def test_a_text_is_a_document_in_every_format(work: Work) -> None:
    values = derivation_of(work.text).evaluate(**_given(work))
    for form in FORMS:
        assert document(values, form), form
    for flavor in ("beamer", "overlays", "article"):
        assert "\\end{document}" in str(document(values, "tex", flavor=flavor))


#: The formats that need no other program and have a document for every derivation.
FORMS = ("text", "latex", "md", "docx", "mathml", "json", "html", "svg", "tikz")

REFUSED = {
    "Tanh(x) = x^3; O = Tanh(Q)": "has a meaning of its own",
    "f(x) = floor(x); O = f(Q)": "floor is of places and sizes alone",
    "S[t] = M[t-1] + K[t]^T V[t]; M[t] = S[t]": "are one state, Z[t] = [A; B]",
    "O = relu(Q K^T)^2; Q : 2 × d; K : 3 × d": "entry by entry it is A ∘ A",
    "A = Q[:, :d] K[:, :d]^T; B = Q[:, d:] K[:, d:]^T": "both parts take column d",
    "A = X[:2, :]; B = X[2:, :]": "both parts take row 2",
    "O = Q[:, 0:2]": "from 1",
    "O = Q[0]": "there is no place 0",
    "O = Q[:, 3:2]": "to its last place",
    "O = Q [1]": "touches its letter",
    "M[i,j] = 0 if i < j else -inf; O = softmax(Q K^T - M) V": "M hides by −∞",
    "M[i,j] = 0 if i < j else -inf; O = softmax(Q K^T + 2 M) V": "M hides by −∞",
    "M[i,j] = 0 if i < j else -inf; O = (Q K^T ∘ M) V": "M hides by −∞",
    "M[i,j] = inf if i < j else 0; O = softmax(Q K^T + M) V": "only as a branch",
    "M[i,j] = -inf; O = softmax(Q K^T + M) V": "only as a branch",
    "f(x) = x if x > 0 else -inf; O = f(Q)": "only as a branch",
    "M[i,j] = 1/0; O = M": "divides by 0",
    "O = rotary(X, bose=2)": 'did you mean "base"?',
    "f(x) = f(x); O = f(Q)": "made of itself",
    "f(x) = g(x); g(x) = f(x); O = f(Q)": "defined below",
    "f(x) = x; f(x) = 2; O = f(Q)": "defined in line 1 already",
    "f(x) = Q x; O = f(K)": "Q is a matrix",
    "f(x) = x; f = Q; O = f(K)": "a function and a letter",
    "exp(x) = x^2; O = exp(Q)": "a meaning of its own",
    "X[l] = X[l-1] + 1": "nothing says how far l goes",
    "S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t-1]": "an index beside t",
    "O = 5": "no step",
    "f(x) = x^2": "a function alone",
    "O[t,:] = t Q[t]": "t is an index",
    "Q K = V": "one letter stands on a left side",
    "中 = Q K^T": "is no letter here",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_says_nothing_sound_is_refused(text: str) -> None:
    with pytest.raises(SymattnError) as refused:
        derivation_of(text)
    assert str(refused.value).startswith("line 1, character ")
    assert REFUSED[text] in str(refused.value)


def test_a_reason_is_true_of_what_it_stands_at() -> None:
    reasons = {
        "A = softmax(S)": "each query's weights sum to 1",
        "A = colsoftmax(S)": "",
        "S = Q K^T / sqrt(d_k)": "keeps it from growing",
        "S = Q K^T / 2": "divided by a number.",
        "U = A V; Y = X + U W": "",
        "N = X W_P; Y = X + N W": "What is computed from it is added to",
    }
    for text, words in reasons.items():
        because = derivation_of(text).steps[-1].because
        assert words in because if words else not because, text


def test_a_state_is_a_row_where_nothing_says_more() -> None:
    whole = derivation_of("S[0] = 0; S[t] = S[t-1] + K[t]")
    assert [str(size) for size in whole["S"].shape] == ["1", "d_k"]


def test_a_function_takes_numbers_of_the_text_and_numbers_that_are_given() -> None:
    whole = derivation_of("c = 2; g(x) = c x; f(x) = g(x) + y; O = f(Q)")
    found = whole.evaluate(Q=[[1, 2]], y=[[3]])["O"].array
    np.testing.assert_array_equal(np.asarray(found, dtype=float), [[5, 7]])


def mutated(text: str, rng: random.Random) -> str:
    """The text with a piece of it left out, doubled, moved, or replaced."""
    pieces = ["(", ")", "[", "]", ",", ";", ":", "=", "^T", " ", "\n", "h", "t-1", "0", "-inf"]
    pieces += ["Q", "if", "else", "∘", "*", "/", "2", "softmax(", "sum_h(", "λ", "#", "1:d", "é"]
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        end = min(len(text), at + rng.randint(0, 6))
        text = text[:at] + rng.choice([*pieces, "", text[at:end] * 2]) + text[end:]
    return text


@pytest.mark.parametrize("seed", range(150))
def test_nothing_but_a_refusal_comes_of_a_text(seed: int) -> None:
    rng = random.Random(seed)
    text = mutated(rng.choice([one.text for one in (*CASES, *WORKS)]), rng)
    try:
        derivation_of(text)
    except SymattnError as refused:
        assert "\n" not in str(refused)
