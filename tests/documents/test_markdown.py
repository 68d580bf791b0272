"""Markdown: its formulas in KaTeX and MathJax, pages filled in, and Office through pandoc."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from symattn import SymattnError
from symattn.documents.markdown import FLAVORS
from symattn.pages.checked import check_text
from symattn.pages.filling import fill_page
from tests.command import put, run
from tests.conftest import Formulas
from tests.gates import page
from tests.written import markdown_document

_DISPLAY = re.compile(
    r"^\$\$\n(.*?)\n\$\$|^```(?:math|\{math\})\n(?::label: \S+\n)?(.*?)\n```", re.M | re.S
)
_INLINE = re.compile(r"(?<![\\$])\$`?([^$\n]+?)`?(?<!\\)\$(?!\$)")

SHEET = """\
[attention]
tokens = ["<b>", "a|b"]
[given]
Q = [[1, 0], [0, 1]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
"""
PAGE = f"""\
# A page

```symattn
{SHEET}```

The weight is <!-- value weights[1,2] to 3 --><!-- /value -->, about {{claim}}`weights[1,2] = 0.33`.

<!-- symattn steps=weights view=formula,value digits=2 headings=4 -->
<!-- /symattn -->

Done.
"""


def formulas(document: str) -> list[tuple[bool, str]]:
    """The formulas of a page, those in sentences too."""
    shown = [(True, one or other) for one, other in _DISPLAY.findall(document)]
    rest = _DISPLAY.sub("", document)
    return shown + [(False, each) for each in _INLINE.findall(rest)]


def test_mathjax_notices_what_is_wrong(mathjax: Formulas) -> None:
    sound, *spoilt = mathjax([(True, r"\frac{1}{2}"), (True, r"\frac{1}"), (False, r"\unknown")])
    assert sound == ""
    assert all(spoilt)


def test_labels_of_steps_where_a_flavor_has_them() -> None:
    assert "{#eq-weights}" in markdown_document(page("causal"), "quarto")
    assert ":label: eq-weights" in markdown_document(page("causal"), "sphinx")
    assert "eq-weights" not in markdown_document(page("causal"), "github")


@pytest.mark.parametrize("flavor", FLAVORS)
def test_a_page_is_filled_in_once(flavor: str) -> None:
    once = fill_page(PAGE, "page.md", flavor)
    assert fill_page(once, "page.md", flavor) == once
    assert "-->0.330<!--" in once
    assert "0.67 & 0.33" in once
    assert "#### 1. Attention weights" in once
    assert once.startswith(PAGE[: PAGE.index("The weight")].rstrip())
    assert once.endswith("\nDone.\n")
    checked = check_text(once, "page.md")
    assert checked is not None
    assert [found.verdict for found in checked.findings] == ["right"]


def test_products_are_laid_out_and_entries_boxed() -> None:
    asked = "steps=weights,output view=worked,value layout=falk entry=weights[1,2];output[2,1]"
    page = fill_page(PAGE.replace("steps=weights view=formula,value digits=2", asked), "page.md")
    shown = page[page.index(asked) :]
    assert "a_{12}" in shown
    assert "a_{11}" not in shown
    assert r"\hline" in shown  # Falk's scheme


def test_line_ends_are_kept() -> None:
    windows = fill_page(PAGE.replace("\n", "\r\n"), "page.md")
    assert "\n" not in windows.replace("\r\n", "")
    assert windows.replace("\r\n", "\n") == fill_page(PAGE, "page.md")


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (PAGE.replace("weights[1,2] to", "wieghts[1,2] to"), r"page\.md:12: .*wieghts"),
        (PAGE.replace("weights[1,2] to", "weights[3,1] to"), r"page\.md:12: .*rows are 1 to 2"),
        (PAGE.replace("steps=weights", "steps=wieghts"), r"page\.md:14: .*weights"),
        (PAGE.replace("digits=2", "digits=two"), r"page\.md:14: digits=two"),
        (PAGE.replace("digits=2", "digit=2"), r'page\.md:14: .*did you mean "digits"'),
        (PAGE.replace("digits=2", "layout=flak"), r"page\.md:14: .*layout"),
        (PAGE.replace("digits=2", "entry=weights[3,1]"), r"page\.md:14: .*rows are 1 to 2"),
        (PAGE.replace("Q = [[1", "Q = [[x"), r"page\.md:\d"),
        ("<!-- value weights[1,1] --><!-- /value -->", "page.md:1: no worksheet stands"),
        (f"Text.\n\n```symattn\n{SHEET}", r"page\.md:3: this block of code is not closed"),
    ],
)
def test_what_cannot_be_filled_in_is_one_line(changed: str, complaint: str) -> None:
    with pytest.raises(SymattnError, match=complaint) as refused:
        fill_page(changed, "page.md")
    assert "\n" not in str(refused.value)


def test_render_writes_a_page_and_checks_it(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_bytes(b"\xef\xbb\xbf" + PAGE.replace("\n", "\r\n").encode())
    assert run("render", "--check", str(path)).exit_code == 1
    assert path.read_bytes().endswith(PAGE.replace("\n", "\r\n").encode())
    assert run("render", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"\xef\xbb\xbf# A page\r\n")
    assert b"0.330" in path.read_bytes()
    assert run("render", "--check", str(path)).exit_code == 0
    assert run("check", str(path)).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--flavor", "githab", "{page}"], 'did you mean "github"'),
        (["--check", "--watch", "{page}"], "not both"),
        (["sheet.toml"], "is not a Markdown page"),
        (["none.md"], "no such file"),
    ],
)
def test_render_says_what_is_wrong(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    told = [word.format(page=tmp_path / "page.md") for word in arguments]
    ran = run("render", *told, status=2)
    assert complaint in ran.output
    assert ran.output.count("\n") == 1


def test_a_worksheet_in_a_comment_is_one_that_readers_do_not_see(tmp_path: Path) -> None:
    sheet = "[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n"
    seen = f"# A\n\n```symattn\n{sheet}```\n\nIt is {{claim}}`weights[1,2] = 0.33`.\n"
    unseen = seen.replace("```symattn", "<!-- worksheet").replace("]]\n```", "]]\n-->")
    filled = fill_page(unseen, "page.md")
    assert filled == fill_page(filled, "page.md")
    wanted = (
        fill_page(seen, "page.md")
        .replace("```symattn", "<!-- worksheet")
        .replace("]]\n```", "]]\n-->")
    )
    assert filled == wanted
    wrong = put(tmp_path / "page.md", unseen.replace("0.33", "0.43"))
    ran = run("check", str(wrong), status=1)
    assert "page.md:10:" in ran.output


def test_a_folder_is_filled_in_but_for_the_page_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.md", "in/b.qmd", "in/c.md", "d.txt"):
        (tmp_path / name).write_text(PAGE, "utf-8")
    (tmp_path / "in" / "b.qmd").write_text(PAGE.replace("Q = [[1", "Q = [[x"), "utf-8")
    (tmp_path / "plain.md").write_text("# Nothing\n", "utf-8")
    ran = run("render", str(tmp_path), status=2)
    assert ran.stderr.startswith(f"symattn: {tmp_path}/in/b.qmd:")
    assert ran.stdout == f"{tmp_path}/a.md: filled in\n{tmp_path}/in/c.md: filled in\n"
    assert (tmp_path / "d.txt").read_text("utf-8") == PAGE


@pytest.mark.parametrize("flavor", FLAVORS)
def test_a_page_is_filled_in_again_in_every_flavor(flavor: str) -> None:
    before = fill_page(PAGE, "page.md", flavor)
    changed = "Q = [[5, 0], [0, 1]]"
    after = fill_page(before.replace("Q = [[1, 0], [0, 1]]", changed, 1), "page.md", flavor)
    assert after == fill_page(PAGE.replace("Q = [[1, 0], [0, 1]]", changed, 1), "page.md", flavor)
    assert after != before
    assert fill_page(after, "page.md", flavor) == after


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            "<!-- symattn steps=weights -->\n\nMine.\n\n<!-- symattn -->\n<!-- /symattn -->\n",
            r":10: <!-- symattn steps=weights --> is not closed; write <!-- /symattn -->",
        ),
        ("<!-- symattn -->\n\nMine.\n", ":10: .* is not closed"),
        (
            "<!-- symattn -->\nMine.\n"
            "<!-- value weights[1,1] --><!-- /value -->\n<!-- /symattn -->",
            ":10: .* is not closed",
        ),
        (
            f"<!-- symattn -->\nMine.\n```symattn\n{SHEET}```\n<!-- /symattn -->\n",
            ":10: .* is not closed",
        ),
        (
            "A <!-- value weights[1,1] --> mine <!-- value weights[1,2] --><!-- /value -->.\n",
            r":10: <!-- value weights\[1,1\] --> is not closed; write <!-- /value -->",
        ),
        ("A <!-- value weights[1,1] --> mine" + 200 * " " + "<!-- /value -->", ":10: .* closed"),
    ],
)
def test_no_word_of_the_author_is_lost_in_an_open_comment(words: str, complaint: str) -> None:
    start = f"```symattn\n{SHEET}```\n\n"
    assert start.count("\n") == 9
    with pytest.raises(SymattnError, match=complaint):
        fill_page(start + words, "page.md")


def test_comments_in_code_are_examples() -> None:
    page = (
        f"```symattn\n{SHEET}```\n<!-- symattn steps=weights view=formula -->\n<!-- /symattn -->\n"
        "\nWrite `<!-- value weights[1,2] --><!-- /value -->`, or `` `<!-- symattn -->` ``:\n\n"
        "```html\n<!-- symattn -->\n```\n\n<!-- value for money: a note -->\n"
    )
    filled = fill_page(page, "page.md")
    assert filled.partition("<!-- /symattn -->")[2] == page.partition("<!-- /symattn -->")[2]
