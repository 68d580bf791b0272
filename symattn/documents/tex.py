"""A derivation as a LaTeX file of its own: an article, a standalone picture, slides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from symattn.documents.latex import displays, latex_document, sentence
from symattn.documents.outline import Outline, Section
from symattn.notation.latex import prose

_PACKAGES = r"\usepackage[T1]{fontenc}" "\n" r"\usepackage{amsmath,amssymb}"


def tex_document(*outlines: Outline, flavor: str = "article") -> str:
    """The file, for pdflatex or lualatex; `flavor` is a row of `FLAVORS`."""
    return FLAVORS[flavor](*outlines)


def _article(*outlines: Outline) -> str:
    return "\n".join([
        r"\documentclass{article}",
        _PACKAGES,
        r"\usepackage[margin=2.5cm]{geometry}",
        r"\setlength{\parindent}{0pt}",
        r"\begin{document}",
        latex_document(*outlines, labels=True),
        r"\end{document}", "",
    ])  # fmt: skip


def _standalone(*outlines: Outline) -> str:
    """A page for each derivation, no larger than what is on it."""
    pages = ("\\begin{derivation}\n" + latex_document(each) + "\\end{derivation}"
             for each in outlines)  # fmt: skip
    return "\n".join([
        r"\documentclass[multi=derivation,border=6pt]{standalone}",
        _PACKAGES,
        r"\usepackage{varwidth}",
        r"\newenvironment{derivation}{\begin{varwidth}{18cm}}{\end{varwidth}}",
        r"\begin{document}",
        *pages,
        r"\end{document}", "",
    ])  # fmt: skip


def _beamer(*outlines: Outline) -> str:
    return "\n".join([
        r"\documentclass[aspectratio=169,10pt]{beamer}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{graphicx}",
        r"\beamertemplatenavigationsymbolsempty",
        # A display shrinks to the width and height that a slide has for it, and never grows.
        r"\newsavebox{\display}\newdimen{\tall}",
        r"\newcommand{\fitted}[1]{\sbox{\display}{$\displaystyle #1$}%",
        r"  \ifdim\wd\display>\textwidth",
        r"    \sbox{\display}{\resizebox{\textwidth}{!}{\usebox{\display}}}\fi",
        r"  \tall=\ht\display\advance\tall by \dp\display",
        r"  \ifdim\tall>.6\textheight\resizebox*{!}{.6\textheight}{\usebox{\display}}%",
        r"  \else\usebox{\display}\fi}",
        r"\begin{document}",
        *(frame for each in outlines for frame in _frames(each)),
        r"\end{document}", "",
    ])  # fmt: skip


#: How many matrices stand on one slide, and how many of them side by side.
_ON_A_SLIDE, _IN_A_ROW = 6, 3


def _frames(outline: Outline) -> Iterator[str]:
    if outline.title:
        yield rf"\begin{{frame}}\centering\Large {prose(outline.title)}\end{{frame}}"
    given = [body for section in outline.given for body in displays(section.lines)]
    for some in _some(given, _ON_A_SLIDE):
        yield _frame("Given", "", some)
    for section in outline.steps:
        yield from _step(section)


def _step(section: Section) -> Iterator[str]:
    """A slide with the sentence and the formulas, then the values, several on a slide."""
    title = f"{section.number}. {prose(section.name)}"
    words = f"{sentence(section.why)} ({sentence(section.shape)})"
    bodies = list(displays(section.lines))
    formulas = [body for body in bodies if body.startswith(r"\begin{aligned}")]
    values = [body for body in bodies if body not in formulas]
    for body in formulas:
        yield _frame(title, words, [body])
        words = ""
    for some in _some(values, _ON_A_SLIDE):
        yield _frame(title, words, some)
        words = ""


def _some(bodies: list[str], count: int) -> Iterator[list[str]]:
    for start in range(0, len(bodies), count):
        yield bodies[start : start + count]


def _frame(title: str, words: str, bodies: list[str]) -> str:
    rows = (r" \qquad ".join(row) for row in _some(bodies, _IN_A_ROW))
    shown = "\n\\par\\bigskip\n".join(rf"\fitted{{{row}}}" for row in rows)
    return "\n".join([
        rf"\begin{{frame}}{{{title}}}", words, r"\par\medskip\begin{center}", shown,
        r"\end{center}\end{frame}",
    ])  # fmt: skip


#: The kinds of LaTeX: a fragment to \input, files of their own, slides.
FLAVORS: Mapping[str, Callable[..., str]] = {
    "fragment": latex_document,
    "article": _article,
    "standalone": _standalone,
    "beamer": _beamer,
}
