"""Random attentions, written as equations and read back: the same steps, the same values.

``python -m tests.fuzz.written --count 5000 --seed 1`` prints how often there was which outcome and
lists every difference; it ends with 1 if there is any. Half of the attentions are random choices
of the axes of `Attention`, half are texts put together from what the language has.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from symattn import VARIANTS, Attention, Derivation, SymattnError, derivation
from symattn.attention.example import small_inputs
from symattn.errors import CannotSpell
from symattn.language.writing import written
from tests.combinations import AXES
from tests.fuzz.asking import options


@dataclass(frozen=True)
class Outcome:
    """What came of one attention: a word, and what there is to say of it."""

    word: str
    said: str = ""

    @property
    def fails(self) -> bool:
        """Whether it must not happen."""
        return self.word in ("differs", "not read", "traceback")


def round_trip(whole: Derivation, given: dict[str, Any]) -> Outcome:
    """What comes of a derivation that is written and read back, on these numbers."""
    try:
        text = written(whole)
    except CannotSpell as refusal:
        return Outcome("refused", str(refusal))
    try:
        again = derivation(text)
    except SymattnError as error:
        return Outcome("not read", f"{error}\n{text}")
    names = {item.letter: item.name for item in again.inputs}
    numbers = {
        names[item.letter]: given[item.name] for item in whole.inputs if item.letter in names
    }
    if [step.name for step in whole] != [step.name for step in again]:
        return Outcome("differs", f"{[step.name for step in again]}\n{text}")
    try:
        values = whole.evaluate(**given)
        left = {step.name: values[step.name].array for step in whole}
    except SymattnError as error:
        return Outcome("no value", str(error))
    try:
        right = again.evaluate(**numbers)
        for step in whole:
            one, other = left[step.name], right[step.name].array
            if one.shape != other.shape or not np.allclose(
                one, other, rtol=1e-11, atol=1e-13, equal_nan=True
            ):
                return Outcome("differs", f"{step.name}: {one} {other}\n{text}")
    except SymattnError as error:
        return Outcome("differs", f"{error}\n{text}")
    same = all(one.expr == other.expr for one, other in zip(whole, again, strict=True))
    if same or written(again).splitlines()[-len(whole) :] == text.splitlines()[-len(whole) :]:
        return Outcome("the same steps" if same else "another form, the same text")
    return Outcome("another form", text)


def of_axes(rng: random.Random) -> Outcome:
    """What comes of random choices on the axes of attention."""
    spec = {"source": rng.choice(AXES["source"])}
    for axis in rng.sample([axis for axis in AXES if axis != "source"], rng.randint(1, 7)):
        spec[axis] = rng.choice(AXES[axis])
    try:
        attention = Attention(**{name: value for name, value in spec.items() if value is not None})
        numbered, given = small_inputs(attention, tokens=4, d_k=4)
        whole = (numbered if rng.random() < 0.7 else attention).derivation()
    except SymattnError:
        return Outcome("no attention")
    return round_trip(whole, given)


# ---- texts -----------------------------------------------------------------------------------

#: What the sizes of texts are; the letters that are given, by their sizes.
SIZES = {"n": 3, "m": 4, "d_k": 4, "d_v": 2, "d_model": 3, "h": 2, "g": 1, "p": 2, "r": 3}
GIVEN = {
    "X": ("n", "d_model"),
    "Q": ("n", "d_k"),
    "K": ("m", "d_k"),
    "V": ("m", "d_v"),
    "W_G": ("d_model", "d_v"),
    "W_Q": ("d_model", "d_k"),
    "B": ("n", "m"),
}
FAMILIES = {"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v"), "W_O": ("d_v", "d_model")}
_OF_ENTRIES = ("tanh", "sigmoid", "relu", "abs", "SiLU", "GELU", "cos", "f", "g", "softcap")
_OF_ROWS = ("softmax", "softmax1", "sparsemax", "unit", "LayerNorm", "RMSNorm", "rotary")
_FUNCTIONS = (
    "f(x) = x + 1 if x >= 0 else e^x",
    "f(x) = relu(x)^2",
    "f(x) = -x / (1 + abs(x))",
    "f(x) = max(x, 1/3) - c",
    "f(x) = 2 x if x > 1 or x < -1 else tanh(x) / 3",
    "f(x) = x ln(1 + x^2)",
)
_ENTRIES = (
    "γ^(i-j) if j <= i else 0",
    "-abs(i - j) / 4",
    "0 if 0 <= i - j < 2 else -inf",
    "0 if j <= i + 1 and i != 3 else -inf",
    "1 / (i + j)",
    "mod(i + 2 j, 3) - floor(j / 2)",
    "max(i, j) * c",
    "cos(i - j) if i > j else sin(j) / 2",
    "B[i,j] if not (i == j) else 0",
    "f(B[i,j]) + λ (i - j)",
    "B[i,j]^2 if B[i,j] > 0 else -B[i,j] / 3",
    "exp(-(i - j)^2 / 2)",
    "sqrt(i) * j",
)


class Texts:
    """A random text of equations, which is put together line by line."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.shapes = dict(GIVEN)
        self.index = ""
        self.lines: list[str] = []

    def letter(self, shape: tuple[str, str]) -> str:
        """A letter of this shape, or the transpose of one; empty where there is none."""
        found = [name for name, own in self.shapes.items() if own == shape]
        found += [f"{name}^T" for name, own in self.shapes.items() if own == shape[::-1]]
        return self.rng.choice(found) if found else ""

    def expression(self, shape: tuple[str, str], depth: int) -> str:
        """A random expression of this shape; empty where there is none."""
        rng = self.rng
        plain = self.letter(shape)
        if depth == 0 or (plain and rng.random() < 0.2):
            return plain
        kind = rng.randrange(9)
        if kind == 0 or (kind < 3 and not plain):
            inner = rng.choice(sorted({size for own in self.shapes.values() for size in own}))
            left = self.expression((shape[0], inner), depth - 1)
            right = self.expression((inner, shape[1]), depth - 1)
            return f"({left}) ({right})" if left and right else plain
        one = self.expression(shape, depth - 1)
        if not one:
            return plain
        if kind == 1:
            word = rng.choice(_OF_ENTRIES)
            return f"{word}({one}, 3)" if word == "softcap" else f"{word}({one})"
        if kind == 2:
            word = rng.choice(_OF_ROWS)
            if word == "rotary" and (shape[1] != "d_k" or self.index):
                word = "softmax"
            more = {"LayerNorm": ", eps=1/2", "RMSNorm": ", eps=1"}.get(word, "")
            return f"{word}({one}{more})"
        if kind == 3:
            other = self.expression(shape, depth - 1)
            return f"({one}) {rng.choice(['+', '-', '∘'])} ({other})"
        if kind == 4:
            return rng.choice(["2 ({})", "λ ({})", "-({})", "({}) / sqrt(d_k)", "({}) / 3"]).format(
                one
            )
        if kind == 5:
            return f"exp(tanh({one})) / rowsum(exp(tanh({one})))"
        if kind == 6 and shape == ("n", "m"):
            mask = rng.choice(["causal()", "window(1, 1)", "prefix(2)", "padding(3)", "M"])
            if mask == "M" and "M" not in self.shapes:
                self.lines.append(f"M[i,j] = {rng.choice(_ENTRIES[2:4])}")
                self.shapes["M"] = ("masks", "masks")
            return f"softmax(({one}) + {mask})"
        if kind == 7:
            return rng.choice(["({}) - rowmean({})", "({}) - rowmax({})"]).format(one, one)
        return f"({one}) ∘ ({self.expression(shape, depth - 1) or one})"

    def made(self) -> str:
        """The whole text."""
        rng = self.rng
        for name, (rows, columns) in GIVEN.items():
            self.lines.append(f"{name} : {rows} × {columns}")
        self.lines += [rng.choice(_FUNCTIONS), "g(x) = f(x) / (1 + f(x)^2)"]
        if rng.random() < 0.5:
            self.lines.append("c = 3/7")
        for number in range(rng.randint(1, 4)):
            name = f"Y{number}"
            kind = rng.randrange(7)
            shape = rng.choice([("n", "d_v"), ("n", "m"), ("n", "d_k"), ("m", "d_v")])
            right = self.expression(shape, rng.randint(1, 3))
            if not right:
                continue
            if kind == 0:
                self.lines.append(f"{name} : n × m")
                self.lines.append(f"{name}[i,j] = {rng.choice(_ENTRIES[:2] + _ENTRIES[4:])}")
                self.lines.append(f"Z{number} = {name} + B")
                self.shapes[f"Z{number}"] = ("n", "m")
                continue
            if kind == 1:
                self.lines += rng.choice(
                    (
                        [f"{name}[t] = {name}[t-1] / 2 + Q[t]^T X[t]"],
                        [f"{name}[0] = 0", f"{name}[t] = λ {name}[t-1] + Q[t]^T X[t]"],
                        [f"{name}[0] = W_Q^T", f"{name}[t] = {name}[t-1] + tanh(Q[t]^T X[t])"],
                    )
                )
                self.lines.append(f"Z{number}[t,:] = Q[t] {name}[t]")
                continue
            if kind == 2:
                parts = ("[{0}, {1}][:, 1:2]", "[{0}; {1}][2:3, :]", "[{0}, {1}; {1}, {0}]")
                other = self.expression(shape, 1) or right
                self.lines.append(f"{name} = {rng.choice(parts).format(right, other)}")
                continue
            word = rng.choice(["", f"step{number} "])
            reason = rng.choice(["", "  # because"])
            self.lines.append(f"{word}{name} = {right}{reason}")
            self.shapes[name] = shape
        return "\n".join(self.lines)

    def of_heads(self) -> str:
        """A text with a matrix for each head."""
        rng = self.rng
        lines = [rng.choice(_FUNCTIONS)]
        heads = rng.choice((0, 1, 2, 3))
        lines += [f"n_h = {heads}"] if heads else []
        lines += [f"{name}[h] : {rows} × {columns}" for name, (rows, columns) in FAMILIES.items()]
        key = rng.choice(["K[h]", "K[1]" if heads else "K[h]", "f(K[h])"])
        lines.append(f"S[h] = Q[h] {key}^T / sqrt(d_k)")
        scores = rng.choice(["S[h]", "sum_l(P[h,l] S[l])", "S[h] + causal()", "S[h] + alibi()"])
        if rng.random() < 0.3:
            lines.append("M[h][i,j] = -a[h] (i - j) if j <= i else -inf")
            scores = "S[h] + M[h]"
        lines.append(f"A[h] = {rng.choice(['softmax', 'softmax1', 'unit'])}({scores})")
        end = ("concat_h(A[h] V[h])", "sum_h(A[h] V[h] W_O[h])", "concat_h(tanh(A[h] V[h]) W_O[h])")
        lines.append(f"O = {rng.choice(end)}")
        if rng.random() < 0.3:
            lines.append("Y = O / n_h")
        return "\n".join(lines)


_WITH = (
    "weights A = softmax1({scaled})",
    "weights A = sparsemax({scaled} + causal())",
    "G[i,j] = exp(-abs(i - j)); weights A = softmax({scaled}) ∘ G",
    "output O = (A V) ∘ sigmoid(X W_G)",
    "f(x) = relu(x)^2; weights A = f({scaled})",
    "c = 1/3; output O = c A V",
)


def of_text(rng: random.Random) -> Outcome:
    """What comes of a random text, or of one on top of a named attention."""
    base = None
    try:
        kind = rng.random()
        if kind < 0.6:
            text = Texts(rng).made()
        elif kind < 0.85:
            text = Texts(rng).of_heads()
        else:
            name = rng.choice(["self", "causal", "cross", "biased", "rotary", "scaled-dot-product"])
            (row,) = (row for row in VARIANTS if row.name == name)
            base = row.spec.derivation()
            scores = [step.letter for step in base if step.name in ("scaled", "biased")][-1]
            text = rng.choice(_WITH).format(scaled=scores)
        whole = derivation(text, base)
    except SymattnError as refused:
        return Outcome("no text", str(refused))
    numbers = np.random.default_rng(rng.randrange(2**32))
    given: dict[str, Any] = {}
    for item in whole.inputs:
        counted = item.count.free_symbols if item.count is not None else set()
        known = {size: SIZES.get(str(size), 2) for size in {*whole.size_symbols, *counted}}
        shape = [int(size.subs(known)) for size in item.shape]
        if item.count is not None:
            shape = [int(item.count.subs(known)), *shape]
        given[item.name] = np.round(numbers.uniform(-1, 1, shape), 3)
    return round_trip(whole, given)


def outcomes(count: int, seed: int) -> Iterator[tuple[str, Outcome]]:
    """So many attentions, each by its seed, and what came of it."""
    for number in range(count):
        own = f"{seed}-{number}"
        rng = random.Random(own)
        try:
            found = of_axes(rng) if number % 2 else of_text(rng)
        except Exception:
            found = Outcome("traceback", traceback.format_exc())
        yield own, found


def main() -> int:
    """Make, compare and print."""
    arguments = options(__doc__, count=5000, seed=1)
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    fails = 0
    for own, found in outcomes(arguments.count, arguments.seed):
        counts[found.word] += 1
        fails += found.fails
        if found.word in ("refused", "no text"):
            refusals[found.said] += 1
        elif found.fails:
            print(f"{own}: {found.word}: {found.said}", flush=True)
    for word, number in counts.most_common():
        print(f"{number:6}  {word}")
    for word, number in refusals.most_common():
        print(f"{number:6}  {word}")
    return int(fails > 0)


if __name__ == "__main__":
    sys.exit(main())
