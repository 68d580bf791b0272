"""Symbols as options of a command or a directive name them: ``weights=P``, ``weights[i,j]=p``."""

from __future__ import annotations

from collections.abc import Iterable

from symattn.errors import SymattnError, quote


def read_symbols(texts: Iterable[str]) -> dict[str, str]:
    """The symbols by name. Raises `SymattnError` for a text without a sign of equality.

    >>> read_symbols(["weights=P", "d_k = d_h"])
    {'weights': 'P', 'd_k': 'd_h'}
    """
    out = {}
    for text in texts:
        name, sign, symbol = text.partition("=")
        if not sign or not name.strip() or not symbol.strip():
            raise SymattnError(f"symbol {quote(text)}: name a letter and its symbol: weights=P")
        out[name.strip()] = symbol.strip()
    return out
