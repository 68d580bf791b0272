"""A derivation as JSON for other programs: formulas, exact values, decimals, enclosures."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sympy.printing.str import StrPrinter

from symattn.arithmetic.base import Array, elementwise
from symattn.derivations import Check, Evaluation, Input, Item, Step, defined_numbers
from symattn.documents.costs import costs_data
from symattn.documents.shown import Shown
from symattn.documents.unseeing import unseeing
from symattn.merging import lettered
from symattn.nodes.base import used
from symattn.nodes.spell import Speller
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree

SCHEMA = 1

#: What JSON holds: texts, numbers, lists, tables.
Data: TypeAlias = Any

#: Exact values of larger matrices are written only on request, as each may hold a term for every
#: key, and so are those with more parts (numbers, signs, functions), kilobytes each.
MOST_EXACT, LONGEST_EXACT = 256, 1000

#: What a terminal, an editor or a runner of workflows acts on rather than shows, and what UTF-8
#: does not have; JSON has an escape for it.
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\uffff]|#(?=#[A-Za-z]*\\[)"
)

_EXACTLY = StrPrinter({"order": "none"})


def json_document(shown: Shown) -> str:
    """The document as indented JSON; ``inputs`` and ``steps`` are keyed by name, in order."""
    return written(derivation_data(shown)) + "\n"


def json_series(parts: Sequence[Shown], title: str, notes: Sequence[str] = ()) -> str:
    """Several derivations in a row as one JSON document: each as it stands alone, in ``chunks``."""
    data: dict[str, Data] = {"schema": SCHEMA, "title": title}
    data["chunks"] = [derivation_data(replace(part, notes=())) for part in parts]
    if notes:
        data["notes"] = list(notes)
    return written(data) + "\n"


def derivation_data(shown: Shown) -> dict[str, Data]:
    """A derivation as plain data, of the items that are named where there are any."""
    derivation, evaluation, only = shown.derivation, shown.evaluation, shown.only
    data: dict[str, Data] = {"schema": SCHEMA, "title": derivation.title}
    if derivation.story:
        data["story"] = derivation.story
    data["sizes"] = (evaluation or derivation).known_sizes
    data["labels"] = {str(size): list(names) for size, names in derivation.labels.items()}
    items = (*derivation.inputs, *derivation.steps)
    notation = lettered(items, derivation.size_symbols, shown.notation)
    data["digits"] = notation.digits
    data["convention"] = notation.convention
    data["inputs"] = {
        item.name: _input(item, evaluation, notation)
        for item in derivation.inputs
        if not only or item.name in only
    }
    data["steps"] = {
        step.name: _step(step, evaluation, notation)
        for step in derivation.steps
        if not only or step.name in only
    }
    if shown.check is not None:
        data["check"] = _check(shown.check)
    if shown.cost:
        data["cost"] = costs_data(shown)
    if shown.notes:
        data["notes"] = list(shown.notes)
    return data


def _is_short(value: dict[str, Data]) -> bool:
    """Whether an object stands on one line: nothing in it but scalars and a few numbers."""
    flat = all(
        not isinstance(part, dict | list)
        or (
            isinstance(part, list)
            and len(part) < 4
            and not any(isinstance(x, dict | list) for x in part)
        )
        for part in value.values()
    )
    return flat and len(json.dumps(value)) < 100


def written(value: Data, indent: str = "") -> str:
    """JSON with an object's keys and a matrix's rows on lines of their own."""
    deeper = indent + "  "
    if isinstance(value, dict) and value and (indent == "" or not _is_short(value)):
        pairs = (f"{deeper}{written(key)}: {written(part, deeper)}" for key, part in value.items())
        return "{\n" + ",\n".join(pairs) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        lines = (f"{deeper}{written(part, deeper)}" for part in value)
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return _HIDDEN.sub(lambda c: f"\\u{ord(c[0]):04x}", json.dumps(value, ensure_ascii=False))


def _input(item: Input, evaluation: Evaluation | None, notation: Notation) -> dict[str, Data]:
    out: dict[str, Data] = {
        "symbol": _spelled(Speller(notation).matrix(item.symbol)),
        "meaning": item.meaning,
    }
    return out | _value(item, evaluation, notation)


def _step(step: Step, evaluation: Evaluation | None, notation: Notation) -> dict[str, Data]:
    out: dict[str, Data] = {
        "symbol": _spelled(Speller(notation).matrix(step.symbol)),
        "formula": _spelled(step.formula(notation)),
        "entry": _spelled(step.entry(notation)),
        "where": [*map(_spelled, _definitions(step, evaluation, notation))],
        "rule": step.rule,
        "reason": " ".join(filter(None, (step.reason, unseeing(evaluation, step, notation)))),
        "source": step.source,
    }
    return out | _value(step, evaluation, notation)


def _definitions(step: Step, evaluation: Evaluation | None, notation: Notation) -> Iterator[Tree]:
    """What the letters of the entry stand for, each with its numbers where there are any."""
    printed = (step.formula(notation), step.entry(notation))
    for definition in used(step.definitions(notation), printed):
        yield definition.statement
        if evaluation is not None:
            yield from defined_numbers(evaluation, definition, notation)


def _spelled(tree: Tree) -> dict[str, str]:
    return {"text": line(tree), "latex": latex(tree), "mathml": mathml(tree)}


def _value(item: Item, evaluation: Evaluation | None, notation: Notation) -> dict[str, Data]:
    """Shape and, where there are numbers, the values; three levels are [head][row][column]."""
    if evaluation is None:
        return {"shape": notation.sides(map(str, item.shape))}
    array = evaluation.array(item.letter)
    digits = evaluation.all_digits(item.letter, notation)
    decimals = elementwise(lambda one: one.text, digits)
    is_exact = elementwise(lambda one: one.exact, digits)
    out = {
        "shape": _turned(decimals, notation).shape,
        "exact": None,
        "decimals": _turned(decimals, notation).tolist(),
        "decimals_are_exact": _turned(is_exact, notation).tolist(),
        "decimals_are_proven": all(one.proven for one in digits.flat),
        "enclosures": _turned(
            evaluation[item.name].enclosures(notation.digits + 16), notation
        ).tolist(),
    }
    long = evaluation.longest_exact(item.letter) if array.size <= MOST_EXACT else 0
    if not notation.limit or (array.size <= MOST_EXACT and long <= LONGEST_EXACT):
        exact = elementwise(_EXACTLY.doprint, evaluation.exact(item.letter))
        out["exact"] = _turned(exact, notation).tolist()
    else:
        many, size = ("entries", MOST_EXACT) if not long else ("parts in an entry", LONGEST_EXACT)
        out["exact_left_out"] = f"more than {size} {many}"
    return out


def _turned(table: Array, notation: Notation) -> Array:
    """The table with tokens as rows, or as columns."""
    return table.swapaxes(-1, -2) if notation.flipped else table


def _check(check: Check) -> dict[str, Data]:
    return {
        "dtype": check.dtype,
        "agrees": check.agrees,
        "steps": {
            step.name: {
                "shape": list(step.shape),
                "largest_error": _finite(step.error),
                "ulps": _finite(step.ulps),
                "worst": [index + 1 for index in step.worst],
                "tolerance": _finite(step.tolerance),
                "agrees": step.agrees,
                "failed": None if step.failed is None else [index + 1 for index in step.failed],
                "overflowed": step.overflowed,
            }
            for step in check.steps
        },
    }


def _finite(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)
