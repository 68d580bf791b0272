"""The shapes of what people write: which numbers of rows and columns have to be the same.

The sizes are solved for the most general reading. A size that nobody wrote is never 1, a size
that was given a name is never another named one or a number, and a sum of blocks is never one of
its own parts. Well-known letters lend their sizes their usual names (Q is n × d_k), so that
``sqrt(d_k)`` means what it should.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import sympy

from symattn.arithmetic.functions import FUNCTIONS
from symattn.grammar import Apart, Call, Name, Number, Tree
from symattn.nodes.arguments import symbol_of_size
from symattn.nodes.catalogue import CALLED, rows_and_columns, words
from symattn.nodes.operators import groups
from symattn.nodes.written import CONSTANTS, SIZES

#: The usual sizes of well-known letters.
USUAL: Mapping[str, tuple[str, str]] = {
    "Q": ("n", "d_k"),
    "K": ("m", "d_k"),
    "V": ("m", "d_v"),
    "X": ("n", "d_model"),
    "W_Q": ("d_model", "d_k"),
    "W_K": ("d_model", "d_k"),
    "W_V": ("d_model", "d_v"),
    "W_O": ("d_v", "d_model"),
    "S": ("n", "m"),
    "Z": ("n", "m"),
    "A": ("n", "m"),
    "P": ("n", "m"),
    "B": ("n", "m"),
    "M": ("n", "m"),
    "O": ("n", "d_v"),
    "dO": ("n", "d_v"),
    "dA": ("n", "m"),
    "dS": ("n", "m"),
}

#: What a size may be called in equations without being declared, and what is written for it.
KNOWN_SIZES: Mapping[str, str] = {
    **{name: name for name in ("n", "m", "d", "d_k", "d_v", "d_h", "d_model", "d_ff", "d_out")},
    "n_h": "h",
    "n_g": "g",
}

#: The name of the size of a square letter that nobody named: square("P").
SQUARE = "#"

Shape = tuple[int, int] | None

_POWER = "A^2 is A A, of a square matrix; entry by entry it is A ∘ A, or f(x) = x^2"

#: A size as somebody gives it: a number, a name, or SymPy's.
GivenSize: TypeAlias = str | int | sympy.Expr

#: A shape as somebody gives it: two sizes, or nothing or a word for a number.
GivenShape: TypeAlias = Any

#: Functions of a number, which a scalar may be given to.
OF_NUMBERS = ("exp", "ln", "√", "tanh", "cos", "sin", "abs", "σ", "max0", "erf", "SiLU", "GELU")


def is_of_numbers(name: str) -> bool:
    """Whether a function may be given a number."""
    return name in OF_NUMBERS or (name in FUNCTIONS and name in words())


#: How the shapes of functions follow from those of their arguments, where it is not that of the
#: first one: a column (a number for each row), a row, one number; the same of all arguments; of all
#: pairs of rows.
_RULES: Mapping[str, str] = {
    **dict.fromkeys(("rowmean", "norm2", "lse", "rowvar"), "column"),
    "colmean": "row",
    **dict.fromkeys(("any", "keep"), "same"),
    "dist2": "pairs",
    **dict.fromkeys(("beside", "below"), "blocks"),
    "sum": "number",
    "tr": "trace",
    "diag": "diagonal",
    "T": "turned",
    "inv": "square",
    "softcap": "scaled",
}

#: Functions that are nodes, beside those that the grammar does not list.
_NODES = (
    *("allow", "sinksoftmax", "unnormalised", "any", "keep", "additive", "lengths", "shift"),
    "clip",
)


def is_node(name: str) -> bool:
    """Whether a function is a node, which has options, and numbers before its matrix."""
    return name in _NODES or (name in CALLED and name in words())


_TWO_PRODUCTS = (
    "* between two matrices may mean two products; write A B for the matrix product, A ∘ B for the "
    "one entry by entry"
)


@dataclass(frozen=True)
class Sum:
    """The size of several blocks together."""

    parts: tuple[int, ...]


@dataclass(frozen=True)
class Copies:
    """The size of so many matrices of one size beside one another."""

    count: int
    part: int


class Unfit(Exception):
    """These shapes do not fit together, or a part means nothing; `tree` is that part, if known.

    `mends`: it says what to write instead.
    """

    def __init__(self, why: str, tree: Tree | None = None, *, mends: bool = False) -> None:
        super().__init__(why)
        self.tree, self.mends = tree, mends

    def at(self, tree: Tree) -> Unfit:
        """The same of this part, unless it is said of a smaller one already."""
        return self if self.tree else Unfit(str(self), tree, mends=self.mends)


@dataclass
class Dims:
    """Sizes that are found to be the same; two forms of one are compared when all are known."""

    #: Whether a size that nobody wrote may be 1 after all (only to explain a refusal).
    loose: bool = False
    parent: list[int] = field(default_factory=list)
    value: list[sympy.Expr | None] = field(default_factory=list)
    #: The name a size would like, and whether it was given.
    name: list[str] = field(default_factory=list)
    given: list[bool] = field(default_factory=list)
    #: What sizes that stay open are called in the end.
    names: dict[int, str] = field(default_factory=dict)
    #: Two forms of one size, to be compared in the end; None where they are refused at once.
    pending: list[tuple[int, int]] | None = None
    #: The sizes whose names are more than a wish.
    firm: set[int] = field(default_factory=set)
    #: The sizes of states, masks and matrices by their entries, which follow from where they stand:
    #: they may turn out to be 1 though nobody wrote it, and are where they met nothing but a 1.
    fitted: set[int] = field(default_factory=set)
    met_one: list[int] = field(default_factory=list)
    #: The sizes that are said to be 1, as where there is one head.
    single: set[int] = field(default_factory=set)

    def new(self, value: sympy.Expr | None = None, name: str = "", given: bool = False) -> int:
        """One more size: a number or symbol if known, and its name."""
        self.parent.append(len(self.parent))
        self.value.append(value)
        self.name.append(name)
        self.given.append(given)
        return len(self.parent) - 1

    def called(self, name: str) -> int:
        """The size that was given this name, the same for all that have it."""
        for dim, known in enumerate(self.name):
            if known == name and (self.given[dim] or SQUARE in name):
                return dim
        return self.new(name=name, given=SQUARE not in name)

    def root(self, dim: int) -> int:
        """The size that stands for all that are the same."""
        while self.parent[dim] != dim:
            dim = self.parent[dim]
        return dim

    def roots(self) -> list[int]:
        """All sizes, those that are the same once."""
        return list(dict.fromkeys(map(self.root, range(len(self.parent)))))

    def nameless(self) -> list[int]:
        """The sizes that nothing says, and that have no name yet."""
        return [x for x in self.roots() if self.value[x] is None and x not in self.names]

    def name_wished(self, taken: Collection[str] = ()) -> None:
        """Give open sizes the names that they would like, or with a number, those given first."""
        for given in (True, False):
            for root in self.nameless():
                wish = self.name[root].partition(SQUARE)[0]
                if wish and self.given[root] is given:
                    self.name_one(root, (wish, *(f"{wish}_{k}" for k in range(2, 99))), taken)

    def name_rest(self, taken: Collection[str]) -> None:
        """Give names to the others."""
        spare = [f"{x}{k}" for k in ("", *range(1, 99)) for x in "nmpr"]
        for root in self.nameless():
            self.name_one(root, spare, taken)

    def name_one(self, root: int, names: Iterable[str], taken: Collection[str]) -> None:
        """Call a size by the first of some names that is free."""
        used = {*taken, *self.names.values()}
        self.names[root] = next(name for name in names if name not in used)

    def size(self, dim: int) -> sympy.Expr:
        """The size as SymPy's number or symbol."""
        root = self.root(dim)
        match self.value[root]:
            case Sum(parts):
                return sympy.Add(*map(self.size, parts))
            case Copies(count, part):
                return self.size(count) * self.size(part)
            case None:
                return symbol_of_size(self.names[root])
        return sympy.sympify(self.value[root], strict=True)

    def same(self, one: int, other: int) -> None:
        """Two sizes are the same. Raises `Unfit` where they cannot be."""
        a, b = self.root(one), self.root(other)
        if a == b:
            return
        left, right = self.known(a), self.known(b)
        if left is None and right is None:
            self._check_names(a, b)
            self._merge(a, b)
        elif left is None:
            self._bind(a, right, b in self.single)
        elif right is None:
            self._bind(b, left, a in self.single)
        elif isinstance(left, Copies) and isinstance(right, Copies):
            self.same(left.count, right.count)
            self.same(left.part, right.part)
        elif isinstance(left, Sum) and isinstance(right, Sum):
            self._same_in_sum(self._leaves(left), self._leaves(right))
        elif self.pending is not None and {Sum, Copies} & {type(left), type(right)}:
            self.pending.append((a, b))
        elif left != right:
            raise Unfit(
                f"{self.size_text(a)} and {self.size_text(b)} would have to be the same size"
            )

    def _check_names(self, a: int, b: int) -> None:
        """Refuse two names for one size, but for n and m, where they are not a wish alone."""
        one, other = self.name[a], self.name[b]
        if one == other:
            return
        if self.given[a] and self.given[b]:
            raise Unfit(f"{one} and {other} would have to be the same size")
        if {a, b} <= self.firm and {one, other} == {"n", "m"}:
            self.name[a] = "n"
        elif {a, b} <= self.firm:
            raise Unfit(
                f"{one} and {other} would have to be the same size; if they are meant to be, say "
                "so by a shape such as K : m × d_k"
            )

    def is_fitted(self, dim: int) -> bool:
        """Whether a size follows from where its matrix stands."""
        return self.root(dim) in map(self.root, self.fitted)

    def repeated(self, one: int, other: int) -> None:
        """Two sizes stand together, of which one is 1: it is repeated."""
        self.met_one += filter(self.is_fitted, (one, other))

    def met_only_one(self, dim: int) -> bool:
        """Whether nothing is known of a size but that it stands with a 1, which is repeated."""
        root = self.root(dim)
        return self.value[root] is None and root in map(self.root, self.met_one)

    def settle(self, inputs: Collection[int]) -> None:
        """The sizes that met nothing but a 1 are 1, unless they are those of `inputs`."""
        roots = {self.root(dim) for dim in inputs}
        for dim in map(self.root, self.met_one):
            if self.value[dim] is None and dim not in roots:
                self.value[dim] = sympy.S.One

    def _leaves(self, total: Sum) -> list[int]:
        """The sizes in a sum, those of blocks within a block included."""
        out: list[int] = []
        for part in map(self.root, total.parts):
            inner = self.value[part]
            out += self._leaves(inner) if isinstance(inner, Sum) else [part]
        return out

    def _same_in_sum(self, left: list[int], right: list[int]) -> None:
        """Two sums are the same: what is in both is left out, the rest is the same in its order."""
        for size in [*left]:
            if size in right:
                left.remove(size)
                right.remove(size)
        if len(left) > len(right):
            left, right = right, left
        if len(left) == 1 and len(right) > 1 and self.known(left[0]) is None:
            self._bind(left[0], Sum(tuple(right)))
            return
        if len(left) != len(right):
            raise Unfit("a matrix of blocks would have to be cut in two ways at once")
        for pair in zip(left, right, strict=True):
            self.same(*pair)

    def _merge(self, a: int, b: int) -> None:
        if self.given[b] or (not self.given[a] and not self.name[a]):
            a, b = b, a
        self.parent[b] = a
        if {a, b} & self.firm:
            if a not in self.firm:  # the firm one gives the name
                self.name[a] = self.name[b]
            self.firm.add(a)

    def _bind(self, dim: int, value: sympy.Expr, single: bool = False) -> None:
        """A size that is not known has this value, which may be 1 where it is said to be."""
        number = isinstance(value, int | sympy.Integer)
        if number and not (self.loose or single or (value == 1 and self.is_fitted(dim))):
            if self.given[dim]:
                raise Unfit(f"{self.name[dim]} would have to be {value}")
            if value == 1:
                raise Unfit(
                    f"the size {self.size_text(dim)} would have to be 1; if that is meant, say so "
                    "by a shape such as W : 1 × d_k",
                    mends=True,
                )
        if isinstance(value, Sum) and dim in self._leaves(value):
            raise Unfit(f"{self.size_text(dim)} would have to be a part of itself")
        self.value[dim] = value

    def known(self, dim: int) -> sympy.Expr | None:
        """A number, a symbol, blocks together, or None; blocks of known sizes are a number."""
        value = self.value[self.root(dim)]
        if isinstance(value, Sum):
            parts = [self.known(part) for part in value.parts]
            if all(isinstance(part, sympy.Integer) for part in parts):
                return sympy.Add(*parts)
        return value

    def size_text(self, dim: int) -> str:
        """A size in a message."""
        value = self.known(dim)
        if isinstance(value, Sum):
            return " + ".join(map(self.size_text, value.parts))
        if isinstance(value, Copies):
            return f"{self.size_text(value.count)} {self.size_text(value.part)}"
        name = self.name[self.root(dim)].partition(SQUARE)[0]
        return str(value) if value is not None else name or "of a letter"

    def is_one(self, dim: int) -> bool:
        """Whether the size is known to be 1."""
        return bool(self.known(dim) == 1)


class Shapes:
    """One way to read the letters: infers the shape of every part."""

    #: The usual sizes of rows.
    rows: Mapping[str, str] = {"q": "d_k", "k": "d_k", "v": "d_v"}

    def __init__(
        self,
        kinds: Mapping[str, str],
        shapes: Mapping[str, tuple[GivenSize, ...]],
        dims: Dims,
        strict: bool = True,
    ) -> None:
        #: How each small letter is meant: scalar, column or row.
        self.kinds, self.given_shapes = kinds, shapes
        #: Whether what is added has to have one shape, and nothing is repeated to fit.
        self.strict = strict
        self.dims = dims
        self.size = dims.size
        self.letters: dict[str, Shape] = {}
        self.shapes: dict[int, Shape] = {}
        self.one = self.dims.new(sympy.S.One)
        #: The shapes of masks, which no letter tells.
        self.masks: list[tuple[int, int]] = []
        #: How many products of a column and a row there are.
        self.outer = 0

    def shape(self, tree: Tree) -> Shape:
        """The shape of a part; None for a scalar. Raises `Unfit` with the part that has none."""
        try:
            out = self._shape(tree)
        except Unfit as unfit:
            raise unfit.at(tree) from None
        self.shapes[id(tree)] = out
        return out

    def _shape(self, tree: Tree) -> Shape:
        match tree:
            case Number(_, vector):
                return (self.dims.new(), self.one) if vector else None
            case Name("I") if "I" not in self.given_shapes:
                size = self.dims.new()
                return size, size
            case Name(name):
                return self.letter(name)
            case Call(name, _, ((option, _), *_)):
                why = f"{option}= of {name} has no meaning in a statement; write it out"
                raise Unfit(why, mends=True)
            case Call("causal"):
                self.masks.append((self.dims.new(), self.dims.new()))
                return self.masks[-1]
            case Call(name, args):
                return self._call(name, [self.shape(arg) for arg in args])
            case Apart("T", (part,)):
                inner = self.shape(part)
                return None if inner is None else (inner[1], inner[0])
            case Apart("neg", (part,)):
                return self.shape(part)
            case Apart("inv" | "^" as sign, (part, *_)):
                inner = self.shape(part)
                try:
                    self.dims.same(*(inner or (self.one, self.one)))
                except Unfit as unfit:
                    power = sign == "^"
                    why = _POWER if power else "the inverse is of a square matrix"
                    raise Unfit(f"{why}: {unfit}", mends=power or unfit.mends) from None
                return inner
            case Apart("/", parts):  # by a column: rows, by a row: columns, else entries
                return self.together(parts, False)
            case Apart("*" | "×" as sign, parts):
                shapes = [self.shape(part) for part in parts]
                if sign == "×" and not any(map(self.is_number, shapes)):
                    raise Unfit(_TWO_PRODUCTS, mends=True)
                return self._product(parts, shapes)
            case Apart(_, parts):
                return self.together(parts, self.strict)
        raise Unfit("no shape")

    def letter(self, name: str) -> Shape:
        """The shape of a letter, where it is used first as well."""
        if name not in self.letters:
            self.letters[name] = self._new_letter(name)
        return self.letters[name]

    def _new_letter(self, name: str) -> Shape:
        if name in self.given_shapes:
            sizes = self.given_shapes[name]
            return (self._size(sizes[0]), self._size(sizes[1])) if sizes else None
        if name in CONSTANTS or self.is_size(name):
            return None
        match self.kinds.get(name, "matrix"):
            case "scalar":
                return None
            case "column":
                return self.dims.new(), self.one
            case "row":
                return self.one, self.dims.new(name=self.rows.get(name, ""))
        return self._usual(name)

    def is_size(self, name: str) -> bool:
        """Whether a name stands for a size."""
        return name in SIZES

    def _usual(self, name: str) -> Shape:
        """The shape of a letter of which nothing is said: its sizes have their usual names."""
        rows, columns = USUAL.get(name) or USUAL.get(name.rstrip("'0123456789"), ("", ""))
        return self.dims.new(name=rows), self.dims.new(name=columns)

    def size_of(self, value: sympy.Expr) -> int:
        """A size that was said."""
        return self.one if value == 1 else self.dims.new(value)

    def _size(self, size: GivenSize) -> int:
        """A size that was given: a number, a name (the same for all that have it) or SymPy's."""
        if isinstance(size, str) and not size.isdigit():
            return self.dims.called(size)
        return self.size_of(sympy.Integer(int(size)) if isinstance(size, int | str) else size)

    def together(self, parts: Sequence[Tree], strict: bool) -> Shape:
        """The shape of parts joined entry by entry: numbers (else lines too) are repeated.

        Raises `Unfit` with the first that does not fit.
        """
        whole: Shape = None
        for part, shape in [(part, self.shape(part)) for part in parts]:
            try:
                whole = self._both(whole, shape, strict)
            except Unfit as unfit:
                raise unfit.at(part) from None
        return whole

    def _both(self, one: Shape, other: Shape, strict: bool) -> Shape:
        if one is None or other is None:
            return other if one is None else one
        out = []
        for size, more in zip(one, other, strict=True):
            repeated = not strict and (self.dims.is_one(size) or self.dims.is_one(more))
            if repeated:
                self.dims.repeated(size, more)
            else:
                self.dims.same(size, more)
            out.append(more if repeated and self.dims.is_one(size) else size)
        return out[0], out[1]

    def sized(self, shape: tuple[int, int]) -> tuple[sympy.Expr, sympy.Expr]:
        """A shape in SymPy's numbers and symbols."""
        return self.size(shape[0]), self.size(shape[1])

    def is_number(self, shape: Shape) -> bool:
        """Whether a shape is that of a number: a scalar or 1 × 1."""
        return shape is None or (self.dims.is_one(shape[0]) and self.dims.is_one(shape[1]))

    def _product(self, parts: Sequence[Tree], shapes: Sequence[Shape]) -> Shape:
        """The shape of a product; a factor that is 1 × 1 scales the others, wherever it stands."""
        wide: list[tuple[Tree, tuple[int, int]]] = []
        for group in groups(shapes, self.dims.is_one):
            chain = [(parts[k], shape) for k in group if (shape := shapes[k]) is not None]
            if not chain:
                continue
            self._chained(chain)
            whole = chain[0][1][0], chain[-1][1][1]
            wide += [] if self.is_number(whole) else [(chain[0][0], whole)]
        self._chained(wide)
        if wide:
            return wide[0][1][0], wide[-1][1][1]
        return None if all(shape is None for shape in shapes) else (self.one, self.one)

    def _chained(self, factors: Sequence[tuple[Tree, tuple[int, int]]]) -> None:
        """As many columns as the next factor has rows."""
        for (_, left), (factor, right) in pairwise(factors):
            try:
                self.dims.same(left[1], right[0])
            except Unfit as unfit:
                raise unfit.at(factor) from None
            self.outer += self.dims.is_one(left[1])

    def _call(self, name: str, shapes: list[Shape]) -> Shape:
        known = [shape for shape in shapes if shape is not None]
        if is_of_numbers(name) and shapes[0] is None:
            return None
        if not known or (shapes[0] is None and not is_node(name)):
            raise Unfit(f"{name} needs a matrix")
        (rows, columns), *others = known
        match _RULES.get(name) or rows_and_columns(name):
            case "column":
                return rows, self.one
            case "row":
                return self.one, columns
            case "turned":
                return columns, rows
            case "number":
                return self.one, self.one
            case "trace":
                self.dims.same(rows, columns)
                return self.one, self.one
            case "square":
                self.dims.same(rows, columns)
            case "diagonal":
                size = rows if self.dims.is_one(columns) else columns
                if size == columns and not self.dims.is_one(rows):
                    raise Unfit("diag needs a column or a row")
                return size, size
            case "scaled" if others:
                raise Unfit(f"{name} needs a number as its second argument")
            case "pairs":
                if not others:
                    raise Unfit(f"{name} needs two matrices")
                self.dims.same(columns, others[0][1])
                return rows, others[0][0]
            case "same":
                for other in others:
                    self.dims.same(rows, other[0])
                    self.dims.same(columns, other[1])
            case "blocks":
                return self._joined(name == "beside", shapes)
        return rows, columns

    def _joined(self, beside: bool, shapes: list[Shape]) -> Shape:
        known = [shape for shape in shapes if shape is not None]
        if len(known) != len(shapes):
            raise Unfit("blocks are matrices; write 0*A for a block of zeros", mends=True)
        for shape in known[1:]:
            self.dims.same(known[0][not beside], shape[not beside])
        total = self.dims.new(Sum(tuple(shape[beside] for shape in known)))
        return (known[0][0], total) if beside else (total, known[0][1])
