"""From a zip archive, where no file of the package is one of the system, everything works."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from symattn.cli import main
from symattn.documents.job import FORMATS

ROOT = Path(__file__).parents[1]

#: What needs a program of the system, or a file of numbers beside it, is tried elsewhere.
COMMANDS = {
    "derive sheet.toml --gradient X": "grad",
    "check sheet.toml": "",
    "check sheet.toml --format html": "<!DOCTYPE html>",
    "check sheet.toml --format sarif": "sarif",
    "prove shift": "equal",
    "derive softmax(2,1,0) --gradient all": "Jacobian",
    "variants": "causal",
    "examples": "it_cat_mat",
    "examples it_cat_mat -o copied.toml": "",
    "render page.md": "",
    "new causal --size tokens=2": "variant",
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
    with zipfile.PyZipFile(str(folder / "symattn.zip"), "w") as archive:
        archive.writepy(str(ROOT / "symattn"))
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


#: Runs commands, as they are asked for in JSON, with the package of the archive.
_RUN = """
import json, sys
sys.path.insert(0, "symattn.zip")
import symattn.cli
from click.testing import CliRunner
assert ".zip" in symattn.__file__, symattn.__file__
run = CliRunner().invoke
ran = [run(symattn.cli.main, words, prog_name="symattn") for words in json.load(sys.stdin)]
json.dump([(one.exit_code, one.stdout, one.stderr) for one in ran], sys.stdout)
"""


def run(place: Path, *commands: str) -> list[tuple[int, str, str]]:
    """The status and what is printed of each command, one after the other in one process."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _RUN],
        input=json.dumps([words.split() for words in commands]),
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[tuple[int, str, str]] = json.loads(done.stdout)
    return found


def test_every_format_is_written_from_an_archive(place: Path) -> None:
    forms = [form for form in FORMATS if form != "pdf"]
    found = run(place, *(f"derive sheet.toml --format {form} -o out.{form}" for form in forms))
    for form, (status, _, said) in zip(forms, found, strict=True):
        assert status == 0, (form, said)
        noted = said.replace("1 claim stands in this worksheet; derive does not mark it", "")
        assert noted in ("", "symattn: \n"), form
        assert (place / f"out.{form}").stat().st_size > 100


def test_every_command_works_from_an_archive(place: Path) -> None:
    for (words, wanted), (status, told, said) in zip(
        COMMANDS.items(), run(place, *COMMANDS), strict=True
    ):
        assert "not a directory" not in said
        assert "internal error" not in said
        assert status in (0, 4), (words, said)
        assert wanted.lower() in told.lower(), words


def test_every_command_is_tried() -> None:
    tried = {words.partition(" ")[0] for words in COMMANDS}
    assert set(main.commands) <= tried
