"""The matrix expressions of right sides, once every size is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial, reduce
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ReadError, SymattnError
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
from symattn.language.shapes import Unfit, is_node, is_of_numbers
from symattn.language.sizes import EXTREMES, Sizes, is_small, state_before
from symattn.nodes import operators, placed
from symattn.nodes.catalogue import CALLED, PLACED, mask_called
from symattn.nodes.defined import Applied, Formula, WherePlaced
from symattn.nodes.entrywise import Entrywise, Exponential
from symattn.nodes.heads import Concat, Head, HeadMix, HeadSum, Slice, Split
from symattn.nodes.lines import Spread
from symattn.nodes.masks import MASKS, Counts, Masked, hides, mask_of
from symattn.nodes.norms import NORMS
from symattn.nodes.number import NumberSymbol
from symattn.nodes.operators import ONE, shape_in, together, transposed
from symattn.nodes.placed import PLACES
from symattn.nodes.powers import WholePower
from symattn.nodes.recurrence import Beside, Recurrence, before
from symattn.nodes.written import CONSTANTS, Writer, called
from symattn.step import HEAD

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


class _Signs(Writer):
    """Letters, and numbers and matrices that signs join, whose shapes `sizes` knows."""

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
        #: The recurrences that are made, by letter.
        self.recurrences: dict[str, Recurrence] = {}
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

    def made(self, tree: Tree) -> sympy.Expr:
        """The expression of a tree. Raises `Unfit` with the part that has none."""
        try:
            return self._made(tree)
        except Unfit as unfit:
            raise unfit.at(tree) from None
        except SymattnError as error:
            raise Unfit(str(error)).at(tree) from None

    def _made(self, tree: Tree) -> sympy.Expr:
        match tree:
            case Name(name) if self.whole is not None and name in self.indices:
                return self.indices[name]
            case Apart("^", (base, exponent)):
                return self._raised(base, exponent)
            case Apart("^" | "inv" as sign, (base,), power) if self.whole is not None:
                exponent = sympy.Rational(power.numerator, power.denominator)
                above = sympy.S.NegativeOne if sign == "inv" else exponent
                return placed.power(self.made(base), above, self.whole)
            case Apart("T", _) if self.whole is not None:
                raise ReadError("an entry is a number, which has no transpose; write S[j,i]")
        return super().made(tree)

    def _spared(self, tree: Tree) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape that was found for a part."""
        own = self.sizes.shapes[id(tree)]
        assert own is not None
        return self.sizes.sized(own)

    def _symbol(self, name: str) -> sympy.Expr:
        if name in self.arguments:
            return self.arguments[name]
        if name in self.numbers:
            return self.numbers[name]
        if name == "∞":
            raise ReadError("−∞ stands only as a branch of cases: M[i,j] = 0 if j <= i else -inf")
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name not in self.sizes.letters and self.sizes.is_size(name):
            return self.sizes.symbol(name)
        shape = self.sizes.letters[name]
        if shape is None:
            return NumberSymbol(in_ascii(name))
        sized = self.sizes.sized(shape)
        number = sized == ONE and name in self.sizes.made and is_small(name)
        kind = NumberSymbol if number else sympy.MatrixSymbol
        return kind(in_ascii(name), *sized)

    def _sum(self, terms: Sequence[sympy.Expr]) -> sympy.Expr:
        shape = together([*map(shape_in, terms)])
        if shape is None:
            return operators.plus(terms)
        masks = [value for value in terms if shape_in(value) == shape and self.is_mask(value)]
        if masks and len(masks) < len(terms):  # what a mask hides has no say, NaN included
            scores = operators.plus([one for one in terms if not any(one is m for m in masks)])
            mask = masks[0] if len(masks) == 1 else sympy.MatAdd(*masks)
            return Masked(operators.filling(scores, shape), mask)
        return operators.plus(terms)

    def is_mask(self, value: sympy.Expr) -> bool:
        """Whether a matrix says by −∞ what is hidden."""
        return hides(value, self.masks)

    def _entry_by_entry(self, sign: str, values: Sequence[sympy.Expr]) -> sympy.Expr:
        if sign == "+":
            return self._sum(values)
        left, right = values
        if sign == "∘" and (operators.is_one(left) or operators.is_one(right)):
            return self._times([left, right])
        if sign == "⊘" and operators.is_one(right):
            return self._over(left, right)
        return operators.entry_by_entry(sign, left, right)

    def _turned(self, value: sympy.Expr) -> sympy.Expr:
        return value if shape_in(value) is None else transposed(value)

    def _times(self, values: Sequence[sympy.Expr]) -> sympy.Expr:
        if self.whole is None:
            return operators.times(values)
        return reduce(partial(placed.product, whole=self.whole), values)

    def _over(self, top: sympy.Expr, bottom: sympy.Expr) -> sympy.Expr:
        if self.whole is None:
            return operators.over(top, bottom)
        return placed.quotient(top, bottom, self.whole)

    def _raised(self, base: Tree, exponent: Tree) -> sympy.Expr:
        """A power whose exponent is more than a rational number."""
        value, power = self.made(base), self.made(exponent)
        of_matrix, by_matrix = (shape_in(one) is not None for one in (value, power))
        if not of_matrix and not by_matrix:
            return value**power
        if not by_matrix and power.is_integer:
            assert self.whole is not None or not power.has(*PLACES)
            return WholePower(operators.filling(value, self.whole or shape_in(value)), power)
        if not of_matrix:
            return Exponential(sympy.MatMul(sympy.log(value), power))
        if by_matrix and self.whole is not None:
            return Exponential(placed.product(power, Entrywise(value, "ln"), self.whole))
        raise ReadError("an exponent is a whole number, or made of places and sizes")


class _Cases(_Signs):
    """Values by tests of places, or of numbers."""

    def _made(self, tree: Tree) -> sympy.Expr:
        match tree:
            case Chosen(value, test, otherwise):
                return self._chosen(value, test, otherwise)
            case Compared() | Joined():
                return self._chosen(_NUMBER[1], tree, _NUMBER[0])
        return super()._made(tree)

    def _chosen(self, value: Tree, test: Tree, otherwise: Tree) -> sympy.Expr:
        if self.whole is None:
            raise ReadError("cases stand in matrices by their entries and in functions")
        pair = [placed.everywhere(self._branch(part), self.whole) for part in (value, otherwise)]
        return self._where(test, *pair)

    def _branch(self, tree: Tree) -> sympy.Expr:
        """One of the cases: in a matrix by its entries −∞ may be one."""
        hidden = tree == HIDDEN and not self.arguments
        return sympy.S.NegativeInfinity if hidden else self.made(tree)

    def _where(self, test: Tree, value: MatrixExpr, otherwise: MatrixExpr) -> MatrixExpr:
        """One of two by a test, which may be of places, or of numbers."""
        match test:
            case Joined("not", (inner,)):
                return self._where(inner, otherwise, value)
            case Compared(sides, signs) if len(signs) > 1:
                return self._where(Joined("and", tuple(_links(sides, signs))), value, otherwise)
        places = self._test(test)
        if places is not None:
            return WherePlaced(value, otherwise, places)
        match test:
            case Joined(word, (first, *rest)):
                others = rest[0] if len(rest) == 1 else Joined(word, tuple(rest))
                if word == "and":
                    return self._where(first, self._where(others, value, otherwise), otherwise)
                return self._where(first, value, self._where(others, value, otherwise))
            case Compared(sides, (sign,)):
                assert self.whole is not None
                left, right = (placed.everywhere(self.made(side), self.whole) for side in sides)
                return placed.where(left, sign, right, value, otherwise)
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
                values = [self.made(side) for side in sides]
                if any(shape_in(x) is not None or x.is_integer is False for x in values):
                    return None
                pairs = zip(values, values[1:], signs, strict=False)
                return sympy.And(*(_COMPARED[sign](one, other) for one, other, sign in pairs))
        return None


class _Indices(_Cases):
    """Heads, rows and entries, and what is taken over all of them."""

    def _made(self, tree: Tree) -> sympy.Expr:
        match tree:
            case Indexed():
                return self._indexed(tree)
            case Every():
                return self._every(tree)
        return super()._made(tree)

    def _indexed(self, tree: Indexed) -> sympy.Expr:
        base, parts = tree.base, tree.parts
        if isinstance(base, Name) and base.name in self.sizes.families:
            return self._of_family(base.name, parts)
        value = self.made(base)
        if self.whole is not None and all(part.single for part in parts):
            return self._entry(value, parts)
        for axis, part in enumerate(parts):
            value = self._part(value, axis, part)
        return value

    def _of_family(self, name: str, parts: Sequence[Part]) -> sympy.Expr:
        shape = self.sizes.letters[name]
        assert shape is not None
        sized = self.sizes.sized(shape)
        start = parts[0].start
        assert start is not None
        if name == self.making:
            return Beside(*sized, sympy.Symbol(in_ascii(name)), HEAD)
        if (index_before := state_before(parts[0])) in self.indices:
            return before(self.recurrences[name], self.indices[index_before])
        if isinstance(start, Call):  # the group of a head
            (inner,) = start.args
            assert isinstance(inner, Name)
            groups = self.sizes.size(self.sizes.groups)
            share = self.indices[inner.name] * groups / self.counts[inner.name]
            index: sympy.Expr = sympy.floor(share)
        else:
            index = self._head(start)
        return Head(sympy.MatrixSymbol(in_ascii(name), *sized), index)

    def _head(self, tree: Tree) -> sympy.Expr:
        """Which head is meant, counted from 0."""
        if isinstance(tree, Name) and tree.name in self.indices:
            return self.indices[tree.name]
        return self.sizes.written(tree) - 1

    def _part(self, value: MatrixExpr, axis: int, part: Part) -> MatrixExpr:
        """Rows (or columns) of a matrix."""
        size = value.shape[axis]
        count, index = self.sizes.counted.get(id(part)), HEAD  # how many share the lines
        of_each = None if count is None else self.sizes.size(count)
        if part.single and isinstance(part.start, Name) and part.start.name in self.indices:
            of_each, index = size, self.indices[part.start.name]
        if of_each is not None:
            return Split(value, index, of_each, axis)
        if part.single:
            assert part.start is not None
            return Slice(value, self.sizes.written(part.start) - 1, 1, axis)
        if part.start is None and part.stop is None:
            return value
        first = sympy.S.Zero if part.start is None else self.sizes.written(part.start) - 1
        stop = size if part.stop is None else self.sizes.written(part.stop)
        return Slice(value, first, sympy.expand(stop - first), axis)

    def _entry(self, value: MatrixExpr, parts: Sequence[Part]) -> sympy.Expr:
        """An entry of another matrix, in a matrix by its entries: S[i,j], c[i]."""
        assert self.whole is not None
        names = [part.start.name if isinstance(part.start, Name) else "" for part in parts]
        found = tuple(map(self.indices.get, names))
        if len(found) == 1:
            column = value.shape[1] == 1
            if found[0] not in PLACES:
                return self._part(value, 0 if column else 1, parts[0])
            line = value if column else sympy.Transpose(value)
            if found == PLACES[1:]:
                return Spread(sympy.Transpose(line), self.whole[0], 0)
            return Spread(line, self.whole[1])
        if found == PLACES:
            return value
        if found == PLACES[::-1]:
            return sympy.Transpose(value)
        raise ReadError("an entry is written with the indices of the left side: S[i,j] or S[j,i]")

    def _every(self, tree: Every) -> sympy.Expr:
        count = self.sizes.size(self.sizes.counted[id(tree)])
        if tree.word == "sum" and self.counts:
            return self._mixed(tree, count)
        with self.head(tree.index, count):
            body = self.made(tree.body)
        return (HeadSum if tree.word == "sum" else Concat)(body, HEAD, count)

    def _mixed(self, tree: Every, count: sympy.Expr) -> sympy.Expr:
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
        matrix = self.made(weight.base)
        if names[0] == tree.index:
            matrix = transposed(matrix)
        with self._with(indices={tree.index: _MEMBER}, counts={tree.index: count}):
            body = self._times([self.made(one) for one in factors if one is not weight])
        return HeadMix(body, _MEMBER, count, matrix, HEAD)


class Maker(_Indices):
    """Makes expressions of trees whose shapes `sizes` knows."""

    def entries(
        self, tree: Tree, shape: tuple[sympy.Expr, sympy.Expr], indices: Sequence[str]
    ) -> MatrixExpr:
        """The matrix whose entries a tree says, with these letters for row and column."""
        places = dict(zip(indices, PLACES, strict=True))
        with self._with(whole=shape, indices={**self.indices, **places}):
            return placed.named_mask(placed.everywhere(self.made(tree), shape))

    def _made(self, tree: Tree) -> sympy.Expr:
        match tree:
            case Call(name, args, options):
                return self._call(tree, name, args, dict(options))
        return super()._made(tree)

    def _call(
        self, tree: Tree, name: str, args: tuple[Tree, ...], options: dict[str, str | Tree]
    ) -> sympy.Expr:
        if name in PLACED or mask_called(name):
            values = [_LIMITLESS.get(arg) or self.made(arg) for arg in args]
            return self._fitted(name, self._spared(tree), values, self._settings(options))
        values = [self.made(arg) for arg in args]
        if name in self.sizes.functions:
            return self._own(name, values)
        if name in _OF_PLACES and all(shape_in(value) is None for value in values):
            return _OF_PLACES[name](*values)
        if self.whole is not None:
            return self._of_entries(name, values)
        if name in EXTREMES:
            shape = together([*map(shape_in, values)]) or ONE
            matrices = [operators.filling(value, shape) for value in values]
            return reduce(partial(placed.extreme, name), matrices)
        if name in NORMS:
            return called(name, NORMS[name].of, *values, **self._settings(options))
        if name in ("shift", "clip"):
            settings = {k: v for k, v in self._settings(options).items() if k != "columns"}
            return called(name, CALLED[name], *values, self._spared(tree)[1], **settings)
        if is_node(name) or name == "rotary":
            return called(name, CALLED[name], *values, **self._settings(options))
        if options:
            raise ReadError(f"{name} has no option {next(iter(options))}")
        return self._function(name, values)

    def _of_entries(self, name: str, values: list[sympy.Expr]) -> sympy.Expr:
        """A function of numbers of each place."""
        assert self.whole is not None
        if name in EXTREMES and len(values) > 1:
            matrices = [placed.everywhere(one, self.whole) for one in values]
            return reduce(partial(placed.extreme, name), matrices)
        if not is_of_numbers(name):
            of = "of places and sizes alone" if name in _OF_PLACES else "a function of matrices"
            raise ReadError(f"{name} is {of}; entries are numbers")
        return self._function(name, [placed.placed(one, self.whole) for one in values])

    def _settings(self, options: Mapping[str, str | Tree]) -> dict[str, Any]:
        words = {"true": True, "false": False}
        return {
            option: words.get(value, value) if isinstance(value, str) else self.made(value)
            for option, value in options.items()
        }

    def _fitted(
        self,
        name: str,
        sized: tuple[sympy.Expr, sympy.Expr],
        values: list[sympy.Expr],
        settings: dict[str, Any],
    ) -> MatrixExpr:
        """A matrix whose size is that of what it stands beside."""
        mask = mask_called(name)
        if not mask:
            heads = next(iter(self.counts.values()), sympy.S.One)
            of = (heads, HEAD if self.counts else None) if name == "alibi" else values
            return called(name, CALLED[name], *sized, *of, **settings)
        start = settings.pop("start", sympy.S.Zero)
        if settings:
            raise ReadError(f"{name} has no option {next(iter(settings))}")
        if name == "window" and sympy.S.NegativeOne in values:  # no limit in ONNX
            raise ReadError(
                "a reach of −1 is none; write inf where there is no limit: window(2, inf)"
            )
        parameter = True if not values else values[0] if len(values) == 1 else values
        if MASKS[mask]._places_of(Counts):
            parameter = list(values)
        return mask_of(mask, *sized, parameter, start)

    def _own(self, name: str, values: list[sympy.Expr]) -> sympy.Expr:
        function = self.sizes.functions[name]
        shape = together([*map(shape_in, values)]) or ONE
        matrices = [operators.filling(value, shape) for value in values]
        free = self.free_numbers(name)
        numbers = [self._symbol(one) for one in free]

        def make(*given: MatrixExpr) -> MatrixExpr:
            letters = (*function.arguments, *free)
            return self.function(function.tree, dict(zip(letters, given, strict=True)))

        formula = Formula(name, function.arguments, function.text, make)
        make(*matrices, *numbers)  # what it cannot be made of is refused at its line
        return Applied(formula, *matrices, *numbers)

    def function(self, tree: Tree, arguments: Mapping[str, MatrixExpr]) -> MatrixExpr:
        """The expression of a function's text, for these matrices."""
        (first, *_) = arguments.values()
        with self._with(arguments=arguments, whole=tuple(first.shape), indices={}):
            try:
                return operators.filling(self.made(tree), tuple(first.shape))
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


def _links(sides: Sequence[Tree], signs: Sequence[str]) -> Iterator[Tree]:
    """The comparisons that a chain of them joins: 0 <= i - j < w."""
    for one, other, sign in zip(sides, sides[1:], signs, strict=False):
        yield Compared((one, other), (sign,))


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
HIDDEN = Apart("neg", (Name("∞"),))

_NUMBER = (Number(0), Number(1))  # type: ignore[arg-type]  # whole numbers are fractions too
