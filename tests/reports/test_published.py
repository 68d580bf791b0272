"""Published worked examples come out right, through worksheets, as their readers would run them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests import ROOT
from tests.command import run

PUBLISHED: dict[str, Any] = tomllib.loads(
    (ROOT / "tests/data/published.toml").read_text(encoding="utf-8")
)

#: Printed for one query only: which row of ours is theirs, by example.
ONE_ROW = {"raschka_trainable_row2": 1}


def worksheet(example: dict[str, Any]) -> str:
    """The example as the text of a worksheet."""
    lines = []
    for table, keys in example["worksheet"].items():
        lines.append(f"[{table}]")
        lines += [f'"{key}" = {json.dumps(value)}' for key, value in keys.items()]
    return "\n".join(lines)


def derive(text: str, digits: int) -> dict[str, Any]:
    """What the command line derives from a worksheet, as JSON."""
    result = run("derive", "-", "--format", "json", "--digits", str(digits), given=text, status=0)
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def entries(nested: Any) -> Iterator[Any]:
    """The numbers of nested lists, in order."""
    for item in nested:
        if isinstance(item, list):
            yield from entries(item)
        else:
            yield item


def close(printed: str, truth: str) -> bool:
    """Equal to the 12 significant digits of the truth."""
    if "inf" in truth:
        return printed == truth
    ours, theirs = Decimal(printed), Decimal(truth)
    return abs(ours - theirs) <= max(abs(theirs), Decimal("1e-12")) * Decimal("1e-11")


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_example(name: str) -> None:
    example = PUBLISHED[name]
    derived = derive(worksheet(example), digits=30)
    compared = 0
    for step, truth in example["truth"].items():
        found = (derived["steps"] | derived["inputs"]).get(step)
        if found is None:
            assert step in ("Q", "K", "V", "scores")
            continue
        decimals = found["decimals"]
        if name in ONE_ROW and len(truth) == 1:
            decimals = [decimals[ONE_ROW[name]]]
        pairs = list(zip(entries(decimals), entries(truth), strict=True))
        assert all(close(printed, true) for printed, true in pairs), (step, decimals, truth)
        compared += len(pairs)
    assert compared >= 2
    assert derived["check"]["agrees"]


def test_a_wrong_truth_is_noticed() -> None:
    assert not close("0.3040212535", "0.304021253546")
    assert not close("-inf", "0")
    assert close("0.304021253546112", "0.304021253546")


#: Hand-built heads: for each query that has something to find, the key that it finds.
LOOKS_AT = {
    "head_next_token": {0: 1, 1: 2, 2: 3, 3: 0},
    "head_previous_token": {0: 0, 1: 0, 2: 1, 3: 2},
    "head_last_token": {0: 3, 1: 3, 2: 3, 3: 3},
    "head_it_cat": {2: 0},
    "head_it_trophy": {2: 0},
}


@pytest.mark.parametrize("name", LOOKS_AT)
def test_a_hand_built_head_looks_where_it_says(name: str) -> None:
    path = ROOT / f"examples/{name}.toml"
    rows = derive(path.read_text(encoding="utf-8"), 6)["steps"]["weights"]["decimals"]
    for query, row in enumerate(rows):
        weights = [Decimal(weight) for weight in row]
        if query in LOOKS_AT[name]:
            assert weights[LOOKS_AT[name][query]] > Decimal("0.6")
        else:
            assert len(set(weights)) == 1
