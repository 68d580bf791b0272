"""One contract for every node: each hook through which SymPy prints, builds and evaluates it."""

from __future__ import annotations

import operator
import pickle
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args
from xml.etree import ElementTree

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn import SymattnError
from symattn.arithmetic.arrays import FLOAT64, Arrays
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Arithmetic, filled
from symattn.arithmetic.enclosure import ball_erf, nearest, precision
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.rounded import Rounded
from symattn.errors import CannotSpell
from symattn.nodes import rule
from symattn.nodes.arguments import BoundIndex, Learned
from symattn.nodes.base import Node
from symattn.nodes.biases import ALiBi, BucketSum, RelativeBias
from symattn.nodes.catalogue import NODES
from symattn.nodes.defined import COLUMN_NUMBER, ROW_NUMBER, Counted, WherePlaced
from symattn.nodes.entrywise import (
    Diagonal,
    EntryQuotient,
    Entrywise,
    Exponential,
    Features,
    SoftCap,
)
from symattn.nodes.flip import flip
from symattn.nodes.heads import Concat, GroupSum, Head, HeadSum, Slice, Split, Stacked
from symattn.nodes.lines import (
    EntrySum,
    Filled,
    Lengths,
    LineDifference,
    LineProduct,
    LineQuotient,
    LineSum,
    PlusVector,
    Spread,
    UnitVectors,
)
from symattn.nodes.masks import MASKS, Allowed, AnyOf, Causal, Masked, TopK, VisibleScores, Window
from symattn.nodes.normalise import NORMALISERS, RowMax, Softmax
from symattn.nodes.norms import NORMS, LayerNorm, RMSNorm
from symattn.nodes.positions import (
    Frequencies,
    PairDot,
    Rotary,
    RotaryBack,
    Sinusoidal,
    Turned,
)
from symattn.nodes.powers import WhereAtMost, WholePower
from symattn.nodes.relative import ClippedShift, RelativeShift, ShiftSum
from symattn.nodes.rule import rule_of
from symattn.nodes.scale import Everywhere, NumberQuotient, NumberTimes, PowerTimes, Quotient
from symattn.nodes.scores import Additive, Distance, PairSum
from symattn.nodes.spell import Speller
from tests.nodes.test_masks import DEFINED, SQUARE
from tests.rows import every_one_has_a_row

n, m, d_k, d_v, h = sympy.symbols("n m d_k d_v h", integer=True, positive=True)
i = sympy.Symbol("i", integer=True)
S = sympy.MatrixSymbol("S", n, m)
R = sympy.MatrixSymbol("r", n, 1)
B = sympy.MatrixSymbol("B", n, m)
T = sympy.MatrixSymbol("T", 8, 1)
W = sympy.MatrixSymbol("W", n, n + m - 1)
C = sympy.MatrixSymbol("C", n, 5)
G = sympy.MatrixSymbol("G", n, m / 2)
BETA = sympy.MatrixSymbol("beta", 1, 1)
LINE = sympy.MatrixSymbol("c", 1, m)
K = sympy.MatrixSymbol("K", d_v, m)
L = sympy.MatrixSymbol("L", m, m)
V = sympy.MatrixSymbol("v", m, 1)
s = sympy.Symbol("s", integer=True)
SIZES = {n: 3, m: 4, d_k: 2, d_v: 2, h: 2}

#: One instance of every node, with symbolic sizes; of a mask the first that is defined.
SAMPLES: dict[type[Node], MatrixExpr] = {
    Quotient: Quotient(S, sympy.sqrt(d_k)),
    PowerTimes: PowerTimes(S, d_k, sympy.Rational(-1, 4)),
    **{
        kind: kind(S, *(BETA for one in kind.arguments if isinstance(one, Learned)))
        for kind in NORMALISERS.values()
    },
    **{MASKS[name]: MASKS[name].of(n, m, rows[0][0]) for name, rows in DEFINED.items()},
    **{MASKS[name]: MASKS[name].of(n, n, rows[0][0]) for name, rows in SQUARE.items()},
    Allowed: Allowed(B),
    AnyOf: AnyOf(Window(n, m, 1), Allowed(B)),
    TopK: TopK(S, 2),
    Masked: Masked(S, Causal(n, m)),
    VisibleScores: VisibleScores(S, Causal(n, m)),
    RowMax: RowMax(S),
    LineDifference: LineDifference(S, R),
    Exponential: Exponential(S),
    LineSum: LineSum(S),
    LineQuotient: LineQuotient(S, R),
    Entrywise: Entrywise(S, "ln"),
    EntryQuotient: EntryQuotient(S, Exponential(S)),
    Diagonal: Diagonal(R),
    Head: Head(S, i),
    Concat: Concat(Head(S, i), i, h),
    Sinusoidal: Sinusoidal(n, m),
    Rotary: Rotary(S),
    Frequencies: Frequencies(m),
    Turned: Turned(S, G, G, pairing="half"),
    ALiBi: ALiBi(n, m, h, 1),
    RelativeBias: RelativeBias(n, m, T, 8, 8),
    RelativeShift: RelativeShift(W, m),
    ClippedShift: ClippedShift(C, m),
    SoftCap: SoftCap(S, 3),
    Features: Features(S, "elu+1"),
    UnitVectors: UnitVectors(S),
    Distance: Distance(S, K),
    Additive: Additive(S, K, V),
    PlusVector: PlusVector(S, LINE),
    Stacked: Stacked(S, K),
    HeadSum: HeadSum(Head(S, i), i, h),
    Counted: Counted(n, m, sympy.Abs(ROW_NUMBER - COLUMN_NUMBER)),
    WherePlaced: WherePlaced(S, B, sympy.Le(COLUMN_NUMBER, ROW_NUMBER)),
    WhereAtMost: WhereAtMost(
        Counted(n, m, ROW_NUMBER - COLUMN_NUMBER), Filled(n, m, 0), S, Exponential(S)
    ),
    WholePower: WholePower(S, 2),
    NumberTimes: NumberTimes(BETA, S),
    NumberQuotient: NumberQuotient(S, BETA),
    Everywhere: Everywhere(BETA, n, m),
    EntrySum: EntrySum(S),
    Filled: Filled(n, m, 1),
    Spread: Spread(R, m),
    LineProduct: LineProduct(S, R),
    Lengths: Lengths(S),
    Split: Split(S, 1, 2),
    Slice: Slice(S, 1, 2, 1),
    GroupSum: GroupSum(Head(S, s), s, h, 1, i),
    PairSum: PairSum("queries", B, L, S, L, 2),
    ShiftSum: ShiftSum(S, 5, 0),
    BucketSum: BucketSum(S, 8, 8, 1, -1, 0),
    RotaryBack: RotaryBack(S),
    PairDot: PairDot(S, S, m / 2),
}

#: The nodes whose meaning is an expression over those.
MEANT: dict[type[Node], MatrixExpr] = {
    LayerNorm: LayerNorm(S, sympy.Rational(1, 100_000)),
    RMSNorm: RMSNorm(S, BETA),
    **{norm.divides: norm.divides(S) for norm in NORMS.values()},
}

RNG = np.random.default_rng(7)
VALUES: dict[str, Any] = {
    "S": RNG.integers(1, 9, (3, 4)) / 2.0,
    "r": RNG.integers(1, 9, (3, 1)) / 4.0,
    "beta": np.array([[0.25]]),
    "B": RNG.integers(0, 2, (3, 4)).astype(float),
    "W": RNG.integers(1, 9, (3, 6)) / 2.0,
    "C": RNG.integers(1, 9, (3, 5)) / 2.0,
    "G": RNG.integers(1, 9, (3, 2)) / 2.0,
    "T": np.arange(8.0).reshape(8, 1) / 4.0,
    "c": RNG.integers(1, 9, (1, 4)) / 8.0,
    "K": RNG.integers(-4, 5, (2, 4)) / 2.0,
    "v": RNG.integers(-4, 5, (4, 1)) / 2.0,
    "L": RNG.integers(-4, 5, (4, 4)) / 2.0,
}

#: Nodes that are about all heads at once, whose matrices have a further axis.
OF_HEADS = (Head, Concat, HeadSum, GroupSum)


def test_every_node_has_a_sample() -> None:
    others, home = {*NODES} - {*MASKS.values()}, "SAMPLES of tests/nodes/test_nodes_contract.py"
    every_one_has_a_row(others, {*SAMPLES} - {*MASKS.values()}, home, "an instance of it")


@pytest.fixture(params=SAMPLES, ids=lambda node: node.__name__)
def node(request: pytest.FixtureRequest) -> MatrixExpr:
    return SAMPLES[request.param]


def is_fallback(text: str, name: str) -> bool:
    """Whether a printer fell back on the class name instead of the node's own spelling."""
    return name in text or "permanent" in text or not text.strip()


PRINTERS: dict[str, Callable[[MatrixExpr], str]] = {
    "latex": sympy.latex,
    "pretty": sympy.pretty,
    "str": str,
    "mathml": lambda expr: str(sympy.mathml(expr, printer="presentation")),
}


@pytest.mark.parametrize("printer", PRINTERS)
def test_prints_in_its_own_spelling(node: MatrixExpr, printer: str) -> None:
    text = PRINTERS[printer](node)
    assert not is_fallback(text, type(node).__name__)
    inside = PRINTERS[printer](2 * node + node)
    assert not is_fallback(inside, type(node).__name__)


def test_a_fallback_is_caught() -> None:
    class Bare(MatrixExpr):  # type: ignore[misc]
        shape = (n, m)

        def __new__(cls) -> Any:
            return super().__new__(cls)

    assert is_fallback(str(Bare()), "Bare")


def test_mathml_is_well_formed(node: MatrixExpr) -> None:
    root = ElementTree.fromstring(sympy.mathml(node, printer="presentation"))
    expected = {"msup": 2, "msub": 2, "mfrac": 2, "msubsup": 3, "munderover": 3}
    for element in root.iter():
        if element.tag in expected:
            assert len(element) == expected[element.tag]
        if element.tag in {"mi", "mn", "mo"}:
            assert len(element) == 0 and element.text


def test_sizes_can_be_put_in(node: MatrixExpr) -> None:
    concrete = node.subs(SIZES)
    assert type(concrete) is type(node)
    assert all(isinstance(size, sympy.Integer) for size in concrete.shape)
    assert tuple(size.subs(SIZES) for size in node.shape) == concrete.shape


def test_equality_hash_and_pickle(node: MatrixExpr) -> None:
    again = node.func(*node.args)
    assert again == node and hash(again) == hash(node)
    assert pickle.loads(pickle.dumps(node)) == node
    assert node != node.subs(SIZES)


def test_its_letters_are_those_it_was_made_of(node: MatrixExpr) -> None:
    """Neither a word as "tanh" nor the index of the heads that it runs over is one."""
    given = {n, m, d_k, d_v, h, i, s, ROW_NUMBER, COLUMN_NUMBER}.union(
        *(sample.atoms(sympy.MatrixSymbol) for sample in SAMPLES.values())
    )
    bound = {node.args[place] for place in node._places_of(BoundIndex)}
    assert node.atoms(sympy.MatrixSymbol) <= node.free_symbols <= given - bound


def test_symbolic_entries_exist(node: MatrixExpr) -> None:
    a, b = sympy.symbols("a b", integer=True)
    assert node[a, b] is not None
    if not isinstance(node, Concat):
        assert Speller().rule(rule_of(node, a, b)) is not None


def explicit_sample(node: MatrixExpr, turned: bool = False) -> MatrixExpr:
    """The node over explicit matrices in place of its symbols; over transposed ones if `turned`."""
    put = {}
    for symbol in node.subs(SIZES).atoms(sympy.MatrixSymbol):
        values = VALUES[symbol.name].T if turned else VALUES[symbol.name]
        entries = [sympy.Rational(str(x)) for x in values.flat]
        put[symbol] = sympy.ImmutableDenseMatrix(*values.shape, entries)
    return node.subs(SIZES).xreplace(put)


@pytest.mark.parametrize("kind", [k for k in SAMPLES if k not in OF_HEADS])
def test_with_tokens_as_columns_it_is_the_transpose(kind: type[Node]) -> None:
    node = SAMPLES[kind].subs(SIZES)
    flipped = flip(node)
    assert flipped.shape == node.shape[::-1]
    done, turned = explicit_sample(node).doit(), explicit_sample(flipped, turned=True).doit()
    assert sympy.Matrix(turned) == sympy.Matrix(done).T


@pytest.mark.parametrize("kind", [k for k in SAMPLES if k not in OF_HEADS])
def test_doit_numpy_and_lambdify_agree(kind: type[Node]) -> None:
    concrete = SAMPLES[kind].subs(SIZES)
    done = explicit_sample(SAMPLES[kind]).doit()
    assert isinstance(done, sympy.MatrixBase)
    exact = np.array([[float(x) if x.is_finite else -np.inf for x in row] for row in done.tolist()])
    symbols = sorted(concrete.atoms(sympy.MatrixSymbol), key=str)
    function = sympy.lambdify(symbols, concrete, "numpy")
    value = function(*(VALUES[symbol.name] for symbol in symbols))
    np.testing.assert_allclose(value, exact, rtol=1e-14, atol=1e-15)
    assert value.dtype == np.float64


def test_a_function_of_sympy_is_of_one_head_or_of_known_ones() -> None:
    letter = sympy.MatrixSymbol("O", 2, 3)
    heads = Concat(Head(letter, i), i, 2)
    with pytest.raises(CannotSpell, match="of all heads"):
        sympy.lambdify([letter], heads, "numpy")
    values = np.arange(12.0).reshape(2, 2, 3)
    beside = sympy.lambdify([letter], heads.doit(), "numpy")(values)
    np.testing.assert_array_equal(beside, np.hstack([*values]))


def test_sympy_refuses_to_differentiate(node: MatrixExpr) -> None:
    with pytest.raises(SymattnError, match="cannot differentiate"):
        node.diff(S)


def test_sympy_refuses_to_differentiate_what_a_node_is_part_of() -> None:
    with pytest.raises(SymattnError, match="cannot differentiate Softmax"):
        (S.T * Softmax(S)).diff(S)


x = sympy.Symbol("x", real=True)
AT = sympy.Rational(1, 3)


def with_a_symbol(kind: type[Node]) -> MatrixExpr:
    """The node over explicit matrices, in two entries of which there is an x."""
    put = {}
    for symbol in SAMPLES[kind].subs(SIZES).atoms(sympy.MatrixSymbol):
        values = VALUES[symbol.name]
        entries = [sympy.Rational(str(value)) for value in values.flat]
        if symbol.name != "B":  # 0 and 1 that only decide
            entries[0], entries[-1] = entries[0] + x, entries[-1] * (1 + x**2)
        put[symbol] = sympy.ImmutableDenseMatrix(*values.shape, entries)
    return SAMPLES[kind].subs(SIZES).xreplace(put)


def floats(kind: type[Node], value: float) -> Any:
    """The same at one x, by NumPy alone."""
    args = (
        np.array(arg.subs(x, value).tolist(), dtype=float)
        if isinstance(arg, sympy.MatrixBase)
        else FLOAT64.array(np.asarray(arg.subs(x, value).doit().tolist(), dtype=object))
        if isinstance(arg, MatrixExpr)
        else arg
        for arg in with_a_symbol(kind).args
    )
    return kind._compute(FLOAT64, *args)


def as_floats(matrix: Any) -> Any:
    """A matrix of SymPy's with a number for x."""
    found = sympy.Matrix(matrix).subs(x, AT).tolist()
    return np.array(
        [[float(entry) if entry.is_finite else -np.inf for entry in row] for row in found]
    )


IN_SYMPY: dict[str, Callable[[MatrixExpr], Any]] = {
    "as_explicit": lambda node: node.as_explicit(),
    "doit": lambda node: node.doit(),
    "entries": lambda node: sympy.Matrix(*node.shape, lambda a, b: node[a, b]),
    "evalf inside": lambda node: (2 * node).evalf() / 2,
    "product": lambda node: (node * sympy.eye(int(node.shape[1]))).as_explicit(),
}

#: Nodes that are about all heads at once have no matrix of their own to write out.
WRITTEN = [kind for kind in SAMPLES if kind not in OF_HEADS]


@pytest.mark.parametrize("way", IN_SYMPY)
@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
def test_a_symbol_in_an_explicit_argument(kind: type[Node], way: str) -> None:
    """Plain SymPy gives what NumPy does once the symbol has a number."""
    if way == "product" and -np.inf in floats(kind, float(AT)):
        return  # −∞ · 0 is no number, so that a mask has no product
    found = as_floats(IN_SYMPY[way](with_a_symbol(kind)))
    np.testing.assert_allclose(found, floats(kind, float(AT)), rtol=1e-12, atol=1e-13)


DERIVATIVES: dict[str, Callable[[MatrixExpr], Any]] = {
    "diff": lambda node: node.diff(x),
    "entries": lambda node: sympy.Matrix(*node.shape, lambda a, b: node[a, b].diff(x)),
    "explicit transpose": lambda node: sympy.Transpose(node).as_explicit().diff(x).T,
}


@pytest.mark.parametrize("way", DERIVATIVES)
@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
def test_a_derivative_by_a_scalar(kind: type[Node], way: str) -> None:
    """As central differences of NumPy's values have it."""
    step = 1e-6
    with np.errstate(invalid="ignore"):  # −∞ behind a mask
        slope = (floats(kind, float(AT) + step) - floats(kind, float(AT) - step)) / (2 * step)
    told = DERIVATIVES[way](with_a_symbol(kind))
    found = as_floats(sympy.zeros(*slope.shape) if told == 0 else told)  # SymPy's own 0, without us
    np.testing.assert_allclose(found, np.nan_to_num(slope), rtol=1e-6, atol=1e-7)


def test_a_second_derivative_by_a_scalar() -> None:
    once = Softmax(sympy.Matrix([[x, 1]]))
    assert sympy.simplify(once.diff(x, 2) - once.diff(x).diff(x)) == sympy.zeros(1, 2)
    assert once.diff(x, x) == once.diff((x, 2))
    assert once.diff(x) == sympy.diff(once, x) == sympy.Derivative(once, x).doit()
    assert sympy.N(once, 30) == once.evalf(30)
    assert once.diff(sympy.Symbol("y")) == sympy.ZeroMatrix(1, 2)


@pytest.mark.parametrize("by", [n, S[0, 0]])
def test_a_matrix_by_name_has_no_derivative_by_a_scalar(by: sympy.Expr) -> None:
    with pytest.raises(SymattnError, match="give explicit matrices"):
        Softmax(S).diff(by)
    assert Softmax(S).diff(x) == sympy.ZeroMatrix(n, m)


COMPOSITES: dict[str, Callable[[MatrixExpr], Any]] = {
    "product": lambda node: node * sympy.MatrixSymbol("W", node.shape[1], 2),
    "sum": lambda node: node + sympy.MatrixSymbol("W", *node.shape),
    "transpose": sympy.Transpose,
    "trace": lambda node: sympy.Trace(node * sympy.MatrixSymbol("W", *node.shape[::-1])),
    "function": lambda node: node.applyfunc(sympy.exp),
}


@pytest.mark.parametrize("composite", COMPOSITES)
def test_sympy_refuses_inside_a_larger_expression(composite: str) -> None:
    """SymPy 1.14 by itself ends in a RecursionError."""
    for kind in (Softmax, LineSum, Masked):
        with pytest.raises(SymattnError, match=f"cannot differentiate {kind.__name__}"):
            COMPOSITES[composite](SAMPLES[kind]).diff(S)


def test_every_node_names_its_source(node: MatrixExpr) -> None:
    assert type(node).source
    assert "Source:" in (type(node).__doc__ or "")


#: Every function of one number, as mpmath has it.
IN_MPMATH: dict[str, Callable[[Any], Any]] = {
    "tanh": mpmath.tanh,
    "σ": lambda x: 1 / (1 + mpmath.exp(-x)),
    "√": mpmath.sqrt,
    "cos": mpmath.cos,
    "sin": mpmath.sin,
    "erf": mpmath.erf,
    "exp": mpmath.exp,
    "max0": lambda x: max(x, 0),
    "elu1": lambda x: x + 1 if x >= 0 else mpmath.exp(x),
    "ln": mpmath.log,
    "abs": abs,
    "min1": lambda x: min(x, 1),
    "above0": lambda x: int(x > 0),
    "below1": lambda x: int(x < 1),
}

#: Numbers that every dtype holds exactly; logarithms and roots take their sizes.
DYADIC = ("-6", "-5/2", "-1", "-1/4", "1/1024", "3/4", "1", "17/8", "3")


def arguments(name: str) -> list[sympy.Rational]:
    numbers = [sympy.Rational(text) for text in DYADIC]
    return [abs(number) for number in numbers] if name in ("√", "ln") else numbers


def test_every_function_has_a_definition_to_be_held_against() -> None:
    home = "IN_MPMATH of tests/nodes/test_nodes_contract.py"
    every_one_has_a_row(FUNCTIONS, IN_MPMATH, home, "the function as mpmath has it")


@pytest.mark.parametrize("name", IN_MPMATH)
def test_a_function_is_that_of_mpmath_in_every_arithmetic(name: str) -> None:
    numbers = filled((1, len(DYADIC)), arguments(name))
    with mpmath.workdps(60):
        told = [IN_MPMATH[name](mpmath.mpf(int(x.p)) / int(x.q)) for x in numbers.ravel()]
        exact = EXACT.apply(name, numbers).ravel()
        for found, value in zip(exact, told, strict=True):
            assert abs(mpmath.mpf(found.evalf(50)) - value) < mpmath.mpf(10) ** -45
        with precision(128):
            balls = BALLS.apply(name, BALLS.array(numbers)).ravel()
            for found, value in zip(balls, told, strict=True):
                assert found.rad() < 1e-30
                assert found.overlaps(arb(mpmath.nstr(value, 50), 1e-45))
    for dtype in ("float64", "float32", "float16"):
        arrays, rounded = Arrays(dtype), Rounded(dtype)
        value = arrays.apply(name, arrays.array(numbers))
        assert value.dtype == np.dtype(dtype)
        room = rounded.apply(name, rounded.array(numbers))
        for number, ball, wanted in zip(value.ravel(), room.ravel(), told, strict=True):
            assert number == pytest.approx(float(wanted), rel=4 * float(np.finfo(dtype).eps))
            assert ball.contains(arb(float(number)))


def test_the_error_function_at_its_ends() -> None:
    ends = filled((1, 2), [sympy.S.Zero, -sympy.oo])
    assert list(EXACT.apply("erf", ends).ravel()) == [0, -1]
    assert list(BALLS.apply("erf", BALLS.array(ends)).ravel()) == [arb(0), arb(-1)]
    assert Arrays("float32").apply("erf", np.array([[0, -np.inf]], np.float32)).tolist() == [
        [0, -1]
    ]
    assert Entrywise(sympy.Matrix([[0, -sympy.oo]]), "erf").doit() == sympy.Matrix([[0, -1]])


@pytest.mark.parametrize(("low", "high"), [(1, 5), (-3, 2), (-40, -7), (0.5, 0.5)])
def test_a_wide_ball_has_an_error_function_between_those_of_its_ends(
    low: float, high: float
) -> None:
    found = ball_erf(arb(low).union(arb(high)))
    least, most = float(mpmath.erf(low)), float(mpmath.erf(high))
    assert float(found.lower()) == pytest.approx(least, rel=1e-7)
    assert float(found.upper()) == pytest.approx(most, rel=1e-7)
    assert ball_erf(arb(0, float("inf"))).contains(arb(-1, 0).union(arb(1)))
    assert ball_erf(arb("nan")).is_nan()


@pytest.mark.parametrize("axis", [1, 0])
def test_row_maxima_are_those_of_python(axis: int) -> None:
    """In every arithmetic: ties, roots that only proof tells apart, −∞ in part and alone."""
    root, gone = sympy.sqrt(8), -sympy.oo
    rows = [[1, root, 2 * sympy.sqrt(2)], [gone, -3, gone], [gone, gone, gone], [-1, -2, -1]]
    told = [max(float(x) for x in row) for row in rows]
    matrix = sympy.Matrix(rows) if axis == 1 else sympy.Matrix(rows).T
    exact = filled(matrix.shape, list(matrix))
    for arithmetic in (EXACT, BALLS, Arrays("float64"), Arrays("float16"), Rounded("float64")):
        found = RowMax._compute(arithmetic, arithmetic.array(exact), sympy.Integer(axis))
        assert found.shape == ((4, 1) if axis == 1 else (1, 4))
        numbers = [nearest(x) if isinstance(x, arb) else float(x) for x in found.ravel()]
        np.testing.assert_allclose(numbers, told, rtol=1e-3)
    by_choice = Arithmetic.row_max(EXACT, EXACT.array(exact if axis == 1 else exact.T))
    assert [float(x) for x in by_choice.ravel()] == pytest.approx(told)


def test_a_row_of_nothing_keeps_its_shape_when_its_maximum_is_taken_off() -> None:
    rows = sympy.Matrix([[-sympy.oo, -sympy.oo], [-sympy.oo, 2]])
    shifted = LineDifference(rows, RowMax(rows).doit())
    assert shifted.doit() == sympy.Matrix([[-sympy.oo, -sympy.oo], [-sympy.oo, 0]])
    assert Exponential(shifted.doit()).doit() == sympy.Matrix([[0, 0], [0, 1]])
    assert [shifted[0, 0], shifted[1, 1]] == [-sympy.oo, 0]
    for dtype in ("float64", "float32", "float16"):
        arithmetic = Arrays(dtype)
        value = arithmetic.array(filled(rows.shape, list(rows)))
        lowered = LineDifference._compute(arithmetic, value, arithmetic.row_max(value), 1)
        assert lowered.tolist() == [[-np.inf, -np.inf], [-np.inf, 0.0]]
        assert lowered.dtype == np.dtype(dtype)


@pytest.mark.parametrize("kind", get_args(rule.Rule), ids=lambda kind: str(kind.__name__))
def test_a_rule_knows_the_rules_it_is_made_of(kind: type[Any]) -> None:
    """A field that holds rules and is not listed would be dropped by `parts` and `at`."""
    holding = tuple(f.name for f in fields(kind) if f.type in ("Rule", "tuple[Rule, ...]"))
    assert rule._CHILDREN.get(kind, ()) == holding


def test_a_node_is_made_as_python_calls_are() -> None:
    S = sympy.MatrixSymbol("S", 2, 3)
    assert LineSum(S, axis=0) == LineSum(matrix=S, axis=0) == LineSum(S, 0)
    assert LineSum(S).args == (S, 1) and LineSum(S).matrix is S
    assert LineSum(S).shape == (2, 1) and Window(2, 3, 1, 0).shape == (2, 3)
    for given, named in (((), {}), ((S, 1, 2), {}), ((S,), {"ax": 1})):
        with pytest.raises(TypeError):
            LineSum(*given, **named)
    with pytest.raises(SymattnError, match="LineSum: 3 is not a matrix expression"):
        LineSum(3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MASKS["global"].of(4, 4, 3), 'mask "global": 3 is not a list'),
        (lambda: MASKS["documents"].of(4, 4, "ab"), 'mask "documents": "ab" is not a list'),
        (lambda: LineProduct(S, V), "LineProduct: m × 1 does not fit; give a column of numbers"),
        (lambda: LineProduct(S, R, 0), "LineProduct: n × 1 does not fit; give a row of numbers"),
        (lambda: LineDifference(S, V), "LineDifference: the numbers have to be n × 1"),
        (lambda: PlusVector(S, R), "PlusVector: the vector has to be 1 × m"),
    ],
)
def test_what_does_not_fit_is_named(make: Callable[[], Node], words: str) -> None:
    with pytest.raises(SymattnError, match=re.escape(words)):
        make()


@pytest.mark.parametrize("relation", [operator.le, operator.lt, operator.ge, operator.gt])
def test_a_choice_by_places_is_that_of_python(relation: Callable[[Any, Any], Any]) -> None:
    """Its rule has every comparison, though its arrays are given none but ≤ and =."""
    chosen = WherePlaced(sympy.ones(3), sympy.zeros(3), relation(COLUMN_NUMBER, ROW_NUMBER))
    found = [[chosen[a, b] for b in range(3)] for a in range(3)]
    assert found == [[int(relation(b, a)) for b in range(3)] for a in range(3)]
