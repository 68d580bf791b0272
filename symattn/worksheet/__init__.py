"""One calculation in a file: what attention, what is given, what somebody claims."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symattn.worksheet.check import check_worksheet
    from symattn.worksheet.reading.worksheet import (
        Worksheet,
        read_attention,
        read_worksheet,
        worksheet_of,
    )
    from symattn.worksheet.reports.results import Marking

#: Where each public name lives; its module is imported on first use.
_HOMES = {
    "Marking": "reports.results",
    "check_worksheet": "check",
    "Worksheet": "reading.worksheet",
    "read_attention": "reading.worksheet",
    "read_worksheet": "reading.worksheet",
    "worksheet_of": "reading.worksheet",
}

__all__ = [
    "Marking",
    "Worksheet",
    "check_worksheet",
    "read_attention",
    "read_worksheet",
    "worksheet_of",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
