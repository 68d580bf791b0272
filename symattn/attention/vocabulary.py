"""The one vocabulary of attention, and the reader's choices by its names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symattn.attention.scoring import BIASES, SCORES, parameters_of
from symattn.attention.sources import POSITIONS
from symattn.attention.words import COMMON, Word
from symattn.errors import SymattnError, nearest, quote
from symattn.nodes.normalise import NORMALISERS
from symattn.notation import options
from symattn.notation.letters import CHANGE, GRADIENT

#: Every step and input of attention by its name: the common ones, and those of each row.
WORDS: Mapping[str, Word] = {
    word.name: word
    for word in (
        *COMMON,
        *(w for axis in (POSITIONS, SCORES, BIASES) for row in axis.values() for w in row.words),
        *(w for kind in NORMALISERS.values() for w in parameters_of(kind)),
    )
}

#: The letter that each goes by.
SYMBOLS: Mapping[str, str] = {name: word.letter for name, word in WORDS.items()}

_LETTERS = frozenset(SYMBOLS.values())
_STARTS = ((GRADIENT, "d_"), (GRADIENT, "d"), (CHANGE, "delta_"), (CHANGE, CHANGE))


def symbol_of(name: str) -> str | None:
    """The letter of a step or an input by its name or letter, gradients and changes included.

    >>> symbol_of("scores"), symbol_of("d_scores"), symbol_of("dS"), symbol_of("delta_dQ")
    ('S', 'dS', 'dS', 'δdQ')
    """
    if name in SYMBOLS or name in _LETTERS:
        return SYMBOLS.get(name, name)
    for prefix, start in _STARTS:
        rest = symbol_of(name.removeprefix(start)) if name.startswith(start) else None
        if rest is not None:
            return prefix + rest
    return None


@dataclass(frozen=True)
class Notation(options.Notation):
    """The reader's choices; every output follows them.

    Those of `symattn.notation.options.Notation`, where `symbols` may be given by the name of a
    step or an input: ``{"weights": "alpha"}``.

    >>> Notation(symbols={"weights": "P"}).symbols["A"]
    'P'
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        letters = {}
        for name, symbol in self.symbols.items():
            letter = symbol_of(name)
            if letter is None:
                raise SymattnError(
                    f"symbols: no step is called {quote(name)}{nearest(name, SYMBOLS)}"
                )
            letters[letter] = symbol
        self._keep("symbols", letters)
