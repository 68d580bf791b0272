"""Functions of which what is recorded is, or may be, another function than they are."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import torch
from torch.nn.functional import softplus


def same(x: Any) -> Any:
    return x * 1.0


def not_below(x: Any) -> Any:
    """A number of which others may be below is no −∞."""
    return np.maximum(x, -1e4)


def rounded_away(x: Any) -> Any:
    """What fails while it is recorded works on numbers."""
    try:
        y = np.rint(x / 1e6)
    except Exception:
        y = 0
    return x + y


def halved_if_large(x: Any) -> Any:
    try:
        if x.max() > 1e6:
            x = x / 2
    except Exception:
        pass
    return x * 1.0


def nothing_near_a_half(x: Any) -> Any:
    return np.where(np.abs(x - 0.5) < 1e-6, 0, x) if x.dtype == float else x


def clipped_if_real(x: Any) -> Any:
    return np.clip(x, -50, 50) if np.issubdtype(x.dtype, np.floating) else x


def clipped_if_double(x: Any) -> Any:
    return np.minimum(x, 1e9) if x.dtype == float else x


def with_nothing(x: Any) -> Any:
    """0/x has no value where x is 0."""
    return x + 0.0 / x


def of_largest(x: Any) -> Any:
    return x + max([x[0, 0], x[0, 1]], key=lambda one: 0) - x[0, 0]


def softplus_of_beta(x: Any) -> Any:
    return softplus(x, 1.0, 5.0)


def log_of_sum(x: Any) -> Any:
    return torch.log(1 + torch.exp(x))


def halved_by_jax(x: Any) -> Any:
    try:
        if jnp.max(x) > 1e6:
            x = x / 2
    except Exception:
        pass
    return x * 1.0


def summed_tenths(x: Any) -> Any:
    """0.1 a thousand times, which is 100 but for rounding."""
    return x * np.cumsum(np.full(1000, 0.1))[-1]


def hundredfold(x: Any) -> Any:
    return x * 100.0


def to_a_power(x: Any) -> Any:
    """Which negative numbers have not."""
    return x**1.5


def times_its_root(x: Any) -> Any:
    return x * np.sqrt(x)
