"""The one vocabulary of attention, and the reader's choices by its names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from symattn.attention.norms import NORM_WORDS
from symattn.attention.presets import PRESETS
from symattn.attention.scoring import BIASES, SCORES, learned_of
from symattn.attention.sources import POSITIONS
from symattn.attention.words import COMMON, SIZES, Word
from symattn.derivations import Derivation
from symattn.errors import SymattnError, nearest, quote
from symattn.language.spec import Equations
from symattn.nodes.normalise import NORMALISERS
from symattn.notation import options
from symattn.notation.letters import CALLED, CHANGE, GRADIENT, LOSSES, sign

#: Every step and input of attention by its name: the common ones, and those of each row.
WORDS: Mapping[str, Word] = {
    word.name: word
    for word in (
        *COMMON,
        *NORM_WORDS,
        *(w for axis in (POSITIONS, SCORES, BIASES) for row in axis.values() for w in row.words),
        *(w for kind in NORMALISERS.values() for w in learned_of(kind)),
    )
}

#: The letter that each goes by.
SYMBOLS: Mapping[str, str] = {name: word.letter for name, word in WORDS.items()}


def is_learned(name: str) -> bool:
    """Whether what goes by a name is the same whatever the calculation."""
    return name in WORDS and WORDS[name].learned


_LETTERS = frozenset(SYMBOLS.values())
_STARTS = ((GRADIENT, "d_"), (GRADIENT, "d"), (CHANGE, "delta_"), (CHANGE, CHANGE))


def symbol_of(name: str) -> str | None:
    """The letter of a step or an input by its name or letter, gradients and changes included.

    >>> symbol_of("scores"), symbol_of("d_scores"), symbol_of("dS"), symbol_of("delta_dQ")
    ('S', 'dS', 'dS', 'δdQ')
    """
    if name in SYMBOLS or name in _LETTERS:
        return SYMBOLS.get(name, name)
    if name in LOSSES or name in LOSSES.values():
        return LOSSES.get(name, name)
    for prefix, start in _STARTS:
        rest = symbol_of(name.removeprefix(start)) if name.startswith(start) else None
        if rest is not None:
            return prefix + rest
    return None


@dataclass(frozen=True, repr=False)
class Notation(options.Notation):
    """The reader's choices; every output follows them.

    Those of `options.Notation`, where `symbols` are given by the name of a step or
    an input, a size, or an index or other letter (``row``, ``column``, ``sum``, ``head``,
    ``theta``, …): ``{"weights": "alpha", "d_k": "d_h", "row": "q"}``. ``weights[i,j]`` is the
    letter of the entries.

    >>> Notation(symbols={"weights": "P"}).symbols["A"]
    'P'
    """

    @classmethod
    def preset(cls, name: str, **choices: Any) -> Self:
        """The letters of a paper, a row of `PRESETS`, with some choices changed.

        Raises `SymattnError` for an unknown name.

        >>> Notation.preset("flash-attention").symbols["A"]
        'P'
        """
        return cls().lettered(name, choices.pop("symbols", {})).but(**choices)

    def lettered(self, preset: str | None, symbols: Mapping[str, str]) -> Self:
        """These choices with the letters of a paper, where one is named, and these symbols."""
        known: dict[str, Any] = dict(self.symbols)
        choices: dict[str, Any] = {}
        if preset is not None:
            rows = {row.name: row for row in PRESETS}
            if not isinstance(preset, str) or preset not in rows:
                raise SymattnError(f"no notation is called {quote(preset)}{nearest(preset, rows)}")
            known |= self._by_letter(rows[preset].symbols)
            choices = dict(rows[preset].choices)
        return self.but(**choices, symbols=known | {**self._by_letter(symbols)})

    def _by_letter(self, symbols: Mapping[str, str]) -> Mapping[str, str]:
        return {_key(name): symbol for name, symbol in symbols.items()}


def _key(name: str) -> str:
    """What `options.Notation` calls a matrix, a size or another letter."""
    whole, part = name, ""
    for suffix in ("[i,j]", "[head]"):
        if name.endswith(suffix):
            whole, part = name.removesuffix(suffix), suffix
    letter = symbol_of(whole)
    if letter is None and not part:
        letter = CALLED.get(name, name if name in (*SIZES, *CALLED.values()) else None)
    meaning = sign(name)
    if letter is None and meaning is not None:
        raise SymattnError(
            f"symbols: {name} is {meaning} in every notation and has no other letter; leave it out"
        )
    if letter is None:
        raise SymattnError(
            f"symbols: nothing is called {quote(name)}{nearest(name, (*SYMBOLS, *SIZES, *CALLED))}"
        )
    return f"{letter}{'[head]' if name == 'heads' else part}"


def equations(
    text: str, levels: Mapping[str, int] | None = None, base: Derivation | None = None
) -> Equations:
    """The equations of a text whose words name the steps of the field; see `Equations`."""
    facts = {step: word.facts for step, word in WORDS.items()}
    return Equations(text, {}, levels or {}, facts, SIZES, base)
