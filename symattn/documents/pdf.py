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


def write(documents: Sequence[b.Document], flavor: str = "article") -> bytes:
    """The documents; raises `SymattnError` where no TeX is installed, or TeX fails."""
    return pdf_document(tex.write(documents, flavor))


def pdf_document(code: str) -> bytes:
    """The PDF of a LaTeX file that needs nothing beside itself.

    Raises `SymattnError` where no TeX is installed, and with TeX's first error where it fails.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
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
        return (Path(folder) / "page.pdf").read_bytes()
