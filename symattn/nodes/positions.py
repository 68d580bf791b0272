"""Masks that follow from positions alone: the base class, causal, padding, prefix, documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError, shown
from symattn.nodes.base import Definition, Node, as_scalar, told
from symattn.nodes.rule import Cases, Condition, Const, Index, Named, Nth, Ordinal, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: The largest number, and the longest list of numbers, that a mask takes.
MOST, LONGEST = 1_000_000, 1024

#: What a mask adds to a score that may be seen, and to one that may not.
SEEN, HIDDEN = Const(sympy.S.Zero), Const(sympy.S.NegativeInfinity)


class Mask(Node):
    """A mask that follows from positions alone: args are rows, columns, its parameters, `start`.

    Row 0 is the query at position `start` and column 0 the key at position 0: with p keys from
    before (a cache), `start` is p. A subclass says by `_at` (an entry rule) and by `_seen`
    (arrays) which positions may see which, and need not know where its rows start.
    """

    #: Its name in a spec and in formulas.
    word: ClassVar[str] = ""
    reason: ClassVar[str] = ""
    #: What to say where a spec gives no parameter; empty if there is nothing to give.
    needs: ClassVar[str] = ""

    def __new__(cls, rows: Any, columns: Any, *parameters: Any) -> Self:
        """The mask of this size; the last parameter is `start`, 0 if there is none."""
        *own, start = parameters or (0,)
        return super().__new__(cls, *sizes_of(rows, columns), *own, count(start, cls.word))

    @classmethod
    def of(cls, rows: Any, columns: Any, parameter: Any, start: Any = 0) -> Mask:
        """The mask of this size from what a spec says: True, or the value of its parameter."""
        if parameter is True and cls.needs:
            raise SymattnError(f'mask "{cls.word}": {cls.needs}')
        if parameter is True:
            return cls(rows, columns, start)
        if not cls.needs:
            raise SymattnError(f'mask "{cls.word}": has no parameter; write mask = "{cls.word}"')
        return cls(rows, columns, parameter, start=start)  # type: ignore[call-arg]  # they have it

    @classmethod
    def part(cls, parameter: Any, before: int, keys: int) -> Any:
        """The parameter for a later part of the queries, `before` of them having gone before.

        `keys` is how many keys there are by then.
        """
        return parameter

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return self.args[0], self.args[1]

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._at(i + self.args[-1], j)

    def _at(self, i: Index, j: Index) -> Rule:
        """The entry for the query at position i and the key at position j, both from 0."""
        raise NotImplementedError

    def _spell(self, speller: Speller) -> Tree:
        return self._called(speller, *map(speller.scalar, self.args[2:-1]))

    def _called(self, speller: Speller, *parameters: Tree) -> Tree:
        """The word with sizes, these parameters and the start: window(n, m, 2, start = p)."""
        sizes = map(speller.scalar, self.args[:2])
        begun = told(speller, ("start", self.args[-1], 0))
        return t.call(t.Ident(self.word, roman=True), *sizes, *parameters, *begun)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        rows, columns, start = int(args[0]), int(args[1]), int(args[-1])
        queries, keys = np.arange(start, start + rows)[:, None], np.arange(columns)[None, :]
        seen = cls._seen(queries, keys, *map(_plain, args[2:-1]))
        everywhere = np.broadcast_to(seen, (rows, columns))
        return arithmetic.where(everywhere, arithmetic.zero, arithmetic.minus_infinity)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        """Whether the query at a position (from 0) may see the key at a position.

        A parameter is a whole number, ∞ (no limit) or a list of whole numbers.
        """
        raise NotImplementedError


class Causal(Mask):
    """Each query sees the keys up to its own position: m_ij = 0 if j ≤ i + start, else −∞.

    Top-left aligned; with p keys from before (a cache, or a spec's ``{causal = p}``), query i sees
    keys up to p + i.

    Shapes: n × m. Raises `SymattnError` if p is negative or no whole number.
    Source: Vaswani et al. 2017, section 3.2.3.

    >>> Causal(2, 3).as_explicit()
    Matrix([
    [0, -oo, -oo],
    [0,   0, -oo]])
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.3"
    word: ClassVar[str] = "causal"
    reason: ClassVar[str] = "No query may look at a later key."

    def __new__(cls, rows: Any, columns: Any, start: Any = 0) -> Self:
        return super().__new__(cls, rows, columns, start)

    @classmethod
    def of(cls, rows: Any, columns: Any, parameter: Any, start: Any = 0) -> Mask:
        """The mask from ``causal``, or from ``{causal = p}``, which says itself where it starts."""
        return cls(rows, columns, start if parameter is True else parameter)

    @classmethod
    def part(cls, parameter: Any, before: int, keys: int) -> Any:
        """A start that is said moves with the queries."""
        return parameter if parameter is True else parameter + before

    def _at(self, i: Index, j: Index) -> Rule:
        return when((Ordinal(j), "≤", Ordinal(i)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        return np.asarray(keys <= queries)


class Padding(Mask):
    """Only the first keys are real, the rest is padding: m_ij = 0 if j ≤ length, else −∞.

    Shapes: n × m. Raises `SymattnError` if the length is negative or no whole number.
    Source: PyTorch, nn.MultiheadAttention, ``key_padding_mask`` (there True is masked); ONNX,
    operator Attention, input ``nonpad_kv_seqlen``.

    >>> Padding(2, 3, 2).as_explicit()
    Matrix([
    [0, 0, -oo],
    [0, 0, -oo]])
    """

    source: ClassVar[str] = "PyTorch, nn.MultiheadAttention, key_padding_mask"
    word: ClassVar[str] = "padding"
    reason: ClassVar[str] = "Keys past the end of the text are padding and must not be seen."
    needs: ClassVar[str] = "say how many keys are real: {padding = 3}"

    def __new__(cls, rows: Any, columns: Any, length: Any, start: Any = 0) -> Self:
        # keys alone decide, wherever the queries start
        return super().__new__(cls, rows, columns, count(length, "padding"), 0)

    def _at(self, i: Index, j: Index) -> Rule:
        return when((Ordinal(j), "≤", Ordinal(self.args[2] - 1)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        return np.asarray((keys < parameters[0]) | (queries < 0))


class Prefix(Mask):
    """Every query sees the first p keys, and the others causally: m_ij = 0 if j ≤ p or j ≤ i.

    Shapes: n × m. Raises `SymattnError` if p is negative or no whole number.
    Source: Raffel et al., *T5* (2020), section 3.2.1 ("causal with prefix").

    >>> Prefix(3, 3, 2).as_explicit()
    Matrix([
    [0, 0, -oo],
    [0, 0, -oo],
    [0, 0,   0]])
    """

    source: ClassVar[str] = "Raffel et al. 2020, section 3.2.1"
    word: ClassVar[str] = "prefix"
    reason: ClassVar[str] = "Every query sees the whole prefix; past it, no later key."
    needs: ClassVar[str] = "say how many keys every query sees: {prefix = 3}"

    def __new__(cls, rows: Any, columns: Any, length: Any, start: Any = 0) -> Self:
        return super().__new__(cls, rows, columns, count(length, "prefix"), start)

    def _at(self, i: Index, j: Index) -> Rule:
        causal = when((Ordinal(j), "≤", Ordinal(i)))
        return when((Ordinal(j), "≤", Ordinal(self.args[2] - 1)), otherwise=causal)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        return np.asarray((keys < parameters[0]) | (keys <= queries))


class Documents(Mask):
    """A token sees only its own document: m_ij = 0 if ω_i = ω_j, else −∞, ω numbering documents.

    For several texts packed into one sequence; block-diagonal where each stays in one piece.

    Shapes: n × (start + n), with as many numbers in ω as there are keys. Raises `SymattnError` if
    ω is no list of whole numbers or does not number every query and key.
    Source: Grattafiori et al., *The Llama 3 Herd of Models* (2024), section 3.2.

    >>> Documents(3, 3, [1, 1, 2]).as_explicit()
    Matrix([
    [  0,   0, -oo],
    [  0,   0, -oo],
    [-oo, -oo,   0]])
    """

    source: ClassVar[str] = "Grattafiori et al. 2024, section 3.2"
    word: ClassVar[str] = "documents"
    reason: ClassVar[str] = "A token may look only at tokens of its own document."
    needs: ClassVar[str] = "say which document each token is from: {documents = [1, 1, 2]}"

    def __new__(cls, rows: Any, columns: Any, numbers: Any, start: Any = 0) -> Self:
        listed = counts(numbers, "documents")
        made = super().__new__(cls, rows, columns, listed, start)
        for size, what in ((made.args[0] + made.args[-1], "queries"), (made.args[1], "keys")):
            if isinstance(size, sympy.Integer) and size != len(listed):
                raise SymattnError(
                    f'mask "documents": {len(listed)} numbers for {size} {what}; '
                    "give each token the number of its document"
                )
        return made

    @classmethod
    def part(cls, parameter: Any, before: int, keys: int) -> Any:
        """The numbers of the keys that there are."""
        return parameter[:keys]

    def _spell(self, speller: Speller) -> Tree:
        return self._called(speller, speller.listed(map(speller.scalar, self.args[2])))

    def _at(self, i: Index, j: Index) -> Rule:
        one, other = (Named("omega", (k,), Ordinal(Nth(self.args[2], k))) for k in (i, j))
        return when((one, "=", other))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """ω, which numbers the document of each token."""
        numbers = speller.listed(map(speller.scalar, self.args[2]))
        yield Definition(t.equation(t.Ident("ω"), (t.EQUALS, numbers)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Any) -> NDArray[np.bool_]:
        numbers = np.array(parameters[0])
        last = int(queries.max()) + 1
        if last != numbers.size or keys.size != numbers.size:
            raise SymattnError(
                f'mask "documents": {numbers.size} numbers for {last} queries and '
                f"{keys.size} keys; give one for each token"
            )
        return np.asarray(numbers[queries] == numbers[keys])


def when(*conditions: Condition, then: Rule = SEEN, otherwise: Rule = HIDDEN) -> Rule:
    """`then` (0) where all of the conditions hold, else `otherwise` (−∞)."""
    out = then
    for left, sign, right in reversed(conditions):
        out = Cases(left, sign, right, out, otherwise)
    return out


def sizes_of(rows: Any, columns: Any) -> tuple[sympy.Expr, sympy.Expr]:
    """How many queries and keys, as SymPy scalars."""
    return as_scalar(rows, "mask"), as_scalar(columns, "mask")


def count(value: Any, name: str, least: int = 0) -> sympy.Expr:
    """A parameter that counts; a symbol is taken too. Raises `SymattnError` for anything else."""
    whole = isinstance(value, int | sympy.Expr) and not isinstance(value, bool | MatrixExpr)
    number = as_scalar(value, name) if whole else None
    if number is not None and not number.is_number and number.is_nonnegative is not True:
        raise SymattnError(
            f'mask "{name}": {picture(value)} may be negative; '
            f'give sympy.Symbol("{picture(value)}", integer=True, positive=True)'
        )
    if number is None or not _may_count(number, least):
        raise SymattnError(
            f'mask "{name}": {picture(value)} is not a count; '
            f"give a whole number from {least} to {MOST}"
        )
    return number


def counts(values: Any, name: str, least: int = 0) -> sympy.Tuple:
    """A parameter that is a list of whole numbers. Raises `SymattnError` for anything else."""
    if not isinstance(values, list | tuple | sympy.Tuple):
        raise SymattnError(
            f'mask "{name}": {picture(values)} is not a list; give whole numbers: [1, 2]'
        )
    if not 0 < len(values) <= LONGEST:
        raise SymattnError(
            f'mask "{name}": a list of {len(values)} numbers; give from 1 to {LONGEST}'
        )
    numbers = [count(value, name, least) for value in values]
    for number in numbers:
        if not isinstance(number, sympy.Integer):
            raise SymattnError(f'mask "{name}": {picture(number)} in a list; give whole numbers')
    return sympy.Tuple(*numbers)


def picture(value: Any) -> str:
    """A wrong parameter in a message; Python refuses to write a number of many digits."""
    if isinstance(value, int | sympy.Integer) and int(value).bit_length() > 256:
        return "a number of very many digits"
    return shown(value)


def _may_count(number: sympy.Expr, least: int) -> bool:
    """Whether a number is whole and within the bounds, or a symbol may stand for one."""
    if number.is_number:
        return isinstance(number, sympy.Integer) and least <= int(number) <= MOST
    return number.is_integer is not False and not number.is_negative


def _plain(value: Any) -> Any:
    """A parameter as Python numbers: whole, ∞ or a list."""
    if isinstance(value, Iterable):
        return [int(number) for number in value]
    return float("inf") if value == sympy.oo else int(value)
