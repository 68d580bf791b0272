"""Symbols that people write in LaTeX: which become MathML, and which are refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from symattn.errors import CannotSpell
from symattn.notation.mathml import mathml
from symattn.notation.tree import Custom


@pytest.mark.parametrize(
    ("latex", "elements"),
    [
        ("W_Q", "msub mi mi"),
        ("W^Q", "msup mi mi"),
        ("W_Q^h", "msubsup mi mi mi"),
        (r"\frac{a}{2}", "mfrac mrow mi mrow mn"),
        (r"\sqrt{a}", "msqrt mrow mi"),
        (r"\sqrt[3]{a}", "mroot mrow mi mn"),
        (r"\tilde{Q}", "mover mrow mi mo"),
        (r"\underline{Q}", "munder mrow mi mo"),
        (r"\int\limits_a^b", "munderover mo mi mi"),
        (r"\text{ab}", "mtext"),
        (r"a\,b", "mi mspace mi"),
        (r"\begin{matrix}a&b\end{matrix}", "mtable mtr mtd mi mtd mi"),
        (r"\displaystyle a", "mstyle mi"),
    ],
)
def test_a_symbol_is_set_with_its_element(latex: str, elements: str) -> None:
    outer, inner, *found = ElementTree.fromstring(mathml(Custom(latex))).iter()
    assert (outer.tag, inner.tag, [each.tag for each in found]) == (
        "mrow",
        "mrow",
        elements.split(),
    )


@pytest.mark.parametrize("latex", ["_Q", r"\phantom{a}", r"\boxed{a}"])
def test_a_symbol_without_sound_mathml_is_refused(latex: str) -> None:
    with pytest.raises(CannotSpell, match="use a simpler symbol"):
        mathml(Custom(latex))
