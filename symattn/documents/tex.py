"""Blocks as a LaTeX file of its own: an article, a standalone picture, slides; and as a PDF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from symattn.documents import blocks as b
from symattn.documents.latex import displays, has_grid, latex_document, sentence
from symattn.documents.pictures.tikz import tikz_document
from symattn.documents.wrap import SLIDE_ROOM, size_of
from symattn.notation.latex import latex, prose
from symattn.notation.text import box, packed
from symattn.notation.tree import Tree

#: Characters that pdflatex has fonts for; the others take lualatex, and fonts that have them.
_T1 = re.compile(r"[\0-ĥĨ-ķĹ-ľŁ-ňŊ-ťŨ-ž–—‘-‚“-„…‰‹›€™]*")

_COMMENT = re.compile(r"(?<!\\)%.*$", re.MULTILINE)

#: Where lualatex looks for characters that its usual font does not have.
FALLBACK = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans", "Noto Emoji")

#: Latin Modern, in which text and formulas are of one family, and no letter is a bitmap.
_MODERN = r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}"

#: What a fragment needs besides amsmath where a command of it stands there.
_NEEDED = {r"\symattnfit": "graphicx", r"\mathbb": "amssymb"}


def write(documents: Sequence[b.Document], flavor: str = "article") -> str:
    """The file, for pdflatex or lualatex; `flavor` is a row of `FLAVORS`."""
    return FLAVORS[flavor](*documents)


def beyond_pdflatex(code: str) -> str:
    """The first character that pdflatex has no font for, "" if there is none.

    What stands in a comment is not set.
    """
    shown = _COMMENT.sub("", code)
    return shown[_T1.match(shown).end() :][:1]  # type: ignore[union-attr]  # * always matches


def _preamble(body: str, *packages: str) -> list[str]:
    """What loads the fonts that the body takes, and packages."""
    fonts = [r"\usepackage[T1]{fontenc}", _MODERN]
    if not body.isascii():  # under lualatex, fonts of T1 lose quotes and dashes
        fonts[0] = rf"\ifdefined\directlua\else{fonts[0]}\fi"
    if beyond_pdflatex(body):
        fonts = [
            _MODERN,
            r"\usepackage{fontspec}  % lualatex",
            r"\newcommand{\others}{}",
            r"\newcommand{\other}[1]{\IfFontExistsTF{#1}{\edef\others{\others'#1:mode=harf',}}{}}",
            "".join(rf"\other{{{name}}}" for name in FALLBACK),
            r"\directlua{luaotfload.add_fallback('others', {\others})}",
            *(_latin_modern(*each) for each in (("main", "roman"), ("sans", "sans"))),
        ]
    return [*fonts, *(rf"\usepackage{name}" for name in packages)]


def _latin_modern(role: str, name: str) -> str:
    """The fonts of pdflatex for lualatex, with others for what they do not have."""
    return (
        rf"\set{role}font{{lm{name}10-regular.otf}}"
        rf"[BoldFont=lm{name}10-bold.otf,RawFeature={{fallback=others}}]"
    )


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
        # a page may stay empty for a twelfth of its height, so that it ends before a step
        r"\renewcommand{\subsection}{\par\vskip\z@ plus .08\textheight\penalty-100%",
        r"  \vskip\z@ plus -.08\textheight\@startsection{subsection}{2}{\z@}%",
        r"  {.8ex plus 1ex minus .2ex}{-.7em}{\normalfont\normalsize\bfseries}}",
        r"\makeatother",
        r"\postdisplaypenalty=200",
        r"\AtBeginDocument{\abovedisplayskip=.15ex plus .9ex minus .05ex%",
        r"  \belowdisplayskip=\abovedisplayskip\abovedisplayshortskip=.1ex plus .3ex%",
        r"  \belowdisplayshortskip=\abovedisplayskip\jot=1pt}",
    ]
)


def _fragment(*documents: b.Document) -> str:
    """What can be put into somebody's file; a comment says which packages it needs there."""
    body = latex_document(*documents, fitted=True)
    needed = ["amsmath", *(name for command, name in _NEEDED.items() if command in body)]
    head = rf"% Needs \usepackage{{{','.join(needed)}}} in the preamble." + "\n"
    return f"{head}{_FITTED}\n\n{body}" if r"\symattnfit" in body else f"{head}{body}"


def _article(*documents: b.Document) -> str:
    body = latex_document(*documents, label="eq", fitted=True, remarks=True)
    return "\n".join(
        [
            r"\documentclass{article}",
            *_preamble(body, "{amsmath,amssymb,graphicx}", "[margin=2cm]{geometry}"),
            _FITTED,
            _TIGHT,
            r"\setlength{\parindent}{0pt}",
            r"\setlength{\emergencystretch}{4em}  % code does not stretch",
            r"\begin{document}",
            body,
            r"\end{document}",
            "",
        ]
    )


def _standalone(*documents: b.Document) -> str:
    """A page for each derivation, no larger than what is on it; several for a very long one."""
    pages = "\n".join(
        "\\begin{derivation}\n" + latex_document(part, fitted=True) + "\\end{derivation}"
        for each in documents
        for part in _parts(each)
    )
    return "\n".join(
        [
            r"\documentclass[multi=derivation,border=6pt]{standalone}",
            *_preamble(pages, "{amsmath,amssymb,graphicx,varwidth}"),
            _FITTED,
            r"\newenvironment{derivation}{\begin{varwidth}{18cm}}{\end{varwidth}}",
            r"\begin{document}",
            pages,
            r"\end{document}",
            "",
        ]
    )


def _parts(document: b.Document, highest: int = 800) -> Iterator[b.Document]:
    """The document cut between sections, before it is higher than TeX can measure (5.7 m).

    So many lines are about half of that.
    """
    parts = packed(((block, _height(block)) for block in document.blocks), highest)
    for number, part in enumerate(parts or [[]]):
        yield replace(document, title="" if number else document.title, blocks=tuple(part))


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


def _beamer(*documents: b.Document, overlays: bool = False) -> str:
    frames = "\n".join(frame for each in documents for frame in _frames(each, overlays))
    used = r"\symattnfit" in frames
    fit = [r"\newcommand{\symattnfit}[1]{\fitted{#1}}"] if used else []
    drawn = [r"{tikz}"] if r"\begin{tikzpicture}" in frames else []
    return "\n".join(
        [
            r"\documentclass[aspectratio=169]{beamer}",
            *_preamble(frames, "{amsmath,amssymb,graphicx}", *drawn),
            r"\usefonttheme[onlymath]{serif}",  # whose bold is bold
            r"\beamertemplatenavigationsymbolsempty",
            # A display shrinks where it is one matrix that is wider or higher than a slide.
            r"\newsavebox{\display}\newdimen{\tall}",
            r"\newcommand{\fitted}[1]{\sbox{\display}{$\displaystyle #1$}%",
            r"  \tall=\ht\display\advance\tall by \dp\display",
            rf"  \ifdim\tall>{_ROOM}\textheight",
            r"    \sbox{\display}{\resizebox*{!}"
            rf"{{{_ROOM}\textheight}}{{\usebox{{\display}}}}}}\fi",
            r"  \ifdim\wd\display>\linewidth\resizebox{\linewidth}{!}{\usebox{\display}}%",
            r"  \else\usebox{\display}\fi}",
            *fit,
            r"\begin{document}",
            frames,
            r"\end{document}",
            "",
        ]
    )


#: About how many digits a slide is wide, and lines high; lines of formulas in one display, lines
#: that a title in the middle takes, and how high a line is, in points of TeX.
_WIDE, _HIGH, _LINES, _TITLE, _LINE = SLIDE_ROOM, 11, 6, 2.5, 13.6

#: How much of a slide a display is high at most.
_ROOM = ".68"

#: What is added to the title of what goes on from the slide before.
_CONTINUED = " (continued)"


@dataclass(frozen=True)
class _Shown:
    """A display of a slide, and about how many digits wide and lines high it is."""

    body: str
    width: float
    height: float


@dataclass(frozen=True)
class _Part:
    """A slide: its title, words, and rows of displays; its height in lines."""

    title: str
    words: str
    rows: tuple[tuple[_Shown, ...], ...]
    height: float


def _frames(document: b.Document, overlays: bool) -> Iterator[str]:
    """The slides: the title with what is given, then one for each step, or several."""
    first = _first(document)
    opening = _opening(document, document.blocks[:first])
    loose: list[b.Block] = []
    for block in (*document.blocks[first:], b.Section("", ())):
        parts: list[_Part] = []
        match block:
            case b.Break() | b.Notebook():
                continue
            case b.Section(title, (b.Formulas(label=""), *_) as given) if _are_formulas(given):
                room = _HIGH - _TITLE - opening[0].height if len(opening) == 1 else 0
                parts = _given(prose(title), given, room)
            case b.Section(title, (b.Formulas() as step,)):
                parts = [*_step(prose(title), step, document)]
        if opening and (parts or isinstance(block, b.Section | b.Document)):
            lead, *more = opening
            if len(parts) == 1 and lead.height + parts[0].height + _TITLE <= _HIGH and not more:
                both = (*lead.rows, *parts[0].rows)
                lead, parts = replace(lead, words=parts[0].words, rows=both), []
            yield _frame(lead, overlays, prose(document.title))
            yield from (_frame(each, overlays) for each in more)
            opening = []
        if isinstance(block, b.Section | b.Document) and loose:
            yield _flowing(document.title, loose)
            loose = []
        yield from (_frame(each, overlays) for each in parts)
        match block:
            case b.Document():
                yield from _frames(block, overlays)
            case b.Section(title, blocks) if blocks and not _are_formulas(blocks):
                yield _flowing(title, blocks)
            case b.Section():
                pass
            case _:
                loose.append(block)


def _are_formulas(blocks: Sequence[b.Block]) -> bool:
    return all(isinstance(block, b.Formulas) for block in blocks)


def _opening(document: b.Document, lead: Sequence[b.Block]) -> list[_Part]:
    """The slides of the title, with the formulas that lead."""
    lines = [b.Line("formula", block.tree) for block in lead if isinstance(block, b.Worked)]
    if not (document.title or lines):
        return []
    return [*_parts_of("", "", [*_displays(lines)])] or [_Part("", "", (), 0)]


def _first(document: b.Document) -> int:
    """How many blocks stand on the slide of the title: formulas alone, without words."""

    def is_lead(block: b.Block) -> bool:
        return isinstance(block, b.Break) or (isinstance(block, b.Worked) and not block.words)

    return len([*takewhile(is_lead, document.blocks)])


def _flowing(title: str, blocks: Sequence[b.Block]) -> str:
    """Words, lists and tables on as many slides as they take."""
    body = latex_document(b.Document("", tuple(blocks)), fitted=True)
    return rf"\begin{{frame}}[allowframebreaks]{{{prose(title)}}}" f"\n{body}\\end{{frame}}"


def _given(title: str, given: Sequence[b.Block], room: float) -> list[_Part]:
    """What is given, in words and numbers; without words where the title has room for these alone.

    `room`: how many lines there are below the title.
    """
    inputs = [part for part in given if isinstance(part, b.Formulas)]
    shown = [_matrix(each.tree) for part in inputs for each in part.lines]
    said = " ".join(sentence(part.said) for part in inputs)
    told, bare = ([*_parts_of(title, words, shown)] for words in (said, ""))
    fit = [len(each) == 1 and each[0].height <= room for each in (told, bare)]
    return bare if fit == [False, True] else told


def _step(title: str, step: b.Formulas, document: b.Document) -> Iterator[_Part]:
    """The slides of a step: its sentence, formulas and values; the picture of weights by itself."""
    drawing = document.drawn.get(step.label)
    formulas = [each for each in step.lines if not has_grid(each.tree)]
    values = [each.tree for each in step.lines if has_grid(each.tree) and drawing is None]
    shown = [*_displays(formulas), *map(_matrix, values)]
    yield from _parts_of(title, sentence(step.said), shown)
    if drawing is not None:
        unit, font = 0.95, r"\normalsize"  # points of TeX, and the size of words
        picture = tikz_document(drawing, unit, font)
        high = drawing.height * unit / _LINE
        yield _Part(
            f"{title}{_CONTINUED}", "", ((_Shown(rf"\hbox{{{picture}}}", _WIDE, high),),), high
        )


def _displays(lines: Sequence[b.Line]) -> Iterator[_Shown]:
    """Formulas as displays no wider than a slide."""
    for body in displays(tuple(lines), SLIDE_ROOM, most=_LINES):
        yield _Shown(body, _WIDE, (2.2 if "frac" in body else 1.4) * (body.count(r"\\") + 1) + 0.5)


def _matrix(tree: Tree) -> _Shown:
    size = box(tree)
    return _Shown(latex(tree), size_of(tree) + 4, len(size.lines) + 1)


def _parts_of(title: str, words: str, shown: Sequence[_Shown]) -> Iterator[_Part]:
    """Displays on as many slides as they take, the words on the first; narrow ones side by side."""
    rows: list[tuple[_Shown, ...]] = []
    high = 1.5 + len(words) // _WIDE if words else 0.0
    left = 0.0
    for each in shown:
        tallest = max((one.height for one in rows[-1]), default=0) if rows else 0
        more = max(each.height - tallest, 0)
        if rows and each.width <= left and high + more <= _HIGH:
            rows[-1] = (*rows[-1], each)
            left, high = left - each.width, high + more
            continue
        if rows and high + each.height > _HIGH:
            yield _Part(title, words, tuple(rows), high)
            title = title if title.endswith(_CONTINUED) else f"{title}{_CONTINUED}"
            rows, words, high = [], "", 0.0
        rows.append((each,))
        left, high = _WIDE - each.width, high + each.height
    if rows or words:
        yield _Part(title, words, tuple(rows), high)


def _frame(part: _Part, overlays: bool, heading: str = "") -> str:
    """One slide; with `overlays` its rows appear one after the other.

    A `heading` stands in its middle.
    """
    lines = [rf"\begin{{frame}}{{{part.title}}}" if part.title else r"\begin{frame}"]
    lines += [rf"\centering{{\Large {heading}\par}}\bigskip"] if heading else []
    lines += [part.words] if part.words else []
    fitted = []
    for count, row in enumerate(part.rows, 1):
        beside = r" \qquad ".join(each.body for each in row)
        display = rf"\fitted{{{beside}}}"
        fitted.append(rf"\uncover<{count}->{{{display}}}" if overlays else display)
    if fitted:
        lines += [r"\begin{center}", "\n\\par\\medskip\n".join(fitted), r"\end{center}"]
    return "\n".join([*lines, r"\end{frame}"])


#: The kinds of LaTeX: files of their own, a fragment to \input, slides, at once or row by row.
FLAVORS: Mapping[str, Callable[..., str]] = {
    "article": _article,
    "fragment": _fragment,
    "standalone": _standalone,
    "beamer": _beamer,
    "overlays": partial(_beamer, overlays=True),
}
