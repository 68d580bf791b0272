"""What a student hands in to stop the marking of all: time and memory that one file takes.

``python -m tests.fuzz.poisoned [--count 200] [--seed 1]`` reads so many files of each kind, each in
a child of its own: cut off, spoilt, nested, with huge counts, with names and definitions that grow,
with sizes that lie. It prints the longest time and the most memory of each kind, with what took it.
The exit status is 1 where a file takes more than 3 s or 300 MB, or is an exception. Linux only.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import signal
import struct
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from typing import NamedTuple

from symattn.classroom.answers import READERS
from symattn.classroom.submissions import submissions_in
from tests import slower
from tests.classroom.handed_in import marking
from tests.classroom.test_submissions import seeds

#: Seconds, on a usual machine, and bytes that a file may take; seconds until it is given up.
MOST_SECONDS, MOST_BYTES, _PATIENCE = 3.0, 300_000_000, 20

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OPEN = f'<w:document xmlns:w="{_W}"><w:body>'


class Taken(NamedTuple):
    """What a file took, and how its reading ended: a status of 0 where all is well."""

    what: str
    seconds: float
    bytes: int
    status: int

    @property
    def is_bad(self) -> bool:
        return self.seconds > MOST_SECONDS or self.bytes > MOST_BYTES or self.status != 0


def read(file: Path) -> None:
    """Read a file as a stack does before it asks the pool."""
    for one in submissions_in(file):
        if not one.fault:
            marking().sheet.read(one)


def taken(what: str, file: Path, reading: Callable[[Path], None] = read) -> Taken:
    """Read a file in a child of its own."""
    before = _in_use()
    child = os.fork()
    if child == 0:
        signal.alarm(_PATIENCE)
        try:
            reading(file)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    most = 1024 * usage.ru_maxrss - before
    seconds = (usage.ru_utime + usage.ru_stime) / slower()
    return Taken(what, seconds, most, status)


def _in_use() -> int:
    return resource.getpagesize() * int(Path("/proc/self/statm").read_text("ascii").split()[1])


# ---- files ---------------------------------------------------------------------------------------


def spoilt(rng: Random, ending: str) -> bytes:
    """A file that is cut off, or in which some bytes are others."""
    raw = bytearray(rng.choice(seeds(ending)))
    if rng.random() < 1 / 3:
        return bytes(raw[: rng.randrange(len(raw) + 1)])
    for _ in range(rng.randrange(1, 20)):
        place = rng.randrange(len(raw) + 1)
        some = rng.choice((b"\0", b"\xff" * 4, b"[" * 50, b'"', b"<", b"\n", b"9" * 40, b"{"))
        raw[place : place + rng.randrange(3)] = some
    return bytes(raw)


def _lines(line: str, size: int) -> bytes:
    """Lines with a number in each, as many as fit."""
    count = size // (len(line) + 7)
    return "".join(f"{line.format(k)}\n" for k in range(count)).encode()


def toml(size: int) -> Iterator[tuple[str, bytes]]:
    yield "keys", b"[claims]\n" + _lines('"scores[1,{}]" = 1', size)
    yield "names of nothing", b"[claims]\n" + _lines("a{} = 1", size)
    yield "misspelt names", b"[claims]\n" + _lines('"wieghts[1,{}]" = 1', size)
    yield "tables", _lines("[a.b{}]", size)
    yield "dotted keys", _lines("a.b.c.d.e.f.g.h{} = 1", size)
    yield "arrays of tables", _lines("[[a]] # {}", size)
    yield "brackets", b"[claims]\na = " + b"[" * (size // 2) + b"]" * (size // 2)
    yield "inline tables", b"[claims]\na = " + b"{a=" * (size // 4) + b"1" + b"}" * (size // 4)
    yield "a long number", b"[claims]\na = " + b"9" * size
    yield "an exponent", b"[claims]\na = 1e" + b"9" * size
    yield "long decimals", b"[claims]\na = 0." + b"3" * size
    yield "a long list", b"[claims]\nscores = [" + b"1," * (size // 2) + b"]"
    yield "lists in lists", b"[claims]\nscores = [" + b"[1]," * (size // 4) + b"]"
    yield "a long string", b'[claims]\n"scores[1,1]" = "' + b"7" * size + b'"'
    yield "escapes", b'[claims]\na = "' + b"\\u0041" * (size // 6) + b'"'
    yield "a long key", b'[claims]\n"' + b"weights[1," * (size // 10) + b'" = 1'
    yield "comments", b"#\n" * (size // 2)
    yield "carriage returns", b"\r" * size
    yield "dates", b"[claims]\n" + _lines("a{} = 2026-01-01T00:00:00.123456789", size)


def as_json(size: int) -> Iterator[tuple[str, bytes]]:
    yield "keys", b"{" + _lines('"weights[1,{}]":1,', size) + b'"a":1}'
    yield "names of nothing", b"{" + _lines('"a{}":1,', size) + b'"a":1}'
    yield "misspelt names", b"{" + _lines('"wieghts[1,{}]":1,', size) + b'"a":1}'
    yield "lists", b'{"a":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}"
    yield "tables", b'{"a":' * (size // 6) + b"1" + b"}" * (size // 6)
    yield "empty lists", b'{"scores":[' + b"[]," * (size // 3) + b"1]}"
    yield "numbers", b'{"scores":[' + b"1," * (size // 2) + b"1]}"
    yield "a long number", b'{"scores":' + b"1" * size + b"}"
    yield "an exponent", b'{"scores":1e' + b"9" * size + b"}"
    yield "a long string", b'{"scores[1,1]":"' + b"1" * size + b'"}'
    yield "one key", b"{" + b'"scores":1,' * (size // 11) + b'"a":1}'
    yield "others", b'{"claims":{},' + _lines('"a{}":[[[1]]],', size) + b'"b":1}'
    yield "surrogates", b'{"scores":"' + b"\\ud800" * (size // 6) + b'"}'


def as_csv(size: int, sign: str = ",") -> Iterator[tuple[str, bytes]]:
    yield "signs", sign.encode() * size
    yield "quotes", b'"' * size
    yield "quotes never closed", _lines(f'"a{{}}{sign}', size)
    yield "rows", _lines(f"weights[1{sign}{{}}]{sign}1", size)
    yield "names of nothing", _lines(f"a{{}}{sign}1", size)
    yield "matrices", _lines(f"a{{}}\n1{sign}2", size)
    yield "a long cell", b"scores" + sign.encode() + b"1" * size
    yield "brackets", f"a[{sign}".encode() * (size // 3)
    heads = sign.join(f"w{k}" for k in range(size // 7))
    yield "heads", f"student{sign}{heads}\nAda{sign}1\n".encode()
    heads = sign.join(f"w{k}" for k in range(20_000))
    yield "wide rows", (f"student{sign}{heads}\n" + f"Ada{f'{sign}1' * 20_000}\n" * 10).encode()
    yield "blank lines", b"\n" * size
    yield "one long line", b"student" + b" " * size


def md(size: int) -> Iterator[tuple[str, bytes]]:
    fence = "```\n[claims]\nw{} = 1\n```"
    yield "worksheets", _lines(fence, min(size, 200_000))
    yield "fences", b"```\n" * min(size // 4, 49_000)
    yield "headings", _lines("# a{} " + "#" * 30, min(size, 1_500_000))
    yield "tables", _lines("|a|\n|-|\n|{}|\n", min(size, 200_000))
    yield "bars", b"|" * (size // 2) + b"\n" + b"|-" * (size // 4) + b"\n"
    yield "rows", b"|a|b|\n|-|-|\n" + b"|1|2|\n" * min(size // 6, 49_000)
    yield "blanks", b" " * size
    yield "tabs before claims", b"```\n" + b"\t" * size + b"\n```"
    yield "entities", b"|a|\n|-|\n|" + b"&amp" * (size // 4) + b"|\n"
    yield "names", b"Name:" + b" " * 390 + b"\n" * 49_000
    yield "seeds", (b"Name: " + b"Seed " * 70 + b"\n") * min(size // 360, 49_000)
    yield "stars", b"*" * size


def ipynb(size: int) -> Iterator[tuple[str, bytes]]:
    def cells(kind: str, source: object, count: int) -> bytes:
        cell = json.dumps({"cell_type": kind, "source": source})
        return b'{"cells":[' + b",".join([cell.encode()] * count) + b"]}"

    sheet = "[claims]\nw = 1\n"
    yield "worksheets", cells("code", sheet, size // 60)
    many = [json.dumps({"source": f"[claims]\nw{k} = 1"}) for k in range(size // 40)]
    yield "worksheets of other keys", f'{{"cells":[{",".join(many)}]}}'.encode()
    yield "empty cells", b'{"cells":[' + b"{}," * (size // 3) + b"{}]}"
    yield "numbers for cells", b'{"cells":[' + b"1," * (size // 2) + b"1]}"
    yield "sources of parts", cells("markdown", ["|"] * (size // 10), 1)
    yield "tables", cells("markdown", "|a|\n|-|\n|1|", size // 60)
    yield "many lines", cells("markdown", "\n" * 40_000, max(size // 81_000, 1))
    yield "a picture", cells("markdown", "A" * size, 1)
    yield "nested", b'{"cells":' + b"[" * size


def _document(text: bytes, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", how) as archive:
        archive.writestr("word/document.xml", text)
    return raw.getvalue()


def docx(size: int) -> Iterator[tuple[str, bytes]]:
    size = 5 * size // 2  # a text in an archive may be larger
    open_, close = _OPEN.encode(), b"</w:body></w:document>"
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 9))
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><x>&l8;</x>'
    yield "laughs", _document(bomb.encode())
    yield "laughs in UTF-16", _document(bomb.encode("utf-16"))
    yield "laughs in UTF-16 without a mark", _document(bomb.encode("utf-16-be"))
    yield "laughs in UTF-7", _document(b"<?xml version='1.0' encoding='utf-7'?>" + bomb.encode())
    yield "elements", _document(open_ + b"<a/>" * (size // 4) + close)
    yield (
        "attributes",
        _document(b"<x " + b" ".join(b'a%d=""' % k for k in range(size // 11)) + b"/>"),
    )
    yield "names", _document(open_ + b"".join(b"<a%d/>" % k for k in range(size // 11)) + close)
    uri = b"u" * (size // 20)
    names = b"".join(b"<a%d/>" % k for k in range(2000))
    yield "a long namespace", _document(b'<x xmlns="' + uri + b'">' + names + b"</x>")
    for depth in (100, 500, 900, 5000, 200_000):
        yield f"{depth} deep", _document(b"<a>" * depth + b"</a>" * depth)
        inner = b"<w:p/>" * ((size - 20 * depth) // 6)
        inside = b"<a>" * depth + inner + b"</a>" * depth
        yield f"paragraphs {depth} deep", _document(open_ + inside + close)
        table, end = b"<w:tbl><w:tr><w:tc>", b"</w:tc></w:tr></w:tbl>"
        filled = b"<w:p><w:t>1</w:t></w:p>" * (max(size - 50 * depth, 0) // 30)
        inside = table * depth + filled + end * depth
        yield f"tables {depth} deep", _document(open_ + inside + close)
        yield (
            f"texts {depth} deep",
            _document(
                open_ + b"<w:p>" + b"<a>" * depth + b"<w:t>" + b"x" * size + b"</w:t>"
                b"" + b"</a>" * depth + b"</w:p>" + close
            ),
        )
    yield "a long text", _document(open_ + b"<w:p><w:t>" + b"x" * size + b"</w:t></w:p>" + close)
    yield "tables", _document(open_ + b"<w:tbl><w:tr><w:tc/></w:tr></w:tbl>" * (size // 40) + close)
    yield (
        "rows",
        _document(
            open_ + b"<w:tbl>" + b"<w:tr><w:tc/></w:tr>" * (size // 20) + b"</w:tbl>" + close
        ),
    )
    yield "comments", _document(open_ + b"<!---->" * (size // 7) + close)
    yield "a large text", _document(open_ + b" " * 19_000_000 + close)
    yield "too large a text", _document(open_ + b" " * 30_000_000 + close)


def _directory(count: int) -> bytes:
    """An archive whose directory has so many members, none of which is there."""
    one = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 0, 0, 9, 9, 6, 0, 0, 0, 0, 0, 0
    )
    members = b"".join(one + b"%06d" % (k % 1_000_000) for k in range(count))
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count % 65536, count % 65536, len(members), 0, 0)
    return members + end


def zipped(size: int) -> Iterator[tuple[str, bytes]]:
    yield "too many members", _directory(100_001)
    yield "too large a directory", _directory(20 * size // 53)
    for what, made in docx(size):
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ada/x.docx", made)
        yield f"a document: {what}", raw.getvalue()
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada.toml", b"#" * 200_000_000)
    yield "a bomb", raw.getvalue()


def parquet(size: int) -> Iterator[tuple[str, bytes]]:
    import pyarrow as pa
    from pyarrow import parquet as pq

    def table(columns: Mapping[str, object], **more: object) -> bytes:
        raw = io.BytesIO()
        pq.write_table(pa.table(columns), raw, **more)
        return raw.getvalue()

    many = ["Ada"] * 1000
    yield (
        "one long text a thousand times",
        table({"student": many, "scores": ["1" * size] * 1000}, compression="zstd"),
    )
    yield (
        "long texts",
        table({"student": many, "scores": [f"{k}" + "1" * (size // 1000) for k in range(1000)]}),
    )
    yield "long lists", table({"student": many, "scores": [[0.5] * (size // 4000)] * 1000})
    yield "one long list", table({"student": ["Ada"], "scores": [[0.5] * (2 * size)]})
    yield "columns", table({"student": ["Ada"], **{f"w{k}": ["1"] for k in range(size // 400)}})
    yield "nulls", table({"student": many, "scores": [None] * 1000})
    whole = table({"student": many, "scores": ["1"] * 1000})
    for place in range(len(whole) - 400, len(whole), 5):
        yield f"byte {place} is another", whole[:place] + b"\xff" + whole[place + 1 :]


KINDS: Mapping[str, Callable[[int], Iterator[tuple[str, bytes]]]] = {
    ".toml": toml,
    ".json": as_json,
    ".csv": as_csv,
    ".tsv": lambda size: as_csv(size, "\t"),
    ".md": md,
    ".ipynb": ipynb,
    ".docx": docx,
    ".zip": zipped,
    ".parquet": parquet,
}

#: The bytes that a poisonous file begins with, at most those that are read.
_SIZES: Mapping[str, int] = {".ipynb": 4_900_000, ".parquet": 4_000_000}


def files(ending: str, count: int, rng: Random) -> Iterator[tuple[str, bytes]]:
    """So many files of a kind: those that were thought of, in three sizes, then spoilt ones."""
    whole = _SIZES.get(ending, 1_950_000)
    made = 0
    for size in (whole, whole // 3, whole // 20):
        for what, raw in KINDS[ending](size):
            yield f"{what}, {len(raw):,} bytes", raw
            made += 1
    for number in range(count - made):
        yield f"spoilt {number}", spoilt(rng, ending)


def measured(ending: str, count: int, seed: int, folder: Path) -> list[Taken]:
    """What each file of a kind takes."""
    file = folder / f"ada{ending}"
    found = []
    for what, raw in files(ending, count, Random(f"{seed}{ending}")):
        file.write_bytes(raw)
        found.append(taken(what, file))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=[*KINDS], action="append")
    asked = parser.parse_args()
    marking()
    import_module("pyarrow.parquet")
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        for ending in asked.kind or KINDS:
            found = measured(ending, asked.count, asked.seed, Path(name))
            slow = max(found, key=lambda one: one.seconds)
            large = max(found, key=lambda one: one.bytes)
            print(
                f"{ending:9} {len(found):4} files  {slow.seconds:6.2f} s ({slow.what})  "
                f"{large.bytes / 1e6:6.0f} MB ({large.what})",
                flush=True,
            )
            for one in filter(lambda one: one.is_bad, found):
                bad += 1
                print(
                    f"    {one.seconds:.1f} s, {one.bytes / 1e6:.0f} MB, {one.status}: {one.what}"
                )
    return int(bad > 0)


assert {*KINDS} == {*READERS, ".zip", ".parquet"}

if __name__ == "__main__":
    sys.exit(main())
