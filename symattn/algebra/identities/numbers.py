"""A proof with numbers put in: every line for one entry, and what both sides come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy
from flint import arb

from symattn.algebra.counterexample import Side, in_balls
from symattn.algebra.hypotheses import Statement
from symattn.algebra.identities.proofs import Proof
from symattn.algebra.proof_lines import Lines
from symattn.algebra.refute import example, sizes_of
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Array, Ground
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

#: Every size where no file gives numbers, and how many a file may give for a letter.
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
                return _number(arrays[matrix.name][i, j])
            case r.Const(value) if value.free_symbols:
                numbers = {s: by_name[s.name] for s in value.free_symbols if s.name in by_name}
                return Speller().scalar(value.xreplace(numbers))
        return None

    return leaf


def _values(side: Side, arrays: Arrays, scalars: Scalars) -> Array:
    """The value of a side in balls."""
    with precision(200), np.errstate(all="ignore"):
        return side.value({name: in_balls(v) for name, v in arrays.items()}, BALLS, scalars)


def _number(value: Ground) -> Tree:
    """A number that is given, or in decimals one that an assumption defines."""
    return _decimal(value) if isinstance(value, arb) else Speller().scalar(value)


def _decimal(ball: arb) -> Tree:
    return number(decide(Quantity(lambda _: ball, lambda: None), 4).text)


def _decimals(values: Array) -> Tree:
    rows = tuple(tuple(map(_decimal, row)) for row in values)
    return rows[0][0] if values.shape == (1, 1) else t.Fenced(t.Grid(rows), "[", "]")


def _grid(value: Array) -> Tree:
    rows = tuple(tuple(map(_number, row)) for row in value)
    return t.Fenced(t.Grid(rows), "[", "]")


# ---- which numbers ---------------------------------------------------------------------------


def _small(statement: Statement) -> tuple[Arrays, Scalars]:
    """Small numbers for which all that is assumed holds."""
    found = example(statement, dict.fromkeys(sizes_of(statement), _SIZE))
    if found is None:
        raise SymattnError(
            "--with small: no small numbers were found that satisfy all assumptions; give some "
            "in a file"
        )
    return found


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
