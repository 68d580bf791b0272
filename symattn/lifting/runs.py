"""A run of a program on arrays that remember formulas: its sizes, and the lines it has made."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from traceback import walk_stack
from types import FrameType
from typing import Any, TypeAlias

from symattn.errors import SymattnError
from symattn.language.texts import read_text
from symattn.lifting import said
from symattn.lifting.said import FAMILIES, Said, Unsaid

#: Which keys each row has: how many are before them, and the last.
Spans: TypeAlias = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Made:
    """What has a letter: the variable that it was, the formula, and the array's numbers."""

    name: str
    formula: Said
    array: Any


@dataclass
class Recording:
    """A run of a program: the sizes it is run at, its file, and the lines that it has made."""

    sizes: Mapping[str, int]
    file: str
    lines: list[str] = field(default_factory=list)
    #: Letters that are taken, and the matrices of constants by their equations.
    letters: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    #: How many heads and groups of heads there are, by their index.
    counts: dict[str, int] = field(default_factory=dict)
    #: Whether numbers are kept in float32 on the way, so that others come of it than recorded.
    is_single: bool = False
    #: Names what is made, where this is known by its line alone.
    program: Any = None
    #: What is given and what has a letter, of which others may be turned.
    named: list[Any] = field(default_factory=list)
    #: What each letter was made of, its numbers, and the letters of what a loop makes each time.
    made: dict[str, Made] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    families: dict[tuple[str, ...], str | None] = field(default_factory=dict)
    #: Letters of what has a row for each token that is as long as there are tokens so far.
    growing: dict[str, Spans] = field(default_factory=dict)
    #: Of how many arrays each line made one when it was run first.
    joined: dict[str, int] = field(default_factory=dict)
    #: Whether keys that a row does not have are taken for hidden from a softmax, or for 0.
    hides: bool = True
    #: Whole numbers by how they were written.
    whole: dict[str, int] = field(default_factory=dict)
    operations: int = 0
    #: The line of a graph that is being followed; the program itself does not run then.
    line: int = 0

    def number(self, value: float) -> Said:
        """The formula of a number."""
        made = said.of_number(value, self.sizes)
        if isinstance(value, int):
            self.whole[made.text] = value
        return made

    def index(self, count: int) -> str:
        """The index of a family of so many matrices: that of heads, or of groups of them."""
        for index in FAMILIES:
            if self.counts.setdefault(index, count) == count:
                return index
        raise Unsaid(f"{count} matrices beside {' and '.join(map(str, self.counts.values()))}")

    def letter(self, name: str) -> str:
        """A letter for a variable: its name, where it is one and not taken, or with a number."""
        own = name.strip("_")
        between = "" if "_" in own else "_"
        stem = own if _is_letter(own) or _is_letter(f"{own}{between}1") else "x"
        between = "" if "_" in stem else "_"
        letter, number = stem, 1
        while letter in self.letters or not _is_letter(letter):
            number += _is_letter(stem) or letter != stem
            letter = f"{stem}{between}{number}"
        self.letters.add(letter)
        return letter

    def constant(self, values: Any) -> Said:
        """The letter of a matrix of constants, by its entries."""
        entries = said.by_entries(values, self.sizes)
        if entries not in self.constants:
            letter = self.letter("M" if "-inf" in entries else "D")
            self.constants[entries] = letter
            self.lines.append(f"{letter} : {self.shape(values.shape)}")
            self.lines.append(f"{letter}[i,j] = {entries}")
        return Said(self.constants[entries], axes=("i", "j"))

    def shape(self, shape: Sequence[int]) -> str:
        """A shape in names of sizes."""
        return " × ".join(self.number(size).text for size in shape)

    def variable(self, array: Any) -> str:
        """The variable of the program that holds an array."""
        for frame in self._frames():
            for name, value in frame.f_locals.items():
                if value is array:
                    return name
        return "output"

    def assigned(self) -> str:
        """The variable to which the line of the program that is being run gives a value."""
        line = self.place().removeprefix("line ")
        _, names = self.program.statements.get(int(line) if line.isdigit() else 0, (0, ()))
        return names[0] if len(names) == 1 else "output"

    def place(self) -> str:
        """The line of the program that is being run."""
        line = self.line or next((frame.f_lineno for frame in self._frames()), 0)
        return f"line {line}" if line else "the program"

    def _frames(self) -> Iterator[FrameType]:
        """The calls of the program's functions that are being run, the innermost first."""
        called = walk_stack(sys._getframe())
        return (frame for frame, _ in called if frame.f_code.co_filename == self.file)


def _is_letter(name: str) -> bool:
    """Whether a text may have a letter of that name; if of one number, then of any."""
    return _is_name(re.sub(r"\d+\Z", "1", name))


@cache
def _is_name(name: str) -> bool:
    try:
        read_text(f"{name} = 0; x = {name}")
    except SymattnError:
        return False
    return True
