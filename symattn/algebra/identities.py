"""`IDENTITIES`: what is true of attention, and what people believe of it that is not.

Adding an identity is adding a row to one of the families; `symattn prove --all` decides them all.
"""

from __future__ import annotations

from symattn.algebra.identities_attention import ATTENTION
from symattn.algebra.identities_false import FALSE
from symattn.algebra.identities_gradients import GRADIENTS
from symattn.algebra.identities_positions import POSITIONS
from symattn.algebra.identities_softmax import SOFTMAX
from symattn.algebra.identity import Identity, Proof, proven
from symattn.errors import SymattnError, nearest

IDENTITIES: tuple[Identity, ...] = (
    *SOFTMAX, *ATTENTION, *POSITIONS, *GRADIENTS, *FALSE,
)  # fmt: skip


def identity(name: str) -> Identity:
    """The identity of this name; raises `SymattnError` with the nearest name otherwise."""
    for row in IDENTITIES:
        if row.name == name:
            return row
    names = [row.name for row in IDENTITIES]
    raise SymattnError(f'no identity is called "{name}"{nearest(name, names)}')


def prove(statement: Identity | str, effort: int = 1) -> Proof:
    """Decide a row of the catalogue, or one of your own, link by link.

    Raises `SymattnError` for a name that no row has.

    >>> proof = prove("shift")
    >>> proof.good, proof.equality.scope
    (True, 'for all sizes')
    """
    return proven(identity(statement) if isinstance(statement, str) else statement, effort)
