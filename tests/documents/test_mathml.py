"""MathML: sound XML, MathML Core and nothing else, every formula with a plain alternative."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn import VARIANTS, Notation, SymattnError
from symattn.documents import mathml as mathml_writer
from symattn.documents.outline import derivation_document, outline
from symattn.documents.page import static
from symattn.documents.shown import Shown
from symattn.notation.latex import latex
from symattn.notation.mathml import math, mathml, without_intent
from symattn.notation.tree import Fenced, Grid, Ident, Num, Op, Row, Script, Text, Tree
from tests.gates import (
    HOSTILE_LABELS,
    HOSTILE_TITLE,
    ODD_SYMBOLS,
    SPELLED,
    labelled,
    mathml_faults,
    page,
    trees,
)
from tests.written import mathml_document

_MATH = "{http://www.w3.org/1998/Math/MathML}"


@pytest.mark.parametrize(("notation", "subjects"), SPELLED)
def test_documents_are_sound(notation: str, subjects: tuple[str, ...]) -> None:
    faults: dict[str, list[str]] = {}
    for subject in subjects:
        shown = page(subject, notation)
        document = mathml_document(shown)
        faults[subject] = mathml_faults(document)
        found = ElementTree.fromstring(document).findall(f".//{_MATH}math")
        assert len(found) == len([*trees(shown)]) > 5
    assert {subject: found for subject, found in faults.items() if found} == {}


_SOUND = (
    '<div xmlns="http://www.w3.org/1999/xhtml" class="symattn"><h2>Title</h2><p>'
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block" alttext="x = 1"><mrow>'
    '<mi>x</mi><mo>=</mo><mo fence="true" form="prefix" stretchy="true">[</mo><mtable>'
    '<mtr><mtd style="text-align:right"><mn>1</mn></mtd><mtd><mn>2.5</mn></mtd></mtr>'
    "<mtr><mtd><mrow><mo>−</mo><mi>∞</mi></mrow></mtd><mtd><mtext>a-b</mtext></mtd></mtr></mtable>"
    "<munderover><mo>∑</mo><mi>l</mi><mi>n</mi></munderover><msub><mi>x</mi><mi>l</mi></msub>"
    "<msubsup><mi>x</mi><mi>i</mi><mi>Q</mi></msubsup><msup><mi>K</mi><mi>T</mi></msup>"
    "<mfrac><mn>1</mn><msqrt><mi>d</mi></msqrt></mfrac></mrow></math> "
    '<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="Vᵀ"><semantics>'
    '<msup intent="transpose($m)"><mi arg="m">V</mi><mi>T</mi></msup>'
    '<annotation encoding="application/x-tex">V^{T}</annotation></semantics></math></p></div>'
)


def test_a_sound_document_has_no_faults() -> None:
    assert mathml_faults(_SOUND) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("<mfrac><mn>1</mn>", "<mfrac>", "mfrac with 1 children"),
        ("</msub>", "<mi>x</mi></msub>", "msub with 3 children"),
        ("</msup>", "<mi>x</mi></msup>", "msup with 3 children"),
        ("<mi>Q</mi>", "", "msubsup with 2 children"),
        ("<mo>∑</mo>", "", "munderover with 2 children"),
        ("<mn>1</mn>", "<mn>1<mi>a</mi></mn>", "mn with 1 children"),
        ("<mn>1</mn>", "<mn>-1</mn>", "mn holds '-1'"),
        ("<mo>−</mo>", "<mo>-</mo>", "mo holds a hyphen"),
        ("<mi>x</mi>", "<mi></mi>", "mi is empty"),
        ("a-b", "if ", "mtext 'if ' loses its outer blanks"),
        ("<mrow>", "<mrow>x", "mrow holds the bare text 'x'"),
        ("msqrt>", "mfenced>", "mfenced is not MathML Core"),
        ("<msqrt>", '<msqrt xmlns="">', "msqrt is not MathML Core"),
        ("<mi>l</mi>", "<math/>", "math in munderover"),
        ("</mtr>", "", "not XML"),
        ("mtr>", "mrow>", "mrow in mtable"),
        ("</?mtr>", "", "mtd in mtable"),
        ("</?mtable>", "", "mtr in mrow"),
        ("<mtd><mn>2.5</mn></mtd>", "", "mtable with lines of unequal length"),
        ('stretchy="true"', 'stretchy="yes"', "mo stretchy='yes'"),
        ("<mfrac>", '<mfrac bevelled="true">', "mfrac bevelled='true'"),
        ("<mi>K</mi>", '<mi mathvariant="bold">K</mi>', "mi mathvariant='bold'"),
        ("<mi>K</mi>", '<mi onclick="f()">K</mi>', "mi onclick"),
        ("text-align:right", "background:url(x)", "mtd style="),
        ('display="block"', 'display="large"', "math display='large'"),
        ("x = 1", " ", "math without alttext"),
        ('alttext="x = 1"', "", "math without alttext"),
        ('arg="m"', "", "msup has no argument 'm'"),
        ("transpose.*m[)]", "transpose($m", "msup intent='transpose($m'"),
        ("V.{T}</ann", "</ann", "annotation is empty"),
        ("application/x-tex", "text/html", "annotation encoding='text/html'"),
        ("</?semantics>", "", "annotation in math"),
        ("Title", "&", "not XML"),
        ("Title", "<script>f()</script>", "script outside math"),
        ("<h2>", '<h2 onclick="f()">', "h2 onclick"),
    ],
)
def test_a_spoilt_document_is_noticed(old: str, new: str, fault: str) -> None:
    spoilt, count = re.subn(old, new, _SOUND)
    assert count > 0
    found = mathml_faults(spoilt)
    assert any(fault in each for each in found), found


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    document = mathml_document(labelled(tmp_path, HOSTILE_TITLE, HOSTILE_LABELS))
    assert mathml_faults(document) == []
    root = ElementTree.fromstring(document)
    assert root[0].text == HOSTILE_TITLE
    words = [(element.text or "").replace("\u00a0", " ") for element in root.iter(f"{_MATH}mtext")]
    assert {*HOSTILE_LABELS} <= {*words}
    assert [element.text for element in root[-len(HOSTILE_LABELS) :]] == [*HOSTILE_LABELS]


@given(st.text())
def test_any_words_can_stand_in_a_formula(words: str) -> None:
    root = ElementTree.fromstring(math(Text(words), words))
    assert [element.tag for element in root.iter()] == [f"{_MATH}math", f"{_MATH}mtext"]
    shown = root[0].text or ""
    assert len(shown) == len(words)
    changed = {(old, new) for old, new in zip(words, shown, strict=True) if old != new}
    assert not any(old.isprintable() for old, new in changed - {(" ", "\u00a0")})


@pytest.mark.parametrize("symbol", ODD_SYMBOLS)
def test_a_symbol_is_refused_or_sound(symbol: str) -> None:
    derivation = VARIANTS[0].spec.derivation()
    try:
        notation = Notation(symbols={"weights": symbol})
    except SymattnError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert mathml_faults(mathml_document(outline(Shown(derivation, notation=notation)))) == []
    assert refusal == "" or f'"{symbol}"' in refusal


def test_a_formula_that_is_copied_gives_its_latex() -> None:
    shown = page("two_heads")
    formulas = ElementTree.fromstring(mathml_document(shown)).iter(f"{_MATH}math")
    found = [formula.findtext(f"{_MATH}semantics/{_MATH}annotation") for formula in formulas]
    assert [" ".join(each.split()) for each in found if each] == [*map(latex, trees(shown))]
    assert len(found) > 20


_K, _HEAD = Ident("K"), Fenced(Ident("h"))


@pytest.mark.parametrize(
    ("tree", "intent", "named"),
    [
        (Script(_K, None, Ident("T")), "transpose($m)", {"m": "K"}),
        (Script(_K, None, Op("⊤")), "transpose($m)", {"m": "K"}),
        (Script(_K, Ident("u"), Ident("T")), "transpose(_($m,_sub,$i))", {"m": "K", "i": "u"}),
        (Script(_K, None, _HEAD), "_($m,_of,_head,$h)", {"m": "K", "h": "(h)"}),
        (
            Script(_K, None, Row((_HEAD, Ident("T")))),
            "transpose(_($m,_of,_head,$h))",
            {"m": "K", "h": "(h)"},
        ),
        (Script(_K, None, Num("2")), None, {}),
        (Script(Op("∑"), None, Ident("T")), None, {}),
        (Grid(((Num("1"),),)), ":matrix", {}),
        (Grid(((Num("1"),),), align="l"), ":cases", {}),
    ],
)
def test_what_would_be_read_wrongly_says_what_it_is(
    tree: Tree, intent: str | None, named: dict[str, str]
) -> None:
    element = ElementTree.fromstring(mathml(tree))
    assert element.get("intent") == intent
    found = {
        each.attrib["arg"]: "".join(each.itertext())
        for each in element.iter()
        if "arg" in each.attrib
    }
    assert found == named
    assert "intent" not in without_intent(mathml(tree)) + str(found)


def test_two_indices_are_no_number() -> None:
    twelve, both = (Script(Ident("s"), sub) for sub in (Num("12"), Row((Num("1"), Num("2")))))
    assert "<mn>12</mn>" in mathml(twelve)
    assert "<mn>1</mn><mo>\u2063</mo><mn>2</mn>" in mathml(both)


def test_a_page_that_is_checked_as_html_has_no_intent() -> None:
    document = derivation_document(page("causal"))
    assert ' intent="transpose' in mathml_writer.write([document])
    assert ' intent="' not in static.write([document])
    assert "<annotation " in static.write([document])
