"""The derivations that every output is held against every other with, all of them worksheets.

Each named variant on small integers, the worksheets in ``examples/``, and a few that are hard to
spell: signs, zeros that were small, −∞, ties, digits that nobody can decide, many digits, matrices
too large to show, names, heads, chunks, the way back, exact values, columns, counting from 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from symattn import VARIANTS, Notation, variant
from symattn.attention.example import small_inputs
from symattn.derivations import Derivation, Evaluation
from symattn.documents.outline import Outline, outline
from symattn.documents.shown import Shown
from symattn.documents.views import VIEWS, View
from symattn.sheets.worksheet import Worksheet, read_worksheet, worksheet_of
from tests.checking import spelled
from tests.gates import EXAMPLES


def _toml(title: str, **tables: Mapping[str, Any]) -> str:
    lines = [f"title = {json.dumps(title)}"]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {spelled(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


@cache
def _of_variant(name: str) -> str:
    spec, given = small_inputs(variant(name).spec)
    counts = {"heads": spec.heads, "kv_heads": spec.kv_heads}
    chosen = {axis: count for axis, count in counts.items() if count is not None}
    return _toml(name, attention={"variant": name, **chosen}, given=given)


def _wave(rows: int, columns: int, start: int) -> list[list[str]]:
    """Decimals of both signs that differ from one another."""
    return [
        [f"{((7 * (i * columns + j) + start) % 41 - 20) / 8}" for j in range(columns)]
        for i in range(rows)
    ]


_HARD: dict[str, str] = {
    "signs": _toml(
        "signs",
        given={
            "Q": [["-1.25", "0.3"], ["-0.004", "-2"]],
            "K": [["0.7", "-1"], ["-3", "0.05"], ["-0.1", "-0.2"]],
            "V": [["-1", "0.5"], ["-0.25", "-7"], ["3", "-0.125"]],
        },
    ),
    "zeros": _toml(
        "zeros",
        attention={"scale": False},
        notation={"digits": 2},
        given={
            "scores": [["-0.001", "-0.0049", "0"], ["-0.005", "0.004", "-40"]],
            "V": [["-0.001"], ["0.002"], ["-0.004"]],
        },
    ),
    "hidden": _toml(
        "hidden",
        attention={"d_k": 4},
        given={
            "scores": [["1", "2", "-3"], ["0.5", "0", "1"], ["2", "2", "2"]],
            "mask": [["-inf", "0", "-inf"], ["-inf", "-inf", "-inf"], ["0", "-0.5", "-inf"]],
            "V": [["1", "-2"], ["3", "0.5"], ["-1", "4"]],
        },
    ),
    "ties": _toml(
        "ties",
        attention={"scale": False},
        notation={"digits": 3, "rounding": "half-even"},
        given={
            "scores": [["1", "1"], ["0", "ln 3"]],
            "V": [["0.0005", "-0.0005"], ["0.0005", "-0.0025"]],
        },
    ),
    "undecided": _toml(
        "undecided",
        attention={"scale": False},
        notation={"digits": 0},
        given={"scores": [["e^(-e^(e^3))", "0"], ["1", "0"]], "V": [["2"], ["1"]]},
    ),
    "digits": _toml(
        "digits",
        notation={"digits": 12},
        given={"Q": _wave(2, 2, 3), "K": _wave(2, 2, 8), "V": _wave(2, 2, 30)},
    ),
    "sizes": _toml(
        "sizes",
        attention={"scale": False},
        notation={"digits": 3},
        given={
            "scores": [["-30", "0", "2"], ["1", "-12.5", "0"]],
            "V": [["123456789", "1e-7"], ["-98765.4321", "-2e-9"], ["0.5", "1e20"]],
        },
    ),
    "large": _toml(
        "large", given={"Q": _wave(14, 3, 1), "K": _wave(14, 3, 9), "V": _wave(14, 11, 4)}
    ),
    "names": _toml(
        "names",
        attention={
            "variant": "causal-multi-head",
            "heads": 2,
            "tokens": ["the", "a longer name", "x"],
        },
        given={
            name: _wave(rows, columns, start)
            for name, rows, columns, start in (
                ("X", 3, 4, 2),
                ("W_Q", 4, 4, 5),
                ("W_K", 4, 4, 11),
                ("W_V", 4, 4, 17),
                ("W_O", 4, 2, 23),
            )
        },
    ),
    "exact": _toml(
        "exact",
        given={
            "Q": [["1/3", "-sqrt(2)"], ["0", "2"]],
            "K": [["1", "0"], ["-1/2", "1"]],
            "V": [["1/7"], ["-2"]],
        },
    ),
    "columns": _toml(
        "columns",
        notation={"convention": "columns", "index_base": 0, "digits": 3},
        attention={"query_tokens": ["who", "what"], "key_tokens": ["p", "q", "r"]},
        given={"Q": _wave(2, 3, 6), "K": _wave(3, 3, 12), "V": _wave(3, 2, 21)},
    ),
    "chunks": _toml(
        "chunks",
        attention={"variant": "cached-llama", "heads": 2, "kv_heads": 1, "chunks": [2, 1]},
        given={
            "X": _wave(3, 2, 4),
            "W_Q": [_wave(2, 2, 9), _wave(2, 2, 15)],
            "W_K": _wave(2, 2, 20),
            "W_V": _wave(2, 2, 26),
            "W_O": _wave(4, 2, 31),
        },
    ),
    "gradients": 'gradient = ["Q", "K", "V"]\n'
    + _toml(
        "gradients",
        attention={"mask": "causal"},
        notation={"gradients": "partial"},
        given={
            "Q": [_wave(2, 2, 2), _wave(2, 2, 7)],
            "K": [_wave(2, 2, 11), _wave(2, 2, 13)],
            "V": [_wave(2, 1, 5), _wave(2, 1, 18)],
            "dO": [_wave(2, 1, 3), _wave(2, 1, 33)],
        },
    ),
}

#: What is asked for beside the worksheet.
_EXACT = ("exact",)

VARIANT_SHEETS = tuple(row.name for row in VARIANTS)
_TEXTS = {**{path.stem: path.read_text("utf-8") for path in EXAMPLES}, **_HARD}
_NAMES = tuple(dict.fromkeys((*VARIANT_SHEETS, *_TEXTS)))


class _Sheets(Mapping[str, str]):
    """Worksheets by name; those of variants are written when they are asked for."""

    def __getitem__(self, name: str) -> str:
        return _TEXTS[name] if name in _TEXTS else _of_variant(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


SHEETS = _Sheets()


@cache
def sheet(name: str) -> Worksheet:
    """The worksheet, as it is read."""
    for path in EXAMPLES:
        if path.stem == name:
            return read_worksheet(path)
    return worksheet_of(SHEETS[name], name)


@cache
def evaluated(name: str) -> tuple[tuple[Derivation, Evaluation], ...]:
    """The derivation and its values; of a series one for each chunk."""
    found = sheet(name)
    if found.chunks is not None:
        return tuple((chunk.derivation, chunk.evaluation) for chunk in found.decode())
    derivation = found.derivation()
    return ((derivation, found.evaluate(derivation)),)


def notation_of(name: str) -> Notation:
    """How the worksheet is to be spelled."""
    return sheet(name).notation.but(exact=name in _EXACT)


@cache
def outlines(name: str, *views: View) -> tuple[Outline, ...]:
    """What a document of the worksheet says; in all views unless some are named."""
    return tuple(
        outline(Shown(derivation, values, notation=notation_of(name), views=views or VIEWS))
        for derivation, values in evaluated(name)
    )
