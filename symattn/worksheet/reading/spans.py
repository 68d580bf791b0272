"""Where the numbers of a TOML table stand, to the character: TOML readers do not say.

The text has been read as TOML before, so that only valid text is walked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import NamedTuple

_GAP = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'|[A-Za-z0-9_-]++')
_SCALAR = re.compile(
    r'"""(?P<long_basic>(?:[^"\\]|\\(?s:.)|"(?!""))*+"{0,2})"""'
    r"|\'\'\'(?P<long_literal>(?:[^']|'(?!''))*+'{0,2})\'\'\'"
    r'|"(?P<basic>(?:[^"\\\n]|\\.)*+)"|\'(?P<literal>[^\'\n]*+)\''
    r"|(?P<bare>[^\s,\[\]{}#\"']++(?: [0-9][0-9:.Z+-]++)?)"
)

#: The keys that lead to a value.
Path = tuple[str, ...]


class Span(NamedTuple):
    """A scalar: its text without quotes, and where that starts."""

    text: str
    start: int


def table_spans(source: str, table: str) -> Mapping[str, list[Span]]:
    """The scalars of each key of a table, in the order in which they stand.

    >>> table_spans('[claims]\\nweights = [[0.5, "1/2"]]', "claims")
    {'weights': [Span(text='0.5', start=21), Span(text='1/2', start=27)]}
    """
    walk = _Walk(source)
    walk.document()
    return {
        path[1]: spans for path, spans in walk.found.items() if len(path) == 2 and path[0] == table
    }


class _Walk:
    """Steps through a TOML text and notes the scalars of every key."""

    def __init__(self, source: str) -> None:
        self.source, self.place = source, 0
        self.found: dict[Path, list[Span]] = {}

    def document(self) -> None:
        table: Path = ()
        self.skip()
        while self.place < len(self.source):
            if self.take("["):
                nested = self.take("[")
                table = self.keys()
                self.place += 2 if nested else 1
            else:
                self.pair(table)
            self.skip()

    def pair(self, table: Path) -> None:
        path = (*table, *self.keys())
        self.place += 1  # =
        self.skip()
        self.value(path, self.found.setdefault(path, []))

    def keys(self) -> Path:
        """Keys joined by dots."""
        keys = [self.key()]
        while self.take("."):
            keys.append(self.key())
        return tuple(keys)

    def key(self) -> str:
        self.skip()
        match = _KEY.match(self.source, self.place)
        assert match is not None
        self.place = match.end()
        self.skip()
        if match[0][0] not in "\"'":
            return match[0]
        (key,) = tomllib.loads(f"{match[0]} = 0")
        return key

    def value(self, path: Path, spans: list[Span]) -> None:
        if self.take("["):
            while not self.take("]"):
                self.value(path, spans)
                self.take(",")
        elif self.take("{"):
            while not self.take("}"):
                self.pair(path)
                self.take(",")
        else:
            match = _SCALAR.match(self.source, self.place)
            assert match is not None
            assert match.lastgroup is not None
            spans.append(Span(match[match.lastgroup], match.start(match.lastgroup)))
            self.place = match.end()
            self.skip()

    def take(self, sign: str) -> bool:
        """Whether this sign comes next; if so, what follows it and the gap after."""
        if not self.source.startswith(sign, self.place):
            return False
        self.place += len(sign)
        self.skip()
        return True

    def skip(self) -> None:
        match = _GAP.match(self.source, self.place)
        assert match is not None
        self.place = match.end()
