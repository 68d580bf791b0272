"""The road to attention, rung by rung: each adds one idea, and a number shows what it mends.

The rungs follow how people are led to it: a fixed ratio, relevance by one vector, a query of its
own, softmax, scaling, values apart from keys, several heads, positions, masking; and the recurrent
net they began from. Every number printed is evaluated here, none is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy

from symattn.arithmetic.decide import decide
from symattn.arithmetic.quantity import exactly
from symattn.attention.spec import Attention
from symattn.derivations import Derivation, Evaluation, Given
from symattn.documents.blocks import Block, Break, Document, Paragraph
from symattn.documents.data import Data, derivation_data
from symattn.documents.outline import derivation_document, outline
from symattn.documents.shown import Shown
from symattn.documents.views import View
from symattn.errors import SymattnError, nearest, quote
from symattn.notation.numbers import number
from symattn.notation.text import line

#: Small vectors with one disagreement: the first and the last key point apart.
_KEYS = [[2, 0], [1, 1], [-1, 1]]
_VALUES = [[1, 0], [0, 1], [1, 1]]
_QUERIES = [[1, 1], [2, -1], [0, 1]]
_EYE = [[1, 0], [0, 1]]
_GIVEN = {"Q": _QUERIES, "K": _KEYS, "V": _VALUES}
_PLACES = [[0, 0], [1, 0], [0, 1]]
_TOKENS = {"X": _KEYS, "W_Q": _EYE, "W_K": _EYE, "W_V": _EYE}
_WORDS = {"n": ["Evan's", "dog", "Riley"], "m": ["Evan's", "dog", "Riley"]}

#: What is shown of a rung's steps.
_VIEWS: tuple[View, ...] = ("formula", "value")


@dataclass(frozen=True)
class Rung:
    """One step of the road: an idea, attention so far, and what is still wrong with it."""

    name: str
    idea: str
    spec: Attention
    given: Mapping[str, Given]
    steps: tuple[str, ...]
    wrong: Callable[[Evaluation], str]

    def make(self) -> tuple[Derivation, Evaluation]:
        """Its derivation, with the words of a sentence where it is about these, and the values."""
        words = {"Q", "K", "V", "X", "scores", "weights"} & set(self.given)
        rows = len(next(iter(self.given.values())))
        named = words and rows == len(_WORDS["n"]) and self.spec.heads is None
        derivation = self.spec.derivation(list(self.given), labels=_WORDS if named else {})
        return derivation, derivation.evaluate(**self.given)


def climbed(name: str) -> Rung:
    """The rung of this name; raises `SymattnError` with the nearest name otherwise."""
    for rung in LADDER:
        if rung.name == name:
            return rung
    raise SymattnError(f"no rung is called {quote(name)}{nearest(name, [r.name for r in LADDER])}")


def _values(spec: Attention, **given: Given) -> Evaluation:
    """The values that other numbers give."""
    return spec.derivation(list(given)).evaluate(**given)


def _number(value: sympy.Expr, digits: int = 4) -> str:
    """A proven decimal of an exact value."""
    return line(number(decide(exactly(value), digits, tiny=digits).text))


def _entry(values: Evaluation, name: str, row: int, column: int) -> str:
    return str(values[name].decimals()[row][column]).replace("-", "−")


def _says_fixed(values: Evaluation) -> str:
    first = _entry(values, "output", 0, 0)
    return (
        f"the ratio is the same whatever the words are: output[1,1] = {first} for any two words "
        "with values 1 and 1, and nothing determines which words are blended."
    )


def _says_ratio(values: Evaluation) -> str:
    found = values["weights"].decimals()[0]
    ratio = Attention(scale=False, normaliser="sum")
    try:
        _values(ratio, Q=[[1, 0]], K=[[1, 0], [-1, 0]], V=[[1], [2]])["weights"].decimals()
    except SymattnError as error:
        refusal = str(error).split(";", maxsplit=1)[0]
    other = _values(ratio, Q=[[1, 0]], K=[[2, 0], [-1, 0]], V=[[1], [2]])
    negative = other["weights"].decimals()[0]
    return (
        f"here the weights are {', '.join(found)}; with scores 2 and −1 they would be "
        f"{negative[0]} and {negative[1].replace('-', '−')}, a negative share; with 1 and −1 there "
        f"are none ({refusal})."
    )


def _says_symmetric(values: Evaluation) -> str:
    a, b = _entry(values, "scores", 0, 1), _entry(values, "scores", 1, 0)
    return (
        f"K Kᵀ is symmetric: scores[1,2] = {a} = scores[2,1] = {b}. The score of Riley for dog "
        "and that of dog for Riley cannot differ."
    )


def _says_query(values: Evaluation) -> str:
    a, b = _entry(values, "scores", 0, 1), _entry(values, "scores", 1, 0)
    spread = variance_of_dot_product(16)
    steep, flat = saturated_gradient(1), saturated_gradient(16)
    return (
        f"the scores need not be symmetric (scores[1,2] = {a}, scores[2,1] = {b}), but they grow "
        f"with d_k: over all ±1 vectors of width 16 the variance of q·k is {spread}. With a lead "
        f"of 1 the softmax's derivative p(1 − p) is {_number(steep)}, with a lead of 16 only "
        f"{_number(flat)}: the gradient vanishes."
    )


def _says_scaled(values: Evaluation) -> str:
    return (
        f"divided by √16, that variance is {variance_of_dot_product(16) / 16}. Still, with V = K "
        "the output can only be a mixture of keys."
    )


def _says_tied(values: Evaluation) -> str:
    apart = _values(Attention(), **_GIVEN)
    return (
        f"with V = K output[1,:] is {', '.join(values['output'].decimals()[0])}, a mixture of "
        f"keys; with separate values it is {', '.join(apart['output'].decimals()[0])}.".replace(
            "-", "−"
        )
    )


def _says_heads(values: Evaluation) -> str:
    weights = values["weights"].decimals()
    one, two = weights[0][0], weights[1][0]
    return (
        f"one word has different weights in each head: head 1 gives {', '.join(one)}, "
        f"head 2 {', '.join(two)}; a single head has only one set of weights. But the "
        "order of the words still makes no difference."
    )


def _says_order(values: Evaluation) -> str:
    turned = _values(Attention(source="self"), **{**_TOKENS, "X": _KEYS[::-1]})
    here, there = values["output"].exact.tolist(), turned["output"].exact.tolist()[::-1]
    same = "the same" if here == there else "another"
    return f"read backwards, the sentence gives every word {same} output: order is ignored."


def _says_placed(values: Evaluation) -> str:
    spec = Attention(source="self", positions="learned")
    turned = _values(spec, **{**_TOKENS, "X": _KEYS[::-1], "positions": _PLACES})
    here, there = values["output"].decimals(), turned["output"].decimals()[::-1]
    return (
        f"now order matters: the first word's output is {', '.join(here[0])}, read backwards "
        f"{', '.join(there[0])}. But a word may still attend to later words.".replace("-", "−")
    )


def _says_causal(values: Evaluation) -> str:
    rows = values["weights"].decimals()
    return (
        f"later words get weight 0: the first row is {', '.join(rows[0])}. Decoders use this mask."
    )


def variance_of_dot_product(width: int) -> sympy.Integer:
    """The variance of q·k over all vectors of ±1 of this width, by counting.

    q·k is a sum of `width` independent signs, so it takes 2^width equally likely values.

    >>> [variance_of_dot_product(width) for width in (1, 4, 8)]
    [1, 4, 8]
    """
    total = sum((2 * up - width) ** 2 * int(sympy.binomial(width, up)) for up in range(width + 1))
    return sympy.Integer(total) / 2**width


def saturated_gradient(lead: int) -> sympy.Expr:
    """P (1 − p) for two keys whose scores differ by `lead`: the slope of the softmax.

    >>> saturated_gradient(0)
    1/4
    """
    p = 1 / (1 + sympy.exp(-lead))
    return p * (1 - p)


def recurrent_influence(steps: int, weight: sympy.Rational | str = "9/10") -> sympy.Expr:
    """∂h_T/∂h_1 of h_t = tanh(w h_{t−1} + x_t) with h_1 = 1/2 and no further input.

    It is a product of Jacobians, Π w (1 − h_t²) over the steps between; attention reaches any
    word in one step instead. Source: Bengio, Simard, Frasconi, *Learning Long-Term Dependencies
    with Gradient Descent is Difficult* (1994), section III.

    >>> recurrent_influence(1)
    9/10 - 9*tanh(9/20)**2/10
    """
    w, state, influence = sympy.Rational(weight), sympy.Rational(1, 2), sympy.S.One
    for _ in range(steps):
        state = sympy.tanh(w * state)
        influence = influence * w * (1 - state**2)
    return influence


def gated_influence(steps: int, gate: sympy.Rational | str = "9/10") -> sympy.Expr:
    """∂h_T/∂h_1 of a GRU whose update gate keeps `gate` of the state: gate^T, slower but falling.

    Source: Cho et al., *Learning Phrase Representations using RNN Encoder–Decoder* (2014),
    section 2.3, eq. 7, with a constant gate and a candidate that does not depend on the state.

    >>> gated_influence(2)
    81/100
    """
    return sympy.Rational(gate) ** steps


def before_attention() -> str:
    """The contrast the ladder begins from, in numbers."""
    plain = ", ".join(f"{steps}: {_number(recurrent_influence(steps))}" for steps in (1, 5, 10))
    gated = ", ".join(f"{steps}: {_number(gated_influence(steps))}" for steps in (1, 5, 10))
    return (
        "In a recurrent network the first word affects the last by a product of Jacobians, "
        f"Π w (1 − h²). With w = 9/10 its influence, by number of steps, is {plain}; with a GRU's "
        f"gate at 9/10, {gated}. In attention every word is one step away from every other: its "
        "influence is its weight."
    )


LADDER: tuple[Rung, ...] = (
    Rung(
        "fixed-ratio",
        "Blend two values in a fixed ratio.",
        Attention(),
        {"weights": [["3/4", 0, "1/4"], [0, 1, 0], ["1/4", 0, "3/4"]], "V": _VALUES},
        ("weights", "output"),
        _says_fixed,
    ),
    Rung(
        "one-vector",
        "Score each word with one vector; the weights are shares of the sum.",
        Attention(scale=False, normaliser="sum"),
        {"Q": [[1, 2]], "K": [[2, 0], [1, 1]], "V": _EYE},
        ("scores", "weights", "output"),
        _says_ratio,
    ),
    Rung(
        "symmetric",
        "Compare the vectors of all words with each other, and take the softmax.",
        Attention(scale=False),
        {**_GIVEN, "Q": _KEYS},
        ("scores", "weights"),
        _says_symmetric,
    ),
    Rung(
        "query",
        "Give each word a query as well as a key.",
        Attention(scale=False),
        _GIVEN,
        ("scores", "weights"),
        _says_query,
    ),
    Rung(
        "scaled",
        "Divide the scores by √d_k.",
        Attention(),
        _GIVEN,
        ("scaled", "weights"),
        _says_scaled,
    ),
    Rung(
        "value",
        "Use separate vectors as values and as keys.",
        Attention(tie="key-value"),
        {"Q": _QUERIES, "K": _KEYS},
        ("weights", "output"),
        _says_tied,
    ),
    Rung(
        "heads",
        "Use several heads, each with weights of its own.",
        Attention(heads=2),
        {"Q": [_QUERIES, _KEYS], "K": [_KEYS, _QUERIES], "V": [_VALUES, _VALUES]},
        ("weights", "heads", "concat"),
        _says_heads,
    ),
    Rung(
        "order",
        "Test whether the order of the words matters.",
        Attention(source="self"),
        _TOKENS,
        ("weights", "output"),
        _says_order,
    ),
    Rung(
        "positions",
        "Add a position vector to each word's vector.",
        Attention(source="self", positions="learned"),
        {**_TOKENS, "positions": _PLACES},
        ("placed", "weights", "output"),
        _says_placed,
    ),
    Rung(
        "causal",
        "Mask out later words.",
        Attention(mask="causal"),
        _GIVEN,
        ("masked", "weights", "output"),
        _says_causal,
    ),
)


def ladder_document(rungs: Sequence[Rung], brief: bool = False) -> Document:
    """Rungs as blocks, the road to the first before all of them; `brief` for a screen."""
    parts: list[Document] = []
    for rung in rungs:
        derivation, values = rung.make()
        shown = outline(Shown(derivation, values, views=_VIEWS, only=rung.steps))
        inside = derivation_document(shown, facts=brief, prefix=f"{rung.name}-").blocks
        note = Paragraph((f"In numbers: {rung.wrong(values)}",), "note")
        title = f"{1 + LADDER.index(rung)}. {rung.name}: {rung.idea}"
        parts.append(Document(title, (Break(), *inside, note, Break())))
    if len(parts) == 1:
        return Document("", tuple(parts)) if brief else parts[0]
    before: tuple[Block, ...] = (Paragraph((before_attention(),)), Break())
    return Document("" if brief else "The road to attention", (*before, *parts))


def ladder_data(rungs: Sequence[Rung]) -> list[dict[str, Data]]:
    """Rungs as plain data, each with the derivation that it shows."""
    found = []
    for rung in rungs:
        derivation, values = rung.make()
        data = {"name": rung.name, "idea": rung.idea, "in_numbers": rung.wrong(values)}
        shown = derivation_data(Shown(derivation, values, only=rung.steps))
        found.append({"number": 1 + LADDER.index(rung)} | data | {"derivation": shown})
    return found
