"""What is assumed: letters that are defined, equations that are solved, orthogonal matrices.

The inputs of a statement become elements of the exact field such that the hypotheses hold: a
letter that is defined is computed; an orthogonal matrix is (I − S)(I + S)⁻¹ with a skew S (Cayley
1846) and a sign, which misses only a set of lower dimension; of any other equation one entry is
solved for. From these, numbers that satisfy the hypotheses are made too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.comparison import Joint
from symattn.algebra.counterexample import Letter, Meaning, Side, Sizes, broadcast, candidates
from symattn.algebra.field import (
    Again,
    Element,
    Empty,
    Known,
    NeedSign,
    TooHard,
    Undefined,
    never_zero,
)
from symattn.algebra.field_arithmetic import Entries
from symattn.algebra.functions import Functions
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Array, Ground, filled
from symattn.arithmetic.enclosure import precision
from symattn.errors import SymattnError
from symattn.nodes.base import shape_of


@dataclass(frozen=True)
class Statement:
    """Two sides and what is assumed: equations, and names whose entries are positive."""

    left: Side
    right: Side
    where: tuple[tuple[Side, Side], ...] = ()
    positive: frozenset[str] = frozenset()
    permutations: frozenset[str] = frozenset()
    #: All expressions that are said to be equal, the sides first and last.
    chain: tuple[Meaning, ...] = ()
    #: How each letter was read: its shape, or that it is a number.
    reading: tuple[tuple[str, str], ...] = ()
    #: Whether it was read in a way that is as likely as the first.
    rival: bool = False
    #: Which permutation a letter is taken to be, by the order of its rows.
    orders: tuple[tuple[str, tuple[int, ...]], ...] = ()
    #: The letters whose shapes were given, and the statement before numbers were put in.
    declared: frozenset[str] = frozenset()
    origin: Statement | None = None
    #: Of two derivations, what is said of their inputs.
    joint: Joint | None = None

    def between(self, left: Side, right: Side) -> Statement:
        """The statement about two expressions under the same hypotheses."""
        origin = None if self.origin is None else self.origin.between(left, right)
        return replace(self, left=left, right=right, origin=origin)

    @property
    def all_sides(self) -> tuple[Side, ...]:
        """Both sides, and those of the hypotheses."""
        return (self.left, self.right, *(side for pair in self.where for side in pair))

    def letters(self) -> dict[str, Letter]:
        """All matrices that occur."""
        out: dict[str, Letter] = {}
        for side in self.all_sides:
            for name, letter in side.letters().items():
                if name in out and out[name].shape != letter.shape:
                    raise SymattnError(
                        f"{name}: is {_dims(out[name])} in one place and {_dims(letter)} in another"
                    )
                if name in out and out[name].count != letter.count:
                    raise SymattnError(
                        f"{name}: is one for each head in one place and shared in another; "
                        "these are different inputs"
                    )
                if name in out and out[name].heads != letter.heads:
                    one, other = (str(has.heads or has.count) for has in (out[name], letter))
                    raise SymattnError(
                        f"{name}: is one for each of {one} heads in one place and of {other} "
                        "in another; these are different inputs"
                    )
                boolean = letter.boolean or (name in out and out[name].boolean)
                out[name] = replace(letter, boolean=boolean)
        return out


def inputs(statement: Statement, entries: Entries, sizes: Sizes) -> dict[str, Array]:
    """Every matrix that is given, its entries elements of the field, as the hypotheses allow."""
    out: dict[str, Array] = {}
    orders = dict(statement.orders)
    for name, letter in statement.letters().items():
        if name in orders:
            order = orders[name]
            cells = [entries.ring.number(int(j == k)) for k in order for j in range(len(order))]
            out[name] = filled((len(order), len(order)), cells)
            continue
        dims, sure = letter.dims(sizes), name in statement.positive
        cells = [entries.symbol(cell_name(name, place), sure) for place in np.ndindex(*dims)]
        if letter.boolean:
            signs = (entries.functions.sign(cell) for cell in cells)
            cells = [entries.ring.number(int(sign > 0)) for sign in signs]
        out[name] = filled(dims, cells)
    for one, two in statement.where:
        _assume(one, two, out, entries, sizes)
    return out


def cell_name(name: str, place: tuple[int, ...]) -> str:
    """An entry's name: Q[1,2]."""
    return f"{name}[{','.join(str(k + 1) for k in place)}]"


def _assume(one: Side, two: Side, given: dict[str, Array], entries: Entries, sizes: Sizes) -> None:
    """A hypothesis put in."""
    defined = definition(one.meaning, two.meaning)
    if defined is not None:
        name, meaning = defined
        value = Side(meaning).value(given, entries, sizes)
        given[name] = np.broadcast_to(value, given[name].shape)
        return
    turned = orthogonal(one.meaning, two.meaning)
    if turned is not None:
        symbol, columns = turned
        shape = given[symbol.name].shape
        square = _rotation(symbol.name, max(shape), entries)
        given[symbol.name] = square[: shape[0], : shape[1]]
        if (shape[0] < shape[1]) is columns and shape[0] != shape[1]:
            lines = (
                f"{shape[0]} × {shape[1]} cannot have orthonormal "
                f"{'columns' if columns else 'rows'}"
            )
            raise Undefined(f"{symbol.name}: a matrix of {lines}")
        return
    left, right = broadcast(*(side.value(given, entries, sizes) for side in (one, two)))
    for place in np.ndindex(*left.shape):
        found = _solution(left.item(*place), right.item(*place), entries)
        if found is not None:
            for array in (left, right, *given.values()):
                _substitute(array, *found)


def _substitute(array: Array, place: int, value: Element) -> None:
    if not array.flags.writeable:
        return
    for index in np.ndindex(*array.shape):
        array[index] = array.item(*index).substitute(place, value)


def _rotation(name: str, size: int, entries: Entries) -> Array:
    """A generic orthogonal matrix, of either determinant."""
    ring = entries.ring
    skew = filled((size, size), [ring.number(0)] * (size * size))
    for i in range(size):
        for j in range(i):
            skew[i, j] = entries.symbol(cell_name(f"skew {name}", (i, j)))
            skew[j, i] = -skew[i, j]
    unit = filled(
        (size, size), [ring.number(int(i == j)) for i in range(size) for j in range(size)]
    )
    turned = entries.matmul(entries.add(unit, -skew), entries.inverse(entries.add(unit, skew)))
    sign = entries.functions.sign(entries.symbol(f"det {name}"))
    turned[:, 0] = [entry * sign for entry in turned[:, 0]]
    return turned


def _solution(a: Element, b: Element, entries: Entries) -> tuple[int, Element] | None:
    """An entry and what it has to be for a = b: one that occurs to a single power.

    Its coefficient has no zeros, so that all solutions are found.
    """
    num, _ = (a - b).parts()
    ring = entries.ring
    if num.is_zero():
        return None
    if num.is_constant():
        raise Undefined("the hypotheses contradict one another")
    for place in reversed(range(len(ring.generators))):
        if ring.generators[place].kind != "input":
            continue
        parts = ring.by_powers(num, place)
        power = max(parts)
        if set(parts) != {0, power} or power not in (1, 2):
            continue
        if never_zero(ring, parts[power]):  # else the branch where it is 0 would be lost
            value = -ring.of(parts[0]) / ring.of(parts[power])
            if power == 1:
                return place, value
            sign = entries.functions.sign(ring.element(place))
            return place, entries.functions.root(value) * sign
    raise TooHard("a hypothesis of which not all solutions are known")


# ---- numbers -------------------------------------------------------------------------------


def examples(
    statement: Statement, sizes: dict[sympy.Symbol, int]
) -> Iterator[tuple[dict[sympy.Symbol, sympy.Expr], dict[str, Array]]]:
    """Numbers for the scalars and for the matrices that satisfy the hypotheses."""
    scalars = sorted(
        {s for side in statement.all_sides for s in side.scalars() if s not in sizes}, key=str
    )
    for given, entries in _worlds(statement, sizes):
        ring = entries.ring
        cells = [entry for array in given.values() for entry in array.ravel()]
        free = sorted({k for entry in cells for k in _inputs_of(entry)})
        names = [ring.generators[k].name for k in free]
        sure = [ring.generators[k].positive for k in free] + [
            s.is_positive is True for s in scalars
        ]
        for numbers in candidates(sure):
            values = dict(zip(free, numbers, strict=False))
            values_of_scalars = {**sizes, **dict(zip(scalars, numbers[len(free) :], strict=True))}
            by_name = {s.name: number for s, number in values_of_scalars.items()}
            values.update(
                {k: by_name[name] for k, name in zip(free, names, strict=True) if name in by_name}
            )
            try:
                arrays = {
                    name: filled(array.shape, [_number(x, values) for x in array.ravel()])
                    for name, array in given.items()
                }
            except (ZeroDivisionError, SymattnError):
                continue
            if all(_holds(pair, arrays, values_of_scalars) for pair in statement.where):
                yield values_of_scalars, arrays


def _worlds(statement: Statement, sizes: Sizes) -> Iterator[tuple[dict[str, Array], Entries]]:
    """The inputs under every choice of signs that the hypotheses leave open."""
    waiting, tried = [Known()], 0
    while waiting and tried < 64:
        known, tried = waiting.pop(), tried + 1
        entries = Entries(Functions(known), statement.positive)
        try:
            yield inputs(statement, entries, sizes), entries
        except Again:
            waiting.append(known)
        except NeedSign as need:
            waiting += [known.assuming(need.key, -1), known.assuming(need.key, 1)]
        except Empty:
            continue
        except (TooHard, Undefined):
            return


def _inputs_of(entry: Element) -> set[int]:
    """The inputs that an element is made of, through its roots and exponentials."""
    found = set()
    for place in entry.places():
        generator = entry.ring.generators[place]
        found |= {place} if generator.kind == "input" else _inputs_of(generator.of)
    return found


def _number(entry: Element, values: dict[int, Ground]) -> Ground:
    """An element's exact value, inputs having these."""

    def one(value: Ground) -> Ground:
        return sympy.Rational(value.numerator, value.denominator)

    def at(place: int) -> Ground:
        generator = entry.ring.generators[place]
        match generator.kind:
            case "input":
                return values[place]
            case "root":
                base = _number(generator.of, values)
                if base.is_negative:
                    raise Undefined("the root of a negative number")
                return sympy.root(base, generator.order)
            case "exp":
                scale = sympy.Rational(generator.scale.numerator, generator.scale.denominator)
                return sympy.exp(scale * _number(generator.of, values))
            case "log":
                return sympy.log(_number(generator.of, values))
        raise TooHard("an angle in a hypothesis")

    out = entry.at(at, one)
    if out.has(sympy.zoo, sympy.nan):
        raise Undefined("division by 0")
    return out


def _holds(pair: tuple[Side, Side], given: dict[str, Array], scalars: Sizes) -> bool:
    """Whether a hypothesis holds for these numbers, as far as 128 bits tell."""
    with precision(128), np.errstate(all="ignore"):
        arrays = {name: BALLS.array(array) for name, array in given.items()}
        try:
            one, two = broadcast(*(side.value(arrays, BALLS, scalars) for side in pair))
        except (SymattnError, ZeroDivisionError):
            return False
        return all(a.overlaps(b) for a, b in zip(one.ravel(), two.ravel(), strict=True))


def _dims(letter: Letter) -> str:
    return " × ".join(map(str, letter.shape))


# ---- what an equation says ---------------------------------------------------------------------


def same_shape(one: Meaning, two: Meaning) -> bool:
    """Whether both are matrices of one shape."""
    if not isinstance(one, MatrixExpr) or not isinstance(two, MatrixExpr | sympy.MatrixBase):
        return False
    pairs = zip(shape_of(one), shape_of(two), strict=True)
    return all(sympy.expand(a - b) == 0 for a, b in pairs)


def definition(one: Meaning, two: Meaning) -> tuple[str, MatrixExpr] | None:
    """The letter that an equation defines and what it is: K1 = K, and A = Aᵀ.

    A symmetric matrix is ½ (B + Bᵀ) with any B, for which the letter itself serves. A number that
    is repeated to fill a matrix defines nothing here.
    """
    if not same_shape(one, two):
        return None
    if isinstance(two, sympy.MatrixSymbol) and not isinstance(one, sympy.MatrixSymbol):
        one, two = two, one
    if isinstance(one, sympy.Transpose) and isinstance(two, MatrixExpr):
        one, two = one.arg, _turned(two)
    if not isinstance(one, sympy.MatrixSymbol):
        return None
    turned = {sympy.Transpose(one): 1, sympy.MatMul(-1, sympy.Transpose(one)): -1}
    if two in turned and one.shape[0] == one.shape[1]:
        mirrored = sympy.MatMul(turned[two], sympy.Transpose(one))
        return one.name, sympy.MatMul(sympy.S.Half, sympy.MatAdd(one, mirrored))
    letters = {s.name for s in two.atoms(sympy.MatrixSymbol)} if hasattr(two, "atoms") else set()
    return None if one.name in letters else (one.name, two)


def definitions(
    where: Sequence[tuple[Side, Side]],
) -> tuple[dict[str, MatrixExpr], dict[str, int], list[tuple[Meaning, Meaning]]]:
    """The letters that hypotheses define, those that are (skew-)symmetric, and all other equations.

    A letter is defined once, and not by itself, also on a detour; signs are 1 for A = Aᵀ and −1
    for A = −Aᵀ.
    """
    means: dict[str, MatrixExpr] = {}
    mirrored: dict[str, int] = {}
    others: list[tuple[Meaning, Meaning]] = []
    for one, two in ((one.meaning, two.meaning) for one, two in where):
        found = definition(one, two)
        if found is None or found[0] in {**means, **mirrored}:
            others.append((one, two))
            continue
        name, meaning = found
        used = {s.name for s in meaning.atoms(sympy.MatrixSymbol)}
        if name in used and meaning.func is sympy.MatMul and len(used) == 1:
            mirrored[name] = -1 if meaning.has(sympy.S.NegativeOne) else 1
            continue
        reached = set(used)
        while (
            more := {
                s.name
                for known in reached & set(means)
                for s in means[known].atoms(sympy.MatrixSymbol)
            }
            - reached
        ):
            reached |= more
        if name in reached:
            others.append((one, two))
        else:
            means[name] = meaning
    return means, mirrored, others


def _turned(expr: MatrixExpr) -> MatrixExpr:
    """The transpose of ± a letter; any other expression stands under the sign."""
    number, factors = expr.as_coeff_matrices() if isinstance(expr, sympy.MatMul) else (1, [expr])
    if number == -1 and len(factors) == 1:
        return sympy.MatMul(-1, sympy.Transpose(factors[0]))
    return sympy.Transpose(expr)


def orthogonal(one: Meaning, two: Meaning) -> tuple[sympy.MatrixSymbol, bool] | None:
    """The letter R of Rᵀ R = I (True) or R Rᵀ = I (False)."""
    if not isinstance(two, sympy.Identity) or not isinstance(one, sympy.MatMul):
        return None
    coefficient, factors = one.as_coeff_matrices()
    if len(factors) != 2 or coefficient != 1:
        return None
    a, b = factors
    if isinstance(a, sympy.Transpose) and a.arg == b and isinstance(b, sympy.MatrixSymbol):
        return b, True
    if isinstance(b, sympy.Transpose) and b.arg == a and isinstance(a, sympy.MatrixSymbol):
        return a, False
    return None
