"""Files that worksheets and pages name: they lie under the folder of what names them.

A name is judged as text, then followed through symbolic links; the file that it leads to has to be
a regular one under the folder. Nothing is read before that. A file that a person names is trusted.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from symattn.errors import ReadError


@dataclass(frozen=True)
class Site:
    """The pages of a documentation: what a leading slash means there, and where files may lie."""

    source: Path
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
        raise ReadError(f"{told(name)}: {beside}")
    if name.startswith("~") or any(c < " " or c == "\x7f" for c in name):
        raise ReadError(f"{told(name)}: is no plain file name; a file {beside}")
    if any(_DEVICE.fullmatch(part) for part in path.parts):
        raise ReadError(f"{told(name)}: is the name of a device; give the file another one")
    return _inside(name, folder / path, folder, naming, roots)


def site_file(name: str, folder: Path, site: Site) -> Path:
    """As `named_file`, for a page of a site: its names may begin with a slash, or have ``..``."""
    start = site.source if name.startswith("/") else folder
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
                raise ReadError(f"{told(name)}: leads out of {folders}; it has to lie there")
            raise ReadError(f"{told(name)}: leads out of the folder of the {naming}; {beside}")
        kind = kind_of(real)
    except (FileNotFoundError, NotADirectoryError):
        raise ReadError(f"{told(name)}: there is no such file beside the {naming}") from None
    except OSError as error:
        raise ReadError(f"{told(name)}: cannot be read: {reason(error)}") from None
    except ValueError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{told(name)}: is no file name: {error}") from None
    if kind:
        raise ReadError(f"{told(name)}: is {kind}; give a regular file")
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
        raise ReadError("is no regular file")
    return number


def kind_of(path: Path) -> str:
    """What a path leads to, in words, where that is no regular file; "" where it is."""
    mode = path.stat().st_mode
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no file")


def led_astray(path: Path, root: Path) -> str | None:
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


def told(name: str) -> str:
    """A name in a message: on one line, and not longer than one."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name[:200])
    return text if len(name) <= 200 else f"{text}…"


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
