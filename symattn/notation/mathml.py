"""The notation tree read as MathML Core.

One ``mi`` for a function's name with U+2061 behind it, one ``mrow`` with two stretchy fences for
a bracketed matrix, styles in CSS, nothing outside MathML Core. For those who hear a formula there
is an invisible comma between two indices, and an `intent` (MathML 4) where the signs alone would
be read wrongly: a transpose, a head, a matrix, cases.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from symattn.errors import CannotSpell
from symattn.notation import tree as t
from symattn.notation.latex import escape_controls, is_tall
from symattn.notation.tree import Tree
from symattn.printable import in_markup

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAMESPACE = "http://www.w3.org/1998/Math/MathML"

#: The elements of a symbol that came as LaTeX, with how many children each must have (None: any).
ELEMENTS: dict[str, int | None] = {
    "math": None,
    "mrow": None,
    "mi": 0,
    "mn": 0,
    "mo": 0,
    "mtext": 0,
    "mspace": 0,
    "mfrac": 2,
    "msqrt": None,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "msubsup": 3,
    "munder": 2,
    "mover": 2,
    "munderover": 3,
    "mtable": None,
    "mtr": None,
    "mtd": None,
    "mstyle": None,
}

_ALIGN = {
    "r": "text-align:right;text-align:-webkit-right",
    "l": "text-align:left;text-align:-webkit-left",
    "c": "text-align:center;text-align:-webkit-center",
}
NBSP = "\u00a0"

#: What stands in an empty cell and beside a relation at the edge of one, for LibreOffice.
_BLANK = f"<mtext>{NBSP}{NBSP}</mtext>"

#: What stands between two indices, unseen: s_12 is no s with index twelve.
INVISIBLE_COMMA = "<mo>\u2063</mo>"
_TAG = re.compile(r"<\w+")
_TRANSPOSES = (t.Ident("T"), t.Op("⊤"), t.Op("′"))
_INTENT = re.compile(r' (?:intent|arg)="[^"<>]*"')


def math(tree: Tree, alttext: str, display: bool = True, source: str = "") -> str:
    """A whole ``math`` element, with the spoken or plain alternative in `alttext`.

    `source` is its LaTeX, which is what somebody copies who copies the formula.
    """
    kind = "block" if display else "inline"
    alternative = in_markup(escape_controls(alttext))
    body = mathml(tree)
    if source:
        note = f'<annotation encoding="application/x-tex">{in_markup(source)}</annotation>'
        body = f"<semantics>{body}{note}</semantics>"
    return f'<math xmlns="{NAMESPACE}" display="{kind}" alttext="{alternative}">{body}</math>'


def without_intent(markup: str) -> str:
    """Markup without `intent`, which the checkers of HTML do not know yet."""
    return _INTENT.sub("", markup)


def mathml(tree: Tree) -> str:
    """The tree as one MathML element, without the ``math`` around it."""
    match tree:
        case t.Num(digits):
            return f"<mn>{digits}</mn>"
        case t.Ident(name, roman):
            upright = ' mathvariant="normal"' if roman and len(name) == 1 else ""
            return f"<mi{upright}>{escape(name)}</mi>"
        case t.Op(symbol):
            return _operator(symbol, prefix=False)
        case t.Row(items):
            return f"<mrow>{_row(items)}</mrow>"
        case t.Script(base, sub, sup):
            return _script(base, sub, sup)
        case t.Frac(num, den):
            return f"<mfrac>{mathml(num)}{mathml(den)}</mfrac>"
        case t.Root(body):
            return f"<msqrt>{mathml(body)}</msqrt>"
        case t.Fenced(t.Grid() as grid, _, _) if grid.labelled:
            return f'<mrow><mspace width="0.25em"/>{_ruled(t.ruled(grid), "array")}</mrow>'
        case t.Fenced(body, left, right):
            inner = _row(body.items) if isinstance(body, t.Row) else mathml(body)
            tall = is_tall(body)  # Chromium sets blanks about a stretched bracket
            before, behind = _fence(left, "prefix", tall), _fence(right, "postfix", tall)
            return f"<mrow>{before}{inner}{behind}</mrow>"
        case t.Grid():
            return _ruled(t.ruled(tree), "cases" if tree.align == "l" else "matrix")
        case t.Text(words):
            # a plain blank at either end would be lost
            return f"<mtext>{in_markup(escape_controls(words)).replace(' ', NBSP)}</mtext>"
        case t.Custom(latex):
            from xml.etree import ElementTree  # start-up time

            return ElementTree.tostring(converted(latex), encoding="unicode")
        case t.Marked(mark, body):
            return f"<mrow>{mathml(mark)}{mathml(body)}</mrow>"
        case t.Picked(body, boxed):
            # an outline takes no room
            style = "outline:1px solid;outline-offset:2px" if boxed else "font-weight:bold"
            return f'<mrow style="{style}">{mathml(body)}</mrow>'
        case t.Scheme():
            return _ruled(t.ruled(tree), "array")
    raise t.no_tree(tree)


def _row(items: tuple[Tree, ...]) -> str:
    out = ""
    for index, item in enumerate(items):
        if isinstance(item, t.Op):
            if item == t.TIMES and _is_apart(items, index):
                out += f'<mo rspace="0.167em">{item.symbol}</mo>'  # 2 cos(x), not 2cos(x); dS K
            else:
                out += _operator(item.symbol, prefix=t.is_sign(items, index))
        else:
            out += mathml(item)
    return out


def _is_apart(items: tuple[Tree, ...], place: int) -> bool:
    """Whether a factor behind this place, or one about it, would be read with what is before."""
    behind = items[place + 1 : place + 2]
    about = (*items[max(place - 1, 0) : place], *behind)
    roman = any(isinstance(item, t.Ident) and item.roman for item in behind)
    return roman or any(isinstance(item, t.Marked) for item in about)


def _operator(symbol: str, prefix: bool) -> str:
    if symbol == "∞":
        return "<mi>∞</mi>"
    if symbol == t.GAP.symbol:
        return '<mspace width="2em"/>'
    form = ' form="prefix"' if prefix else ""
    if symbol == "/":  # Chromium sets blanks about it
        form = ' lspace="0" rspace="0"'
    return f"<mo{form}>{escape(symbol)}</mo>"


def _fence(fence: str, form: str, tall: bool) -> str:
    if not fence:
        return ""
    return f'<mo fence="true" form="{form}" stretchy="{str(tall).lower()}">{escape(fence)}</mo>'


def _script(base: Tree, sub: Tree | None, sup: Tree | None) -> str:
    under = base == t.SUM
    whole = mathml(base)
    if sub is sup is None:
        return whole
    below = "" if sub is None else _indices(sub)
    above = "" if sup is None else mathml(sup)
    low, high = ("under", "over") if under else ("sub", "sup")
    name = f"m{low if below else ''}{high if above else ''}"
    intent, above = ("", above) if under else _intent(sup, above)
    if intent:
        whole, below = _argument("m", whole), _argument("i", below)
        matrix = "_($m,_sub,$i)" if below else "$m"
        intent = f' intent="{intent.replace("$m", matrix)}"'
    return f"<{name}{intent}>{whole}{below}{above}</{name}>"


def _intent(sup: Tree | None, markup: str) -> tuple[str, str]:
    """How a superscript is read that is no power: a transpose, a head; and its elements."""
    match sup:
        case t.Fenced(_, "(", ")"):
            return "_($m,_of,_head,$h)", _argument("h", markup)
        case t.Row((t.Fenced(_, "(", ")") as head, sign)) if sign in _TRANSPOSES:
            written = mathml(head)
            named = markup.replace(written, _argument("h", written), 1)
            return "transpose(_($m,_of,_head,$h))", named
    return ("transpose($m)" if sup in _TRANSPOSES else ""), markup


def _indices(sub: Tree) -> str:
    """A subscript; between indices that stand side by side is an invisible comma."""
    if isinstance(sub, t.Row) and all(isinstance(part, t.Ident | t.Num) for part in sub.items):
        return f"<mrow>{INVISIBLE_COMMA.join(map(mathml, sub.items))}</mrow>"
    return mathml(sub)


def _argument(name: str, element: str) -> str:
    """An element, if it is one, that an `intent` can name."""
    return _TAG.sub(rf'\g<0> arg="{name}"', element, count=1)


def _ruled(table: t.Ruled, kind: str) -> str:
    """A table with a rule each way, where it has any; `kind` is how it is to be read."""
    rule = "1px solid"
    lines = []
    for number, line in enumerate(table.levelled, 1):
        cells = []
        for column, (cell, figures) in enumerate(line, 1):
            style = [_ALIGN[table.align[column - 1]]]
            style += [f"border-bottom:{rule}"] * (number == table.above)
            style += [f"border-right:{rule}"] * (column == table.before)
            unseen = f"<mphantom><mtext>{figures}</mtext></mphantom>" if figures else ""
            body = _BLANK if cell == t.EMPTY else mathml(cell).replace("<mtext></mtext>", _BLANK)
            cells.append(f'<mtd style="{";".join(style)}">{body}{unseen}</mtd>')
        lines.append(f"<mtr>{''.join(cells)}</mtr>")
    return f'<mtable intent=":{kind}">{"".join(lines)}</mtable>'


@lru_cache(maxsize=256)
def converted(latex: str) -> Element:
    """A symbol that came as LaTeX, through latex2mathml, and only if the result is sound."""
    from xml.etree import ElementTree  # start-up time

    from latex2mathml.converter import convert  # start-up time

    root = ElementTree.fromstring(convert(latex))  # noqa: S314  from a short whitelist
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        expected = ELEMENTS.get(element.tag, -1)
        if element.get("mathvariant") == "bold-italic":
            _embolden(element)
        variant = element.attrib.get("mathvariant", "normal")
        empty = element.tag in ("mi", "mo", "mn") and not (element.text or "").strip()
        if (expected is not None and expected != len(element)) or variant != "normal" or empty:
            raise CannotSpell(
                f"the symbol {latex!r} has no valid MathML form; use a simpler symbol"
            )
    root.tag, root.attrib = "mrow", {}
    return root


def _embolden(element: Element) -> None:
    r"""\boldsymbol as MathML Core has it: by the letter's own character, where there is one."""
    kind, _, letter = unicodedata.name(element.text or "", "").partition(" LETTER ")
    name = f"MATHEMATICAL BOLD ITALIC {kind.split()[-1]} {letter}" if letter else ""
    try:
        element.text = unicodedata.lookup(name)
    except KeyError:
        return
    del element.attrib["mathvariant"]
