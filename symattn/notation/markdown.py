"""Words in Markdown, with nothing in them that Markdown or HTML would take for markup."""

from __future__ import annotations

import re

from symattn.notation.latex import escape_controls

_MARKUP = "\\`*_{}[]<>#|~$!&"


def words(text: str) -> str:
    r"""The text on one line, its markup escaped.

    >>> print(words("a_1 *is* the <b>"))
    a\_1 \*is\* the \<b\>
    """
    plain = re.sub(r"\s+", " ", escape_controls(text))
    return "".join(f"\\{letter}" if letter in _MARKUP else letter for letter in plain)
