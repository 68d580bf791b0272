"""A run of a program on arrays that remember formulas: its sizes, and the lines it has made."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from traceback import walk_stack
from types import FrameType
from typing import Any, TypeAlias

import numpy as np

from symattn.errors import SymattnError
from symattn.language.texts import read_text
from symattn.lifting import said
from symattn.lifting.limits import LIMITS
from symattn.lifting.said import FAMILIES, Said, Unsaid, laid

#: A row, a column or an entry of what has a letter.
_ONE = re.compile(r"\w+\[(:, )?\d+(, \d+)?\]")

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
    #: The arrays that have a letter, which are kept so that no other takes their place.
    known: dict[int, tuple[Any, int]] = field(default_factory=dict)
    #: Where the line that is run begins and what variables it gives values, and what it has made
    #: and not used itself.
    statement: tuple[int, tuple[str, ...]] = (0, ())
    made_here: list[Any] = field(default_factory=list)
    #: The line of a graph that is being followed; the program itself does not run then.
    line: int = 0

    @cached_property
    def statements(self) -> dict[int, tuple[int, tuple[str, ...]]]:
        """Of each line that gives variables their values, where that begins, and the names."""
        return _statements(self.file)

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

    def letter_of_all(self, letters: Sequence[str], name: str, sign: str) -> str:
        """A letter in the place of some, whose lines go: those with one of them before a sign."""
        self.letters.difference_update(letters)
        self.lines[:] = [line for line in self.lines if line.partition(sign)[0] not in letters]
        return self.letter(name)

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
        held = (item for frame in self._frames() for item in frame.f_locals.items())
        return next((name for name, value in held if value is array), "output")

    def assigned(self) -> str:
        """The variable to which the line of the program that is being run gives a value."""
        line = self.place().removeprefix("line ")
        _, names = self.statements.get(int(line) if line.isdigit() else 0, (0, ()))
        return names[0] if len(names) == 1 else "output"

    def place(self) -> str:
        """The line of the program that is being run."""
        line = self.line or next((frame.f_lineno for frame in self._frames()), 0)
        return f"line {line}" if line else "the program"

    def _frames(self) -> Iterator[FrameType]:
        """The calls of the program's functions that are being run, the innermost first."""
        called = walk_stack(sys._getframe())
        return (frame for frame, _ in called if frame.f_code.co_filename == self.file)

    # ---- what its variables are ----------------------------------------------------------

    def given(self, array: Any) -> None:
        """An array that is given has its letter, which is no step."""
        self.named.append(array)
        self.known[id(array)] = array, array._version

    def at(self, lines: Sequence[int], used: Sequence[Any] = ()) -> None:
        """A line begins in a graph of the program; what the one before has made gets its name.

        `lines` are those of the calls around it, too; `used` is what the operation is given.
        """
        known = [self.statements[line] for line in lines if line in self.statements]
        statement = known[0] if known else (0, ())
        if statement != self.statement:
            names = () if self.statement in known else self.statement[1]  # or it goes on
            if names and len(self.made_here) >= len(names):
                for name, array in zip(names, self.made_here[-len(names) :], strict=True):
                    self.names(name, array)
            self.made_here.clear()
        self.made_here[:] = [one for one in self.made_here if not any(one is x for x in used)]
        self.statement = statement

    def has_made(self, array: Any) -> None:
        """What an operation of this line has made."""
        self.made_here.append(array)

    def names(self, name: str, item: Any) -> None:
        """Make an equation of a variable that is new, if one is known."""
        kept = self.known.get(id(item))
        version = item._version
        if kept is not None and kept[0] is item and kept[1] == version:
            return
        if item.is_in_parts:
            return  # whose other parts may be written yet
        self.known[id(item)] = (item, version)
        try:
            formula = item.said
        except Unsaid:
            return  # it may not be needed; if it is, its formula is asked for
        if formula.text.removesuffix(f"[{formula.index}]") in self.letters:
            return  # another name for the same
        if not item.ndim or _ONE.fullmatch(formula.text):
            return  # a number, or a row of what has a letter, which a loop goes through
        self._step(name, item)

    def _step(self, name: str, item: Any) -> None:
        formula = item.said.upright
        letter = self.letter(name)
        if len(self.numbers) >= LIMITS.returned:
            raise Unsaid(f"{self.place()}: more than {LIMITS.returned:,} steps")
        whole = f"{letter}[{formula.index}]" if formula.index else letter
        self.lines.append(f"{whole} = {formula.text}")
        self.numbers[letter] = laid(np.asarray(item), formula.axes).tolist()
        item.is_made(Said(whole, axes=formula.axes))
        self.made[letter] = Made(name, formula, item)
        self.named.append(item)

    def ends_with(self, result: Any) -> None:
        """Make what is returned the last step. Raises `SymattnError` where it has no formula."""
        formula = result.said
        if any(n > 1 and not axis for n, axis in zip(result.shape, formula.axes, strict=True)):
            raise SymattnError("it returns an array that is repeated along an axis")
        last = self.lines[-1].split(" = ")[0] if self.numbers else ""
        if formula.upright is not formula or last.removesuffix("[t,:]") != formula.text:
            self._step("output" if "output" not in self.letters else "result", result)


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


def _statements(file: str) -> dict[int, tuple[int, tuple[str, ...]]]:
    """The variables to which each line of a file gives values, and where that begins."""
    try:
        tree = ast.parse(Path(file).read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            continue
        target = node.targets[-1] if isinstance(node, ast.Assign) else node.target
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        said = tuple(one.id for one in names if isinstance(one, ast.Name))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            found[line] = (node.lineno, said if len(said) == len(names) else ())
    return found
