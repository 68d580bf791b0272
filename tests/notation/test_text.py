"""Formulas as text: where each sign stands, in one line and in several."""

from __future__ import annotations

import pytest

from symattn.notation import tree as t
from symattn.notation.text import box, in_ascii, line, text
from symattn.notation.tree import (
    EQUALS,
    Fenced,
    Frac,
    Grid,
    Ident,
    Num,
    Op,
    Picked,
    Root,
    Row,
    Script,
    Text,
    Tree,
)

A, B, N, ONE = Ident("a"), Ident("b"), Ident("n"), Num("1")
FOUR = Row((t.MINUS, Num("4")))
ROWS: tuple[tuple[Tree, ...], ...] = ((ONE, Num("2")), (Num("3"), FOUR), (Num("5"), Num("60")))
MATRIX = Fenced(Grid(ROWS), "[", "]")
CASES = Grid(
    ((Num("0"), Text("where j ≤ i")), (Row((t.MINUS, Ident("∞"))), Text("else"))), align="l"
)


@pytest.mark.parametrize(
    ("tree", "unicode", "ascii_"),
    [
        (Script(t.SUM, Row((Ident("l"), EQUALS, Num("1"))), N), "Σ_l", "Sum_l"),
        (Script(t.SUM, Row((Ident("l"), Op("∈"), A))), "Σ_l∈a", "Sum_lina"),
        (Script(t.SUM, None), "Σ", "Sum"),
        (Row((Script(t.SUM, Ident("l")), A)), "Σ_l a", "Sum_l a"),
        (Frac(Row((A, t.PLUS, B)), Num("2")), "(a + b)/2", "(a + b)/2"),
        (Frac(A, Row((A, t.PLUS, B))), "a/(a + b)", "a/(a + b)"),
        (Frac(Frac(A, B), N), "(a/b)/n", "(a/b)/n"),
        (Row((A, t.TIMES, Frac(A, B))), "a (a/b)", "a (a/b)"),
        (Root(Num("2")), "√2", "sqrt(2)"),
        (Root(Script(A, None, Num("2"))), "√(a²)", "sqrt(a^2)"),
        (Script(Root(A), None, Num("2")), "(√a)²", "(sqrt(a))^2"),
        (Script(A, Row((Ident("i"), t.TIMES, Ident("j"))), Ident("Q")), "a^Q_i·j", "a^Q_i*j"),
        (Script(A, None, Row((t.MINUS, Num("1")))), "a^(−1)", "a^(-1)"),
        (Row((t.MINUS, A, t.MINUS, B)), "−a − b", "-a - b"),
        (Row((A, EQUALS, t.MINUS, B)), "a = −b", "a = -b"),
        (Row((Ident("exp"), t.APPLY, Fenced(A))), "exp(a)", "exp(a)"),
        (Row((A, Op(","), B)), "a, b", "a, b"),
        (Picked(Num("3"), boxed=True), "[3]", "[3]"),
        (Picked(Num("3"), boxed=False), "(3)", "(3)"),
        (MATRIX, "[[1, 2], [3, −4], [5, 60]]", "[[1, 2], [3, -4], [5, 60]]"),
        (Row(()), "", ""),
    ],
)
def test_in_one_line(tree: Tree, unicode: str, ascii_: str) -> None:
    assert (line(tree), line(tree, "ascii")) == (unicode, ascii_)


@pytest.mark.parametrize(
    ("tree", "drawn"),
    [
        (Row((Ident("S"), EQUALS, MATRIX)), ["    ⎡ 1   2 ⎤", "S = ⎢ 3  −4 ⎥", "    ⎣ 5  60 ⎦"]),
        (Fenced(CASES, "{", ""), ["⎧ 0   where j ≤ i", "⎩ −∞  else"]),
        (Fenced(CASES, "", "}"), [" 0   where j ≤ i ⎫", " −∞  else        ⎭"]),
        (
            Row((Fenced(CASES, "{", ""), Op(","), MATRIX)),
            [
                "                   ⎡ 1   2 ⎤",
                "⎧ 0   where j ≤ i, ⎢ 3  −4 ⎥",
                "⎩ −∞  else         ⎣ 5  60 ⎦",
            ],
        ),
        (
            Fenced(Grid(((A, Fenced(CASES, "{", "")), (Ident("long"), B)), align="l"), "{", ""),
            ["⎧ a     ⎧ 0   where j ≤ i", "⎨       ⎩ −∞  else", "⎩ long  b"],
        ),
        (
            Fenced(Grid(ROWS, ("x", "y", "long"), ("left", "q")), "[", "]"),
            ["  left   q", "⎡    1   2 ⎤ x", "⎢    3  −4 ⎥ y", "⎣    5  60 ⎦ long"],
        ),
        (
            Fenced(Grid(((Picked(ONE, boxed=True), Num("2")), (Num("30"), Num("4"))))),
            ["⎛  [1]  2 ⎞", "⎝  30   4 ⎠"],
        ),
        (
            Fenced(Grid(((Num("1.25"),), (Num("10.5"),), (Num("3"),))), "|", "|"),
            ["│  1.25 │", "│ 10.5  │", "│  3    │"],
        ),
    ],
)
def test_in_several_lines(tree: Tree, drawn: list[str]) -> None:
    assert text(tree).split("\n") == drawn


def test_in_ascii_a_tall_fence_is_of_bars() -> None:
    assert text(MATRIX, "ascii").split("\n") == ["| 1   2 |", "| 3  -4 |", "| 5  60 |"]


def test_the_baseline_of_a_box_is_its_middle_line() -> None:
    assert [box(tree).baseline for tree in (A, MATRIX, Fenced(CASES, "{", ""))] == [0, 1, 0]


def test_a_sign_without_ascii_is_a_question_mark() -> None:
    assert in_ascii("日Kᵀ ≤ ⌊x⌋") == "?K^T <= floor(x)"
    assert in_ascii("Λ λ Σ Ωᵀ") == "Lambda lambda Sigma Omega^T"
