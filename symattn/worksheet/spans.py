"""Where the numbers of a TOML table stand, to the character: TOML readers do not say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_ITEM = re.compile(
    r"(?P<gap>[\s,\[\]]+|#[^\n]*)"
    r'|"(?P<basic>(?:[^"\\\n]|\\.)*)"|\'(?P<literal>[^\'\n]*)\''
    r"|(?P<bare>[^\s,\[\]#\"']+)"
)
_HEADER = re.compile(r"[ \t]*\[([^\[\]\n]+)\][ \t]*(?:#[^\n]*)?$")
_KEY = re.compile(r"""[ \t]*("[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_\-]+)[ \t]*=""")


class Span(NamedTuple):
    """A scalar: its text without quotes, and where that starts."""

    text: str
    start: int


def table_spans(source: str, table: str) -> dict[str, list[Span]]:
    """The scalars of each key of a table, in the order in which they stand.

    >>> table_spans('[claims]\\nweights = [[0.5, "1/2"]]', "claims")
    {'weights': [Span(text='0.5', start=21), Span(text='1/2', start=27)]}
    """
    found: dict[str, list[Span]] = {}
    place, inside, open_until = 0, False, 0
    for line in source.splitlines(keepends=True):
        start, place = place, place + len(line)
        if start < open_until:
            continue
        header = _HEADER.match(line.rstrip("\r\n"))
        if header:
            inside = header[1].strip() == table
            continue
        key = _KEY.match(line)
        if key and inside:
            name = key[1].strip("\"'")
            found[name], open_until = _value(source, start + key.end())
    return found


def _value(source: str, start: int) -> tuple[list[Span], int]:
    """The scalars of one value, and where it ends."""
    spans: list[Span] = []
    depth, place = 0, start
    while place < len(source):
        match = _ITEM.match(source, place)
        if match is None:
            break
        place = match.end()
        if match["gap"] is not None:
            if match[0].startswith("#"):
                continue
            depth += match[0].count("[") - match[0].count("]")
            if depth <= 0 and (spans or "[" in match[0]) and ("]" in match[0] or "\n" in match[0]):
                break
            continue
        group = next(name for name in ("basic", "literal", "bare") if match[name] is not None)
        spans.append(Span(match[group], match.start(group)))
        if depth == 0:
            break
    return spans, place


def flat(value: Any) -> Iterator[Any]:
    """The scalars of nested lists, in order."""
    if isinstance(value, list):
        for part in value:
            yield from flat(part)
    else:
        yield value
