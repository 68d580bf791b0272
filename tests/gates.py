"""Checks that the format tests share: what MathML Core allows, how LaTeX divides into formulas.

The tables are written from the MathML Core specification, not from the package that is tested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from symattn import VARIANTS, Notation
from symattn.derivation import Derivation, Evaluation
from symattn.documents.outline import Outline, Section, outline
from symattn.notation.tree import Tree
from symattn.worksheet import read_worksheet

EXAMPLES = tuple(sorted((Path(__file__).parent.parent / "examples").glob("*.toml")))

#: What is spelled: every example with its numbers and every named variant in symbols.
SUBJECTS = tuple(path.stem for path in EXAMPLES) + tuple(f"variant {row.name}" for row in VARIANTS)

_PLAIN_SYMBOLS = {"weights": "alpha", "Q": "W_Q", "W_Q": "P_Q", "output": "Y", "projected": "G"}
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
    "mixed": Notation(
        convention="columns", index_base=0, transpose="⊤", exact=True, symbols=_LATEX_SYMBOLS
    ),
}

_MATHML = "http://www.w3.org/1998/Math/MathML"
_XHTML = "http://www.w3.org/1999/xhtml"
_TOKENS = {"mi", "mn", "mo", "mtext"}
_ANY = (0, 10**9)

#: The elements of MathML Core that a formula may use, with the fewest and most children.
_CHILDREN: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("mi", "mn", "mo", "ms", "mtext", "mspace"), (0, 0)),
    **dict.fromkeys(("math", "mrow", "msqrt", "mstyle", "mpadded", "mphantom"), _ANY),
    **dict.fromkeys(("mtable", "mtr"), (1, 10**9)),
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), (2, 2)),
    **dict.fromkeys(("msubsup", "munderover"), (3, 3)),
    "mtd": _ANY,
}
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
}
_SPECIAL: dict[str, dict[str, str]] = {
    "math": {"display": "block|inline", "alttext": r"[^\x00-\x1f]*\S[^\x00-\x1f]*"},
    "mi": {"mathvariant": "normal"},
    "mo": {
        "form": "prefix|infix|postfix",
        **dict.fromkeys(("lspace", "rspace", "minsize", "maxsize"), _LENGTH),
        **dict.fromkeys(
            ("fence", "separator", "stretchy", "symmetric", "largeop", "movablelimits"), _BOOLEAN
        ),
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
    return row.spec.derivation(title=f"{row.name}: {row.about}"), None


@cache
def page(subject: str, notation: str = "default") -> Outline:
    """What the document of a subject says."""
    derivation, evaluation = derived(subject)
    return outline(derivation, evaluation, notation=NOTATIONS[notation])


def sections(shown: Outline) -> Iterator[Section]:
    """The sections of a document, in order."""
    yield from shown.given
    yield from shown.steps


def trees(shown: Outline) -> Iterator[Tree]:
    """Every formula of a document, in order: those in the sentences too."""
    for section in sections(shown):
        yield from (part for part in (*section.why, *section.shape) if not isinstance(part, str))
        yield from (each.tree for each in section.lines)


def mathml_faults(document: str) -> list[str]:
    """What is wrong with the XML of a document; nothing for sound MathML Core."""
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        return [f"not XML: {error}"]
    return [*_html_faults(root)]


def _html_faults(element: Element) -> Iterator[str]:
    if element.tag == f"{{{_MATHML}}}math":
        yield from _element_faults(element, "")
        if not element.get("alttext", "").strip():
            yield "math without alttext"
        return
    if element.tag not in {f"{{{_XHTML}}}{name}" for name in ("div", "h2", "h3", "p")}:
        yield f"{element.tag} outside math"
    yield from (f"{element.tag} {key}" for key in element.attrib if key != "class")
    for child in element:
        yield from _html_faults(child)


def _element_faults(element: Element, parent: str) -> Iterator[str]:
    namespace, _, name = element.tag.rpartition("}")
    if namespace != f"{{{_MATHML}" or name not in _CHILDREN:
        yield f"{element.tag} is not MathML Core"
        return
    fewest, most = _CHILDREN[name]
    if not fewest <= len(element) <= most:
        yield f"{name} with {len(element)} children"
    if (name == "math") != (parent == ""):
        yield f"{name} in {parent or 'nothing'}"
    needed = {"mtable": "mtr", "mtr": "mtd"}
    if needed.get(parent, name) != name or (name in needed.values() and parent not in needed):
        yield f"{name} in {parent}"
    if name == "mtable" and len({len(line) for line in element}) > 1:
        yield "mtable with lines of unequal length"
    yield from _text_faults(element, name)
    allowed = _GLOBAL | _SPECIAL.get(name, {})
    for key, value in element.attrib.items():
        if key not in allowed or not re.fullmatch(allowed[key], value):
            yield f"{name} {key}={value!r}"
    for child in element:
        yield from _element_faults(child, name)


def _text_faults(element: Element, name: str) -> Iterator[str]:
    text = element.text or ""
    if name not in _TOKENS:
        loose = text + "".join(child.tail or "" for child in element)
        if loose.strip():
            yield f"{name} holds the bare text {loose.strip()!r}"
    elif name == "mn" and not re.fullmatch(r"\d+(\.\d+)?", text):
        yield f"mn holds {text!r}"
    elif name in ("mi", "mo") and not text.strip():
        yield f"{name} is empty"
    if "-" in text and name in ("mn", "mo"):
        yield f"{name} holds a hyphen for a minus"


def displays(document: str) -> list[str]:
    r"""The formulas between ``\[`` and ``\]``; a line break ``\\[2pt]`` is no formula."""
    return re.findall(r"(?<!\\)\\\[\n(.*?)\n\\\]", document, re.DOTALL)


def inlines(document: str) -> list[str]:
    """The formulas between dollars in the sentences; an escaped dollar is no formula."""
    rest = re.sub(r"(?<!\\)\\\[\n.*?\n\\\]", "", document, flags=re.DOTALL)
    return re.findall(r"(?<!\\)\$(.+?)(?<!\\)\$", rest, re.DOTALL)


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def numbers_in_text(words: str) -> list[str]:
    """The numbers of the Unicode spelling; a raised number is a number of its own."""
    apart = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", r"^\g<0>^", words)
    return _NUMBER.findall(apart.translate(_SUPERSCRIPTS))


def numbers_in_latex(latex: str) -> list[str]:
    r"""The numbers of a LaTeX formula, without those in the words of ``\text``."""
    return _NUMBER.findall(re.sub(r"\\text\{(?:[^{}\\]|\\.)*\}", " ", latex))


def numbers_in_mathml(mathml: str) -> list[str]:
    """The numbers of a MathML element, without those in its words."""
    return _NUMBER.findall(reading(ElementTree.fromstring(mathml), words=False))


def is_within(part: list[str], whole: list[str]) -> bool:
    """Whether `part` is what is left of `whole` when some of it is struck out."""
    rest = iter(whole)
    return all(each in rest for each in part)


def reading(element: Element, words: bool = True) -> str:
    """The tokens of a formula in order with fractions, scripts, roots and cells marked.

    Rows dissolve; what stands under and over a ∑ reads as its scripts do.
    """
    name = element.tag.rpartition("}")[2]
    if name in _TOKENS:
        return "" if name == "mtext" and not words else (element.text or "")
    parts = [reading(child, words) for child in element]
    if name in ("math", "mrow", "mstyle"):
        return "".join(parts)
    script = {"munder": "msub", "mover": "msup", "munderover": "msubsup"}
    return f"{script.get(name, name)}({'|'.join(parts)})"
