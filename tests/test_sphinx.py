"""Sphinx: pages in reStructuredText and MyST built with -W -n, by every builder."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from html import unescape
from io import StringIO
from pathlib import Path

import pytest

from tests.command import run
from tests.extras import package, unavailable
from tests.gates import CAUSAL

CONF = """
extensions = ["myst_parser", "symattn.sphinxext"]
project, copyright, version = "pages", "nobody", "1"
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["part*"]
"""

SHEET = """
title = "Tiny"
[attention]
tokens = ["<b>", "a & b"]
[given]
Q = [[1, 0], [0, 1]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
"""

BARE = SHEET.replace('tokens = ["<b>", "a & b"]', "")

RST = """
Title
=====

.. toctree::

   other
   anywhere
   more

.. attention:: sheet.toml
   :label: tiny
   :class: wide

The weight is :value:`weights[1,2] to 3`, by :eq:`tiny-weights`, so :claim:`weights[1,2] = 0.330`.

.. attention:: causal
   :steps: weights
   :view: formula
   :format: equations

.. attention::

   Mind the gap.
"""

MYST = f"""
# Other

```{{attention}}
:label: own
:digits: 3
{BARE}
```

The weight is {{value}}`weights[1,2]`, by {{eq}}`own-weights`; {{claim}}`weights[1,1] = 0.670`.

```{{symattn}} sheet.toml
```

And {{value}}`weights[1,1] to 2`.

```{{attention}}
Prose about heads.
```
"""


_ANYWHERE_RST = """
Anywhere
========

.. attention:: sheet.toml
   :label: first
   :digits: 2

Two: :value:`weights[1,2]`; three: :value:`weights[1,2] to 3`.

.. attention:: steep.toml
   :label: second
   :digits: 6

Six: :value:`weights[1,2]`, by :eq:`second-weights`.

.. symattn:: sheet.toml

Four: :value:`weights[1,2]`.

* In a list:

  .. attention:: causal

  .. note::

     .. attention:: sheet.toml
        :steps: weights

.. list-table::

   * - Label
     - .. attention:: sheet.toml
          :steps: weights
          :view: formula, value
          :format: equations
          :label: cell
   * - Number
     - :value:`weights[1,1] to 5`

In a cell stands :eq:`cell-weights`.

.. include:: part.rst
"""

_ANYWHERE_MYST = f"""
# More

:::{{attention}} steep.toml
:label: colon
:digits: 3
:::

Three: {{value}}`weights[1,2]`, by {{eq}}`colon-weights`.

:::{{attention}}
Mind the *gap*.
:::

````{{note}}
```{{attention}}
:steps: weights
:digits: 5
{BARE}
```
````

```{{include}} part.md
```
"""

#: Directives wherever they may stand, by the names of their pages.
ANYWHERE = {
    "anywhere_rst": _ANYWHERE_RST,
    "more_md": _ANYWHERE_MYST,
    "part_rst": "Included\n--------\n\n.. attention:: sheet.toml\n   :label: included\n\n"
    "Right: :claim:`weights[1,2] = 0.33`.\n",
    "part_md": "## Part\n\n```{symattn} sheet.toml\n:digits: 1\n```\n\n"
    "One: {value}`weights[1,2]`.\n",
    "falk_rst": ":orphan:\n\nTitle\n=====\n\n.. attention:: sheet.toml\n   :layout: falk\n"
    "   :entry: weights[1,2] output[1,1]\n",
    "prose_rst": ":orphan:\n\nTitle\n=====\n\n.. attention:: my sheet.toml\n\n"
    ".. attention:: Mind the gap!\n\n"
    ".. attention:: It begins here,\n   goes *on*\n\n   and ends.\n",
}


def project(folder: Path, **pages: str) -> Path:
    """A project with these pages, ``name_rst`` or ``name_md``, and a worksheet."""
    (folder / "conf.py").write_text(CONF, "utf-8")
    (folder / "sheet.toml").write_text(SHEET, "utf-8")
    for name, text in pages.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text, "utf-8")
    return folder


def build(folder: Path, builder: str = "html", *options: str) -> tuple[int, str]:
    """The status of ``sphinx-build -W -n`` and what it complains about.

    In this process, but for pages that are read in parallel, which takes processes without threads.
    """
    trees = folder / ("_messages" if builder == "gettext" else "_trees")
    words = ["-W", "--keep-going", "-n", *options, "-d", trees, "-b", builder, folder]
    told = [*map(str, words), str(folder / "_out" / builder)]
    if "-j" in options:
        command = [sys.executable, "-m", "sphinx", *told]
        ran = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=120, check=False
        )
        return ran.returncode, f"{ran.stderr}{ran.stdout}"
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return package("sphinx.cmd.build").build_main(told), said.getvalue()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("sphinx"), index_rst=RST, other_md=MYST, **ANYWHERE)
    (folder / "steep.toml").write_text(SHEET.replace("K = [[1", "K = [[3"), "utf-8")
    (folder / "my sheet.toml").write_text(SHEET, "utf-8")
    for builder in ("html", "latex", "epub", "text", "singlehtml"):
        status, said = build(folder, builder, "-q")
        assert (status, said) == (0, ""), builder
    return folder / "_out"


def texts(built: Path, *names: str) -> str:
    return "".join((built / "text" / f"{name}.txt").read_text("utf-8") for name in names)


def test_html_has_numbered_equations_and_numbers(built: Path) -> None:
    page = unescape((built / "html" / "index.html").read_text("utf-8"))
    assert 'class="symattn wide' in page
    assert 'id="equation-tiny-weights"' in page
    assert 'href="#equation-tiny-weights"' in page
    assert '<span class="symattn-value">0.330</span>' in page
    assert '<span class="symattn-claim">0.330</span>' in page
    assert 'alttext="A = softmax(X W_Q (X W_K)ᵀ / √d_k + causal(n, n))"' in page
    assert 'alttext="A ≈ [[0.6698, 0.3302], [0.3302, 0.6698]]"' in page
    assert "<b>" not in page.replace("<mtext><b></mtext>", "")  # a label, which is escaped
    assert "Mind the gap." in page
    other = unescape((built / "html" / "other.html").read_text("utf-8"))
    assert '<span class="symattn-value">0.330</span>' in other
    assert "A ≈ [[0.670, 0.330], [0.330, 0.670]]" in other
    assert '<span class="symattn-value">0.67</span>' in other
    assert "Prose about heads." in other


OWN = """
# Own

$x^2$ is no formula of a derivation.

```{attention} sheet.toml
:label: here
:steps: weights
```
"""


@pytest.mark.parametrize(("math", "scripts"), [("mathml", (0, 1)), ("tex", (1, 1))])
def test_only_what_is_not_mathml_needs_a_script(
    math: str, scripts: tuple[int, int], tmp_path: Path
) -> None:
    bare = OWN.replace("$x^2$", "That").replace("here", "there")
    folder = project(tmp_path, index_md=f"{bare}\n```{{toctree}}\nown\n```\n", own_md=OWN)
    assert build(folder, "html", "-q", "-D", f"symattn_math={math}") == (0, "")
    for name, loaded in zip(("index", "own"), scripts, strict=True):
        page = (folder / "_out" / "html" / f"{name}.html").read_text("utf-8")
        assert page.count("/mathjax@") == loaded, name
        assert ("<math" in page) is (math == "mathml")
    style = folder / "_out" / "html" / "_static" / "symattn.css"
    assert style.exists() is (math == "mathml")


def test_an_epub_says_which_pages_have_mathml(built: Path) -> None:
    with zipfile.ZipFile(built / "epub" / "pages.epub") as book:
        manifest = book.read("content.opf").decode()
        for name in ("index", "other", "nav"):
            has = "<math" in book.read(f"{name}.xhtml").decode()
            (item,) = re.findall(rf'<item id="[^"]*" href="{name}.xhtml"[^>]*>', manifest)
            assert ('properties="mathml"' in item) is has, name


def test_every_builder_has_the_same_digits(built: Path) -> None:
    latex = (built / "latex" / "pages.tex").read_text("utf-8")
    text = texts(built, "index", "other")
    with zipfile.ZipFile(built / "epub" / "pages.epub") as book:
        epub = book.read("index.xhtml").decode() + book.read("other.xhtml").decode()
    assert "A ≈ ⎡ 0.6698  0.3302 ⎤" in text
    assert "\\mathrm" not in text
    assert "0.6698 & 0.3302" in latex
    for page in (latex, text, epub):
        for number in ("0.330", "0.67", "1.6605", "3.340"):
            assert number in page


def compiled(folder: Path, tool: Callable[[str], str]) -> str:
    """What pdflatex says at the second time."""
    for needed in ("fncychap.sty", "tgheros.sty", "tgtermes.sty"):
        found = subprocess.run([tool("kpsewhich"), needed], capture_output=True, check=False)
        if not found.stdout:
            unavailable(needed)
    for _ in range(2):
        ran = subprocess.run(
            [tool("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "pages.tex"],
            cwd=folder,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout[-1500:]
    return ran.stdout.decode("utf-8", "replace")


def test_sphinx_latex_compiles(built: Path, tool: Callable[[str], str]) -> None:
    """Lists, admonitions and cells too."""
    said = compiled(built / "latex", tool)
    assert "undefined references" not in said
    assert r"Overfull \hbox" not in said


def test_a_value_has_the_digits_of_the_directive_before_it(built: Path) -> None:
    text = texts(built, "anywhere", "more")
    for told in (
        "Two: 0.33; three: 0.330.",
        "Six: 0.107042, by (",
        "Four: 0.3302.",
        "0.66976",
        "Right: 0.33.",
        "Three: 0.107, by (",
        "One: 0.3.",
    ):
        assert told in text
    assert "A ≈ ⎡ 0.892958  0.107042 ⎤" in text
    assert "Mind the *gap*." in text


def test_products_are_laid_out_and_entries_boxed(built: Path) -> None:
    text = texts(built, "falk")
    assert "┼" in text
    assert "a_12 " in text
    assert "a_11 " not in text


def test_an_entry_that_is_asked_for_and_not_worked_out_is_a_warning(tmp_path: Path) -> None:
    asked = "T\n=\n\n.. attention:: causal.toml\n   :steps: output\n   :width: column\n"
    boxed = f":orphan:\n\n{asked}   :entry: output[2,1]\n"
    folder = project(tmp_path, index_rst=asked, boxed_rst=boxed)
    shutil.copy(CAUSAL, folder)
    status, said = build(folder, "text", "-q")
    unworked = "output: no entry is worked out, since it is computed from 204 numbers"
    assert status == 1 and unworked in said
    assert said.count("WARNING") == said.count("boxed.rst:") == 1


WRONG = {
    "rst": ".. symattn:: sheet.toml\n\nRight: :claim:`weights[1,1] = 0.670`.\n\n"
    "Wrong: :claim:`weights[1,2] = 0.40`.\n",
    "md": "```{symattn} sheet.toml\n```\n\nRight: {claim}`weights[1,1] = 0.670`.\n\n"
    "Wrong: {claim}`weights[1,2] = 0.40`.\n",
}


def test_a_wrong_number_fails_the_build_where_check_finds_it(tmp_path: Path) -> None:
    pages = {f"{kind}_{kind}": f"Title\n=====\n\n{text}" for kind, text in WRONG.items()}
    toctree = ".. toctree::\n\n   rst\n   md\n"
    folder = project(tmp_path, index_rst=f"Title\n=====\n\n{toctree}", **pages)
    status, said = build(folder)
    assert status == 1
    for kind, text in WRONG.items():
        ran = run("check", folder / f"{kind}.{kind}", status=1)
        placed = next(line for line in ran.stdout.splitlines() if "; the true value is " in line)
        place = ":".join(Path(placed).name.split(":")[:2])
        line = pages[f"{kind}_{kind}"].splitlines().index(text.splitlines()[-1]) + 1
        assert place == f"{kind}.{kind}:{line}"
        assert f"{place}: WARNING: weights[1,2]: you wrote 0.40; the true value is 0.33" in said
    assert said.count("you wrote") == 2


#: What a page has, its line and the complaint.
UNUSABLE = (
    (":value:`weights[1,2]`", 6, "no worksheet stands before"),
    (".. symattn:: sheet.toml\n\n:value:`weights[3,1]`", 8, "rows are 1 to 2"),
    (".. attention:: none.toml", 6, "none.toml"),
    (".. attention:: causal\n   :view: formulae", 6, 'did you mean "formula"'),
    (".. symattn::\n\n   [given]\n   Q = [[1, x]]", 9, "not valid TOML"),
    (".. attention:: sheet.toml\n   :entry: weights[3,1]", 6, "rows are 1 to 2"),
    (".. attention:: causal\n   :layout: falk", 6, "need numbers; give a worksheet"),
)


def test_what_cannot_be_used_is_a_warning_with_its_line(tmp_path: Path) -> None:
    pages = {
        f"p{k}_rst": f":orphan:\n\nTitle\n=====\n\n{page}\n"
        for k, (page, *_) in enumerate(UNUSABLE)
    }
    status, said = build(project(tmp_path, index_rst="Title\n=====\n", **pages))
    assert status == 1
    for k, (_, line, complaint) in enumerate(UNUSABLE):
        told = [one for one in said.splitlines() if f"p{k}.rst:{line}:" in one]
        assert any(complaint in one for one in told), (complaint, said)
    assert "Traceback" not in said


LOST = {
    "index_rst": "Title\n=====\n\n.. toctree::\n\n   other\n\n.. include:: part.rst\n\n"
    ".. attention::\n\n   [given]\n   Q = [[1, x]]\n\n* list\n\n  .. attention:: sheet.toml\n"
    "     :steps: wieghts\n",
    "part_rst": "Part\n----\n\n:claim:`weights[1,1] = 0.67`\n\n.. attention::\n\n   [given]\n"
    "   Q = [[1, x]]\n\n.. symattn:: claims.toml\n\nA line and :claim:`weights[1,2] = 0.43`,\n"
    ":claim:`weights[1,1] = 0.67`, :claim:`0.5`.\n",
    "other_md": "# Other\n\n- list\n\n  ```{attention}\n  :label: l\n  [given]\n  Q = [[1, x]]\n"
    "  ```\n\n```{include} part.md\n```\n",
    "part_md": "## Part\n\n```{symattn} sheet.toml\n```\n\n{claim}`weights[1,2] = 0.43`\n",
}


def test_lines_are_right_whatever_includes_what(tmp_path: Path) -> None:
    """What a page includes is no page of its own: its numbers are checked where they stand."""
    folder = project(tmp_path, **LOST)
    (folder / "claims.toml").write_text(f'{SHEET}[claims]\n"weights[2,1]" = "0.9"\n', "utf-8")
    status, said = build(folder)
    assert status == 1
    for told in (
        "part.rst:4: WARNING: claim: ",
        "part.rst:9:10: not valid TOML",
        "part.rst:11: WARNING: weights[2,1]: you wrote 0.9; the true value is 0.33",
        "part.rst:13: WARNING: weights[1,2]: you wrote 0.43; the true value is 0.33",
        "part.rst:13: WARNING: claim: '0.5' is not a claim",
        "index.rst:13:10: not valid TOML",
        'index.rst:17: ERROR: no step is called "wieghts"',
        "other.md:8:10: not valid TOML",
        "part.md:6: WARNING: weights[1,2]: you wrote 0.43",
    ):
        assert told in said, (told, said)
    assert said.count("you wrote") == 3
    assert "Traceback" not in said


def test_numbers_in_docstrings_are_checked(tmp_path: Path) -> None:
    page = "T\n=\n\n.. symattn:: sheet.toml\n\n.. automodule:: documented\n"
    folder = project(tmp_path, index_rst=page)
    (folder / "documented.py").write_text('"""One: :claim:`weights[1,1] = 0.77`."""\n', "utf-8")
    conf = folder / "conf.py"
    path = f"import sys\nsys.path.insert(0, {str(folder)!r})\n"
    conf.write_text(path + CONF.replace('["myst', '["sphinx.ext.autodoc", "myst'), "utf-8")
    status, said = build(folder)
    assert status == 1
    assert "docstring of documented:1: WARNING: weights[1,1]: you wrote 0.77" in said


def test_words_beside_the_directive_are_prose_unless_they_name_a_file(built: Path) -> None:
    text = texts(built, "prose")
    assert "0.3302" in text
    assert "Attention:\n\n  Mind the gap!\n" in text
    assert re.search(r"Attention:\n\n  It begins here, goes \*on\*\s*and ends\.\n", text)


def test_a_page_is_read_again_when_its_numbers_change(tmp_path: Path) -> None:
    """Those of a file, of its worksheet, and of what it includes."""
    keys = SHEET.replace("K = [[1, 0], [0, 1]]", 'K = "in/keys.csv"')
    body = ".. attention::\n\n" + keys.replace("\n", "\n   ") + "\n\n:value:`weights[1,2]`\n"
    named = ".. attention:: {}.toml\n\n:value:`weights[1,2]`\n"
    pages = {
        "index": ".. include:: part.rst\n",
        "file": named.format("keys"),
        "itself": named.format("itself"),
    }
    told = {f"{name}_rst": f":orphan:\n\nTitle\n=====\n\n{text}" for name, text in pages.items()}
    folder = project(tmp_path, part_rst=body, **told)
    (folder / "keys.toml").write_text(keys, "utf-8")
    (folder / "in").mkdir()
    for one, weight in (("1", "0.3302"), ("3", "0.1070")):
        (folder / "in" / "keys.csv").write_text(f"{one},0\n0,1\n", "utf-8")
        (folder / "itself.toml").write_text(SHEET.replace("K = [[1", f"K = [[{one}"), "utf-8")
        assert build(folder, "text", "-q") == (0, "")
        for name in pages:
            assert texts(folder / "_out", name).endswith(f"{weight}\n"), name


def test_pages_are_read_in_parallel(tmp_path: Path) -> None:
    pages = {
        f"page{k}_rst": f"Page {k}\n======\n\n.. attention:: sheet.toml\n   :label: p{k}\n\n"
        f"See :eq:`p{k}-weights` and :eq:`p{(k + 1) % 8}-scores`: :value:`output[1,{k % 2 + 1}]`.\n"
        for k in range(8)
    }
    toctree = "\n".join(f"   page{k}" for k in range(8))
    folder = project(tmp_path, index_rst=f"T\n=\n\n.. toctree::\n\n{toctree}\n", **pages)
    status, said = build(folder, "text", "-j", "2")
    assert status == 0, said
    assert "WARNING" not in said
    for k in range(8):
        text = (folder / "_out" / "text" / f"page{k}.txt").read_text("utf-8")
        assert ("1.6605", "2.6605")[k % 2] in text.splitlines()[-1]


def test_files_lie_under_the_source_folder_or_a_root_that_is_set(tmp_path: Path) -> None:
    docs, shared = tmp_path / "docs", tmp_path / "shared"
    for folder in (docs / "sheets", docs / "pages", shared):
        folder.mkdir(parents=True)
    data = BARE.replace("Q = [[1, 0], [0, 1]]", 'Q = "q.csv"')
    for folder in (shared, docs / "sheets"):
        (folder / "q.csv").write_text("1, 0\n0, 1\n", "utf-8")
        (folder / "sheet.toml").write_text(data, "utf-8")
    (docs / "pages" / "link.csv").symlink_to(shared / "q.csv")
    (docs / "pages" / "inside.csv").symlink_to("../sheets/q.csv")
    named = [".. attention:: /sheets/sheet.toml\n", ".. symattn:: ../sheets/sheet.toml\n"]
    inside = ".. symattn::\n\n" + BARE.replace("Q = [[1, 0], [0, 1]]", 'Q = "inside.csv"')
    named.append(inside.replace("\n", "\n   ").rstrip() + "\n")
    outside = [".. attention:: ../../shared/sheet.toml\n", named[2].replace("inside", "link")]
    claim = "\n:claim:`weights[1,1] = 0.670`\n\n"
    project(docs, index_rst="Top\n===\n\n.. toctree::\n\n   pages/here\n   pages/there\n")
    (docs / "pages" / "here.rst").write_text("Here\n====\n\n" + claim.join([*named, ""]), "utf-8")
    (docs / "pages" / "there.rst").write_text(
        "There\n=====\n\n" + claim.join([*outside, ""]), "utf-8"
    )
    status, said = build(docs, "text", "-q")
    assert status != 0
    assert "/here.rst" not in said
    assert "../../shared/sheet.toml: leads out of " in said
    assert "link.csv: leads out of " in said
    assert build(docs, "text", "-q", "-E", "-D", "symattn_root=..") == (0, "")
    status, said = build(docs, "text", "-q", "-D", "symattn_root=nowhere")
    assert status != 0
    assert "symattn_root: there is no folder" in said


def test_a_page_that_is_wrong_fails_the_next_build_too(tmp_path: Path) -> None:
    """Sphinx reads a page again only when it has changed, unless it is told to."""
    wrong = {"index": "{claim}`weights[1,1] = 0.671`", "other": "```{attention} none.toml\n```"}
    bare = "---\norphan: true\n---\n\n```{symattn} sheet.toml\n```\n\n# Title\n\n"
    folder = project(tmp_path, **{f"{k}_md": f"{bare}{words}\n" for k, words in wrong.items()})
    first, second = build(folder), build(folder)
    assert first[0] == second[0] == 1
    for name in wrong:
        assert re.search(rf"{name}\.md:\d+: (WARNING|ERROR)", second[1]), second[1]
        (folder / f"{name}.md").write_text(bare, "utf-8")
    assert build(folder)[0] == 0
