"""Worksheets and claims in pages: found where they stand, put right byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symattn.cli import main
from symattn.errors import ReadError
from symattn.worksheet.prose import Checked, check_text, files_in

SHEET = "[attention]\nscale = false\n[given]\nscores = [[0, 0, 1]]\nV = [[1], [2], [3]]\n"
FENCE = f"```symattn\n{SHEET}```\n"
RST = ".. symattn::\n\n   " + SHEET.replace("\n", "\n   ").rstrip() + "\n\n"
TEX = f"\\begin{{symattn}}\n{SHEET}\\end{{symattn}}\n"


def page(text: str, suffix: str) -> Checked:
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
    "in longer code": ("`` {claim}`weights[1,1] = 0.99` ``", []),
    "in a fence": ("```\n{claim}`weights[1,1] = 0.99`\n```", []),
    "in tildes": ("~~~md\n{claim}`weights[1,1] = 0.99`\n~~~", []),
    "in indented code": ("a\n\n    {claim}`weights[1,1] = 0.99`", []),
    "in a comment": ("<!-- {claim}`weights[1,1] = 0.99` -->", []),
    "in a long comment": ("<!--\n\n{claim}`weights[1,1] = 0.99`\n\n-->", []),
    "escaped": ("{claim}\\`weights[1,1] = 0.99\\`", []),
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
    "in double quotes": ("`` :claim:`weights[1,1] = 0.99` ``", []),
    "in a literal block": ("a::\n\n  :claim:`weights[1,1] = 0.99`\n", []),
    "in a nested literal block": ("* a::\n\n     :claim:`weights[1,1] = 0.99`\n", []),
    "in code": (".. code-block:: rst\n\n   :claim:`weights[1,1] = 0.99`", []),
    "in a comment": (".. :claim:`weights[1,1] = 0.99`", []),
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
    "in verb": (r"\verb|\claim{weights[1,1]}{0.99}|", []),
    "in verbatim": ("\\begin{verbatim}\n\\claim{weights[1,1]}{0.99}\n\\end{verbatim}", []),
    "in a listing": ("\\begin{lstlisting}\n\\claim{weights[1,1]}{0.99}\n\\end{lstlisting}", []),
}


@pytest.mark.parametrize("name", MARKDOWN)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_markdown(name: str, end: str) -> None:
    text, numbers = MARKDOWN[name]
    written = f"{FENCE}\n{text}\n\n{{claim}}`weights[1,3] = 0.58`\n".replace("\n", end)
    found = [number for _, number in claims(written, ".md")]
    assert found == [*numbers, "0.58"]


@pytest.mark.parametrize("name", REST)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_restructured_text(name: str, end: str) -> None:
    text, numbers = REST[name]
    written = f"{RST}{text}\n\n:claim:`weights[1,3] = 0.58`\n".replace("\n", end)
    assert [number for _, number in claims(written, ".rst")] == [*numbers, "0.58"]


@pytest.mark.parametrize("name", LATEX)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_latex(name: str, end: str) -> None:
    text, numbers = LATEX[name]
    written = f"{TEX}{text}\n\n\\claim{{weights[1,3]}}{{0.58}}\n".replace("\n", end)
    assert [number for _, number in claims(written, ".tex")] == [*numbers, "0.58"]


BLOCKS = {
    "fence": f"```symattn\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "directive": f"```{{symattn}}\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "directive called attention": f"~~~{{attention}}\n{SHEET}[claims]\noutput = 2.4\n~~~\n",
    "toml": f"```toml symattn\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "options": f"```{{symattn}}\n:name: a\n:show-steps: 1\n{SHEET}[claims]\noutput = 2.4\n```\n",
    "not closed": f"```symattn\n{SHEET}[claims]\noutput = 2.4\n",
    "not closed, no end of line": f"```symattn\n{SHEET}[claims]\noutput = 2.4",
    "in a list": "- a\n\n  ```symattn\n  " + SHEET.replace("\n",
    "\n  ") + "[claims]\n  output = 2.4\n  ```\n",
    "longer fence": f"````symattn\n{SHEET}[claims]\noutput = 2.4\n````\n",
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_worksheets_in_markdown(name: str) -> None:
    assert claims(BLOCKS[name], ".md") == [("output[1,1]", "2.4")]


def test_a_worksheet_is_read_at_its_indent_in_rst() -> None:
    nested = "* a\n\n  * b\n\n    .. symattn::\n       :name: x\n\n       "
    sheet = (SHEET + "[claims]\noutput = 2.4").replace("\n", "\n       ")
    text = f"{nested}{sheet}\n\n  c :claim:`weights[1,1] = 0.21`\n"
    assert claims(text, ".rst") == [("output[1,1]", "2.4"), ("weights[1,1]", "0.21")]


def test_an_admonition_is_no_worksheet() -> None:
    assert check_text("```{attention}\nMind the gap.\n```\n{claim}", "x.md") is None
    assert check_text(".. attention::\n\n   Mind the gap.\n", "x.rst") is None
    assert check_text("attention, claim and symattn are words", "x.tex") is None


def test_claims_belong_to_the_worksheet_before_them() -> None:
    other = FENCE.replace("0, 0, 1", "0, 0, 0")
    text = f"{FENCE}{{claim}}`weights[1,1] = 0.21`\n\n{other}{{claim}}`weights[1,1] = 0.33`\n"
    assert page(text, ".md").passes
    assert not page(text.replace("0.33", "0.21"), ".md").passes


REFUSED = {
    "no worksheet": ("{claim}`weights[1,1] = 0.21`", ".md",
    "page.md:1: weights[1,1]: no worksheet"),
    "no claim": (FENCE + "\n{claim}`weights 0.21`", ".md", "page.md:9: 'weights 0.21' is no claim"),
    "no number": (FENCE + "\n{claim}`weights[1,1] = x`", ".md",
    "page.md:9:24: weights[1,1]: \"x\""),
    "no entry": (FENCE + "\n{claim}`weights[1,9] = 1`", ".md",
    "page.md:9:24: weights[1,9]: there is no"),
    "a row": (FENCE + "\n{claim}`weights[1,:] = 1`", ".md", "page.md:9:24: weights[1,:]: "),
    "a blank": (FENCE + "\n{claim}`weights[1,1] = ?`", ".md", "claims no number"),
    "not TOML": ("```symattn\n[given]\nQ = 1 2\n```\n", ".md", "page.md:3:7: not valid TOML"),
    "broken worksheet": ("\n\n```symattn\n[given]\nscores = 1\n[claims]\nscores = 1\n```\n",
    ".md", "page.md:5: scores"),
    "open environment": ("\\begin{symattn}\n[given]", ".tex",
    "page.tex:1: \\begin{symattn} has no"),
    "commands in a number": (TEX + r"\claim{weights[1,1]}{\num{1}}", ".tex", "page.tex:8: \\claim"),
    "no JSON": ('symattn {"cells":', ".ipynb", "page.ipynb:1: not a notebook"),
    "no cells": ('{"claim": 1}', ".ipynb", "page.ipynb:1: not a notebook: it has no cells"),
    "no text": ('{"cells": [{"cell_type": "markdown", "source": [1, "claim"]}]}', ".ipynb",
    "cell 1 has no"),
    "deep": ('{"symattn": ' + "[" * 100_000, ".ipynb", "page.ipynb:1: not a notebook"),
    "many lines": ("symattn" + "\n" * 50_001, ".md", "50,000 lines"),
    "many lines too": ("symattn::" + "\n" * 50_001, ".rst", "50,000 lines"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_said_where_it_stands(name: str) -> None:
    text, suffix, message = REFUSED[name]
    with pytest.raises(ReadError) as caught:
        check_text(text, f"page{suffix}")
    assert message in str(caught.value)
    assert str(caught.value).count("page.") == 1


# ---- putting numbers right --------------------------------------------------------------------


def fix(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["check", str(path), *options])


def assert_fixed(path: Path, before: bytes, *pairs: tuple[bytes, bytes]) -> None:
    """Only these numbers change; a diff shows it first, and a second time nothing changes."""
    after = before
    for old, new in pairs:
        assert after.count(old) == 1
        after = after.replace(old, new)
    path.write_bytes(before)
    assert fix(path, "--diff").exit_code == 1
    assert path.read_bytes() == before
    result = fix(path, "--fix")
    assert path.read_bytes() == after
    assert result.exit_code == 0, result.output
    assert f"{len(pairs)} number" in result.output
    assert fix(path).exit_code == 0
    assert fix(path, "--fix", "--diff").output == ""
    assert path.read_bytes() == after


TEXT = f"""# Title\t
{FENCE}
A {{claim}}`weights[1,1] = 0.31` and {{claim}}`weights[1,3] = 0.7`,
−{{claim}}`scores[1,3] = −1e0`.\x20
Not `0.31`.\u2028\v\f
"""
PAIRS = ((b"= 0.31", b"= 0.21"), (b"= 0.7`", b"= 0.6`"), ("= −1e0".encode(), b"= 1e0"))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("last", [True, False], ids=["", "no last end of line"])
def test_markdown_is_fixed_byte_for_byte(tmp_path: Path, mark: bytes, end: str, last: bool) -> None:
    text = TEXT if last else TEXT.rstrip("\n")
    assert_fixed(tmp_path / "a.md", mark + text.replace("\n", end).encode(), *PAIRS)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_restructured_text_is_fixed_byte_for_byte(tmp_path: Path, end: str) -> None:
    claimed = RST.rstrip() + "\n   [claims]\n   weights = [[ '0.31', 0.21, 0.58 ]] # 0.31\n\n"
    text = f"{claimed}A\t:claim:`output[1,1] = 2.34`.  \n".replace("\n", end)
    assert_fixed(tmp_path / "a.rst", text.encode(), (b"'0.31'", b"'0.21'"), (b"2.34", b"2.36"))


def test_latex_is_fixed_byte_for_byte(tmp_path: Path) -> None:
    text = (
        TEX
        + "% \\claim{weights[1,1]}{0.31}\n"
        + "\\claim{weights[1,1]}{ 0.99 } \\claim{output[1,1]}{2.36}\n"
    )
    assert_fixed(tmp_path / "a.tex", text.encode(), (b"0.99", b"0.21"))


def notebook(*lines: str, **dump: object) -> str:
    cells = [
        {"cell_type": "code", "source": ["{claim}`weights[1,1] = 9`"], "outputs": [], "id": "ä"},
        {"cell_type": "markdown", "metadata": {"\U0001f600": '"\\'}, "source": [*lines]},
    ]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}, **dump)  # type: ignore[arg-type]


LINES = [line + "\n" for line in FENCE.splitlines()] + ["\n"]


@pytest.mark.parametrize("indent", [None, 1, "\t"], ids=str)
@pytest.mark.parametrize("ascii_only", [True, False], ids=["ascii", "unicode"])
@pytest.mark.parametrize("as_string", [True, False], ids=["string", "lines"])
def test_notebooks_are_fixed_byte_for_byte(
    tmp_path: Path, indent: object, ascii_only: bool, as_string: bool
) -> None:
    prose = [
        '\U0001f600 "ä" \\ \t',
        "{claim}`weights[1,1] = 0.31`, {claim}`output[1,1] = 2.36` é\n",
    ]
    text = notebook(*LINES, *prose, indent=indent, ensure_ascii=ascii_only)
    if as_string:
        data = json.loads(text)
        data["cells"][1]["source"] = "".join(data["cells"][1]["source"])
        text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)  # type: ignore[arg-type]
    assert_fixed(tmp_path / "a.ipynb", text.encode(), (b"0.31", b"0.21"))


def test_escapes_in_a_notebook_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    for escaped, becomes in (("0.3\\u0031", None), ("0.31", "0.21")):
        lines = [
            "\\ud83d\\ude00 \\ud800 \\u0060 \\n\\n",
            f"{{claim}}\\u0060weights[1,1] = {escaped}`",
        ]
        text = notebook(*LINES, "LAST").replace("LAST", "".join(lines))
        path.write_text(text, encoding="utf-8")
        result = fix(path, "--fix")
        wanted = text if becomes is None else text.replace(escaped, becomes)
        assert path.read_text(encoding="utf-8") == wanted
        assert result.exit_code == (1 if becomes is None else 0)
        assert ("is left as it is; true is 0.2119" in result.output) is (becomes is None)


def test_worksheets_are_fixed_in_whatever_form(tmp_path: Path) -> None:
    text = SHEET.replace("[[0, 0, 1]]", "[[0, -3, 1]]") + (
        '[claims]\n"weights[1,:]" = [  0.31, # 0.31 ]\n  "0.0136",\n\'?\' ]\noutput = 2.999e0\n'
        '"scores[1,:]" = [1, 0x3, 1_0.0]\ntitle."""'
    ).removesuffix('title."""')
    path = tmp_path / "a.toml"
    assert_fixed(
        path, text.encode(),
        (b"[  0.31,", b"[  0.27,"), (b"0.0136", b"0.0132"), (b"2.999e0", b"2.456e0"),
        (b" = [1,", b" = [0,"), (b" 0x3,", b" -3,"), (b"1_0.0]", b"1.0]"),
    )  # fmt: skip


FORMS = (
    ("0.31", "0.21"), (".31", "0.21"), ("3.1e-1", "2.1e-1"), ("31e-2", "21e-2"), ("+0.31", "0.21"),
    ("0.3100", "0.2119"), ("1", "0"), ("-0.31", "0.21"), ("0.31E0", "0.21E0"),
    ("0.21194155761708544514", "0.21194155761708544507"), ("-inf", "0.2119"),
)  # fmt: skip


@pytest.mark.parametrize(("claimed", "mended"), FORMS)
def test_the_digits_stay_as_many(claimed: str, mended: str) -> None:
    checked = page(f"{FENCE}\n{{claim}}`weights[1,1] = {claimed}`\n", ".md")
    assert checked.mended() == checked.text.replace(f"= {claimed}`", f"= {mended}`")


@pytest.mark.parametrize(
    ("policy", "claimed", "mended"),
    [
        ("half-up", "0.15", "0.13"), ("half-even", "0.15", "0.12"), ("either", "0.15", "0.13"),
        ("truncated", "0.15", "0.12"), ("truncated", "0.13", "0.12"), ("half-up", "0.12", "0.13"),
        ("truncated", "-0.12", "0.12"),
    ],
)  # fmt: skip
def test_numbers_are_put_right_as_the_policy_wants(policy: str, claimed: str, mended: str) -> None:
    sheet = (
        "[attention]\nscale = false\n[given]\nQ = [['0.125']]\nK = [[1]]\n[claims]\n"
        f"scores = '{claimed}'\n[policy]\nrounding = '{policy}'\naccept = []\n"
    )
    checked = page(sheet, ".toml")
    assert checked.mended() == sheet.replace(f"= '{claimed}'", f"= '{mended}'")
    assert page(checked.mended(), ".toml").passes
    negative = (
        sheet.replace("[[1]]", "[[-1]]").replace("= '0", "= '-0").replace("'-0.125'", "'0.125'")
    )
    assert page(page(negative, ".toml").mended(), ".toml").passes


@pytest.mark.parametrize("claimed", ["1/3", "sqrt(2)", "1e3"])
def test_what_cannot_be_written_so_is_left(tmp_path: Path, claimed: str) -> None:
    path = tmp_path / "a.md"
    text = f"{FENCE}\n{{claim}}`weights[1,1] = {claimed}`\n"
    path.write_text(text, encoding="utf-8")
    result = fix(path, "--fix")
    assert path.read_text(encoding="utf-8") == text
    assert result.exit_code == 1
    assert f"{path}:9:24: weights[1,1]: {claimed} is left as it is; true is 0" in result.output


def test_exact_claims_are_put_right_exactly() -> None:
    even = FENCE.replace("0, 0, 1", "0, 0, 0")
    checked = page(f"{even}\n{{claim}}`weights[1,1] = 1/4`\n", ".md")
    assert "weights[1,1] = 1/3`" in checked.mended()


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "a.md", tmp_path / "link.md"
    path.write_text(TEXT, encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    assert fix(link, "--fix").exit_code == 0
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert "0.31`" in TEXT and "= 0.21`" in path.read_text(encoding="utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.md", "link.md"]


def test_standard_input_is_not_rewritten() -> None:
    text = SHEET + "[claims]\noutput = 9\n"
    result = CliRunner().invoke(main, ["check", "-", "--fix"], input=text)
    assert result.exit_code == 2
    assert "standard input cannot be rewritten" in result.stderr


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
