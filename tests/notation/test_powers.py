"""Powers, roots, signs and transposes read back: what is printed has one meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from latex2mathml.converter import convert

from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree

A, B = 7.0, 3.0
a, b = t.Ident("a"), t.Ident("b")
TWO, THREE = t.Num("2"), t.Num("3")
tanh: Callable[[Tree], Tree] = lambda body: t.call(t.Ident("tanh", roman=True), body)  # noqa: E731
NOTATION = Notation()

#: Trees and what they mean at a = 7, b = 3.
CASES: dict[str, tuple[Tree, float]] = {
    "square of a root": (t.power(t.Root(a), TWO), math.sqrt(A) ** 2),
    "cube of a root": (t.power(t.Root(a), THREE), math.sqrt(A) ** 3),
    "root of a cube": (t.Root(t.power(a, THREE)), math.sqrt(A**3)),
    "square of the root of a sum": (t.power(t.Root(t.plus([a, b])), THREE), math.sqrt(A + B) ** 3),
    "root of a root": (t.Root(t.Root(a)), math.sqrt(math.sqrt(A))),
    "root over": (t.Frac(t.Root(a), b), math.sqrt(A) / B),
    "root of a fraction": (t.Root(t.Frac(a, b)), math.sqrt(A / B)),
    "power of a function": (t.power(tanh(a), TWO), math.tanh(A) ** 2),
    "function of a power": (tanh(t.power(a, TWO)), math.tanh(A**2)),
    "power of a fraction": (t.power(t.Frac(a, b), TWO), (A / B) ** 2),
    "power of a negative": (t.power(t.row(t.MINUS, a), TWO), A**2),
    "negative power": (t.negated(t.power(a, TWO)), -(A**2)),
    "power of minus a function": (t.power(t.row(t.MINUS, tanh(a)), TWO), math.tanh(A) ** 2),
    "power of a power": (t.power(t.power(a, TWO), THREE), A**6),
    "power of e": (t.power(t.power(t.Ident("e"), b), TWO), math.exp(B) ** 2),
    "power of a fractional power": (
        t.power(t.power(a, t.row(TWO, t.Op("/"), THREE)), TWO),
        A ** (4 / 3),
    ),
    "power of a product": (t.power(t.times([a, b]), TWO), (A * B) ** 2),
    "power of a sum": (t.power(t.plus([a, b]), TWO), (A + B) ** 2),
    "power of a remainder": (t.power(t.row(a, t.Text(" mod "), b), TWO), (A % B) ** 2),
    "product with a root's square": (t.times([TWO, t.power(t.Root(a), THREE)]), 2 * A**1.5),
    "power of a size": (t.power(t.Fenced(t.row(t.MINUS, a), "|", "|"), THREE), A**3),
}

RAISED = {"²": 2, "³": 3}


class Reader:
    """Text of a formula in the letters a, b and e; a root takes the one thing behind it."""

    def __init__(self, source: str) -> None:
        self.tokens = re.findall(r"tanh|mod|\d+|[abe√²³()|+−/^]", source)
        assert "".join(self.tokens) == source.replace(" ", ""), source

    def take(self, *wanted: str) -> str:
        """The next token, if it is one of these."""
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else ""

    def value(self) -> float:
        """All of it."""
        found = self.sum()
        assert not self.tokens, self.tokens
        return found

    def sum(self) -> float:
        """Terms."""
        found = -self.product() if self.take("−") else self.product()
        while sign := self.take("+", "−"):
            found += self.product() if sign == "+" else -self.product()
        return found

    def product(self) -> float:
        """Factors, quotients and remainders, from left to right."""
        found = self.power()
        while self.tokens and self.tokens[0] not in ")|+−":
            if self.take("/"):
                found /= self.power()
            elif self.take("mod"):
                found %= self.power()
            else:
                found *= self.power()
        return found

    def power(self) -> float:
        """A base and its exponents; a root is no base, since one cannot tell how far it goes."""
        rooted = self.tokens[0] == "√"
        base = self.atom()
        while exponent := self.take("²", "³", "^"):
            assert not rooted, "√a²: the square of a root, or the root of a square?"
            if exponent == "^":
                base **= self.atom()
            else:
                base **= RAISED[exponent]
        return base

    def atom(self) -> float:
        """A letter, a number, a function's value, a root, or what stands in brackets."""
        token = self.tokens.pop(0)
        if token == "√":
            assert self.tokens[0] != "√"
            return math.sqrt(self.atom())
        if token in ("(", "|", "tanh"):
            if token == "tanh":
                assert self.take("(")
            found = self.sum()
            assert self.take(")", "|")
            return {"(": found, "|": abs(found), "tanh": math.tanh(found)}[token]
        return {"a": A, "b": B, "e": math.e}[token] if token in "abe" else float(token)


def from_mathml(source: str) -> str:
    """MathML as text in which every group has its brackets."""

    def told(element: ElementTree.Element) -> str:
        inside = [told(child) for child in element]
        match element.tag.rpartition("}")[2]:
            case "msup" if inside[0] in (")", "|"):  # as the converter has (a + b)^2
                return f"{inside[0]}^({inside[1]})"
            case "msup":
                return f"({inside[0]})^({inside[1]})"
            case "mfrac":
                return f"(({inside[0]})/({inside[1]}))"
            case "msqrt":
                return f"(√({' '.join(inside)}))"
            case "mrow" | "math" | "mstyle":
                return " ".join(inside)
        return (
            (element.text or "")
            .replace("\u2061", "")
            .replace("\u2062", "")
            .replace("-", "−")
            .replace("\xa0", " ")
        )

    return (
        told(ElementTree.fromstring(source)).replace("( tanh )", "tanh").replace("(tanh)", "tanh")
    )


@pytest.mark.parametrize("name", CASES)
def test_text_has_one_meaning(name: str) -> None:
    tree, value = CASES[name]
    assert Reader(line(tree)).value() == pytest.approx(value), line(tree)


@pytest.mark.parametrize("name", CASES)
def test_mathml_has_one_meaning(name: str) -> None:
    tree, value = CASES[name]
    printed = from_mathml(mathml(tree))
    assert Reader(printed).value() == pytest.approx(value), printed


@pytest.mark.parametrize("name", CASES)
def test_latex_has_one_meaning(name: str) -> None:
    """Through a converter that is not ours."""
    tree, value = CASES[name]
    printed = from_mathml(convert(latex(tree)))
    assert Reader(printed).value() == pytest.approx(value), (latex(tree), printed)


def test_what_is_ambiguous_is_noticed() -> None:
    with pytest.raises(AssertionError, match="the square of a root"):
        Reader("√a²").value()


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (NOTATION.transposed(tanh(a)), "tanh(a)ᵀ"),
        (NOTATION.transposed(t.row(t.MINUS, tanh(a))), "(−tanh(a))ᵀ"),
        (NOTATION.transposed(t.Frac(a, b)), "(a/b)ᵀ"),
        (NOTATION.transposed(t.Root(a)), "(√a)ᵀ"),
        (NOTATION.transposed(t.times([a, b])), "(a b)ᵀ"),
        (NOTATION.transposed(t.power(a, TWO)), "(a²)ᵀ"),
        (t.power(NOTATION.transposed(a), TWO), "(aᵀ)²"),
        (NOTATION.transposed(NOTATION.transposed(a)), "(aᵀ)ᵀ"),
        (NOTATION.transposed(NOTATION.in_head(a, t.Ident("i"))), "a⁽ⁱ⁾ᵀ"),
        (NOTATION.transposed(t.Script(a, None, t.Ident("Q"))), "(a^Q)ᵀ"),
    ],
)
def test_a_transpose_is_of_what_stands_before_it(tree: Tree, said: str) -> None:
    assert line(tree) == said
