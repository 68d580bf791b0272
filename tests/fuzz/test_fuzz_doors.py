"""A moment of fuzzing at every door, the same inputs every time, and each watcher seen to bark.

``python -m tests.fuzz.doors`` goes on for as long as it is told.
"""

from __future__ import annotations

import mmap
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from symattn.errors import SymattnError
from tests.fuzz import targets, watch
from tests.fuzz.doors import Tally, Worker, input_of, table
from tests.fuzz.making import packed, unpacked
from tests.fuzz.targets import OUTCOMES, TARGETS, Target, tried
from tests.fuzz.watch import SECRET, Place, place_of_its_own

#: How many inputs of a door are tried here: about a quarter of a second's worth of each.
COUNTS = {
    "check": 10,
    "check file": 6,
    "python": 4,
    "derive": 20,
    "equal": 12,
    "prove": 6,
    "data": 24,
    "render": 5,
    "sphinx": 5,
    "myst": 6,
    "mkdocs": 10,
    "cells": 6,
    "command line": 6,
}


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with place_of_its_own(lambda root: [root / "built", root / "trees"]) as made:
        yield made


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore")  # of docutils and Sphinx, whose doors stay open
def test_nothing_is_found_at_a_door(name: str, place: Place) -> None:
    target = TARGETS[name]
    outcomes: set[str] = set()
    for number in range(8 * COUNTS[name]):
        if number >= COUNTS[name] and len(outcomes) > 1 and outcomes & {"done", "wrong"}:
            break  # what is drawn changes with the variants that there are
        one = tried(target, input_of(target, 0, number), place)
        assert not one.found, f"--target {name!r} --seed 0 --first {number}: {one}"
        outcomes.add(one.kind)
    assert len(outcomes) > 1, "all inputs come to the same: they are no test"
    assert outcomes & {"done", "wrong"}


def test_inputs_are_the_same_every_time() -> None:
    for target in TARGETS.values():
        assert input_of(target, 4, 2) == input_of(target, 4, 2)
        assert len({input_of(target, 4, number) for number in range(8)}) > 4


def test_words_and_content_come_back() -> None:
    words = ["--steps", "a\tb\nc", "é\\", "\x1b", "\ud800", "\\x41"]
    assert unpacked(packed(words, b"\n\0x")) == (words, b"\n\0x")
    assert unpacked(b"\xff\xfe\t\\") == (["\ufffd\ufffd", "\\"], b"")


# ---- each watcher is seen to bark --------------------------------------------------------------


def _reads_beside(data: bytes, place: Place) -> str:
    return (place.outside / "secret.txt").read_text() and "done"


def _follows(data: bytes, place: Place) -> str:
    return (place.folder / "link-secret.csv").read_text() and "done"


def _says_a_secret(data: bytes, place: Place) -> str:
    watch.clean(f"cell {SECRET} is no number")
    return "done"


def _writes(data: bytes, place: Place) -> str:
    (place.folder / "new.txt").write_text("x")
    return "done"


def _writes_outside(data: bytes, place: Place) -> str:
    (place.root / "new.txt").write_text("x")
    return "done"


def _removes(data: bytes, place: Place) -> str:
    (place.folder / "sheet.toml").unlink()
    return "done"


def _starts(data: bytes, place: Place) -> str:
    subprocess.run(["true"], check=True)
    return "done"


def _shell(data: bytes, place: Place) -> str:
    os.system("true")
    return "done"


def _evaluates(data: bytes, place: Place) -> str:
    eval("1 + 1")
    return "done"


def _raises(data: bytes, place: Place) -> str:
    raise ValueError("no message of ours")


def _tells_two_lines(data: bytes, place: Place) -> str:
    def refuse() -> None:
        error = SymattnError()
        error.args = ("one line\nand another",)  # as it is made, it has one line
        raise error

    return targets._library(data, place, "", refuse)


def _tells_no_place(data: bytes, place: Place) -> str:
    return targets._library(data, place, "x.toml", lambda: _refuse("wrong"))


def _refuse(message: str) -> None:
    raise SymattnError(message)


def _escapes(data: bytes, place: Place) -> str:
    watch.clean("a name: \x1b]0;x\x07")
    return "done"


def _is_slow(data: bytes, place: Place) -> str:
    start = time.process_time()
    while time.process_time() - start < watch.SECONDS + 0.01:
        pass
    return "done"


def _takes_memory(data: bytes, place: Place) -> str:
    with mmap.mmap(-1, watch.MEMORY + 1_000_000) as taken:  # new pages, not what malloc has kept
        taken.write(b"x" * len(taken))
    return "done"


BAD: dict[Callable[[bytes, Place], str], str] = {
    _reads_beside: "read",
    _follows: "read",
    _says_a_secret: "leak",
    _writes: "write",
    _writes_outside: "write",
    _removes: "write",
    _starts: "run",
    _shell: "run",
    _evaluates: "run",
    _raises: "traceback",
    _tells_two_lines: "lines",
    _tells_no_place: "place",
    _escapes: "escape",
    _is_slow: "slow",
    _takes_memory: "memory",
}


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
def test_what_may_not_be_is_found(
    bad: Callable[[bytes, Place], str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "SECONDS", 0.2 if bad is _is_slow else 5.0)
    monkeypatch.setattr(watch, "MEMORY", 60_000_000)
    one = tried(Target("bad", lambda _: b"", bad), b"", place)
    assert (one.kind, one.found) == (BAD[bad], True), one
    assert (place.folder / "sheet.toml").is_file(), "the folder is made again"
    good = tried(Target("good", lambda _: b"", lambda *_: "done"), b"", place)
    assert (good.kind, good.found) == ("done", False), good


def test_what_is_asked_for_may_be_written(place: Place) -> None:
    assert (
        tried(Target("ok", lambda _: b"", _writes, lambda _: ("new.txt",)), b"", place).kind
        == "done"
    )
    assert not (place.folder / "new.txt").exists(), "for the next input all is as it was"


@pytest.mark.parametrize(
    ("does", "kind"),
    [
        (lambda: 1 / 0, "internal"),
        (lambda: print("::error::forged"), "forged"),
        (lambda: print("Traceback (most recent call last)"), "traceback"),
        (lambda: print("two\nlines", file=__import__("sys").stderr), "lines"),
        (lambda: __import__("sys").exit(2), "internal"),  # so says the door
        (lambda: 2, "status"),  # and no line that says why
    ],
)
def test_a_command_that_misbehaves_is_found(
    does: Callable[[], Any], kind: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn.cli import lists

    monkeypatch.setattr(lists.variants, "callback", lambda **options: does())
    bad = Target("bad", lambda _: b"", lambda data, place: targets.command(["variants"]))
    assert tried(bad, b"", place).kind == kind


@pytest.mark.nightly
def test_a_process_that_hangs_or_dies_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, log = Worker(TARGETS["cells"], tmp_path / "log", wall=0.0), tmp_path / "log"
    log.touch()
    worker.process = subprocess.Popen(
        ["sleep", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert worker(seed=0, number=0).kind == "hang"
    worker.wall = 60.0
    started = worker._begun()
    assert worker(seed=0, number=0).kind in OUTCOMES
    started.kill()
    started.wait()
    assert worker(seed=0, number=0).kind == "died"
    worker.close()


def test_the_table_counts_and_names_what_reproduces(tmp_path: Path) -> None:
    tally = Tally("data")
    tally.add(targets.Tried("refused", seconds=0.5, memory=3_000_000), lambda: "")
    for number in range(5):
        tally.add(targets.Tried("leak", f"cell {number}", "symattn/x.py:3"), lambda: f"f{number}")  # noqa: B023
    said = table([tally]).splitlines()
    assert said[2] == "| data | 6 | 0 | 0 | 0 | 1 | 0 | 0.5 | 3 | 1 |"
    assert [line.rpartition("[")[2] for line in said[3:]] == ["f0]", "f1]", "f2]"]
    assert "leak (5 times) symattn/x.py:3" in said[3]
