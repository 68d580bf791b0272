"""Functions of NumPy whose equations are read off, written as users write them."""

# mypy: ignore-errors

import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attention(Q, K, V):
    d_k = Q.shape[-1]
    scores = Q @ K.T / np.sqrt(d_k)
    weights = softmax(scores)
    return weights @ V


def causal(q, k, v):
    scores = np.einsum("id,jd->ij", q, k) * q.shape[1] ** -0.5
    hidden = np.triu(np.ones(scores.shape, dtype=bool), k=1)
    scores = np.where(hidden, -1e9, scores)
    scores -= scores.max(axis=1)[:, None]
    w = np.exp(scores)
    w /= w.sum(axis=1, keepdims=True)
    return w @ v


def linear(Q, K, V):
    fq, fk = np.maximum(Q, 0) + 1, np.maximum(K, 0) + 1
    kv = fk.T @ V
    z = fq @ fk.sum(axis=0)
    return fq @ kv / z[:, None]


def projected(X, Wq, Wk, Wv):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    A = np.exp(Q @ K.T / np.sqrt(Wq.shape[1]))
    A = A / A.sum(-1, keepdims=True)
    return A @ V, A


def branching(Q, K, V):
    s = Q @ K.T
    if s.max() > 3:
        s = s / 2
    return s @ V


def branching_on_sizes(Q, K, V):
    s = Q @ K.T
    if s.shape[0] > 10:
        s = s / 2
    return s @ V


def of_a_number_of_its_own(Q, K, V):
    return Q @ K.T / 29 @ V


def leaking(Q, K, V):
    return Q @ K.T @ V * float(Q[0, 0])


def written_over(Q, K, V):
    S = Q @ K.T
    T = S
    S[0] = 0
    return T @ V


def sorted_scores(Q, K, V):
    return np.sort(Q @ K.T) @ V


def of_other_shapes(left, right):
    return left @ right


def asking_any(Q, K, V):
    s = Q @ K.T
    if (s > 1e6).any():
        s = s / 2
    return s @ V


def multiplying_by_answers(Q, K, V):
    s = Q @ K.T
    return (s * (s < 1e6)) @ V


def taking_out(Q, K, V):
    s = Q @ K.T
    if s.max().item() > 1e6:
        s = s / 2
    return s @ V
