"""What a program says beside its lines: only what a reader would ask, and true of what is there."""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.documents.code.program import Program
from symattn.nodes.biases import ALiBi
from symattn.nodes.entrywise import Features
from symattn.nodes.masks import (
    AnyOf,
    Causal,
    Dilated,
    Documents,
    Global,
    Padding,
    Prefix,
    Strided,
    Window,
)
from symattn.nodes.normalise import Hardmax, RowRatio
from symattn.nodes.relative import ClippedShift, RelativeShift
from symattn.notation.letters import derived_from
from symattn.step import Step

#: Why rows without a visible key are treated apart.
NO_KEY = "A query that sees no key gets weights 0, not NaN"

#: What is said of nodes whose lines do not tell what they are for.
_TOLD = {
    ALiBi: "The further back a key is, the more is subtracted from its score",
    ClippedShift: "Of the scores by distance each key takes its own; all far ones share the last",
    RelativeShift: "Of the terms by distance each key takes that of its distance from the query",
}


#: Masks of one or two comparisons, which need no words where they stand alone.
_PLAIN = (Causal, Padding, Prefix, Window)


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
    return next((told for node, told in _TOLD.items() if step.expr.has(node)), "")


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

    >>> window = Window(4, 4, sympy.Symbol("window", positive=True), 0)
    >>> seen(AnyOf(window, Global(4, 4, [1])))
    'A query sees its own key and the `window` before it; token 0 sees and is seen by all'
    >>> seen(sympy.MatAdd(Causal(4, 4), Padding(4, 4, 3)))
    'A query sees keys up to its own, and of these only the first 3 keys'
    """
    if isinstance(mask, _PLAIN):
        return ""
    joined = isinstance(mask, AnyOf)
    parts = mask.args if isinstance(mask, AnyOf | sympy.MatAdd) else (mask,)
    everywhere = [_global(part) for part in parts if isinstance(part, Global)]
    near = [keys_seen(part) for part in parts if not isinstance(part, Global)]
    if "" in near or (everywhere and not (joined and near)):
        return ""
    keys = (", and also " if joined else ", and of these only ").join(near)
    return "; ".join([f"A query sees {keys}", *everywhere])


def keys_seen(mask: MatrixExpr) -> str:
    """The keys that a query sees; empty for a mask that has no words here."""
    match mask:
        case Causal():
            return "keys up to its own"
        case Padding():
            return f"the first {_number(mask.length)} keys"
        case Prefix():
            return f"the first {_number(mask.length)} keys and all up to its own"
        case Documents():
            return "keys of its own document"
        case Dilated():
            width, step = map(_number, (mask.width, mask.step))
            return f"its own key and {width} on each side, {step} apart"
        case Strided():
            stride = _number(mask.stride)
            return f"its own key, the {stride} before and every {stride}-th further back"
        case Window() if mask.left == mask.right != sympy.oo:
            return f"keys at most {_number(mask.left)} places away"
        case Window() if sympy.oo not in (mask.left, mask.right):
            sides = [
                f"the {_number(reach)} {side} it"
                for reach, side in ((mask.left, "before"), (mask.right, "after"))
                if reach != 0
            ]
            return " and ".join([", ".join(["its own key", *sides[:-1]]), sides[-1]])
    return ""


def _global(mask: Global) -> str:
    """What a program says of tokens that all see, counted from 0 as there."""
    tokens = [str(token - 1) for token in mask.tokens]
    if len(tokens) == 1:
        return f"token {tokens[0]} sees and is seen by all"
    return f"tokens {', '.join(tokens)} see and are seen by all"


def _number(value: sympy.Expr) -> str:
    return str(value) if value.is_number else f"`{value}`"
