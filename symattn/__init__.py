"""symattn: attention, derived step by step.

>>> from symattn import Attention
>>> values = Attention().derivation().evaluate(Q=[[1, 0]], K=[[1, 1], [0, 1]], V=[[2], [4]])
>>> values["output"].decimals(3)
[['2.660']]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from symattn import handed
from symattn.version import VERSION

if TYPE_CHECKING:
    from symattn.algebra.equality import Equality, equal
    from symattn.algebra.identities import IDENTITIES, prove
    from symattn.algebra.identities.identity import Identity
    from symattn.attention.decoding import Chunk, decode
    from symattn.attention.spec import Attention
    from symattn.attention.variants import TEXTS, VARIANTS, Variant, variant
    from symattn.attention.vocabulary import Notation
    from symattn.capturing import capture
    from symattn.derivations import Check, Derivation, Evaluation, Step, StepValue
    from symattn.documents.job import document
    from symattn.documents.pictures.png import plot
    from symattn.errors import SymattnError
    from symattn.language.spec import derivation
    from symattn.lifting.lift import lift
    from symattn.notation.latex import latex
    from symattn.notation.mathml import mathml
    from symattn.notation.text import text
    from symattn.pages.display import check, compare

__version__ = VERSION

#: The public names of each module, which is imported when one of them is first used.
_PUBLIC = {
    "symattn.algebra.equality": "Equality equal",
    "symattn.algebra.identities": "IDENTITIES prove",
    "symattn.algebra.identities.identity": "Identity",
    "symattn.attention.decoding": "Chunk decode",
    "symattn.attention.spec": "Attention",
    "symattn.attention.variants": "TEXTS VARIANTS Variant variant",
    "symattn.attention.vocabulary": "Notation",
    "symattn.capturing": "capture",
    "symattn.derivations": "Check Derivation Evaluation Step StepValue",
    "symattn.documents.job": "document",
    "symattn.documents.pictures.png": "plot",
    "symattn.errors": "SymattnError",
    "symattn.language.spec": "derivation",
    "symattn.lifting.lift": "lift",
    "symattn.notation.latex": "latex",
    "symattn.notation.mathml": "mathml",
    "symattn.notation.text": "text",
    "symattn.pages.display": "check compare",
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = [
    "IDENTITIES",
    "TEXTS",
    "VARIANTS",
    "Attention",
    "Check",
    "Chunk",
    "Derivation",
    "Equality",
    "Evaluation",
    "Identity",
    "Notation",
    "Step",
    "StepValue",
    "SymattnError",
    "Variant",
    "__version__",
    "capture",
    "check",
    "compare",
    "decode",
    "derivation",
    "document",
    "equal",
    "latex",
    "lift",
    "mathml",
    "plot",
    "prove",
    "text",
    "variant",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing the package is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'symattn' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def _compared(*args: Any, **arrays: Any) -> Any:
    """`compare`, which is loaded when an evaluation asks for it."""
    return __getattr__("compare")(*args, **arrays)


def _spelled(tree: Any) -> dict[str, str]:
    """A notation tree as text and as LaTeX, for notebooks."""
    bundle = import_module("symattn.notation.mime").bundle
    shown: dict[str, str] = bundle(__getattr__("text")(tree), __getattr__("latex")(tree))
    return shown


handed.compare = _compared
handed.spelled = _spelled


def load_ipython_extension(shell: object) -> None:
    """``%load_ext symattn``: the cell magic ``%%symattn``."""
    import_module("symattn.ipython").load_ipython_extension(shell)


def __dir__() -> list[str]:
    return __all__
