"""What Python and a notebook show of all that the public names give: words, no fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symattn
from symattn import IDENTITIES, VARIANTS, Attention, Notation, decode, equal, prove, variant

GIVEN = {"Q": [[1, 0]], "K": [[1, 1], [0, 1]], "V": [[2], [4]]}
DERIVATION = Attention().derivation()
VALUES = DERIVATION.evaluate(**GIVEN)
BACKWARD = DERIVATION.gradient()
SHEET = "given = {Q = [[1]], K = [[1]], V = [[2]]}\nclaims = {weights = [[1]], output = [[3]]}"


def given() -> Iterator[tuple[str, Any]]:
    """What a user gets, by the call that gives it."""
    yield "Attention()", Attention()
    yield "Attention(mask)", Attention(source="self", mask="causal", heads=2)
    yield "Notation()", Notation(symbols={"weights": "P"})
    yield "derivation", DERIVATION
    yield "merged", DERIVATION.merged(["weights", "output"])
    yield "tangent", DERIVATION.tangent()
    yield "gradient", BACKWARD
    yield "evaluate", VALUES
    yield "check", VALUES.check()
    yield "compare", VALUES.compare(output=np.array([[2.0]]))
    yield "check of a sheet", symattn.check(SHEET)
    yield "capture", Attention().derivation().plan
    for each in (DERIVATION, BACKWARD):
        for item in (*each.inputs, *each.steps):
            yield item.name, item
    for step in (*DERIVATION, *BACKWARD):
        yield f"{step.name}.formula()", step.formula()
        yield f"{step.name}.entry()", step.entry()
    for name in DERIVATION.names:
        yield f"values[{name}]", VALUES[name]
        yield f"values[{name}].worked", VALUES[name].worked(1, 1)
        yield from ((f"values[{name}].trees", tree) for tree in VALUES[name].trees())
        yield f"values[{name}].digits", VALUES[name].digits((0, 0))
    yield from ((f"variant {row.name}", row) for row in VARIANTS)
    yield from ((f"identity {row.name}", row) for row in IDENTITIES)
    yield "variant()", variant("causal")
    yield "prove()", prove(IDENTITIES[0])
    for statement in ("A + B = B + A", "A B = B A", "softmax(S) 1 = ones"):
        answer = equal(statement)
        yield f"equal({statement})", answer
        if answer.counterexample is not None:
            yield f"equal({statement}).counterexample", answer.counterexample
    chunks = decode(
        Attention(source="self", mask="causal"),
        X=np.eye(2),
        W_Q=np.eye(2),
        W_K=np.eye(2),
        W_V=np.eye(2),
    )
    yield from ((f"decode {k}", chunk) for k, chunk in enumerate(chunks))


#: What a record of fields, an object without words or an enumeration of a dataclass looks like.
_PROGRAM = re.compile(r"\w+\(\w+=.*\w+=.*\w+=.*\w+=|object at 0x|Ident\(|items=|MatrixSymbol\(")


def said(thing: Any) -> dict[str, str]:
    """What a notebook shows: by IPython's protocol, its methods before `repr`."""
    if hasattr(thing, "_repr_mimebundle_"):
        shown = thing._repr_mimebundle_()
        assert "text/plain" in shown
        return dict(shown)
    found = {"text/plain": repr(thing)}
    for kind in ("markdown", "html", "latex"):
        method: Callable[[], str] | None = getattr(thing, f"_repr_{kind}_", None)
        if method is not None:
            found[f"text/{kind}"] = method()
    return found


@pytest.mark.parametrize("thing", [pytest.param(x, id=name) for name, x in given()])
def test_no_fields_are_shown(thing: Any) -> None:
    shown = said(thing)
    for kind, words in shown.items():
        assert words.strip(), kind
        assert _PROGRAM.search(words) is None, kind
    if set(shown) == {"text/plain"}:
        assert len(shown["text/plain"]) < 600
    assert "object at 0x" not in str(thing)


def test_tables_are_lists_of_names() -> None:
    assert repr(VARIANTS[:2]) == "(Variant('scaled-dot-product'), Variant('dot-product'))"
    assert len(repr(IDENTITIES)) < 40 * len(IDENTITIES)
    assert eval(repr(Attention(mask="causal", heads=2))) == Attention(mask="causal", heads=2)
    assert repr(Attention(heads=2)) == "Attention(heads=2)"
    assert repr(DERIVATION) == "<Derivation of scores, scaled, weights, output>"
    assert repr(DERIVATION["scores"]) == "<scores: S = Q Kᵀ>"
    assert str(DERIVATION["scores"].formula()) == "S = Q Kᵀ"
    assert repr(DERIVATION["scores"].formula()) == "<S = Q Kᵀ>"


def test_fields_are_noticed() -> None:
    assert _PROGRAM.search(object.__repr__(DERIVATION))
    assert _PROGRAM.search("Row(items=(Ident(name='S', roman=False),))")
