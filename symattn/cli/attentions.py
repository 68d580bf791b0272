"""Attentions by name: ``causal``, ``heads.toml``, and one step of them, ``causal#weights``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.errors import SymattnError, nearest, quote
from symattn.language import is_equations_file

if TYPE_CHECKING:
    from symattn.attention.variants import Variant
    from symattn.derivations import Derivation
    from symattn.language.spec import Equations
    from symattn.sheets.worksheet import Worksheet
    from symattn.verifying.own import Meant
    from symattn.writing import Destination


def _mapped(
    context: click.Context, option: click.Parameter, value: tuple[str, ...]
) -> dict[str, str]:
    """``Q=left,K=right`` as a table."""
    found: dict[str, str] = {}
    for pair in (part for text in value for part in text.split(",")):
        step, sign, argument = (part.strip() for part in pair.partition("="))
        if not (step and sign and argument):
            raise click.BadParameter("write MATRIX=ARGUMENT, as in Q=left,K=right", context, option)
        if found.setdefault(step, argument) != argument:
            raise click.BadParameter(f"{step} is given twice", context, option)
    return found


#: Which argument of a function is which matrix, or which one of another function.
map_option = click.option(
    "--map",
    "mapped",
    multiple=True,
    callback=_mapped,
    metavar="Q=ARGUMENT,…",
    help="Which argument is which matrix, where their names do not tell.",
)


def is_file(source: str) -> bool:
    """Whether a source is a file, one that is there or by its name, rather than a variant."""
    if is_text(source):
        return False
    return source == "-" or os.path.lexists(source) or os.sep in source or Path(source).suffix != ""


def is_text(source: str) -> bool:
    """Whether a source is a text of equations: no file that is there, with = or a bracket."""
    return not os.path.lexists(source) and any(sign in source for sign in "=([")


#: A function of a file, or of a module.
_PROGRAM = re.compile(r"[^#=(\[]*(\.py|\w):[A-Za-z_][\w.]*")


#: A softmax of several numbers, in which there is no letter of a matrix.
_NUMBERS = r"(?:[-+−∞\d\s.e^*/()]|sqrt|inf|ln)+"
_ROW = re.compile(rf"\s*softmax\s*\(({_NUMBERS}(?:,{_NUMBERS})+)\)\s*")


def is_program(source: str) -> bool:
    """Whether a source is a function of a program: mine.py:attention."""
    return not os.path.lexists(source) and _PROGRAM.fullmatch(source) is not None


def is_equations(source: str) -> bool:
    """Whether a source is a text of equations, or a file of them."""
    return is_text(source) or is_equations_file(source)


def logits_in(source: str) -> list[str]:
    """The logits of ``softmax(2, 1, 0)``; none where a source is no softmax of several numbers."""
    found = _ROW.fullmatch(source)
    return [part.strip() for part in found[1].split(",")] if found else []


def equations_in(source: str) -> Equations:
    """The equations of a text or a file. Raises `SymattnError` with file, line and character."""
    from symattn.files.named import read_text
    from symattn.sheets.worksheet import equations_of

    if is_text(source):
        return equations_of(source, "equations")
    return equations_of(read_text(Path(source), source), source)


def on_top(base: Derivation, text: str) -> Equations:
    """A text of equations on top of a derivation. Raises as `equations_in` does."""
    from symattn.sheets.worksheet import equations_of

    return equations_of(text, "--with", base)


def is_attention(source: str) -> bool:
    """Whether this names an attention: a file or a variant, with or without a step."""
    from symattn.attention.variants import NAMED

    name, _ = _parts(source)
    return is_file(name) or is_equations(name) or name in NAMED


def is_step(source: str) -> bool:
    """Whether this names one step of an attention."""
    return bool(_parts(source)[1]) and is_attention(source)


def reads_file(source: str) -> bool:
    """Whether this attention is that of a file."""
    return is_file(_parts(source)[0])


def attentions(sources: Sequence[str], destinations: Sequence[Destination]) -> list[Derivation]:
    """The derivations of files, equations or variants. Raises `SymattnError` for what is none."""
    return [_attention(source, destinations) for source in sources]


def attention_meant(source: str) -> Meant:
    """What a function is held against: a variant, a worksheet or equations."""
    from symattn.sheets.worksheet import read_attention
    from symattn.verifying.own import meant

    if is_text(source):
        return meant(equations_in(source))
    if is_file(source) and (lost := missing(source)):
        raise SymattnError(lost)
    return meant(read_attention(source) if is_file(source) else variant_named(source).said)


def called(source: str) -> str:
    """What a sentence calls an attention that is said so."""
    if is_text(source):
        return "the attention of these equations"
    return f"the attention of {source}" if is_file(source) else f"{source} attention"


def variant_named(source: str) -> Variant:
    """The variant of this name. Raises `SymattnError` with what else may be meant."""
    from symattn.attention.variants import NAMED

    if source not in NAMED:
        hint = copying(source) or nearest(source, NAMED)
        raise SymattnError(f"{quote(source)} is neither a file nor a variant{hint}")
    return NAMED[source]


def missing(source: str) -> str:
    """What is to be said of a file that is not here, but comes with symattn; "" of any other."""
    hint = "" if os.path.lexists(source) else copying(source)
    return hint and f"{source}: there is no such file{hint}"


def copying(source: str) -> str:
    """How to come by the example that has this name, with or without folder and ending."""
    from symattn.cli.examples import example_files

    wanted = Path(source).name
    for name in example_files():
        stem = Path(name).stem
        if wanted in (name, stem):
            return f"; symattn examples {stem} -o . copies the example of that name"
    return ""


def worksheet_at(source: str, destinations: Sequence[Destination]) -> Worksheet:
    """The worksheet in a file. Raises `SymattnError` where it reads a file that is written to."""
    from symattn.sheets.worksheet import read_worksheet

    if lost := missing(source):
        raise SymattnError(lost)
    sheet = read_worksheet(source)
    for destination in destinations:
        destination.refuse_inputs(sheet.files)
    return sheet


def _parts(source: str) -> tuple[str, str]:
    """A file or variant, and the step of it that is meant; empty for the last one."""
    if os.path.lexists(source):
        return source, ""
    name, _, step = source.rpartition("#")
    return (name, step) if name else (source, "")


def _attention(source: str, destinations: Sequence[Destination]) -> Derivation:
    from symattn.algebra.comparison import ending_with

    name, step = _parts(source)
    if is_equations(name):
        derivation = equations_in(name).derivation()
    elif is_file(name):
        sheet = worksheet_at(name, destinations)
        with sheet.in_file():
            derivation = sheet.derivation()
    else:
        derivation = variant_named(name).derivation()
    return ending_with(derivation, step) if step else derivation
