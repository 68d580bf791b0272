"""The directives ``file`` and ``shell``: what a how-to page writes and runs, run by the build.

Each page has a folder of its own. ``file`` shows a text and writes it there; ``shell`` shows
commands, runs them there and shows what they print. A command that does not end with the status
that the page says is a warning, and so fails a build with ``-W``. Pictures of a PDF or a Word file
are made again where ``SYMATTN_PICTURES`` is set, and kept in ``docs/_static/pictures``.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from click.testing import CliRunner
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import only
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import symattn
from symattn.cli import main

_log = logging.getLogger(__name__)
_ROOT = Path(symattn.__file__).parents[1]

#: The longest that one command may take, in seconds.
_MOST = 240

#: The folder of the build, which has one for each page.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


#: What commands are run with: not the options of a pytest that builds the site.
_OURS = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}


class _InFolder(SphinxDirective):
    """What a page's folder is, and where what it makes is kept for readers."""

    @property
    def folder(self) -> Path:
        """The folder of this page, which ends with the build."""
        kept = Path(_FOLDERS[-1].name) / self.env.docname.replace("/", "-")
        kept.mkdir(exist_ok=True)
        return kept

    def keep(self, name: str) -> str:
        """Keep a file of the folder for readers; where it stands, from the top of the site."""
        shown = Path("shown", *self.env.docname.split("/"), name)
        target = Path(self.env.srcdir, "generated", "extra", shown)
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/index.html"):  # a site, with what its pages need
            others = shutil.ignore_patterns("404.html", "sitemap.xml*")
            made = (self.folder / name).parent
            shutil.copytree(made, target.parent, ignore=others, dirs_exist_ok=True)
        else:
            shutil.copy(self.folder / name, target)
        return shown.as_posix()

    def warn(self, message: str) -> None:
        """A warning at the line of this directive."""
        _log.warning(message, location=self.get_location(), type="running")


class File(_InFolder):
    """``file``: a text that a reader writes, under its name."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"hidden": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The text with its name above it."""
        name, text = self.arguments[0], "\n".join(self.content) + "\n"
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if "hidden" in self.options:
            return []
        kinds = {"py": "python", "toml": "toml", "yml": "yaml", "tex": "latex", "md": "markdown"}
        block = nodes.literal_block(text, text, language=kinds.get(name.rpartition(".")[2], "none"))
        wrapper = nodes.container("", literal_block=True, classes=["literal-block-wrapper"])
        wrapper += [nodes.caption("", name), block]
        return [wrapper]


class Shell(_InFolder):
    """``shell``: commands, what they print, and perhaps a file that they make."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "status": directives.nonnegative_int,
        "output": lambda word: directives.choice(word, ("shown", "hidden")),
        "lines": directives.positive_int,
        "needs": directives.unchanged,
        "needs-module": directives.unchanged,
        "shows": directives.unchanged,
        "alt": directives.unchanged,
        "height": directives.positive_int,
        "page": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """The commands and their output."""
        commands = "\n".join(self.content)
        out: list[nodes.Node] = [nodes.literal_block(commands, commands, language="sh")]
        needed = [each for each in self.options.get("needs", "").split() if not shutil.which(each)]
        module = self.options.get("needs-module")
        if needed or (
            module and not find_spec(module)
        ):  # run where the tools are, shown everywhere
            return out + self._shown(self.options["shows"]) if "shows" in self.options else out
        printed, status = "", 0
        for command in re.sub(r"\\\n\s*", "", commands).splitlines():
            if command.strip() and not command.startswith("#"):
                told, status = self._run_one(command)
                printed += told
        if status != self.options.get("status", 0):
            self.warn(f"{commands}: ended with status {status}: {printed[-500:]}")
        printed = printed.replace(f"{self.folder}/", "").rstrip("\n")
        if printed and self.options.get("output") != "hidden":
            out.append(_printed(printed, self.options.get("lines")))
        if "shows" in self.options:
            out += self._shown(self.options["shows"])
        return out

    def _run_one(self, command: str) -> tuple[str, int]:
        words = shlex.split(command, comments=True)
        if words[0] == "symattn" and words[1] != "verify":  # in this process, which is quick
            with chdir(self.folder):
                ran = CliRunner().invoke(main, words[1:], terminal_width=80)
            return ran.output, ran.exit_code
        if words[0] in ("symattn", "python"):
            words[:1] = [sys.executable, *(["-m", "symattn"] if words[0] == "symattn" else [])]
        elif words[0] in ("sphinx-build", "mkdocs", "pytest", "jupyter"):
            words[:1] = [sys.executable, "-m", words[0].replace("sphinx-build", "sphinx")]
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            words,
            cwd=self.folder,
            env={**_OURS, "PYTHONPATH": path, "NO_COLOR": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=_MOST,
            check=False,
        )
        return done.stdout + done.stderr, done.returncode

    def _shown(self, name: str) -> list[nodes.Node]:
        """What was made: a picture, a page in a frame, or a picture of what other programs show."""
        alt = self.options.get("alt", name)
        if name.endswith((".pdf", ".docx")):
            uri = f"/_static/pictures/{self.env.docname.rpartition('/')[2]}.png"
            if os.environ.get("SYMATTN_PICTURES"):
                picture = Path(f"{self.env.srcdir}{uri}")
                _photograph(self.folder / name, picture, self.options.get("page", 1))
            return [_figure(uri, alt)]
        if not (self.folder / name).exists():
            return []
        where = self.keep(name)
        if name.endswith(".svg"):  # and as a PNG, for TeX
            drawn = name.replace(".svg", ".png")
            self._run_one(self.content[-1].replace(name, drawn).replace("svg", "png"))
            self.keep(drawn)
            return [_figure(f"/generated/extra/{where.replace('.svg', '.*')}", alt)]
        up = "../" * self.env.docname.count("/")
        height = self.options.get("height", 560)
        frame = (
            f'<iframe class="shown" src="{up}{where}" title="{alt}" height="{height}" '
            f'loading="lazy"></iframe><p><a href="{up}{where}">Open it in a window of its own</a>'
            "</p>"
        )
        return [only("", nodes.raw("", frame, format="html"), expr="not epub")]


def _figure(uri: str, alt: str) -> nodes.Node:
    return nodes.figure("", nodes.image("", uri=uri, alt=alt), nodes.caption("", alt))


def _photograph(document: Path, picture: Path, page: int) -> None:
    """A page of a PDF, or of what LibreOffice makes of a Word file, as a PNG."""
    if document.suffix == ".docx":
        office = ["soffice", "--headless", "--convert-to", "pdf", document.name]
        subprocess.run(office, cwd=document.parent, check=True, capture_output=True, timeout=_MOST)
        document = document.with_suffix(".pdf")
    picture.parent.mkdir(exist_ok=True)
    poppler = ["pdftocairo", "-png", "-singlefile", "-f", str(page), "-r", "100", str(document)]
    subprocess.run([*poppler, str(picture.with_suffix(""))], check=True, timeout=_MOST)


def _printed(text: str, most: int | None) -> nodes.Node:
    """What was printed, as far as it is shown."""
    lines = text.splitlines()
    if most is not None and len(lines) > most:
        lines = [*lines[:most], "…"]
    text = "\n".join(lines)
    return nodes.literal_block(text, text, language="none", classes=["printed"])


def setup(app: Sphinx) -> dict[str, object]:
    """Register the directives; the folders of pages end with the build."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="symattn-docs-"))
    app.connect("build-finished", lambda *_: _FOLDERS.pop().cleanup())
    app.add_directive("file", File)
    app.add_directive("shell", Shell)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
