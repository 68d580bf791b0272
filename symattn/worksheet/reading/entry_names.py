"""What an entry is called: ``weights[1,2]``, counted and turned as its worksheet wants it.

Everything that names an entry to people asks here, so that no page mixes two ways of counting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from symattn.derivation import Evaluation, Place
from symattn.notation.options import Notation


def counted_place(place: Place, notation: Notation) -> tuple[int, ...]:
    """A place, (batch, head,) row and column from 0, as the reader counts and turns it.

    >>> counted_place((0, 1), Notation()), counted_place((0, 1), Notation(index_base=0))
    ((1, 2), (0, 1))
    >>> counted_place((0, 1), Notation(convention="columns"))
    (2, 1)
    """
    *head, row, column = place
    seen = (column, row) if notation.convention == "columns" else (row, column)
    return tuple(i + notation.index_base for i in (*head, *seen))


def entry_name(step: str, place: Place, notation: Notation) -> str:
    """An entry's name; `place` counts from 0, its rows being tokens.

    >>> entry_name("weights", (0, 1), Notation()), entry_name("heads", (1, 0, 0), Notation())
    ('weights[1,2]', 'heads[2,1,1]')
    """
    return f"{step}[{','.join(map(str, counted_place(place, notation)))}]"


def line_name(step: str, place: Place, notation: Notation) -> str:
    """The name of the row (of tokens) in which an entry stands.

    >>> line_name("weights", (0, 1), Notation())
    'weights[1,:]'
    >>> line_name("weights", (0, 1), Notation(convention="columns"))
    'weights[:,1]'
    """
    *head, _, _ = place
    first, second = map(str, counted_place(place, notation)[-2:])
    line = (":", second) if notation.convention == "columns" else (first, ":")
    return f"{step}[{','.join([*(str(i + notation.index_base) for i in head), *line])}]"


def called(evaluation: Evaluation, letter: str, place: Place) -> str:
    """An entry's name; in one item of a batch, with which item that is."""
    item = evaluation.item(letter)
    return entry_name(item.name, evaluation.place_of(letter, place), evaluation.notation)


def line_called(evaluation: Evaluation, letter: str, place: Place) -> str:
    """The name of the row in which an entry stands; in one item of a batch, with which item."""
    item = evaluation.item(letter)
    return line_name(item.name, evaluation.place_of(letter, place), evaluation.notation)


def leading(evaluation: Evaluation, letter: str, place: Place, notation: Notation) -> str:
    """The item of the batch and the head that a place lies in: ``batch 2, head 1``."""
    item, inside = evaluation.within(letter, place)
    words = [("batch", i) for i in item] + [("head", i) for i in inside[:-2]]
    return ", ".join(f"{word} {i + notation.index_base}" for word, i in words)


_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:cdot|times|left|right|%|[,;:! ])(?![A-Za-z])\s*")
_SIGNS = {"\\cdot": "·", "\\times": "×", "\\%": "%"}


def without_tex(text: str) -> str:
    """A number or a side of a worked line as sentences show it, without LaTeX's commands.

    >>> without_tex(r"1\\cdot 0 + 0\\cdot 1"), without_tex(r"33\\%"), without_tex(r"\\frac{1+2}{3}")
    ('1·0 + 0·1', '33%', '(1+2)/3')
    """
    if "\\" not in text:
        return text

    def apart(match: re.Match[str]) -> str:
        above, below = (
            f"({x.strip()})" if re.search(r"[-+−*/·\\ ]", x.strip()) else x.strip()
            for x in match.groups()
        )
        return f"{above}/{below}"

    text = _FRACTION.sub(apart, text)
    text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", text)
    plain = _COMMAND.sub(lambda match: _SIGNS.get(match[0].strip(), ""), text)
    return re.sub(r"\s*([·×])\s*", r"\1", plain)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, the first few of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    few = list(names[:most])
    if len(names) > most:
        few.append(f"{len(names) - most} more")
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"
