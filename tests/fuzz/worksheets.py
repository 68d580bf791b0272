"""Claims on equations: honest sheets that are refused, and dishonest ones that are accepted.

``python -m tests.fuzz.worksheets --count 300 --seed 0`` calculates attentions that are no
variants in mpmath, writes worksheets with `equations` and claims, and marks them. A sheet is honest
(true numbers rounded in one way, every step from the rounded ones before it, or fractions), or one
digit of it is wrong, or it is calculated with a misconception. Prints a table of what was accepted
and what refused, lists every false answer, and ends with 1 if there is any.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np

from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from tests.fuzz.asking import options

#: Matrices of mpmath's numbers, or of fractions where a calculation has only these.
Values = dict[str, Any]
Formula = Callable[[Values], Any]


def _each(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return np.vectorize(function, otypes=[object])


exp, sqrt = _each(mpmath.exp), _each(mpmath.sqrt)
sigmoid, relu = _each(lambda x: 1 / (1 + mpmath.exp(-x))), _each(lambda x: max(x, x * 0))
gelu = _each(lambda x: x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2)


def softmax(scores: Any, axis: int = -1) -> Any:
    exps = exp(scores)
    return exps / exps.sum(axis, keepdims=True)


def causal(weights: Any) -> Any:
    """Exponentials of what a query may see, over their sum."""
    exps = np.where(np.tri(*weights.shape) > 0, exp(weights), 0)
    return exps / exps.sum(-1, keepdims=True)


def layer_norm(x: Any) -> Any:
    centred = x - x.sum(-1, keepdims=True) / x.shape[-1]
    return centred / sqrt((centred**2).sum(-1, keepdims=True) / x.shape[-1])


def root(x: int) -> Any:
    return mpmath.sqrt(x)


@dataclass(frozen=True)
class Attention:
    """A text, the shapes of what is given, its steps in mpmath, and steps done in another way."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    steps: Mapping[str, Formula]
    mistakes: Mapping[str, Mapping[str, Formula]]


def _retained(v: Values, turned: bool = True) -> Any:
    out, state = [], np.zeros((2, 2), dtype=object)
    for k, value in zip(v["K"], v["V"], strict=True):
        state = v["g"] * state + (np.outer(k, value) if turned else np.outer(value, k))
        out.append(state)
    return np.array(out)


ATTENTIONS = (
    Attention(
        "gate",
        "Q = X W_Q; K = X W_K; S = Q K^T / sqrt(d_k); A = softmax(S + causal()); "
        "O = (A X W_V) ∘ sigmoid(X W_G)",
        {"X": (3, 2), "W_Q": (2, 2), "W_K": (2, 2), "W_V": (2, 2), "W_G": (2, 2)},
        {
            "Q": lambda v: v["X"] @ v["W_Q"],
            "K": lambda v: v["X"] @ v["W_K"],
            "S": lambda v: v["Q"] @ v["K"].T / root(2),
            "A": lambda v: causal(v["S"]),
            "O": lambda v: (v["A"] @ v["X"] @ v["W_V"]) * sigmoid(v["X"] @ v["W_G"]),
        },
        {
            "no scale": {"S": lambda v: v["Q"] @ v["K"].T},
            "divided by d": {"S": lambda v: v["Q"] @ v["K"].T / 2},
            "no mask": {"A": lambda v: softmax(v["S"])},
            "softmax of columns": {"A": lambda v: softmax(v["S"], 0)},
            "no gate": {"O": lambda v: v["A"] @ v["X"] @ v["W_V"]},
            "weights transposed": {"Q": lambda v: v["X"] @ v["W_Q"].T},
        },
    ),
    Attention(
        "norms",
        "W_V : d_model × d_model; N = LayerNorm(X); S = N W_Q (N W_K)^T / sqrt(d_k); "
        "A = softmax(S); O = X + A N W_V",
        {"X": (3, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 3)},
        {
            "N": lambda v: layer_norm(v["X"]),
            "S": lambda v: v["N"] @ v["W_Q"] @ (v["N"] @ v["W_K"]).T / root(2),
            "A": lambda v: softmax(v["S"]),
            "O": lambda v: v["X"] + v["A"] @ v["N"] @ v["W_V"],
        },
        {
            "no norm": {"N": lambda v: v["X"]},
            "norm of columns": {"N": lambda v: layer_norm(v["X"].T).T},
            "no residual": {"O": lambda v: v["A"] @ v["N"] @ v["W_V"]},
            "divided by n": {"S": lambda v: v["N"] @ v["W_Q"] @ (v["N"] @ v["W_K"]).T / root(3)},
        },
    ),
    Attention(
        "sigmoid",
        "S = Q K^T + B; A = sigmoid(S); O = A V / rowsum(A)",
        {"Q": (3, 2), "K": (4, 2), "B": (3, 4), "V": (4, 2)},
        {
            "S": lambda v: v["Q"] @ v["K"].T + v["B"],
            "A": lambda v: sigmoid(v["S"]),
            "O": lambda v: v["A"] @ v["V"] / v["A"].sum(-1, keepdims=True),
        },
        {
            "softmax": {"A": lambda v: softmax(v["S"])},
            "no bias": {"S": lambda v: v["Q"] @ v["K"].T},
            "not divided": {"O": lambda v: v["A"] @ v["V"]},
        },
    ),
    Attention(
        "heads",
        "S[h] = Q[h] K[h]^T / sqrt(d_k); A[h] = softmax(S[h]); O = concat_h(A[h] V[h]) W_O",
        {"Q": (2, 2, 2), "K": (2, 3, 2), "V": (2, 3, 2), "W_O": (4, 2)},
        {
            "S": lambda v: v["Q"] @ v["K"].swapaxes(-1, -2) / root(2),
            "A": lambda v: softmax(v["S"]),
            "O": lambda v: np.concatenate([*(v["A"] @ v["V"])], -1) @ v["W_O"],
        },
        {
            "no scale": {"S": lambda v: v["Q"] @ v["K"].swapaxes(-1, -2)},
            "heads swapped": {
                "O": lambda v: np.concatenate([*(v["A"] @ v["V"])[::-1]], -1) @ v["W_O"]
            },
            "softmax over heads": {"A": lambda v: softmax(v["S"], 0)},
        },
    ),
    Attention(
        "recurrence",
        "S[0] = 0; S[t] = g S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]",
        {"g": (), "Q": (3, 2), "K": (3, 2), "V": (3, 2)},
        {
            "S": _retained,
            "O": lambda v: np.array([q @ s for q, s in zip(v["Q"], v["S"], strict=True)]),
        },
        {
            "no decay": {"S": lambda v: _retained({**v, "g": 1})},
            "state transposed": {"S": lambda v: _retained(v, turned=False)},
            "state before": {
                "O": lambda v: np.array(
                    [q @ s for q, s in zip(v["Q"], [0 * v["S"][0], *v["S"]], strict=False)]
                )
            },
        },
    ),
    Attention(
        "linear",
        "φ(x) = x^2 + 1; N = φ(Q) (φ(K)^T V); z = φ(Q) (φ(K)^T 1); O = N / z",
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2)},
        {
            "N": lambda v: (v["Q"] ** 2 + 1) @ ((v["K"] ** 2 + 1).T @ v["V"]),
            "z": lambda v: (v["Q"] ** 2 + 1) @ (v["K"] ** 2 + 1).sum(0)[:, None],
            "O": lambda v: v["N"] / v["z"],
        },
        {
            "no function of keys": {"N": lambda v: (v["Q"] ** 2 + 1) @ (v["K"].T @ v["V"])},
            "not divided": {"O": lambda v: v["N"]},
        },
    ),
    Attention(
        "window and block",
        "V : m × d_k; M[i,j] = 0 if abs(i - j) <= 1 else -inf; S = Q K^T; A = softmax(S + M); "
        "H = Q + A V; Y = H + GELU(H W_1) W_2",
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "W_1": (2, 3), "W_2": (3, 2)},
        {
            "S": lambda v: v["Q"] @ v["K"].T,
            "A": lambda v: _windowed(v["S"]),
            "H": lambda v: v["Q"] + v["A"] @ v["V"],
            "Y": lambda v: v["H"] + gelu(v["H"] @ v["W_1"]) @ v["W_2"],
        },
        {
            "no mask": {"A": lambda v: softmax(v["S"])},
            "relu": {"Y": lambda v: v["H"] + relu(v["H"] @ v["W_1"]) @ v["W_2"]},
            "no residual": {"H": lambda v: v["A"] @ v["V"]},
        },
    ),
)


def _windowed(scores: Any) -> Any:
    rows, columns = np.indices(scores.shape)
    exps = np.where(abs(rows - columns) <= 1, exp(scores), 0)
    return exps / exps.sum(-1, keepdims=True)


@dataclass(frozen=True)
class Style:
    """How a student rounds: to so many decimals, in which way, and whether the next step
    `carries` on from rounded numbers.
    """

    name: str
    decimals: int
    rounding: str
    carries: bool

    def text(self, x: Any) -> str:
        """A number as it is written."""
        with localcontext() as context:
            context.prec = 60
            number = Decimal(mpmath.nstr(mpmath.mpf(x), 45, min_fixed=-99, max_fixed=99))
            out = number.quantize(Decimal(1).scaleb(-self.decimals), self.rounding)
        return f"{abs(out) if out == 0 else out:f}"


STYLES = tuple(
    Style(f"{word} {decimals}", decimals, rounding, word == "carried")
    for word in ("rounded", "carried")
    for decimals in (2, 3, 4)
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
)


def _numbers(rng: Random, shape: tuple[int, ...]) -> Any:
    """Halves and whole numbers, as they are easily written."""
    if not shape:
        return mpmath.mpf(rng.choice(("0.5", "0.25", "0.75")))
    flat = [mpmath.mpf(rng.randint(-4, 4)) / 2 for _ in range(int(np.prod(shape)))]
    return np.array(flat, dtype=object).reshape(shape)


def _calculated(one: Attention, given: Values, style: Style | None, mistake: str = "") -> Values:
    """All steps; in a style that carries, each from the rounded numbers before it."""
    values = dict(given)
    for letter, formula in {**one.steps, **one.mistakes.get(mistake, {})}.items():
        values[letter] = formula(values)
        if style is not None and style.carries:
            values[letter] = _each(lambda x: mpmath.mpf(style.text(x)))(values[letter])
    return values


def _listed(array: Any, text: Callable[[Any], str]) -> str:
    if not isinstance(array, np.ndarray):
        return f'"{text(array)}"'
    return f"[{', '.join(_listed(part, text) for part in array)}]"


def _fraction(x: Any) -> str:
    return str(Fraction(mpmath.nstr(x, 40)).limit_denominator(10**6))


def sheet(one: Attention, given: Values, claims: Mapping[str, str]) -> str:
    """The worksheet."""
    lines = [f"equations = '{one.text}'", "[given]"]
    lines += [f"{name} = {_listed(given[name], _fraction)}" for name in one.shapes]
    lines += ["[claims]", *(f"{name} = {claim}" for name, claim in claims.items())]
    return "\n".join(lines) + "\n"


def accepted(text: str) -> bool:
    """Whether every claimed number passes. What is wrong is explained, for what that may raise."""
    marking = check_worksheet(worksheet_of(text))
    return all(marking.passes(entry) for mark in marking.steps for entry in mark.entries)


def _slipped(rng: Random, claims: Mapping[str, str]) -> dict[str, str] | None:
    """One digit of one number changed, the last one by 3 at least."""
    out = dict(claims)
    letter = rng.choice([*claims])
    places = [k for k, sign in enumerate(claims[letter]) if sign.isdigit()]
    at = rng.choice(places)
    text = claims[letter]
    least = 3 if not text[at + 1].isdigit() else 1
    digits = [d for d in "0123456789" if abs(int(d) - int(text[at])) >= least]
    out[letter] = text[:at] + rng.choice(digits) + text[at + 1 :]
    return out


@dataclass(frozen=True)
class Tried:
    """A sheet: what kind it is, whether it is honest, and its text."""

    attention: str
    kind: str
    honest: bool
    text: str


def sheets(rng: Random) -> Iterator[Tried]:
    """An honest sheet, one with a slip, one with a misconception, and one of fractions if any."""
    one = rng.choice(ATTENTIONS)
    given = {name: _numbers(rng, shape) for name, shape in one.shapes.items()}
    style = rng.choice(STYLES)
    try:
        true, mine = _calculated(one, given, None), _calculated(one, given, style)
    except ZeroDivisionError:
        return
    letters = [letter for letter in one.steps if rng.random() < 0.8] or [*one.steps]
    if style.carries:  # what is not shown can be followed by nobody
        letters = [*one.steps]
    claims = {letter: _listed(mine[letter], style.text) for letter in letters}
    yield Tried(one.name, f"honest, {style.name}", True, sheet(one, given, claims))
    slipped = _slipped(rng, claims)
    if slipped is not None and not style.carries:
        yield Tried(one.name, f"a digit, {style.name}", False, sheet(one, given, slipped))
    mistake = rng.choice([*one.mistakes])
    try:
        wrong = _calculated(one, given, style, mistake)
    except ZeroDivisionError:
        return
    unit = 10.0**-style.decimals
    first = next(iter(one.mistakes[mistake]))
    if np.any(abs(wrong[first] - true[first]) > 20 * unit):
        claimed = {letter: _listed(wrong[letter], style.text) for letter in one.steps}
        yield Tried(one.name, f"misconception: {mistake}", False, sheet(one, given, claimed))
    if one.name in ("linear", "recurrence"):
        exact = {letter: _listed(true[letter], _fraction) for letter in letters}
        yield Tried(one.name, "honest, fractions", True, sheet(one, given, exact))


def rates(count: int, seed: int) -> tuple[Counter[tuple[str, str, bool]], list[Tried]]:
    """How often each kind was accepted, by attention and kind; and all false answers."""
    rng, table, false = Random(seed), Counter[tuple[str, str, bool]](), list[Tried]()
    with mpmath.workdps(50):
        for _ in range(count):
            for tried in sheets(rng):
                passes = accepted(tried.text)
                kind = tried.kind.partition(":")[0].partition(",")[0]
                table[tried.attention, kind, passes] += 1
                if passes != tried.honest:
                    false.append(tried)
    return table, false


def main() -> int:
    """Print the table and the false answers."""
    asked = options(__doc__, count=100, seed=0)
    table, false = rates(asked.count, asked.seed)
    for attention, kind in sorted({row[:2] for row in table}):
        yes, no = table[attention, kind, True], table[attention, kind, False]
        print(f"{attention:18} {kind:14} accepted {yes:4}  refused {no:4}")
    for tried in false:
        said = "refused" if tried.honest else "accepted"
        print(f"\nFalsely {said}: {tried.attention}, {tried.kind}\n{tried.text}")
    print(f"\n{sum(table.values())} sheets, {len(false)} false answers")
    return int(bool(false))


if __name__ == "__main__":
    sys.exit(main())
