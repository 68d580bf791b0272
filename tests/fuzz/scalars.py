"""``python -m tests.fuzz.scalars --count 3000 --seed 0``: where a statement about numbers is meant.

An expression is set equal to what SymPy makes of it, which forgets that x/x has no value at 0.
What is called equal without "where both sides are defined" has to have a value on both sides, or
on neither, at every number that Python is asked for. The table counts the answers.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import sympy

from symattn import SymattnError, equal
from tests.fuzz.asking import options

_FUNCTIONS = ("exp", "abs", "sqrt", "ln", "tanh")
_POINTS = (-2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 3.0)
_LETTERS = "xy"


def made(rng: random.Random, depth: int) -> str:
    """An expression of Python in x and y, its numbers small."""
    if depth == 0:
        return rng.choice(["x", "x", "y", "1", "2", "3"])
    one, other = made(rng, depth - 1), made(rng, depth - 1)
    ways = [f"({one} {sign} {other})" for sign in "+-*//"]
    ways += [f"({one})**({rng.choice((2, 3, -1, -2))})", f"{rng.choice(_FUNCTIONS)}({one})"]
    return rng.choice(ways)


def spelled(text: str) -> str:
    """An expression of Python as a statement has it."""
    return (
        text.replace("**", "^")
        .replace("*", " ")
        .replace("log", "ln")
        .replace("Abs", "abs")
        .replace("E", "e")
    )


def value(text: str, at: Mapping[str, float]) -> float | None:
    """The value in Python's arithmetic; None where there is none."""
    known: dict[str, object] = {
        "exp": math.exp,
        "abs": abs,
        "Abs": abs,
        "sqrt": math.sqrt,
        "tanh": math.tanh,
    }
    known |= {"ln": math.log, "log": math.log, "E": math.e}
    try:
        found = eval(text, {"__builtins__": {}, **known, **at})
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return None
    return None if isinstance(found, complex) else found


def simplified(text: str) -> str:
    """What SymPy makes of an expression, in Python; raises `ValueError` for other functions."""
    names = {name: sympy.Symbol(name, real=True) for name in _LETTERS}
    out = str(sympy.simplify(sympy.sympify(text, locals={**names, "ln": sympy.log})))
    if set(out) & set("IN{[") or any(word in out for word in ("zoo", "nan", "oo", "sign", "Pi")):
        raise ValueError(out)
    return out


def outcomes(
    count: int, seed: int, decide: Callable[..., object] = equal
) -> Iterator[tuple[str, str]]:
    """What is answered of each statement; "falsely" where a side alone has no value somewhere."""
    rng = random.Random(seed)
    while count:
        left = made(rng, rng.choice((1, 2, 2, 3)))
        shapes = {name: "scalar" for name in _LETTERS if name in left.replace("exp", "")}
        try:
            right = simplified(left)
        except ValueError:
            continue
        if not shapes:
            continue
        count -= 1
        text = f"{spelled(left)} = {spelled(right)}"
        try:
            answer = decide(text, shapes=shapes)
        except SymattnError:
            yield "refused", text
            continue
        summary = str(getattr(answer, "summary", ""))
        kind = summary if answer else summary.partition(" (")[0]
        grid = product(_POINTS, repeat=len(_LETTERS))
        places = [dict(zip(_LETTERS, numbers, strict=True)) for numbers in grid]
        one_sided = [p for p in places if (value(left, p) is None) != (value(right, p) is None)]
        yield ("falsely" if kind == "equal (for all sizes)" and one_sided else kind), text


def main() -> int:
    """Print the table, and what was called equal falsely; 1 if there is any."""
    told = options(__doc__, count=3000, seed=0)
    found = [*outcomes(told.count, told.seed)]
    for kind, times in Counter(kind for kind, _ in found).most_common():
        print(f"{times:6} {kind}")
    falsely = [text for kind, text in found if kind == "falsely"]
    print(*falsely, sep="\n")
    return int(bool(falsely))


if __name__ == "__main__":
    raise SystemExit(main())
