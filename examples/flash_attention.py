"""Attention over one block of keys after the other, as FlashAttention computes it.

No row of scores is ever kept whole: the sum and the output so far are scaled down whenever a larger
score comes (Dao et al. 2022, algorithm 1). `symattn prove` proves it to be attention.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np


def flash(Q, K, V, block=2):
    """Give softmax attention, block by block of keys."""
    largest, total, output = -np.inf, 0, 0
    for start in range(0, len(K), block):
        scores = Q @ K[start : start + block].T / np.sqrt(K.shape[1])
        before, largest = largest, np.maximum(largest, scores.max(axis=1, keepdims=True))
        e, shrink = np.exp(scores - largest), np.exp(before - largest)
        total = shrink * total + e.sum(axis=1, keepdims=True)
        output = shrink * output + e @ V[start : start + block]
    return output / total
