"""Where the submissions of a class are: in a folder, an archive of a learning system, a table.

Nothing is unpacked, and what cannot be read is a submission with a fault: it keeps nothing else
from being read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

from symattn.classroom.answers import READERS, answers_in, most_of
from symattn.classroom.responses import Hears, in_csv, in_parquet, time_of
from symattn.classroom.submission import Sheet, Submission, name_of
from symattn.classroom.tables import People
from symattn.errors import ReadError, SymattnError
from symattn.files.archives import archive_in, unpacked
from symattn.files.named import LIMITS, open_regular, path_of, reason, why_not_searched
from symattn.printable import printable

__all__ = ["Sheet", "Submission", "submissions_in"]

#: How systems name what a student handed in: the student, the student's number, when, and the
#: file. A newcomer adds a row.
SYSTEMS: Mapping[str, re.Pattern[str]] = {
    # Ada Lovelace_12345_assignsubmission_file_/exercise.toml, or without the folder
    "Moodle": re.compile(
        r"(?P<student>[^/]{1,200}?)_(?P<key>[0-9]{1,20})_assignsubmission_[a-z]+(?:_?/|_).*"
    ),
    # lovelaceada_LATE_12345_67890_exercise.toml
    "Canvas": re.compile(
        r"(?P<student>[^/_]{1,200})_(?:LATE_)?(?P<key>[0-9]{1,20})_[0-9]{1,20}_[^/]+"
    ),
    # 12345-67890 - Ada Lovelace - 3 Oct 2026 10-03 AM/exercise.toml
    "Brightspace": re.compile(
        r"(?P<key>[0-9]{1,20})-[0-9]{1,20} - (?P<student>[^/]{1,200}?) - "
        r"(?P<submitted>[^/]{1,40}[AP]M)/.*"
    ),
    # Exercise 7_ada_attempt_2026-10-03-10-03-22_exercise.toml
    "Blackboard": re.compile(
        r"[^/]{0,200}_(?P<student>[^/_]{1,200})_attempt_(?P<submitted>[0-9-]{19})[_.][^/]*"
    ),
}

#: What systems and desktops leave behind.
_LEFT = re.compile(r"(?:^|/)(?:__MACOSX(?:/|$)|\.|~\$|(?:Thumbs\.db|desktop\.ini)$)", re.IGNORECASE)


@dataclass(frozen=True)
class _File:
    """A file that was handed in: its path under the root of the class, and how it is read."""

    path: str
    read: Callable[[int], bytes]

    @property
    def ending(self) -> str:
        return PurePosixPath(self.path).suffix.lower()


def submissions_in(path: str | Path, hears: Hears = lambda share: None) -> Iterator[Submission]:
    """What a class handed in, one after the other, in the order of the names or rows.

    `hears` is told how much of it is read, a share of all.

    A folder, or a zip, holds a file or a folder for each student, as learning systems name them; a
    name that no system wrote is the student's. A table (``.csv``, ``.tsv``, ``.parquet``) has a
    submission in each row, of a student under the head ``student``, ``name``, ``learner``, ``first
    name`` and ``last name``, or ``email`` (`symattn.classroom.tables.HEADS` has all); any other
    file is one submission. Of several files of a student that one counts which holds answers; where
    more do, each is a submission.

    Raises `ReadError` where there is nothing at the path, or nothing of a kind that is read; and
    `MissingExtra` for Parquet without pyarrow.
    """
    path = Path(path_of(path, "submissions_in"))
    shown = printable(path.name or str(path))
    ending = path.suffix.lower()
    if path.is_dir():
        return _of_class(_in_folder(path), f"{shown}/", hears)
    if not path.is_file():
        raise ReadError(f"{path}: is no file and no folder; name what the class handed in")
    if ending == ".zip":
        return _in_file(path, shown, _in_zip, hears)
    if ending == ".parquet":
        return _in_file(path, shown, in_parquet, hears)
    if _is_table(path, ending):
        return _in_file(path, shown, in_csv, hears)
    if ending not in READERS:
        known = ", ".join((*READERS, ".parquet"))
        raise ReadError(f"{path}: is not read; give a folder, a .zip, or one of {known}")
    return iter([replace(_read(_on_disk(path, path.name)), source=shown)])


# ---- one file of a class -------------------------------------------------------------------------


def _in_file(
    path: Path, shown: str, inside: Callable[..., Iterator[Submission]], hears: Hears
) -> Iterator[Submission]:
    try:
        with open_regular(path.resolve()) as file:
            yield from inside(file, shown, hears)
    except OSError as error:
        yield Submission(shown, fault=f"cannot be read: {reason(error)}")


def _is_table(path: Path, ending: str) -> bool:
    """Whether a CSV file is a table of a class: its first line does not begin with an answer."""
    if ending not in (".csv", ".tsv"):
        return False
    try:
        with open_regular(path.resolve()) as file:
            first = file.readline(LIMITS.answers_row)
            first = file.readline(LIMITS.answers_row) if first.startswith(b"sep=") else first
    except (OSError, ReadError):
        return True
    text = first.replace(b"\0", b"").decode("utf-8-sig", "ignore").lower()
    heads = [head.strip(' \r\n"') for head in re.split(r"[,;\t]", text)]
    return People.of(heads).are_known


# ---- folders and archives ------------------------------------------------------------------------


def _in_folder(root: Path) -> Iterator[_File]:
    """The files under a folder; what leads out of it, or is no file, says so when it is read."""
    failed: list[OSError] = []
    for folder, folders, names in os.walk(root, onerror=failed.append):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted(names + links):
            file = Path(folder, name)
            yield _on_disk(file, file.relative_to(root).as_posix(), root)
    for error in failed:
        where = os.path.relpath(error.filename or root, root)
        yield _File(where, partial(_refuse, f"cannot be read: {reason(error)}"))


def _on_disk(file: Path, name: str, root: Path | None = None) -> _File:
    def read(most: int) -> bytes:
        why = why_not_searched(file, root) if root else None
        if why:
            raise ReadError(why)
        try:
            with open_regular(file.resolve()) as opened:
                return opened.read(most + 1)
        except OSError as error:
            raise ReadError(f"cannot be read: {reason(error)}") from None

    return _File(name, read)


def _refuse(why: str, most: int) -> bytes:
    raise ReadError(why)


def _in_zip(file: BinaryIO, shown: str, hears: Hears) -> Iterator[Submission]:
    try:
        archive = archive_in(file, LIMITS.members_directory)
        size = os.fstat(file.fileno()).st_size
        yield from _of_class(_members(archive, size), f"{shown}: ", hears)
    except ReadError as error:
        yield Submission(shown).failed(error)


def _members(archive: ZipFile, size: int) -> Iterator[_File]:
    """The files of an archive of so many bytes, of which no more is unpacked than is read."""
    infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
    if len(infos) > LIMITS.members:
        raise ReadError(f"more than {LIMITS.members:,} files are too many")
    left = LIMITS.unpacked

    def read(info: ZipInfo, most: int) -> bytes:
        nonlocal left
        left -= info.file_size if info.file_size <= most else 0
        if left < 0:
            raise ReadError(f"the archive has more than {LIMITS.unpacked:,} bytes unpacked")
        return unpacked(archive, info, size, most)

    for info in infos:
        parts = info.filename.replace("\\", "/").split("/")
        yield _File("/".join(x for x in parts if x not in ("", ".", "..")), partial(read, info))


def _of_class(files: Iterable[_File], shown: str, hears: Hears) -> Iterator[Submission]:
    """The submissions of files, each student's together."""
    kept = [file for file in files if not _LEFT.search(file.path)]
    root = _root([file.path for file in kept], shown)
    groups: dict[object, list[tuple[Submission, _File]]] = {}
    for file in sorted(kept, key=lambda one: one.path):
        who = replace(_who(file.path, root), source=printable(f"{shown}{file.path}"))
        inside = file.path.removeprefix(root)
        alone = inside.partition("/")[0] if "/" in inside else inside
        by_system = who.key or who.submitted
        group = (who.student, who.key, who.submitted) if by_system else alone
        groups.setdefault(group, []).append((who, file))
    for number, together in enumerate(groups.values()):
        hears(number / len(groups))
        yield from _of_student(together)


def _root(paths: list[str], shown: str) -> str:
    """The folder that holds all and is no student's: it has folders, or the archive's own name."""
    first = {path.partition("/")[0] for path in paths}
    if len(first) != 1 or any("/" not in path for path in paths):
        return ""
    root = f"{first.pop()}/"
    folders = {p.removeprefix(root).partition("/")[0] for p in paths if p.count("/") > 1}
    return root if len(folders) > 1 or root == f"{PurePosixPath(shown).stem}/" else ""


def _who(path: str, root: str) -> Submission:
    """Who handed in a file, by its path; the names of systems may stand in any folder."""
    parts = path.split("/")
    for start in range(min(len(parts), 4)):
        for system in SYSTEMS.values():
            if found := system.fullmatch("/".join(parts[start:])):
                said = found.groupdict()
                submitted = time_of(said.get("submitted") or "")
                key = said.get("key") or ""
                return Submission("", _short(said["student"]), submitted=submitted, key=key)
    first, _, rest = path.removeprefix(root).partition("/")
    return Submission("", _short(first if rest else PurePosixPath(first).stem))


def _short(name: str) -> str:
    return name_of(name[:80])


def _of_student(group: list[tuple[Submission, _File]]) -> Iterator[Submission]:
    """What one student handed in: the file that holds answers, or all if there are more."""
    readable = [(who, file) for who, file in group if file.ending in READERS]
    if len(readable) > LIMITS.of_student:
        told = f"more than {LIMITS.of_student} files of one student are too many"
        yield replace(group[0][0], fault=told)
        return
    found = [_read(file, who) for who, file in readable or group[:1]]
    holding = [one for one in found if one.answers]
    yield from holding[:1] if len(holding) == 1 else found


def _read(file: _File, who: Submission | None = None) -> Submission:
    """A file with its answers, or its fault; the name that a system gives is the student's."""
    who = who or Submission("", _short(PurePosixPath(file.path).stem))
    try:
        if file.ending not in READERS:
            return replace(answers_in(b" ", file.ending), source=who.source)
        found = answers_in(file.read(most_of(file.ending)), file.ending)
    except SymattnError as error:
        return who.failed(error)
    by_system = who.key or who.submitted
    spelled = _letters(found.student) == _letters(who.student) or not by_system
    student = found.student if found.student and spelled else who.student
    return replace(found, source=who.source, student=student, submitted=who.submitted, key=who.key)


def _letters(name: str) -> list[str]:
    """The letters of a name, in whatever order: ``lovelaceada`` is Ada Lovelace."""
    return sorted(filter(str.isalnum, name.lower()))
