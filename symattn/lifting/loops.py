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
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from symattn.lifting.runs import Made, Recording, Spans
from symattn.lifting.said import ATOM, Said, Unsaid
from symattn.lifting.views import viewed

#: What is said of an array that is written or joined part by part, in parts that are not alike.
WRITTEN = (
    "the parts of which an array is made are not all made by one formula; rows that are made "
    "alike, products of matrices, sums and blocks have one"
)

#: Names, whole numbers, and single signs.
_TOKEN = re.compile(r"\d+|\w+|.", re.DOTALL)

#: Stands for a state in its own formula, and for zeros that a state may begin with.
_STATE, NOTHING = "\0", "\1"
#: Rows below one another, and a part of a matrix or of a row: from … to ….
_PILE = re.compile(r"(?<!\w)\[(?:[^][;]|\[[^][]*\])+(?:; (?:[^][;]|\[[^][]*\])+)+\]")
_PART = re.compile(r"(\w+)\[([^][:,]*):([^][:,]+)(, :)?\]")

#: Stands for the rows up to that of the formula's own number, by which a row is multiplied, and for
#: those of all that are counted.
_SO_FAR, _KEYS = "\2", "\3"
_FACTOR = re.compile(rf"((?<=[\w)\]] )\w+){_SO_FAR}")
#: Those rows over a number, turned.
_SCALED = re.compile(rf"\((\w+){_SO_FAR}( / [^{_SO_FAR}]*?)\)\^T")
#: Scores: a row times those rows, turned, and what they are divided by.
_SCORES = re.compile(rf"(\w+\[t\] \w+){_SO_FAR}\^T((?: / \w+(?:\(\w+\))?)?)")
_TWICE = re.compile(r"\((\([^()]*\))\)")
#: What is made of row j, or is entry j, and what that is of all j in turn: a row. A sign stands
#: behind the matrix of which these are the rows.
_OF_ALL = (
    (re.compile(r"rowsum\((\w+\[\d+\]) ∘ (\w+)\[j\]\)"), rf"\1 \2{_KEYS}^T"),
    (re.compile(r"rowsum\((\w+)\[j\] ∘ (\w+\[\d+\])\)"), rf"\2 \1{_KEYS}^T"),
    (re.compile(r"(\b\w+)\[j\] (\w+\[\d+\])\^T"), rf"\2 \1{_KEYS}^T"),
    (re.compile(r"(\b\w+)\[j\]\^T"), rf"\1{_KEYS}^T"),
    (re.compile(r"(\b\w+\[\d+), j\]"), r"\1]"),
    (re.compile(r"(\b\w+\[\d+\])\[:, j\]"), r"\1"),
)
#: Number j of a row that has a letter, and a row of which each j has a multiple.
_NUMBER = re.compile(r"(\b\w+)\[:, j\]")
_MULTIPLE = re.compile(r"(.+?)(?: ∘)? (\w+)\[j\]")

#: A matrix by its letter.
_ONE = r"\b[^\W\d]\w*(?:\[[^][]*\])?(?:\^T)?"

#: Zeros that are turned, multiplied by a matrix, or added.
_OF_NOTHING = (
    (re.compile(rf"{NOTHING}\^T|\({NOTHING}\)"), NOTHING),
    (re.compile(rf"{_ONE} (∘ )?{NOTHING}|{NOTHING} (∘ )?{_ONE}"), NOTHING),
    (re.compile(rf"{NOTHING} \+ | [+-] {NOTHING}"), ""),
)


def of_rows(run: Recording, parts: Sequence[Said], numbers: Any, name: str) -> Said:
    """The matrix of these rows, by its letter. Raises `Unsaid` where they are not made alike."""
    rows = [_row(run, one) for one in parts]
    axes = ("i", "j") if np.ndim(numbers) > 1 else ("i",)
    begun = _rows_of_one(run, rows)
    if begun is not None:
        return Said(begun, axes=axes)
    text = _alike(run, rows, "t")
    if text is None:
        text, _ = _growing(run, rows) or (None, ())
    if text is None:
        raise Unsaid(WRITTEN)
    known = text.removesuffix("[t]")
    if known in run.families.values():
        return Said(known, axes=axes)
    letter = run.letter(name)
    run.lines.append(f"{letter}{_BY_ROWS}{text}")
    run.numbers[letter] = np.asarray(numbers).reshape(len(parts), -1).tolist()
    return Said(letter, axes=axes)


def piled(run: Recording, parts: Sequence[Said]) -> Said:
    """Matrices and rows below one another; rows of one matrix that follow one another are a part.

    Raises `Unsaid` for arrays of other axes.
    """
    if any(one.axes[-2:] not in (("i", "j"), ("", "j"), ("j",)) for one in parts):
        raise Unsaid("arrays that are no matrices joined")
    rows = [row for one in parts for row in _rows_in(run, one.text)]
    text = _rows_of_one(run, rows) or f"[{'; '.join(rows)}]"
    return Said(text, ATOM, ("i", "j"))


def _rows_in(run: Recording, text: str) -> list[str]:
    """The rows of which a matrix was made, each by its formula; itself if it was not."""
    whole = _of_rows(run, text)
    if _PILE.fullmatch(whole):
        return whole[1:-1].split("; ")
    part = _PART.fullmatch(whole)
    ends = _ends(run, part) if part is not None and part[4] else None
    return [text] if ends is None else [f"{whole.partition('[')[0]}[{k + 1}]" for k in range(*ends)]


def _of_rows(run: Recording, word: str) -> str:
    """The rows of which a letter was made, or the part that it is; itself of others."""
    whole = run.made[word].formula.text if word in run.made else word
    return whole if _PILE.fullmatch(whole) or _PART.fullmatch(whole) else word


def _ends(run: Recording, part: re.Match[str]) -> tuple[int, int] | None:
    """Before which row a part of a matrix begins, and which its last one is; None if unknown."""
    first, end = part[2].removesuffix(" + 1"), run.whole.get(part[3])
    start = int(first) - 1 if first.isdecimal() else run.whole.get(first, 0)
    return None if end is None else (start, end)


def _rows_of_one(run: Recording, texts: Sequence[str]) -> str | None:
    """Rows of a matrix that follow one another, or all of it; None of others."""
    name, _, first = texts[0].removesuffix("]").partition("[")
    whole = next((x for x in run.named if x.is_known and x.said.text == name), None)
    if whole is None or not first.isdecimal():
        return None
    rows = slice(int(first) - 1, int(first) - 1 + len(texts))
    if [*texts] != [f"{name}[{k + 1}]" for k in range(rows.start, rows.stop)]:
        return None
    places = np.arange(whole.size).reshape(whole.shape)
    return viewed(whole.said, whole.shape, places[rows], run).text


def of_vector(run: Recording, parts: Sequence[Said]) -> Said:
    """The row of these numbers, where it is one of matrices; raises as `of_rows`."""
    rows, level = [_row(run, one) for one in parts], min(one.level for one in parts)
    if len(rows) == 1:
        return Said(rows[0], level, ("",))
    text = _of_all(run, _alike(run, rows, "j") or "j", len(rows))
    if text is None:
        raise Unsaid(WRITTEN)
    return Said(text, level, ("j",))


def _of_all(run: Recording, text: str, count: int) -> str | None:
    """What a formula of number j is for the first so many j in turn: a row; None of others."""

    def number(found: re.Match[str]) -> str:
        made = run.made.get(found[1])
        return found[1] if made and np.shape(made.array)[-1] == count else found[0]

    def matrix(found: re.Match[str]) -> str:
        name = found[1]
        alike = (len(x) for x in run.named if x.is_known and x.said.text == name)
        whole = len(run.numbers[name]) if name in run.families.values() else next(alike, count)
        return name if whole == count else f"{name}[:{run.number(count).text}, :]"

    for pattern, row in _OF_ALL:
        text = pattern.sub(row, text)
    text = re.sub(rf"(\w+){_KEYS}", matrix, _NUMBER.sub(number, text))
    return None if "j" in _TOKEN.findall(text) else text


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
    return _folded(run, _expanded(run, one.turned.text if kept == ["i"] else one.text))


def _expanded(run: Recording, text: str) -> str:
    """A formula in which what is added up, beginning anew in each round of a loop, is a sum."""

    def summed(word: re.Match[str]) -> str:
        letters = _of_variable(run, word[0])
        formulas = {one: run.made[one].formula.text for one in letters}
        before = {
            one: last for last, one in pairwise(letters) if last in _TOKEN.findall(formulas[one])
        }
        if not before or len(letters) - len(before) < 2:
            return word[0]
        terms, letter = [], word[0]
        while letter in before:
            whole, last = formulas[letter], before[letter]
            rest = whole.removeprefix(f"{last} + ").removesuffix(f" + {last}")
            if last in _TOKEN.findall(rest):
                return word[0]
            terms.append(rest)
            letter = last
        terms.append(formulas[letter])
        return f"({' + '.join(reversed(terms))})"

    return _bare(re.sub(r"\b[^\W\d]\w*", summed, text))


def _bare(text: str) -> str:
    """A formula without brackets around all of it."""
    is_within = text.startswith("(") and _end(text, 1) == len(text) - 1
    return _bare(text[1:-1]) if is_within else text


def _folded(run: Recording, text: str) -> str:
    """A formula in which a sum over keys is a product, Σ_j a_j V[j] = a V, or the sum of a row."""
    terms = [_inside(run, one) for one in _split(text, " + ") if one != NOTHING]
    whole = _alike(run, terms, "j") if len(terms) > 1 else None
    made = whole and _sum_of(run, whole, len(terms))
    return made or " + ".join(terms)


def _inside(run: Recording, text: str) -> str:
    """A formula with what stands in its brackets folded."""
    start = text.find("(")
    if start < 0:
        return text
    end = _end(text, start + 1)
    before, within, after = text[:start], text[start + 1 : end], _inside(run, text[end + 1 :])
    folded = ", ".join(_folded(run, part) for part in _split(within, ", "))
    is_alone = not after or after.startswith(" ")
    is_bare = is_alone and folded != within and len(_split(folded, " + ")) == 1
    if is_bare and (not before or (before.endswith(" ") and len(_split(folded, " ")) == 1)):
        return f"{before}{folded}{after}"
    return f"{before}({folded}){after}"


def _split(text: str, sign: str) -> list[str]:
    """The parts of a text that a sign outside of brackets joins."""
    parts, depth, start = [], 0, 0
    for k, one in enumerate(text):
        depth += (one in "([") - (one in ")]")
        if depth == 0 and text.startswith(sign, k):
            parts.append(text[start:k])
            start = k + len(sign)
    return [*parts, text[start:]]


def _sum_of(run: Recording, text: str, count: int) -> str | None:
    """The sum over j of a formula: of multiples of rows, or of numbers; None of others."""
    row = _MULTIPLE.fullmatch(text)
    each = row[1] if row else text
    weights = _of_all(run, each, count)
    if weights is None or "j" not in _TOKEN.findall(each):
        return None
    if row is None:
        return f"rowsum({weights})"
    values = _of_all(run, f"{row[2]}[j]^T", count)
    if values is None or len(_split(each, " - ")) > 1:
        return None
    return f"{weights} {values.removesuffix('^T')}"


def _growing(run: Recording, texts: Sequence[str]) -> tuple[str, Spans] | None:
    """The text of rows of which each has some of the keys: the others are hidden by a mask.

    That of the first row, of one key, and that of the last, of all, are no guide. With the text
    comes which keys each row has.
    """
    spanned = [_spanned(run, text) for text in texts[1:-1]]
    inner, own = [text for text, _ in spanned], [found for _, found in spanned]
    text = _alike(run, inner, "t", first=2) if len(inner) > 2 else None
    if text is None:
        return None
    known = [run.growing[one] for one in _TOKEN.findall(text) if one in run.growing]
    spans = _band(own, len(texts)) if any(own) else next(iter(known), None)
    if spans is None:
        return None
    keys = spans[-1][1]
    j = np.arange(keys)
    allowed = [(start <= j) & (j < end) for start, end in spans]
    text = _SCALED.sub(rf"\1{_SO_FAR}^T\2", text)
    ends = {_end(text, found.start()) for found in re.finditer(rf"{_SO_FAR}\^T", text)}
    mask = run.constant(np.where(allowed, *((0.0, -np.inf) if run.hides else (1.0, 0.0)))).text
    for end in sorted(ends, reverse=True) if run.hides else ():
        text = f"{text[:end]} + {mask}[t]{text[end:]}"
    scores = rf"(\1^T\2 ∘ {mask}[t])"
    text = text if run.hides else _bare(_TWICE.sub(r"\1", _SCORES.sub(scores, text)))
    text = _FACTOR.sub(r"\1", text)
    return None if _SO_FAR in text else (text, spans)


def _band(inner: Sequence[set[tuple[int, int]]], rows: int) -> Spans | None:
    """Which keys all rows have, as those between the first and the last have them; None of others.

    They go as far beyond the row's own number, and begin with the first or as far before it.
    """
    if any(len(one) != 1 for one in inner):
        return None
    pairs = [(t, *next(iter(one))) for t, one in enumerate(inner, 2)]
    ahead = pairs[0][2] - pairs[0][0]
    behind = min(start - t for t, start, _ in pairs if start) if pairs[-1][1] else -rows
    spans = [(max(0, t + behind), t + ahead) for t in range(1, rows + 1)]
    return spans if [(t, *spans[t - 1]) for t, *_ in pairs] == pairs else None


def _spanned(run: Recording, text: str) -> tuple[str, set[tuple[int, int]]]:
    """A text in which parts of matrices are these with a sign, and which rows they are."""
    found: set[tuple[int, int]] = set()

    def pile(rows: re.Match[str]) -> str:
        letters = rows[0][1:-1].split("; ")
        named = _of_variable(run, letters[0])
        start = named.index(letters[0]) if named else 0
        if not named or [*named[start : start + len(letters)]] != letters:
            return rows[0]
        family = _family_of(run, named, "t")
        found.add((start, start + len(letters)))
        return f"{family}{_SO_FAR}" if family else rows[0]

    def part(rows: re.Match[str]) -> str:
        ends = _ends(run, rows)
        found.update([ends] if ends else [])
        return f"{rows[1]}{_SO_FAR}" if ends else rows[0]

    whole = re.sub(r"\w+", lambda word: _of_rows(run, word[0]), text)
    return _PART.sub(part, _PILE.sub(pile, whole)), found


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
    if index not in ("j", "t") and (letter := _by_rows_of_each(run, column, index)):
        return f"{letter}[{index}]"
    if index != "j" and all(one in run.made for one in column):  # no loop is over the columns
        turned = "^T" if _along(run.made[column[0]]) == ("i",) else ""
        if first > 1:  # those of the first and of the last text belong to them
            named = _of_variable(run, column[0])
            start, end = named.index(column[0]), named.index(column[0]) + len(column)
            is_all = named[start:end] == column and first <= start + 1 and end < len(named)
            column = named[start + 1 - first : end + 1] if is_all else column
        letter = _family_of(run, column, index)
        return letter and f"{letter}[{index}]{turned}"
    return None


def _by_rows_of_each(run: Recording, letters: tuple[str, ...], index: str) -> str | None:
    """The letter of matrices that loops inside a loop have made by rows; None of others."""
    if letters not in run.families:
        lines = [line.partition(_BY_ROWS) for line in run.lines]
        rows = {left: text for left, _, text in lines if text}
        known = all(letter in rows for letter in letters)
        text = _alike(run, [rows[letter] for letter in letters], index) if known else None
        whole = text and _ROW.sub("", text)  # is held against the numbers, as all is
        if not whole or "t" in _TOKEN.findall(whole):
            return None
        own = run.families[letters] = run.letter_of_all(letters, letters[0], _BY_ROWS)
        run.lines.append(f"{own}[{index}] = {whole}")
        run.numbers[own] = [run.numbers.pop(letter) for letter in letters]
    return run.families[letters]


def _of_variable(run: Recording, letter: str) -> tuple[str, ...]:
    """The letters of all that the variable of one was; none of what is no variable."""
    if letter not in run.made:
        return ()
    return tuple(x for x, one in run.made.items() if one.name == run.made[letter].name)


def _family_of(run: Recording, letters: tuple[str, ...], index: str) -> str | None:
    """The letter of a family, made once; None where these are none."""
    if letters not in run.families:
        run.families[letters] = None  # while it is looked for, and for good if it is none
        run.families[letters] = _family(run, letters, index)
    return run.families[letters]


def _family(run: Recording, letters: tuple[str, ...], index: str) -> str | None:
    """The letter of what a loop has made each time, in the place of a letter for each."""
    each = [run.made[letter] for letter in letters]
    found = _formula_of_all(run, each, letters, index)
    if found is None:
        return None
    text, start, spans = found
    rows = [np.asarray(run.numbers.pop(own)) for own in letters]
    letter = run.letter_of_all(letters, each[0].name, " = ")
    if spans:
        run.growing[letter] = spans
        rows = _padded(rows, text, spans)
    whole = bool(start) or _along(each[-1]) == ("i", "j")
    left = f"{letter}[{index}]" if whole else f"{letter}[{index},:]"
    run.lines += [f"{letter}[0] = {start.replace(NOTHING, '0')}"] * bool(start)
    run.lines.append(f"{left} = {text.replace(_STATE, letter)}")
    run.numbers[letter] = [(row if whole else row[0]).tolist() for row in rows]
    _called(run, each, letter)
    return letter


def _formula_of_all(
    run: Recording, each: Sequence[Made], letters: tuple[str, ...], index: str
) -> tuple[str, str, Spans] | None:
    """By which formula all were made, what a state begins with, and which keys each has.

    The keys are said where not all have as many.
    """
    axes = _along(each[-2])  # the first row, of one key, may have others where rows grow
    same = len({one.name for one in each}) == 1
    is_even = {*map(_along, each)} == {axes}
    is_matrix = axes == ("i", "j")
    if not same or not (is_matrix or (index == "t" and axes in (("i",), ("j",)))):
        return None
    texts = [one.formula.text if is_matrix else _row(run, one.formula) for one in each]
    text, start, spans = _alike(run, texts, index) if is_even else None, "", None
    if text is None and is_even:
        text, start = _recurrence(run, texts, index, letters)
    if text is None and not is_matrix:
        text, spans = _growing(run, texts) or (None, None)
    sizes = [np.size(run.numbers[own]) for own in letters]
    if text is None:
        return None
    if len({*sizes}) == 1:
        return text, start, ()
    known = (run.growing[one] for one in _TOKEN.findall(text) if one in run.growing)
    spans = spans or next(known, ())
    return (text, start, spans) if sizes == [end - first for first, end in spans] else None


def _along(one: Made) -> tuple[str, ...]:
    """Along what the axes of an array run that have more than one number."""
    return tuple(axis for axis in one.formula.axes if axis)


#: Stands behind the letter of a matrix that is made by rows; and of one of which row t is used.
_BY_ROWS, _ROW = "[t,:] = ", re.compile(r"\[t(?:, :)?\]")

#: Scores to which a mask is added, and nothing is done with that.
_IS_HIDDEN = re.compile(r" \+ \w+\[t\]\Z")


def _padded(rows: Sequence[Any], text: str, spans: Spans) -> list[Any]:
    """Rows of all keys: where one has no key its formula has −∞, or 0."""
    low = -np.inf if _IS_HIDDEN.search(text) else 0.0
    whole = np.full((len(rows), 1, spans[-1][1]), low)
    for own, row, (first, end) in zip(whole, rows, spans, strict=True):
        own[:, first:end] = row.reshape(1, -1)
    return [*whole]


def _called(run: Recording, each: Sequence[Made], letter: str) -> None:
    """Call each array from now on by its number in the family."""
    for place, one in enumerate(each, 1):
        if one.array.is_known:
            number = run.number(place).text if place == len(each) else str(place)
            turned = "^T" if _along(one) == ("i",) else ""
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
