"""`Call`: one attention that a model computed, with the derivation of what it should have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import BITS
from symattn.attention.spec import Attention
from symattn.capturing.flow import Missed
from symattn.derivations import Derivation, Evaluation, StepCheck
from symattn.documents.job import document
from symattn.errors import SymattnError
from symattn.evaluate.check import compare
from symattn.sheets.writing import worksheet_text
from symattn.status import Status, worst
from symattn.writing import Destination


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
        summary = "; ".join(filter(None, (", ".join(self.derivation().names), batches, self.note)))
        return f"<Call of {self.name}: {summary}>"

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
        """The model's own result compared with the true one, as `Evaluation.check` does NumPy's."""
        evaluation = self.evaluate(batch)
        name = self._last
        letter = evaluation[name].step.letter
        output = self._one("output", self.output, batch)
        allowed = evaluation.rounded(letter, self.digits)
        found = compare(name, output, evaluation.balls(letter, BITS[1]), allowed)
        if self.digits is None:
            return found
        finer = np.finfo(output.dtype).nmant + 1 - self.digits
        return replace(found, ulps=found.ulps / 2.0**finer)

    @property
    def _last(self) -> str:
        """The step that equals the output; ``concat`` is the business of whoever called."""
        return [name for name in self.derivation().names if name != "concat"][-1]

    def document(self, form: str = "text", batch: int = 0, **how: Any) -> str | bytes:
        """One batch as a document, with how the model did at the end; see `symattn.document`."""
        notes = (*filter(None, (self._start,)), self._verdict(self.check(batch)))
        return document(self.evaluate(batch), form, title=self.name, notes=notes, **how)

    @property
    def _start(self) -> str:
        return f"The derivation starts {self.note}." if self.note else ""

    def _verdict(self, found: StepCheck) -> str:
        if found.agrees:
            return (
                f"The model's own output agrees with the true one ({found.ulps:.2g} ulps at most)."
            )
        if found.overflowed:
            return f"The model's own output overflows its dtype at {found.entry()}."
        place = ",".join(str(index + 1) for index in found.worst)
        return f"The model's own output is off by {found.error:.2g} at {self._last}[{place}]."

    def save(self, path: str | Path, batch: int = 0) -> Path:
        """One batch as a worksheet, its numbers in an ``.npz`` beside it; the path of the first.

        What a worksheet can become (``symattn derive layer.toml --format pdf``), this can. Raises
        `SymattnError` if the file is not to end in ``.toml``, or one of both cannot be written.
        """
        path = Path(path)
        if path.suffix != ".toml":
            raise SymattnError(f"{path}: has to be a worksheet; give it a name that ends in .toml")
        given = {name: self._one(name, array, batch) for name, array in self.given.items()}
        numbers = path.with_suffix(".npz")
        worksheet, beside = Destination.of(path), Destination.of(numbers)
        worksheet.refuse_inputs([numbers])  # by a link
        archive = BytesIO()
        np.savez_compressed(archive, **given)  # type: ignore[arg-type]  # of arrays by name
        text = worksheet_text(
            _choices(self.spec),
            {name: f"{numbers.name}:{name}" for name in given},
            title=self.name,
            comments={"title": self._start},
        )
        beside.write(archive.getvalue())
        worksheet.write(text)
        return path


def _choices(spec: Attention) -> dict[str, object]:
    """The choices that are not the usual ones, as a worksheet has them."""
    usual = vars(Attention())
    chosen = {axis: value for axis, value in vars(spec).items() if value != usual[axis]}
    if "mask" in chosen:
        chosen["mask"] = [name if value is True else {name: value} for name, value in spec.mask]
    if "scale" in chosen:
        chosen["scale"] = False if spec.scale is None else str(spec.scale)
    return chosen


class Captured(list[Call]):
    """The attentions that ran in a block, in their order, and what may be another one."""

    missed: tuple[Missed, ...] = ()

    @property
    def status(self) -> Status:
        """What is known of all, as an exit status: 1, 4 or 0.

        1 if a result of the model, in any batch, is not the true one; else 4 if an attention may
        have been missed; else 0.
        """
        checked = (call.check(batch).agrees for call in self for batch in range(call.batches))
        return worst(
            [
                Status.AGREES if all(checked) else Status.WRONG,
                Status.UNSETTLED if self.missed else Status.AGREES,
            ]
        )

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self), *(f"<may be missed: {one}>" for one in self.missed)])
