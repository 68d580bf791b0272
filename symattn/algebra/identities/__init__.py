"""`IDENTITIES`: what is true of attention, and what people believe of it that is not.

Adding an identity is adding a row to the file of its family; `symattn prove --all` decides them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symattn.algebra.identities.attention import ATTENTION
from symattn.algebra.identities.false_beliefs import FALSE
from symattn.algebra.identities.gradients import GRADIENTS
from symattn.algebra.identities.identity import Identity
from symattn.algebra.identities.positions import POSITIONS
from symattn.algebra.identities.softmax import SOFTMAX
from symattn.errors import NoSuchName, SymattnError, nearest, quote

if TYPE_CHECKING:  # start-up time: a list of names needs no SymPy
    from symattn.algebra.identities.proofs import Proof
    from symattn.step import Step

IDENTITIES: tuple[Identity, ...] = (
    *SOFTMAX,
    *ATTENTION,
    *POSITIONS,
    *GRADIENTS,
    *FALSE,
)


def identity(name: str) -> Identity:
    """The identity of this name; raises `SymattnError` with the nearest name otherwise."""
    rows = {row.name: row for row in IDENTITIES}
    if not isinstance(name, str) or name not in rows:
        raise NoSuchName(f"no identity is called {quote(name)}{nearest(name, rows)}")
    return rows[name]


def behind(step: Step) -> Identity:
    """The identity behind a step of a derivation. Raises `SymattnError` for one that has none."""
    import sympy

    names = [type(part).__name__ for part in sympy.preorder_traversal(step.expr)]
    for wanted in (*(f"{step.name}: {name}" for name in names), step.name):
        for row in IDENTITIES:
            if wanted in row.behind:
                return row
    known = sorted({name.partition(":")[0] for row in IDENTITIES for name in row.behind})
    raise SymattnError(
        f"{step.name}: no identity of the catalogue is behind this step; "
        f"there are some for {', '.join(known)}"
    )


def prove(statement: Identity | str, effort: int = 1) -> Proof:
    """Decide a row of the catalogue, or one of your own, link by link.

    Raises `SymattnError` for a name that no row has.

    >>> proof = prove("shift")
    >>> proof.good, proof.equality.scope
    (True, 'for all sizes')
    """
    from symattn.algebra.identities.proofs import proven

    return proven(statement if isinstance(statement, Identity) else identity(statement), effort)
