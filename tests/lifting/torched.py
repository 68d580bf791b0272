"""Attention functions of PyTorch as people write them: right ones, and one that is wrong."""

# mypy: ignore-errors

import math

import torch
from torch import nn
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


class Layer(nn.Module):
    def __init__(self, width=6, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, n, width = x.shape
        qkv = self.qkv(x).reshape(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, width)
        return self.out_proj(y)


layer = Layer().eval()


def sorted_scores(q, k, v):
    s = q @ k.T
    s = torch.sort(s, -1).values
    return s @ v


def eager(query, key, value, attention_mask=None, scaling=None):
    if scaling is None:
        scaling = query.size(-1) ** -0.5
    weights = torch.matmul(query, key.transpose(2, 3)) * scaling
    if attention_mask is not None:
        weights = weights + attention_mask
    weights = functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), weights


def causal_of_heads(q, k, v):
    _, _, n, d = q.size()
    scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(d))
    hidden = torch.tril(torch.ones(n, n)).view(1, 1, n, n) == 0
    return functional.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ v


class Projected(nn.Module):
    def __init__(self, width=6, heads=2):
        super().__init__()
        self.heads = heads
        for name in ("q", "k", "v", "out"):
            self.add_module(f"{name}_proj", nn.Linear(width, width, bias=False))

    def forward(self, x):
        q, k, v = (
            one(x).view(len(x), self.heads, -1).transpose(0, 1)
            for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        return self.out_proj(self.attend(q, k, v).transpose(0, 1).reshape(len(x), -1))

    def attend(self, q, k, v):
        return functional.scaled_dot_product_attention(q, k, v)


class ByHand(Projected):
    def attend(self, q, k, v):
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


class Unscaled(Projected):
    def attend(self, q, k, v):
        return (q @ k.mT).softmax(-1) @ v


projected, by_hand, unscaled_layer = Projected(), ByHand(), Unscaled()


def stacked_weights(x, w_q, w_k, w_v, w_o):
    q, k, v = (torch.einsum("nd,hdk->hnk", x, w) for w in (w_q, w_k, w_v))
    weights = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1)
    return (weights @ v).transpose(0, 1).reshape(x.shape[0], -1) @ w_o


def projected_by_parameters(Q, K, V, W):
    layer = nn.Linear(*W.shape, bias=False)
    layer.weight = nn.Parameter(W.T)
    return sdpa(layer(Q), layer(K), V)


def projected_plainly(Q, K, V, W):
    return sdpa(Q @ W, K @ W, V)


def before_its_own_key(Q, K, V):
    """Each token is given what was kept before it, and divides by what is 0 at first."""
    S, z, rows = Q.new_zeros(K.shape[1], V.shape[1]), Q.new_zeros(K.shape[1]), []
    for t in range(len(Q)):
        rows.append(Q[t] @ S / (Q[t] @ z).clamp_min(1e-12))
        S, z = S + torch.outer(K[t], V[t]), z + K[t]
    return torch.stack(rows)


def behind_its_own_key(Q, K, V):
    S, z, rows = Q.new_zeros(K.shape[1], V.shape[1]), Q.new_zeros(K.shape[1]), []
    for t in range(len(Q)):
        S, z = S + torch.outer(K[t], V[t]), z + K[t]
        rows.append(Q[t] @ S / (Q[t] @ z).clamp_min(1e-12))
    return torch.stack(rows)
