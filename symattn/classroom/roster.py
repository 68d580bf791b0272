"""A roster: names in a CSV file, each with a seed and a file name; how names are told apart."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator

from symattn.claims.labels import label_of
from symattn.classroom.draws import seed_of
from symattn.classroom.tables import People, mark_in
from symattn.errors import ReadError, located
from symattn.files.named import path_of, read_text

#: The most students of a class, and so exercises at once, and the longest file name.
MOST, _LONGEST = 1000, 60


def students_in(file: str, seed: int) -> Iterator[tuple[str, str, int]]:
    """The file name, the name and the seed of each student: those below a head, or in column 1.

    A seed depends on the name alone, so that a roster may grow; two of one name are refused. Raises
    `ReadError` with file and line.
    """
    path = path_of(file, "--roster")
    text = read_text(path, str(path))
    rows = csv.reader(text.splitlines(), delimiter=mark_in(text), strict=True)
    seen: dict[str, str] = {}
    people = People({"student": [0]})
    with located(str(path)):
        try:
            for number, row in enumerate(rows, 1):
                if number == 1 and (heads := People.of(row)).places.keys() - {"key", "submitted"}:
                    people = heads
                    continue
                student = people.student(row)
                if not student:
                    continue
                name = file_name(label_of(student, f"line {number}"))
                if name in seen:
                    other = "" if seen[name] == student else f" of {seen[name]}"
                    raise ReadError(f"line {number}: {student} has the file{other} already, {name}")
                if len(seen) == MOST:
                    raise ReadError(f"more than {MOST} students are too many")
                seen[name] = student
                yield name, student, seed_of(student, seed)
        except csv.Error as error:
            raise ReadError(f"line {rows.line_num}: is no CSV: {error}") from None
        if not seen:
            raise ReadError("no name stands below a head, or in the first column")


def file_name(student: str) -> str:
    """A name that is one on every file system: letters, digits and hyphens.

    >>> file_name("Ada Lovelace"), file_name("../Émilie"), file_name("李")
    ('ada-lovelace', 'emilie', 'student-9beea891')
    """
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST]
    return name or f"student-{seed_of(student, 0):08x}"


def who(student: str) -> str:
    """A name without what learning platforms leave out of it: spaces, accents, capitals.

    >>> who("Émilie du Châtelet"), who("lovelaceada")
    ('emilieduchatelet', 'lovelaceada')
    """
    return file_name(student).replace("-", "")


def called(student: str) -> Iterator[str]:
    """The name as it may stand in a list: with the family name first, too."""
    words = file_name(student).split("-")
    for first in range(len(words)):
        yield "".join((*words[first:], *words[:first]))
