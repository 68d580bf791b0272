"""The tables of a worksheet, their keys, and where a key belongs that stands somewhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from symattn.attention.spec import Attention
from symattn.attention.vocabulary import SYMBOLS, Notation
from symattn.attention.words import SIZES
from symattn.claims.labels import LABELS
from symattn.claims.policy import SETTINGS
from symattn.errors import ReadError, close_to, nearest, quote
from symattn.nodes.masks import MASKS

#: What may be said of a statement.
ANSWERS = ("true", "false", "?")

#: What an attention is made of.
AXES = tuple(axis.name for axis in fields(Attention))

#: The sizes that may be written; the counts of heads are axes.
LENGTHS = tuple(name for name in SIZES if name not in ("h", "g"))

#: The keys of each table that has keys of its own; "" is the top of the file.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": (
        "title",
        "story",
        "schema",
        "decimal",
        "gradient",
        "equations",
        "attention",
        "given",
        "claims",
        "policy",
        "notation",
        "misconception",
        "exercise",
        "statements",
    ),
    "attention": ("variant", *AXES, "chunks", "batch", *LABELS, *LENGTHS),
    "policy": SETTINGS,
    "misconception": ("name", "equation", "instead", "tell"),
    "exercise": ("style", "difficulty", "digits", "ties", "seed", "generator", "student"),
    "notation": (
        "preset",
        *(one.name for one in fields(Notation) if one.name not in ("exact", "limit")),
    ),
}


def refuse_unknown(data: Mapping[str, object], table: str) -> None:
    """Raise `ReadError` for a key that this table of a worksheet does not have."""
    for key in data:
        if key not in KEYS[table]:
            where = f" in [{table}]" if table else ""
            hint = home_of(key, table)
            if not hint or close_to(key, KEYS[table]):
                hint += nearest(key, KEYS[table])
            raise ReadError(f"{quote(key)}{where} is not a known key{hint}")


def home_of(key: str, table: str) -> str:
    """A hint for a key that is known, but not in this table; "" for any other.

    >>> home_of("gradient", "given")
    '; it belongs above the first [table]'
    >>> home_of("causal", "attention")
    '; write mask = "causal"'
    """
    if key in MASKS and table in ("", "attention"):
        return f'; write mask = "{key}"' + ("" if table else " in [attention]")
    homes = [
        f"in [{name}]" for name, keys in KEYS.items() if name not in ("", table) and key in keys
    ]
    if key in SYMBOLS and table not in ("given", "claims"):
        homes.append("in [given]")
    if table and key in KEYS[""]:
        homes.append("above the first [table]")
    return f"; it belongs {' or '.join(homes)}" if homes else ""
