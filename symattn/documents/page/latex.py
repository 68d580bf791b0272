"""What the page needs to write a step in LaTeX: all but the numbers, which it writes itself."""

from __future__ import annotations

from collections.abc import Iterable

from symattn.documents.data import Data
from symattn.documents.latex import displays
from symattn.documents.outline import Section
from symattn.documents.page.matrices import MatrixView
from symattn.notation.latex import latex, text


def latex_data(section: Section, matrix: MatrixView) -> dict[str, Data]:
    """The displays of a step's formula; of each matrix its letter, and whether it is exact.

    Of exact values, whose spelling the page does not know, the whole matrices.
    """
    formulas = tuple(line for line in section.lines if line.view == "formula")
    found: dict[str, Data] = {
        "formulas": [*displays(formulas)],
        "letters": [[latex(one.symbol), int(one.is_exact)] for one in matrix.shown],
    }
    if matrix.notation.exact:
        found["exactly"] = [latex(one.equation) for one in matrix.shown]
    return found


def latex_names(labels: Iterable[str]) -> dict[str, str]:
    r"""The names that are more in LaTeX than ``\text{name}``, and the gaps among them."""
    names = dict.fromkeys((*labels, "⋯", "⋮"))
    return {name: text(name) for name in names if text(name) != rf"\text{{{name}}}"}
