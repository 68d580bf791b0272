"""Arguments from Python, held against what is wanted: one function for each kind of argument.

`where` begins the message of the `SymattnError` and names the argument; what was given and what
is wanted follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import index
from typing import SupportsIndex, TypeVar, cast

from symattn.errors import SymattnError, nearest, quote

Wanted = TypeVar("Wanted")


def instance(
    value: object, kind: type[Wanted] | tuple[type[Wanted], ...], where: str, wanted: str
) -> Wanted:
    """The value, if it is of this kind."""
    if not isinstance(value, kind):
        raise wrong(value, where, wanted)
    return value


def word(value: object, where: str, wanted: str = "a text") -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(value, where, wanted)
    return value


def words(value: object, where: str) -> tuple[str, ...]:
    """Texts in a collection; a text that stands alone is one of them."""
    if isinstance(value, str):
        return (value,)
    try:
        listed = tuple(cast(Iterable[object], value))
    except TypeError:  # an array may only look as if it could be iterated over
        raise wrong(value, where, "a list of texts") from None
    return tuple(word(one, where, "texts only") for one in listed)


def flag(value: object, where: str) -> bool:
    """True or false."""
    if isinstance(value, bool):
        return value
    raise wrong(value, where, "True or False")


def whole(value: object, where: str, least: int = 0, most: int | None = None) -> int:
    """A whole number, from `least` to `most` if there is a most; NumPy's whole numbers too."""
    bound = f"from {least}" if most is None else f"from {least} to {most}"
    try:
        number = index(cast(SupportsIndex, value))
    except TypeError:
        raise wrong(value, where, f"a whole number {bound}") from None
    if isinstance(value, bool) or number < least or (most is not None and number > most):
        raise wrong(value, where, f"a whole number {bound}")
    return number


def table(value: Mapping[str, Wanted] | None, where: str) -> dict[str, Wanted]:
    """A mapping from names."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong(value, where, "a table from names")
    return {word(name, where, "names that are texts"): part for name, part in value.items()}


def choice(value: object, where: str, known: Collection[str]) -> str:
    """One of the known names."""
    if isinstance(value, str) and value in known:
        return value
    raise SymattnError(f"{where} = {quote(value)}: there is none{nearest(value, known)}")


def wrong(value: object, where: str, wanted: str) -> SymattnError:
    """The error for a value of the wrong kind."""
    return SymattnError(f"{where} = {quote(value)}: give {wanted}")
