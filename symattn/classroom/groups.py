"""Groups of identical wrong answers, which a teacher labels once in a file.

A group is the step of the first mistake with all its answers, as they were typed but for the signs
of minus and of decimals. A group of the file::

    [2f61c09a4b7e]
    #: weights, 12 times: 0.882, 0, 0, 0.013, 0.107, 0, 0.106, 0.893, 1
    #: the softmax is taken over each column
    label = ""
    worth = 0

`label` takes the place of what explains the mistake, `worth` is the share of their points that the
wrong answers of the step have. Lines behind ``#:`` are written anew; all others stay as they are.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from symattn.classroom.judge import Told
from symattn.classroom.records import Record
from symattn.classroom.scheme import share_of
from symattn.errors import ReadError, located, quote
from symattn.files.toml import parse
from symattn.printable import printable, shortened

#: The most groups of a file, and the most characters of a comment.
MOST, _COMMENT = 200, 400

_HEADING = re.compile(r"\[([0-9a-f]{12})\][ \t]*(#.*)?")

_TOP = """\
# Identical wrong answers, the most frequent first. Give a group a label, which feedback then tells
# as what explains the mistake, and in worth the share of their points that these answers have.
"""
_EMPTY = 'label = ""\nworth = 0\n\n'


@dataclass(frozen=True)
class Group:
    """Identical wrong answers: their step, the answers, and what explains them."""

    id: str
    step: str
    answers: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True)
class Label:
    """What a teacher says of a group, and the share of points that its wrong answers have."""

    label: str = ""
    worth: Fraction = Fraction(0)


def group_of(record: Record) -> Group | None:
    """The group of a record; None where nothing is wrong."""
    first = record.first_mistake
    if first is None:
        return None
    step = record.marks[first].step
    answers = tuple(_alike(mark.answer) for mark in record.marks if mark.step == step)
    places = [mark.entry for mark in record.marks if mark.step == step]
    text = "\0".join((*places, *answers)).encode("utf-8", "surrogatepass")
    reasons = [told.instead for told in record.mistakes] or [record.marks[first].remark]
    return Group(hashlib.sha256(text).hexdigest()[:12], step, answers, ", or ".join(reasons))


def _alike(answer: str) -> str:
    return answer.replace("−", "-").replace(",", ".")


@dataclass
class Groups:
    """Counts groups as records come; only their answers are kept that may be listed.

    A count is kept of every group, the group itself of those that are met first or again.
    """

    counts: Counter[str] = field(default_factory=Counter)
    _kept: dict[str, Group] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Count a record in its group."""
        group = group_of(record)
        if group is not None:
            self.counts[group.id] += 1
            if self.counts[group.id] == 2 or len(self._kept) < MOST:
                self._kept[group.id] = group

    def largest(self, most: int = MOST) -> list[tuple[Group, int]]:
        """The largest groups with their counts; of equal ones, those with the smaller id first."""
        found = [(group, self.counts[group.id]) for group in self._kept.values()]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:most]

    def text(self, before: str = "") -> str:
        """The file of groups; `before` is what a teacher has made of an earlier one.

        Raises `ReadError` where that cannot be read.
        """
        labels = read_labels(before)
        top, *old = _parts(before) or [("", _TOP)]
        kept = dict(old)
        written = [top[1].rstrip() + "\n\n"]
        for group, count in self.largest():
            written.append(_told(group, count, kept.pop(group.id, f"[{group.id}]\n{_EMPTY}")))
        for name, part in kept.items():
            if labels[name] != Label():
                written.append(_commented(part, "no longer among the largest"))
        text = "".join(written)
        if any(labels[key] != one for key, one in read_labels(text).items() if key in labels):
            raise ReadError("groups.toml: write each label on one line")
        return text


def _told(group: Group, count: int, part: str) -> str:
    """The part of a group with what is known of it."""
    times = "once" if count == 1 else f"{count} times"
    answers = ", ".join(answer or "—" for answer in group.answers)
    return _commented(part, f"{group.step}, {times}: {answers}", group.reason)


def _commented(part: str, *comments: str) -> str:
    """A part of the file with other comments of ours below its head."""
    head, *lines = part.split("\n")
    ours = [f"#: {shortened(printable(words), _COMMENT)}" for words in comments if words]
    theirs = [line for line in lines if not line.startswith("#:")]
    return "\n".join([head, *ours, *theirs]).rstrip() + "\n\n"


def _parts(text: str) -> list[tuple[str, str]]:
    """What stands before the first group, then each group, with its id."""
    found: list[tuple[str, list[str]]] = [("", [])] if text.strip() else []
    for line in text.split("\n"):  # as TOML has lines
        if match := _HEADING.fullmatch(line.strip()):
            found.append((match[1], [line]))
        elif found:
            found[-1][1].append(line)
    return [(name, "\n".join(lines)) for name, lines in found]


def read_labels(text: str, name: str = "groups.toml") -> Mapping[str, Label]:
    """What a teacher says of groups, by id. Raises `ReadError` with the group and what is wrong.

    >>> read_labels('[2f61c09a4b7e]\\nlabel = "columns"\\nworth = 0.5')
    {'2f61c09a4b7e': Label(label='columns', worth=Fraction(1, 2))}
    """
    found = {key: _label(name, key, table) for key, table in parse(text, name).items()}
    if [*found] != [key for key, _ in _parts(text) if key]:
        raise ReadError(f"{name}: write each group as [its id] on a line of its own")
    return found


def _label(name: str, key: str, table: object) -> Label:
    with located(f"{name}: {printable(key)}"):
        if not isinstance(table, Mapping):
            raise ReadError("is no group; write [its id] and label and worth below it")
        if others := [other for other in table if other not in ("label", "worth")]:
            raise ReadError(f"{quote(others[0])} is no key of a group; known: label, worth")
        label = table.get("label", "")
        if not isinstance(label, str) or len(label.splitlines()) > 1:
            raise ReadError(f"label = {quote(label)}: write words in quotes, on one line")
        return Label(label.strip(), share_of("worth", table.get("worth", 0)))


def labelled(record: Record, labels: Mapping[str, Label]) -> Record:
    """A record with what a teacher says of its group; without that, as it is."""
    group = group_of(record) if labels else None
    label = Label() if group is None else labels.get(group.id, Label())
    if group is None or label == Label():
        return record
    marks = tuple(
        replace(mark, points=max(mark.points, label.worth * mark.most))
        if mark.step == group.step and mark.is_mistaken
        else mark
        for mark in record.marks
    )
    mistakes = (Told(label.label, label.label, ""),) if label.label else record.mistakes
    return replace(record, marks=marks, mistakes=mistakes)
