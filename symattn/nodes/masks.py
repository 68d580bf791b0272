"""Which keys a query may see: mask matrices of 0 and −∞ that are added to the scores.

A mask is a matrix M with 0 where query i may attend to key j and −∞ where it may not; several
masks are added, which allows only what all of them allow, or joined by `AnyOf`. Adding a mask is
adding a class and a row of `MASKS` here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import reduce
from itertools import chain, islice, repeat
from math import inf
from typing import ClassVar

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import whole as count
from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError, nearest, quote
from symattn.nodes import rule as r
from symattn.nodes.arguments import (
    MOST,
    NEEDED,
    Extent,
    Fixed,
    Matrix,
    Operand,
    Setting,
    Whole,
    as_scalar,
    picture,
)
from symattn.nodes.base import Definition, Node, settings, shape_of
from symattn.nodes.defined import ByEntries
from symattn.nodes.lines import OfLines, along
from symattn.nodes.rule import Index, Rule
from symattn.nodes.scopes import placed
from symattn.nodes.spell import Speller, indices_in
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: The longest list of numbers that a mask takes.
LONGEST = 1024

#: What a mask adds to a score that may be seen, and to one that may not.
SEEN, HIDDEN = r.Const(sympy.S.Zero), r.Const(sympy.S.NegativeInfinity)


class Count(Whole):
    """A parameter that counts: a whole number from `least` on, or a symbol for one."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        number = super().read(value, owner)
        if not number.is_number and number.is_nonnegative is not True:
            raise SymattnError(
                f"{owner}: {picture(value)} may be negative; "
                f'give sympy.Symbol("{picture(value)}", integer=True, positive=True)'
            )
        return number


class Counts(Count):
    """A parameter that is a list of whole numbers."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        if not isinstance(value, list | tuple | sympy.Tuple):
            told = f"{picture(value)} is not a list; give whole numbers: [1, 2]"
            raise SymattnError(f"{owner}: {told}")
        if not 0 < len(value) <= LONGEST:
            raise SymattnError(f"{owner}: a list of {len(value)} numbers; give from 1 to {LONGEST}")
        numbers = [super(Counts, self).read(one, owner) for one in value]
        for number in numbers:
            if not isinstance(number, sympy.Integer):
                raise SymattnError(f"{owner}: {picture(number)} in a list; give whole numbers")
        return sympy.Tuple(*numbers)


class Tokens(Counts):
    """A parameter that is a set of tokens, counted from 1."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        return sympy.Tuple(*sorted({*super().read(value, owner)}, key=int))


class Width(Count):
    """The number of keys on one side of a window; −1 and ∞ are no limit."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        unlimited = isinstance(value, int | sympy.Expr) and value in (-1, sympy.oo)
        return sympy.oo if unlimited else super().read(value, owner)


class Tokenwise(Extent):
    """How many queries, or keys."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        return as_scalar(value, owner)


class Mask(Node):
    """A mask that follows from positions alone: args are rows, columns, its parameters, `start`.

    Row 0 is the query at position `start` and column 0 the key at position 0: with p keys from
    before (a cache), `start` is p. A subclass says by `_at` (an entry rule) and by `_seen`
    (arrays) which positions may see which, and need not know where its rows start.
    """

    #: When a query may attend to a key, as a clause: several masks together say theirs. `word` is
    #: its name in a spec, too.
    condition: ClassVar[str] = ""
    #: What to say where a spec gives no parameter; empty if there is nothing to give.
    needs: ClassVar[str] = ""

    rows, columns, start = Tokenwise(), Tokenwise(), Count(default=0)
    by_rows: ClassVar[float | None] = 0

    @classmethod
    def _owner(cls) -> str:
        return f'mask "{cls.word}"'

    @classmethod
    def of(cls, rows: object, columns: object, parameter: Setting, start: object = 0) -> Mask:
        """The mask of this size from what a spec says: True, or the value of its parameter."""
        if parameter is True and cls.needs:
            raise SymattnError(f'mask "{cls.word}": {cls.needs}')
        if parameter is True:
            return cls(rows, columns, start)
        if not cls.needs:
            raise SymattnError(f'mask "{cls.word}": has no parameter; write mask = "{cls.word}"')
        own = cls.arguments[2:-1]
        several = isinstance(parameter, list | tuple) and len(own) > 1
        parameters = parameter if several else (parameter,)
        fewest = sum(
            one.default is NEEDED or (several and one.otherwise is not None) for one in own
        )
        if not fewest <= len(parameters) <= len(own):
            example = cls.needs.partition(": ")[2]
            raise SymattnError(
                f'mask "{cls.word}": {picture(parameter)} does not fit; give {example}'
            )
        return cls(rows, columns, *parameters, start=start)

    @classmethod
    def part(cls, parameter: Setting, before: int, keys: int) -> Setting:
        """The parameter for a later part of the queries, `before` of them having gone before.

        `keys` is how many keys there are by then.
        """
        return parameter

    def phrase(self) -> str:
        """Its word with its parameters: its size is that of what it stands beside."""
        own = [argument.name for argument in self.arguments[2:-1]]
        return f"{self.word.replace('-', '_')}({', '.join((*own, 'start='))})"

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._at(i + self.start, j)

    def _at(self, i: Index, j: Index) -> Rule:
        """The entry for the query at position i and the key at position j, both from 0."""
        raise NotImplementedError

    def _spell(self, speller: Speller) -> Tree:
        own = (one.name for one in self.arguments[2:-1])
        said = (getattr(self, name) for name in own if getattr(self, name) != self.usual(name))
        return self._called(speller, *map(speller.scalar, said))

    def _called(self, speller: Speller, *parameters: Tree) -> Tree:
        """The word with sizes, these parameters and the start: window(n, m, 2, start = p)."""
        sizes = map(speller.scalar, self.args[:2])
        begun = settings(speller, self, "start")
        return t.call(t.Ident(self.word, roman=True), *sizes, *parameters, *begun)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        rows, columns, *parameters, start = args
        queries, keys = arithmetic.rows(rows, start), arithmetic.columns(columns)
        seen = cls._seen(queries, keys, *(_plain(arithmetic, one) for one in parameters))
        everywhere = arithmetic.broadcast(seen, rows, columns)
        return arithmetic.where(everywhere, arithmetic.zero, arithmetic.minus_infinity)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        """Whether the query at a position (from 0) may see the key at a position.

        A parameter is a whole number, ∞ (no limit) or an array of whole numbers. What is made of
        positions by operators, `np.abs`, `np.isin` and `np.digitize` is written in programs, too.
        """
        raise NotImplementedError


class Causal(Mask):
    """Each query sees the keys up to its own position: m_ij = 0 if j ≤ i + start, else −∞.

    Top-left aligned; with p keys from before (a cache, or a spec's ``{causal = p}``), query i sees
    keys up to p + i. With a negative p the first queries see no key, as where the last of more
    queries than keys are aligned (p = m − n).

    Shapes: n × m. Raises `SymattnError` if p is no whole number.
    Source: Vaswani et al. 2017, section 3.2.3.

    >>> Causal(2, 3).as_explicit()
    Matrix([
    [0, -oo, -oo],
    [0,   0, -oo]])
    """

    source = "Vaswani et al. 2017, section 3.2.3"
    word = "causal"
    reason = "No query may attend to a later key."
    condition = "the key is not later than the query"

    start = Count(default=0, least=-MOST)

    @classmethod
    def of(cls, rows: object, columns: object, parameter: Setting, start: object = 0) -> Mask:
        """The mask from ``causal``, or from ``{causal = p}``, which says itself where it starts."""
        return cls(rows, columns, start if parameter is True else parameter)

    @classmethod
    def part(cls, parameter: Setting, before: int, keys: int) -> Setting:
        """A start that is said moves with the queries."""
        return parameter if parameter is True else parameter + before

    def _at(self, i: Index, j: Index) -> Rule:
        return when((r.Ordinal(j), "≤", r.Ordinal(i)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        return keys <= queries


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

    source = "PyTorch, nn.MultiheadAttention, key_padding_mask"
    word = "padding"
    reason = "Keys past the end of the text are padding and are masked out."
    condition = "the key is not padding"
    needs = "say how many keys are real: {padding = 3}"

    length = Count()
    start = Fixed(0)  # what is padding is padding for every query

    def _at(self, i: Index, j: Index) -> Rule:
        return when((r.Ordinal(j), "≤", r.Ordinal(self.length - 1)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        return keys < parameters[0]


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

    source = "Raffel et al. 2020, section 3.2.1"
    word = "prefix"
    reason = (
        "Every query attends to the whole prefix; beyond the prefix, no query attends to a "
        "later key."
    )
    condition = "the key is in the prefix or not later than the query"
    needs = "give the number of keys in the prefix: {prefix = 3}"

    length = Count()

    def _at(self, i: Index, j: Index) -> Rule:
        causal = when((r.Ordinal(j), "≤", r.Ordinal(i)))
        return when((r.Ordinal(j), "≤", r.Ordinal(self.length - 1)), otherwise=causal)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        return (keys < parameters[0]) | (keys <= queries)


class Documents(Mask):
    """A token sees only its own document: m_ij = 0 if ω_i = ω_j, else −∞, ω numbering documents.

    For several texts packed into one sequence; block-diagonal where each stays in one piece, which
    a spec says by ``{documents = {lengths = [2, 1]}}``.

    Shapes: n × (start + n), with as many numbers in ω as there are keys. Raises `SymattnError` if
    ω is no list of whole numbers or does not number every query and key.
    Source: Grattafiori et al., *The Llama 3 Herd of Models* (2024), section 3.2.

    >>> Documents(3, 3, [1, 1, 2]).as_explicit()
    Matrix([
    [  0,   0, -oo],
    [  0,   0, -oo],
    [-oo, -oo,   0]])
    """

    by_rows = None  # it is as long as all rows
    source = "Grattafiori et al. 2024, section 3.2"
    word = "documents"
    reason = "A token may attend only to tokens of its own document."
    condition = "both are of the same document"
    needs = "say which document each token is from: {documents = [1, 1, 2]}"

    numbers = Counts()

    def _check(self) -> None:
        _check_documents(*self.args)

    @classmethod
    def of(cls, rows: object, columns: object, parameter: Setting, start: object = 0) -> Mask:
        """The mask from the number of each token, or from the ``lengths`` of the documents."""
        return super().of(rows, columns, _numbered(parameter), start)

    @classmethod
    def part(cls, parameter: Setting, before: int, keys: int) -> Setting:
        """The numbers of the keys that there are."""
        return _numbered(parameter)[:keys]

    def _spell(self, speller: Speller) -> Tree:
        return self._called(speller, speller.listed(map(speller.scalar, self.numbers)))

    def _at(self, i: Index, j: Index) -> Rule:
        one, other = (r.Named("omega", (k,), r.Ordinal(r.Nth(self.numbers, k))) for k in (i, j))
        return when((one, "=", other))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """ω, which numbers the document of each token."""
        numbers = speller.listed(map(speller.scalar, self.numbers))
        yield Definition(t.equation(speller.notation.scalar("omega"), (t.EQUALS, numbers)))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        _check_documents(*args)
        return super()._compute(arithmetic, *args)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        (numbers,) = parameters
        return numbers[queries] == numbers[keys]


class Packed(Mask):
    """Documents one after the other: m_ij = 0 if ω_i = ω_j, ω_i counting those begun by i, else −∞.

    The last document goes on to the end, so that there may be any number of tokens.

    Shapes: n × m. Raises `SymattnError` if the tokens at which documents begin are no list of
    whole numbers from 1.
    Source: Grattafiori et al., *The Llama 3 Herd of Models* (2024), section 3.2.

    >>> Packed(3, 3, [1, 3]).as_explicit()
    Matrix([
    [  0,   0, -oo],
    [  0,   0, -oo],
    [-oo, -oo,   0]])
    """

    source = Documents.source
    word = "packed"
    reason = Documents.reason
    condition = Documents.condition
    needs = "say at which tokens documents begin, counted from 1: {packed = [1, 3]}"

    starts = Tokens(least=1)

    def _spell(self, speller: Speller) -> Tree:
        return self._called(speller, speller.places(_places_of(self.starts)))

    def _at(self, i: Index, j: Index) -> Rule:
        one, other = (r.Named("omega", (k,), self._begun(k)) for k in (i, j))
        return when((one, "=", other))

    def _begun(self, place: Index) -> Rule:
        """How many documents begin at a place or before it."""
        one, none = r.Const(sympy.S.One), r.Const(sympy.S.Zero)
        return r.Plus(
            tuple(
                r.Cases(r.Ordinal(start - 1), "≤", r.Ordinal(place), one, none)
                for start in self.starts
            )
        )

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """ω_i counts the documents that begin at token i or before it."""
        count = speller.rule(r.Named("omega", (i,), self._begun(i)))
        row, starts = speller.rule(r.Ordinal(i)), speller.places(_places_of(self.starts))
        told = t.Text(" is the number of documents that begin at token "), row
        yield Definition(t.row(count, *told, t.Text(" or before; documents begin at "), starts))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        places = parameters[0] - 1
        return np.digitize(queries, places) == np.digitize(keys, places)


def _places_of(tokens: sympy.Tuple) -> sympy.FiniteSet:
    """The places, from 0, of tokens that are counted from 1."""
    return sympy.FiniteSet(*(token - 1 for token in tokens))


def _numbered(parameter: Setting) -> Setting:
    """The number of each token's document, where the lengths of the documents are said.

    >>> _numbered({"lengths": [2, 1]})
    [1, 1, 2]
    """
    match parameter:
        case {"lengths": [*lengths]} | ("lengths", [*lengths]):
            where = 'mask "documents": lengths'
            counts = (count(one, where, 1, LONGEST) for one in lengths)
            every = chain.from_iterable(repeat(k, one) for k, one in enumerate(counts, 1))
            return [*islice(every, LONGEST + 1)]
    return parameter


def _check_documents(
    rows: sympy.Expr, columns: sympy.Expr, numbers: sympy.Tuple, start: sympy.Expr
) -> None:
    """Raise `SymattnError` where queries or keys are more or fewer than there are numbers."""
    for size, what in ((rows + start, "queries"), (columns, "keys")):
        if isinstance(size, sympy.Integer) and size != len(numbers):
            raise SymattnError(
                f'mask "documents": {len(numbers)} numbers for {size} {what}; '
                "give each token the number of its document"
            )


def when(*conditions: r.Condition, then: Rule = SEEN, otherwise: Rule = HIDDEN) -> Rule:
    """`then` (0) where all of the conditions hold, else `otherwise` (−∞)."""
    out = then
    for left, sign, right in reversed(conditions):
        out = r.Cases(left, sign, right, out, otherwise)
    return out


def _plain(arithmetic: Arithmetic, value: sympy.Basic) -> Operand:
    """A parameter as a whole number, ∞ or an array of whole numbers."""
    if isinstance(value, Iterable):
        return arithmetic.listed(value)
    return float("inf") if value == sympy.oo else int(value) if value.is_Integer else value


_LONGFORMER = "Beltagy et al. 2020, section 3.1"


class Window(Mask):
    """Keys at most w places away: m_ij = 0 if |i − j| ≤ w, else −∞.

    With l to the left and r to the right: m_ij = 0 if j ≤ i + r and i ≤ j + l; −1 or ∞ is no
    limit. In a spec [l, r] gives both; one number is both. The window contains the query's own
    position, so that it is l + 1 + r wide: Longformer's w is twice the one here, and Mistral's
    sliding window of w keys is causal with [w − 1, 0].

    Shapes: n × m. Raises `SymattnError` if a width is neither a whole number from 0 nor −1.
    Source: Beltagy, Peters, Cohan, *Longformer* (2020), section 3.1.

    >>> Window(3, 3, 1).as_explicit()
    Matrix([
    [  0, 0, -oo],
    [  0, 0,   0],
    [-oo, 0,   0]])
    """

    source = _LONGFORMER
    word = "window"
    reason = "A query attends only to keys near its own position."
    condition = "the key is near the query's own position"
    needs = "give the reach of the window: {window = 2} or {window = [2, 0]}"

    left, right = Width(), Width(otherwise=lambda rows, columns, left: left)

    def _at(self, i: Index, j: Index) -> Rule:
        left, right = self.left, self.right
        conditions: list[r.Condition] = []
        if left == right != sympy.oo:
            conditions = [(r.Ordinal(abs(i - j)), "≤", r.Ordinal(left))]
        else:
            if right != sympy.oo:
                conditions.append((r.Ordinal(j), "≤", r.Ordinal(i + right)))
            if left != sympy.oo:
                conditions.append((r.Ordinal(i), "≤", r.Ordinal(j + left)))
        return when(*conditions)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        left, right = parameters
        if left == right:
            return abs(queries - keys) <= left
        return (keys - queries <= right) & (queries - keys <= left)


class Dilated(Mask):
    """A window with gaps: m_ij = 0 if |i − j| ≤ w s and (i − j) mod s = 0, else −∞.

    A query sees its own position and, on both sides, w keys that are s places apart.

    Shapes: n × m. Raises `SymattnError` if w is no whole number from 0 or s none from 1.
    Source: Beltagy, Peters, Cohan, *Longformer* (2020), section 3.1.

    >>> Dilated(2, 4, 1, 2).as_explicit()
    Matrix([
    [  0, -oo,   0, -oo],
    [-oo,   0, -oo,   0]])
    """

    source = _LONGFORMER
    word = "dilated"
    reason = "A query attends to keys at regular intervals on both sides of its position."
    condition = "the key is at a regular interval from the query"
    needs = "say how many keys on each side and the step: {dilated = [2, 3]}"

    width, step = Count(), Count(least=1)

    def _at(self, i: Index, j: Index) -> Rule:
        near: r.Condition = (r.Ordinal(abs(i - j)), "≤", r.Ordinal(self.width * self.step))
        return when(near, *_on_step(i, j, self.step))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        width, step = parameters
        apart = abs(queries - keys)
        return (apart <= width * step) & (apart % step == 0)


class Strided(Mask):
    """The last s keys and every s-th before: m_ij = 0 if j ≤ i and (i ≤ j + s or s | i − j).

    The union of both patterns of strided attention, A⁽¹⁾ and A⁽²⁾ with l = s, each causal.

    Shapes: n × m. Raises `SymattnError` if s is no whole number from 1.
    Source: Child, Gray, Radford, Sutskever, *Sparse Transformers* (2019), section 4.3.

    >>> Strided(6, 6, 2).as_explicit()[5, :]
    Matrix([[-oo, 0, -oo, 0, 0, 0]])
    """

    source = "Child et al. 2019, section 4.3"
    word = "strided"
    reason = "A query attends to the last few keys, and to earlier ones at regular intervals."
    condition = "the key is one of the last few or an earlier one at a regular interval"
    needs = "say the stride: {strided = 3}"

    stride = Count(least=1)

    def _at(self, i: Index, j: Index) -> Rule:
        causal: r.Condition = (r.Ordinal(j), "≤", r.Ordinal(i))
        steps = _on_step(i, j, self.stride)
        if not steps:
            return when(causal)
        either = when((r.Ordinal(i), "≤", r.Ordinal(j + self.stride)), otherwise=when(*steps))
        return when(causal, then=either)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        (stride,) = parameters
        back = queries - keys
        return (back >= 0) & ((back <= stride) | (back % stride == 0))


class Chunked(Mask):
    """Earlier keys of the query's own chunk: m_ij = 0 if j ≤ i and ⌊j/c⌋ = ⌊i/c⌋, else −∞.

    The sequence is cut into chunks of c tokens (i and j count from 0 here), each causal.

    Shapes: n × m. Raises `SymattnError` if c is no whole number from 1.
    Source: Meta, *Llama 4* (2025), model card and code, attention_chunk_size.

    >>> Chunked(3, 3, 2).as_explicit()
    Matrix([
    [  0, -oo, -oo],
    [  0,   0, -oo],
    [-oo, -oo,   0]])
    """

    source = "Meta, Llama 4 (2025), attention_chunk_size"
    word = "chunk"
    reason = "A query attends only to its own chunk of the sequence, and there to no later key."
    condition = "the key is in the query's own chunk and not later than the query"
    needs = "say how many tokens a chunk has: {chunk = 4}"

    size = Count(least=1)

    def _at(self, i: Index, j: Index) -> Rule:
        causal: r.Condition = (r.Ordinal(j), "≤", r.Ordinal(i))
        return when(causal, _in_one(i, j, self.size))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        (size,) = parameters
        return (keys <= queries) & (keys // size == queries // size)


class Window2d(Mask):
    """Tokens of one square window of a grid: m_ij = 0 if i and j are in the same one, else −∞.

    The tokens are the cells of a grid of w columns, row by row, which is cut into windows of r × r
    cells; the cuts may be shifted by s cells, which leaves smaller windows at the edges. So with i
    and j from 0: ⌊(i − s w)/(r w)⌋ = ⌊(j − s w)/(r w)⌋ and ⌊(i mod w − s)/r⌋ = ⌊(j mod w − s)/r⌋.
    The paper rolls the grid instead and masks what is not adjacent, which is the same.

    Shapes: n × m. Raises `SymattnError` if w or r is no whole number from 1, or s none from 0.
    Source: Liu et al., *Swin Transformer* (2021), section 3.2; its M is the r here.

    >>> Window2d(2, 8, 4, 2).as_explicit()
    Matrix([
    [0, 0, -oo, -oo, 0, 0, -oo, -oo],
    [0, 0, -oo, -oo, 0, 0, -oo, -oo]])
    """

    source = "Liu et al. 2021, section 3.2"
    word = "window-2d"
    reason = "A token of a grid attends only to the tokens of its own window."
    condition = "both are in one window of the grid"
    needs = "give the grid's columns and the window's side: {window-2d = [8, 4]}"

    grid, side, shift = Count(least=1), Count(least=1), Count(default=0)

    def _at(self, i: Index, j: Index) -> Rule:
        width, side, shift = self.grid, self.side, self.shift
        down = _in_one(i - shift * width, j - shift * width, side * width)
        one, other = (sympy.Mod(place, width) - shift for place in (i, j))
        return when(down, _in_one(one, other, side))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        width, side, shift = parameters
        down = [(place - shift * width) // (side * width) for place in (queries, keys)]
        across = [(place % width - shift) // side for place in (queries, keys)]
        return (down[0] == down[1]) & (across[0] == across[1])


def _in_one(one: Index, other: Index, size: sympy.Expr) -> r.Condition:
    """⌊j/c⌋ = ⌊i/c⌋: both places are in the same part, of c places each."""
    left, right = (r.Ordinal(_part_of(place, size)) for place in (other, one))
    return left, "=", right


def _part_of(place: Index, size: sympy.Expr) -> Index:
    """⌊i/c⌋, with its fraction as it is written: ⌊(i + 1)/2⌋, not ⌊i/2 + 1/2⌋."""
    if size == 1 or not indices_in(sympy.sympify(place, strict=True)):
        return sympy.floor(sympy.sympify(place, strict=True) / size)
    return sympy.floor(sympy.Mul(1 / size, place, evaluate=False), evaluate=False)


class Global(Mask):
    """Tokens that see all and are seen by all: m_ij = 0 if i ∈ G or j ∈ G, else −∞.

    Usually one part of a union: any of a window and this. G counts tokens from 1.

    Shapes: n × m. Raises `SymattnError` if G is no list of whole numbers from 1.
    Source: Beltagy, Peters, Cohan, *Longformer* (2020), section 3.1.

    >>> Global(3, 3, [1]).as_explicit()
    Matrix([
    [0,   0,   0],
    [0, -oo, -oo],
    [0, -oo, -oo]])
    """

    source = _LONGFORMER
    word = "global"
    reason = "Global tokens attend to every token, and every token to them."
    condition = "one of the two is a global token"
    needs = "say which tokens, counted from 1: {global = [1]}"

    tokens = Tokens(least=1)

    def _spell(self, speller: Speller) -> Tree:
        return self._called(speller, speller.places(_places_of(self.tokens)))

    def _at(self, i: Index, j: Index) -> Rule:
        places = r.Ordinal(_places_of(self.tokens))
        return when((r.Ordinal(i), "∈", places), otherwise=when((r.Ordinal(j), "∈", places)))

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: Operand) -> Operand:
        places = parameters[0] - 1
        return np.isin(queries, places) | np.isin(keys, places)


def _on_step(i: Index, j: Index, step: sympy.Expr) -> list[r.Condition]:
    """(i − j) mod s = 0, which needs no saying where s is 1."""
    if step == 1:
        return []
    return [(r.Ordinal(sympy.Mod(i - j, step)), "=", r.Ordinal(0))]


class Allowed(Node):
    """A boolean matrix as a mask: m_ij = 0 where b_ij is true (1), else −∞.

    True is where a query may attend, as in ONNX, JAX and PyTorch's scaled_dot_product_attention.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: ONNX operator Attention, input ``attn_mask``.
    """

    matrix = Matrix()
    by_rows = 1
    transposes = True
    syntax = "allow(matrix)"
    source = "ONNX, operator Attention"

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Cases(r.rule_of(self.matrix, i, j), "=", r.Const(sympy.S.One), SEEN, HIDDEN)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.where_equal(args[0], 1, arithmetic.zero, arithmetic.minus_infinity)


class AnyOf(Node):
    """The union of masks: m_ij = 0 where any of them is 0, else −∞.

    Shapes: all n × m. Raises `SymattnError` if there is no argument, one is no matrix, or two
    differ in size.
    Source: Zaheer et al., *Big Bird* (2020), section 2 (a window together with global tokens).

    >>> print(AnyOf(Window(3, 3, 0), Global(3, 3, [1])))
    any(window(3, 3, 0), global(3, 3, {1}))
    >>> AnyOf(Window(3, 3, 0), Global(3, 3, [1])).as_explicit()
    Matrix([
    [0,   0,   0],
    [0,   0, -oo],
    [0, -oo,   0]])
    """

    by_rows = inf
    syntax = "any()"
    source = "Zaheer et al. 2020, section 2"

    def _check(self) -> None:
        if not self.args:
            raise SymattnError("AnyOf: no mask to join; give one or more")
        for mask in self.args[1:]:
            _same_shape("AnyOf", self.args[0], mask)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the masks."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        out: Rule = HIDDEN
        for mask in reversed(self.args):
            out = _decided(_mask_rule(mask, i, j), SEEN, out)
        return out

    def _flip(self, flip: Callable[[MatrixExpr], MatrixExpr]) -> MatrixExpr:
        return AnyOf(*map(flip, self.args))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        seen = reduce(lambda one, other: one | other, (arithmetic.equals(arg, 0) for arg in args))
        return arithmetic.where(seen, arithmetic.zero, arithmetic.minus_infinity)


class TopK(OfLines):
    """The k largest entries of each row: m_ij = 0 if z_ij is one of them, else −∞.

    With κ_ij the place of z_ij among the entries of row i in decreasing order, equal ones from left
    to right, m_ij = 0 if κ_ij ≤ k. Exact arithmetic proves every comparison. The paper keeps all
    that equal the k-th largest, which may be more than k.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix or k no whole
    number from 1, and `Undecided` where exact entries can be neither told apart nor proven equal.
    Source: Zhao et al., *Explicit Sparse Transformer* (2019), section 3; ONNX, operator TopK, for
    the order of equal entries.

    >>> print(TopK(sympy.Matrix([[1, 3, 3, 2]]), 1).doit())
    Matrix([[-oo, 0, -oo, -oo]])
    """

    count = Count(least=1)
    by_rows = 1
    chooses = True
    syntax = ("topk(matrix, count)", "")
    source = "Zhao et al. 2019, section 3; ONNX, operator TopK"
    heading = "choice of keys"
    reason = (
        "Each query keeps the keys with its largest scores, of equal ones the first, and no others."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        rank = r.Named("kappa", (i, j), self._rank(i, j))
        return when((rank, "≤", r.Ordinal(self.count)))

    def _rank(self, i: Index, j: Index) -> Rule:
        """1 and how many entries come before: those above, and equal ones to the left."""
        index, other, size = self._line(i, j)
        own, here = r.rule_of(self.matrix, i, j), j if self.axis == 1 else i
        one, none = r.Const(sympy.S.One), r.Const(sympy.S.Zero)
        first = r.Cases(r.Ordinal(index), "≤", r.Ordinal(here - 1), one, none)
        before = r.Cases(own, "≤", other, r.Cases(other, "≤", own, first, one), none)
        return r.Plus((one, r.Total(before, index, size)))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """κ_ij is the place of z_ij among z_i1, …, z_im in decreasing order."""
        index, other, size = self._line(i, j)
        rank = speller.rule(r.Named("kappa", (i, j), self._rank(i, j)))
        own = speller.rule(r.rule_of(self.matrix, i, j))
        ends = (speller.rule(placed(other, index, k)) for k in (sympy.S.Zero, size - 1))
        line = t.commas([next(ends), t.DOTS, next(ends)])
        order = t.Text(" in decreasing order, equal ones from left to right")
        middle = (t.Text(" is the place of "), own, t.Text(" among "), line, order)
        yield Definition(t.row(rank, *middle))

    def _spell(self, speller: Speller) -> Tree:
        name = t.Script(t.Ident("top", roman=True), speller.scalar(self.count))
        return t.call(name, speller.matrix(self.matrix))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        matrix, count, axis = args
        return along(arithmetic, axis, lambda rows: arithmetic.top(rows, count), matrix)


#: The nodes whose entries are −∞ of themselves.
HIDING = (Mask, Allowed, AnyOf, TopK)


def may_hide(expr: sympy.Basic) -> bool:
    """Whether something in an expression may be −∞."""
    return bool(expr.has(*HIDING, sympy.S.NegativeInfinity))


class Masked(Node):
    """Scores with a mask added: g_ij = z_ij + m_ij.

    Where m_ij is −∞ the sum is −∞ whatever z_ij is, NaN included: a masked value never leaks.

    Shapes: both n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.3.

    >>> print(Masked(sympy.MatrixSymbol("Z", 2, 2), Causal(2, 2)))
    Z + causal(2, 2)
    """

    scores, mask = Matrix(), Matrix()
    by_rows = 2
    entrywise = True
    syntax = "scores + mask"
    source = "Vaswani et al. 2017, section 3.2.3"

    adjoint_because = (
        "A score masked with {−∞} has no effect, so its gradient is 0; others are passed on."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Plus((r.rule_of(self.scores, i, j), r.rule_of(self.mask, i, j)))

    def _entry(self, i: Index, j: Index, **kwargs: object) -> sympy.Expr:
        hidden = self.mask[i, j] is sympy.S.NegativeInfinity
        return sympy.S.NegativeInfinity if hidden else super()._entry(i, j, **kwargs)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return VisibleScores(upstream, self.mask)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, scores: Array, mask: Array) -> Array:
        hidden = arithmetic.hidden(mask)
        finite = arithmetic.where(hidden, arithmetic.zero, scores)
        added = arithmetic.where(hidden, arithmetic.zero, mask)
        return arithmetic.where(hidden, arithmetic.minus_infinity, arithmetic.add(finite, added))


def added_mask(expr: sympy.Basic | None) -> MatrixExpr | None:
    """The mask that is added to scores, where an expression is that; None of anything else."""
    return expr.mask if isinstance(expr, Masked) else None


class VisibleScores(Node):
    """Scores where a mask hides nothing, and 0 elsewhere: g_ij = s_ij if m_ij > −∞, else 0.

    For weights without exponentials, where −∞ would not become 0. A masked s_ij has no influence,
    NaN and infinities included.

    Shapes: both n × m. Raises `SymattnError` if an argument is no matrix or they differ in size.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.3 (causal sums).

    >>> print(VisibleScores(sympy.MatrixSymbol("S", 2, 2), Causal(2, 2)))
    keep(S, causal(2, 2))
    """

    scores, mask = Matrix(), Matrix()
    by_rows = 2
    transposes = True
    syntax = "keep(scores, mask)"
    source = "Katharopoulos et al. 2020, section 3.3"

    adjoint_because = (
        "A score that is not kept has no effect, so its gradient is 0; others are passed on."
    )

    def _check(self) -> None:
        _same_shape("VisibleScores", self.scores, self.mask)

    def _rule(self, i: Index, j: Index) -> Rule:
        mask = _mask_rule(self.mask, i, j)
        seen = r.rule_of(self.scores, i, j)
        if _is_decision(mask):
            return _decision(mask, seen, SEEN)
        return r.Cases(mask, "=", HIDDEN, SEEN, seen)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return VisibleScores(upstream, self.mask) if place == 0 else None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.where(arithmetic.hidden(args[1]), arithmetic.zero, args[0])


def mask_of(
    name: object, rows: object, columns: object, parameter: object = True, start: object = 0
) -> MatrixExpr:
    """The mask of this name and size, from what a spec says of it.

    `name` is a row of `MASKS`, or ``any`` (a key is seen if one of the masks allows it) or
    ``all`` (if each of them does). The parameter of those two is a list of masks, each a name or
    a table of one key: ``{any = [{window = 1}, {global = [1]}]}``; they may be nested, and join
    up to 8 masks in all. Row 0 is the query at position `start`, column 0 the key at position 0.

    Raises `SymattnError` for an unknown name and for a parameter that does not fit.

    >>> print(mask_of("any", 4, 4, [{"window": [1, 0]}, {"global": [1]}]))
    any(window(4, 4, 1, 0), global(4, 4, {1}))
    >>> print(mask_of("all", 4, 4, ["causal", {"window": 2}]))
    causal(4, 4) + window(4, 4, 2)
    """
    left = iter(range(_MOST_JOINED))

    def joined(name: object, parameter: object) -> MatrixExpr:
        if isinstance(name, str) and name in MASKS:
            if next(left, None) is None:
                raise SymattnError(f"mask: more than {_MOST_JOINED} masks are joined; give fewer")
            return MASKS[name].of(rows, columns, parameter, start)
        if name not in COMBINED:
            known = nearest(str(name), (*MASKS, *COMBINED))
            raise SymattnError(f"mask {quote(name)} is not known here{known}")
        if not isinstance(parameter, list | tuple) or not 0 < len(parameter) <= _MOST_JOINED:
            raise SymattnError(
                f'mask "{name}": give a list of 1 to {_MOST_JOINED} masks: '
                f"{{{name} = [{{window = 1}}, {{global = [1]}}]}}"
            )
        parts: list[MatrixExpr] = []
        for part in parameter:
            mask = joined(*_name_and_parameter(part, name))
            if mask not in parts:
                parts.append(mask)
        if len(parts) == 1:
            return parts[0]
        return AnyOf(*parts) if name == "any" else sympy.MatAdd(*parts)

    try:
        return joined(name, parameter)
    except RecursionError:
        raise SymattnError("mask: masks are nested too deeply; give fewer levels") from None


def part_of(name: str, parameter: Setting, before: int, keys: int) -> Setting:
    """What a spec says of a mask, for the queries after the first `before` and so many keys.

    >>> part_of("all", ["causal", {"documents": [1, 1, 2, 2]}], 2, 3)
    ['causal', {'documents': [1, 1, 2]}]
    """
    if name in COMBINED:
        parts = [(part, _name_and_parameter(part, name)) for part in parameter]
        return [
            part if isinstance(part, str) else {own: part_of(own, value, before, keys)}
            for part, (own, value) in parts
        ]
    return MASKS[name].part(parameter, before, keys) if name in MASKS else parameter


def hides(matrix: MatrixExpr, letters: Collection[str] = ()) -> bool:
    """Whether a matrix says by −∞ what is hidden: a mask, masks together, or one of these."""
    if isinstance(matrix, sympy.MatAdd):
        return all(hides(part, letters) for part in matrix.args)
    if isinstance(matrix, ByEntries):
        return hides(matrix.matrix, letters)
    letter = str(getattr(matrix, "name", ""))
    return isinstance(matrix, HIDING) or letter in letters


def reason_of(mask: MatrixExpr) -> str:
    """Why a mask is there, in a sentence; for several masks together, one of their conditions.

    >>> reason_of(AnyOf(Causal(3, 3), Global(3, 3, [1])))[36:]
    'the key is not later than the query, or if one of the two is a global token.'
    """
    if isinstance(mask, Mask):
        return mask.reason
    if isinstance(mask, Allowed):
        return "A query may attend to a key only where the entry of {B} is 1."
    conditions = _conditions(mask)
    joined = ", or if " if isinstance(mask, AnyOf) else ", and if "
    return f"A query may attend to a key only if {joined.join(conditions)}." if conditions else ""


def _conditions(mask: MatrixExpr) -> list[str]:
    """The conditions of the masks that a union or a sum joins, each once; none of other numbers."""
    return [*dict.fromkeys(filter(None, map(_condition, mask.args)))]


def _condition(mask: MatrixExpr) -> str:
    """When a query may attend to a key, as a clause; empty where the mask is no set of pairs."""
    if isinstance(mask, Mask):
        return mask.condition
    if isinstance(mask, Allowed):
        return "the entry of {B} is 1"
    if isinstance(mask, AnyOf | sympy.MatAdd):
        return (" or " if isinstance(mask, AnyOf) else " and ").join(_conditions(mask))
    return ""


def _name_and_parameter(part: object, owner: str) -> tuple[str, Setting]:
    """One mask of a list, as its name and parameter."""
    if isinstance(part, str):
        return part, True
    if isinstance(part, Mapping) and len(part) == 1:
        return next(iter(part.items()))
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str):
        return part
    raise SymattnError(
        f'mask "{owner}": {quote(part)} is not one mask; give a name or a table of one key'
    )


def _same_shape(owner: str, one: MatrixExpr, other: MatrixExpr) -> None:
    for size, against in zip(shape_of(one), shape_of(other), strict=True):
        if size.is_number and against.is_number and size != against:
            shapes = " and ".join("{} × {}".format(*shape_of(matrix)) for matrix in (one, other))
            raise SymattnError(f"{owner}: matrices of {shapes}; give matrices of one shape")


def _mask_rule(mask: MatrixExpr, i: Index, j: Index) -> Rule:
    """The entry rule of a mask; for a sum of masks, nested cases: 0 where every term is 0."""
    if isinstance(mask, sympy.MatAdd):
        rules = [_mask_rule(part, i, j) for part in mask.args]
        if all(map(_is_decision, rules)):
            return reduce(lambda out, rule: _decision(rule, out, HIDDEN), reversed(rules))
    return r.rule_of(mask, i, j)


def _decided(mask: Rule, seen: Rule, otherwise: Rule) -> Rule:
    """`seen` where the mask is 0, else `otherwise`; by the mask's conditions where it has them."""
    if _is_decision(mask):
        return _decision(mask, seen, otherwise)
    return r.Cases(mask, "=", SEEN, seen, otherwise)


def _is_decision(rule: Rule) -> bool:
    """Whether a rule only decides between 0 and −∞."""
    if isinstance(rule, r.Cases):
        return _is_decision(rule.value) and _is_decision(rule.otherwise)
    return rule in (SEEN, HIDDEN)


def _decision(rule: Rule, seen: Rule, otherwise: Rule) -> Rule:
    """A rule of 0 and −∞ with `seen` in place of 0 and `otherwise` in place of −∞."""
    if isinstance(rule, r.Cases):
        branches = (
            _decision(rule.value, seen, otherwise),
            _decision(rule.otherwise, seen, otherwise),
        )
        return r.Cases(rule.left, rule.sign, rule.right, *branches)
    return seen if rule == SEEN else otherwise


#: The masks that a spec can name, by their words.
MASKS: Mapping[str, type[Mask]] = {
    mask.word: mask
    for mask in (
        *(Causal, Padding, Window, Prefix, Documents, Packed, Dilated, Strided, Chunked),
        *(Window2d, Global),
    )
}

#: The names that join a list of masks: a key is seen if any of them, or all of them, allow it.
COMBINED = ("any", "all")

#: How many masks may be joined.
_MOST_JOINED = 8
