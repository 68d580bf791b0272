"""The matrix expressions of right sides, once every size is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from inspect import signature
from typing import Any

import sympy
from sympy import HadamardProduct
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ReadError, SymattnError, nearest
from symattn.grammar import (
    Apart,
    Call,
    Chosen,
    Compared,
    Every,
    Indexed,
    Joined,
    Name,
    Number,
    Part,
    Tree,
    subtrees,
)
from symattn.greek import in_ascii
from symattn.language.shapes import OF_NUMBERS, Unfit
from symattn.language.sizes import MADE_TO_FIT, Sizes, is_small
from symattn.nodes.biases import ALiBi, RelativeBias
from symattn.nodes.defined import (
    COLUMN_NUMBER,
    ROW_NUMBER,
    Applied,
    ByEntries,
    Counted,
    Formula,
    WherePlaced,
)
from symattn.nodes.entrywise import EntryQuotient, Entrywise, Exponential
from symattn.nodes.heads import Concat, Head, HeadMix, HeadSum, Slice, Split
from symattn.nodes.lines import (
    Filled,
    Lengths,
    LineDifference,
    LineQuotient,
    PlusVector,
    Spread,
)
from symattn.nodes.masks import Allowed, AnyOf, Causal, Mask, Masked, VisibleScores, mask_of
from symattn.nodes.normalise import SinkSoftmax, Unnormalised
from symattn.nodes.norms import NORMS
from symattn.nodes.number import NumberSymbol
from symattn.nodes.positions import Rotary, Sinusoidal
from symattn.nodes.powers import WhereAtMost, WholePower
from symattn.nodes.recurrence import Beside
from symattn.nodes.relative import ClippedShift, RelativeShift
from symattn.nodes.scale import Everywhere, NumberQuotient, NumberTimes, Quotient
from symattn.nodes.scores import Additive
from symattn.nodes.written import CONSTANTS, Shape, Writer, groups, together
from symattn.step import HEAD

#: A value with its shape; None of a number that is SymPy's, (1, 1) of one that is a matrix.
Value = tuple[sympy.Expr, Shape]

_ONE = (sympy.S.One, sympy.S.One)

#: The places that a text's index stands for inside a matrix by its entries.
_PLACES = (ROW_NUMBER, COLUMN_NUMBER)

#: The nodes of matrices by their words.
NODES: Mapping[str, Callable[..., MatrixExpr]] = {
    "allow": Allowed,
    "any": AnyOf,
    "keep": VisibleScores,
    "additive": Additive,
    "shift": RelativeShift,
    "clip": ClippedShift,
    "sinksoftmax": SinkSoftmax,
    "unnormalised": Unnormalised,
    "lengths": Lengths,
}

#: The index of the heads that are mixed into one.
_MEMBER = sympy.Symbol("member", integer=True)

_OF_PLACES: Mapping[str, Callable[..., sympy.Expr]] = {
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "mod": sympy.Mod,
    "min": sympy.Min,
    "max": sympy.Max,
}


class Maker(Writer):
    """Makes expressions of trees whose shapes `sizes` knows."""

    def __init__(
        self,
        sizes: Sizes,
        numbers: Mapping[str, sympy.Expr],
    ) -> None:
        super().__init__({}, {}, ())
        self.sizes = sizes
        #: Numbers that a text says: ε = 1e-6.
        self.numbers = numbers
        #: The letters of steps that hide by −∞.
        self.masks: set[str] = set()
        #: The recurrence that is being made.
        self.making = ""
        #: What an index stands for: a head, a place.
        self.indices: dict[str, sympy.Expr] = {}
        #: How many heads an index runs over.
        self.counts: dict[str, sympy.Expr] = {}
        #: The matrices that stand for the arguments of a function.
        self.arguments: Mapping[str, MatrixExpr] = {}
        #: Rows and columns of the matrix by its entries that is made.
        self.whole: tuple[sympy.Expr, sympy.Expr] | None = None

    @contextmanager
    def _with(self, **state: object) -> Iterator[None]:
        """Something else is made inside: its indices, counts, arguments or whole are these."""
        before = {name: getattr(self, name) for name in state}
        vars(self).update(state)
        try:
            yield
        finally:
            vars(self).update(before)

    def head(self, index: str, count: sympy.Expr) -> AbstractContextManager[None]:
        """The matrix of one of so many heads is made inside."""
        return self._with(
            indices={**self.indices, index: HEAD}, counts={**self.counts, index: count}
        )

    def entries(
        self, tree: Tree, shape: tuple[sympy.Expr, sympy.Expr], indices: Sequence[str]
    ) -> MatrixExpr:
        """The matrix whose entries a tree says, with these letters for row and column."""
        places = dict(zip(indices, _PLACES, strict=True))
        with self._with(whole=shape, indices={**self.indices, **places}):
            return _named_mask(self._spread(*self._placed(self.build(tree)), shape))

    # ---- trees -----------------------------------------------------------------------------

    def build(self, tree: Tree) -> Value:
        """The expression of a tree and its shape. Raises `Unfit` with the part that has none."""
        try:
            return self._build(tree)
        except Unfit as unfit:
            raise unfit.at(tree) from None
        except SymattnError as error:
            raise Unfit(str(error)).at(tree) from None

    def _build(self, tree: Tree) -> Value:
        match tree:
            case Number(_, True):
                own = self.sizes.shapes[id(tree)]
                assert own is not None
                self.spare = iter([self.sizes.sized(own)])
            case Name("I") if "I" not in self.sizes.declared and "I" not in self.arguments:
                own = self.sizes.shapes[id(tree)]
                assert own is not None
                self.spare = iter([self.sizes.sized(own)])
            case Name(name) if self.whole is not None and name in self.indices:
                return self.indices[name], None
            case Indexed():
                return self._indexed(tree)
            case Every():
                return self._every(tree)
            case Call(name, args, options):
                return self._call(tree, name, args, dict(options))
            case Chosen(value, test, otherwise):
                return self._chosen(value, test, otherwise)
            case Compared() | Joined():
                return self._chosen(_NUMBER[1], tree, _NUMBER[0])
            case Apart("^", (base, exponent)):
                return self._raised(base, exponent)
            case Apart("^" | "inv" as sign, (base,), power) if self.whole is not None:
                exponent = sympy.Rational(power.numerator, power.denominator)
                return self._power_of_entries(base, -1 if sign == "inv" else exponent)
            case Apart("T", _) if self.whole is not None:
                raise ReadError("an entry is a number, which has no transpose; write S[j,i]")
            case Apart("T", (part,)):
                value, shape = self.build(part)
                return (value, None) if shape is None else (_transposed(value), shape[::-1])
            case Apart("neg", (part,)):
                return self._negative(self.build(part))
            case Apart("+", parts):
                return self._sum([self.build(part) for part in parts])
            case Apart("∘" | "⊘" as sign, (left, right)):
                return self._entry_by_entry(sign, self.build(left), self.build(right))
        return super().build(tree)

    def _symbol(self, name: str) -> Value:
        if name in self.arguments:
            value = self.arguments[name]
            return value, (value.shape[0], value.shape[1])
        if name in self.numbers:
            return self.numbers[name], None
        if name in CONSTANTS:
            return self._constant(name), None
        if name not in self.sizes.letters and self.sizes.is_size(name):
            return self.sizes.symbol(name), None
        shape = self.sizes.letters[name]
        if shape is None:
            return NumberSymbol(in_ascii(name)), _ONE
        sized = self.sizes.sized(shape)
        number = sized == _ONE and name in self.sizes.made and is_small(name)
        kind = NumberSymbol if number else sympy.MatrixSymbol
        return kind(in_ascii(name), *sized), sized

    def _constant(self, name: str) -> sympy.Expr:
        if name == "∞":
            raise ReadError("−∞ stands only as a branch of cases: M[i,j] = 0 if j <= i else -inf")
        return CONSTANTS[name]

    # ---- numbers and matrices together -----------------------------------------------------

    def _negative(self, part: Value) -> Value:
        value, shape = part
        if shape is None:
            return -value, None
        if isinstance(value, Filled):
            return Filled(*value.shape, -value.number), shape
        if isinstance(value, Quotient):
            return Quotient(self._negative((value.matrix, shape))[0], value.divisor), shape
        number, factors = _coefficient(value)
        return (factors if number == -1 else sympy.MatMul(-number, factors)), shape

    def _sum(self, terms: Sequence[Value]) -> Value:
        shape = together([own for _, own in terms])
        if shape is None:
            return sympy.Add(*(value for value, _ in terms)), None
        masks = [value for value, own in terms if own == shape and self.is_mask(value)]
        if masks and len(masks) < len(terms):  # what a mask hides has no say, NaN included
            scores, _ = self._sum([one for one in terms if not any(one[0] is m for m in masks)])
            mask = masks[0] if len(masks) == 1 else sympy.MatAdd(*masks)
            return Masked(self._spread(scores, tuple(scores.shape), shape), mask), shape
        out: MatrixExpr | None = None
        pending: list[MatrixExpr] = []
        for value, own in terms:
            if out is not None and not pending and own != shape and own not in (None, _ONE):
                out = self._plus_line(out, value, own)
                continue
            pending.append(self._spread(value, own, shape))
            if own == shape and out is None and len(pending) == 1:
                out = pending.pop()
        parts = ([] if out is None else [out]) + pending
        return (parts[0] if len(parts) == 1 else sympy.MatAdd(*parts)), shape

    def is_mask(self, value: sympy.Expr) -> bool:
        """Whether a matrix says by −∞ what is hidden."""
        if isinstance(value, sympy.MatAdd):
            return all(map(self.is_mask, value.args))
        if isinstance(value, ByEntries):
            return self.is_mask(value.matrix)
        letter = str(getattr(value, "name", ""))
        return isinstance(value, Mask | Allowed | AnyOf) or letter in self.masks

    def _plus_line(self, matrix: MatrixExpr, value: sympy.Expr, own: Shape) -> MatrixExpr:
        """A row added to every row, or a number of each row taken off it."""
        assert own is not None
        if own[0] == 1:
            return PlusVector(matrix, value)
        number, factors = _coefficient(value)
        if number == -1:
            return LineDifference(matrix, factors)
        return PlusVector(matrix, value, 0)

    def _spread(self, value: sympy.Expr, own: Shape, shape: Shape) -> MatrixExpr:
        """A number, a column or a row repeated to fill a shape."""
        assert shape is not None
        rows, columns = shape
        if own is None:
            return sympy.ZeroMatrix(rows, columns) if value == 0 else Filled(rows, columns, value)
        if own == shape:
            return value
        if own == _ONE:
            return Everywhere(value, rows, columns)
        return Spread(value, columns) if own[1] == 1 else Spread(value, rows, 0)

    def _entry_by_entry(self, sign: str, left: Value, right: Value) -> Value:
        if sign == "∘" and (left[1] in (None, _ONE) or right[1] in (None, _ONE)):
            return self._times([left, right])
        shape = together([left[1], right[1]])
        if sign == "⊘" and (shape is None or right[1] in (None, _ONE)):
            return self._over(left, right)
        one, other = (self._spread(value, own, shape) for value, own in (left, right))
        kind = EntryQuotient if sign == "⊘" else sympy.HadamardProduct
        return kind(one, other), shape

    def _times(self, built: list[Value]) -> Value:
        """A product; numbers that are matrices are taken to its front, in their order."""
        if self.whole is not None:
            return reduce(self._pointwise, built)
        shapes = [own for _, own in built]
        scalar = sympy.Mul(*(value for value, own in built if own is None))
        parts: list[tuple[MatrixExpr, tuple[sympy.Expr, sympy.Expr]]] = []
        for group in groups(shapes, lambda size: bool(size == 1)):
            chain = [(value, own) for value, own in (built[k] for k in group) if own is not None]
            if chain:
                values = [value for value, _ in chain]
                product = sympy.MatMul(*values) if len(values) > 1 else values[0]
                parts.append((product, (chain[0][1][0], chain[-1][1][1])))
        numbers = [value for value, own in parts if own == _ONE]
        wide = [(value, own) for value, own in parts if own != _ONE]
        if not wide:
            if not numbers:
                return scalar, None
            product = numbers[0] if len(numbers) == 1 else sympy.MatMul(*numbers)
            return _number_times(scalar, product), _ONE
        values = [value for value, _ in wide]
        out = values[0] if len(values) == 1 else sympy.MatMul(*values)
        for number in reversed(numbers):
            out = NumberTimes(number, out)
        return _number_times(scalar, out), (wide[0][1][0], wide[-1][1][1])

    def _pointwise(self, left: Value, right: Value) -> Value:
        """The product of two numbers of each place."""
        (one, own), (other, of_other) = left, right
        if own is None and of_other is None:
            return one * other, None
        if own is None or of_other is None:
            number, matrix, shape = (one, other, of_other) if own is None else (other, one, own)
            if number == 1:
                return matrix, shape
            if number.has(*_PLACES):
                return self._pointwise((self._of_places(number), self.whole), (matrix, shape))
            return sympy.MatMul(number, matrix), shape
        if own == _ONE and of_other == _ONE:
            return HadamardProduct(one, other), _ONE
        if _ONE in (own, of_other):
            return NumberTimes(*((one, other) if own == _ONE else (other, one))), self.whole
        return HadamardProduct(one, other), self.whole

    def _over(self, above: Value, below: Value) -> Value:
        (top, over), (bottom, under) = above, below
        if self.whole is not None and under is None and bottom.has(*_PLACES):
            if over is None:
                return top / bottom, None
            bottom, under = self._of_places(bottom), self.whole
            top, over = self._spread(*self._placed(above), self.whole), self.whole
        if under == _ONE:
            if over is None:
                top, over = Filled(1, 1, top), _ONE
            return NumberQuotient(top, bottom), over
        if under is None and bottom == 0:
            raise ReadError("it divides by 0, which has no value")
        if under is None:
            return (top / bottom, None) if over is None else (Quotient(top, bottom), over)
        shape = together([over, under])
        top = self._spread(top, over, shape)
        if under[1] == 1 and shape != under:
            return LineQuotient(top, bottom), shape
        if under[0] == 1 and shape != under:
            return LineQuotient(top, bottom, 0), shape
        return EntryQuotient(top, bottom), shape

    def _raised(self, base: Tree, exponent: Tree) -> Value:
        """A power whose exponent is more than a rational number."""
        (value, own), (power, of_power) = self.build(base), self.build(exponent)
        if own is None and of_power is None:
            return value**power, None
        if of_power is None and power.is_integer and own is not None:
            return self._powers(value, own, power)
        if own is None and of_power is not None:
            return Exponential(sympy.MatMul(sympy.log(value), power)), of_power
        if self.whole is not None and of_power is not None:
            log = Entrywise(value, "ln"), own
            return Exponential(self._pointwise((power, of_power), log)[0]), own
        raise ReadError("an exponent is a whole number, or made of places and sizes")

    def _power_of_entries(self, base: Tree, power: sympy.Expr) -> Value:
        """A number of each place to a rational power."""
        value, own = self.build(base)
        power = sympy.sympify(power, strict=True)
        if own is None:
            return value**power, None
        if power == sympy.S.Half:
            return Entrywise(value, "√"), own
        if power == -1:
            return EntryQuotient(Filled(*value.shape, 1), value), own
        if power.is_Integer:
            return (value if power == 1 else WholePower(value, power)), own
        logs = _number_times(power, Entrywise(value, "ln"))
        return Exponential(logs), own

    def _powers(self, value: MatrixExpr, own: Shape, power: sympy.Expr) -> Value:
        assert self.whole is not None or not power.has(*_PLACES)
        shape = self.whole or own
        return WholePower(self._spread(value, own, shape), power), shape

    # ---- places ----------------------------------------------------------------------------

    def _placed(self, value: Value) -> Value:
        """A number made of places as a matrix of them; others as they are."""
        number, own = value
        if own is None and number.has(*_PLACES):
            return self._of_places(number), self.whole
        return value

    def _of_places(self, formula: sympy.Expr) -> MatrixExpr:
        """A number made of places, for each of them."""
        assert self.whole is not None
        if formula.is_integer:
            return Counted(*self.whole, formula)
        above, below = sympy.fraction(sympy.together(formula))
        if above.is_integer and below.is_integer and (above.has(*_PLACES) or below.has(*_PLACES)):
            if not below.has(*_PLACES):
                return Quotient(Counted(*self.whole, above), below)
            return EntryQuotient(self._filled(above), Counted(*self.whole, below))
        match formula:
            case sympy.Pow(base=base, exp=exponent) if not base.has(*_PLACES):
                power = self._of_places(exponent)
                return Exponential(_number_times(sympy.log(base), power))
            case sympy.Pow(base=base, exp=sympy.Rational() as power):
                inner = Exponential(Quotient(Entrywise(self._of_places(base), "ln"), 1 / power))
                return Entrywise(self._of_places(base), "√") if power == sympy.S.Half else inner
            case sympy.exp(args=(inner,)):
                return Exponential(self._of_places(inner))
            case sympy.Add(args=args):
                return sympy.MatAdd(*(self._filled(part) for part in args))
            case sympy.Mul(args=args):
                numbers = [part for part in args if not part.has(*_PLACES)]
                others = [self._of_places(part) for part in args if part.has(*_PLACES)]
                whole = others[0] if len(others) == 1 else sympy.HadamardProduct(*others)
                return _number_times(sympy.Mul(*numbers), whole)
            case sympy.cos() | sympy.sin() | sympy.tanh() | sympy.log():
                name = {"log": "ln"}.get(type(formula).__name__, type(formula).__name__)
                return Entrywise(self._of_places(formula.args[0]), name)
        raise ReadError(f"{formula} cannot be made of the places of row and column here")

    def _filled(self, part: sympy.Expr) -> MatrixExpr:
        assert self.whole is not None
        return self._of_places(part) if part.has(*_PLACES) else Filled(*self.whole, part)

    def _chosen(self, value: Tree, test: Tree, otherwise: Tree) -> Value:
        shape = self.whole
        if shape is None:
            raise ReadError("cases stand in matrices by their entries and in functions")
        pair = [self._spread(*self._branch(part), shape) for part in (value, otherwise)]
        return self._where(test, *pair), shape

    def _branch(self, tree: Tree) -> Value:
        """One of the cases: in a matrix by its entries −∞ may be one."""
        if tree == _HIDDEN and not self.arguments:
            return sympy.S.NegativeInfinity, None
        return self._placed(self.build(tree))

    def _where(self, test: Tree, value: MatrixExpr, otherwise: MatrixExpr) -> MatrixExpr:
        """One of two by a test, which may be of places, or of numbers."""
        match test:
            case Joined("not", (inner,)):
                return self._where(inner, otherwise, value)
            case Joined(word, tests):
                places = self._test(test)
                if places is not None:
                    return WherePlaced(value, otherwise, places)
                first, *rest = tests
                others = rest[0] if len(rest) == 1 else Joined(word, tuple(rest))
                if word == "and":
                    return self._where(first, self._where(others, value, otherwise), otherwise)
                return self._where(first, value, self._where(others, value, otherwise))
            case Compared(sides, signs) if len(signs) > 1:
                links = tuple(
                    Compared((one, other), (sign,))
                    for one, other, sign in zip(sides, sides[1:], signs, strict=False)
                )
                return self._where(Joined("and", links), value, otherwise)
            case Compared((left, right), (sign,)):
                places = self._test(test)
                if places is not None:
                    return WherePlaced(value, otherwise, places)
                return self._compared(self.build(left), sign, self.build(right), value, otherwise)
        raise ReadError("a test is a comparison, or joins some by and, or, not")

    def _test(self, test: Tree) -> sympy.Basic | None:
        """A test of places alone, in SymPy; None where it asks for other numbers."""
        match test:
            case Joined(word, tests):
                parts = [self._test(part) for part in tests]
                if any(part is None for part in parts):
                    return None
                kind = {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}[word]
                return kind(*parts)
            case Compared(sides, signs):
                values = [self.build(side) for side in sides]
                if any(own is not None or value.is_integer is False for value, own in values):
                    return None
                links = (
                    _COMPARED[sign](one, other)
                    for (one, _), (other, _), sign in zip(values, values[1:], signs, strict=False)
                )
                return sympy.And(*links)
        return None

    def _compared(
        self, left: Value, sign: str, right: Value, value: MatrixExpr, otherwise: MatrixExpr
    ) -> MatrixExpr:
        one, other = (self._spread(*self._placed(side), self.whole) for side in (left, right))
        match sign:
            case "≤":
                return WhereAtMost(one, other, value, otherwise)
            case "≥":
                return WhereAtMost(other, one, value, otherwise)
            case "<":
                return WhereAtMost(other, one, otherwise, value)
            case ">":
                return WhereAtMost(one, other, otherwise, value)
        raise ReadError("numbers that are computed are compared by <, <=, > or >=")

    # ---- indices ---------------------------------------------------------------------------

    def _indexed(self, tree: Indexed) -> Value:
        base, parts = tree.base, tree.parts
        if isinstance(base, Name) and base.name in self.sizes.families:
            return self._of_family(base.name, parts)
        value, shape = self.build(base)
        assert shape is not None
        if self.whole is not None and all(part.single for part in parts):
            return self._entry(value, shape, parts)
        for axis, part in enumerate(parts):
            value = self._part(value, axis, part)
        rows, columns = value.shape
        return value, (rows, columns)

    def _of_family(self, name: str, parts: Sequence[Part]) -> Value:
        shape = self.sizes.letters[name]
        assert shape is not None
        sized = self.sizes.sized(shape)
        start = parts[0].start
        assert start is not None
        if name == self.making:
            return Beside(*sized, sympy.Symbol(in_ascii(name)), HEAD), sized
        if isinstance(start, Call):  # the group of a head
            (inner,) = start.args
            assert isinstance(inner, Name)
            head = self.indices[inner.name]
            groups = self.sizes.size(self.sizes.groups)
            heads = self.counts[inner.name]
            index: sympy.Expr = sympy.floor(head * groups / heads)
        else:
            index = self._head(start)
        return Head(sympy.MatrixSymbol(in_ascii(name), *sized), index), sized

    def _head(self, tree: Tree) -> sympy.Expr:
        """Which head is meant, counted from 0."""
        if isinstance(tree, Name) and tree.name in self.indices:
            return self.indices[tree.name]
        return self.sizes.written(tree) - 1

    def _part(self, value: MatrixExpr, axis: int, part: Part) -> MatrixExpr:
        """Rows (or columns) of a matrix."""
        size = value.shape[axis]
        if part.single:
            assert part.start is not None
            if isinstance(part.start, Name) and part.start.name in self.indices:
                index = self.indices[part.start.name]
                return Split(value, index, size, 1 if axis else 0)
            return Slice(value, self.sizes.written(part.start) - 1, 1, axis)
        if part.start is None and part.stop is None:
            return value
        first = sympy.S.Zero if part.start is None else self.sizes.written(part.start) - 1
        stop = size if part.stop is None else self.sizes.written(part.stop)
        return Slice(value, first, sympy.expand(stop - first), axis)

    def _entry(
        self, value: MatrixExpr, shape: tuple[sympy.Expr, sympy.Expr], parts: Sequence[Part]
    ) -> Value:
        """An entry of another matrix, in a matrix by its entries: S[i,j], c[i]."""
        assert self.whole is not None
        found = []
        for part in parts:
            assert part.start is not None
            name = part.start.name if isinstance(part.start, Name) else ""
            found.append(self.indices.get(name))
        if len(found) == 1:
            (place,) = found
            if place not in _PLACES:
                return self._part(value, 0 if shape[1] == 1 else 1, parts[0]), _ONE
            line = value if shape[1] == 1 else sympy.Transpose(value)
            if place is COLUMN_NUMBER:
                return Spread(sympy.Transpose(line), self.whole[0], 0), self.whole
            return Spread(line, self.whole[1]), self.whole
        if found == [ROW_NUMBER, COLUMN_NUMBER]:
            return value, self.whole
        if found == [COLUMN_NUMBER, ROW_NUMBER]:
            return sympy.Transpose(value), self.whole
        raise ReadError("an entry is written with the indices of the left side: S[i,j] or S[j,i]")

    def _every(self, tree: Every) -> Value:
        count = self.sizes.size(self.sizes.counted[id(tree)])
        if tree.word == "sum" and self.counts:
            return self._mixed(tree, count)
        with self.head(tree.index, count):
            body, shape = self.build(tree.body)
        assert shape is not None
        kind = HeadSum if tree.word == "sum" else Concat
        value = kind(body, HEAD, count)
        rows, columns = value.shape
        return value, (rows, columns)

    def _mixed(self, tree: Every, count: sympy.Expr) -> Value:
        """Σ_l p_hl S⁽ˡ⁾: the matrices of all heads, each by its weight for the head h."""
        factors = _factors_of(tree.body)
        weights = [one for one in factors if isinstance(one, Indexed) and len(one.parts) == 2]
        if len(weights) != 1 or len(factors) < 2:
            raise ReadError(
                f"a sum over {tree.index} inside one head is of products with an entry of a matrix "
                f"of heads by heads: sum_{tree.index}(P[h,{tree.index}] S[{tree.index}])"
            )
        (weight,) = weights
        names = [part.start.name if isinstance(part.start, Name) else "" for part in weight.parts]
        outer = next(iter(self.counts))
        if sorted(names) != sorted((outer, tree.index)):
            raise ReadError(f"the weight of a head has the indices {outer} and {tree.index}")
        matrix, _ = self.build(weight.base)
        if names[0] == tree.index:
            matrix = _transposed(matrix)
        with self._with(indices={tree.index: _MEMBER}, counts={tree.index: count}):
            body, shape = self._times([self.build(one) for one in factors if one is not weight])
        assert isinstance(body, MatrixExpr)
        return HeadMix(body, _MEMBER, count, matrix, HEAD), shape

    # ---- functions -------------------------------------------------------------------------

    def _call(
        self, tree: Tree, name: str, args: tuple[Tree, ...], options: dict[str, str | Tree]
    ) -> Value:
        if name in self.sizes.functions:
            return self._own(name, [self.build(arg) for arg in args])
        if name in MADE_TO_FIT:
            own = self.sizes.shapes[id(tree)]
            assert own is not None
            sized = self.sizes.sized(own)
            values = [_LIMITLESS.get(arg) or self.build(arg)[0] for arg in args]
            return self._fitted(name, sized, values, options), sized
        built = [self.build(arg) for arg in args]
        if name in _OF_PLACES and all(own is None for _, own in built):
            return _OF_PLACES[name](*(value for value, _ in built)), None
        if self.whole is not None:
            return self._of_entries(name, built)
        if name in NODES:
            return self._node(tree, name, built, options)
        if name == "rotary":
            value, shape = built[0]
            return _made(name, Rotary, value, **self._settings(options)), shape
        if name in ("LayerNorm", "RMSNorm"):
            return self._normed(name, built[0], options)
        if options:
            raise ReadError(f"{name} has no option {next(iter(options))}")
        return self._called(name, built)

    def _node(
        self, tree: Tree, name: str, built: list[Value], options: Mapping[str, str | Tree]
    ) -> Value:
        """A node of matrices, by its word."""
        own = self.sizes.shapes[id(tree)]
        assert own is not None
        sized = self.sizes.sized(own)
        matrices = [value for value, _ in built]
        if name in ("shift", "clip"):
            settings = {k: v for k, v in self._settings(options).items() if k != "columns"}
            return _made(name, NODES[name], *matrices, sized[1], **settings), sized
        return _made(name, NODES[name], *matrices, **self._settings(options)), sized

    def _of_entries(self, name: str, built: list[Value]) -> Value:
        """A function of numbers of each place."""
        placed = [self._placed(one) for one in built]
        if name in ("min", "max") and len(placed) > 1:
            matrices = [self._spread(*one, self.whole) for one in placed]
            return reduce(lambda one, other: _extreme(name, one, other), matrices), self.whole
        if name not in OF_NUMBERS:
            of = "of places and sizes alone" if name in _OF_PLACES else "a function of matrices"
            raise ReadError(f"{name} is {of}; entries are numbers")
        return self._called(name, placed)

    def _settings(self, options: Mapping[str, str | Tree]) -> dict[str, Any]:
        words = {"true": True, "false": False}
        return {
            option: words.get(value, value) if isinstance(value, str) else self.build(value)[0]
            for option, value in options.items()
        }

    def _fitted(
        self,
        name: str,
        sized: tuple[sympy.Expr, sympy.Expr],
        values: list[sympy.Expr],
        options: Mapping[str, str | Tree],
    ) -> MatrixExpr:
        settings = self._settings(options)
        if name == "alibi":
            heads = next(iter(self.counts.values()), sympy.S.One)
            return _made(name, ALiBi, *sized, heads, HEAD if self.counts else None, **settings)
        if name == "relative":
            return _made(name, RelativeBias, *sized, *values, **settings)
        if name == "sinusoidal":
            return _made(name, Sinusoidal, *sized, **settings)
        start = settings.pop("start", sympy.S.Zero)
        if settings:
            raise ReadError(f"{name} has no option {next(iter(settings))}")
        if name == "window" and sympy.S.NegativeOne in values:  # no limit in ONNX
            raise ReadError(
                "a reach of −1 is none; write inf where there is no limit: window(2, inf)"
            )
        parameter = True if not values else values[0] if len(values) == 1 else values
        if name in ("documents", "global"):
            parameter = list(values)
        return mask_of(name, *sized, parameter, start)

    def _normed(self, name: str, matrix: Value, options: Mapping[str, str | Tree]) -> Value:
        value, shape = matrix
        known = ("gain", "shift", "eps")
        for option in options:
            if option not in known:
                raise ReadError(f"{name} has no option {option}{nearest(option, known)}")
        return NORMS[name].of(value, **self._settings(options)), shape

    def _own(self, name: str, built: list[Value]) -> Value:
        function = self.sizes.functions[name]
        shape = together([own for _, own in built])
        if shape is None:
            shape = _ONE
        matrices = [self._spread(value, own, shape) for value, own in built]
        free = self.free_numbers(name)
        numbers = [self._symbol(one)[0] for one in free]

        def make(*given: MatrixExpr) -> MatrixExpr:
            letters = (*function.arguments, *free)
            return self.function(function.tree, dict(zip(letters, given, strict=True)))

        formula = Formula(name, function.arguments, function.text, make)
        make(*matrices, *numbers)  # what it cannot be made of is refused at its line
        return Applied(formula, *matrices, *numbers), shape

    def function(self, tree: Tree, arguments: Mapping[str, MatrixExpr]) -> MatrixExpr:
        """The expression of a function's text, for these matrices."""
        (first, *_) = arguments.values()
        shape = tuple(first.shape)
        with self._with(arguments=arguments, whole=shape, indices={}):
            try:
                return self._spread(*self.build(tree), shape)
            except Unfit as unfit:  # its place is that of the function's text
                raise ReadError(str(unfit)) from None

    def free_numbers(self, name: str) -> tuple[str, ...]:
        """The numbers of the text that a function names, in their order."""
        function = self.sizes.functions[name]
        found: dict[str, None] = {}
        for part in subtrees(function.tree):
            if isinstance(part, Name) and part.name not in function.arguments:
                known = part.name in self.numbers or part.name in CONSTANTS
                if not known and not self.sizes.is_size(part.name):
                    found[part.name] = None
            elif isinstance(part, Call) and part.name in self.sizes.functions:
                found |= dict.fromkeys(self.free_numbers(part.name))
        return tuple(found)


def _factors_of(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, Apart) and tree.sign in ("*", "×") else (tree,)


def _named_mask(matrix: MatrixExpr) -> MatrixExpr:
    """A causal mask that is said by its entries, as the node that it is; others as they are."""
    match matrix:
        case WherePlaced(value=value, otherwise=otherwise, test=sympy.Le(args=(left, right))):
            start = sympy.expand(right - left - ROW_NUMBER + COLUMN_NUMBER)
            hides = otherwise == Filled(*matrix.shape, -sympy.oo)
            if hides and value == sympy.ZeroMatrix(*matrix.shape) and not start.has(*_PLACES):
                counts = start.is_Integer and start >= 0
                return Causal(*matrix.shape, start) if counts else matrix
    return matrix


def _made(
    name: str, kind: Callable[..., MatrixExpr], *given: object, **settings: object
) -> MatrixExpr:
    """A node by its word. Raises `ReadError` for an option that it does not have."""
    known = [one for one in signature(kind).parameters if one not in ("given", "keywords")]
    known = (known or [*getattr(kind, "places", {})])[len(given) :]
    for option in settings:
        if option not in known:
            raise ReadError(f"{name} has no option {option}{nearest(option, known)}")
    try:
        return kind(*given, **settings)
    except TypeError as error:  # too many or too few
        raise ReadError(f"{name}: {error}") from None


def _extreme(name: str, one: MatrixExpr, other: MatrixExpr) -> MatrixExpr:
    """The smaller, or the larger, of two numbers at each place."""
    return WhereAtMost(one, other, *((one, other) if name == "min" else (other, one)))


def _number_times(number: sympy.Expr, matrix: MatrixExpr) -> MatrixExpr:
    return matrix if number == 1 else sympy.MatMul(number, matrix)


def _coefficient(value: MatrixExpr) -> tuple[sympy.Expr, MatrixExpr]:
    """The number before a product, and the rest of it."""
    if not isinstance(value, sympy.MatMul):
        return sympy.S.One, value
    number, factors = value.as_coeff_matrices()
    return number, factors[0] if len(factors) == 1 else sympy.MatMul(*factors)


def _transposed(value: MatrixExpr) -> MatrixExpr:
    """The transpose, which stays where it was written: Q (Y W_K)ᵀ."""
    return value.arg if isinstance(value, sympy.Transpose) else sympy.Transpose(value)


_COMPARED: Mapping[str, Callable[..., sympy.Basic]] = {
    "≤": sympy.Le,
    "≥": lambda one, other: sympy.Le(other, one),
    "<": lambda one, other: sympy.Le(one, other - 1),
    ">": lambda one, other: sympy.Le(other, one - 1),
    "=": sympy.Eq,
    "≠": lambda one, other: sympy.Not(sympy.Eq(one, other)),
}

#: What says that a window has no end on one side.
_LIMITLESS: Mapping[Tree, sympy.Expr] = {Name("∞"): sympy.oo}

#: What hides an entry.
_HIDDEN = Apart("neg", (Name("∞"),))

_NUMBER = (Number(0), Number(1))  # type: ignore[arg-type]  # whole numbers are fractions too
