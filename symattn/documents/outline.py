"""The content of a derivation, before any format: sections of sentences and notation trees.

`derivation_document` makes blocks of it, which every format spells, so that they say the same and
show the same digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

import sympy

from symattn.derivation import (
    Check,
    Derivation,
    Evaluation,
    Input,
    Item,
    Place,
    Step,
    defined_numbers,
    value_view,
    worked,
)
from symattn.documents import blocks as b
from symattn.documents.blocks import Line
from symattn.errors import SymattnError, nearest, quote
from symattn.evaluate.check import COLUMNS
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.letters import OTHERS, reader_name
from symattn.notation.options import Notation, notation_of
from symattn.notation.prose import Prose, read_prose
from symattn.notation.text import line
from symattn.notation.tree import Tree

View: TypeAlias = Literal["formula", "entry", "worked", "value"]
VIEWS: tuple[View, ...] = ("formula", "entry", "worked", "value")

#: How many worked entries stand beside the other views; ``--view worked`` shows more.
_FEW = 3


@dataclass(frozen=True)
class Section:
    """A step or an input: its name, its number among the steps, why, and its displayed lines."""

    name: str
    number: int | None
    shape: Prose
    why: Prose
    lines: tuple[Line, ...]
    left_out: str = ""


@dataclass(frozen=True)
class Outline:
    """A whole document."""

    title: str
    sizes: tuple[tuple[str, int], ...]
    given: tuple[Section, ...]
    steps: tuple[Section, ...]
    check: Check | None
    notation: Notation
    notes: tuple[str, ...] = ()
    #: The headings of the steps by name, and the sentences "Let X ∈ ℝ^(n×d) be …" of what is given.
    headings: Mapping[str, str] = field(default_factory=dict)
    introductions: Mapping[str, Prose] = field(default_factory=dict)


def outline(
    derivation: Derivation,
    evaluation: Evaluation | None = None,
    *,
    notation: Notation | None = None,
    views: Sequence[View] = VIEWS,
    only: Sequence[str] = (),
    check: Check | None = None,
    notes: Sequence[str] = (),
    entries: Mapping[str, Place] | None = None,
) -> Outline:
    """The outline of a derivation, with values where there is an evaluation.

    `only` names the steps to show; all if empty. `entries` chooses an entry of a step, by its place
    in the array: it is the one that is worked out, and boxed in the matrix. Raises `SymattnError`
    for a name or view that does not exist.
    """
    if evaluation is not None and evaluation.batch:
        sizes = " × ".join(map(str, evaluation.batch))
        raise SymattnError(
            f"batch: a derivation shows one of the {sizes} calculations of this batch; say which: "
            "--batch 1 at the command line, batch=1 or :batch: 1 in a page"
        )
    notation = notation_of(notation)
    _check_letters(derivation, notation)
    for view in views:
        if view not in VIEWS:
            raise SymattnError(f"no view is called {quote(view)}{nearest(view, VIEWS)}")
    if entries and not {"worked", "value"} & {*views}:
        raise SymattnError("entry: appears in the worked and the value view; show one of them")
    names = [item.name for item in (*derivation.inputs, *derivation.steps)]
    for name in only:
        if name not in names:
            raise SymattnError(f"no step is called {quote(name)}{nearest(name, names)}")
    writer = _Writer(derivation, evaluation, notation, tuple(views), len(views) == 1, entries or {})
    given = [item for item in derivation.inputs if not only or item.name in only]
    steps = [
        (number, step)
        for number, step in enumerate(derivation.steps, 1)
        if not only or step.name in only
    ]
    return Outline(
        derivation.title,
        tuple((evaluation or derivation).known_sizes.items()),
        tuple(writer.input(item) for item in given),
        tuple(writer.step(number, step) for number, step in steps),
        check,
        notation,
        tuple(notes),
        {item.name: item.heading for item in (*derivation.inputs, *derivation.steps)},
        {item.name: introduction(item, notation) for item in derivation.inputs},
    )


def _functions(tree: Tree) -> Iterator[Tree]:
    """The names of the functions that a formula applies, which its entries define."""
    match tree:
        case t.Row(items):
            for name, sign in pairwise(items):
                if sign == t.APPLY and name not in _KNOWN:
                    yield name
            for item in items:
                yield from _functions(item)
        case t.Frac(num, den):
            yield from (*_functions(num), *_functions(den))
        case t.Fenced(body) | t.Root(body) | t.Script(body):
            yield from _functions(body)


#: Functions that every reader knows.
_KNOWN = {t.Ident(name, roman=True) for name in ("exp", "tanh", "cos", "sin", "ln", "max", "min")}

#: How a meaning begins that takes no article.
_NO_ARTICLE = ("a ", "the ", "what ", "1 ", "added ")


def introduction(item: Input, notation: Notation) -> Prose:
    """What is given in a sentence: Let X ∈ ℝ^(n × d_model) be the token vectors."""
    speller = Speller(notation)
    sizes = [t.bracketed(speller.scalar(size), t.MULTIPLICATIVE) for size in item.shape]
    if notation.convention == "columns":
        sizes.reverse()
    numbers: Tree = t.Ident("ℝ")
    if item.boolean:
        numbers = t.Fenced(t.commas([t.Num("0"), t.Num("1")]), "{", "}")
    space = t.Script(numbers, None, t.row(sizes[0], t.Op("×"), sizes[1]))
    member = t.row(speller.matrix(item.symbol), t.Op("∈"), space)
    lead: Prose = ("Let ",)
    if item.count is not None:
        last = speller.scalar(item.count + notation.index_base - 1)
        heads = t.commas([speller.index(sympy.S.Zero), t.Op("…"), last])
        lead = ("For each head ", t.equation(notation.scalar("head"), (t.EQUALS, heads)), ", let ")
    if not item.meaning:
        return (*lead, member, " be given.")
    article = "" if item.meaning.startswith(_NO_ARTICLE) else "the "
    return (*lead, member, f" be {article}", *read_prose(item.meaning, notation), ".")


def _check_letters(derivation: Derivation, notation: Notation) -> None:
    """Refuse a notation that gives one letter two meanings.

    Those of matrices, of their entries, of sizes, and of what `Notation.symbols` names besides.
    """
    taken: dict[Tree, str] = {}
    items = (*derivation.inputs, *derivation.steps)
    letters = [(notation.letter(item.letter, item.per_head), item.name) for item in items]
    letters += [(notation.scalar(size.name), size.name) for size in derivation.size_symbols]
    letters += [
        (notation.scalar(name), reader_name(name)) for name in notation.symbols if name in OTHERS
    ]
    for item in items:
        entry = notation.entry(item.letter, None, (notation.scalar("i"), notation.scalar("j")))
        if isinstance(entry, t.Script) and entry.sup is None:
            letters.append((entry.base, item.name))
    for letter, name in letters:
        if taken.setdefault(letter, name) != name:
            raise SymattnError(
                f"symbols: {taken[letter]} and {name} would share {line(letter)}; choose another"
            )


@dataclass(frozen=True)
class _Writer:
    derivation: Derivation
    evaluation: Evaluation | None
    notation: Notation
    views: tuple[View, ...]
    alone: bool
    entries: Mapping[str, Place]
    #: What is defined already: a letter that several steps use is defined once.
    defined: set[Tree] = field(default_factory=set)

    def input(self, item: Input) -> Section:
        lines: list[Line] = []
        if self.evaluation is not None and "value" in self.views:
            lines = [Line("value", tree) for tree in self._values(item)]
        elif not self.alone:
            lines = [Line("formula", Speller(self.notation).matrix(item.symbol))]
        return Section(
            item.name,
            None,
            self._shape(item),
            read_prose(item.meaning, self.notation),
            tuple(lines),
        )

    def step(self, number: int, step: Step) -> Section:
        lines: list[Line] = []
        left_out = ""
        if "formula" in self.views:
            lines.append(Line("formula", step.formula(self.notation)))
        if "entry" in self.views:
            lines.append(Line("entry", step.entry(self.notation)))
            lines += [Line("where", tree) for tree in self._definitions(step)]
        elif "formula" in self.views and {*_functions(lines[0].tree)} - self.defined:
            self.defined.update(_functions(lines[0].tree))
            where = t.row(t.Text("where "), step.entry(self.notation))
            lines += [Line("where", tree) for tree in (where, *self._definitions(step, "and "))]
        if self.evaluation is not None:
            if "worked" in self.views:
                worked_lines = [Line("worked", tree) for tree in self._worked(step)]
                lines += worked_lines
                more = self._count(step) - len(worked_lines)
                if more and self.alone:
                    left_out = f"{more} more entries are left out"
            if "value" in self.views:
                lines += [Line("value", tree) for tree in self._values(step)]
        why = read_prose(step.because, self.notation)
        return Section(step.name, number, self._shape(step), why, tuple(lines), left_out)

    def _definitions(self, step: Step, word: str = "where ") -> Iterator[Tree]:
        """The lines "where θ_1 = … and …": definitions of letters, and their numbers."""
        for definition in step.definitions(self.notation):
            if definition.statement in self.defined:
                continue
            self.defined.add(definition.statement)
            yield t.row(t.Text(word), definition.statement)
            word = "and "
            if self.evaluation is not None:
                yield from defined_numbers(self.evaluation, definition, self.notation)

    def _heads(self, item: Item) -> Sequence[int | None]:
        if not item.per_head or self.evaluation is None:
            return (None,)
        return range(self.evaluation.array(item.letter).shape[-3])

    def _values(self, item: Item) -> Iterator[Tree]:
        assert self.evaluation is not None
        for head in self._heads(item):
            entry = self.entries.get(item.name)
            yield from value_view(self.evaluation, item, head, self.notation, entry)

    def _count(self, step: Step) -> int:
        assert self.evaluation is not None
        return int(self.evaluation.array(step.letter).size)

    def _worked(self, step: Step) -> Iterator[Tree]:
        """The entry chosen, or a few of the first row, or, where it is the only view, all."""
        assert self.evaluation is not None
        if step.name in self.entries:
            *which, i, j = self.entries[step.name]
            i, j = (j, i) if self.notation.convention == "columns" else (i, j)
            one = which[0] if which else None
            yield worked(self.evaluation, step, i, j, one, self.notation)
            return
        rows, columns = self.evaluation.array(step.letter).shape[-2:]
        if self.notation.convention == "columns":
            rows, columns = columns, rows
        limit = self.notation.limit
        heads = self._heads(step)
        if not self.alone:
            heads, rows, columns = heads[:1], 1, min(columns, _FEW)
        elif limit:
            heads, rows, columns = heads[:limit], min(rows, limit), min(columns, limit)
        for head in heads:
            for i in range(rows):
                for j in range(columns):
                    yield worked(self.evaluation, step, i, j, head, self.notation)

    def _shape(self, item: Item) -> Prose:
        """3 × 4; for several heads, 2 heads, each 3 × 4."""
        sizes = {} if self.evaluation is None else self.evaluation.sizes
        spelled = (Speller(self.notation).scalar(size.subs(sizes)) for size in item.shape)
        shape = [t.bracketed(size, t.MULTIPLICATIVE) for size in spelled]
        if self.notation.convention == "columns":
            shape.reverse()
        size = t.row(shape[0], t.Op("×"), shape[1])
        heads = self._heads(item)
        if not item.per_head:
            return (size,)
        if heads[0] is None:
            return ("each head ", size)
        return ("1 head, " if len(heads) == 1 else f"{len(heads)} heads, each ", size)


# ---- as blocks -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """The Python of a notebook: what makes the derivation, and the name of what holds its steps."""

    code: str
    holder: str


def derivation_document(
    outline: Outline, *, facts: bool = False, cells: Cells | None = None, prefix: str = ""
) -> b.Document:
    """A derivation as blocks.

    `facts`: with the sizes and NumPy's check. `cells`: with the Python that a notebook runs.
    `prefix`: what the labels of its steps begin with, where others stand beside it.
    """
    blocks: list[b.Block] = []
    if facts and outline.sizes:
        blocks.append(b.Paragraph(_sizes(outline), "note"))
    if outline.title or outline.sizes:
        blocks.append(b.Break())
    if cells is not None:
        blocks += [b.Notebook(cells.code), b.Break()] if cells.code else []
    if outline.given:
        given: tuple[b.Block, ...] = tuple(_formulas(section, "") for section in outline.given)
        if not any(each.view == "value" for section in outline.given for each in section.lines):
            sentences = (outline.introductions[section.name] for section in outline.given)
            given = (b.List(tuple(map(b.Item, sentences))),)
        blocks += [b.Section("Given", given), b.Break()]
    for section in outline.steps:
        formulas = _formulas(section, f"{prefix}{section.name}")
        blocks.append(b.Section(f"{section.number}. {outline.headings[section.name]}", (formulas,)))
        if cells is not None:
            blocks.append(b.Notebook(f'{cells.holder}["{section.name}"]'))
        blocks.append(b.Break())
    if facts and outline.check is not None:
        blocks.append(_check(outline.check, outline.notation))
    for note in outline.notes:
        blocks.append(b.Paragraph((note,), "note"))
        blocks += [b.Break()] if cells is not None else []
    return b.Document(outline.title, tuple(blocks))


def _sizes(outline: Outline) -> Prose:
    """N = 3, d_k = 4."""
    out: list[str | Tree] = []
    for name, count in outline.sizes:
        out += [", "] if out else []
        out.append(t.equation(outline.notation.scalar(name), (t.EQUALS, t.Num(str(count)))))
    return tuple(out)


def _formulas(section: Section, label: str) -> b.Formulas:
    return b.Formulas(section.lines, section.why, section.shape, label, section.left_out)


def _check(check: Check, notation: Notation) -> b.Section:
    rows = tuple(
        b.Row(
            b.Cell((step.name,)),
            tuple(b.Cell((words,)) for words in step.cells(notation)),
            "plain" if step.agrees else "bad",
        )
        for step in check.steps
    )
    title = f"Check: {check.verdict(notation.index_base)}"
    return b.Section(title, (b.Table(COLUMNS, rows, corner="step", align="l" * len(COLUMNS)),))
