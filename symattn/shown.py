"""What Python and a notebook show of the package's objects, which is not their fields."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Changed:
    """A record of choices, shown as what makes it: those that are not the usual ones.

    >>> from symattn import Notation
    >>> Notation(digits=2)
    Notation(digits=2)
    """

    def __repr__(self) -> str:
        usual: Any = type(self)()
        names = (each.name for each in fields(usual))
        chosen = ((name, getattr(self, name)) for name in names)
        found = (f"{name}={x!r}" for name, x in chosen if x != getattr(usual, name))
        return f"{type(self).__name__}({', '.join(found)})"


class Named:
    """A row of a table, shown by its name alone among others, and by what it says where it stands.

    >>> from symattn import variant
    >>> variant("causal")
    Variant('causal')
    """

    name: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self)}
