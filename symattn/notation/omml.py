"""The notation tree read as Office MathML, the formulas of Word (ECMA-376, part 1, section 22.1).

A word (``softmax``) is one run of normal text, a ∑ takes what it sums into itself, a matrix is a
matrix with its brackets as a delimiter. There are no rules in a matrix: the names of rows and
columns are a row and a column of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symattn.errors import CannotSpell
from symattn.notation import tree as t
from symattn.notation.latex import escape_controls, is_tall
from symattn.notation.mathml import NBSP, converted
from symattn.notation.tree import Tree
from symattn.printable import in_markup

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"

#: Where what a ∑ sums ends: at these signs of the row that it stands in.
_ENDS = (t.EQUALS, t.APPROX, t.COMMA, t.GAP)

_UPRIGHT, _BOLD, _WORDS = '<m:sty m:val="p"/>', '<m:sty m:val="b"/>', "<m:nor/>"
_SIDES = {"r": "right", "l": "left", "c": "center"}
#: Room between formulas, and about a mark; others than these blanks pandoc and LibreOffice lose.
_GAP, _THIN = NBSP * 6, NBSP


def omml(tree: Tree) -> str:
    """The formula as an ``m:oMath`` element, whose prefix the host has to declare."""
    return f"<m:oMath>{_omml(tree)}</m:oMath>"


def _omml(tree: Tree) -> str:
    match tree:
        case t.Num(digits):
            return _run(digits, _UPRIGHT)
        case t.Ident(name, roman):
            return _run(name, _WORDS if len(name) > 1 else _UPRIGHT if roman else "")
        case t.Op(symbol):
            return _operator(symbol)
        case t.Row(items):
            return _row(items)
        case t.Script(base, sub, sup):
            return _sum(sub, sup, "") if base == t.SUM else _script(base, sub, sup)
        case t.Frac(num, den):
            return f"<m:f>{_part('num', num)}{_part('den', den)}</m:f>"
        case t.Root(body):
            hidden = '<m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>'
            return f"<m:rad>{hidden}{_part('e', body)}</m:rad>"
        case t.Fenced(t.Grid() as grid, _, _) if grid.labelled:
            return _matrix(t.ruled(grid))
        case t.Fenced(body, left, right):
            return _fenced(body, left, right)
        case t.Text(words):
            return _run(escape_controls(words) or NBSP, _WORDS)
        case t.Custom(latex):
            return _element(converted(latex))
        case t.Marked(mark, body):
            return _omml(mark) + _omml(body)
        case t.Picked(body, True):
            return f"<m:borderBox>{_part('e', body)}</m:borderBox>"
        case t.Picked(body):
            return _omml(body).replace(_UPRIGHT, _BOLD)
        case t.Grid() | t.Scheme():
            return _matrix(t.ruled(tree))
    raise t.no_tree(tree)


def _run(characters: str, style: str) -> str:
    """Characters in one style; without one a letter is a variable, in italics."""
    if not characters:
        return ""
    kind = f"<m:rPr>{style}</m:rPr>" if style else ""
    return f'<m:r>{kind}<m:t xml:space="preserve">{in_markup(characters)}</m:t></m:r>'


def _part(name: str, tree: Tree | None) -> str:
    return f"<m:{name}>{'' if tree is None else _omml(tree)}</m:{name}>"


def _operator(symbol: str) -> str:
    if symbol in (t.TIMES.symbol, t.APPLY.symbol):
        return ""
    return _run(_GAP, _WORDS) if symbol == t.GAP.symbol else _run(symbol, _UPRIGHT)


def _row(items: Sequence[Tree]) -> str:
    out = ""
    for index, item in enumerate(items):
        if isinstance(item, t.Script) and item.base == t.SUM:
            behind = items[index + 1 :]
            end = next((k for k, each in enumerate(behind) if each in _ENDS), len(behind))
            summed, left = _row(behind[:end]), _row(behind[end:])
            return f"{out}{_sum(item.sub, item.sup, summed)}{left}"
        if item == t.TIMES and any(map(_is_apart, items[max(index - 1, 0) : index + 2])):
            out += _run(_THIN, _WORDS)  # 2 cos(x), not 2cos(x); dS K
        else:
            out += _omml(item)
    return out


def _is_apart(tree: Tree) -> bool:
    return isinstance(tree, t.Marked) or (isinstance(tree, t.Ident) and tree.roman)


def _sum(sub: Tree | None, sup: Tree | None, body: str) -> str:
    hidden = (("sub", sub), ("sup", sup))
    hide = "".join(f'<m:{name}Hide m:val="1"/>' for name, script in hidden if script is None)
    kind = f'<m:naryPr><m:chr m:val="∑"/><m:limLoc m:val="undOvr"/>{hide}</m:naryPr>'
    return f"<m:nary>{kind}{_part('sub', sub)}{_part('sup', sup)}<m:e>{body}</m:e></m:nary>"


def _script(base: Tree, sub: Tree | None, sup: Tree | None) -> str:
    if sub is None and sup is None:
        return _omml(base)
    scripts = [(name, each) for name, each in (("sub", sub), ("sup", sup)) if each is not None]
    kind = "s" + "".join(name.capitalize() for name, _ in scripts)
    inside = "".join(_part(name, each) for name, each in scripts)
    return f"<m:{kind}>{_part('e', base)}{inside}</m:{kind}>"


def _fenced(body: Tree, left: str, right: str) -> str:
    grow = "" if is_tall(body) else '<m:grow m:val="0"/>'
    kind = f'<m:dPr><m:begChr m:val="{left}"/><m:endChr m:val="{right}"/>{grow}</m:dPr>'
    return f"<m:d>{kind}{_part('e', body)}</m:d>"


def _matrix(table: t.Ruled) -> str:
    columns = "".join(
        f'<m:mc><m:mcPr><m:count m:val="1"/><m:mcJc m:val="{_SIDES[side]}"/></m:mcPr></m:mc>'
        for side in table.align
    )
    kind = f'<m:mPr><m:plcHide m:val="1"/><m:mcs>{columns}</m:mcs></m:mPr>'
    lines = ("".join(_cell(*cell) for cell in line) for line in table.levelled)
    return f"<m:m>{kind}{''.join(f'<m:mr>{line}</m:mr>' for line in lines)}</m:m>"


def _cell(cell: Tree, figures: str) -> str:
    """A cell, and behind it the figures that it lacks, which are not seen.

    An empty one holds a blank: LibreOffice takes none without, nor a relation without its sides.
    """
    hide = '<m:phantPr><m:show m:val="0"/></m:phantPr>'
    unseen = f"<m:phant>{hide}<m:e>{_run(figures, _UPRIGHT)}</m:e></m:phant>" if figures else ""
    return f"<m:e>{_run(NBSP, _WORDS) if cell == t.EMPTY else _omml(cell)}{unseen}</m:e>"


#: MathML's elements with parts, and what they and their parts are called here.
_WITH_PARTS = {
    "msub": ("sSub", ("e", "sub")),
    "msup": ("sSup", ("e", "sup")),
    "msubsup": ("sSubSup", ("e", "sub", "sup")),
}

#: The combining characters by which Word knows the accents of a symbol.
_ACCENTS = {"^": "\u0302", "~": "\u0303", "¯": "\u0305", "→": "\u20d7"}


def _element(element: Element) -> str:
    """A symbol that came as LaTeX, through MathML: letters, scripts and accents."""
    words = element.text or ""
    children = [*map(_element, element)]
    match element.tag:
        case "mi" if element.get("mathvariant") != "normal":
            return _run(words, "")
        case "mi" | "mn" | "mo":
            return _run(words, _UPRIGHT)
        case "mrow":
            return "".join(children)
        case "mover" if element[1].text in _ACCENTS:
            kind = f'<m:accPr><m:chr m:val="{_ACCENTS[element[1].text]}"/></m:accPr>'
            return f"<m:acc>{kind}<m:e>{children[0]}</m:e></m:acc>"
        case name if name in _WITH_PARTS:
            kind, parts = _WITH_PARTS[name]
            pairs = zip(parts, children, strict=True)
            inside = "".join(f"<m:{part}>{child}</m:{part}>" for part, child in pairs)
            return f"<m:{kind}>{inside}</m:{kind}>"
    raise CannotSpell(f"a symbol with <{element.tag}> has no form in Word; use a simpler symbol")
