"""What programs say beside their lines: held against what the lines do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, SymattnError
from symattn.documents.code.document import code_document
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.program import recorded
from symattn.documents.code.remarks import seen
from symattn.nodes.masks import mask_of
from tests.documents.code.test_code import (
    derived,
    differing,
    example,
    given_to,
    inputs_of,
    run,
    run_javascript,
    with_numbers,
    written,
)
from tests.shares import share

ONLY = "A query may attend to a key only if "

#: Masks, the sentence about them, and what it says of a query i and a key j, both from 0.
SAID: tuple[tuple[Any, str, Callable[[int, int], bool]], ...] = (
    (
        {"documents": [1, 1, 1, 2, 2, 1, 3, 3, 2]},
        "A token may attend only to tokens of its own document.",
        lambda i, j: "111221332"[i] == "111221332"[j],
    ),
    (
        {"dilated": [2, 3]},
        "A query attends to keys at regular intervals on both sides of its position.",
        lambda i, j: j in (i - 6, i - 3, i, i + 3, i + 6),
    ),
    (
        {"strided": 3},
        "A query attends to the last few keys, and to earlier ones at regular intervals.",
        lambda i, j: j in (i, i - 1, i - 2, i - 3, i - 6),
    ),
    (
        {"global": [1]},
        "Global tokens attend to every token, and every token to them.",
        lambda i, j: 0 in (i, j),
    ),
    (
        {"any": [{"window": 1}, {"global": [1]}]},
        f"{ONLY}the key is near the query's own position, or if one of the two is a global token.",
        lambda i, j: abs(i - j) <= 1 or 0 in (i, j),
    ),
    (
        {"all": ["causal", {"window": 2}, {"padding": 5}]},
        f"{ONLY}the key is not later than the query, and if the key is near the query's own "
        "position, and if the key is not padding.",
        lambda i, j: j <= i and i - j <= 2 and j < 5,
    ),
    ("causal", "", lambda i, j: j <= i),
    ({"window": 2}, "", lambda i, j: abs(i - j) <= 2),
    ({"window": [2, 1]}, "", lambda i, j: j in (i, i - 1, i - 2, i + 1)),
    ({"window": [-1, 1]}, "", lambda i, j: j <= i + 1),
    ({"padding": 3}, "", lambda i, j: j in (0, 1, 2)),
    ({"prefix": 3}, "", lambda i, j: j in (0, 1, 2) or j <= i),
)


@pytest.mark.parametrize(("mask", "sentence", "sees"), SAID, ids=[str(mask) for mask, *_ in SAID])
def test_a_sentence_about_a_mask_is_true(
    mask: Any, sentence: str, sees: Callable[[int, int], bool]
) -> None:
    [(name, parameter)] = [(mask, True)] if isinstance(mask, str) else mask.items()
    matrix = mask_of(name, 9, 9, parameter)
    assert seen(matrix) == sentence
    found = np.array(matrix.as_explicit().tolist()) == 0
    assert (found == np.fromfunction(np.vectorize(sees), (9, 9), dtype=int)).all()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mask_is_described_above_its_lines(language: str) -> None:
    mask: Any = {"any": [{"window": [3, 0]}, {"global": [1]}]}
    code = code_document(Attention(source="self", mask=mask).derivation(), language)
    told = [re.sub("^ *(#|//) *", "", line) for line in code.splitlines()]
    assert "or if one of the two is a global token" in " ".join(told)
    assert "A query may" not in written("causal", language)


def description(code: str) -> tuple[str, str]:
    """The descriptions of a file of Python and of its function."""
    module = ast.parse(code)
    function = module.body[-1]
    assert isinstance(function, ast.FunctionDef)
    return ast.get_docstring(module) or "", ast.get_docstring(function) or ""


def test_a_hostile_source_stays_in_the_description() -> None:
    told = 'a """ b */ c \\\n exit(1)'
    derivation = replace(derived("causal"), title=told, about=told, source=told)
    for language, spoken in LANGUAGES.items():
        code = code_document(derivation, language)
        if spoken.suffix == ".py":
            of_file, of_function = description(code)
            assert "exit(1)" in of_file
            assert "exit(1)" in of_function
        else:
            assert all(
                line.startswith(("//", " *")) for line in code.splitlines() if "exit(1)" in line
            )


@pytest.mark.parametrize("field", ["about", "source"])
def test_a_description_is_a_text(field: str) -> None:
    wrong: dict[str, Any] = {field: 3}
    with pytest.raises(SymattnError, match=field):
        replace(derived("causal"), **wrong)


@pytest.mark.parametrize("language", ["python", "numpy", "torch", "jax"])
def test_heads_that_the_groups_do_not_divide_are_refused(language: str) -> None:
    given = inputs_of("llama")
    for name in ("w_k", "w_v"):
        given[name] = np.concatenate([given[name], given[name][:1]])  # 4 groups of 6 heads
    with pytest.raises(ValueError, match=r"^6 heads cannot share 4 keys and values evenly$"):
        run(written("llama", language), language, given)


def test_heads_that_the_groups_do_not_divide_are_refused_in_javascript(
    tool: Callable[[str], str], tmp_path: Path
) -> None:
    given = inputs_of("llama")
    for name in ("w_k", "w_v"):
        given[name] = np.concatenate([given[name], given[name][:1]])
    code = written("llama", "javascript").replace(
        "function attention(",
        "const attention = (given) => {\n"
        "  try { return inner(given); }\n"
        "  catch (error) {\n"
        "    return { told: matrix([[+/^6 heads .* 4 keys/.test(error.message)]]) };\n"
        "  }\n};\nfunction inner(",
    )
    [found] = run_javascript(tool("node"), tmp_path, [(code, given)])
    assert found == {"told": np.array([[1.0]])}


#: Variants, and which of their steps are shown.
MERGED = (
    ("causal", ("weights", "output")),
    ("causal", ("mask", "output")),
    ("llama", ("scores", "heads", "projected")),
    ("t5", ("weights", "projected")),
    ("longformer", ("output",)),
    ("deepseek", ("K_joined", "masked", "projected")),
)


@pytest.mark.parametrize(
    ("number", "language"),
    share(product(range(len(MERGED)), ["python", "numpy", "torch", "jax"]), 3),
)
def test_a_program_of_merged_steps_agrees(number: int, language: str) -> None:
    name, kept = MERGED[number]
    merged = derived(name).merged(kept)
    _, values = example(name)
    found = run(code_document(merged, language), language, given_to(merged, values))
    assert len(found) == len(kept)
    assert differing(merged, values, found) == []


def test_a_program_of_merged_steps_in_javascript(
    tool: Callable[[str], str], tmp_path: Path
) -> None:
    merged = derived("llama").merged(["scores", "projected"])
    _, values = example("llama")
    call = code_document(merged, "javascript"), given_to(merged, values)
    [found] = run_javascript(tool("node"), tmp_path, [call])
    assert differing(merged, values, found) == []


#: Choices with what is learned as one row or column, its name in programs, and its axes there.
VECTORS: tuple[tuple[dict[str, Any], dict[str, tuple[str, ...]]], ...] = (
    ({"source": "self", "bias": "relative"}, {"table": ("32",)}),
    ({"source": "self", "heads": "h", "bias": "relative"}, {"table": ("h", "32")}),
    ({"source": "self", "normaliser": "softmax-sink"}, {"sink": ("1", "1")}),
    ({"source": "self", "heads": "h", "normaliser": "softmax-sink"}, {"sink": ("h",)}),
    ({"score": "additive", "scale": False}, {"v_a": ("d_a",)}),
    ({"source": "self", "heads": "h", "score": "additive", "scale": False}, {"v_a": ("h", "d_a")}),
    ({"source": "self", "score": "transformer-xl"}, {"u_c": ("d_k",), "v_d": ("d_k",)}),
    (
        {"source": "self", "heads": "h", "projection_bias": True, "output_projection": True},
        {"b_q": ("h", "d_k"), "b_o": ("d_out",)},
    ),
)


@pytest.mark.parametrize(("choices", "axes"), VECTORS, ids=str)
def test_what_is_learned_as_one_row_or_column_has_no_axis_of_length_1(
    choices: dict[str, Any], axes: dict[str, tuple[str, ...]]
) -> None:
    """Nor has its gradient, which has the shape of what it is the gradient of."""
    derivation = Attention(**choices).derivation()
    backward = derivation.gradient()
    _, values = with_numbers(backward, {})
    given = given_to(backward, values)
    code = code_document(backward, "numpy")
    found = run(code, "numpy", given)
    assert differing(backward, values, found) == []
    sizes = {"h": 6, "d_a": 17, "d_k": 4, "d_out": 19}
    for name, wanted in axes.items():
        shape = tuple(sizes.get(size) or int(size) for size in wanted)
        assert given[name].shape == shape
        [gradient] = (found[key] for key in (f"d_{name}", f"d{name}") if key in found)
        assert gradient.shape == shape


def test_a_row_for_each_token_is_not_taken_for_a_vector() -> None:
    n = sympy.Symbol("n", integer=True, positive=True)
    derivation = Attention(unfold=True).derivation(["exp", "exp_sum", "V"])
    shapes = {item.name: value.shape for item, value in recorded(derivation).inputs}
    assert shapes["exp_sum"] == (n, 1)
