"""What a command that derives shows: a derivation, its values, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from symattn.cli.screen import can_show_unicode, print_lines

if TYPE_CHECKING:
    from symattn.derivation import Check, Derivation, Evaluation, Place
    from symattn.documents.outline import Outline
    from symattn.notation.options import Notation

#: Formats that show one derivation only: the page and pictures, and programs.
DRAWN = ("svg", "png", "tikz")
PAGES = ("html", *DRAWN)
CODE = ("python", "numpy", "torch", "jax", "javascript")
SINGLE = ("ipynb", *PAGES, *CODE)
PICTURES = ("heat", "lines", "falk", "steps")
LAYOUTS = ("matrix", "falk")

#: Formats whose matrices can be laid out and have entries boxed.
LAID = ("text", "latex", "tex", "pdf", "md", "ipynb", "mathml")
VIEWS = ("all", "formula", "entry", "worked", "value")


class Job:
    """One derivation of a call of ``derive``: what is shown, and how.

    `series` is the title of the whole where it is one of several; `code` is Python that makes
    ``derivation`` and, where there are numbers, ``values``.
    """

    def __init__(
        self, derivation: Derivation, evaluation: Evaluation | None, notation: Notation,
        options: dict[str, Any], notes: list[str], series: str | None = None, code: str = "",
    ) -> None:  # fmt: skip
        self.derivation, self.evaluation = derivation, evaluation
        self.notation, self.notes, self.series, self.code = notation, notes, series, code
        self.picture: str = options["picture"]
        self.flavor: str | None = options.get("flavor")
        self.layout: str | None = options.get("layout")
        self.only: tuple[str, ...] = options["steps"]
        self.views: tuple[Any, ...] = VIEWS[1:] if options["view"] == "all" else (options["view"],)
        self.check: Check | None = None
        self.entries: dict[str, Place] = {}

    def outline(self) -> Outline:
        """The document before any format."""
        from symattn.documents.outline import outline

        return outline(
            self.derivation, self.evaluation, notation=self.notation, views=self.views,
            only=self.only, check=self.check, notes=self.notes, entries=self.entries,
        )  # fmt: skip


def choose_entries(jobs: Sequence[Job], entries: Sequence[str]) -> None:
    """Give the jobs the entries that are named, as in ``weights[1,2]``; ``first``: of every step.

    Raises `SymattnError` for an entry that no job has.
    """
    from symattn.errors import SymattnError
    from symattn.worksheet.quote import entry_named

    if entries and not {"worked", "value"} & {*jobs[0].views}:
        raise SymattnError("--entry: stands in the worked and the value view; leave --view out")
    for words in entries:
        refused = None
        found = False
        for job in jobs:
            if job.evaluation is None:
                raise SymattnError("--entry: needs numbers; give a worksheet")
            if words == "first":
                firsts = {s.name: (0,) * (2 + s.per_head) for s in job.derivation.steps}
                job.entries, found = firsts | job.entries, True
                continue
            try:
                name, place = entry_named(words, job.evaluation)
            except SymattnError as error:  # another chunk may have it
                refused = refused or error
                continue
            if job.only and name not in job.only:
                raise SymattnError(f"--entry {words}: --step shows other steps; add --step {name}")
            job.entries[name], found = place, True
        if refused is not None and not found:
            raise SymattnError(f"--entry {refused}")


def check_format(form: str, jobs: Sequence[Job]) -> None:
    """Raises `SymattnError` for what was asked for and the format does not have."""
    from symattn.errors import SymattnError

    job = jobs[0]
    if form in SINGLE and job.series is not None:
        raise SymattnError(f"--format {form}: shows one derivation; leave out the chunks")
    if job.flavor is not None and form not in FLAVORED:
        raise SymattnError(f"--flavor: {form} has no flavors; leave it out, or use md, tex or pdf")
    if form not in LAID and (job.entries or job.layout):
        what = "--layout" if job.layout else "--entry"
        instead = "use --picture falk" if form in DRAWN else f"use {', '.join(LAID)}"
        raise SymattnError(f"{what}: {form} cannot do that; {instead}")
    if job.layout == "falk" and (job.evaluation is None or "value" not in job.views):
        raise SymattnError("--layout falk: is of values; give a worksheet and show its values")


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
        return json_series(parts, job.series, notation=job.notation, notes=jobs[-1].notes)
    return json_document(
        job.derivation, job.evaluation, notation=job.notation, only=job.only,
        check=job.check, notes=job.notes,
    )  # fmt: skip


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
    from symattn.errors import SymattnError, nearest, shown

    chosen = job.flavor or usual
    if chosen not in flavors:
        raise SymattnError(
            f"--flavor {shown(chosen)}: {form} has no such flavor{nearest(chosen, flavors)}"
        )
    return chosen


def _notebook(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.notebook import notebook_document

    job = jobs[0]
    return notebook_document(job.outline(), job.code, values=job.evaluation is not None)


def _code(form: str, jobs: Sequence[Job]) -> str:
    from symattn.documents.code.document import code_document
    from symattn.errors import SymattnError

    job = jobs[0]
    if job.evaluation is None:
        raise SymattnError(f"--format {form}: needs sizes; leave out --symbolic")
    if job.only:
        raise SymattnError(f"--format {form}: is a function of all steps; leave out --step")
    return code_document(job.derivation, job.evaluation, form)


def _single(form: str, jobs: Sequence[Job]) -> str | bytes:
    from symattn.documents.single import single_document

    job = jobs[0]
    return single_document(
        form, job.derivation, job.evaluation, notation=job.notation, views=job.views,
        only=job.only, check=job.check, notes=job.notes, picture=job.picture,
    )  # fmt: skip


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
    **dict.fromkeys(PAGES, _single),
    **dict.fromkeys(CODE, _code),
}
FLAVORED = ("tex", "pdf", "md")


def print_text(pages: Iterable[Outline]) -> None:
    """Text for the screen: coloured in a terminal, ASCII where the terminal has no Unicode."""
    from symattn.documents.text import styled_lines

    charset: Any = "unicode" if can_show_unicode() else "ascii"
    lines: list[tuple[str, str]] = []
    for page in pages:
        lines += [("plain", "")] if lines else []
        lines += styled_lines(page, charset)
    print_lines(lines)
