"""Parts of models in PyTorch, by its functions and by hand; wrong ones end in ``_not``."""

# mypy: ignore-errors

import math

import torch
from torch.nn import functional


def layer_norm(x):
    return functional.layer_norm(x, x.shape[-1:])


def layer_norm_by_hand(x):
    apart = x - x.mean(-1, keepdim=True)
    return apart / torch.sqrt(apart.pow(2).mean(-1, keepdim=True) + 1e-5)


def layer_norm_not(x):
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5)


def rms_norm(x):
    return functional.rms_norm(x, x.shape[-1:], eps=1e-6)


def rms_norm_by_hand(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def rms_norm_not(x):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6)


def deviation(x):
    spread, mean = torch.std_mean(x, -1, keepdim=True)
    return (x - mean) / (spread + 1e-6)


def deviation_by_hand(x):
    apart = x - x.mean(-1, keepdim=True)
    return apart / (((apart**2).sum(-1, keepdim=True) / (x.shape[-1] - 1)).sqrt() + 1e-6)


def deviation_not(x):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + 1e-6)


def gelu(x):
    return functional.gelu(x)


def gelu_by_hand(x):
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


def gelu_not(x):
    return functional.gelu(x, approximate="tanh")


def gelu_by_tanh(x):
    return functional.gelu(x, approximate="tanh")


def gelu_by_tanh_by_hand(x):
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


def gelu_by_tanh_not(x):
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 2.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


def added_by_rows(q, k):
    places = torch.tensor([0, 0, 1]) if len(q) == 3 else torch.zeros(len(q), dtype=torch.long)
    return torch.zeros_like(q).index_add(0, places, q) + k.sum(0)


def added_by_rows_by_hand(q, k):
    places = torch.tensor([0, 0, 1]) if len(q) == 3 else torch.zeros(len(q), dtype=torch.long)
    where = places[:, None].expand(-1, q.shape[1])
    return k.sum(0) + torch.zeros_like(q).scatter_add(0, where, q)


def added_by_rows_not(q, k):
    places = torch.tensor([0, 1, 1]) if len(q) == 3 else torch.zeros(len(q), dtype=torch.long)
    return torch.zeros_like(q).index_add(0, places, q) + k.sum(0)


def put_together(q, k):
    places = (torch.arange(len(q)) // 2,)
    return torch.zeros_like(q).index_put(places, q, accumulate=True) * k.sum()


def put_together_by_hand(q, k):
    rows = [q[i : i + 2].sum(0) for i in range(0, len(q), 2)]
    rows += [torch.zeros_like(q[0])] * (len(q) - len(rows))
    return torch.stack(rows) * k.sum()


def put_together_not(q, k):
    places = (torch.arange(len(q)) // 2,)
    return torch.zeros_like(q).index_put(places, q) * k.sum()


def _angles(n, width):
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.outer(torch.arange(n, dtype=torch.float64), frequencies)


def _turned(x, turns):
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns).flatten(-2)


def turned_scores(q, k):
    turns = torch.polar(torch.ones(len(q), 2, dtype=torch.float64), _angles(len(q), 4))
    q = _turned(q, turns)
    k = _turned(k, turns)
    return q @ k.T


def turned_scores_by_hand(q, k):
    cos, sin = _angles(len(q), 4).cos(), _angles(len(q), 4).sin()
    a = torch.stack([q[:, 0::2] * cos - q[:, 1::2] * sin, q[:, 0::2] * sin + q[:, 1::2] * cos], -1)
    b = torch.stack([k[:, 0::2] * cos - k[:, 1::2] * sin, k[:, 0::2] * sin + k[:, 1::2] * cos], -1)
    return a.flatten(1) @ b.flatten(1).T


def turned_scores_not(q, k):
    turns = torch.polar(torch.ones(len(q), 2, dtype=torch.float64), _angles(len(q), 4))
    return _turned(q, turns) @ _turned(k, turns.conj()).T


def scores_of_complex(q, k):
    turns = torch.exp(1j * _angles(len(q), 4))
    a, b = (torch.view_as_complex(x.reshape(len(x), -1, 2)) * turns for x in (q, k))
    return (a @ b.conj().T).real


def scores_of_complex_by_hand(q, k):
    return turned_scores_by_hand(q, k)


def scores_of_complex_not(q, k):
    turns = torch.exp(1j * _angles(len(q), 4))
    a, b = (torch.view_as_complex(x.reshape(len(x), -1, 2)) * turns for x in (q, k))
    return (a @ b.T).real


def tangent_of_complex(q, k):
    return torch.tanh(torch.view_as_complex(q.reshape(len(q), -1, 2))).real @ k[:, :2].T


def of_a_batch(q, k, v):
    mask = torch.triu(torch.ones(1, q.size(-2), k.size(-2)), diagonal=1) == 1
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    weights = scores.masked_fill(mask, -1e9).softmax(dim=-1)
    return torch.matmul(weights, v).transpose(1, 2)


def mixing_the_batch(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return (scores.softmax(-1) @ v.mean(0, keepdim=True)).clone()


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = torch.nn.LayerNorm(6)
        self.c_fc = torch.nn.Linear(6, 12)

    def forward(self, x):
        h = functional.gelu(self.c_fc(self.ln_1(x)))
        return functional.silu(h)


norm = Norm().eval()


def clamped(x):
    return torch.clamp(x, min=0.0) + torch.clamp(x, -1.0, 1.0)


def clamped_by_hand(x):
    return functional.relu(x) + torch.minimum(torch.relu(x + 1.0) - 1.0, torch.ones_like(x))


def clamped_not(x):
    return torch.clamp(x, max=0.0) + torch.clamp(x, -1.0, 1.0)


def of_length_1(x):
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)


def of_length_1_by_hand(x):
    return x / x.pow(2).sum(-1, keepdim=True).sqrt()


def of_length_1_not(x):
    return x / torch.linalg.vector_norm(x, dim=0, keepdim=True)
