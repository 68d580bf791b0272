"""A key in the wrong table is told where it belongs; every key is known where it does."""

from __future__ import annotations

import pytest

from symattn.attention.vocabulary import SYMBOLS
from symattn.claims.tables import KEYS, home_of, refuse_unknown
from symattn.errors import ReadError
from symattn.sheets.worksheet import worksheet_of

GIVEN = "Q = [[1, 0]]\nK = [[1, 0]]\nV = [[1, 2]]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f'[attention]\ngradient = ["V"]\n[given]\n{GIVEN}',
            'line:2: "gradient" in [attention] is not a known key; '
            "it belongs above the first [table]",
        ),
        (
            f'[given]\n{GIVEN}gradient = ["V"]\n',
            'line:5: "gradient" in [given] is not a known name; it belongs above the first [table]',
        ),
        (
            f'[given]\n{GIVEN}[claims]\ntitle = "mine"\n',
            'line:6: "title" in [claims] is not a known step; it belongs above the first [table]',
        ),
        (
            f"{GIVEN}[attention]\n",
            'line:1: "Q" is not a known key; it belongs in [given]',
        ),
        (
            f"[given]\n{GIVEN}kv_heads = 2\n",
            'line:5: "kv_heads" in [given] is not a known name; it belongs in [attention]',
        ),
        (
            f'rounding = "half-up"\n[given]\n{GIVEN}',
            'line:1: "rounding" is not a known key; it belongs in [policy] or in [notation]',
        ),
        (
            f"causal = true\n[given]\n{GIVEN}",
            'line:1: "causal" is not a known key; write mask = "causal" in [attention]',
        ),
        (
            f"[attention]\nhead = 2\n[given]\n{GIVEN}",
            'line:2: "head" in [attention] is not a known key; '
            'it belongs in [notation]; did you mean "heads"?',
        ),
    ],
)
def test_a_key_elsewhere_is_told_where_it_belongs(text: str, told: str) -> None:
    with pytest.raises(ReadError) as refused:
        worksheet_of(text, "line")
    assert str(refused.value) == told


def test_every_key_is_known_in_its_table_and_belongs_to_it_from_every_other() -> None:
    for table, keys in KEYS.items():
        refuse_unknown(dict.fromkeys(keys), table)
        place = f"in [{table}]" if table else "above the first [table]"
        for key in keys:
            for other in (*KEYS, "given", "claims"):
                if other != table:
                    assert place in home_of(key, other), (key, other)
    assert all("in [given]" in home_of(name, "policy") for name in SYMBOLS)
    assert home_of("nothing of ours", "") == ""
