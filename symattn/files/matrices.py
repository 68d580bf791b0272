"""Matrices from files: ``Q = "layer.npz:Q"`` in a worksheet's ``[given]``.

NumPy's ``.npy`` and ``.npz``, safetensors and CSV. Nothing in a file is run (no pickles). Kind,
item size, shape and order are judged from the header before any number is read, and no more bytes
are read than the header promised.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TypeAlias
from zipfile import ZipFile, ZipInfo

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.reading import MAX_ENTRIES, read_number
from symattn.errors import ReadError, located, nearest, quote
from symattn.files.archives import ZIP_ERRORS, archive_in, check_packed
from symattn.files.named import LIMITS, excerpt, kind_of, named_file, open_regular, reason

#: A matrix: floats of its own dtype, or the texts of a CSV file.
_Read: TypeAlias = "Array | list[list[str]]"

#: Matrices by name, each to be read when it is asked for.
_Arrays: TypeAlias = "list[tuple[str, Callable[[], _Read]]]"


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix in a file as a worksheet names it, and the resolved file."""

    file: str
    name: str
    path: Path

    def read(self) -> _Read:
        """A CSV file's numbers as they are written, others as floats of their own dtype.

        Raises `ReadError` for a file that cannot be read or does not hold that matrix.
        """
        with _opened(self.path, self.file) as file:
            return _one(_FORMATS[Path(self.file).suffix.lower()](file), self.name)


@contextmanager
def _opened(path: Path, name: str) -> Iterator[BinaryIO]:
    """A resolved file, whose name begins what is refused."""
    with located(excerpt(name)):
        try:
            with open_regular(path) as file:
                yield file
        except OSError as error:
            raise ReadError(f"cannot be read: {reason(error)}") from None


def named_matrix(reference: str, folder: Path, roots: Sequence[Path] = ()) -> NamedMatrix:
    """What ``file.npz:name`` (or ``file.csv``) means in `folder`; see `named_file`."""
    file, name = _split(reference)
    if Path(file).suffix.lower() not in _FORMATS:
        raise ReadError(f"{excerpt(file)}: not a file of matrices; known: {', '.join(_FORMATS)}")
    return NamedMatrix(file, name, named_file(file, folder, "worksheet", roots))


def every_matrix(file: Path) -> dict[str, Array]:
    """All arrays of an archive that a person names, by name.

    Raises `ReadError`, which begins with the file, where it is none, or cannot be read.
    """
    ending = file.suffix.lower()
    with located(excerpt(str(file))):
        if ending not in _ARCHIVES:
            known = " or ".join(_ARCHIVES)
            raise ReadError(f"does not name its arrays; give a file that ends in {known}")
        try:
            kind = kind_of(file)
        except OSError as error:
            raise ReadError(f"cannot be read: {reason(error)}") from None
        if kind:
            raise ReadError(f"is {kind}; give a regular file")
    found: dict[str, Array] = {}
    with _opened(file.resolve(), str(file)) as opened:
        arrays = _FORMATS[ending](opened)
        _chosen(arrays[0][0] if arrays else "", [name for name, _ in arrays])
        for name, _ in arrays:
            with located(excerpt(name)):
                found[name] = np.asarray(_one(arrays, name))
            if sum(one.size for one in found.values()) > LIMITS.numbers:
                raise ReadError(f"more than {LIMITS.numbers:,} numbers are too many")
    return found


def _one(arrays: _Arrays, name: str) -> _Read:
    """The array of a name; the only one needs no name."""
    names = [known for known, _ in arrays]
    place = _chosen(name, names)
    if names.count(names[place]) > 1:
        raise ReadError(f"holds more than one array {quote(excerpt(names[place]))}; keep one")
    return arrays[place][1]()


def _split(reference: str) -> tuple[str, str]:
    """File and name; a colon that belongs to a drive letter is part of the file."""
    for colon in re.finditer(":", reference):
        file = reference[: colon.start()]
        if Path(file).suffix.lower() in _FORMATS:
            return file, reference[colon.end() :]
    return reference, ""


@contextmanager
def _unbroken(*errors: type[Exception]) -> Iterator[None]:
    """What a library raises for a file that it cannot read, as what is refused."""
    try:
        yield
    except ReadError:
        raise
    except errors as error:
        raise ReadError(f"cannot be read: {_words(error)}") from None


def _npy(file: BinaryIO) -> _Arrays:
    """The only array of a file, which has no name."""
    return [("", partial(_array, file, os.fstat(file.fileno()).st_size))]


def _npz(file: BinaryIO) -> _Arrays:
    """The arrays of an archive."""
    archive = archive_in(file, LIMITS.directory)
    infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    size = os.fstat(file.fileno()).st_size
    return [(i.filename.removesuffix(".npy"), partial(_member, archive, i, size)) for i in infos]


def _member(archive: ZipFile, info: ZipInfo, size: int) -> Array:
    """An array of an archive of `size` bytes; nothing is decompressed whose sizes are not true."""
    check_packed(info, size, "use numpy.savez_compressed")
    with _unbroken(*ZIP_ERRORS), archive.open(info) as member:
        return _array(member, info.file_size)


def _array(file: IO[bytes], size: int) -> Array:
    """The numbers of an ``.npy`` file of `size` bytes, judged by its header first."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY":
        other = "an .npz, so name it .npz" if magic[:2] == b"PK" else "not NumPy's format"
        raise ReadError(f"cannot be read: it is {'empty' if not magic else other}")
    width = _LENGTH_BYTES.get(magic[6:])
    if width is None:
        raise ReadError("is an .npy of an unknown version; save it with numpy.save")
    length = int.from_bytes(_exactly(file, width), "little")
    if length > LIMITS.header:
        raise ReadError(f"a header of {length:,} bytes is too long; {LIMITS.header:,} at most")
    dtype, order, shape = _header(_exactly(file, length).decode("latin-1"))
    wanted, present = _check_count(shape) * dtype.itemsize, max(size - 8 - width - length, 0)
    if wanted != present:
        more = "; save one array per file" if present > wanted else ""
        raise ReadError(
            f"cannot be read: its header promises {wanted:,} bytes of numbers, and {present:,} are "
            f"there{more}"
        )
    return _numbers(_exactly(file, wanted), dtype).reshape(shape, order=order)


def _header(text: str) -> tuple[np.dtype, Literal["C", "F"], tuple[int, ...]]:
    """Type, order and shape, as ``numpy.save`` writes them for an array of plain numbers.

    The header is a Python literal. NumPy evaluates it; here only what can be used is matched, so
    that none is too deep or too odd.
    """
    whole = _WHOLE_HEADER.fullmatch(text.strip())
    found = {m["key"]: m["value"] for m in _HEADER_ENTRY.finditer(whole[1])} if whole else {}
    if len(found) != 3:
        if _RECORDS.search(text):
            raise ReadError("holds records; save one array of plain numbers")
        raise ReadError("cannot be read: its header is not that of an array")
    shape = tuple(int(part) for part in re.findall(r"-?[0-9]+", found["shape"]))
    order: Literal["C", "F"] = "F" if found["fortran_order"] == "True" else "C"
    return _dtype(found["descr"][1:-1]), order, shape


def _dtype(code: str) -> np.dtype:
    """A type of numbers, by the code that NumPy writes."""
    kind = _TYPE.fullmatch(code)
    if kind and kind[1] in _OTHERS:
        raise ReadError(f"holds {_OTHERS[kind[1]]} (dtype {excerpt(code)}); save it as float32")
    if not kind or kind[1] not in "fiub?":
        raise ReadError(f"cannot be read: its header has the unknown dtype {quote(excerpt(code))}")
    try:
        return np.dtype(code)
    except TypeError:
        raise ReadError(f"numbers of dtype {code} are not read; save them as float32") from None


def _safetensors(file: BinaryIO) -> _Arrays:
    """The tensors of a file."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise ReadError("needs safetensors; pip install 'symattn[safetensors]'") from None
    length = int.from_bytes(_exactly(file, 8), "little")
    if length > LIMITS.tensors_header:
        raise ReadError(f"cannot be read: a header of {length:,} bytes is too long")
    with _unbroken(SafetensorError, OSError, ValueError, RecursionError):
        with safe_open(file.name, framework="numpy"):  # which checks all that the header promises
            pass
        header = json.loads(_exactly(file, length).decode(), object_pairs_hook=_once)
    return [
        (name, partial(_tensor, file, header[name], 8 + length))
        for name in header
        if name != "__metadata__"
    ]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A table of JSON, in which no key stands twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ReadError("cannot be read: a name occurs twice in its header")
    return table


def _tensor(file: BinaryIO, entry: dict[str, Any], start: int) -> Array:
    """A tensor among the bytes of all, which begin at `start`."""
    code, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    if code not in _TENSOR_TYPES:
        raise ReadError(f"numbers of dtype {excerpt(code)} are not read; save them as float32")
    dtype = np.dtype(_TENSOR_TYPES[code])
    if _check_count(shape) * dtype.itemsize != end - begin:
        raise ReadError("cannot be read: its header promises more or fewer bytes than are there")
    file.seek(start + begin)
    numbers = _numbers(_exactly(file, end - begin), dtype)
    if code == "BF16":  # the upper half of the float32 that is the same number
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers.reshape(shape)


def _csv(file: BinaryIO) -> _Arrays:
    """The numbers of a table as they are written."""
    return [("", partial(_table, file))]


def _table(file: BinaryIO) -> list[list[str]]:
    raw = file.read(LIMITS.csv_bytes + 1)
    if len(raw) > LIMITS.csv_bytes:
        raise ReadError(f"more than {LIMITS.csv_bytes:,} bytes are too many")
    if b"\0" in raw:
        raise ReadError(_NOT_TEXT)
    # no number has a semicolon in it, and many have a comma
    mark = ";" if b";" in raw else "\t" if b"\t" in raw else ","
    raw = _SEPARATOR_LINE.sub(b"", raw)
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(_lines(raw, mark), delimiter=mark, strict=True):
            row = [cell.strip() for cell in cells]
            if not any(row):
                continue
            rows.append(row)
            if len(rows) == 1 or len(row) == len(rows[0]):
                _check_row(row, len(rows))
            else:
                raise ReadError(
                    f"row {len(rows)} has {len(row)} entries where row 1 has {len(rows[0])}; "
                    "make all rows equally long"
                )
    except UnicodeDecodeError:
        raise ReadError(_NOT_TEXT) from None
    except csv.Error as error:
        raise ReadError(f"cannot be read: after row {len(rows)}: {error}") from None
    if not rows:
        raise ReadError("is empty; give one row of numbers per line")
    return rows


def _check_row(row: Sequence[str], number: int) -> None:
    """Refuse places without a number, and names of rows and columns, as tables have them."""
    if len(row) == 1 and _SPACED.fullmatch(row[0]):
        raise ReadError(
            f"row {number} has spaces between numbers; put commas there, as "
            "numpy.savetxt(file, matrix, delimiter=',') does"
        )
    for place, cell in enumerate(row, 1):
        if not cell:
            mend = _NO_NAMES if number == place == 1 else "give a number in every place"
            raise ReadError(f"row {number} has no entry in column {place}; {mend}")
        if (number == 1 or place == 1) and _is_name(cell):
            found = quote(excerpt(cell))
            raise ReadError(f"row {number} has {found} in place {place}, not a number; {_NO_NAMES}")


def _is_name(cell: str) -> bool:
    """Whether a cell is a name, or a comment; what a program writes for no number is neither."""
    if not _WORD.search(cell) or cell.strip("+-").lower() in _NO_NUMBERS:
        return False
    try:
        read_number(cell.replace(",", "."), "")
    except ReadError:
        return True
    return False


def _lines(raw: bytes, mark: str) -> Iterator[str]:
    """The lines that hold something, as long as they hold no more cells than can be used."""
    cells = 0
    for number, line in enumerate(io.TextIOWrapper(io.BytesIO(raw), "utf-8-sig"), 1):
        if number > LIMITS.csv_lines:
            raise ReadError(f"more than {LIMITS.csv_lines:,} lines are too many")
        if not line.strip(f" \n{mark}"):
            continue
        cells += line.count(mark) + 1
        if cells > MAX_ENTRIES:
            raise ReadError(
                f"more than {MAX_ENTRIES:,} numbers are too many for CSV; save the matrix as .npy"
            )
        yield line


def _chosen(name: str, names: Sequence[str]) -> int:
    """Which array is meant; the only one needs no name."""
    if not names:
        raise ReadError("holds no matrix; save one with numpy.savez, or safetensors")
    if not name and len(names) == 1:
        return 0
    if names == [""]:
        raise ReadError(f"holds one matrix, without a name; leave :{excerpt(name)} out")
    if name in names:
        return names.index(name)
    message = (
        f"there is no {quote(excerpt(name))}" if name else "say which matrix, as in file.npz:Q"
    )
    raise ReadError(f"{message}{nearest(name, [excerpt(known)[:60] for known in names[:2000]])}")


def _check_count(shape: Sequence[int]) -> int:
    """How many numbers an array of that shape holds; refused where it is none, or too many."""
    if not shape:
        raise ReadError("is a single number; give a matrix")
    if len(shape) > LIMITS.axes:
        raise ReadError(f"an array of {len(shape)} axes is not a matrix")
    if min(shape) < 0:
        raise ReadError("cannot be read: its header has a negative size")
    count = prod(shape)
    if count > LIMITS.numbers:
        much = f"{count:,}" if count < 10**18 else "more than 10^18"
        raise ReadError(f"{much} numbers are too many; {LIMITS.numbers:,} at most")
    if count == 0:
        raise ReadError("is an array without numbers; give at least one row and one column")
    return count


def _exactly(file: IO[bytes], count: int) -> bytearray:
    """The next `count` bytes, read in blocks."""
    found = bytearray(count)
    with memoryview(found) as view:
        done = 0
        while done < count:
            block = file.read(min(_BLOCK, count - done))
            if not block:
                raise ReadError(f"cannot be read: it ends {count - done:,} bytes too early")
            view[done : done + len(block)] = block
            done += len(block)
    return found


def _numbers(buffer: bytearray, dtype: np.dtype) -> Array:
    """The bytes as numbers in the order of this machine; any byte but 0 is true."""
    if dtype.kind == "b":
        return np.asarray(np.frombuffer(buffer, np.uint8) != 0)
    numbers: Array = np.frombuffer(buffer, dtype).astype(dtype.newbyteorder("="), copy=False)
    return numbers


def _words(error: Exception) -> str:
    """The first line of what a library says."""
    lines = str(error).splitlines()
    return excerpt(lines[0])[:120] if lines else type(error).__name__


_BLOCK = 1 << 20

#: What spreadsheets write first to say which sign is between the cells.
_SEPARATOR_LINE = re.compile(rb"\A((?:\xef\xbb\xbf)?)sep=[,;\t]\r?\n")

#: A comment, or a letter that is not that of a power of ten.
_WORD = re.compile(r"#|(?<![0-9.])[^\W\d_]")
_NO_NUMBERS = ("nan", "na", "null", "none", "inf", "infinity", "true", "false")
_SPACED = re.compile(r"[-+]?[0-9][-+0-9.eE]*(?:\s+[-+]?[0-9][-+0-9.eE]*)+", re.ASCII)
_NO_NAMES = (
    "leave names of columns and rows out, as pandas' to_csv(file, header=False, index=False) does"
)
_NOT_TEXT = "not UTF-8 text; save the file as UTF-8"

#: By the version of an .npy: the bytes that tell how long its header is.
_LENGTH_BYTES = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}

_VALUES = {
    "descr": r"'[^']*'|\"[^\"]*\"",
    "fortran_order": "True|False",
    "shape": r"\((?:[ ]*-?[0-9]{1,40}L?[ ]*,)*(?:[ ]*-?[0-9]{1,40}L?)?[ ]*\)",
}
_ENTRY = "|".join(f"(?:'{key}'|\"{key}\")[ ]*:[ ]*(?:{value})" for key, value in _VALUES.items())
_WHOLE_HEADER = re.compile(
    rf"\{{\s*((?:(?:{_ENTRY})\s*,\s*){{2}}(?:{_ENTRY}))\s*(?:,\s*)?\}}", re.ASCII
)
_HEADER_ENTRY = re.compile(
    r"['\"](?P<key>descr|fortran_order|shape)['\"][ ]*:[ ]*"
    r"(?P<value>'[^']*'|\"[^\"]*\"|True|False|\([^)]*\))"
)
_RECORDS = re.compile(r"['\"]descr['\"]\s*:\s*[\[(]")
_TYPE = re.compile(r"[<>=|]?([A-Za-z?])[0-9]{0,12}(?:\[[^\]]{0,20}\])?")
_OTHERS = {
    "O": "Python objects",
    "U": "text",
    "S": "text",
    "a": "text",
    "c": "complex numbers",
    "M": "dates",
    "m": "time spans",
    "V": "raw bytes, as bfloat16 is saved",
}

#: What safetensors calls the types that can be read, and how NumPy reads their bytes.
_TENSOR_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}

#: How the matrices of each format are read, and those formats whose matrices have names. Adding a
#: format is adding a row.
_FORMATS: Mapping[str, Callable[[BinaryIO], _Arrays]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".csv": _csv,
}
_ARCHIVES = (".npz", ".safetensors")
