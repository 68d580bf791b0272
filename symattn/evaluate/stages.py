"""The stages of a worked line, each of which follows from the numbers of the one before."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import sympy
from flint import arb

from symattn.arithmetic.abbreviated import nodes, written_out
from symattn.arithmetic.decide import Digits, decide
from symattn.arithmetic.enclosure import ball, precision
from symattn.arithmetic.quantity import Quantity
from symattn.evaluate.cells import LONGEST
from symattn.evaluate.operands import WIDE, Numbers
from symattn.nodes import rule as r
from symattn.nodes.rule import Rule
from symattn.nodes.spell import Speller, terminating
from symattn.notation.numbers import number
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree

#: Digits beyond those asked for that an operand may be shown with.
_GUARD = 4

#: A decimal that ends and is not longer than this is written in full where it counts as exact.
_IN_FULL = 10

#: An exact number with more nodes than this is not written as an operand.
_FEW_NODES = 12

#: The kinds of parts that are written as one number.
Kind: TypeAlias = tuple[type[Rule], ...]


@dataclass(frozen=True)
class Stage:
    """One stage of a worked line, and whether all its numbers are exact."""

    tree: Tree
    exact: bool


#: How many digits more than usual the rounded numbers of a stage have, and the stage.
_Found: TypeAlias = tuple[int, Stage]


@dataclass(frozen=True)
class Stages:
    """The rule of an entry with ever more of it written as numbers.

    `least`: how many digits beyond the usual ones the stage of a kind has at least.
    """

    numbers: Numbers
    least: Mapping[Kind, int]

    @property
    def notation(self) -> Notation:
        """How the line is written."""
        return self.numbers.notation

    def stages(
        self, rule: Rule, kinds: Sequence[Kind], result: Digits
    ) -> tuple[tuple[Stage, ...], Mapping[Kind, int]]:
        """The rule with operands, then with parts of more and more `kinds`, written as numbers.

        Beside them, how many digits beyond the usual ones the stage of a kind has.

        Exact numbers are preferred as long as there are such: 4/3 rather than 1.3333. After them
        every decimal is a rounded value, and what a reader gets from the numbers of the stage
        before; each stage gives the result. An earlier stage has more digits, and one that would
        need too many is left out. Where no digits do (at a tie), the operands are exact numbers
        or, if these are long, names.
        """
        kinds = [kind for kind in kinds if not kind or self._holds(rule, kind)]
        exact: list[Stage] = []
        while kinds and (stage := self._exact_stage(rule, kinds[0], result)) is not None:
            exact.append(stage)
            kinds = kinds[1:]
        for some in _fewer_and_fewer(kinds):
            if (exact or some) and (found := self._chain(rule, some, result)) is not None:
                used = dict(zip(some, (guard for guard, _ in found), strict=True))
                short = self._shorter(rule, some, found)
                rest = [] if short is None else self._chain(rule, some[1:], result)
                if short is not None and rest:
                    found = [(0, short), *rest]
                return (*exact, *(stage for _, stage in found)), used
        names = self._exactly(rule, kinds[0])[0]
        for some in _fewer_and_fewer(kinds[1:]):
            if (found := self._chain(rule, some, result)) is not None:
                return (*exact, names, *(stage for _, stage in found)), {}
        return (*exact, names), {}

    def _holds(self, rule: Rule, kind: Kind) -> bool:
        return any(isinstance(part, kind) for part in r.parts(rule) if part is not rule)

    def _exact_stage(self, rule: Rule, kind: Kind, result: Digits) -> Stage | None:
        """A stage all of whose numbers are exact and short; None if there is none."""
        if kind or result.exact:
            stage, is_plain = self._exactly(rule, kind)
            if is_plain:
                return stage
        _, stage = self._with_numbers(rule, kind, self.notation.digits)
        return stage if stage.exact else None

    def _shorter(self, rule: Rule, kinds: Sequence[Kind], found: Sequence[_Found]) -> Stage | None:
        """The operands of functions as exact numbers: e^√2 rather than e^1.4142136.

        None where the usual digits do, and where an exact number is longer than the decimal.
        """
        if len(kinds) < 2 or kinds[0] or found[0][0] == 0:
            return None
        stage, is_plain = self._exactly(rule, ())
        longer = len(line(stage.tree)) > len(line(found[0][1].tree))
        return stage if is_plain and not longer else None

    def _chain(self, rule: Rule, kinds: Sequence[Kind], result: Digits) -> list[_Found] | None:
        """Stages in which each number follows from those of the stage before; None if none do.

        The last stage is found first, with as few digits as give the result, then the one before
        it, with as many as give the decimals of the last one. All rounded numbers of a stage have
        the same number of decimals, and so have two stages that show a number both.
        """
        least = [self.least.get(kind, 0) for kind in kinds]
        found: dict[int, _Found] = {}
        texts: dict[int, dict[Rule, str]] = {len(kinds): {rule: result.text}}
        k = len(kinds) - 1
        while k >= 0:
            for guard in range(least[k], _GUARD + 1):
                digits = self.notation.digits + guard
                texts[k], stage = self._with_numbers(rule, kinds[k], digits)
                if self._follows(rule, texts[k], texts[k + 1], result, found.get(k + 1)):
                    break
            else:
                return None
            found[k] = guard, stage
            after = found.get(k + 1)
            if after is not None and after[0] != guard and texts[k].keys() & texts[k + 1].keys():
                if guard > after[0]:
                    k += 1
                least[k] = max(guard, after[0])
                continue
            k -= 1
        return [found[k] for k in range(len(kinds))]

    def _follows(
        self,
        rule: Rule,
        texts: dict[Rule, str],
        after: Mapping[Rule, str],
        result: Digits,
        found: _Found | None,
    ) -> bool:
        """Whether the numbers of a stage give those of the next one, and the result."""
        usual = self.notation.digits
        if found is not None and not all(
            self._gives(part, texts, text, usual + found[0], tiny=usual)
            for part, text in after.items()
            if part not in texts
        ):
            return False
        return self._gives(rule, texts, result.text, usual, tiny=None)

    def _with_numbers(
        self, rule: Rule, collapsed: Kind, digits: int
    ) -> tuple[dict[Rule, str], Stage]:
        """The decimals of its operands, and the rule with them."""
        texts: dict[Rule, str] = {}
        exact = True

        def leaf(part: Rule) -> Tree | None:
            nonlocal exact
            if not self._is_operand(part, rule, collapsed):
                return None
            simple = self._simple(part)
            if simple is not None:
                return simple
            decimal = self.numbers.digits(part, digits)
            texts[part] = decimal.text
            exact = exact and decimal.exact
            return number(decimal.text)

        tree = self.numbers.speller.rule(rule, leaf)
        return texts, Stage(tree, exact)

    def _exactly(self, rule: Rule, collapsed: Kind) -> tuple[Stage, bool]:
        """The rule with exact numbers put in, and whether all are short fractions and roots.

        Of the others, long ones are left as they stand.
        """
        is_plain = True

        def leaf(part: Rule) -> Tree | None:
            nonlocal is_plain
            if not self._is_operand(part, rule, collapsed):
                return None
            if not isinstance(part, r.Entry) and _holds_function(part):
                is_plain = False
                return None
            value = self.numbers.exact(part)
            tree = self._exact_number(value)
            is_plain = is_plain and tree is not None and not value.has(sympy.Function)
            return tree

        tree = self.numbers.speller.rule(rule, leaf)
        return Stage(tree, exact=True), is_plain

    def _is_operand(self, part: Rule, rule: Rule, collapsed: Kind) -> bool:
        """Whether a part of the rule is written as one number; minus a sum is, at the front."""
        if isinstance(part, r.Entry):
            return True
        match part:
            case r.Times((r.Const(sympy.S.NegativeOne), r.Plus() as total)):
                first = part is rule or (isinstance(rule, r.Over) and part is rule.num)
                return first and isinstance(total, collapsed)
        return part is not rule and isinstance(part, collapsed) and self.numbers.writable(part)

    def _exact_number(self, value: sympy.Expr) -> Tree | None:
        """An exact number, if it is short; a decimal that ends is written in full."""
        if nodes(value) > _FEW_NODES:
            return None
        if isinstance(value, sympy.Rational):
            decimal = terminating(abs(value), _IN_FULL)
            if decimal is not None and len(decimal) <= _IN_FULL:
                return number(f"-{decimal}" if value < 0 else decimal)
        tree = Speller(self.notation).scalar(written_out(value))
        return tree if len(line(tree)) <= LONGEST else None

    def settled_stage(self, rule: Rule) -> Tree:
        """The rule with exact numbers, decimals that end in full; a long one stays as it is."""
        return self._exactly(rule, ())[0].tree

    def exact_stage(self, rule: Rule, speller: Speller | None = None) -> Tree:
        """The rule with exact operands as a speller has them; a long one keeps its name."""
        speller = speller or self.numbers.speller

        def leaf(part: Rule) -> Tree | None:
            if not isinstance(part, r.Entry) or part is rule:
                return None
            tree = speller.scalar(written_out(self.numbers.exact(part)))
            return tree if len(line(tree)) <= LONGEST else None

        return speller.rule(rule, leaf)

    def row_stage(self, rule: r.OfRow, best: sympy.Integer) -> Tree:
        """The row with its numbers put in, with digits enough to see which one is largest."""
        if self.notation.exact:
            return self.exact_stage(rule)
        for guard in range(_GUARD + 1):
            texts, stage = self._with_numbers(rule, (), self.notation.digits + guard)
            if not _are_short(texts.values()) or self._again(rule, texts) == best:
                return stage.tree
        return self._exactly(rule, ())[0].tree

    def _simple(self, part: Rule) -> Tree | None:
        """A given number as it was given, if it is short: 1/3, √2, 0.12345."""
        if not isinstance(part, r.Entry) or part.letter not in self.numbers.evaluation.given:
            return None
        value = self.numbers.exact(part)
        return None if value.is_infinite else self._exact_number(value)

    def _again(self, part: Rule, texts: Mapping[Rule, str]) -> sympy.Expr:
        """The exact value of a part where others had the decimals that are printed."""
        return self.numbers.exact(part, {one: _as_rational(text) for one, text in texts.items()})

    def _gives(
        self, part: Rule, texts: dict[Rule, str], wanted: str, places: int, tiny: int | None
    ) -> bool:
        """Whether the printed numbers, worked out again, give the number printed for a part.

        What is not known to its last digit is taken as it stands. A result that is tiny is printed
        as 0.0000, a part of a line in scientific notation.
        """
        if any("?" in text for text in (wanted, *texts.values())):
            return True

        def ball_at(bits: int) -> arb:
            with precision(bits):
                balls = {part: _ball_of(text) for part, text in texts.items()}
                return self.numbers.ball_where(part, bits, balls)

        def exactly() -> sympy.Expr | None:
            return self._again(part, texts) if _are_short(texts.values()) else None

        settings: dict[str, int] = {"long": WIDE} if "e" in wanted else {}
        again = decide(Quantity(ball_at, exactly), places, self.notation.rounding, tiny, **settings)
        return again.proven and _as_decimal(again.text) == _as_decimal(wanted)


def _holds_function(rule: Rule) -> bool:
    """Whether a function such as exp stands in the part; its value is rarely a fraction or root."""
    return any(isinstance(part, r.Exp | r.Apply | r.OfRow) for part in r.parts(rule))


def _fewer_and_fewer(kinds: Sequence[Kind]) -> Iterator[Sequence[Kind]]:
    """All of them, then with ever more of the later ones left out."""
    for count in range(len(kinds), -1, -1):
        yield from itertools.combinations(kinds, count)


def _are_short(texts: Iterable[str]) -> bool:
    """Whether these decimals can be written out: each one known, and no power of ten enormous."""
    return all("?" not in text and len(text.partition("e")[2]) <= 5 for text in texts)


def _ball_of(text: str) -> arb:
    """An enclosure of a printed decimal, however large or small."""
    return ball(sympy.S.NegativeInfinity) if text == "-inf" else arb(text)


def _as_decimal(text: str) -> tuple[Decimal, int]:
    """A printed decimal, to be compared, and its power of ten: 0.50 is 0.5."""
    digits, _, power = text.partition("e")
    return Decimal(digits), int(power or 0)


def _as_rational(text: str) -> sympy.Expr:
    return sympy.S.NegativeInfinity if text == "-inf" else sympy.Rational(text)
