"""What `symattn.equal` answers, held against the truth: outcomes and one table.

A false statement called equal is a false acceptance, a true one called different a false
refutation; both are listed with a text that reproduces them. Everything else is counted.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symattn import equal
from symattn.errors import SymattnError

OUTCOMES = (
    "equal, all sizes",
    "equal, given",
    "tried",
    "different",
    "undecided",
    "refused",
    "traceback",
)


@dataclass(frozen=True)
class Outcome:
    """What came of a statement: a row of `OUTCOMES`, how long it took, and what was said."""

    kind: str
    seconds: float
    told: str

    @property
    def equal(self) -> bool:
        """Whether it was called equal."""
        return self.kind.startswith("equal")


@dataclass(frozen=True)
class Judged:
    """A statement, its truth, and what was answered.

    `everywhere` is the truth at all sizes: it may hold at the sizes given alone.
    """

    text: str
    options: Mapping[str, Any]
    holds: bool
    everywhere: bool
    outcome: Outcome
    note: str = ""

    @property
    def falsely_equal(self) -> bool:
        """Whether something false was called equal."""
        far = self.outcome.kind == "equal, all sizes"
        return self.outcome.equal and not (self.everywhere if far else self.holds)

    @property
    def falsely_different(self) -> bool:
        """Whether something true was called different."""
        return self.outcome.kind == "different" and self.holds

    def __str__(self) -> str:
        told = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"equal({self.text!r}{told})  # {self.outcome.told}{self.note and f'; {self.note}'}"


def ask(text: str, options: Mapping[str, Any], decide: Callable[..., Any] = equal) -> Outcome:
    """What `equal` says; nothing but a `SymattnError` may escape from it."""
    start = time.perf_counter()
    try:
        answer = decide(text, **options)
    except SymattnError as refusal:
        lines = str(refusal).count("\n")
        kind, told = ("refused", str(refusal)) if not lines else ("traceback", "several lines")
    except Exception as trouble:  # what the fuzzers look for
        kind, told = "traceback", f"{type(trouble).__name__}: {trouble}"[:300]
    else:
        kind, told = _kind(answer), str(answer)[:300]
    return Outcome(kind, time.perf_counter() - start, " ".join(told.split()))


def _kind(answer: Any) -> str:
    if bool(answer) is not (answer.verdict == "equal"):
        return "traceback"
    match answer.verdict:
        case "equal":
            everywhere = answer.scope.startswith("for all sizes")
            return "equal, all sizes" if everywhere else "equal, given"
        case "holds at the sizes tried":
            return "tried"
        case "different" | "undecided":
            return str(answer.verdict)
    return "traceback"


@dataclass(frozen=True)
class Question:
    """A statement with its truth, to be asked."""

    text: str
    options: Mapping[str, Any]
    holds: bool
    everywhere: bool
    note: str = ""


def asked(
    questions: Iterable[Question], answer: Callable[[str, Mapping[str, Any]], Outcome]
) -> Iterator[Judged]:
    """Each question with what was answered."""
    for one in questions:
        outcome = answer(one.text, one.options)
        yield Judged(one.text, one.options, one.holds, one.everywhere, outcome, one.note)


def table(judged: Sequence[Judged], slowest: int = 3) -> str:
    """Counts by truth and outcome, the slowest, and every false word."""
    counts = Counter((one.holds, one.outcome.kind) for one in judged)
    width = max(map(len, OUTCOMES))
    lines = [" " * 6 + "".join(f"{name:>{width + 2}}" for name in OUTCOMES) + f"{'all':>7}"]
    for holds in (True, False):
        row = [counts[holds, name] for name in OUTCOMES]
        cells = "".join(f"{count:>{width + 2}}" for count in row)
        lines.append(f"{'true' if holds else 'false':<6}{cells}{sum(row):>7}")
    late = sorted(judged, key=lambda one: -one.outcome.seconds)[:slowest]
    lines += [f"slow: {one.outcome.seconds:6.1f} s  {one.text}" for one in late]
    for title, found in (
        ("falsely equal", [one for one in judged if one.falsely_equal]),
        ("falsely different", [one for one in judged if one.falsely_different]),
        ("traceback", [one for one in judged if one.outcome.kind == "traceback"]),
    ):
        lines.append(f"{title}: {len(found)}")
        lines += [f"  {one}" for one in found]
    return "\n".join(lines)


def options(doc: str | None, **defaults: bool | int | float | str) -> argparse.Namespace:
    """What a fuzzer is told on the command line: its options, by their defaults."""
    parser = argparse.ArgumentParser(description=doc)
    for name, default in defaults.items():
        if isinstance(default, bool):
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def hold(questions: Iterable[Question], told: argparse.Namespace) -> int:
    """Ask each of them, print the table; 1 if something false was said."""
    start, judged = time.perf_counter(), []
    for one in asked(questions, ask):
        judged.append(one)
        if told.verbose:
            print(f"{one.holds!s:5} {one.outcome.kind:16} {one}", flush=True)
    print(f"{len(judged)} statements in {time.perf_counter() - start:.0f} s")
    print(table(judged, slowest=10))
    return int(any(one.falsely_equal or one.falsely_different for one in judged))
