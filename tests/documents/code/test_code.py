"""Programs: traced from the nodes' own formulas, they run and say what the derivation says."""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn import VARIANTS, Attention
from symattn.arithmetic.base import Array
from symattn.arithmetic.functions import FUNCTIONS
from symattn.derivation import Derivation, Evaluation, Input, Step
from symattn.documents.code import document
from symattn.documents.code.by_position import Sized
from symattn.documents.code.document import code_document
from symattn.documents.code.general import _Merging, _trials, _Unknown, generalised
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.size_formulas import Growth
from symattn.documents.code.spell import spelled
from symattn.documents.code.trace import TEMPERATURE, Program, Tracing, traced
from symattn.documents.code.views import PLACES, evaluated, view
from symattn.errors import CannotSpell
from symattn.nodes import Entrywise
from tests.extras import package
from tests.nodes.test_nodes_contract import IN_MPMATH
from tests.processes import python
from tests.shares import share

NAMES = tuple(row.name for row in VARIANTS)

#: Values that are not one number or the other by themselves, only by what they stand for.
_FLAGS = ("allowed", "one_hot")


#: Sizes that are all different, none of which a program was made at.
SIZES = {
    "n": 5,
    "m": 7,
    "p": 3,
    "d_model": 6,
    "d_k": 4,
    "d_v": 11,
    "d_mem": 9,
    "d_c": 13,
    "d_cq": 15,
    "d_r": 8,
    "d_a": 17,
    "d_out": 19,
    "n_vocab": 21,
    "k": 2,
    "h": 6,
    "g": 3,
}


@cache
def derived(name: str) -> Derivation:
    spec = next(row.spec for row in VARIANTS if row.name == name)
    return spec.derivation(title=f"{name}, step by step")


@cache
def example(name: str, sizes: tuple[tuple[str, int], ...] = ()) -> tuple[Derivation, Evaluation]:
    """A variant on numbers that are all different, so that no two entries can be mixed up."""
    return with_numbers(derived(name), dict(sizes))


def with_numbers(derivation: Derivation, sizes: dict[str, int]) -> tuple[Derivation, Evaluation]:
    told = SIZES | sizes
    known = {s: told[s.name] for s in derivation.size_symbols}
    numbers = random.Random(str(derivation))
    given = {}
    for item in derivation.inputs:
        shape = tuple(int(size.subs(known)) for size in item.shape)
        shape = (told[str(item.count)], *shape) if item.per_head else shape
        if item.name == "one_hot":
            rows, columns = shape
            table = np.eye(rows, columns, dtype=int)
        elif item.name == "allowed":
            table = (np.indices(shape).sum(axis=0) % 3 != 1).astype(int)
        else:
            flat = [sympy.Rational(numbers.randint(1, 400), 1024) for _ in range(np.prod(shape))]
            table = np.array(flat, dtype=object).reshape(shape)
        given[item.name] = table.tolist()
    return derivation, derivation.evaluate(**given)


#: What programs of a variant keep of the sizes that they were made at.
KEPT = {
    "alibi": ("h = 2",),
    "t5": ("n = 3",),
    "sinusoidal": ("even d_model",),
    "llama": ("even d_k",),
    "transformer-xl": ("even d_model",),
    "rotary": ("even d_k",),
    "deepseek": ("even d_r",),
    "cached-llama": ("even d_k",),
}

#: The sizes at which they are made, and so must be run where they are kept.
MADE_AT = (("n", 3), ("m", 4), ("p", 2), ("d_model", 2), ("d_k", 2), ("d_v", 2), ("h", 2), ("g", 1))


def sizes_for(name: str) -> tuple[tuple[str, int], ...]:
    """Sizes that were not seen, but for those that a program keeps."""
    kept = [part.split(" = ") for part in KEPT.get(name, ()) if "=" in part]
    return tuple((size, int(value)) for size, value in kept)


def program_of(name: str, **options: Any) -> Program:
    return traced(example(name)[1], **options)


def inputs_of(name: str, sizes: tuple[tuple[str, int], ...] = ()) -> dict[str, Array]:
    derivation, values = example(name, sizes)
    return {item.letter: values.array(item.letter) for item in derivation.inputs}


def run_numpy(code: str, inputs: dict[str, Any]) -> dict[str, Array]:
    room: dict[str, Any] = {}
    language = LANGUAGES["numpy"]
    exec("\n".join([language.imports["np"], *language.helpers.values(), code]), room)
    with np.errstate(all="ignore"):
        found: dict[str, Array] = room["attention"](**inputs)
    return found


@contextmanager
def as_given_to(language: str) -> Iterator[Callable[[Array], Any]]:
    """What makes the arrays of a language out of NumPy's."""
    if language == "torch":
        yield package("torch").tensor
    elif language == "jax":
        with package("jax").enable_x64(True):
            yield package("jax.numpy").asarray
    elif language == "python":
        yield np.ndarray.tolist
    else:
        yield np.asarray


@cache
def general(name: str) -> tuple[Program, Sequence[str]]:
    """The program for a variant, made at other sizes than it is run at; one for all languages."""
    return generalised(*example(name, MADE_AT))


@cache
def written(name: str, language: str) -> str:
    """The whole file for a variant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "generalised", lambda *_: general(name))
        return code_document(*example(name, MADE_AT), language)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        pytest.param(name, language, marks=pytest.mark.nightly if number % of != turn else ())
        for language, of, turn in (
            ("python", 4, 0),
            ("numpy", 1, 0),
            ("torch", 4, 1),
            ("jax", 8, 2),
        )
        for number, name in enumerate(NAMES)
    ],
)
def test_files_run_at_other_sizes_and_agree(name: str, language: str) -> None:
    room: dict[str, Any] = {}
    exec(written(name, language), room)
    sizes = sizes_for(name)
    with as_given_to(language) as array, np.errstate(all="ignore"):
        given = {letter: array(values) for letter, values in inputs_of(name, sizes).items()}
        found = room["attention"](**given)
    values = {letter: np.asarray(value) for letter, value in found.items()}
    assert faults(name, values, sizes) == []


#: Sizes as small as they can be, and distances and windows larger than the tokens.
SMALLEST = dict.fromkeys(SIZES, 1) | {"d_model": 2, "d_k": 2, "d_r": 2}
ODD = SMALLEST | {"n": 2, "k": 4, "h": 3, "g": 3, "n_vocab": 5}


@pytest.mark.parametrize(
    ("name", "sizes"),
    share(product(NAMES, (SMALLEST, ODD)), 3),
    ids=lambda value: value if isinstance(value, str) else "odd" if value is ODD else "smallest",
)
def test_files_run_at_the_smallest_sizes(name: str, sizes: dict[str, int]) -> None:
    told = tuple(sorted((sizes | dict(sizes_for(name))).items()))
    found = run_numpy(written(name, "numpy"), inputs_of(name, told))
    assert faults(name, found, told) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_sizes_a_program_keeps_is_said(name: str) -> None:
    code = written(name, "numpy")
    said = re.search(r"Written for (.*)\.", code)
    assert (said[1].split(", ") if said else []) == list(KEPT.get(name, ()))


@pytest.mark.parametrize("language", ["python", "numpy", "torch", "jax"])
def test_python_is_formatted_as_black_does(language: str, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(written(name, language), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    ran = subprocess.run(
        [*ruff, "format", "--isolated", "--diff", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "")
    ran = subprocess.run(
        [*ruff, "check", "--isolated", "--ignore", "E741", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout


def test_javascript_is_formatted_as_prettier_does(
    tool: Callable[[str], str], node_file: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.js").write_text(written(name, "javascript"), encoding="utf-8")
    ran = subprocess.run(
        [tool("node"), node_file("prettier/bin/prettier.cjs"), "--list-different", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_hostile_title_stays_in_the_description() -> None:
    derivation, values = example("causal")
    title = 'a """ b */ c \\\n exit(1)'
    for language in LANGUAGES:
        code = code_document(replace(derivation, title=title), values, language)
        assert "exit(1)" in code
        if LANGUAGES[language].suffix == ".py":
            function = ast.parse(code).body[-1]
            assert isinstance(function, ast.FunctionDef)
            assert "exit(1)" in (ast.get_docstring(function) or "")
        else:
            assert code.index("exit(1)") < code.index("*/", code.index("/**"))


def faults(
    name: str, found: dict[str, Array], sizes: tuple[tuple[str, int], ...] = ()
) -> list[str]:
    """The steps whose values are not those of the derivation, to 1e-12 of the largest entry."""
    derivation, values = example(name, sizes)
    out = []
    for step in derivation.steps:
        wanted, got = values.array(step.letter), np.asarray(found[step.letter], dtype=float)
        size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
        same = wanted.shape == got.shape and np.allclose(
            got, wanted, rtol=1e-12, atol=1e-15 * size, equal_nan=False
        )
        out += [] if same else [step.name]
    return out


@pytest.mark.parametrize("name", share(NAMES, 3))
def test_numpy_runs_and_agrees(name: str) -> None:
    found = run_numpy(spelled(program_of(name), LANGUAGES["numpy"]), inputs_of(name))
    assert faults(name, found) == []


def test_javascript_runs_and_agrees(tool: Callable[[str], str], tmp_path: Path) -> None:
    parts = [
        "const plain = (key, x) => ArrayBuffer.isView(x) ? Array.from(x) : "
        "x === -Infinity ? '-inf' : x !== x ? 'nan' : x;"
    ]
    for name in NAMES:
        inputs = inputs_of(name, sizes_for(name))
        told = ", ".join(
            f"{letter}: matrix({json.dumps(values.tolist())})" for letter, values in inputs.items()
        )
        call = f"console.log(JSON.stringify(attention({{ {told} }}), plain));"
        parts.append(f"{{\n{written(name, 'javascript')}\n{call}\n}}")
    script = tmp_path / "programs.js"
    script.write_text("\n".join(parts), encoding="utf-8")
    run = subprocess.run([tool("node"), script], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) == len(NAMES)
    wrong = {}
    for name, told in zip(NAMES, lines, strict=True):
        found = {
            letter: np.array([float(x) for x in value["data"]]).reshape(value["shape"])
            for letter, value in json.loads(told).items()
        }
        wrong[name] = faults(name, found, sizes_for(name))
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
    code = written("causal", "numpy")
    assert (
        code
        == """\
import numpy as np


def attention(X, W_Q, W_K, W_V):
    \"""causal, step by step

    X: token vectors, one for each token (n × d_model)
    W_Q: query weights (d_model × d_k)
    W_K: key weights (d_model × d_k)
    W_V: value weights (d_model × d_v)

    Returns every step by its letter. One sequence at a time.
    \"""
    n = X.shape[0]
    d_k = W_Q.shape[1]
    Q = X @ W_Q  # n × d_k
    K = X @ W_K  # n × d_k
    V = X @ W_V  # n × d_v
    S = Q @ K.T  # scores, n × n
    Z = S / np.sqrt(d_k)  # scaled, n × n
    i = np.arange(n)[:, None]
    j = np.arange(n)
    M = np.where(j <= i, 0, -np.inf)  # mask, n × n
    G = np.where(np.isneginf(M), -np.inf, Z + M)  # masked, n × n
    nothing = np.isneginf(G).all(axis=-1, keepdims=True)  # n × 1
    kept = np.where(nothing, 0, G)  # n × n
    powers = np.exp(kept - kept.max(axis=-1, keepdims=True))  # n × n
    # weights, n × n
    A = np.where(nothing, 0, powers / powers.sum(axis=-1, keepdims=True))
    O = A @ V  # output, n × d_v
    return {"Q": Q, "K": K, "V": V, "S": S, "Z": Z, "M": M, "G": G, "A": A, "O": O}
"""
    )


def test_a_step_may_be_given_and_a_temperature_divides() -> None:
    program = program_of("causal", given=("mask",), tempered="masked")
    code = spelled(program, LANGUAGES["numpy"])
    assert f"def attention(X, W_Q, W_K, W_V, M, {TEMPERATURE}):" in code
    _, values = example("causal")
    open_mask = np.zeros((5, 5))
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


#: Masks of all kinds, alone and joined; `documents` says itself how many tokens there are.
MASKS = (
    "causal",
    {"causal": 1},
    {"window": 2},
    {"window": [1, 3]},
    {"window": [2, 0]},
    {"prefix": 2},
    {"dilated": [2, 2]},
    {"strided": 2},
    {"strided": 1},
    {"global": [1, 3]},
    {"padding": 3},
    {"any": [{"window": 1}, {"global": [1]}]},
    {"any": ["causal", {"prefix": 2}]},
    {"all": ["causal", {"window": 2}]},
    {"all": ["causal", {"padding": 2}]},
)


@pytest.mark.parametrize("source", ["self", "given"])
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_masks_are_for_any_number_of_tokens(mask: Any, source: Any) -> None:
    derivation = Attention(source=source, mask=mask).derivation()
    code = code_document(*with_numbers(derivation, dict(MADE_AT)), "numpy")
    assert "Written for" not in code
    _, values = with_numbers(derivation, {})
    given = {item.letter: values.array(item.letter) for item in derivation.inputs}
    room: dict[str, Any] = {}
    exec(code, room)
    assert np.array_equal(room["attention"](**given)["M"], values.array("M"))


def test_a_mask_that_lists_its_tokens_is_for_that_many() -> None:
    derivation = Attention(source="self", mask={"documents": [1, 1, 2]}).derivation()
    code = code_document(*with_numbers(derivation, dict(MADE_AT)), "numpy")
    assert "Written for n = 3." in code


@pytest.mark.parametrize("name", share(NAMES, 4, 1))
def test_backward_passes_run_and_agree(name: str) -> None:
    backward = derived(name).gradient()
    code = code_document(*with_numbers(backward, dict(MADE_AT)), "numpy")
    said = re.search(r"Written for (.*)\.", code)
    kept = [part.split(" = ") for part in (said[1].split(", ") if said else []) if "=" in part]
    _, values = with_numbers(backward, {size: int(value) for size, value in kept})
    given = {item.letter: values.array(item.letter) for item in backward.inputs}
    room: dict[str, Any] = {}
    exec(code, room)
    with np.errstate(all="ignore"):
        found = room["attention"](**given)
    for step in backward.steps:
        wanted = values.array(step.letter)
        close = np.allclose(found[step.letter], wanted, rtol=1e-9, atol=1e-12)
        assert close, (step.name, code)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_function_of_an_entry_has_a_spelling(language: str) -> None:
    missing = ", ".join({*FUNCTIONS} - {*LANGUAGES[language].operations})
    assert not missing, f"{missing}: spell it in {language}, symattn/documents/code/languages.py"


def of_each_entry(name: str, numbers: list[str]) -> tuple[Derivation, Evaluation]:
    """One step Y = f(X), and its numbers."""
    rows, columns = sympy.symbols("n m", integer=True, positive=True)
    X, Y = (sympy.MatrixSymbol(letter, rows, columns) for letter in "XY")
    derivation = Derivation((Input("X", X, "numbers"),), (Step("y", Y, Entrywise(X, name)),))
    return derivation, derivation.evaluate(X=[numbers])


def of_mpmath(name: str, numbers: list[float]) -> list[float]:
    return [float(IN_MPMATH[name](mpmath.mpf(x))) for x in numbers]


def arguments(name: str) -> list[float]:
    """Numbers of all sizes that the function takes."""
    rng = np.random.default_rng(3)
    positive = [*rng.uniform(0, 7, 40), *np.exp(-rng.uniform(0, 300, 20)), 2.0]
    if name in ("√", "ln"):
        return positive
    return [*positive, *(-x for x in positive), *([0.0, 30.0, -30.0] if name == "erf" else [])]


@pytest.mark.parametrize("name", IN_MPMATH)
@pytest.mark.parametrize("language", ["python", "numpy", "torch", "jax"])
def test_a_function_of_an_entry_is_that_of_mpmath(name: str, language: str) -> None:
    numbers = arguments(name)
    room: dict[str, Any] = {}
    exec(code_document(*of_each_entry(name, ["1/2", "1"]), language), room)
    with as_given_to(language) as array:
        found = np.asarray(room["attention"](X=array(np.array([numbers])))["Y"])
    np.testing.assert_allclose(found[0], of_mpmath(name, numbers), rtol=4e-15, atol=2e-16)


def test_a_function_of_an_entry_is_that_of_mpmath_in_javascript(
    tool: Callable[[str], str], tmp_path: Path
) -> None:
    for name in IN_MPMATH:
        numbers = arguments(name)
        code = code_document(*of_each_entry(name, ["1/2", "1"]), "javascript")
        told = f"Array.from(attention({{ X: matrix([{json.dumps(numbers)}]) }}).Y.data)"
        script = tmp_path / "function.js"
        script.write_text(f"{code}\nconsole.log(JSON.stringify({told}));", encoding="utf-8")
        run = subprocess.run([tool("node"), script], capture_output=True, text=True, check=True)
        wanted = of_mpmath(name, numbers)
        np.testing.assert_allclose(json.loads(run.stdout), wanted, rtol=4e-15, atol=2e-16)


def test_the_error_function_of_javascript_is_good_for_small_numbers_and_at_its_ends(
    tool: Callable[[str], str],
) -> None:
    """JavaScript has none of its own: relative errors to 2e-15, also where erf x is tiny."""
    rng = np.random.default_rng(4)
    numbers = [*rng.uniform(-7, 7, 2000), *np.exp(-rng.uniform(0, 700, 500)), 2.0, 1.9999999999]
    program = LANGUAGES["javascript"].helpers["errorFunction"]
    ends = "[Infinity, -Infinity, NaN, 0, -0].map((x) => 1 / errorFunction(x))"
    script = f"{program}; console.log(JSON.stringify({json.dumps(numbers)}.map(errorFunction)));"
    run = subprocess.run(
        [tool("node"), "-e", f"{script} console.log({ends}.join());"],
        capture_output=True,
        text=True,
        check=True,
    )
    found, at_ends = run.stdout.splitlines()
    np.testing.assert_allclose(json.loads(found), of_mpmath("erf", numbers), rtol=2e-15)
    assert at_ends == "1,-1,NaN,Infinity,-Infinity"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_error_function_of_a_numpy_program_keeps_the_type(dtype: str) -> None:
    room: dict[str, Any] = {}
    exec(code_document(*of_each_entry("erf", ["1/2", "1"]), "numpy"), room)
    assert room["attention"](X=np.ones((2, 3), dtype))["Y"].dtype == np.dtype(dtype)
    assert room["attention"](X=np.ones((2, 3), int))["Y"].dtype == np.float64


def test_sizes_that_are_traced_tell_all_expressions_apart() -> None:
    for names in ("n", "hg", "n d_k d_v", "n m p d_model d_mem d_k d_r d_v d_out h g k"):
        symbols = [
            sympy.Symbol(name, positive=True) for name in (names.split() if " " in names else names)
        ]
        for even in (False, True):
            trials = _trials(symbols, even, {})
            assert not Growth(trials).ambiguous
            assert not even or all(
                trial[s] % 2 == 0 for trial in trials for s in symbols if s.name not in "hgk"
            )


def test_sets_of_sizes_that_grow_alike_are_noticed() -> None:
    n, m = sympy.symbols("n m", positive=True)
    assert Growth([{n: 3, m: 5}, {n: 4, m: 6}, {n: 9, m: 11}]).ambiguous
    found = Growth([{n: 3, m: 5}, {n: 4, m: 9}, {n: 9, m: 6}]).find([9, 11, 21])
    assert isinstance(found, Sized)
    assert found.expr == 2 * n + 3


def test_a_number_that_follows_from_no_size_is_not_made_up() -> None:
    n = sympy.Symbol("n", positive=True)
    trials = _trials([n], even=False, above={})
    merging = _Merging(trials, {})
    assert merging.number([trial[n] - 1 for trial in trials]).expr == n - 1  # type: ignore[attr-defined]
    with pytest.raises(_Unknown):
        merging.number([trial[n] ** 2 + 3 for trial in trials])


def test_the_module_runs_as_a_program() -> None:
    ran = python("-m", "symattn", "derive", "causal", "--format", "python", check=True)
    room: dict[str, Any] = {}
    exec(ran.stdout, room)
    found = room["attention"]([[1], [2]], [[1]], [[0]], [[3]])
    assert found["A"] == [[1.0, 0.0], [0.5, 0.5]]
    assert found["O"] == [[3.0], [4.5]]


#: Choices whose programs were once written for other numbers than they say: how they are chosen,
#: the sizes they are made at, and what is said of sizes.
SIZED: tuple[tuple[dict[str, Any], dict[str, int], list[str]], ...] = (
    (
        {"source": "self", "scale": "d_k^(-1/4)", "positions": {"rotary": {"decoupled": True}}},
        {},
        ["even d_r"],
    ),
    ({"source": "given", "positions": {"rotary": {"dims": 4}}}, {"d_k": 5}, ["d_k ≥ 4"]),
    ({"source": "given", "positions": {"rotary": {"dims": 8}}}, {"d_k": 8}, ["d_k ≥ 8"]),
    (
        {"source": "given", "positions": {"rotary": {"dims": 4, "pairing": "half"}}},
        {"d_k": 6},
        ["d_k ≥ 4"],
    ),
    ({"source": "self", "positions": "sinusoidal"}, {"d_model": 3}, ["n = 3", "d_model = 3"]),
    ({"source": "self", "positions": "sinusoidal"}, {"d_model": 1}, ["d_model = 1"]),
    ({"source": "self", "score": "transformer-xl"}, {"d_model": 1}, ["d_model = 1"]),
    (
        {"source": "self", "cache": True, "score": "shaw", "bias": {"alibi": {"symmetric": True}}},
        {"n": 1, "p": 1},
        ["n = 1", "p = 1"],
    ),
)


@pytest.mark.parametrize(("choices", "made_at", "said"), SIZED, ids=str)
@pytest.mark.parametrize("language", ["numpy", "python"])
def test_a_program_runs_at_the_sizes_that_it_says(
    choices: dict[str, Any], made_at: dict[str, int], said: list[str], language: str
) -> None:
    derivation = Attention(**choices).derivation()
    code = code_document(*with_numbers(derivation, dict(MADE_AT) | made_at), language)
    found = re.search(r"Written for (.*)\.", code)
    assert found is not None
    assert found[1].split(", ") == said
    kept = dict(part.split(" = ") for part in said if " = " in part)
    least = dict(part.split(" ≥ ") for part in said if " ≥ " in part)
    room: dict[str, Any] = {}
    exec(code, room)
    for sizes in (dict(MADE_AT) | made_at, {}, {"d_k": 9}, {"n": 1, "d_k": 4}):
        told = sizes | {name: int(size) for name, size in kept.items()}
        told |= {name: max(int(size), told.get(name, 0)) for name, size in least.items()}
        _, values = with_numbers(derivation, told)
        inputs = {item.letter: values.array(item.letter) for item in derivation.inputs}
        if language == "python":
            inputs = {letter: matrix.tolist() for letter, matrix in inputs.items()}
        for step in derivation.steps:
            result = np.array(room["attention"](**inputs)[step.letter], dtype=float)
            assert result == pytest.approx(values.array(step.letter), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", share(NAMES, 4, 3))
def test_torch_keeps_the_type_and_the_device_of_what_is_given(name: str) -> None:
    torch = package("torch")
    room: dict[str, Any] = {}
    exec(written(name, "torch"), room)
    given = {
        letter: torch.tensor(values) for letter, values in inputs_of(name, sizes_for(name)).items()
    }
    for told in ({"dtype": torch.bfloat16}, {"dtype": torch.float32, "device": "meta"}):
        found = room["attention"](**{letter: one.to(**told) for letter, one in given.items()})
        assert {(value.dtype, value.device.type) for value in found.values()} == {
            (told["dtype"], told.get("device", "cpu"))
        }
