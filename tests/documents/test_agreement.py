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
from symattn.documents.shown import VIEWS, View
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.text import line, text
from symattn.notation.tree import Scheme, Tree
from tests.gates import (
    EXAMPLES,
    SPELLED,
    SUBJECTS,
    displays,
    inlines,
    nameless,
    names_of,
    page,
    reading,
    spelled,
    trees,
    without_phantoms,
)
from tests.written import latex_document, mathml_document, text_document

#: The views as documents show them: a few worked entries beside the rest, or all of them alone.
_VIEWS: tuple[tuple[View, ...], ...] = (VIEWS, ("worked",))

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾", "0123456789()")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORDS = re.compile(r"\\text\{(?:[^{}\\]|\\.)*\}")

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


def numbers_in_text(words: str) -> list[str]:
    """The numbers of the text spelling, in LaTeX's order: w^Q⁽¹⁾_12 has its indices first."""
    turned = re.sub(r"(\^\w)([⁰-⁹¹²³⁽⁾]+)_(\w+)", r"\1_\3\2", words)
    apart = re.sub("[⁰-⁹¹²³]+", r"^\g<0>^", turned)
    return _NUMBER.findall(apart.translate(_RAISED))


def numbers_in_latex(source: str) -> list[str]:
    """The numbers of a LaTeX formula, those in its words left out."""
    return _NUMBER.findall(_WORDS.sub(" ", without_phantoms(_RULES.sub(_unruled, source))))


def numbers_in_mathml(markup: str) -> list[str]:
    """The numbers of a MathML formula, those in its words left out."""
    said = reading(ElementTree.fromstring(markup), words=False)
    return _NUMBER.findall(said.replace("\u2063", ""))  # which stands between two indices


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


def test_names_stand_in_every_spelling() -> None:
    named = [tree for tree in shown("default") if names_of(tree)]
    assert len(named) > 20
    for tree in named:
        words = re.findall(r"\\text\{(.*?)\}", without_phantoms(latex(tree)))
        words = [word for word in words if word != " "]  # an empty corner
        assert tuple(words) == names_of(tree)
        tokens = {(each.text or "") for each in ElementTree.fromstring(mathml(tree)).iter()}
        assert set(names_of(tree)) <= tokens
        assert all(name in line(tree) or name in text(tree) for name in names_of(tree))


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_the_digits_agree(notation: str, subjects: tuple[str, ...]) -> None:
    differing = []
    for tree, subject in shown(notation, subjects).items():
        text, source, markup = line(tree), latex(tree), mathml(tree)
        words, digits = numbers_in_text(text), numbers_in_latex(source)
        # in a line of text a ∑ has its index alone, without "= 1" and the upper limit
        same = is_within(words, digits) if "∑" in markup else words == digits
        if isinstance(tree, Scheme):  # which a line of text tells one matrix after the other
            same = sorted(words) == sorted(digits)
        if not same or digits != numbers_in_mathml(markup):
            differing.append((subject, text, source))
    assert differing == []
    assert sum(len(numbers_in_text(line(tree))) for tree in shown(notation, subjects)) > 300


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


@pytest.mark.parametrize("subject", [path.stem for path in EXAMPLES])
def test_text_documents_show_the_same_digits(subject: str) -> None:
    text = re.sub(r"[^\d.]+", " ", text_document(page(subject)))
    values = [
        tree
        for section in page(subject).steps
        for tree in (each.tree for each in section.lines if each.view == "value")
    ]
    assert values
    for tree in values:
        digits = numbers_in_latex(latex(tree).partition("{array}")[2])
        assert {*digits} <= {*text.split()}


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


def test_numbers_are_found_in_order() -> None:
    assert numbers_in_text("w^Q⁽¹⁾_12 = 3·10⁹ + e^0.5/√2 − e⁰") == [
        "12",
        "1",
        "3",
        "10",
        "9",
        "0.5",
        "2",
        "0",
    ]
    assert numbers_in_latex(r"w_{12}^{Q(1)} \text{if 7\_} \frac{0.5}{2}") == ["12", "1", "0.5", "2"]
    assert numbers_in_mathml("<mfrac><mn>0.5</mn><mrow><mn>1</mn><mn>2</mn></mrow></mfrac>") == [
        "0.5",
        "12",
    ]
    assert is_within(["1", "3"], ["1", "2", "3"])
    assert not is_within(["3", "1"], ["1", "2", "3"])
