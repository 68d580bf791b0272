"""The one grammar: spellings and their trees, precedence, refusals, and no text that breaks it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn import equal
from symattn.algebra.identities import IDENTITIES
from symattn.arithmetic.reading import read_number
from symattn.errors import ReadError, SymattnError
from symattn.grammar import (
    ARITY,
    FUNCTIONS,
    MAX_LENGTH,
    Apart,
    Call,
    Name,
    Number,
    Tree,
    read,
    read_closed,
    sides,
)
from symattn.language.statement import readings
from tests.fuzz.mutated import SMALL, changed
from tests.processes import python

A, B, C, D, K, Q, S, V, X, c, x, y = (Name(letter) for letter in "ABCDKQSVXcxy")
E, PI, INFINITY = Name("e"), Name("pi"), Name("∞")
ONES = Number(Fraction(1), vector=True)


def num(value: str | int) -> Number:
    return Number(Fraction(value))


def times(*parts: Tree) -> Apart:
    return Apart("*", parts)


def plus(*parts: Tree) -> Apart:
    return Apart("+", parts)


def turned(part: Tree) -> Apart:
    return Apart("T", (part,))


def inverse(part: Tree) -> Apart:
    return Apart("inv", (part,))


def minus(part: Tree) -> Apart:
    return Apart("neg", (part,))


def over(above: Tree, below: Tree) -> Apart:
    return Apart("/", (above, below))


def power(base: Tree, exponent: str | int) -> Apart:
    return Apart("^", (base,), Fraction(exponent))


def call(name: str, *args: Tree) -> Call:
    return Call(name, args)


SPELLINGS: tuple[tuple[str, Tree], ...] = (
    # numbers
    ("1.", num(1)),
    (".5", num("1/2")),
    ("1.35", num("1.35")),
    ("2e3", num(2000)),
    ("2.5E-4", num("1/4000")),
    ("2.e3", num(2000)),
    ("2e−3", num("1/500")),
    ("2e^4", times(num(2), call("exp", num(4)))),
    ("2e**4", times(num(2), call("exp", num(4)))),
    ("2exp(x)", times(num(2), call("exp", x))),
    ("2e_1", times(num(2), Name("e_1"))),
    # names
    ("QK^T", times(Q, turned(K))),
    ("XW_Q", times(X, Name("W_Q"))),
    ("W_{QK}", Name("W_QK")),
    ("K1 W_Q' θ", times(Name("K1"), Name("W_Q'"), Name("θ"))),
    ("dA X", times(Name("dA"), X)),
    ("A(B + C)", times(A, plus(B, C))),
    ("W_Q(X)", times(Name("W_Q"), X)),
    ("d_model", Name("d_model")),
    ("qk^T", times(Name("q"), turned(Name("k")))),
    # constants
    ("e", E),
    ("π x", times(PI, x)),
    ("2pi", times(num(2), PI)),
    ("-∞", minus(INFINITY)),
    ("oo", INFINITY),
    ("infinity", INFINITY),
    ("1 e^2", times(num(1), call("exp", num(2)))),
    # transposes and inverses
    *(
        (spelling, turned(A))
        for spelling in (
            "A.T",
            "Aᵀ",
            "A⊤",
            "A^T",
            "A^{T}",
            "A^(T)",
            r"A^\top",
            r"A^{\mathsf{T}}",
            "A^⊤",
        )
    ),
    *(
        (spelling, inverse(A))
        for spelling in ("A⁻¹", "A^-1", "A^−1", "A^{-1}", "A^(-1)", "A^(1-2)")
    ),
    *((spelling, turned(inverse(A))) for spelling in ("A⁻ᵀ", "A^-T", "A^{-T}", "A^-1^T", "A⁻¹ᵀ")),
    ("A^2^T", turned(power(A, 2))),
    ("A^T^2", power(turned(A), 2)),
    ("A^TB", times(turned(A), B)),
    # powers
    ("A²", power(A, 2)),
    ("x¹⁰", power(x, 10)),
    ("x⁻³", power(x, -3)),
    ("x^(1/2)", power(x, "1/2")),
    ("x^{0.5}", power(x, "1/2")),
    ("x**2", power(x, 2)),
    ("x^-2", power(x, -2)),
    ("x^3²", power(x, 9)),
    ("x^2^-1", power(x, "1/2")),
    ("x^-2^2", power(x, -4)),
    # e^x
    ("e^x", call("exp", x)),
    ("e^2x", times(call("exp", num(2)), x)),
    ("e^-x", call("exp", minus(x))),
    ("e^x^2", call("exp", power(x, 2))),
    ("e^(x + y)", call("exp", plus(x, y))),
    ("e^{-x/2}", call("exp", minus(over(x, num(2))))),
    ("e²", call("exp", num(2))),
    ("e^A^T", turned(call("exp", A))),
    ("e^√2", call("exp", call("√", num(2)))),
    # functions
    ("√d_k", call("√", Name("d_k"))),
    ("√2", call("√", num(2))),
    ("sqrt 2", call("√", num(2))),
    ("sqrt2", call("√", num(2))),
    ("ln 2", call("ln", num(2))),
    ("ln2", call("ln", num(2))),
    ("√2/2", over(call("√", num(2)), num(2))),
    ("√√2", call("√", call("√", num(2)))),
    ("ln(2)^2", power(call("ln", num(2)), 2)),
    ("√(x)²", power(call("√", x), 2)),
    ("softmax (S)", call("softmax", S)),
    ("Softmax(S)", call("softmax", S)),
    ("SOFTMAX(S)", call("softmax", S)),
    ("ReLU(S)", call("max0", S)),
    ("LSE(S)", call("lse", S)),
    ("softmax(S, axis=0)", call("colsoftmax", S)),
    ("softmax(S, dim = -1)", call("softmax", S)),
    ("softmax(S, columns)", call("colsoftmax", S)),
    ("dist2(Q, K)", call("dist2", Q, K)),
    ("causal A", times(call("causal"), A)),
    ("σ(x)", call("σ", x)),
    ("σ x", times(Name("σ"), x)),
    ("tr(A)", call("tr", A)),
    ("trace(A)", call("tr", A)),
    ("rowmax(A)", call("rowmax", A)),
    ("row_max(A)", call("rowmax", A)),
    ("LogSumExp(A)", call("lse", A)),
    ("log_sum_exp(A)", call("lse", A)),
    ("rowvar(A)", call("rowvar", A)),
    ("LayerNorm(X)", call("LayerNorm", X)),
    ("layer_norm(X)", call("LayerNorm", X)),
    ("rms_norm(X)", call("RMSNorm", X)),
    ("silu(X)", call("SiLU", X)),
    ("Swish(X)", call("SiLU", X)),
    ("GELU(X)", call("GELU", X)),
    ("Σ(A)", call("sum", A)),
    ("sum(A)", call("sum", A)),
    ("Σ_j(A B)", call("rowsum", times(A, B))),
    ("Σ_{i} A", call("colsum", A)),
    (r"\sum_j A", call("rowsum", A)),
    ("∑_j exp(S)", call("rowsum", call("exp", S))),
    ("Σ_j A + B", plus(call("rowsum", A), B)),
    ("U Σ", times(Name("U"), Name("Σ"))),
    # columns of ones
    ("A 1", times(A, ONES)),
    ("1^T", turned(ONES)),
    ("1.T", turned(ONES)),
    ("1 c^T", times(ONES, turned(c))),
    ("1 1^T", times(ONES, turned(ONES))),
    ("1 1ᵀ", times(ONES, turned(ONES))),
    ("1 colmean(A)", times(ONES, call("colmean", A))),
    ("1 rowmax(A)^T", times(ONES, turned(call("rowmax", A)))),
    ("1 rowmax(A)", times(num(1), call("rowmax", A))),
    ("1*c", Apart("×", (num(1), c))),
    ("A*1", Apart("×", (A, num(1)))),
    ("1/2 1 1^T", times(over(num(1), num(2)), ONES, turned(ONES))),
    ("ones", ONES),
    ("A 1 1^T", times(A, ONES, turned(ONES))),
    ("2 1 c^T", times(num(2), ONES, turned(c))),
    ("1 A", times(num(1), A)),
    ("1 dA", times(num(1), Name("dA"))),
    (r"A \mathbf{1}", times(A, ONES)),
    # blocks
    ("[A, B; C, D]", call("below", call("beside", A, B), call("beside", C, D))),
    ("[A B; C D]", call("below", times(A, B), times(C, D))),
    ("[A*B]", Apart("×", (A, B))),
    ("[(A B)]", times(A, B)),
    ("[A; B]", call("below", A, B)),
    ("[A]", A),
    ("[A^T B]", times(turned(A), B)),
    # LaTeX
    (
        r"\operatorname{softmax}\left(Q K^\top / \sqrt{d_k}\right) V",
        times(call("softmax", over(times(Q, turned(K)), call("√", Name("d_k")))), V),
    ),
    (r"\mathbf{Q}\mathbf{K}^\mathsf{T}", times(Q, turned(K))),
    (r"\theta \odot A", Apart("∘", (Name("θ"), A))),
    (r"\mathrm{d} A \, X", times(Name("dA"), X)),
    (r"W\_Q", Name("W_Q")),
)

#: Two spellings of the same tree: the second has all brackets written.
PRECEDENCE: tuple[tuple[str, str], ...] = (
    ("2^3^2", "2^(3^2)"),
    ("-2^2", "-(2^2)"),
    ("2^-3^2", "2^(-(3^2))"),
    ("6/2*3", "(6/2)*3"),
    ("6/2 x", "(6/2) x"),
    ("a/b/c", "(a/b)/c"),
    ("a/b c", "(a/b) c"),
    ("a - b c", "a - (b c)"),
    ("A B ∘ C D", "(A B) ∘ (C D)"),
    ("A ∘ B + C", "(A ∘ B) + C"),
    ("A ∘ B ⊘ C", "(A ∘ B) ⊘ C"),
    ("-A B", "-(A B)"),
    ("A * -B C", "A * (-B) C"),
    ("A B^T", "A (B^T)"),
    ("-A^T", "-(A^T)"),
    ("A^T^T", "(A^T)^T"),
    ("x^2ᵀ", "(x^2)ᵀ"),
    ("e^x y", "(e^x) y"),
    ("2x^2", "2 (x^2)"),
    ("√2 x", "(√2) x"),
    ("exp(x)^2", "(exp(x))^2"),
    ("1./3*2", "(1/3)*2"),
    ("--A", "-(-A)"),
)

REFUSED: tuple[tuple[str, str, str], ...] = (
    ("", "at character 1, the end", "it is empty"),
    ("softmax(Q K^T", "the end", "the bracket opened at character 8 is not closed"),
    ("A)", 'at character 2, ")"', "no bracket is open"),
    ("(A]", 'at character 3, "]"', "the bracket ( opened at character 1 is closed by )"),
    ("A + * B", 'at character 5, "* B"', '"*" is not expected here'),
    ("A +", "at character 4, the end", "it ends too early"),
    ("A = B", 'at character 3, "= B"', "a sign of equality is not expected here"),
    ("A ? B", 'at character 3, "? B"', "this has no meaning here"),
    (r"A \pm B", r'at character 3, "\pm B"', "this has no meaning here"),
    ("2e + 1", 'at character 1, "2e + 1"', "an exponent is cut off; write 2e3, or 2*e"),
    ("2.e+", 'at character 1, "2.e+"', "an exponent is cut off"),
    ("2 3", 'at character 3, "3"', "write * between them"),
    ("9" * 61, "at character 1", "too many digits; 60 at most"),
    ("1e401", 'at character 1, "1e401"', "keep the exponent within ±400"),
    ("A^99", 'at character 3, "99"', "keep exponents and their denominators to 64"),
    ("A^9^9^9", 'at character 5, "9^9"', "keep exponents"),
    ("A^B", 'at character 3, "B"', "an exponent is a number: A^2, A^T, A^-1, x^(1/2)"),
    ("e^(x^y)", 'at character 6, "y)"', "an exponent is a number"),
    ("√x^2", "at character 1", "write √(x^2) or (√x)^2"),
    ("ln 2^3", "at character 1", "write ln(2^3) or (ln 2)^3"),
    ("2 √xᵀ", "at character 3", "write √(xᵀ) or (√x)ᵀ"),
    ("Σ_j A B", 'at character 7, "B"', "write Σ_j(…)"),
    ("Σ_j A ∘ B", 'at character 9, "B"', "write Σ_j(…)"),
    ("Σ_k A", "at character 1", "Σ_i sums over rows and Σ_j over columns"),
    ("max(A + B)", "at character 1", "write rowmax(A)"),
    ("S - max (S)", 'at character 5, "max (S)"', "write rowmax(A)"),
    ("var(A)", "at character 1", "write rowvar(A)"),
    ("var A", "at character 1", "write rowvar(A)"),
    ("mean(A)", "at character 1", "rowmean(A) or colmean(A)"),
    ("argmax(A)", "at character 1", "hardmax(A)"),
    ("det(A)", "at character 1", "not known here"),
    ("rank(A)", "at character 1", "not known here"),
    ("LN(A)", "at character 1", "ln(A) for the logarithm, LayerNorm(A)"),
    ("Ln(A)", "at character 1", "ln(A) for the logarithm, LayerNorm(A)"),
    ("log2(x)", "at character 1", "ln(x)/ln(2)"),
    ("log2", "at character 1", "ln(x)/ln(2)"),
    (r"\frac{a}{b}", "at character 1", "write (a)/(b)"),
    ("AB(C + D)", "at character 1", "write A B (…) for a product"),
    ("XW_Q(A)", "at character 1", "write X W_Q (…) for a product"),
    ("ab (C)", "at character 1", "write a b (…) for a product"),
    ("softmaxx(S)", "at character 1", "did you mean softmax?"),
    ("log_softmax(S)", "at character 1", "ln(softmax(S))"),
    ("SUM (A)", "at character 1", "write SUM(…) for the function or S U M (…) for the product"),
    ("A abc", 'at character 3, "abc"', "write a b c for a product"),
    ("LayerNorm X", "at character 1", "LayerNorm needs brackets: LayerNorm(…)"),
    ("tr A", "at character 1", "tr needs brackets: tr(…)"),
    ("ones(3)", "at character 1", "write ones without brackets"),
    ("softmax(S, 2)", "at character 1", "softmax(S, columns)"),
    ("softmax(S, axis=2)", 'at character 12, "axis=2)"', "softmax(S, axis=0)"),
    ("sum(A, axis=0)", 'at character 8, "axis=0)"', "rowsum(A) or colsum(A)"),
    ("dist2(A)", "at character 1", "dist2 takes 2 arguments"),
    ("causal(S)", "at character 1", "causal takes 0 arguments"),
    ("[A B]", 'at character 2, "A B]"', "write [A, B] for blocks beside one another"),
    ("A, B", 'at character 2, ", B"', '"," is not expected here'),
    ("(" * 41 + "A" + ")" * 41, "at character 41", "nested deeper than 40"),
    ("A" + "/A" * 41, "at character 1", "nested deeper than 40"),
    (r"\mathbf{A} \cdot ?", 'at character 18, "?"', "this has no meaning here"),
    ("A\n? B", 'at character 3, "? B"', "this has no meaning here"),
)

NOT_ONE_EQUATION: tuple[tuple[str, str, str], ...] = (
    (
        "softmax(Q K^T = A",
        'at character 15, "= A"',
        "the bracket opened at character 8 is not closed",
    ),
    ("A = A = B", 'at character 7, "= B"', "two signs of equality; state one equation at a time"),
    ("A == A == B", 'at character 8, "== B"', "two signs of equality"),
    ("(Q = Q)", 'at character 4, "= Q)"', "inside the bracket opened at character 1"),
    ("[A = B] + C", 'at character 4, "= B] + C"', "inside the bracket opened at character 1"),
    ("Q", "the end", "two sides are needed"),
    ("= Q", 'at character 1, "= Q"', "the left side is empty"),
    ("Q = ", 'at character 3, "="', "the right side is empty"),
    ("softmax(S, axis=0)", "the end", "two sides are needed"),
    ("", "the end", "two sides are needed"),
)


@pytest.mark.parametrize(("text", "tree"), SPELLINGS, ids=[text for text, _ in SPELLINGS])
def test_a_spelling_has_its_tree(text: str, tree: Tree) -> None:
    assert read(text) == tree


@pytest.mark.parametrize(("short", "whole"), PRECEDENCE)
def test_precedence(short: str, whole: str) -> None:
    assert read(short) == read(whole)


def test_a_declared_name_wins() -> None:
    assert read("abc (A)", {"abc"}) == times(Name("abc"), A)
    assert read("e^2", {"e"}) == power(Name("e"), 2)
    assert read("pi", {"pi"}) == Name("pi")
    assert read("tr A", {"tr"}) == times(Name("tr"), A)
    assert read("Σ_j(A)", {"Σ_j"}) == times(Name("Σ_j"), A)


def test_every_part_is_an_object_of_its_own() -> None:
    """Shapes are found part by part: two columns of ones may have different lengths."""
    seen: set[int] = set()
    waiting: list[Tree] = [read("1 1^T A 1 + ones e^x 1")]
    while waiting:
        part = waiting.pop()
        assert id(part) not in seen
        seen.add(id(part))
        waiting += getattr(part, "parts", ()) or getattr(part, "args", ())


_WRONG = [*((read, *row) for row in REFUSED), *((sides, *row) for row in NOT_ONE_EQUATION)]


@pytest.mark.parametrize(
    ("reader", "text", "place", "why"), _WRONG, ids=[row[1][:30] for row in _WRONG]
)
def test_a_refusal_is_one_line_that_quotes_the_place(
    reader: Callable[[str], object], text: str, place: str, why: str
) -> None:
    with pytest.raises(
        ReadError, match=r'\A".* cannot be read: at character [0-9]+, .*\Z'
    ) as caught:
        reader(text)
    message = str(caught.value)
    assert place in message
    assert why in message


def test_an_equation_has_two_sides() -> None:
    assert sides(" A B = C ") == ["A B", "C"]
    assert sides("A == B") == ["A", "B"]
    assert sides("softmax(S, axis=0) 1=softmax(S, dim = -1)") == [
        "softmax(S, axis=0) 1",
        "softmax(S, dim = -1)",
    ]


def test_false_words_are_no_products() -> None:
    with pytest.raises(SymattnError, match="rowmax"):
        equal("max(A + B) = max(A) + max(B)")


def test_a_function_is_not_its_argument() -> None:
    for word in ("tr", "rowmax", "rowvar", "lse", "LayerNorm", "RMSNorm", "SiLU", "GELU"):
        try:
            answer = equal(f"{word}(A) = A")
        except SymattnError:
            continue
        assert answer.verdict != "equal", word


def test_every_function_is_read_by_every_spelling() -> None:
    for word, name in FUNCTIONS.items():
        least, _ = ARITY.get(name, (1, 1))
        tree = read(word + (f"({', '.join('A' * least)})" if least else ""))
        assert isinstance(tree, Call)
        assert tree.name == name


# ---- both readers ----------------------------------------------------------------------------

EXPONENTS = st.sampled_from(["0", "1", "2", "3", "-1", "-2", "2^2", "(1-3)"])
NUMBERS = st.sampled_from(["0", "1", "2", "3", "7", "0.5", ".25", "1.5", "2.", "1e1", "12e-1"])


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(parts, st.sampled_from(["+", "-", "*", "/", " * ", " / "]), parts).map("".join),
        parts.map("({})".format),
        parts.map("-{}".format),
        st.tuples(parts, EXPONENTS).map("^".join),
    )


def _value(node: ast.AST, text: str) -> Fraction:
    """What Python's own parser makes of the text, in exact fractions."""
    match node:
        case ast.Constant():
            return Fraction(text[node.col_offset : node.end_col_offset])
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, text)
        case ast.BinOp(left, operator, right):
            one, other = _value(left, text), _value(right, text)
            match operator:
                case ast.Add():
                    return one + other
                case ast.Sub():
                    return one - other
                case ast.Mult():
                    return one * other
                case ast.Div():
                    return one / other
                case ast.Pow():
                    if other.denominator != 1 or abs(other) > 40 or abs(one) > 10**9:
                        raise OverflowError
                    return Fraction(one ** int(other))
    raise AssertionError(ast.dump(node))


@settings(max_examples=300, deadline=None)
@given(st.recursive(NUMBERS, _joined, max_leaves=8))
def test_both_readers_agree_with_python(text: str) -> None:
    spelled = text.replace("^", "**")
    try:
        wanted = _value(ast.parse(spelled, mode="eval").body, spelled)
    except (ZeroDivisionError, OverflowError):
        return
    if max(abs(wanted.numerator), wanted.denominator) > 10**60:
        return
    expected = sympy.Rational(wanted.numerator, wanted.denominator)
    assert read_closed(text) == read_closed(spelled)
    assert read_number(text, "x") == expected
    ((built,),) = next(readings([[text]])).groups
    assert built.meaning == expected


def test_the_same_text_has_the_same_tree_for_both() -> None:
    for text in (
        "2^3^2",
        "-2^2",
        "ln(2)^2",
        "e^-x^2".replace("x", "3"),
        "2 pi",
        "√2/2",
        "1/2e^4",
        "exp(1)^2",
        "2^(1/2)",
        "ln2",
        "1./3·2",
        "(1+2)(3)",
        r"\sqrt{2}",
    ):
        assert read(text) == read_closed(text)


# ---- hostile texts ---------------------------------------------------------------------------

HOSTILE = (
    "-" * 2000,
    "+" * 1999 + "1",
    "(" * 2000,
    "[" * 1000,
    "^2" * 900,
    "A" + "^2" * 900,
    "√" * 1000,
    "√" * 1000 + "2",
    "e^" * 900,
    "e^" * 900 + "2",
    "A" + "ᵀ" * 1999,
    "A" + "/A" * 900,
    "A" + "∘A" * 900,
    "A" + "+A" * 900,
    "A" * 2000,
    "A " * 1000,
    "ln " * 600 + "2",
    "softmax(" * 250,
    "\\" * 2000,
    "\\mathbf{" * 250,
    "2e" * 1000,
    "a" * 2000,
    " " * 2000,
    "1 1^T " * 330,
    "x" + "²" * 1999,
    "9" * 2000,
    "9^" * 900 + "9",
    "A;" * 900,
    "[" * 30 + "A" + "]" * 30,
    "1" + "+(1" * 39 + ")" * 39,
    "A" * 2001,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{text[:8]}×{len(text)}")
def test_nothing_breaks_the_reader(text: str) -> None:
    for reader in (read, read_closed, sides, lambda text: read_number(text, "x")):
        try:
            reader(text)
        except ReadError as error:
            assert "\n" not in str(error)


def test_what_is_too_long_is_refused_unread() -> None:
    with pytest.raises(ReadError, match=f"write {MAX_LENGTH} at most"):
        read("A" * (MAX_LENGTH + 1))
    with pytest.raises(ReadError, match="is not a text"):
        read(3)  # type: ignore[arg-type]


def test_deep_closed_numbers_are_computed() -> None:
    assert read_number("1" + "+(1" * 39 + ")" * 39, "x") == 40
    assert read_number("sqrt(" * 30 + "1" + ")" * 30, "x") == 1


def test_mutated_statements_are_read_or_refused() -> None:
    chance = np.random.default_rng(7)
    statements = [row.statement for row in IDENTITIES] + [text for text, _ in SPELLINGS]
    read_at_all = refused = 0
    for _ in range(1500):
        text = changed(str(chance.choice(statements)), chance, SMALL)
        for reader in (sides, read, read_closed):
            try:
                reader(text)
                read_at_all += 1
            except ReadError as error:
                refused += 1
                assert len(str(error).splitlines()) == 1
    assert min(read_at_all, refused) > 300  # both happen, or nothing was tried


# ---- what it costs ---------------------------------------------------------------------------


def _modules_after(code: str) -> Any:
    done = python("-c", f"import sys; {code}; print('lark' in sys.modules)", check=True)
    return done.stdout.strip()


def test_lark_loads_with_the_first_expression() -> None:
    assert _modules_after("import symattn.grammar") == "False"
    reading = "from symattn.arithmetic.reading import read_number"
    plain = "; ".join(f"read_number({text!r}, 'x')" for text in ("0.25", "-3", "1e-3", "-inf", 2))
    assert _modules_after(f"{reading}; {plain}") == "False"
    assert _modules_after(f"{reading}; read_number('1/3', 'x')") == "True"


@pytest.mark.parametrize("text", ["∑2", "∑(2)", "sum_j(3)", "Σ_i 2", "1 + ∑ 4"])
def test_a_sum_is_no_closed_number(text: str) -> None:
    with pytest.raises(ReadError, match="is not part of a number"):
        read_closed(text)
