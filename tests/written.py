"""Derivations and marks written in a format, for tests of what is written."""

from __future__ import annotations

from typing import Any

from symattn.documents import latex, markdown, mathml, tex, text, word
from symattn.documents.blocks import Document
from symattn.documents.outline import Outline, derivation_document
from symattn.documents.page import static
from symattn.notation.text import Charset
from symattn.reports.documents import overview_document, report_document
from symattn.reports.overview import Overview
from symattn.reports.single import Report

# ---- derivations -------------------------------------------------------------------------


def text_document(outline: Outline) -> str:
    """The text of a derivation, with the sizes and the check."""
    return text.write([derivation_document(outline, facts=True)])


def latex_document(*outlines: Outline, **options: Any) -> str:
    """The LaTeX of derivations."""
    return latex.latex_document(*map(derivation_document, outlines), **options)


def mathml_document(*outlines: Outline) -> str:
    """The MathML of derivations."""
    return mathml.write([*map(derivation_document, outlines)])


def markdown_document(outline: Outline, flavor: str = "github") -> str:
    """The Markdown of a derivation."""
    return markdown.write([derivation_document(outline)], flavor)


def tex_document(*outlines: Outline, flavor: str = "article") -> str:
    """The LaTeX file of derivations."""
    return tex.write([*map(derivation_document, outlines)], flavor)


def word_document(*outlines: Outline) -> bytes:
    """The Word file of derivations."""
    return word.write([*map(derivation_document, outlines)])


# ---- marks -------------------------------------------------------------------------------


def text_report(report: Report, charset: Charset = "unicode") -> str:
    """The report on a worksheet as it stands on a screen."""
    return _text(report_document(report, brief=True), charset)


def markdown_report(report: Report) -> str:
    """The report in Markdown."""
    return markdown.write([report_document(report)])


def html_report(report: Report) -> str:
    """The report as a section of a page."""
    return static.fragment([report_document(report)])


def text_overview(overview: Overview) -> str:
    """The overview of files as it stands on a screen."""
    return _text(overview_document(overview, brief=True), "unicode")


def _text(document: Document, charset: Charset) -> str:
    return "\n".join(words for _, words in text.styled_lines([document], charset)) + "\n"
