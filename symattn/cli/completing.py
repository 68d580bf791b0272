"""What a shell completes an argument to: names with what each is, and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

#: Names with what each is; read when a shell asks, so that no command waits for it.
Names = Callable[[], Iterable[tuple[str, str]]]
_Completes = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def to(*kinds: Names, or_files: bool = False) -> _Completes:
    """What `click` asks for names that begin as the reader did."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        found = [CompletionItem(begun, type="file")] * or_files  # first, as bash forgets the rest
        for names in kinds:
            fit = [each for each in names() if each[0].startswith(begun)]
            found += [CompletionItem(name, help=about) for name, about in fit]
        return found

    return complete


def _variants() -> Iterable[tuple[str, str]]:
    from symattn.attention.variants import NAMED

    return [(row.name, row.title) for row in NAMED.values()]


def _identities() -> Iterable[tuple[str, str]]:
    from symattn.algebra.identities import IDENTITIES

    return [(row.name, row.says) for row in IDENTITIES]


def _rungs() -> Iterable[tuple[str, str]]:
    from symattn.attention.ladder import LADDER

    return [(row.name, row.idea) for row in LADDER]


files = to(or_files=True)
variants = to(_variants)
subjects = to(_variants, or_files=True)
statements = to(_identities, _variants, or_files=True)
rungs = to(_rungs)
