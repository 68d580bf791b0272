"""Sides of equations that are too wide: cut where one cuts by hand, with nothing lost."""

from __future__ import annotations

import re

import pytest

from symattn.documents.blocks import spelled
from symattn.documents.wrap import ROOM, size_of, words_size, wrapped, wrapped_words
from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.text import line
from symattn.notation.tree import Fenced, Frac, Ident, Num, Row, Script, Tree


def tokens(source: str) -> list[str]:
    """What is set, without empty groups, blanks and the brackets' commands."""
    return re.findall(r"\\[a-z]+|[^\s{}]", source.replace(r"\left", "").replace(r"\right", ""))


def sum_of(count: int, minus: bool = False) -> Row:
    """Products of decimals, added; every other one subtracted with `minus`."""
    items: list[Tree] = []
    for k in range(count):
        if k:
            items.append(t.MINUS if minus and k % 2 else t.PLUS)
        items += [Num(f"{k}.{k:03}"), t.DOT, Fenced(Row((t.MINUS, Num("0.5"))))]
    return Row(tuple(items))


@pytest.mark.parametrize("minus", [False, True])
def test_a_long_sum_is_cut_and_nothing_lost(minus: bool) -> None:
    items = (t.APPROX, *sum_of(20, minus).items)
    pieces = wrapped(items)
    assert len(pieces) > 2
    assert all(ROOM / 2 < piece.size <= ROOM for piece in pieces[:-1])
    assert tokens(" ".join(piece.tex for piece in pieces)) == tokens(latex(Row(items)))
    for piece in pieces[1:]:  # a sign with room about it, as between its terms
        assert re.match(r"\{\} ?[+-]", piece.tex)


def test_a_minus_that_is_a_sign_is_no_place_to_cut() -> None:
    items = (t.EQUALS, t.MINUS, *sum_of(14).items)
    assert wrapped(items)[0].tex.replace(" ", "").startswith("=-0.000")
    long = Fenced(Row((t.MINUS, *sum_of(14).items)))
    assert wrapped((t.EQUALS, long))[0].tex.replace(" ", "").startswith("=(-0.000")


def test_a_bracket_is_cut_only_where_it_is_wider_than_a_row() -> None:
    """Before the + outside it otherwise, as one does by hand."""
    for count, cut in ((4, False), (9, True)):
        bracket = Fenced(sum_of(count))
        assert (size_of(bracket) > ROOM) is cut
        pieces = wrapped((t.EQUALS, *sum_of(3).items, t.PLUS, bracket))
        assert tokens(" ".join(piece.tex for piece in pieces)) == tokens(
            f"= {latex(sum_of(3))} + {latex(bracket)}"
        )
        balanced = all(piece.tex.count("(") == piece.tex.count(")") for piece in pieces)
        assert len(pieces) >= 2
        assert balanced is not cut


@pytest.mark.parametrize("sign", [t.TIMES, t.DOT, t.ENTRYWISE])
def test_a_product_is_cut_before_a_factor_and_the_sign_is_written(sign: t.Op) -> None:
    """(a + b) (c + d): the second row begins with a sign, and no bracket is cut."""
    factors = Fenced(sum_of(4)), Fenced(sum_of(4))
    first, second = wrapped((t.EQUALS, factors[0], sign, factors[1]))
    assert tokens(first.tex) == tokens(f"= {latex(factors[0])}")
    written = r"\circ" if sign == t.ENTRYWISE else r"\cdot"
    assert tokens(second.tex) == tokens(f"{written} {latex(factors[1])}")
    (whole,) = wrapped((t.EQUALS, Fenced(sum_of(2)), sign, Fenced(sum_of(2))))
    assert whole.tex.count(r"\cdot") == 4 + (sign == t.DOT)


def test_brackets_about_sums_keep_their_size_where_they_are_cut() -> None:
    total = Script(t.SUM, Ident("l"), Ident("n"))
    inside = Row((total, *sum_of(6).items, t.PLUS, Fenced(Row((total, *sum_of(3).items)))))
    squared = Script(Fenced(inside), None, Num("2"))
    pieces = wrapped((t.EQUALS, squared))
    whole = " ".join(piece.tex for piece in pieces)
    assert len(pieces) > 1
    assert (whole.count(r"\biggl("), whole.count(r"\biggr)^{2}")) == (1, 1)
    assert all(piece.tex.count(r"\left") == piece.tex.count(r"\right") for piece in pieces)


def test_a_wide_power_of_e_is_written_with_exp() -> None:
    long = Script(Ident("e"), None, sum_of(40))
    pieces = wrapped((t.EQUALS, long))
    assert max(piece.size for piece in pieces) <= ROOM
    whole = "".join(piece.tex for piece in pieces)
    assert tokens(whole) == tokens(rf"= \mathrm exp ({latex(sum_of(40))})")


def test_words_are_cut_at_blanks_and_no_row_begins_with_a_sign() -> None:
    words = ("by ", Row((Ident("x"), t.EQUALS, Num("1"))), "; ", "the sum of it " * 12, Ident("y"))
    rows = wrapped_words(words, 40)
    assert len(rows) > 3
    assert all(words_size(row) <= 41 for row in rows)
    said = [spelled(row, str, line) for row in rows]
    assert "".join(said) == spelled(words, str, line)
    assert not any(row.startswith(";") for row in said)


def test_a_wide_fraction_is_written_with_a_slash() -> None:
    inside = Frac(Script(Ident("e"), None, Num("2")), sum_of(16))
    pieces = wrapped((t.EQUALS, inside, t.PLUS, Num("1")))
    assert len(pieces) > 1
    whole = "".join(piece.tex for piece in pieces)
    assert "frac" not in whole
    assert tokens(whole) == tokens(f"=e^2/({latex(sum_of(16))})+1")
