"""What a command that derives shows: a derivation, its values, and how."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from symattn.cli.screen import can_show_unicode, print_lines

if TYPE_CHECKING:
    from symattn.derivation import Check, Derivation, Evaluation
    from symattn.documents.outline import Outline
    from symattn.notation.options import Notation

#: Formats that show one derivation only: the page and pictures.
SINGLE = ("html", "svg", "png", "tikz")
FORMATS = ("text", "latex", "mathml", "json", *SINGLE)
PICTURES = ("heat", "lines", "falk", "steps")
VIEWS = ("all", "formula", "entry", "worked", "value")


class Job:
    """One derivation of a call of ``derive``: what is shown, and how.

    `series` is the title of the whole where it is one of several.
    """

    def __init__(
        self, derivation: Derivation, evaluation: Evaluation | None, notation: Notation,
        options: dict[str, Any], notes: list[str], series: str | None = None,
    ) -> None:  # fmt: skip
        self.derivation, self.evaluation = derivation, evaluation
        self.notation, self.notes, self.series = notation, notes, series
        self.picture: str = options["picture"]
        self.only: tuple[str, ...] = options["steps"]
        self.views: tuple[Any, ...] = VIEWS[1:] if options["view"] == "all" else (options["view"],)
        self.check: Check | None = None

    def outline(self) -> Outline:
        """The document before any format."""
        from symattn.documents.outline import outline

        return outline(
            self.derivation, self.evaluation, notation=self.notation, views=self.views,
            only=self.only, check=self.check, notes=self.notes,
        )  # fmt: skip


def document_of(form: str, jobs: Sequence[Job]) -> str | bytes:
    """The jobs as one document."""
    job = jobs[0]
    if form in SINGLE:
        from symattn.documents.single import single_document
        from symattn.errors import SymattnError

        if job.series is not None:
            raise SymattnError(f"--format {form}: shows one derivation; leave out the chunks")
        return single_document(
            form, job.derivation, job.evaluation, notation=job.notation, views=job.views,
            only=job.only, check=job.check, notes=job.notes, picture=job.picture,
        )  # fmt: skip
    if form == "json" and job.series is not None:
        from symattn.documents.data import json_series

        parts = [(each.derivation, each.evaluation, each.check, each.only) for each in jobs]
        return json_series(parts, job.series, notation=job.notation, notes=jobs[-1].notes)
    if form == "json":
        from symattn.documents.data import json_document

        return json_document(
            job.derivation, job.evaluation, notation=job.notation, only=job.only,
            check=job.check, notes=job.notes,
        )  # fmt: skip
    pages = [each.outline() for each in jobs]
    if form == "latex":
        from symattn.documents.latex import latex_document

        return latex_document(*pages)
    if form == "mathml":
        from symattn.documents.mathml import mathml_document

        return mathml_document(*pages)
    from symattn.documents.text import text_document

    return "\n".join(map(text_document, pages))


def print_text(pages: Iterable[Outline]) -> None:
    """Text for the screen: coloured in a terminal, ASCII where the terminal has no Unicode."""
    from symattn.documents.text import styled_lines

    charset: Any = "unicode" if can_show_unicode() else "ascii"
    lines: list[tuple[str, str]] = []
    for page in pages:
        lines += [("plain", "")] if lines else []
        lines += styled_lines(page, charset)
    print_lines(lines)
