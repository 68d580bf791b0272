"""Attention functions of NumPy as people write them: right ones, and subtly wrong ones."""

# mypy: ignore-errors

import math

import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


# ---- right -----------------------------------------------------------------------------------


def online(Q, K, V, block=2):
    out = np.zeros((Q.shape[0], V.shape[1]))
    top, total = np.full((Q.shape[0], 1), -np.inf), np.zeros((Q.shape[0], 1))
    for start in range(0, K.shape[0], block):
        S = Q @ K[start : start + block].T / np.sqrt(Q.shape[1])
        new = np.maximum(top, S.max(axis=1, keepdims=True))
        p, factor = np.exp(S - new), np.exp(top - new)
        total = total * factor + p.sum(axis=1, keepdims=True)
        out = out * factor + p @ V[start : start + block]
        top = new
    return out / total


def row_by_row(Q, K, V):
    out = np.empty((len(Q), V.shape[-1]), dtype=Q.dtype)
    for i, q in enumerate(Q):
        s = np.dot(K, q) / math.sqrt(len(q))
        e = np.exp(s - max(s))
        out[i] = e @ V / sum(e)
    return out


def by_log_sum_exp(Q, K, V):
    parts = []
    for half in (slice(0, 2), slice(2, None)):
        S = Q @ K[half].T * Q.shape[1] ** -0.5
        top = S.max(axis=1, keepdims=True)
        e = np.exp(S - top)
        total = e.sum(axis=1, keepdims=True)
        parts.append((e @ V[half] / total, top + np.log(total)))
    (one, a), (other, b) = parts if len(K) > 2 else (parts[0], parts[0])
    whole = np.logaddexp(a, b)
    return np.exp(a - whole) * one + np.exp(b - whole) * other


def in_powers_of_two(Q, K, V):
    S = (Q * (math.log2(math.e) / math.sqrt(Q.shape[-1]))) @ np.swapaxes(K, 0, 1)
    P = np.exp2(S - S.max(-1)[:, None])
    return np.einsum("ij,jd->id", P, V) / np.einsum("ij->i", P)[:, None]


def split_scale(q, k, v):
    r = q.shape[-1] ** -0.25
    return softmax((q * r) @ (k * r).T) @ v


def causal_by_multiplying(Q, K, V):
    E = np.exp(Q @ K.T / np.sqrt(Q.shape[1])) * np.tri(len(Q), len(K))
    return (E @ V) / E.sum(1, keepdims=True)


def causal_by_index(Q, K, V):
    S = np.matmul(Q, K.T) / Q.shape[1] ** 0.5
    i, j = np.indices(S.shape)
    S[j > i] = -np.inf
    return softmax(S) @ V


def causal_decoding(Q, K, V):
    outputs, keys, values = [], [], []
    for t in range(Q.shape[0]):
        keys.append(K[t])
        values.append(V[t])
        s = np.stack(keys) @ Q[t] / np.sqrt(Q.shape[1])
        outputs.append(softmax(s) @ np.stack(values))
    return np.array(outputs)


def causal_negative_number(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    return softmax(S + np.triu(np.full(S.shape, -1e30), 1)) @ V


def added_at_places(Q, K, V):
    row, column = (one.ravel() for one in np.indices((len(Q), len(K))))
    e = np.exp((Q[row] * K[column]).sum(axis=1) / np.sqrt(Q.shape[1]))
    above, below = np.zeros((len(Q), V.shape[1])), np.full(len(Q), 0.0)
    np.add.at(above, row, e[:, None] * V[column])
    np.add.at(below, row, e)
    return above / below[:, None]


def causal_by_products(Q, K, V):
    e = np.tril(np.exp(np.einsum("ia,ja->ij", Q, K) / np.sqrt(Q.shape[1])))
    return np.einsum("ij,jb,i->ib", e, V, 1.0 / np.einsum("ij->i", e))


# ---- wrong -----------------------------------------------------------------------------------


def online_not_rescaled(Q, K, V, block=2):
    out = np.zeros((Q.shape[0], V.shape[1]))
    top, total = np.full((Q.shape[0], 1), -np.inf), np.zeros((Q.shape[0], 1))
    for start in range(0, K.shape[0], block):
        S = Q @ K[start : start + block].T / np.sqrt(Q.shape[1])
        new = np.maximum(top, S.max(axis=1, keepdims=True))
        p, factor = np.exp(S - new), np.exp(top - new)
        total = total * factor + p.sum(axis=1, keepdims=True)
        out = out + p @ V[start : start + block]
        top = new
    return out / total


def over_the_queries(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1]), axis=0) @ V


def scaled_by_the_values(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(V.shape[1])) @ V


def a_number_is_added(Q, K, V):
    E = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return E / (E.sum(axis=1, keepdims=True) + 1e-4) @ V


def causal_off_by_one(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    return softmax(np.where(np.triu(np.ones(S.shape), 2), -1e9, S)) @ V


def causal_after_softmax(Q, K, V):
    A = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    return np.tril(A) @ V


def causal_masked_by_minus_ten(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    return softmax(np.where(np.tri(len(S)), S, -10)) @ V


# ---- undecided -------------------------------------------------------------------------------


def guarded(Q, K, V):
    E = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return E / np.maximum(E.sum(axis=1, keepdims=True), 1e-9) @ V


def by_another_library(Q, K, V):
    return np.linalg.solve(np.eye(len(Q)), softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V)


def causal_within_many(Q, K, V, window=500):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    i, j = np.indices(S.shape)
    return softmax(np.where((j <= i) & (i - j < window), S, -np.inf)) @ V


def another_branch(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    try:
        if S.max() > 1e6:
            S = S / 2
    except Exception:
        pass
    return softmax(S) @ V


# ---- told apart by floats --------------------------------------------------------------------


def cancelled(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ ((V + 1e17) - 1e17)


def wrong_by_another_library(Q, K, V):
    return np.linalg.solve(np.eye(len(Q)), softmax(Q @ K.T) @ V)


def scale_in_float32(Q, K, V):
    scale = np.float32(1 / np.sqrt(Q.shape[1]))
    e = np.exp((Q @ K.T) * float(scale))
    return e / e.sum(axis=1, keepdims=True) @ V


def strange_names(left, right, content):
    s = np.exp(left @ right.T / np.sqrt(left.shape[1]))
    return s @ content / s.sum(axis=1, keepdims=True)


def windowed(X, W_Q, W_K, W_V):
    return _in_a_window(X, W_Q, W_K, W_V, 2)


def windowed_too_far(X, W_Q, W_K, W_V):
    return _in_a_window(X, W_Q, W_K, W_V, 3)


def _in_a_window(X, W_Q, W_K, W_V, reach):
    S = X @ W_Q @ (X @ W_K).T / np.sqrt(W_Q.shape[1])
    apart = np.abs(np.arange(len(X))[:, None] - np.arange(len(X)))
    E = np.where(apart <= reach, np.exp(S), 0.0)
    return E / E.sum(axis=1, keepdims=True) @ (X @ W_V)
