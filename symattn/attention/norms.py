"""Norms of queries, keys, values, latent vectors and outputs.

A norm stands before the rotation or after it, over a row of one head or over that of all heads
joined. What it gives may be multiplied by a gain, entry by entry, and moved by a shift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.builder import SHARED, Builder, Choice, Line
from symattn.attention.plan import ONE_PLUS, PER_HEAD
from symattn.attention.words import Word
from symattn.nodes.base import shape_of
from symattn.nodes.heads import Concat, head_of
from symattn.nodes.norms import NORMS, l2_of_part, one_plus, with_gain
from symattn.step import HEAD


@dataclass(frozen=True)
class Normalisation(Choice):
    """A row of the norm axis: the norm of a part of a row, by the row and ε; its publication."""

    of: Callable[[MatrixExpr, MatrixExpr, sympy.Expr], MatrixExpr] = field(kw_only=True)
    source: str = ""


_OPTIONS = ("eps", "gain", "shift", "joined", "rotated")

#: The choices of the norm axis.
NORMALISATIONS: Mapping[str, Normalisation] = {
    **{
        norm.kind: Normalisation(options=_OPTIONS, of=norm.of_part, source=norm.source)
        for norm in NORMS.values()
    },
    "l2": Normalisation(options=_OPTIONS, of=l2_of_part, source="Henry et al. 2020, section 3.1"),
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
        normed = Word(
            f"{name}_normed",
            f"{start}norm",
            title=f"normalised {self.holds}",
            rule="norm",
            why=self.why,
            **facts,
        )
        gain, shift = f"gain of the {self.holds}", f"shift of the {self.holds}"
        own = (
            normed,
            Word(f"gain_{name}", f"alpha_{plain}", title=gain, **vector),
            Word(f"shift_{name}", f"b_{plain}norm", title=shift, **vector),
        )
        if self.shared:
            return own
        joined = Word(
            f"{name}_all",
            f"{start}all",
            title=f"{self.holds} of all heads",
            shared=True,
            rule="concatenation",
            why="The norm is one of a token's whole row, so the heads are joined.",
        )
        return (*own, joined)


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
    row = b.step(f"{name}_all", Concat(matrix, HEAD, b.number(each))) if joined else matrix
    out = NORMALISATIONS[options["kind"]].of(matrix, row, options.get("eps", sympy.S.Zero))

    def learned(option: str) -> MatrixExpr:
        own = each if joined or options[option] == PER_HEAD else SHARED
        return b.given(f"{option}_{name}", own, columns=shape_of(matrix)[1])

    gain = learned("gain") if options.get("gain") else None
    shift = learned("shift") if options.get("shift") else None
    if options.get("gain") == ONE_PLUS:
        gain = one_plus(gain)
    return with_gain(out, gain, shift)
