"""The backward pass of a function: where it starts, and its gradients as the derivation has them.

A function is differentiated by its own library (`symattn.verifying.calling`); what comes out is
held against `Derivation.gradient`. Source: Dao, Fu, Ermon, Rudra, Ré, *FlashAttention* (2022),
appendix B.2, has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np

from symattn.arithmetic.base import Array
from symattn.claims.computed import Computed
from symattn.derivations import Derivation, Evaluation
from symattn.errors import SymattnError
from symattn.marking.computed import ComputedMarker
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

    def call(self, call: Call, upstream: Array, given: Sequence[str], gradient: Derivation) -> Call:
        """The same call, with a backward pass from here to what is given."""
        laid = np.zeros(self.places.size)
        laid[self.places.ravel()] = upstream.ravel()
        wrt = tuple(name for name in given if prefixed(GRADIENT, name) in gradient)
        return replace(call, upstream=Upstream(self.part, laid.reshape(self.shape), wrt))


def start_of(subject: Subject, answer: Answer, evaluation: Evaluation) -> Start:
    """The last step among what is returned. Raises `SymattnError` where there is none."""
    order = [*evaluation]
    found: list[Start] = []
    for part, name, array in subject.named(answer, evaluation):
        shape = array.numbers.shape
        places = np.arange(prod(shape)).reshape(shape)
        step, moved = subject.step_of(name, places, evaluation)
        found.append(Start(part, step, np.asarray(moved), shape))
    return max(found, key=lambda start: order.index(start.step))


@lru_cache(maxsize=32)
def gradient_from(derivation: Derivation, step: str) -> Derivation:
    """The derivation with its gradients, from a step on."""
    return derivation.gradient(of=step)


def gradients_of(
    answer: Answer, evaluation: Evaluation, call: Call, layout: Layout, dtype: Computed
) -> dict[str, Computed]:
    """The gradients of an answer by letter, laid out as the derivation has them; 0 for None.

    `evaluation` is that of the gradients. Of what the calculations of a batch share, the sum of
    their gradients stands in the last one's place: see `Start.numbers`.
    """
    found: dict[str, Computed] = {}
    for each in call.given:
        if call.upstream is None or each.matrix not in call.upstream.wrt:
            continue
        item = evaluation.item(evaluation[each.matrix].step.letter)
        shape = evaluation.given[item.letter].shape
        places = laid_out(item, np.arange(prod(shape)).reshape(shape), layout)
        own, array = np.zeros(shape), answer.gradients.get(each.matrix)
        if array is not None:
            if array.numbers.shape != places.shape:
                raise SymattnError(f"the gradient by {each.matrix} has another shape than it")
            own.flat[places.ravel()] = array.numbers.ravel()
        gradient = evaluation[prefixed(GRADIENT, each.matrix)]
        whole = np.zeros(gradient.shape)
        whole[(-1,) * (whole.ndim - own.ndim)] = own
        found[gradient.step.letter] = Computed(whole.astype(dtype.numbers.dtype), dtype.digits)
    return found


@dataclass(frozen=True)
class Differences:
    """Quotients of differences of a loss by the function itself, at these numbers."""

    loss: Callable[[Mapping[str, Array]], float]
    numbers: Mapping[str, Array]
    dtype: str

    def along(self, name: str, direction: Array) -> float | None:
        """(L(x + h δ) − L(x − h δ)) / 2h along a change δ of one matrix; None where it has none."""
        step = _MOVED.get(self.dtype, _MOVED[""])
        own = self.numbers[name]
        try:
            above, below = (
                self.loss({**self.numbers, name: own + sign * step * direction}) for sign in (1, -1)
            )
        except SymattnError:
            return None
        quotient = (above - below) / (2 * step)
        return quotient if np.isfinite(quotient) else None

    def doubt(self, size: float) -> float:
        """How far a quotient may be off, beside numbers of this size."""
        return _DOUBT.get(self.dtype, _DOUBT[""]) * max(1.0, abs(size))

    def on_worst(self, marker: ComputedMarker) -> str | None:
        """What they say of the worst number of some gradients.

        None where they say that it is the derivative: where there is a kink, say.
        """
        worst = list[tuple[float, str, tuple[int, ...]]]()
        for letter, one in marker.compared.items():
            true = marker.evaluation.array(letter)
            off = np.where(one.right, 0, np.abs(one.array.numbers - true))
            off = np.nan_to_num(off, nan=np.inf)
            at = np.unravel_index(int(off.argmax()), off.shape)
            worst.append((float(off[at]), letter, tuple(map(int, at))))
        _, letter, place = max(worst)
        own = float(marker.arrays[letter].numbers[place])
        ours = float(marker.evaluation.array(letter)[place])
        name = self._names(marker.evaluation)[letter]
        direction = np.zeros(self.numbers[name].shape)
        direction[place[len(place) - direction.ndim :]] = 1
        quotient = self.along(name, direction)
        if quotient is None:
            return ""
        off_own, off_ours = abs(quotient - own), abs(quotient - ours)
        if off_own < off_ours / 2 and off_ours > self.doubt(quotient):
            return None
        if not off_ours < off_own / 2:
            return ""
        where = f"{marker.evaluation[letter].name}[{','.join(str(k + 1) for k in place)}]"
        differ = "where differences of the function itself give"
        return f"{where} is {own:.4g}, {differ} {quotient:.4g}"

    def against(self, marker: ComputedMarker) -> str:
        """What they say along ±1 everywhere against some gradients; "" where they agree."""
        for letter, array in marker.arrays.items():
            name = self._names(marker.evaluation)[letter]
            given = self.numbers[name]
            signs = np.where(np.arange(given.size).reshape(given.shape) % 3, 1.0, -1.0)
            quotient = self.along(name, signs)
            terms = array.numbers.astype(float) * signs
            own, size = float(terms.sum()), float(np.abs(terms).sum())
            if quotient is not None and abs(quotient - own) > self.doubt(size):
                return (
                    f"along a change of {name} its gradient gives {own:.4g}, differences of the "
                    f"function itself give {quotient:.4g}"
                )
        return ""

    def _names(self, evaluation: Evaluation) -> dict[str, str]:
        """What each gradient is by, by its letter."""
        gradients = ((name, prefixed(GRADIENT, name)) for name in self.numbers)
        return {evaluation[d].step.letter: name for name, d in gradients if d in evaluation}
