"""`Call`: one attention that a model computed, with the derivation of what it should have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from symattn.arithmetic.balls import BITS
from symattn.arithmetic.base import Array
from symattn.attention.spec import Attention
from symattn.derivation import Derivation, Evaluation, StepCheck
from symattn.errors import SymattnError
from symattn.evaluate.check import compare


@dataclass(frozen=True, repr=False)
class Call:
    """One attention that a model computed: where, which, with which numbers, and its result."""

    name: str
    spec: Attention
    given: dict[str, Array]
    output: Array
    #: How many axes stand behind the batches of each matrix, and of the output.
    axes: dict[str, int] = field(default_factory=dict)
    #: Significant binary digits of the model's numbers where NumPy has no such dtype.
    digits: int | None = None
    #: Why the derivation starts later than the module does, where it has to.
    note: str = ""

    @property
    def batches(self) -> int:
        """How many calculations were done at once."""
        return int(np.prod(self._lead, dtype=int))

    @property
    def _lead(self) -> tuple[int, ...]:
        return self.output.shape[: self.output.ndim - self.axes["output"]]

    def __repr__(self) -> str:
        batches = "1 batch" if self.batches == 1 else f"{self.batches} batches"
        told = "; ".join(filter(None, (", ".join(self.derivation().names), batches, self.note)))
        return f"<Call of {self.name}: {told}>"

    def derivation(self) -> Derivation:
        """The steps of this attention."""
        return self.spec.derivation(list(self.given), title=self.name)

    def evaluate(self, batch: int = 0) -> Evaluation:
        """The derivation with the captured numbers of one batch."""
        given = {name: self._one(name, array, batch) for name, array in self.given.items()}
        return self.derivation().evaluate(dtype=self.output.dtype, **given)

    def _one(self, name: str, array: Array, batch: int) -> Array:
        """One batch of a matrix; weights of a module are the same for all."""
        if not 0 <= batch < self.batches:
            raise SymattnError(f"{self.name}: there is no batch {batch}; it has {self.batches}")
        own = array.shape[array.ndim - self.axes.get(name, array.ndim) :]
        if own == array.shape:
            return array
        whole = np.broadcast_to(array, (*self._lead, *own))
        return np.asarray(whole.reshape(self.batches, *own)[batch])

    def check(self, batch: int = 0) -> StepCheck:
        """The model's own result held against the true one, as `Evaluation.check` does NumPy's."""
        evaluation = self.evaluate(batch)
        steps = [step for step in evaluation.steps if step.name != "concat"]
        name, letter = steps[-1].name, steps[-1].letter
        output = self._one("output", self.output, batch)
        allowed = evaluation.rounded(letter, self.digits)
        found = compare(name, output, evaluation.balls(letter, BITS[1]), allowed)
        if self.digits is None:
            return found
        finer = np.finfo(output.dtype).nmant + 1 - self.digits
        return replace(found, ulps=found.ulps / 2.0**finer)
