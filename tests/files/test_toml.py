"""Where a number stands in TOML is told to the character, whatever way it is written."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.files.toml import Places

TEXTS = {
    "rows": "[claims]\nweights = [[0.5, \"1/2\"],\n  ['-inf', 1e-1]]\n",
    "comments": '# [claims]\n[claims] # ]\nw = [ # [ "9",\n "0.4", # ]]\n 2 ]\n# w = [9]\n',
    "inline table": 'claims = {w = [["0.4", 2]], "v[1,1]" = 3}\n',
    "dotted": 'claims.w = ["0.4"]\nclaims . "v[1,:]" = [1, 2]\n',
    "quoted header": "[ \"claims\" ]\nw = ['0.4']\n",
    "escaped key": '[claims]\n"w\\u005b1,1]" = "0.4"\n',
    "long strings": "[claims]\n"
    'w = ["""0.4""", \'\'\'0.5\'\'\', """a"b""c\\"""", \'\'\'d\'e\'\'\', """f"""""]\n',
    "decoys in strings": 'title = """\n[claims]\nw = [9]\n"""\n'
    "x = '''\n[claims]\n'''\n[claims]\nw = [1]\n",
    "decoys after odd line ends": "[claims]\n# \u2028w = [9]\n"
    "w = [1]\n# \x85[other]\u2028\n v = [2]\n",
    "CRLF": '[claims]\r\nw = [ "0.4",\r\n 0.5 ] # x\r\n"v[1,1]" = 2\r\n',
    "other tables": "[given]\nw = [7]\n[claims]\nw = [1]\n"
    "[claims.more]\nw = [8]\n[[list]]\nw = [6]\n",
    "scalars": "[claims]\na = 1\nb = -0.5\nc = '2'\nd = 0x10\ne = 1_000\nf = true\ng = inf\n",
    "dates": "[claims]\na = 1979-05-27 07:32:00Z\nb = [1979-05-27, 07:32:00, 1]\n",
    "empty": "[claims]\na = []\nb = [[], []]\nc = {}\n",
    "nothing": "",
    "no end of line": "[claims]\na = 1",
}


SCALARS = ("0.5", "'0.5'", '"1/3"', '"""?"""', "-1e3")


def scalars(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [one for part in value for one in scalars(part)]
    return [value]


@pytest.mark.parametrize("name", TEXTS)
def test_spans_are_what_toml_reads(name: str) -> None:
    text = TEXTS[name]
    read = tomllib.loads(text, parse_float=Decimal).get("claims", {})
    spans = Places.of(text).of_table("claims")
    wanted = {key: scalars(value) for key, value in read.items() if not isinstance(value, dict)}
    assert {key: len(found) for key, found in spans.items() if key in wanted} == {
        key: len(values) for key, values in wanted.items()
    }
    for key, values in wanted.items():
        for span, value in zip(spans[key], values, strict=True):
            assert text.startswith(span.text, span.start)
            if isinstance(value, str) and "\\" not in span.text:
                assert span.text == value
            elif isinstance(value, int) and not isinstance(value, bool):
                assert int(span.text, 0) == value
            elif isinstance(value, Decimal):
                assert Decimal(span.text) == value


def test_a_decoy_is_not_taken() -> None:
    (span,) = Places.of(TEXTS["decoys in strings"]).of_table("claims")["w"]
    assert span.start == TEXTS["decoys in strings"].rindex("1")


@given(
    st.lists(st.lists(st.sampled_from(SCALARS), max_size=4), max_size=4),
    st.sampled_from(["", " ", "\n", "\r\n", " # , ] '\"\n", "\t"]),
    st.sampled_from(["", ","]),
)
def test_any_layout(rows: list[list[str]], gap: str, comma: str) -> None:
    def listed(items: list[str]) -> str:
        return f"[{gap}" + f"{gap},{gap}".join(items) + (comma if items else "") + f"{gap}]"

    text = (
        f"title = {json.dumps('[claims]')}\n[claims]\nw = {listed([listed(row) for row in rows])}\n"
    )
    tomllib.loads(text)
    found = Places.of(text).scalars["claims", "w"]
    assert [span.text for span in found] == [item.strip("\"'") for row in rows for item in row]
    assert all(text.startswith(span.text, span.start) for span in found)
