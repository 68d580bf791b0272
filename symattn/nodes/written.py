"""Expressions of what people write, where the shape of every letter is known.

`language/statement.py` finds the shapes; with them a text has one meaning, which is made here: a
SymPy expression over nodes. A size of 1 is repeated to fit, a product that is 1 × 1 scales what
it is multiplied by, and a number, column or row that is added to a matrix is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from inspect import signature
from itertools import pairwise

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.functions import FUNCTIONS
from symattn.errors import ReadError, ShapeError, nearest
from symattn.grammar import Apart, Call, Name, Number, Tree
from symattn.nodes.arguments import symbol_of_size
from symattn.nodes.catalogue import CALLED, SHARES, words
from symattn.nodes.entrywise import EntryQuotient, Entrywise, Exponential, function_of
from symattn.nodes.heads import Stacked
from symattn.nodes.lines import LineQuotient, LineSum
from symattn.nodes.masks import Causal
from symattn.nodes.operators import (
    Shape,
    chain,
    factors_of,
    negative,
    scaled,
    shape_in,
    together,
    transposed,
)
from symattn.nodes.scale import Quotient
from symattn.nodes.scores import Distance

#: Names that are sizes wherever they stand as numbers.
SIZES = ("n", "m", "d", "d_k", "d_v", "d_h", "d_model", "h")

#: Names of numbers.
CONSTANTS: Mapping[str, sympy.Expr] = {
    "e": sympy.E,
    "pi": sympy.pi,
    "π": sympy.pi,
    "∞": sympy.oo,
}

_SCALAR: Mapping[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "exp": sympy.exp,
    "ln": sympy.log,
    "√": sympy.sqrt,
    "tanh": sympy.tanh,
    "cos": sympy.cos,
    "sin": sympy.sin,
    "abs": sympy.Abs,
    "erf": sympy.erf,
    "σ": lambda x: 1 / (1 + sympy.exp(-x)),
    "SiLU": lambda x: x / (1 + sympy.exp(-x)),
    "GELU": lambda x: x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
    "max0": lambda x: (x + sympy.Abs(x)) / 2,
}

#: What numbers are made of.
_JOINED = (
    *(sympy.Add, sympy.Mul, sympy.Pow),
    *(kind for kind in _SCALAR.values() if isinstance(kind, type)),
)

#: The nodes that statements call by their words.
_NODES = (
    *SHARES,
    *("colsoftmax", "unit", "rotary", "rowsum", "colsum", "rowmax", "diag", "softcap"),
)


class Writer:
    """The expressions of texts whose letters have these shapes; None is a number.

    `values` are letters that stand for a size or a constant. `spare` are the shapes of the
    columns of ones, identities and masks, which no letter tells, in the order in which they occur.
    """

    def __init__(
        self,
        letters: Mapping[str, Shape],
        values: Mapping[str, sympy.Expr],
        spare: Iterable[tuple[sympy.Expr, sympy.Expr]],
        positive: Sequence[str] = (),
    ) -> None:
        self.letters, self.values, self.spare = letters, values, iter(spare)
        self.positive = positive

    def build(self, tree: Tree) -> tuple[sympy.Expr, Shape]:
        """The expression of a text and its shape. Raises `SymattnError` where it has none."""
        value = self.made(tree)
        return value, shape_in(value)

    def made(self, tree: Tree) -> sympy.Expr:
        """The expression of a text. Raises `SymattnError` where it has none."""
        match tree:
            case Number(value, vector):
                if vector:
                    return sympy.OneMatrix(self._spared(tree)[0], 1)
                return sympy.Rational(value.numerator, value.denominator)
            case Name("I") if "I" not in self.letters:
                return sympy.Identity(self._spared(tree)[0])
            case Name(name):
                return self._symbol(name)
            case Call(name, _, ((option, _), *_)):
                raise ReadError(f"{option}= of {name} has no meaning in a statement; write it out")
            case Call("causal"):
                return Causal(*self._spared(tree))
            case Call(name, args):
                return self._function(name, [self.made(arg) for arg in args])
            case Apart("T", (part,)):
                return self._turned(self.made(part))
            case Apart("neg", (part,)):
                return negative(self.made(part), self._product)
            case Apart("inv", (part,)):
                inner = self.made(part)
                if _is_matrix(inner):
                    return sympy.Inverse(inner)
                if inner.doit() == 0:
                    raise ReadError("0 has no inverse: 1/0 has no value")
                return self._inverse(inner)
            case Apart("^", (part, *_), exponent):
                return self._power(self.made(part), exponent)
            case Apart("*" | "×", parts):
                return self._times([self.made(part) for part in parts])
            case Apart("/", (above, below)):
                return self._over(self.made(above), self.made(below))
            case Apart(sign, parts):
                return self._entry_by_entry(sign, [self.made(part) for part in parts])
        raise ReadError("this cannot be built")

    def _spared(self, tree: Tree) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of a part that no letter tells."""
        found = next(self.spare, None)
        if found is None:
            raise ShapeError(
                "the shape of a column of ones, an identity or a mask is not determined here"
            )
        return found

    def _symbol(self, name: str) -> sympy.Expr:
        shape = self.letters.get(name)  # None for a number
        if shape is not None:
            return sympy.MatrixSymbol(name, *shape)
        if name in self.values:
            return self.values[name]
        if name in SIZES and name not in self.letters:
            return symbol_of_size(name)
        if name == "∞":
            raise ReadError("∞ is not a number here; a mask of −∞ is written causal()")
        return sympy.Symbol(name, **{"positive" if name in self.positive else "real": True})

    def _turned(self, value: sympy.Expr) -> sympy.Expr:
        """The transpose of a matrix; numbers are as they are."""
        return transposed(value) if _is_matrix(value) else value

    def _times(self, values: Sequence[sympy.Expr]) -> sympy.Expr:
        numbers, matrices = factors_of(values)
        scalar = self._product(*numbers)
        if not matrices:
            return scalar
        ends = pairwise(matrices)
        if all((one.shape[1] == 1) == (other.shape[0] == 1) for one, other in ends):
            out = chain([f for value in matrices for f in _factors(value)])
            return scaled(scalar, out, self._product)
        wide = [value for value in matrices if tuple(value.shape) != (1, 1)]
        out = chain([f for value in wide for f in _factors(value)])
        shape = (wide[0].shape[0], wide[-1].shape[1])
        for value in matrices:
            if tuple(value.shape) == (1, 1):  # a product that is 1 × 1 scales the others
                out = sympy.HadamardProduct(spread(value, (1, 1), shape), out)
        return scaled(scalar, out, self._product)

    def _over(self, top: sympy.Expr, bottom: sympy.Expr) -> sympy.Expr:
        if not _is_matrix(bottom):
            if not _is_matrix(top):
                return self._product(top, self._inverse(bottom))
            if bottom.doit() == 0:
                raise ReadError("it divides by 0, which has no value")
            return Quotient(top, bottom)
        top, wide = _alike([top, bottom])
        columns, rows = bottom.shape[1] == 1, bottom.shape[0] == 1
        if columns != rows:
            return LineQuotient(top, bottom, int(columns))
        return EntryQuotient(top, wide)

    def _entry_by_entry(self, sign: str, values: Sequence[sympy.Expr]) -> sympy.Expr:
        """A sum (+), or the product (∘) or quotient (⊘) of every two entries."""
        terms = _alike(values)
        matrices = _is_matrix(terms[0])
        if not matrices and sign == "⊘":
            return self._over(*terms)
        if not matrices:
            return self._number(sympy.Add if sign == "+" else sympy.Mul, *terms)
        if sign == "+":
            return sympy.MatAdd(*terms)
        left, right = terms
        return (EntryQuotient if sign == "⊘" else sympy.HadamardProduct)(left, right)

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        power = sympy.Rational(exponent.numerator, exponent.denominator)
        if not _is_matrix(base):
            if power < 0 and base.doit() == 0:
                raise ReadError(f"0 has no negative powers: 0^({power}) divides by 0")
            return self._number(sympy.Pow, base, power)
        if not power.is_Integer:
            raise ReadError(
                "a matrix can be raised to whole powers only; sqrt(A) takes the root of each entry"
            )
        if power == 0:
            return sympy.Identity(base.shape[0])
        return chain([base if power > 0 else sympy.Inverse(base)] * abs(int(power)))

    def _number(self, kind: Callable[..., sympy.Expr], *parts: sympy.Expr) -> sympy.Expr:
        """A number made of numbers. Raises `ReadError` where it has no value."""
        return _finite(kind(*parts))

    def _inverse(self, number: sympy.Expr) -> sympy.Expr:
        """1 over a number."""
        return self._number(sympy.Pow, number, sympy.S.NegativeOne)

    def _product(self, *numbers: sympy.Expr) -> sympy.Expr:
        """A product of numbers."""
        return self._number(sympy.Mul, *numbers)

    def _of_number(self, name: str, number: sympy.Expr) -> sympy.Expr:
        function = _SCALAR.get(name)
        if function is None and name in FUNCTIONS and name in words():
            function = FUNCTIONS[name].exact
        if function is None:
            raise ReadError(f"{name} of a number is not known here; say the letter's shape")
        if name == "ln" and (plain := number.doit()).is_nonpositive:
            raise ReadError(f"{plain} has no real logarithm; only positive numbers have one")
        if name == "√":
            return self._number(sympy.Pow, number, sympy.S.Half)
        is_named = isinstance(function, type)  # else it is a formula
        return self._number(function, number) if is_named else _finite(function(number))

    def _function(self, name: str, parts: list[sympy.Expr]) -> sympy.Expr:
        first = parts[0]
        if not _is_matrix(first):
            return self._of_number(name, first)
        if name in _NODES or (name in CALLED and name in words()):
            return called(name, CALLED[name], *parts)
        if name in FUNCTIONS:
            return function_of(name, first)
        if name not in _MADE:
            raise ReadError(f"{name} is not known here")
        return _MADE[name](*parts)


class AsWritten(Writer):
    """Texts of statements: what is said of letters stays as it was written.

    SymPy makes 1 of x/x and x of (√x)²; a proof has to say that it does, and where.
    """

    def _number(self, kind: Callable[..., sympy.Expr], *parts: sympy.Expr) -> sympy.Expr:
        if all(part.is_number for part in parts):
            return super()._number(kind, *parts)
        return kind(*parts, evaluate=False)

    def _turned(self, value: sympy.Expr) -> sympy.Expr:
        return sympy.Transpose(value) if _is_matrix(value) else value


def put_in(expr: sympy.Basic, values: Mapping[sympy.Basic, sympy.Basic]) -> sympy.Basic:
    """An expression with values in the place of letters and sizes, and else as it was written.

    With y for x, x/y is y/y. Sizes are compared, so that what is made of them alone is evaluated.
    """
    if expr in values:
        return values[expr]
    parts = [put_in(part, values) for part in expr.args]
    if all(new is old for new, old in zip(parts, expr.args, strict=True)):
        return expr
    if type(expr) in _JOINED and not all(s.is_integer for part in parts for s in part.free_symbols):
        return expr.func(*parts, evaluate=False)
    return expr.func(*parts)


def joined(kind: Callable[..., sympy.Basic], parts: Sequence[sympy.Basic]) -> sympy.Basic:
    """What is made of parts, as it was written; of numbers alone it is evaluated."""
    is_kept = kind in _JOINED and not all(part.is_number for part in parts)
    return kind(*parts, evaluate=False) if is_kept else kind(*parts)


def called(
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


def _is_matrix(value: sympy.Expr) -> bool:
    return isinstance(value, MatrixExpr)


def _alike(values: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """Numbers and matrices, each repeated to fill the shape of all; numbers alone as they are."""
    shapes = [*map(shape_in, values)]
    whole = together(shapes)
    return [spread(value, own, whole) for value, own in zip(values, shapes, strict=True)]


def spread(value: sympy.Expr, shape: Shape, wanted: Shape) -> sympy.Expr:
    """A number, a column or a row repeated to fill a shape."""
    if wanted is None:
        return value
    rows, columns = wanted
    if shape is None:
        if value == 0:
            return sympy.ZeroMatrix(rows, columns)
        return scaled(value, sympy.OneMatrix(rows, columns))
    if shape[1] == 1 and columns != 1:
        value = sympy.MatMul(value, sympy.OneMatrix(1, columns))
    if shape[0] == 1 and rows != 1:
        value = sympy.MatMul(sympy.OneMatrix(rows, 1), value)
    return value


def _gelu(matrix: MatrixExpr) -> MatrixExpr:
    """X ∘ Φ(X) with Φ(x) = (1 + erf(x/√2))/2."""
    error = Entrywise(Quotient(matrix, sympy.sqrt(2)), "erf")
    share = sympy.MatMul(sympy.S.Half, sympy.MatAdd(sympy.OneMatrix(*matrix.shape), error))
    return sympy.HadamardProduct(matrix, share)


def _squared(matrix: MatrixExpr) -> MatrixExpr:
    return sympy.HadamardProduct(matrix, matrix)


def _sum_of_all(matrix: MatrixExpr) -> MatrixExpr:
    return LineSum(LineSum(matrix, 1), 0)


def _trace(matrix: MatrixExpr) -> MatrixExpr:
    return _sum_of_all(sympy.HadamardProduct(matrix, sympy.Identity(matrix.shape[0])))


def _blocks(axis: int) -> Callable[..., MatrixExpr]:
    return lambda *parts: reduce(lambda one, other: Stacked(one, other, axis), parts)


def _mean(matrix: MatrixExpr, axis: int) -> MatrixExpr:
    return Quotient(LineSum(matrix, axis), matrix.shape[axis])


def _centred(matrix: MatrixExpr) -> MatrixExpr:
    """Each entry less the mean of its row."""
    means = sympy.MatMul(_mean(matrix, 1), sympy.OneMatrix(1, matrix.shape[1]))
    return sympy.MatAdd(matrix, negative(means))


def _variance(matrix: MatrixExpr) -> MatrixExpr:
    """The mean squared distance of each row's entries from their mean."""
    return _mean(_squared(_centred(matrix)), 1)


def _finite(value: sympy.Expr) -> sympy.Expr:
    """A number that has a value, whatever its letters are."""
    if value.has(sympy.zoo, sympy.nan, sympy.oo):
        raise ReadError("a number in it is divided by 0, which has no value")
    if value.has(sympy.I):
        raise ReadError("a number in it is a root of a negative number, which has no value here")
    return value


def _factors(value: sympy.Expr) -> list[sympy.Expr]:
    """The matrices that a product without a number in it is made of."""
    plain = type(value) is sympy.MatMul and all(map(_is_matrix, value.args))
    return list(value.args) if plain else [value]


#: What the functions of matrices are that are no nodes.
_MADE: Mapping[str, Callable[..., MatrixExpr]] = {
    "rowmean": lambda x: _mean(x, 1),
    "colmean": lambda x: _mean(x, 0),
    "norm2": lambda x: LineSum(_squared(x), 1),
    "GELU": _gelu,
    "SiLU": lambda x: sympy.HadamardProduct(x, Entrywise(x, "σ")),
    "lse": lambda x: Entrywise(LineSum(Exponential(x), 1), "ln"),
    "rowvar": _variance,
    "LayerNorm": lambda x: LineQuotient(_centred(x), Entrywise(_variance(x), "√")),
    "RMSNorm": lambda x: LineQuotient(x, Entrywise(_mean(_squared(x), 1), "√")),
    "sum": _sum_of_all,
    "tr": _trace,
    "T": sympy.Transpose,
    "inv": sympy.Inverse,
    "dist2": lambda x, y: negative(Distance(x, y)),
    "beside": _blocks(1),
    "below": _blocks(0),
}
