"""Sentences of a derivation: what they claim, and the formulas in them."""

from __future__ import annotations

import re

import pytest

from symattn import Attention, Notation
from symattn.attention.example import small_example
from symattn.attention.variants import variant
from symattn.documents.job import Job, document_of
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.notation.latex import latex
from symattn.notation.prose import read_prose
from symattn.notation.text import line

VARIANCE = "gives the scores variance 1"


@pytest.mark.parametrize(
    ("sentence", "text", "tex"),
    [
        ("{−n_clip}", "−n_clip", r"-n_{\mathrm{clip}}"),
        ("{√d_k}", "√d_k", r"\sqrt{d_{k}}"),
        ("{√(d_k + d_r)}", "√(d_k + d_r)", r"\sqrt{d_{k} + d_{r}}"),
        ("{−∞}", "−∞", r"-\infty"),
    ],
)
def test_mathematics_in_a_sentence(sentence: str, text: str, tex: str) -> None:
    (tree,) = read_prose(sentence)
    assert not isinstance(tree, str)
    assert line(tree) == text
    assert latex(tree) == tex


@pytest.mark.parametrize(
    ("spec", "claimed"),
    [
        (Attention(), True),
        (variant("deepseek").spec, True),
        (Attention(score="general"), False),
        (Attention(source="self", heads="h", score="shaw"), False),
        (Attention(feature_map="exp"), False),
        (Attention(scale=2), False),
    ],
)
def test_the_scale_claims_a_variance_of_dot_products_alone(spec: Attention, claimed: bool) -> None:
    reason = spec.derivation()["scaled"].reason
    assert (VARIANCE in reason) is claimed
    assert reason.startswith("If the entries of queries and keys are independent") is claimed


def test_the_shape_of_one_head_is_that_of_its_matrix() -> None:
    derivation, values = small_example(variant("grouped-query").spec, title="", tokens=3, heads=4)
    for head in (None, 2):
        shown = outline(Shown(derivation, values, notation=Notation(head=head)))
        sizes = [line(part) for part in shown.steps[0].shape if not isinstance(part, str)]
        words = [part for part in shown.steps[0].shape if isinstance(part, str)]
        assert sizes == ["3 × 2"]
        assert words == ([] if head is not None else ["4 heads, each "])


@pytest.mark.parametrize("form", ["text", "md", "latex", "mathml"])
def test_what_is_given_is_shown_with_its_numbers_whatever_the_views(form: str) -> None:
    """A sheet to be filled in has the task's numbers, and none of the results."""
    derivation = Attention().derivation()
    values = derivation.evaluate(Q=[[17, 1]], K=[[1, 23], [2, 0]], V=[[29], [5]])
    job = Job(derivation, values, Notation(), views=("formula", "entry"))
    shown = re.sub(r"<[^>]*>", " ", str(document_of(form, [job])))
    assert all(number in shown for number in ("17", "23", "29"))
    assert "40" not in shown  # the score 17 + 23
    alone = Job(derivation, values, Notation(), views=("formula",))
    assert "17" not in str(document_of(form, [alone]))
