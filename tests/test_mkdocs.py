"""MkDocs: sites really built, their formulas unharmed, wrong numbers ending a strict build."""

from __future__ import annotations

import re
import shutil
import tomllib
import warnings
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symattn.pages.filling import fill_page
from tests import ROOT
from tests.conftest import Formulas
from tests.documents.test_markdown import formulas
from tests.extras import package

CONFIG = """
site_name: Pages
theme: mkdocs
plugins: [symattn]
markdown_extensions:
  - pymdownx.arithmatex:
      generic: true
"""

SHEET = """\
[attention]
tokens = ["a_b", "<c> *d* $e$"]
heads = 2
[given]
Q = [[1, 0, 1, 1], [0, 1, 0, 2]]
K = [[1, 0, 1, 1], [0, 1, 0, 2]]
V = [[1, 2, 1, 1], [3, 4, 0, 2]]
"""

PAGE = f"""\
---
title: Weights
---

# Weights_of_heads

```symattn
{SHEET}```

The weight is **<!-- value weights[1,1,2] --><!-- /value -->**, {{claim}}`weights[1,1,2] = 0.33`, as
`{{claim}}` says.

<!-- symattn steps=weights,concat digits=3 headings=4 -->
<!-- /symattn -->

Done_so_far.
"""


def site(folder: Path, page: str, config: str = CONFIG, *options: str) -> tuple[int, str]:
    """The status of ``mkdocs build --strict`` for one page, and what it says.

    The plugin is found as it would be if the package were installed.
    """
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "index.md").write_text(page, "utf-8")
    (folder / "mkdocs.yml").write_text(config, "utf-8")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    installed = folder / "installed" / "symattn-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: symattn\nVersion: 0\n", "utf-8"
    )
    lines = [f"{name} = {where}" for name, where in points["mkdocs.plugins"].items()]
    (installed / "entry_points.txt").write_text("\n".join(["[mkdocs.plugins]", *lines]), "utf-8")
    command = package("mkdocs.__main__").cli
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.syspath_prepend(installed.parent)
        patch.chdir(folder)
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        ran = CliRunner().invoke(command, ["build", "--strict", *options])
    assert isinstance(ran.exception, SystemExit | None), ran.exception
    told = ran.output.splitlines()
    return ran.exit_code, "\n".join(line for line in told if "INFO" not in line)


def shown(folder: Path) -> str:
    return (folder / "site" / "index.html").read_text("utf-8")


def test_a_page_is_filled_in_and_its_formulas_are_unharmed(
    tmp_path: Path, katex: Formulas, mathjax: Formulas
) -> None:
    assert site(tmp_path, PAGE) == (0, "")
    html = shown(tmp_path)
    assert (
        "The weight is <strong><!-- value weights[1,1,2] -->0.3302<!-- /value --></strong>" in html
    )
    assert "</strong>, 0.33, as\n<code>{claim}</code> says.</p>" in html
    assert "Done_so_far." in html
    pattern = re.compile(r'class="arithmatex">\\(?:\[\n(.*?)\n\\\]|\((.*?)\\\))<', re.S)
    found = [(one != "", unescape(one or other)) for one, other in pattern.findall(html)]
    wanted = formulas(fill_page(PAGE, "index.md", "katex").split(f"{SHEET}```")[1])
    assert sorted(found) == sorted(wanted)
    assert len([display for display, _ in found if display]) >= 4
    assert {*katex(found), *mathjax(found)} == {""}
    assert (tmp_path / "docs" / "index.md").read_text("utf-8") == PAGE


def test_mathjax_typesets_the_site_and_a_narrow_page_is_no_wider_than_its_screen(
    tmp_path: Path, browser: Any, node_file: Callable[[str], Path]
) -> None:
    script = tmp_path / "docs" / "mathjax"
    shutil.copytree(node_file("mathjax-full/es5"), script)
    config = f"{CONFIG}extra_javascript: [mathjax/tex-mml-chtml.js]\nuse_directory_urls: false\n"
    assert site(tmp_path, PAGE, config) == (0, "")
    page = browser.new_page()
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.wait_for_selector("mjx-container")
    page.wait_for_function("MathJax.startup.promise.then(() => true)")
    wanted = len(formulas(fill_page(PAGE, "index.md", "katex").split(f"{SHEET}```")[1]))
    assert page.locator("mjx-container").count() == wanted
    assert page.locator("mjx-merror").count() == 0
    assert "\\" not in page.locator("[role=main]").inner_text()
    page.set_viewport_size({"width": 375, "height": 800})
    wide = "document.documentElement.scrollWidth"
    found = page.evaluate(wide)
    page.evaluate("document.querySelectorAll('.arithmatex').forEach((each) => each.remove())")
    assert found == page.evaluate(wide) < 400
    page.close()


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ("= 0.33`", "= 0.43`", 17, "weights[1,1,2]: you wrote 0.43; the true value is 0.33"),
        ("V = [[1, 2", "V = [[x, 2", 14, "not valid TOML"),
        ("<!-- value weights", "<!-- value wieghts", 17, 'did you mean "weights"'),
        ("digits=3", "digit=3", 20, 'did you mean "digits"'),
    ],
)
def test_what_is_wrong_ends_a_strict_build_at_its_line(
    old: str, new: str, line: int, complaint: str, tmp_path: Path
) -> None:
    page = PAGE.replace(old, new, 1)
    assert page.splitlines()[line - 1].find(new[-8:]) >= 0
    status, said = site(tmp_path, page)
    assert status == 1
    assert f"docs/index.md:{line}:" in said
    assert complaint in said
    assert "Aborted with 1 warnings in strict mode" in said


def test_a_wrong_number_ends_a_quiet_build_too(tmp_path: Path) -> None:
    status, said = site(tmp_path, PAGE.replace("= 0.33`", "= 0.43`"), CONFIG, "--quiet")
    assert status == 1
    assert "docs/index.md:17: weights[1,1,2]: you wrote 0.43" in said


def test_readers_see_worksheets_only_where_asked(tmp_path: Path) -> None:
    config = CONFIG.replace("[symattn]", "[{symattn: {worksheets: true}}]")
    for number, settings in enumerate((CONFIG, config)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert site(folder, PAGE, settings) == (0, "")
        assert ("heads = 2" in shown(folder)) == (settings == config)


def test_formulas_are_not_spoiled(tmp_path: Path) -> None:
    status, said = site(tmp_path, PAGE, CONFIG.partition("markdown_ext")[0])
    assert status == 1
    assert "symattn: formulas need pymdownx.arithmatex; add it" in said


def test_a_page_without_worksheets_is_left_alone(tmp_path: Path) -> None:
    assert site(tmp_path, "# Nothing\n\nA `{claim}` that is none.\n") == (0, "")
    assert "A <code>{claim}</code> that is none." in shown(tmp_path)
