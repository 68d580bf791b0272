"""Functions run within limits: in a process that is killed when time is up and replaced.

`here` runs a function in this process; a `Worker` runs it in another one, which may be killed in
the midst of anything (a long call in C holds off every signal of Python) and may die without
taking this one along. Both give the function's result, or a `Failure`. What they run are functions
of modules, and their arguments and results are plain data: all of it is pickled. Where a worker
runs a stranger's code, its results are bytes and stay so (`stranger`): a pickle that it
makes would be run here when it is read.

On Linux a server process imports what the functions need, once, and forks a worker whenever there
is none; elsewhere, where forking is not safe, `multiprocessing` spawns it. A worker is idle or at
work for one task at a time, so that what it keeps from one task serves the next. On Linux all that
a worker has started ends with it: what it leaves behind becomes the server's, which ends it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import multiprocessing
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Protocol, TypeVar

from symattn.doors import Failure, defect, failure
from symattn.errors import SymattnError
from symattn.printable import printable
from symattn.status import Status

Argument = TypeVar("Argument")
Result = TypeVar("Result")

#: Seconds that a new process may take before it is ready for its first task.
_START = 120.0

#: Seconds that a process which has hung up may take to end.
_LAST = 2.0

#: Seconds of processor time for one task: without a limit, and beyond the one on the clock. The
#: system keeps this limit even where this process is stopped.
_PROCESSOR, _BEYOND = 3600, 60

#: What is said before a result, where a failure has its status; and the bytes that a stranger's
#: answer may have.
_DONE, _MOST_ANSWERED = b"done", 2**30

_FORKS = sys.platform == "linux"


@dataclass(frozen=True)
class Limits:
    """What a worker may use for a task: seconds, and MiB of memory more than it begins with."""

    seconds: float | None = None
    memory: int | None = None


class Run(Protocol):
    """Runs a function of a module on an argument; `name` is the file that messages begin with."""

    def __call__(
        self, function: Callable[[Argument], Result], argument: Argument, name: str
    ) -> Result | Failure:
        """The function's result, or why it has none."""


def here(debug: bool = False) -> Run:
    """Runs functions in this process; what they raise does not stop the next."""

    def run(
        function: Callable[[Argument], Result], argument: Argument, name: str
    ) -> Result | Failure:
        return _outcome(function, argument, name, debug)

    return run


@contextlib.contextmanager
def within(
    limits: Limits, modules: tuple[str, ...], debug: bool = False, stranger: bool = False
) -> Iterator[Run]:
    """Runs functions in worker processes, one at a time; none is left at the end.

    The `modules` are imported before a task's time begins to count. Of a `stranger` the functions
    return bytes.
    """
    worker = Worker(limits, modules, debug, stranger)
    try:
        yield worker
    finally:
        worker.close()


class Worker:
    """A process that runs one function after the other; another takes its place when it dies."""

    def __init__(
        self,
        limits: Limits,
        modules: tuple[str, ...],
        debug: bool = False,
        stranger: bool = False,
    ) -> None:
        self.limits, self._debug, self._stranger = limits, debug, stranger
        self._starter: _Starter = _Forked(modules) if _FORKS else _Spawned(modules)
        self._process: _Process | None = None

    def __call__(
        self, function: Callable[[Argument], Result], argument: Argument, name: str
    ) -> Result | Failure:
        """The function's result, or why it has none: see `Run`."""
        if self._process is None:
            self._process = self._started()
        answers = self._process.answers
        ready = False
        # where the process has died meanwhile, or its answer is too long, there is none either
        with contextlib.suppress(EOFError, OSError):
            answers.send((function, argument, name))
            ready = bool(wait([answers], self.limits.seconds))
            if ready:
                answer: Result | Failure = self._read(answers, name)
                return answer
            return self._too_slow(name)
        return self._died(name)

    def _read(self, answers: Connection, name: str) -> Any:
        """A result, or a failure: its status and its line."""
        most = _MOST_ANSWERED if self._stranger else None
        kind, answer = answers.recv_bytes(most), answers.recv_bytes(most)
        if kind == _DONE:
            return answer if self._stranger else pickle.loads(answer)  # noqa: S301 made by this code
        with contextlib.suppress(ValueError, IndexError):
            return _failed(Status(kind[0]), "", answer.decode())
        self._stop()
        return _failed(Status.UNUSABLE, name, "its process gave no answer that can be read")

    def close(self) -> None:
        """End the process, and what starts it."""
        self._stop()
        self._starter.close()

    def _started(self) -> _Process:
        """A process that is ready for its first task."""
        process = self._starter.start()
        with contextlib.suppress(EOFError, ConnectionError):
            process.answers.send((self.limits, self._debug, self._stranger))
            if wait([process.answers], _START) and process.answers.recv_bytes() == _DONE:
                return process
        process.kill()
        raise SymattnError(
            "no process could be started to work within the limits; leave out --timeout and "
            "--isolated"
        )

    def _stop(self, patience: float = 0.0) -> int | None:
        """Kill the process, if there is one; see `_Process.kill`."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        return process.kill(patience)

    def _too_slow(self, name: str) -> Failure:
        self._stop()
        message = f"not finished in {self.limits.seconds:g} s"
        more = "leave something out, or allow more time with --timeout"
        return _failed(Status.UNSETTLED, name, f"{message}; {more}")

    def _died(self, name: str) -> Failure:
        number = self._stop(_LAST)
        if number == getattr(signal, "SIGXCPU", None):
            message = "not finished in the processor time allowed; leave something out"
            return _failed(Status.UNSETTLED, name, message)
        message = "its process ended without an answer"
        if number is not None:
            why = _SIGNALS.get(number, "")
            message = f"its process was killed by signal {number}{why}"
        return _failed(Status.INTERNAL, name, message)


def _failed(status: Status, name: str, words: str) -> Failure:
    """A failure whose line begins with the name of the file, if there is one."""
    return Failure(status, printable(f"{name}: {words}" if name else words))


# ---- in the worker ---------------------------------------------------------------------------


def _outcome(
    function: Callable[[Argument], Result],
    argument: Argument,
    name: str,
    debug: bool,
    memory: int | None = None,
) -> Result | Failure:
    """The function's result, or what is said of what it raises."""
    try:
        return function(argument)
    except MemoryError as error:
        if memory is None:
            return failure(error, name, debug)
        message = (
            f"needs more than {memory:,} MiB of memory; leave something out, or try it without "
            "--isolated"
        )
        return _failed(Status.UNUSABLE, name, message)
    except SystemExit as error:  # nothing below a door leaves on purpose
        return defect(error, name, debug)
    except BaseException as error:
        return failure(error, name, debug)


def _serve(answers: Connection) -> None:
    """Answer one task after the other, until nobody asks."""
    with contextlib.suppress(EOFError, ConnectionError):
        limits, debug, stranger = answers.recv()
        _limit(limits, debug)
        answers.send_bytes(_DONE)
        while True:
            function, argument, name = answers.recv()
            _allow_processor_time(limits.seconds)
            if not stranger:
                function, argument = _pickled, (function, argument)
            outcome = _outcome(function, argument, name, debug, limits.memory)
            if isinstance(outcome, Failure):
                answers.send_bytes(bytes([outcome.status]))
                answers.send_bytes(outcome.line.encode())
            else:
                answers.send_bytes(_DONE)
                answers.send_bytes(outcome)


def _pickled(task: tuple[Callable[[object], object], object]) -> bytes:
    """A function's result as it is sent; one that cannot be sent is a failure too."""
    function, argument = task
    return pickle.dumps(function(argument))


def _limit(limits: Limits, debug: bool) -> None:
    """Let the system bound this process, and leave the screen to the one that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is for the one that asks, who ends this one
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    if not debug:  # a library in C complains there before it gives up
        os.dup2(silent, 2)
    os.close(silent)
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.memory is not None:
        most = _memory_in_use() + limits.memory * 2**20
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _memory_in_use() -> int:
    """The bytes of address space that this process has."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 no file, really
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _allow_processor_time(seconds: float | None) -> None:
    """Bound the processor time of the next task."""
    if sys.platform == "win32":
        return
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = math.ceil(usage.ru_utime + usage.ru_stime)
    more = _PROCESSOR if seconds is None else math.ceil(seconds) + _BEYOND
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = used + more if hard == resource.RLIM_INFINITY else min(used + more, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


# ---- where workers come from -----------------------------------------------------------------


class _Process(Protocol):
    """A worker as the one that asks sees it."""

    answers: Connection

    def kill(self, patience: float = 0.0) -> int | None:
        """End it, unless it has ended within so many seconds; the signal that it ended by."""


class _Starter(Protocol):
    """Starts workers."""

    def start(self) -> _Process:
        """A new worker."""

    def close(self) -> None:
        """Start no more; all workers have been killed."""


#: What the server runs. The folder where the command is called is not searched for modules: `-P`.
_SERVER = (
    "import sys; sys.path[:] = sys.argv[3:]; from symattn.isolation import fork_on_request; "
    "fork_on_request(int(sys.argv[1]), sys.argv[2].split())"
)

#: The option of ``prctl`` by which a process becomes the parent of what its children leave.
_PR_SET_CHILD_SUBREAPER = 36

#: What is asked of the server: one more worker, or how the last one ended.
_FORK, _ENDED = b"f", b"e"


class _Forked:
    """Workers forked by a server that has the modules in its memory."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._modules = modules
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> _ForkedProcess:
        if self._server is not None and self._server.poll() is not None:  # killed from outside
            self.close()
        if self._server is None:
            self._serve()
        ours, theirs = socket.socketpair()
        watched, lifeline = os.pipe()
        try:
            socket.send_fds(self._control, [_FORK], [theirs.fileno(), watched])
            number = int(self._control.recv(32) or 0)
        except OSError:
            number = 0
        finally:
            theirs.close()
            os.close(watched)
        return _ForkedProcess(number, Connection(ours.detach()), lifeline, self._control)

    def _serve(self) -> None:
        """Start the server."""
        self._control, theirs = socket.socketpair()
        with theirs:
            isolated = "-I" if sys.flags.isolated else "-P"
            words = [sys.executable, isolated, "-c", _SERVER, str(theirs.fileno())]
            self._server = subprocess.Popen(  # noqa: S603 Python itself
                [*words, " ".join(self._modules), *sys.path],
                pass_fds=[theirs.fileno()],
                env={**_ONE_THREAD, **os.environ},
            )

    def close(self) -> None:
        if self._server is not None:
            self._control.close()  # by which it ends, with all that is left
            try:
                self._server.wait(_LAST)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None


@dataclass
class _ForkedProcess:
    """A child of the server; it ends when this process, which holds its lifeline, is gone."""

    number: int
    answers: Connection
    lifeline: int
    control: socket.socket

    def kill(self, patience: float = 0.0) -> int | None:
        self.answers.close()
        ended = b""
        if self.number:
            with contextlib.suppress(OSError):  # it, or the server, was killed from outside
                if not patience:  # the server keeps its number until it is asked
                    os.kill(self.number, signal.SIGKILL)
                self.control.send(_ENDED)
                if patience and not wait([self.control], patience):
                    os.kill(self.number, signal.SIGKILL)
                ended = self.control.recv(32)
        os.close(self.lifeline)
        return -int(ended) if ended.startswith(b"-") else None


def fork_on_request(control: int, modules: list[str]) -> None:
    """What the server does: fork a worker, or wait for the last one, whenever it is asked to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = socket.socket(fileno=control)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for module in modules:
        import_module(module)
    gc.freeze()  # what a worker never writes to, it shares with the server
    child = 0
    with contextlib.suppress(ConnectionError):
        while True:
            message, handles, _, _ = socket.recv_fds(asked, 1, 2)
            if message == _FORK:
                child = os.fork()
                if not child:
                    os.setpgid(0, 0)  # with what it starts, it can be ended together
                    asked.close()
                    _live_with(handles[1])
                    _serve(Connection(handles[0]))
                    return
                for handle in handles:
                    os.close(handle)
                asked.send(b"%d" % child)
            elif message == _ENDED:
                _, ended = os.waitpid(child, 0)
                _end_the_rest()
                asked.send(b"%d" % os.waitstatus_to_exitcode(ended))
            else:
                break  # nobody asks any more
    _end_the_rest()


def _end_the_rest() -> None:
    """Kill what this process has started, and what it is handed when another one ends.

    A process that has called ``setsid`` is in no group of the worker's, but its parent is dead.
    """
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    end = time.monotonic() + _LAST
    with contextlib.suppress(OSError):  # none is left, or one is another user's
        while time.monotonic() < end:
            for number in children.read_text("ascii").split():
                os.kill(int(number), signal.SIGKILL)
            os.waitpid(-1, 0)


def _live_with(lifeline: int) -> None:
    """Let the system end this process when the other end of the pipe is closed, whatever it does.

    A thread that reads the pipe would have to wait for a call in C that keeps Python's lock.
    """
    import fcntl

    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())  # and what it has started
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it was closed before
        os.kill(os.getpid(), signal.SIGKILL)


class _Spawned:
    """Workers each of which imports the modules for itself."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._modules = modules

    def start(self) -> _SpawnedProcess:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        # no daemon, which may start none of its own: `close` ends it
        process = context.Process(target=_serve_spawned, args=(theirs, self._modules))
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"  # as -P
        try:
            process.start()
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before
        theirs.close()
        return _SpawnedProcess(process, ours)

    def close(self) -> None:
        pass


@dataclass
class _SpawnedProcess:
    """A process of `multiprocessing`."""

    process: SpawnProcess
    answers: Connection

    def kill(self, patience: float = 0.0) -> int | None:
        self.answers.close()
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return -code if code is not None and code < 0 else None


def _serve_spawned(answers: Connection, modules: tuple[str, ...]) -> None:
    """What a spawned worker does."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    for module in modules:
        import_module(module)
    _serve(answers)


#: Small matrices gain nothing by threads, each of which takes memory for itself.
_ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

#: What is said of the signals that a process is usually killed by.
_SIGNALS: dict[int, str] = {
    6: " (it aborted, as it does when memory runs out)",
    9: " (as the system does when memory runs out)",
    11: " (a defect of a compiled library)",
}
