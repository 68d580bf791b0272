"""What people name: ``weights[1,2]``, ``weights[2][1,:]``, ``W_Q[1]``, and symbols: ``s_12``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from symattn.claims.entry_names import turned
from symattn.derivations import Evaluation, Place
from symattn.errors import ReadError, quote
from symattn.notation.latex import latex
from symattn.notation.options import Notation, Typed
from symattn.notation.text import line as as_line
from symattn.notation.tree import Num

_REFERENCE = re.compile(
    r"(?P<step>[A-Za-z_][A-Za-z0-9_]{0,39}'{0,3})(?P<index>(?:\[[^\[\]]{1,40}\]){0,6})\Z"
)
_INDEX = re.compile(r"[0-9]{1,5}\Z", re.ASCII)
_RANGE = re.compile(r"([0-9]{0,5})\s*:\s*([0-9]{0,5})\Z", re.ASCII)
_SYMBOL = re.compile(
    r"(?P<base>.*?)(?:_\s*\{?(?P<below>[0-9]+(?:\s*,\s*[0-9]+)*)\}?"
    r"|(?P<small>[₀-₉]+(?:\s*,\s*[₀-₉]+)*))(?P<above>.*)\Z",
    re.DOTALL,
)

#: An entry of a matrix whose head stands below: [Q_2]_12.
_BRACKETED = re.compile(
    r"(?P<base>\[[^\[\]]*\])\s*_\s*\{?(?P<below>[0-9]+(?:\s*,\s*[0-9]+)*)\}?(?P<small>)(?P<above>[^_]*)\Z"
)
_HEAD, _HEAD_BELOW = re.compile(r"\(([0-9]{1,4})\)"), re.compile(r"_\s*\{?([0-9]{1,4})\}?")
_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


@dataclass(frozen=True)
class Reference:
    """A step, one head of it, rows, columns or an entry, as somebody names it.

    `index` has an index, a range ``1:2`` or ``:`` for each axis, the outermost first: (item,
    head,) row, column; axes at the end may be left out, unless a comma stands between two.
    """

    text: str
    step: str
    index: tuple[str, ...] = ()
    has_comma: bool = False

    @property
    def head(self) -> int | None:
        """The only index, where that is one number: the head of ``W_Q[1]``."""
        return int(self.index[0]) if len(self.index) == 1 and _INDEX.match(self.index[0]) else None

    def within(
        self, shape: Sequence[int], has_heads: bool, base: int = 1
    ) -> tuple[int | slice, ...]:
        """The index from 0 in an array of this shape, for indices that count from `base`.

        Raises `ReadError` where there is no such place.
        """
        if len(self.index) > len(shape) or (self.has_comma and len(self.index) < len(shape)):
            example = self._example(shape, base)
            raise ReadError(f"{self.text}: {self.step} is {size_of(shape)}; {example}")
        heads = ("head",) if has_heads else ()
        axes = (*("item",) * (len(shape) - 2 - len(heads)), *heads, "row", "column")
        index = [self._along(*axis, base) for axis in zip(self.index, shape, axes, strict=False)]
        return (*index, *(slice(None) for _ in shape[len(index) :]))

    def _example(self, shape: Sequence[int], base: int) -> str:
        if len(shape) == 2:
            return f'write "{self.step}[{base},:]"'
        leads = "".join(f"[{base}]" for _ in shape[:-2])
        return f'write "{self.step}[{base}]" or "{self.step}{leads}[{base + 1},:]"'

    def _along(self, index: str, size: int, axis: str, base: int) -> int | slice:
        """One index, or a range with its last one included, along an axis of this size."""
        last = size - 1 + base
        span = _RANGE.match(index)
        known = f"{axis}s are {base} to {last} (index_base = {base})"
        if index == ":":
            return slice(None)
        if span is not None:
            start = int(span[1]) if span[1] else base
            stop = int(span[2]) if span[2] else last
            if not base <= start <= stop <= last:
                raise ReadError(f"{self.text}: no {axis}s {index}: {known}")
            return slice(start - base, stop - base + 1)
        if _INDEX.match(index) and base <= int(index) <= last:
            return int(index) - base
        number = index if index.isdigit() else quote(index)
        raise ReadError(f"{self.text}: no {axis} {number}: {known}")


def read_reference(text: str, where: str = "") -> Reference:
    """What ``weights[2][1,:]`` names. Raises `ReadError` for a text that is no reference.

    >>> read_reference("weights[2][1,:]").index
    ('2', '1', ':')
    """
    found = reference_in(text)
    if found is None:
        raise ReadError(
            f"{quote(text)}{where} names no entry; write e.g. weights[1,2], or weights[2][1,2] "
            "for head 2"
        )
    return found


def reference_in(text: str) -> Reference | None:
    """As `read_reference`; None for a text that is no reference."""
    match = _REFERENCE.match(text)
    if match is None:
        return None
    groups = [group.split(",") for group in match["index"][1:-1].split("][")]
    index = tuple(word.strip() for group in groups for word in group)
    has_comma = any(len(group) > 1 for group in groups)
    return Reference(text, match["step"], () if index == ("",) else index, has_comma)


def named(text: str, evaluation: Evaluation, notation: Notation) -> Reference:
    """What ``weights[2][1,:]``, or an entry as it is printed, ``a_12``, names in an evaluation.

    Raises `ReadError` for a text that names nothing.
    """
    letters = {name: evaluation[name].step.letter for name in evaluation}
    return symbol_reference(text, letters, notation) or read_reference(text)


def entry_at(reference: Reference, evaluation: Evaluation, notation: Notation) -> tuple[str, Place]:
    """The step, and the place in its array, of one entry.

    It is counted and turned as the notation has it. Raises `ReadError` (or another `SymattnError`)
    for what is no entry of the derivation.
    """
    value, index = evaluation[reference.step], _index_in(reference, evaluation, notation)
    place = tuple(i for i in index if isinstance(i, int))
    if len(place) < len(index):
        base = notation.index_base
        example = f"{value.name}{f'[{base}]' * (len(index) - 2)}[{base},{base + 1}]"
        raise ReadError(f"{reference.text} is more than one entry; write e.g. {example}")
    return value.name, place


def entries_of(
    reference: Reference, evaluation: Evaluation, notation: Notation
) -> tuple[str, list[Place]]:
    """The step, and the places in its array, of an entry, a row or a column: ``weights[3][2,:]``.

    Raises as `entry_at` does, also for a matrix.
    """
    value, index = evaluation[reference.step], _index_in(reference, evaluation, notation)
    axes = [
        [*range(size)[one]] if isinstance(one, slice) else [one]
        for one, size in zip(index, value.shape, strict=True)
    ]
    if sum(isinstance(one, slice) for one in index) > 1:
        return entry_at(reference, evaluation, notation)[0], []
    return value.name, [*product(*axes)]


def _index_in(
    reference: Reference, evaluation: Evaluation, notation: Notation
) -> tuple[int | slice, ...]:
    """The index from 0 in the array of a step, its rows being tokens."""
    value = evaluation[reference.step]
    shape = turned(value.shape, notation)
    return turned(reference.within(shape, value.step.per_head, notation.index_base), notation)


def entries_at(
    texts: Sequence[str], evaluation: Evaluation, notation: Notation
) -> dict[str, Place]:
    """The entries to work out and box, by step; ``first`` is the first entry of every step.

    Raises as `entry_at` does.
    """
    firsts = {s.name: (0,) * (2 + s.per_head) for s in evaluation.steps} if "first" in texts else {}
    found = [named(text.strip(), evaluation, notation) for text in texts if text != "first"]
    return firsts | dict(entry_at(one, evaluation, notation) for one in found)


def size_of(shape: Sequence[int]) -> str:
    """A shape in words: ``2 × 3``."""
    return " × ".join(map(str, shape)) or "1"


# ---- symbols ---------------------------------------------------------------------------------


def symbol_reference(text: str, letters: Mapping[str, str], notation: Notation) -> Reference | None:
    """The entry that is named as it is printed: ``s_12``, ``s_{1,2}``, ``S₁₂``.

    `letters` are the steps by name. None for a text that names none of them.

    >>> found = symbol_reference("a_{1,2}", {"weights": "A"}, Notation())
    >>> found.step, found.index
    ('weights', ('1', '2'))
    """
    text = text.strip().strip("$").strip()
    bracketed = text.startswith("[")
    match = (_BRACKETED if bracketed else _SYMBOL).match(text)
    if len(text) > 80 or match is None or not match["base"].strip("{ "):
        return None
    if "[" in text[bracketed:]:
        return None
    digits = (match["below"] or match["small"]).translate(_SMALL)
    index = [part.strip() for part in digits.split(",")] if "," in digits else list(digits)
    if len(index) != 2:
        return None
    around = match["base"] + match["above"]
    plain = _bare(text if bracketed else f"{around}_{','.join(index)}")
    inner = _HEAD.search(around.translate(_HEADS)) or (bracketed and _HEAD_BELOW.search(around))
    heads = (inner[1],) if inner else ()
    for name, letter in letters.items():
        if plain in _spellings(letter, "".join(heads), tuple(index), notation):
            return Reference(text, name, (*heads, *index), True)
    other = _OTHER_LETTERS.get(plain.partition("_")[0])
    if other is None or other not in letters:
        return None
    return Reference(text, other, tuple(index), True)


def is_known_letter(symbol: str, letters: Mapping[str, str], notation: Notation) -> bool:
    """Whether a symbol's letter is that of a step, whatever its index."""
    match = _SYMBOL.match(symbol.strip())
    if match is None:
        return True
    first = f"{match['base']}_{{1,1}}{match['above']}"
    return symbol_reference(first, letters, notation) is not None


#: What else textbooks call a step's entries, where no step has that letter.
_OTHER_LETTERS = {"α": "weights", "alpha": "weights", "w": "weights", "e": "scores"}


_HEADS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾", "0123456789()")


@lru_cache(maxsize=4096)
def _spellings(letter: str, head: str, index: tuple[str, ...], notation: Notation) -> set[str]:
    """How an entry may be named: as it is printed, and with the matrix's own letter."""
    row, column = index
    place = Num(head) if head else None, (Num(row), Num(column))
    printed = notation.entry(letter, *place)
    matrix = (
        notation.letter(letter)
        if not head
        else notation.in_head(notation.letter(letter, per_head=True), Num(head))
    )
    below = f"_{row},{column}"
    forms = [as_line(printed), latex(printed)]
    forms += [f"{as_line(matrix)}{below}", f"{latex(matrix)}{below}"]
    forms.append(as_line(Typed().entry(letter, *place)))  # m_12 for M_12
    return {_bare(form) for form in forms}


def _bare(text: str) -> str:
    """A symbol without what does not tell it from others: braces, spaces, where its index is."""
    text = re.sub(r"\\(?=[A-Za-z])|\\,|[{}\s^]", "", text.translate(_HEADS).translate(_SMALL))
    match = re.match(r"(.*?)_([0-9]+,[0-9]+|[0-9]{2})(.*)\Z", text)
    if match is None:
        return text
    index = match[2] if "," in match[2] else ",".join(match[2])
    return f"{match[1]}{match[3]}_{index}"
