"""Masks: the entry rule, the arrays and a definition written out here say the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn import Derivation, Step, SymattnError
from symattn.arithmetic.arrays import FLOAT64, Arrays
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Array
from symattn.derivations import worked
from symattn.errors import Undecided
from symattn.evaluate.walk import program_of
from symattn.language.equations import derivation_of
from symattn.nodes.masks import (
    MASKS,
    Allowed,
    AnyOf,
    Causal,
    Documents,
    Masked,
    TopK,
    VisibleScores,
    Window,
    mask_of,
    part_of,
    reason_of,
)
from symattn.nodes.rule import at, rule_of, to_sympy
from symattn.nodes.spell import Speller
from symattn.notation.text import line
from symattn.step import Input
from tests.rows import every_one_has_a_row

#: Who may see whom, rows and columns counted from 1.
Seen: TypeAlias = Callable[[int, int], bool]


def swin(place: int, width: int, side: int, shift: int) -> tuple[int, int, int, int]:
    """The window of a token as Swin's own code numbers it: rolled, cut, what is apart masked.

    A grid of 8 rows; a part of a window across the rolled edge is a region of its own.
    """

    def cut(at: int, size: int) -> tuple[int, int]:
        rolled = (at - shift) % size
        return rolled // side, rolled >= size - shift

    row, column = divmod(place - 1, width)
    return *cut(row, 8), *cut(column, width)


#: For each mask some parameters, a usual one first, and what they mean. All that is asked of masks
#: anywhere in the tests is asked of these.
DEFINED: dict[str, list[tuple[Any, Seen]]] = {
    "causal": [
        (True, lambda i, j: j <= i),
        (2, lambda i, j: j <= i + 2),
        (0, lambda i, j: j <= i),
        (-1, lambda i, j: j < i),
        (-9, lambda i, j: False),
    ],
    "padding": [(2, lambda i, j: j <= 2), (0, lambda i, j: False), (9, lambda i, j: True)],
    "window": [
        ([2, 0], lambda i, j: j in (i - 2, i - 1, i)),
        (0, lambda i, j: i == j),
        (1, lambda i, j: j in (i - 1, i, i + 1)),
        ([0, 1], lambda i, j: j in (i, i + 1)),
        ([-1, 1], lambda i, j: j - i < 2),
        ([1, -1], lambda i, j: i - j < 2),
        (-1, lambda i, j: True),
        ([1_000_000, 0], lambda i, j: i >= j),
    ],
    "prefix": [
        (2, lambda i, j: j in (1, 2) or j <= i),
        (0, lambda i, j: j <= i),
        (9, lambda i, j: True),
    ],
    "dilated": [
        ([1, 2], lambda i, j: j in (i - 2, i, i + 2)),
        ([2, 1], lambda i, j: j in range(i - 2, i + 3)),
        ([9, 3], lambda i, j: j in range(i - 27, i + 28, 3)),
        ([0, 5], lambda i, j: i == j),
        ([2, 2], lambda i, j: j in (i - 4, i - 2, i, i + 2, i + 4)),
    ],
    "strided": [
        (2, lambda i, j: j in {i, i - 1, i - 2, *range(i, 0, -2)}),
        (1, lambda i, j: j <= i),
        (3, lambda i, j: j in {i, i - 1, i - 2, i - 3, *range(i, 0, -3)}),
    ],
    "chunk": [
        (2, lambda i, j: j in range(1 + (i - 1) // 2 * 2, i + 1)),
        (3, lambda i, j: j <= i and (i + 2) // 3 == (j + 2) // 3),
        (1, lambda i, j: i == j),
        (99, lambda i, j: j <= i),
    ],
    "packed": [
        ([1, 3], lambda i, j: (i < 3) == (j < 3)),
        ([3], lambda i, j: (i < 3) == (j < 3)),
        ([4, 1, 2, 4], lambda i, j: "abbcccccc"[i - 1] == "abbcccccc"[j - 1]),
        ([1], lambda i, j: True),
        ([99], lambda i, j: True),
    ],
    "window-2d": [
        ([4, 2], lambda i, j: swin(i, 4, 2, 0) == swin(j, 4, 2, 0)),
        ([4, 2, 1], lambda i, j: swin(i, 4, 2, 1) == swin(j, 4, 2, 1)),
        ([2, 2], lambda i, j: swin(i, 2, 2, 0) == swin(j, 2, 2, 0)),
        ([2, 1], lambda i, j: i == j),
        ([4, 4, 3], lambda i, j: swin(i, 4, 4, 3) == swin(j, 4, 4, 3)),
    ],
    "global": [
        ([1], lambda i, j: i == 1 or j == 1),
        ([2, 5, 2], lambda i, j: bool({i, j} & {2, 5})),
        ([99], lambda i, j: False),
    ],
}

#: Masks that are for one size only.
SQUARE: dict[str, list[tuple[Any, Seen]]] = {
    "documents": [
        ([1, 1, 2], lambda i, j: (i < 3) == (j < 3)),
        ([1], lambda i, j: True),
        ([7, 0, 7], lambda i, j: (i == 2) == (j == 2)),
        ([1, 1, 2, 3, 3], lambda i, j: "aabcc"[i - 1] == "aabcc"[j - 1]),
    ],
}


def test_every_mask_is_defined_here() -> None:
    home = "DEFINED (or SQUARE) of tests/nodes/test_masks.py"
    every_one_has_a_row(MASKS, {**DEFINED, **SQUARE}, home, "its parameters and who sees whom")


CASES = [(name, *case) for name, cases in DEFINED.items() for case in cases]


@pytest.mark.parametrize(("name", "parameter", "seen"), CASES)
@pytest.mark.parametrize(
    "shape",
    [(2, 5), *(pytest.param(one, marks=pytest.mark.nightly) for one in [(1, 1), (5, 5), (8, 8)])],
)
def test_rule_and_arrays_follow_the_definition(
    name: str, parameter: Any, seen: Seen, shape: tuple[int, int]
) -> None:
    follows(MASKS[name].of(*shape, parameter), seen)


@pytest.mark.parametrize(
    ("name", "parameter", "seen"), [(n, *c) for n in SQUARE for c in SQUARE[n]]
)
def test_square_masks_follow_the_definition(name: str, parameter: Any, seen: Seen) -> None:
    follows(MASKS[name].of(len(parameter), len(parameter), parameter), seen)


@pytest.mark.parametrize(("name", "parameter", "seen"), CASES)
@pytest.mark.parametrize(
    ("start", "shape"), [(4, (4, 2)), pytest.param(2, (1, 3), marks=pytest.mark.nightly)]
)
def test_rows_after_a_cache_are_the_later_rows(
    name: str, parameter: Any, seen: Seen, start: int, shape: tuple[int, int]
) -> None:
    if name == "causal" and parameter is not True:
        start = parameter  # which says itself where the rows start
        seen = DEFINED["causal"][0][1]
    mask = mask_of(name, *shape, parameter, start)
    follows(mask, lambda i, j: seen(i + start, j))
    assert mask.func(*mask.args) == mask
    p = sympy.Symbol("p", integer=True, positive=True)
    if mask.args[-1]:
        assert mask_of(name, *shape, parameter, p).subs(p, start) in (mask, mask.subs(p, start))
        assert f"start = {start})".replace("-", "−") in str(mask)
    else:
        assert "start" not in str(mask)


def test_documents_after_a_cache_number_all_keys() -> None:
    mask = Documents(2, 4, [1, 2, 1, 2], start=2)
    follows(mask, lambda i, j: (i + 2) % 2 == j % 2)
    with pytest.raises(SymattnError, match="3 numbers for 4 queries"):
        Documents(2, 4, [1, 2, 1], start=2)
    with pytest.raises(SymattnError, match="4 numbers for 2 queries"):
        Documents(2, 4, [1, 2, 1, 2])


def nothing(letter: str) -> Array:
    """The value of a matrix; masks of positions ask for none."""
    raise AssertionError(letter)


def follows(mask: MatrixExpr, seen: Seen) -> None:
    """Rule, exact value, arrays, balls and the rule of symbolic sizes say what `seen` says."""
    rows, columns = map(int, mask.shape)
    expected = [
        [0 if seen(i + 1, j + 1) else -sympy.oo for j in range(columns)] for i in range(rows)
    ]
    assert mask.as_explicit().tolist() == expected
    assert mask.doit().as_explicit().tolist() == expected
    assert mask.T.as_explicit().T.tolist() == expected
    arrays = np.array(expected, dtype=object).astype(float)
    np.testing.assert_array_equal(program_of(mask, {})(nothing, FLOAT64), arrays)
    np.testing.assert_array_equal(sympy.lambdify([], mask, "numpy")(), arrays)
    balls = program_of(mask, {})(nothing, BALLS)
    np.testing.assert_array_equal([[float(x) for x in row] for row in balls], arrays)
    i, j = sympy.symbols("i j", integer=True)
    rule = rule_of(mask, i, j)
    for row in range(rows):
        for column in range(columns):
            entry = at(rule, {i: row, j: column}, {})
            assert to_sympy(entry) == expected[row][column]
            assert to_sympy(rule).subs({i: row, j: column}) == expected[row][column]


HALF, HUGE = sympy.Rational(1, 2), 10**5000


@pytest.mark.parametrize(
    ("row", "count", "kept"),
    [
        ([1, 3, 2], 2, {1, 2}),
        ([1, 3, 2], 9, {0, 1, 2}),
        ([3, 3, 3], 2, {0, 1}),  # of equal ones the first
        ([HALF, sympy.sqrt(8), 2 * sympy.sqrt(2)], 1, {1}),
        ([sympy.exp(1) / (1 + sympy.exp(1)), 1 - 1 / (1 + sympy.exp(1)), 0], 1, {0}),
        ([1 - 1 / (1 + sympy.exp(1)), sympy.exp(1) / (1 + sympy.exp(1)), 0], 1, {0}),
        ([sympy.Rational(1, 3), sympy.Rational(1, 3) + sympy.Rational(1, 10**40), 0], 1, {1}),
        ([-sympy.oo, -5, -sympy.oo], 1, {1}),
    ],
)
def test_the_largest_are_chosen_exactly(row: list[Any], count: int, kept: set[int]) -> None:
    """In exact arithmetic, by the entry rule and, where they are told apart, in balls."""
    node = TopK(sympy.Matrix([row]), count)
    wanted = [0 if k in kept else -sympy.oo for k in range(len(row))]
    assert list(node.doit()) == list(node.as_explicit()) == wanted
    Z = Input("Z", sympy.MatrixSymbol("Z", 1, len(row)), logits=True)
    steps = (Step("T", sympy.MatrixSymbol("T", 1, len(row)), TopK(Z.symbol, count)),)
    values = Derivation((Z,), steps).evaluate(Z=[row])
    assert values["T"].exact.tolist() == [wanted]
    digits = [values["T"].digits((0, k)) for k in range(len(row))]
    assert all(one.proven for one in digits)
    assert [one.text for one in digits] == ["0" if k in kept else "-inf" for k in range(len(row))]
    said = line(worked(values, steps[0], 0, 0))
    assert re.fullmatch(r".* = (0|−∞) since κ_11 = \d (≤|>) \d", said), said


def test_what_cannot_be_told_apart_is_not_chosen() -> None:
    same = sympy.log(6), sympy.log(2, evaluate=False) + sympy.log(3)
    with pytest.raises(Undecided, match="not told apart"):
        TopK(sympy.Matrix([same]), 1).doit()


def test_a_choice_is_made_by_columns_in_their_convention() -> None:
    matrix = sympy.Matrix([[1, 4], [3, 2]])
    assert TopK(matrix, 1, 0).doit() == TopK(matrix.T, 1).doit().T
    assert TopK(matrix, 1, axis=0).as_explicit().tolist() == [[-sympy.oo, 0], [0, -sympy.oo]]


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None, HUGE, True], ids=range(7))
def test_a_choice_of_no_number_is_refused(count: Any) -> None:
    with pytest.raises(SymattnError, match="give a whole number from 1"):
        TopK(sympy.MatrixSymbol("Z", 2, 2), count)


def test_a_masked_value_never_leaks() -> None:
    scores = np.array([[1.0, np.nan, np.inf]])
    mask = np.array([[0.0, -np.inf, -np.inf]])
    np.testing.assert_array_equal(Masked.numpy(scores, mask), [[1.0, -np.inf, -np.inf]])
    explicit = Masked(sympy.MatrixSymbol("Z", 1, 2), Causal(1, 2)).as_explicit()
    assert explicit[0, 1] == -sympy.oo


UNIONS: list[tuple[str, Any, Seen]] = [
    ("any", ["causal"], lambda i, j: j <= i),
    ("any", [{"window": 1}, {"global": [1]}], lambda i, j: abs(i - j) < 2 or 1 in (i, j)),
    ("any", [{"padding": 1}, {"window": [0, 1]}], lambda i, j: j in (1, i, i + 1)),
    ("any", ["causal", "causal"], lambda i, j: j <= i),
    ("all", ["causal", {"window": [1, 0]}], lambda i, j: j in (i - 1, i)),
    ("all", ["causal", "causal"], lambda i, j: j <= i),
    (
        "all",
        [{"strided": 2}, {"padding": 3}],
        lambda i, j: j in {i, i - 1, *range(i, 0, -2)} & {1, 2, 3},
    ),
    (
        "all",
        ["causal", {"any": [{"window": 1}, {"global": [2]}]}],
        lambda i, j: j <= i and (j >= i - 1 or 2 in (i, j)),
    ),
    (
        "any",
        [{"all": ["causal", {"dilated": [1, 2]}]}, {"all": [{"padding": 3}, {"global": [3]}]}],
        lambda i, j: j in (i, i - 2) or (j < 4 and 3 in (i, j)),
    ),
]


@pytest.mark.parametrize(("name", "parameter", "seen"), UNIONS)
@pytest.mark.parametrize("shape", [(4, 4), (2, 5)])
def test_joined_masks_follow_the_definition(
    name: str, parameter: Any, seen: Seen, shape: tuple[int, int]
) -> None:
    follows(mask_of(name, *shape, parameter), seen)


def test_a_union_takes_boolean_matrices() -> None:
    mask = AnyOf(Allowed(sympy.Matrix([[0, 1], [1, 0]])), Window(2, 2, 0))
    assert mask.doit() == sympy.zeros(2, 2)
    given = AnyOf(sympy.MatrixSymbol("M", 2, 2), Window(2, 2, 0))
    assert Speller().rule(rule_of(given, *sympy.symbols("i j", integer=True))) is not None
    value = program_of(given, {})(lambda _: np.array([[np.nan, 0], [-np.inf, 7]]), FLOAT64)
    np.testing.assert_array_equal(value, [[0, 0], [-np.inf, 0]])


def test_joined_masks_have_one_reason_of_their_conditions() -> None:
    only = "A query may attend to a key only if"
    union = mask_of("any", 3, 3, [{"window": 1}, {"window": 2}, {"global": [1]}])
    assert reason_of(union) == (
        f"{only} the key is near the query's own position, or if one of the two is a global token."
    )
    both = mask_of("all", 3, 3, ["causal", {"padding": 2}])
    assert reason_of(both) == (
        f"{only} the key is not later than the query, and if the key is not padding."
    )
    nested = mask_of("all", 3, 3, ["causal", {"any": [{"window": 1}, {"global": [1]}]}])
    assert reason_of(nested) == (
        f"{only} the key is not later than the query, and if the key is near the query's own "
        "position or one of the two is a global token."
    )
    given = sympy.MatrixSymbol("M", 2, 2)
    assert reason_of(given) == ""
    assert reason_of(sympy.MatAdd(given, Causal(2, 2))) == f"{only} {Causal.condition}."


def test_what_is_not_kept_never_leaks() -> None:
    scores = np.array([[1.0, np.nan], [-np.inf, 3.0]])
    np.testing.assert_array_equal(
        VisibleScores.numpy(scores, np.array([[0.0, -np.inf], [-np.inf, 0.0]])),
        [[1.0, 0.0], [0.0, 3.0]],
    )
    half = VisibleScores._compute(
        Arrays("float16"), scores.astype("float16"), np.zeros((2, 2), "float16")
    )
    assert half.dtype == np.float16
    S = sympy.MatrixSymbol("S", 2, 2)
    assert VisibleScores(S, Causal(2, 2)).as_explicit().tolist() == [
        [S[0, 0], 0],
        [S[1, 0], S[1, 1]],
    ]
    exact = VisibleScores(sympy.Matrix([[2, sympy.nan], [sympy.oo, 5]]), Window(2, 2, 0)).doit()
    assert exact == sympy.diag(2, 5)


LONG = [1] * 1025

HOSTILE: list[tuple[str, Any, str]] = [
    *(
        (name, parameter, "whole number")
        for name in ("causal", "padding", "prefix", "window", "strided", "chunk")
        for parameter in (-2, 1.5, "2", "__import__('os')", False, None, 10**6 + 1, HUGE, {"a": 1})
        if not ((name == "window" and parameter is None) or (name == "causal" and parameter == -2))
    ),
    *(
        (name, [1, 2, 3], "give|say")
        for name in MASKS
        if name not in ("documents", "packed", "global", "window-2d")
    ),
    *(
        (name, parameter, "give")
        for name in ("documents", "packed", "global")
        for parameter in (
            1,
            "1, 2",
            [],
            LONG,
            [1.0],
            ["1"],
            [True],
            [-1],
            [HUGE],
            [[1]],
            {"a": 1},
            None,
            [sympy.Symbol("x")],
        )
    ),
    ("global", [0], "from 1"),
    ("packed", [0], "from 1"),
    ("strided", 0, "from 1"),
    ("chunk", 0, "from 1"),
    ("causal", -HUGE, "whole number"),
    *(("window-2d", wrong, "give") for wrong in (4, [4], [4, 0], [0, 2], [4, 2, -1], [4, 2, 0, 0])),
    ("documents", {"lengths": [0]}, "from 1"),
    ("documents", {"lengths": 3}, "give"),
    ("documents", {"lengths": []}, "from 1 to"),
    ("documents", {"lengths": [1000] * 5}, "1025 numbers"),
    ("dilated", [1, 0], "from 1"),
    *(("dilated", wrong, "give") for wrong in (2, [2], [1, -1], ["1", 2], [1.5, 2], "12", None)),
    *(("window", wrong, "give") for wrong in ([1], [], [-2, 0], ["1", 2], [True, 1], LONG, None)),
    *((name, True, "give|say") for name in MASKS if name != "causal"),
    ("any", [], "list of 1 to 8"),
    ("any", True, "list of 1 to 8"),
    ("all", "causal", "list of 1 to 8"),
    ("any", ["causal"] * 9, "list of 1 to 8"),
    ("any", [{"all": ["causal"] * 5}, {"all": ["causal"] * 5}], "more than 8"),
    ("any", [{"causal": True, "window": 1}], "one key"),
    ("any", [7], "one key"),
    ("any", [{7: 1}], "not known"),
    ("any", ["causl"], 'did you mean "causal"'),
    ("sideways", True, "not known"),
    (["any"], [], "not known"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("name", "parameter", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_parameter_is_refused_in_one_line(
    name: str, parameter: Any, message: str
) -> None:
    n = sympy.Symbol("n", integer=True, positive=True)
    with pytest.raises(SymattnError, match=message) as caught:
        mask_of(name, n, n, parameter)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_masks_nested_without_end_are_refused() -> None:
    nested: Any = "causal"
    for _ in range(5000):
        nested = {"any": [nested]}
    with pytest.raises(SymattnError, match="nested too deeply"):
        mask_of("any", 3, 3, [nested])


def test_documents_have_one_number_for_each_token() -> None:
    n = sympy.Symbol("n", integer=True, positive=True)
    with pytest.raises(SymattnError, match="2 numbers for 3 queries"):
        Documents(n, n, [1, 2]).subs(n, 3)
    with pytest.raises(SymattnError, match="2 numbers for 4 keys"):
        Documents(2, 4, [1, 2])
    with pytest.raises(SymattnError, match="list of 2 numbers"):
        Documents(n, n, [1, 2])[5, 0]


def test_documents_may_be_said_by_their_lengths() -> None:
    mask = MASKS["documents"].of(3, 3, {"lengths": [2, 1]})
    assert mask == Documents(3, 3, [1, 1, 2])
    assert part_of("documents", {"lengths": [2, 1, 1]}, 1, 3) == [1, 1, 2]


def test_matrices_of_two_sizes_are_not_joined() -> None:
    with pytest.raises(SymattnError, match="2 × 2 and 3 × 3"):
        AnyOf(Causal(2, 2), Causal(3, 3))
    with pytest.raises(SymattnError, match="one shape"):
        VisibleScores(sympy.MatrixSymbol("S", 2, 3), Causal(2, 2))
    with pytest.raises(SymattnError, match="no mask"):
        AnyOf()


def test_parameters_may_be_symbols() -> None:
    w = sympy.Symbol("w", integer=True, positive=True)
    assert Window(3, 3, w).subs(w, 1) == Window(3, 3, 1)
    assert MASKS["dilated"].of(3, 3, [w, 2]).subs(w, 1) == MASKS["dilated"].of(3, 3, [1, 2])
    assert Causal(3, 3, w).subs(w, 2) == Causal(3, 3, 2)


def test_what_is_1_by_a_sum_of_weights_may_be_attended() -> None:
    """A row of weights sums to 1, which no enclosure of their quotients shows."""
    whole = derivation_of("A = softmax(S); B = rowsum(A); M = allow(B); C = allow(A)")
    values = whole.evaluate(S=[[1, 2], [0, 3]])
    assert values["M"].exact == sympy.zeros(2, 1)
    assert values["M"].array.tolist()[0] == [0.0]
    assert set(values["C"].exact) == {-sympy.oo}
    assert not values.check().agrees  # floats may be told from 1: there is no bound
