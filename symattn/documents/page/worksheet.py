"""What the page needs to write the worksheet of what stands on it: all but the numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from symattn.derivations import Evaluation, Step
from symattn.nodes.scale import Quotient
from symattn.notation.options import Notation

#: Choices of a notation that a worksheet does not make; the page knows how many decimals it shows.
_ELSEWHERE = ("exact", "limit", "digits")


@dataclass(frozen=True)
class Tables:
    """The tables of a worksheet without its numbers: keys, and their values in TOML.

    `of_truths` is the mask that says the same where its matrix is given as truth values.
    """

    top: Mapping[str, str] = field(default_factory=dict)
    attention: Mapping[str, str] = field(default_factory=dict)
    of_truths: str = '"boolean"'


def in_toml(value: object) -> str:
    """A value in TOML, on one line.

    >>> in_toml({"rotary": {"pairing": "half"}}), in_toml([True, 2, "a"])
    ('{ "rotary" = { "pairing" = "half" } }', '[true, 2, "a"]')
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            inside = ", ".join(f"{in_toml(str(key))} = {in_toml(x)}" for key, x in value.items())
            return f"{{ {inside} }}"
        case Sequence():
            return f"[{', '.join(map(in_toml, value))}]"
    return str(value)


def worksheet_data(
    head: Tables, notation: Notation, evaluation: Evaluation, tempered: Step | None
) -> dict[str, Any]:
    """The data of the page's own writer; `tempered` is what its temperature divides."""
    usual = Notation()
    chosen = [
        f"{one.name} = {in_toml(getattr(notation, one.name))}"
        for one in fields(Notation)
        if one.name not in _ELSEWHERE and getattr(notation, one.name) != getattr(usual, one.name)
    ]
    return {
        "top": dict(head.top),
        "attention": dict(head.attention),
        "notation": chosen,
        "scale": _scale(evaluation, tempered),
        "truths": head.of_truths,
    }


def _scale(evaluation: Evaluation, step: Step | None) -> str:
    """What a step multiplies scores by, as a closed number; "" where it does anything else."""
    if step is None or len(step.operands) != 1:
        return ""
    sizes = dict(evaluation.sizes)
    if isinstance(step.expr, Quotient):
        return f"1/({step.expr.args[1].subs(sizes)})"
    factor, rest = step.expr.as_coeff_mmul()
    return "" if factor == 1 or len(rest.args) != 1 else str(factor.subs(sizes))
