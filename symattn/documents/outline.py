"""The content of a derivation, before any format: sections of sentences and notation trees.

`derivation_document` makes blocks of it, which every format spells, so that they say the same and
show the same digits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, pairwise, product
from typing import NamedTuple, TypeVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.derivations import (
    Check,
    Derivation,
    Evaluation,
    Input,
    Item,
    Place,
    Step,
    defined_numbers,
    worked_together,
)
from symattn.documents import blocks as b
from symattn.documents.blocks import Line
from symattn.documents.costs import Costs, costs_shown
from symattn.documents.shown import Shown
from symattn.documents.unseeing import unseeing
from symattn.documents.views import VIEWS
from symattn.documents.wrap import ROOM, size_of
from symattn.errors import SymattnError, nearest, quote
from symattn.evaluate.cells import indices_of
from symattn.evaluate.check import COLUMNS
from symattn.evaluate.falk import multiplied
from symattn.evaluate.telling import telling
from symattn.evaluate.value_view import heads_of, matrices
from symattn.merging import lettered, of_head, pattern, put_in
from symattn.nodes.base import Definition, used
from symattn.nodes.heads import heads_in
from symattn.nodes.rule import Cases, count_entries, parts, rule_of
from symattn.nodes.scopes import depth
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.letters import OTHERS, derived_from, reader_name
from symattn.notation.options import Notation
from symattn.notation.prose import Prose, read_prose
from symattn.notation.text import box_width, line, side_by_side
from symattn.notation.text import width as columns_of
from symattn.notation.tree import Tree
from symattn.step import COLUMN, HEAD, ROW, called, of_each, suited

#: How many characters wide the overview is at most, and about how many digits where it is set.
_OVERVIEW, _OVERVIEW_SET = 90, ROOM

#: How many characters of an entry rule are shown, of how many numbers an entry may be made that is
#: worked out, and how many sums stand inside one another; formulas that are merged or nested soon
#: have more.
_MOST_RULE, _MOST_NUMBERS, _MOST_SUMS = 400, 80, 3


class Gap(NamedTuple):
    """What is left out of a section, and what somebody at a terminal does to see it."""

    what: str
    hint: str


@dataclass(frozen=True)
class Section:
    """A step or an input: its name, its number among the steps, why, and its displayed lines."""

    name: str
    number: int | None
    shape: Prose
    why: Prose
    lines: tuple[Line, ...]
    gaps: tuple[Gap, ...] = ()
    letter: Tree = t.EMPTY
    #: What of it an option asks for that is not shown, and why.
    refused: str = ""
    #: Of which rows of weights the reason is not true.
    unseeing: str = ""

    @property
    def left_out(self) -> str:
        """What is left out, as a document says it."""
        return "; ".join(gap.what for gap in self.gaps)

    @property
    def hints(self) -> str:
        """The same with how to see it, as the terminal says it."""
        return "; ".join(map("; ".join, self.gaps))


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
    #: Whether the check is shown step by step.
    errors: bool = False
    #: What the steps cost, where that is asked for.
    costs: Costs | None = None
    #: What its tokens are about.
    story: str = ""
    #: The result in one formula, over what is given, where that is not too long.
    overview: Tree | None = None
    #: What is said of the numbers, where nobody gave them.
    example: str = ""
    #: Why Falk's scheme, which is asked for, is drawn of no step.
    undrawn: str = ""
    #: Whether it shows one view alone.
    alone: bool = False
    #: The headings of the steps by name, and the sentences "Let X ∈ ℝ^(n×d) be …" of what is given.
    headings: Mapping[str, str] = field(default_factory=dict)
    introductions: Mapping[str, Prose] = field(default_factory=dict)


def outline(shown: Shown) -> Outline:
    """The outline of what is shown, with values where there is an evaluation.

    Raises `SymattnError` for a name or view that does not exist.
    """
    derivation, evaluation, notation = shown.derivation, shown.evaluation, shown.notation
    if evaluation is not None and evaluation.batch:
        sizes = " × ".join(map(str, evaluation.batch))
        raise SymattnError(
            f"batch: a derivation shows one of the {sizes} calculations of this batch; say which: "
            "--batch 1 at the command line, batch=1 or :batch: 1 in a page"
        )
    for view in shown.views:
        if view not in VIEWS:
            raise SymattnError(f"no view is called {quote(view)}{nearest(view, VIEWS)}")
    if shown.entries and not {"worked", "value"} & {*shown.views}:
        raise SymattnError("entry: appears in the worked and the value view; show one of them")
    only = called((*derivation.inputs, *derivation.steps), shown.only, notation)
    given = [item for item in derivation.inputs if not only or item.name in only]
    steps = [step for step in derivation.steps if not only or step.name in only]
    notation = suited(notation, (*derivation.inputs, *steps))
    _check_letters((*derivation.inputs, *steps), derivation.size_symbols, notation)
    notation = lettered((*derivation.inputs, *derivation.steps), derivation.size_symbols, notation)
    writer = _Writer(evaluation, notation, tuple(shown.views), shown.entries, steps)
    for earlier in shown.before:
        given = [item for item in given if not _is_told(item, evaluation, earlier)]
        writer.told |= {step.name: step.formula(notation) for step in earlier.derivation}
    in_one = None if only or "formula" not in shown.views else overview(derivation, notation)
    is_first = not shown.before
    return Outline(
        derivation.title,
        tuple((evaluation or derivation).known_sizes.items()),
        tuple(map(writer.input, given)),
        tuple(writer.step(number, step) for number, step in enumerate(steps, 1)),
        shown.check,
        notation,
        tuple(shown.notes),
        shown.errors,
        costs_shown(shown, notation) if shown.cost else None,
        derivation.story if is_first else "",
        in_one if is_first else None,
        shown.example if is_first and evaluation is not None else "",
        "" if notation.layout == "matrix" or any(map(multiplied, steps)) else _NO_PRODUCT,
        len(shown.views) == 1,
        {item.name: item.heading for item in (*derivation.inputs, *derivation.steps)},
        {item.name: introduction(item, notation) for item in derivation.inputs},
    )


def _is_told(item: Input, evaluation: Evaluation | None, earlier: Shown) -> bool:
    """Whether an input, with its numbers, is one of an earlier derivation."""
    values = earlier.evaluation
    if all(item.letter != other.letter for other in earlier.derivation.inputs):
        return False
    if evaluation is None or values is None:
        return evaluation is values
    mine, other = evaluation.given[item.letter], values.given[item.letter]
    if mine.dtype != other.dtype:  # exact numbers beside floats
        mine, other = evaluation.exact(item.letter), values.exact(item.letter)
    return mine.shape == other.shape and bool((mine == other).all())


def overview(derivation: Derivation, notation: Notation) -> Tree | None:
    """The result in one formula: all steps before it put in, O = softmax(Q Kᵀ/√d_k) V.

    The first steps keep their letters where it would be wider than a line. None where even the last
    two steps do not fit in one, and where there is only one. The result is the last step that is
    not of a backward pass.
    """
    steps = [one for one in derivation if not one.is_number and derived_from(one.letter) is None]
    names = [step.name for step in steps]
    for kept in range(len(steps) - 1):
        try:
            merged = derivation.merged([*names[:kept], names[-1]])
        except SymattnError:  # too many parts
            continue
        formula = merged[names[-1]].formula(notation)
        if columns_of(line(formula)) <= _OVERVIEW and size_of(formula) <= _OVERVIEW_SET:
            return formula
    return None


def functions_in(tree: Tree) -> Iterator[Tree]:
    """The names of the functions that a formula applies, which its entries define."""
    for part in t.parts(tree):
        for name, sign in pairwise(part.items) if isinstance(part, t.Row) else ():
            if sign == t.APPLY and name not in _KNOWN:
                yield name


#: Functions that every reader knows.
_KNOWN = {t.Ident(name, roman=True) for name in ("exp", "tanh", "cos", "sin", "ln", "max", "min")}

#: How a meaning begins that takes no article.
_NO_ARTICLE = ("a ", "the ", "what ")


def introduction(item: Input, notation: Notation) -> Prose:
    """What is given in a sentence: Let X ∈ ℝ^(n × d_model) be the token vectors."""
    notation = of_each(item, notation)
    speller = Speller(notation)
    spelled = notation.sides(map(speller.scalar, item.shape))
    rows, columns = (t.bracketed(size, t.MULTIPLICATIVE) for size in spelled)
    numbers: Tree = t.Ident("ℝ")
    if item.boolean:
        numbers = t.Fenced(t.commas([t.Num("0"), t.Num("1")]), "{", "}")
    elif item.logits:
        numbers = t.EXTENDED
    space = t.Script(numbers, None, t.row(rows, t.Op("×"), columns))
    member = t.row(speller.matrix(item.symbol), t.Op("∈"), space)
    lead: Prose = ("Let ",)
    if item.count is not None:
        last = speller.scalar(item.count + notation.index_base - 1)
        heads = t.commas([speller.index(sympy.S.Zero), t.Op("…"), last])
        index = t.equation(notation.scalar("head"), (t.EQUALS, heads))
        lead = ("For each " if item.each else "For each head ", index, ", let ")
    if not item.meaning:
        return (*lead, member, " be given.")
    article = "" if item.meaning.startswith(_NO_ARTICLE) else "the "
    return (*lead, member, f" be {article}", *read_prose(item.meaning, notation), ".")


def _check_letters(
    items: Sequence[Item], sizes: Sequence[sympy.Symbol], notation: Notation
) -> None:
    """Refuse a notation that gives one letter two meanings.

    Those of matrices, of their entries, of sizes, and of what `Notation.symbols` names besides.
    """
    taken: dict[Tree, str] = {}
    letters = [(notation.letter(item.letter, item.per_head), item.name) for item in items]
    letters += [(notation.scalar(size.name), size.name) for size in sizes]
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


@dataclass
class _Numbers:
    """The numbers of a section: the matrix, the entries that are worked out, the shape."""

    evaluation: Evaluation | None
    notation: Notation
    views: tuple[str, ...]
    entries: Mapping[str, Place]
    steps: Sequence[Step]

    @property
    def alone(self) -> bool:
        """Whether there is one view."""
        return len(self.views) == 1

    def values(self, item: Item) -> tuple[list[Line], list[Gap]]:
        """The matrix of an item, or those of its heads, and the heads that are left out."""
        assert self.evaluation is not None
        entry = self.entries.get(item.name)
        trees, heads = matrices(self.evaluation, item, self.notation, entry)
        gaps: list[Gap] = []
        if heads:
            base = self.notation.index_base
            first, last = heads[0] + base, heads[-1] + base
            gaps.append(
                Gap(f"heads {first} to {last} are left out", f"--head {first} shows one of them")
            )
        return [Line("value", tree) for tree in trees], gaps

    def worked(self, step: Step) -> tuple[list[Line], list[Gap]]:
        """The entry that tells most or was chosen, or, where they are asked for, all; what not."""
        assert self.evaluation is not None
        numbers = count_entries(rule_of(step.expr, ROW, COLUMN), self.evaluation.sizes)
        if numbers > _MOST_NUMBERS and _is_nested(step):
            words = f"no entry is worked out, since it is computed from {numbers} numbers"
            return [], [Gap(words, "show more steps to work it out")]
        sides = self.notation.sides
        places = [(*place[:-2], *sides(place[-2:])) for place in self._places(step)]
        trees = worked_together(self.evaluation, step, places, self.notation)
        lines = [Line("worked", tree) for tree in trees]
        heads = heads_of(self.evaluation, step, self.notation)
        rows, columns = self.evaluation.shape(step.letter)[-2:]
        more = len(heads) * rows * columns - len(lines)
        wanted = self.alone or self.notation.worked == "all"
        if not (more and wanted) or step.name in self.entries:
            return lines, []
        return lines, [Gap(f"{more} more entries are left out", "--full shows them")]

    def _places(self, step: Step) -> list[Place]:
        """The entries that are worked out, from 0, in the order of the reader's rows."""
        assert self.evaluation is not None
        if step.name in self.entries:
            return [self.entries[step.name]]
        if not self.alone and self.notation.worked == "telling":
            return [self._telling[step.name]]
        most, sides = self.notation.limit or None, self.notation.sides
        shown = [range(size)[:most] for size in self.evaluation.shape(step.letter)[-2:]]
        heads = heads_of(self.evaluation, step, self.notation)[:most]
        pairs = [sides(pair) for pair in product(*sides(shown))]
        return [(*pair,) if head is None else (head, *pair) for head in heads for pair in pairs]

    @cached_property
    def _telling(self) -> dict[str, Place]:
        assert self.evaluation is not None
        return telling(self.evaluation, self.steps, self.notation, self.entries)

    def shape(self, item: Item) -> Prose:
        """3 × 4; of several, 2 heads, each 3 × 4, or 3 matrices, unless one of them is shown."""
        if item.is_number:
            return ("one number",)
        sizes = {} if self.evaluation is None else self.evaluation.sizes
        spelled = (Speller(self.notation).scalar(size.subs(sizes)) for size in item.shape)
        shape = (t.bracketed(size, t.MULTIPLICATIVE) for size in self.notation.sides(spelled))
        rows, columns = shape
        size = t.row(rows, t.Op("×"), columns)
        if not item.per_head or self.notation.head is not None:
            return (size,)
        if self.evaluation is None:
            each = ("for each ", t.Ident(item.each), ", ") if item.each else ("each head ",)
            return (*each, size)
        count = self.evaluation.shape(item.letter)[-3]
        noun, many = ("matrix", "matrices") if item.each else ("head", "heads")
        return (f"1 {noun}, " if count == 1 else f"{count} {many}, each ", size)


@dataclass
class _Writer(_Numbers):
    """The sections: what is said of each step, and not again of a later one; its numbers below."""

    #: What is defined already: a letter that several steps use is defined once.
    defined: set[Tree] = field(default_factory=set)
    #: The formulas of steps of an earlier derivation, by name.
    told: dict[str, Tree] = field(default_factory=dict)
    #: The first step of each pattern.
    patterns: dict[object, Step] = field(default_factory=dict)

    def input(self, item: Input) -> Section:
        lines: list[Line] = []
        gaps: list[Gap] = []
        if self.evaluation is not None and (not self.alone or "value" in self.views):
            lines, gaps = self.values(item)  # a view is one of the steps: these are given
        elif not self.alone:
            lines = [Line("formula", Speller(self.notation).matrix(item.symbol))]
        why = read_prose(item.meaning, self.notation)
        letter = self.notation.letter(item.letter, item.per_head)
        return Section(item.name, None, self.shape(item), why, tuple(lines), tuple(gaps), letter)

    def step(self, number: int, step: Step) -> Section:
        """A step; what is told of another one already is not told again, but for its numbers."""
        refused: list[Gap] = []
        worked_out = step.name in self.entries
        why, is_told = self._why(step)
        lines, gaps = self._rules(step, is_told)
        if self.evaluation is not None:
            if "worked" in self.views and (not is_told or worked_out):
                shown, refused = self.worked(step)
                lines += shown
                gaps += refused
            if "value" in self.views:
                values, heads_left_out = self.values(step)
                lines += [*self._factors(step), *values]
                gaps += heads_left_out
        if step.is_number and any(each.view == "worked" for each in lines):
            lines = [each for each in lines if each.view != "value"]  # the end of the worked line
        asked = worked_out or self.notation.worked == "all" or self.alone
        return Section(
            step.name,
            number,
            self.shape(step),
            why,
            tuple(lines),
            tuple(gaps),
            refused="; ".join(map("; ".join, refused)) if asked else "",
            unseeing=unseeing(self.evaluation, step, self.notation),
        )

    def _rules(self, step: Step, is_told: bool) -> tuple[list[Line], list[Gap]]:
        """The formula and the rule of an entry, and what the letters and functions in them are.

        The rule stands below the formula where it is shown, and else behind "where", if it says
        what a function does that is not defined already.
        """
        stated = self._stated(step)
        formula = stated.formula(self.notation)
        lines = [Line("formula", formula)] if "formula" in self.views else []
        ruled = "entry" in self.views
        if (ruled and is_told) or not (ruled or lines):
            return lines, []
        gaps: list[Gap] = []
        where: list[Tree] = []
        functions = dict.fromkeys(functions_in(formula))
        rule = self._rule(stated) if ruled or functions.keys() - self.defined else None
        if rule is None:
            gaps += [_why_no_rule(step)] if ruled else []
            where += self._applied(step, functions)
        elif ruled:
            lines.append(Line("entry", rule))
        else:
            where.append(t.row(t.Text("where "), rule))
        if rule is not None or not ruled:
            self.defined.update(functions)
        printed = [*(each.tree for each in lines), *where]
        where += self._definitions(step, printed, "and " if where else "where ")
        return lines + [Line("where", tree) for tree in where], gaps

    def _rule(self, step: Step) -> Tree | None:
        """What an entry is made of; None where that is too long to be read."""
        rule = step.entry(self.notation)
        long = columns_of(line(rule)) > _MOST_RULE or _holds_cases(step) or _is_deep(step)
        return None if long else rule

    def _applied(self, step: Step, functions: Iterable[Tree]) -> Iterator[Tree]:
        """What functions of a merged formula do: each by the first step in it that applies it."""
        word = "where "
        for name in functions:
            applying = (p for p in step.parts if name in functions_in(p.formula(self.notation)))
            part = next(applying, None)
            rule = None if part is None or name in self.defined else self._rule(part)
            if part is not None and rule is not None:
                self.defined.update(functions_in(part.formula(self.notation)))
                _, applied = part.in_convention(self.notation)
                has = t.Text(" is the number " if part.is_number else " has the entries ")
                yield t.row(t.Text(word), Speller(self.notation).matrix(applied), has, rule)
                word = "and "

    def _stated(self, step: Step) -> Step:
        """The step as it is stated: for any head, or for the one that is shown."""
        if self.notation.head is None or self.evaluation is None or not step.per_head:
            return step
        (head,) = heads_of(self.evaluation, step, self.notation)
        return of_head(step, head or 0, self.evaluation.sizes)

    def _why(self, step: Step) -> tuple[Prose, bool]:
        """The reason of a step, and whether its entries are told of another step."""
        reason = read_prose(step.because, self.notation)
        if self.alone or not step.rule:  # what has no rule only looks like another step
            return reason, False
        if self.told.get(step.name) == step.formula(self.notation):
            return ("As before.",), True
        first = self.patterns.setdefault((step.rule, step.per_head, pattern(step.expr)), step)
        if first is step:
            return reason, False
        if _MATHEMATICS.sub("", first.because) == _MATHEMATICS.sub("", step.because):
            return (f"As for {_in_words(first)}.",), True
        return (*reason, f" The entries are computed like those of {_in_words(first)}."), True

    def _definitions(self, step: Step, printed: Sequence[Tree], word: str) -> Iterator[Tree]:
        """The lines "where θ_1 = … and …": letters of what is printed, and their numbers."""
        for statement, numbers in self._defined(step, printed):
            if statement in self.defined:
                continue
            self.defined.add(statement)
            yield t.row(t.Text(word), statement)
            word = "and "
            yield from numbers

    def _defined(
        self, step: Step, printed: Sequence[Tree]
    ) -> Iterator[tuple[Tree, Iterator[Tree]]]:
        """Each definition, and its numbers; the heads that share a matrix are one too."""
        found = used(step.definitions(self.notation), printed)
        times = Counter({one.statement: one.letter for one in found}.values())
        for definition in found:
            numbers: Iterator[Tree] = iter(())
            if self.evaluation is not None:
                numbers = defined_numbers(self.evaluation, definition, self.notation)
            statement = definition.statement
            if times[definition.letter] > 1:
                statement = self._within(step, definition)
            yield statement, numbers
        if self.evaluation is not None and self.notation.head is None and step.per_head:
            yield from ((tree, iter(())) for tree in self._groups(step))

    def _within(self, step: Step, definition: Definition) -> Tree:
        """A letter that means two things in a merged formula, with the part that it is meant of."""
        parts = (p for p in step.parts if definition in p.definitions(self.notation))
        part = next(parts, None)
        if part is None:
            return definition.statement
        return t.row(definition.statement, t.Text(" in "), part.formula(self.notation))

    def _groups(self, step: Step) -> Iterator[Tree]:
        """Which head of a group's matrix each head reads: ⌈i g/h⌉ = 1, 1, 2, 2 for i = 1, …, 4."""
        assert self.evaluation is not None
        speller = Speller(self.notation)
        heads = range(self.evaluation.shape(step.letter)[-3])
        indices = {part.head for part in heads_in(step.expr) if part.head.atoms(sympy.floor)}
        for index in sorted((one for one in indices if one.free_symbols >= {HEAD}), key=str):
            read = [index.subs(HEAD, k).subs(self.evaluation.sizes) for k in heads]
            shares, which = (
                t.commas(t.DOTS if k is None else speller.index(k) for k in some)
                for some in (_few(read, self.notation), _few([*heads], self.notation))
            )
            left = speller.index(index)
            head = t.equation(speller.index(HEAD), (t.EQUALS, which))
            yield t.row(t.equation(left, (t.EQUALS, shares)), t.Text(" for "), head)

    def _factors(self, step: Step) -> Iterator[Line]:
        """What the factors in the scheme of a merged formula are, as far as no step shows them."""
        product = multiplied(step) if self.notation.layout == "falk" else None
        factors = () if product is None else product.operands
        meanings: dict[str, MatrixExpr] = {}
        word = "where "
        for part in step.parts:
            whole = replace(part, expr=put_in(part.expr, meanings))
            meanings[part.letter] = whole.expr
            if part.letter in factors:
                yield Line("where", t.row(t.Text(word), whole.formula(self.notation)))
                word = "and "


#: Why no scheme of Falk's is drawn.
_NO_PRODUCT = "layout falk: no step that is shown is a product of two matrices"

#: The letters in a sentence.
_MATHEMATICS = re.compile(r"\{[^}]*\}")


def _holds_cases(step: Step) -> bool:
    """Whether a merged formula has cases inside a sum or an exponent, where no line has room."""
    _, *inside = parts(rule_of(step.expr, ROW, COLUMN))
    return bool(step.parts) and any(isinstance(part, Cases) for part in inside)


def _is_deep(step: Step) -> bool:
    """Whether a formula has more sums inside one another than can be followed."""
    return _depth(step) > _MOST_SUMS


def _is_nested(step: Step) -> bool:
    """Whether a formula is made of what would be steps of their own."""
    return bool(step.parts) or _depth(step) >= _MOST_SUMS


def _depth(step: Step) -> int:
    return depth(rule_of(step.expr, ROW, COLUMN))


def _in_words(item: Item) -> str:
    """What a sentence calls a matrix: the queries."""
    article = "" if not item.title or item.title.startswith(_NO_ARTICLE) else "the "
    return f"{article}{item.title or item.name}"


def _why_no_rule(step: Step) -> Gap:
    """Why the rule of an entry is not shown."""
    why = "it has cases inside a sum" if _holds_cases(step) else "it is too long to be read"
    return Gap(f"the rule of an entry is left out, since {why}", "show more steps to see it")


Element = TypeVar("Element")


def _few(items: Sequence[Element], notation: Notation) -> list[Element | None]:
    """The items, None for a gap where they are too many."""
    shown = indices_of(len(items), notation.limit)
    return [None if k is None else items[k] for k in shown]


# ---- as blocks -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """The Python of a notebook, which makes ``values``, and what the value of a step is shown as.

    That is by MIME type; None where there are no numbers.
    """

    code: str
    shows: Callable[[str], Mapping[str, str]] | None = None


@dataclass(frozen=True)
class Measure:
    """How wide a line is, and what measures a formula that is to stand in it.

    `number` is how much of the line the number of an equation takes.
    """

    width: float = 60
    size: Callable[[Tree], float] = box_width
    number: float = 0


def flowed(
    outline: Outline, lines: Sequence[Line], measure: Measure = Measure()
) -> tuple[Line, ...]:
    """A section's lines side by side where they fit: formula, entry and one worked line; matrices.

    What takes one row stands beside the row above it where there is room, matrices where that is
    the only one. A row is called what the first of its lines is.
    """
    stated = {"formula", "entry"}
    if sum(each.view == "worked" for each in lines) == 1:
        stated.add("worked")
    apart = {"worked"}
    if outline.notation.heads == "column" or any(isinstance(x.tree, t.Scheme) for x in lines):
        apart.add("value")

    def rows_of(trees: Sequence[Tree], room: float) -> list[Tree]:
        return side_by_side(trees, room, measure.size)

    found: list[Line] = []
    for kind, group in groupby(lines, lambda each: "stated" if each.view in stated else each.view):
        together = [*group]
        room = measure.width if kind == "value" else measure.width - measure.number
        trees = [each.tree for each in together]
        rows = trees if kind in apart else rows_of(trees, room)
        if found and kind not in apart and (kind != "value" or len(found) == 1):
            above = found[-1]
            beside = rows_of((above.tree, *trees), measure.width - measure.number)
            if len(beside) == 1:
                found, rows, together = found[:-1], beside, [above]
        found += [Line(together[0].view, row) for row in rows]
    return tuple(found)


def derivation_document(
    outline: Outline,
    *,
    facts: bool = False,
    cells: Cells | None = None,
    prefix: str = "",
    measure: Measure = Measure(),
    hints: bool = False,
) -> b.Document:
    """A derivation as blocks.

    `measure`: how wide a line is, so that formulas stand side by side where they fit.

    `facts`: with the sizes and NumPy's check. `hints`: with what to do to see what is left out, for
    somebody at a terminal. `cells`: with the Python that a notebook runs. `prefix`: what the labels
    of its steps begin with, where others stand beside it.
    """
    blocks = [*_opening(outline, facts)]
    if cells is not None:
        blocks += [b.Notebook(cells.code), b.Break()] if cells.code else []
    if outline.overview is not None:
        blocks += [b.Worked("", outline.overview), b.Break()]
    if any(section.lines for section in outline.given):
        given = _given(outline, measure, not facts, hints)
        blocks += [b.Section("Given", given), b.Break()]
    for section in outline.steps:
        shows = cells.shows(section.name) if cells is not None and cells.shows else {}
        written = [each for each in section.lines if not _is_in(each, shows)]
        lines = flowed(outline, written, measure)
        told = (f" {section.unseeing}",) if section.unseeing else ()
        why = () if facts and outline.alone else (*section.why, *told)
        left_out = section.hints if hints else section.left_out
        label = f"{prefix}{section.name}"
        formulas = b.Formulas(lines, why, section.shape, label, left_out)
        title = f"{section.number}. {outline.headings[section.name]}"
        blocks.append(b.Section(title, (formulas,)))
        if shows:
            blocks.append(b.Notebook(f'values["{section.name}"]', shows))
        blocks.append(b.Break())
    blocks += _closing(outline, facts, cells is not None)
    return b.Document(outline.title, tuple(blocks))


def _opening(outline: Outline, facts: bool) -> Iterator[b.Block]:
    """What is told before anything is shown."""
    listed = not facts and any(section.lines for section in outline.given)
    if outline.story:
        yield b.Paragraph((outline.story,))
    if outline.example and not listed:  # else it stands behind what is given
        yield b.Paragraph((outline.example,))
    if facts and outline.sizes:
        yield b.Paragraph(sizes_of(outline), "note")
    if outline.title or outline.story or outline.example or outline.sizes:
        yield b.Break()


def _closing(outline: Outline, facts: bool, apart: bool) -> Iterator[b.Block]:
    """What stands below the steps: NumPy's check, what they cost, and notes, which may be apart."""
    if facts and outline.check is not None:
        yield from _check(outline.check, outline.notation, outline.errors)
    if outline.costs is not None:
        yield from (outline.costs.section(), b.Break())
    for note in outline.notes:
        yield b.Paragraph(_note(note), "note")
        if apart:
            yield b.Break()


def _is_in(line: Line, shows: Mapping[str, str]) -> bool:
    """Whether the cell below shows a matrix too, which is not to stand there twice."""
    return line.view == "value" and latex(line.tree) in shows.get("text/latex", "")


def sizes_of(outline: Outline) -> Prose:
    """N = 3, d_k = 4."""
    sizes = (
        t.equation(outline.notation.scalar(name), (t.EQUALS, t.Num(str(count))))
        for name, count in outline.sizes
    )
    return tuple(part for size in sizes for part in (", ", size))[1:]


def _note(note: str) -> b.Words:
    """A note; what stands between backticks is typed."""
    parts = enumerate(re.split(r"`([^`]+)`", note))
    return tuple(b.Code(part) if place % 2 else part for place, part in parts if part)


def _given(outline: Outline, measure: Measure, sizes: bool, hints: bool) -> tuple[b.Block, ...]:
    """What each matrix that is given is, then their numbers side by side; or all by symbol.

    `sizes`: with what the sizes are, where there are numbers; `hints`: with how to see the rest.
    """
    if any(each.view != "value" for one in outline.given for each in one.lines):
        sentences = (outline.introductions[section.name] for section in outline.given)
        return (b.List(tuple(map(b.Item, sentences))),)
    words: list[b.Inline] = []
    left_out = []
    for section in outline.given:
        said = section.hints if hints else section.left_out
        words += ["; " if words else "", section.letter, ": " if section.why else ""]
        words += [*section.why, " (", *section.shape, ")"]
        left_out += [f"{section.name}: {said}"] if said else []
    lines = flowed(outline, [each for one in outline.given for each in one.lines], measure)
    words.append(".")
    if sizes and outline.sizes:
        words += [" Sizes: ", *sizes_of(outline), "."]
        words += [" ", outline.example] if outline.example else []
    return (b.Formulas(lines, tuple(words), left_out="; ".join(left_out)),)


def _check(check: Check, notation: Notation, errors: bool) -> Iterator[b.Block]:
    """NumPy's verdict in a line; where that is asked for, and where it disagrees, the table."""
    title = f"Check: {check.verdict(notation.index_base)}"
    if check.agrees and not errors:
        yield b.Paragraph((f"{title}.",), "note")
        return
    rows = tuple(
        b.Row(
            b.Cell((step.name,)),
            tuple(b.Cell((words,)) for words in step.cells(notation)),
            "plain" if step.agrees else "bad",
        )
        for step in check.steps
    )
    table = b.Table(COLUMNS, rows, corner="step", align="l" * len(COLUMNS))
    yield b.Section(title, (table,))
