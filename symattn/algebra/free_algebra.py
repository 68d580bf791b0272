"""Products of matrices as words: identities of a ring, and what follows from equations in it.

A matrix expression is a sum of words with numbers before them; its letters are matrices, their
transposes, and whatever is no sum or product (a softmax, an inverse), taken as one letter. Two
sides that are the same sum of words are equal for all sizes. From hypotheses L = R a statement
follows if its difference is a sum of terms c u (L − R) v with words u and v (its cofactors), which
linear algebra over ℚ finds; nothing is solved, so no solution of a hypothesis is lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import (
    UNIT,
    Checker,
    Mono,
    Poly,
    Refused,
    form_poly,
    linear,
    product,
)
from symattn.algebra.counterexample import Meaning
from symattn.algebra.hypotheses import Statement, definitions, same_shape
from symattn.budget import Spent, spend
from symattn.derivations import Derivation
from symattn.errors import SymattnError
from symattn.nodes.base import Node, shape_of
from symattn.nodes.heads import Head
from symattn.nodes.lines import LineSum
from symattn.nodes.scale import Quotient

_MOST_RELATIONS, _ROUNDS = 1500, 4


@dataclass(frozen=True)
class Letter:
    """A letter of words: its name, whether it is transposed, rows and columns."""

    name: Any
    turned: bool
    rows: sympy.Expr
    columns: sympy.Expr

    def transposed(self) -> Letter:
        """The transposed letter."""
        return Letter(self.name, not self.turned, self.columns, self.rows)


#: Letters in a row, behind a product of numbers.
Word = tuple[Mono, tuple[Letter, ...]]
Words = dict[Word, Fraction]

#: What a relation is (equation, around, inverse, inverse left, permutation), which, transposed.
#: An equation by its number, or a matrix.
Source: TypeAlias = Any

#: What it came of: of which kind, the equation or the matrix, whether it is transposed.
Origin = tuple[str, Source, bool]


@dataclass(frozen=True)
class Use:
    """A relation between two words, u (L − R) v, times a number."""

    relation: int
    number: Poly
    left: tuple[Letter, ...]
    right: tuple[Letter, ...]


@dataclass
class _Ring:
    """The words of one statement, and the relations among them that are assumed."""

    statement: Statement
    relations: list[Words] = field(default_factory=list)
    #: Where each relation comes from: an equation, what an inverse or a permutation is.
    origins: list[Origin] = field(default_factory=list)
    #: The expression of each letter that is no matrix symbol.
    meanings: dict[Hashable, sympy.Basic] = field(default_factory=dict)
    #: What each letter that is no matrix symbol stands for.
    opaque: list[tuple[type[sympy.Basic], tuple[Any, ...], Words]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scalars = Checker([], self.statement.positive)
        self.means, self.symmetric, others = definitions(self.statement.where)
        meant = [(a.meaning, b.meaning) for a, b in self.statement.where]
        for one, two in others:
            if same_shape(one, two):
                self._relate(self.words(one), self.words(two), meant.index((one, two)))

    def _relate(self, one: Words, two: Words, place: int) -> None:
        difference = _plus(one, _scaled(two, Fraction(-1)))
        self._add_both(difference, ("equation", place))
        for cut, relation in self._turned_around(difference):
            self._add_both(relation, ("around", (place, cut)))

    def _add_both(self, relation: Words, origin: tuple[str, Source]) -> None:
        self._add_relation(relation, (*origin, False))
        self._add_relation(self._transposed(relation), (*origin, True))

    def _turned_around(self, relation: Words) -> Iterator[tuple[int, Words]]:
        """Of A B = I with square A and B, B A = I too: a left inverse is a right inverse."""
        unit: Words = {(UNIT, ()): Fraction(-1)}
        whole = _plus(relation, _scaled(unit, Fraction(-1)))
        if len(whole) != 1:
            return
        (((mono, letters), c),) = whole.items()
        if mono != UNIT or c != 1:
            return
        for k in range(1, len(letters)):
            if letters[k].rows == letters[0].rows == letters[k - 1].columns:
                turned: Words = {(UNIT, letters[k:] + letters[:k]): Fraction(1)}
                yield k, _plus(turned, unit)

    # ---- reading ---------------------------------------------------------------------------

    def words(self, expr: sympy.Basic) -> Words:
        """A matrix expression as a sum of words."""
        spend()
        match expr:
            case Head():
                raise Refused("a matrix of one head")
            case sympy.MatrixSymbol() if expr.name in self.means:
                return self.words(self.means[expr.name])
            case sympy.MatrixSymbol():
                return self._letter(expr.name, shape_of(expr))
            case sympy.Transpose():
                return self._transposed(self.words(expr.arg))
            case sympy.MatAdd():
                out: Words = {}
                for term in expr.args:
                    out = _plus(out, self.words(term))
                return out
            case sympy.MatMul():
                number, factors = expr.as_coeff_matrices()
                out = self._number(number)
                for factor in factors:
                    out = self._times(out, self.words(factor))
                return out
            case sympy.MatPow(base=base, exp=sympy.Integer() as power) if power > 0:
                return self.words(sympy.MatMul(*[base] * int(power)))
            case sympy.Identity():
                return self._number(sympy.S.One)
            case sympy.ZeroMatrix():
                return {}
            case sympy.OneMatrix():
                rows, columns = shape_of(expr)
                return self._times(self._ones(rows), self._transposed(self._ones(columns)))
            case Quotient():
                return self._times(self._number(1 / expr.args[1]), self.words(expr.args[0]))
            case LineSum():
                matrix, axis = expr.args
                rows, columns = shape_of(matrix)
                if axis == 1:
                    return self._times(self.words(matrix), self._ones(columns))
                return self._times(self._transposed(self._ones(rows)), self.words(matrix))
            case sympy.Inverse():
                return self._inverse(expr)
        if isinstance(expr, MatrixExpr):
            return self._opaque(expr)
        raise Refused("no matrix")

    def _number(self, value: sympy.Expr) -> Words:
        poly = self.scalars.scalar(sympy.sympify(value, strict=True))
        return {(mono, ()): c for mono, c in poly.items()}

    def _letter(self, name: Hashable, shape: tuple[sympy.Expr, sympy.Expr]) -> Words:
        letter = Letter(name, False, *shape)
        if name in self.statement.permutations:
            self._unit(letter, letter.transposed())
            self._unit(letter.transposed(), letter)
        return {(UNIT, (letter,)): Fraction(1)}

    def _ones(self, size: sympy.Expr) -> Words:
        return (
            {}
            if size == 0
            else (
                self._number(sympy.S.One) if size == 1 else self._letter("1", (size, sympy.S.One))
            )
        )

    def _unit(self, one: Letter, other: Letter) -> None:
        """The relation one · other = I."""
        product: Words = {(UNIT, (one, other)): Fraction(1)}
        unit: Words = {(UNIT, ()): Fraction(-1)}
        self._add_relation(_plus(product, unit), ("permutation", None, False))

    def _add_relation(self, relation: Words, origin: Origin) -> None:
        if relation and relation not in self.relations:
            self.relations.append(relation)
            self.origins.append(origin)

    def _inverse(self, expr: sympy.Basic) -> Words:
        """An inverse as a letter; of a square product it is the inverses in the other order."""
        base = expr.arg
        if isinstance(base, sympy.Inverse):
            return self.words(base.arg)
        if isinstance(base, sympy.Transpose):
            return self._transposed(self._inverse(sympy.Inverse(base.arg)))
        if isinstance(base, sympy.MatrixSymbol) and base.name in self.statement.permutations:
            return self._transposed(self.words(base))
        inside = self.words(base)
        size = shape_of(base)[0]
        if len(inside) == 1:
            (((mono, letters), c),) = inside.items()
            if letters and all(x.rows == x.columns for x in letters) and len(letters) > 1:
                out: Words = {
                    (m, ()): k for m, k in self.scalars.power({mono: c}, Fraction(-1)).items()
                }
                for letter in reversed(letters):
                    out = self._times(out, self._inverse_of({(UNIT, (letter,)): Fraction(1)}, size))
                return out
        return self._inverse_of(inside, size)

    def _inverse_of(self, inside: Words, size: sympy.Expr) -> Words:
        if len(inside) == 1:
            (((mono, letters), c),) = inside.items()
            if mono == UNIT and c == 1 and len(letters) == 1 and letters[0].turned:
                plain: Words = {(UNIT, (letters[0].transposed(),)): Fraction(1)}
                return self._transposed(self._inverse_of(plain, size))
        name = ("inverse", frozenset(inside.items()))
        letter = Letter(name, False, size, size)
        known: Words = {(UNIT, (letter,)): Fraction(1)}
        unit: Words = {(UNIT, ()): Fraction(-1)}
        if name not in self.meanings:
            base = self.expression(inside, (size, size))
            self.meanings[name] = sympy.Inverse(base)
        base = self.meanings[name].arg
        for kind, whole in (
            ("inverse left", self._times(known, inside)),
            ("inverse", self._times(inside, known)),
        ):
            self._add_both(_plus(whole, unit), (kind, base))
        return known

    def expression(self, words: Words, shape: tuple[sympy.Expr, sympy.Expr]) -> MatrixExpr:
        """A sum of words as a matrix expression."""
        terms = [self.product(c, mono, letters, shape[0]) for (mono, letters), c in words.items()]
        if not terms:
            return sympy.ZeroMatrix(*shape)
        return sympy.MatAdd(*terms) if len(terms) > 1 else terms[0]

    def product(
        self, c: Fraction, mono: Mono, letters: tuple[Letter, ...], size: sympy.Expr
    ) -> MatrixExpr:
        """A word as a matrix expression, the identity of this size where it has no letters."""
        factors = [self._expression_of(letter) for letter in letters]
        scalar = self.number_of(c, mono)
        factors = factors or [sympy.Identity(size)]
        if scalar == 1:
            return sympy.MatMul(*factors) if len(factors) > 1 else factors[0]
        return sympy.MatMul(scalar, *factors)

    @staticmethod
    def number_of(c: Fraction, mono: Mono) -> sympy.Expr:
        """A number of letters as a SymPy scalar. Raises `Refused` for one that is none."""
        out = sympy.Rational(c.numerator, c.denominator)
        for atom, p in mono:
            match atom:
                case ("prime", value):
                    base = sympy.Integer(value)
                case ("size", name):
                    base = sympy.Symbol(name, integer=True, positive=True)
                case ("name", "π", _):
                    base = sympy.pi
                case ("name", name, positive):
                    facts = {"positive": True} if positive else {"real": True}
                    base = sympy.Symbol(name, **facts)
                case _:
                    raise Refused("a number that is not a product of letters")
            out *= base ** sympy.Rational(p.numerator, p.denominator)
        return out

    def _expression_of(self, letter: Letter) -> MatrixExpr:
        rows, columns = (
            (letter.columns, letter.rows) if letter.turned else (letter.rows, letter.columns)
        )
        if letter.name == "1":
            return sympy.OneMatrix(letter.rows, letter.columns)
        if letter.name in self.meanings:
            plain = self.meanings[letter.name]
        else:
            plain = sympy.MatrixSymbol(letter.name, rows, columns)
        return sympy.Transpose(plain) if letter.turned else plain

    def _opaque(self, expr: sympy.Basic) -> Words:
        """Anything else as one letter; the same letter where all arguments are equal."""
        if not isinstance(expr, Node | sympy.HadamardProduct | sympy.HadamardPower):
            raise Refused(f"{type(expr).__name__} is not covered")
        args = tuple(
            (shape_of(a), self.words(a)) if isinstance(a, MatrixExpr) else (None, a)
            for a in expr.args
        )
        if isinstance(expr, sympy.HadamardProduct):
            args = tuple(sorted(args, key=lambda one: str(sorted(map(str, one)))))
        for kind, known, found in self.opaque:
            if (
                kind is type(expr)
                and len(known) == len(args)
                and all(
                    shape == other and self._same(a, b)
                    for (shape, a), (other, b) in zip(known, args, strict=True)
                )
            ):
                return found
        name = (type(expr).__name__, len(self.opaque))
        self.meanings[name] = expr
        out = self._letter(name, shape_of(expr))
        self.opaque.append((type(expr), args, out))
        return out

    def _same(self, one: Words | sympy.Expr, other: Words | sympy.Expr) -> bool:
        if not isinstance(one, dict) or not isinstance(other, dict):
            return bool(one == other)
        difference = _plus(one, _scaled(other, Fraction(-1)))
        return not difference or (bool(self.relations) and self.combined(difference) is not None)

    def _times(self, one: Words, other: Words) -> Words:
        spend(len(one) * len(other))
        out: Words = {}
        for (m, u), c in one.items():
            for (k, v), d in other.items():
                for mono, e in product(m, k).items():
                    _add(out, self._shortened((mono, u + v)), c * d * e)
        return out

    def _shortened(self, word: Word) -> Word:
        """A word in which 1ᵀ 1 is a number; a 1 × 1 part needs no place."""
        mono, letters = word
        for k in range(len(letters) - 1):
            one, other = letters[k], letters[k + 1]
            if one.name == other.name == "1" and one.turned and not other.turned:
                number = form_poly(linear(one.columns, {}))
                ((more, c),) = number.items() if len(number) == 1 else ((None, 0),)
                if more is not None and c == 1:
                    ((joined, _),) = product(mono, more).items()
                    return self._shortened((joined, letters[:k] + letters[k + 2 :]))
        return word

    def _transposed(self, words: Words) -> Words:
        out: Words = {}
        for (mono, letters), c in words.items():
            turned, sign = [], 1
            for letter in reversed(letters):
                minus = self.symmetric.get(letter.name) if isinstance(letter.name, str) else None
                turned.append(letter if minus else letter.transposed())
                sign *= minus or 1
            _add(out, (mono, tuple(turned)), c * sign)
        return out

    # ---- deciding --------------------------------------------------------------------------

    def cofactors(self) -> list[list[Source]]:
        """The combination of relations that the difference of the sides is."""
        sides = [self._side(side.meaning) for side in (self.statement.left, self.statement.right)]
        difference = _plus(sides[0], _scaled(sides[1], Fraction(-1)))
        out = []
        for c, use in (difference and self.combined(difference)) or ():
            kind, which, turned = self.origins[use.relation]
            if kind == "permutation":
                continue  # entries of permutations are conditions
            around = [
                self.product(Fraction(1), UNIT, part, None) if part else None
                for part in (use.left, use.right)
            ]
            for mono, d in use.number.items():
                out.append(
                    [self.number_of(c * d, mono), around[0], [kind, which, turned], around[1]]
                )
        return out

    def _side(self, meaning: Meaning) -> Words:
        """A side, the steps of a derivation put in for their letters."""
        assumed = self.means
        if isinstance(meaning, Derivation):
            self.means = {**assumed, **{step.letter: step.expr for step in meaning.steps}}
            meaning = meaning.steps[-1].expr
        if not isinstance(meaning, MatrixExpr):
            raise Refused("a side is not a matrix expression")
        try:
            return self.words(meaning)
        finally:
            self.means = assumed

    def combined(self, goal: Words) -> list[tuple[Fraction, Use]] | None:
        """The goal as Σ c u (L − R) v, with the u and v that its words suggest; or None."""
        rows: list[Words] = []
        used: list[Use] = []

        def found() -> list[tuple[Fraction, Use]] | None:
            numbers = _spans(rows, goal)
            return None if numbers is None else [(c, used[k]) for k, c in numbers.items()]

        seen: set[object] = set()
        wave = list(goal)
        known = set(wave)
        longest = max(len(letters) for _, letters in goal) + 2
        for turn in range(_ROUNDS):
            new: list[Word] = []
            for word in wave:
                for equation, use in self._uses(word, turn < 2):
                    key = frozenset(equation.items())
                    if key in seen:
                        continue
                    seen.add(key)
                    rows.append(equation)
                    used.append(use)
                    new += [w for w in equation if w not in known and len(w[1]) <= longest]
                    known.update(equation)
                    if len(rows) > _MOST_RELATIONS:
                        return found()
            if (answer := found()) is not None:
                return answer
            wave = new
        return None

    def _uses(self, word: Word, insert: bool) -> Iterator[tuple[Words, Use]]:
        """Every u (L − R) v of which the word is a term."""
        mono, letters = word
        for place, relation in enumerate(self.relations):
            for (number, part), _ in relation.items():
                spend(len(letters) + 1)
                if not part and not insert:
                    continue
                if not self._divides(number, mono):
                    continue
                back = frozenset((f, -p) for f, p in number)
                for k in range(len(letters) - len(part) + 1):
                    if letters[k : k + len(part)] != part:
                        continue
                    if not part and not self._fits(relation, letters, k):
                        continue
                    found: Words = {}
                    for (more, middle), c in relation.items():
                        for factor, e in product(mono, back).items():
                            for joined, d in product(factor, more).items():
                                whole = letters[:k] + middle + letters[k + len(part) :]
                                _add(found, self._shortened((joined, whole)), c * d * e)
                    left, right = letters[:k], letters[k + len(part) :]
                    yield found, Use(place, product(mono, back), left, right)

    def _divides(self, number: Mono, mono: Mono) -> bool:
        """Whether a number may be cancelled: it is never 0, or the other holds it."""
        powers = dict(mono)
        return all(
            self.scalars.is_positive(atom) or p < 0 or powers.get(atom, Fraction(0)) >= p
            for atom, p in number
        )

    def _fits(self, relation: Words, letters: tuple[Letter, ...], k: int) -> bool:
        """Whether I may stand between these letters: the sizes have to be those of the relation."""
        sizes = {(w[0].rows, w[-1].columns) for _, w in relation if w}
        here = {letters[k].rows} if k < len(letters) else set()
        here |= {letters[k - 1].columns} if k else set()
        return bool(here) and all(size == (at, at) for size in sizes for at in here)


def _add(words: Words, word: Word, number: Fraction) -> None:
    total = words.get(word, Fraction(0)) + number
    if total:
        words[word] = total
    else:
        words.pop(word, None)


def _plus(one: Words, other: Words) -> Words:
    out = dict(one)
    for word, number in other.items():
        _add(out, word, number)
    return out


def _scaled(words: Words, number: Fraction) -> Words:
    return {word: c * number for word, c in words.items()}


def _spans(rows: list[Words], goal: Words) -> dict[int, Fraction] | None:
    """The goal as a linear combination of the rows, by elimination over ℚ; None if it is none."""
    pivots: dict[Word, tuple[Words, dict[int, Fraction]]] = {}
    users: dict[Word, set[Word]] = {}  # the pivots whose rows have, or had, a word
    for place, row in enumerate([*rows, None]):
        left = dict(goal if row is None else row)
        made = {} if row is None else {place: Fraction(1)}
        while left:
            spend(len(left))
            word = next((w for w in left if w in pivots), None)
            if word is None:
                break
            pivot, parts = pivots[word]
            factor = -left[word] / pivot[word]
            left, made = _plus(left, _scaled(pivot, factor)), _added(made, parts, factor)
        if row is None:
            return None if left else {k: -c for k, c in made.items()}
        if left:
            word = next(iter(left))
            for other in users.get(word, ()):
                pivot, parts = pivots[other]
                if word in pivot:
                    spend(len(left))
                    factor = -pivot[word] / left[word]
                    pivots[other] = _plus(pivot, _scaled(left, factor)), _added(parts, made, factor)
                    for each in left:
                        if each != word:
                            users.setdefault(each, set()).add(other)
            pivots[word] = left, made
            for each in left:
                users.setdefault(each, set()).add(word)
    return None


def _added(
    one: dict[int, Fraction], other: dict[int, Fraction], factor: Fraction
) -> dict[int, Fraction]:
    out = dict(one)
    for k, c in other.items():
        out[k] = out.get(k, Fraction(0)) + c * factor
    return {k: c for k, c in out.items() if c}


def cofactors(statement: Statement) -> list[list[Source]]:
    """The terms c u (L − R) v whose sum is the difference of the sides, none if there are none.

    Each is c, u, what L = R is, and v; u and v are matrix expressions, or None for the identity.
    """
    try:
        return _Ring(statement).cofactors()
    except Spent:
        raise
    except (SymattnError, RecursionError):
        return []
