"""How a token's position enters a vector: sinusoids, rotations and their adjoint.

Positions count from 0 in every formula, as in the papers' code, whatever the index base: the row
that is written i is at position i − 1 where indices start at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.printer import Printer

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.reading import read_number
from symattn.errors import ShapeError, SymattnError, quote
from symattn.nodes import rule as r
from symattn.nodes.arguments import MOST, ArgumentKind, Extent, Flag, Matrix, Operand, Whole
from symattn.nodes.base import Definition, Node, check_shape, settings, shape_of
from symattn.nodes.lines import Filled
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: The letter that numbers pairs of columns, counted as the reader counts.
_PAIR = sympy.Symbol("t", integer=True)

#: A function that gives a rule when it is needed.
Made: TypeAlias = Callable[[], Rule]

#: A function that gives the cosine and the sine of a pair of columns.
Waves: TypeAlias = Callable[[sympy.Expr], tuple[Rule, Rule]]

#: The names of the ways to pair columns, by their number in ONNX (``interleaved``).
PAIRINGS = ("half", "interleaved")


class IndexNumber(sympy.Expr):  # type: ignore[misc]  # SymPy has no types
    """A number made of indices in an `Ordinal` or an index, and how it is written: i − 1, θ_t.

    Once the indices are known it is its value. The speller adds the index base to an index to
    count as the reader does. A number is not counted and drops that, unless it is `counted`.
    """

    is_commutative = True

    def __new__(cls, value: sympy.Expr, written: sympy.Expr, counted: int = 0) -> sympy.Expr:
        """The value itself where it is known."""
        if value.is_number:
            return value
        return super().__new__(cls, value, written, sympy.Integer(counted))

    def __add__(self, other: sympy.Expr) -> sympy.Expr:
        return self.args[1] + other if self.args[2] else self.args[1]

    def _eval_is_integer(self) -> bool | None:
        return self.args[0].is_integer  # type: ignore[no-any-return]

    def _sympystr(self, printer: Printer) -> str:
        return str(printer._print(self.args[0]))


class Placed(Node):
    """A node whose entries are made of the positions of row and column."""

    def _entry(self, i: Index, j: Index, **kwargs: object) -> sympy.Expr:
        return (
            super()
            ._entry(i, j, **kwargs)
            .replace(lambda part: isinstance(part, IndexNumber), lambda part: part.args[0])
        )


def number(value: object, written: sympy.Expr | None = None) -> Rule:
    """A number made of indices, written as its value unless something else is given."""
    expr = sympy.sympify(value, strict=True)
    found = IndexNumber(expr, expr if written is None else written)
    return r.Ordinal(found) if isinstance(found, IndexNumber) else r.Const(found)


def at_most(j: Index, most: sympy.Expr, value: Made, otherwise: Made) -> Rule:
    """`value` if j ≤ most, else `otherwise`; of two numbers, only the branch that holds."""
    left, right = (sympy.sympify(side, strict=True) for side in (j, most))
    if left.is_Integer and right.is_Integer:
        return value() if left <= right else otherwise()
    return r.Cases(r.Ordinal(left), "≤", r.Ordinal(right), value(), otherwise())


def _by_pair(column: sympy.Expr, entry: Callable[[bool], Rule]) -> Rule:
    """The rule of column j: `entry(True)` if j = 2t, `entry(False)` if j = 2t + 1, both from 0."""
    if column.is_Integer:
        return entry(bool(column % 2 == 0))
    even = r.Ordinal(IndexNumber(2 * sympy.floor(column / 2), 2 * _PAIR, counted=1))
    return r.Cases(r.Ordinal(column), "=", r.Plus((even,)), entry(True), entry(False))


def _pair_of(speller: Speller, column: Index, half: sympy.Expr | None = None) -> Definition:
    """Which pair a column is in: t = ⌈j/2⌉ of neighbours, (j − 1) mod (d/2) + 1 of halves."""
    if half is None:
        pair = speller.index(sympy.floor(sympy.sympify(column, strict=True) / 2))
    else:
        place, size = speller.rule(number(column)), t.inline(speller.scalar(half))
        left, right = (t.bracketed(side, t.ATOM) for side in (place, size))
        pair = t.row(left, t.Text(" mod "), right)
        pair = t.plus([pair, t.Num("1")]) if speller.notation.index_base else pair
    return Definition(t.equation(speller.scalar(_PAIR), (t.EQUALS, pair)))


def power_of(
    speller: Speller, base: object, factor: int, place: Tree, over: object, negative: bool = True
) -> Tree:
    """A power that falls (or grows) with the place: base^(−factor place / over)."""
    above = t.times([t.Num(str(factor)), place])
    exponent = t.inline(t.Frac(above, speller.scalar(sympy.sympify(over, strict=True))))
    base_tree = speller.scalar(sympy.sympify(base, strict=True))
    return t.power(base_tree, t.row(t.MINUS, exponent) if negative else exponent)


def _check_dims(dims: sympy.Expr, columns: sympy.Expr) -> None:
    """Refuse widths that do not divide into pairs, as soon as they are known."""
    odd = dims.is_Integer and (dims % 2 or dims < 2)
    if odd or (dims.is_Integer and columns.is_Integer and dims > columns):
        raise SymattnError(
            f"Rotary: {dims} of {columns} columns cannot form pairs; give an even number of "
            "them: dims = 2"
        )


@dataclass(frozen=True)
class Pairs:
    """Which columns turn, and with which other: so many from a first one on, in pairs.

    A pair is two neighbours (`interleaved`) or columns t and t + columns/2. The pairs turn by
    their angles, or back.
    """

    columns: sympy.Expr
    interleaved: bool
    first: sympy.Expr = sympy.S.Zero
    forwards: bool = True

    def turned(self, matrix: MatrixExpr, i: Index, j: Index, waves: Waves) -> Rule:
        """Entry (i, j) of the turned matrix; `waves` are the cosine and the sine of a pair."""
        half, stop = self.columns / 2, self.first + self.columns
        column = sympy.sympify(j, strict=True) - self.first
        away = sympy.S.One if self.interleaved else half

        def turned(first: bool) -> Rule:
            """What becomes of the first or of the second column of a pair."""
            ahead = column if first else column - half
            pair = sympy.floor(column / 2) if self.interleaved else ahead
            partner = r.index_of(j + away if first else j - away)
            cos, sin = waves(pair)
            along = r.Times((r.rule_of(matrix, i, j), cos))
            across = r.Times((r.rule_of(matrix, i, partner), sin))
            return r.Plus((along, r.minus(across) if first == self.forwards else across))

        def kept() -> Rule:
            return r.rule_of(matrix, i, j)

        def within(turning: Made) -> Rule:
            """What becomes of a column that turns; those before and behind stay."""
            if stop == shape_of(matrix)[1]:
                return turning()
            return at_most(j, stop - 1, turning, kept)

        if self.interleaved:
            whole = partial(within, lambda: _by_pair(column, turned))
        else:
            rest = partial(within, partial(turned, False))
            whole = partial(at_most, j, self.first + half - 1, partial(turned, True), rest)
        return whole() if self.first == 0 else at_most(j, self.first - 1, kept, whole)


class Base(ArgumentKind):
    """The base of the wavelengths: a positive number, a decimal being what it spells.

    It may be made of sizes, as where it grows with the length.
    """

    def read(self, value: object, owner: str) -> sympy.Basic:
        if isinstance(value, sympy.Expr) and value.free_symbols:  # it depends on sizes
            return value
        found = read_number(value, f"{owner}: base")
        if not found.is_positive or found.is_infinite:
            raise SymattnError(f"{owner}: base {quote(value)}: give a positive number")
        return found


class Pairing(ArgumentKind):
    """Which columns make a pair, by its name in `PAIRINGS` or its number there, which is kept."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        code = {"half": 0, "interleaved": 1, 0: 0, 1: 1}.get(value)
        if code is None:
            raise SymattnError(
                f'{owner}: pairing {quote(value)}: choose "interleaved" (columns 1 and 2) or '
                '"half" (column 1 and the first of the second half)'
            )
        return sympy.Integer(code)

    def called(self, value: sympy.Basic) -> sympy.Basic | str:
        return PAIRINGS[int(value)]


class Sinusoidal(Placed):
    """Sines and cosines: p_{i,2t} = sin(i / b^{2t/d}), p_{i,2t+1} = cos(i / b^{2t/d}).

    Indices and positions count from 0 in this formula; row 0 is at position `start`, which may be
    below 0 where positions are distances. With an odd number d of columns the last one is a sine.

    Shapes: n × d. Raises `SymattnError` if `base` is not positive or `start` no whole number.
    Source: Vaswani et al. 2017, section 3.5; its pos is our i, its i our t, its d_model our d.

    >>> Sinusoidal(2, 4).as_explicit()
    Matrix([
    [     0,      1,          0,          1],
    [sin(1), cos(1), sin(1/100), cos(1/100)]])
    """

    syntax = "sinusoidal(base=, start=)"
    source = "Vaswani et al. 2017, section 3.5"
    reason = "Each position has its own sines and cosines, of many wavelengths."

    rows, columns, base, start = Extent(), Extent(), Base(10000), Whole(0, least=-MOST)

    def _rule(self, i: Index, j: Index) -> Rule:
        column = sympy.sympify(j, strict=True)
        pair = sympy.floor(column / 2)
        angle = r.Over(number(i + self.start), number(self.base ** (2 * pair / self.columns)))
        angle_letter = r.Named("psi", (i, _PAIR), angle)
        return _by_pair(column, lambda first: r.Apply("sin" if first else "cos", angle_letter))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """ψ_it = (i − 1) / b^{2 (t − 1)/d}, with t the pair of column j."""
        position, place = number(i + self.start), speller.rule(number(_PAIR))
        below = power_of(speller, self.base, 2, place, self.columns, negative=False)
        angle = t.Frac(speller.rule(position), below)
        left = speller.rule(r.Named("psi", (i, _PAIR), position))
        yield _pair_of(speller, j)
        yield Definition(t.equation(left, (t.EQUALS, angle)))

    def _spell(self, speller: Speller) -> Tree:
        extra = settings(speller, self, "base", "start")
        sizes = map(speller.scalar, self.shape)
        return t.call(t.Ident("sinusoid", roman=True), *sizes, *extra)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, rows: Operand, columns: Operand, base: Operand, start: Operand
    ) -> Array:
        wide = arithmetic.wide
        positions = wide.numbers(arithmetic.rows(rows, start))
        angles = wide.divide(positions, wide.powers(base, 2, columns))
        waves = wide.apply("sin", angles)
        if columns != 1:  # then there are cosines, too
            cosines = wide.apply("cos", wide.part(angles, 0, sympy.floor(columns / 2), -1))
            waves = wide.interleave(waves, cosines)
        return arithmetic.narrowed(waves)


class Rotary(Placed):
    """Rotary positions: each pair of columns turned by the angle (position · θ_t).

    For the pair (x, x′) of columns number t in the row at position p:
    (x cos pθ_t − x′ sin pθ_t, x′ cos pθ_t + x sin pθ_t), θ_t = base^{−2t/dims}, with t and p from
    0; row 0 is at position `start`. A pair is two neighbours (``interleaved``) or columns t and
    t + dims/2 (``half``). Columns from `dims` on stay as they are (all turn if it is None).

    Shapes: n × d in and out. Raises `SymattnError` if `dims` is odd, below 2 or more than the
    columns, `base` is not positive, `start` is no whole number, or the pairing is unknown.
    Source: Su et al., *RoFormer* (2021), section 3.2.2 and equation 34, which counts pairs and
    positions from 1 and 0: its θ_i = 10000^{−2(i−1)/d}. Half-split: Black et al., *GPT-NeoX-20B*
    (2022), and ONNX, operator RotaryEmbedding with ``interleaved = 0``; part of the columns:
    GPT-NeoX-20B, which turns a quarter.

    >>> print(Rotary(sympy.Matrix([[1, 0], [1, 0]])).doit())
    Matrix([[1, 0], [cos(1), sin(1)]])
    """

    syntax = "rotary(matrix, base=, dims=, pairing=, start=)"
    source = "Su et al. 2021, section 3.2.2"
    reason = (
        "Rotating each pair of columns by an angle proportional to the position makes a score "
        "depend on positions only through their difference."
    )
    adjoint_because = "Each row of the gradient is rotated back by the angle of its position."
    forwards: ClassVar[bool] = True  # or back: see `RotaryBack`

    matrix, base = Matrix(), Base(10000)
    dims = Whole(otherwise=lambda matrix, base: shape_of(matrix)[1])
    pairing, start = Pairing("interleaved"), Whole(0)

    def _check(self) -> None:
        _check_dims(self.dims, shape_of(self.matrix)[1])

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, base, dims, interleaved, start = self.args

        def waves(pair: sympy.Expr) -> tuple[Rule, Rule]:
            value = r.Times((number(i + start), number(base ** (-2 * pair / dims))))
            angle = r.Named("psi", (i, _PAIR), value)
            return r.Apply("cos", angle), r.Apply("sin", angle)

        pairs = Pairs(dims, bool(interleaved), forwards=self.forwards)
        return pairs.turned(matrix, i, j, waves)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """ψ_it = (i − 1) θ_t and θ_t = b^{−2 (t − 1)/dims}, with t the pair of column j."""
        _, base, dims, interleaved, start = self.args
        theta = r.Named("theta", (_PAIR,), number(base ** (-2 * _PAIR / dims)))
        angle = r.Times((number(i + start), theta))
        power = power_of(speller, base, 2, speller.rule(number(_PAIR)), dims)
        yield _pair_of(speller, j, None if interleaved else dims / 2)
        for letter, right in (
            (r.Named("psi", (i, _PAIR), angle), speller.rule(angle)),
            (theta, power),
        ):
            family = (theta, _PAIR, dims / 2) if letter is theta else None
            yield Definition(t.equation(speller.rule(letter), (t.EQUALS, right)), family)

    def _spell(self, speller: Speller) -> Tree:
        extra = settings(speller, self, "base", "dims", "start")
        name: Tree = t.Ident("rope", roman=True)
        name = name if self.pairing else t.Script(name, t.Ident("half", roman=True))
        name = name if self.forwards else speller.notation.transposed(name)
        return t.call(name, speller.matrix(self.matrix), *extra)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return (RotaryBack if self.forwards else Rotary)(upstream, *self.args[1:])

    @classmethod
    def _compute(
        cls,
        arithmetic: Arithmetic,
        matrix: Array,
        base: Operand,
        dims: Operand,
        interleaved: Operand,
        start: Operand,
    ) -> Array:
        _check_dims(dims, sympy.sympify(matrix.shape[-1], strict=True))
        wide = arithmetic.wide
        positions = wide.numbers(arithmetic.rows(matrix.shape[-2], start))
        angles = wide.multiply(positions, wide.powers(base, -2, dims))
        cos, sin = (arithmetic.narrowed(wide.apply(name, angles)) for name in ("cos", "sin"))
        sin = sin if cls.forwards else arithmetic.negative(sin)
        return rotated(arithmetic, matrix, cos, sin, PAIRINGS[int(interleaved)])


class Frequencies(Node):
    """The angles by which the pairs turn from one position to the next: θ_t = base^{−2t/dims}.

    The pairs count from 0 in this formula.

    Shapes: 1 × dims/2. Raises `SymattnError` if `dims` is odd or below 2, or `base` not positive.
    Source: Su et al., *RoFormer* (2021), section 3.2.2, whose d is our dims.

    >>> print(Frequencies(4).doit())
    Matrix([[1, 1/100]])
    """

    syntax = "frequencies(dims, base)"
    source = "Su et al. 2021, section 3.2.2"
    reason = "The first pairs turn fast and the last ones slowly."
    transposes = False

    dims, base = Whole(), Base(10000)

    def _check(self) -> None:
        _check_dims(self.dims, self.dims)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A row with a number for each pair."""
        return sympy.S.One, self.dims / 2

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Power(r.Const(self.base), -2 * sympy.sympify(j, strict=True) / self.dims)

    def _spell(self, speller: Speller) -> Tree:
        place = speller.rule(number(sympy.Symbol("j", integer=True)))
        return t.Fenced(power_of(speller, self.base, 2, place, self.dims), "[", "]")

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, dims: Operand, base: Operand) -> Array:
        powers = arithmetic.wide.powers(base, -2, dims)
        return arithmetic.narrowed(arithmetic.wide.expand(powers, -2))


class Turned(Node):
    """Pairs of columns turned by angles, of which the cosines and the sines are given.

    For the pair (x, x′) of columns number t in row i: (x c_it − x′ s_it, x′ c_it + x s_it). A pair
    is two neighbours (``interleaved``) or columns t and t + r (``half``); the columns that turn
    are 2r from `first` on, which counts from 0, and the others stay as they are. With c = cos ψ
    and s = sin ψ each pair is rotated by its angle.

    Shapes: `matrix` n × d, `cos` and `sin` n × r with 2r ≤ d. Raises `ShapeError` if they are not
    that, `SymattnError` if the pairing is unknown.
    Source: ONNX, operator RotaryEmbedding; Su et al., *RoFormer* (2021), equation 34.

    >>> x, c, s = (sympy.Matrix([row]) for row in ([1, 2, 5], [0], [1]))
    >>> print(Turned(x, c, s).doit())
    Matrix([[-2, 1, 5]])
    """

    syntax = "turned(matrix, cos, sin, pairing=, first=)"
    source = "Su et al. 2021, equation 34"
    reason = "Each pair of columns is rotated by the angle of its row."
    adjoint_because = "Each pair of the gradient is rotated back."
    adjoint_reasons: ClassVar[Mapping[int, str]] = {
        1: "A cosine multiplies both columns of its pair, so what it is in them is added.",
        2: "A sine multiplies both columns of its pair, so what it is in them is added.",
    }

    matrix, cos, sin = Matrix(), Matrix(), Matrix()
    pairing, first = Pairing("interleaved"), Whole(0)

    def _check(self) -> None:
        rows, columns = shape_of(self.matrix)
        number, pairs = shape_of(self.cos)
        check_shape(self, "the sines have", self.sin, number, pairs)
        if (rows - number) != 0 or (columns - self.first - 2 * pairs).is_negative:
            raise ShapeError(
                f"Turned: {number} × {pairs} cosines cannot turn {2 * pairs} of the columns of "
                f"{rows} × {columns}"
            )

    @property
    def _pairs(self) -> Pairs:
        return Pairs(2 * shape_of(self.cos)[1], bool(self.pairing), self.first)

    def _rule(self, i: Index, j: Index) -> Rule:
        sign, sin = self.sin.as_coeff_mmul()
        forwards = sign != -1
        sin = self.sin if forwards else sin

        def waves(pair: sympy.Expr) -> tuple[Rule, Rule]:
            place = r.index_of(IndexNumber(pair, _PAIR, counted=1))
            return r.rule_of(self.cos, i, place), r.rule_of(sin, i, place)

        return replace(self._pairs, forwards=forwards).turned(self.matrix, i, j, waves)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """Which pair t column j is in."""
        column = sympy.sympify(j, strict=True) - self.first
        yield _pair_of(speller, column, None if self.pairing else shape_of(self.cos)[1])

    def _spell(self, speller: Speller) -> Tree:
        name: Tree = t.Ident("turn", roman=True)
        name = name if self.pairing else t.Script(name, t.Ident("half", roman=True))
        extra = settings(speller, self, "first")
        return t.call(name, *map(speller.matrix, (self.matrix, self.cos, self.sin)), *extra)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return Turned(upstream, self.cos, sympy.MatMul(-1, self.sin), *self.args[3:])
        pairs = shape_of(self.cos)[1]
        return PairDot(self.matrix, upstream, pairs, place == 2, *self.args[3:])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        matrix, cos, sin, interleaved, first = args
        return rotated(arithmetic, matrix, cos, sin, PAIRINGS[int(interleaved)], first)


class PairDot(Node):
    """The dot product of each pair of columns of two matrices: p_it = x u + x′ u′.

    Here (x, x′) is pair t of columns in row i of the one, (u, u′) of the other. `crossed`, it is
    x u′ − x′ u. The pairs are those of `Turned`, whose gradients these are.

    Shapes: both n × d give n × `pairs`. Raises `ShapeError` if they differ.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2.

    >>> print(PairDot(sympy.Matrix([[1, 2]]), sympy.Matrix([[3, 4]]), 1).doit())
    Matrix([[11]])
    """

    one, other, pairs = Matrix(), Matrix(), Whole(least=1)
    crossed, pairing, first = Flag(False), Pairing("interleaved"), Whole(0)
    source = "Griewank and Walther 2008, section 3.2"
    adjoint_because = "The gradient of each factor is the product's gradient times the other."

    def _check(self) -> None:
        check_shape(self, "both matrices have", self.other, *shape_of(self.one))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A number for each pair."""
        return shape_of(self.one)[0], self.pairs

    def _rule(self, i: Index, j: Index) -> Rule:
        pair = sympy.sympify(j, strict=True)
        here = self.first + (2 * pair if self.pairing else pair)
        both = r.index_of(here), r.index_of(here + (1 if self.pairing else self.pairs))
        across = both[::-1] if self.crossed else both
        first, second = (
            r.Times((r.rule_of(self.one, i, a), r.rule_of(self.other, i, b)))
            for a, b in zip(both, across, strict=True)
        )
        return r.Plus((first, r.minus(second) if self.crossed else second))

    def _spell(self, speller: Speller) -> Tree:
        name: Tree = t.Ident("cross" if self.crossed else "pairs", roman=True)
        name = name if self.pairing else t.Script(name, t.Ident("half", roman=True))
        extra = settings(speller, self, "first")
        return t.call(name, speller.matrix(self.one), speller.matrix(self.other), *extra)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, how = (self.other, self.one)[place], self.args[4:]
        zero = Filled(*shape_of(upstream), 0)
        back = upstream if place else sympy.MatMul(-1, upstream)
        both = (zero, back) if self.crossed else (upstream, zero)
        if shape_of(matrix)[1] == 2 * self.pairs:
            return Turned(matrix, *both, *how)
        return sympy.MatAdd(
            Turned(matrix, *both, *how), sympy.MatMul(-1, Turned(matrix, zero, zero, *how))
        )

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        one, other, pairs, crossed, interleaved, first = args
        step, away = (2, sympy.S.One) if interleaved else (1, pairs)

        def columns(matrix: Array, start: sympy.Expr) -> Array:
            return arithmetic.part(matrix, start, pairs, -1, step)

        x, u, y, v = (columns(m, k) for k in (first, first + away) for m in (one, other))
        if crossed:
            return arithmetic.subtract(arithmetic.multiply(x, v), arithmetic.multiply(y, u))
        return arithmetic.add(arithmetic.multiply(x, u), arithmetic.multiply(y, v))


def rotated(
    arithmetic: Arithmetic,
    x: Array,
    cos: Array,
    sin: Array,
    pairing: str,
    first: sympy.Expr = sympy.S.Zero,
) -> Array:
    """Pairs of columns turned by angles of which the cosines and sines are given.

    Shapes: x (…, n, d), cos and sin (…, n, r/2) with r ≤ d; the columns before the `first` and
    from r behind it on stay. This is ONNX's operator RotaryEmbedding, with its caches at hand.
    """
    turn = rotate_pairs if pairing == "interleaved" else rotate_half
    turning, width = 2 * cos.shape[-1], x.shape[-1]
    if turning == width:
        return arithmetic.call(turn, x, cos, sin)
    turned = arithmetic.call(turn, arithmetic.part(x, first, turning, -1), cos, sin)
    ends = ((0, first), (first + turning, width - first - turning))
    before, behind = (
        [arithmetic.part(x, start, count, -1)] if count != 0 else [] for start, count in ends
    )
    return arithmetic.join([*before, turned, *behind], axis=-1)


def rotate_half(arithmetic: Arithmetic, x: Array, cos: Array, sin: Array) -> Array:
    """Columns t and t + d/2 turned by the angle of t."""
    half = cos.shape[-1]
    first, second = (arithmetic.part(x, start, half, -1) for start in (0, half))
    return arithmetic.join(_turned(arithmetic, first, second, cos, sin), axis=-1)


def rotate_pairs(arithmetic: Arithmetic, x: Array, cos: Array, sin: Array) -> Array:
    """Neighbouring columns 2t and 2t + 1 turned by the angle of t."""
    first, second = (arithmetic.part(x, start, cos.shape[-1], -1, 2) for start in (0, 1))
    return arithmetic.interleave(*_turned(arithmetic, first, second, cos, sin))


def _turned(
    arithmetic: Arithmetic, first: Array, second: Array, cos: Array, sin: Array
) -> tuple[Array, Array]:
    """Both columns of pairs turned: x cos − x′ sin and x′ cos + x sin."""
    multiply = arithmetic.multiply
    return (
        arithmetic.add(multiply(first, cos), multiply(second, arithmetic.negative(sin))),
        arithmetic.add(multiply(second, cos), multiply(first, sin)),
    )


class RotaryBack(Rotary):
    """The inverse of `Rotary`: each pair of columns turned by −pθ_t, R(pθ_t)ᵀ x.

    A rotation R is orthogonal, so that its inverse is its transpose, the adjoint of `Rotary`.

    Shapes: n × d in and out. Raises as `Rotary` does. Source: Su et al. 2021, section 3.2.2.

    >>> print(RotaryBack(sympy.Matrix([[1, 0], [1, 0]])).doit())
    Matrix([[1, 0], [cos(1), -sin(1)]])
    """

    syntax = ""
    forwards: ClassVar[bool] = False
