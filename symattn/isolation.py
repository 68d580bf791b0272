"""Functions run within limits: in a process that is killed when time is up and replaced.

`here` runs a function in this process; a `Worker` runs it in another one, which may be killed in
the midst of anything (a long call in C holds off every signal of Python) and may die without
taking this one along. Both give the function's result, or a `Failure`. What they run are functions
of modules, and their arguments and results are plain data: all of it is pickled. Where a worker
runs a stranger's code, its results are bytes and stay so (`stranger`): a pickle that it
makes would be run here when it is read.

A worker is idle or at work for one task at a time, so that what it keeps from one task serves the
next. Tasks and answers go through its pipes. Elsewhere than on Linux it is a process of
`subprocess`. On Linux a nursery, which is one, has imported what workers need and forks each of
them: only the first waits for that. It forks a keeper, which keeps the worker as a child of its
own, and all that a worker has started ends with it: what it leaves behind becomes its keeper's,
which ends it.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import math
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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

#: Seconds that a process may take before it is ready for its first task, and to end; and for which
#: a nursery waits to be asked.
_START, _LAST, _IDLE = 120.0, 2.0, 120.0

#: Seconds of processor time for one task: without a limit, and beyond the one on the clock. The
#: system keeps this limit even where this process is stopped.
_PROCESSOR, _BEYOND = 3600, 60

#: What is said before a result, where a failure has its status; and the bytes that a stranger's
#: answer may have.
_DONE, _MOST_ANSWERED = b"done", 2**30

#: Whether workers have keepers; Linux alone hands these what a worker leaves behind.
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
        first = pickle.dumps((self.limits, self._debug, self._stranger))
        for _ in range(2):  # a nursery may end while it is asked
            process = _Process.running(self._modules)
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


def serve(modules: Sequence[str], asked: int = 0, answers: int = 1, kept: bool = False) -> None:
    """What the process of a worker does: import what is needed, and answer until nobody asks.

    It is asked and answers by these numbers of files. A keeper ends one that it has `kept`.
    """
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(os.dup(asked), "rb") as tasks, os.fdopen(os.dup(answers), "wb") as results:
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in {0, 1, asked, answers}:
            os.dup2(silent, stream)
        _have(modules)
        if drawing := sys.modules.get("numpy.random"):
            drawing.seed()  # a nursery's would draw the same numbers in each of its workers
        with contextlib.suppress(EOFError, ConnectionError):
            _answer(_received_from(tasks, kept), results)


def _have(modules: Sequence[str]) -> None:
    """Import modules; what needs one that cannot be imported says why."""
    for module in modules:
        with contextlib.suppress(Exception):
            import_module(module)


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


@dataclass(frozen=True)
class _Process:
    """A worker as the one that asks sees it: its pipes, and the process or the keeper it has."""

    asks: IO[bytes]
    answers: IO[bytes]
    life: _Alone | _Kept

    @classmethod
    def running(cls, modules: tuple[str, ...]) -> _Process:
        """A new process, which imports the modules."""
        if _KEEPS:
            return _forked(modules)
        code = f"from symattn.isolation import serve; serve({modules!r})"
        popen = _python(code, subprocess.PIPE, subprocess.PIPE)
        assert popen.stdin is not None
        assert popen.stdout is not None
        return cls(popen.stdin, popen.stdout, _Alone(popen))

    def ask(
        self, what: bytes, count: int, seconds: float | None, most: int | None = None
    ) -> list[bytes]:
        """So many answers, of at most so many bytes.

        Raises `TimeoutError` where the first takes too long, `EOFError` where the process ends.
        """
        late = threading.Event()

        def expire() -> None:
            late.set()
            self.life.stop()

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
        number = self.life.ended(patience)
        with contextlib.suppress(OSError):  # what nobody reads any more
            self.asks.close()
        self.answers.close()
        return number


@dataclass(frozen=True)
class _Alone:
    """A process of its own: a worker without a keeper, or a nursery."""

    popen: subprocess.Popen[bytes]

    def stop(self) -> None:
        """Tell it to end."""
        self.popen.terminate()

    def ended(self, patience: float) -> int | None:
        """End it, unless it has ended within so many seconds; the signal that it ended by."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(patience)
        self.popen.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(_LAST)
        self.popen.kill()
        code = self.popen.wait()
        return -code if code < 0 else None


@dataclass(frozen=True)
class _Kept:
    """A worker's keeper, at the other end of a socket: told to end it, it says how it ended."""

    keeper: socket.socket

    def stop(self) -> None:
        """Tell it to end."""
        with contextlib.suppress(OSError):
            self.keeper.shutdown(socket.SHUT_WR)

    def ended(self, patience: float) -> int | None:
        """As of one that is alone; None also where the keeper itself was killed."""
        with self.keeper:
            for seconds in (patience, 2 * _LAST):
                self.keeper.settimeout(seconds)
                with contextlib.suppress(BlockingIOError, TimeoutError, ConnectionError):
                    code = int(self.keeper.recv(8) or b"0")
                    return -code if code < 0 else None
                self.stop()
        return None


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


def _python(code: str, stdin: Any, stdout: Any) -> subprocess.Popen[bytes]:
    """Python itself; the folder where the command is called is not searched for modules: `-P`."""
    isolated = "-I" if sys.flags.isolated else "-P"
    return subprocess.Popen(  # noqa: S603 Python itself
        [
            sys.executable,
            isolated,
            "-c",
            f"import sys; sys.path[:] = sys.argv[1:]; {code}",
            *sys.path,
        ],
        stdin=stdin,
        stdout=stdout,
        env={**_ONE_THREAD, **os.environ},
        start_new_session=True,  # ^C, and the end of a terminal, are for the one that asks
    )


# ---- the nursery, on Linux -------------------------------------------------------------------


@dataclass(frozen=True)
class _Nursery:
    """The process that workers are forked from, as the one that asks sees it."""

    #: What it was started with.
    start: object
    life: _Alone
    asks: socket.socket

    def close(self) -> None:
        """End it; workers go on."""
        self.asks.close()
        self.life.ended(_LAST)


#: The one there is.
_NURSERIES: list[_Nursery] = []
_ASKING = threading.Lock()


def _nursery() -> _Nursery:
    """The nursery; another one where the environment or the path is not what it was started with.

    A library reads the environment as it is imported. What pytest says there of each test is none.
    """
    environment = {name: x for name, x in os.environ.items() if not name.startswith("PYTEST_")}
    start = (os.getpid(), sys.path[:], environment)
    for one in _NURSERIES:
        if one.start == start and one.life.popen.poll() is None:
            return one
    _close_nurseries()
    asks, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with asked:
        popen = _python("from symattn.isolation import nurse; nurse()", asked, subprocess.DEVNULL)
    _NURSERIES.append(_Nursery(start, _Alone(popen), asks))
    return _NURSERIES[0]


@atexit.register
def _close_nurseries() -> None:
    while _NURSERIES:
        _NURSERIES.pop().close()


def _forked(modules: tuple[str, ...]) -> _Process:
    """A worker of the nursery; one that it does not get to gives no answer."""
    (asked, asks), (answers, answered) = os.pipe(), os.pipe()
    ours, keepers = socket.socketpair()
    what = pickle.dumps((modules, str(Path.cwd())))
    with keepers, _ASKING, contextlib.suppress(OSError):
        socket.send_fds(_nursery().asks, [what], (asked, answered, keepers.fileno()))
    os.close(asked)
    os.close(answered)
    return _Process(os.fdopen(asks, "wb"), os.fdopen(answers, "rb"), _Kept(ours))


def nurse() -> None:
    """What a nursery does: import what a worker needs, fork its keeper, until nobody asks."""
    asked = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)  # no keeper holds what only a nursery answers
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a keeper has ended
    while select.select([asked], [], [], _IDLE)[0]:
        message, given, _, _ = socket.recv_fds(asked, 2**20, 3)
        if not message:
            return
        modules, folder = pickle.loads(message)  # noqa: S301 made by this code
        _have(modules)
        if not os.fork():
            asked.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            tasks, results, keeper = given
            if _is_kept(socket.socket(fileno=keeper)):
                os.chdir(folder)
                serve(modules, tasks, results, kept=True)
            os.kill(os.getpid(), signal.SIGKILL)  # without what libraries do when they end
        for number in given:
            os.close(number)


#: The options of ``prctl`` by which a process becomes the parent of what its children leave, and by
#: which it ends with its own parent.
_PR_SET_CHILD_SUBREAPER, _PR_SET_PDEATHSIG = 36, 1


def _is_kept(control: socket.socket) -> bool:
    """Go on in a child; this process stays and keeps it, and says how it and all the rest ended.

    True in the child, and False when it has ended. It is ended where nobody asks any more.
    """
    system = ctypes.CDLL(None)
    system.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        control.close()
        os.setpgid(0, 0)  # whoever ends its own group does not end the keeper
        system.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        return True

    def watch() -> None:
        select.select([control], [], [])
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    _, ended = os.waitpid(child, 0)
    _end_the_rest()
    with contextlib.suppress(OSError):
        control.send(b"%d" % os.waitstatus_to_exitcode(ended))
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
