"""A worksheet without its numbers and claims, for a page that writes it anew."""

from __future__ import annotations

from collections.abc import Collection

from symattn.attention.spec import Attention
from symattn.documents.page.worksheet import Tables, in_toml
from symattn.files.toml import parse
from symattn.language.spec import Equations
from symattn.sheets.worksheet import Worksheet

_TOP = ("title", "story", "schema", "equations")
_LEFT_OUT = ("batch", "chunks")  # one calculation is written


def head_of(sheet: Worksheet) -> Tables:
    """The tables of a worksheet that was read; its matrices of masks are among what is given."""
    data = parse(sheet.text, sheet.name)
    top = {key: in_toml(data[key]) for key in _TOP if key in data}
    if sheet.wrt:
        top["gradient"] = in_toml(sheet.wrt)
    table = data.get("attention", {})
    assert isinstance(table, dict)
    attention = {key: in_toml(value) for key, value in table.items() if key not in _LEFT_OUT}
    mask = table.get("mask")
    if isinstance(mask, list) and any(isinstance(row, list) for row in mask):
        del attention["mask"]
    if "mask" in sheet.given and "mask" not in attention and "variant" not in attention:
        attention["mask"] = in_toml("additive")
    return Tables(top, attention, _of_truths(sheet.spec))


def head_of_variant(
    name: str, title: str, spec: Attention, gradient: Collection[str] | None
) -> Tables:
    """The tables of a variant's example, whose heads are those of the spec."""
    attention = {"variant": in_toml(name)}
    for key in ("heads", "kv_heads"):
        count = getattr(spec, key)
        if isinstance(count, int):
            attention[key] = str(count)
    top = {"title": in_toml(title), "schema": "1"}
    if gradient:
        top["gradient"] = in_toml(list(gradient))
    return Tables(top, attention, _of_truths(spec))


def _of_truths(spec: Attention | Equations) -> str:
    """The mask of truth values that are given; keys are chosen as before."""
    choice = spec.key_choice if isinstance(spec, Attention) else None
    return in_toml("boolean" if choice is None else ["boolean", dict([choice])])
