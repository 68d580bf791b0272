"""IPython and Jupyter: ``%load_ext symattn`` and the cell magic ``%%symattn``."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from symattn.documents.views import VIEWS
from symattn.errors import SymattnError, needing

with needing("symattn.ipython", "IPython", "symattn[notebook]"):
    from IPython.core.error import UsageError
    from IPython.core.interactiveshell import InteractiveShell

from symattn.attention.vocabulary import Notation
from symattn.budget import budgeted
from symattn.claims.references import entries_at
from symattn.documents import markdown, text
from symattn.documents.job import Job, document_of
from symattn.documents.page import static
from symattn.doors import failure
from symattn.notation.options import displayed
from symattn.printable import printable
from symattn.reports.check import check_worksheet
from symattn.reports.documents import report_document
from symattn.reports.single import report_of
from symattn.sheets.symbols import Spelling
from symattn.sheets.worksheet import Worksheet, equations_of, worksheet_of

#: What makes a cell a worksheet: a table, or the key that holds equations. Everything else is a
#: text of equations, where a line may begin with a block ([A, B]) but is no header of a table.
_IS_WORKSHEET = re.compile(r"^\s*(?:\[[\w. ]+\]\s*(?:#.*)?$|equations\s*=\s*[\"'])", re.M)


#: The choices that have options of their own.
_DISPLAY = ("digits", "steps", "head")

#: The options of the magic, as `argparse` wants them.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "view": {"action": "append", "choices": VIEWS},
    **{name: {} for name in _DISPLAY},
    "entry": {"action": "append", "default": []},
    "notation": {"action": "append", "default": []},
    "batch": {"type": int},
    "check": {"action": "store_true"},
    "allow-large": {"action": "store_true"},
}


@dataclass(frozen=True, repr=False)
class CellOutput:
    """What a cell shows: Markdown with formulas, and text where there is no Markdown."""

    words: str
    markdown: str
    html: str = ""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        bundle = {"text/plain": self.words, "text/markdown": self.markdown}
        return bundle | ({"text/html": self.html} if self.html else {})

    def __repr__(self) -> str:
        return self.words


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(printable(f"%%symattn: {message}"))


def cell(line: str, body: str) -> CellOutput:
    """``%%symattn [--view V] [--steps NAMES] [--digits N] [--check]``: a worksheet in a cell.

    A cell that holds no table and no ``equations =`` is a text of equations, and has no numbers.

    Shows the derivation, or, with ``--check``, the marks of its claims. ``--head 3``,
    ``--entry weights[1,2]``, ``--notation layout=falk`` and ``--batch 2`` are those of the command
    line.
    """
    options = _Options(prog="%%symattn", add_help=False)
    for name, kind in _OPTIONS.items():
        options.add_argument(f"--{name}", **kind)
    try:
        chosen = options.parse_args(shlex.split(line))
    except ValueError as error:
        raise UsageError(printable(f"%%symattn: {error}")) from None
    try:
        with budgeted("--allow-large", chosen.allow_large):
            return _page(chosen, body)
    except BaseException as error:
        raise UsageError(failure(error).line) from None


def _page(chosen: argparse.Namespace, body: str) -> CellOutput:
    """What the options ask for of the worksheet in the cell."""
    sheet = worksheet_of(body, "cell") if _IS_WORKSHEET.search(body) else None
    asked = {name: getattr(chosen, name) for name in _DISPLAY}
    spelling = Spelling.read(chosen.notation)
    usual = Notation() if sheet is None else sheet.notation
    notation = displayed(usual, {k: x for k, x in asked.items() if x is not None})
    notation = spelling.of(notation)
    if sheet is None:
        numbered = [f"--{name}" for name in ("check", "entry", "batch") if getattr(chosen, name)]
        numbered += ["layout"] if "layout" in spelling.choices else []
        if numbered:
            raise SymattnError(f"{numbered[0]}: needs numbers; give a worksheet")
        own = equations_of(body, "cell").derivation()
        return _derived(Job(own, None, notation, chosen.view or VIEWS))
    if chosen.check:
        return _marks(chosen, sheet, notation)
    with sheet.in_file():
        if chosen.batch is not None:
            sheet = sheet.of_batch(chosen.batch)
        derivation = sheet.derivation()
        evaluation = sheet.evaluate(derivation)
    entries = entries_at(chosen.entry, evaluation, notation)
    return _derived(Job(derivation, evaluation, notation, chosen.view or VIEWS, entries=entries))


def _marks(chosen: argparse.Namespace, sheet: Worksheet, notation: Notation) -> CellOutput:
    """The marks of a worksheet's claims."""
    idle = [name for name in ("view", "entry", "batch", "steps", "head") if getattr(chosen, name)]
    if idle:
        raise SymattnError(f"--{idle[0]}: is for a derivation; leave it out, or --check")
    with sheet.in_file():
        marking = check_worksheet(sheet)
    found = report_of(marking, notation)
    short, whole = report_document(found, brief=True), report_document(found)
    shown = markdown.write([whole], markdown.DOLLARS)
    return CellOutput(text.write([short]), shown, static.fragment([whole]))


def _derived(job: Job) -> CellOutput:
    """A derivation as a cell shows it."""
    typed = replace(job, flavor=markdown.DOLLARS)
    return CellOutput(str(document_of("text", [job])), str(document_of("md", [typed])))


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magic."""
    shell.register_magic_function(cell, "cell", "symattn")  # type: ignore[arg-type]  # no self
