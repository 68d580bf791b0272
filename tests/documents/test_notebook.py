"""Jupyter: notebooks that run, are exported, and hold the same digits; the cell magic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from symattn.sheets.worksheet import read_worksheet
from tests import ROOT
from tests.command import put, run
from tests.extras import package
from tests.gates import CAUSAL, EXAMPLES
from tests.processes import python

nbformat = package("nbformat")


def written(*arguments: str) -> Any:
    """The notebook that ``symattn derive`` writes."""
    ran = run("derive", *arguments, "--format", "ipynb", status=0)
    book = nbformat.reads(ran.stdout, as_version=4)
    nbformat.validate(book)
    return book


def ran(book: Any, folder: Path) -> Path:
    """The notebook after nbclient has run it."""
    nbformat.write(book, folder / "book.ipynb")
    code = (
        "import nbformat, nbclient\n"
        "book = nbformat.read('book.ipynb', as_version=4)\n"
        "nbclient.NotebookClient(book, timeout=120).execute()\n"
        "nbformat.write(book, 'done.ipynb')\n"
    )
    python("-c", code, cwd=folder, check=True, seconds=200, **_own(folder))
    return folder / "done.ipynb"


def _own(folder: Path) -> dict[str, str]:
    """Nothing of the user's."""
    return {"HOME": str(folder), "IPYTHONDIR": str(folder), "JUPYTER_PLATFORM_DIRS": "1"}


def test_a_notebook_shows_each_matrix_once() -> None:
    book = written(str(CAUSAL))
    for cell, below in zip(book.cells, book.cells[1:], strict=False):
        for out in below.get("outputs", ()):
            shown = out.data["text/latex"].removeprefix(r"$\displaystyle ").removesuffix("$")
            assert shown not in cell.source
    boxed = written(str(CAUSAL), "--entry", "weights[2,1]")
    assert r"\boxed{" in "".join(cell.source for cell in boxed.cells)


def test_a_notebook_of_chunks_runs_and_shows_the_digits(tmp_path: Path) -> None:
    decoding = str(ROOT / "examples" / "decoding.toml")
    book = nbformat.read(
        ran(
            written(decoding, "--chunks", "2,1,1", "--steps", "output,K_cached"),
            tmp_path,
        ),
        as_version=4,
    )
    headings = [cell.source.splitlines()[0] for cell in book.cells if cell.source[0] == "#"]
    assert headings == [
        "# Decoding with a cache",
        '## Decoding with a cache, tokens 1 to 2 of 4: "the cat"',
        "### 1. Output",
        '## Decoding with a cache, token 3 of 4: "sat"',
        "### 1. Cached and new keys",
        "### 2. Output",
        '## Decoding with a cache, token 4 of 4: "down"',
        "### 1. Cached and new keys",
        "### 2. Output",
    ]
    shown = [out.data for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    chunks = read_worksheet(decoding).decode([2, 1, 1])
    assert len(shown) == 5
    for data, chunk, name in zip(
        shown,
        (chunks[0], *chunks[1:2] * 2, *chunks[2:] * 2),
        ("output", *("K_cached", "output") * 2),
        strict=True,
    ):
        for row in chunk.evaluation[name].decimals():
            assert all(number in data["text/plain"] for number in row)


def test_a_notebook_of_formulas_in_chunks_runs() -> None:
    book = written(
        "llama", "--chunks", "2", "--symbolic", "--view", "formula", "--size", "tokens=3"
    )
    room: dict[str, Any] = {}
    made: list[str] = []
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(cell.source, room)
            made += map(str, room.pop("derivation", ()))
    assert made == [str(step) for chunk in room["chunks"] for step in chunk.derivation]
    assert len(room["chunks"]) == 2


@pytest.mark.parametrize("source", [*map(str, EXAMPLES), "causal", "grouped-query"])
def test_every_notebook_is_sound_and_its_first_cell_runs(source: str) -> None:
    book = written(source, "--view", "value" if source.endswith(".toml") else "formula")
    room: dict[str, Any] = {}
    exec(next(cell.source for cell in book.cells if cell.cell_type == "code"), room)
    for cell in book.cells[2:]:
        if cell.cell_type == "code" and " = " in cell.source:  # of a chunk
            exec(cell.source, room)
        elif cell.cell_type == "code":
            assert eval(cell.source, room) is not None


def test_the_same_notebook_each_time_and_hostile_text_in_it(tmp_path: Path) -> None:
    text = (
        CAUSAL.read_text("utf-8").replace('"cat"', r"""'a"b\n$'""").replace("# Each", '# """ Each')
    )
    path = put(tmp_path / 'h"ostile.toml', text)
    book = written(str(path))
    assert json.dumps(book) == json.dumps(written(str(path)))
    room: dict[str, Any] = {}
    exec(book.cells[1].source, room)
    assert room["values"].array("X").shape == (3, 2)


@pytest.fixture
def shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "symattn")
    yield made
    InteractiveShell.clear_instance()


def test_the_magic_shows_a_worksheet(shell: Any) -> None:
    page = shell.run_cell_magic("symattn", "--steps weights --digits 3", CAUSAL.read_text("utf-8"))
    shown = page._repr_mimebundle_()
    assert "0.284 & 0.140 & 0.576" in shown["text/markdown"]
    assert "0.284  0.140  0.576" in shown["text/plain"]
    assert "scores" not in shown["text/markdown"]


def test_the_magic_lays_products_out_and_boxes_entries(shell: Any) -> None:
    told = "--steps V,output,weights --notation layout=falk --entry weights[2,1]"
    page = shell.run_cell_magic("symattn", told, CAUSAL.read_text("utf-8"))
    assert "a_21 =" in page.words and "a_22" not in page.words
    assert "┼" in page.words  # Falk's scheme of the output
    assert r"\boxed" in page.markdown or r"\rule" in page.markdown


def test_the_magic_marks_claims(shell: Any) -> None:
    claims = CAUSAL.read_text("utf-8") + '\n[claims]\n"weights[2,:]" = ["0.5", "0.4", "0"]\n'
    page = shell.run_cell_magic("symattn", "--check", claims)
    assert "0.4" in page.words
    assert "0.5" in page.markdown
    assert "you wrote 0.4" in page._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("line", "body", "complaint"),
    [
        ("", "[given]\nQ = [[1, x]]", "cell:2"),
        ("--steps wieghts", "[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]", 'did you mean "weights"'),
        ("--view nothing", "x", "invalid choice"),
        (
            "--check --head 1",
            "[given]\nQ=[[1]]",
            "--head: is for a derivation",
        ),
        ("--digits 'x", "x", "quotation"),
        (
            "--notation layout=flak",
            "[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]",
            "choose one of matrix, falk",
        ),
        ("--entry weights[9,9]", "[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]", "no row 9: rows are 1 to 1"),
        ("--entry first --view formula", "[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]", "entry: appears"),
    ],
)
def test_the_magic_says_what_is_wrong_in_a_line(
    shell: Any, line: str, body: str, complaint: str
) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match=complaint):
        shell.run_cell_magic("symattn", line, body)
