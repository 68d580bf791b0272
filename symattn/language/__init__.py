"""Equations that people write, as the steps of a derivation, and back.

`texts` cuts a text into lines, `sizes` finds the shapes of all letters together, `making` makes
the matrix expressions, `equations` puts the steps together and `composing` names the parts of one
expression. `revising` puts them on top of a derivation, `writing` writes a derivation so.
"""

from __future__ import annotations


def is_equations_file(name: str) -> bool:
    """Whether a file is a text of equations, by the end of its name."""
    return name.lower().endswith(".eq")
