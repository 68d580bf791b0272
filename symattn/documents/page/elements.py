"""HTML, escaped by construction: words become text, and only `Markup` stands as it is.

A page is built of calls, not of strings, so that no word of a worksheet can become markup.
"""

from __future__ import annotations

import re

from symattn.notation.latex import escape_controls
from symattn.notation.mathml import INVISIBLE_COMMA, math, mathml, without_intent
from symattn.notation.prose import Prose
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.printable import in_markup

_VOID = ("br", "hr", "input", "link", "meta")

#: MathML comes with its alignment in a style, which a page under a strict policy says in classes.
_STYLE = re.compile(r' style="text-align:([a-z]+)[^"]*"')
_NAMESPACE = re.compile(r' xmlns="[^"]*"')


class Markup(str):
    """Text that is HTML already."""


def el(tag: str, *children: str, **attributes: str | int | bool | None) -> Markup:
    """An element; ``class_`` is class, ``data_m`` is data-m, None and False leave one out.

    >>> el("p", "1 < 2", class_="a")
    '<p class="a">1 &lt; 2</p>'
    """
    written = []
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            written.append(f" {name}")
        elif value is not None and value is not False:
            written.append(f' {name}="{in_markup(escape_controls(str(value)))}"')
    start = f"<{tag}{''.join(written)}>"
    return Markup(start if tag in _VOID else f"{start}{joined(*children)}</{tag}>")


def joined(*children: str) -> Markup:
    """Markup as it is, and everything else as text."""
    return Markup(
        "".join(x if isinstance(x, Markup) else in_markup(escape_controls(x)) for x in children)
    )


def compact(markup: str) -> str:
    """MathML without what it has for speech alone: a page has the plain alternative for that."""
    return without_intent(markup).replace(INVISIBLE_COMMA, "").replace(' fence="true"', "")


def formula(tree: Tree, display: bool = False) -> Markup:
    """A formula in MathML Core with its plain alternative, without what takes room on a page."""
    markup = compact(math(tree, alttext=line(tree), display=display))
    markup = markup.replace(' display="inline"', "")  # as it is without
    return Markup(_STYLE.sub(r' class="\1"', _NAMESPACE.sub("", markup)))


def inside(tree: Tree) -> str:
    """What a formula's `math` element holds."""
    return _STYLE.sub(r' class="\1"', compact(mathml(tree)))


def prose(parts: Prose) -> Markup:
    """A sentence with its formulas."""
    return joined(*(part if isinstance(part, str) else formula(part) for part in parts))
