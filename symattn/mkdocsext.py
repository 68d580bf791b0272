"""MkDocs: pages filled in while the site is built, as ``symattn render`` fills files in.

The page itself stays as it is. A wrong number is a warning with its line, and so fails
``mkdocs build --strict``. Python-Markdown takes the backslashes out of LaTeX unless it knows where
formulas are, so the extension ``pymdownx.arithmatex`` has to be on.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from symattn.errors import needing

with needing("symattn.mkdocsext", "MkDocs", "symattn[mkdocs]"):
    from mkdocs.config.base import Config
    from mkdocs.config.config_options import Type
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.exceptions import ConfigurationError
    from mkdocs.plugins import BasePlugin, get_plugin_logger
    from mkdocs.structure.pages import Page

from symattn.budget import budgeted
from symattn.documents.markdown import DOLLARS
from symattn.doors import failure
from symattn.pages.checked import check_text
from symattn.pages.filling import fill_page
from symattn.pages.markdown import fences
from symattn.pages.markdown import markdown as found_in
from symattn.pages.syntax import Anchor
from symattn.printable import printable

_log = get_plugin_logger("symattn")
_NEEDED = "pymdownx.arithmatex"

#: What is wider than a narrow page, a formula or a table, scrolls by itself.
_STYLE = """\
<style>
.arithmatex { overflow-x: auto; overflow-y: hidden; }
span.arithmatex { display: inline-block; max-width: 100%; vertical-align: bottom; }
</style>
"""

#: The column behind the line that a message begins with.
_COLUMN = re.compile(r"(?<=:)([0-9]+:)[0-9]+:(?= )")


class Options(Config):  # type: ignore[no-untyped-call]  # MkDocs leaves a hook untyped
    """``allow_large``: fill pages in however much work it is; ``worksheets``: show them as code."""

    allow_large = Type(bool, default=False)
    worksheets = Type(bool, default=False)


class Fills(BasePlugin[Options]):  # type: ignore[no-untyped-call]  # as above
    """Fills worksheets, values and claims in, and warns of numbers that are wrong."""

    def on_config(self, config: MkDocsConfig) -> None:
        """Refuse a site without the extension that leaves formulas as they are."""
        if _NEEDED not in config.markdown_extensions:
            raise ConfigurationError(
                f"symattn: formulas need {_NEEDED}; add it to markdown_extensions, with "
                "generic: true"
            )

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig | None = None, **_: object
    ) -> str:
        """The page with its derivations and numbers; as it is where it cannot be used."""
        name = str(page.file.abs_src_path or page.file.src_uri)
        before = _lines_before(page.file.content_string, markdown)
        text = "\n" * before + markdown
        complaints: list[str] = []
        try:
            allowed = bool(self.config.get("allow_large"))
            with budgeted("allow_large: true in mkdocs.yml", allowed):
                checked = check_text(text, name, explain=False)
                if checked is not None:
                    wrong = checked.complaints
                    complaints += [f"{Path(name)}:{one.line}: {one.message}" for one in wrong]
                    complaints += checked.problems
                filled = fill_page(_plain(text), name, DOLLARS)
                if not self.config.get("worksheets"):
                    filled = _without_worksheets(filled)
        except BaseException as error:
            failed = failure(error, name).line
            known = (_COLUMN.sub(r"\1", printable(line)) for line in complaints)
            anew = _COLUMN.sub(r"\1", failed)  # a worksheet is refused by both
            if not any(line.startswith(anew) for line in known):
                complaints.append(failed)
            filled = text
        quiet = not _log.isEnabledFor(logging.WARNING)  # and then MkDocs does not count warnings
        strict = config is not None and config.strict
        level = logging.ERROR if strict and quiet else logging.WARNING
        for line in map(printable, complaints):
            _log.log(level, line)
        return filled[before:]

    def on_page_content(self, html: str, /, **_: object) -> str:
        """The page with the style of its formulas, where it has some."""
        return _STYLE + html if 'class="arithmatex"' in html else html


def _without_worksheets(text: str) -> str:
    """The page without its blocks of code that are worksheets, and with as many lines."""
    for start, end, block in reversed([*fences(text)]):
        if block is not None:
            text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text


def _lines_before(page: str, markdown: str) -> int:
    """The lines of the front matter, which MkDocs takes off."""
    return max(page.count("\n") - markdown.count("\n"), 0) if page.endswith(markdown) else 0


def _plain(text: str) -> str:
    """The page with the number alone where a claim stands, and as many lines."""
    for claim in reversed([found for found in found_in(text) if isinstance(found, Anchor)]):
        if not claim.inline:
            continue  # a formula of its own, which a comment marks
        start = text.rindex("{claim}", 0, claim.start)
        end = text.index("`", claim.start + len(claim.number)) + 1
        text = (
            text[:start]
            + " ".join(claim.claimed.split())
            + "\n" * text.count("\n", start, end)
            + text[end:]
        )
    return text
