"""Functions of PyTorch: right ones in unusual styles, and wrong ones that look right."""

# mypy: ignore-errors
# ruff: noqa: B905, E741, N812  they are written as strangers write

import math

import torch
import torch.nn.functional as F
from torch import nn

# ---- right -----------------------------------------------------------------------------------


def sdpa_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def sdpa_with_a_mask(query, key, value, attn_mask):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask, dropout_p=0.0)


def sdpa_with_a_bias(q, k, v, bias):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


def sdpa_scaled_by_hand(q, k, v):
    return F.scaled_dot_product_attention(q * q.size(-1) ** -0.5, k, v, scale=1.0)


def grouped_by_enabling(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n, _ = x.shape
    q = (x @ w_q).view(n, num_heads, -1).transpose(0, 1)
    k = (x @ w_k).view(n, num_kv_heads, -1).transpose(0, 1)
    v = (x @ w_v).view(n, num_kv_heads, -1).transpose(0, 1)
    o = F.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]
    return o.transpose(0, 1).contiguous().view(n, -1) @ w_o


def grouped_by_expanding(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n, rep = x.size(0), num_heads // num_kv_heads
    q = F.linear(x, w_q.T).unflatten(-1, (num_heads, -1)).movedim(0, 1)
    k = F.linear(x, w_k.T).unflatten(-1, (num_kv_heads, -1)).movedim(0, 1)
    v = F.linear(x, w_v.T).unflatten(-1, (num_kv_heads, -1)).movedim(0, 1)
    k = k[:, None].expand(-1, rep, -1, -1).reshape(num_heads, n, -1)
    v = v[:, None].expand(-1, rep, -1, -1).reshape(num_heads, n, -1)
    p = torch.softmax(q.mul(q.shape[-1] ** -0.5).bmm(k.mT), dim=-1)
    return torch.bmm(p, v).permute(1, 0, 2).flatten(1).mm(w_o)


def heads_by_einsum(x, w_q, w_k, w_v, w_o, n_heads):
    shape = (x.shape[0], n_heads, -1)
    q, k, v = (torch.einsum("nd,de->ne", x, w).reshape(shape) for w in (w_q, w_k, w_v))
    s = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("hij,jhd->ihd", s.softmax(-1), v).flatten(-2) @ w_o


def causal_by_baddbmm(q, k, v):
    n, d = q.shape
    mask = torch.full((n, n), float("-inf"), dtype=q.dtype).triu_(1)
    s = torch.baddbmm(mask[None], q[None], k[None].transpose(1, 2), beta=1, alpha=1 / math.sqrt(d))
    return torch.bmm(F.softmax(s, dim=2), v[None]).squeeze(0)


def causal_by_finfo(q, k, v):
    w = torch.matmul(q, k.transpose(-2, -1)) / torch.full(
        [], k.size(-1) ** 0.5, dtype=q.dtype, device=q.device
    )
    n = w.size(-1)
    keep = torch.tril(torch.ones((n, n), dtype=torch.bool)).view(1, n, n)[0]
    w = torch.where(keep, w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype))
    w = nn.functional.dropout(nn.functional.softmax(w, dim=-1).type(v.dtype), 0.1, training=False)
    return w @ v


def causal_in_place(q, k, v):
    s = q @ k.t()
    s /= math.sqrt(q.shape[1])
    s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -torch.inf)
    s.sub_(s.amax(-1, keepdim=True)).exp_()
    s.div_(s.sum(-1, keepdim=True))
    return s @ v


def tiled(q, k, v, block=2):
    o = torch.zeros(q.shape[0], v.shape[1], dtype=q.dtype)
    for i in range(0, q.shape[0], block):
        qi = q[i : i + block]
        oi = torch.zeros(qi.shape[0], v.shape[1], dtype=q.dtype)
        li = torch.zeros(qi.shape[0], 1, dtype=q.dtype)
        mi = torch.full((qi.shape[0], 1), float("-inf"), dtype=q.dtype)
        for kj, vj in zip(k.split(block), v.split(block)):
            s = qi @ kj.T * q.shape[-1] ** -0.5
            m_new = torch.maximum(mi, s.max(dim=-1, keepdim=True)[0])
            p = torch.exp(s - m_new)
            alpha = torch.exp(mi - m_new)
            li = alpha * li + p.sum(dim=-1, keepdim=True)
            oi = alpha * oi + p @ vj
            mi = m_new
        o[i : i + block] = oi / li
    return o


def combined_by_lse(q, k, v):
    s = q @ k.T / q.shape[-1] ** 0.5
    outs, lses = [], []
    for piece, values in zip(s.chunk(2, dim=-1), v.chunk(2, dim=0)):
        lse = piece.logsumexp(-1, keepdim=True)
        outs.append((piece - lse).exp() @ values)
        lses.append(lse)
    weights = torch.softmax(torch.stack(lses), dim=0)
    return (weights * torch.stack(outs)).sum(0)


def causal_with_cache(q, k, v):
    cache = q.new_empty(0, k.shape[1]), q.new_empty(0, v.shape[1])
    rows = []
    for t in range(q.shape[0]):
        cache = tuple(torch.cat((old, x[t : t + 1])) for old, x in zip(cache, (k, v)))
        score = torch.einsum("d,md->m", q[t], cache[0]) / math.sqrt(q.shape[1])
        rows.append(torch.einsum("m,mv->v", score.softmax(0), cache[1]))
    return torch.stack(rows)


def alibi(q, k, v):
    h, n, d = q.shape[-3:]
    slopes = torch.tensor([2 ** (-8 * (i + 1) / h) for i in range(h)], dtype=q.dtype)
    i = torch.arange(n)
    bias = -(i[:, None] - i[None, :]).abs().to(q.dtype) * slopes.view(h, 1, 1)
    s = q @ k.transpose(-1, -2) / d**0.5 + bias
    return s.masked_fill(i[None, :] > i[:, None], float("-inf")).softmax(-1) @ v


def rotary_by_complex_pairs(q, k, v):
    n, d = q.shape
    freqs = 1.0 / (10000.0 ** (torch.arange(0, d, 2, dtype=q.dtype) / d))
    t = torch.arange(n, dtype=q.dtype)
    angles = torch.einsum("i,j->ij", t, freqs)

    def turned(x):
        a, b = x.reshape(n, d // 2, 2).unbind(-1)
        c, s = angles.cos(), angles.sin()
        return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)

    s = turned(q) @ turned(k).T / d**0.5
    return s.masked_fill(torch.ones(n, n).tril() == 0, float("-inf")).softmax(-1) @ v


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def llama_as_in_transformers(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n = x.shape[0]
    q = (x @ w_q).view(n, num_heads, -1).transpose(0, 1)
    k = (x @ w_k).view(n, num_kv_heads, -1).transpose(0, 1)
    v = (x @ w_v).view(n, num_kv_heads, -1).transpose(0, 1)
    d = q.shape[-1]
    inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2, dtype=torch.float64) / d))
    freqs = torch.outer(torch.arange(n, dtype=torch.float64), inv)
    emb = torch.cat((freqs, freqs), dim=-1)
    q = q * emb.cos() + rotate_half(q) * emb.sin()
    k = k * emb.cos() + rotate_half(k) * emb.sin()
    k = k.repeat_interleave(num_heads // num_kv_heads, dim=0)
    v = v.repeat_interleave(num_heads // num_kv_heads, dim=0)
    w = q @ k.transpose(1, 2) / math.sqrt(d)
    w = w + torch.full((n, n), torch.finfo(torch.float64).min, dtype=torch.float64).triu(1)
    w = w.softmax(-1)
    return (w @ v).transpose(0, 1).reshape(n, -1) @ w_o


class Windowed(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.width = width
        self.drop = nn.Dropout(0.5)

    def forward(self, query, key, value):
        i = torch.arange(query.shape[-2])
        far = i.unsqueeze(1) - i.unsqueeze(0)
        seen = (far >= 0) & (far < self.width)
        s = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        return self.drop(s.masked_fill(~seen, float("-inf")).softmax(-1)) @ value


windowed = Windowed().eval()


def with_sinks(q, k, v, sinks):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    s = s + torch.full(s.shape[-2:], -torch.inf, dtype=s.dtype).triu(1)
    extra = sinks.reshape(-1, 1, 1).expand(*s.shape[:-1], 1)
    p = torch.cat([s, extra], dim=-1).softmax(dim=-1)
    return p[..., :-1] @ v


def delta_rule(q, k, v, beta):
    state = q.new_zeros(k.shape[1], v.shape[1])
    out = torch.empty_like(v)
    for t in range(q.shape[0]):
        read = k[t] @ state
        state = torch.addr(state, k[t], (v[t] - read) * beta[t])
        out[t] = q[t] @ state
    return out


def linear_by_cumsum(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    kv = torch.einsum("nd,ne->nde", k, v).cumsum(0)
    return torch.einsum("nd,nde->ne", q, kv) / (q * k.cumsum(0)).sum(-1, keepdim=True)


# ---- wrong -----------------------------------------------------------------------------------


def sdpa_of_the_keys(q, k, v):
    return F.scaled_dot_product_attention(q, k, k if k.shape == v.shape else v[:, :1].expand_as(v))


def sdpa_scaled_twice(q, k, v):
    return F.scaled_dot_product_attention(q * q.size(-1) ** -0.5, k, v)


def softmax_over_the_queries(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-2) @ v


def grouped_by_repeating(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n, rep = x.size(0), num_heads // num_kv_heads
    q, k, v = (
        (x @ w).view(n, h, -1).transpose(0, 1)
        for w, h in ((w_q, num_heads), (w_k, num_kv_heads), (w_v, num_kv_heads))
    )
    k, v = k.repeat(rep, 1, 1), v.repeat(rep, 1, 1)
    o = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    return o.transpose(0, 1).reshape(n, -1) @ w_o


def heads_by_view_alone(x, w_q, w_k, w_v, w_o, n_heads):
    n = x.shape[0]
    q, k, v = ((x @ w).view(n_heads, n, -1) for w in (w_q, w_k, w_v))
    o = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    return o.transpose(0, 1).reshape(n, -1) @ w_o


def causal_by_multiplying_scores(q, k, v):
    s = q @ k.T / math.sqrt(q.shape[1])
    return (s * torch.ones_like(s).tril()).softmax(-1) @ v


def causal_of_the_past_only(q, k, v):
    s = q @ k.T / math.sqrt(q.shape[1])
    hidden = torch.ones_like(s, dtype=torch.bool).triu(0)
    hidden[0, 0] = False
    return s.masked_fill(hidden, float("-inf")).softmax(-1) @ v


def causal_after_softmax(q, k, v):
    p = (q @ k.T / math.sqrt(q.shape[1])).softmax(-1)
    return p.tril() @ v


def dropout_left_on(q, k, v):
    p = (q @ k.T / math.sqrt(q.shape[1])).softmax(-1)
    return F.dropout(p, 0.1) @ v


def tiled_without_alpha(q, k, v, block=2):
    acc = torch.zeros(q.shape[0], v.shape[1], dtype=q.dtype)
    l = torch.zeros(q.shape[0], 1, dtype=q.dtype)
    m = torch.full((q.shape[0], 1), float("-inf"), dtype=q.dtype)
    for kj, vj in zip(k.split(block), v.split(block)):
        s = q @ kj.T * q.shape[-1] ** -0.5
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new)
        l = torch.exp(m - new) * l + p.sum(-1, keepdim=True)
        acc = acc + p @ vj
        m = new
    return acc / l


def combined_by_mean(q, k, v):
    s = q @ k.T / q.shape[-1] ** 0.5
    outs = [
        piece.softmax(-1) @ values for piece, values in zip(s.chunk(2, dim=-1), v.chunk(2, dim=0))
    ]
    return torch.stack(outs).mean(0)


def alibi_without_powers(q, k, v):
    h, n, d = q.shape[-3:]
    slopes = torch.tensor([1 / (i + 1) for i in range(h)], dtype=q.dtype)
    i = torch.arange(n)
    bias = (i[None, :] - i[:, None]).to(q.dtype) * slopes.view(h, 1, 1)
    s = q @ k.transpose(-1, -2) / d**0.5 + bias
    return s.masked_fill(i[None, :] > i[:, None], float("-inf")).softmax(-1) @ v


def rotary_of_the_queries(q, k, v):
    n, d = q.shape
    freqs = 1.0 / (10000.0 ** (torch.arange(0, d, 2, dtype=q.dtype) / d))
    angles = torch.outer(torch.arange(n, dtype=q.dtype), freqs)
    a, b = q[:, ::2], q[:, 1::2]
    c, s = angles.cos(), angles.sin()
    q = torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)
    s = q @ k.T / d**0.5
    return s.masked_fill(torch.ones(n, n).tril() == 0, float("-inf")).softmax(-1) @ v


def llama_with_pairs(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n = x.shape[0]
    q = (x @ w_q).view(n, num_heads, -1).transpose(0, 1)
    k = (x @ w_k).view(n, num_kv_heads, -1).transpose(0, 1)
    v = (x @ w_v).view(n, num_kv_heads, -1).transpose(0, 1)
    d = q.shape[-1]
    inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2, dtype=torch.float64) / d))
    emb = torch.outer(torch.arange(n, dtype=torch.float64), inv).repeat_interleave(2, dim=-1)
    q = q * emb.cos() + rotate_half(q) * emb.sin()
    k = k * emb.cos() + rotate_half(k) * emb.sin()
    k = k.repeat_interleave(num_heads // num_kv_heads, dim=0)
    v = v.repeat_interleave(num_heads // num_kv_heads, dim=0)
    w = q @ k.transpose(1, 2) / math.sqrt(d)
    w = w.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(-1)
    return (w @ v).transpose(0, 1).reshape(n, -1) @ w_o


windowed_too_far = Windowed(5).eval()
windowed_in_training = Windowed()


def with_sinks_kept(q, k, v, sinks):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    s = s + torch.full(s.shape[-2:], -torch.inf, dtype=s.dtype).triu(1)
    extra = sinks.reshape(-1, 1, 1).expand(*s.shape[:-1], 1)
    p = torch.cat([s, extra], dim=-1).softmax(dim=-1)[..., :-1]
    return p / p.sum(-1, keepdim=True) @ v


def delta_read_after_writing(q, k, v, beta):
    state = q.new_zeros(k.shape[1], v.shape[1])
    out = torch.empty_like(v)
    for t in range(q.shape[0]):
        out[t] = q[t] @ state
        state = state + torch.outer(k[t], (v[t] - k[t] @ state) * beta[t])
    return out


def linear_not_normalised(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return torch.einsum("nd,nde->ne", q, torch.einsum("nd,ne->nde", k, v).cumsum(0))


_DELTA = """
q : n × d_k; k : n × d_k; v : n × d_v; beta : n × 1
S[0] = 0
S[t] = S[t-1] + beta[t] k[t]^T (v[t] - k[t] S[t-1])
output O[t,:] = q[t] S[t]
"""

RIGHT = {
    "sdpa_causal": "causal",
    "sdpa_with_a_mask": "masked",
    "sdpa_with_a_bias": "biased",
    "sdpa_scaled_by_hand": "scaled-dot-product",
    "grouped_by_enabling": "grouped-query",
    "grouped_by_expanding": "grouped-query",
    "heads_by_einsum": "multi-head",
    "causal_by_baddbmm": "causal",
    "causal_by_finfo": "causal",
    "causal_in_place": "causal",
    "tiled": "scaled-dot-product",
    "combined_by_lse": "scaled-dot-product",
    "causal_with_cache": "causal",
    "alibi": "alibi",
    "rotary_by_complex_pairs": "rotary",
    "llama_as_in_transformers": "llama",
    "windowed": "mistral",
    "with_sinks": "sink",
    "delta_rule": _DELTA,
    "linear_by_cumsum": "causal-linear",
}
WRONG = {
    "sdpa_of_the_keys": "scaled-dot-product",
    "sdpa_scaled_twice": "scaled-dot-product",
    "softmax_over_the_queries": "scaled-dot-product",
    "grouped_by_repeating": "grouped-query",
    "heads_by_view_alone": "multi-head",
    "causal_by_multiplying_scores": "causal",
    "causal_of_the_past_only": "causal",
    "causal_after_softmax": "causal",
    "dropout_left_on": "scaled-dot-product",
    "tiled_without_alpha": "scaled-dot-product",
    "combined_by_mean": "scaled-dot-product",
    "alibi_without_powers": "alibi",
    "rotary_of_the_queries": "rotary",
    "llama_with_pairs": "llama",
    "windowed_too_far": "mistral",
    "windowed_in_training": "mistral",
    "with_sinks_kept": "sink",
    "delta_read_after_writing": _DELTA,
    "linear_not_normalised": "causal-linear",
}
