"""Worksheets for the tests of the checker, in few words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from symattn.reports.check import check_worksheet
from symattn.reports.results import Marking
from symattn.sheets.worksheet import worksheet_of

Table = Mapping[str, Any]


def spelled(value: Any) -> str:
    """A value as TOML has it; where there is none, an empty text."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f'"{key}" = {spelled(x)}' for key, x in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spelled, value))}]"
    return json.dumps("" if value is None else value, ensure_ascii=False)


def toml(given: Table, claims: Table, attention: Table | None = None, **policy: Any) -> str:
    """A worksheet; unscaled, unless `attention` says otherwise."""
    tables = {
        "attention": {"scale": False} if attention is None else attention,
        "given": given,
        "claims": claims,
        "policy": policy,
    }
    return "".join(
        f"[{name}]\n" + "".join(f'"{key}" = {spelled(value)}\n' for key, value in table.items())
        for name, table in tables.items()
        if table
    )


def check(
    given: Table,
    claims: Table,
    attention: Table | None = None,
    explain: bool = False,
    **policy: Any,
) -> Marking:
    """The marking of a worksheet."""
    return check_worksheet(worksheet_of(toml(given, claims, attention, **policy)), explain)


def verdicts(marking: Marking) -> dict[str, list[str]]:
    """The verdicts of the entries, step by step."""
    return {mark.name: [entry.verdict for entry in mark.entries] for mark in marking.steps}


def one(given: Table, entry: str, claim: Any, attention: Table | None = None, **policy: Any) -> str:
    """The verdict on a single claimed entry."""
    (found,) = verdicts(check(given, {entry: claim}, attention, **policy)).values()
    (verdict,) = found
    return verdict
