"""Expressions of what people write, where the shape of every letter is known.

`language/statement.py` finds the shapes; with them a text has one meaning, which is made here: a
SymPy expression over nodes. A size of 1 is repeated to fit, a product that is 1 × 1 scales what
it is multiplied by, and a number, column or row that is added to a matrix is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ReadError, ShapeError
from symattn.grammar import Apart, Call, Name, Number, Tree
from symattn.nodes.entrywise import Diagonal, EntryQuotient, Entrywise, Exponential, SoftCap
from symattn.nodes.heads import Stacked
from symattn.nodes.lines import LineQuotient, LineSum, UnitVectors
from symattn.nodes.masks import Causal
from symattn.nodes.normalise import (
    Hardmax,
    OffByOneSoftmax,
    RowMax,
    RowRatio,
    Softmax,
    Sparsemax,
)
from symattn.nodes.positions import Rotary
from symattn.nodes.scale import Quotient
from symattn.nodes.scores import Distance

#: Rows and columns; None of a number.
Shape: TypeAlias = tuple[sympy.Expr, sympy.Expr] | None

#: Names that are sizes wherever they stand as numbers.
SIZES = ("n", "m", "d", "d_k", "d_v", "d_h", "d_model", "h")

#: Names of numbers.
CONSTANTS: Mapping[str, sympy.Expr] = {
    "e": sympy.E,
    "pi": sympy.pi,
    "π": sympy.pi,
    "∞": sympy.oo,
}

_ENTRYWISE = ("tanh", "√", "ln", "σ", "cos", "sin", "max0", "abs", "elu1", "erf")
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
}


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
        #: The scalars that have to be ≥ 0, which SymPy may have cancelled: √a² is a.
        self.needs: list[sympy.Expr] = []

    def build(self, tree: Tree) -> tuple[sympy.Expr, Shape]:
        """The expression of a text and its shape. Raises `SymattnError` where it has none."""
        shape: Shape
        match tree:
            case Number(value, vector):
                if vector:
                    rows, _ = self._spared()
                    return sympy.OneMatrix(rows, 1), (rows, sympy.S.One)
                return sympy.Rational(value.numerator, value.denominator), None
            case Name("I") if "I" not in self.letters:
                shape = self._spared()
                return sympy.Identity(shape[0]), shape
            case Name(name):
                return self._symbol(name)
            case Call("causal", (), ()):
                shape = self._spared()
                return Causal(*shape), shape
            case Call(name, args, ()):
                return self._called(name, [self.build(arg) for arg in args])
            case Apart("^", (part, *_), exponent):
                inner, shape = self.build(part)
                return self._power(inner, shape, exponent), shape
            case Apart(sign, parts):
                return self._joined(sign, [self.build(part) for part in parts])
        raise ReadError("this cannot be built")

    def _joined(self, sign: str, built: list[tuple[sympy.Expr, Shape]]) -> tuple[sympy.Expr, Shape]:
        """The expression of an operation on parts, and its shape."""
        first, own = built[0]
        match sign:
            case "T":
                return (first, None) if own is None else (_transposed(first), own[::-1])
            case "neg":
                return _scaled(sympy.S.NegativeOne, first), own
            case "inv" if own is not None:
                return sympy.Inverse(first), own
            case "inv":
                if first == 0:
                    raise ReadError("0 has no inverse: 1/0 has no value")
                return _number(1 / first), None
            case "*" | "×":
                return self._times(built)
            case "/":
                return self._over(*built)
        shape = together([own for _, own in built])
        terms = [spread(value, own, shape) for value, own in built]
        if sign == "+":
            return (sympy.Add if shape is None else sympy.MatAdd)(*terms), shape
        left, right = terms
        if shape is None:
            return _number(left * right if sign == "∘" else left / right), None
        kind = EntryQuotient if sign == "⊘" else sympy.HadamardProduct
        return kind(left, right), shape

    def _spared(self) -> tuple[sympy.Expr, sympy.Expr]:
        found = next(self.spare, None)
        if found is None:
            raise ShapeError(
                "the shape of a column of ones, an identity or a mask is not determined here"
            )
        return found

    def _symbol(self, name: str) -> tuple[sympy.Expr, Shape]:
        shape = self.letters.get(name)  # None for a number
        if shape is not None:
            return sympy.MatrixSymbol(name, *shape), shape
        if name in self.values:
            return self.values[name], None
        if name in SIZES and name not in self.letters:
            return sympy.Symbol(name, integer=True, positive=True), None
        if name == "∞":
            raise ReadError("∞ is not a number here; a mask of −∞ is written causal()")
        positive = name in self.positive
        kind = {"positive": True} if positive else {"real": True}
        return sympy.Symbol(name, **kind), None

    def _times(self, built: list[tuple[sympy.Expr, Shape]]) -> tuple[sympy.Expr, Shape]:
        scalar = _number(sympy.Mul(*(value for value, own in built if own is None)))
        matrices: list[tuple[sympy.Expr, tuple[sympy.Expr, sympy.Expr]]] = []
        for group in groups([own for _, own in built], lambda size: bool(size == 1)):
            chain = [(value, own) for value, own in (built[k] for k in group) if own is not None]
            if chain:
                values = [value for value, _ in chain]
                whole = sympy.MatMul(*values) if len(values) > 1 else values[0]
                matrices.append((whole, (chain[0][1][0], chain[-1][1][1])))
        if not matrices:
            return scalar, None
        wide = [(value, own) for value, own in matrices if own != (1, 1)]
        if all((one[1] == 1) == (other[0] == 1) for (_, one), (_, other) in pairwise(matrices)):
            flat = [f for value, _ in matrices for f in _factors(value)]
            out = sympy.MatMul(*flat) if len(flat) > 1 else flat[0]
            return _scaled(scalar, out), (matrices[0][1][0], matrices[-1][1][1])
        shape = (wide[0][1][0], wide[-1][1][1])
        flat = [f for value, _ in wide for f in _factors(value)]
        out = sympy.MatMul(*flat) if len(flat) > 1 else flat[0]
        for value, own in matrices:
            if own == (1, 1):  # a product that is 1 × 1 scales the others
                out = sympy.HadamardProduct(spread(value, own, shape), out)
        return _scaled(scalar, out), shape

    def _over(
        self, above: tuple[sympy.Expr, Shape], below: tuple[sympy.Expr, Shape]
    ) -> tuple[sympy.Expr, Shape]:
        (top, over), (bottom, under) = above, below
        shape = together([over, under])
        if shape is None:
            return _number(top / bottom), None
        if under is None:
            if bottom == 0:
                raise ReadError("it divides by 0, which has no value")
            return Quotient(top, bottom), shape
        top = spread(top, over, shape)
        columns, rows = under[1] == 1, under[0] == 1
        if columns and not rows:
            return LineQuotient(top, bottom), shape
        if rows and not columns:
            return LineQuotient(top, bottom, 0), shape
        return EntryQuotient(top, spread(bottom, under, shape)), shape

    def _power(self, base: sympy.Expr, shape: Shape, exponent: sympy.Expr) -> sympy.Expr:
        power = sympy.Rational(exponent.numerator, exponent.denominator)
        if shape is None:
            self.needs += [] if power.is_Integer or base.is_nonnegative else [base]
            if base == 0 and power < 0:
                raise ReadError(f"0 has no negative powers: 0^({power}) divides by 0")
            return _number(base**power)
        if not power.is_Integer:
            raise ReadError(
                "a matrix can be raised to whole powers only; sqrt(A) takes the root of each entry"
            )
        if power == 0:
            return sympy.Identity(shape[0])
        factor = base if power > 0 else sympy.Inverse(base)
        count = abs(int(power))
        return factor if count == 1 else sympy.MatMul(*[factor] * count)

    def _called(self, name: str, built: list[tuple[sympy.Expr, Shape]]) -> tuple[sympy.Expr, Shape]:
        parts = [value for value, _ in built]
        first, shape = built[0]
        if shape is None:
            if name not in _SCALAR:
                raise ReadError(f"{name} of a number is not known here; say the letter's shape")
            if name in ("√", "ln") and not first.is_nonnegative:
                self.needs.append(first)
            if name == "ln" and first.is_nonpositive:
                raise ReadError(f"{first} has no real logarithm; only positive numbers have one")
            return _number(_SCALAR[name](first)), None
        if name not in MATRICES and name not in _ENTRYWISE:
            raise ReadError(f"{name} is not known here")
        out = Entrywise(first, name) if name in _ENTRYWISE else MATRICES[name](*parts)
        return out, tuple(out.shape)


def together(shapes: Sequence[Shape]) -> Shape:
    """The shape of entry-by-entry work, where numbers, columns and rows are repeated."""
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    out = []
    for axis in (0, 1):
        wide = [shape[axis] for shape in known if shape[axis] != 1]
        if any(size != wide[0] for size in wide):
            raise ShapeError(f"{wide[0]} and {wide[-1]} are not the same size")
        out.append(wide[0] if wide else sympy.S.One)
    return out[0], out[1]


def spread(value: sympy.Expr, shape: Shape, wanted: Shape) -> sympy.Expr:
    """A number, a column or a row repeated to fill a shape."""
    if wanted is None:
        return value
    rows, columns = wanted
    if shape is None:
        if value == 0:
            return sympy.ZeroMatrix(rows, columns)
        return _scaled(value, sympy.OneMatrix(rows, columns))
    if shape[1] == 1 and columns != 1:
        value = sympy.MatMul(value, sympy.OneMatrix(1, columns))
    if shape[0] == 1 and rows != 1:
        value = sympy.MatMul(sympy.OneMatrix(rows, 1), value)
    return value


def groups(
    shapes: Sequence[tuple[sympy.Expr, sympy.Expr] | None], is_one: Callable[[sympy.Expr], bool]
) -> list[list[int]]:
    """The factors of a product by their places: numbers, 1 × 1 matrices, and chains.

    A chain that has come down to 1 × 1, aᵀ b, ends before a matrix that it can only scale.
    """
    out: list[list[int]] = []
    rows: sympy.Expr = None  # where the last group began, if more may be joined to it
    for place, shape in enumerate(shapes):
        if shape is None or (is_one(shape[0]) and is_one(shape[1])):
            out.append([place])
            rows = rows if shape is None else None
            continue
        last = next((g for g in reversed(out) if shapes[g[-1]] is not None), None)
        before = shapes[last[-1]] if last is not None else None
        if (
            last is None
            or before is None
            or rows is None
            or (is_one(rows) and is_one(before[1]) and not is_one(shape[0]))
        ):
            out.append([place])
            rows = shape[0]
        else:
            last.append(place)
    return out


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


def _transposed(value: sympy.Expr) -> sympy.Expr:
    """The transpose; SymPy's own would cancel an inverse on the way."""
    match value:
        case sympy.Transpose():
            return value.arg
        case sympy.MatMul():
            number, factors = value.as_coeff_matrices()
            turned = sympy.MatMul(*map(_transposed, reversed(factors)))
            return _scaled(number, turned)
        case sympy.MatAdd():
            return sympy.MatAdd(*map(_transposed, value.args))
        case sympy.HadamardProduct():
            return sympy.HadamardProduct(*map(_transposed, value.args))
        case sympy.Identity():
            return value
        case sympy.OneMatrix() | sympy.ZeroMatrix():
            return value.func(*reversed(value.shape))
    return sympy.Transpose(value)


def _mean(matrix: MatrixExpr, axis: int) -> MatrixExpr:
    return Quotient(LineSum(matrix, axis), matrix.shape[axis])


def _centred(matrix: MatrixExpr) -> MatrixExpr:
    """Each entry less the mean of its row."""
    means = sympy.MatMul(_mean(matrix, 1), sympy.OneMatrix(1, matrix.shape[1]))
    return sympy.MatAdd(matrix, _scaled(sympy.S.NegativeOne, means))


def _variance(matrix: MatrixExpr) -> MatrixExpr:
    """The mean squared distance of each row's entries from their mean."""
    return _mean(_squared(_centred(matrix)), 1)


def _blocks(axis: int) -> Callable[..., MatrixExpr]:
    return lambda *parts: reduce(lambda one, other: Stacked(one, other, axis), parts)


def _number(value: sympy.Expr) -> sympy.Expr:
    """A scalar that is a number, whatever its letters are."""
    if value.has(sympy.zoo, sympy.nan, sympy.oo):
        raise ReadError("a number in it is divided by 0, which has no value")
    if value.has(sympy.I):
        raise ReadError("a number in it is a root of a negative number, which has no value here")
    return value


def _factors(value: sympy.Expr) -> list[sympy.Expr]:
    """The matrices that a product without a number in it is made of."""
    return (
        list(value.args)
        if type(value) is sympy.MatMul
        and not any(not isinstance(f, MatrixExpr) for f in value.args)
        else [value]
    )


def _scaled(scalar: sympy.Expr, value: sympy.Expr) -> sympy.Expr:
    if not isinstance(value, MatrixExpr):
        return scalar * value
    if scalar == -1 and isinstance(value, Quotient):
        return Quotient(_scaled(scalar, value.args[0]), value.args[1])
    if isinstance(value, sympy.MatMul):
        number, factors = value.as_coeff_matrices()
        scalar = scalar * number
        value = sympy.MatMul(*factors) if len(factors) > 1 else factors[0]
    return value if scalar == 1 else sympy.MatMul(scalar, value)


#: What the functions of matrices are.
MATRICES: Mapping[str, Callable[..., MatrixExpr]] = {
    "softmax": Softmax,
    "colsoftmax": lambda x: Softmax(x, 0),
    "softmax1": OffByOneSoftmax,
    "ratio": RowRatio,
    "sparsemax": Sparsemax,
    "hardmax": Hardmax,
    "exp": Exponential,
    "unit": UnitVectors,
    "rotary": Rotary,
    "rowsum": lambda x: LineSum(x, 1),
    "colsum": lambda x: LineSum(x, 0),
    "rowmean": lambda x: _mean(x, 1),
    "colmean": lambda x: _mean(x, 0),
    "norm2": lambda x: LineSum(_squared(x), 1),
    "rowmax": RowMax,
    "GELU": _gelu,
    "SiLU": lambda x: sympy.HadamardProduct(x, Entrywise(x, "σ")),
    "lse": lambda x: Entrywise(LineSum(Exponential(x), 1), "ln"),
    "rowvar": _variance,
    "LayerNorm": lambda x: LineQuotient(_centred(x), Entrywise(_variance(x), "√")),
    "RMSNorm": lambda x: LineQuotient(x, Entrywise(_mean(_squared(x), 1), "√")),
    "sum": _sum_of_all,
    "tr": _trace,
    "diag": Diagonal,
    "T": _transposed,
    "inv": sympy.Inverse,
    "dist2": lambda x, y: _scaled(sympy.S.NegativeOne, Distance(x, y)),
    "softcap": SoftCap,
    "beside": _blocks(1),
    "below": _blocks(0),
}
