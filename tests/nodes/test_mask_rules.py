"""What the printed rule of a mask says, read back: a reader that knows only its typography."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.arrays import FLOAT64
from symattn.errors import CannotSpell, SymattnError
from symattn.nodes.base import definitions
from symattn.nodes.masks import AnyOf, Count, Counts, Mask, mask_of, when
from symattn.nodes.rule import Index, Named, Nth, Ordinal, Rule, rule_of
from symattn.nodes.spell import Speller
from symattn.notation.latex import latex
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree
from tests.nodes.test_masks import DEFINED, SQUARE

i, j = sympy.symbols("i j", integer=True)
b = sympy.Symbol("b", integer=True, positive=True)
ROWS, COLUMNS = 7, 9

# ---- masks of these tests ------------------------------------------------------------------------


class Own(Mask):
    """A mask that is only here; its rule and its arrays are stated apart."""

    source: ClassVar[str] = "these tests"
    word: ClassVar[str] = "own"


class Blocks(Own):
    """⌊i/b⌋ = ⌊j/b⌋: block-local attention."""

    size = Count(least=1)

    def _at(self, i: Index, j: Index) -> Rule:
        mine, other = sympy.floor(i / self.size), sympy.floor(j / self.size)
        return when((Ordinal(mine), "=", Ordinal(other)))

    @classmethod
    def _seen(cls, queries: Any, keys: Any, *parameters: Any) -> NDArray[np.bool_]:
        return np.asarray(queries // parameters[0] == keys // parameters[0])


class Modulus(Own):
    """(i + 2 j) mod c = 1, and the last of three conditions against a bare number."""

    modulus = Count(least=1)

    def _at(self, i: Index, j: Index) -> Rule:
        return when(
            (Ordinal(sympy.Mod(i + 2 * j, self.modulus)), "=", Ordinal(sympy.S.One)),
            (Ordinal(sympy.S.One), "≤", Ordinal(j)),
            (Ordinal(2 * j), "≤", Ordinal(3 * i + 1)),
        )

    @classmethod
    def _seen(cls, queries: Any, keys: Any, *parameters: Any) -> NDArray[np.bool_]:
        told = (queries + 2 * keys) % parameters[0] == 1
        return np.asarray(told & (keys >= 1) & (2 * keys <= 3 * queries + 1))


class Numbered(Own):
    """Each query has a number: it sees the keys from there on, and those below its own letter."""

    numbers = Counts()

    def _at(self, i: Index, j: Index) -> Rule:
        number = Nth(self.numbers, i)
        named = Named("omega", (i,), Ordinal(number))
        return when(
            (Ordinal(number), "≤", Ordinal(j)), otherwise=when((named, "=", Ordinal(j + 2)))
        )

    @classmethod
    def _seen(cls, queries: Any, keys: Any, *parameters: Any) -> NDArray[np.bool_]:
        numbers = np.array(parameters[0])[queries]
        return np.asarray((numbers <= keys) | (numbers == keys + 2))


NUMBERS = sympy.Tuple(3, 1, 8, 2, 2, 0, 5, 4, 1)
PARAMETERS: dict[str, list[Any]] = {
    **{name: [parameter for parameter, _ in rows] for name, rows in DEFINED.items()},
    **{name: [(rows[-1][0] * 2)[:COLUMNS]] for name, rows in SQUARE.items()},
}
SAMPLES = [
    (
        f"{name} {parameter} from {start}",
        mask_of(name, COLUMNS - start if name in SQUARE else ROWS, COLUMNS, parameter, start),
    )
    for name, listed in PARAMETERS.items()
    for parameter in listed
    for start in (0, 2)
    if name != "causal" or parameter is True or start == 0
]
SAMPLES += [
    (f"{kind.__name__} {told} from {start}", kind(ROWS, COLUMNS, *told, start))
    for kind, told in [
        *((Blocks, (sympy.Integer(size),)) for size in (1, 2, 3, 4)),
        *((Modulus, (sympy.Integer(size),)) for size in (2, 3)),
    ]
    for start in (0, 1, 2)
]
SAMPLES += [("numbered", Numbered(ROWS, COLUMNS, NUMBERS, 0))]
SAMPLES += [("any of", AnyOf(mask_of("window", ROWS, COLUMNS, 1), Blocks(ROWS, COLUMNS, 3, 0)))]

# ---- the reader ----------------------------------------------------------------------------------

_TEX = {
    r"\left\{ \begin{array}{ll}": "[[",
    r"\end{array} \right.": "]]",
    "\\\\": "], [",
    "&": ",",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    r"\le": "≤",
    r"\in": "∈",
    r"\omega": "ω",
    "-": "−",
    r"\infty": "∞",
    r"\left": "",
    r"\right": "",
    r"\{": "{",
    r"\}": "}",
    r"\,": " ",
    r"\cdot": "·",
    r"\lvert": "|",
    r"\rvert": "|",
}
_PLAIN_TEX = re.compile(r"\\text\{([^{}]*)\}")
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")
_SUBSCRIPT = re.compile(r"_\{([^{}]*)\}")


def from_latex(source: str) -> str:
    """The LaTeX of a rule as the text that it stands for."""
    source = source.replace("{ll}", "{ll} ")
    source = _FRACTION.sub(r"((\1)/(\2))", source)
    source = _SUBSCRIPT.sub(
        lambda found: "_" + found[1].replace(" ", ""), _PLAIN_TEX.sub(r" \1 ", source)
    )
    for command, sign in sorted(_TEX.items(), key=lambda row: -len(row[0])):
        source = source.replace(command, sign)
    assert "\\" not in source, source
    return source


def cases(source: str) -> list[tuple[float, str]]:
    """The values of a rule and the conditions beside them, from the first to the last."""
    if not source.strip().startswith("[["):  # one value everywhere
        source = f"[[{source}, otherwise]]"
    body = source.strip().removeprefix("[[").removesuffix("]]")
    listed = []
    for row in body.split("], ["):
        value, _, condition = row.partition(",")
        told = {"0": 0.0, "−∞": -math.inf, "− ∞": -math.inf}[value.strip()]
        listed.append((told, condition.strip().removeprefix("if ").strip()))
    return listed


def as_python(side: str) -> str:
    """One side of a comparison as a Python expression over i, j and the lists by letter."""
    side = re.sub(r"\|([^|]*)\|", r"abs(\1)", side)
    side = side.replace("⌊", "floor(").replace("⌋", ")").replace("−", "-").replace("·", "*")
    side = re.sub(r"(\([\d, ]+,[\d, ]+\)|ω)_([ij](?:\+\d+)?)", r"at(\1, \2)", side)
    side = re.sub(r" mod ", " % ", side)
    # what stands side by side is multiplied
    side = re.sub(r"(?<=[\dijb)])\s+(?=[ijb(])", " * ", side)
    return re.sub(r"(?<=\d)(?=[ij(])", "*", side)


SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: bool(one == other),
    "≤": lambda one, other: bool(one <= other),
    "∈": lambda one, other: one in other,
}


def holds(condition: str, told: dict[str, Any], base: int) -> bool:
    """Whether a printed condition holds for these indices."""
    if condition == "otherwise":
        return True
    names = {"floor": math.floor, "abs": abs, "at": lambda numbers, k: numbers[k - base], **told}
    evaluate: Callable[[str], Any] = lambda side: eval(as_python(side), {}, names)  # noqa: E731
    for part in re.split(r"\band\b", condition):
        left, sign, right = re.split(r"\s*([=≤∈])\s*", part.strip())
        if not SIGNS[sign](evaluate(left), evaluate(right)):
            return False
    return True


def entries(
    source: str, shape: tuple[int, int], base: int, lists: dict[str, Any]
) -> list[list[float]]:
    """The matrix that a printed rule describes."""
    listed = cases(source)

    def entry(row: int, column: int) -> float:
        told = {"i": row + base, "j": column + base, **lists}
        return next(value for value, condition in listed if holds(condition, told, base))

    return [[entry(row, column) for column in range(shape[1])] for row in range(shape[0])]


_BEGUN = "ω_i is the number of documents that begin at token i or before; documents begin at "


def lists_of(mask: Any, speller: Speller, base: int) -> dict[str, Any]:
    """What the letters in a rule stand for, from the printed definitions."""
    told = {}
    for definition in definitions(mask, speller, i, j):
        said = line(definition.statement)
        if said.startswith(_BEGUN):
            starts = eval(said.removeprefix(_BEGUN))
            tokens = range(base, base + COLUMNS)
            told["ω"] = tuple(sum(start <= token for start in starts) for token in tokens)
        else:
            letter, _, numbers = said.partition(" = ")
            told[letter] = eval(numbers)
    return told


SPELLINGS: dict[str, Callable[[Tree], str]] = {
    "text": line,
    "latex": lambda tree: from_latex(latex(tree)),
}


@pytest.mark.parametrize("base", [1, 0])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "mask"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_the_printed_rule_is_the_mask(name: str, mask: Any, spelling: str, base: int) -> None:
    speller = Speller(Notation(index_base=base, limit=0))
    printed = SPELLINGS[spelling](speller.rule(rule_of(mask, i, j)))
    lists = {"ω": tuple(NUMBERS)} if isinstance(mask, Numbered) else lists_of(mask, speller, base)
    parts = mask.args if isinstance(mask, AnyOf) else (mask,)
    arrays = [type(part)._compute(FLOAT64, *part.args) for part in parts]
    shape = tuple(map(int, mask.shape))
    assert entries(printed, shape, base, lists) == np.max(arrays, axis=0).tolist(), printed  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        ([{"window": [1, 0]}, {"global": [1]}], 4),
        ([{"strided": 2}, {"global": [1]}], 5),
        ([{"dilated": [1, 2]}, {"global": [1]}], 4),
        ([{"window": [2, 0]}, {"dilated": [2, 2]}, {"prefix": 1}], 4),
        ([{"all": ["causal", {"padding": 2}]}, {"global": [1]}], 4),
        ([{"all": ["causal", {"dilated": [1, 2]}]}, {"all": [{"padding": 3}, "causal"]}], 3),
    ],
)
def test_a_brace_has_no_line_that_makes_no_difference(parts: Any, count: int) -> None:
    """Window [1, 0] and global [1] had seven: of "j ≤ i and …" and of the same without it."""
    mask = mask_of("any", 6, 6, parts)
    printed = line(Speller().rule(rule_of(mask, i, j)))
    assert len(cases(printed)) == count
    zeros = np.isfinite(np.array(mask.as_explicit(), dtype=float))
    assert (np.array(entries(printed, (6, 6), 1, {})) == 0).tolist() == zeros.tolist()


def test_a_wrong_rule_is_noticed() -> None:
    """The reader tells ⌊i/2⌋ from ⌊(i − 1)/2⌋."""
    right, wrong = (
        "[[0, if ⌊(i − 1)/2⌋ = ⌊(j − 1)/2⌋], [−∞, otherwise]]",
        "[[0, if ⌊i/2⌋ = ⌊j/2⌋], [−∞, otherwise]]",
    )
    blocks = Blocks._compute(FLOAT64, 4, 4, sympy.Integer(2), 0).tolist()
    assert entries(right, (4, 4), 1, {}) == blocks
    assert entries(wrong, (4, 4), 1, {}) != blocks


@pytest.mark.parametrize(("base", "said"), [(1, "⌊(i − 1)/b⌋ = ⌊(j − 1)/b⌋"), (0, "⌊i/b⌋ = ⌊j/b⌋")])
def test_blocks_of_a_symbolic_size(base: int, said: str) -> None:
    condition = Ordinal(sympy.floor(i / b)), "=", Ordinal(sympy.floor(j / b))
    assert line(Speller(Notation(index_base=base)).condition(condition)) == said


def test_what_has_no_explicit_form_is_refused() -> None:
    condition = Ordinal(sympy.besselj(1, i)), "≤", Ordinal(j)
    with pytest.raises(CannotSpell):
        Speller().condition(condition)
    halves = Ordinal(sympy.floor(i / 2)), "∈", Ordinal(sympy.FiniteSet(1, 2))
    with pytest.raises(CannotSpell, match="give it a letter"):
        Speller().condition(halves)


def test_a_parameter_that_may_be_negative_is_no_index() -> None:
    """Without a sign, a letter in a rule would be counted as an index is."""
    with pytest.raises(SymattnError, match="positive=True"):
        mask_of("padding", 3, 3, sympy.Symbol("w", integer=True))


def test_indices_of_shares() -> None:
    """⌊(i − 1)/r⌋ + 1 is ⌈i/r⌉; ⌊2 (i − 1)/3⌋ + 1 is not ⌈2 i/3⌉."""
    speller = Speller()
    assert line(speller.index(sympy.floor(i / 3))) == "⌈i/3⌉"
    assert line(speller.index(sympy.floor(2 * i / 3))) == "⌊(2 i − 2)/3⌋ + 1"
