"""The entry rule of a matrix expression: its entry (i, j) as an expression of entries.

A rule is a small expression of its own, because SymPy's reorders products, turns 1/√2 into √2/2
and has no unexpanded sum of three terms. From one rule come the entry view, the worked numbers
and SymPy's ``_entry``. Indices count from 0 here; `Notation.index_base` is added when spelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, compress, count, product
from typing import Any, TypeAlias, cast

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.exact import ROW_FUNCTIONS, total
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.proof import ordered
from symattn.errors import CannotSpell, SymattnError

#: An index: a SymPy symbol or expression (symbolic rule) or a whole number (one entry).
Index: TypeAlias = "sympy.Expr | int"


@dataclass(frozen=True)
class Entry:
    """One entry of a named matrix: q_il."""

    matrix: MatrixExpr
    row: Index
    column: Index

    @property
    def letter(self) -> str:
        """The letter of the matrix; an inverse has none, ""."""
        return str(getattr(self.matrix, "name", ""))

    @property
    def head(self) -> Index | None:
        """Which head's matrix it is; None of one that all heads share."""
        return getattr(self.matrix, "head", None)

    @property
    def place(self) -> tuple[int, ...]:
        """Where it stands in the matrix: (head,) row, column; all of them known."""
        lead = () if self.head is None else (self.head,)
        return tuple(map(int, (*lead, self.row, self.column)))


@dataclass(frozen=True)
class Const:
    """A scalar that does not depend on the entry: √d_k, 1/8, −∞."""

    value: sympy.Expr


@dataclass(frozen=True)
class Ordinal:
    """An index used as a number, in a condition: the j in j ≤ i."""

    index: Index


class Nth(sympy.Expr):  # type: ignore[misc]  # SymPy has no types
    """The number at a place (from 0) of a list of whole numbers: (1, 1, 2)_i, in an `Ordinal`."""

    is_integer = True

    def __new__(cls, numbers: sympy.Tuple, place: Index) -> sympy.Expr:
        """The number itself where the place is known."""
        if isinstance(place, int | sympy.Integer):
            if not 0 <= place < len(numbers):
                raise SymattnError(f"a list of {len(numbers)} numbers has none for token {place}")
            return numbers[int(place)]
        return super().__new__(cls, numbers, place)

    @property
    def place(self) -> sympy.Expr:
        """Which of the numbers it is, from 0."""
        return self.args[1]


@dataclass(frozen=True)
class Named:
    """A letter with indices for a part, ψ_it; `at` replaces it by its value.

    The node that uses it says what the letter stands for (`Node._define`).
    """

    letter: str
    indices: tuple[Index, ...]
    value: Rule

    def at(self, index: sympy.Symbol, place: int) -> Named:
        """The letter of one place: θ_1."""
        return replace(self, indices=tuple(place if i == index else i for i in self.indices))


@dataclass(frozen=True)
class Plus:
    """A sum, in the order given; `empty` is its value by definition where it is −∞ + ∞."""

    terms: tuple[Rule, ...]
    empty: sympy.Expr | None = None


@dataclass(frozen=True)
class Times:
    """A product, in the order given."""

    factors: tuple[Rule, ...]


@dataclass(frozen=True)
class Over:
    """A quotient; `empty` is its value by definition where the denominator is 0."""

    num: Rule
    den: Rule
    empty: sympy.Expr | None = None


@dataclass(frozen=True)
class Total:
    """Σ of the body over an index from start, which is 0 in entry rules, to start + size − 1."""

    body: Rule
    index: sympy.Symbol
    size: sympy.Expr
    start: Index = 0


@dataclass(frozen=True)
class Exp:
    """e to the body."""

    body: Rule


@dataclass(frozen=True)
class Apply:
    """A function of one number, by its name in `FUNCTIONS`: tanh, σ, √, cos, sin, erf."""

    name: str
    body: Rule


@dataclass(frozen=True)
class Power:
    """The body to a whole power, which may be made of indices: (q_il − k_jl)², γ^(i − j)."""

    body: Rule
    exponent: Index


@dataclass(frozen=True)
class OfRow:
    """A function of a row of numbers, by its name in `ROW_FUNCTIONS`: argmax, τ.

    `terms` is the one body that the index runs through or, without an index, all of them.
    """

    name: str
    terms: tuple[Rule, ...]
    index: sympy.Symbol | None = None
    size: sympy.Expr = sympy.S.One


@dataclass(frozen=True)
class Cases:
    """`value` where left and right compare as the sign says (≤, =, ∈), else `otherwise`."""

    left: Rule
    sign: str
    right: Rule
    value: Rule
    otherwise: Rule


Rule: TypeAlias = (
    Entry
    | Const
    | Ordinal
    | Named
    | Plus
    | Times
    | Over
    | Total
    | Exp
    | Apply
    | Power
    | OfRow
    | Cases
)

#: The fields of each kind of rule that hold rules; the others have none.
_CHILDREN: Mapping[type, tuple[str, ...]] = {
    Named: ("value",),
    Plus: ("terms",),
    Times: ("factors",),
    Over: ("num", "den"),
    Total: ("body",),
    Exp: ("body",),
    Apply: ("body",),
    Power: ("body",),
    OfRow: ("terms",),
    Cases: ("left", "right", "value", "otherwise"),
}

#: A condition of an entry rule: left, sign, right.
Condition: TypeAlias = tuple[Rule, str, Rule]


def _compared(
    relation: Callable[..., sympy.Basic], holds: Callable[[int], bool]
) -> Callable[[sympy.Basic, sympy.Basic], sympy.Basic]:
    """A relation of two sides; of numbers it is true or false, by proof of their order."""

    def compared(one: sympy.Basic, other: sympy.Basic) -> sympy.Basic:
        if one.free_symbols or other.free_symbols:
            return relation(one, other)
        return sympy.true if holds(ordered(one, other)) else sympy.false

    return compared


#: What the sign of a condition means.
SIGNS: Mapping[str, Callable[[sympy.Basic, sympy.Basic], sympy.Basic]] = {
    "≤": _compared(sympy.Le, lambda order: order <= 0),
    "=": _compared(sympy.Eq, lambda order: order == 0),
    "∈": lambda place, places: sympy.Contains(place, places, evaluate=place.is_number),
}

#: The names to sum over; sums that are deeper inside one another take l2, l3, …, for which a
#: notation has letters.
_DUMMIES = ("l", "r")


def rule_of(expr: MatrixExpr, i: Index, j: Index) -> Rule:
    """The entry rule of a matrix expression: SymPy's own nodes here, ours by their ``_rule``.

    Raises `CannotSpell` for an expression whose entries are not known.
    """
    own = getattr(expr, "_rule", None)
    if own is not None:
        return cast(Rule, own(i, j))
    match expr:
        case sympy.MatrixSymbol():
            return Entry(expr, i, j)
        case sympy.Transpose():
            return rule_of(expr.arg, j, i)
        case sympy.MatAdd():
            return Plus(tuple(rule_of(term, i, j) for term in expr.args))
        case sympy.MatMul():
            coefficient, factors = expr.as_coeff_matrices()
            product = _product_rule(factors, i, j)
            return product if coefficient == 1 else Times((Const(coefficient), product))
        case sympy.HadamardProduct():
            return Times(tuple(rule_of(factor, i, j) for factor in expr.args))
        case sympy.HadamardPower(base=base, exp=sympy.Integer() as power):
            return Power(rule_of(base, i, j), int(power))
        case sympy.MatPow(base=base, exp=sympy.Integer() as power) if power > 0:
            return _product_rule([base] * int(power), i, j)
        case sympy.Identity():
            return Cases(Ordinal(j), "=", Ordinal(i), Const(sympy.S.One), Const(sympy.S.Zero))
        case sympy.OneMatrix() | sympy.ZeroMatrix():
            return Const(sympy.Integer(isinstance(expr, sympy.OneMatrix)))
        case sympy.Inverse():
            return Entry(expr, i, j)
        case sympy.MatrixBase():
            return Const(expr[i, j]) if _within(expr, i, j) else Entry(expr, i, j)
    raise CannotSpell(f"{type(expr).__name__} has no entry rule here; make it a separate step")


def _product_rule(factors: list[MatrixExpr], i: Index, j: Index) -> Rule:
    """(A B …)_ij = Σ_l a_il (B …)_lj, with a letter for l that is not taken."""
    if len(factors) == 1:
        return rule_of(factors[0], i, j)
    if factors[0].shape[1] == 1:
        return Times((rule_of(factors[0], i, 0), _product_rule(factors[1:], 0, j)))
    index = dummy(i, j, *factors)
    first = rule_of(factors[0], i, index)
    rest = _product_rule(factors[1:], index, j)
    return Total(Times((first, rest)), index, factors[0].shape[1])


def minus(rule: Rule) -> Rule:
    """Minus the rule."""
    return Times((Const(sympy.S.NegativeOne), rule))


def dummy(*taken: Index | MatrixExpr) -> sympy.Symbol:
    """A letter to sum over that is none of the indices and that no matrix has in it.

    A matrix of head ⌈l/d⌉ has the l of a sum about it.
    """
    parts = [
        part if isinstance(part, sympy.Basic) else sympy.sympify(part, strict=True)
        for part in taken
    ]
    return letter_beside(letters_in(parts))


def letters_in(parts: Iterable[sympy.Basic]) -> set[str]:
    """The letters in expressions, those of entries, and the labels of sizes.

    Beside d_r no index is called r, nor beside a matrix R.
    """
    names = {symbol.name for part in parts for symbol in part.atoms(sympy.Symbol)}
    small = {name.lower() for name in names if len(name) == 1}
    return names | small | {name.partition("_")[2] for name in names}


def letter_beside(taken: Container[str], letters: Iterable[str] = _DUMMIES) -> sympy.Symbol:
    """The first letter to sum over that is not taken."""
    every = chain(letters, (f"l{number}" for number in count(2)))
    return sympy.Symbol(next(letter for letter in every if letter not in taken), integer=True)


def is_unlettered(index: sympy.Symbol) -> bool:
    """Whether an index has a name that is no letter yet: l2."""
    return bool(index.name[:1] == "l" and index.name[1:].isdigit())


def at(rule: Rule, indices: Mapping[sympy.Symbol, int], sizes: Mapping[sympy.Symbol, int]) -> Rule:
    """The rule for one entry: indices filled in, sums written out, conditions decided."""
    match rule:
        case Entry(matrix, row, column):
            i, j = _index(row, indices, sizes), _index(column, indices, sizes)
            if isinstance(matrix, sympy.MatrixBase) and _within(matrix, i, j):
                return Const(matrix[i, j])
            return Entry(_of_head(matrix, indices, sizes), i, j)
        case Ordinal(index):
            return Const(sympy.sympify(_index(index, indices, sizes), strict=True))
        case Named(_, _, value):
            return at(value, indices, sizes)
        case Total(body, index, size, start):
            begin, count = (int(_index(x, indices, sizes)) for x in (start, size))
            along = range(begin, begin + count)
            return Plus(tuple(at(body, {**indices, index: k}, sizes) for k in along))
        case Power(body, exponent) if not isinstance(exponent, int):
            return Power(at(body, indices, sizes), _index(exponent, indices, sizes))
        case OfRow(name, (body,), index, size) if index is not None:
            count = int(_index(size, {}, sizes))
            places = ({**indices, index: k} for k in range(count))
            return OfRow(name, tuple(at(body, place, sizes) for place in places))
        case Cases(left, sign, right, value, otherwise):
            one, other = at(left, indices, sizes), at(right, indices, sizes)
            if not any(entries(side) for side in (one, other)):
                sides = (to_sympy(side).subs(sizes) for side in (one, other))
                holds = SIGNS[sign](*sides)
                if holds in (sympy.true, sympy.false):  # a symbol among the numbers leaves it open
                    return at(value if holds == sympy.true else otherwise, indices, sizes)
    return rebuilt(rule, lambda part: at(part, indices, sizes))


def index_of(index: Index) -> Index:
    """An index as rules hold it: a whole number is Python's."""
    return int(index) if isinstance(index, int | sympy.Integer) else index


def children(rule: Rule) -> tuple[Rule, ...]:
    """The rules that a rule is directly made of, in the order in which they are read."""
    found: list[Rule] = []
    for name in _CHILDREN.get(type(rule), ()):
        value = getattr(rule, name)
        found += value if isinstance(value, tuple) else (value,)
    return tuple(found)


def rebuilt(rule: Rule, change: Callable[[Rule], Rule]) -> Rule:
    """The rule with `change` applied to each of its children."""
    changes: dict[str, Any] = {}
    for name in _CHILDREN.get(type(rule), ()):
        value = getattr(rule, name)
        changes[name] = tuple(map(change, value)) if isinstance(value, tuple) else change(value)
    return replace(rule, **changes) if changes else rule


def parts(rule: Rule) -> Iterator[Rule]:
    """The rule and all that it is made of, the top first."""
    yield rule
    for child in children(rule):
        yield from parts(child)


def entries(rule: Rule) -> list[Entry]:
    """The entries of matrices that a rule is made of, in the order in which they are read."""
    return [part for part in parts(rule) if isinstance(part, Entry)]


def terms(rule: Rule) -> tuple[Rule, ...]:
    """The terms of a sum, and of sums in it; of any other rule itself."""
    return tuple(chain(*map(terms, rule.terms))) if isinstance(rule, Plus) else (rule,)


def count_entries(rule: Rule, sizes: Mapping[sympy.Symbol, int]) -> int:
    """How many entries the rule of one entry reads once its sums are written out, at most."""
    if isinstance(rule, Entry):
        return 1
    count = sum(count_entries(child, sizes) for child in children(rule))
    if isinstance(rule, Total) or (isinstance(rule, OfRow) and rule.index is not None):
        size = sympy.sympify(rule.size, strict=True).subs(sizes)
        return count * (int(size) if size.is_Integer else 1)
    return count


def _within(matrix: sympy.MatrixBase, i: Index, j: Index) -> bool:
    """Whether an explicit matrix has this entry; a branch that is not taken may ask for others."""
    rows, columns = matrix.shape
    return isinstance(i, int) and isinstance(j, int) and 0 <= i < rows and 0 <= j < columns


def _index(
    index: Index, indices: Mapping[sympy.Symbol, int], sizes: Mapping[sympy.Symbol, int]
) -> Index:
    if isinstance(index, int):
        return index
    if isinstance(index, sympy.Symbol):
        return indices.get(index, sizes.get(index, index))
    value = at_numbers(index, {**sizes, **indices})
    return int(value) if value.is_Integer else value


def at_numbers(value: sympy.Basic, numbers: Mapping[sympy.Symbol, int]) -> sympy.Basic:
    """What a number in which letters stand is where these are numbers."""
    known = value.free_symbols & {*numbers}
    return value.xreplace({one: sympy.sympify(numbers[one], strict=True) for one in known})


def _of_head(
    matrix: MatrixExpr, indices: Mapping[sympy.Symbol, int], sizes: Mapping[sympy.Symbol, int]
) -> MatrixExpr:
    """The matrix with its head index filled in, where it has one; in an inverse, inside."""
    if isinstance(matrix, sympy.Inverse):
        return matrix.xreplace({index: sympy.Integer(k) for index, k in indices.items()})
    head = getattr(matrix, "head", None)
    return matrix if head is None else matrix.func(matrix.args[0], _index(head, indices, sizes))


def branches(rule: Rule, most: int = 8) -> list[tuple[Rule, tuple[Condition, ...]]]:
    """Cases inside cases as one list: values and when they hold, of which the first counts.

    The last value holds otherwise; the same value just before it needs no line of its own. No line
    and no condition stands there that makes no difference, whichever conditions hold; a list of
    more than so many conditions is left as it is.
    """
    listed = [*_branches(rule, ())]
    met = Counter(condition for _, conditions in listed for condition in conditions)
    if met and max(met.values()) > 1 and len(met) <= most:
        listed = _reduced(listed, [*met])
    while len(listed) > 1 and listed[-2][0] == listed[-1][0]:
        del listed[-2]
    return listed


#: Values, by number, and the conditions that they hold under.
_Cases: TypeAlias = list[tuple[int, tuple[Condition, ...]]]


def _reduced(
    listed: list[tuple[Rule, tuple[Condition, ...]]], conditions: list[Condition]
) -> list[tuple[Rule, tuple[Condition, ...]]]:
    """The list without lines and conditions that make no difference."""
    worlds = [{*compress(conditions, each)} for each in product((0, 1), repeat=len(conditions))]
    values = [*dict.fromkeys(value for value, _ in listed)]

    def told(rows: _Cases) -> list[int]:
        return [next(k for k, given in rows if world.issuperset(given)) for world in worlds]

    rows: _Cases = [(values.index(value), given) for value, given in listed]
    wanted = told(rows)
    while (fewer := next((one for one in _fewer(rows) if told(one) == wanted), None)) is not None:
        rows = fewer
    return [(values[k], given) for k, given in rows]


def _fewer(rows: _Cases) -> Iterator[_Cases]:
    """All lists with one line less, from the last one up, then those with one condition less."""
    for k in range(len(rows) - 2, -1, -1):
        yield [*rows[:k], *rows[k + 1 :]]
    for k, (value, given) in enumerate(rows):
        for one in given:
            rest = tuple(other for other in given if other != one)
            yield [*rows[:k], (value, rest), *rows[k + 1 :]]


def _branches(
    rule: Rule, given: tuple[Condition, ...]
) -> Iterator[tuple[Rule, tuple[Condition, ...]]]:
    if not isinstance(rule, Cases):
        yield rule, given
        return
    yield from _branches(rule.value, (*given, (rule.left, rule.sign, rule.right)))
    yield from _branches(rule.otherwise, given)


class Evaluator:
    """The value of a rule in SymPy numbers; a subclass says what the operations are in others."""

    def value(self, rule: Rule) -> sympy.Expr:
        """The value, which SymPy may reorder as it likes."""
        match rule:
            case Entry():
                return self.entry(rule)
            case Const(value):
                return self.number(value)
            case Ordinal(index):
                return self.number(sympy.sympify(index, strict=True))
            case Named(_, _, value):
                return self.value(value)
            case Plus(terms, empty):
                return self.sum([*map(self.value, terms)], empty)
            case Times(factors):
                return self.product([*map(self.value, factors)])
            case Over():
                return self.quotient(rule)
            case Exp(body):
                return self.function("exp", self.value(body))
            case Apply(name, body):
                return self.function(name, self.value(body))
            case Power(body, exponent):
                return self.power(self.value(body), exponent)
            case Total():
                return self.total(rule)
            case OfRow():
                return self.of_row(rule)
            case Cases():
                return self.cases(rule)

    def entry(self, entry: Entry) -> sympy.Expr:
        """q_il."""
        return entry.matrix[entry.row, entry.column]

    def number(self, value: sympy.Expr) -> sympy.Expr:
        """A scalar."""
        return value

    def sum(self, terms: list[sympy.Expr], empty: sympy.Expr | None) -> sympy.Expr:
        """A sum, which is `empty` where it is −∞ + ∞."""
        added = total(terms)
        return empty if empty is not None and added is sympy.nan else added

    def product(self, factors: list[sympy.Expr]) -> sympy.Expr:
        """A product."""
        return sympy.Mul(*factors)

    def quotient(self, rule: Over) -> sympy.Expr:
        """A quotient, which may be `empty` where the denominator is 0."""
        below = self.value(rule.den)
        if below == 0 and rule.empty is not None:
            return rule.empty
        return self.value(rule.num) / below

    def function(self, name: str, x: sympy.Expr) -> sympy.Expr:
        """A function of one number, a row of `FUNCTIONS`."""
        return FUNCTIONS[name].exact(x)

    def power(self, base: sympy.Expr, exponent: int) -> sympy.Expr:
        """A whole power."""
        return base**exponent

    def total(self, rule: Total) -> sympy.Expr:
        """Σ over an index."""
        size, index = rule.size, rule.index
        if isinstance(size, int | sympy.Integer):
            return sympy.Add(*(self.value(at(rule.body, {index: k}, {})) for k in range(int(size))))
        return sympy.Sum(self.value(rule.body), (index, 0, size - 1))

    def of_row(self, rule: OfRow) -> sympy.Expr:
        """A function of a row, one of `ROW_FUNCTIONS`."""
        function = ROW_FUNCTIONS[rule.name]
        if rule.index is None:
            return function(*map(self.value, rule.terms))
        if isinstance(rule.size, int | sympy.Integer):
            return self.value(at(rule, {}, {}))
        return function(sympy.Lambda(rule.index, self.value(rule.terms[0])), rule.size)

    def cases(self, rule: Cases) -> sympy.Expr:
        """The value where the condition holds, else the other; both if it is open."""
        holds = SIGNS[rule.sign](self.value(rule.left), self.value(rule.right))
        if holds in (sympy.true, sympy.false):
            return self.value(rule.value if holds == sympy.true else rule.otherwise)
        value, otherwise = self.value(rule.value), self.value(rule.otherwise)
        return sympy.Piecewise((value, holds), (otherwise, True))


def to_sympy(rule: Rule) -> sympy.Expr:
    """The rule as a SymPy scalar."""
    return Evaluator().value(rule)
