"""What checking gives: a worksheet's marking, and what is said of a number.

Every report is made from these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

from symattn.arguments import instance
from symattn.arithmetic.written import Measured, Written
from symattn.claims.entry_names import counted_place, entry_name, listed, without_tex
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation, Place
from symattn.marking.lines import Link
from symattn.marking.verdicts import EntryMark, Marker, StepMark, true_digits
from symattn.mistakes.explanations import Explanation
from symattn.notation.options import Notation, notation_of
from symattn.notation.tree import Tree
from symattn.reports.wording import WORDING, disagreement


@dataclass(frozen=True)
class Finding:
    """A claimed number, or a sign of a worked line, with its verdict and where it stands.

    Line, column and start are 0 where they are not known.
    """

    line: int
    column: int
    #: The column behind it; None where it is spelled with escapes, or in another file.
    end: int | None
    entry: str
    claimed: str
    true: str
    verdict: str
    passes: bool
    #: The place of the entry as the worksheet counts, and from 0.
    index: tuple[int, ...] = ()
    place: Place = ()
    because: tuple[str, ...] = ()
    remark: str = ""
    #: The number that was read, where signs between its digits were read as of thousands.
    read_as: str = ""
    #: What is said of a sign that does not hold.
    told: str = ""
    #: Where the number begins in the file, how it is written there, and what belongs there.
    start: int = 0
    written: str = ""
    correction: str | None = None
    #: Which of the file's worksheets claims it, from 0.
    worksheet: int = 0

    @property
    def step(self) -> str:
        """The name of its step."""
        return self.entry.partition("[")[0]

    @property
    def meaning(self) -> str:
        """The verdict in words; of what follows from mistakes, from which entries."""
        words = WORDING[self.verdict].phrase
        if self.because and self.verdict == "carried":
            words = f"follows from {listed(self.because)}"
        if self.remark.startswith(words):
            return self.remark  # undecided, and how many bits were tried
        return f"{words}; {self.remark}" if self.remark else words

    @property
    def message(self) -> str:
        """What is claimed, what is true, and the verdict."""
        return self.told or disagreement(self.entry, self.claimed, self.true, self.meaning)

    @property
    def beside(self) -> str:
        """What is said of it under a table that shows its verdict: the true value, and why."""
        read = f" (read as {self.read_as})" if self.read_as else ""
        beside = f"{self.entry}: {self.claimed}{read}, true value {self.true}"
        return beside if self.verdict == "wrong" else f"{beside}; {self.meaning}"


@dataclass(frozen=True)
class Marking:
    """A worksheet's marks, step by step, and the misconceptions that would explain them."""

    title: str
    evaluation: Evaluation
    policy: Policy
    steps: tuple[StepMark, ...]
    notes: tuple[str, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    #: How the numbers were kept and rounded, as a sentence; "" where nothing shows it.
    style: str = ""
    #: The signs of worked lines that do not hold.
    lines: tuple[Link, ...] = ()
    marker: Marker | None = field(default=None, repr=False, compare=False)

    def own_work(self, entry: EntryMark, notation: Notation | None = None) -> Tree | None:
        """How an entry follows from the claimed numbers before it, worked out with these."""
        if self.marker is None:
            return None
        instance(entry, EntryMark, "entry", "an entry of the marks")
        return self.marker.own_work(entry, notation_of(notation, self.evaluation.notation))

    @property
    def entries(self) -> tuple[EntryMark, ...]:
        """All claimed entries, step by step."""
        return tuple(entry for step in self.steps for entry in step.entries)

    @property
    def passed(self) -> bool:
        """Whether the policy lets every entry pass, and the signs of worked lines hold."""
        return self.first_wrong is None and all(map(self.passes, self.lines))

    @cached_property
    def first_wrong(self) -> EntryMark | None:
        """The first entry, step by step, that the policy does not let pass."""
        return next((entry for entry in self.entries if not self.passes(entry)), None)

    def passes(self, entry: EntryMark | Link) -> bool:
        """Whether the policy lets this entry, or this sign of a worked line, pass."""
        instance(entry, (EntryMark, Link), "entry", "an entry or a sign of the marks")
        return entry.verdict in self.policy.accept

    def finding(
        self, mark: StepMark, entry: EntryMark, notation: Notation | None = None
    ) -> Finding:
        """What is said of an entry of a step, named as the notation counts and turns."""
        shown = notation or entry.notation
        return Finding(
            0,
            0,
            None,
            entry_name(mark.name, entry.place, shown),
            without_tex(entry.claimed.text),
            true_text(self, mark, entry),
            entry.verdict,
            self.passes(entry),
            counted_place(entry.place, shown),
            entry.place,
            tuple(entry_name(other.step, other.place, shown) for other in entry.because),
            entry.remark,
            read_as(entry.claimed),
        )

    def sign(self, link: Link) -> Finding:
        """What is said of a sign of a worked line."""
        return Finding(
            link.line,
            link.column,
            None,
            link.entry,
            link.right,
            link.value,
            link.verdict,
            self.passes(link),
            place=link.place,
            told=link.message,
        )


def true_text(marking: Marking, mark: StepMark, entry: EntryMark) -> str:
    """The true value as decimals, marked with ``?`` where they are not proven."""
    digits = true_digits(marking.evaluation, mark, entry)
    if isinstance(entry.claimed, Measured):
        digits = replace(digits, text=_scientific(digits.text))
    return digits.marked


def _scientific(text: str) -> str:
    """A decimal with many zeros after the point as a program writes it.

    >>> _scientific("-0.000000026"), _scientific("0.0026")
    ('-2.6e-8', '0.0026')
    """
    found = _NEAR_ZERO.fullmatch(text)
    if found is None:
        return text
    sign, zeros, first, rest = found.groups()
    return f"{sign}{first}{'.' * bool(rest)}{rest}e-{len(zeros) + 1}"


def read_as(written: Written) -> str:
    """The number that was read, where signs between its digits count thousands; else ""."""
    places = written.places
    if places is None or not _GROUPED.match(written.text):
        return ""
    signs = sum(not sign.isdigit() for sign in written.text.lstrip("-−–+ "))
    if signs <= (places > 0):
        return ""
    return f"{float(written.value):.{max(places, 0)}f}"


#: A decimal nearer to 0 than 10⁻⁶.
_NEAR_ZERO = re.compile(r"([-−]?)0\.(0{6,})([1-9])([0-9]*)")

#: Digits with signs between them, and nothing else but a sign before.
_GROUPED = re.compile(r"[-−–+ ]*[0-9]+(?:[.,'’ \u2009\u202f\u00a0][0-9]+)+\Z")
