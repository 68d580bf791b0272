"""A folder of its own, and everything that is done outside of it while an input is tried.

Python tells an audit hook of every file that is opened, every process that is started and every
text that is compiled (https://docs.python.org/3/library/audit_events.html). The hook cannot be
taken away again, so that there is one, and it asks the `Place` that is watched, if there is any.
"""

from __future__ import annotations

import ast
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import symattn

#: What stands in every file that nobody may read.
SECRET = "73197319"

#: An input that takes longer, in seconds of the processor, is a finding.
SECONDS = 60.0

#: What a terminal acts on, and what ends a text in C.
SIGNS = "\x00\x07\x08\x1b\x9b"

#: Memory, in bytes, by which an input may raise the process's peak.
MEMORY = 1_000_000_000

_PACKAGE = Path(symattn.__file__).parent
_PYTHON = tuple(
    {os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *sys.path) if path}
    | {os.path.realpath(_PACKAGE.parent), os.path.realpath(Path.home() / ".cache" / "matplotlib")}
)
_SYSTEM = tuple(
    os.path.realpath(Path(path).expanduser())
    for path in (
        "/dev/null",
        "/dev/urandom",
        "/proc/self/mountinfo",
        "/proc/self/status",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/stat",
        "/sys/devices/system/cpu",
        "/sys/fs/cgroup",
        "/etc/mime.types",
        "/etc/localtime",
        "/etc/docutils.conf",
        "/usr/share/zoneinfo",
        "/usr/share/fonts",
        "/usr/local/share/fonts",
        "/usr/share/locale",
        "~/.docutils",
    )
)

#: Who may compile: what Python itself brings, the makers of templates, and who counts lines.
_COMPILERS = (
    os.path.realpath(sysconfig.get_path("stdlib")) + os.sep,
    *(
        f"{os.sep}{name}{os.sep}"
        for name in ("jinja2", "numpy", "attr", "fastjsonschema", "_pytest", "slipcover")
    ),
    f"{os.sep}sympy{os.sep}utilities{os.sep}lambdify.py",  # of a mask's own comparisons
)

_RUNS = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "pty.spawn",
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "socket.sendto",
    "urllib.Request",
    "webbrowser.open",
    "pickle.find_class",
    "ctypes.dlsym",
    "ctypes.cdata",
    "syslog.syslog",
)
_CHANGES = (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.chown",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.utime",
    "shutil.rmtree",
    "shutil.move",
    "shutil.copyfile",
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Broken(AssertionError):
    """What has to hold of every input and did not: of which kind, and what was seen."""

    def __init__(self, kind: str, told: str) -> None:
        super().__init__(f"{kind}: {told}")
        self.kind, self.told = kind, told


class Place:
    """A folder with worksheets and numbers in it, links that lead out of it, and secrets beside.

    `free` are folders that a target writes to as it likes.
    """

    def __init__(self, root: Path, free: Collection[Path] = ()) -> None:
        self.root = root.resolve()
        self.folder = self.root / "folder"
        self.outside = self.root / "outside"
        self.free = [os.path.realpath(path) + os.sep for path in free]
        self.breaches: list[Broken] = []
        #: Seconds of the processor, and bytes of memory, of the last input.
        self.last: tuple[float, int] = (0.0, 0)
        #: What a target opens for as long as the place is there.
        self.open = ExitStack()
        self.make()

    def make(self) -> None:
        """Both folders as they are before every input; the process stands in one of them."""
        for folder in (self.folder, self.outside):
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        for name, text in _SECRETS.items():
            (self.outside / name).write_text(text, "utf-8")
        array = np.array([[float(SECRET), 1.0]])
        for suffix in (".npy", ".npz"):
            with (self.outside / f"secret{suffix}").open("wb") as file:
                if suffix == ".npy":
                    np.save(file, array)
                else:
                    np.savez(file, Q=array)
        for name, text in _BESIDE.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text, "utf-8")
        for name in (*_SECRETS, "secret.npy", "secret.npz"):
            (self.folder / f"link-{name}").symlink_to(self.outside / name)
        (self.folder / "away").symlink_to(self.outside)
        self.before = self.seen()

    def seen(self) -> dict[str, tuple[int, int, int]]:
        """Every file of the folder, with what changes when it is written."""
        found = {}
        for path in self.folder.rglob("*"):
            state = path.lstat()
            found[str(path.relative_to(self.folder))] = (
                state.st_ino,
                state.st_size,
                state.st_mtime_ns,
            )
        return found

    def put(self, name: str, content: bytes) -> Path:
        """A file of the input."""
        path = self.folder / name
        path.write_bytes(content)
        self.before = self.seen()
        return path

    def breach(self, kind: str, told: str) -> None:
        """Remember what was done that may not be done."""
        if len(self.breaches) < 20:
            self.breaches.append(Broken(kind, told))

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """What the audit hook hands on."""
        if event == "open":
            path, _, flags = args
            if isinstance(path, (str, bytes)):
                self._opened(os.fsdecode(path), int(flags or 0))
        elif event in _CHANGES:
            path = args[0]
            if isinstance(path, (str, bytes)) and not self._may_write(os.fsdecode(path)):
                self.breach("write", f"{event} {os.fsdecode(path)}")
        elif event.startswith(_RUNS) and "PyThreadState_SetAsyncExc" not in args:  # the budget's
            self.breach("run", f"{event} {str(args)[:200]}")
        elif event in ("compile", "exec"):
            self._compiled(event, args)

    def _opened(self, path: str, flags: int) -> None:
        real = os.path.realpath(path)
        if flags & _WRITES:
            if not self._may_write(path):
                self.breach("write", real)
        elif not (
            self._inside(real)
            or real.startswith(_SYSTEM)
            or any(real == root or real.startswith(root + os.sep) for root in _PYTHON)
        ):
            self.breach("read", f"{self._short(path)} ({self._short(real)})")

    def _short(self, path: str) -> str:
        return path.replace(str(self.root), "")

    def _inside(self, real: str) -> bool:
        folder = os.path.realpath(self.folder)
        return f"{real}{os.sep}".startswith((folder + os.sep, *self.free))

    def _may_write(self, path: str) -> bool:
        real = os.path.realpath(path)
        return self._inside(real) or real in ("/dev/null", "/dev/stdout", "/dev/stderr")

    def _compiled(self, event: str, args: tuple[Any, ...]) -> None:
        frame = sys._getframe(3)  # who compiles: behind this, `hear` and the hook
        name = frame.f_code.co_filename
        text = args[0] if event == "compile" else ""
        if text in (b"_getframe()", "_getframe()") or name == ast.__file__:
            return  # Cython's tracebacks; texts that are parsed only
        strange = isinstance(text, (str, bytes)) and b"pwned" in os.fsencode(str(text))
        if strange or not (name.startswith("<frozen") or any(part in name for part in _COMPILERS)):
            self.breach("run", f"{event} in {name}:{frame.f_lineno}")


@contextmanager
def watching(place: Place, written: Collection[str] = ()) -> Iterator[None]:
    """Watch what is done; raises `Broken` for the first thing that may not be.

    Besides these names nothing in the folder may have changed at the end.
    """
    global _watched  # noqa: PLW0603  # a hook is there for good, and asks whom to tell
    _install()
    place.breaches.clear()
    peak = _lower_peak()
    start = time.process_time()
    _watched = place
    try:
        yield
    finally:
        _watched = None
        took, more = time.process_time() - start, _peak() - peak
        after = place.seen()
        names = {
            name
            for name in (after.keys() | place.before.keys())
            if after.get(name) != place.before.get(name)
        }
        place.last = took, more
        changed = sorted(names - set(written))
        if changed or names:
            place.make()
    if place.breaches:
        raise place.breaches[0]
    if changed:
        raise Broken("write", f"in the folder: {', '.join(changed)[:200]}")
    if took > SECONDS:
        raise Broken("slow", f"{took:.0f} s of the processor")
    if more > MEMORY:
        raise Broken("memory", f"{more // 1_000_000} MB")


@contextmanager
def place_of_its_own(free: Callable[[Path], Collection[Path]] = lambda _: ()) -> Iterator[Place]:
    """A `Place` in a temporary folder, and the process in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="symattn-fuzz-") as made:
        root = Path(made)
        place = Place(root, free(root))
        os.chdir(place.folder)
        try:
            with place.open:
                yield place
        finally:
            os.chdir(before)


def clean(*texts: str, signs: str = SIGNS) -> None:
    """Raises `Broken` where a secret, a traceback or a terminal's `signs` show in what is said."""
    for text in texts:
        if SECRET in text:
            at = text.index(SECRET)
            raise Broken("leak", text[max(0, at - 80) : at + 40])
        if "Traceback (most recent call last)" in text:
            raise Broken("traceback", " ".join(text.split())[-300:])
        for sign in signs:
            if sign in text:
                at = text.index(sign)
                raise Broken("escape", repr(text[max(0, at - 60) : at + 20]))


def _peak() -> int:
    """The most memory that the process has held, in bytes; 0 where it cannot be told."""
    try:
        words = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return 0
    return 1024 * int(words.partition("VmHWM:")[2].split()[0])


def _lower_peak() -> int:
    """Begin anew with the peak, and what it is now."""
    try:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    except OSError:
        return 1 << 62
    return _peak()


def _install() -> None:
    global _installed  # noqa: PLW0603  # as above
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watched is not None:
        _watched.hear(event, args)


_watched: Place | None = None
_installed = False

_SHEET = f'[given]\nscores = [[{SECRET}, 0]]\n[claims]\nweights = [[{SECRET}, "0.4"]]\n'

_SECRETS: Mapping[str, str] = {
    "secret.txt": f"the word is {SECRET}\n",
    "secret.csv": f"{SECRET},1\n2,x{SECRET}\n",
    "secret2.csv": f"{SECRET},1\n2,3\n",
    "secret.toml": f'title = "{SECRET}"\n{_SHEET}',
    "secret.md": f"# {SECRET}\n```symattn\n{_SHEET}```\nA {{claim}}`weights[1,1] = {SECRET}`\n",
}

_BESIDE: Mapping[str, str] = {
    "sheet.toml": "[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n"
    '[claims]\nweights = [["0.67", "0.33"]]\n',
    "numbers.csv": "1,0\n0,1\n",
    "sub/more.csv": "1,2\n3,4\n",
}
