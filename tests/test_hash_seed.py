"""Nothing printed depends on PYTHONHASHSEED: the order of a set never reaches a page."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ROOT
from tests.processes import environment, python

SAMPLE = """
import sys
from pathlib import Path
from symattn import Notation, document, equal, latex, text
from symattn.algebra.rocq.files import exported
from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS
from symattn.errors import SymattnError
from symattn.nodes.base import definitions
from symattn.nodes.spell import Speller
from symattn.step import COLUMN, ROW
from symattn.sheets.worksheet import read_worksheet
from symattn.reports.check import check_worksheet
from symattn.reports.single import report_data, report_of

for row in VARIANTS[:: int(sys.argv[2])]:
    derivation = row.spec.derivation()
    print("##", row.name, derivation.size_symbols)
    print(derivation)
    for notation in (Notation(), Notation(index_base=0), Notation(convention="columns")):
        for step in derivation.steps:
            print(text(step.formula(notation)), text(step.entry(notation)))
            print(latex(step.entry(notation)))
            told = definitions(step.expr, Speller(notation), ROW, COLUMN)
            print([latex(one.statement) for one in told])
    print(derivation.gradient())
names = ("t5", "mistral", "grouped-query", "unfolded")[:: int(sys.argv[2])]
for row in VARIANTS:
    if row.name in names:
        for what in small_example(row.spec):
            for form in ("text", "json", "html", "tex", "numpy", "javascript", "svg"):
                try:
                    print(document(what, form))
                except SymattnError as problem:
                    print(problem)
print(exported(equal("norm2(A + B) = norm2(A) + norm2(B) + 2 rowsum(A ∘ B)").certificate))
for path in sorted(Path(sys.argv[1]).glob("*.toml")):
    sheet = read_worksheet(path)
    if sheet.claims:
        print(report_data(report_of(check_worksheet(sheet))))
"""


def printed(seed: str, of: int) -> subprocess.Popen[bytes]:
    """The sample, of every so many variants, being printed by a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", SAMPLE, str(ROOT / "examples"), str(of)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(PYTHONHASHSEED=seed),
    )


@pytest.mark.parametrize("of", [25, pytest.param(1, marks=pytest.mark.nightly)])
def test_two_processes_print_the_same(of: int) -> None:
    runs = [printed(seed, of) for seed in ("1", "2")]
    outputs = [run.communicate(timeout=600) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs[0][1].decode()[-2000:]
    (one, _), (other, _) = outputs
    assert len(one) > 200_000 / of / 2
    assert one.splitlines() == other.splitlines()
    assert one == other


def test_the_order_of_a_set_differs_between_these_processes() -> None:
    """So that the test above can fail."""
    code = "print({'scores', 'weights', 'output', 'masked', 'scaled', 'heads'})"
    found = {python("-c", code, check=True, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(found) == 2
