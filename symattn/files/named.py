"""Files: those that people name are read within limits; those that files name lie beside them.

A name is judged as text, then followed through symbolic links; the file that it leads to has to be
a regular one under the folder. Nothing is read before that. A file that a person names is trusted.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from symattn.arguments import wrong
from symattn.errors import ReadError


@dataclass(frozen=True)
class Limits:
    """What of a file is read, at most; `docs/security.md` lists all of them."""

    #: Of a worksheet, a page, or standard input; of a notebook, which holds pictures; and of a file
    #: in which it is looked what it names.
    bytes: int = 2_000_000
    notebook: int = 5_000_000
    named: int = 5_000_000
    dots: int = 20
    #: Items of a batch.
    items: int = 1024
    #: Of a page: its lines, those of reStructuredText (docutils itself reads no longer ones) and
    #: the cells of its tables (docutils takes about a millisecond for each), a paragraph of worked
    #: lines, a number between comments, and the mistakes with which nothing in it is marked.
    lines: int = 50_000
    rst_line: int = 10_000
    cells: int = 20_000
    paragraph: int = 20_000
    value: int = 200
    problems: int = 200
    #: Of a matrix from a file, numbers and axes; of those of all files of a worksheet, bytes.
    numbers: int = 4_000_000
    axes: int = 8
    kept: int = 300_000_000
    #: CSV is read as exact numbers, of which a matrix has no more than `MAX_ENTRIES`.
    csv_bytes: int = 20_000_000
    csv_lines: int = 200_000
    #: Bytes of headers: of an array (as NumPy has it), of safetensors, of an archive's directory.
    header: int = 10_000
    tensors_header: int = 4_000_000
    directory: int = 4_000_000
    #: Of what a class hands in: a text; a document of Word, its text, and tags and attributes of
    #: that; files in a zip, bytes of its directory, and of all of them; files of one student, and
    #: answers by name; bytes of a row of a table of answers, and of a group of rows in Parquet.
    handed_in: int = 1_000_000
    document: int = 20_000_000
    document_text: int = 5_000_000
    tags: int = 150_000
    members: int = 100_000
    members_directory: int = 8_000_000
    unpacked: int = 4_000_000_000
    of_student: int = 50
    answers: int = 4_000
    answers_row: int = 200_000
    row_group: int = 1_000_000_000


LIMITS = Limits()

#: A worksheet or a file of numbers, as a page or a worksheet names it; in quotes with blanks.
_ENDS = r"\.(?:toml|npy|npz|csv|safetensors)\b"
_NAMED = re.compile(rf"[^\s\"'`:]{{1,200}}{_ENDS}")
_QUOTED = re.compile(rf"(?<=[\"'])[^\"'\n]{{1,200}}?{_ENDS}")
#: Files that name no others.
_NUMBERS = (".npy", ".npz", ".csv", ".safetensors")
#: How files begin that are given for text by mistake, and what they are.
_ENCODINGS = (
    (b"PK\x03\x04", "a zip archive, as of Word; save the document as plain text, in UTF-8"),
    (b"\xd0\xcf\x11\xe0", "a document of an old Word; save it as plain text, in UTF-8"),
    (b"%PDF", "a PDF; give the text that it was made from"),
    (b"\xff\xfe", "UTF-16; save the file as UTF-8"),
    (b"\xfe\xff", "UTF-16; save the file as UTF-8"),
)


class NoSuchFile(ReadError):
    """There is no file of this name where it may lie."""


@dataclass(frozen=True)
class Site:
    """The pages of a documentation: what a leading slash means there, and where files may lie."""

    folder: Path
    roots: tuple[Path, ...]


def named_file(
    name: str, folder: Path, naming: str = "worksheet", roots: Sequence[Path] = ()
) -> Path:
    """The regular file that `name` means in `folder`, where what names it lies; resolved.

    It lies under that folder, or under one of the `roots` if the folder does. Raises `ReadError`,
    whose message begins with the name and tells nothing of what is in the file.
    """
    beside = f"has to lie beside the {naming}, or in a folder there"
    path = PurePath(name)
    if path.is_absolute() or path.drive or path.root or ".." in path.parts:
        raise ReadError(f"{excerpt(name)}: {beside}")
    if name.startswith("~") or any(c < " " or c == "\x7f" for c in name):
        raise ReadError(f"{excerpt(name)}: is not a plain file name; a file {beside}")
    if any(_DEVICE.fullmatch(part) for part in path.parts):
        raise ReadError(f"{excerpt(name)}: is the name of a device; give the file another one")
    return _inside(name, folder / path, folder, naming, roots)


def site_file(name: str, folder: Path, site: Site) -> Path:
    """As `named_file`, for a page of a site: its names may begin with a slash, or have ``..``."""
    start = site.folder if name.startswith("/") else folder
    path = os.path.normpath(start / name.lstrip("/"))
    return _inside(name, Path(path), folder, "page", site.roots)


def _inside(name: str, path: Path, folder: Path, naming: str, roots: Sequence[Path]) -> Path:
    """The regular file that a path leads to, if it lies where it may."""
    try:
        real, own = _real(path), _real(folder)
        allowed = [_real(root) for root in roots]
        if not any(own.is_relative_to(root) for root in allowed):
            allowed = [own]
        if not any(real.is_relative_to(root) for root in allowed):
            beside = f"it has to lie beside the {naming}, or in a folder there"
            folders = " and ".join(map(str, allowed))
            if roots:
                raise ReadError(f"{excerpt(name)}: leads out of {folders}; it has to lie inside")
            raise ReadError(f"{excerpt(name)}: leads out of the folder of the {naming}; {beside}")
        kind = kind_of(real)
    except (FileNotFoundError, NotADirectoryError):
        raise NoSuchFile(f"{excerpt(name)}: there is no such file beside the {naming}") from None
    except OSError as error:
        raise ReadError(f"{excerpt(name)}: cannot be read: {reason(error)}") from None
    except ValueError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{excerpt(name)}: is not a file name: {error}") from None
    if kind:
        raise ReadError(f"{excerpt(name)}: is {kind}; give a regular file")
    return real


def open_regular(path: Path) -> BinaryIO:
    """A resolved file to read bytes from. A pipe put in its place since is refused, not waited for.

    Raises `ReadError`, without the file's name, or `OSError`.
    """
    return open(path, "rb", opener=_opened)


def _opened(path: str, flags: int) -> int:
    more = ("O_NONBLOCK", "O_NOFOLLOW")  # not on every system
    number = os.open(path, flags | sum(getattr(os, flag, 0) for flag in more))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise ReadError("is not a regular file")
    return number


def kind_of(path: Path) -> str:
    """What a path leads to, in words, where that is no regular file; "" where it is."""
    mode = path.stat().st_mode
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no file")


def why_not_searched(path: Path, root: Path) -> str | None:
    """Why an entry of a searched folder is not read: it leads out of it, or is no file.

    None for a regular file, or a folder, under `root`.
    """
    try:
        real = _real(path)
        if not real.is_relative_to(_real(root)):
            return "leads out of the folder; name it to have it read"
        kind = kind_of(real)
    except OSError as error:
        return f"cannot be read: {reason(error)}"
    return f"is {kind}, and is not read" if kind not in ("", _KINDS[stat.S_IFDIR]) else None


def reason(error: OSError) -> str:
    """Why the system refused, without the path."""
    return (error.strerror or type(error).__name__).lower()


def excerpt(name: str) -> str:
    """The beginning of a name, or of a word, in a message: on one line."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name[:200])
    return text if len(name) <= 200 else f"{text}…"


def names_numbers(value: object) -> bool:
    """Whether this is a text that names a file of numbers, or one in it, as ``mine.npz:A``."""
    ends = "|".join(map(re.escape, _NUMBERS))
    named = rf"[^\n]{{1,200}}?(?:{ends})(?::[^\n]*)?"
    return isinstance(value, str) and bool(re.fullmatch(named, value.strip(), re.IGNORECASE))


def files_named(text: str, folder: Path) -> list[Path]:
    """The worksheets, and files of numbers, that a text names, where they may lie, there or not."""
    found: list[Path] = []
    for name in dict.fromkeys([*_NAMED.findall(text), *_QUOTED.findall(text)]):
        try:
            named_file(name, folder)
        except NoSuchFile:
            pass
        except ReadError:
            continue
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
            text = read_text(path.absolute(), str(path), LIMITS.named)  # - is a name here
            files += files_named(text, path.parent)


def path_of(value: object, who: str) -> str | Path:
    """The path of a file, as a text or a `Path`."""
    if isinstance(value, str):
        return value
    path = os.fspath(value) if isinstance(value, os.PathLike) else None
    if not isinstance(path, str):
        raise wrong(value, who, "a text, or the path of a file")
    return Path(path)


def read_text(path: str | Path, name: str, most: int = LIMITS.bytes) -> str:
    """The text of a file, or of standard input for ``-``; `name` begins every message."""
    if not name:
        raise ReadError('"": is not a file name; give a file')
    raw = _bytes(path, name, most)
    if len(raw) > most:
        raise ReadError(_too_large(name, len(raw), most))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = next((kind for start, kind in _ENCODINGS if raw.startswith(start)), "")
        line = raw.count(b"\n", 0, error.start) + 1
        more = f": this is {kind}" if kind else "; save the file as UTF-8"
        raise ReadError(f"{name}:{line}: not UTF-8 text{more}") from None
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
        why = (error.strerror or str(error)).lower()
        raise ReadError(f"{name}: cannot be read: {why}") from None
    except ValueError as error:
        raise ReadError(f"{name}: is not a file name: {error}") from None


def _too_large(name: str, size: int, most: int) -> str:
    return (
        f"{name}: {size:,} bytes or more are too many for a step-by-step derivation; "
        f"{most:,} at most"
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


#: Names that Windows keeps for devices, in every folder and with any ending.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\s*(?:\..*)?", re.IGNORECASE)

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
