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


@pytest.mark.parametrize("scores", [["1e300", "-1e300"], ["1e-300", "0"], ["700", "-800"]])
def test_given_numbers_of_every_size(scores: list[str]) -> None:
    given = {"scores": [scores], "V": [["1e200"], ["1e-200"]]}
    right = ["0.5", "0.5"] if scores[1] == "0" else ["1.0", "0.0"]
    output = "5.0e199" if scores[1] == "0" else "1.0e200"
    found = verdicts(check(given, {"weights": right, "output": output}))
    assert found == {"weights": ["right"] * 2, "output": ["right"]}
    found = verdicts(check(given, {"weights": ["0.6", "0.2"], "output": "6.0e199"}))
    assert found["weights"] == ["wrong"] * 2
    assert found["output"] == ["carried"]


def test_blanks_claim_nothing() -> None:
    found = verdicts(check(PAIR, {"weights": [["?", "0.73"]], "output": "?"}))
    assert found == {"weights": ["right"]}


def test_many_heads_and_tokens_are_followed_entry_by_entry() -> None:
    """8 heads of 16 tokens, some 6,000 numbers: one mistake, and what is made of it."""
    rng = Random(8)

    def matrix(rows: int, columns: int) -> list[list[str]]:
        return [[str(rng.randint(-2, 2) / 4) for _ in range(columns)] for _ in range(rows)]

    given: dict[str, Any] = {name: [matrix(16, 2) for _ in range(8)] for name in "QKV"}
    spec: Spec = {"source": "given", "heads": 8, "mask": "causal"}
    evaluation = Attention(**spec).derivation().evaluate(**given)
    claims = printed(evaluation, 3)
    (scores, heads) = (evaluation[name].step.letter for name in ("scores", "heads"))
    number = claims[scores][3, 5, 2].nearest
    claims[scores][3, 5, 2] = read_written(f"{number + 2:.3f}", "")
    bad = [entry for entry in marked(evaluation, claims) if entry.verdict != "right"]
    assert [(e.step, e.place, e.verdict) for e in bad] == [("scores", (3, 5, 2), "wrong")]
    assert heads in claims
