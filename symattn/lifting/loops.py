"""What a loop has made one after another, as one formula: of row t, or of head h.

A loop is run as Python runs it, so that each row has a formula of its own. Those that differ in
nothing but the number of the row, and in what the loop has made for it, are one formula by rows:
``O[t,:] = softmax(Q[t] K^T) V``. What is made of the one before is a recurrence. Whether it was
read rightly is seen at other sizes, where the equations have to give the function's numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from symattn.lifting.said import ATOM, Said, Unsaid

#: What is said of an array that is written or joined part by part, in parts that are not alike.
WRITTEN = (
    "the parts of which an array is made are not all made by one formula; rows that are made "
    "alike, products of matrices, sums and blocks have one"
)

#: Names, whole numbers, and single signs.
_TOKEN = re.compile(r"\d+|\w+|.", re.DOTALL)

#: What is made of row j, or is entry j, and what that is of all j in turn: a row.
_OF_ALL = (
    (re.compile(r"rowsum\((\w+\[\d+\]) ∘ (\w+)\[j\]\)"), r"\1 \2^T"),
    (re.compile(r"rowsum\((\w+)\[j\] ∘ (\w+\[\d+\])\)"), r"\2 \1^T"),
    (re.compile(r"(\b\w+)\[j\] (\w+\[\d+\])\^T"), r"\2 \1^T"),
    (re.compile(r"(\b\w+)\[j\]\^T"), r"\1^T"),
    (re.compile(r"(\b\w+\[\d+), j\]"), r"\1]"),
)

#: Stands for a state in its own formula, and for zeros that a state may begin with.
_STATE, NOTHING = "\0", "\1"
#: Stands for the rows up to that of the formula's own number, by which a row is multiplied.
_SO_FAR = "\2"
_FACTOR = re.compile(rf"((?<=[\w)\]] )\w+){_SO_FAR}")
#: A matrix by its letter.
_ONE = r"\b[^\W\d]\w*(?:\[[^][]*\])?(?:\^T)?"

#: What is added for all j in turn: a product.
_SUMMED = re.compile(r"(\b\w+(?:\[\d+\])?)\[:, j\] ∘ (\w+)\[j\]")

#: Zeros that are turned, multiplied by a matrix, or added.
_OF_NOTHING = (
    (re.compile(rf"{NOTHING}\^T|\({NOTHING}\)"), NOTHING),
    (re.compile(rf"{_ONE} (∘ )?{NOTHING}|{NOTHING} (∘ )?{_ONE}"), NOTHING),
    (re.compile(rf"{NOTHING} \+ | [+-] {NOTHING}"), ""),
)


@dataclass(frozen=True)
class Made:
    """What has a letter: the variable that it was, the formula, and the array's numbers."""

    name: str
    formula: Said
    array: Any


class Recording(Protocol):
    """The lines of a run, what has a letter in them, and its numbers."""

    lines: list[str]
    letters: set[str]
    made: dict[str, Made]
    numbers: dict[str, Any]
    families: dict[tuple[str, ...], str | None]
    growing: set[str]
    named: list[Any]

    def letter(self, name: str) -> str:
        """A letter for a variable."""

    def number(self, value: float) -> Said:
        """The formula of a number."""

    def constant(self, values: Any) -> Said:
        """The letter of a matrix of constants."""


def of_rows(run: Recording, parts: Sequence[Said], numbers: Any, name: str) -> Said:
    """The matrix of these rows, by its letter. Raises `Unsaid` where they are not made alike."""
    rows = [_row(run, one) for one in parts]
    axes = ("i", "j") if np.ndim(numbers) > 1 else ("i",)
    begun = _first_rows(run, rows)
    if begun is not None:
        return Said(begun, axes=axes)
    text = _alike(run, rows, "t") or _growing(run, rows)
    if text is None:
        raise Unsaid(WRITTEN)
    known = text.removesuffix("[t]")
    if known in run.families.values():
        return Said(known, axes=axes)
    letter = run.letter(name)
    run.lines.append(f"{letter}[t,:] = {text}")
    run.numbers[letter] = np.asarray(numbers).reshape(len(parts), -1).tolist()
    return Said(letter, axes=axes)


def _first_rows(run: Recording, texts: Sequence[str]) -> str | None:
    """The first rows of a matrix, or all of it; None of others."""
    name = texts[0].partition("[")[0]
    whole = next((len(x) for x in run.named if x.is_known and x.said.text == name), 0)
    if not whole or [*texts] != [f"{name}[{k}]" for k in range(1, len(texts) + 1)]:
        return None
    return name if len(texts) == whole else f"{name}[:{run.number(len(texts)).text}, :]"


def of_vector(run: Recording, parts: Sequence[Said]) -> Said:
    """The row of these numbers, where it is one of matrices; raises as `of_rows`."""
    text = _alike(run, [_row(run, one) for one in parts], "j")
    for pattern, whole in _OF_ALL:
        text = text and pattern.sub(whole, text)
    if text is None or "j" in _TOKEN.findall(text):
        raise Unsaid(WRITTEN)
    return Said(text, min(one.level for one in parts), ("j",))


def of_entries(run: Recording, parts: Sequence[Sequence[Said]], numbers: Any, name: str) -> Said:
    """The matrix of these entries, row by row; raises as `of_rows`."""
    return of_rows(run, [of_vector(run, row) for row in parts], numbers, name)


def of_heads(run: Recording, parts: Sequence[Said], index: str) -> Said:
    """The matrices of all heads as a family of its index; raises as `of_rows`."""
    text = _alike(run, [one.upright.text for one in parts], index)
    axes = {one.upright.axes for one in parts}
    if text is None or axes != {("i", "j")}:
        raise Unsaid(WRITTEN)
    return Said(text, min(one.level for one in parts), (index, "i", "j"))


def _row(run: Recording, one: Said) -> str:
    """The formula of an array with one axis, or none, as a row."""
    kept = [axis for axis in one.axes if axis]
    if len(kept) > 1:
        raise Unsaid(WRITTEN)
    return _product(run, one.turned.text if kept == ["i"] else one.text)


def _product(run: Recording, text: str) -> str:
    """A sum over all keys as a product; anything else as it is."""
    terms = text.removeprefix(f"{NOTHING} + ").split(" + ")
    whole = _alike(run, terms, "j") if len(terms) > 2 else None
    summed = _SUMMED.sub(r"\1 \2", whole or "j")
    return text if "j" in _TOKEN.findall(summed) else summed


def _growing(run: Recording, texts: Sequence[str]) -> str | None:
    """The text of rows of which each has the keys up to its own: the others are hidden by a mask.

    That of the first row, of one key, and that of the last, of all, are no guide.
    """
    inner = [
        re.sub(rf"\[:{re.escape(run.number(t).text)}(, :)?\]", _SO_FAR, text)
        for t, text in enumerate(texts[1:-1], 2)
    ]
    text = _alike(run, inner, "t", first=2) if len(inner) > 2 else None
    if text is None or not {_SO_FAR, *run.growing} & {*_TOKEN.findall(text)}:
        return None
    ends = {_end(text, found.start()) for found in re.finditer(rf"{_SO_FAR}\^T", text)}
    for end in sorted(ends, reverse=True):
        hidden = run.constant(np.where(np.tri(len(texts), dtype=bool), 0.0, -np.inf)).text
        text = f"{text[:end]} + {hidden}[t]{text[end:]}"
    text = _FACTOR.sub(r"\1", text)
    return None if _SO_FAR in text else text


def _end(text: str, place: int) -> int:
    """Where the brackets end that stand around a place in a text; its own end where none do."""
    depth = 0
    for k in range(place, len(text)):
        depth += (text[k] == "(") - (text[k] == ")")
        if depth < 0:
            return k
    return len(text)


def _alike(
    run: Recording, texts: Sequence[str], index: str, made: tuple[str, ...] = (), first: int = 1
) -> str | None:
    """The text of which each of these is the one of its number; None where there is none.

    `made` are the letters of what is made so; each may stand in the next. The numbers begin with
    that of the first.
    """
    rows = [_TOKEN.findall(text) for text in texts]
    if len(rows) < 2 or len({*map(len, rows)}) > 1:
        return None
    found = []
    for column in zip(*rows, strict=True):
        one = _of_each(run, column, index, made, first)
        if one is None:
            return None
        found.append(one)
    return "".join(found).replace("^T^T", "")


def _of_each(
    run: Recording, column: tuple[str, ...], index: str, made: tuple[str, ...], first: int
) -> str | None:
    """What stands at one place of each text, by the number of the text."""
    if len({*column}) == 1:
        return column[0]
    if made and column[1:] == made[:-1]:
        return f"{_STATE}[{index} - 1]"
    if all(map(str.isdecimal, column)):
        apart = int(column[0]) - first
        counted = [*map(int, column)] == [*range(first + apart, len(column) + first + apart)]
        said = f"{index} {'+' if apart > 0 else '-'} {abs(apart)}" if apart else index
        return said if counted else None
    if index != "j" and all(one in run.made for one in column):  # no loop is over the columns
        turned = "^T" if run.made[column[0]].formula.axes == ("i",) else ""
        if first > 1:  # those of the first and of the last text belong to them
            name = run.made[column[0]].name
            named = tuple(letter for letter, one in run.made.items() if one.name == name)
            column = named if named[first - 1 : -1] == column else column
        if column not in run.families:
            run.families[column] = None  # while it is looked for, and for good if it is none
            run.families[column] = _family(run, column, index)
        letter = run.families[column]
        return letter and f"{letter}[{index}]{turned}"
    return None


def _family(run: Recording, letters: tuple[str, ...], index: str) -> str | None:
    """The letter of what a loop has made each time, in the place of a letter for each."""
    each = [run.made[letter] for letter in letters]
    axes = each[-2].formula.axes  # the first row, of one key, may have others where rows grow
    same = len({one.name for one in each}) == 1
    is_even = {one.formula.axes for one in each} == {axes}
    is_matrix = axes == ("i", "j")
    if not same or not (is_matrix or (index == "t" and axes in (("i",), ("j",)))):
        return None
    texts = [one.formula.text if is_matrix else _row(run, one.formula) for one in each]
    text, start = _alike(run, texts, index) if is_even else None, ""
    if text is None and is_even:
        text, start = _recurrence(run, texts, index, letters)
    grows = text is None and not is_matrix
    text = _growing(run, texts) if grows else text
    if text is None:
        return None
    run.letters.difference_update(letters)
    letter = run.letter(each[0].name)
    run.growing.update([letter] * grows)
    run.lines[:] = [line for line in run.lines if line.partition(" = ")[0] not in letters]
    left = f"{letter}[{index}]" if is_matrix or start else f"{letter}[{index},:]"
    run.lines += [f"{letter}[0] = {start.replace(NOTHING, '0')}"] * bool(start)
    run.lines.append(f"{left} = {text.replace(_STATE, letter)}")
    laid = [np.asarray(run.numbers.pop(own)) for own in letters]
    stacked = np.stack(laid if is_matrix else _padded(laid, text))
    run.numbers[letter] = (stacked if is_matrix or start else stacked[:, 0]).tolist()
    _called(run, each, letter)
    return letter


#: Scores to which a mask is added, and nothing is done with that.
_IS_HIDDEN = re.compile(r" \+ \w+\[t\]\Z")


def _padded(rows: Sequence[Any], text: str) -> list[Any]:
    """Rows of one length: shorter ones go on with what their formula has there, −∞ or 0."""
    low, most = -np.inf if _IS_HIDDEN.search(text) else 0.0, max(map(np.size, rows))
    return [
        np.pad(x.reshape(1, -1), ((0, 0), (0, most - x.size)), constant_values=low) for x in rows
    ]


def _called(run: Recording, each: Sequence[Made], letter: str) -> None:
    """Call each array from now on by its number in the family."""
    for place, one in enumerate(each, 1):
        if one.array.is_known:
            number = run.number(place).text if place == len(each) else str(place)
            turned = "^T" if one.formula.axes == ("i",) else ""
            one.array.is_made(replace(one.formula, text=f"{letter}[{number}]{turned}", level=ATOM))


def _recurrence(
    run: Recording, texts: Sequence[str], index: str, letters: tuple[str, ...]
) -> tuple[str | None, str]:
    """The formula of a state, and what it starts with: what is added to nothing is added to 0."""
    first, *others = texts
    before = letters[0]
    for candidate in (first, *_begun(first, others, before)):
        text = _alike(run, [candidate, *others], index, letters)
        if text is not None and _STATE in text:
            begun, following = map(_TOKEN.findall, (candidate, others[0]))
            return text, begun[following.index(before)]
    return None, ""


def _begun(first: str, others: Sequence[str], before: str) -> Iterator[str]:
    """What the first would be if it said of what it begins with that this is nothing."""
    rest = first.removeprefix(f"{NOTHING} + ")
    columns = zip(*map(_TOKEN.findall, others[:2]), strict=False)
    second = [
        str(int(one) - 1) if one.isdecimal() and other == str(int(one) + 1) else one
        for one, other in columns
    ]
    terms = "".join(NOTHING if one == before else one for one in second).split(" + ")
    if NOTHING in terms[0]:
        yield f"{terms[0]} + {rest}"
    if NOTHING in terms[-1]:
        yield f"{rest} + {terms[-1]}"


def _without_nothing(line: str) -> str:
    """A line without what zeros make 0, and without zeros that are added."""
    shorter = line
    for pattern, instead in _OF_NOTHING:
        shorter = pattern.sub(instead, shorter)
    return line.replace(NOTHING, "0") if shorter == line else _without_nothing(shorter)


def finished(run: Recording) -> None:
    """Leave out zeros that are added, and what a loop has made each time and nothing is made of."""
    run.lines[:] = [*map(_without_nothing, run.lines)]
    used: dict[str, set[str]] = {}
    for left, _, right in (line.partition(" = ") for line in run.lines):
        used.setdefault(_TOKEN.findall(left)[0], set()).update(_TOKEN.findall(right))
    listed = Counter(one.name for letter, one in run.made.items() if letter in run.numbers)
    waiting = [[*run.numbers][-1]]
    waiting += [x for x in used if x not in run.made or listed[run.made[x].name] == 1]
    kept: set[str] = set()
    while waiting:
        letter = waiting.pop()
        if letter not in kept:
            kept.add(letter)
            waiting += used.get(letter, ())
    run.lines[:] = [line for line in run.lines if _TOKEN.findall(line)[0] in kept]
    for letter in {*run.numbers} - kept:
        del run.numbers[letter]
