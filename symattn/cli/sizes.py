"""The option ``--size``: sizes by their names, ``tokens=3,d_k=4``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import click

from symattn.cli.formats import Command
from symattn.errors import SymattnError, nearest, quote

#: A name of a size: letters and digits, and primes at the end.
NAME = r"[^\W\d]\w*'*"
_SIZED = re.compile(rf"\s*({NAME})\s*=\s*([1-9][0-9]{{0,3}})\s*")

#: The sizes of a small example, each with the largest that it may be.
_LARGEST: Mapping[str, int] = {"tokens": 64, "d_k": 64, "heads": 16}


def size_option(words: str) -> Callable[[Command], Command]:
    """The option, for a command that gives its texts to `sizes_in` or `example_sizes`."""
    return click.option("--size", "sizes", multiple=True, metavar="NAME=NUMBER,…", help=words)


def sizes_in(texts: Iterable[str]) -> dict[str, int]:
    """The sizes that are given. Raises `SymattnError` for a text that gives none, or one twice.

    >>> sizes_in(["n=4,m=2", "d_k=3"])
    {'n': 4, 'm': 2, 'd_k': 3}
    """
    sizes: dict[str, int] = {}
    for text in (part for each in texts for part in each.split(",")):
        found = _SIZED.fullmatch(text)
        if found is None:
            mend = "give a name and a whole number above 0, as in n=4"
            raise SymattnError(f"--size {quote(text)}: {mend}")
        name, size = found[1], int(found[2])
        if sizes.setdefault(name, size) != size:
            raise SymattnError(f"--size {name}: is given two values; leave one out")
    return sizes


def example_sizes(texts: Iterable[str]) -> dict[str, int]:
    """The sizes of a small example. Raises `SymattnError` for others, and for those too large."""
    sizes = sizes_in(texts)
    for name, size in sizes.items():
        if name not in _LARGEST:
            known = nearest(name, _LARGEST)
            raise SymattnError(f"--size {name}: an example has no size of that name{known}")
        if size > _LARGEST[name]:
            raise SymattnError(f"--size {name}={size}: give 1 to {_LARGEST[name]}")
    return sizes
