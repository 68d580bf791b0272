"""What steps cost, against multiplications that are counted while they are done."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

from symattn import variant
from symattn.cli import main
from symattn.evaluate import costs

N, M, D, W = 3, 4, 2, 5
SIZES = {"n": N, "m": M, "d_k": D, "d_v": D, "d_model": W}


class Meter:
    """Counts the multiplications and divisions of the numbers that it makes."""

    def __init__(self) -> None:
        self.count = 0

    def array(self, *shape: int) -> Any:
        """Numbers that count what is done with them, in an array of objects."""
        out = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            out[place] = Counted(self, 0.5 + sum(place))
        return out


class Counted:
    """A number whose multiplications are counted."""

    def __init__(self, meter: Meter, value: float) -> None:
        self.meter, self.value = meter, value

    def _with(self, value: float, one: int = 0) -> Counted:
        self.meter.count += one
        return Counted(self.meter, value)

    def __add__(self, other: Any) -> Counted:
        return self._with(self.value + float(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Counted:
        return self._with(self.value - float(other))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):  # whose entries are multiplied one by one
            return NotImplemented
        return self._with(self.value * float(other), 1)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counted:
        return self._with(self.value / float(other), 1)

    def __ge__(self, other: Any) -> bool:
        return self.value >= float(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= float(other)

    def __float__(self) -> float:
        return self.value

    def exp(self) -> Counted:
        """As NumPy's exponential asks for it."""
        return self._with(math.exp(min(self.value, 50)))


def _product(a: Any, b: Any) -> Any:
    """The product of two matrices from its definition; the first term begins the sum."""
    out = np.empty((len(a), b.shape[1]), dtype=object)
    for i, j in np.ndindex(*out.shape):
        out[i, j] = sum((a[i, k] * b[k, j] for k in range(1, b.shape[0])), a[i, 0] * b[0, j])
    return out


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _attention(meter: Meter) -> None:
    q, k, v = meter.array(N, D), meter.array(M, D), meter.array(M, D)
    _product(_softmax(_product(q, k.T) / math.sqrt(D)), v)


def _self(meter: Meter) -> None:
    x = meter.array(N, W)
    q, k, v = (_product(x, meter.array(W, D)) for _ in range(3))
    _product(_softmax(_product(q, k.T) / math.sqrt(D)), v)


def _online(meter: Meter) -> None:
    q, k, v = meter.array(N, D), meter.array(M, D), meter.array(M, D)
    scores = _product(q, k.T) / math.sqrt(D)
    most, total, out = np.full((N, 1), -9.0, object), np.zeros((N, 1), object), meter.array(N, D)
    for t in range(M):
        column = scores[:, t : t + 1]
        new = np.maximum(most, column)
        shrunk = np.array([[Counted(meter, 0.5)] for _ in range(N)])
        total = total * shrunk + np.exp(column - new)
        out = out * shrunk + _product(np.exp(column - new), v[t : t + 1])
        most = new
    out / total


def _linear(meter: Meter) -> None:
    q, k, v = meter.array(N, D), meter.array(N, D), meter.array(N, D)
    state, total = meter.array(D, D), meter.array(D, 1)
    for t in range(N):
        state = state + _product(k[t : t + 1].T, v[t : t + 1])
        total = total + k[t : t + 1].T
        _product(q[t : t + 1], state) / _product(q[t : t + 1], total)[0, 0]


def _mamba(meter: Meter) -> None:
    b, c, x, decay = meter.array(N, D), meter.array(N, D), meter.array(N, D), meter.array(N)
    state = meter.array(D, D)
    for t in range(N):
        state = decay[t] * state + _product(b[t : t + 1].T, x[t : t + 1])
        _product(c[t : t + 1], state)


#: By variant: the calculation as its paper says it, and how many operations follow one another.
COUNTED: Mapping[str, tuple[Callable[[Meter], None], int]] = {
    "scaled-dot-product": (_attention, 4),
    "self": (_self, 5),
    "online-softmax": (_online, 2 * M + 2),
    "linear-recurrent": (_linear, N + 1),
    "mamba-2": (_mamba, N + 1),
}


def _total(name: str) -> costs.Cost:
    return variant(name).derivation().costs[-1]


def _at_sizes(value: sympy.Expr) -> int:
    sizes = {**SIZES, "d_s": D}
    return int(value.subs({size: sizes[size.name] for size in value.free_symbols}))


@pytest.mark.parametrize("name", COUNTED)
def test_multiplications_are_those_that_are_done(name: str) -> None:
    calculation, sequence = COUNTED[name]
    meter = Meter()
    calculation(meter)
    found = _total(name)
    assert _at_sizes(found.multiplications) == meter.count
    assert _at_sizes(found.sequence) == sequence


def test_a_product_that_is_not_counted_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = costs._own
    monkeypatch.setattr(costs, "_own", lambda x: 0 if x.operation == "matmul" else own(x))
    with pytest.raises(AssertionError):
        test_multiplications_are_those_that_are_done("scaled-dot-product")


def test_quadratic_beside_linear_and_cached_beside_not() -> None:
    n, p = (sympy.Symbol(name, integer=True, positive=True) for name in "np")
    degrees = {
        name: sympy.degree(_total(name).multiplications, n)
        for name in ("retention", "retention-recurrent", "linear-chunked")
    }
    assert degrees == {"retention": 2, "retention-recurrent": 1, "linear-chunked": 0}
    one_token = _total("cached").multiplications.subs(n, 1)
    assert sympy.degree(one_token, p) == 1
    assert _total("retention").sequence == 3
    assert _total("retention-recurrent").sequence == n + 2


def test_the_command_line_shows_formulas_and_numbers() -> None:
    asked = ["derive", "retention-recurrent", "--cost"]
    shown = CliRunner().invoke(main, asked)
    assert shown.exit_code == 0
    assert "2 n d_k d_v = 24" in shown.output
    assert "n = 3" in shown.output.partition("What it costs")[2]
    data = json.loads(CliRunner().invoke(main, [*asked, "--format", "json"]).output)
    assert data["cost"]["S"]["multiplications"] == "2 n d_k d_v"
    assert data["cost"]["S"]["multiplications_number"] is None  # no numbers are given
    latex = CliRunner().invoke(main, [*asked, "--format", "latex"]).output
    assert "2 n d_{k} d_{v} = 24" in latex
    page = CliRunner().invoke(main, [*asked, "--format", "html"])
    assert "html has no table of what steps cost" in page.output + page.stderr
