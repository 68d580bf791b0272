"""The text of a worksheet file: read within limits, parsed as TOML, its lines found again.

Every limit comes before the work it bounds.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from symattn.arguments import wrong
from symattn.errors import ReadError
from symattn.worksheet.reading.files import named_file

MAX_BYTES = 2_000_000
MAX_DOTS = 20
_BARE = re.compile(r"[A-Za-z0-9_\-\[\]{}= \"']{1,200}")
#: A worksheet or a file of numbers, as a page or a worksheet names it.
_NAMED = re.compile(r"[^\s\"'`:]{1,200}\.(?:toml|npy|npz|csv|safetensors)\b")
#: Files that name no others, and how large one that does may be.
_NUMBERS = (".npy", ".npz", ".csv", ".safetensors")
_MOST_NAMED = 5_000_000
#: How files begin that are given for text by mistake, and what they are.
_KINDS = (
    (b"PK\x03\x04", "a zip archive, as of Word; save the document as plain text, in UTF-8"),
    (b"\xd0\xcf\x11\xe0", "a document of an old Word; save it as plain text, in UTF-8"),
    (b"%PDF", "a PDF; give the text that it was made from"),
    (b"\xff\xfe", "UTF-16; save the file as UTF-8"),
    (b"\xfe\xff", "UTF-16; save the file as UTF-8"),
)
_HEADER = re.compile(r"[ \t]*\[+([^\]\n]*)\]")
_KEY = re.compile(r"""[ \t]*("[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_.\-]+)[ \t]*=""")


def parse(source: str, name: str) -> dict[str, Any]:
    """The TOML text as tables; decimals keep their digits."""
    for number, line in enumerate(source.splitlines(), 1):
        if _dotted_depth(line) > MAX_DOTS:
            raise ReadError(f"{name}:{number}: a key with more than {MAX_DOTS} dots; leave it out")
    try:
        return tomllib.loads(source, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(_not_toml(name, _first_line(error))) from None
    except RecursionError:
        raise ReadError(f"{name}: brackets are nested too deep") from None
    except (ValueError, ArithmeticError):
        raise ReadError(f"{name}: a number has too many digits to read") from None


def files_named(text: str, folder: Path) -> list[Path]:
    """The worksheets, and files of numbers, that a text names and that lie where it may."""
    found: list[Path] = []
    for name in dict.fromkeys(_NAMED.findall(text)):
        with suppress(ReadError):
            named_file(name, folder)
            found.append(folder / name)
    return found


def reached(paths: Iterable[Path]) -> Iterator[Path]:
    """These files, all that they name, and what those name in turn, each once, as it lies.

    By the words of their texts alone: nothing is parsed, and what cannot be read names nothing.
    """
    files, seen = list(paths), set[Path]()
    while files:
        path = files.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        if path.suffix.lower() in _NUMBERS:
            continue
        with suppress(OSError, ValueError):
            text = read_source(path.absolute(), str(path), _MOST_NAMED)  # - is a name here
            files += files_named(text, path.parent)


def path_of(value: Any, who: str) -> str | Path:
    """The path of a file, as a text or a `Path`."""
    if isinstance(value, str):
        return value
    path = os.fspath(value) if isinstance(value, os.PathLike) else None
    if not isinstance(path, str):
        raise wrong(value, who, "a text, or the path of a file")
    return Path(path)


def read_source(path: str | Path, name: str, most: int = MAX_BYTES) -> str:
    """The text of a file, or of standard input for ``-``; `name` begins every message."""
    if not name:
        raise ReadError('"": is no file name; give a file')
    raw = _bytes(path, name, most)
    if len(raw) > most:
        raise ReadError(_too_large(name, len(raw), most))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = next((kind for start, kind in _KINDS if raw.startswith(start)), "")
        line = raw.count(b"\n", 0, error.start) + 1
        told = f": this is {kind}" if kind else "; save the file as UTF-8"
        raise ReadError(f"{name}:{line}: not UTF-8 text{told}") from None
    return text


def _bytes(path: str | Path, name: str, most: int) -> bytes:
    """The file's bytes, one more than are allowed at the most."""
    if str(path) == "-":
        if sys.stdin is None:
            raise ReadError(f"{name}: standard input is closed; give a file")
        return sys.stdin.buffer.read(most + 1)
    try:
        info = Path(path).stat()
        if stat.S_ISDIR(info.st_mode):
            raise ReadError(f"{name}: is a folder; give a worksheet file")
        if stat.S_ISFIFO(info.st_mode) and not str(path).startswith(("/dev/fd/", "/proc/")):
            raise ReadError(f"{name}: is a pipe; give a file, or - for standard input")
        if info.st_size > most:
            raise ReadError(_too_large(name, info.st_size, most))
        with Path(path).open("rb") as file:
            return file.read(most + 1)
    except ReadError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(f"{name}: cannot be read: {reason}") from None
    except ValueError as error:
        raise ReadError(f"{name}: is no file name: {error}") from None


def _dotted_depth(line: str) -> int:
    """How many bare words in a row are joined by dots; a parser's work grows with its square."""
    deepest = run = 0
    for part in line.split("."):
        run = run + 1 if _BARE.fullmatch(part.strip()) else 0
        deepest = max(deepest, run)
    return deepest


def _too_large(name: str, size: int, most: int) -> str:
    return (
        f"{name}: {size:,} bytes or more are too many for a step-by-step derivation; "
        f"{most:,} at most"
    )


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


def where(name: str, source: str, message: str) -> str:
    """``file:line`` where the key that the message starts with is set, else the file."""
    match = re.match(r'"?([A-Za-z_][A-Za-z0-9_]*)((?:\[[^\[\]]*\])*)', message)
    if match is None:
        return name
    lines = _key_lines(source)
    others = {"allowed": "mask", "one_hot": "tokens", "tokens": "query_tokens"}
    for key in (match[1] + match[2], match[1], others.get(match[1], "")):
        for table in ("given", "attention", "notation", "", "claims", "policy"):
            if (table, key) in lines:
                return f"{name}:{lines[table, key]}"
    return f"{name}:{lines['', match[1]]}" if ("", match[1]) in lines else name


def _key_lines(source: str) -> dict[tuple[str, str], int]:
    """The line on which each key of each table is set; strings of several lines are passed over."""
    lines: dict[tuple[str, str], int] = {}
    table, quoted = "", ""
    for number, line in enumerate(source.splitlines(), 1):
        if quoted:
            quoted = "" if quoted in line else quoted
            continue
        header = _HEADER.match(line)
        if header:
            table = header[1].strip()
            lines.setdefault(("", table), number)
            continue
        key = _KEY.match(line)
        if key:
            bare = key[1].strip().strip("\"'")
            where, _, last = bare.rpartition(".") if "[" not in bare else ("", "", bare)
            lines.setdefault((where or table, last), number)
        for mark in ('"""', "'''"):
            if line.count(mark) % 2:
                quoted = mark
    return lines
