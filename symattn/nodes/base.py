"""`Node`: a matrix expression whose class holds its whole meaning.

A subclass names its arguments and says its entry rule, its notation and its formula over an
arithmetic; from these the base class serves every hook through which SymPy prints, explains and
evaluates, so that a node works in plain SymPy as well as here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature
from typing import Any, ClassVar, NoReturn, Self, cast

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.printer import Printer
from sympy.tensor.array.expressions.arrayexpr_derivatives import array_derive

from symattn.arithmetic.arrays import FLOAT64
from symattn.arithmetic.base import Array, filled
from symattn.arithmetic.exact import EXACT
from symattn.errors import CannotSpell, ShapeError, SymattnError
from symattn.nodes.arguments import (
    NEEDED,
    ArgumentKind,
    Axis,
    BoundIndex,
    Extent,
    HeadIndex,
    Matrix,
    OneOf,
    Operand,
    as_matrix,
    as_scalar,
)
from symattn.nodes.numeric import Numeric, no_derivative
from symattn.nodes.rule import Index, Named, Rule, index_of, to_sympy
from symattn.nodes.spell import Speller
from symattn.notation import text
from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.options import Notation
from symattn.notation.tree import Tree

_PLAIN = Notation(limit=0)


@dataclass(frozen=True)
class Definition:
    """What a letter in an entry rule stands for: θ_t = 10000^(−2 (t − 1)/d_k)."""

    statement: Tree
    #: The letter, its index and how many of it there are, where its numbers can be listed.
    family: tuple[Named, sympy.Symbol, sympy.Expr] | None = None

    @property
    def letter(self) -> Tree:
        """What is defined, without its indices: the first letter, or the 1 that is a column."""
        every = t.parts(self.statement)
        return next(part for part in every if isinstance(part, t.Ident | t.Custom | t.Num))


class Node(Numeric):
    """A matrix expression that SymPy lacks. Subclasses give `_rule`, `_spell` and `_compute`.

    Its arguments are named in the body of its class: ``matrix, divisor = Matrix(), Scalar()``.
    They are given in that order or by name; what has a default comes last, inherited ones at the
    very end. A node that names none takes matrices, as many as there are. The shape is that of the
    first matrix, or the two sizes where it has any.
    """

    #: The arguments, in the order of `args`, and the place of each by its name.
    arguments: ClassVar[tuple[ArgumentKind, ...]] = ()
    places: ClassVar[Mapping[str, int]] = {}

    #: How equations write it, by the names of its arguments: "matrix / divisor", "rotary(matrix,
    #: base=, start=)", where an option is said if it is not the usual. Two where the word tells
    #: the axis, that of rows first. Empty where equations have no words for it.
    syntax: ClassVar[str | tuple[str, str]] = ""

    #: Its name in formulas, where it is written as a function: that in equations.
    word: ClassVar[str] = ""

    #: What a step that is this node is called in a heading, and why it is taken, in a sentence.
    heading: ClassVar[str] = ""
    reason: ClassVar[str] = ""

    #: Whether it is about all heads at once, so that the index of the head belongs to it.
    over_heads: ClassVar[bool] = False

    #: What a program says beside its lines, where they do not tell what they are for.
    remark: ClassVar[str] = ""

    #: Paper and section that the node is defined by.
    source: ClassVar[str] = ""

    #: Whether it compares numbers to choose some: exact arithmetic decides what balls leave open.
    chooses: ClassVar[bool] = False

    #: Whether some numbers have no value under the node; exact arithmetic then looks first.
    partial: ClassVar[bool] = False

    #: The numbers between which its entries are, whatever its arguments; None where there is none.
    between: ClassVar[tuple[int | None, int | None]] = (None, None)

    #: Whether its second argument divides the first.
    is_quotient: ClassVar[bool] = False

    #: Whether all its entries are one number.
    uniform: ClassVar[bool] = False

    #: Whether its entries along a line are shares, which sum to 1 at most.
    shares: ClassVar[bool] = False

    #: Whether no entry falls where an entry of its first matrix rises.
    rises: ClassVar[bool] = False

    #: How many of its matrices, the first ones, row i of the value needs row i of alone, if it
    #: needs the others as a whole (with axis 1, if it has one). None if that is not so.
    by_rows: ClassVar[float | None] = None

    #: The places of matrices that all heads share and each reads in part: their adjoints put
    #: together what all heads have.
    gathers: ClassVar[Collection[int]] = ()

    #: Whether each entry is made of the same entries of its matrices, and of numbers.
    entrywise: ClassVar[bool] = False

    #: Whether f(Aᵀ, …) = f(A, …)ᵀ, as with functions of every entry; with an axis it turns, too.
    transposes: ClassVar[bool] = False

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        own = [value for value in vars(cls).values() if isinstance(value, ArgumentKind)]
        inherited = [argument for argument in cls.arguments if argument.name not in vars(cls)]
        needed = [argument for argument in inherited if argument.default is NEEDED]
        others = [argument for argument in inherited if argument.default is not NEEDED]
        cls.arguments = tuple(
            sorted([*needed, *own, *others], key=lambda one: one.default is not NEEDED)
        )
        cls.places = {argument.name: place for place, argument in enumerate(cls.arguments)}
        turns = cls.entrywise or any(isinstance(one, Axis) for one in cls.arguments)
        cls.transposes = cls.transposes or turns
        if "syntax" in vars(cls) and "word" not in vars(cls):
            cls.word = word_of(cls.syntax if isinstance(cls.syntax, str) else cls.syntax[0])

    def __new__(cls, *given: object, **keywords: object) -> Self:
        """The node of these arguments. Raises `SymattnError` for what it cannot be made of."""
        owner, values = cls._owner(), list[sympy.Basic]()
        if not cls.arguments:
            values = [as_matrix(value, owner) for value in given]
        elif keywords or len(given) != len(cls.arguments):
            given = cls._bound(given, keywords)
        for argument, value in zip(cls.arguments, given, strict=bool(cls.arguments)):
            default = argument.otherwise if value is None else None
            values.append(argument.read(value if default is None else default(*values), owner))
        node = cast(Self, super().__new__(cls, *values))
        node._check()
        return node

    @classmethod
    def _owner(cls) -> str:
        """The name of the node in messages."""
        return cls.__name__

    @classmethod
    def _bound(
        cls, given: tuple[object, ...], keywords: Mapping[str, object]
    ) -> tuple[object, ...]:
        """All arguments in order, as Python itself binds them: TypeError for a wrong call."""
        kind = Parameter.POSITIONAL_OR_KEYWORD
        parameters = [
            Parameter(
                one.name, kind, default=Parameter.empty if one.default is NEEDED else one.default
            )
            for one in cls.arguments
        ]
        bound = Signature(parameters).bind(*given, **keywords)
        bound.apply_defaults()
        return bound.args

    def usual(self, name: str) -> sympy.Basic | None:
        """What an argument is where it is not given; None where it has to be."""
        place = self.places[name]
        argument = self.arguments[place]
        if argument.otherwise is not None:
            return argument.read(argument.otherwise(*self.args[:place]), self._owner())
        needed = argument.default is NEEDED
        return None if needed else argument.read(argument.default, self._owner())

    def phrase(self) -> str:
        """How equations write this one; empty where they have no words for it."""
        if isinstance(self.syntax, str):
            return self.syntax
        return self.syntax[1 - int(self.args[self.places["axis"]])]

    def _check(self) -> None:
        """Raises `ShapeError` or `SymattnError` where the arguments do not fit one another."""

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of the first matrix, or the sizes where there are any."""
        sizes = [self.args[place] for place in self._places_of(Extent)]
        return (sizes[0], sizes[1]) if sizes else shape_of(self.args[self._places_of(Matrix)[0]])

    @classmethod
    @cache
    def _places_of(cls, kind: type[ArgumentKind]) -> tuple[int, ...]:
        """Where its arguments of a kind are."""
        return tuple(k for k, argument in enumerate(cls.arguments) if isinstance(argument, kind))

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """The letters of its arguments; a word is none, nor is the index of a head it runs over."""
        if not self.arguments:
            return cast(set[sympy.Basic], super().free_symbols)
        pairs = [*zip(self.arguments, self.args, strict=True)]
        found = (value.free_symbols for argument, value in pairs if argument.has_letters)
        return set[sympy.Basic]().union(*found).difference(self.bound)

    @property
    def bound(self) -> tuple[sympy.Basic, ...]:
        """The indices that the node binds: of the heads or tokens that it runs over."""
        return tuple(self.args[place] for place in self._places_of(BoundIndex))

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> Node | None:
        """`subs` leaves the node as it is where `old` is its bound index."""
        return self if old in self.bound else None

    def _rule(self, i: Index, j: Index) -> Rule:
        """The entry rule."""
        raise NotImplementedError

    def _spell(self, speller: Speller) -> Tree:
        """The notation: as a function of its matrices, or as equations join them by a sign.

        A subclass may say otherwise.
        """
        if not self.word:
            return _signed(self, speller)
        places = self._places_of(Matrix) if self.arguments else range(len(self.args))
        matrices = (speller.matrix(self.args[place]) for place in places)
        return t.call(t.Ident(self.word, roman=True), *matrices)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """What the letters and functions in the rule of entry (i, j) stand for.

        Without any of its own, those of the matrices that the node is made of entry by entry.
        """
        for arg in self.args:
            if isinstance(arg, MatrixExpr) and tuple(arg.shape) == tuple(self.shape):
                yield from definitions(arg, speller, i, j)

    #: The value, given the arithmetic and the values of `args`: arrays for matrices, SymPy for the
    #: others. A class method of the subclass.
    _compute: ClassVar[Callable[..., Array]]

    def _flip(self, flip: Callable[[MatrixExpr], MatrixExpr]) -> MatrixExpr:
        """The transposed expression over transposed symbols, for the column convention."""
        if self.transposes:
            pairs = zip(self.arguments, self.args, strict=True)
            turned = [argument.turned(value, flip) for argument, value in pairs]
            sizes = self._places_of(Extent)
            for place, other in zip(sizes, sizes[::-1], strict=True):
                turned[place] = self.args[other]
            return cast(MatrixExpr, self.func(*turned))
        args = [
            sympy.Transpose(flip(arg)) if isinstance(arg, MatrixExpr) else arg for arg in self.args
        ]
        return sympy.Transpose(self.func(*args))

    #: The adjoint rule in one sentence, and where it is stated (the node's own source if empty).
    #: `adjoint_reasons` has that of an argument, by its place, for which another sentence is true.
    adjoint_because: ClassVar[str] = ""
    adjoint_reasons: ClassVar[Mapping[int, str]] = {}
    adjoint_source: ClassVar[str] = ""

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        """The gradient with respect to ``args[place]``, linear in that of the node, `upstream`.

        `value` is the node itself, or the symbol of a step that it is. None where the argument
        has no say in the value but at jumps. It is made of nodes that have such a rule again.
        """
        raise SymattnError(f"{type(self).__name__}: its gradient is not known here")

    # ---- SymPy's hooks -------------------------------------------------------------------

    def _entry(self, i: Index, j: Index, **kwargs: object) -> sympy.Expr:
        return to_sympy(self._rule(index_of(i), index_of(j)))

    def doit(self, **hints: object) -> MatrixExpr:
        """Evaluated exactly where all parts are explicit; otherwise the same node, parts done."""
        args = [arg.doit(**hints) if hints.get("deep", True) else arg for arg in self.args]
        done = self.func(*args)
        given = all(
            isinstance(arg, sympy.MatrixBase) for arg in args if isinstance(arg, MatrixExpr)
        )
        known = all(isinstance(size, sympy.Integer) for size in shape_of(done))
        return done._explicit() if given and known and not _is_of_all_heads(done) else done

    def _explicit(self) -> MatrixExpr:
        args = [
            filled(arg.shape, list(arg)) if isinstance(arg, sympy.MatrixBase) else arg
            for arg in self.args
        ]
        value = self._compute(EXACT, *args)
        return sympy.ImmutableDenseMatrix(*value.shape, list(value.ravel()))

    @classmethod
    def numpy(cls, *args: Operand) -> Array:
        """The node's formula in NumPy float64, for the functions that `sympy.lambdify` writes."""
        return cls._compute(FLOAT64, *(cls._of_numpy(arg) for arg in args))

    @classmethod
    def _of_numpy(cls, arg: Operand) -> Operand:
        """An argument of `numpy` as `_compute` takes it: an array, a word or a number."""
        if getattr(arg, "ndim", 0) >= 2:
            return FLOAT64.array(arg if arg.dtype == object else arg.astype(float))
        return sympy.Symbol(arg) if isinstance(arg, str) else as_scalar(arg, cls.__name__)

    @property
    def precedence(self) -> int:
        """The precedence that SymPy's printers use to set brackets."""
        level = {t.ADDITIVE: "Add", t.MULTIPLICATIVE: "Mul"}.get(t.holds(self._tree()), "Atom")
        return int(PRECEDENCE[level])

    def _latex(self, printer: Printer) -> str:
        return latex(self._tree())

    def _sympystr(self, printer: Printer) -> str:
        return text.line(self._tree())

    def _pretty(self, printer: Printer) -> Any:
        from sympy.printing.pretty.stringpict import prettyForm  # start-up time

        charset: text.Charset = "unicode" if printer._use_unicode else "ascii"
        box = text.box(self._tree(), charset)
        loose = t.holds(self._tree()) < t.ATOM  # then SymPy brackets it inside a product
        binding = prettyForm.ADD if loose else prettyForm.ATOM
        return prettyForm("\n".join(box.lines), box.baseline, binding)

    def _mathml_presentation(self, printer: Printer) -> Any:
        from xml.dom.minidom import parseString  # start-up time

        return parseString(mathml(self._tree())).documentElement  # noqa: S318  our own MathML

    def _numpycode(self, printer: Printer) -> str:
        owner = type(self)
        if self.over_heads or _is_of_all_heads(self):
            raise CannotSpell(f"{owner.__name__}: is of all heads; give their number, and doit()")
        printer.module_imports[owner.__module__].add(owner.__name__)
        written = (
            repr(arg.name) if place in self._places_of(OneOf) else printer._print(arg)
            for place, arg in enumerate(self.args)
        )
        return f"{owner.__name__}.numpy({', '.join(written)})"

    def _tree(self) -> Tree:
        return self._spell(Speller(_PLAIN))


def _is_of_all_heads(node: Node) -> bool:
    """Whether a node is of any head, so that its value is that of all heads at once."""
    return not all(node.args[place].is_Integer for place in node._places_of(HeadIndex))


def _signed(node: Node, speller: Speller) -> Tree:
    """The two sides of a sign, or the one matrix or number that is written alone."""
    names = node.syntax.split() if isinstance(node.syntax, str) else ()
    sides = [speller.meaning(getattr(node, name)) for name in names if name.isalpha()]
    match [name for name in names if not name.isalpha()]:
        case [] if len(sides) in (1, 2):
            return t.times(sides)
        case ["/"]:
            return t.Frac(*sides)
        case ["+"]:
            return t.plus(sides)
        case ["⊘"]:
            return t.times(sides, t.Op("⊘"))
    raise NotImplementedError


def definitions(expr: MatrixExpr, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
    """What the letters in the entry rule of an expression stand for, as its nodes say."""
    if isinstance(expr, Node):
        yield from expr._define(speller, i, j)
    elif isinstance(expr, sympy.Transpose):
        yield from definitions(expr.arg, speller, j, i)
    elif isinstance(expr, sympy.MatAdd | sympy.HadamardProduct):
        for part in expr.args:
            yield from definitions(part, speller, i, j)


def remark_of(expr: MatrixExpr) -> str:
    """What a program says beside the lines of an expression, as the first node in it has it."""
    nodes = (part for part in sympy.preorder_traversal(expr) if isinstance(part, Node))
    return next((node.remark for node in nodes if node.remark), "")


def used(found: Iterable[Definition], printed: Iterable[Tree]) -> list[Definition]:
    """The definitions of letters that stand in what is printed, or in one of these definitions."""
    found = list(found)
    letters = {part for tree in printed for part in t.parts(tree)}
    kept: list[Definition] = []
    while more := [one for one in found if one not in kept and one.letter in letters]:
        kept += more
        letters |= {part for one in more for part in t.parts(one.statement)}
    return [one for one in found if one in kept]


def _refused(node: Node, by: sympy.Basic) -> NoReturn:
    """The derivative of a node inside a larger expression, where SymPy would recurse for ever.

    SymPy would take the answer for a scalar as one for a matrix, wrongly transposed.
    """
    raise no_derivative(node)


array_derive.register(Node, _refused)


def shape_of(expr: MatrixExpr) -> tuple[sympy.Expr, sympy.Expr]:
    """The shape of a matrix expression as a pair of SymPy numbers or symbols."""
    rows, columns = expr.shape
    return as_scalar(rows, "shape"), as_scalar(columns, "shape")


def check_shape(
    node: Node, what: str, matrix: MatrixExpr, rows: sympy.Expr, columns: sympy.Expr
) -> None:
    """Raise `ShapeError` where an argument, "the vector has", is not rows × columns."""
    if tuple(matrix.shape) != (rows, columns):
        raise ShapeError(f"{type(node).__name__}: {what} to be {rows} × {columns}")


def settings(speller: Speller, node: Node, *names: str, **called: str) -> list[Tree]:
    """The arguments that differ from their usual values: base = 500, start = p.

    `called` are those that have another name in formulas.
    """
    return [
        t.equation(t.Ident(name, roman=True), (t.EQUALS, speller.scalar(getattr(node, argument))))
        for name, argument in {**dict(zip(names, names, strict=True)), **called}.items()
        if getattr(node, argument) != node.usual(argument)
    ]


def word_of(syntax: str) -> str:
    """The word that a syntax begins with; empty where it is one of signs."""
    word, called, _ = syntax.partition("(")
    return word if called and word.isalnum() else ""
