"""The exercises of a class: one for all, or one for each student in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from symattn.classroom.exercise import Exercise
from symattn.classroom.records import Marking
from symattn.classroom.roster import called, who
from symattn.classroom.scheme import Scheme
from symattn.errors import SymattnError
from symattn.sheets.worksheet import Worksheet, read_worksheet

#: How many exercises are held at once, ready to be marked.
_HELD = 64


@dataclass(frozen=True)
class Exercises:
    """Which exercise a submission answers; `one` has the file of each, by its student."""

    by_student: Mapping[str, Path]
    scheme: Scheme
    #: The students that exercises were drawn for.
    students: tuple[str, ...] = ()

    @classmethod
    def at(cls, path: str | Path, scheme: Scheme) -> Exercises:
        """The exercise of a file, or those of a folder, but for keys.

        Raises `SymattnError` where there is none, or one has no blanks.
        """
        place = Path(path)
        if not place.is_dir():
            return cls({"": place}, scheme)
        files = sorted(x for x in place.glob("*.toml") if not x.stem.endswith("-key"))
        if not files:
            raise SymattnError(f"{path}: holds no exercise; write them with --format toml")
        found: dict[str, Path] = {}
        students = [str(read_worksheet(x).exercise.get("student", x.stem)) for x in files]
        for file, student in zip(files, students, strict=True):
            for name in called(student):
                found.setdefault(name, file)
        return cls(found, scheme, (*students,))

    @property
    def first(self) -> Marking:
        """What marks the first exercise; all have the same steps.

        Raises `SymattnError` where it, or the scheme for it, cannot be used.
        """
        return self.of_file(next(iter(self.by_student.values())))

    @cached_property
    def are_one(self) -> bool:
        """Whether everybody has the same exercise."""
        return [*self.by_student] == [""]

    def marking(self, student: str) -> Marking | None:
        """What marks a student's answers; None where no exercise is the student's."""
        file = self.by_student.get("" if self.are_one else who(student))
        return None if file is None else self.of_file(file)

    @cached_property
    def of_file(self) -> Callable[[Path], Marking]:
        """What marks answers to the exercise of a file, once the pool has judged them.

        The last ones are kept. Where they judge themselves, in a preview, slips are left out.
        """
        return lru_cache(_HELD)(lambda file: Marking(_read(file), self.scheme, explain=False))


def _read(file: Path) -> Exercise:
    """The exercise of a file. Raises `ReadError` for a worksheet without blanks."""
    sheet: Worksheet = read_worksheet(file)
    with sheet.in_file():
        return Exercise.of(sheet)
