"""`Derivation`: attention as a sequence of named steps, and the door to their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import sympy

from symattn.arguments import flag, instance, word, words
from symattn.errors import NoSuchName, SymattnError, nearest, quote
from symattn.evaluate.check import Check, StepCheck
from symattn.evaluate.costs import Cost, costs_of
from symattn.evaluate.defined import defined_numbers
from symattn.evaluate.evaluation import Evaluation, StepValue
from symattn.evaluate.fusing import Plan, plan_of
from symattn.evaluate.given import Given
from symattn.evaluate.matrices import ByShapes, Place
from symattn.evaluate.value_view import value_view
from symattn.evaluate.worked import worked, worked_together
from symattn.merging import merged
from symattn.notation.latex import latex
from symattn.notation.mime import bundle
from symattn.notation.options import Notation
from symattn.restricting import restricted
from symattn.step import Input, Item, Step, listed_sizes, size_put_in

__all__ = [
    "Check",
    "Derivation",
    "Evaluation",
    "Given",
    "Input",
    "Item",
    "Place",
    "Step",
    "StepCheck",
    "StepValue",
    "defined_numbers",
    "value_view",
    "worked",
    "worked_together",
]


@dataclass(frozen=True, repr=False)
class Derivation:
    """An immutable sequence of named steps over named inputs.

    `sizes` holds the sizes that are known already (d_k = 64), `labels` the names of rows and
    columns, by size symbol (n: the query tokens); `order` names sizes as they are to be listed.
    `about` says in a clause what it computes, and `source` where that was published; `story`,
    with which documents begin, is what its tokens are about.

    >>> from symattn import Attention
    >>> derivation = Attention().derivation()
    >>> print(derivation)
    scores   S = Q Kᵀ
    scaled   Z = S/√d_k
    weights  A = softmax(Z)
    output   O = A V
    >>> derivation["output"].reason[:53]
    'For each query, the output is the sum of the values, '
    """

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    sizes: Mapping[sympy.Symbol, int] = field(default_factory=dict)
    labels: Mapping[sympy.Expr, tuple[str, ...]] = field(default_factory=dict)
    title: str = ""
    order: tuple[str, ...] = ()
    about: str = ""
    source: str = ""
    story: str = ""
    _by_shapes: ByShapes = field(default_factory=ByShapes, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, kind in (("inputs", Input), ("steps", Step)):
            wanted = f"a tuple of {kind.__name__}s"
            items = instance(getattr(self, name), (tuple, list), name, wanted)
            object.__setattr__(self, name, tuple(items))
            for item in items:
                instance(item, kind, name, wanted)
        instance(self.sizes, Mapping, "sizes", "a table of sizes")
        instance(self.labels, Mapping, "labels", "a table of names by size")
        for name in ("title", "about", "source", "story"):
            word(getattr(self, name), name)
        object.__setattr__(self, "order", words(self.order, "order"))
        known = {item.letter for item in self.inputs}
        for step in self.steps:
            for letter in step.operands:
                if letter not in known:
                    raise SymattnError(f"{step.name}: {letter} is used before any step makes it")
            if step.letter in known:
                raise SymattnError(f"{step.name}: {step.letter} names another matrix already")
            known.add(step.letter)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the steps, in order."""
        return tuple(step.name for step in self.steps)

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if isinstance(name, str) and name in (step.name, step.letter):
                return step
        raise NoSuchName(f"no step is called {quote(name)}{nearest(name, self.names)}")

    def __contains__(self, item: object) -> bool:
        """Whether this is a step, or the name or letter of one."""
        if isinstance(item, str):
            return any(item in (step.name, step.letter) for step in self.steps)
        return isinstance(item, Step) and item in self.steps

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __hash__(self) -> int:
        return hash((self.inputs, self.steps))

    def evaluate(self, *, dtype: object = "float64", **given: Given) -> Evaluation:
        """The derivation with numbers put in.

        Each input is given by name as nested lists (of numbers, or strings such as ``"1/3"``), a
        NumPy array or a SymPy matrix; a decimal is the exact rational it spells. An input of each
        head has the heads as its first axis. Raises `SymattnError` for what cannot be used.

        >>> from symattn import Attention
        >>> values = Attention().derivation().evaluate(
        ...     Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[["1/2"], [0.25]])
        >>> values["scores"].exact
        Matrix([[1, 0]])
        >>> values["weights"].decimals(3)
        [['0.670', '0.330']]
        """
        known = self._by_shapes
        return Evaluation(
            self.inputs, self.steps, given, self.sizes, self.labels, dtype, self.order, known
        )

    def plan(self) -> Plan:
        """What arrays of later steps are computed without: large steps that nobody asks for.

        It shows itself as a line for each product, with the identity that `symattn prove` proves;
        sizes that are not known yet (`subs`) stand in a condition.

        >>> from symattn import Attention
        >>> derivation = Attention().derivation()
        >>> print(derivation.plan())
        output: O = A V by rows where n m ≥ 65536, without scores, scaled, weights \
(late-normalisation)
        >>> print(derivation.subs({"n": 512, "m": 512}).plan())
        output: O = A V by rows, without scores, scaled, weights (late-normalisation)
        >>> print(derivation.subs({"n": 16, "m": 16}).plan())
        every step is computed by itself
        """
        return plan_of(self.steps)

    def subs(self, sizes: Mapping[str | sympy.Symbol, object]) -> Derivation:
        """The derivation at concrete sizes.

        >>> from symattn import Attention
        >>> Attention().derivation().subs({"n": 3, "d_k": 2})["scores"].shape
        (3, m)
        """
        symbols = {s.name: s for s in self.size_symbols}
        pairs = {}
        for size, value in instance(sizes, Mapping, "sizes", "a table of sizes").items():
            name = str(size) if isinstance(size, str | sympy.Symbol) else ""
            if name not in symbols:
                hint = nearest(name or None, symbols)
                raise NoSuchName(f"no size is called {quote(size)}{hint}")
            pairs[symbols[name]] = size_put_in(value, name)
        return replace(
            self,
            inputs=tuple(item.subs(pairs) for item in self.inputs),
            steps=tuple(step.subs(pairs) for step in self.steps),
            labels={size.subs(pairs): names for size, names in self.labels.items()},
            sizes={s: v for s, v in self.sizes.items() if s not in pairs},
        )

    @property
    def size_symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbolic sizes (n, d_model, d_k, …) in order of appearance."""
        sizes: list[sympy.Expr] = []
        items = (*self.inputs, *self.steps)
        for item in items:
            inside = item.expr.free_symbols if isinstance(item, Step) else set()
            sizes += [*item.shape, *(s for s in inside if isinstance(s, sympy.Symbol))]
        sizes += [item.count for item in items if item.count is not None]
        symbols = (symbol for size in sizes for symbol in sorted(size.free_symbols, key=str))
        return tuple(dict.fromkeys(symbol for symbol in symbols if symbol.is_positive))

    @property
    def known_sizes(self) -> dict[str, int]:
        """The sizes that are known, by name: ``{"n": 1, "m": 3, "d_k": 4}``."""
        return listed_sizes(self.sizes, self.order)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What each step costs, and all together, as formulas of the sizes.

        Raises `CannotSpell` for a formula that cannot be followed over sizes.
        """
        return costs_of(self.inputs, self.steps)

    def __repr__(self) -> str:
        return f"<Derivation of {', '.join(self.names)}>"

    def __str__(self) -> str:
        longest = max((len(name) for name in self.names), default=0)
        return "\n".join(f"{step.name:<{longest}}  {step}" for step in self.steps)

    def latex(self, notation: Notation | None = None) -> str:
        """All formulas as one ``aligned`` block, for math mode."""
        lines = [latex(step.formula(notation)).replace(" = ", " &= ", 1) for step in self.steps]
        return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return bundle(str(self), self.latex())

    def gradient(
        self,
        wrt: Collection[str] | str | None = None,
        *,
        of: str | None = None,
        upstream: str | None = None,
        forward: bool = True,
        row_dots: bool = False,
    ) -> Derivation:
        """The backward pass: the gradient of a loss L with respect to each of `wrt`.

        dM has the shape of M and holds ∂L/∂m_ij. It starts from the gradient of the step `of`
        (the last one), an input named after it (``dO``, or by its name ``d_output``); with
        `upstream` ``"ones"`` L is the sum of that step's entries. `wrt` names inputs or steps; all
        inputs if it is None. The forward steps come first, so that the same numbers can be put in;
        with `forward` False the forward matrices that are needed become inputs. `row_dots`: with a
        step D = rowsum(dO ∘ O), which is rowsum(A ∘ dA) and needs no weights.

        Raises `SymattnError` for a name that is no part of this, or that `of` does not depend on.
        Source: Dao et al., *FlashAttention* (2022), appendix B.2, whose P is our A.

        >>> from symattn import Attention
        >>> backward = Attention(scale=False).derivation().gradient(("Q", "K", "V"), forward=False)
        >>> print(backward)
        dV         dV = Aᵀ dO
        d_weights  dA = dO Vᵀ
        d_scores   dS = A ∘ (dA − rowsum(A ∘ dA) 1ᵀ)
        dQ         dQ = dS K
        dK         dK = dSᵀ Q
        """
        flag(forward, "forward")
        row_dots = flag(row_dots, "row_dots")
        from symattn.derivatives.steps import Graph, backward  # few want gradients

        graph = Graph(self.inputs, self.steps, self.sizes)
        inputs, steps = backward(
            graph, wrt=wrt, of=of, upstream=upstream, forward=forward, row_dots=row_dots
        )
        return replace(self, inputs=inputs, steps=steps)

    def tangent(self, along: Collection[str] | str | None = None) -> Derivation:
        """Forward mode: how each step changes, to first order, as the matrices `along` do.

        The change of M is δM; directions such as δQ are inputs (``delta_Q``). `along` names
        inputs; all of them if it is None. Raises `SymattnError` for a name that is not given.
        Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.1.

        >>> from symattn import Attention
        >>> print(Attention().derivation().tangent("Q")["delta_weights"])
        δA = A ∘ (δZ − rowsum(A ∘ δZ) 1ᵀ)
        """
        from symattn.derivatives.steps import Graph, onward

        inputs, steps = onward(Graph(self.inputs, self.steps, self.sizes), along=along)
        return replace(self, inputs=inputs, steps=steps)

    def hessian_vector(
        self,
        wrt: Collection[str] | str | None = None,
        *,
        of: str | None = None,
        upstream: str | None = None,
    ) -> Derivation:
        """The Hessian of the loss times a direction: the tangent of the gradient, δdQ and so on.

        All of `wrt` move, along δQ and so on; what is upstream does not. No rules are needed but
        those of `gradient`. Raises as that does.
        Source: Pearlmutter, *Fast Exact Multiplication by the Hessian* (1994), section 2.

        >>> from symattn import Attention
        >>> print(Attention().derivation().hessian_vector("Q")["delta_dQ"])
        δdQ = δdS K
        """
        from symattn.derivatives.steps import Graph, hessian_vector

        graph = Graph(self.inputs, self.steps, self.sizes)
        inputs, steps = hessian_vector(graph, wrt=wrt, of=of, upstream=upstream)
        return replace(self, inputs=inputs, steps=steps)

    def restricted(self, names: Collection[str]) -> Derivation:
        """The part that follows from the named inputs or steps, which become the inputs.

        >>> from symattn import Attention
        >>> Attention().derivation().restricted({"scaled"}).names
        ('weights',)
        """
        inputs, steps = restricted(self.inputs, self.steps, words(names, "given"))
        return replace(self, inputs=inputs, steps=steps)

    def merged(self, names: Collection[str], notation: Notation | None = None) -> Derivation:
        """The steps that are named, with those between them put into their formulas.

        A step may be called by its letter too, A, as it is written in this notation. The inputs
        stay. Raises `SymattnError` for an unknown name and a formula that is too long.

        >>> from symattn import Attention
        >>> print(Attention().derivation().merged(["A"]))
        weights  A = softmax(Q Kᵀ / √d_k)
        """
        return replace(self, steps=merged(self.inputs, self.steps, words(names, "steps"), notation))
