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


def of_heads(x, W_q, W_k, W_v, W_o, heads=2):
    n = len(x)
    q = (x @ W_q).reshape(n, heads, -1).transpose(1, 0, 2)
    k = (x @ W_k).reshape(n, heads, -1).transpose(1, 0, 2)
    v = (x @ W_v).reshape(n, heads, -1).transpose(1, 0, 2)
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    joined = (weights @ v).transpose(1, 0, 2).reshape(n, -1)
    return joined @ W_o


def of_groups(q, k, v):
    share = len(q) // len(k)
    keys, values = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
    a = np.einsum("hnd,hmd->hnm", q, keys)
    a = softmax(np.where(np.tri(*a.shape[1:], dtype=bool), a, -np.inf))
    return np.einsum("hnm,hmd->nhd", a, values).reshape(q.shape[1], -1)


def of_one_matrix(x, W):
    qkv = (x @ W).reshape(len(x), 3, 2, -1).transpose(1, 2, 0, 3)
    q, k, v = qkv
    return softmax(q @ k.swapaxes(1, 2)) @ v


def of_heads_in_a_wrong_order(x, W):
    q = (x @ W).reshape(len(x), 2, -1)
    return q.transpose(0, 2, 1).reshape(len(x), -1)


def from_zero_on(Q):
    return np.max(Q, axis=1, initial=0.0)
