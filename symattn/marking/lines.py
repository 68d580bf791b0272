"""Worked lines judged: ``s_12 = 1·0 + 2·4 = 8`` is checked link by link.

A sign ``=`` or ``≈`` before a decimal holds if the decimal is a correct rounding of what stands
before it, or that cut off; between sides without decimals it holds if they are proven equal; a side
in which some numbers were rounded (``2.034/3.034``) has to be made as the side before it is, each
number a rounding of its part. What stands before a sign may be read as the numbers printed there,
as any side before it, of which they are roundings, or as the true numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

import sympy
from flint import arb, fmpq

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import BITS, ball, precision
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.quantity import Quantity, exactly
from symattn.arithmetic.verify import cuts_to, rounds_to
from symattn.arithmetic.written import Written
from symattn.claims.entry_names import called, counted_place, without_tex
from symattn.claims.lines import Line, Side
from symattn.claims.rules import place_in, rule_at
from symattn.derivations import Evaluation, Place
from symattn.errors import CannotSpell, SymattnError, Undecided
from symattn.grammar import Apart, Call, Name, Number, Tree
from symattn.nodes import rule as r
from symattn.notation.text import line as as_line
from symattn.notation.tree import Num


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
    lines: Sequence[Line], evaluation: Evaluation, claims: Mapping[str, Array]
) -> tuple[Link, ...]:
    """The signs that do not hold: of each line those cut off, and the first that is wrong."""
    return tuple(link for line in lines for link in _links(line, evaluation, claims))


def _links(line: Line, evaluation: Evaluation, claims: Mapping[str, Array]) -> Iterator[Link]:
    """What does not hold in one line; in a batch its item is looked at alone."""
    item, inside = evaluation.within(line.letter, line.place) if line.letter else ((), ())
    if not item:
        yield from _Check(line, evaluation, claims).links()
        return
    part = evaluation.of_batch(*item)
    own = {letter: evaluation.item_of(letter, array, item) for letter, array in claims.items()}
    for link in _Check(replace(line, place=inside), part, own).links():
        yield replace(link, place=line.place)


@dataclass
class _Check:
    """The check of one line."""

    line: Line
    evaluation: Evaluation
    claims: Mapping[str, Array]
    #: The true entries that the rule's tree names.
    entries: dict[str, tuple[str, Place]] = field(default_factory=dict)
    consts: dict[str, sympy.Expr] = field(default_factory=dict)

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
            if _made_alike(_Parts(side), right, side.tree):
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
        place = self.line.place
        if self.line.letter and _overlap(before[-1], written):
            true = Quantity(
                lambda bits: self.evaluation.balls(self.line.letter, bits)[place],
                lambda: self.evaluation.exact(self.line.letter)[place],
            )
            if rounds_to(true, written):
                return "right"
        return "truncated" if "truncated" in verdicts else "wrong"

    def _from_truth(self, left: Side, right: Side) -> bool:
        """Whether the right side is the entry's own rule with the true numbers, rounded."""
        if not self.line.letter or left.is_exact or not _sides_overlap(left, right):
            return False
        tree = self._rule_tree()
        return tree is not None and _made_alike(_TrueParts(self), right, tree)

    # ---- the rule of the entry ----

    def _rule_tree(self, letter: str = "", place: Place = ()) -> Tree | None:
        """The entry's rule as a tree over the true entries; None where it has none."""
        rule = rule_at(self.evaluation, letter or self.line.letter, place or self.line.place)
        try:
            return None if rule is None else self._tree(rule)
        except CannotSpell:
            return None

    def _tree(self, rule: r.Rule) -> Tree:
        match rule:
            case r.Entry():
                letter, place = place_in(rule)
                key = f"{letter}[{','.join(map(str, place))}]"
                self.entries[key] = letter, place
                return Name(key)
            case r.Const(value):
                key = str(value)
                self.consts[key] = value.subs(self.evaluation.sizes)
                return Name(key)
            case r.Plus():
                terms = tuple(map(self._tree, _terms(rule)))
                return Apart("+", terms) if len(terms) > 1 else terms[0]
            case r.Times(factors):
                return Apart("*", tuple(map(self._tree, factors)))
            case r.Over(num, den, _):
                return Apart("/", (self._tree(num), self._tree(den)))
            case r.Exp(body):
                return Call("exp", (self._tree(body),))
            case r.Apply(name, body):
                return Call(name, (self._tree(body),))
            case r.Power(body, exponent):
                return Apart("^", (self._tree(body),), Fraction(exponent))
        raise CannotSpell("a rule without a tree")

    # ---- its product terms ----

    def _wrong_term(self, side: Side) -> str:
        """What is wrong with the products of a sum of products; "" where nothing is."""
        rule = rule_at(self.evaluation, self.line.letter, self.line.place)
        tree = side.tree if side.written is None else None
        while isinstance(rule, r.Over) and tree is not None:
            rule = rule.num
            if isinstance(rule, r.Entry):
                rule = rule_at(self.evaluation, *place_in(rule))
            tree = tree.parts[0] if isinstance(tree, Apart) and tree.sign == "/" else None
        if not isinstance(rule, r.Plus) or tree is None:
            return ""
        wanted = [term for term in rule.terms if _is_product(term)]
        parts = tree.parts if isinstance(tree, Apart) and tree.sign == "+" else (tree,)
        terms = [_factors(part) for part in parts]
        if len(wanted) != len(rule.terms) or any(term is None for term in terms):
            return ""
        texts = _term_texts(side.text, len(terms))
        left = list(range(len(wanted)))
        odd: list[int] = []
        for k, term in enumerate(terms):
            assert term is not None
            fits = [
                n
                for n in sorted(left, key=lambda n: n != k)
                if self._is_term(term, wanted[n], side)
            ]
            if fits:
                left.remove(fits[0])
            else:
                odd.append(k)
        needed = [n for n in left if not self._vanishes(wanted[n])]
        if odd:
            wrong = without_tex(texts[odd[0]])
            n = odd[0] if odd[0] in left else needed[0] if needed else -1
            return (
                f"the term {wrong} should be {self._term(wanted[n])}"
                if n >= 0
                else f"{wrong} is one term too many"
            )
        return f"the term {self._term(wanted[needed[0]])} is missing" if needed else ""

    def _is_term(self, term: tuple[Tree, Tree], rule: r.Rule, side: Side) -> bool:
        one, other = (place_in(factor) for factor in _entries_of(rule))
        first, second = term
        return any(
            self._is_operand(first, a, side, sign) and self._is_operand(second, b, side, sign)
            for a, b in ((one, other), (other, one))
            for sign in (1, -1)  # − 0.33·3 is 0.33·(−3)
        )

    def _is_operand(self, factor: Tree, read: tuple[str, Place], side: Side, sign: int) -> bool:
        """Whether a factor, or its negative, is an entry: as claimed, or a rounding of the true."""
        value = sign * _value(factor)
        letter, place = read
        claimed = self.claims.get(letter)
        written: Written | None = None if claimed is None else claimed[place]
        if written is not None and written.value == value:
            return True
        if value is sympy.S.NegativeInfinity:
            return True
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

    def _vanishes(self, rule: r.Rule) -> bool:
        return any(
            self.evaluation.exact(letter)[place] == 0
            for letter, place in map(place_in, _entries_of(rule))
        )

    def _term(self, rule: r.Rule) -> str:
        """A term with its numbers, as claimed or as they are, and what they are called."""
        numbers, symbols = [], []
        for letter, place in map(place_in, _entries_of(rule)):
            claimed = self.claims.get(letter)
            written: Written | None = None if claimed is None else claimed[place]
            digits = self.evaluation.digits(letter, place, self.evaluation.notation).text
            number = str(written) if written is not None else digits
            numbers.append(f"({number})" if number[:1] in "-−" else number)
            index = tuple(Num(str(n)) for n in counted_place(place, self.evaluation.notation))
            head = index[0] if len(index) > 2 else None
            symbols.append(as_line(self.evaluation.notation.entry(letter, head, index[-2:])))
        return f"{'·'.join(numbers)} ({'·'.join(symbols)})"


def _terms(rule: r.Rule) -> Iterator[r.Rule]:
    """The terms of a sum, and of sums in it."""
    if isinstance(rule, r.Plus):
        for term in rule.terms:
            yield from _terms(term)
    else:
        yield rule


def _entries_of(rule: r.Rule) -> tuple[r.Entry, ...]:
    assert isinstance(rule, r.Times)
    return tuple(factor for factor in rule.factors if isinstance(factor, r.Entry))


def _is_product(rule: r.Rule) -> bool:
    """Whether a term is the product of two entries."""
    return isinstance(rule, r.Times) and len(rule.factors) == 2 and len(_entries_of(rule)) == 2


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


class _Parts:
    """The parts of a side, by their values."""

    def __init__(self, side: Side) -> None:
        self.side = side

    def value(self, tree: Tree) -> sympy.Expr:
        return _value(tree)

    def opened(self, tree: Tree) -> Tree | None:
        return None


class _TrueParts(_Parts):
    """The parts of an entry's rule, by the true values of what it is made from."""

    def __init__(self, check: _Check) -> None:
        self.check = check

    def value(self, tree: Tree) -> sympy.Expr:
        match tree:
            case Name(name):
                if name in self.check.consts:
                    return self.check.consts[name]
                letter, place = self.check.entries[name]
                return self.check.evaluation.exact(letter)[place]
            case Call(name, (body,)):
                return FUNCTIONS[name].exact(self.value(body))
            case Apart("+", parts):
                return sympy.Add(*map(self.value, parts))
            case Apart("*", parts):
                return sympy.Mul(*map(self.value, parts))
            case Apart("/", (above, below)):
                return self.value(above) / self.value(below)
            case Apart("^", (base,), power):
                return self.value(base) ** sympy.Rational(power.numerator, power.denominator)
        raise TypeError(tree)

    def opened(self, tree: Tree) -> Tree | None:
        """The rule of an entry that stands for itself."""
        if isinstance(tree, Name) and tree.name in self.check.entries:
            return self.check._rule_tree(*self.check.entries[tree.name])
        return None


def _made_alike(parts: _Parts, right: Side, tree: Tree) -> bool:
    """Whether the right side is made as the tree is, each of its numbers a rounding of its part."""

    def fits(left: Tree, other: Tree, depth: int = 0) -> bool:
        if depth > 60:
            return False
        number = _number(other)
        if number is not None:
            return _is_rounding(exactly(parts.value(left)), number, right)
        try:
            if exactly(parts.value(left)).same(_value(other)):
                return True
        except Undecided:
            pass
        if _is_alike(left, other) and _inner_fit(left, other, depth):
            return True
        opened = parts.opened(left)
        return opened is not None and fits(opened, other, depth + 1)

    def _inner_fit(left: Tree, other: Tree, depth: int) -> bool:
        ours, theirs = _inside(left), _inside(other)
        if isinstance(left, Apart) and left.sign in "+*":
            rest = list(ours)
            for part in theirs:
                found = next((o for o in rest if fits(o, part, depth + 1)), None)
                if found is None:
                    return False
                rest.remove(found)
            return True
        return all(fits(o, t, depth + 1) for o, t in zip(ours, theirs, strict=True))

    try:
        return fits(tree, right.tree)
    except Undecided:
        return False
    except (SymattnError, ArithmeticError, TypeError, KeyError):
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


def _inside(tree: Tree) -> tuple[Tree, ...]:
    match tree:
        case Call(_, args):
            return args
        case Apart(_, parts):
            return parts
    return ()


def _is_alike(left: Tree, right: Tree) -> bool:
    """Whether both are put together by the same sign, of as many parts."""
    match left, right:
        case (Call(name, ours), Call(other, theirs)):
            return name == other and len(ours) == len(theirs)
        case (Apart(sign, ours, power), Apart(other, theirs, exponent)):
            return sign == other and len(ours) == len(theirs) and power == exponent
    return False


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
            case Apart("+", parts):
                return sum((ranged(part) for part in parts), arb(0))
            case Apart("*", parts):
                product = arb(1)
                for part in parts:
                    product = product * ranged(part)
                return product
            case Apart("/", (above, below)):
                return ranged(above) / ranged(below)
            case Apart("neg", (body,)):
                return -ranged(body)
        return ball(_value(tree))

    return ranged(side.tree)


def _overlap(side: Side, written: Written) -> bool:
    """Whether a side may come to what is written, if its decimals were rounded."""
    if written.places is None or written.places <= 0 or written.hidden:
        return False
    with precision(BITS[0]):
        return bool(_range(side).overlaps(arb(written.number) + arb(0, arb(written.unit).upper())))


def _sides_overlap(left: Side, right: Side) -> bool:
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
    number = sympy.Rational(value) if value.is_Rational else None
    digits = min(places + 2, 40)
    if number is None:
        with precision(BITS[1]):
            middle = ball(value).mid().fmpq()
        number = sympy.Rational(int(middle.p), int(middle.q))
    units = abs(number) * 10**digits
    whole = int(units + sympy.Rational(1, 2))
    body = str(whole).rjust(digits + 1, "0")
    text = f"{body[:-digits]}.{body[-digits:]}"
    text = (
        text.rstrip("0").rstrip(".") if number * 10**digits == sympy.sign(number) * whole else text
    )
    return f"−{text}" if number < 0 and whole else text
