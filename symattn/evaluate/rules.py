"""The entry rule of a step at one place, and the entries that it is computed from."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.errors import SymattnError
from symattn.evaluate.matrices import Place
from symattn.evaluate.values import Values
from symattn.nodes.rule import Entry, Rule, at, entries, rule_of
from symattn.step import COLUMN, HEAD, ROW


def rule_at(evaluation: Values, letter: str, place: Place) -> Rule | None:
    """The rule of one entry of a step; None of what is given, and of what has no rule."""
    step = evaluation.step(letter)
    if step is None:
        return None
    *lead, row, column = evaluation.within(letter, place)[1]
    heads = {HEAD: lead[-1]} if step.per_head and lead else {}
    try:
        places = {ROW: row, COLUMN: column} | heads
        return at(rule_of(step.expr, ROW, COLUMN), places, evaluation.sizes)
    except SymattnError:
        return None


def place_in(entry: Entry) -> tuple[str, Place]:
    """The letter, and the place (head,) row, column, of an entry in a rule."""
    return entry.letter, entry.place


def operands(evaluation: Values, letter: str, place: Place) -> Iterator[tuple[str, Place]]:
    """The entries, by letter and place, that the rule of an entry names."""
    rule = rule_at(evaluation, letter, place)
    for entry in () if rule is None else entries(rule):
        if entry.letter:
            yield place_in(entry)
