"""Every letter on a page is defined on it, and what the page prints gives the numbers it shows.

The definitions are read back here from the printed tree alone, by a reader that knows none of the
nodes, and worked out with Python's floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import VARIANTS, Attention, Notation
from symattn.attention.words import SIZES
from symattn.derivations import Derivation
from symattn.documents.outline import Outline, Section, outline
from symattn.documents.shown import Shown
from symattn.nodes.base import Definition, Node
from symattn.nodes.biases import ALiBi, RelativeBias, alibi_slopes, relative_bucket
from symattn.nodes.entrywise import Features
from symattn.nodes.masks import Documents, Packed
from symattn.nodes.normalise import Hardmax, Sigmoid, Sparsemax
from symattn.nodes.positions import Rotary, Sinusoidal
from symattn.nodes.spell import Speller
from symattn.notation.options import notation_of
from symattn.notation.text import line
from symattn.notation.tree import (
    APPLY,
    DOT,
    TIMES,
    Fenced,
    Frac,
    Grid,
    Ident,
    Num,
    Op,
    Root,
    Row,
    Script,
    Text,
    Tree,
)
from tests.gates import NOTATIONS
from tests.shares import share

n, m, d, h = sympy.symbols("n m d_k h", integer=True, positive=True)
i, j, a, b = sympy.symbols("i j a b", integer=True)
S = sympy.MatrixSymbol("S", n, m)

# ---- every letter is known or defined ------------------------------------------------------

#: Letters that need no saying: indices, what sums run over, Euler's number.
_INDICES = set("ijlruh") | {"t"}
_STANDARD = {"e", "cos", "sin", "tanh", "ln", "log", "max", "min", "rowsum", "colsum", "exp"}


def names(tree: Tree) -> Iterator[str]:
    """The letters of a formula with their subscripts, as far as these belong to a name."""
    match tree:
        case Ident(name, _):
            yield name
        case Script(base, sub, sup):
            yield from names(base)
            for part in (sub, sup):
                yield from () if part is None else names(part)
        case Row(items):
            for item in items:
                yield from names(item)
        case Frac(num, den):
            yield from (*names(num), *names(den))
        case Root(body) | Fenced(body, _, _):
            yield from names(body)
        case Grid(rows):
            for cells in rows:
                for cell in cells:
                    yield from names(cell)


def called(tree: Tree) -> Iterator[str]:
    """The words of a formula view that stand before brackets: its entry says what they do."""
    match tree:
        case Row(items):
            for one, other in pairwise(items):
                if other == APPLY:
                    yield from names(one)
            for item in items:
                yield from called(item)
        case Frac(num, den):
            yield from (*called(num), *called(den))
        case Fenced(body, _, _) | Root(body):
            yield from called(body)
        case Script(base, _, sup):
            yield from called(base)
            yield from () if sup is None else called(sup)
        case Grid(rows):
            for cells in rows:
                for cell in cells:
                    yield from called(cell)


def pieces(tree: Tree) -> set[str]:
    """The letters of a name, as they stand in a formula: W and Q for W_Q, and w for its entries."""
    found = set(names(tree))
    return found | {name.lower() for name in found if len(name) == 1 and name.isascii()}


def undefined(derivation: Derivation, shown: Outline) -> dict[str, set[str]]:
    """The letters of each step that neither the page nor convention explains."""
    notation = shown.notation
    known = set(_INDICES) | _STANDARD
    for size in SIZES:
        known |= set(names(Speller(notation).scalar(sympy.Symbol(size))))
    for item in derivation.inputs:
        known |= pieces(notation.letter(item.letter))
    known.add("T")  # the sign of the transpose
    missing: dict[str, set[str]] = {}
    for step, section in zip(derivation.steps, shown.steps, strict=True):
        known |= pieces(notation.letter(step.letter))
        own = {"ξ", "Δ"}  # what a definition calls its argument
        for each in section.lines:
            if each.view == "formula":
                own |= set(called(each.tree)) | _SETTINGS
        for each in section.lines:
            if each.view == "where":
                known |= set(names(left_of(each.tree)))
        used = {name for each in section.lines for name in names(each.tree)}
        if used - known - own:
            missing[step.name] = used - known - own
    return missing


#: Words in the brackets of a formula: rope(Q, base = 500).
_SETTINGS = {"base", "dims", "start", "half", "buckets", "far", "past", "clip", "symmetric", "eps"}


def left_of(tree: Tree) -> Tree:
    """What stands before the first sign of a relation, or before the words that say what it is."""
    assert isinstance(tree, Row)
    ends = (place for place, item in enumerate(tree.items) if is_relation(item))
    return Row(tree.items[: next(ends)])


def is_relation(item: Tree) -> bool:
    """Whether what stands there is a sign of a relation, or words that say what something is."""
    if isinstance(item, Text):
        return item.words.startswith(" is ")
    return item in (Op("="), Op("≈"), Op("≥"))


#: Beside the named variants, choices that bring letters of their own.
_MORE: dict[str, dict[str, Any]] = {
    "half-split, part of the columns": {"positions": {"rotary": {"pairing": "half", "dims": 2}}},
    "rotary after a cache": {"source": "self", "positions": "rotary", "cache": True},
    "alibi, five heads": {"source": "self", "heads": 5, "bias": "alibi"},
    "alibi, both sides": {"heads": "h", "bias": {"alibi": {"symmetric": True}}},
    "buckets of the past": {"bias": {"relative": {"bidirectional": False}}},
    "clipped": {"bias": {"relative": {"clip": 2}}},
    "documents": {"source": "self", "mask": {"any": ["causal", {"documents": [1, 1, 2]}]}},
    "sparsemax over buckets": {"normaliser": "sparsemax", "bias": "relative"},
}
_PAGES: dict[str, Attention] = {row.name: row.spec for row in VARIANTS} | {
    name: Attention(**choices) for name, choices in _MORE.items()
}


@pytest.mark.parametrize(
    ("name", "notation"), share(product(_PAGES, ["default", "columns", "from 0"]), 4)
)
def test_every_letter_is_defined_on_the_page(name: str, notation: str) -> None:
    derivation = _PAGES[name].derivation()
    shown = outline(Shown(derivation, notation=NOTATIONS[notation]))
    assert undefined(derivation, shown) == {}


#: What would be missing from a page without its definitions.
_NEEDED = {
    "rotary": {"ψ"},
    "sinusoidal": {"ψ"},
    "alibi": {"μ"},
    "t5": {"κ"},
    "linear": {"elu"},
    "sigmoid": {"σ"},
    "sparsemax": {"τ"},
    "hard": {"argmax"},
}


@pytest.mark.parametrize("name", _NEEDED)
def test_a_missing_definition_is_noticed(name: str) -> None:
    derivation = _PAGES[name].derivation()
    shown = outline(Shown(derivation))
    bare = tuple(
        Section(s.name, s.number, s.shape, s.why, tuple(x for x in s.lines if x.view != "where"))
        for s in shown.steps
    )
    spoilt = Outline(shown.title, shown.sizes, shown.given, bare, None, shown.notation)
    assert undefined(derivation, spoilt)
    assert set.union(*undefined(derivation, spoilt).values()) == _NEEDED[name]


# ---- what is printed gives the numbers -----------------------------------------------------


def python(tree: Tree) -> str:
    """A printed formula as Python: names by their text, powers, quotients, floors and cases."""
    match tree:
        case Num(digits):
            return digits
        case Ident("e"):
            return "e"
        case Ident() | Script(Ident(), _, None):
            return f"name[{line(tree)!r}]"
        case Script(base, None, sup) if sup is not None:
            return f"({python(base)})**({python(sup)})"
        case Frac(num, den):
            return f"(({python(num)})/({python(den)}))"
        case Fenced(Grid(rows), "{", ""):
            *listed, (last, _) = rows
            out = python(last)
            for value, when in reversed(listed):
                assert isinstance(when, Row) and when.items[0] == Text("if ")
                out = f"({python(value)} if {python(Row(when.items[1:]))} else {out})"
            return out
        case Fenced(body, left, _):
            return f"{_FENCES[left]}({python(body)})"
        case Text(words):
            return {" mod ": " % ", " and ": " and "}[words]
        case Op(symbol):
            return _OPERATORS[symbol]
        case Row(items):
            return "".join(map(python, items))
    raise AssertionError(tree)


_FENCES = {"(": "", "⌊": "floor", "⌈": "ceil", "|": "abs"}
_OPERATORS = {
    TIMES.symbol: "*",
    DOT.symbol: "*",
    APPLY.symbol: "",
    "+": "+",
    "−": "-",
    "/": "/",
    "=": "==",
    "≤": "<=",
    "<": "<",
    "≥": ">=",
}


def sides(definition: Definition) -> tuple[str, Tree]:
    """The text of the left side, and the right side."""
    tree = definition.statement
    assert isinstance(tree, Row)
    end = tree.items.index(Op("="))
    return line(Row(tree.items[:end])), Row(tree.items[end + 1 :])


def result(tree: Tree, **values: Any) -> Any:
    """A printed formula worked out."""
    functions = {"floor": math.floor, "ceil": math.ceil, "abs": abs, "e": math.e}
    known = {"ln": math.log, "log_2": math.log2} | values
    return eval(python(tree), functions, {"name": known})


def stated(node: Node, row: Any, column: Any, base: Any = 1) -> dict[str, Tree]:
    """What a node defines, by the text of the left side."""
    speller = Speller(Notation(index_base=base))
    return dict(map(sides, node._define(speller, row, column)))


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_rotary_angles_are_those_that_turn(pairing: str, base: int) -> None:
    width, start, wave = 6, 3, 500
    node = Rotary(sympy.MatrixSymbol("Q", n, d), wave, None, pairing, start)
    printed = stated(node, i, j, base)
    assert [*printed] == ["t", "ψ_it", "θ_t"]
    unit = np.zeros((4, width))
    for column in range(width):
        known: dict[str, Any] = {"i": 2 + base, "j": column + base, "d_k": width}
        known["t"] = result(printed["t"], **known)
        known["θ_t"] = result(printed["θ_t"], **known)
        angle = result(printed["ψ_it"], **known)
        unit[:] = 0
        unit[2, column] = 1
        turned = Rotary.numpy(unit, wave, width, int(pairing == "interleaved"), start)
        assert turned[2, column] == pytest.approx(math.cos(angle), abs=1e-12)


@pytest.mark.parametrize("base", [0, 1])
def test_sinusoid_angles_are_those_of_the_table(base: int) -> None:
    rows, width = 4, 5
    printed = stated(Sinusoidal(n, d, 50, 2), i, j, base)
    table = Sinusoidal.numpy(rows, width, 50, 2)
    for row in range(rows):
        for column in range(width):
            known: dict[str, Any] = {"i": row + base, "j": column + base, "d_k": width}
            known["t"] = result(printed["t"], **known)
            angle = result(printed["ψ_it"], **known)
            wave = math.sin if column % 2 == 0 else math.cos
            assert table[row, column] == pytest.approx(wave(angle), abs=1e-12)


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("known", [True, False])
def test_slopes_are_those_of_any_number_of_heads(known: bool, base: int) -> None:
    for heads in range(1, 20):
        node = ALiBi(n, m, heads if known else h, i)
        printed = stated(node, a, b, base)
        values: dict[str, Any] = {"n_h": heads}
        if not known:
            values["N"] = result(printed["N"], **values)
        for head, slope in enumerate(alibi_slopes(heads)):
            assert result(printed["μ_i"], i=head + base, **values) == pytest.approx(float(slope))


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 8), (10, 30), (4, 2), (12, 1000)])
def test_buckets_are_those_of_any_distance(
    buckets: int, furthest: int, both: bool, base: int
) -> None:
    if furthest <= buckets // (4 if both else 2):
        furthest += buckets
    table = sympy.MatrixSymbol("T", buckets, 1)
    printed = stated(RelativeBias(n, m, table, buckets, furthest, both), i, j, base)
    of: Callable[[Any], Any] = lambda delta: result(printed["bucket(Δ)"], Δ=delta)  # noqa: E731
    for distance in (*range(-200, 201), *range(-1100, 1101, 13)):
        row = result(printed["κ_ij"], i=2000, j=2000 + distance, bucket=of)
        expected = relative_bucket(distance, buckets, furthest, both)
        if row - base != expected:  # a float may round a logarithm down at the start of a bucket
            e = buckets // (4 if both else 2)
            rest = buckets // (2 if both else 1) - e
            exact = rest * math.log(abs(distance) / e) / math.log(furthest / e)
            assert abs(exact - round(exact)) < 1e-9


def test_functions_are_those_that_are_computed() -> None:
    printed = stated(Features(S), i, j)["elu(ξ)"]
    sigma = stated(Sigmoid(S), i, j)["σ(ξ)"]
    for x in (-3.0, -0.5, 0.0, 0.5, 4.0):
        feature = Features.numpy(np.array([[x]]), sympy.Symbol("elu+1"))[0, 0]
        assert result(printed, ξ=x) + 1 == pytest.approx(feature)
        assert feature == pytest.approx(x + 1 if x > 0 else math.exp(x))
        assert result(sigma, ξ=x) == pytest.approx(Sigmoid.numpy(np.array([[x]]), 1)[0, 0])
    assert stated(Features(S, "relu"), i, j) == stated(Features(S, "exp"), i, j) == {}


def test_a_wrong_definition_is_noticed() -> None:
    printed = stated(ALiBi(n, m, 3, i), a, b)["μ_i"]
    assert result(printed, i=3) != pytest.approx(float(alibi_slopes(3)[1]))
    with pytest.raises(KeyError):
        result(stated(ALiBi(n, m, h, i), a, b)["μ_i"], i=3)


#: What counts the documents of a packed sequence.
BEGUN = "ω_i is the number of documents that begin at token i or before; documents begin at "

SPELLED: list[tuple[Node, int, list[str]]] = [
    (
        Sparsemax(S),
        1,
        [
            "τ(ξ_1, ⋯, ξ_m) = max_l((ξ_(1) + ⋯ + ξ_(l) − 1)/l)",
            "ξ_(1) ≥ ⋯ ≥ ξ_(m) are ξ_1, ⋯, ξ_m in decreasing order",
        ],
    ),
    (Hardmax(S), 1, ["argmax_l(s_il) = min{l : s_il = max_r(s_ir)}"]),
    (Hardmax(S, 0), 0, ["argmax_l(s_lj) = min{l : s_lj = max_r(s_rj)}"]),
    (Documents(n, n, [1, 1, 2]), 1, ["ω = (1, 1, 2)"]),
    *(
        (Packed(n, m, [1, 3]), base, [BEGUN + starts])
        for base, starts in enumerate(("{0, 2}", "{1, 3}"))
    ),
    (Rotary(S, dims=4), 0, ["t = ⌊j/2⌋", "ψ_it = i θ_t", "θ_t = 10000^(−2 t/4)"]),
    (
        Rotary(S, pairing="half"),
        1,
        ["t = (j − 1) mod (m/2) + 1", "ψ_it = (i − 1) θ_t", "θ_t = 10000^(−2 (t − 1)/m)"],
    ),
]


@pytest.mark.parametrize(("node", "base", "expected"), SPELLED)
def test_definitions_are_spelled(node: Node, base: Any, expected: list[str]) -> None:
    found = node._define(Speller(Notation(index_base=base)), i, j)
    assert [line(each.statement) for each in found] == expected


# ---- where they stand ----------------------------------------------------------------------


def example(
    spec: Mapping[str, Any], given: Mapping[str, Any], notation: Notation | None = None
) -> Outline:
    derivation = Attention(**spec).derivation()
    return outline(Shown(derivation, derivation.evaluate(**given), notation_of(notation)))


ROTARY: dict[str, Any] = {"scale": False, "positions": {"rotary": {"base": 100}}}
WIDE = {"Q": [[1] * 12] * 2, "K": [[1] * 12] * 2, "V": [[1], [2]]}


def where(shown: Outline, step: str) -> list[str]:
    section = next(section for section in shown.steps if section.name == step)
    return [line(each.tree) for each in section.lines if each.view == "where"]


def test_numbers_stand_under_the_definition_and_are_cut_short() -> None:
    shown = example(ROTARY, WIDE)
    assert where(shown, "Q_rotated") == [
        "where t = ⌈j/2⌉",
        "and ψ_it = (i − 1) θ_t",
        "and θ_t = 100^(−2 (t − 1)/d_k)",
        "θ_1 = 1, θ_2 ≈ 0.4642, θ_3 ≈ 0.2154, ⋯, θ_6 ≈ 0.0215",
    ]
    assert where(shown, "K_rotated") == []  # defined already
    full = example(ROTARY, WIDE, Notation(limit=0, index_base=0, digits=2))
    assert where(full, "Q_rotated")[3:] == [
        "θ_0 = 1, θ_1 ≈ 0.46, θ_2 ≈ 0.22, θ_3 = 0.1",
        "θ_4 ≈ 0.05, θ_5 ≈ 0.02",
    ]


def test_a_step_shown_alone_defines_its_own_letters() -> None:
    derivation = Attention(**ROTARY).derivation()
    shown = outline(Shown(derivation, only=["K_rotated"]))
    assert len(where(shown, "K_rotated")) == 3
