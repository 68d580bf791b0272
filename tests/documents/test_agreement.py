"""The three spellings agree: LaTeX, read by latex2mathml, says what our MathML says.

latex2mathml knows nothing of our trees, so that it is an independent reader of our LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from xml.etree import ElementTree

import pytest
from latex2mathml.converter import convert

from symattn.documents.outline import derivation_document
from symattn.documents.views import VIEWS, View
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.tree import Tree
from tests.gates import (
    SPELLED,
    SUBJECTS,
    displays,
    inlines,
    nameless,
    page,
    reading,
    spelled,
    trees,
)
from tests.written import latex_document, mathml_document

#: The views as documents show them: a few worked entries beside the rest, or all of them alone.
_VIEWS: tuple[tuple[View, ...], ...] = (VIEWS, ("worked",))


#: The rule below the head of a table.
_RULES = re.compile(r"(\\\\) \\hline")


@cache
def shown(notation: str, subjects: tuple[str, ...] = SUBJECTS) -> dict[Tree, str]:
    """Every formula of every document in one notation, with the subject it comes from."""
    return {
        tree: subject
        for subject in subjects
        for views in _VIEWS
        for tree in trees(page(subject, notation, *views))
    }


def plain(markup: str) -> str:
    """The reading of MathML without blanks and invisible operators.

    latex2mathml sets a word letter by letter (𝑠𝑜𝑓𝑡𝑚𝑎𝑥 for softmax) and knows no invisible
    operators; in a reading, where neighbouring tokens run together, neither makes a difference.
    """
    return re.sub("[\\s\u2061-\u2064]", "", reading(ElementTree.fromstring(markup)))


def _unruled(match: re.Match[str]) -> str:
    return match[1]


def disagreement(source: str, markup: str) -> str:
    """How the LaTeX and the MathML of a formula differ; nothing if they agree."""
    unruled = _RULES.sub(_unruled, source)
    # a row that ends in an empty cell is dropped at the end of an array
    theirs = plain(convert(unruled.replace(r"& \end{array}", r"& {} \end{array}")))
    ours = plain(markup)
    return "" if theirs == ours else f"{source}\n  LaTeX  {theirs}\n  MathML {ours}"


def is_within(part: list[str], whole: list[str]) -> bool:
    """Whether `part` is what is left of `whole` when some of it is struck out."""
    rest: Iterator[str] = iter(whole)
    return all(each in rest for each in part)


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_latex_says_what_mathml_says(notation: str, subjects: tuple[str, ...]) -> None:
    bare = [*map(nameless, shown(notation, subjects))]
    # latex2mathml gives what stands above a bracketed matrix to its bracket alone
    bare = [tree for tree in bare if r"\end{array} \right]}^" not in latex(tree)]
    found = [disagreement(latex(tree), mathml(tree)) for tree in bare]
    assert len(found) > 100
    assert [each for each in found if each] == []


def in_one_line(display: str) -> str:
    """A display without blanks and, outside matrices, without line breaks and alignment marks."""
    display = re.sub(r"\\(begin|end)\{aligned\}|\\qquad", "", display)
    out, depth = "", 0
    for piece in re.split(r"(\\(?:begin|end)\{array\})", display):
        depth += {r"\begin{array}": 1, r"\end{array}": -1}.get(piece, 0)
        out += (
            piece if depth or piece.startswith(r"\end") else re.sub(r"\\\\(\[\w+\])?|&", "", piece)
        )
    return re.sub(r"\s", "", out)


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_latex_documents_show_every_formula_in_order(
    notation: str, subjects: tuple[str, ...]
) -> None:
    for subject in subjects:
        pages = page(subject, notation)
        document = latex_document(pages)
        parts = [*spelled(derivation_document(pages).blocks)]
        lines = [latex(tree) for _, displayed in parts for tree in displayed]
        shown = "".join(in_one_line(display) for display in displays(document))
        wanted = re.sub(r"\s", "", "".join(lines))
        # an empty group keeps a bracket that begins a row from being an option of the row before,
        # and a sign that begins one a sign of addition
        assert shown.replace("{}", "") == wanted.replace("{}", "")
        signs = [latex(part) for words, _ in parts for part in words if isinstance(part, Tree)]
        assert len(signs) + len(lines) == len([*trees(pages)])
        assert is_within(signs, inlines(document))


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_mathml_documents_show_every_formula_in_order(
    notation: str, subjects: tuple[str, ...]
) -> None:
    for subject in subjects:
        pages = page(subject, notation)
        document, place = mathml_document(pages), 0
        for tree in trees(pages):
            place = document.find(mathml(tree), place) + 1
            assert place > 0, mathml(tree)


def test_a_matrix_keeps_its_alignment_marks() -> None:
    matrix = r"\begin{array}{r|r} & a \\ b & 1 \end{array}"
    aligned = f"\\begin{{aligned}} X &= {matrix} \\\\[6pt]\n&= Y \\end{{aligned}}"
    assert in_one_line(aligned) == r"X=\begin{array}{r|r}&a\\b&1\end{array}=Y"


@pytest.mark.parametrize(
    ("source", "markup", "agree"),
    [
        (r"\frac{1}{2}", "<mfrac><mn>1</mn><mn>2</mn></mfrac>", True),
        (r"\frac{1}{2}", "<mfrac><mn>2</mn><mn>1</mn></mfrac>", False),
        ("x_{i}", "<msub><mi>x</mi><mi>i</mi></msub>", True),
        ("x_{i}", "<msup><mi>x</mi><mi>i</mi></msup>", False),
        ("x_{ij}", "<msub><mi>x</mi><mrow><mi>j</mi><mi>i</mi></mrow></msub>", False),
        (r"-\infty", "<mrow><mo>−</mo><mi>∞</mi></mrow>", True),
        (r"-\infty", "<mi>∞</mi>", False),
        (
            r"\mathrm{softmax}(Z)",
            "<mrow><mi>softmax</mi><mo>\u2061</mo><mo>(</mo><mi>Z</mi><mo>)</mo></mrow>",
            True,
        ),
        (r"\mathrm{softmax}(Z)", "<mrow><mi>softmax</mi><mi>Z</mi></mrow>", False),
        (r"a \approx 1", "<mrow><mi>a</mi><mo>=</mo><mn>1</mn></mrow>", False),
    ],
)
def test_a_difference_is_noticed(source: str, markup: str, agree: bool) -> None:
    assert (disagreement(source, markup) == "") is agree
