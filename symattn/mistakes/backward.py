"""Misconceptions of backward passes: what is done instead of a step of the gradient.

They are tried on the gradients that a program computed, where its forward pass is right; so are
those of the forward pass, which a backward pass may make where it computes the weights again.
Source of the formulas: Dao, Fu, Ermon, Rudra, Ré, *FlashAttention* (2022), appendix B.2.
"""

from __future__ import annotations

from dataclasses import replace

import sympy

from symattn.mistakes.base import Misconception
from symattn.mistakes.masks import MASKS
from symattn.mistakes.programs import PROGRAMS
from symattn.mistakes.scores import SCORES
from symattn.mistakes.weights import WEIGHTS
from symattn.notation.letters import GRADIENT, prefixed

_DAO = "Dao et al., FlashAttention (2022), appendix B.2"
_GRIEWANK = "Griewank, Walther, Evaluating Derivatives (2008), section 3.2"
_AINSLIE = "Ainslie et al. 2023, section 2.2"

#: What a dropout of the usual rates multiplies by, or forgets to.
_RATES = ("1/10", "1/5", "3/10", "1/2")

#: A softmax has sums of rows in its gradient, and a sigmoid has none.
_SUMMED = "where in d_logits = linesum(D)"


def _times(factor: sympy.Rational, *names: str) -> str:
    """All gradients, or those of these names, times a number."""
    lines = (f"gradients {name}: D_{name} = D_{name} / ({1 / factor})" for name in names)
    return "; ".join(lines) or f"gradients: D = D / ({1 / factor})"


def _again(row: Misconception) -> Misconception:
    """What a backward pass does where it computes the weights again, and differently."""
    return replace(
        row,
        name=f"recomputed-{row.name}",
        instead=f"the backward pass uses other weights than the forward pass: {row.instead}",
        rather="",
    )


_ROWS: tuple[Misconception, ...] = (
    Misconception(
        "detached",
        "no gradient reaches what is given: the result is cut off from it",
        "Leave out detach, .data and no_grad; a backward returns a gradient for every input.",
        _GRIEWANK,
        "gradients: D = zeros(D)",
    ),
    Misconception(
        "weights-detached",
        "no gradient passes through the weights: those of queries and keys are 0",
        "The weights depend on queries and keys; let the gradient pass through the softmax.",
        _GRIEWANK,
        "gradients dQ: D = zeros(D); gradients dK: E = zeros(E)",
    ),
    *(
        Misconception(
            f"no-gradient-of-{name}",
            f"there is no gradient by {name}: it is 0, or None",
            "The backward pass returns a gradient for every matrix that it depends on.",
            _GRIEWANK,
            f"gradients {prefixed(GRADIENT, name)}: D = zeros(D)",
        )
        for name in ("Q", "K", "V", "bias", "sink", "X", "memory", "W_Q", "W_K", "W_V", "W_O")
    ),
    # ---- the scale
    Misconception(
        "gradient-not-scaled",
        "dQ and dK lack the factor 1/√d_k",
        "S/√d_k has the gradient dS = dZ/√d_k: divide before dQ = dS K and dK = dSᵀ Q.",
        _DAO,
        "d_scores: D / c = D",
    ),
    *(
        Misconception(
            f"gradient-not-scaled-of-{name}",
            f"{step} lacks the factor 1/√d_k",
            "Both dQ = dS K and dK = dSᵀ Q are of dS = dZ/√d_k.",
            _DAO,
            f"in {step}: d_scores = D; where d_scores = D / c",
        )
        for name, step in (("Q", "dQ"), ("K", "dK"))
    ),
    Misconception(
        "gradient-scaled-twice",
        "dQ and dK are divided by √d_k twice",
        "Where the queries are scaled before the product, the scale is in the scores already.",
        _DAO,
        "d_scores: D / c = D / c / c",
    ),
    *(
        Misconception(
            f"gradient-scaled-twice-of-{name}",
            f"{step} is divided by √d_k twice",
            "Where the queries are scaled before the product, dK is of the scaled queries already.",
            _DAO,
            f"in {step}: d_scores = D / c / c; where d_scores = D / c",
        )
        for name, step in (("Q", "dQ"), ("K", "dK"))
    ),
    Misconception(
        "gradient-scaled-the-other-way",
        "dQ and dK are multiplied by √d_k",
        "S/√d_k has the gradient dS = dZ/√d_k: divide here too.",
        _DAO,
        "d_scores: D / c = D / (1/c)",
    ),
    # ---- the softmax
    Misconception(
        "row-sum-missing",
        "the backward pass of the softmax is A ∘ dA: the row sum is not subtracted",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ), because all weights of a row depend on each score.",
        _DAO,
        f"d_logits: L = weights ∘ d_weights; {_SUMMED}",
    ),
    Misconception(
        "row-sum-added",
        "the row sum is added, not subtracted",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        f"d_logits: L = 2 weights ∘ d_weights - L; {_SUMMED}",
    ),
    Misconception(
        "row-sum-of-the-gradient-alone",
        "the row sum is that of dA, without the weights",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ); rowsum(A ∘ dA) is rowsum(dO ∘ O) too.",
        _DAO,
        f"in d_logits: weights ∘ d_weights = d_weights; {_SUMMED}",
    ),
    Misconception(
        "column-sum",
        "the columns of A ∘ dA are summed, not its rows",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ): the softmax is over a row, and so is the sum.",
        _DAO,
        "d_logits: L = weights ∘ plus(d_weights, -colsum(D), 1); where in d_logits = linesum(D)",
    ),
    Misconception(
        "row-mean",
        "the mean of the row is subtracted, not its sum",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        "in d_logits: linesum(D) = linesum(D) / m",
    ),
    Misconception(
        "row-sum-alone-weighed",
        "the backward pass of the softmax is dA − rowsum(A ∘ dA) 1ᵀ, without the factor A",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        ("d_logits: A ∘ plus(D, R) = plus(D, R)", "d_logits: plus(D, R) / S = plus(D, R)"),
    ),
    Misconception(
        "softmax-diagonal",
        "only the diagonal of the softmax's Jacobian is used, A ∘ (1 − A) ∘ dA, as of a sigmoid",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ): a score changes the other weights of its row too.",
        _DAO,
        f"d_logits: L = weights ∘ (1 - weights) ∘ d_weights; {_SUMMED}",
    ),
    Misconception(
        "softmax-passed-through",
        "the gradient of the weights is passed on as that of the scores",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        f"d_logits: L = d_weights; {_SUMMED}",
    ),
    # ---- the values
    Misconception(
        "values-of-unnormalised-weights",
        "dV is made of e^z, not of the weights",
        "dV = Aᵀ dO: divide by the row sums, or take off the log of the sum in the exponent.",
        _DAO,
        "in dV: weights = exp(Z); where normaliser = softmax(Z)",
    ),
    Misconception(
        "values-of-unmasked-weights",
        "dV is made of weights without the mask",
        "dV = Aᵀ dO has the weights of the forward pass, with its mask.",
        _DAO,
        "in dV: weights = softmax(Z); where weights = softmax(G); where masked = Z + M",
    ),
    Misconception(
        "values-of-scores",
        "dV is made of the scores, not of the weights",
        "dV = Aᵀ dO has the weights, after the softmax.",
        _DAO,
        (
            "in dV: weights = Z; where masked = Z + M",
            "in dV: weights = Z; where masked = keep(Z, M)",
            "in dV: weights = logits",
        ),
    ),
    Misconception(
        "values-not-transposed",
        "dV is A dO: the weights are not transposed",
        "dV = Aᵀ dO: key j gathers the gradients of the queries that attend to it.",
        _DAO,
        "in dV: weights = weights^T; if n > 1",
    ),
    # ---- transposes
    Misconception(
        "keys-not-transposed",
        "dK is dS Q: dS is not transposed",
        "dK = dSᵀ Q.",
        _DAO,
        "in dK: d_scores = d_scores^T; if n > 1",
    ),
    Misconception(
        "queries-transposed",
        "dQ is dSᵀ K: dS is transposed",
        "dQ = dS K.",
        _DAO,
        "in dQ: d_scores = d_scores^T; if n > 1",
    ),
    Misconception(
        "score-gradients-transposed",
        "dS is transposed in dQ and in dK",
        "dQ = dS K and dK = dSᵀ Q.",
        _DAO,
        "d_scores: D = D^T; if n > 1",
    ),
    Misconception(
        "weight-gradients-transposed",
        "dA is V dOᵀ: it is transposed",
        "dA = dO Vᵀ, a row for each query.",
        _DAO,
        "d_weights: D = D^T; if n > 1",
    ),
    Misconception(
        "gradients-of-queries-and-keys-exchanged",
        "dQ and dK are exchanged",
        "dQ = dS K and dK = dSᵀ Q, in the order of the arguments.",
        _DAO,
        "dQ: A = B; dK: B = A; where dQ = A; where dK = B",
    ),
    Misconception(
        "gradients-of-keys-and-values-exchanged",
        "dK and dV are exchanged",
        "A backward returns its gradients in the order of the arguments of the forward.",
        _DAO,
        "dK: A = B; dV: B = A; where dK = A; where dV = B",
    ),
    *(
        Misconception(
            f"gradient-of-{name}-by-itself",
            f"{step} is made of {own}, where {other} belongs",
            "dQ = dS K and dK = dSᵀ Q: each has the other one's matrix.",
            _DAO,
            f"in {step}: {other} = {own}",
        )
        for name, step, own, other in (("Q", "dQ", "Q", "K"), ("K", "dK", "K", "Q"))
    ),
    # ---- masks, caps
    *(
        Misconception(
            name,
            instead,
            "c tanh(z/c) has the derivative 1 − tanh²(z/c).",
            "Gemma Team, Gemma 2 (2024), section 2",
            f"d_scaled: {equation}; where capped = softcap(Z, c)",
        )
        for name, instead, equation in (
            (
                "cap-left-out",
                "the soft cap has no part in the backward pass: its derivative is taken to be 1",
                "A ∘ B = A",
            ),
            (
                "cap-not-divided",
                "the derivative of the soft cap is 1 − z_cap², of scores that are not divided by c",
                "A ∘ B = A ∘ (1 - capped ∘ capped)",
            ),
            (
                "cap-of-scores",
                "the derivative of the soft cap is 1 − (z/c)², of scores before the cap",
                "A ∘ B = A ∘ (1 - (scaled / c) ∘ (scaled / c))",
            ),
            (
                "cap-divided-twice",
                "the gradient of the soft cap is divided by c",
                "A ∘ B = (A ∘ B) / c",
            ),
        )
    ),
    # ---- heads
    *(
        Misconception(
            f"{name}{more}",
            f"{which} {words}",
            "Query heads that share keys and values add their gradients.",
            _AINSLIE,
            f"{where}groupsum(D, index=k, heads=h, groups=g, group=j) = {other}",
        )
        for name, words, other in (
            (
                "groups-not-summed",
                "that of the first query head of a group, not the sum of all",
                "at(D, k, j h / g)",
            ),
            (
                "groups-of-the-last-head",
                "that of the last query head of a group, not the sum of all",
                "at(D, k, (j + 1) h / g - 1)",
            ),
            (
                "groups-averaged",
                "the mean over the query heads of a group, not the sum",
                "groupsum(D) / (h / g)",
            ),
        )
        for more, which, where in (
            ("", "the gradient of shared keys and values is", ""),
            ("-of-K", "the gradient of shared keys is", "in dK: "),
            ("-of-V", "the gradient of shared values is", "in dV: "),
        )
    ),
    Misconception(
        "gradient-groups-tiled",
        "the gradients of keys and values are summed over the query heads i mod n_g",
        "Neighbouring query heads share keys and values: sum over ⌊i n_g/n_h⌋.",
        _AINSLIE,
        "groupsum(D, index=k, heads=h, groups=g) = "
        "groupsum(at(D, k, g mod(k, h / g) + floor(k / (h / g))))",
    ),
    Misconception(
        "gradient-of-the-first-head",
        "what all heads share has the gradient of the first head alone",
        "Sum the gradients of all heads.",
        _GRIEWANK,
        "in gradients: headsum(D, index=k) = at(D, k, 0)",
    ),
    # ---- what is used more than once
    *(
        Misconception(
            f"one-way-missing-{place + 1}",
            "the tokens are used more than once; one of these ways is missing in their gradient",
            "dX is the sum of what comes by queries, keys and values.",
            _GRIEWANK,
            (f"dX: D = lacking(D, {place})", f"d_memory: D = lacking(D, {place})"),
        )
        for place in range(3)
    ),
    *(
        Misconception(
            f"gradient-not-rotated-{name}",
            f"{step} is not rotated back",
            "A rotation passes its gradient back by the transposed rotation.",
            "Su et al. 2021, section 3.2.2",
            (f"{step}: rotaryback(A) = A", f"{step}: rotary(A) = A"),
        )
        for name, step in (("Q", "dQ"), ("K", "dK"))
    ),
    # ---- a factor
    *(
        Misconception(
            f"gradient-{name}",
            f"every gradient is {words}",
            "The loss is a sum over entries; leave the factor to who defines the loss.",
            _GRIEWANK,
            f"gradients: D = D / {size}",
        )
        for name, words, size in (
            ("over-n", "divided by the number of queries", "n"),
            ("over-m", "divided by the number of keys", "m"),
            ("over-d", "divided by d_k", "d_k"),
        )
    ),
    *(
        Misconception(
            f"gradient-times-{number}{more}".replace("/", "-over-"),
            f"{words} multiplied by {number}",
            "Compare the formulas of the backward pass, factor by factor.",
            _GRIEWANK,
            _times(sympy.Rational(number), *names),
        )
        for number in ("2", "1/2", "-1")
        for more, words, names in (
            ("", "every gradient is", ()),
            ("-of-QK", "dQ and dK are", ("dQ", "dK")),
            ("-of-Q", "dQ is", ("dQ",)),
            ("-of-K", "dK is", ("dK",)),
            ("-of-V", "dV is", ("dV",)),
        )
    ),
    *(
        Misconception(
            f"dropout-rescaled-{sympy.Rational(rate) * 100}" + "-inverse" * (power > 0) + more,
            f"{words} multiplied by {'1 − p' if power > 0 else '1/(1 − p)'} with p = "
            f"{float(sympy.Rational(rate)):g}, as if there had been dropout",
            "The backward pass rescales by 1/(1 − p) exactly where the forward pass does.",
            "Srivastava et al., Dropout (2014), section 10",
            _times((1 - sympy.Rational(rate)) ** power, *names),
        )
        for rate in _RATES
        for power in (-1, 1)
        for more, words, names in (
            ("", "every gradient is", ()),
            ("-of-V", "dV is", ("dV",)),
            ("-of-QK", "dQ and dK are", ("dQ", "dK")),
        )
    ),
)


#: Those of the forward pass that weights which are computed again can show.
_RECOMPUTED = tuple(_again(row) for row in (*WEIGHTS, *SCORES, *MASKS, *PROGRAMS))

#: All that are tried on gradients.
OF_BACKWARD: tuple[Misconception, ...] = (*_ROWS, *_RECOMPUTED)
