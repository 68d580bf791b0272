"""What ``symattn derive`` is asked for: its options, each with its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symattn.cli.formats import Output
from symattn.documents.job import FORMATS, Job
from symattn.errors import SymattnError

if TYPE_CHECKING:
    from symattn.attention.vocabulary import Notation
    from symattn.derivations import Derivation, Evaluation
    from symattn.sheets.symbols import Spelling


@dataclass(frozen=True)
class Request:
    """The options of ``derive`` by the names that click gives them; None for what is not given."""

    source: str
    out: Output
    views: tuple[str, ...]
    steps: tuple[str, ...] | None
    head: int | None
    entries: tuple[str, ...]
    label: str
    width: float | None
    headings: int | None
    notation: Spelling
    #: Decimals, or ``exact``.
    digits: int | str | None
    #: The NumPy type of which the check is shown step by step.
    errors: str | None
    cost: bool
    full: bool
    gradient: tuple[str, ...] | None
    equations: tuple[str, ...]
    symbolic: bool
    #: Those of a small example.
    sizes: Mapping[str, Any]
    batch: int | None
    chunks: int | list[int] | None
    #: The shapes of a program's arguments.
    shapes: Mapping[str, tuple[str, ...]]

    @property
    def dtype(self) -> str:
        """The NumPy type that is checked."""
        return self.errors or "float64"

    @property
    def shows_numbers(self) -> bool:
        """Whether the document is a page with more than formulas on it."""
        return FORMATS[self.out.form].kind == "page" and not {*self.views} <= {"formula", "entry"}

    @property
    def is_program(self) -> bool:
        """Whether the document is a program, which has sizes."""
        return FORMATS[self.out.form].kind == "program"

    @property
    def marks(self) -> bool:
        """Whether the document shows how claims are marked."""
        return FORMATS[self.out.form].interactive and not self.symbolic

    def spelled(self, usual: Notation) -> Notation:
        """A notation with what is asked for changed."""
        asked = {
            "digits": None if self.digits == "exact" else self.digits,
            "steps": self.steps,
            "head": self.head,
            "limit": 0 if self.full else None,
        }
        changes = {name: value for name, value in asked.items() if value is not None}
        return self.notation.of(usual.but(exact=self.digits == "exact", **changes))

    def job(
        self,
        derivation: Derivation,
        evaluation: Evaluation | None,
        notation: Notation,
        code: str,
        **more: Any,
    ) -> Job:
        """A derivation to show as it is asked for, without its numbers where none are wanted.

        `more` are further fields of `Job`.
        """
        return Job(
            derivation,
            None if self.symbolic else evaluation,
            notation,
            self.views,
            errors=self.errors is not None,
            cost=self.cost,
            flavor=self.out.flavor,
            layout=self.notation.choices.get("layout"),
            headings=self.headings,
            label=self.label,
            width=self.width,
            code=code,
            **more,
        )

    def refuse(self, message: str, *names: str) -> None:
        """Raise `SymattnError` where one of these options is given."""
        if any(getattr(self, name) is not None for name in names):
            raise SymattnError(message)
