"""The example of a variant: small whole numbers that teach, the same everywhere, said to be so."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from symattn import VARIANTS, variant
from symattn.attention.example import small_example, small_inputs
from symattn.cli import main
from symattn.documents.job import FORMATS
from tests.shares import share

_SAID = "The numbers are a small example."


@pytest.mark.parametrize("name", [row.name for row in VARIANTS])
def test_no_weight_of_an_example_is_nearly_0_or_1(name: str) -> None:
    """Four decimals show how weight is shared out, where the formula shares it out at all."""
    derivation, values = small_example(variant(name).spec)
    for step in (step for step in derivation if step.weights):
        weights = np.asarray(values.array(step.letter), dtype=float)
        shared = weights[(weights != 0) & (weights != 1)]
        assert ((shared >= 0.005) & (shared <= 0.995)).all()
        assert shared.size or name == "hard"


def test_an_example_is_the_same_on_every_machine() -> None:
    """In another process, with another seed of hashes and another count of threads."""
    program = (
        "import json; from symattn import VARIANTS\n"
        "from symattn.attention.example import small_inputs\n"
        "print(json.dumps([small_inputs(row.spec)[1] for row in VARIANTS[::9]]))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "3")
    }
    (one,) = printed
    assert json.loads(one) == [small_inputs(row.spec)[1] for row in VARIANTS[::9]]
    assert hashlib.sha256(one.strip()).hexdigest() == _DIGEST


#: Of the examples above, as they were drawn first.
_DIGEST = "b034ea07c111edd1870b55921bab0c40c1fa14d7e2d6597ce69ee63cc9eff1f4"

_FOR_PEOPLE = [name for name, row in FORMATS.items() if row.kind == "page"]


@pytest.mark.parametrize("form", [name for name in _FOR_PEOPLE if name not in ("docx", "pdf")])
def test_a_variant_is_shown_on_an_example_that_is_said_to_be_one(form: str) -> None:
    page = CliRunner().invoke(main, ["derive", "causal", "--format", form]).stdout
    assert _SAID in page and "0.0142" in page
    bare = CliRunner().invoke(main, ["derive", "causal", "--format", form, "--symbolic"]).stdout
    assert _SAID not in bare and "0.0142" not in bare


@pytest.mark.parametrize("form", ["json", "numpy", "python", "torch"])
def test_what_programs_read_has_none(form: str) -> None:
    page = CliRunner().invoke(main, ["derive", "causal", "--format", form]).stdout
    assert page and _SAID not in page
    if form == "json":
        assert "decimals" not in page and json.loads(page)["sizes"] == {}


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 10))
def test_every_variant_has_one(name: str) -> None:
    ran = CliRunner().invoke(main, ["derive", name])
    assert ran.exit_code == 0 and ran.stdout.count(_SAID) == 1
    assert re.search(
        r"^Check: NumPy \(float64\) agrees with the proven values\.$", ran.stdout, re.M
    )


def test_the_errors_of_the_check_are_a_line_or_on_request_a_table() -> None:
    short = CliRunner().invoke(main, ["derive", "causal"]).stdout
    assert "ulps" not in short and short.count("Check: ") == 1
    long = CliRunner().invoke(main, ["derive", "causal", "--errors", "float64"]).stdout
    assert "ulps" in long and re.search(r"^ +scaled +3 × 3 .* agrees$", long, re.M)


def test_the_entry_that_is_named_is_another_than_the_one_worked_out() -> None:
    for name in ("causal", "self", "multi-head", "scaled-dot-product", "cached"):
        page = CliRunner().invoke(main, ["derive", name]).stdout
        (place,) = re.findall(r'--entry "weights(?:\[\d\])?\[(\d,\d)\]"', page)
        section = page.partition("[weights]")[2].partition("\n\n")[0]
        worked = re.findall(r"\ba_(\d)(\d)", section)
        assert worked and place not in {",".join(one) for one in worked}
