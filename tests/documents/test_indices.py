"""The printed rule of an entry means what the step computes: what is printed, as Python.

It reads the printed formula alone and NumPy's arrays, so that an index that is captured by a sum
within, or that has the letter of a matrix or a size, is found by a number that differs or a name
that clashes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from typing import Any

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
from symattn.notation.tree import Fenced, Frac, Ident, Num, Op, Root, Row, Script, Tree
from tests.scopes import bound_again
from tests.shares import share

#: The letters of indices, in the order in which they are taken.
_ALPHABET = "ijklrstupqabcvwxyz"

_SIGNS = {t.TIMES.symbol: "*", "/": "/", "+": "+", "−": "-"}


def python(tree: Tree) -> str:
    """A rule as Python: sums run over their index, entries are those of arrays by their name."""
    match tree:
        case Row(items):
            for place, item in enumerate(items):
                match item:
                    case Script(Op("∑"), Row((Ident(index), *_)), size) if size is not None:
                        rest = range(place + 1, len(items))
                        ends = (t.PLUS, t.MINUS, Op("/"))
                        end = next((k for k in rest if items[k] in ends), len(items))
                        body = python(Row(items[place + 1 : end]))
                        total = f"sum({body} for {index} in range({python(size)}))"
                        return python(Row(items[:place])) + total + python(Row(items[end:]))
            return "".join(map(python, items))
        case Script(Ident("e"), None, power) if power is not None:
            return f"exp({python(power)})"
        case Script(base, Row((Ident(row), Ident(column))), label):
            return f"array[{line(Script(base, None, label))!r}][{row}, {column}]"
        case Script() | Ident():
            return f"size[{line(tree)!r}]"
        case Frac(above, below):
            return f"(({python(above)})/({python(below)}))"
        case Root(body):
            return f"sqrt({python(body)})"
        case Fenced(body):
            return f"({python(body)})"
        case Op(sign):
            return _SIGNS[sign]
        case Num(digits):
            return digits
    raise AssertionError(tree)


def rule_of(
    tree: Tree, free: tuple[str, str], arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]
) -> Callable[[int, int], Any]:
    """What a rule computes for its two indices; no letter is bound where it is bound already."""
    assert [*bound_again(tree, frozenset(free))] == []
    room = {"exp": math.exp, "sqrt": math.sqrt, "array": arrays, "size": sizes}
    rule: Callable[[int, int], Any] = eval(f"lambda {', '.join(free)}: {python(tree)}", room)
    return rule


def printed(derivation: Derivation, values: Evaluation, notation: Notation) -> list[str]:
    """The rules of entries that are printed, each having been evaluated against the arrays."""
    one = t.Num("1")
    arrays = {}
    flipped = notation.convention == "columns"
    for item in (*derivation.inputs, *derivation.steps):
        entry = notation.entry(item.letter, None, (one, one))
        assert isinstance(entry, Script)
        array = np.asarray(values.array(item.letter), dtype=float)
        arrays[line(Script(entry.base, None, entry.sup))] = array.T if flipped else array
    sizes = {line(notation.scalar(name)): n for name, n in values.known_sizes.items()}
    checked = []
    for section in outline(Shown(derivation, notation=notation, views=("entry", "formula"))).steps:
        for each in section.lines:
            if each.view != "entry":
                continue
            assert isinstance(each.tree, Row)
            left, _, *right = each.tree.items
            match left:
                case Script(base, Row((Ident(row), Ident(column))), label):
                    array = arrays[line(Script(base, None, label))]
            rule = rule_of(Row(tuple(right)), (row, column), arrays, sizes)
            for i, j in product(*map(range, array.shape)):
                assert rule(i, j) == pytest.approx(array[i, j], abs=1e-9), line(each.tree)
            checked.append(line(each.tree))
    return checked


#: Which steps are shown, where the scores are scaled and where they are not.
_SHOWN = (
    (True, False),
    (("weights", "output"), ("scores", "output"), ("Q", "scores"), ("V", "weights")),
)
_NOTATIONS: dict[str, Notation] = {"": Notation()} | {
    row.name: Notation.preset(row.name) for row in PRESETS
}
_NOTATIONS["i and l taken"] = Notation(symbols={"X": "i", "W_Q": "l"})
_NOTATIONS["k free"] = Notation(symbols={"K": "U", "d_k": "d", "W_K": "W_U"})


@cache
def example(scaled: bool) -> tuple[Derivation, Evaluation]:
    return small_example(Attention(source="self", scale=None if scaled else False), tokens=3)


@pytest.mark.parametrize(("name", "scaled", "kept"), share(product(_NOTATIONS, *_SHOWN), 3))
def test_the_rule_that_is_printed_computes_the_entry(
    name: str, scaled: bool, kept: tuple[str, ...]
) -> None:
    derivation, values = example(scaled)
    merged = derivation.merged(kept)
    rules = printed(merged, values, _NOTATIONS[name])
    assert len(rules) >= len(kept) - 1
    assert not re.search("[ινχλε]", " ".join(rules)), "indices have one alphabet"
    letters = set(re.findall(r"Σ_(\w)", " ".join(rules)))
    assert letters <= {*_ALPHABET}
    used = {name for rule in rules for name in re.findall(r"(?<![_\w^])([a-z])(?=[_^])", rule)}
    assert letters.isdisjoint(used), "an index has the letter of entries"


def total(index: str) -> Script:
    return Script(t.SUM, t.row(Ident(index), t.EQUALS, Num("1")), Ident("n"))


def entry(letter: str, row: str, column: str) -> Script:
    return Script(Ident(letter), t.row(Ident(row), Ident(column)))


@pytest.mark.parametrize(
    ("outer", "inner", "entries", "found"),
    [
        ("l", "r", (("x", "i", "l"), ("x", "l", "r"), ("w", "r", "j")), "equal"),
        ("l", "r", (("x", "i", "l"), ("x", "r", "l"), ("w", "r", "j")), "different"),
        ("l", "l", (("x", "i", "l"), ("x", "l", "l"), ("w", "l", "j")), "captured"),
        ("l", "i", (("x", "i", "l"), ("x", "l", "i"), ("w", "i", "j")), "captured"),
        ("l", "r", (("x", "i", "l"), ("x", "l", "r"), ("w", "k", "j")), "free"),
    ],
)
def test_the_evaluator_notices_a_captured_index(
    outer: str, inner: str, entries: tuple[tuple[str, str, str], ...], found: str
) -> None:
    """Σ_l (x_il Σ_r x_lr w_rj), and what it is not."""
    arrays, sizes = {"x": np.arange(9.0).reshape(3, 3), "w": np.eye(3)}, {"n": 3}
    first, second, third = (entry(*each) for each in entries)
    inside = t.row(first, t.TIMES, total(inner), second, t.TIMES, third)
    tree = t.row(total(outer), Fenced(inside))
    if found in ("captured", "free"):
        with pytest.raises(AssertionError if found == "captured" else NameError):
            rule_of(tree, ("i", "j"), arrays, sizes)(1, 2)
    else:
        value = rule_of(tree, ("i", "j"), arrays, sizes)(1, 2)
        assert bool(value == (arrays["x"] @ arrays["x"])[1, 2]) is (found == "equal")


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
