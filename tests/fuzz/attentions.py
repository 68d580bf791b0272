"""All pairs of named variants compared, each answer held against NumPy's numbers.

``python -m tests.fuzz.attentions`` prints how often there was which answer and how long a pair
took, and lists every false one; it ends with 1 if there is any. "Different" has to be seen in the
numbers it gives, "equal" at random ones; `tests.combinations.Reference` computes both sides.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from time import process_time
from typing import Any

import numpy as np
import sympy

from symattn import VARIANTS, Attention, Equality, SymattnError, Variant
from symattn.algebra.comparison import Joint
from symattn.algebra.equality import answered, stated
from symattn.arithmetic.arrays import FLOAT64
from tests.combinations import NoValueError, Reference, choices_of


def computed(row: Attention, given: Mapping[str, Any], second: bool) -> Any:
    """What NumPy makes of the inputs of one of the two; None where that has no value."""
    names = [item.name for item in row.derivation().inputs]
    mine = {
        name: given[f"{name}'"] if second and f"{name}'" in given else given[name] for name in names
    }
    try:
        return Reference(choices_of(row), mine).result()
    except NoValueError:
        return None


def _nested(value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        return [_nested(part) for part in value]
    exact = sympy.nsimplify(value) if isinstance(value, sympy.Expr) else value
    return str(exact) if getattr(exact, "is_Rational", False) else repr(float(value))


def _sampled(joint: Joint, rng: random.Random) -> dict[str, Any]:
    """Random numbers for every input of both, at random sizes."""
    sides = (joint.left, joint.right)
    symbols = {s for side in sides for s in side.size_symbols}
    counts = {i.count for side in sides for i in (*side.inputs, *side.steps) if i.count is not None}
    symbols |= {s for count in counts for s in count.free_symbols}
    groups = rng.choice((1, 2, 3))
    known = {"g": groups, "h": groups * rng.choice((1, 2)), "p": rng.randint(1, 4)}
    sizes = {s: known.get(s.name, 2 * rng.randint(1, 3)) for s in symbols}
    sizes |= {s: rng.randint(1, 7) for s in symbols if s.name in ("n", "m", "d_v")}
    given = {}
    for item in {i.letter: i for side in sides for i in side.inputs}.values():
        dims = [int(sympy.sympify(x).subs(sizes)) for x in item.shape]
        dims = dims if item.count is None else [int(item.count.subs(sizes)), *dims]
        array = np.array([rng.uniform(-2, 2) for _ in range(int(np.prod(dims)))]).reshape(dims)
        given[item.letter] = (array > 0).astype(float) if item.boolean else array
    return joint.shown(given, FLOAT64, sizes)


def falsehood(one: Attention, other: Attention, joint: Joint, answer: Equality) -> str:
    """What NumPy has against an answer; nothing if it agrees."""
    if answer.counterexample is not None:
        found = answer.counterexample
        given = {name: _nested(value) for name, value in found.values}
        left, right = computed(one, given, False), computed(other, given, True)
        if left is None or right is None:
            return "" if one.normaliser == "sum" or other.normaliser == "sum" else "no value"
        pairs = ((left, found.left), (right, found.right))
        wrong = [x for x, said in pairs if abs(x[found.place] - float(said)) > 1e-5]
        same = abs(left[found.place] - right[found.place]) < 1e-9
        return f"the numbers are {left[found.place]}, {right[found.place]}" if wrong or same else ""
    rng = random.Random(1)
    for _ in range(4 if answer else 0):
        shown = _sampled(joint, rng)
        given = {name: _nested(value) for name, value in shown.items()}
        left, right = computed(one, given, False), computed(other, given, True)
        if left is not None and right is not None and not np.allclose(left, right):
            return "numbers differ"
    return ""


def compared(one: Variant, other: Variant) -> tuple[str, str, float]:
    """The answer for two variants in a word, what is false of it, and the seconds it took."""
    begun = process_time()
    try:
        first = next(statements := stated(one.spec.derivation(), other.spec.derivation()))
        answer = answered(iter([first, *statements]))
    except SymattnError as error:
        return "other shapes" if "shapes" in str(error) else str(error), "", process_time() - begun
    taken = process_time() - begun
    assert first.joint is not None
    hint = any(note.startswith("with --where") for note in answer.notes)
    verdict = "no partners" if first.joint.missing else answer.summary.partition(" (n =")[0]
    word = verdict + (", and what would make them equal" if hint else "")
    return word, falsehood(one.spec, other.spec, first.joint, answer), taken


def pairs(names: Sequence[str]) -> Iterator[tuple[Variant, Variant]]:
    """All pairs of variants, or those with one of these."""
    for one, other in combinations_with_replacement(VARIANTS, 2):
        if not names or {one.name, other.name} & set(names):
            yield one, other


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only pairs with these variants")
    parser.add_argument("--all", action="store_true", help="print every pair")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    times, false = [], 0
    for one, other in pairs(arguments.names):
        word, wrong, seconds = compared(one, other)
        counts[word] += 1
        times.append((seconds, f"{one.name} {other.name}"))
        false += bool(wrong)
        if wrong or arguments.all:
            print(f"{seconds:6.2f} s  {one.name} {other.name}: {word} {wrong}", flush=True)
    for word, count in counts.most_common():
        print(f"{count:5}  {word}")
    times.sort()
    print(
        f"{len(times)} pairs, {false} false; median {times[len(times) // 2][0]:.2f} s, most "
        f"{times[-1][0]:.2f} s ({times[-1][1]})"
    )
    return int(false > 0)


if __name__ == "__main__":
    sys.exit(main())
