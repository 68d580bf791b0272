"""Reverse mode and forward mode over steps: more steps, named after those they belong to.

Source: Griewank, Walther, *Evaluating Derivatives*, 2nd ed. (2008), chapter 3; for attention, Dao,
Fu, Ermon, Rudra, Ré, *FlashAttention* (2022), appendices B.2 (the formulas) and B.4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import words
from symattn.derivatives.rules import Share, backward_states, change, shares, summed
from symattn.errors import SymattnError, nearest, quote
from symattn.nodes.heads import GroupSum, Head, HeadSum, head_of, is_one
from symattn.nodes.lines import EntrySum, Filled, LineSum
from symattn.nodes.masks import HIDING, VisibleScores, added_mask
from symattn.nodes.number import NumberSymbol
from symattn.nodes.operators import filling
from symattn.nodes.recurrence import AtOne
from symattn.notation.letters import CHANGE, GRADIENT, LOSSES, derived_from, prefixed
from symattn.step import HEAD, Facts, Input, Item, Step, leading_to, letter_of

_REVERSE = "Griewank and Walther 2008, section 3.2"
_FORWARD = "Griewank and Walther 2008, section 3.1"

#: The name and the letter of rowsum(dO ∘ O).
DOTS = ("output_dots", "D")
_DOTS_SOURCE = "Dao et al., FlashAttention (2022), appendix B.4"

#: The index that runs through the heads of a group.
_MEMBER = sympy.Symbol("member", integer=True)


@dataclass
class Graph:
    """Inputs and steps, and who reads whom, by letter."""

    inputs: Sequence[Input]
    steps: Sequence[Step]
    sizes: Mapping[sympy.Symbol, int]

    @cached_property
    def items(self) -> dict[str, Item]:
        """Inputs and steps, by letter."""
        return {item.letter: item for item in (*self.inputs, *self.steps)}

    def found(self, name: object, role: str) -> Item:
        """The input or step of this name or letter."""
        for item in self.items.values():
            if isinstance(name, str) and name in (item.name, item.letter):
                return item
        names = [item.name for item in self.items.values()]
        hint = nearest(name, names)
        raise SymattnError(f"{role}: {quote(name)} is not part of this derivation{hint}")

    def behind(self, letters: Iterable[str]) -> set[str]:
        """These letters and all that they are made of."""
        return leading_to(self.steps, letters)

    def ahead(self, letters: Iterable[str]) -> set[str]:
        """These letters and all that moves with them."""
        out = set(letters)
        for step in self.moving:
            if out & set(step.operands):
                out.add(step.letter)
        return out

    @cached_property
    def moving(self) -> list[Step]:
        """The steps but for those that only decide, which a small change leaves as they are."""
        return [step for step in self.steps if not isinstance(step.expr, HIDING)]

    def choices(self, letter: str) -> list[Step]:
        """The steps that decide by a matrix."""
        deciding = (step for step in self.steps if isinstance(step.expr, HIDING))
        return [step for step in deciding if letter in step.operands]

    def deepest_first(self, letters: Collection[str]) -> list[Step]:
        """The steps of these letters, each before those it is made of: the longest way first."""
        depths: dict[str, int] = {}
        for step in self.steps:
            depths[step.letter] = 1 + max((depths.get(x, 0) for x in step.operands), default=0)
        found = [step for step in self.steps if step.letter in letters]
        return sorted(found, key=lambda step: -depths[step.letter])

    def count(self, item: Item) -> sympy.Expr:
        """How many matrices of each head or group there are: a number, or a size."""
        return sympy.S.One if item.count is None else item.count.subs(self.sizes)


def backward(
    graph: Graph,
    *,
    wrt: Collection[str] | str | None = None,
    of: str | None = None,
    upstream: str | None = None,
    forward: bool = True,
    row_dots: bool = False,
) -> tuple[tuple[Input, ...], tuple[Step, ...]]:
    """Inputs and steps of the backward pass; see `Derivation.gradient`."""
    target = _target(graph, of)
    letters = _wanted(graph, target, wrt)
    active = graph.ahead(letters) & leading_to(graph.moving, [target.letter])
    if upstream is not None and not (isinstance(upstream, str) and upstream == "ones"):
        raise SymattnError(f'upstream = {quote(upstream)}: give "ones", or leave it out')
    gradients: list[Step] = []
    name, symbol = prefixed(GRADIENT, target.name), _symbol(GRADIENT, target.symbol)
    facts: Facts = {"title": _title("gradient", target), "count": target.count}
    start = Input(name, symbol, meaning=_meaning(target), **facts)
    if forward:
        gradients += _loss(graph, target, None if upstream == "ones" else symbol)
    if upstream == "ones":
        why = f"The loss is the sum of all entries of {{{target.letter}}}: each has gradient 1."
        ones = filling(sympy.S.One, target.shape)
        gradients.append(Step(name, symbol, ones, "upstream gradient", why, _REVERSE, **facts))
    gradients += _reverse(graph, active, letters)
    if row_dots:
        gradients = _with_row_dots(graph, gradients)
    wanted = graph.behind([target.letter])
    before = [step for step in graph.steps if step.letter in wanted] if forward else []
    read = {letter for step in (*before, *gradients) for letter in step.operands}
    given = [
        Input.of(item)
        for item in graph.items.values()
        if item.letter in read and (not forward or not isinstance(item, Step))
    ]
    given += [] if upstream == "ones" else [start]
    return tuple(given), (*before, *gradients)


def _with_row_dots(graph: Graph, gradients: Sequence[Step]) -> list[Step]:
    """The same with a step D = rowsum(dO ∘ O) in place of rowsum(A ∘ dA), where O = A V.

    Raises `SymattnError` where nothing is of this form, and where D is a letter of something else.
    """
    given = {step.symbol: step for step in (*graph.steps, *gradients)}
    out: list[Step] = []
    for step in gradients:
        parts = sympy.preorder_traversal(step.expr)
        found = next(filter(None, (_output_of(part, given) for part in parts)), None)
        if found is None:
            out.append(step)
            continue
        row_sum, output = found
        if DOTS[1] in graph.items:
            raise SymattnError(f"row_dots: the letter {DOTS[1]} is taken")
        dots = sympy.MatrixSymbol(DOTS[1], *row_sum.shape)
        symbol = Head(dots, HEAD) if step.per_head else dots
        upstream = _symbol(GRADIENT, output.symbol)
        value = LineSum(sympy.HadamardProduct(upstream, output.symbol), row_sum.args[1])
        why = (
            f"{{{letter_of(upstream)}}} and {{{output.letter}}} are narrower than the weights, and "
            "their products have the same row sums."
        )
        rule = "rowsum(A ∘ dA) = rowsum(dO ∘ O)"
        out.append(Step(DOTS[0], symbol, value, rule, why, _DOTS_SOURCE, count=step.count))
        out.append(replace(step, expr=step.expr.xreplace({row_sum: symbol})))
    if len(out) == len(gradients):
        raise SymattnError(
            "row_dots: no gradient here holds rowsum(A ∘ dA) of an output O = A V; leave it out"
        )
    return out


def _output_of(
    part: MatrixExpr, given: Mapping[MatrixExpr, Step]
) -> tuple[MatrixExpr, Step] | None:
    """A sum rowsum(A ∘ dA), and the step O = A V whose gradient makes dA = dO Vᵀ."""
    match part:
        case LineSum(args=(sympy.HadamardProduct(args=factors), _)):
            for one, other in (factors, factors[::-1]):
                passed = given[other].expr if other in given else None
                for step in given.values():
                    if not isinstance(step.expr, sympy.MatMul) or step.expr.args[:1] != (one,):
                        continue
                    values = sympy.Transpose(sympy.MatMul(*step.expr.args[1:]))
                    back = sympy.MatMul(_symbol(GRADIENT, step.symbol), values)
                    if passed is not None and passed.doit() == back.doit():
                        return part, step
    return None


def _meaning(target: Item) -> str:
    return (
        f"gradient of the loss {{L}} with respect to {{{target.letter}}}, where backpropagation "
        "starts"
    )


def _loss(graph: Graph, target: Step, upstream: MatrixExpr | None) -> list[Step]:
    """The loss as a step: the sum of all entries of the target.

    Where the gradient is given, the loss is known to first order alone: L(O + δO) − L(O) is
    ⟨dO, δO⟩ + o(‖δO‖), so that L and ⟨dO, O⟩, in which dO is held fixed, have the same gradients.
    There is no such step for scores, of which −∞ may be one, nor where its letter is taken.
    """
    name = "loss" if upstream is None else "loss_linear"
    if target.logits or LOSSES[name] in graph.items:
        return []
    terms, letter = target.symbol, target.letter
    title = "loss"
    why = f"The loss {{L}} is taken to be the sum of all entries of {{{letter}}}."
    if upstream is not None:
        terms, title = sympy.HadamardProduct(upstream, terms), "linear part of the loss"
        why = (
            f"The loss {{L}} may be any number whose gradient with respect to {{{letter}}} is "
            f"{{{letter_of(upstream)}}}; its value is not given. To first order it changes by as "
            f"much as this sum, in which {{{letter_of(upstream)}}} is held fixed: both have the "
            "same gradients."
        )
    if target.per_head:
        terms = HeadSum(terms, HEAD, target.count)
    symbol = NumberSymbol(LOSSES[name])
    return [Step(name, symbol, EntrySum(terms), "loss", why, _REVERSE, title=title)]


def _target(graph: Graph, of: str | None) -> Step:
    if of is None:
        if not graph.steps:
            raise SymattnError("gradient: there is no step to differentiate")
        return graph.steps[-1]
    item = graph.found(of, "of")
    if not isinstance(item, Step):
        raise SymattnError(f"of: {item.name} is given; name a step")
    return item


def _wanted(graph: Graph, target: Step, wrt: Collection[str] | str | None) -> list[str]:
    """The letters of what is asked for, in the order of the derivation."""
    behind, moved = (leading_to(x, [target.letter]) for x in (graph.steps, graph.moving))
    if wrt is None:
        items = [item for item in graph.inputs if not item.fixed]
        return [item.letter for item in items if item.letter in moved]
    names = words(wrt, "wrt")
    if not names:
        raise SymattnError("wrt: name at least one matrix")
    found = [graph.found(name, "wrt") for name in names]
    for item in found:
        if item.letter not in behind or item.letter == target.letter:
            raise SymattnError(
                f"wrt: {target.name} does not depend on {item.name}; name a matrix from "
                f"which it is computed"
            )
        if item.letter not in moved:
            raise _without_gradient(item)
    return [letter for letter in graph.items if letter in {item.letter for item in found}]


def _reverse(graph: Graph, active: Collection[str], wanted: Collection[str]) -> list[Step]:
    """The gradients, each once all steps that read its matrix have passed theirs back."""
    order = graph.deepest_first(active)
    readers = {x: [step for step in order if x in step.operands] for x in graph.items}
    gradients: list[Step] = []
    shared: dict[str, list[tuple[Share, Step]]] = {letter: [] for letter in active}
    #: The gradients that are another matrix's, as they are: that of Z is that of G.
    passed: dict[str, MatrixExpr] = {}
    for step in order:
        upstream = passed.get(step.letter, _symbol(GRADIENT, step.symbol))
        for share in _shares(step, upstream, active, readers[step.letter]):
            shared[letter_of(share.leaf)].append((share, step))
        whole = [x for x in readers if x in active and readers[x][-1:] == [step]]
        # what many steps read comes last: dW_V, then dX
        for letter in sorted(whole, key=lambda x: len(readers[x]) > 1):
            gradient = _gradient(graph, graph.items[letter], shared[letter])
            if letter not in wanted and not graph.choices(letter) and _is_passed(gradient):
                passed[letter] = gradient.expr
            else:
                gradients.append(gradient)
    return gradients


def _shares(
    step: Step, upstream: MatrixExpr, active: Collection[str], readers: Sequence[Step]
) -> Iterator[Share]:
    """What a step passes back to each matrix that it reads."""
    seen, mask = upstream, added_mask(step.expr)
    if mask is not None and _is_weighed(step, readers):
        seen = VisibleScores(upstream, mask)
    for share in shares(step.expr, upstream, active, step.symbol):
        # it is 0 already where scores that weights alone read are hidden
        yield replace(share, gradient=upstream) if share.gradient == seen else share


def _is_weighed(scores: Step, readers: Sequence[Step]) -> bool:
    """Whether the loss depends on scores by weights alone: their gradient is 0 at −∞."""
    return bool(readers) and all(
        getattr(step.expr, "additive_mask", False) and step.expr.args[0] == scores.symbol
        for step in readers
    )


def _without_gradient(item: Item) -> SymattnError:
    """The error for a matrix that has a say in the result only where it jumps."""
    return SymattnError(
        f"wrt: {item.name} has no gradient: it only decides between values that are apart"
    )


def _gradient(graph: Graph, item: Item, found: Sequence[tuple[Share, Step]]) -> Step:
    """The sum of what all readers pass back."""
    if not found:
        raise _without_gradient(item)
    alone: list[MatrixExpr] = []
    over: dict[sympy.Expr, list[MatrixExpr]] = {}
    grouped = False
    for share, step in found:
        count, gradient = _over_heads(graph, share, step, item)
        grouped = grouped or isinstance(gradient, GroupSum)
        if count is None:
            alone.append(gradient)
        else:
            over.setdefault(count, []).append(gradient)
    heads = [HeadSum(summed(terms), HEAD, count) for count, terms in over.items()]
    because = list(dict.fromkeys(share.because for share, _ in found if share.because))
    each = next((one.each for one in (item, *(step for _, step in found)) if one.each), "")
    ways = ["more than once"] * (len(found) > 1) + _over_what(bool(over), grouped, each)
    if ways:
        ways_used = " and ".join(ways)
        because.append(f"{{{item.letter}}} is used {ways_used}, so its gradients are added.")
    because += [
        f"No gradient passes through {{{step.letter}}}: a small change leaves the choice as it is."
        for step in graph.choices(item.letter)
    ]
    rule = " and ".join(dict.fromkeys(f"backward of {step.name}" for _, step in found))
    source = next((share.source for share, _ in found if share.source), _REVERSE)
    symbol = _symbol(GRADIENT, item.symbol)
    gradient = summed([*alone, *heads])
    if isinstance(item, Step) and item.recurrent:
        gradient = backward_states(item.expr, gradient, letter_of(symbol))
        because.append("Each state also owes what the next one, which is made of it, owes.")
    return Step(
        prefixed(GRADIENT, item.name),
        symbol,
        gradient,
        rule,
        " ".join(because) or _PASSED,
        source,
        title=_title("gradient", item),
        count=item.count,
        each=each,
    )


def _over_heads(
    graph: Graph, share: Share, step: Step, item: Item
) -> tuple[sympy.Expr | None, MatrixExpr]:
    """The heads that a contribution is to be added over (None for none), and it itself."""
    leaf, gradient = share.leaf, share.gradient
    if share.whole:
        return None, gradient
    if share.binder is not None:
        index = share.binder.args[1]
        leaf, gradient = leaf.xreplace({index: HEAD}), gradient.xreplace({index: HEAD})
        count = share.binder.args[2]
    else:
        count = graph.count(step)
    if item.per_head and head_of(leaf) is not None and is_one(leaf.head):
        total = HeadSum(gradient, HEAD, count) if step.per_head else gradient
        return None, AtOne(total, leaf.head, HEAD, graph.count(item))
    if share.binder is None and not step.per_head:
        return None, gradient
    if head_of(leaf) is None:
        return count, gradient
    if leaf.head == HEAD:
        return None, gradient
    groups = graph.count(item)
    return None, GroupSum(gradient.xreplace({HEAD: _MEMBER}), _MEMBER, count, groups, HEAD)


def _over_what(over: bool, grouped: bool, each: str) -> list[str]:
    """By what a matrix is used that many heads, or tokens, share."""
    if over and each:
        return [f"at every {{{each}}}"]
    if over or grouped:
        return ["by all heads" if over else "by all heads of a group"]
    return []


def _title(kind: str, item: Item) -> str:
    """Gradient of the scores, change of the scores; nothing for an item without a title."""
    return f"{kind} of the {item.title}" if item.title else ""


def _is_passed(gradient: Step) -> bool:
    """Whether a gradient is that of another matrix, as it is."""
    kind = Head if gradient.per_head else sympy.MatrixSymbol
    return isinstance(gradient.expr, kind) and gradient.expr.shape == gradient.shape


_PASSED = "It reaches the result unchanged, so its gradient is passed on unchanged."


def _symbol(prefix: str, symbol: MatrixExpr) -> MatrixExpr:
    """The symbol of the gradient (or change) of a matrix, or of one head's."""
    (own,) = symbol.atoms(sympy.MatrixSymbol)
    return symbol.xreplace({own: own.func(prefix + own.name, *own.shape)})


# ---- forwards --------------------------------------------------------------------------------


def onward(
    graph: Graph,
    *,
    along: Collection[str] | str | None = None,
    only: Collection[str] | None = None,
) -> tuple[tuple[Input, ...], tuple[Step, ...]]:
    """Inputs and steps of the directional derivative; see `Derivation.tangent`.

    `only` names the steps whose change is wanted; all if it is None.
    """
    moved = _moved(graph, along)
    letters = {item.letter for item in moved}
    steps_of_change: list[Step] = []

    def changes(leaf: MatrixExpr) -> MatrixExpr | None:
        return _symbol(CHANGE, leaf) if letter_of(leaf) in letters else None

    for step in graph.steps:
        expr = change(step.expr, changes, step.symbol)
        why = f"{{{step.letter}}} changes by this, to first order, when its inputs change."
        if expr is None:
            if prefixed(CHANGE, step.name) not in (only or ()):
                continue
            expr, why = Filled(*step.shape, 0), f"{{{step.letter}}} does not change with these."
        letters.add(step.letter)
        steps_of_change.append(
            Step(
                prefixed(CHANGE, step.name),
                _symbol(CHANGE, step.symbol),
                expr,
                f"derivative of {step.name}",
                why,
                _FORWARD,
                title=_title("change", step),
                count=step.count,
            )
        )
    if not steps_of_change:
        names = ", ".join(item.name for item in moved)
        raise SymattnError(f"along: no step depends on {names}")
    start = [
        Input(
            prefixed(CHANGE, item.name),
            _symbol(CHANGE, item.symbol),
            meaning=f"the direction in which {{{item.letter}}} changes",
            title=_title("change", item),
            count=item.count,
        )
        for item in moved
    ]
    inputs, steps = (*graph.inputs, *start), (*graph.steps, *steps_of_change)
    if only is None:
        return inputs, steps
    whole = Graph(inputs, steps, graph.sizes)
    needed = whole.behind(whole.found(name, "only").letter for name in only)
    used = tuple(item for item in graph.inputs if item.letter in needed)
    return (*used, *start), tuple(step for step in whole.steps if step.letter in needed)


def _moved(graph: Graph, along: Collection[str] | str | None) -> list[Item]:
    """The inputs that change: those of these names, or all."""
    if along is None:
        moved: list[Item] = [
            item for item in graph.inputs if not (item.fixed or _is_gradient(item))
        ]
    else:
        moved = [graph.found(name, "along") for name in words(along, "along")]
    for item in moved:
        if isinstance(item, Step):
            raise SymattnError(f"along: {item.name} follows from the rest; name what is given")
    if not moved:
        raise SymattnError("along: name at least one matrix that is given")
    return moved


def _is_gradient(item: Item) -> bool:
    """Whether it is a matrix of the backward pass."""
    origin = derived_from(item.letter)
    return origin is not None and origin[0] == GRADIENT


def hessian_vector(
    graph: Graph,
    *,
    wrt: Collection[str] | str | None = None,
    of: str | None = None,
    upstream: str | None = None,
) -> tuple[tuple[Input, ...], tuple[Step, ...]]:
    """Inputs and steps of the Hessian times a direction; see `Derivation.hessian_vector`."""
    letters = _wanted(graph, _target(graph, of), wrt)
    names = [graph.items[letter].name for letter in letters]
    gradient = Graph(*backward(graph, wrt=names, of=of, upstream=upstream), graph.sizes)
    only = [prefixed(CHANGE, prefixed(GRADIENT, name)) for name in names]
    return onward(gradient, along=names, only=only)
