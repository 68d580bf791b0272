"""A reader of printed proofs: a line in LaTeX is worked out in plain Python, entry by entry.

It shares nothing with what writes the lines. Letters are NumPy arrays, sizes and indices numbers.
A matrix in brackets, and a line of matrices, is worked out as the text of a statement is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symattn.errors import SymattnError
from symattn.grammar import read
from tests import texts

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    r"\tanh": math.tanh,
    r"\abs": abs,
    r"\ln": math.log,
    r"\cos": math.cos,
    r"\sin": math.sin,
    r"\erf": math.erf,
    r"\sigma": lambda x: 1 / (1 + math.exp(-x)),
}


#: How what is printed of matrices is typed.
_TYPED = (
    ("−", "-"),
    ("ᵀ", "^T"),
    (r"\^\(-1\)", "^-1"),
    (r"\^ ?\{ ?- ?1 ?\}", "^-1"),
    (r"\^ ?\{ ?T ?\}", "^T"),
    (r" ?_ ?\{ ?\\?(\w+) ?\}", r"_\1"),
    (r"\\begin(.*)\\end", lambda m: m[1].replace("&", ",").replace(r"\\", ";")),
    (r"\\frac ?\{(.*)\} ?\{(.*)\}", r"(\1)/(\2)"),
    (r"\\circ", "∘"),
    (r"\{", "("),
    (r"\}", ")"),
    (r"\\", ""),
)


#: How many terms of sums are worked out for a line; a sum within four others has more.
MOST_TERMS = 10_000


class Unread(Exception):
    """Something in a line that this reader does not know."""


def tokens(latex: str) -> list[str]:
    """The signs of a line; sizes of fences, spaces and fonts left out."""
    latex = re.sub(r"\\(left|right\.?)(?![A-Za-z])\s*", "", latex).replace(r"\,", " ")
    latex = re.sub(r"\\(begin|end)\{array\}(\{\w+\})?", lambda m: rf"\{m[1]} ", latex)
    latex = re.sub(r"\\text\{(if |otherwise)\}", r"\\\1 ", latex)
    latex = re.sub(r"\\(mathrm|operatorname)\{([^{}]*)\}", r"\\\2 ", latex)
    latex = latex.replace(r"\vert", "|").replace(r"\lvert", "|").replace(r"\rvert", "|")
    return re.findall(r"\\\\|\\[A-Za-zσπ⁻¹0-9]+|\d+(?:\.\d+)?|\\\{|\\\}|[^\s]", latex)


class Reader:
    """The value of one line for one choice of indices."""

    def __init__(self, latex: str, values: Mapping[str, Any], places: Mapping[str, int]) -> None:
        self.signs, self.at = tokens(latex), 0
        self.values, self.places = values, dict(places)
        self.inverses: dict[str, Any] = {}
        self.terms = 0

    def value(self) -> float:
        """The value of the whole line."""
        out = self.sum()
        if self.at != len(self.signs):
            raise Unread(" ".join(self.signs[self.at :]))
        return out

    # ---- signs ---------------------------------------------------------------------------

    def peek(self) -> str:
        return self.signs[self.at] if self.at < len(self.signs) else ""

    def take(self, wanted: str = "") -> str:
        sign = self.peek()
        if not sign or (wanted and sign != wanted):
            raise Unread(f"{wanted} is wanted where {sign or 'the end'} stands")
        self.at += 1
        return sign

    def taken(self, sign: str) -> bool:
        """Whether a sign stands next, which then is taken."""
        found = self.peek() == sign
        self.at += found
        return found

    def group(self) -> list[str]:
        """The signs in braces, or the one sign that stands without."""
        if self.peek() != "{":
            return [self.take()]
        depth, begun = 0, self.at + 1
        while True:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)
            if depth == 0:
                return self.signs[begun : self.at - 1]

    # ---- numbers -------------------------------------------------------------------------

    def sum(self) -> float:
        out, sign = 0.0, 1
        if self.peek() == "-":
            self.take()
            sign = -1
        while True:
            out += sign * self.product()
            if self.peek() not in ("+", "-"):
                return out
            sign = 1 if self.take() == "+" else -1

    def product(self) -> float:
        out = self.factor()
        while self.peek() not in ("", "+", "-", ")", "]", "}", "|", ",") and self.peek() != "&":
            if self.peek() == "/":
                self.take()
                out /= self.factor()
            else:
                if self.peek() == r"\cdot":
                    self.take()
                out *= self.factor()
        return out

    def factor(self) -> float:
        if self.peek() == r"\sum":
            return self.total()
        base = self.base()
        if self.peek() == "^":
            self.take()
            base = base ** self.inside(self.group())
        return base

    def inside(self, signs: list[str]) -> float:
        """The value of a group."""
        before = self.signs, self.at
        self.signs, self.at = signs, 0
        out = self.value()
        self.signs, self.at = before
        return out

    def total(self) -> float:
        """∑ over an index, as far as its product goes."""
        self.take(r"\sum")
        self.take("_")
        below = self.group()
        if "=" in below:
            self.take("^")
            letter, first = below[0], self.index(below[2:])
            last = self.index(self.group())
        else:
            places = [k for k, sign in enumerate(below) if sign == r"\le"]
            letter = below[places[-1] - 1]
            last = self.index(below[places[-1] + 1 :])
            first = self.index(below[: places[0]]) if len(places) > 1 else 1
        letter = letter.removeprefix("\\")
        begun, before = self.at, self.places.get(letter)
        if before is not None:
            raise Unread(f"{letter} is taken")
        out = 0.0
        for place in range(first, last + 1):
            self.at, self.places[letter] = begun, place
            self.terms += 1
            if self.terms > MOST_TERMS:
                raise Unread("sums within sums")
            out += self.product()
        if first > last:
            self.places[letter] = 1
            self.skipped()
        del self.places[letter]
        return out

    def skipped(self) -> None:
        """Go past a product that is not evaluated."""
        depth = 0
        while self.peek():
            sign = self.peek()
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(sign, 0)
            if depth < 0 or (depth == 0 and sign in ("+", "-", ",")):
                return
            self.take()

    def base(self) -> float:
        sign = self.take()
        if re.fullmatch(r"\d+(\.\d+)?", sign):
            return float(sign)
        match sign:
            case "(" | "|":
                out = self.sum()
                self.take(")" if sign == "(" else "|")
                return out if sign == "(" else abs(out)
            case "{" if self.taken("["):
                return self.bracketed()
            case "{":
                self.at -= 1
                return self.inside(self.group())
            case r"\frac":
                above = self.inside(self.group())
                return above / self.inside(self.group())
            case r"\sqrt":
                return math.sqrt(self.inside(self.group()))
            case "e" if self.peek() != "_":
                return math.exp(self.inside(self.group())) if self.taken("^") else math.e
            case r"\infty":
                return math.inf
            case r"\{":
                return self.cases()
            case r"\tau":
                return self.threshold()
            case r"\max" if self.taken("_"):
                return max(self.of_row())
            case r"\pi" if self.peek() != "_":
                return math.pi
            case r"\delta":
                self.take("_")
                i, j = self.indices(self.group())
                return float(i == j)
            case "[":
                return self.bracketed()
        if sign == r"\max":
            self.take("(")
            parts = [self.sum()]
            while self.peek() == ",":
                self.take()
                parts.append(self.sum())
            self.take(")")
            return max(parts)
        if sign in _FUNCTIONS:
            self.take("(")
            out = self.sum()
            self.take(")")
            return float(_FUNCTIONS[sign](out))
        return self.letter(sign)

    def cases(self) -> float:
        """1 if j = argmax_l(s_il), 0 otherwise: the first that applies."""
        self.take(r"\begin")
        signs = self.signs[self.at : self.signs.index(r"\end", self.at)]
        self.at += len(signs) + 1
        rows = " ".join(signs).split(r" \\ ")
        for row in rows:
            value, _, condition = row.partition("&")
            one, equals, other = condition.replace(r"\if", "").partition("=")
            if not equals or self.argument(one) == self.argument(other):
                return self.inside(value.split())
        raise Unread("no case applies")

    def argument(self, text: str) -> int:
        """A side of a condition: an index, or the place of the largest."""
        signs = text.split()
        if signs[0] != r"\argmax":
            return self.index(signs)
        before = self.signs, self.at
        self.signs, self.at = signs, 2
        row = self.of_row()
        self.signs, self.at = before
        return int(np.argmax(row)) + 1

    def of_row(self) -> list[float]:
        """_l(s_il) at all places l; how many there are is told by the letter's columns."""
        (letter,) = self.group()
        signs, begun, places, out = self.signs, self.at, self.places, list[float]()
        while True:
            self.signs, self.at = signs, begun
            self.places = {**places, letter: len(out) + 1}
            try:
                out.append(self.base())
            except IndexError:
                break
        self.signs, self.at, self.places = signs, begun + closing(signs[begun:]), places
        return out

    def threshold(self) -> float:
        """τ(x_1, ⋯, x_m) of Martins and Astudillo (2016): Σ max(0, x_l − τ) = 1."""
        begun, end = self.at + 1, self.at + closing(self.signs[self.at :])
        inner = self.signs[begun : end - 1]
        dots = inner.index(r"\cdots")
        first, last = inner[: dots - 1], inner[dots + 2 :]
        places = [k for k, pair in enumerate(zip(first, last, strict=True)) if len({*pair}) > 1]
        (size,) = {last[k] for k in places}
        row = [
            self.inside([str(at) if k in places else sign for k, sign in enumerate(first)])
            for at in range(1, self.index([size]) + 1)
        ]
        self.at = end
        falling = np.sort(row)[::-1]
        each = (np.cumsum(falling) - 1) / np.arange(1, len(row) + 1)
        return float(each[falling > each][-1])

    def bracketed(self) -> float:
        """[S_1]_ij, an entry of a numbered matrix, of an inverse or of softmax(S)."""
        begun, depth = self.at, 1
        while depth:
            depth += {"[": 1, "]": -1}.get(self.take(), 0)
        signs = self.signs[begun : self.at - 1]
        name = "".join(s for s in signs if s not in "{}")
        if self.peek() == "}":  # {\left[ … \right]}_{ij}
            self.take()
        self.take("_")
        places = self.indices(self.group())
        turned = name.endswith("^-1")
        name = name.removesuffix("^-1").replace("_", "", 1 if re.fullmatch(r"\w_\d+", name) else 0)
        if name not in self.values:
            return entry(whole(" ".join(signs), self.values), places)
        if turned and name not in self.inverses:
            self.inverses[name] = np.linalg.inv(self.values[name])
        return entry((self.inverses if turned else self.values)[name], places)

    def letter(self, sign: str) -> float:
        name = f"d{self.take().upper()}" if sign == r"\d" else sign.removeprefix("\\")
        sub: list[str] = []
        if self.peek() == "^" and self.signs[self.at + 1 : self.at + 2] == ["{"]:
            label = self.signs[self.at + 2]
            if f"{name.upper()}_{label}" in self.values:
                self.take()
                self.group()
                name = f"{name}_{label}"
        if self.peek() == "_":
            self.take()
            sub = self.group()
        if self.peek() == "^" and f"{name.upper()}_{self.signs[self.at + 2]}" in self.values:
            self.take()
            name = f"{name}_{''.join(self.group())}"
        size = f"{name}_{''.join(sub)}".replace("\\", "")
        if sub and size in self.values:
            return float(self.values[size])
        if not sub and name in self.places:
            return float(self.places[name])
        upper = name[:1].upper() + name[1:]
        places = self.indices(sub) if sub else []
        for one in (upper, name) if len(places) == 2 else (name, upper):
            if one in self.values:
                value = self.values[one]
                return entry(value, places) if sub else float(np.asarray(value).item())
        raise Unread(sign)

    # ---- indices -------------------------------------------------------------------------

    def indices(self, signs: list[str]) -> list[int]:
        """The indices below an entry, with commas between them or one sign each."""
        parts: list[list[str]] = [[]]
        depth = 0
        for sign in signs:
            depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(sign, 0)
            if sign == "," and depth == 0:
                parts.append([])
            else:
                parts[-1].append(sign)
        if len(parts) == 1 and not {"+", "-", "(", "_"} & {*signs}:
            digits = [d for sign in signs for d in (sign if sign.isdigit() else [sign])]
            parts = [[sign] for sign in digits]
        return [self.index(part) for part in parts]

    def index(self, signs: list[str]) -> int:
        """One index: i, n, d_k + j − 1, π(i)."""
        before = self.signs, self.at
        self.signs, self.at = list(signs), 0
        if self.peek() == r"\pi":
            self.take()
            label = [s for s in self.group() if s not in "{}_"] if self.taken("_") else ["P"]
            turned = self.taken("^") and bool(self.group())
            matrix = self.values.get("".join(label))
            if matrix is None:
                raise Unread("π")
            self.take("(")
            place = self.index(self.signs[self.at : -1])
            out = int(np.argmax(matrix[:, place - 1] if turned else matrix[place - 1])) + 1
        else:
            out = round(self.sum())
        self.signs, self.at = before
        return out


def closing(signs: list[str]) -> int:
    """How many signs a parenthesis has, from "(" to its ")"."""
    depth = 0
    for k, sign in enumerate(signs):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0:
            return k + 1
    raise Unread("a parenthesis is not closed")


def whole(text: str, values: Mapping[str, Any], shape: tuple[int, ...] = ()) -> Any:
    """The value of a matrix that is printed: Xᵀ X, softmax(S), (I + A)^(−1), causal(n, m)."""
    for old, new in _TYPED:
        text = re.sub(old, new, text)
    sized = re.search(r"causal ?\( ?(\w+) ?, ?(\w+) ?\)", text)
    if sized and sized[1] in values:
        shape = (values[sized[1]], values[sized[2]])
        text = text.replace(sized[0], "causal()")
    try:
        value = texts.value(read(text, {}), values)
    except (SymattnError, KeyError, ValueError) as trouble:
        raise Unread(f"{text}: {trouble}") from None
    return value.made(*shape) if isinstance(value, texts.Shapeless) else value


def entry(matrix: Any, places: list[int]) -> float:
    """An entry by its indices from 1; of a vector one is enough."""
    matrix = np.atleast_2d(matrix)
    if len(places) == 1:
        places = [places[0], 1] if matrix.shape[1] == 1 else [1, places[0]]
    i, j = places
    if not (1 <= i <= matrix.shape[0] and 1 <= j <= matrix.shape[1]):
        raise IndexError(f"there is no entry {places} of {matrix.shape}")
    return float(matrix[i - 1, j - 1])
