"""Zip archives that strangers made: what is wrong with one, and what is not read of one.

Nothing is decompressed whose sizes are not true: deflate makes no block more than 1,032 times as
long, and no member is larger than its archive.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from symattn.errors import ReadError

#: What `zipfile` raises for an archive that is broken, or has what it does not know.
ZIP_ERRORS = (
    BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
)

#: The flags of an encrypted member, weakly or strongly.
_ENCRYPTED = 0x41

#: How many times as long deflate makes something at most, with some to spare.
_MOST_DEFLATED = 1040

#: Bytes of the last record of an archive, with the longest comment.
_END_OF_ARCHIVE = 22 + (1 << 16)


def archive_in(file: BinaryIO, most: int) -> ZipFile:
    """The archive in a file, whose directory has at most so many bytes; the file stays open.

    Raises `ReadError` for a larger one, and where it is broken.
    """
    raw = file if isinstance(file, io.BytesIO) else io.FileIO(file.fileno(), closefd=False)
    with unbroken("cannot be read: it is no zip archive, or a broken one"):
        return ZipFile(_Sparing(raw, most))


class _Sparing(io.BufferedReader):
    """A file for `ZipFile`, which reads an archive's whole directory at once: if it is small."""

    def __init__(self, raw: io.FileIO | io.BytesIO, most: int) -> None:
        super().__init__(raw)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; the last record of an archive where no size is said."""
        if size is None or size < 0:
            size = _END_OF_ARCHIVE
        if size > self._most:
            raise ReadError(f"a directory of {size:,} bytes is too large for an archive")
        return super().read(size)


def check_packed(info: ZipInfo, size: int, mend: str = "pack it as ZIP programs do") -> None:
    """Refuse a member of an archive of `size` bytes that cannot be read, or whose sizes lie.

    `mend`: how to have it compressed in a way that is read. Raises `ReadError`.
    """
    if info.flag_bits & _ENCRYPTED:
        raise ReadError("is encrypted; save it without a password")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ReadError(f"is compressed in a way that is not read; {mend}")
    most = info.compress_size * (_MOST_DEFLATED if info.compress_type == ZIP_DEFLATED else 1)
    if info.compress_size > size or info.file_size > most:
        raise ReadError(
            f"cannot be read: its directory promises {info.file_size:,} bytes in "
            f"{info.compress_size:,}, in a file of {size:,}"
        )


def unpacked(archive: ZipFile, info: ZipInfo, size: int, most: int) -> bytes:
    """The bytes of a member of an archive of `size` bytes, if these are at most so many.

    Raises `ReadError`, also where it is broken.
    """
    check_packed(info, size)
    if info.file_size > most:
        raise ReadError(f"more than {most:,} bytes are too many")
    with unbroken("is broken in the archive"), archive.open(info) as member:
        return member.read(most + 1)


@contextmanager
def unbroken(why: str) -> Iterator[None]:
    """Raises `ReadError`, which says why, for what `zipfile` raises inside."""
    try:
        yield
    except ReadError:
        raise
    except ZIP_ERRORS:
        raise ReadError(why) from None
