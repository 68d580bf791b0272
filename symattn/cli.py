"""The command line: ``symattn derive FILE|VARIANT`` and ``symattn variants``.

Exit status: 0 when everything agrees, 1 when a number is wrong, 2 when the input cannot be used
(with one line on standard error).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from symattn.derivation import Derivation, Evaluation
    from symattn.notation.options import Notation

_FORMATS = ("text", "latex", "mathml", "json")
_VIEWS = ("all", "formula", "entry", "worked", "value")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="symattn", prog_name="symattn")
def main() -> None:
    """Attention, derived step by step: formula, entries, numbers put in, and proven values."""


@main.command()
@click.argument("source", metavar="FILE|VARIANT")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--view", type=click.Choice(_VIEWS), default="all", show_default=True,
              help="Show one view of every step instead of all four.")  # fmt: skip
@click.option("--step", "steps", metavar="NAME", multiple=True,
              help="Show this step only; may be repeated.")  # fmt: skip
@click.option("--digits", type=click.IntRange(0, 100), help="Decimals to show.  [default: 4]")
@click.option("--exact", is_flag=True, help="Show exact values instead of decimals.")
@click.option("--full", is_flag=True, help="Leave nothing out of large matrices and long sums.")
@click.option("--symbolic", is_flag=True, help="Formulas only, no numbers.")
@click.option("--dtype", type=click.Choice(("float64", "float32", "float16")), default="float64",
              help="The NumPy type that is checked.  [default: float64]")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def derive(source: str, form: str, output: str | None, symbolic: bool, **options: Any) -> None:
    """Derive attention step by step from a worksheet (- for standard input) or a named variant."""
    from symattn.errors import SymattnError

    try:
        derivation, evaluation, notation, notes = _subject(source, symbolic, options)
        check = evaluation.check() if evaluation is not None else None
        if output is None and form == "text":
            _print_text(derivation, evaluation, notation, notes, check, options)
        else:
            document = _document(form, derivation, evaluation, notation, notes, check, options)
            _write(document, output)
    except SymattnError as error:
        _refuse(str(error))
    except MemoryError:
        _refuse(f"{source}: too large for the memory of this machine")
    if check is not None and not check.agrees:
        sys.exit(1)


@main.command()
def variants() -> None:
    """List the named variants."""
    from symattn.attention import VARIANTS

    longest = max(len(row.name) for row in VARIANTS)
    indent = " " * (longest + 2)
    for row in VARIANTS:
        click.echo(f"{row.name:<{longest}}  {row.about}")
        click.echo(click.style(f"{indent}{row.source}", dim=True))


def _subject(
    source: str, symbolic: bool, options: dict[str, Any]
) -> tuple[Derivation, Evaluation | None, Notation, list[str]]:
    """What is to be shown: a worksheet's derivation with its values, or a variant's formulas."""
    from symattn.errors import SymattnError, nearest
    from symattn.notation.options import Notation

    notes: list[str] = []
    if source != "-" and not os.path.lexists(source) and not _looks_like_a_file(source):
        from symattn.attention import VARIANTS

        names = [row.name for row in VARIANTS]
        if source not in names:
            raise SymattnError(
                f'"{ascii(source)[1:-1]}" is neither a file nor a variant{nearest(source, names)}'
            )
        row = VARIANTS[names.index(source)]
        derivation = row.spec.derivation(title=f"{row.name}: {row.about}")
        notation, evaluation = Notation(), None
    else:
        from symattn.worksheet import read_worksheet

        sheet = read_worksheet(source)
        derivation, notation = sheet.in_file(sheet.derivation), sheet.notation
        evaluation = (
            None if symbolic else sheet.in_file(sheet.evaluate, derivation, options["dtype"])
        )
        if sheet.claims:
            notes.append(
                f"{len(sheet.claims)} claims stand in this worksheet; derive does not mark them"
            )
    changes = {"exact": options["exact"]}
    if options["digits"] is not None:
        changes["digits"] = options["digits"]
    if options["full"]:
        changes["limit"] = 0
    return derivation, evaluation, notation.but(**changes), notes


def _looks_like_a_file(source: str) -> bool:
    return os.sep in source or Path(source).suffix != ""


def _views(options: dict[str, Any]) -> tuple[Any, ...]:
    return _VIEWS[1:] if options["view"] == "all" else (options["view"],)


def _outline(
    derivation: Derivation, evaluation: Any, notation: Any, notes: Any, check: Any,
    options: dict[str, Any],
) -> Any:  # fmt: skip
    from symattn.documents.outline import outline

    return outline(
        derivation, evaluation, notation=notation, views=_views(options), only=options["steps"],
        check=check, notes=notes,
    )  # fmt: skip


def _document(
    form: str, derivation: Derivation, evaluation: Any, notation: Any, notes: Any, check: Any,
    options: dict[str, Any],
) -> str:  # fmt: skip
    if form == "json":
        from symattn.documents.data import json_document

        return json_document(
            derivation, evaluation, notation=notation, only=options["steps"], check=check,
            notes=notes,
        )  # fmt: skip
    page = _outline(derivation, evaluation, notation, notes, check, options)
    if form == "latex":
        from symattn.documents.latex import latex_document

        return latex_document(page)
    if form == "mathml":
        from symattn.documents.mathml import mathml_document

        return mathml_document(page)
    from symattn.documents.text import text_document

    return text_document(page)


def _print_text(
    derivation: Derivation, evaluation: Any, notation: Any, notes: Any, check: Any,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """Text for the screen: coloured in a terminal, ASCII where the terminal has no Unicode."""
    from symattn.documents.text import styled_lines

    page = _outline(derivation, evaluation, notation, notes, check, options)
    lines = list(styled_lines(page, "unicode" if _can_show_unicode() else "ascii"))
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console
        from rich.text import Text

        styles = {"title": "bold", "heading": "bold cyan", "note": "dim", "formula": "bold",
                  "good": "green", "bad": "bold red", "plain": ""}  # fmt: skip
        console = Console(soft_wrap=True, highlight=False)
        for style, words in lines:
            console.print(Text(words, style=styles[style]))
        return
    click.echo("\n".join(words for _, words in lines))


def _can_show_unicode() -> bool:
    try:
        "√⋯Σᵀ⎡".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _write(document: str, output: str | None) -> None:
    from symattn.errors import SymattnError

    if output is None or output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(document.encode("utf-8"))
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_text(document, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SymattnError(f"{output}: cannot be written: {reason}") from None


def _refuse(message: str) -> NoReturn:
    """One line on standard error, exit status 2."""
    line = " ".join(message.split())
    click.echo(f"symattn: {line}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
