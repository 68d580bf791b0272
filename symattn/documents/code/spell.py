"""A program spelled in a language; everything a language has of its own is in its table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from symattn.documents.code.body import Body, Names, unlike
from symattn.documents.code.bracketed import Piece
from symattn.documents.code.expressions import Expressions
from symattn.documents.code.graph import Graph
from symattn.documents.code.language import Language
from symattn.documents.code.line_breaks import fitted
from symattn.documents.code.program import Program
from symattn.documents.code.remarks import unscaled, why
from symattn.documents.code.sizes import Sizes
from symattn.notation.latex import escape_controls
from symattn.step import Step


def spelled(program: Program, language: Language, docs: Sequence[str] = ()) -> str:
    """The program as a function ``attention`` of its inputs: all steps by their names.

    `docs` are the lines of its description.
    """
    function = _Function(program, language)
    code = function.text(docs)
    crowded = {noun for noun, count in function.expressions.nouns.items() if count > 1}
    return _Function(program, language, crowded).text(docs) if crowded else code


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
        found[item.letter] = unlike(variable(item.name), found.values())
    return found


class _Function:
    """The lines of a function, from its header to what it returns."""

    def __init__(self, program: Program, language: Language, crowded: Collection[str] = ()) -> None:
        self.program, self.language = program, language
        self.graph, self.names = Graph(program, language), Names(language)
        keys = names(program)
        variables = {letter: self.names.free(name) for letter, name in keys.items()}
        self.inputs = {item.letter: variables[item.letter] for item, _ in program.inputs}
        self.results = {step.letter: variables[step.letter] for step, _ in program.steps}
        self.keys = {letter: keys[letter] for letter in self.results}
        for item, value in program.inputs:
            self.names.of[value] = self.inputs[item.letter]
        numeric = (i.letter for i, _ in program.inputs if i.logits or not i.fixed)
        like = self.inputs[next(numeric, program.inputs[0][0].letter)]
        self.sizes = Sizes(program, language, self.names.of_size)
        self.body = Body(language, self.sizes, like)
        self.expressions = Expressions(self.graph, self.names, self.sizes, self.body, crowded)

    def text(self, docs: Sequence[str]) -> str:
        """The whole function."""
        language = self.language
        steps = self._steps()
        start = self._start()
        if len(steps) <= language.style.brief:
            steps = [lines for lines in steps if lines]
        statements = [*start, *([[]] if start else []), *steps, []]
        pairs = ", ".join(
            language.pair[key == self.results[letter]].format(key, self.results[letter])
            for letter, key in self.keys.items()
        )
        code = language.returned.format(pairs=pairs)
        described, header = self._described(docs), self._header()
        lines = [
            *(described + header if language.docs_first else header + described),
            *("\n".join(lines) for lines in statements),
            *fitted(code, language.style, language.style.indent),
            language.footer,
        ]
        return "\n".join(lines)

    def _steps(self) -> list[list[str]]:
        """A statement or more for each step, with what is said above it, in paragraphs."""
        body, named = self.body, self.names.of
        upstream = {name for name in self.inputs.values() if name.startswith("d_")}
        stage = earlier = 0
        for step, value in self.graph.steps:
            name = self.results[step.letter]
            first, _, rest = name.partition("_")
            self.expressions.subject = first if rest and first in named.values() else name
            before = len(body.statements)
            code = Piece(named[value]) if value in named else self.expressions.code(value)
            named.setdefault(value, name)
            several = len(body.statements) > before + 1
            stage = max(stage, _stage(step))
            body.tell(name, code, self.expressions.note(value), unscaled(self.program, step))
            body.quotient = name if value.operation == "divide" else body.quotient
            last = body.statements[-1][-1]
            backward = {name for name in upstream if re.search(rf"\b{name}\b", last)}
            comment = body.comment(why(self.program, step, several=several))
            apart = before and (several or backward or stage > earlier)  # a paragraph of its own
            body.statements[before:before] = [[], *comment] if apart else comment
            upstream = upstream - backward if apart else upstream
            earlier = stage
        return body.statements

    def _start(self) -> list[list[str]]:
        """The sizes that are used, the types of numbers, and what heads have to divide."""
        start = Body(self.language, self.sizes, self.body.like)
        sizes = [*self.sizes.lines(self.inputs)]
        named = {read: size for size, read in sizes}
        for size, read in sizes:
            rows, columns = f"{read[:-4]}[-2]", f"{read[:-4]}[-1]"
            if read == rows and columns in named:
                start.tell(f"{size}, {named[columns]}", f"{read[:-4]}[-2:]")
            elif read != columns or rows not in named or named[columns] != size:
                start.tell(size, read)
        if "dtype" in self.body.types:
            start.tell("dtype", self.language.dtype.format(like=self.body.like))
        if "wide" in self.body.types:
            start.tell("wide", self.language.wide)
        return [*start.statements, *self._refused()]

    def _refused(self) -> Iterator[list[str]]:
        """Lines that stop a number of heads that the groups do not divide."""
        style = self.language.style
        for heads, groups in dict.fromkeys(self.expressions.shared):
            if not (heads.free_symbols or groups.free_symbols):
                continue  # numbers that were chosen, and divide
            sizes = self.sizes.whole(heads), self.sizes.whole(groups)
            test, error = (part.format(*sizes) for part in self.language.refused)
            line = f"{style.indent}{test} {error}"
            fits = style.tall and len(line) <= style.width
            yield [line] if fits else [f"{style.indent}{test}", f"{style.indent * 2}{error}"]

    def _header(self) -> list[str]:
        """The first line, broken like any other though it ends with what opens the body."""
        language, style = self.language, self.language.style
        *arrays, default = language.arguments
        arguments = [
            arrays[value.ndim - 1].format(self.inputs[item.letter])
            for item, value in self.program.inputs
        ]
        arguments += [
            default.format(self.sizes.whole(one.symbol), one.kind, self.sizes.setting(one.value))
            for one in self.program.settings
        ]
        header = language.header.format(arguments=", ".join(arguments))
        if len(header) <= style.width:
            return [header]
        if style.tall:
            begin, end = header.index("{") + 1, header.index("}")
            inside = [f"{style.indent}{argument}," for argument in arguments]
            return [header[:begin], *inside, header[end:]]
        opening = header.rindex(")") + 1
        lines = fitted(header[:opening], style, broken=True)
        return [*lines[:-1], lines[-1] + header[opening:]]

    def _described(self, docs: Sequence[str]) -> list[str]:
        first, other, last = self.language.docs
        clean = [words_in(line, self.language) for line in docs]
        told = [(first if k == 0 else other) + words for k, words in enumerate(clean)]
        return [*map(str.rstrip, told), last] if docs else []


def _stage(step: Step) -> int:
    """A stage of attention, each a paragraph: to project, compare, mask, and normalise and mix."""
    return 3 if step.weights else 2 if step.fixed else int(step.logits)
