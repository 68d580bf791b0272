"""Loops in PyTorch."""

from __future__ import annotations

from typing import Any

import torch


def rows(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for i in range(Q.shape[0]):
        s = K @ Q[i] / Q.shape[1] ** 0.5
        w = torch.softmax(s, dim=-1)
        out.append(w @ V)
    return torch.stack(out)


def written(Q: Any, K: Any, V: Any) -> Any:
    out = torch.zeros(Q.shape[0], V.shape[1], dtype=Q.dtype)
    for i in range(Q.shape[0]):
        s = K @ Q[i] / Q.shape[1] ** 0.5
        out[i] = torch.softmax(s, dim=-1) @ V
    return out


def linear(Q: Any, K: Any, V: Any) -> Any:
    S = torch.zeros(Q.shape[1], V.shape[1], dtype=Q.dtype)
    out = []
    for q, k, v in zip(Q, K, V, strict=True):
        S = S + torch.outer(k, v)
        out.append(q @ S)
    return torch.stack(out)


def heads(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for h in range(Q.shape[0]):
        s = Q[h] @ K[h].T / Q.shape[-1] ** 0.5
        out.append(torch.softmax(s, -1) @ V[h])
    return torch.stack(out)


def delta(Q: Any, K: Any, V: Any) -> Any:
    S, rows = Q.new_zeros(K.shape[1], V.shape[1]), []
    for q, k, v in zip(Q, K, V, strict=True):
        S = S + torch.outer(k, v - k @ S)
        rows.append(q @ S)
    return torch.stack(rows)


def causal(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        s = Q[t] @ K[: t + 1].T / K.shape[1] ** 0.5
        w = torch.softmax(s, -1)
        out.append(w @ V[: t + 1])
    return torch.stack(out)


def cached(Q: Any, K: Any, V: Any) -> Any:
    keys = values = None
    out = []
    for t in range(Q.shape[0]):
        k, v = K[t : t + 1], V[t : t + 1]
        keys = k if keys is None else torch.cat([keys, k], dim=0)
        values = v if values is None else torch.cat([values, v], dim=0)
        s = Q[t] @ keys.T / Q.shape[1] ** 0.5
        w = torch.softmax(s, dim=-1)
        out.append(w @ values)
    return torch.stack(out)
