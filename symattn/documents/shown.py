"""What a document is of: a derivation, its values, and what of both is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symattn.documents.views import VIEWS
from symattn.notation.options import Notation

if TYPE_CHECKING:
    from symattn.derivations import Check, Derivation, Evaluation, Place
    from symattn.documents.claims import Claims
    from symattn.documents.page.worksheet import Tables
    from symattn.step import Step


@dataclass(frozen=True)
class Supposed:
    """Steps as somebody might do them instead: what is done, and what to tell who does it."""

    instead: str
    tell: str
    steps: Mapping[str, Step]


@dataclass(frozen=True)
class Shown:
    """A derivation, with values where there is an evaluation, and what of it is shown."""

    derivation: Derivation
    evaluation: Evaluation | None = None
    notation: Notation = field(default_factory=Notation)
    views: Sequence[str] = VIEWS
    #: The names of the steps and inputs that are shown; all if there are none.
    only: Sequence[str] = ()
    check: Check | None = None
    #: Whether the check is shown step by step.
    errors: bool = False
    #: Whether what the steps cost is shown.
    cost: bool = False
    notes: Sequence[str] = ()
    #: The entry of a step, by its place in the array, that is worked out and boxed in the matrix.
    entries: Mapping[str, Place] = field(default_factory=dict)
    #: What stands before this, and is not told again.
    before: Sequence[Shown] = ()
    #: What is said of the numbers, where nobody gave them.
    example: str = ""
    #: The worksheet without its numbers, where there is one of what is shown.
    worksheet: Tables | None = None
    #: What the worksheet claims, as it was marked: for a page that shows it.
    claims: Claims | None = None
    #: What a page shows the consequences of while that is asked for.
    supposed: Sequence[Supposed] = ()
