"""A proof with numbers put in: every line for one entry, and what both sides come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import sympy
from flint import arb

from symattn.algebra.counterexample import Side
from symattn.algebra.hypotheses import Statement
from symattn.algebra.identities.proofs import Proof
from symattn.algebra.proof_lines import Lines
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Array
from symattn.arithmetic.decide import decide
from symattn.arithmetic.enclosure import precision
from symattn.arithmetic.quantity import Quantity
from symattn.arithmetic.written import read_written
from symattn.documents import blocks as b
from symattn.errors import CannotSpell, ReadError, SymattnError, nearest
from symattn.nodes import rule as r
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.tree import Tree

#: Entries that are tried in turn for letters that no file gives.
_PATTERNS = ((1, 0, 0, 1, 2, 1, 1, 0, 2), (1, -1, 1, 1, -1), (1, 0, 0), (0,))
_SIZE, _MOST_CELLS = 2, 64

Arrays = dict[str, Array]
Scalars = dict[sympy.Symbol, sympy.Expr]


def numbers_put_in(proof: Proof, given: Mapping[str, object] | None = None) -> Iterator[b.Block]:
    """Blocks of a proof with these numbers, or with small ones.

    Raises `SymattnError` for letters that are missing, and where an assumed equation does not hold.
    """
    statement = next(proof.identity.statements())
    arrays, scalars = _given(statement, given) if given is not None else _small(statement)
    speller = Speller()
    listed = [
        t.equation(speller.notation.letter(name), (t.EQUALS, _grid(value)))
        for name, value in arrays.items()
    ]
    listed += [
        t.equation(speller.scalar(name), (t.EQUALS, speller.scalar(value)))
        for name, value in scalars.items()
        if not name.is_integer
    ]
    yield b.Break()
    if listed:
        yield b.Worked("With numbers put in:", t.commas(listed))
    values = _values(statement.left, arrays, scalars)
    exposition = proof.equality.exposition
    for chain in exposition.chains[:1] if exposition else ():
        yield from _chain(chain, values, arrays, scalars)
    yield b.Worked("Both sides are", _decimals(values))


def _chain(chain: Lines, values: Array, arrays: Arrays, scalars: Scalars) -> Iterator[b.Block]:
    """The lines of a chain for its first entry; nothing where a line cannot be written out."""
    first = {sympy.Symbol(letter, integer=True): 0 for letter in "ij"}
    sizes = {name: value for name, value in scalars.items() if name.is_integer}
    trees = []
    for line in chain.lines:
        if line.value is None or not chain.entry:
            continue
        try:
            rule = r.at(line.value, first, sizes)
            trees.append((Speller().rule(rule, _leaf(arrays, scalars)), line.reason))
        except (CannotSpell, TypeError, ValueError, IndexError):
            return
    if not trees:
        return
    (start, _), *rest = trees
    yield b.Paragraph(("The lines for entry (1, 1):",))
    yield b.Chain(start, (*rest, (_decimal(values[0, 0]), ("rounded",))))


def _leaf(arrays: Arrays, scalars: Scalars) -> Callable[[r.Rule], Tree | None]:
    """Numbers in place of entries and letters."""
    by_name = {symbol.name: value for symbol, value in scalars.items()}

    def leaf(rule: r.Rule) -> Tree | None:
        match rule:
            case r.Entry(matrix, i, j):
                if getattr(matrix, "name", None) not in arrays:
                    raise CannotSpell("an entry of what is not given")
                return Speller().scalar(arrays[matrix.name][i, j])
            case r.Const(value) if value.free_symbols:
                numbers = {s: by_name[s.name] for s in value.free_symbols if s.name in by_name}
                return Speller().scalar(value.xreplace(numbers))
        return None

    return leaf


def _values(side: Side, arrays: Arrays, scalars: Scalars) -> Array:
    """The value of a side in balls."""
    with precision(200), np.errstate(all="ignore"):
        return side.value({name: BALLS.array(v) for name, v in arrays.items()}, BALLS, scalars)


def _decimal(ball: arb) -> Tree:
    return number(decide(Quantity(lambda _: ball, lambda: None), 4).text)


def _decimals(values: Array) -> Tree:
    rows = tuple(tuple(map(_decimal, row)) for row in values)
    return rows[0][0] if values.shape == (1, 1) else t.Fenced(t.Grid(rows), "[", "]")


def _grid(value: Array) -> Tree:
    rows = tuple(tuple(map(Speller().scalar, row)) for row in value)
    return t.Fenced(t.Grid(rows), "[", "]")


# ---- which numbers ---------------------------------------------------------------------------


def _small(statement: Statement) -> tuple[Arrays, Scalars]:
    """Small numbers for which all that is assumed holds."""
    for pattern in _PATTERNS:
        arrays, scalars = _from(statement, pattern)
        if not any(statement.broken(arrays, scalars)):
            return arrays, scalars
    raise SymattnError(
        "--with small: no small numbers were found that satisfy all assumptions; give some "
        "in a file"
    )


def _from(statement: Statement, pattern: tuple[int, ...]) -> tuple[Arrays, Scalars]:
    """Numbers of a pattern; what an assumed equation defines follows from the others."""
    entries = cycle(pattern)
    found = sorted({s for side in statement.all_sides for s in side.scalars()}, key=str)
    letters = statement.letters()
    found += [
        size
        for letter in letters.values()
        for side in letter.shape
        for size in sorted(getattr(side, "free_symbols", ()), key=str)
    ]
    scalars: Scalars = {
        symbol: sympy.Integer(_SIZE if symbol.is_integer else 1 + k % 2)
        for k, symbol in enumerate(dict.fromkeys(found))
    }
    arrays: Arrays = {}
    for name, letter in letters.items():
        shape = letter.dims(scalars)
        array = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            entry = next(entries)
            array[place] = sympy.Integer(abs(entry) + 1 if name in statement.positive else entry)
        if name in statement.permutations:
            array[...] = [
                [sympy.Integer(int(i + j == len(array) - 1)) for j in range(len(array))]
                for i in range(len(array))
            ]
        arrays[name] = array
    for one, other in statement.where:
        for side, value in ((one, other), (other, one)):
            symbol = side.meaning
            if isinstance(symbol, sympy.MatrixSymbol | sympy.Symbol):
                _define(symbol, value, arrays, scalars)
                break
    return arrays, scalars


def _define(symbol: sympy.Symbol, value: Side, arrays: Arrays, scalars: Scalars) -> None:
    """Give a letter the whole numbers that an equation says; others are left."""
    try:
        balls = _values(value, arrays, scalars)
    except (SymattnError, KeyError, ValueError, ZeroDivisionError):
        return
    numbers = [ball.unique_fmpz() for ball in balls.ravel()]
    if None in numbers:
        return
    exact = np.array([sympy.Integer(int(n)) for n in numbers], dtype=object).reshape(balls.shape)
    if isinstance(symbol, sympy.MatrixSymbol):
        arrays[symbol.name] = exact
    elif len(set(numbers)) == 1:
        scalars[symbol] = exact.flat[0]


def _given(statement: Statement, given: Mapping[str, Any]) -> tuple[Arrays, Scalars]:
    """The numbers of a file."""
    letters = statement.letters()
    symbols = {s.name: s for side in statement.all_sides for s in side.scalars()}
    arrays: Arrays = {}
    scalars: Scalars = {}
    for name, value in given.items():
        if name not in letters and name not in symbols:
            raise SymattnError(
                f"{name}: the statement has no such letter{nearest(name, {**letters, **symbols})}"
            )
        if name in symbols:
            scalars[symbols[name]] = _read(value, name)
            continue
        rows = value if isinstance(value, list) else [value]
        if not all(isinstance(row, list) for row in rows):
            one_row = letters[name].shape[0] == 1
            rows = [rows] if one_row else [[entry] for entry in rows]
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise ReadError(f"{name}: its rows differ in length")
        if len(rows) * len(rows[0]) > _MOST_CELLS:
            raise ReadError(f"{name}: more than {_MOST_CELLS} numbers; a proof is shown with few")
        array = np.empty((len(rows), len(rows[0])), dtype=object)
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                array[i, j] = _read(entry, f"{name}[{i + 1},{j + 1}]")
        arrays[name] = array
    missing = sorted({*letters} - {*arrays})
    if missing:
        raise SymattnError(f"--with: no numbers are given for {', '.join(missing)}")
    for name, array in arrays.items():
        for size, count in zip(letters[name].shape, array.shape, strict=True):
            known = sympy.sympify(size, strict=True).xreplace(scalars)
            if isinstance(known, sympy.Symbol):
                scalars[known] = sympy.Integer(count)
            elif known.is_Integer and known != count:
                raise SymattnError(f"{name}: {size} is {known}, but here it is {count}")
    unknown = sorted(name for name, symbol in symbols.items() if symbol not in scalars)
    if unknown:
        raise SymattnError(f"--with: no number is given for {', '.join(unknown)}")
    for broken in statement.broken(arrays, scalars):
        raise SymattnError(f"--with: {broken} of these numbers")
    return arrays, scalars


def _read(value: object, where: str) -> sympy.Expr:
    found = read_written(value, where)
    if found is None:
        raise ReadError(f"{where}: is left blank")
    return found.value
