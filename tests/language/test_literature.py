"""Attentions of the literature as texts: values, gradients, documents and programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from symattn import document
from symattn.errors import SymattnError
from symattn.language.equations import derivation_of
from tests.documents.code.test_code import given_to, run, run_javascript
from tests.fuzz.mutated import SMALL, changed
from tests.language.blocks import WORKS as BLOCKS
from tests.language.literature import WORKS, Work
from tests.language.named import WORKS as NAMED
from tests.language.texts import CASES
from tests.shares import share

ALL = (*CASES, *WORKS, *NAMED, *BLOCKS)


@pytest.mark.parametrize("work", share(ALL, 5), ids=lambda work: work.name)
def test_a_text_is_what_its_paper_says(work: Work) -> None:
    whole, given = derivation_of(work.text), work.numbers()
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
    scope: dict[str, Any] = {}
    exec(str(document(values, "numpy")), scope)
    *_, last = scope["attention"](*given_to(whole, values).values()).values()
    assert tuple(last.shape) == np.shape(values[whole.names[-1]].array)
    np.testing.assert_allclose(last, wanted.detach().numpy(), rtol=1e-12, atol=1e-13)


def _last(work: Work, given: dict[str, Any]) -> Any:
    """The last step as its paper says it."""
    letters = {name: torch.tensor(array) for name, array in given.items()}
    return work.value(SimpleNamespace(**letters, lambda_=letters.get("lambda"))).numpy()


@pytest.mark.nightly
@pytest.mark.parametrize("work", ALL, ids=lambda work: work.name)
def test_a_text_is_a_program_in_every_language(
    work: Work, tool: Callable[[str], str], tmp_path: Path
) -> None:
    whole, given = derivation_of(work.text), work.numbers()
    values, wanted = whole.evaluate(**given), _last(work, given)
    for language in ("python", "numpy", "torch", "jax", "javascript"):
        code = str(document(values, language))
        named = re.search(r"\battention\(\{?(.*?)\}?\)", code, re.DOTALL)
        assert named is not None
        asked = [one.strip() for one in named[1].split(",") if one.strip() and "=" not in one]
        letters = [one.partition(":")[0] for one in asked]
        told = dict(zip(letters, given_to(whole, values).values(), strict=True))
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
    values = derivation_of(work.text).evaluate(**work.numbers())
    for form in FORMS:
        assert document(values, form), form
    for flavor in ("beamer", "overlays", "article"):
        assert "\\end{document}" in str(document(values, "tex", flavor=flavor))


#: The formats that need no other program and have a document for every derivation.
FORMS = ("text", "latex", "md", "docx", "mathml", "json", "html", "svg", "tikz")


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


def test_nothing_but_a_refusal_comes_of_a_text() -> None:
    for seed in range(150):
        rng = np.random.default_rng(seed)
        text = changed(ALL[int(rng.integers(len(ALL)))].text, rng, SMALL)
        with suppress(SymattnError):
            derivation_of(text)
