"""A task: an attention at its sizes, what is given, and which entries are asked for.

It is made of any worksheet, whose numbers are replaced by those that are drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from symattn.algebra.identities import identity
from symattn.arithmetic.base import Array
from symattn.claims.claims import read_claims
from symattn.claims.entry_names import entry_name
from symattn.claims.labels import leaves
from symattn.claims.references import entries_of, named
from symattn.derivations import Derivation, Evaluation, Given, Place
from symattn.errors import ReadError, SymattnError, counted, nearest, quote
from symattn.files.toml import parse
from symattn.mistakes.base import Steps
from symattn.sheets.worksheet import Worksheet, worksheet_of
from symattn.sheets.writing import worksheet_text
from symattn.step import Input, leading_to, letter_of

#: The keys of a worksheet that an exercise keeps, at the top and as tables.
_TOP = ("story", "decimal", "gradient", "equations", "misconception")
_TABLES = ("notation", "policy")

#: What exercises begin with where a step of that name is made of something else.
_STARTS = ("Q", "K", "V")

#: What is asked for where nothing is said: these steps, as far as there are any.
_ASKED = ("scores", "scaled", "masked", "weights", "output", "heads", "concat", "projected")

#: Inputs that are kept as they are: what hides keys, and rows that words spell out.
_KEPT = ("mask", "masked", "one_hot")

#: How many entries an exercise asks for at most, and how many are given.
_MOST = 400


class Blank(NamedTuple):
    """An entry that is asked for: the step's name and letter, and the place from 0."""

    step: str
    letter: str
    place: Place


@dataclass(frozen=True)
class Task:
    """What is asked of everybody: a worksheet whose numbers are an example, and its blanks.

    `digits`: how many decimals an answer has; `exact`: whether it is a fraction where it can be.
    """

    sheet: Worksheet
    blanks: tuple[Blank, ...]
    digits: int = 3
    exact: bool = False

    @cached_property
    def derivation(self) -> Derivation:
        """The steps from what is given."""
        return self.sheet.derivation()

    @cached_property
    def evaluation(self) -> Evaluation:
        """The values at the numbers of the example."""
        return self.sheet.evaluate(self.derivation)

    @cached_property
    def drawn(self) -> tuple[Input, ...]:
        """The inputs whose numbers are drawn: no masks, and no numbers by themselves."""
        items = self.derivation.inputs
        return tuple(x for x in items if not (x.boolean or x.is_number or x.name in _KEPT))

    @cached_property
    def logits(self) -> tuple[str, ...]:
        """The letters of what a normaliser is applied to."""
        found = Steps(self.derivation).logits
        letters = {item.letter for item in (*self.derivation.inputs, *self.derivation.steps)}
        return () if found is None else tuple({letter_of(found)} & letters)

    @cached_property
    def weights(self) -> tuple[str, ...]:
        """The letters of the weights."""
        items = (*self.derivation.inputs, *self.derivation.steps)
        return tuple(item.letter for item in items if item.weights)

    def text(
        self,
        given: Mapping[str, Given],
        answers: Mapping[Blank, str],
        facts: Mapping[str, object],
        statements: Mapping[str, str],
        *,
        title: str = "",
        remark: str = "",
    ) -> str:
        """The worksheet with these numbers, ``?`` for what has no answer, and a remark above it.

        `facts` are the table ``[exercise]``, `statements` what is said of some, by their names.
        """
        data = parse(self.sheet.text, self.sheet.name)
        notation = {"digits": self.digits, **_table(data, "notation")}
        policy = {"min_digits": self.digits, **_table(data, "policy")}
        told = {"notation": notation, "policy": policy, "exercise": facts, "statements": statements}
        claims = {} if not self.blanks else self._claims(given, answers)
        text = worksheet_text(
            {**_table(data, "attention")},
            {**given},
            title=title or self.sheet.title,
            top={key: data[key] for key in _TOP if key in data},
            comments={name: identity(name).says for name in statements},
            tables={"claims": claims, **told},
        )
        return "".join(f"# {line}\n" for line in remark.splitlines()) + "\n" * bool(remark) + text

    def _claims(
        self, given: Mapping[str, Given], answers: Mapping[Blank, str]
    ) -> dict[str, object]:
        """Every step that is asked for: its entries, shown but for the blanks."""
        blanks = {(blank.step, blank.place): blank for blank in self.blanks}
        evaluation: Evaluation | None = None
        claims: dict[str, object] = {}
        for name, letter in dict.fromkeys((blank.step, blank.letter) for blank in self.blanks):
            cells = np.full(self.evaluation.shape(letter), "?", dtype=object)
            for place in np.ndindex(*cells.shape):
                if (blank := blanks.get((name, place))) is not None:
                    cells[place] = answers.get(blank, "?")
                    continue
                evaluation = evaluation or self.derivation.evaluate(**given)
                cells[place] = self.answer(evaluation, letter, place)
            turned = self.sheet.notation.convention == "columns"
            claims[name] = (cells.swapaxes(-1, -2) if turned else cells).tolist()
        return claims

    def answer(self, evaluation: Evaluation, letter: str, place: Place) -> str:
        """An entry as it is answered: a fraction, a proven decimal, or −∞.

        A decimal that is known exactly has no zeros at its end. Raises `SymattnError` for a number
        that cannot be decided.
        """
        if self.exact:
            value = evaluation.exact(letter)[place]
            if value.is_Rational:
                return str(value)
        found = evaluation.digits(letter, place, evaluation.notation.but(digits=self.digits))
        if not found.proven:
            raise SymattnError(f"{letter}: an entry cannot be proven to {self.digits} decimals")
        return found.text

    @classmethod
    def of(cls, sheet: Worksheet) -> Task:
        """The task of an exercise that was written: its blanks are what is ``?`` there.

        Raises `ReadError` for a worksheet without blanks.
        """
        digits = int(sheet.exercise.get("digits", sheet.notation.digits))
        task = cls(sheet, (), digits, sheet.asks_fractions)
        evaluation = task.evaluation
        filled = {one.entry for one in read_claims(sheet.claims, evaluation, sheet.decimal)}
        names = dict.fromkeys(named(key, evaluation, sheet.notation).step for key in sheet.claims)
        blanks = _every(evaluation, names)
        found = tuple(one for one in blanks if (one.letter, one.place) not in filled)
        if not found:
            raise ReadError("claims: nothing is asked for; write a ? for every number to find")
        return replace(task, blanks=found)


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A table of a worksheet; a notation may be the name of a preset."""
    table = data.get(name, {})
    return table if isinstance(table, Mapping) else {"preset": table}


def _every(evaluation: Evaluation, names: Collection[str]) -> list[Blank]:
    """All entries of these steps, in the order of the derivation."""
    wanted = {evaluation[name].step.letter for name in names}
    steps = [step for step in evaluation.steps if step.letter in wanted]
    return [
        Blank(step.name, step.letter, place)
        for step in steps
        for place in np.ndindex(*evaluation.shape(step.letter))
    ]


def task_of(
    sheet: Worksheet,
    blank: Sequence[str] = (),
    *,
    entries: Sequence[str] = (),
    given: Sequence[str] = (),
    digits: int = 3,
    exact: bool = False,
) -> Task:
    """The task that a worksheet becomes, from `given` on, with these steps `blank`.

    Without names it starts with Q, K and V, and asks for what the worksheet makes claims of, or, if
    some of that is ``?``, for this; else for the scores and all steps behind them. Of steps that
    `entries` are of, only these are asked for. Raises `SymattnError` for a name that is none, and
    for what nobody works out by hand.
    """
    if sheet.batch is not None or sheet.arrays or sheet.chunks is not None:
        raise SymattnError("exercise: is one calculation by hand, no batch, no chunks, no arrays")
    if not blank and not entries and sheet.claims:
        blank, entries = _blanks_of(sheet)
    whole = sheet.derivation()
    starts = {*given} or {*_STARTS} & {*whole.names} - {*blank}
    for name in (*given, *blank):
        known = [item.name for item in (*whole.inputs, *whole.steps)]
        if name not in known:
            raise SymattnError(f"{quote(name)} is not part of this attention{nearest(name, known)}")
    task = Task(_starting(sheet, whole, starts), (), digits, exact)
    evaluation = task.evaluation
    names = [task.derivation[name].name for name in blank if name in task.derivation]
    if lost := [name for name in blank if name not in task.derivation]:
        raise SymattnError(f"{lost[0]}: is given here; it cannot be asked for")
    found = [named(text, evaluation, evaluation.notation) for text in entries]
    names = names or ([] if found else [x for x in _ASKED if x in task.derivation])
    names = names or ([] if found else [*task.derivation.names[-1:]])
    some = [entries_of(one, evaluation, evaluation.notation) for one in found]
    chosen = {(name, place) for name, places in some for place in places}
    parts = {name for name, _ in some}
    every = _every(evaluation, {*names, *parts})
    blanks = [b for b in every if b.step not in parts or (b.step, b.place) in chosen]
    size = len(blanks) + sum(array.size for array in evaluation.given.values())
    if size > _MOST:
        raise SymattnError(
            f"{counted(size, 'number')} are too many for an exercise by hand; {_MOST} at most: "
            "give fewer tokens, a smaller d_k, or fewer blanks"
        )
    return replace(task, blanks=tuple(blanks))


def _blanks_of(sheet: Worksheet) -> tuple[list[str], list[str]]:
    """The steps that a worksheet makes claims of, and, where some entries are ``?``, these."""
    evaluation = sheet.evaluate()
    names = [*dict.fromkeys(named(x, evaluation, sheet.notation).step for x in sheet.claims)]
    blanks = Task.of(sheet).blanks if "?" in map(str, leaves(sheet.claims)) else ()
    some = [entry_name(blank.step, blank.place, sheet.notation) for blank in blanks]
    return names, some if len(some) < len(_every(evaluation, names)) else []


def _starting(sheet: Worksheet, whole: Derivation, starts: Collection[str]) -> Worksheet:
    """The worksheet that gives these steps, and of its inputs what is needed besides."""
    if not starts or {*starts} <= {item.name for item in whole.inputs}:
        return replace(sheet, claims={})
    items = {item.name: item for item in (*whole.inputs, *whole.steps)}
    letters = {items[name].letter for name in starts}
    free = [step for step in whole.steps if step.letter not in letters]
    read = {letter for step in whole.steps for letter in step.operands}
    last = {step.letter for step in free if step.letter not in read}
    needed = leading_to(free, last)
    used = {letter for step in free if step.letter in needed for letter in step.operands}
    names = [item.name for item in whole.inputs if item.letter in used]
    names = [name for name in items if name in {*names, *starts}]
    values = sheet.evaluate(whole)
    given = {
        name: sheet.given[name] if name in sheet.given else _whole(values[name].array)
        for name in names
    }
    data = parse(sheet.text, sheet.name)
    attention = {**_table(data, "attention")}
    known = {size for name in names for size in map(str, items[name].shape)}
    attention |= {"d_k": values.known_sizes["d_k"]} if _lacks_width(whole, given, known) else {}
    text = worksheet_text(
        attention,
        given,
        title=sheet.title,
        top={key: data[key] for key in _TOP if key in data},
        tables={key: _table(data, key) for key in _TABLES if key in data},
    )
    return worksheet_of(text, sheet.name)


def _lacks_width(whole: Derivation, given: Collection[str], known: Collection[str]) -> bool:
    """Whether a step divides by √d_k, which no matrix that is given tells."""
    left = whole.restricted([*given]).steps
    sizes = {str(size) for step in left for size in step.expr.free_symbols}
    return "d_k" in sizes - {*known}


def _whole(array: Array) -> list[Given]:
    """Whole numbers of the shape of an array; what is −∞ stays so."""
    cells = np.empty(array.shape, dtype=object)
    for place, number in np.ndenumerate(array):
        cells[place] = round(float(number)) if np.isfinite(number) else "-inf"
    out: list[Given] = cells.tolist()
    return out
