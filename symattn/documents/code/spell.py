"""A program spelled in a language; everything a language has of its own is in its table."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

import sympy

from symattn.arithmetic.recorded import Recorded, Value, is_of, together
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.language import Language
from symattn.documents.code.line_breaks import fitted
from symattn.documents.code.program import Program
from symattn.documents.code.remarks import NO_KEY, unscaled, why
from symattn.documents.code.sizes import Sizes
from symattn.errors import CannotSpell
from symattn.notation.latex import escape_controls
from symattn.step import Step

#: Operations entry by entry, in which a matrix of one number is that number.
_BROADCASTS = ("add", "subtract", "multiply", "divide", "where")

#: What a value that no step makes is called, by its operation.
_NOUNS = {
    "hidden": "hidden",
    "every": "empty",
    "some": "any_visible",
    "exp": "exps",
    "row_sum": "sums",
    "total": "sums",
    "row_max": "largest",
    "cos": "cos",
    "sin": "sin",
    "powers": "theta",
    "numbers": "position",
    "listed": "tokens",
    "where": "kept",
    "add": "total",
    "subtract": "difference",
    "multiply": "product",
    "matmul": "product",
    "divide": "quotient",
    "tanh": "activations",
    "heads apart": "split",
    "σ": "gates",
    "above0": "positive",
    "entries": "chosen",
}

#: What is named after what is done to it.
_ROLES = {"cos": "angles", "sin": "angles", "look up": "documents"}

#: Values so plain that they are written wherever they are used.
_PLAIN = ("filled", "negative", "transpose", "expand", "pick", "always", "never")

#: Values that have a line of their own wherever they are used.
_NAMED = ("listed", "table", "powers", "cos", "sin", "narrowed", "numbers", "repeat")

#: Operations whose operands beside matrices are sizes and places.
_SIZED = ("repeat", "shared", "pick", "heads apart", "groups", "sums_at", "entries", "identity")

#: The opposites of comparisons.
_OPPOSITES = {"at most": "above", "below": "at least", "at least": "below", "above": "at most"}

#: So many statements, with the blank lines between them, are one paragraph.
_BRIEF = 5

#: A value longer than this gets a line of its own.
_LONG = 60

#: Names that mislead where they stand alone.
_MISREAD = ("l", "o", "i", "j")


def spelled(program: Program, language: Language, docs: Sequence[str] = ()) -> str:
    """The program as a function ``attention`` of its inputs: all steps by their names.

    `docs` are the lines of its description.
    """
    writer = _Writer(program, language)
    code = writer.function(docs)
    crowded = {noun for noun, count in writer.nouns.items() if count > 1}
    return _Writer(program, language, crowded).function(docs) if crowded else code


def words_in(line: str, language: Language) -> str:
    """Words as they may stand in a description, which they cannot end."""
    plain = escape_controls(line).replace("\\", "/").replace("##", "# #")
    return plain.replace(*language.unquoted)


def variable(name: str) -> str:
    """The name of a matrix as programs write it: in small letters, W_Q as ``w_q``."""
    plain = re.sub(r"\W+", "_", name.lower().replace("δ", "delta_"))
    return plain if plain.isidentifier() else f"matrix_{plain}".rstrip("_")


def names(program: Program) -> dict[str, str]:
    """The name in programs of each matrix, by its letter; of two that are alike one is numbered."""
    found: dict[str, str] = {}
    for item, _ in (*program.inputs, *program.steps):
        base, count = variable(item.name), 1
        name = base
        while name in found.values():
            count += 1
            name = f"{base}_{count}"
        found[item.letter] = name
    return found


class _Writer:
    """`crowded` are the nouns of several values, which are told apart by their steps."""

    def __init__(self, program: Program, language: Language, crowded: Collection[str] = ()) -> None:
        self.program, self.language, self.crowded = program, language, crowded
        self.nouns: Counter[str] = Counter()
        self.subject = ""
        self.taken = {*language.reserved, *language.helpers, *keyword.kwlist, *_MISREAD}
        self.names: dict[Recorded, str] = {}
        self.inlined: dict[Recorded, Piece] = {}
        keys = names(program)
        variables = {letter: self._free(name) for letter, name in keys.items()}
        self.inputs = {item.letter: variables[item.letter] for item, _ in program.inputs}
        self.results = {step.letter: variables[step.letter] for step, _ in program.steps}
        self.keys = {letter: keys[letter] for letter in self.results}
        for item, value in program.inputs:
            self.names[value] = self.inputs[item.letter]
        for value in program.parameters:
            self.names[value] = str(value.details[0])
        numeric = (i.letter for i, _ in program.inputs if i.logits or not i.fixed)
        #: A matrix of numbers, not of true and false, whose type and place the constants take.
        self.like = self.inputs[next(numeric, program.inputs[0][0].letter)]
        self.sizes = Sizes(program, language, self._free_size)
        self.uses: Counter[Recorded] = Counter()
        self.roles: dict[Recorded, str] = {}
        #: Whether each value has the axes of a batch ahead of its own.
        self.batched: dict[Recorded, bool] = {}
        seen: set[Recorded] = set()
        self.stepwise = [(step, self._resolved(value)) for step, value in program.steps]
        for _, value in self.stepwise:
            self._count(value, seen)
        #: The masks that are conditions, whose shapes are told.
        self.masks = {value for step, value in program.steps if step.letter in program.conditions}
        #: The numbers of heads and groups of what is repeated.
        self.shared: list[tuple[sympy.Expr, sympy.Expr]] = []
        #: The lines of each statement.
        self.body: list[list[str]] = []
        #: Whether there is a line for the type of all numbers; a matrix that has it, if any yet.
        self.typed, self.quotient = False, ""
        #: Whether there is one for the type of what is made of positions.
        self.widened = False

    # ---- the graph -----------------------------------------------------------------------------

    def _resolved(self, x: Recorded) -> Recorded:
        """The value itself; for a call of a function that the language lacks, what it does."""
        while x.operation == "call" and self.language.template(x.details[0], 0) is None:
            x = x.operands[-1]  # type: ignore[assignment]
        return x

    def _operands(self, x: Recorded) -> tuple[Value, ...]:
        operands = x.operands[:-1] if x.operation == "call" else x.operands
        return tuple(self._resolved(one) if isinstance(one, Recorded) else one for one in operands)

    def _count(self, x: Recorded, seen: set[Recorded]) -> None:
        """How often each value is written; where positions have no grids, as a whole matrix."""
        if x in seen:
            return
        seen.add(x)
        for one in self._operands(x):
            if isinstance(one, Recorded):
                entries = self.language.grids is None and one.positional and x.positional
                self.uses[one] += 0 if entries else 1
                if x.operation in _ROLES:
                    self.roles[one] = _ROLES[x.operation]
                self._count(one, seen)

    # ---- the function --------------------------------------------------------------------------

    def function(self, docs: Sequence[str]) -> str:
        """The whole function."""
        language = self.language
        upstream = {name for name in self.inputs.values() if name.startswith("d_")}
        stage = earlier = 0
        for step, value in self.stepwise:
            name = self.results[step.letter]
            first, _, rest = name.partition("_")
            self.subject = first if rest and first in self.names.values() else name
            before = len(self.body)
            if value in self.names:
                code = Piece(self.names[value])
            else:
                code = self.code(value)
                self.names[value] = name
            several = len(self.body) > before + 1
            stage = max(stage, _stage(step))
            self._tell(name, code, value, unscaled(self.program, step))
            self.quotient = name if value.operation == "divide" else self.quotient
            backward = [name for name in upstream if re.search(rf"\b{name}\b", self.body[-1][-1])]
            self.body[before:before] = self._comment(why(self.program, step, several=several))
            if before and (several or backward or stage > earlier):  # a paragraph of its own
                self.body.insert(before, [])
                upstream = upstream - {*backward}
            earlier = stage
        body, self.body = self.body, []
        sizes = [*self.sizes.lines(self.inputs)]
        named = {read: size for size, read in sizes}
        for size, read in sizes:
            rows, columns = f"{read[:-4]}[-2]", f"{read[:-4]}[-1]"
            if read == rows and columns in named:
                self._tell(f"{size}, {named[columns]}", f"{read[:-4]}[-2:]")
            elif read != columns or rows not in named or named[columns] != size:
                self._tell(size, read)
        if self.typed:
            self._tell("dtype", language.dtype.format(like=self.like))
        if self.widened:
            self._tell("wide", language.wide)
        self._refuse()
        if len(body) <= _BRIEF:
            body = [lines for lines in body if lines]
        statements = [*self.body, *([[]] if self.body else []), *body, []]
        pairs = ", ".join(
            language.pair[key == self.results[letter]].format(key, self.results[letter])
            for letter, key in self.keys.items()
        )
        returned = fitted(
            language.returned.format(pairs=pairs), language.style, language.style.indent
        )
        described = self._described(docs)
        return "\n".join(
            [
                *(described if language.docs_first else ()),
                *self._header(),
                *(() if language.docs_first else described),
                *("\n".join(lines) for lines in statements),
                *returned,
                language.footer,
            ]
        )

    def _header(self) -> list[str]:
        """The first line, broken like any other though it ends with what opens the body."""
        language = self.language
        *arrays, number, default = language.arguments
        arguments = [
            arrays[value.ndim - 1].format(self.inputs[item.letter])
            for item, value in self.program.inputs
        ]
        arguments += [number.format(one.details[0]) for one in self.program.parameters]
        arguments += [
            default.format(self.sizes.whole(one.symbol), one.kind, self._setting(one.value))
            for one in self.program.settings
        ]
        header = language.header.format(arguments=", ".join(arguments))
        if len(header) <= language.style.width:
            return [header]
        if language.style.tall:
            begin, end = header.index("{") + 1, header.index("}")
            inside = [f"{language.style.indent}{argument}," for argument in arguments]
            return [header[:begin], *inside, header[end:]]
        opening = header.rindex(")") + 1
        lines = fitted(header[:opening], language.style, broken=True)
        return [*lines[:-1], lines[-1] + header[opening:]]

    def _refuse(self) -> None:
        """Lines that stop a number of heads that the groups do not divide."""
        language, indent = self.language, self.language.style.indent
        for heads, groups in dict.fromkeys(self.shared):
            if not (heads.free_symbols or groups.free_symbols):
                continue  # numbers that were chosen, and divide
            test, error = (
                part.format(self.sizes.whole(heads), self.sizes.whole(groups))
                for part in language.refused
            )
            line = f"{indent}{test} {error}"
            if not language.style.tall or len(line) > language.style.width:
                lines = [f"{indent}{test}", f"{indent * 2}{error}"]
            else:
                lines = [line]
            self.body.append(lines)

    def _tell(self, name: str, code: str, value: Recorded | None = None, remark: str = "") -> None:
        """A line of its own; beside it, if that fits, a note: a shape, and a remark."""
        language = self.language
        lines = fitted(
            language.assignment.format(name=name, code=code), language.style, language.style.indent
        )
        told = [remark] if value is None else [self._note(value), remark]
        if note := ", ".join(filter(None, told)):
            comment = language.comment.format(note)
            if len(lines) == 1 and len(lines[0]) + 2 + len(comment) <= language.style.width:
                lines = [f"{lines[0]}{language.gap}{comment}"]
        self.body.append(lines)

    def _comment(self, reason: str) -> list[list[str]]:
        """The first sentence of a reason, in one line or two."""
        sentence = escape_controls(" ".join(reason.split()).partition(". ")[0]).rstrip(".")
        style, comment = self.language.style, self.language.comment
        width = style.width - len(style.indent) - len(comment.format(""))
        lines = [f"{style.indent}{comment.format(line)}" for line in wrap(sentence, width)]
        return [lines] if 0 < len(lines) < 3 else []

    def _note(self, x: Recorded) -> str:
        """The shape of a value that no value in it has; of repeated heads, how many use each."""
        if x.operation == "repeat" and x.details == (-3,):
            return f"each serves {self.sizes.whole(x.operands[1])} heads"
        if self._keeps_shape(x):
            return ""
        return Sizes.shown(x.shape, batched=self.language.batches and self._batched(x))

    def _batched(self, x: Recorded) -> bool:
        """Whether a value has what is given for each of a batch in it."""
        if x not in self.batched:
            parts = [one for one in self._operands(x) if isinstance(one, Recorded)]
            own = x.operation == "given" and self.program.batched(x)
            self.batched[x] = own or any(map(self._batched, parts))
        return self.batched[x]

    def _keeps_shape(self, x: Recorded) -> bool:
        """Whether a value is a number, a place, or of the shape of what it is made of."""
        if x.positional and x.operation != "broadcast":
            return x.ndim != 2 or x not in self.masks
        if x.operation == "narrowed" and isinstance(x.operands[0], Recorded):
            return self._keeps_shape(x.operands[0])
        if x.operation == "matmul":
            return False
        parts = [one for one in self._operands(x) if isinstance(one, Recorded)]
        return any(one.shape == x.shape for one in parts if not one.positional)

    def _described(self, docs: Sequence[str]) -> list[str]:
        language = self.language
        first, other, last = language.docs
        clean = [words_in(line, language) for line in docs]
        told = [(first if k == 0 else other) + words for k, words in enumerate(clean)]
        return [*map(str.rstrip, told), last] if docs else []

    def _free_size(self, base: str) -> str:
        """The name of a size, which a matrix may have too: k."""
        return self._free(f"{base}_size" if base in self.taken else base)

    def _free(self, base: str) -> str:
        """The name, with an ending if there is one like it."""
        count, name = 1, base
        if name in (*self.language.reserved, *self.language.helpers, *keyword.kwlist, *_MISREAD):
            name = f"{base}_"
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    # ---- values ----------------------------------------------------------------------------------

    def piece(self, x: Value) -> Piece:
        """A value where another one uses it."""
        if not isinstance(x, Recorded):
            return self.sizes.number(x)
        if x in self.names:
            return Piece(self.names[x])
        if x.operation == "beneath" and not self.language.batches and x.ndim == 3:
            return self.piece(self._operands(x)[0])  # which broadcasts
        if x not in self.inlined:
            code = self.code(x)
            if x in self.names:  # which it got on the way
                return Piece(self.names[x])
            shared = self.uses[x] > 1 and x.operation not in _PLAIN
            whole = x.positional and self.language.grids is None
            if shared or whole or len(code) > _LONG or x.operation in _NAMED:
                return self._line(x, code)
            self.inlined[x] = code
        return self.inlined[x]

    def _line(self, x: Recorded, code: Piece) -> Piece:
        noun = self._noun(x)
        self.nouns[noun] += 1
        name = self._free(f"{self.subject}_{noun}" if noun in self.crowded else noun)
        self.names[x] = name
        if x.operation in ("every", "some"):
            self.body += self._comment(NO_KEY)
        self._tell(name, code, x)
        return Piece(name)

    def _set_apart(self, x: Recorded) -> Piece:
        """A value in two lines: itself in one, or what it only turns around."""
        self.inlined.pop(x, None)
        inner = self._operands(x)[0] if x.operation in ("transpose", "negative") else x
        if inner is x or inner in self.names:
            return self._line(x, self.code(x))
        self._set_apart(inner)
        return self.code(x)

    def _noun(self, x: Recorded) -> str:
        if x.operation == "narrowed" and isinstance(x.operands[0], Recorded):
            return self._noun(x.operands[0])
        if x in self.roles:
            return self.roles[x]
        if x.operation == "powers" and x.details[0] > 0:
            return "periods"
        if x.operation in ("call", "table", "places"):
            return str(x.details[0]).split("_")[-1]
        if x.operation == "√" and _is_norm(self._operands(x)[0]):
            return "norm"
        if x.positional and x.operation in (*_OPPOSITES, "equals", "and", "or", "not", "among"):
            return "visible"
        if x.operation == "repeat" and isinstance(x.operands[0], Recorded):
            whole = self.names.get(self._resolved(x.operands[0]), "matrices")
            return f"{whole}_by_head" if x.details == (-3,) else "repeated"
        if x.operation == "equals" and isinstance(x.operands[0], Recorded):
            return "visible" if x.operands[0].operation == "given" else "empty"
        if x.operation == "numbers" and not is_of(x.operands[0], "rows"):
            return "offset" if is_of(x.operands[0], "subtract") else "distance"
        if x.positional and x.operation != "listed":
            return "offset" if x.operation == "subtract" else "index"
        if x.operation == "beneath":
            return f"{self.names.get(self._operands(x)[0], 'shared')}_heads"
        return _NOUNS.get(x.operation, "value")

    def code(self, x: Recorded) -> Piece:
        """What a value is."""
        if x.positional and x.operation != "broadcast":
            return self._placed(x)
        operands = self._operands(x)
        match x.operation:
            case "call" | "table" | "places":
                return self._called(x, operands, self.piece)
            case "broadcast" if x.positional and self.language.grids is None:
                return self._placed(x)
            case "part":
                return self._part(x, *operands)
            case "join":
                return self._joined(x, operands)
            case "where":
                return self._where(x, *operands)
            case "narrowed":
                inner = self.code(*operands)
                return self._filled_in(self.language.operations["narrowed"], x, inner)
            case "numbers" if (counted := self._counted(operands[0])) is not None:
                return counted
            case "literal":
                return self._format(x, [Piece(self._nested(x.details))])
            case "beneath" if is_of(operands[0], "expand") and self.language.batches:
                vector = self._operands(operands[0])[0]
                template = self.language.operations["expand beneath"]
                return self._filled_in(template, x, self.piece(vector))
            case "heads beside" if "heads beside" in self.language.operations:
                heads = self.piece(operands[0])
                heads = heads if heads.isidentifier() else self._line(operands[0], heads)
                template = self.language.operations["heads beside"]
                rows = self.sizes.whole(x.shape[-2]) if "{rows}" in template else ""
                return self._filled_in(template, x, heads, rows=rows)
            case "repeat" if x.details == (-3,):
                self.shared.append((x.shape[-3], operands[0].shape[-3]))
            case "powers":
                base, size = operands
                sign = "-" if x.details[0] < 0 else ""
                pieces = [self.sizes.number(base), self.sizes.whole(size)]
                return self._filled_in(self.language.operations["powers"], x, *pieces, sign=sign)
            case "expand" if self._is_twice(x):
                table = self._operands(operands[0])[0]
                template = self.language.operations["expand twice"]
                return self._filled_in(template, x, self.piece(table))
        pieces = [
            self.sizes.whole(one)
            if x.operation in _SIZED and not isinstance(one, Recorded)
            else self.piece(one)
            for one in self._narrowed(x, operands)
        ]
        if x.operation in (*_BROADCASTS, "matmul") and sum(map(len, pieces)) > _LONG:
            longest = max(range(len(pieces)), key=lambda place: len(pieces[place]))
            one = [*self._narrowed(x, operands)][longest]
            if isinstance(one, Recorded) and one not in self.names:
                pieces[longest] = self._set_apart(one)
        if x.operation == "multiply" and is_of(operands[0], "multiply") and self.language.batches:
            return Piece(f"{pieces[0]} * {pieces[1]:a}")
        if x.operation == "matmul" and operands[1].ndim == 1:
            return self._format(x, pieces, "matmul a vector")
        return self._format(x, pieces)

    def _is_twice(self, x: Recorded) -> bool:
        """Whether two axes are put behind the one that there is."""
        inner = self._operands(x)[0]
        twice = is_of(inner, "expand") and inner.details == x.details == (-1,)
        return twice and x.ndim == 3 and self.language.batches

    def _format(self, x: Recorded, pieces: Sequence[Piece], name: str = "") -> Piece:
        name = name or x.operation
        for detail in x.details:
            name = f"{name} {detail}" if f"{name} {detail}" in self.language.operations else name
        template = self.language.template(name, len(pieces))
        if template is None:
            raise CannotSpell(f"{name} has no program in {self.language.name}")
        return self._filled_in(template, x, *pieces)

    def _filled_in(self, template: str, x: Recorded, *pieces: str, **more: str) -> Piece:
        """A template with the pieces of its operands, and what else it asks for."""
        self.widened |= "{wide}" in template
        self.typed |= self.widened
        dtype = "dtype" if self.typed or not self.quotient else f"{self.quotient}.dtype"
        self.typed |= "{dtype}" in template and dtype == "dtype"
        if "{shape}" in template:
            more["shape"] = self.sizes.shape(x.shape)
        axis = x.details[0] if x.details else ""
        more |= {"like": self.like, "dtype": dtype, "wide": "wide"}
        return Piece(template.format(*pieces, axis=axis, **more))

    def _narrowed(self, x: Recorded, operands: tuple[Value, ...]) -> Iterator[Value]:
        """The operands, those of one number throughout, or repeated, as what broadcasts."""
        for place, one in enumerate(operands):
            others = [
                other.shape
                for at, other in enumerate(operands)
                if at != place and isinstance(other, Recorded)
            ]
            inner = self._operands(one)[0] if self._spreads(x, one) else one
            shape = inner.shape if isinstance(inner, Recorded) else ()
            fits = all(
                size in (1, wanted)
                for size, wanted in zip(reversed(shape), reversed(x.shape), strict=False)
            )
            yield inner if fits and together(*others, shape) == x.shape else one

    def _spreads(self, x: Recorded, one: Value) -> bool:
        """Whether an operand only repeats a number or a matrix that would broadcast."""
        repeats = isinstance(one, Recorded) and one.operation in ("filled", "repeat", "broadcast")
        return repeats and x.operation in _BROADCASTS and one not in self.names

    def _called(
        self, x: Recorded, operands: Sequence[Value], spelled: Callable[[Value], Piece]
    ) -> Piece:
        """A call of a function by its name; of sizes and settings, whole numbers."""
        name = x.details[0]
        pieces = [
            spelled(one) if isinstance(one, Recorded) else self._setting(one) for one in operands
        ]
        template = self.language.template(name, len(pieces))
        if template is None:
            raise CannotSpell(
                f"{name} has no program in {self.language.name}: write it among its helpers"
            )
        called = Piece(template.format(*pieces))
        if x.operation == "table":
            return self._filled_in(self.language.operations["table"], x, called)
        return called

    def _setting(self, value: Value) -> Piece:
        """A number or a truth that a function is given."""
        if isinstance(value, bool):
            return Piece(self.language.truths[not value])
        return self.sizes.number(value)

    def _part(self, x: Recorded, whole: Recorded, first: sympy.Expr, stop: sympy.Expr) -> Piece:
        axis, step = x.details
        size = whole.shape[axis]
        ends = sympy.expand(stop - size).is_nonnegative
        if "part" in self.language.operations:
            bounds = [self.sizes.whole(first), self.sizes.whole(size if ends else stop)]
            template = self.language.operations["part"]
            return self._filled_in(template, x, self.piece(whole), *bounds, step=step)
        begin = self.sizes.whole(first) if first != 0 or step > 1 else ""
        end = "" if ends else self.sizes.whole(stop)
        if " " in begin + end:  # then the colon stands apart, as Black has it
            begin, end = f"{begin} " if begin else "", f" {end}" if end else ""
        chosen = f"{begin}:{end}" + (f":{step}" if step > 1 else "")
        behind = ", :" * (-1 - axis)
        return Piece(f"{self.piece(whole):a}[..., {chosen}{behind}]")

    def _joined(self, x: Recorded, operands: Sequence[Value]) -> Piece:
        """One matrix after the other, with the heads and the batches that the others have."""
        axis = x.details[0]
        ahead = min(axis, -2)  # matrices of heads themselves are joined by their own axis
        lead = x.shape[:ahead]
        batched = x.batched and self.language.batches
        full = next(
            (one for one in operands if one.shape[:ahead] == lead and one.batched >= batched), None
        )
        pieces = []
        for one in operands:
            code = self.piece(one)
            if one.shape[:ahead] != lead or one.batched < batched:
                if full is None:
                    raise CannotSpell("matrices of different heads are joined")
                if full not in self.names and full not in self.inlined:
                    self.piece(full)
                if full not in self.names:
                    self._line(full, self.inlined.pop(full))
                rows, columns = map(self.sizes.whole, one.shape[-2:])
                template = self.language.operations["with heads"]
                whole = replace(one, shape=(*lead, *one.shape[-2:]))
                code = self._filled_in(template, whole, code, self.names[full], rows, columns)
            pieces.append(code)
        template = self.language.operations["join"]
        return Piece(template.format(all=", ".join(pieces), axis=axis))

    def _where(self, x: Recorded, condition: Recorded, one: Value, other: Value) -> Piece:
        """A choice; with one number, by its own way where the language has one."""
        one, other = [*self._narrowed(x, (condition, one, other))][1:]
        values = [isinstance(part, Recorded) for part in (one, other)]
        if values in ([False, True], [True, False]) and "fill" in self.language.operations:
            kept, number, code = other, one, self.piece(condition)
            if values[0]:
                kept, number, opposite = one, other, x.owner.opposite(condition)
                code = self.piece(opposite) if opposite in self.names else self._opposite(condition)
            template, filled = self.language.operations["fill"], self.piece(kept)
            filled = self._set_apart(kept) if len(filled) > _LONG // 2 else filled
            return self._filled_in(template, x, filled, code, self.piece(number))
        typed = not any(values) and "where of numbers" in self.language.operations
        pieces = [*map(self.piece, (condition, one, other))]
        return self._format(x, pieces, "where of numbers" if typed else "where")

    def _opposite(self, condition: Recorded) -> Piece:
        if condition.operation == "not":
            return self.piece(self._operands(condition)[0])
        return Piece(self.language.places["not"].format(self.piece(condition)))

    def _counted(self, places: Recorded) -> Piece | None:
        """The positions of the rows as numbers; None for other places."""
        if places.operation != "rows":
            return None
        if "counted" not in self.language.operations:
            return self._placed(places)
        span = self._span(places, 0)
        return self._filled_in(self.language.operations["counted"], places, span)

    def _span(self, places: Recorded, axis: int) -> Piece:
        """Where the positions of rows or columns begin, unless at 0, and where they end."""
        start = places.operands[0] if places.operands else sympy.S.Zero
        end = self.sizes.whole(start + places.shape[axis])
        return end if start == 0 else Piece(f"{self.sizes.whole(start)}, {end}")

    def _nested(self, values: object) -> str:
        if isinstance(values, tuple):
            return f"[{', '.join(map(self._nested, values))}]"
        return self.sizes.number(sympy.sympify(values, strict=True))

    # ---- positions -------------------------------------------------------------------------------

    def _placed(self, x: Recorded) -> Piece:
        """What follows from positions: of grids, or entry by entry."""
        if not self._is_triangle(x):
            self._grids_of(x)
        if x.operation == "listed":
            listed = f"[{', '.join(map(str, x.details))}]"
            return Piece(self.language.places["listed"].format(listed, like=self.like))
        if self.language.grids is not None:
            return self._triangle(x) or self._entry(x)
        rows, columns = map(self.sizes.whole, x.shape[-2:])
        template = self.language.places["table"]
        return Piece(template.format(self._entry(x), rows=rows, columns=columns))

    def _is_triangle(self, x: Recorded) -> bool:
        """Whether a condition says j ≤ i + start for grids that nothing else has asked for."""
        return (
            "triangle" in self.language.places
            and x.operation == "at most"
            and is_of(x.operands[0], "columns")
            and is_of(x.operands[1], "rows")
            and not all(part in self.names for part in self._operands(x))
        )

    def _triangle(self, x: Recorded) -> Piece | None:
        """A lower triangle by its own function; None for other conditions."""
        if not self._is_triangle(x):
            return None
        start, sizes = self._operands(x)[1].operands[0], x.shape[-2:]
        name = "triangle" if sizes[0] == sizes[1] else "triangle of sizes"
        template = self.language.places[name if start == 0 else "triangle from"]
        return self._filled_in(template, x, *map(self.sizes.whole, (*sizes, start)))

    def _entry(self, x: Value) -> Piece:
        """A positional value in terms of i and j."""
        if not isinstance(x, Recorded):
            return self.sizes.whole(x)
        grids, places = self.language.grids, self.language.places
        if x.operation in ("rows", "columns"):
            return self._grid(x)
        if x.operation == "listed":
            return self.piece(x)
        operands = self._operands(x)
        if x.operation == "broadcast" and grids is None:
            return self._entry(operands[0])

        def inner(part: Value) -> Piece:
            if grids is None or not isinstance(part, Recorded):
                return self._entry(part)
            return self.piece(part)

        if (
            x.operation == "not"
            and operands[0].operation in _OPPOSITES
            and operands[0] not in self.names
        ):
            pieces = [*map(inner, self._operands(operands[0]))]
            return Piece(places[_OPPOSITES[operands[0].operation]].format(*pieces))
        if x.operation in ("and", "or"):
            found = [*self._parts(x, x.operation)]
            wide = [self._operands(one)[0] if is_of(one, "broadcast") else one for one in found]
            found = wide if together(*(one.shape for one in wide)) == x.shape else found
            parts = [self._inside(part) for part in found]
            return Piece(places[x.operation].join(parts))
        if x.operation == "places":
            return self._called(x, operands, inner)
        if x.operation == "add" and not isinstance(operands[1], Recorded):
            return self.sizes.added(inner(operands[0]), operands[1])
        if x.operation not in places:
            raise CannotSpell(f"{x.operation} has no program in {self.language.name}")
        return self._filled_in(places[x.operation], x, *map(inner, operands))

    def _free_grid(self, letter: str) -> str:
        """The letter i or j, which nothing else is called; numbered where sizes differ."""
        count, name = 1, letter
        while name in self.names.values():
            count += 1
            name = f"{letter}_{count}"
        self.taken.add(name)
        return name

    def _inside(self, part: Recorded) -> str:
        """A condition among others, with brackets where they bind tighter."""
        grids = self.language.grids is not None
        alone = part in self.names or self.uses[part] > 1 or part.operation == "broadcast"
        code = self.piece(part) if grids and alone else self._entry(part)
        if self.language.grids is not None:
            return f"{code:a}"
        return f"({code})" if part.operation in ("and", "or") else str(code)

    def _parts(self, x: Recorded, operation: str) -> Iterator[Recorded]:
        """The parts of conditions that are joined alike."""
        for part in self._operands(x):
            named = self.language.grids is not None and part in self.names
            if part.operation != operation or named:
                yield part
            else:
                yield from self._parts(part, operation)

    def _grids_of(self, x: Value) -> None:
        """The numbers of rows before those of columns."""
        if self.language.grids is not None and isinstance(x, Recorded):
            found = [*self._grids_in(x)]
            for operation in ("rows", "columns"):
                for one in found:
                    if one.operation == operation:
                        self._grid(one)

    def _grids_in(self, x: Recorded) -> Iterator[Recorded]:
        if x.operation in ("rows", "columns"):
            yield x
        for one in self._operands(x):
            if isinstance(one, Recorded) and one.positional and one not in self.names:
                yield from self._grids_in(one)

    def _grid(self, x: Recorded) -> Piece:
        """The number of the row, or of the column."""
        letter, place = ("i", 0) if x.operation == "rows" else ("j", 1)
        if self.language.grids is None:
            return self.sizes.added(Piece(letter), x.operands[0] if x.operands else sympy.S.Zero)
        if x not in self.names:
            span = self._span(x, place)
            self.names[x] = self._free_grid(letter)
            self._tell(self.names[x], self.language.grids[place].format(span, like=self.like))
        return Piece(self.names[x])


def _stage(step: Step) -> int:
    """A stage of attention, each a paragraph: to project, compare, mask, and normalise and mix."""
    return 3 if step.weights else 2 if step.fixed else int(step.logits)


def _is_norm(x: Value) -> bool:
    """Whether a value, under a root, is the length of each row."""
    if not is_of(x, "row_sum"):
        return False
    (squares,) = x.operands
    return is_of(squares, "multiply") and len({*squares.operands}) < 2
