"""Entries as people name them: by symbols, ``s_12``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from symattn.notation.latex import latex
from symattn.notation.options import Notation
from symattn.notation.text import line as as_line
from symattn.notation.tree import Num

_SYMBOL = re.compile(
    r"(?P<base>.*?)(?:_\s*\{?(?P<below>[0-9]+(?:\s*,\s*[0-9]+)*)\}?"
    r"|(?P<small>[₀-₉]+(?:\s*,\s*[₀-₉]+)*))(?P<above>.*)\Z",
    re.DOTALL,
)
_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def symbol_key(text: str, letters: Mapping[str, str], notation: Notation) -> str | None:
    """The key of an entry that is named as it is printed: ``s_12``, ``s_{1,2}``, ``S₁₂``.

    `letters` are the steps by name. None for a text that names none of them.

    >>> symbol_key("a_{1,2}", {"weights": "A"}, Notation())
    'weights[1,2]'
    >>> symbol_key(r"\\alpha_{12}", {"weights": "A"}, Notation())
    'weights[1,2]'
    """
    if len(text) > 60 or "[" in text:
        return None
    match = _SYMBOL.match(text.strip().strip("$").strip())
    if match is None or not match["base"].strip():
        return None
    digits = (match["below"] or match["small"]).translate(_SMALL)
    index = [part.strip() for part in digits.split(",")] if "," in digits else list(digits)
    if len(index) != 2:
        return None
    around = match["base"] + match["above"]
    plain = _bare(f"{around}_{','.join(index)}")
    inner = re.search(r"\(([0-9]{1,4})\)", around.translate(_HEADS))
    head = inner[1] if inner else ""
    for name, letter in letters.items():
        if plain in _spellings(letter, head, tuple(index), notation):
            return f"{name}[{head}][{','.join(index)}]" if head else f"{name}[{','.join(index)}]"
    other = _OTHER_LETTERS.get(plain.partition("_")[0])
    return f"{other}[{','.join(index)}]" if other in letters else None


def is_known_letter(symbol: str, letters: Mapping[str, str], notation: Notation) -> bool:
    """Whether a symbol's letter is that of a step, whatever its index."""
    match = _SYMBOL.match(symbol.strip())
    if match is None:
        return True
    first = f"{match['base']}_{{1,1}}{match['above']}"
    return symbol_key(first, letters, notation) is not None


#: What else textbooks call a step's entries, where no step has that letter.
_OTHER_LETTERS = {"α": "weights", "alpha": "weights", "w": "weights", "e": "scores"}


_HEADS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾", "0123456789()")


@lru_cache(maxsize=4096)
def _spellings(letter: str, head: str, index: tuple[str, ...], notation: Notation) -> set[str]:
    """How an entry may be named: as it is printed, and with the matrix's own letter."""
    row, column = index
    tree = notation.entry(letter, Num(head) if head else None, (Num(row), Num(column)))
    matrix = (
        notation.letter(letter)
        if not head
        else notation.in_head(notation.letter(letter), Num(head))
    )
    below = f"_{row},{column}"
    forms = [as_line(tree), latex(tree), f"{as_line(matrix)}{below}", f"{latex(matrix)}{below}"]
    return {_bare(form) for form in forms}


def _bare(text: str) -> str:
    """A symbol without what does not tell it from others: braces, spaces, where its index is."""
    text = re.sub(r"\\(?=[A-Za-z])|\\,|[{}\s^]", "", text.translate(_HEADS).translate(_SMALL))
    match = re.match(r"(.*?)_([0-9]+,[0-9]+|[0-9]{2})(.*)\Z", text)
    if match is None:
        return text
    index = match[2] if "," in match[2] else ",".join(match[2])
    return f"{match[1]}{match[3]}_{index}"
