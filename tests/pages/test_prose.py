"""Worksheets and claims in pages: found where they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symattn.errors import ReadError
from symattn.pages.checked import check_file, check_text, files_in
from symattn.pages.syntaxes import SYNTAXES
from symattn.reports.overview import CheckedFile
from symattn.sheets.worksheet import read_worksheet
from tests.command import put
from tests.rows import every_one_has_a_row

SHEET = "[attention]\nscale = false\n[given]\nscores = [[0, 0, 1]]\nV = [[1], [2], [3]]\n"
FENCE = f"```symattn\n{SHEET}```\n"
RST = ".. symattn::\n\n   " + SHEET.replace("\n", "\n   ").rstrip() + "\n\n"
TEX = f"\\begin{{symattn}}\n{SHEET}\\end{{symattn}}\n"


#: The weights and the output as matrices of LaTeX.
MATRIX = "\\begin{bmatrix} 0.21 & 0.21 & 0.58 \\end{bmatrix}"
OUTPUT = "\\begin{pmatrix} 2.36 \\\\[2pt] \\end{pmatrix}"
ROW = ["0.21", "0.21", "0.58"]


def page(text: str, suffix: str) -> CheckedFile:
    checked = check_text(text, f"page{suffix}")
    assert checked is not None
    return checked


def claims(text: str, suffix: str) -> list[tuple[str, str]]:
    """The numbers that are found, with their entries; each stands where it is said to."""
    found = page(text, suffix).findings
    for finding in found:
        line = text.split("\n")[finding.line - 1]
        assert line.startswith(finding.claimed.split("\n")[0], finding.column - 1)
    return [(finding.entry, finding.claimed) for finding in found]


MARKDOWN = {
    "role": ("{claim}`weights[1,1] = 0.21`", ["0.21"]),
    "two in a line": ("{claim}`weights[1,1]=0.21`, {claim}`output[1,1] ≈ 2.36`", ["0.21", "2.36"]),
    "at the end of a code span": ("`x` {claim}`weights[1,1] = 0.21` `y`", ["0.21"]),
    "broken over lines": ("{claim}`weights[1,\n1] =\n  0.21`", ["0.21"]),
    "in a list": ("- a\n  - {claim}`weights[1,1] = 0.21`", ["0.21"]),
    "in a table": ("| a |\n|---|\n| {claim}`weights[1,1] = 0.21` |", ["0.21"]),
    "in a quotation": ("> {claim}`weights[1,1] = 0.21`", ["0.21"]),
    "after a backtick without end": ("a ` b\n\n{claim}`weights[1,1] = 0.21`", ["0.21"]),
    "after an escaped backtick": ("a \\` b {claim}`weights[1,1] = 0.21`", ["0.21"]),
    "after an escaped backslash": ("a \\\\`x` {claim}`weights[1,1] = 0.21`", ["0.21"]),
    "after a comment in code": ("`<!--` {claim}`weights[1,1] = 0.21` `-->`", ["0.21"]),
    "other role": ("{math}`weights[1,1] = 0.99` {claim}`weights[1,1] = 0.21`", ["0.21"]),
    "right before longer code": (
        "{claim}``weights[1,1] = 0.99`` {claim}`weights[1,1] = 0.21`",
        ["0.21"],
    ),
    "in longer code": ("`` {claim}`weights[1,1] = 0.99` ``", []),
    "in a fence": ("```\n{claim}`weights[1,1] = 0.99`\n```", []),
    "in tildes": ("~~~md\n{claim}`weights[1,1] = 0.99`\n~~~", []),
    "in indented code": ("a\n\n    {claim}`weights[1,1] = 0.99`", []),
    "in a comment": ("<!-- {claim}`weights[1,1] = 0.99` -->", []),
    "in a long comment": ("<!--\n\n{claim}`weights[1,1] = 0.99`\n\n-->", []),
    "escaped": ("{claim}\\`weights[1,1] = 0.99\\`", []),
    "a matrix": (f"<!-- claim -->\n$$A = {MATRIX}$$", ROW),
    "a matrix in words": (f"<!-- claim -->\nSo $\\mathbf{{A}} \\approx {MATRIX}$, as it is.", ROW),
    "a matrix behind its formula": (
        f"<!-- claim -->\n$$A = \\mathrm{{softmax}}\\left(\\frac{{S}}{{2}}\\right) = {MATRIX}.$$",
        ROW,
    ),
    "two matrices": (
        f"<!-- claim -->\n$$A = {MATRIX}, \\quad O \\approx {OUTPUT}$$",
        [*ROW, "2.36"],
    ),
    "matrices in lines": (
        f"<!-- claim -->\n$$\\begin{{aligned}}\nA &= {MATRIX} \\\\\nO &= {OUTPUT}\n"
        "\\end{aligned}$$",
        [*ROW, "2.36"],
    ),
    "an array": (
        "<!-- claim -->\n$A = \\left[\\begin{array}{ccc}0.21 & ? & 0.58\\\\\\end{array}\\right]$",
        ["0.21", "0.58"],
    ),
    "a table": (
        "<!-- claim weights -->\n| a | b | c |\n|---|:-:|---|\n| 0.21 | **0.21** | $0.58$ |",
        ROW,
    ),
    "a table of rows with names": (
        "<!-- claim A -->\n> | | a | b | c |\n> |-|-|-|-|\n> | 1 | 0.21 | 0.21 | 0.58 |",
        ROW,
    ),
    "a table without bars around": (
        "<!-- claim weights[1,:] -->\n a | b | c\n---|---|---\n0.21 | ? | 0.58",
        ["0.21", "0.58"],
    ),
    "formulas in a table": (
        "<!-- claim -->\n| step | |\n|---|---|\n| first | $a_{11} = 0.21$ |",
        ["0.21"],
    ),
    "a comment about a claim": ("<!-- claim that this is a table -->\n| a |\n|---|\n| 0.3 |", []),
}
REST = {
    "role": (":claim:`weights[1,1] = 0.21`", ["0.21"]),
    "broken over lines": ("* a\n\n  :claim:`weights[1,1] =\n  0.21`", ["0.21"]),
    "in a note": (".. note::\n\n   :claim:`weights[1,1] = 0.21`", ["0.21"]),
    "in a domain's directive": (".. py:function:: f\n\n   :claim:`weights[1,1] = 0.21`", ["0.21"]),
    "in a footnote": (".. [1] :claim:`weights[1,1] = 0.21`", ["0.21"]),
    "before a literal block": (":claim:`weights[1,1] = 0.21`::\n\n   x", ["0.21"]),
    "after stray quotes": ("a `` b\n\n:claim:`weights[1,1] = 0.21`", ["0.21"]),
    "an admonition called attention": (".. attention:: :claim:`weights[1,1] = 0.21`", ["0.21"]),
    "in double quotes": ("``:claim:`weights[1,1] = 0.99```", []),
    "in double quotes that are none": ("`` :claim:`weights[1,1] = 0.21` ``", ["0.21"]),
    "role behind": ("`weights[1,1] = 0.21`:claim:", ["0.21"]),
    "in a title": (":claim:`weights[1,1] = 0.21`\n" + "=" * 30 + "\n\nA", ["0.21"]),
    "in a substitution": (".. |x| replace:: :claim:`weights[1,1] = 0.21`", ["0.21"]),
    "in a term": (
        "a :claim:`weights[1,1] = 0.21`\n  :claim:`weights[1,2] = 0.22`",
        ["0.21", "0.22"],
    ),
    "behind tabs": ("a\n\tb\t:claim:`weights[1,1] = 0.21`", ["0.21"]),
    "in a table": (
        "+-----------------------------+-----------------------------+\n"
        "| :claim:`weights[1,1] = 0.1` | :claim:`weights[1,1] = 0.1` |\n"
        "|                             | :claim:`weights[1,1] =      |\n"
        "|                             | 0.21`                       |\n"
        "+-----------------------------+-----------------------------+",
        ["0.1", "0.1", "0.21"],
    ),
    "in a simple table": (
        "===========================  ===========================\n"
        ":claim:`weights[1,1] = 0.1`  :claim:`weights[1,1] = 0.1`\n"
        "===========================  ===========================",
        ["0.1", "0.1"],
    ),
    "in a directive in a directive": (
        ".. note::\n\n   .. tip:: a\n\n      :claim:`weights[1,1] = 0.21`\n\n"
        "   :claim:`weights[1,1] = 0.22`",
        ["0.21", "0.22"],
    ),
    "in a directive that nobody knows": (
        ".. wheighs:: a\n   :b: c\n\n   :claim:`weights[1,1] = 0.21`",
        ["0.21"],
    ),
    "a matrix": (f".. claim\n\nHere :math:`A = {MATRIX}` holds.", ROW),
    "escaped": (":claim:\\`weights[1,1] = 0.99\\`", []),
    "in words": ("a:claim:`weights[1,1] = 0.99`", []),
    "in a formula": (".. math::\n\n   :claim:`weights[1,1] = 0.99`", []),
    "in a comment behind others": (
        '.. a\n\n..\n\n.. end of inclusion from "x"\n\n:claim:`weights[1,1] = 0.21`',
        ["0.21"],
    ),
    "in a literal block": ("a::\n\n  :claim:`weights[1,1] = 0.99`\n", []),
    "in a nested literal block": ("* a::\n\n     :claim:`weights[1,1] = 0.99`\n", []),
    "in code": (".. code-block:: rst\n\n   :claim:`weights[1,1] = 0.99`", []),
    "in a comment": (".. :claim:`weights[1,1] = 0.99`", []),
    "behind a target": (".. _a:\n\n   :claim:`weights[1,1] = 0.21`", ["0.21"]),
    "behind markup that does not end": ("*a " * 3_000 + ":claim:`weights[1,1] = 0.21`", ["0.21"]),
    "beside wide letters": (
        "====  =============================\n"
        "重み  :claim:`weights[1,1] = 0.21`\n"
        "====  =============================",
        ["0.21"],
    ),
    "in a long comment": ("..\n   a\n\n   :claim:`weights[1,1] = 0.99`", []),
}
LATEX = {
    "command": (r"\claim{weights[1,1]}{0.21}", ["0.21"]),
    "with gaps": ("\\claim{ weights[1, 1] }\n { 0.21 }", ["0.21"]),
    "after an escaped percent": (r"5\% \claim{weights[1,1]}{0.21}", ["0.21"]),
    "after a comment": ("% \\claim{weights[1,1]}{0.99}\n\\claim{weights[1,1]}{0.21}", ["0.21"]),
    "its own definition": (r"\newcommand{\claim}[2]{#2}\claim{weights[1,1]}{0.21}", ["0.21"]),
    "after verb": (r"\verb|%| \claim{weights[1,1]}{0.21}", ["0.21"]),
    "in a comment after a line end": ("a \\\\% \\claim{weights[1,1]}{0.99}", []),
    "a matrix": (f"% claim\n\\[A = {MATRIX}\\]", ROW),
    "matrices in lines": (
        f"% claim\n\\begin{{align}}\nA &= {MATRIX} \\\\\nO &= {OUTPUT}\n\\end{{align}}",
        [*ROW, "2.36"],
    ),
    "in verb": (r"\verb|\claim{weights[1,1]}{0.99}|", []),
    "in verbatim": ("\\begin{verbatim}\n\\claim{weights[1,1]}{0.99}\n\\end{verbatim}", []),
    "in a listing": ("\\begin{lstlisting}\n\\claim{weights[1,1]}{0.99}\n\\end{lstlisting}", []),
}


#: By the syntax: a worksheet, texts after it with the numbers that they claim, and a last claim.
CLAIMING = {
    ".md": (f"{FENCE}\n", MARKDOWN, "{claim}`weights[1,3] = 0.58`"),
    ".rst": (RST, REST, ":claim:`weights[1,3] = 0.58`"),
    ".tex": (TEX, LATEX, "\\claim{weights[1,3]}{0.58}"),
}


@pytest.mark.parametrize(
    ("suffix", "name"), [(suffix, name) for suffix, row in CLAIMING.items() for name in row[1]]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_claims_are_found_where_they_stand(suffix: str, name: str, end: str) -> None:
    sheet, texts, last = CLAIMING[suffix]
    text, numbers = texts[name]
    written = f"{sheet}{text}\n\n{last}\n".replace("\n", end)
    assert [number for _, number in claims(written, suffix)] == [*numbers, "0.58"]


_IN_MARKDOWN = f"{FENCE}\n{{claim}}`weights[1,3] = 0.58`\n"
#: By the end of a file's name the smallest page in each syntax.
SMALLEST = {
    ".md": _IN_MARKDOWN,
    ".markdown": _IN_MARKDOWN,
    ".qmd": _IN_MARKDOWN,
    ".rst": f"{RST}:claim:`weights[1,3] = 0.58`\n",
    ".tex": f"{TEX}\\claim{{weights[1,3]}}{{0.58}}\n",
    ".ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": [_IN_MARKDOWN]}]}),
}


def test_every_syntax_has_a_page() -> None:
    home = "SMALLEST of tests/pages/test_prose.py"
    every_one_has_a_row(SYNTAXES, SMALLEST, home, "a page with a worksheet and a claim")


@pytest.mark.parametrize("suffix", SMALLEST)
def test_a_worksheet_and_a_claim_are_found_in_every_syntax(suffix: str) -> None:
    (finding,) = page(SMALLEST[suffix], suffix).findings
    assert (finding.entry, finding.claimed, finding.passes) == ("weights[1,3]", "0.58", True)
    (finding,) = page(SMALLEST[suffix].replace("0.58", "0.85"), suffix).findings
    assert (finding.claimed, finding.passes) == ("0.85", False)


BLOCKS = {
    "fence": f"```symattn\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "directive": f"```{{symattn}}\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "directive called attention": f"~~~{{attention}}\n{SHEET}[claims]\noutput = 2.4\n~~~\n",
    "toml": f"```toml symattn\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "options": f"```{{symattn}}\n:name: a\n:show-steps: 1\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "not closed": f"```symattn\n{SHEET}[claims]\noutput = 2.4\n",
    "not closed, no end of line": f"```symattn\n{SHEET}[claims]\noutput = 2.4",
    "in a list": "- a\n\n  ```symattn\n  "
    + SHEET.replace("\n", "\n  ")
    + "[claims]\n  output = 2.4\n  ```\n",
    "colons": f":::{{attention}}\n{SHEET}[claims]\noutput = 2.4\n:::\n",
    "more colons in a list": "- a\n\n  ::::{symattn}\n  "
    + SHEET.replace("\n", "\n  ")
    + "[claims]\n  output = 2.4\n  ::::\n",
    "colons in code, and others": "```\n:::{attention}\n[given]\n```\n\n:::{symattn}\n"
    f"{SHEET}[claims]\noutput = 2.4\n:::\n\n:::{{note}}\nwords\n:::\n",
    "colons, not closed": f":::{{symattn}}\n{SHEET}[claims]\noutput = 2.4\n",
    "longer fence": f"````symattn\n{SHEET}[claims]\noutput = 2.4\n````\n",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_worksheets_in_markdown(name: str) -> None:
    assert claims(BLOCKS[name], ".md") == [("output[1,1]", "2.4")]


def test_a_claim_may_stand_between_colons_that_are_not_ours() -> None:
    around = f":::{{attention}}\n{SHEET}:::\n\n:::{{note}}\n{{claim}}`weights[1,3] = 0.58`\n:::\n"
    assert claims(around, ".md") == [("weights[1,3]", "0.58")]


def test_a_worksheet_is_read_at_its_indent_in_rst() -> None:
    nested = "* a\n\n  * b\n\n    .. symattn::\n       :name: x\n\n       "
    sheet = (SHEET + "[claims]\noutput = 2.4").replace("\n", "\n       ")
    text = f"{nested}{sheet}\n\n  c :claim:`weights[1,1] = 0.21`\n"
    assert claims(text, ".rst") == [("output[1,1]", "2.4"), ("weights[1,1]", "0.21")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("```{attention}\nMind the gap.\n```\n{claim}", "x.md"),
        (".. attention::\n\n   Mind the gap.\n", "x.rst"),
        ("attention, claim and symattn are words", "x.tex"),
        ("```{attention}\nMind the symattn.\n```\n", "a.md"),
        (".. attention::\n\n   Mind the symattn.\n", "a.rst"),
    ],
)
def test_an_admonition_is_no_worksheet(text: str, name: str) -> None:
    assert check_text(text, name) is None


def test_claims_belong_to_the_worksheet_before_them() -> None:
    other = FENCE.replace("0, 0, 1", "0, 0, 0")
    text = f"{FENCE}{{claim}}`weights[1,1] = 0.21`\n\n{other}{{claim}}`weights[1,1] = 0.33`\n"
    assert page(text, ".md").passes
    assert not page(text.replace("0.33", "0.21"), ".md").passes


REFUSED = {
    "no worksheet": (
        "{claim}`weights[1,1] = 0.21`",
        ".md",
        "page.md:1:24: weights[1,1]: no worksheet",
    ),
    "no claim": (
        FENCE + "\n{claim}`weights 0.21`",
        ".md",
        "page.md:9:9: 'weights 0.21' is not a claim",
    ),
    "no number": (FENCE + "\n{claim}`weights[1,1] = x`", ".md", 'page.md:9:24: weights[1,1]: "x"'),
    "no entry": (
        FENCE + "\n{claim}`weights[1,9] = 1`",
        ".md",
        "page.md:9:24: weights[1,9]: no column 9: columns are 1 to 3",
    ),
    "a factor before a matrix": (
        FENCE + f"\n<!-- claim -->\n$A = \\frac12 {MATRIX}$",
        ".md",
        "numbers before a matrix are not read; write the matrix that it comes to",
    ),
    "a product of matrices": (
        FENCE + f"\n<!-- claim -->\n$O = {MATRIX} {OUTPUT} = {OUTPUT}$",
        ".md",
        "numbers before a matrix are not read",
    ),
    "a matrix of no step": (
        FENCE + f"\n<!-- claim -->\n$Q K^T = {MATRIX}$",
        ".md",
        "is not a claim; write the step's name before the matrix, as in S = Q K^T = …",
    ),
    "a matrix of another shape": (
        FENCE + f"\n<!-- claim -->\n$A = {OUTPUT}$",
        ".md",
        "A: 1 number where 3 are expected (A is 1 × 3)",
    ),
    "a table without a name": (
        FENCE + "\n<!-- claim -->\n| a |\n|---|\n| 1 |",
        ".md",
        "page.md:10:1: a table needs a step's name; write e.g. <!-- claim weights -->",
    ),
    "no table": (
        FENCE + "\n<!-- claim weights -->\nnothing",
        ".md",
        "page.md:10:1: no table follows the comment claim weights",
    ),
    "a row": (FENCE + "\n{claim}`weights[1,:] = 1`", ".md", "page.md:9:24: weights[1,:]: "),
    "a blank": (FENCE + "\n{claim}`weights[1,1] = ?`", ".md", "claims no number"),
    "not TOML": ("```symattn\n[given]\nQ = 1 2\n```\n", ".md", "page.md:3:7: not valid TOML"),
    "broken worksheet": (
        "\n\n```symattn\n[given]\nscores = 1\n[claims]\nscores = 1\n```\n",
        ".md",
        "page.md:5: scores",
    ),
    "open environment": (
        "\\begin{symattn}\n[given]",
        ".tex",
        "page.tex:1:1: \\begin{symattn} has no",
    ),
    "commands in a number": (
        TEX + r"\claim{weights[1,1]}{\num{1}}",
        ".tex",
        "page.tex:8:1: \\claim",
    ),
    "no JSON": ('symattn {"cells":', ".ipynb", "page.ipynb:1: not a notebook"),
    "no cells": ('{"claim": 1}', ".ipynb", "page.ipynb:1: not a notebook: it has no cells"),
    "no text": (
        '{"cells": [{"cell_type": "markdown", "source": [1, "claim"]}]}',
        ".ipynb",
        "cell 1 has no",
    ),
    "deep": ('{"symattn": ' + "[" * 100_000, ".ipynb", "page.ipynb:1: not a notebook"),
    "many lines": ("symattn" + "\n" * 50_001, ".md", "50,000 lines"),
    "many lines too": ("symattn::" + "\n" * 50_001, ".rst", "50,000 lines"),
    "a long line": (
        RST + f":claim:`{'a' * 10_000}`",
        ".rst",
        "page.rst:9: the line has more than 10,000",
    ),
    "many cells": (RST + "|a|b\n" * 20_001, ".rst", "20,000 cells"),
    "deep blocks": (RST + "".join(" " * i + "a\n" for i in range(1_200)), ".rst", "too deep"),
    "no worksheet in a directive": (
        ".. symattn::\n   [given]\n   Q = [[1]]\n",
        ".rst",
        "page.rst:1:1: symattn: give a worksheet in the body, after a blank line",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_said_where_it_stands(name: str) -> None:
    text, suffix, message = REFUSED[name]
    with pytest.raises(ReadError) as caught:
        check_text(text, f"page{suffix}")
    assert message in str(caught.value)
    assert str(caught.value).count("page.") == 1


def test_folders_are_searched(tmp_path: Path) -> None:
    for name in (
        "a.md",
        "b/c.rst",
        "b/_build/d.md",
        ".git/e.md",
        "node_modules/f.md",
        "g.txt",
        "h.toml",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1" if name.endswith("toml") else "claim", encoding="utf-8")
    assert [str(p.relative_to(tmp_path)) for p in files_in(tmp_path)] == [
        "a.md",
        "h.toml",
        "b/c.rst",
    ]


def test_all_files_that_were_read_are_known(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "q.csv").write_text("1, 0\n", "utf-8")
    rest = "K = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n"
    (tmp_path / "sheet.toml").write_text(f'[given]\nQ = "data/q.csv"\n{rest}', "utf-8")
    page = tmp_path / "page.md"
    block = f"```symattn\n[given]\nQ = [[1, 0]]\n{rest}```\n"
    page.write_text(
        f"```symattn sheet.toml\n```\n\n{block}\n{{claim}}`weights[1,1] = 0.670`\n", "utf-8"
    )
    checked = check_file(page)
    assert checked is not None
    assert set(checked.files) == {
        path.resolve() for path in (page, tmp_path / "sheet.toml", tmp_path / "data" / "q.csv")
    }
    assert read_worksheet(tmp_path / "sheet.toml").files == ((tmp_path / "data/q.csv").resolve(),)


def test_nothing_is_run_or_read_by_docutils(tmp_path: Path) -> None:
    (tmp_path / "part.rst").write_text(":claim:`weights[1,1] = 0.99`\n", "utf-8")
    path = put(
        tmp_path / "page.rst",
        f"{RST}.. include:: part.rst\n\n.. raw:: html\n   :file: part.rst\n\n"
        ".. csv-table::\n   :file: part.rst\n\n.. role:: raw-html(raw)\n   :format: html\n\n"
        ":raw-html:`a` :claim:`weights[1,3] = 0.58`\n",
    )
    checked = check_file(path)
    assert checked is not None
    assert ([f.claimed for f in checked.findings], checked.problems) == (["0.58"], ())


LOST = {
    "no table that is known": ("a.md", "```symattn\n[Given]\nQ = [[2]]\n```", '4: "Given" is not'),
    "in MyST": ("a.md", "```{symattn}\n:digits: 3\n\n[givn]\nQ = [[2]]\n```", '6: "givn" is not'),
    "empty": ("a.md", "```{symattn}\n```", "4: given: nothing is given"),
    "a file of another kind": ("a.md", "```{symattn} sheet.txt\n```", "4: given: nothing is given"),
    "only claims": ("a.md", "```symattn\n[claims]\nQ = [[7]]\n```", "4: given: nothing is given"),
    "attention": ("a.md", "```{attention}\n[claims]\nQ = [[7]]\n```", "4: given: nothing is given"),
    "in reStructuredText": (
        "a.rst",
        ".. symattn::\n\n   [Given]\n   Q = [[2]]",
        '5: "Given" is not',
    ),
}


@pytest.mark.parametrize("row", LOST.values(), ids=LOST)
def test_a_worksheet_that_is_none_is_told_and_takes_its_claims_along(
    row: tuple[str, str, str],
) -> None:
    """The claims after it are not marked against the worksheet before it."""
    name, block, told = row
    role = "{claim}" if name == "a.md" else ":claim:"
    text = f"x\n\n{block}\n\n{role}`weights[1,1] = 0.99`\n"
    for before in ("", FENCE if name == "a.md" else RST):
        with pytest.raises(ReadError) as caught:
            check_text(before + text, name)
        expected = f"{name}:{int(told[0]) + before.count(chr(10))}{told[1:]}"
        assert str(caught.value).startswith(expected)
        assert "1 claim after it is not marked" in str(caught.value)


def test_a_claim_that_is_not_finished_is_told_in_its_own_words() -> None:
    with pytest.raises(ReadError, match=r"'weights\[1,2 = 0.33' is not a claim"):
        check_text(RST + ":claim:`weights[1,2 = 0.33`\n", "a.rst")
    with pytest.raises(ReadError, match=r"\\claim lacks its number"):
        check_text(TEX + "\\claim{weights[1,1]}\n", "a.tex")
    assert check_text("\\newcommand{\\claim}[1]{#1} \\claim{All is well.}\n", "a.tex") is None


LISTS = """
```symattn
[attention]
scale = false
[given]
scores = [[0, 1], [5, 0]]
V = [[1, 2], [3, 4]]
```

{claim}`weights[1,:] = [0.27, 0.73]`, {claim}`weights[:,1] = ["0.27", "0.98"]`
{claim}`output = [[2.46, 3.46], ["?", "0.0067·2 + 0.9933·4 = 3.99"]]`
{claim}`weights[2,:] = [0.99, 0.01`, {claim}`weights[2,:] = [0.99 0.01]`,
{claim}`weights[2,:] = 0.5`
"""


def test_rows_columns_and_steps_are_claimed_in_prose() -> None:
    checked = check_text(LISTS, "lists.md")
    assert checked is not None
    wrong = [(f.entry, f.claimed, f.line, f.column) for f in checked.findings if not f.passes]
    line = LISTS.splitlines()[10 - 1]
    assert [(entry, claimed) for entry, claimed, *_ in wrong] == [
        ("weights[2,1]", "0.98"),
        ("output[2,2]", "3.99"),
    ]
    assert wrong[0][2:] == (10, line.index("0.98") + 1)
    assert '["0.27", "0.99"]' in checked.corrected()
    said = [problem.partition(": ")[2] for problem in checked.problems]
    assert said[0].startswith("'[0.99, 0.01': its brackets do not match")
    assert said[1].startswith("weights[2,:]: ")
    assert said[2].startswith("weights[2,:]: ") and "in brackets" in said[2]
