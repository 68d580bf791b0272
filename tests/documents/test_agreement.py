"""The three spellings agree: LaTeX, read by latex2mathml, says what our MathML says.

latex2mathml knows nothing of our trees, so that it is an independent reader of our LaTeX.
"""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree

import pytest
from latex2mathml.converter import convert

from symattn.documents.views import VIEWS, View
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.tree import Tree
from tests.gates import (
    SPELLED,
    SUBJECTS,
    nameless,
    page,
    reading,
    trees,
)

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


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_latex_says_what_mathml_says(notation: str, subjects: tuple[str, ...]) -> None:
    bare = [*map(nameless, shown(notation, subjects))]
    # latex2mathml gives what stands above a bracketed matrix to its bracket alone
    bare = [tree for tree in bare if r"\end{array} \right]}^" not in latex(tree)]
    found = [disagreement(latex(tree), mathml(tree)) for tree in bare]
    assert len(found) > 50
    assert [each for each in found if each] == []


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
