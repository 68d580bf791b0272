"""The command line: ``symattn derive FILE|VARIANT`` and ``symattn variants``.

Exit status: 0 when everything agrees, 1 when a number is wrong, 2 when the input cannot be used
(with one line on standard error).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from symattn.derivation import Check, Derivation, Evaluation
    from symattn.documents.outline import Outline
    from symattn.notation.options import Notation

Made = TypeVar("Made")

_FORMATS = ("text", "latex", "mathml", "json")
_VIEWS = ("all", "formula", "entry", "worked", "value")
_LONGEST_MESSAGE = 400


#: Commands in files of their own, imported when they are called.
_ELSEWHERE = {"check": "symattn.cli_check", "prove": "symattn.cli_prove"}


class OneLine(click.Group):
    """A group whose refusals are one line and status 2, whatever was wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted({*super().list_commands(ctx), *_ELSEWHERE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name in _ELSEWHERE:
            command: click.Command = getattr(import_module(_ELSEWHERE[cmd_name]), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; see `click.Command.main`."""
        from symattn.errors import SymattnError

        try:
            status = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.ClickException as error:
            _refuse(error.format_message())
        except SymattnError as error:
            _refuse(str(error))
        except click.Abort:
            _refuse("interrupted")
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader left; nothing more to say
            sys.exit(0)
        except OSError as error:
            _refuse(f"cannot write: {(error.strerror or str(error)).lower()}")
        except MemoryError:
            _refuse("too large for the memory of this machine")
        sys.exit(status if isinstance(status, int) else 0)


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"]})
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
@click.option("--tokens", type=click.IntRange(1, 64), help="Make a small example of a variant.")
@click.option("--d-k", type=click.IntRange(1, 64), help="The example's key width.  [default: 2]")
@click.option("--heads", type=click.IntRange(1, 16), help="The example's number of heads.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def derive(source: str, form: str, output: str | None, symbolic: bool, **options: Any) -> int:
    """Derive attention step by step from a worksheet (- for standard input) or a named variant."""
    from symattn.errors import SymattnError

    if output is not None and _same_file(source, output):
        raise SymattnError(f"{output}: is the worksheet itself; write to another file")
    job, in_file = _job(source, symbolic, options)
    if job.evaluation is None and options["view"] in ("worked", "value"):
        raise SymattnError(f"--view {options['view']} needs numbers; give a worksheet")
    if job.evaluation is not None:
        job.check = in_file(job.evaluation.check)
    if output is None and form == "text":
        in_file(lambda: _print_text(in_file(job.outline)))
    else:
        write(in_file(lambda: _document(form, job)), output)
    return 0 if job.check is None or job.check.agrees else 1


@main.command()
def variants() -> None:
    """List the named variants."""
    from symattn.attention.variants import VARIANTS

    longest = max(len(row.name) for row in VARIANTS)
    indent = " " * (longest + 2)
    lines: list[tuple[str, str]] = []
    for row in VARIANTS:
        lines.append(("plain", f"{row.name:<{longest}}  {row.about}"))
        lines.append(("note", f"{indent}{row.source}"))
    print_lines(lines)


@main.command()
@click.argument("name", required=False, metavar="[RUNG]")
def ladder(name: str | None) -> None:
    """Walk the road to attention, rung by rung; each shows by a number what it mends."""
    from symattn.attention.ladder import LADDER, before_attention, climbed
    from symattn.documents.outline import outline
    from symattn.documents.text import styled_lines

    charset: Any = "unicode" if can_show_unicode() else "ascii"
    lines: list[tuple[str, str]] = []
    if name is None:
        lines += [("plain", before_attention()), ("plain", "")]
    for rung in LADDER if name is None else [climbed(name)]:
        derivation, values = rung.make()
        place = 1 + LADDER.index(rung)
        lines += [("title", f"{place}. {rung.name}: {rung.idea}"), ("plain", "")]
        page = outline(derivation, values, views=("formula", "value"), only=rung.shown)
        lines += list(styled_lines(page, charset))
        lines += [("note", f"In numbers: {rung.wrong(values)}"), ("plain", "")]
    print_lines(lines)


class Job:
    """One call of ``derive``: what is shown, and how."""

    def __init__(
        self, derivation: Derivation, evaluation: Evaluation | None, notation: Notation,
        options: dict[str, Any], notes: list[str],
    ) -> None:  # fmt: skip
        self.derivation, self.evaluation = derivation, evaluation
        self.notation, self.notes = notation, notes
        self.only: tuple[str, ...] = options["steps"]
        self.views: tuple[Any, ...] = _VIEWS[1:] if options["view"] == "all" else (options["view"],)
        self.check: Check | None = None

    def outline(self) -> Outline:
        """The document before any format."""
        from symattn.documents.outline import outline

        return outline(
            self.derivation, self.evaluation, notation=self.notation, views=self.views,
            only=self.only, check=self.check, notes=self.notes,
        )  # fmt: skip


def _job(
    source: str, symbolic: bool, options: dict[str, Any]
) -> tuple[Job, Callable[[Callable[[], Made]], Made]]:
    """The derivation to show, and a way to do the rest that names the file in what it refuses."""
    from symattn.errors import SymattnError, nearest, shown
    from symattn.notation.options import Notation

    changes: dict[str, Any] = {"exact": options["exact"]}
    if options["digits"] is not None:
        changes["digits"] = options["digits"]
    if options["full"]:
        changes["limit"] = 0
    is_file = source == "-" or os.path.lexists(source) or _looks_like_a_file(source)
    if is_file and any(options[name] for name in ("tokens", "d_k", "heads")):
        raise SymattnError("--tokens, --d-k, --heads: make examples of variants, not of a file")
    if is_file:
        from symattn.worksheet import read_worksheet

        sheet = read_worksheet(source)
        derivation = sheet.in_file(sheet.derivation)
        # --symbolic shows no numbers, but wrong ones are still refused
        evaluation = sheet.in_file(lambda: sheet.evaluate(derivation, options["dtype"]))
        notes = [] if not sheet.claims else [
            f"{len(sheet.claims)} claims stand in this worksheet; derive does not mark them"
        ]  # fmt: skip
        notation = sheet.in_file(lambda: sheet.notation.but(**changes))
        job = Job(derivation, None if symbolic else evaluation, notation, options, notes)
        return job, sheet.in_file
    from symattn.attention.variants import VARIANTS

    names = [row.name for row in VARIANTS]
    if source not in names:
        raise SymattnError(
            f"{shown(source)} is neither a file nor a variant{nearest(source, names)}"
        )
    row = VARIANTS[names.index(source)]
    title = f"{row.name}: {row.about}"
    notation = Notation().but(**changes)
    sized = {name: options[name] for name in ("tokens", "d_k", "heads") if options[name]}
    if symbolic or not sized:
        derivation = row.spec.derivation(title=title)
        return Job(derivation, None, notation, options, []), lambda make: make()
    from symattn.attention.example import small_example

    derivation, evaluation = small_example(row.spec, title=title, **sized)
    return Job(derivation, evaluation, notation, options, []), lambda make: make()


def _looks_like_a_file(source: str) -> bool:
    return os.sep in source or Path(source).suffix != ""


def _same_file(source: str, output: str) -> bool:
    try:
        return Path(source).samefile(output)
    except (OSError, ValueError):
        return False


def _document(form: str, job: Job) -> str:
    if form == "json":
        from symattn.documents.data import json_document

        return json_document(
            job.derivation, job.evaluation, notation=job.notation, only=job.only,
            check=job.check, notes=job.notes,
        )  # fmt: skip
    page = job.outline()
    if form == "latex":
        from symattn.documents.latex import latex_document

        return latex_document(page)
    if form == "mathml":
        from symattn.documents.mathml import mathml_document

        return mathml_document(page)
    from symattn.documents.text import text_document

    return text_document(page)


def _print_text(page: Outline) -> None:
    """Text for the screen: coloured in a terminal, ASCII where the terminal has no Unicode."""
    from symattn.documents.text import styled_lines

    print_lines(styled_lines(page, "unicode" if can_show_unicode() else "ascii"))


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Lines on the screen, each in its style where the screen is a terminal."""
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console
        from rich.text import Text

        styles = {"title": "bold", "heading": "bold cyan", "note": "dim", "formula": "bold",
                  "good": "green", "bad": "bold red"}  # fmt: skip
        console = Console(soft_wrap=True, highlight=False)
        for style, words in lines:
            console.print(Text(words, style=styles.get(style, "")))
        return
    encoding = sys.stdout.encoding or "ascii"
    document = "\n".join(words for _, words in lines) + "\n"
    click.echo(document.encode(encoding, "replace").decode(encoding), nl=False)
    sys.stdout.flush()


def can_show_unicode() -> bool:
    """Whether the screen has the signs of mathematics."""
    try:
        "√⋯Σᵀ⎡".encode((sys.stdout and sys.stdout.encoding) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(document: str, output: str | None) -> None:
    """A document to a file, or to standard output for None and ``-``."""
    from symattn.errors import SymattnError

    if output is None or output == "-":
        if sys.stdout is None:
            raise OSError(0, "standard output is closed")
        sys.stdout.flush()
        sys.stdout.buffer.write(document.encode("utf-8"))
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_text(document, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise SymattnError(f"{output}: cannot be written: {reason}") from None


def _refuse(message: str) -> NoReturn:
    """One line on standard error, nothing in it that a terminal would act on, exit status 2."""
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[: _LONGEST_MESSAGE - 1]}…"
    click.echo(f"symattn: {line}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
