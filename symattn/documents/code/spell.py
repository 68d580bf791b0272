"""A program spelled in a language; everything a language has of its own is in its table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from symattn.arithmetic.arrays import nearest_float
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.by_position import Counted, Powers, Seen, Sized, Table
from symattn.documents.code.language import Language
from symattn.documents.code.line_breaks import fitted
from symattn.documents.code.positions import Positions
from symattn.documents.code.trace import Line, Program, Scalar
from symattn.documents.code.views import View
from symattn.notation.latex import escape_controls

#: Operations entry by entry: their operands need not have the shape of the result.
_BROADCASTS = ("add", "subtract", "multiply", "divide", "where", "or", "and", "equals")

#: What a helping line is called; the rest are parts.
_NAMES = {
    "hidden": "hidden",
    "all": "nothing",
    "exp": "powers",
    "row_sum": "sums",
    "row_max": "largest",
    "threshold": "level",
    "literal": "fixed",
    "places": "places",
    "cos": "cosines",
    "sin": "sines",
    "where": "kept",
}

#: What is called by what is done to it.
_ROLES = {"cos": "angles", "sin": "angles"}

#: A helping line longer than this gets a line of its own.
_LONG = 60

#: A table of places longer than this, too.
_SHORT = 30


def spelled(program: Program, language: Language, docs: Sequence[str] = ()) -> str:
    """The program as a function ``attention`` of its inputs: all steps by their letters.

    `docs` are the lines of its description.
    """
    return _Writer(program, language).function(docs)


class _Writer:
    def __init__(self, program: Program, language: Language) -> None:
        self.program, self.language = program, language
        self.lines = {line.number: line for line in program.lines}
        self.uses: Counter[int] = Counter(
            number
            for line in program.lines
            for part in line.operands
            if isinstance(part, View)
            for number in _reads(part)
        )
        whole = [line.operands[0] for line in program.lines if line.operation == "is"]
        self.said = {part.line for part in whole if isinstance(part, View)}  # 0 for no line
        self.beside = {
            number
            for line in program.lines
            for part in line.operands
            if isinstance(part, View) and len(part.parts) > 1
            for number in _reads(part)
        }
        self.roles = {
            number: _ROLES[line.operation]
            for line in program.lines
            if line.operation in _ROLES
            for part in line.operands
            if isinstance(part, View)
            for number in part.lines
        }
        self.body: list[str] = []
        self.names: dict[int, str] = {}
        self.inlined: dict[int, Piece] = {}
        letters = [line.name for line in program.lines if line.name]
        self.taken = {*letters, *program.parameters, *language.reserved, *language.helpers}
        #: An input of numbers, not of true and false, whose type and place the constants take
        #: where there are types.
        self.like = next(
            (
                line.name
                for line in program.lines
                if line.operation == "input"
                and line.step is not None
                and (line.step.logits or not line.step.fixed)
            ),
            "",
        )
        self.positions = Positions(program, language, self.like, self._named, self._tell)

    def _tell(self, name: str, code: str) -> None:
        """A line of its own, before the line that is being written."""
        told = self.language.assignment.format(name=name, code=code)
        self.body += fitted(told, self.language.style, self.language.style.indent)

    def function(self, docs: Sequence[str]) -> str:
        language = self.language
        body = self.body
        for line in self.program.lines:
            if line.operation == "input":
                self.names[line.number] = line.name
                continue
            code = self.line(line)
            short = (
                len(code) <= _LONG or line.number in self.said
            ) and line.number not in self.beside
            if line.step is None and self.uses[line.number] == 1 and short:
                self.inlined[line.number] = code
                continue
            self.names[line.number] = line.name or self._free(line)
            told = language.assignment.format(name=self.names[line.number], code=code)
            body += self._with_shape(told, line)
        arguments = [item.letter for item in self.program.inputs] + [*self.program.parameters]
        returned = [line.name for line in self.program.lines if line.operation == "is"]
        pair = language.known.get("pair", "{0}")
        pairs = ", ".join(pair.format(letter) for letter in returned)
        described = self._described(docs)
        self.body = []
        for size, read in self.positions.sizes():
            self._tell(size, read)
        header = language.header.format(name="attention", arguments=", ".join(arguments))
        return "\n".join(
            [
                *(described if language.docs_first else ()),
                *self._header(header),
                *(() if language.docs_first else described),
                *self.body,
                *body,
                *fitted(
                    language.returned.format(pairs=pairs), language.style, language.style.indent
                ),
                language.footer,
            ]
        )

    def _header(self, header: str) -> list[str]:
        """The first line, broken like any other though it ends with what opens the body."""
        end, style = self.language.opening, self.language.style
        inner = replace(style, width=style.width - len(end))
        lines = fitted(header.removesuffix(end), inner)
        return [*lines[:-1], lines[-1] + end]

    def _with_shape(self, told: str, line: Line) -> list[str]:
        """A line with its shape, and its step's name, in a comment beside or above it."""
        language, step = self.language, line.step
        said = f"{step.name}, " if step and step.name != line.name else ""
        comment = language.comment.format(said + self.positions.told(line.shape))
        lines = fitted(told, language.style, language.style.indent)
        if len(lines) == 1 and len(lines[0]) + 2 + len(comment) <= language.style.width:
            return [f"{lines[0]}{language.gap}{comment}"]
        return [f"{language.style.indent}{comment}", *lines]

    def _described(self, docs: Sequence[str]) -> list[str]:
        language = self.language
        first, other, last = language.docs
        plain = (escape_controls(line).replace("\\", "/").replace("##", "# #") for line in docs)
        clean = [line.replace(*language.unquoted) for line in plain]
        told = [(first if k == 0 else other) + words for k, words in enumerate(clean)]
        return [*map(str.rstrip, told), last] if docs else []

    def _free(self, line: Line) -> str:
        """What a line of no step is called: by what it does, or by what is done to it."""
        return self._named(_NAMES.get(line.operation) or self.roles.get(line.number, "part"))

    def _named(self, base: str) -> str:
        """The name, numbered if there is one like it."""
        count, name = 1, base
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def line(self, line: Line) -> Piece:
        """What a line says, without its name."""
        match line.made:
            case Seen():
                return self.positions.seen(line.made, line.shape)
            case Counted():
                return self.positions.counted(line.made, line.shape)
            case Powers():
                return self.positions.powers(line.made)
        if line.literal is not None:
            return self._literal(line.literal)
        operands = line.operands
        if line.operation in _BROADCASTS:
            operands = tuple(_narrowed(operands, line.shape))
        pieces = [self.operand(part) for part in operands]
        if line.operation == "is":
            return pieces[0]
        operation = self.language.operations[line.operation]
        if line.operation == "where" and not any(isinstance(part, View) for part in operands[1:]):
            operation = self.language.operations.get("where of numbers", operation)
        return Piece(operation.format(*pieces, like=self.like))

    def operand(self, part: View | Scalar) -> Piece:
        if isinstance(part, View):
            return self.view(part)
        return Piece(part.value) if isinstance(part.value, str) else self.number(part.value)

    def view(self, found: View) -> Piece:
        """How an operand is taken from lines."""
        if found.kind == "line":
            return self.inlined.get(found.line) or Piece(self.names[found.line])
        pieces = [self.view(part) for part in found.parts]
        joined = Piece(", ".join(pieces))
        details: Any = found.details
        if found.kind == "index":
            details = self._index(details, found.parts[0].shape)
        axis: int | str = ""
        if found.kind == "take":
            axis, details = details[0] - len(found.shape), list(details[1])
        elif found.kind == "repeat":
            axis, details = details[0] - len(found.shape), self.positions.size(details[1])
        elif isinstance(details, Table):
            details = self.positions.table(details)
        elif found.kind in ("gather", "along", "spread"):
            details = Piece(self._table(np.asarray(details)))
        elif found.kind == "permute":
            details = list(details)
        kind = found.kind
        apart = {
            "transpose": "plain transpose" if len(found.shape) == 2 else "",
            "gather": "plain gather" if len(found.parts) == 1 else "",
            "along": "deep along" if len(found.shape) > 2 else "",
        }
        if apart.get(kind) in self.language.views:
            kind = apart[kind]
        template = self.language.views[kind]
        told = {"all": joined, "details": details, "axis": axis}
        if "{shape}" in template:
            told["shape"] = self.positions.shape(found.shape)
        if found.kind == "apart":
            *first, heads, rows, columns = found.shape
            told["wide"] = self.positions.shape((*first, rows, heads, columns))
            told["count"] = self.positions.size(heads)
        if "{lead}" in template:
            told["lead"] = "None, " * (len(found.shape) - 2)
        return Piece(template.format(*pieces, **told))

    def _table(self, places: Any) -> str:
        """Places to pick entries from, under a name of their own where they are many."""
        code = self.language.table.format(places.tolist())
        if len(code) <= _SHORT:
            return code
        name = self._named("places")
        self._tell(name, code)
        return name

    def _index(self, details: Sequence[Any], shape: tuple[int, ...]) -> str:
        whole, part, stepped = self.language.slices
        told: list[str] = []
        axis = 0
        for detail in details:
            if detail is None:
                told.append(self.language.new)
                continue
            size = shape[axis]
            axis += 1
            if isinstance(detail, int):
                told.append(str(detail))
            elif detail == (0, size, 1):
                told.append(whole)
            else:
                ends = self._ends(detail, size)
                told.append((part if detail[2] == 1 else stepped).format(*ends).strip())
        return ", ".join(told)

    def _ends(self, detail: tuple[int, int, int], size: int) -> list[str]:
        """Start, stop and step; without those that say nothing, where a language can leave them."""
        start, stop, step = map(self.positions.size, detail)
        if self.language.ends:
            return [start, stop, step]
        start, stop = start if detail[0] else "", stop if detail[1] <= size - detail[2] else ""
        if " " in start + stop:  # then the colon stands apart, as Black has it
            return [f"{start} ", f" {stop}", step]
        return [start, stop, step]

    def _literal(self, values: Any) -> Piece:
        def nested(values: Any) -> str:
            if not isinstance(values, list):
                return self.number(values)
            return f"[{', '.join(map(nested, values))}]"

        literal = self.language.operations["literal"]
        return Piece(literal.format(nested(values.tolist()), like=self.like))

    def number(self, value: Any) -> Piece:
        """A number exactly where the language has it so, otherwise its nearest float."""
        if isinstance(value, Sized) or getattr(value, "free_symbols", None):
            expr = value.expr if isinstance(value, Sized) else value
            return self.positions.expr(expr, whole=False)
        if value in (sympy.oo, -sympy.oo):
            return Piece(("" if value == sympy.oo else "-") + self.language.infinity)
        if isinstance(value, int | sympy.Integer):
            return Piece(str(value))
        if isinstance(value, sympy.Rational):
            return Piece(f"{value.p} / {value.q}")
        if isinstance(value, sympy.Pow) and value.args[1] == sympy.Rational(1, 2):
            return Piece(self.language.root.format(self.number(value.args[0])))
        return Piece(repr(nearest_float(value)))


def _reads(part: View) -> list[int]:
    """The lines an expression reads, each as often as it does."""
    if part.kind == "line":
        return [part.line]
    return [number for inner in part.parts for number in _reads(inner)]


def _narrowed(operands: tuple[View | Scalar, ...], shape: tuple[int, ...]) -> list[View | Scalar]:
    """The operands without what broadcasting does by itself."""
    out: list[View | Scalar] = list(operands)
    for place, part in enumerate(out):
        while isinstance(part, View) and _drops(part):
            others = [
                other.shape
                for at, other in enumerate(out)
                if at != place and isinstance(other, View)
            ]
            if np.broadcast_shapes(part.parts[0].shape, *others) != shape:
                break
            part = out[place] = part.parts[0]  # noqa: PLW2901  as long as something drops
    return out


def _drops(part: View) -> bool:
    """Whether a view only repeats entries, or adds leading axes."""
    if part.kind == "broadcast":
        return True
    if part.kind != "index":
        return False
    inner = part.parts[0].shape
    news = len(part.details) - len(inner)
    rest = part.details[news:]
    return all(detail is None for detail in part.details[:news]) and all(
        detail == (0, size, 1) for detail, size in zip(rest, inner, strict=True)
    )
