"""The shapes of what people write: which numbers of rows and columns have to be the same.

Well-known letters lend their sizes their usual names (Q is n × d_k), so that ``sqrt(d_k)`` means
what it should.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import sympy

from symattn.grammar import Apart, Call, Name, Number, Tree

#: The usual sizes of well-known letters.
USUAL: Mapping[str, tuple[Any, Any]] = {
    "Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v"), "X": ("n", "d_model"),
    "W_Q": ("d_model", "d_k"), "W_K": ("d_model", "d_k"), "W_V": ("d_model", "d_v"),
    "W_O": ("d_v", "d_model"), "S": ("n", "m"), "Z": ("n", "m"), "A": ("n", "m"),
    "P": ("n", "m"), "B": ("n", "m"), "M": ("n", "m"), "O": ("n", "d_v"),
    "dO": ("n", "d_v"), "dA": ("n", "m"), "dS": ("n", "m"),
}  # fmt: skip

#: Names that are sizes wherever they stand as numbers.
SIZES = ("n", "m", "d", "d_k", "d_v", "d_h", "d_model", "h")

Shape = tuple[int, int] | None

#: Functions of a number, which a scalar may be given to.
OF_NUMBERS = ("exp", "ln", "√", "tanh", "cos", "sin", "abs", "σ")


@dataclass(frozen=True)
class Sum:
    """The size of several blocks together."""

    parts: tuple[int, ...]


class Unfit(Exception):
    """These shapes do not fit together."""


@dataclass
class Dims:
    """Sizes that are found to be the same."""

    parent: list[int] = field(default_factory=list)
    value: list[Any] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    wide: list[bool] = field(default_factory=list)

    def new(self, value: Any = None, name: str = "", wide: bool = False) -> int:
        """One more size: a number or symbol if known, the name it would like, whether above 1."""
        self.wide.append(wide)
        self.parent.append(len(self.parent))
        self.value.append(value)
        self.name.append(name)
        return len(self.parent) - 1

    def root(self, dim: int) -> int:
        """The size that stands for all that are the same."""
        while self.parent[dim] != dim:
            dim = self.parent[dim]
        return dim

    def same(self, one: int, other: int) -> None:
        """Two sizes are the same."""
        a, b = self.root(one), self.root(other)
        if a == b:
            return
        left, right = self.value[a], self.value[b]
        if isinstance(left, Sum) and isinstance(right, Sum):
            if len(left.parts) != len(right.parts):
                raise Unfit("blocks of different numbers")
            for pair in zip(left.parts, right.parts, strict=True):
                self.same(*pair)
            return
        if left is not None and right is not None and left != right:
            raise Unfit(f"{left} and {right} have to be the same size")
        if (self.wide[a] or self.wide[b]) and 1 in (left, right):
            raise Unfit("a matrix has to be a column or a row")
        self.wide[a] = self.wide[a] or self.wide[b]
        self.parent[b] = a
        self.value[a] = left if left is not None else right
        self.name[a] = max(self.name[a], self.name[b], key=_rank)

    def is_one(self, dim: int) -> bool:
        """Whether the size is known to be 1."""
        return bool(self.value[self.root(dim)] == 1)


def _rank(name: str) -> int:
    """A size that is said (=n) lends its name before a usual one, that before a made-up one."""
    return 3 if name.startswith("=") and "#" not in name else 2 if name.isidentifier() else 1


class Shapes:
    """One way to read the letters: infers the shape of every part."""

    def __init__(
        self, kinds: Mapping[str, str], shapes: Mapping[str, tuple[Any, Any]],
        positive: Sequence[str], strict: bool = False,
    ) -> None:  # fmt: skip
        self.kinds, self.given, self.positive = kinds, shapes, positive
        #: Whether what is added has to have one shape, and nothing is repeated to fit.
        self.strict = strict
        self.dims = Dims()
        self.letters: dict[str, Shape] = {}
        self.shapes: dict[int, Shape] = {}
        self.one = self.dims.new(1)

    # ---- shapes ----------------------------------------------------------------------------

    def shape(self, tree: Tree) -> Shape:
        """The shape of a part; None for a scalar."""
        out = self._shape(tree)
        self.shapes[id(tree)] = out
        return out

    def _shape(self, tree: Tree) -> Shape:
        match tree:
            case Number(_, vector):
                return (self.dims.new(), self.one) if vector else None
            case Name("I") if "I" not in self.given:
                size = self.dims.new()
                return size, size
            case Name(name):
                return self._letter(name)
            case Call(name, args):
                return self._call(name, [self.shape(arg) for arg in args])
            case Apart("T", (part,)):
                inner = self.shape(part)
                return None if inner is None else (inner[1], inner[0])
            case Apart("neg", (part,)):
                return self.shape(part)
            case Apart("inv" | "^", (part,)):
                inner = self.shape(part)
                if inner is not None:
                    self.dims.same(*inner)
                return inner
            case Apart("+", parts):
                return self.together([self.shape(part) for part in parts])
            case Apart("/", (above, below)):
                return self._quotient(self.shape(above), self.shape(below))
            case Apart("*", parts):
                return self._product([self.shape(part) for part in parts])
            case Apart(_, (left, right)):
                return self.together([self.shape(left), self.shape(right)])
        raise Unfit("no shape")

    def _letter(self, name: str) -> Shape:
        if name not in self.letters:
            self.letters[name] = self._new_letter(name)
        return self.letters[name]

    def _new_letter(self, name: str) -> Shape:
        if name in self.given:
            rows, columns = self.given[name]
            return self._size(rows), self._size(columns)
        if name in SIZES:
            return None
        kind = self.kinds.get(name, "matrix")
        if kind == "scalar":
            return None
        rows, columns = USUAL.get(name) or USUAL.get(name.rstrip("'0123456789"), ("", ""))
        if kind == "column":
            return self.dims.new(), self.one
        if kind == "row":
            return self.one, self.dims.new(name={"q": "d_k", "k": "d_k", "v": "d_v"}.get(name, ""))
        return self.dims.new(name=rows, wide=True), self.dims.new(name=columns, wide=True)

    def _size(self, size: Any) -> int:
        if isinstance(size, str) and not size.isdigit():
            for dim, name in enumerate(self.dims.name):
                if name == f"={size}":
                    return dim
            return self.dims.new(name=f"={size}")
        value = sympy.Integer(int(size)) if isinstance(size, int | str) else size
        return self.one if value == 1 else self.dims.new(value)

    def together(self, shapes: list[Shape]) -> Shape:
        """The shape of entry-by-entry work: scalars, columns and rows are repeated."""
        known = [shape for shape in shapes if shape is not None]
        if not known:
            return None
        if self.strict:
            for shape in known[1:]:
                self.dims.same(known[0][0], shape[0])
                self.dims.same(known[0][1], shape[1])
            return known[0]
        out = []
        for axis in (0, 1):
            wide = [shape[axis] for shape in known if not self.dims.is_one(shape[axis])]
            for dim in wide[1:]:
                self.dims.same(wide[0], dim)
            out.append(wide[0] if wide else self.one)
        return out[0], out[1]

    def _quotient(self, above: Shape, below: Shape) -> Shape:
        """A quotient by a column divides rows, by a row columns, else entries."""
        strict, self.strict = self.strict, False
        try:
            return self.together([above, below])
        finally:
            self.strict = strict

    def _product(self, shapes: list[Shape]) -> Shape:
        known = [shape for shape in shapes if shape is not None]
        for left, right in pairwise(known):
            self.dims.same(left[1], right[0])
        return (known[0][0], known[-1][1]) if known else None

    def _call(self, name: str, shapes: list[Shape]) -> Shape:
        if name == "causal":
            return self.dims.new(), self.dims.new()
        first = shapes[0]
        if first is None:
            if name in OF_NUMBERS:
                return None
            raise Unfit(f"{name} needs a matrix")
        rows, columns = first
        match name:
            case "rowsum" | "rowmean" | "norm2":
                return rows, self.one
            case "colsum" | "colmean":
                return self.one, columns
            case "sum":
                return self.one, self.one
            case "diag":
                if self.dims.is_one(columns):
                    return rows, rows
                if self.dims.is_one(rows):
                    return columns, columns
                raise Unfit("diag needs a vector")
            case "T":
                return columns, rows
            case "inv":
                self.dims.same(rows, columns)
                return first
            case "dist2":
                other = shapes[1]
                if other is None:
                    raise Unfit("dist2 needs two matrices")
                self.dims.same(columns, other[1])
                return rows, other[0]
            case "beside" | "below":
                return self._joined(name == "beside", shapes)
        return first

    def _joined(self, beside: bool, shapes: list[Shape]) -> Shape:
        known = [shape for shape in shapes if shape is not None]
        if len(known) != len(shapes):
            raise Unfit("blocks are matrices")
        for shape in known[1:]:
            self.dims.same(known[0][not beside], shape[not beside])
        total = self.dims.new(Sum(tuple(shape[beside] for shape in known)))
        return (known[0][0], total) if beside else (total, known[0][1])
