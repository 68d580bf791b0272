"""Letters and choices as options name them: ``weights=P``, ``vaswani``, ``layout=falk``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from symattn.attention.vocabulary import Notation
from symattn.errors import SymattnError, quote
from symattn.notation.options import SPELLED, displayed

#: A comma that is not in brackets.
_COMMA = re.compile(r",(?![^\[]*\])")


@dataclass(frozen=True)
class Spelling:
    """What ``--notation`` asks for: the letters of a paper, choices in words, and letters."""

    preset: str | None
    choices: Mapping[str, str]
    symbols: Mapping[str, str]

    @classmethod
    def read(cls, texts: Iterable[str]) -> Spelling:
        """Each text names papers, choices and letters. Raises `SymattnError` for two papers.

        >>> Spelling.read(["vaswani", "layout=falk,weights[i,j]=p"])
        Spelling(preset='vaswani', choices={'layout': 'falk'}, symbols={'weights[i,j]': 'p'})
        """
        every = [part for text in texts for part in _COMMA.split(text)]
        presets = [text for text in every if "=" not in text]
        if len(presets) > 1:
            raise SymattnError(f"--notation {presets[1]}: the letters are those of {presets[0]}")
        named = read_symbols(text for text in every if "=" in text)
        choices = {name: word for name, word in named.items() if name in SPELLED}
        symbols = {name: letter for name, letter in named.items() if name not in SPELLED}
        return cls(presets[0] if presets else None, choices, symbols)

    def of(self, usual: Notation) -> Notation:
        """A notation with what is asked for changed. Raises `SymattnError` for what it has not."""
        return displayed(usual, self.choices).lettered(self.preset, self.symbols)


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
