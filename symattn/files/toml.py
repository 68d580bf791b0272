"""TOML as worksheets are written in: parsed within limits, each key and number with its place.

The standard library parses and tells no places, and tomlkit keeps none either (its issue 55), so a
text is parsed once more with the place of each number and key written in it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from symattn.errors import ReadError
from symattn.files.named import LIMITS

_BARE = re.compile(r"[A-Za-z0-9_\-\[\]{}= \"']{1,200}")
#: What a text is made of: comments, strings and bare words with their insides, and signs.
# no group is possessive: Python before 3.11.5 matches those wrongly
_TOKEN = re.compile(
    r"#[^\n]*+"
    r'|"""(?P<long_basic>[^"\\]*+(?:(?:\\(?s:.)|"(?!""))[^"\\]*+)*"{0,2})"""'
    r"|\'\'\'(?P<long_literal>[^']*+(?:'(?!'')[^']*+)*'{0,2})\'\'\'"
    r'|"(?P<basic>[^"\\\n]*+(?:\\.[^"\\\n]*+)*)"|\'(?P<literal>[^\'\n]*+)\''
    r"|(?P<bare>[^\s,\[\]{}#\"'=]++(?: [0-9][0-9:.Z+-]++)?)"
    r"|(?P<sign>[\[\]{}=,\n])"
)
_PART = re.compile(r"[A-Za-z0-9_-]+")

#: What stands between a key and its place.
_MARK = "\ue000"

#: The key at which a message begins.
_AT_START = re.compile(r'"?([A-Za-z_][A-Za-z0-9_]*)((?:\[[^\[\]]*\])*)')

#: The tables in which a key is looked for, and other keys that a fault may be written under.
_TABLES = ("given", "attention", "notation", "", "claims", "policy")
_ALIASES = {"allowed": "mask", "one_hot": "tokens", "tokens": "query_tokens"}

#: The keys that lead to a value or a table.
Keys: TypeAlias = tuple[str, ...]


def parse(text: str, name: str) -> dict[str, object]:
    """The TOML text as tables; decimals keep their digits."""
    for number, line in enumerate(text.splitlines(), 1):
        if _dotted_depth(line) > LIMITS.dots:
            raise ReadError(
                f"{name}:{number}: a key with more than {LIMITS.dots} dots; leave it out"
            )
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
    if name.endswith(".py"):
        return f"{name}: is a program; name a function of it, as in {name}:attention"
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


class Token(NamedTuple):
    """A number or a string: its text without quotes, and where that starts."""

    text: str
    start: int


@dataclass
class Places:
    """Where the keys of a TOML text first stand, and its scalars in the order in which they do.

    >>> Places.of('[claims]\\nweights = [[0.5, "1/2"]]').scalars["claims", "weights"]
    [Token(text='0.5', start=21), Token(text='1/2', start=27)]
    """

    keys: dict[Keys, int] = field(default_factory=dict)
    scalars: dict[Keys, list[Token]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Places:
        """The places of a text that has been parsed as TOML before."""
        numbered, texts = _numbered(text)
        places = cls()
        places._add((), tomllib.loads(numbered), texts)
        return places

    def _add(self, path: Keys, value: object, texts: Mapping[int, str]) -> None:
        """Note what a value holds, which is a table, a list, or the place of a scalar."""
        match value:
            case dict():
                for marked, part in value.items():
                    key, _, start = marked.rpartition(_MARK)
                    self.keys.setdefault((*path, key), int(start))
                    self._add((*path, key), part, texts)
            case list():
                self.scalars.setdefault(path, [])
                for part in value:
                    self._add(path, part, texts)
            case int():
                self.scalars.setdefault(path, []).append(Token(texts[value], value))

    def of_table(self, table: str) -> Mapping[str, list[Token]]:
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


def _numbered(text: str) -> tuple[str, dict[int, str]]:
    """A text with the place of each scalar in its stead, and behind each key; and the scalars."""
    out, texts, done = "", dict[int, str](), 0
    inside, is_key = "", True  # the brackets of a value that are open
    for token in _TOKEN.finditer(text):
        kind, sign = token.lastgroup, token["sign"]
        if kind is None:
            continue  # a comment
        if sign is None:
            out += text[done : token.start()]
            done = token.end()
            start = token.start(kind)
            if not is_key:
                texts[start] = token[kind]
                out += str(start)
            elif kind == "bare":
                out += _marked(token[0], start)
            else:
                out += f"{token[0][:-1]}{_MARK}{start}{token[0][-1]}"
        elif sign in "]}":
            inside = inside[:-1]
        elif sign in "[{" and not (is_key and not inside):  # and no header of a table
            inside += sign
            is_key = sign == "{"
        elif sign in "=,\n":
            is_key = sign != "=" and (inside[-1:] == "{" or (not inside and sign == "\n"))
    return out + text[done:], texts


def _marked(keys: str, start: int) -> str:
    """Bare keys joined by dots, each with its place behind it."""
    return _PART.sub(lambda part: f'"{part[0]}{_MARK}{start + part.start()}"', keys)
