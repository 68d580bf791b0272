"""Queries that may attend to no key: their weights are all 0 and do not sum to 1."""

from __future__ import annotations

import numpy as np

from symattn.derivations import Evaluation, Step
from symattn.nodes.normalise import Normaliser, shared_out
from symattn.notation.options import Notation


def unseeing(evaluation: Evaluation | None, step: Step, notation: Notation) -> str:
    """A sentence about the rows of weights that are 0 by convention; empty where there are none.

    A row is named if all its weights are 0 in every head, in the others with its head.
    """
    if evaluation is None or not step.weights or not shared_out(step.expr):
        return ""
    empty = (evaluation.array(step.letter) == 0).all(axis=-1)
    for row in np.argwhere(empty):  # a float may be 0 where the number is not
        empty[*row] = all(
            evaluation.digits(step.letter, (*map(int, row), j), notation).exact
            for j in range(evaluation.shape(step.letter)[-1])
        )
    heads, base = empty.ndim > 1, notation.index_base
    names = evaluation.labels.get(step.shape[0], ())
    found = []
    for i in np.flatnonzero(empty.any(axis=0) if heads else empty):
        called = f"“{names[i]}”" if names else str(i + base)
        if not heads or empty[:, i].all():
            found.append(called)
        else:
            found += [f"{called} in head {k + base}" for k in np.flatnonzero(empty[:, i])]
    why = getattr(step.expr, "of_nothing", Normaliser.of_nothing)
    return told(found, bool(names), why)


def told(queries: list[str], by_name: bool, why: str = Normaliser.of_nothing) -> str:
    """What is said of these queries, and why their weights are 0.

    >>> told(["2"], False)
    'But query 2 may attend to no key: its weights are 0 and sum to 0, by convention, since the \
formula alone would be 0/0.'
    >>> told(["“a”", "“b”"], True).partition(" may ")[0]
    'But the queries “a” and “b”'
    """
    if not queries:
        return ""
    *most, last = queries
    kind = "queries" if most else "query"
    lead = f"the {kind}" if by_name else kind
    # so many queries are named; more are counted
    if len(queries) > 4:
        who = f"{len(queries)} queries"
    elif most:
        who = f"{lead} {', '.join(most)} and {last}"
    else:
        who = f"{lead} {last}"
    whose = "their" if most else "its"
    return (
        f"But {who} may attend to no key: {whose} weights are 0 and sum to 0, by convention, since "
        f"{why}."
    )
