"""How help is shown: examples first, and the options in groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from symattn.cli.screen import END_OF_HELP

#: The option that shows every option.
_ALL = "--help-all"


def _show_all(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


help_all_option = click.option(
    _ALL,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show this message with every option and exit.",
)

#: Commands with what each does.
Examples = Mapping[str, str]


class Explained(click.Command):
    """A command whose help has examples, and options by what they are for.

    `groups` names the options under each heading; those in none stand under "Other options". Where
    a few are `common`, ``--help`` has these, and ``--help-all`` all.
    """

    def __init__(
        self,
        *args: Any,
        groups: Mapping[str, str] | None = None,
        common: str = "",
        examples: Examples | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **{"epilog": END_OF_HELP, **kwargs})
        self.groups = {heading: tuple(names.split()) for heading, names in (groups or {}).items()}
        self.examples = examples or {}
        self.common = (*common.split(), _ALL, "--help") if common else ()
        if common:
            help_all_option(self)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The text, and the examples."""
        super().format_help_text(ctx, formatter)
        write_examples(formatter, self.examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, group by group."""
        records = {}
        for parameter in self.get_params(ctx):
            record, name = parameter.get_help_record(ctx), max(parameter.opts, key=len)
            is_shown = name in self.common or not self.common or _ALL in ctx.meta
            if record is not None and isinstance(parameter, click.Option) and is_shown:
                records[name] = record
        for heading, names in self.groups.items():
            if shown := [records.pop(name) for name in names if name in records]:
                with formatter.section(heading):
                    formatter.write_dl(shown)
        with formatter.section("Other options" if self.groups else "Options"):
            formatter.write_dl([*records.values()])


def write_examples(formatter: click.HelpFormatter, examples: Examples) -> None:
    """Each command on a line of its own, to be copied, and below it what it does."""
    if not examples:
        return
    with formatter.section("Examples"):
        for command, does in examples.items():
            formatter.write(f"{'':{formatter.current_indent}}{command}\n")
            formatter.indent()
            formatter.write_text(does)
            formatter.dedent()
