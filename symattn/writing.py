"""`Destination`: where a document is written, whole or not at all.

A file is written beside its place under another name, made durable, given the owner and the mode
of the file it takes the place of, and renamed; whatever happens before that leaves the old file as
it was. Devices, pipes and descriptors, which have no old content, are streamed. Everything that
can be refused is refused by `Destination.of`, before a document is made.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from symattn.errors import SymattnError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

#: How many links in a row are followed, as Linux does, and how many temporary names are tried.
_MAX_LINKS, _MAX_NAMES = 40, 100

#: The longest name where a file system does not say how long a name may be, in bytes.
_NAME_MAX = 255

_READABLE = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_WRITABLE = os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)

#: The attribute that holds an access control list; it is as binding as the mode.
_ACCESS_LIST = "system.posix_acl_access"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

FileName = str | os.PathLike[str]


@dataclass(frozen=True)
class Destination:
    """Where a document goes: a file, a device or pipe, an open descriptor, or standard output."""

    #: As it was given, for messages; nothing where it was not.
    name: str
    kind: Literal["file", "stream", "descriptor", "standard output"]
    #: The file or device itself, behind all links, or the number of a descriptor.
    place: str | int

    @classmethod
    def of(cls, name: FileName | None, inputs: Iterable[FileName] = ()) -> Destination:
        """The destination of this name, tried; None and ``-`` are standard output.

        Raises `SymattnError` if it cannot be written, or is one of the `inputs`.
        """
        if name is None or name == "-":
            return cls(name or "", "standard output", 1)
        path = os.fspath(name)
        try:
            if not path:
                raise ValueError("the name is empty; give a file")
            found = cls._found(path)
            found._tried()
        except SymattnError:
            raise
        except (OSError, ValueError) as error:
            raise _refused(path, _reason(error)) from None
        found.refuse_inputs(inputs)
        return found

    @classmethod
    def _found(cls, name: str) -> Destination:
        """What the name stands for now. Raises `OSError` or `ValueError` where that is nothing."""
        path = name
        for _ in range(_MAX_LINKS):
            folder, last = os.path.split(path)
            if last in ("", os.curdir, os.pardir):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            folder = _folder(folder)
            path = os.path.join(folder, last)
            if folder in _folders_of_descriptors() and last.isascii() and last.isdigit():
                return cls(name, "descriptor", int(last))
            if os.path.islink(path):
                target = os.path.join(folder, os.readlink(path))
                if os.path.lexists(target) or not os.path.exists(path):
                    path = target
                    continue  # else it is an open file of another process, which has no name
            meant = _status(path, links=True)
            if meant is None or stat.S_ISREG(meant.st_mode):
                return cls(name, "file", path)
            if stat.S_ISDIR(meant.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            return cls(name, "stream", path)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _tried(self) -> None:
        """Refuse what would be refused when it is written, as far as one can try."""
        match self.kind, self.place:
            case "file", str(path):
                old = _status(path)
                _check_replaceable(self.name, path, old)
                _replace_file(self.name, path, old, None)
            case "stream", str(path):
                if stat.S_ISSOCK(os.stat(path).st_mode):
                    raise OSError(errno.ENXIO, "a socket that is not open cannot be written")
                if not _may_write(path):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            case "descriptor", int(descriptor):
                os.fstat(descriptor)
                if fcntl and fcntl.fcntl(descriptor, fcntl.F_GETFL) & _ACCESS == os.O_RDONLY:
                    raise OSError(errno.EBADF, "it is open for reading only")

    def refuse_inputs(self, inputs: Iterable[FileName]) -> None:
        """Raise `SymattnError` if a file that is read, ``-`` for standard input, is this one."""
        for name in inputs:
            if self.holds(name):
                same = "" if str(name) == self.name else f", as {name}"
                raise SymattnError(f"{self.name}: is read here{same}; write to another file")

    def refuse_existing(self) -> None:
        """Raise `SymattnError` rather than replace somebody's file."""
        if self.exists:
            raise SymattnError(f"{self.name}: is there already; remove it, or choose another name")

    def holds(self, name: FileName) -> bool:
        """Whether this is the file of that name, ``-`` for standard input, and is there."""
        own, other = self._regular(), _status_of_input(os.fspath(name))
        return own is not None and other is not None and os.path.samestat(own, other)

    @property
    def is_screen(self) -> bool:
        """Whether no name was given, so that a document may be fitted to the screen."""
        return not self.name

    @property
    def exists(self) -> bool:
        """Whether it is a file that is there already, which might be one that is read."""
        return self._regular() is not None

    def _regular(self) -> os.stat_result | None:
        """The status of the regular file that would be written, if there is one."""
        found: os.stat_result | None = None
        if self.kind in ("file", "descriptor"):
            with contextlib.suppress(OSError):
                found = os.stat(self.place)
        return found if found is not None and stat.S_ISREG(found.st_mode) else None

    def write(self, document: str | bytes) -> None:
        """Write it, whole. Raises `SymattnError`; a file that there was is as it was then.

        Nobody who reads on, as after ``| head``, is no failure.
        """
        content = document if isinstance(document, bytes) else document.encode("utf-8")
        match self.kind, self.place:
            case "file", str(path):
                self._replace(path, content, lambda: None)
            case "stream", str(path):
                with self._destination_in_refusals(), reader_may_leave():
                    descriptor = os.open(path, _WRITABLE)
                    try:
                        _write_all(descriptor, content)
                    finally:
                        os.close(descriptor)
            case "descriptor", int(descriptor):
                with self._destination_in_refusals(), reader_may_leave(descriptor):
                    for stream in filter(None, (sys.stdout, sys.stderr)):
                        stream.flush()  # what was said before comes before it
                    _write_all(descriptor, content)
            case _:
                if sys.stdout is None:
                    raise OSError(0, "standard output is closed")
                with reader_may_leave(1):
                    sys.stdout.flush()
                    sys.stdout.buffer.write(content)
                    sys.stdout.buffer.flush()

    def _replace(self, path: str, content: bytes, check: Callable[[], None]) -> None:
        """Put the content in the place of the file, if `check` does not raise just before that."""
        old = None
        try:
            old = _status(path)
            _check_replaceable(self.name, path, old)
            _replace_file(self.name, path, old, content, check)
        except OSError as error:
            remark = "" if old is None else "; the old content is kept"
            raise _refused(self.name, f"{_reason(error)}{remark}") from None
        try:
            _make_durable(os.path.dirname(path))
        except OSError as error:
            raise SymattnError(
                f"{self.name}: is written, but may be lost if the machine stops now: "
                f"{_reason(error)}"
            ) from None

    @contextlib.contextmanager
    def _destination_in_refusals(self) -> Iterator[None]:
        """Name the destination in the message of an `OSError`."""
        try:
            yield
        except OSError as error:
            raise _refused(self.name, _reason(error)) from None


def replace_text(path: FileName, before: str, after: str) -> None:
    """Put the text `after` in the place of `before` in a file, its byte order mark kept.

    Raises `SymattnError` if the file does not hold `before` any more, or cannot be replaced.
    """
    destination = Destination.of(path)
    if destination.kind != "file" or not isinstance(destination.place, str):
        raise _refused(destination.name, "is not a regular file; give a file")
    place = destination.place
    try:
        raw, read = _content(place)
    except OSError as error:
        raise SymattnError(f"{path}: cannot be read: {_reason(error)}") from None
    mark = _BYTE_ORDER_MARK if raw.startswith(_BYTE_ORDER_MARK) else b""
    content = mark + after.encode()
    if raw == content:  # as when one file is given by two names
        return
    changed = SymattnError(f"{path}: changed while it was read; nothing was written")
    if raw != mark + before.encode():
        raise changed

    def still_the_same() -> None:
        now = _status(place)
        if now is None or _version(now) != _version(read):
            raise changed

    destination._replace(place, content, still_the_same)


@contextlib.contextmanager
def reader_may_leave(descriptor: int | None = None) -> Iterator[None]:
    """A pipe that is closed, as by ``| head``, is no failure: the rest of the output is dropped.

    What is buffered for the `descriptor` goes nowhere at the end.
    """
    try:
        yield
    except BrokenPipeError:
        if descriptor is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _replace_file(
    name: str,
    path: str,
    old: os.stat_result | None,
    content: bytes | None,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Put the content at the path in one step, or, without content, try all that comes before.

    Raises `OSError`, and `SymattnError` where owner or mode cannot be kept. No temporary file is
    left, whatever is raised, ^C included.
    """
    mode = 0o666 if old is None else stat.S_IRUSR | stat.S_IWUSR  # nobody else reads it meanwhile
    for _ in range(_MAX_NAMES):
        temporary = _temporary(path)
        try:
            descriptor = os.open(temporary, _WRITABLE | os.O_CREAT | os.O_EXCL, mode)
            try:
                if content is not None:
                    _write_all(descriptor, content)
                if old is not None:
                    _inherit(name, descriptor, path, old)
                if content is not None:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            check()
            if content is None:
                os.unlink(temporary)
            else:
                os.replace(temporary, path)
        except FileExistsError:  # somebody else's
            continue
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            if content is None and isinstance(error, OSError):
                folder = os.path.dirname(path)
                error.strerror = f"no temporary file can be made in {folder}: {_reason(error)}"
            raise
        return
    raise FileExistsError(errno.EEXIST, "no temporary name is free")


def _temporary(path: str) -> str:
    """A name that nobody has, in the same folder, no longer than a name may be."""
    folder, last = os.path.split(path)
    try:
        longest = os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        longest = _NAME_MAX
    end = f".{os.urandom(4).hex()}.tmp"
    while len(os.fsencode(f".{last}{end}")) > longest and last:
        last = last[:-1]  # a character, not a byte: half of one is no name everywhere
    return os.path.join(folder, f".{last}{end}")


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _inherit(name: str, descriptor: int, path: str, old: os.stat_result) -> None:
    """Give the new file owner, attributes and mode of the old one, or refuse."""
    if not hasattr(os, "fchown"):
        return
    try:
        new = os.fstat(descriptor)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        _copy_attributes(path, descriptor)
        mode = stat.S_IMODE(old.st_mode)
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
            os.fchmod(descriptor, mode)
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    except OSError as error:
        reason = f"its owner and mode cannot be kept: {_reason(error)}; write to another file"
        raise _refused(name, reason) from None


def _copy_attributes(path: str, descriptor: int) -> None:
    """Give the new file the extended attributes of the old one, as far as one may set them.

    The access control list is binding: it is copied, or `OSError` is raised.
    """
    if not hasattr(os, "listxattr"):
        return
    try:
        there, new = set(os.listxattr(path)), set(os.listxattr(descriptor))
    except OSError:  # none here
        return
    if _ACCESS_LIST in new - there:  # inherited from the folder
        os.removexattr(descriptor, _ACCESS_LIST)
    for attribute in sorted(there):
        try:
            os.setxattr(descriptor, attribute, os.getxattr(path, attribute))
        except OSError:
            if attribute == _ACCESS_LIST:
                raise


def _check_replaceable(name: str, path: str, old: os.stat_result | None) -> None:
    """Raise where a file must not, or cannot, be replaced by another."""
    if old is None:
        return
    if not stat.S_ISREG(old.st_mode):
        raise _refused(name, "is no longer a regular file")
    if not old.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise _refused(name, "is marked read-only; write to another file")
    os.close(os.open(path, _WRITABLE))  # as it would have been opened to write in it
    if path in _mounted():
        raise _refused(
            name, "is a mount point of its own and cannot be replaced; write to another file"
        )


def _mounted() -> Iterator[str]:
    """The paths on which something is mounted, as far as Linux tells."""
    with contextlib.suppress(OSError), Path("/proc/self/mountinfo").open("rb") as lines:
        for line in lines:
            place = line.split(b" ")[4]
            for sign in (b" ", b"\t", b"\n", b"\\"):
                place = place.replace(b"\\%03o" % ord(sign), sign)
            yield os.fsdecode(place)


def _make_durable(folder: str) -> None:
    """Write the entries of a folder to the disk (fsync), so that a renaming outlasts a crash."""
    try:
        descriptor = os.open(folder, _READABLE)
    except PermissionError:  # one may write in it and not read it, or, on Windows, not open it
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # no such thing on this file system
            raise
    finally:
        os.close(descriptor)


def _content(path: str) -> tuple[bytes, os.stat_result]:
    """The content of a file, and its status when it was opened."""
    descriptor = os.open(path, _READABLE)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return file.read(), status


def _version(status: os.stat_result) -> tuple[int, ...]:
    """Device, inode, size and time: they differ once a file was written or replaced."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _status(path: str, links: bool = False) -> os.stat_result | None:
    """The status of a file, of what it links to if `links`; None if there is none."""
    try:
        return os.stat(path, follow_symlinks=links)
    except FileNotFoundError:
        return None


def _status_of_input(name: str) -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)
    except (OSError, ValueError, AttributeError):  # not there, or no file
        return None


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _folder(path: str) -> str:
    """A folder behind all links. Raises `OSError` if there is none."""
    try:
        return os.path.realpath(path or os.curdir, strict=True)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {path or os.curdir}") from None


def _folders_of_descriptors() -> set[str]:
    """Where the descriptors of this process are files."""
    folders = ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd")
    return {os.path.realpath(folder) for folder in folders}


def _refused(name: str, why: str) -> SymattnError:
    return SymattnError(f"{name or '-o'}: cannot be written: {why}")


def _reason(error: OSError | ValueError) -> str:
    words = str(getattr(error, "strerror", None) or error)
    return words[:1].lower() + words[1:]
