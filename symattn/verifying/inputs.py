"""What a function is tried on: properties, each with the sizes and the numbers that ask for it.

All numbers are multiples of 1/8, so that every dtype holds them exactly. A new property is a row
of `PROPERTIES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np

from symattn.arithmetic.base import Array
from symattn.attention.vocabulary import WORDS, is_learned
from symattn.derivations import Derivation
from symattn.errors import SymattnError
from symattn.step import Input
from symattn.verifying.own import Meant
from symattn.verifying.subject import shape_of_input

#: Sizes that differ, so that no axis is taken for another one; what is not named is 3.
_USUAL: Mapping[str, int] = {
    "p": 2,
    "d_model": 6,
    "d_mem": 5,
    "d_val": 4,
    "d_k": 4,
    "d_v": 2,
    "d_r": 2,
    "d_out": 7,
    "h": 4,
    "g": 2,
    "n_vocab": 5,
}

#: How numbers are drawn: the largest one, and what they are multiples of.
_DRAWN: Mapping[str, tuple[int, float]] = {
    "usual": (16, 0.125),
    "large": (960, 0.125),
    "low": (624, 0.125),
    "lower": (1960, 0.125),
    "lower still": (11000, 0.125),
    "lowest": (1960, 2.0**5),
    "lowest in float32": (1960, 2.0**48),
    "lowest of all": (1960, 2.0**64),
    "lowest in float16": (960, 0.125),
    "fine": (2**21, 2.0**-20),
    "tiny": (16, 2.0**-60),
    "zeros": (0, 1.0),
    "small": (2, 1.0),
    **{f"low {most}": (most, 0.125) for most in (40, 56, 80, 112, 160, 224, 320)},
}

_LOW = tuple(name for name in _DRAWN if name.startswith("low"))

#: What values are made of, which are not 0 where all scores are.
_OF_VALUES = ("V", "X", "W_V", "W_O")
_LARGE = ("large", *_LOW)
_EXTREME = (*_LARGE, "tiny", "zeros")


@dataclass(frozen=True)
class Property:
    """One thing to hold of a function: its name, what is tried, and on which inputs."""

    name: str
    about: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    drawn: str = "usual"
    dtype: str = "float64"
    #: How many calculations there are at once.
    batch: int = 1
    strided: bool = False
    #: Whether a query sees no key.
    empty_row: bool = False
    #: Whether a function need not be able to do this at all; if it can, it has to be right.
    optional: bool = False
    #: Whether it is about what masked scores are set to.
    hidden: bool = False
    #: Which of several draws this is.
    seed: int = 0
    #: Whether the gradients of its backward pass are tried.
    backward: bool = False

    @property
    def is_large(self) -> bool:
        """Whether its scores are so large or so low that their exponentials leave a float."""
        return self.drawn in _LARGE


_WIDTHS = ("n", "m", "d_k", "d_v", "d_model", "d_mem", "d_out")

#: The same of the backward pass: of an ordinary input first.
FIRST_GRADIENT = Property("gradient", "the gradients of its backward pass", backward=True)
_BACKWARD = (
    FIRST_GRADIENT,
    *(
        replace(FIRST_GRADIENT, name=f"gradient, {name}", about=f"gradients, {about}", **more)
        for name, about, more in (
            ("fewer queries", "fewer queries than keys", {"sizes": {"n": 2, "m": 5}}),
            ("more queries", "more queries than keys", {"sizes": {"n": 5, "m": 2}}),
            ("square", "all matrices square", {"sizes": dict.fromkeys(_WIDTHS, 4)}),
            ("one token", "one query, one key", {"sizes": {"n": 1, "m": 1}}),
            (
                "fully masked",
                "a query that may attend to no key",
                {"sizes": {"n": 3, "m": 4}, "empty_row": True},
            ),
            ("large scores", "scores of thousands, where e^z overflows", {"drawn": "large"}),
            ("low scores", "scores of minus thousands", {"drawn": "low", "seed": 3}),
            (
                "other sizes",
                "other sizes",
                {"sizes": {"n": 4, "m": 6, "d_k": 2, "d_v": 3, "g": 4}, "seed": 1},
            ),
            (
                "other heads",
                "another number of heads",
                {"sizes": {"h": 6, "g": 3, "n": 2, "m": 3}, "seed": 2},
            ),
            (
                "more tokens",
                "more tokens than a window or a small block holds",
                {"sizes": {"n": 9, "m": 11}},
            ),
            (
                "many tokens",
                "more tokens than a block of 64 holds",
                {"sizes": {"n": 67, "m": 69}},
            ),
            ("batched", "several calculations at once", {"batch": 2, "optional": True}),
            ("not contiguous", "arrays that are views of others", {"strided": True}),
            ("float32", "single precision", {"dtype": "float32"}),
            ("float16", "half precision", {"dtype": "float16"}),
        )
    ),
)

PROPERTIES: tuple[Property, ...] = (
    Property("ordinary", "a few tokens, moderate numbers"),
    Property("rectangular", "fewer queries than keys", {"n": 2, "m": 5}),
    Property("more queries", "more queries than keys", {"n": 5, "m": 2}),
    Property("square", "all matrices square", dict.fromkeys(_WIDTHS, 4)),
    Property("one token", "one query, one key", {"n": 1, "m": 1}),
    Property("fully masked", "a query that may attend to no key", {"n": 3, "m": 4}, empty_row=True),
    Property("large scores", "scores of thousands, where e^z overflows", drawn="large"),
    Property("low scores", "scores of minus thousands", drawn="low", seed=3),
    Property("lower scores", "scores of minus tens of thousands", drawn="lower", seed=3),
    Property(
        "much lower scores", "scores of minus millions", drawn="lower still", seed=3, hidden=True
    ),
    Property(
        "lowest scores",
        "scores of minus thousands of millions",
        drawn="lowest",
        seed=3,
        hidden=True,
    ),
    Property(
        "scores below float32",
        "scores below all numbers of single precision",
        drawn="lowest of all",
        seed=3,
        hidden=True,
    ),
    Property("tiny numbers", "numbers near 10^-18", drawn="tiny"),
    Property("equal scores", "all scores 0", drawn="zeros"),
    Property("other sizes", "other sizes", {"n": 4, "m": 6, "d_k": 2, "d_v": 3, "g": 4}, seed=1),
    Property("other heads", "another number of heads", {"h": 6, "g": 3, "n": 2, "m": 3}, seed=2),
    Property(
        "long fractions", "numbers of 21 binary digits, which half precision lacks", drawn="fine"
    ),
    Property("more tokens", "more tokens than a window or a small block holds", {"n": 9, "m": 11}),
    Property("many tokens", "more tokens than a block of 128 holds", {"n": 131, "m": 133}),
    Property("batched", "several calculations at once", batch=2, optional=True),
    Property("not contiguous", "arrays that are views of others", strided=True),
    Property("float32", "single precision", dtype="float32", optional=True),
    Property(
        "float32, large scores",
        "large scores in single precision",
        drawn="large",
        dtype="float32",
        optional=True,
    ),
    Property("float16", "half precision", dtype="float16", optional=True),
    Property("bfloat16", "half precision with a short fraction", dtype="bfloat16", optional=True),
    *(
        Property(
            f"{dtype}, lowest scores",
            f"scores far below 0 in {dtype}",
            drawn="lowest in float16" if dtype == "float16" else "lowest in float32",
            dtype=dtype,
            optional=True,
            seed=3,
            hidden=True,
        )
        for dtype in ("float32", "float16", "bfloat16")
    ),
    *_BACKWARD,
)


#: Tried beside these where only hidden rows or extreme scores go wrong: they tell to what masked
#: scores are set, or where others are clipped, which shows where the scores are about as low.
PROBES: tuple[Property, ...] = tuple(
    Property(drawn, "scores of minus tens to minus thousands", {"n": 9, "m": 11}, drawn, seed=seed)
    for drawn in _LOW
    if drawn.startswith("low ")
    for seed in (1, 2)
)


#: Tried where nothing is proven of all sizes: more heads, and more and more tokens, for whatever
#: a function does only from a certain size on.
FAR: tuple[Property, ...] = (
    Property("many heads", "36 heads", {"n": 2, "m": 3, "h": 36, "g": 12}),
    Property(
        "wide", "keys of more than 128 numbers", {"d_k": 136, "d_v": 130, "d_model": 144, "n": 3}
    ),
    *(
        Property(
            f"{most + 5} tokens",
            f"more tokens than a block of {most} holds",
            {"n": most + 5, "m": most + 7},
        )
        for most in (32, 64, 128, 256, 512, 1024, 2048)
    ),
)


def sizes_of(derivation: Derivation, spec: Meant, wanted: Mapping[str, int]) -> dict[str, int]:
    """The sizes of a case by name: those wanted, and the usual ones.

    Where a number of heads is fixed, it is that.
    """
    names = sorted({symbol.name for symbol in derivation.size_symbols} | {"h", "g"})
    sizes = {name: wanted.get(name, _USUAL.get(name, 3)) for name in names}
    for name, value in (("h", spec.heads), ("g", spec.kv_heads)):
        if isinstance(value, int):
            sizes[name] = value
    if spec.bias is not None and "alibi" in str(spec.bias) and sizes["h"] & (sizes["h"] - 1):
        sizes["h"] = 8  # the paper's text and its code differ where that is no power of two
    return sizes


def fits(item: Property, spec: Meant, derivation: Derivation) -> bool:
    """Whether a property asks something of this attention that the ordinary one does not."""
    if item.empty_row:
        return any(one.name in ("allowed", "mask") for one in derivation.inputs)
    if item.hidden:
        given = {one.name for one in derivation.inputs}
        fits_float16 = item.dtype != "float16" or {"Q", "K"} <= given  # nothing grows on the way
        return bool(spec.mask or "masked" in given) and fits_float16
    symbols = {symbol.name for symbol in derivation.size_symbols}
    if item.name.endswith(("rectangular", "more queries", "fewer queries")):
        return {"n", "m"} <= symbols
    if item.name.endswith(" heads"):
        return spec.heads == "h"
    return True


def numbers_of(
    item: Property, derivation: Derivation, sizes: Mapping[str, int], lead: int, spec: Meant
) -> dict[str, Array]:
    """The matrices of a case by name, the same ones whenever it is asked for."""
    random = np.random.default_rng([item.seed, *sizes.values()])
    symbols = {symbol: sizes[symbol.name] for symbol in derivation.size_symbols}
    counts = {
        s: sizes[s.name]
        for one in derivation.inputs
        if one.count is not None
        for s in one.count.free_symbols
    }
    numbers: dict[str, Array] = {}
    for one in derivation.inputs:
        shape = shape_of_input(one, {**symbols, **counts})
        word = WORDS.get(one.name)
        shared = one.fixed or word is None or word.learned
        axes = () if shared else _batches(item, lead)
        numbers[one.name] = _drawn(item, one, (*axes, *shape), random, spec)
    if item.drawn in _LOW and {"W_Q", "W_K"} <= set(numbers):
        numbers["W_K"] = _opposite(numbers["W_Q"], numbers["W_K"])
    return numbers


def _opposite(queries: Array, keys: Array) -> Array:
    """Weights by which the keys of a token are its queries with the other sign, if they fit."""
    if queries.shape[-2:] != keys.shape[-2:]:
        return keys
    if queries.ndim == keys.ndim == 3:  # of each group the first head
        queries = queries[:: len(queries) // len(keys)]
    return -np.array(queries if queries.ndim == keys.ndim else queries[0])


def _batches(item: Property, lead: int) -> tuple[int, ...]:
    """The axes for batches; a function that has none is given one only where that is tried."""
    return (item.batch,) * max(lead, 1 if item.batch > 1 else 0)


def _drawn(
    item: Property, one: Input, shape: tuple[int, ...], random: np.random.Generator, spec: Meant
) -> Array:
    most, unit = _DRAWN[item.drawn]
    learned = is_learned(one.name)
    if learned and item.drawn in _EXTREME:
        most, unit = _DRAWN["usual"]
    if one.boolean:
        seen = random.random(shape) < (0 if item.hidden else 0.6)
        seen[..., np.arange(shape[-2]), random.integers(shape[-1], size=shape[-2])] = True
        if item.empty_row:
            seen[..., 0, :] = False
        return seen
    if one.name == "one_hot":
        return np.eye(shape[-1])[random.integers(shape[-1], size=shape[:-1])]
    if one.name in _OF_VALUES and item.drawn == "zeros":
        most, unit = _DRAWN["usual"]
    if one.name == "X" and item.drawn in _LOW:
        most //= 3  # projections make it larger
    drawn: Array = random.integers(-most, most + 1, size=shape) * unit
    if item.drawn in _LOW and one.name in ("Q", "K"):
        least = 0.9 * most * unit if item.dtype == "float16" else 0  # of what it has, the lowest
        drawn = np.maximum(np.abs(drawn), least) * (1 if one.name == "Q" else -1)
    if spec.normaliser == "sum" and not learned:
        drawn = np.abs(drawn) + unit
    if one.name in ("mask", "masked"):
        hidden = random.random(shape) < (1 if item.hidden else 0.4)
        hidden[..., np.arange(shape[-2]), random.integers(shape[-1], size=shape[-2])] = False
        if item.empty_row:
            hidden[..., 0, :] = True
        drawn = np.where(hidden, -np.inf, drawn)
    return drawn


def drawn_for(item: Property, shape: tuple[int, ...]) -> Array:
    """Numbers for a gradient that a backward pass starts from."""
    random = np.random.default_rng([item.seed, *shape])
    most, unit = _DRAWN["small" if item.drawn == "small" else "usual"]
    return random.integers(-most, most + 1, size=shape) * unit


def smaller(sizes: Mapping[str, int], free: frozenset[str]) -> Iterator[dict[str, int]]:
    """All sizes up to these, the smallest first; only the `free` ones change."""
    names = sorted(free & set(sizes))
    ranges = (range(1, sizes[name] + 1) for name in names)
    found = sorted(product(*ranges), key=lambda one: (prod(one), sum(one)))
    for one in found:
        yield {**sizes, **dict(zip(names, one, strict=True))}


def simpler(numbers: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """The same matrices with one number simpler each: 0, 1 or a whole number instead."""
    for name, array in numbers.items():
        if array.dtype == bool:
            continue
        for place, value in np.ndenumerate(array):
            for other in (0.0, 1.0, float(np.trunc(value)) if np.isfinite(value) else value):
                if abs(other) < abs(value) or (
                    value < 0 and other >= 0 and abs(other) <= abs(value)
                ):
                    changed = array.copy()
                    changed[place] = other
                    yield {**numbers, name: changed}


def named(name: str) -> Property:
    """A property by its name. Raises `SymattnError` for an unknown one."""
    for item in PROPERTIES:
        if item.name == name:
            return item
    names = ", ".join(item.name for item in PROPERTIES)
    raise SymattnError(f"no property is called {name[:60]!r}; there are {names}")


def small(item: Property) -> Property:
    """The same property with small whole numbers, where its own need not be large."""
    return item if item.drawn in _EXTREME else replace(item, drawn="small")
