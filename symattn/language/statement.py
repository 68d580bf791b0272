"""From what people write to SymPy: letters are given shapes, nodes are built.

Every letter has a number of rows and of columns; products, sums and functions say which are the
same. Small letters may be numbers, columns or rows. The readings under which all shapes fit, with
no size of 1 that nobody wrote, are ordered: nothing repeated to fit before columns added to
matrices, all vectors columns (or all rows) before a mixture; q, k, v, o and x are vectors, and
rows where that makes no more products of a column with a row. The first reading is meant; it is
always shown, and the others are there to be compared with it. Where convention has columns, and
rows would make fewer products of a column with a row, neither is likelier: e_i e_jᵀ is a matrix by
the one and a number by the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import sympy

from symattn.errors import ReadError, ShapeError, quote
from symattn.grammar import Apart, Call, Name, Number, Tree, read
from symattn.language.shapes import SQUARE, GivenShape, GivenSize, Shape, Shapes, Sum, Unfit
from symattn.nodes.written import CONSTANTS, SIZES, Writer, spread

#: Letters of a token's vector, which is a row (Q and K have a row for each token).
_TOKENS = "qkvox"
_MOST_READINGS = 2000

#: What a letter may be given as, beside a shape.
NUMBER_WORDS = ("scalar", "number")

#: How a letter is told that is a number of its own: e, π.
_CONSTANT = "the constant"


@dataclass(frozen=True)
class Written:
    """What a text means.

    `needs` are the scalars that have to be ≥ 0, which SymPy may have cancelled: √a² is a; `spare`
    are the shapes of its columns of ones, identities and masks, in their order.
    """

    meaning: sympy.Basic
    needs: tuple[sympy.Expr, ...]
    spare: tuple[tuple[sympy.Expr, sympy.Expr], ...]


@dataclass(frozen=True)
class Built:
    """One reading of some texts: what each text means, and what each letter is.

    `rival`: it is as likely as the first one.
    """

    groups: tuple[tuple[Written, ...], ...]
    letters: tuple[tuple[str, str], ...]
    rival: bool = False


class _Reading(Shapes):
    """One way to read the letters, built."""

    positive: Sequence[str] = ()

    # ---- sizes -----------------------------------------------------------------------------

    def name_sizes(self, used: Sequence[str]) -> None:
        """Name every size, and find those that a formula uses as numbers (1/√d_k)."""
        dims = self.dims
        open_roots = [root for root in dims.roots() if dims.value[root] is None]
        self.size_names: dict[int, str] = {}
        for given in (True, False):
            for root in open_roots:
                wish = dims.name[root].partition(SQUARE)[0]
                if wish and dims.given[root] is given:
                    free = (wish, *(f"{wish}_{k}" for k in range(2, 99)))
                    self.size_names[root] = next(
                        x for x in free if x not in self.size_names.values()
                    )
        nameless = [root for root in open_roots if root not in self.size_names]
        self.meant: dict[str, int] = {}
        for name in used:
            found = self._wished(name) or (self._wished("d_k") if name == "d" else [])
            if len(found) > 1:
                raise Unfit(f"{name} could be more than one size")
            if found:
                self.meant[name] = found[0]
            elif len(nameless) > 1:
                raise Unfit(f"the size {name} is not determined")
            elif nameless:
                self.meant[name] = nameless[0]
                self.size_names[nameless.pop()] = name
        spare = (f"{x}{k}" for k in ("", *range(1, 99)) for x in ("n", "m", "p", "r"))
        for root in nameless:
            self.size_names[root] = next(
                x for x in spare if x not in self.size_names.values() and x not in used
            )

    def _wished(self, name: str) -> list[int]:
        """The sizes that go by a name; those printed with it come first."""
        printed = [root for root, word in self.size_names.items() if word == name]
        return printed or list(
            dict.fromkeys(
                self.dims.root(dim) for dim, wish in enumerate(self.dims.name) if wish == name
            )
        )

    def size(self, dim: int) -> sympy.Expr:
        """The size as SymPy's number or symbol."""
        root = self.dims.root(dim)
        value = self.dims.value[root]
        if isinstance(value, Sum):
            return sympy.Add(*(self.size(part) for part in value.parts))
        if value is not None:
            return sympy.sympify(value, strict=True)
        return sympy.Symbol(self.size_names[root], integer=True, positive=True)

    def shapes_text(self) -> tuple[tuple[str, str], ...]:
        """Each letter with its shape: Q n × d_k, c a number."""
        out = []
        for name, shape in self.letters.items():
            if shape is not None:
                out.append((name, " × ".join(str(self.size(dim)) for dim in shape)))
            elif name in self.meant:
                size = str(self.size(self.meant[name]))
                out += [] if size == name else [(name, f"= {size}")]
            elif name in SIZES:
                out.append((name, "a positive whole number"))
            else:
                out.append((name, _CONSTANT if name in CONSTANTS else "a number"))
        return tuple(out)

    # ---- building --------------------------------------------------------------------------

    def writer(self) -> Writer:
        """What makes expressions of texts, the letters having these shapes."""
        letters = {
            name: shape and self.sized(shape)
            for name, shape in self.letters.items()
            if shape or name in self.given_shapes
        }
        values: dict[str, sympy.Expr] = {}
        for name, shape in self.letters.items():
            if name in self.given_shapes or shape is not None:
                continue
            if name in CONSTANTS and name != "∞":
                values[name] = CONSTANTS[name]
            elif name in self.meant:
                values[name] = self.size(self.meant[name])
        return Writer(letters, values, (), self.positive)

    def sized(self, shape: tuple[int, int]) -> tuple[sympy.Expr, sympy.Expr]:
        """A shape in SymPy's numbers and symbols."""
        return self.size(shape[0]), self.size(shape[1])

    def spare(self, tree: Tree) -> list[tuple[sympy.Expr, sympy.Expr]]:
        """The shapes of the columns of ones, identities and masks, in their order."""
        match tree:
            case Number(_, True) | Call("causal"):
                own = self.shapes[id(tree)]
                return [self.sized(own)] if own else []
            case Name("I") if "I" not in self.given_shapes:
                own = self.shapes[id(tree)]
                return [self.sized(own)] if own else []
            case Call(_, parts) | Apart(_, parts):
                return [one for part in parts for one in self.spare(part)]
        return []


# ---- readings ------------------------------------------------------------------------------


def _names(tree: Tree) -> dict[str, None]:
    match tree:
        case Name(name):
            return {name: None}
        case Call(_, parts) | Apart(_, parts):
            return {name: None for part in parts for name in _names(part)}
    return {}


def _vectors(tree: Tree, sure: bool) -> set[str]:
    """Small letters that are transposed (sure), or stand beside one that is (not sure)."""
    found: set[str] = set()
    match tree:
        case Apart("T", (Name(name),)) if sure:
            found.add(name)
        case Apart("*", parts) if not sure:
            turned = [isinstance(p, Apart) and p.sign == "T" for p in parts]
            for k, part in enumerate(parts):
                if isinstance(part, Name) and any(turned[max(k - 1, 0) : k + 2]):
                    found.add(part.name)
    if isinstance(tree, Call | Apart):
        for part in tree.parts if isinstance(tree, Apart) else tree.args:
            found |= _vectors(part, sure)
    return found


def is_small(name: str) -> bool:
    """Whether a name may be a number or a vector: small letters but dA, and T, the temperature."""
    if name in SIZES or name in CONSTANTS:
        return False
    return name == "T" or (name[0].islower() and not name[1:2].isupper())


def _kinds(name: str, trees: list[Tree], alone: bool) -> tuple[str, ...]:
    """How a small letter may be meant, the likeliest first."""
    if name == "T":
        return "scalar", "matrix"
    turned = any(name in _vectors(tree, True) for tree in trees)
    token = name[0] in _TOKENS
    if turned or (token and not (alone and name[0] == "x")):
        return ("row", "column") if token else ("column", "row")
    if token:
        return "row", "column", "scalar"
    if any(name in _vectors(tree, False) for tree in trees):
        return "column", "row", "scalar"
    return "scalar", "column", "row"


def _reading_of(
    trees: list[list[Tree]],
    kinds: Mapping[str, str],
    given: Mapping[str, tuple[GivenSize, ...]],
    strict: bool,
    loose: bool = False,
) -> tuple[_Reading, list[Shape]]:
    """A reading whose shapes fit. Raises `Unfit` otherwise."""
    reading = _Reading(kinds, given, strict, loose)
    shapes = [
        reading.together([reading.shape(tree) for tree in texts]) if texts else None
        for texts in trees
    ]
    reading.same_masks()
    letters = {name: None for texts in trees for tree in texts for name in _names(tree)}
    reading.name_sizes([name for name in letters if name in SIZES and name not in given])
    return reading, shapes


def readings(
    groups: Sequence[Sequence[str]],
    shapes: Mapping[str, GivenShape] | None = None,
    positive: Sequence[str] = (),
) -> Iterator[Built]:
    """Every reading of some texts under which the shapes fit, the one that is meant first.

    The texts of one group have the same shape. Raises `ReadError` for a text that is no
    expression, `ShapeError` where there is no reading without a size of 1 that nobody wrote.
    """
    given = {name: _given(name, shape) for name, shape in (shapes or {}).items()}
    trees = [[read(text, given) for text in texts] for texts in groups]
    every = [tree for texts in trees for tree in texts]
    letters = {name: None for tree in every for name in _names(tree)}
    small = [name for name in letters if is_small(name) and name not in given]
    alone = all(name in SIZES or name in CONSTANTS or is_small(name) for name in letters)
    kinds_of = {name: _kinds(name, every, alone) for name in small}
    tokens = all(name[0] in _TOKENS for name in small)
    fitting: list[tuple[Any, _Reading, list[Shape]]] = []
    trouble = ""
    for strict in (True, False):
        for choice in islice(
            product(*(enumerate(kinds_of[name]) for name in small)), _MOST_READINGS
        ):
            kinds = {name: kind for name, (_, kind) in zip(small, choice, strict=True)}
            try:
                reading, sides = _reading_of(trees, kinds, given, strict)
            except Unfit as unfit:
                trouble = trouble or str(unfit)
                continue
            mixed = len({kind for kind in kinds.values() if kind != "scalar"}) > 1
            rank = (not strict, mixed, reading.outer if tokens else 0, sum(k for k, _ in choice))
            fitting.append((rank, reading, sides))
        if fitting:
            break
    if not fitting:
        raise _no_reading(groups, trees, kinds_of, given, trouble)
    (*least, _, _), meant, _ = first = min(fitting, key=lambda one: one[0])

    def is_rival(one: tuple[Any, _Reading, list[Shape]]) -> bool:
        return one[0][:2] == tuple(least) and one[1].outer < meant.outer

    others = sorted(fitting, key=lambda one: (one is not first, not is_rival(one), one[0]))
    for one in others:
        _, reading, sides = one
        reading.positive = positive
        writer = reading.writer()
        pairs = [
            [
                _built(reading, writer, tree, shape, text)
                for tree, text in zip(parts, texts, strict=True)
            ]
            for parts, texts, shape in zip(trees, groups, sides, strict=True)
        ]
        yield Built(tuple(map(tuple, pairs)), reading.shapes_text(), is_rival(one))


def _built(reading: _Reading, writer: Writer, tree: Tree, shape: Shape, text: str) -> Written:
    """What a text means, with what has to be positive. Raises `ReadError` that quotes the text."""
    spare = tuple(reading.spare(tree))
    writer.spare, writer.needs = iter(spare), []
    try:
        value, own = writer.build(tree)
        meaning = spread(value, own, None if shape is None else reading.sized(shape))
    except ReadError as error:
        raise ReadError(f"{quote(text)}: {error}") from None
    return Written(meaning, tuple(writer.needs), spare)


def _given(name: str, shape: GivenShape) -> tuple[GivenSize, ...]:
    """A shape that was given: two sizes, or nothing for a number."""
    if shape in NUMBER_WORDS or shape == ():
        return ()
    fits = isinstance(shape, tuple | list) and len(shape) == 2
    for size in shape if fits else ():
        if isinstance(size, sympy.Expr) and size.is_positive is not True:
            raise ShapeError(
                f"shapes: {name}: the size {size} is not known to be positive; make it "
                f'Symbol("{size}", integer=True, positive=True)'
            )
    if not fits or not all(_is_size(size) for size in shape):
        raise ShapeError(
            f'shapes: {name}: {quote(shape)} is not a shape; give rows and columns, ("n", "d_k") '
            'or (2, 3), or "scalar"'
        )
    return tuple(shape)


def _is_size(size: object) -> bool:
    if isinstance(size, bool):
        return False
    if isinstance(size, int):
        return size > 0
    if isinstance(size, str):
        return bool(size) and (
            size.isidentifier() or SQUARE in size or (size.isdigit() and int(size) > 0)
        )
    return isinstance(size, sympy.Expr) and size.is_positive is True


def _no_reading(
    groups: Sequence[Sequence[str]],
    trees: list[list[Tree]],
    kinds_of: Mapping[str, tuple[str, ...]],
    given: Mapping[str, tuple[GivenSize, ...]],
    trouble: str,
) -> ShapeError:
    """Why no reading fits, and what to say."""
    text = " = ".join(next((texts for texts in groups if texts), ()))
    small = list(kinds_of)
    for choice in islice(product(*(kinds_of[name] for name in small)), _MOST_READINGS):
        kinds = dict(zip(small, choice, strict=True))
        try:
            reading, _ = _reading_of(trees, kinds, given, strict=True, loose=True)
        except Unfit:
            continue
        ones = ", ".join(
            f"{name} {shape}"
            for name, shape in reading.shapes_text()
            if name not in given and "1" in shape.split(" × ")
        )
        if not ones:
            break
        return ShapeError(
            f"{text}: the shapes fit only with sizes of 1 ({ones}); if that is meant, say so, as "
            f"in {ones.split()[0]}: (1, 1)"
        )
    if ";" in trouble:  # it says what to write
        return ShapeError(f"{text}: {trouble}")
    letter = next(iter([*small, *(n for texts in trees for t in texts for n in _names(t))]), "A")
    return ShapeError(
        f"{text}: {trouble or 'the shapes do not fit'}; correct the formula or give shapes such as "
        f'{letter}: ("n", "d")'
    )
