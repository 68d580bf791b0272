"""Programs changed at random, told apart or not by finite fields alone, and judged by balls.

    python -m tests.fuzz.programs_by_chance --count 1000 --seed 1

Both are recorded. Where every number of both is the same in real arithmetic for random inputs,
but for what a float keeps of √3, they are taken to be the same. No numbers and no normal forms are
tried before, so that nothing but the fields stands against a wrong word.
"""

# mypy: ignore-errors  # programs as people write them

from __future__ import annotations

import inspect
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symattn.arithmetic.enclosure import precision
from symattn.errors import SymattnError
from symattn.lifting.fields import decided
from symattn.lifting.limits import LIMITS
from symattn.lifting.tapes import Tape, hold_same, named, numbers_by_name
from symattn.lifting.taping import Taping, taped
from symattn.verifying.calling import Call, Given
from tests.fuzz.programs import CHANGES, made, main, rewritten
from tests.fuzz.programs_paired import MUTATIONS, REWRITES
from tests.lifting import attentions
from tests.lifting.attentions import softmax

# ---- families of programs that are the same --------------------------------------------------


def plain(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True) @ V


def in_blocks(Q, K, V, block=3):
    out = np.empty((Q.shape[0], V.shape[1]))
    for i in range(len(Q)):
        top, total, acc = -np.inf, 0.0, np.zeros(V.shape[1])
        for start in range(0, len(K), block):
            s = K[start : start + block] @ Q[i] / np.sqrt(Q.shape[1])
            new = np.maximum(top, np.max(s))
            e = np.exp(s - new)
            total = total * np.exp(top - new) + e.sum()
            acc = acc * np.exp(top - new) + e @ V[start : start + block]
            top = new
        out[i] = acc / total
    return out


def causal(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = np.where(np.tri(len(Q), len(K)) > 0, S, -1e30)
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True) @ V


def of_heads(Q, K, V, heads=2):
    width, wide = Q.shape[1] // heads, V.shape[1] // heads
    parts = []
    for h in range(heads):
        S = (
            Q[:, h * width : h * width + width]
            @ K[:, h * width : h * width + width].T
            / np.sqrt(3.0)
        )
        E = np.exp(S - S.max(axis=1, keepdims=True))
        parts.append(E / E.sum(axis=1, keepdims=True) @ V[:, h * wide : h * wide + wide])
    return np.concatenate(parts, axis=-1)


def of_heads_at_once(Q, K, V, heads=2):
    q, k, v = (x.reshape(len(x), heads, -1).transpose(1, 0, 2) for x in (Q, K, V))
    S = np.einsum("hid,hjd->hij", q, k) * 3.0**-0.5
    E = np.exp(S)
    return ((E @ v) / E.sum(axis=2, keepdims=True)).transpose(1, 0, 2).reshape(len(Q), -1)


def by_states(Q, K, V):
    state, total = np.zeros((Q.shape[1], V.shape[1])), np.zeros(Q.shape[1])
    out = []
    for t in range(len(Q)):
        f, g = np.maximum(Q[t], 0) + 1, np.maximum(K[t], 0) + 1
        state = state + np.outer(g, V[t])
        total = total + g
        out.append(f @ state / (f @ total))
    return np.stack(out)


def by_all_pairs(Q, K, V):
    f, g = np.maximum(Q, 0.0) + 1, np.maximum(0.0, K) + 1
    A = np.tril(f @ g.T)
    return A @ V / A.sum(axis=1, keepdims=True)


def normed(Q, K, V):
    q = Q / np.sqrt((Q * Q).mean(axis=1, keepdims=True) + 0.01)
    k = K / np.sqrt((K * K).mean(axis=1, keepdims=True) + 0.01)
    E = np.exp(q @ k.T * 0.25)
    return E @ V / E.sum(axis=1, keepdims=True)


def normed_by_key(Q, K, V):
    norms = [(sum(x * x for x in k) / len(k) + 0.01) ** 0.5 for k in K]
    own = [(sum(x * x for x in q) / len(q) + 0.01) ** 0.5 for q in Q]
    S = np.stack(
        [
            np.stack([Q[i] @ K[j] / 4 / (own[i] * norms[j]) for j in range(len(K))])
            for i in range(len(Q))
        ]
    )
    return softmax(S) @ V


def gated(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    return softmax(S) @ V / (1 + np.exp(-V))


def gated_after(Q, K, V):
    E = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    gate = np.exp(V) / (1 + np.exp(V))
    return gate * (E @ V) / E.sum(axis=1, keepdims=True)


_OWN = dict(vars())
FAMILIES = (
    (plain, in_blocks, attentions.online, attentions.row_by_row, attentions.by_log_sum_exp,
     attentions.in_powers_of_two),
    (causal, attentions.causal_by_multiplying, attentions.causal_by_index,
     attentions.causal_decoding, attentions.causal_negative_number),
    (of_heads, of_heads_at_once),
    (by_states, by_all_pairs),
    (normed, normed_by_key),
    (gated, gated_after),
)  # fmt: skip

#: What is returned, given or masked in another way.
_RETURNED, _GIVEN = r"\n    return (.+)\n", r"(def \w+\(Q, K, V[^)]*\):\n)"
WRONG = (
    *CHANGES,
    *MUTATIONS,
    # a constant that differs in the twelfth digit
    (_RETURNED, r"\n    return (\1) * 1.00000000001\n"),
    (_RETURNED, r"\n    return (\1) + 1e-12\n"),
    (_GIVEN, r"\1    Q = Q * 0.999999999999\n"),
    (r"0\.01\b", "0.01000000001"),
    (r"0\.25", "0.250000000001"),
    (r"np\.sqrt\(3\.0\)", "1.73205080757"),
    # one entry alone
    (_GIVEN, r"\1    K = K.copy()\n    K[2, 1] = K[1, 1]\n"),
    (_GIVEN, r"\1    Q = Q.copy()\n    Q[0, 0] = -Q[0, 0]\n"),
    (_GIVEN, r"\1    V = V.copy()\n    V[-1] = V[-1] * 2.0\n"),
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
    (_GIVEN, r"\1    V = np.abs(V)\n"),
    (_GIVEN, r"\1    Q = np.abs(Q)\n"),
    (_GIVEN, r"\1    V = np.sqrt(V * V)\n"),
    (r"np\.maximum\(([QK])", r"np.minimum(\1"),
    (r"\+ 1\b", "+ 2"),
    # the same modulo a prime that is known, as 227 and 113 of Mirage are
    (_RETURNED, r"\n    return (\1) * 2147483648.0\n"),
    (_RETURNED, r"\n    return (\1) + 227.0\n"),
    (_RETURNED, r"\n    return (\1) * 25652.0\n"),
    (_GIVEN, r"\1    V = V + 25651.0\n"),
    (_GIVEN, r"\1    K = K * 114.0\n"),
    (_GIVEN, r"\1    V = V + 0.001 * (V ** 13 - V)\n"),
)
RIGHT = (
    *REWRITES,
    (_GIVEN, r"\1    V = V * V / V\n"),
    (_GIVEN, r"\1    V = np.log(np.exp(V) * np.exp(V)) if False else V + V - V\n"),
    (_RETURNED, r"\n    return ((\1) + Q.sum()) - Q.sum()\n"),
    (r"np\.exp\(top - new\)", "(np.exp(top) / np.exp(new))"),
    (r"E\.sum\(axis=1, keepdims=True\)", "np.exp(np.log(E.sum(axis=1, keepdims=True)))"),
    (r"np\.maximum\(", "-np.minimum(-1.0 * "),
)

#: n and m, d_k, d_v.
SIZES = ((4, 4, 2), (6, 4, 4), (7, 2, 2))


def pair(draw: random.Random) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """Two programs of a family, rewritten, and of three in four the second is changed."""
    one, other = (draw.choice(family := draw.choice(FAMILIES)), draw.choice(family))
    codes = [rewritten(inspect.getsource(each), RIGHT, draw, 8) for each in (one, other)]
    if draw.random() < 3 / 4:
        codes[1] = rewritten(codes[1], WRONG, draw, draw.choice((6, 12, 24)))
    return "\n".join(codes), *map(_made, (one.__name__, other.__name__), codes)


def _made(name: str, code: str) -> Callable[..., Any]:
    return made(name, code)


def tape(function: Callable[..., Any], numbers: Mapping[str, Any]) -> Tape:
    """What a function records. Raises `SymattnError` where it cannot."""
    ids = named(numbers)
    given = tuple(Given(name, "matrix", name, False, ids[name]) for name in ids)
    return Tape(json.loads(taped(Taping(function, Call(given, "numpy", "float64")))))


def by_fields(one: Tape, other: Tape) -> str:
    """What finite fields say alone, "equal" or why not."""

    def hold(of: Any) -> None:
        for (_, mine), (_, its) in zip(one.answer.parts, other.answer.parts, strict=True):
            if mine.numbers.shape != its.numbers.shape:
                raise SymattnError("another shape")
            hold_same(of, one.formal(of)(mine.numbers), other.formal(of)(its.numbers), "it")

    try:
        decided(hold, LIMITS.operations + 1)
    except SymattnError as error:
        return str(error)
    return "equal"


def by_balls(one: Tape, other: Tape, numbers: Mapping[str, Any]) -> bool | None:
    """Whether both give the same numbers, but for constants; None where that is not known."""
    given = numbers_by_name(named(numbers), numbers)
    with precision(600):
        parts = []
        for each in (one, other):
            read = each.enclosed(given)
            parts.append([read(places.numbers) for _, places in each.answer.parts])
        for mine, its in zip(*parts, strict=True):
            if mine.shape != its.shape:
                return False
            apart = [a - b for a, b in zip(mine.flat, its.flat, strict=True)]
            if any(abs(x) > 1e-13 for x in apart):
                return False
            if not all(abs(x) < 1e-14 for x in apart):
                return None
    return True


def tried(count: int, seed: int) -> tuple[Counter[tuple[bool, str]], list[str]]:
    """How many pairs were the same and not, by what fields say, and what was said falsely."""
    draw, found, false = random.Random(seed), Counter[tuple[bool, str]](), []
    while sum(found.values()) < count:
        code, *functions = pair(draw)
        n, d, w = draw.choice(SIZES)
        drawn = np.random.default_rng(draw.randrange(1000))
        numbers = {name: drawn.normal(size=(n, w if name == "V" else d)) for name in "QKV"}
        try:
            one, other = (tape(each, numbers) for each in functions)
            same = by_balls(one, other, numbers)
        except (SymattnError, ArithmeticError):
            continue
        if same is None:
            continue
        said = by_fields(one, other)
        found[same, said if said == "equal" else "not known"] += 1
        if said == "equal" and not same:
            false.append(f"{n, d, w}\n{code}")
    return found, false


if __name__ == "__main__":
    main(tried, 1000, ("same", "other"))
