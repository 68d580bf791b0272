"""Rocq, asked whether it accepts theorems: `coqc`, where a machine has it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from itertools import dropwhile
from pathlib import Path
from tempfile import TemporaryDirectory

from symattn.algebra.rocq.terms import library

#: What `coqc` says of a proof that stands on no axiom, and before those that one stands on.
_CLOSED, _AXIOMS = "Closed under the global context", "Axioms:"

#: The axioms of MathComp-Analysis, which theorems about derivatives stand on.
_ANALYSIS = frozenset(
    f"boolp.{name}"
    for name in (
        "constructive_indefinite_description",
        "functional_extensionality_dep",
        "propositional_extensionality",
    )
)


def asked(theorems: Sequence[str], seconds: float) -> list[str]:
    """Why Rocq does not accept each of these files; "" where it does."""
    if shutil.which("coqc") is None:
        return ["there is no coqc" for _ in theorems]
    end, library_folder = time.monotonic() + seconds, Path(_folder().name)

    def compiled(folder: Path, name: str, text: str) -> tuple[str, str]:
        """What is printed, and why the file is not compiled."""
        (folder / name).write_text(text, encoding="utf-8")
        command = ["coqc", "-w", "none", "-Q", str(library_folder), "Symattn", name]
        try:
            ran = subprocess.run(  # noqa: S603  the program is Rocq, found by its name
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=max(end - time.monotonic(), 0.0),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "", f"coqc is not done in {seconds:g} s"
        said = [line for line in ran.stderr.splitlines() if line.strip()]
        return ran.stdout, (said or ["coqc refuses it"])[-1] if ran.returncode else ""

    found = []
    lacking = ""
    if theorems and not (library_folder / "symattn.vo").exists():
        lacking = compiled(library_folder, "symattn.v", library())[1]
    for text in theorems:
        with TemporaryDirectory() as folder:
            printed, why = ("", lacking) if lacking else compiled(Path(folder), "stated.v", text)
        found.append(why or ("" if _is_proven(printed) else "it stands on axioms"))
    return found


@cache
def _folder() -> TemporaryDirectory[str]:
    """Where the library is compiled, once for a process."""
    return TemporaryDirectory(prefix="symattn-")


def _is_proven(printed: str) -> bool:
    """Whether all theorems of a file stand on no axioms but those of MathComp-Analysis."""
    lines = [line for line in printed.splitlines() if not line.startswith(" ")]
    # tactics that were tried may print before
    lines = [*dropwhile(lambda line: line not in (_CLOSED, _AXIOMS), lines)]
    axioms = {line.split(" ")[0] for line in lines if line not in (_CLOSED, _AXIOMS)}
    return bool(lines) and axioms <= _ANALYSIS
