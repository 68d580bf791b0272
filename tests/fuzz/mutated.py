"""Broken statements, of every kind, and options of `equal` that are wrong.

Characters and tokens of valid statements are changed, tokens strung together, brackets nested and
texts made long. The doors `equal` and `prove` of `tests.fuzz.targets` are given what comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

TOKENS = (
    "softmax(",
    "colsoftmax(",
    "exp(",
    "ln(",
    "sqrt(",
    "rowsum(",
    "colsum(",
    "sum(",
    "diag(",
    "causal()",
    "causal",
    "norm2(",
    "dist2(",
    "tr(",
    "relu(",
    "abs(",
    "inv(",
    "unit(",
    "mean(",
    "rotary(",
    "hardmax(",
    "sparsemax(",
    "ratio(",
    "softcap(",
    "concat(",
    "σ(",
    "tanh(",
    "lse(",
    "A",
    "B",
    "Q",
    "K",
    "V",
    "S",
    "P",
    "I",
    "X",
    "W_Q",
    "K1",
    "W_{QK}",
    "c",
    "x",
    "q",
    "k",
    "v",
    "n",
    "m",
    "d_k",
    "T",
    "e",
    "1",
    "2",
    "0",
    "0.5",
    "1/3",
    "ones",
    "1^T",
    "^T",
    "^-1",
    "^-T",
    "^2",
    "^(1/2)",
    "^(-1/2)",
    "^0",
    "^-2",
    "ᵀ",
    "⁻¹",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "+",
    "-",
    "−",
    "*",
    "·",
    "@",
    "/",
    "∘",
    "⊘",
    "./",
    ".*",
    "=",
    "==",
    "\\frac{A}{B}",
    "\\top",
    "**",
    "√",
    "√2",
    "θ",
    "⊤",
    "axis=0",
    "columns",
    "dO",
    "'",
    "_",
    "^",
    "10^64",
    "99999999999",
    "1e9",
    "0.1e-5",
    "∞",
    "π",
    "i",
    "∑",
    "\n",
    "\t",
    "\x00",
    "\u2028",
    "é",
    "🙂",
    " ",
    "",
)

OPTIONS: tuple[Mapping[str, Any], ...] = (
    {"shapes": {"A": [0, "n"]}},
    {"shapes": {"A": ["n", 1]}},
    {"shapes": {"A": [1, 1]}},
    {"shapes": {"A": [-1, "m"]}},
    {"shapes": {"A": ["", ""]}},
    {"shapes": {"A": ["n", "n", "n"]}},
    {"shapes": {"A": "nm"}},
    {"shapes": {"A": ["n m", "2n"]}},
    {"shapes": {"ZZ": ["n", "n"]}},
    {"shapes": {"S": [2.5, 3]}},
    {"shapes": {"I": ["n", "n"]}},
    {"shapes": {"n": ["n", "n"]}},
    {"shapes": {"softmax": ["n", "n"]}},
    {"shapes": {"S": [10**9, 10**9]}},
    {"sizes": {"n": 0}},
    {"sizes": {"n": -2}},
    {"sizes": {"n": 1, "m": 1}},
    {"sizes": {"zz": 3}},
    {"sizes": {"n": 10**9}},
    {"sizes": {"n": 64, "m": 64, "d_k": 64}},
    {"sizes": {"n": 2.5}},
    {"where": ["A = "]},
    {"where": ["A"]},
    {"where": ["A = B = C"]},
    {"where": ["A = A"]},
    {"where": ["A = 2 A"]},
    {"where": ["A^T A = I"]},
    {"where": ["1 = 2"]},
    {"where": "A B = B A"},
    {"where": ["softmax(A) = A"]},
    {"where": ["exp(A) = B", "ln(B) = A"]},
    {"where": [")"]},
    {"where": ["A = B", "B = A"]},
    {"where": ["A = A + 1"]},
    {"where": ["rowsum(S) = rowsum(S)"]},
    {"positive": ["A"]},
    {"positive": ["zz"]},
    {"positive": "S"},
    {"positive": [""]},
    {"permuting": ["P"]},
    {"permuting": ["P", "P2", "P3"]},
    {"permuting": ["S"]},
    {"permuting": ["c"]},
    {"permuting": ["zz"]},
    {"permuting": ["I"]},
)


def changed(text: str, random: Any, changes: Sequence[Callable[[str, Any], str]]) -> str:
    """The text after a few of these changes."""
    for _ in range(int(random.integers(1, 4))):
        text = changes[int(random.integers(len(changes)))](text, random)
    return text


def _character(text: str, random: Any) -> str:
    """One character left out, doubled, or another one."""
    at = int(random.integers(len(text) + 1))
    other = TOKENS[int(random.integers(len(TOKENS)))][:1]
    return (
        text[:at] + text[at + 1 :],
        text[:at] + text[at : at + 1] * 2 + text[at + 1 :],
        text[:at] + other + text[at + 1 :],
        text[:at] + other + text[at:],
    )[int(random.integers(4))]


def _split(text: str) -> list[str]:
    return re.findall(r"\w+\(?|\^\S|\s+|.", text, re.DOTALL) or [""]


def _token(text: str, random: Any) -> str:
    """One token another one, or two exchanged."""
    parts = _split(text)
    one, other = (int(random.integers(len(parts))) for _ in range(2))
    if random.random() < 0.4:
        parts[one], parts[other] = parts[other], parts[one]
    else:
        parts[one] = TOKENS[int(random.integers(len(TOKENS)))]
    return "".join(parts)


def _soup(text: str, random: Any) -> str:
    """Tokens strung together."""
    count = int(random.integers(1, 16))
    told = " ".join(TOKENS[int(random.integers(len(TOKENS)))] for _ in range(count))
    return told if random.random() < 0.5 else f"{told} = {text.partition('=')[0]}"


def _nested(text: str, random: Any) -> str:
    """Brackets or functions, one in another."""
    deep = int(random.choice((2, 10, 39, 41, 300)))
    left, right = (
        ("(", ")"),
        ("softmax(", ")"),
        ("[", "]"),
        ("-(", ")"),
        ("√", ""),
        ("", "^T"),
        ("exp(", ")"),
        ("", "^-1"),
        ("", "^2"),
    )[int(random.integers(9))]
    side, _, rest = text.partition("=")
    return f"{left * deep}{side.strip()}{right * deep} = {rest or 'A'}"


def _long(text: str, random: Any) -> str:
    """The same again and again."""
    side, _, rest = text.partition("=")
    sign = (" + ", " ", " ∘ ", ", ", "; ", " - ", "^T ", " / ")[int(random.integers(8))]
    return f"{sign.join([side.strip()] * int(random.choice((2, 5, 30, 200))))} = {rest}"


def _sides(text: str, random: Any) -> str:
    """A side missing, twice, or the other way around."""
    left, _, right = text.partition("=")
    ways = (
        left,
        f"{left} =",
        f"= {right}",
        f"{right} = {left}",
        f"{text} = {left}",
        f"{left} = {left}",
        f"{left} - {right} = 0",
        f"{left} == {right}",
        f"{left} = {right}^T",
        f"{left} = 0",
        f"({left}) ({right}) = 1",
    )
    return ways[int(random.integers(len(ways)))]


#: Changes that leave most of a text as it is, and all of them.
SMALL = (_character, _character, _token, _token, _token)
CHANGES = (*SMALL, _soup, _nested, _long, _sides)
