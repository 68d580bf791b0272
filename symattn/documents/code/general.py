"""A program for any sizes: traced at several, and read off how its numbers follow from them.

The same derivation is traced at a few sets of sizes. A whole number that differs between the traces
becomes the simplest expression in the sizes that gives it in all of them; so do tables of places
and of positions. A size on which something depends in a way that is not found keeps its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import sympy

from symattn.arithmetic.base import Array
from symattn.derivation import Derivation, Evaluation
from symattn.documents.code.by_position import Counted, Powers, Sized, Table, cut, seen_by
from symattn.documents.code.size_formulas import Growth
from symattn.documents.code.trace import Line, Program, Scalar, traced
from symattn.documents.code.views import View
from symattn.errors import SymattnError

#: How often sizes are drawn until they tell all expressions apart.
_SEEDS = 64

#: Sizes above which no larger ones are tried.
_LARGE = 64

#: Heads, groups and the largest distance in each set of sizes that is traced.
_SMALL = ((4, 2, 1), (6, 3, 2), (10, 2, 2), (9, 3, 3), (8, 4, 1))


class _Unknown(Exception):
    """Something depends on these sizes in a way that is not found; on any, if there are none.

    `traced` is whether there are programs at all the sizes at least.
    """

    def __init__(self, *sizes: Any, traced: bool = True) -> None:
        super().__init__()
        self.traced = traced
        self.symbols: set[sympy.Symbol] = {
            symbol for size in sizes if isinstance(size, Sized) for symbol in size.expr.free_symbols
        }


def generalised(derivation: Derivation, evaluation: Evaluation) -> tuple[Program, list[str]]:
    """The program for any sizes as far as it can be, and what it is written for: ``n = 3``.

    Raises `CannotSpell` for a formula that cannot be followed.
    """
    fixed = traced(evaluation)
    free = _free(derivation, evaluation)
    while free:
        found, unknown = _read_off(derivation, evaluation, free)
        if found is not None:
            kept = {s.name: v for s, v in evaluation.sizes.items() if s not in free}
            told = [f"{name} = {v}" for name, v in kept.items() if _matters(name, found[0])]
            return found[0], told + found[1]
        if unknown:
            free = [symbol for symbol in free if symbol not in unknown]
            continue
        fewer = ([other for other in free if other != symbol] for symbol in free)
        free = next((f for f in fewer if _read_off(derivation, evaluation, f)[0]), [])
    return fixed, [f"{s.name} = {value}" for s, value in evaluation.sizes.items()]


def _least(program: Program) -> list[str]:
    """How large a size has to be for the columns or rows that are taken whatever it is."""
    most: dict[str, int] = {}
    for line in program.lines:
        for part in _parts(line.operands):
            if part.kind != "index":
                continue
            spans = [span for span in part.details if span is not None]
            for size, span in zip(part.parts[0].shape, spans, strict=True):
                if not (isinstance(size, Sized) and size.expr.is_Symbol):
                    continue
                stop = span[1] if isinstance(span, tuple) else span + 1
                if not isinstance(stop, Sized) and stop > 1:
                    name = size.expr.name
                    most[name] = max(most.get(name, 0), stop)
    return [f"{name} ≥ {stop}" for name, stop in most.items()]


def _parts(operands: Iterable[Any]) -> Iterator[View]:
    """The views among these, and what they are made of."""
    for part in operands:
        if isinstance(part, View):
            yield part
            yield from _parts(part.parts)


def _halved(program: Program) -> list[sympy.Symbol]:
    """The sizes of which there is half in a shape."""
    found = {
        part.args[1]: None
        for line in program.lines
        for size in line.shape
        if isinstance(size, Sized)
        for part in sympy.preorder_traversal(size.expr)
        if isinstance(part, sympy.Mul) and part.args[0] == sympy.Rational(1, 2)
    }
    return list(found)


def _matters(name: str, program: Program) -> bool:
    """Whether a size that is fixed shows in a shape."""
    return any(
        symbol.name == name
        for item in program.inputs
        for size in (*item.shape, sympy.S.One if item.count is None else item.count)
        for symbol in size.free_symbols
    )


def _free(derivation: Derivation, evaluation: Evaluation) -> list[sympy.Symbol]:
    """The sizes that shapes alone tell; none where there are batches, which add axes."""
    for item in derivation.inputs:
        if len(evaluation.shape(item.letter)) != 2 + item.per_head:
            return []
    shapes = {
        symbol
        for item in derivation.inputs
        for size in (*item.shape, sympy.S.One if item.count is None else item.count)
        for symbol in size.free_symbols
    }
    sizes = dict.fromkeys([*derivation.size_symbols, *evaluation.sizes])
    return [symbol for symbol in sizes if symbol in shapes]


def _read_off(
    derivation: Derivation, evaluation: Evaluation, free: list[sympy.Symbol]
) -> tuple[tuple[Program, list[str]] | None, set[sympy.Symbol]]:
    """The program with the sizes that have to be even; or None, and what stands in the way."""
    unknown: set[sympy.Symbol] = set()
    suspects: set[sympy.Symbol] = set()
    for even, above in _rounds(evaluation):
        if unknown and above:
            break
        try:
            found = _laid_over(derivation, evaluation, _trials(free, even, above))
        except _Unknown as problem:
            unknown |= problem.symbols
            suspects = set() if problem.traced else _suspects(free)
            continue
        halved = _halved(found) if even else []
        odd = {size for size in halved if evaluation.sizes[size] % 2}
        if not odd:
            return (found, [f"even {size.name}" for size in halved] + _least(found)), unknown
        unknown |= odd
    return None, unknown or suspects


def _rounds(evaluation: Evaluation) -> Iterator[tuple[bool, Mapping[sympy.Symbol, int]]]:
    """Any sizes, even ones, and then sizes for which those that it was made at make room."""
    yield from ((False, {}), (True, {}))
    if max(evaluation.sizes.values()) <= _LARGE:
        yield from ((False, evaluation.sizes), (True, evaluation.sizes))


def _laid_over(
    derivation: Derivation, evaluation: Evaluation, trials: list[dict[sympy.Symbol, int]]
) -> Program:
    """The program at several sets of sizes made one."""
    fixed = {symbol: size for symbol, size in evaluation.sizes.items() if symbol not in trials[0]}
    try:
        programs = [traced(_at(derivation, fixed | sizes)) for sizes in trials]
    except (SymattnError, ValueError, IndexError):  # NumPy's are of heads that are fixed
        raise _Unknown(traced=False) from None
    return _Merging(trials, fixed).program(programs)


def _suspects(free: Sequence[sympy.Symbol]) -> set[sympy.Symbol]:
    """The sizes that a derivation may be written for: its heads, then its tokens."""
    for names in (("h", "g"), ("n", "m", "p")):
        found = {symbol for symbol in free if symbol.name in names}
        if found:
            return found
    return set()


def _trials(
    free: Sequence[sympy.Symbol], even: bool, above: Mapping[sympy.Symbol, int]
) -> list[dict[sympy.Symbol, int]]:
    """Sets of sizes that differ and follow no pattern; groups divide the heads, distances fit in.

    They tell all expressions apart. Each size is more than the one in `above`.
    """
    more = {symbol: above.get(symbol, 0) for symbol in free}
    more = {symbol: size + size % 2 if even else size for symbol, size in more.items()}
    for seed in range(_SEEDS):
        numbers = Random(seed)  # noqa: S311  nothing is secret here
        pool = range(4, 8 + 4 * len(free), 1 + even)
        trials = []
        for heads, groups, distance in _SMALL:
            small = {"h": heads, "g": groups, "k": distance}
            drawn = zip(free, numbers.sample(pool, len(free)), strict=True)
            trials.append(
                {symbol: small.get(symbol.name, more[symbol] + size) for symbol, size in drawn}
            )
        if not Growth(trials).ambiguous:
            return trials
    raise _Unknown


def _at(derivation: Derivation, sizes: Mapping[sympy.Symbol, int]) -> Evaluation:
    """The derivation with matrices of these sizes; what they hold is not looked at."""
    given = {}
    for item in derivation.inputs:
        shape = item.shape if item.count is None else (item.count, *item.shape)
        given[item.name] = np.ones([int(size.subs(sizes)) for size in shape])
    return Evaluation(derivation.inputs, derivation.steps, given, sizes, {}, order=derivation.order)


class _Merging:
    """Several traces of one derivation made into one, in which numbers follow from sizes."""

    def __init__(
        self, trials: Sequence[Mapping[sympy.Symbol, int]], fixed: Mapping[sympy.Symbol, int]
    ) -> None:
        self.trials, self.fixed = trials, dict(fixed)
        self.growth = Growth(trials, fixed.values())

    def program(self, programs: Sequence[Program]) -> Program:
        """The programs as one."""
        lines = [program.lines for program in programs]
        if len({len(part) for part in lines}) > 1:
            raise _Unknown
        return replace(programs[0], lines=tuple(map(self.line, zip(*lines, strict=True))))

    def line(self, lines: Sequence[Line]) -> Line:
        """One line of all."""
        first = lines[0]
        if len({(line.number, line.operation, line.name) for line in lines}) > 1:
            raise _Unknown
        shape = self.shape([line.shape for line in lines])
        operands = zip(*(line.operands for line in lines), strict=True)
        made, literal = first.made, first.literal
        if literal is not None:
            made = self.made(lines, shape)
        return replace(first, shape=shape, operands=tuple(map(self.operand, operands)), made=made)

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """One shape of all."""
        if len({len(shape) for shape in shapes}) > 1:
            raise _Unknown
        return tuple(map(self.number, zip(*shapes, strict=True)))

    def number(self, values: Sequence[int]) -> int:
        """One number of all: itself, or what it follows from."""
        found = self.growth.find([int(value) for value in values])
        if found is None:
            raise _Unknown
        return found

    def operand(self, parts: Sequence[View | Scalar]) -> View | Scalar:
        """One operand of all."""
        first = parts[0]
        if isinstance(first, View):
            return self.view([part for part in parts if isinstance(part, View)])
        values: list[Any] = [part.value for part in parts if isinstance(part, Scalar)]
        if all(value == values[0] for value in values):
            return first
        for power in (1, 2, 4, -1, -2, -4):  # √d, 1/√d, …
            whole = [value**power for value in values]
            found = self.growth.find(whole) if all(value.is_Integer for value in whole) else None
            if isinstance(found, Sized):
                return Scalar(found.expr ** sympy.Rational(1, power))
        raise _Unknown

    def view(self, views: Sequence[View]) -> View:
        """One view of all."""
        first = views[0]
        if len({(found.kind, found.line, len(found.parts)) for found in views}) > 1:
            raise _Unknown
        inner = zip(*(found.parts for found in views), strict=True)
        shape = self.shape([found.shape for found in views])
        return replace(
            first,
            shape=shape,
            parts=tuple(map(self.view, inner)),
            details=self.details(first.kind, [found.details for found in views], shape),
        )

    def details(self, kind: str, told: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """What a view says beside its parts and shape."""
        if kind in ("along", "spread"):
            return self.table(told, shape[-2:])
        if kind == "gather" or (kind == "take" and len({len(part[1]) for part in told}) > 1):
            if not all(np.array_equal(part, told[0]) for part in told):
                raise _Unknown(*shape)
            return told[0]
        return self.nested(told)

    def nested(self, told: Sequence[Any]) -> Any:
        """Whole numbers in tuples."""
        first = told[0]
        if isinstance(first, tuple):
            if any(len(part) != len(first) for part in told):
                raise _Unknown
            return tuple(self.nested(parts) for parts in zip(*told, strict=True))
        return None if first is None else self.number(told)

    def table(self, tables: Sequence[Array], shape: tuple[int, ...]) -> Table | Array:
        """Places by row and column."""
        if all(np.array_equal(table, tables[0]) for table in tables):
            return tables[0]
        for a, b in ((-1, 1), (1, -1), (0, 1), (1, 0)):
            parts = [cut(table, a, b) for table in tables]
            if any(part is None for part in parts):
                continue
            c, low, high = map(self.number, zip(*(part for part in parts if part), strict=True))
            whole = all(
                np.array_equal(
                    table,
                    a * np.arange(len(table))[:, None] + b * np.arange(table.shape[1]) + part[0],
                )
                for table, part in zip(tables, parts, strict=True)
                if part
            )
            rows, columns = shape
            return Table(rows, columns, a, b, c, *((None, None) if whole else (low, high)))
        raise _Unknown(*shape)

    def made(self, lines: Sequence[Line], shape: tuple[int, ...]) -> Any:
        """What literals that differ follow from; None for one that does not differ."""
        literals = [np.asarray(line.literal) for line in lines]
        mask = lines[0].made
        seen = None if mask is None else seen_by(mask.subs(self.fixed))
        if seen is not None and all(map(seen.gives, literals, self.trials)):
            return seen
        if all(np.array_equal(literal, literals[0]) for literal in literals):
            return None
        if all(max(literal.shape, default=0) == literal.size for literal in literals):
            flat = [list(literal.ravel()) for literal in literals]
            for found in (self.counted(flat), self.powers(flat)):
                if found is not None:
                    return found
        raise _Unknown(*shape)

    def counted(self, rows: Sequence[list[Any]]) -> Counted | None:
        """Consecutive whole numbers."""
        if any(
            row != list(range(int(row[0]), int(row[0]) + len(row)))
            for row in rows
            if row[0].is_Integer
        ) or not all(row[0].is_Integer for row in rows):
            return None
        ends = [(int(row[0]), int(row[0]) + len(row)) for row in rows]
        return Counted(*map(self.number, zip(*ends, strict=True)))

    def powers(self, rows: Sequence[list[Any]]) -> Powers | None:
        """A geometric row whose ratio is a root of a whole number: 10000^(−2t/d)."""
        bases = {row[1] ** len(row) if len(row) > 1 else None for row in rows}
        base = bases.pop()
        if bases or base is None or not (base.is_Integer or (1 / base).is_Integer):
            return None
        if any(row[k] ** len(row) != base**k for row in rows for k in range(len(row))):
            return None
        count = self.number([len(row) for row in rows])
        if not isinstance(count, Sized):
            return None
        step, size = (1 / count.expr.as_coeff_Mul()[0], count.expr.as_coeff_Mul()[1])
        if not step.is_Integer:
            return None
        falls = bool(base < 1)
        whole = int(1 / base if falls else base)
        return Powers(whole, Sized(self.growth.large(size), size), int(step), falls)
