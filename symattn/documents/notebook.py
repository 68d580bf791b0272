"""Blocks as a Jupyter notebook: a cell of Markdown for each part, and the Python between them.

What the Python shows stands below it already, so that a reader sees it who runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symattn.documents.blocks import Block, Break, Document, Notebook
from symattn.documents.markdown import DOLLARS, markdown_blocks
from symattn.errors import SymattnError
from symattn.notation.markdown import words


def write(documents: Sequence[Document], flavor: str = "") -> str:
    """The notebook as JSON. Raises `SymattnError` where nbformat is missing."""
    try:
        import nbformat
    except ImportError:
        raise SymattnError("ipynb: needs nbformat; pip install 'symattn[notebook]'") from None
    v4: Any = nbformat.v4  # which has no types
    cells: list[Any] = []
    for part in _cells(documents, 1):
        if isinstance(part, str):
            cells.append(v4.new_markdown_cell(part))
            continue
        ran = sum(cell.cell_type == "code" for cell in cells) + 1
        shows = {"data": dict(part.shows), "execution_count": ran}
        outputs = [v4.new_output("execute_result", **shows)] if part.shows else []
        cells.append(v4.new_code_cell(part.code, execution_count=ran, outputs=outputs))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same notebook each time
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.validate(notebook)
    written = str(v4.nbjson.writes(notebook)) + "\n"
    return written.replace("##[", "#\\u0023[")  # a command to runners of workflows


def _cells(blocks: Sequence[Block], level: int) -> Iterator[str | Notebook]:
    """The cells, Markdown or Python; the blocks up to a `Break` or to Python are one."""
    part: list[Block] = []
    for block in (*blocks, Break()):
        if not isinstance(block, Break | Notebook | Document):
            part.append(block)
            continue
        if part:
            yield markdown_blocks(part, DOLLARS, level).rstrip("\n")
            part = []
        if isinstance(block, Notebook):
            yield block
        elif isinstance(block, Document):
            if block.title:
                yield f"{'#' * level} {words(block.title)}"
            yield from _cells(block.blocks, level + 1)
