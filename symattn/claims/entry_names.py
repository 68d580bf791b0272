"""What an entry is called: ``weights[1,2]``, counted and turned as its worksheet wants it.

Everything that names an entry to people asks here, so that no page mixes two ways of counting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from symattn.derivations import Evaluation, Place
from symattn.greek import GREEK
from symattn.notation.options import Notation

#: An index, a range of them, or a size.
Each = TypeVar("Each")


def turned(place: tuple[Each, ...], notation: Notation) -> tuple[Each, ...]:
    """A place, or a shape, of rows of tokens as it is printed; one that is printed, turned back.

    >>> turned((3, 1, 2), Notation(convention="columns"))
    (3, 2, 1)
    """
    *lead, row, column = place
    return (*lead, column, row) if notation.convention == "columns" else place


def counted_place(place: Place, notation: Notation) -> tuple[int, ...]:
    """A place, (batch, head,) row and column from 0, as the reader counts and turns it.

    >>> counted_place((0, 1), Notation()), counted_place((0, 1), Notation(index_base=0))
    ((1, 2), (0, 1))
    >>> counted_place((0, 1), Notation(convention="columns"))
    (2, 1)
    """
    return tuple(i + notation.index_base for i in turned(place, notation))


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
    *head, first, second = map(str, counted_place(place, notation))
    line = (":", second) if notation.convention == "columns" else (first, ":")
    return f"{step}[{','.join((*head, *line))}]"


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


#: A fraction, a root, an upright word, an exponent or an index whose braces hold no others.
_GROUPED = re.compile(
    r"\\[dt]?frac\s*\{(?P<above>[^{}]*)\}\s*\{(?P<below>[^{}]*)\}"
    r"|\\sqrt\s*\{(?P<root>[^{}]*)\}"
    r"|\\(?:mathrm|operatorname|text|mathbf)\s*\{(?P<word>[^{}]*)\}"
    r"|(?P<script>[\^_])\s*\{(?P<inside>[^{}]*)\}"
)
_COMMAND = re.compile(r"\\(?:(?P<name>[A-Za-z]+)|[,;:! ]|(?P<sign>[%{}]))\s*")
_SIGNS = {"cdot": "·", "times": "×", "infty": "∞", "sqrt": "√", "left": "", "right": ""}


def without_tex(text: str) -> str:
    """A number or a side of a worked line as sentences show it, without LaTeX's commands.

    >>> without_tex(r"1\\cdot 0 + 0\\cdot 1"), without_tex(r"33\\%"), without_tex(r"\\frac{1+2}{3}")
    ('1·0 + 0·1', '33%', '(1+2)/3')
    >>> without_tex(r"\\frac{4.5}{\\sqrt{2}}"), without_tex(r"\\frac{e^{0.5}}{e^{0.5}+e^{1}}")
    ('4.5/√2', 'e^0.5/(e^0.5+e^1)')
    """
    if "\\" not in text and "{" not in text:
        return text

    def joined(part: str, signs: str) -> str:
        part = part.strip()
        return f"({part})" if re.search(rf"[{signs}\\ ]", part) else part

    def apart(match: re.Match[str]) -> str:
        if match["above"] is not None:
            above, below = (joined(match[key], "-+−*/·") for key in ("above", "below"))
            return f"{above}/{below}"
        if match["root"] is not None:
            return f"√{joined(match['root'], '-+−*/·^')}"
        if match["word"] is not None:
            return match["word"]
        return f"{match['script']}{joined(match['inside'], '-+−*/·^,')}"

    before = ""
    while before != text:  # from the innermost braces outwards
        before, text = text, _GROUPED.sub(apart, text)
    plain = _COMMAND.sub(
        lambda match: match["sign"] or _SIGNS.get(match["name"] or "", _word(match["name"])), text
    )
    return re.sub(r"\s*([·×])\s*", r"\1", plain)


def _word(name: str | None) -> str:
    """What a command is called, a Greek letter by itself: exp, α."""
    return GREEK.get(name, name) if name else ""


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, the first few of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    few = list(names[:most])
    if len(names) > most:
        few.append(f"{len(names) - most} more")
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"
