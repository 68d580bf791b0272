"""Every reader of every output sees the same digits: those of the text, matrix by matrix.

`tests.sheets` says of which derivations: all that are hard to spell, and every fourth of the named
variants, in the nightly run all. A document is opened by the program that people open it with, all
of them in one run of it, and what that program shows is read back by `tests.seen`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from symattn.documents.data import json_document
from symattn.documents.job import FORMATS
from symattn.documents.markdown import FLAVORS
from symattn.documents.outline import Outline, Section, outline
from symattn.documents.pictures.drawing import Drawing
from symattn.documents.pictures.kinds import MOST_WITH_DIGITS, picture
from symattn.documents.pictures.svg import svg_document
from symattn.documents.pictures.tikz import tikz_document
from symattn.documents.shown import Shown
from symattn.documents.views import View
from symattn.notation.prose import Prose
from symattn.notation.text import line
from tests import ROOT
from tests.command import run
from tests.conftest import Formulas
from tests.documents.conftest import Typeset, failures, words_of
from tests.documents.test_markdown import formulas
from tests.extras import package
from tests.processes import python
from tests.rows import every_one_has_a_row
from tests.seen import (
    Part,
    Seen,
    cell,
    in_formula,
    in_page,
    in_text,
    of_mathml,
    prose_pattern,
    run_of,
)
from tests.sheets import SHEETS, VARIANT_SHEETS, evaluated, notation_of, outlines
from tests.written import (
    markdown_document,
    mathml_document,
    tex_document,
    text_document,
    word_document,
)

#: What is compared: what an entry comes from, and the matrix of a step.
VIEWS: tuple[View, ...] = ("worked", "value")

#: All that are hard to spell, and some variants.
USUAL = tuple(name for k, name in enumerate(SHEETS) if k % 96 == 0 or name not in VARIANT_SHEETS)

several = pytest.mark.parametrize(
    "names",
    [USUAL, pytest.param(tuple(SHEETS), marks=pytest.mark.nightly)],
    ids=["some variants", "all variants"],
)

_MATH = "{http://www.w3.org/1998/Math/MathML}math"


@cache
def text_of(name: str) -> tuple[Seen, ...]:
    """The matrices of a derivation as the text shows them: what all else is held against."""
    return tuple(seen for page in outlines(name, *VIEWS) for seen in in_text(text_document(page)))


def differences(
    found: Mapping[str, Iterable[Seen]], wanted: Callable[[str], Iterable[Seen]]
) -> list[str]:
    """Where a reader sees something else than the text shows."""
    out = []
    for name, seen in found.items():
        ours, theirs = list(wanted(name)), list(seen)
        pairs = zip(ours, theirs, strict=False)
        first = next((f"{a}\\n  {b}" for a, b in pairs if a != b), "")
        if first or len(ours) != len(theirs):
            out.append(f"{name}: {len(ours)} matrices, {len(theirs)} seen\\n  {first}")
    return out


def displayed(name: str, flavor: str) -> list[str]:
    """The displays of a derivation's Markdown."""
    return [
        source
        for page in outlines(name, *VIEWS)
        for display, source in formulas(markdown_document(page, flavor))
        if display
    ]


def seen_by(shown: dict[str, list[Part]]) -> dict[str, list[Seen]]:
    """What is seen in the displays of each derivation."""
    return {
        name: [seen for part in parts for seen in in_formula(part)] for name, parts in shown.items()
    }


def read_from(program: Formulas, sources: Iterable[str]) -> dict[str, list[Seen]]:
    """What is seen in each display as a program sets it; many derivations have the same."""
    different = list(dict.fromkeys(sources))
    shown = program.mathml([(True, each) for each in different])
    parts = (of_mathml(ElementTree.fromstring(each)) for each in shown)
    return dict(zip(different, map(in_formula, parts), strict=True))


@several
def test_katex(names: Sequence[str], katex: Formulas) -> None:
    sources = {(name, flavor): displayed(name, flavor) for name in names for flavor in FLAVORS}
    seen = read_from(katex, chain.from_iterable(sources.values()))
    for flavor in FLAVORS:
        found = {
            name: [one for source in sources[name, flavor] for one in seen[source]]
            for name in names
        }
        assert differences(found, text_of) == []


@several
def test_mathjax(names: Sequence[str], mathjax: Formulas) -> None:
    sources = {name: displayed(name, "github") for name in names}
    seen = read_from(mathjax, chain.from_iterable(sources.values()))
    found = {name: [one for source in sources[name] for one in seen[source]] for name in names}
    assert differences(found, text_of) == []


@several
def test_mathml(names: Sequence[str]) -> None:
    found = {}
    for name in names:
        root = ElementTree.fromstring(mathml_document(*outlines(name, *VIEWS)))
        shown = [math for math in root.iter(_MATH) if math.get("display") == "block"]
        found[name] = [seen for math in shown for seen in in_formula(of_mathml(math))]
    assert differences(found, text_of) == []


# pages


def _plain(parts: Prose) -> str:
    return "".join(part if isinstance(part, str) else line(part) for part in parts)


@dataclass(frozen=True)
class Expected:
    """What a page has to show behind an opening, and whose it is."""

    whose: str
    opening: str
    stream: str


def _shape(section: Section) -> str:
    """The shape of a matrix on a page, as a pattern."""
    return r"\s*".join(map(re.escape, "".join(_plain(section.shape).split())))


def expected(
    names: Iterable[str], views: Sequence[View] = VIEWS, slides: bool = False
) -> Iterator[Expected]:
    """What is given, and each step: what opens it on a page, and the text's matrices as one run.

    `slides`: what is given has a sentence there if there is room.
    """
    for name in names:
        for page in outlines(name, *views):
            seen = in_text(text_document(page))
            place = sum(len(section.lines) for section in page.given)
            sizes = "" if slides else _sizes(page)
            told = "".join(map(_given, page.given)) + r"\."
            told += r"\s+Sizes:" if sizes else ""
            given = rf"(?s:.*?)\nGiven\s{told}"
            if slides:  # one matrix stands on the first slide; a title may be "Given – 2. Scores"
                told += r"(?:\s+Sizes:(?s:.*?)\.(?=\s))?"
                given = rf"(?:\nGiven(?! *[–-]))?\s(?:{told})?"
            opening = prose_pattern(page.title) + given
            yield Expected(f"{name}, given", opening, sizes + _stream(seen[:place]))
            for section in page.steps:
                heading = prose_pattern(page.headings[section.name])
                opening = rf"\n{section.number}\. {heading}(?s:.*?)Size:\s+{_shape(section)}\."
                stop = place + len(section.lines)
                yield Expected(f"{name}, {section.name}", opening, _stream(seen[place:stop]))
                place = stop
            assert place == len(seen)


def _given(section: Section) -> str:
    return rf"[^0-9∞]*?{prose_pattern(_plain(section.why))}[^0-9∞]*?\(\s*{_shape(section)}\s*\)"


def _sizes(page: Outline) -> str:
    """What counts in the sentence that says what the sizes are; a letter may have figures."""
    told = (f"{line(page.notation.scalar(name))} = {count}" for name, count in page.sizes)
    return run_of(cell(", ".join(told) + ".")) if page.sizes else ""


def _stream(matrices: Iterable[Seen]) -> str:
    return "".join(each.stream for each in matrices)


def amiss(page: str, wanted: Sequence[Expected]) -> list[str]:
    """Where a page shows something else than the text."""
    found = in_page(f"\n{page}", [each.opening for each in wanted])
    return [
        f"{each.whose}\n  {each.stream}\n  {stream}"
        for each, stream in zip(wanted, found, strict=True)
        if each.stream != stream.rstrip(".")  # of a sentence
    ]


@pytest.mark.parametrize(
    ("flavor", "program", "names"),
    [
        ("article", "pdflatex", USUAL),
        pytest.param("article", "pdflatex", tuple(SHEETS), marks=pytest.mark.nightly),
        ("article", "lualatex", tuple(SHEETS)[::12]),
        pytest.param("standalone", "pdflatex", tuple(SHEETS)[1::12], marks=pytest.mark.nightly),
        pytest.param("beamer", "pdflatex", tuple(SHEETS)[2::12], marks=pytest.mark.nightly),
    ],
)
def test_pdf(
    flavor: str, program: str, names: Sequence[str], typeset: Typeset, tool: Any, tmp_path: Path
) -> None:
    """All of it in an article; of the other classes and programs a cover of the derivations."""
    pages = [page for name in names for page in outlines(name, *VIEWS)]
    source = tex_document(*pages, flavor=flavor)
    start = r"\begin{document}"
    told = source.replace(start, rf"{start}\setcounter{{equation}}{{7000}}")
    assert failures(typeset(program, told, tmp_path)) == []
    # a root that is put together of pieces is no letter of a PDF
    wanted = [
        replace(each, stream=each.stream.replace("√", ""))
        for each in expected(names, slides=flavor == "beamer")
    ]
    assert amiss(words_of(tool, tmp_path, "-raw").replace("√", ""), wanted) == []


# Office

#: Not elu, which pandoc reads out of Word as e, l and u.
_SOME = tuple(name for name in USUAL if "linear" not in name)


_TO_HTML = "-t", "html", "--mathml"


def pandoc(tool: Callable[[str], str], folder: Path, source: str, *told: str) -> str:
    """What pandoc makes of a document, without a warning."""
    ran = subprocess.run(
        [tool("pandoc"), "--fail-if-warnings", *told],
        input=source,
        cwd=folder,
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert ran.stderr == ""
    return ran.stdout


def blocks(html: str) -> list[Part]:
    """The displays of a page."""
    found = re.findall(r'<math display="block".*?</math>', html, re.DOTALL)
    return [of_mathml(ElementTree.fromstring(each)) for each in found]


@pytest.mark.nightly
def test_pandoc_and_word(tool: Callable[[str], str], tmp_path: Path) -> None:
    """Markdown as pandoc reads it, and once more out of the Word file it makes of it."""
    source = "\n".join(
        markdown_document(page, "katex") for name in _SOME for page in outlines(name, *VIEWS)
    )
    pandoc(tool, tmp_path, source, "-o", "page.docx")
    for read in (
        pandoc(tool, tmp_path, source, *_TO_HTML),
        pandoc(tool, tmp_path, "", "page.docx", *_TO_HTML),
    ):
        found = seen_by({"page": blocks(read)})
        assert differences(found, lambda _: chain.from_iterable(map(text_of, _SOME))) == []


@several
def test_word(names: Sequence[str], tool: Callable[[str], str], tmp_path: Path) -> None:
    """Our own Word file of all of them, as pandoc reads it."""
    pages = [page for name in names for page in outlines(name, *VIEWS)]
    (tmp_path / "page.docx").write_bytes(word_document(*pages))
    found = seen_by({"page": blocks(pandoc(tool, tmp_path, "", "page.docx", *_TO_HTML))})
    assert differences(found, lambda _: chain.from_iterable(map(text_of, names))) == []


@pytest.mark.nightly
def test_libreoffice(tool: Callable[[str], str], tmp_path: Path) -> None:
    """A Word file, opened by LibreOffice, which cuts lines off that are too long."""
    names = [name for name in USUAL if name != "exact"]
    pages = [page for name in names for page in outlines(name, "value")]
    (tmp_path / "page.docx").write_bytes(word_document(*pages))
    subprocess.run(
        [
            tool("soffice"),
            f"-env:UserInstallation=file://{tmp_path}/profile",
            "--headless",
            "--convert-to",
            "pdf",
            "page.docx",
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=300,
    )
    # which may break a line between a formula and the full stop behind it
    words = words_of(tool, tmp_path, "-raw").replace("\n.\n", ".\n")
    assert amiss(words, [*expected(names, ["value"])]) == []


# a browser

_VISIBLE = """() => [...document.querySelectorAll("math[display=block]")].map((math) => {
    for (const leaf of math.querySelectorAll("mi, mn, mo, mtext")) {
        const box = leaf.getBoundingClientRect();
        if (!(box.width > 0 && box.height > 0)) leaf.textContent = "";
    }
    const misplaced = [...math.querySelectorAll("mtr")].filter((row) => {
        const left = [...row.children].map((cell) => cell.getBoundingClientRect().left);
        const below = row.nextElementSibling?.getBoundingClientRect().top ?? Infinity;
        return left.some((x, k) => x <= left[k - 1]) || row.getBoundingClientRect().top >= below;
    });
    return misplaced.length ? `<p>${math.textContent}</p>` : math.outerHTML;
})"""


@several
def test_browser(names: Sequence[str], browser: Any, tmp_path: Path) -> None:
    """MathML as Chromium lays it out: what has an extent, in rows and columns."""
    shown = mathml_document(*(page for name in names for page in outlines(name, *VIEWS)))
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{shown}", "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    visible = (each.replace("&nbsp;", " ") for each in page.evaluate(_VISIBLE))
    found = seen_by({"page": [of_mathml(ElementTree.fromstring(each)) for each in visible]})
    page.close()
    assert differences(found, lambda _: chain.from_iterable(map(text_of, names))) == []


# notebooks

#: Every hard worksheet that is one derivation, and a few variants.
_BOOKS = tuple(
    name
    for k, name in enumerate(SHEETS)
    if (k % 48 == 0 or name not in VARIANT_SHEETS) and len(evaluated(name)) == 1
)


def derived(name: str, folder: Path, form: str, *told: str) -> str:
    """What ``symattn derive`` writes of a worksheet."""
    (folder / f"{name}.toml").write_text(SHEETS[name], "utf-8")
    exact = ["--digits", "exact"] if notation_of(name).exact else []
    words = ["derive", str(folder / f"{name}.toml"), "--format", form, *exact, *told]
    ran = run(*words, status=0)
    return ran.stdout


def steps_of(name: str) -> list[Seen]:
    """The matrices of a derivation's steps in its text, without those that are given."""
    ((page,),) = [outlines(name, "value")]
    given = sum(len(section.lines) for section in page.given)
    return in_text(text_document(page))[given:]


def data_of(cell: Any) -> list[Any]:
    """What a cell of a notebook shows below itself."""
    return [out.get("data") for out in cell.get("outputs", ())]


@pytest.mark.nightly
def test_notebooks(katex: Formulas, tmp_path: Path) -> None:
    """What the cells of a notebook show when it is run is what is written above them."""
    nbformat = package("nbformat")
    package("nbclient")
    package("nbconvert")
    whole, starts = nbformat.v4.new_notebook(), []
    for name in _BOOKS:
        starts.append(len(whole.cells))
        book = nbformat.reads(derived(name, tmp_path, "ipynb"), as_version=4)
        whole.cells += book.cells
        whole.metadata = book.metadata
    for number, each in enumerate(whole.cells):
        each["id"] = f"cell-{number}"
    nbformat.write(whole, tmp_path / "all.ipynb")
    before = [*map(data_of, whole.cells)]
    code = (
        "import nbformat, nbclient; book = nbformat.read('all.ipynb', as_version=4); "
        "nbclient.NotebookClient(book, timeout=200).execute(); nbformat.write(book, 'all.ipynb')"
    )
    python("-c", code, cwd=tmp_path, check=True, seconds=300, HOME=str(tmp_path))
    done = nbformat.read(tmp_path / "all.ipynb", as_version=4).cells
    assert [*map(data_of, done)] == before
    plain: dict[str, list[Seen]] = {}
    sources: dict[str, list[str]] = {}
    for name, start, stop in zip(_BOOKS, starts, [*starts[1:], len(done)], strict=True):
        shown = [
            out.data
            for each in done[start:stop]
            if each.cell_type == "code"
            for out in each.outputs
        ]
        plain[name] = [seen for data in shown for seen in in_text(data["text/plain"])]
        formulas_of = [
            data["text/latex"].removeprefix(r"$\displaystyle ").removesuffix("$") for data in shown
        ]
        assert [data["text/markdown"] for data in shown] == [f"$$\n{x}\n$$" for x in formulas_of]
        sources[name] = formulas_of
    assert differences(plain, steps_of) == []
    every = [source for name in _BOOKS for source in sources[name]]
    pieces = iter(katex.mathml([(True, source) for source in every]))
    katexed = {
        name: [of_mathml(ElementTree.fromstring(next(pieces))) for _ in sources[name]]
        for name in _BOOKS
    }
    assert differences(seen_by(katexed), steps_of) == []
    exported = python(
        *("-m", "nbconvert", "--to", "html", "--stdout", "all.ipynb"),
        cwd=tmp_path,
        check=True,
        seconds=200,
        HOME=str(tmp_path),
    ).stdout
    html, found = unescape(exported), 0
    for each in done:
        if each.cell_type == "markdown":
            for display, source in formulas(each.source):
                found = html.find(source, found) if display else found
                assert found >= 0, source


# data, marks, pictures, programs


def whole(name: str, digits: int | None = None) -> list[Seen]:
    """The matrices in a text that leaves nothing out and shows decimals."""
    notation = notation_of(name).but(limit=0, exact=False)
    notation = notation if digits is None else notation.but(digits=digits)
    return [
        seen
        for derivation, values in evaluated(name)
        for seen in in_text(
            text_document(outline(Shown(derivation, values, notation=notation, views=["value"])))
        )
    ]


def written(decimal: str) -> str:
    """A decimal of JSON as the text has it."""
    digits, _, exponent = decimal.replace("-", "−").replace("inf", "∞").partition("e")
    return f"{digits}·10{int(exponent.replace('−', '-'))}".replace("-", "−") if exponent else digits


@several
def test_json(names: Sequence[str]) -> None:
    found: dict[str, list[Seen]] = {}
    for name in names:
        found[name] = []
        notation = notation_of(name).but(limit=0, exact=False)
        for derivation, values in evaluated(name):
            data = json.loads(json_document(Shown(derivation, values, notation=notation)))
            for item in (*data["inputs"].values(), *data["steps"].values()):
                per_head = len(item["shape"]) == 3
                both = item["decimals"], item["decimals_are_exact"]
                heads = zip(*both, strict=True) if per_head else [both]
                for number, (head, exact) in enumerate(heads, notation.index_base):
                    rows = tuple(tuple(map(written, row)) for row in head)
                    relation = "=" if all(map(all, exact)) else "≈"
                    found[name].append(Seen(str(number) if per_head else "", relation, rows))
                assert item["decimals_are_proven"] or name == "undecided"

    def bare(name: str) -> Iterator[Seen]:
        for seen in whole(name):
            rows = tuple(tuple(shown.rstrip("?") for shown in row) for row in seen.rows)
            yield Seen(seen.left.strip("/"), seen.relation, rows)  # of ∂L/∂V

    assert differences(found, bare) == []


def heat_maps(name: str) -> Iterator[tuple[Drawing, str]]:
    """The weights of a derivation as a picture, and what its text has of them."""
    for derivation, values in evaluated(name):
        items = [*derivation.inputs, *derivation]
        step = next((each for each in items if each.name == "weights"), items[-1])
        if max(values.array(step.letter).shape[-2:]) > MOST_WITH_DIGITS:
            continue
        notation = notation_of(name).but(limit=0, exact=False)
        page = outline(
            Shown(derivation, values, notation=notation, views=["value"], only=[step.name])
        )
        seen = in_text(text_document(page))
        yield (
            picture("heat", derivation, values, notation, step.name),
            "".join(each.stream.replace(each.relation, "", 1) for each in seen),
        )


#: What the key of a heat map adds: the numbers of its lightest and its darkest shade.
KEY = r"0[0-9.]+"


@several
def test_pictures(names: Sequence[str], typeset: Typeset, tool: Any, tmp_path: Path) -> None:
    """SVG, and TikZ as pdflatex sets it, a picture on each page, which is as wide as any."""
    drawn = [pair for name in names for pair in heat_maps(name)]
    svg = "{http://www.w3.org/2000/svg}text"
    for drawing, stream in drawn:
        root = ElementTree.fromstring(svg_document(drawing))
        words = "\n".join("".join(each.itertext()) for each in root.iter(svg))
        assert re.fullmatch(re.escape(stream) + KEY, run_of(cell(words)))
    body = "\n\\newpage\n".join(tikz_document(drawing) for drawing, _ in drawn)
    source = (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{amsmath,amssymb,tikz}"
        "\\usepackage[paperwidth=200cm,paperheight=100cm,margin=1cm]{geometry}"
        f"\\pagestyle{{empty}}\\begin{{document}}\n{body}\\end{{document}}\n"
    )
    assert failures(typeset("pdflatex", source, tmp_path)) == []
    pages = words_of(tool, tmp_path, "-raw").split("\f")
    for page, (_, stream) in zip(pages, drawn, strict=False):
        assert re.fullmatch(re.escape(stream) + KEY, run_of(cell(page)))
    assert len(pages) == len(drawn) + 1


#: The tests in which each format is read or run again, by what people open it with; text is what
#: the others are held against.
READ_BY: Mapping[str, str] = {
    "text": "tests/documents/test_agreement.py",
    "latex": "tests/documents/test_latex.py",
    "tex": "tests/documents/test_seen.py::test_pdf",
    "pdf": "tests/documents/test_seen.py::test_pdf",
    "md": "tests/documents/test_seen.py::test_katex",
    "ipynb": "tests/documents/test_seen.py::test_notebooks",
    "docx": "tests/documents/test_seen.py::test_word",
    "mathml": "tests/documents/test_seen.py::test_mathml",
    "json": "tests/documents/test_seen.py::test_json",
    "html": "tests/documents/page/test_page.py::test_every_variant_shows_the_proven_digits",
    "svg": "tests/documents/test_seen.py::test_pictures",
    "tikz": "tests/documents/test_seen.py::test_pictures",
    "png": "tests/documents/pictures/test_pictures.py",
    "python": "tests/documents/code/test_code.py::test_files_run_and_agree",
    "numpy": "tests/documents/code/test_code.py::test_files_run_and_agree",
    "torch": "tests/documents/code/test_code.py::test_files_run_and_agree",
    "jax": "tests/documents/code/test_code.py::test_files_run_and_agree",
    "javascript": "tests/documents/code/test_code.py::test_javascript_runs_and_agrees",
    "equations": "tests/language/test_equations.py::test_what_is_written_reads_back",
}


def test_every_format_is_read() -> None:
    home = "READ_BY of tests/documents/test_seen.py"
    every_one_has_a_row(FORMATS, READ_BY, home, "the test in which it is read, or run, again")
    for place in READ_BY.values():
        file, _, name = place.partition("::")
        assert f"def {name or 'test_'}" in (ROOT / file).read_text("utf-8"), place


# what is spoilt is noticed, by every way of reading

#: Changed or left out: a digit, a sign, a row, two cells, a relation and a mark; the last of each.
_IN_LATEX = (
    (r"(.*\d\.\d*)(\d)()", ""),
    (r"(.*)-(\d)", r"\1\2"),
    (r"(.*) \\\\ [^\\]*( \\end\{array\})", r"\1\2"),
    (r"(.*[ &])(-?[\d.]+) & (-?[\d.]+)", r"\1\3 & \2"),
    (r"(.*)\\approx", r"\1="),
    (r"(.*)\?", r"\1"),
)
_SIZE_IN_LATEX = (r"(.*Sizes: [^=]*= *)(\d)()", "")
_IN_TEXT = (
    (r"(.*\d\.\d*)(\d)()", ""),
    (r"(.*)−(\d)", r"\1 \2"),
    (r"(.*)\n *⎢.*?\n", r"\1\n"),
    (r"(.*[⎡⎢⎣] +)([−\d.]+)  +([−\d.]+)", r"\1\3  \2"),
    (r"(.*)≈", r"\1="),
    (r"(.*)\?", r"\1 "),
)
_IN_MATHML = (
    (r"(.*\d\.\d*)(\d)(</mn>)", ""),
    (r"(.*)<mo form=.prefix.>−</mo>", r"\1"),
    (r"(.*)<mtr>.*?</mtr>", r"\1"),
    (r"(.*)(<mtd(?:(?!</mtd>).)*</mtd>)(<mtd(?:(?!</mtd>).)*</mtd>)", r"\1\3\2"),
    (r"(.*)<mo>≈</mo>", r"\1<mo>=</mo>"),
    (r"(.*)<mo>\?</mo>", r"\1"),
)
_SPOILT = ("signs", "undecided")


def spoilt(source: str, ways: Sequence[tuple[str, str]]) -> list[str]:
    """The source with one thing wrong, in every way in which it can be; "" counts a digit up."""
    found = []
    for pattern, replacement in ways:
        new: Any = replacement or (lambda m: f"{m[1]}{(int(m[2]) + 1) % 10}{m[3]}")
        changed = re.sub(pattern, new, source, count=1, flags=re.DOTALL)
        found += [changed] if changed != source else []
    return found


@pytest.mark.parametrize("name", _SPOILT)
def test_spoilt_text_is_noticed(name: str) -> None:
    ((page,),) = [outlines(name, "value")]
    sound = text_document(page)
    bad = spoilt(sound, _IN_TEXT)
    assert len(bad) >= 3
    for each in bad:
        try:
            seen = in_text(each)
        except (AssertionError, ValueError, IndexError, StopIteration):
            continue
        assert seen != in_text(sound), each


@pytest.mark.parametrize("name", _SPOILT)
def test_spoilt_formulas_are_noticed(name: str, katex: Formulas, mathjax: Formulas) -> None:
    ((page,),) = [outlines(name, "value")]
    whole_page = markdown_document(page)
    bad = [
        [source for display, source in formulas(each) if display]
        for each in spoilt(whole_page, _IN_LATEX)
    ]
    assert len(bad) >= 3
    wanted = in_text(text_document(page))
    shown = [(True, source) for each in bad for source in each]
    for program in (katex, mathjax):
        rest = iter(program.mathml(shown))
        for sources in bad:
            parts = [of_mathml(ElementTree.fromstring(next(rest))) for _ in sources]
            assert [one for part in parts for one in in_formula(part)] != wanted


@pytest.mark.parametrize("name", _SPOILT)
def test_spoilt_mathml_is_noticed(name: str) -> None:
    ((page,),) = [outlines(name, "value")]
    wanted = in_text(text_document(page))

    def seen(document: str) -> list[Seen]:
        shown = ElementTree.fromstring(document).iter(_MATH)
        return [
            one
            for math in shown
            if math.get("display") == "block"
            for one in in_formula(of_mathml(math))
        ]

    document = mathml_document(page)
    bad = spoilt(document, _IN_MATHML)
    assert seen(document) == wanted
    assert len(bad) >= 3
    assert all(seen(each) != wanted for each in bad)


@pytest.mark.parametrize("name", _SPOILT)
def test_spoilt_pages_are_noticed(name: str, typeset: Typeset, tool: Any, tmp_path: Path) -> None:
    ((page,),) = [outlines(name, "value")]
    head, start, source = tex_document(page).partition(r"\begin{document}")
    start = rf"{head}{start}\setcounter{{equation}}{{7000}}"
    wanted = [*expected([name], ["value"])]
    assert len(spoilt(source, [_SIZE_IN_LATEX])) == 1
    for k, each in enumerate([source, *spoilt(source, [*_IN_LATEX, _SIZE_IN_LATEX])]):
        assert failures(typeset("pdflatex", start + each, tmp_path)) == []
        assert (amiss(words_of(tool, tmp_path, "-raw"), wanted) != []) is (k > 0)


def test_a_hidden_cell_is_noticed(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    document = mathml_document(*outlines("hidden", "value"))
    hidden = document.replace("<mn>0.6225</mn>", '<mn style="display:none">0.6225</mn>')
    assert hidden != document
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{hidden}", "utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    parts = [of_mathml(ElementTree.fromstring(each)) for each in page.evaluate(_VISIBLE)]
    page.close()
    wanted = in_text(text_document(outlines("hidden", "value")[0]))
    assert seen_by({"hidden": parts})["hidden"] != wanted
