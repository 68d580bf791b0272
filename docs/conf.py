"""The site: ``python -m sphinx -W -n -b html docs build/site``.

The pages are Markdown; what the code knows (variants, identities, misconceptions, the API, the
command line, the worksheet's schema) is written by ``_ext/reference.py`` when a build begins, and
the commands of the how-to pages are run by ``_ext/running.py`` while they are read.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parent.parent)]

from docutils import nodes
from sphinx.application import Sphinx

import symattn

project = "symattn"
author = "the symattn authors"
copyright = "the symattn authors, MIT licence"
version = release = symattn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "symattn.sphinxext",
    "reference",
    "running",
]
exclude_patterns = ["_ext", "_static", "generated/*.part.md"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
symattn_root = ".."
symattn_allow_large = False

default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
# Types of signatures are those of other libraries, or private; links in words are followed.
nitpick_ignore_regex = [("py:(class|obj|data)", r".*")]
highlight_language = "none"

html_theme = "furo"
html_title = "symattn"
html_static_path = ["_static"]
html_extra_path = ["generated/extra"]
(Path(__file__).parent / "generated" / "extra").mkdir(parents=True, exist_ok=True)
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5cad",
        "color-brand-content": "#0b5cad",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ab8ff",
        "color-brand-content": "#8ab8ff",
    },
}

latex_engine = "lualatex"
latex_documents = [("index", "symattn.tex", "symattn", author, "manual")]
# Fonts that TeX and most systems have; DejaVu has the signs that Latin Modern has not.
_FONTS = r"""
\directlua{luaotfload.add_fallback("signs", {"DejaVuSans:mode=harf;"})}
\setmainfont{Latin Modern Roman}[RawFeature={fallback=signs}]
\setsansfont{Latin Modern Sans}[RawFeature={fallback=signs}]
\setmonofont{DejaVu Sans Mono}[Scale=0.8]
"""
# Code in a cell of a table may go on in the next line: after _ / | . = , and a hyphen, and before
# a capital inside a word. Below a page stands its chapter; a section may be too long for that.
_PREAMBLE = r"""
\newattribute\iscode
\protected\def\sphinxcode#1{{\setattribute\iscode{1}\texttt{#1}}}
\directlua{
  local iscode, glyph, box = luatexbase.registernumber("iscode"), node.id("glyph"), node.id("hlist")
  local after = {[95] = 1, [47] = 1, [124] = 1, [46] = 1, [61] = 1, [44] = 1}
  local function isglyph(one) return one and one.id == glyph end
  local function ends(one)
    local before, following = one.prev, one.next
    if one.id == box then return isglyph(before) and isglyph(following) end
    if one.id == glyph and after[one.char] then return true end
    return one.id == glyph and isglyph(following) and one.char > 96 and one.char < 123
      and following.char > 64 and following.char < 91
  end
  luatexbase.add_to_callback("pre_linebreak_filter", function(head)
    for one in node.traverse(head) do
      if node.has_attribute(one, iscode) and ends(one) then
        local penalty = node.new("penalty")
        penalty.penalty = 200
        node.insert_after(head, one, penalty)
      end
    end
    return head
  end, "code that goes on")
}
\makeatletter
\fancypagestyle{normal}{\fancyhf{}%
  \fancyfoot[R]{{\py@HeaderFamily\thepage}}%
  \fancyfoot[L]{{\py@HeaderFamily\nouppercase{\leftmark}}}%
  \fancyhead[R]{{\py@HeaderFamily\@title, \py@release}}}
\makeatother
"""
latex_elements = {
    "papersize": "a4paper",
    "preamble": _PREAMBLE,
    "tableofcontents": r"\renewcommand{\contentsname}{Contents}\sphinxtableofcontents",
    "pointsize": "10pt",
    "fontpkg": _FONTS,
    "extraclassoptions": "openany,oneside",
}
epub_show_urls = "no"
suppress_warnings = ["epub.unknown_project_files"]


def _in_the_site(app: object, docname: str, source: list[str]) -> None:
    """Pages lead to files of the repository; here those are pages."""
    source[0] = source[0].replace("](../CONTRIBUTING.md", "](/contributing.md")
    source[0] = source[0].replace("](../examples/README.md", "](/generated/examples.md")


def _levels(
    app: object, page: object, template: object, context: dict[str, str], _: object
) -> None:
    """The captions of the navigation get a level; an empty corner of a table is no heading."""
    body = context.get("body", "")
    context["body"] = re.sub(r'<th class="([^"]*)"><p></p></th>', r'<td class="\1"></td>', body)
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


#: Sections of the first page that a book does not need, and those that only the site can show.
_NOT_IN_PRINT = {"what-you-get", "from-one-file", "i-want-to"}
_ON_THE_SITE = {"what-you-get"}


def _of_the_site(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """The sections of the first page that this builder shows."""
    left_out = {"latex": _NOT_IN_PRINT, "epub": _ON_THE_SITE}.get(app.builder.name, set())
    for section in [*doctree.findall(nodes.section)]:
        if docname == "index" and left_out & {*section["ids"]}:
            section.parent.remove(section)


def _no_pages_beside(app: Sphinx) -> None:
    """An EPUB has its own pages alone, not those that the examples make."""
    if app.builder.name == "epub":
        app.config.html_extra_path = []


def setup(app: Sphinx) -> None:
    """Links as they are on the site, and what the theme leaves out."""
    app.connect("builder-inited", _no_pages_beside)
    app.connect("doctree-resolved", _of_the_site)
    app.connect("source-read", _in_the_site)
    app.connect("html-page-context", _levels, priority=900)
