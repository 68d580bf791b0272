"""More attentions and blocks of the literature, in the way of `tests/language/literature.py`.

Recurrences, branches, gates on states, attention over channels or slots, and whole blocks: the
texts were written from the papers by a reader of `docs/equations.md` alone.
"""

# ruff: noqa: PLC3002 (a function within a row of the table)
from __future__ import annotations

import math

import torch
from torch.nn import functional as f

from tests.language.literature import INF, Tensor, Work, beside, by, causal, layer, rms, rope


def recurrent(steps: int, state: Tensor, update, read) -> Tensor:  # type: ignore[no-untyped-def]
    """Rows read from a state that is updated token by token."""
    rows = []
    for t in range(steps):
        before, state = state, update(t, state)
        rows.append(read(t, state, before))
    return torch.cat(rows)


def soft(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


def columns(x: Tensor) -> Tensor:
    """Softmax over the first axis."""
    return torch.softmax(x, -2)


def lower(n: int) -> Tensor:
    return torch.tril(torch.ones(n, n, dtype=torch.float64))


def unit(x: Tensor) -> Tensor:
    return x / x.norm(dim=-1, keepdim=True)


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | float = 0.0) -> Tensor:
    return soft(q @ k.mT / math.sqrt(q.shape[-1]) + bias) @ v


def decay(g: Tensor, n: int) -> Tensor:
    """γ^(i − j) below the diagonal."""
    away = torch.arange(n)[:, None] - torch.arange(n)
    return torch.where(away >= 0, g ** away.clamp(min=0), 0.0)


def _lstm(z: Tensor) -> Tensor:
    h, c, rows = z.Z_0[:, :2], z.Z_0[:, 2:], []
    for x in z.X.split(1):
        i, g, o = (
            torch.sigmoid(x @ w + h @ u)
            for w, u in ((z.W_i, z.U_i), (z.W_f, z.U_f), (z.W_o, z.U_o))
        )
        c = g * c + i * torch.tanh(x @ z.W_c + h @ z.U_c)
        h = o * torch.tanh(c)
        rows.append(h)
    return torch.cat(rows)


def _bidaf(z: Tensor) -> Tensor:
    s = z.H @ z.u_1 + (z.U @ z.u_2).T + (z.H * z.b_3) @ z.U.T
    a = soft(s) @ z.U
    b = soft(s.max(-1).values) @ z.H
    return torch.cat((z.H, a, z.H * a, z.H * b), -1)


def _turing(z: Tensor) -> Tensor:
    near = soft(z.beta * unit(z.K) @ unit(z.M).T)
    mixed = z.g * near + (1 - z.g) * z.W_0
    moved = z.b_s[0, 0] * mixed.roll(-1, 1) + z.b_s[0, 1] * mixed + z.b_s[0, 2] * mixed.roll(1, 1)
    sharp = moved**z.gamma
    return sharp / sharp.sum(-1, keepdim=True) @ z.M


def _axial(z: Tensor) -> Tensor:
    row = by(6, 6, lambda i, j: 0 if (i - 1) // 3 == (j - 1) // 3 else -INF)
    column = by(6, 6, lambda i, j: 0 if (i - j) % 3 == 0 else -INF)
    y = z.X + attend(z.X @ z.W_Q, z.X @ z.W_K, z.X @ z.W_V, row)
    return y + attend(y @ z.U_Q, y @ z.U_K, y @ z.U_V, column)


def _fnet(z: Tensor) -> Tensor:
    return layer(z.X + torch.fft.fft2(z.X).real, eps=1e-5)


def _chunks(z: Tensor) -> Tensor:
    q, k, v = (torch.cat(x) for x in ((z.Q_1, z.Q_2), (z.K_1, z.K_2), (z.V_1, z.V_2)))
    return (q @ k.T * decay(z.gamma, 6)) @ v


def _rglru(z: Tensor) -> Tensor:
    r, i = torch.sigmoid(z.X @ z.W_a + z.b_a), torch.sigmoid(z.X @ z.W_x + z.b_x)
    a = torch.exp(-8 * f.softplus(z.b_l) * r)
    zero = torch.zeros(1, 3, dtype=torch.float64)
    return recurrent(
        4,
        zero,
        lambda t, h: a[t] * h + torch.sqrt(1 - a[t] ** 2) * (i[t] * z.X[t]),
        lambda t, h, _: h,
    )


X3 = {"X": (3, 4)}
QKV = {"Q": (4, 2), "K": (4, 2), "V": (4, 3)}
ROWS = {"W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 2)}

WORKS: tuple[Work, ...] = (
    Work(
        "retention in chunks (Sun et al. 2023)",
        """
        D[i,j] = γ^(i - j) if i >= j else 0
        O_1 = (Q_1 K_1^T ∘ D) V_1
        ξ : 3 × 1;  ζ : 3 × 1
        ξ[i,j] = γ^i
        ζ[i,j] = γ^(3 - i)
        R = K_1^T (V_1 ∘ ζ)
        O_2 = (Q_2 K_2^T ∘ D) V_2 + (Q_2 R) ∘ ξ
        O = [O_1; O_2]
        """,
        {f"{x}_{i}": (3, 2) for x in "QKV" for i in (1, 2)} | {"gamma": ()},
        _chunks,
        positive=("gamma",),
    ),
    Work(
        "state space duality (Dao and Gu 2024)",
        """
        G : n × 1
        T[i,j] = 1 if j <= i else 0
        L = T G
        M = L - L^T + causal()
        Y = (exp(M) ∘ C B^T) X
        """,
        {"G": (4, 1), "C": (4, 2), "B": (4, 2), "X": (4, 3)},
        lambda z: (torch.exp(z.G.cumsum(0) - z.G.cumsum(0).T + causal(4)) * (z.C @ z.B.T)) @ z.X,
    ),
    Work(
        "RWKV-6 (Peng et al. 2024)",
        """
        Z[0] = 0
        Z[t] = [Z[t-1][3:4, :]; W[t]^T ∘ Z[t-1][3:4, :] + K[t]^T V[t]]
        O[t,:] = R[t] (Z[t][1:2, :] + b_u^T ∘ (K[t]^T V[t]))
        """,
        {"W": (4, 2), "K": (4, 2), "V": (4, 3), "R": (4, 2), "b_u": (1, 2)},
        lambda z: recurrent(
            4,
            torch.zeros(2, 3, dtype=torch.float64),
            lambda t, s: z.W[t, :, None] * s + z.K[t, :, None] * z.V[t],
            lambda t, _, s: z.R[t : t + 1] @ (s + z.b_u.T * (z.K[t, :, None] * z.V[t])),
        ),
        positive=("W",),
    ),
    Work(
        "HGRN2 (Qin et al. 2024)",
        """
        F = λ + (1 - λ) sigmoid(X W_F)
        U = SiLU(X W_I)
        G = X W_G
        S[0] = 0
        S[t] = F[t]^T ∘ S[t-1] + (1 - F[t])^T U[t]
        O[t,:] = G[t] S[t]
        """,
        {"X": (4, 3), "W_F": (3, 2), "W_I": (3, 3), "W_G": (3, 2), "lambda": ()},
        lambda z: (
            lambda g: recurrent(
                4,
                torch.zeros(2, 3, dtype=torch.float64),
                lambda t, s: g[t, :, None] * s + (1 - g[t, :, None]) * f.silu(z.X @ z.W_I)[t],
                lambda t, s, _: (z.X @ z.W_G)[t : t + 1] @ s,
            )
        )(z.lambda_ + (1 - z.lambda_) * torch.sigmoid(z.X @ z.W_F)),
        positive=("lambda",),
    ),
    Work(
        "lightning attention (Qin et al. 2024)",
        """
        Q = SiLU(X W_Q);  K = SiLU(X W_K);  V = X W_V
        D[i,j] = λ^(i - j) if i >= j else 0
        O = RMSNorm((Q K^T ∘ D) V, eps=1e-6) ∘ sigmoid(X U)
        """,
        {**X3, **ROWS, "U": (4, 2), "lambda": ()},
        lambda z: (
            rms(
                (f.silu(z.X @ z.W_Q) @ f.silu(z.X @ z.W_K).T * decay(z.lambda_, 3)) @ (z.X @ z.W_V),
                eps=1e-6,
            )
            * torch.sigmoid(z.X @ z.U)
        ),
        positive=("lambda",),
    ),
    Work(
        "multi-query attention (Shazeer 2019)",
        """
        Q[h] = X W_Q[h];  K = X W_K;  V = X W_V
        scores S[h] = Q[h] K^T / sqrt(d_k)
        weights A[h] = softmax(S[h] + causal())
        O = concat_h(A[h] V) W_O
        """,
        {**X3, "W_Q": (2, 4, 2), "W_K": (4, 2), "W_V": (4, 2), "W_O": (4, 4)},
        lambda z: beside(attend(z.X @ z.W_Q, z.X @ z.W_K, z.X @ z.W_V, causal(3))) @ z.W_O,
    ),
    Work(
        "grouped queries with norms (Qwen Team 2025)",
        """
        Q[h] = rotary(RMSNorm(X W_Q[h], gain=g_q, eps=1e-6))
        K[g] = rotary(RMSNorm(X W_K[g], gain=g_k, eps=1e-6))
        V[g] = X W_V[g]
        A[h] = softmax(Q[h] K[group(h)]^T / sqrt(d_k) + causal())
        O = concat_h(A[h] V[group(h)]) W_O
        g_q : 1 × d_k;  g_k : 1 × d_k
        """,
        {
            **X3,
            "W_Q": (4, 4, 2),
            "W_K": (2, 4, 2),
            "W_V": (2, 4, 2),
            "W_O": (8, 4),
            "g_q": (1, 2),
            "g_k": (1, 2),
        },
        lambda z: (
            beside(
                attend(
                    rope(rms(z.X @ z.W_Q, z.g_q, 1e-6)),
                    rope(rms(z.X @ z.W_K, z.g_k, 1e-6)).repeat_interleave(2, 0),
                    (z.X @ z.W_V).repeat_interleave(2, 0),
                    causal(3),
                )
            )
            @ z.W_O
        ),
    ),
    Work(
        "relative keys (Shaw et al. 2018)",
        """
        S = (Q K^T + clip(Q R^T)) / sqrt(d_k)
        O = softmax(S) V
        """,
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "R": (5, 2)},
        lambda z: (
            lambda index: (
                soft((z.Q @ z.K.T + (z.Q[:, None] * z.R[index]).sum(-1)) / math.sqrt(2)) @ z.V
            )
        )(torch.arange(3) - torch.arange(3)[:, None] + 2),
    ),
    Work(
        "Transformer-XL (Dai et al. 2019)",
        """
        S = (Q + b_u) K^T + shift((Q + b_v) R^T)
        A = softmax(S / sqrt(d_k) + causal())
        O = A V
        """,
        {**QKV, "R": (7, 2), "b_u": (1, 2), "b_v": (1, 2)},
        lambda z: attend(
            z.Q,
            z.K,
            z.V,
            (
                z.b_u @ z.K.T
                + (
                    (z.Q + z.b_v)[:, None] * z.R[torch.arange(4)[:, None] - torch.arange(4) + 3]
                ).sum(-1)
            )
            / math.sqrt(2)
            + causal(4),
        ),
    ),
    Work(
        "kernels of distance (Chi et al. 2022)",
        """
        B[i,j] = -r_1 ln(1 + r_2 abs(i - j))
        O = softmax(Q K^T / sqrt(d_k) + B + causal()) V
        """,
        {**QKV, "r_1": (), "r_2": ()},
        lambda z: attend(
            z.Q,
            z.K,
            z.V,
            causal(4)
            - z.r_1
            * torch.log(
                1 + z.r_2 * (torch.arange(4)[:, None] - torch.arange(4)).abs().to(torch.float64)
            ),
        ),
        positive=("r_1", "r_2"),
    ),
    Work(
        "relu over the length (Wortsman et al. 2023)",
        "A = relu(Q K^T / sqrt(d_k)) / m; O = A V",
        {"Q": (3, 2), "K": (4, 2), "V": (4, 3)},
        lambda z: torch.relu(z.Q @ z.K.T / math.sqrt(2)) / 4 @ z.V,
    ),
    Work(
        "Perceiver (Jaegle et al. 2021)",
        """
        Q = LayerNorm(Z) W_Q;  K = LayerNorm(X) W_K;  V = LayerNorm(X) W_V
        Y = Z + softmax(Q K^T / sqrt(d_k)) V W_O
        N = LayerNorm(Y)
        U = Y + softmax(N U_Q (N U_K)^T / sqrt(d_k)) N U_V U_O
        """,
        {
            "X": (5, 3),
            "Z": (2, 4),
            "W_Q": (4, 2),
            "W_K": (3, 2),
            "W_V": (3, 2),
            "W_O": (2, 4),
            "U_Q": (4, 2),
            "U_K": (4, 2),
            "U_V": (4, 2),
            "U_O": (2, 4),
        },
        lambda z: (
            lambda y: y + attend(layer(y) @ z.U_Q, layer(y) @ z.U_K, layer(y) @ z.U_V) @ z.U_O
        )(z.Z + attend(layer(z.Z) @ z.W_Q, layer(z.X) @ z.W_K, layer(z.X) @ z.W_V) @ z.W_O),
    ),
    Work(
        "a spatial gating unit (Liu et al. 2021)",
        """
        Z = GELU(X U)
        Z_1 = Z[:, 1:2];  Z_2 = Z[:, 3:4]
        β : n × 1
        S = Z_1 ∘ (W LayerNorm(Z_2, eps=1e-5) + β)
        Y = S P
        """,
        {"X": (3, 3), "U": (3, 4), "W": (3, 3), "beta": (3, 1), "P": (2, 3)},
        lambda z: (lambda g: (g[:, :2] * (z.W @ layer(g[:, 2:], eps=1e-5) + z.beta)) @ z.P)(
            f.gelu(z.X @ z.U)
        ),
    ),
    Work(
        "squeeze and excitation (Hu et al. 2018)",
        """
        b_z = rowmean(X^T)^T
        b_s = sigmoid(relu(b_z W_1) W_2)
        Y = X ∘ b_s
        """,
        {"X": (5, 4), "W_1": (4, 2), "W_2": (2, 4)},
        lambda z: z.X * torch.sigmoid(torch.relu(z.X.mean(0, keepdim=True) @ z.W_1) @ z.W_2),
    ),
    Work(
        "general attention (Luong et al. 2015)",
        """
        scores S = H W_a E^T
        A = softmax(S)
        C = A E
        O = tanh([C, H] W_c)
        """,
        {"H": (2, 3), "E": (4, 2), "W_a": (3, 2), "W_c": (5, 3)},
        lambda z: torch.tanh(torch.cat((soft(z.H @ z.W_a @ z.E.T) @ z.E, z.H), -1) @ z.W_c),
    ),
    Work(
        "additive attention (Bahdanau et al. 2015)",
        """
        v : d_a × 1
        P = S W_a;  R = H U_a
        E[i,:] = (tanh(P[i] + R) v)^T
        A = softmax(E)
        C = A H
        """,
        {"S": (2, 3), "H": (4, 3), "W_a": (3, 2), "U_a": (3, 2), "v": (2, 1)},
        lambda z: soft((torch.tanh((z.S @ z.W_a)[:, None] + z.H @ z.U_a) @ z.v)[..., 0]) @ z.H,
    ),
    Work(
        "graph attention (Veličković et al. 2018)",
        """
        φ(x) = max(x, 0.2 x)
        a_1 : d × 1;  a_2 : d × 1
        H = X W
        E = φ(H a_1 + (H a_2)^T)
        M[i,j] = 0 if abs(i - j) <= 1 else -inf
        A = softmax(E + M)
        O = A H
        """,
        {"X": (4, 3), "W": (3, 2), "a_1": (2, 1), "a_2": (2, 1)},
        lambda z: (
            lambda h: (
                soft(
                    f.leaky_relu(h @ z.a_1 + (h @ z.a_2).T, 0.2)
                    + by(4, 4, lambda i, j: 0 if abs(i - j) <= 1 else -INF)
                )
                @ h
            )
        )(z.X @ z.W),
    ),
    Work(
        "external attention (Guo et al. 2021)",
        """
        S = F M_K^T
        A = softmax(S^T)^T
        B = A / rowsum(A)
        O = B M_V
        """,
        {"F": (4, 3), "M_K": (2, 3), "M_V": (2, 3)},
        lambda z: (lambda a: a / a.sum(-1, keepdim=True) @ z.M_V)(columns(z.F @ z.M_K.T)),
    ),
    Work(
        "pooling as a mixer (Yu et al. 2022)",
        """
        P[i,j] = 1 if abs(i - j) <= 1 else 0
        N = LayerNorm(X, eps=1e-5)
        T = P N
        Y = X + T / rowsum(P) - N
        Z = Y + GELU(LayerNorm(Y, eps=1e-5) W_1) W_2
        """,
        {"X": (4, 3), "W_1": (3, 5), "W_2": (5, 3)},
        lambda z: (
            lambda n, p: (lambda y: y + f.gelu(layer(y, eps=1e-5) @ z.W_1) @ z.W_2)(
                z.X + p @ n / p.sum(-1, keepdim=True) - n
            )
        )(layer(z.X, eps=1e-5), by(4, 4, lambda i, j: float(abs(i - j) <= 1))),
    ),
    Work(
        "residual attention scores (He et al. 2021)",
        """
        W_V : d_model × d_model;  U_V : d_model × d_model
        S_1 = X W_Q (X W_K)^T / sqrt(d_k)
        Y = LayerNorm(X + softmax(S_1) X W_V, eps=1e-5)
        S_2 = Y U_Q (Y U_K)^T / sqrt(d_k) + S_1
        Z = LayerNorm(Y + softmax(S_2) Y U_V, eps=1e-5)
        """,
        {
            **X3,
            "W_Q": (4, 2),
            "W_K": (4, 2),
            "W_V": (4, 4),
            "U_Q": (4, 2),
            "U_K": (4, 2),
            "U_V": (4, 4),
        },
        lambda z: (
            lambda s: (
                lambda y: layer(
                    y + soft((y @ z.U_Q) @ (y @ z.U_K).T / math.sqrt(2) + s) @ (y @ z.U_V),
                    eps=1e-5,
                )
            )(layer(z.X + soft(s) @ (z.X @ z.W_V), eps=1e-5))
        )((z.X @ z.W_Q) @ (z.X @ z.W_K).T / math.sqrt(2)),
    ),
    Work(
        "gated rows with pair biases (Jumper et al. 2021)",
        """
        N = LayerNorm(X, gain=g, shift=b_n, eps=1e-5)
        Q[h] = N W_Q[h];  K[h] = N W_K[h];  V[h] = N W_V[h]
        G[h] = sigmoid(N W_G[h] + b_G[h])
        A[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + B[h])
        O = concat_h(G[h] ∘ (A[h] V[h])) W_O + b_O
        """,
        {
            **X3,
            "g": (1, 4),
            "b_n": (1, 4),
            "W_Q": (2, 4, 2),
            "W_K": (2, 4, 2),
            "W_V": (2, 4, 2),
            "W_G": (2, 4, 2),
            "b_G": (2, 1, 2),
            "B": (2, 3, 3),
            "W_O": (4, 4),
            "b_O": (1, 4),
        },
        lambda z: (
            lambda n: (
                beside(
                    torch.sigmoid(n @ z.W_G + z.b_G) * attend(n @ z.W_Q, n @ z.W_K, n @ z.W_V, z.B)
                )
                @ z.W_O
                + z.b_O
            )
        )(layer(z.X, z.g, z.b_n, 1e-5)),
    ),
    Work(
        "lambda layer (Bello 2021)",
        """
        L = softmax(K^T) V
        B = clip(Q R^T)
        O = Q L + B V
        """,
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "R": (5, 2)},
        lambda z: (
            lambda index: torch.einsum(
                "nk,nkv->nv",
                z.Q,
                columns(z.K).T @ z.V + torch.einsum("nmk,mv->nkv", z.R[index], z.V),
            )
        )(torch.arange(3) - torch.arange(3)[:, None] + 2),
    ),
    Work(
        "cross-covariance attention (El-Nouby et al. 2021)",
        """
        Q = unit((X W_Q)^T)^T
        K = unit((X W_K)^T)^T
        W_V : d_model × d_k
        A = softmax(K^T Q / τ)
        O = X W_V A
        """,
        {"X": (5, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 2), "tau": ()},
        lambda z: z.X @ z.W_V @ soft(unit((z.X @ z.W_K).T) @ unit((z.X @ z.W_Q).T).T / z.tau),
        positive=("tau",),
    ),
    Work(
        "windows with a bias (Liu et al. 2021)",
        """
        Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
        S[h] = Q[h] K[h]^T / sqrt(d_k) + B[h] + documents(1, 1, 2, 2)
        O = concat_h(softmax(S[h]) V[h]) W_O
        """,
        {
            "X": (4, 3),
            "W_Q": (2, 3, 2),
            "W_K": (2, 3, 2),
            "W_V": (2, 3, 2),
            "B": (2, 4, 4),
            "W_O": (4, 3),
        },
        lambda z: (
            beside(
                torch.cat(
                    [
                        attend(w @ z.W_Q, w @ z.W_K, w @ z.W_V, z.B[:, s, s])
                        for w, s in ((z.X[:2], slice(0, 2)), (z.X[2:], slice(2, 4)))
                    ],
                    1,
                )
            )
            @ z.W_O
        ),
    ),
    Work(
        "axial attention (Ho et al. 2019)",
        """
        ## Along the rows of a picture of 2 × 3
        R[i,j] = 0 if floor((i - 1) / 3) == floor((j - 1) / 3) else -inf
        W_V : d_model × d_model;  U_V : d_model × d_model
        Y = X + softmax(X W_Q (X W_K)^T / sqrt(d_k) + R) X W_V
        ## Along its columns
        C[i,j] = 0 if mod(i - j, 3) == 0 else -inf
        Z = Y + softmax(Y U_Q (Y U_K)^T / sqrt(d_k) + C) Y U_V
        """,
        {
            "X": (6, 2),
            **{f"{x}_{y}": (2, 2) for x in "WU" for y in "QKV"},
        },
        _axial,
    ),
    Work(
        "low-rank adaptation of the queries (Hu et al. 2022)",
        """
        D : d_model × r;  U : r × d_k
        Q = X W_Q + α/r X D U
        K = X W_K;  V = X W_V
        O = softmax(Q K^T / sqrt(d_k)) V
        """,
        {**X3, **ROWS, "D": (4, 3), "U": (3, 2), "alpha": ()},
        lambda z: attend(z.X @ (z.W_Q + z.alpha / 3 * z.D @ z.U), z.X @ z.W_K, z.X @ z.W_V),
    ),
    Work(
        "gated cross attention (Alayrac et al. 2022)",
        """
        Q = X W_Q;  K = Y W_K;  V = Y W_V
        W_V : d_y × d_model
        φ(x) = relu(x)^2
        Z = X + tanh(α) softmax(Q K^T / sqrt(d_k)) V
        U = Z + tanh(β) φ(Z W_1) W_2
        """,
        {
            "X": (3, 4),
            "Y": (2, 3),
            "W_Q": (4, 2),
            "W_K": (3, 2),
            "W_V": (3, 4),
            "alpha": (),
            "beta": (),
            "W_1": (4, 5),
            "W_2": (5, 4),
        },
        lambda z: (lambda y: y + torch.tanh(z.beta) * torch.relu(y @ z.W_1) ** 2 @ z.W_2)(
            z.X + torch.tanh(z.alpha) * attend(z.X @ z.W_Q, z.Y @ z.W_K, z.Y @ z.W_V)
        ),
    ),
    Work(
        "a memory of neighbours (Wu et al. 2022)",
        """
        Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
        L[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + causal()) V[h]
        R[h] = softmax(Q[h] M[h]^T / sqrt(d_k)) N[h]
        O = concat_h(sigmoid(g[h]) R[h] + (1 - sigmoid(g[h])) L[h]) W_O
        """,
        {
            **X3,
            "W_Q": (2, 4, 2),
            "W_K": (2, 4, 2),
            "W_V": (2, 4, 2),
            "M": (2, 5, 2),
            "N": (2, 5, 2),
            "g": (2, 1),
            "W_O": (4, 4),
        },
        lambda z: (
            beside(
                torch.sigmoid(z.g[..., None]) * attend(z.X @ z.W_Q, z.M, z.N)
                + (1 - torch.sigmoid(z.g[..., None]))
                * attend(z.X @ z.W_Q, z.X @ z.W_K, z.X @ z.W_V, causal(3))
            )
            @ z.W_O
        ),
    ),
    Work(
        "a mixture of softmaxes (Yang et al. 2018)",
        """
        H[h] = tanh(X W[h])
        P = softmax(X W_P)
        O = sum_h(P[:,h] ∘ softmax(H[h] E^T))
        """,
        {"X": (3, 3), "W": (2, 3, 3), "W_P": (3, 2), "E": (4, 3)},
        lambda z: (soft(z.X @ z.W_P).T[..., None] * soft(torch.tanh(z.X @ z.W) @ z.E.T)).sum(0),
    ),
    Work(
        "shared queries and keys (Kitaev et al. 2020)",
        """
        Q = X W_Q
        K = unit(Q)
        M[i,j] = 0 if j < i else (-100 if i == j else -inf)
        A = softmax(Q K^T / sqrt(d_k) + M)
        O = A X W_V
        """,
        {**X3, "W_Q": (4, 2), "W_V": (4, 2)},
        lambda z: attend(
            z.X @ z.W_Q,
            unit(z.X @ z.W_Q),
            z.X @ z.W_V,
            by(3, 3, lambda i, j: 0 if j < i else -100 if i == j else -INF),
        ),
    ),
    Work(
        "a Taylor series for exp (Arora et al. 2024)",
        """
        φ(s) = 1 + s + s^2 / 2
        T[i,j] = 1 if j <= i else 0
        E = φ(Q K^T / sqrt(d_k)) ∘ T
        A = E / rowsum(E)
        O = A V
        """,
        QKV,
        lambda z: (
            lambda s: (lambda e: e / e.sum(-1, keepdim=True) @ z.V)((1 + s + s**2 / 2) * lower(4))
        )(z.Q @ z.K.T / math.sqrt(2)),
    ),
    Work(
        "efficient attention (Shen et al. 2021)",
        "G = softmax(K^T) V; O = softmax(Q) G",
        {"Q": (3, 2), "K": (4, 2), "V": (4, 3)},
        lambda z: soft(z.Q) @ (columns(z.K).T @ z.V),
    ),
    Work(
        "doubly stochastic attention (Sander et al. 2022)",
        """
        E = exp(Q K^T / sqrt(d_k))
        E_1 = E / rowsum(E)
        E_2 = E_1 / rowsum(E_1^T)^T
        A = E_2 / rowsum(E_2)
        O = A V
        """,
        QKV,
        lambda z: (
            lambda e: (
                lambda e: (lambda e: e / e.sum(1, keepdim=True) @ z.V)(e / e.sum(0, keepdim=True))
            )(e / e.sum(1, keepdim=True))
        )(torch.exp(z.Q @ z.K.T / math.sqrt(2))),
    ),
    Work(
        "a block of global context (Cao et al. 2019)",
        """
        w : d_model × 1
        A = softmax((X w)^T)
        C = A X
        Y = X + relu(LayerNorm(C W_1, eps=1e-5)) W_2
        """,
        {"X": (4, 3), "w": (3, 1), "W_1": (3, 2), "W_2": (2, 3)},
        lambda z: z.X + torch.relu(layer(columns(z.X @ z.w).T @ z.X @ z.W_1, eps=1e-5)) @ z.W_2,
    ),
    Work(
        "a gated linear recurrent unit (De et al. 2024)",
        """
        R = sigmoid(X W_a + b_a)
        U = sigmoid(X W_x + b_x)
        A = exp(-8 R ∘ ln(1 + exp(b_l)))
        H[0] = 0
        H[t] = A[t] ∘ H[t-1] + sqrt(1 - A[t] ∘ A[t]) ∘ (U[t] ∘ X[t])
        O[t,:] = H[t]
        """,
        {"X": (4, 3), "W_a": (3, 3), "b_a": (1, 3), "W_x": (3, 3), "b_x": (1, 3), "b_l": (1, 3)},
        _rglru,
    ),
    Work(
        "long short-term memory (Hochreiter and Schmidhuber 1997)",
        """
        cell(c, j, f, u) = sigmoid(f) * c + sigmoid(j) * tanh(u)
        J = X W_i;  F = X W_f;  G = X W_o;  U = X W_c
        Z[t] = [
          sigmoid(G[t] + Z[t-1][:, 1:2] U_o) ∘ tanh(cell(Z[t-1][:, 3:4], J[t] + Z[t-1][:, 1:2] U_i,
            F[t] + Z[t-1][:, 1:2] U_f, U[t] + Z[t-1][:, 1:2] U_c)),
          cell(Z[t-1][:, 3:4], J[t] + Z[t-1][:, 1:2] U_i, F[t] + Z[t-1][:, 1:2] U_f,
            U[t] + Z[t-1][:, 1:2] U_c)]
        O[t,:] = Z[t][:, 1:2]
        """,
        {
            "X": (3, 2),
            **{f"W_{x}": (2, 2) for x in "ifoc"},
            **{f"U_{x}": (2, 2) for x in "ifoc"},
            "Z_0": (1, 4),
        },
        _lstm,
    ),
    Work(
        "a soft mixture of experts (Puigcerver et al. 2024)",
        """
        L = X F
        D = softmax(L^T)
        C = softmax(L)
        Y = C (relu(D X W_1) W_2)
        """,
        {"X": (4, 3), "F": (3, 2), "W_1": (3, 4), "W_2": (4, 3)},
        lambda z: soft(z.X @ z.F) @ (torch.relu(columns(z.X @ z.F).T @ z.X @ z.W_1) @ z.W_2),
    ),
    Work(
        "Fourier transforms as a mixer (Lee-Thorp et al. 2022)",
        """
        C : n × n;  S : n × n;  C_d : d_model × d_model;  S_d : d_model × d_model
        C[i,j] = cos(2 π (i - 1) (j - 1) / n)
        S[i,j] = sin(2 π (i - 1) (j - 1) / n)
        C_d[i,j] = cos(2 π (i - 1) (j - 1) / d_model)
        S_d[i,j] = sin(2 π (i - 1) (j - 1) / d_model)
        Y = LayerNorm(X + C X C_d - S X S_d, eps=1e-5)
        """,
        {"X": (4, 3)},
        _fnet,
    ),
    Work(
        "attention on attention (Huang et al. 2019)",
        """
        V_a = softmax(Q K^T / sqrt(d_k)) V
        U = [Q, V_a] W_U + b_U
        G = sigmoid([Q, V_a] W_G + b_G)
        O = G ∘ U
        """,
        {**QKV, "W_U": (5, 2), "b_U": (1, 2), "W_G": (5, 2), "b_G": (1, 2)},
        lambda z: (lambda y: torch.sigmoid(y @ z.W_G + z.b_G) * (y @ z.W_U + z.b_U))(
            torch.cat((z.Q, attend(z.Q, z.K, z.V)), -1)
        ),
    ),
    Work(
        "attention flow in both directions (Seo et al. 2017)",
        """
        u_1 : d × 1;  u_2 : d × 1;  b_3 : 1 × d
        S = H u_1 + (U u_2)^T + (H ∘ b_3) U^T
        A = softmax(S) U
        B = softmax(rowmax(S)^T) H
        G = [H, A, H ∘ A, H ∘ B]
        """,
        {"H": (4, 2), "U": (3, 2), "u_1": (2, 1), "u_2": (2, 1), "b_3": (1, 2)},
        _bidaf,
    ),
    Work(
        "structured self-attention (Lin et al. 2017)",
        """
        A = softmax(W_2 tanh(W_1 H^T))
        M = A H
        """,
        {"H": (4, 3), "W_1": (2, 3), "W_2": (2, 2)},
        lambda z: soft(z.W_2 @ torch.tanh(z.W_1 @ z.H.T)) @ z.H,
    ),
    Work(
        "addresses of a Turing machine (Graves et al. 2014)",
        """
        β : number;  g : number;  γ : number;  b_s : 1 × 3
        C = softmax(β unit(K) unit(M)^T)
        G = g C + (1 - g) W_0
        L[i,j] = 1 if mod(i - j, 4) == 1 else 0
        R[i,j] = 1 if mod(j - i, 4) == 1 else 0
        W = G L ∘ b_s[:, 1:1] + G ∘ b_s[:, 2:2] + G R ∘ b_s[:, 3:3]
        φ(x) = x^γ
        E = φ(W)
        O = (E / rowsum(E)) M
        """,
        {
            "K": (1, 3),
            "M": (4, 3),
            "W_0": (1, 4),
            "b_s": (1, 3),
            "beta": (),
            "g": (),
            "gamma": (),
        },
        _turing,
        positive=("W_0", "b_s", "g", "gamma"),
    ),
    Work(
        "squared distances (Kim et al. 2021)",
        """
        S = -(rowsum(Q ∘ Q) + rowsum(K ∘ K)^T - 2 Q K^T) / sqrt(d_k)
        O = softmax(S) V
        """,
        {"Q": (3, 2), "K": (4, 2), "V": (4, 3)},
        lambda z: soft(-(torch.cdist(z.Q, z.K) ** 2) / math.sqrt(2)) @ z.V,
    ),
    Work(
        "a mixer of perceptrons (Tolstikhin et al. 2021)",
        """
        W_1 : d_ff × n;  W_2 : n × d_ff
        U = X + W_2 GELU(W_1 LayerNorm(X, eps=1e-5))
        Y = U + GELU(LayerNorm(U, eps=1e-5) W_3) W_4
        """,
        {"X": (3, 2), "W_1": (4, 3), "W_2": (3, 4), "W_3": (2, 5), "W_4": (5, 2)},
        lambda z: (lambda u: u + f.gelu(layer(u, eps=1e-5) @ z.W_3) @ z.W_4)(
            z.X + z.W_2 @ f.gelu(z.W_1 @ layer(z.X, eps=1e-5))
        ),
    ),
)
