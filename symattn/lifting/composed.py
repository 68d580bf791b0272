"""Functions that are made of others, each with one meaning, whatever library calls it.

They are made of NumPy's functions, which arrays of entries record one by one. Of an array that is a
formula the name is recorded that equations have for the whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symattn.lifting import entries
from symattn.lifting.recorded import Recorded, bare
from symattn.lifting.said import Unsaid


@dataclass(frozen=True)
class Unmade:
    """What an operation would give that is not known here; it may not be needed."""

    why: str


def _by_name(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of entries that equations call by a name, where an array is a formula."""

    def of(x: Any) -> Any:
        return x.called(name, function(bare(x))) if isinstance(x, Recorded) else function(x)

    return of


#: 1/(1 + e^-x), and x times that.
sigmoid = _by_name("sigmoid", lambda x: np.divide(1.0, np.add(1.0, np.exp(np.negative(x)))))
silu = _by_name("SiLU", lambda x: np.multiply(x, sigmoid(x)))
erf = _by_name("erf", entries.erf)
_elu_and_1 = _by_name("elu1", lambda x: np.where(np.greater(x, 0.0), np.add(x, 1.0), np.exp(x)))
_gelu_of_erf = _by_name(
    "GELU", lambda x: np.multiply(x, np.add(0.5, np.multiply(0.5, erf(np.multiply(x, 0.5**0.5)))))
)


def gelu(x: Any, approximate: str = "none") -> Any:
    """Numbers times the share of a normal distribution below them, or nearly so, by tanh."""
    if approximate == "none":
        return _gelu_of_erf(x)
    inner = np.add(x, np.multiply(np.power(x, 3.0), 0.044715))
    half = np.add(np.tanh(np.multiply(inner, (2 / np.pi) ** 0.5)), 1.0)
    return np.multiply(np.multiply(x, 0.5), half)


def elu(x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    """Numbers above 0 as they are, others as α (e^x − 1), both scaled."""
    if isinstance(x, Recorded) and alpha == scale == input_scale == 1:
        return np.subtract(_elu_and_1(x), 1.0)
    low = np.multiply(np.expm1(np.multiply(x, input_scale)), alpha)
    return np.multiply(np.where(np.greater(x, 0.0), x, low), scale)


def softmax(x: Any, axis: Any = None, *_: Any) -> Any:
    """Exponentials over their sum."""
    if isinstance(x, Recorded) and axis is not None:
        return x.called("softmax", softmax(bare(x), axis), axis)
    powers = np.exp(np.subtract(x, np.max(x, axis=axis, keepdims=True)))
    return np.divide(powers, np.sum(powers, axis=axis, keepdims=True))


def log_sum_exp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of a sum of exponentials."""
    top = np.max(x, axis=axis, keepdims=True)
    out = np.add(np.log(np.sum(np.exp(np.subtract(x, top)), axis=axis, keepdims=True)), top)
    return out if keepdims else np.squeeze(out, axis=axis)


def log_softmax(x: Any, axis: Any = None, *_: Any) -> Any:
    """The logarithm of a softmax."""
    return np.subtract(x, log_sum_exp(x, axis, keepdims=True))


def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Each row less its mean and over its standard deviation; of that nothing else is known."""
    if len(shape) != 1:
        raise Unsaid("a layer norm over more than one axis")
    plain = bare(x)
    apart = np.subtract(plain, np.mean(plain, axis=-1, keepdims=True))
    spread = np.add(np.mean(np.square(apart), axis=-1, keepdims=True), eps)
    out = np.divide(apart, np.sqrt(spread))
    if isinstance(x, Recorded):
        out = x.called("LayerNorm", out, -1, eps=eps)
    out = out if weight is None else np.multiply(out, weight)
    rest = Unmade("the mean and the spread that a layer norm gives")
    return (out if bias is None else np.add(out, bias)), rest, rest


def complex(real: Any, imag: Any) -> Any:
    """Complex numbers by their parts."""
    if isinstance(real, Recorded) or isinstance(imag, Recorded):
        return np.add(real, np.multiply(1j, imag))
    return entries.complex_of(real, imag)


#: Functions of `scipy.special`, which asks its arguments what they are.
_SPECIAL: Mapping[str, Callable[..., Any]] = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": log_sum_exp,
    "expit": sigmoid,
    "erf": erf,
}


def of_special() -> dict[int, Any]:
    """What a program sees for SciPy, if it has imported that, by the ids of what it would see."""
    special = sys.modules.get("scipy.special")
    if special is None:
        return {}
    found = entries.in_place_of(special, _SPECIAL)
    return found | entries.in_place_of(sys.modules["scipy"], {"special": found[id(special)]})
