"""From a zip archive, where no file of the package is one of the system, everything works."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from symattn.cli import main
from symattn.documents.job import FORMATS
from tests.shares import share

ROOT = Path(__file__).parents[1]

#: What needs a program of the system, or a file of numbers beside it, is tried elsewhere.
COMMANDS = {
    "derive sheet.toml --gradient X": "grad",
    "check sheet.toml": "",
    "check sheet.toml --format html": "<!DOCTYPE html>",
    "check sheet.toml --format sarif": "sarif",
    "prove shift": "equal",
    "jacobian 2,1,0": "",
    "variants": "causal",
    "examples": "it_cat_mat",
    "examples it_cat_mat -o copied.toml": "",
    "render page.md": "",
    "new causal --tokens 2": "variant",
    "verify mine.py:attention": "agrees",
    "completion bash": "symattn",
    "--help": "derive",
}

SHEET = """
[attention]
source = "self"
d_k = 1
[given]
X = [[1, 0], [0, 1]]
W_Q = [[1], [2]]
W_K = [[1], [0]]
W_V = [[1], [3]]
[claims]
"weights[1,1]" = 0.731
"""

MINE = """
import numpy as np

def attention(Q, K, V):
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    W = np.exp(S - S.max(-1, keepdims=True))
    return W / W.sum(-1, keepdims=True) @ V
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package in an archive, and files to work on."""
    folder = tmp_path_factory.mktemp("zipped")
    with zipfile.ZipFile(folder / "symattn.zip", "w") as archive:
        for path in sorted((ROOT / "symattn").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(ROOT))
        for path in sorted((ROOT / "examples").iterdir()):
            if path.is_file():
                archive.write(path, f"symattn/examples/{path.name}")
    (folder / "sheet.toml").write_text(SHEET)
    (folder / "mine.py").write_text(MINE)
    (folder / "page.md").write_text("# A page\n\n```{attention} sheet.toml\n```\n")
    return folder


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the package in the archive does."""
    code = (
        "import sys; sys.path.insert(0, 'symattn.zip'); import symattn.cli; "
        "assert '.zip' in symattn.__file__, symattn.__file__; "
        "symattn.cli.main(prog_name='symattn')"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *words],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("form", ["html", *share([form for form in FORMATS if form != "pdf"], 4)])
def test_every_format_is_written_from_an_archive(place: Path, form: str) -> None:
    done = run(place, "derive", "sheet.toml", "--format", form, "-o", f"out.{form}")
    assert done.returncode == 0
    noted = done.stderr.replace("1 claim stands in this worksheet; derive does not mark it", "")
    assert noted in ("", "symattn: \n")
    assert (place / f"out.{form}").stat().st_size > 100


@pytest.mark.parametrize("words", share(list(COMMANDS), 3, 1))
def test_every_command_works_from_an_archive(place: Path, words: str) -> None:
    done = run(place, *words.split())
    assert "not a directory" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.returncode in (0, 4), done.stderr
    assert COMMANDS[words].lower() in done.stdout.lower()


def test_every_command_is_tried() -> None:
    tried = {words.partition(" ")[0] for words in COMMANDS}
    assert set(main.commands) <= tried
