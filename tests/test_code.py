"""Programs: traced from the nodes' own formulas, they run and say what the derivation says."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn import VARIANTS
from symattn.arithmetic.base import Array
from symattn.attention.example import small_example
from symattn.derivation import Derivation, Evaluation
from symattn.documents.code.document import code_document
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.spell import spelled
from symattn.documents.code.trace import TEMPERATURE, Program, Tracing, traced
from symattn.documents.code.views import PLACES, evaluated, view
from symattn.errors import CannotSpell

NAMES = tuple(row.name for row in VARIANTS)

#: Values that are not one number or the other by themselves, only by what they stand for.
_FLAGS = ("allowed", "one_hot")


@cache
def example(name: str) -> tuple[Derivation, Evaluation]:
    """A variant on numbers that are all different, so that no two entries can be mixed up."""
    spec = next(row.spec for row in VARIANTS if row.name == name)
    derivation, values = small_example(spec, tokens=3, d_k=4)
    numbers = random.Random(name)
    changed = {}
    for item in derivation.inputs:
        table = values.given[item.letter]
        if item.name not in _FLAGS:
            flat = [sympy.Rational(numbers.randint(1, 400), 256) for _ in range(table.size)]
            table = np.array(flat, dtype=object).reshape(table.shape)
        changed[item.name] = table.tolist()
    return derivation, derivation.evaluate(**changed)


def program_of(name: str, **options: Any) -> Program:
    return traced(example(name)[1], **options)


def inputs_of(name: str) -> dict[str, Array]:
    derivation, values = example(name)
    return {item.letter: values.array(item.letter) for item in derivation.inputs}


def run_numpy(code: str, inputs: dict[str, Any]) -> dict[str, Array]:
    room: dict[str, Any] = {}
    language = LANGUAGES["numpy"]
    exec("".join([language.imports["np"], *language.helpers.values(), code]), room)
    with np.errstate(all="ignore"):
        found: dict[str, Array] = room["attention"](**inputs)
    return found


def as_torch(values: Array) -> Any:
    import torch

    return torch.tensor(values)


def as_jax(values: Array) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(values)


@cache
def written(name: str, language: str) -> str:
    """The whole file for a variant."""
    return code_document(*example(name), language)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("language", "array"), [("torch", as_torch), ("jax", as_jax)])
def test_files_run_and_agree(name: str, language: str, array: Callable[[Array], Any]) -> None:
    import jax

    room: dict[str, Any] = {}
    exec(written(name, language), room)
    with jax.enable_x64(True):
        given = {letter: array(values) for letter, values in inputs_of(name).items()}
        found = room["attention"](**given)
    assert faults(name, {letter: np.asarray(value) for letter, value in found.items()}) == []


@pytest.mark.parametrize("language", ["numpy", "torch", "jax"])
def test_python_is_formatted_as_black_does(language: str, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(written(name, language), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    ran = subprocess.run([*ruff, "format", "--isolated", "--diff", "."], cwd=tmp_path,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "")
    ran = subprocess.run([*ruff, "check", "--isolated", "--ignore", "E741", "."], cwd=tmp_path,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stdout


def test_javascript_is_formatted_as_prettier_does(
    tool: Callable[[str], str], node_file: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.js").write_text(written(name, "javascript"), encoding="utf-8")
    ran = subprocess.run(
        [tool("node"), node_file("prettier/bin/prettier.cjs"), "--list-different", tmp_path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_hostile_title_stays_in_the_description() -> None:
    derivation, values = example("causal")
    title = 'a """ b */ c \\\n exit(1)'
    for language in LANGUAGES:
        code = code_document(replace(derivation, title=title), values, language)
        assert "exit(1)" in code
        if language != "javascript":
            function = ast.parse(code).body[-1]
            assert isinstance(function, ast.FunctionDef)
            assert "exit(1)" in (ast.get_docstring(function) or "")
        else:
            assert code.index("exit(1)") < code.index("*/", code.index("/**"))


def faults(name: str, found: dict[str, Array]) -> list[str]:
    """The steps whose values are not those of the derivation, to 1e-12 of the largest entry."""
    derivation, values = example(name)
    out = []
    for step in derivation.steps:
        wanted, got = values.array(step.letter), np.asarray(found[step.letter], dtype=float)
        size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
        same = wanted.shape == got.shape and np.allclose(
            got, wanted, rtol=1e-12, atol=1e-15 * size, equal_nan=False
        )
        out += [] if same else [step.name]
    return out


@pytest.mark.parametrize("name", NAMES)
def test_numpy_runs_and_agrees(name: str) -> None:
    found = run_numpy(spelled(program_of(name), LANGUAGES["numpy"]), inputs_of(name))
    assert faults(name, found) == []


def test_javascript_runs_and_agrees(tool: Callable[[str], str], tmp_path: Path) -> None:
    language = LANGUAGES["javascript"]
    parts = [language.prelude, "const plain = (key, x) => ArrayBuffer.isView(x) ? Array.from(x) : "
             "x === -Infinity ? '-inf' : x !== x ? 'nan' : x;"]  # fmt: skip
    for name in NAMES:
        told = ", ".join(f"{letter}: matrix({json.dumps(values.tolist())})"
                         for letter, values in inputs_of(name).items())  # fmt: skip
        call = f"console.log(JSON.stringify(attention({{ {told} }}), plain));"
        parts.append(f"{{\n{spelled(program_of(name), language)}\n{call}\n}}")
    script = tmp_path / "programs.js"
    script.write_text("\n".join(parts), encoding="utf-8")
    run = subprocess.run([tool("node"), script], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) == len(NAMES)
    wrong = {}
    for name, told in zip(NAMES, lines, strict=True):
        found = {letter: np.array([float(x) for x in value["data"]]).reshape(value["shape"])
                 for letter, value in json.loads(told).items()}  # fmt: skip
        wrong[name] = faults(name, found)
    assert {name: steps for name, steps in wrong.items() if steps} == {}


def test_a_wrong_program_is_noticed() -> None:
    code = spelled(program_of("causal"), LANGUAGES["numpy"])
    for old, new in (("@ K.T", "@ K"), ("np.exp(", "np.exp2("), ("S / 2", "S / 4")):
        assert old in code
        spoilt = code.replace(old, new)
        try:
            found = run_numpy(spoilt, inputs_of("causal"))
        except ValueError:
            continue  # the shapes do not even fit
        assert "weights" in faults("causal", found)


def test_the_program_reads_like_one_written_by_hand() -> None:
    _, values = small_example(next(row.spec for row in VARIANTS if row.name == "causal"))
    code = spelled(traced(values), LANGUAGES["numpy"])
    assert (
        code
        == """\
def attention(X, W_Q, W_K, W_V):
    Q = X @ W_Q  # 3 × 2
    K = X @ W_K  # 3 × 2
    V = X @ W_V  # 3 × 2
    S = Q @ K.T  # scores, 3 × 3
    Z = S / np.sqrt(2)  # scaled, 3 × 3
    M = np.array([[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]])  # mask, 3 × 3
    hidden = np.isneginf(M)  # 3 × 3
    # masked, 3 × 3
    G = np.where(hidden, -np.inf, np.where(hidden, 0, Z) + np.where(hidden, 0, M))
    nothing = np.isneginf(G).all(axis=-1, keepdims=True)  # 3 × 1
    kept = np.where(nothing, 0, G)  # 3 × 3
    powers = np.exp(kept - kept.max(axis=-1, keepdims=True))  # 3 × 3
    # weights, 3 × 3
    A = np.where(nothing, 0, powers / powers.sum(axis=-1, keepdims=True))
    O = A @ V  # output, 3 × 2
    return {"Q": Q, "K": K, "V": V, "S": S, "Z": Z, "M": M, "G": G, "A": A, "O": O}
"""
    )


def test_a_step_may_be_given_and_a_temperature_divides() -> None:
    program = program_of("causal", given=("mask",), tempered="masked")
    code = spelled(program, LANGUAGES["numpy"])
    assert f"def attention(X, W_Q, W_K, W_V, M, {TEMPERATURE}):" in code
    _, values = example("causal")
    open_mask = np.zeros((3, 3))
    found = run_numpy(code, {**inputs_of("causal"), "M": open_mask, TEMPERATURE: 0.5})
    scores = values.array("Z") / 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    assert np.allclose(found["A"], powers / powers.sum(axis=-1, keepdims=True), rtol=1e-12)


def test_what_cannot_be_followed_is_refused() -> None:
    tracing = Tracing()
    one = tracing.record("input", shape=(2, 2), name="X")
    with pytest.raises(CannotSpell, match="sqrt outside its arithmetic"):
        np.sqrt(one)
    with pytest.raises(CannotSpell, match="over axis 0"):
        tracing.hidden(one).all(axis=0)
    with pytest.raises(CannotSpell, match="negated"):
        tracing.exp(np.concatenate([one, -one]))


_SLICES = st.sampled_from([slice(None), slice(0, 2), slice(1, None), slice(0, None, 2), None, 0])


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    index=st.lists(_SLICES, max_size=5),
    turn=st.permutations(range(9)),
    wide=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_view_gives_the_references_it_was_read_from(
    shape: list[int], index: list[Any], turn: list[int], wide: bool
) -> None:
    places = np.arange(int(np.prod(shape))).reshape(shape)
    kept = [part for part in index if part is None]
    kept += [part for part in index if part is not None][: len(shape)]
    taken = places[tuple(kept)]
    taken = np.transpose(taken, [axis for axis in turn if axis < taken.ndim])
    if wide and taken.ndim < 4:
        taken = np.broadcast_to(taken, (3, *taken.shape))
    if taken.size == 0:
        return
    found = view(7 * PLACES + taken, {7: tuple(shape)})
    assert found.shape == taken.shape
    assert found.lines == {7}
    assert np.array_equal(evaluated(found), taken)


def test_joined_and_interleaved_lines_are_seen() -> None:
    shapes = {1: (2, 2), 2: (2, 2)}
    one = PLACES + np.arange(4).reshape(2, 2)
    other = 2 * PLACES + np.arange(4).reshape(2, 2)
    below = view(np.concatenate([one, other]), shapes)
    assert (below.kind, below.details) == ("join", -2)
    mixed = np.stack([one, other], axis=-1).reshape(2, 4)
    assert view(mixed, shapes).kind == "interleave"
    crossed = np.array([[one[0, 0], other[0, 1]], [other[1, 0], one[1, 1]]])
    assert view(crossed, shapes).kind == "gather"
    assert view(-one.T, shapes).kind == "negative"
