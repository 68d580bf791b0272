"""Products of matrices as words: what follows from equations in a ring, and by which cofactors.

A matrix expression is a sum of words with numbers before them; its letters are matrices, their
transposes and inverses, and whatever is no sum or product. From hypotheses L = R a statement
follows if the difference of its sides is a sum of terms c u (L − R) v with words u and v (its
cofactors), which linear algebra over ℚ finds; nothing is solved, so no solution of a hypothesis is
lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import TypeAlias

import flint
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import Goal, encoded
from symattn.algebra.forms import Refused
from symattn.algebra.kinds import Data
from symattn.algebra.linear_equations import solution
from symattn.arithmetic.base import Ground
from symattn.arithmetic.enclosure import in_flint, in_sympy
from symattn.budget import spend
from symattn.nodes.lines import LineSum
from symattn.nodes.scale import Quotient

_MOST_RELATIONS, _ROUNDS = 800, 4

#: A number without its rational factor, and letters in a row: matrices and their transposes.
Word: TypeAlias = tuple[sympy.Expr, tuple[MatrixExpr, ...]]
Words: TypeAlias = dict[Word, flint.fmpq]


@dataclass(frozen=True)
class Relation:
    """What is 0: of which kind it is, the equation or the matrix, and whether it is transposed."""

    words: Words
    source: tuple[str, Data, bool]


@dataclass(frozen=True)
class Multiple:
    """A relation between two words, times a number: c u (L − R) v."""

    words: Words
    relation: Relation
    number: sympy.Expr
    left: tuple[MatrixExpr, ...]
    right: tuple[MatrixExpr, ...]


@dataclass
class Ring:
    """The words of one goal, and the relations among them that are assumed.

    `means` are letters that stand for an expression, `hidden` the expressions that letters stand
    for here: functions, inverses, products entry by entry.
    """

    goal: Goal
    means: Mapping[str, MatrixExpr]
    hidden: dict[MatrixExpr, MatrixExpr]
    relations: list[Relation] = field(default_factory=list)

    # ---- reading ---------------------------------------------------------------------------

    def words(self, expr: sympy.Basic) -> Words:
        """A matrix expression as a sum of words. Raises `Refused` for what has none."""
        spend()
        match expr:
            case sympy.MatrixSymbol(name=name):
                if name in self.means:
                    return self.words(self.means[name])
                if name in self.goal.permuting:
                    self._invert(_word(expr), _turned(expr), ("", None))
                return _word(expr)
            case sympy.Transpose():
                return _transposed(self.words(expr.arg))
            case sympy.MatAdd():
                return _plus(*map(self.words, expr.args))
            case sympy.MatMul():
                number, factors = expr.as_coeff_matrices()
                return reduce(_times, map(self.words, factors), _number(number))
            case sympy.Identity():
                return _number(sympy.S.One)
            case sympy.ZeroMatrix():
                return {}
            case sympy.OneMatrix():
                rows, columns = expr.shape
                return _times(_ones(rows), _transposed(_ones(columns)))
            case Quotient():
                return _times(_number(1 / expr.args[1]), self.words(expr.args[0]))
            case LineSum():
                matrix, axis = expr.args
                if axis == 1:
                    return _times(self.words(matrix), _ones(matrix.shape[1]))
                return _times(_transposed(_ones(matrix.shape[0])), self.words(matrix))
            case sympy.Inverse():
                return self._inverse(expr.arg)
            case sympy.HadamardProduct():
                return _word(self._letter(sorted(expr.args, key=str), expr))
        raise Refused(f"{type(expr).__name__} is not covered")

    def _letter(self, key: object, expr: MatrixExpr) -> sympy.MatrixSymbol:
        """The letter for an expression, the same for all of one key."""
        letter = sympy.MatrixSymbol(f"⟦{key}⟧", *expr.shape)
        self.hidden.setdefault(letter, expr)
        return letter

    def _inverse(self, base: MatrixExpr) -> Words:
        """An inverse as a letter; of a square product it is the inverses in the other order."""
        match base:
            case sympy.Inverse():
                return self.words(base.arg)
            case sympy.Transpose():
                return _transposed(self._inverse(base.arg))
            case sympy.MatrixSymbol(name=name) if name in self.goal.permuting:
                return _transposed(self.words(base))
        inside = self.words(base)
        ((number, letters), c), *more = inside.items() or _word().items()
        if not more and len(letters) > 1 and len({size for x in letters for size in x.shape}) == 1:
            return reduce(
                _times, map(self._inverse, letters[::-1]), _number(1 / (number * in_sympy(c)))
            )
        letter = self._letter(sorted(inside.items(), key=str), sympy.Inverse(base))
        self._invert(inside, letter, ("inverse", base))
        return _word(letter)

    def _invert(self, inside: Words, letter: MatrixExpr, source: tuple[str, Data]) -> None:
        """That a letter is an inverse: both products are I."""
        known, unit = _word(letter), _scaled(_word(), -1)
        kind, base = source
        left = f"{kind} left" if kind else ""
        self.relate(_plus(_times(known, inside), unit), (left, base))
        self.relate(_plus(_times(inside, known), unit), (kind, base))

    def relate(self, words: Words, source: tuple[str, Data]) -> None:
        """That a sum of words is 0, and its transpose."""
        for turned, one in ((False, words), (True, _transposed(words))):
            if one and all(known.words != one for known in self.relations):
                self.relations.append(Relation(one, (*source, turned)))

    def assume(self, place: int) -> None:
        """An equation; of A B = I with square A and B, B A = I too."""
        one, other = (self.words(side) for side in self.goal.where[place])
        difference = _plus(one, _scaled(other, -1))
        self.relate(difference, ("equation", place))
        whole = _plus(difference, _word())
        ((number, letters), c), *more = whole.items() or _word().items()
        for k in range(1, len(letters)) if c == number == 1 and not more else ():
            if letters[k].shape[0] == letters[0].shape[0] == letters[k - 1].shape[1]:
                turned = _word(*letters[k:], *letters[:k])
                self.relate(_plus(turned, _scaled(_word(), -1)), ("around", [place, k]))

    # ---- deciding --------------------------------------------------------------------------

    def cofactors(self) -> Iterator[Data]:
        """The terms c u (L − R) v whose sum is the difference of the sides, none if there are none.

        Each is c, u, what L = R is, and v, as a certificate has them.
        """
        left, right = self.words(self.goal.left), self.words(self.goal.right)
        for c, use in self.combined(_plus(left, _scaled(right, -1))):
            kind, which, turned = use.relation.source
            if kind:  # entries of permutations are conditions
                around = [self._encoded(part) for part in (use.left, use.right)]
                which = which if kind in ("equation", "around") else encoded(self.shown(which))
                number = encoded(in_sympy(c) * use.number)
                yield [number, around[0], [kind, which, turned], around[1]]

    def shown(self, expr: MatrixExpr) -> MatrixExpr:
        """An expression with what its letters stand for."""
        while found := expr.atoms(sympy.MatrixSymbol) & self.hidden.keys():
            expr = expr.xreplace({letter: self.hidden[letter] for letter in found})
        return expr

    def _encoded(self, letters: tuple[MatrixExpr, ...]) -> Data:
        """A word as a certificate has it, None for the identity."""
        return encoded(self.shown(_matrix(letters))) if letters else None

    def combined(self, wanted: Words) -> list[tuple[flint.fmpq, Multiple]]:
        """These words as Σ c u (L − R) v, with u and v that they suggest; none if there is none."""
        uses: dict[object, Multiple] = {}
        wave, known = [*wanted], {*wanted}
        longest = max((len(letters) for _, letters in wanted), default=0) + 2
        for turn in range(_ROUNDS):
            new: list[Word] = []
            for word in wave:
                for use in self._multiples(word, turn < 2):
                    if uses.setdefault(frozenset(use.words.items()), use) is use:
                        new += [w for w in use.words if w not in known and len(w[1]) <= longest]
                        known.update(use.words)
                if len(uses) >= _MOST_RELATIONS:
                    break
            numbers = _spanned([use.words for use in uses.values()], wanted)
            if numbers is not None or len(uses) >= _MOST_RELATIONS:
                return [(c, use) for c, use in zip(numbers or (), uses.values(), strict=False) if c]
            wave = new
            if not wave:
                break
        return []

    def _multiples(self, word: Word, insert: bool) -> Iterator[Multiple]:
        """Every c u (L − R) v of which the word is a term."""
        number, letters = word
        for relation in self.relations:
            for own, part in relation.words:
                spend(len(letters) + 1)
                for k in range(len(letters) - len(part) + 1):
                    left, right = letters[:k], letters[k + len(part) :]
                    fits = bool(part) or (insert and _fits(relation, left, right))
                    if fits and letters[k : k + len(part)] == part:
                        factor = number / own
                        if not sympy.fraction(factor)[1].is_positive:
                            continue  # a cofactor does not divide by what may be 0
                        factors = _number(factor), _word(*left), relation.words, _word(*right)
                        yield Multiple(reduce(_times, factors), relation, factor, left, right)


def _matrix(letters: tuple[MatrixExpr, ...]) -> MatrixExpr:
    return sympy.MatMul(*letters) if len(letters) > 1 else letters[0]


def _word(*letters: MatrixExpr) -> Words:
    """One word, I without letters."""
    return {(sympy.S.One, letters): flint.fmpq(1)}


def _number(value: sympy.Expr) -> Words:
    """A multiple of I."""
    out: Words = {}
    for term in sympy.Add.make_args(sympy.expand(value)):
        _add(out, term, (), flint.fmpq(1))
    return out


def _ones(size: sympy.Expr) -> Words:
    """A column of ones."""
    if size in (0, 1):
        return _number(size)
    return _word(sympy.OneMatrix(size, 1))


def _turned(letter: MatrixExpr) -> MatrixExpr:
    """The transpose of a letter."""
    match letter:
        case sympy.OneMatrix():
            return sympy.OneMatrix(*reversed(letter.shape))
        case sympy.Transpose():
            return letter.arg
    return sympy.Transpose(letter)


def _transposed(words: Words) -> Words:
    return {(m, tuple(map(_turned, reversed(letters)))): c for (m, letters), c in words.items()}


def _plus(*sums: Words) -> Words:
    out: Words = {}
    for words in sums:
        for (number, letters), c in words.items():
            _add(out, number, letters, c)
    return out


def _scaled(words: Words, times: int) -> Words:
    return {word: c * times for word, c in words.items()}


def _times(one: Words, other: Words) -> Words:
    spend(len(one) * len(other))
    out: Words = {}
    for (m, u), c in one.items():
        for (k, v), d in other.items():
            _add(out, m * k, u + v, c * d)
    return out


def _add(out: Words, number: sympy.Expr, letters: tuple[MatrixExpr, ...], c: flint.fmpq) -> None:
    """Add a word, in which 1ᵀ 1 is a number."""
    for k, (one, other) in enumerate(pairwise(letters)):
        if all(isinstance(x, sympy.OneMatrix) for x in (one, other)) and one.shape[0] == 1:
            _add(out, number * one.shape[1], letters[:k] + letters[k + 2 :], c)
            return
    rational, number = number.as_coeff_Mul()
    c = out.pop((number, letters), 0) + c * in_flint(rational)
    if c:
        out[number, letters] = c


def _fits(relation: Relation, left: tuple[MatrixExpr, ...], right: tuple[MatrixExpr, ...]) -> bool:
    """Whether the sizes of a relation are those between two words, one of which is not I."""
    here = {x.shape[1] for x in left[-1:]} | {x.shape[0] for x in right[:1]}
    ends = {size for _, w in relation.words if w for size in (w[0].shape[0], w[-1].shape[1])}
    return bool(here) and ends == here


def _spanned(rows: Sequence[Words], wanted: Words) -> list[Ground] | None:
    """These words as a linear combination of the rows; None where there is none."""
    places = {word: k for k, word in enumerate({word for row in rows for word in row})}
    if not wanted.keys() <= places.keys():
        return None
    spend(sum(map(len, rows)))
    zero = flint.fmpq(0)
    table = [[row.get(word, zero) for row in rows] for word in places]
    return solution(table, [wanted.get(word, zero) for word in places], [zero] * len(rows))
