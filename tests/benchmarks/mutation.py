"""What a room's tests notice of small changes to the room: a seeded sample of mutants.

    python tests/benchmarks/mutation.py --count 25 --seed 1 symattn/notation symattn/nodes

mutmut makes the mutants; it runs all of a file or those named, and cannot draw. Everything happens
in a copy. The tests of a room are those of the folder of ``tests/`` with its name and its doctests,
or what --tests names. They run there once, each with as many parameters as take ten seconds,
and coverage notes which of them reaches which line. A mutant is judged by the tests that reach its
statement, quickest first, as many as take --budget seconds, then by others that reach its file.

Noticed is a mutant of which a test fails that passes without the change. What cannot be imported
and what takes too long is counted apart, since no assertion has seen it. What only another test,
another parameter or a process of its own would notice survives here.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from math import inf, sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import coverage
import libcst as cst
import pytest
from mutmut.mutation.mutators import mutation_operators

SHARE = 10.0  # seconds of a test function, after which its other parameters are left out
LONGEST = 3600  # seconds of a room's tests
WAITING = 20  # seconds that may pass for one of the processor, which others use too
PRELOADED = ("sympy", "numpy", "flint", "hypothesis", "mpmath", "rich.console", "docutils.core")
PYTEST = (
    *("-q", "-o", "addopts=--doctest-modules", "-pno:symattn", "-pno:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is preloaded
)
VERDICTS = ("noticed", "survived", "not reached", "no import", "too long", "not judged")
#: The verdict by the status of pytest or the signal that ended it: 4 is an import of conftest.
STATUSES = {0: "survived", 1: "noticed", 2: "no import", 4: "no import", None: "too long"}
STATUSES[-signal.SIGXCPU] = "too long"


class Mutant(NamedTuple):
    """A changed file: its path from the root, its text, the lines of the statement, the change."""

    path: str
    text: str
    lines: range
    diff: str


def nodes(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What may be changed in a module: no annotation, decorator or import."""
    yield tree
    for child in tree.children:
        if not isinstance(child, cst.Annotation | cst.Decorator | cst.Import | cst.ImportFrom):
            yield from nodes(child)


def drawn(root: Path, room: str, count: int, random: Random) -> Iterator[Mutant]:
    """Mutants of a folder or file: a file by its length, a place in it, one of its changes."""
    top = root / room
    files = sorted(top.rglob("*.py")) if top.is_dir() else [top]
    chosen = random.choices(files, [path.stat().st_size for path in files], k=count)
    for path in sorted(chosen):
        old, name = path.read_text(encoding="utf-8"), str(path.relative_to(root))
        module = cst.parse_module(old)
        places, changes = list(nodes(module)), list[Any]()
        while not changes:
            node = random.choice(places)
            kinds = [operator for kind, operator in mutation_operators if isinstance(node, kind)]
            changes = [change for operator in kinds for change in operator(node)]
        new = cast(cst.Module, module.deep_replace(node, random.choice(changes))).code
        a, b = old.splitlines(), new.splitlines()
        diff = list(difflib.unified_diff(a, b, name, n=1, lineterm=""))
        line = 1 + next(k for k, both in enumerate(zip(a, b, strict=False)) if len({*both}) > 1)
        yield Mutant(name, new, statement(old, line), "\n".join([f"{name}:{line}", *diff[3:]]))


def statement(text: str, line: int) -> range:
    """The lines of the innermost statement around a line; of a compound one, those of its head."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.end_lineno is not None:
            inner = [each.lineno for each in getattr(node, "body", ()) if each.lineno > node.lineno]
            lines = range(node.lineno, min([*inner, node.end_lineno + 1]))
            if line in lines and (len(found) == 1 or lines.start > found.start):
                found = lines
    return found


class Watch:
    """A pytest plugin: runs a `SHARE` of each test, and notes where each goes and how long."""

    def __init__(self, folder: Path, room: Path) -> None:
        self.folder, self.seconds = folder, dict[str, float]()
        inside = f"{room}/*" if room.is_dir() else str(room)
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.coverage = coverage.Coverage(folder / ".map", include=[inside], config_file=False)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        Random(0).shuffle(items)  # rather than the first parameters of each
        items.sort(key=lambda item: item.nodeid.split("[")[0])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.spent[item.nodeid.split("[")[0]] > SHARE:
            pytest.skip("enough of this test")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.coverage.switch_context(item.nodeid)
        started = time.process_time()
        result = yield
        seconds = time.process_time() - started
        self.seconds.setdefault(item.nodeid, seconds)
        self.spent[item.nodeid.split("[")[0]] += seconds
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:  # skipped, or it needs what the copy has not
            self.seconds[report.nodeid] = inf

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        (self.folder / ".seconds").write_text(json.dumps(self.seconds), encoding="utf-8")


class Chosen:
    """A pytest plugin: runs tests in an order, and notes which fail."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder, self.places = folder, {name: place for place, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.places]
        items.sort(key=lambda item: self.places[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with (self.folder / ".failed").open("a", encoding="utf-8") as file:
                print(report.nodeid, file=file)


def ran(folder: Path, words: list[str], limit: float, plugin: Watch | Chosen) -> int | None:
    """The status of pytest in a forked process, ended at the limit of seconds of the processor."""

    def child() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        os.setsid()
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        sys.path.insert(0, str(folder))
        log = os.open(".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        if isinstance(plugin, Watch):
            plugin.coverage.start()
        os._exit(int(pytest.main([*PYTEST, *words], [plugin])))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(WAITING * limit)
    late = process.is_alive()
    with suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # with all that it has started
    process.join()
    return None if late else process.exitcode


class Judge:
    """A copy of the root with a map of the tests that judge a room."""

    def __init__(self, root: Path, folder: Path, room: str, words: list[str]) -> None:
        self.folder = folder / "copy"
        shutil.copytree(root, self.folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        watch = Watch(self.folder, self.folder / room)
        ran(self.folder, ["-m", "not nightly", *words], LONGEST, watch)
        if not (self.folder / ".seconds").exists():
            sys.exit((self.folder / ".log").read_text(encoding="utf-8")[-2000:])
        self.seconds = json.loads((self.folder / ".seconds").read_text(encoding="utf-8"))
        self.map = coverage.CoverageData(str(self.folder / ".map"))
        self.map.read()
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True

    def tests(self, mutant: Mutant, budget: float) -> tuple[list[str], str]:
        """The tests to run, and how many they are of those that reach statement and file."""
        contexts = self.map.contexts_by_lineno(str(self.folder / mutant.path))
        usable = {name for name, seconds in self.seconds.items() if seconds < inf}
        near = {name for line in mutant.lines for name in contexts.get(line, ())}
        far = {name for names in contexts.values() for name in names} & usable or usable
        groups = [near & usable, far - near if near else set()]  # "" in near: when it is imported
        order: list[str] = []
        for name in (
            name for group in groups for name in sorted(group, key=self.seconds.__getitem__)
        ):
            if self.seconds[name] <= budget:
                budget -= self.seconds[name]
                order.append(name)
        counts = [f"{len(group & {*order})} of {len(group)}" for group in groups]
        return order, f"{counts[0]} tests of its statement, {counts[1]} of its file"

    def run(self, names: list[str], budget: float, *words: str) -> tuple[int | None, list[str]]:
        """The status of pytest with these tests, and which fail."""
        log = self.folder / ".failed"
        log.write_text("", encoding="utf-8")
        if not names:
            return None, []
        files = dict.fromkeys(name.split("::")[0] for name in names)
        status = ran(self.folder, [*words, *files], 30 + 6 * budget, Chosen(self.folder, names))
        return status, log.read_text(encoding="utf-8").splitlines()

    def verdict(self, mutant: Mutant, budget: float) -> tuple[str, str]:
        """What becomes of a mutant; the test that notices it, or how many do not."""
        names, why = self.tests(mutant, budget)
        if not names:
            return "not reached", why
        path = self.folder / mutant.path
        old, times = path.read_text(encoding="utf-8"), path.stat()
        try:
            path.write_text(mutant.text, encoding="utf-8")
            status, failed = self.run(names, budget, "-x")
        finally:
            path.write_text(old, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        verdict = STATUSES.get(status, "not judged")
        if verdict == "noticed" and not failed:  # a test file that cannot be imported ends it, too
            verdict = "no import"
        return verdict, failed[0] if verdict == "noticed" else why


def tests_of(root: Path, room: str) -> list[str]:
    """What judges a folder or file: the nearest folder of tests with its name, its doctests."""
    folder = root / "tests" / Path(room).relative_to(Path(room).parts[0])
    while not folder.is_dir():
        folder = folder.parent
    return [str(folder.relative_to(root)), room]


def interval(hits: int, total: int) -> str:
    """Wilson's 95 % interval of a rate."""
    z, n = 1.96, max(total, 1)
    middle, half = hits + z * z / 2, z * sqrt(hits * (n - hits) / n + z * z / 4)
    low, high = ((middle + sign * half) / (n + z * z) for sign in (-1, 1))
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def row(cells: tuple[str, ...]) -> str:
    """A line of the table."""
    return " ".join([f"{cells[0]:24}", *(f"{cell:>10}" for cell in cells[1:])])


def main() -> None:
    """The table, and every survivor as a change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+", help="folders or files, from the root")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--count", type=int, default=25, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", help="files or folders that judge, from the root")
    parser.add_argument("--budget", type=float, default=20, help="seconds of tests for a mutant")
    options = parser.parse_args()
    for name in PRELOADED:
        with suppress(ImportError):
            import_module(name)
    root = options.root.resolve()
    print(f"seed {options.seed}, at most {options.budget:g} s of tests for a mutant\n")
    table = [("room", "mutants", *VERDICTS, "noticed, 95 %")]
    for room in options.rooms:
        found: list[tuple[str, str]] = []
        random = Random(f"{options.seed} {room}")
        with tempfile.TemporaryDirectory() as folder:
            words = options.tests or tests_of(root, room)
            judge = Judge(root, Path(folder).resolve(), room, words)
            for mutant in drawn(judge.folder, room, options.count, random):
                found.append(judge.verdict(mutant, options.budget))
                print(f"{', by '.join(found[-1])}: {mutant.diff}\n", flush=True)
            noticing = [*dict.fromkeys(why for verdict, why in found if verdict == "noticed")]
            _, wrong = judge.run(noticing, sum(map(judge.seconds.__getitem__, noticing)))
        for name in wrong:
            print(f"not judged by {name}: it fails without a change too\n")
        count = Counter("not judged" if why in wrong else verdict for verdict, why in found)
        rate = interval(count["noticed"], sum(count[verdict] for verdict in VERDICTS[:3]))
        table.append((room, str(len(found)), *(str(count[verdict]) for verdict in VERDICTS), rate))
    print(*map(row, table), sep="\n")


if __name__ == "__main__":
    main()
