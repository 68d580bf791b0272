"""Small integer examples of any attention: the same numbers every time, easy to work by hand.

They show how weights are shared out: of the matrices that `_FILLINGS` make, the first in turn that
leave no weight of nearly 0 or 1 where nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, cycle, islice
from math import gcd

import numpy as np
import sympy

from symattn.arguments import flag, instance, whole, words
from symattn.attention.spec import Attention
from symattn.derivations import Derivation, Evaluation, Given
from symattn.errors import SymattnError
from symattn.language.spec import Equations

#: A number by itself: λ, γ, neither 0 nor 1.
_NUMBER = [["1/2"]]

#: The numbers that fill the matrices in turn: small, with zeros and a sign, and smaller ones.
_NUMBERS, _SMALLER = (1, 0, 2, 1, -1, 0, 1, 2, 0, 1, 1, -1, 2), (1, 0, -1, 1, 0, 1, 1, -1, 0, 0, 1)

#: The same, with which of them to begin, and how many zeros to put between, as they are tried.
_FILLINGS = tuple((numbers, k, 0) for numbers in (_NUMBERS, _SMALLER) for k in range(len(numbers)))

#: The least that a weight is to be which is not 0, and to be short of 1 if it is not 1.
_LEAST = 0.005

#: Up to how many tokens and columns others are tried than the first: nobody works out more by hand.
_BY_HAND = 8

_SIZES = {
    "m": 3,
    "p": 2,
    "d_mem": 2,
    "d_val": 2,
    "d_c": 2,
    "d_cq": 2,
    "d_r": 2,
    "d_a": 2,
    "d_v": 2,
    "d_out": 2,
    "n_clip": 1,
    "n_vocab": 3,
}


def small_example(
    spec: Attention,
    *,
    tokens: int = 3,
    d_k: int = 2,
    heads: int | None = None,
    title: str = "",
    gradient: Collection[str] | None = None,
    counted: bool = True,
) -> tuple[Derivation, Evaluation]:
    """The derivation of a spec on small integer matrices, and its values.

    With `gradient` the backward pass too, with respect to these names (all inputs if empty). Heads
    are `counted` in the derivation, or stay the symbol that the spec has for them.

    Shapes: `tokens` × `d_k` queries and as many keys; d_model is d_k, other widths are 2. Raises
    `SymattnError` if the spec does not allow these sizes.

    >>> _, values = small_example(Attention(), tokens=2)
    >>> values["Q"].exact.tolist()
    [[1, 0], [2, 1]]
    """
    flag(counted, "counted")
    numbered, given = small_inputs(spec, tokens=tokens, d_k=d_k, heads=heads, gradient=gradient)
    whole = (numbered if counted else spec).derivation(title=title)
    if gradient is not None:
        whole = whole.gradient([*gradient] or None)
    return whole, whole.evaluate(**given)


def small_inputs(
    spec: Attention,
    *,
    tokens: int = 3,
    d_k: int = 2,
    heads: int | None = None,
    gradient: Collection[str] | None = None,
) -> tuple[Attention, dict[str, Given]]:
    """The spec with its heads counted, and small integer matrices for all its inputs.

    With `gradient`, for where the backward pass starts too.
    """
    instance(spec, Attention, "spec", "an Attention")
    tokens, d_k = whole(tokens, "tokens", 1, 64), whole(d_k, "d_k", 1, 64)
    if gradient is not None:
        gradient = words(gradient, "gradient")
    spec = _with_heads(spec, heads)
    forward = spec.derivation()
    derivation = forward if gradient is None else forward.gradient(gradient or None)
    positive = spec.normaliser == "sum"
    return spec, small_numbers(forward, derivation, tokens=tokens, d_k=d_k, positive=positive)


def counted(equations: Equations, heads: int | None) -> dict[str, int]:
    """How many heads, and groups of them, an example of equations has, by their sizes.

    Raises `SymattnError` for heads of equations without any.
    """
    there = {symbol.name for symbol in equations.whole.size_symbols}
    if heads is not None and "h" not in there:
        raise SymattnError("heads: these equations have no heads; leave it out")
    return {size: n for size, n in {"h": heads or 2, "g": 1}.items() if size in there}


#: How a worksheet says how many heads and groups of them there are, by their sizes.
_COUNTED = {"h": "heads", "g": "kv_heads"}


def small_equations(
    equations: Equations, *, tokens: int = 3, d_k: int = 2, heads: int | None = None
) -> tuple[dict[str, int], Derivation, dict[str, Given]]:
    """How many heads there are, where that is open; what equations say; numbers for its inputs.

    Raises as `counted` does.
    """
    known = counted(equations, heads)
    whole = equations.derivation(sizes=known)
    said = {_COUNTED[size]: count for size, count in known.items()}
    given = small_numbers(whole, whole, tokens=tokens, d_k=d_k)
    numbers = {item.name for item in whole.inputs if item.is_number}
    return said, whole, {name: _NUMBER[0][0] if name in numbers else x for name, x in given.items()}


def small_numbers(
    forward: Derivation,
    derivation: Derivation,
    *,
    tokens: int = 3,
    d_k: int = 2,
    positive: bool = False,
) -> dict[str, Given]:
    """Small integer matrices for all inputs of a derivation, of which `forward` is the first pass.

    Those that no weight of nearly 0 or 1 follows from, or the nearest to that. Raises
    `SymattnError` where the derivation has no value for any of them.
    """
    sizes = _SIZES | {"n": tokens, "m": tokens, "d_k": d_k, "d_model": d_k, "n_vocab": tokens}
    best: dict[str, Given] = {}
    most, refused = -np.inf, None
    for numbers, start, zeros in _fillings(tokens, d_k):
        spread = chain.from_iterable((number, *(0,) * zeros) for number in cycle(numbers))
        filling = islice(spread, start * (zeros + 1), None)
        given = _filled(derivation, sizes, filling, positive)
        try:
            needed = all(item.name in given for item in forward.inputs)  # a gradient leaves out
            least = _least(forward if needed else derivation, given, is_wide=d_k > _BY_HAND)
        except SymattnError as error:  # 1/0, ln 0
            refused = error
            continue
        if least > most:
            best, most = given, least
        if most >= _LEAST:
            break
    if refused is not None and not best:
        raise refused
    return best


def _fillings(tokens: int, d_k: int) -> Sequence[tuple[tuple[int, ...], int, int]]:
    """What is tried in turn at these sizes.

    Of wide matrices a product has so many terms that each weight would be 0 or 1: the wider they
    are the more zeros there may be, of a number that spreads them over all columns.
    """
    if d_k <= _BY_HAND:
        return _FILLINGS[: None if tokens <= _BY_HAND else 1]
    spread = dict.fromkeys(
        next(zeros for zeros in count(least) if gcd(zeros + 1, d_k) == 1)
        for least in (0, 1, 2, 4, 8)
        if least * _BY_HAND <= d_k
    )
    return [(_SMALLER, start, zeros) for start in range(3) for zeros in spread]


def _filled(
    derivation: Derivation, sizes: dict[str, int], numbers: Iterator[int], positive: bool
) -> dict[str, Given]:
    """Matrices for all inputs, filled with these numbers in turn."""

    def matrix(rows: int, columns: int) -> list[list[int]]:
        picked = [[next(numbers) for _ in range(columns)] for _ in range(rows)]
        return [[abs(x) + 1 for x in row] for row in picked] if positive else picked

    given: dict[str, Given] = {}
    for item in derivation.inputs:
        symbols = (s for s in derivation.size_symbols if s not in derivation.sizes)
        known = {s: sizes.get(s.name, 2) for s in symbols}
        rows, columns = (int(size.subs(known).subs(derivation.sizes)) for size in item.shape)
        if item.is_number:
            given[item.name] = _NUMBER
        elif item.name in ("allowed", "one_hot"):
            one = [
                [int(j <= i) if item.name == "allowed" else int(i == j) for j in range(columns)]
                for i in range(rows)
            ]
            given[item.name] = [one] * derivation.known_sizes["h"] if item.per_head else one
        elif item.per_head:
            count = int(sympy.sympify(item.count, strict=True).subs(known).subs(derivation.sizes))
            given[item.name] = [matrix(rows, columns) for _ in range(count)]
        else:
            given[item.name] = matrix(rows, columns)
    return given


def _least(derivation: Derivation, given: dict[str, Given], is_wide: bool) -> float:
    """How far from 0 and from 1 the weights are at least, but for those that are 0 or 1.

    If all of them are, and the matrices are wide, it is because of that.
    """
    arrays = {item.name: np.asarray(given[item.name]) for item in derivation.inputs}
    values = derivation.evaluate(**arrays)
    weights = [np.ravel(values.array(step.letter)) for step in derivation if step.weights]
    found = np.concatenate([[0.5], *weights])
    some = found[(found != 0) & (found != 1)]
    if is_wide and weights and some.size == 1:
        return 0.0
    return float(np.minimum(some, 1 - some).min())


def _with_heads(spec: Attention, heads: int | None) -> Attention:
    """The spec with its numbers of heads and groups derivation concrete."""
    if heads is not None:
        heads = whole(heads, "heads", 1, 1024)
    if spec.heads is None:
        if heads is not None:
            raise SymattnError("heads: this attention has one head, which is not numbered")
        return spec
    groups = spec.kv_heads
    usual = 4 if groups == "g" else 2 * groups if isinstance(groups, int) else 2
    number = heads or (spec.heads if isinstance(spec.heads, int) else usual)
    if groups == "g":
        groups = next((g for g in range(number // 2, 1, -1) if number % g == 0), 1)
    return replace(spec, heads=number, kv_heads=groups)
