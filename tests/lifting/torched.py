"""Attention functions of PyTorch as people write them: right ones, and one that is wrong."""

# mypy: ignore-errors

import math

import torch
from torch.nn import functional


def sdpa(query, key, value):
    return functional.scaled_dot_product_attention(query, key, value)


def causal_by_filling(q, k, v):
    s = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    mask = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
    return torch.softmax(s.masked_fill(~mask, float("-inf")), -1) @ v


def online(Q, K, V):
    top = torch.full((Q.shape[0], 1), -math.inf, dtype=Q.dtype)
    total, out = torch.zeros_like(top), torch.zeros(Q.shape[0], V.shape[1], dtype=Q.dtype)
    for start in range(0, K.shape[0], 2):
        S = Q @ K[start : start + 2].T / Q.shape[1] ** 0.5
        new = torch.maximum(top, S.max(dim=1, keepdim=True).values)
        p, factor = (S - new).exp(), (top - new).exp()
        total = total * factor + p.sum(1, keepdim=True)
        out = out * factor + p @ V[start : start + 2]
        top = new
    return out / total


def written_by_rows(Q, K, V):
    out = torch.zeros(Q.shape[0], V.shape[1], dtype=Q.dtype)
    for i in range(Q.shape[0]):
        out[i] = torch.softmax(K @ Q[i] / math.sqrt(Q.shape[1]), 0) @ V
    return out


def causal_strictly(q, k, v):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    s = s.masked_fill(torch.triu(torch.ones(s.shape[-2:]), 0).bool(), -1e9)
    return s.softmax(-1) @ v
