"""The option ``--size``: sizes by their names, ``tokens=3,d_k=4``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import click

from symattn.cli.formats import Command
from symattn.errors import ReadError, SymattnError, quote

Made = TypeVar("Made")

#: A name of a size: letters and digits, and primes at the end.
NAME = r"[^\W\d]\w*'*"
_SIZED = re.compile(rf"\s*({NAME})\s*=\s*([1-9][0-9]{{0,3}})\s*")

_SIZE = rf"\s*(?:{NAME}|[1-9][0-9]{{0,3}})\s*"
_SIZES = rf"{_SIZE}(?:\*{_SIZE})*"
_SHAPED = re.compile(rf"\s*({NAME})\s*=({_SIZES}(?:,{_SIZES})*)")

#: The sizes of a small example, each with the largest that it may be.
_LARGEST: Mapping[str, int] = {"tokens": 64, "d_k": 64, "heads": 16}


def size_option(words: str) -> Callable[[Command], Command]:
    """The option, for a command that gives its texts to `sizes_in` or `example_sizes`."""
    return click.option("--size", "sizes", multiple=True, metavar="NAME=NUMBER,…", help=words)


def once(option: str, pairs: Iterable[tuple[str, Made]]) -> dict[str, Made]:
    """The pairs as a table. Raises `SymattnError` for a name with two different values."""
    values: dict[str, Made] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise SymattnError(f"{option} {name}: is given two values; leave one out")
    return values


def matched(pattern: re.Pattern[str], option: str, text: str, mend: str) -> re.Match[str]:
    """What a text of an option holds. Raises `ReadError` for another, with how to mend it."""
    found = pattern.fullmatch(text)
    if found is None:
        raise ReadError(f"{option} {quote(text)}: {mend}")
    return found


def sizes_in(texts: Iterable[str]) -> dict[str, int]:
    """The sizes that are given. Raises `SymattnError` for a text that gives none, or one twice.

    >>> sizes_in(["n=4,m=2", "d_k=3"])
    {'n': 4, 'm': 2, 'd_k': 3}
    """
    return once("--size", (_sized(part) for text in texts for part in text.split(",")))


def _sized(text: str) -> tuple[str, int]:
    """``n=4``."""
    found = matched(_SIZED, "--size", text, "give a name and a whole number above 0, as in n=4")
    return found[1], int(found[2])


def shapes_in(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """How long the axes of arguments are. Raises `SymattnError` as `sizes_in` does.

    >>> shapes_in(["Q=n,h*d_k"])
    {'Q': ('n', 'h*d_k')}
    """
    return once("--shape", map(_shaped, texts))


def _shaped(text: str) -> tuple[str, tuple[str, ...]]:
    """``Q=n,h*d_k``."""
    mend = "give an argument and the sizes of its axes, as in Q=n,d_k or Q=n,h*d_k"
    found = matched(_SHAPED, "--shape", text, mend)
    return found[1], tuple(size.strip() for size in found[2].split(","))


def example_sizes(texts: Iterable[str]) -> dict[str, int]:
    """The sizes of a small example. Raises `SymattnError` for others, and for those too large."""
    sizes = sizes_in(texts)
    for name, size in sizes.items():
        if size > _LARGEST.get(name, 0):
            known = ", ".join(f"{one} up to {most}" for one, most in _LARGEST.items())
            raise SymattnError(f"--size {name}={size}: an example has {known}")
    return sizes
