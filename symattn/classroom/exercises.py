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
    """Which exercise a submission answers: the worksheet of each student, or that of ""."""

    sheets: Mapping[str, Worksheet]
    scheme: Scheme
    #: The students that exercises were drawn for.
    students: tuple[str, ...] = ()

    @classmethod
    def at(cls, path: str | Path, scheme: Scheme) -> Exercises:
        """The exercise of a file, or those of a folder, but for keys.

        Raises `SymattnError` where there is none, or one cannot be read.
        """
        place = Path(path)
        if not place.is_dir():
            return cls({"": read_worksheet(place)}, scheme)
        files = sorted(x for x in place.glob("*.toml") if not x.stem.endswith("-key"))
        if not files:
            raise SymattnError(f"{path}: holds no exercise; write them with --format toml")
        found: dict[str, Worksheet] = {}
        students: list[str] = []
        for file in files:
            sheet = read_worksheet(file)
            students.append(str(sheet.exercise.get("student", file.stem)))
            for name in called(students[-1]):
                found.setdefault(name, sheet)
        return cls(found, scheme, (*students,))

    @property
    def first(self) -> Marking:
        """What marks the first exercise; all have the same steps.

        Raises `SymattnError` where it, or the scheme for it, cannot be used.
        """
        return self._marking(next(iter(self.sheets)))

    def marking(self, student: str) -> Marking | None:
        """What marks a student's answers; None where no exercise is the student's.

        Raises `SymattnError` where the exercise has no blanks, or is of other steps.
        """
        name = "" if "" in self.sheets else who(student)
        return self._marking(name) if name in self.sheets else None

    @cached_property
    def _marking(self) -> Callable[[str], Marking]:
        """What marks answers to the exercise of a name; the last ones are kept.

        It gives points to what the pool has judged. Where it judges, in a preview, no slips are
        searched for.
        """

        @lru_cache(_HELD)
        def marking(name: str) -> Marking:
            sheet = self.sheets[name]
            with sheet.in_file():
                exercise = Exercise.of(sheet)
            return Marking(exercise, self.scheme, explain=False)

        return marking
