"""The sample of mutants tells what tests notice from what they do not, on a toy package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.extras import package

FILES = {
    "toy/__init__.py": "",
    "toy/noticed.py": "def difference(a, b):\n    return a - b\n",
    "toy/unnoticed.py": "def total(a, b):\n    return a + b\n",
    "toy/unreached.py": "def twice(a):\n    return 2 * a\n",
    "toy/unreadable.py": "int('1')\n",
    "tests/test_toy.py": "import toy.unreadable\nfrom toy.noticed import difference\n"
    "from toy.unnoticed import total\n\n"
    "def test_difference():\n    assert difference(2, 1) == 1\n\n"
    "def test_total():\n    assert total(0, 0) == 0\n",
}


@pytest.mark.nightly
def test_a_noticed_change_is_told_from_an_unnoticed_one(tmp_path: Path) -> None:
    package("mutmut")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    script = ROOT / "tests" / "benchmarks" / "mutation.py"
    rooms = [name for name in FILES if name.startswith("toy/") and FILES[name]]
    words = [sys.executable, str(script), "--root", str(tmp_path), "--count", "1", *rooms]
    environment = {name: x for name, x in os.environ.items() if name != "PYTEST_ADDOPTS"}
    ran = subprocess.run(words, capture_output=True, encoding="utf-8", env=environment, check=True)
    table = [line.split()[:6] for line in ran.stdout.splitlines()[-4:]]
    assert table == [
        ["toy/noticed.py", "1", "1", "0", "0", "0"],
        ["toy/unnoticed.py", "1", "0", "1", "0", "0"],
        ["toy/unreached.py", "1", "0", "0", "1", "0"],
        ["toy/unreadable.py", "1", "0", "0", "0", "1"],
    ]
    assert "-    return a + b\n+    return a - b\n" in ran.stdout
    assert "by 0 of 0 tests of its statement, 0 of 0 of its file: toy/unreached.py" in ran.stdout
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*FILES}
    assert all((tmp_path / name).read_text(encoding="utf-8") == FILES[name] for name in FILES)


def test_no_script_stands_beside_a_module_of_the_standard_library() -> None:
    """A script has its own folder first on the path: ``numbers.py`` there would be imported."""
    folder = ROOT / "tests" / "benchmarks"
    assert {path.stem for path in folder.glob("*.py")} & sys.stdlib_module_names == set()
