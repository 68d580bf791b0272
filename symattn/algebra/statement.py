"""From what people write to SymPy: letters are given shapes, nodes are built.

Every letter has a number of rows and of columns; products, sums and functions say which are the
same. Small letters may be numbers, columns or rows. The readings under which all shapes fit, with
no size of 1 that nobody wrote, are ordered: nothing repeated to fit before columns added to
matrices, all vectors columns (or all rows) before a mixture; q, k, v, o and x are vectors, and
rows where that makes no more products of a column with a row. The first reading is meant; it is
always shown, and the others are there to be compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.shapes import CONSTANTS, SIZES, SQUARE, Shape, Shapes, Sum, Unfit
from symattn.errors import ReadError, ShapeError, quote
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
from symattn.nodes.entrywise import SoftCap
from symattn.nodes.heads import Stacked
from symattn.nodes.lines import UnitVectors
from symattn.nodes.normalise import RowMax
from symattn.nodes.scores import Distance

#: Letters of a token's vector, which is a row (Q and K have a row for each token).
_TOKENS = "qkvox"
_MOST_READINGS = 2000

#: What a letter may be given as, beside a shape.
NUMBER_WORDS = ("scalar", "number")

#: How a letter is told that is a number of its own: e, π.
_CONSTANT = "the constant"

_ENTRYWISE = {"tanh", "√", "ln", "σ", "cos", "sin", "max0", "abs"}
_SCALAR: Mapping[str, Callable[[Any], Any]] = {
    "exp": sympy.exp,
    "ln": sympy.log,
    "√": sympy.sqrt,
    "tanh": sympy.tanh,
    "cos": sympy.cos,
    "sin": sympy.sin,
    "abs": sympy.Abs,
    "σ": lambda x: 1 / (1 + sympy.exp(-x)),
    "SiLU": lambda x: x / (1 + sympy.exp(-x)),
}
_SAME_SHAPE: Mapping[str, Callable[[Any], MatrixExpr]] = {
    "softmax": Softmax,
    "colsoftmax": lambda x: Softmax(x, 0),
    "softmax1": OffByOneSoftmax,
    "ratio": RowRatio,
    "sparsemax": Sparsemax,
    "hardmax": Hardmax,
    "exp": Exponential,
    "unit": UnitVectors,
    "rotary": Rotary,
}


@dataclass(frozen=True)
class Built:
    """One reading of some texts: each text's SymPy expression, and what each letter is."""

    groups: tuple[tuple[Any, ...], ...]
    letters: tuple[tuple[str, str], ...]
    #: Of each text, the scalars that have to be ≥ 0, which SymPy may have cancelled: √a² is a.
    needs: tuple[tuple[tuple[Any, ...], ...], ...] = ()


class _Reading(Shapes):
    """One way to read the letters, built."""

    positive: Sequence[str] = ()

    # ---- sizes -----------------------------------------------------------------------------

    def name_sizes(self, used: Sequence[str]) -> None:
        """Name every size, and find those that a formula uses as numbers (1/√d_k)."""
        dims = self.dims
        open_roots = [root for root in dims.roots() if dims.value[root] is None]
        self.size_names: dict[int, str] = {}
        for given in (True, False):
            for root in open_roots:
                wish = dims.name[root].partition(SQUARE)[0]
                if wish and dims.given[root] is given:
                    free = (wish, *(f"{wish}_{k}" for k in range(2, 99)))
                    self.size_names[root] = next(
                        x for x in free if x not in self.size_names.values()
                    )
        nameless = [root for root in open_roots if root not in self.size_names]
        self.meant: dict[str, int] = {}
        for name in used:
            found = self._wished(name) or (self._wished("d_k") if name == "d" else [])
            if len(found) > 1:
                raise Unfit(f"{name} could be more than one size")
            if found:
                self.meant[name] = found[0]
            elif len(nameless) > 1:
                raise Unfit(f"it is not told which size {name} is")
            elif nameless:
                self.meant[name] = nameless[0]
                self.size_names[nameless.pop()] = name
        spare = (f"{x}{k}" for k in ("", *range(1, 99)) for x in ("n", "m", "p", "r"))
        for root in nameless:
            self.size_names[root] = next(
                x for x in spare if x not in self.size_names.values() and x not in used
            )

    def _wished(self, name: str) -> list[int]:
        """The sizes that go by a name; those printed with it come first."""
        printed = [root for root, word in self.size_names.items() if word == name]
        return printed or list(
            dict.fromkeys(
                self.dims.root(dim) for dim, wish in enumerate(self.dims.name) if wish == name
            )
        )

    def size(self, dim: int) -> sympy.Expr:
        """The size as SymPy's number or symbol."""
        root = self.dims.root(dim)
        value = self.dims.value[root]
        if isinstance(value, Sum):
            return sympy.Add(*(self.size(part) for part in value.parts))
        if value is not None:
            return sympy.sympify(value, strict=True)
        return sympy.Symbol(self.size_names[root], integer=True, positive=True)

    def shapes_text(self) -> tuple[tuple[str, str], ...]:
        """Each letter with its shape: Q n × d_k, c a number."""
        out = []
        for name, shape in self.letters.items():
            if shape is not None:
                out.append((name, " × ".join(str(self.size(dim)) for dim in shape)))
            elif name in self.meant:
                size = str(self.size(self.meant[name]))
                out += [] if size == name else [(name, f"= {size}")]
            elif name in SIZES:
                out.append((name, "a positive whole number"))
            else:
                out.append((name, _CONSTANT if name in CONSTANTS else "a number"))
        return tuple(out)

    # ---- building --------------------------------------------------------------------------

    def built(self, tree: Tree, wanted: Shape) -> tuple[Any, tuple[Any, ...]]:
        """The SymPy expression of a text, and the scalars in it that have to be ≥ 0."""
        self.needs: list[Any] = []
        return self.build(tree, wanted), tuple(self.needs)

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
            return _scaled(value, sympy.OneMatrix(rows, columns))
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
            case Name("I") if shape is not None and "I" not in self.given_shapes:
                return sympy.Identity(self.size(shape[0]))
            case Name(name):
                return self._symbol(name, shape)
            case Call(name, args):
                return self._called(name, args, shape)
            case Apart("T", (part,)):
                inner = self.build(part)
                return inner if shape is None else _transposed(inner)
            case Apart("neg", (part,)):
                return _scaled(sympy.S.NegativeOne, self.build(part))
            case Apart("inv", (part,)):
                inner = self.build(part)
                if shape is not None:
                    return sympy.Inverse(inner)
                if inner == 0:
                    raise ReadError("0 has no inverse: 1/0 has no value")
                return _number(1 / inner)
            case Apart("^", (part, *_), exponent):
                return self._power(self.build(part), shape, exponent)
            case Apart("+", parts):
                terms = [self.build(part, shape) for part in parts]
                return sympy.Add(*terms) if shape is None else sympy.MatAdd(*terms)
            case Apart("*", parts):
                return self._times(parts, shape)
            case Apart("/", (above, below)):
                return self._over(above, below, shape)
            case Apart(sign, parts):
                left, right = (self.build(part, shape) for part in parts)
                if shape is None:
                    return _number(left * right if sign == "∘" else left / right)
                if sign == "⊘":
                    return EntryQuotient(left, right)
                return sympy.HadamardProduct(left, right)
        raise ReadError("this cannot be built")

    def _symbol(self, name: str, shape: Shape) -> Any:
        if shape is not None:
            return sympy.MatrixSymbol(name, self.size(shape[0]), self.size(shape[1]))
        if name in CONSTANTS and name not in self.given_shapes:
            if name == "∞":
                raise ReadError("∞ is no number here; a mask of −∞ is causal()")
            return CONSTANTS[name]
        if name in SIZES and name not in self.given_shapes:
            if name in self.meant:
                return self.size(self.meant[name])
            return sympy.Symbol(name, integer=True, positive=True)
        positive = name in self.positive
        return sympy.Symbol(name, positive=True) if positive else sympy.Symbol(name, real=True)

    def _times(self, parts: tuple[Tree, ...], shape: Shape) -> Any:
        shapes = [self.shapes[id(part)] for part in parts]
        built = [self.build(part) for part in parts]
        scalar = _number(
            sympy.Mul(*(x for x, own in zip(built, shapes, strict=True) if own is None))
        )
        matrices: list[tuple[Any, tuple[int, int]]] = []
        for group in self.groups(shapes):
            chain = [(built[k], own) for k in group if (own := shapes[k]) is not None]
            if chain:
                values = [value for value, _ in chain]
                whole = sympy.MatMul(*values) if len(values) > 1 else values[0]
                matrices.append((whole, (chain[0][1][0], chain[-1][1][1])))
        if not matrices:
            return scalar
        fits = all(
            self.dims.is_one(one[1]) == self.dims.is_one(other[0])
            for (_, one), (_, other) in pairwise(matrices)
        )
        if fits:
            flat = [f for value, _ in matrices for f in _factors(value)]
            return _scaled(scalar, sympy.MatMul(*flat) if len(flat) > 1 else flat[0])
        wide = [
            f for value, inner in matrices if not self.is_number(inner) for f in _factors(value)
        ]
        assert shape is not None
        out = sympy.MatMul(*wide) if len(wide) > 1 else wide[0]
        for value, inner in matrices:
            if self.is_number(inner):  # a product that is 1 × 1 scales the others
                out = sympy.HadamardProduct(self._spread(value, inner, shape), out)
        return _scaled(scalar, out)

    def _over(self, above: Tree, below: Tree, shape: Shape) -> Any:
        top, bottom = self.build(above), self.build(below)
        if shape is None:
            return _number(top / bottom)
        over, under = self.shapes[id(above)], self.shapes[id(below)]
        if under is None:
            if bottom == 0:
                raise ReadError("it divides by 0, which has no value")
            return Quotient(self._spread(top, over, shape), bottom)
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
            self.needs += [] if power.is_Integer or base.is_nonnegative else [base]
            if base == 0 and power < 0:
                raise ReadError(f"0 has no negative powers: 0^({power}) divides by 0")
            return _number(base**power)
        if not power.is_Integer:
            raise ReadError("a matrix has whole powers; write sqrt(A) for the roots of entries")
        if power == 0:
            return sympy.Identity(self.size(shape[0]))
        factor = base if power > 0 else sympy.Inverse(base)
        count = abs(int(power))
        return factor if count == 1 else sympy.MatMul(*[factor] * count)

    def _called(self, name: str, args: tuple[Tree, ...], shape: Shape) -> Any:
        parts = [self.build(arg) for arg in args]
        if name == "causal" and shape is not None:
            return Causal(self.size(shape[0]), self.size(shape[1]))
        if self.shapes[id(args[0])] is None:
            if name not in _SCALAR:
                raise ReadError(f"{name} of a number is not known here; say the letter's shape")
            if name in ("√", "ln") and not parts[0].is_nonnegative:
                self.needs.append(parts[0])
            if name == "ln" and parts[0].is_nonpositive:
                raise ReadError(f"{parts[0]} has no logarithm; only positive numbers have one")
            return _number(_SCALAR[name](parts[0]))
        first = parts[0]
        if name in _SAME_SHAPE:
            return _SAME_SHAPE[name](first)
        if name in _ENTRYWISE:
            return Entrywise(first, name)
        match name:
            case "rowsum" | "colsum":
                return LineSum(first, int(name == "rowsum"))
            case "rowmean" | "colmean":
                return _mean(first, int(name == "rowmean"))
            case "norm2":
                return LineSum(sympy.HadamardProduct(first, first), 1)
            case "rowmax":
                return RowMax(first)
            case "GELU":
                return _gelu(first)
            case "lse":
                return Entrywise(LineSum(Exponential(first), 1), "ln")
            case "rowvar":
                return _variance(first)
            case "LayerNorm":
                return LineQuotient(_centred(first), Entrywise(_variance(first), "√"))
            case "RMSNorm":
                square = sympy.HadamardProduct(first, first)
                return LineQuotient(first, Entrywise(_mean(square, 1), "√"))
            case "SiLU":
                return sympy.HadamardProduct(first, Entrywise(first, "σ"))
            case "sum":
                return LineSum(LineSum(first, 1), 0)
            case "tr":
                unit = sympy.Identity(first.shape[0])
                return LineSum(LineSum(sympy.HadamardProduct(first, unit), 1), 0)
            case "diag":
                return Diagonal(first)
            case "T":
                return _transposed(first)
            case "inv":
                return sympy.Inverse(first)
            case "dist2":
                return _scaled(sympy.S.NegativeOne, Distance(*parts))
            case "softcap":
                return SoftCap(first, parts[1])
            case "beside" | "below":
                out = first
                for part in parts[1:]:
                    out = Stacked(out, part, int(name == "beside"))
                return out
        raise ReadError(f"{name} is not known here")


def _gelu(matrix: Any) -> Any:
    """X ∘ Φ(X) with Φ(x) = (1 + erf(x/√2))/2."""
    error = Entrywise(Quotient(matrix, sympy.sqrt(2)), "erf")
    share = sympy.MatMul(sympy.S.Half, sympy.MatAdd(sympy.OneMatrix(*matrix.shape), error))
    return sympy.HadamardProduct(matrix, share)


def _transposed(value: Any) -> Any:
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


def _mean(matrix: Any, axis: int) -> Any:
    return Quotient(LineSum(matrix, axis), matrix.shape[axis])


def _centred(matrix: Any) -> Any:
    """Each entry less the mean of its row."""
    means = sympy.MatMul(_mean(matrix, 1), sympy.OneMatrix(1, matrix.shape[1]))
    return sympy.MatAdd(matrix, _scaled(sympy.S.NegativeOne, means))


def _variance(matrix: Any) -> Any:
    """The mean squared distance of each row's entries from their mean."""
    centred = _centred(matrix)
    return _mean(sympy.HadamardProduct(centred, centred), 1)


def _number(value: Any) -> Any:
    """A scalar that is a number, whatever its letters are."""
    if value.has(sympy.zoo, sympy.nan, sympy.oo):
        raise ReadError("a number in it is divided by 0, which has no value")
    if value.has(sympy.I):
        raise ReadError("a number in it is a root of a negative number, which is not real")
    return value


def _factors(value: Any) -> list[Any]:
    """The matrices that a product without a number in it is made of."""
    return (
        list(value.args)
        if type(value) is sympy.MatMul
        and not any(not isinstance(f, MatrixExpr) for f in value.args)
        else [value]
    )


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


# ---- readings ------------------------------------------------------------------------------


def _names(tree: Tree) -> dict[str, None]:
    match tree:
        case Name(name):
            return {name: None}
        case Call(_, parts) | Apart(_, parts):
            return {name: None for part in parts for name in _names(part)}
    return {}


def _vectors(tree: Tree, sure: bool) -> set[str]:
    """Small letters that are transposed (sure), or stand beside one that is (not sure)."""
    found: set[str] = set()
    match tree:
        case Apart("T", (Name(name),)) if sure:
            found.add(name)
        case Apart("*", parts) if not sure:
            turned = [isinstance(p, Apart) and p.sign == "T" for p in parts]
            for k, part in enumerate(parts):
                if isinstance(part, Name) and any(turned[max(k - 1, 0) : k + 2]):
                    found.add(part.name)
    if isinstance(tree, Call | Apart):
        for part in tree.parts if isinstance(tree, Apart) else tree.args:
            found |= _vectors(part, sure)
    return found


def is_small(name: str) -> bool:
    """Whether a name may be a number or a vector: small letters but dA, and T, the temperature."""
    if name in SIZES or name in CONSTANTS:
        return False
    return name == "T" or (name[0].islower() and not name[1:2].isupper())


def _kinds(name: str, trees: list[Tree], alone: bool) -> tuple[str, ...]:
    """How a small letter may be meant, the likeliest first."""
    if name == "T":
        return "scalar", "matrix"
    turned = any(name in _vectors(tree, True) for tree in trees)
    token = name[0] in _TOKENS
    if turned or (token and not (alone and name[0] == "x")):
        return ("row", "column") if token else ("column", "row")
    if token:
        return "row", "column", "scalar"
    if any(name in _vectors(tree, False) for tree in trees):
        return "column", "row", "scalar"
    return "scalar", "column", "row"


def _reading_of(
    trees: list[list[Tree]],
    kinds: Mapping[str, str],
    given: Mapping[str, tuple[Any, ...]],
    strict: bool,
    loose: bool = False,
) -> tuple[_Reading, list[Shape]]:
    """A reading whose shapes fit. Raises `Unfit` otherwise."""
    reading = _Reading(kinds, given, strict, loose)
    shapes = [
        reading.together([reading.shape(tree) for tree in texts]) if texts else None
        for texts in trees
    ]
    reading.same_masks()
    letters = {name: None for texts in trees for tree in texts for name in _names(tree)}
    reading.name_sizes([name for name in letters if name in SIZES and name not in given])
    return reading, shapes


def readings(
    groups: Sequence[Sequence[str]],
    shapes: Mapping[str, Any] | None = None,
    positive: Sequence[str] = (),
) -> Iterator[Built]:
    """Every reading of some texts under which the shapes fit, the one that is meant first.

    The texts of one group have the same shape. Raises `ReadError` for a text that is no
    expression, `ShapeError` where there is no reading without a size of 1 that nobody wrote.
    """
    given = {name: _given(name, shape) for name, shape in (shapes or {}).items()}
    trees = [[read(text, given) for text in texts] for texts in groups]
    every = [tree for texts in trees for tree in texts]
    letters = {name: None for tree in every for name in _names(tree)}
    small = [name for name in letters if is_small(name) and name not in given]
    alone = all(name in SIZES or name in CONSTANTS or is_small(name) for name in letters)
    kinds_of = {name: _kinds(name, every, alone) for name in small}
    tokens = all(name[0] in _TOKENS for name in small)
    fitting: list[tuple[Any, _Reading, list[Shape]]] = []
    trouble = ""
    for strict in (True, False):
        for choice in islice(
            product(*(enumerate(kinds_of[name]) for name in small)), _MOST_READINGS
        ):
            kinds = {name: kind for name, (_, kind) in zip(small, choice, strict=True)}
            try:
                reading, sides = _reading_of(trees, kinds, given, strict)
            except Unfit as unfit:
                trouble = trouble or str(unfit)
                continue
            mixed = len({kind for kind in kinds.values() if kind != "scalar"}) > 1
            rank = (not strict, mixed, reading.outer if tokens else 0, sum(k for k, _ in choice))
            fitting.append((rank, reading, sides))
        if fitting:
            break
    if not fitting:
        raise _no_reading(groups, trees, kinds_of, given, trouble)
    for _, reading, sides in sorted(fitting, key=lambda one: one[0]):
        reading.positive = positive
        pairs = [
            [_built(reading, tree, shape, text) for tree, text in zip(parts, texts, strict=True)]
            for parts, texts, shape in zip(trees, groups, sides, strict=True)
        ]
        yield Built(
            tuple(tuple(value for value, _ in texts) for texts in pairs),
            reading.shapes_text(),
            tuple(tuple(needs for _, needs in texts) for texts in pairs),
        )


def _built(reading: _Reading, tree: Tree, shape: Shape, text: str) -> tuple[Any, Any]:
    """What a text means, with what has to be positive. Raises `ReadError` that quotes the text."""
    try:
        return reading.built(tree, shape)
    except ReadError as error:
        raise ReadError(f"{quote(text)}: {error}") from None


def _given(name: str, shape: Any) -> tuple[Any, ...]:
    """A shape that was given: two sizes, or nothing for a number."""
    if shape in NUMBER_WORDS or shape == ():
        return ()
    fits = isinstance(shape, tuple | list) and len(shape) == 2
    for size in shape if fits else ():
        if isinstance(size, sympy.Expr) and size.is_positive is not True:
            raise ShapeError(
                f"shapes: {name}: the size {size} is not known to be positive; make it "
                f'Symbol("{size}", integer=True, positive=True)'
            )
    if not fits or not all(_is_size(size) for size in shape):
        raise ShapeError(
            f'shapes: {name}: {quote(shape)} is no shape; give rows and columns, ("n", "d_k") or '
            '(2, 3), or "scalar"'
        )
    return tuple(shape)


def _is_size(size: Any) -> bool:
    if isinstance(size, bool):
        return False
    if isinstance(size, int):
        return size > 0
    if isinstance(size, str):
        return bool(size) and (
            size.isidentifier() or SQUARE in size or (size.isdigit() and int(size) > 0)
        )
    return isinstance(size, sympy.Expr) and size.is_positive is True


def _no_reading(
    groups: Sequence[Sequence[str]],
    trees: list[list[Tree]],
    kinds_of: Mapping[str, tuple[str, ...]],
    given: Mapping[str, Any],
    trouble: str,
) -> ShapeError:
    """Why no reading fits, and what to say."""
    text = " = ".join(next((texts for texts in groups if texts), ()))
    small = list(kinds_of)
    for choice in islice(product(*(kinds_of[name] for name in small)), _MOST_READINGS):
        kinds = dict(zip(small, choice, strict=True))
        try:
            reading, _ = _reading_of(trees, kinds, given, strict=True, loose=True)
        except Unfit:
            continue
        ones = ", ".join(
            f"{name} {shape}"
            for name, shape in reading.shapes_text()
            if name not in given and "1" in shape.split(" × ")
        )
        if not ones:
            break
        return ShapeError(
            f"{text}: the shapes fit only with sizes of 1 ({ones}); if that is meant, say so, as "
            f"in {ones.split()[0]}: (1, 1)"
        )
    letter = next(iter([*small, *(n for texts in trees for t in texts for n in _names(t))]), "A")
    return ShapeError(
        f"{text}: {trouble or 'the shapes do not fit'}; mend the formula, or give shapes such as "
        f'{letter}: ("n", "d")'
    )
