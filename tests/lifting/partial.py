"""Functions that are attention wherever they are defined, and one that is so at one size alone."""

# mypy: ignore-errors

import numpy as np

from tests.lifting.attentions import softmax


def by_a_logarithm(Q, K, V):
    scores = np.exp(np.log(Q @ K.T / np.sqrt(Q.shape[1]) + 100.0)) - 100.0
    return softmax(scores) @ V


def by_a_quotient(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V * (V.sum() / V.sum())


def by_a_root(Q, K, V):
    return softmax(np.sqrt(Q @ K.T) ** 2 / np.sqrt(Q.shape[1])) @ V


def halved(Q, K, V):
    return softmax(Q @ K.T / 2.0) @ V


def cut(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ ((V * 2.0**30).astype(np.int64) / 2.0**30)
