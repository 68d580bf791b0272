"""Worked lines judged: ``s_12 = 1·0 + 2·4 = 8`` is checked link by link.

A sign ``=`` or ``≈`` before a decimal holds if the decimal is a correct rounding of what stands
before it, or that cut off; between sides without decimals it holds if they are proven equal; a side
in which some numbers were rounded (``2.034/3.034``) has to be made as the side before it is, each
number a rounding of its part. What stands before a sign may be read as the numbers printed there,
as any side before it, of which they are roundings, or as the true numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

import sympy
from flint import arb, fmpq

from symattn.arithmetic.base import Array
from symattn.arithmetic.decide import decide
from symattn.arithmetic.enclosure import BITS, ball, precision
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.quantity import Quantity, exactly
from symattn.arithmetic.verify import cuts_to, rounds_to
from symattn.arithmetic.written import Written
from symattn.claims.entry_names import called, counted_place, without_tex
from symattn.claims.lines import Claim, Side
from symattn.derivations import Evaluation, Place
from symattn.errors import SymattnError, Undecided
from symattn.evaluate.rules import place_in, rule_at
from symattn.grammar import Apart, Call, Number, Tree
from symattn.marking.verdicts import true_value
from symattn.nodes import rule as r
from symattn.notation.text import line as as_line
from symattn.notation.tree import Num

#: Numbers below 10 to this are written out.
_LONG = 300


@dataclass(frozen=True)
class Link:
    """A sign of a worked line that does not hold, between what stands on its left and right.

    `verdict` is ``wrong``, ``truncated`` (the right side is the left one cut off) or ``undecided``.
    """

    step: str
    letter: str
    place: Place
    #: The entry as its worksheet counts.
    entry: str
    left: str
    sign: str
    right: str
    #: What the left side comes to, and the right side where that is no single number.
    value: str
    other: str
    verdict: str
    #: Line and column in the file where the line begins, from 1; 0 where they are not known.
    line: int = 0
    column: int = 0
    #: Said instead, of a term that is not the rule's.
    term: str = ""

    @property
    def message(self) -> str:
        """What is said of it, in one line."""
        of = f"worked line of {self.entry}" if self.entry else "worked line"
        if self.term:
            return f"{of}: {self.term}"
        if self.verdict == "undecided":
            return f"{of}: whether {self.left} is {self.right} is undecided"
        other = f", which is {self.other}" if self.other else ""
        if self.verdict == "truncated":
            return f"{of}: {self.left} is {self.value}; {self.right} is cut off{other}"
        return f"{of}: {self.left} is {self.value}, not {self.right}{other}"


def check_lines(
    lines: Sequence[Claim], evaluation: Evaluation, claims: Mapping[str, Array]
) -> tuple[Link, ...]:
    """The signs that do not hold: of each line those cut off, and the first that is wrong."""
    return tuple(link for line in lines for link in _links(line, evaluation, claims))


def _links(line: Claim, evaluation: Evaluation, claims: Mapping[str, Array]) -> Iterator[Link]:
    """What does not hold in one line; in a batch its item is looked at alone."""
    item, inside = evaluation.within(line.letter, line.place) if line.letter else ((), ())
    if not item:
        yield from _Check(line, evaluation, claims).links()
        return
    part = evaluation.of_batch(*item)
    own = {letter: evaluation.item_of(letter, array, item) for letter, array in claims.items()}
    for link in _Check(replace(line, place=inside), part, own).links():
        yield replace(link, place=line.place)


@dataclass(frozen=True)
class _Check:
    """The check of one line."""

    line: Claim
    evaluation: Evaluation
    claims: Mapping[str, Array]

    def links(self) -> Iterator[Link]:
        sides = self.line.sides
        if sides and self.line.letter:
            fault = self._wrong_term(sides[0])
            if fault:
                yield self._link(sides[0], sides[0], "wrong", fault)
        for count in range(1, len(sides)):
            try:
                verdict = self._held(sides[:count], sides[count])
            except Undecided:
                verdict = "undecided"
            if verdict != "right":
                yield self._link(sides[count - 1], sides[count], verdict)
            if verdict == "wrong":
                return

    def _link(self, left: Side, right: Side, verdict: str, term: str = "") -> Link:
        name = self.evaluation[self.line.letter].name if self.line.letter else ""
        places = 4 if right.written is None else max(right.written.places or 0, 0)
        line, column = self.line.where
        return Link(
            name,
            self.line.letter,
            self.line.place,
            called(self.evaluation, self.line.letter, self.line.place) if name else "",
            without_tex(left.text),
            right.sign or "=",
            without_tex(right.text),
            _to_places(left.value, places),
            "" if right.written is not None or right.is_exact else _to_places(right.value, places),
            verdict,
            line,
            column,
            term,
        )

    # ---- one sign ----

    def _held(self, before: Sequence[Side], right: Side) -> str:
        """Whether a sign holds between what stands before it and its right side."""
        if right.written is not None:
            return self._rounded(before, right, right.written)
        left = before[-1]
        if left.is_infinite or right.is_infinite:
            return "right" if left.value is right.value else "wrong"
        if left.quantity.same(right.value):
            return "right"
        if right.is_exact and left.is_exact:
            return "wrong"
        for side in reversed(before):
            if _made_alike(side.tree, right):
                return "right"
        if self._from_truth(left, right):
            return "right"
        alike = _is_alike(left.tree, right.tree) and not _is_reduced(left.tree, right.tree)
        return "right" if not alike and _meet(right, left.value) else "wrong"

    def _rounded(self, before: Sequence[Side], right: Side, written: Written) -> str:
        if written.hidden or before[-1].is_infinite:
            return "right" if written.hidden and before[-1].is_infinite else "wrong"
        before = [side for side in before if not side.is_infinite]
        if written.places is None or (written.places <= 0 and right.sign == "="):
            if before[-1].quantity.same(written.value):
                return "right"
            if before[-1].is_exact or written.places is None:
                return "wrong"
        verdicts = [_rounding(side.quantity, written) for side in reversed(before)]
        if verdicts[0] != "wrong" or before[-1].is_exact:
            return verdicts[0]
        if "right" in verdicts:
            return "right"
        has_decimals = (written.places or 0) > 0
        if self.line.letter and has_decimals and _sides_overlap(before[-1], right):
            true = true_value(self.evaluation, self.line.letter, self.line.place)
            if rounds_to(true, written):
                return "right"
        return "truncated" if "truncated" in verdicts else "wrong"

    def _from_truth(self, left: Side, right: Side) -> bool:
        """Whether the right side is the entry's own rule with the true numbers, rounded."""
        if not self.line.letter or left.is_exact or not _sides_overlap(left, right):
            return False
        rule = _made_rule(self.evaluation, self.line.letter, self.line.place)
        return rule is not None and _made_alike(rule, right, self.evaluation)

    # ---- its product terms ----

    def _wrong_term(self, side: Side) -> str:
        """What is wrong with the products of a sum of products; "" where nothing is."""
        rule, tree = self._sums(side)
        products = [product for term in rule if (product := _product(term)) is not None]
        terms = [factors for part in tree if (factors := _factors(part)) is not None]
        if not rule or len(products) != len(rule) or len(terms) != len(tree):
            return ""
        left, odd = dict(enumerate(products)), list[int]()
        for k, term in enumerate(terms):
            order = sorted(left, key=lambda n: n != k)
            fits = [n for n in order if self._is_term(term, left[n], side)]
            if fits:
                del left[fits[0]]
            else:
                odd.append(k)
        exact = self.evaluation.exact
        needed = [n for n, two in left.items() if all(exact(x)[at] != 0 for x, at in two)]
        if not odd:
            return f"the term {self._term(left[needed[0]])} is missing" if needed else ""
        wrong = without_tex(_term_texts(side.text, len(terms))[odd[0]])
        instead = [n for n in (odd[0], *needed) if n in left]
        if not instead:
            return f"{wrong} is one term too many"
        return f"the term {wrong} should be {self._term(left[instead[0]])}"

    def _sums(self, side: Side) -> tuple[tuple[r.Rule, ...], tuple[Tree, ...]]:
        """The terms of the rule of the entry, and those that stand there; () where it is no sum."""
        rule = rule_at(self.evaluation, self.line.letter, self.line.place)
        tree = side.tree if side.written is None else None
        while isinstance(rule, r.Over) and tree is not None:
            rule = rule.num
            if isinstance(rule, r.Entry):
                rule = rule_at(self.evaluation, *place_in(rule))
            tree = tree.parts[0] if isinstance(tree, Apart) and tree.sign == "/" else None
        if not isinstance(rule, r.Plus) or tree is None:
            return (), ()
        return rule.terms, tree.parts if isinstance(tree, Apart) and tree.sign == "+" else (tree,)

    def _is_term(self, term: tuple[Tree, Tree], product: _Product, side: Side) -> bool:
        first, second = term
        return any(
            self._is_operand(first, a, side, sign) and self._is_operand(second, b, side, sign)
            for a, b in (product, product[::-1])
            for sign in (1, -1)  # − 0.33·3 is 0.33·(−3)
        )

    def _claimed(self, letter: str, place: Place) -> Written | None:
        """What is claimed of an entry."""
        written: Written | None = self.claims[letter][place] if letter in self.claims else None
        return written

    def _is_operand(self, factor: Tree, read: tuple[str, Place], side: Side, sign: int) -> bool:
        """Whether a factor, or its negative, is an entry: as claimed, or a rounding of the true."""
        value = sign * _value(factor)
        written = self._claimed(*read)
        if written is not None and written.value == value:
            return True
        if value is sympy.S.NegativeInfinity:
            return True
        letter, place = read
        true = exactly(self.evaluation.exact(letter)[place])
        if true.hidden:
            return False
        places = side.decimals.get(abs(Fraction(str(value)))) if value.is_Rational else None
        try:
            if places is None:
                return true.same(value)
            return _rounding(true, Written("", value, places)) != "wrong"
        except Undecided:
            return True

    def _term(self, product: _Product) -> str:
        """A term with its numbers, as claimed or as they are, and what they are called."""
        numbers, symbols, notation = list[str](), list[str](), self.evaluation.notation
        for letter, place in product:
            written = self._claimed(letter, place)
            number = str(written or self.evaluation.digits(letter, place, notation).text)
            numbers.append(f"({number})" if number[:1] in "-−" else number)
            index = tuple(Num(str(n)) for n in counted_place(place, notation))
            head = index[0] if len(index) > 2 else None
            symbols.append(as_line(notation.entry(letter, head, index[-2:])))
        return f"{'·'.join(numbers)} ({'·'.join(symbols)})"


#: The two entries, by letter and place, that a term of a rule multiplies.
_Product: TypeAlias = tuple[tuple[str, Place], tuple[str, Place]]


def _product(rule: r.Rule) -> _Product | None:
    """The entries of a term that is the product of two; None for any other."""
    match rule:
        case r.Times((r.Entry() as first, r.Entry() as second)):
            return place_in(first), place_in(second)
    return None


def _factors(tree: Tree) -> tuple[Tree, Tree] | None:
    """The two factors of a product; a minus sign belongs to the first."""
    if isinstance(tree, Apart) and tree.sign == "neg":
        inner = _factors(tree.parts[0])
        return None if inner is None else (Apart("neg", (inner[0],)), inner[1])
    if isinstance(tree, Apart) and tree.sign == "*" and len(tree.parts) == 2:
        return tree.parts[0], tree.parts[1]
    return None


def _term_texts(text: str, count: int) -> list[str]:
    """The terms of a sum as they are written, if they can be told apart; else as numbers."""
    depth, start, found = 0, 0, []
    for at, sign in enumerate(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(sign, 0)
        before = text[:at].rstrip()[-1:]
        if sign in "+-−" and depth == 0 and (before.isalnum() or before in ")}]"):
            found.append(text[start:at])
            start = at + (sign == "+")
    found.append(text[start:])
    if len(found) != count:
        return [text] * count
    return [piece.strip() for piece in found]


# ---- sides that are made alike ---------------------------------------------------------------

#: What a number is put together of: what somebody wrote, or the rule of an entry.
_Made: TypeAlias = Tree | r.Rule

_PLAIN = (r.Entry, r.Const, r.Plus, r.Times, r.Over, r.Exp, r.Apply, r.Power)


def _made_rule(evaluation: Evaluation, letter: str, place: Place) -> r.Rule | None:
    """The rule of an entry; None where it has none that can be written out in signs."""
    rule = rule_at(evaluation, letter, place)
    if rule is None or not all(isinstance(part, _PLAIN) for part in r.parts(rule)):
        return None
    return rule


def _parts(made: _Made) -> tuple[Any, tuple[Any, ...]]:
    """The sign, or the function, by which something is put together, and its parts."""
    match made:
        case Call(name, args):
            return name, args
        case Apart(sign, parts, power):
            return (sign, power), parts
        case r.Plus():
            terms = r.terms(made)
            return (("+", 1), terms) if len(terms) > 1 else _parts(terms[0])
        case r.Times(factors):
            return ("*", 1), factors
        case r.Over(num, den, _):
            return ("/", 1), (num, den)
        case r.Exp(body):
            return "exp", (body,)
        case r.Apply(name, body):
            return name, (body,)
        case r.Power(body, exponent):
            return ("^", exponent), (body,)
    return "", ()


def _true(rule: r.Rule, evaluation: Evaluation) -> sympy.Expr:
    """What a rule comes to, by the true values of what it is made from."""
    match rule:
        case r.Entry():
            letter, place = place_in(rule)
            return evaluation.exact(letter)[place]
        case r.Const(value):
            return value.subs(evaluation.sizes)
        case r.Power(body, exponent):
            return _true(body, evaluation) ** sympy.Rational(exponent)
    sign, parts = _parts(rule)
    values = [_true(part, evaluation) for part in parts]
    return FUNCTIONS[sign].exact(*values) if isinstance(sign, str) else _joined(sign[0], values)


def _joined(sign: str, values: Sequence[Any]) -> Any:
    """Numbers, or balls, put together by a sign."""
    first, *others = values
    match sign:
        case "+":
            return sum(others, first)
        case "*":
            return prod(others, start=first)
        case "/":
            return first / others[0]
    return -first


def _made_alike(left: _Made, right: Side, evaluation: Evaluation | None = None) -> bool:
    """Whether the right side is made as the left is, each of its numbers a rounding of its part.

    A rule's entries may be opened, that is made by their own rules.
    """

    def fits(left: Any, other: Tree, depth: int = 0) -> bool:
        if depth > 60:
            return False
        ours = _value(left) if evaluation is None else _true(left, evaluation)
        number = _number(other)
        if number is not None:
            return _is_rounding(exactly(ours), number, right)
        with suppress(Undecided):
            if exactly(ours).same(_value(other)):
                return True
        if _is_alike(left, other) and inner_fit(left, other, depth):
            return True
        if evaluation is None or not isinstance(left, r.Entry):
            return False
        opened = _made_rule(evaluation, *place_in(left))
        return opened is not None and fits(opened, other, depth + 1)

    def inner_fit(left: _Made, other: Tree, depth: int) -> bool:
        (sign, ours), (_, theirs) = _parts(left), _parts(other)
        if sign not in (("+", 1), ("*", 1)):
            return all(fits(o, t, depth + 1) for o, t in zip(ours, theirs, strict=True))
        rest = list(ours)
        for part in theirs:
            found = next((o for o in rest if fits(o, part, depth + 1)), None)
            if found is None:
                return False
            rest.remove(found)
        return True

    try:
        return fits(left, right.tree)
    except (Undecided, SymattnError, ArithmeticError, TypeError, KeyError):
        return False  # a part has no value of its own


def _is_rounding(x: Quantity, number: sympy.Rational, right: Side) -> bool:
    """Whether a number of a side is x, or x rounded or cut off at the decimals it has there."""
    places = right.decimals.get(abs(Fraction(int(number.p), int(number.q))))
    if places is None:
        if right.sign != "=" and number.is_Integer:
            return _rounding(x, Written("", number, 0)) != "wrong"
        return x.same(number)
    return _rounding(x, Written("", number, places)) != "wrong"


def _rounding(x: Quantity, written: Written) -> str:
    """Whether what is written is x rounded (``right``), cut off, or neither."""
    if rounds_to(x, written):
        return "right"
    if (written.places or 0) >= 1 and cuts_to(x, written):
        return "truncated"
    return "wrong"


def _number(tree: Tree) -> sympy.Rational | None:
    """The number that a tree is, with its sign; None if it is put together."""
    match tree:
        case Number(value):
            return sympy.Rational(value.numerator, value.denominator)
        case Apart("neg", (Number(value),)):
            return -sympy.Rational(value.numerator, value.denominator)
    return None


def _is_alike(left: _Made, right: Tree) -> bool:
    """Whether both are put together by the same sign, of as many parts."""
    (sign, ours), (other, theirs) = _parts(left), _parts(right)
    return sign == other and len(ours) == len(theirs) > 0


def _is_reduced(left: Tree, right: Tree) -> bool:
    """Whether a fraction is written as another one, half as large or twice.

    e^8/(e^5 + e^8) is 1/(1 + e^(−3)).
    """
    match left, right:
        case (Apart("/", ours), Apart("/", theirs)):
            pairs = [(ball(_value(o)), ball(_value(t))) for o, t in zip(ours, theirs, strict=True)]
            less = all(bool(2 * abs(t) < abs(o)) for o, t in pairs)
            return less or all(bool(abs(t) > 2 * abs(o)) for o, t in pairs)
    return False


@lru_cache(maxsize=4096)
def _value(tree: Tree) -> sympy.Expr:
    from symattn.arithmetic.reading import value_of

    return value_of(tree)


# ---- ranges ----------------------------------------------------------------------------------


def _range(side: Side) -> arb:
    """All that a side may come to if its decimals were rounded or cut off, as a ball."""
    if side.written is not None:
        number = side.written
        exact = arb(number.number) if number.places is not None else ball(number.value)
        return exact + arb(0, arb(number.unit).upper()) if (number.places or 0) > 0 else exact

    def ranged(tree: Tree) -> arb:
        match tree:
            case Number(value):
                middle = arb(fmpq(value.numerator, value.denominator))
                places = side.decimals.get(value)
                if places is None:
                    return middle
                unit = Written("", sympy.Integer(0), places).unit
                return middle + arb(0, arb(unit).upper())
            case Call("exp", (body,)) if _value(body) is sympy.S.NegativeInfinity:
                return arb(0)
            case Call(name, (body,)):
                return FUNCTIONS[name].ball(ranged(body))
            case Apart("+" | "*" | "/" | "neg" as sign, parts):
                joined: arb = _joined(sign, [ranged(part) for part in parts])
                return joined
        return ball(_value(tree))

    return ranged(side.tree)


def _sides_overlap(left: Side, right: Side) -> bool:
    """Whether two sides may come to the same, if their decimals were rounded."""
    with precision(BITS[0]):
        return bool(_range(left).overlaps(_range(right)))


def _meet(right: Side, value: sympy.Expr) -> bool:
    """Whether a side may come to a number, if its decimals were rounded."""
    with precision(BITS[0]):
        found = _range(right)
        return bool(found.is_finite() and found.overlaps(ball(value)))


def _to_places(value: sympy.Expr, places: int) -> str:
    """A number with two decimals more than are asked for, without zeros at its end."""
    if value is sympy.S.NegativeInfinity:
        return "−∞"
    text = decide(exactly(value), min(places + 2, 40), long=_LONG).text
    if "." in text and value.is_Rational and sympy.Rational(text) == value:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")
