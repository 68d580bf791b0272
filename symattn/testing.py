"""For tests of code: `assert_attention` holds your own function against a derivation.

`Assignment` grades students' functions on Gradescope, Otter-Grader and nbgrader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symattn.attention.spec import Attention
from symattn.attention.variants import variant
from symattn.errors import SymattnError, quote
from symattn.verifying.assignments import Assignment, Graded
from symattn.verifying.calling import here
from symattn.verifying.own import meant
from symattn.verifying.report import Verification
from symattn.verifying.subject import Wanted
from symattn.verifying.verification import verify

__all__ = ["Assignment", "Graded", "Verification", "assert_attention", "verify_attention"]


def verify_attention(
    function: Callable[..., Any],
    spec: Attention | str = "scaled-dot-product",
    *,
    mapped: Mapping[str, str] | None = None,
    library: str = "",
    returns: Sequence[str] = (),
    skip: Sequence[str] = (),
) -> Verification:
    """Hold a function against the derivation of an attention.

    `spec` is an `Attention`, or the name of a variant. The function takes matrices as arrays of
    NumPy, PyTorch or JAX, or as nested lists (`library`; without it, what its code names is
    tried). Its arguments are matched by name (``q``, ``query``, ``W_Q``, ``hidden_states``, …), or
    as `mapped` says: ``{"Q": "left"}``. It returns the output; a tuple (output, weights), or the
    steps that `returns` names; or a table of steps.

    What is tried: other sizes, one token, rows without keys, large and tiny numbers, batches,
    arrays that are views, float32 and float16; of a function of PyTorch or JAX its gradients too
    (else `forward_only` says why not); without the properties in `skip`. The verification
    is true if every number lies within the tolerance that is proven for its dtype, on every input
    that was tried, which proves nothing of others. Otherwise it has `failed`, the first property
    that does not hold, the smallest `input` found that shows it, `explanations`, the misconceptions
    that compute the same numbers, and `kind`: ``inaccurate`` where only rounding is worse than it
    need be. It prints as a report.

    Raises `SymattnError` for a function that cannot be called with the matrices of this attention.

    >>> import numpy as np
    >>> def attention(q, k, v):
    ...     scores = q @ k.T / k.shape[1]
    ...     weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    ...     return weights / weights.sum(axis=1, keepdims=True) @ v
    >>> found = verify_attention(attention)
    >>> found.agrees, found.failed, found.explanations[0].name
    (False, 'ordinary', 'scaled-by-d_k')
    >>> {name: matrix.tolist() for name, matrix in found.input.items()}["Q"]
    [[0.0, 1.0]]
    """
    if isinstance(spec, str):
        named, wanted = f"{spec} attention", meant(variant(spec).said)
    elif isinstance(spec, Attention):
        named, wanted = "this attention", spec
    else:
        raise SymattnError(f"spec = {quote(spec)}: give an Attention, or the name of a variant")
    return verify(here(function), Wanted(wanted, mapped or {}, library, returns, skip, named))


def assert_attention(
    function: Callable[..., Any],
    spec: Attention | str = "scaled-dot-product",
    *,
    mapped: Mapping[str, str] | None = None,
    library: str = "",
    returns: Sequence[str] = (),
    skip: Sequence[str] = (),
) -> None:
    """Raise an `AssertionError` with the report of `verify_attention`, unless it agrees.

    >>> import numpy as np
    >>> def attention(q, k, v):
    ...     scores = q @ k.T / np.sqrt(k.shape[1])
    ...     weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    ...     return weights / weights.sum(axis=1, keepdims=True) @ v
    >>> assert_attention(attention, "scaled-dot-product")
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    found = verify_attention(
        function, spec, mapped=mapped, library=library, returns=returns, skip=skip
    )
    if not found.agrees:
        raise AssertionError(str(found))
