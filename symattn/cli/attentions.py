"""Attentions by name: ``causal``, ``heads.toml``, and one step of them, ``causal#weights``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.errors import SymattnError, nearest, quote

if TYPE_CHECKING:
    from symattn.derivation import Derivation
    from symattn.writing import Destination


def is_file(source: str) -> bool:
    """Whether a source is a file, one that is there or by its name, rather than a variant."""
    return source == "-" or os.path.lexists(source) or os.sep in source or Path(source).suffix != ""


def is_attention(source: str) -> bool:
    """Whether this names an attention: a file or a variant, with or without a step."""
    from symattn.attention.variants import VARIANTS

    name, _ = _parts(source)
    return is_file(name) or name in [row.name for row in VARIANTS]


def attentions(sources: Sequence[str], destinations: Sequence[Destination]) -> list[Derivation]:
    """The derivations of files or variants. Raises `SymattnError` for what is neither."""
    return [_attention(source, destinations) for source in sources]


def _parts(source: str) -> tuple[str, str]:
    """A file or variant, and the step of it that is meant; empty for the last one."""
    if os.path.lexists(source):
        return source, ""
    name, _, step = source.rpartition("#")
    return (name, step) if name else (source, "")


def _attention(source: str, destinations: Sequence[Destination]) -> Derivation:
    from symattn.algebra.comparison import ending_with
    from symattn.attention.variants import VARIANTS

    name, step = _parts(source)
    names = [row.name for row in VARIANTS]
    if is_file(name):
        from symattn.worksheet import read_worksheet

        sheet = read_worksheet(name)
        for destination in destinations:
            destination.refuse_inputs(sheet.files)
        with sheet.in_file():
            derivation = sheet.derivation()
    elif name in names:
        derivation = VARIANTS[names.index(name)].spec.derivation()
    else:
        raise SymattnError(f"{quote(name)} is neither a file nor a variant{nearest(name, names)}")
    return ending_with(derivation, step) if step else derivation
