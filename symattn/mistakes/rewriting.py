"""A misconception as equations: what a step should be = what is done instead.

``scaled: S / c = S`` says of which step, or steps, the left side is the expression, and what takes
its place. Lines stand between semicolons, and all have to fit; of several steps (``Q, K, V: …``)
those that fit are changed. ``where scaled = S / c`` only says what letters are, ``if m > 1`` which
sizes or steps there have to be. A line without steps is tried on all, inside their expressions too.

A capital on a left side stands for any matrix, a small letter for any number but a divisor of 1.
Words are the names of steps and inputs. A letter that no left side has is the matrix that goes by
it, or a size. What a node on the left has besides its matrices is kept unless it is said.

``in dK: weights = Z`` is about parts of a step's expression, all that fit; ``through weights: …``
also of the steps between the scores and it. ``K[k]`` is what head i has of its group, the k-th.
"result" is A V, "last" the last step, "earlier" one before it that has its shape, "normaliser" the
weights (the softmax as one, though its exponentials be steps), "gradients" those by what is given
(``gradients dQ: …``), "d_logits" that of the scores that weights are made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import permutations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ReadError, SymattnError, quote
from symattn.grammar import (
    Apart,
    Call,
    Compared,
    Indexed,
    Joined,
    Name,
    Number,
    Part,
    Tree,
    read_right,
)
from symattn.grammar import sides as split_sides
from symattn.mistakes.base import SENSELESS, Change, Misconception, Steps
from symattn.mistakes.words import FUNCTIONS, WORDS
from symattn.nodes.arguments import Extent, Matrix
from symattn.nodes.base import Node, shape_of
from symattn.nodes.heads import Head, head_of, heads_in, stack_of
from symattn.nodes.lines import LineQuotient
from symattn.nodes.masks import Masked, VisibleScores, added_mask
from symattn.nodes.normalise import Softmax
from symattn.nodes.operators import shape_in
from symattn.nodes.scale import Quotient
from symattn.nodes.written import Writer
from symattn.step import HEAD, Step

#: The words that are no function and no letter: steps, inputs, and what attention is made of.
_NAMES = (
    *("memory", "latent", "bias", "mask", "logits", "scores", "scaled", "capped", "biased"),
    *("masked", "weights", "row_max", "concat", "d_scores", "d_weights", "earlier"),
    "gate_scores",
)

#: The steps between the scores and their softmax, the last first.
_BETWEEN = ("masked", "biased", "capped")

#: The expressions that are written with a sign, and by how many of their parts.
_SIGNED: Mapping[str, tuple[type[sympy.Basic], ...]] = {
    "*": (sympy.MatMul,),
    "+": (Masked, sympy.MatAdd),
    "/": (Quotient, LineQuotient),
    "∘": (sympy.HadamardProduct,),
    "T": (sympy.Transpose,),
}

#: Those whose parts have no order.
_UNORDERED = (sympy.MatAdd, sympy.HadamardProduct)

_COMPARISONS = {"<": sympy.Lt, "≤": sympy.Le, ">": sympy.Gt, "≥": sympy.Ge, "≠": sympy.Ne}


class _Refused(SymattnError):
    """The equations do not fit here."""


@dataclass(frozen=True)
class _Line:
    """The steps of a line, its two sides, or one of them.

    `inside` looks within expressions, `through` also within the steps that stand in one.
    """

    steps: tuple[str, ...]
    left: Tree
    right: Tree | None = None
    inside: bool = False
    through: bool = False


@dataclass(frozen=True)
class _Letters:
    """What letters stand for: each with how many matrices there are of the step that it is of.

    `kept` are the numbers of nodes by the names of these arguments; `masking` says that what is
    added is a mask.
    """

    values: Mapping[str, tuple[sympy.Basic, sympy.Expr | None]] = field(default_factory=dict)
    kept: Mapping[str, sympy.Basic] = field(default_factory=dict)
    masking: bool = False


@cache
def _lines(text: str) -> tuple[tuple[_Line, ...], tuple[_Line, ...], tuple[Tree, ...]]:
    """What letters are, the equations, and what has to be. Raises `ReadError`."""
    known, equations, tests = list[_Line](), list[_Line](), list[Tree]()
    for line in map(str.strip, text.split(";")):
        if line.startswith("if "):
            tests.append(_test(line.removeprefix("if ")))
        elif line.startswith("where "):
            step, right = split_sides(line.removeprefix("where "))
            name = step.removeprefix("in ")
            known.append(_Line((name,), _read(right), inside=name != step))
        else:
            names, _, equation = line.rpartition(":")
            left, right = split_sides(equation)
            words = names.replace(",", " ").split()
            through = words[:1] == ["through"]
            inside = not names or words[0] == "in" or through
            where = tuple(words[1:] if names and inside else words)
            equations.append(_Line(where, _read(left), _read(right), inside, through))
    return tuple(known), tuple(equations), tuple(tests)


def _test(text: str) -> Tree:
    """N > 1, or the name of what there has to be: mask, no mask."""
    if text.isidentifier():
        return Name(text)
    if text.startswith("no "):
        return Joined("not", (Name(text.removeprefix("no ")),))
    return _read(text)


def _read(text: str) -> Tree:
    return read_right(text, _NAMES, {**WORDS, **FUNCTIONS})


def misconception_of(name: str, equation: str, instead: str, tell: str) -> Misconception:
    """A misconception that somebody states. Raises `ReadError` for what is no equation."""
    try:
        _, equations, _ = _lines(equation)
    except ReadError as error:
        raise ReadError(f"misconception {quote(name)}: {error}") from None
    if not equations:
        raise ReadError(f"misconception {quote(name)}: an equation is missing; write A = B")
    return Misconception(name, instead, tell, "the worksheet", equation)


def rewritten(steps: Steps, *texts: str) -> Change:
    """What the first text that fits makes of steps; nothing where none does."""
    for text in texts:
        try:
            change = _changed(steps, text)
        except SymattnError:
            continue
        if change:
            return change
    return {}


def _changed(steps: Steps, text: str) -> Change:
    known, equations, tests = _lines(text)
    letters, found = _Letters(), dict[str, MatrixExpr]()
    for line in (*known, *equations):
        fitting = [one for step in _meant(steps, line) if (one := _on(steps, line, step, letters))]
        if not fitting:
            raise _Refused(text)
        letters = fitting[0][0]
        found.update({name: new for _, name, new in fitting if new is not None})
    if not all(_Made(steps, letters, None).holds(test) for test in tests):
        raise _Refused(text)
    return found


def _meant(steps: Steps, line: _Line) -> Iterator[Step]:
    """The steps that a line is about; of "gradients", those named that are by what is given."""
    if line.steps[:1] == ("gradients",):
        named = line.steps[1:]
        yield from (step for step in steps.gradients if not named or step.name in named)
        return
    for name in line.steps or steps.steps:
        found = steps.called(name)
        if found is not None:
            yield found


def _on(
    steps: Steps, line: _Line, step: Step, letters: _Letters
) -> tuple[_Letters, str, MatrixExpr | None] | None:
    """What the letters are then, and the step's expression; None where a line does not fit."""
    if line.inside and isinstance(line.left, Name):
        return _in_place_of(steps, line, step, letters)
    whole = step.expr
    if line.steps == ("normaliser",) and steps.softmax is not None:
        whole = Softmax(steps.softmax)
    first: _Letters | None = None
    other: dict[MatrixExpr, MatrixExpr] = {}
    for part in sympy.preorder_traversal(whole) if line.inside else (whole,):
        if line.inside and steps.made(part) != part:
            continue
        now = _Matching(steps, step.count).match(line.left, part, letters)
        if now is None or not isinstance(part, MatrixExpr):
            continue
        first = first or now
        new = _built(steps, line, step, now)
        if new is not None and new != part and shape_of(new) == shape_of(part):
            other[part] = new
    if first is None or not (other or line.right is None):
        return None
    if line.right is None:
        return first, step.name, None
    return first, step.name, whole.xreplace(other) if line.inside else other[whole]


def _in_place_of(
    steps: Steps, line: _Line, step: Step, letters: _Letters
) -> tuple[_Letters, str, MatrixExpr | None] | None:
    """A step with another matrix in the place of one by its name; of each head with its own."""
    assert isinstance(line.left, Name)
    symbol = steps.symbols.get(line.left.name)
    new = _built(steps, line, None, letters)
    if symbol is None or new is None or shape_of(new) != shape_of(symbol):
        return None
    whole, other = step.expr, {symbol: new}
    for name in _BETWEEN if line.through else ():
        if name in steps.steps and name != line.left.name:
            whole = whole.xreplace({steps.symbols[name]: steps.steps[name].expr})
    if head_of(symbol) is not None:
        own = {head for head in heads_in(whole) if head.symbol == stack_of(symbol)}
        other = {head: new.xreplace({HEAD: head.head}) for head in own}
    expr = whole.xreplace(other)
    return None if expr == whole else (letters, step.name, expr)


def _built(steps: Steps, line: _Line, step: Step | None, letters: _Letters) -> MatrixExpr | None:
    """What a line puts in the place of its left side; None where it has no right side, or none."""
    try:
        return line.right and _Made(steps, letters, step).made(line.right)
    except SENSELESS:  # shapes that do not fit, heads where there are none
        return None


class _Matching:
    """Left sides on the expressions of a step of which there are `count`."""

    def __init__(self, steps: Steps, count: sympy.Expr | None) -> None:
        self.steps, self.count = steps, count

    def match(self, tree: Tree, expr: sympy.Basic, letters: _Letters) -> _Letters | None:
        """What the letters stand for if this is the expression; None where it is another."""
        match tree:
            case Number(value):
                return letters if expr == sympy.Rational(value) else None
            case Name(name) if name in _NAMES:
                return letters if expr == self.steps.named(name) else None
            case Name(name):
                return self._bind(name, expr, letters)
            case Call(name, parts, options) if name in WORDS:
                return self._node(WORDS[name], parts, options, expr, letters)
            case Indexed(Name(name), (Part(index),)):
                return self._of_group(name, index, expr, letters)
            case Apart(sign, parts) if isinstance(expr, _SIGNED.get(sign, ())):
                if sign == "/" and expr.args[1] == 1:
                    return None
                masking = letters.masking or added_mask(expr) is not None
                letters = replace(letters, masking=masking)
                orders = permutations(expr.args) if isinstance(expr, _UNORDERED) else [expr.args]
                found = (self._all(parts, order[: len(parts)], letters) for order in orders)
                whole = sign == "/" or len(parts) == len(expr.args)
                return next(filter(None, found), None) if whole else None
        return None

    def _of_group(
        self, name: str, index: Tree | None, expr: sympy.Basic, letters: _Letters
    ) -> _Letters | None:
        """What head i has of its group: of a step by its name, or of any by a letter."""
        head = head_of(expr)
        if index is None or head is None or isinstance(head, sympy.Symbol):
            return None
        known: MatrixExpr | None = self.steps.symbols.get(name)
        if known is None and len(name) == 1:
            found = self._bind(name, stack_of(expr), letters)
        else:
            found = letters if getattr(known, "symbol", None) == stack_of(expr) else None
        return found and self.match(index, head, found)

    def _all(
        self, trees: Sequence[Tree], parts: Sequence[sympy.Basic], letters: _Letters
    ) -> _Letters | None:
        found: _Letters | None = letters
        for tree, part in zip(trees, parts, strict=True):
            found = found and self.match(tree, part, found)
        return found

    def _bind(self, name: str, expr: sympy.Basic, letters: _Letters) -> _Letters | None:
        if isinstance(expr, MatrixExpr) is not name[:1].isupper():
            return None
        if name in letters.values and letters.values[name][0] != expr:
            return None
        return replace(letters, values={**letters.values, name: (expr, self.count)})

    def _node(
        self,
        kind: type[Node],
        parts: Sequence[Tree],
        options: Sequence[tuple[str, Tree | str]],
        expr: sympy.Basic,
        letters: _Letters,
    ) -> _Letters | None:
        """A node, under its own name or as a step; what a text leaves out may be anything."""
        node = self.steps.made(expr)
        if type(node) is not kind or not isinstance(node, Node):
            return None
        kept = {
            argument.name: value
            for argument, value in zip(node.arguments, node.args, strict=True)
            if not isinstance(argument, Matrix)
        }
        masking = letters.masking or kind is VisibleScores
        found: _Letters | None = replace(letters, kept={**letters.kept, **kept}, masking=masking)
        for name, part in (*zip(_said(kind), parts, strict=False), *options):
            value = node.args[node.places[name]]
            if isinstance(part, str):  # a word: half
                found = (
                    found if node.arguments[node.places[name]].read(part, name) == value else None
                )
            else:
                found = found and self.match(part, value, found)
        return found


def _said(kind: type[Node]) -> list[str]:
    """The arguments of a node in the order of a text, which leaves out its sizes."""
    return [argument.name for argument in kind.arguments if not isinstance(argument, Extent)]


class _Made(Writer):
    """Right sides, with what the letters of left sides stand for, in the place of a step."""

    def __init__(self, steps: Steps, letters: _Letters, step: Step | None) -> None:
        super().__init__({}, {}, ())
        self.steps, self.meant, self.step = steps, letters, step

    def made(self, tree: Tree) -> sympy.Expr:
        """The expression of a text. Raises `SymattnError` where it has none."""
        match tree:
            case Call(name, parts, options) if name in WORDS:
                return self._node(
                    WORDS[name],
                    [self.made(part) for part in parts],
                    {
                        option: value if isinstance(value, str) else self.made(value)
                        for option, value in options
                    },
                )
            case Indexed(Name(name), (Part(index),)) if index is not None:
                known = self.steps.symbols.get(name)
                symbol = self._value(name) if known is None else known.symbol
                return Head(symbol, self.made(index))
            case Call(name, parts) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(self.made, parts))
            case Apart("^", (base, exponent)):
                return self.made(base) ** self.made(exponent)
            case Apart("/", (_, divisor)) if self.made(divisor) == 1:
                raise _Refused("nobody divides by 1")
            case Apart("+", (scores, mask)) if self.meant.masking:
                value, added = self.made(scores), self.made(mask)
                if isinstance(value, MatrixExpr) and shape_in(value) == shape_in(added):
                    return Masked(value, added)
        return super().made(tree)

    def _node(
        self,
        kind: type[Node],
        values: Sequence[sympy.Expr],
        options: Mapping[str, sympy.Expr | str],
    ) -> MatrixExpr:
        """A node; what is not said is what a node on a left side has, or its default."""
        kept = dict(self.meant.kept)
        heads = 1 if self.step is None else self.step.heads(self.steps.derivation.sizes)
        if heads > 1:
            kept = {"index": HEAD, "heads": sympy.Integer(heads), **kept}
        names = [argument.name for argument in kind.arguments]
        given = {**dict(zip(_said(kind), values, strict=False)), **options}
        return kind(**{**{name: kept[name] for name in names if name in kept}, **given})

    def _symbol(self, name: str) -> sympy.Expr:
        return sympy.oo if name == "∞" else self._value(name)

    def _value(self, name: str) -> sympy.Basic:
        """What a letter or a word stands for. Raises `SymattnError` where there is nothing."""
        if name in self.meant.values:
            value, count = self.meant.values[name]
            other = self.step is not None and count != self.step.count
            if other and isinstance(value, MatrixExpr):
                raise _Refused(name)  # its index, if it has one, counts something else
            return value
        found = self.steps.named(name)
        if found is None:
            raise _Refused(name)
        return found

    def holds(self, test: Tree) -> bool:
        """Whether sizes and steps are as an ``if`` says."""
        match test:
            case Name(name):
                return self.steps.named(name) is not None
            case Joined("not", (part,)):
                return not self.holds(part)
            case Compared((left, right), (sign,)):
                compared = _COMPARISONS[sign](self.made(left), self.made(right))
                return compared is sympy.true
        return False
