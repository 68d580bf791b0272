"""What needs an extra, tried in an environment that has it, and in one that has not.

``python -m tests.extras_alone plot PYTHON`` uses each in the environment of that interpreter: the
one named works, the others are refused in one line that names what to install. ``none`` has no
extra, ``every`` all of them. Wants nothing but Python itself; `.ci/package` runs it.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_DERIVE = "-m symattn derive causal --size tokens=2 -o out --format"

#: By extra, the arguments of Python that need it; those of a worksheet are written below.
USES: dict[str, tuple[str, ...]] = {
    "dask": (
        "-c 'from symattn.classroom import pool as p; p.of_dask(\"tcp://127.0.0.1:9\").__enter__()'",
    ),
    "plot": (f"{_DERIVE} png",),
    "mkdocs": ("-c 'import symattn.mkdocsext'",),
    "notebook": (f"{_DERIVE} ipynb", "-c 'import symattn.ipython'"),
    "parquet": (
        "-c 'from symattn.classroom import submissions as s; [*s.submissions_in(\"a.parquet\")]'",
    ),
    "safetensors": ("-m symattn derive tensors.toml",),
    "sphinx": ("-c 'import symattn.sphinxext, myst_parser'",),
    "word": (f"{_DERIVE} docx",),
    "docs": ("-c 'import furo, sphinx_copybutton, symattn.sphinxext'",),
}

#: What builds the site: no part of the package asks for it, so none names it, and it has what
#: other extras have.
BUILDS = "docs"

_SECONDS = 20


def write_sheets(folder: Path) -> None:
    """A worksheet of a file of tensors, which is written without a package."""
    folder.joinpath("tensors.toml").write_text(
        '[given]\nscores = "s.safetensors:S"\n[attention]\nd_k = 1\n'
    )
    header = json.dumps({"S": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}).encode()
    tensor = struct.pack("<Q", len(header)) + header + struct.pack("<2f", 0, 0)
    folder.joinpath("a.parquet").write_bytes(b"PAR1")
    folder.joinpath("s.safetensors").write_bytes(tensor)


def refusal(python: str, words: str, folder: Path) -> str | None:
    """The last line of standard error where it fails, None where it works."""
    command = f"exec {python} {words}"
    ran = subprocess.run(  # what it is given stands in `USES`
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if ran.returncode == 0:
        return None
    if "-m symattn" in words and ran.stderr.count("\n") != 1:
        return f"more than a line: {ran.stderr}"
    return ran.stderr.strip().rpartition("\n")[2]


def complaints(there: str, python: str) -> list[str]:
    """What is not as it should be in the environment of an interpreter with this extra."""
    found = []
    with TemporaryDirectory() as folder:
        write_sheets(Path(folder))
        for extra, uses in USES.items():
            for words in uses:
                said = refusal(python, words, Path(folder))
                if there in (extra, "every"):
                    found += [f"{extra}: {words}: {said}"] if said is not None else []
                elif BUILDS not in (there, extra) and (
                    said is None or f"symattn[{extra}]" not in said
                ):
                    found.append(f"without {extra}: {words}: {said or 'is not refused'}")
    return found


if __name__ == "__main__":
    wrong = complaints(sys.argv[1], str(Path(sys.argv[2]).absolute()))
    print("\n".join(wrong) or f"{sys.argv[1]}: as it should be")
    sys.exit(bool(wrong))
