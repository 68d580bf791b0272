"""Formulas in words, as a screen reader says them."""

from __future__ import annotations

import pytest

from symattn.notation import tree as t
from symattn.notation.spoken import spoken
from symattn.notation.tree import (
    Custom,
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

A, B, Q = Ident("a"), Ident("b"), Ident("Q")
SUM = Row((A, t.PLUS, B))
ONE, TWO, N = Num("1"), Num("2"), Ident("n")
HEAD = Fenced(Ident("h"))


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        ("=≈≠", "equals is about is not"),
        ("+−·×/", "plus minus times by over"),
        ("≤<≥>", "is at most is less than is at least is more than"),
        ("∈∘", "is in entrywise times"),
        ("⊤′?", "transposed prime unknown"),
        ("∑∞⋯⋮⋱", "the sum infinity and so on and so on and so on"),
        ("\u2061\u2062", "of"),
        ("!", "!"),
    ],
)
def test_signs(symbols: str, words: str) -> None:
    assert spoken(Row(tuple(map(Op, symbols)))) == words


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (Ident("softmax"), "softmax"),
        (Ident("α"), "alpha"),
        (Ident("ℓ"), "script small l"),
        (Text("where"), "where"),
        (Row((A, Op(","), B)), "a, b"),
        (Frac(A, B), "a over b"),
        (Frac(SUM, B), "the fraction a plus b over b end fraction"),
        (Frac(A, Row((A, t.MINUS, B))), "the fraction a over a minus b end fraction"),
        (Frac(Script(Q, None, HEAD), Root(A)), "Q of head h over the square root of a"),
        (Frac(Frac(A, B), TWO), "the fraction a over b over 2 end fraction"),
        (Root(A), "the square root of a"),
        (Root(SUM), "the square root of a plus b end root"),
        (Row((TWO, t.TIMES, Root(A))), "2 times the square root of a"),
        (Script(A, None, SUM), "a to the power a plus b end power"),
        (Script(A, None, Row((t.MINUS, B))), "a to the power minus b"),
        (Script(Q, None, Fenced(Fenced(SUM, "⌈", "⌉"))), "Q of head the ceiling of a plus b"),
        (Row((Op("∂"), Ident("∂"), Ident("λ"))), "∂ partial lambda"),
        (Fenced(SUM), "open parenthesis a plus b close parenthesis"),
        (Fenced(A), "a"),
        (
            Row((Fenced(SUM), t.TIMES, Script(Fenced(SUM), None, Ident("T")))),
            "open parenthesis a plus b close parenthesis open parenthesis a plus b close "
            "parenthesis transposed",
        ),
        (Script(A, Row((ONE, TWO)), Ident("u")), "a u 1 2"),
        (Script(A, Row((ONE, TWO)), Row((Ident("u"), HEAD))), "a u 1 2 of head h"),
        (Script(Q, B, Row((HEAD, Op("⊤")))), "Q b of head h transposed"),
        (Fenced(A, "|", "|"), "the absolute value of a"),
        (Fenced(A, "⌊", "⌋"), "the floor of a"),
        (Fenced(A, "⌈", "⌉"), "the ceiling of a"),
        (Script(A, N, None), "a n"),
        (Script(A, N, TWO), "a n squared"),
        (Script(A, None, N), "a to the power n"),
        (Script(Q, None, Ident("T")), "Q transposed"),
        (Script(Q, None, Op("⊤")), "Q transposed"),
        (Script(Q, None, Op("′")), "Q transposed"),
        (Script(Q, None, HEAD), "Q of head h"),
        (Script(Q, None, Row((B, HEAD))), "Q b of head h"),
        (Script(Q, None, Row((HEAD, Ident("T")))), "Q of head h transposed"),
        (Row((Script(Op("∑"), A, N), B)), "the sum over a to n of b"),
        (Row((Script(Op("∑"), A, None), B)), "the sum over a of b"),
        (Grid(((ONE, TWO), (A, B))), "1, 2; a, b"),
        (Fenced(Grid(((ONE, TWO),))), "1, 2"),
        (Custom(r"\mathbf{W}"), "mathbf W"),
    ],
)
def test_formulas(tree: Tree, words: str) -> None:
    assert spoken(tree) == words
