"""Which keys a query may see: mask matrices of 0 and −∞ that are added to the scores.

A mask is a matrix M with 0 where query i may attend to key j and −∞ where it may not; several
masks are added, which allows only what all of them allow, or joined by `AnyOf`. Adding a mask is
adding a class and a row of `MASKS` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, ClassVar, Self

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError, nearest, shown
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.positions import (
    HIDDEN,
    SEEN,
    Causal,
    Documents,
    Mask,
    Padding,
    Prefix,
)
from symattn.nodes.rule import Cases, Condition, Const, Index, Plus, Rule, rule_of
from symattn.nodes.sparse import Dilated, Global, Strided, Window
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

__all__ = [
    "COMBINED",
    "MASKS",
    "Allowed",
    "AnyOf",
    "Causal",
    "Dilated",
    "Documents",
    "Global",
    "Kept",
    "Mask",
    "Masked",
    "Padding",
    "Prefix",
    "Strided",
    "Window",
    "mask_of",
    "part_of",
    "reason_of",
]

#: The masks that a spec can name.
MASKS: Mapping[str, type[Mask]] = {
    "causal": Causal,
    "padding": Padding,
    "window": Window,
    "prefix": Prefix,
    "documents": Documents,
    "dilated": Dilated,
    "strided": Strided,
    "global": Global,
}

#: The names that join a list of masks: a key is seen if any of them, or all of them, allow it.
COMBINED = ("any", "all")

#: How many masks may be joined.
_MOST_JOINED = 8


class Allowed(Node):
    """A boolean matrix as a mask: m_ij = 0 where b_ij is true (1), else −∞.

    True is where a query may attend, as in ONNX, JAX and PyTorch's scaled_dot_product_attention.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: ONNX operator Attention, input ``attn_mask``.
    """

    source: ClassVar[str] = "ONNX, operator Attention"

    def __new__(cls, matrix: Any) -> Self:
        return super().__new__(cls, as_matrix(matrix, "Allowed"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the boolean matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Cases(rule_of(self.args[0], i, j), "=", Const(sympy.S.One), SEEN, HIDDEN)

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("allow", roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Allowed(flip(self.args[0]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.where(
            arithmetic.equals(args[0], 1), arithmetic.zero, arithmetic.minus_infinity
        )


class AnyOf(Node):
    """The union of masks: m_ij = 0 where any of them is 0, else −∞.

    Shapes: all n × m. Raises `SymattnError` if there is no argument, one is no matrix, or two
    differ in size.
    Source: Zaheer et al., *Big Bird* (2020), section 2 (a window together with global tokens).

    >>> print(AnyOf(Window(3, 3, 0), Global(3, 3, [1])))
    any(window(3, 3, 0), global(3, 3, {1}))
    >>> AnyOf(Window(3, 3, 0), Global(3, 3, [1])).as_explicit()
    Matrix([
    [0,   0,   0],
    [0,   0, -oo],
    [0, -oo,   0]])
    """

    source: ClassVar[str] = "Zaheer et al. 2020, section 2"

    def __new__(cls, *masks: Any) -> Self:
        matrices = [as_matrix(mask, "AnyOf") for mask in masks]
        if not matrices:
            raise SymattnError("AnyOf: no mask to join; give one or more")
        for matrix in matrices[1:]:
            _same_shape("AnyOf", matrices[0], matrix)
        return super().__new__(cls, *matrices)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the masks."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        out: Rule = HIDDEN
        for mask in reversed(self.args):
            out = _decided(_mask_rule(mask, i, j), SEEN, out)
        return _pruned(out, {})

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("any", roman=True), *map(speller.matrix, self.args))

    def _flip(self, flip: Any) -> MatrixExpr:
        return AnyOf(*map(flip, self.args))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        seen = reduce(lambda one, other: one | other, (arithmetic.equals(arg, 0) for arg in args))
        return arithmetic.where(seen, arithmetic.zero, arithmetic.minus_infinity)


class Masked(Node):
    """Scores with a mask added: g_ij = z_ij + m_ij.

    Where m_ij is −∞ the sum is −∞ whatever z_ij is, NaN included: a masked value never leaks.

    Shapes: both n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.3.

    >>> print(Masked(sympy.MatrixSymbol("Z", 2, 2), Causal(2, 2)))
    Z + causal(2, 2)
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.3"

    adjoint_because: ClassVar[str] = (
        "Behind a mask of {−∞} a score has no say: its gradient is 0. Elsewhere it passes."
    )

    def __new__(cls, scores: Any, mask: Any) -> Self:
        return super().__new__(cls, as_matrix(scores, "Masked"), as_matrix(mask, "Masked"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Plus((rule_of(self.args[0], i, j), rule_of(self.args[1], i, j)))

    def _spell(self, speller: Speller) -> Tree:
        return t.plus([speller.matrix(arg) for arg in self.args])

    def _entry(self, i: Index, j: Index, **kwargs: Any) -> sympy.Expr:
        hidden = self.args[1][i, j] is sympy.S.NegativeInfinity
        return sympy.S.NegativeInfinity if hidden else super()._entry(i, j, **kwargs)

    def _flip(self, flip: Any) -> MatrixExpr:
        return Masked(flip(self.args[0]), flip(self.args[1]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Kept(upstream, self.args[1])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        scores, mask = args
        hidden = arithmetic.hidden(mask)
        kept = arithmetic.where(hidden, arithmetic.zero, scores)
        added = arithmetic.where(hidden, arithmetic.zero, mask)
        return arithmetic.where(hidden, arithmetic.minus_infinity, arithmetic.add(kept, added))


class Kept(Node):
    """Scores where a mask hides nothing, and 0 elsewhere: g_ij = s_ij if m_ij > −∞, else 0.

    For weights without exponentials, where −∞ would not become 0. What is not kept never leaks,
    NaN and infinities included.

    Shapes: both n × m. Raises `SymattnError` if an argument is no matrix or they differ in size.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.3 (causal sums).

    >>> print(Kept(sympy.MatrixSymbol("S", 2, 2), Causal(2, 2)))
    keep(S, causal(2, 2))
    """

    source: ClassVar[str] = "Katharopoulos et al. 2020, section 3.3"

    adjoint_because: ClassVar[str] = (
        "A score that is not kept has no say: its gradient is 0. Elsewhere it passes."
    )

    def __new__(cls, scores: Any, mask: Any) -> Self:
        matrices = as_matrix(scores, "Kept"), as_matrix(mask, "Kept")
        _same_shape("Kept", *matrices)
        return super().__new__(cls, *matrices)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        mask = _pruned(_mask_rule(self.args[1], i, j), {})
        seen = rule_of(self.args[0], i, j)
        if _is_decision(mask):
            return _put(mask, seen, SEEN)
        return Cases(mask, "=", HIDDEN, SEEN, seen)

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("keep", roman=True), *map(speller.matrix, self.args))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Kept(flip(self.args[0]), flip(self.args[1]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Kept(upstream, self.args[1]) if place == 0 else None

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.where(arithmetic.hidden(args[1]), arithmetic.zero, args[0])


def mask_of(
    name: Any, rows: Any, columns: Any, parameter: Any = True, start: Any = 0
) -> MatrixExpr:
    """The mask of this name and size, from what a spec says of it.

    `name` is a row of `MASKS`, or ``any`` (a key is seen if one of the masks allows it) or
    ``all`` (if each of them does). The parameter of those two is a list of masks, each a name or
    a table of one key: ``{any = [{window = 1}, {global = [1]}]}``; they may be nested, and join
    up to 8 masks in all. Row 0 is the query at position `start`, column 0 the key at position 0.

    Raises `SymattnError` for an unknown name and for a parameter that does not fit.

    >>> print(mask_of("any", 4, 4, [{"window": [1, 0]}, {"global": [1]}]))
    any(window(4, 4, 1, 0), global(4, 4, {1}))
    >>> print(mask_of("all", 4, 4, ["causal", {"window": 2}]))
    causal(4, 4) + window(4, 4, 2)
    """
    left = iter(range(_MOST_JOINED))

    def made(name: Any, parameter: Any) -> MatrixExpr:
        if isinstance(name, str) and name in MASKS:
            if next(left, None) is None:
                raise SymattnError(f"mask: more than {_MOST_JOINED} masks are joined; give fewer")
            return MASKS[name].of(rows, columns, parameter, start)
        if name not in COMBINED:
            known = nearest(str(name), (*MASKS, *COMBINED))
            raise SymattnError(f"mask {shown(name)} is not known{known}")
        if not isinstance(parameter, list | tuple) or not 0 < len(parameter) <= _MOST_JOINED:
            raise SymattnError(
                f'mask "{name}": give a list of 1 to {_MOST_JOINED} masks: '
                f"{{{name} = [{{window = 1}}, {{global = [1]}}]}}"
            )
        parts: list[MatrixExpr] = []
        for part in parameter:
            mask = made(*_named(part, name))
            if mask not in parts:
                parts.append(mask)
        if len(parts) == 1:
            return parts[0]
        return AnyOf(*parts) if name == "any" else sympy.MatAdd(*parts)

    try:
        return made(name, parameter)
    except RecursionError:
        raise SymattnError("mask: masks are nested too deeply; give fewer levels") from None


def part_of(name: str, parameter: Any, before: int, keys: int) -> Any:
    """What a spec says of a mask, for the queries after the first `before` and so many keys.

    >>> part_of("all", ["causal", {"documents": [1, 1, 2, 2]}], 2, 3)
    ['causal', {'documents': [1, 1, 2]}]
    """
    if name in COMBINED:
        parts = [(part, _named(part, name)) for part in parameter]
        return [
            part if isinstance(part, str) else {own: part_of(own, value, before, keys)}
            for part, (own, value) in parts
        ]
    return MASKS[name].part(parameter, before, keys) if name in MASKS else parameter


def reason_of(mask: MatrixExpr) -> str:
    """Why a mask is there, in sentences: those of its parts where it joins several."""
    if isinstance(mask, Mask):
        return mask.reason
    if isinstance(mask, Allowed):
        return "A query may attend only where the matrix says so."
    if isinstance(mask, AnyOf | sympy.MatAdd):
        reasons = dict.fromkeys(filter(None, map(reason_of, mask.args)))
        if isinstance(mask, AnyOf):
            return " ".join(["A key is seen if any of the masks allows it.", *reasons])
        return " ".join(reasons)
    return ""


def _named(part: Any, owner: str) -> tuple[Any, Any]:
    """One mask of a list, as its name and parameter."""
    if isinstance(part, str):
        return part, True
    if isinstance(part, Mapping) and len(part) == 1:
        return next(iter(part.items()))
    raise SymattnError(
        f'mask "{owner}": {shown(part)} is not one mask; give a name or a table of one key'
    )


def _same_shape(owner: str, one: MatrixExpr, other: MatrixExpr) -> None:
    for size, against in zip(shape_of(one), shape_of(other), strict=True):
        if size.is_number and against.is_number and size != against:
            shapes = " and ".join("{} × {}".format(*shape_of(matrix)) for matrix in (one, other))
            raise SymattnError(f"{owner}: matrices of {shapes}; give matrices of one shape")


def _mask_rule(mask: MatrixExpr, i: Index, j: Index) -> Rule:
    """The entry rule of a mask; a sum of masks is decided by one after the other."""
    if isinstance(mask, sympy.MatAdd):
        rules = [_mask_rule(part, i, j) for part in mask.args]
        if all(map(_is_decision, rules)):
            return reduce(lambda out, rule: _put(rule, out, HIDDEN), reversed(rules))
    return rule_of(mask, i, j)


def _decided(mask: Rule, seen: Rule, otherwise: Rule) -> Rule:
    """`seen` where the mask is 0, else `otherwise`, under the mask's own conditions if it can."""
    if _is_decision(mask):
        return _put(mask, seen, otherwise)
    return Cases(mask, "=", SEEN, seen, otherwise)


def _pruned(rule: Rule, known: Mapping[Condition, bool]) -> Rule:
    """The rule without conditions that an outer one has settled already."""
    if not isinstance(rule, Cases):
        return rule
    condition = rule.left, rule.sign, rule.right
    if condition in known:
        return _pruned(rule.value if known[condition] else rule.otherwise, known)
    value = _pruned(rule.value, {**known, condition: True})
    otherwise = _pruned(rule.otherwise, {**known, condition: False})
    return value if value == otherwise else Cases(*condition, value, otherwise)


def _is_decision(rule: Rule) -> bool:
    """Whether a rule only decides between 0 and −∞."""
    if isinstance(rule, Cases):
        return _is_decision(rule.value) and _is_decision(rule.otherwise)
    return rule in (SEEN, HIDDEN)


def _put(rule: Rule, seen: Rule, otherwise: Rule) -> Rule:
    """A rule that decides between 0 and −∞, deciding between these two instead."""
    if isinstance(rule, Cases):
        branches = _put(rule.value, seen, otherwise), _put(rule.otherwise, seen, otherwise)
        return Cases(rule.left, rule.sign, rule.right, *branches)
    return seen if rule == SEEN else otherwise
