"""Files of numbers that are malformed, hostile or merely odd, and files that lead elsewhere."""

from __future__ import annotations

import io
import json
import os
import pickle
import socket
import struct
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symattn.cli import main
from symattn.errors import ReadError
from symattn.files import named as files
from symattn.files.matrices import named_matrix
from symattn.files.named import LIMITS, files_named
from symattn.pages.checked import files_in
from symattn.sheets.worksheet import worksheet_of
from tests import within_seconds
from tests.shares import share

ROWS = np.array([[1.0, 0.5], [2.0, -3.0]])

#: What refusing a file may take: bytes (the largest CSV is read whole, and decoded), seconds.
MOST_BYTES, MOST_SECONDS = 90_000_000, 2.0


def npy(
    descr: object = "<f8", shape: object = (2, 2), fortran: object = False, **more: Any
) -> bytes:
    """An .npy with this header, whatever is in it, and these bytes after it."""
    literal = f"{{'descr': {descr!r}, 'fortran_order': {fortran!r}, 'shape': {shape!r}, }}"
    return raw_npy(
        more.get("header", literal), more.get("data", ROWS.tobytes()), more.get("version", (1, 0))
    )


def raw_npy(header: str, data: bytes = ROWS.tobytes(), version: tuple[int, int] = (1, 0)) -> bytes:
    raw = header.encode("utf-8")
    length = struct.pack("<H" if version == (1, 0) else "<I", len(raw))
    return b"\x93NUMPY" + bytes(version) + length + raw + data


def archive(*members: tuple[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as made:
        for name, data in members:
            made.writestr(name, data)
    return file.getvalue()


def patched(data: bytes, signature: bytes, offset: int, new: bytes) -> bytes:
    """The archive with other bytes in the first record of that signature."""
    at = data.index(signature) + offset
    return data[:at] + new + data[at + len(new) :]


def flagged(flag: int) -> bytes:
    new = struct.pack("<H", flag)
    made = patched(archive(("Q.npy", npy())), b"PK\x01\x02", 8, new)
    return patched(made, b"PK\x03\x04", 6, new)


def method(number: int) -> bytes:
    made = patched(archive(("Q.npy", npy())), b"PK\x01\x02", 10, bytes([number, 0]))
    return patched(made, b"PK\x03\x04", 8, bytes([number, 0]))


def sizes(packed: int, unpacked: int, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive whose directory lies about the sizes of its member."""
    made = archive(("Q.npy", npy()), how=how)
    return patched(made, b"PK\x01\x02", 20, struct.pack("<II", packed, unpacked))


def spoilt(how: int) -> bytes:
    made = bytearray(archive(("Q.npy", npy(shape=(500, 2), data=bytes(range(250)) * 32)), how=how))
    made[150:190] = b"\x5a" * 40
    return bytes(made)


def twice() -> bytes:
    first = archive(("Q.npy", npy()), ("R.npy", npy()))
    return first.replace(b"R.npy", b"Q.npy")


def zip64() -> bytes:
    """An archive that says where its directory is in 64 bits, and lies."""
    made = archive(("Q.npy", npy()))
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, 2**63, 1)
    end = made.index(b"PK\x05\x06")
    return made[:end] + locator + patched(made[end:], b"PK\x05\x06", 12, b"\xff" * 8)


def tensors(header: object, data: bytes = ROWS.tobytes(), length: int | None = None) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def tensor(
    dtype: object = "F64", shape: object = (2, 2), offsets: object = (0, 32)
) -> dict[str, Any]:
    return {"Q": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


TWO = {"K": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}}

#: Malformed files: the bytes of each, by a name that says what is wrong.
NPY: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "magic only": lambda: b"\x93NUMPY",
    "no length": lambda: b"\x93NUMPY\x01\x00\x10",
    "an npz": lambda: archive(("Q.npy", npy())),
    "a pickle": lambda: pickle.dumps(ROWS),
    "text": lambda: b"1,2\n3,4\n",
    "unknown version": lambda: npy(version=(4, 0)),
    "cut off in the header": lambda: npy()[:40],
    "cut off in the numbers": lambda: npy()[:-3],
    "something after the numbers": lambda: npy() + b"more",
    "two arrays": lambda: npy() + npy(),
    "header of 60 kB": lambda: raw_npy(" " * (LIMITS.header + 50_000)),
    "header of megabytes": lambda: raw_npy("(" * 5_000_000, version=(2, 0)),
    "header of 4 GB": lambda: b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
    "nested brackets": lambda: raw_npy("(" * 9_000),
    "nested signs": lambda: raw_npy("-" * 9_000 + "1"),
    "nested calls": lambda: raw_npy("{'descr': " + "[" * 4_000 + "]" * 4_000 + "}"),
    "many spaces": lambda: raw_npy("{'descr':" + " " * 9_900),
    "many commas": lambda: raw_npy("{'shape': (" + "1," * 4_000),
    "no literal": lambda: raw_npy("__import__('os').getpid()"),
    "a set": lambda: raw_npy("{'descr', 'shape'}"),
    "a list": lambda: raw_npy("[1, 2]"),
    "mixed keys": lambda: raw_npy("{'descr': '<f8', 1: 2, None: 3}"),
    "a key too many": lambda: raw_npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'x': 1}"
    ),
    "a key twice": lambda: raw_npy("{'descr': '<f8', 'descr': '<f8', 'shape': (2, 2)}"),
    "not UTF-8": lambda: npy(header="{}").replace(b"{}", b"\xff\xfe"),
    "Python objects": lambda: npy("|O"),
    "records": lambda: npy([("a", "<f8"), ("b", "<f8")], (2,)),
    "nested records": lambda: npy([("a", [("b", [("c", "<f8")])])], (4,)),
    "a subarray": lambda: npy(("<f8", (2, 2)), (1,)),
    "a type that is a number": lambda: npy(7),
    "a type that is nothing": lambda: npy(None),
    "an unknown type": lambda: npy("<q8"),
    "a type with a comma": lambda: npy("f8,f8"),
    "a type of three bytes": lambda: npy("<f3"),
    "a type of no bytes": lambda: npy("<f0"),
    "a type of a billion bytes": lambda: npy("|S1000000000", (1,)),
    "a long type": lambda: npy("<f" + "8" * 300),
    "complex numbers": lambda: npy("<c16", (1, 2)),
    "dates": lambda: npy("<M8[ns]"),
    "text in cells": lambda: npy("<U2"),
    "bytes without kind": lambda: npy("|V8"),
    "negative shape": lambda: npy(shape=(-2, -2)),
    "huge shape": lambda: npy(shape=(10**6, 10**6)),
    "a shape that overflows": lambda: npy(shape=(2**32, 2**32)),
    "an absurd shape": lambda: npy(shape=(10**39, 10**39)),
    "a size of 5,000 digits": lambda: raw_npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5_000 + ",), }"
    ),
    "no numbers in a huge shape": lambda: npy(shape=(0, 10**18), data=b""),
    "no rows": lambda: npy(shape=(0, 2), data=b""),
    "no axis": lambda: npy(shape=(), data=bytes(8)),
    "sixty axes": lambda: npy(shape=(1,) * 60, data=bytes(8)),
    "a shape with true": lambda: npy(shape=(True, 4)),
    "a shape with floats": lambda: npy(shape=(2.0, 2.0)),
    "a shape that is a list": lambda: npy(shape=[2, 2]),
    "a shape that is a number": lambda: npy(shape=4),
    "order that is a number": lambda: npy(fortran=1),
    "order that is text": lambda: npy(fortran="False"),
}
NPZ: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "an npy": npy,
    "only the end": lambda: b"PK\x05\x06" + bytes(18),
    "cut off": lambda: archive(("Q.npy", npy()))[:-30],
    "no array": lambda: archive(("readme.txt", b"1")),
    "no header": lambda: archive(("Q.npy", b"1,2")),
    "an npz inside": lambda: archive(("Q.npy", archive(("Q.npy", npy())))),
    "encrypted": lambda: flagged(0x01),
    "strongly encrypted": lambda: flagged(0x41),
    "patched data": lambda: flagged(0x20),
    "names said to be UTF-8": lambda: flagged(0x800).replace(b"Q.npy", b"\xff.npy"),
    "imploded": lambda: method(6),
    "Deflate64": lambda: method(9),
    "method 99": lambda: method(99),
    "said to be LZMA": lambda: method(14),
    "corrupt LZMA": lambda: spoilt(zipfile.ZIP_LZMA),
    "corrupt bzip2": lambda: spoilt(zipfile.ZIP_BZIP2),
    "corrupt deflate": lambda: spoilt(zipfile.ZIP_DEFLATED),
    "corrupt numbers": lambda: spoilt(zipfile.ZIP_STORED),
    "wrong checksum": lambda: patched(archive(("Q.npy", npy())), b"PK\x01\x02", 16, b"\0\0\0\0"),
    "unpacked size of 4 GB": lambda: sizes(90, 2**32 - 2),
    "unpacked size too small": lambda: sizes(90, 20),
    "packed size of 4 GB": lambda: sizes(2**32 - 2, 128),
    "packed size too small": lambda: sizes(3, 128),
    "stored with two sizes": lambda: sizes(20, 128, zipfile.ZIP_STORED),
    "64 bits without them": lambda: sizes(2**32 - 1, 2**32 - 1),
    "64 bits that lie": zip64,
    "member far away": lambda: patched(
        archive(("Q.npy", npy())), b"PK\x01\x02", 42, b"\xf0\xff\xff\x7f"
    ),
    "directory far away": lambda: patched(
        archive(("Q.npy", npy())), b"PK\x05\x06", 12, b"\xf0\xff\xff\x7f" * 2
    ),
    "needs a later version": lambda: patched(
        archive(("Q.npy", npy())), b"PK\x01\x02", 6, b"\xff\x00"
    ),
    "another name inside": lambda: archive(("Q.npy", npy())).replace(b"Q.npy", b"R.npy", 1),
    "a name twice": twice,
    "names that are paths": lambda: archive(("/etc/Q.npy", npy()), ("../Q.npy", npy())),
    "names with control characters": lambda: archive(("\x1b]0;x\n.npy", npy()), ("R.npy", npy())),
    "long names": lambda: archive(*((f"{n}{'x' * 60_000}.npy", b"") for n in range(60))),
    "a text of a hundred million bytes": lambda: archive(
        ("Q.npy", npy("|S100000000", (1,), data=bytes(100_000_000))), how=zipfile.ZIP_DEFLATED
    ),
    "twenty million bytes of zeros": lambda: archive(
        ("Q.npy", npy(data=bytes(20_000_000))), how=zipfile.ZIP_DEFLATED
    ),
    "a large directory": lambda: archive(*((f"{n:090}.npy", b"") for n in range(30_000))),
}
SAFETENSORS: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "seven bytes": lambda: b"\x01" * 7,
    "absurd length": lambda: tensors(b"{}", length=2**64 - 1),
    "length of 100 MB": lambda: tensors(b"{}", length=100_000_000),
    "length beyond the end": lambda: tensors(b"{}", length=5_000),
    "long header": lambda: tensors(b"[" + b"[]," * (LIMITS.tensors_header // 3)),
    "much that means nothing": lambda: tensors(
        json.dumps(tensor())[:-2].encode()
        + b', "x": ['
        + b"[]," * (LIMITS.tensors_header // 3 - 99)
        + b'[]]}, "Q": 1}'
    ),
    "a name three times": lambda: tensors(
        json.dumps(tensor())[:-1].encode()
        + 2 * (b', "Q": ' + json.dumps(tensor()["Q"]).encode())
        + b"}"
    ),
    "nested header": lambda: tensors(b'{"a":' * 100_000),
    "no JSON": lambda: tensors(b"Q: F64"),
    "not UTF-8": lambda: tensors(b'{"\xff": 1}'),
    "a number of 5,000 digits": lambda: tensors(b'{"Q": ' + b"9" * 5_000 + b"}"),
    "a list": lambda: tensors(b"[]"),
    "no tensors": lambda: tensors({}),
    "a tensor that is a list": lambda: tensors({"Q": [1]}),
    "a name twice": lambda: tensors(
        b'{"Q": ' + json.dumps(tensor()["Q"]).encode() + b', "Q": {"dtype": "F64"}}'
    ),
    "unknown type": lambda: tensors(tensor("F7")),
    "a type of 8 bits": lambda: tensors(tensor("F8_E4M3", (4, 8))),
    "a type that is a number": lambda: tensors(tensor(64)),
    "no offsets": lambda: tensors({"Q": {"dtype": "F64", "shape": [2, 2]}}),
    "offsets beyond the end": lambda: tensors(tensor(offsets=(0, 3200))),
    "offsets backwards": lambda: tensors(tensor(offsets=(32, 0))),
    "negative offsets": lambda: tensors(tensor(offsets=(-32, 0))),
    "offsets that are true": lambda: tensors(tensor("U8", (1, 1), offsets=(False, True))),
    "offsets that are floats": lambda: tensors(tensor(offsets=(0.0, 32.0))),
    "overlapping": lambda: tensors({**tensor(), **TWO}),
    "a hole": lambda: tensors(tensor(shape=(2, 1), offsets=(16, 32))),
    "something after the numbers": lambda: tensors(tensor(), ROWS.tobytes() + b"more"),
    "a shape that does not fit": lambda: tensors(tensor(shape=(3, 3))),
    "huge shape": lambda: tensors(tensor(shape=(10**7, 10**7), offsets=(0, 8 * 10**14))),
    "a shape that overflows": lambda: tensors(tensor(shape=(2**32, 2**32))),
    "negative shape": lambda: tensors(tensor(shape=(-2, -2))),
    "a shape of texts": lambda: tensors(tensor(shape=("2", "2"))),
    "a single number": lambda: tensors(tensor(shape=(), offsets=(0, 8)), bytes(8)),
    "half a bfloat16": lambda: tensors(tensor("BF16", (1, 1), (0, 1)), b"\0"),
    "cut off": lambda: tensors(tensor())[:-8],
}
CSV: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "blank lines": lambda: b"\n \n\r\n",
    "only commas": lambda: b",,,,\n" * 1000,
    "20 MB of commas": lambda: b"," * 20_000_000,
    "20 MB of lines": lambda: b"\n" * 20_000_000,
    "a cell of 20 MB": lambda: b"1" * 20_000_000,
    "a cell of 20 MB in quotes": lambda: b'"' + b"1\n" * 9_999_999,
    "a wide cell of 4 MB": lambda: "😀".encode() * 1_000_000,
    "a cell of 140,000 characters": lambda: b"1" * 140_000 + b",2\n",
    "too large": lambda: b"1,2\n" * 5_000_001,
    "millions of rows": lambda: b"1,2\n" * 4_900_000,
    "millions of columns": lambda: b"1," * 9_000_000,
    "NUL": lambda: b"1,2\n3,\x004\n",
    "UTF-16": lambda: "1,2\n3,4\n".encode("utf-16"),
    "UTF-16 without a mark": lambda: "1,2\n3,4\n".encode("utf-16-le"),
    "Latin-1": lambda: "1,½\n".encode("latin-1"),
    "not UTF-8 at the end": lambda: b"1,2\n" * 9_000 + b"\xe2\x82",
    "a row too short": lambda: b"1,2\n3\n",
    "a row too long": lambda: b"1,2\n3,4,5\n",
    "a quote never closed": lambda: b'1,2\n"3,4\n',
    "something after a quote": lambda: b'1,"2"3\n',
}
MALFORMED = [
    pytest.param(f"q{ending}", make, id=f"{ending[1:]}: {what}")
    for ending, table in (
        (".npy", NPY),
        (".npz", NPZ),
        (".safetensors", SAFETENSORS),
        (".csv", CSV),
    )
    for what, make in table.items()
]


def read_matrix(reference: str, folder: Path) -> Any:
    """The matrix that ``file.npz:name`` (or ``file.csv``) means in a folder."""
    return named_matrix(reference, folder).read()


def refusal(reference: str, folder: Path, read: Callable[[str, Path], Any] = read_matrix) -> str:
    """What is said of a file, which takes little to refuse."""
    tracemalloc.start()
    try:
        with within_seconds(MOST_SECONDS), pytest.raises(ReadError) as refused:
            read(reference, folder)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    said = str(refused.value)
    assert len(said.splitlines()) == 1
    assert said.isprintable()
    assert len(said) < 2_500
    return said


@pytest.mark.parametrize(("name", "make"), share(MALFORMED, 6))
def test_a_malformed_file_is_refused_in_a_line(
    name: str, make: Callable[[], bytes], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(make())
    assert refusal(name, tmp_path).startswith(f"{name}: ")
    if name.endswith((".npz", ".safetensors")):
        assert refusal(f"{name}:Q", tmp_path).startswith(f"{name}: ")


def test_a_reader_that_trusts_headers_is_found_out(tmp_path: Path) -> None:
    def naive(reference: str, folder: Path) -> Any:
        with np.load(folder / reference) as arrays:
            raise ReadError(f"{reference}: {arrays['Q'].dtype}")

    (tmp_path / "q.npz").write_bytes(NPZ["a text of a hundred million bytes"]())
    with pytest.raises(AssertionError):
        refusal("q.npz", tmp_path, naive)


def test_no_more_is_read_than_the_header_promises(tmp_path: Path) -> None:
    """A member of zeros that goes on for 20 MB, and that its directory ends where it should."""
    whole = npy()
    made = archive(("Q.npy", whole + bytes(20_000_000)), how=zipfile.ZIP_DEFLATED)
    made = patched(made, b"PK\x01\x02", 16, struct.pack("<I", zlib.crc32(whole)))
    made = patched(made, b"PK\x01\x02", 24, struct.pack("<I", len(whole)))
    (tmp_path / "q.npz").write_bytes(made)
    tracemalloc.start()
    try:
        assert np.array_equal(read_matrix("q.npz", tmp_path), ROWS)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


WELL: dict[str, tuple[bytes, list[list[Any]]]] = {
    "big.npy": (npy(">f8", data=ROWS.astype(">f8").tobytes()), ROWS.tolist()),
    "order.npy": (npy(fortran=True), ROWS.T.tolist()),
    "v2.npy": (npy(version=(2, 0)), ROWS.tolist()),
    "v3.npy": (npy(version=(3, 0)), ROWS.tolist()),
    "half.npy": (npy("<f2", data=ROWS.astype("<f2").tobytes()), ROWS.tolist()),
    "bytes.npy": (npy("|i1", data=b"\x01\x02\xff\x80"), [[1, 2], [-1, -128]]),
    "words.npy": (npy(">u2", data=b"\x00\x01\x01\x00\x00\x00\xff\xff"), [[1, 256], [0, 65535]]),
    "truth.npy": (npy("|b1", data=b"\x01\x00\x02\x00"), [[True, False], [True, False]]),
    "python2.npy": (
        raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 2L), }\n"),
        ROWS.tolist(),
    ),
    "keys.npy": (
        raw_npy('{ "shape":(2,2),"descr":"<f8" , "fortran_order" : False }'),
        ROWS.tolist(),
    ),
    "stored.npz": (archive(("Q.npy", npy())), ROWS.tolist()),
    "deflated.npz": (archive(("Q.npy", npy()), how=zipfile.ZIP_DEFLATED), ROWS.tolist()),
    "half.safetensors": (
        tensors(tensor("F16", offsets=(0, 8)), ROWS.astype("<f2").tobytes()),
        ROWS.tolist(),
    ),
    "brain.safetensors": (
        tensors(tensor("BF16", (1, 2), (0, 4)), b"\x80\x3f\x40\xc0"),
        [[1.0, -3.0]],
    ),
    "truth.safetensors": (tensors(tensor("BOOL", (1, 2), (0, 2)), b"\x01\x00"), [[True, False]]),
    "notes.safetensors": (
        tensors({"__metadata__": {"made": "by hand"}, **tensor()}),
        ROWS.tolist(),
    ),
    "mark.csv": ("\ufeff1,0.50\r\n2,-3\r\n".encode(), [["1", "0.50"], ["2", "-3"]]),
    "semicolon.csv": (b"1;0,5\n2;-3\n", [["1", "0,5"], ["2", "-3"]]),
    "excel.csv": (b"1,5;0\n0;2,25\n", [["1,5", "0"], ["0", "2,25"]]),
    "powers.csv": (b"1,5E-05;0\n-2e3;e^2\n", [["1,5E-05", "0"], ["-2e3", "e^2"]]),
    "marked.csv": (b"\xef\xbb\xbfsep=;\r\n1;0\r\n", [["1", "0"]]),
    "masked.csv": (b"0,-inf\nsqrt(2),1/2\n", [["0", "-inf"], ["sqrt(2)", "1/2"]]),
    "tab.csv": (b"1\t0.5\n\n2\t-3\n", [["1", "0.5"], ["2", "-3"]]),
    "quotes.csv": (b'"1","1/2"\n,,,\n2, -3 ', [["1", "1/2"], ["2", "-3"]]),
    "old.csv": (b"1,2\r3,4\r", [["1", "2"], ["3", "4"]]),
    "UPPER.CSV": (b"1\n", [["1"]]),
}


@pytest.mark.parametrize("name", WELL)
def test_an_odd_file_is_read_right(name: str, tmp_path: Path) -> None:
    raw, rows = WELL[name]
    (tmp_path / name).write_bytes(raw)
    read = read_matrix(name, tmp_path)
    assert (read if isinstance(read, list) else read.tolist()) == rows
    if isinstance(read, np.ndarray):
        assert read.dtype.isnative
        assert read.flags.writeable


def test_safetensors_need_their_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    (tmp_path / "q.safetensors").write_bytes(tensors(tensor()))
    assert "pip install 'symattn[safetensors]'" in refusal("q.safetensors", tmp_path)


def test_matrices_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symattn.sheets.worksheet.LIMITS", replace(LIMITS, kept=10_000))
    np.save(tmp_path / "w.npy", np.zeros((2, 2)))
    heads = "".join(f'"W_Q[{head}]" = "w.npy"\n' for head in range(1, 99))
    with pytest.raises(ReadError, match="of all files together are too large"):
        worksheet_of(f"[given]\n{heads}", str(tmp_path / "sheet.toml"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,0\n", 'q.csv: row 1 has "a" in place 1, not a number; leave names of columns'),
        (",0,1\n0,1.0,0.0\n", "q.csv: row 1 has no entry in column 1; leave names of columns"),
        ("1,2\nthe,2\n", 'q.csv: row 2 has "the" in place 1, not a number; leave names'),
        ("# Q\n1,0\n", 'row 1 has "# Q" in place 1'),
        ("1,0,\n0,2,\n", "q.csv: row 1 has no entry in column 3; give a number in every place"),
        ("1.0e+00 0.0e+00\n0 2\n", "row 1 has spaces between numbers; put commas there"),
    ],
)
def test_tables_as_programs_write_them_are_told_what_to_leave_out(
    text: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "q.csv").write_text(text, encoding="utf-8")
    assert told in refusal("q.csv", tmp_path)


@pytest.mark.parametrize("cell", ["nan", "NA", "TRUE", "-inf", "1,5E-05", "sqrt(2)", "e^0,5"])
def test_a_cell_that_is_no_name_is_left_to_those_who_read_numbers(
    cell: str, tmp_path: Path
) -> None:
    (tmp_path / "q.csv").write_text(f"{cell};1\n{cell};2\n", encoding="utf-8")
    assert read_matrix("q.csv", tmp_path) == [[cell, "1"], [cell, "2"]]


def test_bytes_and_empty_archives_are_called_what_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "brain.npy", np.zeros((2, 2), "V2"))
    assert "raw bytes, as bfloat16 is saved" in refusal("brain.npy", tmp_path)
    with zipfile.ZipFile(tmp_path / "torch.npz", "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    assert "holds no matrix" in refusal("torch.npz", tmp_path)


def test_a_name_that_the_file_does_not_use_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_bytes(b"1,2\n")
    assert "leave :K out" in refusal("q.csv:K", tmp_path)


# Where files lie, and what they are.


def a_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def a_link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.parent / "pipe")
    path.symlink_to("pipe")


SPECIAL: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (Path.mkdir, "is a folder"),
    "a pipe": (os.mkfifo, "is a pipe"),
    "a socket": (a_socket, "is a socket"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "leads out of the folder"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "too many levels"),
    "a link to nothing": (lambda path: path.symlink_to("nothing.npy"), "there is no such file"),
    "a link to a pipe": (a_link_to_a_pipe, "is a pipe"),
}


@pytest.mark.parametrize("what", SPECIAL)
@pytest.mark.parametrize("ending", [".npy", ".npz", ".safetensors", ".csv"])
def test_only_regular_files_are_read(what: str, ending: str, tmp_path: Path) -> None:
    make, said = SPECIAL[what]
    make(tmp_path / f"q{ending}")
    assert said in refusal(f"q{ending}", tmp_path)


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "q.npy")
    with pytest.raises(ReadError, match="is not a regular file"):
        files.open_regular(tmp_path / "q.npy")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "q.npy").write_bytes(npy())

    def forbidden(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    assert refusal("q.npy", tmp_path) == "q.npy: cannot be read: permission denied"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/hosts.csv",
        "../q.csv",
        "a/../../q.csv",
        "a/../q.csv",
        "~/q.csv",
        "~root/q.csv",
        "q\x00.csv",
        "q\n.csv",
        "\x1b]0;x.csv",
        "con.csv",
        "a/NUL.csv",
        "lpt1.npy",
        "x" * 300 + ".csv",
        "/dev/stdin.csv",
        "none.csv",
        "none/q.csv",
        "q.csv/q.csv",
        ".csv",
        "",
    ],
)
def test_a_name_that_is_no_file_beside_the_worksheet(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "q.csv").write_bytes(b"1,2\n")
    refusal(name, folder)


SECRET = "hunter2-is-a-secret"
REST = "K = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n[claims]\nweights = [[0.67, 0.33]]\n"


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose worksheets and pages lead out of it by links."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "strangers"
    (folder / "docs").mkdir(parents=True)
    secret = f"[given]\n{SECRET} = {SECRET}\n{SECRET},{SECRET}\n"
    for name in ("secret.toml", "secret.md", "secret.csv", "secret.npy"):
        (home / name).write_text(secret, "utf-8")
        (folder / f"link-{name}").symlink_to(home / name)
    (folder / "out").symlink_to(home, target_is_directory=True)
    (folder / "data.csv").write_text("1,0\n", "utf-8")
    (folder / "docs" / "inside.csv").symlink_to("../data.csv")
    for name, file in {
        "csv": "link-secret.csv",
        "npy": "link-secret.npy",
        "folder": "out/secret.csv",
        "up": "../secret.csv",
        "absolute": str(home / "secret.csv"),
    }.items():
        (folder / f"sheet-{name}.toml").write_text(f'[given]\nQ = "{file}"\n{REST}', "utf-8")
    for name, file in {
        "link": "link-secret.toml",
        "folder": "out/secret.toml",
        "up": "../secret.toml",
    }.items():
        text = f"```symattn {file}\n```\n\n{{claim}}`weights[1,1] = 0.67`\n"
        (folder / f"page-{name}.md").write_text(text, "utf-8")
    return folder


def said(*words: str | Path) -> str:
    ran = CliRunner().invoke(main, [str(word) for word in words])
    assert ran.exit_code == 2
    assert "internal error" not in ran.output
    assert "Traceback" not in ran.output
    return ran.output


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_check_tells_nothing_of_a_file_outside(form: str, strangers: Path) -> None:
    told = said("check", strangers, "--format", form)
    assert SECRET not in told
    for name in ("link-secret.toml", "link-secret.md", "out"):
        assert f"{name}: leads out of the folder; name it to have it read" in told


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", ["csv", "npy", "folder", "up", "absolute"])
def test_derive_tells_nothing_of_a_file_outside(form: str, name: str, strangers: Path) -> None:
    told = said("derive", strangers / f"sheet-{name}.toml", "--format", form)
    assert SECRET not in told
    assert "has to lie beside the worksheet" in told


@pytest.mark.parametrize("name", ["link", "folder", "up"])
def test_render_tells_nothing_of_a_file_outside(name: str, strangers: Path) -> None:
    page = strangers / f"page-{name}.md"
    for told in (said("render", page, "--check"), said("check", page), said("render", strangers)):
        assert SECRET not in told
        assert "has to lie beside the page" in told
    assert SECRET not in page.read_text("utf-8")


def test_a_link_that_stays_in_the_folder_is_followed(strangers: Path) -> None:
    inside = strangers / "docs" / "inside.csv"
    text = f'[given]\nQ = "docs/inside.csv"\n{REST}'
    sheet = worksheet_of(text, str(strangers / "sheet.toml"))
    assert sheet.files == (inside.resolve(),)
    with pytest.raises(ReadError, match="leads out of the folder"):
        worksheet_of(text.replace("docs/", ""), str(inside.parent / "sheet.toml"))
    assert worksheet_of(
        text.replace("docs/", ""), str(inside.parent / "sheet.toml"), roots=[strangers]
    ).files == (inside.resolve(),)


def test_files_that_are_watched_are_those_that_may_be_read(strangers: Path) -> None:
    text = (
        "data.csv docs/inside.csv link-secret.csv out/secret.csv ../secret.csv /etc/hosts.csv "
        "sheet-csv.toml none.toml 'my data.csv:x'"
    )
    assert [path.name for path in files_named(text, strangers)] == [
        "data.csv",
        "inside.csv",
        "sheet-csv.toml",
        "none.toml",
        "my data.csv",
    ]


def test_a_file_that_is_named_is_trusted_as_to_its_place(strangers: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(f"[given]\nQ = [[1, 0]]\n{REST}", "utf-8")
    link = strangers / "docs" / "named.toml"
    link.symlink_to(sheet)
    try:
        ran = CliRunner().invoke(main, ["check", str(link)])
        assert ran.exit_code == 0, ran.output
        with pytest.raises(ReadError, match=r"named\.toml: leads out of the folder"):
            list(files_in(strangers / "docs"))
    finally:
        link.unlink()


def test_pipes_and_broken_links_of_a_folder_are_said_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "gone.toml").symlink_to("nowhere.toml")
    (tmp_path / "page.md").write_text("words", "utf-8")
    (tmp_path / "again.md").symlink_to("page.md")
    problems: list[str] = []
    assert [path.name for path in files_in(tmp_path, problems)] == ["again.md", "page.md"]
    assert problems == [
        f"{tmp_path / 'gone.toml'}: cannot be read: no such file or directory",
        f"{tmp_path / 'pipe.md'}: is a pipe, and is not read",
    ]


_CODES = {
    "bool": "BOOL",
    "int8": "I8",
    "uint64": "U64",
    "float16": "F16",
    "float64": "F64",
}


def extremes(dtype: str) -> list[Any]:
    """The ends of a dtype's range, and what is no number."""
    if dtype == "bool":
        return [False, True]
    if "int" in dtype:
        return [np.iinfo(dtype).min, np.iinfo(dtype).max]
    info = np.finfo(dtype)
    return [info.min, info.max, info.smallest_subnormal, -0.0, np.nan, np.inf, -np.inf]


@pytest.mark.parametrize("dtype", share(_CODES, 8))
def test_numbers_at_the_end_of_a_range_are_marked_without_a_warning(
    dtype: str, tmp_path: Path
) -> None:
    """A warning is an error here: none may reach the reader of a report."""
    sheet = tmp_path / "task.toml"
    sheet.write_text(
        "[attention]\nscale = false\n[given]\nscores = [[1, 2], [0, 1]]\nV = [[1], [2]]\n",
        encoding="utf-8",
    )
    for number in extremes(dtype):
        array = np.zeros((2, 2), dtype)
        array[0, 1] = number
        header = {"weights": {"dtype": _CODES[dtype], "shape": [2, 2]}}
        header["weights"]["data_offsets"] = [0, array.nbytes]
        (tmp_path / "a.safetensors").write_bytes(tensors(header, array.tobytes()))
        np.save(tmp_path / "a.npy", array)
        named = tmp_path / "named.toml"
        named.write_text(sheet.read_text("utf-8") + '[claims]\nweights = "a.npy"\n', "utf-8")
        for given in ((sheet, "--claims", "a.safetensors"), (named,)):
            words = [str(tmp_path / word) if "." in str(word) else str(word) for word in given]
            done = CliRunner().invoke(main, ["check", *words])
            assert done.exit_code == 1, (number, done.output)
            assert "weights[1,1]" in done.output
