"""A derivation as a LaTeX file of its own: an article, a standalone picture, slides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from symattn.documents.latex import displays, has_grid, latex_document, sentence
from symattn.documents.outline import Outline, Section
from symattn.notation.latex import latex, prose
from symattn.notation.text import box
from symattn.notation.tree import Tree

_PACKAGES = r"\usepackage[T1]{fontenc}" "\n" r"\usepackage{amsmath,amssymb}"


def tex_document(*outlines: Outline, flavor: str = "article") -> str:
    """The file, for pdflatex or lualatex; `flavor` is a row of `FLAVORS`."""
    return FLAVORS[flavor](*outlines)


#: A display that is made as narrow as the line where it is wider.
_FITTED = "\n".join(
    [
        r"\providecommand{\symattnfit}[1]{{\setbox0\hbox{$\displaystyle #1$}%",
        r"  \ifdefined\resizebox\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\box0}%",
        r"  \else\box0\fi\else\box0\fi}}",
    ]
)


#: About how many lines are as high as half of what TeX can measure.
_HIGHEST = 800


def _fragment(*outlines: Outline) -> str:
    """What can be put into a file that has amsmath, and graphicx for what is too wide."""
    body = latex_document(*outlines, fitted=True)
    return f"{_FITTED}\n\n{body}" if r"\symattnfit" in body else body


def _article(*outlines: Outline) -> str:
    return "\n".join(
        [
            r"\documentclass{article}",
            _PACKAGES,
            r"\usepackage{graphicx}",
            r"\usepackage[margin=2.5cm]{geometry}",
            _FITTED,
            r"\setlength{\parindent}{0pt}",
            r"\begin{document}",
            latex_document(*outlines, labels=True, fitted=True),
            r"\end{document}",
            "",
        ]
    )


def _standalone(*outlines: Outline) -> str:
    """A page for each derivation, no larger than what is on it; several for a very long one."""
    pages = (
        "\\begin{derivation}\n" + latex_document(part, fitted=True) + "\\end{derivation}"
        for each in outlines
        for part in _parts(each)
    )
    return "\n".join(
        [
            r"\documentclass[multi=derivation,border=6pt]{standalone}",
            _PACKAGES,
            r"\usepackage{graphicx,varwidth}",
            _FITTED,
            r"\newenvironment{derivation}{\begin{varwidth}{18cm}}{\end{varwidth}}",
            r"\begin{document}",
            *pages,
            r"\end{document}",
            "",
        ]
    )


def _parts(outline: Outline) -> Iterator[Outline]:
    """The derivation cut between steps where it is higher than TeX can measure (5.7 m)."""
    part, high = replace(outline, steps=(), notes=()), 0
    for section in outline.steps:
        height = sum(len(box(each.tree).lines) + 2 for each in section.lines) + 4
        if part.steps and high + height > _HIGHEST:
            yield part
            part, high = replace(part, title="", given=(), steps=()), 0
        part, high = replace(part, steps=(*part.steps, section)), high + height
    yield replace(part, notes=outline.notes)


def _beamer(*outlines: Outline) -> str:
    return "\n".join(
        [
            r"\documentclass[aspectratio=169,10pt]{beamer}",
            r"\usepackage[T1]{fontenc}",
            r"\usepackage{graphicx}",
            r"\usefonttheme[onlymath]{serif}",  # whose bold is bold
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
            r"\end{document}",
            "",
        ]
    )


#: About how many characters a slide is wide, and lines high, for matrices; lines of formulas.
_WIDE, _HIGH, _LINES = 72, 16, 6


def _frames(outline: Outline) -> Iterator[str]:
    if outline.title:
        yield rf"\begin{{frame}}\centering\Large {prose(outline.title)}\end{{frame}}"
    given = [each.tree for section in outline.given for each in section.lines]
    for rows in _slides(given):
        yield _frame("Given", "", rows)
    for section in outline.steps:
        yield from _step(section)


def _step(section: Section) -> Iterator[str]:
    """A slide with the sentence and the formulas, then the values, several on a slide."""
    title = f"{section.number}. {prose(section.name)}"
    words = f"{sentence(section.why)} ({sentence(section.shape)})"
    formulas = tuple(each for each in section.lines if not has_grid(each.tree))
    values = [each.tree for each in section.lines if has_grid(each.tree)]
    for rows in (*([[body]] for body in displays(formulas, most=_LINES)), *_slides(values)):
        yield _frame(title, words, rows)
        words = ""


def _slides(trees: list[Tree]) -> Iterator[list[list[str]]]:
    """Matrices in rows side by side, as many as a slide has room for; one too large is alone."""
    slide: list[list[str]] = []
    left = high = tallest = 0
    for tree in trees:
        size = box(tree)
        width, height = size.width + 4, len(size.lines) + 1
        beside = slide and width <= left and high - tallest + max(tallest, height) <= _HIGH
        if beside:
            slide[-1].append(latex(tree))
            left, high, tallest = (
                left - width,
                high - tallest + max(tallest, height),
                max(tallest, height),
            )
            continue
        if slide and high + height > _HIGH:
            yield slide
            slide, high = [], 0
        slide.append([latex(tree)])
        left, high, tallest = _WIDE - width, high + height, height
    if slide:
        yield slide


def _frame(title: str, words: str, rows: list[list[str]]) -> str:
    bodies = (r" \qquad ".join(row) for row in rows)
    content = "\n\\par\\bigskip\n".join(rf"\fitted{{{body}}}" for body in bodies)
    return "\n".join(
        [
            rf"\begin{{frame}}{{{title}}}",
            words,
            r"\par\medskip\begin{center}",
            content,
            r"\end{center}\end{frame}",
        ]
    )


#: The kinds of LaTeX: a fragment to \input, files of their own, slides.
FLAVORS: Mapping[str, Callable[..., str]] = {
    "fragment": _fragment,
    "article": _article,
    "standalone": _standalone,
    "beamer": _beamer,
}
