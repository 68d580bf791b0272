"""Every format by its name: a derivation, its values and how they are shown, as one document.

What a format needs is loaded when it is written, so that listing them costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from symattn.documents.code.languages import LANGUAGES

if TYPE_CHECKING:
    from symattn.derivation import Check, Derivation, Evaluation, Place
    from symattn.documents.outline import Outline
    from symattn.notation.options import Notation

#: Formats that show one derivation only: the page and pictures, and programs.
DRAWN = ("svg", "png", "tikz")
CODE = tuple(LANGUAGES)
SINGLE = ("html", *DRAWN, *CODE)
PICTURES = ("heat", "lines", "falk", "steps")
LAYOUTS = ("matrix", "falk")

VIEWS = ("formula", "entry", "worked", "value")


@dataclass(frozen=True)
class Series:
    """The whole that several derivations are parts of: its title, and Python that they share."""

    title: str
    code: str


@dataclass
class Job:
    """One derivation to show, and how.

    `series` is the whole where it is one of several; `code` is Python that makes ``derivation``
    and, where there are numbers, ``values``.
    """

    derivation: Derivation
    evaluation: Evaluation | None
    notation: Notation
    views: Sequence[Any] = VIEWS
    only: Sequence[str] = ()
    flavor: str | None = None
    picture: str = "heat"
    #: The layout where it was asked for here; the notation may have one of its own.
    layout: str | None = None
    #: The entries that are worked out and boxed, by step.
    entries: dict[str, Place] = field(default_factory=dict)
    notes: Sequence[str] = ()
    series: Series | None = None
    code: str = ""
    check: Check | None = None

    def outline(self) -> Outline:
        """The document before any format."""
        from symattn.documents.outline import outline

        return outline(
            self.derivation,
            self.evaluation,
            notation=self.notation,
            views=self.views,
            only=self.only,
            check=self.check,
            notes=self.notes,
            entries=self.entries,
        )


def document(
    what: Derivation | Evaluation,
    form: str = "text",
    *,
    title: str = "",
    views: Sequence[str] = VIEWS,
    steps: Sequence[str] = (),
    notation: Notation | None = None,
    flavor: str | None = None,
    picture: str = "heat",
    notes: Sequence[str] = (),
) -> str | bytes:
    """A derivation, or its values, as a document in one of the formats of ``symattn derive``.

    `form` is a row of `FORMATS`; bytes for ``pdf`` and ``png``. `title` is that of the derivation
    where it is not said; `steps` are shown alone; `notes` stand at the end; `flavor` and `picture`
    are those of the command line. Raises `SymattnError` for what the format cannot show.

    >>> from symattn import Attention, document
    >>> values = Attention(scale=False).derivation().evaluate(Q=[[1]], K=[[1], [0]], V=[[2], [4]])
    >>> print(document(values, "md", views=["value"], steps=["weights"]).splitlines()[0])
    ## 2. weights
    """
    from symattn.arguments import instance, word, words
    from symattn.derivation import Derivation, Evaluation
    from symattn.errors import NoSuchName, nearest, quote
    from symattn.notation.options import notation_of

    if not isinstance(form, str) or form not in FORMATS:
        raise NoSuchName(f"there is no format {quote(form)}{nearest(form, FORMATS)}")
    for name, text in (("title", title), ("picture", picture)):
        word(text, name)
    if flavor is not None:
        word(flavor, "flavor")
    views, steps, notes = words(views, "views"), words(steps, "steps"), words(notes, "notes")
    if isinstance(what, Derivation):
        derivation, evaluation = what, None
    else:
        instance(what, Evaluation, "what", "a Derivation or an Evaluation")
        derivation = Derivation(what.inputs, what.steps, labels=what.labels, order=what.order)
        evaluation = what
    job = Job(
        replace(derivation, title=title or derivation.title),
        evaluation,
        notation_of(notation),
        views,
        steps,
        flavor,
        picture,
        notes=notes,
    )
    if evaluation is not None:
        job.check = evaluation.check()
    return document_of(form, [job])


def check_format(form: str, jobs: Sequence[Job]) -> None:
    """Raises `SymattnError` for what was asked for and the format does not have."""
    from symattn.errors import SymattnError

    job = jobs[0]
    if form in SINGLE and job.series is not None:
        raise SymattnError(f"{form}: shows one derivation; leave out the chunks")
    if job.flavor is not None and form not in FLAVORED:
        raise SymattnError(f"flavor: {form} has no flavors; leave it out, or use md, tex or pdf")
    if form not in LAID and (job.entries or job.layout):
        what = "layout" if job.layout else "entry"
        instead = "use the picture falk" if form in DRAWN else f"use {', '.join(LAID)}"
        raise SymattnError(f"{what}: {form} cannot do that; {instead}")
    if job.layout == "falk" and (job.evaluation is None or "value" not in job.views):
        raise SymattnError("layout falk: is of values; give a worksheet and show its values")


def document_of(form: str, jobs: Sequence[Job]) -> str | bytes:
    """The jobs as one document. Raises `SymattnError` for what the format cannot show."""
    check_format(form, jobs)
    return FORMATS[form](form, jobs)


def _text(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.text import text_document

    return "\n".join(text_document(job.outline()) for job in jobs)


def _latex(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.latex import latex_document

    return latex_document(*(job.outline() for job in jobs))


def _mathml(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.mathml import mathml_document

    return mathml_document(*(job.outline() for job in jobs))


def _json(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.data import json_document, json_series

    job = jobs[0]
    if job.series is not None:
        parts = [(each.derivation, each.evaluation, each.check, each.only) for each in jobs]
        return json_series(parts, job.series.title, notation=job.notation, notes=jobs[-1].notes)
    return json_document(
        job.derivation,
        job.evaluation,
        notation=job.notation,
        only=job.only,
        check=job.check,
        notes=job.notes,
    )


def _markdown(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.markdown import FLAVORS, markdown_document

    flavor = _flavor(form, jobs[0], tuple(FLAVORS), "github")
    return "\n".join(markdown_document(job.outline(), flavor) for job in jobs)


def _tex(form: str, jobs: Sequence[Job]) -> str | bytes:
    from symattn.documents.pdf import pdf_document
    from symattn.documents.tex import FLAVORS, tex_document

    files = tuple(name for name in FLAVORS if form == "tex" or name != "fragment")
    flavor = _flavor(form, jobs[0], files, "article")
    document = tex_document(*(job.outline() for job in jobs), flavor=flavor)
    return pdf_document(document) if form == "pdf" else document


def _flavor(form: str, job: Job, flavors: tuple[str, ...], usual: str) -> str:
    from symattn.errors import SymattnError, nearest, quote

    chosen = job.flavor or usual
    if chosen not in flavors:
        raise SymattnError(
            f"flavor {quote(chosen)}: {form} has no such flavor{nearest(chosen, flavors)}"
        )
    return chosen


def _notebook(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.notebook import notebook_document
    from symattn.errors import SymattnError

    job = jobs[0]
    if not job.code:
        raise SymattnError(
            "ipynb: a notebook begins with what makes the derivation; write a worksheet, and use "
            "symattn derive"
        )
    values = job.evaluation is not None
    if job.series is None:
        return notebook_document(
            job.derivation.title, job.code + _respelled(job), [(job.outline(), "")], values
        )
    parts = [(each.outline(), each.code + _respelled(each)) for each in jobs]
    return notebook_document(job.series.title, job.series.code, parts, values)


def _respelled(job: Job) -> str:
    """Python that gives ``values`` the notation asked for, where the worksheet says another."""
    if job.evaluation is None:
        return ""
    asked = {name: getattr(job.notation, name) for name in ("digits", "exact", "limit")}
    usual = job.evaluation.notation
    changes = [
        f"{name}={value!r}" for name, value in asked.items() if value != getattr(usual, name)
    ]
    return (
        f"\nvalues = values.spelled(values.notation.but({', '.join(changes)}))" if changes else ""
    )


def _code(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.code.document import code_document
    from symattn.errors import SymattnError

    job = jobs[0]
    if job.only:
        raise SymattnError(f"{form}: a program computes all steps; choose none of them")
    return code_document(job.derivation, form)


def _html(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.html import html_document

    job = jobs[0]
    return html_document(
        job.derivation,
        job.evaluation,
        notation=job.notation,
        views=job.views,
        only=job.only,
        check=job.check,
        notes=job.notes,
    )


def _picture(form: str, jobs: Sequence[Job]) -> str | bytes:
    """The drawing of one matrix, the first of those that are asked for."""
    from symattn.documents.pictures.kinds import picture
    from symattn.documents.pictures.png import png_document
    from symattn.documents.pictures.svg import svg_document
    from symattn.documents.pictures.tikz import tikz_document

    job = jobs[0]
    step = job.only[0] if job.only else ""
    drawing = picture(job.picture, job.derivation, job.evaluation, job.notation, step)
    match form:
        case "svg":
            return svg_document(drawing)
        case "png":
            return png_document(drawing)
    return tikz_document(drawing)


_Writer: TypeAlias = Callable[[str, Sequence[Job]], str | bytes]

#: Every format, by what writes it, and those that come in flavors.
FORMATS: Mapping[str, _Writer] = {
    "text": _text,
    "latex": _latex,
    "tex": _tex,
    "pdf": _tex,
    "md": _markdown,
    "ipynb": _notebook,
    "mathml": _mathml,
    "json": _json,
    "html": _html,
    **dict.fromkeys(DRAWN, _picture),
    **dict.fromkeys(CODE, _code),
}
FLAVORED = ("tex", "pdf", "md")

#: Formats that spell an outline: their matrices can be laid out and have entries boxed.
LAID = tuple(form for form in FORMATS if form not in (*SINGLE, "json"))
