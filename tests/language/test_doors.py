"""Equations where people write: pages of Sphinx and MkDocs, cells of a notebook, the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.errors import ReadError
from symattn.pages.filling import fill_page
from tests.extras import package

TEXT = "scores S = Q K^T / sqrt(d_k)\nweights A = sigmoid(S)\nO = A V\n"

PAGE = f"""# Own

```{{equations}}
{TEXT}```

Behind.
"""


def test_a_page_of_sphinx_shows_equations(tmp_path: Path) -> None:
    package("sphinx")
    package("myst_parser")
    from tests.test_sphinx import build, project

    (tmp_path / "mine.eq").write_text(TEXT, "utf-8")
    own = "Own\n===\n\n.. equations::\n   :label: own\n   :gradient: V\n\n"
    own += "".join(f"   {line}\n" for line in TEXT.splitlines())
    own += "\nBy :eq:`own-weights`.\n\n.. toctree::\n\n   other\n"
    project(tmp_path, index_rst=own, other_md="# Other\n\n```{equations} mine.eq\n```\n")
    status, said = build(tmp_path, "text")
    assert status == 0, said
    for page in ("index", "other"):
        shown = (tmp_path / "_out" / "text" / f"{page}.txt").read_text("utf-8")
        assert "σ" in shown
        assert ("dV" in shown) == (page == "index")


WRONG_PAGES = {
    "softmaxx": ("```{equations}\nS = Q K^T\nA = softmaxx(S)\n```\n", "line 2, character 5"),
    "empty": ("```{equations}\n```\n", "give equations in the body"),
    "a variant": ("```{equations} causal\n```\n", "ends in .eq"),
    "no file": ("```{equations} none.eq\n```\n", "none.eq"),
    "a batch": ("```{equations}\n:batch: 1\n\nO = Q K^T\n```\n", "batch: "),
    "numbers": ("```{equations}\n:entry: O[1,1]\n\nO = Q K^T\n```\n", "need numbers"),
    "a gradient": ("```{equations}\n:gradient: Z\n\nO = Q K^T\n```\n", "Z"),
}


@pytest.mark.parametrize("what", WRONG_PAGES)
def test_what_is_wrong_is_a_warning_with_its_line(what: str, tmp_path: Path) -> None:
    package("sphinx")
    package("myst_parser")
    from tests.test_sphinx import build, project

    body, words = WRONG_PAGES[what]
    status, said = build(project(tmp_path, index_md=f"# Own\n\n{body}"))
    assert status == 1
    assert "index.md:3" in said
    assert words in said
    assert "Traceback" not in said
    assert "internal error" not in said


def test_a_page_is_filled_in_with_equations() -> None:
    filled = fill_page(PAGE, "page.md")
    assert "a_{ij} = \\sigma(s_{ij})" in filled
    assert filled.endswith("<!-- /symattn -->\n\nBehind.\n")
    assert fill_page(filled, "page.md") == filled
    again = filled.replace("<!-- symattn -->", "<!-- symattn steps=weights view=formula -->")
    less = fill_page(again, "page.md")
    assert "### 2. Attention weights" not in less
    assert len(less) < len(filled)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (PAGE.replace("sigmoid", "sigmod"), "page.md:3: equations: line 2, character"),
        (PAGE + "\n<!-- value A[1,1] --><!-- /value -->\n", "equations have no numbers"),
        (PAGE.replace("\nBehind", "<!-- symattn entry=A[1,1] -->\n<!-- /symattn -->\n"), "numbers"),
        (PAGE.replace(TEXT, ""), "no equation is written"),
    ],
)
def test_a_page_that_cannot_be_filled_in_says_why(page: str, words: str) -> None:
    with pytest.raises(ReadError, match=r"^page\.md:") as caught:
        fill_page(page, "page.md")
    assert words in str(caught.value)


def test_mkdocs_shows_the_derivation_and_not_the_text(tmp_path: Path) -> None:
    package("mkdocs")
    from tests.test_mkdocs import site

    status, said = site(tmp_path, PAGE)
    assert status == 0, said
    html = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert r"A = \sigma(S)" in html
    assert "scores S" not in html


def test_a_cell_holds_equations_or_a_worksheet() -> None:
    package("IPython")
    from symattn.ipython import cell

    shown = cell("--view formula", TEXT)
    assert "A = σ(S)" in shown.words
    assert r"\sigma(S)" in shown.markdown
    block = cell("", "[Q, K] V")  # a block, and no table
    assert "Let Q" in block.words
    sheet = f"equations = '''\n{TEXT}'''\n[given]\nQ = [[1]]\nK = [[0]]\nV = [[4]]\n"
    assert "O = [ 2 ]" in cell("", sheet).words  # σ(0) is 1/2


@pytest.mark.parametrize(
    ("options", "body", "words"),
    [
        ("--check", TEXT, "--check: needs numbers"),
        ("--entry A[1,1]", TEXT, "--entry: needs numbers"),
        ("", "S = Q KK)T", "cell: line 1, character 9"),
        ("", "", "no equation is written"),
        ("", "O = Q\n" * 4000, "24000 characters are too many"),
    ],
)
def test_a_cell_that_is_wrong_is_one_line(options: str, body: str, words: str) -> None:
    package("IPython")
    from IPython.core.error import UsageError

    from symattn.ipython import cell

    with pytest.raises(UsageError) as caught:
        cell(options, body)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
