"""All pairs of named variants compared, each answer held against NumPy's numbers.

"Different" has to be seen in the numbers it gives, "equal" at random ones;
`tests.combinations.Reference` computes both sides.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from symattn import Attention, Equality, SymattnError, Variant
from symattn.algebra.comparison import Joint
from symattn.algebra.equality import answered, stated
from symattn.arithmetic.arrays import FLOAT64
from symattn.attention.plan import DEFAULT_SCALE
from tests.combinations import NoValueError, Reference


@dataclass(frozen=True)
class _OfGiven(Reference):
    """The reference at the sizes that its numbers tell."""

    @property
    def _sizes(self) -> dict[str, int]:
        heads = self._count("W_Q") or self._count("Q") or 1
        groups = self._count("W_K") or self._count("K")
        groups = groups or (1 if self.spec.get("kv_heads") == 1 else heads)
        past: Any = next((x for name, x in self.given.items() if name.endswith("_past")), [])
        past = past[0] if past and isinstance(past[0][0], list) else past
        return {"h": heads, "g": groups, "p": len(past)}

    def _count(self, name: str) -> int:
        value = self.given.get(name)
        return len(value) if value and isinstance(value[0][0], list) else 0


def spec_of(attention: Attention) -> dict[str, Any]:
    """A spec as the reference takes it."""

    def table(value: Any) -> Any:
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
            name, held = value
            if name in ("any", "all"):
                return {name: [table(part) for part in held]}
            return {name: list(held) if isinstance(held, tuple) else held}
        return value

    def named(value: Any) -> Any:
        return value and {value[0]: dict(value[1])}

    scale = attention.scale
    bias = named(attention.bias)
    if bias and "relative" in bias:
        bias = {"relative": {"buckets": 32, "max_distance": 128, **bias["relative"]}}
    return {
        **vars(attention),
        "source": attention.source or "given",
        "scale": True if scale == DEFAULT_SCALE else False if scale is None else str(scale),
        "positions": named(attention.positions),
        "bias": bias,
        "mask": [table(pair) for pair in attention.mask],
        "soft_cap": attention.soft_cap and str(attention.soft_cap),
    }


def computed(row: Attention, given: Mapping[str, Any], second: bool) -> Any:
    """What NumPy makes of the inputs of one of the two; None where that has no value."""
    names = [item.name for item in row.derivation().inputs]
    mine = {
        name: given[f"{name}'"] if second and f"{name}'" in given else given[name] for name in names
    }
    try:
        return _OfGiven(spec_of(row), mine).result()
    except NoValueError:
        return None


def _nested(value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        return [_nested(part) for part in value]
    return str(sympy.nsimplify(value)) if isinstance(value, sympy.Expr) else repr(float(value))


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


def wrong_of(one: Variant, other: Variant) -> str:
    """What is false of the answer for two variants; nothing if all is right."""
    try:
        first = next(statements := stated(one.spec.derivation(), other.spec.derivation()))
        answer = answered(iter([first, *statements]))
    except SymattnError:
        return ""  # of other shapes
    assert first.joint is not None
    return falsehood(one.spec, other.spec, first.joint, answer)
