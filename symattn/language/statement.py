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
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import sympy

from symattn.errors import ReadError, ShapeError, quote
from symattn.grammar import Apart, Call, Name, Number, Tree, read, subtrees
from symattn.language.shapes import SQUARE, Dims, GivenShape, GivenSize, Shape, Shapes, Sum, Unfit
from symattn.nodes.catalogue import words
from symattn.nodes.written import CONSTANTS, SIZES, AsWritten, spread

#: Letters of a token's vector, which is a row (Q and K have a row for each token).
_TOKENS = "qkvox"
#: What a letter may be given as, beside a shape.
NUMBER_WORDS = ("scalar", "number")

#: How a letter is told that is a number of its own: e, π.
_CONSTANT = "the constant"


@dataclass(frozen=True)
class Written:
    """What a text means.

    `spare` are the shapes of its columns of ones, identities and masks, in their order.
    """

    meaning: sympy.Basic
    spare: tuple[tuple[sympy.Expr, sympy.Expr], ...]


@dataclass(frozen=True)
class Built:
    """One reading of some texts: what each text means, and what each letter is.

    `rival`: it is as likely as the first one.
    """

    groups: tuple[tuple[Written, ...], ...]
    letters: tuple[tuple[str, str], ...]
    rival: bool = False


@dataclass(frozen=True)
class _Reading:
    """One way to read the letters: their shapes, and those of groups of texts.

    `meant` are the sizes that formulas use as numbers (1/√d_k), by their names; `rank` is lowest
    for the reading that is meant.
    """

    shapes: Shapes
    meant: Mapping[str, int]
    sides: tuple[Shape, ...]
    rank: tuple[int, ...] = ()

    def shapes_text(self) -> tuple[tuple[str, str], ...]:
        """Each letter with its shape: Q n × d_k, c a number."""
        out = []
        for name, shape in self.shapes.letters.items():
            if shape is not None:
                out.append((name, " × ".join(map(str, self.shapes.sized(shape)))))
            elif name in self.meant:
                size = str(self.shapes.size(self.meant[name]))
                out += [] if size == name else [(name, f"= {size}")]
            elif name in SIZES:
                out.append((name, "a positive whole number"))
            else:
                out.append((name, _CONSTANT if name in CONSTANTS else "a number"))
        return tuple(out)

    def writer(self, positive: Sequence[str]) -> AsWritten:
        """What makes expressions of texts, the letters having these shapes."""
        given = self.shapes.given_shapes
        letters: dict[str, tuple[sympy.Expr, sympy.Expr] | None] = {}
        values: dict[str, sympy.Expr] = {}
        for name, shape in self.shapes.letters.items():
            if name in given or shape is not None:
                letters[name] = shape and self.shapes.sized(shape)
            elif name in CONSTANTS and name != "∞":
                values[name] = CONSTANTS[name]
            elif name in self.meant:
                values[name] = self.shapes.size(self.meant[name])
        return AsWritten(letters, values, (), positive)

    def spare(self, tree: Tree) -> list[tuple[sympy.Expr, sympy.Expr]]:
        """The shapes of the columns of ones, identities and masks, in their order."""
        out = []
        for part in subtrees(tree):
            match part:
                case Number(_, True) | Call("causal"):
                    own = self.shapes.shapes[id(part)]
                case Name("I") if "I" not in self.shapes.given_shapes:
                    own = self.shapes.shapes[id(part)]
                case _:
                    own = None
            out += [self.shapes.sized(own)] if own else []
        return out


def _same_masks(shapes: Shapes) -> None:
    """Masks with as many rows have as many columns, where nothing tells those of one.

    A mask of which nothing at all tells the shape is the first one again.
    """
    dims = shapes.dims
    known = {dims.root(dim) for shape in shapes.letters.values() if shape for dim in shape}
    known |= {root for root in dims.roots() if isinstance(dims.value[root], Sum)}
    for rows, columns in shapes.masks[1:]:
        if not {dims.root(rows), dims.root(columns)} & known:
            dims.same(rows, shapes.masks[0][0])
            dims.same(columns, shapes.masks[0][1])
    for (more, wide), (rows, columns) in combinations(shapes.masks, 2):
        ends = {dims.root(columns), dims.root(wide)}
        if dims.root(rows) == dims.root(more) and ends - known:
            dims.same(columns, wide)


def _named(dims: Dims, used: Sequence[str]) -> dict[str, int]:
    """Name every size; which sizes a formula uses as numbers (1/√d_k), by their names."""
    dims.name_wished()
    nameless = dims.nameless()
    meant: dict[str, int] = {}
    for name in used:
        found = _wished(dims, name) or (_wished(dims, "d_k") if name == "d" else [])
        if len(found) > 1:
            raise Unfit(f"{name} could be more than one size")
        if not found and len(nameless) > 1:
            raise Unfit(f"the size {name} is not determined")
        if not found and nameless:
            found = [nameless.pop()]
            dims.names[found[0]] = name
        if found:
            meant[name] = found[0]
    dims.name_rest(used)
    return meant


def _wished(dims: Dims, name: str) -> list[int]:
    """The sizes that go by a name; those printed with it come first."""
    printed = [root for root, word in dims.names.items() if word == name]
    wished = (dims.root(dim) for dim, wish in enumerate(dims.name) if wish == name)
    return printed or list(dict.fromkeys(wished))


# ---- readings ------------------------------------------------------------------------------


def _names(tree: Tree) -> dict[str, None]:
    match tree:
        case Name(name):
            return {name: None}
        case Call(_, parts) | Apart(_, parts):
            return {name: None for part in parts for name in _names(part)}
    return {}


def _is_vector(name: str, tree: Tree, sure: bool) -> bool:
    """Whether a letter is transposed somewhere (sure), or stands beside one that is (not sure)."""
    for part in subtrees(tree):
        match part:
            case Apart("T", (Name(letter),)) if sure and letter == name:
                return True
            case Apart("*", factors) if not sure:
                turned = [isinstance(p, Apart) and p.sign == "T" for p in factors]
                for k, factor in enumerate(factors):
                    if factor == Name(name) and any(turned[max(k - 1, 0) : k + 2]):
                        return True
    return False


def is_small(name: str) -> bool:
    """Whether a name may be a number or a vector: small letters but dA, and T, the temperature."""
    if name in SIZES or name in CONSTANTS:
        return False
    return name == "T" or (name[0].islower() and not name[1:2].isupper())


def _kinds(name: str, trees: list[Tree], alone: bool) -> tuple[str, ...]:
    """How a small letter may be meant, the likeliest first."""
    if name == "T":
        return "scalar", "matrix"
    turned = any(_is_vector(name, tree, True) for tree in trees)
    token = name[0] in _TOKENS
    if turned or (token and not (alone and name[0] == "x")):
        return ("row", "column") if token else ("column", "row")
    if token:
        return "row", "column", "scalar"
    if any(_is_vector(name, tree, False) for tree in trees):
        return "column", "row", "scalar"
    return "scalar", "column", "row"


def _reading_of(
    trees: list[list[Tree]],
    kinds: Mapping[str, str],
    given: Mapping[str, tuple[GivenSize, ...]],
    strict: bool,
    loose: bool = False,
) -> _Reading:
    """A reading whose shapes fit. Raises `Unfit` otherwise."""
    shapes = Shapes(kinds, given, Dims(loose), strict)
    sides = [shapes.together(texts, True) for texts in trees]
    _same_masks(shapes)
    letters = {name: None for texts in trees for tree in texts for name in _names(tree)}
    used = [name for name in letters if name in SIZES and name not in given]
    return _Reading(shapes, _named(shapes.dims, used), tuple(sides))


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
    trees = [[read(text, given, words()) for text in texts] for texts in groups]
    every = [tree for texts in trees for tree in texts]
    letters = {name: None for tree in every for name in _names(tree)}
    small = [name for name in letters if is_small(name) and name not in given]
    alone = all(name in SIZES or name in CONSTANTS or is_small(name) for name in letters)
    kinds_of = {name: _kinds(name, every, alone) for name in small}
    fitting, trouble = _fitting(trees, kinds_of, given)
    if not fitting:
        raise _no_reading(groups, trees, kinds_of, given, trouble)
    meant = min(fitting, key=lambda one: one.rank)

    def is_rival(one: _Reading) -> bool:
        return one.rank[:2] == meant.rank[:2] and one.shapes.outer < meant.shapes.outer

    for one in sorted(fitting, key=lambda one: (one is not meant, not is_rival(one), one.rank)):
        writer = one.writer(positive)
        built = (
            tuple(
                _built(one, writer, tree, shape, text)
                for tree, text in zip(parts, texts, strict=True)
            )
            for parts, texts, shape in zip(trees, groups, one.sides, strict=True)
        )
        yield Built(tuple(built), one.shapes_text(), is_rival(one))


def _fitting(
    trees: list[list[Tree]],
    kinds_of: Mapping[str, tuple[str, ...]],
    given: Mapping[str, tuple[GivenSize, ...]],
) -> tuple[list[_Reading], Unfit | None]:
    """The readings whose shapes fit, and why the first did not; lines are repeated if need be."""
    tokens = all(name[0] in _TOKENS for name in kinds_of)
    fitting: list[_Reading] = []
    trouble: Unfit | None = None
    for strict in (True, False):
        for choice in _choices(kinds_of):
            kinds = {name: kinds_of[name][k] for name, k in choice.items()}
            try:
                reading = _reading_of(trees, kinds, given, strict)
            except Unfit as unfit:
                trouble = trouble or unfit
                continue
            mixed = len({kind for kind in kinds.values() if kind != "scalar"}) > 1
            outer = reading.shapes.outer if tokens else 0
            rank = (not strict, mixed, outer, sum(choice.values()))
            fitting.append(replace(reading, rank=rank))
        if fitting:
            break
    return fitting, trouble


def _choices(kinds_of: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, int]]:
    """Which of its kinds each letter has, in every way up to a bound."""
    ways = product(*(range(len(kinds)) for kinds in kinds_of.values()))
    for way in islice(ways, 2000):
        yield dict(zip(kinds_of, way, strict=True))


def _built(reading: _Reading, writer: AsWritten, tree: Tree, shape: Shape, text: str) -> Written:
    """What a text means. Raises `ReadError` that quotes the text."""
    spare = tuple(reading.spare(tree))
    writer.spare = iter(spare)
    try:
        value, own = writer.build(tree)
        meaning = spread(value, own, shape and reading.shapes.sized(shape))
    except ReadError as error:
        raise ReadError(f"{quote(text)}: {error}") from None
    return Written(meaning, spare)


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
    match size:
        case bool():
            return False
        case int():
            return size > 0
        case str():
            return SQUARE in size or size.isidentifier() or (size.isdigit() and int(size) > 0)
        case sympy.Expr():
            return size.is_positive is True
    return False


def _no_reading(
    groups: Sequence[Sequence[str]],
    trees: list[list[Tree]],
    kinds_of: Mapping[str, tuple[str, ...]],
    given: Mapping[str, tuple[GivenSize, ...]],
    trouble: Unfit | None,
) -> ShapeError:
    """Why no reading fits, and what to say."""
    text = " = ".join(next((texts for texts in groups if texts), ()))
    for choice in _choices(kinds_of):
        kinds = {name: kinds_of[name][k] for name, k in choice.items()}
        try:
            reading = _reading_of(trees, kinds, given, strict=True, loose=True)
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
    if trouble is not None and trouble.mends:
        return ShapeError(f"{text}: {trouble}")
    every = (name for texts in trees for tree in texts for name in _names(tree))
    letter = next(iter([*kinds_of, *every]), "A")
    return ShapeError(
        f"{text}: {trouble or 'the shapes do not fit'}; correct the formula or give shapes such as "
        f'{letter}: ("n", "d")'
    )
