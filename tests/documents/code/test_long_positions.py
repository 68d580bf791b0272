"""Far positions in few digits: what is made of positions, in every language and dtype.

A half has 11 significant bits and a bfloat16 has 8, so that neither has the position 3,001 or an
angle of as many radians. Each step that is made of positions is held against its formula in
float64, of the numbers that the program itself has as its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import VARIANTS, Attention
from symattn.arithmetic.base import Array
from symattn.derivations import Derivation
from symattn.documents.code.document import code_document
from symattn.documents.code.program import Program, recorded
from symattn.documents.code.spell import names
from symattn.nodes.base import Node
from symattn.nodes.biases import ALiBi, BucketSum, RelativeBias
from symattn.nodes.positions import PAIRINGS, Rotary, Sinusoidal
from symattn.nodes.relative import ClippedShift, RelativeShift, ShiftSum
from symattn.step import Step
from tests.documents.code.test_code import run, run_javascript
from tests.extras import package
from tests.positions import get_slopes, position_bucket, turned, waves
from tests.shares import share

#: How many tokens come before the two that are asked for.
FAR = (512, 3000, 8192)

#: Where positions begin, where they do not begin with 0.
START = 5000

#: So many units of rounding a rotation takes: two products, a sum, a cosine.
ROUNDINGS = 6

#: The bits of the fraction, the first one counted.
BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
DTYPES = ("float32", "float16", "bfloat16")

SIZES = {"n": 2, "m": 2, "d_model": 8, "d_k": 8, "d_v": 3, "d_r": 8, "d_c": 3, "d_cq": 3}
SIZES |= {"h": 6, "g": 3, "d_out": 3, "n_clip": 4}

_GIVEN = {"source": "given", "cache": True}

#: Every position scheme and its options.
SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "rotary": {**_GIVEN, "positions": "rotary"},
    "halves": {**_GIVEN, "positions": {"rotary": {"pairing": "half", "base": 500000}}},
    "some columns": {**_GIVEN, "positions": {"rotary": {"pairing": "half", "dims": 4}}},
    "started": {**_GIVEN, "positions": {"rotary": {"start": START}}},
    "sinusoids": {"source": "self", "cache": True, "positions": "sinusoidal"},
    "sinusoids of base 100": {
        "source": "self",
        "cache": True,
        "positions": {"sinusoidal": {"base": 100, "start": START}},
    },
    "slopes": {**_GIVEN, "bias": "alibi"},
    "slopes of heads": {**_GIVEN, "heads": "h", "bias": "alibi"},
    "slopes on both sides": {**_GIVEN, "heads": "h", "bias": {"alibi": {"symmetric": True}}},
    "buckets": {**_GIVEN, "bias": "relative"},
    "buckets of earlier keys": {
        **_GIVEN,
        "bias": {"relative": {"bidirectional": False, "max_distance": 4000}},
    },
    "clipped distances": {**_GIVEN, "bias": {"relative": {"clip": 300}}},
    "keys of distances": {**_GIVEN, "score": "shaw"},
    "sinusoids of distances": {"source": "self", "cache": True, "score": "transformer-xl"},
}

#: What is given or learned, which no position is needed for.
_NOT_MADE = ("given", "learned")

#: The named variants that have positions.
NAMED = tuple(
    row.name
    for row in VARIANTS
    if any(choice and choice[0] not in _NOT_MADE for choice in (row.spec.positions, row.spec.bias))
    or row.spec.score in ("shaw", "transformer-xl")
)


@cache
def derived(name: str) -> Derivation:
    """A scheme, or a variant with keys from before, and its backward pass.

    That of Transformer-XL only adds up, in as many columns as there are distances.
    """
    named = (row.spec for row in VARIANTS if row.name == name)
    spec = Attention(**SCHEMES[name]) if name in SCHEMES else replace(next(named), cache=True)
    derivation = spec.derivation()
    return derivation if spec.score == "transformer-xl" else derivation.gradient()


@cache
def program_of(name: str) -> Program:
    return recorded(derived(name))


@cache
def code_of(name: str, language: str) -> str:
    return code_document(derived(name), language)


@cache
def given_to(name: str, far: int) -> dict[str, Array]:
    """Numbers for a program, of few binary digits, so that every dtype holds them exactly."""
    random = np.random.default_rng(7)
    program = program_of(name)
    buckets = sympy.Symbol("buckets", positive=True, integer=True)
    known = {**sizes_at(derived(name), far), buckets: 32}
    called = names(program)
    return {
        called[item.letter]: random.integers(
            -8, 9, size=[int(size.subs(known)) for size in value.shape]
        )
        / 8
        for item, value in program.inputs
    }


# ---- the formulas, in float64 --------------------------------------------------------------------


def buckets(node: RelativeBias | BucketSum, apart: Array) -> Array:
    """T5's buckets by logarithms, or clipped distances."""
    if node.clip >= 0:
        return np.clip(apart, -int(node.clip), int(node.clip)) + int(node.clip)
    told = bool(node.bidirectional), int(node.buckets), int(node.furthest)
    return np.asarray(np.vectorize(lambda distance: position_bucket(distance, *told))(apart))


def formula(
    node: Node, values: Callable[[sympy.Basic], Array], sizes: Mapping[sympy.Symbol, int]
) -> Array:
    """The value of a node that is made of positions."""
    node = node.subs(sizes)
    start = int(node.start) if "start" in node.places else 0
    match node:
        case Rotary():
            pairing, way = PAIRINGS[node.pairing], 1 if node.forwards else -1
            x = values(node.matrix)
            return turned(x, float(node.base), int(node.dims), pairing, start, way)
        case Sinusoidal():
            places = start + np.arange(int(node.rows))
            return waves(places, int(node.columns), float(node.base))
        case ALiBi():
            apart = np.arange(int(node.columns)) - np.arange(int(node.rows))[:, None] - start
            heads = np.array(get_slopes(int(node.heads)))[:, None, None]
            bias = heads * (-np.abs(apart) if node.symmetric else apart)
            return np.asarray(bias if node.heads != 1 else bias[0])
        case RelativeBias():
            apart = np.arange(int(node.columns)) - np.arange(int(node.rows))[:, None] - start
            return values(node.table)[..., buckets(node, apart), 0]
        case BucketSum():
            x = values(node.matrix)
            apart = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None] - start
            shared = buckets(node, apart)[..., None] == np.arange(int(node.buckets))
            return np.asarray(np.einsum("...ij,ijc->...c", x, shared)[..., None])
    raise NotImplementedError(type(node))


#: Nodes that are held against their formulas above; the shifts only take entries.
MADE = (Rotary, Sinusoidal, ALiBi, RelativeBias, BucketSum)


def made_of_positions(derivation: Derivation) -> list[Step]:
    return [step for step in derivation.steps if isinstance(step.expr, MADE)]


def test_every_scheme_has_a_step_that_is_made_of_positions() -> None:
    """And no node that counts positions is left out."""
    for name in (*SCHEMES, *NAMED):
        kinds = {type(node) for step in derived(name).steps for node in step.expr.atoms(Node)}
        taking = {ClippedShift, RelativeShift, ShiftSum}
        assert made_of_positions(derived(name)) or kinds & taking, name


def faults(name: str, found: Mapping[str, Array], far: int, dtype: str, angles: int) -> list[str]:
    """The steps that are off by more than rounding in a dtype, with angles of so many bits."""
    derivation = derived(name)
    program, given = program_of(name), given_to(name, far)
    called = names(program)
    sizes = sizes_at(derivation, far)
    shapes = {item.letter: value.shape for item, value in (*program.inputs, *program.steps)}
    items = {item.letter: item for item, _ in (*program.inputs, *program.steps)}

    def value(matrix: sympy.Basic) -> Array:
        """The program's own value of a matrix, with the axes of length 1 that it drops."""
        letter = matrix.name
        own = np.asarray((found if called[letter] in found else given)[called[letter]], float)
        if len(shapes[letter]) < 2 + items[letter].per_head:
            own = own[..., None]
        return own

    out = []
    for step in made_of_positions(derivation):
        wanted = formula(step.expr, value, sizes)
        own = np.asarray(found[called[step.letter]], float).reshape(wanted.shape)
        size = np.abs(wanted).max()
        if isinstance(step.expr, BucketSum):  # so many are added up
            size = formula(step.expr, lambda x: np.abs(value(x)), sizes).max()
        turn = isinstance(step.expr, Rotary | Sinusoidal)
        reached = far + START + SIZES["n"]
        allowed = ROUNDINGS * 2.0 ** -BITS[dtype] + turn * reached * 2.0 ** (2 - angles)
        error = np.abs(own - wanted).max() / size
        out += [] if error <= allowed else [f"{step.name}: off by {error:.2g} of {allowed:.2g}"]
    return out


def sizes_at(derivation: Derivation, far: int) -> dict[sympy.Symbol, int]:
    """The sizes with so many keys from before."""
    symbols = {
        symbol
        for item in (*derivation.inputs, *derivation.steps)
        for size in (*item.shape, *filter(None, (item.count,)))
        for symbol in size.free_symbols
    }
    return {symbol: far if symbol.name == "p" else SIZES[symbol.name] for symbol in symbols}


def of_torch(numbers: Array, dtype: str) -> Any:
    torch = package("torch")
    return torch.tensor(numbers).to(getattr(torch, dtype))


def of_jax(numbers: Array, dtype: str) -> Any:
    numpy = package("jax.numpy")
    return numpy.asarray(numbers, dtype=getattr(numpy, dtype))


def of_numpy(numbers: Array, dtype: str) -> Any:
    return numbers.astype(package("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)


def plain(value: Any) -> Array:
    if hasattr(value, "double"):
        return value.double().numpy()  # type: ignore[no-any-return]
    return np.asarray(value).astype(float)


#: What makes an array of a language, its dtypes, and the bits that it has for angles.
LANGUAGES: Mapping[str, tuple[Callable[[Array, str], Any], int]] = {
    "numpy": (of_numpy, 53),
    "torch": (of_torch, 24),
    "jax": (of_jax, 24),
}


#: What is asked in the usual run: the shortest dtypes, farther than their bits reach.
USUAL = {("numpy", "float16", 3000), ("torch", "bfloat16", 512)}


@pytest.mark.parametrize(
    ("language", "dtype", "far"),
    [
        pytest.param(*row, marks=() if row in USUAL else pytest.mark.nightly)
        for row in product(LANGUAGES, DTYPES, FAR)
    ],
)
def test_programs_at_far_positions(language: str, dtype: str, far: int) -> None:
    convert, angles = LANGUAGES[language]
    wrong: dict[str, list[str]] = {}
    for name in SCHEMES if language == "jax" else (*SCHEMES, *NAMED):
        room: dict[str, Any] = {}
        exec(code_of(name, language), room)
        given = given_to(name, far)
        with np.errstate(all="ignore"):
            found = room["attention"](**{key: convert(x, dtype) for key, x in given.items()})
            faulty = faults(name, {k: plain(x) for k, x in found.items()}, far, dtype, angles)
        wrong |= {name: faulty} if faulty else {}
    assert wrong == {}


@pytest.mark.parametrize("far", share(FAR, 3))
def test_programs_of_lists_at_far_positions(far: int) -> None:
    wrong: dict[str, list[str]] = {}
    for name in SCHEMES:
        found = run(code_of(name, "python"), "python", given_to(name, far))
        faulty = faults(name, found, far, "float64", 53)
        wrong |= {name: faulty} if faulty else {}
    assert wrong == {}


@pytest.mark.parametrize("far", share(FAR, 3))
def test_programs_in_javascript_at_far_positions(
    far: int, tool: Callable[[str], str], tmp_path: Path
) -> None:
    calls = [(code_of(x, "javascript"), given_to(x, far)) for x in SCHEMES]
    found = run_javascript(tool("node"), tmp_path, calls)
    wrong = {
        name: faults(name, values, far, "float64", 53)
        for name, values in zip(SCHEMES, found, strict=True)
    }
    assert {name: steps for name, steps in wrong.items() if steps} == {}
