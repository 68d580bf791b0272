"""Files are written whole or not at all: faults at every call, refusals, streams, inputs."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from symattn import writing
from symattn.errors import SymattnError
from symattn.pages import checked
from symattn.writing import Destination, replace_text
from tests import ROOT
from tests.command import assert_refused, put, run

OLD, NEW = b"old\n" * 5_000, b"new!\n" * 20_000

SHEET = """[attention]
scale = false
[given]
scores = [[0, 0]]
[claims]
weights = [["0.4", "0.5"]]
"""
PAGE = f"# Page\n\n```symattn\n{SHEET}```\n"


def what_is_wrong(folder: Path, name: str, mode: int, killed: bool = True) -> str:
    """What is wrong with a file that was being replaced when something happened, if anything."""
    path = folder / name
    if not path.exists():
        return "gone"
    if path.read_bytes() not in (OLD, NEW):
        return "neither old nor new"
    if stat.S_IMODE(path.stat().st_mode) != mode:
        return "another mode"
    beside = [other.name for other in folder.iterdir() if other.name != name]
    if beside and not killed:
        return f"left: {beside}"
    if any(not (other.startswith(".") and other.endswith(".tmp")) for other in beside):
        return f"left in sight: {beside}"
    return ""


# ---- killed and interrupted, at each call ----------------------------------------------------

#: Two ways to write a file; the second is the one that must be caught.
WRITERS = {
    "whole": "from symattn.writing import Destination\n"
    "def write(path, content):\n    Destination.of(path).write(content)\n",
    "naive": "def write(path, content):\n"
    "    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n"
    "    os.write(descriptor, content[:100])\n"
    "    os.write(descriptor, content[100:])\n"
    "    os.close(descriptor)\n",
}

_START = f"""import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
OLD, NEW = b"old\\n" * 5_000, b"new!\\n" * 20_000
"""


#: Writes in children, each of which sends itself the signal before or after one more call.
COUNTED = """
CALLS = ("open", "write", "fsync", "close", "replace", "unlink", "stat", "fstat", "fchmod",
         "listxattr", "readlink", "access")
folder, number = sys.argv[1], getattr(signal, sys.argv[2])
real = {name: getattr(os, name) for name in CALLS}

def child(path, last):
    left = [last]
    def counted(name):
        def call(*given, **named):
            for after in (False, True):
                if after:
                    made = real[name](*given, **named)
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), number)
            return made
        return call
    for name in CALLS:
        setattr(os, name, counted(name))
    try:
        write(path, NEW)
    except KeyboardInterrupt:
        os._exit(130)
    os._exit(0)

for last in range(1, 1000):
    own = os.path.join(folder, str(last))
    os.mkdir(own)
    path = os.path.join(own, "file")
    with open(path, "wb") as file:
        file.write(OLD)
    os.chmod(path, 0o640)
    process = os.fork()
    if not process:
        child(path, last)
    if os.waitpid(process, 0)[1] == 0:
        break
"""


def python(program: str, *words: str | Path) -> list[str]:
    return [sys.executable, "-S", "-s", "-E", "-B", "-c", _START + program, *map(str, words)]


def counted(folder: Path, number: str, writer: str) -> list[Path]:
    """The folders of a file that was written while the signal came at one call after another."""
    subprocess.run(
        python(WRITERS[writer] + COUNTED, folder, number), check=True, timeout=60, cwd=folder
    )
    return sorted(folder.iterdir(), key=lambda own: int(own.name))


@pytest.mark.parametrize("number", ["SIGKILL", "SIGINT"])
def test_whole_whatever_call_a_signal_comes_at(number: str, tmp_path: Path) -> None:
    folders = counted(tmp_path, number, "whole")
    assert len(folders) > 15
    killed = number == "SIGKILL"
    wrong = {own.name: what_is_wrong(own, "file", 0o640, killed) for own in folders}
    assert {name: what for name, what in wrong.items() if what} == {}
    found = [(own / "file").read_bytes() for own in folders]
    assert OLD in found and NEW in found


def test_a_naive_writer_is_caught(tmp_path: Path) -> None:
    folders = counted(tmp_path, "SIGKILL", "naive")
    wrong = [what_is_wrong(own, "file", 0o640) for own in folders]
    assert wrong.count("neither old nor new") >= 2


# ---- a full disk -----------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("call", ["write", "fsync", "close", "replace"])
def test_each_call_may_fail(
    call: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o640)
    destination = Destination.of(path)
    real = getattr(os, call)
    calls = []

    def fails(*given: Any) -> Any:
        calls.append(given)
        if call == "close":
            real(*given)
            if len(calls) == 1:  # the look at the old file, which has nothing to lose
                return None
        if call == "write" and len(calls) == 1:
            return real(given[0], given[1][:10])  # a part of it goes
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fails)
    with pytest.raises(SymattnError, match=r"cannot be written: .*; the old content is"):
        destination.write(NEW)
    monkeypatch.undo()
    assert path.read_bytes() == OLD
    assert what_is_wrong(tmp_path, "file", 0o640, killed=False) == ""


def test_a_folder_that_is_not_made_durable_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    real, calls = os.fsync, []

    def fails(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    destination = Destination.of(path)
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(SymattnError, match="is written, but may be lost"):
        destination.write(NEW)
    assert path.read_bytes() == NEW


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("words", "name", "text"),
    [
        (("check", "--fix", "FILE"), "a.toml", SHEET),
        (("render", "FILE"), "a.md", PAGE),
        (("derive", "causal", "-o", "FILE"), "a.txt", "old\n"),
        (("check", "SHEET", "-o", "FILE"), "a.txt", "old\n"),
        (("prove", "--all", "-o", "FILE"), "a.txt", "old\n"),
        (("derive", "softmax(2,1,0)", "--gradient", "all", "-o", "FILE"), "a.txt", "old\n"),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_commands_keep_the_old_file_on_a_full_disk(
    words: tuple[str, ...],
    name: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from symattn.algebra import identities

    few = identities.prove(identities.IDENTITIES[0], 1)
    monkeypatch.setattr(identities, "prove", lambda *_: few)
    path = put(tmp_path / name, text)
    path.chmod(0o600)
    (tmp_path / "sheet.toml").write_text(SHEET, encoding="utf-8")
    given = {"FILE": path, "SHEET": tmp_path / "sheet.toml"}
    with no_file_longer_than(20):
        result = run(*(given.get(word, word) for word in words))
    told = f"{path}: cannot be written: file too large; the old content is kept"
    assert_refused(result, told, shown="--fix" in words)  # what it would write
    assert path.read_text(encoding="utf-8") == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {other.name for other in tmp_path.iterdir()} == {name, "sheet.toml"}


# ---- what is kept ----------------------------------------------------------------------------


def test_a_new_file_has_the_mode_that_open_gives(tmp_path: Path) -> None:
    for mask in (0o022, 0o077, 0o002):
        before = os.umask(mask)
        try:
            Destination.of(tmp_path / f"{mask:o}").write("new")
            assert os.umask(mask) == mask
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / f"{mask:o}").stat().st_mode) == 0o666 & ~mask


def test_nobody_else_reads_a_private_file_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o600)
    real, modes = os.write, []

    def looked_at(descriptor: int, content: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", looked_at)
    Destination.of(path).write(NEW)
    assert modes == [0o600]


def test_owner_and_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    if os.geteuid() == 0:
        os.chown(path, 12345, 23456)
    before = path.stat()
    try:
        os.setxattr(path, "user.note", b"mine")
        attributes = {"user.note"}
    except OSError:  # this file system has none
        attributes = set()
    Destination.of(path).write(NEW)
    after = path.stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino
    assert attributes <= set(os.listxattr(path))


@pytest.mark.parametrize("name", ["n" * 255, "あ" * 85, "n" * 250 + ".toml"[:5], "é" * 127])
def test_the_longest_names_can_be_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    Destination.of(path).write(OLD)
    Destination.of(path).write(NEW)
    assert path.read_bytes() == NEW
    with pytest.raises(SymattnError, match="cannot be written: file name too long"):
        Destination.of(tmp_path / f"{name}nn")
    assert [other.name for other in tmp_path.iterdir()] == [name]


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link, chain = tmp_path / "real/file", tmp_path / "link", tmp_path / "chain"
    link.symlink_to("real/file")
    chain.symlink_to(link)
    Destination.of(chain).write(OLD)  # it dangled
    assert target.read_bytes() == OLD
    Destination.of(chain).write(NEW)
    assert link.is_symlink() and chain.is_symlink() and not target.is_symlink()
    assert target.read_bytes() == NEW


def test_a_file_that_was_changed_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "file", "a")
    with pytest.raises(SymattnError, match="changed while it was read"):
        replace_text(path, "b", "c")
    replace_text(path, "other", "a")  # it holds what it is to hold
    real = os.fsync

    def late(descriptor: int) -> None:
        path.write_text("somebody else's", encoding="utf-8")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(SymattnError, match="changed while it was read"):
        replace_text(path, "a", "c")
    assert path.read_text(encoding="utf-8") == "somebody else's"
    assert [other.name for other in tmp_path.iterdir()] == ["file"]


def test_one_file_by_two_names_is_put_right_once(tmp_path: Path) -> None:
    path, link = tmp_path / "a.toml", tmp_path / "b.toml"
    path.write_text(SHEET, encoding="utf-8")
    link.symlink_to(path)
    result = run("check", "--fix", path, link)
    assert (result.exit_code, result.stderr) == (0, "")
    assert path.read_text(encoding="utf-8") == SHEET.replace("0.4", "0.5")


# ---- streams ---------------------------------------------------------------------------------


def test_devices_are_streamed() -> None:
    assert run("derive", "causal", "-o", "/dev/null").exit_code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert_refused(
        run("derive", "causal", "-o", "/dev/full"),
        "/dev/full: cannot be written: no space left on device",
    )


def test_pipes_are_streamed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    destination = Destination.of(pipe)  # does not open it, which would wait, or end what is read
    reader.start()
    destination.write(NEW)
    reader.join(30)
    assert read == [NEW] and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name_is_appended_to(name: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    program = (
        "from symattn.writing import Destination\nprint('first')\n"
        f"Destination.of({name!r}).write('then\\n')\nprint('last')\n"
    )
    node = log.stat().st_ino
    with log.open("ab") as file:
        subprocess.run(python(program), stdout=file, check=True)
    assert log.read_text(encoding="utf-8") == "before\nfirst\nthen\nlast\n"
    assert log.stat().st_ino == node


# ---- refused before the work -----------------------------------------------------------------


def locked(folder: Path) -> Path:
    path = folder / "file"
    path.write_bytes(OLD)
    path.chmod(0o444)
    return path


def looped(folder: Path) -> Path:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    return folder / "a"


def bound(folder: Path) -> Path:
    path = folder / "socket"
    before = Path.cwd()
    os.chdir(folder)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.chdir(before)
    return path


def under_a_file(folder: Path) -> Path:
    (folder / "file").write_bytes(OLD)
    return folder / "file" / "inside"


REFUSED: tuple[tuple[str, Callable[[Path], Any], str], ...] = (
    ("a folder", lambda folder: folder, "is a directory"),
    ("a folder that is not there", lambda folder: f"{folder}/no/", "is a directory"),
    ("the folder itself", lambda _: "..", "is a directory"),
    ("in a folder that is not there", lambda folder: folder / "no" / "x", "there is no folder"),
    ("in a file", under_a_file, "not a directory"),
    ("read-only", locked, "is marked read-only"),
    ("a loop", looped, "too many levels of symbolic links"),
    ("a socket", bound, "socket"),
    ("no name", lambda _: "", "the name is empty"),
    ("a null", lambda _: "a\0b", "null"),
    ("a closed descriptor", lambda _: "/dev/fd/987", "bad file descriptor"),
    ("to be read", lambda _: f"/dev/fd/{os.open('/dev/null', os.O_RDONLY)}", "reading only"),
)


@pytest.mark.parametrize(
    ("made", "told"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused_in_a_line(made: Callable[[Path], Any], told: str, tmp_path: Path) -> None:
    name = made(tmp_path)
    before = kept(tmp_path)
    with pytest.raises(SymattnError) as refused:
        Destination.of(name)
    assert "cannot be written: " in str(refused.value) and told in str(refused.value)
    assert str(refused.value).count("\n") == 0
    assert kept(tmp_path) == before


def kept(folder: Path) -> dict[Path, tuple[int, ...]]:
    """All files, and what of them must not change; following a link changes when it was read."""
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {
        path: (*seen[:7], seen.st_mtime_ns)  # up to the size
        for path, seen in found.items()
    }


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's rights, which are above permissions."""
    if os.geteuid():
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may write in."""
    folder = Path(
        subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip()
    )
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_a_folder_that_may_not_be_written_is_refused(open_folder: Path) -> None:
    (open_folder / "file").write_bytes(OLD)
    (open_folder / "file").chmod(0o666)
    open_folder.chmod(0o555)
    try:
        for name in ("file", "new"):
            with as_nobody(), pytest.raises(SymattnError, match="no temporary file can be made"):
                Destination.of(open_folder / name)
    finally:
        open_folder.chmod(0o777)
    assert (open_folder / "file").read_bytes() == OLD


def test_an_owner_that_cannot_be_kept_is_refused(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_folder / "file"
    path.write_bytes(OLD)
    path.chmod(0o666)
    if os.geteuid():  # nobody else's file can be made here; it is said to be one
        real = os.stat

        def others(name: Any, **how: Any) -> os.stat_result:
            found = list(real(name, **how))
            found[stat.ST_UID] += 1
            return os.stat_result(found)

        monkeypatch.setattr(os, "stat", others)
    with as_nobody(), pytest.raises(SymattnError, match="its owner and mode cannot be kept"):
        Destination.of(path)
    monkeypatch.undo()
    assert [other.name for other in open_folder.iterdir()] == ["file"]


def test_what_is_mounted_by_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    assert "/" in writing._mounted()
    monkeypatch.setattr(writing, "_mounted", lambda: iter([str(path)]))
    with pytest.raises(SymattnError, match="is a mount point of its own"):
        Destination.of(path)


def at_work(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("the work was begun")


@pytest.mark.parametrize(
    "words",
    [
        ("derive", "SHEET"),
        ("derive", "causal"),
        ("check", "SHEET"),
        ("derive", "softmax(2,1,0)", "--gradient", "all"),
        ("prove", "A = A"),
        ("check", "--fix", "SHEET"),
        ("check", "--diff", "SHEET"),
    ],
    ids=" ".join,
)
def test_refused_before_the_work(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn.algebra import identities
    from symattn.attention import jacobian
    from symattn.derivations import Derivation

    sheet = put(tmp_path / "a.toml", SHEET)
    monkeypatch.setattr(Derivation, "evaluate", at_work)
    monkeypatch.setattr(checked, "check_file", at_work)
    monkeypatch.setattr(jacobian, "softmax_jacobian", at_work)
    monkeypatch.setattr(identities, "prove", at_work)
    result = run(*(sheet if word == "SHEET" else word for word in words), "-o", tmp_path / "no/x")
    assert_refused(result, "cannot be written: there is no folder")
    assert sheet.read_text(encoding="utf-8") == SHEET


# ---- an output that is an input --------------------------------------------------------------

NAMING = '[attention]\nscale = false\n[given]\nscores = "q.csv"\n[claims]\nweights = [["0.4", 1]]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A worksheet, a page that names it, another over a file of numbers, links to all."""
    inside = tmp_path / "in"
    inside.mkdir()
    texts = {
        "cl.toml": SHEET,
        "refs.toml": NAMING,
        "q.csv": "0,0\n",
        "page.md": "```symattn sheet.toml\n```\n\nIt is {claim}`weights[1,1] = 0.4`.\n",
        "sheet.toml": "[attention]\nscale = false\n[given]\nscores = [[0, 0]]\n",
        "a.md": PAGE,
        "broken.toml": NAMING + "[policy]\nrounding = 'no'\n",
    }
    for name, text in texts.items():
        (inside / name).write_text(text, encoding="utf-8")
        (tmp_path / f"soft-{name}").symlink_to(inside / name)
        (tmp_path / f"hard-{name}").hardlink_to(inside / name)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "check in/cl.toml -o in/cl.toml",
        "check --fix in/cl.toml -o in/cl.toml",
        "check --diff in/cl.toml -o soft-cl.toml",
        "check in/cl.toml -o in/../in/cl.toml",
        "check in/cl.toml -o hard-cl.toml",
        "check soft-cl.toml -o hard-cl.toml",
        "check in/cl.toml in/refs.toml -o in/q.csv",
        "check in/page.md in/sheet.toml -o in/sheet.toml",
        "check in/page.md -o in/sheet.toml",
        "check in -o in/a.md",
        "check in -o hard-a.md",
        "check in -o in/q.csv",
        "check in -o in/sheet.toml",
        "check in/broken.toml -o in/q.csv",
        "check --if-any in/q.csv -o in/q.csv",
        "derive in/refs.toml -o in/refs.toml",
        "derive in/refs.toml -o in/q.csv",
        "derive in/refs.toml -o soft-q.csv",
        "derive in/refs.toml -o hard-q.csv",
        "derive in/refs.toml --symbolic --format tex -o in/q.csv",
    ],
)
def test_an_output_that_is_an_input_is_refused(
    words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn.derivations import Derivation

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Derivation, "evaluate", at_work)
    monkeypatch.setattr(checked, "check_file", at_work)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    output = words.rsplit(maxsplit=1)[-1]
    assert_refused(run(*words.split()), f"{output}: is read here", "write to another file")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_an_input_that_shows_itself_late_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name, with an escape in it, is found only when the worksheet is read."""
    sheet = put(folder / "in/refs.toml", NAMING.replace("q.csv", "\\u0071.csv"))
    for command in (("check",), ("check", "--fix"), ("derive",)):
        result = run(*command, sheet, "-o", folder / "in/q.csv")
        assert_refused(result, "q.csv: is read here")
    assert (folder / "in/q.csv").read_text(encoding="utf-8") == "0,0\n"


def test_standard_input_is_an_input(folder: Path) -> None:
    program = (
        "from symattn.writing import Destination\n"
        "from symattn.errors import SymattnError\n"
        "for name in ('-', '/dev/stdin'):\n"
        "    try:\n        Destination.of(sys.argv[1], [name])\n"
        "    except SymattnError as error:\n        print(error)\n"
    )
    with (folder / "in/cl.toml").open() as file:
        said = subprocess.run(
            python(program, folder / "hard-cl.toml"),
            stdin=file,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    assert said.count("is read here") == 2


def test_a_report_in_the_folder_is_replaced_by_the_next_one(folder: Path) -> None:
    (folder / "in/broken.toml").unlink()
    for form in ("md", "text"):
        for _ in range(2):
            result = run("check", folder / "in", "--format", form, "-o", folder / "in/report.md")
            assert (result.exit_code, result.stderr) == (1, "")
            assert "0.4" in (folder / "in/report.md").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="there is no shell that closes descriptors")
@pytest.mark.parametrize(
    ("closed", "output", "status"), [(">&-", "", 2), ("<&- >&- 2>&-", "-o report.txt", 0)]
)
def test_standard_streams_that_are_closed_lend_their_numbers_to_no_other_file(
    closed: str, output: str, status: int, tmp_path: Path
) -> None:
    sheet = "[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]\n[claims]\nweights=[[1]]\n"
    (tmp_path / "sheet.toml").write_text(sheet, encoding="utf-8")
    command = f'"$0" -m symattn check sheet.toml --timeout 60 {output} {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    if output:
        assert "weights  ✓ 1 right" in (tmp_path / "report.txt").read_text(encoding="utf-8")
    else:
        assert done.stderr == "symattn: cannot write: standard output is closed\n"


@pytest.mark.skipif(os.name == "nt", reason="there is no limit on files")
@pytest.mark.parametrize(("form", "unbuffered"), [("text", ""), ("tex", "1")])
def test_a_document_that_is_cut_off_on_standard_output_is_no_success(
    form: str, unbuffered: str, tmp_path: Path
) -> None:
    command = f'ulimit -f 2; "$0" -m symattn derive causal --format {form} > document'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    assert (done.returncode, done.stderr) == (2, "symattn: cannot write: file too large\n")


@pytest.mark.parametrize("words", [("check", "--fix"), ("check",), ("render",)])
def test_an_empty_name_is_not_the_folder_of_the_command(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = put(tmp_path / "page.md", "```symattn\n[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]\n```\n")
    before = page.read_text(encoding="utf-8")
    result = run(*words, "", status=2)
    assert "the name is empty; give a file or a folder" in result.stderr
    assert (result.stdout, page.read_text(encoding="utf-8")) == ("", before)
