"""What the tests notice of small changes to the package: a seeded sample of mutants, by room.

    python tests/benchmarks/mutation.py --count 25 --seed 1 symattn/notation symattn/nodes

mutmut makes the mutants; it runs all of a file or those named, and cannot draw. Everything happens
in a copy. The tests of `QUICK`, or of --tests, run there once, each with as many parameters as
take a second, and coverage notes which of them reaches which line. A mutant is judged by the tests
that reach its statement, quickest first, as many as take --budget seconds, then by others that
reach its file.

What only another test, another parameter or a process of its own would notice survives here.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import coverage
import libcst as cst
import pytest
from mutmut.mutation.mutators import mutation_operators

#: The files of quick tests that need no other program: what stands behind ``test_``.
QUICK = {
    *("by_hand", "check_overview", "check_python", "check_report", "claims", "cost"),
    *(
        "check_cli",
        "data_files",
        "decide",
        "definitions",
        "degenerate",
        "derivation",
        "explanations",
    ),
    *("falk", "fixes", "golden", "latent", "marking", "mask_rules", "masks", "mathml"),
    *("nodes_contract", "notes", "pictures", "powers", "prose", "references", "spec", "toml"),
    *(
        "spoken",
        "symbols_in_latex",
        "text",
        "toy",
        "typed",
        "unfolded",
        "values",
        "verify",
        "worked",
        "wrap",
        "written",
    ),
}
SHARE = 1.0  # seconds of a test function, after which its other parameters are left out
LONGEST = 5.0  # seconds of a test
PRELOADED = ("sympy", "numpy", "flint", "hypothesis", "mpmath", "rich.console", "docutils.core")
PYTEST = (
    *("-q", "-x", "-o", "addopts=", "-pno:symattn", "-pno:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is preloaded
)
VERDICTS = ("killed", "survived", "timed out", "not reached", "not judged")


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

    def __init__(self, folder: Path) -> None:
        self.folder, self.seconds = folder, dict[str, float]()
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.coverage = coverage.Coverage(folder / ".map", source=[str(folder)], config_file=False)
        self.coverage.start()

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
            self.seconds[report.nodeid] = 2 * LONGEST

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        (self.folder / ".seconds").write_text(json.dumps(self.seconds), encoding="utf-8")


def ran(folder: Path, words: list[str], limit: float, plugin: type | None = None) -> int | None:
    """The status of pytest in a forked process, None if it was ended at the limit of seconds."""

    def child() -> None:
        os.setsid()
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        sys.path.insert(0, str(folder))
        log = os.open(".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os._exit(int(pytest.main([*PYTEST, *words], [plugin(folder)] if plugin else [])))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(limit)
    late = process.is_alive()
    with suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # with all that it has started
    process.join()
    return None if late else process.exitcode


class Judge:
    """A copy of the root with a map of its tests."""

    def __init__(self, root: Path, folder: Path, names: set[str], limit: float = 3600) -> None:
        self.folder = folder / "copy"
        shutil.copytree(root, self.folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        files = sorted((self.folder / "tests").rglob("test_*.py"))
        quick = [str(path) for path in files if path.stem.removeprefix("test_") in names]
        words = ["--maxfail=1000", "-m", "not nightly", *quick]
        ran(self.folder, words, limit, Watch)
        if not (self.folder / ".seconds").exists():
            sys.exit((self.folder / ".log").read_text(encoding="utf-8")[-2000:])
        self.seconds = json.loads((self.folder / ".seconds").read_text(encoding="utf-8"))
        self.map = coverage.CoverageData(str(self.folder / ".map"))
        self.map.read()

    def tests(self, mutant: Mutant, budget: float) -> tuple[list[str], str]:
        """The tests to run, and how many they are of those that reach statement and file."""
        contexts = self.map.contexts_by_lineno(str(self.folder / mutant.path))
        usable = {name for name in self.seconds if self.seconds[name] <= LONGEST}
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
        return order, f"by {counts[0]} tests of its statement, {counts[1]} of its file"

    def verdict(self, mutant: Mutant, budget: float) -> tuple[str, str]:
        """What becomes of a mutant, and why."""
        names, why = self.tests(mutant, budget)
        if not names:
            return "not reached", why
        path = self.folder / mutant.path
        old, times = path.read_text(encoding="utf-8"), path.stat()
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        try:
            path.write_text(mutant.text, encoding="utf-8")
            status = ran(self.folder, names, 30 + 6 * budget)
        finally:
            path.write_text(old, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        known = {None: "timed out", 0: "survived", 1: "killed", 2: "killed"}  # 2: no import
        return known.get(status, "not judged"), why

    def passes(self, mutant: Mutant, budget: float) -> bool:
        """Whether a mutant's tests pass without its change; if not, nothing can be said."""
        text = (self.folder / mutant.path).read_text(encoding="utf-8")
        return self.verdict(mutant._replace(text=text), budget)[0] == "survived"


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
    parser.add_argument("--tests", nargs="+", default=QUICK, help="files that judge, less test_")
    parser.add_argument("--budget", type=float, default=20, help="seconds of tests for a mutant")
    options = parser.parse_args()
    for name in PRELOADED:
        with suppress(ImportError):
            import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options.root.resolve(), Path(folder).resolve(), {*options.tests})
        print(f"seed {options.seed}, at most {options.budget:g} s of tests for a mutant\n")
        table = [("room", "mutants", *VERDICTS, "noticed, 95 %")]
        for room in options.rooms:
            count = dict.fromkeys(VERDICTS, 0)
            random = Random(f"{options.seed} {room}")
            for mutant in drawn(judge.folder, room, options.count, random):
                verdict, why = judge.verdict(mutant, options.budget)
                count[verdict] += 1
                if (verdict, count["killed"]) == ("killed", 1) and not judge.passes(
                    mutant, options.budget
                ):
                    sys.exit(f"{mutant.diff}\nits tests fail without the change too")
                if verdict != "killed":
                    print(f"{verdict}, {why}: {mutant.diff}\n", flush=True)
            noticed = count["killed"] + count["timed out"]
            rate = interval(noticed, noticed + count["survived"])
            table.append((room, *map(str, (sum(count.values()), *count.values())), rate))
            print(row(table[-1]), end="\n\n", flush=True)
        print(*map(row, table), sep="\n")


if __name__ == "__main__":
    main()
