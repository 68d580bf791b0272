"""A derivation as one interactive page: every step, every number, where each came from, live.

The page is one file that fetches nothing. What it shows at first is proven (the digits and worked
lines of every other document). When a number is changed it runs the program that
`symattn.documents.code` writes from the same formulas: with floats at once, and then with exact
rationals and enclosures, which prove the digits anew; it says which of the two is on the screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from symattn.derivations import Derivation, Evaluation, Item, Place, Step, worked
from symattn.documents.blocks import Line
from symattn.documents.data import Data
from symattn.documents.latex import displays
from symattn.documents.outline import Outline, Section, outline
from symattn.documents.page import claimed as claims_page
from symattn.documents.page import frame, weights
from symattn.documents.page.elements import Markup, compact, el, formula, inside, joined, prose
from symattn.documents.page.falk import scheme
from symattn.documents.page.figures import figure
from symattn.documents.page.heated import heated, letter
from symattn.documents.page.latex import latex_data, latex_names
from symattn.documents.page.lines import Lines
from symattn.documents.page.live import Live, live
from symattn.documents.page.matrices import GAPS, HeadView, MatrixView, head_of
from symattn.documents.page.numbers import number_data
from symattn.documents.page.rules import rule_data
from symattn.documents.page.stage import Parts
from symattn.documents.page.wide import room_of
from symattn.documents.page.worksheet import worksheet_data
from symattn.documents.shown import Shown
from symattn.documents.views import View
from symattn.evaluate.telling import telling
from symattn.notation import tree as t
from symattn.notation.latex import escape_controls, latex
from symattn.notation.letters import GRADIENT, derived_from
from symattn.notation.mathml import mathml
from symattn.notation.options import Notation
from symattn.notation.spoken import spoken
from symattn.notation.text import line
from symattn.notation.tree import Tree

#: So many entries have their worked line written here, and so many of a page with more entries
#: than the last; the page works out the others itself.
MOST_WORKED, OF_MANY, MANY = 600, 100, 2000

_SAID: tuple[View, ...] = ("formula", "entry")

#: What stands in place of a mask's formula and reason when a reader has changed its numbers.
_ALTERED = "Changed by hand: the rule that the mask had no longer describes it."


def html_document(shown: Shown) -> str:
    """The whole page. Without an evaluation it has formulas and sentences alone.

    It offers a worksheet with the numbers that it shows, where there is one without them. Entries
    that are chosen are worked out in their steps, and the first of them is chosen when the page
    opens; claims are shown beside the proven values.

    Raises `SymattnError` where a value has more axes than heads, rows and columns.
    """
    if shown.evaluation is None:
        page = outline(replace(shown, views=tuple(shown.views) or _SAID, entries={}))
        steps = [_step(page, section) for section in page.steps]
        body = frame.Body(page, _given(page), steps, Parts(shown.derivation))
    else:
        body = _Page(shown).body()
    return frame.page(body.title, [body])


def html_series(chunks: Sequence[Shown], title: str = "") -> str:
    """The chunks of a decoding as one page, which shows one of them at a time.

    Their numbers cannot be changed there: those of a later chunk follow from earlier ones.

    >>> from symattn import Attention, decode
    >>> rows = [[1, 0], [0, 2]]
    >>> parts = decode(Attention(mask="causal"), 1, Q=rows, K=rows, V=rows)
    >>> chunks = [Shown(part.derivation, part.evaluation) for part in parts]
    >>> html_series(chunks, "Two tokens").count("<template")
    1
    """
    titles = [one.derivation.title for one in chunks]
    frames = [
        _Page(one).body((number, titles) if len(chunks) > 1 else None)
        for number, one in enumerate(chunks, 1)
    ]
    return frame.page(title or frames[0].title, frames)


def _given(page: Outline) -> Markup:
    """The inputs as a list of symbols."""
    items = [el("li", prose(page.introductions[section.name])) for section in page.given]
    return el("ul", *items, class_="symbols")


def _step(
    page: Outline,
    section: Section,
    values: Markup | None = None,
    more: str = "",
    altered: bool = False,
    warm: Sequence[Line] = (),
) -> Markup:
    """A step's section: heading, reason, displayed lines, values.

    `altered`: with what stands there instead once a reader has changed its numbers. `warm`: the
    formula and the entry with a temperature, which stand there while it is not 1.
    """
    lines = [
        el(
            "div",
            formula(each.tree, display=True),
            class_=f"line {each.view}{kind}",
            # a longer formula may have to be scrolled on a small screen: keys have to reach it
            tabindex=0 if len(line(each.tree)) > 36 else None,
            hidden=kind == " warm",
        )
        for kind, some in ((" cold" * bool(warm), section.lines), (" warm", warm))
        for each in some
    ]
    said = [
        " ".join(f"{spoken(each.tree)}." for each in some if each.view == "formula")
        for some in (section.lines, warm)
    ]
    formulas = (
        said[0]
        if not warm
        else joined(
            el("span", said[0], class_="cold"), el("span", said[1], class_="warm", hidden=True)
        )
    )
    name = page.headings[section.name]
    heading = el(
        "h2",
        el("span", str(section.number), class_="number"),
        " ",
        name,
        id=f"{section.name}-heading",
        tabindex=-1,
    )
    return el(
        "section",
        el(
            "details",
            el("summary", heading, el("span", prose(section.shape), class_="shape")),
            el(
                "div",
                el(
                    "div",
                    el("p", prose(section.why), class_="why") if section.why else Markup(),
                    el(
                        "p",
                        joined(f"Step {section.number}, {name}. ", formulas, f" {more}"),
                        class_="spoken",
                    ),
                    el("div", *lines, class_="lines") if lines else Markup(),
                    el("p", f"{section.left_out}.", class_="left")
                    if section.left_out
                    else Markup(),
                    el("p", _ALTERED, class_="altered") if altered else Markup(),
                    el("p", section.unseeing, class_="unseeing") if section.unseeing else Markup(),
                    class_="said",
                ),
                values or Markup(),
                class_="body",
            ),
            open=True,
        ),
        id=section.name,
        class_="step",
        aria_labelledby=f"{section.name}-heading",
    )


@dataclass(frozen=True)
class _Page:
    shown: Shown

    @cached_property
    def outline(self) -> Outline:
        """What is said beside the matrices."""
        said = tuple(view for view in self.shown.views if view in _SAID)
        return outline(replace(self.shown, views=said or _SAID, entries={}))

    @property
    def derivation(self) -> Derivation:
        return self.shown.derivation

    @property
    def evaluation(self) -> Evaluation:
        assert self.shown.evaluation is not None
        return self.shown.evaluation

    @property
    def notation(self) -> Notation:
        return self.outline.notation

    @cached_property
    def matrices(self) -> dict[str, MatrixView]:
        """Every matrix by its letter."""
        items = (*self.derivation.inputs, *self.derivation.steps)
        return {item.letter: MatrixView(item, self.evaluation, self.notation) for item in items}

    @cached_property
    def parts(self) -> Parts:
        """The colour of every matrix, and the group of every step."""
        return Parts(self.derivation)

    @cached_property
    def telling(self) -> dict[str, Place]:
        """The entry of each step that is worked out at first."""
        return telling(self.evaluation, self.derivation.steps, self.notation, self.shown.entries)

    def body(self, series: tuple[int, Sequence[str]] | None = None) -> frame.Body:
        """The parts of the page; of a chunk of a series, its number and the titles of all."""
        by_name: dict[str, Item] = {
            item.name: item for item in (*self.derivation.inputs, *self.derivation.steps)
        }
        given = el(
            "div",
            *(self.input(section, by_name[section.name]) for section in self.outline.given),
            class_="given",
        )
        changes = live(self.derivation)
        steps = []
        for section in self.outline.steps:
            step = by_name[section.name]
            assert isinstance(step, Step)
            values, result = self.values(step), self.result(step)
            is_switched = step.fixed and not step.operands
            warm = self.warm(section) if step.letter == changes.tempered else ()
            steps.append(_step(self.outline, section, values, result, is_switched, warm))
        data = _Data(self, changes).data()
        if series is not None:
            data["chunk"] = series[0]
        claimed = Markup()
        if self.shown.claims is not None:
            claimed = claims_page.summary(self.shown.claims, tuple(self.matrices))
        return frame.Body(
            self.outline,
            given,
            steps,
            self.parts,
            data=_json(data),
            tempered=changes.tempered,
            worksheet=self.shown.worksheet is not None,
            claimed=claimed,
            scrubber=Markup() if series is None else frame.scrubber(*series),
        )

    def input(self, section: Section, item: Item) -> Markup:
        """A matrix that is given, or one for each head."""
        matrix = self.matrices[item.letter]
        figures = [figure(one, home=True) for one in matrix.shown]
        caption = el(
            "p",
            *([el("strong", matrix.words), ": "] if matrix.words else []),
            prose(section.why),
        )
        return el(
            "div",
            caption,
            el("div", *figures, class_="figures"),
            self.picture(item),
            class_="input",
            id=section.name,
        )

    def result(self, step: Step) -> str:
        """The sentence about the size of a step's matrix."""
        matrix = self.matrices[step.letter]
        rows, columns = matrix.shape
        if step.is_number:
            return "The result is one number."
        of = "" if matrix.heads[0] is None else f" in each of {len(matrix.heads)} heads"
        return f"The result has {rows} rows and {columns} columns{of}."

    def values(self, step: Step) -> Markup:
        """The operands of the step, its result, and the worked line of one entry."""
        matrix = self.matrices[step.letter]
        strips = []
        shown = []
        for one in matrix.shown if "value" in self.shown.views else ():
            if self.notation.layout == "falk":
                drawn = scheme(step, self.matrices, one.head)
                if drawn is not None:
                    strips.append(drawn)
                    continue
            read = self.read(step, one.head)
            shown.append((*read, one))
            parts = [*map(figure, read)]
            arrow = [el("span", "→", class_="makes", aria_hidden="true")] if parts else []
            result = el("div", *arrow, figure(one, home=True), class_="made")
            strips.append(el("div", *parts, result, class_="strip"))
        example = Markup()
        if "worked" in self.shown.views:
            told = self.telling[step.name]
            first = formula(self.worked(step, *matrix.seen(told)), display=True)
            key = matrix.key(told)
            example = el("div", first, class_="worked", data_m=step.letter, data_entry=key)
        if not strips and not example:
            return Markup()
        claims = self.shown.claims
        claimed = Markup() if claims is None else claims_page.tables(claims, matrix)
        drawn_all = el("div", *strips, class_=f"strips{room_of(shown)}") if strips else Markup()
        shades = weights.key(matrix) if strips and step.weights else Markup()
        return el("div", drawn_all, shades, example, claimed, self.picture(step), class_="values")

    def picture(self, item: Item) -> Markup:
        """Who attends to whom, beside the weights; where there are several, the last of them."""
        is_shown = "value" in self.shown.views and item is self.parts.weights
        return weights.picture(self.matrices[item.letter]) if is_shown else Markup()

    def read(self, step: Step, head: int | None) -> list[HeadView]:
        """The matrices that a step reads, each of the head that is read."""
        found: list[HeadView] = []
        for operand in map(self.matrices.__getitem__, step.operands):
            wanted = head_of(step, operand, head)
            found += operand.shown if wanted is None else [operand.of(wanted)]
        return found

    def warm(self, section: Section) -> tuple[Line, ...]:
        """The formula and the entry of a step with the temperature."""
        step = self.derivation[section.name]
        return tuple(
            heated(step, each, self.notation)
            for each in section.lines
            if each.view in ("formula", "entry")
        )

    def chosen(self) -> str | None:
        """The key of the entry that is chosen when the page opens."""
        entries = self.shown.entries
        chosen = (step for step in self.derivation.steps if step.name in entries)
        return next((self.matrices[s.letter].key(entries[s.name]) for s in chosen), None)

    def worked(self, step: Step, head: int | None, i: int, j: int) -> Tree:
        """The worked line of an entry as shown; exact where the reader wants that."""
        return worked(self.evaluation, step, i, j, head, self.notation)


@dataclass(frozen=True)
class _Data:
    """What the page's own program needs to know."""

    page: _Page
    live: Live
    lines: Lines = field(default_factory=Lines)
    labels: list[Sequence[str]] = field(default_factory=list)
    names: list[Sequence[str]] = field(default_factory=list)

    def facts(self, matrix: MatrixView) -> dict[str, Data]:
        """What the program needs to know of a matrix, whatever it follows from."""
        item = matrix.item
        name, own = matrix.entry_name
        entry: dict[str, Data] = {
            "name": item.name,
            "letter": item.letter,
            "shape": matrix.shape,
            "labels": [_place(names, self.labels) for names in matrix.labels],
            "entry": (_place(name, self.names), own),
            "text": " ".join(matrix.digits),
        }
        if item.per_head:
            entry["heads"] = len(matrix.heads)
        if role := self.page.parts.role(item):
            entry["role"] = role
        if item.letter in self.live.letters:
            entry["values"] = [number_data(value) for value in matrix.exact.ravel()]
            if item.logits or (isinstance(item, Step) and item.fixed):
                entry["logits"] = True
        if item.is_number:
            entry["alone"] = True
        if (derived := derived_from(item.letter)) is not None and derived[0] == GRADIENT:
            entry["gradientOf"] = derived[1]
        if matrix.masks:
            entry["masks"] = matrix.masks
        return entry

    def copied(self, section: Section, matrix: MatrixView) -> dict[str, Data]:
        """The LaTeX of a step, with the temperature where it has one."""
        told = latex_data(section, matrix)
        if matrix.item.letter == self.live.tempered:
            warm = self.page.warm(section)
            told["warm"] = [*displays(tuple(each for each in warm if each.view == "formula"))]
        return told

    def worked(self, step: Step, most: int) -> dict[int, str] | list[str]:
        """At most so many worked lines of the entries of a step in sight, by their places.

        In a list, where those are the first ones.
        """
        matrix = self.page.matrices[step.letter]
        rows, columns = matrix.shape
        asked = most if "worked" in self.page.shown.views else 0
        lines = {
            ((head or 0) * rows + i) * columns + j: self.lines.packed(
                self.page.worked(step, head, i, j)
            )
            for head, i, j in islice(matrix.places(), asked)
        }
        return [*lines.values()] if [*lines] == [*range(len(lines))] else lines

    def rule(self, step: Step) -> Data:
        """Of what an entry of a step is made."""
        matrix, evaluation = self.page.matrices[step.letter], self.page.evaluation
        return rule_data(
            step, matrix.shape, len(matrix.heads), evaluation.sizes, self.page.notation
        )

    def data(self) -> dict[str, Data]:
        """All that the page's own program needs to know."""
        items = []
        whole = sum(self.page.evaluation.array(letter).size for letter in self.page.matrices)
        left = MOST_WORKED if whole <= MANY else OF_MANY
        sections = {section.name: section for section in self.page.outline.steps}
        for matrix in self.page.matrices.values():
            item = matrix.item
            entry = self.facts(matrix)
            if isinstance(item, Step):
                entry["rule"] = self.rule(item)
                entry["lines"] = self.worked(item, left)
                left -= len(entry["lines"])
                if item.name in sections:
                    entry["latex"] = self.copied(sections[item.name], matrix)
            items.append(entry)
        supposed = [
            {
                "instead": one.instead,
                "tell": one.tell,
                "rules": {step.letter: self.rule(step) for step in one.steps.values()},
            }
            for one in self.page.shown.supposed
        ]
        sheet: Data = None
        if self.page.shown.worksheet is not None:
            tempered = {step.letter: step for step in self.page.derivation.steps}.get(
                self.live.tempered
            )
            sheet = worksheet_data(
                self.page.shown.worksheet, self.page.notation, self.page.evaluation, tempered
            )
        claims = self.page.shown.claims
        claimed = None if claims is None else claims_page.by_key(claims, self.page.matrices)
        weighed = self.page.parts.weights
        return {
            "weighed": weighed.letter if weighed else None,
            "worksheet": sheet,
            "digits": self.page.notation.digits,
            "rounding": self.page.notation.rounding,
            "base": self.page.notation.index_base,
            "limit": self.page.notation.limit,
            "flipped": self.page.notation.flipped,
            "tempered": self.live.tempered,
            "temperature": [f(letter(self.page.notation)) for f in (inside, latex)],
            "chosen": self.page.chosen(),
            "claims": claimed,
            "stage": (self.page.notation.page or ("stage" if self.page.derivation.story else ""))
            == "stage",
            "transposed": compact(mathml(self.page.notation.transposed(t.Num(GAPS[0])))),
            "labels": [[escape_controls(name) for name in names] for names in self.labels],
            "latexNames": latex_names(name for names in self.labels for name in names),
            "names": [*self.names],
            "pieces": self.lines.pieces,
            "templates": self.lines.templates,
            "items": items,
            "supposed": supposed,
        }


def _place(names: Sequence[str], listed: list[Sequence[str]]) -> int | None:
    """The index of a name, or of these labels, in the list; equal ones are listed once."""
    if not names:
        return None
    if names not in listed:
        listed.append(names)
    return listed.index(names)


def _json(data: dict[str, Data]) -> str:
    """JSON that may stand in a script: nothing in it can end that, or open a comment."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return written.replace("</", "<\\/").replace("<!", "\\u003c!").replace("##", "#\\u0023")
