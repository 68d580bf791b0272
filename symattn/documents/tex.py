"""Blocks as a LaTeX file of its own: an article, a standalone picture, slides; and as a PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from symattn.documents import blocks as b
from symattn.documents.latex import displays, has_grid, latex_document, sentence
from symattn.notation.latex import latex, prose
from symattn.notation.text import box
from symattn.notation.tree import Tree

_PACKAGES = r"\usepackage[T1]{fontenc}" "\n" r"\usepackage{amsmath,amssymb}"


def write(documents: Sequence[b.Document], flavor: str = "article") -> str:
    """The file, for pdflatex or lualatex; `flavor` is a row of `FLAVORS`."""
    return FLAVORS[flavor](*documents)


#: A display that is made as narrow as the line where it is wider.
_FITTED = "\n".join(
    [
        r"\providecommand{\symattnfit}[1]{{\setbox0\hbox{$\displaystyle #1$}%",
        r"  \ifdefined\resizebox\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\box0}%",
        r"  \else\box0\fi\else\box0\fi}}",
    ]
)


#: The heading of a step in the line of its first words; displays close to what they belong to.
_TIGHT = "\n".join(
    [
        r"\makeatletter",
        r"\renewcommand{\subsection}{\@startsection{subsection}{2}{\z@}%",
        r"  {1.3ex plus .6ex minus .4ex}{-.7em}{\normalfont\normalsize\bfseries}}",
        r"\makeatother",
        r"\AtBeginDocument{\abovedisplayskip=.4ex plus .7ex minus .2ex%",
        r"  \belowdisplayskip=\abovedisplayskip\abovedisplayshortskip=.3ex plus .3ex%",
        r"  \belowdisplayshortskip=\abovedisplayskip}",
    ]
)


#: About how many lines are as high as half of what TeX can measure.
_HIGHEST = 800


def _fragment(*documents: b.Document) -> str:
    """What can be put into a file that has amsmath, and graphicx for what is too wide."""
    body = latex_document(*documents, fitted=True)
    return f"{_FITTED}\n\n{body}" if r"\symattnfit" in body else body


def _article(*documents: b.Document) -> str:
    return "\n".join(
        [
            r"\documentclass{article}",
            _PACKAGES,
            r"\usepackage{graphicx}",
            r"\usepackage[margin=2.5cm]{geometry}",
            _FITTED,
            _TIGHT,
            r"\setlength{\parindent}{0pt}",
            r"\begin{document}",
            latex_document(*documents, labels=True, fitted=True),
            r"\end{document}",
            "",
        ]
    )


def _standalone(*documents: b.Document) -> str:
    """A page for each derivation, no larger than what is on it; several for a very long one."""
    pages = (
        "\\begin{derivation}\n" + latex_document(part, fitted=True) + "\\end{derivation}"
        for each in documents
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


def _parts(document: b.Document) -> Iterator[b.Document]:
    """The document cut between sections where it is higher than TeX can measure (5.7 m)."""
    part: list[b.Block] = []
    title, high = document.title, 0
    for block in document.blocks:
        height = _height(block)
        if part and high + height > _HIGHEST:
            yield replace(document, title=title, blocks=tuple(part))
            part, title, high = [], "", 0
        part.append(block)
        high += height
    yield replace(document, title=title, blocks=tuple(part))


def _height(block: b.Block) -> int:
    """About how many lines a block takes."""
    match block:
        case b.Section(_, blocks) | b.Document(_, blocks):
            return sum(map(_height, blocks)) + 2
        case b.Formulas(lines):
            return sum(len(box(each.tree).lines) + 2 for each in lines) + 2
        case b.Table():
            return len(block.rows) + 4
        case b.List(items):
            return sum(1 + sum(map(_height, item.blocks)) for item in items) + 2
        case b.Chain():
            return 5 * len(block.links)
        case _:
            return 3


def _beamer(*documents: b.Document) -> str:
    frames = [frame for each in documents for frame in _frames(each)]
    used = any(r"\symattnfit" in frame for frame in frames)
    fit = [r"\newcommand{\symattnfit}[1]{\fitted{#1}}"] if used else []
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
            *fit,
            r"\begin{document}",
            *frames,
            r"\end{document}",
            "",
        ]
    )


#: About how many characters a slide is wide, and lines high, for matrices; lines of formulas.
_WIDE, _HIGH, _LINES = 72, 16, 6


def _frames(document: b.Document) -> Iterator[str]:
    if document.title:
        title = prose(document.title)
        yield rf"\begin{{frame}}\centering\Large {title}\end{{frame}}"
    loose: list[b.Block] = []
    for block in (*document.blocks, b.Section("", ())):
        if not isinstance(block, b.Section | b.Document):
            loose += [] if isinstance(block, b.Break | b.Notebook) else [block]
            continue
        if loose:
            yield _flowing(document.title, loose)
            loose = []
        match block:
            case b.Document():
                yield from _frames(block)
            case b.Section(title, (b.Formulas(label=""), *_) as given):
                inputs = (part for part in given if isinstance(part, b.Formulas))
                for rows in _slides([each.tree for part in inputs for each in part.lines]):
                    yield _frame(prose(title), "", rows)
            case b.Section(title, (b.Formulas() as step,)):
                yield from _step(prose(title), step)
            case b.Section(title, blocks) if blocks:
                yield _flowing(title, blocks)


def _flowing(title: str, blocks: Sequence[b.Block]) -> str:
    """Words, lists and tables on as many slides as they take."""
    body = latex_document(b.Document("", tuple(blocks)), fitted=True)
    return rf"\begin{{frame}}[allowframebreaks]{{{prose(title)}}}" f"\n{body}\\end{{frame}}"


def _step(title: str, step: b.Formulas) -> Iterator[str]:
    """A slide with the sentence and the formulas, then the values, several on a slide."""
    words = f"{sentence(step.words)} ({sentence(step.size)})"
    formulas = tuple(each for each in step.lines if not has_grid(each.tree))
    values = [each.tree for each in step.lines if has_grid(each.tree)]
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


#: The kinds of LaTeX: files of their own, a fragment to \input, slides.
FLAVORS: Mapping[str, Callable[..., str]] = {
    "article": _article,
    "fragment": _fragment,
    "standalone": _standalone,
    "beamer": _beamer,
}
