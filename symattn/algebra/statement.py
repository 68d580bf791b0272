"""From what people write to SymPy: shapes are inferred, nodes are built.

Every letter has a number of rows and of columns; products, sums and functions say which are the
same. Small letters may be scalars, columns or rows: the first reading under which all shapes fit
is taken, in the order of `_READINGS`; a column or row is repeated only where nothing else fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.shapes import SIZES, Shape, Shapes, Sum, Unfit
from symattn.errors import ReadError, ShapeError
from symattn.grammar import Apart, Call, Name, Number, Tree, read
from symattn.nodes import (
    Causal,
    Diagonal,
    EntryQuotient,
    Entrywise,
    Exponential,
    Hardmax,
    LineQuotient,
    LineSum,
    OffByOneSoftmax,
    Quotient,
    Rotary,
    RowRatio,
    Softmax,
    Sparsemax,
)
from symattn.nodes.affine import Stacked
from symattn.nodes.elementwise import SoftCap
from symattn.nodes.scores import Distance, UnitVectors

#: How a small letter may be meant, in the order in which readings are tried.
_READINGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys("qkvxo", ("row", "column", "scalar")),
    "T": ("scalar", "matrix"),
}
_USUALLY = ("scalar", "column", "row")
_MOST_READINGS = 2000

_FUNCTIONS = {"tanh", "√", "ln", "σ", "cos", "sin", "max0", "abs"}
_SCALAR: Mapping[str, Callable[[Any], Any]] = {
    "exp": sympy.exp, "ln": sympy.log, "√": sympy.sqrt, "tanh": sympy.tanh, "cos": sympy.cos,
    "sin": sympy.sin, "abs": sympy.Abs, "σ": lambda x: 1 / (1 + sympy.exp(-x)),
}  # fmt: skip
_SAME_SHAPE: Mapping[str, Callable[[Any], MatrixExpr]] = {
    "softmax": Softmax, "colsoftmax": lambda x: Softmax(x, 0), "softmax1": OffByOneSoftmax,
    "ratio": RowRatio, "sparsemax": Sparsemax, "hardmax": Hardmax, "exp": Exponential,
    "unit": UnitVectors, "rotary": Rotary,
}  # fmt: skip


class _Reading(Shapes):
    """One way to read the letters, built."""

    def size(self, dim: int) -> sympy.Expr:
        """The size as SymPy's number or symbol."""
        root = self.dims.root(dim)
        value = self.dims.value[root]
        if isinstance(value, Sum):
            return sympy.Add(*(self.size(part) for part in value.parts))
        if value is not None:
            return sympy.sympify(value, strict=True)
        return sympy.Symbol(self._named_sizes()[root], integer=True, positive=True)

    def _named_sizes(self) -> dict[int, str]:
        named: dict[int, str] = {}
        roots = dict.fromkeys(self.dims.root(d) for d in range(len(self.dims.parent)))
        spare = (f"{x}{k}" for k in ("", *range(1, 99)) for x in ("n", "m", "p", "r"))
        for told in (True, False):
            for root in roots:
                wish = self.dims.name[root].removeprefix("=").partition("#")[0]
                if bool(wish) is told and self.dims.value[root] is None:
                    free = (wish, *(f"{wish}_{k}" for k in range(2, 99))) if wish else spare
                    named[root] = next(x for x in free if x not in named.values())
        return named

    def build(self, tree: Tree, wanted: Shape = None) -> Any:
        """The SymPy expression of a part; a scalar where it is one and no matrix is wanted."""
        shape = self.shapes[id(tree)]
        out = self._build(tree)
        if wanted is None or out is None:
            return out
        return self._spread(out, shape, wanted)

    def _spread(self, value: Any, shape: Shape, wanted: tuple[int, int]) -> Any:
        """A scalar, a column or a row repeated to fill a shape."""
        rows, columns = self.size(wanted[0]), self.size(wanted[1])
        if shape is None:
            if value == 0:
                return sympy.ZeroMatrix(rows, columns)
            return sympy.MatMul(value, sympy.OneMatrix(rows, columns))
        if self.dims.is_one(shape[1]) and not self.dims.is_one(wanted[1]):
            value = sympy.MatMul(value, sympy.OneMatrix(1, columns))
        if self.dims.is_one(shape[0]) and not self.dims.is_one(wanted[0]):
            value = sympy.MatMul(sympy.OneMatrix(rows, 1), value)
        return value

    def _build(self, tree: Tree) -> Any:
        shape = self.shapes[id(tree)]
        match tree:
            case Number(value, vector):
                if vector and shape is not None:
                    return sympy.OneMatrix(self.size(shape[0]), 1)
                return sympy.Rational(value.numerator, value.denominator)
            case Name("I") if shape is not None and "I" not in self.given:
                return sympy.Identity(self.size(shape[0]))
            case Name(name):
                return self._symbol(name, shape)
            case Call(name, args):
                return self._called(name, args, shape)
            case Apart("T", (part,)):
                inner = self.build(part)
                return inner if shape is None else sympy.Transpose(inner).doit(deep=False)
            case Apart("neg", (part,)):
                return _scaled(sympy.S.NegativeOne, self.build(part))
            case Apart("inv", (part,)):
                inner = self.build(part)
                return 1 / inner if shape is None else sympy.Inverse(inner)
            case Apart("^", (part,), exponent):
                return self._power(self.build(part), shape, exponent)
            case Apart("+", parts):
                terms = [self.build(part, shape) for part in parts]
                return sympy.Add(*terms) if shape is None else sympy.MatAdd(*terms)
            case Apart("*", parts):
                return self._times(parts)
            case Apart("/", (above, below)):
                return self._over(above, below, shape)
            case Apart(sign, parts):
                left, right = (self.build(part, shape) for part in parts)
                if shape is None:
                    return left * right if sign == "∘" else left / right
                if sign == "⊘":
                    return EntryQuotient(left, right)
                return sympy.HadamardProduct(left, right)
        raise ReadError("this cannot be built")

    def _symbol(self, name: str, shape: Shape) -> Any:
        if shape is not None:
            return sympy.MatrixSymbol(name, self.size(shape[0]), self.size(shape[1]))
        if name in SIZES:
            return self._size_called(name)
        return sympy.Symbol(name, positive=True) if name in self.positive else sympy.Symbol(
            name, real=True)  # fmt: skip

    def _size_called(self, name: str) -> sympy.Expr:
        wishes = (name, f"={name}", *(("d_k", "=d_k") if name == "d" else ()))
        for dim, wish in enumerate(self.dims.name):
            if wish in wishes:
                return self.size(dim)
        return sympy.Symbol(name, integer=True, positive=True)

    def _times(self, parts: tuple[Tree, ...]) -> Any:
        built = [(self.build(part), self.shapes[id(part)]) for part in parts]
        scalar = sympy.Mul(*(value for value, shape in built if shape is None))
        matrices = [value for value, shape in built if shape is not None]
        if not matrices:
            return scalar
        whole = sympy.MatMul(*matrices) if len(matrices) > 1 else matrices[0]
        return _scaled(scalar, whole)

    def _over(self, above: Tree, below: Tree, shape: Shape) -> Any:
        top, bottom = self.build(above), self.build(below)
        if shape is None:
            return top / bottom
        over, under = self.shapes[id(above)], self.shapes[id(below)]
        if under is None:
            return Quotient(top, bottom)
        top = self._spread(top, over, shape)
        columns, rows = (self.dims.is_one(under[axis]) for axis in (1, 0))
        if columns and not rows:
            return LineQuotient(top, bottom)
        if rows and not columns:
            return LineQuotient(top, bottom, 0)
        return EntryQuotient(top, self._spread(bottom, under, shape))

    def _power(self, base: Any, shape: Shape, exponent: Any) -> Any:
        power = sympy.Rational(exponent.numerator, exponent.denominator)
        if shape is None:
            return base**power
        if not power.is_Integer or power < 1:
            raise ReadError("a matrix has whole powers; write A ∘ A for the squares of entries")
        return base if power == 1 else sympy.MatMul(*[base] * int(power))

    def _called(self, name: str, args: tuple[Tree, ...], shape: Shape) -> Any:
        parts = [self.build(arg) for arg in args]
        if name == "causal" and shape is not None:
            return Causal(self.size(shape[0]), self.size(shape[1]))
        if self.shapes[id(args[0])] is None:
            return _SCALAR[name](parts[0])
        first = parts[0]
        if name in _SAME_SHAPE:
            return _SAME_SHAPE[name](first)
        if name in _FUNCTIONS:
            return Entrywise(first, name)
        match name:
            case "rowsum" | "colsum":
                return LineSum(first, int(name == "rowsum"))
            case "rowmean" | "colmean":
                axis = int(name == "rowmean")
                return Quotient(LineSum(first, axis), first.shape[axis])
            case "norm2":
                return LineSum(sympy.HadamardProduct(first, first), 1)
            case "sum":
                return LineSum(LineSum(first, 1), 0)
            case "diag":
                return Diagonal(first)
            case "T":
                return sympy.Transpose(first).doit(deep=False)
            case "inv":
                return sympy.Inverse(first)
            case "dist2":
                return _scaled(sympy.S.NegativeOne, Distance(*parts))
            case "softcap":
                return SoftCap(first, parts[1])
        out = first
        for part in parts[1:]:
            out = Stacked(out, part, int(name == "beside"))
        return out


def _scaled(scalar: Any, value: Any) -> Any:
    if not isinstance(value, MatrixExpr):
        return scalar * value
    if scalar == -1 and isinstance(value, Quotient):
        return Quotient(_scaled(scalar, value.args[0]), value.args[1])
    if isinstance(value, sympy.MatMul):
        number, factors = value.as_coeff_matrices()
        scalar = scalar * number
        value = sympy.MatMul(*factors) if len(factors) > 1 else factors[0]
    return value if scalar == 1 else sympy.MatMul(scalar, value)


def _names(tree: Tree) -> dict[str, None]:
    match tree:
        case Name(name):
            return {name: None}
        case Call(_, parts) | Apart(_, parts):
            return {name: None for part in parts for name in _names(part)}
    return {}


def _is_small(name: str) -> bool:
    """Whether a name may be a scalar: small letters but dA, and T, the temperature."""
    return name == "T" or (name[0].islower() and not name[1:2].isupper() and name not in SIZES)


def build(
    pairs: Sequence[Sequence[str]],
    shapes: Mapping[str, tuple[Any, Any]] | None = None,
    positive: Sequence[str] = (),
) -> list[list[Any]]:
    """Texts as SymPy expressions; those of one inner list have the same shape.

    Raises `ReadError` for a text that is no expression, `ShapeError` where shapes cannot fit.

    >>> ((left, right),) = build([["Q K^T", "(K Q^T)^T"]])
    >>> left.shape == right.shape
    True
    """
    given = dict(shapes or {})
    trees = [[read(text, given) for text in texts] for texts in pairs]
    letters = {name: None for texts in trees for tree in texts for name in _names(tree)}
    small = [name for name in letters if _is_small(name) and name not in given]
    trouble = "no reading of the letters fits"
    choices = [_READINGS.get(name[0], _USUALLY) for name in small]
    readings = list(islice(product(*choices), _MOST_READINGS))
    for strict, kinds in ((strict, kinds) for strict in (True, False) for kinds in readings):
        reading = _Reading(dict(zip(small, kinds, strict=True)), given, positive, strict)
        try:
            reading_shapes = [
                reading.together([reading.shape(tree) for tree in texts]) for texts in trees
            ]
        except Unfit as unfit:
            trouble = str(unfit)
            continue
        return [
            [reading.build(tree, shape) for tree in texts]
            for texts, shape in zip(trees, reading_shapes, strict=True)
        ]
    raise ShapeError(f"{' = '.join(pairs[0])}: {trouble}; say the shapes, or mend the formula")
