"""The shapes of all letters of a text together: families, rows, parts, matrices by their entries.

`Sizes` adds to the shapes of statements (`symattn.language.shapes`) what only equations have. Every
letter that is made has the shape of its right side; usual shapes are for inputs alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction

import sympy

from symattn.errors import counted
from symattn.grammar import (
    Apart,
    Call,
    Chosen,
    Compared,
    Every,
    Indexed,
    Joined,
    Name,
    Number,
    Part,
    Tree,
    children,
    subtrees,
)
from symattn.language.shapes import (
    KNOWN_SIZES,
    USUAL,
    Copies,
    Dims,
    Shape,
    Shapes,
    Sum,
    Unfit,
    is_node,
)
from symattn.language.texts import Equation
from symattn.nodes.arguments import symbol_of_size
from symattn.nodes.catalogue import PLACED, mask_called

_SIZE_LIKE = re.compile(r"[dn]_\w+\Z")

#: The usual shapes of inputs. Of the first ones sizes of different names are never the same one,
#: but for n and m, unless a shape says so; the others only lend their names.
FIRM: Mapping[str, tuple[str, str]] = {
    "Q": ("n", "d_k"),
    "K": ("m", "d_k"),
    "V": ("m", "d_v"),
    "X": ("n", "d_model"),
    "W_Q": ("", "d_k"),
    "W_K": ("", "d_k"),
    "W_V": ("", "d_v"),
    "W_1": ("", "d_ff"),
    "W_2": ("d_ff", ""),
}
INPUTS: Mapping[str, tuple[str, str]] = {
    **{name: sizes for name, sizes in USUAL.items() if not name.startswith("d")},
    "W_O": ("", "d_out"),
}

#: The indices of a family that an input may have without being declared one.
HEADS = ("h", "g")

#: The sizes that say how many heads and groups there are, which a line may number: n_h = 4.
COUNTS = ("n_h", "n_g")

#: The nodes whose columns an option says.
_SHIFTS = ("shift", "clip")

#: Functions of numbers, beside those of matrices entry by entry.
EXTREMES = ("min", "max")
OF_WHOLE = ("floor", "ceil", "mod", *EXTREMES)

#: The letters that functions of rows are given beside their matrix, a row each.
ROWS = ("gain", "shift")


#: What is added to an index that stands for the state before.
_LESS_ONE = Apart("neg", (Number(Fraction(1)),))


@dataclass
class Letters:
    """What a text says of its letters, and what is known beside it."""

    #: The equation that makes a letter; where a recurrence starts: S[0] = …
    made: dict[str, Equation] = field(default_factory=dict)
    starts: dict[str, Equation] = field(default_factory=dict)
    #: The functions of one's own.
    functions: dict[str, Equation] = field(default_factory=dict)
    numbers: dict[str, sympy.Expr] = field(default_factory=dict)
    #: How many heads and groups there are, where the text says so: n_h = 4.
    numbered: dict[str, int] = field(default_factory=dict)
    #: Shapes in numbers and symbols, () of a number; and the sizes that were said by name.
    declared: dict[str, tuple[sympy.Expr, ...]] = field(default_factory=dict)
    sizes: dict[str, None] = field(default_factory=dict)
    #: The letters that are one matrix for each index, and that index.
    families: dict[str, str] = field(default_factory=dict)
    #: How small letters are meant: a number, a row or a column.
    kinds: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """Where a part of an equation stands.

    `bound` are the indices and what they count, `entries` those of the rows and columns of a
    matrix by its entries; `making` is the letter of a recurrence.
    """

    equation: Equation | None = None
    bound: Mapping[str, int] = field(default_factory=dict)
    entries: tuple[str, ...] = ()
    making: str = ""


class Places(Shapes):
    """Shapes of parts: the indices of heads and tokens, ranges of rows and columns, and sizes."""

    rows: Mapping[str, str] = {}

    def __init__(self, letters: Letters) -> None:
        super().__init__(letters.kinds, letters.declared, Dims(pending=[]), strict=False)
        self.said, self.declared, self.functions = letters, letters.declared, letters.functions
        self.families = {*letters.families}
        self.scope = Scope()
        #: How many matrices a family has: the size of its count.
        self.counts: dict[str, int] = {}
        #: How many heads and groups there are: what h and g count, wherever they are bound.
        self.heads, self.groups = (
            self.dims.new(self._numbered(name), name=KNOWN_SIZES[name], given=True)
            for name in COUNTS
        )
        self.dims.single = {*filter(self.dims.is_one, (self.heads, self.groups))}
        #: How many there are of what a sum, a concatenation or a part runs over, by its tree.
        self.counted: dict[int, int] = {}
        #: The sizes that stand somewhere as numbers, and where they do first.
        self.used: dict[str, Tree] = {}
        #: Letters that an equation has made, and those of recurrences.
        self.made: set[str] = set()
        self.recurrent: set[str] = set()
        #: The parts that were taken of a matrix along an axis: what is before them, and their end.
        self.parts: dict[tuple[Tree, int], list[tuple[sympy.Expr, sympy.Expr | None]]] = {}

    # ---- letters ---------------------------------------------------------------------------

    def is_size(self, name: str) -> bool:
        """Whether a name that no equation makes stands for a size."""
        if name in self.made or name in self.declared or name in self.kinds:
            return False
        known = name in KNOWN_SIZES or name in self.said.sizes
        return known or _SIZE_LIKE.match(name) is not None

    def count(self, name: str) -> int:
        """How many matrices a family has."""
        if name not in self.counts:
            self.counts[name] = self.dims.new()
        return self.counts[name]

    def _numbered(self, name: str) -> sympy.Integer | None:
        return sympy.Integer(self.said.numbered[name]) if name in self.said.numbered else None

    def symbol(self, name: str) -> sympy.Expr:
        """The size of a name: its symbol, or how many heads the text says there are."""
        return self._numbered(name) or size_symbol(name)

    def use(self, name: str, tree: Tree) -> None:
        """A size stands as a number, which is asked for unless the text says it."""
        if name not in self.said.numbered:
            self.used.setdefault(name, tree)

    def counting(self, index: str) -> int:
        """What an index counts: heads by h, groups by g, or whatever it will stand at."""
        return {"h": self.heads, "g": self.groups}.get(index) or self.dims.new()

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """What is inside stands there."""
        before = self.scope
        self.scope = scope
        try:
            yield
        finally:
            self.scope = before

    # ---- indices ---------------------------------------------------------------------------

    def _indexed(self, tree: Indexed) -> Shape:
        base, parts = tree.base, tree.parts
        if isinstance(base, Name) and base.name in self.families and len(parts) == 1:
            return self._of_family(base.name, parts[0])
        shape = self.shape(base)
        if shape is None:
            raise Unfit("a number has no parts")
        if len(parts) == 1:
            rows = self._part(shape, 0, parts[0], base)
            return None if parts[0].single and self.dims.is_one(shape[1]) else (rows, shape[1])
        rows, columns = (self._part(shape, axis, part, base) for axis, part in enumerate(parts))
        return None if all(part.single for part in parts) else (rows, columns)

    def _of_family(self, name: str, part: Part) -> Shape:
        """The matrix of one head: its index, that of its group, a number, or the state before."""
        shape, bound = self.letter(name), self.scope.bound
        if name == self.scope.making:
            if state_before(part) not in bound:
                raise Unfit(f"{name} is made of the state before it: {name}[t-1], and of no other")
            return shape
        if not part.single or part.start is None:
            raise Unfit(f"{name} is one matrix for each index; write {name}[h], then its parts")
        before = state_before(part)
        if before in bound:
            if name not in self.recurrent:
                raise Unfit(
                    f"{name}[{before}] is made of no state before it, so that {name}[0] is none; "
                    f"{name}[{before}-1] stands where {name} is a recurrence"
                )
            self.dims.same(self.count(name), bound[before])
            return shape
        match part.start:
            case Call("group", (Name(index),)) if index in bound:
                self.dims.same(self.groups, self.count(name))
            case Name(index) if index in bound:
                self.dims.same(self.count(name), bound[index])
            case _:
                self._index(part.start)
        return shape

    def _index(self, tree: Tree) -> None:
        """Refuse what is no index: a free letter, a fraction, a place that may not be there."""
        bound = [name for name in self.scope.bound if Name(name) in subtrees(tree)]
        match tree:
            case Number(value) if value == 0:
                raise Unfit("rows and columns are counted from 1; there is no place 0")
            case Number(value) if value.denominator == 1:
                return
            case Name(name):
                if self.is_size(name) and not bound:
                    self.use(name, tree)
                elif not bound:
                    raise Unfit(f"no sum, family or left side binds the index {name}")
                return
            case _ if self.scope.entries and bound:
                why = (
                    "no entry is taken from a place that is computed; a bias by distance is "
                    "relative(r, clip=2), whose column r has a number for each j - i from -2 to 2; "
                    "of a matrix with a column for each it is clip(P)"
                )
                raise Unfit(why, tree)
            case Apart("+" | "neg", parts):
                for name in bound:
                    raise Unfit(
                        f"an index beside {name} stands only in S[{name}-1], the state before "
                        f"S[{name}] of a recurrence"
                    )
                for part in parts:
                    self._index(part)
                return
        raise Unfit("an index is a letter, a whole number, or a letter ± a whole number")

    def _part(self, shape: tuple[int, int], axis: int, part: Part, base: Tree) -> int:
        """How many rows (or columns) a part has."""
        whole = shape[axis]
        if part.single:
            assert part.start is not None
            if isinstance(part.start, Name) and part.start.name in self.scope.bound:
                self.dims.same(whole, self.scope.bound[part.start.name])
            else:
                self._index(part.start)
            return self.one
        index = _index_in((part.start, part.stop), self.scope.bound)
        if index or (part.start is None and part.stop is None):
            return self._share(whole, part, index) if index else whole
        before = sympy.S.Zero if part.start is None else self.written(part.start) - 1
        stop = None if part.stop is None else self.written(part.stop)
        if before == -1 or (stop is not None and (stop - before).is_nonpositive):
            raise Unfit("a part is from a place, counted from 1, to its last place, which is in it")
        self._check_apart(base, axis, before, stop)
        if part.stop is not None:
            return self.size_of(sympy.expand(stop - before))
        known = self.dims.known(whole)
        if known is None:
            rest = self.dims.new()
            self.dims.same(whole, self.dims.new(Sum((self.size_of(before), rest))))
            return rest
        if isinstance(known, Sum):
            first, *others = known.parts
            if self.dims.known(first) == before and len(others) == 1:
                return others[0]
            raise Unfit(f"where the part from {before + 1} on ends is not known; say the shape")
        return self.size_of(sympy.expand(known - before))

    def _share(self, whole: int, part: Part, index: str) -> int:
        """How many columns are one head's, Q[:, (h-1) d_k + 1 : h d_k], of those of all heads."""
        if part.start is not None and part.stop is not None:
            first, last = (self.written(end) for end in (part.start, part.stop))
            width = last.coeff(_place_of(index))
            if last == width * _place_of(index) and sympy.expand(first - last + width) == 1:
                self.counted[id(part)] = self.scope.bound[index]
                share = self.size_of(width)
                self.dims.same(whole, self.dims.new(Copies(self.scope.bound[index], share)))
                return share
        raise Unfit(
            f"a part that depends on {index} is one of as many equal ones as there are: write "
            f"Q[:, ({index}-1) d_k + 1 : {index} d_k]"
        )

    def _check_apart(
        self, base: Tree, axis: int, before: sympy.Expr, stop: sympy.Expr | None
    ) -> None:
        """Refuse parts of one matrix that meet in a place, as Python's never do."""
        parts = self.parts.setdefault((base, axis), [])
        for first, last in (*parts, (before, stop)):
            for end, start in ((last, before), (stop, first)):
                if end is not None and end == start + 1 and (before, stop) != (first, last):
                    noun = ("row", "column")[axis]
                    raise Unfit(
                        f"both parts take {noun} {end}; ends are included: write {end + 1}:"
                    )
        parts.append((before, stop))

    def written(self, tree: Tree) -> sympy.Expr:
        """A size, or the end of a part, in numbers and symbols. Raises `Unfit` for none."""
        match tree:
            case Number(value, False) if value.denominator == 1:
                return sympy.Integer(int(value))
            case Name(name) if name in self.scope.bound:
                return _place_of(name)
            case Name(name) if name in KNOWN_SIZES or _SIZE_LIKE.match(name) or name.isidentifier():
                self.use(name, tree)
                return self.symbol(name)
            case Apart("+", parts):
                return sympy.Add(*map(self.written, parts))
            case Apart("neg", (part,)):
                return -self.written(part)
            case Apart("*" | "×", parts):
                return sympy.Mul(*map(self.written, parts))
            case Apart("/", (above, below)):
                return self.written(above) / self.written(below)
        raise Unfit("a size is a whole number, a letter, or a sum or product of these")


class Sizes(Places):
    """The shapes of the equations of one text, line by line."""

    # ---- letters ---------------------------------------------------------------------------

    def letter(self, name: str) -> Shape:
        """The shape of a letter. Raises `Unfit` for one that an equation below makes."""
        if self._is_early(name):
            raise Unfit(self._too_early(name))
        return super().letter(name)

    def _is_early(self, name: str) -> bool:
        return name in self.said.made and not (name in self.made or name in self.letters)

    def _too_early(self, name: str) -> str:
        maker, equation = self.said.made[name], self.scope.equation
        if maker is equation:
            return f"{name} is made of itself; give the new matrix a letter of its own"
        mend = "move that up"
        if equation is not None and any(
            isinstance(one.parts[0].start, Apart) for one in states(equation.tree, name)
        ):
            mend = (
                "states that need one another are one state, Z[t] = [A; B], with parts such as "
                "Z[t-1][1:2,:]"
            )
        return f"{name} is used before line {maker.place.line} makes it; {mend}"

    def _usual(self, name: str) -> Shape:
        for table in (FIRM, INPUTS):
            names = table.get(name) or table.get(name.rstrip("'0123456789"))
            if names is not None:
                rows, columns = (self.dims.new(name=one) for one in names)
                self.dims.firm |= {
                    x for x in (rows, columns) if table is FIRM and self.dims.name[x]
                }
                return rows, columns
        return self.dims.new(), self.dims.new()

    def state(self, name: str) -> Shape:
        """The shape of a letter that a recurrence makes: what is said of it, or what follows."""
        self.recurrent.add(name)
        self.letters[name] = self._new_letter(name) if name in self.declared else self.fitting()
        return self.letters[name]

    def fitting(self) -> tuple[int, int]:
        """A shape that follows from where a matrix stands."""
        shape = self.dims.new(), self.dims.new()
        self.dims.fitted |= {*shape}
        return shape

    def same_shape(self, one: Shape, other: Shape) -> None:
        """Two matrices have the same sizes; numbers have none."""
        for size, more in zip(one or (), other or (), strict=False):
            self.dims.same(size, more)

    def make(self, name: str, shape: tuple[int, int]) -> None:
        """An equation has made a letter of this shape."""
        self.made.add(name)
        if name in self.letters or name in self.declared:
            self.same_shape(self.letter(name) or (self.one, self.one), shape)
        self.letters[name] = shape

    # ---- trees -----------------------------------------------------------------------------

    def _shape(self, tree: Tree) -> Shape:
        match tree:
            case Name(name) if self._is_early(name):
                raise Unfit(self._too_early(name))
            case Name(name) if name in self.scope.bound:
                if not self.scope.entries:
                    raise Unfit(f"{name} is an index, which is a number in M[i,j] = … alone")
                return None
            case Name(name) if name in self.families and not self.scope.entries:
                raise Unfit(f"{name} is one matrix for each index; write {name}[h]")
            case Name(name) if self.is_size(name):
                self.use(name, tree)
                return None
            case Indexed():
                return self._indexed(tree)
            case Every():
                return self._every(tree)
            case Compared(sides, _):
                return self._numbers(sides)
            case Joined(_, tests):
                return self._numbers(tests)
            case Chosen():
                if not self.scope.entries:
                    raise Unfit(
                        "cases stand in matrices by their entries, M[i,j] = …, and in functions, "
                        "f(x) = …"
                    )
                return self._numbers(children(tree))
            case Call(name, args, options):
                return self._called(name, args, options)
            case Apart("^", (base, exponent)):
                self._numbers((exponent,))
                if self.shape(base) is not None:
                    raise Unfit(
                        "the exponent of a matrix is a whole number; entry by entry, define a "
                        "function: f(x) = x^p"
                    )
                return None
        return super()._shape(tree)

    def _numbers(self, trees: Collection[Tree]) -> Shape:
        """Parts that have to be numbers, as what is made of them is."""
        for part in trees:
            if self.shape(part) is not None:
                raise Unfit("a matrix stands where a number is needed; write its entry, S[i,j]")
        return None

    def _every(self, tree: Every) -> Shape:
        word, index, body = tree.word, tree.index, tree.body
        if index in self.scope.bound:
            raise Unfit(f"the index {index} is bound already; take another letter")
        count = self.counting(index)
        self.counted[id(tree)] = count
        with self.within(replace(self.scope, bound={**self.scope.bound, index: count})):
            shape = self.shape(body)
        if shape is None:
            raise Unfit(f"{word}_{index} is of matrices, one for each {index}")
        if word == "sum" or self.dims.is_one(count):
            return shape
        return shape[0], self.dims.new(Copies(count, shape[1]))

    # ---- functions -------------------------------------------------------------------------

    def _called(
        self, name: str, args: tuple[Tree, ...], options: tuple[tuple[str, str | Tree], ...]
    ) -> Shape:
        said = {option: value for option, value in options if not isinstance(value, str)}
        if name in self.functions:
            self._check_function(name, len(args))
            return self.together(args, False)
        if name in EXTREMES and not self.scope.entries:
            return self.together(args, False)
        if name in OF_WHOLE:
            return self._numbers(args)
        if name == "group":
            raise Unfit("group(h) stands in an index only: K[group(h)]")
        if name in PLACED or mask_called(name):
            if name == "relative":
                self._table(args, said)
            else:
                self._numbers(args)
            self._numbers(said.values())
            return self.fitting()
        if name == "sum" and any(isinstance(arg, Indexed) for arg in args):
            raise Unfit("sum(A) is the sum of all entries; the sum over heads is sum_h(A[h])")
        out = self._call(name, [self.shape(arg) for arg in args])
        if name in _SHIFTS:
            return self._shifted(out, said.get("columns"))
        for option, value in said.items():
            if not is_node(name):
                self._check_option(option, self.shape(value), out)
        return out

    def _check_option(self, option: str, shape: Shape, whole: Shape) -> None:
        """An option is a number, or a row beside a matrix."""
        if option not in ROWS:
            if not self.is_number(shape):
                raise Unfit(f"{option} is a number")
        elif shape is None or whole is None:
            raise Unfit(f"{option} is a row of numbers, one for each column")
        else:
            self.same_shape(shape, (self.one, whole[1]))

    def _table(self, args: tuple[Tree, ...], options: Mapping[str, Tree]) -> None:
        """The table of relative(r, clip=2): a column, one number for each distance or bucket."""
        shape = self.shape(args[0])
        if shape is None:
            raise Unfit("relative takes a column, a number for each distance: relative(r, clip=2)")
        self.dims.fitted |= {*shape}
        match options.get("clip", options.get("buckets", Number(Fraction(32)))):
            case Number(value):
                rows = 2 * value + 1 if "clip" in options else value
                self.dims.same(shape[0], self.size_of(sympy.Rational(str(rows))))
        self.dims.same(shape[1], self.one)

    def _shifted(self, shape: Shape, columns: Tree | None) -> Shape:
        """As many rows, and the columns that an option says."""
        if shape is None or columns is None:
            return shape and (shape[0], self.dims.new())
        size = self.written(columns)
        if size.is_number and not (size.is_Integer and size > 0):
            raise Unfit(f"columns={size}: give a whole number from 1")
        return shape[0], self.size_of(size)

    def _check_function(self, name: str, count: int) -> None:
        """A function of one's own has so many arguments, sizes and numbers as its letters."""
        function = self.functions[name]
        if count != len(function.arguments):
            raise Unfit(f"{name} takes {counted(len(function.arguments), 'argument')}")
        for part in subtrees(function.tree):
            match part:
                case Name("∞"):
                    raise Unfit("−∞ stands only as a branch of a matrix by its entries, M[i,j] = …")
                case Name(letter) if letter not in function.arguments:
                    if self.is_size(letter):
                        self.use(letter, part)
                    elif not self.is_number(self.letter(letter)):
                        raise Unfit(f"{name} is a function of numbers, and {letter} is a matrix")
                case Call(inner, args) if inner in self.functions:
                    self._check_function(inner, len(args))
                case Indexed():
                    raise Unfit(f"{name} is a function of numbers, which have no parts")


def states(tree: Tree, name: str) -> list[Indexed]:
    """The parts of a tree that are one of a family."""
    return [one for one in subtrees(tree) if isinstance(one, Indexed) and one.base == Name(name)]


def state_before(part: Part) -> str:
    """The index t of what is written S[t-1]; empty for anything else."""
    match part:
        case Part(start=Apart("+", (Name(index), last)), single=True) if last == _LESS_ONE:
            return index
    return ""


def _index_in(ends: Iterable[Tree | None], bound: Iterable[str]) -> str:
    """The index, of those that are bound, for which a part has an end; empty for none."""
    within = [part for end in ends if end is not None for part in subtrees(end)]
    return next((name for name in bound if Name(name) in within), "")


def _place_of(index: str) -> sympy.Symbol:
    """Which one an index stands at, where it is a number among sizes; no size has its name."""
    return sympy.Symbol(f"[{index}]")


def is_small(name: str) -> bool:
    """Whether a letter that nobody made is a number: small, Greek ones too; not dA."""
    return name[0].islower() and not name[1:2].isupper()


def size_symbol(name: str) -> sympy.Symbol:
    """The symbol of a size."""
    return symbol_of_size(KNOWN_SIZES.get(name, name))


# ---- names ---------------------------------------------------------------------------------


def name_all(sizes: Sizes, taken: Collection[str]) -> None:
    """Name every size that is open, and find those that formulas use as numbers.

    `taken` are letters that are made or given, and sizes that shapes and parts say: no other size
    is called so. Raises `Unfit` for a size as a number that is none, or more than one.
    """
    dims, used = sizes.dims, sizes.used
    given = [shape for name, shape in sizes.letters.items() if name not in sizes.made]
    dims.settle([dim for shape in given for dim in shape or ()])
    wide = [root for root in dims.nameless() if dims.name[root] == "d_k"]
    if wide and "d" in used and "d_k" not in used and "d" not in taken:
        dims.names[wide[0]] = "d"
    dims.name_wished(taken)
    _name_counts(sizes, taken)
    said = {str(symbol) for symbol in _said(dims)}
    nameless = dims.nameless()
    for name in used:
        own = KNOWN_SIZES.get(name, name)
        if own in dims.names.values() or own in said:
            continue
        if len(nameless) != 1 or own in taken:
            raise Unfit(_no_size(sizes, name), used[name])
        dims.names[nameless.pop()] = own
    dims.name_rest({*taken, *used})
    for name, tree in used.items():
        own = KNOWN_SIZES.get(name, name)
        if {own, f"{own}_2"} <= {*dims.names.values()}:
            why = f"{name} could be more than one size; say the shapes, e.g. Q : n × {name}"
            raise Unfit(why, tree)
    for one, other in dims.pending or ():
        if sympy.expand(dims.size(one) - dims.size(other)) != 0:
            raise Unfit(f"{dims.size(one)} and {dims.size(other)} would have to be the same size")


def _name_counts(sizes: Sizes, taken: Collection[str]) -> None:
    """What counts the matrices of families alone, and no rows, is called by their index: n_c."""
    dims = sizes.dims
    stand = {dims.root(dim) for shape in sizes.letters.values() for dim in shape or ()}
    for name, count in sizes.counts.items():
        root, index = dims.root(count), sizes.said.families[name]
        if root in dims.nameless() and root not in stand:
            dims.name_one(root, (f"n_{index}", *(f"n_{index}_{k}" for k in range(2, 99))), taken)


def _no_size(sizes: Sizes, name: str) -> str:
    dims = sizes.dims
    shapes = (*sizes.letters.values(), tuple(sizes.counts.values()))
    stand = {dims.root(dim) for shape in shapes for dim in shape or ()}
    named = [word for root, word in dims.names.items() if root in stand]
    known = dict.fromkeys((*named, *map(str, _said(dims))))
    listed = f"; the sizes are {', '.join(known)}" if known else ""
    return f"{name} is no size of any matrix{listed}; say where it stands, e.g. Q : n × {name}"


def _said(dims: Dims) -> list[sympy.Symbol]:
    """The symbols in sizes that are known."""
    known = (value for value in dims.value if isinstance(value, sympy.Expr))
    return [symbol for value in known for symbol in value.free_symbols]
