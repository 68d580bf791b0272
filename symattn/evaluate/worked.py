"""The worked line of an entry: its rule with numbers for letters, evaluated in stages.

``s_12 = (1·0 + 0·4 + 2·4)/√2 = 8/√2 ≈ 5.657``: first the operands' numbers, then exponentials,
then sums, then the result. A rounded operand is shown with as many digits as it takes for the
printed numbers to give the printed result when they are worked out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import instance, whole
from symattn.arithmetic.abbreviated import simplified, written_out
from symattn.arithmetic.decide import Digits
from symattn.arithmetic.reading import MAX_ENTRIES
from symattn.evaluate.matrices import Place
from symattn.evaluate.operands import Numbers
from symattn.evaluate.stages import Kind, Stage, Stages
from symattn.evaluate.values import Values
from symattn.nodes import rule as r
from symattn.nodes.rule import Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.options import Notation, notation_of
from symattn.notation.tree import Tree
from symattn.step import COLUMN, HEAD, ROW, Step

#: A line, and how many digits beyond the usual ones each of its stages has.
_Line: TypeAlias = tuple[Tree, Mapping[Kind, int]]

#: A stage behind its sign.
_Link: TypeAlias = tuple[t.Op, Tree]


def worked(
    evaluation: Values,
    step: Step,
    row: int,
    column: int,
    head: int | None = None,
    notation: Notation | None = None,
) -> Tree:
    """One entry of a step worked out, as a notation tree; row, column and head count from 0."""
    place = (row, column) if head is None else (head, row, column)
    return _worked(evaluation, step, place, notation_of(notation), {})[0]


def worked_together(
    evaluation: Values, step: Step, places: Sequence[Place], notation: Notation
) -> list[Tree]:
    """Entries of a step worked out with the same number of decimals, where that is possible.

    A stage that would take more digits than a line may have is left out of it. Where all of them
    would be, the line has fewer decimals than the others. `places` are rows and columns as the
    reader has them, behind the head where there are heads.
    """

    def lines(least: Mapping[Kind, int]) -> list[_Line]:
        return [_worked(evaluation, step, place, notation, least) for place in places]

    first = found = lines({})
    most: Mapping[Kind, int] = {}
    while True:  # more digits of one line may ask for more of another
        before, most = most, _most(used for _, used in found)
        if most == before or all(used.items() <= most.items() for _, used in found):
            break
        found = lines(most)
    return [
        other if others or not used else tree
        for (tree, used), (other, others) in zip(first, found, strict=True)
    ]


def _most(lines: Iterable[Mapping[Kind, int]]) -> Mapping[Kind, int]:
    """How many digits the line with most of them has, for each stage."""
    most: dict[Kind, int] = {}
    for used in lines:
        for kind, guard in used.items():
            most[kind] = max(guard, most.get(kind, 0))
    return most


def _worked(
    evaluation: Values, step: Step, place: Place, notation: Notation, least: Mapping[Kind, int]
) -> _Line:
    """The line, with at `least` so many digits beyond the usual ones."""
    instance(evaluation, Values, "evaluation", "an Evaluation")
    instance(step, Step, "step", "a Step")
    *head, row, column = place
    row, column = (whole(k, f"{step.name}: place", 0, MAX_ENTRIES) for k in (row, column))
    head = [whole(k, f"{step.name}: head", 0, MAX_ENTRIES) for k in head]
    symbol, expr = step.in_convention(notation)
    places = dict(zip((ROW, COLUMN, HEAD), (row, column, *head), strict=False))
    left = r.at(r.rule_of(symbol, row, column), places, evaluation.sizes)
    stated = r.at(_unfolded(evaluation, expr, notation), places, evaluation.sizes)
    cell = (column, row) if notation.convention == "columns" else (row, column)
    stages = Stages(Numbers(evaluation, notation), least)
    rule = r.rule_of(expr, ROW, COLUMN)
    if isinstance(rule, r.Cases) and isinstance(rule.left, r.Named) and r.entries(rule.left):
        return _by_number(stages, left, rule, places)
    return _line(stages, Speller(notation).rule(left), stated, step.letter, (*head, *cell))


def _line(stages: Stages, left: Tree, stated: Rule, letter: str, place: Place) -> _Line:
    """The entry at a place, by the rule as it is stated for it."""
    numbers, notation = stages.numbers, stages.numbers.notation
    rule, speller = numbers.decided(stated), Speller(notation)
    result = numbers.evaluation.digits(letter, place, notation)
    equation = t.equation(left, (t.EQUALS, number(result.text)))
    nothing: _Line = t.row(equation, t.Text(" (no key may be attended to)")), {}
    if isinstance(rule, r.Over) and rule.empty is not None and numbers.vanishes(rule.den):
        return nothing
    if any(numbers.is_open(part) for part in r.parts(rule)):
        return nothing
    if isinstance(stated, r.Cases) and isinstance(stated.right, r.OfRow):
        best = numbers.exact(stated.right)
        if best < 0:
            return nothing
        because = t.equation(stages.row_stage(stated.right, best), (t.EQUALS, speller.index(best)))
        value = written_out(numbers.exact(rule))  # proven, where balls cannot tell a tie
        equation = t.equation(left, (t.EQUALS, speller.scalar(value)))
        return t.row(equation, t.Text(" since "), because), {}
    if notation.exact:
        exact = simplified(numbers.evaluation.exact(letter)[place])
        return t.equation(left, *_readable(_exact_links(stages, rule, exact), notation)), {}
    made, used = stages.stages(rule, _STAGES, result)
    links = [*_links(stages, rule, made, result)]
    settled = numbers.settled(rule) if result.exact and links[-1][0] == t.APPROX else None
    links = links if settled is None else [*_settled_links(stages, (rule, settled), result)]
    return t.equation(left, *_readable(links, notation)), used


def _by_number(
    stages: Stages, left: Rule, rule: r.Cases, places: Mapping[sympy.Symbol, int]
) -> _Line:
    """M_12 = −∞ since κ_12 = 3 > 2: an entry that a number made of entries decides."""
    numbers, speller = stages.numbers, Speller(stages.numbers.notation)
    stated = r.at(rule, places, numbers.evaluation.sizes)
    assert isinstance(rule.left, r.Named)
    assert isinstance(stated, r.Cases)
    told = replace(rule.left, indices=tuple(places.get(i, i) for i in rule.left.indices))
    found, bound = numbers.exact(stated.left), numbers.exact(stated.right)
    value = numbers.exact(numbers.decided(stated))
    sign = rule.sign if value == numbers.exact(stated.value) else _OPPOSITE[rule.sign]
    because = t.equation(
        speller.rule(told),
        (t.EQUALS, speller.scalar(found)),
        (t.Op(sign), speller.scalar(bound)),
    )
    equation = t.equation(speller.rule(left), (t.EQUALS, speller.scalar(value)))
    return t.row(equation, t.Text(" since "), because), {}


#: What holds where the condition of a sign does not.
_OPPOSITE = {"≤": ">", "=": "≠"}


def _readable(links: Iterable[_Link], notation: Notation) -> Iterator[_Link]:
    """The links up to the value, with ⋯ for stages of more numbers than one reads."""
    *stages, value = links
    most = 8 * notation.limit
    before: Tree | None = None
    for sign, stage in stages:
        numbers = sum(isinstance(part, t.Num) for part in t.parts(stage))
        tree = t.DOTS if 0 < most < numbers else stage
        if tree != before:
            yield sign, tree
        before = tree
    yield value


def _unfolded(evaluation: Values, expr: MatrixExpr, notation: Notation) -> Rule:
    """The rule; a plain rescaling shows the sum that it rescales: (1·0 + 0·4)/√2."""
    rule = r.rule_of(expr, ROW, COLUMN)
    match rule:
        case r.Over(r.Entry() as sum_, r.Const() as divisor):
            for before in evaluation.steps:
                if before.letter == sum_.letter:
                    inside = r.rule_of(before.in_convention(notation)[1], ROW, COLUMN)
                    return r.Over(inside, divisor)
    return rule


def _links(stages: Stages, rule: Rule, made: Sequence[Stage], result: Digits) -> Iterator[_Link]:
    """The stages of the line, each with ``=`` while all digits are exact, then ``≈``."""
    exact_so_far, before = True, None
    if isinstance(rule, r.Entry):
        yield t.EQUALS, stages.numbers.speller.entry(rule)
    for stage in made:
        if stage.tree in (before, number(result.text)):
            continue
        exact_so_far = exact_so_far and stage.exact
        before = stage.tree
        yield (t.EQUALS if exact_so_far else t.APPROX), stage.tree
    final = number(result.text) if result.proven else t.row(number(result.text), t.Op("?"))
    if before is None or final != before:
        certain = exact_so_far or result.text == "-inf"  # −∞ swallows whatever it is added to
        yield (t.EQUALS if certain and result.exact else t.APPROX), final


def _settled_links(stages: Stages, rules: tuple[Rule, Rule], result: Digits) -> Iterator[_Link]:
    """e^x/(e^x + e^(−∞)) = e^x/(e^x + 0) = 1: nothing is rounded on the way."""
    before: Tree | None = None
    for rule in rules:
        stage = stages.settled_stage(rule)
        if stage != before:
            yield t.EQUALS, stage
        before = stage
    yield t.EQUALS, number(result.text)


def _exact_links(stages: Stages, rule: Rule, result: sympy.Expr) -> Iterator[_Link]:
    """The operands put in exactly, and the exact result, all in one form."""
    numbers = stages.numbers
    operands = map(numbers.exact, r.entries(rule))
    speller = numbers.speller.alike([*operands, result])
    numbers_in, value = stages.exact_stage(rule, speller), speller.scalar(result)
    if numbers_in != value:
        yield t.EQUALS, numbers_in
    yield t.EQUALS, value


#: What is written as one number at each stage.
_STAGES: tuple[Kind, ...] = (
    (),
    (r.Exp, r.Apply, r.OfRow),
    (r.Exp, r.Apply, r.OfRow, r.Plus),
)
