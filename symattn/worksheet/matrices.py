"""Matrices from files: ``Q = "layer.npz:Q"`` in a worksheet's ``[given]``.

NumPy's ``.npy`` and ``.npz``, safetensors and CSV. Nothing in a file is run (no pickles), and its
size is looked at before its numbers are read.
"""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from symattn.arithmetic.base import Array
from symattn.errors import ReadError, nearest, shown

#: Numbers that a matrix from a file may have.
MAX_NUMBERS = 4_000_000
MAX_CSV_BYTES = 20_000_000


def read_matrix(reference: str, folder: Path) -> Any:
    """The matrix that ``file.npz:name`` (or ``file.csv``) means, relative to `folder`.

    A CSV file gives its numbers as they are written, the others as floats of their own dtype.
    Raises `ReadError` for a file that cannot be read or does not hold that matrix.
    """
    file, name = _split(reference)
    path = folder / file
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ReadError(f"{file}: not a file of matrices; known: {', '.join(READERS)}")
    if Path(file).is_absolute() or ".." in Path(file).parts:
        raise ReadError(f"{file}: has to lie beside the worksheet, or in a folder there")
    if not path.is_file():
        raise ReadError(f"{file}: there is no such file beside the worksheet")
    try:
        return reader(path, name)
    except ReadError as error:
        raise ReadError(f"{file}: {error}") from None
    except (OSError, ValueError, EOFError, KeyError, BadZipFile, zlib.error) as error:
        words = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise ReadError(f"{file}: cannot be read: {words}") from None


def matrix_file(reference: str, folder: Path) -> Path:
    """The file in which `read_matrix` reads, resolved."""
    return (folder / _split(reference)[0]).resolve()


def _split(reference: str) -> tuple[str, str]:
    """File and name; a colon that belongs to a drive letter is part of the file."""
    head, colon, name = reference.rpartition(":")
    return (head, name) if colon and Path(head).suffix.lower() in READERS else (reference, "")


def _npy(path: Path, name: str) -> Array:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    return _whole(array)


def _npz(path: Path, name: str) -> Array:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        chosen = _chosen(name, arrays.files)
        with arrays.zip.open(f"{chosen}.npy") as member:  # its header, before its numbers
            version = np.lib.format.read_magic(member)
            read = {(1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0}.get(version)  # fmt: skip
            if read is None:
                raise ReadError("an .npy of another version; save it with NumPy 1.9 or later")
            _check_count(int(np.prod(read(member)[0], dtype=object)))
        return _whole(arrays[chosen])


def _safetensors(path: Path, name: str) -> Array:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise ReadError("needs safetensors; pip install 'symattn[safetensors]'") from None
    try:
        with safe_open(path, framework="numpy") as tensors:
            chosen = _chosen(name, list(tensors.keys()))
            part = tensors.get_slice(chosen)
            shape, dtype = part.get_shape(), part.get_dtype()
            _check_count(int(np.prod(shape, dtype=object)))
            if dtype == "BF16":
                return _bfloat16(path, chosen).reshape(shape)
            if dtype not in _DTYPES:
                raise ReadError(f"numbers of dtype {dtype} are not read; save them as float32")
            return _whole(tensors.get_tensor(chosen))
    except (SafetensorError, TypeError) as error:
        raise ReadError(f"cannot be read: {error}") from None


def _bfloat16(path: Path, name: str) -> Array:
    """The float32 that hold the same numbers, of which a bfloat16 is the upper half.

    NumPy has no such type, so that the bytes are read here; the file's header is checked already.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        begin, end = json.loads(file.read(length))[name]["data_offsets"]
        file.seek(8 + length + begin)
        halves = np.frombuffer(file.read(end - begin), "<u2")
    return (halves.astype("<u4") << 16).view("<f4")


def _csv(path: Path, name: str) -> list[list[str]]:
    if path.stat().st_size > MAX_CSV_BYTES:
        raise ReadError(f"more than {MAX_CSV_BYTES:,} bytes are too many")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError("not UTF-8 text; save the file as UTF-8") from None
    dialect = ";" if text.count(";") > text.count(",") else "\t" if "\t" in text else ","
    rows = [
        [cell.strip() for cell in row] for row in csv.reader(text.splitlines(), delimiter=dialect)
    ]
    rows = [row for row in rows if any(row)]
    if not rows:
        raise ReadError("is empty; give a row of numbers a line")
    return rows


def _chosen(name: str, names: list[str]) -> str:
    """The array that is meant; the only one needs no name."""
    if not name and len(names) == 1:
        return names[0]
    if name in names:
        return name
    said = f"there is no {shown(name)}" if name else "say which matrix, as in file.npz:Q"
    raise ReadError(f"{said}{nearest(name, names)}")


def _whole(array: Any) -> Array:
    _check_count(array.size)
    if array.dtype.kind not in "fiub":
        raise ReadError(f"numbers of dtype {array.dtype} are not read; save them as float32")
    return np.array(array)


def _check_count(count: int) -> None:
    if count > MAX_NUMBERS:
        raise ReadError(f"{count:,} numbers are too many; {MAX_NUMBERS:,} at most")


#: What safetensors calls the types that NumPy has.
_DTYPES = ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL")

#: Adding a format is adding a row.
READERS: Mapping[str, Callable[[Path, str], Any]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".csv": _csv,
}
