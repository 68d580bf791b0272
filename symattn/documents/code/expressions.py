"""The values of a program as code; everything a language has of its own is in its table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import compress

import sympy

from symattn.arithmetic.recorded import Recorded, Value, is_of
from symattn.documents.code.body import Body, Names
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.graph import BROADCASTS, Graph
from symattn.documents.code.language import Language
from symattn.documents.code.loops import Loops
from symattn.documents.code.nouns import noun_of
from symattn.documents.code.positions import Grids, Positions
from symattn.documents.code.remarks import NO_KEY
from symattn.documents.code.sizes import Sizes
from symattn.errors import CannotSpell

#: Values so plain that they are written wherever they are used.
_PLAIN = ("filled", "negative", "transpose", "expand", "pick", "always", "never")

#: Values that have a line of their own wherever they are used.
_NAMED = ("listed", "table", "powers", "cos", "sin", "narrowed", "numbers", "repeat")

#: Operations whose operands beside matrices are sizes and places.
_SIZED = ("repeat", "shared", "pick", "heads apart", "groups", "sums_at", "entries", "identity")


def _broadcasts(x: Recorded, language: Language) -> bool:
    """Whether a matrix is written without its axis of one head."""
    return x.operation == "beneath" and not language.batches and x.ndim == 3


def _whole(x: Recorded, operands: Sequence[Value], ahead: int, language: Language) -> list[bool]:
    """Which operands have the heads and batches of what they are joined to.

    Nothing broadcasts there, unless all are written without their heads.
    """
    batched = x.batched and language.batches
    fit = [one.shape[:ahead] == x.shape[:ahead] and one.batched >= batched for one in operands]
    plain = [
        fits and not _broadcasts(one, language) for one, fits in zip(operands, fit, strict=True)
    ]
    return plain if any(plain) else fit


class Expressions:
    """Spells values; those that are long, or used more than once, get lines of their own.

    `crowded` are the nouns of several values, which are told apart by their steps.
    """

    def __init__(
        self, graph: Graph, names: Names, sizes: Sizes, body: Body, crowded: Collection[str] = ()
    ) -> None:
        self.graph, self.names, self.sizes, self.body = graph, names, sizes, body
        self.language, self.crowded = graph.language, crowded
        self._long = self.language.style.long
        way = Positions if self.language.grids is None else Grids
        self.positions = way(graph, names, sizes, body, self.piece)
        self.loops = Loops(graph, names, sizes, body, self.code)
        self.nouns: Counter[str] = Counter()
        #: What the step that is spelled is called.
        self.subject = ""
        #: The numbers of heads and groups of what is repeated.
        self.shared: list[tuple[sympy.Expr, sympy.Expr]] = []
        self._inlined: dict[Recorded, Piece] = {}

    def piece(self, x: Value) -> Piece:
        """A value where another one uses it."""
        if not isinstance(x, Recorded):
            return self.sizes.number(x)
        if x in self.names.of:
            return Piece(self.names.of[x])
        if _broadcasts(x, self.language):
            return self.piece(self.graph.operands(x)[0])
        if x not in self._inlined:
            code = self.code(x)
            if x in self.names.of:  # which it got on the way
                return Piece(self.names.of[x])
            shared = self.graph.uses[x] > 1 and x.operation not in _PLAIN
            whole = x.positional and self.language.grids is None
            if shared or whole or len(code) > self._long or x.operation in _NAMED:
                return self._line(x, code)
            self._inlined[x] = code
        return self._inlined[x]

    def _line(self, x: Recorded, code: Piece) -> Piece:
        noun = noun_of(x, self.graph, self.names)
        self.nouns[noun] += 1
        name = self.names.free(
            f"{self.subject.rstrip('_')}_{noun}" if noun in self.crowded else noun
        )
        self.names.of[x] = name
        self.body.tell(
            name,
            code,
            self.note(x),
            tokens=self.graph.tokens(x),
            above=NO_KEY if x.operation in ("every", "some") else "",
        )
        return Piece(name)

    def note(self, x: Recorded) -> str:
        """The shape of a value that no value in it has; of repeated heads, how many use each."""
        if x.operation == "repeat" and x.details == (-3,):
            return f"each serves {self.sizes.whole(x.operands[1])} heads"
        return self.graph.shape_told(x)

    def _set_apart(self, x: Recorded) -> Piece:
        """A value in two lines: itself in one, or what it only turns around."""
        self._inlined.pop(x, None)
        inner = self.graph.operands(x)[0] if x.operation in ("transpose", "negative") else x
        if inner is x or inner in self.names.of:
            return self._line(x, self.code(x))
        self._set_apart(inner)
        return self.code(x)

    def code(self, x: Recorded) -> Piece:
        """What a value is."""
        if x.positional and (x.operation != "broadcast" or self.language.grids is None):
            return self.positions.code(x)
        operands, operations = self.graph.operands(x), self.language.operations
        match x.operation:
            case "call" | "table" | "places":
                return self.body.called(x, operands, self.piece)
            case "part":
                return self._part(x, *operands)
            case "join":
                return self._joined(x, operands)
            case "states":
                return self.loops.code(x, self.subject.rstrip("_"))
            case "where":
                return self._where(x, *operands)
            case "narrowed":
                return self.body.filled(operations["narrowed"], x, self.code(*operands))
            case "numbers" if is_of(operands[0], "rows"):
                if "counted" not in operations:
                    return self.positions.code(operands[0])
                span = self.positions.span(operands[0], 0)
                return self.body.filled(operations["counted"], x, span)
            case "literal":
                return self._format(x, [self.sizes.nested(x.details)])
            case "powers":
                base, size = operands
                sign = "-" if x.details[0] < 0 else ""
                pieces = [self.sizes.number(base), self.sizes.whole(size)]
                return self.body.filled(operations["powers"], x, *pieces, sign=sign)
            case "heads beside" if "heads beside" in operations:
                heads = self.piece(operands[0])
                heads = heads if heads.isidentifier() else self._line(operands[0], heads)
                template = operations["heads beside"]
                rows = self.sizes.whole(x.shape[-2]) if "{rows}" in template else ""
                return self.body.filled(template, x, heads, rows=rows)
            case "beneath" | "expand" if (vector := self._behind(x)) is not None:
                name = "expand beneath" if x.operation == "beneath" else "expand twice"
                return self.body.filled(operations[name], x, self.piece(vector))
        return self._usual(x, operands)

    def _usual(self, x: Recorded, operands: Sequence[Value]) -> Piece:
        """A value by the row of its operation."""
        if x.operation == "repeat" and x.details == (-3,):
            self.shared.append((x.shape[-3], operands[0].shape[-3]))
        narrow = [*self.graph.narrowed(x, operands, self.names.of)]
        pieces = [
            self.sizes.whole(one)
            if x.operation in _SIZED and not isinstance(one, Recorded)
            else self.piece(one)
            for one in narrow
        ]
        if x.operation in (*BROADCASTS, "matmul") and sum(map(len, pieces)) > self._long:
            longest = max(range(len(pieces)), key=lambda place: len(pieces[place]))
            one = narrow[longest]
            if isinstance(one, Recorded) and one not in self.names.of:
                pieces[longest] = self._set_apart(one)
        if x.operation == "multiply" and is_of(operands[0], "multiply") and self.language.batches:
            return Piece(f"{pieces[0]} * {pieces[1]:a}")
        is_vector = x.operation == "matmul" and operands[1].ndim == 1
        return self._format(x, pieces, "matmul a vector" if is_vector else "")

    def _behind(self, x: Recorded) -> Recorded | None:
        """What gets two new axes at once: a vector for heads, or heads before two axes."""
        (inner,) = self.graph.operands(x)
        if not self.language.batches or not is_of(inner, "expand"):
            return None
        twice = inner.details == x.details == (-1,) and x.ndim == 3
        return self.graph.operands(inner)[0] if x.operation == "beneath" or twice else None

    def _format(self, x: Recorded, pieces: Sequence[Piece], name: str = "") -> Piece:
        name = name or x.operation
        for detail in x.details:
            name = f"{name} {detail}" if f"{name} {detail}" in self.language.operations else name
        return self.body.named(name, x, pieces)

    def _part(self, x: Recorded, whole: Recorded, first: sympy.Expr, stop: sympy.Expr) -> Piece:
        axis, step = x.details
        size = whole.shape[axis]
        ends = sympy.expand(stop - size).is_nonnegative
        if "part" in self.language.operations:
            bounds = [self.sizes.whole(first), self.sizes.whole(size if ends else stop)]
            template = self.language.operations["part"]
            return self.body.filled(template, x, self.piece(whole), *bounds, step=step)
        chosen = self.sizes.places(first, None if ends else stop, step)
        behind = ", :" * (-1 - axis)
        return Piece(f"{self.piece(whole):a}[..., {chosen}{behind}]")

    def _joined(self, x: Recorded, operands: Sequence[Value]) -> Piece:
        """One matrix after the other, with the heads and the batches that the others have."""
        axis = x.details[0]
        ahead = min(axis, -2)  # matrices of heads themselves are joined by their own axis
        lead = x.shape[:ahead]
        whole = _whole(x, operands, ahead, self.language)
        full = next(compress(operands, whole), None)
        pieces = []
        for one, is_whole in zip(operands, whole, strict=True):
            code = self.piece(one)
            if not is_whole:
                if full is None:
                    raise CannotSpell("matrices of different heads are joined")
                if full not in self.names.of and full not in self._inlined:
                    self.piece(full)
                if full not in self.names.of:
                    self._line(full, self._inlined.pop(full))
                template = self.language.operations["with heads"]
                own, name = self.sizes.shape(one.shape[ahead:]), self.names.of[full]
                wider = replace(one, shape=(*lead, *one.shape[ahead:]))
                code = self.body.filled(template, wider, code, name, own, ahead=str(ahead))
            pieces.append(code)
        template = self.language.operations["join"]
        return Piece(template.format(all=", ".join(pieces), axis=axis))

    def _where(self, x: Recorded, condition: Recorded, one: Value, other: Value) -> Piece:
        """A choice; with one number, by its own way where the language has one."""
        operations = self.language.operations
        _, one, other = self.graph.narrowed(x, (condition, one, other), self.names.of)
        values = [isinstance(part, Recorded) for part in (one, other)]
        if values[0] == values[1] or "fill" not in operations:
            typed = not any(values) and "where of numbers" in operations
            pieces = [*map(self.piece, (condition, one, other))]
            return self._format(x, pieces, "where of numbers" if typed else "where")
        kept, number, code = other, one, self.piece(condition)
        if values[0]:
            kept, number, opposite = one, other, x.owner.opposite(condition)
            known = condition.operation == "not" or opposite in self.names.of
            code = (
                self.piece(opposite) if known else Piece(self.language.places["not"].format(code))
            )
        filled = self.piece(kept)
        filled = self._set_apart(kept) if len(filled) > self._long // 2 else filled
        return self.body.filled(operations["fill"], x, filled, code, self.piece(number))
