"""A derivation as a Jupyter notebook: every step explained, and a cell to look at its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symattn.documents.markdown import markdown_section
from symattn.documents.outline import Outline
from symattn.errors import SymattnError
from symattn.notation.markdown import words


def notebook_document(
    title: str, code: str, parts: Sequence[tuple[Outline, str]], values: bool
) -> str:
    """The notebook as JSON: `code`, which runs first, and the steps of each outline.

    The code beside an outline makes its ``derivation`` and, where there are `values`, those; none
    where what runs first has made them. An outline with code of its own has its title as a heading.
    Raises `SymattnError` where nbformat is missing.
    """
    try:
        import nbformat
    except ImportError:
        raise SymattnError("ipynb: needs nbformat; pip install 'symattn[notebook]'") from None
    v4: Any = nbformat.v4  # which has no types
    cells: list[Any] = [v4.new_markdown_cell(f"# {words(title or 'Attention')}")]
    cells.append(v4.new_code_cell(code))
    for kind, text in (cell for part in parts for cell in _part(*part, values)):
        cell_of = v4.new_markdown_cell if kind == "markdown" else v4.new_code_cell
        cells.append(cell_of(text))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same notebook each time
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.validate(notebook)
    return str(v4.nbjson.writes(notebook)) + "\n"


def _part(outline: Outline, code: str, values: bool) -> Iterator[tuple[str, str]]:
    """The cells of one outline, each with its kind."""
    level = "##"
    if code:
        yield "markdown", f"## {words(outline.title)}"
        yield "code", code
        level = "###"
    if outline.given:
        given = (markdown_section(section, "github") for section in outline.given)
        yield "markdown", "\n\n".join([f"{level} Given", *given])
    for section in outline.steps:
        heading = f"{level} {section.number}. {words(section.name)}"
        yield "markdown", f"{heading}\n\n{markdown_section(section, 'github')}"
        expression = f'values["{section.name}"]' if values else f'derivation["{section.name}"]'
        yield "code", expression
    for note in outline.notes:
        yield "markdown", words(note)
