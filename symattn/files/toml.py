"""TOML as worksheets are written in: parsed within limits, each key and number with its place.

The standard library parses and tells no places, and tomlkit keeps none either (its issue 55), so a
walker of our own finds them in text that has been parsed before.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from symattn.errors import ReadError

MAX_DOTS = 20
_BARE = re.compile(r"[A-Za-z0-9_\-\[\]{}= \"']{1,200}")
# no group is possessive: Python before 3.11.5 matches those wrongly
_GAP = re.compile(r"[ \t\r\n]*+(?:#[^\n]*+[ \t\r\n]*+)*")
_KEY = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|\'[^\'\n]*+\'|[A-Za-z0-9_-]++')
_SCALAR = re.compile(
    r'"""(?P<long_basic>[^"\\]*+(?:(?:\\(?s:.)|"(?!""))[^"\\]*+)*"{0,2})"""'
    r"|\'\'\'(?P<long_literal>[^']*+(?:'(?!'')[^']*+)*'{0,2})\'\'\'"
    r'|"(?P<basic>[^"\\\n]*+(?:\\.[^"\\\n]*+)*)"|\'(?P<literal>[^\'\n]*+)\''
    r"|(?P<bare>[^\s,\[\]{}#\"']++(?: [0-9][0-9:.Z+-]++)?)"
)

#: The key at which a message begins.
_AT_START = re.compile(r'"?([A-Za-z_][A-Za-z0-9_]*)((?:\[[^\[\]]*\])*)')

#: The tables in which a key is looked for, and other keys that a fault may be written under.
_TABLES = ("given", "attention", "notation", "", "claims", "policy")
_ALIASES = {"allowed": "mask", "one_hot": "tokens", "tokens": "query_tokens"}

#: The keys that lead to a value or a table.
Path: TypeAlias = tuple[str, ...]


def parse(text: str, name: str) -> dict[str, object]:
    """The TOML text as tables; decimals keep their digits."""
    for number, line in enumerate(text.splitlines(), 1):
        if _dotted_depth(line) > MAX_DOTS:
            raise ReadError(f"{name}:{number}: a key with more than {MAX_DOTS} dots; leave it out")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(_not_toml(name, _first_line(error))) from None
    except RecursionError:
        raise ReadError(f"{name}: brackets are nested too deeply") from None
    except (ValueError, ArithmeticError):
        raise ReadError(f"{name}: a number has too many digits to read") from None


def _dotted_depth(line: str) -> int:
    """How many bare words in a row are joined by dots; a parser's work grows with its square."""
    deepest = run = 0
    for part in line.split("."):
        run = run + 1 if _BARE.fullmatch(part.strip()) else 0
        deepest = max(deepest, run)
    return deepest


def _not_toml(name: str, problem: str) -> str:
    """What the TOML reader says, with the place in front and the usual mend behind."""
    place = re.search(r" \(at line ([0-9]+), column ([0-9]+)\)", problem)
    if place:
        name, problem = f"{name}:{place[1]}:{place[2]}", problem.replace(place[0], "")
    problem = re.sub(r"\('(.*?)',\)", r"[\1]", problem)
    if "after a key" in problem or "Invalid statement" in problem:
        mend = 'write key = value, and put a key with brackets in quotes: "W_Q[1]"'
    elif "array" in problem or "Invalid value" in problem:
        mend = 'put fractions in quotes ("1/2"), write 0.5 for .5, commas between numbers'
    else:
        mend = "see the examples for the form of a worksheet"
    return f"{name}: not valid TOML: {problem}; {mend}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


class Scalar(NamedTuple):
    """A number or a string: its text without quotes, and where that starts."""

    text: str
    start: int


@dataclass
class Places:
    """Where the keys of a TOML text first stand, and its scalars in the order in which they do.

    >>> Places.of('[claims]\\nweights = [[0.5, "1/2"]]').scalars["claims", "weights"]
    [Scalar(text='0.5', start=21), Scalar(text='1/2', start=27)]
    """

    keys: dict[Path, int] = field(default_factory=dict)
    scalars: dict[Path, list[Scalar]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Places:
        """The places of a text that has been parsed as TOML before."""
        walk = _Walk(text)
        walk.document()
        return walk.places

    def of_table(self, table: str) -> Mapping[str, list[Scalar]]:
        """The scalars of each key of a table."""
        return {
            path[1]: found
            for path, found in self.scalars.items()
            if len(path) == 2 and path[0] == table
        }


def place_of_fault(name: str, text: str, message: str) -> str:
    """``file:line`` where the key that the message starts with is set, else the file."""
    match = _AT_START.match(message)
    if match is None:
        return name
    keys = Places.of(text).keys
    for key in (match[1] + match[2], match[1], _ALIASES.get(match[1], "")):
        for table in _TABLES:
            start = keys.get((table, key) if table else (key,))
            if start is not None:
                return f"{name}:{text.count(chr(10), 0, start) + 1}"
    return name


class _Walk:
    """Steps through a TOML text and notes where its keys and scalars stand."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.places = Places()

    def document(self) -> None:
        table: Path = ()
        self.skip()
        while self.place < len(self.text):
            if self.take("["):
                nested = self.take("[")
                start = self.place
                table = self.keys()
                self.places.keys.setdefault(table, start)
                self.place += 2 if nested else 1
            else:
                self.pair(table)
            self.skip()

    def pair(self, table: Path) -> None:
        start = self.place
        path = (*table, *self.keys())
        self.places.keys.setdefault(path, start)
        self.place += 1  # =
        self.skip()
        self.value(path, self.places.scalars.setdefault(path, []))

    def keys(self) -> Path:
        """Keys joined by dots."""
        keys = [self.key()]
        while self.take("."):
            keys.append(self.key())
        return tuple(keys)

    def key(self) -> str:
        self.skip()
        match = _KEY.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        self.skip()
        if match[0][0] not in "\"'":
            return match[0]
        (key,) = tomllib.loads(f"{match[0]} = 0")
        return key

    def value(self, path: Path, scalars: list[Scalar]) -> None:
        if self.take("["):
            while not self.take("]"):
                self.value(path, scalars)
                self.take(",")
        elif self.take("{"):
            while not self.take("}"):
                self.pair(path)
                self.take(",")
        else:
            match = _SCALAR.match(self.text, self.place)
            assert match is not None
            assert match.lastgroup is not None
            scalars.append(Scalar(match[match.lastgroup], match.start(match.lastgroup)))
            self.place = match.end()
            self.skip()

    def take(self, sign: str) -> bool:
        """Whether this sign comes next; if so, what follows it and the gap after."""
        if not self.text.startswith(sign, self.place):
            return False
        self.place += len(sign)
        self.skip()
        return True

    def skip(self) -> None:
        match = _GAP.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
