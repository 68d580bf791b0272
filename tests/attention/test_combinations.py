"""Every pair of choices of `Attention`: built, printed, evaluated, checked, and computed anew.

The specs are the covering set of `tests.combinations`; that each of them is what its definition
says is held against the plain NumPy of `Reference` there.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, Evaluation, Notation, SymattnError, text
from symattn.arithmetic.enclosure import ball, precision
from symattn.attention.scoring import BIASES, SCORES
from symattn.attention.sources import POSITIONS
from symattn.derivations import worked
from symattn.documents.data import json_document
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from tests.combinations import (
    AXES,
    CRASH,
    Cover,
    NoValueError,
    Reference,
    Spec,
    cover,
    derived,
    find_cover,
    inputs_of,
    name_of,
    outcome,
    random_spec,
    refusal,
)
from tests.gates import mathml_faults
from tests.rows import every_one_has_a_row
from tests.shares import share
from tests.worked_lines import faults
from tests.written import latex_document, mathml_document, text_document

SPECS = {name_of(spec): spec for spec in cover().specs}
REFUSED = {name_of(spec): spec for spec in cover().refused}
CONVENTIONS = ("rows", "columns")


def few() -> list[str]:
    """Specs that hold every choice of every axis: what is dear is asked of them only."""
    missing = {(axis, str(value)) for axis, values in AXES.items() for value in values}
    found = []
    for name, spec in SPECS.items():
        held = {(axis, str(spec.get(axis, values[0]))) for axis, values in AXES.items()}
        if missing & held:
            found.append(name)
            missing -= held
    return found


FEW = few()

#: Every spec in both conventions; the usual run has a few, each in one of them.
CONVENED = [
    pytest.param(
        name,
        convention,
        marks=() if name in FEW and (number + turn) % 2 == 0 else pytest.mark.nightly,
    )
    for number, name in enumerate(SPECS)
    for turn, convention in enumerate(CONVENTIONS)
]


@cache
def given(name: str) -> dict[str, Any]:
    """Its random inputs."""
    return inputs_of(SPECS[name], derived(SPECS[name]))


@cache
def wanted(name: str) -> Any:
    """What the reference computes; None where these numbers have no value."""
    try:
        return Reference(SPECS[name], given(name)).result()
    except NoValueError:
        return None


@cache
def evaluated(name: str) -> Evaluation:
    """Its values, computed once for all tests of a worker."""
    return derived(SPECS[name]).evaluate(**given(name))


# ---- which combinations there are --------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "choices"), [("score", SCORES), ("bias", BIASES), ("positions", POSITIONS)]
)
def test_every_choice_is_on_its_axis(axis: str, choices: Iterable[str]) -> None:
    ours = {next(iter(value)) if isinstance(value, dict) else value for value in AXES[axis]}
    row = "it, what it computes in Reference there, and run python -m tests.combinations"
    every_one_has_a_row(choices, ours - {None}, "AXES of tests/combinations.py", row)


def test_every_pair_of_choices_is_in_the_covering_set() -> None:
    assert cover().missing() == [], "python -m tests.combinations finds the set anew"


def test_a_pair_that_is_missing_is_noticed() -> None:
    whole = cover()
    some = Cover(whole.specs[:9], whole.refused[1:])
    assert {"mask": "causal", "bias": "alibi"} in some.missing()
    assert whole.refused[0] in some.missing()


@pytest.mark.nightly
def test_the_covering_set_is_the_one_that_is_found() -> None:
    assert cover() == find_cover()


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_its_reason_in_one_line(name: str) -> None:
    reason = refusal({axis: AXES[axis].index(value) for axis, value in REFUSED[name].items()})
    assert reason is not None
    assert not reason.startswith(CRASH)
    assert re.fullmatch(r"[a-z_]+: [^\n]{10,160}", reason)


#: What choices are made on top of: each source, and none said, with heads and without.
GROUNDS: tuple[Spec, ...] = tuple(
    ({} if source is None else {"source": source}) | more
    for source in (None, *AXES["source"])
    for more in ({}, {"heads": 4}, {"heads": 2, "output_projection": True}, {"cache": True})
    if not (source == "bare" and "cache" in more)
)


@pytest.mark.parametrize(
    ("axis", "ground"),
    share(product([axis for axis in AXES if axis != "source"], GROUNDS), 3),
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_no_choice_is_ignored(axis: str, ground: Spec) -> None:
    """It changes the derivation, or is refused in a line that begins with it."""
    for value in AXES[axis][1:]:
        assert ignored({**ground, axis: value}, axis) is None, value


def ignored(spec: Spec, axis: str) -> str | None:
    """What is wrong with what becomes of a choice; None if it counts."""
    plain = {name: value for name, value in spec.items() if name != axis}
    try:
        chosen = Attention(**spec).derivation()
    except SymattnError as error:
        return None if str(error).startswith(axis) else str(error)
    try:
        without = Attention(**plain).derivation()
    except SymattnError:
        return None
    if axis == "kv_heads" and spec["kv_heads"] == spec["heads"]:
        return None  # as many as without it
    if axis == "output_projection" and spec.get("output_form") == "sum":
        return None  # a sum of projections has W_O anyhow
    same = (chosen.inputs, chosen.steps) == (without.inputs, without.steps)
    return "says nothing" if same else None


def test_a_choice_that_says_nothing_is_noticed() -> None:
    assert ignored({"source": "self", "scale": True}, "scale") == "says nothing"
    assert ignored({"source": "given", "latent": True}, "cache") == (
        'latent: the latent is projected from X; use source = "self"'
    )


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(8, 400))]
)
def test_a_random_choice_on_every_axis_is_computed_or_refused(seed: int) -> None:
    """Ten specs for each seed, 4,000 in all: what is derived is what its definitions say."""
    rng = random.Random(seed)
    specs = [random_spec(rng) for _ in range(10)]
    outcomes = [outcome(spec) for spec in specs]
    for spec, found in zip(specs, outcomes, strict=True):
        assert found in ("computed", "refused", "no value", "no bound"), name_of(spec)
    assert outcomes.count("no bound") < 2


def test_a_wrong_result_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    spec: Spec = {"source": "self", "mask": {"top-k": 2}}
    assert outcome(spec) == "computed"
    monkeypatch.setattr(Reference, "_chosen", lambda self, scores, hidden: ~hidden)
    assert outcome(spec).startswith("off by")


# ---- symbols -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "convention"), share(CONVENED, 2))
def test_symbols_print_in_every_format(name: str, convention: Any) -> None:
    derivation, notation = derived(SPECS[name]), Notation(convention=convention)
    page = outline(Shown(derivation, notation=notation))
    words = text_document(page)
    for number, step in enumerate(derivation, 1):
        heading = rf"\n{number}\. (.*  \[)?{step.name}\]?  \("
        assert re.search(heading, words, re.IGNORECASE), step.name
    assert latex_document(page).count(r"\[") >= len(derivation)
    assert mathml_faults(mathml_document(page)) == []
    assert tuple(json.loads(json_document(Shown(derivation, notation=notation)))["steps"]) == (
        derivation.names
    )


# ---- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", share(SPECS, 4), ids=str)
def test_the_result_is_what_the_definitions_say(name: str) -> None:
    expected, evaluation = wanted(name), evaluated(name)
    last = derived(SPECS[name]).names[-1]
    if expected is None:
        with pytest.raises(SymattnError, match=r"^[a-z]+: [^\n]+$"):
            evaluation[last].array  # noqa: B018
        return
    found = evaluation[last].array
    if derived(SPECS[name])[last].per_head:
        found = np.concatenate(list(found), axis=-1)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.nightly
def test_nearly_all_have_a_value() -> None:
    """A row may sum to 0; what has no value is passed over below."""
    assert sum(wanted(name) is None for name in SPECS) <= 4


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.nightly) for name in SPECS],
)
def test_exact_values_balls_and_arrays_agree(name: str) -> None:
    if wanted(name) is None:
        return
    evaluation = evaluated(name)
    check = evaluation.check()
    assert check, check.first_wrong
    for step in derived(SPECS[name]):
        value = evaluation[step.name]
        exact, balls = evaluation.abbreviated(step.letter), value.balls
        assert exact.shape == balls.shape == value.shape, step.name
        with precision(128):
            for place in np.ndindex(*exact.shape):
                if exact[place] == -sympy.oo:
                    assert value.array[place] == -np.inf, (step.name, place)
                else:
                    assert ball(exact[place]).overlaps(balls.item(*place)), (step.name, place)
                digits = value.digits(place)
                assert digits.proven, (step.name, place, digits.text)


@pytest.mark.parametrize(("name", "convention"), share(CONVENED, 2))
def test_worked_lines_give_what_they_show(name: str, convention: Any) -> None:
    if wanted(name) is None:
        return
    evaluation, notation = evaluated(name), Notation(convention=convention)
    for step in derived(SPECS[name]):
        for place, row, column in entries(evaluation[step.name].shape, convention):
            head = place[0] if step.per_head else None
            line = text(worked(evaluation, step, row, column, head, notation))
            assert list(faults(line, notation.digits, {})) == []


def entries(shape: tuple[int, ...], convention: str) -> Iterator[tuple[Any, int, int]]:
    """A few places in the first and the last head, with row and column as the reader has them."""
    turned = convention == "columns"
    rows, columns = shape[-2:]
    for lead in sorted({(0,), (shape[0] - 1,)}) if len(shape) == 3 else [()]:
        few = (
            {(rows // 2, columns // 2)} if turned else {(0, columns - 1), (rows - 1, columns // 2)}
        )
        for i, j in sorted(few):
            yield (*lead, i, j), *((j, i) if turned else (i, j))
