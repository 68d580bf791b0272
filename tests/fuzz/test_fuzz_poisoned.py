"""A moment of poison: files that once stopped the marking of all, and the watch that finds them.

``python -m tests.fuzz.poisoned`` has all of them, by the hundred.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.extras import package
from tests.fuzz.poisoned import KINDS, MOST_BYTES, Taken, taken

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


@pytest.mark.parametrize(
    ("ending", "what"), [(k, what) for k, all_ in WORST.items() for what in all_]
)
def test_a_poisonous_file_takes_little(ending: str, what: str, tmp_path: Path) -> None:
    if ending == ".parquet":
        package("pyarrow.parquet")
    file = tmp_path / f"ada{ending}"
    file.write_bytes(dict(KINDS[ending](900_000))[what])
    found = taken(what, file)
    assert not found.is_bad, found


@pytest.mark.parametrize("harm", ["slow", "large", "raises"])
def test_what_takes_too_much_is_found(harm: str, tmp_path: Path) -> None:
    def reading(_: Path) -> None:
        if harm == "slow":
            time.sleep(2.1)
        elif harm == "large":
            assert len(b"\1" * (2 * MOST_BYTES)) > MOST_BYTES
        else:
            raise KeyError(harm)

    assert taken(harm, tmp_path, reading).is_bad
    assert not Taken(harm, 0.1, 1000, 0).is_bad
