"""Programs: recorded from the nodes' own formulas, they run and say what the derivation says."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import mpmath
import numpy as np
import pytest
import sympy

from symattn import VARIANTS, Attention
from symattn.arithmetic.base import Array
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.recorded import Recorded, Recording
from symattn.derivations import Derivation, Evaluation, Input, Step
from symattn.documents.code.document import code_document
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.program import Program, recorded
from symattn.documents.code.spell import names, spelled
from symattn.errors import CannotSpell
from symattn.nodes.entrywise import Entrywise
from symattn.step import Item
from tests.command import put
from tests.extras import package
from tests.nodes.test_nodes_contract import IN_MPMATH
from tests.shares import share

NAMES = tuple(row.name for row in VARIANTS)

#: A program, and what it is given.
Call: TypeAlias = tuple[str, dict[str, Array]]

#: Sizes that are all different.
SIZES = {
    "n": 5,
    "m": 7,
    "p": 3,
    "d_model": 6,
    "d_k": 4,
    "d_v": 11,
    "d_mem": 9,
    "d_val": 23,
    "d_c": 13,
    "d_cq": 15,
    "d_r": 8,
    "d_a": 17,
    "d_out": 19,
    "n_vocab": 21,
    "n_clip": 2,
    "h": 6,
    "g": 3,
}


@cache
def derived(name: str) -> Derivation:
    return next(row for row in VARIANTS if row.name == name).derivation()


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
            if item.logits:
                table[np.indices(shape).sum(axis=0) % 4 == 3] = -sympy.oo
        given[item.name] = table.tolist()
    return derivation, derivation.evaluate(**given)


def program_of(name: str) -> Program:
    return recorded(derived(name))


def inputs_of(name: str, sizes: tuple[tuple[str, int], ...] = ()) -> dict[str, Array]:
    derivation, values = example(name, sizes)
    return given_to(derivation, values)


def run_numpy(code: str, inputs: dict[str, Any]) -> dict[str, Array]:
    language = LANGUAGES["numpy"]
    parts = [*language.imports.values(), *language.helpers.values(), code]
    return run("\n".join(parts), "numpy", inputs)


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
def written(name: str, language: str) -> str:
    """The whole file for a variant."""
    return code_document(derived(name), language)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        pytest.param(name, language, marks=pytest.mark.nightly if number % of != turn else ())
        for language, of, turn in (
            ("python", 4, 0),
            ("numpy", 2, 0),
            ("torch", 4, 1),
            ("jax", 8, 2),
        )
        for number, name in enumerate(NAMES)
    ],
)
def test_files_run_and_agree(name: str, language: str) -> None:
    assert faults(name, run(written(name, language), language, inputs_of(name))) == []


#: Sizes as small as they can be, and distances and windows larger than the tokens.
SMALLEST = dict.fromkeys(SIZES, 1) | {"d_model": 2, "d_k": 2, "d_r": 2}
ODD = SMALLEST | {"n": 2, "n_clip": 4, "h": 3, "g": 3, "n_vocab": 5, "d_model": 5}


@pytest.mark.parametrize(
    ("name", "sizes"),
    share(product(NAMES, (SMALLEST, ODD)), 3),
    ids=lambda value: value if isinstance(value, str) else "odd" if value is ODD else "smallest",
)
def test_files_run_at_the_smallest_sizes(name: str, sizes: dict[str, int]) -> None:
    told = tuple(sorted(sizes.items()))
    found = run(written(name, "numpy"), "numpy", inputs_of(name, told))
    assert faults(name, found, told) == []


@pytest.mark.parametrize("language", ["python", "numpy", "torch", "jax"])
def test_python_is_formatted_as_black_does(language: str, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(written(name, language), encoding="utf-8")
    assert black_changes(tmp_path) == ""
    ran = subprocess.run(
        [*RUFF, "check", "--isolated", "--select", "E,F,N,W,I,B,UP", "--ignore", "B905", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout


RUFF = [sys.executable, "-m", "ruff"]


def black_changes(folder: Path) -> str:
    """What Black would change in the files of a folder."""
    ran = subprocess.run(
        [*RUFF, "format", "--isolated", "--diff", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode != 0) is bool(ran.stdout), ran.stderr
    return ran.stdout


def prettier_changes(node: str, prettier: Path, folder: Path) -> str:
    """The files of a folder that Prettier would change."""
    ran = subprocess.run(
        [node, prettier, "--list-different", folder], capture_output=True, text=True, check=False
    )
    assert (ran.returncode != 0) is bool(ran.stdout), ran.stderr
    return ran.stdout


def test_javascript_is_formatted_as_prettier_does(
    tool: Callable[[str], str], node_file: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.js").write_text(written(name, "javascript"), encoding="utf-8")
    assert prettier_changes(tool("node"), node_file("prettier/bin/prettier.cjs"), tmp_path) == ""


@cache
def of_long_lines() -> tuple[Derivation, Evaluation]:
    """A derivation whose names and numbers are too long for a line, in all the ways they can be."""
    n, m = sympy.symbols("n m", integer=True, positive=True)
    ordinals = ("first", "second", "third", "fourth")
    scores = [sympy.MatrixSymbol(f"S_{k}", n, m) for k, _ in enumerate(ordinals)]
    sums = [sympy.MatrixSymbol(name, n, m) for name in "TUZ"]
    few = sympy.ImmutableMatrix([[1, 2, 3], [4, 5, 6]])
    wide = sympy.ImmutableMatrix([range(100, 130)])
    tall = sympy.ImmutableMatrix(8, 12, range(100, 196))
    rows = [sympy.MatrixSymbol(name, n, width) for name, width in (("A", 2), ("B", 1), ("C", 8))]
    inputs = [
        *(
            Input(f"scores_of_the_{word}_layer", letter, "scores")
            for word, letter in zip(ordinals, scores, strict=True)
        ),
        *(Input(str(letter), letter, "numbers") for letter in rows),
    ]
    steps = [
        Step("sum_of_the_layers", sums[0], sympy.MatAdd(*scores)),
        Step(
            "what_the_first_has_more_than_others",
            sums[1],
            sympy.MatAdd(scores[0], *(-letter for letter in scores[1:])),
        ),
        Step("of_all_but_the_last", sums[2], sympy.MatAdd(*scores[:3])),
        Step("short", sympy.MatrixSymbol("D", n, 3), rows[0] * few),
        Step("wide", sympy.MatrixSymbol("E", n, 30), rows[1] * wide),
        Step("tall", sympy.MatrixSymbol("F", n, 12), rows[2] * tall),
    ]
    return with_numbers(Derivation(tuple(inputs), tuple(steps)), {})


def test_long_lines_are_broken_as_black_breaks_them(tmp_path: Path) -> None:
    derivation, values = of_long_lines()
    for language in ("python", "numpy", "torch", "jax"):
        code = code_document(derivation, language)
        (tmp_path / f"{language}.py").write_text(code, encoding="utf-8")
    assert black_changes(tmp_path) == ""
    code = (tmp_path / "numpy.py").read_text(encoding="utf-8")
    assert differing(derivation, values, run(code, "numpy", given_to(derivation, values))) == []
    (tmp_path / "numpy.py").write_text(code.replace("[1, 2, 3], ", "[1, 2, 3],\n"), "utf-8")
    assert "[1, 2, 3]" in black_changes(tmp_path)


def test_long_lines_are_broken_as_prettier_breaks_them(
    tool: Callable[[str], str], node_file: Callable[[str], Path], tmp_path: Path
) -> None:
    derivation, values = of_long_lines()
    code = code_document(derivation, "javascript")
    (tmp_path / "long.js").write_text(code, encoding="utf-8")
    node, prettier = tool("node"), node_file("prettier/bin/prettier.cjs")
    assert prettier_changes(node, prettier, tmp_path) == ""
    (found,) = run_javascript(node, tmp_path, [(code, given_to(derivation, values))])
    assert differing(derivation, values, found) == []


def faults(
    name: str, found: dict[str, Array], sizes: tuple[tuple[str, int], ...] = ()
) -> list[str]:
    """The steps of a variant whose values are not those of the derivation."""
    return differing(*example(name, sizes), found, 1e-12)


def differing(
    derivation: Derivation, values: Evaluation, found: dict[str, Any], rounding: float = 1e-9
) -> list[str]:
    """The steps whose values are not those of the derivation."""
    program = recorded(derivation)
    letters = names(program)
    out = []
    for step, value in program.steps:
        wanted, got = values.array(step.letter), np.asarray(found[letters[step.letter]], float)
        if step.letter in program.conditions:
            wanted = (wanted == 0).astype(float)  # true where the derivation has 0, not −∞
        wanted = without_ones(wanted, step, value)
        size = np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
        same = wanted.shape == got.shape and np.allclose(
            got, wanted, rtol=rounding, atol=rounding * 1e-3 * size, equal_nan=False
        )
        out += [] if same else [step.name]
    return out


def run_javascript(node: str, folder: Path, calls: Iterable[Call]) -> Iterator[dict[str, Array]]:
    """What each program returns, by name: all of them run by one process."""
    parts = [
        "const plain = (key, x) => ArrayBuffer.isView(x) ? Array.from(x) : "
        "x === -Infinity ? '-inf' : x !== x ? 'nan' : x;"
    ]
    for code, given in calls:
        told = ", ".join(
            f"{letter}: matrix({json.dumps(values.tolist())})" for letter, values in given.items()
        )
        call = f"console.log(JSON.stringify(attention({{ {told} }}), plain));"
        parts.append(f"{{\n{code}\n{call}\n}}")
    script = put(folder / "programs.js", "\n".join(parts))
    ran = subprocess.run([node, script], capture_output=True, text=True, check=True)
    for line in ran.stdout.splitlines():
        yield {
            letter: np.array([float(x) for x in value["data"]]).reshape(value["shape"])
            for letter, value in json.loads(line).items()
        }


def test_javascript_runs_and_agrees(tool: Callable[[str], str], tmp_path: Path) -> None:
    calls = ((written(name, "javascript"), inputs_of(name)) for name in NAMES)
    found = run_javascript(tool("node"), tmp_path, calls)
    wrong = {name: faults(name, values) for name, values in zip(NAMES, found, strict=True)}
    assert {name: steps for name, steps in wrong.items() if steps} == {}


def test_a_wrong_program_is_noticed() -> None:
    code = spelled(program_of("causal"), LANGUAGES["numpy"])
    for old, new in (("@ k.mT", "@ k"), ("softmax(", "hardmax("), ("scores / ", "4 * scores / ")):
        assert old in code
        spoilt = code.replace(old, new)
        try:
            found = run_numpy(spoilt, inputs_of("causal"))
        except ValueError:
            continue  # the shapes do not even fit
        assert "weights" in faults("causal", found)


def test_what_cannot_be_followed_is_refused() -> None:
    recording = Recording()
    one = recording.given("X", sympy.symbols("n m", positive=True))
    with pytest.raises(CannotSpell, match="sqrt outside its arithmetic"):
        np.sqrt(one)
    with pytest.raises(CannotSpell, match="entries outside its arithmetic"):
        one[0]
    derivation = Attention(source="bare", heads="h", bias="alibi").derivation()
    with pytest.raises(CannotSpell, match="nothing that is given says how large h"):
        code_document(derivation, "numpy")


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
    {"chunk": 2},
    {"packed": [1, 3]},
    {"packed": [2, 3, 5]},
    {"window-2d": [2, 2]},
    {"window-2d": [4, 2, 1]},
    {"causal": -1},
    {"global": [1, 3]},
    {"padding": 3},
    {"any": [{"window": 1}, {"global": [1]}]},
    {"any": ["causal", {"prefix": 2}]},
    {"all": ["causal", {"window": 2}]},
    {"all": ["causal", {"padding": 2}]},
)


@pytest.mark.parametrize(("source", "mask"), share(product(["self", "given"], MASKS), 2), ids=str)
def test_masks_are_for_any_number_of_tokens(mask: Any, source: Any) -> None:
    derivation = Attention(source=source, mask=mask).derivation()
    assert agrees(derivation, code_document(derivation, "numpy"), {}) == []


#: A choice, another one that differs by settings, and these as arguments of the first's program.
SETTINGS: tuple[tuple[dict[str, Any], dict[str, Any], dict[str, Any]], ...] = (
    ({"mask": {"window": 2}}, {"mask": {"window": 1}}, {"window": 1}),
    ({"mask": {"window": [3, 0]}}, {"mask": {"window": [1, 0]}}, {"window": 1}),
    ({"mask": {"window": [1, 2]}}, {"mask": {"window": [2, 1]}}, {"window": 2, "lookahead": 1}),
    ({"mask": {"prefix": 2}}, {"mask": {"prefix": 3}}, {"prefix": 3}),
    ({"mask": {"padding": 2}}, {"mask": {"padding": 3}}, {"length": 3}),
    ({"mask": {"dilated": [1, 2]}}, {"mask": {"dilated": [2, 1]}}, {"width": 2, "step": 1}),
    ({"mask": {"strided": 2}}, {"mask": {"strided": 3}}, {"stride": 3}),
    ({"mask": {"chunk": 2}}, {"mask": {"chunk": 3}}, {"chunk": 3}),
    (
        {"mask": {"window-2d": [4, 2, 1]}},
        {"mask": {"window-2d": [3, 3, 2]}},
        {"grid": 3, "window": 3, "shift": 2},
    ),
    ({"soft_cap": 2}, {"soft_cap": "1/2"}, {"soft_cap": 0.5}),
    ({"positions": "rotary"}, {"positions": {"rotary": {"base": 50}}}, {"base": 50}),
    ({"positions": "sinusoidal"}, {"positions": {"sinusoidal": {"base": 50}}}, {"base": 50}),
    (
        {"bias": {"relative": {"buckets": 8, "max_distance": 8}}},
        {"bias": {"relative": {"buckets": 8, "max_distance": 5, "bidirectional": False}}},
        {"max_distance": 5, "bidirectional": False},
    ),
)


@pytest.mark.parametrize(
    ("language", "number"), share(product(["numpy", "python"], range(len(SETTINGS))), 2)
)
def test_a_setting_is_an_argument(language: str, number: int) -> None:
    one, other, settings = SETTINGS[number]
    code = code_document(Attention(source="self", **one).derivation(), language)
    derivation, values = with_numbers(Attention(source="self", **other).derivation(), {})
    given = given_to(derivation, values)
    assert differing(derivation, values, run(code, language, given)) != []
    assert differing(derivation, values, run(code, language, given, settings)) == []


def agrees(derivation: Derivation, code: str, sizes: dict[str, int]) -> list[str]:
    """The steps whose values in a NumPy program are not those of the derivation."""
    _, values = with_numbers(derivation, sizes)
    return differing(derivation, values, run(code, "numpy", given_to(derivation, values)))


def run(
    code: str, language: str, given: dict[str, Array], settings: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What the program in a file of Python returns."""
    room: dict[str, Any] = {}
    exec(code, room)
    with as_given_to(language) as array, np.errstate(all="ignore"):
        inputs = {name: array(x) for name, x in given.items()}
        found: dict[str, Any] = room["attention"](**inputs, **(settings or {}))
    return found


def conditions(name: str) -> set[str]:
    """The keys of a variant's masks, which say where a query may attend."""
    program = program_of(name)
    return {names(program)[letter] for letter in program.conditions}


def given_to(derivation: Derivation, values: Evaluation) -> dict[str, Array]:
    """What the program of a derivation is given, by its names."""
    program = recorded(derivation)
    letters = names(program)
    return {
        letters[item.letter]: without_ones(values.array(item.letter), item, value)
        for item, value in program.inputs
    }


def without_ones(numbers: Array, item: Item, value: Recorded) -> Array:
    """A row or a column as a program has it, without the axis whose length is always 1."""
    axes = item.per_head + 2
    if value.ndim == axes:
        return numbers
    ones = tuple(axis for axis in (-2, -1) if item.shape[axis] == 1)
    assert value.ndim == axes - len(ones)
    return numbers.squeeze(ones)


#: Rows of −∞ alone: where there can be any, there is a guard, and nowhere else.
GUARDED = (
    ({"source": "self", "mask": "causal"}, False),
    ({"source": "given", "mask": "causal"}, False),
    ({"source": "self", "mask": None}, False),
    ({"source": "self", "mask": {"window": 1}}, False),
    ({"source": "given", "mask": {"window": 1}}, True),
    ({"source": "self", "mask": {"documents": [1, 1, 2, 2, 2]}}, False),
    ({"source": "self", "mask": {"all": ["causal", {"window": 2}]}}, False),
    ({"source": "self", "mask": {"global": [2]}}, True),
    ({"source": "self", "mask": {"padding": 0}}, True),
    ({"source": "self", "mask": {"padding": 2}}, False),
    ({"source": "self", "mask": "boolean"}, True),
    ({"source": "self", "mask": "additive"}, True),
    ({"source": "self", "cache": True, "mask": {"window": [1, 0]}}, False),
    ({"source": "self", "mask": "boolean", "normaliser": "softmax-off-by-one"}, False),
)


@pytest.mark.parametrize(("choices", "guarded"), GUARDED, ids=str)
def test_a_row_is_guarded_where_it_can_be_empty(choices: dict[str, Any], guarded: bool) -> None:
    derivation = Attention(**choices).derivation()
    code = code_document(derivation, "numpy")
    assert ("any_visible" in code or "empty" in code) is guarded
    assert agrees(derivation, code, {}) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_function_of_an_entry_has_a_spelling(language: str) -> None:
    spoken = LANGUAGES[language]
    missing = ", ".join(name for name in FUNCTIONS if spoken.template(name, 1) is None)
    assert not missing, f"{missing}: spell it in {language}, symattn/documents/code/languages.py"


def of_each_entry(name: str) -> Derivation:
    """One step Y = f(X)."""
    rows, columns = sympy.symbols("n m", integer=True, positive=True)
    X, Y = (sympy.MatrixSymbol(letter, rows, columns) for letter in "XY")
    return Derivation((Input("X", X, "numbers"),), (Step("y", Y, Entrywise(X, name)),))


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
    exec(code_document(of_each_entry(name), language), room)
    with as_given_to(language) as array:
        found = np.asarray(room["attention"](x=array(np.array([numbers])))["y"])
    np.testing.assert_allclose(found[0], of_mpmath(name, numbers), rtol=4e-15, atol=2e-16)


def test_a_function_of_an_entry_is_that_of_mpmath_in_javascript(
    tool: Callable[[str], str], tmp_path: Path
) -> None:
    for name in IN_MPMATH:
        numbers = arguments(name)
        code = code_document(of_each_entry(name), "javascript")
        told = f"Array.from(attention({{ x: matrix([{json.dumps(numbers)}]) }}).y.data)"
        script = put(tmp_path / "function.js", f"{code}\nconsole.log(JSON.stringify({told}));")
        ran = subprocess.run([tool("node"), script], capture_output=True, text=True, check=True)
        wanted = of_mpmath(name, numbers)
        np.testing.assert_allclose(json.loads(ran.stdout), wanted, rtol=4e-15, atol=2e-16)


def test_the_error_function_of_javascript_is_good_for_small_numbers_and_at_its_ends(
    tool: Callable[[str], str],
) -> None:
    """JavaScript has none of its own: relative errors to 2e-15, also where erf x is tiny."""
    rng = np.random.default_rng(4)
    numbers = [*rng.uniform(-7, 7, 2000), *np.exp(-rng.uniform(0, 700, 500)), 2.0, 1.9999999999]
    program = LANGUAGES["javascript"].helpers["errorFunction"]
    ends = "[Infinity, -Infinity, NaN, 0, -0].map((x) => 1 / errorFunction(x))"
    script = f"{program}; console.log(JSON.stringify({json.dumps(numbers)}.map(errorFunction)));"
    ran = subprocess.run(
        [tool("node"), "-e", f"{script} console.log({ends}.join());"],
        capture_output=True,
        text=True,
        check=True,
    )
    found, at_ends = ran.stdout.splitlines()
    np.testing.assert_allclose(json.loads(found), of_mpmath("erf", numbers), rtol=2e-15)
    assert at_ends == "1,-1,NaN,Infinity,-Infinity"


@pytest.mark.parametrize("name", share(NAMES, 2))
def test_numbers_keep_their_type(name: str) -> None:
    room: dict[str, Any] = {}
    exec(written(name, "numpy"), room)
    given = {key: value.astype(np.float32) for key, value in inputs_of(name).items()}
    with np.errstate(all="ignore"):
        found = room["attention"](**given)
    masks = conditions(name)
    kept = {key: value.dtype for key, value in found.items() if key not in masks}
    assert set(kept.values()) == {np.dtype(np.float32)}, kept
    assert all(found[key].dtype == bool for key in masks)


@pytest.mark.parametrize("name", share(NAMES, 4, 3))
def test_torch_keeps_the_type_and_the_device_of_what_is_given(name: str) -> None:
    torch = package("torch")
    room: dict[str, Any] = {}
    exec(written(name, "torch"), room)
    given = {letter: torch.tensor(values) for letter, values in inputs_of(name).items()}
    for told in ({"dtype": torch.bfloat16}, {"dtype": torch.float32, "device": "meta"}):
        found = room["attention"](**{letter: one.to(**told) for letter, one in given.items()})
        for key, value in found.items():
            dtype = torch.bool if key in conditions(name) else told["dtype"]
            assert (key, value.dtype) == (key, dtype)
            assert (key, value.device.type) == (key, told.get("device", "cpu"))
