"""The formats that show one derivation as a thing of its own: a page, a picture."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.derivation import Check, Derivation, Evaluation
from symattn.documents.outline import VIEWS, View
from symattn.notation.options import Notation


def single_document(
    form: str,
    derivation: Derivation,
    evaluation: Evaluation | None = None,
    *,
    notation: Notation | None = None,
    views: Sequence[View] = VIEWS,
    only: Sequence[str] = (),
    check: Check | None = None,
    notes: Sequence[str] = (),
    picture: str = "heat",
) -> str | bytes:
    """The document as ``html``, ``svg``, ``png`` or ``tikz``; pictures show the first of `only`."""
    if form == "html":
        from symattn.documents.html import html_document

        return html_document(
            derivation,
            evaluation,
            notation=notation,
            views=views,
            only=only,
            check=check,
            notes=notes,
        )
    from symattn.documents.pictures import kinds

    step = only[0] if only else ""
    drawing = kinds.picture(picture, derivation, evaluation, notation, step)
    if form == "png":
        from symattn.documents.pictures.png import png_document

        return png_document(drawing)
    if form == "tikz":
        from symattn.documents.pictures.tikz import tikz_document

        return tikz_document(drawing)
    from symattn.documents.pictures.svg import svg_document

    return svg_document(drawing)
