"""The JSON Schema of worksheets: what the reader accepts it accepts; what it can see it refuses.

Held over every worksheet of the tests, every choice of every axis, and worksheets with one thing
changed.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from symattn.errors import SymattnError
from symattn.reports.check import check_worksheet
from symattn.sheets.schema import worksheet_schema
from symattn.sheets.worksheet import worksheet_of
from tests import ROOT
from tests.checking import spelled
from tests.combinations import AXES
from tests.extras import package
from tests.sheets import SHEETS

Draft202012Validator = package("jsonschema").Draft202012Validator
SCHEMA = worksheet_schema()
FILE = ROOT / "docs/_static/worksheet.schema.json"
GIVEN = "[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n"


def accepts(schema: dict[str, Any], data: object) -> bool:
    return bool(Draft202012Validator(schema).is_valid(data))


def is_read(text: str) -> bool:
    try:
        sheet = worksheet_of(text)
        sheet.evaluate()
        if sheet.claims:
            check_worksheet(sheet, explain=False)
    except SymattnError:
        return False
    return True


def written(data: dict[str, Any]) -> str:
    """The tables as TOML."""
    top = [f"{key} = {spelled(x)}" for key, x in data.items() if not isinstance(x, dict)]
    for name, table in data.items():
        if isinstance(table, dict):
            top += [f"[{name}]", *(f"{json.dumps(k)} = {spelled(v)}" for k, v in table.items())]
    return "\n".join(top) + "\n"


def test_it_is_a_schema_and_its_file_is_fresh() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    fresh = json.dumps(SCHEMA, indent=1, ensure_ascii=False) + "\n"
    said = f"{FILE.relative_to(ROOT)}: write it again: python -m tests.claims.test_schema"
    assert FILE.read_text("utf-8") == fresh, said


@pytest.mark.parametrize("name", SHEETS)
def test_every_worksheet_is_accepted(name: str) -> None:
    assert accepts(SCHEMA, tomllib.loads(SHEETS[name]))


@pytest.mark.parametrize("axis", AXES)
def test_every_choice_of_every_axis_is_accepted(axis: str) -> None:
    for value in AXES[axis]:
        if value is not None:
            data = json.loads(json.dumps({axis: value}))
            assert accepts(SCHEMA, {"given": {"Q": [[1]]}, "attention": data}), value


OWN = "equations = 'A1 = softmax(Q K^T); O = A1 V'\n"


def test_equations_have_letters_of_their_own() -> None:
    text = f"{OWN}[attention]\nn = 1\n{GIVEN}[claims]\n'A1[1,2]' = 0.27\n"
    assert is_read(text) and accepts(SCHEMA, tomllib.loads(text))
    own = "equations = 'O = P R1'\n[given]\nP = [[1]]\nR1 = [[2]]\n"
    assert is_read(own) and accepts(SCHEMA, tomllib.loads(own))
    without = own.partition("\n")[2]
    assert not is_read(without) and not accepts(SCHEMA, tomllib.loads(without))


WRONG = {
    "equations that are no text": "equations = 1\n" + GIVEN,
    "equations that are a table": "[equations]\nO = 'Q K^T'\n" + GIVEN,
    "long equations": f"equations = '{'O' * 20_001}'\n" + GIVEN,
    "an unknown key": 'titel = "x"\n' + GIVEN,
    "an unknown axis": "[attention]\nscaling = true\n" + GIVEN,
    "a key of another table": "[attention]\nindex_base = 0\n" + GIVEN,
    "nothing given": 'title = "x"\n',
    "an unknown matrix": "[given]\nQuery = [[1]]\n",
    "another schema": "schema = 2\n" + GIVEN,
    "an unknown variant": '[attention]\nvariant = "casual"\n' + GIVEN,
    "an unknown mask": '[attention]\nmask = "casual"\n' + GIVEN,
    "an unknown mask in a table": "[attention]\nmask = {windw = 1}\n" + GIVEN,
    "an unknown option": "[attention]\npositions = {rotary = {paring = 1}}\n" + GIVEN,
    "half a head": "[attention]\nheads = 1.5\n" + GIVEN,
    "no chunk": "[attention]\nchunks = 0\n" + GIVEN,
    "a normaliser": '[attention]\nnormaliser = "softmaxx"\n' + GIVEN,
    "a flag that is a word": '[attention]\nembedded = "yes"\n' + GIVEN,
    "a soft cap below 0": "[attention]\nsoft_cap = -1\n" + GIVEN,
    "counting from 2": "[notation]\nindex_base = 2\n" + GIVEN,
    "a letter of a paper": 'notation = "vaswany"\n' + GIVEN,
    "a symbol that is a number": "[notation]\nsymbols = {weights = 1}\n" + GIVEN,
    "many digits": "[notation]\ndigits = 101\n" + GIVEN,
    "a rounding": '[policy]\nrounding = "up"\n' + GIVEN,
    "a verdict": '[policy]\naccept = ["fine"]\n' + GIVEN,
    "a decimal sign": 'decimal = ";"\n' + GIVEN,
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_refused_by_both(what: str) -> None:
    assert not is_read(WRONG[what])
    assert not accepts(SCHEMA, tomllib.loads(WRONG[what]))


ODD: tuple[Any, ...] = (
    0,
    1,
    -1,
    2.5,
    True,
    False,
    "",
    "causal",
    "x",
    [],
    [1],
    [["a"]],
    {},
    {"a": 1},
)


def changed(rng: random.Random) -> dict[str, Any]:
    """A worksheet of the tests with another choice, an odd value, or a key that it had not."""
    data = deepcopy(tomllib.loads(SHEETS[rng.choice([*SHEETS])]))
    table = rng.choice([data, *(part for part in data.values() if isinstance(part, dict))])
    if rng.random() < 0.4:  # a choice that there is, which may not fit the others
        axis = rng.choice([*AXES])
        value = json.loads(json.dumps(rng.choice(AXES[axis])))
        data.setdefault("attention", {}).update({} if value is None else {axis: value})
        return data
    known = [*SCHEMA["properties"]["attention"]["properties"], "Q", "mask", "digits", "zzz"]
    if rng.random() < 0.5 and table:
        table[rng.choice([*table])] = rng.choice(ODD)
    else:
        table[rng.choice(known)] = rng.choice(ODD)
    return data


def samples(count: int, seed: int) -> Iterator[tuple[bool, bool]]:
    """Whether the reader, and whether the schema, accepts a changed worksheet."""
    rng = random.Random(seed)
    for _ in range(count):
        data = changed(rng)
        yield is_read(written(data)), accepts(SCHEMA, data)


def test_nothing_that_is_read_is_refused() -> None:
    asked = [*samples(300, 20261123)]
    assert sum(read for read, _ in asked) > 20
    assert sum(not read and not valid for read, valid in asked) > 100
    assert all(valid for read, valid in asked if read)


def test_a_schema_without_a_word_is_noticed() -> None:
    short = deepcopy(SCHEMA)
    short["properties"]["attention"]["properties"]["variant"]["enum"].remove("causal")
    refused = [name for name in SHEETS if not accepts(short, tomllib.loads(SHEETS[name]))]
    assert "causal" in refused


if __name__ == "__main__":
    FILE.write_text(json.dumps(SCHEMA, indent=1, ensure_ascii=False) + "\n", "utf-8")
