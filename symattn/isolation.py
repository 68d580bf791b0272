"""Functions run within limits: in a process that is killed when time is up and replaced.

`here` runs a function in this process; a `Worker` runs it in another one, which may be killed in
the midst of anything (a long call in C holds off every signal of Python) and may die without
taking this one along. Both give the function's result, or a `Failure`. What they run are functions
of modules, and their arguments and results are plain data: all of it is pickled. Where a worker
runs a stranger's code, its results are bytes and stay so (`stranger`): a pickle that it
makes would be run here when it is read.

A worker is idle or at work for one task at a time, so that what it keeps from one task serves the
next. It is a process of `subprocess`, and tasks and answers go through its pipes. On Linux that
process keeps the worker as a child of its own, and all that a worker has started ends with it: what
it leaves behind becomes its keeper's, which ends it.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Protocol, TypeVar

from symattn.doors import Failure, defect, failure
from symattn.errors import SymattnError
from symattn.printable import printable
from symattn.status import Status

Argument = TypeVar("Argument")
Result = TypeVar("Result")

#: Seconds that a process may take before it is ready for its first task, and to end.
_START, _LAST = 120.0, 2.0

#: Seconds of processor time for one task: without a limit, and beyond the one on the clock. The
#: system keeps this limit even where this process is stopped.
_PROCESSOR, _BEYOND = 3600, 60

#: What is said before a result, where a failure has its status; and the bytes that a stranger's
#: answer may have.
_DONE, _MOST_ANSWERED = b"done", 2**30

#: Whether a worker has a keeper; Linux alone hands it what the worker leaves behind.
_KEEPS = sys.platform == "linux"


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
        self.limits, self._modules = limits, modules
        self._debug, self._stranger = debug, stranger
        self._process: _Process | None = None

    def __call__(
        self, function: Callable[[Argument], Result], argument: Argument, name: str
    ) -> Result | Failure:
        """The function's result, or why it has none: see `Run`."""
        task = pickle.dumps((function, argument, name))
        if self._process is None:
            self._process = self._started()
        most = _MOST_ANSWERED if self._stranger else None
        try:
            answers = self._process.ask(task, 2, self.limits.seconds, most)
        except TimeoutError:
            return self._too_slow(name)
        except EOFError:
            return self._died(name)
        found: Result | Failure = self._read(answers, name)
        return found

    def _read(self, answers: list[bytes], name: str) -> Any:
        """A result, or a failure: its status and its line."""
        kind, answer = answers
        if kind == _DONE:
            return answer if self._stranger else pickle.loads(answer)  # noqa: S301 made by this code
        with contextlib.suppress(ValueError, IndexError):
            return _failed(Status(kind[0]), "", answer.decode())
        self.close()
        return _failed(Status.UNUSABLE, name, "its process gave no answer that can be read")

    def _started(self) -> _Process:
        """A process that is ready for its first task."""
        process = _Process.running(self._modules)
        first = pickle.dumps((self.limits, self._debug, self._stranger))
        with contextlib.suppress(TimeoutError, EOFError):
            if process.ask(first, 1, _START) == [_DONE]:
                return process
        process.end()
        raise SymattnError(
            "no process could be started to work within the limits; leave out --timeout"
        )

    def close(self, patience: float = 0.0) -> int | None:
        """End the process, if there is one; see `_Process.end`."""
        process, self._process = self._process, None
        return None if process is None else process.end(patience)

    def _too_slow(self, name: str) -> Failure:
        self.close()
        message = f"not finished in {self.limits.seconds:g} s"
        more = "leave something out, or allow more time with --timeout"
        return _failed(Status.UNSETTLED, name, f"{message}; {more}")

    def _died(self, name: str) -> Failure:
        number = self.close(_LAST)
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
            "--timeout"
        )
        return _failed(Status.UNUSABLE, name, message)
    except SystemExit as error:  # nothing below a door leaves on purpose
        return defect(error, name, debug)
    except BaseException as error:
        return failure(error, name, debug)


def serve(keeps: bool, modules: list[str]) -> None:
    """What the process of a worker does: import what is needed, and answer until nobody asks.

    `keeps`: in a child that it keeps.
    """
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if keeps and not _is_kept():
        return
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as answers:
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(silent, stream)
        for module in modules:
            import_module(module)
        with contextlib.suppress(EOFError, ConnectionError):
            _answer(_received_from(asked, keeps), answers)


def _received_from(asked: IO[bytes], kept: bool) -> Callable[[], Any]:
    """How the next thing that is asked is had; without a keeper the process ends with the asker."""
    if kept:
        return lambda: pickle.loads(_receive(asked))  # noqa: S301 made by this code
    waiting: SimpleQueue[bytes] = SimpleQueue()

    def read() -> None:
        with contextlib.suppress(EOFError):
            while True:
                waiting.put(_receive(asked))
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=read, daemon=True).start()
    return lambda: pickle.loads(waiting.get())  # noqa: S301 made by this code


def _answer(asked: Callable[[], Any], answers: IO[bytes]) -> None:
    """Answer one task after the other."""
    limits, debug, stranger = asked()
    _limit(limits, debug)
    _send(answers, _DONE)
    while True:
        function, argument, name = asked()
        _allow_processor_time(limits.seconds)
        if not stranger:
            function, argument = _pickled, (function, argument)
        outcome = _outcome(function, argument, name, debug, limits.memory)
        if isinstance(outcome, Failure):
            _send(answers, bytes([outcome.status]))
            _send(answers, outcome.line.encode())
        else:
            _send(answers, _DONE)
            _send(answers, outcome)


def _pickled(task: tuple[Callable[[object], object], object]) -> bytes:
    """A function's result as it is sent; one that cannot be sent is a failure too."""
    function, argument = task
    return pickle.dumps(function(argument))


def _limit(limits: Limits, debug: bool) -> None:
    """Let the system bound this process, and leave the screen to the one that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is for the one that asks, who ends this one
    if not debug:  # a library in C complains there before it gives up
        os.dup2(1, 2)
    if sys.platform == "win32":
        return
    import resource

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


# ---- the process of a worker -----------------------------------------------------------------


#: What it runs. The folder where the command is called is not searched for modules: `-P`.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[3:]; from symattn.isolation import serve; "
    "serve(sys.argv[1] == 'kept', sys.argv[2].split())"
)


@dataclass(frozen=True)
class _Process:
    """A worker as the one that asks sees it."""

    popen: subprocess.Popen[bytes]
    asks: IO[bytes]
    answers: IO[bytes]

    @classmethod
    def running(cls, modules: tuple[str, ...]) -> _Process:
        """A new process, which imports the modules."""
        isolated = "-I" if sys.flags.isolated else "-P"
        kept = "kept" if _KEEPS else "alone"
        popen = subprocess.Popen(  # noqa: S603 Python itself
            [sys.executable, isolated, "-c", _PROGRAM, kept, " ".join(modules), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_ONE_THREAD, **os.environ},
            start_new_session=True,  # ^C, and the end of a terminal, are for the one that asks
        )
        assert popen.stdin is not None
        assert popen.stdout is not None
        return cls(popen, popen.stdin, popen.stdout)

    def ask(
        self, what: bytes, count: int, seconds: float | None, most: int | None = None
    ) -> list[bytes]:
        """So many answers, of at most so many bytes.

        Raises `TimeoutError` where the first takes too long, `EOFError` where the process ends.
        """
        late = threading.Event()

        def expire() -> None:
            late.set()
            self.popen.terminate()

        timer = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, expire)
        timer.daemon = True
        timer.start()
        answers: list[bytes] = []
        try:
            with contextlib.suppress(EOFError, OSError):
                _send(self.asks, what)
                while len(answers) < count:
                    answers.append(_receive(self.answers, most))
                    timer.cancel()  # once it answers, it has not taken too long
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            raise TimeoutError
        if len(answers) < count:
            raise EOFError
        return answers

    def end(self, patience: float = 0.0) -> int | None:
        """End it, unless it has ended within so many seconds; the signal that it ended by."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(patience)
        self.popen.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(_LAST)
        self.popen.kill()
        code = self.popen.wait()
        with contextlib.suppress(OSError):  # what nobody reads any more
            self.asks.close()
        self.answers.close()
        return -code if code < 0 else None


def _send(stream: IO[bytes], content: bytes) -> None:
    """Bytes behind their number."""
    stream.write(len(content).to_bytes(8, "big"))
    stream.write(content)
    stream.flush()


def _receive(stream: IO[bytes], most: int | None = None) -> bytes:
    """What `_send` sends. Raises `EOFError` where that is cut off, or longer than `most`."""
    number = stream.read(8)
    size = int.from_bytes(number, "big")
    content = stream.read(size) if most is None or size <= most else b""
    if len(number) < 8 or len(content) < size:
        raise EOFError
    return content


#: The options of ``prctl`` by which a process becomes the parent of what its children leave, and by
#: which it ends with its own parent.
_PR_SET_CHILD_SUBREAPER, _PR_SET_PDEATHSIG = 36, 1


def _is_kept() -> bool:
    """Go on in a child; this process stays and keeps it, and ends as it does, after all the rest.

    True in the child, and False when it has ended. It is ended where nobody asks any more, and when
    its keeper is told to end.
    """
    system = ctypes.CDLL(None)
    system.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        os.setpgid(0, 0)  # whoever ends its own group does not end the keeper
        system.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        return True

    def end(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    def watch() -> None:
        hung_up = select.poll()
        hung_up.register(0, 0)
        hung_up.poll()
        end()

    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=watch, daemon=True).start()
    _, ended = os.waitpid(child, 0)
    _end_the_rest()
    code = os.waitstatus_to_exitcode(ended)
    if code < 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return False


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
