"""What a program says beside its lines: only what a reader would ask, and true of what is there."""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.documents.code.program import Program
from symattn.nodes.base import remark_of
from symattn.nodes.entrywise import Features
from symattn.nodes.masks import reason_of
from symattn.nodes.normalise import Hardmax, RowRatio
from symattn.notation.letters import derived_from
from symattn.step import Step

#: Why rows without a visible key are treated apart.
NO_KEY = "A query that sees no key gets weights 0, not NaN"

#: Masks of one or two comparisons, which need no words where they stand alone.
_PLAIN = ("causal", "padding", "prefix", "window")


def why(program: Program, step: Step, *, several: bool) -> str:
    """What is to be said above a step's lines; nothing where they speak for themselves.

    `several`: whether there are several lines.
    """
    if step.letter in program.conditions:
        return seen(step.expr)
    if derived_from(step.letter) is not None:
        return step.reason if several else ""
    if step.expr.has(RowRatio) and not _has(program, Features):
        return "The sum of a row may be 0, since scores can be negative"
    return remark_of(step.expr)


def unscaled(program: Program, step: Step) -> str:
    """A remark beside products whose scale matters and that nothing scales."""
    product = step.logits and isinstance(step.expr, sympy.MatMul)
    if not product or derived_from(step.letter) is not None:
        return ""
    parts = [part for each, _ in program.steps for part in (each, *each.parts)]
    scaled = any(part.rule in ("scaling", "unit vectors") for part in parts)
    cancels = _has(program, RowRatio, Hardmax) or not any(part.weights for part in parts)
    return "" if scaled or cancels else "not divided by √d_k"


def _has(program: Program, *nodes: type) -> bool:
    return any(step.expr.has(*nodes) for step, _ in program.steps)


def seen(mask: MatrixExpr) -> str:
    """Why a mask is there; nothing of one whose line says it, or that is made of a given matrix.

    >>> from symattn.nodes.masks import Causal, Padding
    >>> seen(Causal(4, 4)), seen(sympy.MatAdd(Causal(4, 4), Padding(4, 4, 3)))[-67:]
    ('', 'the key is not later than the query, and if the key is not padding.')
    """
    plain = getattr(mask, "word", "") in _PLAIN or mask.atoms(sympy.MatrixSymbol)
    return "" if plain else reason_of(mask)
