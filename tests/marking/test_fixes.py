"""Wrong numbers put right in place: byte for byte, at their own digits, as the policy wants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symattn.cli import main
from tests.pages.test_prose import FENCE, SHEET, TEX, page


def fix(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["check", str(path), *options])


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_corrections_are_no_report_in_a_format(tmp_path: Path, option: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SHEET)
    result = fix(path, option, "--format", "json")
    assert result.exit_code == 2
    assert result.output.startswith(
        "symattn: --format json: applies to reports, not to corrections"
    )
    assert path.read_text() == SHEET


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


#: A sign is wrong in Q and used so; other numbers are accepted only as roundings of the same style.
CARRIED = """title = "slip in Q12 then carried"
schema = 1
[given]
X = [[1, 0.5], [-0.5, 2], [1.5, -1]]
W_Q = [[0.8, -0.3], [0.4, 1.1]]
W_K = [[1.2, 0.5], [-0.7, 0.9]]
W_V = [[2, -1.5], [0.6, 1.7]]
[claims]
Q = [["1.000", "-0.250"], ["0.400", "2.350"], ["0.800", "-1.550"]]
K = [["0.850", "0.950"], ["-2.000", "1.550"], ["2.500", "-0.150"]]
V = [["2.300", "-0.650"], ["0.200", "4.150"], ["2.400", "-3.950"]]
scores = [["0.613", "-2.388", "2.538"], ["2.573", "2.843", "0.648"], ["-0.793", "-4.003", "2.233"]]
scaled = [["0.433", "-1.689", "1.795"], ["1.819", "2.010", "0.458"], ["-0.561", "-2.831", "1.579"]]
weights = [["0.199", "0.024", "0.777"], ["0.405", "0.491", "0.104"], ["0.104", "0.011", "0.885"]]
output = [["2.327", "-3.099"], ["1.279", "1.364"], ["2.365", "-3.518"]]
"""


@pytest.mark.parametrize("name", ["a.toml", "a.md"])
def test_what_was_accepted_beside_a_mistake_is_corrected_with_it(tmp_path: Path, name: str) -> None:
    text = CARRIED if name == "a.toml" else f"```toml symattn\n{CARRIED}```\n"
    path = tmp_path / name
    path.write_text(text)
    result = fix(path, "--fix")
    assert result.output == "12 numbers corrected\n"
    assert result.exit_code == 0
    assert fix(path).exit_code == 0
    assert fix(path, "--diff").output == ""


TEXT = f"""# Title\t
{FENCE}
A {{claim}}`weights[1,1] = 0.31` and {{claim}}`weights[1,3] = 0.7`,
−{{claim}}`scores[1,3] = −1e0`.\x20
Not `0.31`.\u2028\v\f
"""
PAIRS = ((b"= 0.31", b"= 0.21"), (b"= 0.7`", b"= 0.6`"), ("= −1e0".encode(), b"= 1e0"))


@pytest.mark.parametrize(
    ("mark", "end", "last"),
    [(b"", "\n", True), (b"\xef\xbb\xbf", "\r\n", False), (b"", "\r\n", True)],
    ids=["LF", "BOM, CRLF, no last end of line", "CRLF"],
)
def test_markdown_is_fixed_byte_for_byte(tmp_path: Path, mark: bytes, end: str, last: bool) -> None:
    text = TEXT if last else TEXT.rstrip("\n")
    assert_fixed(tmp_path / "a.md", mark + text.replace("\n", end).encode(), *PAIRS)


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


@pytest.mark.parametrize(
    ("indent", "ascii_only", "as_string"),
    [(None, True, True), (1, False, False), ("\t", True, False), (1, False, True)],
    ids=str,
)
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
        assert ("is left as it is; the true value is 0.2119" in result.output) is (becomes is None)


def test_worksheets_are_fixed_in_whatever_form(tmp_path: Path) -> None:
    text = SHEET.replace("[[0, 0, 1]]", "[[0, -3, 1]]") + (
        '[claims]\n"weights[1,:]" = [  0.31, # 0.31 ]\n  "0.0136",\n\'?\' ]\noutput = 2.999e0\n'
        '"scores[1,:]" = [1, 0x3, 1_0.0]\ntitle."""'
    ).removesuffix('title."""')
    path = tmp_path / "a.toml"
    assert_fixed(
        path,
        text.encode(),
        (b"[  0.31,", b"[  0.27,"),
        (b"0.0136", b"0.0132"),
        (b"2.999e0", b"2.456e0"),
        (b" = [1,", b" = [0,"),
        (b" 0x3,", b" -3,"),
        (b"1_0.0]", b"1.0]"),
    )


FORMS = (
    ("0.31", "0.21"),
    (".31", "0.21"),
    ("3.1e-1", "2.1e-1"),
    ("31e-2", "21e-2"),
    ("+0.31", "0.21"),
    ("0.3100", "0.2119"),
    ("1", "0"),
    ("-0.31", "0.21"),
    ("0.31E0", "0.21E0"),
    ("0.21194155761708544514", "0.21194155761708544507"),
    ("-inf", "0.2119"),
)


@pytest.mark.parametrize(("claimed", "mended"), FORMS)
def test_the_digits_stay_as_many(claimed: str, mended: str) -> None:
    checked = page(f"{FENCE}\n{{claim}}`weights[1,1] = {claimed}`\n", ".md")
    assert checked.corrected() == checked.text.replace(f"= {claimed}`", f"= {mended}`")


@pytest.mark.parametrize(
    ("policy", "claimed", "mended"),
    [
        ("half-up", "0.15", "0.13"),
        ("half-even", "0.15", "0.12"),
        ("either", "0.15", "0.13"),
        ("truncated", "0.15", "0.12"),
        ("truncated", "0.13", "0.12"),
        ("half-up", "0.12", "0.13"),
        ("truncated", "-0.12", "0.12"),
    ],
)
def test_numbers_are_put_right_as_the_policy_wants(policy: str, claimed: str, mended: str) -> None:
    sheet = (
        "[attention]\nscale = false\n[given]\nQ = [['0.125']]\nK = [[1]]\n[claims]\n"
        f"scores = '{claimed}'\n[policy]\nrounding = '{policy}'\naccept = []\n"
    )
    checked = page(sheet, ".toml")
    assert checked.corrected() == sheet.replace(f"= '{claimed}'", f"= '{mended}'")
    assert page(checked.corrected(), ".toml").passes
    negative = (
        sheet.replace("[[1]]", "[[-1]]").replace("= '0", "= '-0").replace("'-0.125'", "'0.125'")
    )
    assert page(page(negative, ".toml").corrected(), ".toml").passes


@pytest.mark.parametrize(
    ("true", "mended"),
    [
        ("0.121", "0.12"),
        ("0.129", "0.12"),
        ("0.006", "0.00"),
        ("0.014", "0.01"),
        ("0.004", "0.00"),
        ("-0.121", "-0.12"),
        ("-0.129", "-0.12"),
        ("-0.006", "0.00"),
        ("-0.016", "-0.01"),
        ("0.995", "0.99"),
        ("-0.995", "-0.99"),
        ("1.005", "1.00"),
        ("0.12", "0.12"),
    ],
)
def test_numbers_are_cut_off_where_that_is_the_policy(true: str, mended: str) -> None:
    sheet = (
        f"[attention]\nscale = false\n[given]\nQ = [['{true}']]\nK = [[1]]\n[claims]\n"
        "scores = '7.77'\n[policy]\nrounding = 'truncated'\n"
    )
    checked = page(sheet, ".toml")
    assert checked.corrected() == sheet.replace("7.77", mended)
    assert page(checked.corrected(), ".toml").passes


@pytest.mark.parametrize("claimed", ["1/3", "sqrt(2)", "1e3"])
def test_what_cannot_be_written_so_is_left(tmp_path: Path, claimed: str) -> None:
    path = tmp_path / "a.md"
    text = f"{FENCE}\n{{claim}}`weights[1,1] = {claimed}`\n"
    path.write_text(text, encoding="utf-8")
    result = fix(path, "--fix")
    assert path.read_text(encoding="utf-8") == text
    assert result.exit_code == 1
    assert (
        f"{path}:9:24: weights[1,1]: {claimed} is left as it is; the true value is 0"
        in result.output
    )


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


def test_a_worked_line_that_would_stay_false_is_left(tmp_path: Path) -> None:
    """Only the last number is rewritten; an earlier part that is wrong is somebody's to mend."""
    path = tmp_path / "a.md"
    sheet = "```{symattn}\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [3]]\n```\n"
    false = "{claim}`s_12 = 1·0 + 1·1 = 1` "
    other = "{claim}`o_11 = 0.68·1 + 0.32·3 = 1.64` "
    path.write_text(sheet + false + other + "{claim}`s_11 = 1·1 + 0·0 = 2`\n", encoding="utf-8")
    result = fix(path, "--fix")
    assert result.exit_code == 1
    after = path.read_text(encoding="utf-8")
    assert after == sheet + false + other + "{claim}`s_11 = 1·1 + 0·0 = 1`\n"
    assert "scores[1,2]: 1 is left as it is; the true value is 0" in result.output
    assert "output[1,1]: 1.64 is left as it is; the true value is 1.6605" in result.output
    assert "worked line of scores[1,2]: the term 1·1 should be 0·1" in result.output
    assert "scores[1,1]" not in result.output  # put right
    assert "1 number corrected" in result.output
