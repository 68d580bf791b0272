"""Arrays that a program computed: the numbers of any library, in the precision that they have."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from symattn.arithmetic.base import Array
from symattn.arithmetic.reading import is_array, plain_array
from symattn.derivations import Evaluation
from symattn.errors import ReadError, nearest, quote

#: Dtypes that NumPy lacks, by name, and their significant binary digits.
DIGITS = {"bfloat16": 8}


@dataclass(frozen=True)
class Computed:
    """An array of float64, float32 or float16.

    `digits` are its significant binary digits where NumPy has no such dtype: bfloat16 is held in
    float32. `where` begins what is said of it: the file that it was read from.
    """

    numbers: Array
    digits: int | None = None
    where: str = ""

    def shortened(self, dtype: DTypeLike, digits: int | None = None) -> Computed:
        """The same numbers in a dtype of fewer digits, where those beyond its range are ∞."""
        with np.errstate(over="ignore"):
            return replace(self, numbers=self.numbers.astype(dtype), digits=digits)

    @property
    def dtype(self) -> str:
        """The name of the dtype that it was computed in."""
        return next((n for n, d in DIGITS.items() if d == self.digits), self.numbers.dtype.name)

    @property
    def rounding(self) -> float:
        """The unit roundoff of its dtype, 2^-53 of float64."""
        if self.digits is not None:
            return float(2.0**-self.digits)
        return float(np.finfo(self.numbers.dtype).eps) / 2


def computed(value: Any, name: str) -> Computed:
    """An array, or a tensor, of any library and dtype; nested lists of numbers too.

    Whole numbers and truth values are read as float64, longer floats are rounded to it. Raises
    `ReadError` for what holds no real numbers, or does not give them away.
    """
    if isinstance(value, Computed):
        return value
    if hasattr(value, "detach") and hasattr(value, "cpu"):  # a tensor of PyTorch
        value = value.detach().cpu()
    kind = str(getattr(value, "dtype", "")).rpartition(".")[2]
    if kind in DIGITS:
        held = value.float() if hasattr(value, "float") else np.asarray(value, dtype=np.float32)
        return Computed(np.asarray(held), DIGITS[kind])
    if not is_array(value):
        try:
            value = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ReadError(f"{name}: {quote(value)} is not an array of numbers") from None
    array = plain_array(value, name)
    if array.dtype.kind in "OU":
        raise ReadError(f"{name}: an array of {array.dtype} is not one of numbers; give floats")
    kept = array.dtype.name in ("float64", "float32", "float16")
    return Computed(array if kept else array.astype(np.float64))


def computed_steps(arrays: Mapping[str, object], evaluation: Evaluation) -> dict[str, Computed]:
    """Arrays by the letters of their steps, each in the shape of its step.

    A mask may be given by truths, as programs return it: true where a query may attend.
    Raises `ReadError` for what is no step of this attention, and for another shape.
    """
    found: dict[str, Computed] = {}
    for name, value in arrays.items():
        if name not in evaluation:
            hint = nearest(name, tuple(evaluation))
            lead = f"{value.where}: " if isinstance(value, Computed) and value.where else ""
            raise ReadError(f"{lead}{quote(name)} is no step of this attention{hint}")
        array, item = computed(value, name), evaluation[name]
        if item.step.letter in found:
            raise ReadError(f"{name}: is given twice, by its name and by its letter; keep one")
        numbers = array.numbers
        if (
            item.step.fixed
            and item.step.logits
            and str(getattr(value, "dtype", "")).endswith("bool")
        ):
            numbers = np.where(numbers == 1, 0.0, -np.inf)  # true where a query may attend
        if _without_ones(numbers.shape) != _without_ones(item.shape):
            shapes = (
                " × ".join(map(str, shape)) or "one number" for shape in (numbers.shape, item.shape)
            )
            raise ReadError("{}: is {}, where {} are needed".format(array.where or name, *shapes))
        found[item.step.letter] = replace(array, numbers=numbers.reshape(item.shape))
    return found


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without leading axes of length 1, such as a batch of one."""
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    return shape


def in_order(evaluation: Evaluation, arrays: Container[str]) -> Iterator[str]:
    """The letters of the arrays, in the order of the derivation."""
    letters = (evaluation[name].step.letter for name in evaluation)
    return (letter for letter in letters if letter in arrays)
