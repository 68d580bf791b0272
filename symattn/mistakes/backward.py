"""Misconceptions of backward passes: what is done instead of a step of the gradient.

They are tried on the gradients that a program computed, where its forward pass is right; so are
those of the forward pass, which a backward pass may make where it computes the weights again.
Source of the formulas: Dao, Fu, Ermon, Rudra, Ré, *FlashAttention* (2022), appendix B.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import methodcaller

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.mistakes.base import Change, Misconception, Steps, fits, square
from symattn.mistakes.masks import MASKS
from symattn.mistakes.programs import PROGRAMS
from symattn.mistakes.scores import SCORES
from symattn.mistakes.weights import WEIGHTS
from symattn.nodes.base import shape_of
from symattn.nodes.entrywise import Exponential
from symattn.nodes.heads import GroupSum, Head, HeadSum
from symattn.nodes.lines import Filled, LineSum, PlusVector
from symattn.nodes.scale import Quotient
from symattn.notation.letters import GRADIENT, prefixed
from symattn.step import HEAD, Step, letter_of

_DAO = "Dao et al., FlashAttention (2022), appendix B.2"
_GRIEWANK = "Griewank, Walther, Evaluating Derivatives (2008), section 3.2"
_AINSLIE = "Ainslie et al. 2023, section 2.2"

#: What a dropout of the usual rates multiplies by, or forgets to.
_RATES = ("1/10", "1/5", "3/10", "1/2")


def _results(s: Steps) -> Iterator[Step]:
    """The gradients of what is given."""
    for item in s.derivation.inputs:
        name = prefixed(GRADIENT, item.name)
        if name in s.steps:
            yield s.steps[name]


def _multiplied(number: Callable[[Steps], object], *names: str) -> Callable[[Steps], Change | None]:
    """All gradients, or those of these names, times a number."""

    def change(s: Steps) -> Change | None:
        factor = number(s)
        if factor in (None, 1):
            return None
        found = [step for step in _results(s) if not names or step.name in names]
        if names and len(found) < len(names):
            return None
        return {step.name: _times(factor, step.expr) for step in found} or None

    return change


def _times(factor: object, matrix: MatrixExpr) -> MatrixExpr:
    return Quotient(matrix, 1 / sympy.sympify(factor, strict=True))


def _nothing(*names: str) -> Callable[[Steps], Change | None]:
    """No gradient reaches these; all of them where none is named."""

    def change(s: Steps) -> Change | None:
        found = [step for step in _results(s) if not names or step.name in names]
        if len(found) < len(names):
            return None
        return {step.name: Filled(*shape_of(step.expr), 0) for step in found} or None

    return change


def _logits(s: Steps) -> Step | None:
    """The gradient of what the normaliser is applied to, by that of the weights."""
    weights = s.symbols.get("d_weights")
    if weights is None:
        return None
    letter = letter_of(weights)
    return next(
        (
            step
            for step in s.derivation.steps
            if letter in step.operands and step.name not in {x.name for x in _results(s)}
        ),
        None,
    ) or next((step for step in _results(s) if letter in step.operands), None)


def _softmax(
    make: Callable[[MatrixExpr, MatrixExpr, MatrixExpr], MatrixExpr | None],
) -> Callable[[Steps], Change | None]:
    """Something else for A ∘ (dA − r 1ᵀ), made of A, dA and the whole of it."""

    def change(s: Steps) -> Change | None:
        step, weights, upstream = _logits(s), s.symbols.get("weights"), s.symbols.get("d_weights")
        if step is None or weights is None or not step.expr.atoms(LineSum):
            return None
        made = make(weights, upstream, step.expr)
        return None if made is None or made == step.expr else {step.name: made}

    return change


def _row_sum_alone(a: MatrixExpr, da: MatrixExpr, whole: MatrixExpr) -> MatrixExpr:
    inner = sympy.HadamardProduct(a, da)
    other = sympy.HadamardProduct(da, a)
    return whole.xreplace({inner: da, other: da})


def _not_weighed(a: MatrixExpr, da: MatrixExpr, whole: MatrixExpr) -> MatrixExpr | None:
    return next(iter(whole.atoms(PlusVector)), None)


def _column_sum(a: MatrixExpr, da: MatrixExpr, whole: MatrixExpr) -> MatrixExpr:
    inner = next(iter(whole.atoms(LineSum))).args[0]
    return sympy.HadamardProduct(a, PlusVector(da, -LineSum(inner, 0), 1))


def _mean_for_sum(a: MatrixExpr, da: MatrixExpr, whole: MatrixExpr) -> MatrixExpr:
    sums = whole.atoms(LineSum)
    return whole.xreplace({one: Quotient(one, shape_of(a)[1]) for one in sums})


def _diagonal(a: MatrixExpr, da: MatrixExpr, whole: MatrixExpr) -> MatrixExpr:
    others = sympy.MatAdd(Filled(*shape_of(a), 1), -a)
    return sympy.HadamardProduct(a, others, da)


def _scale(make: Callable[[Quotient], MatrixExpr], *names: str) -> Callable[[Steps], Change | None]:
    """Something else for dS = dZ/√d_k; in the gradients of these names alone, if there are any."""

    def change(s: Steps) -> Change | None:
        step = s.steps.get("d_scores")
        if step is None or not isinstance(step.expr, Quotient):
            return None
        if not names:
            return {"d_scores": make(step.expr)}
        found = {name: s.steps[name] for name in names if name in s.steps}
        return {
            name: _in_place_of(reader.expr, step.symbol, make(step.expr))
            for name, reader in found.items()
        } or None

    return change


def _in_place_of(expr: MatrixExpr, symbol: MatrixExpr, other: MatrixExpr) -> MatrixExpr:
    """An expression with another matrix in place of a symbol; of each head with its own."""
    if not isinstance(symbol, Head):
        return expr.xreplace({symbol: other})
    own = {head for head in expr.atoms(Head) if head.args[0] == symbol.args[0]}
    return expr.xreplace({head: other.xreplace({HEAD: head.head}) for head in own})


def _values_by(
    make: Callable[[Steps], MatrixExpr | None], name: str = "dV", operand: str = "weights"
) -> Callable[[Steps], Change | None]:
    """dV, or another gradient, with another matrix in place of the weights."""

    def change(s: Steps) -> Change | None:
        step, symbol, other = s.steps.get(name), s.symbols.get(operand), make(s)
        if step is None or symbol is None or other is None or not fits(symbol, other):
            return None
        made = _in_place_of(step.expr, symbol, other)
        return None if made == step.expr else {name: made}

    return change


def _unnormalised(s: Steps) -> MatrixExpr | None:
    return None if s.softmax is None else Exponential(s.softmax)


def _unmasked(s: Steps) -> MatrixExpr | None:
    weights = s.expr("weights")
    if s.before_mask is None or s.softmax is None or weights is None:
        return None
    return weights.xreplace({s.softmax: s.before_mask})


def _turned(name: str, operand: str) -> Callable[[Steps], Change | None]:
    """A gradient with a matrix where its transpose should be, or the other way round."""

    def change(s: Steps) -> Change | None:
        step, symbol = s.steps.get(name), s.symbols.get(operand)
        if step is None or symbol is None or not square(symbol):
            return None
        return {name: _in_place_of(step.expr, symbol, sympy.Transpose(symbol))}

    return change


def _exchanged(name: str, other: str) -> Callable[[Steps], Change | None]:
    """Two gradients, each as the other."""

    def change(s: Steps) -> Change | None:
        one, two = s.expr(name), s.expr(other)
        return {name: two, other: one} if one and two and fits(one, two) else None

    return change


def _whole_turned(name: str) -> Callable[[Steps], Change | None]:
    """The transpose of a matrix of the backward pass."""

    def change(s: Steps) -> Change | None:
        expr = s.expr(name)
        return {name: sympy.Transpose(expr)} if expr is not None and square(expr) else None

    return change


def _of_group(
    make: Callable[[GroupSum], MatrixExpr], *names: str
) -> Callable[[Steps], Change | None]:
    """Something else for the sum over the query heads of a group."""

    def change(s: Steps) -> Change | None:
        found: dict[str, MatrixExpr] = {}
        for step in s.derivation.steps:
            sums = step.expr.atoms(GroupSum)
            if sums and (not names or step.name in names):
                found[step.name] = step.expr.xreplace({one: make(one) for one in sums})
        return found or None

    return change


def _member(
    place: Callable[[sympy.Expr, sympy.Expr], sympy.Expr],
) -> Callable[[GroupSum], MatrixExpr]:
    def of(whole: GroupSum) -> MatrixExpr:
        matrix, index, heads, groups, group = whole.args
        return matrix.xreplace({index: place(group, heads / groups)})

    return of


def _group_mean(whole: GroupSum) -> MatrixExpr:
    return Quotient(whole, whole.args[2] / whole.args[3])


def _tiled(whole: GroupSum) -> MatrixExpr:
    """The sum over the heads i mod g: the k-th head of group i is head k g + i."""
    matrix, index, heads, groups, group = whole.args
    per = heads / groups
    own = groups * sympy.Mod(index, per) + sympy.floor(index / per)
    return GroupSum(matrix.xreplace({index: own}), index, heads, groups, group)


def _cap(
    make: Callable[[MatrixExpr, MatrixExpr, sympy.Expr, Steps], MatrixExpr],
) -> Callable[[Steps], Change | None]:
    """Something else for dZ, made of its upstream gradient, the capped scores and the cap."""

    def change(s: Steps) -> Change | None:
        capped, step = s.symbols.get("capped"), s.steps.get("d_scaled")
        cap = getattr(s.expr("capped"), "cap", None)
        if capped is None or step is None or cap is None:
            return None
        if not isinstance(step.expr, sympy.HadamardProduct):
            return None
        upstream = step.expr.args[0]
        return {"d_scaled": make(upstream, capped, cap, s)}

    return change


def _one_less(square_of: MatrixExpr) -> MatrixExpr:
    ones = Filled(*shape_of(square_of), 1)
    return sympy.MatAdd(ones, -sympy.HadamardProduct(square_of, square_of))


def _way(place: int) -> Callable[[Steps], Change | None]:
    """The gradient of what is used more than once without one of the ways that lead to it."""

    def change(s: Steps) -> Change | None:
        for name in ("dX", "d_memory"):
            expr = s.expr(name)
            if expr is None:
                continue
            whole = max(expr.atoms(sympy.MatAdd), key=lambda one: len(one.args), default=None)
            if whole is not None and place < len(whole.args):
                left = sympy.MatAdd(*(x for k, x in enumerate(whole.args) if k != place))
                return {name: expr.xreplace({whole: left})}
        return None

    return change


def _first_head(s: Steps) -> Change | None:
    """What all heads share has the gradient of the first head alone."""
    found: dict[str, MatrixExpr] = {}
    for step in _results(s):
        for whole in step.expr.atoms(HeadSum):
            matrix, index, _ = whole.args
            found[step.name] = step.expr.xreplace({whole: matrix.xreplace({index: sympy.S.Zero})})
    return found or None


def _not_turned_back(name: str) -> Callable[[Steps], Change | None]:
    """The gradient of a matrix before its rotation is that after it."""

    def change(s: Steps) -> Change | None:
        step = s.steps.get(name)
        if step is None or type(step.expr).__name__ not in ("Rotary", "RotaryBack"):
            return None
        return {name: step.expr.args[0]}

    return change


def _over(name: str) -> Callable[[Steps], object]:
    """One over the number of queries or of keys, or over the width of the queries."""

    def number(s: Steps) -> object:
        weights = s.symbols.get("weights")
        if name == "d":
            return None if s.width is None else 1 / s.width
        return None if weights is None else 1 / shape_of(weights)["nm".index(name)]

    return number


def _always(number: object) -> Callable[[Steps], object]:
    return lambda s: sympy.Rational(number)


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
        _nothing(),
    ),
    Misconception(
        "weights-detached",
        "no gradient passes through the weights: those of queries and keys are 0",
        "The weights depend on queries and keys; let the gradient pass through the softmax.",
        _GRIEWANK,
        _nothing("dQ", "dK"),
    ),
    *(
        Misconception(
            f"no-gradient-of-{name}",
            f"there is no gradient by {name}: it is 0, or None",
            "The backward pass returns a gradient for every matrix that it depends on.",
            _GRIEWANK,
            _nothing(prefixed(GRADIENT, name)),
        )
        for name in ("Q", "K", "V", "bias", "sink", "X", "memory", "W_Q", "W_K", "W_V", "W_O")
    ),
    # ---- the scale
    Misconception(
        "gradient-not-scaled",
        "dQ and dK lack the factor 1/√d_k",
        "S/√d_k has the gradient dS = dZ/√d_k: divide before dQ = dS K and dK = dSᵀ Q.",
        _DAO,
        _scale(lambda whole: whole.args[0]),
    ),
    *(
        Misconception(
            f"gradient-not-scaled-of-{name}",
            f"{step} lacks the factor 1/√d_k",
            "Both dQ = dS K and dK = dSᵀ Q are of dS = dZ/√d_k.",
            _DAO,
            _scale(lambda whole: whole.args[0], step),
        )
        for name, step in (("Q", "dQ"), ("K", "dK"))
    ),
    Misconception(
        "gradient-scaled-twice",
        "dQ and dK are divided by √d_k twice",
        "Where the queries are scaled before the product, the scale is in the scores already.",
        _DAO,
        _scale(lambda whole: Quotient(whole, whole.args[1])),
    ),
    *(
        Misconception(
            f"gradient-scaled-twice-of-{name}",
            f"{step} is divided by √d_k twice",
            "Where the queries are scaled before the product, dK is of the scaled queries already.",
            _DAO,
            _scale(lambda whole: Quotient(whole, whole.args[1]), step),
        )
        for name, step in (("Q", "dQ"), ("K", "dK"))
    ),
    Misconception(
        "gradient-scaled-the-other-way",
        "dQ and dK are multiplied by √d_k",
        "S/√d_k has the gradient dS = dZ/√d_k: divide here too.",
        _DAO,
        _scale(lambda whole: Quotient(whole.args[0], 1 / whole.args[1])),
    ),
    # ---- the softmax
    Misconception(
        "row-sum-missing",
        "the backward pass of the softmax is A ∘ dA: the row sum is not subtracted",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ), because all weights of a row depend on each score.",
        _DAO,
        _softmax(lambda a, da, whole: sympy.HadamardProduct(a, da)),
    ),
    Misconception(
        "row-sum-added",
        "the row sum is added, not subtracted",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        _softmax(lambda a, da, whole: sympy.MatAdd(2 * sympy.HadamardProduct(a, da), -whole)),
    ),
    Misconception(
        "row-sum-of-the-gradient-alone",
        "the row sum is that of dA, without the weights",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ); rowsum(A ∘ dA) is rowsum(dO ∘ O) too.",
        _DAO,
        _softmax(_row_sum_alone),
    ),
    Misconception(
        "column-sum",
        "the columns of A ∘ dA are summed, not its rows",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ): the softmax is over a row, and so is the sum.",
        _DAO,
        _softmax(_column_sum),
    ),
    Misconception(
        "row-mean",
        "the mean of the row is subtracted, not its sum",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        _softmax(_mean_for_sum),
    ),
    Misconception(
        "row-sum-alone-weighed",
        "the backward pass of the softmax is dA − rowsum(A ∘ dA) 1ᵀ, without the factor A",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        _softmax(_not_weighed),
    ),
    Misconception(
        "softmax-diagonal",
        "only the diagonal of the softmax's Jacobian is used, A ∘ (1 − A) ∘ dA, as of a sigmoid",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ): a score changes the other weights of its row too.",
        _DAO,
        _softmax(_diagonal),
    ),
    Misconception(
        "softmax-passed-through",
        "the gradient of the weights is passed on as that of the scores",
        "dZ = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ).",
        _DAO,
        _softmax(lambda a, da, whole: da),
    ),
    # ---- the values
    Misconception(
        "values-of-unnormalised-weights",
        "dV is made of e^z, not of the weights",
        "dV = Aᵀ dO: divide by the row sums, or take off the log of the sum in the exponent.",
        _DAO,
        _values_by(_unnormalised),
    ),
    Misconception(
        "values-of-unmasked-weights",
        "dV is made of weights without the mask",
        "dV = Aᵀ dO has the weights of the forward pass, with its mask.",
        _DAO,
        _values_by(_unmasked),
    ),
    Misconception(
        "values-of-scores",
        "dV is made of the scores, not of the weights",
        "dV = Aᵀ dO has the weights, after the softmax.",
        _DAO,
        _values_by(lambda s: s.before_mask if s.before_mask is not None else s.logits),
    ),
    Misconception(
        "values-not-transposed",
        "dV is A dO: the weights are not transposed",
        "dV = Aᵀ dO: key j gathers the gradients of the queries that attend to it.",
        _DAO,
        _turned("dV", "weights"),
    ),
    # ---- transposes
    Misconception(
        "keys-not-transposed",
        "dK is dS Q: dS is not transposed",
        "dK = dSᵀ Q.",
        _DAO,
        _turned("dK", "d_scores"),
    ),
    Misconception(
        "queries-transposed",
        "dQ is dSᵀ K: dS is transposed",
        "dQ = dS K.",
        _DAO,
        _turned("dQ", "d_scores"),
    ),
    Misconception(
        "score-gradients-transposed",
        "dS is transposed in dQ and in dK",
        "dQ = dS K and dK = dSᵀ Q.",
        _DAO,
        _whole_turned("d_scores"),
    ),
    Misconception(
        "weight-gradients-transposed",
        "dA is V dOᵀ: it is transposed",
        "dA = dO Vᵀ, a row for each query.",
        _DAO,
        _whole_turned("d_weights"),
    ),
    Misconception(
        "gradients-of-queries-and-keys-exchanged",
        "dQ and dK are exchanged",
        "dQ = dS K and dK = dSᵀ Q, in the order of the arguments.",
        _DAO,
        _exchanged("dQ", "dK"),
    ),
    Misconception(
        "gradients-of-keys-and-values-exchanged",
        "dK and dV are exchanged",
        "A backward returns its gradients in the order of the arguments of the forward.",
        _DAO,
        _exchanged("dK", "dV"),
    ),
    *(
        Misconception(
            f"gradient-of-{name}-by-itself",
            f"{step} is made of {own}, where {other} belongs",
            "dQ = dS K and dK = dSᵀ Q: each has the other one's matrix.",
            _DAO,
            _values_by(methodcaller("symbol", own), step, other),
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
            _cap(make),
        )
        for name, instead, make in (
            (
                "cap-left-out",
                "the soft cap has no part in the backward pass: its derivative is taken to be 1",
                lambda upstream, capped, cap, s: upstream,
            ),
            (
                "cap-not-divided",
                "the derivative of the soft cap is 1 − z_cap², of scores that are not divided by c",
                lambda upstream, capped, cap, s: sympy.HadamardProduct(upstream, _one_less(capped)),
            ),
            (
                "cap-of-scores",
                "the derivative of the soft cap is 1 − (z/c)², of scores before the cap",
                lambda upstream, capped, cap, s: sympy.HadamardProduct(
                    upstream, _one_less(Quotient(s.symbols["scaled"], cap))
                ),
            ),
            (
                "cap-divided-twice",
                "the gradient of the soft cap is divided by c",
                lambda upstream, capped, cap, s: Quotient(s.steps["d_scaled"].expr, cap),
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
            _of_group(make, *names),
        )
        for name, words, make in (
            (
                "groups-not-summed",
                "that of the first query head of a group, not the sum of all",
                _member(lambda group, per: group * per),
            ),
            (
                "groups-of-the-last-head",
                "that of the last query head of a group, not the sum of all",
                _member(lambda group, per: group * per + per - 1),
            ),
            (
                "groups-averaged",
                "the mean over the query heads of a group, not the sum",
                _group_mean,
            ),
        )
        for more, which, names in (
            ("", "the gradient of shared keys and values is", ()),
            ("-of-K", "the gradient of shared keys is", ("dK",)),
            ("-of-V", "the gradient of shared values is", ("dV",)),
        )
    ),
    Misconception(
        "gradient-groups-tiled",
        "the gradients of keys and values are summed over the query heads i mod n_g",
        "Neighbouring query heads share keys and values: sum over ⌊i n_g/n_h⌋.",
        _AINSLIE,
        _of_group(_tiled),
    ),
    Misconception(
        "gradient-of-the-first-head",
        "what all heads share has the gradient of the first head alone",
        "Sum the gradients of all heads.",
        _GRIEWANK,
        _first_head,
    ),
    # ---- what is used more than once
    *(
        Misconception(
            f"one-way-missing-{place + 1}",
            "the tokens are used more than once; one of these ways is missing in their gradient",
            "dX is the sum of what comes by queries, keys and values.",
            _GRIEWANK,
            _way(place),
        )
        for place in range(3)
    ),
    *(
        Misconception(
            f"gradient-not-rotated-{name}",
            f"{step} is not rotated back",
            "A rotation passes its gradient back by the transposed rotation.",
            "Su et al. 2021, section 3.2.2",
            _not_turned_back(step),
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
            _multiplied(_over(size)),
        )
        for name, words, size in (
            ("over-n", "divided by the number of queries", "n"),
            ("over-m", "divided by the number of keys", "m"),
            ("over-d", "divided by d_k", "d"),
        )
    ),
    *(
        Misconception(
            f"gradient-times-{number}{more}".replace("/", "-over-"),
            f"{words} multiplied by {number}",
            "Compare the formulas of the backward pass, factor by factor.",
            _GRIEWANK,
            _multiplied(_always(number), *names),
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
            _multiplied(_always((1 - sympy.Rational(rate)) ** power), *names),
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
