"""Certificates are replayed by a second replayer, written from the page of rules alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from symattn import equal
from symattn.algebra.certificate import check
from symattn.algebra.forms import Refused
from symattn.algebra.identities import IDENTITIES, prove
from symattn.errors import SymattnError
from tests.algebra.test_certificates import REFUSED
from tests.algebra.test_certificates import _claims as stated
from tests.oracle import Statement
from tests.replaying import accepts, verdict
from tests.shares import share
from tests.statements import STATEMENTS

UNDEFINED = Path(__file__).parents[1] / "data" / "undefined_certificates.json"
TRUE = [statement for statement in STATEMENTS if statement.holds]


def outcome(certificate: Any) -> str:
    """accepted, refused, cannot, or other where there is no certificate of an equation."""
    equation = certificate is not None and certificate["certificate"] == 1
    return verdict(certificate)[0] if equation else "other"


def outcomes(statements: list[Statement]) -> list[str]:
    """The outcome of each statement that the grammar reads."""
    found = []
    for statement in statements:
        with suppress(SymattnError):
            found.append(outcome(equal(statement.text, **statement.options).certificate))
    return found


@pytest.mark.parametrize(("every", "least"), share([(4, 10), (1, 49)], 2))
def test_the_catalogue_is_accepted(every: int, least: int) -> None:
    rows = [row for row in IDENTITIES if row.holds][::every]
    found = [outcome(prove(row).equality.certificate) for row in rows]
    assert found.count("accepted") >= least
    assert "refused" not in found


def test_a_sample_of_the_statements_is_accepted() -> None:
    found = outcomes(TRUE[::40])
    assert found.count("accepted") > len(found) * 3 // 4
    assert "refused" not in found


@pytest.mark.nightly
def test_the_statements_are_accepted() -> None:
    found = outcomes(TRUE)
    assert found.count("accepted") >= 684
    assert "refused" not in found


def changed(certificate: Any) -> Iterator[tuple[str, Any]]:
    """Certificates in which one step is another."""
    for place, step in enumerate(certificate["proof"]["steps"]):
        changes = {"left out": [], "twice": [step, step], "a key more": [step | {"at": ["0", "0"]}]}
        for key in step.keys() & {"of", "gives", "rule"}:
            changes[key] = [step | {key: f"{step[key]} + 1"}]
        if "needs" in step:
            changes["needs"] = [step | {"needs": ["0 ≥ 0"]}]
        for kind, steps in changes.items():
            other = copy.deepcopy(certificate)
            other["proof"]["steps"][place : place + 1] = steps
            yield f"{place}: {kind}", other
    for key, value in (("partial", True), ("uses", [["known", 0, 0]]), ("certificate", 2)):
        yield key, certificate | {key: value}
    other = copy.deepcopy(certificate)
    other["statement"]["left"]["text"] = "softmax(2 S + c 1^T)"
    yield "statement", other


def test_changed_certificates_are_refused() -> None:
    certificate: Any = equal("softmax(S + c 1^T) = softmax(S)").certificate
    assert accepts(certificate)
    assert [kind for kind, other in changed(certificate) if accepts(other)] == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_checker_refuses_is_refused(name: str) -> None:
    certificate = stated("A + B = B + A")
    assert accepts(certificate)
    forge, _ = REFUSED[name]
    forge(certificate)
    assert verdict(certificate)[0] == "refused"


def test_a_sum_of_nothing_is_not_positive() -> None:
    """In the first row x = 0, an empty sum: ln x and −∞ · x have no value there.

    ln x − ln x = 0 and e^(x ∘ mask) = e^mask hold where both sides are defined, and these
    certificates say that they hold throughout.
    """
    certificates = json.loads(UNDEFINED.read_text(encoding="utf-8"))
    assert [accepts(certificate) for certificate in certificates] == [False, False]
    for certificate in certificates:
        with pytest.raises(Refused):
            check(certificate)
