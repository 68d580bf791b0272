"""Which choices mean something together: the rest is refused with the reason, never dropped.

Every line begins with the axis that has to change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from symattn.attention.builder import Choice
from symattn.attention.norms import NORMALISATIONS
from symattn.attention.outputs import GATES
from symattn.attention.plan import BIASED, PER_HEAD, Plan
from symattn.attention.scoring import BIASES, SCORES
from symattn.attention.sources import POSITIONS
from symattn.errors import SymattnError, counted, nearest, quote
from symattn.nodes.normalise import NORMALISERS

#: The axes whose choices have options.
AXES: Mapping[str, Mapping[str, Choice]] = {
    "norm": NORMALISATIONS,
    "positions": POSITIONS,
    "bias": BIASES,
    "output_gate": GATES,
}


def check_options(axis: str, name: str, options: Mapping[str, object]) -> None:
    """Refuse an option that the scheme does not have, and one that another makes idle."""
    known = AXES[axis][name].options
    for option in options:
        if option not in known:
            hint = nearest(str(option), known) or "; leave it out"
            raise SymattnError(f"{axis}: {name} has no option {quote(option)}{hint}")
    if not isinstance(options.get("values", True), bool):
        raise SymattnError(f"{axis}: values = {quote(options['values'])}: choose true or false")
    if "clip" in options and len(options) > 1:
        raise SymattnError(
            f"{axis}: {name} with clip has a number for each distance; leave the other options out"
        )


def check_meaning(plan: Plan) -> None:
    """Refuse choices that have no meaning together, and say why."""
    source, masks = plan.source, plan.mask
    rules: tuple[tuple[bool | None, str], ...] = (
        (
            bool(plan.unfold) and plan.normaliser != "softmax",
            f'unfold: only a softmax has exponentials, not "{plan.normaliser}"',
        ),
        (
            not NORMALISERS[plan.normaliser].additive_mask
            and any(name == "additive" for name, _ in masks),
            f'mask: numbers cannot be added before "{plan.normaliser}"; use true and false',
        ),
        (
            plan.heads is None and any(value == PER_HEAD for _, value in masks),
            "mask: a matrix for each head needs heads; say how many",
        ),
        (
            plan.kv_heads is not None and plan.heads is None,
            "kv_heads: groups share keys among several heads; say how many heads there are",
        ),
        (
            isinstance(plan.heads, int)
            and isinstance(plan.kv_heads, int)
            and plan.heads % plan.kv_heads != 0,
            f"kv_heads: {_heads(plan)} cannot be shared evenly by {plan.kv_heads}",
        ),
        (
            plan.output_form == "sum" and plan.heads is None,
            "output_form: a sum over heads needs heads; say how many",
        ),
        (
            plan.output_form == "sum" and plan.output_projection is False,
            "output_form: the sum form is a sum of projections; it needs W_O",
        ),
        (
            plan.scales_both and SCORES[plan.score].unscaled != "",
            f"scale: {SCORES[plan.score].unscaled}; scale the scores",
        ),
        (
            plan.tie == "query-key" and plan.cache and bool(plan.latent),
            "tie: keys tied to the queries are not made from the latent, which alone is cached",
        ),
        (
            bool(plan.latent) and source in ("given", "bare"),
            'latent: the latent is projected from X; use source = "self"',
        ),
        (
            bool(plan.latent) and source == "separate",
            "latent: keys and values come from one latent, and so from one sequence; use source = "
            '"cross"',
        ),
        (
            plan.tie == "key-value" and source == "separate",
            "tie: values that are the keys have no vectors of their own to come from",
        ),
        (
            not plan.places_values and (source in ("cross", "separate") or bool(plan.latent)),
            "positions: values here are not made of X alone; leave values out",
        ),
        (
            not plan.places_values and plan.tie == "key-value",
            "positions: values that are the keys have their positions; leave values out",
        ),
        (plan.embedded and source == "given", "embedded: X is looked up, so Q is not given"),
        (
            plan.query_latent and source in ("given", "bare"),
            'query_latent: queries are projected from X by way of it; use source = "self"',
        ),
        (
            plan.decoupled and source == "given",
            'positions: the decoupled part is projected from X; use source = "self"',
        ),
        (
            plan.absorbed and (plan.score != "dot" or plan.feature_map is not None),
            "latent: only a plain dot product absorbs the key projection matrix; use latent = true",
        ),
        (
            plan.absorbed and plan.tie == "query-key",
            "latent: keys tied to the queries have no projection matrix to absorb",
        ),
        (
            plan.absorbed and bool({"K", "V"} & set(_biases(plan))),
            "latent: weights are absorbed by products, and a bias cannot be; leave the biases out",
        ),
        (
            plan.absorbed and plan.rotary is not None and not plan.decoupled,
            "latent: a rotation stands between the weights to be absorbed; use decoupled = true",
        ),
        (
            source == "bare" and plan.cache,
            "cache: bare vectors are not projected, so there are no keys and values to cache",
        ),
        (
            source == "bare" and plan.tie is not None,
            "tie: bare vectors are queries, keys and values already, so there is nothing to tie",
        ),
        (
            source == "bare" and plan.kv_heads is not None,
            "kv_heads: bare vectors are the same for all heads, so groups have nothing to share",
        ),
        (
            bool(plan.projection_bias) and not plan.projections,
            'projection_bias: nothing is projected here; use source = "self", or add W_O',
        ),
        (
            plan.output_gate is not None and source == "given",
            'output_gate: the gate is projected from X; use source = "self"',
        ),
        (
            plan.tie == "query-key" and source in ("given", "cross", "separate"),
            "tie: keys can only be the queries where both come from X",
        ),
        (
            source == "bare" and plan.positions is not None and plan.positions[0] == "rotary",
            "positions: rotary needs projected queries and keys; bare vectors are not projected",
        ),
        (
            plan.positions is not None and plan.positions[0] != "rotary" and source == "given",
            "positions: they are added to X; where Q and K are given, use rotary",
        ),
    )
    for wrong, why in rules:
        if wrong:
            raise SymattnError(why)
    if plan.projection_bias is not True:
        for letter in plan.projection_bias or ():
            if letter not in plan.projections:
                raise SymattnError(
                    f"projection_bias: {letter} is not made by a projection here; leave it out"
                )
    for name, _ in plan.norm:
        _check_norm(plan, name)


def _biases(plan: Plan) -> Collection[str]:
    """The letters of the biases that are asked for."""
    return BIASED if plan.projection_bias is True else plan.projection_bias or ()


def _check_norm(plan: Plan, name: str) -> None:
    """Refuse a norm of what is not there, or that has no place where it is asked for."""
    norm, source = plan.norm_of(name), plan.source
    late, joined = bool(norm.get("rotated")), bool(norm.get("joined"))
    rules: tuple[tuple[bool, str], ...] = (
        (name == "Q_latent" and not plan.query_latent, "there is none; use query_latent = true"),
        (name == "latent" and not plan.latent, "there is none; use latent = true"),
        (
            name == "concat" and (plan.heads is None or plan.output_form == "sum"),
            "no heads are concatenated here; normalise the output, or say how many heads there are",
        ),
        (
            name in ("Q", "K", "V") and source == "bare",
            "bare vectors are not projected, so there are none apart from X",
        ),
        (
            plan.absorbed and (name in ("K", "V") or (name == "Q" and late)),
            "a norm stands between the weights to be absorbed; use latent = true",
        ),
        (late and plan.rotary is None, 'nothing is rotated here; use positions = "rotary"'),
        (
            (joined or norm.get("gain") == PER_HEAD or norm.get("shift") == PER_HEAD)
            and plan.heads is None,
            "there is one head; say how many there are",
        ),
    )
    for wrong, why in rules:
        if wrong:
            raise SymattnError(f"norm: {name}: {why}")


def _heads(plan: Plan) -> str:
    return counted(plan.heads, "head") if isinstance(plan.heads, int) else "heads"
