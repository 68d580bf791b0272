"""Tasks and generators for the tests: a named attention at its sizes."""

from __future__ import annotations

from functools import cache

from symattn.attention.variants import variant
from symattn.classroom.generator import Generator
from symattn.classroom.styles import STYLES
from symattn.classroom.task import Task, task_of
from symattn.sheets.worksheet import worksheet_of
from symattn.sheets.writing import starter


def task(name: str, d_k: int, *blank: str, tokens: int = 3, style: str = "decimals") -> Task:
    sheet = worksheet_of(starter(variant(name), tokens=tokens, d_k=d_k))
    return task_of(sheet, blank, exact=STYLES[style].exact)


@cache
def generator(
    name: str = "causal",
    style: str = "decimals",
    d_k: int = 2,
    blank: tuple[str, ...] = ("scores", "scaled", "weights", "output"),
    difficulty: str = "usual",
) -> Generator:
    return Generator(task(name, d_k, *blank, style=style), STYLES[style], difficulty)
