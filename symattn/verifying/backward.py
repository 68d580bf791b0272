"""The backward pass of a function: where it starts, and its gradients as the derivation has them.

A function is differentiated by its own library (`symattn.verifying.calling`); what comes out is
held against `Derivation.gradient`. Source: Dao, Fu, Ermon, Rudra, Ré, *FlashAttention* (2022),
appendix B.2, has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from symattn.arithmetic.base import Array
from symattn.claims.computed import Computed
from symattn.derivations import Evaluation
from symattn.errors import SymattnError
from symattn.notation.letters import GRADIENT, prefixed
from symattn.verifying.calling import Answer, Call, Upstream
from symattn.verifying.inputs import Property, drawn_for
from symattn.verifying.subject import Layout, Subject, laid_out

#: Libraries that differentiate.
DIFFERENTIATING = ("torch", "jax")

#: By how much a number is moved for a difference, in float64 and in other dtypes; and how far the
#: quotient of two such differences may be off, as a part of the largest number.
_MOVED = {"float64": 2.0**-17, "": 2.0**-6}
_DOUBT = {"float64": 1e-6, "": 0.05}


@dataclass(frozen=True)
class Start:
    """Where a backward pass starts: at a part of what is returned, which is a step.

    `places` says where each number of the step stands in that part.
    """

    part: int
    step: str
    places: Array
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its gradient, which is given."""
        return prefixed(GRADIENT, self.step)

    def numbers(self, item: Property, evaluation: Evaluation) -> Array:
        """A gradient of the step to start with, the same one whenever it is asked for.

        Where the calculations of a batch share a matrix it is 0 but for the last of them, so that
        the sum of their gradients is that of the last one.
        """
        drawn = drawn_for(item, self.places.shape)
        batch = evaluation.batch
        if all(evaluation.given[x.letter].shape[: len(batch)] == batch for x in evaluation.inputs):
            return drawn
        last = np.zeros(drawn.shape)
        last[(-1,) * len(batch)] = drawn[(-1,) * len(batch)]
        return last

    def call(self, call: Call, gradient: Array, wrt: tuple[str, ...]) -> Call:
        """The same call, with a backward pass from this gradient."""
        laid = np.zeros(self.places.size)
        laid[self.places.ravel()] = gradient.ravel()
        return replace(call, upstream=Upstream(self.part, laid.reshape(self.shape), wrt))


def start_of(subject: Subject, answer: Answer, evaluation: Evaluation, layout: Layout) -> Start:
    """The last step among what is returned. Raises `SymattnError` where there is none."""
    order = [*evaluation]
    found: list[Start] = []
    for part, name, array in subject.named(answer, evaluation, layout):
        shape = array.numbers.shape
        places = np.arange(prod(shape)).reshape(shape)
        step, moved = subject.step_of(name, places, evaluation, layout)
        found.append(Start(part, step, np.asarray(moved), shape))
    return max(found, key=lambda start: order.index(start.step))


def gradients_of(
    answer: Answer, evaluation: Evaluation, call: Call, layout: Layout, dtype: Computed
) -> dict[str, Computed]:
    """The gradients of an answer by letter, laid out as the derivation has them; 0 for None.

    `evaluation` is that of the gradients. Of what the calculations of a batch share, the sum of
    their gradients stands in the last one's place: see `Start.numbers`.
    """
    found: dict[str, Computed] = {}
    for each in call.given:
        if each.matrix not in answer.gradients:
            continue
        item = evaluation.item(evaluation[each.matrix].step.letter)
        shape = evaluation.given[item.letter].shape
        places = laid_out(item, np.arange(prod(shape)).reshape(shape), layout)
        own, array = np.zeros(shape), answer.gradients[each.matrix]
        if array is not None:
            if array.numbers.shape != places.shape:
                raise SymattnError(f"the gradient by {each.matrix} has another shape than it")
            own.flat[places.ravel()] = array.numbers.ravel()
        gradient = evaluation[prefixed(GRADIENT, each.matrix)]
        whole = np.zeros(gradient.shape)
        whole[(-1,) * (whole.ndim - own.ndim)] = own
        found[gradient.step.letter] = Computed(whole.astype(dtype.numbers.dtype), dtype.digits)
    return found


def difference(
    loss: Callable[[Mapping[str, Array]], float],
    numbers: Mapping[str, Array],
    direction: Mapping[str, Array],
    dtype: str,
) -> float:
    """(L(x + h δ) − L(x − h δ)) / 2h of the function itself, along δ."""
    step = _MOVED.get(dtype, _MOVED[""])
    above, below = (
        loss(
            {x: a + sign * step * direction[x] if x in direction else a for x, a in numbers.items()}
        )
        for sign in (1, -1)
    )
    return (above - below) / (2 * step)


def doubt(dtype: str, *sizes: float) -> float:
    """How far a quotient of differences may be off, beside numbers of these sizes."""
    return _DOUBT.get(dtype, _DOUBT[""]) * max(1.0, *map(abs, sizes))
