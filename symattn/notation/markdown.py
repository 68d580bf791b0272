"""Words and formulas in Markdown, with nothing in them that Markdown or HTML would take for markup.

A formula between dollars stands in two languages: what sets it reads TeX, and what knows no
formulas reads Markdown. So its words are escaped for TeX first (`symattn.notation.latex.text`), and
then `inert` takes out what they would mean in Markdown.
"""

from __future__ import annotations

import re

from symattn.notation.latex import escape_controls

_MARKUP = "\\`*_{}[]<>#|~$!&"

#: How a line begins that is an item, a rule, a comment or a block of MyST or Quarto.
_LINE_START = re.compile(
    r"^( ?)(?:(?=[-+](?:[ +-]|$)|%|:::)|(\(?(?:\d+|[ivxlcdm]+|[a-z]))(?=[.)](?: |$)))",
    re.IGNORECASE,
)

#: The signs of what GitHub takes for an address or a picture, and pandoc for a power.
_ADDRESS = re.compile(
    r"(?<=[a-z]):(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.|[@^]|:(?=[a-z0-9_+\\-]+:)", re.IGNORECASE
)

#: The words of a formula, as `symattn.notation.latex.text` writes them.
_WORDS = re.compile(r"(?<!\\)\\text\{([^{}]*)\}")

#: Between two signs that are not to stand side by side.
_LINK = re.compile(
    r"""
    (?<=\])(?=[\[(:])       # a link
    | (?<=!)(?=\[)          # an image
    | (?<=\[)(?=[\[^@!])    # a note, a citation
    | (?<=:)(?=[^\s}]) | (?<=/)(?=/) | (?<=www)(?=\.) | (?=@) | (?<=@)  # an address, an emoji
    """,
    re.VERBOSE | re.IGNORECASE,
)

#: Signs of Markdown for which TeX has another name.
_SIGNS = {"*": r"{\ast}", "`": r"{\grave{}}"}


def words(text: str) -> str:
    r"""The text on one line, its markup escaped.

    >>> print(words("a_1 *is* the <b>"))
    a\_1 \*is\* the \<b\>
    """
    plain = re.sub(r"\s+", " ", escape_controls(text))
    escaped = "".join(f"\\{letter}" if letter in _MARKUP else letter for letter in plain)
    return _ADDRESS.sub(lambda sign: f"&#{ord(sign[0])};", escaped)


def opening(line: str) -> str:
    r"""Markdown at the start of a line, where what is written begins no list, rule or comment.

    >>> print(opening("1. one"), opening("- two"))
    1\. one \- two
    """
    return _LINE_START.sub(r"\1\2\\", line)


def inert(tex: str) -> str:
    r"""A formula that reads the same in TeX, and of which Markdown makes no link, image or code.

    >>> print(inert(r"\text{[c](x)} & \text{[CLS]}"))
    \text{[c]}\text{(x)} & \text{[CLS]}
    """
    found: list[str] = []
    end = 0
    for word in _WORDS.finditer(tex):
        found += [_LINK.sub(" ", tex[end : word.start()]), _inert_words(word[1])]
        end = word.end()
    return "".join([*found, _LINK.sub(" ", tex[end:])])


def _inert_words(text: str) -> str:
    r"""Words in as many ``\text`` as there are places where two signs may not meet."""
    pieces = (piece for part in _LINK.split(text) for piece in re.split("([*`])", part))
    return "".join(_SIGNS.get(piece, rf"\text{{{piece}}}") for piece in pieces if piece or not text)
