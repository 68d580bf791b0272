"""LaTeX: every document compiles in pdflatex, fits the page, and KaTeX takes every formula."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from symattn import VARIANTS, Notation, SymattnError
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.notation.latex import latex
from symattn.notation.mathml import math
from symattn.notation.tree import Fenced, Grid, Ident, Num, Op, Row
from tests.conftest import Formulas
from tests.documents.conftest import HOST, Typeset
from tests.gates import (
    HOSTILE_LABELS,
    ODD_SYMBOLS,
    SPELLED,
    displays,
    inlines,
    labelled,
    page,
)
from tests.written import latex_document

_WORDS = re.compile(r"\\text\{((?:[^{}\\]|\\.)*)\}")


@cache
def document(subject: str, notation: str) -> str:
    """What is printed of a subject in a notation."""
    return latex_document(page(subject, notation))


def formulas(document: str) -> list[tuple[bool, str]]:
    """Every formula of a document, displayed or in a sentence."""
    shown = [(True, each) for each in displays(document)]
    return shown + [(False, each) for each in inlines(document)]


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_katex_takes_every_formula(
    notation: str, subjects: tuple[str, ...], katex: Formulas
) -> None:
    wanted: dict[tuple[bool, str], str] = {}
    for subject in subjects:
        shown = document(subject, notation)
        assert len(displays(shown)) == shown.count("\\[\n") > 0
        wanted |= dict.fromkeys(formulas(shown), subject)
    said = katex(list(wanted))
    assert len(said) > 25
    assert [pair for pair in zip(wanted.values(), said, strict=True) if pair[1]] == []


def test_mathjax_shows_no_escapes(tmp_path: Path) -> None:
    r"""MathJax 3 takes the backslash off ``\$ \{ \}`` inside ``\text`` and shows any other."""
    document = latex_document(labelled(tmp_path, "", HOSTILE_LABELS))
    words = {word for shown in displays(document) for word in _WORDS.findall(shown)}
    assert "script" in words
    assert {word for word in words if re.search(r"\\[^${}]", word)} == set()


def test_katex_notices_what_is_wrong(katex: Formulas) -> None:
    sound, *spoilt = katex(
        [
            (True, r"\frac{1}{2}"),
            (True, r"\frac{1}"),
            (False, r"\unknown"),
            (True, "é"),
            (True, "{"),
        ]
    )
    assert sound == ""
    assert all("ParseError" in why for why in spoilt)


def test_a_symbol_is_refused_or_set(katex: Formulas, typeset: Typeset, tmp_path: Path) -> None:
    taken: dict[str, str] = {}
    derivation = VARIANTS[0].spec.derivation()
    for symbol in ODD_SYMBOLS:
        with suppress(SymattnError):
            notation = Notation(symbols={"weights": symbol})
            taken[symbol] = latex_document(outline(Shown(derivation, notation=notation)))
    assert r"\tilde{\mathbf{Q}}" in taken
    pairs = [(symbol, each) for symbol, document in taken.items() for each in formulas(document)]
    said = katex([each for _, each in pairs])
    assert {symbol for (symbol, _), why in zip(pairs, said, strict=True) if why} == set()
    assert typeset("pdflatex", HOST.format("\n".join(taken.values())), tmp_path) == []


#: The right edges of the words and of the numbers of a formula, in order.
_EDGES = """([words, numbers]) => [words, numbers].map((kind) =>
  [...document.querySelectorAll(kind)]
    .filter((each) => !each.closest("mjx-mphantom, mphantom"))
    .map((each) => each.getBoundingClientRect().right))"""


@pytest.mark.parametrize("reader", ["mathjax", "browser"])
def test_names_stand_over_their_columns(
    reader: str, browser: Any, node_file: Callable[[str], Path], tmp_path: Path
) -> None:
    names = ("W" * 12, "the", "iiiiiiiiiiiiii", "Привет")
    lines = tuple(tuple(Num(f"{i}.{j}5") for j in range(4)) for i in range(2))
    tree = Fenced(Grid((*lines, (Num("7"), *lines[0][1:])), column_labels=names), "[", "]")
    shown = f"\\[{latex(tree)}\\]" if reader == "mathjax" else math(tree, "names")
    script = node_file("mathjax-full/es5/tex-mml-chtml.js").as_uri()
    head = f'<script src="{script}"></script>' if reader == "mathjax" else ""
    (tmp_path / "page.html").write_text(f'<meta charset="utf-8">{head}<p>{shown}</p>', "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    kinds = ["mtext", "mn"]
    if reader == "mathjax":
        page.wait_for_selector("mjx-container")
        page.wait_for_function("MathJax.startup.promise.then(() => true)")
        kinds = ["mjx-mtext", "mjx-mn"]
    words, numbers = page.evaluate(_EDGES, kinds)
    page.close()
    words = words[-4:]  # behind a gap, which MathJax sets as words
    assert numbers[:4] == pytest.approx(words, abs=0.5)
    assert numbers[4:8] == pytest.approx(words, abs=0.5)
    assert numbers[8] < words[0] - 10  # 7, whose point would stand below the others


def test_a_letter_behind_a_command_is_not_part_of_it() -> None:
    assert latex(Row((Num("1"), Op("…"), Ident("p")))) == r"1\ldots p"
    assert latex(Row((Ident("θ"), Ident("x"), Num("2")))) == r"\theta x2"
    assert latex(Row((Ident("θ"), Num("2")))) == r"\theta2"


def test_formulas_are_found_in_a_document() -> None:
    document = "A \\$5 $x$ b $y_{1}$.\n\\[\nx \\\\[2pt] y\n\\]\nmore \\$ $z$\n\\[\nu\n\\]\n"
    assert displays(document) == ["x \\\\[2pt] y", "u"]
    assert inlines(document) == ["x", "y_{1}", "z"]
