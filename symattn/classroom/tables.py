"""Tables of a class, as spreadsheets and learning platforms write them: who a row is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: What a head may be, in small letters, by what stands below it; the first that is there counts.
HEADS: Mapping[str, tuple[str, ...]] = {
    "student": (
        *("student", "name", "full name", "student name", "learner", "participant"),
        *("names", "students", "identifier"),
    ),
    "first": ("first name", "firstname", "given name", "forename"),
    "last": ("last name", "lastname", "surname", "family name"),
    "key": ("id", "student id", "user id", "id number", "orgdefinedid", "sis_id", "sis user id"),
    "login": ("username", "user name", "sis login id", "login", "email", "email address", "e-mail"),
    "submitted": ("submitted", "submitted at", "completed", "time", "timestamp", "date"),
}
_PARTS = {head: part for part, heads in HEADS.items() for head in heads}


@dataclass(frozen=True)
class People:
    """The columns that say who a row is of, and when, by their places."""

    places: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, heads: Sequence[str]) -> People:
        """Those under these heads."""
        small = [head.strip().lower() for head in heads]
        places: dict[str, list[int]] = {}
        for place, head in enumerate(small):
            if part := _PARTS.get(head):
                places.setdefault(part, []).append(place)
        for part, some in places.items():
            some.sort(key=lambda place: HEADS[part].index(small[place]))
        return cls(places)

    @property
    def are_known(self) -> bool:
        """Whether a column says who a row is of, if only by a number."""
        return any(part != "submitted" for part in self.places)

    def said(self, part: str, row: Sequence[object]) -> str:
        """The first cell of a part that is not empty, without Brightspace's # before it."""
        for place in self.places.get(part, ()):
            text = str(row[place]).strip().removeprefix("#") if place < len(row) else ""
            if text:
                return text
        return ""

    def student(self, row: Sequence[object]) -> str:
        """Who a row is of, "" where that is not said."""
        names = (self.said("first", row), self.said("last", row))
        whole = " ".join(filter(None, names))
        return self.said("student", row) or whole or self.said("login", row)


def mark_in(text: str) -> str:
    """The sign between cells; no number has a semicolon in it, and many have a comma."""
    first = text[:10_000]
    return "\t" if "\t" in first else ";" if ";" in first else ","
