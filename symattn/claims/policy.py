"""What counts as right in a worksheet: its table ``[policy]``."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import get_args

from symattn.arithmetic.spelling import DECIMAL_SIGNS
from symattn.arithmetic.verify import Accepted
from symattn.errors import ReadError, nearest, quote

#: The verdicts, the best first; a step has the worst of its entries'.
VERDICTS = ("right", "truncated", "rounded-early", "undecided", "last-digit", "carried", "wrong")


@dataclass(frozen=True)
class Policy:
    """What counts as right, and what is let pass.

    `rounding`: ``either`` (half-up and half-even), ``half-up``, ``half-even`` or ``truncated``;
    `min_digits`: the least number of decimals; `accept`: the verdicts that are nobody's fault;
    `decimal`: the sign of decimals, ``.`` or ``,``; "" leaves that to what the numbers show.
    """

    rounding: Accepted = "either"
    min_digits: int = 0
    accept: tuple[str, ...] = field(default=("right", "truncated", "rounded-early"))
    decimal: str = ""

    def __post_init__(self) -> None:
        if self.rounding not in get_args(Accepted):
            hint = nearest(str(self.rounding), get_args(Accepted))
            raise ReadError(f"rounding = {quote(self.rounding)}: there is no such rounding{hint}")
        if type(self.min_digits) is not int or not 0 <= self.min_digits <= 100:
            raise ReadError(
                f"min_digits = {quote(self.min_digits)}: give a whole number from 0 to 100"
            )
        if self.decimal not in ("", *DECIMAL_SIGNS):
            raise ReadError(f'decimal = {quote(self.decimal)}: write decimal = "," or "."')
        accept = [self.accept] if isinstance(self.accept, str) else self.accept
        if not isinstance(accept, list | tuple):
            raise ReadError("accept: give a list of verdicts")
        for verdict in accept:
            if verdict not in VERDICTS:
                hint = nearest(str(verdict), VERDICTS)
                raise ReadError(f"accept: {quote(verdict)} is not a verdict{hint}")
        object.__setattr__(self, "accept", tuple(dict.fromkeys(("right", *accept))))


#: The keys of a policy.
SETTINGS = tuple(setting.name for setting in fields(Policy))
