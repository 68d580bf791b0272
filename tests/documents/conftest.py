"""Documents set by TeX."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

#: What a log must not hold; an Overfull box below a point is not seen.
_COMPLAINT = re.compile(
    r"^(!.*|.*Warning: (?!Label\(s\)|Font shape|Some font|Shell escape|Size subst|File `page.out).*"
    r"|Missing character.*"
    r"|Overfull \\[hv]box \((?!0\.)[\d.]+pt.*)$",
    re.MULTILINE,
)

#: Takes a program, a file's text and a folder; gives the complaints.
Typeset = Callable[[str, str, Path], list[str]]

#: A file of somebody's own into which a fragment is put, with LaTeX's usual narrow page.
HOST = (
    "\\documentclass{{article}}\n\\ifdefined\\directlua\\else\\usepackage[T1]{{fontenc}}\\fi\n"
    "\\usepackage{{amsmath,amssymb,graphicx}}\n\\begin{{document}}\n{}\\end{{document}}\n"
)


def failures(complaints: list[str]) -> list[str]:
    """Those about what TeX could not set."""
    return [line for line in complaints if line.startswith("!")]


def words_of(tool: Callable[[str], str], folder: Path, *options: str) -> str:
    """What a reader of page.pdf in this folder finds in it."""
    return subprocess.run(
        [tool("pdftotext"), *options, "page.pdf", "-"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


@pytest.fixture(scope="session")
def typeset(tool: Callable[[str], str]) -> Typeset:
    """The complaints of a program about a file, whose PDF is left in the folder."""

    def run(program: str, source: str, folder: Path) -> list[str]:
        (folder / "page.tex").write_text(source, "utf-8")
        (folder / "page.pdf").unlink(missing_ok=True)
        ran = subprocess.run(
            [tool(program), "-no-shell-escape", "-interaction=nonstopmode", "page.tex"],
            cwd=folder,
            capture_output=True,
            timeout=300,
            check=False,
        )
        log = (folder / "page.log").read_text("utf-8", "replace")
        found = _COMPLAINT.findall(log)
        assert (folder / "page.pdf").exists(), log[-1500:]
        assert (ran.returncode != 0) == any(line.startswith("!") for line in found)
        return found

    return run
