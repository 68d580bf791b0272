"""The site: its links and fragments followed, read by axe, at night; its pages spelled.

`.ci/package` builds it without a warning for every change.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from docutils.nodes import make_id

from symattn import IDENTITIES, VARIANTS
from symattn.mistakes import OF_PROGRAMS
from tests import ROOT
from tests.documents.page.test_page import axe_faults
from tests.extras import package
from tests.test_docs import PAGES

#: Pages made by other programs, or by symattn itself, which have tests of their own.
OTHERS = ("shown/", "live.html", "_static/")

#: One page of each kind.
KINDS = (
    "index",
    "how-to/check-a-page",
    "how-to/sphinx",
    "generated/variants",
    "generated/variants/causal",
    "generated/misconceptions",
    "generated/options",
    "generated/api",
    "explanation/words",
    "explanation/benchmarks",
    "search",
)


class Page(HTMLParser):
    """The fragments that a page has, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = {""}
        self.leads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.ids.add(value or "")
            elif name in ("href", "src") and value is not None:
                self.leads.append(value)


def faults(pages: Mapping[str, Page], files: Iterable[str]) -> Iterator[str]:
    """Links that lead nowhere, and fragments that no page has."""
    there = {*files}
    for name, page in pages.items():
        for lead in page.leads:
            if re.match(r"[a-z]+:|//", lead):
                continue
            path, fragment = urldefrag(lead)
            path = path.partition("?")[0]
            target = os.path.normpath(Path(name).parent / unquote(path)) if path else name
            if target not in there:
                yield f"{name}: {lead}: no such file"
            elif target in pages and unquote(fragment) not in pages[target].ids:
                yield f"{name}: {lead}: no such place"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a copy of the sources, in which nothing is generated yet."""
    folder = tmp_path_factory.mktemp("site")
    for needed in ("furo", "sphinx_copybutton", "matplotlib", "mkdocs"):
        package(needed)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("generated"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("symattn", "examples"):
        (folder / name).symlink_to(ROOT / name)
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", "docs", "site"]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ran = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=500,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return folder / "site"


@pytest.mark.nightly
def test_every_link_and_fragment_leads_somewhere(site: Path) -> None:
    files = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
    own = [name for name in files if name.endswith(".html") and not name.startswith(OTHERS)]
    pages = {name: Page((site / name).read_text("utf-8")) for name in own}
    assert sum(len(page.leads) for page in pages.values()) > 10_000
    assert [*faults(pages, files)] == []


def test_a_broken_link_and_a_broken_fragment_are_found() -> None:
    text = '<p id="here"><a href="b.html#there"></a><a href="#here"></a><img src="c.png"></p>'
    pages = {"a.html": Page(text), "b.html": Page("<p></p>")}
    assert [*faults(pages, pages)] == [
        "a.html: b.html#there: no such place",
        "a.html: c.png: no such file",
    ]


def untitled(index: str) -> list[str]:
    """The pages that the search would name <no title>."""
    found = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    titles = zip(found["docnames"], found["titles"], strict=True)
    return [name for name, title in titles if title in ("", "<no title>")]


@pytest.mark.nightly
def test_every_page_that_is_found_has_a_title(site: Path) -> None:
    assert untitled((site / "searchindex.js").read_text("utf-8")) == []
    bad = '({"docnames": ["a", "b"], "titles": ["A", "<no title>"]})'
    assert untitled(f"Search.setIndex{bad}") == ["b"]


@pytest.mark.nightly
def test_no_page_of_the_site_needs_the_network(site: Path) -> None:
    own = [path for path in site.rglob("*.html") if "shown" not in path.parts]
    for path in own:
        scripts = re.findall(
            r'<(?:script|link)[^>]* (?:src|href)="(https?:[^"]*)', path.read_text()
        )
        assert scripts == [], path
    assert len(own) > 100


@pytest.mark.nightly
def test_what_the_tables_hold_is_on_the_site(site: Path) -> None:
    for row in VARIANTS:
        card = (site / f"generated/variants/{row.name}.html").read_text("utf-8")
        for heading in ("formulas", "with-numbers", "engines", "program", "gradient"):
            assert f'<section id="{heading}">' in card, (row.name, heading)
    for name, holds in (("identities", True), ("false-beliefs", False)):
        page = (site / f"generated/{name}.html").read_text("utf-8")
        for identity in IDENTITIES:
            place = make_id(f"{name}-{identity.name}")
            assert (f'id="{place}"' in page) is (identity.holds is holds), place
    page = (site / "generated/misconceptions.html").read_text("utf-8")
    for misconception in OF_PROGRAMS:
        assert f">{misconception.name}<" in page


@pytest.mark.nightly
def test_axe_finds_nothing_on_any_kind_of_page(
    site: Path, browser: Any, node_file: Callable[[str], Path]
) -> None:
    axe = node_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    for scheme, width, kinds in (("light", 1440, KINDS), ("dark", 375, KINDS[:5])):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        context.route("http*://**", lambda route: route.abort())
        page = context.new_page()
        for kind in kinds:
            page.goto((site / f"{kind}.html").as_uri())
            assert axe_faults(page, axe) == [], (kind, scheme)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (kind, wide)
        context.close()


#: Words that are right here: a name that an example misspells, a plural, a word of a listing.
_RIGHT = "scroes,arithmetics,inout,nd,ba,te,fo,ths"


def misspelled(*files: Path) -> list[str]:
    package("codespell_lib")
    command = [sys.executable, "-m", "codespell_lib", "-L", _RIGHT, *map(str, files)]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False
    ).stdout.splitlines()


def test_pages_are_spelled_right(tmp_path: Path) -> None:
    assert misspelled(*PAGES) == []
    (tmp_path / "wrong.md").write_text("Each wieght is recieved.\n", "utf-8")
    assert len(misspelled(tmp_path / "wrong.md")) == 2
