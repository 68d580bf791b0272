"""Every format as a row, and a derivation, its values and how they are shown, as one document.

A format's module is loaded when something is written in it, so that listing the formats costs
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from symattn.documents.shown import Shown
from symattn.documents.views import VIEWS
from symattn.errors import NoSuchName, SymattnError, nearest, quote

if TYPE_CHECKING:
    from symattn.derivations import Derivation, Evaluation
    from symattn.documents.blocks import Block, Document
    from symattn.documents.outline import Measure, Outline
    from symattn.documents.pictures.drawing import Drawing
    from symattn.notation.options import Notation

PICTURES = ("heat", "lines", "falk", "steps")
#: The flavors that are slides.
_SLIDES = ("beamer", "overlays")

#: How many em wide a line may be that is asked for.
_LEAST_WIDTH, _MOST_WIDTH = 10, 100

#: The deepest heading that can be asked for, and what a label is made of.
MOST_HEADINGS, _LABEL = 6, re.compile(r"[A-Za-z0-9:._-]{1,100}")


@dataclass(frozen=True)
class Series:
    """The whole that several derivations are parts of: its title, and Python that they share."""

    title: str
    code: str


@dataclass(frozen=True)
class Job(Shown):
    """One derivation to show, with all its steps, and its document.

    The notation says which steps are shown. `series` is the whole where it is one of several;
    `code` is Python that makes ``derivation`` and, where there are numbers, ``values``.
    """

    flavor: str | None = None
    #: The layout where it was asked for here; the notation may have one of its own.
    layout: str | None = None
    #: The level of the first heading, 0 for none, None for the format's own.
    headings: int | None = None
    #: What the labels of its equations begin with, "" for the format's own.
    label: str = ""
    #: How many digits wide a row of formulas may be, None for the format's own.
    width: float | None = None
    #: What is said beside the document and not in it, once it is made.
    beside: str = ""
    series: Series | None = None
    code: str = ""

    def __post_init__(self) -> None:
        from symattn.step import called, suited

        items = (*self.derivation.inputs, *self.derivation.steps)
        notation = suited(self.notation, items)
        object.__setattr__(self, "notation", notation)  # of a frozen record
        object.__setattr__(self, "only", called(items, notation.steps, notation))

    @cached_property
    def shown(self) -> Derivation:
        """The derivation of the steps that are shown."""
        return self.derivation.merged(self.only) if self.only else self.derivation

    @property
    def what(self) -> Shown:
        """The same for any format."""
        own = {one.name: getattr(self, one.name) for one in fields(Shown)}
        return Shown(**{**own, "derivation": self.shown})

    def outline(self) -> Outline:
        """The document before any format."""
        from symattn.documents.outline import outline

        return outline(self.what)

    def _shows(self, name: str) -> Mapping[str, str]:
        """What a notebook shows of the value of a step."""
        assert self.evaluation is not None
        return self.evaluation.spelled(self.notation)[name]._repr_mimebundle_()

    def document(self, form: Format, hints: bool = False) -> Document:
        """The blocks of the document as a format wants them.

        `hints`: with what somebody at a terminal does to see what is left out.
        """
        from symattn.documents.outline import Cells, derivation_document

        cells = None
        if form.runs:
            shows = None if self.evaluation is None else self._shows
            cells = Cells(self.code + _respelled(self), shows)
        headings = 0 if self.headings is None and self.flavor == "fragment" else self.headings
        measure = self.measure(form)
        document = derivation_document(
            self.outline(), facts=form.brief, cells=cells, measure=measure, hints=hints
        )
        room = measure.width if form.is_set else None
        drawn = self._drawn() if self.flavor in _SLIDES else {}
        return replace(document, headings=headings, label=self.label, room=room, drawn=drawn)

    def _drawn(self) -> Mapping[str, Drawing]:
        """The pictures of the weights that are shown, by step."""
        from symattn.documents.pictures.kinds import picture

        if self.evaluation is None or "value" not in self.views:
            return {}
        steps = (step.name for step in self.shown if step.weights)
        drawing = partial(picture, "heat", self.derivation, self.evaluation, self.notation)
        return {name: drawing(name) for name in steps}

    def unshown(self, form: str, on_screen: bool = False) -> list[str]:
        """What an option asks for that a document does not show, and why: a line for each step.

        On the screen the document itself says why an entry is not worked out.
        """
        row, falk = FORMATS[form], self.notation.layout == "falk"
        found = [self.beside] if self.beside else []
        if self.cost and form != "json" and (row.interactive or not row.writer):
            found.append(f"cost: {form} has no table of what steps cost; text, md, tex and json do")
        if not row.writer or not (self.entries or self.notation.worked == "all" or falk):
            return found
        outline = self.outline()
        steps = () if on_screen else outline.steps
        found += [f"{step.name}: {step.refused}" for step in steps if step.refused]
        if row.interactive and falk:
            merged = [step.name for step in self.shown if step.parts]
            found += [f"layout falk: {name}: html draws no merged formula so" for name in merged]
        return [*found, outline.undrawn] if outline.undrawn else found

    def measure(self, form: Format) -> Measure:
        """How wide a line is in a format."""
        from symattn.documents import wrap
        from symattn.documents.outline import Measure

        if not form.is_set:
            return Measure(form.width)
        rooms = {"fragment": wrap.ROOM, **dict.fromkeys(_SLIDES, wrap.SLIDE_ROOM)}
        usual = rooms.get(self.flavor or "", wrap.WIDE_ROOM if form.flavors else wrap.ROOM)
        numbered = (self.flavor in (None, "article") and bool(form.flavors)) or bool(self.label)
        number = wrap.NUMBER_ROOM if numbered else 0
        return Measure(usual if self.width is None else self.width, wrap.size_of, number)


def document(
    what: Derivation | Evaluation,
    form: str = "text",
    *,
    title: str = "",
    views: Sequence[str] = VIEWS,
    steps: Sequence[str] = (),
    notation: Notation | None = None,
    flavor: str | None = None,
    notes: Sequence[str] = (),
) -> str | bytes:
    """A derivation, or its values, as a document in one of the formats of ``symattn derive``.

    `form` is a row of `FORMATS`; bytes for ``pdf`` and ``png``. `title` is that of the derivation
    where it is not said. `steps` are shown, and those between them put into their formulas; `notes`
    stand at the end; `flavor` is one of the format's, as ``beamer`` of ``tex``.
    Raises `SymattnError` for what the format cannot show.

    >>> from symattn import Attention, document
    >>> values = Attention(scale=False).derivation().evaluate(Q=[[1]], K=[[1], [0]], V=[[2], [4]])
    >>> print(document(values, "md", views=["value"], steps=["weights"]).splitlines()[0])
    ## 1. Attention weights
    """
    from symattn.arguments import instance, word, words
    from symattn.derivations import Derivation, Evaluation
    from symattn.notation.options import notation_of

    if not isinstance(form, str) or form not in FORMATS:
        raise NoSuchName(f"there is no format {quote(form)}{nearest(form, FORMATS)}")
    word(title, "title")
    if flavor is not None:
        word(flavor, "flavor")
    views, steps, notes = words(views, "views"), words(steps, "steps"), words(notes, "notes")
    if isinstance(what, Derivation):
        derivation, evaluation = what, None
    else:
        instance(what, Evaluation, "what", "a Derivation or an Evaluation")
        derivation = Derivation(what.inputs, what.steps, what.stated, what.labels, order=what.order)
        evaluation = what
    job = Job(
        replace(derivation, title=title or derivation.title),
        evaluation,
        notation_of(notation).but(steps=steps) if steps else notation_of(notation),
        views,
        check=None if evaluation is None else evaluation.check(),
        notes=notes,
        flavor=flavor,
    )
    return document_of(form, [job])


def check_format(form: str, jobs: Sequence[Job]) -> None:
    """Raises `SymattnError` for what was asked for and the format does not have."""
    row, job = FORMATS[form], jobs[0]
    laid = [name for name, each in FORMATS.items() if each.derive is None or each.interactive]
    if row.single and job.series is not None:
        raise SymattnError(f"{form}: shows one derivation; leave out the chunks")
    if row.interactive and job.series is not None and job.evaluation is None:
        raise SymattnError(f"{form}: shows chunks with their numbers; leave out --symbolic")
    check_flavor(form, job.flavor)
    if job.headings is not None and not row.headed:
        headed = [name for name, each in FORMATS.items() if each.headed]
        raise SymattnError(f"headings: {form} has its own; use {', '.join(headed)}")
    if job.headings is not None and not 0 <= job.headings <= MOST_HEADINGS:
        raise SymattnError(f"headings: give a level from 0 (none) to {MOST_HEADINGS}")
    if job.label:
        check_label(form, job.flavor, job.label)
    if job.width is not None:
        check_width(form, job.flavor)
    if row.derive is not None and not row.interactive and (job.entries or job.layout):
        what = "layout" if job.layout else "entry"
        instead = "flavor falk" if row.kind == "picture" else ", ".join(laid)
        the = "the " if row.kind == "picture" else ""
        raise SymattnError(f"{what}: {form} cannot do that; use {the}{instead}")
    if job.layout == "falk" and (job.evaluation is None or "value" not in job.views):
        raise SymattnError("layout falk: shows values; give a worksheet and show its values")


def check_label(form: str, flavor: str | None, label: str) -> None:
    """Raises `SymattnError` for a label that is none, or that the format cannot set."""
    row = FORMATS.get(form, Format(form))
    flavor = flavor or next(iter(row.flavors), "")
    if flavor not in row.labelled:
        which = f"{form} ({flavor})" if flavor else form
        raise SymattnError(
            f"label: {which} has no labels for equations; use latex, tex, pdf, or md with the "
            "flavor quarto or sphinx"
        )
    if not _LABEL.fullmatch(label):
        raise SymattnError(
            f"label {quote(label)}: give letters, digits and : . _ -, as in eq:causal"
        )


def room_of(words: str) -> float:
    """How many digits a line has room for that is so many em wide, or a column of a paper.

    >>> room_of("24"), room_of("column")
    (48.0, 45)
    """
    from symattn.documents.wrap import COLUMN_ROOM

    if words == "column":
        return COLUMN_ROOM
    number = float(words) if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?", words) else 0
    if not _LEAST_WIDTH <= number <= _MOST_WIDTH:
        raise SymattnError(
            f"width {quote(words)}: give a number of em from {_LEAST_WIDTH} to {_MOST_WIDTH}, or "
            "column"
        )
    return 2 * number


def check_width(form: str, flavor: str | None) -> None:
    """Raises `SymattnError` for a format whose lines have another measure, or one of their own."""
    if form not in FORMATS or not FORMATS[form].is_set or flavor in _SLIDES:
        which = f"{form} ({flavor})" if flavor in _SLIDES else form
        named = [name for name, row in FORMATS.items() if row.is_set]
        raise SymattnError(f"width: {which} has its own; use {', '.join(named)} without slides")


def check_flavor(form: str, flavor: str | None, flavors: Collection[str] | None = None) -> None:
    """Raises `SymattnError` for a flavor that a format does not have.

    `flavors` are those of a format that is no row of `FORMATS`.
    """
    if flavors is None:
        flavors = FORMATS[form].flavors if form in FORMATS else ()
    if flavor is None or flavor in flavors:
        return
    if not flavors:
        *others, last = [name for name, row in FORMATS.items() if row.flavors]
        raise SymattnError(
            f"flavor: {form} has no flavors; leave it out, or use {', '.join(others)} or {last}"
        )
    raise SymattnError(
        f"flavor {quote(flavor)}: {form} has no such flavor{nearest(flavor, flavors)}"
    )


def written(form: str, documents: Sequence[Document], flavor: str | None = None) -> str | bytes:
    """Documents made of blocks, in a format that has a writer for them.

    Raises `SymattnError` for a flavor that it does not have, and what the writer raises.
    """
    check_flavor(form, flavor)
    row = FORMATS[form]
    writer = import_module(f"symattn.documents.{row.writer}")
    usual = row.flavors[:1] if flavor is None else (flavor,)
    out: str | bytes = writer.write(documents, *usual)
    return out


def document_of(form: str, jobs: Sequence[Job]) -> str | bytes:
    """The jobs as one document. Raises `SymattnError` for what the format cannot show."""
    check_format(form, jobs)
    row = FORMATS[form]
    if row.derive is not None:
        return row.derive(form, jobs)
    return written(form, _documents(row, jobs), jobs[0].flavor)


def _documents(form: Format, jobs: Sequence[Job]) -> list[Document]:
    """A document for each job; in a notebook all of them in one, behind the Python they share."""
    from symattn.documents.blocks import Break, Document, Notebook

    documents = [job.document(form) for job in jobs]
    if not form.runs:
        return documents
    job = jobs[0]
    if not job.code:
        raise SymattnError(
            "ipynb: a notebook begins with what makes the derivation; write a worksheet, and use "
            "symattn derive"
        )
    if job.series is None:
        return [replace(documents[0], title=documents[0].title or "Attention")]
    python: tuple[Block, ...] = (Notebook(job.series.code), Break())
    return [Document(job.series.title or "Attention", (*python, *documents))]


def _json(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.data import json_document, json_series

    series = jobs[0].series
    if series is None:
        return json_document(jobs[0].what)
    notation = jobs[0].notation  # each chunk has its own of the steps that are shown
    parts = [replace(job.what, notation=notation) for job in jobs]
    return json_series(parts, series.title, jobs[-1].notes)


def _respelled(job: Job) -> str:
    """Python that gives ``values`` the notation asked for, where the worksheet says another."""
    if job.evaluation is None:
        return ""
    usual = job.evaluation.notation
    asked = {one.name: getattr(job.notation, one.name) for one in fields(usual)}
    changes = [f"{name}={x!r}" for name, x in asked.items() if x != getattr(usual, name)]
    return (
        f"\nvalues = values.spelled(values.notation.but({', '.join(changes)}))" if changes else ""
    )


def _code(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.code.document import code_document

    return code_document(jobs[0].shown, form)


def _equations(form: str, jobs: Sequence[Job]) -> str:
    """The steps as a text of equations, which `derive` reads again."""
    from symattn.language.writing import written as as_equations

    return f"{as_equations(jobs[0].shown)}\n"


def _html(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.html import html_document, html_series

    first, last = jobs[0], jobs[-1]
    if first.series is None:
        return html_document(first.what)
    parts = [
        replace(job.what, notation=first.notation, notes=last.notes, before=(), example="")
        for job in jobs
        if job.evaluation is not None
    ]
    return html_series(parts, first.series.title)


def _picture(form: str, jobs: Sequence[Job]) -> str | bytes:
    """The drawing of one matrix, the first of those that are asked for."""
    from symattn.documents.pictures.kinds import picture
    from symattn.documents.pictures.png import png_document
    from symattn.documents.pictures.svg import svg_document
    from symattn.documents.pictures.tikz import tikz_document

    job = jobs[0]
    step = job.only[0] if job.only else ""
    drawing = picture(job.flavor or PICTURES[0], job.derivation, job.evaluation, job.notation, step)
    match form:
        case "svg":
            return svg_document(drawing)
        case "png":
            return png_document(drawing)
    return tikz_document(drawing)


@dataclass(frozen=True)
class Format:
    """A format: how it is written, and what it can show.

    `writer` is the module here whose `write` writes documents made of blocks, whatever they are of;
    `derive` writes derivations by themselves, where a format shows these otherwise or shows nothing
    else.
    """

    name: str
    writer: str = ""
    derive: Callable[[str, Sequence[Job]], str | bytes] | None = None
    kind: Literal["page", "data", "picture", "program"] = "page"
    #: The names of its flavors, the usual one first: rows of `FLAVORS` in its module, or what a
    #: picture shows.
    flavors: tuple[str, ...] = ()
    #: The flavors in which equations have labels; "" of a format that has no flavors.
    labelled: tuple[str, ...] = ()
    #: Whether it may stand inside somebody's document, so that the level of headings is chosen.
    headed: bool = False
    #: Whether it is read on a screen: with the sizes and NumPy's check, and long reports shortened.
    brief: bool = False
    #: Whether it runs Python: `Notebook` blocks are for it.
    runs: bool = False
    #: Whether it is a page that answers its reader, with marks on what a worksheet claims.
    interactive: bool = False
    #: About how many characters a line has room for, where formulas stand side by side.
    width: int = 72
    #: Whether TeX sets it, so that its lines are measured in digits (`symattn.documents.wrap`).
    is_set: bool = False

    @property
    def single(self) -> bool:
        """Whether it shows one derivation only."""
        return self.derive is not None and self.kind != "data" and not self.interactive


#: The programs, rows of `LANGUAGES` in `symattn/documents/code/languages.py`.
PROGRAMS = ("python", "numpy", "torch", "jax", "javascript")

#: Every format by its name.
FORMATS: Mapping[str, Format] = {
    row.name: row
    for row in (
        Format("text", "text", brief=True, width=77),
        Format("latex", "latex", labelled=("",), headed=True, is_set=True),
        Format(
            "tex",
            "tex",
            flavors=("article", "fragment", "standalone", *_SLIDES),
            labelled=("article", "fragment"),
            headed=True,
            is_set=True,
        ),
        Format(
            "pdf",
            "pdf",
            flavors=("article", "standalone", *_SLIDES),
            labelled=("article",),
            is_set=True,
        ),
        Format(
            "md",
            "markdown",
            flavors=("github", "katex", "quarto", "sphinx"),
            labelled=("quarto", "sphinx"),
            headed=True,
        ),
        Format("ipynb", "notebook", runs=True),
        Format("docx", "word", headed=True),
        Format("mathml", "mathml", headed=True),
        Format("json", derive=_json, kind="data"),
        Format("equations", derive=_equations, kind="data"),
        Format("html", "page.static", _html, interactive=True),
        Format("svg", derive=_picture, kind="picture", flavors=PICTURES),
        Format("png", derive=_picture, kind="picture", flavors=PICTURES),  # by matplotlib
        Format("tikz", derive=_picture, kind="picture", flavors=PICTURES),
        *(Format(name, derive=_code, kind="program") for name in PROGRAMS),
    )
}
