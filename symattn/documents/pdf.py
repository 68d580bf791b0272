"""LaTeX made into a PDF by the TeX that is installed, in a folder of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from symattn.documents import blocks as b
from symattn.documents import tex
from symattn.errors import SymattnError

#: The programs that are looked for, in this order, and how long one may take.
PROGRAMS = ("pdflatex", "lualatex")
SECONDS = 120

_ERROR = re.compile(r"^! *(.+)", re.MULTILINE)
_MISSING = re.compile(r"^Missing character: There is no (.)", re.MULTILINE)


def write(documents: Sequence[b.Document], flavor: str = "article") -> bytes:
    """The documents; raises `SymattnError` where no TeX is installed, or TeX fails."""
    return pdf_document(tex.write(documents, flavor))


def pdf_document(code: str) -> bytes:
    """The PDF of a LaTeX file that needs nothing beside itself.

    Raises `SymattnError` where no TeX is installed, where there is no font for a character, and
    with TeX's first error where it fails.
    """
    strange = tex.beyond_pdflatex(code)
    programs = [name for name in PROGRAMS if not strange or name != "pdflatex"]
    program = next(filter(None, map(shutil.which, programs)), None)
    if program is None and strange and shutil.which("pdflatex"):
        raise SymattnError(
            f"pdf: pdflatex has no font for {strange!r}, and lualatex is not installed; install it "
            "(texlive-luatex), or use other names"
        )
    if program is None:
        wanted = " or ".join(PROGRAMS)
        raise SymattnError(
            f"pdf: no TeX is installed ({wanted}); install TeX Live, or take the format "
            "tex and compile that elsewhere"
        )
    name = Path(program).stem
    with tempfile.TemporaryDirectory(prefix="symattn-") as folder:
        (Path(folder) / "page.tex").write_text(code, encoding="utf-8")
        command = [
            program,
            "-no-shell-escape",
            "-interaction=nonstopmode",
            "-halt-on-error",
            "page.tex",
        ]
        for _ in range(1 + (r"\eqref" in code or r"\begin{frame}" in code)):
            try:
                ran = subprocess.run(  # noqa: S603  the program is TeX, found by its name
                    command,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise SymattnError(f"pdf: {name} did not finish within {SECONDS} s") from None
            if ran.returncode:
                error = _ERROR.search(ran.stdout.decode("utf-8", "replace"))
                words = error[1] if error else f"status {ran.returncode}"
                raise SymattnError(f"pdf: {name} failed: {words[:200]}")
        log = (Path(folder) / "page.log").read_text("utf-8", "replace")
        missing = "".join(dict.fromkeys(_MISSING.findall(log)))
        if missing:
            fonts = ", ".join(tex.FALLBACK)
            raise SymattnError(
                f"pdf: no font here has {missing[:20]}; install one that does (of {fonts}), or use "
                "other names"
            )
        return _pages(Path(folder) / "page.pdf")


def _pages(path: Path) -> bytes:
    """What TeX has written. Raises `SymattnError` where that is nothing."""
    found = path.read_bytes() if path.exists() else b""
    if not found:
        raise SymattnError("pdf: there is nothing on its pages")
    return found
