"""The one family of errors that symattn raises on purpose.

A message is one line: where, what is wrong, and how to mend it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from numbers import Number

from symattn.printable import printable, shortened

#: The most characters of a message.
LONGEST = 800

#: The most characters of a list of names in a message; a name is not cut.
_LISTED = 240


class SymattnError(ValueError):
    """Something given to symattn cannot be used; the message says where and how to mend it.

    The message is one line of bounded length that can be printed, whatever was quoted in it.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(printable(message), LONGEST))

    __str__ = Exception.__str__  # KeyError would quote the message


class NoSuchName(SymattnError, KeyError):
    """Nothing has this name; a `KeyError` too, as Python's protocols want it."""


class NoSuchPlace(SymattnError, IndexError):
    """There is nothing at this place of a sequence; an `IndexError` too."""


class MissingExtra(SymattnError, ImportError):
    """A package that only some parts of symattn need is not installed; an `ImportError` too."""


class ShapeError(SymattnError):
    """Two shapes do not fit; the message names the step, both shapes and the fix."""


class ReadError(SymattnError):
    """A text (number, expression, file) cannot be read."""


class CannotSpell(SymattnError):
    """An expression has no spelling here; nothing is printed rather than something wrong."""


class Undecided(SymattnError):
    """No procedure decided the question; the message gives the precision that was tried."""


def quote(value: object) -> str:
    """A short picture of a wrong value in a message, as a worksheet would write it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():  # a line stays one line
            text = f'"{" ".join(value[:100].splitlines())}"'
        case dict():
            return "a table"
        case list() | tuple():
            return "a list"
        case int() if value.bit_length() > 200:  # Python itself writes out 4300 digits at most
            return f"a whole number of {value.bit_length()} bits"
        case None | Number():
            text = str(value)
        case type():
            return f"the class {value.__name__}"
        case _ if hasattr(value, "free_symbols"):  # a formula
            text = str(value)
        case _:
            return f"a value of type {type(value).__name__}"
    return text if len(text) <= 50 else f"{text[:47]}…"


@contextmanager
def needing(who: str, package: str, how: str) -> Iterator[None]:
    """Imports that only `who` needs: raises `MissingExtra` where the package is not installed.

    >>> with needing("plot", "no_such_package", "symattn[plot]"):
    ...     import no_such_package
    Traceback (most recent call last):
    symattn.errors.MissingExtra: plot: needs no_such_package; pip install 'symattn[plot]'
    """
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtra) or (error.name or "").startswith("symattn"):
            raise
        raise MissingExtra(f"{who}: needs {package}; pip install '{how}'") from None


@contextmanager
def located(place: str | Callable[[str], str], *already: str) -> Iterator[None]:
    """Puts a place, or the place of the message, before what is refused inside.

    What begins with one of the files `already` has its place.

    >>> with located("sheet.toml:3"):
    ...     raise ReadError("scores: is empty")
    Traceback (most recent call last):
    symattn.errors.ReadError: sheet.toml:3: scores: is empty
    """
    try:
        yield
    except SymattnError as error:
        message = str(error)
        if any(file and message.startswith(f"{file}:") for file in already):
            raise
        where = place if isinstance(place, str) else place(message)
        raise type(error)(f"{where}: {message}") from None


def counted(count: int, noun: str) -> str:
    """How many of them: ``1 head``, ``3 heads``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def nearest(word: object, known: Iterable[str]) -> str:
    """A hint for a misspelt name: ``; did you mean "scores"?`` or the list of known names.

    Names with their letters may be given; the letter as it is printed then stands for its name.
    """
    names = list(known)
    lettered = known.items() if isinstance(known, Mapping) else ()
    if isinstance(word, str):
        meant = next((name for name, letter in lettered if letter == word), "")
        if close := meant or close_to(word, names):
            return f'; did you mean "{close}"?'
    ends = accumulate(len(name) + 2 for name in names)
    few = [name for name, end in zip(names, ends, strict=True) if end <= _LISTED]
    few += ["…"] if len(few) < len(names) else []
    return f"; known: {', '.join(few)}" if names else ""


def close_to(word: str, known: Iterable[str]) -> str:
    """The known name that a misspelt one is closest to, or nothing."""
    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word[:60].lower(), list(lowered)[:2000], n=1, cutoff=0.6)
    return lowered[close[0]] if close else ""
