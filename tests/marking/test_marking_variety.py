"""All kinds of attention: what is evaluated and printed is right, and a wrong number is not."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from symattn import Attention
from symattn.arithmetic.written import read_written
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation
from symattn.marking.verdicts import EntryMark, Marker
from tests.checking import check, verdicts
from tests.combinations import Spec, inputs_of

ACCEPTED = Policy().accept

#: One of each kind, and what was seen to be hard to follow: steps that all heads share.
SPECS: tuple[Spec, ...] = (
    {},
    {"heads": 2, "mask": "causal", "output_projection": True},
    {"heads": 4, "kv_heads": 2, "positions": "rotary"},
    {"source": "given", "mask": "causal", "unfold": True},
    {"source": "given", "unfold": "plain"},
    {"source": "given", "normaliser": "softmax-off-by-one"},
    {"source": "bare", "soft_cap": 2, "bias": "alibi"},
    {"source": "given", "scale": False, "normaliser": "sum"},
    {"source": "given", "normaliser": "sparsemax"},
    {"source": "given", "normaliser": "hardmax"},
    {"normaliser": "sigmoid", "bias": {"relative": {"clip": 1}}},
    {"heads": 2, "latent": True},
    {"heads": 2, "latent": "absorbed", "query_latent": True},
    {"source": "cross", "feature_map": "elu+1", "normaliser": "none", "scale": False},
    {"heads": 2, "score": "cosine", "tie": "query-key"},
    {"source": "bare", "heads": 2, "score": "cosine"},
    {"heads": 4, "output_projection": True, "projection_bias": True, "output_form": "sum"},
    {"score": "shaw"},
    {"score": "transformer-xl", "heads": 2},
    {"score": "additive", "mask": {"window": 1}},
    {"score": "distance", "scale": False},
)


def evaluated(spec: Spec) -> Evaluation:
    derivation = Attention(**spec).derivation()
    return derivation.evaluate(**inputs_of(spec, derivation))


def printed(evaluation: Evaluation, digits: int) -> dict[str, Any]:
    """Every matrix as it is printed, half-up, by letter."""
    found: dict[str, Any] = {}
    for name in evaluation:
        letter = evaluation[name].step.letter
        shape = evaluation.shape(letter)
        rows: Any = np.array(evaluation[name].decimals(digits), dtype=object).reshape(shape)
        found[letter] = np.full(shape, None, dtype=object)
        for place in np.ndindex(*shape):
            text = rows[place].replace("−", "-").replace("∞", "inf")
            found[letter][place] = read_written(text, "")
    return found


def marked(evaluation: Evaluation, claims: dict[str, Any]) -> Iterator[EntryMark]:
    for step in Marker(evaluation, claims, Policy()).marks():
        yield from step.entries


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_what_is_printed_is_right_and_a_wrong_number_is_not(spec: Spec) -> None:
    rng, evaluation = Random(str(spec)), evaluated(spec)
    digits = rng.choice((1, 2, 3, 4))
    claims = printed(evaluation, digits)
    assert {entry.verdict for entry in marked(evaluation, claims)} == {"right"}
    for _ in range(3):
        letter = rng.choice(sorted(claims))
        finite = [p for p in np.ndindex(*claims[letter].shape) if not claims[letter][p].hidden]
        if not finite:
            continue
        place = rng.choice(finite)
        off = rng.choice((-1, 1)) * rng.choice((5, 7, 30)) * 10.0**-digits
        text = f"{claims[letter][place].nearest + off:.{digits}f}"
        slipped = claims | {letter: claims[letter].copy()}
        slipped[letter][place] = read_written(text, "")
        entries = list(marked(evaluation, slipped))
        refused = [(e.step, e.place) for e in entries if e.verdict not in ACCEPTED]
        assert refused == [(evaluation.item(letter).name, place)], (letter, place, text)


PAIR = {"Q": [[1, 2]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}


@pytest.mark.parametrize(
    "number",
    [
        "1e400",
        "1e-400",
        "-inf",
        "-0.00",
        "1/3",
        "e^2/(e^2+2e^4)",
        "0." + "3" * 60,
        "99999999999999999999.5",
    ],
)
@pytest.mark.parametrize("step", ["Q", "K", "V", "scores", "weights", "output"])
def test_numbers_of_every_size_are_followed(step: str, number: str) -> None:
    """Nothing is raised; the odd number is not right, and what is right stays so."""
    claims: dict[str, Any] = {
        "Q": [["1", "2"]],
        "K": [["1", "0"], ["0", "1"]],
        "V": [["1"], ["2"]],
        "scores": [["1", "2"]],
        "weights": [["0.27", "0.73"]],
        "output": [["1.73"]],
    }
    claims[step][0][0] = number
    found = verdicts(check(PAIR, claims))
    assert found.pop(step)[0] in ("wrong", "carried", "last-digit")
    assert {verdict for rows in found.values() for verdict in rows} == {"right"}
