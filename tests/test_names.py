"""Names of files, titles and labels from strangers: printed as they are, where that is safe."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest

from symattn.notation.mathml import INVISIBLE_COMMA
from symattn.printable import as_line, printable, shortened
from tests.command import run

SHEET = "[attention]\nscale = false\n[given]\nscores = [[0, 0]]\n"
PAGE = f"```symattn\n{SHEET}```\n\nIt is {{claim}}`weights[1,1] = 0.4`.\n"
FORMATS = ("text", "md", "latex", "mathml", "html", "json", "github", "sarif", "junit")

#: Names that somebody may give a file, with how they are printed; "" where they stay.
NAMES = {
    "accents": ("é ü ñ.md", ""),
    "CJK": ("中文 日本語.md", ""),
    "emoji": ("👩\u200d💻 ❤\ufe0f.md", ""),
    "Persian": ("می\u200cخواهم.md", ""),
    "ideographic blank": ("a\u3000b.md", ""),
    "title of a terminal": ("a\x1b]0;owned\x07.md", "a\\x1b]0;owned\\x07.md"),
    "line feed": ("a\nb.md:1:1: forged\n.md", "a\\nb.md:1:1: forged\\n.md"),
    "carriage return": ("a\rb.md", "a\\rb.md"),
    "tab": ("a\tb.md", "a\\tb.md"),
    "bidi": ("a\u202edm.md", "a\\u202edm.md"),
    "isolate": ("a\u2066x\u2069.md", "a\\u2066x\\u2069.md"),
    "zero width": ("a\u200bb\u200dc\ufeff.md", "a\\u200bb\\u200dc\\ufeff.md"),
    "filler": ("a\u3164b.md", "a\\u3164b.md"),
    "invisible comma": ("a\u2063b.md", "a\\u2063b.md"),
    "C1": ("a\x9b2Jb.md", "a\\x9b2Jb.md"),
    "DEL": ("a\x7fb.md", "a\\x7fb.md"),
    "line separator": ("a\u2028b.md", "a\\u2028b.md"),
    "no UTF-8": ("a\udcff.md", "a\\udcff.md"),
    "GitHub's command": ("::error file=x::y.md", "\\x3a:error file=x::y.md"),
    "old command": ("a ##[error]b.md", "a #\\x23[error]b.md"),
    "markup": ('<b>&"x.md', ""),
    "picture": ("![](x).md", ""),
    "column": ("a|b.md", ""),
    "option": ("--fix.md", ""),
    "colon": ("a: b.md", ""),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(printed: str) -> list[str]:
    """The lines of a report; none of them is a command, or has anything that is not seen."""
    lines = printed.split("\n")
    for line in lines:
        bare = line.replace("\u200d", "").replace("\u200c", "").replace("\u3000", " ")
        bare = re.sub("<math .*?</math>", lambda m: m[0].replace(INVISIBLE_COMMA, ""), bare)
        assert bare.isprintable(), ascii(line)
        assert line.startswith("::") or not re.search(r"##[A-Za-z]*\[", line)  # read first
    return lines


#: The names of files, and as they are printed.
FILES = tuple(name for name, _ in NAMES.values())
SHOWN = tuple(shown or name for name, shown in NAMES.values())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.skipif(os.name == "nt", reason="its names of files have none of these")
def test_names_in_every_format(form: str, here: Path) -> None:
    for file in FILES:
        Path(file).write_text(PAGE, encoding="utf-8")
    result = run("check", "--format", form, "--", *FILES)
    assert (result.exit_code, result.stderr) == (1, ""), result.output
    lines = lines_of(result.stdout)
    commands = [line.partition(" ")[0] for line in lines if line.lstrip().startswith("::")]
    assert commands == (["::error"] * len(FILES) if form == "github" else [])
    match form:
        case "text":
            told = "8:30: weights[1,1]: you wrote 0.4; the true value is 0.5"
            assert {f"{shown}:{told}" for shown in SHOWN} <= {*lines}
        case "json":
            assert [row["file"] for row in json.loads(result.stdout)["overview"]] == [*FILES]
            result.stdout.encode("utf-8")
        case "html":
            minidom.parseString(
                re.sub("(?s)<style>.*?</style>|<meta[^<>]*>|<!doctype html>", "", result.stdout)
            )
        case "mathml":
            minidom.parseString(result.stdout.encode("utf-8"))
        case "md":
            rows = [line for line in lines if line.startswith("| ") and "weights" in line]
            assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6}
        case "sarif":
            (run_of_tool,) = json.loads(result.stdout)["runs"]
            assert len(run_of_tool["artifacts"]) == len(FILES) and result.stdout.isascii()
        case "junit":
            suites = minidom.parseString(result.stdout.encode("utf-8"))
            names = [x.getAttribute("name") for x in suites.getElementsByTagName("testsuite")]
            assert names == [*SHOWN]


@pytest.mark.skipif(os.name == "nt", reason="its names of files have none of these")
def test_names_in_failures_diffs_and_renderings(here: Path) -> None:
    for file in FILES:
        Path(file).write_text(PAGE.replace("= 0.4", "0.4"), encoding="utf-8")
    for form in FORMATS:
        result = run("check", "--format", form, "--", *FILES, *FILES, status=2)
        told = dict.fromkeys(lines_of(result.stderr))
        assert [*told].pop() == "" and len(told) == len(FILES) + 1
        for shown, line in zip(SHOWN, told, strict=False):
            assert shown.lstrip("\\x3a:") in line
        lines_of(result.stdout)
    for file in FILES:
        Path(file).write_text(PAGE, encoding="utf-8")
    diff = lines_of(run("check", "--diff", "--", *FILES).stdout)
    heads = [line for line in diff if line.startswith(("---", "+++"))]
    for file, shown, *signed in zip(FILES, SHOWN, heads[::2], heads[1::2], strict=True):
        assert signed in (
            [f"{x} {name}" for x in ("---", "+++")] for name in (printable(file), shown)
        )
    rendered = run("render", "--check", "--", *FILES)
    assert rendered.exit_code == 1
    assert rendered.stdout == "".join(f"{shown}: would change\n" for shown in SHOWN)


def test_a_diff_can_be_applied(here: Path) -> None:
    """Tabs, odd line ends in the page, and no line end at its end."""
    for name, text in {
        "a.md": PAGE.replace("It is", "It\tis\x0b\u2028"),
        "b.md": PAGE.rstrip(),
        "c.md": PAGE.replace("\n", "\r\n"),
    }.items():
        Path(name).write_bytes(text.encode())
        assert run("check", "--diff", name, "-o", "x.diff").exit_code == 1
        exact = Path("x.diff").read_bytes()
        if name != "a.md":
            assert run("check", "--diff", name).stdout_bytes == exact
        subprocess.run(["git", "apply", "x.diff"], check=True)
        assert Path(name).read_bytes() == text.replace("= 0.4", "= 0.5").encode()


def test_a_page_cannot_forge_a_command_by_a_diff(here: Path) -> None:
    Path("a.md").write_text(PAGE + " ::error::x\n##[error]y\n\x1b[2J\n", encoding="utf-8")
    diff = run("check", "--diff", "a.md").stdout
    assert not re.search(r"(?m)^\s*::|##\[|\x1b", diff)


def test_titles_and_labels_forge_no_line(here: Path) -> None:
    hidden = "\x7f\x9b\u202e\u2066\u2069\u200b\ufeff\u2028\ufffe"
    bad = f"a\n::error::b ##[error]c\x1b[2J{hidden}<script>\\input{{x}} \\write18{{ls}}"
    quoted = "".join(f"\\U{ord(c):08X}" for c in bad)
    sheet = f'title = "{quoted}"\n' + SHEET.replace("[given]", f'tokens = ["{quoted}"]\n[given]')
    Path("a.toml").write_text(f"{sheet}[claims]\nweights = [[0.4, 0.5]]\n", encoding="utf-8")
    for form in FORMATS:
        result = run("check", "a.toml", "--format", form, status=1)
        commands = [line for line in lines_of(result.stdout) if line.lstrip().startswith("::")]
        assert len(commands) == (form == "github")
    for form in ("text", "md", "tex", "latex", "mathml", "html", "json", "ipynb", "python"):
        shown = run("derive", "a.toml", "--format", form).stdout
        for line in shown.split("\n"):
            assert not re.search(r"^\s*::|##[A-Za-z]*\[|\x1b", line), line[:200]
        match form:
            case "json":
                data = json.loads(shown)
                assert bad in data["title"] and bad in data["labels"]["n"]
            case "text" | "latex" | "mathml":
                assert not {*shown} & {*hidden, "\0", "\a", "\r", "\t"}
        assert form != "latex" or ("\\input" not in shown and "\\write" not in shown)
        assert form != "mathml" or "<script" not in shown


def test_a_long_name_leaves_the_mend(here: Path) -> None:
    for name in ("x" * 200 + "/" + "y" * 250 + ".toml", "a b/" * 1000 + "c.toml"):
        result = run("check", name, status=2)
        assert len(result.stderr) <= 401 and result.stderr.startswith(f"symattn: {name[:20]}")
        assert re.search(r"\.toml: cannot be read: [a-z ]+\n\Z", result.stderr)


def test_it_changes_nothing_twice() -> None:
    for name, _ in NAMES.values():
        assert as_line(as_line(name)) == as_line(name)
        assert printable(printable(name)) == printable(name)
    assert shortened(shortened("x" * 900)) == shortened("x" * 900)


#: Pages with parts that cannot be used: their problems, and the numbers that are marked.
PARTS: tuple[tuple[str, str, list[str], list[str]], ...] = (
    (
        "claims.md",
        PAGE + "\n{claim}`weights 0.2` {claim}`weights[1,9] = 1` {claim}`weights[1,2] = x`\n"
        "{claim}`weights[1,2] = 0.5`\n",
        ["10:9: 'weights 0.2'", "10:45: weights[1,9]: no column 9", '10:71: weights[1,2]: "x"'],
        ["weights[1,1] wrong", "weights[1,2] right"],
    ),
    (
        "sheets.md",
        "{claim}`weights[1,1] = 0.5`\n\n```symattn\n[given]\nQ = 1 2\n```\n{claim}`a_11 = 3`\n\n"
        + PAGE,
        ["1:24: weights[1,1]: no worksheet", "5:7: not valid TOML"],
        ["weights[1,1] wrong"],
    ),
    (
        "table.md",
        PAGE.replace("0]]\n", '0]]\n[claims]\nweigths = 3\n"weights[1,2]" = 0.5\n"a_12" = 0.6\n'),
        ['7:11: "weigths" in [claims] is not a known step', "9:10: a_12: is claimed twice"],
        ["weights[1,2] right", "weights[1,1] wrong"],
    ),
    (
        "open.tex",
        f"\\begin{{symattn}}\n{SHEET}\\end{{symattn}}\n\\claim{{weights[1,1]}}{{\\num{{1}}}}\n"
        "\\claim{weights[1,2]}{0.4}\n\n\\begin{symattn}\n\\claim{weights[1,1]}{0.9}\n",
        ["7:1: \\claim{weights[1,1]}", "10:1: \\begin{symattn} has no \\end{symattn}"],
        ["weights[1,2] wrong"],
    ),
)


@pytest.mark.parametrize("row", PARTS, ids=[row[0] for row in PARTS])
def test_what_cannot_be_used_hides_no_number(
    row: tuple[str, str, list[str], list[str]], here: Path, caplog: Any
) -> None:
    from types import SimpleNamespace

    import symattn
    from symattn import mkdocsext
    from symattn.pages.checked import check_text

    name, text, problems, numbers = row
    checked = check_text(text, name)
    assert checked is not None and not checked.passes
    assert [f"{found.entry} {found.verdict}" for found in checked.findings] == numbers
    assert len(checked.problems) == len(problems)
    for told, start in zip(checked.problems, problems, strict=True):
        assert told.startswith(f"{name}:{start}"), told
    Path(name).write_text(text, encoding="utf-8")
    wrong = sum("wrong" in number for number in numbers)
    for form in FORMATS:
        result = run("check", name, "--format", form, status=2)
        assert result.stderr.splitlines() == [f"symattn: {told}" for told in checked.problems]
        if form == "json":
            data = json.loads(result.stdout)
            assert data["problems"] == list(checked.problems) and not data["passes"]
            assert len(data["findings"][name]) == len(numbers)
        elif form == "github":
            assert result.stdout.count("::error ") == wrong
            assert result.stdout.count("::warning file=") == len(problems)
        elif form == "sarif":
            (run_of_tool,) = json.loads(result.stdout)["runs"]
            assert len(run_of_tool["results"]) == wrong
            (invocation,) = run_of_tool["invocations"]
            assert len(invocation["toolExecutionNotifications"]) == len(problems)
        elif form == "junit":
            cases = minidom.parseString(result.stdout.encode("utf-8"))
            assert len(cases.getElementsByTagName("error")) == len(problems)
            assert len(cases.getElementsByTagName("failure")) == wrong
        else:
            assert result.stdout.count("you wrote 0.4") >= wrong
            said = {"text": f"{len(problems)} parts of the text could not be used"}
            assert said.get(form, "Could not be used") in result.stdout
    marks = symattn.check(Path(name))
    assert not marks.passed and getattr(marks, "problems") == checked.problems  # noqa: B009
    assert all(told in str(marks) for told in checked.problems)
    if name.endswith(".md"):
        shown: Any = SimpleNamespace(abs_src_path=name, content_string=text)
        plugin = mkdocsext.Fills()
        plugin.load_config({})
        plugin.on_page_markdown(text, page=SimpleNamespace(file=shown))  # type: ignore[arg-type]
        warned = [record.getMessage() for record in caplog.records]
        assert all(any(told in line for line in warned) for told in checked.problems)
        assert len(warned) == len(checked.problems) + wrong  # nothing is said twice
    fixed = run("check", "--fix", name)
    assert fixed.exit_code == 2 and f"{wrong} number corrected" in fixed.stdout
    again = check_text(Path(name).read_text(encoding="utf-8"), name)
    assert again is not None and all(found.passes for found in again.findings)
