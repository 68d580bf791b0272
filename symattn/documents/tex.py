"""A derivation as a LaTeX file of its own: an article, a standalone picture, slides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from symattn.documents.latex import displays, latex_document, sentence
from symattn.documents.outline import Outline, Section
from symattn.notation.latex import prose

_PACKAGES = r"\usepackage[T1]{fontenc}" "\n" r"\usepackage{amsmath,amssymb}"


def tex_document(outline: Outline, flavor: str = "article") -> str:
    """The file, for pdflatex or lualatex; `flavor` is a row of `FLAVORS`."""
    return FLAVORS[flavor](outline)


def _article(outline: Outline) -> str:
    return "\n".join([
        r"\documentclass{article}",
        _PACKAGES,
        r"\usepackage[margin=2.5cm]{geometry}",
        r"\setlength{\parindent}{0pt}",
        r"\begin{document}",
        latex_document(outline),
        r"\end{document}", "",
    ])  # fmt: skip


def _standalone(outline: Outline) -> str:
    return "\n".join([
        r"\documentclass[varwidth=18cm,border=6pt]{standalone}",
        _PACKAGES,
        r"\begin{document}",
        latex_document(outline),
        r"\end{document}", "",
    ])  # fmt: skip


def _beamer(outline: Outline) -> str:
    return "\n".join([
        r"\documentclass[aspectratio=169,10pt]{beamer}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{graphicx}",
        r"\beamertemplatenavigationsymbolsempty",
        # A display shrinks to the width and height that a slide has for it, and never grows.
        r"\newsavebox{\display}",
        r"\newcommand{\fitted}[1]{\sbox{\display}{$\displaystyle #1$}%",
        r"  \ifdim\wd\display>\textwidth\resizebox{\textwidth}{!}{\usebox{\display}}%",
        r"  \else\usebox{\display}\fi}",
        r"\begin{document}",
        *_frames(outline),
        r"\end{document}", "",
    ])  # fmt: skip


def _frames(outline: Outline) -> Iterator[str]:
    if outline.title:
        yield rf"\begin{{frame}}\centering\Large {prose(outline.title)}\end{{frame}}"
    for section in outline.given:
        yield from _frame(f"Given: {prose(section.name)}", section)
    for section in outline.steps:
        yield from _frame(f"{section.number}. {prose(section.name)}", section)


def _frame(title: str, section: Section) -> Iterator[str]:
    """A step on as many slides as it has displays: the sentence on the first."""
    words = f"{sentence(section.why)} ({sentence(section.shape)})".strip()
    for body in displays(section.lines):
        yield "\n".join([
            rf"\begin{{frame}}{{{title}}}", words, r"\par\medskip\begin{center}",
            rf"\fitted{{{body}}}", r"\end{center}\end{frame}",
        ])  # fmt: skip
        words = ""


#: The kinds of LaTeX: a fragment to \input, files of their own, slides.
FLAVORS: Mapping[str, Callable[[Outline], str]] = {
    "fragment": latex_document,
    "article": _article,
    "standalone": _standalone,
    "beamer": _beamer,
}
