"""Pages built by Sphinx with symattn's directives."""

from __future__ import annotations

from io import StringIO
from pathlib import Path


def warnings_of(folder: Path, extensions: str = '"symattn.sphinxext"') -> str:
    """What Sphinx warns of when it builds the pages of a folder; the first page has to be there."""
    from sphinx.testing.util import SphinxTestApp
    from sphinx.util.docutils import docutils_namespace

    (folder / "conf.py").write_text(f"extensions = [{extensions}]\n", encoding="utf-8")
    warnings = StringIO()
    with docutils_namespace():  # else roles and directives stay, and the next build warns of them
        app = SphinxTestApp("html", srcdir=folder, warning=warnings)
        try:
            app.build()
        finally:
            app.cleanup()
    assert (Path(app.outdir) / "index.html").exists()
    return warnings.getvalue()
