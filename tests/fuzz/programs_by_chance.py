"""Programs changed at random, told apart or not by finite fields alone, and judged by balls.

    python -m tests.fuzz.programs_by_chance --count 1000 --seed 1

Both are recorded. Where every number of both is the same in real arithmetic for random inputs,
but for what a float keeps of √3, they are taken to be the same. No numbers and no normal forms are
tried before, so that nothing but the fields stands against a wrong word.
"""

from __future__ import annotations

import inspect
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import precision
from symattn.claims.computed import Computed
from symattn.errors import SymattnError
from symattn.lifting.fields import decided
from symattn.lifting.limits import LIMITS
from symattn.lifting.tapes import Tape, hold_same, named, numbers_by_name
from symattn.lifting.taping import Taping, taped
from symattn.verifying.calling import Call, Given
from tests.fuzz import families
from tests.fuzz.programs import CHANGES, made, main, rewritten
from tests.fuzz.programs_paired import GIVEN, MUTATIONS, RETURNED, REWRITES

#: What is returned, given or masked in another way.
WRONG = (
    *CHANGES,
    *MUTATIONS,
    # a constant that differs in the twelfth digit
    (RETURNED, r"\n    return (\1) * 1.00000000001\n"),
    (RETURNED, r"\n    return (\1) + 1e-12\n"),
    (GIVEN, r"\1    Q = Q * 0.999999999999\n"),
    (r"0\.01\b", "0.01000000001"),
    (r"0\.25", "0.250000000001"),
    (r"np\.sqrt\(3\.0\)", "1.73205080757"),
    # one entry alone
    (GIVEN, r"\1    K = K.copy()\n    K[2, 1] = K[1, 1]\n"),
    (GIVEN, r"\1    Q = Q.copy()\n    Q[0, 0] = -Q[0, 0]\n"),
    (GIVEN, r"\1    V = V.copy()\n    V[-1] = V[-1] * 2.0\n"),
    (r"\n( +)E = np\.exp\(", r"\n\1S[..., 2, 1] = -np.inf\n\1E = np.exp("),
    (r"\n( +)E = np\.exp\(", r"\n\1S[..., 1, 2] = S[..., 1, 1]\n\1E = np.exp("),
    # heads and blocks
    (r"range\(heads\)", "range(1, heads)"),
    (r"parts\.append\(", "parts.insert(0, "),
    (r"h \* width :", "width - h * width :"),
    (r"start \+ block\]", "start + block + 1]"),
    (r"start \+ block\]", "start + max(block - 1, 1)]"),
    (r"range\(0, ", "range(1, "),
    (r"total \* np\.exp\(top - new\)", "total"),
    (r"acc \* np\.exp\(top - new\)", "acc"),
    (r"factor = np\.exp\(S - new\), np\.exp\(top - new\)", "factor = np.exp(S - new), np.exp(top)"),
    # sums, exponentials, signs
    (r"\.sum\(axis=1, keepdims=True\)", ".mean(axis=1, keepdims=True)"),
    (r"\.mean\(axis=1", ".sum(axis=1"),
    (r"np\.exp\(", "np.exp2("),
    (r"np\.exp\(-", "np.exp("),
    (GIVEN, r"\1    V = np.abs(V)\n"),
    (GIVEN, r"\1    Q = np.abs(Q)\n"),
    (GIVEN, r"\1    V = np.sqrt(V * V)\n"),
    (r"np\.maximum\(([QK])", r"np.minimum(\1"),
    (r"\+ 1\b", "+ 2"),
    # the same modulo a prime that is known, as 227 and 113 of Mirage are
    (RETURNED, r"\n    return (\1) * 2147483648.0\n"),
    (RETURNED, r"\n    return (\1) + 227.0\n"),
    (RETURNED, r"\n    return (\1) * 25652.0\n"),
    (GIVEN, r"\1    V = V + 25651.0\n"),
    (GIVEN, r"\1    K = K * 114.0\n"),
    (GIVEN, r"\1    V = V + 0.001 * (V ** 13 - V)\n"),
)
RIGHT = (
    *REWRITES,
    (GIVEN, r"\1    V = V * V / V\n"),
    (GIVEN, r"\1    V = np.log(np.exp(V) * np.exp(V)) if False else V + V - V\n"),
    (RETURNED, r"\n    return ((\1) + Q.sum()) - Q.sum()\n"),
    (r"np\.exp\(top - new\)", "(np.exp(top) / np.exp(new))"),
    (r"E\.sum\(axis=1, keepdims=True\)", "np.exp(np.log(E.sum(axis=1, keepdims=True)))"),
)

#: n and m, d_k, d_v.
SIZES = ((4, 4, 2), (6, 4, 4), (7, 2, 2))


def pair(draw: random.Random) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """Two programs of a family, rewritten, and of three in four the second is changed."""
    family = draw.choice(families.FAMILIES)
    one, other = (draw.choice(family), draw.choice(family))
    codes = [rewritten(inspect.getsource(each), RIGHT, draw, 8) for each in (one, other)]
    if draw.random() < 3 / 4:
        codes[1] = rewritten(codes[1], WRONG, draw, draw.choice((6, 12, 24)))
    names = one.__name__, other.__name__
    first, second = (made(*each, families) for each in zip(names, codes, strict=True))
    return "\n".join(codes), first, second


def tape(function: Callable[..., Any], numbers: Mapping[str, Any]) -> Tape:
    """What a function records. Raises `SymattnError` where it cannot."""
    ids = named(numbers)
    given = tuple(Given(name, "matrix", name, False, ids[name]) for name in ids)
    return Tape(json.loads(taped(Taping(function, Call(given, "numpy", "float64")))))


def by_fields(one: Tape, other: Tape) -> str:
    """What finite fields say alone, "equal" or why not."""

    def hold(of: Any) -> bool:
        for mine, its in _parts(one, other):
            if mine.shape != its.shape:
                raise SymattnError("another shape")
            hold_same(of, one.formal(of)(mine), other.formal(of)(its), "an entry")
        return False

    try:
        decided(hold, LIMITS.operations + 1)
    except SymattnError as error:
        return str(error)
    return "equal"


def by_balls(one: Tape, other: Tape, numbers: Mapping[str, Any]) -> bool | None:
    """Whether both give the same numbers, but for constants; None where that is not known."""
    given = numbers_by_name(named(numbers), numbers)
    with precision(600):
        for mine, its in _parts(one, other):
            if mine.shape != its.shape:
                return False
            ones, others = one.enclosed(given, 0)(mine), other.enclosed(given, 0)(its)
            apart = [abs(a - b) for a, b in zip(ones.flat, others.flat, strict=True)]
            if any(x > 1e-13 for x in apart):
                return False
            if not all(x < 1e-14 for x in apart):
                return None
    return True


def _parts(one: Tape, other: Tape) -> Iterator[tuple[Array, Array]]:
    """The places of what both return."""
    for (_, mine), (_, its) in zip(one.answer.parts, other.answer.parts, strict=True):
        assert isinstance(mine, Computed)
        assert isinstance(its, Computed)
        yield mine.numbers, its.numbers


def tried(count: int, seed: int) -> tuple[Counter[tuple[bool, str]], list[str]]:
    """How many pairs were the same and not, by what fields say, and what was said falsely."""
    draw, found, false = random.Random(seed), Counter[tuple[bool, str]](), []
    while sum(found.values()) < count:
        code, *functions = pair(draw)
        n, d, w = draw.choice(SIZES)
        drawn = np.random.default_rng(draw.randrange(1000))
        trials = [
            {name: scale * drawn.normal(size=(n, w if name == "V" else d)) for name in "QKV"}
            for scale in (1.0, 3.0, 0.1, 2.0)
        ]
        try:
            one, other = (tape(each, trials[0]) for each in functions)
            judged = {by_balls(one, other, numbers) for numbers in trials}
        except (SymattnError, ArithmeticError):
            continue
        if None in judged:
            continue
        same, said = judged == {True}, by_fields(one, other)
        found[same, said if said == "equal" else "not known"] += 1
        if said == "equal" and not same:
            false.append(f"{n, d, w}\n{code}")
    return found, false


if __name__ == "__main__":
    main(tried, 1000, ("same", "other"))
