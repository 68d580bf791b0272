"""From a plan to a derivation: which steps attention takes, in which order.

Source: Vaswani et al. 2017, sections 3.2.1 to 3.2.3; each other choice names its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from symattn.attention.builder import Builder
from symattn.attention.outputs import OUTPUT_LINES
from symattn.attention.plan import Plan
from symattn.attention.scoring import weights
from symattn.attention.sources import SOURCE_LINES
from symattn.attention.vocabulary import WORDS
from symattn.attention.words import SIZES
from symattn.derivations import Derivation


def build(
    plan: Plan,
    sizes: Mapping[sympy.Symbol, int],
    labels: Mapping[sympy.Expr, tuple[str, ...]],
    title: str,
) -> Derivation:
    """The whole derivation of a plan, with symbolic sizes."""
    builder = Builder(plan, WORDS)
    builder.take(SOURCE_LINES)
    weights(builder)
    builder.take(OUTPUT_LINES)
    return Derivation(
        tuple(builder.inputs), tuple(builder.steps), sizes, labels, title, order=SIZES
    )
