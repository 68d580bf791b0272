"""SymPy expressions and entry rules, spelled as notation trees.

Products keep their order and 1/√2 stays 1/√2. What has no spelling raises `CannotSpell`: nothing
is printed rather than something wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import sympy
from sympy.core.function import AppliedUndef
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr

from symattn.arithmetic.functions import applied
from symattn.errors import CannotSpell
from symattn.nodes import rule as r
from symattn.nodes.number import NumberSymbol
from symattn.nodes.rule import Index, Rule
from symattn.nodes.scopes import placed, told_apart
from symattn.notation import tree as t
from symattn.notation.letters import name_tree
from symattn.notation.numbers import number
from symattn.notation.options import Notation, Typed, index_row, sums_of
from symattn.notation.tree import Tree

_E = t.Ident("e")
_MAX = t.Ident("max", roman=True)
_EXP = t.Ident("exp", roman=True)


@dataclass(frozen=True)
class Speller:
    """Spells expressions in one notation; symbols in `sizes` are written as their numbers."""

    notation: Notation = field(default_factory=Typed)
    sizes: Mapping[sympy.Symbol, int] = field(default_factory=dict)
    #: Whether a rational is a fraction, also where a decimal would end.
    fractions: bool = False

    def alike(self, values: Iterable[sympy.Expr]) -> Speller:
        """One that spells these numbers in one form: 1/3, 1/2, not 1/3, 0.5."""
        rationals = (part for value in values for part in value.atoms(sympy.Rational))
        return replace(self, fractions=any(self.ending(each) is None for each in rationals))

    def meaning(self, meaning: sympy.Expr | MatrixExpr | sympy.MatrixBase) -> Tree:
        """A matrix or a scalar."""
        is_matrix = isinstance(meaning, MatrixExpr | sympy.MatrixBase)
        return self.matrix(meaning) if is_matrix else self.scalar(meaning)

    # ---- scalars -------------------------------------------------------------------------

    def scalar(self, expr: sympy.Expr) -> Tree:
        """A SymPy scalar."""
        match expr:
            case sympy.Rational():
                return self.rational(expr)
            case sympy.Symbol():
                size = self.sizes.get(expr)
                return self.notation.scalar(expr.name) if size is None else number(str(size))
            case sympy.Add():
                return t.plus([*map(self.scalar, in_order(ordered_terms(expr)))])
            case sympy.exp():
                return t.power(_E, t.inline(self.scalar(expr.args[0])))
            case sympy.Pow(exp=sympy.Rational(q=root)) if root > 2:
                return self._power(expr)
            case sympy.Pow() | sympy.Mul():
                return self._product(expr)
            case sympy.log():
                return t.call(t.Ident("ln", roman=True), self.scalar(expr.args[0]))
            case sympy.ceiling() | sympy.floor():
                marks = "⌈⌉" if isinstance(expr, sympy.ceiling) else "⌊⌋"
                return t.Fenced(t.inline(self.scalar(expr.args[0])), marks[0], marks[1])
            case sympy.tanh() | sympy.cos() | sympy.sin() | sympy.erf():
                return applied(type(expr).__name__, self.scalar(expr.args[0]))
            case sympy.Mod():
                left = t.bracketed(self.scalar(expr.args[0]), t.ATOM)
                return t.row(left, t.Text(" mod "), self.scalar(expr.args[1]))
            case sympy.Max():
                return t.call(_MAX, *map(self.scalar, sorted(expr.args, key=rank)))
            case sympy.Abs():
                return t.Fenced(self.scalar(expr.args[0]), "|", "|")
            case r.Nth():
                numbers, place = expr.args
                return t.Script(self.listed(map(self.scalar, numbers)), self.index(place))
            case MatrixElement():
                return self.entry(r.Entry(expr.parent, *expr.indices))
            case sympy.Sum():
                return self._sympy_sum(expr)
            case sympy.Float():
                return number(str(expr))
        if expr in (sympy.oo, -sympy.oo):
            return number("inf" if expr == sympy.oo else "-inf")
        if expr is sympy.E:
            return _E
        if expr is sympy.pi:
            return t.Ident("π")
        raise CannotSpell(f"{type(expr).__name__} cannot be written here: {str(expr)[:80]}")

    def listed(self, items: Iterable[Tree], fences: str = "()") -> Tree:
        """The items in brackets with commas; of too many, the first ones and the last."""
        trees, limit = list(items), self.notation.limit
        if limit and len(trees) > limit:
            trees = [*trees[: limit - 2], t.DOTS, trees[-1]]
        return t.Fenced(t.commas(trees), fences[0], fences[1])

    def places(self, places: sympy.FiniteSet) -> Tree:
        """A set of places, as the reader counts: {1, 5}."""
        return self.listed(map(self.index, sorted(places, key=int)), "{}")

    def rational(self, value: sympy.Rational) -> Tree:
        """A decimal where it ends within the digits asked for, else a fraction, or 10^−5."""
        if value < 0:
            return t.row(t.MINUS, self.rational(-value))
        decimal = None if self.fractions else self.ending(value)
        if decimal is not None or value.q == 1:
            return number(decimal or str(value))
        below = str(value.q)
        if value.p == 1 and len(below) > 4 and below.rstrip("0") == "1":
            return t.power(t.Num("10"), t.row(t.MINUS, t.Num(str(len(below) - 1))))
        return t.Frac(number(str(value.p)), number(below))

    def ending(self, value: sympy.Rational) -> str | None:
        """A rational as a decimal that ends within the digits asked for, if it does."""
        return terminating(abs(value), max(self.notation.digits, 4))

    def _product(self, expr: sympy.Expr) -> Tree:
        """Numerator over denominator, with √r / (r k) cancelled to 1 / (k √r), other roots too."""
        above, below = _fraction(expr)
        coefficient, rest = above.as_coeff_Mul()
        if isinstance(below, sympy.Integer) and isinstance(rest, sympy.Pow):
            base, exponent = rest.args
            if base.is_Integer and exponent.is_Rational and exponent < 1 and below % base == 0:
                root = base ** (1 - exponent)
                above, below = coefficient, sympy.Mul(below / base, root, evaluate=False)
                if below.args[0] == 1:
                    below = root
        number, power = expr.as_coeff_Mul()
        if power.has(sympy.exp) and number.q != 1 and sympy.fraction(power)[1] == 1:
            decimal = self.ending(number)
            if decimal is not None and power.is_positive:
                product = t.times([t.Num(decimal), self.scalar(power)])
                return t.row(t.MINUS, product) if number < 0 else product
        negative = above.could_extract_minus_sign()
        top = self._factors(-above if negative else above)
        out = top if below == 1 else t.Frac(top, self._factors(below))
        return t.row(t.MINUS, t.bracketed(out, t.MULTIPLICATIVE)) if negative else out

    def _factors(self, expr: sympy.Expr) -> Tree:
        factors = sorted(expr.args, key=rank) if isinstance(expr, sympy.Mul) else [expr]
        trees = [self._power(factor) for factor in factors]
        bases = [tree.base if isinstance(tree, t.Script) else tree for tree in trees[1:]]
        numeric = any(isinstance(base, t.Num) for base in bases)
        return t.times(trees, t.DOT if numeric else t.TIMES)

    def _power(self, expr: sympy.Expr) -> Tree:
        if isinstance(expr, sympy.Pow) and not isinstance(expr, sympy.exp):
            base, exponent = expr.args
            if exponent == sympy.S.Half:
                return t.Root(self.scalar(base))
            if isinstance(exponent, sympy.Rational) and exponent.q > 1:  # −1/4, never −0.25
                root = t.row(number(str(exponent.p)), t.Op("/"), number(str(exponent.q)))
                return t.power(self.scalar(base), root)
            return t.power(self.scalar(base), self.scalar(exponent))
        return self.scalar(expr)

    def _sympy_sum(self, expr: sympy.Sum) -> Tree:
        body = self.scalar(expr.function)
        for index, low, high in expr.limits:
            limits = t.Script(
                t.SUM, t.equation(self.index(index), (t.EQUALS, self.index(low))), self.index(high)
            )
            body = t.row(limits, t.bracketed(body, t.MULTIPLICATIVE))
        return body

    # ---- matrices ------------------------------------------------------------------------

    def matrix(self, expr: MatrixExpr) -> Tree:
        """A SymPy matrix expression."""
        own = getattr(expr, "_spell", None)
        if own is not None:
            return cast(Tree, own(self))
        match expr:
            case sympy.MatrixSymbol():
                return self.notation.letter(expr.name)
            case sympy.Transpose():
                return self.notation.transposed(self.matrix(expr.arg))
            case sympy.Inverse():
                return t.power(self.matrix(expr.arg), t.row(t.MINUS, t.Num("1")))
            case sympy.MatPow():
                return t.power(self.matrix(expr.base), self.scalar(expr.exp))
            case sympy.MatAdd():
                return t.plus([self.matrix(term) for term in expr.args])
            case sympy.MatMul():
                return self._matrix_product(expr)
            case sympy.HadamardProduct():
                return t.entrywise([self.matrix(factor) for factor in expr.args])
            case sympy.Identity() | sympy.ZeroMatrix():
                return t.Num("0") if isinstance(expr, sympy.ZeroMatrix) else t.Ident("I")
            case sympy.OneMatrix():
                return self.notation.ones(*(size == 1 for size in expr.shape))
            case sympy.BlockMatrix():
                return self.bracketed_grid(
                    [[self.matrix(b) for b in row] for row in expr.blocks.tolist()]
                )
            case sympy.MatrixBase():
                return self.bracketed_grid([[self.scalar(x) for x in row] for row in expr.tolist()])
        raise CannotSpell(f"{type(expr).__name__} cannot be written here: {str(expr)[:80]}")

    def _matrix_product(self, expr: sympy.MatMul) -> Tree:
        coefficient, factors = expr.as_coeff_matrices()
        first, *others = (self.matrix(factor) for factor in factors)
        grouped = (
            t.Fenced(tree) if isinstance(factor, sympy.MatMul) else tree
            for factor, tree in zip(factors[1:], others, strict=True)
        )  # A (B C), as it is written and computed
        product = t.times([first, *grouped])
        if coefficient == 1:
            return product
        if coefficient.is_Rational and coefficient < 0:
            return t.negated(self._matrix_product(sympy.MatMul(-coefficient, *factors)))
        above, below = sympy.fraction(coefficient)
        if above == 1 and not isinstance(coefficient, sympy.Rational):
            return t.Frac(product, self.scalar(below))
        return t.times([self.scalar(coefficient), product])

    def bracketed_grid(self, rows: list[list[Tree]]) -> Tree:
        """A matrix of cells in square brackets."""
        return t.Fenced(t.Grid(tuple(map(tuple, rows))), "[", "]")

    # ---- entry rules ---------------------------------------------------------------------

    def index(self, index: Index) -> Tree:
        """An index as the reader counts: a whole number is moved by the index base."""
        if isinstance(index, int | sympy.Integer):
            return number(str(int(index) + self.notation.index_base))
        if isinstance(index, AppliedUndef):  # a permutation takes an index to an index
            name, _, of = index.func.__name__.partition("_")
            back = t.row(t.MINUS, t.Num("1")) if name.endswith("⁻¹") else None
            sub = name_tree(of) if of else None
            sign = t.Ident(name.removesuffix("⁻¹"))
            whole = t.Script(sign, sub, back) if of or back else sign
            return t.call(whole, self.index(index.args[0]))
        return t.inline(self.scalar(self._counted(index)))

    def _counted(self, index: Index) -> sympy.Expr:
        """The index as the reader counts: (i − 1) d + j from 1 where it is i d + j from 0."""
        base, expr = self.notation.index_base, sympy.sympify(index, strict=True)
        if isinstance(expr, sympy.Symbol) and indices_in(expr):
            return expr
        if isinstance(expr, sympy.floor) and base == 1 and _is_share(expr.args[0]):
            return sympy.ceiling(expr.args[0], evaluate=False)  # ⌊(i − 1)/r⌋ + 1 is ⌈i/r⌉
        return counted_from(expr, base) + base

    def entry(self, entry: r.Entry) -> Tree:
        """One entry of a named matrix: s_12, or s^(1)_12 in a head."""
        if isinstance(entry.matrix, NumberSymbol):
            return self.matrix(entry.matrix)
        indices = (self.index(entry.row), self.index(entry.column))
        if not entry.letter:
            return t.Script(t.Fenced(self.matrix(entry.matrix), "[", "]"), index_row(indices))
        head = None if entry.head is None else self.index(entry.head)
        return self.notation.entry(entry.letter, head, indices)

    def rule(self, rule: Rule, leaf: Callable[[Rule], Tree | None] | None = None) -> Tree:
        """An entry rule; `leaf` may put something else (a number) in place of a part.

        No index is bound inside the scope of another by the same letter.
        """
        return _RuleSpeller(self, leaf).spell(told_apart(rule, sums_of(self.notation)))

    def condition(self, condition: r.Condition) -> Tree:
        """A condition of an entry rule: j ≤ i + p."""
        return _RuleSpeller(self, None).condition(condition)


@dataclass(frozen=True)
class _RuleSpeller:
    speller: Speller
    leaf: Callable[[Rule], Tree | None] | None

    def spell(self, rule: Rule) -> Tree:
        leaf = self.leaf(rule) if self.leaf is not None else None
        if leaf is not None:
            return leaf
        match rule:
            case r.Entry():
                return self.speller.entry(rule)
            case r.Const(value):
                return self.speller.scalar(value)
            case r.Ordinal(index):
                return self.speller.index(index)
            case r.Named(letter, indices, _):
                letter_tree = self.speller.notation.scalar(letter)
                return t.Script(letter_tree, index_row(tuple(map(self.speller.index, indices))))
            case r.Plus(terms):
                return self._sum(terms)
            case r.Times(factors):
                return self._product(factors)
            case r.Over(num, den, _):
                return t.Frac(self.spell(num), self.spell(den))
            case r.Total(body):
                inner = self.spell(body)
                return t.row(
                    self._range(rule), inner if t.is_bare_sum(inner) else t.bracketed(inner, 2)
                )
            case r.Exp(body):
                exponent = t.inline(self.spell(body))
                if any(isinstance(part, t.Grid) for part in t.parts(exponent)):
                    return t.call(_EXP, exponent)  # a brace is too tall to be raised
                return t.power(_E, exponent)
            case r.Apply(name, body):
                return applied(name, self.spell(body))
            case r.Power(body, exponent):
                known = isinstance(exponent, int)
                raised = number(str(exponent)) if known else t.inline(self._as_number(exponent))
                return t.power(self.spell(body), raised)
            case r.OfRow():
                return self._of_row(rule)
            case r.Cases():
                return self._cases(rule)

    def _range(self, rule: r.Total) -> Tree:
        """∑ from l = 1 to a size; an end that is an index stands below it: j < l ≤ i."""
        index, first = self.speller.index(rule.index), self.speller.index(rule.start)
        last = sympy.sympify(rule.start, strict=True) + rule.size
        if rule.start == 0 and not indices_in(last):
            size = self.speller.scalar(last if self.speller.notation.index_base else last - 1)
            return t.Script(t.SUM, t.equation(index, (t.EQUALS, first)), size)
        between = t.equation(index, (t.Op("≤"), self.speller.index(last - 1)))
        return t.Script(
            t.SUM, between if rule.start == 0 else t.equation(first, (t.Op("≤"), between))
        )

    def _of_row(self, rule: r.OfRow) -> Tree:
        """argmax_l z_il, τ(z_i1, ⋯, z_im), or with all its numbers: argmax(1, 3, 2)."""
        name, index = _of_row_called(rule.name), rule.index
        if index is None:
            visible = _elided(rule.terms, self.speller.notation.limit)
            listed = [self.spell(term) for term in visible]
            if len(visible) < len(rule.terms):
                listed.insert(-1, t.DOTS)
            return t.call(name, *listed)
        (body,) = rule.terms
        if rule.name.startswith("τ"):
            ends = (placed(body, index, k) for k in (sympy.S.Zero, rule.size - 1))
            first, last = map(self.spell, ends)
            return t.call(name, first, t.DOTS, last)
        return t.call(t.Script(name, self.speller.index(index)), self.spell(body))

    def _sum(self, terms: tuple[Rule, ...]) -> Tree:
        limit = self.speller.notation.limit
        trees = [self.spell(term) for term in _elided(terms, limit)]
        if limit and len(terms) > limit:
            trees.insert(-1, t.DOTS)
        return t.plus(trees)

    def _product(self, factors: tuple[Rule, ...]) -> Tree:
        if factors[0] == r.Const(sympy.S.NegativeOne):
            rest = self.spell(factors[1]) if len(factors) == 2 else self._product(factors[1:])
            bare = t.is_bare_sum(rest)
            return t.row(t.MINUS, rest) if bare else t.negated(rest)
        trees = [self.spell(factor) for factor in factors]
        numeric = any(starts_with_number(tree) for tree in trees[1:])
        return t.times(trees, t.DOT if numeric else t.TIMES)

    def _cases(self, cases: r.Cases) -> Tree:
        """All cases in one list, however they are nested."""
        *listed, (last, _) = r.branches(cases)
        rows = [
            (self.spell(value), t.joined([*map(self.condition, conditions)], " and "))
            for value, conditions in listed
        ]
        return t.cases(rows, self.spell(last))

    def condition(self, condition: r.Condition) -> Tree:
        """Left and right as they are compared: two places (j ≤ i + p), or two numbers.

        A place is spelled as the reader counts. A number is not: in ⌊(i − 1)/b⌋ = 0 only the index
        is. Nothing is rearranged but whole numbers beside a single index.
        """
        left, sign, right = condition
        one, other = _number(left), _number(right)
        if one is None or other is None:
            return t.equation(self._side(left, right), (t.Op(sign), self._side(right, left)))
        if isinstance(other, sympy.FiniteSet):
            if not _is_place(one):
                raise CannotSpell(f"{str(one)[:80]} {sign} {str(other)[:80]}: give it a letter")
            return t.equation(self.speller.index(one), (t.Op(sign), self.speller.places(other)))
        lead = _lead(one, other)
        if lead is not None:
            one, other = lead, other - one + lead
        return t.equation(
            self._as_number(one, lead is not None),
            (t.Op(sign), self._as_number(other, lead is not None)),
        )

    def _side(self, rule: Rule, across: Rule) -> Tree:
        """One side of a condition; opposite a letter such as ω_i it is spelled as a number."""
        value = _number(rule)
        if value is not None and isinstance(across, r.Named):
            return self._as_number(value)
        return self.spell(rule)

    def _as_number(self, expr: sympy.Expr, place: bool = False) -> Tree:
        base = self.speller.notation.index_base
        written = counted_from(expr, base) + (base if place else 0)
        return t.inline(self.speller.scalar(sympy.expand(written) if place else written))


def ordered_terms(total: sympy.Add) -> list[sympy.Expr]:
    """The terms of a sum in the order of SymPy's printers; they go through floats, not these."""
    try:
        return list(total.as_ordered_terms("grlex"))
    except OverflowError:  # a term such as e^800 is no float
        return sorted(total.args, key=sympy.default_sort_key)


def _of_row_called(name: str) -> Tree:
    """How a function of a row is written: max, τ, τ₂."""
    if name == "τ2":
        return t.Script(t.Ident("τ"), t.Num("2"))
    return t.Ident(name, roman=len(name) > 1)


def _number(rule: Rule) -> sympy.Expr | None:
    """What a side of a condition is, where it is a number made of indices."""
    match rule:
        case r.Ordinal(value) | r.Const(value):
            return sympy.sympify(value, strict=True)
    return None


def _lead(one: sympy.Expr, other: sympy.Expr) -> sympy.Symbol | None:
    """The index of a condition between places, j + a ≤ i + b, if it is one: the constants move."""
    (lead,) = indices_in(one) if len(indices_in(one)) == 1 else (None,)
    if lead is None or indices_in(one - lead):
        return None
    across = indices_in(other)
    linear = all(other.coeff(index) == 1 for index in across)
    return lead if linear and not indices_in(other - sum(across)) and len(across) <= 1 else None


def _is_place(expr: sympy.Expr) -> bool:
    """Whether an expression is an index, or one moved by something that is none."""
    return not indices_in(expr) or _lead(expr, sympy.S.Zero) is not None


def _is_share(expr: sympy.Expr) -> bool:
    """Whether an expression is i/r, or i g/h where the h heads have g groups of one size."""
    indices = indices_in(expr)
    factor = expr.coeff(next(iter(indices))) if len(indices) == 1 else sympy.S.Zero
    if indices_in(factor) or factor == 0 or expr != factor * next(iter(indices)):
        return False
    return not isinstance(factor, sympy.Rational) or bool(factor.p == 1)


def _elided(terms: tuple[Rule, ...], limit: int) -> tuple[Rule, ...]:
    """The first and the last of too many terms."""
    return terms if not limit or len(terms) <= limit else (*terms[: limit - 2], terms[-1])


def _fraction(expr: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Numerator and denominator; SymPy's own 1/(x e^(−y)) stays e^y/x."""
    above, below = sympy.fraction(expr)
    factors = sympy.Mul.make_args(below)
    lifted = [x for x in factors if isinstance(x, sympy.exp) and x.args[0].as_coeff_Mul()[0] < 0]
    if not lifted:
        return above, below
    below = sympy.Mul(*(x for x in factors if x not in lifted))
    return sympy.Mul(above, *(sympy.exp(-x.args[0]) for x in lifted)), below


# ---- what depends on no reader's choice: orders, places, decimals -----------------------------


def rank(factor: sympy.Expr) -> int:
    """Numbers first, then brackets, indices, short names: 2 (i − 1) d_v, h d_v."""
    if isinstance(factor, sympy.Symbol):
        return 2 + (0 if indices_in(factor) else len(factor.name))
    return 0 if isinstance(factor, sympy.Rational) else 1


def in_order(terms: Iterable[sympy.Expr]) -> list[sympy.Expr]:
    """Terms as one writes them: what is added first, an index before a size: j + d_k/2, j − i."""
    return sorted(terms, key=lambda term: (term.could_extract_minus_sign(), not _has_index(term)))


def _has_index(term: sympy.Expr) -> bool:
    """Whether a term holds an index."""
    return bool(indices_in(term))


def indices_in(expr: sympy.Basic) -> set[sympy.Symbol]:
    """The letters of an expression that are indices; sizes are known not to be negative."""
    return {symbol for symbol in expr.free_symbols if symbol.is_nonnegative is not True}


def counted_from(expr: sympy.Expr, base: int) -> sympy.Expr:
    """The same number, its indices counted from `base` where they counted from 0: ⌊(i − 1)/b⌋.

    Fractions are kept as they are written, where SymPy alone would make i/2 − 1/2 of them.

    >>> i = sympy.Symbol("i", integer=True)
    >>> counted_from(3 * i + 1, 1), counted_from(sympy.floor(i / 2), 1)
    (3*i - 2, floor((i - 1)/2))
    """
    if base == 0 or not indices_in(expr) or isinstance(expr, sympy.MatrixExpr):
        return expr
    if isinstance(expr, sympy.Symbol):
        return expr - base
    if getattr(expr, "place", None) is not None:  # its place is spelled as an index
        return expr
    args = [counted_from(arg, base) for arg in expr.args]
    if isinstance(expr, sympy.Mul):
        divided = any(part.is_Pow or (part.is_Rational and part.q > 1) for part in expr.args)
        return sympy.Mul(*args, evaluate=not divided)
    if isinstance(expr, sympy.floor | sympy.ceiling | sympy.Abs | sympy.Mod):
        return expr.func(*args, evaluate=False)
    return expr.func(*args)


def starts_with_number(tree: Tree) -> bool:
    """Whether the first thing to read is a number, so that a product before it needs a dot."""
    if isinstance(tree, t.Row):
        return starts_with_number(tree.items[-1] if tree.items[0] == t.MINUS else tree.items[0])
    if isinstance(tree, t.Frac):
        return starts_with_number(tree.num)
    if isinstance(tree, t.Script):
        return isinstance(tree.base, t.Num)
    return isinstance(tree, t.Num | t.Root | t.Fenced)


def terminating(value: sympy.Rational, places: int) -> str | None:
    """A non-negative rational as a decimal, if it ends within so many places.

    >>> terminating(sympy.Rational(27, 20), 4), terminating(sympy.Rational(1, 3), 4)
    ('1.35', None)
    """
    whole, rest = divmod(int(value.p) * 10**places, int(value.q))
    if rest:
        return None
    text = str(whole).rjust(places + 1, "0")
    decimal = f"{text[:-places]}.{text[-places:]}" if places else text
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal
