"""What a notebook shows of an object: the same formula as text, as LaTeX and as Markdown."""

from __future__ import annotations

from symattn.notation.markdown import inert


def bundle(words: str, formula: str) -> dict[str, str]:
    """The MIME bundle of a formula; its LaTeX is common to MathJax 2 to 4 and KaTeX."""
    return {
        "text/plain": words,
        "text/latex": rf"$\displaystyle {formula}$",
        "text/markdown": f"$$\n{inert(formula)}\n$$",
    }
