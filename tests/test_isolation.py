"""Files taken within limits: what hangs, dies or needs too much stops no other; nothing is left."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from symattn import isolation
from symattn.cli import main
from symattn.doors import Failure
from symattn.isolation import Limits, Run, here, within
from symattn.status import Status
from tests import ROOT, tasks
from tests.processes import ended, environment, python, started_by
from tests.reports.test_check_overview import RIGHT, SLIP
from tests.terminal import shown_at_a_terminal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are of POSIX")


def slow(tokens: int = 160, width: int = 6) -> str:
    """A worksheet with so many numbers that it takes minutes."""

    def matrix(rows: int, columns: int, by: int) -> list[list[float]]:
        return [[(i * 7 + j * 3 + by) % 11 / 4 - 1 for j in range(columns)] for i in range(rows)]

    given = "".join(f"{name} = {matrix(tokens, width, k)}\n" for k, name in enumerate("QKV"))
    claimed = [[0.01 * ((i + j) % 7) for j in range(tokens)] for i in range(tokens)]
    return f"[given]\n{given}[claims]\nweights = {claimed}\noutput = {matrix(tokens, width, 4)}\n"


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with within(Limits(1.0, 400), ("tests.tasks",)) as worker:
        yield worker


def check(*words: object) -> Result:
    result = CliRunner().invoke(main, ["check", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


# ---- the worker ------------------------------------------------------------------------------


def test_a_worker_answers_as_this_process_does(run: Run) -> None:
    for function, argument in ((tasks.double, 4), (tasks.large, 30_000_000)):
        assert run(function, argument, "x") == here()(function, argument, "x")
    assert run(tasks.own_number, 0, "x") != os.getpid()


def test_what_a_worker_keeps_serves_the_next_task(run: Run) -> None:
    first: Any = run(tasks.kept, 1, "x")
    assert run(tasks.kept, 2, "x") == [*first, 2]


def test_a_call_in_c_is_given_up_and_replaced(run: Run) -> None:
    before = run(tasks.own_number, 0, "x")
    start = time.monotonic()
    assert run(tasks.search, 40, "a\n.toml") == Failure(
        Status.UNSETTLED,
        "a\\n.toml: not finished in 1 s; leave something out, or allow more time with --timeout",
    )
    assert time.monotonic() - start < 5
    assert run(tasks.double, 5, "x") == 10
    assert run(tasks.own_number, 0, "x") != before
    with pytest.raises(ProcessLookupError):
        os.kill(int(str(before)), 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_worker_that_dies_is_a_line(run: Run, number: int) -> None:
    found = run(tasks.killed, number, "x.toml")
    assert isinstance(found, Failure) and found.status == Status.INTERNAL
    assert found.line.startswith(f"x.toml: its process was killed by signal {int(number)} (")
    assert run(tasks.double, 2, "x") == 4


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text("ascii").split()[3])


def test_a_keeper_that_dies_is_replaced() -> None:
    with within(Limits(), ("tests.tasks",)) as run:
        first: Any = run(tasks.own_number, 0, "x")
        os.kill(parent(first), signal.SIGKILL)
        assert soon(lambda: ended(first))  # with its keeper
        found = run(tasks.double, 1, "x")
        assert isinstance(found, Failure) and found.status == Status.INTERNAL
        assert run(tasks.double, 1, "x") == 2


def test_a_nursery_is_shared_and_replaced_when_it_dies() -> None:
    with within(Limits(), ("tests.tasks",)) as run, within(Limits(), ()) as other:
        one, two = (run_(tasks.own_number, 0, "x") for run_ in (run, other))
        assert isinstance(one, int) and isinstance(two, int)
        nursery = parent(parent(one))
        assert nursery == parent(parent(two))
        os.kill(nursery, signal.SIGKILL)
        assert run(tasks.own_number, 0, "x") == one  # a worker goes on
        with within(Limits(), ("tests.tasks",)) as third:
            assert third(tasks.double, 1, "x") == 2
            assert parent(parent(int(str(third(tasks.own_number, 0, "x"))))) != nursery


def test_a_nursery_that_nobody_asks_ends() -> None:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = "from symattn import isolation; isolation._IDLE = {}; isolation.nurse()"
    with ours, its:
        for seconds in (0.1, 100):
            command = [sys.executable, "-c", code.format(seconds)]
            with subprocess.Popen(
                command, stdin=its.fileno(), env=environment(), cwd=ROOT
            ) as nursery:
                if seconds > 1:
                    time.sleep(0.5)
                    assert nursery.poll() is None
                    its.close()
                    ours.close()
                assert nursery.wait(30) == 0


def test_what_libraries_read_in_the_environment_is_that_of_now(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for value in ("1", "2"):
        monkeypatch.setenv("JAX_ENABLE_X64", value)
        monkeypatch.chdir(tmp_path if value == "2" else ROOT)
        with within(Limits(), ("tests.tasks",)) as run:
            assert run(tasks.surroundings, "JAX_ENABLE_X64", "x") == (value, str(Path.cwd()))


def test_workers_draw_numbers_of_their_own() -> None:
    drawn = set()
    for _ in range(2):
        with within(Limits(), ("tests.tasks", "numpy.random")) as run:
            drawn.add(run(tasks.drawn, 0, "x"))
    assert len(drawn) == 2


def test_memory_is_bounded(run: Run) -> None:
    assert isinstance(run(tasks.large, 50 * 2**20, "x"), bytes)
    for size in (600, 250):  # the result, and the result together with what is sent
        found = run(tasks.large, size * 2**20, "x.toml")
        assert isinstance(found, Failure) and found.status == Status.UNUSABLE
        assert found.line.startswith("x.toml: needs more than 400 MiB of memory; ")
    assert run(tasks.double, 2, "x") == 4


@pytest.mark.parametrize("kind", [KeyError, SystemExit, RecursionError, SystemError, tasks.Panic])
@pytest.mark.parametrize("where", ["here", "there"])
def test_what_nobody_foresaw_is_a_line(where: str, kind: type[BaseException], run: Run) -> None:
    runs = run if where == "there" else here()
    found = runs(tasks.fails, kind, "x.toml")
    assert isinstance(found, Failure) and found.status == Status.INTERNAL
    assert found.line.startswith(f"x.toml: internal error, please report: {kind.__name__} at ")


def test_a_result_that_cannot_be_sent_is_a_line(run: Run) -> None:
    found = run(tasks.unpicklable, 0, "x.toml")
    assert isinstance(found, Failure) and found.status == Status.INTERNAL
    assert "x.toml: internal error" in found.line
    assert run(tasks.double, 2, "x") == 4


def test_a_spawned_worker_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other systems than Linux use."""
    monkeypatch.setattr(isolation, "_KEEPS", False)
    with within(Limits(1.0), ("tests.tasks",)) as run:
        assert run(tasks.double, 4, "x") == 8
        found = run(tasks.search, 40, "x")
        assert isinstance(found, Failure) and found.status == Status.UNSETTLED
        died: Any = run(tasks.killed, int(signal.SIGSEGV), "x")
        assert isinstance(died, Failure) and "signal 11" in died.line
        assert run(tasks.double, 3, "x") == 6
    assert "PYTHONSAFEPATH" not in os.environ


def test_the_folder_of_the_call_is_not_searched_for_modules(tmp_path: Path) -> None:
    """A stranger's folder may hold a file with the name of a module."""
    for name in ("socket", "pickle", "numpy", "symattn"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run')\n", encoding="utf-8")
    (tmp_path / "a.toml").write_text(RIGHT, encoding="utf-8")
    code = "import sys; sys.path[:] = sys.path[1:]; from symattn.cli import main; main()"
    done = python("-c", code, "check", "a.toml", "--timeout", "60", cwd=tmp_path, PYTHONSAFEPATH="")
    assert (done.returncode, done.stderr) == (0, "")


# ---- the command line ------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"a": SLIP, "b": "[given]\nscores = [[0,\n", "c": RIGHT, "d": SLIP}
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_files_within_limits_are_marked_alike(folder: Path) -> None:
    alone, limited = (
        check(folder, "--format", "json", *options) for options in ((), ("--timeout", 60))
    )
    assert alone.output == limited.output
    assert alone.exit_code == limited.exit_code == Status.UNUSABLE


def test_a_file_that_takes_too_long_stops_no_other(folder: Path) -> None:
    (folder / "b.toml").write_text(slow(), encoding="utf-8")
    result = check(folder, "--timeout", 4, "--format", "json")
    assert result.exit_code == Status.WRONG
    more = "leave something out, or allow more time with --timeout"
    told = f"{folder}/b.toml: not finished in 4 s; {more}"
    assert result.stderr == f"symattn: {told}\n"
    data = json.loads(result.stdout)
    assert [Path(name).name for name in data["files"]] == ["a.toml", "c.toml", "d.toml"]
    assert data["unfinished"] == [told]
    assert data["problems"] == [] and data["passes"] is False
    assert data["conclusion"].endswith("; 1 file not finished")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e9", "x"])
def test_a_time_that_is_none_is_refused(seconds: str, folder: Path) -> None:
    for command in ("check", "render"):
        result = CliRunner().invoke(main, [command, str(folder), "--timeout", seconds])
        assert result.exit_code == Status.UNUSABLE
        assert "--timeout" in result.stderr and result.stderr.count("\n") == 1


def test_pages_are_filled_in_within_limits(tmp_path: Path) -> None:
    from tests.test_status import FILLED, PAGE

    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    words = ["render", str(tmp_path), "--timeout", "60"]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert (tmp_path / "b.md").read_text(encoding="utf-8") == FILLED


def soon(holds: Callable[[], Any], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_process_has_started_is_found_by_its_program() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input() # inner'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as outer:
        assert soon(lambda: len(started_by(os.getpid(), "# inner")) == 2)
        (inner,) = started_by(outer.pid)
        assert started_by(os.getpid(), "# inner") == [outer.pid, inner]
        assert not started_by(os.getpid(), "# another")
        os.kill(inner, signal.SIGKILL)
        assert soon(lambda: not started_by(outer.pid))
    assert ended(inner) and ended(outer.pid)


#: A call in C that never ends: for the file of a command, and by itself, which starts faster.
_COMMAND = (
    # a program started in the background by a shell would ignore SIGINT
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from tests import tasks; from symattn.cli import main, check; "
    "check.mark = tasks.search_all; main(['check', 'x.toml', '--timeout', '600'])"
)
_WORKER = (
    "from tests import tasks; from symattn.isolation import Limits, within\n"
    "with within(Limits(), ()) as run: run(tasks.search_all, 0, 'x')"
)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 4, "symattn: interrupted\n"),
        (signal.SIGTERM, -15, ""),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_no_process_is_left(number: int, status: int, said: str) -> None:
    """The worker is in the midst of a call in C."""
    code = _COMMAND if number == signal.SIGINT else _WORKER
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as running:
        assert soon(lambda: len(started_by(running.pid)) == 3)  # its keeper's and nursery's too
        time.sleep(0.5)
        children = started_by(running.pid)
        running.send_signal(number)
        try:
            _, complaints = running.communicate(timeout=60)
        finally:
            running.kill()
    assert (running.returncode, complaints) == (status, said)
    assert soon(lambda: all(map(ended, children)), 10)


# ---- progress --------------------------------------------------------------------------------


PROGRESS = (
    "import sys, time; from symattn.cli import progress; progress._AFTER = 0.2\n"
    "with progress.Progress('marking').watched() as told:\n"
    "    told.at('marking 2 of 3: a\\x1b]0;b\\n.toml'); time.sleep({seconds})\n"
    "    with told.aside(): print('a line', flush=True)\n"
    "    time.sleep(0.3)\n"
    "print('rich' in sys.modules)\n"
)


def test_progress_is_shown_and_taken_away_at_a_terminal() -> None:
    shown = shown_at_a_terminal("-c", PROGRESS.format(seconds=1.5))
    assert "marking 2 of 3: a\\x1b]0;b\\n.toml… 1 s" in shown
    assert "\x1b]0" not in shown
    assert "\x1b[2Ka line\r\n" in shown  # the line of progress was cleared before
    assert shown.endswith("\x1b[2KTrue\r\n")
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")  # the cursor is seen again


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("TERM", "")])
def test_nothing_is_shown_where_it_could_not_be_taken_away(name: str, value: str) -> None:
    shown = shown_at_a_terminal("-c", PROGRESS.format(seconds=0.5), **{name: value})
    assert shown == "a line\r\nFalse\r\n"
