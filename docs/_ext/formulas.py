"""Formulas as the MathML that symattn itself writes, for HTML and EPUB: no script, no network."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.epub3 import Epub3Builder
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from symattn.sphinxext import MARKUP

_log = logging.getLogger(__name__)


def _markup(node: nodes.Element) -> str:
    """The MathML of a formula; one that symattn has not written is not on this site."""
    if MARKUP not in node:
        _log.warning("a formula that has no MathML: %s", node.astext(), location=node)
    return str(node.get(MARKUP, ""))


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_markup(node))
    raise nodes.SkipNode


def _display(writer: HTML5Translator, node: nodes.math_block) -> None:
    if markup := _markup(node):  # the lines of a step stand in its first display
        writer.body.append(writer.starttag(node, "div", CLASS="symattn math"))
        if node["number"]:
            writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
            writer.add_permalink_ref(node, "Link to this equation")
            writer.body.append("</span>")
        writer.body.append(f"{markup}</div>")
    raise nodes.SkipNode


class Epub(Epub3Builder):
    """An EPUB whose manifest says which pages have MathML, as EPUB 3.3, section 5.4 asks."""

    def build_content(self) -> None:
        """Write the manifest, and the property of each page."""
        super().build_content()
        folder = Path(self.outdir)
        manifest = folder / "content.opf"

        def item(found: re.Match[str]) -> str:
            page = folder / found[1]
            with_math = page.suffix == ".xhtml" and page.exists() and "<math" in page.read_text()
            return f'{found[0]} properties="mathml"' if with_math else found[0]

        text = re.sub(r'<item id="[^"]*" href="([^"]*)"', item, manifest.read_text("utf-8"))
        manifest.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Register the renderer, which `html_math_renderer` names."""
    app.add_builder(Epub, override=True)
    app.add_html_math_renderer("symattn", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
