"""What checking gives: a worksheet's marking, and a file's markings and numbers where they stand.

Every report is made from these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from symattn.arguments import instance
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation
from symattn.marking.lines import Link
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.mistakes.explanations import Explanation
from symattn.notation.options import Notation, notation_of
from symattn.notation.tree import Tree
from symattn.reports.wording import WORDING, disagreement
from symattn.sheets.worksheet import Worksheet


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


@dataclass(frozen=True)
class Finding:
    """A claimed number where it stands in a file, with its verdict."""

    line: int
    column: int
    #: The column behind it; None where it is spelled with escapes, or in another file.
    end: int | None
    entry: str
    claimed: str
    true: str
    verdict: str
    passes: bool
    #: Where the number begins in the file, and what belongs there; None where that is not known.
    start: int = 0
    correction: str | None = None
    #: The verdict in words, if not those of every number with this verdict.
    meaning: str = ""
    #: Which of the file's worksheets claims it, from 0.
    worksheet: int = 0

    @property
    def message(self) -> str:
        """What is claimed, what is true, and the verdict."""
        meaning = self.meaning or WORDING[self.verdict].phrase
        return disagreement(self.entry, self.claimed, self.true, meaning)


@dataclass(frozen=True)
class CheckedFile:
    """A file that was checked: its markings, and every claimed number where it stands."""

    name: str
    text: str
    #: Whether it is a page of prose, rather than one worksheet.
    is_page: bool
    markings: tuple[Marking, ...] = ()
    sheets: tuple[Worksheet, ...] = ()
    findings: tuple[Finding, ...] = ()
    #: A line, with file, line and column, for each worksheet or claim of a page that cannot be
    #: used; the others are marked.
    problems: tuple[str, ...] = ()
    #: All worksheets that were read for it, those without claims too.
    read: tuple[Worksheet, ...] = field(default=(), repr=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were read for it, resolved: its own, worksheets, files of numbers."""
        names = [name for name in (self.name, *(s.name for s in self.read)) if name != "<stdin>"]
        numbers = [path for sheet in self.read for path in sheet.files]
        return tuple(dict.fromkeys([*(Path(name).resolve() for name in names), *numbers]))

    @property
    def passes(self) -> bool:
        """Whether the policy of its worksheets lets every number pass, and worked lines hold.

        What cannot be used does not pass.
        """
        right = all(finding.passes for finding in self.findings)
        return right and not self.links and not self.problems

    @property
    def links(self) -> tuple[Link, ...]:
        """The signs of worked lines that are not let pass, with their lines and columns."""
        return tuple(
            link for marking in self.markings for link in marking.lines if not marking.passes(link)
        )

    @property
    def complaints(self) -> tuple[Finding | Link, ...]:
        """The numbers that are not let pass, then the signs."""
        return (*(finding for finding in self.findings if not finding.passes), *self.links)

    @property
    def corrections(self) -> list[tuple[Finding, str]]:
        """The wrong numbers for which it is known what belongs there."""
        return [(f, f.correction) for f in self.findings if not f.passes and f.correction]

    def corrected(self) -> str:
        """The text with the wrong numbers corrected, everything else as it was."""
        text = self.text
        for finding, correction in sorted(self.corrections, key=lambda pair: -pair[0].start):
            end = finding.start + len(finding.claimed)
            text = text[: finding.start] + correction + text[end:]
        return text
