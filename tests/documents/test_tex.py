"""LaTeX files: each flavor compiled by pdflatex and lualatex over all variants, and the PDF."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest

from symattn import VARIANTS, Notation, SymattnError
from symattn.algebra.identities import IDENTITIES, prove
from symattn.algebra.identities.reports import proofs_document
from symattn.attention.decoding import decode
from symattn.attention.example import small_example, small_inputs
from symattn.derivations import Derivation
from symattn.documents import pdf, tex
from symattn.documents.outline import Outline, outline
from symattn.documents.pdf import pdf_document
from symattn.documents.shown import Shown
from symattn.documents.tex import FLAVORS
from symattn.sheets.worksheet import worksheet_of
from tests.command import run
from tests.conftest import Tool
from tests.documents.conftest import HOST, Typeset, words_of
from tests.gates import CAUSAL, EXAMPLES, HOSTILE_LABELS, HOSTILE_TITLE, SUBJECTS, labelled, page
from tests.shares import share
from tests.written import latex_document, tex_document

FILES = tuple(name for name in FLAVORS if name != "overlays")  # the same slides, row by row
PROGRAMS = ("pdflatex", "lualatex")

#: Beside articles by pdflatex.
COMPILED = [pair for pair in product(FILES, PROGRAMS) if pair != ("article", "pdflatex")]

#: Names longer than a column, one of them of the widest letters.
_LONG_NAMES = ("internationalisation", "an extraordinarily long token", "the", "m" * 20, "W" * 16)


def file_of(*outlines: Outline, flavor: str) -> str:
    """A file that TeX can be run on, a fragment in a host."""
    source = tex_document(*outlines, flavor=flavor)
    return HOST.format(source) if flavor == "fragment" else source


def firsts(derivation: Derivation) -> dict[str, tuple[int, ...]]:
    """The first entry of every step."""
    return {step.name: (0,) * (2 + step.per_head) for step in derivation.steps}


@cache
def wide() -> tuple[Outline, ...]:
    """What is wider than a page: large matrices, long numbers, long names, long exact values."""
    rows = [[f"{(37 * i + 11 * j) % 61 - 30}/10" for j in range(12)] for i in range(12)]
    lines = ["attention.mask = 'causal'", f"given.X = {rows}"]
    lines += [
        f"given.{name} = {[row[k : k + 3] for row in rows]}"
        for k, name in enumerate(("W_Q", "W_K", "W_V"))
    ]
    large = worksheet_of("\n".join(lines), "large")
    few = [f"attention.tokens = {list(_LONG_NAMES)}"]
    few += [f"given.{name} = {[[k, 2, 1 + j] for k in range(5)]}" for j, name in enumerate("QKV")]
    named = worksheet_of("\n".join(few), "named")
    found = []
    for sheet, notations in (
        (
            large,
            (
                Notation(),
                Notation(layout="falk"),
                Notation(limit=0),
                Notation(limit=0, layout="falk"),
                Notation(digits=14, layout="falk"),
            ),
        ),
        (named, (Notation(), Notation(layout="falk"), Notation(exact=True))),
    ):
        derivation = sheet.derivation()
        values, entries = sheet.evaluate(derivation), firsts(derivation)
        for notation in notations:
            shown = Shown(derivation, values, notation=notation, entries=entries)
            found.append(outline(shown))
    named_variants = {row.name: row.spec for row in VARIANTS}
    for name in ("deepseek", "transformer-xl", "cached-llama", "rotary"):
        derivation, values = small_example(named_variants[name], tokens=2, gradient=())
        found.append(outline(Shown(derivation, values, notation=Notation(layout="falk"))))
    derivation, values = small_example(named_variants["rotary"], tokens=3)
    found.append(outline(Shown(derivation, values, notation=Notation(exact=True, layout="falk"))))
    spec, given = small_inputs(named_variants["cached"], tokens=3)
    found += [
        outline(Shown(c.derivation, c.evaluation, notation=Notation(layout="falk")))
        for c in decode(spec, 1, **given)
    ]
    return tuple(found)


@pytest.mark.parametrize(
    ("flavor", "program", "subjects"),
    [
        ("article", "pdflatex", SUBJECTS[:: len(COMPILED)]),
        pytest.param("article", "pdflatex", SUBJECTS, marks=pytest.mark.nightly),
        *(
            pytest.param(
                flavor,
                program,
                SUBJECTS[turn :: len(COMPILED)],
                marks=[] if program == "pdflatex" else pytest.mark.nightly,
            )
            for turn, (flavor, program) in enumerate(COMPILED)
        ),
        *(pytest.param(*each, SUBJECTS, marks=pytest.mark.nightly) for each in COMPILED),
    ],
)
def test_every_derivation_compiles_and_fits(
    flavor: str, program: str, subjects: tuple[str, ...], typeset: Typeset, tmp_path: Path
) -> None:
    outlines = [page(subject) for subject in subjects]
    assert typeset(program, file_of(*outlines, flavor=flavor), tmp_path) == []


@pytest.mark.parametrize(
    ("flavor", "examples"),
    [
        *((flavor, EXAMPLES[turn :: len(FILES)]) for turn, flavor in enumerate(FILES)),
        *(pytest.param(flavor, EXAMPLES, marks=pytest.mark.nightly) for flavor in FILES),
    ],
)
def test_every_notation_compiles_and_fits(
    flavor: str, examples: Sequence[Path], typeset: Typeset, tmp_path: Path
) -> None:
    outlines = [page(path.stem, "mixed") for path in examples]
    assert typeset("pdflatex", file_of(*outlines, flavor=flavor), tmp_path) == []


@pytest.mark.parametrize(
    ("flavor", "program", "part"),
    [
        ("article", "pdflatex", slice(0, None, 8)),
        pytest.param("fragment", "pdflatex", slice(1, None, 4), marks=pytest.mark.nightly),
        pytest.param("beamer", "pdflatex", slice(3, None, 8), marks=pytest.mark.nightly),
        pytest.param("article", "pdflatex", slice(None), marks=pytest.mark.nightly),
        pytest.param("fragment", "pdflatex", slice(None), marks=pytest.mark.nightly),
        pytest.param("article", "lualatex", slice(None), marks=pytest.mark.nightly),
        pytest.param("standalone", "lualatex", slice(None), marks=pytest.mark.nightly),
        pytest.param("beamer", "pdflatex", slice(9), marks=pytest.mark.nightly),
    ],
)
def test_what_is_wider_than_a_page_fits(
    flavor: str, program: str, part: slice, typeset: Typeset, tmp_path: Path
) -> None:
    assert typeset(program, file_of(*wide()[part], flavor=flavor), tmp_path) == []


@pytest.mark.nightly
def test_without_room_for_it_what_is_wide_is_noticed(typeset: Typeset, tmp_path: Path) -> None:
    """The fragment in a host that cannot make anything smaller, and the bare LaTeX."""
    source = file_of(*wide()[::4], flavor="fragment")
    for poorer in (source.replace(",graphicx", ""), HOST.format(latex_document(*wide()[::4]))):
        found = typeset("pdflatex", poorer, tmp_path)
        assert found
        assert all(line.startswith("Overfull") for line in found)


@pytest.mark.parametrize("flavor", share(FILES, 2))
def test_hostile_words_stay_words(
    flavor: str, typeset: Typeset, tool: Callable[[str], str], tmp_path: Path
) -> None:
    source = file_of(labelled(tmp_path, HOSTILE_TITLE, HOSTILE_LABELS), flavor=flavor)
    for program in PROGRAMS[:: 1 if flavor == "article" else 2]:
        found = typeset(program, source, tmp_path)
        assert [line for line in found if not line.startswith("Overfull")] == []
        text = words_of(tool, tmp_path)
        assert "cannot be in it" not in text
        assert "script" in text


@pytest.mark.parametrize("flavor", share(["article", "beamer"], 2))
def test_a_spoilt_file_is_noticed(flavor: str, typeset: Typeset, tmp_path: Path) -> None:
    source = file_of(page("causal"), flavor=flavor)
    box = r"\noindent\hbox to 3\textwidth{x\hfil x}"
    for spoilt, complaint in ((r"\nothing", "!"), (box, "Overfull")):
        where = source.rindex(r"\end{frame}" if flavor == "beamer" else r"\end{document}")
        changed = f"{source[:where]}{spoilt}\n{source[where:]}"
        found = typeset("pdflatex", changed, tmp_path)
        assert any(line.startswith(complaint) for line in found)


def test_each_step_can_be_referred_to(typeset: Typeset, tmp_path: Path) -> None:
    one, other = page("causal"), page("backward")
    source = tex_document(one, other)
    labels = re.findall(r"\\label\{(.*?)\}", source)
    assert labels[: len(one.steps)] == [f"eq:{section.name}" for section in one.steps]
    assert labels[len(one.steps) :] == [f"eq:2-{section.name}" for section in other.steps]
    ends = source.rindex(r"\end{document}")
    cited = source[:ends] + "By \\eqref{eq:weights}.\n" + source[ends:]
    for _ in range(2):
        found = typeset("pdflatex", cited, tmp_path)
    assert found == []


def test_a_fragment_has_the_labels_and_headings_asked_for(typeset: Typeset, tmp_path: Path) -> None:
    path = str(EXAMPLES[0].parent / "causal.toml")
    arguments = ["derive", path, "--format", "tex:fragment", "--label", "eq:mine"]
    plain, headed = (run(*arguments, *more).stdout for more in ([], ["--headings", "2"]))
    assert plain.startswith("% Needs \\usepackage{amsmath")
    assert r"section*{" not in plain
    assert headed.count(r"\subsection*{") == 1  # the title
    assert headed.count(r"\subsubsection*{") == 1 + len(page("causal").steps)
    labels = re.findall(r"\\label\{(.*?)\}", plain)
    assert labels == [f"eq:mine:{section.name}" for section in page("causal").steps]
    for host in ("[twocolumn]{article}", "amsart"):
        options = host if host.startswith("[") else f"{{{host}}}"
        cited = rf"By \eqref{{eq:mine:weights}}. {plain}"
        source = HOST.format(cited).replace("{article}", options, 1)
        for _ in range(2):
            found = typeset("pdflatex", source, tmp_path)
        assert found == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--format", "md", "--label", "x"], "md (github) has no labels"),
        (["--format", "text", "--headings", "2"], "headings: text has its own"),
        (["--format", "tex", "--label", "a}b"], "give letters, digits"),
    ],
)
def test_labels_and_headings_are_refused_where_there_are_none(options: list[str], why: str) -> None:
    ran = run("derive", "causal", *options, status=2)
    assert why in ran.output


def test_slides_appear_row_by_row(typeset: Typeset, tmp_path: Path) -> None:
    at_once, overlaid = (
        file_of(page("causal"), flavor=flavor) for flavor in ("beamer", "overlays")
    )
    assert r"\uncover" not in at_once
    shown = re.findall(r"\\uncover<(\d+)->|\\begin\{(frame)\}", overlaid)
    assert sum(number != "" for number, _ in shown) == at_once.count("\n" r"\fitted{")
    for (before, _), (number, _) in pairwise(shown):
        assert number in ("", str(int(before or 0) + 1))
    everything = re.sub(
        r"\\uncover<\d+->\{(.*?)\}(?=\n\\(?:par|end\{center\}))", r"\1", overlaid, flags=re.DOTALL
    )
    assert everything == at_once
    assert typeset("pdflatex", overlaid, tmp_path) == []


@pytest.mark.nightly
def test_fonts_are_of_one_family_and_no_bitmaps(tool: Tool, tmp_path: Path) -> None:
    tool("pdflatex")
    for flavor in ("article", "beamer"):
        (tmp_path / "page.pdf").write_bytes(pdf_document(file_of(page("causal"), flavor=flavor)))
        said = subprocess.run(
            [tool("pdffonts"), "page.pdf"],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout.splitlines()[2:]
        assert said
        assert [line for line in said if "+LM" not in line or "Type 3" in line] == []


def test_a_name_that_pdflatex_has_no_font_for_goes_to_lualatex(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("lualatex")
    source = tex_document(labelled(tmp_path, "", ["▁the", "Привет", "x"]))
    (tmp_path / "page.pdf").write_bytes(pdf_document(source))
    text = words_of(tool, tmp_path)
    assert "▁the" in text
    assert "Привет" in text
    unknown = tex_document(labelled(tmp_path, "", ["\N{JAVANESE LETTER TA}", "b", "c"]))
    with pytest.raises(SymattnError, match="no font here has \N{JAVANESE LETTER TA}"):
        pdf_document(unknown)
    monkeypatch.setattr(pdf, "PROGRAMS", ("pdflatex",))
    with pytest.raises(SymattnError, match="pdflatex has no font for"):
        pdf_document(source)


def test_no_tex_and_tex_that_fails_are_said(
    tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("pdflatex")
    with pytest.raises(SymattnError, match=r"failed: Undefined control sequence") as failed:
        pdf_document(r"\documentclass{article}\begin{document}\nothing\end{document}")
    assert "\n" not in str(failed.value)
    marker = Path("written-by-tex")
    with pytest.raises(SymattnError, match="failed"):
        pdf_document(
            rf"\documentclass{{article}}\immediate\write18{{touch {marker.resolve()}}}\bad"
        )
    assert not marker.exists()
    monkeypatch.setattr(pdf, "PROGRAMS", ("no-such-tex",))
    with pytest.raises(SymattnError, match="no TeX is installed"):
        pdf_document("")


@pytest.mark.parametrize("turn", share(range(4), 4, 3))
def test_proofs_are_broken_rather_than_made_smaller(
    turn: int, typeset: Typeset, tmp_path: Path
) -> None:
    """Every display of the proofs, as wide as TeX sets it, fits a line as it is."""
    proofs = [prove(row) for row in IDENTITIES[turn::4]]
    source = tex.write([proofs_document(proofs)], "article")
    start, end = source.index(r"\providecommand{\symattnfit}"), source.index(r"\makeatletter")
    measured = (
        r"\newcommand{\symattnfit}[1]{\setbox0\hbox{$\displaystyle #1$}"
        r"\typeout{IS \the\wd0}\box0}"
    )
    found = typeset("pdflatex", f"{source[:start]}{measured}\n{source[end:]}", tmp_path)
    assert found == []
    log = (tmp_path / "page.log").read_text("utf-8")
    widths = [*map(float, re.findall(r"^IS ([\d.]+)pt$", log, re.MULTILINE))]
    assert len(widths) == source.count(r"\symattnfit{") > 15
    assert min(widths) < 350 < max(widths) <= 500.5


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "sized", "pages", "slides"),
    [("grouped-query", {"tokens": 3, "heads": 4}, 2, 20), ("llama", {"tokens": 4}, 4, 34)],
)
def test_pages_are_as_few_as_promised(
    tool: Tool, tmp_path: Path, name: str, sized: dict[str, int], pages: int, slides: int
) -> None:
    tool("pdflatex")
    chosen = ["--size", ",".join(f"{option}={value}" for option, value in sized.items())]
    for flavor, most in (("article", pages), ("beamer", slides)):
        path = tmp_path / f"{flavor}.pdf"
        args = ["derive", name, *chosen, "--format", f"pdf:{flavor}", "-o", str(path)]
        assert run(*args).exit_code == 0
        told = subprocess.run([tool("pdfinfo"), path], capture_output=True, text=True, check=True)
        assert int(re.search(r"Pages: +(\d+)", told.stdout)[1]) <= most  # type: ignore[index]


def test_a_fragment_is_broken_for_a_column(typeset: Typeset, tmp_path: Path) -> None:
    def widest(*more: str) -> float:
        args = ["derive", "causal-multi-head", "--size", "tokens=3", "--format", "tex:fragment"]
        ran = run(*args, *more, status=0)
        shown = re.findall(r"\\\[\n(?:\\symattnfit\{)?(.*?)\}?\n\\\]", ran.stdout, re.S)
        return max(len(row) for body in shown for row in re.split(r"\\\\(?:\[.*?\])?\n", body))

    assert widest("--width", "column") < widest() < widest("--width", "60")


@pytest.mark.parametrize("width", ["9", "101", "wide", "1e2", "-24", ""])
def test_a_width_that_is_none_is_refused(width: str) -> None:
    ran = run("derive", "causal", "--format", "latex", "--width", width, status=2)
    assert "give a number of em from 10 to 100, or column" in ran.output


def test_a_width_is_refused_where_lines_have_another_measure() -> None:
    for args in (["--format", "md"], ["--format", "pdf:beamer"]):
        ran = run("derive", "causal", *args, "--width", "column", status=2)
        assert "has its own; use" in ran.output


def test_what_is_left_out_is_no_text_of_somebody_s_paper() -> None:
    args = [
        "derive",
        "multi-head-latent",
        "--size",
        "tokens=3",
        "--steps",
        "projected",
    ]
    paper = run(*args, "--format", "tex:fragment", "--entry", "projected[1,1]")
    assert "\n% the rule of an entry is left out, since it is too long to be read" in paper.stdout
    assert "(the rule" not in paper.stdout
    assert "symattn: projected: no entry is worked out, since it is computed from" in paper.stderr
    assert "(the rule of an entry" in run(*args, "--format", "tex").stdout


def test_a_slide_that_goes_on_says_so() -> None:
    args = ["derive", "grouped-query", "--size", "tokens=5,heads=8", "--format", "tex:beamer"]
    slides = run(*args).stdout
    titles = re.findall(r"\\begin\{frame\}\{(.*)\}", slides)
    assert any("(continued)" in title for title in titles)
    new = [title for title in titles if not title.endswith("(continued)")]
    assert len({*new}) == len(new)
    assert "Given, Given" not in slides


_CAUSAL = ["derive", str(CAUSAL)]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("shift", ["definition of the row softmax", "equal (for all sizes)", "7 steps replayed"]),
        ("softmax(S + c 1^T) = softmax(S)", ["by definition", "equal (for all sizes)"]),
        ("A = 2 A", ["different", "read as"]),
    ],
)
def test_a_proof_has_slides_with_all_of_its_words(statement: str, words: list[str]) -> None:
    for flavor in ("beamer", "overlays"):
        slides = run("prove", statement, "--format", f"tex:{flavor}").output
        assert all(one in slides.partition(r"\begin{frame}")[2] for one in words)


def test_what_a_comment_says_asks_for_no_other_fonts() -> None:
    slides = run("derive", "multi-head", "--format", "tex:beamer").output
    assert "% A⁽¹⁾" in slides
    assert "fontspec" not in slides


def test_a_paper_without_a_page_is_refused() -> None:
    empty = r"\documentclass{article}\begin{document}\end{document}"
    with pytest.raises(SymattnError, match="pdf: there is nothing on its pages"):
        pdf_document(empty)


def _slides(*more: str, flavor: str = "beamer") -> list[str]:
    """The frames of a worksheet's slides."""
    args = [*_CAUSAL, *more, "--format", f"tex:{flavor}"]
    ran = run(*args, status=0)
    return re.findall(r"\\begin\{frame\}(.*?)\\end\{frame\}", ran.stdout, re.DOTALL)


def test_a_slide_has_one_step_and_the_first_what_is_given() -> None:
    first, *others = _slides()
    assert "Causal self-attention" in first
    assert all(f"{letter} = " in first for letter in ("X", "W_{Q}", "W_{K}", "W_{V}"))
    titles = [re.match(r"\{(.*?)\}", each)[1] for each in others]  # type: ignore[index]
    steps = [title.removesuffix(" (continued)") for title in titles]
    assert [int(title.split(".")[0]) for title in dict.fromkeys(steps)] == [*range(1, 10)]
    assert all(each.count("Size: ") <= 1 for each in others)


def test_slides_say_what_each_matrix_is_that_is_given() -> None:
    args = ["derive", "llama", "--format", "tex:beamer"]
    first, second, *_ = re.split(r"\\end\{frame\}", run(*args).stdout)
    assert "Llama attention" in first and "{Given}" in second
    assert "$X$: token vectors" in second and "$n_{\\mathrm{h}} = 4$" in second
    equations = ["derive", "A = softmax(S); O = A V", *args[2:]]
    (whole, *_) = re.split(r"\\end\{frame\}", run(*equations).stdout)
    assert "O = " in whole and "{Given}" not in whole and "S = " in whole and "Sizes: " in whole


def test_weights_are_drawn_on_a_slide_of_their_own() -> None:
    for flavor in ("beamer", "overlays"):
        drawn = [each for each in _slides(flavor=flavor) if r"\begin{tikzpicture}" in each]
        assert len(drawn) == 1
        assert drawn[0].startswith("{8. Attention weights (continued)}")
        assert "$0.2840$" in drawn[0]
    assert not any("tikzpicture" in each for each in _slides("--view", "formula"))


def test_type_has_one_size_on_all_slides(tool: Tool, tmp_path: Path) -> None:
    """The heights of the digits that pdftotext reads, but for scripts and titles."""
    path = tmp_path / "slides.pdf"
    args = [*_CAUSAL, "--format", "pdf:beamer", "-o", str(path)]
    assert run(*args).exit_code == 0
    told = subprocess.run(
        [tool("pdftotext"), "-bbox", str(path), "-"], capture_output=True, text=True, check=True
    ).stdout
    word = re.compile(r'yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">\d\.\d{4}<')
    pages = [[float(b) - float(a) for a, b in word.findall(p)] for p in told.split("<page ")[1:]]
    heights = [max(each) for each in pages if each]
    assert len(heights) >= 4
    assert max(heights) - min(heights) < 0.2
