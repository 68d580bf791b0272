"""What a program says beside its lines: only what a reader would ask, and true of what is there."""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.documents.code.program import Program
from symattn.nodes.base import remark_of
from symattn.nodes.entrywise import Features
from symattn.nodes.masks import AnyOf, Mask
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
    """Which keys a query sees; nothing of a mask whose line says it, or that has no words here.

    >>> from symattn.nodes.masks import Causal, Global, Padding, Window
    >>> window = Window(4, 4, sympy.Symbol("window", positive=True), 0)
    >>> seen(AnyOf(window, Global(4, 4, [1])))
    'A query sees its own key and the `window` before it; token 0 sees and is seen by all'
    >>> seen(sympy.MatAdd(Causal(4, 4), Padding(4, 4, 3)))
    'A query sees keys up to its own, and of these only the first 3 keys'
    """
    joined = isinstance(mask, AnyOf)
    parts = mask.args if joined or isinstance(mask, sympy.MatAdd) else (mask,)
    plain = len(parts) == 1 and getattr(mask, "word", "") in _PLAIN
    if plain or not all(isinstance(part, Mask) for part in parts):
        return ""
    everywhere = [*filter(None, (part.seen_by_all() for part in parts))]
    near = [part.keys_seen() for part in parts if not part.seen_by_all()]
    if "" in near or (everywhere and not (joined and near)):
        return ""
    keys = (", and also " if joined else ", and of these only ").join(near)
    return "; ".join([f"A query sees {keys}", *everywhere])
