"""The manual page symattn(1), made of the help of all commands.

``python -m tests.manual`` writes `man/symattn.1`, which a wheel brings along as
``share/man/man1/symattn.1``; `tests/cli/test_completion.py` compares it.
"""

from __future__ import annotations

import datetime
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

import symattn
from symattn.cli import EXAMPLES, SECTIONS, main
from symattn.cli.help import Explained
from symattn.doors import DEBUG
from symattn.status import Status
from tests import ROOT

MANUAL = ROOT / "man" / "symattn.1"

#: What man reads as text, and not as a request or an escape; lines may break after a bar.
_ESCAPES = str.maketrans(
    {
        **{"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"},
        "|": r"|\:",
    }
)


def _plain(words: str) -> str:
    escaped = " ".join(words.split()).translate(_ESCAPES)
    lines = textwrap.wrap(escaped, 70, break_long_words=False, break_on_hyphens=False)
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in lines)


def _tagged(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Terms, each with its text below it."""
    for term, text in rows:
        yield from (".TP", rf"\fB{_plain(term)}\fR", _plain(text))


def _examples(examples: Mapping[str, str]) -> Iterator[str]:
    for number, (line, does) in enumerate(examples.items()):
        yield from ([".PP"] * (number > 0))
        yield from (_plain(does), ".PP", ".RS 4", ".EX", _plain(line), ".EE", ".RE")


def _command(name: str) -> Iterator[str]:
    context = click.Context(main)
    command = main.get_command(context, name)
    assert isinstance(command, Explained)
    own = click.Context(command, info_name=name, parent=click.Context(main, info_name="symattn"))
    usage = command.get_usage(own).removeprefix("Usage: ")
    yield from (f'.SS "{_plain(usage)}"', *_paragraphs(command.help or ""))
    options = [each for each in command.params if isinstance(each, click.Option)]
    rest = {max(each.opts, key=len): each.get_help_record(own) for each in options}
    for heading, names in command.groups.items():
        yield from (".PP", rf"\fI{_plain(heading)}\fR")
        yield from _tagged([record for each in names if (record := rest.pop(each))])
    left = [record for record in rest.values() if record is not None]
    if command.groups and left:
        yield from (".PP", r"\fIOther options\fR")
    yield from _tagged(left)
    if command.examples:
        yield from (".PP", r"\fIExamples\fR", ".PP", *_examples(command.examples))


def _paragraphs(words: str) -> Iterator[str]:
    first, *others = words.replace("\b", "").split("\n\n")
    yield _plain(first)
    for paragraph in others:
        yield from (".PP", _plain(paragraph))


def manual(date: str) -> str:
    """The page as man reads it, with the day on which it was changed."""
    lines = [
        f'.TH SYMATTN 1 {date} "symattn {symattn.__version__}" "symattn"',
        ".ad l",
        ".SH NAME",
        r"symattn \- attention, derived step by step",
        ".SH SYNOPSIS",
        r".B symattn",
        r"[\fB\-\-debug\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        _plain(main.help or ""),
        _plain(
            "From a worksheet come every step's formula, the rule for one entry, that entry "
            "worked out, and its value, of which every digit is proven. It also marks numbers "
            "that somebody else has written, and proves or refutes identities."
        ),
    ]
    for heading, commands in SECTIONS.items():
        lines += [".PP", rf"\fI{_plain(heading)}\fR", *_tagged([*commands.items()])]
    lines += [".SH COMMANDS"]
    for commands in SECTIONS.values():
        for name in commands:
            lines += _command(name)
    lines += [
        *(".SH EXAMPLES", *_examples(EXAMPLES)),
        ".SH ENVIRONMENT",
        *_tagged(
            [
                (DEBUG, "If it is 1, the traceback of an internal error is shown."),
                ("NO_COLOR", "If it is set, nothing is coloured."),
            ]
        ),
        ".SH EXIT STATUS",
        *_tagged([(str(status.value), status.meaning) for status in Status]),
        *(".SH SEE ALSO", ".BR python3 (1)"),
    ]
    return "\n".join(lines) + "\n"


def dated(page: str) -> str:
    """The day that a page says."""
    found = re.search(r"\d{4}-\d\d-\d\d", page)
    return found.group() if found else ""


if __name__ == "__main__":
    MANUAL.parent.mkdir(exist_ok=True)
    before = MANUAL.read_text("utf-8") if MANUAL.exists() else ""
    if before != manual(dated(before)):
        MANUAL.write_text(manual(datetime.date.today().isoformat()), encoding="utf-8")
