"""``python -m tests.golden``: what is printed against what was, see the package."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.golden import DIGESTS, ROOT, WHOLE, Row, groups, kept, matches, of_group, path_of


def main() -> int:
    """Print all rows, or what the arguments say, and compare or write; 1 if one has changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("words", nargs="*", help="only rows whose keys hold one of these words")
    parser.add_argument("--write", action="store_true", help="take what is printed for right")
    parser.add_argument("--show", metavar="ROW", help="what has changed in this row")
    parser.add_argument("--print", metavar="ROW", dest="printed", help="print this row")
    parser.add_argument("--since", metavar="REVISION", default="HEAD")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    if chosen.printed is not None:
        sys.stdout.write(row_of(chosen.printed).text)
        return 0
    if chosen.show is not None:
        return shown(chosen.show, chosen.since)
    found = printed(chosen.words, chosen.jobs)
    if chosen.write:
        write(found, whole=not chosen.words)
        return 0
    known = kept()
    wanted = [key for key in known if matches(key, chosen.words)]
    amiss = [key for key in {**dict.fromkeys(wanted), **found} if known.get(key) != found.get(key)]
    print(*amiss, sep="\n", end="\n" if amiss else "")
    print(f"{len(found)} rows, {len(amiss)} changed")
    return 1 if amiss else 0


def row_of(key: str) -> Row:
    """The row of this key."""
    group = groups().get(key.split(" ", 1)[0])
    for row in group() if group is not None else ():
        if row.key == key:
            return row
    raise SystemExit(f"{key}: no such row; {DIGESTS.name} lists them")


def printed(words: list[str], jobs: int) -> dict[str, str]:
    """The digests of the rows asked for, in their order."""
    tasks = [(name, words) for name in groups()]
    # what takes longest goes first
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(of_group, tasks[::-1]))[::-1]
    return {key: found for part in parts for key, found in part}


def write(found: dict[str, str], whole: bool) -> None:
    """Keep the digests, and the whole texts of a few rows."""
    path_of("").parent.mkdir(exist_ok=True)
    every = found if whole else kept() | found
    DIGESTS.write_text("".join(f"{key} {seen}\n" for key, seen in every.items()), encoding="utf-8")
    for key in WHOLE:
        if key in found:
            path_of(key).write_text(row_of(key).text, encoding="utf-8")


def shown(key: str, since: str) -> int:
    """Print how a row differs from what a commit prints."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", since], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        before = text_in(Path(folder), key).splitlines(keepends=True)
    after = text_in(ROOT, key).splitlines(keepends=True)
    lines = list(difflib.unified_diff(before, after, f"{key} ({since})", f"{key} (here)"))
    sys.stdout.writelines(lines or [f"{key}: unchanged since {since}\n"])
    return 1 if lines else 0


def text_in(checkout: Path, key: str) -> str:
    """What a row prints in a checkout."""
    return subprocess.run(
        [sys.executable, "-m", "tests.golden", "--print", key],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
