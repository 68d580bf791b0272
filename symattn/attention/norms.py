"""Norms of queries, keys, values, latent vectors and outputs.

A norm stands before the rotation or after it, over a row of one head or over that of all heads
joined. What it gives may be multiplied by a gain, entry by entry, and moved by a shift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import SHARED, Builder, Choice, Line
from symattn.attention.plan import ONE_PLUS, PER_HEAD
from symattn.attention.words import Word
from symattn.nodes.base import shape_of
from symattn.nodes.entrywise import Entrywise
from symattn.nodes.heads import Concat, Split, head_of
from symattn.nodes.lines import Filled, LineProduct, LineQuotient, LineSum, PlusVector, UnitVectors
from symattn.nodes.norms import LayerNorm, RMSNorm
from symattn.step import HEAD


def _unit(matrix: MatrixExpr, eps: sympy.Expr) -> MatrixExpr:
    """Each row over its length, with ε added to the square: q_i / √(Σ_l q_il² + ε)."""
    if eps == 0:
        return UnitVectors(matrix)
    squares = LineSum(sympy.HadamardProduct(matrix, matrix))
    total = sympy.MatAdd(squares, Filled(*shape_of(squares), eps))
    return LineQuotient(matrix, Entrywise(total, "√"))


@dataclass(frozen=True)
class Normalisation(Choice):
    """A row of the norm axis: the norm of a matrix, by its ε, and where it was published."""

    of: Callable[..., MatrixExpr] = RMSNorm
    source: str = ""


_OPTIONS = ("eps", "gain", "shift", "joined", "rotated")

#: The choices of the norm axis.
NORMALISATIONS: Mapping[str, Normalisation] = {
    "rms": Normalisation(options=_OPTIONS, of=RMSNorm, source=RMSNorm.source),
    "layer": Normalisation(options=_OPTIONS, of=LayerNorm, source=LayerNorm.source),
    "l2": Normalisation(options=_OPTIONS, of=_unit, source="Henry et al. 2020, section 3.1"),
}


@dataclass(frozen=True)
class Place:
    """A step that may be normalised: its letter, what it holds, and why that is done."""

    letter: str
    holds: str
    why: str
    shared: bool = False
    grouped: bool = False

    def words(self, name: str) -> tuple[Word, ...]:
        """What comes of it, its gain and its shift, and what all heads have of it together."""
        facts: dict[str, Any] = {"shared": self.shared, "grouped": self.grouped}
        vector: dict[str, Any] = {"learned": True, "rows": 1, **facts}
        start = self.letter if "_" in self.letter else f"{self.letter}_"
        plain = self.letter.replace("_", "")
        return (
            Word(
                f"{name}_normed",
                f"{start}norm",
                title=f"normalised {self.holds}",
                rule="norm",
                why=self.why,
                **facts,
            ),
            Word(f"g_{name}", f"g_{plain}", title=f"gain of the {self.holds}", **vector),
            Word(f"s_{name}", f"s_{plain}", title=f"shift of the {self.holds}", **vector),
            Word(
                f"{name}_all",
                f"{start}all",
                title=f"{self.holds} of all heads",
                shared=True,
                rule="concatenation",
                why="The norm is one of the whole row of a token, so the heads are joined.",
            ),
        )


#: What may be normalised, by the names of steps, in the order in which they are made.
PLACES: Mapping[str, Place] = {
    "Q_latent": Place(
        "C_Q",
        "latent vectors of the queries",
        "The norm fixes the size of each latent vector before queries are made of it.",
        shared=True,
    ),
    "Q": Place(
        "Q",
        "queries",
        "The norm fixes the size of each query, so that scores cannot grow with it.",
    ),
    "latent": Place(
        "C_KV",
        "latent vectors",
        "The norm fixes the size of each latent vector before keys and values are made of it.",
        shared=True,
    ),
    "K": Place("K", "keys", "The keys are normalised in the same way.", grouped=True),
    "V": Place("V", "values", "The norm fixes the size of each value.", grouped=True),
    "output": Place(
        "O",
        "outputs",
        "The norm fixes the size of each output, however evenly the weights are spread.",
    ),
    "concat": Place(
        "H",
        "concatenated heads",
        "The norm fixes the size of each row before the output projection.",
        shared=True,
    ),
}

#: The words that only norms have.
NORM_WORDS = tuple(word for name, place in PLACES.items() for word in place.words(name))


def norm_lines(name: str, operand: str, rotated: bool = False) -> tuple[Line, ...]:
    """The step that normalises a matrix, by each norm, before or after the rotation."""
    return tuple(
        Line(
            f"{name}_normed",
            operand,
            when=f"{name}-{kind}{'-rotated' if rotated else ''}",
            node=partial(_normed, name),
            source=row.source,
        )
        for kind, row in NORMALISATIONS.items()
    )


def _normed(name: str, b: Builder, matrix: MatrixExpr) -> MatrixExpr:
    """The norm of each row, of one head or of all together, times its gain, plus its shift."""
    options, each = b.plan.norm_of(name), b.kind(f"{name}_normed")
    joined = bool(options.get("joined")) and head_of(matrix) is not None
    whole, count = matrix, b.number(each)
    if joined:
        whole = b.step(f"{name}_all", Concat(matrix, HEAD, count))
    out = NORMALISATIONS[options["kind"]].of(whole, options.get("eps", sympy.S.Zero))
    if joined:
        out = Split(out, HEAD, count)

    def vector(letter: str, said: object) -> MatrixExpr:
        own = each if joined or said == PER_HEAD else SHARED
        return b.given(f"{letter}_{name}", own, columns=shape_of(matrix)[1])

    gain, shift = options.get("gain"), options.get("shift")
    if gain:
        factor = vector("g", gain)
        if gain == ONE_PLUS:
            factor = sympy.MatAdd(Filled(*shape_of(factor), 1), factor)
        out = LineProduct(out, factor, 0)
    return PlusVector(out, vector("s", shift)) if shift else out
