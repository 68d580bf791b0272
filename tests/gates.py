"""Checks that the format tests share: what is spelled, MathML Core, how LaTeX divides.

The tables are written from the MathML Core specification, not from the package that is tested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from symattn import VARIANTS, Notation
from symattn.derivations import Derivation, Evaluation
from symattn.documents import blocks as b
from symattn.documents.outline import Outline, derivation_document, outline
from symattn.documents.shown import Shown
from symattn.documents.views import VIEWS, View
from symattn.notation.tree import Fenced, Grid, Row, Scheme, Tree
from symattn.sheets.worksheet import read_worksheet
from tests import ROOT

EXAMPLES = tuple(sorted((ROOT / "examples").glob("*.toml")))

#: The worksheet whose digits tests know; examples may change with what their readers ask for.
CAUSAL = ROOT / "tests" / "data" / "causal.toml"

#: What is spelled: every example with its numbers and every named variant in symbols.
SUBJECTS = tuple(path.stem for path in EXAMPLES) + tuple(f"variant {row.name}" for row in VARIANTS)

_PLAIN_SYMBOLS = {"weights": "alpha", "Q": "W_Q", "W_Q": "J_Q", "output": "Y", "projected": "J"}
_LATEX_SYMBOLS = {
    "weights": r"\mathbf{A}",
    "X": r"\tilde{X}",
    "K": r"\hat{K}",
    "W_V": r"\mathbf{W}^V",
    "scores": r"\Sigma",
}

#: The reader's choices under which everything is spelled.
NOTATIONS: dict[str, Notation] = {
    "default": Notation(),
    "columns": Notation(convention="columns"),
    "from 0": Notation(index_base=0),
    "top": Notation(transpose="⊤"),
    "prime": Notation(transpose="'"),
    "plain symbols": Notation(symbols=_PLAIN_SYMBOLS),
    "LaTeX symbols": Notation(symbols=_LATEX_SYMBOLS),
    "exact": Notation(exact=True),
    "short": Notation(limit=3, digits=2),
    "falk": Notation(layout="falk"),
    "mixed": Notation(
        convention="columns",
        index_base=0,
        transpose="⊤",
        exact=True,
        symbols=_LATEX_SYMBOLS,
        layout="falk",
    ),
}


def some_subjects(turn: int, of: int) -> tuple[str, ...]:
    """Of the examples every twelfth, of the variants every `of`-th, from `turn` on."""
    return SUBJECTS[turn % 12 : len(EXAMPLES) : 12] + SUBJECTS[len(EXAMPLES) + turn :: of]


#: What is spelled in which notation: every sixteenth variant in the usual one, and a few of them in
#: each of the others; in the nightly run all in all.
SPELLED = [
    pytest.param("default", some_subjects(0, 16), id="default"),
    *(
        pytest.param(notation, some_subjects(turn, 2 * len(NOTATIONS)), id=notation)
        for turn, notation in enumerate([*NOTATIONS][1:])
    ),
    *(
        pytest.param(notation, SUBJECTS, id=f"{notation}, all", marks=pytest.mark.nightly)
        for notation in NOTATIONS
    ),
]

#: Words that must never become markup or commands.
HOSTILE_TITLE = r"<b>100 % \input{x} & $y$ #1 a_b ^ ~ { } \end{document} élève"
HOSTILE_LABELS = (
    "<script>",
    r"\input{x}",
    "$",
    "a & b % c # d_e ^ ~ { }",
    '"quotes"',
    "élève à Noël, ça naïf",
    "[4pt]",
    "a--b",
    "why?`",
    "l'été | hiver",
)

#: Symbols at the edge: each is refused with a reason, or can be spelled everywhere.
ODD_SYMBOLS = (
    *(
        r"\mathbf",
        r"\hat",
        r"\mathbf{}",
        r"\hat\hat{A}",
        r"\bar_A",
        r"\mathbf AB",
        r"\mathbf\alpha",
    ),
    *(r"\boldsymbol{\alpha}", r"\mathrm{soft W}", r"\tilde{\mathbf{Q}}", r"\bar{A}^2_1'", r"\ell"),
    *("A_B_C", "A''^2", "A^{B}^{C}", "A{}_{B}_{C}", "_A", "^2", "A^'", "A^_B", "A_^B", "A_{_B}"),
    *("A^{}", "{}", "'A", "A B", "A,B", "A'", "A*", "(A)", "A)(", "+", "12", "1_A", "{A}{B}"),
)

_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_TOKENS = {"mi", "mn", "mo", "ms", "mtext"}
_SENTENCES = {
    *("div", "section", "h1", "h2", "h3", "h4", "p", "span", "em", "strong", "code", "ul", "li"),
}

#: What else the attributes of an element may be: what is wide can be scrolled by its keys.
_SCROLLED = {"class": "worked wide", "tabindex": "0"}
_ANY = (0, 10**9)

#: The elements of MathML Core that a formula may use, with the fewest and most children.
_CHILDREN: dict[str, tuple[int, int]] = {
    **dict.fromkeys((*_TOKENS, "mspace"), (0, 0)),
    **dict.fromkeys(("math", "mrow", "msqrt", "mstyle", "mpadded", "mphantom", "mtd"), _ANY),
    **dict.fromkeys(("mtable", "mtr"), (1, 10**9)),
    "annotation": (0, 0),
    **dict.fromkeys(("semantics", "mfrac", "mroot", "msub", "msup", "munder", "mover"), (2, 2)),
    **dict.fromkeys(("msubsup", "munderover"), (3, 3)),
}
_NESTING = {"mtable": "mtr", "mtr": "mtd"}

#: An intent of MathML 4: what a table is, or a concept of the elements that are its arguments.
_ARGUMENTS = r"\(((\$[a-z]|_[a-z]+|_\([^()]*\)),?)+\)"
_INTENT = rf":[a-z]+|transpose\((\$[a-z]|_{_ARGUMENTS})\)|_{_ARGUMENTS}"
_BOOLEAN = "true|false"
_LENGTH = r"[+-]?[0-9]*\.?[0-9]+(em|ex|px|pt|%)|0"
_STYLE = r"([a-z-]+:[a-z0-9 #.%-]+)(;[a-z-]+:[a-z0-9 #.%-]+)*"

#: Attributes of every element, and of single ones, with what their values look like.
_GLOBAL = {
    "class": r"[\w -]+",
    "id": r"\S+",
    "dir": "ltr|rtl",
    "style": _STYLE,
    "displaystyle": _BOOLEAN,
    "scriptlevel": r"[+-]?\d+",
    "intent": _INTENT,
    "arg": "[a-z]",
}
_OWN: dict[str, dict[str, str]] = {
    "math": {"display": "block|inline", "alttext": r"[^\x00-\x1f]+"},
    "annotation": {"encoding": "application/x-tex"},
    "mi": {"mathvariant": "normal"},
    "mo": {
        "form": "prefix|infix|postfix",
        **dict.fromkeys(("lspace", "rspace", "minsize", "maxsize"), _LENGTH),
        **dict.fromkeys(("fence", "separator", "stretchy", "symmetric"), _BOOLEAN),
        **dict.fromkeys(("largeop", "movablelimits"), _BOOLEAN),
    },
    "mspace": dict.fromkeys(("width", "height", "depth"), _LENGTH),
    "mpadded": dict.fromkeys(("width", "height", "depth", "lspace", "voffset"), _LENGTH),
    "mfrac": {"linethickness": _LENGTH},
    "munder": {"accentunder": _BOOLEAN},
    "mover": {"accent": _BOOLEAN},
    "munderover": {"accent": _BOOLEAN, "accentunder": _BOOLEAN},
    "mtd": {"columnspan": r"\d+", "rowspan": r"\d+"},
}


@cache
def derived(subject: str) -> tuple[Derivation, Evaluation | None]:
    """The derivation of a subject, with its values where it is an example."""
    for path in EXAMPLES:
        if path.stem == subject:
            sheet = read_worksheet(path)
            derivation = sheet.derivation()
            return derivation, sheet.evaluate(derivation)
    row = next(row for row in VARIANTS if f"variant {row.name}" == subject)
    return row.spec.derivation(title=f"{row.title}: {row.about}"), None


@cache
def page(subject: str, notation: str = "default", *views: View) -> Outline:
    """What the document of a subject says; in all views unless some are named."""
    derivation, evaluation = derived(subject)
    return outline(
        Shown(derivation, evaluation, notation=NOTATIONS[notation], views=views or VIEWS)
    )


def labelled(folder: Path, title: str, labels: Sequence[str]) -> Outline:
    """The outline of a worksheet with any title and any tokens at all."""
    rows = [[index, 1] for index in range(len(labels))]
    lines = [f"title = {json.dumps(title)}", f"attention.tokens = {json.dumps(list(labels))}"]
    path = folder / "labelled.toml"
    path.write_text("\n".join(lines + [f"given.{name} = {rows}" for name in "QKV"]), "utf-8")
    sheet = read_worksheet(path)
    derivation = sheet.derivation()
    notes = tuple(labels)
    return outline(
        Shown(derivation, sheet.evaluate(derivation), notation=Notation(limit=0), notes=notes)
    )


def trees(shown: Outline) -> Iterator[Tree]:
    """Every formula of a document in order, those in the sentences too."""
    for words, displayed in spelled(derivation_document(shown).blocks):
        yield from (part for part in words if isinstance(part, Tree))
        yield from displayed


def spelled(blocks: Sequence[b.Block]) -> Iterator[tuple[b.Words, list[Tree]]]:
    """The sentence and the displayed formulas of each block of a derivation, in order."""
    for block in blocks:
        match block:
            case b.Section(_, inside):
                yield from spelled(inside)
            case b.List(items):
                yield from ((item.words, []) for item in items)
            case b.Formulas(lines, words, size):
                yield (*words, *size), [each.tree for each in lines]
            case b.Worked(_, Row(items)):  # which some formats cut at its relation
                yield (), [Row(items[:1]), Row(items[1:])]


def mathml_faults(document: str) -> list[str]:
    """What is wrong with a document of sentences and formulas; nothing for sound MathML Core."""
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        return [f"not XML: {error}"]
    return [*_html_faults(root)]


def _html_faults(element: Element) -> Iterator[str]:
    if element.tag == f"{_MATHML}math":
        yield from _element_faults(element, "")
        if not element.get("alttext", "").strip():
            yield "math without alttext"
        return
    name = element.tag.removeprefix(_XHTML)
    if name not in _SENTENCES:
        yield f"{name} outside math"
    if element.attrib != _SCROLLED:
        yield from (f"{name} {key}" for key in element.attrib if key not in ("class", "id", "lang"))
    for child in element:
        yield from _html_faults(child)


def _element_faults(element: Element, parent: str) -> Iterator[str]:
    name = element.tag.removeprefix(_MATHML)
    if name not in _CHILDREN or name == element.tag:
        yield f"{element.tag} is not MathML Core"
        return
    fewest, most = _CHILDREN[name]
    if not fewest <= len(element) <= most:
        yield f"{name} with {len(element)} children"
    if (name == "math") != (parent == ""):
        yield f"{name} in {parent or 'nothing'}"
    if _NESTING.get(parent, name) != name or (name in ("mtr", "mtd") and parent not in _NESTING):
        yield f"{name} in {parent}"
    if name == "mtable" and len({len(line) for line in element}) > 1:
        yield "mtable with lines of unequal length"
    yield from _text_faults(element, name)
    yield from _intent_faults(element, name)
    allowed = _GLOBAL | _OWN.get(name, {})
    for key, value in element.attrib.items():
        if key not in allowed or not re.fullmatch(allowed[key], value):
            yield f"{name} {key}={value!r}"
    for child in element:
        yield from _element_faults(child, name)


def _intent_faults(element: Element, name: str) -> Iterator[str]:
    """What an intent names and no element below it is; LaTeX that stands elsewhere than last."""
    for argument in re.findall(r"\$([a-z])", element.get("intent", "")):
        if not any(child.get("arg") == argument for child in element.iter()):
            yield f"{name} has no argument {argument!r}"
    tags = [child.tag.removeprefix(_MATHML) for child in element]
    if (name == "semantics") != ("annotation" in tags) or "annotation" in tags[:-1]:
        yield f"annotation in {name}"


def _text_faults(element: Element, name: str) -> Iterator[str]:
    text = element.text or ""
    if name == "annotation":
        if not text.strip():
            yield "annotation is empty"
    elif name not in _TOKENS:
        loose = text + "".join(child.tail or "" for child in element)
        if loose.strip():
            yield f"{name} holds the bare text {loose.strip()!r}"
    elif name == "mn" and not re.fullmatch(r"\d+(\.\d+)?", text):
        yield f"mn holds {text!r}"
    elif name in ("mi", "mo") and not text.strip():
        yield f"{name} is empty"
    elif name == "mo" and "-" in text:
        yield "mo holds a hyphen for a minus"
    elif text != text.strip(" \t\n\r"):
        yield f"{name} {text!r} loses its outer blanks"


def nameless(tree: Tree) -> Tree:
    """A formula with the names of rows and columns left off its matrices."""
    match tree:
        case Grid():
            return replace(tree, row_labels=(), column_labels=())
        case Fenced():
            return replace(tree, body=nameless(tree.body))
        case Row():
            return Row(tuple(map(nameless, tree.items)))
        case Scheme():
            parts = (tree.first, tree.second, tree.product)
            bare = (
                replace(p, grid=replace(p.grid, row_labels=(), column_labels=())) for p in parts
            )
            return Scheme(*bare)
    return tree


def displays(document: str) -> list[str]:
    r"""The formulas between ``\[`` and ``\]``."""
    return re.findall(r"^\\\[\n(.*?)\n\\\]$", document, re.DOTALL | re.MULTILINE)


def inlines(document: str) -> list[str]:
    """The formulas between dollars in the sentences; an escaped dollar opens none."""
    rest = re.sub(r"^\\\[\n.*?\n\\\]$", "", document, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"(?<!\\)\$(.+?)(?<!\\)\$", rest, re.DOTALL)


def reading(element: Element, words: bool = True) -> str:
    """The tokens of a formula in order, with fractions, scripts, roots and cells marked.

    Rows dissolve; what stands under and over a ∑ reads as scripts do. A script behind brackets
    reads as one of the closing bracket, which is how LaTeX sets it.
    """
    name = element.tag.rpartition("}")[2]
    if name in _TOKENS:
        return "" if name == "mtext" and not words else (element.text or "")
    if name in ("mspace", "mphantom"):  # a gap is no token
        return ""
    parts = [reading(child, words) for child in element]
    if name in ("math", "mrow", "mstyle"):
        return "".join(parts)
    if name in ("mtd", "msqrt"):
        return f"{name}({''.join(parts)})"
    name = {"munder": "msub", "mover": "msup", "munderover": "msubsup"}.get(name, name)
    before = ""
    if name.startswith("ms") and parts[0].endswith((")", "]", "}")) and len(element[0]) > 1:
        before, parts[0] = parts[0][:-1], parts[0][-1]
    return f"{before}{name}({'|'.join(parts)})"
