"""A moment of poison: files that once stopped the marking of all, and the watch that finds them.

``python -m tests.fuzz.poisoned`` has all of them, by the hundred.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests import slower
from tests.extras import package
from tests.fuzz.poisoned import KINDS, MOST_BYTES, MOST_SECONDS, Taken, taken
from tests.shares import share

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: What took longest, or most memory, of each kind before it was bounded.
WORST = {
    ".toml": ("misspelt names", "a long list"),
    ".json": ("names of nothing", "empty lists"),
    ".csv": ("brackets", "wide rows", "matrices"),
    ".md": ("worksheets",),
    ".ipynb": ("worksheets of other keys", "empty cells"),
    ".docx": ("a long namespace", "tables 100 deep", "paragraphs 900 deep", "attributes"),
    ".zip": ("a document: elements", "a bomb"),
    ".parquet": ("one long text a thousand times", "one long list"),
}


@pytest.fixture(scope="module")
def alone() -> Iterator[ProcessPoolExecutor]:
    """A process without threads, whose children are copies of it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize(
    ("ending", "what"), share([(k, what) for k, all_ in WORST.items() for what in all_], 3)
)
def test_a_poisonous_file_takes_little(
    ending: str, what: str, tmp_path: Path, alone: ProcessPoolExecutor
) -> None:
    if ending == ".parquet":
        package("pyarrow.parquet")
    file = tmp_path / f"ada{ending}"
    file.write_bytes(dict(KINDS[ending](900_000))[what])
    found = alone.submit(taken, what, file).result()
    assert not found.is_bad, found


def harmful(harm: str, _: Path) -> None:
    """Read a file as if it were poisonous."""
    if harm == "slow":
        most = 1.5 * MOST_SECONDS * slower()
        while time.process_time() < most:  # of a child
            pass
    elif harm == "large":
        assert len(b"\1" * (2 * MOST_BYTES)) > MOST_BYTES
    else:
        raise KeyError(harm)


@pytest.mark.parametrize("harm", ["slow", "large", "raises"])
def test_what_takes_too_much_is_found(
    harm: str, tmp_path: Path, alone: ProcessPoolExecutor
) -> None:
    assert alone.submit(taken, harm, tmp_path, partial(harmful, harm)).result().is_bad
    assert not Taken(harm, 0.1, 1000, 0).is_bad
