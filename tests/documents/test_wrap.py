"""Sides of equations that are too wide: cut before + and −, with nothing lost."""

from __future__ import annotations

import re

import pytest

from symattn.documents.wrap import ROOM, size_of, wrapped
from symattn.notation import tree as t
from symattn.notation.latex import latex
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


def test_what_fits_stays_in_one_row() -> None:
    items = (t.EQUALS, *sum_of(3).items)
    (piece,) = wrapped(items)
    assert piece.tex == latex(Row(items))
    assert piece.size == size_of(Row(items)) <= ROOM


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


@pytest.mark.parametrize(("digits", "cut"), [("12", False), ("123", True)])
def test_a_term_wider_than_half_a_row_is_cut_inside_its_bracket(digits: str, cut: bool) -> None:
    term = (t.PLUS, Fenced(Row((*sum_of(2).items, t.DOT, Num(digits)))))
    assert size_of(Row(term)) == ROOM / 2 + cut
    pieces = wrapped((t.EQUALS, *sum_of(3).items, *term))
    assert len(pieces) == 2
    assert (pieces[-1].tex.count("(") < pieces[-1].tex.count(")")) is cut


def test_a_wide_fraction_is_written_with_a_slash() -> None:
    inside = Frac(Script(Ident("e"), None, Num("2")), sum_of(16))
    pieces = wrapped((t.EQUALS, inside, t.PLUS, Num("1")))
    assert len(pieces) > 1
    whole = "".join(piece.tex for piece in pieces)
    assert "frac" not in whole
    assert tokens(whole) == tokens(f"=e^2/({latex(sum_of(16))})+1")


def test_a_narrow_fraction_counts_once() -> None:
    one = sum_of(4)
    assert size_of(Frac(one, one)) == size_of(one) < ROOM
    (piece,) = wrapped((t.EQUALS, Frac(one, one)))
    assert "frac" in piece.tex


def test_what_cannot_be_cut_stays_whole() -> None:
    long = Script(Ident("e"), None, sum_of(40))
    (piece,) = wrapped((t.EQUALS, long))
    assert piece.tex == latex(Row((t.EQUALS, long)))
    assert piece.size > ROOM
