"""The printed rule of an entry means what the step computes: an evaluator of what is printed.

It reads the text alone and NumPy's arrays, so that an index that is captured by a sum within, or
that has the letter of a matrix or a size, is found by a number that differs or a name that clashes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest

from symattn import Attention, Notation
from symattn.attention.example import small_example
from symattn.attention.presets import PRESETS
from symattn.derivations import Derivation, Evaluation
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.notation import tree as t
from symattn.notation.text import line

#: The letters of indices, in the order in which they are taken.
_ALPHABET = "ijklrstupqabcvwxyz"

_TOKEN = re.compile(r"Σ_(\w)|([^\W\d_]+(?:\^\(\w\)|\^\w+)?)_(\w)(\w)(?!\w)|(\d+)|(\S)")

Value = Callable[[Mapping[str, int]], float]


class Printed:
    """What an entry rule computes, by its text: sums, products, quotients, roots, e^( )."""

    def __init__(self, words: str, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]):
        for name, size in sizes.items():
            words = words.replace(f"√{name}", f"√({size})")
        self.tokens = list(_TOKEN.finditer(words))
        self.arrays, self.place = arrays, 0
        self.ranges: dict[str, int] = {}
        self.bound: list[str] = []

    def value(self, free: tuple[str, str]) -> Value:
        """The rule of entry (i, j) of these letters."""
        self.bound = [*free]
        found = self.sum()
        assert self.place == len(self.tokens), self.tokens[self.place :]
        return found

    def sign(self) -> str:
        """The sign that comes next."""
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def sum(self) -> Value:
        """Terms with + and −."""
        terms = [(1, self.quotient())]
        while self.sign() in ("+", "−"):
            factor = 1 if self.sign() == "+" else -1
            self.place += 1
            terms.append((factor, self.quotient()))
        return lambda at: sum(factor * term(at) for factor, term in terms)

    def quotient(self) -> Value:
        """A product, or one over another."""
        above = self.product()
        if self.sign() != "/":
            return above
        self.place += 1
        below = self.product()
        return lambda at: above(at) / below(at)

    def product(self) -> Value:
        """Factors side by side; a sum takes all that follow."""
        factors = []
        while self.sign() and self.sign() not in ("+", "−", "/", ")"):
            factors.append(self.factor())
        return lambda at: math.prod(factor(at) for factor in factors)

    def factor(self) -> Value:
        """A sum over an index, an entry, a number, a root, an exponential, brackets."""
        token = self.tokens[self.place]
        self.place += 1
        index, base, row, column, number, sign = token.groups()
        if index:
            assert index not in self.bound, f"{index} is bound in its own scope"
            self.bound.append(index)
            body = self.product()
            self.bound.remove(index)
            size = self.ranges.pop(index)
            return lambda at: sum(body({**at, index: k}) for k in range(size))
        if base:
            array = self.arrays[base]
            for letter, size in zip((row, column), array.shape, strict=True):
                assert letter in self.bound, f"{letter} is free"
                assert self.ranges.setdefault(letter, size) == size
            return lambda at: float(array[at[row], at[column]])
        if number:
            return lambda at: float(number)
        if sign == "e":
            assert self.sign() == "^"
            self.place += 1
            power = self.factor()
            return lambda at: math.exp(power(at))
        if sign == "√":
            inside = self.factor()
            return lambda at: math.sqrt(inside(at))
        assert sign == "(", token
        body = self.sum()
        assert self.sign() == ")"
        self.place += 1
        return body


def printed(derivation: Derivation, values: Evaluation, notation: Notation) -> list[str]:
    """The rules of entries that are printed, each having been evaluated against the arrays."""
    one = t.Num("1")
    arrays = {}
    flipped = notation.convention == "columns"
    for item in (*derivation.inputs, *derivation.steps):
        base = line(notation.entry(item.letter, None, (one, one))).replace("_11", "")
        array = np.asarray(values.array(item.letter), dtype=float)
        arrays[base] = array.T if flipped else array
    sizes = {line(notation.scalar(name)): n for name, n in values.known_sizes.items()}
    checked = []
    for section in outline(Shown(derivation, notation=notation, views=("entry", "formula"))).steps:
        for each in section.lines:
            if each.view != "entry":
                continue
            words = line(each.tree)
            left, _, right = words.partition(" = ")
            row, column = left[-2], left[-1]
            rule = Printed(right, arrays, sizes).value((row, column))
            array = arrays[left[:-3]]
            for i, j in product(*map(range, array.shape)):
                assert rule({row: i, column: j}) == pytest.approx(array[i, j], abs=1e-9), words
            checked.append(words)
    return checked


#: Which steps are shown, where the scores are scaled and where they are not.
_SHOWN = [
    (scaled, kept)
    for scaled in (True, False)
    for kept in (("weights", "output"), ("scores", "output"), ("Q", "scores"), ("V", "weights"))
]
_NOTATIONS: dict[str, Notation] = {"": Notation()} | {
    row.name: Notation.preset(row.name) for row in PRESETS
}
_NOTATIONS["i and l taken"] = Notation(symbols={"X": "i", "W_Q": "l"})
_NOTATIONS["k free"] = Notation(symbols={"K": "U", "d_k": "d", "W_K": "W_U"})


@pytest.mark.parametrize("notation", _NOTATIONS.values(), ids=_NOTATIONS)
@pytest.mark.parametrize(("scaled", "kept"), _SHOWN)
def test_the_rule_that_is_printed_computes_the_entry(
    scaled: bool, kept: tuple[str, ...], notation: Notation
) -> None:
    derivation, values = small_example(
        Attention(source="self", scale=None if scaled else False), tokens=3
    )
    merged = derivation.merged(kept)
    rules = printed(merged, values, notation)
    assert len(rules) >= len(kept) - 1
    assert not re.search("[ινχλε]", " ".join(rules)), "indices have one alphabet"
    letters = set(re.findall(r"Σ_(\w)", " ".join(rules)))
    assert letters <= {*_ALPHABET}
    used = {name for rule in rules for name in re.findall(r"(?<![_\w^])([a-z])(?=[_^])", rule)}
    assert letters.isdisjoint(used), "an index has the letter of entries"


def test_the_evaluator_notices_a_captured_index() -> None:
    arrays = {"x": np.arange(9.0).reshape(3, 3), "w": np.eye(3)}
    good = Printed("Σ_l (x_il Σ_r x_lr w_rj)", arrays, {}).value(("i", "j"))
    assert good({"i": 1, "j": 2}) == (arrays["x"] @ arrays["x"])[1, 2]
    for words in ("Σ_l (x_il Σ_l x_ll w_lj)", "Σ_l x_il Σ_i x_li", "Σ_l x_il w_kj"):
        with pytest.raises(AssertionError):
            Printed(words, arrays, {}).value(("i", "j"))
    wrong = Printed("Σ_l (x_il Σ_r x_rl w_rj)", arrays, {}).value(("i", "j"))
    assert wrong({"i": 1, "j": 2}) != (arrays["x"] @ arrays["x"])[1, 2]


@pytest.mark.parametrize(
    ("preset", "indices"),
    [("", "ijlrs"), ("vaswani", "jlrsu"), ("bishop", "nmlrs"), ("roformer", "mnlrs")],
)
def test_a_third_index_is_of_the_same_alphabet(preset: str, indices: str) -> None:
    derivation = Attention(source="self").derivation().merged(["weights", "output"])
    shown = outline(Shown(derivation, notation=_NOTATIONS[preset]))
    (rule,) = (line(x.tree) for x in shown.steps[0].lines if x.view == "entry")
    found = re.findall(r"^\w_(\w)(\w)", rule)[0] + tuple(re.findall(r"Σ_(\w)", rule))
    assert "".join(dict.fromkeys(found)) == indices


def test_a_function_of_a_hidden_matrix_is_said_in_one_breath() -> None:
    derivation = Attention(source="self", mask="causal").derivation().merged(["output"])
    lines = [line(x.tree) for x in outline(Shown(derivation)).steps[0].lines if x.view == "where"]
    assert lines[0] == "where softmax(G) has the entries a_ij = e^(g_ij) / Σ_l e^(g_il)"
    assert lines[1].startswith("and causal(n, n) has the entries M_ij = ")
    assert "for any" not in " ".join(lines)
