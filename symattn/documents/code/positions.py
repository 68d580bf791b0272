"""What follows from positions alone, in a program: by arrays of positions, or entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy

from symattn.arithmetic.recorded import Recorded, Value, is_of, together
from symattn.documents.code.body import Body, Names
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.graph import Graph
from symattn.documents.code.sizes import Sizes
from symattn.errors import CannotSpell

#: The opposites of comparisons.
OPPOSITES = {"at most": "above", "below": "at least", "at least": "below", "above": "at most"}


class Positions:
    """Spells a value entry by entry, in terms of the numbers i and j of its row and column."""

    def __init__(
        self,
        graph: Graph,
        names: Names,
        sizes: Sizes,
        body: Body,
        piece: Callable[[Recorded], Piece],
    ) -> None:
        """`piece` spells any value where another one uses it."""
        self.graph, self.names, self.sizes, self.body = graph, names, sizes, body
        self.piece, self.places = piece, graph.language.places

    def code(self, x: Recorded) -> Piece:
        """What a value is."""
        if x.operation == "listed":
            listed = f"[{', '.join(map(str, x.details))}]"
            return Piece(self.places["listed"].format(listed, like=self.body.like))
        return self.whole(x)

    def whole(self, x: Recorded) -> Piece:
        """A whole matrix."""
        rows, columns = map(self.sizes.whole, x.shape[-2:])
        return Piece(self.places["table"].format(self.entry(x), rows=rows, columns=columns))

    def entry(self, x: Value) -> Piece:
        """What stands in row i and column j."""
        if not isinstance(x, Recorded):
            return self.sizes.whole(x)
        operation, operands = x.operation, self.graph.operands(x)
        match operation:
            case "rows" | "columns":
                return self.number(x)
            case "listed":
                return self.piece(x)
            case "broadcast":
                return self.entry(operands[0])
            case "and" | "or":
                return Piece(self.places[operation].join(self._joined(x)))
            case "places":
                return self.body.called(x, operands, self.inner)
            case "add" if not isinstance(operands[1], Recorded):
                return self.sizes.added(self.inner(operands[0]), operands[1])
            case "not" if operands[0] not in self.names.of:
                (compared,) = operands
                if compared.operation in OPPOSITES:
                    operation, operands = (
                        OPPOSITES[compared.operation],
                        self.graph.operands(compared),
                    )
        if operation not in self.places:
            raise CannotSpell(f"{operation} has no program in {self.graph.language.name}")
        return self.body.filled(self.places[operation], x, *map(self.inner, operands))

    def number(self, x: Recorded) -> Piece:
        """The number of the row, or of the column."""
        letter = "i" if x.operation == "rows" else "j"
        return self.sizes.added(Piece(letter), x.operands[0] if x.operands else sympy.S.Zero)

    def inner(self, x: Value) -> Piece:
        """A value where another one uses it."""
        return self.entry(x)

    def inside(self, part: Recorded) -> str:
        """A condition among others, with brackets where they bind tighter."""
        code = self.inner(part)
        return f"({code})" if part.operation in ("and", "or") else str(code)

    def _joined(self, x: Recorded) -> list[str]:
        found = [*self._alike(x, x.operation)]
        wide = [self.graph.operands(one)[0] if is_of(one, "broadcast") else one for one in found]
        found = wide if together(*(one.shape for one in wide)) == x.shape else found
        return [self.inside(part) for part in found]

    def _alike(self, x: Recorded, operation: str) -> Iterator[Recorded]:
        """The parts of conditions that are joined alike."""
        for part in self.graph.operands(x):
            if part.operation != operation or self.stands_alone(part):
                yield part
            else:
                yield from self._alike(part, operation)

    def stands_alone(self, part: Recorded) -> bool:
        """Whether a part has a name that it goes by."""
        return False

    def span(self, x: Recorded, axis: int) -> Piece:
        """Where the positions of rows or columns begin, unless at 0, and where they end."""
        start = x.operands[0] if x.operands else sympy.S.Zero
        end = self.sizes.whole(start + x.shape[axis])
        return end if start == 0 else Piece(f"{self.sizes.whole(start)}, {end}")


class Grids(Positions):
    """Spells a value by a column of the numbers of rows and a row of those of columns."""

    def whole(self, x: Recorded) -> Piece:
        if self._is_triangle(x):
            start, sizes = self.graph.operands(x)[1].operands[0], x.shape[-2:]
            name = "triangle" if sizes[0] == sizes[1] else "triangle of sizes"
            template = self.places[name if start == 0 else "triangle from"]
            return self.body.filled(template, x, *map(self.sizes.whole, (*sizes, start)))
        found = [*self._numbers_in(x)]
        for operation in ("rows", "columns"):
            for one in found:
                if one.operation == operation:
                    self.number(one)
        return self.entry(x)

    def _is_triangle(self, x: Recorded) -> bool:
        """Whether a condition says j ≤ i + start for grids that nothing else has asked for."""
        return (
            x.operation == "at most"
            and is_of(x.operands[0], "columns")
            and is_of(x.operands[1], "rows")
            and not all(part in self.names.of for part in x.operands)
        )

    def _numbers_in(self, x: Recorded) -> Iterator[Recorded]:
        """The numbers of rows and columns that a value is made of."""
        if x.operation in ("rows", "columns"):
            yield x
        for one in x.operands:
            if isinstance(one, Recorded) and one.positional and one not in self.names.of:
                yield from self._numbers_in(one)

    def number(self, x: Recorded) -> Piece:
        if x not in self.names.of:
            letter, axis = ("i", 0) if x.operation == "rows" else ("j", 1)
            span = self.span(x, axis)
            name = self.names.of_grid(letter)
            grids = self.graph.language.grids or ("", "")
            self.names.of[x] = name
            self.body.tell(name, grids[axis].format(span, like=self.body.like))
        return Piece(self.names.of[x])

    def inner(self, x: Value) -> Piece:
        return self.piece(x) if isinstance(x, Recorded) else self.entry(x)

    def inside(self, part: Recorded) -> str:
        alone = part in self.names.of or self.graph.uses[part] > 1 or part.operation == "broadcast"
        return f"{self.piece(part) if alone else self.entry(part):a}"

    def stands_alone(self, part: Recorded) -> bool:
        return part in self.names.of
