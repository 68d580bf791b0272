"""The catalogue as a list: what its rows say, without their proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symattn.algebra.identities.identity import Identity
from symattn.documents import blocks as b

if TYPE_CHECKING:
    from symattn.documents.data import Data

TITLE = "Identities and false beliefs"


def catalogue(rows: Sequence[Identity], brief: bool = False) -> b.Document:
    """The names of identities and false beliefs, and what each says."""
    false = {True: "", False: " (false)"}
    items = (b.named(row.name, row.says + false[row.holds], brief=brief) for row in rows)
    return b.Document("" if brief else TITLE, (b.List(tuple(items)),))


def catalogue_data(rows: Sequence[Identity]) -> list[dict[str, Data]]:
    """The same as plain data."""
    keys = ("name", "says", "statement", "holds", "source")
    return [{key: getattr(row, key) for key in keys} for row in rows]
